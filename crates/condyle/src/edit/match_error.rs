//! What keeps windows of motion from being compared.

use std::fmt;

use crate::math::EulerOrder;

/// Why windows of motion cannot be compared.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MatchError {
    /// A clip has not one track per joint of its skeleton.
    JointCount {
        /// How many tracks there are.
        found: usize,
        /// How many joints the skeleton has.
        expected: usize,
    },
    /// There is no joint to compare.
    NoJoints,
    /// A joint is so far away that distances cannot be computed.
    TooFar {
        /// Its name.
        joint: String,
    },
    /// The window is empty or not within its clip.
    Window {
        /// Its first frame.
        start: usize,
        /// The frame behind its last.
        end: usize,
        /// How many frames the clip has.
        frames: usize,
    },
    /// No window of that length starts in the range that is searched.
    TooShort {
        /// How many frames the window has.
        window: usize,
        /// How many frames the longest clip has.
        frames: usize,
    },
    /// A joint is in one skeleton and not in the other.
    MissingJoint {
        /// The joint's name.
        joint: String,
    },
    /// A joint hangs on another one, so that its rotations mean something else.
    OtherParent {
        /// The joint's name.
        joint: String,
        /// What it hangs on; `None` for a root.
        found: Option<String>,
        /// What it hangs on in the query.
        expected: Option<String>,
    },
    /// A joint has another rest pose, so that its rotations mean something else.
    OtherRest {
        /// The joint's name.
        joint: String,
        /// By how much.
        degrees: f64,
    },
    /// A joint has other Euler angles.
    Angles {
        /// The joint's name.
        joint: String,
        /// The order of its angles there.
        found: EulerOrder,
        /// The order of the query.
        expected: EulerOrder,
    },
    /// The features are of another metric than the query.
    Metric,
    /// A clip has another rate than the query.
    Rate {
        /// Its frames per second.
        found: f64,
        /// Those of the query.
        expected: f64,
    },
    /// There is not one weight per frame of the window.
    WeightCount {
        /// How many weights there are.
        found: usize,
        /// How many frames.
        expected: usize,
    },
    /// A weight is negative, infinite or not a number.
    BadWeight,
    /// All weights are zero.
    NoWeight,
    /// One of several clips cannot be compared.
    InClip {
        /// Which, from 0, in the order they were given.
        clip: usize,
        /// Why.
        error: Box<MatchError>,
    },
}

impl fmt::Display for MatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::JointCount { found, expected } => {
                write!(f, "motion of {found} joints for a skeleton of {expected}")
            }
            Self::NoJoints => {
                f.write_str("there is no joint to compare: the skeleton has only roots")
            }
            Self::TooFar { joint } => {
                write!(f, "joint {joint:?} is too far away to compute distances")
            }
            Self::Window { start, end, frames } => {
                write!(f, "the window {start}..{end} is not within the {frames} frames of the clip")
            }
            Self::TooShort { window, frames } => write!(
                f,
                "no window of {window} frames to search: the longest clip has {frames} frames; take a \
                 shorter window or a wider range"
            ),
            Self::MissingJoint { joint } => {
                write!(f, "another skeleton: only one of the two has a joint {joint:?}")
            }
            Self::OtherParent { joint, found, expected } => {
                let on = |parent: &Option<String>| match parent {
                    Some(parent) => format!("hangs on {parent:?}"),
                    None => "is a root".to_owned(),
                };
                let (found, expected) = (on(found), on(expected));
                write!(
                    f,
                    "another skeleton: {joint:?} {found} here and {expected} in the query, so their \
                     rotations cannot be compared"
                )
            }
            Self::OtherRest { joint, degrees } => write!(
                f,
                "another rest pose: {joint:?} is {degrees:.1}° off, so its rotations cannot be compared"
            ),
            Self::Angles { joint, found, expected } => write!(
                f,
                "joint {joint:?} has Euler angles {found} where the query has {expected}; take its \
                 features like those of the query"
            ),
            Self::Metric => f.write_str("the features are of another metric than the query"),
            Self::Rate { found, expected } => write!(
                f,
                "it has {found} frames per second where the query has {expected}; resample it"
            ),
            Self::InClip { clip, error } => write!(f, "clip {clip}: {error}"),
            Self::WeightCount { found, expected } => {
                write!(f, "{found} weights for a window of {expected} frames")
            }
            Self::BadWeight => f.write_str("a weight is not a finite number of at least 0"),
            Self::NoWeight => f.write_str("all weights are zero"),
        }
    }
}

impl std::error::Error for MatchError {}
