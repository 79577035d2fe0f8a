//! `condyle estimate`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::{Cell, ContentArrangement};
use condyle::estimate::{BindPose, Estimate as Found, EstimateError, Take, estimate_paired};
use condyle::formats::{Read, Units, read_file, read_files};
use condyle::motion::{Clip, FrameIndex, Pose, ResampleTo};
use condyle::report::{self as page, WrittenRange, written_ranges};
use condyle::rig::{Open, Rig, RigJoint, RigWarning, RigWarningKind, Source};
use condyle::skeleton::Skeleton;
use serde_json::{Map, Value, json};

use super::body::{self, Body};
use super::figure_axes::told_names;
use super::figures::{figures_of, in_words, with_written};
use super::motions::{no_motion, warn_of_sizes};
use super::rig::rig_of;
use super::{Answer, limits, report, write_and_report};
use crate::args::{Estimate, Estimating, Reading};
use crate::output::{
    Failure, counted, hundredths, json_degrees, new_table, number, print_note, print_rig_warnings,
    print_warning, print_warnings, printable, progress, some_of, working, wrapped,
};

/// Columns of text.
pub(super) const WIDTH: usize = 100;

/// Below this a kind is a guess.
const UNSURE: f64 = 0.6;

/// So many joints are named before a note that they share, or in a list that may be long.
const SHOWN: usize = 6;

/// A figure that moves, and the file it is from.
pub(super) struct Moving {
    pub(super) path: PathBuf,
    pub(super) skeleton: Skeleton,
    pub(super) clip: Clip,
    pub(super) units: Units,
    /// What its reader had to say.
    pub(super) warnings: Vec<String>,
}

/// Where an estimate goes, and how it is told.
pub(super) struct Target<'a> {
    pub(super) output: &'a Path,
    pub(super) fresh: bool,
    pub(super) json: bool,
    pub(super) strict: bool,
}

impl<'a> Target<'a> {
    fn of(args: &'a Estimate) -> Self {
        let Estimate { output, fresh, json, reading, .. } = args;
        Self { output, fresh: *fresh, json: *json, strict: reading.strict() }
    }

    fn is_stdout(&self) -> bool {
        self.output == Path::new("-")
    }
}

/// What an estimate was made from.
#[derive(Default)]
pub(super) struct Origin {
    /// For the last line: nothing, or `of 3 files`.
    pub(super) what: String,
    /// For scripts, beside what every estimate has.
    pub(super) json: Map<String, Value>,
    /// Lines to print before the last.
    pub(super) lines: Vec<String>,
    /// Text to print after the notes.
    pub(super) sections: String,
    /// A page to be written with the rig.
    pub(super) beside: Option<(PathBuf, String)>,
    /// What the files have for the angles of joints, where that differs from their limits.
    pub(super) written: BTreeMap<String, Vec<Option<WrittenRange>>>,
}

