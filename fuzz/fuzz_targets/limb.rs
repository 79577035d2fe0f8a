//! Arms and legs with any limits and goals.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::ik::limb(data));
