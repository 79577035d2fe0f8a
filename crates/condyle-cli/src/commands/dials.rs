//! `condyle dials` and `condyle fit`: joint maps. `pose.rs` has `condyle pose`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::Cell;
use condyle::edit::{Ground, MotionFrom, Retarget, RetargetOptions, Retargeted};
use condyle::formats::MotionFile;
use condyle::ik::{DialSettings, DialSolver, FitTo, FittedDials, same_joints};
use condyle::maps::{Dial, DialClip, Network, Unit};
use condyle::math::Angle;
use condyle::models;
use condyle::motion::Clip;
use condyle::report::dials::{self as page, PoseView};
use condyle::rig::Rig;
use condyle::skeleton::{JointIndex, Skeleton};
use serde_json::{Map, Value, json};

use super::estimate::not_an_input;
use super::rig::rig_of;
use super::{Answer, is_one_of, print_bytes, print_report, read_one, write_out};
use crate::args::{Dials, Fit};
use crate::output::{
    Failure, decimals, hundredths, json_degrees, new_table, number, plain, print_note,
    print_warning, printable, progress, some_of, working, write_whole,
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
        return print_bytes(format!("{:#}\n", json!({ "dials": all })).as_bytes());
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
    print_bytes(text.as_bytes())
}

/// Writes the rig document: of a model its data file as it is, to be edited.
fn write_rig(args: &Dials, rig: &Rig, output: &Path) -> Result<Answer, Failure> {
    not_an_input(output, [&args.rig])?;
    let text = match model_of(&args.rig).and_then(models::text) {
        Some(text) => text.as_bytes().to_vec(),
        None => rig.write().map_err(|e| Failure::Rig(vec![e.with_file(&args.rig)]))?,
    };
    if output == Path::new("-") {
        return print_bytes(&text);
    }
    write_whole(&[(output, &text)])?;
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
    let outputs: Vec<&PathBuf> =
        std::iter::once(&args.output).chain(&args.dials).chain(&args.report).collect();
    distinct(&outputs)?;
    for output in outputs {
        not_an_input(output, args.files.iter().chain([&args.rig]))?;
    }
    if is_table(&args.output) && args.writing.to.is_some() {
        let what = format!("{} is a table of dials, and --to is for motion", args.output.display());
        let help = "leave --to out, or write the motion to OUT and the table with --dials";
        return Err(Failure::usage(what, help));
    }
    let (rig, network) = network_of(&args.rig)?;
    let read = read_one(&args.files, &args.reading.options())?;
    // The motion is the last: an ASF comes before it.
    let path = args.files.last().map_or(Path::new(""), |p| p.as_path());
    let Some(motion) = read.file.clip else {
        let what = format!("{}: there is no motion to fit dials to", path.display());
        return Err(Failure::usage(what, "fit works on a skeleton with motion"));
    };
    let (source, skeleton) = (&read.file.skeleton, &rig.skeleton);
    let onto = if same_joints(source, skeleton) {
        None
    } else {
        let failed = |error: condyle::edit::RetargetError| {
            let what = format!("{} to {}: {error}", path.display(), args.rig.display());
            let help = "a motion of another skeleton can be fitted to a whole body, as --rig body; \
                        docs/anatomy.md lists the names that are known";
            Failure::usage(what, help)
        };
        let sign = working("retargeting");
        let made = Retarget::new(source, skeleton)
            .and_then(|retarget| retarget.apply(&motion, &RetargetOptions::default()))
            .map_err(failed)?;
        sign.finish_and_clear();
        Some(made)
    };
    let has_motion =
        |made: &Retargeted, joint: &JointIndex| !matches!(made.from[joint.get()], MotionFrom::Rest);
    let joints: Vec<JointIndex> =
        onto.iter().flat_map(|made| skeleton.indices().filter(|j| has_motion(made, j))).collect();
    let (clip, to) = match &onto {
        Some(made) => (&made.clip, FitTo::World(&joints)),
        None => (&motion, FitTo::Parents(source)),
    };
    let bar = progress(3 * clip.frame_count(), "fitting");
    let done = |n: usize| bar.set_position(n as u64);
    // As near as it gets, not only near enough.
    let near = Angle::from_radians(1e-7);
    let settings = DialSettings { near, near_m: 1e-7, ..DialSettings::default() };
    let mut solver = DialSolver::new(&network);
    let found = solver.fit_clip(&network, skeleton, clip, to, &settings, done);
    bar.finish_and_clear();
    write_fit(args, &network, skeleton, clip, &found)?;
    let far: Vec<&str> = found
        .misses
        .iter()
        .filter(|miss| miss.rms.degrees() > FAR_DEG)
        .map(|miss| skeleton[miss.joint].name.as_str())
        .collect();
    let mut warnings = Vec::new();
    if !far.is_empty() {
        warnings.push(format!(
            "{}: more than {FAR_DEG} degrees from the motion (rms): the rig cannot do it, the files \
             have other rest poses, or a better way was not found",
            some_of(&far)
        ));
    }
    let report = if args.json {
        let mut document = json_of_fit(&network, skeleton, &found, onto.is_some());
        document["warnings"] = json!(warnings);
        format!("{document:#}\n")
    } else {
        warnings.iter().for_each(|warning| print_warning(warning));
        if gives_dials(args) && onto.is_some() {
            print_note(
                "the table has dials only: where the figure is in the world is in a motion file",
            );
        }
        text_of_fit(&network, skeleton, path, &found, onto.is_some())
    };
    print_report(&args.output, &report)
}

