//! `condyle estimate`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::{Cell, ContentArrangement};
use condyle::estimate::{Estimate as Found, EstimateError, Take, estimate};
use condyle::formats::{Format, Read, ReadOptions, read_files};
use condyle::motion::{Clip, ResampleTo};
use condyle::rig::{Rig, RigJoint, Source};
use condyle::skeleton::Skeleton;
use serde_json::{Map, Value, json};

use super::figures::{figures_of, in_a_line, in_words};
use super::info::json_of_error;
use super::rig::rig_of;
use super::{Answer, limits, print_bytes};
use crate::args::Estimate;
use crate::output::{
    Failure, hundredths, json_degrees, new_table, number, print_note, print_read_error,
    print_warning, print_warnings, printable, progress, some_of, working, wrapped, write_whole,
};

/// Columns of text.
const WIDTH: usize = 100;

/// Below this a kind is a guess.
const UNSURE: f64 = 0.6;

/// So many joints are named before a note that they share.
const SHOWN: usize = 6;

/// A figure that moves, and the file it is from.
struct Moving {
    path: PathBuf,
    skeleton: Skeleton,
    clip: Clip,
}

pub(super) fn run(args: &Estimate) -> Result<Answer, Failure> {
    // What is there is read first: it should not be found broken after minutes of work.
    let there = existing(args)?;
    let clips = read_clips(args)?;
    if let (Some(old), Some(first)) = (&there, clips.first()) {
        same_figure(old, args, first)?;
    }
    for clip in clips.iter().skip(1) {
        shares_joints(clip, &clips[0])?;
    }
    let takes: Vec<Take<'_>> =
        clips.iter().map(|c| Take { skeleton: &c.skeleton, clip: &c.clip }).collect();
    let sign = working("estimating");
    let found = estimate(&takes, &args.how.options());
    sign.finish_and_clear();
    let mut found = found.map_err(|error| failure_of(&error, &clips))?;
    for warning in &mut found.warnings {
        *warning = with_path(warning, &clips);
    }

    let (rig, changes) = updated(there, &found);
    let text = rig.write().map_err(|e| Failure::Rig(vec![e.with_file(&args.output)]))?;
    let to_stdout = args.output == Path::new("-");
    if to_stdout {
        print_bytes(&text)?;
    } else {
        write_whole(&args.output, &text)?;
    }
    let report = if args.json {
        format!("{:#}\n", json_of(&found, &clips, &changes))
    } else {
        text_of(&found, &clips, &changes, args)
    };
    if to_stdout {
        // Standard output has the rig.
        let _ = std::io::stderr().lock().write_all(report.as_bytes());
        return Ok(Answer::Yes);
    }
    print_bytes(report.as_bytes())
}

/// The rig that is to be brought up to date.
fn existing(args: &Estimate) -> Result<Option<Rig>, Failure> {
    let output = &args.output;
    if output == Path::new("-") {
        return Ok(None);
    }
    if Format::of_path(output).is_some() {
        let what = format!("{} has the extension of a motion file", output.display());
        return Err(Failure::usage(what, "the output is a rig document: name it RIG.json"));
    }
    if args.fresh || !output.is_file() {
        return Ok(None);
    }
    let read = rig_of(output, args.reading.strict());
    if let Err(Failure::Rig(_)) = &read {
        print_note("--fresh replaces a file that is no rig document, or is a broken one");
    }
    read.map(Some)
}

/// All clips, or the errors of all files that could not be read.
fn read_clips(args: &Estimate) -> Result<Vec<Moving>, Failure> {
    let options: ReadOptions = args.reading.options();
    let bar = progress(args.files.len(), "reading");
    let mut clips = Vec::new();
    let mut errors: Vec<Value> = Vec::new();
    for (path, read) in read_files(&args.files, &options) {
        bar.inc(1);
        let clip = match read {
            Ok(read) => {
                bar.suspend(|| print_warnings(&read.warnings));
                clip_of(path, read, args.how.samples)
            }
            Err(error) => {
                bar.suspend(|| print_read_error(&error));
                errors.push(json_of_error(&error));
                continue;
            }
        };
        match clip {
            Ok(clip) => clips.push(clip),
            Err(failure) => {
                bar.suspend(|| failure.print());
                if let Failure::File { path, what, help } = failure {
                    let path = path.display().to_string();
                    errors.push(json!({
                        "path": path, "line": null, "column": null, "message": what, "help": help,
                    }));
                }
            }
        }
    }
    bar.finish_and_clear();
    if errors.is_empty() {
        return Ok(clips);
    }
    if args.json {
        print_bytes(format!("{:#}\n", json!({ "errors": errors })).as_bytes())?;
    }
    // Told already.
    Err(Failure::Read(Vec::new()))
}

