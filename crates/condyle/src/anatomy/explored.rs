//! The clinical angles that motion goes through, against their published ranges.

use std::num::NonZeroUsize;

use super::{AnatomicalJoint, Anatomy, AngleName, Coverage, PublishedRange};
use crate::math::{Angle, Rotation};
use crate::motion::Clip;
use crate::rig::{LeftOut, RigJoints};
use crate::skeleton::{JointIndex, Skeleton};
use crate::threads;

/// What motion shows of a joint of the body.
#[derive(Clone, Debug)]
pub struct Explored<'a> {
    /// Which.
    pub joint: &'a AnatomicalJoint,
    /// In the order of [`BodyJoint::angles`](super::BodyJoint::angles).
    pub angles: [ExploredAngle; 3],
}

/// From where to where a clinical angle went.
#[derive(Clone, Debug, PartialEq)]
pub struct ExploredAngle {
    /// Which.
    pub name: AngleName,
    /// The lowest that was seen.
    pub lowest: Angle,
    /// The highest that was seen.
    pub highest: Angle,
    /// The published range, and how much of it that is.
    pub published: Option<(PublishedRange, Coverage)>,
}

impl Anatomy {
    /// The joints that published ranges are about: those that are the only one of their name, and those
    /// in a row that are [taken as one](Self::wholes), as a shoulder is with its clavicle.
    pub fn measured(&self) -> impl Iterator<Item = &AnatomicalJoint> {
        self.alone().filter(|joint| joint.whole).chain(self.wholes())
    }

    /// All joints but those that are a row by themselves.
    fn alone(&self) -> impl Iterator<Item = &AnatomicalJoint> {
        let is_row = |joint: &AnatomicalJoint| {
            self.wholes().iter().any(|w| (w.what, &w.chain) == (joint.what, &joint.chain))
        };
        self.joints().filter(move |joint| !is_row(joint))
    }

    /// What clips show of each of these: the lowest and the highest of their angles, and how much of the
    /// published ranges that is.
    ///
    /// `skeleton` is that of the anatomy; joints are matched by name, and clips, each with its own
    /// skeleton, count from their own rest pose, as in an estimate. Left out are poses in front of the
    /// motion and, of a rig that was estimated, frames in which a joint has a rotation that it
    /// [left out](crate::rig::RigJoint::left_out). Joints that no clip has are not among the answers.
    #[must_use]
    pub fn explored(
        &self,
        skeleton: &Skeleton,
        clips: &[(&Skeleton, &Clip)],
        rig: &RigJoints,
        threads: NonZeroUsize,
    ) -> Vec<Explored<'_>> {
        let measured: Vec<&AnatomicalJoint> = self.measured().collect();
        explored(&measured, skeleton, clips, rig, threads)
    }

    /// The same for the joints that are taken as one, and then for all that are not one by themselves:
    /// also for those without published ranges.
    pub(crate) fn explored_by_all(
        &self,
        skeleton: &Skeleton,
        clips: &[(&Skeleton, &Clip)],
        rig: &RigJoints,
    ) -> Vec<Explored<'_>> {
        let all: Vec<&AnatomicalJoint> = self.wholes().iter().chain(self.alone()).collect();
        explored(&all, skeleton, clips, rig, NonZeroUsize::MIN)
    }
}

fn explored<'a>(
    joints: &[&'a AnatomicalJoint],
    skeleton: &Skeleton,
    clips: &[(&Skeleton, &Clip)],
    rig: &RigJoints,
    threads: NonZeroUsize,
) -> Vec<Explored<'a>> {
    let starts: Vec<usize> =
        clips.iter().map(|(_, clip)| usize::from(clip.has_leading_pose())).collect();
    let explored = threads::each(joints, threads, |joint| {
        let mut ends = None;
        for ((own, clip), start) in clips.iter().zip(&starts) {
            let chain = Chain::of(joint, skeleton, own, clip, rig);
            ends = join(ends, chain.and_then(|chain| chain.ranges(clip, *start)));
        }
        Some(Explored::new(joint, ends?))
    });
    explored.into_iter().flatten().collect()
}

