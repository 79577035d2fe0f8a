//! Couplings learnt from motion.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::motions::couplings(data));
