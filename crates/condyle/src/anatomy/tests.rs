//! Angles by the definitions of the ISB, with cross products of axes in the world.

use glam::DVec3;

use super::*;
use crate::limits::{Limit, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit};
use crate::math::{Angle, Arc, SwingAxes, trig, unit};
use crate::rig::{LeftOut, RigJoint};
use crate::skeleton::{EndSite, Joint};
use crate::synth::Rng;

const FORWARD: DVec3 = DVec3::Z;
const UP: DVec3 = DVec3::Y;
const RIGHT: DVec3 = DVec3::NEG_X;

/// Y up, facing z. Legs are spread by 20 degrees, arms raised to the side by `arms` degrees; every
/// joint has a local space of its own, turned at random.
fn person(arms: f64, rng: &mut Rng) -> Skeleton {
    let out = |side: f64, degrees: f64| {
        let (sin, cos) = trig::sin_cos(Angle::from_degrees(degrees).radians());
        RIGHT * (side * sin) - UP * cos
    };
    let mut joints: Vec<(String, Option<&str>, DVec3)> = vec![
        ("Hips".into(), None, UP),
        ("Spine".into(), Some("Hips"), UP * 0.1),
        ("Spine1".into(), Some("Spine"), UP * 0.2),
        ("Neck".into(), Some("Spine1"), UP * 0.2),
        ("Head".into(), Some("Neck"), UP * 0.1),
    ];
    for (side, sign) in [("Left", -1.0), ("Right", 1.0)] {
        let parents = ["UpLeg", "Leg", "Foot", "Shoulder", "Arm", "ForeArm"];
        let [thigh, shank, foot, clavicle, arm, forearm] =
            parents.map(|p| -> &str { Box::leak(format!("{side}{p}").into_boxed_str()) });
        let at = RIGHT * (0.1 * sign);
        joints.extend([
            // A bone without a name, as in the CMU files.
            (format!("{side}Socket"), Some("Hips"), DVec3::ZERO),
            (
                thigh.into(),
                Some(Box::leak(format!("{side}Socket").into_boxed_str())),
                at - UP * 0.1,
            ),
            (shank.into(), Some(thigh), out(sign, 20.0) * 0.4),
            (foot.into(), Some(shank), out(sign, 20.0) * 0.4),
            (format!("{side}ToeBase"), Some(foot), out(sign, 20.0) * 0.05 + FORWARD * 0.15),
            (clavicle.into(), Some("Spine1"), UP * 0.15),
            (arm.into(), Some(clavicle), RIGHT * (0.15 * sign)),
            (forearm.into(), Some(arm), out(sign, arms) * 0.3),
            (format!("{side}Hand"), Some(forearm), out(sign, arms) * 0.25),
        ]);
    }
    let mut skeleton = Skeleton::new();
    let mut world: Vec<Rotation> = Vec::new();
    for (name, parent, offset) in joints {
        let parent = parent.map(|p| skeleton.find(p).unwrap());
        let mine = any_rotation(rng);
        let above = parent.map_or(Rotation::IDENTITY, |p| world[p.get()]);
        let mut joint = Joint::new(name, above.inverse() * offset);
        joint.rest = above.inverse() * mine;
        joint.end_sites = vec![EndSite { name: None, offset_m: DVec3::X * 0.1 }];
        world.push(mine);
        match parent {
            Some(p) => skeleton.add(p, joint).unwrap(),
            None => skeleton.add_root(joint).unwrap(),
        };
    }
    skeleton
}

/// The same places with local spaces along the world's, so that mirroring is easy.
fn in_world_axes(skeleton: &Skeleton) -> Skeleton {
    let places = skeleton.rest_world_positions();
    let mut other = Skeleton::new();
    for j in skeleton.indices() {
        let parent = skeleton.parent(j);
        let from = parent.map_or(DVec3::ZERO, |p| places[p.get()]);
        let joint = Joint::new(skeleton[j].name.clone(), places[j.get()] - from);
        match parent {
            Some(p) => other.add(p, joint).unwrap(),
            None => other.add_root(joint).unwrap(),
        };
    }
    other
}

fn any_rotation(rng: &mut Rng) -> Rotation {
    let angle = Angle::from_radians(rng.between(0.0, 3.0));
    Rotation::from_axis_angle(rng.direction(), angle).unwrap()
}

/// X, Y, Z of a segment at rest: all lie in the frontal plane, so X is forward.
fn at_rest(proximal: DVec3) -> [DVec3; 3] {
    let y = unit(proximal).unwrap();
    [FORWARD, y, FORWARD.cross(y)]
}

fn turned(axes: [DVec3; 3], by: Rotation) -> [DVec3; 3] {
    axes.map(|a| by * a)
}

/// Wu et al. 2002: e1 is Z of the proximal segment, e3 is Y of the distal one, e2 floats.
fn grood_suntay([px, py, pz]: [DVec3; 3], [dx, dy, dz]: [DVec3; 3]) -> [f64; 3] {
    let floating = unit(dy.cross(pz)).unwrap();
    [
        trig::atan2(floating.dot(py), floating.dot(px)),
        // The sine is dy · pz; with the cosine the digits do not get lost at 90 degrees.
        trig::atan2(dy.dot(pz), dy.cross(pz).length()),
        trig::atan2(floating.dot(dz), floating.dot(dx)),
    ]
}

