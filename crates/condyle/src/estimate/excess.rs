//! How far samples are outside of the limit that was made for them.

use std::f64::consts::PI;

use glam::DVec3;

use super::universal::about;
use crate::limits::{Limit, PreparedLimit, SwingTwistLimit, TwistBounds, TwistOffset};
use crate::math::{Arc, Rotation, Rotations, trig, unit};

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
    let mut most = Most { prepared, back, excess: 0.0, farthest: [None; 2] };
    match limit {
        // It holds its samples by construction.
        Limit::Free | Limit::EulerBox(_) => {}
        // Every sample has its own.
        Limit::Locked => most.see(samples, |m| {
            let q = m.quat();
            Some([q.x * q.x + q.y * q.y + q.z * q.z, 0.0])
        }),
        Limit::Hinge { axis, arc } => {
            let Some(axis) = unit(*axis) else { return 0.0 };
            let inside = Inside::new(*arc);
            most.see(samples, |m| {
                let (angle, across) = turn(m, axis);
                inside.clearly(angle).then_some([across.length_squared(), 0.0])
            });
        }
        Limit::Universal { axes, arcs } => {
            let [Some(a), Some(b)] = axes.map(unit) else { return 0.0 };
            let inside = arcs.map(Inside::new);
            let angle = a.dot(b);
            // The shortest way turns `m b` towards or away from a, which keeps both angles.
            most.see(samples, |m| {
                let moved = m * b;
                let [sin, cos] = about(b, a, m.inverse() * a);
                let off = a.dot(moved) - angle;
                (inside[0].clearly(about(a, b, moved)) && inside[1].clearly([-sin, cos]))
                    .then_some([off, -off])
            });
        }
        Limit::SwingTwist(of) => {
            let sure = Sure::new(of, prepared);
            most.see(samples, |m| sure.as_ref().filter(|sure| sure.holds(m)).map(|_| [0.0; 2]));
        }
    }
    most.excess()
}

/// A cap of directions inside a swing, and the arc of twists.
struct Sure {
    bone: DVec3,
    middle: DVec3,
    /// Of the radius.
    cos: f64,
    twists: Inside,
}

impl Sure {
    /// `None` where the twist depends on the direction, or is not that of the direct swing.
    fn new(of: &SwingTwistLimit, prepared: &PreparedLimit) -> Option<Self> {
        let arc = match of.twist.bounds {
            TwistBounds::Free => Arc::FULL,
            TwistBounds::Arc(arc) => arc,
            TwistBounds::BySwing(_) => return None,
        };
        if !matches!(of.twist.offset, TwistOffset::None) {
            return None;
        }
        let swing = prepared.swing()?;
        let middle = swing.rest();
        // Less than the distance to the boundary, which may be off by its tolerance.
        let radius = 0.99 * swing.distance(middle)?.radians().clamp(0.0, PI);
        let cos = trig::cos(radius);
        Some(Self { bone: of.axes.bone(), middle, cos, twists: Inside::new(arc) })
    }

    fn holds(&self, m: Rotation) -> bool {
        (m * self.bone).dot(self.middle) > self.cos && self.twists.clearly(turn(m, self.bone).0)
    }
}

/// Sine and cosine of the angle of the nearest turn about an axis, both times the same, and the vector
/// part of the quaternion across the axis.
#[inline]
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
    excess: f64,
    /// The sample that is farthest off by each of two measures, which grow with the excess.
    farthest: [Option<(f64, Rotation)>; 2],
}

impl Most<'_> {
    /// Looks at all samples. `off` gives both measures, or nothing if the sample has to be asked by
    /// itself.
    fn see(&mut self, samples: &[&Rotations], off: impl Fn(Rotation) -> Option<[f64; 2]>) {
        for m in samples.iter().flat_map(|clip| clip.iter()).map(|q| self.back * q) {
            let Some(off) = off(m) else {
                self.excess = self.excess.max(self.of(m));
                continue;
            };
            for (farthest, off) in self.farthest.iter_mut().zip(off) {
                if farthest.is_none_or(|(most, _)| off > most) {
                    *farthest = Some((off, m));
                }
            }
        }
    }

    fn of(&self, m: Rotation) -> f64 {
        if self.prepared.contains(m) { 0.0 } else { -self.prepared.distance(m).radians() }
    }

    fn excess(&self) -> f64 {
        let farthest = self.farthest.iter().flatten();
        farthest.map(|(_, m)| self.of(*m)).fold(self.excess, f64::max)
    }
}

/// Which angles are clearly within an arc.
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
    #[inline]
    fn clearly(&self, [sin, cos]: [f64; 2]) -> bool {
        let along = sin * self.middle[0] + cos * self.middle[1];
        let length = (sin * sin + cos * cos).sqrt();
        length > 1e-6 && along > (self.cos + Self::SLACK) * length
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
