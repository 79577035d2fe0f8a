//! `condyle convert`.

use condyle::formats::Format;

use super::each::{Each, Told};
use super::{Answer, notice_size, output_format, write_as};
use crate::args::Convert;
use crate::output::{Failure, print_note};

pub(super) fn run(args: &Convert) -> Result<Answer, Failure> {
    let each = Each::of(&args.files, &args.output, &args.reading, &args.writing);
    each.run(|_, read, output| {
        let format = output_format(&read.file, output, &args.writing)?;
        notice_size(&read.file, format);
        let answer = write_as(&read.file, output, &args.writing, format)?;
        if format == Some(Format::Asf) && read.file.clip.is_some() {
            print_note(
                "an ASF holds the skeleton only; an AMC has the motion, with its ASF beside it",
            );
        }
        Ok((answer, Told::Written))
    })
}
