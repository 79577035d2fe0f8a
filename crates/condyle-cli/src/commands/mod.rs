//! One module per command.

mod anatomy;
mod blend;
mod body;
mod bound;
mod check;
mod clamp;
mod connect;
mod convert;
mod corpus;
mod couple;
mod demo;
mod dials;
mod each;
mod estimate;
mod evaluate;
mod figure_axes;
mod figures;
mod ik;
mod info;
mod limits;
mod matching;
mod mirror;
mod motions;
mod outputs;
mod pose;
mod report;
mod resample;
mod retarget;
mod rig;
mod stats;
mod transform;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use condyle::formats::{Format, MotionFile, Read, ReadOptions, size_notice};

use crate::args::{Cli, Command, FormatName, LimitsCommand, Writing};
use crate::output::{Failure, print_warnings, progress, visible, working};
use crate::stdout::stdout;
use outputs::Results;

/// What a command that did its work has to say; becomes the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Done.
    Yes,
    /// Done, and the answer is no.
    No,
}

/// Runs a command.
pub(crate) fn run(cli: &Cli) -> Result<Answer, Failure> {
    outputs::check(&cli.command.files())?;
    match &cli.command {
        Command::Info(args) => info::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Resample(args) => resample::run(args),
        Command::Trim(args) => transform::trim(args),
        Command::Transform(args) => transform::run(args),
        Command::Blend(args) => blend::run(args),
        Command::Mirror(args) => mirror::run(args),
        Command::Anatomy(args) => anatomy::run(args),
        Command::Retarget(args) => retarget::run(args),
        Command::Match(args) => matching::run(args),
        Command::Connect(args) => connect::run(args),
        Command::Limits(LimitsCommand::Show(args)) => limits::show(args),
        Command::Limits(LimitsCommand::Preset(args)) => limits::print_preset(args),
        Command::Couple(args) => couple::run(args),
        Command::Check(args) => check::run(args),
        Command::Clamp(args) => clamp::run(args),
        Command::Ik(args) => ik::run(args),
        Command::Dials(args) => dials::list(args),
        Command::Pose(args) => pose::run(args),
        Command::Fit(args) => dials::fit(args),
        Command::Estimate(args) => estimate::run(args),
        Command::Corpus(args) => corpus::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Merge(args) => stats::merge(args),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "condyle", &mut text);
            print_bytes(&text)
        }
        Command::Man { command } => print_bytes(&manual_page(command)?),
    }
}

/// A page of the manual: the overview, or that of a command. The names of a command and of one
/// within it are given apart, or joined as in the name of the page: `limits show`, `limits-show`.
fn manual_page(names: &[String]) -> Result<Vec<u8>, Failure> {
    let mut command = Cli::command();
    command.build();
    for name in names {
        command = subcommand(&command, name)?;
    }
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let has_parts = command.has_subcommands();
    let page = clap_mangen::Man::new(command.after_help(""));
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if has_parts {
        page.render_subcommands_section(&mut text)?;
    }
    // The first line of a part of a help's end is its heading, the rest are lines to type.
    for part in examples.split("\n\n") {
        let (heading, lines) = part.split_once('\n').unwrap_or(("Exit codes", part));
        writeln!(text, ".SH {}\n.nf", heading.trim_end_matches(':').to_uppercase())?;
        for line in lines.lines() {
            writeln!(text, "{}", line.trim_start().replace('\\', "\\\\").replace('-', "\\-"))?;
        }
        writeln!(text, ".fi")?;
    }
    page.render_version_section(&mut text)?;
    Ok(text)
}

/// The command of a name within another.
fn subcommand(of: &clap::Command, name: &str) -> Result<clap::Command, Failure> {
    if let Some(found) = of.find_subcommand(name) {
        return Ok(found.clone());
    }
    if let Some((first, rest)) = name.split_once('-')
        && let Some(found) = of.find_subcommand(first)
    {
        return subcommand(found, rest);
    }
    let names: Vec<&str> = of.get_subcommands().map(clap::Command::get_name).collect();
    let help = match names.as_slice() {
        [] => format!("{:?} has no commands of its own", of.get_name()),
        names => format!("commands are {}", names.join(", ")),
    };
    Err(Failure::usage(format!("there is no command {name:?}"), &help))
}

/// Prints what is for people, or JSON: nothing in it is obeyed by a terminal.
fn print_text(text: &str) -> Result<Answer, Failure> {
    print_bytes(visible(text).as_bytes())
}

/// Prints what could be a file, as it is.
fn print_bytes(bytes: &[u8]) -> Result<Answer, Failure> {
    let mut out = stdout()?;
    out.write_all(bytes)?;
    out.flush()?;
    Ok(Answer::Yes)
}

