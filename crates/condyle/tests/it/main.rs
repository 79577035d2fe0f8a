//! Tests of the library from outside, as one binary.

mod acclaim;
mod bvh;
mod repository;
mod same_take;
mod shared;
mod trc;
mod trig;
