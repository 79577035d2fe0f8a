//! A motion on the joints of a rig that it has by name, whatever other joints it has (D12).

use std::fmt;

use super::dial_clip::alike;
use crate::maps::{Network, Transform};
use crate::math::{Points, Rotations};
use crate::motion::{Clip, ClipError, KeyTimes, Pose, Track};
use crate::skeleton::{Joint, JointIndex, Skeleton};

/// A motion that has the joints of a rig, and may have others.
#[derive(Clone, Debug)]
pub struct ByName {
    /// The joints of the rig, in its order, with the lengths of the motion's figure.
    pub skeleton: Skeleton,
    /// Their motion.
    pub clip: Clip,
    /// Joints of the motion that the rig does not have, by their names.
    pub others: Vec<String>,
    /// Joints of the rig that the motion does not have: no dial moves them, and they are at rest.
    pub at_rest: Vec<String>,
}

/// Why a motion does not have the joints of a rig.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ByNameError {
    /// Dials move joints that the motion does not have.
    Missing {
        /// These,
        joints: Vec<String>,
        /// of so many.
        of: usize,
    },
    /// A joint does not hang on the same one as in the rig, not even over others.
    OtherParent {
        /// The joint.
        joint: String,
        /// What it hangs on in the rig.
        parent: String,
    },
    /// A joint is turned otherwise at rest, or its bone points another way: its rotations mean something
    /// else.
    OtherRest {
        /// The joint.
        joint: String,
    },
    /// There is no motion.
    Clip(ClipError),
}

