//! Rigs put to work on clips: checked and clamped.

use std::num::NonZeroUsize;

use condyle::enforce::{BoundRig, ClampOptions, JointCheck, Smoothing};
use condyle::formats::{Format, MotionFile, ReadOptions, WriteOptions, read, read_file, write};
use condyle::glam::DVec3;
use condyle::limits::{
    EulerBox, Limit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit,
};
use condyle::math::{
    Angle, Arc, EulerOrder, Interpolation, Points, Rotation, Rotations, SwingAxes,
};
use condyle::motion::{Clip, FrameIndex, FrameRate, KeyTimes, Track};
use condyle::rig::{JointKind, LeftOut, Rig, RigJoint};
use condyle::skeleton::{Joint, JointIndex, RestPart, Skeleton};
use condyle::synth::{
    Figure, Glitches, JointTruth, Keys, Options, RegionShape, SwingRegion, Synth,
};

use crate::shared::{files, shared};

fn threads(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap()
}

fn degrees(degrees: f64) -> Angle {
    Angle::from_degrees(degrees)
}

fn arc(min: f64, max: f64) -> Arc {
    Arc::from_degrees(min, max).unwrap()
}

/// The truth of a figure as a rig. Regions become polygons of so many edges that they are off by less
/// than 0.001°.
pub(crate) fn rig_of(synth: &Synth) -> Rig {
    let mut rig = Rig::from_skeleton(&synth.skeleton);
    for (joint, truth) in synth.skeleton.joints().iter().zip(&synth.truth) {
        let (kind, limit) = match *truth {
            JointTruth::Fixed { .. } => (JointKind::Fixed, Limit::Locked),
            JointTruth::Hinge { axis, arc, .. } => (JointKind::Hinge, Limit::Hinge { axis, arc }),
            JointTruth::Universal { axes, arcs, .. } => {
                (JointKind::Universal, Limit::Universal { axes, arcs })
            }
            JointTruth::Ball { bone_axis, swing, twist, .. } => {
                let limit = ball(bone_axis, polygon(&swing, 1500), TwistBounds::Arc(twist));
                (JointKind::Ball, limit)
            }
            _ => (JointKind::Free, Limit::Free),
        };
        let joint_rig = RigJoint { center: truth.center(), ..RigJoint::new(kind, limit) };
        rig.joints.insert(joint.name.as_str(), joint_rig);
    }
    rig
}

fn ball(bone: DVec3, swing: SwingLimit, bounds: TwistBounds) -> Limit {
    Limit::SwingTwist(SwingTwistLimit {
        axes: SwingAxes::new(bone, None).unwrap(),
        swing,
        twist: TwistLimit { bounds, ..TwistLimit::default() },
    })
}

fn polygon(region: &SwingRegion, corners: usize) -> SwingLimit {
    SwingLimit::Polygons(vec![region.boundary(corners)])
}

/// One joint, named `a`, with a limit.
fn alone(limit: Limit) -> (Skeleton, Rig) {
    let mut skeleton = Skeleton::new();
    skeleton.add_root(Joint::new("a", DVec3::ZERO)).unwrap();
    let mut rig = Rig::from_skeleton(&skeleton);
    rig.joints.insert("a", RigJoint::new(JointKind::Ball, limit));
    (skeleton, rig)
}

fn turning(rotations: Vec<Rotation>) -> Clip {
    let n = rotations.len();
    let track = Track::turning(rotations.into_iter().collect(), DVec3::ZERO);
    Clip::new(n, FrameRate::from_fps(120.0).unwrap(), vec![track]).unwrap()
}

fn same_bits(a: &Clip, b: &Clip) -> bool {
    let bits = |r: &Rotations| -> Vec<u64> {
        r.xyzw().iter().flat_map(|c| c.iter().map(|v| v.to_bits())).collect()
    };
    a.tracks().iter().zip(b.tracks()).all(|(a, b)| bits(a.rotations()) == bits(b.rotations()))
}

/// Clamping of all that is outside.
fn exact(smoothing: Option<Smoothing>) -> ClampOptions {
    ClampOptions { smoothing, exact: true, ..ClampOptions::default() }
}

/// Whether every frame is inside, but for rounding.
fn is_inside(joint: &JointCheck) -> bool {
    joint.worst.is_none_or(|worst| worst.excess.radians() <= 1e-12)
}

/// The largest step of a joint from one frame to the next, degrees.
fn largest_step(clip: &Clip, joint: JointIndex) -> f64 {
    let all: Vec<Rotation> = clip.frames().map(|f| clip.rotation(joint, f)).collect();
    all.windows(2).map(|w| w[0].distance(w[1]).degrees()).fold(0.0, f64::max)
}

#[test]
fn check_finds_every_frame_outside_and_no_other() {
    let glitches = Glitches { share: 0.02, ..Glitches::default() };
    for figure in [Figure::human(), Figure::random(12, 3).unwrap()] {
        let clean = Synth::generate(&figure, &Options::default(), 5).unwrap();
        let rig = rig_of(&clean);
        let bound = BoundRig::new(&rig, &clean.skeleton).unwrap();
        assert!(bound.not_in_rig().is_empty() && bound.not_in_skeleton().is_empty());
        assert!(bound.rest_differences().is_empty());
        assert!(bound.check(&clean.clip, threads(1)).ok());

        let options = Options { glitches, ..Options::default() };
        let synth = Synth::generate(&figure, &options, 5).unwrap();
        let found = bound.check(&synth.clip, threads(2));
        assert_eq!(found.frames, 1000);
        assert_eq!(found, bound.check(&synth.clip, threads(1)));
        assert_eq!(found, bound.check(&synth.clip, threads(5)));
        let mut total = 0;
        for joint in &found.joints {
            let truth = &synth.truth[joint.joint.get()];
            let rest = synth.skeleton[joint.joint].rest;
            let excess = |f: FrameIndex| {
                truth.excess(truth.motion(rest, synth.clip.rotation(joint.joint, f))).degrees()
            };
            // The judge's boundary is a polyline as well: what is near it is left out.
            let outside = |f: &FrameIndex| excess(*f) > 0.02;
            let expected: Vec<FrameIndex> = synth.clip.frames().filter(outside).collect();
            assert_eq!(joint.outside, expected.len(), "{}", synth.skeleton[joint.joint].name);
            let glitched = &synth.glitches[joint.joint.get()];
            assert!(expected.iter().all(|f| glitched.contains(f)));
            if joint.outside > 0 {
                let worst = joint.worst.unwrap();
                assert!(expected.contains(&worst.frame));
                assert!(worst.excess.degrees() > 0.02);
            } else {
                assert!(joint.worst.is_none_or(|worst| worst.excess.degrees() <= 0.01));
            }
            total += joint.outside;
        }
        assert!(total > 100, "{total}");
    }
}

