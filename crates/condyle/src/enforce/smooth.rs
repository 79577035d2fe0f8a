//! Motion inside limits, without pops.

use super::bound;
use super::roadmap::{Roadmap, apart, count, ratio};
use crate::limits::PreparedLimit;
use crate::math::{Angle, Rotation};
use glam::DVec3;

/// How to clamp without pops.
///
/// The nearest allowed rotation jumps where there are two of them: before the opening of a concave
/// region, opposite to it, in the middle of the gap of an arc. Such a pop is a step between two frames
/// that is larger than twice the largest step of the input within two frames, and than half of
/// [`step`](Self::step). It is replaced by a way inside the limit, and to have the time for it the
/// motion leaves early and arrives late: frames around the pop are changed even if they were allowed.
/// Pops whose times would overlap are taken as one: the motion waits where it is.
///
/// Besides, corners in time where the motion meets or leaves the limit are rounded off.
///
/// # What is promised
///
/// Every frame that is changed is allowed, and the others pass as without smoothing. No step between two frames is larger than the larger
/// of [`step`](Self::step) and four times the largest step of the input within two frames.
/// [`JointClamp::pops_left`](super::JointClamp::pops_left) counts the steps for which this does not
/// hold. They are there if the clip is too short for the way (one of 300° takes 150 frames with steps
/// of 6°), or if no way was found: because there is none, the limit being in several parts, or because
/// the search, on 700 rotations, misses it. Of 10,751 pops in random motion in nine limits it missed
/// none.
///
/// Frames that are farther from a pop than its way takes time, and farther than `ease_frames` from
/// where the motion meets the limit, are as without smoothing; if the whole clip passes, nothing
/// changes. A [pose in front of the motion](crate::motion::Clip::motion_start) is clamped by itself, and
/// moves no other frame. Velocities are continuous where the way begins and ends, but not bounded otherwise: this
/// is no filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothing {
    /// How far the joint may turn from one frame to the next for the sake of smoothness. 6° if not
    /// said: 720° a second at 120 frames per second. At least 0.1°.
    pub step: Angle,
    /// How many frames before and after it meets the limit its motion is rounded off; 4 if not said.
    pub ease_frames: usize,
}

impl Default for Smoothing {
    fn default() -> Self {
        Self { step: Angle::from_degrees(6.0), ease_frames: 4 }
    }
}

/// How many steps before and after count as near.
const NEAR: usize = 2;

/// The most frames to ease over: beyond, it would be a filter.
const MAX_EASE: usize = 64;

/// Motion inside a limit, and how it came to be.
#[derive(Debug)]
pub(super) struct Smoothed {
    pub(super) motion: Vec<Rotation>,
    pub(super) pops: usize,
    pub(super) pops_left: usize,
}

/// The allowed steps between frames: each of them between frame k and k + 1.
#[derive(Debug)]
struct Steps {
    /// Half of what is promised: beyond, it is a pop.
    half: Vec<f64>,
}

impl Steps {
    fn of(input: &[Rotation], step: f64) -> Self {
        let own: Vec<f64> = input.windows(2).map(|w| apart(w[0], w[1])).collect();
        let near = |k: usize| {
            let from = k.saturating_sub(NEAR);
            let to = (k + NEAR + 1).min(own.len());
            own[from..to].iter().copied().fold(0.0, f64::max)
        };
        Self { half: (0..own.len()).map(|k| (2.0 * near(k)).max(0.5 * step)).collect() }
    }

    /// Steps of this motion that are pops, or with `times = 2` more than was promised.
    fn beyond<'a>(
        &'a self,
        motion: &'a [Rotation],
        times: f64,
    ) -> impl Iterator<Item = usize> + 'a {
        let steps = motion.windows(2).zip(&self.half).enumerate();
        // A rounding error beyond is none.
        steps
            .filter(move |(_, (w, half))| apart(w[0], w[1]) > times * **half + 1e-9)
            .map(|(k, _)| k)
    }
}

