//! Forward kinematics: from local to world, for one pose and for whole clips.
//!
//! ```text
//!   world_rotation(j) = world_rotation(parent) · local_rotation(j)
//!   world_position(j) = world_position(parent) + world_rotation(parent) · local_translation(j)
//! ```
//!
//! (Lin, "Help note for assignment 2", 2010, eq 1–2, with the bone vector written as the child's
//! translation.) Whole clips run joint by joint over columns of frames, so the inner loop has no
//! branches and nothing is allocated per frame.

use std::ops::Range;

use glam::DVec3;

use super::{Clip, KeyTimes, Pose};
use crate::math::{Level, Points, Rotation, Rotations, batch};
use crate::skeleton::{JointIndex, Skeleton};

/// Every joint in world space, for one pose.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// World space from the joint's local space.
    pub rotations: Vec<Rotation>,
    /// The joint centre in world space, metres.
    pub positions_m: Vec<DVec3>,
}

impl World {
    /// Room for a skeleton; fill it with [`update`](Self::update).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Computes every joint's place in the world. Allocates only when the skeleton is larger than
    /// any before.
    ///
    /// # Panics
    ///
    /// If the pose is not one of this skeleton.
    pub fn update(&mut self, skeleton: &Skeleton, pose: &Pose) {
        assert_eq!(pose.rotations.len(), skeleton.len(), "a pose has one rotation per joint");
        assert_eq!(pose.translations_m.len(), skeleton.len(), "and one translation");
        self.rotations.clear();
        self.positions_m.clear();
        for (j, parent) in skeleton.parents().iter().enumerate() {
            let (rotation, translation) = (pose.rotations[j], pose.translations_m[j]);
            let (r, p) = match parent {
                None => (rotation, translation),
                Some(p) => {
                    let (pr, pp) = (self.rotations[p.get()], self.positions_m[p.get()]);
                    (pr * rotation, pp + pr * translation)
                }
            };
            self.rotations.push(r);
            self.positions_m.push(p);
        }
    }

    /// Both ends of every bone, metres: from each joint's parent to it.
    pub(crate) fn bones<'a>(
        &'a self,
        skeleton: &'a Skeleton,
    ) -> impl Iterator<Item = [DVec3; 2]> + 'a {
        skeleton.indices().filter_map(|j| {
            let parent = skeleton.parent(j)?;
            Some([parent, j].map(|j| self.positions_m[j.get()]))
        })
    }

    /// The same from each joint to the ends of its bones that have no joint: toes, the top of the head.
    pub(crate) fn tips<'a>(
        &'a self,
        skeleton: &'a Skeleton,
    ) -> impl Iterator<Item = [DVec3; 2]> + 'a {
        skeleton.indices().flat_map(|j| {
            let (at, turn) = (self.positions_m[j.get()], self.rotations[j.get()]);
            skeleton[j].end_sites.iter().map(move |end| [at, at + turn * end.offset_m])
        })
    }
}

impl Pose {
    /// Every joint in world space.
    ///
    /// # Panics
    ///
    /// If the pose is not one of this skeleton.
    #[must_use]
    pub fn world(&self, skeleton: &Skeleton) -> World {
        let mut world = World::new();
        world.update(skeleton, self);
        world
    }
}

/// Every joint in world space, over a range of frames of a clip.
///
/// ```
/// # use condyle::glam::DVec3;
/// # use condyle::motion::{Clip, FrameRate, Track, WorldTracks};
/// # use condyle::math::{Angle, Rotation, Rotations};
/// # use condyle::skeleton::{Joint, Skeleton};
/// let mut skeleton = Skeleton::new();
/// let hip = skeleton.add_root(Joint::new("hip", DVec3::Y)).unwrap();
/// let knee = skeleton.add(hip, Joint::new("knee", -0.5 * DVec3::Y)).unwrap();
/// let kick: Rotations = (0..3).map(|i| Rotation::about_x(Angle::from_degrees(-45.0 * i as f64))).collect();
/// let tracks = vec![
///     Track::turning(kick, DVec3::Y),
///     Track::constant(Rotation::IDENTITY, -0.5 * DVec3::Y),
/// ];
/// let clip = Clip::new(3, FrameRate::from_fps(30.0).unwrap(), tracks).unwrap();
/// let world = WorldTracks::of(&skeleton, &clip);
/// let raised = world.position_m(knee, 2);
/// assert!((raised - DVec3::new(0.0, 1.0, 0.5)).length() < 1e-15);
/// ```
#[derive(Clone, Debug, Default)]
pub struct WorldTracks {
    first: usize,
    rotations: Vec<Rotations>,
    positions_m: Vec<Points>,
}

