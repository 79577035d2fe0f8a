//! `condyle resample`.

use condyle::motion::ResampleTo;

use super::{Answer, read_one, write_out};
use crate::args::Resample;
use crate::output::{Failure, print_note};

pub(super) fn run(args: &Resample) -> Result<Answer, Failure> {
    let mut read = read_one(&args.files, &args.reading.options())?;
    let Some(clip) = &read.file.clip else {
        let what = "there is no motion to resample";
        return Err(Failure::usage(what, "resample works on a skeleton with motion"));
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
    write_out(&read.file, &args.output, &args.writing)
}
