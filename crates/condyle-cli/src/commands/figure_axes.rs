//! Which way is up for figures and what their joints are, with what there is to say about it.

use std::path::Path;

use condyle::anatomy::{
    Anatomy, AxesFinding, AxesOptions, FigureAxes, NameTable, WorldAxis, names_lacked, table_fits,
    table_used,
};
use condyle::formats::read_bytes;
use condyle::motion::Clip;
use condyle::rig::MAX_BYTES;
use condyle::skeleton::Skeleton;
use serde_json::{Value, json};

use crate::args::{Names, Standing};
use crate::output::{Failure, print_note, print_warning};

/// The option that says which axis is up in the motion that is read.
pub(super) const UP: &str = "--up";

/// Why a table is of no skeleton.
const UNFIT: &str = "less than half of its names are joints of the skeleton, or its axes are not along the bones of \
                     arms and legs";

/// Says that a table is of none of the files.
pub(super) fn print_unfit(path: &Path) {
    print_warning(&format!("{}: {UNFIT}", path.display()));
}

/// The tables of names that were given.
pub(super) fn read_maps(names: &Names) -> Result<Vec<NameTable>, Failure> {
    let map = |path: &std::path::PathBuf| {
        let bytes = read_bytes(path, MAX_BYTES as u64).map_err(|error| {
            let help = "condyle anatomy SKELETON -o MAP.json writes one to start from";
            Failure::file(path, format!("cannot be read: {error}"), help)
        })?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let what = format!("@{}: it is not UTF-8", error.valid_up_to());
            Failure::file(path, what, "save it as UTF-8")
        })?;
        NameTable::read(text).map_err(|e| Failure::Rig(vec![e.with_file(path)]))
    };
    names.map.iter().map(map).collect()
}

/// The tables of names that were given; each has to fit one of the skeletons, and one that is used for none of
/// them is told.
pub(super) fn maps_of(names: &Names, skeletons: &[&Skeleton]) -> Result<Vec<NameTable>, Failure> {
    let tables = read_maps(names)?;
    for (path, table) in names.map.iter().zip(&tables) {
        if !skeletons.iter().any(|skeleton| table_fits(table, skeleton)) {
            let help = "it may be of another figure; condyle anatomy SKELETON -o MAP.json writes one to \
                        start from";
            return Err(Failure::file(path, UNFIT, help));
        }
    }
    let used: Vec<Option<usize>> = skeletons.iter().map(|s| table_used(&tables, s)).collect();
    for (i, (path, table)) in names.map.iter().zip(&tables).enumerate() {
        if !used.contains(&Some(i)) {
            print_warning(&format!("{}: {}", path.display(), why_idle(table, skeletons)));
        }
    }
    Ok(tables)
}

/// The same for commands that need names alone, with what is to be said about them printed: names of a table that
/// no joint has, and main joints on one side only where `both` sides are needed.
pub(super) fn told_names(
    path: &Path,
    skeleton: &Skeleton,
    clips: &[&Clip],
    names: &Names,
    both: bool,
) -> Result<(Vec<NameTable>, Option<Anatomy>), Failure> {
    let maps = maps_of(names, &[skeleton])?;
    let known = AxesOptions { names: &maps, up: None };
    let axes = FigureAxes::with(skeleton, clips, &known);
    let mut findings = axes.findings();
    findings.retain(|finding| match finding {
        AxesFinding::NamesLacked { .. } => true,
        AxesFinding::OneSided { .. } => both,
        _ => false,
    });
    print_findings(path, &findings, UP);
    Ok((maps, axes.into_anatomy()))
}

/// Why a table that fits is not used.
fn why_idle(table: &NameTable, skeletons: &[&Skeleton]) -> String {
    let of = skeletons.iter().find(|skeleton| table_fits(table, skeleton));
    let names = of.map(|skeleton| names_lacked(table, skeleton)).unwrap_or_default();
    if names.is_empty() {
        return "it is not used, as another one has more of the names of the joints".to_owned();
    }
    let lacked = AxesFinding::NamesLacked { names };
    format!(
        "{lacked}; so the table is not used, as no fewer joints are known without it; correct its names"
    )
}

/// The axes of the figure in a motion, with what there is to say about them printed.
pub(super) fn axes_of(
    path: &Path,
    skeleton: &Skeleton,
    clip: &Clip,
    standing: &Standing,
) -> Result<FigureAxes, Failure> {
    let maps = maps_of(&standing.names, &[skeleton])?;
    Ok(told_axes(path, skeleton, Some(clip), (standing.up, UP), &maps))
}

/// The same with what is known of the figure: which axis is up, with the option that says so, and tables.
pub(super) fn told_axes(
    path: &Path,
    skeleton: &Skeleton,
    clip: Option<&Clip>,
    (up, option): (Option<WorldAxis>, &str),
    names: &[NameTable],
) -> FigureAxes {
    let clips: Vec<&Clip> = clip.into_iter().collect();
    let axes = FigureAxes::with(skeleton, &clips, &AxesOptions { up, names });
    print_findings(path, &axes.findings(), option);
    axes
}

/// Prints what there is to say about the axes of a figure.
pub(super) fn print_findings(path: &Path, findings: &[AxesFinding], option: &str) {
    for finding in findings {
        let text = format!("{}: {}", path.display(), sentence(finding, option));
        if finding.is_warning() { print_warning(&text) } else { print_note(&text) }
    }
}

/// A finding, with what to do: `option` says which axis is up.
pub(super) fn sentence(finding: &AxesFinding, option: &str) -> String {
    let help = match finding {
        AxesFinding::UpAgainstRest { .. }
        | AxesFinding::UpInDoubt { .. }
        | AxesFinding::UpByFloor { .. }
        | AxesFinding::UpAssumed { .. } => format!("; {option} takes another axis"),
        AxesFinding::NamesLacked { .. } => "; correct them in the table".to_owned(),
        AxesFinding::OneSided { .. } => {
            "; condyle anatomy SKELETON -o MAP.json writes a table to fill in, which --map takes"
                .to_owned()
        }
        AxesFinding::NamesByWords => {
            "; condyle anatomy shows them, and --map takes a table of your own".to_owned()
        }
        AxesFinding::NoFrames => "; --map takes a table with the axes of its joints".to_owned(),
        _ => String::new(),
    };
    format!("{finding}{help}")
}

/// Findings for scripts.
pub(super) fn findings_json(findings: &[AxesFinding]) -> Value {
    let of = |finding: &AxesFinding| {
        json!({
            "code": finding.code(),
            "severity": if finding.is_warning() { "warning" } else { "note" },
            "text": finding.to_string(),
        })
    };
    findings.iter().map(of).collect()
}
