//! The way of the pelvis through the world, where there are joints above it.

use glam::DVec3;

use super::Facing;
use super::blend::index;
use crate::math::{Points, Rotation, Rotations};
use crate::motion::turns::Turns;
use crate::motion::{Clip, ClipError, KeyTimes, Track};
use crate::skeleton::{JointIndex, Skeleton};

/// The joint that carries the pelvis through the world, where that is not the pelvis alone.
///
/// What is seen is where the pelvis is, and that is `root · … · pelvis`: if each of them went its own way
/// from one motion to another, their product would fly. So motions are mixed with the carrier hung on
/// nothing, and with the pelvis's place and rotation in the world as its own; after that it gets what takes
/// the pelvis there:
///
/// ```text
///   carrier = above⁻¹ · W_pelvis · below⁻¹
/// ```
///
/// with what is above and below it, down to the pelvis, mixed as any joint is. The carrier is the lowest
/// joint that goes about in its parent, which can take a turn and a place, or else the root.
pub(super) struct Carrier {
    /// From the root to the pelvis.
    trunk: Vec<JointIndex>,
    /// Which of the trunk carries.
    at: usize,
    /// The same joints, with the carrier as a root.
    skeleton: Skeleton,
}

impl Carrier {
    /// For some motions of a skeleton. `None` if the pelvis is a root, and carries itself.
    pub(super) fn of(skeleton: &Skeleton, pelvis: JointIndex, clips: &[&Clip]) -> Option<Self> {
        let up = std::iter::successors(Some(pelvis), |j| skeleton.parent(*j));
        let mut trunk: Vec<JointIndex> = up.collect();
        trunk.reverse();
        if trunk.len() < 2 {
            return None;
        }
        let farthest = |j: JointIndex| {
            let in_clip = |clip: &&Clip| {
                let start = clip.track(j).translations_m().get(0).unwrap_or_default();
                let away = clip.track(j).translations_m().iter().map(|t| t.distance(start));
                away.fold(0.0, f64::max)
            };
            clips.iter().map(in_clip).fold(0.0, f64::max)
        };
        let ways: Vec<f64> = trunk.iter().map(|j| farthest(*j)).collect();
        let longest = ways.iter().copied().fold(0.0, f64::max);
        let turns = |j: JointIndex| {
            let in_clip = |clip: &&Clip| {
                let rotations = clip.track(j).rotations();
                rotations.iter().any(|r| Some(r.quat()) != rotations.get(0).map(Rotation::quat))
            };
            clips.iter().any(in_clip) && Turns::of(skeleton, clips, j).is_none()
        };
        // What moves less than a hundredth of what others do is the digits of a file.
        let carries = |(j, way): (&JointIndex, &f64)| *way > 0.01 * longest && turns(*j);
        let at = trunk.iter().zip(&ways).rposition(carries).unwrap_or(0);
        let skeleton = skeleton.with_root(trunk[at]);
        Some(Self { trunk, at, skeleton })
    }

    /// The skeleton whose carrier is a root.
    pub(super) const fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// Which way a figure faces whose carrier is where its pelvis is.
    pub(super) fn facing(&self, facing: &Facing) -> Facing {
        facing.of_joint(self.joint())
    }

    /// From the root to the pelvis.
    pub(super) fn trunk(&self) -> &[JointIndex] {
        &self.trunk
    }

    /// Which joint it is.
    pub(super) fn joint(&self) -> JointIndex {
        self.trunk[self.at]
    }

    /// A motion whose carrier has the pelvis's place and rotation in the world.
    pub(super) fn lifted(&self, clip: &Clip) -> Result<Clip, ClipError> {
        let mut lifted = clip.clone();
        lifted.set_track(self.joint(), track(clip, |f| product(clip, &self.trunk, f)))?;
        Ok(lifted)
    }

    /// What [`lifted`](Self::lifted) motions were mixed to, as a motion of the skeleton.
    pub(super) fn lowered(&self, lifted: &mut Clip) -> Result<(), ClipError> {
        let (above, below) = (&self.trunk[..self.at], &self.trunk[self.at + 1..]);
        let local = |f: usize| {
            let (above, below) = (product(lifted, above, f), product(lifted, below, f));
            let world = product(lifted, &[self.joint()], f);
            let back = below.0.inverse();
            let rotation = world.0 * back;
            let place = world.1 - rotation * below.1;
            let back = above.0.inverse();
            (back * rotation, back * (place - above.1))
        };
        let lowered = track(lifted, local);
        lifted.set_track(self.joint(), lowered)
    }
}

/// Where the last of some joints that hang on each other is, seen from the first one's parent.
fn product(clip: &Clip, joints: &[JointIndex], frame: usize) -> (Rotation, DVec3) {
    let on = |(turn, place): (Rotation, DVec3), j: &JointIndex| {
        let (r, t) = (clip.rotation(*j, index(frame)), clip.translation_m(*j, index(frame)));
        (turn * r, place + turn * t)
    };
    joints.iter().fold((Rotation::IDENTITY, DVec3::ZERO), on)
}

/// A joint that is somewhere in each frame of a clip.
fn track(clip: &Clip, at: impl Fn(usize) -> (Rotation, DVec3)) -> Track {
    let (mut rotations, mut places) = (Rotations::with_capacity(clip.frame_count()), Points::new());
    for frame in 0..clip.frame_count() {
        let (rotation, place) = at(frame);
        rotations.push(rotation);
        places.push(place);
    }
    let every = KeyTimes::EveryFrame;
    Track::from_parts(rotations, every.clone(), places, every)
}
