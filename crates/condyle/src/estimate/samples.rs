//! The rotations of one joint in one clip: relative to rest, without glitches, each once.
#![allow(clippy::inline_always, reason = "small sums that must dissolve into loops over columns")]

use std::borrow::Cow;
use std::cmp::Ordering;

use super::glitches;
use super::noise;
use crate::math::{Kernel, Level, Rotation, Rotations};
use crate::memory;
use crate::motion::{Clip, KeyTimes};
use crate::skeleton::{JointIndex, Skeleton};

/// What one clip says about one joint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    /// `rest⁻¹ · local`, canonical and sorted, each once. So they do not depend on the order of the
    /// frames, nor on frames that come again.
    pub(crate) rotations: Rotations,
    /// How many frames were used, repeated ones included.
    pub(crate) used: usize,
    /// How many frames were glitches.
    pub(crate) rejected: usize,
    /// Which of the frames were glitches by the order of time, rising.
    pub(crate) skipped: Vec<usize>,
    /// The rotations of all glitches.
    pub(crate) left_out: Vec<Rotation>,
    /// A pose in front of the motion.
    pub(crate) in_front: Option<Rotation>,
    /// The noise as the order of the frames shows it, radians: an upper bound.
    pub(crate) jitter: Option<f64>,
    /// How many keys there are.
    pub(crate) keys: usize,
    /// Whether the order of the frames tells what is a glitch, or nothing is.
    pub(crate) ordered: bool,
    /// Clips with the same number were recorded at once, frame by frame.
    pub(crate) take: usize,
}

impl Samples {
    /// Leaves out the samples that a function of the rotation says are bad.
    pub(crate) fn drop_where(&mut self, mut bad: impl FnMut(Rotation) -> bool) {
        let (dropped, kept): (Vec<Rotation>, Vec<Rotation>) =
            self.rotations.iter().partition(|q| bad(*q));
        self.rotations = kept.into_iter().collect();
        self.left_out.extend(&dropped);
        let dropped = dropped.len();
        self.used -= dropped.min(self.used);
        self.rejected += dropped;
    }

    pub(crate) fn new(
        skeleton: &Skeleton,
        clip: &Clip,
        joint: JointIndex,
        from: usize,
        reject: bool,
    ) -> Self {
        Self::imaged(skeleton, clip, joint, from, reject, None)
    }

    /// The same, with each rotation taken for another.
    pub(super) fn imaged(
        skeleton: &Skeleton,
        clip: &Clip,
        joint: JointIndex,
        from: usize,
        reject: bool,
        image: Option<Image<'_>>,
    ) -> Self {
        let series = image_of(series(skeleton, clip, joint, from), image);
        // Keys are set by hand, each as it is meant (A12).
        let captured = *clip.track(joint).rotation_times() == KeyTimes::EveryFrame;
        let mut samples = Self::from_series(&series, reject && captured);
        samples.ordered |= !captured;
        samples.keys = clip.track(joint).rotations().len();
        if clip.track(joint).rotation_times().is_constant() {
            samples.used = clip.frame_count().saturating_sub(from);
        }
        let rest = skeleton[joint].rest;
        let first = clip.frames().take(from).next();
        let in_front = first.map(|frame| rest.inverse() * clip.rotation(joint, frame));
        samples.in_front = in_front.map(|q| image.map_or(q, |image| image(q)));
        samples
    }

    /// Of rotations in the order of time.
    pub(crate) fn from_series(series: &Rotations, reject: bool) -> Self {
        let ordered = glitches::in_order(series);
        let bad = if reject { glitches::find(series, ordered) } else { Vec::new() };
        let kept = without(Cow::Borrowed(series), &bad);
        Self {
            rotations: each_once(&kept),
            used: kept.len(),
            rejected: bad.len(),
            left_out: bad.iter().map(|i| series.at(*i)).collect(),
            in_front: None,
            jitter: noise::jitter(&kept),
            keys: series.len(),
            ordered: ordered || !bad.is_empty(),
            take: 0,
            skipped: bad,
        }
    }
}

