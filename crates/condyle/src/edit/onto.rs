//! Motion of a skeleton on another one with the same joints.

use glam::DVec3;

use super::EditError;
use crate::math::{Angle, Rotation, angle_between};
use crate::motion::Clip;
use crate::skeleton::{Dof, JointIndex, Skeleton};

/// Rest poses that differ by more than this are others.
const REST: Angle = Angle::from_degrees(0.1);

/// Bones that point another way by more than this at rest are of another rest pose. The same figure in
/// two captures differs by some degrees.
const BONE: Angle = Angle::from_degrees(20.0);

/// Lengths that differ by more than this share of the longest path through the skeleton are others.
const LENGTH: f64 = 1e-3;

/// A motion on a skeleton that has the same joints as its own.
#[must_use]
#[derive(Clone, Debug)]
pub struct Onto {
    /// The motion, with the joints in the order of the new skeleton and with its bones.
    pub clip: Clip,
    /// The joint whose place at rest differs most, and by how much in metres, if that is more than a
    /// thousandth of the figure's size. Motions then meet with other bones: feet may slide.
    pub other_bones: Option<(JointIndex, f64)>,
}

/// Puts the motion of one skeleton on another with joints of the same names, parents and rest rotations,
/// in any order. Bones have the lengths of the new one; a joint that shifts does so from its own place. What
/// alone hangs on a root and is placed by the motion (the hips below a reference node) stays where it is:
/// its offset is no bone.
///
/// # Errors
///
/// [`EditError::MissingJoint`], [`EditError::OtherParent`] and [`EditError::OtherRest`] if the
/// skeletons are others: then the motion has to be retargeted.
///
/// # Panics
///
/// If the clip is not one of the skeleton `from`.
pub fn onto(to: &Skeleton, from: &Skeleton, clip: &Clip) -> Result<Onto, EditError> {
    assert_eq!(clip.tracks().len(), from.len(), "a clip has one track per joint");
    let lacks = |a: &Skeleton, b: &Skeleton| {
        a.joints().iter().find(|j| b.find(&j.name).is_none()).map(|j| j.name.clone())
    };
    if let Some(name) = lacks(to, from).or_else(|| lacks(from, to)) {
        return Err(EditError::MissingJoint { name });
    }
    let size = to.longest_path_m();
    let (bones, places) = (bones_m(from, clip), places(from, clip));
    let mut sources = Vec::with_capacity(to.len());
    let mut farthest: Option<(JointIndex, f64)> = None;
    for j in to.indices() {
        let (joint, Some(k)) = (&to[j], from.find(&to[j].name)) else { continue };
        let name = || joint.name.clone();
        let parent = |s: &Skeleton, j| s.parent(j).map(|p| s[p].name.clone());
        if parent(to, j) != parent(from, k) {
            return Err(EditError::OtherParent { name: name() });
        }
        let bones = bones[k.get()].map(|bone| [joint.offset_m, bone]);
        if let Some(off) = other_rest([joint.rest, from[k].rest], bones, size) {
            return Err(EditError::OtherRest { name: name(), degrees: off.degrees() });
        }
        let apart = (joint.offset_m - from[k].offset_m).length();
        if !places[k.get()] && farthest.is_none_or(|(_, most)| apart > most) {
            farthest = Some((j, apart));
        }
        sources.push(k);
    }
    let other_bones = farthest.filter(|(_, apart)| *apart > LENGTH * size);
    // Channels are in the order of the joints.
    let mut moved = if to.indices().zip(&sources).all(|(j, k)| j == *k) {
        clip.clone()
    } else {
        let tracks = sources.iter().map(|k| clip.track(*k).clone()).collect();
        Clip::new(clip.frame_count(), clip.rate(), tracks)?
    };
    for (j, k) in to.indices().zip(&sources) {
        let shift = to[j].offset_m - from[*k].offset_m;
        if !places[k.get()] && shift != DVec3::ZERO {
            moved.change_translations(j, |t| t + shift)?;
        }
    }
    Ok(Onto { clip: moved, other_bones })
}

