//! `condyle demo`: a figure whose joints are known, its motion, and what is found from that alone.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::Cell;
use condyle::enforce::{BoundRig, ClampOptions, Smoothing};
use condyle::estimate::{Estimate, EstimateOptions, Take, estimate};
use condyle::formats::{
    Format, MotionFile, ReadError, ReadOptions, WriteOptions, motion_files, read,
};
use condyle::glam::DVec3;
use condyle::ik::{self, FollowOptions, Goals};
use condyle::math::{Angle, Arc};
use condyle::motion::{FrameRate, farthest_apart_m};
use condyle::rig::{Rig, RigJoint};
use condyle::skeleton::Joint;
use condyle::synth::{Figure, Gait, JointTruth, Options, Synth};
use serde_json::{Value, json};

use super::figures::{figures_of, percent, short_arc};
use super::outputs::{Results, keep_others};
use super::{Answer, print_text, report};
use crate::args::Demo;
use crate::output::{Failure, json_degrees, new_table, number};

/// Ten seconds at 120 frames per second.
const FRAMES: usize = 1200;
const SEED: u64 = 1;

/// Two seconds of walking, and of running.
const GAIT_FRAMES: usize = 240;

/// A file that was written and read back.
struct Again {
    name: &'static str,
    frames: usize,
    farthest_m: f64,
}

pub(super) fn run(args: &Demo) -> Result<Answer, Failure> {
    let failed = |what: String| Failure::Usage { what, help: None };
    let options = Options { frames: FRAMES, noise: Angle::from_degrees(0.3), ..Options::default() };
    let synth =
        Synth::generate(&Figure::human(), &options, SEED).map_err(|e| failed(e.to_string()))?;
    std::fs::create_dir_all(&args.output)
        .map_err(|e| failed(format!("{}: cannot be made: {e}", args.output.display())))?;
    let mut files = motion(&synth, args)?;
    let again = read_again(&synth, &files)?;
    let take = Take { skeleton: &synth.skeleton, clip: &synth.clip };
    let how = EstimateOptions { ends: true, ..EstimateOptions::default() };
    let found = estimate(&[take], &how).map_err(|e| failed(e.to_string()))?;
    let rig = found.clone().into_rig();
    files.extend(gaits(&rig, synth.clip.rate(), args)?);
    let page = report::of_demo(&rig, &found, &synth);
    let rig = rig.write().map_err(|e| Failure::Rig(vec![e]))?;
    let [at, page_at] = ["rig.json", "report.html"].map(|name| args.output.join(name));
    files.extend([(at, rig), (page_at, page.into_bytes())]);
    if !args.replacing.force {
        keep_others(&files)?;
    }
    let mut results = Results::default();
    for (path, bytes) in &files {
        results = results.with(path, &**bytes);
    }
    results.write()?;
    let text = if args.json {
        format!("{:#}\n", json_of(&synth, &found, &again))
    } else {
        text_of(&synth, &found, &again, &args.output)
    };
    print_text(&text)
}

/// The joints that can turn, with what they can do and what was found.
fn joints<'a>(
    synth: &'a Synth,
    found: &'a Estimate,
) -> impl Iterator<Item = (&'a Joint, &'a JointTruth, &'a RigJoint)> {
    let joints = synth.skeleton.joints().iter().zip(&synth.truth);
    joints
        .filter(|(_, truth)| !matches!(truth, JointTruth::Free))
        .filter_map(|(joint, truth)| Some((joint, truth, found.joints.get(&joint.name)?)))
}

