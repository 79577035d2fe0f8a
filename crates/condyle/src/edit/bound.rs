//! Lower bounds of window distances that cost a fraction of them.
//!
//! The window is cut into blocks of `b` frames. With `d_i` the differences of a number over a block and
//! `w` the least weight of its frames, Cauchy and Schwarz have
//!
//! ```text
//!   Σ w_i d_i² ≥ w Σ d_i² ≥ w (Σ d_i)² / b = w (Σ x_i − Σ q_i)² / b
//! ```
//!
//! and sums of `b` neighbours are made for all windows at once by doubling: of 2, of 4, of 8, … The motion
//! of a joint within a few frames is mostly its mean, so the bound is mostly close.
//!
//! Differences of angles are to be wrapped, and angles between rotations are no differences at all. So a
//! number `x` is first replaced by one that is no farther from any number `q` of the query's column.
//!
//! - **Angles.** Let all `q` be within `h ≤ π/3` of a centre `c`, and let `t = q − c`. Take
//!   `y = wrap(x − c)`, clamped to ±(π − 2h). If it is not clamped, `|y − t| ≤ π − h` is the wrapped
//!   difference itself. If it is, say above, the difference is `π − 2h − t`, which is not negative, while the
//!   wrapped difference of `x` is the lesser of `y − t` and `2π − y + t` with `π − 2h < y ≤ π` and `t ≥ −h`:
//!   neither is less.
//! - **Rotations.** The angle of two rotations is at least twice the chord of their unit quaternions, if
//!   these are taken from the same hemisphere. Let all `q` be within `h ≤ 30°` of a unit `r` in four
//!   dimensions, and let `x · r ≥ 0`, or take −x. If `x` is within 90° − 2h of `r`, it is in the hemisphere
//!   of every `q`. Else take the point at 90° − 2h on the way from `r` to `x`. It is within 90° − h of every
//!   `q`, and −x is not. And as it is at least `h` from `r`, going on from it to `x` leads away from every `q`.
//!
//! Columns whose query is wider than that are left out of the bound; nothing is asked of the clip.
//!
//! Bounds are computed in single precision. Rounding can then put a number on the other side of ±π around
//! the centre, or of the border of the hemisphere. Both sides give a valid bound there, so that the choice
//! does not matter; what rounding does to the numbers themselves is in [`Bounds::threshold`].

#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]
#![allow(clippy::needless_range_loop, reason = "one index over several columns is what vectorises")]

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::ops::Range;

use super::Metric;
use super::window::{Part, Plan};
use crate::math::{Angle, Kernel, trig};

/// Blocks of a window, if it has so many frames.
const BLOCKS: usize = 3;

/// Frames of the clip that are looked at to tell which columns say most.
const SAMPLES: usize = 48;

/// Rotations that are looked at together.
const WIDE: usize = 16;

/// Bounds are computed in single precision: half the memory is read, and twice as many numbers are taken at once.
/// What is rounded off is far below what tells windows apart, and taken into account.
const ROUNDING: f64 = f32::EPSILON as f64;

/// Squares of numbers below that, and some thousands of them together, are numbers of single precision.
const LARGEST: f64 = 1e15;

/// How the numbers of a part become comparable to those of the query by their difference.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// They are.
    Direct,
    /// Wrapped around a centre and clamped.
    Around { centre: f64, reach: f64 },
    /// Into the hemisphere of a reference, and towards it if the cosine of the angle is less than `least`;
    /// `sine` belongs to that.
    Turned { reference: [f64; 4], least: f64, sine: f64 },
}

/// A part of the distance with what its bound needs of the query.
#[derive(Debug)]
struct BoundPart {
    part: Part,
    kind: Kind,
    /// Of the query, by column and block.
    sums: Vec<f64>,
    /// What the square of a difference of sums counts, by block.
    scales: Vec<f64>,
    /// Both in single precision.
    rough: Rough,
}

