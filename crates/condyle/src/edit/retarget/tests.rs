use std::num::NonZeroUsize;

use super::*;
use crate::edit::figures::{acclaim, lopsided, mixamo, motion};
use crate::limits::{Limit, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit};
use crate::math::{Arc, SwingAxes, angle_between};
use crate::motion::{FrameIndex, FrameRate, farthest_apart_m};
use crate::rig::{JointKind, Rig, RigJoint};
use crate::skeleton::Joint;
use crate::synth::Figure;

fn plain(source: &Skeleton, clip: &Clip, target: &Skeleton) -> Retargeted {
    retarget((source, clip), target, &RetargetOptions::default()).unwrap()
}

/// The largest angle between the local rotations of two clips, in radians.
fn turned(a: &Clip, b: &Clip) -> f64 {
    let each = a.frames().flat_map(|f| {
        let (p, q) = (a.pose(f), b.pose(f));
        let both = p.rotations.into_iter().zip(q.rotations);
        both.map(|(x, y)| x.distance(y).radians()).collect::<Vec<_>>()
    });
    each.fold(0.0, f64::max)
}

/// Joints of CMU's and of Mixamo's names that are the same of the body.
const SAME: [(&str, &str); 12] = [
    ("root", "Hips"),
    ("lowerback", "Spine"),
    ("upperback", "Spine1"),
    ("thorax", "Spine2"),
    ("head", "Head"),
    ("lclavicle", "LeftShoulder"),
    ("lhumerus", "LeftArm"),
    ("lradius", "LeftForeArm"),
    ("lhand", "LeftHand"),
    ("lfemur", "LeftUpLeg"),
    ("ltibia", "LeftLeg"),
    ("lfoot", "LeftFoot"),
];

fn of_mixamo(skeleton: &Skeleton, name: &str) -> JointIndex {
    skeleton.find(&format!("mixamorig:{name}")).unwrap()
}

#[test]
fn c13_onto_itself_it_is_the_same_motion() {
    let mut human = Figure::human().skeleton().clone();
    human = human.with_rests(|j| j.rest);
    for skeleton in [acclaim(Some(1)), mixamo(Some(2)), lopsided(Some(3)), human] {
        let clip = motion(&skeleton, 3, 10, 120.0);
        for keep in [false, true] {
            let options =
                RetargetOptions { keep_feet: keep, keep_hands: keep, ..RetargetOptions::default() };
            let found = retarget((&skeleton, &clip), &skeleton, &options).unwrap();
            assert!((found.scale - 1.0).abs() < 1e-15, "{}", found.scale);
            assert!(turned(&clip, &found.clip) < 1e-9);
            assert!(farthest_apart_m((&skeleton, &clip), (&skeleton, &found.clip)) < 1e-9);
            assert!(found.only_source.is_empty());
            assert!(!found.from.contains(&MotionFrom::Rest));
        }
    }
}

/// To the other skeleton and back: world rotations of all joints that both have come back, and local
/// ones where both have the joint above as well. CMU's hands hang on a joint of the forearm that
/// Mixamo's do not have, and its necks have one joint more.
#[test]
fn c13_cmu_to_mixamo_and_back_turns_joints_that_both_have_by_nothing() {
    for seed in 0..4 {
        let (ours, theirs) = (acclaim(Some(seed)), mixamo(Some(seed + 7)));
        let clip = motion(&ours, seed, 25, 60.0);
        let there = plain(&ours, &clip, &theirs);
        let back = plain(&theirs, &there.clip, &ours);
        assert!((there.scale * back.scale - 1.0).abs() < 1e-12);
        for f in clip.frames() {
            let [a, b] = [&clip, &back.clip].map(|c| c.pose(f).world(&ours));
            for (name, _) in SAME {
                let j = ours.find(name).unwrap();
                let off = a.rotations[j.get()].distance(b.rotations[j.get()]).degrees();
                assert!(off < 1e-9, "{name}: {off}");
                if !["head", "lhand"].contains(&name) {
                    let off = clip.rotation(j, f).distance(back.clip.rotation(j, f)).degrees();
                    // What is between hip and pelvis, and is none of the body, stays at rest.
                    assert!(off < 1e-9 || name == "lfemur", "{name}: {off}");
                }
            }
            let [root, ..] = [a.positions_m[0].distance(b.positions_m[0])];
            assert!(root < 1e-12);
        }
        let necks = ["lowerneck", "upperneck"].map(|n| back.from[ours.find(n).unwrap().get()]);
        assert!(necks.iter().all(|n| matches!(n, MotionFrom::Between { .. })), "{necks:?}");
    }
}

