//! How well ends are known: visits and intervals through the whole estimator.

use glam::DVec3;

use super::*;
use crate::math::{Rotations, SwingAxes, trig};
use crate::motion::{FrameRate, Track};
use crate::rig::{End, EndOf, Open};
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

/// Where visits end, from 0 to 1 of how far they may: the k-th largest of n uniform numbers, which is
/// Beta(n + 1 − k, k); always 1 if n is 0.
fn share_of(rng: &mut Rng, n: usize, k: usize) -> f64 {
    let mut some: Vec<f64> = (0..n).map(|_| rng.uniform()).collect();
    some.sort_by(|a, b| b.total_cmp(a));
    some.get(k.wrapping_sub(1)).copied().unwrap_or(1.0)
}

/// From 0 to each of the peaks in 30 frames, held for so many, and back in 30.
fn held(peaks: &[f64], frames: usize) -> Vec<f64> {
    let one = |peak: &f64| {
        let wave = bent(&[*peak], 60);
        [&wave[..30], &vec![*peak; frames], &wave[30..]].concat()
    };
    peaks.iter().flat_map(one).collect()
}

/// How many of the intervals for the end of peaks by a law have it, how many are beyond and before it,
/// how many there are, and how wide they are on average.
struct Coverage {
    good: usize,
    beyond: usize,
    before: usize,
    told: usize,
    width: f64,
}

impl Coverage {
    const TRUTH: f64 = 90.0;

    /// Through the whole estimate.
    fn of(
        rng: &mut Rng,
        times: u64,
        (n, k): (usize, usize),
        spread: f64,
        visits: usize,
        frames: usize,
        noise: f64,
    ) -> Self {
        let mut all = Self { good: 0, beyond: 0, before: 0, told: 0, width: 0.0 };
        for _ in 0..times {
            let peak = |rng: &mut Rng| Self::TRUTH - spread * (1.0 - share_of(rng, n, k));
            let peaks: Vec<f64> = (0..visits).map(|_| peak(rng)).collect();
            let motion = about(DVec3::X, &held(&peaks, frames));
            let motion = if noise > 0.0 { noisy(rng, &motion, noise) } else { motion };
            let end = of(&ends_of(&[motion], &with_ends()), EndOf::Max);
            assert_eq!(end.interval.is_some(), end.open.is_none());
            let Some([low, high]) = end.interval.map(|i| i.map(Angle::degrees)) else { continue };
            all.told += 1;
            // Angles are in hundredths.
            all.beyond += usize::from(low > Self::TRUTH + 0.005);
            all.before += usize::from(high < Self::TRUTH - 0.005);
            all.width += high - low;
        }
        all.good = all.told - all.beyond - all.before;
        all
    }

    fn share(&self) -> f64 {
        self.good as f64 / self.told as f64
    }
}

/// Hinges with 0.3° of noise whose visits end at points of three laws, touched for a moment or held.
#[test]
fn intervals_of_hinges_have_the_true_end() {
    let times = figures(20, 500);
    let mut rng = Rng::new(1);
    for (name, n, k) in [("uniform", 1, 1), ("Beta(2, 2)", 3, 2), ("Beta(5, 1)", 5, 1)] {
        let mut all = [0; 2];
        for (spread, frames) in
            [10.0, 20.0, 40.0].into_iter().flat_map(|s| [(s, 0), (s, 10), (s, 20)])
        {
            let mut of_these = [0; 2];
            print!("{name} over {spread}°, held {frames}:");
            for visits in [5, 8, 15, 30, 50] {
                let found = Coverage::of(&mut rng, times, (n, k), spread, visits, frames, 0.3);
                let Coverage { good, beyond, before, told, .. } = found;
                print!(" {visits} {:.3} ({beyond} {before} of {told})", found.share());
                // Of five visits all over a wide law three may not be near each other.
                assert!(2 * told as u64 >= times, "{name}, {visits} visits: {told} of {times}");
                for sums in [&mut of_these, &mut all] {
                    sums[0] += good;
                    sums[1] += told;
                }
            }
            let share = of_these[0] as f64 / of_these[1] as f64;
            println!(" all {share:.3}");
            // Three standard deviations around 0.85 to 0.95.
            let spread = 3.0 * (0.1 / of_these[1] as f64).sqrt();
            assert!((0.85 - spread..=0.95 + spread).contains(&share), "{name} {frames}: {share}");
        }
        let share = all[0] as f64 / all[1] as f64;
        println!("{name}: {share:.3}");
        assert!((0.85..=0.95).contains(&share), "{name}: {share}");
    }
}

/// A hard stop has an interval, which has it, and is about as wide as the noise.
#[test]
fn ends_that_are_visited_often_have_a_narrow_interval() {
    let times = figures(15, 500);
    let mut rng = Rng::new(2);
    for noise in [0.0, 0.3, 1.0] {
        let mut all = [0; 2];
        for (frames, visits) in [0, 10, 20].into_iter().flat_map(|f| [5, 8, 20, 60].map(|v| (f, v)))
        {
            let found = Coverage::of(&mut rng, times, (0, 0), 0.0, visits, frames, noise);
            let width = found.width / found.told as f64;
            println!(
                "noise {noise}°, held {frames}, {visits} visits: {:.3} of {}, {width:.2}° wide",
                found.share(),
                found.told
            );
            assert_eq!(found.told as u64, times, "{noise} {frames} {visits}");
            assert!(width <= 5.0 * noise + 0.01, "{noise} {frames} {visits}: {width}");
            all[0] += found.good;
            all[1] += found.told;
        }
        let share = all[0] as f64 / all[1] as f64;
        println!("noise {noise}°: {share:.3}");
        assert!(share >= 0.85, "{noise}: {share}");
    }
}

