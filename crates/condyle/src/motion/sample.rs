//! A clip at any time, and at another rate.

use glam::DVec3;

use super::clip::Track;
use super::{Clip, ClipError, FrameIndex, FrameRate, Interpolation, KeyTimes, Pose};
use crate::math::Rotation;
use crate::skeleton::{JointIndex, Skeleton};

/// Fewer keys than this say too little about a motion (Engell-Nørregård and Erleben, section 2.1).
const FEW_KEYS: usize = 4;

/// A frame coordinate this close to a whole number is that frame. Frame times are written with five
/// to seven digits; a millionth of a frame is far below what they can tell apart.
const ON_FRAME: f64 = 1e-6;

/// A point in time: as a coordinate in frames and in seconds.
#[derive(Clone, Copy, Debug)]
struct Instant {
    frame: f64,
    time_s: f64,
}

impl Clip {
    /// The joint's local rotation in a frame.
    ///
    /// # Panics
    ///
    /// If there is no such joint or frame.
    #[must_use]
    pub fn rotation(&self, joint: JointIndex, frame: FrameIndex) -> Rotation {
        let track = self.track(joint);
        match track.rotation_times() {
            KeyTimes::EveryFrame => track.rotations().at(frame.get()),
            KeyTimes::At(_) => track.rotation_at(self.instant_of(frame), None),
        }
    }

    /// The joint centre in its parent's local space in a frame, metres.
    ///
    /// # Panics
    ///
    /// If there is no such joint or frame.
    #[must_use]
    pub fn translation_m(&self, joint: JointIndex, frame: FrameIndex) -> DVec3 {
        let track = self.track(joint);
        match track.translation_times() {
            KeyTimes::EveryFrame => track.translations_m().at(frame.get()),
            KeyTimes::At(_) => track.translation_at(self.instant_of(frame), None),
        }
    }

    /// The rotation of some track in a frame of this clip. Its keys are at given times.
    pub(crate) fn rotation_of(&self, track: &Track, frame: FrameIndex) -> Rotation {
        track.rotation_at(self.instant_of(frame), None)
    }

    fn instant_of(&self, frame: FrameIndex) -> Instant {
        Instant { frame: f64::from(frame.0), time_s: self.rate().time_of(frame) }
    }

    /// The pose at a time in seconds, between frames and keys as each track says. Before the first
    /// and after the last key that key holds. A time that is not a number counts as 0.
    #[must_use]
    pub fn sample(&self, time_s: f64) -> Pose {
        let mut pose = Pose::default();
        self.sample_into(time_s, &mut pose);
        pose
    }

    /// [`sample`](Self::sample) into a pose that is used again and again.
    pub fn sample_into(&self, time_s: f64, pose: &mut Pose) {
        let time_s = if time_s.is_nan() { 0.0 } else { time_s };
        let instant = Instant { frame: time_s / self.rate().frame_time_s(), time_s };
        pose.rotations.clear();
        pose.translations_m.clear();
        for track in self.tracks() {
            pose.rotations.push(track.rotation_at(instant, None));
            pose.translations_m.push(track.translation_at(instant, None));
        }
    }

    /// The same motion with other frames (row A2 of the checklist).
    ///
    /// `interpolation` overrides what the tracks say. Frames of the source that fall on a new frame
    /// are taken over as they are, with their source numbers; constant tracks stay constant.
    ///
    /// # Errors
    ///
    /// [`ClipError::TooManyFrames`] beyond [`MAX_RESAMPLED`] frames or what memory would hold,
    /// [`ClipError::NoFrames`] for a clip without any.
    pub fn resample(
        &self,
        to: ResampleTo,
        interpolation: Option<Interpolation>,
    ) -> Result<Resampled, ClipError> {
        if self.frame_count() == 0 {
            return Err(ClipError::NoFrames);
        }
        let (instants, rate) = self.instants(to)?;
        let clip = self.at_instants(&instants, rate, interpolation);
        let few_keys = (0..self.tracks().len())
            .map(JointIndex::new)
            .filter(|&j| {
                let keys = self.track(j).rotations().len();
                !self.track(j).rotation_times().is_constant() && keys < FEW_KEYS
            })
            .collect();
        Ok(Resampled { clip, few_keys })
    }

