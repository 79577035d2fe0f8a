//! `condyle pose`: a figure, or a motion, from its dials.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use comfy_table::Cell;
use condyle::formats::{MotionFile, read_bytes, read_stream};
use condyle::glam::DVec3;
use condyle::ik::{DialSettings, DialSolver, FollowedDials, Goals, REACHED, REACHED_M, RootMotion};
use condyle::maps::{
    By, Clamped, Dial, DialClip, Held, HeldOver, MAX_POSED, MAX_TABLE_BYTES, Network, State, Unit,
};
use condyle::math::Angle;
use condyle::motion::{ClipError, Pose as Figure};
use condyle::rig;
use condyle::skeleton::{Skeleton, names_near};
use serde_json::{Map, Value, json};

use super::dials::{idle, is_table, network_of, page_of, rounded, told};
use super::ik::{json_of_goals, notices_of, read_document, table_of_goals};
use super::outputs::Results;
use super::{Answer, motion_format};
use crate::args::Pose;
use crate::output::{
    Failure, counted, decimals, json_degrees, new_table, number, plain, print_note, print_warning,
    printable, progress, some_of, visible,
};
use crate::stdout::stdout;

pub(super) fn run(args: &Pose) -> Result<Answer, Failure> {
    let none = PathBuf::new();
    let output = args.output.as_ref().unwrap_or(&none);
    if args.output.as_deref().is_some_and(is_table) && args.writing.to.is_some() {
        let what = format!("{} is a table of dials, and --to is for motion", output.display());
        return Err(Failure::usage(what, "leave --to out, or name a motion file"));
    }
    let (rig, network) = network_of(&args.rig)?;
    let skeleton = &rig.skeleton;
    let goals = args.goals.as_deref().map(read_goals).transpose()?;
    let frames = goals.as_deref().map_or(1, Goals::frames_in);
    let (mut clip, clamped) = set_dials(args, &network, skeleton, frames)?;
    if args.output.is_none() && args.report.is_none() && !args.json {
        let what = "there is nowhere for the pose to go";
        return Err(Failure::usage(what, "add -o OUT, --report PAGE.html or --json"));
    }
    let notes = clamped.iter().map(|of| note_of(&network, of, clip.len())).collect();
    let mut warnings: Vec<String> = idle(&network).into_iter().collect();
    let mut followed = None;
    if let Some(path) = &args.goals {
        let (goals, found) = follow(path, &network, skeleton, &clip)?;
        warnings.extend(notices_of(&found.goals, &goals, skeleton));
        clip.clone_from(&found.dials);
        followed = Some((goals, found));
    }
    let told = Told {
        args,
        network: &network,
        skeleton,
        clip: &clip,
        held: network.held_over(&clip),
        notes,
        warnings,
        followed,
    };
    write_files(&told)?;
    told.print()
}

fn read_goals(path: &Path) -> Result<Vec<u8>, Failure> {
    read_bytes(path, rig::MAX_BYTES as u64).map_err(|error| {
        let help = "name a goals document (GOALS.json), see docs/ik.md";
        Failure::file(path, format!("cannot be read: {error}"), help)
    })
}

/// Looks for dials that bring goals about.
fn follow(
    path: &Path,
    network: &Network,
    skeleton: &Skeleton,
    own: &DialClip,
) -> Result<(Goals, FollowedDials), Failure> {
    let failed = |error: ClipError| {
        Failure::usage(format!("no motion: {error}"), "set dials for one frame at least")
    };
    // What is held or locked is so as in the motion that the dials make.
    let motion = network.clip(skeleton, own).map_err(failed)?;
    let goals = read_document(path, skeleton, &motion, false)?;
    if !goals.lock.is_empty() || goals.root == RootMotion::Free {
        let word = if goals.lock.is_empty() { "\"root\": \"free\"" } else { "\"lock\"" };
        let what =
            format!("{word} is for condyle ik: dials move what their map says, and nothing else");
        return Err(Failure::file(path, what, "leave it out"));
    }
    let bar = progress(own.len(), "solving");
    let done = |n: usize| bar.set_position(n as u64);
    // A hundredth of what counts as reached.
    let near = Angle::from_radians(0.01 * REACHED.radians());
    let settings = DialSettings { near_m: 0.01 * REACHED_M, near, ..DialSettings::default() };
    let mut solver = DialSolver::new(network);
    let found = solver.follow(network, skeleton, &goals, own, &settings, done);
    bar.finish_and_clear();
    Ok((goals, found))
}

