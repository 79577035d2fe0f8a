//! A whole body posed by its 44 dials, with the derivatives of every joint by every dial that moves it and
//! without; beside forward kinematics of the same figure. One thread, best of some runs.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]
#![allow(clippy::unwrap_used, reason = "a benchmark that fails panics")]

use std::hint::black_box;
use std::time::Instant;

use condyle::maps::Network;
use condyle::models;
use condyle::motion::Pose;
use condyle::synth::Rng;

const POSES: usize = 512;
const RUNS: usize = 101;

fn main() {
    // `cargo test --all-targets` runs it, too, without this.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    for name in models::names() {
        let rig = models::find(name).unwrap();
        let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
        let (mut state, mut pose) = (network.state(), Pose::rest(&rig.skeleton));
        let mut rng = Rng::new(1);
        // Poses that follow each other, as a solver's and an animation's do.
        let mut dials: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
        let all: Vec<Vec<f64>> = (0..POSES)
            .map(|_| {
                for (value, dial) in dials.iter_mut().zip(network.dials()) {
                    let [min, max] = dial.range;
                    *value = (*value + 0.05 * (max - min) * rng.normal()).clamp(min, max);
                }
                dials.clone()
            })
            .collect();
        let mut best = [f64::INFINITY; 3];
        for _ in 0..RUNS {
            let start = Instant::now();
            for dials in &all {
                network.evaluate(black_box(dials), &mut state);
                black_box(&state);
            }
            best[0] = best[0].min(start.elapsed().as_secs_f64());
            let start = Instant::now();
            for dials in &all {
                network.evaluate_values(black_box(dials), &mut state);
                black_box(&state);
            }
            best[2] = best[2].min(start.elapsed().as_secs_f64());
            network.write(&state, &mut pose);
            let mut world = pose.world(&rig.skeleton);
            let start = Instant::now();
            for _ in &all {
                world.update(&rig.skeleton, black_box(&pose));
                black_box(&world);
            }
            best[1] = best[1].min(start.elapsed().as_secs_f64());
        }
        let micros = best.map(|t| t / POSES as f64 * 1e6);
        println!(
            "{name:9} {:2} dials, {:2} joints: {:6.2} us with derivatives, {:.2} without: {:.2} of that; \
             {:.2} us forward kinematics: {:.0} x",
            network.dials().len(),
            rig.skeleton.len(),
            micros[0],
            micros[2],
            micros[2] / micros[0],
            micros[1],
            micros[0] / micros[1],
        );
    }
}
