//! Joint limits: which rotations a joint may take, how far a rotation is from that, and the nearest
//! one that it may take.
//!
//! A [`Limit`] is plain data, as a person writes it down and a rig document stores it.

mod ball;
mod curve;
mod ellipse;
mod error;
mod limit;
mod linearize;
mod polygon;
mod region;
mod swing;
mod twist;
mod twist_field;
#[cfg(test)]
mod zoo;

pub use error::{LimitError, LimitErrorKind};
pub use limit::{EulerBox, Limit, SwingTwistLimit};
pub use linearize::HalfSpace;
pub use swing::{SwingLimit, SwingShape};
pub use twist::{TwistAt, TwistBounds, TwistLimit, TwistOffset};

/// Rotations this far outside still count as inside, in radians: what rounding does to a rotation that
/// was put onto a boundary.
pub(crate) const TOLERANCE: f64 = 1e-12;
