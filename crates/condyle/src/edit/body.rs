//! The joints of a skeleton as those of a body: what each is, and an anatomical frame for every one.

use glam::DVec3;

use super::Ground;
use crate::anatomy::{Anatomy, BodyJoint, BodySide};
use crate::math::Rotation;
use crate::motion::{Pose, World};
use crate::rig::name_table::frame_of;
use crate::skeleton::{JointIndex, Skeleton};

/// Which joint of the body, with the back as one, and on which side.
pub(super) type Part = (BodyJoint, BodySide);

/// A skeleton whose joints we know.
#[derive(Clone, Debug)]
pub(super) struct Body<'a> {
    pub(super) skeleton: &'a Skeleton,
    pub(super) anatomy: Anatomy,
    pub(super) pelvis: JointIndex,
    /// What a joint is, if it has an anatomical frame.
    pub(super) known: Vec<Option<Part>>,
    /// The nearest ancestor that is known.
    pub(super) above: Vec<Option<JointIndex>>,
}

impl<'a> Body<'a> {
    /// `None` if the pelvis has no frame.
    pub(super) fn new(skeleton: &'a Skeleton, anatomy: Anatomy) -> Option<Self> {
        let pelvis = anatomy.pelvis().filter(|j| j.get() < skeleton.len())?;
        anatomy.frame(pelvis)?;
        let known = |j| anatomy.name(j).filter(|_| anatomy.frame(j).is_some());
        let known: Vec<Option<Part>> = skeleton.indices().map(known).collect();
        let mut above: Vec<Option<JointIndex>> = Vec::with_capacity(skeleton.len());
        for j in skeleton.indices() {
            above.push(skeleton.parent(j).and_then(|p| match known[p.get()] {
                Some(_) => Some(p),
                None => above[p.get()],
            }));
        }
        Some(Self { skeleton, anatomy, pelvis, known, above })
    }

    /// An anatomical frame for every joint, in its local space: its own; else that of its parent, as both
    /// are in the pose that the frames are from; else the axes of a world.
    pub(super) fn frames(&self, world: Rotation) -> Vec<Rotation> {
        let mut frames: Vec<Rotation> = Vec::with_capacity(self.skeleton.len());
        for j in self.skeleton.indices() {
            let parent = self.skeleton.parent(j);
            let at_rest = || {
                let above = parent.map_or(world, |p| frames[p.get()]);
                self.anatomy.neutral(j).inverse() * above
            };
            frames.push(self.anatomy.frame(j).unwrap_or_else(at_rest));
        }
        frames
    }

    /// Where joints are in the pose that the frames are from, with bones as long as they are at rest.
    fn neutral_world(&self) -> World {
        let joints = self.skeleton.indices();
        let rotations = joints.map(|j| self.anatomy.neutral(j)).collect();
        let translations_m = self.skeleton.joints().iter().map(|joint| joint.offset_m).collect();
        Pose { rotations, translations_m }.world(self.skeleton)
    }

    /// From the root to the pelvis.
    pub(super) fn trunk(&self) -> Vec<JointIndex> {
        let up = std::iter::successors(Some(self.pelvis), |j| self.skeleton.parent(*j));
        let mut trunk: Vec<JointIndex> = up.collect();
        trunk.reverse();
        trunk
    }

    /// What of the body a joint is a part of: lumbar and thoracic joints are one row.
    pub(super) fn part(&self, joint: JointIndex) -> Option<Part> {
        let (what, side) = self.known[joint.get()]?;
        match what {
            BodyJoint::Lumbar | BodyJoint::Thoracic => Some((BodyJoint::Back, side)),
            _ => Some((what, side)),
        }
    }

    /// The joints of a part, one above the next; the longest such row, of equals the first.
    pub(super) fn row(&self, part: Part) -> Vec<JointIndex> {
        let of_part = |j: &JointIndex| self.part(*j) == Some(part);
        let next = |j: JointIndex| self.above[j.get()].filter(of_part);
        // How many there are from the top; parents come first.
        let mut depth = vec![0_usize; self.skeleton.len()];
        let mut last: Option<JointIndex> = None;
        for j in self.skeleton.indices().filter(of_part) {
            depth[j.get()] = 1 + next(j).map_or(0, |a| depth[a.get()]);
            if last.is_none_or(|l| depth[j.get()] > depth[l.get()]) {
                last = Some(j);
            }
        }
        let mut row: Vec<JointIndex> = std::iter::successors(last, |j| next(*j)).collect();
        row.reverse();
        row
    }

