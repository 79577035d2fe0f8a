//! Kinds and limits from motion, against the time that the checklist's paper gives. Best of several
//! runs.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Instant;

use condyle::estimate::{BallModel, EstimateOptions, Method, Take, estimate};
use condyle::synth::{Figure, Options, Synth};

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
    let Ok(figure) = Figure::random(31, 1) else { return };
    let asked = std::env::var("FRAMES").ok().and_then(|n| n.parse().ok());
    for frames in asked.map_or(vec![100, 1000, 100_000], |n| vec![n]) {
        let options = Options { frames, ..Options::default() };
        let Ok(synth) = Synth::generate(&figure, &options, 1) else { return };
        let take = [Take { skeleton: &synth.skeleton, clip: &synth.clip }];
        let ways = [
            ("paper", Method::Paper, BallModel::Auto, false),
            ("robust, polygon", Method::Robust, BallModel::Polygon, false),
            ("robust, ellipse", Method::Robust, BallModel::Ellipse, false),
            ("robust, auto", Method::Robust, BallModel::Auto, false),
            ("robust, auto, ends", Method::Robust, BallModel::Auto, true),
        ];
        println!("30 joints x {frames} samples:");
        for (name, method, ball, ends) in ways {
            for threads in [1, 2] {
                let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
                let how =
                    EstimateOptions { method, ball, ends, threads, ..EstimateOptions::default() };
                let runs = if frames > 10_000 { 3 } else { 100 };
                let time = best(runs, || drop(black_box(estimate(black_box(&take), &how))));
                println!("  {name:<18} {threads} threads {:9.3} ms", time * 1e3);
            }
        }
    }
}
