//! The angle of a hinge at which the end of a limb is as far away as it should be.

#![allow(
    clippy::inline_always,
    reason = "a call costs a third of the answer: rotations go through memory on the way"
)]

use std::f64::consts::PI;

use glam::{DQuat, DVec3};

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
    arc: Arc,
    /// The square of the distance from end to end is `even + wave · cos(angle − longest)`.
    even: f64,
    wave: f64,
    one_over_wave: f64,
    longest: f64,
    /// On which side of the longest pose the arc goes farther: 1 or −1.
    way: f64,
    /// Between these cosines of the angle from the longest pose, the arc holds the angle to that side.
    usual: [f64; 2],
    /// Sine and cosine of half the angle of the longest pose.
    half_longest: [f64; 2],
    /// The local rotation at an angle from the longest pose: these times cosine and sine of half of it.
    locals: [DQuat; 2],
    /// The end there, in the space of the upper joint: the first, and the others times cosine and sine.
    ends_m: [DVec3; 3],
    /// The axis in the space of the upper joint, to that side.
    axis: DVec3,
    pub(super) upper_m: DVec3,
    /// The square of a distance from which on rounding of the end is below 1e-13 of it.
    pub(super) not_folded: f64,
}

/// A limb as long as it should be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bend {
    /// Sine and cosine of half the hinge's angle.
    pub(super) half: [f64; 2],
    /// Of the hinge.
    pub(super) local: Rotation,
    /// The end, in the space of the upper joint.
    pub(super) end_m: DVec3,
    /// Where the hinge is beside the line from end to end, of any length and across it: also where the
    /// bones are straight and it is on the line.
    pub(super) side: DVec3,
    pub(super) reach: Reach,
}

/// What is nearer to the ends of the reach than this, over the length of the limb, is on them.
const ROUNDING: f64 = 1e-14;

/// A cosine nearer to an end of the arc, or to the straight pose, than this is looked at more closely.
const CLOSE: f64 = 1e-12;

impl Hinge {
    /// # Source
    ///
    /// With u and f the bones, h the axis and E the hinge's zero, the end is at `u + E R(h, θ) f`. Its
    /// squared distance is `A + B cos θ + C sin θ` (C9), where with `v = E⁻¹ u`
    ///
    /// ```text
    ///   A = u² + f² + 2 (v·h)(f·h),  B = 2 (v·f − (v·h)(f·h)),  C = 2 v·(h × f)
    /// ```
    ///
    /// From the angle of the longest pose on, `atan2(C, B)`, it is `A + √(B² + C²) cos δ`.
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

        let (half_sin, half_cos) = trig::sin_cos(0.5 * longest);
        let turned = |sin: f64, cos: f64| {
            let v = axis * sin;
            zero.quat() * DQuat::from_xyzw(v.x, v.y, v.z, cos)
        };
        let at_longest = Rotation::new(turned(half_sin, half_cos))?;
        let round = axis * axis.dot(lower_m);
        let ends_m = [
            upper_m + at_longest * round,
            at_longest * (lower_m - round),
            at_longest * axis.cross(lower_m),
        ];
        let locals = [turned(half_sin, half_cos), turned(half_cos, -half_sin)];
        let changes = wave > ROUNDING * (even.abs() + wave);
        Some(Self {
            arc,
            even,
            wave,
            one_over_wave: if changes { 1.0 / wave } else { 0.0 },
            longest,
            way,
            usual: if changes { usual(arc, longest, way) } else { [1.0, -1.0] },
            half_longest: [half_sin, half_cos],
            locals,
            ends_m,
            axis: zero * axis * way,
            upper_m,
            not_folded: (1e-3 * (even.abs() + wave)).max(1e-200),
        })
    }

    /// The angle for a goal whose distance has this square, and what follows from it.
    #[inline(always)]
    pub(super) fn bend(&self, square: f64) -> Bend {
        let cos = (square - self.even) * self.one_over_wave;
        let [low, high] = self.usual;
        if cos > low && cos < high {
            let half = [(0.5 * (1.0 - cos)).sqrt() * self.way, (0.5 * (1.0 + cos)).sqrt()];
            let sin = ((1.0 - cos) * (1.0 + cos)).sqrt() * self.way;
            return self.bent(half, [sin, cos], Reach::Reached);
        }
        let ([sin, cos], reach) = self.unusual(square);
        self.bent([sin, cos], whole([sin, cos]), reach)
    }

    /// Sine and cosine of half the angle from the longest pose, near the ends of what can be reached and
    /// beyond.
    #[cold]
    fn unusual(&self, square: f64) -> ([f64; 2], Reach) {
        let (angle, reach) = self.angle(square);
        let (sin, cos) = trig::sin_cos(0.5 * (angle - self.longest));
        ([sin, cos], reach)
    }

    /// The end in the space of the upper joint, at an angle of the hinge by sine and cosine of half of it.
    pub(super) fn end_m(&self, [sin, cos]: [f64; 2]) -> DVec3 {
        let [longest_sin, longest_cos] = self.half_longest;
        let half = [sin * longest_cos - cos * longest_sin, cos * longest_cos + sin * longest_sin];
        self.end_from_longest_m(whole(half))
    }

    #[inline(always)]
    fn end_from_longest_m(&self, [sin, cos]: [f64; 2]) -> DVec3 {
        let [even, with_cos, with_sin] = self.ends_m;
        even + with_cos * cos + with_sin * sin
    }

    /// With sine and cosine of half the angle from the longest pose, and of the whole.
    #[inline(always)]
    fn bent(&self, [sin, cos]: [f64; 2], whole: [f64; 2], reach: Reach) -> Bend {
        let [straight, across] = self.locals;
        let local = Rotation::from_unit(straight * cos + across * sin);
        let end_m = self.end_from_longest_m(whole);
        let [longest_sin, longest_cos] = self.half_longest;
        let half = [sin * longest_cos + cos * longest_sin, cos * longest_cos - sin * longest_sin];
        // The axis is across the plane of both bones, or nearly. A turn about it takes the lower bone to
        // one side, so that the hinge is on the other.
        Bend { half, local, end_m, side: end_m.cross(self.axis), reach }
    }

    /// How far inside its arc an angle is; π if every angle is allowed.
    pub(super) fn margin(&self, angle: Angle) -> Angle {
        let margin = self.arc.distance(angle).radians();
        Angle::from_radians(margin.clamp(-PI, PI))
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

/// Sine and cosine of an angle by those of half of it.
fn whole([sin, cos]: [f64; 2]) -> [f64; 2] {
    [2.0 * sin * cos, (cos - sin) * (cos + sin)]
}

/// The cosines of angles from the longest pose, to one side of it, between which the arc holds all, or
/// nothing if there are none. An arc may hold others beyond a gap.
fn usual(arc: Arc, longest: f64, way: f64) -> [f64; 2] {
    let [min, max] = [arc.min().radians(), arc.max().radians()];
    let begin = if way > 0.0 { min - longest } else { longest - max };
    let begin = Angle::from_radians(begin).wrapped().radians();
    let [from, to] =
        if arc.is_full() { [0.0, PI] } else { [begin.max(0.0), (begin + (max - min)).min(PI)] };
    if from >= to {
        return [1.0, -1.0];
    }
    [trig::cos(to) + CLOSE, trig::cos(from) - CLOSE]
}
