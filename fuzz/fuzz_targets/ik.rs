//! Figures with any limits, goals and settings.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::ik::solve(data));
