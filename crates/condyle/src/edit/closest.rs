//! The two windows of two clips that are most alike.
//!
//! Distances of windows, as the roots of their sums, are those of a metric space: the angle of two rotations,
//! the wrapped difference of two angles and the distance of two points are metrics of their own, and
//! weighted roots of sums of squares of metrics are metrics. So with `A` some windows of the one clip that
//! follow each other, all within `r` of the middle one `a`, and with `B`, `s` and `b` the same of the other,
//!
//! ```text
//!   d(x, y) ≥ d(a, b) − r − s   for x in A, y in B
//! ```
//!
//! and where that is more than what is known already, no window of `A` need be compared with one of `B`.
//! Motion is smooth, so that holds for most of them. Others are cut into smaller blocks. For rotations all
//! that is done by chords, a metric that is no more than that of angles ([`Measure::Chords`]), and what is
//! left is compared by angles.

use std::ops::Range;

use super::features::LANES;
use super::search::starts_in;
use super::window::{Measure, Plan};
use super::{Features, MatchError, Query, diagonals};

/// Windows of a block, from the largest blocks to windows.
const SIZES: [usize; 4] = [64, 16, 4, 1];

/// What rounding may add to a distance, as a share of it: sums of `2^20` terms to half an ulp each have less.
const ROUNDING: f64 = 1e-10;

/// And besides, for each unit of weight: angles between rotations that are nearly the same.
const ANGLES: f64 = 1e-12;

/// Two windows that are near each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The first frame of the window in one clip.
    pub a_frame: usize,
    /// And in the other.
    pub b_frame: usize,
    /// In degrees or metres: see [`Query`].
    pub distance: f64,
}

/// Which windows of two clips are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Between {
    /// The frames of the first clip that a window may start at. All unless set.
    pub a_starts: Range<usize>,
    /// And of the second.
    pub b_starts: Range<usize>,
    /// If set, a window of the second clip starts at least so many frames before that of the first, if both
    /// are counted from the beginnings of their clips: what keeps a motion from being found in itself.
    /// May be negative.
    pub lead: Option<i64>,
}

impl Default for Between {
    fn default() -> Self {
        Self { a_starts: 0..usize::MAX, b_starts: 0..usize::MAX, lead: None }
    }
}

impl Between {
    /// Whether some window that starts up to `a` may be compared with some that starts from `b` on.
    pub(super) fn allows(&self, a: usize, b: usize) -> bool {
        let signed = |frame: usize| i64::try_from(frame).unwrap_or(i64::MAX);
        self.lead.is_none_or(|lead| signed(b).saturating_add(lead) <= signed(a))
    }
}

/// Of some windows of `query`'s clip and some of `b`, the two that are nearest to each other: the least of
/// the [distance matrix](super::distance_matrix), found without most of it. The length of the windows and
/// the weights are those of the query; where it starts does not matter. Ties go to the earlier frame in
/// the query's clip, then in `b`. `None` if [`Between::lead`] leaves nothing to compare.
///
/// # Errors
///
/// If the clips cannot be compared, or a range has no window.
pub fn closest_windows(
    query: &Query<'_>,
    b: &Features,
    between: &Between,
) -> Result<Option<Pair>, MatchError> {
    let window = query.frames().len();
    let starts = |clip: &Features, starts: &Range<usize>| {
        let found = starts_in(clip, window, starts);
        let frames = clip.frame_count();
        if found.is_empty() { Err(MatchError::TooShort { window, frames }) } else { Ok(found) }
    };
    let a_starts = starts(query.features(), &between.a_starts)?;
    let b_starts = starts(b, &between.b_starts)?;
    let own = query.moved_to(b)?;
    let plan = Plan::new(query, b)?;
    let is_long = window >= diagonals::LONG && !plan.parts.is_empty();
    if is_long && plan.frame_weights().is_none() {
        return Ok(diagonals::closest(&plan, between, [&a_starts, &b_starts]));
    }
    let mut sums = Sums::default();
    let within_a = Plan::new(query, query.features())?;
    let within_b = Plan::new(&own, b)?;
    let mut search = Search {
        between,
        a: SIZES.map(|size| Blocks::new(&within_a, &a_starts, size, &mut sums)),
        b: SIZES.map(|size| Blocks::new(&within_b, &b_starts, size, &mut sums)),
        plan,
        slack: ANGLES * query.weight().sqrt(),
        nearest: Nearest { best: None, sums },
    };
    // What looks best comes first: then most of the rest is not looked at.
    let every: Vec<usize> = (0..search.b[0].len()).collect();
    let mut rows: Vec<(f64, usize)> = Vec::new();
    for i in 0..search.a[0].len() {
        let least = search
            .compare(0, i..i + 1, &every)
            .first()
            .and_then(|near| near.iter().map(|(distance, _)| *distance).min_by(f64::total_cmp));
        rows.extend(least.map(|least| (least, i)));
    }
    rows.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
    for (_, i) in rows {
        search.descend(0, i..i + 1, &every);
    }
    Ok(search.nearest.pair())
}

