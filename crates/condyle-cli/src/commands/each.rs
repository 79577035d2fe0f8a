//! Commands that make a motion of each motion: of one to a file, of several into a folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use condyle::formats::{Format, Read, ReadOptions, read_files};
use serde_json::{Value, json};

use super::outputs::{check_one, is_folder};
use super::{Answer, print_report, print_text, read_only};
use crate::args::{Output, OutputKind, Reading, Writing};
use crate::output::{Failure, message, print_warnings};

/// The motions of a command, and where they go.
pub(super) struct Each<'a> {
    files: &'a [PathBuf],
    output: &'a Path,
    reading: ReadOptions,
    writing: &'a Writing,
    /// What is read besides.
    pub(super) beside: Vec<&'a Path>,
    /// The format of files in a folder, if it is not that of each motion.
    pub(super) format: Option<Format>,
}

/// What there is to tell of one motion.
pub(super) enum Told {
    /// Nothing else than that it is written.
    Written,
    Text(String),
    Json(Value),
}

impl<'a> Each<'a> {
    pub(super) fn of(
        files: &'a [PathBuf],
        output: &'a Path,
        reading: &Reading,
        writing: &'a Writing,
    ) -> Self {
        let reading = reading.options();
        Self { files, output, reading, writing, beside: Vec::new(), format: None }
    }

    /// Makes one motion of each: `make` is given where a motion is from, what was read, and where to write.
    /// Of several, each counts for itself: what is wrong with one does not stop the others.
    pub(super) fn run(
        &self,
        mut make: impl FnMut(&Path, Read, &Path) -> Result<(Answer, Told), Failure>,
    ) -> Result<Answer, Failure> {
        if is_folder(self.output) {
            return self.to_folder(make);
        }
        let help = "write them into a folder: FOLDER/";
        let (path, read) = read_only(self.files, &self.reading, help)?;
        let (answer, told) = make(path, read, self.output)?;
        match told {
            Told::Written => {}
            Told::Text(text) => drop(print_report(self.output, &text)?),
            Told::Json(document) => drop(print_report(self.output, &format!("{document:#}\n"))?),
        }
        Ok(answer)
    }

    fn to_folder(
        &self,
        mut make: impl FnMut(&Path, Read, &Path) -> Result<(Answer, Told), Failure>,
    ) -> Result<Answer, Failure> {
        fs::create_dir_all(self.output).map_err(|error| {
            let what = format!("the folder cannot be made: {error}");
            Failure::file(self.output, what, "choose another one")
        })?;
        let mut taken = BTreeSet::new();
        let (mut documents, mut errors) = (Vec::new(), Vec::new());
        let mut answer = Answer::Yes;
        for (path, read) in read_files(self.files, &self.reading) {
            let made = read.map_err(Failure::from).and_then(|read| {
                print_warnings(&read.warnings);
                let to = self.place(path, &read, &mut taken)?;
                make(path, read, &to).map(|made| (to, made))
            });
            match made {
                Ok((to, (one, told))) => {
                    answer = if one == Answer::No { one } else { answer };
                    match told {
                        Told::Json(mut document) => {
                            document["path"] = json!(path.display().to_string());
                            document["output"] = json!(to.display().to_string());
                            documents.push(document);
                        }
                        Told::Text(text) => drop(print_text(&message(&text))?),
                        Told::Written => {
                            let line = format!("{}: {}\n", path.display(), to.display());
                            print_text(&line)?;
                        }
                    }
                }
                Err(failure) => {
                    let failure = about(path, failure);
                    failure.print();
                    errors.extend(failure.json());
                }
            }
        }
        if !documents.is_empty() {
            let mut document = json!({ "files": documents });
            if !errors.is_empty() {
                document["errors"] = json!(errors);
                errors.clear();
            }
            print_text(&format!("{document:#}\n"))?;
            return match document["errors"].is_null() {
                true => Ok(answer),
                false => Err(Failure::Told(Vec::new())),
            };
        }
        if errors.is_empty() { Ok(answer) } else { Err(Failure::Told(errors)) }
    }

    /// Where a motion goes in the folder: its own name with the extension of the format.
    fn place(
        &self,
        path: &Path,
        read: &Read,
        taken: &mut BTreeSet<PathBuf>,
    ) -> Result<PathBuf, Failure> {
        let format = self.writing.format().or(self.format).or(read.file.format);
        let format = format.map_or("", Format::extension);
        let to = self.output.join(path.file_name().unwrap_or_default()).with_extension(format);
        if !taken.insert(to.clone()) {
            let what = format!("it would be written to {}, as one before it", to.display());
            return Err(Failure::file(
                path,
                what,
                "write motions of one name into folders of their own",
            ));
        }
        if !self.writing.force() {
            let output = Output { path: to.as_path().into(), kind: OutputKind::Motion, main: true };
            let files = self.files.iter().map(PathBuf::as_path);
            let inputs: Vec<&Path> = files.chain(self.beside.iter().copied()).collect();
            check_one(&output, &inputs)?;
        }
        Ok(to)
    }
}

/// What is wrong, with the motion that it is about.
fn about(path: &Path, failure: Failure) -> Failure {
    match failure {
        Failure::Usage { what, help } => Failure::file(path, what, &help.unwrap_or_default()),
        other => other,
    }
}
