//! Motion found again from the paths of a few joints.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::motions::evaluated(data));