/// A way in place of one or more pops.
#[derive(Debug)]
struct Detour {
    /// The first pop is between `leave` and the frame after, the last between `join` and the one
    /// before.
    leave: usize,
    join: usize,
    /// From the motion at `leave` to that at `join`; `None` if there is none.
    way: Option<Vec<Rotation>>,
    length: f64,
    /// The frames over which it is walked.
    start: usize,
    end: usize,
}

/// The motion that a limit allows, as near to this one as without pops possible; `None` if no frame is
/// outside by more than the slack, radians.
pub(super) fn smooth(
    limit: &PreparedLimit,
    input: &[Rotation],
    slack: f64,
    smoothing: &Smoothing,
) -> Option<Smoothed> {
    let moved: Vec<Option<Rotation>> =
        input.iter().map(|m| bound::nearest(limit, *m, slack)).collect();
    let touched: Vec<bool> = moved.iter().map(Option::is_some).collect();
    if !touched.contains(&true) {
        return None;
    }
    let nearest: Vec<Rotation> =
        moved.into_iter().zip(input).map(|(moved, m)| moved.unwrap_or(*m)).collect();
    let step = smoothing.step.radians();
    let step = if step.is_finite() { step.max(Angle::from_degrees(0.1).radians()) } else { 0.1 };
    let steps = Steps::of(input, step);
    let pops: Vec<usize> = steps.beyond(&nearest, 1.0).collect();
    let mut motion = nearest;
    if !pops.is_empty() {
        let detours = plan(limit, &motion, &pops, step);
        let before = motion.clone();
        detours.iter().for_each(|detour| take(limit, detour, &before, &mut motion));
    }
    let eased = ease(limit, &motion, &touched, smoothing.ease_frames.min(MAX_EASE));
    let left = steps.beyond(&motion, 2.0).count();
    let left_eased = steps.beyond(&eased, 2.0).count();
    // Easing blends neighbours, so it hardly ever makes a step larger. If it does, do without.
    let (motion, pops_left) = if left_eased <= left { (eased, left_eased) } else { (motion, left) };
    Some(Smoothed { motion, pops: pops.len(), pops_left })
}

/// Ways for all pops, whose times do not overlap.
fn plan(limit: &PreparedLimit, motion: &[Rotation], pops: &[usize], step: f64) -> Vec<Detour> {
    // No way is shorter than the straight one. What overlaps with that does so in any case.
    let straight = |leave: usize, join: usize| {
        Detour::new(leave, join, None, apart(motion[leave], motion[join]), motion.len() - 1, step)
    };
    let rough = apart_in_time(pops.iter().map(|&k| (k, k + 1)), straight);
    let roadmap = Roadmap::new(limit);
    let along = |leave: usize, join: usize| {
        let way = roadmap.way(motion[leave], motion[join]);
        let length = way.iter().flat_map(|w| w.windows(2)).map(|w| apart(w[0], w[1])).sum::<f64>();
        Detour::new(leave, join, way, length, motion.len() - 1, step)
    };
    apart_in_time(rough.iter().map(|d| (d.leave, d.join)), along)
}

/// Detours for given frames to leave and join at; those whose times overlap become one.
fn apart_in_time(
    pops: impl Iterator<Item = (usize, usize)>,
    detour: impl Fn(usize, usize) -> Detour,
) -> Vec<Detour> {
    let mut detours: Vec<Detour> = Vec::new();
    for (leave, join) in pops {
        let mut next = detour(leave, join);
        while let Some(before) = detours.pop_if(|before| before.end > next.start) {
            next = detour(before.leave.min(next.leave), next.join.max(before.join));
        }
        detours.push(next);
    }
    detours
}

