//! `condyle dials` and `condyle fit`: joint maps. `pose.rs` has `condyle pose`.

use std::fmt::Write as _;
use std::path::Path;

use comfy_table::Cell;
use condyle::anatomy::{AxesOptions, FigureAxes};
use condyle::edit::{Ground, MotionFrom, Retarget, RetargetOptions, Retargeted};
use condyle::formats::{Format, MotionFile, size_beside};
use condyle::ik::{
    ByName, DialSettings, DialSolver, FitTo, FittedDials, FittedJoint, by_name, same_joints,
};
use condyle::maps::{Dial, DialClip, HeldOver, Network, Unit};
use condyle::math::Angle;
use condyle::models;
use condyle::motion::Clip;
use condyle::report::dials::{self as page, FitView, PoseView, Residual};
use condyle::rig::Rig;
use condyle::skeleton::{JointIndex, Skeleton};
use serde_json::{Map, Value, json};

use super::bound::note_of_front;
use super::figure_axes::{UP, maps_of, told_axes};
use super::motions::{idle as idle_option, no_motion};
use super::outputs::{Results, keep_own_work};
use super::pose::{json_of_held_over, often};
use super::rig::rig_of;
use super::{Answer, motion_format, notice_size, print_report, print_text, read_one};
use crate::args::{Dials, Fit, Standing};
use crate::output::{
    Failure, decimals, hundredths, json_degrees, new_table, number, plain, print_note,
    print_warning, printable, progress, some_of, working,
};

/// Joints that are off by more have a warning.
const FAR_DEG: f64 = 15.0;

pub(super) fn list(args: &Dials) -> Result<Answer, Failure> {
    let (rig, network) = network_of(&args.rig)?;
    if let Some(output) = &args.output {
        return write_rig(args, &rig, output);
    }
    let dials = network.dials();
    idle(&network).iter().for_each(|warning| print_warning(warning));
    if args.json {
        let all: Vec<Value> = dials.iter().map(json_of_dial).collect();
        return print_text(&format!("{:#}\n", json!({ "dials": all })));
    }
    let mut table = new_table(&["dial", "from", "rest", "to", "", "what it does"]);
    for dial in dials {
        let [min, max] = dial.range.map(|end| told(dial, end));
        table.add_row(vec![
            Cell::new(printable(&dial.name)),
            number(min),
            number(told(dial, dial.rest)),
            number(max),
            Cell::new(unit_name(dial.unit)),
            Cell::new(printable(&dial.label)),
        ]);
    }
    let mut text = format!("{table}\n");
    let mut sources: Vec<(&str, Vec<&str>)> = Vec::new();
    for dial in dials.iter().filter(|dial| !dial.source.is_empty()) {
        match sources.iter_mut().find(|(source, _)| *source == dial.source) {
            Some((_, of)) => of.push(&dial.name),
            None => sources.push((&dial.source, vec![&dial.name])),
        }
    }
    if !sources.is_empty() {
        text.push_str("\nRanges are from:\n");
    }
    for (source, of) in sources {
        let _ = writeln!(text, "  {}: {}", printable(source), some_of(&of));
    }
    print_text(&text)
}

/// Writes the rig document: of a model its data file as it is, to be edited.
fn write_rig(args: &Dials, rig: &Rig, output: &Path) -> Result<Answer, Failure> {
    let text = match model_of(&args.rig).and_then(models::text) {
        Some(text) => text.as_bytes().to_vec(),
        None => rig.write().map_err(|e| Failure::Rig(vec![e.with_file(&args.rig)]))?,
    };
    keep_own_work(output, rig, args.replacing.force)?;
    Results::of(output, text).write()?;
    Ok(Answer::Yes)
}

/// The model that an argument names.
fn model_of(argument: &Path) -> Option<&'static str> {
    let name = argument.to_str().filter(|_| !argument.is_file())?;
    models::names().find(|known| known.eq_ignore_ascii_case(name))
}

/// Dials that are of no use.
pub(super) fn idle(network: &Network) -> Option<String> {
    let names: Vec<&str> = network.idle().map(|d| network.dials()[d].name.as_str()).collect();
    let one = names.len() == 1;
    (!names.is_empty()).then(|| {
        let dials = if one { "dial" } else { "dials" };
        let verb = if one { "moves" } else { "move" };
        format!("{dials} {} {verb} no joint: no part that moves one takes it", some_of(&names))
    })
}

