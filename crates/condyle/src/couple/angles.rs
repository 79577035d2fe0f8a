//! The angles of all joints over time, at the same times.

use std::collections::HashMap;
use std::f64::consts::TAU;
use std::ops::Range;

use super::dice;
use crate::estimate::Take;
use crate::hash::ContentHash;
use crate::math::Angle;
use crate::rig::{AngleOf, JointAngle, Rig, RigJoint};

/// From one sample to the next, seconds: joints do not turn around faster.
const STEP_S: f64 = 1.0 / 60.0;

/// Of more motion than this, every other sample is taken, seconds.
const SHORT_S: f64 = 50.0;

/// The most samples of all takes together; of longer motion evenly spread stretches are taken.
const MOST: f64 = 20_000.0;

/// The length of such a stretch, seconds.
const STRETCH_S: f64 = 20.0;

/// An angle that moves less than this is taken not to move, radians: 3°.
const STILL: f64 = 3.0 * (std::f64::consts::PI / 180.0);

/// A figure slower than this share of how fast it usually is rests.
const RESTS: f64 = 0.15;

/// How fast it is shows over this time, seconds.
const AROUND_S: f64 = 0.3;

/// What was there before for as long is a repeat, seconds.
const REPEATED_S: f64 = 0.5;

/// All angles that move, and when.
pub(super) struct Angles {
    /// Which.
    pub(super) names: Vec<AngleOf>,
    /// Which joint of the rig each is of.
    pub(super) joints: Vec<usize>,
    /// Radians, of all stretches one after the other; NaN where a take has no such joint.
    pub(super) columns: Vec<Vec<f64>>,
    /// What follows each other in time.
    pub(super) stretches: Vec<Range<usize>>,
    /// Which take each is of.
    pub(super) takes: Vec<usize>,
    /// From one sample to the next.
    pub(super) step_s: f64,
    /// How many angles do not move.
    pub(super) still: usize,
    /// How much of the motion was there before, and is left out.
    pub(super) repeated_s: f64,
}

impl Angles {
    pub(super) fn of(takes: &[Take<'_>], rig: &Rig) -> Self {
        let motion_s: f64 = takes.iter().map(|take| take.clip.duration_s()).sum();
        let step_s = if motion_s > SHORT_S { 2.0 * STEP_S } else { STEP_S };
        let places = places(takes, motion_s, step_s);
        let mut stretches = Vec::new();
        let mut at = 0;
        for (_, frames) in &places {
            stretches.push(at..at + frames.len());
            at += frames.len();
        }
        let mut angles = Self {
            names: Vec::new(),
            joints: Vec::new(),
            columns: Vec::new(),
            stretches,
            takes: places.iter().map(|(take, _)| *take).collect(),
            step_s,
            still: 0,
            repeated_s: 0.0,
        };
        let known = rig.joints.any_left_out();
        let hashes: Vec<Option<ContentHash>> =
            takes.iter().map(|take| known.then(|| take.clip.content_hash())).collect();
        for (number, (name, joint)) in rig.joints.iter().enumerate() {
            for (angle, mut column) in columns(name, joint, takes, &places, &hashes) {
                if angle.goes_around() {
                    cut_in_the_largest_gap(&mut column);
                }
                if moves(&column, joint) {
                    angles.names.push(AngleOf { joint: name.to_owned(), angle });
                    angles.joints.push(number);
                    angles.columns.push(column);
                } else {
                    angles.still += 1;
                }
            }
        }
        angles.leave_out_rest();
        angles.leave_out_repeats();
        angles
    }

    /// Leaves out what was there before, sample by sample and for some time: the same clip twice, or a
    /// loop, is no further evidence.
    fn leave_out_repeats(&mut self) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few")]
        let least = (REPEATED_S / self.step_s) as usize;
        let samples = self.columns.first().map_or(0, Vec::len);
        let mut first_with: HashMap<u64, usize> = HashMap::with_capacity(samples);
        let mut kept = vec![true; samples];
        let mut run = 0..0;
        for i in 0..samples {
            let row = dice::seed_of_row(self.columns.iter().map(|column| column[i]));
            let same = |j: usize| {
                self.columns.iter().all(|c| c[i] == c[j] || (c[i].is_nan() && c[j].is_nan()))
            };
            let before = *first_with.entry(row).or_insert(i);
            // A pose that is held is no repeat of motion.
            let again = before < i && i - before >= least && same(before);
            run = if again && run.end == i { run.start..i + 1 } else { i..i + usize::from(again) };
            if run.len() == least {
                kept[run.clone()].fill(false);
            } else if run.len() > least {
                kept[i] = false;
            }
        }
        let left_out = kept.iter().filter(|kept| !**kept).count();
        #[allow(clippy::cast_precision_loss, reason = "counts are below 2^32")]
        let repeated_s = left_out as f64 * self.step_s;
        self.repeated_s = repeated_s;
        if left_out > 0 {
            self.retain(&kept);
        }
    }