impl WorldTracks {
    /// All frames of a clip.
    ///
    /// # Panics
    ///
    /// If the clip is not one of this skeleton.
    #[must_use]
    pub fn of(skeleton: &Skeleton, clip: &Clip) -> Self {
        let mut world = Self::default();
        world.update(skeleton, clip, 0..clip.frame_count());
        world
    }

    /// The joint's rotation in a frame: world space from its local space.
    ///
    /// # Panics
    ///
    /// If the frame is not in the range that was computed.
    #[must_use]
    pub fn rotation(&self, joint: JointIndex, frame: usize) -> Rotation {
        self.rotations[joint.get()].at(frame - self.first)
    }

    /// The joint centre in a frame, metres.
    ///
    /// # Panics
    ///
    /// If the frame is not in the range that was computed.
    #[must_use]
    pub fn position_m(&self, joint: JointIndex, frame: usize) -> DVec3 {
        self.positions_m[joint.get()].at(frame - self.first)
    }

    /// The joint's rotations over the computed frames.
    #[must_use]
    pub fn rotations(&self, joint: JointIndex) -> &Rotations {
        &self.rotations[joint.get()]
    }

    /// The joint centre over the computed frames, metres.
    #[must_use]
    pub fn positions_m(&self, joint: JointIndex) -> &Points {
        &self.positions_m[joint.get()]
    }

    /// Computes a range of frames. Allocates only when it is longer than any before or has more
    /// joints, so a loop over blocks of a long clip allocates once.
    ///
    /// # Panics
    ///
    /// If the clip is not one of this skeleton or has not that many frames.
    pub fn update(&mut self, skeleton: &Skeleton, clip: &Clip, frames: Range<usize>) {
        assert_eq!(clip.tracks().len(), skeleton.len(), "a clip has one track per joint");
        assert!(frames.end <= clip.frame_count(), "{frames:?} of {}", clip.frame_count());
        let n = frames.len();
        self.first = frames.start;
        self.rotations.resize_with(skeleton.len(), Rotations::new);
        self.positions_m.resize_with(skeleton.len(), Points::new);
        for j in skeleton.indices() {
            let (parents, rest) = self.rotations.split_at_mut(j.get());
            let (parent_positions, positions) = self.positions_m.split_at_mut(j.get());
            let (rotations, positions) = (&mut rest[0], &mut positions[0]);
            rotations.resize(n);
            positions.resize(n);
            copy_locals(clip, j, frames.clone(), rotations, positions);
            if let Some(p) = skeleton.parent(j) {
                // The same operations in the same order as in `World::update`: the same bits.
                let (parent, parent_position) = (&parents[p.get()], &parent_positions[p.get()]);
                batch::compose(Level::best(), parent, parent_position, rotations, positions);
            }
        }
    }
}

/// The largest distance between joints of the same name in the frames that two clips both have, in
/// metres. Infinite if the second skeleton lacks a joint of the first.
#[must_use]
pub fn farthest_apart_m(a: (&Skeleton, &Clip), b: (&Skeleton, &Clip)) -> f64 {
    let frames = a.1.frame_count().min(b.1.frame_count());
    let pairs: Option<Vec<_>> = a.0.indices().map(|j| Some((j, b.0.find(&a.0[j].name)?))).collect();
    let Some(pairs) = pairs else { return f64::INFINITY };
    let mut farthest = 0.0_f64;
    let (mut in_a, mut in_b) = (WorldTracks::default(), WorldTracks::default());
    for start in (0..frames).step_by(BLOCK) {
        let block = start..(start + BLOCK).min(frames);
        in_a.update(a.0, a.1, block.clone());
        in_b.update(b.0, b.1, block);
        for &(j, k) in &pairs {
            let distances = in_a
                .positions_m(j)
                .iter()
                .zip(in_b.positions_m(k).iter())
                .map(|(p, q)| p.distance(q));
            farthest = distances.fold(farthest, f64::max);
        }
    }
    farthest
}

/// Frames worked on at once where a whole clip is not needed: the columns of some 50 joints stay in
/// the second-level cache.
const BLOCK: usize = 256;

