//! `condyle transform` and `condyle trim`.

use std::path::Path;

use condyle::anatomy::{AxesOptions, FigureAxes};
use condyle::edit::{
    Facing, Ground, Placement, Stand, retimed, reversed, scaled, trimmed, with_up,
};
use condyle::formats::{Format, Origin};
use condyle::glam::DVec3;
use condyle::math::Angle;
use condyle::motion::FrameIndex;

use super::bound::note_of_front;
use super::each::{Each, Told};
use super::figure_axes::axes_of;
use super::motions::{Motion, idle, length_of, motion_of, no_frames, refused, warn_of_size};
use super::{Answer, motion_format, notice_size, write_as, write_out};
use crate::args::{InterpolationName, Transform, Trim};
use crate::output::{Failure, decimals, plain, print_note, print_warning};

pub(super) fn run(args: &Transform) -> Result<Answer, Failure> {
    let change = &args.change;
    let places = change.facing.is_some() || change.turn.is_some() || change.at.is_some();
    if args.standing.up.is_some() && !places && change.to_up.is_none() {
        let with = "--reverse, --speed, --scale and --move alone";
        return Err(idle("--up", with, "leave it out, or add --facing, --turn, --at or --to-up"));
    }
    let each = Each::of(&args.files, &args.output, &args.reading, &args.writing);
    each.run(|path, read, output| {
        let answer = transform(args, motion_of(path, read)?, output)?;
        Ok((answer, Told::Written))
    })
}

fn transform(args: &Transform, mut motion: Motion, output: &Path) -> Result<Answer, Failure> {
    let change = &args.change;
    let places = change.facing.is_some() || change.turn.is_some() || change.at.is_some();
    let in_metres = change.at.is_some() || change.shift.is_some();
    if in_metres {
        warn_of_size([(motion.path.as_path(), &motion.file)]);
    }
    let format = motion_format(&motion.file, output, &args.writing)?;
    if change.reverse {
        motion.clip = reversed(&motion.clip).map_err(|e| refused(&e))?;
    }
    // The first frame behind a pose in front of the motion, which says nothing about where that begins.
    let mut start = motion.clip.motion_start();
    if let Some(speed) = change.speed {
        let how = args.interpolation.unwrap_or(InterpolationName::Linear).interpolation();
        motion.clip = retimed(&motion.clip, speed, Some(how)).map_err(|e| refused(&e))?;
        start = frame_at(start, speed, motion.clip.frame_count());
    }
    // Whether what an ASF declares cannot be scaled.
    let mut afresh = false;
    if let Some(factor) = change.scale {
        let made = scaled(&motion.file.skeleton, &motion.clip, factor).map_err(|e| refused(&e))?;
        (motion.file.skeleton, motion.clip) = made;
        afresh = !motion.file.follow_scale(factor);
    }
    let (path, skeleton) = (&motion.path, &motion.file.skeleton);
    let axes = if places || change.to_up.is_some() {
        axes_of(path, skeleton, &motion.clip, &args.standing)?
    } else {
        FigureAxes::of(skeleton, &[])
    };
    let mut facing = Facing::by(skeleton, &axes);
    // Whether what an ASF declares has no meaning any more.
    let mut drops = false;
    if let Some(axis) = change.to_up {
        let (from, to) = (facing.ground(), Ground::up_along(axis));
        drops = from != to && matches!(motion.file.origin, Origin::Acclaim(_));
        let made = with_up(&motion.file.skeleton, &motion.clip, from, to);
        (motion.file.skeleton, motion.clip) = made.map_err(|e| refused(&e))?;
        let turned = AxesOptions { up: Some(axis), ..AxesOptions::default() };
        let skeleton = &motion.file.skeleton;
        facing = Facing::by(skeleton, &FigureAxes::with(skeleton, &[&motion.clip], &turned));
    }
    let ground = facing.ground();
    let first = FrameIndex(u32::try_from(start).unwrap_or(u32::MAX));
    let from = facing.stand_in(&motion.file.skeleton, &motion.clip, first);
    let mut to = from;
    if let Some(facing) = change.facing {
        to.facing = facing;
    }
    if let Some(turn) = change.turn {
        to.facing = Angle::from_degrees(from.facing.degrees() + turn.degrees());
    }
    if let Some(place) = change.at {
        to.position_m = on_ground(ground.up(), place);
    }
    let mut placement = Placement::between(ground, from, to);
    if let Some(shift) = change.shift {
        let shift = placement.shift_m() + DVec3::from_array(shift);
        placement = Placement::new(ground, placement.turn(), shift);
    }
    let moves = places || change.shift.is_some();
    if moves {
        placement
            .apply(&motion.file.skeleton, &mut motion.clip)
            .map_err(|e| Failure::usage(e.to_string(), "move it less far"))?;
    }
    motion.file.clip = Some(motion.clip);
    if !in_metres {
        notice_size(&motion.file, format);
    }
    let answer = write_as(&motion.file, output, &args.writing, format)?;
    if afresh && matches!(format, Some(Format::Asf | Format::Amc)) {
        print_warning(
            "--scale: bones have lengths of their own in each frame (l), so the ASF is written afresh: the \
             axes, degrees of freedom and limits that it declared are dropped",
        );
    }
    if drops && matches!(format, Some(Format::Asf | Format::Amc)) {
        print_warning(
            "--to-up: the axes, degrees of freedom and limits that the ASF declares are for the old world, \
             and are dropped",
        );
    }
    if moves {
        let why = (change.to_up.is_none() && places).then(|| axes.up().reason());
        if places {
            let what = format!("the figure is placed by frame {start}, the first of the motion");
            note_of_front(start, &motion.path, &what);
        }
        print_note(&stands(&placement.stand(from), ground, why));
    }
    Ok(answer)
}

