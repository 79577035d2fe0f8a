//! How well ends are known: visits and intervals through the whole estimator.

use glam::DVec3;

use super::*;
use crate::math::{Rotations, SwingAxes, trig};
use crate::motion::{FrameRate, Track};
use crate::rig::{End, EndOf};
use crate::skeleton::Joint;

fn with_ends() -> EstimateOptions {
    EstimateOptions { ends: true, ..EstimateOptions::default() }
}

/// A root, and a joint with its bone along y that turns by these rotations.
fn figure(rotations: &[Rotation]) -> (Skeleton, Clip) {
    let mut skeleton = Skeleton::new();
    let root = skeleton.add_root(Joint::new("root", DVec3::ZERO)).unwrap();
    let mut joint = Joint::new("joint", DVec3::Y);
    joint.end_sites = vec![crate::skeleton::EndSite { name: None, offset_m: DVec3::Y }];
    skeleton.add(root, joint).unwrap();
    let tracks = vec![
        Track::constant(Rotation::IDENTITY, DVec3::ZERO),
        Track::turning(rotations.iter().copied().collect::<Rotations>(), DVec3::Y),
    ];
    let rate = FrameRate::from_fps(120.0).unwrap();
    (skeleton, Clip::new(rotations.len(), rate, tracks).unwrap())
}

fn ends_of(takes: &[Vec<Rotation>], how: &EstimateOptions) -> Vec<End> {
    let figures: Vec<_> = takes.iter().map(|rotations| figure(rotations)).collect();
    let takes: Vec<_> = figures.iter().map(|(skeleton, clip)| Take { skeleton, clip }).collect();
    estimate(&takes, how).unwrap().joints.get("joint").unwrap().ends.clone()
}

fn of(ends: &[End], which: EndOf) -> End {
    *ends.iter().find(|end| end.of == which).unwrap_or_else(|| panic!("{which}: {ends:?}"))
}

/// From 0 to each of the peaks and back, so many frames each, degrees.
fn bent(peaks: &[f64], frames: u32) -> Vec<f64> {
    let there =
        |i: u32| 0.5 - 0.5 * trig::cos(deg(360.0 * f64::from(i) / f64::from(frames)).radians());
    peaks.iter().flat_map(|peak| (0..frames).map(move |i| peak * there(i))).collect()
}

fn about(axis: DVec3, angles: &[f64]) -> Vec<Rotation> {
    angles.iter().map(|a| Rotation::from_axis_angle(axis, deg(*a)).unwrap()).collect()
}

fn noisy(rng: &mut Rng, rotations: &[Rotation], noise_deg: f64) -> Vec<Rotation> {
    let mut jolt = || {
        let v = DVec3::new(rng.normal(), rng.normal(), rng.normal());
        Rotation::exp(v * deg(noise_deg).radians()).unwrap()
    };
    rotations.iter().map(|q| *q * jolt()).collect()
}

/// A hinge with 0.3° of noise whose visits end at points of three laws over 40°.
#[test]
fn intervals_of_hinges_have_the_true_end() {
    let times = figures(150, 1000) as usize;
    let truth = 130.0;
    let mut rng = Rng::new(1);
    for (name, n, k) in [("uniform", 1, 1), ("Beta(2, 2)", 3, 2), ("Beta(5, 1)", 5, 1)] {
        let mut all = [0; 2];
        for visits in [5, 9, 20, 50] {
            let (mut good, mut told) = (0, 0);
            for _ in 0..times {
                let mut peak = || {
                    let mut some: Vec<f64> = (0..n).map(|_| rng.uniform()).collect();
                    some.sort_by(|a, b| b.total_cmp(a));
                    truth - 40.0 * (1.0 - some[k - 1])
                };
                let peaks: Vec<f64> = (0..visits).map(|_| peak()).collect();
                let motion = noisy(&mut rng, &about(DVec3::X, &bent(&peaks, 60)), 0.3);
                let end = of(&ends_of(&[motion], &with_ends()), EndOf::Max);
                let Some([low, high]) = end.interval.map(|i| i.map(Angle::degrees)) else {
                    continue;
                };
                told += 1;
                good += usize::from(low <= truth && truth <= high);
            }
            let share = good as f64 / told as f64;
            println!("{name}, {visits} visits: {share:.3} of {told}");
            // Of five visits all over a wide law three may not be near each other.
            assert!(2 * told >= times, "{name}, {visits} visits: {told} of {times}");
            all[0] += good;
            all[1] += told;
            // Three standard deviations around 0.85 to 0.95.
            let spread = 3.0 * (0.1 / told as f64).sqrt();
            assert!((0.85 - spread..=0.95 + spread).contains(&share), "{name} {visits}: {share}");
        }
        let share = all[0] as f64 / all[1] as f64;
        println!("{name}: {share:.3}");
        assert!((0.85..=0.95).contains(&share), "{name}: {share}");
    }
}