#[test]
fn c13_limbs_point_where_they_did_and_clinical_angles_are_the_same() {
    let (ours, theirs) = (acclaim(Some(5)), mixamo(Some(6)));
    let clip = motion(&ours, 8, 20, 50.0);
    let found = plain(&ours, &clip, &theirs);
    let bones = [
        (["lfemur", "ltibia"], ["LeftUpLeg", "LeftLeg"]),
        (["ltibia", "lfoot"], ["LeftLeg", "LeftFoot"]),
        (["rfemur", "rtibia"], ["RightUpLeg", "RightLeg"]),
        (["lhumerus", "lradius"], ["LeftArm", "LeftForeArm"]),
        (["rhumerus", "rradius"], ["RightArm", "RightForeArm"]),
    ];
    let anatomies = [&ours, &theirs].map(|s| Anatomy::of(s).unwrap());
    for f in clip.frames() {
        let (a, b) = (clip.pose(f).world(&ours), found.clip.pose(f).world(&theirs));
        for (from, to) in bones {
            let [p, q] = from.map(|n| a.positions_m[ours.find(n).unwrap().get()]);
            let [r, s] = to.map(|n| b.positions_m[of_mixamo(&theirs, n).get()]);
            let off = (q - p).normalize().distance((s - r).normalize());
            assert!(off < 1e-9, "{from:?}: {off}");
        }
        // Only where nothing above differs: hips hang on one more joint in CMU's, hands and necks too.
        for (name, other) in
            [("ltibia", "LeftLeg"), ("lradius", "LeftForeArm"), ("thorax", "Spine2")]
        {
            let (s, t) = (ours.find(name).unwrap(), of_mixamo(&theirs, other));
            let was = anatomies[0].joint(s).unwrap().angles(clip.rotation(s, f));
            let is = anatomies[1].joint(t).unwrap().angles(found.clip.rotation(t, f));
            for (x, y) in was.iter().zip(is) {
                assert!((x.degrees() - y.degrees()).abs() < 1e-8, "{name}: {was:?} {is:?}");
            }
        }
        // The shoulder with its clavicle against the thorax, the back and the neck as a whole.
        for (w, v) in anatomies[0].wholes().iter().zip(anatomies[1].wholes()) {
            assert_eq!((w.what, w.side), (v.what, v.side));
            let was = w.rotation_along(|j| clip.rotation(j, f));
            let is = v.rotation_along(|j| found.clip.rotation(j, f));
            assert!(was.distance(is).degrees() < 1e-8, "{:?}", w.what);
        }
    }
}

