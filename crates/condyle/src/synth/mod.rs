//! Skeletons and motions with known truth, for demos, tests and benchmarks.
//!
//! A [`Figure`] is a skeleton together with what each of its joints can really do
//! ([`JointTruth`]). [`Synth::generate`] lets it move: every joint explores its range
//! ([`Exploration`]) on a smooth path, and [`Options`] spoil the motion the way real data are
//! spoilt, each separately: noise, glitches, `q`/`−q` flips, repeated frames, sparse keys; and
//! whole turns in the numbers of a file ([`Synth::channels`]). What was done is recorded, and the
//! motion before it is kept.
//!
//! Everything depends on the seed only, and no platform mathematics is used, so that the same seed
//! gives the same bits on every machine. Each corruption and each joint draws from its own stream of
//! random numbers: adding one changes nothing else.
//!
//! ```
//! use condyle::math::Angle;
//! use condyle::synth::{Figure, Options, Synth};
//!
//! let options = Options { frames: 300, noise: Angle::from_degrees(0.3), ..Options::default() };
//! let synth = Synth::generate(&Figure::human(), &options, 1)?;
//! let elbow = synth.skeleton.find("LeftForeArm").unwrap();
//! assert_eq!(synth.truth[elbow.get()].kind(), "hinge");
//!
//! // The noise moves the joint off its hinge by about as much; without it, it is exactly on it.
//! let rest = synth.skeleton[elbow].rest;
//! let local = synth.clean.track(elbow).rotations().at(100);
//! let truth = &synth.truth[elbow.get()];
//! assert!(truth.excess(truth.motion(rest, local)).radians() < 1e-12);
//! # Ok::<(), condyle::synth::SynthError>(())
//! ```

mod channels;
mod coupled;
mod exporters;
mod figure;
mod gait;
mod generate;
mod path;
mod region;
mod rng;
mod truth;

#[cfg(test)]
mod tests;

use std::fmt;

pub use channels::{SourceChannels, Wrap};
pub use coupled::{
    CoupledAxes, CoupledFigure, CoupledKind, CoupledMotion, CoupledOptions, TrueCoupling,
};
pub use exporters::{bones_along_x, turned_in_motion};
pub use figure::Figure;
pub use gait::Gait;
pub use region::{RegionShape, SwingRegion};
pub use rng::Rng;
pub use truth::{Coordinates, JointTruth};

use crate::math::Angle;
use crate::motion::{ChannelsError, Clip, ClipError, FrameIndex, FrameRate, Interpolation};
use crate::skeleton::{Skeleton, SkeletonError};

/// The most frames a motion may be asked to have.
pub const MAX_FRAMES: usize = 1 << 24;

/// How a joint goes through what it can do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Exploration {
    /// All of it, on a smooth path: arcs are swept to and fro and both ends are met exactly; the
    /// directions of a ball go once around the boundary and then fill the inside.
    ///
    /// With n frames every point of a boundary is passed within 2400°/n (0.5° at 5000, on a long
    /// kidney; a cone of 125° needs 560°/n), every point inside within 280°/√n, and no joint turns
    /// by more than 600°/√n from one frame to the next (330°/√n for the human figure).
    #[default]
    Full,
    /// A part only, on a smooth path: of every arc a piece of this share of its width, of every
    /// region what lies behind a piece of this share of the boundary.
    Partial {
        /// In (0, 1].
        share: f64,
    },
    /// Mostly at both ends of every arc, and at two places of a region's boundary, going quickly
    /// between them.
    Dwell,
    /// As [`Full`](Self::Full), with the frames in random order: exemplar poses, no time.
    Poses,
    /// Every frame and every angle by itself, uniform over the arc or the region: no time, and ends
    /// are approached but not met.
    Scatter,
}

/// Which glitch frames the joints have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GlitchScope {
    /// Each joint its own.
    #[default]
    Joint,
    /// All joints the same: whole poses are wrong.
    Pose,
}

/// Frames that are wrong altogether.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Glitches {
    /// Of the frames, in [0, 1]; the number is rounded to the nearest.
    pub share: f64,
    /// Which.
    pub scope: GlitchScope,
}

/// How the motion is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keys {
    /// One key per frame, as from motion capture.
    #[default]
    EveryFrame,
    /// Few keys per joint at random frames, the first and the last among them, as set by hand.
    Sparse {
        /// How many per joint; at most one per frame.
        count: usize,
        /// What happens between them.
        interpolation: Interpolation,
    },
}