fn text_of(synth: &Synth, found: &Estimate, again: &[Again], folder: &Path) -> String {
    let mut text = format!(
        "A figure whose joints are known moves for {} frames, with {}° of noise.\n\
         This is what the motion alone tells about its joints, beside the truth (degrees):\n\n",
        synth.clip.frame_count(),
        synth.noise.degrees()
    );
    let mut table = new_table(&["joint", "kind", "found", "sure", "range", "found"]);
    for (joint, truth, entry) in joints(synth, found) {
        table.add_row(vec![
            Cell::new(&joint.name),
            Cell::new(truth.kind()),
            Cell::new(entry.kind),
            number(entry.confidence.map(|c| format!("{c:.2}")).unwrap_or_default()),
            Cell::new(range(truth)),
            Cell::new(range_found(entry)),
        ]);
    }
    let _ = writeln!(text, "{table}\n");
    let score = Score::of(synth, found);
    let _ = writeln!(
        text,
        "Kinds: {} of {} right. Ends of arcs: off by {:.1}° in the median, {:.1}° at most.",
        score.right, score.joints, score.median_deg, score.most_deg
    );
    let _ = writeln!(
        text,
        "Noise: {:.2}° found, {}° put in.\n\
         Swing is the share of the sphere that the bone can point to, twist how wide its range is\n\
         at most; the estimate may measure it from another zero than the truth.",
        found.noise.degrees(),
        synth.noise.degrees()
    );
    let folder = folder.display();
    let off = again.iter().map(|a| a.farthest_m).fold(0.0, f64::max);
    let _ = writeln!(
        text,
        "\nWritten to {folder}: rig.json; report.html, to look at in a browser; and the motion as figure.bvh,\n\
         figure.asf + figure.amc and figure.trc; read back, no joint is farther off than {off:.0e} m.\n\
         And walk.bvh and run.bvh, of the same figure inside its limits, to connect, blend and match."
    );
    // As it was called, so that the lines work where it is not on the path.
    let me = std::env::args().next().unwrap_or_else(|| "condyle".to_owned());
    let _ = writeln!(text, "Now try:");
    let _ = writeln!(text, "  {me} limits show {folder}/rig.json LeftArm");
    let _ = writeln!(text, "  {me} check {folder}/figure.bvh --rig {folder}/rig.json");
    let _ = writeln!(text, "  {me} estimate {folder}/figure.bvh -o {folder}/mine.json");
    let _ =
        writeln!(text, "  {me} connect {folder}/walk.bvh {folder}/run.bvh -o {folder}/both.bvh");
    let _ = writeln!(text, "  {me} info {folder}/figure.asf {folder}/figure.amc");
    text
}

/// How good the estimate is.
struct Score {
    joints: usize,
    right: usize,
    /// Of the ends of all arcs of hinges and universal joints.
    median_deg: f64,
    most_deg: f64,
}

impl Score {
    fn of(synth: &Synth, found: &Estimate) -> Self {
        let (mut count, mut right) = (0, 0);
        let mut off = Vec::new();
        for (_, truth, entry) in joints(synth, found) {
            count += 1;
            if truth.kind() != entry.kind.as_str() {
                continue;
            }
            right += 1;
            let arcs = figures_of(entry).map(|f| f.arcs).unwrap_or_default();
            for (real, (_, arc)) in arcs_of(truth).into_iter().zip(arcs) {
                for (a, b) in [(real.min(), arc.min()), (real.max(), arc.max())] {
                    let apart = Angle::from_radians(a.radians() - b.radians());
                    off.push(apart.wrapped().degrees().abs());
                }
            }
        }
        off.sort_by(f64::total_cmp);
        let at = |i: usize| off.get(i).copied().unwrap_or(0.0);
        let (median_deg, most_deg) = (at(off.len() / 2), at(off.len().saturating_sub(1)));
        Self { joints: count, right, median_deg, most_deg }
    }
}

fn arcs_of(truth: &JointTruth) -> Vec<Arc> {
    match truth {
        JointTruth::Hinge { arc, .. } => vec![*arc],
        JointTruth::Universal { arcs, .. } => arcs.to_vec(),
        _ => Vec::new(),
    }
}

/// Files to be written.
type Bytes = Vec<(PathBuf, Vec<u8>)>;

/// A motion as files.
fn files_of(file: &MotionFile, name: &str, args: &Demo) -> Result<Bytes, Failure> {
    let options =
        WriteOptions { replace_skeleton: args.replacing.force, ..WriteOptions::default() };
    let output = args.output.join(name);
    match motion_files(&output, file, &options) {
        Ok(made) => Ok(made.files),
        Err(error) => Err(Failure::Write { output, error }),
    }
}

/// The motion in every format.
fn motion(synth: &Synth, args: &Demo) -> Result<Bytes, Failure> {
    let file = MotionFile::new(synth.skeleton.clone(), synth.clip.clone());
    let mut files = Vec::new();
    for name in ["figure.bvh", "figure.amc", "figure.trc"] {
        files.extend(files_of(&file, name, args)?);
    }
    Ok(files)
}

