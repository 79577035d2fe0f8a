use glam::DVec3;

use super::*;
use crate::anatomy::Anatomy;
use crate::edit::figures::{acclaim, lopsided, mixamo, motion};
use crate::math::{Angle, Interpolation};
use crate::motion::farthest_apart_m;
use crate::skeleton::Joint;
use crate::synth::{Figure, Keys, Options, Synth};

/// Rounding: a product of some ten rotations.
const SAME: f64 = 1e-12;

/// The largest angle between the local rotations of two clips, in radians, and the largest distance
/// between their translations.
fn apart(a: &Clip, b: &Clip) -> (f64, f64) {
    let (mut turned, mut moved) = (0.0_f64, 0.0_f64);
    for f in a.frames() {
        let (p, q) = (a.pose(f), b.pose(f));
        for (x, y) in p.rotations.iter().zip(&q.rotations) {
            turned = turned.max(x.distance(*y).radians());
        }
        for (x, y) in p.translations_m.iter().zip(&q.translations_m) {
            moved = moved.max(x.distance(*y));
        }
    }
    (turned, moved)
}

fn figures() -> Vec<Skeleton> {
    vec![
        acclaim(None),
        acclaim(Some(1)),
        mixamo(Some(2)),
        lopsided(Some(3)),
        Figure::human().skeleton().clone(),
    ]
}

#[test]
fn prop_c13_mirrored_twice_is_the_motion_itself() {
    for (n, skeleton) in figures().iter().enumerate() {
        for seed in 0..8 {
            let clip = motion(skeleton, 10 * seed + n as u64, 20, 150.0);
            let plain = Mirror::new(skeleton).unwrap();
            let ground = [Ground::Y_UP, Ground::Z_UP, Ground::X_UP][(seed % 3) as usize];
            for mirror in [plain.clone(), plain.clone().in_place(), plain.on(ground)] {
                let once = mirror.apply(&clip).unwrap();
                let twice = mirror.apply(&once).unwrap();
                let (turned, moved) = apart(&clip, &twice);
                assert!(turned < SAME && moved < SAME, "{n} {seed}: {turned:e} {moved:e}");
                let changed = apart(&clip, &once);
                assert!(changed.0 > 0.1, "{changed:?}");
            }
        }
    }
}

#[test]
fn c13_clinical_angles_of_left_and_right_are_exchanged() {
    for skeleton in figures() {
        let clip = motion(&skeleton, 5, 15, 60.0);
        let mirrored = mirror(&skeleton, &clip).unwrap();
        let anatomy = Anatomy::of(&skeleton).unwrap();
        let mut pairs = 0;
        for (joint, other) in anatomy.images() {
            let [j, c] = [joint, other].map(|a| a.joint().unwrap());
            for f in clip.frames() {
                let was = other.angles(clip.rotation(c, f)).map(Angle::degrees);
                let is = joint.angles(mirrored.rotation(j, f)).map(Angle::degrees);
                // In the middle flexion stays, bending and turning change their sides.
                let sign = if joint.side == BodySide::Middle { -1.0 } else { 1.0 };
                let off = [is[0] - was[0], is[1] - sign * was[1], is[2] - sign * was[2]];
                let off = off.map(|d: f64| (d + 180.0).rem_euclid(360.0) - 180.0);
                assert!(off.iter().all(|d| d.abs() < 1e-8), "{j:?}: {is:?} {was:?}");
            }
            pairs += usize::from(joint.side == BodySide::Left);
        }
        assert!(pairs >= 6);
    }
}

#[test]
fn c13_a_symmetric_figure_is_reflected_to_the_point() {
    for skeleton in [acclaim(None), acclaim(Some(4)), mixamo(None), mixamo(Some(5))] {
        let clip = motion(&skeleton, 7, 15, 150.0);
        let prepared = Mirror::new(&skeleton).unwrap();
        let stand = Facing::of(&skeleton).stand_in(&skeleton, &clip, FrameIndex(0));
        let (sin, cos) = crate::math::trig::sin_cos(stand.facing.radians());
        // The way it faces is (sin, 0, cos); its left (cos, 0, −sin).
        let left = DVec3::new(cos, 0.0, -sin);
        for (mirror, normal, point) in [
            (prepared.clone(), DVec3::X, DVec3::ZERO),
            (prepared.in_place(), left, stand.position_m),
        ] {
            let mirrored = mirror.apply(&clip).unwrap();
            for f in clip.frames() {
                let [a, b] = [&clip, &mirrored].map(|c| c.pose(f).world(&skeleton));
                for j in skeleton.indices() {
                    let c = mirror.counterpart(j).unwrap();
                    let was = a.positions_m[c.get()];
                    let there = was - normal * (2.0 * normal.dot(was - point));
                    let off = b.positions_m[j.get()].distance(there);
                    assert!(off < 1e-12, "{} {off:e}", skeleton[j].name);
                }
            }
        }
    }
}

