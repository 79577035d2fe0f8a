//! One pose: a local rotation and translation per joint.

use glam::DVec3;

use crate::math::Rotation;
use crate::skeleton::Skeleton;

/// A local rotation and a local translation per joint, in the skeleton's order.
///
/// The translation is the joint centre in its parent's local space (world space for a root), in
/// metres. At rest it is the joint's `offset_m`.
#[derive(Clone, Debug, Default)]
pub struct Pose {
    /// Parent's local space from the joint's local space.
    pub rotations: Vec<Rotation>,
    /// The joint centre in the parent's local space, metres.
    pub translations_m: Vec<DVec3>,
}

impl Pose {
    /// The rest pose of a skeleton.
    #[must_use]
    pub fn rest(skeleton: &Skeleton) -> Self {
        Self {
            rotations: skeleton.joints().iter().map(|j| j.rest).collect(),
            translations_m: skeleton.joints().iter().map(|j| j.offset_m).collect(),
        }
    }
}
