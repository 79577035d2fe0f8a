//! What `wasm.mjs` calls: numbers only, so that nothing but the host's `WebAssembly` is needed.
#![allow(unsafe_code, reason = "the compiler cannot check that an exported name is unique")]

use std::sync::OnceLock;

use crate::{How, report};

/// A byte of the report; 0 behind its end.
#[unsafe(no_mangle)]
pub extern "C" fn report_byte(i: u32) -> u32 {
    static REPORT: OnceLock<String> = OnceLock::new();
    let report = REPORT.get_or_init(|| report(&How::PLAIN));
    usize::try_from(i).ok().and_then(|i| report.as_bytes().get(i)).copied().map_or(0, u32::from)
}
