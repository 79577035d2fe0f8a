//! A window of motion and its distance from others.

#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use std::f64::consts::{PI, TAU};
use std::ops::Range;

use super::features::LANES;
use super::{Features, MatchError, Metric};
use crate::math::{Kernel, Level, trig};

/// A window of a clip that is looked for in others, with its weights.
///
/// # Source
///
/// S. Lin, "Help note for assignment 2", 2010, eq 11 (row C4). As printed it has one symbol for both
/// motions; with `q` the window and `x` the motion that is searched it is
///
/// ```text
///   dist = Σ_f W_frame[f] Σ_j W_joint[j] · d_j(x[start + f], q[f])²
/// ```
///
/// where `d_j` is what the [`Metric`] says of joint `j`. Reported is the weighted root mean square
/// `√(dist / (Σ W_frame · Σ W_joint))`, in degrees or metres, which does not depend on the length of the
/// window nor on the scale of the weights, and sorts windows as `dist` does.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    features: &'a Features,
    frames: Range<usize>,
    /// The greatest is 1.
    frame_weights: Vec<f64>,
    /// By the features' joints; the greatest is 1.
    joint_weights: Vec<f64>,
}

impl<'a> Query<'a> {
    /// These frames of a clip, all weights 1.
    ///
    /// # Errors
    ///
    /// [`MatchError::Window`] if there are none, or not all are in the clip.
    pub fn new(features: &'a Features, frames: Range<usize>) -> Result<Self, MatchError> {
        let Range { start, end } = frames;
        if start >= end || end > features.frame_count() {
            return Err(MatchError::Window { start, end, frames: features.frame_count() });
        }
        let joints = features.joints().len();
        let (frame_weights, joint_weights) = (vec![1.0; end - start], vec![1.0; joints]);
        Ok(Self { features, frames, frame_weights, joint_weights })
    }

    /// The last frames of a clip: forward matching looks for them in the clip that is to follow.
    ///
    /// # Errors
    ///
    /// [`MatchError::Window`] if there are not so many.
    pub fn last(features: &'a Features, window: usize) -> Result<Self, MatchError> {
        let end = features.frame_count();
        match end.checked_sub(window) {
            Some(start) => Self::new(features, start..end),
            None => Err(MatchError::Window { start: 0, end: window, frames: end }),
        }
    }

    /// The first frames of a clip: backward matching looks for them in the clip that is to go before.
    ///
    /// # Errors
    ///
    /// [`MatchError::Window`] if there are not so many.
    pub fn first(features: &'a Features, window: usize) -> Result<Self, MatchError> {
        Self::new(features, 0..window)
    }

    /// The same with a weight per frame of the window.
    ///
    /// # Errors
    ///
    /// [`MatchError::WeightCount`], [`MatchError::BadWeight`], [`MatchError::NoWeight`].
    pub fn with_frame_weights(mut self, weights: &[f64]) -> Result<Self, MatchError> {
        if weights.len() != self.frames.len() {
            let (found, expected) = (weights.len(), self.frames.len());
            return Err(MatchError::WeightCount { found, expected });
        }
        self.frame_weights = scaled(weights.to_vec())?;
        Ok(self)
    }

    /// The same with a weight per joint, given its name.
    ///
    /// # Errors
    ///
    /// [`MatchError::BadWeight`], [`MatchError::NoWeight`].
    pub fn with_joint_weights(mut self, weight: impl Fn(&str) -> f64) -> Result<Self, MatchError> {
        self.joint_weights = scaled(self.features.joints().map(weight).collect())?;
        Ok(self)
    }

