//! Limits made ready to be asked.

#![allow(
    clippy::inline_always,
    reason = "a call costs as much as the answer: a direction goes through memory on the way"
)]

use std::f64::consts::PI;

use glam::{DMat3, DVec3};

use super::angles::{EulerBoxLimit, HingeLimit, LockedLimit, UniversalLimit};
use super::ball::Ball;
use super::ellipse::Ellipse;
use super::lanes::{BallLanes, Lanes};
use super::{HalfSpace, Limit, LimitError, volume};
use crate::math::{Angle, Arc, Rotation, SwingAxes, unit};

/// A [`Limit`] with everything computed that questions need: indices, boundaries, triangulations.
///
/// All methods take the rotation `m` that the limit speaks of (see [`Limit`]), work for every
/// rotation, and allocate nothing unless said.
///
/// ```
/// use condyle::glam::DVec3;
/// use condyle::limits::{Limit, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit};
/// use condyle::math::{Angle, Arc, Rotation, SwingAxes};
///
/// // An arm along x that swings in an ellipse and rolls by −40° to 70°.
/// let limit = Limit::SwingTwist(SwingTwistLimit {
///     axes: SwingAxes::new(DVec3::X, Some(DVec3::Y)).unwrap(),
///     swing: SwingLimit::Ellipse { rx: Angle::from_degrees(90.0), ry: Angle::from_degrees(50.0) },
///     twist: TwistLimit {
///         bounds: TwistBounds::Arc(Arc::from_degrees(-40.0, 70.0).unwrap()),
///         ..TwistLimit::default()
///     },
/// });
/// let limit = limit.prepare()?;
/// let raised = Rotation::about_z(Angle::from_degrees(80.0));
/// assert!((limit.distance(raised).degrees() + 30.0).abs() < 1e-9);
/// let allowed = limit.project(raised);
/// assert!(limit.contains(allowed));
/// assert!((allowed.distance(raised).degrees() - 30.0).abs() < 1e-9);
/// # Ok::<(), condyle::limits::LimitError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PreparedLimit(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Free,
    Locked(LockedLimit),
    Hinge(HingeLimit),
    Universal(Box<UniversalLimit>),
    EulerBox(Box<EulerBoxLimit>),
    Ball(Box<Ball>),
}

impl Limit {
    /// Makes it ready to be asked.
    ///
    /// # Errors
    ///
    /// See [`LimitErrorKind`](super::LimitErrorKind).
    pub fn prepare(&self) -> Result<PreparedLimit, LimitError> {
        Ok(PreparedLimit(match self {
            Self::Free => Kind::Free,
            Self::Locked => Kind::Locked(LockedLimit),
            Self::Hinge { axis, arc } => Kind::Hinge(HingeLimit::new(*axis, *arc)?),
            Self::Universal { axes, arcs } => {
                Kind::Universal(Box::new(UniversalLimit::new(*axes, *arcs)?))
            }
            Self::EulerBox(of) => Kind::EulerBox(Box::new(EulerBoxLimit::new(*of)?)),
            Self::SwingTwist(of) => Kind::Ball(Box::new(Ball::new(of)?)),
        }))
    }
}

/// The same call on whatever kind it is, with an answer for free joints.
macro_rules! ask {
    ($limit:expr, $free:expr, $of:ident => $call:expr) => {
        match &$limit.0 {
            Kind::Free => $free,
            Kind::Locked($of) => $call,
            Kind::Hinge($of) => $call,
            Kind::Universal($of) => $call,
            Kind::EulerBox($of) => $call,
            Kind::Ball($of) => $call,
        }
    };
}

impl PreparedLimit {
    /// Whether a rotation is allowed, boundaries included: whether its
    /// [`distance`](Self::distance) is at least −10⁻¹² rad.
    #[must_use]
    pub fn contains(&self, m: Rotation) -> bool {
        ask!(self, true, of => of.contains(m))
    }