#[test]
fn the_pelvis_goes_its_way_in_steps_as_long_as_the_legs_allow() {
    let (ours, theirs) = (acclaim(Some(1)), mixamo(Some(2)));
    let clip = motion(&ours, 8, 20, 20.0);
    // By hand: from the plans of the figures, hip, knee, ankle and sole below the pelvis.
    let leg = |hip: DVec3, knee: DVec3, ankle: DVec3, pelvis: f64| {
        pelvis - hip.y + hip.distance(knee) + knee.distance(ankle)
    };
    let v = DVec3::new;
    let short = leg(v(0.09, 0.9, 0.01), v(0.09, 0.5, 0.03), v(0.09, 0.09, 0.0), 0.98) + 0.07;
    let long = leg(v(0.11, 1.05, 0.02), v(0.12, 0.58, 0.03), v(0.13, 0.1, 0.0), 1.12);
    let found = plain(&ours, &clip, &theirs);
    // The foot of the other leans a little outward with its shank: less than a millimetre.
    assert!((found.scale - (long + 0.08) / short).abs() < 1e-3, "{}", found.scale);
    for (scale, by) in [(Scale::Legs, found.scale), (Scale::By(1.0), 1.0), (Scale::By(0.5), 0.5)] {
        let options = RetargetOptions { scale, ..RetargetOptions::default() };
        let found = retarget((&ours, &clip), &theirs, &options).unwrap();
        for f in clip.frames() {
            let (a, b) = (clip.pose(f).world(&ours), found.clip.pose(f).world(&theirs));
            assert!(b.positions_m[0].distance(a.positions_m[0] * by) < 1e-12);
        }
    }
}

/// The same names along the axes of the world with more or fewer joints of the back; a reference node
/// above.
fn with_spine(count: usize, reference: bool) -> Skeleton {
    let mut skeleton = Skeleton::new();
    let mut add = |name: &str, parent: &str, x: f64, y: f64| {
        let joint = Joint::new(name, DVec3::new(x, y, 0.0));
        match skeleton.find(parent) {
            Some(p) => skeleton.add(p, joint).unwrap(),
            None => skeleton.add_root(joint).unwrap(),
        };
    };
    if reference {
        add("Reference", "", 0.0, 0.0);
        add("Offset", "Reference", 0.3, 0.1);
    }
    add("Hips", "Offset", 0.0, 0.9);
    let mut last = "Hips".to_owned();
    for k in 0..count {
        let name = if k == 0 { "Spine".to_owned() } else { format!("Spine{k}") };
        add(&name, &last, 0.0, 0.4 / f64::from(u32::try_from(count).unwrap()));
        last = name;
    }
    add("Neck", &last, 0.0, 0.2);
    for (side, sign) in [("Left", 1.0), ("Right", -1.0)] {
        add(&format!("{side}Arm"), &last, sign * 0.2, 0.15);
        add(&format!("{side}ForeArm"), &format!("{side}Arm"), sign * 0.3, 0.0);
        add(&format!("{side}UpLeg"), "Hips", sign * 0.1, 0.0);
        add(&format!("{side}Leg"), &format!("{side}UpLeg"), 0.0, -0.4);
        add(&format!("{side}Foot"), &format!("{side}Leg"), 0.0, -0.4);
    }
    skeleton
}

/// A figure that bends its back by so many degrees in all, evenly.
fn bowing(skeleton: &Skeleton, count: usize, degrees: f64) -> Clip {
    let each = degrees / f64::from(u32::try_from(count).unwrap());
    let tracks = skeleton.joints().iter().map(|j| {
        let by = if j.name.starts_with("Spine") { each } else { 0.0 };
        Track::constant(Rotation::about_x(Angle::from_degrees(by)), j.offset_m)
    });
    Clip::new(1, FrameRate::from_fps(30.0).unwrap(), tracks.collect()).unwrap()
}

#[test]
fn rows_of_other_numbers_of_joints_share_a_bend_evenly() {
    for (m, n) in [(1, 1), (1, 3), (3, 1), (2, 3), (3, 2), (4, 5), (5, 2)] {
        let (ours, theirs) = (with_spine(m, false), with_spine(n, false));
        let found = plain(&ours, &bowing(&ours, m, 60.0), &theirs);
        let each = 60.0 / n as f64;
        for j in theirs.indices() {
            let local = found.clip.rotation(j, FrameIndex(0));
            let by = if theirs[j].name.starts_with("Spine") { each } else { 0.0 };
            let off = local.distance(Rotation::about_x(Angle::from_degrees(by))).degrees();
            assert!(off < 1e-9, "{m} {n} {}: {off}", theirs[j].name);
        }
    }
}

