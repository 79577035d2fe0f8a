//! Figures with names of two families, any local axes and proportions, and motion for them.

use glam::DVec3;

use crate::math::{Angle, Points, Rotation, Rotations};
use crate::motion::{Clip, FrameRate, KeyTimes, Track};
use crate::skeleton::{EndSite, Joint, Skeleton};
use crate::synth::Rng;

/// Name, parent, place in the world in metres of the left side; right ones are made of those that begin
/// with the word for left.
type Plan = &'static [(&'static str, &'static str, [f64; 3])];

/// As CMU's, in T-pose.
const ACCLAIM: Plan = &[
    ("root", "", [0.0, 0.98, 0.0]),
    ("lhipjoint", "root", [0.0, 0.98, 0.0]),
    ("lfemur", "lhipjoint", [0.09, 0.9, 0.01]),
    ("ltibia", "lfemur", [0.09, 0.5, 0.03]),
    ("lfoot", "ltibia", [0.09, 0.09, 0.0]),
    ("ltoes", "lfoot", [0.09, 0.02, 0.14]),
    ("lowerback", "root", [0.0, 1.0, 0.0]),
    ("upperback", "lowerback", [0.0, 1.12, 0.0]),
    ("thorax", "upperback", [0.0, 1.24, 0.01]),
    ("lowerneck", "thorax", [0.0, 1.36, 0.0]),
    ("upperneck", "lowerneck", [0.0, 1.43, 0.02]),
    ("head", "upperneck", [0.0, 1.5, 0.02]),
    ("lclavicle", "thorax", [0.0, 1.36, 0.0]),
    ("lhumerus", "lclavicle", [0.17, 1.36, -0.02]),
    ("lradius", "lhumerus", [0.45, 1.36, -0.02]),
    ("lwrist", "lradius", [0.7, 1.36, -0.02]),
    ("lhand", "lwrist", [0.72, 1.36, -0.02]),
    ("lfingers", "lhand", [0.8, 1.36, -0.02]),
    ("lthumb", "lhand", [0.74, 1.36, 0.03]),
];

/// As Mixamo's, arms lowered, with longer legs and shorter arms.
const MIXAMO: Plan = &[
    ("mixamorig:Hips", "", [0.0, 1.12, 0.02]),
    ("mixamorig:Spine", "mixamorig:Hips", [0.0, 1.2, 0.01]),
    ("mixamorig:Spine1", "mixamorig:Spine", [0.0, 1.28, 0.0]),
    ("mixamorig:Spine2", "mixamorig:Spine1", [0.0, 1.38, 0.0]),
    ("mixamorig:Neck", "mixamorig:Spine2", [0.0, 1.5, 0.0]),
    ("mixamorig:Head", "mixamorig:Neck", [0.0, 1.6, 0.02]),
    ("mixamorig:LeftShoulder", "mixamorig:Spine2", [0.05, 1.46, 0.0]),
    ("mixamorig:LeftArm", "mixamorig:LeftShoulder", [0.19, 1.45, 0.0]),
    ("mixamorig:LeftForeArm", "mixamorig:LeftArm", [0.34, 1.28, 0.0]),
    ("mixamorig:LeftHand", "mixamorig:LeftForeArm", [0.49, 1.12, 0.02]),
    ("mixamorig:LeftHandIndex1", "mixamorig:LeftHand", [0.54, 1.06, 0.02]),
    ("mixamorig:LeftUpLeg", "mixamorig:Hips", [0.11, 1.05, 0.02]),
    ("mixamorig:LeftLeg", "mixamorig:LeftUpLeg", [0.12, 0.58, 0.03]),
    ("mixamorig:LeftFoot", "mixamorig:LeftLeg", [0.13, 0.1, 0.0]),
    ("mixamorig:LeftToeBase", "mixamorig:LeftFoot", [0.14, 0.02, 0.12]),
];

/// CMU's names.
pub(crate) fn acclaim(axes: Option<u64>) -> Skeleton {
    build(ACCLAIM, axes, 1.0)
}

/// Mixamo's.
pub(crate) fn mixamo(axes: Option<u64>) -> Skeleton {
    build(MIXAMO, axes, 1.0)
}