/// What [`Bounds::add`] computes with.
#[derive(Debug)]
struct Rough {
    sums: Vec<f32>,
    scales: Vec<f32>,
}

/// Lower bounds for a query in a clip.
#[derive(Debug)]
pub(super) struct Bounds<'a> {
    plan: &'a Plan<'a>,
    block: usize,
    /// What says most comes first.
    parts: Vec<BoundPart>,
    /// How far rounding may lift the root of a bound.
    slack: f64,
    /// By how much rounding may lift a bound, as a factor.
    growth: f64,
}

/// Room for sums on their way.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    turned: [Vec<f32>; 4],
    doubled: [Vec<f32>; 2],
    sums: Vec<f32>,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(plan: &'a Plan<'a>) -> Self {
        let blocks = if plan.window < 2 * BLOCKS { plan.window } else { BLOCKS };
        let block = plan.window / blocks;
        #[allow(clippy::cast_precision_loss, reason = "a window has fewer than 2^32 frames")]
        let (length, window) = (block as f64, plan.window as f64);
        let scale = |k: usize| {
            let all = plan.frame_weights().map_or(&[][..], |w| &w[k * block..(k + 1) * block]);
            all.iter().copied().fold(1.0, f64::min) / length
        };
        let scales: Vec<f64> = (0..blocks).map(scale).collect();
        let mut slack = 0.0;
        let mut parts: Vec<(f64, BoundPart)> = Vec::new();
        for part in &plan.parts {
            let Some((kind, numbers, chord)) = prepared(plan, *part) else { continue };
            // Sums by doubling and differences: some ulps of the numbers, for each of a block.
            let size = |[lo, hi]: [f64; 2]| lo.abs().max(hi.abs());
            let (here, there) =
                (plan.clip.extremes(part.column), plan.query.features().extremes(part.query));
            let digits = f64::from(usize::BITS - block.leading_zeros()) + 4.0;
            let sizes = size(here) + size(there) + TAU;
            let off = 16.0 * digits * ROUNDING * length * sizes;
            // What is no number does not fit either.
            let fits = length * sizes < LARGEST;
            if !fits {
                continue;
            }
            let sums: Vec<f64> = numbers
                .iter()
                .flat_map(|n| n.chunks_exact(block).take(blocks).map(|b| b.iter().sum::<f64>()))
                .collect();
            let scales: Vec<f64> = scales.iter().map(|s| s * part.weight * chord).collect();
            slack += numbers.iter().map(|_| scales.iter().sum::<f64>() * off * off).sum::<f64>();
            let says = part.weight * usual_square(plan, *part);
            let rough = Rough { sums: single(&sums), scales: single(&scales) };
            parts.push((says, BoundPart { part: *part, kind, sums, scales, rough }));
        }
        // Stable, so that the order is the same everywhere.
        parts.sort_by(|a, b| b.0.total_cmp(&a.0));
        #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^52 parts")]
        let terms = plan.parts.len() as f64 + window + 16.0;
        Self {
            plan,
            block,
            parts: parts.into_iter().map(|(_, part)| part).collect(),
            // Squares below that may have become 0 on one side only.
            slack: slack.sqrt() + 1e-150,
            growth: 1.0 + 8.0 * terms * ROUNDING,
        }
    }

    /// How many parts there are to [`add`](Self::add).
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// How many columns a part has.
    pub(super) fn columns(&self) -> usize {
        if self.plan.clip.metric() == Metric::Quaternion { 4 } else { 1 }
    }

    /// Whether the clip has an index.
    pub(super) fn are_indexed(&self) -> bool {
        self.plan.clip.index().is_some()
    }

    /// A bound above this is one of a window whose sum is above `sum`.
    pub(super) fn threshold(&self, sum: f64) -> f64 {
        let root = sum.sqrt() + self.slack;
        root * root * self.growth
    }

    /// A bound for all of some windows that follow each other, from the [`Index`](super::index::Index) of the
    /// clip and some of the parts: sums of numbers in a range are within `b` times that range. 0 without
    /// an index.
    pub(super) fn of_all(&self, parts: Range<usize>, start: usize, count: usize) -> f64 {
        let Some(index) = self.plan.clip.index() else { return 0.0 };
        let frames = start..start + count + self.plan.window - 1;
        #[allow(clippy::cast_precision_loss, reason = "a window has fewer than 2^32 frames")]
        let length = self.block as f64;
        let mut bound = 0.0;
        for p in &self.parts[parts] {
            let range = |d: usize| index.range(p.part.column + d, &frames);
            let mut add = |[lo, hi]: [f64; 2], query: &[f64]| {
                let (lo, hi) = (length * lo, length * hi);
                for (q, scale) in query.iter().zip(&p.scales) {
                    let gap = (lo - q).max(q - hi).max(0.0);
                    bound += scale * (gap * gap);
                }
            };
            match p.kind {
                Kind::Direct => add(range(0), &p.sums),
                Kind::Around { centre, reach } => {
                    let [lo, hi] = range(0).map(|x| x - centre);
                    let turn = if lo > PI {
                        -TAU
                    } else if hi < -PI {
                        TAU
                    } else if lo >= -PI && hi <= PI {
                        0.0
                    } else {
                        // It holds what is opposite of the centre: both ends of the scale.
                        continue;
                    };
                    add([lo, hi].map(|x| (x + turn).clamp(-reach, reach)), &p.sums);
                }
                Kind::Turned { reference, least, .. } => {
                    let ranges = [0, 1, 2, 3].map(range);
                    let along = |end: usize| {
                        let term = |d: usize| {
                            let r = reference[d];
                            r * ranges[d][if r < 0.0 { 1 - end } else { end }]
                        };
                        (0..4).map(term).sum::<f64>()
                    };
                    // All are within reach of the reference, or of its opposite.
                    let sign = if along(0) >= least {
                        1.0
                    } else if along(1) <= -least {
                        -1.0
                    } else {
                        continue;
                    };
                    for ([lo, hi], query) in
                        ranges.into_iter().zip(p.sums.chunks_exact(p.scales.len()))
                    {
                        add(if sign > 0.0 { [lo, hi] } else { [-hi, -lo] }, query);
                    }
                }
            }
        }
        bound
    }

    /// Adds what some parts have to the bounds of the windows that start at `start`, `start + 1`, ….
    pub(super) fn add(
        &self,
        parts: Range<usize>,
        start: usize,
        bounds: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let parts = &self.parts[parts];
        self.plan.level().run(Add { all: self, parts, start, bounds, scratch });
    }
}

