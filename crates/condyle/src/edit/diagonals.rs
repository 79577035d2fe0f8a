//! The nearest two windows of two clips, where windows are long.
//!
//! What a window of `m` frames costs is shared by its neighbours: of the windows that start at `(a, b)` and at
//! `(a + 1, b + 1)` all but one pair of frames are the same. So sums over windows are kept along the diagonals of
//! the table of all frames, one term comes and one goes, and how long the windows are does not matter.
//!
//! These sums are bounds. Every joint in a frame becomes a point, such that the square of the distance of two points
//! tells what the distance of windows has of the two frames at least: numbers stay, an angle that wraps becomes its
//! cosine and sine, `s = |Δ|² = 2 − 2 cos d`, and a rotation its matrix over √2, `s = |Δ|² = 4 sin² θ/2`. The square of
//! the angle is a power series in s without negative terms (J. M. Borwein and M. Chamberland, "Integer powers of
//! arcsin", 2007, eq 1), of which some terms are a bound from below that is near:
//!
//! ```text
//!   θ² = 2 Σ sⁿ / (n² C(2n, n)) = s + s²/12 + s³/90 + s⁴/560 + …
//! ```
//!
//! Such a series is convex and grows, so that four frames have at least four times that of the difference of their
//! means: cells of four frames do for the table of all windows that start at every fourth frame. The three starts that follow each of them are no farther from it
//! than their own windows are in their clip: what is farther apart than the best so far and both of these has no
//! windows that matter. The rest is looked at frame by frame in the same way, and computed where it may be the best.

#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use std::ops::Range;

use super::closest::{Between, Nearest, Pair};
use super::window::Plan;
use super::{Features, Metric};
use crate::math::{Kernel, trig};

/// Windows of so many frames are long.
pub(super) const LONG: usize = 128;

/// Frames of a cell.
const CELL: usize = 4;

/// Diagonals that are looked at together.
const BAND: usize = 16;

/// So many bands are looked into first, those that may have the nearest windows.
const FIRST: usize = 32;

/// What rounding may take from a sum along a diagonal, as a share of the largest there: some 10⁵ terms that come and
/// go, each to half an ulp.
const ROUNDING: f64 = 1e-10;

/// Columns of points that belong to one joint.
#[derive(Clone, Copy)]
struct Group {
    columns: usize,
    weight: f64,
    /// Whether they are of an angle: else of a number.
    curved: bool,
}

impl Group {
    /// What the distance of windows has of `count` frames at least, by the square of the distance of two points, or
    /// of `count` times that of their means. Both are weighted.
    #[inline(always)]
    fn at_least(self, square: f64, count: f64) -> f64 {
        if !self.curved {
            return square;
        }
        let s = square / (count * self.weight);
        let series = 1.0 / 3150.0 + s * (1.0 / 16632.0 + s * (1.0 / 84084.0 + s / 411_840.0));
        square * (1.0 + s * (1.0 / 12.0 + s * (1.0 / 90.0 + s * (1.0 / 560.0 + s * series))))
    }

    /// What it has, of two frames, but for rounding.
    fn exactly(self, square: f64) -> f64 {
        if !self.curved {
            return square;
        }
        let quarter = (0.25 * square / self.weight).min(1.0);
        let angle = 2.0 * trig::atan2(quarter.sqrt(), (1.0 - quarter).sqrt());
        self.weight * angle * angle
    }
}

/// The frames of a clip as points.
struct Points {
    dims: usize,
    groups: Vec<Group>,
    /// Frame by frame.
    rows: Vec<f64>,
}

impl Points {
    fn new(features: &Features, plan: &Plan<'_>, of_query: bool) -> Self {
        let frames = features.frame_count();
        let mut columns: Vec<Vec<f64>> = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        for part in &plan.parts {
            let before = columns.len();
            let first = if of_query { part.query } else { part.column };
            let root = part.weight.sqrt();
            let column = |d: usize| features.column(first + d)[..frames].iter();
            if features.metric() == Metric::Quaternion {
                let mut entries: [Vec<f64>; 9] =
                    std::array::from_fn(|_| Vec::with_capacity(frames));
                for f in 0..frames {
                    let [x, y, z, w] = [0, 1, 2, 3].map(|d| features.column(first + d)[f]);
                    let matrix = [
                        w * w + x * x - y * y - z * z,
                        2.0 * (x * y - w * z),
                        2.0 * (x * z + w * y),
                        2.0 * (x * y + w * z),
                        w * w - x * x + y * y - z * z,
                        2.0 * (y * z - w * x),
                        2.0 * (x * z - w * y),
                        2.0 * (y * z + w * x),
                        w * w - x * x - y * y + z * z,
                    ];
                    for (to, entry) in entries.iter_mut().zip(matrix) {
                        to.push(entry * root * std::f64::consts::FRAC_1_SQRT_2);
                    }
                }
                columns.extend(entries);
            } else if part.wraps {
                let turned: Vec<(f64, f64)> = column(0).map(|x| trig::sin_cos(*x)).collect();
                columns.push(turned.iter().map(|(sin, _)| root * sin).collect());
                columns.push(turned.iter().map(|(_, cos)| root * cos).collect());
            } else {
                columns.push(column(0).map(|x| root * x).collect());
            }
            let curved = part.wraps || features.metric() == Metric::Quaternion;
            groups.push(Group { columns: columns.len() - before, weight: part.weight, curved });
        }
        let dims = columns.len();
        let mut rows = vec![0.0; dims * frames];
        for (d, column) in columns.iter().enumerate() {
            for (row, x) in rows.chunks_exact_mut(dims).zip(column) {
                row[d] = *x;
            }
        }
        Self { dims, groups, rows }
    }