/// What motion to make, and how to spoil it. The default is 1000 clean frames at 120 per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How many frames, before any are repeated; 1 to [`MAX_FRAMES`].
    pub frames: usize,
    /// How fast they follow each other.
    pub rate: FrameRate,
    /// How joints go through their range.
    pub exploration: Exploration,
    /// Standard deviation of the noise: `local · exp(v)`, the three components of v normal and
    /// independent of each other, of other frames and of other joints.
    pub noise: Angle,
    /// Frames replaced by a random rotation at least 30° off.
    pub glitches: Glitches,
    /// The share of frames, in [0, 1], whose quaternion is stored as `−q`: the same rotation.
    pub sign_flips: f64,
    /// The share of frames, in [0, 1], that come a second time right after themselves, bit for
    /// bit and in all joints. They are added: no frame is lost.
    pub repeats: f64,
    /// How the result is stored.
    pub keys: Keys,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            frames: 1000,
            rate: FrameRate::from_fps(120.0).expect("120 is a rate"),
            exploration: Exploration::Full,
            noise: Angle::ZERO,
            glitches: Glitches::default(),
            sign_flips: 0.0,
            repeats: 0.0,
            keys: Keys::EveryFrame,
        }
    }
}

/// A motion whose truth is known. Made by [`Synth::generate`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Synth {
    /// Who moves.
    pub skeleton: Skeleton,
    /// What each joint can do, in the skeleton's order.
    pub truth: Vec<JointTruth>,
    /// The motion with everything the options asked for.
    pub clip: Clip,
    /// The same frames (repeats included) without noise, glitches and flips, a key per frame.
    pub clean: Clip,
    /// Where each joint stands in each frame of `clean`.
    pub coordinates: Vec<Vec<Coordinates>>,
    /// The glitch frames of each joint, rising. A repeated glitch is listed twice.
    pub glitches: Vec<Vec<FrameIndex>>,
    /// The frames of each joint whose quaternion is `−q`, rising.
    pub sign_flips: Vec<Vec<FrameIndex>>,
    /// The frames that repeat the one before, rising.
    pub repeats: Vec<FrameIndex>,
    /// The frames of each joint's keys, rising, when they are sparse.
    pub keys: Option<Vec<Vec<FrameIndex>>>,
    /// The noise that was added.
    pub noise: Angle,
}

/// Why a figure or a motion cannot be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SynthError {
    /// Not one truth per joint.
    JointCount {
        /// How many truths there are.
        found: usize,
        /// How many joints.
        expected: usize,
    },
    /// A figure without joints.
    NoJoints,
    /// No frames, or more than [`MAX_FRAMES`].
    FrameCount {
        /// How many were asked for.
        found: usize,
    },
    /// A share is not where it should be.
    Share {
        /// Which option.
        option: &'static str,
        /// Its value.
        value: f64,
    },
    /// The noise is negative or not finite.
    Noise,
    /// Sparse keys, but not one.
    NoKeys,
    /// A [`Gait`] that is none.
    Gait,
    /// The skeleton could not be built.
    Skeleton(SkeletonError),
    /// The clip could not be built.
    Clip(ClipError),
    /// The channels could not be built.
    Channels(ChannelsError),
}

impl fmt::Display for SynthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::JointCount { found, expected } => {
                write!(f, "truth of {found} joints for a skeleton of {expected}")
            }
            Self::NoJoints => f.write_str("a figure needs at least one joint"),
            Self::FrameCount { found } => {
                write!(f, "{found} frames asked for, where 1 to {MAX_FRAMES} are possible")
            }
            Self::Share { option, value } => {
                write!(f, "{option} is {value}, which is no share between 0 and 1")
            }
            Self::Noise => f.write_str("the noise is negative or not finite"),
            Self::NoKeys => f.write_str("sparse keys need at least one key"),
            Self::Gait => {
                f.write_str("numbers that no walk has: finite ones, steps, feet up and down")
            }
            Self::Skeleton(error) => error.fmt(f),
            Self::Clip(error) => error.fmt(f),
            Self::Channels(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SynthError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Skeleton(error) => Some(error),
            Self::Clip(error) => Some(error),
            Self::Channels(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SkeletonError> for SynthError {
    fn from(error: SkeletonError) -> Self {
        Self::Skeleton(error)
    }
}

impl From<ChannelsError> for SynthError {
    fn from(error: ChannelsError) -> Self {
        Self::Channels(error)
    }
}

impl From<ClipError> for SynthError {
    fn from(error: ClipError) -> Self {
        Self::Clip(error)
    }
}
