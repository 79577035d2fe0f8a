//! Prints the hash of every part, and fails where another way to do the work gives another.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program prints")]

use std::process::ExitCode;

use condyle_bits::{How, difference, report};

fn main() -> ExitCode {
    let plain = report(&How::PLAIN);
    print!("{plain}");
    let mut code = ExitCode::SUCCESS;
    for how in How::ways().into_iter().filter(|&how| how != How::PLAIN) {
        if let Some(difference) = difference(&plain, &report(&how)) {
            eprintln!("other bits with {how:?}:\n{difference}");
            code = ExitCode::FAILURE;
        }
    }
    code
}
