//! One pose: a local rotation and translation per joint.

use glam::DVec3;

use crate::math::{Angle, Rotation};
use crate::skeleton::{JointIndex, Skeleton};

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

    /// The joint that is turned farthest from rest, and by how much; roots are not asked, since
    /// where a figure faces is no part of its rest pose. `None` if there are only roots.
    ///
    /// # Panics
    ///
    /// If the pose is not one of this skeleton.
    #[must_use]
    pub fn farthest_from_rest(&self, skeleton: &Skeleton) -> Option<(JointIndex, Angle)> {
        let joints = skeleton.indices().filter(|&j| skeleton.parent(j).is_some());
        joints
            .map(|j| (j, self.rotations[j.get()].distance(skeleton[j].rest)))
            .max_by(|a, b| a.1.radians().total_cmp(&b.1.radians()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::Joint;

    #[test]
    fn the_root_has_no_say_in_how_far_a_pose_is_from_rest() {
        let mut s = Skeleton::new();
        let root = s.add_root(Joint::new("root", DVec3::ZERO)).unwrap();
        assert!(Pose::rest(&s).farthest_from_rest(&s).is_none());
        let a = s.add(root, Joint::new("a", DVec3::X)).unwrap();
        let b = s.add(a, Joint::new("b", DVec3::X)).unwrap();
        let mut pose = Pose::rest(&s);
        for (joint, degrees) in [(root, 90.0), (a, 10.0), (b, -20.0)] {
            pose.rotations[joint.get()] = Rotation::about_x(Angle::from_degrees(degrees));
        }
        let (joint, angle) = pose.farthest_from_rest(&s).unwrap();
        assert_eq!(joint, b);
        assert!((angle.degrees() - 20.0).abs() < 1e-12);
    }
}