pub(super) fn fit(args: &Fit) -> Result<Answer, Failure> {
    if is_table(&args.output) && args.writing.to.is_some() {
        let what = format!("{} is a table of dials, and --to is for motion", args.output.display());
        let help = "leave --to out, or write the motion to OUT and the table with --dials";
        return Err(Failure::usage(what, help));
    }
    let is_motion = args.output != Path::new("-") && !is_table(&args.output);
    if is_motion && Format::of_path(&args.output).is_none() {
        let what = "the extension stands for nothing that fit writes";
        let help = "use .csv for the dials, or .bvh, .amc or .trc for the motion that they make";
        return Err(Failure::file(&args.output, what, help));
    }
    let (rig, network) = network_of(&args.rig)?;
    let read = read_one(&args.files, &args.reading.options())?;
    // The motion is the last: an ASF comes before it.
    let path = args.files.last().map_or(Path::new(""), |p| p.as_path());
    let Some(motion) = &read.file.clip else {
        let what = "there is no motion to fit dials to";
        return Err(no_motion(path, &read.file, what, "fit works on a skeleton with motion"));
    };
    let (source, skeleton) = (&read.file.skeleton, &rig.skeleton);
    let onto =
        brought_onto([path, &args.rig], &network, skeleton, (source, motion), &args.standing)?;
    let (clip, figure) = match &onto {
        Onto::Itself => (motion, source),
        Onto::Named(named) => (&named.clip, &named.skeleton),
        Onto::Retargeted(made) => (&made.clip, skeleton),
    };
    if args.standing.up.is_some() && !matches!(onto, Onto::Retargeted(_)) {
        let help = "leave it out: joints have their names, so nothing has to be known of the body";
        return Err(idle_option("--up", "a motion of the rig's own joints", help));
    }
    let joints: Vec<JointIndex> = match &onto {
        Onto::Retargeted(made) => {
            let has_motion = |j: &JointIndex| !matches!(made.from[j.get()], MotionFrom::Rest);
            skeleton.indices().filter(has_motion).collect()
        }
        Onto::Itself | Onto::Named(_) => Vec::new(),
    };
    let to = match &onto {
        Onto::Retargeted(_) => FitTo::World(&joints),
        Onto::Itself | Onto::Named(_) => FitTo::Parents(figure),
    };
    let mut warnings = Vec::new();
    let measured = if matches!(onto, Onto::Named(_)) { figure } else { source };
    if let Some((ratio, unit)) = size_beside(measured, read.file.units, skeleton) {
        let what =
            unit.map_or_else(String::new, |unit| format!("; --source-units {unit} would fit"));
        warnings.push(format!(
            "the figure of {} is {} times as large as that of {}: its lengths are probably in another \
             unit{what}",
            path.display(),
            significant(ratio),
            args.rig.display()
        ));
    }
    // All frames are gone through three times, and nearly all work is done the first time: by that the time
    // that is left is told.
    let frames = clip.frame_count();
    let bar = progress(frames, "fitting");
    let done = |n: usize| {
        bar.set_position(n.min(frames) as u64);
        if n == frames + 1 {
            bar.set_message("going over it again");
        }
    };
    // As near as it gets, not only near enough.
    let near = Angle::from_radians(1e-7);
    let settings = DialSettings { near, near_m: 1e-7, ..DialSettings::default() };
    let mut solver = DialSolver::new(&network);
    let found = solver.fit_clip(&network, skeleton, clip, to, &settings, done);
    bar.finish_and_clear();
    let held = network.held_over(&found.dials);
    warnings.extend(warnings_of_fit(&network, skeleton, &found, &held));
    write_fit(args, &network, skeleton, (figure, clip), &found, &warnings)?;
    let (left_out, at_rest) = match &onto {
        Onto::Named(named) => (named.others.as_slice(), named.at_rest.as_slice()),
        Onto::Itself | Onto::Retargeted(_) => (&[][..], &[][..]),
    };
    let retargeted = matches!(onto, Onto::Retargeted(_));
    let report = if args.json {
        let mut document = json_of_fit(&network, skeleton, &found, &held, retargeted);
        document["left_out"] = json!(left_out);
        document["warnings"] = json!(warnings);
        format!("{document:#}\n")
    } else {
        note_of_front(found.motion_start, path, "fitted by itself");
        warnings.iter().for_each(|warning| print_warning(warning));
        for (names, what) in [
            (left_out, "joints of the motion that the rig does not have are left out"),
            (at_rest, "joints of the rig that the motion does not have are at rest"),
        ] {
            if !names.is_empty() {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                print_note(&format!("{what}: {}", some_of(&names)));
            }
        }
        if gives_dials(args) && retargeted {
            print_note(
                "the table has dials only: where the figure is in the world is in a motion file",
            );
        }
        text_of_fit(&network, skeleton, path, &found, retargeted)
    };
    print_report(&args.output, &report)
}

