//! One module per command.

mod convert;
mod demo;
mod info;
mod resample;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use condyle::formats::{Format, MotionFile, Read, ReadOptions, write, write_file};

use crate::args::{Cli, Command, Writing};
use crate::output::{Failure, print_warnings, progress};

/// What a command that did its work has to say; becomes the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Done.
    Yes,
}

/// Runs a command.
pub(crate) fn run(cli: &Cli) -> Result<Answer, Failure> {
    match &cli.command {
        Command::Info(args) => info::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Resample(args) => resample::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "condyle", &mut text);
            print_bytes(&text)
        }
        Command::Man => {
            let mut text = Vec::new();
            for command in manual_pages() {
                clap_mangen::Man::new(command).render(&mut text)?;
            }
            print_bytes(&text)
        }
    }
}

/// The command itself and each of its subcommands, as pages of the manual.
fn manual_pages() -> Vec<clap::Command> {
    let mut root = Cli::command();
    root.build();
    let mut pages = vec![root.clone()];
    pages.extend(root.get_subcommands().filter(|c| c.get_name() != "help").map(|c| {
        // As in git: the page of `condyle info` is condyle-info.
        let name: &'static str = format!("condyle-{}", c.get_name()).leak();
        c.clone().name(name).display_name(name)
    }));
    pages
}

fn print_bytes(bytes: &[u8]) -> Result<Answer, Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(Answer::Yes)
}

/// Reads the one motion (or skeleton, or marker file) among the inputs, prints its warnings.
fn read_one(files: &[PathBuf], options: &ReadOptions) -> Result<Read, Failure> {
    let bar = progress(files.len(), "reading");
    let mut found: Vec<(&Path, Read)> = Vec::new();
    let mut errors = Vec::new();
    for (path, read) in condyle::formats::read_files(files, options) {
        bar.inc(1);
        match read {
            Ok(read) => found.push((path, read)),
            Err(error) => errors.push(error),
        }
    }
    bar.finish_and_clear();
    if !errors.is_empty() {
        return Err(Failure::Read(errors));
    }
    if let [(first, _), (second, _), ..] = found.as_slice() {
        let what = format!(
            "{} and {} are two inputs, but there is one output",
            first.display(),
            second.display()
        );
        return Err(Failure::usage(what, "run the command once for each of them"));
    }
    let (_, read) = found.pop().ok_or_else(|| Failure::usage("no input", "name a file"))?;
    print_warnings(&read.warnings);
    Ok(read)
}

/// Writes a motion file to where and as the user said.
fn write_out(file: &MotionFile, output: &Path, writing: &Writing) -> Result<Answer, Failure> {
    let options = writing.options();
    if output != Path::new("-") {
        let warnings = match writing.to {
            Some(to) if Format::of_path(output) != Some(to.format()) => {
                let help = "leave --to out, or write to - (standard output)";
                let what = format!("{} has another extension than --to", output.display());
                return Err(Failure::usage(what, help));
            }
            _ => write_file(output, file, &options)?,
        };
        print_warnings(&warnings);
        return Ok(Answer::Yes);
    }
    let Some(to) = writing.to else {
        let help = "say which format with --to";
        return Err(Failure::usage("standard output has no extension to tell the format", help));
    };
    let written = write(file, to.format(), &options)?;
    print_warnings(&written.warnings);
    print_bytes(&written.parts[0].1)
}
