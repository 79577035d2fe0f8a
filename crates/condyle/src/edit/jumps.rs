//! How much joints are jerked.

use std::ops::Range;

use super::Facing;
use super::blend::{as_f64, index};
use crate::math::Angle;
use crate::motion::Clip;
use crate::skeleton::{JointIndex, Skeleton};

/// A change of a joint's angular velocity from one frame to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// Which joint.
    pub joint: JointIndex,
    /// In which frame the velocity changes.
    pub frame: usize,
    /// By how much, per second.
    pub by: Angle,
}

/// The largest change of a joint's angular velocity in each of some frames of a clip; the first and the
/// last frame of the clip have none. With `ω[f] = log(R[f]⁻¹ R[f+1])` per frame, in the joint's own space,
/// it is `|ω[f] − ω[f−1]|` times the frame rate.
#[must_use]
pub fn jumps(clip: &Clip, frames: Range<usize>) -> Vec<Jump> {
    let inner = inner(clip, &frames);
    let none = |frame| Jump { joint: JointIndex::new(0), frame, by: Angle::ZERO };
    let mut largest: Vec<Jump> = inner.map(none).collect();
    for joint in (0..clip.tracks().len()).map(JointIndex::new) {
        for (jump, by) in largest.iter_mut().zip(joint_jumps(clip, joint, frames.clone())) {
            if by > jump.by {
                *jump = Jump { joint, by, ..*jump };
            }
        }
    }
    largest
}

/// The frames of a range that have one before and one after them in a clip.
fn inner(clip: &Clip, frames: &Range<usize>) -> Range<usize> {
    let first = frames.start.max(1);
    first..frames.end.min(clip.frame_count().saturating_sub(1)).max(first)
}

/// The changes of one joint's angular velocity, in the frames that [`jumps`] tells of.
#[must_use]
pub fn joint_jumps(clip: &Clip, joint: JointIndex, frames: Range<usize>) -> Vec<Angle> {
    let inner = inner(clip, &frames);
    let fps = clip.rate().fps();
    let at = |f: usize| clip.rotation(joint, index(f));
    let velocity = |f: usize| (at(f).inverse() * at(f + 1)).log();
    if inner.is_empty() {
        return Vec::new();
    }
    let mut before = velocity(inner.start - 1);
    let jump = |f: usize| {
        let now = velocity(f);
        let by = Angle::from_radians((now - before).length() * fps);
        before = now;
        by
    };
    inner.map(jump).collect()
}

/// What is usual of each joint of some motions: the jump that one of its frames in a hundred exceeds. Joints are
/// as rough as they are: a thumb that flips in every tenth frame says nothing about a knee.
#[derive(Clone, Debug, PartialEq)]
pub struct UsualJumps(Vec<Angle>);

/// Less than this is not seen, degrees from one frame to the next: nothing less is usual, also of joints that
/// stay as they are.
const LEAST_DEG: f64 = 0.25;

impl UsualJumps {
    /// What is usual in some motions of one skeleton.
    #[must_use]
    pub fn of(clips: &[&Clip]) -> Self {
        let joints = clips.iter().map(|clip| clip.tracks().len()).max().unwrap_or(0);
        let usual = |joint: JointIndex| {
            let own = clips.iter().filter(|clip| joint.get() < clip.tracks().len());
            let all = own.flat_map(|clip| joint_jumps(clip, joint, 0..clip.frame_count()));
            let fps = clips.iter().map(|clip| clip.rate().fps()).fold(0.0, f64::max);
            let least = Angle::from_degrees(LEAST_DEG * fps).radians();
            Angle::from_radians(quantile(all.map(Angle::radians), 0.99).max(least))
        };
        Self((0..joints).map(|j| usual(JointIndex::new(j))).collect())
    }

    /// What is usual of a joint; zero of one that the motions have not got.
    #[must_use]
    pub fn of_joint(&self, joint: JointIndex) -> Angle {
        self.0.get(joint.get()).copied().unwrap_or(Angle::ZERO)
    }

    /// How many times as large as usual a jump is.
    #[must_use]
    pub fn ratio(&self, jump: &Jump) -> f64 {
        let usual = self.of_joint(jump.joint).radians();
        if usual > 0.0 { jump.by.radians() / usual } else { 0.0 }
    }

