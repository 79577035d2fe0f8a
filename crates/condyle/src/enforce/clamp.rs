//! Motion brought inside its limits.

use std::num::NonZeroUsize;

use super::bound::{BoundJoint, passes};
use super::smooth::{Smoothing, smooth};
use super::{BoundRig, JointCheck};
use crate::math::{Angle, Rotation};
use crate::motion::{Clip, FrameIndex, KeyTimes};
use crate::skeleton::JointIndex;
use crate::threads;

/// How to clamp. The default is the nearest allowed rotation in each frame that a check does not pass,
/// on one thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClampOptions {
    /// Whether and how to keep the result free of pops.
    pub smoothing: Option<Smoothing>,
    /// Whether frames that a [check](BoundRig::check) passes, since they are within the noise, are
    /// brought inside as well. Otherwise they keep their numbers.
    pub exact: bool,
    /// How many threads may be used; the result is the same.
    pub threads: NonZeroUsize,
}

impl Default for ClampOptions {
    fn default() -> Self {
        Self { smoothing: None, exact: false, threads: NonZeroUsize::MIN }
    }
}

/// What clamping changed.
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub struct Clamped {
    /// How many frames the clip has.
    pub frames: usize,
    /// The frame that the motion begins with: 1 where frame 0 is a pose in front of it, which is clamped
    /// by itself.
    pub motion_start: usize,
    /// The joints that both the rig and the skeleton have, in the skeleton's order.
    pub joints: Vec<JointClamp>,
}

impl Clamped {
    /// Whether anything was changed.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.joints.iter().any(|j| j.changed > 0)
    }
}

/// What clamping changed of one joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointClamp {
    /// Which joint.
    pub joint: JointIndex,
    /// In how many frames its rotation was changed.
    pub changed: usize,
    /// In how many of them a check had passed it, and it was changed for the sake of smoothness (or of
    /// a key nearby).
    pub changed_inside: usize,
    /// In how many frames it is outside and keeps its rotation, since they are those that the rig knows
    /// as [left out](crate::rig::RigJoint::left_out) of the estimate, and a check passes the clip.
    pub left_out: usize,
    /// The largest change.
    pub largest: Angle,
    /// The first frame with it.
    pub largest_frame: FrameIndex,
    /// Whether its keys were replaced by one per frame, since the motion between allowed keys is not
    /// allowed.
    pub resampled: bool,
    /// How many pops the nearest allowed rotations have. Counted only when smoothing.
    pub pops: usize,
    /// How many steps between frames are still larger than what [`Smoothing`] promises.
    pub pops_left: usize,
}

/// What to do to a joint's rotations.
#[derive(Debug)]
enum Edit {
    /// Replace keys.
    Keys(Vec<(usize, Rotation)>),
    /// Replace frames; the others stay.
    Frames(Vec<(FrameIndex, Rotation)>),
}

impl BoundRig {
    /// Replaces every rotation that is outside of its limit, and that a [check](Self::check) does not
    /// count as within the noise, by an allowed one; if [exact](ClampOptions::exact), every rotation
    /// that is outside by more than rounding (10⁻¹² rad). So what a check passes keeps its numbers: a clip
    /// that passes as a whole comes back as it is, with the frames that the rig knows as left out of the
    /// estimate. Where anything has to be changed, these are brought inside as well, since the clip is
    /// another one then.
    ///
    /// Without [`Smoothing`] it is the one of
    /// [`PreparedLimit::project`](crate::limits::PreparedLimit::project), frame by frame. Only what is
    /// changed is marked as edited, so everything else keeps the numbers of its file; motion that passes
    /// is not touched at all.
    ///
    /// Keys at given times are clamped as keys. Where frames between them would still be outside, and
    /// always when smoothing, the joint gets a key per frame; [`JointClamp::resampled`] says so.
    ///
    /// # Panics
    ///
    /// If the clip has another number of joints than the skeleton that the rig is bound to.
    pub fn clamp(&self, clip: &mut Clip, options: &ClampOptions) -> Clamped {
        let frames = clip.frame_count();
        let motion_start = clip.motion_start();
        if !options.exact && self.take_of(clip).is_some() {
            let check = self.check(clip, options.threads);
            if check.ok() {
                let nothing = |of: &JointCheck| JointClamp {
                    left_out: of.left_out,
                    ..JointClamp::nothing(of.joint)
                };
                let joints = check.joints.iter().map(nothing).collect();
                return Clamped { frames, motion_start, joints };
            }
        }
        let work = |bound: &BoundJoint| of_joint(bound, clip, motion_start, options);
        let results = threads::each(self.bound(clip), options.threads, work);
        let mut joints = Vec::with_capacity(results.len());
        for (report, edit) in results {
            match edit {
                Edit::Keys(keys) => {
                    for (key, rotation) in keys {
                        clip.set_rotation_key(report.joint, key, rotation);
                    }
                }
                Edit::Frames(frames) => {
                    for (frame, rotation) in frames {
                        clip.set_rotation(report.joint, frame, rotation);
                    }
                }
            }
            joints.push(report);
        }
        Clamped { frames, motion_start, joints }
    }
}