    /// Leaves out the samples at which nothing moves: they tell that the figure rests, and not what moves
    /// with what.
    fn leave_out_rest(&mut self) {
        let mut kept: Vec<bool> = Vec::new();
        for stretch in &self.stretches {
            let speed = speed(&self.columns, stretch, self.step_s);
            let mut sorted = speed.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let least = RESTS * quantile(&sorted, 0.9);
            kept.extend(speed.iter().map(|v| *v >= least));
        }
        self.retain(&kept);
    }

    fn retain(&mut self, kept: &[bool]) {
        for column in &mut self.columns {
            let mut keep = kept.iter();
            column.retain(|_| keep.next().copied().unwrap_or(true));
        }
        let mut at = 0;
        for stretch in &mut self.stretches {
            let count = kept[stretch.clone()].iter().filter(|kept| **kept).count();
            *stretch = at..at + count;
            at += count;
        }
        let long: Vec<bool> = self.stretches.iter().map(|stretch| stretch.len() > 1).collect();
        let mut keep = long.iter();
        self.takes.retain(|_| keep.next().copied().unwrap_or(true));
        let mut keep = long.iter();
        self.stretches.retain(|_| keep.next().copied().unwrap_or(true));
    }
}

/// How fast all angles together go: by how much their means before and after differ.
fn speed(columns: &[Vec<f64>], stretch: &Range<usize>, step_s: f64) -> Vec<f64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few")]
    let half = ((0.5 * AROUND_S / step_s) as usize).max(1);
    let mut squares = vec![0.0; stretch.len()];
    for column in columns {
        let own = &column[stretch.clone()];
        if own.iter().any(|v| v.is_nan()) {
            continue;
        }
        let sums: Vec<f64> = std::iter::once(0.0)
            .chain(own.iter().scan(0.0, |sum, v| {
                *sum += v;
                Some(*sum)
            }))
            .collect();
        #[allow(clippy::cast_precision_loss, reason = "counts are below 2^32")]
        let mean = |from: usize, to: usize| (sums[to] - sums[from]) / (to - from).max(1) as f64;
        for (i, square) in squares.iter_mut().enumerate() {
            let (from, to) = (i.saturating_sub(half), (i + half).min(own.len()));
            let step = mean(i, to) - mean(from, i.max(from + 1).min(own.len()));
            *square += step * step;
        }
    }
    squares.into_iter().map(f64::sqrt).collect()
}

/// Which frames of which takes count: stretches of frames that are evenly spread in time.
fn places(takes: &[Take<'_>], motion_s: f64, step_s: f64) -> Vec<(usize, Vec<usize>)> {
    // Every stretch stands for so much motion.
    let every_s = STRETCH_S * (motion_s / (MOST * step_s)).max(1.0);
    let whole = every_s <= STRETCH_S;
    let mut places = Vec::new();
    let mut next_s = 0.0;
    for (number, take) in takes.iter().enumerate() {
        let rate_s = take.clip.rate().frame_time_s();
        let frames = take.clip.frame_count();
        let first = take.clip.motion_start();
        let duration_s = take.clip.duration_s();
        let mut spans = Vec::new();
        if whole {
            spans.push((0.0, duration_s));
        } else {
            while next_s < duration_s && spans.len() < frames {
                spans.push((next_s, (next_s + STRETCH_S).min(duration_s)));
                next_s += every_s;
            }
            next_s -= duration_s;
        }
        for (from_s, to_s) in spans {
            let frame = |i: u32| {
                let at = (from_s + f64::from(i) * step_s) / rate_s;
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it saturates, and is held against the count"
                )]
                let at = at.round() as usize;
                at
            };
            let mut chosen = Vec::new();
            for i in 0.. {
                let at = frame(i);
                if at >= frames || f64::from(i) * step_s > to_s - from_s + 0.5 * step_s {
                    break;
                }
                if at >= first && chosen.last() != Some(&at) {
                    chosen.push(at);
                }
            }
            if chosen.len() > 1 {
                places.push((number, chosen));
            }
        }
    }
    places
}

