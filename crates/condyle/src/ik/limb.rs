//! An arm or a leg whose end is to be somewhere: seven degrees of freedom, solved in closed form (C9).
//!
//! Three joints: an *upper* one that turns freely (shoulder, hip), a *hinge* (elbow, knee) and an *end*
//! (wrist, ankle). The distance from the upper joint to the goal settles the angle of the hinge. The
//! direction settles the upper joint but for the *swivel*, a turn about the line from the upper joint to
//! the goal, which the hinge goes around in a circle. The orientation of the goal settles the end. Which
//! swivels the limits of the upper joint and of the end allow is a set of arcs ([`Limb::arcs`]), and
//! [`Limb::solve`] takes the one that is asked for ([`Swivel`]).
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
//!
//! With S₀ the reference, the rotation of the upper joint that is nearest to its zero and points the end at
//! the goal, all others are `S₀ R(line, ψ)`: ψ is the swivel.
//!
//! # Example
//!
//! One pose of an arm along x, the elbow bending about z, for an engine's frame:
//!
//! ```
//! use condyle::glam::DVec3;
//! use condyle::ik::limb::{Limb, LimbGoal, LimbParts, LimbScratch, LimitStatus, Swivel};
//! use condyle::limits::{Limit, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit};
//! use condyle::math::{Angle, Arc, Rotation, SwingAxes};
//!
//! // Once: the bones, the joints and their limits.
//! let arm = Limb::new(&LimbParts {
//!     upper_m: DVec3::X * 0.30,
//!     lower_m: DVec3::X * 0.25,
//!     zeros: [Rotation::IDENTITY; 3],
//!     axis: DVec3::Z,
//!     arc: Arc::from_degrees(0.0, 145.0).unwrap(),
//! });
//! let angle = Angle::from_degrees;
//! let shoulder = Limit::SwingTwist(SwingTwistLimit {
//!     axes: SwingAxes::new(DVec3::X, Some(DVec3::Y)).unwrap(),
//!     swing: SwingLimit::Ellipse { rx: angle(90.0), ry: angle(80.0) },
//!     twist: TwistLimit {
//!         bounds: TwistBounds::Arc(Arc::from_degrees(-70.0, 70.0).unwrap()),
//!         ..TwistLimit::default()
//!     },
//! });
//! let arm = arm.unwrap().with_limits(shoulder.prepare()?, Limit::Free.prepare()?);
//! let mut scratch = LimbScratch::default();
//! let mut upper = Rotation::IDENTITY;
//!
//! // Every frame: where the hand should be, the elbow no farther than 5° around from where it was, whatever
//! // the limits say.
//! let goal = LimbGoal { position_m: DVec3::new(0.3, 0.2, 0.1), rotation: None };
//! let swivel = Swivel::AtMost { from: upper, step: angle(5.0) };
//! let found = arm.solve(&goal, swivel, &mut scratch);
//! assert!(found.pose.miss_m < 1e-9 && found.status == LimitStatus::Inside);
//! upper = found.pose.locals[0];
//! # Ok::<(), condyle::limits::LimitError>(())
//! ```

#![allow(
    clippy::inline_always,
    reason = "a call costs a third of the answer: rotations go through memory on the way"
)]

mod bend;
mod corners;
mod frames;

use glam::DVec3;

pub use self::bend::Reach;
use self::bend::{Bend, Hinge};
use self::frames::normal;
use crate::limits::{Climb, Limit, NearAngle, PreparedLimit, Turned, Turning, TurningSearch};
use crate::math::{Angle, Arc, Rotation, perpendicular, trig};

/// The bones and joints of an arm or a leg, and their limits.
#[derive(Clone, Debug)]
pub struct Limb {
    hinge: Hinge,
    /// Of the upper joint, the hinge and the end.
    zeros: [Rotation; 3],
    upper: PreparedLimit,
    end: PreparedLimit,
    /// Both with great arcs for what is curved, if something is: for the largest margin.
    chords: Option<Box<[PreparedLimit; 2]>>,
}

