//! How far samples are outside of the limit that was made for them.
#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use std::f64::consts::PI;
use std::ops::Range;

use glam::DVec3;

use super::moments::rotation_unchecked;
use super::universal::about;
use crate::limits::{
    Limit, PreparedLimit, PreparedSwing, SwingTwistLimit, TwistBounds, TwistOffset,
};
use crate::math::{Arc, Kernel, Level, Rotation, Rotations, trig, unit};

/// How far samples are outside at most, radians; 0 if all are inside. `prepared` is `limit`, which
/// speaks of `back · q`.
///
/// Of a limit without volume nearly every sample is outside, by its noise. So that not each of them
/// needs the nearest allowed rotation, those are told apart first whose angles are clearly within the
/// arcs. They differ only in how far they are off the joint's own rotations, and the farthest of them
/// is asked for all. Of a ball, many samples are clearly inside.
pub(super) fn largest(
    limit: &Limit,
    prepared: &PreparedLimit,
    back: Rotation,
    samples: &[&Rotations],
) -> f64 {
    let mut most = Most { prepared, back, sure: None, excess: 0.0, farthest: [None; 2] };
    match limit {
        // It holds its samples by construction.
        Limit::Free | Limit::EulerBox(_) => {}
        // Every sample has its own.
        Limit::Locked => most.see(samples, |m| {
            let q = m.quat();
            ([q.x * q.x + q.y * q.y + q.z * q.z, 0.0], true)
        }),
        Limit::Hinge { axis, arc } => {
            let Some(axis) = unit(*axis) else { return 0.0 };
            let inside = Inside::new(*arc);
            most.see(samples, move |m| {
                let (angle, across) = turn(m, axis);
                ([across.length_squared(), 0.0], inside.clearly(angle))
            });
        }
        Limit::Universal { axes, arcs } => {
            let [Some(a), Some(b)] = axes.map(unit) else { return 0.0 };
            let inside = arcs.map(Inside::new);
            let angle = a.dot(b);
            // The shortest way turns `m b` towards or away from a, which keeps both angles.
            most.see(samples, move |m| {
                let moved = m * b;
                let [sin, cos] = about(b, a, m.inverse() * a);
                let off = a.dot(moved) - angle;
                let within = inside[0].clearly(about(a, b, moved)) & inside[1].clearly([-sin, cos]);
                ([off, -off], within)
            });
        }
        Limit::SwingTwist(of) => {
            most.sure = Sure::new(of, prepared, back, samples);
            match most.sure {
                Some(sure) => match sure.swing.ellipse() {
                    Some((ellipse, axes)) => most.see(samples, move |m| {
                        let inside = ellipse.surely_contains(axes.components(m * sure.bone));
                        ([0.0; 2], sure.holds_where(inside, m))
                    }),
                    None => most.see(samples, move |m| ([0.0; 2], sure.holds(m))),
                },
                None => most.see(samples, |_| ([0.0; 2], false)),
            }
        }
    }
    most.excess()
}

/// A cap of directions inside a swing, and the arc of twists.
#[derive(Clone, Copy)]
struct Sure<'a> {
    swing: PreparedSwing<'a>,
    bone: DVec3,
    middle: DVec3,
    /// Of the radius.
    cos: f64,
    twists: Inside,
}

impl<'a> Sure<'a> {
    /// `None` where the twist depends on the direction, or is not that of the direct swing.
    fn new(
        of: &SwingTwistLimit,
        prepared: &'a PreparedLimit,
        back: Rotation,
        samples: &[&Rotations],
    ) -> Option<Self> {
        let arc = match of.twist.bounds {
            TwistBounds::Free => Arc::FULL,
            TwistBounds::Arc(arc) => arc,
            TwistBounds::BySwing(_) => return None,
        };
        if !matches!(of.twist.offset, TwistOffset::None) {
            return None;
        }
        let swing = prepared.swing()?;
        let bone = of.axes.bone();
        // Some are enough.
        let step = |clip: &Rotations| clip.len().div_ceil(64).max(1);
        let some = samples.iter().flat_map(|clip| clip.iter().step_by(step(clip)));
        let middle = unit(some.map(|q| back * q * bone).sum())?;
        // Less than the distance to the boundary, which may be off by its tolerance.
        let radius = 0.99 * swing.distance(middle)?.radians().clamp(0.0, PI);
        let cos = trig::cos(radius);
        Some(Self { swing, bone, middle, cos, twists: Inside::new(arc) })
    }

