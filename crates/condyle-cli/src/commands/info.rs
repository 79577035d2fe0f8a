//! `condyle info`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use condyle::anatomy::{AxesOptions, FigureAxes, table_fits};
use condyle::formats::{Format, MotionFile, Read, UnitSource, read_files, size_notice};
use condyle::math::Angle;
use condyle::motion::{Clip, FrameIndex, FrameRate, Markers};
use condyle::skeleton::{JointIndex, Skeleton};
use serde_json::{Value, json};

use super::Answer;
use super::anatomy::up_json;
use super::figure_axes::{UP, print_unfit, read_maps, sentence};
use crate::args::Info;
use crate::output::{
    Failure, json_of_error, message, print_read_error, printable, progress, visible, wrapped,
};
use crate::stdout::stdout;

/// Lines are no longer than this, in characters.
const WIDTH: usize = 100;

pub(super) fn run(args: &Info) -> Result<Answer, Failure> {
    let options = args.reading.options();
    let maps = read_maps(&args.standing.names)?;
    // Whether each fits a file.
    let mut fit = vec![false; maps.len()];
    let known = AxesOptions { up: args.standing.up, names: &maps };
    let bar = progress(args.files.len(), "reading");
    let mut shown = Vec::new();
    let mut errors = Vec::new();
    let mut out = stdout()?;
    for (path, read) in read_files(&args.files, &options) {
        bar.inc(1);
        match read {
            Ok(mut read) => {
                read.warnings.extend(size_notice(&read.file.skeleton, read.file.units));
                for (fit, table) in fit.iter_mut().zip(&maps) {
                    *fit |= table_fits(table, &read.file.skeleton);
                }
                if args.json {
                    shown.push(json_of(path, &read, &known));
                } else {
                    bar.suspend(|| {
                        out.write_all(message(&text_of(path, &read, &known)).as_bytes())
                    })?;
                }
            }
            Err(error) => {
                if args.json {
                    bar.suspend(|| print_read_error(&error));
                }
                errors.push(error);
            }
        }
    }
    bar.finish_and_clear();
    for (path, _) in args.standing.names.map.iter().zip(&fit).filter(|(_, fit)| !**fit) {
        print_unfit(path);
    }
    if args.json {
        let mut document = json!({ "files": shown });
        if !errors.is_empty() {
            document["errors"] = errors.iter().map(json_of_error).collect();
        }
        writeln!(out, "{}", visible(&format!("{document:#}")))?;
    }
    out.flush()?;
    if errors.is_empty() {
        return Ok(Answer::Yes);
    }
    Err(if args.json { Failure::Told(Vec::new()) } else { Failure::Read(errors) })
}