/// Wu et al. 2005, thorax to humerus, on the right: plane of elevation, elevation, axial rotation.
fn thorax_humerus([px, py, pz]: [DVec3; 3], [dx, dy, dz]: [DVec3; 3]) -> [f64; 3] {
    let floating = unit(dy.cross(py)).unwrap();
    [
        trig::atan2(-floating.dot(pz), floating.dot(px)),
        trig::atan2(dy.cross(py).length(), dy.dot(py)),
        trig::atan2(floating.dot(dz), floating.dot(dx)),
    ]
}

/// The image in the mirror x, y of the frame: a left limb as a right one.
fn mirrored(axes: [DVec3; 3]) -> [DVec3; 3] {
    let [x, y, z] = axes.map(|a| a - RIGHT * (2.0 * a.dot(RIGHT)));
    [x, y, -z]
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 || (a - b).abs() > std::f64::consts::TAU - 1e-9
}

struct Case {
    bone: &'static str,
    above: &'static str,
    /// Of the ISB's angles of a right joint, for the clinical ones.
    signs: [f64; 3],
}

const CASES: [Case; 8] = [
    Case { bone: "UpLeg", above: "Hips", signs: [1.0, -1.0, -1.0] },
    Case { bone: "Leg", above: "UpLeg", signs: [-1.0, -1.0, -1.0] },
    Case { bone: "Foot", above: "Leg", signs: [1.0, 1.0, -1.0] },
    Case { bone: "ForeArm", above: "Arm", signs: [1.0, -1.0, 1.0] },
    Case { bone: "Spine", above: "Hips", signs: [-1.0, 1.0, 1.0] },
    Case { bone: "Spine1", above: "Spine", signs: [-1.0, 1.0, 1.0] },
    Case { bone: "Neck", above: "Spine1", signs: [-1.0, 1.0, 1.0] },
    Case { bone: "Head", above: "Neck", signs: [-1.0, 1.0, 1.0] },
];

