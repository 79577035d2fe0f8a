//! Hands and feet brought to where those of the source are.

use std::f64::consts::FRAC_1_SQRT_2;

use glam::DVec3;

use super::Easing;
use super::body::{Body, Part};
use super::lower::{AROUND_S, Lowered, Stretch, course};
use super::reach::Reach;
use super::retarget::Retarget;
use crate::anatomy::{BodyJoint, BodySide};
use crate::enforce::BoundRig;
use crate::ik::{Body as Reacher, Figure, Goal, REACHED_M, Settings};
use crate::limits::{Limit, PreparedLimit};
use crate::math::{Arc, Rotation, unit};
use crate::motion::turns::Turns;
use crate::motion::{Clip, FrameIndex, Pose, World};
use crate::skeleton::{JointIndex, Skeleton};

/// A hand or a foot that was to be kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeptLimb {
    /// The joint of the target at its end.
    pub end: JointIndex,
    /// Ankle or wrist.
    pub what: BodyJoint,
    /// On which side.
    pub side: BodySide,
    /// How many frames there are.
    pub frames: usize,
    /// In how many of them it is within 1 mm of where it should be.
    pub reached: usize,
    /// The largest distance from there, in metres.
    pub worst_m: f64,
    /// The first frame with it.
    pub worst_frame: FrameIndex,
}

/// A limb of the target, and its end in the source.
#[derive(Clone, Copy, Debug)]
struct Chain {
    limb: Reach,
    goal: JointIndex,
    place: Place,
}

/// How the place of an end follows from that in the source.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In the world, scaled, and by so much farther above the sole of a flat foot, in metres.
    Foot { lift_m: f64 },
    /// From the middle between the shoulders, those of the source and of the target, so many times as far; or
    /// from its own shoulder, the first of each, times the length of the arms.
    Hand {
        shoulders: [[JointIndex; 2]; 2],
        times: f64,
        arms_m: [f64; 2],
        other: Option<JointIndex>,
        /// How much it is the latter, from 0 to 1.
        free: f64,
    },
}

/// Hands are placed from their own shoulders in a motion that would stretch an arm to more than a share of its
/// length, and where the other hand is farther away than a share of the arm; in between, partly.
const TOO_FAR: [f64; 2] = [0.99, 1.05];
const APART: [f64; 2] = [0.3, 0.9];

/// From 0 to 1 while a number goes from one to another, without kinks.
fn between([low, high]: [f64; 2], x: f64) -> f64 {
    Easing::Cubic.at((x - low) / (high - low))
}

/// The turn from one world to another, which way is up there, and the scale.
type Turned = (Rotation, DVec3, f64);

/// Limbs that were brought to where they should be, as far as that is possible.
#[derive(Debug, Default)]
pub(super) struct Kept {
    limbs: Vec<Wanted>,
    /// Those that have not got the joints for it in both skeletons.
    pub(super) without: Vec<Part>,
    /// What the pelvis was lowered by for the legs.
    pub(super) lowered: Option<Lowered>,
}

/// Where a limb should be.
#[derive(Debug)]
struct Wanted {
    chain: Chain,
    part: Part,
    /// The place of its end in each frame.
    places_m: Vec<DVec3>,
}

impl Kept {
    /// How well the limbs of a motion are where they should be.
    pub(super) fn measured(&self, skeleton: &Skeleton, clip: &Clip) -> Vec<KeptLimb> {
        let frames = clip.frame_count();
        let new = |wanted: &Wanted| KeptLimb {
            end: wanted.chain.limb.end,
            what: wanted.part.0,
            side: wanted.part.1,
            frames,
            reached: 0,
            worst_m: 0.0,
            worst_frame: FrameIndex(0),
        };
        let mut limbs: Vec<KeptLimb> = self.limbs.iter().map(new).collect();
        let (mut pose, mut world) = (Pose::default(), World::new());
        for (f, frame) in clip.frames().enumerate().filter(|_| !self.limbs.is_empty()) {
            clip.pose_into(frame, &mut pose);
            world.update(skeleton, &pose);
            for (limb, wanted) in limbs.iter_mut().zip(&self.limbs) {
                let miss = world.positions_m[limb.end.get()].distance(wanted.places_m[f]);
                limb.reached += usize::from(miss <= REACHED_M);
                if miss > limb.worst_m {
                    (limb.worst_m, limb.worst_frame) = (miss, frame);
                }
            }
        }
        limbs
    }
}