/// How far off the great arcs are that [`Swivel::BestMargin`] takes for curved limits of swings: ellipses,
/// boxes of swings, regions that were grown, shapes of the user's own.
pub const CHORDS_OFF: Angle = Angle::from_degrees(0.05);

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
    /// The rotation of the end joint; `None` leaves it at its zero, and its limit out of account.
    pub rotation: Option<Rotation>,
}

/// Which of the swivels to take.
#[derive(Clone, Copy, Debug)]
pub enum Swivel<'a> {
    /// This angle: 0 has the hinge on the side of a direction, seen from the line to the goal, and
    /// positive angles turn right-handed about that line.
    Given {
        /// What 0 points to.
        toward: DVec3,
        /// The angle from there.
        angle: Angle,
    },
    /// This angle, as [`Limb::arcs`] and [`LimbOutcome::swivel`] count: 0 has the upper joint nearest
    /// to its zero.
    At(Angle),
    /// The rotation of the upper joint that is nearest to this one.
    Nearest(Rotation),
    /// The largest margin to the limits of the upper joint and the end, which is the smaller of their
    /// distances; that of the hinge does not depend on the swivel. If no swivel is allowed, the least
    /// outside. Curved limits of swings count as polygons that are off by at most [`CHORDS_OFF`].
    ///
    /// It jumps where another arc of swivels, or another part of an arc, gets the larger margin. Near a
    /// rotation of the upper joint, that of the frame before, it does not: the swivel is at most so far
    /// from the nearest to that rotation, and stays in its arc of allowed swivels as long as that exists.
    /// When it is gone the swivel moves on to the nearest arc, however far that is. If there is none, it is
    /// the least outside of those that are so near.
    BestMargin {
        /// The rotation of the upper joint, and how far at most to turn from there; any if `None`.
        near: Option<(Rotation, Angle)>,
    },
    /// The largest margin, but never farther than a step from the swivel that is nearest to a rotation of the
    /// upper joint, that of the frame before: so the hinge does not jump. It stays in its arc of allowed
    /// swivels as long as that exists. When it is gone the swivel goes towards the nearest arc, a step at a
    /// time, and is outside of the limits on the way; the goal is still reached.
    AtMost {
        /// The rotation of the upper joint.
        from: Rotation,
        /// How far to go at most, beyond what the goal asks for.
        step: Angle,
    },
    /// The least sum of distances from the upper joint's `m` to these rotations: the objective of the
    /// source note (C10), for which they are the eight corners of a box of angles
    /// ([`EulerBox::corners`](crate::limits::EulerBox::corners)). It is no margin: in one dimension it is
    /// the same everywhere inside. It does not ask whether the limits allow it.
    CornerSum(&'a [Rotation]),
}

/// A solved limb.
#[derive(Clone, Copy, Debug)]
pub struct LimbPose {
    /// The local rotations of the upper joint, the hinge and the end.
    pub locals: [Rotation; 3],
    /// How far the end is from the goal, in metres.
    pub miss_m: f64,
    /// How far it is turned from the goal: zero, as the end turns freely, unless it is
    /// [`clamped`](Limb::clamped).
    pub miss: Angle,
    /// Whether the distance can be reached, and if not why.
    pub reach: Reach,
    /// Sine and cosine of half the angle of the hinge.
    half: [f64; 2],
}

/// A solved limb and its limits.
#[derive(Clone, Copy, Debug)]
pub struct LimbOutcome<'a> {
    /// The pose.
    pub pose: LimbPose,
    /// The swivel, from the rotation of the upper joint that is nearest to its zero.
    pub swivel: Angle,
    /// Whether the limits allow it.
    pub status: LimitStatus,
    limb: &'a Limb,
}

