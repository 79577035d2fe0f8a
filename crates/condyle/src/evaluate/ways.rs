//! What each way knows: limits and a posture, from the same motion.

use std::borrow::Cow;

use crate::enforce::BoundRig;
use crate::estimate::{EstimateOptions, Method, Take, estimate};
use crate::ik::Figure;
use crate::limits::{EulerBox, Limit};
use crate::math::{Angle, Arc, EulerAngles, EulerOrder, Rotation, mean_rotation};
use crate::motion::{Clip, Pose};
use crate::rig::{JointKind, Rig, RigError, RigJoint, RigJoints};
use crate::skeleton::Skeleton;

/// What is known of how a figure moves, besides the rig: for the ways that it is compared with.
#[derive(Clone, Debug)]
pub struct Known {
    /// Boxes of ZYZ angles, by the paper's method.
    boxes: RigJoints,
    /// Boxes of the angles of the files.
    euler: RigJoints,
    /// The mean rotation of each joint, relative to rest, by name.
    means: Vec<(String, Rotation)>,
}

/// How many rotations are drawn from a limit.
const DRAWS: usize = 2000;

impl Known {
    /// From clips, each with its skeleton: those that the rig was made of, for a fair comparison. As of an
    /// estimate, poses in front of the motion are left out.
    ///
    /// # Errors
    ///
    /// See [`estimate`].
    pub fn from_clips(
        clips: &[(&Skeleton, &Clip)],
    ) -> Result<Self, crate::estimate::EstimateError> {
        let motions: Vec<Cow<'_, Clip>> = clips.iter().map(|(_, clip)| motion_of(clip)).collect();
        let clips: Vec<(&Skeleton, &Clip)> =
            clips.iter().zip(&motions).map(|((skeleton, _), clip)| (*skeleton, &**clip)).collect();
        let takes: Vec<Take<'_>> =
            clips.iter().map(|&(skeleton, clip)| Take { skeleton, clip }).collect();
        let options = EstimateOptions { method: Method::Paper, ..EstimateOptions::default() };
        let boxes = estimate(&takes, &options)?.joints;
        let mut known = Self { boxes, euler: RigJoints::default(), means: Vec::new() };
        let Some(&(skeleton, first)) = clips.first() else { return Ok(known) };
        for joint in skeleton.indices().filter(|j| skeleton.parent(*j).is_some()) {
            let name = &skeleton[joint].name;
            let samples: Vec<Rotation> = clips
                .iter()
                .filter_map(|(skeleton, clip)| Some((skeleton, clip, skeleton.find(name)?)))
                .flat_map(|(skeleton, clip, j)| {
                    let back = skeleton[j].rest.inverse();
                    clip.frames().map(move |frame| back * clip.rotation(j, frame))
                })
                .collect();
            // The order of the file, or a usual one.
            let order = first.channels().and_then(|channels| channels.joint(joint).order());
            known.add(name, order.unwrap_or(EulerOrder::ZYX), &samples);
        }
        Ok(known)
    }

    /// From what the limits of a rig allow, as if all of it were equally likely: where the clips that it
    /// was made of are not at hand.
    ///
    /// # Errors
    ///
    /// If a limit makes no sense.
    pub fn from_rig(rig: &Rig) -> Result<Self, RigError> {
        let mut known =
            Self { boxes: RigJoints::default(), euler: RigJoints::default(), means: Vec::new() };
        let mut seed = 0;
        for (name, entry) in rig.joints.iter() {
            let is_root = rig.skeleton.find(name).is_some_and(|j| rig.skeleton.parent(j).is_none());
            if is_root {
                continue;
            }
            let limit = entry.limit.prepare().map_err(|e| rig.limit_error(name, &e))?;
            let random = || crate::ik::random(&mut seed);
            let Some(drawn) = crate::ik::drawn(&limit, DRAWS, random) else { continue };
            let center = entry.center;
            let samples: Vec<Rotation> = drawn.into_iter().map(|m| center * m).collect();
            // A box of a hinge is the hinge.
            let boxed = match entry.kind {
                JointKind::Ball => {
                    let local: Vec<Rotation> =
                        samples.iter().map(|r| center.inverse() * *r).collect();
                    let mut joint = boxed(EulerOrder::ZYZ, &local, |angles| {
                        Arc::around(angles.iter().copied())
                    });
                    joint.center = center;
                    joint
                }
                _ => entry.clone(),
            };
            known.boxes.insert(name, boxed);
            known.add(name, EulerOrder::ZYX, &samples);
        }
        Ok(known)
    }

