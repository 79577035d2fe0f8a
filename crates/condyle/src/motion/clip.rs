//! Clips: the motion of every joint over time.

use std::fmt;
use std::num::NonZeroUsize;

use glam::DVec3;

use super::{Channels, FrameIndex, FrameRate, Pose};
use crate::hash::{ContentHash, Words};
use crate::math::{Angle, Interpolation, Points, Rotation, Rotations};
use crate::skeleton::{JointIndex, Skeleton};

/// When the keys of a curve are.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyTimes {
    /// One key per frame of the clip.
    EveryFrame,
    /// At these times in seconds, strictly increasing. One key alone is a constant.
    At(Vec<f64>),
}

impl KeyTimes {
    /// One key that holds for the whole clip.
    #[must_use]
    pub fn constant() -> Self {
        Self::At(vec![0.0])
    }

    /// Whether there is one key only.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::At(times) if times.len() == 1)
    }
}

/// The motion of one joint: its local rotation and translation over time.
#[derive(Clone, Debug)]
pub struct Track {
    rotations: Rotations,
    rotation_times: KeyTimes,
    translations_m: Points,
    translation_times: KeyTimes,
    interpolation: Interpolation,
}

impl Track {
    /// A joint that stays where it is.
    #[must_use]
    pub fn constant(rotation: Rotation, translation_m: DVec3) -> Self {
        Self::from_parts(
            Rotations::repeat(rotation, 1),
            KeyTimes::constant(),
            Points::repeat(translation_m, 1),
            KeyTimes::constant(),
        )
    }

    /// A joint that turns: one rotation per frame, at a fixed place.
    #[must_use]
    pub fn turning(rotations: Rotations, translation_m: DVec3) -> Self {
        Self::from_parts(
            rotations,
            KeyTimes::EveryFrame,
            Points::repeat(translation_m, 1),
            KeyTimes::constant(),
        )
    }

    /// Rotation keys and translation keys, each at their own times. [`Clip::new`] checks them.
    #[must_use]
    pub fn from_parts(
        rotations: Rotations,
        rotation_times: KeyTimes,
        translations_m: Points,
        translation_times: KeyTimes,
    ) -> Self {
        Self {
            rotations,
            rotation_times,
            translations_m,
            translation_times,
            interpolation: Interpolation::Linear,
        }
    }

    /// The same keys with another interpolation between them.
    #[must_use]
    pub fn with_interpolation(mut self, interpolation: Interpolation) -> Self {
        self.interpolation = interpolation;
        self
    }

    /// The rotation keys: parent's local space from the joint's local space.
    #[must_use]
    pub const fn rotations(&self) -> &Rotations {
        &self.rotations
    }

    /// When the rotation keys are.
    #[must_use]
    pub const fn rotation_times(&self) -> &KeyTimes {
        &self.rotation_times
    }

    /// The translation keys: the joint centre in the parent's local space, metres.
    #[must_use]
    pub const fn translations_m(&self) -> &Points {
        &self.translations_m
    }

    /// When the translation keys are.
    #[must_use]
    pub const fn translation_times(&self) -> &KeyTimes {
        &self.translation_times
    }

    /// What happens between keys.
    #[must_use]
    pub const fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// Whether the translation changes over the clip.
    #[must_use]
    pub fn translation_moves(&self) -> bool {
        let first = self.translations_m.get(0);
        self.translations_m.iter().any(|p| Some(p) != first)
    }

    /// Replaces a rotation key.
    ///
    /// # Panics
    ///
    /// If there is no such key.
    pub(crate) fn set_rotation_key(&mut self, key: usize, rotation: Rotation) {
        self.rotations.set(key, rotation);
    }

    fn check(&self, frame_count: usize) -> Result<(), TrackFault> {
        let keys = |times: &KeyTimes, len: usize| match times {
            KeyTimes::EveryFrame if len == frame_count && len > 0 => Ok(()),
            KeyTimes::EveryFrame => Err(TrackFault::Count { found: len, expected: frame_count }),
            KeyTimes::At(at) if at.len() != len || len == 0 => {
                Err(TrackFault::Count { found: len, expected: at.len().max(1) })
            }
            KeyTimes::At(at) => {
                let rising = at.windows(2).all(|w| w[0] < w[1]) && at.iter().all(|t| t.is_finite());
                if rising { Ok(()) } else { Err(TrackFault::Times) }
            }
        };
        keys(&self.rotation_times, self.rotations.len())?;
        keys(&self.translation_times, self.translations_m.len())?;
        if self.translations_m.iter().all(DVec3::is_finite) {
            Ok(())
        } else {
            Err(TrackFault::NotFinite)
        }
    }
}

