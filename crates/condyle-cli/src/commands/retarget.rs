//! `condyle retarget`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::Cell;
use condyle::anatomy::{BodyJoint, BodySide};
use condyle::edit::{KeptLimb, MotionFrom, Retarget, RetargetOptions, Retargeted, Scale};
use condyle::enforce::{ClampOptions, Smoothing};
use condyle::formats::{Format, MotionFile};
use condyle::motion::{Clip, ClipError};
use condyle::skeleton::{JointIndex, Skeleton};
use serde_json::{Map, Value, json};

use super::each::{Each, Told};
use super::figure_axes::{UP, maps_of, told_axes};
use super::motions::{Motion, limits_of, motion_of, print_fitted, warn_of_size};
use super::{Answer, motion_format, notice_size, read_one, write_as};
use crate::args::Retarget as Args;
use crate::output::{
    Failure, counted, decimals, new_table, number, print_note, print_warning, printable, some_of,
    working,
};

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let target = read_one(std::slice::from_ref(&args.onto), &args.reading.options())?.file;
    if target.skeleton.is_empty() {
        let what = "there is no skeleton in it";
        return Err(Failure::file(&args.onto, what, "give a BVH or an ASF"));
    }
    let mut each = Each::of(&args.files, &args.output, &args.reading, &args.writing);
    each.beside.extend([&args.onto].into_iter().chain(&args.limits.rig).map(PathBuf::as_path));
    each.format = target.format.map(|of| if of == Format::Asf { Format::Amc } else { of });
    each.run(|path, read, output| retarget(args, &motion_of(path, read)?, target.clone(), output))
}

fn retarget(
    args: &Args,
    motion: &Motion,
    mut target: MotionFile,
    output: &Path,
) -> Result<(Answer, Told), Failure> {
    if target.format == Some(Format::Asf) {
        target.format = Some(Format::Amc);
    }
    let skeleton = target.skeleton.clone();
    let bound = limits_of(&args.limits, args.reading.strict(), &skeleton, &args.onto)?;
    let source = &motion.file.skeleton;
    let failed = |error: condyle::edit::RetargetError| {
        let what = format!("{} to {}: {error}", motion.path.display(), args.onto.display());
        Failure::usage(
            what,
            "condyle anatomy shows what is known of a skeleton; --map takes a table of its names",
        )
    };
    let maps = maps_of(&args.standing.names, &[source, &skeleton])?;
    let own = target.clip.as_ref().filter(|clip| clip.frame_count() > 0);
    let axes = [
        told_axes(&motion.path, source, Some(&motion.clip), (args.standing.up, UP), &maps),
        told_axes(&args.onto, &skeleton, own, (args.onto_up, "--onto-up"), &maps),
    ];
    let retarget = Retarget::by([source, &skeleton], axes).map_err(failed)?;
    let options = RetargetOptions {
        scale: args.scale,
        keep_feet: args.keep_feet,
        keep_hands: args.keep_hands,
        rig: bound.as_ref(),
        clamp: ClampOptions { smoothing: Some(Smoothing::default()), ..ClampOptions::default() },
    };
    let format = motion_format(&target, output, &args.writing)?;
    // Places that are not scaled by the figures' legs, and how far hands and feet miss, are in metres.
    let kept = args.keep_feet || args.keep_hands;
    let own = [(motion.path.as_path(), &motion.file)].into_iter();
    let own = own.filter(|_| args.scale != Scale::Legs);
    let other = [(args.onto.as_path(), &target)].into_iter();
    let other = other.filter(|_| kept || args.scale != Scale::Legs);
    let size = warn_of_size(own.chain(other));
    let sign = working("retargeting");
    let mut made = retarget.apply(&motion.clip, &options).map_err(failed)?;
    sign.finish_and_clear();
    if let Some(own) = target.clip.take() {
        // With the channels that the target's file has.
        let again = like(&skeleton, &own, &made.clip);
        made.clip =
            again.map_err(|e| Failure::file(&args.onto, e.to_string(), "use another file"))?;
    }
    let warnings = warnings_of(&made, &skeleton);
    let told = if args.json {
        let mut document = json_of(&made, source, &skeleton);
        document["warnings"] = size.iter().chain(&warnings).map(String::as_str).collect();
        Told::Json(document)
    } else {
        Told::Text(text_of(&made, source, &skeleton))
    };
    target.clip = Some(made.clip.clone());
    if size.is_none() {
        notice_size(&target, format);
    }
    let answer = write_as(&target, output, &args.writing, format)?;
    print_notes(&made, source, &skeleton);
    warnings.iter().for_each(|warning| print_warning(warning));
    let whole = made.lost_limbs.is_empty() && made.still_limbs.is_empty();
    Ok((if whole { answer } else { Answer::No }, told))
}