    /// How far inside a rotation is: positive inside, negative outside.
    ///
    /// For swing and twist it is the smaller of two margins: that of the bone's direction, along the
    /// sphere, and that of the twist. For the others it is the angle to the nearest rotation on the
    /// boundary; a hinge or universal joint off its surface is outside by the angle to it. Where
    /// there is no boundary it is π.
    #[must_use]
    pub fn distance(&self, m: Rotation) -> Angle {
        Angle::from_radians(ask!(self, PI, of => of.distance(m)))
    }

    /// An allowed rotation for any rotation; the default everywhere.
    ///
    /// For swing and twist (B10, B11): the nearest direction for the bone; then the twist relative to
    /// zero twist is kept, so that the move of the bone induces none, and clamped to its range there.
    /// So the bone never moves because of a twist. For the others it is
    /// [`project_rotation`](Self::project_rotation).
    ///
    /// A rotation that is allowed comes back unchanged, bit for bit, and so does every result.
    /// Continuous except where the nearest direction is not unique, at −bone, and at the middle of the
    /// gap of the twist.
    ///
    /// Of the two quaternions of a rotation, the result is the one in the hemisphere of `m`'s. The same
    /// holds for [`project_rotation`](Self::project_rotation) and [`toward_rest`](Self::toward_rest), and
    /// for [`advance`](Self::advance) with the hemisphere of its goal.
    #[must_use]
    pub fn project(&self, m: Rotation) -> Rotation {
        ask!(self, m, of => of.project(m))
    }

    /// The allowed rotation that is nearest by the angle of the turn between them.
    ///
    /// For swing and twist it may turn the bone to save twist, or twist it to save swing, and is found
    /// by a search: to 10⁻⁶ rad in all tests, in some hundred microseconds, or milliseconds if the range
    /// of twist depends on the direction. Where that jumps there may be no nearest, and it is one that
    /// is nearly as near. It allocates. For the others it is exact, and fast.
    #[must_use]
    pub fn project_rotation(&self, m: Rotation) -> Rotation {
        match &self.0 {
            Kind::Ball(ball) => ball.project_rotation(m),
            _ => self.project(m),
        }
    }

    /// The bone moved along the great arc towards its rest direction, just as far as needed (D5): to
    /// where a walk from rest first meets the boundary. Rest is that of a
    /// [reach cone](super::SwingLimit::ReachCone), else the bone's own direction, or a direction deep
    /// inside if that is not allowed. The twist is clamped. Other kinds of limit are projected.
    /// Allocates.
    #[must_use]
    pub fn toward_rest(&self, m: Rotation) -> Rotation {
        match &self.0 {
            Kind::Ball(ball) => ball.toward_rest(m),
            _ => self.project(m),
        }
    }

    /// From an allowed rotation as far towards another as one can go (B12): the bone along the great
    /// arc to where it first leaves its region, by exact containment of the arc, then the twist. Other
    /// kinds of limit project the goal. Allocates.
    #[must_use]
    pub fn advance(&self, from: Rotation, to: Rotation) -> Rotation {
        match &self.0 {
            Kind::Ball(ball) => ball.advance(from, to),
            _ => self.project(to),
        }
    }

    /// The derivative of [`distance`](Self::distance) under `m ← exp(v) · m`, `v` in the space of the
    /// limit; zero where there is none. Allocates.
    #[must_use]
    pub fn gradient(&self, m: Rotation) -> DVec3 {
        ask!(self, DVec3::ZERO, of => of.gradient(m))
    }

    /// The derivative of [`project`](Self::project):
    /// `project(exp(v) · m) ≈ exp(J v) · project(m)`.
    #[must_use]
    pub fn jacobian(&self, m: Rotation) -> DMat3 {
        ask!(self, DMat3::IDENTITY, of => of.jacobian(m))
    }

    /// The limit near a rotation as half-spaces of small rotations (A17). Allocates.
    #[must_use]
    pub fn linearize(&self, m: Rotation) -> Vec<HalfSpace> {
        ask!(self, Vec::new(), of => of.linearize(m))
    }