#[test]
fn an_excess_below_three_times_the_noise_is_counted_apart() {
    let (skeleton, mut rig) = alone(Limit::Hinge { axis: DVec3::X, arc: arc(0.0, 90.0) });
    let bends = [45.0, 90.0, 90.005, 90.5, 91.1, 91.3, 95.0];
    let clip = turning(bends.map(|a| Rotation::about_x(degrees(a))).to_vec());
    let of = |rig: &Rig| BoundRig::new(rig, &skeleton).unwrap().check(&clip, threads(1)).joints[0];
    let strict = of(&rig);
    assert_eq!((strict.outside, strict.within_noise), (4, 1));
    let worst = strict.worst.unwrap();
    assert!((worst.excess.degrees() - 5.0).abs() < 1e-9);
    assert_eq!(worst.frame, FrameIndex(6));
    rig.joints.get_mut("a").unwrap().noise = Some(degrees(0.4));
    let noisy = of(&rig);
    assert_eq!((noisy.outside, noisy.within_noise), (2, 3));
    assert!((noisy.allowance.degrees() - 1.2).abs() < 1e-12);
}

#[test]
fn frames_that_the_rig_lists_as_left_out_are_excused_in_their_own_take_only() {
    let (skeleton, mut rig) = alone(Limit::Free);
    let local = |bend: f64| Rotation::about_x(degrees(bend));
    let bends = [-60.0, 10.0, 20.0, 120.0, 30.0, 120.0, 40.0];
    let take = turning(bends.map(local).to_vec());
    let hash = take.content_hash();
    let left_out = vec![
        LeftOut { take: "1".parse().unwrap(), frames: vec![5] },
        LeftOut { take: hash, frames: vec![0, 3] },
    ];
    rig.joints.insert("a", RigJoint { left_out, ..bend() });
    let bound = BoundRig::new(&rig, &skeleton).unwrap();
    let of = |clip: &Clip| bound.check(clip, threads(1)).joints[0];
    // The same pose in another frame of the take counts.
    let found = of(&take);
    assert_eq!((found.outside, found.left_out), (1, 2));
    assert_eq!(found.worst.unwrap().frame, FrameIndex(5));
    // A part of the take, a frame that froze, the same rotations with one more: other takes.
    let others = [
        take.at_frames([0.0], take.rate(), None).unwrap(),
        turning(vec![local(-60.0); 100]),
        turning(bends.into_iter().chain([50.0]).map(local).collect()),
        turning(bends.map(|b| local(b + 1e-9)).to_vec()),
    ];
    for other in others {
        let found = of(&other);
        let outside = other.frames().filter(|f| {
            let bend = bend_of(&other, *f);
            !(-0.01..=90.01).contains(&bend)
        });
        assert_eq!((found.outside, found.left_out), (outside.count(), 0));
    }
    // Only frames that were left out: nothing is the worst.
    let all = LeftOut { take: hash, frames: (0..7).collect() };
    rig.joints.get_mut("a").unwrap().left_out = vec![all];
    let narrow = Limit::Hinge { axis: DVec3::X, arc: arc(-1.0, -0.5) };
    rig.joints.get_mut("a").unwrap().limit = narrow;
    let found = BoundRig::new(&rig, &skeleton).unwrap().check(&take, threads(1));
    assert_eq!((found.joints[0].left_out, found.joints[0].worst), (7, None));
    assert!(found.ok());
}

fn bend_of(clip: &Clip, frame: FrameIndex) -> f64 {
    let q = clip.tracks()[0].rotations().at(frame.get());
    2.0 * condyle::math::trig::atan2(q.quat().x, q.quat().w).to_degrees()
}

#[test]
fn clamping_leaves_frames_that_were_left_out_where_a_check_passes_the_take() {
    let (skeleton, mut rig) = alone(Limit::Free);
    let bends = [-60.0, 10.0, 20.0, 120.0, 30.0, 40.0];
    let take = turning(bends.map(|b| Rotation::about_x(degrees(b))).to_vec());
    let clamped = |rig: &Rig, options: &ClampOptions| {
        let bound = BoundRig::new(rig, &skeleton).unwrap();
        let mut after = take.clone();
        let found = bound.clamp(&mut after, options).joints[0];
        assert!(bound.check(&after, threads(1)).ok());
        (found.changed, found.left_out)
    };
    let left_out =
        |frames: &[u32]| vec![LeftOut { take: take.content_hash(), frames: frames.to_vec() }];
    for smoothing in [None, Some(Smoothing::default())] {
        let options = ClampOptions { smoothing, ..ClampOptions::default() };
        rig.joints.insert("a", RigJoint { left_out: left_out(&[0, 3]), ..bend() });
        assert_eq!(clamped(&rig, &options), (0, 2));
        assert_ne!(clamped(&rig, &exact(smoothing)).0, 0);
        // Once anything is changed it is another take, of which a check excuses nothing.
        rig.joints.insert("a", RigJoint { left_out: left_out(&[3]), ..bend() });
        assert!(clamped(&rig, &options).0 >= 2);
    }
}

