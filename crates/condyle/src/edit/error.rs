//! What motions cannot be edited for.

use std::fmt;

use crate::motion::ClipError;

/// Why motions cannot be blended or connected.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EditError {
    /// There are no clips.
    NoClips,
    /// A clip has no frames.
    NoFrames,
    /// A clip has another number of joints.
    JointCount {
        /// Which, from 0.
        clip: usize,
        /// How many joints it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A skeleton lacks a joint of the other.
    MissingJoint {
        /// Which joint.
        name: String,
    },
    /// A joint hangs on another one than in the other skeleton.
    OtherParent {
        /// Which joint.
        name: String,
    },
    /// The rest pose of a joint is another, so that its rotations mean something else.
    OtherRest {
        /// Which joint.
        name: String,
        /// By how many degrees.
        degrees: f64,
    },
    /// A clip has another frame rate than the first.
    OtherRate {
        /// Which, from 0.
        clip: usize,
    },
    /// A weight is negative or not finite.
    Weight {
        /// Of which clip, from 0.
        clip: usize,
    },
    /// The window of a match is not within the clip.
    Window {
        /// Of which clip, from 0.
        clip: usize,
        /// Where the window starts.
        start: usize,
        /// How many frames it has.
        frames: usize,
        /// How many the clip has.
        available: usize,
    },
    /// A speed that is not positive and finite.
    Speed {
        /// Which.
        speed: f64,
    },
    /// A factor that is not positive and finite, or makes lengths that are not.
    Scale {
        /// Which.
        factor: f64,
    },
    /// The result is no clip.
    Clip(ClipError),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoClips => f.write_str("there is no clip"),
            Self::NoFrames => f.write_str("a clip has no frames"),
            Self::JointCount { clip, found, expected } => {
                write!(f, "clip {clip} moves {found} joints, not {expected}")
            }
            Self::MissingJoint { name } => {
                write!(f, "the skeletons differ: only one of them has a joint {name:?}")
            }
            Self::OtherParent { name } => {
                write!(f, "the skeletons differ: {name:?} has another parent")
            }
            Self::OtherRest { name, degrees } => {
                write!(f, "the skeletons differ: {name:?} is {degrees:.1}° off at rest")
            }
            Self::OtherRate { clip } => {
                write!(f, "clip {clip} has another frame rate than the first")
            }
            Self::Weight { clip } => {
                write!(f, "a weight of clip {clip} is negative or not a number")
            }
            Self::Window { clip, start, frames, available } => write!(
                f,
                "{frames} frames from frame {start} on are asked for, and clip {clip} has {available}"
            ),
            Self::Speed { speed } => write!(f, "{speed:?} is no speed: above 0, and finite"),
            Self::Scale { factor } => write!(f, "a figure cannot be {factor:?} times as large"),
            Self::Clip(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EditError {}

impl From<ClipError> for EditError {
    fn from(error: ClipError) -> Self {
        match error {
            ClipError::NoFrames => Self::NoFrames,
            error => Self::Clip(error),
        }
    }
}