    /// The numbers it is taken from.
    #[must_use]
    pub const fn features(&self) -> &'a Features {
        self.features
    }

    /// The frames of the window.
    #[must_use]
    pub fn frames(&self) -> Range<usize> {
        self.frames.clone()
    }

    /// A window as long as this one, and with its weights, in a clip with the same joints in any order.
    pub(super) fn moved_to<'b>(&self, clip: &'b Features) -> Result<Query<'b>, MatchError> {
        let mut joint_weights = vec![0.0; self.joint_weights.len()];
        for (at, weight) in clip.places_of(self.features)?.into_iter().zip(&self.joint_weights) {
            joint_weights[at] = *weight;
        }
        let first = Query::first(clip, self.frames.len())?;
        Ok(Query { frame_weights: self.frame_weights.clone(), joint_weights, ..first })
    }

    /// What all frames and joints count together.
    pub(super) fn weight(&self) -> f64 {
        self.frame_weights.iter().sum::<f64>() * self.joint_weights.iter().sum::<f64>()
    }

    /// The distance that is reported for a weighted sum of squares.
    pub(super) fn reported(&self, sum: f64) -> f64 {
        let distance = (sum / self.weight()).sqrt();
        match self.features.metric() {
            Metric::Euler | Metric::Quaternion => distance.to_degrees(),
            Metric::Position => distance,
        }
    }

    /// The distance of the window from that of another clip which starts at this frame.
    ///
    /// # Errors
    ///
    /// If they cannot be compared, or the clip has no such window.
    pub fn distance(&self, clip: &Features, start: usize) -> Result<f64, MatchError> {
        let plan = Plan::new(self, clip)?;
        match start.checked_add(plan.window) {
            Some(end) if end <= clip.frame_count() => {
                let mut sums = [0.0; LANES];
                plan.sums(start, f64::INFINITY, &mut sums);
                Ok(self.reported(sums[0]))
            }
            end => {
                let end = end.unwrap_or(usize::MAX);
                Err(MatchError::Window { start, end, frames: clip.frame_count() })
            }
        }
    }
}

/// Weights divided by the greatest, which changes no result and keeps sums in range.
fn scaled(mut weights: Vec<f64>) -> Result<Vec<f64>, MatchError> {
    if !weights.iter().all(|w| w.is_finite() && *w >= 0.0) {
        return Err(MatchError::BadWeight);
    }
    let greatest = weights.iter().copied().fold(0.0, f64::max);
    if greatest == 0.0 {
        return Err(MatchError::NoWeight);
    }
    weights.iter_mut().for_each(|w| *w /= greatest);
    Ok(weights)
}

/// How far apart rotations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// By their angle, as is reported.
    Exact,
    /// By twice the chord of their quaternions, which is a metric, too, no more than the angle, nearly the same
    /// for small angles, and cheap.
    Chords,
}

/// What is summed up as one: a column of numbers, or the four of a quaternion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The (first) column in the clip that is searched.
    pub(super) column: usize,
    /// And in that of the query.
    pub(super) query: usize,
    pub(super) weight: f64,
    /// Whether differences may be of more than half a turn.
    pub(super) wraps: bool,
}

/// A query together with a clip that is searched.
///
/// The sum of a window is computed in one order, whoever asks: over the frames of each part, then over
/// the parts, in the order of the query's columns. So it has the same bits however it is found.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) query: &'a Query<'a>,
    pub(super) clip: &'a Features,
    pub(super) window: usize,
    pub(super) parts: Vec<Part>,
    /// `None` if all are 1.
    frame_weights: Option<&'a [f64]>,
    level: Level,
}

impl<'a> Plan<'a> {
    pub(super) fn new(query: &'a Query<'a>, clip: &'a Features) -> Result<Self, MatchError> {
        let places = clip.places_of(query.features)?;
        let metric = clip.metric();
        let dims = metric.dims();
        let mut parts = Vec::new();
        for (j, (at, weight)) in places.iter().zip(&query.joint_weights).enumerate() {
            if *weight == 0.0 {
                continue;
            }
            let first = Part { column: dims * at, query: dims * j, weight: *weight, wraps: false };
            if metric == Metric::Quaternion {
                parts.push(first);
                continue;
            }
            for d in 0..dims {
                let part = Part { column: first.column + d, query: first.query + d, ..first };
                let [lo, hi] = clip.extremes(part.column);
                let [from, to] = query.features.extremes(part.query);
                // What never changes and is the same on both sides adds nothing.
                if !(lo == hi && from == to && lo == from) {
                    // Half a turn is the same either way.
                    let wraps = metric == Metric::Euler && (hi - from).max(to - lo) > PI;
                    parts.push(Part { wraps, ..part });
                }
            }
        }
        let frame_weights = query.frame_weights.iter().any(|w| *w != 1.0);
        Ok(Self {
            query,
            clip,
            window: query.frames.len(),
            parts,
            frame_weights: frame_weights.then_some(&query.frame_weights[..]),
            level: Level::best(),
        })
    }

    pub(super) fn level(&self) -> Level {
        self.level
    }