fn clip_of(path: &Path, read: Read, samples: Option<u32>) -> Result<Moving, Failure> {
    let failed = |what: String, help: &str| Failure::File {
        path: path.to_owned(),
        what,
        help: help.to_owned(),
    };
    let Some(clip) = read.file.clip else {
        let help = "estimate works on a skeleton with motion";
        return Err(failed("there is no motion to estimate from".to_owned(), help));
    };
    let clip = match samples {
        Some(samples) if clip.frame_count() > 1 => {
            if clip.frame_count() < 4 {
                print_warning(&format!(
                    "{}: only {} frames: between them the motion is the interpolation's",
                    path.display(),
                    clip.frame_count()
                ));
            }
            let resampled = clip.resample(ResampleTo::Frames(samples), None);
            resampled.map_err(|e| failed(e.to_string(), "ask for fewer samples"))?.clip
        }
        _ => clip,
    };
    Ok(Moving { path: path.to_owned(), skeleton: read.file.skeleton, clip })
}

/// A rig of another figure is not to be mixed with this one.
fn same_figure(old: &Rig, args: &Estimate, first: &Moving) -> Result<(), Failure> {
    let known = |name: &str| first.skeleton.find(name).is_some();
    if old.joints.is_empty() || old.joints.iter().any(|(name, _)| known(name)) {
        return Ok(());
    }
    Err(Failure::File {
        path: args.output.clone(),
        what: format!(
            "is the rig of another figure: no joint of {} is in it",
            first.path.display()
        ),
        help: "give another name, or replace it with --fresh".to_owned(),
    })
}

fn shares_joints(clip: &Moving, first: &Moving) -> Result<(), Failure> {
    if clip.skeleton.joints().iter().any(|j| first.skeleton.find(&j.name).is_some()) {
        return Ok(());
    }
    Err(Failure::File {
        path: clip.path.clone(),
        what: format!("is of another figure: it has no joint of {}", first.path.display()),
        help: "estimate them one by one; joints are matched by name".to_owned(),
    })
}

fn failure_of(error: &EstimateError, clips: &[Moving]) -> Failure {
    let one = |what: &str, help: &str| match clips {
        [clip] => {
            Failure::File { path: clip.path.clone(), what: what.to_owned(), help: help.to_owned() }
        }
        _ => Failure::usage(what, help),
    };
    let give = "give clips with motion";
    match error {
        EstimateError::NoMotion => one("there are no frames to estimate from", give),
        EstimateError::OneFrame => {
            one("there is one frame only: a pose does not show how joints move", give)
        }
        EstimateError::Contradiction { take, joint, found, expected } => {
            let on = |parent: &Option<String>| match parent {
                Some(name) => format!("hangs on \"{}\"", printable(name)),
                None => "is the root".to_owned(),
            };
            let path = |n: usize| clips.get(n).map(|c| c.path.clone()).unwrap_or_default();
            Failure::File {
                path: path(*take),
                what: format!(
                    "contradicts {}: \"{}\" {} here and {} there",
                    path(0).display(),
                    printable(joint),
                    on(found),
                    on(expected)
                ),
                help: "estimate them one by one: they are of different figures".to_owned(),
            }
        }
        other => Failure::Usage { what: other.to_string(), help: None },
    }
}

/// The library numbers takes, a person has files.
fn with_path(warning: &str, clips: &[Moving]) -> String {
    let numbered = |(n, clip): (usize, &Moving)| {
        let rest = warning.strip_prefix(&format!("take {}: ", n + 1))?;
        Some(format!("{}: {rest}", clip.path.display()))
    };
    clips.iter().enumerate().find_map(numbered).unwrap_or_else(|| warning.to_owned())
}

/// What became of a rig that was there.
#[derive(Default)]
struct Changes {
    /// Edited entries that stayed.
    kept: Vec<(String, RigJoint)>,
    /// Entries of joints that the clips do not have.
    untouched: Vec<String>,
    /// Entries that were replaced and had not been estimated.
    replaced: Vec<String>,
}

fn updated(there: Option<Rig>, found: &Found) -> (Rig, Changes) {
    let new = found.clone().into_rig();
    let Some(mut rig) = there else { return (new, Changes::default()) };
    let mut changes = Changes::default();
    for (name, entry) in rig.joints.iter() {
        match entry.source {
            _ if found.joints.get(name).is_none() => changes.untouched.push(name.to_owned()),
            Some(Source::Edited | Source::Estimated) => {}
            _ => changes.replaced.push(name.to_owned()),
        }
    }
    for name in rig.update(new) {
        if let Some(entry) = rig.joints.get(&name) {
            let entry = entry.clone();
            changes.kept.push((name, entry));
        }
    }
    (rig, changes)
}

fn json_of(found: &Found, clips: &[Moving], changes: &Changes) -> Value {
    let joints: Map<String, Value> =
        found.joints.iter().map(|(name, joint)| (name.to_owned(), json_of_joint(joint))).collect();
    let kept = changes.kept.iter().map(|(name, entry)| {
        json!({ "joint": name, "kept": json_of_limit(entry), "estimated": joints.get(name) })
    });
    let kept: Vec<Value> = kept.collect();
    let files = clips
        .iter()
        .map(|c| json!({ "path": c.path.display().to_string(), "frames": c.clip.frame_count() }));
    json!({
        "files": files.collect::<Value>(),
        "frames": found.frames,
        "noise_deg": json_degrees(found.noise),
        "warnings": found.warnings,
        "kept": kept,
        "untouched": changes.untouched,
        "replaced": changes.replaced,
        "joints": joints,
    })
}