/// The frame in which a motion that is played so many times as fast comes to a frame, or is behind it.
fn frame_at(frame: usize, speed: f64, frames: usize) -> usize {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a speed is positive, and what is beyond a clip saturates"
    )]
    let there = (frame as f64 / speed).ceil() as usize;
    there.min(frames.saturating_sub(1))
}

/// The point of the ground with two coordinates, those of the axes that are not up.
fn on_ground(up: DVec3, [a, b]: [f64; 2]) -> DVec3 {
    let up = up.abs();
    if up.y > 0.5 {
        DVec3::new(a, 0.0, b)
    } else if up.z > 0.5 {
        DVec3::new(a, b, 0.0)
    } else {
        DVec3::new(0.0, a, b)
    }
}

fn stands(stand: &Stand, ground: Ground, why: Option<String>) -> String {
    let [x, y, z] = stand.position_m.to_array().map(|x| decimals(x, 3));
    let facing = decimals(stand.facing.degrees(), 1);
    let up = ground.up().to_array();
    let named = up.iter().zip(["x", "y", "z"]).find(|(along, _)| along.abs() > 0.5);
    let up = named.map_or_else(String::new, |(along, name)| {
        format!("; {}{name} is up", if *along < 0.0 { "−" } else { "" })
    });
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    format!("starts at ({x}, {y}, {z}) m, facing {facing}°{up}{why}")
}

pub(super) fn trim(args: &Trim) -> Result<Answer, Failure> {
    let each = Each::of(&args.files, &args.output, &args.reading, &args.writing);
    each.run(|path, read, output| {
        let answer = trim_one(args, motion_of(path, read)?, output)?;
        Ok((answer, Told::Written))
    })
}

fn trim_one(args: &Trim, mut motion: Motion, output: &Path) -> Result<Answer, Failure> {
    let count = motion.clip.frame_count();
    let (first, last) = match (args.part.frames, args.part.seconds) {
        (Some(span), _) => (span.first, span.last.unwrap_or(count.saturating_sub(1))),
        (None, Some((from, to))) => {
            let fps = motion.clip.rate().nominal_fps();
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "times are not negative, and what is beyond a clip saturates"
            )]
            let frame = |seconds: f64| (seconds * fps).round() as usize;
            // The last frame begins before the time that the motion takes is over.
            let end = count.saturating_sub(1);
            if let Some(to) = to.filter(|to| frame(*to) > count && frame(from) < count) {
                let (to, takes) = (plain(to), length_of(&motion.clip));
                print_note(&format!("it takes {takes}, and {to} s is after that: kept to its end"));
            }
            (frame(from), to.map_or(end, |to| frame(to).min(end)))
        }
        (None, None) => unreachable!("clap asks for one of the two"),
    };
    let end = last.checked_add(1).filter(|end| *end <= count && first < *end);
    let Some(end) = end else {
        let Some((from, _)) = args.part.seconds else {
            return Err(no_frames(args.part.frames, &motion));
        };
        let (from, takes) = (plain(from), length_of(&motion.clip));
        let what = format!("it takes {takes}, and {from} s is after that");
        return Err(Failure::file(&motion.path, what, "times begin with 0"));
    };
    motion.file.clip = Some(trimmed(&motion.clip, first..end).map_err(|e| refused(&e))?);
    write_out(&motion.file, output, &args.writing)
}