pub(super) fn run(args: &Estimate) -> Result<Answer, Failure> {
    // What is there is read first: it should not be found broken after minutes of work.
    let target = Target::of(args);
    let there = existing(&target)?;
    let mut clips = Vec::new();
    read_clips(&args.files, &args.reading, args.how.sampling.samples, |clip| {
        clips.push(clip);
        Ok(())
    })?;
    if let (Some(old), Some(first)) = (&there, clips.first()) {
        same_figure(old, &target, &first.skeleton, &first.path)?;
    }
    for clip in clips.iter().skip(1) {
        shares_joints(clip, &clips[0])?;
    }
    // The rig has lengths in metres.
    let size = warn_of_sizes(clips.iter().map(|c| (c.path.as_path(), &c.skeleton, c.units)));
    if let Some(first) = clips.first_mut() {
        first.warnings.extend(size);
    }
    let takes: Vec<Take<'_>> =
        clips.iter().map(|c| Take { skeleton: &c.skeleton, clip: &c.clip }).collect();
    warn_of_idle(&args.how);
    let bind = args.bind.as_ref().map(|bind| bind_pose(bind, &clips[0], args)).transpose()?;
    let moving: Vec<&Clip> = clips
        .iter()
        .filter(|c| c.skeleton.same_names(&clips[0].skeleton))
        .map(|c| &c.clip)
        .collect();
    let (path, skeleton) = (&clips[0].path, &clips[0].skeleton);
    let (_, anatomy) = told_names(path, skeleton, &moving, &args.names, args.symmetrise)?;
    let pairs = match args.symmetrise {
        true => body::pairs(anatomy.as_ref(), &clips[0])?,
        false => Vec::new(),
    };
    let options = args.how.options();
    let sign = working("estimating");
    let found = estimate_paired(&takes, &pairs, bind.as_ref(), &options);
    sign.finish_and_clear();
    let mut found = found.map_err(|error| failure_of(&error, &clips))?;
    let mut lines = Vec::new();
    if let (Some(anatomy), true) = (&anatomy, args.symmetrise) {
        anatomy.symmetrise(&clips[0].skeleton, &mut found.joints);
        lines.push(body::symmetrised(anatomy, &clips[0].skeleton));
    }
    for warning in &mut found.warnings {
        *warning = with_path(warning, &clips);
    }

    let mut json = Map::new();
    let files = clips
        .iter()
        .map(|c| json!({ "path": c.path.display().to_string(), "frames": c.clip.frame_count() }));
    json.insert("files".to_owned(), files.collect());
    // Of what was read, and of what was found in it.
    let warnings: Vec<&String> =
        clips.iter().flat_map(|c| &c.warnings).chain(&found.warnings).collect();
    json.insert("warnings".to_owned(), json!(warnings));
    // What is kept of a rig that is there counts, as in the report.
    let (rig, _) = updated(there.clone(), &found);
    let skeletons = counted_from(&clips, &found, args.bind.is_some());
    let clips_from: Vec<_> = skeletons.iter().zip(clips.iter().map(|c| &c.clip)).collect();
    let anatomy = anatomy.as_ref();
    let body = Body::of(anatomy, &found.skeleton, &rig.joints, &clips_from, options.threads);
    if args.json {
        json.extend(body.json());
    }
    let sections = body.text(args.norms);
    let what = match clips.len() {
        1 => String::new(),
        n => format!(" of {n} files"),
    };
    let mut beside = None;
    if let Some(path) = &args.report {
        let page = report::of_estimate(&rig, &found, (&clips, &skeletons), anatomy, args);
        json.insert("report".to_owned(), json!(path.display().to_string()));
        lines.push(format!("The report is in {}.", path.display()));
        beside = Some((path.clone(), page));
    }
    let written = written(&clips, &skeletons, &found);
    deliver(&target, there, &found, &Origin { what, json, lines, sections, beside, written })
}

/// What the files have for the angles of joints, where that differs from their limits.
fn written(
    clips: &[Moving],
    skeletons: &[Skeleton],
    found: &Found,
) -> BTreeMap<String, Vec<Option<WrittenRange>>> {
    let takes: Vec<page::Take<'_>> = skeletons
        .iter()
        .zip(clips)
        .map(|(skeleton, c)| page::Take { name: "", skeleton, clip: &c.clip })
        .collect();
    let each = found.joints.iter().map(|(name, joint)| {
        let written = written_ranges(name, joint, &takes);
        (name.to_owned(), written)
    });
    each.filter(|(_, written)| written.iter().any(Option::is_some)).collect()
}

/// The skeletons whose rest poses the clips count from: their own. With a bind pose all count from
/// there, and the rig's rest is that of the first one.
fn counted_from(clips: &[Moving], found: &Found, bound: bool) -> Vec<Skeleton> {
    let rest = |name: &str| found.skeleton.find(name).map(|j| found.skeleton[j].rest);
    let of = |c: &Moving| match bound {
        true => c.skeleton.with_rests(|j| rest(&j.name).unwrap_or(j.rest)),
        false => c.skeleton.clone(),
    };
    clips.iter().map(of).collect()
}

