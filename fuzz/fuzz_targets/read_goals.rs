//! Any bytes as a goals document.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::ik::read_goals(data));
