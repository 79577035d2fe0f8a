//! One angle about one axis.

#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use std::f64::consts::PI;

use glam::{DMat3, DQuat, DVec3};

use super::super::{HalfSpace, LimitError, LimitErrorKind, TOLERANCE};
use super::range::{Half, Range};
use super::{away, outer};
use crate::math::{Angle, Arc, Rotation, angle_between, trig, unit};

/// The rotations `R(axis, a)`, `a` in an arc, prepared.
///
/// # Source
///
/// The nearest turn about the axis, by A7 as corrected: with `q = (w, v)`
///
/// ```text
///   ⟨q, R(u, a)⟩ = w cos(a/2) + (v·u) sin(a/2),   largest at a = 2 atan2(v·u, w)
/// ```
///
/// The product is a sinusoid in `a/2`, so the nearest angle of an arc is the nearest on the circle.
///
/// # Convention
///
/// As [`Limit`](super::super::Limit). Distances are angles of rotations.
///
/// # Domain and singularity
///
/// Total. A hinge has no freedom across its axis: off the orbit `R(axis, ·)` the distance is never
/// positive, and on it, to within [`TOLERANCE`], it is the signed distance of the angle to the nearer
/// end of the arc. Where the axis is turned around (`w = v·u = 0`) all angles are equally near and
/// zero is clamped; in the middle of the gap the answer is the first end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HingeLimit {
    axis: DVec3,
    range: Range,
}

/// The nearest allowed rotation.
struct Foot {
    rotation: Rotation,
    clamped: bool,
}

impl HingeLimit {
    pub(crate) fn new(axis: DVec3, arc: Arc) -> Result<Self, LimitError> {
        let axis = unit(axis)
            .ok_or_else(|| LimitError::new(LimitErrorKind::NoDirection).within("axis"))?;
        Ok(Self { axis, range: Range::new(arc).map_err(|error| error.within("arc"))? })
    }

    /// The axis and the arc.
    pub(crate) const fn turn(&self) -> (DVec3, Arc) {
        (self.axis, self.range.arc())
    }

    /// The angle, in the arc or within half a turn of it.
    pub(crate) fn turn_of(&self, m: Rotation) -> f64 {
        self.range.lifted(m.angle_about(self.axis))
    }

    /// Radians, positive inside: π if every angle is allowed.
    pub(crate) fn distance(&self, m: Rotation) -> f64 {
        let foot = self.foot(m);
        let distance = m.distance(foot.rotation).radians();
        if foot.clamped || distance > TOLERANCE { -distance } else { self.margin(m) }
    }

    pub(crate) fn contains(&self, m: Rotation) -> bool {
        m.distance(self.foot(m).rotation).radians() <= TOLERANCE
    }

    pub(crate) fn project(&self, m: Rotation) -> Rotation {
        let at = self.foot(m).rotation;
        if m.distance(at).radians() <= TOLERANCE { m } else { at.in_hemisphere_of(m) }
    }

    /// [`project`](Self::project) of a quaternion x, y, z, w without branches. Sets the highest bit of `flag`
    /// where it has to be asked instead.
    #[inline(always)]
    pub(crate) fn project_lane(&self, [x, y, z, w]: [f64; 4], flag: &mut u64) -> [f64; 4] {
        /// The tangent of half the tolerance, less and more than which there is no doubt.
        const NEAR: [f64; 2] = [0.499 * TOLERANCE, 0.501 * TOLERANCE];
        let sin = x * self.axis.x + y * self.axis.y + z * self.axis.z;
        let near = self.range.nearest_of_some_length(Half { cos: w, sin });
        let [a, b, c, e] =
            [self.axis.x * near.sin, self.axis.y * near.sin, self.axis.z * near.sin, near.cos];
        // The turn between the two.
        let (i, j, k) = (
            w * a - x * e - (y * c - z * b),
            w * b - y * e - (z * a - x * c),
            w * c - z * e - (x * b - y * a),
        );
        let cos = w * e + x * a + y * b + z * c;
        let (sine, cosine) = (i * i + j * j + k * k, cos * cos);
        let here = sine <= NEAR[0] * NEAR[0] * cosine;
        let doubt = !here & (sine < NEAR[1] * NEAR[1] * cosine);
        let short = w * w + sin * sin < 1e-180;
        let level = cos.abs() < 1e-12;
        *flag |= if doubt | short | level { 1 << 63 } else { 0 };
        let side = if cos < 0.0 { -1.0 } else { 1.0 };
        [
            if here { x } else { side * a },
            if here { y } else { side * b },
            if here { z } else { side * c },
            if here { w } else { side * e },
        ]
    }