/// The nearest numbers of single precision.
#[allow(clippy::cast_possible_truncation, reason = "rounded, and not too large: see LARGEST")]
pub(super) fn single(numbers: &[f64]) -> Vec<f32> {
    numbers.iter().map(|x| *x as f32).collect()
}

/// How a part is made comparable, the numbers of the query in that way, and what the square of a
/// difference counts; `None` if the query is too wide.
fn prepared(plan: &Plan<'_>, part: Part) -> Option<(Kind, Vec<Vec<f64>>, f64)> {
    match plan.clip.metric() {
        Metric::Position => Some((Kind::Direct, vec![plan.query_column(part, 0).to_vec()], 1.0)),
        Metric::Euler => {
            let (kind, numbers) = around(plan, part)?;
            Some((kind, vec![numbers], 1.0))
        }
        Metric::Quaternion => {
            let (kind, numbers) = turned(plan, part)?;
            // (2 · chord)²
            Some((kind, numbers.to_vec(), 4.0))
        }
    }
}

fn wrap(radians: f64) -> f64 {
    Angle::from_radians(radians).wrapped().radians()
}

/// Far more than rounding of double precision does to the angles of a query, far less than matters.
const MARGIN: f64 = 1e-9;

fn around(plan: &Plan<'_>, part: Part) -> Option<(Kind, Vec<f64>)> {
    let mut numbers = plan.query_column(part, 0).to_vec();
    let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut last = *numbers.first()?;
    for x in &mut numbers {
        last += wrap(*x - last);
        *x = last;
        (lo, hi) = (lo.min(last), hi.max(last));
    }
    let middle = 0.5 * (lo + hi);
    let half = 0.5 * (hi - lo) + MARGIN;
    if half > PI / 3.0 - MARGIN {
        return None;
    }
    let (centre, reach) = (wrap(middle), PI - 2.0 * half);
    let [least, greatest] = plan.clip.extremes(part.column);
    if least >= centre - reach && greatest <= centre + reach {
        numbers.iter_mut().for_each(|x| *x = *x - middle + centre);
        return Some((Kind::Direct, numbers));
    }
    numbers.iter_mut().for_each(|x| *x -= middle);
    Some((Kind::Around { centre, reach }, numbers))
}

