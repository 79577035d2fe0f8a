//! Any bytes as a table of dials.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::dials::read_dials(data));
