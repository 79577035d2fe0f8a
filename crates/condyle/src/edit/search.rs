//! Where in other motion a window is found again.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::bound::{Bounds, Scratch};
use super::features::LANES;
use super::window::Plan;
use super::{Features, MatchError, Query};

/// Neighbouring windows that are bounded, and left out, together.
const SEGMENT: usize = 64;

/// Segments that are bounded at once, so that little is read twice.
const TILE: usize = 8;

/// So few candidates may gather, whatever the limit is.
const MANY: usize = 1 << 16;

/// How to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    /// How many windows to find. 1 unless set.
    pub count: usize,
    /// How many frames apart the starts of found windows are at least, within a clip. The length of the
    /// window unless set: no two share a frame. 0 is as 1.
    pub spacing: Option<usize>,
    /// The frames that a window may start at, in each clip. All unless set.
    pub starts: Range<usize>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { count: 1, spacing: None, starts: 0..usize::MAX }
    }
}

/// A window that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// Which clip, as they were given.
    pub clip: usize,
    /// Its first frame.
    pub frame: usize,
    /// From the query, in degrees or metres: see [`Query`].
    pub distance: f64,
}

/// A window with its distance: the less, the better; ties go to the earlier clip and frame.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// As it is reported.
    distance: f64,
    sum: f64,
    clip: usize,
    start: usize,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.distance.total_cmp(&other.distance).then(self.place().cmp(&other.place()))
    }
}

impl Candidate {
    fn place(&self) -> (usize, usize) {
        (self.clip, self.start)
    }

    fn is_before(&self, other: &Self) -> bool {
        self < other
    }
}

/// What was found so far, and what no longer matters.
///
/// Of windows that are `2 · spacing − 1` apart, each that is picked rules out one at most. So when `count`
/// of them are known the last pick is no worse than the worst of these, and nothing beyond that one matters.
#[derive(Debug)]
struct Found<'a> {
    query: &'a Query<'a>,
    count: usize,
    spacing: usize,
    /// `2 · spacing − 1` apart, best first and by their places.
    pillars: BTreeSet<Candidate>,
    by_place: BTreeMap<(usize, usize), Candidate>,
    /// Only what is before this matters.
    limit: Candidate,
    candidates: Vec<Candidate>,
    /// How many candidates may gather before those beyond the limit are thrown away.
    many: usize,
}

impl<'a> Found<'a> {
    fn new(query: &'a Query<'a>, count: usize, spacing: usize) -> Self {
        let limit = Candidate {
            distance: f64::INFINITY,
            sum: f64::INFINITY,
            clip: usize::MAX,
            start: usize::MAX,
        };
        Self {
            query,
            count,
            spacing: spacing.max(1),
            pillars: BTreeSet::new(),
            by_place: BTreeMap::new(),
            limit,
            candidates: Vec::new(),
            many: MANY,
        }
    }

    /// A window with a greater sum does not matter.
    ///
    /// Sums that differ in the last digits may be of the same distance, which takes a division, a root and
    /// a product to compute, each to half an ulp; below the normal numbers there are fewer digits.
    fn most(&self) -> f64 {
        self.limit.sum * (1.0 + 16.0 * f64::EPSILON) + 1e-290
    }

    fn offer(&mut self, sum: f64, clip: usize, start: usize) {
        // Written so that what is no number is left to the comparison of candidates.
        if sum > self.most() {
            return;
        }
        let new = Candidate { distance: self.query.reported(sum), sum, clip, start };
        if !new.is_before(&self.limit) {
            return;
        }
        self.candidates.push(new);
        let less = self.spacing.saturating_mul(2) - 2;
        let near = (clip, start.saturating_sub(less))..=(clip, start.saturating_add(less));
        // Two at most: they are apart themselves.
        let near: Vec<Candidate> = self.by_place.range(near).map(|(_, p)| *p).collect();
        if near.iter().any(|p| p.is_before(&new)) {
            return;
        }
        near.iter().for_each(|p| self.drop_pillar(p));
        self.pillars.insert(new);
        self.by_place.insert(new.place(), new);
        if self.pillars.len() > self.count
            && let Some(last) = self.pillars.last().copied()
        {
            self.drop_pillar(&last);
        }
        if self.pillars.len() == self.count
            && let Some(last) = self.pillars.last()
            && last.is_before(&self.limit)
        {
            self.limit = Candidate { start: last.start.saturating_add(1), ..*last };
        }
        if self.candidates.len() > self.many && self.limit.distance < f64::INFINITY {
            let limit = self.limit;
            self.candidates.retain(|c| c.is_before(&limit));
            self.many = MANY.max(2 * self.candidates.len());
        }
    }

    fn drop_pillar(&mut self, pillar: &Candidate) {
        self.pillars.remove(pillar);
        self.by_place.remove(&pillar.place());
    }

    /// The best, then the best that is far enough from it, and so on.
    fn picked(mut self) -> Vec<Candidate> {
        self.candidates.sort();
        let mut taken = BTreeSet::new();
        let mut picked = Vec::new();
        for c in self.candidates {
            if picked.len() == self.count {
                break;
            }
            let from = c.start.saturating_sub(self.spacing - 1);
            let to = c.start.saturating_add(self.spacing - 1);
            if taken.range((c.clip, from)..=(c.clip, to)).next().is_none() {
                taken.insert((c.clip, c.start));
                picked.push(c);
            }
        }
        picked
    }
}

