//! An estimate about another pose than rest.

use std::collections::BTreeMap;

use super::hinge::ON_ORBIT;
use super::joint::REPAIR_NOT_ALLOWED;
use super::{Estimate, EstimateError, EstimateOptions, Pair, Take, from_sources};
use crate::math::{Angle, Rotation};
use crate::motion::Pose;
use crate::rig::JointKind;
use crate::skeleton::Skeleton;

/// A bind pose that is not the rest pose of the files: the local rotation of each joint, by name.
///
/// Motion files seldom say how their figure was bound. BVH files of captured motion often have rest
/// poses that nobody could take, and the T-pose as a frame of its own.
#[derive(Clone, Debug, Default)]
pub struct BindPose {
    rotations: BTreeMap<String, Rotation>,
}

impl BindPose {
    /// A pose of a skeleton.
    ///
    /// # Panics
    ///
    /// If the pose is not one of this skeleton.
    #[must_use]
    pub fn new(skeleton: &Skeleton, pose: &Pose) -> Self {
        let rotations = skeleton
            .indices()
            .map(|joint| (skeleton[joint].name.clone(), pose.rotations[joint.get()]))
            .collect();
        Self { rotations }
    }

    /// How many joints of a skeleton it has, roots apart.
    #[must_use]
    pub fn shared_with(&self, skeleton: &Skeleton) -> usize {
        let below = |joint: &_| skeleton.parent(*joint).is_some();
        let known = |joint: &_| self.rotations.contains_key(&skeleton[*joint].name);
        skeleton.indices().filter(below).filter(known).count()
    }

    /// The skeleton as if it rested in this pose.
    fn resting(&self, skeleton: &Skeleton) -> Skeleton {
        skeleton.with_rests(|joint| self.rotations.get(&joint.name).copied().unwrap_or(joint.rest))
    }
}

/// [`estimate`](super::estimate) with angles that count from a bind pose, and not from rest.
///
/// The zero of each limit is the bind pose, or the rotation nearest to it on the orbit of a hinge or
/// on the surface of a universal joint. The skeleton keeps its rest: the `center` of an entry leads
/// from there to the zero, and whether rest is inside is said as always. Where it is not, and the
/// bind pose is, a joint starts from that. Joints that the bind pose does not have keep their rest.
///
/// # Errors
///
/// As of [`estimate`](super::estimate).
pub fn estimate_about(
    bind: &BindPose,
    takes: &[Take<'_>],
    options: &EstimateOptions,
) -> Result<Estimate, EstimateError> {
    about(bind, takes, &[], options)
}

/// [`estimate_about`], with motion of some joints that also counts for others.
pub(super) fn about(
    bind: &BindPose,
    takes: &[Take<'_>],
    pairs: &[Pair<'_>],
    options: &EstimateOptions,
) -> Result<Estimate, EstimateError> {
    let skeletons: Vec<Skeleton> = takes.iter().map(|t| bind.resting(t.skeleton)).collect();
    let resting: Vec<Take<'_>> = takes
        .iter()
        .zip(&skeletons)
        .map(|(take, skeleton)| Take { skeleton, clip: take.clip })
        .collect();
    let mut found = from_sources(&resting, pairs, options)?;
    let Some(first) = takes.first() else { return Ok(found) };
    found.skeleton = first.skeleton.clone();
    for (name, entry) in found.joints.iter_mut() {
        let Some(joint) = first.skeleton.find(name) else { continue };
        if first.skeleton.parent(joint).is_none() {
            continue;
        }
        let (Some(bound), Ok(limit)) = (bind.rotations.get(name), entry.limit.prepare()) else {
            continue;
        };
        let bound_inside = limit.contains(entry.center.inverse());
        let rest = first.skeleton[joint].rest;
        entry.center = (rest.inverse() * *bound * entry.center).canonical();
        let back = entry.center.inverse();
        let excess = -limit.distance(back).radians();
        // Seen from rest, an orbit so near would go through it.
        let near = match entry.kind {
            JointKind::Ball => 0.0,
            _ => entry.noise.map_or(0.0, Angle::radians).max(ON_ORBIT),
        };
        let inside = excess <= near || limit.contains(back);
        entry.rest_inside = Some(inside);
        entry.rest_excess = Some(Angle::from_radians(if inside { 0.0 } else { excess }));
        if inside || bound_inside {
            entry.start = (!inside).then_some(*bound);
            entry.notes.retain(|note| note != REPAIR_NOT_ALLOWED);
        }
    }
    Ok(found)
}
