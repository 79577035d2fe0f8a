//! Glitch frames change nothing.

use super::*;
use crate::motion::Track;
use crate::synth::Glitches;

/// How far the boundaries of two swing regions, seen from rest, are apart at most, and then the ends of
/// their twists, degrees.
fn regions_apart(a: &RigJoint, b: &RigJoint) -> Option<[f64; 2]> {
    let (first, second) = (a.limit.prepare().unwrap(), b.limit.prepare().unwrap());
    let (first, second) = (first.swing()?, second.swing()?);
    let over = b.center.inverse() * a.center;
    let mut farthest = 0.0_f64;
    for (from, to, over) in [(first, second, over), (second, first, over.inverse())] {
        for direction in from.boundary(deg(0.5)).iter().flatten() {
            farthest = farthest.max(to.distance(over * *direction)?.degrees().abs());
        }
    }
    let mut rng = Rng::new(5);
    let mut twist = 0.0_f64;
    for direction in first.samples(40, || rng.uniform()) {
        let arcs = [first.twist(direction)?, second.twist(over * direction)?];
        twist = apart(arcs[0], arcs[1]).into_iter().fold(twist, f64::max);
    }
    Some([farthest, twist])
}

#[derive(Default)]
struct Moved {
    ends: Vec<f64>,
    boundaries: Vec<f64>,
    twists: Vec<f64>,
    other_kind: usize,
}

/// The same motion with the glitches of each joint replaced by a good frame: that it comes again changes
/// nothing.
fn without_glitches(synth: &Synth) -> Clip {
    let tracks = synth.skeleton.indices().map(|joint| {
        let bad = &synth.glitches[joint.get()];
        let good = synth.clip.frames().find(|f| !bad.contains(f)).unwrap();
        let frames = synth.clip.frames().map(|f| if bad.contains(&f) { good } else { f });
        let rotations = frames.map(|f| synth.clip.rotation(joint, f)).collect();
        Track::turning(rotations, synth.skeleton[joint].offset_m)
    });
    Clip::new(synth.clip.frame_count(), synth.clip.rate(), tracks.collect()).unwrap()
}

/// What motion with glitches is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum With {
    /// The motion as it was before.
    Clean,
    /// The same motion without the glitch frames.
    Fewer,
}

/// What one glitch frame in two hundred moves.
fn moved(
    exploration: Exploration,
    how: &EstimateOptions,
    frames: usize,
    with: With,
    figures: u64,
) -> Moved {
    let mut all = Moved::default();
    for seed in 0..figures {
        let plain = options(exploration, 0.3, frames);
        let spoilt =
            Options { glitches: Glitches { share: 0.005, ..Glitches::default() }, ..plain };
        let [plain, spoilt] = [plain, spoilt].map(|options| random(seed, &options));
        let found = estimated(&spoilt, how);
        let without = match with {
            With::Fewer => {
                let keep = EstimateOptions { outliers: Outliers::Keep, ..*how };
                let clip = without_glitches(&spoilt);
                estimate(&[Take { skeleton: &spoilt.skeleton, clip: &clip }], &keep).unwrap()
            }
            With::Clean => estimated(&plain, how),
        };
        for ((_, a, _), (_, b, _)) in joints(&plain, &without).zip(joints(&spoilt, &found)) {
            match (&a.limit, &b.limit) {
                _ if a.kind != b.kind => all.other_kind += 1,
                (Limit::Hinge { axis: u, arc: a }, Limit::Hinge { axis: v, arc: b }) => {
                    let b = if u.dot(*v) > 0.0 { *b } else { reversed(*b) };
                    all.ends.extend(apart(*a, b));
                }
                (Limit::Universal { axes: u, arcs: a }, Limit::Universal { axes: v, arcs: b }) => {
                    for i in 0..2 {
                        let b = if u[i].dot(v[i]) > 0.0 { b[i] } else { reversed(b[i]) };
                        all.ends.extend(apart(a[i], b));
                    }
                }
                _ => {
                    if let Some([boundary, twist]) = regions_apart(a, b) {
                        all.boundaries.push(boundary);
                        all.twists.push(twist);
                    }
                }
            }
        }
    }
    let mut line =
        format!("{exploration:?} {frames} {:?} {with:?}, other kinds {}", how.ball, all.other_kind);
    for (name, values) in
        [("ends", &mut all.ends), ("boundaries", &mut all.boundaries), ("twists", &mut all.twists)]
    {
        let over = values.iter().filter(|v| **v > 1.0).count();
        let (p99, most) = (quantile(values, 0.99), quantile(values, 1.0));
        line +=
            &format!("; {name}: {over} of {} above 1, p99 {p99:.2}, most {most:.2}", values.len());
    }
    println!("{line}");
    all
}

