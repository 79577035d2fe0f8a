//! Joint limits: which rotations a joint may take, how far a rotation is from that, and the nearest
//! one that it may take.
//!
//! A [`Limit`] is plain data, as a person writes it down and a rig document stores it.

mod edges;
mod error;
mod limit;
mod polygon;
mod sectors;
mod swing;
mod twist;

pub use error::{LimitError, LimitErrorKind};
pub use limit::{EulerBox, Limit, SwingTwistLimit};
pub use swing::{SwingLimit, SwingShape};
pub use twist::{TwistAt, TwistBounds, TwistLimit, TwistOffset};