/// The frames that windows of a clip may start at.
pub(super) fn starts_in(clip: &Features, window: usize, starts: &Range<usize>) -> Range<usize> {
    let end = (clip.frame_count() + 1).saturating_sub(window).min(starts.end);
    starts.start.min(end)..end
}

/// The windows that are nearest to the query, best first: the nearest of all, then the nearest that is
/// [far enough](SearchOptions::spacing) from it, and so on. Ties go to the earlier clip and frame. There
/// may be fewer than asked for. Clips that are shorter than the window have none.
///
/// What is found is exact. Windows are left out only by bounds that cannot be above their distance, and
/// distances are summed in one order: the same clips give the same bits, alone or among others.
///
/// ```
/// # use condyle::edit::{Features, Metric, Query, SearchOptions, best_matches};
/// # use condyle::synth::{Figure, Options, Synth};
/// # let made = Synth::generate(&Figure::human(), &Options::default(), 1)?;
/// # let features = Features::of(&made.skeleton, &made.clip, Metric::Quaternion)?;
/// let end = Query::last(&features, 20)?;
/// let options = SearchOptions { count: 3, starts: 0..200, ..SearchOptions::default() };
/// for found in best_matches(&end, &[&features], &options)? {
///     println!("frame {}: {:.1}°", found.frame, found.distance);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If a clip cannot be compared with the query, or no window starts in the range.
pub fn best_matches(
    query: &Query<'_>,
    clips: &[&Features],
    options: &SearchOptions,
) -> Result<Vec<Match>, MatchError> {
    let window = query.frames().len();
    let mut found = Found::new(query, options.count, options.spacing.unwrap_or(window));
    let mut plans = Vec::with_capacity(clips.len());
    for (i, clip) in clips.iter().enumerate() {
        let in_clip = |error| MatchError::InClip { clip: i, error: Box::new(error) };
        plans.push(Plan::new(query, clip).map_err(in_clip)?);
    }
    let searches: Vec<_> =
        plans.iter().map(|plan| (plan, starts_in(plan.clip, window, &options.starts))).collect();
    if searches.iter().all(|(_, starts)| starts.is_empty()) {
        let frames = clips.iter().map(|c| c.frame_count()).max().unwrap_or(0);
        return Err(MatchError::TooShort { window, frames });
    }
    if options.count > 0 {
        search(&searches, &mut found);
    }
    let report = |c: Candidate| Match { clip: c.clip, frame: c.start, distance: c.distance };
    Ok(found.picked().into_iter().map(report).collect())
}

/// Neighbouring windows of a clip, and a bound for all of them.
#[derive(Clone, Copy, Debug)]
struct Segment {
    bound: f64,
    clip: usize,
    start: usize,
    count: usize,
}