    /// Other frames of the same motion, given as coordinates in its frames: `[3.0, 2.0, 1.5]` goes
    /// backward from frame 3. Those before the first frame or after the last are that frame. Whole ones
    /// are taken over as they are, with their source numbers; constant tracks stay constant.
    ///
    /// # Errors
    ///
    /// [`ClipError::NoFrames`] for a clip without any or if no frames are asked for,
    /// [`ClipError::TooManyFrames`] as for [`resample`](Self::resample).
    pub fn at_frames(
        &self,
        coordinates: impl IntoIterator<Item = f64>,
        rate: FrameRate,
        interpolation: Option<Interpolation>,
    ) -> Result<Self, ClipError> {
        let last = u32::try_from(self.frame_count()).unwrap_or(u32::MAX).checked_sub(1);
        let last = f64::from(last.ok_or(ClipError::NoFrames)?);
        let frame_time = self.rate().frame_time_s();
        let most = self.most_frames();
        let mut instants = Vec::new();
        for coordinate in coordinates {
            let frame = snapped(coordinate.max(0.0).min(last));
            instants.push(Instant { frame, time_s: frame * frame_time });
            if instants.len() as u64 > most {
                return Err(ClipError::TooManyFrames);
            }
        }
        if instants.is_empty() {
            return Err(ClipError::NoFrames);
        }
        Ok(self.at_instants(&instants, rate, interpolation))
    }

    /// There are frames, and instants within them.
    fn at_instants(
        &self,
        instants: &[Instant],
        rate: FrameRate,
        interpolation: Option<Interpolation>,
    ) -> Self {
        let tracks = self
            .tracks()
            .iter()
            .map(|track| {
                let (rotations, rotation_times) = if track.rotation_times().is_constant() {
                    (track.rotations().clone(), KeyTimes::constant())
                } else {
                    let at = |i: &Instant| track.rotation_at(*i, interpolation);
                    (instants.iter().map(at).collect(), KeyTimes::EveryFrame)
                };
                let (translations, translation_times) = if track.translation_times().is_constant() {
                    (track.translations_m().clone(), KeyTimes::constant())
                } else {
                    let at = |i: &Instant| track.translation_at(*i, interpolation);
                    (instants.iter().map(at).collect(), KeyTimes::EveryFrame)
                };
                Track::from_parts(rotations, rotation_times, translations, translation_times)
                    .with_interpolation(track.interpolation())
            })
            .collect();
        let clip = Self::new(instants.len(), rate, tracks)
            .expect("one sample per new frame and increasing times");
        let coordinates: Vec<f64> = instants.iter().map(|i| i.frame).collect();
        let how = interpolation.unwrap_or_default();
        let channels = self.channels().map(|c| c.with_frames(&coordinates, how));
        clip.with_channels(channels)
    }

    /// The most frames that may be made of this clip.
    fn most_frames(&self) -> u64 {
        let joints = self.tracks().len().max(1) as u64;
        let most = MAX_JOINT_FRAMES.max(4 * joints * self.frame_count() as u64);
        (most / joints).min(u64::from(MAX_RESAMPLED))
    }

    /// The new frames in terms of the old ones, and the new rate.
    fn instants(&self, to: ResampleTo) -> Result<(Vec<Instant>, FrameRate), ClipError> {
        let frame_time = self.rate().frame_time_s();
        let last = self.frame_count().saturating_sub(1);
        let last = u32::try_from(last).expect("a clip has fewer than 2^32 frames");
        let (count, step, rate) = match to {
            ResampleTo::Rate(rate) => {
                // Of rates as they are meant: 0.0083333 s a frame is 120 per second.
                let step = self.rate().nominal_fps() / rate.nominal_fps();
                let count = (f64::from(last) / step + ON_FRAME).floor() + 1.0;
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a whole number from 1 on; what is beyond u32 saturates"
                )]
                (count as u32, step, rate)
            }
            ResampleTo::Frames(n) if n >= 2 && last > 0 => {
                let step = f64::from(last) / f64::from(n - 1);
                let rate = FrameRate::from_frame_time(step * frame_time);
                (n, step, rate.unwrap_or(self.rate()))
            }
            ResampleTo::Frames(n) => (n.max(1), 0.0, self.rate()),
        };
        if u64::from(count) > self.most_frames() {
            return Err(ClipError::TooManyFrames);
        }
        let instants = (0..count)
            .map(|k| {
                let frame = snapped((f64::from(k) * step).min(f64::from(last)));
                Instant { frame, time_s: frame * frame_time }
            })
            .collect();
        Ok((instants, rate))
    }
}

/// The most frames a clip can be resampled to: a day and a half at 120 per second.
pub const MAX_RESAMPLED: u32 = 1 << 24;

/// The most joint-frames a clip can be resampled to, unless it had a quarter of that: with 30
/// joints an hour and a half at 120 frames per second, in 1.6 GB.
const MAX_JOINT_FRAMES: u64 = 20_000_000;

/// The whole number that a frame coordinate means, if it is one to within rounding.
fn snapped(frame: f64) -> f64 {
    let whole = frame.round();
    if (frame - whole).abs() <= ON_FRAME { whole } else { frame }
}

