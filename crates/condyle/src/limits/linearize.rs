//! Limits as half-spaces.

use glam::DVec3;

use crate::math::Angle;

/// One linear inequality that stands for a part of a limit near some rotation (A17).
///
/// To first order, the rotation `exp(v) · m` satisfies that part of the limit if and only if
///
/// ```text
///   margin + normal · v ≥ 0
/// ```
///
/// # Convention
///
/// `m` is the rotation that the limit speaks of, and `v` is a rotation vector in the limit's space.
/// The margin is in radians, positive inside; the normal is its derivative, and not always of length
/// one. A joint without freedom across its axes has equalities, which come as two half-spaces that
/// face each other.
///
/// The region of a bone's direction is one half-space: that of its nearest boundary, on the boundary
/// (within 10⁻⁹ rad) that of the boundary's left side. At a corner the normal is between those of both
/// sides, and at a convex one everything that is allowed is in the half-space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    /// How the margin grows with the rotation vector.
    pub normal: DVec3,
    /// The margin at `v = 0`.
    pub margin: Angle,
}

impl HalfSpace {
    pub(crate) const fn new(normal: DVec3, margin: f64) -> Self {
        Self { normal, margin: Angle::from_radians(margin) }
    }

    /// The two half-spaces of `value + normal · v = 0`.
    pub(crate) fn both_sides(normal: DVec3, value: f64) -> [Self; 2] {
        [Self::new(normal, value), Self::new(-normal, -value)]
    }
}