/// The rotations of a joint relative to rest, frame by frame; one alone if it does not move.
pub(super) fn series<'a>(
    skeleton: &Skeleton,
    clip: &'a Clip,
    joint: JointIndex,
    from: usize,
) -> Cow<'a, Rotations> {
    let track = clip.track(joint);
    let (rest, all) = (skeleton[joint].rest, track.rotations());
    let from = match track.rotation_times() {
        KeyTimes::EveryFrame => from.min(all.len()),
        KeyTimes::At(times) if times.len() == 1 => 0,
        KeyTimes::At(_) => {
            let frames = clip.frames().skip(from);
            return Cow::Owned(frames.map(|f| rest.inverse() * clip.rotation(joint, f)).collect());
        }
    };
    if rest.quat() == glam::DQuat::IDENTITY && from == 0 {
        return Cow::Borrowed(all);
    }
    let mut series = Rotations::new();
    series.turn_from(rest.inverse(), all, from..all.len());
    Cow::Owned(series)
}

/// What a rotation of a joint relative to rest is for another joint.
pub(super) type Image<'a> = &'a dyn Fn(Rotation) -> Rotation;

/// Rotations, each taken for another.
pub(super) fn image_of<'a>(
    series: Cow<'a, Rotations>,
    image: Option<Image<'_>>,
) -> Cow<'a, Rotations> {
    match image {
        Some(image) => Cow::Owned(series.iter().map(image).collect()),
        None => series,
    }
}

/// All but some, which are given rising.
pub(super) fn without<'a>(series: Cow<'a, Rotations>, some: &[usize]) -> Cow<'a, Rotations> {
    if some.is_empty() {
        return series;
    }
    let columns = series.xyzw().map(|column| {
        let mut left = Vec::with_capacity(column.len() - some.len());
        let mut from = 0;
        for i in some {
            left.extend_from_slice(&column[from..*i]);
            from = i + 1;
        }
        left.extend_from_slice(&column[from..]);
        left
    });
    Cow::Owned(Rotations::from_columns(columns))
}

/// By the first component, then by the others.
pub(super) fn compare(a: &[f64; 4], b: &[f64; 4]) -> Ordering {
    let order = |i: usize| a[i].total_cmp(&b[i]);
    order(0).then_with(|| order(1)).then_with(|| order(2)).then_with(|| order(3))
}

/// Canonical, in the order of their components x, y, z and w, each once.
fn each_once(rotations: &Rotations) -> Rotations {
    let [.., w] = rotations.xyzw();
    let all = if w.iter().all(|w| *w > 0.0) {
        // Canonical but for the signs of zeros.
        Cow::Borrowed(rotations)
    } else {
        Cow::Owned(rotations.canonical())
    };
    let columns = all.xyzw();
    let varies = |c: &&[f64]| c.iter().any(|v| *v != c[0]);
    let Some(first) = columns.iter().copied().find(varies) else {
        return all.iter().take(1).map(Rotation::canonical).collect();
    };
    // By the first component that is not the same in all, roughly, then by all of them. The lower half of
    // an entry is the place.
    const UPPER: u64 = !0 << 32;
    let [least, most] = extremes(first);
    // So fine that hardly any two are alike, and no finer: each bit takes time.
    let bits = (usize::BITS - columns[0].len().leading_zeros() + 5).min(32);
    let last = u32::MAX >> (32 - bits);
    let scale = f64::from(last) / (most - least);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let rough = |v: f64| u64::from((((v - least) * scale) as u32).min(last));
    let mut order: Vec<u64> = memory::room(first.len());
    order.extend(first.iter().zip(0..).map(|(v, i)| rough(*v) << 32 | i));
    sort_by_upper_half(&mut order, bits);
    // Adding zero turns −0 into +0.
    #[allow(clippy::cast_possible_truncation, reason = "a place in a column")]
    let pick = |c: &[f64], entry: u64| c[(entry & !UPPER) as usize] + 0.0;
    let at = |entry: u64| columns.map(|c| pick(c, entry));
    for group in order.chunk_by_mut(|a, b| a & UPPER == b & UPPER) {
        if group.len() > 1 {
            group.sort_unstable_by(|a, b| compare(&at(*a), &at(*b)));
        }
    }
    order.dedup_by(|b, a| *a & UPPER == *b & UPPER && at(*a) == at(*b));
    Rotations::from_columns(columns.map(|c| {
        let mut column = memory::room(order.len());
        column.extend(order.iter().map(|entry| pick(c, *entry)));
        column
    }))
}

