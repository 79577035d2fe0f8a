//! Do limits help inverse kinematics on people that they were not learnt from? (A15)
//!
//! `cargo run --release --example subjects -- DIR [--trials] [--samples N]`
//!
//! Every ASF in the folder is a subject, with the AMC files that are named after it. Limits are learnt
//! from everybody else, or with `--trials` from the subject's other takes; the clip that is left out is
//! found again from the paths of hands, feet, head and pelvis. Prints a table. `docs/evaluate.md` says
//! what is measured.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use condyle::estimate::{EstimateOptions, Take, estimate};
use condyle::evaluate::{EvaluateOptions, Evaluation, Known, Way, evaluate};
use condyle::formats::{ReadOptions, read_file};
use condyle::motion::Clip;
use condyle::skeleton::Skeleton;

type Fault = Box<dyn std::error::Error>;

/// Somebody, and what they did.
struct Subject {
    name: String,
    takes: Vec<(Skeleton, Clip)>,
}

fn main() -> Result<(), Fault> {
    let mut folder: Option<PathBuf> = None;
    let (mut trials, mut frames) = (false, 300);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--trials" => trials = true,
            "--samples" => frames = arguments.next().ok_or("a value is missing")?.parse()?,
            _ => folder = Some(argument.into()),
        }
    }
    let subjects = subjects(&folder.ok_or("give a folder with ASF and AMC files")?)?;
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let options = EvaluateOptions { frames, threads, ..EvaluateOptions::default() };

    let titles: Vec<&str> = Way::ALL.iter().map(|way| way.title()).collect();
    println!("| subject | takes | {} |", titles.join(" | "));
    println!("| --- | --- |{}", " --- |".repeat(titles.len()));
    let (mut all, mut best, mut counted) = (Vec::new(), [0, 0], 0);
    for (s, subject) in subjects.iter().enumerate() {
        if trials && subject.takes.len() < 2 {
            continue;
        }
        let mut found: Vec<Evaluation> = Vec::new();
        let mut learnt = None;
        for (t, (skeleton, clip)) in subject.takes.iter().enumerate() {
            if trials {
                let others = subject.takes.iter().enumerate().filter(|(i, _)| *i != t);
                learnt = Some(learn(others.map(|(_, take)| take))?);
            } else if learnt.is_none() {
                let others = subjects.iter().enumerate().filter(|(i, _)| *i != s);
                learnt = Some(learn(others.flat_map(|(_, other)| &other.takes))?);
            }
            if let Some((rig, known)) = &learnt {
                found.push(evaluate(skeleton, clip, rig, known, &options)?);
            }
        }
        let name = &subject.name;
        let [positions, rotations] = row(name, subject.takes.len(), &found);
        best[0] += u32::from(positions);
        best[1] += u32::from(rotations);
        counted += 1;
        all.extend(found);
    }
    row("all frames", all.len(), &all);
    println!(
        "\nWith limits the error is the least of all ways for {} of {counted} subjects in positions, and \
         for {} in rotations.",
        best[0], best[1]
    );
    Ok(())
}

/// Prints a row; whether with limits positions and rotations have the least errors.
fn row(name: &str, takes: usize, found: &[Evaluation]) -> [bool; 2] {
    let ways = Evaluation::together(found);
    let errors: Vec<[f64; 3]> = ways
        .iter()
        .map(|w| [1e3 * w.position_m.mean(), w.rotation_deg.mean(), 1e3 * w.missed_m.mean()])
        .collect();
    let cells: Vec<String> = errors
        .iter()
        .zip(&ways)
        .map(|([p, r, m], w)| {
            format!("{p:.1} mm, {r:.2}°; missed {m:.1} mm; {} outside", w.outside_published)
        })
        .collect();
    println!("| {name} | {takes} | {} |", cells.join(" | "));
    [0, 1].map(|i| errors.iter().skip(1).all(|other| errors[0][i] < other[i]))
}

fn learn<'a>(
    takes: impl Iterator<Item = &'a (Skeleton, Clip)>,
) -> Result<(condyle::rig::Rig, Known), Fault> {
    let clips: Vec<(&Skeleton, &Clip)> = takes.map(|(skeleton, clip)| (skeleton, clip)).collect();
    let takes: Vec<Take<'_>> =
        clips.iter().map(|&(skeleton, clip)| Take { skeleton, clip }).collect();
    let rig = estimate(&takes, &EstimateOptions::default())?.into_rig();
    Ok((rig, Known::from_clips(&clips)?))
}

fn subjects(folder: &Path) -> Result<Vec<Subject>, Fault> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Fault>>()?;
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let has = |path: &Path, extension: &str| path.extension().is_some_and(|e| e == extension);
    let options = ReadOptions::default();
    let mut subjects = Vec::new();
    for asf in files.iter().filter(|path| has(path, "asf")) {
        // 07-walk.asf serves 07_01-walk.amc.
        let subject = name(asf);
        let subject = subject.split('-').next().unwrap_or_default().to_owned();
        let skeleton = read_file(asf, None, &options)?.file;
        let mut takes = Vec::new();
        let own =
            |path: &&PathBuf| has(path, "amc") && name(path).starts_with(&format!("{subject}_"));
        for amc in files.iter().filter(own) {
            let read = read_file(amc, Some(&skeleton), &options)?.file;
            takes.extend(read.clip.map(|clip| (read.skeleton, clip)));
        }
        subjects.push(Subject { name: subject, takes });
    }
    Ok(subjects)
}