#[test]
fn glitches_move_no_end_and_no_boundary() {
    let cases = [
        (BallModel::Polygon, 2000, With::Clean),
        (BallModel::Polygon, 2000, With::Fewer),
        // Of few frames a single one may hold an ellipse where it is: without it, it moves by up to 1.7°.
        (BallModel::Ellipse, 1000, With::Fewer),
    ];
    for (model, frames, against) in cases {
        let how = with(model);
        let moved = moved(Exploration::Full, &how, frames, against, figures(8, 100));
        assert_eq!(moved.other_kind, 0);
        assert!(moved.boundaries.iter().all(|v| *v <= 1.0), "{:?}", how.ball);
        for values in [&moved.ends, &moved.twists] {
            assert!(values.iter().all(|v| *v <= 1.0), "{:?}", how.ball);
        }
    }
}

#[test]
fn glitches_among_poses_without_order_move_few() {
    let how = EstimateOptions { corners: 64, ..with(BallModel::Polygon) };
    for exploration in [Exploration::Scatter, Exploration::Poses] {
        // Where poses are few, that some are missing moves a boundary as well.
        let moved = moved(exploration, &how, 2000, With::Fewer, figures(6, 100));
        assert_eq!(moved.other_kind, 0);
        let far = |values: &[f64]| values.iter().filter(|v| **v > 1.0).count();
        assert!(100 * far(&moved.ends) <= moved.ends.len(), "{exploration:?}");
        // Those just outside of the others cannot be told: nearer than some four times as far as samples
        // are from each other, which in the largest regions is 20°.
        for values in [&moved.boundaries, &moved.twists] {
            assert!(2 * far(values) <= values.len(), "{exploration:?}: {values:?}");
        }
        assert!(moved.boundaries.iter().all(|v| *v <= 25.0), "{exploration:?}");
    }
}

/// A joint that moves, and one that has these angles about an axis, degrees.
fn beside_a_swing(angles: &[f64], axis: glam::DVec3) -> (Skeleton, Clip) {
    let mut skeleton = Skeleton::new();
    let joint = |name: &str| crate::skeleton::Joint::new(name, glam::DVec3::Y);
    let root = skeleton.add_root(joint("root")).unwrap();
    let swing = skeleton.add(root, joint("swing")).unwrap();
    skeleton.add(swing, joint("constant")).unwrap();
    let swings = (0..angles.len()).map(|i| {
        let (sin, _) = crate::math::trig::sin_cos(0.05 * i as f64);
        Rotation::about_x(deg(40.0 * sin))
    });
    let turns = angles.iter().map(|a| Rotation::from_axis_angle(axis, deg(*a)).unwrap());
    let tracks = vec![
        Track::constant(Rotation::IDENTITY, glam::DVec3::ZERO),
        Track::turning(swings.collect(), glam::DVec3::Y),
        Track::turning(turns.collect(), glam::DVec3::Y),
    ];
    let rate = crate::motion::FrameRate::from_fps(120.0).unwrap();
    (skeleton, Clip::new(angles.len(), rate, tracks).unwrap())
}