    fn row(&self, frame: usize) -> &[f64] {
        &self.rows[frame * self.dims..][..self.dims]
    }
}

/// The squares of two rows of points, joint by joint, as they count.
#[inline(always)]
fn square_of(groups: &[Group], [a, b]: [&[f64]; 2], counts: impl Fn(Group, f64) -> f64) -> f64 {
    let (mut a, mut b, mut sum) = (a.iter(), b.iter(), 0.0);
    for group in groups {
        let own = a.by_ref().take(group.columns).zip(b.by_ref().take(group.columns));
        sum += counts(*group, own.map(|(a, b)| (a - b) * (a - b)).sum());
    }
    sum
}

/// The windows of a clip that may be found, four by four.
struct Blocks<'a> {
    starts: Range<usize>,
    points: &'a Points,
    /// How far the windows of each block are from its first.
    radii: Vec<f64>,
    /// Which windows are the same as the one before, number for number.
    repeats: Vec<bool>,
    /// Column by column, with [`BAND`] zeros before and behind: half the sums of the cells from the first start on.
    cells: Vec<f64>,
    stride: usize,
}

impl<'a> Blocks<'a> {
    fn new(points: &'a Points, features: &Features, starts: &Range<usize>, window: usize) -> Self {
        let count = starts.len().div_ceil(CELL);
        let mut radii = vec![0.0_f64; count];
        for shift in 1..CELL {
            // From the first window of each block to this one.
            let end = (starts.end + window - 1).saturating_sub(shift);
            let apart = |f: usize| {
                let rows = [points.row(f), points.row(f + shift)];
                square_of(&points.groups, rows, Group::exactly)
            };
            let squares: Vec<f64> = (starts.start..end).map(apart).collect();
            let mut largest = 0.0_f64;
            let mut sum: f64 = squares.iter().take(window - 1).sum();
            for at in 0..starts.len().saturating_sub(shift) {
                sum += squares[at + window - 1];
                largest = largest.max(sum);
                if at % CELL == 0 {
                    let radius = (sum + ROUNDING * largest).sqrt();
                    radii[at / CELL] = radii[at / CELL].max(radius);
                }
                sum -= squares[at];
            }
        }
        // How many frames up to this one are the same.
        let mut still = 0;
        let columns = features.joints().len() * features.metric().dims();
        let mut repeats = vec![false; starts.len()];
        for frame in starts.start + 1..starts.end + window - 1 {
            let same = |c: usize| {
                let column = features.column(c);
                column[frame].to_bits() == column[frame - 1].to_bits()
            };
            still = if (0..columns).all(same) { still + 1 } else { 0 };
            if still >= window {
                repeats[frame + 1 - window - starts.start] = true;
            }
        }
        let all = count - 1 + window / CELL;
        let stride = all + 2 * BAND;
        let mut cells = vec![0.0; points.dims * stride];
        for k in 0..all {
            for f in 0..CELL {
                for (d, x) in points.row(starts.start + k * CELL + f).iter().enumerate() {
                    cells[d * stride + BAND + k] += 0.5 * x;
                }
            }
        }
        Self { starts: starts.clone(), points, radii, repeats, cells, stride }
    }

    fn len(&self) -> usize {
        self.radii.len()
    }

    fn windows(&self, block: usize) -> Range<usize> {
        let start = self.starts.start + block * CELL;
        start..(start + CELL).min(self.starts.end)
    }

    fn is_repeat(&self, start: usize) -> bool {
        self.repeats[start - self.starts.start]
    }
}

/// Two blocks that may have windows that matter, by the square of their bound.
#[derive(Clone, Copy)]
struct Candidate {
    bound: f64,
    a: usize,
    b: usize,
}

