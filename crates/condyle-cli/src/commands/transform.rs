//! `condyle transform` and `condyle trim`.

use condyle::edit::{Placement, Stand, retimed, reversed, scaled, trimmed, with_up};
use condyle::glam::DVec3;
use condyle::math::Angle;
use condyle::motion::FrameIndex;

use super::motions::{Motion, facing_of, read_motions, refused};
use super::{Answer, write_out};
use crate::args::{Transform, Trim};
use crate::output::{Failure, print_note};

pub(super) fn run(args: &Transform) -> Result<Answer, Failure> {
    let mut motion = one(&args.files, &args.reading.options())?;
    let change = &args.change;
    if change.reverse {
        motion.clip = reversed(&motion.clip).map_err(|e| refused(&e))?;
    }
    if let Some(speed) = change.speed {
        let how = Some(args.interpolation.interpolation());
        motion.clip = retimed(&motion.clip, speed, how).map_err(|e| refused(&e))?;
    }
    if let Some(factor) = change.scale {
        let made = scaled(&motion.file.skeleton, &motion.clip, factor).map_err(|e| refused(&e))?;
        (motion.file.skeleton, motion.clip) = made;
    }
    let mut facing = facing_of(&motion.file.skeleton, &args.standing);
    if let Some(axis) = change.to_up {
        let (from, to) = (facing.ground(), axis.ground());
        let made = with_up(&motion.file.skeleton, &motion.clip, from, to);
        (motion.file.skeleton, motion.clip) = made.map_err(|e| refused(&e))?;
        facing = condyle::edit::Facing::on(&motion.file.skeleton, to);
    }
    let ground = facing.ground();
    let from = facing.stand_in(&motion.file.skeleton, &motion.clip, FrameIndex(0));
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
    let moves = change.facing.is_some()
        || change.turn.is_some()
        || change.at.is_some()
        || change.shift.is_some();
    if moves {
        placement
            .apply(&motion.file.skeleton, &mut motion.clip)
            .map_err(|e| Failure::usage(e.to_string(), "move it less far"))?;
        let now = placement.stand(from);
        print_note(&stands(&now));
    }
    motion.file.clip = Some(motion.clip);
    write_out(&motion.file, &args.output, &args.writing)
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

fn stands(stand: &Stand) -> String {
    let [x, y, z] = stand.position_m.to_array();
    format!("starts at ({x:.3}, {y:.3}, {z:.3}) m, facing {:.1}°", stand.facing.degrees())
}

pub(super) fn trim(args: &Trim) -> Result<Answer, Failure> {
    let mut motion = one(&args.files, &args.reading.options())?;
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
            (frame(from), to.map_or(end, |to| frame(to).min(end)))
        }
        (None, None) => unreachable!("clap asks for one of the two"),
    };
    let end = last.checked_add(1).filter(|end| *end <= count && first < *end);
    let Some(end) = end else {
        let what = format!("frames {first} to {last} are asked for, and there are {count}");
        return Err(Failure::file(&motion.path, what, "frames count from 0"));
    };
    motion.file.clip = Some(trimmed(&motion.clip, first..end).map_err(|e| refused(&e))?);
    write_out(&motion.file, &args.output, &args.writing)
}

/// The one motion of a command that takes one.
pub(super) fn one(
    files: &[std::path::PathBuf],
    options: &condyle::formats::ReadOptions,
) -> Result<Motion, Failure> {
    let mut motions = read_motions(files, options, 1)?;
    if let [first, second, ..] = motions.as_slice() {
        let what = format!(
            "{} and {} are two inputs, but there is one output",
            first.path.display(),
            second.path.display()
        );
        return Err(Failure::usage(what, "run the command once for each of them"));
    }
    Ok(motions.swap_remove(0))
}