#[test]
fn visits_of_hinges_are_counted_over_clips() {
    let peaks = [100.0, 98.0, 99.0, 40.0, 97.0, 99.5];
    let one = ends_of(&[about(DVec3::X, &bent(&peaks, 40))], &with_ends());
    assert_eq!(one.len(), 2);
    let (min, max) = (of(&one, EndOf::Min), of(&one, EndOf::Max));
    // The one to 40 is an excursion, but no visit.
    assert_eq!((max.visits, max.at.degrees()), (5, 100.0));
    // Where the clip begins and ends nothing turned back.
    assert_eq!((min.visits, min.at.degrees()), (5, 0.0));
    let [low, high] = max.interval.unwrap().map(Angle::degrees);
    // x₁ − x₃ is 1.
    assert!((low - 100.04).abs() < 0.02 && (high - 105.53).abs() < 0.02, "{low} {high}");
    // The same in two clips and in any order; each begins anew.
    let halves =
        [bent(&peaks[..2], 40), bent(&peaks[2..], 40)].map(|angles| about(DVec3::X, &angles));
    let two = ends_of(&halves, &with_ends());
    assert_eq!((of(&two, EndOf::Max), of(&two, EndOf::Min).visits), (max, 4));
    let [a, b] = halves;
    assert_eq!(ends_of(&[b, a], &with_ends()), two);
    // A clip that raises it once: a bound, and no interval.
    let once = of(&ends_of(&[about(DVec3::X, &bent(&[100.0], 40))], &with_ends()), EndOf::Max);
    assert_eq!((once.visits, once.interval), (1, None));
}

#[test]
fn without_an_order_of_time_there_are_no_ends() {
    let mut rng = Rng::new(2);
    let motion = about(DVec3::X, &bent(&[80.0; 8], 40));
    assert_eq!(of(&ends_of(std::slice::from_ref(&motion), &with_ends()), EndOf::Max).visits, 8);
    let mut shuffled = motion.clone();
    for i in (1..shuffled.len()).rev() {
        shuffled.swap(i, rng.below(i + 1));
    }
    assert_eq!(ends_of(&[shuffled.clone()], &with_ends()), []);
    assert_eq!(ends_of(&[motion.clone(), shuffled], &with_ends()), []);
    // Where the order of frames does not count by choice.
    let given = EstimateOptions { noise: Noise::Given(deg(0.1)), ..with_ends() };
    assert_eq!(ends_of(std::slice::from_ref(&motion), &given).len(), 2);
    let kept = EstimateOptions { outliers: Outliers::Keep, ..given };
    assert_eq!(ends_of(std::slice::from_ref(&motion), &kept), []);
    assert_eq!(ends_of(std::slice::from_ref(&motion), &EstimateOptions::default()), []);
    let paper = EstimateOptions { method: Method::Paper, ..with_ends() };
    assert_eq!(ends_of(std::slice::from_ref(&motion), &paper), []);
    // A clip in which it rests, with noise, is one visit.
    let rests = noisy(&mut rng, &about(DVec3::X, &[30.0; 200]), 0.1);
    let both = ends_of(&[motion, rests], &with_ends());
    assert_eq!(of(&both, EndOf::Max).visits, 8);
}

#[test]
fn glitches_are_no_visits() {
    let mut rng = Rng::new(3);
    let peaks = [90.0, 89.0, 91.0, 90.5, 88.0, 90.0];
    let clean = noisy(&mut rng, &about(DVec3::X, &bent(&peaks, 100)), 0.2);
    let mut motion = clean.clone();
    for i in [130, 131, 333, 480] {
        motion[i] = Rotation::about_x(deg(170.0));
    }
    let (with, without) = (ends_of(&[motion], &with_ends()), ends_of(&[clean], &with_ends()));
    for which in [EndOf::Min, EndOf::Max] {
        let (with, without) = (of(&with, which), of(&without, which));
        assert_eq!(with.visits, without.visits);
        assert!((with.at.degrees() - without.at.degrees()).abs() < 0.5);
    }
}

