//! `condyle resample`.

use std::path::Path;

use condyle::formats::Read;
use condyle::motion::ResampleTo;

use super::each::{Each, Told};
use super::motions::no_motion;
use super::{Answer, write_out};
use crate::args::Resample;
use crate::output::{Failure, print_note};

pub(super) fn run(args: &Resample) -> Result<Answer, Failure> {
    let each = Each::of(&args.files, &args.output, &args.reading, &args.writing);
    each.run(|path, read, output| Ok((resample(args, path, read, output)?, Told::Written)))
}

fn resample(
    args: &Resample,
    path: &Path,
    mut read: Read,
    output: &Path,
) -> Result<Answer, Failure> {
    let Some(clip) = &read.file.clip else {
        let what = "there is no motion to resample";
        return Err(no_motion(path, &read.file, what, "resample works on a skeleton with motion"));
    };
    let to = match (args.to.fps, args.to.frames) {
        (Some(rate), _) => ResampleTo::Rate(rate),
        (None, Some(frames)) => ResampleTo::Frames(frames),
        (None, None) => unreachable!("clap asks for one of the two"),
    };
    let resampled = clip.resample(to, Some(args.interpolation.interpolation())).map_err(|e| {
        let help = "ask for fewer frames or a lower rate".to_owned();
        Failure::Usage { what: e.to_string(), help: Some(help) }
    })?;
    if let Some(note) = resampled.note(&read.file.skeleton) {
        print_note(&note);
    }
    read.file.clip = Some(resampled.clip);
    write_out(&read.file, output, &args.writing)
}
