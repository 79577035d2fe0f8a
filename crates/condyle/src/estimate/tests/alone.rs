//! What is taken for a glitch where there is no order in time.

use glam::DVec3;

use super::invariance::reordered;
use super::*;
use crate::motion::Track;
use crate::skeleton::Joint;
use crate::synth::Glitches;

/// A figure of one joint that moves, and its rotations.
pub(super) fn one_joint(rotations: &[Rotation]) -> (Skeleton, Clip) {
    let mut skeleton = Skeleton::new();
    let root = skeleton.add_root(Joint { name: "root".to_owned(), ..Joint::default() }).unwrap();
    let offset_m = DVec3::X;
    let joint = skeleton
        .add(root, Joint { name: "joint".to_owned(), offset_m, ..Joint::default() })
        .unwrap();
    let end = Joint { name: "end".to_owned(), offset_m, ..Joint::default() };
    skeleton.add(joint, end).unwrap();
    let still = || Track::turning(rotations.iter().map(|_| Rotation::IDENTITY).collect(), offset_m);
    let tracks =
        vec![still(), Track::turning(rotations.iter().copied().collect(), offset_m), still()];
    let rate = random(0, &options(Exploration::Full, 0.0, 2)).clip.rate();
    (skeleton, Clip::new(rotations.len(), rate, tracks).unwrap())
}

/// What is found of one joint. Others would show the noise.
fn found(rotations: &[Rotation], noise_deg: f64) -> RigJoint {
    let (skeleton, clip) = one_joint(rotations);
    let noise = Noise::Given(deg(noise_deg));
    let how = &EstimateOptions { noise, ..with(BallModel::Polygon) };
    let found = estimate(&[Take { skeleton: &skeleton, clip: &clip }], how).unwrap();
    found.joints.get("joint").unwrap().clone()
}

fn turn(axis: DVec3, degrees: f64) -> Rotation {
    Rotation::from_axis_angle(axis, deg(degrees)).unwrap()
}

/// A bone that points anywhere within a cone, evenly, and rolls by up to 40°.
fn ball(rng: &mut Rng, cone_deg: f64) -> Rotation {
    let (_, cos) = crate::math::trig::sin_cos(deg(cone_deg).radians());
    let z = rng.between(cos, 1.0);
    let swing = crate::math::trig::acos(z);
    let axis = rng.perpendicular(DVec3::X);
    let roll = rng.between(-40.0, 40.0);
    Rotation::from_axis_angle(axis, Angle::from_radians(swing)).unwrap() * turn(DVec3::X, roll)
}

#[test]
fn good_samples_without_order_are_kept() {
    for exploration in [Exploration::Scatter, Exploration::Poses, Exploration::Dwell] {
        for noise in [0.0, 0.3, 1.0, 2.0] {
            let mut line = format!("{exploration:?}, noise {noise}, rejected of 100,000:");
            for frames in [12, 30, 60, 120, 300, 600, 2000, 5000] {
                let (mut joints_with, mut all_joints, mut rejected) = (0, 0, 0);
                let few = 2 + 3000 / (300 + frames as u64);
                for seed in 0..figures(few, 20 * few) {
                    let synth = random(seed, &options(exploration, noise, frames));
                    let mut order: Vec<usize> = (0..frames).collect();
                    Rng::new(seed).shuffle(&mut order);
                    let (skeleton, clip) = reordered(&synth, &order);
                    let take = Take { skeleton: &skeleton, clip: &clip };
                    let found = estimate(&[take], &EstimateOptions::default()).unwrap();
                    for (_, entry, _) in joints(&synth, &found) {
                        let count = entry.rejected.unwrap();
                        rejected += count;
                        joints_with += u32::from(count > 0);
                        all_joints += 1;
                    }
                }
                let share = 1e5 * rejected as f64 / (f64::from(all_joints) * frames as f64);
                line += &format!(" {frames}: {share:.1} ({joints_with} of {all_joints} joints)");
                // Between clusters some samples are alone.
                let most =
                    if exploration == Exploration::Dwell && frames < 600 { 0.04 } else { 0.002 };
                assert!(f64::from(joints_with) <= most * f64::from(all_joints), "{line}");
            }
            println!("{line}");
        }
    }
}