/// How a motion is one of the rig's joints.
enum Onto {
    /// It is of the same joints.
    Itself,
    /// It has them, and others.
    Named(Box<ByName>),
    /// It is of another body.
    Retargeted(Box<Retargeted>),
}

/// A motion as one of the rig's joints: by their names, or by what they are of the body.
fn brought_onto(
    [path, rig]: [&Path; 2],
    network: &Network,
    skeleton: &Skeleton,
    (source, motion): (&Skeleton, &Clip),
    standing: &Standing,
) -> Result<Onto, Failure> {
    if same_joints(source, skeleton) {
        return Ok(Onto::Itself);
    }
    let missing = match by_name(network, skeleton, source, motion) {
        Ok(named) => return Ok(Onto::Named(Box::new(named))),
        Err(missing) => missing,
    };
    let sign = working("retargeting");
    let maps = maps_of(&standing.names, &[source, skeleton])?;
    let of_rig = FigureAxes::with(skeleton, &[], &AxesOptions { names: &maps, up: None });
    let axes = [told_axes(path, source, Some(motion), (standing.up, UP), &maps), of_rig];
    let made = Retarget::by([source, skeleton], axes)
        .and_then(|retarget| retarget.apply(motion, &RetargetOptions::default()));
    sign.finish_and_clear();
    made.map(|made| Onto::Retargeted(Box::new(made))).map_err(|error| {
        let names: Vec<&str> = source.joints().iter().map(|joint| joint.name.as_str()).collect();
        let what = format!(
            "{} to {}: by their names, {missing} (it has {}); by what they are of the body, {error}",
            path.display(),
            rig.display(),
            some_of(&names)
        );
        let help = "give the joints of the motion the names and the rest pose of those that dials move, as \
                    condyle pose RIG -o FILE.bvh writes them; or fit the motion of a person to a whole body, \
                    as --rig body: docs/anatomy.md lists the names that are known, and --map takes a table of others";
        Failure::usage(what, help)
    })
}

