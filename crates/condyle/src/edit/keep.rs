//! Hands and feet brought to where those of the source are.

use std::f64::consts::FRAC_1_SQRT_2;

use glam::DVec3;

use super::body::Body;
use super::retarget::Retarget;
use crate::anatomy::{BodyJoint, BodySide};
use crate::enforce::BoundRig;
use crate::ik::limb::{Limb, LimbGoal, LimbParts};
use crate::ik::{Body as Reacher, Figure, Goal, REACHED_M, Settings};
use crate::math::{Angle, Arc, Rotation, unit};
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
    upper: JointIndex,
    hinge: JointIndex,
    end: JointIndex,
    goal: JointIndex,
    place: Place,
    /// The sign of flexion about z of the upper segment's frame.
    sign: f64,
}

/// How the place of an end follows from that in the source.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In the world, scaled, and by so much farther above the sole of a flat foot, in metres.
    Foot { lift_m: f64 },
    /// From the middle between the shoulders, those of the source and of the target, so many times as far.
    Hand { shoulders: [[JointIndex; 2]; 2], times: f64 },
}

/// Straight, and as far as a knee or an elbow may bend for the sake of a goal.
const STRAIGHT: f64 = 0.0;
const BENT: f64 = 160.0 * (std::f64::consts::PI / 180.0);

/// The turn from one world to another, which way is up there, and the scale.
type Turned = (Rotation, DVec3, f64);

/// A limb whose end is so near to where it should be stays as it is: that is rounding.
const THERE_M: f64 = 1e-12;

pub(super) fn keep(
    retarget: &Retarget<'_>,
    (clip, scale): (&Clip, f64),
    moved: &mut Clip,
    ends: &[BodyJoint],
    rig: Option<&BoundRig>,
) -> Vec<KeptLimb> {
    let [source, target] = retarget.bodies();
    let (turn, up) = retarget.turn();
    let mut limbs: Vec<(Chain, KeptLimb)> = Vec::new();
    for what in ends {
        for side in [BodySide::Left, BodySide::Right] {
            let Some(chain) = Chain::find(source, target, *what, side, scale) else { continue };
            let frames = clip.frame_count();
            let (end, worst_frame) = (chain.end, FrameIndex(0));
            let kept =
                KeptLimb { end, what: *what, side, frames, reached: 0, worst_m: 0.0, worst_frame };
            limbs.push((chain, kept));
        }
    }
    if limbs.is_empty() {
        return Vec::new();
    }
    let figure = rig.map(|rig| {
        let mut figure = Figure::new(target.skeleton, rig);
        let moves = |j: &JointIndex| limbs.iter().any(|(c, _)| c.joints().contains(j));
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
                let own = world.rotations[c.end.get()];
                goals.push(Goal::position(c.end, *place));
                goals.push(Goal::rotation(c.end, own).weighted(ORIENTATION));
            }
            let posture = Some((&before, POSTURE));
            let settings = Settings { near_m: 0.01 * REACHED_M, posture, ..Settings::default() };
            reacher.solve(&before, &goals, &settings, &mut theirs);
        } else {
            for ((c, _), place) in limbs.iter().zip(&places) {
                c.reach(target, *place, &world, &mut theirs);
            }
        }
        world.update(target.skeleton, &theirs);
        for ((c, kept), place) in limbs.iter_mut().zip(&places) {
            let miss = world.positions_m[c.end.get()].distance(*place);
            kept.reached += usize::from(miss <= REACHED_M);
            if miss > kept.worst_m {
                (kept.worst_m, kept.worst_frame) = (miss, frame);
            }
            for j in c.joints() {
                let local = theirs.rotations[j.get()];
                if local.quat() != before.rotations[j.get()].quat() {
                    moved.set_rotation(j, frame, local);
                }
            }
        }
    }
    limbs.into_iter().map(|(_, kept)| kept).collect()
}

/// Against a metre of a missed place, what a radian counts of an end that is turned from where it was,
/// and of a joint that is turned from where it was: enough to choose between poses that reach.
const ORIENTATION: f64 = 1e-3;
const POSTURE: f64 = 1e-6;