/// Writes what the user asked for.
fn write_fit(
    args: &Fit,
    network: &Network,
    skeleton: &Skeleton,
    clip: &Clip,
    found: &FittedDials,
) -> Result<(), Failure> {
    let dials = &found.dials;
    let table = dials.csv(network.dials());
    let page = args.report.as_ref();
    let page = page.map(|report| (report, page_of(&args.rig, skeleton, network, "frame 0", dials)));
    let mut files: Vec<(&Path, &[u8])> = Vec::new();
    files.extend(page.as_ref().map(|(path, text)| (path.as_path(), text.as_bytes())));
    files.extend(args.dials.as_ref().map(|path| (path.as_path(), table.as_bytes())));
    if is_table(&args.output) {
        files.push((&args.output, table.as_bytes()));
        return write_whole(&files);
    }
    if gives_dials(args) {
        write_whole(&files)?;
        return print_bytes(table.as_bytes()).map(|_| ());
    }
    let motion = network.clip_over(skeleton, dials, Some(clip)).map_err(|error| {
        Failure::usage(format!("no motion: {error}"), "fit works on one frame at least")
    })?;
    write_out(&MotionFile::new(skeleton.clone(), motion), &args.output, &args.writing)?;
    write_whole(&files)
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

/// Two outputs may not be one file.
pub(super) fn distinct(outputs: &[&PathBuf]) -> Result<(), Failure> {
    for (i, output) in outputs.iter().enumerate() {
        if i > 0 && output.as_path() == Path::new("-") {
            let help = "give the page or the table a name";
            return Err(Failure::usage("only OUT can be standard output", help));
        }
        if is_one_of(output, outputs[..i].iter().copied()) {
            let what = format!("{} would be written twice", output.display());
            return Err(Failure::usage(what, "give each output a name of its own"));
        }
    }
    Ok(())
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
    let dials: Map<String, Value> = network
        .dials()
        .iter()
        .enumerate()
        .map(|(d, dial)| {
            let [low, high] = ends(&found.dials, d).map(|x| rounded(x / dial.unit.of_document()));
            let of = json!({ "from": low, "to": high, "unit": unit_name(dial.unit) });
            (dial.name.clone(), of)
        })
        .collect();
    json!({
        "frames": found.dials.len(),
        "retargeted": retargeted,
        "dials": dials,
        "joints": joints,
    })
}

/// Between which values a dial is.
fn ends(clip: &DialClip, dial: usize) -> [f64; 2] {
    let all = (0..clip.len()).map(|frame| clip.frame(frame)[dial]);
    all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
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
    let mut table = new_table(&["dial", "from", "to", "", "range"]);
    for (d, dial) in network.dials().iter().enumerate() {
        let [low, high] = ends(&found.dials, d).map(|x| decimals(x / dial.unit.of_document(), 2));
        let [min, max] = dial.range.map(|end| told(dial, end));
        table.add_row(vec![
            Cell::new(printable(&dial.name)),
            number(low),
            number(high),
            Cell::new(unit_name(dial.unit)),
            Cell::new(format!("{min} to {max}")),
        ]);
    }
    let _ = writeln!(text, "{table}\n");
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
