//! Tests over real files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod shared;
mod trc;
