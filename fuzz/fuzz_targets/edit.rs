//! Motion matched, connected, blended, mirrored, retargeted and moved.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| condyle_fuzz::fuzz::motions::edit(data));
