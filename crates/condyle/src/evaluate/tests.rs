use super::*;
use crate::estimate::{EstimateOptions, Take, estimate};
use crate::synth::{Figure as Truth, Options, Synth};

fn motion(seed: u64) -> Synth {
    let options = Options { frames: 400, ..Options::default() };
    Synth::generate(&Truth::human(), &options, seed).unwrap()
}

/// A15: with the limits of other motion, the same goals give poses more like the capture.
#[test]
fn a15_limits_bring_poses_nearer_to_the_capture() {
    let (train, test) = (motion(1), motion(2));
    let takes = [Take { skeleton: &train.skeleton, clip: &train.clip }];
    let rig = estimate(&takes, &EstimateOptions::default()).unwrap().into_rig();
    let clips = [(&train.skeleton, &train.clip)];
    let options = EvaluateOptions { frames: 40, ..EvaluateOptions::default() };
    let of_clips = Known::from_clips(&clips).unwrap();
    for (known, is_fair) in [(of_clips, true), (Known::from_rig(&rig).unwrap(), false)] {
        let found = evaluate(&test.skeleton, &test.clip, &rig, &known, &options).unwrap();
        assert_eq!(found.effectors.len(), 6);
        assert!(found.published > 8 && found.poses.len() == 40, "{}", found.published);
        let error = |way: Way| {
            let of = found.ways.iter().find(|w| w.way == way).unwrap();
            println!(
                "{:15} {:5.1} mm {:5.2} deg, missed {:4.1} mm, {} outside",
                way.as_str(),
                1e3 * of.position_m.mean(),
                of.rotation_deg.mean(),
                1e3 * of.missed_m.mean(),
                of.outside_published
            );
            [of.position_m.mean(), of.rotation_deg.mean()]
        };
        let [ours, boxes, euler, without, mean] = Way::ALL.map(error);
        // Boxes about what the rig allows are nearly the same for motion that goes everywhere.
        let others = if is_fair { vec![boxes, euler, without, mean] } else { vec![without, mean] };
        for other in others {
            assert!(ours[1] < other[1], "{ours:?} {other:?}");
        }
        assert!(ours[0] < without[0]);
    }
}

/// What is found is what forward kinematics says, and inside of the limits.
#[test]
fn a15_errors_are_measured_and_limits_hold() {
    let test = motion(3);
    let takes = [Take { skeleton: &test.skeleton, clip: &test.clip }];
    let rig = estimate(&takes, &EstimateOptions::default()).unwrap().into_rig();
    let known = Known::from_rig(&rig).unwrap();
    let options = EvaluateOptions { frames: 20, ..EvaluateOptions::default() };
    let found = evaluate(&test.skeleton, &test.clip, &rig, &known, &options).unwrap();
    let bound = crate::enforce::BoundRig::new(&rig, &test.skeleton).unwrap();
    let mut sum = 0.0;
    for frame in &found.poses {
        let (a, b) = (frame.found[0].world(&test.skeleton), frame.captured.world(&test.skeleton));
        for joint in &found.compared {
            let j = joint.get();
            sum += (a.positions_m[j] - b.positions_m[j]).length();
            let m = bound.motion(*joint, frame.found[0].rotations[j]).unwrap();
            assert!(bound.limit(*joint).unwrap().contains(m));
        }
    }
    let mean = sum / (found.poses.len() * found.compared.len()) as f64;
    assert!((mean - found.ways[0].position_m.mean()).abs() < 1e-12);
    // In the same order on any number of threads.
    let threads = NonZeroUsize::new(2).unwrap();
    let again = EvaluateOptions { threads, ..options };
    let again = evaluate(&test.skeleton, &test.clip, &rig, &known, &again).unwrap();
    assert_eq!(again.ways, found.ways);
    let twice = Evaluation::together(&[found.clone(), again]);
    assert!((twice[0].position_m.mean() - mean).abs() < 1e-12);
    assert_eq!(twice[0].position_m.p95(), found.ways[0].position_m.p95());
}

/// As many frames as are asked for, from the first on, evenly spread; a joint that is named twice is one.
#[test]
fn a15_frames_are_spread_and_effectors_count_once() {
    let test = motion(4);
    for most in [1, 2, 3, 150, 300, 399, 400, 1000] {
        let frames: Vec<usize> = chosen(&test.clip, most).map(FrameIndex::get).collect();
        assert_eq!((frames.len(), frames[0]), (most.min(400), 0));
        let steps: Vec<usize> = frames.windows(2).map(|f| f[1] - f[0]).collect();
        let (least, greatest) = (steps.iter().min(), steps.iter().max());
        assert!(
            greatest <= least.map(|l| l + 1).as_ref() && least != Some(&0),
            "{most}: {steps:?}"
        );
    }
    let takes = [Take { skeleton: &test.skeleton, clip: &test.clip }];
    let rig = estimate(&takes, &EstimateOptions::default()).unwrap().into_rig();
    let known = Known::from_rig(&rig).unwrap();
    let hand = *usual_effectors(&test.skeleton).last().unwrap();
    let [once, twice] = [vec![hand], vec![hand, hand]].map(|effectors| {
        let effectors = Some(effectors);
        let options = EvaluateOptions { frames: 5, effectors, ..EvaluateOptions::default() };
        evaluate(&test.skeleton, &test.clip, &rig, &known, &options).unwrap()
    });
    assert_eq!(twice.effectors, [hand]);
    assert_eq!(once.ways, twice.ways);
}

/// What a pose in front of the motion says of it: nothing.
#[test]
fn a_pose_in_front_of_the_motion_is_not_evaluated() {
    let test = motion(5);
    let clip = &test.clip;
    let frames = std::iter::once(0.0).chain(clip.frames().map(|f| f64::from(f.0)));
    let mut with = clip.at_frames(frames, clip.rate(), None).unwrap();
    for joint in test.skeleton.indices().skip(1) {
        let turn = crate::math::Rotation::about_z(Angle::from_degrees(170.0));
        let turned = with.rotation(joint, FrameIndex(0)) * turn;
        with.set_rotation(joint, FrameIndex(0), turned);
    }
    assert_eq!((clip.motion_start(), with.motion_start()), (0, 1));
    for most in [1, 7, 400, 1000] {
        let [a, b] = [clip, &with].map(|of| chosen(of, most).map(FrameIndex::get));
        assert!(a.map(|frame| frame + 1).eq(b));
    }
    let takes = [Take { skeleton: &test.skeleton, clip }];
    let rig = estimate(&takes, &EstimateOptions::default()).unwrap().into_rig();
    let options = EvaluateOptions { frames: 6, ..EvaluateOptions::default() };
    let [a, b] = [clip, &with].map(|of| {
        let known = Known::from_clips(&[(&test.skeleton, of)]).unwrap();
        evaluate(&test.skeleton, of, &rig, &known, &options).unwrap().ways
    });
    assert_eq!(a, b);
}
