//! Pages and pictures of any rig and motion.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::pages::pages(data));
