//! Tests of the library from outside, as one binary.

mod bvh;
mod shared;
