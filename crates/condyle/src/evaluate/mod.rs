//! Do limits make inverse kinematics more like what people do? A measurement (A15).
//!
//! From a captured clip only the paths of a few joints are kept: hands, feet, head and pelvis. The rest
//! of each pose is found again by the same [`Solver`], from the same start, with the
//! same weights, once inside of the limits of a rig and once in each [`Way`] to do without them. What is
//! found is compared with what was captured.

mod page;
mod ways;

use std::num::NonZeroUsize;

use crate::anatomy::{AnatomicalJoint, Anatomy, BodyJoint, BodySide, NameTable};
use crate::ik::{Figure, Goal, Settings, Solver};
use crate::math::Angle;
use crate::motion::{Clip, FrameIndex, Pose, World};
use crate::rig::{Rig, RigError};
use crate::skeleton::{JointIndex, Skeleton};
use crate::threads;

pub use page::{Evaluated, html};
pub use ways::Known;

/// How poses are found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// Inside of the rig's limits, near the mean pose.
    WithLimits,
    /// Inside of a box of ZYZ Euler angles per joint, the source paper's model, near the mean pose.
    BoxLimits,
    /// Each Euler angle between its least and its greatest, near the mean pose.
    EulerLimits,
    /// Without limits, near the rest pose.
    WithoutLimits,
    /// Without limits, near the mean pose.
    MeanPose,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::WithLimits, Self::BoxLimits, Self::EulerLimits, Self::WithoutLimits, Self::MeanPose];

    /// Its name in documents.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WithLimits => "with_limits",
            Self::BoxLimits => "box_limits",
            Self::EulerLimits => "euler_limits",
            Self::WithoutLimits => "without_limits",
            Self::MeanPose => "mean_pose",
        }
    }

    /// Its name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::WithLimits => "with limits",
            Self::BoxLimits => "box limits",
            Self::EulerLimits => "Euler limits",
            Self::WithoutLimits => "without limits",
            Self::MeanPose => "mean pose, no limits",
        }
    }
}

/// What to keep of a clip, and how to look for the rest.
#[derive(Clone, Debug)]
pub struct EvaluateOptions {
    /// The joints whose positions are kept, each once. `None`: [`usual_effectors`].
    pub effectors: Option<Vec<JointIndex>>,
    /// What the square of each joint's distance from the posture counts, in radians, against squares of
    /// metres.
    pub posture: f64,
    /// The most frames of a clip, evenly spread.
    pub frames: usize,
    /// Tables of the names of joints, before ours.
    pub names: Vec<NameTable>,
    /// How many threads to work on.
    pub threads: NonZeroUsize,
}

impl Default for EvaluateOptions {
    fn default() -> Self {
        let (names, threads) = (Vec::new(), NonZeroUsize::MIN);
        Self { effectors: None, posture: 1e-4, frames: 300, names, threads }
    }
}

/// Errors of many joints in many frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors(Vec<f64>);

impl Errors {
    /// Their mean; zero if there are none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.0.is_empty() { 0.0 } else { self.0.iter().sum::<f64>() / self.0.len() as f64 }
    }

    /// What 95 % of them are not beyond; zero if there are none.
    #[must_use]
    pub fn p95(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = (sorted.len() * 95).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or(0.0)
    }
}

/// How near one way comes to the capture.
#[derive(Clone, Debug, PartialEq)]
pub struct WayErrors {
    /// Which.
    pub way: Way,
    /// How far joints are from where they were captured, in metres.
    pub position_m: Errors,
    /// The angle between the local rotations of joints and those captured, in degrees.
    pub rotation_deg: Errors,
    /// How far the joints whose paths were kept are from them, in metres.
    pub missed_m: Errors,
    /// How many joints in how many poses are outside of the published ranges; none if names are not
    /// known.
    pub outside_published: usize,
}

/// What came out for a clip.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The joints whose paths were kept.
    pub effectors: Vec<JointIndex>,
    /// The joints that were compared: those that the paths depend on, without the roots.
    pub compared: Vec<JointIndex>,
    /// How many of the joints of the body have published ranges and were compared.
    pub published: usize,
    /// One per way, in the order of [`Way::ALL`].
    pub ways: Vec<WayErrors>,
    /// The capture's own count of what is outside of published ranges.
    pub captured_outside_published: usize,
    /// The poses, of every frame that was solved.
    pub poses: Vec<FramePoses>,
}

/// One frame, captured and found again.
#[derive(Clone, Debug)]
pub struct FramePoses {
    /// Which frame of the clip.
    pub frame: FrameIndex,
    /// As it was captured.
    pub captured: Pose,
    /// As it was found, in the order of [`Way::ALL`].
    pub found: Vec<Pose>,
}

