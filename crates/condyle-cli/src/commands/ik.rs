//! `condyle ik`.

use std::fmt::Write as _;
use std::io::Read as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use comfy_table::{Cell, Table};
use condyle::formats::{Format, ReadOptions, Warning, read_bytes, size_notice};
use condyle::ik::{ClipGoal, Figure, FollowOptions, Followed, FollowedGoal, Goals, Miss};
use condyle::motion::{Clip, FrameIndex};
use condyle::rig::MAX_BYTES;
use condyle::skeleton::Skeleton;
use serde_json::{Value, json};

use super::bound::{add_misfits, bind, print_misfits};
use super::matching::no_joint;
use super::motions::no_motion;
use super::rig::rig_of;
use super::{Answer, motion_format, print_report, read_one, write_as};
use crate::args::{Ik, RootName};
use crate::output::{
    Failure, complain, counted, decimals, hundredths, json_degrees, new_table, number,
    print_rig_warnings, print_warnings, printable, progress,
};

pub(super) fn run(args: &Ik) -> Result<Answer, Failure> {
    let rig = match &args.solving.rig {
        Some(path) => Some((path, rig_of(path, args.reading.strict())?)),
        None => None,
    };
    let mut read = read_one(&args.files, &args.reading.options())?;
    // The motion is the last: an ASF comes before it.
    let path = args.files.last().map_or(Path::new(""), |p| p.as_path());
    let skeleton = &read.file.skeleton;
    // Goals are in metres: if the figure has no person's size, they may mean another one.
    let size = size_notice(skeleton, read.file.units);
    let Some(clip) = &mut read.file.clip else {
        let what = "there is no motion to change";
        return Err(no_motion(path, &read.file, what, "ik works on a skeleton with motion"));
    };
    let bound = match &rig {
        Some((rig_path, rig)) => Some(bind(rig, rig_path, skeleton, path)?),
        None => None,
    };
    let bound = bound.filter(|_| !args.solving.no_limits);
    let (goals, mut notices) = goals_of(args, skeleton, clip)?;
    let frames = frames_of(args, clip)?;
    let figure = match &bound {
        Some(bound) => Figure::new(skeleton, bound),
        None => Figure::without_limits(skeleton),
    };
    let options = FollowOptions { frames, ..args.solving.options() };
    let count = options.frames.as_ref().map_or(clip.frame_count(), |f| f.clone().count());
    let bar = progress(count, "solving");
    let done = |n: usize| bar.set_position(n as u64);
    let followed = goals.follow(figure, skeleton, clip, &options, done);
    bar.finish_and_clear();
    notices.extend(notices_of(&followed.goals, &goals, skeleton));
    let report = if args.json {
        let mut document = json_of(&followed, &goals, skeleton);
        document["warnings"] = json!([]);
        if let Some(bound) = &bound {
            add_misfits(&mut document, bound, skeleton);
        }
        if let (Some(size), Some(warnings)) = (size, document["warnings"].as_array_mut()) {
            warnings.insert(0, json!(size.to_string()));
        }
        if let Some(warnings) = document["warnings"].as_array_mut() {
            warnings.extend(notices.drain(..).map(Value::from));
        }
        format!("{document:#}\n")
    } else {
        let size = size.map(|size| Warning { path: Some(path.to_owned()), ..size });
        print_warnings(&Vec::from_iter(size));
        if let Some(bound) = &bound {
            print_misfits(bound, skeleton, path);
        }
        for notice in &notices {
            complain(&format!("warning: {notice}"));
        }
        text_of(&followed, &goals, skeleton, path)
    };
    let format = motion_format(&read.file, &args.output, &args.writing)?;
    write_as(&read.file, &args.output, &args.writing, format)?;
    print_report(&args.output, &report)?;
    Ok(if followed.ok() { Answer::Yes } else { Answer::No })
}

/// The frames that were asked for.
fn frames_of(args: &Ik, clip: &Clip) -> Result<Option<RangeInclusive<usize>>, Failure> {
    let Some(span) = args.solving.frames else { return Ok(None) };
    let end = clip.frame_count().saturating_sub(1);
    let last = span.last.unwrap_or(end);
    if clip.frame_count() == 0 || span.first > end || last > end {
        let what = format!("the clip has {} frames", clip.frame_count());
        return Err(Failure::usage(
            what,
            "--frames counts from 0, and B is the last that is in it",
        ));
    }
    Ok(Some(span.first..=last))
}