fn turned(plan: &Plan<'_>, part: Part) -> Option<(Kind, [Vec<f64>; 4])> {
    let mut numbers = [0, 1, 2, 3].map(|d| plan.query_column(part, d).to_vec());
    let frame = |numbers: &[Vec<f64>; 4], i: usize| [0, 1, 2, 3].map(|d| numbers[d][i]);
    let mut mean = [0.0; 4];
    for i in 0..plan.window {
        let q = frame(&numbers, i);
        let sign = if dot(mean, q) < 0.0 { -1.0 } else { 1.0 };
        (0..4).for_each(|d| mean[d] += sign * q[d]);
    }
    let length = dot(mean, mean).sqrt();
    let reference = mean.map(|x| x / length);
    let mut cosine = 1.0_f64;
    for i in 0..plan.window {
        let along = dot(reference, frame(&numbers, i));
        if along < 0.0 {
            numbers.iter_mut().for_each(|n| n[i] = -n[i]);
        }
        cosine = cosine.min(along.abs());
    }
    let half = trig::acos(cosine) + MARGIN;
    // A mean of no length has no reference.
    if half.is_nan() || half > PI / 6.0 - MARGIN {
        return None;
    }
    let (sine, least) = trig::sin_cos(FRAC_PI_2 - 2.0 * half);
    Some((Kind::Turned { reference, least, sine }, numbers))
}

#[inline(always)]
fn dot(a: [f64; 4], b: [f64; 4]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

/// About how far the numbers of the clip are from those of the query: the mean square of samples.
fn usual_square(plan: &Plan<'_>, part: Part) -> f64 {
    let frames = plan.clip.frame_count();
    let samples = frames.min(SAMPLES);
    let q = [0, 1, 2, 3].map(|d| match plan.clip.metric() {
        Metric::Quaternion => plan.query_column(part, d)[plan.window / 2],
        Metric::Euler | Metric::Position => plan.query_column(part, 0)[plan.window / 2],
    });
    let square = |s: usize| {
        let f = (2 * s + 1) * frames / (2 * samples);
        let x = |d: usize| plan.clip.column(part.column + d)[f];
        match plan.clip.metric() {
            Metric::Position => (x(0) - q[0]) * (x(0) - q[0]),
            Metric::Euler => {
                let d = wrap(x(0) - q[0]);
                d * d
            }
            Metric::Quaternion => {
                let along = dot([0, 1, 2, 3].map(x), q).abs();
                (1.0 - along).max(0.0)
            }
        }
    };
    (0..samples).map(square).sum()
}

struct Add<'a> {
    all: &'a Bounds<'a>,
    parts: &'a [BoundPart],
    start: usize,
    bounds: &'a mut [f32],
    scratch: &'a mut Scratch,
}

#[allow(clippy::cast_possible_truncation, reason = "rounded")]
fn rounded(x: f64) -> f32 {
    x as f32
}

