//! Frames that are wrong altogether.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::math::{Rotation, Rotations};

use super::samples::{apart, chord_squared, combined, dot, fill, row, rows, side};

/// Fewer samples than this are all kept: nothing can be told from them.
const FEW: usize = 30;

/// A glitch is at least so far from where it should be, radians (25°): real joints jerk by less from one
/// frame to the next, even fingers and toes at 30 frames per second.
const LEAST: f64 = 25.0 * (std::f64::consts::PI / 180.0);

/// The indices of glitch frames, rising, of frames that follow each other in time.
///
/// A glitch is a frame that lies far from the curve through its neighbours, compared with most frames;
/// that is farther from both of them than they are from each other, and than the frames around are. A
/// fast turn, or a sudden stop, is not. Where frames do not follow each other, see
/// [`isolated`](super::isolated). Of a joint that is constant, see [`spikes`].
pub(super) fn find(series: &Rotations, ordered: bool) -> Vec<usize> {
    let spikes = spikes(series);
    if !spikes.is_empty() || !ordered || series.len() < FEW {
        return spikes;
    }
    find_in_time(series)
}

/// Rotations nearer than this are the same: 0.05°, as the square of a chord, which is half the angle.
/// Files round angles to hundredths of a degree or finer, each of three.
const SAME: f64 = 1.9e-7;

/// And farther than this they are not: 0.6°, from which an axis counts.
const ELSEWHERE: f64 = 2.7e-5;

/// Of fewer frames, such as a dozen keyed poses, one that is elsewhere may be meant.
const LEAST_CONSTANT: usize = 20;

/// The frames in which a joint that is constant in all others is somewhere else, rising; none if it is
/// not constant.
///
/// Two such frames in a row at most, and one of fifty in all, but always one of [`LEAST_CONSTANT`]: a joint that
/// is bent for longer, or now and then, moves. How far it jumps does not matter here, since the rest is constant and
/// not only smooth.
pub(super) fn spikes(series: &Rotations) -> Vec<usize> {
    const PROBES: usize = 5;
    const IN_A_ROW: usize = 2;
    const SHARE: usize = 50;
    let n = series.len();
    if n < LEAST_CONSTANT {
        return Vec::new();
    }
    let columns = series.xyzw();
    let probe = |k: usize| row(&columns, (2 * k + 1) * n / (2 * PROBES));
    let same = |p: [f64; 4], q: [f64; 4]| chord_squared(p, q) <= SAME;
    // Where most of some frames are; one of the first three is among them.
    let is_usual = |p: &[f64; 4]| 2 * (0..PROBES).filter(|k| same(*p, probe(*k))).count() > PROBES;
    let Some(usual) = (0..PROBES.div_ceil(2)).map(probe).find(is_usual) else { return Vec::new() };
    let most = (n / SHARE).max(1);
    let (mut elsewhere, mut in_a_row) = (Vec::new(), 0);
    for i in 0..n {
        let off = chord_squared(usual, row(&columns, i));
        if off <= SAME {
            in_a_row = 0;
            continue;
        }
        in_a_row += 1;
        if off < ELSEWHERE || in_a_row > IN_A_ROW || elsewhere.len() == most {
            return Vec::new();
        }
        elsewhere.push(i);
    }
    elsewhere
}

