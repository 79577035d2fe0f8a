//! Which dials come nearest to a motion, frame by frame (D12).

use super::dials::{DialSettings, DialSolver};
use super::goal::{Goal, Miss};
use super::random::random;
use crate::maps::{DialClip, Network};
use crate::math::Angle;
use crate::motion::{Clip, FrameIndex, Pose, World};
use crate::skeleton::{Joint, JointIndex, Skeleton};

/// Dials that were found for a motion.
#[derive(Clone, Debug)]
pub struct FittedDials {
    /// The dials of each frame.
    pub dials: DialClip,
    /// The frame that the motion begins with: 1 where frame 0 is a pose in front of it, which was fitted
    /// by itself.
    pub motion_start: usize,
    /// How far the joints that were looked at are from those of the motion.
    pub misses: Vec<FittedJoint>,
}

/// How near a joint comes to a motion.
#[derive(Clone, Copy, Debug)]
pub struct FittedJoint {
    /// The joint.
    pub joint: JointIndex,
    /// The root of the mean square of how far its rotation is off.
    pub rms: Angle,
    /// How far it is off at most,
    pub worst: Angle,
    /// and in which frame, from 0.
    pub worst_frame: usize,
    /// How far its place in its parent is off, if that counted.
    pub place: Option<FittedPlace>,
}

/// How near the place of a joint comes to a motion, in metres.
#[derive(Clone, Copy, Debug)]
pub struct FittedPlace {
    /// The root of the mean square.
    pub rms_m: f64,
    /// At most.
    pub worst_m: f64,
}