/// The motion of every joint of a skeleton over time.
///
/// A clip either has a sample per frame (files from motion capture) or keys at given times per
/// joint (hand-keyed motion), or a mixture. `frame_count` and `rate` say how it is played.
#[derive(Clone, Debug)]
pub struct Clip {
    frame_count: usize,
    rate: FrameRate,
    tracks: Vec<Track>,
    channels: Option<Channels>,
}

impl Clip {
    /// A clip from one track per joint, in the skeleton's order.
    ///
    /// # Errors
    ///
    /// See [`ClipError`].
    pub fn new(frame_count: usize, rate: FrameRate, tracks: Vec<Track>) -> Result<Self, ClipError> {
        if u32::try_from(frame_count).is_err() {
            return Err(ClipError::TooManyFrames);
        }
        for (i, track) in tracks.iter().enumerate() {
            track.check(frame_count).map_err(|fault| ClipError::Track { track: i, fault })?;
        }
        Ok(Self { frame_count, rate, tracks, channels: None })
    }

    /// A clip from the channels of a file, which stay with it.
    ///
    /// # Errors
    ///
    /// If the channels are not those of this skeleton.
    pub fn from_channels(
        skeleton: &Skeleton,
        rate: FrameRate,
        channels: Channels,
    ) -> Result<Self, ClipError> {
        Self::from_channels_on(skeleton, rate, channels, NonZeroUsize::MIN)
    }

    /// The same, on some threads.
    pub(crate) fn from_channels_on(
        skeleton: &Skeleton,
        rate: FrameRate,
        channels: Channels,
        threads: NonZeroUsize,
    ) -> Result<Self, ClipError> {
        if channels.joints().len() != skeleton.len() {
            return Err(ClipError::JointCount {
                found: channels.joints().len(),
                expected: skeleton.len(),
            });
        }
        let frame_count = channels.columns().frames();
        let tracks = channels.derive(skeleton, threads);
        let mut clip = Self::new(frame_count, rate, tracks)?;
        clip.channels = Some(channels);
        Ok(clip)
    }

