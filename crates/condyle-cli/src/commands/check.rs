//! `condyle check`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use comfy_table::Cell;
use condyle::enforce::{BoundRig, Check as Found, JointCheck};
use condyle::formats::{Read, read_files};
use condyle::skeleton::Skeleton;
use serde_json::{Map, Value, json};

use super::Answer;
use super::bound::{add_misfits, bind, print_misfits};
use super::motions::no_motion;
use super::rig::rig_of;
use crate::args::Check;
use crate::output::{
    Failure, hundredths, json_degrees, json_of_error, message, new_table, number, print_read_error,
    print_warnings, printable, progress, visible, warnings_printed,
};
use crate::stdout::stdout;

pub(super) fn run(args: &Check) -> Result<Answer, Failure> {
    let mut rig = rig_of(&args.limits.rig, args.reading.strict())?;
    if args.all {
        rig.joints.iter_mut().for_each(|(_, joint)| joint.left_out.clear());
    }
    let options = args.reading.options();
    let bar = progress(args.files.len(), "checking");
    let mut out = stdout()?;
    let (mut files, mut total) = (Vec::new(), Total::default());
    let mut errors: Vec<Value> = Vec::new();
    for (path, read) in read_files(&args.files, &options) {
        bar.inc(1);
        let read = match read {
            Ok(read) => read,
            Err(error) => {
                bar.suspend(|| print_read_error(&error));
                errors.push(json_of_error(&error));
                continue;
            }
        };
        let Read { file, warnings, .. } = read;
        bar.suspend(|| print_warnings(&warnings));
        let bound = match &file.clip {
            Some(clip) => bind(&rig, &args.limits.rig, &file.skeleton, path).map(|b| (clip, b)),
            None => {
                let what = "there is no motion to check";
                Err(no_motion(path, &file, what, "check works on a skeleton with motion"))
            }
        };
        let (clip, bound) = match bound {
            Ok(both) => both,
            Err(failure) => {
                let mut told = failure.json();
                for error in told.iter_mut().filter(|error| error["path"].is_null()) {
                    error["path"] = json!(path.display().to_string());
                }
                // What is wrong with a limit is the same for every clip.
                if !told.iter().all(|error| errors.contains(error)) {
                    bar.suspend(|| failure.print());
                    errors.extend(told);
                }
                continue;
            }
        };
        let found = bound.check(clip, args.limits.threads());
        total.add(&found, &file.skeleton, path);
        if args.json {
            files.push(json_of(path, &found, &bound, &file.skeleton));
        } else {
            bar.suspend(|| {
                print_misfits(&bound, &file.skeleton, path);
                out.write_all(message(&text_of(path, &found, &file.skeleton)).as_bytes())
            })?;
        }
    }
    bar.finish_and_clear();
    let ok = total.outside == 0;
    if args.json {
        let ok = ok && errors.is_empty();
        let mut document = json!({
            "ok": ok, "frames": total.frames, "joints": total.joints, "files": files,
            "warnings": warnings_printed(),
        });
        if !errors.is_empty() {
            document["errors"] = json!(errors);
        }
        writeln!(out, "{}", visible(&format!("{document:#}")))?;
    }
    out.flush()?;
    if !errors.is_empty() {
        return Err(Failure::Told(Vec::new()));
    }
    Ok(if ok { Answer::Yes } else { Answer::No })
}

/// All files together, joints by name.
#[derive(Default)]
struct Total {
    frames: usize,
    outside: usize,
    joints: Map<String, Value>,
}