#[test]
fn fingers_and_thumbs_of_one_side_move_as_those_of_the_other() {
    let skeleton = acclaim(Some(9));
    let mirror = Mirror::new(&skeleton).unwrap();
    for (left, right) in
        [("lthumb", "rthumb"), ("lhipjoint", "rhipjoint"), ("lfingers", "rfingers")]
    {
        let [l, r] = [left, right].map(|n| skeleton.find(n).unwrap());
        assert_eq!((mirror.counterpart(l), mirror.counterpart(r)), (Some(r), Some(l)));
    }
    let thorax = skeleton.find("thorax").unwrap();
    assert_eq!(mirror.counterpart(thorax), Some(thorax));
}

#[test]
fn bones_that_differ_keep_their_lengths_and_rest_stays_rest() {
    let skeleton = lopsided(Some(6));
    let clip = motion(&skeleton, 1, 5, 90.0);
    let mirrored = mirror(&skeleton, &clip).unwrap();
    for j in skeleton.indices().filter(|j| skeleton.parent(*j).is_some()) {
        assert_eq!(mirrored.translation_m(j, FrameIndex(3)), skeleton[j].offset_m);
    }
    let still = motion(&mixamo(Some(8)), 1, 1, 0.0);
    let image = mirror(&mixamo(Some(8)), &still).unwrap();
    let (turned, _) = apart(&still, &image);
    assert!(turned < SAME, "{turned:e}");
}

/// Some other skeleton than a family's: names and parents as given, along the axes of the world.
fn odd(joints: &[(&str, Option<&str>, [f64; 3])]) -> Skeleton {
    let mut skeleton = Skeleton::new();
    for (name, parent, offset) in joints {
        let joint = Joint::new(*name, DVec3::from_array(*offset));
        match parent.and_then(|p| skeleton.find(p)) {
            Some(p) => skeleton.add(p, joint).unwrap(),
            None => skeleton.add_root(joint).unwrap(),
        };
    }
    skeleton
}

fn with_sword() -> Skeleton {
    odd(&[
        ("Reference", None, [0.0, 0.0, 0.0]),
        ("Hips", Some("Reference"), [0.02, 1.0, 0.0]),
        ("Spine", Some("Hips"), [0.0, 0.2, 0.0]),
        ("Spine1", Some("Spine"), [0.0, 0.2, 0.0]),
        ("Neck", Some("Spine1"), [0.0, 0.1, 0.0]),
        ("LeftArm", Some("Spine1"), [0.2, 0.0, 0.0]),
        ("LeftForeArm", Some("LeftArm"), [0.3, 0.0, 0.0]),
        ("LeftHand", Some("LeftForeArm"), [0.3, 0.0, 0.0]),
        ("Roll", Some("Spine1"), [-0.1, 0.0, 0.0]),
        ("RightArm", Some("Roll"), [-0.1, 0.0, 0.0]),
        ("RightForeArm", Some("RightArm"), [-0.3, 0.0, 0.0]),
        ("RightHand", Some("RightForeArm"), [-0.3, 0.0, 0.0]),
        ("Sword", Some("RightHand"), [0.0, 0.0, 0.1]),
        ("Blade", Some("Sword"), [0.0, 0.0, 0.5]),
        ("LeftUpLeg", Some("Hips"), [0.1, 0.0, 0.0]),
        ("LeftLeg", Some("LeftUpLeg"), [0.0, -0.4, 0.0]),
        ("RightUpLeg", Some("Hips"), [-0.1, 0.0, 0.0]),
        ("RightLeg", Some("RightUpLeg"), [0.0, -0.4, 0.0]),
    ])
}