/// What has to be known about dials that were found.
fn warnings_of_fit(
    network: &Network,
    skeleton: &Skeleton,
    found: &FittedDials,
    held: &[HeldOver<'_>],
) -> Vec<String> {
    let mut warnings = Vec::new();
    let far: Vec<&str> = found
        .misses
        .iter()
        .filter(|miss| miss.rms.degrees() > FAR_DEG)
        .map(|miss| skeleton[miss.joint].name.as_str())
        .collect();
    if !far.is_empty() {
        warnings.push(format!(
            "{}: more than {FAR_DEG} degrees from the motion (rms): the rig cannot do it, the files \
             have other rest poses, or a better way was not found",
            some_of(&far)
        ));
    }
    warnings.extend(held.iter().map(|held| told_held(held, found.dials.len())));
    let motion = found.motion();
    let (frames, ends) = (motion.len(), motion.at_ends(network.dials()));
    // An end where the figure is at rest is not in the way: a knee that is straight.
    let in_the_way = |(dial, counts): &(&Dial, [usize; 2])| {
        let there = dial.range.iter().zip(counts).filter(|(end, _)| **end != dial.rest);
        2 * there.map(|(_, count)| count).sum::<usize>() >= frames.max(1)
    };
    let pinned: Vec<&str> = network
        .dials()
        .iter()
        .zip(ends)
        .filter(in_the_way)
        .map(|(dial, _)| dial.name.as_str())
        .collect();
    if !pinned.is_empty() {
        warnings.push(format!(
            "{}: at an end of the range in half of the frames or more: the motion goes further than the \
             rig does, or the files have other rest poses",
            some_of(&pinned)
        ));
    }
    warnings
}

/// A ratio as people read it.
fn significant(ratio: f64) -> String {
    if ratio < 1.0 { format!("1/{}", decimals(1.0 / ratio, 0)) } else { decimals(ratio, 0) }
}

/// Writes what the user asked for.
fn write_fit(
    args: &Fit,
    network: &Network,
    skeleton: &Skeleton,
    (source, clip): (&Skeleton, &Clip),
    found: &FittedDials,
    warnings: &[String],
) -> Result<(), Failure> {
    let dials = &found.dials;
    let table = dials.csv(network.dials());
    let page = args.report.as_ref().map(|report| {
        let residual = |miss: &FittedJoint| {
            let (joint, worst_frame) = (skeleton[miss.joint].name.as_str(), miss.worst_frame);
            Residual { joint, rms: miss.rms, worst: miss.worst, worst_frame }
        };
        let residuals: Vec<Residual<'_>> = found.misses.iter().map(residual).collect();
        let view = FitView { dials, captured: clip, source, residuals: &residuals, warnings };
        let clip = args.files.last().map_or_else(String::new, |path| title(path));
        let title = format!("{clip} on {}", title(&args.rig));
        (report, page::html_of_fit(&title, skeleton, network, axes(skeleton), &view))
    });
    let mut results = Results::default();
    if let Some((path, page)) = &page {
        results = results.with(path, page.as_bytes());
    }
    if let Some(path) = &args.dials {
        results = results.with(path, table.as_bytes());
    }
    if gives_dials(args) {
        return results.with(&args.output, table.as_bytes()).write();
    }
    let motion = network.clip_over(skeleton, dials, Some(clip)).map_err(|error| {
        Failure::usage(format!("no motion: {error}"), "fit works on one frame at least")
    })?;
    let motion = MotionFile::new(skeleton.clone(), motion);
    let format = motion_format(&motion, &args.output, &args.writing)?;
    notice_size(&motion, format);
    results.with_motion(&motion, &args.output, &args.writing, format)?.write()
}

/// Whether OUT is to be the dials, and not a motion: standard output is, unless a format is named.
fn gives_dials(args: &Fit) -> bool {
    is_table(&args.output) || args.output == Path::new("-") && args.writing.to.is_none()
}

/// Whether dials are to be written, and not a motion.
pub(super) fn is_table(output: &Path) -> bool {
    output.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"))
}

/// The page of a motion, or of a single frame as a pose of that name.
pub(super) fn page_of(
    rig: &Path,
    skeleton: &Skeleton,
    network: &Network,
    name: &str,
    clip: &DialClip,
) -> String {
    let one = (clip.len() == 1).then(|| PoseView { name, dials: clip.frame(0) });
    let over_time = (clip.len() > 1).then_some(clip);
    let poses: Vec<PoseView<'_>> = one.into_iter().collect();
    page::html(&title(rig), skeleton, network, axes(skeleton), &poses, over_time)
}

/// Up and forward.
fn axes(skeleton: &Skeleton) -> [condyle::glam::DVec3; 2] {
    let ground = Ground::of(skeleton);
    [ground.up(), ground.forward()]
}

/// What a page is about.
fn title(rig: &Path) -> String {
    rig.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// A model by its name, or a document; with its dials.
pub(super) fn network_of(argument: &Path) -> Result<(Rig, Network), Failure> {
    let model = model_of(argument);
    let models = models::names().collect::<Vec<_>>().join(", ");
    if model.is_none() && !argument.is_file() {
        let help = format!("name a rig document (RIG.json) or a model: {models}");
        let what = match argument {
            folder if folder.is_dir() => "a folder is no rig document",
            other if other.exists() => "no regular file",
            _ => "there is no such file or model",
        };
        return Err(Failure::file(argument, what, &help));
    }
    let rig = match model.and_then(models::find) {
        Some(rig) => rig,
        None => rig_of(argument, false)?,
    };
    if rig.maps.dials.is_empty() {
        let help = format!("give it a field \"maps\" (docs/maps.md), or name a model: {models}");
        return Err(Failure::file(argument, "the rig has no dials", &help));
    }
    let network = rig.network().map_err(|e| Failure::Rig(vec![e.with_file(argument)]))?;
    Ok((rig, network))
}

const fn unit_name(unit: Unit) -> &'static str {
    unit.symbol()
}

/// A number of a dial as the user gives it.
pub(super) fn told(dial: &Dial, value: f64) -> String {
    plain(rounded(value / dial.unit.of_document()))
}

/// Without what conversion between units adds.
pub(super) fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e9).round() / 1e9 + 0.0;
    if rounded.is_finite() { rounded } else { value }
}

