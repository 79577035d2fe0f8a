//! Hands and feet brought to where those of the source are.

use glam::DVec3;

use super::body::Body;
use super::retarget::Retarget;
use crate::anatomy::{BodyJoint, BodySide};
use crate::enforce::BoundRig;
use crate::ik::limb::{Limb, LimbGoal, LimbParts};
use crate::ik::{Body as Reacher, Figure, Goal, REACHED_M, Settings};
use crate::math::{Angle, Arc, Rotation};
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
    /// What is added to the place of the goal, scaled.
    lift_m: f64,
    /// The sign of flexion about z of the upper segment's frame.
    sign: f64,
}

/// Straight, and as far as a knee or an elbow may bend for the sake of a goal.
const STRAIGHT: f64 = 0.0;
const BENT: f64 = 160.0 * (std::f64::consts::PI / 180.0);

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
    for frame in clip.frames() {
        clip.pose_into(frame, &mut pose);
        ours.update(source.skeleton, &pose);
        moved.pose_into(frame, &mut theirs);
        world.update(target.skeleton, &theirs);
        let place = |c: &Chain| turn * (ours.positions_m[c.goal.get()] * scale) + up * c.lift_m;
        let before = theirs.clone();
        if let Some(reacher) = &mut reacher {
            goals.clear();
            for (c, _) in &limbs {
                let own = world.rotations[c.end.get()];
                goals.push(Goal::position(c.end, place(c)));
                goals.push(Goal::rotation(c.end, own).weighted(ORIENTATION));
            }
            let posture = Some((&before, POSTURE));
            let settings = Settings { near_m: 0.01 * REACHED_M, posture, ..Settings::default() };
            reacher.solve(&before, &goals, &settings, &mut theirs);
        } else {
            for (c, _) in &limbs {
                c.reach(target, place(c), &world, &mut theirs);
            }
        }
        world.update(target.skeleton, &theirs);
        for (c, kept) in &mut limbs {
            let miss = world.positions_m[c.end.get()].distance(place(c));
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
        let lift_m = match what {
            BodyJoint::Ankle => target.sole_m(side)? - scale * source.sole_m(side)?,
            _ => 0.0,
        };
        Some(Self { upper, hinge, end, goal, lift_m, sign })
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