/// Windows that follow each other, and how far they are from the middle one.
#[derive(Debug)]
struct Blocks {
    starts: Range<usize>,
    size: usize,
    /// Roots of sums.
    radii: Vec<f64>,
}

impl Blocks {
    /// The plan is that of a window in its own clip.
    fn new(plan: &Plan<'_>, starts: &Range<usize>, size: usize, sums: &mut Sums) -> Self {
        let mut blocks = Self { starts: starts.clone(), size, radii: Vec::new() };
        let count = starts.len().div_ceil(size);
        blocks.radii = (0..count).map(|i| blocks.radius(plan, i, sums)).collect();
        blocks
    }

    fn radius(&self, plan: &Plan<'_>, block: usize, sums: &mut Sums) -> f64 {
        if self.size == 1 {
            return 0.0;
        }
        let windows: Vec<usize> = self.windows(block).collect();
        let mut most = 0.0_f64;
        for some in windows.chunks(LANES) {
            let windows = (&[self.middle(block)][..], some);
            let found = sums.of(plan, Measure::Chords, windows, f64::INFINITY);
            most = found[0][..some.len()].iter().copied().fold(most, f64::max);
        }
        most.sqrt()
    }

    fn len(&self) -> usize {
        self.radii.len()
    }

    fn windows(&self, block: usize) -> Range<usize> {
        let start = self.starts.start + block * self.size;
        start..(start + self.size).min(self.starts.end)
    }

    fn middle(&self, block: usize) -> usize {
        let windows = self.windows(block);
        windows.start + windows.len() / 2
    }
}

/// Room for sums on their way.
#[derive(Debug, Default)]
struct Sums {
    sums: Vec<[f64; LANES]>,
    across: Vec<f64>,
}

impl Sums {
    /// From some windows of the query's clip to up to [`LANES`] of the other; what is behind these means
    /// nothing.
    fn of(
        &mut self,
        plan: &Plan<'_>,
        measure: Measure,
        (froms, starts): (&[usize], &[usize]),
        above: f64,
    ) -> &[[f64; LANES]] {
        let mut lanes = [starts[0]; LANES];
        lanes[..starts.len()].copy_from_slice(starts);
        self.sums.resize(froms.len(), [0.0; LANES]);
        plan.table(measure, (froms, &lanes), above, (&mut self.sums, &mut self.across));
        &self.sums
    }
}

/// The nearest two windows so far.
#[derive(Clone, Copy, Debug)]
struct Best {
    distance: f64,
    /// The root of the sum.
    root: f64,
    a: usize,
    b: usize,
}

/// What was found so far, and room to look.
#[derive(Debug, Default)]
pub(super) struct Nearest {
    best: Option<Best>,
    sums: Sums,
}

impl Nearest {
    /// The root of the sum of the nearest.
    pub(super) fn root(&self) -> f64 {
        self.best.map_or(f64::INFINITY, |best| best.root)
    }

    /// Whether windows from these on may be better than the best, which are the same if their distance is 0:
    /// then only earlier ones are. Where motion stands still that spares comparing all of it.
    pub(super) fn may_be_first(&self, first: (usize, usize)) -> bool {
        self.best.is_none_or(|best| best.distance > 0.0 || first < (best.a, best.b))
    }