    #[inline(always)]
    fn holds(&self, m: Rotation) -> bool {
        self.holds_where(false, m)
    }

    /// The same where the direction is known to be inside, whether in the cap or not.
    #[inline(always)]
    fn holds_where(&self, inside: bool, m: Rotation) -> bool {
        let near = (m * self.bone).dot(self.middle) > self.cos;
        (inside | near) & self.twists.clearly(turn(m, self.bone).0)
    }

    /// The same without the cap: fewer are left to be asked for all they have.
    fn contains(&self, m: Rotation) -> bool {
        self.twists.clearly(turn(m, self.bone).0) && self.swing.contains(m * self.bone)
    }
}

/// Sine and cosine of the angle of the nearest turn about an axis, both times the same, and the vector
/// part of the quaternion across the axis.
#[inline(always)]
fn turn(m: Rotation, axis: DVec3) -> ([f64; 2], DVec3) {
    let q = m.quat();
    let v = DVec3::new(q.x, q.y, q.z);
    let along = v.dot(axis);
    ([2.0 * q.w * along, q.w * q.w - along * along], v - axis * along)
}

/// The largest excess so far.
struct Most<'a> {
    prepared: &'a PreparedLimit,
    back: Rotation,
    /// Of a ball.
    sure: Option<Sure<'a>>,
    excess: f64,
    /// The sample that is farthest off by each of two measures, which grow with the excess.
    farthest: [Option<(f64, Rotation)>; 2],
}

impl Most<'_> {
    /// Looks at all samples. `off` gives both measures, and whether they do: the sample has to be asked
    /// by itself if not.
    fn see(&mut self, samples: &[&Rotations], off: impl Fn(Rotation) -> ([f64; 2], bool) + Copy) {
        let level = Level::best();
        let mut measures = [[0.0; BLOCK]; 2];
        for clip in samples {
            let columns = clip.xyzw();
            for start in (0..clip.len()).step_by(BLOCK) {
                let end = clip.len().min(start + BLOCK);
                let columns = columns.map(|c| &c[start..end]);
                let (back, measures) = (self.back, &mut measures);
                level.run(Measure { columns, back, off, measures });
                self.compare(clip, start..end, measures);
            }
        }
    }

    fn compare(&mut self, clip: &Rotations, range: Range<usize>, measures: &[[f64; BLOCK]; 2]) {
        for (i, (first, second)) in range.zip(measures[0].iter().zip(&measures[1])) {
            let m = || self.back * clip.at(i);
            if first.is_nan() {
                self.excess = self.excess.max(self.of(m()));
                continue;
            }
            let [a, b] = self.farthest.map(|farthest| farthest.map_or(f64::NEG_INFINITY, |f| f.0));
            if *first > a {
                self.farthest[0] = Some((*first, m()));
            }
            if *second > b {
                self.farthest[1] = Some((*second, m()));
            }
        }
    }

    fn of(&self, m: Rotation) -> f64 {
        let inside = self.sure.is_some_and(|sure| sure.contains(m)) || self.prepared.contains(m);
        if inside { 0.0 } else { -self.prepared.distance(m).radians() }
    }

    fn excess(&self) -> f64 {
        let farthest = self.farthest.iter().flatten();
        farthest.map(|(_, m)| self.of(*m)).fold(self.excess, f64::max)
    }
}

/// Samples that are measured before they are compared.
const BLOCK: usize = 128;

/// Both measures of some samples, NaN where they do not count.
struct Measure<'a, F> {
    columns: [&'a [f64]; 4],
    back: Rotation,
    off: F,
    measures: &'a mut [[f64; BLOCK]; 2],
}

