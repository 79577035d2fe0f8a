//! Angles of joints that depend on each other.

use std::fmt;

use glam::DVec3;

use super::{RigJoint, Source};
use crate::limits::{Limit, TwistBounds};
use crate::maps::{Curve, CurveError};
use crate::math::{Angle, Arc, Rotation, SwingTwist, trig};

/// One of the angles that a joint has by its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JointAngle {
    /// Of a hinge.
    Turn,
    /// About the first axis of a universal joint.
    First,
    /// About the second axis of a universal joint.
    Second,
    /// About x in the swing of a ball, as a rotation vector.
    X,
    /// About y in the swing of a ball.
    Y,
    /// The twist of a ball.
    Twist,
}

impl JointAngle {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Turn, Self::First, Self::Second, Self::X, Self::Y, Self::Twist];

    pub(super) const NAMES: [&'static str; 6] = ["turn", "first", "second", "x", "y", "twist"];

    /// Whether it goes around, so that whole turns make no difference.
    #[must_use]
    pub const fn goes_around(self) -> bool {
        !matches!(self, Self::X | Self::Y)
    }

    /// Its name in the document.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::First => "first",
            Self::Second => "second",
            Self::X => "x",
            Self::Y => "y",
            Self::Twist => "twist",
        }
    }
}

impl fmt::Display for JointAngle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An angle of a joint of the rig.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AngleOf {
    /// The joint's name.
    pub joint: String,
    /// Which of its angles.
    pub angle: JointAngle,
}

impl fmt::Display for AngleOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.joint, self.angle)
    }
}

/// What one angle does to another (D3).
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// It says where the other is.
    Drive {
        /// The passive angle as a function of the active one, in degrees.
        curve: Curve,
    },
    /// It says how far the other may go: from below, from above, or from both sides.
    Bound {
        /// At least this, in degrees.
        lower: Option<Curve>,
        /// At most this, in degrees.
        upper: Option<Curve>,
    },
}

/// An angle that drives or bounds another one, of another joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// Its name in the document, which says nothing.
    pub name: String,
    /// The angle that drives or bounds.
    pub active: AngleOf,
    /// The angle that is driven or bounded.
    pub passive: AngleOf,
    /// How.
    pub rule: Rule,
    /// From where to where the active angle went when this was learnt. Elsewhere nothing is known.
    pub seen: Option<[Angle; 2]>,
    /// How far the function may be off, at most: half the width of its 95 % band.
    pub uncertain: Option<Angle>,
    /// How far the motion is from a curve that drives, as a root mean square.
    pub residual: Option<Angle>,
    /// The share of false ones among all that were found with at least this evidence, at most, as a
    /// statistic: Benjamini and Hochberg's.
    pub false_share: Option<f64>,
    /// Where it comes from.
    pub source: Option<Source>,
}

impl Coupling {
    /// What the passive angle may be where the active one is, in radians; `None` where the active angle
    /// was never seen, so that nothing is known. [`outside`](Self::outside) compares the passive angle
    /// with it.
    ///
    /// # Convention
    ///
    /// Angles that go around are counted from a place that their motion did not pass when this was learnt,
    /// so the functions may go beyond half a turn. The active angle may be given with any whole turns.
    ///
    /// # Errors
    ///
    /// If a function makes no sense.
    pub fn allowed(&self, active: f64) -> Result<Option<[f64; 2]>, CurveError> {
        let active = match self.seen {
            Some(seen) => {
                let [low, high] = seen.map(Angle::radians);
                let active = if self.active.angle.goes_around() {
                    near(0.5 * (low + high), active)
                } else {
                    active
                };
                if !(low..=high).contains(&active) {
                    return Ok(None);
                }
                active
            }
            None => active,
        };
        let at = |curve: &Curve| -> Result<f64, CurveError> {
            let [value, _] = curve.prepare()?.at(Angle::from_radians(active).degrees());
            Ok(Angle::from_degrees(value).radians())
        };
        Ok(Some(match &self.rule {
            Rule::Drive { curve } => [at(curve)?; 2],
            Rule::Bound { lower, upper } => [
                lower.as_ref().map_or(Ok(f64::NEG_INFINITY), at)?,
                upper.as_ref().map_or(Ok(f64::INFINITY), at)?,
            ],
        }))
    }
}