pub(super) fn keep(
    retarget: &Retarget<'_>,
    (clip, scale): (&Clip, f64),
    moved: &mut Clip,
    ends: &[BodyJoint],
    rig: Option<&BoundRig>,
) -> Kept {
    let [source, target] = retarget.bodies();
    let (turn, up) = retarget.turn();
    let mut kept = Kept::default();
    for what in ends {
        for side in [BodySide::Left, BodySide::Right] {
            let part = (*what, side);
            match Chain::find(retarget, *what, side, scale) {
                Some(chain) => kept.limbs.push(Wanted { chain, part, places_m: Vec::new() }),
                None => kept.without.push(part),
            }
        }
    }
    let limbs = &mut kept.limbs;
    if limbs.is_empty() {
        return kept;
    }
    kept.lowered = lower(retarget, (clip, scale), moved, limbs);
    free_hands(retarget, (clip, scale), moved, limbs);
    // What limits say nothing about needs no search.
    let is_limited =
        |j: JointIndex| rig.and_then(|rig| rig.limit(j)).is_some_and(|limit| !limit.is_free());
    let searches = |chain: &Chain| chain.limb.joints().into_iter().any(is_limited);
    let figure = rig.map(|rig| {
        let mut figure = Figure::new(target.skeleton, rig);
        for j in target.skeleton.indices() {
            let of = |wanted: &Wanted| {
                searches(&wanted.chain) && wanted.chain.limb.joints().contains(&j)
            };
            if !limbs.iter().any(of) {
                figure.hold(j);
            } else if let (false, Some(limit)) = (is_limited(j), declared(target.skeleton, j)) {
                figure.limit(j, target.skeleton[j].rest, limit);
            }
        }
        figure
    });
    let figure = figure.filter(|_| limbs.iter().any(|wanted| searches(&wanted.chain)));
    let mut reacher = figure.as_ref().map(|figure| Reacher::new(figure, target.skeleton));
    let (mut pose, mut ours) = (Pose::default(), World::new());
    let (mut theirs, mut world) = (Pose::default(), World::new());
    let mut goals: Vec<Goal> = Vec::new();
    for frame in clip.frames() {
        clip.pose_into(frame, &mut pose);
        ours.update(source.skeleton, &pose);
        moved.pose_into(frame, &mut theirs);
        world.update(target.skeleton, &theirs);
        let before = theirs.clone();
        goals.clear();
        for Wanted { chain, places_m, .. } in limbs.iter_mut() {
            let place = chain.place_m((turn, up, scale), &ours, &world);
            places_m.push(place);
            if searches(chain) {
                let own = world.rotations[chain.limb.end.get()];
                let near = chain.near_m(up, &world, place);
                goals.push(Goal::position(chain.limb.end, near));
                goals.push(Goal::rotation(chain.limb.end, own).weighted(ORIENTATION));
            }
        }
        if let Some(reacher) = &mut reacher {
            let posture = Some((&before, POSTURE));
            let settings = Settings { near_m: 0.01 * REACHED_M, posture, ..Settings::default() };
            reacher.solve(&before, &goals, &settings, &mut theirs);
        }
        for Wanted { chain, places_m, .. } in limbs.iter() {
            if let (false, Some(place)) = (searches(chain), places_m.last()) {
                let near = chain.near_m(up, &world, *place);
                chain.limb.reach(target.skeleton, &mut theirs, &world, near);
            }
            for j in chain.limb.joints() {
                let local = theirs.rotations[j.get()];
                if local.quat() != before.rotations[j.get()].quat() {
                    moved.set_rotation(j, frame, local);
                }
            }
        }
    }
    kept
}

