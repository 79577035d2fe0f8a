//! `condyle demo`.

use super::Answer;
use crate::args::Demo;
use crate::output::Failure;

pub(super) fn run(_args: &Demo) -> Result<Answer, Failure> {
    Ok(Answer::Yes)
}