/// The angles of a joint. Frames that the estimate left out, or that have no such angle, keep the value
/// before.
fn columns(
    name: &str,
    joint: &RigJoint,
    takes: &[Take<'_>],
    places: &[(usize, Vec<usize>)],
    hashes: &[Option<ContentHash>],
) -> Vec<(JointAngle, Vec<f64>)> {
    let mut columns: Vec<(JointAngle, Vec<f64>)> =
        joint.angles().iter().map(|angle| (*angle, Vec::new())).collect();
    if columns.is_empty() {
        return columns;
    }
    for (number, frames) in places {
        let take = takes[*number];
        let left_out = joint.left_out_of(hashes.get(*number).copied().flatten());
        let own = take.skeleton.find(name).filter(|j| j.get() < take.clip.tracks().len());
        let Some(own) = own else {
            for (_, column) in &mut columns {
                column.extend(std::iter::repeat_n(f64::NAN, frames.len()));
            }
            continue;
        };
        let back = (take.skeleton[own].rest * joint.center).inverse();
        let start = columns[0].1.len();
        for frame in frames {
            let frame = crate::motion::FrameIndex(u32::try_from(*frame).unwrap_or(u32::MAX));
            let m = back * take.clip.rotation(own, frame);
            let counts = left_out.binary_search(&frame.0).is_err();
            for (angle, column) in &mut columns {
                let value = joint.angle(*angle, m).filter(|_| counts);
                let before = (column.len() > start).then(|| column[column.len() - 1]);
                column.push(value.or(before).unwrap_or(f64::NAN));
            }
        }
        // What comes before the first value is the first value.
        for (_, column) in &mut columns {
            let own = &mut column[start..];
            if let Some(first) = own.iter().position(|v| !v.is_nan()) {
                let value = own[first];
                own[..first].fill(value);
            }
        }
    }
    columns
}

/// Counts an angle that goes around from the middle of the largest gap between its values, in all takes alike: else
/// what goes through half a turn would be at both ends, and nothing that is fitted to it would be where it is. What
/// is nearer to where it was counted before, with more of the values, stays.
fn cut_in_the_largest_gap(column: &mut [f64]) {
    let mut sorted: Vec<f64> = column.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let [Some(first), Some(last)] = [sorted.first(), sorted.last()] else { return };
    // Where it is cut now.
    let mut widest = TAU - (last - first);
    let mut cut = None;
    for (i, pair) in sorted.windows(2).enumerate() {
        if pair[1] - pair[0] > widest {
            widest = pair[1] - pair[0];
            cut = Some((pair[0], i + 1));
        }
    }
    let Some((below, count)) = cut else { return };
    let fewer_above = sorted.len() - count < count;
    for value in column {
        if fewer_above && *value > below {
            *value -= TAU;
        } else if !fewer_above && *value <= below {
            *value += TAU;
        }
    }
}

/// Whether an angle goes farther than noise does.
fn moves(column: &[f64], joint: &RigJoint) -> bool {
    let mut sorted: Vec<f64> = column.iter().copied().filter(|v| v.is_finite()).collect();
    if sorted.len() < 2 {
        return false;
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let noise = joint.noise.map_or(0.0, Angle::radians);
    quantile(&sorted, 0.98) - quantile(&sorted, 0.02) > STILL.max(8.0 * noise)
}

/// What a share of sorted numbers is below; straight between them. Zero if there are none.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    #[allow(clippy::cast_precision_loss, reason = "counts are below 2^32")]
    let at = share.clamp(0.0, 1.0) * last as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the list")]
    let below = (at.floor() as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (at - at.floor()) * (sorted[above] - sorted[below])
}
#[cfg(test)]
impl Angles {
    /// Of one take, each angle of a joint of its own.
    pub(super) fn made(columns: Vec<Vec<f64>>, step_s: f64) -> Self {
        let name = |i: usize| AngleOf { joint: i.to_string(), angle: JointAngle::Turn };
        let (n, count) = (columns[0].len(), columns.len());
        Self {
            names: (0..count).map(name).collect(),
            joints: (0..count).collect(),
            columns,
            stretches: std::iter::once(0..n).collect(),
            takes: vec![0],
            step_s,
            still: 0,
            repeated_s: 0.0,
        }
    }
}