    /// In each of some frames of a clip the jump that is the largest against what is usual of its joint: of
    /// equals that of the last joint. The first and the last frame of the clip have none.
    #[must_use]
    pub fn worst_by_frame(&self, clip: &Clip, frames: Range<usize>) -> Vec<Jump> {
        let none = |frame| Jump { joint: JointIndex::new(0), frame, by: Angle::ZERO };
        let mut worst: Vec<Jump> = inner(clip, &frames).map(none).collect();
        for joint in (0..clip.tracks().len()).map(JointIndex::new) {
            for (jump, by) in worst.iter_mut().zip(joint_jumps(clip, joint, frames.clone())) {
                let own = Jump { joint, by, ..*jump };
                if self.ratio(&own).total_cmp(&self.ratio(jump)).is_ge() {
                    *jump = own;
                }
            }
        }
        worst
    }

    /// The jump in some frames of a clip that is the largest against what is usual of its joint.
    #[must_use]
    pub fn worst(&self, clip: &Clip, frames: Range<usize>) -> Option<Jump> {
        let all = self.worst_by_frame(clip, frames).into_iter();
        all.max_by(|a, b| self.ratio(a).total_cmp(&self.ratio(b)))
    }

    /// The same where motions were connected: in the frames that were made, and in the ones before and after
    /// them. This is how rough a seam is, wherever that is told.
    #[must_use]
    pub fn worst_across(&self, clip: &Clip, made: &Range<usize>) -> Option<Jump> {
        self.worst(clip, made.start.saturating_sub(1)..made.end.saturating_add(1))
    }
}

/// What a share of jumps do not exceed: 0.99 for the 99th percentile, 1 for the largest. Zero if there are
/// none.
#[must_use]
pub fn jump_quantile<'a>(jumps: impl IntoIterator<Item = &'a Jump>, share: f64) -> Angle {
    Angle::from_radians(quantile(jumps.into_iter().map(|j| j.by.radians()), share))
}

/// What a share of some numbers do not exceed: 0.99 for the 99th percentile, 1 for the largest. Zero if there
/// are none.
#[must_use]
pub fn quantile(numbers: impl IntoIterator<Item = f64>, share: f64) -> f64 {
    let mut all: Vec<f64> = numbers.into_iter().collect();
    if all.is_empty() {
        return 0.0;
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the indices that there are"
    )]
    let at = ((as_f64(all.len() - 1) * share.clamp(0.0, 1.0)).round() as usize).min(all.len() - 1);
    let (_, value, _) = all.select_nth_unstable_by(at, f64::total_cmp);
    *value
}