/// The local rotations and translations of one joint over a range of frames.
fn copy_locals(
    clip: &Clip,
    joint: JointIndex,
    frames: Range<usize>,
    rotations: &mut Rotations,
    translations: &mut Points,
) {
    let track = clip.track(joint);
    match track.rotation_times() {
        KeyTimes::EveryFrame => rotations.copy_from(track.rotations(), frames.clone()),
        _ if track.rotation_times().is_constant() => rotations.fill(track.rotations().at(0)),
        KeyTimes::At(_) => {
            for (i, f) in frames.clone().enumerate() {
                rotations.set(i, clip.rotation(joint, frame_index(f)));
            }
        }
    }
    match track.translation_times() {
        KeyTimes::EveryFrame => translations.copy_from(track.translations_m(), frames),
        _ if track.translation_times().is_constant() => {
            translations.fill(track.translations_m().at(0));
        }
        KeyTimes::At(_) => {
            for (i, f) in frames.enumerate() {
                translations.set(i, clip.translation_m(joint, frame_index(f)));
            }
        }
    }
}

fn frame_index(frame: usize) -> super::FrameIndex {
    super::FrameIndex(u32::try_from(frame).expect("a clip has fewer than 2^32 frames"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Angle;
    use crate::motion::{FrameRate, Track};
    use crate::skeleton::Joint;

    fn swinging() -> (Skeleton, Clip) {
        let mut s = Skeleton::new();
        let mut tracks = Vec::new();
        let mut parent = s.add_root(Joint::new("0", DVec3::ZERO)).unwrap();
        let frames = 150;
        let walk: Points = (0..frames).map(|f| DVec3::new(0.0, 1.0, 0.01 * f as f64)).collect();
        let turn: Rotations =
            (0..frames).map(|f| Rotation::about_y(Angle::from_degrees(f as f64))).collect();
        tracks.push(Track::from_parts(turn, KeyTimes::EveryFrame, walk, KeyTimes::EveryFrame));
        for i in 1..6 {
            let offset = DVec3::new(0.1, 0.2 * i as f64, -0.05);
            parent = s.add(parent, Joint::new(i.to_string(), offset)).unwrap();
            let axis = DVec3::new(1.0, i as f64, -0.5);
            let turn: Rotations = (0..frames)
                .map(|f| {
                    let angle = Angle::from_radians((f * i) as f64 * 0.03);
                    Rotation::from_axis_angle(axis, angle).unwrap()
                })
                .collect();
            tracks.push(match i {
                3 => Track::constant(Rotation::about_x(Angle::from_degrees(30.0)), offset),
                _ => Track::turning(turn, offset),
            });
        }
        (s, Clip::new(frames, FrameRate::from_fps(60.0).unwrap(), tracks).unwrap())
    }

    #[test]
    fn a_clip_in_blocks_and_pose_by_pose_give_the_same_bits() {
        let (s, clip) = swinging();
        let all = WorldTracks::of(&s, &clip);
        let mut block = WorldTracks::default();
        for start in (0..clip.frame_count()).step_by(64) {
            let frames = start..(start + 64).min(clip.frame_count());
            block.update(&s, &clip, frames.clone());
            for f in frames {
                let world = clip.pose(frame_index(f)).world(&s);
                for j in s.indices() {
                    let single = world.rotations[j.get()].quat();
                    assert_eq!(single, all.rotation(j, f).quat());
                    assert_eq!(single, block.rotation(j, f).quat());
                    assert_eq!(world.positions_m[j.get()], all.position_m(j, f));
                    assert_eq!(world.positions_m[j.get()], block.position_m(j, f));
                }
            }
        }
    }

    #[test]
    fn matrices_multiplied_out_agree() {
        let (s, clip) = swinging();
        let all = WorldTracks::of(&s, &clip);
        for f in [0, 17, 149] {
            let pose = clip.pose(frame_index(f));
            let mut world: Vec<glam::DMat4> = Vec::new();
            for j in s.indices() {
                let local = glam::DMat4::from_rotation_translation(
                    pose.rotations[j.get()].quat(),
                    pose.translations_m[j.get()],
                );
                world.push(s.parent(j).map_or(local, |p| world[p.get()] * local));
                let expected = world[j.get()].w_axis.truncate();
                assert!((expected - all.position_m(j, f)).length() < 1e-14);
            }
        }
    }
}
