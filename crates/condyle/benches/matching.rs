//! A window of 30 frames looked for in a clip of 100,000, 20 joints with 60 numbers: the search against a
//! plain scan of all windows in f64, the same distance and the same result. Best of some runs, interleaved,
//! one thread.
//!
//! Counted is everything that depends on the query and on the clip, apart from taking the features of the
//! clip, which is done once for any number of searches. Part of that, and given beside it, is what goes
//! before the first look at the whole clip: the query, where its joints are, what its bounds need of it.
//! Bounds of the clip's windows are made on the way and always counted. With an index, made once like the
//! features, the search is shorter and finds the same. The plain scan has its numbers row by row, already in
//! the order that it reads them in, and keeps four sums, which the compiler packs; beside it is one
//! that keeps a single sum.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]
#![allow(clippy::unwrap_used, reason = "a benchmark that fails panics")]
#![allow(clippy::disallowed_methods, reason = "motion to search is made with the functions of std")]

use std::f64::consts::{PI, TAU};
use std::hint::black_box;
use std::time::Instant;

use condyle::edit::{Features, Ground, Metric, Query, SearchOptions, best_matches};
use condyle::glam::DVec3;
use condyle::math::{Angle, EulerOrder, Rotation};
use condyle::motion::{Clip, FrameRate, Track};
use condyle::skeleton::{Joint, Skeleton};
use condyle::synth::Rng;

const FRAMES: usize = 100_000;
const WINDOW: usize = 30;
const JOINTS: usize = 20;
const RUNS: usize = 15;

/// A root with four limbs.
fn skeleton(joints: usize) -> Skeleton {
    let mut skeleton = Skeleton::new();
    let root = skeleton.add_root(Joint::new("root", DVec3::Y)).unwrap();
    let mut last = root;
    for i in 0..joints {
        let parent = if i % 5 == 0 { root } else { last };
        last =
            skeleton.add(parent, Joint::new(format!("j{i}"), DVec3::new(0.1, 0.2, 0.05))).unwrap();
    }
    skeleton
}

/// Joints that turn by Euler angles ZYX, given as a function of joint, angle and frame.
fn clip(
    skeleton: &Skeleton,
    frames: usize,
    mut angle: impl FnMut(usize, usize, usize) -> f64,
) -> Clip {
    let tracks = skeleton
        .indices()
        .map(|j| {
            let turn = |f: usize| {
                if skeleton.parent(j).is_none() {
                    return Rotation::IDENTITY;
                }
                let angles = [0, 1, 2].map(|d| Angle::from_radians(angle(j.get() - 1, d, f)));
                EulerOrder::ZYX.to_rotation(angles).unwrap()
            };
            Track::turning((0..frames).map(turn).collect(), skeleton[j].offset_m)
        })
        .collect();
    Clip::new(frames, FrameRate::from_fps(120.0).unwrap(), tracks).unwrap()
}

/// Waves of 0.1 to 2 per second with random phases for every angle.
struct Waves(Vec<[f64; 3]>);

impl Waves {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let wave = |_| {
            [rng.between(0.1, 0.25), TAU * rng.between(0.1, 2.0) / 120.0, rng.between(0.0, TAU)]
        };
        Self((0..3 * JOINTS * 5).map(wave).collect())
    }

    fn at(&self, joint: usize, d: usize, frame: usize) -> f64 {
        let of = &self.0[5 * (3 * joint + d)..][..5];
        let sum: f64 = of.iter().map(|[a, w, p]| a * (w * frame as f64 + p).sin()).sum();
        // The middle angle keeps away from the lock.
        if d == 1 { 0.5 * sum } else { sum }
    }
}

/// The numbers of features, row by row.
fn rows(features: &Features) -> Vec<f64> {
    (0..features.frame_count()).flat_map(|f| features.numbers(f).collect::<Vec<_>>()).collect()
}

#[inline(always)]
fn square<const WRAPPED: bool>(x: f64, q: f64) -> f64 {
    let mut d = x - q;
    if WRAPPED {
        d = d.abs();
        d = if TAU - d < d { TAU - d } else { d };
    }
    d * d
}

/// Four sums, which two vectors of the baseline hold.
fn four_sums<const WRAPPED: bool>(x: &[f64], q: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    for (x, q) in x.chunks_exact(4).zip(q.chunks_exact(4)) {
        for l in 0..4 {
            sums[l] += square::<WRAPPED>(x[l], q[l]);
        }
    }
    let rest = x.chunks_exact(4).remainder().iter().zip(q.chunks_exact(4).remainder());
    sums.iter().sum::<f64>() + rest.map(|(x, q)| square::<WRAPPED>(*x, *q)).sum::<f64>()
}