/// Files without rest rotations have their rest pose in the offsets.
#[test]
fn bones_that_point_another_way_at_rest_than_in_the_rig_are_told() {
    let arm = |bone: DVec3, hand: DVec3| {
        let mut skeleton = Skeleton::new();
        let root = skeleton.add_root(Joint::new("Hips", DVec3::ZERO)).unwrap();
        let arm = skeleton.add(root, Joint::new("Arm", DVec3::Y)).unwrap();
        let elbow = skeleton.add(arm, Joint::new("ForeArm", bone)).unwrap();
        skeleton.add(elbow, Joint::new("Hand", hand)).unwrap();
        skeleton
    };
    let t_pose = arm(DVec3::X, DVec3::X);
    let mut rig = Rig::from_skeleton(&t_pose);
    for name in ["Arm", "ForeArm"] {
        rig.joints.insert(name, RigJoint::new(JointKind::Fixed, Limit::Locked));
    }
    let differ = |other: &Skeleton| {
        let bound = BoundRig::new(&rig, other).unwrap();
        let told = bound.rest_differences().iter();
        told.map(|d| (other[d.joint].name.clone(), d.angle.degrees().round(), d.of))
            .collect::<Vec<_>>()
    };
    assert_eq!(differ(&t_pose), []);
    // Other people: no bone is off by as much as rest poses are.
    let other = arm(DVec3::new(0.9, -0.3, 0.0), 0.8 * DVec3::X);
    assert_eq!(differ(&other), []);
    // Arms that hang, all of them or below the elbow only.
    let hanging = differ(&arm(-DVec3::Y, -DVec3::Y));
    let bone = RestPart::Bone;
    assert_eq!(hanging, [("Arm".to_owned(), 90.0, bone), ("ForeArm".to_owned(), 90.0, bone)]);
    assert_eq!(differ(&arm(DVec3::X, -DVec3::Y)), [("ForeArm".to_owned(), 90.0, bone)]);
    // Where nothing is limited nothing is told.
    rig.joints.insert("Arm", RigJoint::new(JointKind::Ball, Limit::Free));
    rig.joints.insert("ForeArm", RigJoint::new(JointKind::Ball, Limit::Free));
    let free = BoundRig::new(&rig, &arm(-DVec3::Y, -DVec3::Y)).unwrap();
    assert!(free.rest_differences().is_empty());
}

#[test]
fn joints_are_matched_by_name_and_rest_poses_compared() {
    let (mut skeleton, mut rig) = alone(Limit::Hinge { axis: DVec3::X, arc: arc(0.0, 90.0) });
    let a = skeleton.find("a").unwrap();
    let mut turned = Joint::new("b", DVec3::Y);
    turned.rest = Rotation::about_z(degrees(0.2));
    skeleton.add(a, turned).unwrap();
    rig.joints.insert("c", RigJoint::new(JointKind::Fixed, Limit::Locked));
    let bound = BoundRig::new(&rig, &skeleton).unwrap();
    assert_eq!(bound.not_in_skeleton(), ["c"]);
    assert_eq!(bound.not_in_rig(), [skeleton.find("b").unwrap()]);
    assert_eq!(bound.joints().collect::<Vec<_>>(), [a]);
    assert!(bound.rest_differences().is_empty());
    // The rig's b rests elsewhere, which matters once it has a limit.
    let mut other = Skeleton::new();
    other.add_root(Joint::new("b", DVec3::Y)).unwrap();
    let mut rig = Rig::from_skeleton(&other);
    assert!(BoundRig::new(&rig, &skeleton).unwrap().rest_differences().is_empty());
    rig.joints.insert("b", RigJoint::new(JointKind::Fixed, Limit::Locked));
    let bound = BoundRig::new(&rig, &skeleton).unwrap();
    assert!((bound.rest_differences()[0].angle.degrees() - 0.2).abs() < 1e-9);
    // The skeleton's own rest counts: there the joint is locked.
    let b = skeleton.find("b").unwrap();
    assert!(bound.limit(b).unwrap().contains(bound.motion(b, skeleton[b].rest).unwrap()));
}

#[test]
fn a_limit_that_makes_no_sense_is_an_error_with_its_place() {
    let text = r#"{"condyle": 1, "skeleton": {"joints": [{"name": "a", "offset_m": [0, 0, 0]}]},
  "joints": {"a": {"kind": "universal", "axes": [[1, 0, 0], [1, 0, 0]],
    "limit": {"shape": "free"}}, "b": {"kind": "universal", "axes": [[1, 0, 0], [1, 0, 0]]}}}"#;
    let mut rig = Rig::read(text.as_bytes()).unwrap().rig;
    let error = BoundRig::new(&rig, &rig.skeleton).unwrap_err();
    assert_eq!(error.path(), "joints.a.axes");
    assert_eq!(error.position().unwrap().line, 2);
    // One that the skeleton has no joint for does not matter.
    rig.joints.remove("a");
    assert!(BoundRig::new(&rig, &rig.skeleton).is_ok());
}

/// The figure's motion with glitches, as read from a file of this format.
fn glitched(format: Format) -> (Rig, MotionFile) {
    let glitches = Glitches { share: 0.05, ..Glitches::default() };
    let options = Options { frames: 400, glitches, ..Options::default() };
    let synth = Synth::generate(&Figure::human(), &options, 9).unwrap();
    let rig = rig_of(&synth);
    let file = MotionFile::new(synth.skeleton, synth.clip);
    (rig, through_text(&file, format).0)
}

