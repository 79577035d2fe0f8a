//! How far samples are outside of the limit that was made for them.
#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use std::f64::consts::PI;
use std::ops::Range;

use glam::DVec3;

use super::moments::rotation_unchecked;
use super::universal::about;
use crate::limits::{
    Ellipse, Limit, PreparedLimit, PreparedSwing, SwingTwistLimit, TwistBounds, TwistOffset,
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
    let count: usize = samples.iter().map(|clip| clip.len()).sum();
    let (sure, cells) = (None, if count < MANY { 0 } else { SIDE * SIDE * SIDE });
    let inside = vec![None; cells];
    let mut most = Most { prepared, back, sure, inside, excess: 0.0, farthest: [None; 2] };
    match limit {
        // It holds its samples by construction.
        Limit::Free | Limit::EulerBox(_) => {}
        Limit::Locked => most.see(samples, &OffIdentity),
        Limit::Hinge { axis, arc } => {
            let Some(axis) = unit(*axis) else { return 0.0 };
            most.see(samples, &OffHinge { axis, inside: Inside::new(*arc) });
        }
        Limit::Universal { axes, arcs } => {
            let [Some(a), Some(b)] = axes.map(unit) else { return 0.0 };
            most.see(samples, &OffUniversal { a, b, cos: a.dot(b), inside: arcs.map(Inside::new) });
        }
        Limit::SwingTwist(of) => {
            most.sure = Sure::new(of, prepared, back, samples);
            match most.sure {
                Some(sure) => match sure.swing.ellipse() {
                    Some((ellipse, axes)) => {
                        let axes = [axes.x(), axes.y(), axes.bone()];
                        most.see(samples, &OffEllipse { sure, ellipse, axes });
                    }
                    None => most.see(samples, &OffCap(sure)),
                },
                None => most.see(samples, &OffAny),
            }
        }
    }
    most.excess()
}

/// How far samples are off: two measures that grow with the excess, and whether they do. If not, the
/// sample has to be asked by itself.
///
/// No closure: that would not be compiled into the kernel, and would keep the instructions of the baseline.
trait Off {
    fn off(&self, m: Rotation) -> ([f64; 2], bool);
}

/// Every sample has its own.
struct OffIdentity;

impl Off for OffIdentity {
    #[inline(always)]
    fn off(&self, m: Rotation) -> ([f64; 2], bool) {
        let q = m.quat();
        ([q.x * q.x + q.y * q.y + q.z * q.z, 0.0], true)
    }
}

struct OffHinge {
    axis: DVec3,
    inside: Inside,
}

impl Off for OffHinge {
    #[inline(always)]
    fn off(&self, m: Rotation) -> ([f64; 2], bool) {
        let (angle, across) = turn(m, self.axis);
        ([across.length_squared(), 0.0], self.inside.clearly(angle))
    }
}

struct OffUniversal {
    a: DVec3,
    b: DVec3,
    /// Of the angle between them.
    cos: f64,
    inside: [Inside; 2],
}

impl Off for OffUniversal {
    /// The shortest way turns `m b` towards or away from a, which keeps both angles.
    #[inline(always)]
    fn off(&self, m: Rotation) -> ([f64; 2], bool) {
        let Self { a, b, .. } = *self;
        let moved = m * b;
        let [sin, cos] = about(b, a, m.inverse() * a);
        let off = a.dot(moved) - self.cos;
        let within =
            self.inside[0].clearly(about(a, b, moved)) & self.inside[1].clearly([-sin, cos]);
        ([off, -off], within)
    }
}

struct OffEllipse<'a> {
    sure: Sure<'a>,
    ellipse: Ellipse,
    axes: [DVec3; 3],
}

impl Off for OffEllipse<'_> {
    #[inline(always)]
    fn off(&self, m: Rotation) -> ([f64; 2], bool) {
        let moved = m * self.sure.bone;
        let [x, y, z] = self.axes;
        let along = DVec3::new(moved.dot(x), moved.dot(y), moved.dot(z));
        let inside = self.ellipse.surely_contains(along);
        ([0.0; 2], self.sure.holds_where(inside, m))
    }
}

struct OffCap<'a>(Sure<'a>);

impl Off for OffCap<'_> {
    #[inline(always)]
    fn off(&self, m: Rotation) -> ([f64; 2], bool) {
        ([0.0; 2], self.0.holds_where(false, m))
    }
}

struct OffAny;

impl Off for OffAny {
    #[inline(always)]
    fn off(&self, _: Rotation) -> ([f64; 2], bool) {
        ([0.0; 2], false)
    }
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

    /// Whether a rotation is clearly inside; the direction may be known to be, in the cap or not.
    #[inline(always)]
    fn holds_where(&self, inside: bool, m: Rotation) -> bool {
        let near = (m * self.bone).dot(self.middle) > self.cos;
        (inside | near) & self.twists.clearly(turn(m, self.bone).0)
    }