/// Whether limits allow a swivel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitStatus {
    /// They do.
    Inside,
    /// They do not. Whether they allow others is told by [`Limb::arcs`].
    Outside,
    /// They allow none, as [`Swivel::BestMargin`] and [`Swivel::AtMost`] found.
    NoSwivel,
}

/// The memory of [`Limb::solve`]: nothing is allocated once it is large enough.
#[derive(Debug, Default)]
pub struct LimbScratch {
    search: TurningSearch,
    climb: Climb,
}

/// A margin of at most this, in radians, holds a joint.
const ACTIVE: f64 = 1e-9;

impl LimbPose {
    /// The angle of the hinge, in (−π, π].
    #[must_use]
    pub fn hinge(&self) -> Angle {
        let [sin, cos] = self.half;
        Angle::from_radians(2.0 * trig::atan2(sin, cos)).wrapped()
    }
}

impl LimbOutcome<'_> {
    /// How far inside its limit each joint is, negative outside: the upper joint, the hinge and the end.
    #[must_use]
    pub fn margins(&self) -> [Angle; 3] {
        let [upper, _, end] = self.pose.locals;
        let Limb { hinge, zeros, upper: upper_limit, end: end_limit, .. } = self.limb;
        [
            upper_limit.distance(zeros[0].inverse() * upper),
            hinge.margin(self.pose.hinge()),
            end_limit.distance(zeros[2].inverse() * end),
        ]
    }

    /// Which joints are at the end of their limits or beyond, to 1e-9 rad: the upper joint, the hinge and
    /// the end.
    #[must_use]
    pub fn active(&self) -> [bool; 3] {
        self.margins().map(|margin| margin.radians() <= ACTIVE)
    }
}

impl Limb {
    /// Without limits but for the hinge's arc. `None` if a bone is not finite, or the axis has no
    /// direction, or the arc is empty.
    #[must_use]
    pub fn new(parts: &LimbParts) -> Option<Self> {
        let [_, zero, _] = parts.zeros;
        let hinge = Hinge::new([parts.upper_m, parts.lower_m], zero, parts.axis, parts.arc)?;
        let free = Limit::Free.prepare().ok()?;
        Some(Self { hinge, zeros: parts.zeros, upper: free.clone(), end: free, chords: None })
    }

    /// With these limits of the upper joint and of the end.
    #[must_use]
    pub fn with_limits(self, upper: PreparedLimit, end: PreparedLimit) -> Self {
        let chords = (upper.is_curved() || end.is_curved())
            .then(|| Box::new([&upper, &end].map(|limit| limit.with_chords(CHORDS_OFF))));
        Self { upper, end, chords, ..self }
    }

    /// The pose whose end is at a goal, or as near as the bones and the arc of the hinge let it, with the
    /// hinge on the side of a direction (a pole vector). Limits other than the arc are not asked.
    ///
    /// The side is across the axis of the hinge, which is that of its centre if the axis is across both
    /// bones. If it is tilted by up to 15° the centre is up to 4.2° beside it, at a bend of 120°. So the
    /// upper joint does not spin where a limb is nearly straight.
    ///
    /// # Domain and singularity
    ///
    /// Total. The hinge bends to the side on which its arc goes farther, so that a goal that moves
    /// smoothly does not flip it. Of a goal at the upper joint itself any direction is as good, and the
    /// one is taken that the upper joint's zero gives. Where the line to the goal is along the direction,
    /// the side is any. A goal that is not finite is taken for the upper joint.
    #[must_use]
    pub fn pose_toward(&self, goal: &LimbGoal, toward: DVec3) -> LimbPose {
        let aim = self.aim(goal);
        self.pose(goal, &aim, aim.toward(toward, Angle::ZERO))
    }

    /// [`pose_toward`](Self::pose_toward), but with the rotation of the upper joint that is nearest to one.
    #[must_use]
    pub fn pose_near(&self, goal: &LimbGoal, upper: Rotation) -> LimbPose {
        let aim = self.aim(goal);
        self.pose(goal, &aim, aim.nearest(upper))
    }