/// The least and the largest number.
fn extremes(column: &[f64]) -> [f64; 2] {
    // Beside each other: each comparison waits for the one before.
    const LANES: usize = 8;
    let (mut least, mut most) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let (many, last) = column.as_chunks::<LANES>();
    for lanes in many {
        for lane in 0..LANES {
            let v = lanes[lane];
            least[lane] = if v < least[lane] { v } else { least[lane] };
            most[lane] = if v > most[lane] { v } else { most[lane] };
        }
    }
    let all = |lanes: [f64; LANES]| lanes.into_iter().chain(last.iter().copied());
    let least = all(least).fold(f64::INFINITY, |a, b| if b < a { b } else { a });
    let most = all(most).fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a });
    [least, most]
}

/// Sorts by the upper halves, which have so many bits; those of one upper half stay as they were. By
/// digits if there are many.
pub(super) fn sort_by_upper_half(order: &mut Vec<u64>, bits: u32) {
    const DIGIT: u32 = 11;
    const VALUES: usize = 1 << DIGIT;
    let digit = |x: u64, shift: u32| usize::try_from(x >> shift).unwrap_or(0) % VALUES;
    if order.len() < 1500 {
        order.sort_unstable();
        return;
    }
    let mut other = memory::room(order.len());
    other.resize(order.len(), 0);
    // All digits are counted in one go.
    let shifts = (32..32 + bits).step_by(DIGIT as usize);
    let mut counts = [[0_u32; VALUES]; 3];
    for &x in order.iter() {
        for (counts, shift) in counts.iter_mut().zip(shifts.clone()) {
            counts[digit(x, shift)] += 1;
        }
    }
    for (starts, shift) in counts.iter_mut().zip(shifts) {
        let mut sum = 0;
        for start in starts.iter_mut() {
            sum += std::mem::replace(start, sum);
        }
        for &x in order.iter() {
            let place = &mut starts[digit(x, shift)];
            other[*place as usize] = x;
            *place += 1;
        }
        std::mem::swap(order, &mut other);
    }
}

/// About the angle between two rotations, radians: twice the chord of the quaternions, a tenth less at
/// half a turn.
pub(super) fn apart(a: Rotation, b: Rotation) -> f64 {
    2.0 * chord_squared(a.quat().to_array(), b.quat().to_array()).sqrt()
}

/// The square of the chord between two quaternions, or one and the other's opposite if that is nearer.
#[inline(always)]
pub(super) fn chord_squared(p: [f64; 4], q: [f64; 4]) -> f64 {
    let difference = combined([1.0, -side(p, q)], [p, q]);
    dot(difference, difference)
}

#[inline(always)]
pub(super) fn dot(p: [f64; 4], q: [f64; 4]) -> f64 {
    p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]
}

/// The sign that brings a quaternion to the hemisphere of another.
#[inline(always)]
pub(super) fn side(p: [f64; 4], q: [f64; 4]) -> f64 {
    if dot(p, q) < 0.0 { -1.0 } else { 1.0 }
}

/// The sum of two quaternions, each times a number.
#[inline(always)]
pub(super) fn combined([f, g]: [f64; 2], [p, q]: [[f64; 4]; 2]) -> [f64; 4] {
    [f * p[0] + g * q[0], f * p[1] + g * q[1], f * p[2] + g * q[2], f * p[3] + g * q[3]]
}

/// Row i of columns x, y, z and w.
#[inline(always)]
pub(super) fn row([x, y, z, w]: &[&[f64]; 4], i: usize) -> [f64; 4] {
    [x[i], y[i], z[i], w[i]]
}

