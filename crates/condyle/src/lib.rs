//! Joint kinds and joint limits from motion capture, and what they are good for.

pub mod formats;
pub mod math;
mod memory;
pub mod motion;
pub mod skeleton;
pub mod synth;

pub use glam;
