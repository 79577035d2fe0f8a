//! Which way is up for figures and what their joints are, with what there is to say about it.

use std::path::Path;

use condyle::anatomy::{AxesFinding, AxesOptions, FigureAxes, NameTable, WorldAxis, table_fits};
use condyle::formats::read_bytes;
use condyle::motion::Clip;
use condyle::rig::MAX_BYTES;
use condyle::skeleton::Skeleton;
use serde_json::{Value, json};

use crate::args::{Names, Standing};
use crate::output::{Failure, print_note, print_warning};

/// The tables of names that were given; each has to fit one of the skeletons.
pub(super) fn maps_of(names: &Names, skeletons: &[&Skeleton]) -> Result<Vec<NameTable>, Failure> {
    let map = |path: &std::path::PathBuf| {
        let bytes = read_bytes(path, MAX_BYTES as u64).map_err(|error| {
            let help = "condyle anatomy SKELETON -o MAP.json writes one to start from";
            Failure::file(path, format!("cannot be read: {error}"), help)
        })?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let what = format!("@{}: it is not UTF-8", error.valid_up_to());
            Failure::file(path, what, "save it as UTF-8")
        })?;
        let table = NameTable::read(text).map_err(|e| Failure::Rig(vec![e.with_file(path)]))?;
        if !skeletons.iter().any(|skeleton| table_fits(&table, skeleton)) {
            let what = "less than half of its names are joints of the skeleton, or its axes are not along the \
                        bones of arms and legs";
            let help = "it may be of another figure; condyle anatomy SKELETON -o MAP.json writes one to \
                        start from";
            return Err(Failure::file(path, what, help));
        }
        Ok(table)
    };
    names.map.iter().map(map).collect()
}

/// The axes of the figure in a motion, with what there is to say about them printed.
pub(super) fn axes_of(
    path: &Path,
    skeleton: &Skeleton,
    clip: &Clip,
    standing: &Standing,
) -> Result<FigureAxes, Failure> {
    let maps = maps_of(&standing.names, &[skeleton])?;
    Ok(told_axes(path, skeleton, Some(clip), (standing.up, &maps)))
}

/// The same with what is known of the figure.
pub(super) fn told_axes(
    path: &Path,
    skeleton: &Skeleton,
    clip: Option<&Clip>,
    (up, names): (Option<WorldAxis>, &[NameTable]),
) -> FigureAxes {
    let clips: Vec<&Clip> = clip.into_iter().collect();
    let axes = FigureAxes::with(skeleton, &clips, &AxesOptions { up, names });
    print_findings(path, &axes.findings());
    axes
}

/// Prints what there is to say about the axes of a figure.
pub(super) fn print_findings(path: &Path, findings: &[AxesFinding]) {
    for finding in findings {
        let text = format!("{}: {}", path.display(), sentence(finding));
        if finding.is_warning() { print_warning(&text) } else { print_note(&text) }
    }
}

/// A finding, with what to do.
pub(super) fn sentence(finding: &AxesFinding) -> String {
    let help = match finding {
        AxesFinding::UpAgainstRest { .. }
        | AxesFinding::UpInDoubt { .. }
        | AxesFinding::UpByFloor { .. }
        | AxesFinding::UpAssumed { .. } => "; --up takes another axis",
        AxesFinding::NamesByWords => {
            "; condyle anatomy shows them, and --map takes a table of your own"
        }
        AxesFinding::NoFrames => "; --map takes a table with the axes of its joints",
        _ => "",
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
