//! A joint that does not move.

use glam::{DMat3, DVec3};

use super::super::{HalfSpace, TOLERANCE};
use super::away;
use crate::math::Rotation;

/// The identity alone (A5).
#[derive(Clone, Copy, Debug)]
pub(crate) struct LockedLimit;

impl LockedLimit {
    /// Minus the angle of the rotation: never positive.
    pub(crate) fn distance(&self, m: Rotation) -> f64 {
        -m.angle().radians()
    }

    pub(crate) fn contains(&self, m: Rotation) -> bool {
        self.distance(m) >= -TOLERANCE
    }

    pub(crate) fn project(&self, m: Rotation) -> Rotation {
        if self.contains(m) { m } else { Rotation::IDENTITY.in_hemisphere_of(m) }
    }

    /// Zero at the identity and at half-turns, where the derivative is not defined.
    pub(crate) fn gradient(&self, m: Rotation) -> DVec3 {
        away(m, Rotation::IDENTITY).map_or(DVec3::ZERO, |n| -n)
    }

    pub(crate) fn jacobian(&self, _: Rotation) -> DMat3 {
        DMat3::ZERO
    }

    /// Three equalities: no turn about the rotation's own axis, nor about two across it.
    pub(crate) fn linearize(&self, m: Rotation) -> Vec<HalfSpace> {
        let along = away(m, Rotation::IDENTITY).unwrap_or(DVec3::X);
        let (one, other) = along.any_orthonormal_pair();
        let mut half_spaces = Vec::with_capacity(6);
        half_spaces.extend(HalfSpace::both_sides(along, m.angle().radians()));
        half_spaces.extend(HalfSpace::both_sides(one, 0.0));
        half_spaces.extend(HalfSpace::both_sides(other, 0.0));
        half_spaces
    }
}