impl Total {
    fn add(&mut self, found: &Found, skeleton: &Skeleton, path: &Path) {
        self.frames += found.frames;
        for joint in &found.joints {
            self.outside += joint.outside;
            let mut new = json_of_joint(joint);
            if !new["worst_deg"].is_null() {
                new["worst_path"] = json!(path.display().to_string());
            }
            let Some(old) = self.joints.get_mut(&skeleton[joint.joint].name) else {
                self.joints.insert(skeleton[joint.joint].name.clone(), new);
                continue;
            };
            for count in ["outside", "within_noise", "left_out"] {
                old[count] =
                    json!(old[count].as_u64().unwrap_or(0) + new[count].as_u64().unwrap_or(0));
            }
            if new["worst_deg"].as_f64() > old["worst_deg"].as_f64() {
                for what in ["worst_deg", "worst_frame", "worst_path"] {
                    old[what] = new[what].take();
                }
            }
        }
    }
}

fn json_of(path: &Path, found: &Found, bound: &BoundRig, skeleton: &Skeleton) -> Value {
    let joints: Map<String, Value> = found
        .joints
        .iter()
        .map(|joint| (skeleton[joint.joint].name.clone(), json_of_joint(joint)))
        .collect();
    let mut document = json!({
        "path": path.display().to_string(),
        "ok": found.ok(),
        "frames": found.frames,
        "joints": joints,
    });
    add_misfits(&mut document, bound, skeleton);
    document
}

fn json_of_joint(joint: &JointCheck) -> Value {
    json!({
        "outside": joint.outside,
        "worst_deg": joint.worst.map(|worst| json_degrees(worst.excess)),
        "worst_frame": joint.worst.map(|worst| worst.frame.get()),
        "within_noise": joint.within_noise,
        "left_out": joint.left_out,
        "noise_deg": joint.noise.map(json_degrees),
        "tolerance_deg": joint.tolerance.map(json_degrees),
        "allowance_deg": json_degrees(joint.allowance),
    })
}

fn text_of(path: &Path, found: &Found, skeleton: &Skeleton) -> String {
    let mut text = String::new();
    let leaving = found.joints.iter().filter(|j| j.outside > 0).count();
    let verb = if leaving == 1 { "leaves its limit" } else { "leave their limits" };
    let _ = writeln!(
        text,
        "{}: {} frames, {leaving} of {} joints {verb}",
        path.display(),
        found.frames,
        found.joints.len(),
    );
    let told: Vec<&JointCheck> =
        found.joints.iter().filter(|j| j.outside + j.left_out > 0).collect();
    let quiet = found.joints.len() - told.len();
    let noisy = found.joints.iter().filter(|j| j.within_noise > 0 && j.outside + j.left_out == 0);
    let noisy = match noisy.count() {
        0 => String::new(),
        n => format!(", {n} of them here and there by no more than the noise outside"),
    };
    if told.is_empty() {
        let _ = writeln!(text, "all are inside{noisy}");
        return text;
    }
    let known = told.iter().any(|j| j.left_out > 0);
    let mut head =
        vec!["joint", "outside", "worst", "at frame", "within noise", "noise", "tolerance"];
    head.extend(known.then_some("left out"));
    let mut table = new_table(&head);
    for joint in &told {
        let mut row = vec![
            Cell::new(printable(&skeleton[joint.joint].name)),
            number(joint.outside),
            number(joint.worst.map(|worst| hundredths(worst.excess)).unwrap_or_default()),
            number(joint.worst.map(|worst| worst.frame.get().to_string()).unwrap_or_default()),
            number(joint.within_noise),
            number(joint.noise.map(hundredths).unwrap_or_default()),
            number(joint.tolerance.map(hundredths).unwrap_or_default()),
        ];
        row.extend(known.then(|| number(joint.left_out)));
        table.add_row(row);
    }
    let _ = writeln!(text, "{table}");
    let _ = writeln!(
        text,
        "outside: by more than max(0.01°, 3 × noise, tolerance); what is outside by less is within noise"
    );
    if known {
        let _ = writeln!(
            text,
            "left out: outside, but the very frames of this take that the estimate of the rig left out,"
        );
        let _ = writeln!(
            text,
            "as glitches or as a pose in front of the motion, and not counted; --all counts them"
        );
    }
    if quiet > 0 {
        let _ = writeln!(text, "{quiet} more are inside{noisy}");
    }
    text
}