    /// The pose whose end is at a goal, or as near as the bones and the arc of the hinge let it, and what
    /// the limits say about it.
    ///
    /// The goal comes first: where the limits allow no swivel, the pose is outside of them, and says so.
    /// [`clamped`](Self::clamped) puts the limits first.
    ///
    /// # Domain and singularity
    ///
    /// Total; see [`pose_toward`](Self::pose_toward). Single swivels that are allowed between others that
    /// are not do not count, but for those of universal joints; see [`TurningSearch`] for how exact margins
    /// are.
    #[must_use]
    pub fn solve(
        &self,
        goal: &LimbGoal,
        swivel: Swivel<'_>,
        scratch: &mut LimbScratch,
    ) -> LimbOutcome<'_> {
        let aim = self.aim(goal);
        let reference = aim.nearest(self.zeros[0]);
        let angle_of = |rotation: Rotation| {
            Angle::from_radians((reference.inverse() * rotation).angle_about(aim.line))
        };
        let (psi, rotation) = match swivel {
            Swivel::Given { toward, angle } => {
                let rotation = aim.toward(toward, angle);
                (angle_of(rotation), rotation)
            }
            Swivel::Nearest(to) => {
                let rotation = aim.nearest(to);
                (angle_of(rotation), rotation)
            }
            Swivel::At(angle) => {
                let angle = if angle.radians().is_finite() { angle.wrapped() } else { Angle::ZERO };
                (angle, aim.turned(reference, angle))
            }
            Swivel::BestMargin { near } => {
                let near = near.map(|(rotation, step)| NearAngle {
                    angle: angle_of(aim.nearest(rotation)),
                    step,
                    hard: false,
                });
                return self.best(goal, &aim, reference, near, scratch);
            }
            Swivel::AtMost { from, step } => {
                let near = NearAngle { angle: angle_of(aim.nearest(from)), step, hard: true };
                return self.best(goal, &aim, reference, Some(near), scratch);
            }
            Swivel::CornerSum(of) => {
                let halves = self.turning_of_upper(&aim, reference).halves();
                let psi = corners::least_sum(&mut scratch.climb, halves, of);
                let psi = Angle::from_radians(psi);
                (psi, aim.turned(reference, psi))
            }
        };
        self.outcome(goal, self.pose(goal, &aim, rotation), psi)
    }

    /// The swivels that the limits of the upper joint and the end allow, where the goal is reached: arcs of
    /// angles about the line to the goal, from the rotation of the upper joint that is nearest to its zero.
    ///
    /// See [`TurningSearch::allowed`] for how exact they are. Where limits are curved it takes a hundred
    /// times as long as to solve for a swivel.
    pub fn arcs<'s>(&self, goal: &LimbGoal, scratch: &'s mut LimbScratch) -> &'s [Arc] {
        let aim = self.aim(goal);
        let reference = aim.nearest(self.zeros[0]);
        let upper = Turned { limit: &self.upper, turning: self.turning_of_upper(&aim, reference) };
        match self.turning_of_end(goal, &aim, reference) {
            Some(turning) => scratch.search.allowed([upper, Turned { limit: &self.end, turning }]),
            None => scratch.search.allowed([upper]),
        }
    }

    /// What the upper joint does as the swivel changes.
    fn turning_of_upper(&self, aim: &Aim, reference: Rotation) -> Turning {
        Turning::about(self.zeros[0].inverse() * reference, aim.line, Rotation::IDENTITY)
    }

    /// What the end does, if it is to be turned: (S₀ R(line, ψ) · hinge · zero)⁻¹ · goal.
    fn turning_of_end(&self, goal: &LimbGoal, aim: &Aim, reference: Rotation) -> Option<Turning> {
        let turned = goal.rotation?;
        let left = (aim.bend.local * self.zeros[2]).inverse();
        Some(Turning::about(left, -aim.line, reference.inverse() * turned))
    }

    /// The swivel of the largest margin.
    fn best(
        &self,
        goal: &LimbGoal,
        aim: &Aim,
        reference: Rotation,
        near: Option<NearAngle>,
        scratch: &mut LimbScratch,
    ) -> LimbOutcome<'_> {
        let [upper, end] = match self.chords.as_deref() {
            Some([upper, end]) => [upper, end],
            None => [&self.upper, &self.end],
        };
        let upper = Turned { limit: upper, turning: self.turning_of_upper(aim, reference) };
        let best = match self.turning_of_end(goal, aim, reference) {
            Some(turning) => scratch.search.best([upper, Turned { limit: end, turning }], near),
            None => scratch.search.best([upper], near),
        };
        let pose = self.pose(goal, aim, aim.turned(reference, best.angle));
        // What was looked for inside is inside, but for what great arcs are off.
        if best.inside && self.chords.is_some() {
            return self.outcome(goal, pose, best.angle);
        }
        let status = match (best.inside, best.others) {
            (true, _) => LimitStatus::Inside,
            (false, true) => LimitStatus::Outside,
            (false, false) => LimitStatus::NoSwivel,
        };
        LimbOutcome { pose, swivel: best.angle, status, limb: self }
    }

    /// The pose as near to a solved one as the limits let it, by [`PreparedLimit::project`] of the upper
    /// joint and the end, and how far it is from the goal then. The hinge stays as it is.
    #[must_use]
    pub fn clamped(&self, goal: &LimbGoal, found: &LimbOutcome<'_>) -> LimbOutcome<'_> {
        let LimbPose { locals: [upper, hinge, end], reach, half, .. } = found.pose;
        let project = |limit: &PreparedLimit, zero: Rotation, local: Rotation| {
            zero * limit.project(zero.inverse() * local)
        };
        let moved = project(&self.upper, self.zeros[0], upper);
        // The end is turned as before, if its limit lets it.
        let kept = match goal.rotation {
            Some(rotation) => (moved * hinge).inverse() * rotation,
            None => end,
        };
        let end = project(&self.end, self.zeros[2], kept);
        let end_m = self.hinge.end_m(half);
        let position_m = if goal.position_m.is_finite() { goal.position_m } else { DVec3::ZERO };
        let off = moved * end_m - position_m;
        let pose = LimbPose {
            locals: [moved, hinge, end],
            miss_m: trig::length3(off.x, off.y, off.z),
            miss: goal
                .rotation
                .map_or(Angle::ZERO, |rotation| (moved * hinge * end).distance(rotation)),
            reach,
            half,
        };
        // It is what it is now, whatever swivels the limits allow.
        self.outcome(goal, pose, found.swivel)
    }

    fn outcome(&self, goal: &LimbGoal, pose: LimbPose, swivel: Angle) -> LimbOutcome<'_> {
        let [upper, _, end] = pose.locals;
        let within = |limit: &PreparedLimit, zero: Rotation, local: Rotation| {
            let m = zero.inverse() * local;
            limit.contains(m) || limit.distance(m).radians() >= -ACTIVE
        };
        // An end that is left alone is not asked.
        let inside = within(&self.upper, self.zeros[0], upper)
            && (goal.rotation.is_none() || within(&self.end, self.zeros[2], end));
        let status = if inside { LimitStatus::Inside } else { LimitStatus::Outside };
        LimbOutcome { pose, swivel, status, limb: self }
    }

    #[inline(always)]
    fn aim(&self, goal: &LimbGoal) -> Aim {
        let goal_m = if goal.position_m.is_finite() { goal.position_m } else { DVec3::ZERO };
        let square = goal_m.length_squared();
        let bend = self.hinge.bend(square);
        // What is reached is as long as the goal is far, so that one root does for both.
        if bend.reach == Reach::Reached && square > self.hinge.not_folded {
            let scale = 1.0 / square.sqrt();
            // By a difference of squares.
            let miss_m = 0.5 * scale * (bend.end_m.length_squared() - square).abs();
            return Aim { bend, miss_m, line: bend.end_m * scale, to: goal_m * scale };
        }
        self.aim_with_care(bend, goal_m)
    }

    #[cold]
    fn aim_with_care(&self, bend: Bend, goal_m: DVec3) -> Aim {
        // A limb that ends where it begins has the direction of its upper bone.
        let line = normal(bend.end_m).or_else(|| normal(self.hinge.upper_m)).unwrap_or(DVec3::Z);
        let to = normal(goal_m).unwrap_or_else(|| self.zeros[0] * line);
        let length = |v: DVec3| trig::length3(v.x, v.y, v.z);
        // Both are on one line.
        let miss_m = (length(bend.end_m) - length(goal_m)).abs();
        Aim { bend, miss_m, line, to }
    }

    #[inline(always)]
    fn pose(&self, goal: &LimbGoal, aim: &Aim, upper: Rotation) -> LimbPose {
        let Bend { local, half, reach, .. } = aim.bend;
        let end = match goal.rotation {
            Some(rotation) => (upper * local).inverse() * rotation,
            None => self.zeros[2],
        };
        LimbPose { locals: [upper, local, end], miss_m: aim.miss_m, miss: Angle::ZERO, reach, half }
    }
}