    /// The frame weights; `None` if all are 1.
    pub(super) fn frame_weights(&self) -> Option<&'a [f64]> {
        self.frame_weights
    }

    /// The column of the query that is `d` behind the first of a part.
    pub(super) fn query_column(&self, part: Part, d: usize) -> &'a [f64] {
        self.column_of(self.query.frames.start, part, d)
    }

    /// The same of the window that starts elsewhere in the query's clip.
    fn column_of(&self, from: usize, part: Part, d: usize) -> &'a [f64] {
        &self.query.features.column(part.query + d)[from..from + self.window]
    }

    /// The weighted sums of squares of the windows that start at this frame and at the next ones. Those
    /// behind the last window of the clip mean nothing. If all come to more than `above` they may be
    /// anything above that.
    pub(super) fn sums(&self, start: usize, above: f64, sums: &mut [f64; LANES]) {
        self.level.run(Sums { plan: self, start, above, sums });
    }

    /// Adds one part to the sums of windows whose numbers are given: for each column those of [`LANES`]
    /// windows in the first frame, then `step` numbers farther on in the next one, and so on. They are
    /// compared with the window of the query's clip that starts at a frame.
    #[inline(always)]
    fn add(
        &self,
        measure: Measure,
        (from, part): (usize, Part),
        (x, step): ([&[f64]; 4], usize),
        sums: &mut [f64; LANES],
    ) {
        let q = |d| self.column_of(from, part, d);
        let w = self.frame_weights;
        match (self.clip.metric(), part.wraps, w) {
            (Metric::Quaternion, ..) if measure == Measure::Chords => {
                add_chords(x, step, [0, 1, 2, 3].map(q), w.unwrap_or(&[]), part.weight, sums);
            }
            (Metric::Quaternion, ..) => {
                add_angles(x, step, [0, 1, 2, 3].map(q), w.unwrap_or(&[]), part.weight, sums);
            }
            (_, false, None) => {
                add_column::<false, false>(x[0], step, q(0), &[], part.weight, sums);
            }
            (_, false, Some(w)) => {
                add_column::<false, true>(x[0], step, q(0), w, part.weight, sums);
            }
            (_, true, None) => {
                add_column::<true, false>(x[0], step, q(0), &[], part.weight, sums);
            }
            (_, true, Some(w)) => {
                add_column::<true, true>(x[0], step, q(0), w, part.weight, sums);
            }
        }
    }

    /// The sums of the windows that start at some frames, each from several windows of the query's clip:
    /// `sums[from][start]`. If all come to more than `above` they may be anything above that.
    pub(super) fn table(
        &self,
        measure: Measure,
        (froms, starts): (&[usize], &[usize; LANES]),
        above: f64,
        (sums, across): (&mut [[f64; LANES]], &mut Vec<f64>),
    ) {
        let columns = if self.clip.metric() == Metric::Quaternion { 4 } else { 1 };
        across.resize(columns * self.window * LANES, 0.0);
        sums.iter_mut().for_each(|s| *s = [0.0; LANES]);
        for (done, part) in self.parts.iter().enumerate() {
            if done > 0 && done.is_multiple_of(LOOK) && least_of(sums) > above {
                return;
            }
            for (d, to) in across.chunks_exact_mut(self.window * LANES).enumerate() {
                for (lane, start) in starts.iter().enumerate() {
                    let from = self.clip.column_from(part.column + d, *start);
                    for (to, x) in to.chunks_exact_mut(LANES).zip(from) {
                        to[lane] = *x;
                    }
                }
            }
            let column = |d: usize| &across[(d % columns) * self.window * LANES..];
            let x = [0, 1, 2, 3].map(column);
            for (from, sums) in froms.iter().zip(&mut *sums) {
                self.level.run(Add { plan: self, measure, from: *from, part: *part, x, sums });
            }
        }
    }
}

/// Parts between two looks at whether it is worth going on.
const LOOK: usize = 6;

fn least_of(sums: &[[f64; LANES]]) -> f64 {
    sums.iter().flatten().fold(f64::INFINITY, |least, s| if *s < least { *s } else { least })
}

struct Sums<'a> {
    plan: &'a Plan<'a>,
    start: usize,
    above: f64,
    sums: &'a mut [f64; LANES],
}

impl Kernel for Sums<'_> {
    #[inline(always)]
    fn run(self) {
        let plan = self.plan;
        let from = plan.query.frames.start;
        let mut sums = [0.0; LANES];
        for parts in plan.parts.chunks(LOOK) {
            for part in parts {
                let columns = if plan.clip.metric() == Metric::Quaternion { 4 } else { 1 };
                let x = [0, 1, 2, 3]
                    .map(|d| plan.clip.column_from(part.column + d % columns, self.start));
                plan.add(Measure::Exact, (from, *part), (x, 1), &mut sums);
            }
            let mut least = f64::INFINITY;
            for s in sums {
                least = if s < least { s } else { least };
            }
            if least > self.above {
                break;
            }
        }
        *self.sums = sums;
    }
}