/// What of a motion dials should come near to.
#[derive(Clone, Copy, Debug)]
pub enum FitTo<'a> {
    /// The rotation of every joint that dials move, relative to its parent, and its place there if dials
    /// can shift it and the motion does. The motion is of this skeleton: its bones may have other lengths,
    /// see [`same_joints`]; from where its joints are at rest shifts are counted.
    Parents(&'a Skeleton),
    /// The rotations in the world of some joints, as of those that have motion after it was brought onto
    /// the skeleton from another; others are free. Joints that no dial moves are left out.
    World(&'a [JointIndex]),
}

/// So many other starts are tried for each of the joints that are missed most, so many of them at most.
const STARTS: usize = 8;
const JOINTS: usize = 8;
/// Of motion of another figure, which may not be had at all, in one frame out of so many.
const EVERY: usize = 16;
/// And there only for joints that are missed by so much more than what other starts led to before.
const WORSE: f64 = 1.2;
/// Frames that are nearer than this in all joints, in radians or metres, have no other start: of motion of
/// the figure itself, which can be had exactly, and of another's, 2°.
const GOOD: [f64; 2] = [1e-4, 0.035];
/// What other dials have to make of the cost to be taken.
const BETTER: f64 = 0.95;
/// And what dials that are in effect may cost more than others, in squares of radians and metres: 0.006°.
const WORTH: f64 = 1e-8;
/// How much a dial is drawn to where it was in the frame before, see [`DialSettings::posture`]: of motion
/// of the figure itself hardly, so that dials come back as they were; else so much that dials which
/// hardly matter do not jump. A dial that goes 2° further in a frame comes 0.006° short of it.
const PULL: [f64; 2] = [1e-10, 3e-3];
/// The same to rest in the first frame, which need not be near it.
const PULL_TO_REST: [f64; 2] = [1e-10, 1e-4];
/// A joint that is never farther from where it is at rest, in metres, is not shifted.
const SHIFTED_M: f64 = 1e-6;

/// Whether rotations of joints mean the same in two skeletons: names, parents and rest rotations are the
/// same, and bones point the same way at rest, whatever their lengths.
#[must_use]
pub fn same_joints(a: &Skeleton, b: &Skeleton) -> bool {
    a.parents() == b.parents() && a.joints().iter().zip(b.joints()).all(|(a, b)| alike(a, b))
}

/// Whether rotations of two joints mean the same.
pub(super) fn alike(a: &Joint, b: &Joint) -> bool {
    /// A degree, and the square of its sine.
    const NEAR: f64 = 0.017;
    const NEAR_SQUARED: f64 = 3e-4;
    let (p, q) = (a.offset_m, b.offset_m);
    let apart = p.cross(q).length_squared();
    let along = apart <= NEAR_SQUARED * p.length_squared() * q.length_squared();
    a.name == b.name && a.rest.distance(b.rest).radians() <= NEAR && along && p.dot(q) >= 0.0
}

impl FittedDials {
    /// The dials of the motion, without those of a pose in front of it.
    #[must_use]
    pub fn motion(&self) -> DialClip {
        self.dials.from_frame(self.motion_start)
    }
}

impl DialSolver<'_> {
    /// The dials that come nearest to each frame of a motion of the network's skeleton.
    ///
    /// Each is looked for from those of the frame before, and drawn to them a little, so that dials that
    /// do not matter stay where they are. Where limits hold and where two ways lead to nearly the same
    /// pose, that may end beside what is best. So frames that are missed have other starts, too, the same
    /// ones every time; and what is better there goes on to the frames before and after, as far as it is
    /// better there. What is better has less of misses and of steps between frames together. A
    /// [pose in front](Clip::motion_start) of the motion is fitted by itself, and does not count in what is
    /// said of misses. `done` is told how many of three times all frames are done.
    ///
    /// # Panics
    ///
    /// If the clip is of another skeleton.
    pub fn fit_clip(
        &mut self,
        network: &Network,
        skeleton: &Skeleton,
        clip: &Clip,
        to: FitTo<'_>,
        settings: &DialSettings<'_>,
        mut done: impl FnMut(usize),
    ) -> FittedDials {
        let moved = |joint: &JointIndex| network.moves(*joint);
        let joints: Vec<JointIndex> = match to {
            FitTo::Parents(_) => skeleton.indices().filter(moved).collect(),
            FitTo::World(joints) => joints.iter().copied().filter(moved).collect(),
        };
        let places: Vec<JointIndex> = match to {
            FitTo::Parents(source) => {
                let shifted = |j: &JointIndex| network.shifts(*j) && shifts(clip, source, *j);
                joints.iter().copied().filter(shifted).collect()
            }
            FitTo::World(_) => Vec::new(),
        };
        let rest: Vec<f64> = network.dials().iter().map(|dial| dial.rest).collect();
        let all: Vec<FrameIndex> = clip.frames().collect();
        let frames = all.len();
        let scales = self.scales().to_vec();
        let mut seen = Seen {
            skeleton,
            clip,
            to,
            joints: &joints,
            places: &places,
            scales,
            world: World::new(),
        };
        let own = matches!(to, FitTo::Parents(_));
        let good = seen.good();
        let goals: Vec<JointIndex> = joints.iter().chain(&places).copied().collect();
        // What other starts made of each joint when they were tried last.
        let mut tried = vec![0.0; goals.len()];
        let mut found: Vec<Frame> = Vec::with_capacity(frames);
        let motion_start = clip.motion_start();
        for &frame in &all {
            let first = found.is_empty() || found.len() == motion_start;
            let before = found.last().filter(|_| !first);
            let before = before.map_or(rest.as_slice(), |before| &before.wanted);
            let near = Near::new(before, seen.pull(first));
            let mut best = seen.from(self, frame, before, near, settings);
            let worth = |best: &Frame, k: usize| {
                let miss = best.misses[k];
                miss > good && (own || miss > WORSE * tried[k])
            };
            let mut worst: Vec<usize> = (0..best.misses.len()).collect();
            worst.sort_by(|a, b| best.misses[*b].total_cmp(&best.misses[*a]));
            worst.truncate(JOINTS);
            let any = worst.iter().any(|k| worth(&best, *k));
            if any && (own || frame.get() % EVERY == 0) {
                best.improve(seen.from(self, frame, &rest, near, settings), &seen, &[near]);
                let mut seed = frame.get() as u64;
                for &k in &worst {
                    for _ in 0..STARTS {
                        if !worth(&best, k) {
                            break;
                        }
                        // Other dials for this joint alone.
                        let mut start = best.wanted.clone();
                        for dial in network.dials_of(goals[k]) {
                            let [min, max] = network.dials()[*dial].range;
                            start[*dial] = min + (max - min) * random(&mut seed);
                        }
                        let mut other = seen.from(self, frame, &start, near, settings);
                        if seen.cost(&other, &[near]) < BETTER * seen.cost(&best, &[near]) {
                            for dial in network.dials_of(goals[k]) {
                                seen.calm(self, frame, &mut other, *dial, before[*dial], settings);
                            }
                            other = seen.given(self, frame, other, settings);
                        }
                        best.improve(other, &seen, &[near]);
                    }
                }
                tried.clone_from(&best.misses);
            }
            found.push(best);
            done(found.len());
        }
        // To the frames before, and then to those after.
        let pull = seen.pull(false);
        for (pass, backward) in [true, false].into_iter().enumerate() {
            let moving = frames - motion_start;
            for i in 1..moving {
                let (from, to) = if backward { (moving - i, moving - i - 1) } else { (i - 1, i) };
                let (from, to) = (from + motion_start, to + motion_start);
                if found[from].changed {
                    let start = found[from].wanted.clone();
                    let near = Near::new(&start, pull);
                    let other = seen.from(self, all[to], &start, near, settings);
                    // The frame on the other side counts as well.
                    let beyond = if backward { to.checked_sub(1) } else { Some(to + 1) };
                    let beyond = beyond.filter(|k| *k >= motion_start);
                    let beyond = beyond.and_then(|k| found.get(k)).map(|k| k.wanted.clone());
                    let mut beside = vec![near];
                    beside.extend(beyond.as_deref().map(|dials| Near::new(dials, pull)));
                    found[to].improve(other, &seen, &beside);
                }
                done((pass + 1) * frames + i + 1);
            }
        }
        let mut dials = DialClip::new(clip.rate(), rest.len());
        found.iter().for_each(|frame| dials.push(&frame.dials));
        let of = |k: usize| {
            let (mut squares, mut worst, mut worst_frame) = (0.0, 0.0_f64, 0);
            for (i, frame) in found.iter().enumerate().skip(motion_start) {
                let off = frame.misses[k];
                squares += off * off;
                if off > worst {
                    (worst, worst_frame) = (off, i);
                }
            }
            let counted = frames - motion_start;
            // Of equal misses the mean is above the worst by its rounding.
            ((squares / counted.max(1) as f64).sqrt().min(worst), worst, worst_frame)
        };
        let misses = joints.iter().enumerate().map(|(k, joint)| {
            let (rms, worst, worst_frame) = of(k);
            let [rms, worst] = [rms, worst].map(Angle::from_radians);
            let place = places.iter().position(|placed| placed == joint).map(|k| {
                let (rms_m, worst_m, _) = of(joints.len() + k);
                FittedPlace { rms_m, worst_m }
            });
            FittedJoint { joint: *joint, rms, worst, worst_frame, place }
        });
        FittedDials { misses: misses.collect(), motion_start, dials }
    }
}