    /// The first joint of a part.
    pub(super) fn first(&self, what: BodyJoint, side: BodySide) -> Option<JointIndex> {
        self.skeleton.indices().find(|j| self.known[j.get()] == Some((what, side)))
    }

    /// How far the sole is below the ankle when the foot stands flat, in metres: the lowest of what is
    /// below it in the pose that the frames are from. `None` without an ankle.
    pub(super) fn sole_m(&self, side: BodySide) -> Option<f64> {
        let ankle = self.first(BodyJoint::Ankle, side)?;
        let down = self.anatomy.frame(ankle)? * DVec3::NEG_Y;
        // Places and rotations in the local space of the ankle.
        let mut places: Vec<Option<(Rotation, DVec3)>> = vec![None; self.skeleton.len()];
        let mut lowest = 0.0_f64;
        for j in self.skeleton.indices() {
            let joint = &self.skeleton[j];
            let parent = || places[self.skeleton.parent(j)?.get()];
            let Some((turn, place)) = (if j == ankle {
                Some((Rotation::IDENTITY, DVec3::ZERO))
            } else {
                parent()
                    .map(|(turn, at)| (turn * self.anatomy.neutral(j), at + turn * joint.offset_m))
            }) else {
                continue;
            };
            places[j.get()] = Some((turn, place));
            let ends = joint.end_sites.iter().map(|site| place + turn * site.offset_m);
            lowest = ends.chain([place]).map(|p| p.dot(down)).fold(lowest, f64::max);
        }
        Some(lowest)
    }

    /// The height of the pelvis above the soles of straight legs, in metres; the mean of both sides.
    /// `None` without legs.
    pub(super) fn pelvis_height_m(&self) -> Option<f64> {
        let World { positions_m: rest, rotations } = self.neutral_world();
        let turn = rotations[self.pelvis.get()];
        let down = turn * (self.anatomy.frame(self.pelvis)? * DVec3::NEG_Y);
        let leg = |side| {
            let at = |what| Some(rest[self.first(what, side)?.get()]);
            let leg = [BodyJoint::Hip, BodyJoint::Knee, BodyJoint::Ankle].map(at);
            let to_hip = (leg[0]? - rest[self.pelvis.get()]).dot(down);
            Some(to_hip + length_m(&leg)? + self.sole_m(side)?)
        };
        mean(leg)
    }

    /// How far a hand reaches from the middle between the shoulders, in metres; the mean of both sides, whose
    /// wrists are given. `None` without arms.
    pub(super) fn span_m(&self, [left, right]: [Option<JointIndex>; 2]) -> Option<f64> {
        let rest = self.neutral_world().positions_m;
        let at = |side| Some(rest[self.first(BodyJoint::Shoulder, side)?.get()]);
        let half = length_m(&[BodySide::Left, BodySide::Right].map(at)).unwrap_or(0.0) * 0.5;
        mean(|side| {
            let wrist = if side == BodySide::Left { left } else { right };
            Some(half + self.arm_m(side, wrist?)?)
        })
    }

    /// The length of an arm from the shoulder to its wrist, in metres. `None` without one.
    pub(super) fn arm_m(&self, side: BodySide, wrist: JointIndex) -> Option<f64> {
        let rest = self.neutral_world().positions_m;
        let at = |what| Some(rest[self.first(what, side)?.get()]);
        let arm = [at(BodyJoint::Shoulder), at(BodyJoint::Elbow), Some(rest[wrist.get()])];
        length_m(&arm).filter(|m| m.is_finite() && *m > 0.0)
    }
}

/// The mean of what both sides have, or that of one, if it is a positive number.
fn mean(of: impl Fn(BodySide) -> Option<f64>) -> Option<f64> {
    let mean = match (of(BodySide::Left), of(BodySide::Right)) {
        (Some(a), Some(b)) => Some(0.5 * (a + b)),
        (one, other) => one.or(other),
    };
    mean.filter(|m| m.is_finite() && *m > 0.0)
}

/// The distance of joints that hang on each other, from the first to the last, in metres; `None` if one is
/// missing.
fn length_m(places: &[Option<DVec3>]) -> Option<f64> {
    let steps = places.windows(2).map(|w| Some(w[0]?.distance(w[1]?)));
    steps.sum()
}

/// The anatomical frame of who stands in a world: x forward, y up, z to the right.
pub(super) fn axes(up: DVec3, forward: DVec3) -> Rotation {
    frame_of(forward, up).unwrap_or_default()
}

/// The same of a ground.
pub(super) fn axes_of(ground: Ground) -> Rotation {
    axes(ground.up(), ground.forward())
}