#[test]
fn angles_are_those_of_the_isb_definitions_to_1e_9() {
    let mut rng = Rng::new(11);
    let mut checked = 0;
    for arms in [0.0, 45.0, 90.0, 120.0] {
        let skeleton = person(arms, &mut rng);
        let anatomy = Anatomy::of(&skeleton).unwrap();
        let rest = skeleton.rest_world_rotations();
        let places = skeleton.rest_world_positions();
        for round in 0..200 {
            // Now small angles, now all.
            let most = [0.5, 3.0][round % 2];
            let mut local: Vec<Rotation> = skeleton.joints().iter().map(|j| j.rest).collect();
            for j in skeleton.indices() {
                if !skeleton[j].name.ends_with("Socket") {
                    let turn = Rotation::exp(rng.direction() * rng.between(0.0, most)).unwrap();
                    local[j.get()] = local[j.get()] * turn;
                }
            }
            let mut world: Vec<Rotation> = Vec::new();
            for j in skeleton.indices() {
                let above = skeleton.parent(j).map_or(Rotation::IDENTITY, |p| world[p.get()]);
                world.push(above * local[j.get()]);
            }
            let moved = |j: JointIndex| world[j.get()] * rest[j.get()].inverse();
            let axes = |j: JointIndex| {
                let name = &skeleton[j].name;
                let toward = |child: &str| {
                    let child = skeleton.find(&name.replace("Fore", "").replace("Arm", child));
                    places[j.get()] - places[child.unwrap().get()]
                };
                let leg = |child: &str| {
                    let bare = name.replace("UpLeg", "").replace("Leg", "").replace("Foot", "");
                    places[j.get()]
                        - places[skeleton.find(&format!("{bare}{child}")).unwrap().get()]
                };
                let proximal = match name.trim_start_matches("Left").trim_start_matches("Right") {
                    "UpLeg" => leg("Leg"),
                    "Leg" => leg("Foot"),
                    // The sole is at a right angle to the shank.
                    "Foot" => {
                        let shank = skeleton.parent(j).unwrap();
                        places[shank.get()] - places[j.get()]
                    }
                    "Arm" => toward("ForeArm"),
                    "ForeArm" => toward("Hand"),
                    _ => UP,
                };
                turned(at_rest(proximal), moved(j))
            };
            for case in &CASES {
                let sides: &[&str] = match case.bone {
                    "Spine" | "Spine1" | "Neck" | "Head" => &[""],
                    _ => &["Left", "Right"],
                };
                for side in sides {
                    let j = skeleton.find(&format!("{side}{}", case.bone)).unwrap();
                    let above = skeleton
                        .find(&format!("{side}{}", case.above))
                        .or_else(|| skeleton.find(case.above))
                        .unwrap();
                    let (mut proximal, mut distal) = (axes(above), axes(j));
                    if *side == "Left" {
                        (proximal, distal) = (mirrored(proximal), mirrored(distal));
                    }
                    let expected = grood_suntay(proximal, distal);
                    let joint = anatomy.joint(j).unwrap();
                    let isb = joint.isb(local[j.get()]);
                    let clinical = joint.angles(local[j.get()]);
                    for k in 0..3 {
                        let what = format!("{side}{} {k} arms {arms}", case.bone);
                        assert!(
                            close(isb[k].radians(), expected[k]),
                            "{what}: {isb:?} {expected:?}"
                        );
                        let signed = case.signs[k] * expected[k];
                        assert!(close(clinical[k].radians(), signed), "{what}: {clinical:?}");
                    }
                    let along = joint.angles_along(|j| local[j.get()]);
                    assert!(
                        along.iter().zip(clinical).all(|(a, b)| close(a.radians(), b.radians()))
                    );
                    checked += 1;
                }
            }
            for side in ["Left", "Right"] {
                let find = |name: &str| skeleton.find(&format!("{side}{name}")).unwrap();
                let (arm, clavicle) = (find("Arm"), find("Shoulder"));
                let whole = anatomy
                    .wholes()
                    .iter()
                    .find(|w| w.what == BodyJoint::Shoulder && w.joint() == Some(arm))
                    .unwrap();
                assert_eq!(whole.chain, [clavicle, arm]);
                let spine = skeleton.find("Spine1").unwrap();
                for (above, joint, clinical) in [
                    (clavicle, anatomy.joint(arm).unwrap(), None),
                    (spine, whole, Some(whole.angles_along(|j| local[j.get()]))),
                ] {
                    let (mut proximal, mut distal) = (axes(above), axes(arm));
                    if side == "Left" {
                        (proximal, distal) = (mirrored(proximal), mirrored(distal));
                    }
                    let [plane, elevation, axial] = thorax_humerus(proximal, distal);
                    if clinical.is_none() {
                        let isb = joint.isb(local[arm.get()]).map(Angle::radians);
                        let same = isb.iter().zip([plane, elevation, axial]);
                        assert!(same.into_iter().all(|(a, b)| close(*a, b)), "{side} {isb:?}");
                    }
                    let clinical = clinical.unwrap_or_else(|| joint.angles(local[arm.get()]));
                    let [flexion, abduction, rotation] = clinical.map(Angle::radians);
                    let (sin, cos) = trig::sin_cos(plane);
                    assert!(close(flexion, elevation * sin) && close(abduction, elevation * cos));
                    // Nearly straight up, the twist of the direct swing has no digits to compare.
                    if elevation < 3.1 {
                        let external = Angle::from_radians(-plane - axial).wrapped().radians();
                        assert!(close(rotation, external), "{side} {rotation} {external}");
                    }
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 4 * 200 * 16);
}

#[test]
fn the_rest_pose_has_the_angles_it_is_drawn_with() {
    let mut rng = Rng::new(5);
    for arms in [0.0, 45.0, 90.0] {
        let skeleton = person(arms, &mut rng);
        let anatomy = Anatomy::of(&skeleton).unwrap();
        for side in ["Left", "Right"] {
            let degrees = |name: &str| {
                let j = skeleton.find(&format!("{side}{name}")).unwrap();
                anatomy.joint(j).unwrap().angles(skeleton[j].rest).map(Angle::degrees)
            };
            for (name, expected) in [
                ("UpLeg", [0.0, 20.0, 0.0]),
                ("Leg", [0.0; 3]),
                ("Foot", [0.0; 3]),
                ("Arm", [0.0, arms, 0.0]),
                ("ForeArm", [0.0; 3]),
                ("Hand", [0.0; 3]),
            ] {
                let found = degrees(name);
                let same = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6);
                assert!(same, "{side}{name}: {found:?}");
            }
        }
    }
}

#[test]
fn mirrored_poses_have_the_same_clinical_angles_left_and_right() {
    let mut rng = Rng::new(3);
    let skeleton = in_world_axes(&person(90.0, &mut rng));
    let anatomy = Anatomy::of(&skeleton).unwrap();
    let mut compared = 0;
    for right in anatomy.joints().filter(|j| j.side == BodySide::Right) {
        let name = &skeleton[right.joint().unwrap()].name;
        let left = skeleton.find(&name.replace("Right", "Left")).unwrap();
        let left = anatomy.joint(left).unwrap();
        assert_eq!((left.what, left.side), (right.what, BodySide::Left));
        for _ in 0..100 {
            let local = any_rotation(&mut rng);
            // Across the plane with normal x.
            let [w, x, y, z] = local.to_wxyz();
            let image = Rotation::from_wxyz([w, x, -y, -z]).unwrap();
            let (a, b) = (right.angles(local), left.angles(image));
            let same = a.iter().zip(b).all(|(a, b)| close(a.radians(), b.radians()));
            assert!(same, "{name}: {a:?} {b:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 8 * 100);
}

#[test]
fn local_rotations_come_back_from_their_angles() {
    let mut rng = Rng::new(4);
    let skeleton = person(60.0, &mut rng);
    let anatomy = Anatomy::of(&skeleton).unwrap();
    for joint in anatomy.joints() {
        for _ in 0..200 {
            let local = any_rotation(&mut rng);
            let back = joint.local_of(joint.angles(local)).unwrap();
            assert!(back.distance(local).radians() < 1e-12, "{:?}", joint.what);
        }
        let nan = Angle::from_radians(f64::NAN);
        assert!(joint.local_of([Angle::ZERO, nan, Angle::ZERO]).is_none());
    }
}

#[test]
fn the_wrist_bends_towards_the_palm_and_the_little_finger() {
    let mut rng = Rng::new(6);
    let skeleton = person(0.0, &mut rng);
    let anatomy = Anatomy::of(&skeleton).unwrap();
    let rest = skeleton.rest_world_rotations();
    // Thumbs are forward: palms face the body, little fingers are behind.
    for (side, out) in [("Left", -RIGHT), ("Right", RIGHT)] {
        let hand = skeleton.find(&format!("{side}Hand")).unwrap();
        let forearm = skeleton.parent(hand).unwrap();
        let joint = anatomy.joint(hand).unwrap();
        let fingers = |angles: [f64; 3]| {
            let local = joint.local_of(angles.map(Angle::from_degrees)).unwrap();
            let now = rest[forearm.get()] * local;
            now * (rest[hand.get()].inverse() * -UP)
        };
        assert!((fingers([90.0, 0.0, 0.0]) + out).length() < 1e-6, "flexion");
        let ulnar = fingers([0.0, 30.0, 0.0]);
        assert!((ulnar.dot(FORWARD) + 0.5).abs() < 1e-6, "ulnar deviation: {ulnar}");
    }
}

#[test]
fn a_pose_other_than_rest_gives_the_frames_of_that_pose() {
    let mut rng = Rng::new(8);
    let skeleton = person(90.0, &mut rng);
    let names = Anatomy::of(&skeleton).unwrap();
    // The same places with all rest rotations mixed up: no pose to read anything off.
    let mixed: Vec<Rotation> = skeleton.joints().iter().map(|j| j.rest).collect();
    let strange = skeleton.with_rests(|_| any_rotation(&mut Rng::new(1)));
    let anatomy = Anatomy::at(&strange, &mixed).unwrap();
    for (a, b) in names.joints().zip(anatomy.joints()) {
        assert_eq!((a.what, a.side, &a.chain), (b.what, b.side, &b.chain));
        for _ in 0..20 {
            let local = any_rotation(&mut rng);
            let same = a.rotation(local).distance(b.rotation(local)).degrees();
            assert!(same < 1e-6, "{:?}: {same}", a.what);
        }
    }
    assert!(Anatomy::at(&skeleton, &mixed[1..]).is_none());
}

#[test]
fn a_spine_of_several_joints_is_compared_as_a_whole() {
    let mut rng = Rng::new(9);
    let skeleton = person(90.0, &mut rng);
    let anatomy = Anatomy::of(&skeleton).unwrap();
    let find = |name| skeleton.find(name).unwrap();
    let published = |name| anatomy.joint(find(name)).unwrap().published();
    assert!(published("Neck").iter().all(Option::is_none), "one of two");
    assert!(published("Spine").iter().all(Option::is_some), "the only lumbar one");
    let wholes: Vec<_> = anatomy.wholes().iter().map(|w| (w.what, w.side, w.chain.len())).collect();
    assert_eq!(
        wholes,
        [
            (BodyJoint::Back, BodySide::Middle, 2),
            (BodyJoint::Neck, BodySide::Middle, 2),
            (BodyJoint::Shoulder, BodySide::Left, 2),
            (BodyJoint::Shoulder, BodySide::Right, 2),
        ]
    );
    assert!(anatomy.wholes().iter().all(|w| w.published().iter().all(Option::is_some)));
}

#[test]
fn unknown_names_and_empty_skeletons_have_no_anatomy() {
    assert!(Anatomy::of(&Skeleton::new()).is_none());
    let mut skeleton = Skeleton::new();
    let mut at = skeleton.add_root(Joint::new("Hips", DVec3::ZERO)).unwrap();
    for i in 0..20 {
        at = skeleton.add(at, Joint::new(format!("j{i}"), DVec3::Y)).unwrap();
    }
    assert!(Anatomy::of(&skeleton).is_none());
    // Names without a shape: no frames, and no panic.
    let mut flat = Skeleton::new();
    let root = flat.add_root(Joint::new("Hips", DVec3::ZERO)).unwrap();
    for name in ["LeftUpLeg", "RightUpLeg", "LeftArm", "RightArm", "Spine", "Head", "LeftShoulder"]
    {
        flat.add(root, Joint::new(name, DVec3::ZERO)).unwrap();
    }
    let anatomy = Anatomy::of(&flat).unwrap();
    assert_eq!(anatomy.joints().count(), 0);
    assert_eq!(anatomy.name(root), Some((BodyJoint::Pelvis, BodySide::Middle)));
}

/// An entry with a limit of its own kind for every draw.
fn some_entry(kind: usize, rng: &mut Rng) -> RigJoint {
    let arc = |min, max| Arc::from_degrees(min, max).unwrap();
    let limit = match kind {
        0 => Limit::Hinge { axis: rng.direction(), arc: arc(-20.0, 90.0) },
        1 => Limit::Universal {
            axes: [DVec3::X, unit(DVec3::new(0.1, 1.0, 0.3)).unwrap()],
            arcs: [arc(-30.0, 50.0), arc(-10.0, 70.0)],
        },
        _ => {
            let bone = rng.direction();
            let axes = SwingAxes::new(bone, None).unwrap();
            let swing = SwingLimit::Ellipse {
                rx: Angle::from_degrees(70.0),
                ry: Angle::from_degrees(40.0),
            };
            let bounds = TwistBounds::Arc(arc(-20.0, 60.0));
            let twist = TwistLimit { bounds, ..TwistLimit::default() };
            Limit::SwingTwist(SwingTwistLimit { axes, swing, twist })
        }
    };
    RigJoint { limit, center: any_rotation(rng), ..RigJoint::default() }
}

#[test]
fn mirrored_entries_allow_the_mirrored_rotations() {
    let mut rng = Rng::new(31);
    let mut inside = 0;
    // Local spaces of their own, and (second) those of the world, which are mirror images.
    for world in [false, true] {
        let mut skeleton = person(90.0, &mut rng);
        if world {
            skeleton = in_world_axes(&skeleton);
        }
        let anatomy = Anatomy::of(&skeleton).unwrap();
        for (name, kind) in [("RightLeg", 0), ("RightHand", 1), ("RightArm", 2), ("LeftUpLeg", 2)] {
            let j = skeleton.find(name).unwrap();
            let here = anatomy.joint(j).unwrap();
            let there = anatomy.counterpart(j).unwrap();
            let k = there.joint().unwrap();
            for _ in 0..10 {
                let start = any_rotation(&mut rng);
                let entry = RigJoint { start: Some(start), ..some_entry(kind, &mut rng) };
                let image = anatomy.mirrored(&skeleton, j, &entry).unwrap().unwrap();
                let (a, b) = (entry.limit.prepare().unwrap(), image.limit.prepare().unwrap());
                assert!((a.volume() - b.volume()).abs() < 1e-9);
                let apart = here.rotation(start).distance(there.rotation(image.start.unwrap()));
                assert!(apart.radians() < 1e-9, "{name}: {apart:?}");
                for _ in 0..50 {
                    let m = a.project(any_rotation(&mut rng));
                    let m = if rng.below(2) == 0 { m } else { any_rotation(&mut rng) };
                    let local = skeleton[j].rest * entry.center * m;
                    let other = there.local_from(here, local);
                    let apart = here.rotation(local).distance(there.rotation(other));
                    assert!(apart.radians() < 1e-9, "{name}: {apart:?}");
                    let n = (skeleton[k].rest * image.center).inverse() * other;
                    let (x, y) = (a.distance(m).radians(), b.distance(n).radians());
                    assert!((x - y).abs() < 1e-7, "{name}: {x} {y}");
                    inside += usize::from(a.contains(m));
                }
                // And back: the image of the image is itself.
                let same = anatomy.asymmetry(&skeleton, (j, &entry), &image).unwrap().unwrap();
                assert!(same.left_beyond.radians() < 1e-6, "{name}: {same:?}");
                assert!(same.right_beyond.radians() < 1e-6, "{name}: {same:?}");
            }
        }
    }
    assert!(inside > 1000, "{inside}");
}

#[test]
fn an_elbow_that_bends_farther_on_the_left_is_told() {
    let mut rng = Rng::new(32);
    let skeleton = person(90.0, &mut rng);
    let anatomy = Anatomy::of(&skeleton).unwrap();
    let (l, r) = (skeleton.find("LeftForeArm").unwrap(), skeleton.find("RightForeArm").unwrap());
    let hinge = |j: JointIndex, max: f64| {
        let joint = anatomy.joint(j).unwrap();
        let arc = Arc::from_degrees(0.0, max).unwrap();
        // Flexion is about z of the distal frame; m acts in the joint's local space.
        RigJoint {
            limit: Limit::Hinge { axis: joint.distal * DVec3::Z, arc },
            ..RigJoint::default()
        }
    };
    let found = anatomy.asymmetry(&skeleton, (l, &hinge(l, 150.0)), &hinge(r, 135.0));
    let found = found.unwrap().unwrap();
    assert!((found.left_beyond.degrees() - 15.0).abs() < 0.1, "{found:?}");
    assert!(found.right_beyond.degrees() < 1e-6, "{found:?}");
    assert!(anatomy.counterpart(skeleton.find("Neck").unwrap()).is_none());
}

#[test]
fn images_are_those_of_the_other_side_and_what_is_in_the_middle_bends_to_it() {
    let mut rng = Rng::new(33);
    let skeleton = person(70.0, &mut rng);
    let anatomy = Anatomy::of(&skeleton).unwrap();
    let mut middle = 0;
    for (to, from) in anatomy.images() {
        for _ in 0..20 {
            let local = any_rotation(&mut rng);
            let image = to.image_of(from, local);
            let back = from.image_of(to, image);
            assert!(back.distance(local).radians() < 1e-9);
            let [[a, b, c], [x, y, z]] =
                [from.angles(local), to.angles(image)].map(|angles| angles.map(Angle::radians));
            if to.side == BodySide::Middle {
                // Flexion stays, bending and turning change their sides.
                assert!((a - x).abs() < 1e-9 && (b + y).abs() < 1e-9 && (c + z).abs() < 1e-9);
                middle += 1;
            } else {
                assert!(image.distance(to.local_from(from, local)).radians() < 1e-9);
                assert!((a - x).abs() < 1e-9 && (b - y).abs() < 1e-9 && (c - z).abs() < 1e-9);
            }
        }
    }
    // Two of the spine, neck and head.
    assert_eq!(middle, 80);
    assert_eq!(anatomy.images().count(), anatomy.joints().count());
}

/// A left elbow that rests bent by 30 degrees, beside a right one that does not.
#[test]
fn symmetrised_entries_say_what_is_true_of_their_own_rest() {
    let mut rng = Rng::new(34);
    let straight = person(90.0, &mut rng);
    let bone = straight.bone_axis(straight.find("LeftForeArm").unwrap()).unwrap();
    let turn = Rotation::from_axis_angle(rng.perpendicular(bone), Angle::from_degrees(30.0));
    let bent = |joint: &Joint| match joint.name.as_str() {
        "LeftForeArm" => joint.rest * turn.unwrap(),
        _ => joint.rest,
    };
    let skeleton = straight.with_rests(bent);
    let anatomy = Anatomy::of(&skeleton).unwrap();
    let (l, r) = (skeleton.find("LeftForeArm").unwrap(), skeleton.find("RightForeArm").unwrap());
    let (left, right) = (anatomy.joint(l).unwrap(), anatomy.joint(r).unwrap());
    let off = left.rotation(skeleton[l].rest).distance(right.rotation(skeleton[r].rest));
    assert!((off.degrees() - 30.0).abs() < 1e-6, "{off:?}");
    // Ten degrees around where the left one rests.
    let arc = Arc::from_degrees(-10.0, 10.0).unwrap();
    let limit = Limit::Universal { axes: [DVec3::X, DVec3::Y], arcs: [arc, arc] };
    let of = |take: &str| LeftOut { take: take.parse().unwrap(), frames: vec![7] };
    let entry = RigJoint {
        kind: crate::rig::JointKind::Universal,
        limit,
        rest_inside: Some(true),
        rest_excess: Some(Angle::ZERO),
        left_out: vec![of("1")],
        ..RigJoint::default()
    };
    let right_entry = RigJoint { left_out: vec![of("2")], ..RigJoint::default() };
    let both = [("LeftForeArm", entry), ("RightForeArm", right_entry)];
    let mut joints: crate::rig::RigJoints = both.into_iter().collect();
    anatomy.symmetrise(&skeleton, &mut joints);
    let image = joints.get("RightForeArm").unwrap();
    assert_eq!(image.rest_inside, Some(false));
    let excess = image.rest_excess.unwrap().degrees();
    assert!((15.0..30.0).contains(&excess), "{excess}");
    let prepared = image.limit.prepare().unwrap();
    let start = image.start.unwrap();
    let m = (skeleton[r].rest * image.center).inverse() * start;
    assert!(prepared.distance(m).radians() > -1e-9);
    // The frames that were left out are those of the right joint.
    assert_eq!(image.left_out, [of("2")]);
}

#[test]
fn explored_ranges_are_those_of_the_frames_that_count() {
    let human = crate::synth::Figure::human();
    let options = crate::synth::Options { frames: 300, ..Default::default() };
    let synth = crate::synth::Synth::generate(&human, &options, 3).unwrap();
    let skeleton = &synth.skeleton;
    let anatomy = Anatomy::of(skeleton).unwrap();
    let knee = skeleton.find("LeftLeg").unwrap();
    let joint = anatomy.joint(knee).unwrap();
    let flexion: Vec<f64> = synth
        .clip
        .frames()
        .map(|frame| joint.angles(synth.clip.rotation(knee, frame))[0].degrees())
        .collect();
    let ends = |angles: &[f64]| {
        let of = |f: fn(f64, f64) -> f64| angles.iter().copied().reduce(f).unwrap();
        [of(f64::min), of(f64::max)]
    };
    let one = std::num::NonZeroUsize::MIN;
    let mut rig = crate::rig::RigJoints::new();
    let of_knee = |rig: &crate::rig::RigJoints| {
        let all = anatomy.explored(skeleton, &[(skeleton, &synth.clip)], rig, one);
        let found = all.iter().find(|e| e.joint.joint() == Some(knee)).unwrap();
        found.angles[0].clone()
    };
    let all = of_knee(&rig);
    assert_eq!(all.seen.unwrap().map(Angle::degrees), ends(&flexion));
    assert!(all.moves && all.counted == 1.0 && all.note().is_none());
    let (range, coverage) = all.published.unwrap();
    assert_eq!((range.low.degrees().round(), range.high.degrees().round()), (0.0, 140.0));
    let [lowest, highest] = all.seen.unwrap();
    assert_eq!(coverage, range.coverage(lowest, highest));
    // Without the frames that an estimate left out.
    let worst = flexion.iter().position(|a| *a == ends(&flexion)[1]).unwrap();
    let take = synth.clip.content_hash();
    let left_out = vec![LeftOut { take, frames: vec![u32::try_from(worst).unwrap()] }];
    rig = [("LeftLeg", RigJoint { left_out, ..RigJoint::default() })].into_iter().collect();
    let mut others = flexion.clone();
    others.remove(worst);
    assert_eq!(of_knee(&rig).seen.unwrap()[1].degrees(), ends(&others)[1]);
    // Shoulders with their clavicles, and every joint once.
    let names: Vec<_> = anatomy.measured().map(|j| (j.what, j.side)).collect();
    let mut once = names.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), names.len());
    assert!(anatomy.measured().any(|j| j.what == BodyJoint::Shoulder && j.chain.len() > 1));
}

/// By differences: a turn of the segment by one ten-thousandth about any axis changes an angle by so
/// many times as much, at most.
#[test]
fn angles_are_nearly_singular_where_an_error_grows_threefold() {
    let mut rng = Rng::new(41);
    let skeleton = person(45.0, &mut rng);
    let anatomy = Anatomy::of(&skeleton).unwrap();
    for (name, far) in [("RightUpLeg", 70.5), ("LeftArm", 143.1)] {
        let joint = anatomy.joint(skeleton.find(name).unwrap()).unwrap();
        let growth = |angles: [Angle; 3]| {
            let local = joint.local_of(angles).unwrap();
            let mut most = 0.0_f64;
            for _ in 0..400 {
                let turn = Rotation::exp(rng.direction() * 1e-4).unwrap();
                let moved = joint.angles(local * turn);
                // Of the sequence the first; of the shoulder the twist, by its swing alone.
                let change = match joint.what {
                    BodyJoint::Shoulder => {
                        let spin = turn.log().dot(joint.distal * DVec3::NEG_Y);
                        let by = moved[2].radians() - angles[2].radians();
                        (by - spin).abs().min((by + spin).abs())
                    }
                    _ => (moved[0].radians() - angles[0].radians()).abs(),
                };
                most = most.max(change / 1e-4);
            }
            most
        };
        let mut growth = growth;
        for off in [-1.0, 1.0] {
            let angles = match joint.what {
                // Halfway between the planes of flexion and abduction.
                BodyJoint::Shoulder => [(far + off) * 0.6, (far + off) * 0.8, 20.0],
                _ => [10.0, far + off, 20.0],
            };
            let angles = angles.map(Angle::from_degrees);
            assert_eq!(joint.is_nearly_singular(angles), off > 0.0, "{name}");
            let by = growth(angles);
            // One degree off changes the factor by less than a tenth; 400 axes miss the worst by 1 %.
            assert!((2.8..3.25).contains(&by) && (by > 3.0) == (off > 0.0), "{name} {off}: {by}");
        }
    }
}

#[test]
fn ranges_leave_out_what_is_nearly_singular_and_say_so() {
    let mut rng = Rng::new(42);
    let skeleton = person(45.0, &mut rng);
    let anatomy = Anatomy::of(&skeleton).unwrap();
    let one = std::num::NonZeroUsize::MIN;
    let seen = |name: &str, poses: &[[f64; 3]]| {
        let j = skeleton.find(name).unwrap();
        let joint = anatomy.joint(j).unwrap();
        let turns = poses.iter().map(|a| joint.local_of(a.map(Angle::from_degrees)).unwrap());
        let turns: crate::math::Rotations = turns.collect();
        let tracks = skeleton.indices().map(|k| match k == j {
            true => crate::motion::Track::turning(turns.clone(), skeleton[k].offset_m),
            false => crate::motion::Track::constant(skeleton[k].rest, skeleton[k].offset_m),
        });
        let rate = crate::motion::FrameRate::from_fps(30.0).unwrap();
        let clip = Clip::new(poses.len(), rate, tracks.collect()).unwrap();
        let rig = crate::rig::RigJoints::new();
        let all = anatomy.explored(&skeleton, &[(&skeleton, &clip)], &rig, one);
        let found = all.iter().find(|e| e.joint.joint() == Some(j)).unwrap();
        found.angles.clone()
    };
    let whole = |angle: &ExploredAngle| angle.seen.map(|ends| ends.map(|a| a.degrees().round()));
    // A hip: one frame of four is abducted by 80.
    let hip = [[0.0, 0.0, 0.0], [30.0, 10.0, 5.0], [-170.0, 80.0, 160.0], [10.0, 20.0, -5.0]];
    let [flexion, abduction, rotation] = seen("LeftUpLeg", &hip);
    assert_eq!(whole(&flexion), Some([0.0, 30.0]));
    assert_eq!(whole(&abduction), Some([0.0, 80.0]));
    assert_eq!(whole(&rotation), Some([-5.0, 5.0]));
    assert_eq!((flexion.counted, abduction.counted, rotation.counted), (0.75, 1.0, 0.75));
    assert!(flexion.note().unwrap().starts_with("25\u{a0}%") && abduction.note().is_none());
    // An arm straight up, and a little across: it is raised by so much, and that is all one knows.
    // The order of frames does not matter.
    let arm = [[120.0, -120.0, 170.0], [90.0, 0.0, 10.0], [0.0, 20.0, -10.0], [165.0, 5.0, -170.0]];
    for arm in [arm, [arm[3], arm[2], arm[1], arm[0]]] {
        let [flexion, abduction, rotation] = seen("RightArm", &arm);
        assert_eq!(whole(&flexion), Some([0.0, 165.0]));
        assert_eq!(whole(&abduction), Some([0.0, 20.0]));
        assert_eq!(whole(&rotation), Some([-10.0, 10.0]));
        assert_eq!(rotation.counted, 0.5);
    }
    let [_, _, rotation] = seen("RightArm", &[[170.0, 0.0, 0.0], [171.0, 0.0, 0.0]]);
    assert_eq!((rotation.seen, rotation.counted, rotation.moves), (None, 0.0, false));
    // An elbow that only bends does not pronate.
    let bends: Vec<[f64; 3]> = (0..50).map(|i| [f64::from(i), 0.0, 0.0]).collect();
    let [flexion, _, pronation] = seen("LeftForeArm", &bends);
    assert!(flexion.moves && !pronation.moves);
    assert_eq!(pronation.note().as_deref(), Some("not moved by this joint"));
    // A hip that bends from 13 to 87, and flips over the half turn: neither −178 nor all between.
    let mut flips: Vec<[f64; 3]> = (13..=87).map(|i| [f64::from(i), 30.0, 0.0]).collect();
    flips.extend([[174.0, 60.0, 0.0], [-178.0, 60.0, 0.0]]);
    let [flexion, ..] = seen("LeftUpLeg", &flips);
    assert_eq!(whole(&flexion), Some([13.0, 182.0]));
    // What lies between was not seen, and a flexion ends at half a turn.
    assert_eq!(flexion.hole.map(|hole| hole.map(|a| a.degrees().round())), Some([87.0, 174.0]));
    let (_, coverage) = flexion.published.as_ref().unwrap();
    assert!((coverage.share - 74.0 / 155.0).abs() < 1e-9, "{coverage:?}");
    assert_eq!(coverage.below, Angle::ZERO);
    assert!(flexion.passes_half_turn());
    let note = flexion.note().unwrap();
    assert_eq!(note, "nothing from 87 to 174; past half a turn: the file or the angles flip");
    let beyond: Vec<Beyond<'_>> = flexion.beyond().collect();
    assert_eq!(beyond.len(), 1);
    assert!(beyond[0].past_half_turn && beyond[0].name == "flexion", "{beyond:?}");
    assert!((beyond[0].seen.degrees() - 180.0).abs() < 1e-9, "{beyond:?}");
    assert!((beyond[0].by.degrees() - 55.0).abs() < 1e-9, "{beyond:?}");
    // Both ends that are beyond are told, each by its own name.
    let bends: Vec<[f64; 3]> = (-45..=150).map(|i| [f64::from(i), 20.0, 0.0]).collect();
    let [flexion, abduction, _] = seen("LeftUpLeg", &bends);
    let told = |angle: &ExploredAngle| -> Vec<(&'static str, [f64; 3])> {
        let ends = angle.beyond();
        ends.map(|e| (e.name, [e.seen, e.published, e.by].map(|a| a.degrees().round()))).collect()
    };
    assert_eq!(
        told(&flexion),
        [("extension", [45.0, 30.0, 15.0]), ("flexion", [150.0, 125.0, 25.0])]
    );
    assert!(told(&abduction).is_empty());
}

/// Judged by many more trials: rotations spread evenly, and moved into the one limit.
#[test]
fn what_is_beyond_is_what_many_more_trials_find() {
    use super::trials::{Placed, spread};
    let mut rng = Rng::new(43);
    let mut worst = 0.0_f64;
    for round in 0..24 {
        let [a, b] = [0, 1].map(|_| {
            let mut entry = some_entry(round % 4, &mut rng);
            if let (3, Limit::SwingTwist(of)) = (round % 4, &mut entry.limit) {
                let corners = (0..9).map(|i| {
                    let (sin, cos) = trig::sin_cos(f64::from(i) * std::f64::consts::TAU / 9.0);
                    let wide = rng.between(0.3, 1.2);
                    let (s, c) = trig::sin_cos(wide);
                    of.axes.vector(DVec3::new(cos * s, sin * s, c))
                });
                let corners: Vec<DVec3> = corners.collect();
                let at = |d: &DVec3| {
                    let arc = Arc::from_degrees(rng.between(-60.0, -5.0), rng.between(5.0, 60.0));
                    crate::limits::TwistAt { direction: *d, arc: arc.unwrap() }
                };
                of.twist.bounds = TwistBounds::BySwing(corners.iter().map(at).collect());
                of.swing = SwingLimit::Polygons(vec![corners]);
            }
            entry
        });
        // Not far from each other, as left and right are.
        let center = a.center * Rotation::exp(rng.direction() * 0.3).unwrap();
        let b = RigJoint { center, ..b };
        let [p, q] = [&a, &b].map(|of| of.limit.prepare().unwrap());
        let ours = Placed { limit: &a.limit, prepared: &p, center: a.center };
        let theirs = Placed { limit: &b.limit, prepared: &q, center: b.center };
        let outside = |m: Rotation| -q.distance(b.center.inverse() * a.center * m).radians();
        let many = spread(100_000).map(|m| outside(p.project(m))).fold(0.0, f64::max);
        let found = ours.beyond(&theirs);
        worst = worst.max((many - found).to_degrees());
    }
    // Measured: 0.23°.
    assert!(worst < 0.5, "{worst}");
}