    /// The share of all rotations that is allowed, by the uniform (Haar) measure: 1 if all are, 0 for
    /// hinges and universal joints, which allow a line or a surface of them. It does not depend on the
    /// frame of the joint. Allocates.
    ///
    /// Exact for boxes of Euler angles and for swing and twist whose range of twist is equally wide
    /// everywhere, up to what the area of a user's own shape is known to. Else by a quadrature whose
    /// points turn with the frame, good to some 1e-5 of the result, and 1e-4 for regions a degree thin.
    ///
    /// ```
    /// use condyle::limits::Limit;
    /// assert_eq!(Limit::Free.prepare()?.volume(), 1.0);
    /// assert_eq!(Limit::Locked.prepare()?.volume(), 0.0);
    /// # Ok::<(), condyle::limits::LimitError>(())
    /// ```
    #[must_use]
    pub fn volume(&self) -> f64 {
        match &self.0 {
            Kind::Free => 1.0,
            Kind::Locked(_) | Kind::Hinge(_) | Kind::Universal(_) => 0.0,
            Kind::EulerBox(of) => volume::euler_box(of.of()),
            Kind::Ball(of) => volume::ball(of),
        }
    }

    /// Whether every rotation is allowed by saying so.
    pub(crate) const fn is_free(&self) -> bool {
        matches!(self.0, Kind::Free)
    }

    /// Whether the boundary of its swings is not made of great arcs alone.
    pub(crate) fn is_curved(&self) -> bool {
        self.ball().is_some_and(|ball| !ball.region().is_polygon())
    }

    /// The same with great arcs for curved boundaries of swings, which are off these by an angle at most.
    pub(crate) fn with_chords(&self, off: Angle) -> Self {
        match &self.0 {
            Kind::Ball(ball) => Self(Kind::Ball(Box::new(ball.with_chords(off.radians())))),
            _ => self.clone(),
        }
    }

    /// Whether it has no volume: it turns about less than three axes, or an Euler angle is a single one.
    pub(super) fn is_surface(&self) -> bool {
        match &self.0 {
            Kind::Locked(_) | Kind::Hinge(_) | Kind::Universal(_) => true,
            Kind::EulerBox(of) => of.is_thin(),
            Kind::Free | Kind::Ball(_) => false,
        }
    }

    /// The axes of a universal joint.
    pub(super) fn universal_axes(&self) -> Option<[DVec3; 2]> {
        match &self.0 {
            Kind::Universal(of) => Some(of.axes()),
            _ => None,
        }
    }

    /// The axes about which a joint with this limit turns, with their arcs, in the order of a product; no
    /// axes for one that is locked. `None` if it turns about any axis.
    pub(crate) fn axes(&self) -> Option<Vec<(DVec3, Arc)>> {
        match &self.0 {
            Kind::Locked(_) => Some(Vec::new()),
            Kind::Hinge(of) => Some(vec![of.turn()]),
            Kind::Universal(of) => Some(of.turns().to_vec()),
            Kind::Free | Kind::EulerBox(_) | Kind::Ball(_) => None,
        }
    }

    /// The angles about those axes of a rotation that is allowed, each in its arc or nearly; zero for an
    /// axis that is not there.
    pub(crate) fn angles(&self, m: Rotation) -> [f64; 2] {
        match &self.0 {
            Kind::Hinge(of) => [of.turn_of(m), 0.0],
            Kind::Universal(of) => of.turns_of(m),
            _ => [0.0; 2],
        }
    }

    /// What projects many at once, if there is a loop for it.
    pub(super) fn lanes(&self) -> Option<Lanes<'_>> {
        match &self.0 {
            Kind::Hinge(of) => Some(Lanes::Hinge(of)),
            Kind::Ball(of) => BallLanes::new(of).map(Lanes::Ball),
            _ => None,
        }
    }

    pub(super) fn ball(&self) -> Option<&Ball> {
        match &self.0 {
            Kind::Ball(ball) => Some(ball),
            _ => None,
        }
    }

    /// The region of the bone's direction, for limits of swing and twist.
    #[must_use]
    pub fn swing(&self) -> Option<PreparedSwing<'_>> {
        self.ball().map(PreparedSwing)
    }
}

/// The region of directions of a swing-twist limit. Directions are vectors of any length in the space
/// of the limit; what is no direction is inside nothing.
#[derive(Clone, Copy, Debug)]
pub struct PreparedSwing<'a>(&'a Ball);

