//! `condyle anatomy`.

use std::fmt::Write as _;
use std::path::Path;

use comfy_table::Cell;
use condyle::anatomy::{Anatomy, BodySide, FigureAxes, FramesFrom, NamesFrom, WorldAxis};
use condyle::formats::is_another;
use condyle::skeleton::Skeleton;
use serde_json::{Map, Value, json};

use super::figure_axes::{UP, findings_json, maps_of, sentence, told_axes};
use super::outputs::Results;
use super::{Answer, print_report, print_text, read_one};
use crate::args::Anatomy as Args;
use crate::output::{Failure, new_table, printable, some_of};

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let file = read_one(&args.files, &args.reading.options())?.file;
    let path = args.files.last().map_or_else(Default::default, Clone::clone);
    if file.skeleton.is_empty() {
        return Err(Failure::file(&path, "there is no skeleton in it", "give a BVH or an ASF"));
    }
    let maps = maps_of(&args.standing.names, &[&file.skeleton])?;
    let clip = file.clip.as_ref().filter(|clip| clip.frame_count() > 0);
    let axes = told_axes(&path, &file.skeleton, clip, (args.standing.up, UP), &maps);
    let missing = missing(axes.anatomy());
    let answer = if missing.is_empty() { Answer::Yes } else { Answer::No };
    if let Some(output) = &args.output {
        let title = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let text = axes.document(&file.skeleton, &title);
        if output.as_os_str() == "-" {
            return print_text(&text).map(|_| answer);
        }
        if !args.replacing.force {
            keep_filled(output, &text)?;
        }
        Results::of(output, text.as_bytes()).write()?;
    }
    let text = if args.json {
        format!("{:#}\n", json_of(&file.skeleton, &axes, &missing))
    } else {
        text_of(&file.skeleton, &axes, &missing)
    };
    let to = args.output.as_deref().unwrap_or_else(|| "".as_ref());
    print_report(to, &text)?;
    Ok(answer)
}

/// Refuses to replace a table that was filled in: one that is there with other contents.
fn keep_filled(output: &Path, text: &str) -> Result<(), Failure> {
    let other = is_another(output, text.as_bytes()).map_err(|error| {
        let what = format!("cannot be looked at before it is replaced: {error}");
        Failure::file(output, what, "choose another name, or replace it with --force")
    })?;
    if !other {
        return Ok(());
    }
    let what = "a table with other contents is there, which may have been filled in";
    let help = "choose another name, or replace it with --force; --map reads it";
    Err(Failure::file(output, what, help))
}

/// The main joints of the body that no joint of the skeleton is.
fn missing(anatomy: Option<&Anatomy>) -> Vec<String> {
    let main = Anatomy::MAIN.iter();
    let named = |what, side| anatomy.is_some_and(|anatomy| anatomy.find(what, side).is_some());
    let missing = main.filter(|(what, side)| !named(*what, *side));
    missing.map(|(what, side)| label(what.as_str(), *side)).collect()
}

fn label(what: &str, side: BodySide) -> String {
    match side {
        BodySide::Middle => what.to_owned(),
        _ => format!("{} {what}", side.as_str()),
    }
}

/// How the joints were recognised and where their axes are from, in words.
fn sources(axes: &FigureAxes) -> [String; 2] {
    let Some(anatomy) = axes.anatomy() else {
        return ["not recognised".to_owned(), "not known".to_owned()];
    };
    let names = match anatomy.names_from() {
        NamesFrom::Table | NamesFrom::Given => format!("table: {}", printable(anatomy.title())),
        NamesFrom::Words => "the words in them".to_owned(),
    };
    let frames = match anatomy.frames_from() {
        FramesFrom::Rest => "the rest pose, or the table".to_owned(),
        FramesFrom::Motion { frame, .. } => {
            format!("the motion, nearest to standing in frame {frame}")
        }
        FramesFrom::Pose => "a pose".to_owned(),
        FramesFrom::Nothing => "not known: it stands neither at rest nor in the motion".to_owned(),
    };
    [names, frames]
}

fn text_of(skeleton: &Skeleton, axes: &FigureAxes, missing: &[String]) -> String {
    let mut text = String::new();
    let [names, frames] = sources(axes);
    let _ = writeln!(text, "up     {}: {}", axes.up().axis, axes.up().reason());
    let _ = writeln!(text, "names  {names}");
    let _ = writeln!(text, "axes   {frames}");
    let mut table = new_table(&["joint", "is"]);
    let mut others: Vec<&str> = Vec::new();
    for j in skeleton.indices() {
        match axes.anatomy().and_then(|anatomy| anatomy.name(j)) {
            Some((what, side)) => {
                let is = Cell::new(label(what.as_str(), side));
                table.add_row(vec![Cell::new(printable(&skeleton[j].name)), is]);
            }
            None => others.push(&skeleton[j].name),
        }
    }
    if others.len() < skeleton.len() {
        let _ = writeln!(text, "{table}");
    }
    if !others.is_empty() {
        let _ = writeln!(text, "no joint of the body: {}", some_of(&others));
    }
    if !missing.is_empty() {
        let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
        let _ = writeln!(
            text,
            "not found: {}; -o MAP.json writes a table to fill in, which --map takes",
            some_of(&missing)
        );
    }
    text
}

fn json_of(skeleton: &Skeleton, axes: &FigureAxes, missing: &[String]) -> Value {
    let of = |j| {
        let name = axes.anatomy().and_then(|anatomy| anatomy.name(j));
        name.map(|(what, side)| label(what.as_str(), side))
    };
    let joints: Map<String, Value> =
        skeleton.indices().map(|j| (skeleton[j].name.clone(), json!(of(j)))).collect();
    let [names, frames] = sources(axes);
    json!({
        "up": up_json(axes),
        "names": names,
        "axes": frames,
        "joints": joints,
        "missing": missing,
        "findings": findings_json(&axes.findings()),
    })
}

/// Which way is up, for scripts.
pub(super) fn up_json(axes: &FigureAxes) -> Value {
    let up = axes.up();
    json!({
        "axis": up.axis.as_str(),
        "why": up.reason(),
        "rest": up.rest.map(WorldAxis::as_str),
        "doubt": up.doubt.map(WorldAxis::as_str),
        "findings": axes.findings().iter().map(|finding| sentence(finding, UP)).collect::<Vec<_>>(),
    })
}