#[inline(always)]
fn dot_single(a: [f32; 4], b: [f32; 4]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

impl Kernel for Add<'_> {
    #[inline(always)]
    fn run(self) {
        let (plan, block) = (self.all.plan, self.all.block);
        let Scratch { turned, doubled, sums } = self.scratch;
        for p in self.parts {
            let n = self.bounds.len() + p.rough.scales.len() * block - 1;
            let column =
                |d: usize| &plan.clip.rough_column_from(p.part.column + d, self.start)[..n];
            let blocks = p.rough.scales.len();
            let mut add = |x: &[f32], sign: f32, query: &[f32]| {
                let sums = sums_of(x, block, doubled, sums);
                add_squares(sums, block, (sign, query), &p.rough.scales, self.bounds);
            };
            match p.kind {
                Kind::Direct => add(column(0), 1.0, &p.rough.sums),
                Kind::Around { centre, reach } => {
                    wrap_around(column(0), [centre, reach].map(rounded), &mut turned[0]);
                    add(&turned[0], 1.0, &p.rough.sums);
                }
                Kind::Turned { reference, least, sine } => {
                    let (reference, [least, sine]) =
                        (reference.map(rounded), [least, sine].map(rounded));
                    let columns = [0, 1, 2, 3].map(column);
                    let sign = side(columns, reference, least);
                    if sign.is_none() {
                        turn(columns, reference, least, sine, turned);
                    }
                    // Near the reference the number along which it is longest says least of all four.
                    let longest =
                        |a: &usize, b: &usize| reference[*a].abs().total_cmp(&reference[*b].abs());
                    let least_said = (0..4).max_by(longest);
                    for (d, query) in p.rough.sums.chunks_exact(blocks).enumerate() {
                        if Some(d) == least_said {
                            continue;
                        }
                        match sign {
                            Some(sign) => add(columns[d], sign, query),
                            None => add(&turned[d], 1.0, query),
                        }
                    }
                }
            }
        }
    }
}

/// `clamp(wrap(x − centre), ±reach)` for `x` and `centre` in [−π, π].
#[inline(always)]
fn wrap_around(x: &[f32], [centre, reach]: [f32; 2], to: &mut Vec<f32>) {
    use std::f32::consts::{PI, TAU};
    to.resize(x.len(), 0.0);
    for (to, x) in to.iter_mut().zip(x) {
        let d = x - centre;
        let d = d - if d > PI { TAU } else { 0.0 } + if d < -PI { TAU } else { 0.0 };
        let d = if d > reach { reach } else { d };
        *to = if d < -reach { -reach } else { d };
    }
}

/// 1 if all these quaternions are as near to a reference as `least` says, −1 if all are to its opposite.
#[inline(always)]
fn side(x: [&[f32]; 4], reference: [f32; 4], least: f32) -> Option<f32> {
    let n = x[0].len();
    let x = x.map(|x| &x[..n]);
    let (mut lowest, mut highest) = ([1.0; WIDE], [-1.0; WIDE]);
    let mut look = |l: usize, i: usize| {
        let along = dot_single([x[0][i], x[1][i], x[2][i], x[3][i]], reference);
        lowest[l] = if along < lowest[l] { along } else { lowest[l] };
        highest[l] = if along > highest[l] { along } else { highest[l] };
    };
    let wide = n - n % WIDE;
    for from in (0..wide).step_by(WIDE) {
        for l in 0..WIDE {
            look(l, from + l);
        }
    }
    (wide..n).for_each(|i| look(0, i));
    let lowest = lowest.into_iter().fold(1.0, f32::min);
    let highest = highest.into_iter().fold(-1.0, f32::max);
    if lowest >= least {
        Some(1.0)
    } else if highest <= -least {
        Some(-1.0)
    } else {
        None
    }
}

