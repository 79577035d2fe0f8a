//! `condyle demo`: a figure whose joints are known, its motion, and what becomes of it in files.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};
use condyle::formats::{MotionFile, ReadOptions, WriteOptions, read_files, write_file};
use condyle::math::{Angle, Arc};
use condyle::motion::farthest_apart_m;
use condyle::synth::{Figure, JointTruth, Options, Synth};

use super::Answer;
use crate::args::Demo;
use crate::output::Failure;

/// Ten seconds at 120 frames per second.
const FRAMES: usize = 1200;
const SEED: u64 = 1;

pub(super) fn run(args: &Demo) -> Result<Answer, Failure> {
    let options = Options { frames: FRAMES, noise: Angle::from_degrees(0.3), ..Options::default() };
    let synth = Synth::generate(&Figure::human(), &options, SEED)
        .map_err(|e| Failure::Usage { what: e.to_string(), help: None })?;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "A figure with known truth: {} joints, {} frames at {} per second, noise {}°.\n",
        synth.skeleton.len(),
        synth.clip.frame_count(),
        synth.clip.rate().nominal_fps(),
        synth.noise.degrees()
    )?;
    writeln!(out, "{}\n", truth_table(&synth))?;

    std::fs::create_dir_all(&args.output).map_err(|e| Failure::Usage {
        what: format!("{}: cannot be made: {e}", args.output.display()),
        help: None,
    })?;
    let file = MotionFile::new(synth.skeleton.clone(), synth.clip.clone());
    for name in ["figure.bvh", "figure.amc", "figure.trc"] {
        write_file(&args.output.join(name), &file, &WriteOptions::default())?;
    }
    writeln!(out, "Written and read back, joint centres compared with the figure's own:\n")?;
    let mut table = new_table(&["file", "frames", "farthest off"]);
    for (files, shown) in
        [(&["figure.bvh"][..], "figure.bvh"), (&["figure.asf", "figure.amc"][..], "figure.amc")]
    {
        let paths: Vec<_> = files.iter().map(|f| args.output.join(f)).collect();
        for (_, read) in read_files(&paths, &ReadOptions::default()) {
            let back = read.map_err(|e| Failure::Read(vec![e]))?.file;
            let Some(clip) = &back.clip else { continue };
            let off = farthest_apart_m((&synth.skeleton, &synth.clip), (&back.skeleton, clip));
            table.add_row(vec![
                Cell::new(shown),
                number(clip.frame_count().to_string()),
                number(format!("{off:.1e} m")),
            ]);
        }
    }
    writeln!(out, "{table}\n")?;
    next_steps(&mut out, &args.output)?;
    out.flush()?;
    Ok(Answer::Yes)
}

fn next_steps(out: &mut impl std::io::Write, folder: &Path) -> std::io::Result<()> {
    let folder = folder.display();
    writeln!(out, "Now try:")?;
    writeln!(out, "  condyle info {folder}/figure.bvh")?;
    writeln!(out, "  condyle info {folder}/figure.asf {folder}/figure.amc")?;
    writeln!(out, "  condyle convert {folder}/figure.bvh {folder}/again.trc --end-sites")?;
    writeln!(out, "  condyle resample {folder}/figure.bvh --fps 30 -o {folder}/slow.bvh")
}

fn new_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    let ruled = TableStyle::new().header_separator(LineStyle::none().fill('-').junction('-'));
    table.load_style(ruled).set_header(header.to_vec()).set_width(100);
    table
}

fn number(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// What each joint can do, as the figure was built.
fn truth_table(synth: &Synth) -> Table {
    let mut table = new_table(&["joint", "kind", "range in degrees"]);
    for (joint, truth) in synth.skeleton.joints().iter().zip(&synth.truth) {
        table.add_row(vec![joint.name.clone(), truth.kind().to_owned(), range(truth)]);
    }
    table
}

fn range(truth: &JointTruth) -> String {
    match truth {
        JointTruth::Hinge { arc, .. } => of_arc(*arc),
        JointTruth::Universal { arcs: [a, b], .. } => format!("{}, {}", of_arc(*a), of_arc(*b)),
        JointTruth::Ball { swing, twist, .. } => {
            // The share of the sphere says how large a region is, whatever its shape.
            let share = 100.0 * swing.solid_angle() / (4.0 * std::f64::consts::PI);
            let mut text = String::new();
            let _ = write!(text, "swing over {share:.0} % of the sphere, twist {}", of_arc(*twist));
            text
        }
        _ => String::new(),
    }
}

fn of_arc(arc: Arc) -> String {
    format!("{:.0} to {:.0}", arc.min().degrees(), arc.max().degrees())
}