/// Which frames to make of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ResampleTo {
    /// At this rate, from the first frame on, as long as the clip lasts.
    Rate(FrameRate),
    /// So many, evenly from the first frame to the last.
    Frames(u32),
}

/// A clip at other frames, and what to know about it.
#[must_use]
#[derive(Clone, Debug)]
pub struct Resampled {
    /// The clip.
    pub clip: Clip,
    /// Joints with fewer than four keys: between so few, the motion is mostly the interpolation's.
    pub few_keys: Vec<JointIndex>,
}

impl Resampled {
    /// One sentence about joints with few keys, if there are any.
    #[must_use]
    pub fn note(&self, skeleton: &Skeleton) -> Option<String> {
        let first = *self.few_keys.first()?;
        let name = &skeleton[first].name;
        let who = match self.few_keys.len() - 1 {
            0 => format!("{name:?} has"),
            1 => format!("{name:?} and one more joint have"),
            n => format!("{name:?} and {n} more joints have"),
        };
        Some(format!("{who} fewer than {FEW_KEYS} keys: what lies between is interpolation"))
    }
}

impl Track {
    fn rotation_at(&self, instant: Instant, how: Option<Interpolation>) -> Rotation {
        let how = how.unwrap_or(self.interpolation());
        match self.rotation_times() {
            KeyTimes::EveryFrame => self.rotations().sample_frames(instant.frame, how),
            KeyTimes::At(times) => self.rotations().sample(times, instant.time_s, how),
        }
        .expect("a track has keys at increasing times, and an instant is a number")
    }

    fn translation_at(&self, instant: Instant, how: Option<Interpolation>) -> DVec3 {
        let how = how.unwrap_or(self.interpolation());
        match self.translation_times() {
            KeyTimes::EveryFrame => self.translations_m().sample_frames(instant.frame, how),
            KeyTimes::At(times) => self.translations_m().sample(times, instant.time_s, how),
        }
        .expect("a track has keys at increasing times, and an instant is a number")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Angle, Points, Rotations};
    use crate::motion::{AngleUnit, Channels, Columns, JointChannels, Sequence};
    use crate::skeleton::{Dof, Joint};

    fn about_x(degrees: f64) -> Rotation {
        Rotation::about_x(Angle::from_degrees(degrees))
    }

    fn fps(fps: f64) -> FrameRate {
        FrameRate::from_fps(fps).unwrap()
    }

    /// Turning evenly at 10° a frame, walking 1 m a frame.
    fn even(frames: u32, rate: FrameRate) -> Clip {
        let turn = (0..frames).map(|f| about_x(10.0 * f64::from(f))).collect();
        let walk = (0..frames).map(|f| DVec3::X * f64::from(f)).collect();
        let track = Track::from_parts(turn, KeyTimes::EveryFrame, walk, KeyTimes::EveryFrame);
        Clip::new(frames as usize, rate, vec![track]).unwrap()
    }

    #[track_caller]
    fn check(pose: &Pose, degrees: f64, x: f64) {
        let error = pose.rotations[0].distance(about_x(degrees)).degrees();
        assert!(error < 1e-9, "{error}°");
        assert!((pose.translations_m[0].x - x).abs() < 1e-9, "{}", pose.translations_m[0]);
    }

    #[test]
    fn even_motion_is_even_between_frames_with_every_interpolation() {
        for how in [Interpolation::Linear, Interpolation::Smooth] {
            let clip = even(5, fps(10.0));
            let track = clip.track(JointIndex::new(0)).clone().with_interpolation(how);
            let clip = Clip::new(5, fps(10.0), vec![track]).unwrap();
            for (t, x) in [(0.0, 0.0), (0.13, 1.3), (0.2, 2.0), (0.399, 3.99)] {
                check(&clip.sample(t), 10.0 * x, x);
            }
            check(&clip.sample(-1.0), 0.0, 0.0);
            check(&clip.sample(9.0), 40.0, 4.0);
            check(&clip.sample(f64::NAN), 0.0, 0.0);
        }
    }

    #[test]
    fn stepped_and_sparse_keys_hold_and_join_at_their_own_times() {
        let keys: Rotations = [0.0, 90.0, 45.0].map(about_x).into_iter().collect();
        let times = KeyTimes::At(vec![0.5, 1.0, 3.0]);
        let at = |how, t: f64| {
            let still = Points::repeat(DVec3::ZERO, 1);
            let track = Track::from_parts(keys.clone(), times.clone(), still, KeyTimes::constant());
            let clip = Clip::new(91, fps(30.0), vec![track.with_interpolation(how)]).unwrap();
            clip.sample(t)
        };
        for (t, stepped, straight) in [
            (0.0, 0.0, 0.0),
            (0.75, 0.0, 45.0),
            (1.0, 90.0, 90.0),
            (2.0, 90.0, 67.5),
            (4.0, 45.0, 45.0),
        ] {
            check(&at(Interpolation::Step, t), stepped, 0.0);
            check(&at(Interpolation::Linear, t), straight, 0.0);
        }
    }