/// Whether frames are much nearer to the next than to those far from them in time: most of them, or
/// on the whole, as where a joint rests and then moves.
pub(super) fn in_order(series: &Rotations) -> bool {
    let n = series.len();
    if n < 3 {
        return false;
    }
    let columns = series.xyzw();
    let near_frames = (n - 1).min(2048);
    let mut near = if near_frames == n - 1 {
        squared_steps(series)
    } else {
        // Evenly spread, and the same ones when time runs backwards.
        let at = |k: usize| (2 * k + 1) * (n - 1) / (2 * near_frames);
        (0..near_frames).map(|k| chord_squared_at(&columns, at(k), at(k) + 1)).collect()
    };
    let energy: f64 = near.iter().sum::<f64>() / near.len() as f64;
    if far_energy_exceeds(series, 4.0 * energy) {
        return true;
    }
    let mut far: Vec<[f64; 2]> = far_pairs(n).map(|pairs| two_squares(&columns, pairs)).collect();
    let far = far.as_flattened_mut();
    let median = |all: &mut [f64]| {
        let middle = all.len() / 2;
        *all.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    median(&mut near) < 0.35 * 0.35 * median(far)
}

/// Whether the mean squared chord between frames far from each other is more than a number.
///
/// It looks at no more frames than it takes to know.
pub(super) fn far_energy_exceeds(series: &Rotations, bound: f64) -> bool {
    let columns = series.xyzw();
    let pairs = far_pairs(series.len());
    let bound = bound * (2 * pairs.len()) as f64;
    let mut sum = 0.0;
    for pairs in pairs {
        let [one, other] = two_squares(&columns, pairs);
        sum = sum + one + other;
        // Squares only add to it.
        if sum > bound {
            return true;
        }
    }
    false
}

/// Pairs of frames that are a quarter of a clip or more from each other, all around the clip: by as many
/// different lags as there are pairs, so that no period hits them all. The same when time runs backwards:
/// each comes with the one that it is then.
fn far_pairs(n: usize) -> impl ExactSizeIterator<Item = [[usize; 2]; 2]> {
    let count = u32::try_from(n).unwrap_or(u32::MAX).min(1024).div_ceil(2);
    let (step, quarter, half) = (0.5 * n as f64 / f64::from(count), (n / 4).max(1), n as u64 / 2);
    (0..count).map(move |k| {
        // Without divisions, which would take as long as all the rest.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below n")]
        let i = (f64::from(2 * k + 1) * step) as u32 as usize;
        let i = i.min(n - 1);
        // Multiples of the golden ratio fall everywhere evenly.
        let part = (u64::from(k) * 40_503) % 65_536;
        let further = usize::try_from(part * half / 65_536).unwrap_or(0);
        let j = i + quarter + further;
        let j = if j < n { j } else { j - n };
        [[i, j], [n - 1 - i, n - 1 - j]]
    })
}

#[inline]
fn chord_squared_at(columns: &[&[f64]; 4], i: usize, j: usize) -> f64 {
    chord_squared(row(columns, i), row(columns, j))
}

/// The squared chords of two pairs of frames, both at a time.
#[inline]
fn two_squares(columns: &[&[f64]; 4], [[a, b], [c, d]]: [[usize; 2]; 2]) -> [f64; 2] {
    let [p, q] = [[a, c], [b, d]].map(|at| columns.map(|column| at.map(|i| column[i])));
    let of = |lane: usize| chord_squared(p.map(|c| c[lane]), q.map(|c| c[lane]));
    [of(0), of(1)]
}

/// The squared chord from every frame to the next.
fn squared_steps(series: &Rotations) -> Vec<f64> {
    let last = series.len().saturating_sub(1);
    let columns = series.xyzw();
    let (here, there) = (rows(columns, 0, last), rows(columns, series.len() - last, last));
    let mut squares = vec![0.0; last];
    fill(&mut squares, [here, there], |[here, there]| chord_squared(here, there));
    squares
}

/// The curve through two frames on each side, at the middle: the cubic through them.
fn predicted(at: [Rotation; 4]) -> Option<Rotation> {
    let [a, b, c, d] = at.map(Rotation::quat);
    let near = |q: glam::DQuat| if b.dot(q) < 0.0 { -q } else { q };
    let sum = (b + near(c)) * (4.0 / 6.0) - (near(a) + near(d)) * (1.0 / 6.0);
    Rotation::new(sum)
}

fn find_in_time(series: &Rotations) -> Vec<usize> {
    let n = series.len();
    let mut frames = Frames { series, links: Vec::new(), steps: Vec::new() };
    // What is off by less than a hair under the least is certainly no glitch.
    let hair = 1.0 - 1e-9;
    let cosines = frames.cosines();
    let off = |limit: f64| {
        let cos = cos_squared(limit);
        cosines.iter().enumerate().filter(move |(_, c)| **c < cos).map(|(i, _)| i)
    };
    let mut open: Vec<usize> = off(hair * LEAST).collect();
    if open.is_empty() {
        return Vec::new();
    }
    frames.steps = squared_steps(series).into_iter().map(|s| 2.0 * s.sqrt()).collect();
    // A median that is not above an eighth of the least does not count.
    let threshold = if off(LEAST / 8.0).count() < n - n / 2 {
        LEAST
    } else {
        let mut errors: Vec<f64> = (0..n).map(|i| frames.error(i).unwrap_or(0.0)).collect();
        let typical = *errors.select_nth_unstable_by(n / 2, f64::total_cmp).1;
        (8.0 * typical).max(LEAST)
    };
    open.retain(|&i| frames.error(i).is_some_and(|off| off > threshold));
    worst_first(frames, &open, threshold)
}

/// The glitches among open frames, which rise; at most a fifth of all frames.
///
/// The worst is left out first: its neighbours look bad as long as it is there. They are looked at
/// again then, two on each side, and nothing else has changed.
fn worst_first(mut frames: Frames<'_>, open: &[usize], threshold: f64) -> Vec<usize> {
    let n = frames.series.len();
    // The bits of positive numbers rise as the numbers do. Of equals the first frame comes first.
    let rank =
        |frames: &Frames<'_>, i: usize| Some((frames.glitch(i, threshold)?.to_bits(), Reverse(i)));
    let mut ranks: Vec<_> = open.iter().map(|&i| rank(&frames, i)).collect();
    let mut queue: BinaryHeap<_> = ranks.iter().flatten().copied().collect();
    let mut bad = Vec::new();
    while bad.len() < n / 5 {
        let Some(top) = queue.pop() else { break };
        let (_, Reverse(worst)) = top;
        let Ok(place) = open.binary_search(&worst) else { continue };
        // Looked at again since, or left out.
        if ranks[place] != Some(top) {
            continue;
        }
        ranks[place] = None;
        bad.push(worst);
        for i in frames.leave_out(worst).into_iter().flatten() {
            let Ok(place) = open.binary_search(&i) else { continue };
            ranks[place] = rank(&frames, i);
            queue.extend(ranks[place]);
        }
    }
    bad.sort_unstable();
    bad
}

/// The square of the cosine of half the angle between quaternions that are [`apart`] by so much.
fn cos_squared(apart: f64) -> f64 {
    let cos = 1.0 - apart * apart / 8.0;
    cos * cos
}

/// The frames of a series without those that are left out.
struct Frames<'a> {
    series: &'a Rotations,
    /// The frame before each and the one after, or a number that is none; empty as long as none is
    /// left out.
    links: Vec<[usize; 2]>,
    /// From each frame to the next, whether left out or not, radians.
    steps: Vec<f64>,
}

