//! Input that says little, or contradicts itself (A2, A10, A12).

use glam::DVec3;

use super::*;
use crate::math::{Interpolation, Rotations};
use crate::motion::{FrameRate, Track};
use crate::skeleton::Joint;
use crate::synth::Keys;

fn rate() -> FrameRate {
    FrameRate::from_fps(30.0).unwrap()
}

/// A chain of joints of these names.
fn chain(names: &[&str]) -> Skeleton {
    let mut skeleton = Skeleton::new();
    let mut last = None;
    for name in names {
        let joint = Joint::new(*name, DVec3::Y * 0.2);
        last = Some(match last {
            Some(parent) => skeleton.add(parent, joint).unwrap(),
            None => skeleton.add_root(joint).unwrap(),
        });
    }
    skeleton
}

/// Every joint turned about x by the same angles, degrees.
fn bending(skeleton: &Skeleton, angles: &[f64]) -> Clip {
    let rotations: Rotations = angles.iter().map(|a| Rotation::about_x(deg(*a))).collect();
    let tracks =
        skeleton.indices().map(|_| Track::turning(rotations.clone(), DVec3::Y * 0.2)).collect();
    Clip::new(angles.len(), rate(), tracks).unwrap()
}

fn ramp(count: u32, most: f64) -> Vec<f64> {
    (0..count).map(|i| most * f64::from(i) / f64::from(count - 1)).collect()
}

#[test]
fn no_frames_and_one_frame_say_nothing() {
    let how = EstimateOptions::default();
    assert_eq!(estimate(&[], &how).unwrap_err(), EstimateError::NoMotion);
    let skeleton = chain(&["a", "b"]);
    let constant = || vec![Track::constant(Rotation::IDENTITY, DVec3::ZERO); 2];
    let none = Clip::new(0, rate(), constant()).unwrap();
    let take = Take { skeleton: &skeleton, clip: &none };
    assert_eq!(estimate(&[take], &how).unwrap_err(), EstimateError::NoMotion);
    assert_eq!(estimate(&[take, take], &how).unwrap_err(), EstimateError::NoMotion);
    for method in [Method::Robust, Method::Paper] {
        let one = bending(&skeleton, &[20.0]);
        let how = EstimateOptions { method, ..how };
        let only = Take { skeleton: &skeleton, clip: &one };
        let error = estimate(&[only], &how).unwrap_err();
        assert_eq!(error, EstimateError::OneFrame);
        assert!(error.to_string().contains("pose"));
        // Beside a clip with frames, one without does no harm; and two poses are two samples.
        assert!(estimate(&[only, take, only], &how).is_ok());
    }
}

#[test]
fn shares_that_are_none_are_refused() {
    let skeleton = chain(&["a", "b"]);
    let clip = bending(&skeleton, &ramp(50, 60.0));
    for coverage in [0.0, -1.0, 1.000_001, f64::NAN, f64::INFINITY] {
        let how = EstimateOptions { coverage, ..EstimateOptions::default() };
        let found = estimate(&[Take { skeleton: &skeleton, clip: &clip }], &how);
        assert_eq!(found.unwrap_err(), EstimateError::Coverage);
    }
}

#[test]
fn strange_noise_and_margins_do_no_harm() {
    let synth = random(1, &options(Exploration::Full, 0.3, 100));
    for value in [-1.0, f64::NAN, f64::INFINITY, 1e300, 400.0] {
        for ball in [BallModel::Auto, BallModel::Box, BallModel::Polygon, BallModel::Ellipse] {
            let noise = Noise::Given(deg(value));
            let how =
                EstimateOptions { noise, margin: deg(value), ball, ..EstimateOptions::default() };
            let found = estimated(&synth, &how);
            for (_, entry, _) in joints(&synth, &found) {
                assert!(entry.limit.prepare().is_ok(), "{value} {:?}", entry.limit);
            }
        }
    }
}