/// Options that change nothing should not seem to.
pub(super) fn warn_of_idle(how: &Estimating) {
    for option in how.idle() {
        print_warning(&format!("{option} changes nothing with this --method"));
    }
}

/// The pose that `--bind` names: a frame of the first clip, or a file.
fn bind_pose(name: &Path, first: &Moving, args: &Estimate) -> Result<BindPose, Failure> {
    let number = name.to_str().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
    if let Some(number) = number.filter(|text| !text.is_empty()) {
        if args.how.sampling.samples.is_some() {
            let what = "with --samples the frames of a clip are not those of its file";
            return Err(Failure::usage(what, "give --bind a file, or leave one of the two away"));
        }
        let frames = first.clip.frame_count();
        let frame = number.parse().ok().filter(|frame| (*frame as usize) < frames).map(FrameIndex);
        let frame = frame.ok_or_else(|| {
            let what = format!("there is no frame {number} to bind to: it has {frames}, from 0");
            Failure::file(&first.path, what, "--bind takes a frame of the first clip, or a file")
        })?;
        return Ok(BindPose::new(&first.skeleton, &first.clip.pose(frame)));
    }
    let read = read_file(name, None, &args.reading.options())?;
    print_warnings(&read.warnings);
    let skeleton = &read.file.skeleton;
    let bind = match &read.file.clip {
        Some(clip) if clip.frame_count() > 0 => BindPose::new(skeleton, &clip.pose(FrameIndex(0))),
        _ => BindPose::new(skeleton, &Pose::rest(skeleton)),
    };
    if bind.shared_with(&first.skeleton) == 0 {
        let what = format!("is of another figure: no joint of {} is in it", first.path.display());
        return Err(Failure::file(name, what, "joints are matched by name"));
    }
    Ok(bind)
}

/// Writes the rig and tells what is in it.
pub(super) fn deliver(
    target: &Target<'_>,
    there: Option<Rig>,
    found: &Found,
    origin: &Origin,
) -> Result<Answer, Failure> {
    let known: BTreeSet<String> = there.iter().flat_map(idle_couplings).map(|w| w.path).collect();
    let (rig, changes) = updated(there, found);
    let text = rig.write().map_err(|e| Failure::Rig(vec![e.with_file(target.output)]))?;
    let idle = idle_couplings(&rig).into_iter().filter(|warning| !known.contains(&warning.path));
    let idle: Vec<RigWarning> = idle
        .chain(rig.idle_edits())
        .map(|warning| RigWarning {
            position: None,
            file: Some(target.output.to_owned()),
            ..warning
        })
        .collect();
    print_rig_warnings(&idle);
    let report = if target.json {
        let mut value = json_of(found, origin, &changes);
        if let Some(warnings) = value["warnings"].as_array_mut() {
            warnings.extend(idle.iter().map(|warning| json!(warning.to_string())));
        }
        format!("{value:#}\n")
    } else {
        text_of(found, origin, &changes, target)
    };
    let beside = origin.beside.as_ref().map(|(path, page)| (path.as_path(), page.as_bytes()));
    write_and_report(target.output, &text, beside, &report)
}

/// The couplings that say nothing, since a joint of theirs does not have the angle.
fn idle_couplings(rig: &Rig) -> Vec<RigWarning> {
    let mut doubts = rig.doubts();
    doubts.retain(|warning| matches!(warning.kind, RigWarningKind::NoSuchAngle { .. }));
    doubts
}