impl Chain {
    fn find(
        source: &Body<'_>,
        target: &Body<'_>,
        what: BodyJoint,
        side: BodySide,
        scale: f64,
    ) -> Option<Self> {
        let (upper, hinge, sign) = match what {
            BodyJoint::Ankle => (BodyJoint::Hip, BodyJoint::Knee, -1.0),
            _ => (BodyJoint::Shoulder, BodyJoint::Elbow, 1.0),
        };
        let [upper, hinge, end] = [upper, hinge, what].map(|w| target.first(w, side));
        let (upper, hinge, end) = (upper?, hinge?, end?);
        let goal = source.first(what, side)?;
        let hangs = |below: JointIndex, on: JointIndex| {
            let up = |j: &JointIndex| target.skeleton.parent(*j);
            std::iter::successors(up(&below), up).any(|j| j == on)
        };
        if !hangs(hinge, upper) || !hangs(end, hinge) {
            return None;
        }
        let place = match what {
            BodyJoint::Ankle => {
                Place::Foot { lift_m: target.sole_m(side)? - scale * source.sole_m(side)? }
            }
            _ => {
                let times = target.span_m()? / source.span_m()?;
                let shoulders = |body: &Body<'_>| {
                    let both = [side, side.other()].map(|s| body.first(BodyJoint::Shoulder, s));
                    Some([both[0]?, both[1].or(both[0])?])
                };
                let shoulders = [shoulders(source)?, shoulders(target)?];
                let fits = times.is_finite() && times > 0.0;
                fits.then_some(Place::Hand { shoulders, times })?
            }
        };
        Some(Self { upper, hinge, end, goal, place, sign })
    }

    /// Where the end should be.
    fn place_m(&self, (turn, up, scale): Turned, ours: &World, theirs: &World) -> DVec3 {
        let goal = ours.positions_m[self.goal.get()];
        match self.place {
            Place::Foot { lift_m } => {
                // What is longer below the ankle is missing in the leg: it is raised towards the hip, but
                // only up or down, so that feet on the ground do not slide; by all of it as long as the
                // leg is within 45 degrees of the vertical.
                let [hip, ankle] = [self.upper, self.end].map(|j| theirs.positions_m[j.get()]);
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

    const fn joints(&self) -> [JointIndex; 3] {
        [self.upper, self.hinge, self.end]
    }

    /// Brings the end to a place, or as near as the bones let it: the hinge bends about the z axis of the
    /// upper segment's frame, so that of its clinical angles only flexion changes; the upper joint turns
    /// as little as it can; the end keeps its rotation in the world.
    fn reach(&self, body: &Body<'_>, place_m: DVec3, world: &World, pose: &mut Pose) {
        let [u, h, e] = self.joints().map(JointIndex::get);
        let (rotations, positions) = (&world.rotations, &world.positions_m);
        if positions[e].distance(place_m) <= THERE_M {
            return;
        }
        let above = |j| body.skeleton.parent(j).map_or(Rotation::IDENTITY, |p| rotations[p.get()]);
        let base = above(self.upper);
        let across = rotations[u].inverse() * rotations[h];
        let found = || {
            let frame = body.anatomy.frame(self.upper)?;
            let joint = body.anatomy.joint(self.hinge)?;
            let flexion = joint.angles_along(|j| pose.rotations[j.get()])[0].radians();
            let most = [STRAIGHT.min(flexion) - flexion, BENT.max(flexion) - flexion];
            let [a, b] = most.map(|by| Angle::from_radians(self.sign * by));
            let limb = Limb::new(&LimbParts {
                upper_m: rotations[u].inverse() * (positions[h] - positions[u]),
                lower_m: rotations[h].inverse() * (positions[e] - positions[h]),
                zeros: [pose.rotations[u], across, rotations[h].inverse() * rotations[e]],
                axis: across.inverse() * (frame * DVec3::Z),
                arc: if a < b { Arc::new(a, b)? } else { Arc::new(b, a)? },
            })?;
            let position_m = base.inverse() * (place_m - positions[u]);
            let goal = LimbGoal { position_m, rotation: Some(base.inverse() * rotations[e]) };
            Some(limb.pose_near(&goal, pose.rotations[u]).locals)
        };
        let Some([upper, hinge, _]) = found() else { return };
        // Joints between these three stay as they are.
        let bent = across.inverse() * hinge;
        let carries = base * upper * hinge * rotations[h].inverse() * above(self.end);
        pose.rotations[u] = upper;
        pose.rotations[h] = pose.rotations[h] * bent;
        pose.rotations[e] = carries.inverse() * rotations[e];
    }
}