#[test]
fn samples_that_get_rare_towards_the_rim_are_kept() {
    let (mut joints_with, mut rejected, mut all) = (0, 0, 0);
    let count = figures(60, 2000);
    for seed in 0..count {
        let mut rng = Rng::new(seed);
        let n = [60, 300, 1000][seed as usize % 3];
        let wide = [rng.between(5.0, 25.0), rng.between(5.0, 25.0), rng.between(5.0, 25.0)];
        let wide = DVec3::from_array(wide.map(f64::to_radians));
        let axes = seed / 3 % 3;
        let rotations: Vec<Rotation> = (0..n)
            .map(|_| {
                let mut v = DVec3::new(rng.normal(), rng.normal(), rng.normal()) * wide;
                if axes < 1 {
                    v.z = 0.0;
                }
                if axes < 2 {
                    v.x = 0.0;
                }
                Rotation::exp(v).unwrap()
            })
            .collect();
        let entry = found(&rotations, 0.1);
        rejected += entry.rejected.unwrap();
        joints_with += u32::from(entry.rejected > Some(0));
        all += n;
    }
    println!(
        "normal distributions: {joints_with} of {count} joints, {:.1} of 100,000 samples",
        1e5 * rejected as f64 / all as f64
    );
    // The farthest of some is farther than evenly spread samples would be.
    assert!(f64::from(joints_with) <= 0.15 * count as f64, "{joints_with}");
}

#[test]
fn glitches_close_together_do_not_protect_each_other_but_poses_do() {
    for seed in 0..figures(10, 200) {
        let mut rng = Rng::new(seed);
        let mut rotations: Vec<Rotation> = (0..1000).map(|_| ball(&mut rng, 40.0)).collect();
        let away = rng.perpendicular(DVec3::X);
        let close =
            |rng: &mut Rng| turn(away, 100.0) * turn(rng.direction(), rng.between(0.0, 2.0));
        for count in [1, 2, 3] {
            rotations.push(close(&mut rng));
            assert_eq!(found(&rotations, 0.1).rejected, Some(count), "{seed}");
        }
        for _ in 0..7 {
            rotations.push(close(&mut rng));
        }
        assert_eq!(found(&rotations, 0.1).rejected, Some(0), "{seed}");
        // By twist.
        rotations.truncate(1000);
        for count in [1, 2, 3] {
            rotations.push(ball(&mut rng, 5.0) * turn(DVec3::X, 120.0 + rng.between(0.0, 5.0)));
            assert_eq!(found(&rotations, 0.1).rejected, Some(count), "{seed}");
        }
    }
}

#[test]
fn neither_order_nor_repetition_tells_a_glitch_that_time_does_not() {
    let glitches = Glitches { share: 0.005, ..Glitches::default() };
    for seed in 0..figures(3, 40) {
        let synth = random(seed, &Options { glitches, ..options(Exploration::Scatter, 0.3, 600) });
        let mut rng = Rng::new(seed);
        let mut order: Vec<usize> = (0..600).collect();
        order.extend((0..200).map(|_| rng.below(600)));
        let how = EstimateOptions { noise: Noise::Given(deg(0.3)), ..with(BallModel::Polygon) };
        let mut limits = Vec::new();
        for _ in 0..2 {
            rng.shuffle(&mut order);
            let (skeleton, clip) = reordered(&synth, &order);
            let found = estimate(&[Take { skeleton: &skeleton, clip: &clip }], &how).unwrap();
            limits.push(joints(&synth, &found).map(|(_, e, _)| e.clone()).collect::<Vec<_>>());
        }
        let found = estimated(&synth, &how);
        for (i, (_, entry, _)) in joints(&synth, &found).enumerate() {
            for other in &limits {
                assert_eq!(
                    format!("{:?}", entry.limit),
                    format!("{:?}", other[i].limit),
                    "{seed} {i}"
                );
                assert_eq!(entry.center.quat(), other[i].center.quat());
                assert_eq!(entry.rejected, other[i].rejected);
            }
        }
    }
}

#[test]
fn the_axis_of_a_short_arc_is_not_that_of_glitches() {
    let mut most = 0.0_f64;
    for seed in 0..figures(60, 2000) {
        let mut rng = Rng::new(seed);
        let axis = rng.direction();
        let n = [100, 400, 2000][seed as usize % 3];
        let half = rng.between(4.0, 15.0);
        let mut rotations: Vec<Rotation> = (0..n)
            .map(|_| {
                let noise = DVec3::new(rng.normal(), rng.normal(), rng.normal());
                turn(axis, rng.between(-half, half))
                    * Rotation::exp(noise * deg(0.2).radians()).unwrap()
            })
            .collect();
        for i in 0..n / 100 {
            rotations[97 * i] = rng.rotation();
        }
        let entry = found(&rotations, 0.2);
        let Limit::Hinge { axis: found, arc } = &entry.limit else {
            panic!("{seed}: {:?} {:?}", entry.kind, entry.why)
        };
        most = most.max(Angle::from_radians(found.cross(axis).length()).degrees());
        assert!((arc.width().degrees() - 2.0 * half).abs() < 3.0, "{seed}: {arc:?}, {half}");
    }
    println!("axes of short arcs off by at most {most:.2}");
    assert!(most < 3.0, "{most}");
}
