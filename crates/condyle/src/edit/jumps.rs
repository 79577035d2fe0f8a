//! How much joints are jerked.

use std::ops::Range;

use super::blend::as_f64;
use crate::math::Angle;
use crate::motion::{Clip, FrameIndex};
use crate::skeleton::JointIndex;

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

/// The changes of angular velocity of all joints in some frames of a clip, joint by joint; the first and
/// the last frame of the clip have none. With `ω[f] = log(R[f]⁻¹ R[f+1])` per frame, in the joint's own
/// space, it is `|ω[f] − ω[f−1]|` times the frame rate.
pub fn jumps(clip: &Clip, frames: Range<usize>) -> impl Iterator<Item = Jump> + '_ {
    let inner = frames.start.max(1)..frames.end.min(clip.frame_count().saturating_sub(1));
    let fps = clip.rate().fps();
    (0..clip.tracks().len()).map(JointIndex::new).flat_map(move |joint| {
        let at =
            move |f: usize| clip.rotation(joint, FrameIndex(u32::try_from(f).unwrap_or(u32::MAX)));
        let velocity = move |f: usize| (at(f).inverse() * at(f + 1)).log();
        let mut before = (!inner.is_empty()).then(|| velocity(inner.start - 1));
        inner.clone().map(move |frame| {
            let now = velocity(frame);
            let by = before.map_or(0.0, |before| (now - before).length());
            before = Some(now);
            Jump { joint, frame, by: Angle::from_radians(by * fps) }
        })
    })
}

/// The largest of some jumps.
pub fn largest_jump(jumps: impl Iterator<Item = Jump>) -> Option<Jump> {
    jumps.max_by(|a, b| a.by.radians().total_cmp(&b.by.radians()))
}

/// What a share of all jumps do not exceed: 0.99 for the 99th percentile. Zero if there are none.
#[must_use]
pub fn jump_quantile(jumps: impl Iterator<Item = Jump>, share: f64) -> Angle {
    let mut all: Vec<f64> = jumps.map(|j| j.by.radians()).collect();
    if all.is_empty() {
        return Angle::ZERO;
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the indices that there are"
    )]
    let at = ((as_f64(all.len() - 1) * share.clamp(0.0, 1.0)).round() as usize).min(all.len() - 1);
    let (_, value, _) = all.select_nth_unstable_by(at, f64::total_cmp);
    Angle::from_radians(*value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Rotation, Rotations};
    use crate::motion::{FrameRate, Track};
    use glam::DVec3;

    #[test]
    fn even_turning_has_no_jumps_and_a_kink_has_one() {
        let angles = [0.0, 10.0, 20.0, 30.0, 35.0, 40.0, 45.0];
        let turn: Rotations =
            angles.iter().map(|a| Rotation::about_x(Angle::from_degrees(*a))).collect();
        let rate = FrameRate::from_fps(10.0).unwrap();
        let clip = Clip::new(7, rate, vec![Track::turning(turn, DVec3::ZERO)]).unwrap();
        let all: Vec<Jump> = jumps(&clip, 0..7).collect();
        assert_eq!(all.iter().map(|j| j.frame).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        let worst = largest_jump(all.iter().copied()).unwrap();
        assert_eq!(worst.frame, 3);
        assert!((worst.by.degrees() - 50.0).abs() < 1e-9);
        assert!(jump_quantile(all.iter().copied(), 0.5).degrees() < 1e-9);
        assert_eq!(jumps(&clip, 4..4).count() + jumps(&clip, 6..9).count(), 0);
        assert_eq!(jump_quantile(jumps(&clip, 6..9), 0.99), Angle::ZERO);
    }
}