/// What there is to tell about a pose or a motion.
struct Told<'a> {
    args: &'a Pose,
    network: &'a Network,
    skeleton: &'a Skeleton,
    clip: &'a DialClip,
    held: Vec<HeldOver<'a>>,
    /// What became of what was set.
    notes: Vec<String>,
    /// What to know about the map, and about goals.
    warnings: Vec<String>,
    followed: Option<(Goals, FollowedDials)>,
}

impl Told<'_> {
    /// What to know, bones that do not slide as they should included: that is the map's, not what was set.
    fn warnings(&self) -> Vec<String> {
        let slides = self.held.iter().filter(|of| matches!(of.worst.by, By::Slide { .. }));
        self.warnings.iter().cloned().chain(slides.map(|of| self.sentence(of))).collect()
    }

    fn sentence(&self, of: &HeldOver<'_>) -> String {
        let often = often(of.frames, of.worst_frame, self.clip.len());
        printable(&format!("{}{often}", of.worst))
    }

    /// To standard output, or to standard error where that has the motion.
    fn print(&self) -> Result<Answer, Failure> {
        let to_stdout = self.args.output.as_deref() != Some(Path::new("-"));
        let mut out: Box<dyn Write> = match to_stdout {
            true => Box::new(std::io::BufWriter::new(stdout()?)),
            false => Box::new(std::io::BufWriter::new(std::io::stderr().lock())),
        };
        if self.args.json {
            self.json(&mut out)?;
        } else {
            self.notes.iter().for_each(|note| print_note(note));
            self.warnings().iter().for_each(|warning| print_warning(warning));
            out.write_all(visible(&self.text()).as_bytes())?;
        }
        out.flush()?;
        let missed = self.followed.as_ref().is_some_and(|(_, found)| !found.ok());
        Ok(if missed { Answer::No } else { Answer::Yes })
    }

    /// One pose as a document, and a motion frame by frame: it may be longer than memory.
    fn json(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let Self { network, skeleton, clip, .. } = self;
        let units: Map<String, Value> = network
            .dials()
            .iter()
            .map(|dial| (dial.name.clone(), json!(dial.unit.symbol())))
            .collect();
        let warnings: Vec<String> = self.notes.iter().cloned().chain(self.warnings()).collect();
        let (mut state, mut figure) = (network.state(), Figure::rest(skeleton));
        let mut frame_of = |frame: usize| {
            network.evaluate_values(clip.frame(frame), &mut state);
            network.write(&state, &mut figure);
            json_of_frame(network, skeleton, &state, &figure)
        };
        let goals = self
            .followed
            .as_ref()
            .map(|(goals, found)| (found.ok(), json_of_goals(&found.goals, goals, skeleton)));
        if self.args.dials.is_none() && clip.len() == 1 {
            let mut document = frame_of(0);
            document["units"] = json!(units);
            if let Some((ok, goals)) = goals {
                document["ok"] = json!(ok);
                document["goals"] = json!(goals);
            }
            document["warnings"] = json!(warnings);
            writeln!(out, "{}", visible(&format!("{document:#}")))?;
            return Ok(());
        }
        let held: Vec<Value> = self.held.iter().map(json_of_held_over).collect();
        writeln!(out, "{{\n\"fps\": {},", json!(clip.rate().nominal_fps()))?;
        if let Some((ok, goals)) = goals {
            writeln!(out, "\"ok\": {ok},\n\"goals\": {},", visible(&json!(goals).to_string()))?;
        }
        writeln!(out, "\"units\": {},", visible(&json!(units).to_string()))?;
        writeln!(out, "\"held\": {},", visible(&json!(held).to_string()))?;
        writeln!(out, "\"warnings\": {},", visible(&json!(warnings).to_string()))?;
        writeln!(out, "\"frames\": [")?;
        for frame in 0..clip.len() {
            let comma = if frame + 1 < clip.len() { "," } else { "" };
            writeln!(out, "{}{comma}", visible(&frame_of(frame).to_string()))?;
        }
        writeln!(out, "]\n}}")?;
        Ok(())
    }

    /// That all dials are at rest, which need not be where the figure is.
    fn at_rest(&self) -> String {
        let moved = self.network.moved_at_rest();
        let names: Vec<&str> =
            moved.iter().map(|(joint, _)| self.skeleton[*joint].name.as_str()).collect();
        match names.as_slice() {
            [] => "all dials are at rest, and so is the figure".to_owned(),
            names => format!(
                "all dials are at rest; the map moves {} from where the skeleton has them at rest",
                some_of(names)
            ),
        }
    }

    fn text(&self) -> String {
        let Self { network, clip, .. } = self;
        let mut text = String::new();
        let one = clip.len() == 1;
        if !one {
            let _ = writeln!(text, "{}", counted(clip.len(), "frame", "frames"));
        }
        let head: &[&str] = match one {
            true => &["dial", "set to", "", "range"],
            false => &["dial", "from", "to", "", "range"],
        };
        let mut table = new_table(head);
        let mut any = false;
        for (d, dial) in network.dials().iter().enumerate() {
            // What was found has more digits than anyone reads.
            let shown = |value: f64| match self.followed {
                Some(_) => decimals(
                    value / dial.unit.of_document(),
                    if dial.unit == Unit::Angle { 2 } else { 4 },
                ),
                None => told(dial, value),
            };
            let [low, high] = clip.ends(d).map(shown);
            if low == shown(dial.rest) && high == low {
                continue;
            }
            any = true;
            let [min, max] = dial.range.map(|end| told(dial, end));
            let mut row = vec![Cell::new(printable(&dial.name)), number(low)];
            row.extend((!one).then(|| number(high)));
            row.extend([Cell::new(dial.unit.symbol()), Cell::new(format!("{min} to {max}"))]);
            table.add_row(row);
        }
        if any {
            let _ = writeln!(text, "{table}");
        } else {
            let _ = writeln!(text, "{}", self.at_rest());
        }
        if let Some((goals, found)) = &self.followed {
            let _ = writeln!(text, "\n{}", table_of_goals(&found.goals, goals, self.skeleton));
        }
        for of in self.held.iter().filter(|of| !matches!(of.worst.by, By::Slide { .. })) {
            let _ = writeln!(text, "{}", self.sentence(of));
        }
        text
    }
}

