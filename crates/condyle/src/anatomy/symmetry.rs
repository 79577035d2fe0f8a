//! Left against right: motion and limits of one side as those of the other.

use std::f64::consts::PI;
use std::num::NonZeroUsize;

use glam::{DMat3, DVec3};

use super::angles::mirrored;
use super::trials::Placed;
use super::{AnatomicalJoint, Anatomy, BodySide};
use crate::limits::LimitError;
use crate::math::{Angle, Rotation, trig};
use crate::rig::{JointKind, RigJoint, RigJoints};
use crate::skeleton::{JointIndex, Skeleton};
use crate::threads;

/// How far the limits of a left and a right joint differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asymmetry {
    /// By how much the left goes beyond the mirror image of the right, at most; zero if nowhere.
    pub left_beyond: Angle,
    /// By how much the right goes beyond the mirror image of the left, at most; zero if nowhere.
    pub right_beyond: Angle,
}

impl Anatomy {
    /// The same joint on the other side. `None` for those in the middle, and where there is none, or
    /// more than one.
    #[must_use]
    pub fn counterpart(&self, joint: JointIndex) -> Option<&AnatomicalJoint> {
        let of = self.joint(joint)?;
        if of.side == BodySide::Middle {
            return None;
        }
        let mut others = self.joints().filter(|j| j.what == of.what && j.side == of.side.other());
        let found = others.next();
        found.filter(|_| others.next().is_none())
    }

    /// What moves as what when the body is seen in a mirror: each joint that has frames, and its
    /// [counterpart](Self::counterpart), or itself if it is in the middle. Without those that have no
    /// counterpart, or more than one.
    ///
    /// With [`AnatomicalJoint::image_of`] that is all an estimate needs to make limits symmetric.
    pub fn images(&self) -> impl Iterator<Item = (&AnatomicalJoint, &AnatomicalJoint)> {
        self.joints().filter_map(|joint| match joint.side {
            BodySide::Middle => Some((joint, joint)),
            _ => Some((joint, self.counterpart(joint.joint()?)?)),
        })
    }

    /// The joints of a skeleton that are pairs of left and right.
    pub(crate) fn sides(&self, skeleton: &Skeleton) -> Vec<[JointIndex; 2]> {
        let pairs = self.joints().filter(|joint| joint.side == BodySide::Left).filter_map(|left| {
            let left = left.joint()?;
            Some([left, self.counterpart(left)?.joint()?])
        });
        pairs.filter(|pair| pair.iter().all(|j| j.get() < skeleton.len())).collect()
    }

    /// Makes the entries of right joints the mirror images of those of the left ones. Where both sides
    /// were estimated from the samples of both (see [`images`](Self::images)) the limit then holds these
    /// as before, and left and right do not differ by what bones, rest poses and local spaces do.
    ///
    /// Boxes of Euler angles can be mirrored only across coordinate planes; others stay as they are.
    pub fn symmetrise(&self, skeleton: &Skeleton, joints: &mut RigJoints) {
        for [left, right] in self.sides(skeleton) {
            let Some(entry) = joints.get(&skeleton[left].name) else { continue };
            let Some(Ok(mut image)) = self.mirrored(skeleton, left, entry) else { continue };
            if entry.rest_inside.is_some() && image.rest_inside.is_none() {
                settle_rest(&mut image, skeleton[right].rest);
            }
            // What was as far out as is allowed is not to be farther by rounding.
            image.tolerance =
                image.tolerance.map(|by| Angle::from_radians(by.radians() * (1.0 + 1e-6)));
            if let Some(entry) = joints.get_mut(&skeleton[right].name) {
                image.left_out = std::mem::take(&mut entry.left_out);
                *entry = image;
            }
        }
    }

    /// How far the limits of all pairs of left and right differ that can be compared, with their joints,
    /// in the order of the skeleton.
    #[must_use]
    pub fn asymmetries(
        &self,
        skeleton: &Skeleton,
        joints: &RigJoints,
        threads: NonZeroUsize,
    ) -> Vec<([JointIndex; 2], Asymmetry)> {
        let found = threads::each(&self.sides(skeleton), threads, |[left, right]| {
            let [ours, theirs] = [left, right].map(|j| joints.get(&skeleton[*j].name));
            let found = self.asymmetry(skeleton, (*left, ours?), theirs?)?.ok()?;
            Some(([*left, *right], found))
        });
        found.into_iter().flatten().collect()
    }

    /// The entry of a rig for the joint on the other side: it allows what, mirrored, `entry` allows for
    /// `joint`. `None` if there is no [counterpart](Self::counterpart).
    ///
    /// # Errors
    ///
    /// Those of [`RigJoint::mirrored`]: boxes of Euler angles are about coordinate axes and cannot be
    /// mirrored across every plane.
    pub fn mirrored(
        &self,
        skeleton: &Skeleton,
        joint: JointIndex,
        entry: &RigJoint,
    ) -> Option<Result<RigJoint, LimitError>> {
        let (from, to) = (self.joint(joint)?, self.counterpart(joint)?);
        let (here, there) = (skeleton[joint].rest, skeleton[to.joint()?].rest);
        Some(mirrored_entry(from, to, [here, there], entry))
    }

