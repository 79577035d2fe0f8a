//! Joint kinds and joint limits from motion capture, and what they are good for.

pub mod math;

pub use glam;