struct Search<'a> {
    plan: &'a Plan<'a>,
    between: &'a Between,
    window: usize,
    a: Blocks<'a>,
    b: Blocks<'a>,
    nearest: Nearest,
}

/// The nearest two windows of some in the query's clip and some in the other, whose frames all count alike.
pub(super) fn closest(
    plan: &Plan<'_>,
    between: &Between,
    [a_starts, b_starts]: [&Range<usize>; 2],
) -> Option<Pair> {
    let [ours, theirs] = [plan.query.features(), plan.clip];
    let [a, b] = [Points::new(ours, plan, true), Points::new(theirs, plan, false)];
    let mut search = Search {
        plan,
        between,
        window: plan.window,
        a: Blocks::new(&a, ours, a_starts, plan.window),
        b: Blocks::new(&b, theirs, b_starts, plan.window),
        nearest: Nearest::default(),
    };
    // The best of each band is near the end; with that, little of the others is left.
    let mut first: Vec<Candidate> =
        search.bands().filter_map(|band| search.best_of(band)).collect();
    first.sort_by(|x, y| x.bound.total_cmp(&y.bound).then((x.a, x.b).cmp(&(y.a, y.b))));
    for candidate in first.into_iter().take(FIRST) {
        search.look(candidate, 1);
    }
    for band in search.bands() {
        let mut found = search.candidates(band);
        // Along each diagonal.
        found.sort_by_key(|of| (signed(of.b) - signed(of.a), of.a));
        for run in found.chunk_by(|x, y| y.a == x.a + 1 && y.b == x.b + 1) {
            search.look(run[0], run.len());
        }
    }
    search.nearest.pair()
}

fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

impl Search<'_> {
    /// The first diagonal of each band, by how many blocks the second clip is ahead.
    fn bands(&self) -> impl Iterator<Item = i64> + use<> {
        (1 - signed(self.a.len())..signed(self.b.len())).step_by(BAND)
    }

    /// Whether two blocks may have windows that matter, but for how far they are apart.
    fn may_matter(&self, a: usize, b: usize) -> bool {
        let (ours, theirs) = (self.a.windows(a), self.b.windows(b));
        self.between.allows(ours.end - 1, theirs.start)
            && self.nearest.may_be_first((ours.start, theirs.start))
            && (self.between.lead.is_some() || !ours.clone().all(|a| self.a.is_repeat(a)))
            && !theirs.clone().all(|b| self.b.is_repeat(b))
    }

    fn best_of(&self, band: i64) -> Option<Candidate> {
        let mut best: Option<Candidate> = None;
        self.walk(band, |of| {
            if best.is_none_or(|best| of.bound < best.bound) && self.may_matter(of.a, of.b) {
                best = Some(of);
            }
        });
        best
    }

    fn candidates(&self, band: i64) -> Vec<Candidate> {
        let best = self.nearest.root();
        let mut found = Vec::new();
        self.walk(band, |of| {
            let reach = best + self.a.radii[of.a] + self.b.radii[of.b];
            if of.bound <= reach * reach * (1.0 + ROUNDING) && self.may_matter(of.a, of.b) {
                found.push(of);
            }
        });
        found
    }

    /// Every two blocks of a band with their bound.
    fn walk(&self, band: i64, each: impl FnMut(Candidate)) {
        self.plan.level().run(Walk { search: self, band, each });
    }

    /// Looks at the windows of some blocks that follow each other along a diagonal.
    fn look(&mut self, first: Candidate, count: usize) {
        let (from, to) = (self.a.windows(first.a).start, self.b.windows(first.b).start);
        let ends = [from + count * CELL, to + count * CELL];
        let ends = [ends[0].min(self.a.starts.end), ends[1].min(self.b.starts.end)];
        for offset in 0..2 * CELL - 1 {
            // From the last window of a block of the one clip with the first of the other to the opposite.
            let a = from + (CELL - 1).saturating_sub(offset);
            let b = to + (offset + 1).saturating_sub(CELL);
            let length = ends[0].saturating_sub(a).min(ends[1].saturating_sub(b));
            if length > 0 {
                self.slide(a, b, length);
            }
        }
    }

    /// Looks at the windows that start at two frames, and at the next ones.
    fn slide(&mut self, a: usize, b: usize, length: usize) {
        let square = |i: usize, search: &Self| {
            let (ours, theirs) = (search.a.points, search.b.points);
            let at_least = |group: Group, square: f64| group.at_least(square, 1.0);
            square_of(&ours.groups, [ours.row(a + i), theirs.row(b + i)], at_least)
        };
        let mut sum: f64 = (0..self.window - 1).map(|i| square(i, self)).sum();
        let mut largest = 0.0_f64;
        let mut exact = ExactSums::default();
        for i in 0..length {
            sum += square(i + self.window - 1, self);
            largest = largest.max(sum);
            let best = self.nearest.root();
            let at = (a + i, b + i);
            if sum - ROUNDING * largest <= best * best * (1.0 + ROUNDING)
                && self.between.allows(at.0, at.1)
                && self.nearest.may_be_first(at)
                && (self.between.lead.is_some() || !self.a.is_repeat(at.0))
                && !self.b.is_repeat(at.1)
                && exact.at_most(i, self.window, best * best * (1.0 + ROUNDING), |i| {
                    let (ours, theirs) = (self.a.points, self.b.points);
                    let rows = [ours.row(a + i), theirs.row(b + i)];
                    square_of(&ours.groups, rows, Group::exactly)
                })
            {
                self.nearest.offer(self.plan, at.0, at.1);
            }
            sum -= square(i, self);
        }
    }
}