/// The rig that is to be brought up to date.
pub(super) fn existing(target: &Target<'_>) -> Result<Option<Rig>, Failure> {
    let output = target.output;
    if target.is_stdout() {
        return Ok(None);
    }
    if target.fresh || !output.is_file() {
        return Ok(None);
    }
    let read = rig_of(output, target.strict);
    if let Err(Failure::Rig(_)) = &read {
        print_note(
            "--fresh replaces a rig document that is broken, and with --force a file of another kind",
        );
    }
    read.map(Some)
}

/// Each clip in turn, or the errors of all files that could not be read.
pub(super) fn read_clips(
    files: &[PathBuf],
    reading: &Reading,
    samples: Option<u32>,
    mut take: impl FnMut(Moving) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let options = reading.options();
    let bar = progress(files.len(), "reading");
    let mut errors: Vec<Value> = Vec::new();
    for (path, read) in read_files(files, &options) {
        bar.inc(1);
        let clip = read.map_err(Failure::from).and_then(|read| {
            bar.suspend(|| print_warnings(&read.warnings));
            clip_of(path, read, samples)
        });
        match clip {
            Ok(clip) if errors.is_empty() => take(clip)?,
            Ok(_) => {}
            Err(failure) => {
                bar.suspend(|| failure.print());
                errors.extend(failure.json());
            }
        }
    }
    bar.finish_and_clear();
    if errors.is_empty() { Ok(()) } else { Err(Failure::Told(errors)) }
}

pub(super) fn clip_of(path: &Path, read: Read, samples: Option<u32>) -> Result<Moving, Failure> {
    let failed = |what: String, help: &str| Failure::file(path, what, help);
    let mut file = read.file;
    let Some(clip) = file.clip.take() else {
        let help = "estimate works on a skeleton with motion";
        return Err(no_motion(path, &file, "there is no motion to estimate from", help));
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
    let warnings = read.warnings.iter().map(ToString::to_string).collect();
    let (skeleton, units) = (file.skeleton, file.units);
    Ok(Moving { path: path.to_owned(), skeleton, clip, units, warnings })
}

/// A rig of another figure is not to be mixed with this one.
pub(super) fn same_figure(
    old: &Rig,
    target: &Target<'_>,
    skeleton: &Skeleton,
    whose: &Path,
) -> Result<(), Failure> {
    let known = |name: &str| skeleton.find(name).is_some();
    if old.joints.is_empty() || old.joints.iter().any(|(name, _)| known(name)) {
        return Ok(());
    }
    let what = format!("is the rig of another figure: no joint of {} is in it", whose.display());
    Err(Failure::file(target.output, what, "give another name, or replace it with --fresh"))
}

fn shares_joints(clip: &Moving, first: &Moving) -> Result<(), Failure> {
    if clip.skeleton.joints().iter().any(|j| first.skeleton.find(&j.name).is_some()) {
        return Ok(());
    }
    let what = format!("is of another figure: it has no joint of {}", first.path.display());
    let help = "estimate them one by one; joints are matched by name";
    Err(Failure::file(&clip.path, what, help))
}

pub(super) fn failure_of(error: &EstimateError, clips: &[Moving]) -> Failure {
    let one = |what: &str, help: &str| match clips {
        [clip] => Failure::file(&clip.path, what, help),
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
            let there = match (found, expected) {
                (Some(_), Some(name)) => format!("on \"{}\"", printable(name)),
                _ => on(expected),
            };
            let path = |n: usize| clips.get(n).map(|c| c.path.clone()).unwrap_or_default();
            Failure::File {
                path: path(*take),
                what: format!(
                    "contradicts {}: \"{}\" {} here and {there} there",
                    path(0).display(),
                    printable(joint),
                    on(found)
                ),
                help: "estimate them one by one: they are of different figures".to_owned(),
            }
        }
        other => Failure::Usage { what: other.to_string(), help: None },
    }
}