impl Detour {
    fn new(
        leave: usize,
        join: usize,
        way: Option<Vec<Rotation>>,
        length: f64,
        last: usize,
        step: f64,
    ) -> Self {
        // At its fastest a smooth step is 1.5 times as fast as on average; half of the promise is
        // for the way, the other half for the motion itself.
        let frames = count(1.5 * length / (0.5 * step)).max(join - leave);
        let spare = frames - (join - leave);
        // Half before, half after, and what does not fit on the other side.
        let early = (spare / 2).min(leave).max(spare.saturating_sub(last - join).min(leave));
        let late = (spare - early).min(last - join);
        Self { leave, join, way, length, start: leave - early, end: join + late }
    }
}

/// Walks a detour: along the motion up to the pop, the way, and the motion behind it, as one line. Its
/// length is walked at the speed of the motion, and that of the way is added by a smooth step.
fn take(limit: &PreparedLimit, detour: &Detour, before: &[Rotation], motion: &mut [Rotation]) {
    let Some(way) = &detour.way else { return };
    let Detour { leave, join, start, end, .. } = *detour;
    let mut line: Vec<Rotation> = before[start..=leave].to_vec();
    line.extend(way.iter().skip(1));
    line.extend(&before[join + 1..=end]);
    // Where along the line its points are.
    let mut place = Vec::with_capacity(line.len());
    let mut length = 0.0;
    for (i, point) in line.iter().enumerate() {
        if i > 0 {
            length += apart(line[i - 1], *point);
        }
        place.push(length);
    }
    let (mut own, mut at) = (0.0, 0);
    for frame in start + 1..end {
        if frame <= leave || frame > join {
            own += apart(before[frame - 1], before[frame]);
        }
        let u = ratio(frame - start, end - start);
        let target = own + detour.length * u * u * (3.0 - 2.0 * u);
        while at + 1 < line.len() && place[at + 1] < target {
            at += 1;
        }
        let Some(&next) = line.get(at + 1) else { continue };
        let span = place[at + 1] - place[at];
        let t = if span > 0.0 { ((target - place[at]) / span).clamp(0.0, 1.0) } else { 1.0 };
        motion[frame] = limit.project(line[at].slerp(next, t));
    }
}

/// The motion with its corners rounded off where it meets or leaves the limit: there, each frame is
/// replaced by a mean of its neighbours, brought inside.
///
/// The mean is taken of rotation vectors as seen from the frame. In a convex limit it is inside.
fn ease(
    limit: &PreparedLimit,
    motion: &[Rotation],
    touched: &[bool],
    frames: usize,
) -> Vec<Rotation> {
    if frames == 0 {
        return motion.to_vec();
    }
    // How strongly each frame is eased: fully at a contact, less and less around it.
    let mut strength: Vec<f64> = vec![0.0; motion.len()];
    for k in 1..motion.len() {
        if touched[k - 1] == touched[k] {
            continue;
        }
        let from = k.saturating_sub(frames);
        let to = (k + frames).min(motion.len());
        for (frame, strength) in (from..to).zip(&mut strength[from..to]) {
            let off = if frame < k { k - 1 - frame } else { frame - k };
            let u = ratio(frames - off, frames);
            *strength = strength.max(u * u * (3.0 - 2.0 * u));
        }
    }
    let mean_at = |frame: usize| {
        let here = motion[frame];
        // As many before as after.
        let reach = frames.min(frame).min(motion.len() - 1 - frame);
        let (mut sum, mut weights) = (DVec3::ZERO, 1.0);
        for i in 1..=reach {
            let weight = ratio(frames + 1 - i, frames + 1);
            let (a, b) = (motion[frame - i], motion[frame + i]);
            sum += weight * ((here.inverse() * a).log() + (here.inverse() * b).log());
            weights += 2.0 * weight;
        }
        sum / weights
    };
    motion
        .iter()
        .enumerate()
        .map(|(frame, &here)| {
            if strength[frame] == 0.0 {
                return here;
            }
            Rotation::exp(strength[frame] * mean_at(frame))
                .map_or(here, |turn| limit.project(here * turn))
        })
        .collect()
}
