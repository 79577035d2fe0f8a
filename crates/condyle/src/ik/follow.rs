//! A clip made to reach goals, frame by frame.

use std::ops::RangeInclusive;

use super::figure::Figure;
use super::goal::{Aim, Goal, Miss};
use super::goals::{Goals, RootMotion};
use super::solver::{Method, Settings, Solver};
use crate::math::Angle;
use crate::motion::{Clip, FrameIndex, Pose, World};
use crate::skeleton::{JointIndex, Skeleton};

/// A goal that is missed by no more than this counts as reached.
pub const REACHED_M: f64 = 1e-3;
/// The same for rotations and directions.
pub const REACHED: Angle = Angle::from_degrees(0.1);

/// What a solver is asked for: a hundredth of what counts as reached.
const NEAR_M: f64 = 0.01 * REACHED_M;
const NEAR: Angle = Angle::from_degrees(0.001);

/// A joint that a solver turned by no more than this, in radians, or moved by, in metres, was only
/// rounded: it keeps the numbers of its file. A hundred thousandth of what counts as reached.
const SAME: f64 = 1e-8;

/// How to make a clip reach goals.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowOptions {
    /// How steps are found.
    pub method: Method,
    /// What the square of each joint's distance, in radians, from the clip's own pose in a frame counts.
    pub posture: f64,
    /// The same for the distance from the solution of the frame before.
    pub smooth: f64,
    /// How often to start again from elsewhere in a frame with a goal that is not reached: from the
    /// other one of the two starts, if there are two, then at random inside of the limits, the same places
    /// in every frame.
    ///
    /// `None`: until the goals are reached, within a budget. A frame starts again at least once and at most
    /// [`MOST_RESTARTS`] times, the whole clip [`MOST_RESTARTS`] times and [`RESTARTS_PER_FRAME`] for every
    /// frame with goals. The places go on from one frame to the next, so that what stays out of reach is
    /// looked for in new ones. The same clip and goals always get the same.
    pub restarts: Option<u32>,
    /// The frames to work on; `None` for all. The others are not touched.
    pub frames: Option<RangeInclusive<usize>>,
}

/// How often a frame starts again at most, unless [`FollowOptions::restarts`] says how often.
pub const MOST_RESTARTS: u32 = 32;
/// How often frames start again on the average, unless [`FollowOptions::restarts`] says how often.
pub const RESTARTS_PER_FRAME: u32 = 4;

impl Default for FollowOptions {
    fn default() -> Self {
        Self { method: Method::default(), posture: 1e-6, smooth: 0.0, restarts: None, frames: None }
    }
}

/// How well a clip reaches goals.
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub struct Followed {
    /// How many frames were worked on.
    pub frames: usize,
    /// How often frames started again from elsewhere, in all.
    pub restarts: u64,
    /// One for each of [`Goals::goals`].
    pub goals: Vec<FollowedGoal>,
    /// The joints whose rotation or place was changed in some frame, in the skeleton's order.
    pub changed: Vec<JointIndex>,
}

/// How well a clip reaches a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowedGoal {
    /// In how many frames there is something to do.
    pub frames: usize,
    /// In how many of them it is reached: within 1 mm, or 0.1°.
    pub reached: usize,
    /// The mean of the misses; zero if there is nothing to do.
    pub mean: Miss,
    /// The largest miss.
    pub worst: Miss,
    /// The first frame with it; `None` if there is nothing to do.
    pub worst_frame: Option<FrameIndex>,
}

impl Followed {
    /// Whether every goal is reached wherever there is one.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.goals.iter().all(|goal| goal.reached == goal.frames)
    }
}