fn json_of_limit(joint: &RigJoint) -> Value {
    match figures_of(joint) {
        Ok(figures) => limits::json_of(&("", joint, figures)),
        Err(_) => json!({ "kind": joint.kind.as_str() }),
    }
}

fn json_of_joint(joint: &RigJoint) -> Value {
    let mut value = json_of_limit(joint);
    value["why"] = json!(joint.why);
    value["notes"] = json!(joint.notes);
    value["samples"] = json!(joint.samples);
    value["rejected"] = json!(joint.rejected);
    value["noise_deg"] = json!(joint.noise.map(json_degrees));
    value
}

fn text_of(found: &Found, clips: &[Moving], changes: &Changes, args: &Estimate) -> String {
    let kept = |name: &str| changes.kept.iter().any(|(kept, _)| kept == name);
    let mut table =
        new_table(&["joint", "kind", "sure", "range in degrees", "samples", "left out", ""]);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    for (name, joint) in found.joints.iter() {
        let range = figures_of(joint).map(|f| in_a_line(&f)).unwrap_or_default();
        let mark = match (kept(name), joint.notes.is_empty()) {
            (true, _) => "kept",
            (false, false) => "*",
            (false, true) => "",
        };
        let count = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        table.add_row(vec![
            Cell::new(printable(name)),
            Cell::new(joint.kind),
            number(joint.confidence.map(|c| format!("{c:.2}")).unwrap_or_default()),
            Cell::new(range),
            number(count(joint.samples)),
            number(count(joint.rejected.filter(|n| *n > 0))),
            Cell::new(mark),
        ]);
    }
    let mut text = format!("{table}\n");
    add_kept(&mut text, found, changes);
    add_unsure(&mut text, found);
    add_notes(&mut text, found);
    text.push('\n');
    for warning in &found.warnings {
        let _ =
            writeln!(text, "{}", wrapped(&format!("warning: {}", printable(warning)), WIDTH, 9));
    }
    let left_out: u64 = found.joints.iter().filter_map(|(_, j)| j.rejected).sum();
    if left_out > 0 {
        let joints = found.joints.iter().filter(|(_, j)| j.rejected.is_some_and(|n| n > 0)).count();
        let line = format!(
            "{left_out} samples of {joints} joints were left out as glitches: check may find them \
             outside; --outliers keep takes them in."
        );
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 2));
    }
    let files = match clips.len() {
        1 => String::new(),
        n => format!(" of {n} files"),
    };
    let _ = writeln!(
        text,
        "{} frames{files}, noise {} about each axis; {}",
        found.frames,
        hundredths(found.noise),
        written_to(args)
    );
    text
}

fn written_to(args: &Estimate) -> String {
    if args.output == Path::new("-") {
        "rig on standard output".to_owned()
    } else {
        format!("written to {}", args.output.display())
    }
}

fn add_kept(text: &mut String, found: &Found, changes: &Changes) {
    if !changes.kept.is_empty() {
        let _ = writeln!(text, "\nKept as edited, with what the estimate would make of it:");
        for (name, entry) in &changes.kept {
            let new = found.joints.get(name).map(in_words).unwrap_or_default();
            let line = format!("  {}: {} -> {new}", printable(name), in_words(entry));
            let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 6));
        }
    }
    let names = |names: &[String]| some_of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    if !changes.replaced.is_empty() {
        let who = names(&changes.replaced);
        let line = format!(
            "\nReplaced, though not from an estimate: {who}. Mark an entry \"source\": \"edited\" \
             to keep it."
        );
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 2));
    }
    if !changes.untouched.is_empty() {
        let who = names(&changes.untouched);
        let line = format!("\nLeft as they are, not in the clips: {who}.");
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 2));
    }
}

/// The kinds that are guesses, so that someone looks at them.
fn add_unsure(text: &mut String, found: &Found) {
    let unsure: Vec<(&str, &RigJoint)> =
        found.joints.iter().filter(|(_, j)| j.confidence.is_some_and(|c| c < UNSURE)).collect();
    if unsure.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nUnsure, look at these first:");
    for (name, joint) in unsure {
        let why = joint.why.as_deref().unwrap_or_default();
        let line = format!("  {}: {}: {}", printable(name), joint.kind, printable(why));
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 6));
    }
}

/// Notes, those that several joints have once.
fn add_notes(text: &mut String, found: &Found) {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, joint) in found.joints.iter().filter(|(_, j)| !j.notes.is_empty()) {
        let notes = joint.notes.join("; ");
        match groups.iter_mut().find(|(known, _)| *known == notes) {
            Some((_, names)) => names.push(name),
            None => groups.push((notes, vec![name])),
        }
    }
    if groups.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nNotes (*):");
    for (notes, names) in &groups {
        let who = if names.len() <= SHOWN { printable(&names.join(", ")) } else { some_of(names) };
        let line = format!("  {who}: {}", printable(notes));
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 6));
    }
}