/// The library numbers takes, a person has files.
pub(super) fn with_path(warning: &str, clips: &[Moving]) -> String {
    let numbered = |(n, clip): (usize, &Moving)| {
        let rest = warning.strip_prefix(&format!("take {}: ", n + 1))?;
        let original = clips.iter().enumerate().find_map(|(n, clip)| {
            let rest = rest.strip_prefix(&format!("the same motion as take {};", n + 1))?;
            Some(format!("the same motion as {};{rest}", clip.path.display()))
        });
        let rest = original.as_deref().unwrap_or(rest);
        Some(format!("{}: {rest}", clip.path.display()))
    };
    clips.iter().enumerate().find_map(numbered).unwrap_or_else(|| warning.to_owned())
}

/// What became of a rig that was there.
#[derive(Default)]
struct Changes {
    /// Entries that stayed since they are edited: by their source, or by a change since they were
    /// estimated.
    kept: Vec<(String, RigJoint)>,
    /// Entries of joints that the clips do not have.
    untouched: Vec<String>,
    /// Entries that were replaced and had not been estimated.
    replaced: Vec<String>,
    /// Entries of an estimate from as many samples that said something else, and do not say what was
    /// estimated: perhaps they were edited.
    changed: Vec<(String, RigJoint)>,
    /// Entries that were replaced by others, from another number of samples, and do not say what was estimated:
    /// whether they were edited cannot be told.
    unknown: Vec<String>,
}