fn json_of_dial(dial: &Dial) -> Value {
    let number = |value: f64| rounded(value / dial.unit.of_document());
    json!({
        "name": dial.name,
        "min": number(dial.range[0]),
        "max": number(dial.range[1]),
        "unit": unit_name(dial.unit),
        "rest": number(dial.rest),
        "label": dial.label,
        "source": dial.source,
    })
}

fn json_of_fit(
    network: &Network,
    skeleton: &Skeleton,
    found: &FittedDials,
    held: &[HeldOver<'_>],
    retargeted: bool,
) -> Value {
    let joints: Map<String, Value> = found
        .misses
        .iter()
        .map(|miss| {
            let mut of = json!({
                "rms_deg": json_degrees(miss.rms),
                "worst_deg": json_degrees(miss.worst),
                "worst_frame": miss.worst_frame,
            });
            if let Some(place) = &miss.place {
                of["rms_m"] = json!(rounded(place.rms_m));
                of["worst_m"] = json!(rounded(place.worst_m));
            }
            (skeleton[miss.joint].name.clone(), of)
        })
        .collect();
    let motion = found.motion();
    let ends_of = motion.at_ends(network.dials());
    let dials: Map<String, Value> = network
        .dials()
        .iter()
        .enumerate()
        .map(|(d, dial)| {
            let [low, high] = motion.ends(d).map(|x| rounded(x / dial.unit.of_document()));
            let [at_min, at_max] = ends_of[d];
            let of = json!({
                "from": low,
                "to": high,
                "unit": unit_name(dial.unit),
                "at_min_frames": at_min,
                "at_max_frames": at_max,
            });
            (dial.name.clone(), of)
        })
        .collect();
    let held: Vec<Value> = held.iter().map(json_of_held_over).collect();
    json!({
        "frames": found.dials.len(),
        "motion_start": found.motion_start,
        "retargeted": retargeted,
        "dials": dials,
        "held": held,
        "joints": joints,
    })
}

/// What dials say and the pose does not do.
fn told_held(held: &HeldOver<'_>, frames: usize) -> String {
    let often = often(held.frames, held.worst_frame, frames);
    printable(&format!(
        "{}{often}: what its dials say there is not what the pose does, and no others that come as near do \
         better",
        held.worst
    ))
}

/// In what share of the frames, if in any.
fn share_told(some: usize, all: usize) -> String {
    match (100 * some + all / 2) / all.max(1) {
        _ if some == 0 => String::new(),
        0 => "< 1 %".to_owned(),
        100 if some < all => "> 99 %".to_owned(),
        share => format!("{share} %"),
    }
}

fn text_of_fit(
    network: &Network,
    skeleton: &Skeleton,
    path: &Path,
    found: &FittedDials,
    retargeted: bool,
) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {} frames, {} dials{}",
        path.display(),
        found.dials.len(),
        network.dials().len(),
        if retargeted { ", after retargeting" } else { "" },
    );
    let mut table = new_table(&["dial", "from", "to", "", "range", "at its end"]);
    let motion = found.motion();
    let at_ends = motion.at_ends(network.dials());
    for (d, dial) in network.dials().iter().enumerate() {
        let [low, high] = motion.ends(d).map(|x| decimals(x / dial.unit.of_document(), 2));
        let [min, max] = dial.range.map(|end| told(dial, end));
        table.add_row(vec![
            Cell::new(printable(&dial.name)),
            number(low),
            number(high),
            Cell::new(unit_name(dial.unit)),
            Cell::new(format!("{min} to {max}")),
            number(share_told(at_ends[d].iter().sum(), motion.len())),
        ]);
    }
    let _ =
        writeln!(text, "{table}\nIn what share of the frames a dial is at an end of its range.\n");
    let mut table = new_table(&["joint", "off by (rms)", "at most", "at frame"]);
    for miss in &found.misses {
        table.add_row(vec![
            Cell::new(printable(&skeleton[miss.joint].name)),
            number(hundredths(miss.rms)),
            number(hundredths(miss.worst)),
            number(miss.worst_frame),
        ]);
    }
    let _ = writeln!(text, "{table}");
    for miss in &found.misses {
        let Some(place) = &miss.place else { continue };
        let [rms, worst] = [place.rms_m, place.worst_m].map(|x| decimals(1e3 * x, 2));
        let name = printable(&skeleton[miss.joint].name);
        let _ = writeln!(text, "{name}: shifted, off by {rms} mm (rms), {worst} at most");
    }
    text
}