/// Quaternions in the hemisphere of a reference, and no farther from it than `least` and `sine` say.
#[inline(always)]
fn turn(x: [&[f32]; 4], reference: [f32; 4], least: f32, sine: f32, to: &mut [Vec<f32>; 4]) {
    const SIGN: u32 = 1 << 31;
    let n = x[0].len();
    let [a, b, c, d] = to;
    for to in [&mut *a, &mut *b, &mut *c, &mut *d] {
        to.resize(n, 0.0);
    }
    let x = x.map(|x| &x[..n]);
    let (a, b, c, d) = (&mut a[..n], &mut b[..n], &mut c[..n], &mut d[..n]);
    let mut nearest = 1.0;
    for i in 0..n {
        let q = [x[0][i], x[1][i], x[2][i], x[3][i]];
        let along = dot_single(q, reference);
        let sign = along.to_bits() & SIGN;
        let [qa, qb, qc, qd] = q.map(|q| f32::from_bits(q.to_bits() ^ sign));
        (a[i], b[i], c[i], d[i]) = (qa, qb, qc, qd);
        let along = along.abs();
        nearest = if along < nearest { along } else { nearest };
    }
    if nearest < least {
        for i in 0..n {
            let q = [a[i], b[i], c[i], d[i]];
            let along = dot_single(q, reference);
            if along < least {
                let mut side = [0.0; 4];
                (0..4).for_each(|d| side[d] = q[d] - along * reference[d]);
                let length = dot_single(side, side).sqrt();
                let mut to = [0.0; 4];
                (0..4).for_each(|d| to[d] = least * reference[d] + sine * (side[d] / length));
                [a[i], b[i], c[i], d[i]] = to;
            }
        }
    }
}

/// The sums of every `block` numbers that follow each other: by doubling, of 4, of 8, of 16, …, and what
/// is missing from those of the same that stand behind.
#[inline(always)]
fn sums_of<'s>(
    x: &'s [f32],
    block: usize,
    [even, odd]: &'s mut [Vec<f32>; 2],
    sums: &'s mut Vec<f32>,
) -> &'s [f32] {
    let count = x.len() + 1 - block;
    let fours = (x.len() + 1).saturating_sub(4);
    resize(even, fours);
    for (i, to) in even.iter_mut().enumerate() {
        *to = (x[i] + x[i + 1]) + (x[i + 2] + x[i + 3]);
    }
    resize(sums, count);
    let sums = &mut sums[..count];
    // What is less than four.
    let (odd_one, pair) = (block & 1, block & 2);
    match (odd_one, pair) {
        (0, 0) => sums.fill(0.0),
        (1, 0) => sums.copy_from_slice(&x[..count]),
        (0, _) => sum_of_two(sums, x, &x[1..]),
        _ => {
            let (first, second, third) = (&x[..count], &x[1..][..count], &x[2..][..count]);
            for i in 0..count {
                sums[i] = (first[i] + second[i]) + third[i];
            }
        }
    }
    let (mut of_size, mut spare) = (even, odd);
    let (mut size, mut done) = (4, odd_one + pair);
    while size <= block {
        if block & size != 0 {
            for (to, x) in sums.iter_mut().zip(&of_size[done..done + count]) {
                *to += x;
            }
            done += size;
        }
        if 2 * size <= block {
            let n = of_size.len() - size;
            resize(spare, n);
            sum_of_two(spare, of_size, &of_size[size..]);
            std::mem::swap(&mut of_size, &mut spare);
        }
        size *= 2;
    }
    sums
}

#[inline(always)]
fn resize(numbers: &mut Vec<f32>, n: usize) {
    if numbers.len() != n {
        numbers.resize(n, 0.0);
    }
}

#[inline(always)]
fn sum_of_two(to: &mut [f32], a: &[f32], b: &[f32]) {
    for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
        *to = a + b;
    }
}