    #[test]
    fn a2_n_samples_run_from_the_first_frame_to_the_last() {
        for n in [1, 2, 7, 100] {
            let out = even(51, fps(30.0)).resample(ResampleTo::Frames(n), None).unwrap().clip;
            assert_eq!(out.frame_count(), n as usize);
            check(&out.pose(FrameIndex(0)), 0.0, 0.0);
            if n > 1 {
                check(&out.pose(FrameIndex(n - 1)), 500.0, 50.0);
                assert!((out.duration_s() - 50.0 / 30.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn half_the_rate_takes_every_second_frame_whatever_digits_the_frame_time_has() {
        let written = FrameRate::from_frame_time(0.008_333_3).unwrap();
        let out = even(11, written).resample(ResampleTo::Rate(fps(60.0)), None).unwrap().clip;
        assert_eq!(out.frame_count(), 6);
        for k in 0..6 {
            let f = FrameIndex(k);
            let from = even(11, written).rotation(JointIndex::new(0), FrameIndex(2 * k));
            assert_eq!(out.rotation(JointIndex::new(0), f).quat(), from.quat());
        }
    }

    #[test]
    fn frames_that_are_taken_over_keep_their_source_numbers() {
        let mut s = Skeleton::new();
        let j = s.add_root(Joint::new("j", DVec3::ZERO)).unwrap();
        let mut columns = Columns::zeros(1, 4);
        columns.column_mut(0).copy_from_slice(&[0.0, 370.0, 20.0, 30.0]);
        let joint = JointChannels {
            dofs: vec![Dof::Rx],
            columns: vec![0],
            sequence: Sequence::FirstIsLeftmost,
            ..JointChannels::fixed(DVec3::ZERO)
        };
        let channels = Channels::new(vec![joint], columns, AngleUnit::Degrees, 1.0).unwrap();
        let clip = Clip::from_channels(&s, fps(30.0), channels).unwrap();
        let out = clip.resample(ResampleTo::Rate(fps(60.0)), None).unwrap().clip;
        let channels = out.channels().unwrap();
        assert_eq!(channels.columns().value(0, 2), 370.0);
        for f in 0..out.frame_count() {
            assert_eq!(channels.rotation_is_source(j, f), f % 2 == 0, "{f}");
        }
    }

    #[test]
    fn a_frame_that_is_only_near_a_source_frame_is_not_that_frame() {
        // 100 frames to 99.5 per second: coordinates 1.005, 2.01, …
        let rate = ResampleTo::Rate(fps(99.5));
        let out = even(50, fps(100.0)).resample(rate, None).unwrap().clip;
        check(&out.pose(FrameIndex(1)), 10.0 * 100.0 / 99.5, 100.0 / 99.5);
    }

    #[test]
    fn a_clip_without_frames_is_refused() {
        let empty = Clip::new(0, fps(30.0), vec![Track::constant(about_x(0.0), DVec3::ZERO)]);
        let refused = empty.unwrap().resample(ResampleTo::Frames(5), None);
        assert_eq!(refused.err(), Some(ClipError::NoFrames));
    }

    #[test]
    fn absurd_rates_are_refused_before_anything_is_allocated() {
        for to in [
            ResampleTo::Rate(fps(1e300)),
            ResampleTo::Frames(u32::MAX),
            ResampleTo::Frames(MAX_RESAMPLED + 1),
        ] {
            let refused = even(10, fps(30.0)).resample(to, None);
            assert_eq!(refused.err(), Some(ClipError::TooManyFrames));
        }
        // Many joints count, too.
        let many = vec![Track::constant(about_x(0.0), DVec3::ZERO); 1000];
        let many = Clip::new(2, fps(30.0), many).unwrap();
        assert!(many.resample(ResampleTo::Frames(100_000), None).is_err());
    }

    #[test]
    fn a2_fewer_than_four_keys_are_reported() {
        let clip = even(3, fps(30.0));
        let out = clip.resample(ResampleTo::Frames(50), Some(Interpolation::Smooth)).unwrap();
        assert_eq!(out.few_keys, [JointIndex::new(0)]);
        let enough = even(4, fps(30.0)).resample(ResampleTo::Frames(50), None).unwrap();
        assert!(enough.few_keys.is_empty());
    }
}