/// How fast the [joint that faces](Facing::joint), the pelvis, goes to each of some frames of a clip from the
/// one before, metres a second; the first frame of the clip has none.
///
/// # Panics
///
/// If the clip has another number of joints than the skeleton.
#[must_use]
pub fn speeds(skeleton: &Skeleton, facing: &Facing, clip: &Clip, frames: Range<usize>) -> Vec<f64> {
    let frames = frames.start.max(1)..frames.end.min(clip.frame_count());
    let place = |f: usize| facing.place_in(skeleton, clip, index(f)).1;
    frames.map(|f| place(f).distance(place(f - 1)) * clip.rate().fps()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Points, Rotation, Rotations};
    use crate::motion::{FrameRate, KeyTimes, Track};
    use crate::skeleton::Joint;
    use glam::DVec3;

    #[test]
    fn even_turning_has_no_jumps_and_a_kink_has_one() {
        let angles = [0.0, 10.0, 20.0, 30.0, 35.0, 40.0, 45.0];
        let turn: Rotations =
            angles.iter().map(|a| Rotation::about_x(Angle::from_degrees(*a))).collect();
        let rate = FrameRate::from_fps(10.0).unwrap();
        let clip = Clip::new(7, rate, vec![Track::turning(turn, DVec3::ZERO)]).unwrap();
        let all = jumps(&clip, 0..7);
        assert_eq!(all.iter().map(|j| j.frame).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        assert!((all[2].by.degrees() - 50.0).abs() < 1e-9);
        assert_eq!(jump_quantile(&all, 1.0), all[2].by);
        assert!(jump_quantile(&all, 0.5).degrees() < 1e-9);
        assert!(jumps(&clip, 4..4).is_empty() && jumps(&clip, 6..9).is_empty());
        assert_eq!(jump_quantile(&[], 0.99), Angle::ZERO);
    }

    #[test]
    fn each_joint_is_held_against_what_is_usual_of_it() {
        // A thumb that flips by 90 degrees in every second frame, a knee that bends ever faster and slower, and
        // what stays as it is.
        let turning = |angle: &dyn Fn(u32) -> f64| -> Track {
            let turns = (0..400_u32).map(|k| Rotation::about_x(Angle::from_degrees(angle(k))));
            Track::turning(turns.collect(), DVec3::ZERO)
        };
        let thumb = |k: u32| f64::from(k % 2) * 90.0;
        let knee = |k: u32| 30.0 * crate::math::trig::sin_cos(0.05 * f64::from(k)).0;
        let rate = FrameRate::from_fps(100.0).unwrap();
        let clip = |knee: &dyn Fn(u32) -> f64| {
            let tracks = vec![turning(&thumb), turning(knee), turning(&|_| 5.0)];
            Clip::new(400, rate, tracks).unwrap()
        };
        let own = clip(&knee);
        let usual = UsualJumps::of(&[&own, &own]);
        let [thumb_deg, knee_deg, still_deg] =
            [0, 1, 2].map(|j| usual.of_joint(JointIndex::new(j)).degrees());
        assert!((thumb_deg - 18_000.0).abs() < 1e-6, "{thumb_deg}");
        // 30° · 0.05² · 100 fps, at most; below what is seen.
        assert!((knee_deg - 25.0).abs() < 1e-9 && still_deg == knee_deg, "{knee_deg}");
        assert_eq!(usual.of_joint(JointIndex::new(3)), Angle::ZERO);
        let inside = usual.worst(&own, 0..400).unwrap();
        assert!(inside.joint.get() == 0 && (usual.ratio(&inside) - 1.0).abs() < 1e-9);
        // The knee snaps by two degrees in one frame, and the thumb goes on.
        let snaps = clip(&|k| knee(k) + if k >= 200 { 2.0 } else { 0.0 });
        let worst = usual.worst(&snaps, 190..210).unwrap();
        assert!(worst.joint.get() == 1 && (199..=200).contains(&worst.frame), "{worst:?}");
        assert!(usual.ratio(&worst) > 7.0 && worst.by.degrees() < 230.0, "{worst:?}");
        assert_eq!(jumps(&snaps, 199..201)[0].joint.get(), 0);
        // Frame by frame it is the same figure, and across a seam that of the frames beside it as well.
        let by_frame = usual.worst_by_frame(&snaps, 190..210);
        assert!(by_frame.iter().map(|jump| jump.frame).eq(190..210));
        assert!(
            by_frame.contains(&worst)
                && by_frame.iter().all(|j| usual.ratio(j) <= usual.ratio(&worst))
        );
        assert_eq!(usual.worst_across(&snaps, &(200..200)).unwrap().joint.get(), 1);
        assert!(usual.worst(&snaps, 5..5).is_none() && UsualJumps::of(&[]).0.is_empty());
    }

    #[test]
    fn the_pelvis_is_as_fast_as_it_goes_in_the_world() {
        let mut skeleton = Skeleton::new();
        let root = skeleton.add_root(Joint::new("Root", DVec3::ZERO)).unwrap();
        let hips = skeleton.add(root, Joint::new("Hips", DVec3::Y)).unwrap();
        let facing = Facing::of(&skeleton).of_joint(hips);
        let track = |step: f64| {
            let path: Points = (0..4).map(|k| DVec3::X * (step * f64::from(k * k))).collect();
            let still = Rotations::repeat(Rotation::IDENTITY, 1);
            Track::from_parts(still, KeyTimes::constant(), path, KeyTimes::EveryFrame)
        };
        let rate = FrameRate::from_fps(10.0).unwrap();
        let clip = Clip::new(4, rate, vec![track(0.1), track(-0.05)]).unwrap();
        let all = speeds(&skeleton, &facing, &clip, 0..9);
        // Steps of 5, 15 and 25 cm.
        let same = all.iter().zip([0.5, 1.5, 2.5]).all(|(v, w)| (v - w).abs() < 1e-12);
        assert!(all.len() == 3 && same, "{all:?}");
        assert_eq!(quantile(all.clone(), 0.5), all[1]);
        assert!(speeds(&skeleton, &facing, &clip, 4..9).is_empty());
    }
}