/// As one would write it.
fn one_sum<const WRAPPED: bool>(x: &[f64], q: &[f64]) -> f64 {
    x.iter().zip(q).map(|(x, q)| square::<WRAPPED>(*x, *q)).sum()
}

/// The angle between unit quaternions, for each four numbers.
fn angles(x: &[f64], q: &[f64]) -> f64 {
    let angle = |(x, q): (&[f64], &[f64])| {
        let part =
            |sign: f64| (0..4).map(|d| (x[d] + sign * q[d]) * (x[d] + sign * q[d])).sum::<f64>();
        let (a, b) = (part(-1.0), part(1.0));
        let angle = 4.0 * a.min(b).sqrt().atan2(a.max(b).sqrt());
        angle * angle
    };
    x.chunks_exact(4).zip(q.chunks_exact(4)).map(angle).sum()
}

/// All sums, then the best that do not overlap.
fn plain(
    x: &[f64],
    q: &[f64],
    width: usize,
    count: usize,
    sum: impl Fn(&[f64], &[f64]) -> f64,
) -> Vec<(usize, f64)> {
    let mut sums: Vec<f64> = x.windows(q.len()).step_by(width).map(|x| sum(x, q)).collect();
    let mut found: Vec<(usize, f64)> = Vec::new();
    for _ in 0..count {
        let (mut at, mut least) = (0, f64::INFINITY);
        for (i, s) in sums.iter().enumerate() {
            if *s < least {
                (at, least) = (i, *s);
            }
        }
        found.push((at, least));
        let end = (at + WINDOW).min(sums.len());
        sums[(at + 1).saturating_sub(WINDOW)..end].fill(f64::INFINITY);
    }
    found
}

struct Case<'a> {
    name: &'a str,
    metric: Metric,
    skeleton: &'a Skeleton,
    clip: &'a Clip,
    query: &'a Clip,
    count: usize,
}

fn seconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

fn compare(case: &Case<'_>) {
    let features = Features::on(case.skeleton, case.clip, case.metric, Ground::Y_UP).unwrap();
    let wanted = features.like(case.skeleton, case.query).unwrap();
    let options = SearchOptions { count: case.count, ..SearchOptions::default() };
    let search = || {
        let query = Query::new(&wanted, 0..WINDOW).unwrap();
        best_matches(black_box(&query), &[black_box(&features)], &options).unwrap()
    };
    let indexed = features.clone().indexed();
    let search_indexed = || {
        let query = Query::new(&wanted, 0..WINDOW).unwrap();
        best_matches(black_box(&query), &[black_box(&indexed)], &options).unwrap()
    };
    assert_eq!(search(), search_indexed());
    // As good as no search: what is left is the preparation.
    let prepare = || {
        let query = Query::new(&wanted, 0..WINDOW).unwrap();
        let options = SearchOptions { starts: 0..1, ..options.clone() };
        best_matches(black_box(&query), &[black_box(&features)], &options).unwrap()
    };
    let (x, q) = (rows(&features), rows(&wanted));
    let q = &q[..q.len() / case.query.frame_count() * WINDOW];
    let width = q.len() / WINDOW;
    let scan = |four: bool| match (case.metric, four) {
        (Metric::Position, true) => plain(&x, q, width, case.count, four_sums::<false>),
        (Metric::Position, false) => plain(&x, q, width, case.count, one_sum::<false>),
        (Metric::Euler, true) => plain(&x, q, width, case.count, four_sums::<true>),
        (Metric::Euler, false) => plain(&x, q, width, case.count, one_sum::<true>),
        (Metric::Quaternion, _) => plain(&x, q, width, case.count, angles),
    };
    let found = search();
    for ((frame, sum), m) in scan(true).into_iter().zip(&found) {
        let joints = features.joints().len() * WINDOW;
        let rms = (sum / joints as f64).sqrt();
        let distance = if case.metric == Metric::Position { rms } else { rms.to_degrees() };
        assert!((distance - m.distance).abs() <= 1e-12 * distance, "{distance} {m:?}");
        // Equal sums may come out in another order by rounding.
        assert!(frame == m.frame || case.name.contains("constant"), "{frame} {m:?}");
    }
    let runs = if case.metric == Metric::Quaternion { 3 } else { RUNS };
    let mut best = [f64::INFINITY; 6];
    for _ in 0..runs {
        let copy = features.clone();
        let times = [
            seconds(|| drop(black_box(scan(true)))),
            seconds(|| drop(black_box(scan(false)))),
            seconds(|| drop(black_box(search()))),
            seconds(|| drop(black_box(prepare()))),
            seconds(|| drop(black_box(search_indexed()))),
            seconds(|| drop(black_box(black_box(copy).indexed()))),
        ];
        for (best, time) in best.iter_mut().zip(times) {
            *best = best.min(time);
        }
    }
    let [four, one, search, prepared, by_index, index] = best.map(|s| s * 1e3);
    let plain = four.min(one);
    println!(
        "  {:<34} plain {plain:7.2} ms ({one:4.0} with one sum)   search {search:6.2} ms ({prepared:.2} of it \
         preparing)   plain / search {:5.1}   with index {by_index:6.2} ms ({index:.1} to make), {:5.1}   \
         at {}: {:.3} {}",
        case.name,
        plain / search,
        plain / by_index,
        found[0].frame,
        found[0].distance,
        case.metric.unit(),
    );
}