impl JointClamp {
    fn nothing(joint: JointIndex) -> Self {
        Self {
            joint,
            changed: 0,
            changed_inside: 0,
            left_out: 0,
            largest: Angle::ZERO,
            largest_frame: FrameIndex(0),
            resampled: false,
            pops: 0,
            pops_left: 0,
        }
    }

    fn count(&mut self, frame: FrameIndex, before: Rotation, after: Rotation, passed: bool) {
        self.changed += 1;
        self.changed_inside += usize::from(passed);
        let by = before.distance(after);
        if by > self.largest {
            (self.largest, self.largest_frame) = (by, frame);
        }
    }
}

fn of_joint(
    bound: &BoundJoint,
    clip: &Clip,
    motion_start: usize,
    options: &ClampOptions,
) -> (JointClamp, Edit) {
    let slack = bound.slack(options.exact);
    let mut report = JointClamp::nothing(bound.joint);
    let nothing = Edit::Frames(Vec::new());
    if !bound.restricts || clip.frame_count() == 0 {
        return (report, nothing);
    }
    let track = clip.track(bound.joint);
    if track.rotation_times().is_constant() {
        let before = track.rotations().at(0);
        let Some(after) = bound.clamped(before, slack) else { return (report, nothing) };
        report.count(FrameIndex(0), before, after, false);
        report.changed = clip.frame_count();
        return (report, Edit::Keys(vec![(0, after)]));
    }
    let keyed = track.rotation_times() != &KeyTimes::EveryFrame;
    if let Some(smoothing) = &options.smoothing {
        let edits = smoothed(bound, clip, motion_start, (smoothing, slack), &mut report);
        report.resampled = keyed && !edits.is_empty();
        return (report, Edit::Frames(edits));
    }
    if keyed {
        // A key between frames may be outside where no frame is.
        let passed = |local| passes(&bound.limit, bound.motion(local), slack);
        if bound.locals(clip).all(|(_, local)| passed(local)) {
            return (report, nothing);
        }
        let (keys, fits) = clamped_keys(bound, clip, slack, &mut report);
        if fits {
            return (report, Edit::Keys(keys));
        }
        report = JointClamp { resampled: true, ..JointClamp::nothing(bound.joint) };
    }
    let mut edits = Vec::new();
    for (frame, before) in bound.locals(clip) {
        if let Some(after) = bound.clamped(before, slack) {
            report.count(frame, before, after, false);
            edits.push((frame, after));
        }
    }
    (report, Edit::Frames(edits))
}

/// The keys that have to change, and whether all frames pass with them.
fn clamped_keys(
    bound: &BoundJoint,
    clip: &Clip,
    slack: f64,
    report: &mut JointClamp,
) -> (Vec<(usize, Rotation)>, bool) {
    let keys = clip.track(bound.joint).rotations().iter().enumerate();
    let keys: Vec<_> = keys.filter_map(|(i, key)| Some((i, bound.clamped(key, slack)?))).collect();
    let mut with = clip.track(bound.joint).clone();
    for (i, key) in &keys {
        with.set_rotation_key(*i, *key);
    }
    for (frame, before) in bound.locals(clip) {
        let after = clip.rotation_of(&with, frame);
        let passes = |local| passes(&bound.limit, bound.motion(local), slack);
        if !passes(after) {
            return (Vec::new(), false);
        }
        if before.quat() != after.quat() {
            report.count(frame, before, after, passes(before));
        }
    }
    (keys, true)
}

fn smoothed(
    bound: &BoundJoint,
    clip: &Clip,
    motion_start: usize,
    (smoothing, slack): (&Smoothing, f64),
    report: &mut JointClamp,
) -> Vec<(FrameIndex, Rotation)> {
    let mut edits = Vec::new();
    for (frame, before) in bound.locals(clip).take(motion_start) {
        if let Some(after) = bound.clamped(before, slack) {
            report.count(frame, before, after, false);
            edits.push((frame, after));
        }
    }
    let locals = || bound.locals(clip).skip(motion_start);
    let motion: Vec<Rotation> = locals().map(|(_, local)| bound.motion(local)).collect();
    let Some(result) = smooth(&bound.limit, &motion, slack, smoothing) else { return edits };
    report.pops = result.pops;
    report.pops_left = result.pops_left;
    for (((frame, before), m), after) in locals().zip(&motion).zip(&result.motion) {
        if after.quat() == m.quat() {
            continue;
        }
        let after = bound.local(*after).in_hemisphere_of(before);
        report.count(frame, before, after, passes(&bound.limit, *m, slack));
        edits.push((frame, after));
    }
    edits
}
