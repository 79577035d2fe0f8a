//! Hands and feet brought to where those of the source are.

use std::f64::consts::FRAC_1_SQRT_2;

use glam::DVec3;

use super::body::{Body, Part};
use super::reach::Reach;
use super::retarget::Retarget;
use crate::anatomy::{BodyJoint, BodySide};
use crate::enforce::BoundRig;
use crate::ik::{Body as Reacher, Figure, Goal, REACHED_M, Settings};
use crate::math::{Rotation, unit};
use crate::motion::{Clip, FrameIndex, Pose, World};
use crate::skeleton::JointIndex;

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
    /// From the middle between the shoulders, those of the source and of the target, so many times as far.
    Hand { shoulders: [[JointIndex; 2]; 2], times: f64 },
}

/// The turn from one world to another, which way is up there, and the scale.
type Turned = (Rotation, DVec3, f64);

pub(super) fn keep(
    retarget: &Retarget<'_>,
    (clip, scale): (&Clip, f64),
    moved: &mut Clip,
    ends: &[BodyJoint],
    rig: Option<&BoundRig>,
) -> (Vec<KeptLimb>, Vec<Part>) {
    let [source, target] = retarget.bodies();
    let (turn, up) = retarget.turn();
    let mut limbs: Vec<(Chain, KeptLimb)> = Vec::new();
    let mut without: Vec<Part> = Vec::new();
    for what in ends {
        for side in [BodySide::Left, BodySide::Right] {
            let Some(chain) = Chain::find(retarget, *what, side, scale) else {
                without.push((*what, side));
                continue;
            };
            let frames = clip.frame_count();
            let (end, worst_frame) = (chain.limb.end, FrameIndex(0));
            let kept =
                KeptLimb { end, what: *what, side, frames, reached: 0, worst_m: 0.0, worst_frame };
            limbs.push((chain, kept));
        }
    }
    if limbs.is_empty() {
        return (Vec::new(), without);
    }
    let figure = rig.map(|rig| {
        let mut figure = Figure::new(target.skeleton, rig);
        let moves = |j: &JointIndex| limbs.iter().any(|(c, _)| c.limb.joints().contains(j));
        target.skeleton.indices().filter(|j| !moves(j)).for_each(|j| figure.hold(j));
        figure
    });
    let mut reacher = figure.as_ref().map(|figure| Reacher::new(figure, target.skeleton));
    let (mut pose, mut ours) = (Pose::default(), World::new());
    let (mut theirs, mut world) = (Pose::default(), World::new());
    let mut goals: Vec<Goal> = Vec::new();
    let mut places: Vec<DVec3> = Vec::new();
    for frame in clip.frames() {
        clip.pose_into(frame, &mut pose);
        ours.update(source.skeleton, &pose);
        moved.pose_into(frame, &mut theirs);
        world.update(target.skeleton, &theirs);
        let before = theirs.clone();
        places.clear();
        let turned = (turn, up, scale);
        places.extend(limbs.iter().map(|(c, _)| c.place_m(turned, &ours, &world)));
        if let Some(reacher) = &mut reacher {
            goals.clear();
            for ((c, _), place) in limbs.iter().zip(&places) {
                let own = world.rotations[c.limb.end.get()];
                goals.push(Goal::position(c.limb.end, *place));
                goals.push(Goal::rotation(c.limb.end, own).weighted(ORIENTATION));
            }
            let posture = Some((&before, POSTURE));
            let settings = Settings { near_m: 0.01 * REACHED_M, posture, ..Settings::default() };
            reacher.solve(&before, &goals, &settings, &mut theirs);
        } else {
            for ((c, _), place) in limbs.iter().zip(&places) {
                c.limb.reach(target.skeleton, &mut theirs, &world, *place);
            }
        }
        world.update(target.skeleton, &theirs);
        for ((c, kept), place) in limbs.iter_mut().zip(&places) {
            let miss = world.positions_m[c.limb.end.get()].distance(*place);
            kept.reached += usize::from(miss <= REACHED_M);
            if miss > kept.worst_m {
                (kept.worst_m, kept.worst_frame) = (miss, frame);
            }
            for j in c.limb.joints() {
                let local = theirs.rotations[j.get()];
                if local.quat() != before.rotations[j.get()].quat() {
                    moved.set_rotation(j, frame, local);
                }
            }
        }
    }
    (limbs.into_iter().map(|(_, kept)| kept).collect(), without)
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
                let fits = times.is_finite() && times > 0.0;
                fits.then_some(Place::Hand { shoulders, times })?
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
            Place::Hand { shoulders: [source, target], times } => {
                let middle = |world: &World, [a, b]: [JointIndex; 2]| {
                    (world.positions_m[a.get()] + world.positions_m[b.get()]) * 0.5
                };
                middle(theirs, target) + turn * ((goal - middle(ours, source)) * times)
            }
        }
    }
}