struct Add<'a> {
    plan: &'a Plan<'a>,
    measure: Measure,
    from: usize,
    part: Part,
    x: [&'a [f64]; 4],
    sums: &'a mut [f64; LANES],
}

impl Kernel for Add<'_> {
    #[inline(always)]
    fn run(self) {
        self.plan.add(self.measure, (self.from, self.part), (self.x, LANES), self.sums);
    }
}

/// Adds `weight · Σ_i w[i] (x[i] − q[i])²`. Numbers to be wrapped are in [−π, π].
#[inline(always)]
fn add_column<const WRAPPED: bool, const WEIGHTED: bool>(
    x: &[f64],
    step: usize,
    q: &[f64],
    w: &[f64],
    weight: f64,
    sums: &mut [f64; LANES],
) {
    let mut squares = [0.0; LANES];
    for (i, q) in q.iter().enumerate() {
        let Some(x) = x[i * step..].first_chunk::<LANES>() else { return };
        for l in 0..LANES {
            let mut d = x[l] - q;
            if WRAPPED {
                d = d.abs();
                let other = TAU - d;
                d = if other < d { other } else { d };
            }
            squares[l] += if WEIGHTED { w[i] * (d * d) } else { d * d };
        }
    }
    for l in 0..LANES {
        sums[l] += weight * squares[l];
    }
}

/// Adds `weight · Σ_i w[i] θ_i²`, with θ the angle between rotations,
/// `4 atan2(|x − q|, |x + q|)` for unit quaternions of the same hemisphere (W. Kahan, "How futile are
/// mindless assessments of roundoff", 2006, section 12, for the angle of two vectors; twice that is the
/// angle of the rotation). Accurate near 0 and the same with `x` and `q` exchanged.
#[inline(always)]
fn add_angles(
    x: [&[f64]; 4],
    step: usize,
    q: [&[f64]; 4],
    w: &[f64],
    weight: f64,
    sums: &mut [f64; LANES],
) {
    let mut squares = [0.0; LANES];
    for i in 0..q[0].len() {
        let Some((apart, along)) = squared_chords(x, i * step, q.map(|q| q[i])) else { return };
        let (mut quotients, mut eighths) = ([0.0; LANES], [0.0; LANES]);
        for l in 0..LANES {
            let nearer = apart[l] < along[l];
            let (near, far) = if nearer { (apart[l], along[l]) } else { (along[l], apart[l]) };
            // Neither is negative, and the greater is about 2 at least: no flag is needed.
            [quotients[l], eighths[l]] =
                trig::atan2_quotient::<true, true>(near.sqrt(), far.sqrt(), &mut 0);
        }
        let w = if w.is_empty() { 1.0 } else { w[i] };
        for l in 0..LANES {
            let angle = 4.0 * trig::atan2_of_quotient::<true>([quotients[l], eighths[l]], 0.0);
            squares[l] += w * (angle * angle);
        }
    }
    for l in 0..LANES {
        sums[l] += weight * squares[l];
    }
}

/// `|x − q|²` and `|x + q|²` of quaternions whose numbers begin at a place.
#[inline(always)]
fn squared_chords(x: [&[f64]; 4], at: usize, q: [f64; 4]) -> Option<([f64; LANES], [f64; LANES])> {
    let (mut apart, mut along) = ([0.0; LANES], [0.0; LANES]);
    for d in 0..4 {
        let x = x[d][at..].first_chunk::<LANES>()?;
        for l in 0..LANES {
            let (a, b) = (x[l] - q[d], x[l] + q[d]);
            apart[l] += a * a;
            along[l] += b * b;
        }
    }
    Some((apart, along))
}

/// Adds `weight · Σ_i w[i] (2 c_i)²`, with c the lesser of `|x − q|` and `|x + q|`.
#[inline(always)]
fn add_chords(
    x: [&[f64]; 4],
    step: usize,
    q: [&[f64]; 4],
    w: &[f64],
    weight: f64,
    sums: &mut [f64; LANES],
) {
    let mut squares = [0.0; LANES];
    for i in 0..q[0].len() {
        let Some((apart, along)) = squared_chords(x, i * step, q.map(|q| q[i])) else { return };
        let w = if w.is_empty() { 4.0 } else { 4.0 * w[i] };
        for l in 0..LANES {
            squares[l] += w * if apart[l] < along[l] { apart[l] } else { along[l] };
        }
    }
    for l in 0..LANES {
        sums[l] += weight * squares[l];
    }
}
