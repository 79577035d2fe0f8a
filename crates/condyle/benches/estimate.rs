//! Kinds and limits from motion, against the time that the checklist's paper gives. Best of several
//! runs.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Instant;

use condyle::estimate::{BallModel, EstimateOptions, Method, Summary, Take, estimate};
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