/// Adds the squares of the differences of sums to those of the query, or of its opposite.
#[inline(always)]
fn add_squares(
    sums: &[f32],
    block: usize,
    (sign, query): (f32, &[f32]),
    scales: &[f32],
    bounds: &mut [f32],
) {
    let n = bounds.len();
    let square = |s: f32, q: f32, scale: f32| scale * ((s - sign * q) * (s - sign * q));
    // As many as there are in all but very short windows.
    if let ([a, b, c], [of_a, of_b, of_c]) = (query, scales) {
        let (first, second, third) = (&sums[..n], &sums[block..][..n], &sums[2 * block..][..n]);
        for i in 0..n {
            bounds[i] += square(first[i], *a, *of_a)
                + square(second[i], *b, *of_b)
                + square(third[i], *c, *of_c);
        }
        return;
    }
    for (k, (q, scale)) in query.iter().zip(scales).enumerate() {
        for (to, s) in bounds.iter_mut().zip(&sums[k * block..]) {
            *to += square(*s, *q, *scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::features::LANES;
    use crate::edit::{Features, Query};
    use crate::math::EulerOrder;
    use crate::motion::{Clip, FrameRate, Track};
    use crate::skeleton::{Joint, Skeleton};
    use crate::synth::Rng;
    use glam::DVec3;

    #[test]
    fn prop_bounds_are_never_above_the_sums() {
        let mut s = Skeleton::new();
        let root = s.add_root(Joint::new("root", DVec3::Y)).unwrap();
        let joint = s.add(root, Joint::new("joint", DVec3::X)).unwrap();
        s.add(joint, Joint::new("end", DVec3::X)).unwrap();
        let mut rng = Rng::new(2);
        // Turns about an axis by angles around some mean, as wide as is said: on all sides of the query.
        let clip = |rng: &mut Rng, frames: usize, mean: f64, width: f64| {
            let tracks = s.indices().map(|j| {
                let turn = |_| {
                    let angle = Angle::from_radians(mean + width * rng.between(-1.0, 1.0));
                    EulerOrder::ZYX.to_rotation([angle, Angle::ZERO, Angle::ZERO]).unwrap()
                };
                let turns = (0..frames).map(turn).collect();
                Track::turning(turns, s[j].offset_m)
            });
            Clip::new(frames, FrameRate::from_fps(60.0).unwrap(), tracks.collect()).unwrap()
        };
        let (mut scratch, mut close, mut all) = (Scratch::default(), 0, 0);
        for case in 0..600 {
            let metric = [Metric::Euler, Metric::Quaternion, Metric::Position][case % 3];
            let (mean, width) = (rng.between(-PI, PI), rng.between(0.0, 1.2));
            let query = clip(&mut rng, 12, mean, width);
            let (mean, width) = (rng.between(-PI, PI), rng.between(0.0, 0.8));
            let other = clip(&mut rng, 90, mean, width);
            let query = Features::of(&s, &query, metric).unwrap();
            let other = query.like(&s, &other).unwrap().indexed();
            let query = Query::new(&query, 0..12).unwrap();
            let weights = [1.0, 0.5, 0.7, 1.0, 0.2, 0.0, 1.0, 1.0, 0.9, 0.8, 1.0, 0.6];
            let query =
                if rng.chance(0.5) { query.with_frame_weights(&weights).unwrap() } else { query };
            let plan = Plan::new(&query, &other).unwrap();
            let bounds = Bounds::new(&plan);
            let mut found = [0.0_f32; 64];
            bounds.add(0..bounds.len(), 3, &mut found, &mut scratch);
            let of_all = bounds.of_all(0..bounds.len(), 3, 64);
            for (i, bound) in found.iter().enumerate() {
                let mut sums = [0.0; LANES];
                plan.sums(3 + i, f64::INFINITY, &mut sums);
                let bound = f64::from(*bound);
                assert!(bound <= bounds.threshold(sums[0]), "{case}: {bound} {}", sums[0]);
                assert!(of_all <= bounds.threshold(sums[0]), "{case}: {of_all} {}", sums[0]);
                all += 1;
                close += usize::from(bound > 0.5 * sums[0]);
            }
        }
        // And they are worth something, even for noise: 16,213 of 38,400 are above half of the sum.
        assert!(3 * close > all, "{close} of {all}");
    }
}
