//! `condyle demo`: a figure whose joints are known, its motion, and what becomes of it in files.

use std::io::Write as _;
use std::path::Path;

use comfy_table::Cell;
use condyle::formats::{MotionFile, ReadOptions, WriteOptions, read_files, write_file};
use condyle::math::{Angle, Arc};
use condyle::motion::farthest_apart_m;
use condyle::synth::{Figure, JointTruth, Options, Synth};
use serde_json::{Value, json};

use super::Answer;
use crate::args::Demo;
use crate::output::{Failure, new_table, number};

/// Ten seconds at 120 frames per second.
const FRAMES: usize = 1200;
const SEED: u64 = 1;

/// A file that was written and read back.
struct Again {
    name: &'static str,
    frames: usize,
    farthest_m: f64,
}

pub(super) fn run(args: &Demo) -> Result<Answer, Failure> {
    let options = Options { frames: FRAMES, noise: Angle::from_degrees(0.3), ..Options::default() };
    let synth = Synth::generate(&Figure::human(), &options, SEED)
        .map_err(|e| Failure::Usage { what: e.to_string(), help: None })?;
    let again = write_and_read(&synth, &args.output)?;

    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{:#}", json_of(&synth, &again))?;
        return Ok(Answer::Yes);
    }
    writeln!(
        out,
        "A figure with known truth: {} joints, {} frames at {} per second, noise {}°.\n",
        synth.skeleton.len(),
        synth.clip.frame_count(),
        synth.clip.rate().nominal_fps(),
        synth.noise.degrees()
    )?;
    let mut table = new_table(&["joint", "kind", "range in degrees"]);
    for (joint, truth) in synth.skeleton.joints().iter().zip(&synth.truth) {
        table.add_row(vec![joint.name.clone(), truth.kind().to_owned(), range(truth)]);
    }
    writeln!(out, "{table}\n")?;

    writeln!(out, "Written and read back, joint centres compared with the figure's own:\n")?;
    let mut table = new_table(&["file", "frames", "farthest off"]);
    for file in &again {
        table.add_row(vec![
            Cell::new(file.name),
            number(file.frames),
            number(format!("{:.1e} m", file.farthest_m)),
        ]);
    }
    writeln!(out, "{table}\n")?;
    next_steps(&mut out, &args.output)?;
    out.flush()?;
    Ok(Answer::Yes)
}

/// Writes the motion in every format, and reads back those that hold a skeleton.
fn write_and_read(synth: &Synth, folder: &Path) -> Result<Vec<Again>, Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::Usage {
        what: format!("{}: cannot be made: {e}", folder.display()),
        help: None,
    })?;
    let file = MotionFile::new(synth.skeleton.clone(), synth.clip.clone());
    for name in ["figure.bvh", "figure.amc", "figure.trc"] {
        let output = folder.join(name);
        write_file(&output, &file, &WriteOptions::default())
            .map_err(|error| Failure::Write { output, error })?;
    }
    let paths = ["figure.bvh", "figure.asf", "figure.amc"].map(|name| folder.join(name));
    let mut again = Vec::new();
    for ((_, read), name) in
        read_files(&paths, &ReadOptions::default()).zip(["figure.bvh", "figure.amc"])
    {
        let back = read.map_err(|e| Failure::Read(vec![e]))?.file;
        let Some(clip) = &back.clip else { continue };
        let farthest_m = farthest_apart_m((&synth.skeleton, &synth.clip), (&back.skeleton, clip));
        again.push(Again { name, frames: clip.frame_count(), farthest_m });
    }
    Ok(again)
}

fn json_of(synth: &Synth, again: &[Again]) -> Value {
    let joints = synth.skeleton.joints().iter().zip(&synth.truth).map(
        |(joint, truth)| json!({ "name": joint.name, "kind": truth.kind(), "range": range(truth) }),
    );
    let files = again
        .iter()
        .map(|f| json!({ "path": f.name, "frames": f.frames, "farthest_m": f.farthest_m }));
    json!({
        "joints": joints.collect::<Value>(),
        "frames": synth.clip.frame_count(),
        "noise_deg": synth.noise.degrees(),
        "files": files.collect::<Value>(),
    })
}

fn next_steps(out: &mut impl std::io::Write, folder: &Path) -> std::io::Result<()> {
    let folder = folder.display();
    // As it was called, so that the lines work where it is not on the path.
    let me = std::env::args().next().unwrap_or_else(|| "condyle".to_owned());
    writeln!(out, "Now try:")?;
    writeln!(out, "  {me} info {folder}/figure.bvh")?;
    writeln!(out, "  {me} info {folder}/figure.asf {folder}/figure.amc")?;
    writeln!(out, "  {me} convert {folder}/figure.bvh {folder}/again.trc --end-sites")?;
    writeln!(out, "  {me} resample {folder}/figure.bvh --fps 30 -o {folder}/slow.bvh")
}

/// What a joint can do, as the figure was built.
fn range(truth: &JointTruth) -> String {
    match truth {
        JointTruth::Hinge { arc, .. } => of_arc(*arc),
        JointTruth::Universal { arcs: [a, b], .. } => format!("{}, {}", of_arc(*a), of_arc(*b)),
        JointTruth::Ball { swing, twist, .. } => {
            // The share of the sphere says how large a region is, whatever its shape.
            let share = 100.0 * swing.solid_angle() / (4.0 * std::f64::consts::PI);
            format!("swing over {share:.0} % of the sphere, twist {}", of_arc(*twist))
        }
        _ => String::new(),
    }
}

fn of_arc(arc: Arc) -> String {
    format!("{:.0} to {:.0}", arc.min().degrees(), arc.max().degrees())
}
