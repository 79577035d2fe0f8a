//! Two angles about two axes.

use std::f64::consts::PI;

use glam::{DMat3, DVec3};

use super::super::{HalfSpace, LimitError, LimitErrorKind};
use super::range::Range;
use super::two_turns::{ANY, Foot, TwoTurns};
use super::{NEAR, away};
use crate::math::{Arc, Rotation, trig, unit};

/// The rotations `R(u, a) · R(w, b)`, each angle in its arc, prepared.
///
/// # Source
///
/// Own derivation: see [`TwoTurns`].
///
/// # Convention
///
/// As [`Limit`](super::super::Limit). Distances are angles of rotations.
///
/// # Domain and singularity
///
/// Total. A universal joint has two freedoms of three: off their surface the distance is never
/// positive. On it, to within [`TOLERANCE`](super::super::TOLERANCE), and with both angles inside, it is the distance to the
/// nearest rotation that has an angle at an end. Axes whose sine is below 1e-6 are refused: the two
/// angles would be one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UniversalLimit {
    turns: TwoTurns,
    axes: [DVec3; 2],
}

impl UniversalLimit {
    /// Sine of the angle between the axes.
    const MIN_SINE: f64 = 1e-6;

    pub(crate) fn new(axes: [DVec3; 2], arcs: [Arc; 2]) -> Result<Self, LimitError> {
        let axis = |i: usize| {
            let error =
                || LimitError::new(LimitErrorKind::NoDirection).within(format!("axes[{i}]"));
            unit(axes[i]).ok_or_else(error)
        };
        let range =
            |i: usize| Range::new(arcs[i]).map_err(|error| error.within(format!("arcs[{i}]")));
        let axes = [axis(0)?, axis(1)?];
        let ranges = [range(0)?, range(1)?];
        let parallel = || LimitError::new(LimitErrorKind::ParallelAxes).within("axes");
        let cross = axes[0].cross(axes[1]);
        if trig::hypot3(cross.x, cross.y, cross.z) < Self::MIN_SINE {
            return Err(parallel());
        }
        let turns = TwoTurns::new(Rotation::IDENTITY, axes, Rotation::IDENTITY, ranges)
            .ok_or_else(parallel)?;
        Ok(Self { turns, axes })
    }

    /// The axes and their arcs.
    pub(crate) fn turns(&self) -> [(DVec3, Arc); 2] {
        let [first, second] = self.turns.arcs();
        [(self.axes[0], first), (self.axes[1], second)]
    }

    /// The axes, of length one.
    pub(crate) const fn axes(&self) -> [DVec3; 2] {
        self.axes
    }

    /// The angles, each in its arc or within half a turn of it.
    pub(crate) fn turns_of(&self, m: Rotation) -> [f64; 2] {
        self.turns.lifted_angles(m.quat())
    }

    /// Radians, positive inside: π if every angle is allowed.
    pub(crate) fn distance(&self, m: Rotation) -> f64 {
        let (foot, at) = self.foot(m);
        if foot.is_here() && foot.is_free() { self.margin(m) } else { -foot.distance(m, at) }
    }

    pub(crate) fn contains(&self, m: Rotation) -> bool {
        self.turns.foot(m.quat()).is_here()
    }

    pub(crate) fn project(&self, m: Rotation) -> Rotation {
        let foot = self.turns.foot(m.quat());
        if foot.is_here() { m } else { self.turns.rotation(&foot).in_hemisphere_of(m) }
    }

    /// On the surface it is the derivative along it, since every way off it is a jump. Zero at
    /// corners, on the edges of an arc of one angle, and where nothing bounds the angles.
    pub(crate) fn gradient(&self, m: Rotation) -> DVec3 {
        let (foot, at) = self.foot(m);
        if !foot.is_here() {
            return away(m, at).map_or(DVec3::ZERO, |n| -n);
        }
        let q = m.quat();
        let Some(edge) = self.turns.nearest_edge(q, ANY, &[0, 1]) else {
            return DVec3::ZERO;
        };
        let edge_at = self.turns.rotation(&edge);
        let [first, second] = self.turns.tangents(m);
        let Some(normal) = unit(first.cross(second)) else {
            return DVec3::ZERO;
        };
        if foot.is_free() && m.distance(edge_at).radians() > NEAR {
            let apart = away(m, edge_at).unwrap_or(DVec3::ZERO);
            return apart - normal * normal.dot(apart);
        }
        // At an edge: into the arc, across the edge.
        self.turns.inward(&edge, [first, second]).unwrap_or(DVec3::ZERO)
    }

    pub(crate) fn jacobian(&self, m: Rotation) -> DMat3 {
        self.turns.jacobian(m.quat(), &self.foot(m).0)
    }

    /// The axes keep the angle between them (one equality), and both turns are between their ends.
    pub(crate) fn linearize(&self, m: Rotation) -> Vec<HalfSpace> {
        let mut half_spaces = Vec::with_capacity(6);
        let q = m.quat();
        // Turning about `opens` takes the second axis away from the first.
        let opens = unit(self.axes[0].cross(m * self.axes[1]))
            .unwrap_or_else(|| self.axes[0].any_orthonormal_vector());
        let [opening, wanted] = self.turns.opening(q);
        half_spaces.extend(HalfSpace::both_sides(opens, opening - wanted));
        let angles = self.turns.angles(q);
        let gradients = self.turns.frame().angle_gradients(q);
        for i in 0..2 {
            self.turns.ranges()[i].linearize(angles[i], gradients[i], &mut half_spaces);
        }
        half_spaces
    }

    fn foot(&self, m: Rotation) -> (Foot, Rotation) {
        let foot = self.turns.foot(m.quat());
        (foot, self.turns.rotation(&foot))
    }

    fn margin(&self, m: Rotation) -> f64 {
        self.turns
            .nearest_edge(m.quat(), ANY, &[0, 1])
            .map_or(PI, |edge| m.distance(self.turns.rotation(&edge)).radians())
    }
}
