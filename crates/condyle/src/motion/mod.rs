//! Motion over time: poses, clips, sampling and forward kinematics.
//!
//! A [`Clip`] has one [`Track`] per joint. What a file said is kept beside it as [`Channels`]: source
//! numbers are the truth, rotations and translations are derived from them, and an edit marks the
//! joint and frame it touched. So motion that was not touched is written back with its own numbers.

pub(crate) mod aligned;
mod channels;
mod clip;
pub(crate) mod encode;
mod forward;
mod joined;
mod markers;
mod pose;
mod sample;
mod timing;
pub(crate) mod turns;

pub use crate::math::AngleUnit;
pub use crate::math::Interpolation;
pub use channels::{Channels, ChannelsError, Columns, JointChannels, Sequence};
pub use clip::{Clip, ClipError, KeyTimes, Track, TrackFault};
pub use forward::{World, WorldTracks, farthest_apart_m};
pub use markers::{Marker, Markers};
pub use pose::Pose;
pub use sample::{MAX_RESAMPLED, ResampleTo, Resampled};
pub use timing::{FrameIndex, FrameRate};
