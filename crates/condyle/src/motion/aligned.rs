//! The same motion with every joint's local space aligned with the world at rest.
//!
//! BVH has no rest rotations: at zero angles every local space is parallel to the world. With
//! `G_j` the world rotation of joint j at rest, turning each local space by `G_j⁻¹` gives
//!
//! ```text
//!   local'(j)  = G_parent · local(j) · G_j⁻¹        rest'(j) = identity
//!   offset'(j) = G_parent · offset(j)               world'(j) = world(j) · G_j⁻¹
//! ```
//!
//! so joint centres stay where they are and world rotations differ by a constant per joint.

use std::borrow::Cow;

use std::fmt;

use super::{Clip, KeyTimes, Track};
use crate::math::Rotation;
use crate::skeleton::{EndSite, Joint, Skeleton};

/// A skeleton with a clip of it, if one was given.
pub(crate) type Aligned<'a> = (Cow<'a, Skeleton>, Option<Cow<'a, Clip>>);

/// Lengths so near to the largest number there is that turning them leaves the numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lengths are so large that they cannot be turned into the axes of the world")
    }
}

/// Skeleton and clip with identity rest rotations. Borrowed if that is what they are already.
pub(crate) fn aligned<'a>(
    skeleton: &'a Skeleton,
    clip: Option<&'a Clip>,
) -> Result<Aligned<'a>, TooLong> {
    let is_identity = |r: Rotation| r.canonical().quat() == Rotation::IDENTITY.quat();
    if skeleton.joints().iter().all(|j| is_identity(j.rest)) {
        return Ok((Cow::Borrowed(skeleton), clip.map(Cow::Borrowed)));
    }
    let world = skeleton.rest_world_rotations();
    let above = |j: crate::skeleton::JointIndex| {
        skeleton.parent(j).map_or(Rotation::IDENTITY, |p| world[p.get()])
    };
    let mut out = Skeleton::new();
    for j in skeleton.indices() {
        let (old, turn) = (&skeleton[j], world[j.get()]);
        let joint = Joint {
            name: old.name.clone(),
            offset_m: above(j) * old.offset_m,
            rest: Rotation::IDENTITY,
            end_sites: old
                .end_sites
                .iter()
                .map(|s| EndSite { name: s.name.clone(), offset_m: turn * s.offset_m })
                .collect(),
            declared: old.declared.clone(),
        };
        let added = match skeleton.parent(j) {
            None => out.add_root(joint),
            Some(p) => out.add(p, joint),
        };
        // The same joints in the same order make a skeleton.
        added.map_err(|_| TooLong)?;
    }
    let clip = clip.map(|clip| {
        let tracks = skeleton.indices().map(|j| {
            let track = clip.track(j);
            let (left, right) = (above(j), world[j.get()].inverse());
            // Between keys half a turn apart both ways are equally short, and turned keys may go the
            // other one: so a track with keys of its own is taken frame by frame.
            let keyed = |times: &KeyTimes| {
                matches!(times, KeyTimes::At(at) if at.len() > 1) && clip.frame_count() > 0
            };
            let (rotations, rotation_times) = if keyed(track.rotation_times()) {
                let frames = clip.frames().map(|f| left * clip.rotation(j, f) * right);
                (frames.collect(), KeyTimes::EveryFrame)
            } else {
                let keys = track.rotations().iter().map(|r| left * r * right);
                (keys.collect(), track.rotation_times().clone())
            };
            let (translations, translation_times) = if keyed(track.translation_times()) {
                let frames = clip.frames().map(|f| left * clip.translation_m(j, f));
                (frames.collect(), KeyTimes::EveryFrame)
            } else {
                let keys = track.translations_m().iter().map(|t| left * t);
                (keys.collect(), track.translation_times().clone())
            };
            Track::from_parts(rotations, rotation_times, translations, translation_times)
                .with_interpolation(track.interpolation())
        });
        // Turning tracks keeps their keys.
        let made = Clip::new(clip.frame_count(), clip.rate(), tracks.collect());
        let made = made.map_err(|_| TooLong)?;
        // Numbers stay true only where nothing was turned.
        let channels = clip.channels().cloned().map(|mut channels| {
            for j in skeleton.indices() {
                if !(is_identity(above(j)) && is_identity(world[j.get()])) {
                    channels.forget(j);
                }
            }
            channels
        });
        Ok(Cow::Owned(made.with_channels(channels)))
    });
    Ok((Cow::Owned(out), clip.transpose()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Angle;
    use crate::motion::FrameRate;
    use glam::DVec3;

    /// Found by fuzzing: the turned keys went round the other way.
    #[test]
    fn keys_half_a_turn_apart_stay_on_their_side() {
        let mut skeleton = Skeleton::new();
        let mut joint = Joint::new("a", DVec3::ZERO);
        joint.rest = Rotation::from_wxyz([1.0, 0.0, 1.0, 1.0]).unwrap();
        let j = skeleton.add_root(joint).unwrap();
        let half = Rotation::from_wxyz([-0.0, -1.0, -0.0, -0.0]).unwrap();
        let track = Track::from_parts(
            [Rotation::IDENTITY, half, Rotation::IDENTITY].into_iter().collect(),
            KeyTimes::At(vec![0.0, 0.7, 2.8]),
            crate::math::Points::repeat(DVec3::ZERO, 1),
            KeyTimes::constant(),
        );
        let clip = Clip::new(4, FrameRate::from_fps(1.0).unwrap(), vec![track]).unwrap();
        let (_, turned) = aligned(&skeleton, Some(&clip)).unwrap();
        for f in clip.frames() {
            let there = clip.rotation(j, f) * skeleton[j].rest.inverse();
            let gap = turned.as_ref().unwrap().rotation(j, f).distance(there);
            assert!(gap < Angle::from_radians(1e-14), "{f:?}: {gap:?}");
        }
    }
}