#[test]
fn noise_alone_makes_no_visits() {
    let mut rng = Rng::new(4);
    for noise in [0.1, 0.5, 1.5] {
        let motion = noisy(&mut rng, &about(DVec3::X, &bent(&[40.0; 7], 200)), noise);
        let ends = ends_of(&[motion], &with_ends());
        assert_eq!((of(&ends, EndOf::Max).visits, of(&ends, EndOf::Min).visits), (7, 6), "{noise}");
    }
}

#[test]
fn both_angles_of_a_universal_joint_have_ends() {
    let (first, second) = (bent(&[60.0; 3], 200), bent(&[35.0; 5], 120));
    let turn = |(a, b): (&f64, &f64)| Rotation::about_x(deg(*a)) * Rotation::about_z(deg(*b));
    let motion: Vec<Rotation> = first.iter().zip(&second).map(turn).collect();
    let ends = ends_of(&[motion], &with_ends());
    assert_eq!(ends.len(), 4, "{ends:?}");
    assert_eq!((of(&ends, EndOf::FirstMax).visits, of(&ends, EndOf::SecondMax).visits), (3, 5));
    assert!((of(&ends, EndOf::FirstMax).at.degrees() - 60.0).abs() < 0.1);
    assert!((of(&ends, EndOf::SecondMax).at.degrees() - 35.0).abs() < 0.1);
    assert!(of(&ends, EndOf::FirstMax).interval.is_none());
    assert!(of(&ends, EndOf::SecondMax).interval.is_some());
}

/// The swing goes around an ellipse so many times, the twist to and fro as often as it does.
#[test]
fn swing_and_twist_of_a_ball_have_ends() {
    let axes = SwingAxes::new(DVec3::Y, None).unwrap();
    let motion: Vec<Rotation> = (0..2400)
        .map(|i| {
            let angle = |turns: f64| deg(360.0 * turns * f64::from(i) / 2400.0).radians();
            let radius = 0.4 + 0.6 * trig::sin(angle(0.5)).abs();
            let (sin, cos) = trig::sin_cos(angle(6.0));
            let swing = axes.vector(DVec3::new(cos * 50.0, sin * 30.0, 0.0)) * radius;
            let twist = 20.0 * trig::sin(angle(9.2));
            Rotation::exp(swing * deg(1.0).radians()).unwrap()
                * Rotation::from_axis_angle(DVec3::Y, deg(twist)).unwrap()
        })
        .collect();
    for ball in [BallModel::Ellipse, BallModel::Polygon, BallModel::Auto] {
        let found =
            ends_of(std::slice::from_ref(&motion), &EstimateOptions { ball, ..with_ends() });
        let names: Vec<&str> = found.iter().map(|end| end.of.as_str()).collect();
        assert_eq!(names, ["x_min", "x_max", "y_min", "y_max", "twist_min", "twist_max"]);
        for end in &found {
            assert!((2..=10).contains(&end.visits), "{ball:?} {end:?}");
            if let Some([low, high]) = end.interval {
                assert!(low.radians() <= high.radians());
            }
        }
        let twist = [EndOf::TwistMin, EndOf::TwistMax].map(|of_| of(&found, of_));
        assert_eq!(twist.map(|end| end.visits), [9, 9], "{ball:?}");
    }
    let boxed = EstimateOptions { ball: BallModel::Box, ..with_ends() };
    assert_eq!(ends_of(&[motion], &boxed), []);
}

#[test]
fn a_full_circle_and_a_joint_that_rests_have_no_ends() {
    let around: Vec<f64> = (0..3000).map(f64::from).collect();
    assert_eq!(ends_of(&[about(DVec3::X, &around)], &with_ends()), []);
    assert_eq!(ends_of(&[about(DVec3::X, &[0.0; 100])], &with_ends()), []);
}

/// An arc that passes ±180° has its ends where it says.
#[test]
fn angles_have_no_jump_inside_an_arc() {
    let angles: Vec<f64> = bent(&[120.0; 6], 60).iter().map(|a| a + 110.0).collect();
    let ends = ends_of(&[about(DVec3::X, &angles)], &with_ends());
    assert_eq!(ends.len(), 2);
    let width = ends[1].at.degrees() - ends[0].at.degrees();
    assert!((width - 120.0).abs() < 0.1, "{ends:?}");
    assert!(ends.iter().all(|end| (5..=6).contains(&end.visits)), "{ends:?}");
}
