//! The angle of a hinge at which the end of a limb is as far away as it should be.

use std::f64::consts::PI;

use glam::DVec3;

use crate::math::{Angle, Arc, Rotation, trig, unit};

/// Whether a limb can be as long as the goal is far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It is.
    Reached,
    /// It is too short, even straight.
    TooFar,
    /// It cannot fold so much.
    TooNear,
    /// The bones could, but the hinge's arc ends before.
    HingeLimit,
}

/// Two bones with a hinge between them.
#[derive(Clone, Debug)]
pub(super) struct Hinge {
    upper_m: DVec3,
    lower_m: DVec3,
    zero: Rotation,
    axis: DVec3,
    arc: Arc,
    /// The square of the distance from end to end is `even + wave · cos(angle − longest)`.
    even: f64,
    wave: f64,
    longest: f64,
    /// On which side of the longest pose the arc goes farther: 1 or −1.
    way: f64,
}

/// A limb as long as it should be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bend {
    pub(super) angle: f64,
    /// Of the hinge.
    pub(super) local: Rotation,
    pub(super) upper_m: DVec3,
    /// The end, in the space of the upper joint.
    pub(super) end_m: DVec3,
    /// Where the hinge is beside the line from end to end, roughly and of any length: also where the
    /// bones are straight and it is on the line.
    pub(super) side: DVec3,
    pub(super) reach: Reach,
}

/// What is nearer to the ends of the reach than this, over the length of the limb, is on them.
const ROUNDING: f64 = 1e-14;

impl Hinge {
    /// # Source
    ///
    /// With u and f the bones, h the axis and E the hinge's zero, the end is at `u + E R(h, θ) f`. Its
    /// squared distance is `A + B cos θ + C sin θ` (C9), where with `v = E⁻¹ u`
    ///
    /// ```text
    ///   A = u² + f² + 2 (v·h)(f·h),  B = 2 (v·f − (v·h)(f·h)),  C = 2 v·(h × f)
    /// ```
    pub(super) fn new(
        [upper_m, lower_m]: [DVec3; 2],
        zero: Rotation,
        axis: DVec3,
        arc: Arc,
    ) -> Option<Self> {
        let axis = unit(axis).filter(|_| upper_m.is_finite() && lower_m.is_finite())?;
        let v = zero.inverse() * upper_m;
        let along = v.dot(axis) * lower_m.dot(axis);
        let even = upper_m.length_squared() + lower_m.length_squared() + 2.0 * along;
        let cosine = 2.0 * (v.dot(lower_m) - along);
        let sine = 2.0 * v.dot(axis.cross(lower_m));
        let wave = trig::hypot(cosine, sine);
        let longest = trig::atan2(sine, cosine);
        if !(even.is_finite() && wave.is_finite()) || arc.is_empty() {
            return None;
        }
        // Where the arc is in the middle, unless it is as far to both sides.
        let middle = Angle::from_radians(arc.center().radians() - longest).wrapped().radians();
        let way = if middle < 0.0 { -1.0 } else { 1.0 };
        Some(Self { upper_m, lower_m, zero, axis, arc, even, wave, longest, way })
    }

    /// The angle for a goal, and what follows from it.
    pub(super) fn bend(&self, goal_m: DVec3) -> Bend {
        let (angle, reach) = self.angle(goal_m.length_squared());
        let turn = Rotation::from_axis_angle(self.axis, Angle::from_radians(angle));
        let local = self.zero * turn.unwrap_or_default();
        let end_m = self.upper_m + local * self.lower_m;
        // The axis is across the plane of both bones, or nearly. A turn about it takes the lower bone to
        // one side, so that the hinge is on the other.
        let side = end_m.cross(self.zero * self.axis) * self.way;
        Bend { angle, local, upper_m: self.upper_m, end_m, side, reach }
    }

    fn angle(&self, square: f64) -> (f64, Reach) {
        let scale = self.even.abs() + self.wave;
        // Nothing changes the distance.
        if self.wave <= ROUNDING * scale {
            let angle = self.arc.center().radians();
            let off = square - self.even;
            return match () {
                () if off > 1e-12 * scale => (angle, Reach::TooFar),
                () if off < -1e-12 * scale => (angle, Reach::TooNear),
                () => (angle, Reach::Reached),
            };
        }
        let cos = (square - self.even) / self.wave;
        let beyond = ROUNDING * scale / self.wave;
        let reach = if cos > 1.0 + beyond {
            Reach::TooFar
        } else if cos < -1.0 - beyond {
            Reach::TooNear
        } else {
            Reach::Reached
        };
        let cos = cos.clamp(-1.0, 1.0);
        let from_longest = trig::atan2(((1.0 - cos) * (1.0 + cos)).sqrt(), cos);
        // The usual side first.
        let candidates = [self.way, -self.way].map(|way| self.longest + way * from_longest);
        for candidate in candidates {
            if let Some(inside) = self.inside(candidate) {
                return (inside, reach);
            }
        }
        // The end of the arc with the distance that is nearest.
        let off = |angle: f64| {
            let (_, cos) = trig::sin_cos(angle - self.longest);
            (self.even + self.wave * cos - square).abs()
        };
        let [low, high] = [self.arc.min().radians(), self.arc.max().radians()];
        let angle = if off(low) < off(high) { low } else { high };
        let limited = if reach == Reach::Reached { Reach::HingeLimit } else { reach };
        (angle, limited)
    }

    /// The angle as it is inside the arc, whole turns and rounding apart.
    fn inside(&self, angle: f64) -> Option<f64> {
        let angle = Angle::from_radians(angle).wrapped();
        if self.arc.contains(angle) {
            return Some(angle.radians());
        }
        let nearest = self.arc.nearest(angle)?;
        let off = Angle::from_radians(nearest.radians() - angle.radians()).wrapped().radians();
        (off.abs() < 1e-9 * PI).then_some(nearest.radians())
    }
}