#[test]
fn a_root_above_the_pelvis_brings_it_where_it_belongs() {
    let names = |s: &Skeleton, n: &str| s.find(n).unwrap().get();
    for (ours, theirs) in [(false, true), (true, false), (true, true)] {
        let (ours, theirs) = (with_spine(2, ours), with_spine(3, theirs));
        let clip = motion(&ours, 4, 12, 70.0);
        let found = plain(&ours, &clip, &theirs);
        for f in clip.frames() {
            let (a, b) = (clip.pose(f).world(&ours), found.clip.pose(f).world(&theirs));
            let (p, q) = (names(&ours, "Hips"), names(&theirs, "Hips"));
            assert!(b.positions_m[q].distance(a.positions_m[p] * found.scale) < 1e-12);
            assert!(b.rotations[q].distance(a.rotations[p]).degrees() < 1e-9);
            if let (Some(p), Some(q)) = (ours.find("Reference"), theirs.find("Reference")) {
                let [p, q] = [p, q].map(JointIndex::get);
                assert!(b.positions_m[q].distance(a.positions_m[p] * found.scale) < 1e-12);
                assert!(b.rotations[q].distance(a.rotations[p]).degrees() < 1e-9);
            } else if theirs.find("Reference").is_some() {
                assert_eq!(
                    found.clip.translation_m(theirs.find("Hips").unwrap(), f),
                    theirs.joints()[q].offset_m
                );
            }
        }
    }
}

#[test]
fn a_world_with_another_axis_up_is_turned_to() {
    let (ours, upright) = (acclaim(Some(1)), mixamo(Some(2)));
    let lifted = Rotation::about_x(Angle::from_degrees(90.0));
    let mut lying = Skeleton::new();
    for j in upright.indices() {
        let mut joint = upright[j].clone();
        match upright.parent(j) {
            Some(p) => lying.add(p, joint).unwrap(),
            None => {
                joint.rest = lifted * joint.rest;
                joint.offset_m = lifted * joint.offset_m;
                lying.add_root(joint).unwrap()
            }
        };
    }
    assert_eq!(Ground::of(&lying), Ground::Z_UP);
    let clip = motion(&ours, 4, 6, 70.0);
    let (a, b) = (plain(&ours, &clip, &upright), plain(&ours, &clip, &lying));
    for f in clip.frames() {
        let (a, b) = (a.clip.pose(f).world(&upright), b.clip.pose(f).world(&lying));
        for (p, q) in a.positions_m.iter().zip(&b.positions_m) {
            assert!((lifted * *p).distance(*q) < 1e-12);
        }
    }
}

