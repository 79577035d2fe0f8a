//! Whether two skeletons have the same rest pose.

use std::fmt;

use glam::DVec3;

use super::{JointIndex, Skeleton};
use crate::math::{Angle, Rotation, angle_between, unit};

/// A joint whose rest pose is another in one of two skeletons.
#[derive(Clone, Debug, PartialEq)]
pub struct RestsDiffer {
    /// The joint.
    pub joint: String,
    /// By how much.
    pub apart: Angle,
    /// What differs.
    pub of: RestPart,
}

/// A part of a rest pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestPart {
    /// The rest rotation of the joint. Each is taken relative to its own.
    Rotation,
    /// Where the bone from the parent to the joint points, with the same rest rotations: the same angles
    /// are then other poses.
    Bone,
}

impl RestsDiffer {
    /// Rests that differ by less are the same: 1°.
    pub const LEAST: Angle = Angle::from_degrees(1.0);
}

impl fmt::Display for RestsDiffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { joint, apart, of } = self;
        let apart = apart.degrees();
        match of {
            RestPart::Rotation => {
                write!(f, "the rest rotations of joint {joint:?} differ by {apart:.1} deg")
            }
            RestPart::Bone => {
                write!(f, "the bones to joint {joint:?} point {apart:.0} deg apart at rest")
            }
        }
    }
}

/// The bone from a parent to its joint in the rest pose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestBone {
    /// In the parent's local space.
    pub(crate) offset_m: DVec3,
    pub(crate) parent_rest: Rotation,
    /// A shorter one has no direction to speak of.
    pub(crate) short_m: f64,
}

/// What is another in the rest pose of a skeleton than in that of the first, joints matched by name:
/// rest rotations by more than 1°, and bones that point another way by more than people differ (25°).
///
/// Summaries tell it when they are [merged](crate::estimate::Summary::merge), of the skeletons that they stand for.
#[must_use]
pub fn rests_differ(first: &Skeleton, other: &Skeleton) -> Vec<RestsDiffer> {
    let short_m = [first, other].map(RestBone::short_m);
    let mut differ = Vec::new();
    for joint in first.indices() {
        let name = &first[joint].name;
        let Some(own) = other.find(name) else { continue };
        let apart = first[joint].rest.distance(other[own].rest);
        if apart > RestsDiffer::LEAST {
            differ.push(RestsDiffer { joint: name.clone(), apart, of: RestPart::Rotation });
        }
        let bones = [(first, joint, short_m[0]), (other, own, short_m[1])];
        if let [Some(ours), Some(theirs)] = bones.map(|(s, j, short_m)| RestBone::of(s, j, short_m))
            && let Some(apart) = ours.apart(&theirs)
        {
            differ.push(RestsDiffer { joint: name.clone(), apart, of: RestPart::Bone });
        }
    }
    differ
}

impl RestBone {
    /// The bone to a joint; `None` of a root.
    pub(crate) fn of(skeleton: &Skeleton, joint: JointIndex, short_m: f64) -> Option<Self> {
        let parent_rest = skeleton[skeleton.parent(joint)?].rest;
        Some(Self { offset_m: skeleton[joint].offset_m, parent_rest, short_m })
    }

    /// Of 56 pairs of files with the same names of joints and, as it seems, the same rest pose, bones
    /// differ by up to 20.4°, at the shoulders. Arms of an A-pose usually hang lower than that.
    pub(crate) const LEAST: Angle = Angle::from_radians(25.0 / 180.0 * std::f64::consts::PI);

    /// So short a bone of a figure has no direction.
    pub(crate) fn short_m(skeleton: &Skeleton) -> f64 {
        0.005 * skeleton.longest_path_m()
    }

    /// By how much the same bone of another skeleton points another way, if that is more than people
    /// differ and the rest rotations of the parents are the same: if not, they tell.
    pub(crate) fn apart(&self, other: &Self) -> Option<Angle> {
        if self.parent_rest.distance(other.parent_rest) > RestsDiffer::LEAST {
            return None;
        }
        let apart = angle_between(self.direction()?, other.direction()?);
        (apart > Self::LEAST).then_some(apart)
    }

    fn direction(&self) -> Option<DVec3> {
        unit(self.offset_m).filter(|_| self.offset_m.length() > self.short_m)
    }
}