#[test]
fn one_wrong_frame_of_many_does_not_make_a_constant_joint_move() {
    let axis = glam::DVec3::new(0.6, 0.0, 0.8);
    let mut rng = Rng::new(9);
    for (jump, at, rounding) in [
        (90.0, vec![1500], 0.0),
        (90.0, vec![1500], 0.005),
        (3.0, vec![0, 2999], 0.0),
        (-170.0, vec![10, 11, 12 + 2000], 1e-5),
    ] {
        let mut angles: Vec<f64> =
            (0..3000).map(|_| 20.0 + rng.between(-1.0, 1.0) * rounding).collect();
        at.iter().for_each(|i| angles[*i] += jump);
        let (skeleton, clip) = beside_a_swing(&angles, axis);
        let take = Take { skeleton: &skeleton, clip: &clip };
        let how = EstimateOptions::default();
        let found = estimate(&[take], &how).unwrap();
        let summed = estimate_summary(&Summary::of_take(&skeleton, &clip, &how), &how).unwrap();
        for found in [&found, &summed] {
            let entry = found.joints.get("constant").unwrap();
            assert_eq!(entry.kind, JointKind::Fixed, "{jump}: {:?}", entry.why);
            // A pose in front is left out apart from glitches.
            let in_front = usize::from(at[0] == 0);
            assert!(
                entry.rejected >= Some((at.len() - in_front) as u64),
                "{jump} {:?}",
                entry.rejected
            );
            assert!(entry.confidence > Some(0.98), "{jump}: {:?}", entry.confidence);
            assert_eq!(found.joints.get("swing").unwrap().kind, JointKind::Hinge);
        }
        let kept = EstimateOptions { outliers: Outliers::Keep, ..how };
        let kept = estimate(&[take], &kept).unwrap();
        if jump == 90.0 && rounding == 0.0 {
            assert_eq!(kept.joints.get("constant").unwrap().kind, JointKind::Hinge);
        }
    }
    // For a while is not for a frame, and often is no accident.
    let held: Vec<f64> =
        (0..3000).map(|i| if (700..760).contains(&i) { 90.0 } else { 0.0 }).collect();
    let often: Vec<f64> = (0..3000).map(|i| if i % 40 == 0 { 90.0 } else { 0.0 }).collect();
    for angles in [held, often] {
        let (skeleton, clip) = beside_a_swing(&angles, axis);
        let take = Take { skeleton: &skeleton, clip: &clip };
        let found = estimate(&[take], &EstimateOptions::default()).unwrap();
        let entry = found.joints.get("constant").unwrap();
        assert_eq!((entry.kind, entry.rejected), (JointKind::Hinge, Some(0)));
    }
}

/// Written with six decimals or with two, by a program that rounds or by one that does not: it is the same
/// joint, and the others are what they were.
#[test]
fn one_wrong_frame_of_a_short_clip_does_not_make_a_constant_joint_move() {
    let at = |count: usize, wrong: &[usize]| {
        let mut angles = vec![20.0; count];
        wrong.iter().for_each(|i| angles[*i] += 90.0);
        beside_a_swing(&angles, glam::DVec3::X)
    };
    let long = at(3000, &[]);
    for (count, wrong, kind) in [
        (40, vec![17], JointKind::Fixed),
        (20, vec![9], JointKind::Fixed),
        (40, vec![17, 30], JointKind::Hinge),
        // As a dozen poses that somebody keyed.
        (12, vec![5], JointKind::Hinge),
    ] {
        let short = at(count, &wrong);
        let takes = [&long, &short].map(|(skeleton, clip)| Take { skeleton, clip });
        let how = EstimateOptions::default();
        let mut both = Summary::of_take(&long.0, &long.1, &how);
        let _ = both.merge(&Summary::of_take(&short.0, &short.1, &how)).unwrap();
        for found in [estimate(&takes, &how).unwrap(), estimate_summary(&both, &how).unwrap()] {
            let entry = found.joints.get("constant").unwrap();
            assert_eq!(entry.kind, kind, "{count} {wrong:?}: {:?}", entry.why);
        }
    }
}

#[test]
fn the_last_digit_of_a_constant_joint_changes_nothing() {
    let mut rng = Rng::new(4);
    for rounding in [0.0, 1e-12, 1e-6, 1e-4, 0.005] {
        for values in [2, 3, 1000] {
            let angles: Vec<f64> = (0..3000)
                .map(|_| rounding * (2.0 * rng.below(values) as f64 / (values - 1) as f64 - 1.0))
                .collect();
            let (skeleton, clip) = beside_a_swing(&angles, glam::DVec3::X);
            let take = Take { skeleton: &skeleton, clip: &clip };
            let found = estimate(&[take], &EstimateOptions::default()).unwrap();
            let entry = found.joints.get("constant").unwrap();
            assert_eq!(entry.kind, JointKind::Fixed, "{rounding}");
            assert!(entry.confidence > Some(0.98), "{rounding} {values}: {:?}", entry.confidence);
            assert_eq!(entry.why.as_deref(), Some("does not move"), "{rounding} {values}");
            let noise = found.noise.degrees();
            assert!(noise < 1e-6, "{rounding} {values}: {noise}, and the swing has none");
            // Of a few frames only their number counts.
            let (skeleton, clip) = beside_a_swing(&angles[..14], glam::DVec3::X);
            let take = Take { skeleton: &skeleton, clip: &clip };
            let found = estimate(&[take], &EstimateOptions::default()).unwrap();
            let entry = found.joints.get("constant").unwrap();
            let sure = entry.confidence.unwrap();
            assert_eq!(entry.kind, JointKind::Fixed, "{rounding}");
            assert!((sure - 0.96).abs() < 0.01, "{rounding} {values}: {sure}");
        }
    }
}
