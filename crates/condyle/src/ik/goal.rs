//! What a figure should reach.

use glam::DVec3;

use crate::math::{Angle, Rotation, trig, unit};
use crate::motion::World;
use crate::skeleton::JointIndex;

/// Something that a joint should do, and how much it counts.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// Which joint.
    pub joint: JointIndex,
    /// What it should do.
    pub aim: Aim,
    /// The square of the miss, in metres or radians, counts this many times. 1 for most.
    pub weight: f64,
}

impl Goal {
    /// The joint's centre should be somewhere, in metres in the world.
    #[must_use]
    pub const fn position(joint: JointIndex, target_m: DVec3) -> Self {
        Self { joint, aim: Aim::Position { point_m: DVec3::ZERO, target_m }, weight: 1.0 }
    }

    /// The joint's local space should be turned like this in the world.
    #[must_use]
    pub const fn rotation(joint: JointIndex, target: Rotation) -> Self {
        Self { joint, aim: Aim::Rotation(target), weight: 1.0 }
    }

    /// The joints that it is about.
    pub(super) fn joints(&self) -> [Option<usize>; 2] {
        let other = match self.aim {
            Aim::Meet { other, .. } => Some(other.get()),
            _ => None,
        };
        [Some(self.joint.get()), other]
    }

    pub(super) fn is_finite(&self) -> bool {
        let aim = match self.aim {
            Aim::Position { point_m, target_m } => point_m + target_m,
            Aim::Rotation(_) => DVec3::ZERO,
            Aim::Direction { axis, target } => axis + target,
            Aim::LookAt { point_m, axis, target_m } => point_m + axis + target_m,
            Aim::Meet { point_m, other_point_m, .. } => point_m + other_point_m,
        };
        aim.is_finite() && self.weight.is_finite()
    }

    /// What its residual is multiplied by; `None` if it is not finite.
    pub(super) fn root_of_weight(&self) -> Option<f64> {
        self.is_finite().then(|| self.weight.max(0.0).sqrt())
    }

    /// How far a figure misses it. A goal that is not finite is missed by an infinite distance.
    ///
    /// # Panics
    ///
    /// If the world does not have the joints of the goal.
    #[must_use]
    pub fn miss(&self, world: &World) -> Miss {
        if !self.is_finite() {
            return Miss::Distance(f64::INFINITY);
        }
        let turn = |joint: JointIndex| world.rotations[joint.get()];
        let at =
            |joint: JointIndex, point_m| world.positions_m[joint.get()] + turn(joint) * point_m;
        let apart = |a: DVec3, b: DVec3| {
            let off = a - b;
            Miss::Distance(trig::hypot3(off.x, off.y, off.z))
        };
        // Of nothing, no direction is far. An axis may be so short or long that only its direction can
        // be turned.
        let between = |axis: DVec3, b: Option<DVec3>| match (unit(axis), b) {
            (Some(axis), Some(b)) => {
                let a = turn(self.joint) * axis;
                let across = a.cross(b);
                let sin = trig::hypot3(across.x, across.y, across.z);
                Miss::Angle(Angle::from_radians(trig::atan2(sin, a.dot(b))))
            }
            _ => Miss::Angle(Angle::ZERO),
        };
        match self.aim {
            Aim::Position { point_m, target_m } => apart(at(self.joint, point_m), target_m),
            Aim::Rotation(target) => Miss::Angle(turn(self.joint).distance(target)),
            Aim::Direction { axis, target } => between(axis, unit(target)),
            Aim::LookAt { point_m, axis, target_m } => {
                between(axis, unit(target_m - at(self.joint, point_m)))
            }
            Aim::Meet { point_m, other, other_point_m } => {
                apart(at(self.joint, point_m), at(other, other_point_m))
            }
        }
    }

    /// The same goal, counted so many times.
    #[must_use]
    pub const fn weighted(self, weight: f64) -> Self {
        Self { weight, ..self }
    }
}

/// What a joint should do. Points and axes are in the joint's local space, targets in the world; lengths
/// in metres.
#[derive(Clone, Copy, Debug)]
pub enum Aim {
    /// A point of the joint should be somewhere.
    Position {
        /// The point; zero is the joint's centre.
        point_m: DVec3,
        /// Where it should be.
        target_m: DVec3,
    },
    /// The joint's local space should be turned like this.
    Rotation(Rotation),
    /// An axis should point along a direction; both of any length.
    Direction {
        /// The axis.
        axis: DVec3,
        /// Where it should point.
        target: DVec3,
    },
    /// An axis through a point should point at a place.
    LookAt {
        /// Where the axis begins.
        point_m: DVec3,
        /// The axis, of any length.
        axis: DVec3,
        /// What should be looked at.
        target_m: DVec3,
    },
    /// A point should be where a point of another joint is.
    Meet {
        /// The point.
        point_m: DVec3,
        /// The other joint.
        other: JointIndex,
        /// The point of it.
        other_point_m: DVec3,
    },
}

/// How far a goal is missed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Miss {
    /// Of a position, in metres.
    Distance(f64),
    /// Of a rotation or direction.
    Angle(Angle),
}

impl Miss {
    /// In metres or radians.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::Distance(metres) => metres,
            Self::Angle(angle) => angle.radians(),
        }
    }

    /// Whether it is no more than so many metres, or than such an angle.
    #[must_use]
    pub fn is_within(self, near_m: f64, near: Angle) -> bool {
        match self {
            Self::Distance(metres) => metres <= near_m,
            Self::Angle(angle) => angle <= near,
        }
    }
}