    /// How many frames it plays.
    #[must_use]
    pub const fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// All frames.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = FrameIndex> + use<> {
        (0..u32::try_from(self.frame_count).expect("checked by Clip::new")).map(FrameIndex)
    }

    /// Whether the clip begins with a pose in front of the motion, as conversions and calibrations leave it
    /// there: a pose, held for any number of frames that is less than half of them, from which some joint jumps
    /// by more than 20° to the next frame, three times as far as any joint does in the frames behind it. What is
    /// held for several frames counts only if the figure moves behind the jump: keys may be held as steps.
    #[must_use]
    pub fn has_leading_pose(&self) -> bool {
        self.motion_start() > 0
    }

    /// The frame that the motion begins with: the first behind a [pose in front](Self::has_leading_pose), else 0.
    #[must_use]
    pub fn motion_start(&self) -> usize {
        const JUMP: Angle = Angle::from_degrees(20.0);
        // Less than this from frame to frame is a pose that is held.
        const HELD: Angle = Angle::from_degrees(0.05);
        const AFTER: usize = 10;
        let count = self.frame_count();
        let at = |track: &Track, frame: usize| match track.rotation_times() {
            KeyTimes::EveryFrame => track.rotations().at(frame),
            KeyTimes::At(_) => {
                self.rotation_of(track, FrameIndex(u32::try_from(frame).unwrap_or(u32::MAX)))
            }
        };
        let turn = |track: &Track, from: usize| at(track, from).distance(at(track, from + 1));
        let is_held = |from: usize| self.tracks().iter().all(|track| turn(track, from) < HELD);
        let step = |from: usize| {
            let turns = self.tracks().iter().map(|track| turn(track, from).radians());
            turns.fold(0.0, f64::max)
        };
        let held = (0..count / 2).find(|from| from + 2 < count && !is_held(*from));
        let Some(last) = held else { return 0 };
        let jump = step(last);
        if jump <= JUMP.radians() {
            return 0;
        }
        let mut behind = last + 1..(last + AFTER).min(count) - 1;
        let goes_on = behind.clone().all(|from| 3.0 * step(from) < jump);
        let moves = last == 0 || behind.any(|from| !is_held(from));
        if goes_on && moves { last + 1 } else { 0 }
    }

    /// The clip by how its joints turn: the same for the same rotations in the same frames, to the last
    /// bit, and another one for a part of it, or another take. Where the figure is does not count.
    #[must_use]
    pub fn content_hash(&self) -> ContentHash {
        let mut words = Words::new();
        words.add(self.frame_count as u64);
        for track in &self.tracks {
            if let KeyTimes::At(times) = &track.rotation_times {
                words.add_all(times);
            }
            track.rotations.xyzw().into_iter().for_each(|column| words.add_all(column));
        }
        words.finish()
    }

    /// How fast.
    #[must_use]
    pub const fn rate(&self) -> FrameRate {
        self.rate
    }

    /// From the first frame to the last, in seconds.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "frame counts are below 2^32")]
    pub fn duration_s(&self) -> f64 {
        self.frame_count.saturating_sub(1) as f64 * self.rate.frame_time_s()
    }

    /// The motion of each joint, in the skeleton's order.
    #[must_use]
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// The motion of one joint.
    #[must_use]
    pub fn track(&self, joint: JointIndex) -> &Track {
        &self.tracks[joint.get()]
    }

    /// The numbers of the file it came from, if it came from one.
    #[must_use]
    pub const fn channels(&self) -> Option<&Channels> {
        self.channels.as_ref()
    }

    pub(crate) fn with_channels(mut self, channels: Option<Channels>) -> Self {
        self.channels = channels;
        self
    }

    /// Replaces a joint's rotation in one frame. A track that was constant or keyed is sampled to
    /// one key per frame first.
    ///
    /// # Panics
    ///
    /// If there is no such joint or frame.
    pub fn set_rotation(&mut self, joint: JointIndex, frame: FrameIndex, rotation: Rotation) {
        if self.tracks[joint.get()].rotation_times != KeyTimes::EveryFrame {
            let sampled = self.frames().map(|f| self.rotation(joint, f)).collect();
            let track = &mut self.tracks[joint.get()];
            track.rotations = sampled;
            track.rotation_times = KeyTimes::EveryFrame;
        }
        self.tracks[joint.get()].rotations.set(frame.get(), rotation);
        if let Some(channels) = &mut self.channels {
            channels.mark_rotation(joint, frame.get());
        }
    }

    /// Replaces a rotation key of a joint, and keeps the times of its keys.
    ///
    /// # Panics
    ///
    /// If there is no such joint or key.
    pub fn set_rotation_key(&mut self, joint: JointIndex, key: usize, rotation: Rotation) {
        let every_frame = self.tracks[joint.get()].rotation_times == KeyTimes::EveryFrame;
        self.tracks[joint.get()].set_rotation_key(key, rotation);
        if let Some(channels) = &mut self.channels {
            // A key in between may matter to every frame.
            let touched = if every_frame { key..key + 1 } else { 0..self.frame_count };
            touched.for_each(|frame| channels.mark_rotation(joint, frame));
        }
    }

    /// Replaces a joint's translation in one frame. A track that was constant or keyed is sampled
    /// to one key per frame first.
    ///
    /// # Panics
    ///
    /// If there is no such joint or frame, or the translation is not finite.
    pub fn set_translation_m(&mut self, joint: JointIndex, frame: FrameIndex, translation: DVec3) {
        assert!(translation.is_finite(), "a translation is finite");
        if self.tracks[joint.get()].translation_times != KeyTimes::EveryFrame {
            let sampled = self.frames().map(|f| self.translation_m(joint, f)).collect();
            let track = &mut self.tracks[joint.get()];
            track.translations_m = sampled;
            track.translation_times = KeyTimes::EveryFrame;
        }
        self.tracks[joint.get()].translations_m.set(frame.get(), translation);
        if let Some(channels) = &mut self.channels {
            channels.mark_translation(joint, frame.get());
        }
    }

    /// Changes all places of a joint, keeping the times of its keys.
    ///
    /// # Errors
    ///
    /// [`ClipError::Track`] if one is not finite then; the clip is as it was.
    pub(crate) fn change_translations(
        &mut self,
        joint: JointIndex,
        change: impl Fn(DVec3) -> DVec3,
    ) -> Result<(), ClipError> {
        let track = &mut self.tracks[joint.get()];
        let changed: Points = track.translations_m.iter().map(change).collect();
        if !changed.iter().all(DVec3::is_finite) {
            let (track, fault) = (joint.get(), TrackFault::NotFinite);
            return Err(ClipError::Track { track, fault });
        }
        track.translations_m = changed;
        if let Some(channels) = &mut self.channels {
            (0..self.frame_count).for_each(|frame| channels.mark_translation(joint, frame));
        }
        Ok(())
    }

    /// Replaces the motion of a joint, with keys as [`Clip::new`] asks for.
    ///
    /// # Errors
    ///
    /// [`ClipError::Track`]; the clip is as it was then.
    ///
    /// # Panics
    ///
    /// If there is no such joint.
    pub fn set_track(&mut self, joint: JointIndex, track: Track) -> Result<(), ClipError> {
        let at = joint.get();
        track.check(self.frame_count).map_err(|fault| ClipError::Track { track: at, fault })?;
        self.tracks[at] = track;
        if let Some(channels) = &mut self.channels {
            for frame in 0..self.frame_count {
                channels.mark_rotation(joint, frame);
                channels.mark_translation(joint, frame);
            }
        }
        Ok(())
    }

    /// The pose of one frame.
    ///
    /// # Panics
    ///
    /// Past the last frame.
    #[must_use]
    pub fn pose(&self, frame: FrameIndex) -> Pose {
        let mut pose = Pose::default();
        self.pose_into(frame, &mut pose);
        pose
    }

    /// The pose of one frame, into a pose that is used again and again.
    ///
    /// # Panics
    ///
    /// Past the last frame.
    pub fn pose_into(&self, frame: FrameIndex, pose: &mut Pose) {
        assert!(frame.get() < self.frame_count, "frame {} of {}", frame.0, self.frame_count);
        pose.rotations.clear();
        pose.translations_m.clear();
        for j in (0..self.tracks.len()).map(JointIndex::new) {
            pose.rotations.push(self.rotation(j, frame));
            pose.translations_m.push(self.translation_m(j, frame));
        }
    }
}