/// A limb that is as long as it should be, and where it is to point.
struct Aim {
    bend: Bend,
    /// How far the end is from the goal when it points there.
    miss_m: f64,
    /// From the upper joint to the end, in its own space, and what that is to be turned to: unit vectors.
    line: DVec3,
    to: DVec3,
}

impl Aim {
    /// With the hinge on the side of a direction, turned by an angle about the line.
    #[inline(always)]
    fn toward(&self, toward: DVec3, angle: Angle) -> Rotation {
        let side = self.bend.side;
        let square = side.length_squared();
        // A shorter one may be rounding in part.
        let side = if square > 1e-12 && square < 1e30 { side } else { self.short_side() };
        let across = toward - self.to * toward.dot(self.to);
        let there = ordinary(across).or_else(|| self.fallback(toward)).unwrap_or(DVec3::X);
        let angle = angle.radians();
        let there = if angle == 0.0 || !angle.is_finite() {
            there
        } else {
            let (sin, cos) = trig::sin_cos(angle);
            there * cos + self.to.cross(there) * sin
        };
        frames::between(self.line, self.to, side, there).unwrap_or_default()
    }

    /// The side of the hinge where that is near the line, or the limb tiny or huge: across the line, though
    /// rounding may have left it along that.
    #[cold]
    fn short_side(&self) -> DVec3 {
        let across = |v: DVec3| normal(v - self.line * v.dot(self.line));
        // What is left of rounding has rounding of its own.
        let side = normal(self.bend.side).and_then(across).and_then(across);
        side.or_else(|| perpendicular(self.line)).unwrap_or(DVec3::X)
    }

    /// A direction across the line for one that is very long or short, or along it.
    #[cold]
    fn fallback(&self, toward: DVec3) -> Option<DVec3> {
        let toward = normal(toward)?;
        let across = toward - self.to * toward.dot(self.to);
        ordinary(across).or_else(|| perpendicular(self.to))
    }

    #[inline(always)]
    fn nearest(&self, upper: Rotation) -> Rotation {
        frames::nearest(upper, self.line, self.to).unwrap_or(upper)
    }

    fn turned(&self, reference: Rotation, angle: Angle) -> Rotation {
        Turning::about(reference, self.line, Rotation::IDENTITY).at(angle)
    }
}

/// If its square neither overflows nor underflows, nor is it rounding of a vector of unit length.
#[inline(always)]
fn ordinary(v: DVec3) -> Option<DVec3> {
    let square = v.length_squared();
    (square > 1e-30 && square < 1e30).then_some(v)
}

#[cfg(test)]
mod tests;