    /// Takes two windows if they are nearer.
    pub(super) fn offer(&mut self, plan: &Plan<'_>, a: usize, b: usize) {
        let windows = (&[a][..], &[b][..]);
        let sum = self.sums.of(plan, Measure::Exact, windows, f64::INFINITY)[0][0];
        let root = sum.sqrt();
        let distance = plan.query.reported(sum);
        let is_better = self.best.is_none_or(|best| {
            let by_distance = distance.total_cmp(&best.distance);
            by_distance.then((a, b).cmp(&(best.a, best.b))).is_lt()
        });
        if is_better {
            self.best = Some(Best { distance, root, a, b });
        }
    }

    pub(super) fn pair(&self) -> Option<Pair> {
        let pair = |best: Best| Pair { a_frame: best.a, b_frame: best.b, distance: best.distance };
        self.best.map(pair)
    }
}

/// A block of the second clip, and how far its middle is from that of one of the first: if it matters.
type Near = Vec<(f64, usize)>;

struct Search<'a> {
    between: &'a Between,
    plan: Plan<'a>,
    /// By [`SIZES`].
    a: [Blocks; SIZES.len()],
    b: [Blocks; SIZES.len()],
    slack: f64,
    nearest: Nearest,
}

impl Search<'_> {
    /// The middles of two blocks that are farther apart have no windows that matter.
    fn reach(&self, radii: f64) -> f64 {
        (self.nearest.root() + radii) * (1.0 + 2.0 * ROUNDING) + self.slack
    }

    /// Compares the middles of some blocks of the first clip with those of some of the second. For each of
    /// the first, those that may have windows that matter.
    fn compare(&mut self, level: usize, blocks: Range<usize>, others: &[usize]) -> Vec<Near> {
        let froms: Vec<usize> = blocks.clone().map(|i| self.a[level].middle(i)).collect();
        let widest = blocks.clone().map(|i| self.a[level].radii[i]).fold(0.0, f64::max);
        let mut near = vec![Near::new(); froms.len()];
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        for some in others.chunks(LANES) {
            let starts: Vec<usize> = some.iter().map(|j| self.b[level].middle(*j)).collect();
            let radius =
                some.iter().map(|j| self.b[level].radii[*j]).fold(widest, |r, s| r.max(s + widest));
            let above = self.reach(radius);
            let windows = (&froms[..], &starts[..]);
            let sums =
                self.nearest.sums.of(&self.plan, Measure::Chords, windows, above * above).to_vec();
            for ((i, a), (sums, near)) in blocks.clone().zip(&froms).zip(sums.iter().zip(&mut near))
            {
                for ((j, b), sum) in some.iter().zip(&starts).zip(sums) {
                    let root = sum.sqrt();
                    if self.between.allows(*a, *b) && root <= self.reach(0.0) {
                        pairs.push((root, *a, *b));
                    }
                    let last = self.a[level].windows(i).end - 1;
                    let first = self.b[level].windows(*j).start;
                    if self.between.allows(last, first) && self.matters(level, i, (root, *j)) {
                        near.push((root, *j));
                    }
                }
            }
        }
        // The nearest, or all that may be the best.
        pairs.sort_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        let most = if SIZES[level] == 1 { pairs.len() } else { 1 };
        for (root, a, b) in pairs.into_iter().take(most) {
            if root <= self.reach(0.0) && self.nearest.may_be_first((a, b)) {
                self.nearest.offer(&self.plan, a, b);
            }
        }
        near
    }

    /// Whether two blocks whose middles are so far apart may have windows that matter.
    fn matters(&self, level: usize, block: usize, (root, other): (f64, usize)) -> bool {
        let (a, b) = (&self.a[level], &self.b[level]);
        let first = (a.windows(block).start, b.windows(other).start);
        root <= self.reach(a.radii[block] + b.radii[other]) && self.nearest.may_be_first(first)
    }

    /// Finds what matters in some blocks of the first clip and some of the second.
    fn descend(&mut self, level: usize, blocks: Range<usize>, others: &[usize]) {
        let near = self.compare(level, blocks.clone(), others);
        let Some(size) = SIZES.get(level + 1) else { return };
        let parts = SIZES[level] / size;
        let children =
            |block: usize, of: &Blocks| block * parts..((block + 1) * parts).min(of.len());
        for (i, mut near) in blocks.zip(near) {
            // Nearer ones first: they may rule out the others.
            near.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
            near.retain(|other| self.matters(level, i, *other));
            let next = &self.b[level + 1];
            let others: Vec<usize> = near.iter().flat_map(|(_, j)| children(*j, next)).collect();
            let blocks = children(i, &self.a[level + 1]);
            if !others.is_empty() {
                self.descend(level + 1, blocks, &others);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::{random_clip, skeleton};
    use super::*;
    use crate::edit::{Metric, distance_matrix};
    use crate::synth::Rng;

    /// The least of the whole matrix, of equals the first.
    fn brute(query: &Query<'_>, b: &Features, between: &Between) -> Option<Pair> {
        let Between { a_starts, b_starts, lead } = between.clone();
        let all = (usize::MAX, usize::MAX);
        let matrix = distance_matrix(query, a_starts, b, b_starts, all).unwrap();
        let mut best: Option<Pair> = None;
        for (row, a) in matrix.a_frames.iter().enumerate() {
            for (column, b) in matrix.b_frames.iter().enumerate() {
                let distance = matrix.distance(row, column);
                let far = lead.is_none_or(|lead| *b as i64 + lead <= *a as i64);
                if far && best.is_none_or(|best| distance < best.distance) {
                    best = Some(Pair { a_frame: *a, b_frame: *b, distance });
                }
            }
        }
        best
    }

    #[test]
    fn prop_the_nearest_pair_is_the_least_of_the_matrix() {
        let mut rng = Rng::new(12);
        let mut none = 0;
        for case in 0..150 {
            let names = ["a", "bb", "ccc", "dddd", "eeeee"];
            let s = skeleton(&names[..1 + rng.below(5)]);
            let metric = [Metric::Euler, Metric::Quaternion, Metric::Position][case % 3];
            // A few are long.
            let window = 1 + rng.below(30) + if case % 30 > 26 { diagonals::LONG } else { 0 };
            // Comparing all takes most of the time: a fifth have several of the largest blocks.
            let more = if case < 30 { 400 } else { 120 };
            let mut clip = |least: usize| {
                let frames = least + window + rng.below(more);
                random_clip(&mut rng, &s, frames)
            };
            let (one, two) = (clip(0), clip(0));
            let a = Features::of(&s, &one, metric).unwrap();
            let same = rng.chance(0.3);
            let b = if same { a.clone() } else { a.like(&s, &two).unwrap() };
            let mut query = Query::first(&a, window).unwrap();
            if rng.chance(0.3) {
                let weights: Vec<f64> = (0..window).map(|_| rng.below(3) as f64 + 0.1).collect();
                query = query
                    .with_frame_weights(&weights)
                    .and_then(|q| q.with_joint_weights(|name| name.len() as f64))
                    .unwrap();
            }
            let lead = rng.chance(0.6).then(|| rng.below(80) as i64 - 20);
            let mut between = Between { lead, ..Between::default() };
            if rng.chance(0.3) {
                between.a_starts = 0..1 + rng.below(50);
                between.b_starts = 0..1 + rng.below(50);
            }
            let found = closest_windows(&query, &b, &between).unwrap();
            assert_eq!(found, brute(&query, &b, &between), "{case}");
            none += usize::from(found.is_none());
        }
        assert!((1..75).contains(&none), "{none}");
    }

    #[test]
    fn motion_that_stands_still_is_not_compared_with_all_of_itself() {
        // Without a rule for equals these are 4 · 10⁸ pairs of windows.
        let s = skeleton(&["a", "bb", "ccc"]);
        let track =
            |j| crate::motion::Track::constant(crate::math::Rotation::IDENTITY, s[j].offset_m);
        let tracks = s.indices().map(track).collect();
        let rate = crate::motion::FrameRate::from_fps(60.0).unwrap();
        let still = crate::motion::Clip::new(20_000, rate, tracks).unwrap();
        let features = Features::of(&s, &still, Metric::Quaternion).unwrap();
        let query = Query::first(&features, 30).unwrap();
        let found = closest_windows(&query, &features, &Between::default()).unwrap();
        assert_eq!(found, Some(Pair { a_frame: 0, b_frame: 0, distance: 0.0 }));
        let between = Between { lead: Some(30), ..Between::default() };
        let found = closest_windows(&query, &features, &between).unwrap();
        assert_eq!(found, Some(Pair { a_frame: 30, b_frame: 0, distance: 0.0 }));
    }

    #[test]
    fn long_windows_of_long_motion_are_found_and_of_two_that_stand_still_only_the_first_are_compared()
     {
        // Compared one with the other this would be 10⁹ windows of 500 frames.
        let s = skeleton(&["a", "bb"]);
        let turn = |angle: &dyn Fn(usize, usize) -> f64| {
            let tracks = s.indices().map(|j| {
                let at = |f: usize| {
                    crate::math::Rotation::about_x(crate::math::Angle::from_radians(angle(
                        j.get(),
                        f,
                    )))
                };
                crate::motion::Track::turning((0..30_000).map(at).collect(), s[j].offset_m)
            });
            let rate = crate::motion::FrameRate::from_fps(60.0).unwrap();
            crate::motion::Clip::new(30_000, rate, tracks.collect()).unwrap()
        };
        let wave = |phase: f64, f: usize| {
            let t = f as f64;
            let sin = |x: f64| crate::math::trig::sin_cos(x).0;
            sin(0.02 * t + phase) + 0.7 * sin(0.0317 * t) + 0.5 * sin(1e-7 * t * t)
        };
        let one = turn(&|j, f| wave(j as f64, f));
        // The same from frame 9,000 on, 4,321 frames earlier, and another motion elsewhere.
        let other = turn(&|j, f| {
            if (9_000..9_700).contains(&f) {
                wave(j as f64, f + 4_321)
            } else {
                wave(2.0 * j as f64 + 1.0, 3 * f)
            }
        });
        for metric in [Metric::Euler, Metric::Quaternion] {
            let a = Features::of(&s, &one, metric).unwrap();
            let b = a.like(&s, &other).unwrap();
            let query = Query::first(&a, 500).unwrap();
            let found = closest_windows(&query, &b, &Between::default()).unwrap().unwrap();
            assert!((9_000..=9_200).contains(&found.b_frame), "{found:?}");
            assert!(found.a_frame == found.b_frame + 4_321 && found.distance < 1e-6, "{found:?}");
        }
        let still = |angle: f64| turn(&move |_, _| angle);
        let a = Features::of(&s, &still(0.3), Metric::Euler).unwrap();
        let b = a.like(&s, &still(-0.2)).unwrap();
        let query = Query::first(&a, 500).unwrap();
        let found = closest_windows(&query, &b, &Between::default()).unwrap().unwrap();
        assert!((found.a_frame, found.b_frame) == (0, 0) && found.distance > 1.0, "{found:?}");
        let between = Between { lead: Some(700), ..Between::default() };
        let found = closest_windows(&query, &b, &between).unwrap().unwrap();
        assert_eq!((found.a_frame, found.b_frame), (700, 0));
    }

    #[test]
    fn joints_in_another_order_have_the_same_nearest_pair() {
        let mut rng = Rng::new(2);
        let (s, t) = (skeleton(&["a", "bb", "ccc"]), skeleton(&["ccc", "a", "bb"]));
        let one = random_clip(&mut rng, &s, 150);
        let two = random_clip(&mut rng, &s, 180);
        let shuffled = crate::edit::onto(&t, &s, &two).unwrap().clip;
        let a = Features::of(&s, &one, Metric::Quaternion).unwrap();
        let query = Query::first(&a, 12)
            .and_then(|q| q.with_joint_weights(|name| 0.5 * name.len() as f64))
            .unwrap();
        let [b, c] = [(&s, &two), (&t, &shuffled)]
            .map(|(s, clip)| Features::of(s, clip, Metric::Quaternion).unwrap());
        let found = [&b, &c].map(|b| closest_windows(&query, b, &Between::default()).unwrap());
        assert_eq!(found[0], found[1]);
    }
}
