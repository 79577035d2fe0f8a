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
}

/// What of a motion dials should come near to.
#[derive(Clone, Copy, Debug)]
pub enum FitTo<'a> {
    /// The rotation of every joint that dials move, relative to its parent.
    Parents,
    /// The rotations in the world of some joints, as of those that have motion after it was brought onto
    /// the skeleton from another; others are free. Joints that no dial moves are left out.
    World(&'a [JointIndex]),
}

/// So many other starts are tried for each of the joints that are missed most, so many of them at most.
const STARTS: usize = 8;
const JOINTS: usize = 8;
/// Of motion of another figure, which may not be had at all, in one frame out of so many.
const EVERY: usize = 16;
/// Frames that are nearer than this in all joints, in radians, have no other start: of motion of the
/// figure itself, which can be had exactly, and of another's, 2°.
const GOOD: [f64; 2] = [1e-4, 0.035];
/// What other dials have to make of the squares of misses to be taken.
const BETTER: f64 = 0.95;
/// How much a dial is drawn to where it was in the frame before, see [`DialSettings::posture`]: of motion
/// of the figure itself hardly, so that dials come back as they were; else so much that dials which
/// hardly matter do not jump.
const PULL: [f64; 2] = [1e-10, 1e-4];

/// Whether rotations of joints mean the same in two skeletons: names, parents and rest rotations are the
/// same, and bones point the same way at rest, whatever their lengths.
#[must_use]
pub fn same_joints(a: &Skeleton, b: &Skeleton) -> bool {
    /// A degree, and the square of its sine.
    const NEAR: f64 = 0.017;
    const NEAR_SQUARED: f64 = 3e-4;
    let alike = |a: &Joint, b: &Joint| {
        let (p, q) = (a.offset_m, b.offset_m);
        let apart = p.cross(q).length_squared();
        let along = apart <= NEAR_SQUARED * p.length_squared() * q.length_squared();
        a.name == b.name && a.rest.distance(b.rest).radians() <= NEAR && along && p.dot(q) >= 0.0
    };
    a.parents() == b.parents() && a.joints().iter().zip(b.joints()).all(|(a, b)| alike(a, b))
}

impl DialSolver<'_> {
    /// The dials that come nearest to each frame of a motion of the network's skeleton.
    ///
    /// Each is looked for from those of the frame before, and drawn to them a little, so that dials that
    /// do not matter stay where they are. Where limits hold and where two ways lead to nearly the same
    /// pose, that may end beside what is best. So frames that are missed have other starts, too, the same
    /// ones every time; and what is better there goes on to the frames before and after, as far as it is
    /// better there. `done` is told how many of three times all frames are done.
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
            FitTo::Parents => skeleton.indices().filter(moved).collect(),
            FitTo::World(joints) => joints.iter().copied().filter(moved).collect(),
        };
        let rest: Vec<f64> = network.dials().iter().map(|dial| dial.rest).collect();
        let all: Vec<FrameIndex> = clip.frames().collect();
        let frames = all.len();
        let mut seen = Seen { skeleton, clip, to, joints: &joints, world: World::new() };
        let own = matches!(to, FitTo::Parents);
        let good = seen.good();
        let mut found: Vec<Frame> = Vec::with_capacity(frames);
        for &frame in &all {
            let before = found.last().map_or_else(|| rest.clone(), |before| before.dials.clone());
            let mut best = seen.from(self, frame, [&before, &before], settings);
            if best.missed(good) && (own || frame.get() % EVERY == 0) {
                best.improve(seen.from(self, frame, [&rest, &before], settings));
                let mut seed = frame.get() as u64;
                let mut worst: Vec<usize> = (0..joints.len()).collect();
                worst.sort_by(|a, b| best.misses[*b].total_cmp(&best.misses[*a]));
                for k in worst.into_iter().take(JOINTS) {
                    for _ in 0..STARTS {
                        if best.misses[k] <= good {
                            break;
                        }
                        // Other dials for this joint alone.
                        let mut start = best.dials.clone();
                        for dial in network.dials_of(joints[k]) {
                            let [min, max] = network.dials()[*dial].range;
                            start[*dial] = min + (max - min) * random(&mut seed);
                        }
                        let mut other = seen.from(self, frame, [&start, &before], settings);
                        if other.squares() < BETTER * best.squares() {
                            for dial in network.dials_of(joints[k]) {
                                seen.calm(self, frame, &mut other, *dial, before[*dial], settings);
                            }
                        }
                        best.improve(other);
                    }
                }
            }
            found.push(best);
            done(found.len());
        }
        // To the frames before, and then to those after.
        for (pass, backward) in [true, false].into_iter().enumerate() {
            for i in 1..frames {
                let (from, to) = if backward { (frames - i, frames - i - 1) } else { (i - 1, i) };
                if found[from].changed || pass > 0 && found[to].missed(good) {
                    let start = found[from].dials.clone();
                    let other = seen.from(self, all[to], [&start, &start], settings);
                    found[to].improve(other);
                }
                done((pass + 1) * frames + i + 1);
            }
        }
        let mut dials = DialClip::new(clip.rate(), rest.len());
        found.iter().for_each(|frame| dials.push(&frame.dials));
        let misses = joints.iter().enumerate().map(|(k, joint)| {
            let (mut squares, mut worst, mut worst_frame) = (0.0, 0.0_f64, 0);
            for (i, frame) in found.iter().enumerate() {
                let off = frame.misses[k];
                squares += off * off;
                if off > worst {
                    (worst, worst_frame) = (off, i);
                }
            }
            let rms = (squares / frames.max(1) as f64).sqrt();
            let [rms, worst] = [rms, worst].map(Angle::from_radians);
            FittedJoint { joint: *joint, rms, worst, worst_frame }
        });
        FittedDials { misses: misses.collect(), dials }
    }
}

