//! Rigs estimated from any motion.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::motions::estimate(data));