/// ` (3 of 10 frames, worst in frame 7)`, and nothing of a single frame.
pub(super) fn often(frames: usize, worst_frame: usize, of: usize) -> String {
    match of {
        1 => String::new(),
        of => format!(" ({frames} of {of} frames, worst in frame {worst_frame})"),
    }
}

/// What became of a dial that was set beyond its range.
fn note_of(network: &Network, of: &Clamped, frames: usize) -> String {
    let dial = &network.dials()[of.dial];
    let [from, to] = [of.from, of.to].map(|x| told(dial, x));
    let unit = dial.unit.symbol();
    let often = often(of.frames, of.worst_frame, frames);
    let note = format!("{}: {from} {unit} brought to {to} {unit}", dial.name);
    printable(&format!("{}{often}", note.trim_end().replace("  ", " ")))
}

/// Writes the motion or the table, and the page: all of them or none.
fn write_files(of: &Told<'_>) -> Result<(), Failure> {
    let Told { args, network, skeleton, clip, .. } = of;
    let page = args.report.as_ref();
    let page = page.map(|path| (path, page_of(&args.rig, skeleton, network, "as set", clip)));
    let mut results = Results::default();
    if let Some((path, page)) = &page {
        results = results.with(path, page.as_bytes());
    }
    let Some(output) = &args.output else { return results.write() };
    let to_stdout = output.as_path() == Path::new("-");
    if is_table(output) || to_stdout && args.goals.is_some() && args.writing.to.is_none() {
        let table = clip.csv(network.dials());
        return results.with(output, table.as_bytes()).write();
    }
    let motion = network.clip(skeleton, clip).map_err(|error| {
        Failure::usage(format!("no motion: {error}"), "set dials for one frame at least")
    })?;
    let motion = MotionFile::new((*skeleton).clone(), motion);
    let format = motion_format(&motion, output, &args.writing)?;
    results.with_motion(&motion, output, &args.writing, format)?.write()
}