/// Reads back what holds a skeleton.
fn read_again(synth: &Synth, files: &[(PathBuf, Vec<u8>)]) -> Result<Vec<Again>, Failure> {
    let back = |format: Format, skeleton: Option<&MotionFile>| -> Result<MotionFile, ReadError> {
        let (path, bytes) = files
            .iter()
            .find(|(path, _)| Format::of_path(path) == Some(format))
            .map_or((Path::new(""), &[][..]), |(path, bytes)| (path, bytes));
        let read = read(bytes, skeleton, &ReadOptions::default());
        read.map(|read| read.file).map_err(|error| error.with_path(path))
    };
    let asf = back(Format::Asf, None)?;
    let all =
        [("figure.bvh", back(Format::Bvh, None)?), ("figure.amc", back(Format::Amc, Some(&asf))?)];
    let mut again = Vec::new();
    for (name, back) in all {
        let Some(clip) = &back.clip else { continue };
        let farthest_m = farthest_apart_m((&synth.skeleton, &synth.clip), (&back.skeleton, clip));
        again.push(Again { name, frames: clip.frame_count(), farthest_m });
    }
    Ok(again)
}

/// A walk and a run of the figure, inside of the limits that were found.
fn gaits(rig: &Rig, rate: FrameRate, args: &Demo) -> Result<Bytes, Failure> {
    let mut files = Vec::new();
    let walk = Gait::default();
    let run = Gait {
        speed_m_s: 2.4,
        steps_per_s: 2.6,
        down: 0.42,
        facing: Angle::from_degrees(50.0),
        start_m: DVec3::new(2.0, 0.0, 1.0),
        ..walk
    };
    for (name, gait) in [("walk.bvh", walk), ("run.bvh", run)] {
        let failed = |what: String| Failure::Usage {
            what: format!("the demo's {name}: {what}"),
            help: None,
        };
        let (skeleton, clip) =
            gait.generate(GAIT_FRAMES, rate).map_err(|e| failed(e.to_string()))?;
        let bound = BoundRig::new(rig, &skeleton).map_err(|e| failed(e.to_string()))?;
        let mut inside = clip.clone();
        let options = ClampOptions {
            smoothing: Some(Smoothing::default()),
            exact: true,
            ..ClampOptions::default()
        };
        let _ = bound.clamp(&mut inside, &options);
        // Knees that bend about their own axes take the feet along: back to where they were.
        let feet = ["LeftFoot", "RightFoot"];
        let goals = Goals::from_clip(&skeleton, &inside, (&skeleton, &clip), &feet)
            .map_err(|e| failed(e.to_string()))?;
        let figure = ik::Figure::new(&skeleton, &bound);
        let _ = goals.follow(figure, &skeleton, &mut inside, &FollowOptions::default(), |_| {});
        files.extend(files_of(&MotionFile::new(skeleton, inside), name, args)?);
    }
    Ok(files)
}

fn json_of(synth: &Synth, found: &Estimate, again: &[Again]) -> Value {
    let joints = joints(synth, found).map(|(joint, truth, entry)| {
        json!({
            "name": joint.name,
            "kind": truth.kind(),
            "range": range(truth),
            "estimate": {
                "kind": entry.kind.as_str(),
                "confidence": entry.confidence,
                "range": range_found(entry),
            },
        })
    });
    let files = again
        .iter()
        .map(|f| json!({ "path": f.name, "frames": f.frames, "farthest_m": f.farthest_m }));
    let score = Score::of(synth, found);
    json!({
        "joints": joints.collect::<Value>(),
        "kinds_right": score.right,
        "arc_ends_off_deg": { "median": score.median_deg, "most": score.most_deg },
        "frames": synth.clip.frame_count(),
        "noise_deg": synth.noise.degrees(),
        "noise_found_deg": json_degrees(found.noise),
        "files": files.collect::<Value>(),
    })
}

/// What a joint can do, as the figure was built.
fn range(truth: &JointTruth) -> String {
    match truth {
        JointTruth::Ball { swing, twist, .. } => {
            // The share of the sphere says how large a region is, whatever its shape.
            ball(swing.solid_angle() / (4.0 * std::f64::consts::PI), twist.width())
        }
        other => arcs(&arcs_of(other)),
    }
}

/// What a joint can do, as found.
fn range_found(entry: &RigJoint) -> String {
    let Ok(figures) = figures_of(entry) else { return String::new() };
    match figures.swing {
        Some(swing) => ball(swing.share(), swing.twist_width[1]),
        None => arcs(&figures.arcs.iter().map(|(_, arc)| *arc).collect::<Vec<_>>()),
    }
}

fn arcs(arcs: &[Arc]) -> String {
    arcs.iter().map(|arc| short_arc(*arc)).collect::<Vec<_>>().join(", ")
}

/// The zero of a twist depends on where the middle of the region is taken to be: its width less so.
fn ball(share: f64, twist: Angle) -> String {
    format!("swing {}, twist {:.0}", percent(share), twist.degrees())
}
