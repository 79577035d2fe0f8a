//! `condyle convert`.

use super::{Answer, read_one, write_out};
use crate::args::Convert;
use crate::output::Failure;

pub(super) fn run(args: &Convert) -> Result<Answer, Failure> {
    let (output, inputs) = args.files.split_last().expect("clap asks for at least two");
    let read = read_one(inputs, &args.reading.options())?;
    write_out(&read.file, output, &args.writing)
}