fn through_text(file: &MotionFile, format: Format) -> (MotionFile, String) {
    let parts = write(file, format, &WriteOptions::default()).unwrap().parts;
    let skeleton =
        parts.get(1).map(|(_, asf)| read(asf, None, &ReadOptions::default()).unwrap().file);
    let back = read(&parts[0].1, skeleton.as_ref(), &ReadOptions::default()).unwrap().file;
    (back, String::from_utf8(parts[0].1.clone()).unwrap())
}

/// The rows of a motion file: for each frame, the numbers of each joint as they are written.
fn rows(file: &MotionFile, text: &str, format: Format) -> Vec<Vec<String>> {
    if format == Format::Bvh {
        let rows = text.lines().skip_while(|l| !l.starts_with("Frame Time")).skip(1);
        return rows
            .map(|row| {
                let numbers: Vec<&str> = row.split_whitespace().collect();
                let channels = file.clip.as_ref().unwrap().channels().unwrap();
                let of =
                    |c: &Vec<usize>| c.iter().map(|c| numbers[*c]).collect::<Vec<_>>().join(" ");
                channels.joints().iter().map(|j| of(&j.columns)).collect()
            })
            .collect();
    }
    let mut frames: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        if line.parse::<usize>().is_ok() {
            frames.push(vec![String::new(); file.skeleton.len()]);
        } else if let Some((name, numbers)) = line.split_once(' ')
            && let Some(joint) = file.skeleton.find(name)
        {
            frames.last_mut().unwrap()[joint.get()] = numbers.to_owned();
        }
    }
    frames
}

#[test]
fn clamping_changes_the_numbers_of_what_is_outside_only() {
    for format in [Format::Bvh, Format::Amc] {
        let (rig, file) = glitched(format);
        let bound = BoundRig::new(&rig, &file.skeleton).unwrap();
        let before = file.clip.as_ref().unwrap();
        let mut after = file.clone();
        let clamped = bound.clamp(after.clip.as_mut().unwrap(), &ClampOptions::default());
        assert!(clamped.changed());
        for n in [2, 5] {
            let mut again = before.clone();
            let options = ClampOptions { threads: threads(n), ..ClampOptions::default() };
            assert_eq!(bound.clamp(&mut again, &options), clamped);
            assert!(same_bits(&again, after.clip.as_ref().unwrap()));
        }
        let text = through_text(&file, format).1;
        let (back, changed_text) = through_text(&after, format);
        assert!(bound.check(back.clip.as_ref().unwrap(), threads(1)).ok());
        let (old, new) = (rows(&file, &text, format), rows(&file, &changed_text, format));
        assert_eq!((old.len(), new.len()), (400, 400));
        let mut kept = 0;
        for joint in &clamped.joints {
            let limit = bound.limit(joint.joint).unwrap();
            let mut changed = 0;
            for frame in before.frames() {
                let local = before.rotation(joint.joint, frame);
                let (old, new) = (&old[frame.get()], &new[frame.get()]);
                let (old, new) = (&old[joint.joint.get()], &new[joint.joint.get()]);
                let excess = -limit.distance(bound.motion(joint.joint, local).unwrap()).degrees();
                if excess <= 0.01 {
                    assert_eq!(old, new, "{format:?} {joint:?} {frame:?}");
                    kept += 1;
                } else {
                    assert_ne!(old, new, "{format:?} {joint:?} {frame:?}");
                    changed += 1;
                }
            }
            assert_eq!(joint.changed, changed);
            assert_eq!(joint.changed_inside, 0);
        }
        assert!(kept > 5000, "{kept}");
        // What was written is inside: clamped again, plain or smooth, it stays to the letter.
        for smoothing in [None, Some(Smoothing::default())] {
            let mut again = back.clone();
            let options = ClampOptions { smoothing, ..ClampOptions::default() };
            assert!(!bound.clamp(again.clip.as_mut().unwrap(), &options).changed());
            assert_eq!(through_text(&again, format).1, through_text(&back, format).1);
        }
    }
}

/// A limit of 0° to 90° about x, and what bends of a hinge become, with a hinge about another axis by a
/// hair as files that round have it.
fn clamped_bends(bends: &[f64], entry: RigJoint, options: &ClampOptions) -> (Clip, Clip) {
    let (skeleton, mut rig) = alone(Limit::Free);
    rig.joints.insert("a", entry);
    let hair = Rotation::about_y(degrees(0.002));
    let before = turning(bends.iter().map(|a| hair * Rotation::about_x(degrees(*a))).collect());
    let mut after = before.clone();
    let _ = BoundRig::new(&rig, &skeleton).unwrap().clamp(&mut after, options);
    (before, after)
}

fn bend() -> RigJoint {
    RigJoint::new(JointKind::Hinge, Limit::Hinge { axis: DVec3::X, arc: arc(0.0, 90.0) })
}

#[test]
fn what_a_check_passes_keeps_its_bits_when_clamped_unless_exact() {
    let bends: Vec<f64> = (0..80).map(|i| 10.0 + f64::from(i)).collect();
    for smoothing in [None, Some(Smoothing::default())] {
        let options = ClampOptions { smoothing, ..ClampOptions::default() };
        let (before, after) = clamped_bends(&bends, bend(), &options);
        assert!(same_bits(&before, &after));
        let (before, after) = clamped_bends(&bends, bend(), &exact(smoothing));
        assert!(!same_bits(&before, &after));
    }
    // The noise and the worst accepted sample: each counts.
    let beyond = [45.0, 90.9, 91.5, 80.0, 70.0];
    let moved = |entry: RigJoint| {
        let (before, after) = clamped_bends(&beyond, entry, &ClampOptions::default());
        let at = |clip: &Clip, i: usize| clip.tracks()[0].rotations().at(i).quat();
        [0, 1, 2, 3, 4].map(|i| at(&before, i) != at(&after, i))
    };
    assert_eq!(moved(bend()), [false, true, true, false, false]);
    let noise = Some(degrees(0.35));
    assert_eq!(moved(RigJoint { noise, ..bend() }), [false, false, true, false, false]);
    let tolerance = Some(degrees(1.6));
    assert_eq!(moved(RigJoint { noise, tolerance, ..bend() }), [false; 5]);
}

