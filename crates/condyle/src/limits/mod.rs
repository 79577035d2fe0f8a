//! Joint limits: which rotations a joint may take, how far a rotation is from that, and the nearest
//! one that it may take.
//!
//! A [`Limit`] is plain data, as a person writes it down and a rig document stores it.
//! [`Limit::prepare`] checks it and computes what questions need; a [`PreparedLimit`] then answers them
//! for every rotation, exactly, with the same bits everywhere, and without allocating in the usual
//! ones.
//!
//! | limit | shapes |
//! | --- | --- |
//! | [`Limit::Hinge`], [`Limit::Universal`], [`Limit::EulerBox`] | ranges of angles about axes |
//! | [`SwingLimit`]: where the bone points | ellipse, polygons, planar cone, reach cone, box, all of, any of, not, grown, a [`SwingShape`] of one's own |
//! | [`TwistLimit`]: how it rolls | one range, or a range that changes with where the bone points; relative to the direct swing or another reference |
//!
//! A joint's rotation is `local = rest · center · m`; limits speak of `m`, and directions are those of
//! `m · bone`.
//!
//! Inside, a region of directions is two things: a test whether a direction is in it, and its boundary
//! as pieces of great arcs, circles, ellipses and users' functions, cut where regions combine. Every
//! question about distance goes to the pieces.

mod angles;
mod ball;
mod batch;
mod contact;
mod curve;
mod edges;
mod ellipse;
mod error;
mod grow;
mod lanes;
mod limit;
mod linearize;
mod mirror;
mod polygon;
mod prepared;
mod recenter;
mod region;
mod sectors;
mod soft;
mod swing;
#[cfg(test)]
mod tests;
mod triangulation;
mod turning;
mod twist;
mod twist_field;
mod volume;
#[cfg(test)]
mod zoo;

pub(crate) use ellipse::Ellipse;
pub use ellipse::swing_by_quartic;
pub use error::{LimitError, LimitErrorKind};
pub use limit::{EulerBox, Limit, SwingTwistLimit};
pub use linearize::HalfSpace;
pub(crate) use mirror::Mirror;
pub use prepared::{PreparedLimit, PreparedSwing};
pub use recenter::Recentered;
pub(crate) use region::spread;
pub use soft::SoftLimit;
pub use swing::{SwingLimit, SwingShape};
#[cfg(test)]
pub(crate) use triangulation::Triangulation;
pub(crate) use turning::Climb;
pub use turning::{BestTurn, NearAngle, Turned, Turning, TurningSearch};
pub use twist::{TwistAt, TwistBounds, TwistLimit, TwistOffset};

/// Radians. What is outside a limit by no more than this counts as inside, and is left alone. A
/// rotation in f64 is good to about 4e-16; products of some dozen of them stay below this.
pub(crate) const TOLERANCE: f64 = 1e-12;
