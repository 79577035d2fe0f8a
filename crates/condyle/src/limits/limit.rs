//! Limits as plain data.

use glam::DVec3;

use super::{SwingLimit, TwistLimit};
use crate::math::{Arc, EulerOrder, Rotation, SwingAxes};

/// Which rotations a joint may take.
///
/// # Convention
///
/// The limit speaks of `m` in `local = rest · center · m`: `rest` comes from the skeleton and
/// `center` is the limit's own zero, the identity unless a rig says otherwise. Vectors are unit
/// vectors in the space of `rest · center`, the joint's local space when `m` is the identity.
#[derive(Clone, Debug, Default)]
pub enum Limit {
    /// Every rotation.
    #[default]
    Free,
    /// The identity alone (A5).
    Locked,
    /// `m = R(axis, a)`, `a` in the arc.
    Hinge {
        /// The axis, fixed in the parent and in the joint.
        axis: DVec3,
        /// The angles.
        arc: Arc,
    },
    /// `m = R(axes[0], a) · R(axes[1], b)`, each angle in its arc. The first axis is fixed in the
    /// parent, the second in the joint.
    Universal {
        /// The axes, not parallel.
        axes: [DVec3; 2],
        /// The angles about them.
        arcs: [Arc; 2],
    },
    /// Three Euler angles, each in its arc (A8).
    EulerBox(EulerBox),
    /// Where the bone points and how it rolls (B2).
    SwingTwist(SwingTwistLimit),
}

/// Three Euler angles about the coordinate axes, each in its arc: the model of the source paper when
/// the order is ZYZ (A8).
///
/// A rotation is inside if any of its triples of angles is; there are two of them, and infinitely
/// many at a gimbal lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EulerBox {
    /// The axes, leftmost factor first.
    pub order: EulerOrder,
    /// The angles, in the same order.
    pub arcs: [Arc; 3],
}

impl EulerBox {
    /// The rotations at the ends of all three arcs: the eight corners of the source note (C10), with those
    /// of the first arc's lower end first. None for an arc that is empty.
    #[must_use]
    pub fn corners(&self) -> Vec<Rotation> {
        let ends = self.arcs.map(|arc| [arc.min(), arc.max()]);
        let corner = |i: usize| [ends[0][i >> 2 & 1], ends[1][i >> 1 & 1], ends[2][i & 1]];
        (0..8).filter_map(|i| self.order.to_rotation(corner(i))).collect()
    }
}

/// A region for the direction of the bone, and a range of twist.
#[derive(Clone, Debug, Default)]
pub struct SwingTwistLimit {
    /// The bone, and the axes across it that swings are measured about.
    pub axes: SwingAxes,
    /// Where the bone may point: the directions `m · bone`.
    pub swing: SwingLimit,
    /// How far it may roll.
    pub twist: TwistLimit,
}
