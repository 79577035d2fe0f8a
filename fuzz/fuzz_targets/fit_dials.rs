//! Figures posed by dials, and dials found for that motion again.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::dials::fit_dials(data));