/// The goals that the arguments ask for, and what to know about them.
fn goals_of(args: &Ik, skeleton: &Skeleton, clip: &Clip) -> Result<(Goals, Vec<String>), Failure> {
    let (mut goals, notice) = match args.goals.as_slice() {
        [one] if is_document(one) => {
            if !args.joints.is_empty() {
                let what = format!("--joints is for a motion, and {} is none", one.display());
                return Err(Failure::usage(what, "the document says which joints"));
            }
            (read_document(one, skeleton, clip, args.reading.strict())?, None)
        }
        files if files.iter().any(|file| is_document(file)) => {
            let what = "--goals takes one document, or one motion";
            return Err(Failure::usage(what, "put all goals into one document"));
        }
        files => read_motion(args, files, skeleton, clip)?,
    };
    for name in &args.lock {
        let joint = skeleton.find(name);
        let joint = joint.ok_or_else(|| no_joint(skeleton, "--lock: the clip has", name))?;
        goals.lock.push(joint);
    }
    if let Some(root) = args.root {
        goals.root = RootName::motion(root);
    }
    Ok((goals, Vec::from_iter(notice)))
}

/// Whether a file is no motion: by its name, or else by what it begins with.
fn is_document(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str());
    extension.is_some_and(|e| e.eq_ignore_ascii_case("json"))
        || Format::of_path(path).is_none()
            && std::fs::File::open(path).is_ok_and(|file| begins_with_brace(file).unwrap_or(false))
}

/// Whether the first that is no space, after the mark of a byte order, opens an object.
fn begins_with_brace(file: std::fs::File) -> std::io::Result<bool> {
    // A megabyte of blanks is no document that anyone wrote; there are devices that go on for ever.
    let mut bytes = std::io::BufReader::new(file).take(1 << 20).bytes();
    while let Some(byte) = bytes.next().transpose()? {
        if !byte.is_ascii_whitespace() && !b"\xEF\xBB\xBF".contains(&byte) {
            return Ok(byte == b'{');
        }
    }
    Ok(false)
}

pub(super) fn read_document(
    path: &Path,
    skeleton: &Skeleton,
    clip: &Clip,
    strict: bool,
) -> Result<Goals, Failure> {
    let bytes = read_bytes(path, MAX_BYTES as u64).map_err(|error| {
        let help = "name a goals document (GOALS.json) or a motion file";
        Failure::file(path, format!("cannot be read: {error}"), help)
    })?;
    let mut read = Goals::read(&bytes, skeleton, clip)
        .map_err(|error| Failure::Goals(error.with_file(path)))?;
    for warning in &mut read.warnings {
        warning.file = Some(path.to_owned());
    }
    if let Some(repair) = read.warnings.iter().find(|w| strict && w.is_repair()) {
        return Err(Failure::Repair(Box::new(repair.clone())));
    }
    print_rig_warnings(&read.warnings);
    Ok(read.goals)
}

fn read_motion(
    args: &Ik,
    files: &[PathBuf],
    skeleton: &Skeleton,
    clip: &Clip,
) -> Result<(Goals, Option<String>), Failure> {
    let is = |path: &Path, format| Format::of_path(path) == Some(format);
    // A format that is given is the clip's.
    let options = ReadOptions { format: None, ..args.reading.options() };
    let own = args
        .files
        .first()
        .filter(|first| is(first, Format::Asf) && files.len() == 1 && is(&files[0], Format::Amc));
    let files: Vec<PathBuf> = own.into_iter().chain(files).cloned().collect();
    let path = files.last().map_or(Path::new(""), |p| p.as_path());
    let other = read_one(&files, &options)?.file;
    let size = size_notice(&other.skeleton, other.units);
    print_warnings(&Vec::from_iter(size.map(|s| Warning { path: Some(path.to_owned()), ..s })));
    let joints: Vec<&str> = args.joints.iter().map(String::as_str).collect();
    let goals = match (&other.markers, &other.clip) {
        (Some(markers), _) => {
            let joints = (!joints.is_empty()).then_some(joints.as_slice());
            Goals::from_markers(skeleton, clip, markers, joints)
        }
        (None, Some(_)) if joints.is_empty() => {
            let what = format!("{} does not say which joints are to follow it", path.display());
            return Err(Failure::usage(what, "name them: --joints LeftHand,RightHand"));
        }
        (None, Some(motion)) => {
            Goals::from_clip(skeleton, clip, (&other.skeleton, motion), &joints)
        }
        (None, None) => {
            let what = format!("{}: there is no motion to take goals from", path.display());
            return Err(Failure::usage(what, "give a motion, markers, or a goals document"));
        }
    };
    let goals = goals.map_err(|error| Failure::Goals(error.with_file(path)))?;
    let rate = other.markers.as_ref().map(|m| m.rate).or(other.clip.as_ref().map(Clip::rate));
    let notice = rate.and_then(|rate| Goals::rate_notice(clip, rate));
    Ok((goals, notice.map(|notice| format!("{}: {notice}", path.display()))))
}