/// Why tracks do not make a clip.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClipError {
    /// Not one track per joint.
    JointCount {
        /// How many there are.
        found: usize,
        /// How many joints the skeleton has.
        expected: usize,
    },
    /// A track is at fault.
    Track {
        /// Which, in the skeleton's order.
        track: usize,
        /// What is wrong with it.
        fault: TrackFault,
    },
    /// More frames than a clip can have.
    TooManyFrames,
    /// There are no frames where some are needed.
    NoFrames,
}

/// What is wrong with a track.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrackFault {
    /// The number of keys is wrong.
    Count {
        /// How many keys there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// Key times are not finite and strictly increasing.
    Times,
    /// A translation is infinite or not a number.
    NotFinite,
}

impl fmt::Display for ClipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::JointCount { found, expected } => {
                write!(f, "motion of {found} joints for a skeleton of {expected}")
            }
            Self::Track { track, fault: TrackFault::Count { found, expected } } => {
                write!(f, "joint {track} has {found} keys where {expected} are needed")
            }
            Self::Track { track, fault: TrackFault::Times } => {
                write!(f, "the key times of joint {track} are not finite and increasing")
            }
            Self::Track { track, fault: TrackFault::NotFinite } => {
                write!(f, "a translation of joint {track} is not finite")
            }
            Self::NoFrames => f.write_str("the clip has no frames"),
            Self::TooManyFrames => f.write_str("more frames than a clip can have"),
        }
    }
}

impl std::error::Error for ClipError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A joint that turns about x by angles in degrees, one a frame.
    fn turning(degrees: &[f64]) -> Clip {
        let rotations = degrees.iter().map(|d| Rotation::about_x(Angle::from_degrees(*d)));
        let rate = FrameRate::from_fps(30.0).unwrap();
        let still = Points::from_iter([DVec3::ZERO]);
        let times = (KeyTimes::EveryFrame, KeyTimes::At(vec![0.0]));
        let track = Track::from_parts(rotations.collect(), times.0, still, times.1);
        Clip::new(degrees.len(), rate, vec![track]).unwrap()
    }

    #[test]
    fn a_pose_in_front_may_be_held_and_keys_that_are_steps_are_none() {
        let motion = |n: u32| (0..n).map(|i| 60.0 + 5.0 * f64::from(i % 7));
        let behind =
            |held: &[f64], n: u32| -> Vec<f64> { held.iter().copied().chain(motion(n)).collect() };
        let start = |degrees: &[f64]| turning(degrees).motion_start();
        assert_eq!(start(&behind(&[], 20)), 0);
        assert_eq!(start(&behind(&[-90.0], 20)), 1);
        assert_eq!(start(&behind(&[-90.0; 9], 20)), 9);
        // Rounding in the last digit is no motion.
        assert_eq!(start(&behind(&[-90.0, -90.01, -90.0], 20)), 3);
        // A pose that is held for longer than the rest is not in front of it.
        assert_eq!(start(&behind(&[-90.0; 30], 20)), 0);
        // Who moves before, or goes on as fast behind, is in motion.
        assert_eq!(start(&behind(&[-90.0, -80.0, -70.0], 20)), 0);
        assert_eq!(start(&[0.0, 40.0, 80.0, 120.0, 160.0, 200.0]), 0);
        assert_eq!(start(&behind(&[50.0], 20)), 0);
        // Poses that are held as steps: nothing moves behind the first either.
        let steps: Vec<f64> = (0..60).map(|i| 70.0 * f64::from(i / 12 % 3)).collect();
        assert_eq!(start(&steps), 0);
        assert_eq!(start(&[0.0, 0.0]), 0);
        assert_eq!(start(&[0.0; 100]), 0);
    }
}