/// The dials as the command line says, for so many frames or those of a table; and what was brought into its
/// range.
fn set_dials(
    args: &Pose,
    network: &Network,
    skeleton: &Skeleton,
    frames: usize,
) -> Result<(DialClip, Vec<Clamped>), Failure> {
    let dials = network.dials();
    let given = settings(args, network)?;
    let table = args.dials.as_deref().map(read_table).transpose()?;
    let mut clip = match (&args.dials, &table) {
        (Some(path), Some(text)) => DialClip::read_csv(text, dials, args.fps).map_err(|error| {
            let help = "the first line names dials, each other line is a frame";
            at_place(path, error.to_string(), help)
        })?,
        _ => {
            few_enough(frames, skeleton.len().max(dials.len()))?;
            let mut still = DialClip::new(args.fps, dials.len());
            let rest: Vec<f64> = dials.iter().map(|dial| dial.rest).collect();
            (0..frames).for_each(|_| still.push(&rest));
            still
        }
    };
    if args.goals.is_some() || args.output.as_ref().is_some_and(|output| !is_table(output)) {
        few_enough(clip.len(), skeleton.len())?;
    }
    given.iter().for_each(|(dial, value)| clip.set(*dial, *value));
    if args.clamp {
        let clamped = clip.clamp(dials);
        return Ok((clip, clamped));
    }
    let Some((frame, i)) = clip.beyond(dials) else { return Ok((clip, Vec::new())) };
    let dial = &dials[i];
    let value = clip.frame(frame)[i];
    let [min, max] = dial.range.map(|x| told(dial, x));
    let value = if value.is_finite() { told(dial, value) } else { "so large".to_owned() };
    let unit = dial.unit.symbol();
    let range = format!("it goes from {min} to {max} {unit}");
    let help = "set another value, or let --clamp bring it there";
    // What --set says holds for all frames.
    let set = given.iter().any(|(d, _)| *d == i);
    let what = match (&args.dials, &table) {
        (Some(path), Some(text)) if !set => {
            let place = DialClip::place_in_csv(text, dials, frame, i);
            let place = place.map_or(String::new(), |[line, column]| format!("{line}:{column}: "));
            let name = &dial.name;
            let what = format!("{place}dial {name:?} cannot be {value} in frame {frame}: {range}");
            return Err(at_place(path, what, help));
        }
        _ => format!("dial {:?} cannot be {value}: {range}", dial.name),
    };
    Err(Failure::usage(what.trim_end(), help))
}

/// The dials that are set by name, with their values.
fn settings(args: &Pose, network: &Network) -> Result<Vec<(usize, f64)>, Failure> {
    let dials = network.dials();
    let mut given: Vec<(usize, f64)> = Vec::new();
    for (name, value) in &args.set {
        let Some(dial) = network.find(name) else {
            let near = names_near(dials.iter().map(|d| d.name.as_str()), name);
            let help = match near.as_slice() {
                [] => format!("condyle dials {} lists them", args.rig.display()),
                near => format!("near are {}", some_of(near)),
            };
            return Err(Failure::usage(format!("there is no dial {name:?}"), &help));
        };
        if let Some((_, first)) = given.iter().find(|(other, _)| *other == dial) {
            let first = told(&dials[dial], *first);
            let what = format!("dial {name:?} is set twice: to {first} and to {}", plain(*value));
            return Err(Failure::usage(what, "leave one of the two out"));
        }
        given.push((dial, value * dials[dial].unit.of_document()));
    }
    Ok(given)
}