/// Whether a motion of a skeleton shifts a joint in its parent.
fn shifts(clip: &Clip, skeleton: &Skeleton, joint: JointIndex) -> bool {
    let rest = skeleton[joint].offset_m;
    clip.track(joint).translations_m().iter().any(|place| place.distance(rest) > SHIFTED_M)
}

/// Dials that others should be near, and what the square of the distance counts.
#[derive(Clone, Copy)]
struct Near<'a> {
    dials: &'a [f64],
    pull: f64,
}

impl<'a> Near<'a> {
    const fn new(dials: &'a [f64], pull: f64) -> Self {
        Self { dials, pull }
    }
}

/// What was found for a frame.
struct Frame {
    /// In effect.
    dials: Vec<f64>,
    /// The same, but what a bound holds as it would be without: from there the frames beside it go on. A
    /// shoulder that a raised arm lifts, and nothing else tells of, is lowered with the arm.
    wanted: Vec<f64>,
    /// Of every joint, radians, and then of every place, metres.
    misses: Vec<f64>,
    /// Whether it is better than what the frame before led to.
    changed: bool,
}

impl Frame {
    fn squares(&self) -> f64 {
        self.misses.iter().map(|miss| miss * miss).sum()
    }

    fn missed(&self, good: f64) -> bool {
        self.misses.iter().any(|miss| *miss > good)
    }

    /// The same, with what bounds may hold as it was before they did.
    fn wanting(mut self, solver: &DialSolver<'_>, wanted: &[f64]) -> Self {
        for (d, value) in self.wanted.iter_mut().enumerate() {
            if solver.is_bounded(d) {
                *value = wanted[d];
            }
        }
        self
    }

    /// Takes another if that is better, beside others.
    fn improve(&mut self, other: Self, seen: &Seen<'_>, beside: &[Near<'_>]) {
        if seen.cost(&other, beside) < BETTER * seen.cost(self, beside) {
            *self = Self { changed: true, ..other };
        }
    }
}

/// A motion that dials are looked for.
struct Seen<'a> {
    skeleton: &'a Skeleton,
    clip: &'a Clip,
    to: FitTo<'a>,
    joints: &'a [JointIndex],
    places: &'a [JointIndex],
    /// Of dials, see [`DialSettings::posture`].
    scales: Vec<f64>,
    world: World,
}