/// One who stands and moves the pelvis and the arms about. Feet stay by knees and hips, found by the
/// numerical solver.
fn standing(skeleton: &Skeleton) -> Clip {
    use crate::ik::{Figure, Goal, Settings, Solver};
    use crate::math::trig::{cos, sin};
    let moving = motion(skeleton, 11, 30, 12.0);
    let anatomy = Anatomy::of(skeleton).unwrap();
    let rest = skeleton.joints().iter().map(|j| Track::constant(j.rest, j.offset_m));
    let mut clip = Clip::new(30, moving.rate(), rest.collect()).unwrap();
    let mut figure = Figure::without_limits(skeleton);
    let legs = ["femur", "tibia", "foot"].map(|n| ["l", "r"].map(|s| format!("{s}{n}")));
    let legs = legs.map(|both| both.map(|n| skeleton.find(&n).unwrap()));
    let bends = |j: &JointIndex| legs.iter().flatten().any(|k| k == j);
    skeleton.indices().filter(|j| !bends(j)).for_each(|j| figure.hold(j));
    let mut solver = Solver::new(&figure);
    let (turns, places) = (skeleton.rest_world_rotations(), skeleton.rest_world_positions());
    let goals: Vec<Goal> = legs[2]
        .iter()
        .flat_map(|j| [Goal::position(*j, places[j.get()]), Goal::rotation(*j, turns[j.get()])])
        .collect();
    let near = Angle::from_radians(1e-10);
    let settings = Settings { near_m: 1e-10, near, steps: 200, ..Settings::default() };
    for f in moving.frames() {
        let t = f64::from(f.0) / 10.0;
        let root = skeleton.find("root").unwrap();
        let sway = DVec3::new(0.04 * sin(t), -0.1, 0.03 * cos(t));
        clip.set_translation_m(root, f, skeleton[root].offset_m + sway);
        for name in ["lowerback", "lhumerus", "rhumerus"] {
            let j = skeleton.find(name).unwrap();
            clip.set_rotation(j, f, moving.rotation(j, f));
        }
        for name in ["lradius", "rradius"] {
            let j = skeleton.find(name).unwrap();
            let bent = [50.0 + 10.0 * sin(t), 0.0, 20.0].map(Angle::from_degrees);
            clip.set_rotation(j, f, anatomy.joint(j).unwrap().local_of(bent).unwrap());
        }
        let (start, mut pose) = (clip.pose(f), clip.pose(f));
        assert!(solver.solve(&start, &goals, &settings, &mut pose).reached);
        skeleton.indices().for_each(|j| clip.set_rotation(j, f, pose.rotations[j.get()]));
    }
    clip
}

#[test]
fn feet_that_stand_stay_where_they_are_and_soles_touch_the_ground() {
    let (ours, theirs) = (acclaim(Some(1)), mixamo(Some(2)));
    let clip = standing(&ours);
    let options =
        RetargetOptions { keep_feet: true, keep_hands: true, ..RetargetOptions::default() };
    let found = retarget((&ours, &clip), &theirs, &options).unwrap();
    let without = plain(&ours, &clip, &theirs);
    for ankle in ["LeftFoot", "RightFoot"].map(|n| of_mixamo(&theirs, n)) {
        let kept = found.limbs.iter().find(|l| l.end == ankle).unwrap();
        assert_eq!(kept.reached, kept.frames, "{kept:?}");
        let at = |c: &Clip, f| c.pose(f).world(&theirs);
        let first = at(&found.clip, FrameIndex(0)).positions_m[ankle.get()];
        let mut slid = 0.0_f64;
        for f in clip.frames() {
            let world = at(&found.clip, f);
            assert!(world.positions_m[ankle.get()].distance(first) < 1e-8);
            // The soles of the source are 2 cm above zero, and those of the target 8 cm below its
            // ankles, but for the lean of the foot.
            assert!((first.y - 0.08 - 0.02 * found.scale).abs() < 1e-3, "{first}");
            let plain = at(&without.clip, f);
            slid = slid.max(plain.positions_m[ankle.get()].distance(first));
            let off = plain.rotations[ankle.get()].distance(world.rotations[ankle.get()]);
            assert!(off.degrees() < 1e-9);
        }
        assert!(slid > 0.005, "{slid}");
    }
    // Hands: the way from the one to the other is that of the source, times one number.
    let between = |c: &Clip, s: &Skeleton, names: [&str; 2], f| {
        let world = c.pose(f).world(s);
        let [a, b] = names.map(|n| world.positions_m[s.find(n).unwrap().get()]);
        b - a
    };
    let (mut times, mut apart) = (Vec::new(), 0.0_f64);
    for f in clip.frames() {
        let was = between(&clip, &ours, ["lhand", "rhand"], f);
        let names = ["mixamorig:LeftHand", "mixamorig:RightHand"];
        let is = between(&found.clip, &theirs, names, f);
        times.push(is.length() / was.length());
        assert!(is.normalize().distance(was.normalize()) < 1e-9);
        apart = apart.max(between(&without.clip, &theirs, names, f).distance(is));
    }
    assert!(times.iter().all(|t| (t - times[0]).abs() < 1e-9), "{times:?}");
    assert!(apart > 0.01, "{apart}");
}

