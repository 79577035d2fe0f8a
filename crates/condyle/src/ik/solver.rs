//! Inverse kinematics by numbers: any joints, any goals.

use super::chain::Chain;
use super::figure::Figure;
use super::goal::{Goal, Miss};
use super::random::random;
use super::search::{Ending, Scratch};
use super::system::System as _;
use super::{conjugate, levenberg};
use crate::math::Angle;
use crate::motion::Pose;

/// Finds poses of a figure that reach goals inside of its limits.
///
/// It keeps what it needs from one call to the next, and allocates only when there are more goals than
/// before, or other joints.
#[derive(Debug)]
pub struct Solver<'a> {
    figure: &'a Figure,
    /// Goals that no joint can serve together are problems of their own.
    parts: Vec<Part<'a>>,
    scratch: Scratch,
    /// The joints of the goals of the last call, by which the parts were found.
    joints: Vec<[Option<usize>; 2]>,
    misses: Vec<Miss>,
}

/// Goals that depend on the same joints, directly or through others.
#[derive(Debug)]
struct Part<'a> {
    chain: Chain<'a>,
    /// Which of the goals.
    goals: Vec<usize>,
    /// The same, as they are in this call.
    aims: Vec<Goal>,
}

/// How steps are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Damped least squares (Levenberg and Marquardt): a few steps nearly always.
    #[default]
    LevenbergMarquardt,
    /// Nonlinear conjugate gradients, as in the source (C11): more steps, each cheaper.
    ConjugateGradient,
}

/// How to look for a pose.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// How steps are found.
    pub method: Method,
    /// A goal that is missed by no more than this, in metres, counts as reached.
    pub near_m: f64,
    /// The same for rotations and directions.
    pub near: Angle,
    /// The most steps from each start; ten times as many for conjugate gradients.
    pub steps: u32,
    /// How often to start again from elsewhere, if goals are not reached: from `posture` if that is
    /// another pose than the start, then at random inside of the limits, the same places each time. The
    /// best is kept. Restarts can also turn joints that no goal depends on.
    pub restarts: u32,
    /// A pose to be near, and what the square of each joint's distance from it counts, in radians. Of a
    /// root that may move, its place in metres counts likewise: give it the place where the figure is.
    pub posture: Option<(&'a Pose, f64)>,
    /// Another one: of the frame before, so that motion is smooth.
    pub before: Option<(&'a Pose, f64)>,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self {
            method: Method::default(),
            near_m: 1e-4,
            near: Angle::from_radians(1e-3),
            steps: 40,
            restarts: 0,
            posture: None,
            before: None,
        }
    }
}

/// What a solver found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether every goal is reached.
    pub reached: bool,
    /// How many steps it took, over all starts.
    pub steps: u32,
    /// How often it started again.
    pub restarts: u32,
}

impl<'a> Solver<'a> {
    /// A solver for a figure.
    #[must_use]
    pub fn new(figure: &'a Figure) -> Self {
        Self {
            figure,
            parts: Vec::new(),
            scratch: Scratch::default(),
            joints: Vec::new(),
            misses: Vec::new(),
        }
    }

    /// Looks for a pose that reaches goals, from a start, and writes it to `pose`: of the joints that
    /// goals depend on, the others stay as they are there.
    ///
    /// # Panics
    ///
    /// If a pose is not one of the figure's skeleton, or a goal is about a joint that it does not have.
    pub fn solve(
        &mut self,
        start: &Pose,
        goals: &[Goal],
        settings: &Settings<'_>,
        pose: &mut Pose,
    ) -> Outcome {
        match settings.posture {
            Some((posture, _)) => {
                self.solve_from(&[start, posture], 0, start, goals, settings, pose)
            }
            None => self.solve_from(&[start], 0, start, goals, settings, pose),
        }
    }

    /// The same from these starts, and then at random, with the bones of a pose. Of the places at random
    /// so many were tried before.
    pub(super) fn solve_from(
        &mut self,
        starts: &[&Pose],
        tried: u64,
        bones: &Pose,
        goals: &[Goal],
        settings: &Settings<'_>,
        pose: &mut Pose,
    ) -> Outcome {
        self.find_parts(goals);
        self.misses.clear();
        self.misses.resize(goals.len(), Miss::Distance(0.0));
        let mut outcome = Outcome { reached: true, steps: 0, restarts: 0 };
        let several = self.parts.len() > 1;
        for part in &mut self.parts {
            if several {
                part.chain.forget();
            }
            part.aims.clear();
            part.aims.extend(part.goals.iter().map(|&g| goals[g]));
            let of_part = part.solve(starts, tried, bones, settings, &mut self.scratch);
            outcome.reached &= of_part.reached;
            outcome.steps += of_part.steps;
            outcome.restarts += of_part.restarts;
            part.chain.write(pose);
            for (&g, miss) in part.goals.iter().zip(part.chain.misses()) {
                self.misses[g] = *miss;
            }
        }
        outcome
    }