#[test]
fn a_pose_in_front_of_the_motion_moves_no_other_frame_when_clamped_smoothly() {
    let mut bends = vec![-60.0];
    bends.extend((0..60).map(|i| 20.0 + f64::from(i) * 0.5));
    let options = ClampOptions { smoothing: Some(Smoothing::default()), ..ClampOptions::default() };
    let (before, after) = clamped_bends(&bends, bend(), &options);
    assert_eq!((before.motion_start(), after.motion_start()), (1, 1));
    let at = |clip: &Clip, i: usize| clip.tracks()[0].rotations().at(i);
    assert!(at(&after, 0).angle().degrees() < 0.01);
    for i in 1..bends.len() {
        assert_eq!(at(&before, i).quat(), at(&after, i).quat(), "frame {i}");
    }
    // What else is outside is eased as before.
    bends.extend((0..40).map(|i| 50.0 + f64::from(i) * 2.0));
    let (before, after) = clamped_bends(&bends, bend(), &options);
    assert!(at(&after, 0).angle().degrees() < 0.01);
    let moved = (1..bends.len()).filter(|i| at(&before, *i).quat() != at(&after, *i).quat());
    assert!(moved.clone().count() > 15 && moved.clone().all(|i| i > 60), "{:?}", moved.min());
}

#[test]
fn nothing_is_said_of_a_boundary_that_is_not_there() {
    let (skeleton, rig) = alone(Limit::Free);
    let clip = turning(vec![Rotation::about_x(degrees(30.0)); 3]);
    let worst =
        |rig: &Rig| BoundRig::new(rig, &skeleton).unwrap().check(&clip, threads(1)).joints[0];
    assert_eq!(worst(&rig).worst, None);
}

#[test]
fn keys_are_clamped_as_keys_unless_the_motion_between_leaves_the_limit() {
    let at = |keys: &[(f64, Rotation)], interpolation| {
        let track = Track::from_parts(
            keys.iter().map(|k| k.1).collect(),
            KeyTimes::At(keys.iter().map(|k| k.0).collect()),
            Points::repeat(DVec3::ZERO, 1),
            KeyTimes::constant(),
        );
        let tracks = vec![track.with_interpolation(interpolation)];
        Clip::new(31, FrameRate::from_fps(30.0).unwrap(), tracks).unwrap()
    };
    let bend = |a: f64| Rotation::about_x(degrees(a));
    let (skeleton, rig) = alone(Limit::Hinge { axis: DVec3::X, arc: arc(0.0, 90.0) });
    let joint = skeleton.find("a").unwrap();
    let bound = BoundRig::new(&rig, &skeleton).unwrap();
    let keys = [(0.0, bend(10.0)), (0.4, bend(100.0)), (1.0, bend(20.0))];
    let mut clip = at(&keys, Interpolation::Linear);
    let clamped = bound.clamp(&mut clip, &ClampOptions::default()).joints[0];
    assert!(!clamped.resampled && clamped.changed > 20);
    assert!((clamped.largest.degrees() - 10.0).abs() < 1e-9);
    assert_eq!(clamped.largest_frame, FrameIndex(12));
    assert!(clamped.changed_inside > 0 && clamped.changed_inside < clamped.changed);
    assert_eq!(clip.track(joint).rotations().len(), 3);
    assert!(bound.check(&clip, threads(1)).ok());
    assert_eq!(clip.track(joint).rotations().at(0).quat(), bend(10.0).quat());

    // A smooth curve swings beyond its keys.
    let keys = [(0.0, bend(0.0)), (0.3, bend(89.0)), (0.6, bend(90.0)), (1.0, bend(10.0))];
    let mut clip = at(&keys, Interpolation::Smooth);
    assert!(!bound.check(&clip, threads(1)).ok());
    let clamped = bound.clamp(&mut clip, &ClampOptions::default()).joints[0];
    assert!(clamped.resampled);
    assert_eq!(clip.track(joint).rotations().len(), 31);
    assert!(bound.check(&clip, threads(1)).ok());

    // Constant tracks stay so.
    let mut clip = at(&[(0.0, bend(120.0))], Interpolation::Linear);
    let clamped = bound.clamp(&mut clip, &ClampOptions::default()).joints[0];
    assert_eq!((clamped.changed, clamped.resampled), (31, false));
    assert!(clip.track(joint).rotation_times().is_constant());
    assert!(bound.check(&clip, threads(1)).ok());

    // A whole figure.
    let keys = Keys::Sparse { count: 9, interpolation: Interpolation::Smooth };
    let glitches = Glitches { share: 0.3, ..Glitches::default() };
    let options = Options { frames: 300, keys, glitches, ..Options::default() };
    let synth = Synth::generate(&Figure::human(), &options, 2).unwrap();
    let rig = rig_of(&synth);
    let bound = BoundRig::new(&rig, &synth.skeleton).unwrap();
    for smoothing in [None, Some(Smoothing::default())] {
        let mut clip = synth.clip.clone();
        let clamped = bound.clamp(&mut clip, &exact(smoothing));
        assert!(clamped.joints.iter().any(|j| j.resampled));
        assert!(bound.check(&clip, threads(1)).joints.iter().all(is_inside));
    }
}