impl PreparedSwing<'_> {
    #[inline(always)]
    fn local(&self, direction: DVec3) -> Option<DVec3> {
        let d = self.0.axes().components(direction);
        // Nearly always it is a unit vector already.
        if (d.length_squared() - 1.0).abs() < 1e-14 { Some(d) } else { unit(d) }
    }

    /// Whether the bone may point there.
    #[must_use]
    #[inline(always)]
    pub fn contains(&self, direction: DVec3) -> bool {
        self.local(direction).is_some_and(|d| self.0.region().contains(d))
    }

    /// What the region is, of components along its axes, if it is an ellipse.
    pub(crate) fn ellipse(&self) -> Option<(Ellipse, &SwingAxes)> {
        self.0.region().ellipse().map(|ellipse| (ellipse, self.0.axes()))
    }

    /// Distance to the boundary along the sphere, positive inside; `None` for no direction.
    #[must_use]
    pub fn distance(&self, direction: DVec3) -> Option<Angle> {
        self.local(direction).map(|d| Angle::from_radians(self.0.region().distance(d)))
    }

    /// The nearest direction inside; `None` for no direction.
    #[must_use]
    pub fn project(&self, direction: DVec3) -> Option<DVec3> {
        self.local(direction).map(|d| self.0.axes().vector(self.0.region().project(d)))
    }

    /// The twists allowed where the bone points somewhere, relative to the direct swing.
    #[must_use]
    pub fn twist(&self, direction: DVec3) -> Option<Arc> {
        let range = self.0.twist().range(self.local(direction)?);
        if range.is_full() {
            return Some(Arc::FULL);
        }
        Arc::new(Angle::from_radians(range.min), Angle::from_radians(range.max))
    }

    /// The bone, as it is when `m` is the identity.
    #[must_use]
    pub fn bone(&self) -> DVec3 {
        self.0.axes().bone()
    }

    /// The direction from which [`PreparedLimit::toward_rest`] looks.
    #[must_use]
    pub fn rest(&self) -> DVec3 {
        self.0.rest()
    }

    /// The area of the region on the unit sphere, in steradians: 4π for all of it.
    #[must_use]
    pub fn area(&self) -> f64 {
        self.0.region().area()
    }

    /// The boundary as closed polylines of directions, walked with the inside on the left, in steps of
    /// at most so much.
    #[must_use]
    pub fn boundary(&self, step: Angle) -> Vec<Vec<DVec3>> {
        let step = step.radians().clamp(1e-4, 1.0);
        let step = if step.is_nan() { 0.05 } else { step };
        let loops = self.0.region().loops(step);
        loops
            .into_iter()
            .map(|l| l.into_iter().map(|d| self.0.axes().vector(d)).collect())
            .collect()
    }

    /// Directions drawn uniformly from the region; `random` gives numbers drawn uniformly from
    /// `[0, 1)`. Fewer than asked for if a hundred thousand draws in a row from a cap around it miss
    /// the region, and none of a line.
    pub fn samples(&self, count: usize, random: impl FnMut() -> f64) -> Vec<DVec3> {
        let samples = self.0.region().samples(count, random);
        samples.into_iter().map(|d| self.0.axes().vector(d)).collect()
    }

    /// Whether the great arc from one direction to another is inside, all of it (B12).
    #[must_use]
    pub fn contains_arc(&self, from: DVec3, to: DVec3) -> bool {
        let (Some(a), Some(b)) = (self.local(from), self.local(to)) else { return false };
        let region = self.0.region();
        region.contains(a) && region.contains(b) && region.first_exit(a, b) >= 1.0
    }

    /// Whether both ends and the middle of the great arc are inside: the test of the source paper
    /// (section 4.2), which concave regions can fool. Much faster than
    /// [`contains_arc`](Self::contains_arc).
    #[must_use]
    pub fn contains_middle(&self, from: DVec3, to: DVec3) -> bool {
        let (Some(a), Some(b)) = (self.local(from), self.local(to)) else { return false };
        let region = self.0.region();
        let middle = unit(a + b).is_some_and(|d| region.contains(d));
        middle && region.contains(a) && region.contains(b)
    }
}