/// Writes a file, or standard output if it is `-`, and a report to standard output, or to standard
/// error where that has the file. A file beside it is written if both can be.
fn write_and_report(
    output: &Path,
    bytes: &[u8],
    beside: Option<(&Path, &[u8])>,
    report: &str,
) -> Result<Answer, Failure> {
    let results = Results::of(output, bytes);
    match beside {
        Some((path, page)) => results.with(path, page),
        None => results,
    }
    .write()?;
    print_report(output, report)
}

/// Prints what a command that wrote a motion has to tell: to standard error, if standard output has the
/// motion.
fn print_report(output: &Path, report: &str) -> Result<Answer, Failure> {
    if output == Path::new("-") {
        let _ = std::io::stderr().lock().write_all(visible(report).as_bytes());
        return Ok(Answer::Yes);
    }
    print_text(report)
}

/// Reads the one motion (or skeleton, or marker file) among the inputs, prints its warnings.
fn read_one(files: &[PathBuf], options: &ReadOptions) -> Result<Read, Failure> {
    read_only(files, options, "run the command once for each of them").map(|(_, read)| read)
}

/// The same with its path, and what to do where there are several.
fn read_only<'a>(
    files: &'a [PathBuf],
    options: &'a ReadOptions,
    help: &str,
) -> Result<(&'a Path, Read), Failure> {
    let bar = if files.len() < 3 { working("reading") } else { progress(files.len(), "reading") };
    let mut found: Option<(&Path, Read)> = None;
    let mut errors = Vec::new();
    for (path, read) in condyle::formats::read_files(files, options) {
        bar.inc(1);
        match (read, &found) {
            (Err(error), _) => errors.push(error),
            (Ok(read), None) => found = Some((path, read)),
            (Ok(_), Some((first, _))) => {
                let [first, second] = [first, path].map(Path::display);
                let what = format!("{first} and {second} are two inputs, but there is one output");
                return Err(Failure::usage(what, help));
            }
        }
    }
    bar.finish_and_clear();
    if !errors.is_empty() {
        return Err(Failure::Read(errors));
    }
    let (path, read) = found.ok_or_else(|| Failure::usage("no input", "name a file"))?;
    print_warnings(&read.warnings);
    Ok((path, read))
}

/// Writes a motion to where and as the user said.
fn write_out(file: &MotionFile, output: &Path, writing: &Writing) -> Result<Answer, Failure> {
    let format = motion_format(file, output, writing)?;
    notice_size(file, format);
    write_as(file, output, writing, format)
}

/// Lengths are converted by a unit that nobody declared: says so if it looks wrong.
fn notice_size(file: &MotionFile, format: Option<Format>) {
    if format != file.format && !file.units.is_declared() {
        print_warnings(Vec::from_iter(size_notice(&file.skeleton, file.units)).as_slice());
    }
}

/// The format that the user asked for, if it holds motion.
fn motion_format(
    file: &MotionFile,
    output: &Path,
    writing: &Writing,
) -> Result<Option<Format>, Failure> {
    let format = output_format(file, output, writing)?;
    // On standard output one after the other is asked for.
    if format == Some(Format::Asf) && output != Path::new("-") {
        let amc = output.with_extension(Format::Amc.extension());
        let help = format!("write {}: the ASF is written beside it", amc.display());
        return Err(Failure::file(output, "an ASF holds a skeleton without its motion", &help));
    }
    Ok(format)
}

/// The format that the user asked for, by name or by the extension of the output.
fn output_format(
    file: &MotionFile,
    output: &Path,
    writing: &Writing,
) -> Result<Option<Format>, Failure> {
    let to_stdout = output == Path::new("-");
    let named = Format::of_path(output).filter(|_| !to_stdout);
    let mut asked = writing.to.map(FormatName::format);
    if to_stdout {
        asked = asked.or(file.format);
    }
    if to_stdout && asked.is_none() {
        let help = "say which format with --to";
        return Err(Failure::usage("standard output has no extension to tell the format", help));
    }
    if !to_stdout && asked.is_some() && asked != named {
        let help = "leave --to out, or write to - (standard output)";
        let what = format!("{} has another extension than --to", output.display());
        return Err(Failure::usage(what, help));
    }
    Ok(asked.or(named))
}

/// Writes a motion file in a format.
fn write_as(
    file: &MotionFile,
    output: &Path,
    writing: &Writing,
    format: Option<Format>,
) -> Result<Answer, Failure> {
    Results::default().with_motion(file, output, writing, format)?.write()?;
    Ok(Answer::Yes)
}
