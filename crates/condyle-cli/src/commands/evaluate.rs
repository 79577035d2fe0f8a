//! `condyle evaluate`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::Cell;
use condyle::evaluate::{
    EvaluateOptions, Evaluated, Evaluation, Known, Way, WayErrors, evaluate, html,
};
use condyle::formats::{ReadOptions, Warning, read_files, size_notice};
use condyle::motion::Clip;
use condyle::rig::Rig;
use condyle::skeleton::{JointIndex, Skeleton};
use serde_json::{Map, Value, json};

use super::bound::{bind, note_of_front, print_misfits};
use super::figure_axes::told_names;
use super::motions::no_motion;
use super::outputs::Results;
use super::rig::rig_of;
use super::{Answer, print_text};
use crate::args::Evaluate;
use crate::output::{
    Failure, counted, decimals, new_table, number, print_warnings, printable, progress, some_of,
};

/// A clip with its skeleton, and where it is from.
struct Moving {
    path: PathBuf,
    skeleton: Skeleton,
    clip: Clip,
}

pub(super) fn run(args: &Evaluate) -> Result<Answer, Failure> {
    let rig = rig_of(&args.limits.rig, args.reading.strict())?;
    let options = args.reading.options();
    let clips = moving(&args.files, &options)?;
    let fit = moving(&args.fit, &options)?;
    let known = known(&rig, &args.limits.rig, &fit)?;
    for Moving { path, skeleton, .. } in &clips {
        let has = |name: &str| fit.iter().any(|other| other.skeleton.find(name).is_some());
        if !fit.is_empty() && !skeleton.joints().iter().any(|joint| has(&joint.name)) {
            let what = "none of its joints is in the clips of --fit";
            let help = "--fit takes the clips that the rig was estimated from, with the same names";
            return Err(Failure::file(path, what, help));
        }
    }
    let bar = progress(clips.len(), "evaluating");
    let mut found: Vec<Evaluation> = Vec::new();
    for Moving { path, skeleton, clip } in &clips {
        let bound = bind(&rig, &args.limits.rig, skeleton, path)?;
        bar.suspend(|| {
            print_misfits(&bound, skeleton, path);
            note_of_front(clip.motion_start(), path, "left out");
        });
        let effectors = effectors(&args.effectors, skeleton, path)?;
        let (names, _) = bar.suspend(|| told_names(path, skeleton, &[clip], &args.names, false))?;
        let options = EvaluateOptions {
            effectors,
            names,
            frames: args.samples as usize,
            threads: args.limits.threads(),
            ..EvaluateOptions::default()
        };
        let evaluation = evaluate(skeleton, clip, &rig, &known, &options);
        let wrong = |e: condyle::rig::RigError| Failure::Rig(vec![e.with_file(&args.limits.rig)]);
        let evaluation = evaluation.map_err(wrong)?;
        if evaluation.compared.is_empty() {
            let what = "the effectors depend on no joint that could be compared";
            let help = "name joints at the ends of arms and legs: --effectors LeftHand,RightFoot";
            return Err(Failure::file(path, what, help));
        }
        found.push(evaluation);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(path) = &args.report {
        let names: Vec<String> = clips.iter().map(|c| c.path.display().to_string()).collect();
        let of = |i: usize| Evaluated {
            name: &names[i],
            skeleton: &clips[i].skeleton,
            evaluation: &found[i],
        };
        let page = html(&(0..clips.len()).map(of).collect::<Vec<_>>());
        Results::of(path, page.as_bytes()).write()?;
    }
    let text = if args.json { json_of(&clips, &found) } else { text_of(args, &clips, &found) };
    print_text(&text)
}

/// The motion of files; every one must have some.
fn moving(files: &[PathBuf], options: &ReadOptions) -> Result<Vec<Moving>, Failure> {
    let (mut clips, mut errors) = (Vec::new(), Vec::new());
    for (path, read) in read_files(files, options) {
        match read {
            Ok(read) => {
                print_warnings(&read.warnings);
                // Positions and misses are weighed in metres.
                let size = size_notice(&read.file.skeleton, read.file.units);
                let size = size.map(|size| Warning { path: Some(path.to_owned()), ..size });
                print_warnings(&Vec::from_iter(size));
                let mut file = read.file;
                let clip = file.clip.take().filter(|clip| clip.frame_count() > 0);
                let clip = clip.ok_or_else(|| {
                    let what = "there is no motion to find again";
                    no_motion(path, &file, what, "evaluate works on a skeleton with motion")
                })?;
                let skeleton = file.skeleton;
                clips.push(Moving { path: path.to_owned(), skeleton, clip });
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(clips) } else { Err(Failure::Read(errors)) }
}

fn known(rig: &Rig, rig_path: &Path, fit: &[Moving]) -> Result<Known, Failure> {
    if fit.is_empty() {
        return Known::from_rig(rig).map_err(|e| Failure::Rig(vec![e.with_file(rig_path)]));
    }
    let clips: Vec<(&Skeleton, &Clip)> = fit.iter().map(|c| (&c.skeleton, &c.clip)).collect();
    let help = "--fit takes the clips that the rig was estimated from";
    Known::from_clips(&clips).map_err(|error| Failure::usage(error.to_string(), help))
}

fn effectors(
    names: &[String],
    skeleton: &Skeleton,
    path: &Path,
) -> Result<Option<Vec<JointIndex>>, Failure> {
    if names.is_empty() {
        return Ok(None);
    }
    let find = |name: &String| {
        skeleton.find(name).ok_or_else(|| {
            let joints: Vec<&str> = skeleton.joints().iter().map(|j| j.name.as_str()).collect();
            let help = format!("it has {}", some_of(&joints));
            Failure::file(path, format!("there is no joint {}", printable(name)), &help)
        })
    };
    names.iter().map(find).collect::<Result<_, _>>().map(Some)
}

fn json_of(clips: &[Moving], found: &[Evaluation]) -> String {
    let frames: usize = found.iter().map(|e| e.poses.len()).sum();
    let mut document = json_of_ways(&Evaluation::together(found));
    document.insert("frames".to_owned(), json!(frames));
    let captured: usize = found.iter().map(|e| e.captured_outside_published).sum();
    document.insert("captured_outside_published".to_owned(), json!(captured));
    let files: Vec<Value> = clips
        .iter()
        .zip(found)
        .map(|(clip, evaluation)| {
            let mut file = json_of_ways(&evaluation.ways);
            let names = |joints: &[JointIndex]| -> Vec<String> {
                joints.iter().map(|j| clip.skeleton[*j].name.clone()).collect()
            };
            file.insert("path".to_owned(), json!(clip.path.display().to_string()));
            file.insert("frames".to_owned(), json!(evaluation.poses.len()));
            file.insert("motion_start".to_owned(), json!(clip.clip.motion_start()));
            file.insert("effectors".to_owned(), json!(names(&evaluation.effectors)));
            file.insert("compared".to_owned(), json!(names(&evaluation.compared)));
            Value::Object(file)
        })
        .collect();
    document.insert("files".to_owned(), json!(files));
    format!("{:#}\n", Value::Object(document))
}

fn json_of_ways(ways: &[WayErrors]) -> Map<String, Value> {
    let of = |w: &WayErrors| {
        json!({
            "position_mean_m": w.position_m.mean(),
            "position_p95_m": w.position_m.p95(),
            "rotation_mean_deg": w.rotation_deg.mean(),
            "rotation_p95_deg": w.rotation_deg.p95(),
            "missed_mean_m": w.missed_m.mean(),
            "missed_p95_m": w.missed_m.p95(),
            "outside_published": w.outside_published,
        })
    };
    ways.iter().map(|w| (w.way.as_str().to_owned(), of(w))).collect()
}

fn text_of(args: &Evaluate, clips: &[Moving], found: &[Evaluation]) -> String {
    let mut text = String::new();
    let frames: usize = found.iter().map(|e| e.poses.len()).sum();
    if let (Some(clip), Some(first)) = (clips.first(), found.first()) {
        let names: Vec<&str> =
            first.effectors.iter().map(|j| clip.skeleton[*j].name.as_str()).collect();
        let _ = writeln!(
            text,
            "{} found again from the positions of {}; {} compared",
            counted(frames, "pose", "poses"),
            names.iter().map(|n| printable(n)).collect::<Vec<_>>().join(", "),
            counted(first.compared.len(), "joint", "joints"),
        );
    }
    let ways = Evaluation::together(found);
    let head = ["way", "position mm", "95 %", "rotation °", "95 %", "missed mm", "outside norms"];
    let mut table = new_table(&head);
    for way in &ways {
        table.add_row(vec![
            Cell::new(way.way.title()),
            number(decimals(1e3 * way.position_m.mean(), 1)),
            number(decimals(1e3 * way.position_m.p95(), 1)),
            number(decimals(way.rotation_deg.mean(), 2)),
            number(decimals(way.rotation_deg.p95(), 2)),
            number(decimals(1e3 * way.missed_m.mean(), 1)),
            number(way.outside_published),
        ]);
    }
    let _ = writeln!(text, "{table}");
    let captured: usize = found.iter().map(|e| e.captured_outside_published).sum();
    let published: usize = found.iter().map(|e| e.published * e.poses.len()).sum();
    if published == 0 {
        text.push_str("outside norms: not known, as the names of the joints are in no table\n");
    } else {
        let _ = writeln!(
            text,
            "outside norms: joints outside of published ranges, of {published} in all poses; of the \
             capture {captured}"
        );
    }
    if args.fit.is_empty() {
        text.push_str(
            "boxes, Euler limits and the mean pose are those of what the rig allows; --fit takes the \
             clips it is from\n",
        );
    }
    let error =
        |way: Way| ways.iter().find(|w| w.way == way).map_or(0.0, |w| w.rotation_deg.mean());
    let (with, without) = (error(Way::WithLimits), error(Way::WithoutLimits));
    if without > 0.0 {
        let change = 100.0 * (with / without - 1.0);
        let verb = if change <= 0.0 { "less" } else { "more" };
        let _ = writeln!(
            text,
            "with limits the error of rotations is {:.0} % {verb} than without",
            change.abs()
        );
    }
    if let Some(path) = &args.report {
        let _ = writeln!(text, "The pictures are in {}.", path.display());
    }
    text
}
