//! `condyle stats` and `condyle merge`.

use std::ffi::OsStr;
use std::path::Path;

use condyle::estimate::{
    EstimateOptions, MAX_SUMMARY_BYTES, MergeError, Summary, estimate_summary,
};
use condyle::formats::read_bytes;
use condyle::skeleton::{RestPart, RestsDiffer};
use serde_json::{Map, Value, json};

use super::estimate::{Origin, Target, deliver, existing, failure_of, read_clips, same_figure};
use super::{Answer, write_and_report};
use crate::args::{Merge, Stats};
use crate::output::{Failure, counted, print_warning, printable, progress, working};

pub(super) fn run(args: &Stats) -> Result<Answer, Failure> {
    let output = args.output.as_path();
    let is_file = output != Path::new("-");
    if is_file && has_extension(output, "json") {
        let what = format!("{} has the extension of another kind of file", output.display());
        return Err(Failure::usage(what, "the output is a summary: name it PART.cst"));
    }
    let options = args.options();
    let mut all = Summary::default();
    let mut files = Vec::new();
    read_clips(&args.files, &args.reading, args.sampling.samples, |clip| {
        let one = Summary::of_take(&clip.skeleton, &clip.clip, &options);
        join(&mut all, &one, &clip.path)?;
        let path = clip.path.display().to_string();
        files.push(json!({ "path": path, "frames": clip.clip.frame_count() }));
        Ok(())
    })?;
    if all.frames() == 0 {
        return Err(Failure::usage("there are no frames to sum up", "give clips with motion"));
    }
    let of = match files.len() {
        1 => String::new(),
        n => format!(" of {n} files"),
    };
    deliver_summary(output, args.json, &all, &of, &files)
}

/// Writes a summary and tells what is in it.
fn deliver_summary(
    output: &Path,
    json: bool,
    all: &Summary,
    of: &str,
    files: &[Value],
) -> Result<Answer, Failure> {
    let bytes = all.write();
    let resolution = Summary::resolution().degrees();
    let report = if json {
        let report = json!({
            "files": files,
            "frames": all.frames(),
            "joints": all.len(),
            "bytes": bytes.len(),
            "resolution_deg": resolution,
        });
        format!("{report:#}\n")
    } else {
        let frames = counted(all.frames(), "frame", "frames");
        let joints = counted(all.len(), "joint", "joints");
        let size = bytes.len().div_ceil(1000);
        let to = match output.to_str() {
            Some("-") => "on standard output".to_owned(),
            _ => format!("written to {}", output.display()),
        };
        format!("{frames}{of}, {joints}, known to {resolution}°; {size} kB {to}\n")
    };
    write_and_report(output, &bytes, None, &report)
}

pub(super) fn merge(args: &Merge) -> Result<Answer, Failure> {
    let Merge { parts, output, fresh, json, strict, .. } = args;
    let target = Target { output, fresh: *fresh, json: *json, strict: *strict };
    let to_summary = has_extension(output, "cst");
    let there = if to_summary { None } else { existing(&target)? };
    let mut all = Summary::default();
    let mut files = Vec::new();
    let bar = progress(parts.len(), "merging");
    for path in parts {
        let part = read_part(path)?;
        join(&mut all, &part, path)?;
        files.push(json!({ "path": path.display().to_string(), "frames": part.frames() }));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let of = match parts.len() {
        1 => String::new(),
        n => format!(" of {n} summaries"),
    };
    if to_summary {
        return deliver_summary(output, *json, &all, &of, &files);
    }
    let mut map = Map::new();
    map.insert("files".to_owned(), files.into());
    let origin = Origin { what: of, json: map, ..Origin::default() };
    let whose = parts.first().unwrap_or(output);
    let found = estimated(&all, &args.options())?;
    if let Some(old) = &there {
        same_figure(old, &target, &found.skeleton, whose)?;
    }
    deliver(&target, there, &found, &origin)
}

/// The estimate from a summary, with a sign of life.
pub(super) fn estimated(
    all: &Summary,
    options: &EstimateOptions,
) -> Result<condyle::estimate::Estimate, Failure> {
    let sign = working("estimating");
    let found = estimate_summary(all, options);
    sign.finish_and_clear();
    found.map_err(|error| failure_of(&error, &[]))
}

fn read_part(path: &Path) -> Result<Summary, Failure> {
    let bytes = read_bytes(path, MAX_SUMMARY_BYTES).map_err(|error| {
        let help = "check the path, and that it is a file you may read";
        Failure::file(path, format!("cannot be read: {error}"), help)
    })?;
    let help = "summaries are what condyle stats writes from motion files; make this one again";
    // The error begins with the place, which stands right after the name.
    Summary::read(&bytes).map_err(|error| Failure::Place {
        path: path.to_owned(),
        what: error.to_string(),
        help: help.to_owned(),
    })
}

/// Adds one summary to others.
fn join(all: &mut Summary, one: &Summary, path: &Path) -> Result<(), Failure> {
    let differ = all.merge(one).map_err(|error| contradiction(path, &error))?;
    for warning in rests(&differ) {
        print_warning(&format!("{}: {warning}", path.display()));
    }
    Ok(())
}

fn contradiction(path: &Path, error: &MergeError) -> Failure {
    let what = format!("does not go with the files before it: {}", printable(&error.to_string()));
    Failure::file(path, what, "sum up and merge the files of different figures one by one")
}

/// What differs of the rest poses: rotations, and bones that rotations do not tell.
pub(super) fn rests(differ: &[RestsDiffer]) -> impl Iterator<Item = String> {
    let parts = [
        (RestPart::Rotation, "each is taken relative to its own"),
        (RestPart::Bone, "the same angles are other poses, so sum them up apart"),
    ];
    parts.into_iter().filter_map(|(part, so)| {
        let mut all = differ.iter().filter(|differ| differ.of == part);
        let first = all.next()?;
        let more = match all.count() {
            0 => String::new(),
            n => format!("; and those of {n} more"),
        };
        Some(format!("{}{more}; {so}", printable(&first.to_string())))
    })
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|e| e.eq_ignore_ascii_case(extension))
}
