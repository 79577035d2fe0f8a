//! No command replaces what it reads, nor a file of another kind, unless it is forced.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use condyle::formats::{
    FileKind, Format, InTheWay, MotionFile, MotionFiles, Warning, in_the_way, is_another,
    is_same_file, motion_files, names_a_folder, read_bytes, write,
};
use condyle::rig::{MAX_BYTES, Rig};
use condyle::{models, presets};

use super::print_bytes;
use crate::args::{Files, Output, OutputKind, Writing};
use crate::output::{Failure, print_note, print_warnings, working, write_whole};

/// What a command writes, to files and to standard output: all of it or nothing.
#[derive(Default)]
pub(super) struct Results<'a> {
    files: Vec<(Cow<'a, Path>, Cow<'a, [u8]>)>,
    stdout: Option<Cow<'a, [u8]>>,
    /// What there is to tell when it is written.
    warnings: Vec<Warning>,
    note: Option<&'static str>,
}

impl<'a> Results<'a> {
    /// One file, or what standard output has if its name is `-`.
    pub(super) fn of(output: &'a Path, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self::default().with(output, bytes)
    }

    /// The same with another one.
    pub(super) fn with(mut self, output: &'a Path, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        if output == Path::new("-") {
            self.stdout = Some(bytes.into());
        } else {
            self.files.push((output.into(), bytes.into()));
        }
        self
    }

    /// The same with a motion in a format: for AMC with its ASF, if it goes to a file.
    pub(super) fn with_motion(
        mut self,
        file: &MotionFile,
        output: &'a Path,
        writing: &Writing,
        format: Option<Format>,
    ) -> Result<Self, Failure> {
        let options = writing.options();
        let failed = |error| Failure::Write { output: output.to_owned(), error };
        let sign = working("writing");
        if let Some(format) = format.filter(|_| output == Path::new("-")) {
            let mut written = write(file, format, &options).map_err(failed)?;
            if written.parts.len() > 1 {
                let note = "standard output holds the motion only; --to asf gives its skeleton";
                self.note = Some(note);
            }
            self.warnings.extend(written.warnings);
            self.stdout = Some(written.parts.swap_remove(0).1.into());
        } else {
            let MotionFiles { files, warnings } =
                motion_files(output, file, &options).map_err(failed)?;
            let files = files.into_iter().map(|(path, bytes)| (path.into(), bytes.into()));
            self.files.extend(files);
            self.warnings.extend(warnings);
        }
        sign.finish_and_clear();
        Ok(self)
    }

    /// Writes it. Whoever reads standard output and has gone has had enough: the files are there then.
    pub(super) fn write(self) -> Result<(), Failure> {
        let files: Vec<(&Path, &[u8])> =
            self.files.iter().map(|(path, bytes)| (&**path, &**bytes)).collect();
        let mut gone = None;
        let sign = working("writing");
        let done = write_whole(&files, || match self.stdout.as_deref().map(print_bytes) {
            Some(Err(failure)) if failure.is_closed_pipe() => {
                gone = Some(failure);
                Ok(())
            }
            Some(printed) => printed.map(drop),
            None => Ok(()),
        });
        sign.finish_and_clear();
        done?;
        print_warnings(&self.warnings);
        self.note.iter().for_each(|note| print_note(note));
        gone.map_or(Ok(()), Err)
    }
}

/// Refuses to begin if an output is in the way of an input, of another output or of a file of another
/// kind.
pub(super) fn check(files: &Files<'_>) -> Result<(), Failure> {
    for (i, output) in files.outputs.iter().enumerate() {
        if &*output.path == Path::new("-") {
            if output.main {
                continue;
            }
            let what = format!("the {} cannot go to standard output", word(output.kind));
            return Err(Failure::usage(what, "give it a name of its own"));
        }
        if files.outputs[..i].iter().any(|other| is_same_file(&other.path, &output.path)) {
            let what = format!("{} would be written twice", output.path.display());
            return Err(Failure::usage(what, "give each output a name of its own"));
        }
        if output.kind == OutputKind::Motions && is_folder(&output.path) {
            continue;
        }
        // No force makes a file of it.
        if names_a_folder(&output.path) {
            let path = output.path.display();
            let what = format!(
                "{path} is the name of a folder, and the {} is one file",
                word(output.kind)
            );
            return Err(Failure::usage(what, &format!("name it {}", example(output))));
        }
        if !files.force {
            check_one(output, &files.inputs)?;
        }
    }
    Ok(())
}

