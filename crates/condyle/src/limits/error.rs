//! What can be wrong with a limit.

use std::fmt;

/// Why a limit cannot be used, and which part of it is to blame.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitError {
    path: String,
    kind: LimitErrorKind,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LimitErrorKind {
    /// A direction or axis is zero or not finite.
    NoDirection,
    /// A number is not finite, or an angle is outside the range that makes sense.
    BadAngle {
        /// What it should be.
        expected: &'static str,
    },
    /// The two axes of a universal joint are parallel.
    ParallelAxes,
    /// A range of angles holds nothing.
    EmptyArc,
    /// A polygon has too few corners.
    TooFewCorners {
        /// How many it has.
        found: usize,
    },
    /// An edge is so long that it is not clear which way around the sphere it goes.
    LongEdge {
        /// Its first corner; the edge goes to the next.
        corner: usize,
    },
    /// Two corners that follow each other are the same direction.
    ShortEdge {
        /// The first of them.
        corner: usize,
    },
    /// Two edges cross or touch each other.
    Crossing {
        /// The first corner of each.
        edges: [usize; 2],
    },
    /// The direction that should be inside is not.
    RestOutside,
    /// There is no direction inside.
    EmptyRegion,
    /// What is inside is no more than a line or a point, or too small for its boundary to be found.
    /// Such are shapes that share an edge only, what shrinks to its middle, and a function of the user's
    /// own that is negative in a spot of less than some degrees only.
    TooThin,
    /// A line or a point among shapes that are combined: an ellipse with a radius of 0, or a box with
    /// an arc of width 0.
    Line,
    /// A list that needs at least one entry has none.
    EmptyList,
    /// A twist offset where another one is needed.
    SecondOffset,
    /// Too deep or too large to be meant: shapes within shapes more than 32 deep, a polygon of more than
    /// 65 536 corners, a boundary of more than 100 000 pieces, or so many pieces that may cross each other
    /// that preparing takes longer than some seconds. The work is counted, not timed: what is refused is
    /// refused everywhere.
    TooLarge,
    /// A box of Euler angles cannot be mirrored across this plane.
    ObliqueMirror,
}

impl LimitError {
    pub(crate) fn new(kind: LimitErrorKind) -> Self {
        Self { path: String::new(), kind }
    }

    /// The same error in a part of something larger, such as `polygons[2]`.
    #[must_use]
    pub(crate) fn within(mut self, part: impl fmt::Display) -> Self {
        self.path = match self.path.as_str() {
            "" => part.to_string(),
            inner if inner.starts_with('[') => format!("{part}{inner}"),
            inner => format!("{part}.{inner}"),
        };
        self
    }

    /// Where in the limit, such as `swing.polygons[2]`; empty for the limit as a whole.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> &LimitErrorKind {
        &self.kind
    }
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        match &self.kind {
            LimitErrorKind::NoDirection => f.write_str("the vector is zero or not finite"),
            LimitErrorKind::BadAngle { expected } => write!(f, "the angle must be {expected}"),
            LimitErrorKind::ParallelAxes => {
                f.write_str("the two axes are parallel; a hinge has one axis")
            }
            LimitErrorKind::EmptyArc => f.write_str("the range of angles is empty"),
            LimitErrorKind::TooFewCorners { found } => {
                write!(f, "a polygon needs at least 3 corners, this one has {found}")
            }
            LimitErrorKind::LongEdge { corner } => write!(
                f,
                "the edge from corner {corner} to the next is half a turn or nearly so, and might \
                 go either way; put a corner between them"
            ),
            LimitErrorKind::ShortEdge { corner } => {
                write!(f, "corner {corner} and the next are the same direction")
            }
            LimitErrorKind::Crossing { edges: [a, b] } => write!(
                f,
                "the edges from corners {a} and {b} cross or touch, so that it is not clear what \
                 is inside"
            ),
            LimitErrorKind::RestOutside => {
                f.write_str("the rest direction is not inside the boundary")
            }
            LimitErrorKind::EmptyRegion => f.write_str("no direction is inside"),
            LimitErrorKind::TooThin => f.write_str(
                "what is inside is no more than a line or a point, or too small to be found",
            ),
            LimitErrorKind::Line => f.write_str(
                "a line or a point cannot be combined with other shapes; give it some width, or grow it",
            ),
            LimitErrorKind::EmptyList => f.write_str("the list is empty"),
            LimitErrorKind::SecondOffset => {
                f.write_str("there is a twist offset already, and recentring needs one of its own")
            }
            LimitErrorKind::TooLarge => f.write_str("too many parts, or parts within parts"),
            LimitErrorKind::ObliqueMirror => f.write_str(
                "Euler angles can be mirrored only across a plane perpendicular to x, y or z",
            ),
        }
    }
}

impl std::error::Error for LimitError {}
