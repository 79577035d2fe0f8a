//! Any bytes as BVH, in all modes.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::read_bvh(data));
