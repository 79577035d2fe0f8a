//! How far a figure is from a goal, and how that changes as the figure moves.

use glam::{DQuat, DVec3};

use super::goal::{Aim, Miss};
use crate::math::{Angle, Rotation, trig, unit};

/// Where a joint is in the world.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct World {
    pub(super) rotation: DQuat,
    pub(super) position_m: DVec3,
}

/// A goal, looked at from where the figure is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// The point of the joint, in the world.
    pub(super) point: DVec3,
    /// The axis of the joint that should point somewhere.
    pub(super) along: DVec3,
    /// The other point of [`Aim::Meet`], or the direction to what is looked at.
    pub(super) other: DVec3,
    /// What is left to do.
    pub(super) off: DVec3,
    /// Of a rotation, the last factor of the derivative; of what is looked at, one over its distance.
    pub(super) curve: f64,
    /// The root of the goal's weight.
    pub(super) weight: f64,
}

impl Look {
    /// What a goal is about, for its joint and the other one of [`Aim::Meet`]; `nearer_m` is looked for
    /// instead of what is very far away.
    pub(super) fn at(
        aim: &Aim,
        [own, other]: [World; 2],
        nearer_m: Option<DVec3>,
        weight: f64,
    ) -> Self {
        let World { rotation, position_m } = own;
        let at = |point_m: DVec3| position_m + rotate(rotation, point_m);
        let look = Self { weight, ..Self::default() };
        match *aim {
            Aim::Position { point_m, target_m } => {
                let point = at(point_m);
                Self { point, off: point - nearer_m.unwrap_or(target_m), ..look }
            }
            Aim::Rotation(target) => {
                let (off, half_cot) = log(rotation * target.quat().conjugate());
                let square = off.length_squared();
                let curve = if square < 1e-4 {
                    1.0 / 12.0 + square / 720.0
                } else {
                    (1.0 - half_cot) / square
                };
                Self { off, curve, ..look }
            }
            Aim::Direction { axis, target } => {
                // Of nothing, no direction is far.
                let Some(axis) = unit(axis) else { return look };
                let along = rotate(rotation, axis);
                let to = unit(target).unwrap_or(along);
                Self { along, off: along - to, ..look }
            }
            Aim::LookAt { point_m, axis, target_m } => {
                let Some(axis) = unit(axis) else { return look };
                let along = rotate(rotation, axis);
                let point = at(point_m);
                let to = unit(target_m - point).unwrap_or(along);
                let curve = 1.0 / (target_m - point).length().max(1e-9);
                Self { point, along, other: to, curve, off: along - to, ..look }
            }
            Aim::Meet { point_m, other_point_m, .. } => {
                let point = at(point_m);
                let there = other.position_m + rotate(other.rotation, other_point_m);
                Self { point, other: there, off: point - there, ..look }
            }
        }
    }

    /// What is left to do, times the root of the weight.
    pub(super) fn residual(&self) -> DVec3 {
        self.off * self.weight
    }

    /// How far the goal is missed.
    pub(super) fn miss(&self, aim: &Aim) -> Miss {
        match aim {
            Aim::Position { .. } | Aim::Meet { .. } => {
                let (off, length) = (self.off, self.off.length());
                let too_long = !length.is_finite();
                Miss::Distance(if too_long { trig::hypot3(off.x, off.y, off.z) } else { length })
            }
            Aim::Rotation(_) => Miss::Angle(Angle::from_radians(self.off.length())),
            // A chord of the unit circle.
            Aim::Direction { .. } | Aim::LookAt { .. } => {
                let half = (0.5 * self.off.length()).min(1.0);
                Miss::Angle(Angle::from_radians(2.0 * trig::asin(half)))
            }
        }
    }

    /// How the residual changes if the joint turns and its centre shifts so, and the other one of
    /// [`Aim::Meet`] does; each with where its centre is now. [`Chain`](super::chain::Chain) has the same
    /// for turns about an axis.
    pub(super) fn change(&self, aim: &Aim, own: Moving, other: Moving) -> DVec3 {
        let Self { point, along, other: there, off, curve, weight } = *self;
        let change = match aim {
            Aim::Position { .. } => own.of(point),
            Aim::Rotation(_) => {
                let across = off.cross(own.turn);
                own.turn - across * 0.5 + off.cross(across) * curve
            }
            Aim::Direction { .. } => own.turn.cross(along),
            Aim::LookAt { .. } => {
                let by = own.of(point);
                own.turn.cross(along) + (by - there * there.dot(by)) * curve
            }
            Aim::Meet { .. } => own.of(point) - other.of(there),
        };
        change * weight
    }
}

/// How fast a joint turns, and how fast its centre shifts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moving {
    pub(super) turn: DVec3,
    pub(super) shift_m: DVec3,
    pub(super) center_m: DVec3,
}

impl Moving {
    /// How fast a point of the joint moves.
    fn of(&self, point: DVec3) -> DVec3 {
        self.turn.cross(point - self.center_m) + self.shift_m
    }
}

pub(super) fn rotate(q: DQuat, v: DVec3) -> DVec3 {
    Rotation::from_unit_unchecked(q) * v
}

/// The rotation vector, and half its length times the cotangent of that.
pub(super) fn log(q: DQuat) -> (DVec3, f64) {
    let sign = 1.0_f64.copysign(q.w);
    let v = DVec3::new(q.x, q.y, q.z) * sign;
    let (sin, cos) = (v.length(), q.w.abs());
    if sin < 1e-8 {
        return (v * 2.0, 1.0);
    }
    let half = if sin < 0.1 {
        // The series of the arcsine, to the last digit.
        let x = sin * sin;
        let tail = x * (35.0 / 1152.0 + x * (63.0 / 2816.0));
        sin * (1.0 + x * (1.0 / 6.0 + x * (3.0 / 40.0 + x * (15.0 / 336.0 + tail))))
    } else {
        trig::atan2(sin, cos)
    };
    (v * (2.0 * half / sin), half * cos / sin)
}
