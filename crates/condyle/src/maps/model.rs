//! What a joint map is made of: plain data, as in the document.

use glam::DVec3;

use super::curve::Curve;
use super::slide::Slide;
use super::turn::Turn;
use crate::limits::Limit;
use crate::math::{Angle, Rotation};

/// Dials, and what they bring about: parts, which turn numbers into transforms, and the joints that are
/// moved by these (D1).
///
/// Parts are named, and take their inputs by name: that of a dial, or of a part. A part with several
/// outputs is followed by a point and the name of one: `lumbar.L4`. Their order does not matter.
#[derive(Clone, Debug, Default)]
pub struct JointMap {
    /// What can be set.
    pub dials: Vec<Dial>,
    /// What is made of it.
    pub parts: Vec<Part>,
    /// What it moves.
    pub joints: Vec<Driven>,
}

/// A number that can be set.
#[derive(Clone, Debug, PartialEq)]
pub struct Dial {
    /// Such as `lumbar.flexion`.
    pub name: String,
    /// What it counts.
    pub unit: Unit,
    /// From where to where it goes: radians, metres, or neither.
    pub range: [f64; 2],
    /// Where the figure is at rest.
    pub rest: f64,
    /// What it does, in a few words.
    pub label: String,
    /// Where its range is from.
    pub source: String,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Radians; degrees in documents.
    #[default]
    Angle,
    /// Metres.
    Length,
    /// Neither.
    Ratio,
}

impl Unit {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Angle, Self::Length, Self::Ratio];

    /// One degree, metre or nothing, as functions and documents count, in radians, metres or nothing.
    #[must_use]
    pub fn of_document(self) -> f64 {
        if self == Self::Angle { Angle::from_degrees(1.0).radians() } else { 1.0 }
    }

    /// What people write behind a number: `deg`, `m`, or nothing.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Angle => "deg",
            Self::Length => "m",
            Self::Ratio => "",
        }
    }

    /// What a document calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Angle => "angle",
            Self::Length => "length",
            Self::Ratio => "ratio",
        }
    }
}

/// A named step from numbers to transforms.
#[derive(Clone, Debug)]
pub struct Part {
    /// Such as `scapula_slides`.
    pub name: String,
    /// What it does.
    pub component: Component,
}

/// What a part does.
#[derive(Clone, Debug)]
pub enum Component {
    /// One number makes several (D2). A dependency of one on one is this with a single output (D3).
    Spread {
        /// The number.
        input: String,
        /// What it makes.
        outputs: Vec<Output>,
    },
    /// One number bounds another (D3): from below, from above, or from both sides. Where the lower
    /// bound is above the upper one, the middle of the two is what is left.
    Bound {
        /// The number that the bounds are functions of.
        active: String,
        /// The number that is bounded.
        passive: String,
        /// At least this.
        lower: Option<Curve>,
        /// At most this.
        upper: Option<Curve>,
    },
    /// A rotation about an axis, with a centre that may change (D6).
    Turn {
        /// The angle.
        angle: String,
        /// About what.
        turn: Turn,
    },
    /// A shift along a line.
    Shift {
        /// How far.
        length: String,
        /// The direction, of any length but zero.
        along: DVec3,
    },
    /// Transforms one after the other: the last one first, as in a product. A joint with several axes
    /// is a chain of turns, which need not be square to each other.
    Chain {
        /// Their names.
        of: Vec<String>,
    },
    /// A rotation held inside of a limit (D5).
    Limit {
        /// The transform whose rotation is held.
        input: String,
        /// The zero of the limit: it speaks of `center⁻¹ · rotation`.
        center: Rotation,
        /// Any limit, such as a reach cone.
        limit: Limit,
        /// Whether a direction outside goes back along the arc to the rest direction, to where a walk
        /// from rest first leaves; else it goes to the nearest one inside. See
        /// [`PreparedLimit::toward_rest`](crate::limits::PreparedLimit::toward_rest).
        toward_rest: bool,
    },
    /// A joint kept as it stands in the world while some of those above it turn (D4). It stays where it
    /// is attached.
    Compensate {
        /// The joint's own motion.
        input: String,
        /// The joint.
        joint: String,
        /// Those above it whose rotations are cancelled.
        cancel: Vec<String>,
    },
    /// A bone turned so that it touches an ellipsoid (D7).
    Slide {
        /// How the bone is turned beforehand; `None` for not at all.
        input: Option<String>,
        /// The joint of the bone.
        joint: String,
        /// The joint that the ellipsoid is fixed to, above the other.
        on: String,
        /// The two numbers that choose the points.
        numbers: [String; 2],
        /// The ellipsoid and the points.
        slide: Slide,
    },
}

/// One of the numbers that a number makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Called `part.name`; if empty, like the part.
    pub name: String,
    /// What it counts.
    pub unit: Unit,
    /// Which function of the input it is.
    pub curve: Curve,
}

/// A joint that is moved.
///
/// # Convention
///
/// The joint's place in its parent is `T(offset) · rest · motion`: what moves it is relative to rest, in
/// the joint's own space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driven {
    /// Its name.
    pub joint: String,
    /// The transform that moves it.
    pub by: String,
}
