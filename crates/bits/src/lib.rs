//! One hash of everything condyle computes, to be the same in every build (docs/determinism.md).
//!
//! Each [`Part`] does a fixed piece of work through the public API and hashes every bit of what
//! comes out. Nothing else goes in: no time, no environment, no file. The parts are listed apart, so
//! that a difference says where to look.
//!
//! The program of this crate prints the hashes; `cargo xtask builds` and `cargo xtask wasm` build
//! and run it in other ways and compare with `golden.txt`; the test of this crate compares the test
//! build. `cargo xtask bless` rewrites `golden.txt`.

mod difference;
mod hash;
mod how;
mod parts;
#[cfg(target_arch = "wasm32")]
pub mod wasm;

use std::fmt::Write as _;

pub use difference::difference;
pub use hash::Hash;
pub use how::How;
pub use parts::PARTS;

/// A fixed piece of work.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// What it is about.
    pub name: &'static str,
    /// Does the work in some way and hashes what comes out.
    pub run: fn(&How) -> Hash,
}

/// The hashes of all parts as text, a line each, and a last line for all together.
#[must_use]
pub fn report(how: &How) -> String {
    let mut text = String::new();
    let mut all = Hash::default();
    for part in PARTS {
        let hash = (part.run)(how);
        all.all([hash]);
        writeln!(text, "{:<24}{:016x}", part.name, hash.value()).expect("a string takes all");
    }
    writeln!(text, "{:<24}{:016x}", "all", all.value()).expect("a string takes all");
    text
}