#[test]
fn with_a_rig_the_result_is_inside_of_its_limits() {
    let (ours, theirs) = (acclaim(Some(1)), mixamo(Some(2)));
    let clip = motion(&ours, 8, 30, 70.0);
    let anatomy = Anatomy::of(&theirs).unwrap();
    let mut rig = Rig::from_skeleton(&theirs);
    for joint in anatomy.joints() {
        let j = joint.joint().unwrap();
        let frame = anatomy.frame(j).unwrap();
        let axis = frame * DVec3::Z;
        let hinge = |min, max| {
            let arc = Arc::from_degrees(min, max).unwrap();
            RigJoint::new(JointKind::Hinge, Limit::Hinge { axis, arc })
        };
        let entry = match joint.what {
            BodyJoint::Knee => hinge(-140.0, 0.0),
            BodyJoint::Elbow => hinge(0.0, 140.0),
            _ => {
                let axes = SwingAxes::new(frame * DVec3::NEG_Y, Some(frame * DVec3::X)).unwrap();
                let r = Angle::from_degrees(40.0);
                let bounds = TwistBounds::Arc(Arc::from_degrees(-30.0, 30.0).unwrap());
                let twist = TwistLimit { bounds, ..TwistLimit::default() };
                let swing = SwingLimit::Ellipse { rx: r, ry: r };
                let limit = Limit::SwingTwist(SwingTwistLimit { axes, swing, twist });
                RigJoint::new(JointKind::Ball, limit)
            }
        };
        rig.joints.insert(&theirs[j].name, entry);
    }
    let bound = BoundRig::new(&rig, &theirs).unwrap();
    let one = NonZeroUsize::MIN;
    assert!(!bound.check(&plain(&ours, &clip, &theirs).clip, one).ok());
    for keep in [false, true] {
        let options = RetargetOptions {
            rig: Some(&bound),
            keep_feet: keep,
            keep_hands: keep,
            ..RetargetOptions::default()
        };
        let found = retarget((&ours, &clip), &theirs, &options).unwrap();
        assert!(bound.check(&found.clip, one).ok());
        assert!(found.clamped.unwrap().changed());
        assert_eq!(found.limbs.len(), if keep { 4 } else { 0 });
    }
}

#[test]
fn bones_that_become_longer_do_so_on_the_other_too() {
    let (ours, theirs) = (acclaim(Some(1)), mixamo(Some(2)));
    let mut clip = motion(&ours, 2, 4, 40.0);
    let (s, t) = (ours.find("ltibia").unwrap(), of_mixamo(&theirs, "LeftLeg"));
    for f in clip.frames() {
        clip.set_translation_m(s, f, ours[s].offset_m * (1.0 + 0.1 * f64::from(f.0)));
    }
    let found = plain(&ours, &clip, &theirs);
    let thigh = |c: &Clip, f, k: &Skeleton, names: [JointIndex; 2]| {
        let world = c.pose(f).world(k);
        world.positions_m[names[0].get()].distance(world.positions_m[names[1].get()])
    };
    let hips = [ours.find("lfemur").unwrap(), of_mixamo(&theirs, "LeftUpLeg")];
    for f in clip.frames() {
        let by = 0.1 * f64::from(f.0) * ours[s].offset_m.length();
        let is = thigh(&found.clip, f, &theirs, [hips[1], t]);
        let grown = is - theirs[t].offset_m.length();
        // Along the bone to within the knees' being a little in front of it.
        assert!((grown - by * found.scale).abs() < 1e-3, "{grown} {by}");
        assert!(
            (thigh(&clip, f, &ours, [hips[0], s]) - ours[s].offset_m.length() - by).abs() < 1e-12
        );
    }
}