/// What was found for a frame.
struct Frame {
    dials: Vec<f64>,
    /// Of every joint, radians.
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

    /// Takes another if that is better, and says so.
    fn improve(&mut self, other: Self) -> bool {
        let better = other.squares() < BETTER * self.squares();
        if better {
            *self = Self { changed: true, ..other };
        }
        better
    }
}

/// A motion that dials are looked for.
struct Seen<'a> {
    skeleton: &'a Skeleton,
    clip: &'a Clip,
    to: FitTo<'a>,
    joints: &'a [JointIndex],
    world: World,
}

impl Seen<'_> {
    /// Which of two numbers holds.
    const fn foreign(&self) -> usize {
        match self.to {
            FitTo::Parents => 0,
            FitTo::World(_) => 1,
        }
    }

    const fn good(&self) -> f64 {
        GOOD[self.foreign()]
    }

    /// The dials of a frame, looked for from some, and drawn to others.
    fn from(
        &mut self,
        solver: &mut DialSolver<'_>,
        frame: FrameIndex,
        [start, near]: [&[f64]; 2],
        settings: &DialSettings<'_>,
    ) -> Frame {
        let pull = PULL[self.foreign()];
        let settings = DialSettings { posture: Some((near, pull)), ..*settings };
        let mut best = self.solve(solver, frame, start, &settings);
        // A dial that a bound held on the way is free to go the other way from there.
        for _ in 0..3 {
            if !best.missed(self.good()) {
                break;
            }
            let again = self.solve(solver, frame, &best.dials, &settings);
            if again.squares() >= BETTER * best.squares() {
                break;
            }
            best = again;
        }
        best
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
        let mut start = found.dials.clone();
        start[dial] = value;
        let calm = self.solve(solver, frame, &start, &still);
        if calm.squares() <= 1.000_1 * found.squares() + 1e-12 {
            *found = calm;
        }
    }

    fn solve(
        &mut self,
        solver: &mut DialSolver<'_>,
        frame: FrameIndex,
        start: &[f64],
        settings: &DialSettings<'_>,
    ) -> Frame {
        let pose: Pose = self.clip.pose(frame);
        let mut dials = start.to_vec();
        match self.to {
            FitTo::Parents => solver.fit(&mut dials, &pose, settings),
            FitTo::World(_) => {
                self.world.update(self.skeleton, &pose);
                let turned = |j: &JointIndex| Goal::rotation(*j, self.world.rotations[j.get()]);
                let goals: Vec<Goal> = self.joints.iter().map(turned).collect();
                solver.reach(&mut dials, &pose, &goals, settings)
            }
        };
        let misses = solver.misses().iter().map(|miss: &Miss| miss.value()).collect();
        Frame { dials, misses, changed: false }
    }
}