/// A person of Mixamo's whose left limbs are longer than the right ones.
pub(crate) fn lopsided(axes: Option<u64>) -> Skeleton {
    build(MIXAMO, axes, 1.2)
}

fn other(name: &str) -> Option<String> {
    if name.contains("Left") {
        return Some(name.replace("Left", "Right"));
    }
    name.strip_prefix('l')
        .filter(|_| name != "lowerback" && name != "lowerneck")
        .map(|n| format!("r{n}"))
}

/// With local axes along those of the world, or any. The bones on the left are so many times as long.
fn build(plan: Plan, axes: Option<u64>, left: f64) -> Skeleton {
    let mut rng = Rng::new(axes.unwrap_or(0));
    let mut any = || if axes.is_some() { rng.rotation() } else { Rotation::IDENTITY };
    let mut skeleton = Skeleton::new();
    let mut turns: Vec<Rotation> = Vec::new();
    let mut add = |name: &str, parent: &str, bone: DVec3, leaf: Option<DVec3>| {
        let parent = skeleton.find(parent);
        let turn = any();
        let above = parent.map_or(Rotation::IDENTITY, |p| turns[p.get()]);
        let mut joint = Joint::new(name, above.inverse() * bone);
        joint.rest = above.inverse() * turn;
        let site = |offset_m: DVec3| EndSite { name: None, offset_m: turn.inverse() * offset_m };
        joint.end_sites = leaf.into_iter().map(site).collect();
        match parent {
            Some(p) => skeleton.add(p, joint).unwrap(),
            None => skeleton.add_root(joint).unwrap(),
        };
        turns.push(turn);
    };
    let place = |name: &str| {
        let found = plan.iter().find(|(n, ..)| *n == name);
        found.map_or(DVec3::ZERO, |(.., p)| DVec3::from_array(*p))
    };
    for (name, parent, at) in plan {
        let bone = DVec3::from_array(*at) - place(parent);
        let is_leaf = !plan.iter().any(|(_, p, _)| p == name);
        let leaf = is_leaf.then(|| if name.contains("oe") { DVec3::Z * 0.06 } else { bone * 0.9 });
        let flip = DVec3::new(-1.0, 1.0, 1.0);
        match other(name) {
            Some(right) => {
                add(name, parent, bone * left, leaf);
                let above = other(parent).unwrap_or_else(|| (*parent).to_owned());
                add(&right, &above, bone * flip, leaf.map(|l| l * flip));
            }
            None => add(name, parent, bone, leaf),
        }
    }
    skeleton
}

/// Every joint turns smoothly by up to so many degrees from rest, and the root goes somewhere.
pub(crate) fn motion(skeleton: &Skeleton, seed: u64, frames: usize, degrees: f64) -> Clip {
    let mut rng = Rng::new(seed);
    let most = Angle::from_degrees(degrees).radians();
    let tracks = skeleton.indices().map(|j| {
        let (a, b) = (rng.direction(), rng.direction());
        let [fa, fb] = [rng.between(0.02, 0.1), rng.between(0.02, 0.1)];
        let joint = &skeleton[j];
        let wave = |t: f64, f: f64| crate::math::trig::sin(f * t);
        let at = |k: u32| {
            let t = f64::from(k);
            let by = (a * wave(t, fa) + b * wave(t, fb)) * (0.5 * most);
            joint.rest * Rotation::exp(by).unwrap()
        };
        let count = u32::try_from(frames).unwrap();
        let rotations: Rotations = (0..count).map(at).collect();
        if skeleton.parent(j).is_some() {
            return Track::turning(rotations, joint.offset_m);
        }
        let way = |k: u32| {
            let t = f64::from(k) * 0.01;
            joint.offset_m + DVec3::new(0.8 * t, 0.05 * wave(t, 3.0), 1.3 * t - 0.4)
        };
        let places: Points = (0..count).map(way).collect();
        Track::from_parts(rotations, KeyTimes::EveryFrame, places, KeyTimes::EveryFrame)
    });
    let tracks = tracks.collect();
    Clip::new(frames, FrameRate::from_fps(60.0).unwrap(), tracks).unwrap()
}
