//! Motion brought inside of any limits, sharply and smoothly.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::motions::clamp(data));
