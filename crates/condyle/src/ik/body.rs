//! A whole body: a problem of the trunk, and a limb for every hand and foot (C12).

use glam::DVec3;

use super::figure::{Figure, Turns};
use super::goal::{Aim, Goal, Miss};
use super::limb::{Limb, LimbGoal, LimbParts, LimbScratch, LimitStatus, Swivel};
use super::solver::{Outcome, Settings, Solver};
use crate::limits::Limit;
use crate::math::{Angle, Arc, Rotation};
use crate::motion::{Pose, World};
use crate::skeleton::{JointIndex, Skeleton};

/// Finds poses of a whole body: the numerical [`Solver`] brings everything near to its goals, and arms
/// and legs then reach theirs exactly, in closed form.
///
/// An arm or a leg is found by its goal: a joint whose centre should be somewhere, on a hinge, on a joint
/// that turns about any axis. Its elbow or knee stays as near to where the solver has it as the limits of
/// the upper joint allow. The solver's answer stays, which is inside, where they allow none, where another
/// goal would be lost by that, and where elbow or knee would jump.
///
/// # Source
///
/// C12: "four limb problems and a body problem", in turn. Here the body problem has the limbs in it, so
/// that it knows how far they reach; with their goals met exactly, feet that are held do not slide.
#[derive(Debug)]
pub struct Body<'a> {
    figure: &'a Figure,
    skeleton: &'a Skeleton,
    solver: Solver<'a>,
    limbs: Vec<BodyLimb>,
    world: World,
    scratch: LimbScratch,
    /// Of each goal, where things are and where they were before the last limb.
    misses: Vec<Miss>,
    misses_before: Vec<Miss>,
}

/// A limb, with the goals that it is for.
#[derive(Debug)]
struct BodyLimb {
    /// Upper joint, hinge and end.
    joints: [JointIndex; 3],
    /// What it was made for: the bones from upper joint to hinge and from there to the end.
    bones_m: [DVec3; 2],
    limb: Limb,
}

/// How often trunk and limbs take turns.
const ROUNDS: u32 = 3;

/// So many times as far as the end was off, the centre of a hinge may be moved, and this far besides: what
/// a nearly straight limb needs for a tenth of a millimetre. What moves farther is on another side.
const FARTHER: f64 = 4.0;
const BESIDES_M: f64 = 5e-3;

impl<'a> Body<'a> {
    /// For a figure of a skeleton.
    #[must_use]
    pub fn new(figure: &'a Figure, skeleton: &'a Skeleton) -> Self {
        Self {
            figure,
            skeleton,
            solver: Solver::new(figure),
            limbs: Vec::new(),
            world: World::new(),
            scratch: LimbScratch::default(),
            misses: Vec::new(),
            misses_before: Vec::new(),
        }
    }

    /// Looks for a pose that reaches goals, as [`Solver::solve`] does, and exactly with the limbs that
    /// can.
    ///
    /// # Panics
    ///
    /// If a pose is not one of the skeleton, or a goal is about a joint that it does not have.
    pub fn solve(
        &mut self,
        start: &Pose,
        goals: &[Goal],
        settings: &Settings<'_>,
        pose: &mut Pose,
    ) -> Outcome {
        let mut outcome = self.solver.solve(start, goals, settings, pose);
        for round in 1..=ROUNDS {
            let off = self.reach_with_limbs(goals, settings, pose);
            let near = |miss: &Miss| miss.is_within(settings.near_m, settings.near);
            outcome.reached = goals
                .iter()
                .zip(&self.misses)
                .all(|(goal, miss)| goal.is_finite() && (goal.weight <= 0.0 || near(miss)));
            // The solver has something to do only where a limb could not reach.
            if outcome.reached || !off || round == ROUNDS {
                break;
            }
            let again = pose.clone();
            let more = self.solver.solve(&again, goals, settings, pose);
            outcome.steps += more.steps;
            outcome.restarts += more.restarts;
        }
        outcome
    }

    /// How far each goal of the last call is missed.
    #[must_use]
    pub fn misses(&self) -> &[Miss] {
        &self.misses
    }