impl Goals {
    /// Changes a clip so that it reaches the goals inside of the limits of its figure, as far as
    /// possible.
    ///
    /// Frames are solved in order. Each starts from the solution of the frame before or from the clip's
    /// own pose, whichever misses less, and if that does not reach the goals from the other one and then
    /// from elsewhere, as often as [`restarts`](FollowOptions::restarts) says. Joints are pulled towards the clip's own pose
    /// in that frame, by [`posture`](FollowOptions::posture). What no goal of a frame depends on, what
    /// is locked, and what its file gives no turns to is not touched; nor are frames without goals, and
    /// frames in which the clip is inside of the limits and at the goals already (unless it is to be
    /// smoothed). A joint that goals depend on and that is outside of its limit comes inside.
    ///
    /// `figure` is [`Figure::new`] or [`Figure::without_limits`] of the skeleton. `done` is told how
    /// many frames are.
    ///
    /// # Panics
    ///
    /// If the clip, the figure or the goals are not of this skeleton, or the clip does not have the
    /// frames.
    pub fn follow(
        &self,
        mut figure: Figure,
        skeleton: &Skeleton,
        clip: &mut Clip,
        options: &FollowOptions,
        mut done: impl FnMut(usize),
    ) -> Followed {
        self.restrict(&mut figure, skeleton);
        let count = clip.frame_count();
        let frames = match &options.frames {
            Some(range) => *range.start()..range.end().saturating_add(1),
            None => 0..count,
        };
        assert!(frames.end <= count, "{frames:?} of {count} frames");
        let mut work = Work {
            figure: &figure,
            skeleton,
            options,
            solver: Solver::new(&figure),
            world: World::new(),
            goals: Vec::new(),
            moves: Vec::new(),
            restarts_left: MOST_RESTARTS,
            places_tried: 0,
            restarts: 0,
        };
        let mut tallies: Vec<Tally> = self.goals.iter().map(|_| Tally::default()).collect();
        let mut changed = vec![false; skeleton.len()];
        let (mut own, mut solution) = (Pose::default(), Pose::default());
        let mut before: Option<Pose> =
            frames.start.checked_sub(1).and_then(frame_index).map(|frame| clip.pose(frame));
        for (n, frame) in frames.clone().filter_map(frame_index).enumerate() {
            clip.pose_into(frame, &mut own);
            work.goals.clear();
            work.goals.extend(self.goals.iter().filter_map(|goal| goal.at(frame)));
            work.solve(&own, before.as_ref(), &mut solution);
            set(clip, frame, &own, &solution, &mut changed);
            work.world.update(skeleton, &solution);
            for (goal, tally) in self.goals.iter().zip(&mut tallies) {
                if let Some(goal) = goal.at(frame) {
                    tally.add(frame, goal.miss(&work.world));
                }
            }
            before.get_or_insert_default().clone_from(&solution);
            done(n + 1);
        }
        let goals = self.goals.iter().zip(&tallies);
        Followed {
            frames: frames.len(),
            restarts: work.restarts,
            goals: goals.map(|(goal, tally)| tally.report(goal.kind.is_distance())).collect(),
            changed: skeleton.indices().filter(|j| changed[j.get()]).collect(),
        }
    }

    /// Holds what may not move.
    fn restrict(&self, figure: &mut Figure, skeleton: &Skeleton) {
        match self.root {
            RootMotion::Free => figure.free_root(),
            RootMotion::Fixed => {
                let roots = skeleton.indices().filter(|&j| skeleton.parent(j).is_none());
                roots.for_each(|root| figure.hold(root));
            }
        }
        for joint in skeleton.indices() {
            let declared = skeleton[joint].declared.dofs.as_ref();
            if declared.is_some_and(|dofs| dofs.iter().all(|d| d.dof.rotation_axis().is_none())) {
                figure.hold(joint);
            }
        }
        for &joint in &self.lock {
            figure.hold(joint);
            figure.joints[joint.get()].shifts = false;
        }
    }
}

fn frame_index(frame: usize) -> Option<FrameIndex> {
    u32::try_from(frame).ok().map(FrameIndex)
}

/// What the work on one frame needs.
struct Work<'a> {
    figure: &'a Figure,
    skeleton: &'a Skeleton,
    options: &'a FollowOptions,
    solver: Solver<'a>,
    world: World,
    /// The goals of the frame.
    goals: Vec<Goal>,
    /// Which joints goals depend on, and may turn or be moved.
    moves: Vec<Moves>,
    /// Of the budget, where the options do not say how often to start again.
    restarts_left: u32,
    /// By those restarts: what the next places at random are drawn from.
    places_tried: u64,
    restarts: u64,
}