#[test]
fn a5_a10_a_constant_joint_is_fixed_where_it_is() {
    let skeleton = chain(&["a", "b", "c"]);
    let bend = Rotation::about_z(deg(25.0));
    for still in [
        Track::constant(bend, DVec3::ZERO),
        Track::turning(Rotations::repeat(bend, 60), DVec3::ZERO),
    ] {
        let mut tracks = bending(&skeleton, &ramp(60, 80.0)).tracks().to_vec();
        tracks[2] = still;
        let clip = Clip::new(60, rate(), tracks).unwrap();
        let take = Take { skeleton: &skeleton, clip: &clip };
        let found = estimate(&[take], &EstimateOptions::default()).unwrap();
        let entry = found.joints.get("c").unwrap();
        assert_eq!(entry.kind, JointKind::Fixed);
        assert!(entry.center.distance(bend).degrees() < 1e-9);
        assert_eq!(entry.why.as_deref(), Some("does not move"));
        // A10: rest is outside, so the pose to start from is the one it has.
        assert_eq!(entry.rest_inside, Some(false));
        assert!(entry.start.unwrap().distance(bend).degrees() < 1e-9);
        assert_eq!(found.joints.get("b").unwrap().kind, JointKind::Hinge);
    }
}

#[test]
fn a11_contradictory_skeletons_are_reported() {
    let first = chain(&["hips", "spine", "head"]);
    let mut second = Skeleton::new();
    let hips = second.add_root(Joint::new("hips", DVec3::Y)).unwrap();
    second.add(hips, Joint::new("spine", DVec3::Y)).unwrap();
    second.add(hips, Joint::new("head", DVec3::Y)).unwrap();
    let clips = [&first, &second].map(|s| bending(s, &ramp(50, 60.0)));
    let takes =
        [Take { skeleton: &first, clip: &clips[0] }, Take { skeleton: &second, clip: &clips[1] }];
    let error = estimate(&takes, &EstimateOptions::default()).unwrap_err();
    let expected = EstimateError::Contradiction {
        take: 1,
        joint: "head".to_owned(),
        found: Some("hips".to_owned()),
        expected: Some("spine".to_owned()),
    };
    assert_eq!(error, expected);
    let text = error.to_string();
    assert!(text.contains("\"head\" hangs on \"hips\" here and on \"spine\""), "{text}");
}

#[test]
fn a11_a_joint_that_one_take_does_not_have_is_estimated_from_the_others() {
    let long = chain(&["hips", "spine", "head"]);
    let short = chain(&["hips", "spine"]);
    let clips = [bending(&long, &ramp(50, 40.0)), bending(&short, &ramp(50, 70.0))];
    let takes =
        [Take { skeleton: &long, clip: &clips[0] }, Take { skeleton: &short, clip: &clips[1] }];
    let width = |found: &Estimate, name: &str| match &found.joints.get(name).unwrap().limit {
        Limit::Hinge { arc, .. } => arc.width().degrees(),
        other => panic!("{other:?}"),
    };
    let found = estimate(&takes, &EstimateOptions::default()).unwrap();
    assert!((width(&found, "spine") - 70.0).abs() < 0.1);
    assert!((width(&found, "head") - 40.0).abs() < 0.1);
    assert_eq!(found.joints.get("head").unwrap().samples, Some(50));
    assert_eq!(found.joints.get("spine").unwrap().samples, Some(100));
    assert!(found.warnings.iter().all(|w| !w.contains("more, which")), "{:?}", found.warnings);
    assert!(
        found
            .warnings
            .iter()
            .any(|w| w.contains("take 2: 1 joint of the first skeleton is not in it")),
        "{:?}",
        found.warnings
    );
    // The first take says which joints there are.
    let found = estimate(&[takes[1], takes[0]], &EstimateOptions::default()).unwrap();
    assert!(found.joints.get("head").is_none());
    let more = "take 2: it has 1 joint more, which is not estimated";
    assert!(found.warnings.iter().any(|w| w == more), "{:?}", found.warnings);
}

