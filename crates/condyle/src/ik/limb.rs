//! An arm or a leg whose end is to be somewhere: seven degrees of freedom, solved in closed form (C9).
//!
//! Three joints: an *upper* one that turns freely (shoulder, hip), a *hinge* (elbow, knee) and an *end*
//! (wrist, ankle). The distance from the upper joint to the goal settles the angle of the hinge. The
//! direction settles the upper joint but for the *swivel*, a turn about the line from the upper joint to
//! the goal, which the hinge goes around in a circle. The orientation of the goal settles the end.
//!
//! # Source
//!
//! The eight steps of the source note (C9, its eq 16 to 34; after D. Tolani, A. Goswami, N. I. Badler,
//! "Real-time inverse kinematics techniques for anthropomorphic limbs", 2000), for a hinge whose axis may
//! have any angle to the bones.
//!
//! # Convention
//!
//! A joint's `local = zero · m`, as in [`enforce`](crate::enforce), with `zero = rest · center`. Everything
//! is in the space of the upper joint's parent, with the upper joint at the origin, in metres.

mod bend;

use glam::DVec3;

pub use self::bend::Reach;
use self::bend::{Bend, Hinge};
use crate::math::{Angle, Arc, Rotation, perpendicular, trig, unit};

/// The bones and joints of an arm or a leg.
#[derive(Clone, Debug)]
pub struct Limb {
    hinge: Hinge,
    /// Of the upper joint, the hinge and the end.
    zeros: [Rotation; 3],
}

/// What a [`Limb`] is made of.
#[derive(Clone, Copy, Debug)]
pub struct LimbParts {
    /// From the upper joint to the hinge, in the space of the upper joint.
    pub upper_m: DVec3,
    /// From the hinge to the end, in the space of the hinge.
    pub lower_m: DVec3,
    /// The rotations `rest · center` of the upper joint, the hinge and the end.
    pub zeros: [Rotation; 3],
    /// The axis of the hinge, of any length.
    pub axis: DVec3,
    /// The angles that the hinge allows.
    pub arc: Arc,
}

/// Where the end should be.
#[derive(Clone, Copy, Debug)]
pub struct LimbGoal {
    /// The position of the end joint.
    pub position_m: DVec3,
    /// The rotation of the end joint; `None` leaves it at its zero.
    pub rotation: Option<Rotation>,
}

/// Which of the swivels to take.
#[derive(Clone, Copy, Debug)]
pub enum Swivel {
    /// This angle: 0 has the hinge on the side of a direction, seen from the line to the goal, and
    /// positive angles turn right-handed about that line.
    Given {
        /// What 0 points to.
        toward: DVec3,
        /// The angle from there.
        angle: Angle,
    },
    /// The rotation of the upper joint that is nearest to this one.
    Nearest(Rotation),
}

/// A solved limb.
#[derive(Clone, Copy, Debug)]
pub struct LimbPose {
    /// The local rotations of the upper joint, the hinge and the end.
    pub locals: [Rotation; 3],
    /// The angle of the hinge.
    pub hinge: Angle,
    /// How far the end is from the goal, in metres.
    pub miss_m: f64,
    /// Whether the distance can be reached, and if not why.
    pub reach: Reach,
}

impl Limb {
    /// `None` if a bone is not finite, or the axis has no direction.
    #[must_use]
    pub fn new(parts: &LimbParts) -> Option<Self> {
        let [_, zero, _] = parts.zeros;
        let hinge = Hinge::new([parts.upper_m, parts.lower_m], zero, parts.axis, parts.arc)?;
        Some(Self { hinge, zeros: parts.zeros })
    }

    /// The pose whose end is at a goal, or as near as the bones and the arc of the hinge let it.
    ///
    /// # Domain and singularity
    ///
    /// Total. The hinge bends to the side on which its arc goes farther, so that a goal that moves
    /// smoothly does not flip it. Of a goal at the upper joint itself any direction is as good, and the
    /// one is taken that the upper joint's zero gives. Where the line to the goal is along `toward` of
    /// [`Swivel::Given`], its zero is any. A goal that is not finite is taken for the upper joint.
    #[must_use]
    pub fn solve(&self, goal: &LimbGoal, swivel: Swivel) -> LimbPose {
        let finite = goal.position_m.is_finite();
        let position_m = if finite { goal.position_m } else { DVec3::ZERO };
        let bend = self.hinge.bend(position_m);
        let turns = Turns::new(&bend, position_m, self.zeros[0]);
        let upper = match swivel {
            Swivel::Given { toward, angle } => turns.from(toward, angle.radians()),
            Swivel::Nearest(to) => turns.nearest(to),
        };
        let lower = upper * bend.local;
        let end = goal.rotation.map_or(self.zeros[2], |rotation| lower.inverse() * rotation);
        LimbPose {
            locals: [upper, bend.local, end],
            hinge: Angle::from_radians(bend.angle),
            miss_m: (upper * bend.end_m - position_m).length(),
            reach: bend.reach,
        }
    }
}

/// The rotations of the upper joint that point the end at a goal: one turned about the line there.
struct Turns {
    /// From the upper joint to the end, in its own space, and what that is to be turned to.
    line: DVec3,
    to: DVec3,
    /// Where the hinge is to the side of the line, in the upper joint's space: a unit vector.
    side: DVec3,
}

impl Turns {
    fn new(bend: &Bend, goal_m: DVec3, zero: Rotation) -> Self {
        // A limb that ends where it begins has the direction of its upper bone.
        let line = unit(bend.end_m).or_else(|| unit(bend.upper_m)).unwrap_or(DVec3::Z);
        let to = unit(goal_m).unwrap_or(zero * line);
        let across = |v: DVec3| unit(v - line * v.dot(line));
        let side = across(bend.side).or_else(|| perpendicular(line)).unwrap_or(DVec3::X);
        Self { line, to, side }
    }

    /// That with the hinge on the side of a direction, turned by an angle about the line.
    fn from(&self, toward: DVec3, angle: f64) -> Rotation {
        let across = toward - self.to * toward.dot(self.to);
        let there = unit(across).or_else(|| perpendicular(self.to)).unwrap_or(DVec3::X);
        let (sin, cos) = trig::sin_cos(angle);
        let there = there * cos + self.to.cross(there) * sin;
        let frame = |line: DVec3, side: DVec3| {
            Rotation::from_matrix(glam::DMat3::from_cols(line, side, line.cross(side)))
        };
        let (from, to) = (frame(self.line, self.side), frame(self.to, there));
        to.unwrap_or_default() * from.unwrap_or_default().inverse()
    }

    /// The one that is nearest to a rotation: of all `reference · R(line, ψ)` the one with the largest
    /// scalar part of the quaternion to it.
    fn nearest(&self, to: Rotation) -> Rotation {
        let reference = self.from(to * self.side, 0.0);
        let between = (reference.inverse() * to).quat();
        let along = between.x * self.line.x + between.y * self.line.y + between.z * self.line.z;
        let turn = glam::DQuat::from_xyzw(
            self.line.x * along,
            self.line.y * along,
            self.line.z * along,
            between.w,
        );
        // A rotation by half a turn about an axis across the line is as far from all of them.
        Rotation::new(turn).map_or(reference, |turn| reference * turn)
    }
}

#[cfg(test)]
mod tests;