    /// Sorts goals by the joints that they depend on, unless these are the same as before.
    fn find_parts(&mut self, goals: &[Goal]) {
        if self.joints.len() == goals.len()
            && self.joints.iter().zip(goals).all(|(known, goal)| *known == goal.joints())
        {
            return;
        }
        self.joints.clear();
        self.joints.extend(goals.iter().map(Goal::joints));
        // The part of each joint that can move, and of each goal: the least number in it.
        let all = &self.figure.joints;
        let mut part_of: Vec<Option<usize>> = vec![None; all.len()];
        let mut parts: Vec<usize> = (0..goals.len()).collect();
        for (g, joints) in self.joints.iter().enumerate() {
            for joint in joints.iter().copied().flatten() {
                let above = std::iter::successors(Some(joint), |&j| all[j].parent);
                for j in above.filter(|&j| all[j].turning() > 0 || all[j].shifts) {
                    match part_of[j].map(|other| parts[other]) {
                        None => part_of[j] = Some(g),
                        Some(other) => {
                            let (from, to) = (parts[g].max(other), parts[g].min(other));
                            parts.iter_mut().filter(|p| **p == from).for_each(|p| *p = to);
                        }
                    }
                }
            }
        }
        self.parts.clear();
        for first in (0..goals.len()).filter(|&g| parts[g] == g) {
            let goals: Vec<usize> = (0..goals.len()).filter(|&g| parts[g] == first).collect();
            self.parts.push(Part { chain: Chain::new(self.figure), goals, aims: Vec::new() });
        }
    }

    /// How far each goal of the last call is missed.
    #[must_use]
    pub fn misses(&self) -> &[Miss] {
        &self.misses
    }
}

impl Part<'_> {
    /// Looks for where the goals of the part are met.
    fn solve(
        &mut self,
        starts: &[&Pose],
        tried: u64,
        bones: &Pose,
        settings: &Settings<'_>,
        scratch: &mut Scratch,
    ) -> Outcome {
        (self.chain.near_m, self.chain.near) = (settings.near_m, settings.near);
        self.chain.aim(&self.aims);
        self.chain.take_bones(bones);
        self.chain.refer([settings.posture, settings.before]);
        scratch.reserve(self.chain.blocks().len());
        let mut outcome = Outcome { reached: false, steps: 0, restarts: 0 };
        // Far from the numbers of any other.
        let mut seed = tried.wrapping_mul(0xD1B5_4A32_D192_ED03);
        let mut least = f64::INFINITY;
        let mut left = starts.iter();
        let first = left.next();
        self.chain.stand(first.unwrap_or(&bones));
        self.chain.bring_near();
        if first.is_none() {
            self.chain.scatter(|| random(&mut seed));
        }
        self.chain.keep();
        let (mut nudged, mut nudging) = (false, false);
        loop {
            let (ending, steps) = self.search(settings, scratch);
            outcome.steps += steps;
            outcome.reached = ending == Ending::Met;
            let cost = scratch.linear.cost();
            // A nudge counts only if it solves the matter: what follows a motion should not jump.
            let counts = !nudging && cost < least;
            nudging = false;
            if outcome.reached || counts {
                least = cost;
                self.chain.keep();
            }
            // A straight limb that should be shorter has no slope to follow. Beside that it has.
            if ending == Ending::Stuck && !nudged {
                (nudged, nudging) = (true, true);
                self.chain.differentiate(&mut scratch.linear);
                self.chain.nudge(scratch, || random(&mut seed));
                continue;
            }
            if outcome.reached || outcome.restarts == settings.restarts {
                break;
            }
            let other = left.find(|pose| self.chain.tells_apart(pose, starts[0]));
            match other {
                Some(other) => self.chain.stand(other),
                None => self.chain.scatter(|| random(&mut seed)),
            }
            outcome.restarts += 1;
        }
        if self.chain.recall() {
            self.chain.look(&mut scratch.linear);
        }
        outcome
    }

    fn search(&mut self, settings: &Settings<'_>, scratch: &mut Scratch) -> (Ending, u32) {
        match settings.method {
            Method::LevenbergMarquardt => {
                levenberg::solve(&mut self.chain, scratch, settings.steps)
            }
            Method::ConjugateGradient => {
                conjugate::solve(&mut self.chain, scratch, settings.steps.saturating_mul(10))
            }
        }
    }
}