/// Lowers the pelvis where legs are too short for where their feet should be.
fn lower(
    retarget: &Retarget<'_>,
    (clip, scale): (&Clip, f64),
    moved: &mut Clip,
    limbs: &[Wanted],
) -> Option<Lowered> {
    let [source, target] = retarget.bodies();
    let (turn, up) = retarget.turn();
    let is_leg = |wanted: &&Wanted| matches!(wanted.chain.place, Place::Foot { .. });
    let legs: Vec<&Chain> = limbs.iter().filter(is_leg).map(|wanted| &wanted.chain).collect();
    let (mut pose, mut ours) = (Pose::default(), World::new());
    let (mut theirs, mut world) = (Pose::default(), World::new());
    let mut needs = Vec::with_capacity(clip.frame_count());
    for frame in clip.frames().filter(|_| !legs.is_empty()) {
        clip.pose_into(frame, &mut pose);
        ours.update(source.skeleton, &pose);
        moved.pose_into(frame, &mut theirs);
        world.update(target.skeleton, &theirs);
        let need = |chain: &&Chain| {
            let place = chain.place_m((turn, up, scale), &ours, &world);
            chain.stretch(&world, place).need_m(up)
        };
        needs.push(legs.iter().map(need).fold(0.0, f64::max));
    }
    if needs.iter().all(|need| *need == 0.0) {
        return None;
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate is positive, and what is too large saturates"
    )]
    let around = (AROUND_S * clip.rate().nominal_fps()).round() as usize;
    let by = course(&needs, around);
    let joint = retarget.carrier();
    let mut lowered = Lowered { most_m: 0.0, frame: FrameIndex(0), frames: 0 };
    for (frame, by) in clip.frames().zip(by).filter(|(_, by)| *by > 0.0) {
        let down = match target.skeleton.parent(joint) {
            Some(p) => {
                moved.pose_into(frame, &mut theirs);
                world.update(target.skeleton, &theirs);
                world.rotations[p.get()].inverse() * up
            }
            None => up,
        };
        moved.set_translation_m(joint, frame, moved.translation_m(joint, frame) - down * by);
        lowered.frames += usize::from(by > REACHED_M);
        if by > lowered.most_m {
            (lowered.most_m, lowered.frame) = (by, frame);
        }
    }
    Some(lowered)
}

/// Places hands from their own shoulders if between the shoulders is too far for an arm somewhere in a motion.
/// It holds for all of it, so that no hand goes from one place to the other.
fn free_hands(
    retarget: &Retarget<'_>,
    (clip, scale): (&Clip, f64),
    moved: &Clip,
    limbs: &mut [Wanted],
) {
    let [source, target] = retarget.bodies();
    let (turn, up) = retarget.turn();
    let (mut pose, mut ours, mut world) = (Pose::default(), World::new(), World::new());
    let arm_m = |chain: &Chain| match chain.place {
        Place::Hand { arms_m, .. } => Some(arms_m[1]),
        Place::Foot { .. } => None,
    };
    let has_hands = limbs.iter().any(|wanted| arm_m(&wanted.chain).is_some());
    let mut most = 0.0_f64;
    for frame in clip.frames().filter(|_| has_hands) {
        clip.pose_into(frame, &mut pose);
        ours.update(source.skeleton, &pose);
        moved.pose_into(frame, &mut pose);
        world.update(target.skeleton, &pose);
        for (chain, arm_m) in limbs.iter().filter_map(|w| Some((&w.chain, arm_m(&w.chain)?))) {
            let place = chain.place_m((turn, up, scale), &ours, &world);
            let shoulder = world.positions_m[chain.limb.upper.get()];
            most = most.max(place.distance(shoulder) / arm_m);
        }
    }
    for wanted in limbs {
        if let Place::Hand { free, .. } = &mut wanted.chain.place {
            *free = between(TOO_FAR, most);
        }
    }
}

/// What the file of a skeleton lets a joint turn about, without ends, if it gives it at most two turns.
fn declared(skeleton: &Skeleton, joint: JointIndex) -> Option<PreparedLimit> {
    let limit = match *Turns::declared(skeleton, joint)?.local_axes() {
        [] => Limit::Locked,
        [axis] => Limit::Hinge { axis, arc: Arc::FULL },
        [a, b] => Limit::Universal { axes: [a, b], arcs: [Arc::FULL; 2] },
        _ => return None,
    };
    limit.prepare().ok()
}

/// Against a metre of a missed place, what a radian counts of an end that is turned from where it was,
/// and of a joint that is turned from where it was: enough to choose between poses that reach.
const ORIENTATION: f64 = 1e-3;
const POSTURE: f64 = 1e-6;