/// Whether a motion says where a joint is, so that its place at rest is no bone: of roots, and of what alone
/// hangs on one, or on such a joint, and has position channels or moves.
fn places(skeleton: &Skeleton, clip: &Clip) -> Vec<bool> {
    let mut children = vec![0_usize; skeleton.len()];
    skeleton.parents().iter().flatten().for_each(|p| children[p.get()] += 1);
    let mut places: Vec<bool> = Vec::with_capacity(skeleton.len());
    for j in skeleton.indices() {
        let shifts = skeleton[j].declared.dofs.iter().flatten();
        let shifts = shifts.filter(|d| matches!(d.dof, Dof::Tx | Dof::Ty | Dof::Tz)).count();
        let placed = || shifts == 3 || clip.track(j).translation_moves();
        places.push(match skeleton.parent(j) {
            Some(p) => places[p.get()] && children[p.get()] == 1 && placed(),
            None => true,
        });
    }
    places
}

/// The bone to each joint. A joint that moves away from its parent has a place, not a bone.
pub(super) fn bones_m(skeleton: &Skeleton, clip: &Clip) -> Vec<Option<DVec3>> {
    let places = places(skeleton, clip);
    let is_bone = |j: &JointIndex| !places[j.get()] && !clip.track(*j).translation_moves();
    skeleton.indices().map(|j| is_bone(&j).then_some(skeleton[j].offset_m)).collect()
}

