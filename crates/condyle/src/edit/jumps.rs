//! How much joints are jerked.

use std::ops::Range;

use super::Facing;
use super::blend::{as_f64, index};
use crate::math::Angle;
use crate::motion::{Clip, FrameIndex};
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
    let inner = frames.start.max(1)..frames.end.min(clip.frame_count().saturating_sub(1));
    let fps = clip.rate().fps();
    let none = |frame| Jump { joint: JointIndex::new(0), frame, by: Angle::ZERO };
    let mut largest: Vec<Jump> = inner.clone().map(none).collect();
    if inner.is_empty() {
        return largest;
    }
    for joint in (0..clip.tracks().len()).map(JointIndex::new) {
        let at = |f: usize| clip.rotation(joint, FrameIndex(u32::try_from(f).unwrap_or(u32::MAX)));
        let velocity = |f: usize| (at(f).inverse() * at(f + 1)).log();
        let mut before = velocity(inner.start - 1);
        for jump in &mut largest {
            let now = velocity(jump.frame);
            let by = Angle::from_radians((now - before).length() * fps);
            if by > jump.by {
                *jump = Jump { joint, by, ..*jump };
            }
            before = now;
        }
    }
    largest
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