/// Finds a clip again from the paths of a few joints, in all ways.
///
/// It begins at the mean pose, with the root as captured; every frame after that where the one before
/// ended. A [pose in front](Clip::motion_start) of the motion is left out. Joints that the paths do not depend on are not compared.
///
/// # Errors
///
/// If a limit of the rig makes no sense.
///
/// # Panics
///
/// If the clip is not one of the skeleton, or an effector is none of its joints.
pub fn evaluate(
    skeleton: &Skeleton,
    clip: &Clip,
    rig: &Rig,
    known: &Known,
    options: &EvaluateOptions,
) -> Result<Evaluation, RigError> {
    let setups = ways::setups(skeleton, rig, known)?;
    let mean = known.mean_pose(skeleton);
    let anatomy = Anatomy::in_motion(skeleton, &[clip], &options.names);
    let usual = || effectors_of(skeleton, anatomy.as_ref());
    let mut effectors: Vec<JointIndex> = Vec::new();
    for joint in options.effectors.clone().unwrap_or_else(usual) {
        if !effectors.contains(&joint) {
            effectors.push(joint);
        }
    }
    let compared = compared(skeleton, &effectors);
    let published = anatomy.as_ref().map_or(Vec::new(), |a| published(a, &compared));
    let found = threads::each(&setups, options.threads, |(figure, posture)| {
        follow(skeleton, clip, (figure, posture, &mean), &effectors, options)
    });
    let poses: Vec<FramePoses> = chosen(clip, options.frames)
        .enumerate()
        .map(|(f, frame)| FramePoses {
            frame,
            captured: clip.pose(frame),
            found: found.iter().map(|poses| poses[f].clone()).collect(),
        })
        .collect();
    let outside = |pose: &Pose| published.iter().filter(|p| p.is_outside(pose)).count();
    let ways = Way::ALL.into_iter().enumerate();
    let ways = ways
        .map(|(w, way)| WayErrors {
            outside_published: poses.iter().map(|frame| outside(&frame.found[w])).sum(),
            ..errors(skeleton, &compared, &effectors, &poses, w, way)
        })
        .collect();
    let captured_outside_published = poses.iter().map(|frame| outside(&frame.captured)).sum();
    let published = published.len();
    Ok(Evaluation { effectors, compared, published, ways, captured_outside_published, poses })
}

impl Evaluation {
    /// The errors of several clips together, in the order of [`Way::ALL`].
    #[must_use]
    pub fn together(of: &[Self]) -> Vec<WayErrors> {
        let way = |(i, way): (usize, Way)| {
            let of_way = of.iter().filter_map(|e| e.ways.get(i));
            let all = |errors: fn(&WayErrors) -> &Errors| {
                Errors(of_way.clone().flat_map(|w| errors(w).0.iter().copied()).collect())
            };
            WayErrors {
                way,
                position_m: all(|w| &w.position_m),
                rotation_deg: all(|w| &w.rotation_deg),
                missed_m: all(|w| &w.missed_m),
                outside_published: of_way.clone().map(|w| w.outside_published).sum(),
            }
        };
        Way::ALL.into_iter().enumerate().map(way).collect()
    }
}

/// The frames of a clip that are solved: all of the motion, or so many of them, evenly spread. A pose in
/// front of it is none of them.
fn chosen(clip: &Clip, most: usize) -> impl Iterator<Item = FrameIndex> + use<> {
    let start = clip.motion_start();
    let count = clip.frame_count() - start;
    let chosen = most.clamp(1, count.max(1));
    // The frames that a multiple of count / chosen falls into.
    let steps = move |i: usize| (i * chosen).div_ceil(count.max(1));
    let counts = move |frame: usize| steps(frame) < steps(frame + 1);
    clip.frames().skip(start).filter(move |frame| counts(frame.get() - start))
}

/// The poses that a figure finds.
fn follow(
    skeleton: &Skeleton,
    clip: &Clip,
    (figure, posture, first): (&Figure, &Pose, &Pose),
    effectors: &[JointIndex],
    options: &EvaluateOptions,
) -> Vec<Pose> {
    let mut solver = Solver::new(figure);
    let (mut posture, mut captured, mut world) = (posture.clone(), Pose::default(), World::new());
    let mut found: Vec<Pose> = Vec::new();
    for frame in chosen(clip, options.frames) {
        clip.pose_into(frame, &mut captured);
        world.update(skeleton, &captured);
        let mut start = match found.last() {
            Some(before) => before.clone(),
            None => {
                let mut start = first.clone();
                start.translations_m.clone_from(&captured.translations_m);
                for root in skeleton.indices().filter(|j| skeleton.parent(*j).is_none()) {
                    start.rotations[root.get()] = captured.rotations[root.get()];
                }
                start
            }
        };
        // A posture says nothing about where a figure is and faces, nor about the length of its bones.
        posture.translations_m.clone_from(&captured.translations_m);
        for joint in skeleton.indices() {
            if skeleton.parent(joint).is_none() {
                posture.rotations[joint.get()] = start.rotations[joint.get()];
                posture.translations_m[joint.get()] = start.translations_m[joint.get()];
            } else {
                start.translations_m[joint.get()] = captured.translations_m[joint.get()];
            }
        }
        let goal = |j: &JointIndex| Goal::position(*j, world.positions_m[j.get()]);
        let goals: Vec<Goal> = effectors.iter().map(goal).collect();
        let posture = Some((&posture, options.posture));
        let settings = Settings { near_m: 1e-3, posture, ..Settings::default() };
        let mut pose = start.clone();
        solver.solve(&start, &goals, &settings, &mut pose);
        found.push(pose);
    }
    found
}