/// Whether a motion of so many frames can be made: it is refused before it takes any memory.
fn few_enough(frames: usize, joints: usize) -> Result<(), Failure> {
    if frames.saturating_mul(joints) <= MAX_POSED {
        return Ok(());
    }
    let what =
        format!("{frames} frames of {joints} joints or dials are more than is posed at once");
    Err(Failure::usage(what, "cut the table or the goals in pieces"))
}

/// The text of a table, from a file or from standard input.
fn read_table(path: &Path) -> Result<String, Failure> {
    let bytes = match path == Path::new("-") {
        true => read_stream(std::io::stdin().lock(), MAX_TABLE_BYTES),
        false => read_bytes(path, MAX_TABLE_BYTES),
    };
    let bytes = bytes.map_err(|error| {
        let path = shown(path);
        Failure::file(Path::new(&path), format!("cannot be read: {error}"), "give a table of dials")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let (good, _) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        let good = String::from_utf8_lossy(good);
        let (line, last) = (good.matches('\n').count() + 1, good.rsplit('\n').next());
        let column = last.map_or(0, |last| last.chars().count()) + 1;
        let what = format!("{line}:{column}: the text is not UTF-8");
        at_place(path, what, "save the table as CSV in UTF-8")
    })
}

/// What is wrong somewhere in a table.
fn at_place(path: &Path, what: String, help: &str) -> Failure {
    Failure::Place { path: shown(path).into(), what, help: help.to_owned() }
}

/// How a table is called in a sentence.
fn shown(path: &Path) -> String {
    match path == Path::new("-") {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}

pub(super) fn json_of_held_over(of: &HeldOver<'_>) -> Value {
    let mut one = json_of_held(&of.worst);
    one["frames"] = json!(of.frames);
    one["worst_frame"] = json!(of.worst_frame);
    one
}

fn json_of_held(held: &Held<'_>) -> Value {
    let mut one = json!({ "part": held.part, "says": held.to_string() });
    match held.by {
        By::Bound { number, wanted, given, unit } => {
            one["number"] = json!(number);
            one["wanted"] = json!(rounded(wanted / unit.of_document()));
            one["given"] = json!(rounded(given / unit.of_document()));
            one["unit"] = json!(unit.symbol());
        }
        By::Limit { apart, of_bone } => {
            one["apart_deg"] = json!(json_degrees(apart));
            if let Some([points, rolls]) = of_bone.map(|both| both.map(json_degrees)) {
                one["direction_deg"] = json!(points);
                one["roll_deg"] = json!(rolls);
            }
        }
        By::Slide { joint, on, off_m } => {
            one["joint"] = json!(joint);
            one["on"] = json!(on);
            one["off_m"] = json!(off_m);
        }
    }
    one
}

fn json_of_frame(network: &Network, skeleton: &Skeleton, state: &State, figure: &Figure) -> Value {
    let value = |(dial, value): (&Dial, &f64)| {
        (dial.name.clone(), json!(rounded(value / dial.unit.of_document())))
    };
    let dials: Map<String, Value> = network.dials().iter().zip(state.dials()).map(value).collect();
    let held: Vec<Value> = network.held(state).map(|held| json_of_held(&held)).collect();
    let world = figure.world(skeleton);
    let joints = skeleton.indices().zip(network.skinning(figure)).map(|(joint, skin)| {
        let j = joint.get();
        let q = world.rotations[j].quat();
        let columns = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| skin.rotation * axis);
        let at = skin.translation_m;
        let row = |k: usize| [columns[0][k], columns[1][k], columns[2][k], at[k]];
        json!({
            "name": skeleton[joint].name,
            "position_m": world.positions_m[j].to_array(),
            "rotation": [q.w, q.x, q.y, q.z],
            "skinning": [row(0), row(1), row(2), [0.0, 0.0, 0.0, 1.0]],
        })
    });
    let joints: Vec<Value> = joints.collect();
    json!({ "dials": dials, "held": held, "joints": joints })
}