#[derive(Clone, Copy, Default)]
struct Moves {
    turns: bool,
    shifts: bool,
}

impl Work<'_> {
    /// The solution of a frame.
    fn solve(&mut self, own: &Pose, before: Option<&Pose>, solution: &mut Pose) {
        let FollowOptions { method, posture, smooth, restarts, .. } = *self.options;
        solution.clone_from(own);
        if self.goals.is_empty() {
            return;
        }
        self.find_moves();
        if smooth <= 0.0 && self.is_inside(own) && self.is_near(own) {
            return;
        }
        let settings = Settings {
            method,
            near_m: NEAR_M,
            near: NEAR,
            restarts: 0,
            posture: (posture > 0.0).then_some((own, posture)),
            before: before.filter(|_| smooth > 0.0).map(|before| (before, smooth)),
            ..Settings::default()
        };
        let other = before.map(|before| {
            let mut start = own.clone();
            self.take(before, &mut start);
            start
        });
        let [first, second] = match &other {
            Some(other) if self.cost(other) < self.cost(own) => [other, own].map(Some),
            other => [Some(own), other.as_ref()],
        };
        self.restarts_left = self.restarts_left.saturating_add(RESTARTS_PER_FRAME);
        self.search(first, own, (&settings, 0), solution);
        if restarts == Some(0) || self.is_reached(solution) {
            return;
        }
        // The second start is the first of them.
        let left = self.restarts_left.clamp(1, MOST_RESTARTS);
        let (most, from) = restarts.map_or((left, self.places_tried), |restarts| (restarts, 0));
        let restarts = most - 1;
        let again = Settings { near_m: REACHED_M, near: REACHED, restarts, ..settings };
        let mut other = own.clone();
        let tried = 1 + self.search(second, own, (&again, from), &mut other);
        self.restarts_left = self.restarts_left.saturating_sub(tried);
        self.places_tried += u64::from(tried);
        self.restarts += u64::from(tried);
        // What is hardly better is not worth a jump.
        if self.cost(&other) < 0.99 * self.cost(solution) {
            solution.clone_from(&other);
        }
    }

    /// From a start, or else at random, then at random; how often it started again. Of all places at
    /// random so many were tried before.
    fn search(
        &mut self,
        start: Option<&Pose>,
        own: &Pose,
        (settings, tried): (&Settings<'_>, u64),
        solution: &mut Pose,
    ) -> u32 {
        let mut found = own.clone();
        let starts = start.as_slice();
        let goals = &self.goals;
        let outcome = self.solver.solve_from(starts, tried, own, goals, settings, &mut found);
        let finite = |pose: &Pose| pose.translations_m.iter().all(|t| t.is_finite());
        solution.clone_from(own);
        if finite(&found) {
            self.take(&found, solution);
        }
        outcome.restarts
    }

    /// Which joints the goals of the frame depend on.
    fn find_moves(&mut self) {
        let joints = &self.figure.joints;
        self.moves.clear();
        self.moves.resize(joints.len(), Moves::default());
        let above = |j: usize| std::iter::successors(Some(j), |&j| joints[j].parent);
        // Those that move a point: the joint itself only if the point is beside its centre.
        let all = |j: JointIndex, own: bool| above(j.get()).skip(usize::from(!own));
        let root = |j: JointIndex| above(j.get()).last().unwrap_or(j.get());
        for goal in &self.goals {
            let j = goal.joint;
            // Where roots are matters to places, and to two joints that meet if they have two.
            let roots = match goal.aim {
                Aim::Rotation(_) | Aim::Direction { .. } => [None, None],
                Aim::Position { .. } | Aim::LookAt { .. } => [Some(root(j)), None],
                Aim::Meet { other, .. } if root(j) == root(other) => [None, None],
                Aim::Meet { other, .. } => [Some(root(j)), Some(root(other))],
            };
            for root in roots.into_iter().flatten() {
                self.moves[root].shifts = joints[root].shifts;
            }
            let mut turn = |j: usize| self.moves[j].turns = !joints[j].held;
            match goal.aim {
                Aim::Position { point_m, .. } => {
                    all(j, point_m != glam::DVec3::ZERO).for_each(turn);
                }
                Aim::Rotation(_) | Aim::Direction { .. } | Aim::LookAt { .. } => {
                    all(j, true).for_each(turn);
                }
                Aim::Meet { point_m, other, other_point_m } => {
                    let own: Vec<usize> = all(j, point_m != glam::DVec3::ZERO).collect();
                    let others: Vec<usize> =
                        all(other, other_point_m != glam::DVec3::ZERO).collect();
                    // What moves both alike is of no use.
                    own.iter().filter(|j| !others.contains(j)).for_each(|&j| turn(j));
                    others.iter().filter(|j| !own.contains(j)).for_each(|&j| turn(j));
                }
            }
        }
    }

    /// Takes from a pose what the goals depend on, unless it differs by no more than rounding.
    fn take(&self, from: &Pose, to: &mut Pose) {
        for (j, moves) in self.moves.iter().enumerate() {
            let (rotation, place) = (from.rotations[j], from.translations_m[j]);
            if moves.turns && rotation.distance(to.rotations[j]).radians() > SAME {
                to.rotations[j] = rotation.in_hemisphere_of(to.rotations[j]);
            }
            if moves.shifts && (place - to.translations_m[j]).length() > SAME {
                to.translations_m[j] = place;
            }
        }
    }

    /// Whether what the goals depend on is inside of its limits.
    fn is_inside(&self, pose: &Pose) -> bool {
        let joints = self.figure.joints.iter().zip(&pose.rotations).zip(&self.moves);
        joints.into_iter().all(|((joint, local), moves)| !moves.turns || joint.allows(*local))
    }

    fn misses(&mut self, pose: &Pose) -> impl Iterator<Item = (f64, Miss)> + '_ {
        self.world.update(self.skeleton, pose);
        self.goals.iter().map(|goal| (goal.weight, goal.miss(&self.world)))
    }

    fn is_near(&mut self, pose: &Pose) -> bool {
        self.misses(pose).all(|(_, miss)| miss.is_within(NEAR_M, NEAR))
    }

    fn is_reached(&mut self, pose: &Pose) -> bool {
        self.misses(pose).all(|(_, miss)| miss.is_within(REACHED_M, REACHED))
    }

    fn cost(&mut self, pose: &Pose) -> f64 {
        self.misses(pose).map(|(weight, miss)| weight * miss.value() * miss.value()).sum()
    }
}

