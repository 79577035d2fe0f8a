//! Tests of the library from outside, as one binary.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test that fails panics"
)]

mod acclaim;
mod allocations;
mod anatomy;
mod bvh;
mod edit;
mod enforce;
mod estimate;
mod fuzz;
mod hostile;
mod mutations;
mod replay;
mod repository;
mod retarget;
mod rig;
mod same_take;
mod shared;
mod study;
mod symmetry;
mod trc;
mod trig;
mod up_axis;