fn main() {
    // `cargo test --all-targets` runs it, too, without this.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!(
        "{WINDOW} frames in {FRAMES}, {JOINTS} joints, one thread, best of {RUNS} (quaternions: 3), each \
         beside the faster plain scan of all windows:"
    );
    let bones = skeleton(JOINTS);
    let fewer = skeleton(JOINTS - 1);
    let (waves, others) = (Waves::new(1), Waves::new(2));
    let mut rng = Rng::new(3);
    let smooth = clip(&bones, FRAMES, |j, d, f| waves.at(j, d, f));
    let near = clip(&bones, WINDOW, |j, d, f| waves.at(j, d, f + 70_001) + 0.01 * rng.normal());
    let far = clip(&bones, WINDOW, |j, d, f| others.at(j, d, f));
    let by_place = clip(&fewer, FRAMES, |j, d, f| waves.at(j, d, f));
    let near_by_place =
        clip(&fewer, WINDOW, |j, d, f| waves.at(j, d, f + 70_001) + 0.01 * rng.normal());
    let far_by_place = clip(&fewer, WINDOW, |j, d, f| others.at(j, d, f));
    let mut rng = Rng::new(4);
    let mut noise = |frames| {
        clip(&bones, frames, |_, d, _| rng.between(-1.0, 1.0) * if d == 1 { 1.0 } else { 2.0 })
    };
    let (white, white_query) = (noise(FRAMES), noise(WINDOW));
    let still = clip(&bones, FRAMES, |j, d, _| 0.01 * (3 * j + d) as f64);
    let still_query = clip(&bones, WINDOW, |j, d, _| 0.02 * (3 * j + d) as f64);
    let beyond = |d: usize| if d == 1 { 0.0 } else { PI };
    let wrapping = clip(&bones, FRAMES, |j, d, f| waves.at(j, d, f) + beyond(d));
    let wrapping_near = clip(&bones, WINDOW, |j, d, f| {
        waves.at(j, d, f + 70_001) + beyond(d) + 0.01 * rng.normal()
    });

    let (euler, position, quaternion) = (Metric::Euler, Metric::Position, Metric::Quaternion);
    for (name, metric, skeleton, clip, query, count) in [
        ("Euler, near match", euler, &bones, &smooth, &near, 1),
        ("Euler, near match, 10 best", euler, &bones, &smooth, &near, 10),
        ("Euler, wrapping, near match", euler, &bones, &wrapping, &wrapping_near, 1),
        ("Euler, smooth, no near match", euler, &bones, &smooth, &far, 1),
        ("Euler, smooth, no near, 10 best", euler, &bones, &smooth, &far, 10),
        ("Euler, white noise", euler, &bones, &white, &white_query, 1),
        ("Euler, constant motion", euler, &bones, &still, &still_query, 1),
        ("positions, near match", position, &fewer, &by_place, &near_by_place, 1),
        ("positions, smooth, no near match", position, &fewer, &by_place, &far_by_place, 1),
        ("positions, white noise", position, &bones, &white, &white_query, 1),
        ("quaternions, near match", quaternion, &bones, &smooth, &near, 1),
        ("quaternions, smooth, no near match", quaternion, &bones, &smooth, &far, 1),
        ("quaternions, white noise", quaternion, &bones, &white, &white_query, 1),
    ] {
        compare(&Case { name, metric, skeleton, clip, query, count });
    }
}
