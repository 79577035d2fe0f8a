//! Limits of any kind with any numbers.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::limits::check(data));