/// What else there is to say about a motion that was written.
fn print_notes(made: &Retargeted, source: &Skeleton, target: &Skeleton) {
    let still = |j: &JointIndex| matches!(made.from[j.get()], MotionFrom::Rest);
    let rest = target.indices().filter(still).map(|j| target[j].name.as_str());
    let rest: Vec<&str> = rest.collect();
    if !rest.is_empty() {
        print_note(&format!("at rest, as the source has no such joint: {}", some_of(&rest)));
    }
    for (goes_on, what) in
        [(true, "what is below them makes up for it"), (false, "their motion is lost")]
    {
        let only = made.only_source.iter().filter(|(_, carried)| *carried == goes_on);
        let names: Vec<&str> = only.map(|(j, _)| source[*j].name.as_str()).collect();
        if !names.is_empty() {
            print_note(&format!("only the source has {}: {what}", some_of(&names)));
        }
    }
    print_fitted(made.fitted, target);
}

/// What is not as it was asked for.
fn warnings_of(made: &Retargeted, target: &Skeleton) -> Vec<String> {
    let not_kept = made.not_kept.iter().map(|(what, side)| {
        let limb = format!("the {} {}", side.as_str(), what.as_str());
        format!("{limb} is not kept: one of the skeletons has not got all of it")
    });
    let missed = made.limbs.iter().filter(|limb| limb.reached < limb.frames).map(|limb| {
        format!(
            "{:?} is not where it should be in {} of {}, by up to {} mm (frame {})",
            target[limb.end].name,
            limb.frames - limb.reached,
            counted(limb.frames, "frame", "frames"),
            decimals(1e3 * limb.worst_m, 1),
            limb.worst_frame.get()
        )
    });
    const HELP: &str = "condyle anatomy shows what is known of both skeletons, and --map takes a table of their \
                        names";
    let limbs = |limbs: &[(BodyJoint, BodySide)], what: &dyn Fn(&str) -> String| {
        let names = limbs.iter().map(|(what, side)| format!("{} {}", side.as_str(), what.as_str()));
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| format!("{}: {HELP}", what(&names.join(", "))))
    };
    let lost = limbs(&made.lost_limbs, &|names| {
        format!("no joint of the target gets the motion of the source's {names}")
    });
    let still = limbs(&made.still_limbs, &|names| {
        format!("the target's {names} stay at rest, as no joint of the source is known to be that")
    });
    lost.into_iter().chain(still).chain(not_kept).chain(missed).collect()
}

/// A motion with the channels of another one of the same skeleton.
fn like(skeleton: &Skeleton, own: &Clip, motion: &Clip) -> Result<Clip, ClipError> {
    if own.frame_count() == 0 {
        return Ok(motion.clone());
    }
    let frames = std::iter::repeat_n(0.0, motion.frame_count());
    let mut made = own.at_frames(frames, motion.rate(), None)?;
    for joint in skeleton.indices() {
        made.set_track(joint, motion.track(joint).clone())?;
    }
    Ok(made)
}

/// What a joint of the target moves by, in words.
fn from(from: &MotionFrom, source: &Skeleton) -> String {
    let name = |j: &JointIndex| printable(&source[*j].name);
    match from {
        MotionFrom::Joint(j) | MotionFrom::Name(j) => name(j),
        MotionFrom::Between { from, to, share } => {
            format!("{} to {}, {:.0} %", name(from), name(to), 100.0 * share)
        }
        MotionFrom::Rest => "rest".to_owned(),
    }
}