/// What windows along a diagonal have, but for rounding: each frame is computed once for all that it is in.
#[derive(Default)]
struct ExactSums {
    /// The place of the first square that is known, and the squares from there on.
    first: usize,
    squares: Vec<f64>,
    /// The last window that was asked for, and its sum.
    at: usize,
    sum: f64,
    largest: f64,
}

impl ExactSums {
    /// Whether the sum of the window at a place is no more than this. Places are asked for in their order.
    fn at_most(
        &mut self,
        at: usize,
        window: usize,
        most: f64,
        square: impl Fn(usize) -> f64,
    ) -> bool {
        let known = self.first + self.squares.len();
        if self.squares.is_empty() || at >= known {
            // What was summed up before has nothing to do with it.
            *self = Self { first: at, at, ..Self::default() };
            self.squares.extend((at..at + window).map(&square));
            self.sum = self.squares.iter().sum();
        } else {
            self.squares.extend((known..at + window).map(&square));
            for goes in self.at..at {
                self.sum +=
                    self.squares[goes + window - self.first] - self.squares[goes - self.first];
            }
            self.at = at;
        }
        self.largest = self.largest.max(self.sum);
        self.sum - ROUNDING * self.largest <= most
    }
}

struct Walk<'a, F> {
    search: &'a Search<'a>,
    band: i64,
    each: F,
}

impl<F: FnMut(Candidate)> Kernel for Walk<'_, F> {
    #[inline(always)]
    fn run(mut self) {
        let Search { a, b, window, .. } = self.search;
        let cells = window / CELL;
        let width = signed(BAND);
        // Where some diagonal of the band has blocks of both.
        let first = usize::try_from((1 - width - self.band).max(0)).unwrap_or(0);
        let last = signed(a.len()).min(signed(b.len()) - self.band);
        let Some(count) = usize::try_from(last).ok().and_then(|last| last.checked_sub(first))
        else {
            return;
        };
        if count == 0 {
            return;
        }
        let mut before = vec![[0.0; BAND]; cells];
        let (mut sums, mut largest) = ([0.0_f64; BAND], 0.0_f64);
        for t in 0..count + cells - 1 {
            let cell = first + t;
            let Ok(beside) = usize::try_from(signed(cell) + self.band + width) else { return };
            let mut squares = [0.0; BAND];
            let mut columns = a.cells.chunks_exact(a.stride).zip(b.cells.chunks_exact(b.stride));
            for group in &a.points.groups {
                let mut own = [0.0; BAND];
                for (ours, theirs) in columns.by_ref().take(group.columns) {
                    let x = ours[BAND + cell];
                    let Some(y) = theirs[beside..].first_chunk::<BAND>() else { return };
                    for l in 0..BAND {
                        let d = y[l] - x;
                        own[l] += d * d;
                    }
                }
                for l in 0..BAND {
                    squares[l] += group.at_least(own[l], CELL as f64);
                }
            }
            let goes = &mut before[t % cells];
            for l in 0..BAND {
                sums[l] += squares[l] - goes[l];
                largest = if sums[l] > largest { sums[l] } else { largest };
            }
            *goes = squares;
            if t + 1 < cells {
                continue;
            }
            let block = first + t + 1 - cells;
            let slack = ROUNDING * largest;
            for (lane, sum) in sums.iter().enumerate() {
                let other = signed(block) + self.band + signed(lane);
                if let Ok(other) = usize::try_from(other)
                    && other < b.len()
                {
                    let bound = if *sum > slack { sum - slack } else { 0.0 };
                    (self.each)(Candidate { bound, a: block, b: other });
                }
            }
        }
    }
}