/// A bone that points to where a path leads, without twist, rolled by an angle.
fn pointing(bone: DVec3, direction: DVec3, roll: f64) -> Rotation {
    let swing = condyle::math::direct_rotation(bone, direction).unwrap().rotation;
    swing * Rotation::from_axis_angle(bone, degrees(roll)).unwrap()
}

/// Plain clamping has pops, smooth clamping none, and both are inside.
#[track_caller]
fn check_pops(limit: Limit, motion: Vec<Rotation>, plain_pop: f64) {
    let (skeleton, rig) = alone(limit);
    let joint = skeleton.find("a").unwrap();
    let bound = BoundRig::new(&rig, &skeleton).unwrap();
    let input = turning(motion);
    let largest_input = largest_step(&input, joint);
    let mut plain = input.clone();
    let _ = bound.clamp(&mut plain, &exact(None));
    assert!(largest_step(&plain, joint) > plain_pop, "{}", largest_step(&plain, joint));

    let smoothing = Smoothing::default();
    let mut smooth = input.clone();
    let clamped = bound.clamp(&mut smooth, &exact(Some(smoothing))).joints[0];
    assert!(clamped.pops > 0 && clamped.pops_left == 0, "{clamped:?}");
    let promised = smoothing.step.degrees().max(4.0 * largest_input);
    assert!(largest_step(&smooth, joint) <= promised + 1e-6, "{}", largest_step(&smooth, joint));
    let found = bound.check(&smooth, threads(1));
    assert!(is_inside(&found.joints[0]), "{found:?}");
    // The ends are far from the pop: they are as without smoothing.
    for frame in [0, input.frame_count() - 1] {
        let frame = FrameIndex(frame as u32);
        assert_eq!(
            smooth.rotation(joint, frame).quat(),
            plain.rotation(joint, frame).quat(),
            "frame {frame:?}"
        );
    }
}

/// A great arc from one direction to another in so many frames.
fn sweep(from: DVec3, to: DVec3, frames: usize, roll: f64) -> Vec<Rotation> {
    let (from, to) = (from.normalize(), to.normalize());
    let turn = condyle::math::direct_rotation(from, to).unwrap().rotation;
    (0..frames)
        .map(|i| {
            let along = Rotation::IDENTITY.slerp(turn, i as f64 / (frames - 1) as f64);
            pointing(DVec3::Z, along * from, roll)
        })
        .collect()
}

#[test]
fn smooth_clamping_goes_around_a_notch_where_plain_clamping_pops() {
    let notched = RegionShape::Notched {
        half_angle: degrees(70.0),
        inner: degrees(15.0),
        notch: degrees(80.0),
    };
    let region = SwingRegion::new(notched, DVec3::Z, DVec3::X).unwrap();
    let at = |azimuth: f64, polar: f64| {
        Rotation::about_z(degrees(azimuth)) * Rotation::about_y(degrees(polar)) * DVec3::Z
    };
    // Through the notch, over its medial line.
    let along = |i: i32| at(-80.0 + 160.0 * f64::from(i) / 399.0, 60.0);
    let motion = (0..400).map(|i| pointing(DVec3::Z, along(i), 0.0)).collect();
    let twist = TwistBounds::Arc(arc(-30.0, 30.0));
    check_pops(ball(DVec3::Z, polygon(&region, 300), twist), motion, 40.0);
}

#[test]
fn smooth_clamping_goes_around_a_kidney_with_twist_by_swing() {
    let kidney = RegionShape::Kidney {
        radius: degrees(50.0),
        extent: degrees(250.0),
        half_width: degrees(15.0),
    };
    let region = SwingRegion::new(kidney, DVec3::Z, DVec3::X).unwrap();
    let ends = region.boundary(400);
    // From one end of the spine to the other, through the opening: the ends are the directions
    // farthest from the middle.
    let far = |side: f64| {
        let farthest = |a: &&DVec3, b: &&DVec3| (a.z).total_cmp(&b.z);
        *ends.iter().filter(|d| d.y * side > 0.0).min_by(farthest).unwrap()
    };
    let by_swing = TwistBounds::BySwing(vec![
        TwistAt { direction: DVec3::Z, arc: arc(-80.0, 60.0) },
        TwistAt { direction: DVec3::X, arc: arc(-20.0, 90.0) },
        TwistAt { direction: DVec3::Y, arc: arc(-50.0, 75.0) },
        TwistAt { direction: DVec3::NEG_Y, arc: arc(-60.0, 35.0) },
    ]);
    let mut motion = vec![pointing(DVec3::Z, far(-1.0), 20.0); 100];
    motion.extend(sweep(far(-1.0), far(1.0), 300, 20.0));
    motion.extend(vec![pointing(DVec3::Z, far(1.0), 20.0); 100]);
    check_pops(ball(DVec3::Z, polygon(&region, 200), by_swing), motion, 30.0);
}

#[test]
fn smooth_clamping_goes_the_long_way_around_the_gap_of_a_twist() {
    let cone = SwingLimit::Ellipse { rx: degrees(40.0), ry: degrees(60.0) };
    let limit = ball(DVec3::Z, cone, TwistBounds::Arc(arc(-140.0, 150.0)));
    let direction = DVec3::new(0.3, 0.2, 1.0).normalize();
    let motion =
        (0..700).map(|i| pointing(DVec3::Z, direction, 100.0 + 160.0 * f64::from(i) / 699.0));
    check_pops(limit, motion.collect(), 50.0);
}