#[test]
fn a12_a_dozen_poses_make_a_first_guess_that_says_so() {
    let (mut right, mut all, mut sure, mut sure_right) = (0, 0, 0, 0);
    for seed in 0..figures(30, 300) {
        let synth = random(seed, &options(Exploration::Poses, 0.0, 12));
        let found = estimated(&synth, &EstimateOptions::default());
        for (joint, entry, truth) in joints(&synth, &found) {
            let note = entry.notes.iter().any(|n| n.starts_with("only 12 samples"));
            assert!(note || entry.kind == JointKind::Fixed, "{:?}", entry.notes);
            let good = entry.kind.as_str() == truth.kind();
            right += usize::from(good);
            all += 1;
            if entry.confidence.unwrap() >= 0.9 {
                sure += 1;
                sure_right += usize::from(good);
            }
            // All poses are inside, whatever it is.
            let limit = entry.limit.prepare().unwrap();
            let allowed = entry.allowance().degrees();
            for q in relative(&synth, joint) {
                let excess = -limit.distance(entry.center.inverse() * q).degrees();
                assert!(excess <= allowed, "{:?}: {excess} {allowed}", entry.kind);
            }
        }
    }
    println!("{right} of {all} right; sure {sure_right} of {sure}");
    assert!(right as f64 >= 0.8 * all as f64, "{right} of {all}");
    assert!(sure_right as f64 >= 0.9 * sure as f64, "{sure_right} of {sure}");
}

#[test]
fn a12_stepped_keys_are_their_keys() {
    let (mut right, mut all) = (0, 0);
    for seed in 0..figures(20, 200) {
        let keys = Keys::Sparse { count: 25, interpolation: Interpolation::Step };
        let synth = random(seed, &Options { keys, ..options(Exploration::Full, 0.0, 600) });
        let found = estimated(&synth, &EstimateOptions::default());
        for (joint, entry, truth) in joints(&synth, &found) {
            // A step is no glitch, unless its pose is held for one frame only, as the last one is: then
            // nothing in the frames tells them apart.
            let keys = &synth.keys.as_ref().unwrap()[joint.get()];
            let short = keys.windows(2).filter(|pair| pair[0].get() + 1 == pair[1].get()).count();
            assert!(entry.rejected.unwrap() <= short as u64 + 1, "{:?} of {short}", entry.rejected);
            right += usize::from(entry.kind.as_str() == truth.kind());
            all += 1;
            if let (Limit::Hinge { arc, .. }, JointTruth::Hinge { arc: real, .. }) =
                (&entry.limit, truth)
            {
                // No wider than the keys, which are 25 of 600 frames.
                assert!(arc.width().degrees() <= real.width().degrees() + 0.01);
            }
        }
    }
    println!("{right} of {all} right");
    assert!(right as f64 >= 0.9 * all as f64, "{right} of {all}");
}

#[test]
fn a2_fewer_than_four_keys_get_a_note() {
    for count in [2, 3, 4] {
        for interpolation in [Interpolation::Step, Interpolation::Linear, Interpolation::Smooth] {
            let keys = Keys::Sparse { count, interpolation };
            let synth = random(2, &Options { keys, ..options(Exploration::Full, 0.0, 100) });
            let found = estimated(&synth, &EstimateOptions::default());
            for (_, entry, truth) in joints(&synth, &found) {
                let noted = entry.notes.iter().any(|n| n.contains(&format!("only {count} keys")));
                if truth.kind() != "fixed" {
                    assert_eq!(noted, count < 4, "{:?}", entry.notes);
                }
            }
        }
    }
}

