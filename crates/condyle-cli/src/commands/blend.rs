//! `condyle blend`.

use condyle::edit::{Placement, blend};
use condyle::motion::{Clip, FrameIndex, ResampleTo};
use condyle::skeleton::{JointIndex, Skeleton};

use super::matching::no_joint;
use super::motions::{alike, idle, in_one_world, keep_inside, limits_of, read_motions, refused};
use super::{Answer, write_out};
use crate::args::Blend;
use crate::output::{Failure, counted, print_note};

pub(super) fn run(args: &Blend) -> Result<Answer, Failure> {
    if args.in_place && args.standing.up.is_some() {
        let help = "leave it out: motions that stay where they are need no axis";
        return Err(idle("--up", "--in-place", help));
    }
    let mut motions = read_motions(&args.files, &args.reading.options(), 2)?;
    if !(args.weights.is_empty() || args.weights.len() == motions.len()) {
        let weights = counted(args.weights.len(), "weight", "weights");
        let what = format!("{weights} for {}", counted(motions.len(), "motion", "motions"));
        return Err(Failure::usage(what, "give one for each"));
    }
    if args.weights.len() == motions.len() && args.weights.iter().all(|w| *w == 0.0) {
        return Err(Failure::usage("all weights are 0", "let one count at least"));
    }
    if args.ease.is_some() && motions.len() != 2 {
        let what =
            format!("--ease goes from one motion to another, and there are {}", motions.len());
        return Err(Failure::usage(what, "give two"));
    }
    let mut clips = alike(&motions)?;
    let skeleton = motions[0].file.skeleton.clone();
    let bound = limits_of(&args.limits, args.reading.strict(), &skeleton, &motions[0].path)?;
    let only = below(&skeleton, &args.only)?;
    if args.stretch {
        stretch(&mut clips)?;
    }
    let frames = clips.iter().map(Clip::frame_count).min().unwrap_or(0);
    let mut notes = Vec::new();
    if clips.iter().any(|c| c.frame_count() != frames) {
        let frames = counted(frames, "frame", "frames");
        notes.push(format!("the shortest motion has {frames}, and so has the result"));
    }
    if !args.in_place {
        let facing = in_one_world(&motions, &skeleton, &mut clips, &args.standing)?;
        let stand = |clip: &Clip| facing.stand_in(&skeleton, clip, FrameIndex(0));
        let to = stand(&clips[0]);
        for clip in &mut clips[1..] {
            let placement = Placement::between(facing.ground(), stand(clip), to);
            placement
                .apply(&skeleton, clip)
                .map_err(|e| Failure::usage(e.to_string(), "leave it where it is: --in-place"))?;
        }
    }
    let all: Vec<&Clip> = clips.iter().collect();
    let weight = |clip: usize, joint: JointIndex, frame: usize| {
        if !only.is_empty() && !only[joint.get()] {
            return if clip == 0 { 1.0 } else { 0.0 };
        }
        if let Some(easing) = args.ease {
            let second = easing.easing().weight(frame, frames);
            return if clip == 0 { 1.0 - second } else { second };
        }
        match args.weights.get(clip) {
            Some(weight) => *weight,
            // Joints that only the others count for are theirs.
            None if !only.is_empty() && clip == 0 => 0.0,
            None => 1.0,
        }
    };
    let mut made = blend(&skeleton, &all, weight).map_err(|e| refused(&e))?;
    notes.extend(bound.and_then(|bound| keep_inside(&bound, &skeleton, &mut made)));
    let mut file = motions.swap_remove(0).file;
    file.clip = Some(made);
    let answer = write_out(&file, &args.output, &args.writing)?;
    notes.iter().for_each(|note| print_note(note));
    Ok(answer)
}

/// All motions with as many frames as the first, at its rate.
fn stretch(clips: &mut [Clip]) -> Result<(), Failure> {
    let Some((first, others)) = clips.split_first_mut() else { return Ok(()) };
    let frames = u32::try_from(first.frame_count()).unwrap_or(u32::MAX);
    for clip in others.iter_mut().filter(|c| c.frame_count() != first.frame_count()) {
        let failed = |e: condyle::motion::ClipError| Failure::usage(e.to_string(), "trim it first");
        let even = clip.resample(ResampleTo::Frames(frames), None).map_err(failed)?.clip;
        let coordinates = (0..frames).map(f64::from);
        *clip = even.at_frames(coordinates, first.rate(), None).map_err(failed)?;
    }
    Ok(())
}

/// Which joints are, or are below, those with some names; none if there are no names.
fn below(skeleton: &Skeleton, names: &[String]) -> Result<Vec<bool>, Failure> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut in_it = vec![false; skeleton.len()];
    for name in names {
        let joint = skeleton.find(name);
        let joint = joint.ok_or_else(|| no_joint(skeleton, "--only: the motion has", name))?;
        in_it[joint.get()] = true;
    }
    // Parents come first.
    for j in skeleton.indices() {
        in_it[j.get()] |= skeleton.parent(j).is_some_and(|p| in_it[p.get()]);
    }
    Ok(in_it)
}
