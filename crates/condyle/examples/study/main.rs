//! Do limits that were learnt from some people allow what somebody else really does, and still forbid
//! what nobody does?
//!
//! `cargo run --release --example study -- DIR… -o study [--all-frames] [--poses N] [--threads N]`
//!
//! Every ASF in the folders is a subject, with the AMC files that are named after it. Writes `study.md`,
//! `study.json` and `study.svg`; the same input gives the same files. `docs/study.md` says what is
//! measured, and how.

#![allow(clippy::print_stdout, reason = "an example prints")]

mod lab;

use std::path::PathBuf;

use lab::subject::{Frames, read};

fn main() -> Result<(), lab::Fault> {
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut out = PathBuf::from("study");
    let mut frames = Frames::Sound;
    let mut size = lab::Size { poses: 600, seed: 1 };
    let mut threads = 2;
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or("a value is missing");
        let mut count = || -> Result<usize, lab::Fault> { Ok(value()?.to_string_lossy().parse()?) };
        match argument.to_str() {
            Some("--all-frames") => frames = Frames::All,
            Some("--poses") => size.poses = count()?,
            Some("--threads") => threads = count()?,
            Some("-o") => out = value()?.into(),
            _ => folders.push(argument.into()),
        }
    }
    let subjects = read(&folders, frames)?;
    if subjects.len() < 2 {
        return Err("give folders with the ASF and AMC files of at least two people".into());
    }
    let models = lab::methods::models();
    let trials = lab::run(&subjects, &models, size, threads)?;
    let study = lab::report::Study::new(&subjects, &models, &trials);

    let curves: Vec<_> = models
        .iter()
        .zip(&study.all)
        .map(|(model, curve)| (model.name, curve.as_slice()))
        .collect();
    let joints = subjects.first().map_or(0, |s| s.joints.len());
    let title =
        format!("{} subjects, {joints} joints, each subject left out in turn", subjects.len());
    let text = study.markdown();
    print!("{text}");
    std::fs::write(out.with_extension("md"), text)?;
    std::fs::write(out.with_extension("svg"), lab::figure::draw(&curves, &title))?;
    let json = serde_json::to_string_pretty(&study.json())?;
    std::fs::write(out.with_extension("json"), json + "\n")?;
    Ok(())
}
