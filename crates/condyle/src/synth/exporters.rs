//! Motion as other exporters write it: the same places in other local spaces, or in another world.

use glam::DVec3;

use crate::math::{Points, Rotation, Rotations, direct_rotation};
use crate::motion::{Clip, ClipError, Track};
use crate::skeleton::{Joint, JointIndex, Skeleton};

use super::SynthError;

/// The same motion of the same places, with local spaces in which every bone lies along x at rest, as
/// exporters write that stand figures up by rotations. The rest pose is a tangle.
///
/// # Errors
///
/// [`SynthError::Clip`] if the clip is not of the skeleton.
///
/// ```
/// use condyle::motion::{FrameRate, farthest_apart_m};
/// use condyle::synth::{Gait, bones_along_x};
///
/// let rate = FrameRate::from_fps(60.0).ok_or("no rate")?;
/// let (skeleton, walk) = Gait::default().generate(20, rate)?;
/// let (along, moved) = bones_along_x(&skeleton, &walk)?;
/// let knee = along.find("LeftLeg").ok_or("no knee")?;
/// assert!((along[knee].offset_m.normalize().x - 1.0).abs() < 1e-12);
/// assert!(farthest_apart_m((&skeleton, &walk), (&along, &moved)) < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn bones_along_x(skeleton: &Skeleton, clip: &Clip) -> Result<(Skeleton, Clip), SynthError> {
    let (found, expected) = (clip.tracks().len(), skeleton.len());
    if found != expected {
        return Err(SynthError::Clip(ClipError::JointCount { found, expected }));
    }
    let rest = skeleton.rest_world_rotations();
    let children = skeleton.children_of_all();
    let bone = |j: JointIndex| {
        let below = children[j.get()].iter().map(|c| skeleton[*c].offset_m);
        let sites = skeleton[j].end_sites.iter().map(|site| site.offset_m);
        below.chain(sites).find(|v| v.length() > 0.0)
    };
    // The old local space from the new one.
    let turns: Vec<Rotation> = skeleton
        .indices()
        .map(|j| {
            let direct = bone(j).and_then(|v| direct_rotation(DVec3::X, v.normalize()));
            direct.map_or(rest[j.get()].inverse(), |direct| direct.rotation)
        })
        .collect();
    let mut made = Skeleton::new();
    let mut tracks = Vec::new();
    for j in skeleton.indices() {
        let parent = skeleton.parent(j);
        let above = parent.map_or(Rotation::IDENTITY, |p| turns[p.get()].inverse());
        let own = turns[j.get()];
        let mut joint = Joint::new(skeleton[j].name.clone(), above * skeleton[j].offset_m);
        joint.end_sites.clone_from(&skeleton[j].end_sites);
        joint.end_sites.iter_mut().for_each(|site| site.offset_m = own.inverse() * site.offset_m);
        let added = match parent {
            Some(p) => made.add(p, joint),
            None => made.add_root(joint),
        };
        added.map_err(SynthError::from)?;
        let turned = |r: Rotation| above * r * own;
        tracks.push(changed(clip.track(j), turned, |place| above * place));
    }
    Ok((made, Clip::new(clip.frame_count(), clip.rate(), tracks).map_err(SynthError::Clip)?))
}

/// The same figure, with the same rest pose, in motion in a world that is turned: by the rotation and the
/// place of its root.
///
/// # Errors
///
/// [`SynthError::Clip`] if the clip is not of the skeleton.
pub fn turned_in_motion(
    skeleton: &Skeleton,
    clip: &Clip,
    world: Rotation,
) -> Result<Clip, SynthError> {
    let mut turned = clip.clone();
    for root in skeleton.indices().filter(|j| skeleton.parent(*j).is_none()) {
        if root.get() >= clip.tracks().len() {
            let (found, expected) = (clip.tracks().len(), skeleton.len());
            return Err(SynthError::Clip(ClipError::JointCount { found, expected }));
        }
        let track = changed(clip.track(root), |r| world * r, |place| world * place);
        turned.set_track(root, track).map_err(SynthError::Clip)?;
    }
    Ok(turned)
}

fn changed(
    track: &Track,
    rotation: impl Fn(Rotation) -> Rotation,
    place: impl Fn(DVec3) -> DVec3,
) -> Track {
    let rotations: Rotations = track.rotations().iter().map(rotation).collect();
    let places: Points = track.translations_m().iter().map(place).collect();
    let times = (track.rotation_times().clone(), track.translation_times().clone());
    Track::from_parts(rotations, times.0, places, times.1).with_interpolation(track.interpolation())
}
