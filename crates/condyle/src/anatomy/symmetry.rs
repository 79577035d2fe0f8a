//! Left against right: motion and limits of one side as those of the other.

use std::f64::consts::PI;

use glam::{DMat3, DVec3};

use super::{AnatomicalJoint, Anatomy, BodySide};
use crate::limits::LimitError;
use crate::math::{Angle, Rotation, trig};
use crate::rig::RigJoint;
use crate::skeleton::{JointIndex, Skeleton};

/// How far the limits of a left and a right joint differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asymmetry {
    /// By how much the left goes beyond the mirror image of the right, at most; zero if nowhere.
    pub left_beyond: Angle,
    /// By how much the right goes beyond the mirror image of the left, at most; zero if nowhere.
    pub right_beyond: Angle,
    /// The share of all rotations that the left allows: see
    /// [`PreparedLimit::volume`](crate::limits::PreparedLimit::volume).
    pub left_volume: f64,
    /// The share that the right allows.
    pub right_volume: f64,
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
    /// How far one goes beyond the other is found by trying: 4,096 rotations spread evenly are moved
    /// into the one limit and asked how far they are outside of the other. So it is a lower bound,
    /// close in practice.
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
    // What is said of the one rest pose holds for the other if that is its mirror image.
    if to.local_from(from, here).distance(there).radians() > 1e-6 {
        (image.rest_inside, image.rest_excess) = (None, None);
    }
    Ok(image)
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
    let mut beyond = [0.0_f64; 2];
    for q in spread() {
        for (k, (one, one_center, other, other_center)) in
            [(&a, left.center, &b, right.center), (&b, right.center, &a, left.center)]
                .into_iter()
                .enumerate()
        {
            let inside = one_center * one.project(one_center.inverse() * q);
            let outside = -other.distance(other_center.inverse() * inside).radians();
            beyond[k] = beyond[k].max(outside);
        }
    }
    // Rounding of products is no difference.
    let angle = |by: f64| Angle::from_radians(if by < 1e-9 { 0.0 } else { by });
    Ok(Asymmetry {
        left_beyond: angle(beyond[0]),
        right_beyond: angle(beyond[1]),
        left_volume: a.volume(),
        right_volume: b.volume(),
    })
}

/// Rotations that are spread evenly: K. Shoemake's map of three uniform numbers (Uniform random
/// rotations, 1992), with an additive sequence by the roots of x⁴ = x + 1 in their place.
fn spread() -> impl Iterator<Item = Rotation> {
    const COUNT: u32 = 4096;
    const ROOT: f64 = 1.220_744_084_605_759_5;
    (0..COUNT).filter_map(|i| {
        let part = |power: f64| ((f64::from(i) + 0.5) * power).fract();
        let (u, v, w) = (part(1.0 / ROOT), part(1.0 / ROOT / ROOT), part(1.0 / ROOT / ROOT / ROOT));
        let (s1, c1) = trig::sin_cos(2.0 * PI * v);
        let (s2, c2) = trig::sin_cos(2.0 * PI * w);
        let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
        Rotation::from_wxyz([b * c2, a * s1, a * c1, b * s2])
    })
}
