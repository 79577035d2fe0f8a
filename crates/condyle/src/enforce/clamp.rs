//! Motion brought inside its limits.

use std::num::NonZeroUsize;

use super::BoundRig;
use super::bound::BoundJoint;
use super::smooth::{Smoothing, smooth};
use crate::math::{Angle, Rotation};
use crate::motion::{Clip, FrameIndex, KeyTimes};
use crate::skeleton::JointIndex;
use crate::threads;

/// How to clamp. The default is the nearest allowed rotation in each frame, on one thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClampOptions {
    /// Whether and how to keep the result free of pops.
    pub smoothing: Option<Smoothing>,
    /// How many threads may be used; the result is the same.
    pub threads: NonZeroUsize,
}

impl Default for ClampOptions {
    fn default() -> Self {
        Self { smoothing: None, threads: NonZeroUsize::MIN }
    }
}

/// What clamping changed.
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub struct Clamped {
    /// How many frames the clip has.
    pub frames: usize,
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
    /// In how many of them it had been allowed, and was changed for the sake of smoothness (or of a
    /// key nearby).
    pub changed_inside: usize,
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
    /// Replaces every rotation that its limit does not allow (beyond rounding, 10⁻¹² rad; noise is
    /// not considered) by an allowed one.
    ///
    /// Without [`Smoothing`] it is the one of
    /// [`PreparedLimit::project`](crate::limits::PreparedLimit::project), frame by frame. Only what is
    /// changed is marked as edited, so everything else keeps the numbers of its file; motion that is
    /// allowed is not touched at all.
    ///
    /// Keys at given times are clamped as keys. Where frames between them would still be outside, and
    /// always when smoothing, the joint gets a key per frame; [`JointClamp::resampled`] says so.
    ///
    /// # Panics
    ///
    /// If the clip has another number of joints than the skeleton that the rig is bound to.
    pub fn clamp(&self, clip: &mut Clip, options: &ClampOptions) -> Clamped {
        let work = |bound: &BoundJoint| of_joint(bound, clip, options.smoothing.as_ref());
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
        Clamped { frames: clip.frame_count(), joints }
    }
}

impl JointClamp {
    fn nothing(joint: JointIndex) -> Self {
        Self {
            joint,
            changed: 0,
            changed_inside: 0,
            largest: Angle::ZERO,
            largest_frame: FrameIndex(0),
            resampled: false,
            pops: 0,
            pops_left: 0,
        }
    }

    fn count(&mut self, frame: FrameIndex, before: Rotation, after: Rotation, was_inside: bool) {
        self.changed += 1;
        self.changed_inside += usize::from(was_inside);
        let by = before.distance(after);
        if by > self.largest {
            (self.largest, self.largest_frame) = (by, frame);
        }
    }
}

fn of_joint(bound: &BoundJoint, clip: &Clip, smoothing: Option<&Smoothing>) -> (JointClamp, Edit) {
    let mut report = JointClamp::nothing(bound.joint);
    let nothing = Edit::Frames(Vec::new());
    if !bound.restricts || clip.frame_count() == 0 {
        return (report, nothing);
    }
    let track = clip.track(bound.joint);
    if track.rotation_times().is_constant() {
        let before = track.rotations().at(0);
        let Some(after) = bound.clamped(before) else { return (report, nothing) };
        report.count(FrameIndex(0), before, after, false);
        report.changed = clip.frame_count();
        return (report, Edit::Keys(vec![(0, after)]));
    }
    let keyed = track.rotation_times() != &KeyTimes::EveryFrame;
    if let Some(smoothing) = smoothing {
        let edits = smoothed(bound, clip, smoothing, &mut report);
        report.resampled = keyed && !edits.is_empty();
        return (report, Edit::Frames(edits));
    }
    if keyed {
        let (keys, fits) = clamped_keys(bound, clip, &mut report);
        if fits {
            return (report, Edit::Keys(keys));
        }
        report = JointClamp { resampled: true, ..JointClamp::nothing(bound.joint) };
    }
    let mut edits = Vec::new();
    for (frame, before) in bound.locals(clip) {
        if let Some(after) = bound.clamped(before) {
            report.count(frame, before, after, false);
            edits.push((frame, after));
        }
    }
    (report, Edit::Frames(edits))
}

/// The keys that have to change, and whether all frames are allowed with them.
fn clamped_keys(
    bound: &BoundJoint,
    clip: &Clip,
    report: &mut JointClamp,
) -> (Vec<(usize, Rotation)>, bool) {
    let keys = clip.track(bound.joint).rotations().iter().enumerate();
    let keys: Vec<_> = keys.filter_map(|(i, key)| Some((i, bound.clamped(key)?))).collect();
    let mut with = clip.track(bound.joint).clone();
    for (i, key) in &keys {
        with.set_rotation_key(*i, *key);
    }
    for (frame, before) in bound.locals(clip) {
        let after = clip.rotation_of(&with, frame);
        if !bound.limit.contains(bound.motion(after)) {
            return (Vec::new(), false);
        }
        if before.quat() != after.quat() {
            let was_inside = bound.limit.contains(bound.motion(before));
            report.count(frame, before, after, was_inside);
        }
    }
    (keys, true)
}

fn smoothed(
    bound: &BoundJoint,
    clip: &Clip,
    smoothing: &Smoothing,
    report: &mut JointClamp,
) -> Vec<(FrameIndex, Rotation)> {
    let motion: Vec<Rotation> = bound.locals(clip).map(|(_, local)| bound.motion(local)).collect();
    let Some(result) = smooth(&bound.limit, &motion, smoothing) else { return Vec::new() };
    report.pops = result.pops;
    report.pops_left = result.pops_left;
    let mut edits = Vec::new();
    for (((frame, before), m), after) in bound.locals(clip).zip(&motion).zip(&result.motion) {
        if after.quat() == m.quat() {
            continue;
        }
        let after = bound.local(*after).in_hemisphere_of(before);
        report.count(frame, before, after, bound.limit.contains(*m));
        edits.push((frame, after));
    }
    edits
}