/// A10: the same limits, seen from another pose.
#[test]
fn a_bind_pose_is_the_zero_and_moves_no_limit() {
    let synth = random(3, &options(Exploration::Full, 0.3, 600));
    let how = with(BallModel::Ellipse);
    let plain = estimated(&synth, &how);
    let take = [Take { skeleton: &synth.skeleton, clip: &synth.clip }];
    let pose = synth.clip.pose(crate::motion::FrameIndex(100));
    let bind = BindPose::new(&synth.skeleton, &pose);
    assert_eq!(bind.shared_with(&synth.skeleton), synth.skeleton.len() - 1);
    let bound = estimate_about(&bind, &take, &how).unwrap();
    let mut rng = Rng::new(1);
    let mut on_orbit = 0;
    for ((joint, a, _), (_, b, _)) in joints(&synth, &plain).zip(joints(&synth, &bound)) {
        let name = &synth.skeleton[joint].name;
        assert_eq!(a.kind, b.kind, "{name}");
        assert_eq!(synth.skeleton[joint].rest.quat(), bound.skeleton[joint].rest.quat());
        let [first, second] = [a, b].map(|entry| entry.limit.prepare().unwrap());
        for _ in 0..200 {
            let q = rng.rotation();
            let [p, q] = [(a, first.clone()), (b, second.clone())]
                .map(|(entry, limit)| limit.distance(entry.center.inverse() * q).degrees());
            // Twist counts from the zero, so that a ball's range of it is another one.
            let most = if a.kind == JointKind::Ball { 3.0 } else { 1.0 };
            assert!((p - q).abs() < most, "{name} {:?}: {p} {q}", a.kind);
        }
        assert_eq!(a.rest_inside, b.rest_inside, "{name}");
        assert!((a.rest_excess.unwrap().degrees() - b.rest_excess.unwrap().degrees()).abs() < 1.0);
        if b.kind == JointKind::Hinge {
            // The frame lies on the orbit but for noise, and is the zero.
            let zero = synth.skeleton[joint].rest * b.center;
            let apart = zero.distance(pose.rotations[joint.get()]).degrees();
            assert!(apart < 1.5, "{name}: {apart}");
            on_orbit += 1;
        }
        if let Some(start) = b.start {
            let m = b.center.inverse() * synth.skeleton[joint].rest.inverse() * start;
            assert!(second.contains(m), "{name}");
        }
    }
    assert!(on_orbit > 0);
}

/// Three balls, poses without order: no joint shows the noise.
#[test]
fn motion_of_balls_is_not_taken_for_noise() {
    let skeleton = chain(&["a", "b", "c", "d"]);
    let mut rng = Rng::new(4);
    let mut turning = || {
        let poses = (0..300).map(|_| {
            let [x, y, z] = [40.0, 30.0, 20.0].map(|most| deg(most * (2.0 * rng.uniform() - 1.0)));
            Rotation::about_x(x) * Rotation::about_y(y) * Rotation::about_z(z)
        });
        Track::turning(poses.collect(), DVec3::ZERO)
    };
    let tracks = (0..4).map(|_| turning()).collect();
    let clip = Clip::new(300, rate(), tracks).unwrap();
    let take = [Take { skeleton: &skeleton, clip: &clip }];
    let found = estimate(&take, &EstimateOptions::default()).unwrap();
    assert!(found.warnings.iter().any(|w| w.contains("noise cannot be told")));
    for name in ["b", "c", "d"] {
        let entry = found.joints.get(name).unwrap();
        assert_eq!(entry.kind, JointKind::Ball, "{name}: {:?}", entry.why);
    }
    let given = EstimateOptions { noise: Noise::Given(deg(0.3)), ..EstimateOptions::default() };
    assert!(estimate(&take, &given).unwrap().warnings.is_empty());
}

#[test]
fn reasons_are_of_the_kind_that_they_stand_beside() {
    for seed in 0..figures(6, 60) {
        let glitches = crate::synth::Glitches { share: 0.01, ..Default::default() };
        let plain = options(Exploration::Scatter, 0.3, 300);
        let synth = random(seed, &Options { glitches, ..plain });
        let found = estimated(&synth, &EstimateOptions::default());
        for (_, entry, _) in joints(&synth, &found) {
            let why = entry.why.as_deref().unwrap();
            let said = match entry.kind {
                JointKind::Fixed => why.contains("move"),
                JointKind::Hinge => why.starts_with("second axis") && !why.contains("two axes"),
                JointKind::Universal => why.contains("what two axes leave over"),
                _ => why.contains("above "),
            };
            assert!(said, "{:?}: {why}", entry.kind);
        }
    }
}

#[test]
fn what_coverage_leaves_out_is_no_noise() {
    let synth = random(2, &options(Exploration::Full, 0.3, 600));
    for ball in [BallModel::Polygon, BallModel::Ellipse, BallModel::Box] {
        let whole = estimated(&synth, &with(ball));
        let part = estimated(&synth, &EstimateOptions { coverage: 0.9, ..with(ball) });
        for ((joint, a, _), (_, b, _)) in joints(&synth, &whole).zip(joints(&synth, &part)) {
            let [a, b] = [a, b].map(|entry| entry.allowance().degrees());
            assert!(b <= a + 1e-9, "{ball:?} {}: {a} {b}", synth.skeleton[joint].name);
        }
    }
}