/// Goals of no frame, and goals that may be in another unit.
pub(super) fn notices_of(
    followed: &[FollowedGoal],
    goals: &Goals,
    skeleton: &Skeleton,
) -> Vec<String> {
    // So many times as far as the figure is long.
    const FAR: f64 = 10.0;
    let size_m = skeleton.longest_path_m();
    let of = |(goal, found): (&ClipGoal, &FollowedGoal)| {
        let (name, kind) = (&skeleton[goal.joint].name, goal.kind.as_str());
        match found.worst {
            _ if found.frames == 0 => Some(format!("{name:?}: {kind} has no goal in these frames")),
            Miss::Distance(m) if size_m > 0.0 && m > FAR * size_m => Some(format!(
                "{name:?}: {kind} is {} times as far away as the figure is long; goals are in metres",
                decimals(m / size_m, 0)
            )),
            _ => None,
        }
    };
    goals.goals.iter().zip(followed).filter_map(of).collect()
}

/// How near each goal is.
pub(super) fn json_of_goals(
    followed: &[FollowedGoal],
    goals: &Goals,
    skeleton: &Skeleton,
) -> Vec<Value> {
    let of = |(goal, found): (&ClipGoal, &FollowedGoal)| {
        let [worst, mean] = [found.worst, found.mean].map(|miss| match miss {
            Miss::Distance(metres) => 1e3 * metres,
            Miss::Angle(angle) => json_degrees(angle),
        });
        json!({
            "joint": skeleton[goal.joint].name,
            "kind": goal.kind.as_str(),
            "frames": found.frames,
            "reached": found.reached,
            "worst": worst,
            "worst_frame": found.worst_frame.map(FrameIndex::get),
            "mean": mean,
            "unit": if goal.kind.is_distance() { "mm" } else { "deg" },
        })
    };
    goals.goals.iter().zip(followed).map(of).collect()
}

fn json_of(followed: &Followed, goals: &Goals, skeleton: &Skeleton) -> Value {
    let changed: Vec<&str> =
        followed.changed.iter().map(|joint| skeleton[*joint].name.as_str()).collect();
    json!({
        "ok": followed.ok(),
        "frames": followed.frames,
        "restarts": followed.restarts,
        "goals": json_of_goals(&followed.goals, goals, skeleton),
        "changed_joints": changed,
    })
}

fn text_of(followed: &Followed, goals: &Goals, skeleton: &Skeleton, path: &Path) -> String {
    let mut text = String::new();
    let reached = followed.goals.iter().filter(|goal| goal.reached == goal.frames).count();
    let _ = writeln!(
        text,
        "{}: {}, {reached} of {} reached, {} of {} changed",
        path.display(),
        counted(followed.frames, "frame", "frames"),
        counted(followed.goals.len(), "goal", "goals"),
        followed.changed.len(),
        counted(skeleton.len(), "joint", "joints"),
    );
    let _ = writeln!(text, "{}", table_of_goals(&followed.goals, goals, skeleton));
    text
}

/// How near each goal is, to read.
pub(super) fn table_of_goals(
    followed: &[FollowedGoal],
    goals: &Goals,
    skeleton: &Skeleton,
) -> Table {
    let mut table =
        new_table(&["joint", "goal", "frames", "reached", "mean miss", "worst", "at frame"]);
    let shown = |miss: Miss| match miss {
        Miss::Distance(metres) => decimals(1e3 * metres, 2) + " mm",
        Miss::Angle(angle) => hundredths(angle),
    };
    for (goal, found) in goals.goals.iter().zip(followed) {
        let mut row = vec![
            Cell::new(printable(&skeleton[goal.joint].name)),
            Cell::new(goal.kind.as_str()),
            number(found.frames),
            number(found.reached),
        ];
        match found.worst_frame {
            Some(frame) => row.extend([
                number(shown(found.mean)),
                number(shown(found.worst)),
                number(frame.get()),
            ]),
            None => row.extend([number("-"), number("-"), number("-")]),
        }
        table.add_row(row);
    }
    table
}