/// Offers every window that may matter.
fn search(searches: &[(&Plan<'_>, Range<usize>)], found: &mut Found<'_>) {
    let bounds: Vec<Bounds<'_>> = searches.iter().map(|(plan, _)| Bounds::new(plan)).collect();
    let mut segments: Vec<Segment> = Vec::new();
    for (clip, (_, starts)) in searches.iter().enumerate() {
        segments.extend(starts.clone().step_by(SEGMENT).map(|start| {
            let count = SEGMENT.min(starts.end - start);
            Segment { bound: 0.0, clip, start, count }
        }));
    }
    let scratch = Scratch::default();
    let mut search =
        SegmentSearch { searches, bounds: &bounds, found, scratch, without: 0, skipped: 0 };
    if bounds.iter().any(Bounds::are_indexed) {
        segments = search.by_index(segments);
    }
    search.bound_first(&mut segments);
    for segment in search.best_first(segments) {
        search.segment(segment);
    }
}

/// How many of the parts the first bounds are made of: those that say most.
fn first_parts(bounds: &Bounds<'_>) -> usize {
    bounds.len().div_ceil(8)
}

fn least(bounds: &[f32]) -> f64 {
    f64::from(bounds.iter().fold(f32::INFINITY, |least, x| if *x < least { *x } else { least }))
}

/// The search of one segment after the other.
#[derive(Debug)]
struct SegmentSearch<'a, 'q> {
    searches: &'a [(&'a Plan<'a>, Range<usize>)],
    bounds: &'a [Bounds<'a>],
    found: &'a mut Found<'q>,
    scratch: Scratch,
    /// For how many segments to do without further bounds, as they ruled out nothing lately.
    without: usize,
    /// For how many that was done already.
    skipped: usize,
}

impl SegmentSearch<'_, '_> {
    /// Searches some segments by their bounds, best first: then what is found is near the end, and little of
    /// the others is looked at, which are given back in their order.
    fn best_first(&mut self, mut segments: Vec<Segment>) -> Vec<Segment> {
        const FIRST: usize = 16;
        let first = self.found.count.saturating_mul(2).saturating_add(FIRST).min(segments.len());
        let place = |s: &Segment| (s.clip, s.start);
        let better = |a: &Segment, b: &Segment| {
            a.bound.total_cmp(&b.bound).then_with(|| place(a).cmp(&place(b)))
        };
        if first < segments.len() {
            segments.select_nth_unstable_by(first, better);
        }
        let mut others = segments.split_off(first);
        segments.sort_unstable_by(better);
        others.sort_unstable_by_key(place);
        for segment in segments {
            self.segment(segment);
        }
        others
    }

    /// Searches what looks best by the index and rules out by it, of the others, what it can.
    fn by_index(&mut self, mut segments: Vec<Segment>) -> Vec<Segment> {
        /// So many looks at all parts, and one in so many that is of use, are worth the next one.
        const LOOKS: usize = 32;
        const OF_USE: usize = 8;
        for s in &mut segments {
            let all = &self.bounds[s.clip];
            s.bound = all.of_all(0..first_parts(all), s.start, s.count);
        }
        let mut segments = self.best_first(segments);
        let (mut looks, mut of_use) = (0, 0);
        segments.retain(|s| {
            let all = &self.bounds[s.clip];
            let threshold = all.threshold(self.found.most());
            if s.bound > threshold {
                return false;
            }
            if looks >= LOOKS && of_use * OF_USE < looks {
                return true;
            }
            looks += 1;
            let ruled_out = all.of_all(0..all.len(), s.start, s.count) > threshold;
            of_use += usize::from(ruled_out);
            !ruled_out
        });
        segments
    }

    /// The least bound of every segment, from those parts that say most.
    fn bound_first(&mut self, segments: &mut [Segment]) {
        let follows = |a: &Segment, b: &Segment| a.clip == b.clip && a.start + a.count == b.start;
        let mut all = [0.0; TILE * SEGMENT];
        for run in segments.chunk_by_mut(follows) {
            for tile in run.chunks_mut(TILE) {
                let count = tile.iter().map(|s| s.count).sum();
                let of_tile = &mut all[..count];
                of_tile.fill(0.0);
                let bounds = &self.bounds[tile[0].clip];
                bounds.add(0..first_parts(bounds), tile[0].start, of_tile, &mut self.scratch);
                for (segment, bounds) in tile.iter_mut().zip(of_tile.chunks(SEGMENT)) {
                    segment.bound = least(bounds);
                }
            }
        }
    }

    /// Offers the windows of a segment that may matter.
    fn segment(&mut self, segment: Segment) {
        /// Motion without any structure costs this little more than a search without bounds: one part of it.
        const MOST_WITHOUT: usize = 63;
        let all = &self.bounds[segment.clip];
        if segment.bound > all.threshold(self.found.most()) {
            return;
        }
        let mut bounds = [0.0; SEGMENT];
        let bounds = &mut bounds[..segment.count];
        if self.skipped < self.without {
            self.skipped += 1;
            self.windows(segment, bounds);
            return;
        }
        if !self.may_matter(segment, bounds) {
            (self.without, self.skipped) = (0, 0);
            return;
        }
        let ruled_out = self.windows(segment, bounds);
        let without = if ruled_out { 0 } else { (2 * self.without + 1).min(MOST_WITHOUT) };
        (self.without, self.skipped) = (without, 0);
    }

    /// Adds up the bounds of a segment, until all are beyond what matters: then it is `false`.
    fn may_matter(&mut self, segment: Segment, bounds: &mut [f32]) -> bool {
        /// Columns between two looks at whether it is worth going on.
        const LOOK: usize = 8;
        let all = &self.bounds[segment.clip];
        let threshold = all.threshold(self.found.most());
        let mut done = 0;
        while done < all.len() {
            let to = (done + LOOK / all.columns()).min(all.len());
            all.add(done..to, segment.start, bounds, &mut self.scratch);
            if least(bounds) > threshold {
                return false;
            }
            done = to;
        }
        true
    }

    /// Computes those windows whose bounds are not beyond what matters, and says whether any was.
    fn windows(&mut self, segment: Segment, bounds: &[f32]) -> bool {
        let (plan, all) = (self.searches[segment.clip].0, &self.bounds[segment.clip]);
        let mut ruled_out = false;
        let mut sums = [0.0; LANES];
        for (i, group) in bounds.chunks(LANES).enumerate() {
            if least(group) > all.threshold(self.found.most()) {
                ruled_out = true;
                continue;
            }
            let start = segment.start + i * LANES;
            plan.sums(start, self.found.most(), &mut sums);
            for (lane, sum) in sums.iter().take(group.len()).enumerate() {
                self.found.offer(*sum, segment.clip, start + lane);
            }
        }
        ruled_out
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::edit::{Between, Metric, closest_windows, distance_matrix};
    use crate::math::{Angle, EulerOrder, Rotation};
    use crate::motion::{Clip, FrameRate, Track};
    use crate::skeleton::{Joint, Skeleton};
    use crate::synth::Rng;
    use glam::DVec3;

    /// A root with these joints.
    fn flat(names: &[&str]) -> Skeleton {
        let mut s = Skeleton::new();
        let root = s.add_root(Joint::new("root", DVec3::Y)).unwrap();
        for name in names {
            s.add(root, Joint::new(*name, DVec3::new(0.1, 0.2, 0.3))).unwrap();
        }
        s
    }

    /// The same with another joint at the end of each.
    pub(in crate::edit) fn skeleton(names: &[&str]) -> Skeleton {
        let mut s = flat(names);
        for name in names {
            let end = Joint::new(format!("{name}, end"), DVec3::new(-0.1, 0.5, 0.2));
            s.add(s.find(name).unwrap(), end).unwrap();
        }
        s
    }

    /// A clip from the rotation of each joint in each frame.
    fn clip(
        s: &Skeleton,
        frames: usize,
        mut rotation: impl FnMut(&str, usize) -> Rotation,
    ) -> Clip {
        let tracks = s
            .indices()
            .map(|j| {
                let all = (0..frames).map(|f| rotation(&s[j].name, f)).collect();
                Track::turning(all, s[j].offset_m)
            })
            .collect();
        Clip::new(frames, FrameRate::from_fps(60.0).unwrap(), tracks).unwrap()
    }

    fn about_z(degrees: f64) -> Rotation {
        Rotation::about_z(Angle::from_degrees(degrees))
    }

    /// Motion of some kind: noise, steps, smooth, constant, around half a turn.
    pub(in crate::edit) fn random_clip(rng: &mut Rng, s: &Skeleton, frames: usize) -> Clip {
        let kind = rng.below(5);
        let wave = [rng.between(0.02, 0.3), rng.between(0.0, 6.0), rng.between(0.1, 2.0)];
        let still = rng.rotation();
        let mut noise = rng.clone();
        rng.bits();
        clip(s, frames, |name, f| {
            let own = name.len() as f64;
            let angle = |d: f64| {
                let x = (f as f64 * wave[0] * (1.0 + 0.1 * d) + wave[1] + own + d) % 8.0;
                wave[2] * (if x < 4.0 { x - 2.0 } else { 6.0 - x })
            };
            let turn = |at: f64| {
                let angles = [angle(1.0) + at, 0.5 * angle(2.0), angle(3.0) + at];
                EulerOrder::ZYX.to_rotation(angles.map(Angle::from_radians)).unwrap()
            };
            match kind {
                0 => noise.rotation(),
                1 => about_z(45.0 * noise.below(8) as f64),
                2 => still,
                3 => turn(0.0),
                _ => turn(std::f64::consts::PI),
            }
        })
    }

    /// Eq 11 as it is written, from the features' numbers, in an order of its own.
    fn brute(
        query: (&Features, usize, &[f64], &[f64]),
        clip: &Features,
        start: usize,
        same_joint: &[usize],
    ) -> f64 {
        let (features, from, frame_weights, joint_weights) = query;
        let dims = if features.metric() == Metric::Quaternion { 4 } else { 3 };
        let mut sum = 0.0;
        for (f, frame_weight) in frame_weights.iter().enumerate() {
            let q: Vec<f64> = features.numbers(from + f).collect();
            let x: Vec<f64> = clip.numbers(start + f).collect();
            for (j, joint_weight) in joint_weights.iter().enumerate() {
                let q = &q[dims * j..][..dims];
                let x = &x[dims * same_joint[j]..][..dims];
                let square = match features.metric() {
                    Metric::Euler => {
                        let d = |i: usize| Angle::from_radians(x[i] - q[i]).wrapped().radians();
                        (0..3).map(|i| d(i) * d(i)).sum::<f64>()
                    }
                    Metric::Quaternion => {
                        let r = |v: &[f64]| Rotation::from_wxyz([v[3], v[0], v[1], v[2]]).unwrap();
                        let angle = r(x).distance(r(q)).radians();
                        angle * angle
                    }
                    Metric::Position => (0..3).map(|i| (x[i] - q[i]) * (x[i] - q[i])).sum(),
                };
                sum += frame_weight * joint_weight * square;
            }
        }
        let rms =
            (sum / (frame_weights.iter().sum::<f64>() * joint_weights.iter().sum::<f64>())).sqrt();
        if features.metric() == Metric::Position { rms } else { rms.to_degrees() }
    }

    /// The greedy choice over distances that are given, as the words have it.
    fn greedy(mut all: Vec<Match>, count: usize, spacing: usize) -> Vec<Match> {
        all.sort_by(|a, b| {
            a.distance.total_cmp(&b.distance).then((a.clip, a.frame).cmp(&(b.clip, b.frame)))
        });
        let mut found: Vec<Match> = Vec::new();
        for m in all {
            let free = |p: &Match| p.clip != m.clip || p.frame.abs_diff(m.frame) >= spacing.max(1);
            if found.len() < count && found.iter().all(free) {
                found.push(m);
            }
        }
        found
    }

    #[test]
    fn prop_what_is_found_is_what_comparing_every_window_finds_c4() {
        let mut rng = Rng::new(8);
        let mut several = 0;
        for case in 0..400 {
            let names = ["a", "bb", "ccc", "dddd"];
            let s = skeleton(&names[..1 + rng.below(4)]);
            let metric = [Metric::Euler, Metric::Quaternion, Metric::Position][case % 3];
            let longest = if rng.chance(0.1) { 80 } else { 24 };
            let window = 1 + rng.below(longest);
            let longer = rng.below(40);
            let source = random_clip(&mut rng, &s, window + longer);
            let source = Features::of(&s, &source, metric).unwrap();
            let from = rng.below(source.frame_count() - window + 1);
            let mut query = Query::new(&source, from..from + window).unwrap();
            let (mut frame_weights, mut joint_weights) =
                (vec![1.0; window], vec![1.0; source.joints().len()]);
            if rng.chance(0.4) {
                frame_weights.iter_mut().for_each(|w| *w = rng.below(4) as f64 * 0.7);
                frame_weights[rng.below(window)] = 2.0;
                query = query.with_frame_weights(&frame_weights).unwrap();
            }
            if rng.chance(0.4) {
                joint_weights.iter_mut().for_each(|w| *w = rng.below(3) as f64 * 0.3);
                let one = rng.below(joint_weights.len());
                joint_weights[one] = 1.5;
                let at = |name: &str| source.joints().position(|j| j == name).unwrap();
                query = query.with_joint_weights(|name| joint_weights[at(name)]).unwrap();
            }
            let mut clips: Vec<Features> = (0..1 + rng.below(3))
                .map(|_| {
                    let frames = 1 + rng.below(300);
                    source.like(&s, &random_clip(&mut rng, &s, frames)).unwrap()
                })
                .collect();
            // At times the query is found itself.
            clips.extend(rng.chance(0.5).then(|| source.clone()));
            let clips: Vec<&Features> = clips.iter().collect();
            let starts = if rng.chance(0.3) { 5..5 + rng.below(100) } else { 0..usize::MAX };
            let count = [1, 1, 2, 10, 1000][rng.below(5)];
            let spacing = [None, Some(0), Some(1), Some(7), Some(90)][rng.below(5)];
            let options = SearchOptions { count, spacing, starts: starts.clone() };

            let mut all = Vec::new();
            let mut worst = 0.0_f64;
            let same: Vec<usize> = (0..joint_weights.len()).collect();
            for (i, clip) in clips.iter().enumerate() {
                for frame in 0..clip.frame_count() {
                    if frame + window > clip.frame_count() || !starts.contains(&frame) {
                        continue;
                    }
                    let distance = query.distance(clip, frame).unwrap();
                    let wanted =
                        brute((&source, from, &frame_weights, &joint_weights), clip, frame, &same);
                    worst = worst.max((distance - wanted).abs() / (1.0 + wanted));
                    all.push(Match { clip: i, frame, distance });
                }
            }
            // Rounding of some thousand terms, and of angles near half a turn.
            assert!(worst < 1e-12, "{case}: {worst}");
            let indexed: Vec<Features> = clips.iter().map(|c| (*c).clone().indexed()).collect();
            let indexed: Vec<&Features> = indexed.iter().collect();
            let found = best_matches(&query, &clips, &options);
            assert_eq!(found, best_matches(&query, &indexed, &options), "{case}");
            match found {
                Ok(found) => {
                    let wanted = greedy(all, count, spacing.unwrap_or(window));
                    assert_eq!(found.len(), wanted.len(), "{case}");
                    several += usize::from(found.len() > 1);
                    for (f, w) in found.iter().zip(&wanted) {
                        assert_eq!(f.distance.to_bits(), w.distance.to_bits(), "{case}");
                        assert_eq!((f.clip, f.frame), (w.clip, w.frame), "{case}");
                    }
                }
                Err(error) => {
                    assert!(matches!(error, MatchError::TooShort { .. }), "{error}");
                    assert!(all.is_empty());
                }
            }
        }
        assert!(several > 100, "{several}");
    }

    #[test]
    fn long_clips_are_searched_as_exactly_as_short_ones() {
        // Many segments and tiles, so that bounds, their skipping and the order of the search matter.
        let mut rng = Rng::new(1);
        let s = skeleton(&["a", "bb", "ccc", "dddd", "eeeee", "ffffff", "g", "hh", "iii"]);
        for metric in [Metric::Euler, Metric::Quaternion, Metric::Position] {
            for _ in 0..5 {
                let long = random_clip(&mut rng, &s, 3000);
                let other = random_clip(&mut rng, &s, 40);
                let long = Features::of(&s, &long, metric).unwrap();
                let other = long.like(&s, &other).unwrap();
                for query in
                    [Query::new(&long, 1500..1531).unwrap(), Query::last(&other, 30).unwrap()]
                {
                    let all = (0..=3000 - query.frames().len())
                        .map(|frame| Match {
                            clip: 0,
                            frame,
                            distance: query.distance(&long, frame).unwrap(),
                        })
                        .collect();
                    let options = SearchOptions { count: 12, ..SearchOptions::default() };
                    let found = best_matches(&query, &[&long], &options).unwrap();
                    let indexed = best_matches(&query, &[&long.clone().indexed()], &options);
                    assert_eq!(found, indexed.unwrap());
                    assert_eq!(found, greedy(all, 12, query.frames().len()));
                }
            }
        }
    }

    #[test]
    fn c4_eq_11_is_the_weighted_sum_over_two_motions_by_hand() {
        // Trap: eq 11 as printed has one symbol for both motions, and would be zero always.
        let s = flat(&["a", "b"]);
        let one = clip(&s, 2, |name, f| about_z(if name == "a" { 10.0 * f as f64 } else { 0.0 }));
        let two = clip(&s, 2, |name, f| about_z(if name == "a" { 3.0 } else { 4.0 * f as f64 }));
        // Joint a: −3 and 7 degrees apart; joint b: 0 and −4.
        let (w_frame, w_a, w_b) = ([1.0, 0.5], 2.0, 3.0);
        let dist: f64 = 1.0 * (w_a * 9.0 + w_b * 0.0) + 0.5 * (w_a * 49.0 + w_b * 16.0);
        let wanted = (dist / (1.5 * 5.0)).sqrt();
        for metric in [Metric::Euler, Metric::Quaternion] {
            let (a, b) =
                (Features::of(&s, &one, metric).unwrap(), Features::of(&s, &two, metric).unwrap());
            let query = Query::first(&a, 2)
                .and_then(|q| q.with_frame_weights(&w_frame))
                .and_then(|q| q.with_joint_weights(|name| if name == "a" { w_a } else { w_b }))
                .unwrap();
            let found = best_matches(&query, &[&b], &SearchOptions::default()).unwrap();
            assert_eq!((found.len(), found[0].frame), (1, 0));
            assert!((found[0].distance - wanted).abs() < 1e-12, "{found:?} {wanted}");
        }
    }

    #[test]
    fn c4_trap_179_and_minus_179_degrees_are_2_degrees_apart() {
        let s = flat(&["a"]);
        let one = clip(&s, 1, |name, _| about_z(if name == "a" { 179.0 } else { 0.0 }));
        let two =
            clip(&s, 3, |name, f| about_z(if name == "a" { [0.0, -179.0, 170.0][f] } else { 0.0 }));
        for metric in [Metric::Euler, Metric::Quaternion] {
            let (a, b) =
                (Features::of(&s, &one, metric).unwrap(), Features::of(&s, &two, metric).unwrap());
            let query = Query::first(&a, 1).unwrap();
            let found = best_matches(&query, &[&b], &SearchOptions::default()).unwrap();
            assert_eq!(found[0].frame, 1);
            assert!((found[0].distance - 2.0).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn c4_positions_know_neither_place_nor_facing() {
        let s = skeleton(&["a", "b"]);
        let pose = |name: &str, f: usize| match name {
            "root" => Rotation::IDENTITY,
            _ => Rotation::about_x(Angle::from_degrees(5.0 * f as f64)),
        };
        let plain = clip(&s, 50, pose);
        let mut moved = plain.clone();
        let root = s.find("root").unwrap();
        for f in moved.frames() {
            moved.set_rotation(root, f, Rotation::about_y(Angle::from_degrees(100.0)));
            moved.set_translation_m(root, f, DVec3::new(7.0, 1.0, f64::from(f.0)));
        }
        let of = |c: &Clip| Features::of(&s, c, Metric::Position).unwrap();
        let (a, b) = (of(&plain), of(&moved));
        let found =
            best_matches(&Query::new(&a, 20..30).unwrap(), &[&b], &SearchOptions::default());
        let found = found.unwrap()[0];
        assert_eq!(found.frame, 20);
        assert!(found.distance < 1e-14, "{found:?}");
        // Heights count.
        for f in moved.frames() {
            moved.set_translation_m(root, f, DVec3::new(0.0, 1.5, 0.0));
        }
        let distance = Query::new(&a, 20..30).unwrap().distance(&of(&moved), 20).unwrap();
        assert!((distance - 0.5).abs() < 1e-12, "{distance}");
    }

    #[test]
    fn joints_are_matched_by_name_in_any_order_and_the_bits_stay() {
        let (s, t) = (skeleton(&["a", "bb", "ccc"]), skeleton(&["ccc", "a", "bb"]));
        let pose = |name: &str, f: usize| about_z((name.len() * name.len() * f) as f64);
        let (one, two) = (clip(&s, 60, pose), clip(&t, 60, pose));
        for metric in [Metric::Euler, Metric::Quaternion, Metric::Position] {
            let (a, b) =
                (Features::of(&s, &one, metric).unwrap(), Features::of(&t, &two, metric).unwrap());
            let query = Query::new(&a, 7..19)
                .and_then(|q| q.with_joint_weights(|name| name.len() as f64))
                .unwrap();
            let options = SearchOptions { count: 4, ..SearchOptions::default() };
            let found = best_matches(&query, &[&b], &options).unwrap();
            assert_eq!(found, best_matches(&query, &[&a], &options).unwrap());
            assert_eq!((found[0].frame, found[0].distance), (7, 0.0));
        }
    }

    #[test]
    fn forward_and_backward_and_all_pairs_agree_with_the_matrix() {
        let mut rng = Rng::new(5);
        let s = skeleton(&["a", "bb", "ccc"]);
        for metric in [Metric::Euler, Metric::Quaternion, Metric::Position] {
            let (one, two) = (random_clip(&mut rng, &s, 70), random_clip(&mut rng, &s, 90));
            let a = Features::of(&s, &one, metric).unwrap();
            let b = a.like(&s, &two).unwrap();
            let weights: Vec<f64> = (1..=12).map(f64::from).collect();
            let query = Query::first(&a, 12).and_then(|q| q.with_frame_weights(&weights)).unwrap();
            let matrix =
                distance_matrix(&query, 10..50, &b, 20..usize::MAX, (usize::MAX, usize::MAX))
                    .unwrap();
            assert_eq!((matrix.a_frames.len(), matrix.b_frames.len()), (40, 59));
            for (row, a_frame) in matrix.a_frames.iter().enumerate() {
                let query = Query::new(&a, *a_frame..a_frame + 12)
                    .and_then(|q| q.with_frame_weights(&weights))
                    .unwrap();
                for (column, b_frame) in matrix.b_frames.iter().enumerate() {
                    let distance = query.distance(&b, *b_frame).unwrap();
                    assert_eq!(distance.to_bits(), matrix.distance(row, column).to_bits());
                }
            }
            let small = distance_matrix(&query, 10..50, &b, 20..usize::MAX, (4, 5)).unwrap();
            assert_eq!(small.a_frames, [10, 23, 36, 49]);
            assert_eq!(small.b_frames, [20, 34, 49, 63, 78]);
            assert_eq!(small.distance(3, 4).to_bits(), matrix.distance(39, 58).to_bits());

            // Forward: the end of one clip in the other. Backward: the beginning in the one before.
            let forward =
                best_matches(&Query::last(&a, 12).unwrap(), &[&b], &SearchOptions::default());
            let nearest = |query: Query<'_>, clip: &Features, a_starts| {
                let between = Between { a_starts, ..Between::default() };
                closest_windows(&query, clip, &between).unwrap().unwrap()
            };
            let pair = nearest(Query::first(&a, 12).unwrap(), &b, 58..59);
            let forward = forward.unwrap()[0];
            assert_eq!((forward.frame, forward.distance), (pair.b_frame, pair.distance));
            let backward =
                best_matches(&Query::first(&b, 12).unwrap(), &[&a], &SearchOptions::default());
            let pair = nearest(Query::first(&b, 12).unwrap(), &a, 0..1);
            assert_eq!(backward.unwrap()[0].frame, pair.b_frame);
        }
    }

    #[test]
    fn what_cannot_be_compared_is_refused_with_a_reason() {
        let s = flat(&["a", "b"]);
        let still = |s: &Skeleton, frames| clip(s, frames, |_, _| Rotation::IDENTITY);
        let of = |s: &Skeleton, frames| Features::of(s, &still(s, frames), Metric::Euler);
        let a = of(&s, 20).unwrap();
        let go = |query: &Query<'_>, clip: &Features| {
            best_matches(query, &[&a, clip], &SearchOptions::default()).map(|m| m.len())
        };
        let query = Query::first(&a, 10).unwrap();

        let window = |start, end| MatchError::Window { start, end, frames: 20 };
        assert_eq!(Query::new(&a, 5..5).unwrap_err(), window(5, 5));
        assert_eq!(Query::new(&a, 15..21).unwrap_err(), window(15, 21));
        assert_eq!(Query::last(&a, 21).unwrap_err(), window(0, 21));
        assert_eq!(query.distance(&a, 11).unwrap_err(), window(11, 21));
        assert_eq!(query.distance(&a, usize::MAX).unwrap_err(), window(usize::MAX, usize::MAX));

        // A clip of one frame has no window of ten; alone that is an error.
        assert_eq!(go(&query, &of(&s, 1).unwrap()), Ok(1));
        let short = of(&s, 9).unwrap();
        let too_short = MatchError::TooShort { window: 10, frames: 9 };
        assert_eq!(
            best_matches(&query, &[&short], &SearchOptions::default()),
            Err(too_short.clone())
        );
        let nearest = closest_windows(&query, &short, &Between::default());
        assert_eq!(nearest, Err(too_short.clone()));
        assert_eq!(distance_matrix(&query, 0..20, &short, 0..20, (9, 9)), Err(too_short));
        assert!(best_matches(&query, &[], &SearchOptions::default()).is_err());
        let none = SearchOptions { starts: 11..30, ..SearchOptions::default() };
        assert!(best_matches(&query, &[&a], &none).is_err());

        let second = |error| MatchError::InClip { clip: 1, error: Box::new(error) };
        for (names, joint) in [(&["a", "c"][..], "b"), (&["a"], "b"), (&["a", "b", "c"], "c")] {
            let other = of(&flat(names), 20).unwrap();
            let error = MatchError::MissingJoint { joint: joint.to_owned() };
            assert_eq!(go(&query, &other), Err(second(error)));
        }
        let only_root = flat(&[]);
        assert_eq!(of(&only_root, 20).unwrap_err(), MatchError::NoJoints);
        assert!(Features::of(&only_root, &still(&only_root, 20), Metric::Position).is_ok());
        let wrong = Features::of(&only_root, &still(&s, 20), Metric::Euler).unwrap_err();
        assert_eq!(wrong, MatchError::JointCount { found: 3, expected: 1 });
        let positions = Features::of(&s, &still(&s, 20), Metric::Position).unwrap();
        assert_eq!(go(&query, &positions), Err(second(MatchError::Metric)));

        let tracks = still(&s, 20).tracks().to_vec();
        let faster = Clip::new(20, FrameRate::from_fps(120.0).unwrap(), tracks.clone()).unwrap();
        let error = go(&query, &Features::of(&s, &faster, Metric::Euler).unwrap()).unwrap_err();
        assert!(error.to_string().contains("resample"), "{error}");
        let rounded = FrameRate::from_frame_time(0.016_67).unwrap();
        let rounded = Clip::new(20, rounded, tracks).unwrap();
        assert_eq!(go(&query, &Features::of(&s, &rounded, Metric::Euler).unwrap()), Ok(1));

        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            let mut weights = [1.0; 10];
            weights[3] = bad;
            assert_eq!(
                query.clone().with_frame_weights(&weights).unwrap_err(),
                MatchError::BadWeight
            );
            assert_eq!(
                query.clone().with_joint_weights(|_| bad).unwrap_err(),
                MatchError::BadWeight
            );
        }
        assert_eq!(query.clone().with_frame_weights(&[0.0; 10]).unwrap_err(), MatchError::NoWeight);
        assert_eq!(query.clone().with_joint_weights(|_| 0.0).unwrap_err(), MatchError::NoWeight);
        let error = MatchError::WeightCount { found: 9, expected: 10 };
        assert_eq!(query.clone().with_frame_weights(&[1.0; 9]).unwrap_err(), error);

        let far = Clip::new(
            2,
            FrameRate::from_fps(60.0).unwrap(),
            s.indices().map(|_| Track::constant(Rotation::IDENTITY, DVec3::splat(1e300))).collect(),
        );
        let error = Features::of(&s, &far.unwrap(), Metric::Position).unwrap_err();
        assert!(matches!(error, MatchError::TooFar { .. }), "{error}");
    }

    #[test]
    fn joints_with_other_parents_or_rest_poses_are_compared_by_position_only() {
        let s = skeleton(&["a", "b"]);
        let mut hung = flat(&["a"]);
        let a = hung.find("a").unwrap();
        for (name, parent) in [("b", "root"), ("a, end", "b"), ("b, end", "b")] {
            let parent = hung.find(parent).unwrap_or(a);
            hung.add(parent, Joint::new(name, DVec3::new(-0.1, 0.5, 0.2))).unwrap();
        }
        let turned = s.changed(|j| {
            if j.name == "b" {
                j.rest = about_z(30.0);
            }
        });
        let bent = s.changed(|j| {
            if j.name == "b, end" {
                j.offset_m = DVec3::new(0.5, 0.1, 0.2);
            }
        });
        let parents = |found: &str, expected: &str| MatchError::OtherParent {
            joint: "a, end".to_owned(),
            found: Some(found.to_owned()),
            expected: Some(expected.to_owned()),
        };
        let still = |s: &Skeleton| clip(s, 20, |_, _| Rotation::IDENTITY);
        let options = SearchOptions::default();
        for other in [&hung, &turned, &bent] {
            for metric in [Metric::Euler, Metric::Quaternion, Metric::Position] {
                let ours = Features::of(&s, &still(&s), metric).unwrap();
                let query = Query::first(&ours, 5).unwrap();
                let like = ours.like(other, &still(other));
                let theirs = Features::of(other, &still(other), metric).unwrap();
                let found = best_matches(&query, &[&theirs], &options);
                if metric == Metric::Position {
                    assert!(like.is_ok() && found.is_ok());
                    continue;
                }
                let error = like.unwrap_err();
                assert_eq!(
                    found.unwrap_err(),
                    MatchError::InClip { clip: 0, error: Box::new(error.clone()) }
                );
                match &error {
                    MatchError::OtherRest { joint, degrees } => {
                        assert!(joint.starts_with('b') && *degrees > 25.0, "{error}");
                    }
                    other => assert_eq!(*other, parents("b", "a")),
                }
            }
        }
        // Bones that are longer, or point a little elsewhere, are the same figure.
        let longer = s.changed(|j| j.offset_m = j.offset_m * 1.3 + DVec3::splat(0.01));
        let ours = Features::of(&s, &still(&s), Metric::Quaternion).unwrap();
        assert!(ours.like(&longer, &still(&longer)).is_ok());
    }

    #[test]
    fn positions_are_the_same_whichever_axis_is_up_if_it_is_told() {
        use crate::edit::{Ground, with_up};
        let mut rng = Rng::new(3);
        // Names that nobody knows: y is taken for up.
        let s = skeleton(&["a", "bb"]);
        let plain = random_clip(&mut rng, &s, 40);
        let (z_up, moved) = with_up(&s, &plain, Ground::Y_UP, Ground::Z_UP).unwrap();
        let ours = Features::of(&s, &plain, Metric::Position).unwrap();
        let query = Query::new(&ours, 7..19).unwrap();
        let told = Features::on(&z_up, &moved, Metric::Position, Ground::Z_UP).unwrap();
        assert!(query.distance(&told, 7).unwrap() < 1e-12);
        let guessed = Features::of(&z_up, &moved, Metric::Position).unwrap();
        assert!(query.distance(&guessed, 7).unwrap() > 0.1);
        // What is told holds for what is compared with it.
        let again = told.like(&z_up, &moved).unwrap();
        assert!(query.distance(&again, 7).unwrap() < 1e-12);
    }

    #[test]
    fn very_many_matches_take_no_longer_than_sorting_them() {
        // Offers cost a logarithm of the count: with a scan of all that was found this takes minutes.
        let s = flat(&["a"]);
        let frames = 200_000;
        let mut rng = Rng::new(4);
        let noise = clip(&s, frames, |_, _| about_z(rng.between(-60.0, 60.0)));
        let features = Features::of(&s, &noise, Metric::Euler).unwrap();
        let query = Query::first(&features, 1).unwrap();
        let options = SearchOptions { count: frames, ..SearchOptions::default() };
        let found = best_matches(&query, &[&features], &options).unwrap();
        assert_eq!(found.len(), frames);
        assert!(found.is_sorted_by(|a, b| a.distance <= b.distance));
    }

    #[test]
    fn the_scale_of_weights_does_not_matter_however_extreme() {
        let mut rng = Rng::new(9);
        let s = skeleton(&["a", "bb"]);
        let a = Features::of(&s, &random_clip(&mut rng, &s, 80), Metric::Position).unwrap();
        let b = a.like(&s, &random_clip(&mut rng, &s, 80)).unwrap();
        let plain = Query::first(&a, 9).unwrap();
        let wanted = best_matches(&plain, &[&b], &SearchOptions::default()).unwrap();
        for scale in [5e-324, 1e-300, 1e300, f64::MAX] {
            let query = plain
                .clone()
                .with_frame_weights(&[scale; 9])
                .and_then(|q| q.with_joint_weights(|_| scale))
                .unwrap();
            assert_eq!(best_matches(&query, &[&b], &SearchOptions::default()).unwrap(), wanted);
        }
    }
}
