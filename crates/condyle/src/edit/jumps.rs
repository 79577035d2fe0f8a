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
    let mut all: Vec<f64> = jumps.into_iter().map(|j| j.by.radians()).collect();
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
        let all = jumps(&clip, 0..7);
        assert_eq!(all.iter().map(|j| j.frame).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        assert!((all[2].by.degrees() - 50.0).abs() < 1e-9);
        assert_eq!(jump_quantile(&all, 1.0), all[2].by);
        assert!(jump_quantile(&all, 0.5).degrees() < 1e-9);
        assert!(jumps(&clip, 4..4).is_empty() && jumps(&clip, 6..9).is_empty());
        assert_eq!(jump_quantile(&[], 0.99), Angle::ZERO);
    }
}