impl<F: Fn(Rotation) -> ([f64; 2], bool)> Kernel for Measure<'_, F> {
    #[inline(always)]
    fn run(self) {
        let [x, y, z, w] = self.columns;
        let n = x.len().min(BLOCK);
        let (x, y, z, w) = (&x[..n], &y[..n], &z[..n], &w[..n]);
        // Local ones share no memory with the columns.
        let (mut first, mut second) = ([0.0; BLOCK], [0.0; BLOCK]);
        for i in 0..n {
            let q = rotation_unchecked([x[i], y[i], z[i], w[i]]);
            let ([a, b], counts) = (self.off)(self.back * q);
            first[i] = if counts { a } else { f64::NAN };
            second[i] = b;
        }
        *self.measures = [first, second];
    }
}

/// Which angles are clearly within an arc.
#[derive(Clone, Copy)]
struct Inside {
    middle: [f64; 2],
    /// The cosine of half the width.
    cos: f64,
}

impl Inside {
    /// Of cosines: more than rounding, however small the arc.
    const SLACK: f64 = 1e-12;

    fn new(arc: Arc) -> Self {
        let (sin, cos) = trig::sin_cos(arc.center().radians());
        let half = if arc.is_full() { 4.0 } else { 0.5 * arc.width().radians() };
        // Beyond half a turn everything is inside.
        let least = if half >= PI { -2.0 } else { trig::cos(half) };
        Self { middle: [sin, cos], cos: least }
    }

    /// Of an angle's sine and cosine, both times the same. Not where that is so little that the angle
    /// means nothing.
    #[inline(always)]
    fn clearly(&self, [sin, cos]: [f64; 2]) -> bool {
        let along = sin * self.middle[0] + cos * self.middle[1];
        let length = (sin * sin + cos * cos).sqrt();
        (length > 1e-6) & (along > (self.cos + Self::SLACK) * length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{SwingLimit, TwistLimit};
    use crate::math::{Angle, SwingAxes};
    use crate::synth::Rng;

    /// Asked one by one.
    #[test]
    fn the_largest_excess_is_that_of_some_sample() {
        let mut rng = Rng::new(5);
        let mut asked = 0;
        for round in 0..400 {
            let mut arc = |most: f64| {
                let from = rng.between(-4.0, 4.0);
                let width = rng.between(0.0, most);
                Arc::new(Angle::from_radians(from), Angle::from_radians(from + width)).unwrap()
            };
            let arcs = [arc(6.5), arc(3.0)];
            let [a, b] = [(); 2].map(|()| rng.direction());
            let ellipse = SwingLimit::Ellipse {
                rx: Angle::from_radians(rng.between(0.1, 2.0)),
                ry: Angle::from_radians(rng.between(0.1, 2.0)),
            };
            let limit = match round % 5 {
                0 => Limit::Locked,
                4 => Limit::SwingTwist(SwingTwistLimit {
                    axes: SwingAxes::new(a, None).unwrap(),
                    swing: ellipse,
                    twist: TwistLimit {
                        bounds: TwistBounds::Arc(arcs[0]),
                        ..TwistLimit::default()
                    },
                }),
                1 => Limit::Hinge { axis: a * 2.0, arc: arcs[0] },
                _ => Limit::Universal { axes: [a, b], arcs },
            };
            let Ok(prepared) = limit.prepare() else { continue };
            let back = rng.rotation();
            let noise = [0.0, 1e-9, 0.01, 0.3, 3.0][round / 5 % 5];
            let clips: [Rotations; 2] = [(); 2].map(|()| {
                (0..60)
                    .map(|_| {
                        let inside = prepared.project(rng.rotation());
                        let noise =
                            Rotation::exp(rng.direction() * (noise * rng.normal())).unwrap();
                        back.inverse() * inside * noise
                    })
                    .collect()
            });
            let clips = [&clips[0], &clips[1]];
            let all = || clips.iter().flat_map(|clip| clip.iter()).map(|q| back * q);
            let truth = all()
                .filter(|m| !prepared.contains(*m))
                .map(|m| -prepared.distance(m).radians())
                .fold(0.0, f64::max);
            let found = largest(&limit, &prepared, back, &clips);
            assert!((found - truth).abs() <= 1e-15 + 1e-12 * truth, "{limit:?}: {found} {truth}");
            asked += usize::from(truth > 0.0);
        }
        assert!(asked > 200, "{asked}");
    }
}