    /// Has every limb with a goal reach it, and looks where everything is then. Whether one could not.
    fn reach_with_limbs(
        &mut self,
        goals: &[Goal],
        settings: &Settings<'_>,
        pose: &mut Pose,
    ) -> bool {
        self.look(goals, pose);
        let mut off = false;
        for goal in goals.iter().filter(|goal| goal.is_finite() && goal.weight > 0.0) {
            let Aim::Position { point_m, target_m } = goal.aim else { continue };
            // One that should be at two places is between them, by weight: that is the solver's.
            let same = |other: &&Goal| {
                other.joint == goal.joint && matches!(other.aim, Aim::Position { .. })
            };
            if point_m != DVec3::ZERO || goals.iter().filter(same).count() > 1 {
                continue;
            }
            let Some(at) = self.limb(goal.joint, pose) else { continue };
            let BodyLimb { joints: [upper, hinge, end], limb, .. } = &self.limbs[at];
            let [u, h, e] = [upper.get(), hinge.get(), end.get()];
            let above = self.skeleton.parent(*upper);
            let above = above.map_or(Rotation::IDENTITY, |p| self.world.rotations[p.get()]);
            let position_m = above.inverse() * (target_m - self.world.positions_m[u]);
            // A rotation that the hand should have is its own affair: it turns about its centre.
            let limb_goal = LimbGoal { position_m, rotation: None };
            // The nearest to what the solver has, which is inside nearly always.
            let mut reached = limb.pose_near(&limb_goal, pose.rotations[u]);
            let mut inside = self.figure.joints[u].allows(reached.locals[0]);
            if !inside && reached.miss_m <= 1e-9 {
                let near = Some((pose.rotations[u], Angle::ZERO));
                let swivel = Swivel::BestMargin { near };
                let found = limb.solve(&limb_goal, swivel, &mut self.scratch);
                (reached, inside) = (found.pose, found.status == LimitStatus::Inside);
            }
            if !inside || reached.miss_m > 1e-9 {
                off = true;
                continue;
            }
            // What is below the end keeps its rotation in the world, if its limit lets it.
            let world_end = self.world.rotations[e];
            let [new_upper, new_hinge, _] = reached.locals;
            let turned = (above * new_upper * new_hinge).inverse() * world_end;
            let joint = &self.figure.joints[e];
            let held = match (&joint.turns, joint.held) {
                (_, true) => pose.rotations[e],
                (Turns::About { limit, .. } | Turns::Within(limit), false) => {
                    joint.zero * limit.project(joint.zero.inverse() * turned)
                }
                (Turns::Freely, false) => turned,
            };
            let before = [u, h, e].map(|j| pose.rotations[j]);
            let places_m = [h, e].map(|j| self.world.positions_m[j]);
            for (j, rotation) in [u, h, e].into_iter().zip([new_upper, new_hinge, held]) {
                pose.rotations[j] = rotation;
            }
            std::mem::swap(&mut self.misses, &mut self.misses_before);
            self.look(goals, pose);
            let most_m = FARTHER * places_m[1].distance(target_m) + BESIDES_M;
            let jumps = self.world.positions_m[h].distance(places_m[0]) > most_m;
            if jumps || self.is_spoilt(goals, settings) {
                for (j, rotation) in [u, h, e].into_iter().zip(before) {
                    pose.rotations[j] = rotation;
                }
                self.look(goals, pose);
                off = true;
            }
        }
        off
    }

    /// Where everything is, and how far each goal is missed.
    fn look(&mut self, goals: &[Goal], pose: &Pose) {
        self.world.update(self.skeleton, pose);
        self.misses.clear();
        self.misses.extend(goals.iter().map(|goal| goal.miss(&self.world)));
    }

    /// Whether a goal is missed by more than before, and by more than what is near.
    fn is_spoilt(&self, goals: &[Goal], settings: &Settings<'_>) -> bool {
        let misses = self.misses.iter().zip(&self.misses_before);
        goals.iter().zip(misses).any(|(goal, (after, before))| {
            goal.weight > 0.0
                && !after.is_within(settings.near_m, settings.near)
                && after.value() > before.value()
        })
    }

    /// The limb that ends in a joint, if there is one.
    fn limb(&mut self, end: JointIndex, pose: &Pose) -> Option<usize> {
        let hinge = self.skeleton.parent(end)?;
        let upper = self.skeleton.parent(hinge)?;
        let bones_m = [hinge, end].map(|j| pose.translations_m[j.get()]);
        let known = self.limbs.iter().position(|limb| limb.joints[2] == end);
        if let Some(at) = known.filter(|&at| self.limbs[at].bones_m == bones_m) {
            return Some(at);
        }
        let [u, h, e] = [upper, hinge, end].map(|j| &self.figure.joints[j.get()]);
        let Turns::About { axes, ranges, count: 1, .. } = &h.turns else { return None };
        if u.held || h.held {
            return None;
        }
        if matches!(u.turns, Turns::About { .. }) {
            return None;
        }
        let free = Limit::Free.prepare().ok()?;
        let upper_limit = match &u.turns {
            Turns::Within(limit) => limit.clone(),
            Turns::Freely | Turns::About { .. } => free.clone(),
        };
        let [min, max] = ranges[0];
        let arc = if min.is_finite() {
            Arc::new(Angle::from_radians(min), Angle::from_radians(max))?
        } else {
            Arc::FULL
        };
        let limb = Limb::new(&LimbParts {
            upper_m: bones_m[0],
            lower_m: bones_m[1],
            zeros: [u.zero, h.zero, e.zero],
            axis: axes[0],
            arc,
        })?
        .with_limits(upper_limit, free);
        let limb = BodyLimb { joints: [upper, hinge, end], bones_m, limb };
        match known {
            Some(at) => {
                self.limbs[at] = limb;
                Some(at)
            }
            None => {
                self.limbs.push(limb);
                Some(self.limbs.len() - 1)
            }
        }
    }
}