/// The joints above the effectors, without roots.
fn compared(skeleton: &Skeleton, effectors: &[JointIndex]) -> Vec<JointIndex> {
    let mut above = vec![false; skeleton.len()];
    for &joint in effectors {
        let mut at = skeleton.parent(joint);
        while let Some(joint) = at {
            above[joint.get()] = true;
            at = skeleton.parent(joint);
        }
    }
    skeleton.indices().filter(|j| above[j.get()] && skeleton.parent(*j).is_some()).collect()
}

fn errors(
    skeleton: &Skeleton,
    compared: &[JointIndex],
    effectors: &[JointIndex],
    poses: &[FramePoses],
    at: usize,
    way: Way,
) -> WayErrors {
    let (mut positions, mut rotations, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    let (mut of_capture, mut of_found) = (World::new(), World::new());
    for frame in poses {
        let found = &frame.found[at];
        of_capture.update(skeleton, &frame.captured);
        of_found.update(skeleton, found);
        let apart = |j: &JointIndex| {
            of_found.positions_m[j.get()].distance(of_capture.positions_m[j.get()])
        };
        let turned = |j: &JointIndex| {
            found.rotations[j.get()].distance(frame.captured.rotations[j.get()]).degrees()
        };
        positions.extend(compared.iter().map(apart));
        rotations.extend(compared.iter().map(turned));
        missed.extend(effectors.iter().map(apart));
    }
    WayErrors {
        way,
        position_m: Errors(positions),
        rotation_deg: Errors(rotations),
        missed_m: Errors(missed),
        outside_published: 0,
    }
}

/// A joint of the body with its published ranges.
struct Published<'a> {
    joint: &'a AnatomicalJoint,
    /// In radians.
    ranges: [Option<[f64; 2]>; 3],
}

/// What is beyond a published range by less than this is rounding, in radians.
const SLACK: f64 = 1e-6;

impl Published<'_> {
    fn is_outside(&self, pose: &Pose) -> bool {
        let angles = self.joint.angles_along(|j| pose.rotations[j.get()]);
        let beyond = |(angle, range): (Angle, Option<[f64; 2]>)| {
            let angle = angle.radians();
            range.is_some_and(|[low, high]| angle < low - SLACK || angle > high + SLACK)
        };
        angles.into_iter().zip(self.ranges).any(beyond)
    }
}

/// The joints with published ranges that consist of compared joints.
fn published<'a>(anatomy: &'a Anatomy, compared: &[JointIndex]) -> Vec<Published<'a>> {
    let measured =
        anatomy.measured().filter(|joint| joint.chain.iter().all(|j| compared.contains(j)));
    measured
        .map(|joint| {
            let range = |r: crate::anatomy::PublishedRange| [r.low.radians(), r.high.radians()];
            Published { joint, ranges: joint.published().map(|r| r.map(range)) }
        })
        .collect()
}

/// Hands, feet, head and pelvis where the names of a skeleton are known; else its roots and the last
/// joint of every branch.
#[must_use]
pub fn usual_effectors(skeleton: &Skeleton) -> Vec<JointIndex> {
    effectors_of(skeleton, Anatomy::of(skeleton).as_ref())
}

fn effectors_of(skeleton: &Skeleton, anatomy: Option<&Anatomy>) -> Vec<JointIndex> {
    let roots = skeleton.indices().filter(|j| skeleton.parent(*j).is_none());
    let mut found: Vec<JointIndex> = roots.collect();
    if let Some(anatomy) = anatomy {
        // The last of its name: a neck of several joints ends at the head.
        let last =
            |what, side| skeleton.indices().rfind(|j| anatomy.name(*j) == Some((what, side)));
        // A hand that is in no table hangs on a forearm.
        let hand = |side| last(BodyJoint::Wrist, side).or_else(|| last(BodyJoint::Forearm, side));
        let foot = |side| last(BodyJoint::Ankle, side);
        let head = last(BodyJoint::Neck, BodySide::Middle);
        let (left, right) = (BodySide::Left, BodySide::Right);
        let named = [hand(left), hand(right), foot(left), foot(right)];
        if let [Some(a), Some(b), Some(c), Some(d)] = named {
            found.extend([a, b, c, d].into_iter().chain(head));
            return found;
        }
    }
    let has_children = |j: JointIndex| skeleton.indices().any(|k| skeleton.parent(k) == Some(j));
    found.extend(skeleton.indices().filter(|j| skeleton.parent(*j).is_some() && !has_children(*j)));
    found
}

#[cfg(test)]
mod tests;