/// Writes what differs from the clip's own pose into it.
fn set(clip: &mut Clip, frame: FrameIndex, own: &Pose, solution: &Pose, changed: &mut [bool]) {
    for (j, changed) in changed.iter_mut().enumerate() {
        let joint = JointIndex::new(j);
        if solution.rotations[j].quat() != own.rotations[j].quat() {
            clip.set_rotation(joint, frame, solution.rotations[j]);
            *changed = true;
        }
        if solution.translations_m[j] != own.translations_m[j] {
            clip.set_translation_m(joint, frame, solution.translations_m[j]);
            *changed = true;
        }
    }
}

/// The misses of a goal so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    frames: usize,
    reached: usize,
    sum: f64,
    worst: f64,
    worst_frame: Option<FrameIndex>,
}

impl Tally {
    pub(super) fn add(&mut self, frame: FrameIndex, miss: Miss) {
        self.frames += 1;
        self.reached += usize::from(miss.is_within(REACHED_M, REACHED));
        self.sum += miss.value();
        if self.worst_frame.is_none() || miss.value() > self.worst {
            (self.worst, self.worst_frame) = (miss.value(), Some(frame));
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "frame counts are below 2^32")]
    pub(super) fn report(&self, is_distance: bool) -> FollowedGoal {
        let miss = |value: f64| {
            if is_distance {
                Miss::Distance(value)
            } else {
                Miss::Angle(Angle::from_radians(value))
            }
        };
        FollowedGoal {
            frames: self.frames,
            reached: self.reached,
            mean: miss(self.sum / self.frames.max(1) as f64),
            worst: miss(self.worst),
            worst_frame: self.worst_frame,
        }
    }
}
