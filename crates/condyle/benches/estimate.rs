//! Kinds and limits from motion, against the time that the checklist's paper gives. Best of several
//! runs.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use condyle::estimate::{BallModel, EstimateOptions, Method, Summary, Take, estimate};
use condyle::formats::{MotionFile, ReadOptions, WriteOptions, bvh, read};
use condyle::math::Angle;
use condyle::synth::{Exploration, Figure, Options, Synth};

fn best(runs: usize, mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn main() {
    // `cargo test --all-targets` runs it, too, without this.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let Ok(figure) = Figure::random(31, 1) else { return };
    let asked = std::env::var("FRAMES").ok().and_then(|n| n.parse().ok());
    // To look at one way alone.
    let way = std::env::var("WAY").ok();
    let orders = [("in order", Exploration::Full), ("not in order", Exploration::Scatter)];
    for frames in asked.map_or(vec![100, 1000, 100_000], |n| vec![n]) {
        for (order, exploration) in orders {
            let options = Options { frames, exploration, ..Options::default() };
            let Ok(synth) = Synth::generate(&figure, &options, 1) else { return };
            let take = [Take { skeleton: &synth.skeleton, clip: &synth.clip }];
            let ways = [
                ("defaults", Method::Robust, BallModel::Auto, false),
                ("defaults, ends", Method::Robust, BallModel::Auto, true),
                ("paper", Method::Paper, BallModel::Auto, false),
                ("robust, polygon", Method::Robust, BallModel::Polygon, false),
                ("robust, ellipse", Method::Robust, BallModel::Ellipse, false),
            ];
            println!("30 joints x {frames} samples, {order}:");
            for (name, method, ball, ends) in ways {
                if way.as_ref().is_some_and(|way| way != name) {
                    continue;
                }
                for threads in [1, 2] {
                    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
                    let rest = EstimateOptions::default();
                    let how = EstimateOptions { method, ball, ends, threads, ..rest };
                    let runs = if frames > 10_000 { 3 } else { 100 };
                    let time = best(runs, || drop(black_box(estimate(black_box(&take), &how))));
                    println!("  {name:<18} {threads} threads {:9.3} ms", time * 1e3);
                }
            }
        }
    }
    several_figures();
    merging(&figure);
    if let Some(program) = std::env::var_os("CONDYLE") {
        command_line(Path::new(&program));
    }
}

/// What `condyle estimate FILE` takes beyond `condyle info FILE`, against the estimate of the same clip in
/// memory: processor seconds, one thread. `CONDYLE` is the program; only where there is `/proc`.
fn command_line(program: &Path) {
    const RUNS: u32 = 10;
    let frames = std::env::var("CLI_FRAMES").ok().and_then(|n| n.parse().ok()).unwrap_or(60_000);
    let options = Options { frames, noise: Angle::from_degrees(0.2), ..Options::default() };
    let Ok(synth) = Synth::generate(&Figure::human(), &options, 1) else { return };
    let file = MotionFile::new(synth.skeleton, synth.clip);
    let Ok(written) = bvh::write(&file, &WriteOptions::default()) else { return };
    let Some((_, bytes)) = written.parts.into_iter().next() else { return };
    let folder = std::env::temp_dir().join(format!("condyle-bench-{}", std::process::id()));
    let [motion, rig] = ["motion.bvh", "rig.json"].map(|name| folder.join(name));
    if std::fs::create_dir_all(&folder).is_err() || std::fs::write(&motion, &bytes).is_err() {
        return;
    }
    let Ok(read) = read(&bytes, None, &ReadOptions::default()) else { return };
    let Some(clip) = read.file.clip else { return };
    let take = [Take { skeleton: &read.file.skeleton, clip: &clip }];
    // One run is not counted.
    let seconds = |which: usize, work: &dyn Fn()| {
        work();
        let before = processor_seconds();
        (0..RUNS).for_each(|_| work());
        (processor_seconds()[which] - before[which]) / f64::from(RUNS)
    };
    let run = |arguments: &[&str]| {
        seconds(1, &|| {
            let mut command = Command::new(program);
            let quiet = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
            drop(quiet.status());
        })
    };
    let (Some(motion), Some(rig)) = (motion.to_str(), rig.to_str()) else { return };
    let info = run(&["info", motion]);
    println!("{frames} frames of a person, processor time, one thread: info {:.0} ms", 1e3 * info);
    for (name, method) in [("robust", Method::Robust), ("paper", Method::Paper)] {
        let how = EstimateOptions { method, ends: true, ..EstimateOptions::default() };
        let how = EstimateOptions { threads: NonZeroUsize::MIN, ..how };
        let library = seconds(0, &|| drop(black_box(estimate(black_box(&take), &how))));
        let arguments = ["--threads", "1", "--fresh", "--force", "--method", name];
        let whole = run(&[&["estimate", motion, "-o", rig], &arguments[..]].concat());
        let ratio = (whole - info) / library;
        println!(
            "  {name:<7} command line {:4.0} ms, library {:4.0} ms: {ratio:.2} times as much beyond info",
            1e3 * whole,
            1e3 * library
        );
    }
    drop(std::fs::remove_dir_all(&folder));
}

/// Of this process, and of those that it has waited for.
fn processor_seconds() -> [f64; 2] {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let ticks: Vec<f64> = behind.split(' ').filter_map(|field| field.parse().ok()).collect();
    // User and system, after ten numbers; hundredths of a second.
    let of = |i: usize| ticks.get(i..i + 2).map_or(0.0, |pair| pair.iter().sum::<f64>() / 100.0);
    [of(10), of(12)]
}

/// One figure may be an easy one: 100 samples of twenty, one thread.
fn several_figures() {
    let ways = [
        ("paper", Method::Paper, BallModel::Auto),
        ("robust, polygon", Method::Robust, BallModel::Polygon),
    ];
    println!("20 figures of 30 joints x 100 samples, one thread:");
    for (name, method, ball) in ways {
        let mut times = Vec::new();
        for seed in 1..=20 {
            let Ok(figure) = Figure::random(31, seed) else { return };
            let options = Options { frames: 100, ..Options::default() };
            let Ok(synth) = Synth::generate(&figure, &options, seed) else { return };
            let take = [Take { skeleton: &synth.skeleton, clip: &synth.clip }];
            let how = EstimateOptions { method, ball, ..EstimateOptions::default() };
            times.push(1e3 * best(100, || drop(black_box(estimate(black_box(&take), &how)))));
        }
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let [least, most] = times
            .iter()
            .fold([f64::INFINITY, 0.0], |[least, most], time| [time.min(least), time.max(most)]);
        println!("  {name:<18} mean {mean:6.3} ms, {least:.3} to {most:.3}");
    }
}

/// Two summaries of 1000 frames each.
fn merging(figure: &Figure) {
    let how = EstimateOptions::default();
    let summary = |seed: u64| {
        let options = Options { frames: 1000, ..Options::default() };
        let synth = Synth::generate(figure, &options, seed).ok()?;
        Some(Summary::of_take(&synth.skeleton, &synth.clip, &how))
    };
    let (Some(a), Some(b)) = (summary(1), summary(2)) else { return };
    let mut time = f64::INFINITY;
    for _ in 0..100 {
        let mut a = a.clone();
        time = time.min(best(1, || drop(black_box(a.merge(black_box(&b))))));
    }
    println!("merging: {:.1} us per joint", 1e6 * time / a.len() as f64);
}