/// Refuses to replace a rig in which a person has done what the new one does not have.
pub(super) fn keep_own_work(output: &Path, new: &Rig, force: bool) -> Result<(), Failure> {
    if force || output == Path::new("-") || !output.is_file() {
        return Ok(());
    }
    let help = "choose another name, or replace it with --force";
    let bytes = read_bytes(output, MAX_BYTES as u64).map_err(|error| {
        let what = format!("cannot be looked at before it is replaced: {error}");
        Failure::file(output, what, help)
    })?;
    if bytes.is_empty() || models::is_one(&bytes) {
        return Ok(());
    }
    let there = Rig::read(&bytes).map_err(|error| {
        let what = format!("a rig document is there that is broken, and would be lost: {error}");
        Failure::file(output, what, help)
    })?;
    let work = there.rig.own_work_beyond(new, presets::is_one);
    let Some(first) = work.first() else { return Ok(()) };
    let more = match work.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let what = format!("a rig is there in which somebody has worked: {first}{more} would be lost");
    Err(Failure::file(output, what, help))
}

/// Refuses to replace files that are not as a command makes them.
pub(super) fn keep_others(files: &[(PathBuf, Vec<u8>)]) -> Result<(), Failure> {
    let help = "choose another folder, or replace it with --force";
    for (path, bytes) in files {
        let other = is_another(path, bytes).map_err(|error| {
            let what = format!("cannot be looked at before it is replaced: {error}");
            Failure::file(path, what, help)
        })?;
        if other {
            let what = "a file is there that is not as this command writes it, and would be lost";
            return Err(Failure::file(path, what, help));
        }
    }
    Ok(())
}

/// Refuses to write a file over an input, or over a file of another kind.
pub(super) fn check_one(output: &Output<'_>, inputs: &[&Path]) -> Result<(), Failure> {
    let path = &*output.path;
    // Writing says what is wrong with a name that stands for no kind of file.
    let Some(kind) = output.kind.of(path) else { return Ok(()) };
    let found = in_the_way(path, kind, inputs).map_err(|error| {
        let what = format!("cannot be looked at before it is replaced: {error}");
        Failure::file(path, what, "choose another name, or replace it with --force")
    })?;
    let shown = path.display();
    Err(match found {
        None => return Ok(()),
        Some(InTheWay::Input(input)) => {
            let what = match input == path {
                true => format!("{shown} is one of the inputs"),
                false => format!(
                    "{}, which would be written beside {shown}, is one of the inputs",
                    input.display()
                ),
            };
            let help = format!(
                "give the {} a name of its own, or replace what was read with --force",
                word(output.kind)
            );
            Failure::usage(what, &help)
        }
        Some(InTheWay::OtherName(named, other)) => {
            let other = match other {
                FileKind::Motion(_) => "a motion file",
                other => other.name(),
            };
            let what = match named == path {
                true => format!("{shown} has the extension of {other}"),
                false => format!("{shown} leads to {}, by its name {other}", named.display()),
            };
            Failure::usage(
                what,
                &format!("the output is {}: name it {}", kind.name(), example(output)),
            )
        }
        // Reading it will tell.
        Some(InTheWay::OtherKind(_)) if output.kind == OutputKind::Updated => return Ok(()),
        Some(found) => {
            let there = match found {
                InTheWay::OtherKind(Some(there)) => format!("{} is there", there.name()),
                _ => "what is there is something else".to_owned(),
            };
            let what = format!("{there}, and would be replaced by {}", kind.name());
            Failure::file(path, what, "choose another name, or replace it with --force")
        }
    })
}

/// Whether a path stands for a folder, to be made if it is not there.
pub(super) fn is_folder(path: &Path) -> bool {
    names_a_folder(path) || path.is_dir()
}

/// How such an output may be called.
fn example(output: &Output<'_>) -> String {
    match output.kind.of(&output.path) {
        Some(FileKind::Motion(format)) => return format!("CLIP.{}", format.extension()),
        None => "CLIP.bvh",
        Some(FileKind::Rig) => "RIG.json",
        Some(FileKind::NameTable) => "MAP.json",
        Some(FileKind::Summary) => "PART.cst",
        Some(FileKind::Page) => "FILE.html",
        Some(FileKind::Picture) => "FILE.svg",
        Some(_) => "FILE.csv",
    }
    .to_owned()
}

/// What is written, in a word.
fn word(kind: OutputKind) -> &'static str {
    match kind {
        OutputKind::Motion | OutputKind::Motions => "motion",
        OutputKind::Updated => "rig",
        OutputKind::New(FileKind::Rig) => "rig",
        OutputKind::New(FileKind::Page) => "report",
        OutputKind::New(FileKind::Picture) => "picture",
        OutputKind::New(FileKind::Table) => "table",
        OutputKind::New(FileKind::Summary) => "summary",
        OutputKind::New(_) => "output",
    }
}
