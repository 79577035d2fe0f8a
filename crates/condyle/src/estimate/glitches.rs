//! Frames that are wrong altogether.

use crate::math::{Rotation, Rotations};

use super::samples::apart;

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
    let distances = |lag: usize| -> Vec<f64> {
        // Evenly spread, and the same ones when time runs backwards.
        let (last, probes) = (n - lag, 2048.min(n - lag));
        let at = |k: usize| (2 * k + 1) * last / (2 * probes);
        (0..probes).map(|k| apart(series.at(at(k)), series.at(at(k) + lag))).collect()
    };
    let (mut near, mut far) = (distances(1), distances(n / 3));
    let energy = |all: &[f64]| all.iter().map(|d| d * d).sum::<f64>() / all.len() as f64;
    let whole = energy(&near) < 0.25 * energy(&far);
    let median = |all: &mut [f64]| {
        let middle = all.len() / 2;
        *all.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    whole || median(&mut near) < 0.35 * median(&mut far)
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
    let mut good: Vec<usize> = (0..n).collect();
    let steps: Vec<f64> = (1..n).map(|i| apart(series.at(i - 1), series.at(i))).collect();
    let errors: Vec<f64> = (0..n).map(|i| error(series, &good, i).unwrap_or(0.0)).collect();
    let mut sorted = errors.clone();
    let typical = *sorted.select_nth_unstable_by(n / 2, f64::total_cmp).1;
    let threshold = (8.0 * typical).max(LEAST);

    // The worst first: its neighbours look bad as long as it is there.
    let mut bad = Vec::new();
    let mut open: Vec<usize> = (0..n).filter(|&i| errors[i] > threshold).collect();
    let mut most = n / 5;
    while most > 0 {
        most -= 1;
        let worst = open
            .iter()
            .filter_map(|&i| {
                let at = good.binary_search(&i).ok()?;
                let off = error(series, &good, at)?;
                (off > threshold && stands_apart(series, &good, at, &steps)).then_some((off, i))
            })
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let Some((_, i)) = worst else { break };
        good.retain(|&g| g != i);
        open.retain(|&o| o != i);
        bad.push(i);
    }
    bad.sort_unstable();
    bad
}

/// How far the frame at a place in `good` is from the curve through its neighbours there; at the ends
/// from the nearer of the line through the two next to it and the next itself.
fn error(series: &Rotations, good: &[usize], at: usize) -> Option<f64> {
    let get = |i: usize| good.get(i).map(|&g| series.at(g));
    let here = get(at)?;
    if at >= 2
        && let (Some(c), Some(d)) = (get(at + 1), get(at + 2))
    {
        let curve = predicted([get(at - 2)?, get(at - 1)?, c, d])?;
        return Some(apart(here, curve));
    }
    let (next, after) = if at < 2 {
        (get(at + 1)?, get(at + 2)?)
    } else {
        (get(at - 1)?, get(at.checked_sub(2)?)?)
    };
    let line = next * after.inverse() * next;
    Some(apart(here, line).min(apart(here, next)))
}

/// Whether a frame is farther from frames before and after than these are from each other, and than
/// frames around are. One beside it may be a glitch too, so the next but one counts as well.
fn stands_apart(series: &Rotations, good: &[usize], at: usize, steps: &[f64]) -> bool {
    const AROUND: usize = 8;
    let here = series.at(good[at]);
    let get = |i: Option<usize>| i.and_then(|i| good.get(i)).map(|&i| series.at(i));
    let sides = |a: usize, b: usize| [get(at.checked_sub(a)), get(at.checked_add(b))];
    let mut farthest: f64 = 0.0;
    for (a, b) in [(1, 1), (1, 2), (2, 1)] {
        let nearest = match sides(a, b) {
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
    let (from, until) = (good[at].saturating_sub(AROUND), (good[at] + AROUND).min(steps.len()));
    let mut local: Vec<f64> = steps[from..until].to_vec();
    let middle = local.len() / 2;
    let usual = *local.select_nth_unstable_by(middle, f64::total_cmp).1;
    farthest > 1.8 * usual + 0.1 * LEAST
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
