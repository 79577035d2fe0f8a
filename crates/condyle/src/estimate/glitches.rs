//! Frames that are wrong altogether.

use crate::math::{Rotation, Rotations};

use super::samples::{apart, chord_squared, combined, dot, fill, rows, side};

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
/// [`isolated`](super::isolated).
pub(super) fn find(series: &Rotations, ordered: bool) -> Vec<usize> {
    if series.len() < FEW || !ordered {
        return Vec::new();
    }
    find_in_time(series)
}

/// Whether frames are much nearer to the next than to those far from them in time: most of them, or
/// on the whole, as where a joint rests and then moves.
pub(super) fn in_order(series: &Rotations) -> bool {
    let n = series.len();
    if n < 3 {
        return false;
    }
    let squares = |lag: usize| -> Vec<f64> {
        // Evenly spread, and the same ones when time runs backwards.
        let (last, probes) = (n - lag, 2048.min(n - lag));
        if probes == last {
            return squared_steps(series, lag);
        }
        let at = |k: usize| (2 * k + 1) * last / (2 * probes);
        let q = |i: usize| series.at(i).quat().to_array();
        (0..probes).map(|k| chord_squared(q(at(k)), q(at(k) + lag))).collect()
    };
    let (mut near, mut far) = (squares(1), squares(n / 3));
    let energy = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let median = |all: &mut [f64]| {
        let middle = all.len() / 2;
        *all.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    energy(&near) < 0.25 * energy(&far) || median(&mut near) < 0.35 * 0.35 * median(&mut far)
}

/// The squared chord from every frame to the one so many later.
fn squared_steps(series: &Rotations, lag: usize) -> Vec<f64> {
    let last = series.len().saturating_sub(lag);
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
    let mut frames = Frames { series, left_out: vec![false; n], steps: Vec::new() };
    // What is off by less than a hair under the least is certainly no glitch.
    let hair = 1.0 - 1e-9;
    let cosines = frames.cosines();
    let off = |limit: f64| {
        let cos = cos_squared(limit);
        cosines.iter().enumerate().filter(move |(_, c)| **c < cos).map(|(i, _)| i)
    };
    let open: Vec<usize> = off(hair * LEAST).collect();
    if open.is_empty() {
        return Vec::new();
    }
    frames.steps = squared_steps(series, 1).into_iter().map(|s| 2.0 * s.sqrt()).collect();
    // A median that is not above an eighth of the least does not count.
    let threshold = if off(LEAST / 8.0).count() < n - n / 2 {
        LEAST
    } else {
        let mut errors: Vec<f64> = (0..n).map(|i| frames.error(i).unwrap_or(0.0)).collect();
        let typical = *errors.select_nth_unstable_by(n / 2, f64::total_cmp).1;
        (8.0 * typical).max(LEAST)
    };

    // The worst first: its neighbours look bad as long as it is there.
    let glitch = |frames: &Frames<'_>, i: usize| {
        frames.error(i).filter(|off| *off > threshold && frames.stands_apart(i))
    };
    let mut open: Vec<(usize, Option<f64>)> = open
        .into_iter()
        .filter(|&i| frames.error(i).is_some_and(|off| off > threshold))
        .map(|i| (i, glitch(&frames, i)))
        .collect();
    let mut bad = Vec::new();
    for _ in 0..n / 5 {
        let worst = open
            .iter()
            .filter_map(|&(i, off)| Some((off?, i)))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let Some((_, worst)) = worst else { break };
        bad.push(worst);
        frames.left_out[worst] = true;
        open.retain(|(i, _)| *i != worst);
        // Two on each side had it as a neighbour.
        let from = frames.before(worst, 2).unwrap_or(0);
        let until = frames.after(worst, 2).unwrap_or(n);
        let begin = open.partition_point(|(i, _)| *i < from);
        for (i, off) in open[begin..].iter_mut().take_while(|(i, _)| *i <= until) {
            *off = glitch(&frames, *i);
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
    left_out: Vec<bool>,
    /// From each frame to the next, whether left out or not, radians.
    steps: Vec<f64>,
}

impl Frames<'_> {
    /// The frame so many places earlier.
    fn before(&self, i: usize, count: usize) -> Option<usize> {
        (0..i).rev().filter(|i| !self.left_out[*i]).nth(count.checked_sub(1)?)
    }

    /// The frame so many places later.
    fn after(&self, i: usize, count: usize) -> Option<usize> {
        (i + 1..self.left_out.len()).filter(|i| !self.left_out[*i]).nth(count.checked_sub(1)?)
    }

    /// How far a frame is from the curve through its neighbours; at the ends from the nearer of the
    /// line through the two next to it and the next itself.
    fn error(&self, i: usize) -> Option<f64> {
        let get = |i: Option<usize>| Some(self.series.at(i?));
        let here = self.series.at(i);
        let [b, c] = [get(self.before(i, 1)), get(self.after(i, 1))];
        let [a, d] = [get(self.before(i, 2)), get(self.after(i, 2))];
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
        let before = [1, 2].map(|count| get(self.before(i, count)));
        let after = [1, 2].map(|count| get(self.after(i, count)));
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
    use crate::synth::{Exploration, Figure, Glitches, Options, Synth};

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
}
