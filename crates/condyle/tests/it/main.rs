//! Tests of the library from outside, as one binary.

mod acclaim;
mod bvh;
mod shared;