impl Chain {
    fn find(retarget: &Retarget<'_>, what: BodyJoint, side: BodySide, scale: f64) -> Option<Self> {
        let [source, target] = retarget.bodies();
        let is_leg = what == BodyJoint::Ankle;
        let (upper, hinge) = match is_leg {
            true => (BodyJoint::Hip, BodyJoint::Knee),
            false => (BodyJoint::Shoulder, BodyJoint::Elbow),
        };
        let [end, goal] = retarget.ends(what, side)?;
        let joints = [target.first(upper, side)?, target.first(hinge, side)?, end];
        let limb = Reach::new(target.skeleton, &target.anatomy, joints, is_leg)?;
        let place = match what {
            BodyJoint::Ankle => {
                Place::Foot { lift_m: target.sole_m(side)? - scale * source.sole_m(side)? }
            }
            _ => {
                let wrists = [BodySide::Left, BodySide::Right].map(|s| retarget.ends(what, s));
                let reach = |k: usize| wrists.map(|both| both.map(|both| both[k]));
                let times = target.span_m(reach(0))? / source.span_m(reach(1))?;
                let shoulders = |body: &Body<'_>| {
                    let both = [side, side.other()].map(|s| body.first(BodyJoint::Shoulder, s));
                    Some([both[0]?, both[1].or(both[0])?])
                };
                let shoulders = [shoulders(source)?, shoulders(target)?];
                let arms_m = [source.arm_m(side, goal)?, target.arm_m(side, end)?];
                let other = retarget.ends(what, side.other()).map(|both| both[1]);
                let fits = times.is_finite() && times > 0.0;
                fits.then_some(Place::Hand { shoulders, times, arms_m, other, free: 0.0 })?
            }
        };
        Some(Self { limb, goal, place })
    }

    /// Where the end should be.
    fn place_m(&self, (turn, up, scale): Turned, ours: &World, theirs: &World) -> DVec3 {
        let goal = ours.positions_m[self.goal.get()];
        match self.place {
            Place::Foot { lift_m } => {
                // What is longer below the ankle is missing in the leg: it is raised towards the hip, but
                // only up or down, so that feet on the ground do not slide; by all of it as long as the
                // leg is within 45 degrees of the vertical.
                let [hip, ankle] =
                    [self.limb.upper, self.limb.end].map(|j| theirs.positions_m[j.get()]);
                let upright = unit(hip - ankle).map_or(1.0, |leg| leg.dot(up));
                let share = (upright / FRAC_1_SQRT_2).clamp(-1.0, 1.0);
                turn * (goal * scale) + up * (share * lift_m)
            }
            Place::Hand { shoulders: [source, target], times, arms_m, other, free: most } => {
                let at = |world: &World, j: JointIndex| world.positions_m[j.get()];
                let middle =
                    |world: &World, [a, b]: [JointIndex; 2]| (at(world, a) + at(world, b)) * 0.5;
                let held = middle(theirs, target) + turn * ((goal - middle(ours, source)) * times);
                // With wider or narrower shoulders arms may be too short for that: hands are where they are because
                // of the shoulders then, and not of each other.
                let free = at(theirs, target[0])
                    + turn * ((goal - at(ours, source[0])) * (arms_m[1] / arms_m[0]));
                let far_m = other.map_or(f64::INFINITY, |j| at(ours, j).distance(goal));
                let share = most * between(APART, far_m / arms_m[0]);
                held.lerp(free, share)
            }
        }
    }

    /// The leg as it is, with its foot wanted somewhere.
    fn stretch(&self, world: &World, place_m: DVec3) -> Stretch {
        let [hip, knee, ankle] = self.limb.joints().map(|j| world.positions_m[j.get()]);
        Stretch {
            to_hip_m: hip - place_m,
            own_m: hip.distance(ankle),
            leg_m: hip.distance(knee) + knee.distance(ankle),
        }
    }

    /// As near to where the end should be as it goes: arms, and legs that are raised, are not stretched to more
    /// than nearly straight. For those that stand the pelvis is lowered, and feet do not slide.
    fn near_m(&self, up: DVec3, world: &World, place_m: DVec3) -> DVec3 {
        let near_m = self.limb.within(world, place_m);
        match self.place {
            Place::Foot { .. } => {
                let stretch = self.stretch(world, place_m);
                let hip = place_m + stretch.to_hip_m;
                let to_foot = near_m.lerp(place_m, stretch.counts(up)) - hip;
                // What the pelvis was not lowered for.
                hip + to_foot.clamp_length_max(stretch.reach_m())
            }
            Place::Hand { .. } => near_m,
        }
    }
}