/// A joint that rises and falls, in two clips of other noise.
fn two_clips(rng: &mut Rng) -> [Vec<Rotation>; 2] {
    let peaks = [88.0, 90.0, 86.0, 89.0, 84.0, 87.0];
    [(); 2].map(|()| noisy(rng, &about(DVec3::X, &bent(&peaks, 60)), 0.3))
}

#[test]
fn what_is_recorded_twice_counts_once() {
    let [a, b] = two_clips(&mut Rng::new(5));
    let one = ends_of(std::slice::from_ref(&a), &with_ends());
    assert_eq!(of(&one, EndOf::Max).visits, 6);
    assert_eq!(ends_of(&[a.clone(), a.clone(), a.clone()], &with_ends()), one);
    let both = ends_of(&[a.clone(), b.clone()], &with_ends());
    assert_eq!(of(&both, EndOf::Max).visits, 12);
    // The noise is that of the clip in the middle.
    let again = ends_of(&[a.clone(), b.clone(), b.clone(), a.clone()], &with_ends());
    for (end, before) in again.iter().zip(&both) {
        assert_eq!((end.visits, end.at, end.open), (before.visits, before.at, before.open));
        let off =
            |i: usize| end.interval.unwrap()[i].degrees() - before.interval.unwrap()[i].degrees();
        assert!(off(0).abs() < 0.03 && off(1).abs() < 0.03, "{end:?} {before:?}");
    }
    // One frame that is another makes it another clip.
    let mut other = a.clone();
    other[200] = b[200];
    assert_eq!(of(&ends_of(&[a.clone(), other], &with_ends()), EndOf::Max).visits, 12);
    // And it is said.
    let figures = [&a, &b, &a].map(|rotations| figure(rotations));
    let takes = figures.each_ref().map(|(skeleton, clip)| Take { skeleton, clip });
    let found = estimate(&takes, &with_ends()).unwrap();
    let [warning] = found.warnings.as_slice() else { panic!("{:?}", found.warnings) };
    assert_eq!(warning, "take 3: the same motion as take 1; visits of ends count it once");
    assert_eq!(estimate(&takes[..2], &with_ends()).unwrap().warnings, Vec::<String>::new());
}

/// Hinge, universal joint and ball: the margin moves the limit, and nothing else.
#[test]
fn visits_and_intervals_do_not_depend_on_the_margin() {
    let mut rng = Rng::new(6);
    let first = bent(&[60.0, 58.0, 59.0, 57.0, 60.0, 59.5], 200);
    let second = bent(&[35.0, 33.0, 34.0, 34.5, 35.0, 33.5, 32.0, 34.0], 150);
    let third = bent(&[30.0, 28.0, 29.0, 29.5, 30.0, 27.5], 173);
    let about_two = |i: usize| Rotation::about_x(deg(first[i])) * Rotation::about_z(deg(second[i]));
    let universal: Vec<Rotation> = (0..1000).map(about_two).collect();
    let ball = (0..1000).map(|i| about_two(i) * Rotation::about_y(deg(third[i]))).collect();
    for (name, motion) in
        [("hinge", about(DVec3::X, &first)), ("universal", universal), ("ball", ball)]
    {
        let motion = [noisy(&mut rng, &motion, 0.2)];
        let with =
            |margin: f64| ends_of(&motion, &EstimateOptions { margin: deg(margin), ..with_ends() });
        let plain = with(0.0);
        assert!(plain.iter().any(|end| end.interval.is_some()), "{name}: {plain:?}");
        for margin in [1.0, 5.0, 30.0, 80.0] {
            for end in with(margin) {
                let before = of(&plain, end.of);
                let moved = (end.at.degrees() - before.at.degrees()).abs();
                assert!((moved - margin).abs() < 0.02, "{name} {margin} {end:?} {before:?}");
                assert_eq!(End { at: before.at, ..end }, before, "{name} {margin}");
            }
        }
    }
}

#[test]
fn why_there_is_no_interval() {
    let max = |angles: &[f64]| of(&ends_of(&[about(DVec3::X, angles)], &with_ends()), EndOf::Max);
    let told = |end: End| (end.visits, end.interval.map(|i| i.map(Angle::degrees)), end.open);
    let few = max(&bent(&[50.0, 49.0, 50.0, 48.0], 60));
    assert_eq!(told(few), (4, None, Some(Open::FewExcursions)));
    let far = max(&bent(&[50.0, 20.0, 25.0, 49.0, 22.0, 18.0], 60));
    assert_eq!(told(far), (2, None, Some(Open::FewNear)));
    // Six times to 50 and less, in a clip that begins elsewhere.
    let from = |start: f64| {
        let fall = bent(&[start], 60)[30..].to_vec();
        max(&[fall, bent(&[49.0, 47.0, 50.0, 48.0, 46.5, 49.5], 60)].concat())
    };
    let (visits, plain, _) = told(from(40.0));
    let [low, high] = plain.unwrap();
    assert!(visits == 6 && low > 50.0 && low < 50.1 && high > 54.0, "{low} {high}");
    // The joint was there.
    let raised = from(54.0);
    assert_eq!(told(raised), (6, Some([54.0, high]), None));
    assert_eq!((raised.reached, raised.at), (Some(deg(54.0)), deg(54.0)));
    assert_eq!(told(from(58.0)), (6, None, Some(Open::NotTurned)));
    assert_eq!(told(from(90.0)), (0, None, Some(Open::NotTurned)));
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