fn json_of(made: &Retargeted, source: &Skeleton, target: &Skeleton) -> Value {
    let joint = |j: JointIndex| {
        let name = |j: &JointIndex| source[*j].name.clone();
        let from = match &made.from[j.get()] {
            MotionFrom::Joint(j) | MotionFrom::Name(j) => json!(name(j)),
            MotionFrom::Between { from, to, share } => json!([name(from), name(to), share]),
            MotionFrom::Rest => Value::Null,
        };
        (target[j].name.clone(), from)
    };
    let joints: Map<String, Value> = target.indices().map(joint).collect();
    let limb = |limb: &KeptLimb| {
        json!({
            "joint": target[limb.end].name,
            "frames": limb.frames,
            "reached": limb.reached,
            "worst_m": limb.worst_m,
            "worst_frame": limb.worst_frame.get(),
        })
    };
    let limbs: Vec<Value> = made.limbs.iter().map(limb).collect();
    let only: Vec<&str> = made.only_source.iter().map(|(j, _)| source[*j].name.as_str()).collect();
    let lost = made.only_source.iter().filter(|(_, carried)| !carried);
    let lost: Vec<&str> = lost.map(|(j, _)| source[*j].name.as_str()).collect();
    let parts = |parts: &[(BodyJoint, BodySide)]| -> Value {
        let part = |(what, side): &(BodyJoint, BodySide)| json!({ "side": side.as_str(), "what": what.as_str() });
        parts.iter().map(part).collect()
    };
    let all_reached =
        made.not_kept.is_empty() && made.limbs.iter().all(|limb| limb.reached == limb.frames);
    json!({
        "scale": made.scale,
        "joints": joints,
        "only_in_source": only,
        "lost": lost,
        "kept": limbs,
        "not_kept": parts(&made.not_kept),
        "lost_limbs": parts(&made.lost_limbs),
        "still_limbs": parts(&made.still_limbs),
        "all_reached": all_reached,
        "lowered": made.lowered.map(|lowered| json!({
            "frames": lowered.frames,
            "most_m": lowered.most_m,
            "most_frame": lowered.frame.get(),
        })),
        "fitted": made.fitted.map(|fitted| json!({
            "joints": fitted.joints,
            "worst": target[fitted.worst].name,
            "worst_frame": fitted.frame.get(),
            "worst_deg": fitted.by.degrees(),
        })),
    })
}

fn text_of(made: &Retargeted, source: &Skeleton, target: &Skeleton) -> String {
    let mut text = String::new();
    let frames = counted(made.clip.frame_count(), "frame", "frames");
    let _ = writeln!(text, "{frames}, places times {}", decimals(made.scale, 3));
    let mut table = new_table(&["joint", "moves as"]);
    for j in target.indices().filter(|j| !matches!(made.from[j.get()], MotionFrom::Rest)) {
        let own = Cell::new(printable(&target[j].name));
        table.add_row(vec![own, Cell::new(from(&made.from[j.get()], source))]);
    }
    let _ = writeln!(text, "{table}");
    if !made.limbs.is_empty() {
        let mut table = new_table(&["kept", "within 1 mm", "worst, mm", "at frame"]);
        for limb in &made.limbs {
            table.add_row(vec![
                Cell::new(printable(&target[limb.end].name)),
                number(format!("{} of {}", limb.reached, limb.frames)),
                number(decimals(1e3 * limb.worst_m, 1)),
                number(limb.worst_frame.get()),
            ]);
        }
        let _ = writeln!(text, "{table}");
    }
    if let Some(lowered) = made.lowered.filter(|lowered| lowered.frames > 0) {
        let _ = writeln!(
            text,
            "the pelvis is lowered for the legs in {}, by up to {} mm (frame {})",
            counted(lowered.frames, "frame", "frames"),
            decimals(1e3 * lowered.most_m, 1),
            lowered.frame.get()
        );
    }
    text
}