impl Seen<'_> {
    /// Which of two numbers holds.
    const fn foreign(&self) -> usize {
        match self.to {
            FitTo::Parents(_) => 0,
            FitTo::World(_) => 1,
        }
    }

    const fn good(&self) -> f64 {
        GOOD[self.foreign()]
    }

    const fn pull(&self, to_rest: bool) -> f64 {
        if to_rest { PULL_TO_REST[self.foreign()] } else { PULL[self.foreign()] }
    }

    /// What is made least, for a frame beside others: half the squares of misses, and of how far dials are
    /// from where they should be near.
    fn cost(&self, frame: &Frame, beside: &[Near<'_>]) -> f64 {
        let apart = |near: &Near<'_>| -> f64 {
            let both = frame.wanted.iter().zip(near.dials).zip(&self.scales);
            near.pull
                * both
                    .map(|((a, b), scale)| {
                        let off = (a - b) / scale;
                        off * off
                    })
                    .sum::<f64>()
        };
        0.5 * (frame.squares() + beside.iter().map(apart).sum::<f64>())
    }

    /// The dials of a frame, looked for from some, and drawn to others.
    fn from(
        &mut self,
        solver: &mut DialSolver<'_>,
        frame: FrameIndex,
        start: &[f64],
        near: Near<'_>,
        settings: &DialSettings<'_>,
    ) -> Frame {
        let settings = DialSettings { posture: Some((near.dials, near.pull)), ..*settings };
        let mut best = self.solve(solver, frame, start, &settings);
        // A dial that a bound held on the way is free to go the other way from there.
        for _ in 0..3 {
            if !best.missed(self.good()) {
                break;
            }
            let again = self.solve(solver, frame, &best.wanted, &settings);
            if again.squares() >= BETTER * best.squares() {
                break;
            }
            best = again;
        }
        self.given(solver, frame, best, &settings)
    }

    /// The dials of what limits give, if they still hold some back: other joints may depend on these, as a
    /// shoulder on how high its arm is raised, and are not farther from where they should be for it, or
    /// hardly.
    fn given(
        &mut self,
        solver: &mut DialSolver<'_>,
        frame: FrameIndex,
        found: Frame,
        settings: &DialSettings<'_>,
    ) -> Frame {
        let mut start = found.dials.clone();
        if !solver.give(&mut start) {
            return found;
        }
        let still = DialSettings { steps: 0, posture: None, ..*settings };
        let given = self.solve(solver, frame, &start, &still);
        if given.squares() > found.squares() / BETTER + WORTH {
            return found;
        }
        given.wanting(solver, &found.wanted)
    }

    /// Brings a dial back to where it was, if nothing is the worse for it.
    fn calm(
        &mut self,
        solver: &mut DialSolver<'_>,
        frame: FrameIndex,
        found: &mut Frame,
        dial: usize,
        value: f64,
        settings: &DialSettings<'_>,
    ) {
        let still = DialSettings { steps: 0, posture: None, ..*settings };
        let mut start = found.wanted.clone();
        start[dial] = value;
        let calm = self.solve(solver, frame, &start, &still);
        if calm.squares() <= 1.000_1 * found.squares() + 1e-12 {
            *found = calm.wanting(solver, &start);
        }
    }

    fn solve(
        &mut self,
        solver: &mut DialSolver<'_>,
        frame: FrameIndex,
        start: &[f64],
        settings: &DialSettings<'_>,
    ) -> Frame {
        let mut pose: Pose = self.clip.pose(frame);
        let mut dials = start.to_vec();
        match self.to {
            FitTo::Parents(source) => {
                for joint in self.places {
                    let longer = self.skeleton[*joint].offset_m - source[*joint].offset_m;
                    pose.translations_m[joint.get()] += longer;
                }
                solver.fit(&mut dials, &pose, self.places, settings)
            }
            FitTo::World(_) => {
                self.world.update(self.skeleton, &pose);
                let turned = |j: &JointIndex| Goal::rotation(*j, self.world.rotations[j.get()]);
                let goals: Vec<Goal> = self.joints.iter().map(turned).collect();
                solver.reach(&mut dials, &pose, &goals, settings)
            }
        };
        let misses = solver.misses().iter().map(|miss: &Miss| miss.value()).collect();
        let wanted = solver.wanted(&dials);
        Frame { dials, wanted, misses, changed: false }
    }
}