fn json_of(path: &Path, read: &Read, known: &AxesOptions<'_>) -> Value {
    let file = &read.file;
    let mut value = json!({
        "path": path.display().to_string(),
        "format": file.format.map(Format::name),
        "joints": file.skeleton.len(),
        "frames": frame_count(file),
        "fps": rate(file).map(FrameRate::nominal_fps),
        "frame_time_s": rate(file).map(FrameRate::frame_time_s),
        "units": {
            "name": file.units.length.to_string(),
            "metres": file.units.length.metres(),
            "declared": file.units.is_declared(),
        },
        "warnings": read.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    if !file.skeleton.is_empty() {
        value["longest_path_m"] = json!(file.skeleton.longest_path_m());
        value["skeleton"] = file.skeleton.indices().map(|j| json_of_joint(file, j)).collect();
    }
    if let Some(axes) = axes_of(file, known) {
        value["up"] = up_json(&axes);
    }
    if let Some((joint, worst)) = first_frame_from_rest(file) {
        value["bind_pose"] = json!({
            "first_frame_differs_deg": worst.degrees(),
            "joint": file.skeleton[joint].name,
        });
    }
    if let Some(markers) = &file.markers {
        value["markers"] = markers
            .markers
            .iter()
            .map(|m| json!({ "name": m.name, "missing": m.missing() }))
            .collect();
    }
    value
}

fn json_of_joint(file: &MotionFile, j: JointIndex) -> Value {
    let joint = &file.skeleton[j];
    let parent = file.skeleton.parent(j).map(|p| file.skeleton[p].name.as_str());
    let dofs = joint.declared.dofs.iter().flatten();
    let channels = dofs.clone().map(|d| d.dof.as_str());
    // Degrees and metres; an end that is infinite is null, as JSON has no infinity.
    let limits = dofs.map(|d| {
        d.limit.map(|(low, high)| match d.dof.rotation_axis() {
            Some(_) => [low.to_degrees(), high.to_degrees()],
            None => [low, high],
        })
    });
    json!({
        "name": joint.name,
        "parent": parent,
        "offset_m": joint.offset_m.to_array(),
        "rest": joint.rest.to_wxyz(),
        "channels": channels.collect::<Vec<_>>(),
        "limits": limits.collect::<Vec<_>>(),
        "end_sites": joint.end_sites.iter().map(|s| s.offset_m.to_array()).collect::<Vec<_>>(),
    })
}

fn frame_count(file: &MotionFile) -> usize {
    match (&file.clip, &file.markers) {
        (Some(clip), _) => clip.frame_count(),
        (None, Some(markers)) => markers.frame_count(),
        (None, None) => 0,
    }
}

fn rate(file: &MotionFile) -> Option<FrameRate> {
    file.clip.as_ref().map(Clip::rate).or(file.markers.as_ref().map(|m| m.rate))
}

/// Which way is up, if there is motion of a skeleton.
fn axes_of(file: &MotionFile, known: &AxesOptions<'_>) -> Option<FigureAxes> {
    let clip = file.clip.as_ref().filter(|clip| clip.frame_count() > 0)?;
    (!file.skeleton.is_empty()).then(|| FigureAxes::with(&file.skeleton, &[clip], known))
}

/// How far the first frame is from the rest pose, and at which joint.
fn first_frame_from_rest(file: &MotionFile) -> Option<(JointIndex, Angle)> {
    file.clip.as_ref()?.pose(FrameIndex(0)).farthest_from_rest(&file.skeleton)
}

fn text_of(path: &Path, read: &Read, known: &AxesOptions<'_>) -> String {
    let file = &read.file;
    let mut text = String::new();
    let format = file.format.map_or("", Format::name);
    let _ = writeln!(text, "{}: {format}", path.display());
    if let Some(rate) = rate(file) {
        let frames = frame_count(file);
        let seconds = frames.saturating_sub(1) as f64 * rate.frame_time_s();
        let _ = writeln!(
            text,
            "  frames    {frames} at {} per second ({} s each), {seconds:.2} s",
            short(rate.nominal_fps()),
            short(rate.frame_time_s())
        );
    }
    let how = match file.units.source {
        UnitSource::Declared => "declared",
        UnitSource::Given => "given",
        UnitSource::Assumed => "assumed",
    };
    let metres = short(file.units.length.metres());
    let _ = writeln!(text, "  units     {} ({how}), {metres} m", file.units.length);
    if let Some(markers) = &file.markers {
        text_of_markers(&mut text, markers);
    }
    if !file.skeleton.is_empty() {
        let sites: usize = file.skeleton.joints().iter().map(|j| j.end_sites.len()).sum();
        let _ = writeln!(
            text,
            "  skeleton  {} joints, {sites} end sites, {:.3} m along the bones",
            file.skeleton.len(),
            file.skeleton.longest_path_m()
        );
    }
    if file.clip.is_some() {
        let _ = match first_frame_from_rest(file) {
            Some((joint, worst)) if worst.degrees() >= 0.005 => writeln!(
                text,
                "  bind pose rest of the skeleton; frame 0 differs by up to {:.2}° ({})",
                worst.degrees(),
                file.skeleton[joint].name
            ),
            Some(_) => writeln!(text, "  bind pose rest of the skeleton; frame 0 is in it"),
            None => writeln!(text, "  bind pose rest of the skeleton, which is a root only"),
        };
    }
    if let Some(axes) = axes_of(file, known) {
        let line = format!("  up        {}: {}", axes.up().axis, axes.up().reason());
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 12));
        for finding in axes.findings() {
            let line = format!("  note      {}", sentence(&finding, UP));
            let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 12));
        }
    }
    for warning in &read.warnings {
        let kind = if warning.is_repair() { "repaired" } else { "note" };
        // A motion also has the warnings of its skeleton's file.
        let other = warning.path.as_deref().filter(|p| *p != path);
        let file = other.map(|p| format!("{}, ", p.display())).unwrap_or_default();
        let at = warning.at.map(|at| format!("{file}line {at}: ")).unwrap_or_default();
        let line = format!("  {kind:9} {at}{}", warning.kind);
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 12));
    }
    tree(&mut text, &file.skeleton);
    text
}

/// A number with up to seven decimals and no zeros at its end.
fn short(x: f64) -> String {
    let text = format!("{x:.7}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn text_of_markers(text: &mut String, markers: &Markers) {
    let _ = writeln!(text, "  markers   {}", markers.markers.len());
    for marker in &markers.markers {
        let missing = marker.missing();
        let seen = markers.frame_count() - missing;
        let _ = match missing {
            0 => writeln!(text, "    {}", printable(&marker.name)),
            _ => writeln!(
                text,
                "    {}  (seen in {seen} of {} frames)",
                marker.name,
                markers.frame_count()
            ),
        };
    }
}

/// The skeleton as a tree, each joint with its channels and the length of the bone to it.
fn tree(text: &mut String, skeleton: &Skeleton) {
    // Deeper than any figure: beyond it the tree is drawn flat, not off the screen.
    const DEEPEST: usize = 40;
    if skeleton.is_empty() {
        return;
    }
    let children = skeleton.children_of_all();
    let mut depth = vec![0_usize; skeleton.len()];
    let mut stack: Vec<JointIndex> =
        skeleton.indices().filter(|&j| skeleton.parent(j).is_none()).collect();
    stack.reverse();
    let mut rows = Vec::with_capacity(skeleton.len());
    while let Some(j) = stack.pop() {
        let joint = &skeleton[j];
        depth[j.get()] = skeleton.parent(j).map_or(0, |p| depth[p.get()] + 1);
        let indent = "  ".repeat(depth[j.get()].min(DEEPEST));
        let dofs = joint.declared.dofs.iter().flatten().map(|d| d.dof.as_str());
        let mut channels = dofs.collect::<Vec<&str>>().join(" ");
        if channels.is_empty() {
            channels.push('-');
        }
        rows.push((
            format!("{indent}{}", printable(&joint.name)),
            channels,
            skeleton.bone_length_m(j),
        ));
        stack.extend(children[j.get()].iter().rev());
    }
    let width = rows.iter().map(|r| r.0.chars().count()).max().unwrap_or(0).clamp(20, 60);
    let _ = writeln!(text, "    {:width$}  {:17}  bone to it", "joint", "channels");
    for (name, channels, length_m) in rows {
        let _ = writeln!(text, "    {name:width$}  {channels:17}  {length_m:8.4} m");
    }
}
