//! `condyle clamp`.

use std::fmt::Write as _;
use std::path::Path;

use comfy_table::Cell;
use condyle::enforce::{BoundRig, ClampOptions, Clamped, JointClamp, Smoothing};
use condyle::formats::Read;
use condyle::rig::Rig;
use condyle::skeleton::Skeleton;
use serde_json::{Map, Value, json};

use super::bound::{add_misfits, bind, note_of_front, print_misfits};
use super::each::{Each, Told};
use super::motions::no_motion;
use super::rig::rig_of;
use super::{Answer, write_out};
use crate::args::Clamp;
use crate::output::{
    Failure, hundredths, json_degrees, new_table, number, print_note, print_warning, printable,
    some_of, working,
};

pub(super) fn run(args: &Clamp) -> Result<Answer, Failure> {
    let rig = rig_of(&args.limits.rig, args.reading.strict())?;
    let mut each = Each::of(&args.files, &args.output, &args.reading, &args.writing);
    each.beside.push(&args.limits.rig);
    each.run(|path, read, output| clamp(args, &rig, path, read, output))
}

fn clamp(
    args: &Clamp,
    rig: &Rig,
    path: &Path,
    mut read: Read,
    output: &Path,
) -> Result<(Answer, Told), Failure> {
    let Some(clip) = &mut read.file.clip else {
        let help = "clamp works on a skeleton with motion";
        return Err(no_motion(path, &read.file, "there is no motion to clamp", help));
    };
    let skeleton = &read.file.skeleton;
    let bound = bind(rig, &args.limits.rig, skeleton, path)?;
    let options = ClampOptions {
        smoothing: args.smooth.then(Smoothing::default),
        exact: args.exact,
        threads: args.limits.threads(),
    };
    let sign = working("clamping");
    let clamped = bound.clamp(clip, &options);
    sign.finish_and_clear();
    if !args.json {
        print_misfits(&bound, skeleton, path);
    }
    if args.smooth {
        note_of_front(clamped.motion_start, path, "clamped by itself");
    }
    print_remarks(&clamped, skeleton, path);
    let told = if args.json {
        Told::Json(json_of(&clamped, &bound, skeleton))
    } else {
        Told::Text(text_of(&clamped, skeleton, path, args.smooth))
    };
    Ok((write_out(&read.file, output, &args.writing)?, told))
}

fn print_remarks(clamped: &Clamped, skeleton: &Skeleton, path: &Path) {
    let who = |which: fn(&JointClamp) -> bool| {
        let joints = clamped.joints.iter().filter(|j| which(j));
        joints.map(|j| skeleton[j.joint].name.as_str()).collect::<Vec<_>>()
    };
    let left_out = who(|j| j.left_out > 0);
    if !left_out.is_empty() {
        print_note(&format!(
            "{}: frames of {} that the estimate of the rig left out stay as they are; --exact brings \
             them inside, too",
            path.display(),
            some_of(&left_out),
        ));
    }
    let resampled = who(|j| j.resampled);
    if !resampled.is_empty() {
        let (who, have) = (some_of(&resampled), verb(&resampled, "has", "have"));
        print_note(&format!("{}: {who} now {have} a key per frame", path.display()));
    }
    let popping = who(|j| j.pops_left > 0);
    if !popping.is_empty() {
        print_warning(&format!(
            "{}: {} still {}: there is no way inside the limit, or no time for it",
            path.display(),
            some_of(&popping),
            verb(&popping, "pops", "pop")
        ));
    }
}

/// What one does, or what several do.
fn verb<'v>(who: &[&str], one: &'v str, several: &'v str) -> &'v str {
    if who.len() == 1 { one } else { several }
}

fn json_of(clamped: &Clamped, bound: &BoundRig, skeleton: &Skeleton) -> Value {
    let of = |j: &JointClamp| {
        json!({
            "changed": j.changed,
            "changed_inside": j.changed_inside,
            "left_out": j.left_out,
            "largest_deg": json_degrees(j.largest),
            "largest_frame": j.largest_frame.get(),
            "resampled": j.resampled,
            "pops": j.pops,
            "pops_left": j.pops_left,
        })
    };
    let joints: Map<String, Value> =
        clamped.joints.iter().map(|j| (skeleton[j.joint].name.clone(), of(j))).collect();
    let mut document = json!({ "changed": clamped.changed(), "frames": clamped.frames, "motion_start": clamped.motion_start, "joints": joints });
    add_misfits(&mut document, bound, skeleton);
    document
}

fn text_of(clamped: &Clamped, skeleton: &Skeleton, path: &Path, smooth: bool) -> String {
    let mut text = String::new();
    let changed: Vec<&JointClamp> = clamped.joints.iter().filter(|j| j.changed > 0).collect();
    let _ = writeln!(
        text,
        "{}: {} frames, {} of {} joints changed",
        path.display(),
        clamped.frames,
        changed.len(),
        clamped.joints.len(),
    );
    if changed.is_empty() {
        return text;
    }
    let mut header = vec!["joint", "changed", "by up to", "at frame"];
    if smooth {
        header.extend(["of them inside", "pops", "left"]);
    }
    let mut table = new_table(&header);
    for joint in changed {
        let mut row = vec![
            Cell::new(printable(&skeleton[joint.joint].name)),
            number(joint.changed),
            number(hundredths(joint.largest)),
            number(joint.largest_frame.get()),
        ];
        if smooth {
            row.extend([number(joint.changed_inside), number(joint.pops), number(joint.pops_left)]);
        }
        table.add_row(row);
    }
    let _ = writeln!(text, "{table}");
    text
}

#[cfg(test)]
mod tests {
    use super::verb;

    #[test]
    fn one_pops_and_two_pop() {
        assert_eq!(verb(&["a"], "pops", "pop"), "pops");
        assert_eq!(verb(&["a", "b"], "pops", "pop"), "pop");
    }
}