/// By how much the rest pose of a joint is another one than in a second figure, if that is too much for
/// its rotations to mean the same.
pub(super) fn other_rest(
    [ours, theirs]: [Rotation; 2],
    bones_m: Option<[DVec3; 2]>,
    size_m: f64,
) -> Option<Angle> {
    let off = ours.distance(theirs);
    if off > REST {
        return Some(off);
    }
    // Without rest rotations, as in BVH, bones that point elsewhere are another rest pose.
    let [ours, theirs] = bones_m?;
    let bent = angle_between(ours, theirs);
    let long = |v: DVec3| v.length() > LENGTH * size_m;
    (long(ours) && long(theirs) && bent > BONE).then_some(bent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Features, Metric};
    use crate::motion::{FrameIndex, Track};
    use crate::skeleton::{DeclaredDof, Joint};
    use crate::synth::{Figure, Options, Synth};

    #[test]
    fn joints_are_matched_by_name_and_bones_are_the_new_ones() {
        let synth =
            Synth::generate(&Figure::human(), &Options { frames: 3, ..Options::default() }, 1)
                .unwrap();
        let from = &synth.skeleton;
        let same = onto(from, from, &synth.clip).unwrap();
        assert!(same.other_bones.is_none());
        let longer = from.changed(|j| j.offset_m *= 1.1);
        let moved = onto(&longer, from, &synth.clip).unwrap();
        assert!(moved.other_bones.is_some_and(|(_, by)| by > 0.02));
        for j in longer.indices().filter(|j| longer.parent(*j).is_some()) {
            let f = FrameIndex(1);
            assert_eq!(moved.clip.rotation(j, f).quat(), synth.clip.rotation(j, f).quat());
            let off = moved.clip.translation_m(j, f) - longer[j].offset_m;
            assert!(off.length() < 1e-15);
        }
        // Another order: the second leg first.
        let mut order: Vec<JointIndex> = from.indices().collect();
        let deep =
            |j: &JointIndex| std::iter::successors(from.parent(*j), |p| from.parent(*p)).count();
        order.sort_by_key(|j| (deep(j), std::cmp::Reverse(*j)));
        let mut shuffled = Skeleton::new();
        for j in order {
            let joint = from[j].clone();
            match from.parent(j) {
                Some(p) => shuffled.add(shuffled.find(&from[p].name).unwrap(), joint).unwrap(),
                None => shuffled.add_root(joint).unwrap(),
            };
        }
        let moved = onto(&shuffled, from, &synth.clip).unwrap().clip;
        for j in from.indices() {
            let k = shuffled.find(&from[j].name).unwrap();
            let f = FrameIndex(2);
            assert_eq!(moved.rotation(k, f).quat(), synth.clip.rotation(j, f).quat());
        }
    }

    #[test]
    fn what_position_channels_replace_is_no_bone() {
        let synth =
            Synth::generate(&Figure::human(), &Options { frames: 3, ..Options::default() }, 1)
                .unwrap();
        // The figure below a reference node, as in one take it starts here and in the other there.
        let below = |place: DVec3| {
            let mut skeleton = Skeleton::new();
            let root = skeleton.add_root(Joint::new("reference", DVec3::ZERO)).unwrap();
            for j in synth.skeleton.indices() {
                let mut joint = synth.skeleton[j].clone();
                let parent = match synth.skeleton.parent(j) {
                    Some(p) => skeleton.find(&synth.skeleton[p].name).unwrap(),
                    None => {
                        joint.offset_m = place;
                        root
                    }
                };
                skeleton.add(parent, joint).unwrap();
            }
            let tracks = synth.clip.tracks().iter().cloned();
            let still = Track::constant(Rotation::IDENTITY, DVec3::ZERO);
            let tracks = [still].into_iter().chain(tracks);
            let clip = Clip::new(3, synth.clip.rate(), tracks.collect()).unwrap();
            (skeleton, clip)
        };
        let (there, _) = below(DVec3::new(-0.2, 0.9, 4.5));
        let (here, mut clip) = below(DVec3::new(0.0, 0.9, -4.3));
        let hips = here.find("Hips").unwrap();
        let walk = [0.0, 0.1, 0.2].map(|z| DVec3::new(0.0, 0.9, z));
        for (f, place) in (0..).map(FrameIndex).zip(&walk) {
            clip.set_translation_m(hips, f, *place);
        }
        let moved = onto(&there, &here, &clip).unwrap();
        assert!(moved.other_bones.is_none());
        for (f, place) in (0..).map(FrameIndex).zip(&walk) {
            assert_eq!(moved.clip.translation_m(hips, f), *place);
        }
        let [a, b] = [&there, &here].map(|s| Features::of(s, &clip, Metric::Quaternion).unwrap());
        assert!(a.like(&here, &clip).is_ok() && b.like(&there, &clip).is_ok());
        // Without motion it is a bone, unless the file gives it channels.
        let mut still = clip.at_frames([0.0], clip.rate(), None).unwrap();
        still.set_translation_m(hips, FrameIndex(0), here[hips].offset_m);
        assert!(matches!(onto(&there, &here, &still), Err(EditError::OtherRest { .. })));
        let declared = |axis| DeclaredDof { dof: Dof::translation(axis), limit: None };
        let here = here.changed(|j| {
            if j.name == there[hips].name {
                j.declared.dofs = Some((0..3).map(declared).collect());
            }
        });
        let moved = onto(&there, &here, &still).unwrap().clip;
        assert_eq!(moved.translation_m(hips, FrameIndex(0)), here[hips].offset_m);
    }

    #[test]
    fn other_skeletons_are_told_by_the_joint_that_differs() {
        let synth =
            Synth::generate(&Figure::human(), &Options { frames: 3, ..Options::default() }, 1)
                .unwrap();
        let from = &synth.skeleton;
        let mut more = from.clone();
        more.add(from.find("Head").unwrap(), Joint::new("hat", DVec3::Y)).unwrap();
        let error = onto(&more, from, &synth.clip).unwrap_err();
        assert_eq!(error, EditError::MissingJoint { name: "hat".to_owned() });
        let turned = from.changed(|j| {
            if j.name == "Head" {
                j.rest = j.rest * Rotation::about_x(Angle::from_degrees(5.0));
            }
        });
        let error = onto(&turned, from, &synth.clip).unwrap_err();
        assert!(matches!(error, EditError::OtherRest { name, .. } if name == "Head"));
        // An A-pose without rest rotations.
        let lowered = from.changed(|j| {
            if j.name == "LeftForeArm" {
                j.offset_m = DVec3::new(0.2, -0.2, 0.0);
            }
        });
        let error = onto(&lowered, from, &synth.clip).unwrap_err();
        assert!(matches!(error, EditError::OtherRest { name, .. } if name == "LeftForeArm"));
    }
}