impl fmt::Display for ByNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// So many names are told.
        const MOST: usize = 6;
        match self {
            Self::Missing { joints, of } => {
                let names: Vec<String> =
                    joints.iter().take(MOST).map(|name| format!("{name:?}")).collect();
                write!(f, "the motion has no joint {}", names.join(", "))?;
                if joints.len() > MOST {
                    write!(f, " and {} more", joints.len() - MOST)?;
                }
                write!(f, ", {} of the {of} that dials of the rig move", joints.len())
            }
            Self::OtherParent { joint, parent } => {
                write!(f, "joint {joint:?} hangs on {parent:?} in the rig, and not in the motion")
            }
            Self::OtherRest { joint } => write!(
                f,
                "joint {joint:?} has another rest pose in the motion than in the rig, so its rotations \
                 mean something else"
            ),
            Self::Clip(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ByNameError {}

/// Takes the joints of a network's skeleton out of a motion, by their names.
///
/// All joints that dials move have to be there, hang on each other in the same order, and be the same at
/// rest, whatever their lengths, as for [`same_joints`](super::same_joints). What the motion has between two
/// of them goes into the lower one. A root that dials do not move is where it is in the world, and one that
/// they move is relative to what it hangs on.
///
/// # Errors
///
/// [`ByNameError`] says which joint is missing, or what differs.
///
/// # Panics
///
/// If the clip is not one of the source, or the network not one of the skeleton.
pub fn by_name(
    network: &Network,
    skeleton: &Skeleton,
    source: &Skeleton,
    clip: &Clip,
) -> Result<ByName, ByNameError> {
    assert_eq!(clip.tracks().len(), source.len(), "a clip has one track per joint");
    let found: Vec<Option<JointIndex>> =
        skeleton.joints().iter().map(|joint| source.find(&joint.name)).collect();
    let moved: Vec<JointIndex> = skeleton.indices().filter(|j| network.moves(*j)).collect();
    let missing = moved.iter().filter(|j| found[j.get()].is_none());
    let joints: Vec<String> = missing.map(|j| skeleton[*j].name.clone()).collect();
    if !joints.is_empty() || moved.is_empty() {
        return Err(ByNameError::Missing { joints, of: moved.len() });
    }
    // The joints of the source from below what a joint hangs on down to itself.
    let mut paths: Vec<Vec<JointIndex>> = Vec::with_capacity(skeleton.len());
    for j in skeleton.indices() {
        let Some(own) = found[j.get()] else {
            paths.push(Vec::new());
            continue;
        };
        let parent = skeleton.parent(j);
        let above = parent.and_then(|p| found[p.get()]);
        let mut path = vec![own];
        let is_root = parent.is_none() && !network.moves(j);
        if above.is_some() || is_root {
            let mut up = source.parent(own);
            while let Some(at) = up.filter(|at| Some(*at) != above) {
                path.push(at);
                up = source.parent(at);
            }
            if let (None, Some(p)) = (up, parent) {
                let [joint, parent] = [j, p].map(|j| skeleton[j].name.clone());
                return Err(ByNameError::OtherParent { joint, parent });
            }
            path.reverse();
        }
        paths.push(path);
    }
    let along = |pose: &Pose, path: &[JointIndex]| {
        path.iter().fold(Transform::IDENTITY, |product, j| {
            let (rotation, translation_m) = (pose.rotations[j.get()], pose.translations_m[j.get()]);
            product * Transform { rotation, translation_m }
        })
    };
    let rest = Pose::rest(source);
    let mut own = Skeleton::new();
    for (j, path) in skeleton.indices().zip(&paths) {
        let joint = &skeleton[j];
        let mut there = Joint { rest: joint.rest, ..Joint::new(&joint.name, joint.offset_m) };
        if let Some(at) = found[j.get()] {
            let Transform { rotation, translation_m } = along(&rest, path);
            (there.rest, there.offset_m) = (rotation, translation_m);
            there.end_sites.clone_from(&source[at].end_sites);
            // Where it is attached means something only if that is the same joint.
            let parent = skeleton.parent(j).and_then(|p| found[p.get()]);
            let mut beside = there.clone();
            if parent.is_none() {
                beside.offset_m = joint.offset_m;
            }
            if !alike(&beside, joint) {
                return Err(ByNameError::OtherRest { joint: joint.name.clone() });
            }
        }
        // The rig's own skeleton has been made of the same names and parents.
        let added = match skeleton.parent(j) {
            Some(parent) => own.add(parent, there),
            None => own.add_root(there),
        };
        if added.is_err() {
            return Err(ByNameError::OtherRest { joint: joint.name.clone() });
        }
    }
    let mut columns: Vec<(Rotations, Points)> =
        vec![(Rotations::new(), Points::new()); skeleton.len()];
    let mut pose = Pose::default();
    for frame in clip.frames() {
        clip.pose_into(frame, &mut pose);
        for (path, column) in paths.iter().zip(&mut columns).filter(|(path, _)| !path.is_empty()) {
            let Transform { rotation, translation_m } = along(&pose, path);
            column.0.push(rotation);
            column.1.push(translation_m);
        }
    }
    let tracks = own.indices().zip(columns).map(|(j, (rotations, places))| {
        if paths[j.get()].is_empty() {
            return Track::constant(own[j].rest, own[j].offset_m);
        }
        let [x, y, z] = places.xyz();
        if [x, y, z].iter().any(|c| c.iter().any(|v| *v != c[0])) {
            Track::from_parts(rotations, KeyTimes::EveryFrame, places, KeyTimes::EveryFrame)
        } else if let Some(place) = places.iter().next() {
            Track::turning(rotations, place)
        } else {
            Track::constant(own[j].rest, own[j].offset_m)
        }
    });
    let motion = Clip::new(clip.frame_count(), clip.rate(), tracks.collect());
    let motion = motion.map_err(ByNameError::Clip)?;
    let others = source.joints().iter().filter(|joint| skeleton.find(&joint.name).is_none());
    let others = others.map(|joint| joint.name.clone()).collect();
    let at_rest = skeleton.indices().filter(|j| found[j.get()].is_none());
    let at_rest = at_rest.map(|j| skeleton[j].name.clone()).collect();
    Ok(ByName { skeleton: own, clip: motion, others, at_rest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ik::{DialSettings, DialSolver, FitTo};
    use crate::maps::DialClip;
    use crate::models;
    use crate::motion::FrameRate;
    use crate::synth::Rng;
    use glam::DVec3;

    /// Random dials of a model, out of the middle of their ranges, and the motion that they make.
    fn motion(model: &str, frames: usize) -> (Skeleton, Network, DialClip, Clip) {
        let rig = models::find(model).unwrap();
        let network = rig.network().unwrap();
        let mut rng = Rng::new(5);
        let mut dials = DialClip::new(FrameRate::from_fps(30.0).unwrap(), network.dials().len());
        for _ in 0..frames {
            let at =
                network.dials().iter().map(|d| d.rest + 0.1 * rng.between(d.range[0], d.range[1]));
            dials.push(&at.collect::<Vec<_>>());
        }
        let clip = network.clip(&rig.skeleton, &dials).unwrap();
        (rig.skeleton, network, dials, clip)
    }

    /// A skeleton and its motion with one more joint on each of some.
    fn with_ears(skeleton: &Skeleton, clip: &Clip) -> (Skeleton, Clip) {
        let mut more = Skeleton::new();
        let mut tracks = Vec::new();
        let mut at = Vec::new();
        for j in skeleton.indices() {
            let new = match skeleton.parent(j) {
                Some(parent) => more.add(at[parent.get()], skeleton[j].clone()).unwrap(),
                None => more.add_root(skeleton[j].clone()).unwrap(),
            };
            at.push(new);
            tracks.push(clip.track(j).clone());
            if j.get() % 3 == 0 {
                let ear = Joint::new(format!("Ear{}", j.get()), DVec3::X * 0.1);
                more.add(new, ear).unwrap();
                tracks.push(Track::constant(crate::math::Rotation::IDENTITY, DVec3::X * 0.1));
            }
        }
        (more, Clip::new(clip.frame_count(), clip.rate(), tracks).unwrap())
    }

    #[test]
    fn d12_a_motion_with_joints_besides_those_of_the_rig_gives_its_dials() {
        let (skeleton, network, truth, clip) = motion("spine", 4);
        let (more, clip) = with_ears(&skeleton, &clip);
        let own = by_name(&network, &skeleton, &more, &clip).unwrap();
        assert_eq!(own.others.len(), more.len() - skeleton.len());
        assert!(own.others[0].starts_with("Ear") && own.at_rest.is_empty());
        let mut solver = DialSolver::new(&network);
        let near = crate::math::Angle::from_radians(1e-10);
        let settings = DialSettings { near, near_m: 1e-10, ..DialSettings::default() };
        let to = FitTo::Parents(&own.skeleton);
        let found = solver.fit_clip(&network, &skeleton, &own.clip, to, &settings, |_| ());
        for frame in 0..4 {
            for (a, b) in found.dials.frame(frame).iter().zip(truth.frame(frame)) {
                assert!((a - b).abs() < 1e-6, "{frame}: {a} {b}");
            }
        }
    }

    /// The vertebrae and the shoulder of a body are those of the models of these alone, also where one hangs
    /// on what the other does not have: the thorax.
    #[test]
    fn d12_a_part_finds_its_joints_in_a_motion_of_the_whole_body() {
        let (body, _, _, clip) = motion("body", 3);
        for (part, at_rest) in [("spine", 0), ("shoulder", 1)] {
            let rig = models::find(part).unwrap();
            let network = rig.network().unwrap();
            let own = by_name(&network, &rig.skeleton, &body, &clip).unwrap();
            assert_eq!(own.at_rest.len(), at_rest, "{part}");
            let settings = DialSettings::default();
            let mut solver = DialSolver::new(&network);
            let to = FitTo::Parents(&own.skeleton);
            let found = solver.fit_clip(&network, &rig.skeleton, &own.clip, to, &settings, |_| ());
            let worst = found.misses.iter().map(|miss| miss.worst.degrees()).fold(0.0, f64::max);
            assert!(worst < 0.5, "{part}: {worst}");
        }
    }

    #[test]
    fn what_is_missing_or_hangs_elsewhere_is_named() {
        let (skeleton, network, _, clip) = motion("spine", 2);
        let changed = |change: &dyn Fn(&mut Joint), swap: bool| {
            let mut other = Skeleton::new();
            for j in skeleton.indices() {
                let mut joint = skeleton[j].clone();
                change(&mut joint);
                let parent = skeleton.parent(j).map(|p| if swap { JointIndex::new(0) } else { p });
                match parent {
                    Some(parent) => other.add(parent, joint).unwrap(),
                    None => other.add_root(joint).unwrap(),
                };
            }
            by_name(&network, &skeleton, &other, &clip).unwrap_err()
        };
        let renamed = changed(
            &|j| {
                if j.name == "T4" {
                    j.name = "Brust".to_owned();
                }
            },
            false,
        );
        assert_eq!(renamed, ByNameError::Missing { joints: vec!["T4".to_owned()], of: 24 });
        assert!(renamed.to_string().contains("no joint \"T4\", 1 of the 24"), "{renamed}");
        let turned = changed(
            &|j| {
                if j.name == "T4" {
                    j.offset_m = DVec3::X;
                }
            },
            false,
        );
        assert_eq!(turned, ByNameError::OtherRest { joint: "T4".to_owned() });
        let flat = changed(&|_| (), true);
        assert!(matches!(flat, ByNameError::OtherParent { .. }), "{flat}");
    }
}
