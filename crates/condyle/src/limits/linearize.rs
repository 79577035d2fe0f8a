//! Limits as half-spaces at a rotation (A17).

use glam::DVec3;

/// One side of a limit, to first order: the rotation `exp(v) · m` is on the allowed side of it iff
/// `margin + normal · v ≥ 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    /// How the margin grows with a small rotation `v`, in the space of the limit.
    pub normal: DVec3,
    /// How far inside the rotation is, in radians; negative outside.
    pub margin: f64,
}