const BEFORE: usize = 0;
const AFTER: usize = 1;

impl Frames<'_> {
    /// The nearest frames on one side, the nearest first.
    fn beside(&self, i: usize, side: usize) -> [Option<usize>; 2] {
        let next = |i: usize| {
            let there = self.links.get(i).copied().unwrap_or([i.wrapping_sub(1), i + 1])[side];
            (there < self.series.len()).then_some(there)
        };
        let first = next(i);
        [first, first.and_then(next)]
    }

    /// Leaves a frame out that is not yet, and returns those that had it as a neighbour.
    fn leave_out(&mut self, i: usize) -> [Option<usize>; 4] {
        if self.links.is_empty() {
            self.links = (0..self.series.len()).map(|i| [i.wrapping_sub(1), i + 1]).collect();
        }
        let [before, after] = self.links[i];
        if let Some(links) = self.links.get_mut(before) {
            links[AFTER] = after;
        }
        if let Some(links) = self.links.get_mut(after) {
            links[BEFORE] = before;
        }
        let ([b, a], [c, d]) = (self.beside(i, BEFORE), self.beside(i, AFTER));
        [a, b, c, d]
    }

    /// How far a frame is off, if it is a glitch.
    fn glitch(&self, i: usize, threshold: f64) -> Option<f64> {
        self.error(i).filter(|off| *off > threshold && self.stands_apart(i))
    }

    /// How far a frame is from the curve through its neighbours; at the ends from the nearer of the
    /// line through the two next to it and the next itself.
    fn error(&self, i: usize) -> Option<f64> {
        let get = |i: Option<usize>| Some(self.series.at(i?));
        let here = self.series.at(i);
        let ([b, a], [c, d]) = (self.beside(i, BEFORE).map(get), self.beside(i, AFTER).map(get));
        if let ([Some(a), Some(b)], [Some(c), Some(d)]) = ([a, b], [c, d]) {
            return Some(apart(here, predicted([a, b, c, d])?));
        }
        let (next, after) = if a.is_none() { (c?, d?) } else { (b?, a?) };
        let line = next * after.inverse() * next;
        Some(apart(here, line).min(apart(here, next)))
    }

    /// What [`error`](Self::error) is of each frame, as the square of the cosine of half the angle,
    /// while none is left out; 1 or NaN if there is no curve. A quicker way, and to within rounding.
    fn cosines(&self) -> Vec<f64> {
        let n = self.series.len();
        let mut cosines = vec![1.0; n];
        let columns = self.series.xyzw();
        let (inner, frames) = (n.saturating_sub(4), n.min(4));
        let part = |skipped: usize| rows(columns, skipped.min(frames), inner);
        let (a, b, here, c, d) = (part(0), part(1), part(2), part(3), part(4));
        let middle = cosines.get_mut(2..2 + inner).unwrap_or_default();
        fill(middle, [a, b, here, c, d], |[a, b, here, c, d]| {
            // Six times the curve.
            let inner = combined([1.0, side(b, c)], [b, c]);
            let outer = combined([side(b, a), side(b, d)], [a, d]);
            let curve = combined([4.0, -1.0], [inner, outer]);
            let along = dot(here, curve);
            along * along / dot(curve, curve)
        });
        for i in [0, 1, n.wrapping_sub(2), n.wrapping_sub(1)] {
            if let (Some(cos), Some(error)) = (cosines.get_mut(i), self.error(i)) {
                *cos = cos_squared(error);
            }
        }
        cosines
    }

    /// Whether a frame is farther from frames before and after than these are from each other, and
    /// than frames around are. One beside it may be a glitch too, so the next but one counts as well.
    fn stands_apart(&self, i: usize) -> bool {
        const AROUND: usize = 8;
        let here = self.series.at(i);
        let get = |i: Option<usize>| Some(self.series.at(i?));
        let (before, after) = (self.beside(i, BEFORE).map(get), self.beside(i, AFTER).map(get));
        let mut farthest: f64 = 0.0;
        for (a, b) in [(0, 0), (0, 1), (1, 0)] {
            let nearest = match [before[a], after[b]] {
                [Some(before), Some(after)] => {
                    let nearest = apart(before, here).min(apart(here, after));
                    if apart(before, after) < nearest { nearest } else { 0.0 }
                }
                // At the ends there is only one side.
                [Some(only), None] | [None, Some(only)] => apart(only, here),
                [None, None] => 0.0,
            };
            farthest = farthest.max(nearest);
        }
        let (from, until) = (i.saturating_sub(AROUND), (i + AROUND).min(self.steps.len()));
        let mut local = [0.0; 2 * AROUND];
        let local = &mut local[..until - from];
        local.copy_from_slice(&self.steps[from..until]);
        let usual = *local.select_nth_unstable_by((until - from) / 2, f64::total_cmp).1;
        farthest > 1.8 * usual + 0.1 * LEAST
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Angle;
    use crate::synth::{Exploration, Figure, Glitches, Options, Rng, Synth};

    fn missed_and_wrong(exploration: Exploration, frames: usize) -> (usize, usize, usize) {
        let (mut missed, mut wrong, mut all) = (0, 0, 0);
        for seed in 0..6 {
            let options = Options {
                frames,
                exploration,
                noise: Angle::from_degrees(0.3),
                glitches: Glitches { share: 0.005, ..Glitches::default() },
                ..Options::default()
            };
            let figure = Figure::random(12, seed).unwrap();
            let synth = Synth::generate(&figure, &options, seed).unwrap();
            for joint in synth.skeleton.indices().skip(1) {
                let series = synth.clip.track(joint).rotations();
                // A joint that does not move has no order but that of its noise.
                if !in_order(series) {
                    continue;
                }
                let found = find(series, true);
                let truth: Vec<usize> =
                    synth.glitches[joint.get()].iter().map(|f| f.get()).collect();
                missed += truth.iter().filter(|t| !found.contains(t)).count();
                wrong += found.iter().filter(|f| !truth.contains(f)).count();
                all += truth.len();
            }
        }
        (missed, wrong, all)
    }

    #[test]
    fn motion_that_comes_again_is_in_order_and_poses_are_not() {
        let mut rng = Rng::new(3);
        for n in [80, 100, 1000, 5000] {
            // A third of the clip later everything is as before, or a quarter, or …
            for periods in [1.0, 2.0, 3.0, 4.0, 6.0] {
                let turn = |i: usize| {
                    let phase = Angle::from_degrees(360.0 * periods * i as f64 / n as f64);
                    Rotation::about_x(Angle::from_radians(
                        0.8 * crate::math::trig::sin(phase.radians()),
                    ))
                };
                let series: Rotations = (0..n).map(turn).collect();
                assert!(in_order(&series), "{n} {periods}");
                let mut order: Vec<usize> = (0..n).collect();
                rng.shuffle(&mut order);
                let shuffled: Rotations = order.into_iter().map(turn).collect();
                assert!(!in_order(&shuffled), "{n} {periods}");
            }
        }
    }

    #[test]
    fn glitches_on_a_path_are_found_and_hardly_anything_else() {
        for (exploration, frames) in
            [(Exploration::Full, 2000), (Exploration::Full, 600), (Exploration::Dwell, 2000)]
        {
            let (missed, wrong, all) = missed_and_wrong(exploration, frames);
            println!("{exploration:?} {frames}: {missed} of {all} missed, {wrong} wrong");
            assert_eq!(missed, 0, "{exploration:?} {frames}, of {all}");
            // Of some 130,000 frames.
            assert!(wrong <= 5, "{exploration:?} {frames}: {wrong}");
        }
    }

    /// The same, with every open frame looked at again each time: the judge of [`worst_first`].
    fn worst_first_by_scanning(
        mut frames: Frames<'_>,
        open: &[usize],
        threshold: f64,
    ) -> Vec<usize> {
        let n = frames.series.len();
        let mut bad = Vec::new();
        while bad.len() < n / 5 {
            let good = |i: &usize| !bad.contains(i);
            let before = |i: usize| (0..i).rev().find(good).unwrap_or(n);
            let after = |i: usize| (i + 1..n).find(good).unwrap_or(n);
            frames.links = (0..n).map(|i| [before(i), after(i)]).collect();
            let still = open.iter().copied().filter(good);
            let worst = still
                .filter_map(|i| Some((frames.glitch(i, threshold)?, i)))
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let Some((_, worst)) = worst else { break };
            bad.push(worst);
        }
        bad.sort_unstable();
        bad
    }

    #[test]
    fn prop_glitches_are_those_that_looking_at_all_frames_again_finds() {
        let [mut most, mut full] = [0; 2];
        arbtest::arbtest(|u| {
            let n = u.int_in_range(1..=60)?;
            let mut rng = Rng::new(u.arbitrary()?);
            // From none to all: alone, in runs, and several of the same size.
            let share = rng.uniform();
            let mut angle = 0.0;
            let series: Rotations = (0..n)
                .map(|_| {
                    let size = [0.0, 30.0, 60.0, 90.0, 120.0][rng.below(5)];
                    let jump = if rng.chance(share) { size } else { 0.0 };
                    angle += rng.normal();
                    Rotation::about_z(Angle::from_degrees(angle + jump))
                })
                .collect();
            let frames = || Frames {
                series: &series,
                links: Vec::new(),
                steps: squared_steps(&series).into_iter().map(|s| 2.0 * s.sqrt()).collect(),
            };
            let open: Vec<usize> =
                (0..n).filter(|i| frames().error(*i).is_some_and(|off| off > LEAST)).collect();
            let found = worst_first(frames(), &open, LEAST);
            assert_eq!(found, worst_first_by_scanning(frames(), &open, LEAST));
            most = most.max(found.len());
            full += usize::from(found.len() == n / 5 && n > 4);
            Ok(())
        });
        assert!(most > 3 && full > 0, "{most} {full}");
    }
}
