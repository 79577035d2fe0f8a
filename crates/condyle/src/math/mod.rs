//! Rotations, angles and circular intervals: the mathematics everything else stands on.
//!
//! Conventions (pinned by tests, listed in `CONVENTIONS.md`): right-handed, column vectors, active
//! rotations, Hamilton quaternions, `a * b` means "first `b`, then `a`", radians inside.
//! All transcendental functions come from [`trig`], so results are the same bits on every machine.

mod angle;
mod arc;
pub mod batch;
mod columns;
mod direct;
mod eigen;
mod euler;
mod exponential;
mod interpolate;
mod mean;
mod rotation;
mod simd;
mod swing;
mod swing_twist;
pub mod trig;

#[cfg(test)]
pub(crate) mod arbitrary;

pub use angle::{Angle, AngleUnit};
pub use arc::Arc;
pub use columns::{Points, Rotations};
pub use direct::{DirectRotation, InducedTwist, direct_rotation, induced_twist};
pub(crate) use direct::{perpendicular, turn_directly};
pub use eigen::{Svd3, SymmetricEigen, svd3, symmetric_eigen};
pub use euler::{Axis, EulerAngles, EulerOrder, GimbalLock, ParseEulerOrderError};
pub(crate) use exponential::{exp, log};
pub use interpolate::{Interpolation, Squad, cubic_point};
pub use mean::{MeanRotation, geodesic_mean, mean_rotation};
pub use rotation::Rotation;
pub(crate) use rotation::{angle_between, unit};
pub(crate) use simd::Kernel;
pub use simd::Level;
pub use swing::SwingKind;
pub use swing_twist::{Swing, SwingAxes, SwingTwist, SwingTwistHalves};