    /// The mean pose; at rest where no motion is known.
    pub(super) fn mean_pose(&self, skeleton: &Skeleton) -> Pose {
        let mut mean = Pose::rest(skeleton);
        for (name, rotation) in &self.means {
            if let Some(joint) = skeleton.find(name) {
                mean.rotations[joint.get()] = skeleton[joint].rest * *rotation;
            }
        }
        mean
    }

    fn add(&mut self, name: &str, order: EulerOrder, samples: &[Rotation]) {
        if let Some(mean) = mean_rotation(samples.iter().map(|r| (*r, 1.0))) {
            self.means.push((name.to_owned(), mean.rotation));
            self.euler.insert(name, boxed(order, samples, plain));
        }
    }
}

/// A clip without a pose in front of its motion.
fn motion_of(clip: &Clip) -> Cow<'_, Clip> {
    let start = clip.motion_start();
    let frames = clip.frames().skip(start).map(|frame| f64::from(frame.0));
    match start {
        0 => Cow::Borrowed(clip),
        _ => clip.at_frames(frames, clip.rate(), None).map_or(Cow::Borrowed(clip), Cow::Owned),
    }
}

/// A figure and a posture for each way, in the order of [`Way::ALL`](super::Way::ALL).
pub(super) fn setups(
    skeleton: &Skeleton,
    rig: &Rig,
    known: &Known,
) -> Result<Vec<(Figure, Pose)>, RigError> {
    let (rest, mean) = (Pose::rest(skeleton), known.mean_pose(skeleton));
    let limited = |joints: &RigJoints| {
        let rig = Rig::new(rig.skeleton.clone(), joints.clone());
        BoundRig::new(&rig, skeleton).map(|bound| Figure::new(skeleton, &bound))
    };
    let ours = Figure::new(skeleton, &BoundRig::new(rig, skeleton)?);
    let without = Figure::without_limits(skeleton);
    let mut setups = vec![
        (ours, mean.clone()),
        (limited(&known.boxes)?, mean.clone()),
        (limited(&known.euler)?, mean.clone()),
        (without.clone(), rest),
        (without, mean),
    ];
    for (figure, _) in &mut setups {
        figure.free_root();
    }
    Ok(setups)
}

/// A ball whose Euler angles are each in an arc.
fn boxed(order: EulerOrder, samples: &[Rotation], ends: fn(&[Angle]) -> Option<Arc>) -> RigJoint {
    // With the smaller numbers, of the two triples that a rotation has: what a file says of motion that
    // begins near rest.
    let small = |q: &Rotation| EulerAngles::from_rotation(order, *q).nearest([Angle::ZERO; 3]);
    let triples: Vec<[Angle; 3]> = samples.iter().map(small).collect();
    let arcs = [0, 1, 2].map(|i| {
        let angles: Vec<Angle> = triples.iter().map(|t| t[i]).collect();
        ends(&angles).unwrap_or(Arc::FULL)
    });
    RigJoint::new(JointKind::Ball, Limit::EulerBox(EulerBox { order, arcs }))
}

/// From the least to the greatest number, as other tools have it.
fn plain(angles: &[Angle]) -> Option<Arc> {
    let low = angles.iter().map(|a| a.radians()).fold(f64::INFINITY, f64::min);
    let high = angles.iter().map(|a| a.radians()).fold(f64::NEG_INFINITY, f64::max);
    Arc::new(Angle::from_radians(low), Angle::from_radians(high))
}