    /// How far the limits of a joint and of its counterpart differ: a left joint with its entry, and the
    /// entry of the right one. `None` if there is no counterpart.
    ///
    /// How far one goes beyond the other is found by trying the edge of the one, and by going uphill
    /// from the worst of it. So it is a lower bound. Measured on 24 pairs of random limits of hinges,
    /// universal and ball joints, it is at most 0.23° below what 100,000 rotations spread evenly find
    /// when they are moved into the one limit, and mostly equal.
    ///
    /// # Errors
    ///
    /// Those of [`mirrored`](Self::mirrored) and of
    /// [`Limit::prepare`](crate::limits::Limit::prepare).
    pub fn asymmetry(
        &self,
        skeleton: &Skeleton,
        left: (JointIndex, &RigJoint),
        right: &RigJoint,
    ) -> Option<Result<Asymmetry, LimitError>> {
        let image = self.mirrored(skeleton, left.0, left.1)?;
        Some(image.and_then(|image| compare(&image, right)))
    }
}

impl AnatomicalJoint {
    /// The local rotation of this joint that has the clinical angles of another one, of the same kind,
    /// at a local rotation: motion of the left side as motion of the right. To make limits symmetric,
    /// estimate both sides from the samples of both.
    #[must_use]
    pub fn local_from(&self, other: &Self, local: Rotation) -> Rotation {
        self.at_parent * self.to_right(other.rotation(local)) * self.distal.inverse()
    }

    /// The local rotation of this joint in the mirror image of a body in which another one, of the same
    /// kind, has a local rotation: for left and right that of [`local_from`](Self::local_from). A joint
    /// in the middle is its own image, bent and turned to the other side.
    #[must_use]
    pub fn image_of(&self, other: &Self, local: Rotation) -> Rotation {
        let there = other.at_parent.inverse() * local * other.distal;
        self.at_parent * mirrored(there) * self.distal.inverse()
    }
}

/// With P and D the proximal and distal frames, M the mirror z → −z, and 1 and 2 the joints:
///
/// ```text
///   local₂ = P₂ M(P₁⁻¹ local₁ D₁) D₂⁻¹,   local = rest · center · m
///   m₂ = O m₁ O⁻¹,   O = D₂ M D₁⁻¹
/// ```
///
/// and center₂ is what is left.
fn mirrored_entry(
    from: &AnatomicalJoint,
    to: &AnatomicalJoint,
    [here, there]: [Rotation; 2],
    entry: &RigJoint,
) -> Result<RigJoint, LimitError> {
    let mut image = entry.clone();
    for normal in reflections(from.distal, to.distal) {
        image = image.mirrored(normal)?;
    }
    image.center = there.inverse() * to.local_from(from, here * entry.center);
    image.start = entry.start.map(|start| to.local_from(from, start));
    // The frames are of the one joint.
    image.left_out = Vec::new();
    // What is said of the one rest pose holds for the other if that is its mirror image.
    if to.local_from(from, here).distance(there).radians() > 1e-6 {
        (image.rest_inside, image.rest_excess) = (None, None);
    }
    Ok(image)
}

/// Says of an image whether the rest pose of its joint, which is another, is allowed, as an estimate
/// does; and if not, where to start: as the other side, or from what is nearest.
fn settle_rest(image: &mut RigJoint, rest: Rotation) {
    // An orbit so near goes through rest.
    const NEAR: f64 = 0.5 * PI / 180.0;
    let Ok(limit) = image.limit.prepare() else { return };
    let back = image.center.inverse();
    let excess = (-limit.distance(back).radians()).max(0.0);
    let near = match image.kind {
        JointKind::Ball => 0.0,
        _ => image.noise.map_or(0.0, Angle::radians).max(NEAR),
    };
    let inside = excess <= near || limit.contains(back);
    image.rest_inside = Some(inside);
    image.rest_excess = Some(Angle::from_radians(if inside { 0.0 } else { excess }));
    let nearest = || rest * image.center * limit.project(back);
    image.start = (!inside).then(|| image.start.unwrap_or_else(nearest));
}

/// Normals of planes: reflections across one after the other are O = D₂ M D₁⁻¹. One if O is a
/// reflection itself, as it is where the local spaces of the two sides are mirror images.
fn reflections(from: Rotation, to: Rotation) -> Vec<DVec3> {
    let mirror = DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0));
    let all = to.to_matrix() * mirror * from.inverse().to_matrix();
    // I − O is 2 n nᵀ then.
    let rest = DMat3::IDENTITY - all;
    let longest = [rest.x_axis, rest.y_axis, rest.z_axis]
        .into_iter()
        .max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
    if let Some(normal) = longest.and_then(crate::math::unit) {
        let outer = DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        if (rest - outer * 2.0).abs_diff_eq(DMat3::ZERO, 1e-9) {
            return vec![normal];
        }
    }
    // First in the frame of the one, then a rotation as two reflections, half its angle apart.
    let turn = (to * from.inverse()).log();
    let first = from * DVec3::Z;
    let axis = crate::math::unit(turn).unwrap_or(DVec3::Z);
    let second = axis.any_orthonormal_vector();
    let (sin, cos) = trig::sin_cos(0.5 * turn.length());
    vec![first, second, second * cos + axis.cross(second) * sin]
}

/// The image of the left entry against the right one, both for the same joint.
fn compare(left: &RigJoint, right: &RigJoint) -> Result<Asymmetry, LimitError> {
    let [a, b] = [left.limit.prepare()?, right.limit.prepare()?];
    let ours = Placed { limit: &left.limit, prepared: &a, center: left.center };
    let theirs = Placed { limit: &right.limit, prepared: &b, center: right.center };
    // Rounding of products is no difference.
    let angle = |by: f64| Angle::from_radians(if by < 1e-9 { 0.0 } else { by });
    Ok(Asymmetry {
        left_beyond: angle(ours.beyond(&theirs)),
        right_beyond: angle(theirs.beyond(&ours)),
    })
}