fn updated(there: Option<Rig>, found: &Found) -> (Rig, Changes) {
    let new = found.clone().into_rig();
    let Some(mut rig) = there else { return (new, Changes::default()) };
    let mut changes = Changes::default();
    let skeleton = &found.skeleton;
    let rest = |name: &str| skeleton.find(name).map(|j| skeleton[j].rest).unwrap_or_default();
    for (name, entry) in rig.joints.iter() {
        let Some(new) = found.joints.get(name) else {
            changes.untouched.push(name.to_owned());
            continue;
        };
        match entry.source {
            _ if entry.is_edited() => {}
            Some(Source::Estimated) => {
                let known = entry.estimate_hash.is_some();
                let counts = |of: &RigJoint| [of.samples, of.rejected];
                let differs = !known && in_words(entry) != in_words(new);
                if differs && counts(entry) == counts(new) {
                    let mut entry = entry.clone();
                    entry.settle(rest(name));
                    changes.changed.push((name.to_owned(), entry));
                } else if differs {
                    changes.unknown.push(name.to_owned());
                }
            }
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

fn json_of(found: &Found, origin: &Origin, changes: &Changes) -> Value {
    let joints = found.joints.iter().map(|(name, joint)| {
        let written = origin.written.get(name).map_or(&[][..], Vec::as_slice);
        (name.to_owned(), json_of_joint(joint, written))
    });
    let joints: Map<String, Value> = joints.collect();
    let kept = changes.kept.iter().map(|(name, entry)| {
        json!({
            "joint": name,
            "kept": json_of_limit(entry),
            "estimated": joints.get(name),
            "because": if marked(entry) { "source" } else { "changed" },
        })
    });
    let kept: Vec<Value> = kept.collect();
    let changed = changes.changed.iter().map(|(name, entry)| {
        json!({ "joint": name, "was": json_of_limit(entry), "estimated": joints.get(name) })
    });
    let changed: Vec<Value> = changed.collect();
    let mut value = json!({
        "frames": found.frames,
        "noise_deg": json_degrees(found.noise),
        "warnings": found.warnings,
        "kept": kept,
        "untouched": changes.untouched,
        "replaced": changes.replaced,
        "changed": changed,
        "unknown": changes.unknown,
        "joints": joints,
    });
    if let Some(map) = value.as_object_mut() {
        map.extend(origin.json.clone());
    }
    value
}

/// Whether its source says that it is edited; else it was changed since it was estimated.
fn marked(joint: &RigJoint) -> bool {
    joint.source == Some(Source::Edited)
}

fn json_of_limit(joint: &RigJoint) -> Value {
    match figures_of(joint) {
        Ok(figures) => limits::json_of(&("", joint, figures)),
        Err(_) => json!({ "kind": joint.kind.as_str() }),
    }
}

fn json_of_joint(joint: &RigJoint, written: &[Option<WrittenRange>]) -> Value {
    let mut value = json_of_limit(joint);
    if !written.is_empty() {
        let each = written.iter().map(|written| {
            written.map(|WrittenRange { channel, ends: [low, high], .. }| {
                json!({
                    "channel": channel.as_str(),
                    "min_deg": json_degrees(low),
                    "max_deg": json_degrees(high),
                })
            })
        });
        value["file_ranges"] = each.collect();
    }
    value["why"] = json!(joint.why);
    value["notes"] = json!(joint.notes);
    value["samples"] = json!(joint.samples);
    value["rejected"] = json!(joint.rejected);
    value["noise_deg"] = json!(joint.noise.map(json_degrees));
    value["tolerance_deg"] = json!(joint.tolerance.map(json_degrees));
    value
}

fn text_of(found: &Found, origin: &Origin, changes: &Changes, target: &Target<'_>) -> String {
    let kept = |name: &str| changes.kept.iter().any(|(kept, _)| kept == name);
    // Nearly always there is nothing to tell of glitches.
    let glitches = found.joints.iter().any(|(_, joint)| joint.rejected.is_some_and(|n| n > 0));
    let mut header = vec!["joint", "kind", "sure", "range in degrees", "seen", "samples"];
    header.extend(glitches.then_some("out"));
    header.push("");
    let mut table = new_table(&header);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    for (name, joint) in found.joints.iter() {
        let written = origin.written.get(name).map_or(&[][..], Vec::as_slice);
        let range = figures_of(joint).map(|f| with_written(&f, written)).unwrap_or_default();
        let mark = match (kept(name), joint.notes.is_empty()) {
            (true, _) => "kept",
            (false, false) => "*",
            (false, true) => "",
        };
        let count = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        let mut row = vec![
            Cell::new(printable(name)),
            Cell::new(joint.kind),
            number(joint.confidence.map(|c| format!("{c:.2}")).unwrap_or_default()),
            Cell::new(range),
            number(count(joint.ends.iter().map(|end| end.visits).min())),
            number(count(joint.samples)),
        ];
        row.extend(glitches.then(|| number(count(joint.rejected.filter(|n| *n > 0)))));
        row.push(Cell::new(mark));
        table.add_row(row);
    }
    let mut text = format!("{table}\n");
    add_kept(&mut text, found, changes);
    add_unsure(&mut text, found);
    add_notes(&mut text, found);
    text.push_str(&origin.sections);
    text.push('\n');
    if !origin.written.is_empty() {
        let line = "In brackets: what the files have for these angles, by channel. Here the larger \
                    excursion is positive, and angles count from the rest pose or the pose nearest to it.";
        let _ = writeln!(text, "{}", wrapped(line, WIDTH, 2));
    }
    for warning in &found.warnings {
        let _ =
            writeln!(text, "{}", wrapped(&format!("warning: {}", printable(warning)), WIDTH, 9));
    }
    add_bounds(&mut text, found);
    let left_out: u64 = found.joints.iter().filter_map(|(_, j)| j.rejected).sum();
    if left_out > 0 {
        let joints = found.joints.iter().filter(|(_, j)| j.rejected.is_some_and(|n| n > 0)).count();
        let joints = counted(joints, "joint", "joints");
        let what = counted(
            left_out,
            &format!("sample of {joints} was left out as a glitch"),
            &format!("samples of {joints} were left out as glitches"),
        );
        let them = if left_out == 1 { "it" } else { "them" };
        let listed = found.joints.iter().any(|(_, j)| !j.left_out.is_empty());
        let check = if listed {
            format!("check of the same takes knows {them} from the rig, and does not count {them}")
        } else {
            format!("the rig does not list {them}, so that check may find {them}")
        };
        let line = format!("{what}: {check}; --outliers keep takes {them} in.");
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 2));
    }
    for line in &origin.lines {
        let _ = writeln!(text, "{}", wrapped(line, WIDTH, 2));
    }
    let _ = writeln!(
        text,
        "{}{}, noise {} about each axis; {}",
        counted(found.frames, "frame", "frames"),
        origin.what,
        hundredths(found.noise),
        written_to(target)
    );
    text
}

fn written_to(target: &Target<'_>) -> String {
    if target.is_stdout() {
        "rig on standard output".to_owned()
    } else {
        format!("written to {}", target.output.display())
    }
}

fn add_kept(text: &mut String, found: &Found, changes: &Changes) {
    let mut differ = |heading: &str, entries: &[(String, RigJoint)], shown: usize| {
        if !entries.is_empty() {
            let _ = writeln!(text, "\n{heading}");
        }
        for (name, entry) in entries.iter().take(shown) {
            let new = found.joints.get(name).map(in_words).unwrap_or_default();
            let line = format!("  {}: {} -> {new}", printable(name), in_words(entry));
            let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 6));
        }
        if entries.len() > shown {
            let _ = writeln!(text, "  and {} more", entries.len() - shown);
        }
    };
    let (by_source, by_change): (Vec<_>, Vec<_>) =
        changes.kept.iter().cloned().partition(|(_, entry)| marked(entry));
    differ("Kept as edited, with what the estimate would make of it:", &by_source, usize::MAX);
    differ(
        "Kept since they were changed after they were estimated, with what the estimate would make of it \
         (--fresh replaces them):",
        &by_change,
        usize::MAX,
    );
    differ(
        "Replaced, though from as many samples; \"source\": \"edited\" would have kept it:",
        &changes.changed,
        SHOWN,
    );
    let names = |names: &[String]| some_of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    if !changes.replaced.is_empty() {
        let who = names(&changes.replaced);
        let line = format!(
            "\nReplaced, though not from an estimate: {who}. Mark an entry \"source\": \"edited\" \
             to keep it."
        );
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 2));
    }
    if !changes.unknown.is_empty() {
        let who = names(&changes.unknown);
        let line = format!(
            "\nReplaced, and perhaps edited before, since the rig has no \"estimate_hash\" for them: {who}. \
             Entries have one from now on; \"source\": \"edited\" keeps one that has not."
        );
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 2));
    }
    if !changes.untouched.is_empty() {
        let who = names(&changes.untouched);
        let line = format!("\nLeft as they are, not in the clips: {who}.");
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 2));
    }
}

/// How many ends are only bounds.
fn add_bounds(text: &mut String, found: &Found) {
    let open = |joint: &RigJoint| joint.ends.iter().filter(|end| end.interval.is_none()).count();
    let each: Vec<usize> = found.joints.iter().map(|(_, joint)| open(joint)).collect();
    let (ends, joints) = (each.iter().sum::<usize>(), each.iter().filter(|n| **n > 0).count());
    if ends > 0 {
        let joints = counted(joints, "joint", "joints");
        let what = counted(
            ends,
            &format!("end of {joints} is only a bound: it"),
            &format!("ends of {joints} are only bounds: they"),
        );
        let line = format!(
            "{what} may be farther out. {}seen: visits of the least visited end of a joint.",
            reasons(found)
        );
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 2));
    }
}

/// Why ends are only bounds, and how many for each reason.
fn reasons(found: &Found) -> String {
    let ends = || found.joints.iter().flat_map(|(_, joint)| &joint.ends);
    let each = Open::ALL.into_iter().filter_map(|open| {
        let n = ends().filter(|end| end.open == Some(open)).count();
        (n > 0).then(|| format!("{n}: {}", open.reason()))
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() { String::new() } else { format!("{}. ", each.join("; ")) }
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