#[test]
fn smooth_clamping_works_for_hinges_universal_joints_and_euler_boxes() {
    let limit = Limit::Hinge { axis: DVec3::X, arc: arc(-150.0, 160.0) };
    let turn = |i: i32| Rotation::about_x(degrees(90.0 + 180.0 * f64::from(i) / 599.0));
    check_pops(limit, (0..600).map(turn).collect(), 30.0);
    let arcs = [arc(-150.0, 160.0), arc(-20.0, 30.0)];
    let limit = Limit::Universal { axes: [DVec3::X, DVec3::Z], arcs };
    let tilt = Rotation::about_z(degrees(10.0));
    check_pops(limit, (0..600).map(|i| turn(i) * tilt).collect(), 30.0);
    let arcs = [arc(-150.0, 160.0), arc(-20.0, 30.0), arc(-10.0, 10.0)];
    let limit = Limit::EulerBox(EulerBox { order: EulerOrder::XZY, arcs });
    check_pops(limit, (0..600).map(|i| turn(i) * tilt).collect(), 30.0);
}

#[test]
fn chatter_over_the_gap_is_one_pop_or_none() {
    // To and fro over the middle of the gap, faster than one could go around.
    let limit = Limit::Hinge { axis: DVec3::X, arc: arc(-150.0, 160.0) };
    let chatter = |i: i32| 185.0 + 8.0 * if i / 5 % 2 == 0 { 1.0 } else { -1.0 };
    let mut angles: Vec<f64> = (0..300).map(|i| 90.0 + 95.0 * f64::from(i) / 299.0).collect();
    angles.extend((0..60).map(chatter));
    angles.extend((0..300).map(|i| 185.0 - 95.0 * f64::from(i) / 299.0));
    let motion = angles.into_iter().map(|a| Rotation::about_x(degrees(a))).collect();
    check_pops(limit, motion, 30.0);
}

#[test]
fn limits_in_two_parts_keep_their_pop_and_say_so() {
    let cone = |direction| {
        let shape = RegionShape::Cone { half_angle: degrees(20.0) };
        polygon(&SwingRegion::new(shape, direction, DVec3::Y).unwrap(), 60)
    };
    let two = SwingLimit::Any(vec![cone(DVec3::Z), cone(DVec3::X)]);
    let (skeleton, rig) = alone(ball(DVec3::Z, two, TwistBounds::Free));
    let bound = BoundRig::new(&rig, &skeleton).unwrap();
    let mut clip = turning(sweep(DVec3::Z, DVec3::X, 300, 0.0));
    let smoothing = Some(Smoothing::default());
    let clamped = bound.clamp(&mut clip, &ClampOptions { smoothing, ..Default::default() });
    assert_eq!((clamped.joints[0].pops, clamped.joints[0].pops_left), (1, 1));
    assert!(bound.check(&clip, threads(1)).ok());
}

#[test]
fn meeting_the_limit_is_eased_and_stays_inside() {
    let (skeleton, rig) = alone(Limit::Hinge { axis: DVec3::X, arc: arc(0.0, 60.0) });
    let joint = skeleton.find("a").unwrap();
    let bound = BoundRig::new(&rig, &skeleton).unwrap();
    let clip = turning((0..100).map(|i| Rotation::about_x(degrees(f64::from(i)))).collect());
    // The largest change of velocity, degrees per frame.
    let kink = |clip: &Clip| {
        let angle = |i: usize| clip.track(joint).rotations().at(i).angle().degrees();
        (1..99).map(|i| (angle(i + 1) - 2.0 * angle(i) + angle(i - 1)).abs()).fold(0.0, f64::max)
    };
    let (mut plain, mut smooth) = (clip.clone(), clip);
    let _ = bound.clamp(&mut plain, &ClampOptions::default());
    let smoothing = Some(Smoothing::default());
    let clamped = bound.clamp(&mut smooth, &ClampOptions { smoothing, ..Default::default() });
    assert!(kink(&plain) > 0.99);
    assert!(kink(&smooth) < 0.4, "{}", kink(&smooth));
    assert!(is_inside(&bound.check(&smooth, threads(1)).joints[0]));
    // Four frames on either side, and no more.
    assert!((1..=4).contains(&clamped.joints[0].changed_inside), "{clamped:?}");
}

#[test]
fn prop_smooth_clamping_of_any_motion_is_inside_and_keeps_its_promise() {
    let by_swing = TwistBounds::BySwing(vec![
        TwistAt { direction: DVec3::Z, arc: arc(-80.0, 60.0) },
        TwistAt { direction: DVec3::X, arc: arc(-20.0, 90.0) },
        TwistAt { direction: DVec3::Y, arc: arc(-50.0, 75.0) },
    ]);
    let notched = RegionShape::Notched {
        half_angle: degrees(90.0),
        inner: degrees(20.0),
        notch: degrees(70.0),
    };
    let region = SwingRegion::new(notched, DVec3::Z, DVec3::X).unwrap();
    let ellipse = SwingLimit::Ellipse { rx: degrees(30.0), ry: degrees(70.0) };
    let limits = [
        Limit::Locked,
        Limit::Hinge { axis: DVec3::Y, arc: arc(-10.0, 120.0) },
        Limit::Hinge { axis: DVec3::Y, arc: Arc::FULL },
        ball(DVec3::Z, polygon(&region, 60), by_swing.clone()),
        ball(DVec3::Z, ellipse.clone(), TwistBounds::Arc(arc(-40.0, 70.0))),
        ball(DVec3::Z, ellipse, TwistBounds::Free),
        ball(DVec3::Z, SwingLimit::Free, by_swing),
        Limit::Universal {
            axes: [DVec3::X, DVec3::new(0.2, 0.3, 0.9).normalize()],
            arcs: [arc(-100.0, 130.0), arc(-30.0, 60.0)],
        },
        Limit::EulerBox(EulerBox {
            order: EulerOrder::ZYZ,
            arcs: [arc(-60.0, 120.0), arc(0.0, 130.0), arc(170.0, 260.0)],
        }),
    ];
    let frames = 500;
    let (mut pops, mut left) = (0, 0);
    for (n, limit) in limits.into_iter().enumerate() {
        let (skeleton, rig) = alone(limit);
        let joint = skeleton.find("a").unwrap();
        let bound = BoundRig::new(&rig, &skeleton).unwrap();
        for seed in 0..6_u64 {
            // Smooth curves through random rotations, some of them fast.
            let mut rng = condyle::synth::Rng::new(seed + 100 * n as u64);
            let keys: Rotations = (0..12)
                .map(|_| {
                    let q = [(); 4].map(|()| rng.uniform() - 0.5);
                    Rotation::from_wxyz(q).unwrap_or(Rotation::IDENTITY)
                })
                .collect();
            let at = |i: usize| i as f64 / (frames - 1) as f64 * 11.0;
            let curve = |i: usize| keys.sample_frames(at(i), Interpolation::Smooth).unwrap();
            let input = turning((0..frames).map(curve).collect());
            let mut clip = input.clone();
            let options = exact(Some(Smoothing::default()));
            let clamped = bound.clamp(&mut clip, &options).joints[0];
            assert!(is_inside(&bound.check(&clip, threads(1)).joints[0]));
            left += clamped.pops_left;
            pops += clamped.pops;
            let step = |clip: &Clip, f: usize| {
                let r = clip.track(joint).rotations();
                r.at(f).distance(r.at(f + 1)).degrees()
            };
            let mut beyond = 0;
            for f in 0..frames - 1 {
                let near = f.saturating_sub(2)..(f + 3).min(frames - 1);
                let fastest = near.map(|f| step(&input, f)).fold(0.0, f64::max);
                beyond += usize::from(step(&clip, f) > 6.0_f64.max(4.0 * fastest) + 1e-6);
            }
            assert_eq!(beyond, clamped.pops_left, "{clamped:?} limit {n} seed {seed}");
        }
    }
    // With 60 seeds each there are 10,751. Once 4 were left: two at the notched polygon, where the
    // straight way was taken for one though drawing it met the jump of the twist's range, and two at the
    // free swing, on a way next to −bone. The latter are among these.
    assert!(pops > 500 && left == 0, "{pops} {left}");
}

