//! Any bytes as a rig document.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::read_rig(data));
