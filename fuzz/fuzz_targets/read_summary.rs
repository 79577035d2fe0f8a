//! Any bytes as a summary of motion.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::read_summary(data));