    /// On the orbit it is the derivative along it, since every way off it is a jump.
    pub(crate) fn gradient(&self, m: Rotation) -> DVec3 {
        let foot = self.foot(m);
        if m.distance(foot.rotation).radians() > TOLERANCE {
            return away(m, foot.rotation).map_or(DVec3::ZERO, |n| -n);
        }
        let arc = self.range.arc();
        if arc.is_full() {
            return DVec3::ZERO;
        }
        let angle = Angle::from_radians(self.angle(m));
        // From the middle of the arc the nearer end is the one on the same side, also outside.
        let from_middle = (angle - arc.center()).wrapped().radians();
        if from_middle < 0.0 {
            self.axis
        } else if from_middle > 0.0 {
            -self.axis
        } else {
            DVec3::ZERO
        }
    }

    pub(crate) fn jacobian(&self, m: Rotation) -> DMat3 {
        if self.foot(m).clamped { DMat3::ZERO } else { outer(self.axis, self.angle_gradient(m)) }
    }

    /// The axis stays where it is (two equalities), and the angle between its ends.
    pub(crate) fn linearize(&self, m: Rotation) -> Vec<HalfSpace> {
        let mut half_spaces = Vec::with_capacity(6);
        let moved = m * self.axis;
        // Turning about `across` takes the axis farther away, about `along` it only moves it
        // sideways.
        let across =
            unit(self.axis.cross(moved)).unwrap_or_else(|| self.axis.any_orthonormal_vector());
        let along = moved.cross(across);
        let swing = angle_between(self.axis, moved).radians();
        half_spaces.extend(HalfSpace::both_sides(across, swing));
        half_spaces.extend(HalfSpace::both_sides(along, 0.0));
        self.range.linearize(self.angle(m), self.angle_gradient(m), &mut half_spaces);
        half_spaces
    }

    fn foot(&self, m: Rotation) -> Foot {
        let (near, clamped) = self.range.nearest(self.half(m));
        let v = self.axis * near.sin;
        let rotation = Rotation::from_unit(DQuat::from_xyzw(v.x, v.y, v.z, near.cos));
        Foot { rotation, clamped: clamped.is_some() }
    }

    /// The angle of the nearest turn about the axis, as a half angle of any length.
    fn half(&self, m: Rotation) -> Half {
        let q = m.quat();
        Half { cos: q.w, sin: q.xyz().dot(self.axis) }
    }

    fn angle(&self, m: Rotation) -> f64 {
        let Half { cos, sin } = self.half(m);
        2.0 * trig::atan2(sin, cos)
    }

    /// On the orbit and inside: how far the nearer end is. The angle may be outside by rounding.
    fn margin(&self, m: Rotation) -> f64 {
        let margin = self.range.arc().distance(Angle::from_radians(self.angle(m)));
        margin.radians().clamp(0.0, PI)
    }

    /// The derivative of `2 atan2(v·u, w)` under `q ← exp(δ) q`, where `ẇ = −δ·v/2` and
    /// `v̇ = (w δ + δ × v)/2`. Zero where the axis is turned around.
    fn angle_gradient(&self, m: Rotation) -> DVec3 {
        let q = m.quat();
        let Half { cos, sin } = self.half(m);
        let square = cos * cos + sin * sin;
        if square == 0.0 {
            return DVec3::ZERO;
        }
        let v = q.xyz();
        (self.axis * (cos * cos) + v.cross(self.axis) * cos + v * sin) / square
    }
}
