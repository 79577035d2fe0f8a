//! Forward kinematics of a 31-joint, 10,000-frame clip: nanoseconds per joint and frame, beside a
//! plain loop over glam matrices in the same run. Best of five, interleaved.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may stop")]

use std::hint::black_box;
use std::time::Instant;

use condyle::glam::{DMat4, DVec3};
use condyle::motion::{Pose, World, WorldTracks};
use condyle::synth::{Figure, Options, Synth};

const JOINTS: usize = 31;
const FRAMES: usize = 10_000;
const BLOCK: usize = 256;
const RUNS: usize = 5;

fn main() {
    // `cargo test --all-targets` runs it, too, without this.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let figure = Figure::random(JOINTS, 1).unwrap();
    let options = Options { frames: FRAMES, ..Options::default() };
    let Synth { skeleton, clip, .. } = Synth::generate(&figure, &options, 1).unwrap();
    let per_joint = |seconds: f64| seconds * 1e9 / (JOINTS * FRAMES) as f64;
    let mut best = [f64::INFINITY; 3];
    let mut tracks = WorldTracks::default();
    let (mut pose, mut world) = (Pose::default(), World::new());
    let mut matrices: Vec<DMat4> = Vec::with_capacity(JOINTS);
    for _ in 0..RUNS {
        let start = Instant::now();
        for from in (0..FRAMES).step_by(BLOCK) {
            tracks.update(&skeleton, &clip, from..(from + BLOCK).min(FRAMES));
            black_box(&tracks);
        }
        best[0] = best[0].min(start.elapsed().as_secs_f64());

        let start = Instant::now();
        for frame in clip.frames() {
            clip.pose_into(frame, &mut pose);
            world.update(&skeleton, &pose);
            black_box(&world);
        }
        best[1] = best[1].min(start.elapsed().as_secs_f64());

        let start = Instant::now();
        for frame in clip.frames() {
            clip.pose_into(frame, &mut pose);
            matrices.clear();
            for (j, parent) in skeleton.parents().iter().enumerate() {
                let (rotation, place): (_, DVec3) = (pose.rotations[j], pose.translations_m[j]);
                let local = DMat4::from_rotation_translation(rotation.quat(), place);
                matrices.push(parent.map_or(local, |p| matrices[p.get()] * local));
            }
            black_box(&matrices);
        }
        best[2] = best[2].min(start.elapsed().as_secs_f64());
    }
    let [columns, poses, peer] = best.map(per_joint);
    println!("forward kinematics, {JOINTS} joints x {FRAMES} frames, one thread, best of {RUNS}:");
    println!("  clip in blocks of {BLOCK} frames   {columns:6.2} ns per joint");
    println!("  pose by pose                  {poses:6.2} ns per joint");
    println!("  glam matrices, pose by pose   {peer:6.2} ns per joint (peer)");
    println!("  ratio peer / blocks           {:6.2}", peer / columns);
}