impl<'a> Explored<'a> {
    fn new(joint: &'a AnatomicalJoint, ends: [[Angle; 2]; 3]) -> Self {
        let mut published = joint.published();
        let names = joint.what.angles();
        let angles = std::array::from_fn(|i| {
            let [lowest, highest] = ends[i];
            let published = published[i].take().map(|range| {
                let coverage = range.coverage(lowest, highest);
                (range, coverage)
            });
            ExploredAngle { name: names[i], lowest, highest, published }
        });
        Self { joint, angles }
    }
}

impl AnatomicalJoint {
    /// The lowest and the highest of each clinical angle over some poses, which give the local rotation
    /// of every joint of the [chain](Self::chain), or `None` if the pose does not count. `None` if none
    /// does.
    ///
    /// Angles are those of [`angles`](Self::angles): one that goes through half a turn has been at both
    /// ends.
    #[must_use]
    pub fn ranges<P: FnMut(JointIndex) -> Option<Rotation>>(
        &self,
        poses: impl IntoIterator<Item = P>,
    ) -> Option<[[Angle; 2]; 3]> {
        let mut ends = None;
        for mut pose in poses {
            let mut counts = true;
            let angles = self.angles_along(|joint| {
                pose(joint).unwrap_or_else(|| {
                    counts = false;
                    Rotation::IDENTITY
                })
            });
            if counts {
                ends = join(ends, Some(angles.map(|angle| [angle, angle])));
            }
        }
        ends
    }
}

/// Ranges that hold both.
fn join(a: Option<[[Angle; 2]; 3]>, b: Option<[[Angle; 2]; 3]>) -> Option<[[Angle; 2]; 3]> {
    let (Some(a), Some(b)) = (a, b) else { return a.or(b) };
    let either = |x: Angle, y: Angle, first: bool| if first { x } else { y };
    Some(std::array::from_fn(|i| {
        let ([low, high], [lowest, highest]) = (a[i], b[i]);
        [either(low, lowest, low < lowest), either(high, highest, high > highest)]
    }))
}

/// The joints of an anatomical joint in one clip.
struct Chain<'a> {
    joint: &'a AnatomicalJoint,
    links: Vec<Link>,
}

struct Link {
    joint: JointIndex,
    /// In the clip's skeleton.
    own: JointIndex,
    /// From local rotations of the clip to those that have the same turn from rest.
    turn: Option<Rotation>,
    left_out: LeftOut,
}

impl<'a> Chain<'a> {
    fn of(
        joint: &'a AnatomicalJoint,
        skeleton: &Skeleton,
        own: &Skeleton,
        clip: &Clip,
        rig: &RigJoints,
    ) -> Option<Self> {
        let link = |j: &JointIndex| {
            let ours = skeleton.joints().get(j.get())?;
            let other = own.find(&ours.name).filter(|k| k.get() < clip.tracks().len())?;
            let rest = own[other].rest;
            let turn = (rest.quat() != ours.rest.quat()).then(|| ours.rest * rest.inverse());
            let left_out = rig.get(&ours.name).into_iter().flat_map(|e| e.left_out.iter().copied());
            Some(Link { joint: *j, own: other, turn, left_out: LeftOut::new(left_out) })
        };
        let links: Option<Vec<Link>> = joint.chain.iter().map(link).collect();
        Some(Self { joint, links: links? })
    }

    fn ranges(&self, clip: &Clip, start: usize) -> Option<[[Angle; 2]; 3]> {
        self.joint.ranges(clip.frames().skip(start).map(|frame| {
            move |joint: JointIndex| {
                let link = self.links.iter().find(|link| link.joint == joint)?;
                let local = clip.rotation(link.own, frame);
                let local = link.turn.map_or(local, |turn| turn * local);
                (!link.left_out.has(local)).then_some(local)
            }
        }))
    }
}