impl Coupling {
    /// How far the passive angle is outside of what is [allowed](Self::allowed) where the active one is, in
    /// radians, zero if it is not; `None` where nothing is known. Both may be given with any whole turns.
    ///
    /// # Errors
    ///
    /// If a function makes no sense.
    pub fn outside(&self, active: f64, passive: f64) -> Result<Option<f64>, CurveError> {
        let Some([low, high]) = self.allowed(active)? else { return Ok(None) };
        let beyond = |passive: f64| (low - passive).max(passive - high).max(0.0);
        if !self.passive.angle.goes_around() {
            return Ok(Some(beyond(passive)));
        }
        // Of the turns that come nearest to either end, and what is between them, the better one.
        let ends = [low, high].into_iter().filter(|end| end.is_finite());
        let nearest = ends.map(|end| beyond(near(end, passive))).fold(f64::INFINITY, f64::min);
        Ok(Some(if nearest.is_finite() { nearest } else { 0.0 }))
    }
}

/// An angle by whole turns as near as possible to another one.
fn near(middle: f64, angle: f64) -> f64 {
    middle + Angle::from_radians(angle - middle).wrapped().radians()
}

impl RigJoint {
    /// The angles that this joint has, by the axes of its limit. A joint without axes has none.
    #[must_use]
    pub const fn angles(&self) -> &'static [JointAngle] {
        match self.limit {
            Limit::Hinge { .. } => &[JointAngle::Turn],
            Limit::Universal { .. } => &[JointAngle::First, JointAngle::Second],
            Limit::SwingTwist(_) => &[JointAngle::X, JointAngle::Y, JointAngle::Twist],
            Limit::Free | Limit::Locked | Limit::EulerBox(_) => &[],
        }
    }

    /// One of the [`angles`](Self::angles) of a rotation `m`, in radians; `None` if it has no such angle,
    /// or none that means something: a bone within 10° of pointing backwards has no swing or twist.
    ///
    /// # Convention
    ///
    /// `m` as in `local = rest · center · m`. An angle that goes around is counted so that it is within
    /// half a turn of the middle of its arc.
    #[must_use]
    pub fn angle(&self, angle: JointAngle, m: Rotation) -> Option<f64> {
        const BACKWARDS: f64 = 170.0 * (std::f64::consts::PI / 180.0);
        match (&self.limit, angle) {
            (Limit::Hinge { axis, arc }, JointAngle::Turn) => {
                Some(lifted(m.angle_about(*axis), *arc))
            }
            (Limit::Universal { axes: [a, b], arcs }, JointAngle::First) => {
                Some(lifted(about(*a, *b, m.apply(*b)), arcs[0]))
            }
            (Limit::Universal { axes: [a, b], arcs }, JointAngle::Second) => {
                Some(lifted(-about(*b, *a, m.inverse().apply(*a)), arcs[1]))
            }
            (Limit::SwingTwist(of), _) => {
                let split = SwingTwist::from_rotation(m, &of.axes);
                if split.swing.angle().radians() > BACKWARDS {
                    return None;
                }
                match angle {
                    JointAngle::X => Some(split.swing.x.radians()),
                    JointAngle::Y => Some(split.swing.y.radians()),
                    JointAngle::Twist => Some(match of.twist.bounds {
                        TwistBounds::Arc(arc) => lifted(split.twist.radians(), arc),
                        _ => split.twist.radians(),
                    }),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The angle by whole turns as near as possible to the middle of an arc.
fn lifted(angle: f64, arc: Arc) -> f64 {
    if arc.is_empty() || arc.is_full() {
        return angle;
    }
    near(arc.min().radians() + 0.5 * arc.width().radians(), angle)
}

/// By which angle about `axis` a vector turned.
fn about(axis: DVec3, from: DVec3, to: DVec3) -> f64 {
    let cos = from.dot(to) - axis.dot(from) * axis.dot(to);
    trig::atan2(axis.dot(from.cross(to)), cos)
}