/// So many rows of columns, from one on.
#[inline(always)]
pub(super) fn rows([x, y, z, w]: [&[f64]; 4], from: usize, count: usize) -> [&[f64]; 4] {
    let range = from..from + count;
    [&x[range.clone()], &y[range.clone()], &z[range.clone()], &w[range]]
}

/// Fills a column: each element from the same row of several series, which have to be as long.
pub(super) fn fill<const N: usize>(
    column: &mut [f64],
    series: [[&[f64]; 4]; N],
    of: impl Fn([[f64; 4]; N]) -> f64,
) {
    Level::best().run(Fill { column, series, of });
}

struct Fill<'a, F, const N: usize> {
    column: &'a mut [f64],
    series: [[&'a [f64]; 4]; N],
    of: F,
}

impl<F: Fn([[f64; 4]; N]) -> f64, const N: usize> Kernel for Fill<'_, F, N> {
    #[inline(always)]
    fn run(self) {
        let n = self.column.len();
        let series = self.series.map(|columns| columns.map(|column| &column[..n]));
        for (i, value) in self.column.iter_mut().enumerate() {
            let mut rows = [[0.0; 4]; N];
            for (to, columns) in rows.iter_mut().zip(&series) {
                *to = row(columns, i);
            }
            *value = (self.of)(rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    /// By a sort of whole rows, for few and many, with constant, equal and nearly equal components.
    #[test]
    fn samples_are_sorted_and_come_once_a11() {
        let mut rng = Rng::new(1);
        for (n, kind) in [(1, 0), (40, 0), (40, 1), (4000, 0), (4000, 1), (4000, 2), (3000, 3)] {
            let mut given: Vec<Rotation> = (0..n)
                .map(|i| {
                    let about = match kind {
                        0 => return rng.rotation(),
                        1 => glam::DVec3::new(0.0, 0.0, rng.normal()),
                        2 => glam::DVec3::new(1e-17 * rng.normal(), 0.3, 1e-9 * rng.normal()),
                        _ => glam::DVec3::new(0.5, f64::from(i % 3), f64::from(i % 7)),
                    };
                    Rotation::exp(about).unwrap()
                })
                .collect();
            let again: Vec<Rotation> =
                given.iter().step_by(3).map(|q| Rotation::from_unit(-q.quat())).collect();
            given.extend(again);
            let mut wanted: Vec<[f64; 4]> =
                given.iter().map(|q| q.canonical().quat().to_array()).collect();
            wanted.sort_by(|a, b| a.partial_cmp(b).unwrap());
            wanted.dedup();
            let found = each_once(&given.into_iter().collect());
            let found: Vec<[f64; 4]> = found.iter().map(|q| q.quat().to_array()).collect();
            assert_eq!(found, wanted, "{n} {kind}");
        }
        assert!(each_once(&Rotations::new()).is_empty());
    }

    /// All as they are, with zeros of both signs, and the same with signs turned.
    #[test]
    fn signs_of_quaternions_and_of_zeros_do_not_matter_a11() {
        for count in [1, 2, 60] {
            let quat = |i: i32| {
                let (sin, cos) = crate::math::trig::sin_cos(0.02 * f64::from(i % 40));
                let zero = if i % 2 == 0 { 0.0 } else { -0.0 };
                glam::DQuat::from_xyzw(zero, sin, -zero, cos)
            };
            let given: Rotations = (0..count).map(|i| Rotation::from_unit(quat(i))).collect();
            let turned: Rotations = given.iter().map(|q| Rotation::from_unit(-q.quat())).collect();
            let bits = |of: &Rotations| -> Vec<[u64; 4]> {
                each_once(of).iter().map(|q| q.quat().to_array().map(f64::to_bits)).collect()
            };
            assert_eq!(bits(&given), bits(&turned));
            assert!(bits(&given).iter().all(|[x, _, z, _]| *x == 0 && *z == 0));
        }
    }
}