#[test]
fn a_real_take_of_few_degrees_of_freedom_keeps_them() {
    let Some(folder) = shared("asf-amc") else { return };
    let skeleton = read_file(&folder.join("02.asf"), None, &ReadOptions::default()).unwrap().file;
    let take = folder.join("02_01.amc");
    let file = read_file(&take, Some(&skeleton), &ReadOptions::default()).unwrap().file;
    // The knee has one degree of freedom, about x.
    let limit = Limit::Hinge { axis: DVec3::X, arc: arc(5.0, 25.0) };
    let mut rig = Rig::new(Skeleton::new(), condyle::rig::RigJoints::new());
    rig.joints.insert("ltibia", RigJoint::new(JointKind::Hinge, limit));
    let bound = BoundRig::new(&rig, &file.skeleton).unwrap();
    let mut after = file.clone();
    let clamped = bound.clamp(after.clip.as_mut().unwrap(), &ClampOptions::default());
    assert!(clamped.joints[0].changed > 10, "{clamped:?}");
    let (old, new) = (through_text(&file, Format::Amc).1, through_text(&after, Format::Amc).1);
    let mut changed = 0;
    for (old, new) in old.lines().zip(new.lines()) {
        let knee = |line: &str| line.strip_prefix("ltibia ").map(|a| a.parse::<f64>().unwrap());
        match (knee(old), knee(new)) {
            (Some(before), Some(after)) if !(5.0..=25.0).contains(&before) => {
                assert!((after - before.clamp(5.0, 25.0)).abs() < 1e-12, "{old} {new}");
                changed += 1;
            }
            _ => assert_eq!(old, new),
        }
    }
    assert_eq!(changed, clamped.joints[0].changed);
}

#[test]
fn real_files_are_inside_after_clamping_and_only_there_changed() {
    let Some(folder) = shared("bvh") else { return };
    let mut seen = 0;
    for path in files(&folder, "bvh").into_iter().step_by(4) {
        let Ok(read) = read_file(&path, None, &ReadOptions::default()) else { continue };
        let Some(clip) = read.file.clip.clone() else { continue };
        // Made up: every second joint a narrow ball about its bone, the others hinges.
        let mut rig = Rig::from_skeleton(&read.file.skeleton);
        for (i, joint) in read.file.skeleton.indices().enumerate().skip(1) {
            let bone = read.file.skeleton.bone_axis(joint).unwrap_or(DVec3::Y);
            let swing = SwingLimit::Ellipse { rx: degrees(20.0), ry: degrees(30.0) };
            let (kind, limit) = if i % 2 == 0 {
                (JointKind::Hinge, Limit::Hinge { axis: DVec3::X, arc: arc(-5.0, 60.0) })
            } else {
                (JointKind::Ball, ball(bone, swing, TwistBounds::Arc(arc(-10.0, 10.0))))
            };
            rig.joints.insert(&*read.file.skeleton[joint].name, RigJoint::new(kind, limit));
        }
        let bound = BoundRig::new(&rig, &read.file.skeleton).unwrap();
        for smoothing in [None, Some(Smoothing::default())] {
            let mut after = read.file.clone();
            let options = ClampOptions { threads: threads(2), ..exact(smoothing) };
            let clamped = bound.clamp(after.clip.as_mut().unwrap(), &options);
            assert_eq!(clamped.frames, clip.frame_count());
            let (back, text) = through_text(&after, Format::Bvh);
            let found = bound.check(back.clip.as_ref().unwrap(), threads(2));
            assert!(found.joints.iter().all(is_inside), "{}", path.display());
            let mut again = back.clone();
            let changed = bound.clamp(again.clip.as_mut().unwrap(), &options).changed();
            assert!(!changed && through_text(&again, Format::Bvh).1 == text, "{}", path.display());
        }
        seen += 1;
    }
    assert!(seen > 2);
}
