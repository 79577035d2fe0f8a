//! Summing up many motion files, beside only reading them: megabytes per second on one thread, files in
//! memory, interleaved, best of several runs.
//!
//! `CORPUS` names a folder with BVH, and AMC whose names begin with those of their ASF; without it files
//! are made up.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]
#![allow(clippy::unwrap_used, reason = "a benchmark that fails panics")]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use condyle::estimate::{EstimateOptions, Summary};
use condyle::formats::{MotionFile, ReadOptions, WriteOptions, bvh, read};
use condyle::math::Angle;
use condyle::synth::{Figure, Options, Synth};

const RUNS: usize = 7;

/// A motion, and the skeleton of an AMC.
type File = (Vec<u8>, Option<MotionFile>);

/// Captures of a person, a few seconds each.
fn made_up() -> Vec<File> {
    let noise = Angle::from_degrees(0.2);
    let file = |seed: u64| {
        let frames = 200 + 137 * usize::try_from(seed).unwrap();
        let options = Options { frames, noise, ..Options::default() };
        let synth = Synth::generate(&Figure::human(), &options, seed).unwrap();
        let file = MotionFile::new(synth.skeleton, synth.clip);
        let written = bvh::write(&file, &WriteOptions::default()).unwrap();
        (written.parts.into_iter().next().unwrap().1, None)
    };
    (0..12).map(file).collect()
}

/// All BVH and AMC of a folder that can be read.
fn found(folder: &Path) -> Vec<File> {
    let mut paths: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let is = |path: &Path, what: &str| path.extension().is_some_and(|e| e == what);
    let stem = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    let options = ReadOptions::default();
    let mut files: Vec<File> = Vec::new();
    for path in &paths {
        let skeleton = if is(path, "amc") {
            let own = |asf: &&std::path::PathBuf| {
                is(asf, "asf") && stem(path).starts_with(stem(asf).split('-').next().unwrap())
            };
            let Some(asf) = paths.iter().find(own) else { continue };
            Some(read(&std::fs::read(asf).unwrap(), None, &options).unwrap().file)
        } else if is(path, "bvh") {
            None
        } else {
            continue;
        };
        let bytes = std::fs::read(path).unwrap();
        if read(&bytes, skeleton.as_ref(), &options).is_ok_and(|read| read.file.clip.is_some()) {
            files.push((bytes, skeleton));
        }
    }
    files
}

fn main() {
    // `cargo test --all-targets` runs it, too, without this.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let files = std::env::var_os("CORPUS").map_or_else(made_up, |folder| found(Path::new(&folder)));
    let one = ReadOptions { threads: NonZeroUsize::MIN, ..ReadOptions::default() };
    let how = EstimateOptions { threads: NonZeroUsize::MIN, ..EstimateOptions::default() };
    let mut best = [f64::INFINITY; 2];
    for _ in 0..RUNS {
        let start = Instant::now();
        for (bytes, skeleton) in &files {
            drop(black_box(read(black_box(bytes), skeleton.as_ref(), &one).unwrap()));
        }
        best[0] = best[0].min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        for (bytes, skeleton) in &files {
            let MotionFile { skeleton, clip, .. } =
                read(black_box(bytes), skeleton.as_ref(), &one).unwrap().file;
            drop(black_box(Summary::of_take(&skeleton, &clip.unwrap(), &how)));
        }
        best[1] = best[1].min(start.elapsed().as_secs_f64());
    }
    let megabytes = files.iter().map(|(bytes, _)| bytes.len()).sum::<usize>() as f64 / 1e6;
    println!("{} files of {megabytes:.0} MB, one thread, best of {RUNS}:", files.len());
    println!("  reading                 {:7.0} MB/s", megabytes / best[0]);
    println!("  reading and summing up  {:7.0} MB/s", megabytes / best[1]);
    println!("  the one / the other     {:7.2}", best[0] / best[1]);
}