    /// The same without the cap: fewer are left to be asked for all they have. What is known of cells
    /// is kept.
    fn contains(&self, m: Rotation, cells: &mut [Option<bool>]) -> bool {
        if !self.twists.clearly(turn(m, self.bone).0) {
            return false;
        }
        let d = m * self.bone;
        let at = |x: f64| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
            let at = ((x + 1.0) * (0.5 * SIDE as f64)) as u32 as usize;
            at.min(SIDE - 1)
        };
        let at = [at(d.x), at(d.y), at(d.z)];
        let cell = cells.get_mut((at[0] * SIDE + at[1]) * SIDE + at[2]);
        let clear = || {
            let middle = DVec3::from_array(at.map(|at| (2 * at + 1) as f64 / SIDE as f64 - 1.0));
            let distance = unit(middle).and_then(|middle| self.swing.distance(middle));
            distance.is_some_and(|distance| 0.99 * distance.radians() > CELL)
        };
        cell.is_some_and(|cell| *cell.get_or_insert_with(clear)) || self.swing.contains(d)
    }
}

/// Cells on a side of the cube around the sphere.
const SIDE: usize = 32;

/// Of fewer samples cells hold too few to be worth a question each.
const MANY: usize = 10_000;

/// No direction in a cell is farther from that of its middle, radians: half a diagonal of the cell is
/// √3 / 32 = 0.0542, and seen from the centre no more than asin(0.0542 / (1 − 0.0542)) = 0.0573.
const CELL: f64 = 0.058;

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
    /// Of a ball: which cells of directions are clearly inside the swing, as far as it was asked. Empty
    /// if samples are few.
    inside: Vec<Option<bool>>,
    excess: f64,
    /// The sample that is farthest off by each of two measures, which grow with the excess.
    farthest: [Option<(f64, Rotation)>; 2],
}

impl Most<'_> {
    /// Looks at all samples.
    fn see(&mut self, samples: &[&Rotations], off: &impl Off) {
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
            if first.is_nan() {
                self.excess = self.excess.max(self.of(self.back * clip.at(i)));
                continue;
            }
            let m = || self.back * clip.at(i);
            let [a, b] = self.farthest.map(|farthest| farthest.map_or(f64::NEG_INFINITY, |f| f.0));
            if *first > a {
                self.farthest[0] = Some((*first, m()));
            }
            if *second > b {
                self.farthest[1] = Some((*second, m()));
            }
        }
    }

    fn of(&mut self, m: Rotation) -> f64 {
        let Self { sure, inside, .. } = self;
        let sure = sure.is_some_and(|sure| sure.contains(m, inside));
        let inside = sure || self.prepared.contains(m);
        if inside { 0.0 } else { -self.prepared.distance(m).radians() }
    }

    fn excess(&mut self) -> f64 {
        for (_, m) in self.farthest.into_iter().flatten() {
            self.excess = self.excess.max(self.of(m));
        }
        self.excess
    }
}

/// Samples that are measured before they are compared.
const BLOCK: usize = 128;

/// Both measures of some samples, NaN where they do not count.
struct Measure<'a, F> {
    columns: [&'a [f64]; 4],
    back: Rotation,
    off: &'a F,
    measures: &'a mut [[f64; BLOCK]; 2],
}

impl<F: Off> Kernel for Measure<'_, F> {
    #[inline(always)]
    fn run(self) {
        let [x, y, z, w] = self.columns;
        let n = x.len().min(BLOCK);
        let (x, y, z, w) = (&x[..n], &y[..n], &z[..n], &w[..n]);
        // Local ones share no memory with the columns.
        let (mut first, mut second) = ([0.0; BLOCK], [0.0; BLOCK]);
        for i in 0..n {
            let q = rotation_unchecked([x[i], y[i], z[i], w[i]]);
            let ([a, b], counts) = self.off.off(self.back * q);
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

    /// So many that cells are asked.
    #[test]
    fn the_largest_excess_of_many_is_that_of_some_sample() {
        let mut rng = Rng::new(6);
        for _ in 0..3 {
            let corner = |i: u32| {
                let radius = if i.is_multiple_of(2) { 1.2 } else { 0.7 };
                let (sin, cos) = trig::sin_cos(f64::from(i) * PI / 4.0);
                let (across, along) = trig::sin_cos(radius);
                DVec3::new(across * cos, across * sin, along)
            };
            let limit = Limit::SwingTwist(SwingTwistLimit {
                axes: SwingAxes::new(DVec3::Z, None).unwrap(),
                swing: SwingLimit::Polygons(vec![(0..8).map(corner).collect()]),
                twist: TwistLimit::default(),
            });
            let prepared = limit.prepare().unwrap();
            let back = rng.rotation();
            let clip: Rotations = (0..MANY + 2000)
                .map(|_| {
                    let noise = Rotation::exp(rng.direction() * (0.001 * rng.normal())).unwrap();
                    back.inverse() * prepared.project(rng.rotation()) * noise
                })
                .collect();
            let outside = clip.iter().map(|q| back * q).filter(|m| !prepared.contains(*m));
            let truth = outside.map(|m| -prepared.distance(m).radians()).fold(0.0, f64::max);
            let found = largest(&limit, &prepared, back, &[&clip]);
            assert!(truth > 1e-4 && (found - truth).abs() <= 1e-12 * truth, "{found} {truth}");
        }
    }
}