#[test]
fn what_only_one_of_them_has_is_told() {
    let (ours, theirs) = (acclaim(None), with_spine(2, true));
    let clip = motion(&ours, 1, 3, 30.0);
    let found = plain(&ours, &clip, &theirs);
    let only: Vec<_> = found.only_source.iter().map(|(j, _)| ours[*j].name.as_str()).collect();
    for name in ["lclavicle", "rclavicle", "lhand", "lwrist", "ltoes"] {
        assert!(only.contains(&name), "{only:?}");
    }
    assert!(!only.contains(&"lthumb") && !only.contains(&"lfemur"));
    let (forearm, there) = (ours.find("lwrist").unwrap(), plain(&theirs, &found.clip, &ours));
    assert_eq!(there.from[forearm.get()], MotionFrom::Rest);
    let local = there.clip.rotation(forearm, FrameIndex(1));
    assert!(local.distance(ours[forearm].rest).degrees() < 1e-9);
    assert!(there.clip.track(forearm).rotation_times().is_constant());
}

/// CMU's degrees of freedom, as its ASF files declare them.
fn with_few_turns(skeleton: &Skeleton) -> Skeleton {
    use crate::skeleton::{DeclaredDof, Dof};
    skeleton.changed(|joint| {
        let dofs: &[Dof] = match joint.name.trim_start_matches(['l', 'r']) {
            "hipjoint" => &[],
            "tibia" | "toes" | "adius" | "fingers" => &[Dof::Rx],
            "wrist" => &[Dof::Ry],
            "foot" | "hand" | "thumb" => &[Dof::Rx, Dof::Rz],
            "clavicle" => &[Dof::Ry, Dof::Rz],
            _ => &[Dof::Rx, Dof::Ry, Dof::Rz],
        };
        let declared = |dof: &Dof| DeclaredDof { dof: *dof, limit: None };
        joint.declared.dofs = Some(dofs.iter().map(declared).collect());
    })
}

#[test]
fn joints_with_few_degrees_of_freedom_keep_to_them_and_others_make_up_for_it() {
    use crate::motion::turns::Turns;
    let (ours, free) = (mixamo(Some(2)), acclaim(None));
    let theirs = with_few_turns(&free);
    let clip = motion(&ours, 5, 12, 35.0);
    let wanted = plain(&ours, &clip, &free);
    assert!(wanted.fitted.is_none());
    for keep in [false, true] {
        let options =
            RetargetOptions { keep_feet: keep, keep_hands: keep, ..RetargetOptions::default() };
        let found = retarget((&ours, &clip), &theirs, &options).unwrap();
        let mut few = 0;
        let mut worst = 0.0_f64;
        for f in clip.frames() {
            let [is, was] = [&found.clip, &wanted.clip].map(|c| c.pose(f).world(&theirs));
            for j in theirs.indices() {
                if let Some(turns) = Turns::declared(&theirs, j) {
                    let local = found.clip.rotation(j, f);
                    assert!(turns.nearest(local).distance(local).radians() < 1e-12);
                    few += 1;
                }
                let off = is.rotations[j.get()].distance(was.rotations[j.get()]).degrees();
                let name = theirs[j].name.as_str();
                if found.from[j.get()] != MotionFrom::Rest {
                    worst = worst.max(off);
                }
                // Three axes between forearm and hand reach every rotation.
                if !keep && matches!(name, "lhand" | "rhand" | "lfemur" | "head" | "lhumerus") {
                    assert!(off < 1e-6, "{name}: {off}");
                }
            }
        }
        assert!(few > 100);
        let fitted = found.fitted.unwrap();
        assert!(keep || (fitted.by.degrees() - worst).abs() < 1e-9, "{fitted:?} {worst}");
        assert!(fitted.joints > 4 && worst > 1.0);
        // Knees bend about their own axes, so feet are where they should be.
        assert!(found.limbs.iter().filter(|l| l.what == BodyJoint::Ankle).all(|l| l.reached > 0));
    }
}

