//! `condyle convert`.

use super::{Answer, read_one, write_out};
use crate::args::Convert;
use crate::output::Failure;

pub(super) fn run(args: &Convert) -> Result<Answer, Failure> {
    let read = read_one(&args.files, &args.reading.options())?;
    write_out(&read.file, &args.output, &args.writing)
}