#[test]
fn who_hangs_on_somebody_else_than_his_counterpart_is_mirrored_all_the_same() {
    let skeleton = with_sword();
    let clip = motion(&skeleton, 3, 12, 100.0);
    let mirror = Mirror::new(&skeleton).unwrap();
    let [sword, blade, arm, right] =
        ["Sword", "Blade", "LeftArm", "RightArm"].map(|n| skeleton.find(n).unwrap());
    assert_eq!(mirror.counterpart(sword), None);
    assert_eq!(mirror.counterpart(arm), Some(right));
    let once = mirror.apply(&clip).unwrap();
    let twice = mirror.apply(&once).unwrap();
    let (turned, moved) = apart(&clip, &twice);
    assert!(turned < SAME && moved < SAME, "{turned:e} {moved:e}");
    for f in clip.frames() {
        for j in [sword, blade] {
            assert_eq!(once.rotation(j, f).quat(), clip.rotation(j, f).quat());
        }
        // The upper arm points to where the other one did, mirrored, though it hangs on another joint.
        let [a, b] = [&clip, &once].map(|c| c.pose(f).world(&skeleton));
        let was = a.rotations[right.get()] * DVec3::NEG_X;
        let is = b.rotations[arm.get()] * DVec3::X;
        assert!(is.distance(was * DVec3::new(-1.0, 1.0, 1.0)) < 1e-12);
        // The pelvis is reflected, its offset included.
        let hips = skeleton.find("Hips").unwrap().get();
        let there = a.positions_m[hips] * DVec3::new(-1.0, 1.0, 1.0);
        assert!(b.positions_m[hips].distance(there) < 1e-12);
    }
}

#[test]
fn keys_stay_at_their_times_and_what_is_constant_stays_so() {
    let keys = Keys::Sparse { count: 6, interpolation: Interpolation::Linear };
    let options = Options { frames: 60, keys, ..Options::default() };
    let mut made = Synth::generate(&Figure::human(), &options, 2).unwrap();
    let fixed = made.skeleton.find("LeftHipJoint").unwrap();
    let still = Track::constant(Rotation::IDENTITY, made.skeleton[fixed].offset_m);
    made.clip.set_track(fixed, still).unwrap();
    let mirror = Mirror::new(&made.skeleton).unwrap();
    let mirrored = mirror.apply(&made.clip).unwrap();
    let mut constant = 0;
    for j in made.skeleton.indices() {
        let c = mirror.counterpart(j).unwrap();
        let (is, was) = (mirrored.track(j), made.clip.track(c));
        assert_eq!(is.rotation_times(), was.rotation_times());
        constant += usize::from(is.rotation_times().is_constant());
    }
    assert_eq!(constant, 1);
    let back = mirror.apply(&mirrored).unwrap();
    let far = farthest_apart_m((&made.skeleton, &made.clip), (&made.skeleton, &back));
    assert!(far < 1e-9, "{far:e}");
}

#[test]
fn a_mirrored_file_has_the_channels_that_it_had() {
    use crate::formats::{Format, MotionFile, ReadOptions, WriteOptions, read, write};
    let skeleton = mixamo(None);
    let clip = motion(&skeleton, 4, 10, 40.0);
    let file = MotionFile::new(skeleton, clip);
    let written = write(&file, Format::Bvh, &WriteOptions::default()).unwrap();
    let mut file = read(&written.parts[0].1, None, &ReadOptions::default()).unwrap().file;
    let image = mirror(&file.skeleton, file.clip.as_ref().unwrap()).unwrap();
    file.clip = Some(image.clone());
    let again = write(&file, Format::Bvh, &WriteOptions::default()).unwrap();
    let text = |w: &crate::formats::Written| {
        let text = String::from_utf8(w.parts[0].1.clone()).unwrap();
        text.split("MOTION").next().unwrap().to_owned()
    };
    assert_eq!(text(&written), text(&again));
    let back = read(&again.parts[0].1, None, &ReadOptions::default()).unwrap().file;
    let back = (&back.skeleton, back.clip.as_ref().unwrap());
    let far = farthest_apart_m((&file.skeleton, &image), back);
    // Six decimals of centimetres and degrees.
    assert!(far < 1e-6, "{far:e}");
}

#[test]
fn who_has_no_names_is_told_what_to_do() {
    let figure = Figure::random(12, 3).unwrap();
    let error = Mirror::new(figure.skeleton()).unwrap_err();
    assert_eq!(error, MirrorError::NoNames);
    assert!(error.to_string().contains("give a table of their names"), "{error}");
    let (skeleton, other) = (acclaim(None), mixamo(None));
    let clip = motion(&other, 1, 2, 10.0);
    let error = mirror(&skeleton, &clip).unwrap_err();
    assert!(matches!(error, MirrorError::Clip(ClipError::JointCount { .. })), "{error}");
    // Of no frames too.
    let none =
        Clip::new(0, clip.rate(), vec![Track::constant(Rotation::IDENTITY, DVec3::X); other.len()]);
    assert_eq!(
        Mirror::new(&other).unwrap().in_place().apply(&none.unwrap()).unwrap().frame_count(),
        0
    );
    let far = Track::constant(Rotation::IDENTITY, DVec3::splat(f64::MAX));
    let far = Clip::new(2, clip.rate(), vec![far; other.len()]).unwrap();
    assert!(mirror(&other, &far).is_err());
}