#[test]
fn what_the_tables_of_names_call_differently_is_found_by_its_name_or_place() {
    let (ours, theirs) = (Figure::human().skeleton().clone(), mixamo(None));
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let clip = motion(ours, 1, 5, 30.0);
        let find = |s: &Skeleton, name: &str| {
            s.find(name).or_else(|| s.find(&format!("mixamorig:{name}"))).unwrap()
        };
        let options = RetargetOptions { keep_hands: true, ..RetargetOptions::default() };
        let found = retarget((ours, &clip), theirs, &options).unwrap();
        for name in ["LeftHand", "RightHand"] {
            let (s, t) = (find(ours, name), find(theirs, name));
            assert_eq!(found.from[t.get()], MotionFrom::Joint(s), "{name}");
            assert!(found.only_source.iter().all(|(j, _)| *j != s));
        }
        assert_eq!((found.limbs.len(), found.not_kept.len()), (2, 0));
        assert!(found.limbs.iter().all(|l| l.what == BodyJoint::Wrist && l.reached > 0));
        // The hand points where it did: by the joints below it, which are named differently.
        let below = |s: &Skeleton, j: JointIndex| s.children(j).next().unwrap();
        let along = |s: &Skeleton, clip: &Clip| {
            let world = clip.pose(FrameIndex(3)).world(s);
            let hand = find(s, "LeftHand");
            let [a, b] = [hand, below(s, hand)].map(|j| world.positions_m[j.get()]);
            (b - a).normalize()
        };
        let off = angle_between(along(ours, &clip), along(theirs, &found.clip)).degrees();
        // Both at rest in line with the forearm, to within some degrees.
        assert!(off < 15.0, "{off}");
    }
    // Without hands nothing can be kept, and that is said.
    let mut armless = Skeleton::new();
    for j in theirs.indices().filter(|j| !theirs[*j].name.contains("Hand")) {
        let joint = theirs[j].clone();
        match theirs.parent(j) {
            Some(p) => armless.add(armless.find(&theirs[p].name).unwrap(), joint).unwrap(),
            None => armless.add_root(joint).unwrap(),
        };
    }
    let clip = motion(&theirs, 1, 2, 30.0);
    let options = RetargetOptions { keep_hands: true, ..RetargetOptions::default() };
    let found = retarget((&theirs, &clip), &armless, &options).unwrap();
    let sides = [BodySide::Left, BodySide::Right].map(|side| (BodyJoint::Wrist, side));
    assert_eq!(found.not_kept, sides);
    let hand = of_mixamo(&theirs, "LeftHand");
    assert!(found.only_source.contains(&(hand, false)), "{:?}", found.only_source);
}

#[test]
fn what_cannot_be_retargeted_is_said_in_a_sentence() {
    let (ours, stranger) = (acclaim(None), Figure::random(9, 1).unwrap());
    let clip = motion(&ours, 1, 2, 10.0);
    let options = RetargetOptions::default();
    let error = retarget((&ours, &clip), stranger.skeleton(), &options).unwrap_err();
    assert_eq!(error, RetargetError::NoNames(End::Target));
    assert!(error.to_string().contains("target's joints"), "{error}");
    let error = Retarget::new(stranger.skeleton(), &ours).unwrap_err();
    assert_eq!(error, RetargetError::NoNames(End::Source));
    for by in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = RetargetOptions { scale: Scale::By(by), ..options };
        assert_eq!(retarget((&ours, &clip), &ours, &options).unwrap_err(), RetargetError::Scale);
    }
    let none =
        Clip::new(0, clip.rate(), vec![Track::constant(Rotation::IDENTITY, DVec3::X); ours.len()]);
    let error = retarget((&ours, &none.unwrap()), &ours, &options).unwrap_err();
    assert_eq!(error, RetargetError::Clip(ClipError::NoFrames));
    let other = mixamo(None);
    let error = retarget((&other, &clip), &ours, &options).unwrap_err();
    assert!(matches!(error, RetargetError::Clip(ClipError::JointCount { .. })));
}
