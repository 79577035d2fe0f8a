//! What a person or a script sees: errors, warnings, progress.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};
use condyle::formats::{Position, ReadError, Warning, WriteError, names_a_folder};
use condyle::ik::GoalsError;
use condyle::math::Angle;
use condyle::rig::{RigError, RigWarning, RigWarningKind};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::signals::TEMPORARIES;
use crate::terminal;
pub(crate) use crate::terminal::{message, printable, visible};

/// Why a command could not do its work; exit code 2.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Files that could not be read.
    Read(Vec<ReadError>),
    /// A file that could not be written.
    Write { output: PathBuf, error: WriteError },
    /// A rig document that could not be read, or limits in it that make no sense.
    Rig(Vec<RigError>),
    /// Goals that could not be read, or that do not fit the clip.
    Goals(GoalsError),
    /// A repair of a document that is not wanted.
    Repair(Box<RigWarning>),
    /// A file that could not be opened, read or written.
    File { path: PathBuf, what: String, help: String },
    /// What is wrong at a place in a file: `@BYTE: what`, `LINE:COLUMN: what`.
    Place { path: PathBuf, what: String, help: String },
    /// Arguments that do not go together.
    Usage { what: String, help: Option<String> },
    /// Standard output is gone or full.
    Stdout(std::io::Error),
    /// What has been printed already, in the form of [`Failure::json`]; nothing if that has been
    /// printed, too.
    Told(Vec<Value>),
}

const ACCEPT: &str = "read it without --strict to accept the repair";

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Stdout(error)
    }
}

/// Errors of writing files name them.
impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::Write { output: PathBuf::new(), error }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Read(vec![error])
    }
}

impl Failure {
    pub(crate) fn usage(what: impl Into<String>, help: &str) -> Self {
        Self::Usage { what: what.into(), help: Some(help.to_owned()) }
    }

    pub(crate) fn file(path: &Path, what: impl Into<String>, help: &str) -> Self {
        Self::File { path: path.to_owned(), what: what.into(), help: help.to_owned() }
    }

    /// Whether whoever reads our standard output has gone.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Stdout(e) if e.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// Prints it to standard error.
    pub(crate) fn print(&self) {
        match self {
            Self::Read(errors) => errors.iter().for_each(print_read_error),
            Self::Write { output, error } => {
                let (path, what, help) = write_error(output, error);
                complain(&format!("{}: {what}", path.display()));
                if let Some(help) = help {
                    complain(&format!("  help: {help}"));
                }
            }
            Self::Rig(errors) => errors.iter().for_each(|e| complain(&e.to_string())),
            Self::Goals(error) => complain(&error.to_string()),
            Self::Repair(repair) => complain(&format!("{repair}\n  help: {ACCEPT}")),
            Self::File { path, what, help } => {
                complain(&format!("{}: {what}", path.display()));
                complain(&format!("  help: {help}"));
            }
            Self::Place { path, what, help } => {
                complain(&format!("{}:{what}", path.display()));
                complain(&format!("  help: {help}"));
            }
            Self::Usage { what, help } => {
                complain(&format!("condyle: {what}"));
                if let Some(help) = help {
                    complain(&format!("  help: {help}"));
                }
            }
            Self::Stdout(e) => {
                complain(&format!("condyle: standard output: {e}"));
                complain("  help: send it to a file or a program that takes it, or to /dev/null");
            }
            Self::Told(_) => {}
        }
    }

    /// Prints why things were left out, and what to do about it, once if that is the same.
    pub(crate) fn warn(all: &[Self]) {
        let mut told = std::collections::BTreeSet::new();
        for error in all.iter().flat_map(Self::json) {
            let part = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
            print_warning(&format!("left out: {}: {}", part("path"), part("message")));
            let help = part("help");
            if !help.is_empty() && told.insert(help.clone()) {
                complain(&format!("  help: {help}"));
            }
        }
    }

    /// The same for a script: an object for each error.
    pub(crate) fn json(&self) -> Vec<Value> {
        let one = |path: Option<&Path>, message: &str, help: Option<&str>| {
            vec![json_error(path, [None; 2], message, help)]
        };
        match self {
            Self::Read(errors) => errors.iter().map(json_of_error).collect(),
            Self::Write { output, error } => {
                let (path, what, help) = write_error(output, error);
                one(Some(&path), &what, help.as_deref())
            }
            Self::Rig(errors) => {
                let of = |e: &RigError| {
                    let place = e.position().map_or([None; 2], |p| [Some(p.line), Some(p.column)]);
                    let what = format!("{}: {}", e.path(), e.kind());
                    json_error(e.file(), place, &what, Some(&e.help()))
                };
                errors.iter().map(of).collect()
            }
            Self::Goals(e) => {
                let place = e.position().map_or([None; 2], |p| [Some(p.line), Some(p.column)]);
                let what = match e.path() {
                    "" => e.kind().to_string(),
                    path => format!("{path}: {}", e.kind()),
                };
                vec![json_error(e.file(), place, &what, Some(&e.help()))]
            }
            Self::Repair(repair) => {
                let place = repair.position.map_or([None; 2], |p| [Some(p.line), Some(p.column)]);
                let what = format!("{}: {}", repair.path, repair.kind);
                vec![json_error(repair.file.as_deref(), place, &what, Some(ACCEPT))]
            }
            Self::File { path, what, help } | Self::Place { path, what, help } => {
                one(Some(path), what, Some(help))
            }
            Self::Usage { what, help } => one(None, what, help.as_deref()),
            Self::Stdout(_) => Vec::new(),
            Self::Told(errors) => errors.clone(),
        }
    }
}

fn json_error(
    path: Option<&Path>,
    [line, column]: [Option<u32>; 2],
    message: &str,
    help: Option<&str>,
) -> Value {
    let path = path.map(|p| p.display().to_string());
    let message = terminal::cut_words(message);
    json!({ "path": path, "line": line, "column": column, "message": message, "help": help })
}

/// An error for a script.
pub(crate) fn json_of_error(error: &ReadError) -> Value {
    let place = match error.position() {
        Some(Position::Text { line, column }) => [Some(line), Some(column)],
        _ => [None; 2],
    };
    json_error(error.path(), place, &error.kind().to_string(), Some(&error.help()))
}

/// The warnings that were printed, for JSON that is to hold them all.
static WARNED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// All warnings that were printed so far.
pub(crate) fn warnings_printed() -> Vec<String> {
    WARNED.lock().map(|warned| warned.clone()).unwrap_or_default()
}

pub(crate) fn complain(line: &str) {
    if let (Some(warning), Ok(mut warned)) = (line.strip_prefix("warning: "), WARNED.lock()) {
        warned.push(warning.to_owned());
    }
    // Nothing is left to do if standard error is gone.
    let _ = writeln!(std::io::stderr().lock(), "{}", message(line));
}

/// Prints an error; on a terminal with the line it is about and a caret under the place.
pub(crate) fn print_read_error(error: &ReadError) {
    let text = error.to_string();
    let excerpt = error.excerpt().filter(|e| std::io::stderr().is_terminal() && !e.line.is_empty());
    let Some(excerpt) = excerpt else {
        return complain(&text);
    };
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    complain(first);
    complain(&format!("  | {}", excerpt.line));
    complain(&format!("  | {}^", " ".repeat(excerpt.caret)));
    if !rest.is_empty() {
        complain(rest);
    }
}

/// Prints warnings to standard error.
pub(crate) fn print_warnings(warnings: &[Warning]) {
    for warning in warnings {
        complain(&format!("warning: {warning}"));
    }
}

/// Prints warnings about a rig document to standard error. A polygon may have many corners of a
/// wrong length: of these the first is told, and how many there are.
pub(crate) fn print_rig_warnings(warnings: &[RigWarning]) {
    let is_length = |w: &&RigWarning| matches!(w.kind, RigWarningKind::NotUnit { .. });
    let mut lengths = warnings.iter().filter(is_length).count();
    for warning in warnings {
        if !is_length(&warning) {
            complain(&format!("warning: {warning}"));
        } else if lengths > 0 {
            let more = match lengths - 1 {
                0 => String::new(),
                more => format!("; and {more} more like this"),
            };
            complain(&format!("warning: {warning}{more}"));
            lengths = 0;
        }
    }
}

/// Writes files, and what `through` writes elsewhere, all of them or none: see
/// [`condyle::formats::write_whole_and`].
pub(crate) fn write_whole(
    files: &[(&Path, &[u8])],
    through: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    condyle::formats::write_whole_and(files, &TEMPORARIES, through)
}

/// Which file it is about, what is wrong, and what to do.
fn write_error(output: &Path, error: &WriteError) -> (PathBuf, String, Option<String>) {
    match error {
        WriteError::Unsupported { what } => {
            let help = "condyle info shows what the input holds";
            (output.to_owned(), what.clone(), Some(help.to_owned()))
        }
        WriteError::Io { path, message } => {
            let help = help_of_writing(path, message);
            (path.clone(), format!("cannot be written: {message}"), Some(help))
        }
        // These say it themselves, and begin with their file.
        WriteError::UnknownFormat { path } | WriteError::WouldReplace { path } => {
            let text = error.to_string();
            let (what, help) = text.split_once("\n  help: ").unwrap_or((&text, ""));
            let what = what.strip_prefix(&format!("{}: ", path.display())).unwrap_or(what);
            (path.clone(), what.to_owned(), (!help.is_empty()).then(|| help.to_owned()))
        }
        other => (output.to_owned(), other.to_string(), None),
    }
}

/// What to do about a file that could not be written.
fn help_of_writing(path: &Path, message: &str) -> String {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    if let Some(target) = far_end(path) {
        return format!(
            "it is a link to {}, in a folder that is not there: make that, or remove the link",
            target.display()
        );
    }
    let help = if path.is_dir() || names_a_folder(path) {
        "choose a name that no folder has"
    } else if message.starts_with("two outputs") {
        "give each output a name of its own"
    } else if message.starts_with("too many links") {
        "remove the link, or choose another name"
    } else if message.contains("name too long") {
        "choose a shorter name"
    } else if folder.is_some_and(|folder| !folder.is_dir()) {
        "make the folder first, or choose one that is there"
    } else {
        "choose a folder that may be written to and has room"
    };
    help.to_owned()
}

/// Where a link leads to if that is in a folder that is not there.
fn far_end(path: &Path) -> Option<PathBuf> {
    // As many as Linux follows.
    const LINKS: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        let Ok(link) = std::fs::read_link(&target) else { break };
        target = target.parent().unwrap_or(Path::new("")).join(link);
    }
    let folder = target.parent().filter(|folder| *folder != Path::new(""))?;
    (target != path && !folder.is_dir()).then_some(target)
}

/// A bar over `n` steps of long work: on a terminal, and nothing on a pipe.
pub(crate) fn progress(n: usize, what: &'static str) -> ProgressBar {
    // One or two files are read before a bar could be drawn.
    if n < 3 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(n as u64).with_message(what);
    if let Ok(style) = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar
}

/// A sign of life while one long step runs: on a terminal, and nothing on a pipe.
pub(crate) fn working(what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner().with_message(what);
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// Prints one warning to standard error.
pub(crate) fn print_warning(warning: &str) {
    complain(&format!("warning: {warning}"));
}

/// A table with a ruled header, for people.
pub(crate) fn new_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    let ruled = TableStyle::new().header_separator(LineStyle::none().fill('-').junction('-'));
    table.load_style(ruled).set_header(header.to_vec()).set_width(100);
    table
}

/// A cell with a number.
pub(crate) fn number(text: impl std::fmt::Display) -> Cell {
    Cell::new(text.to_string()).set_alignment(CellAlignment::Right)
}

/// The first few of a list of names: `"A", "B" and 3 more`.
pub(crate) fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    let quoted = |name: &&str| format!("\"{}\"", printable(name));
    match names {
        [] => String::new(),
        [one] => quoted(one),
        _ if names.len() <= SHOWN => {
            let (last, first) = (&names[names.len() - 1], &names[..names.len() - 1]);
            let first: Vec<String> = first.iter().map(quoted).collect();
            format!("{} and {}", first.join(", "), quoted(last))
        }
        _ => {
            let first: Vec<String> = names[..SHOWN].iter().map(quoted).collect();
            format!("{} and {} more", first.join(", "), names.len() - SHOWN)
        }
    }
}

/// So many of something: `1 file`, `2 files`.
pub(crate) fn counted(n: impl std::fmt::Display, one: &str, many: &str) -> String {
    let n = n.to_string();
    let what = if n == "1" { one } else { many };
    format!("{n} {what}")
}

/// Prints a remark to standard error.
pub(crate) fn print_note(note: &str) {
    complain(&format!("note: {note}"));
}

/// An angle for a script: in degrees, and zero without a sign.
pub(crate) fn json_degrees(angle: Angle) -> f64 {
    // −0 + 0 is 0.
    angle.degrees() + 0.0
}

/// An angle for a table: to hundredths of a degree, and zero without a sign.
pub(crate) fn hundredths(angle: Angle) -> String {
    decimals(angle.degrees(), 2) + "°"
}

/// A number for a table: so many places, zero without a sign, and with an exponent if it is absurd.
pub(crate) fn decimals(value: f64, places: usize) -> String {
    if value.abs() >= 1e9 && value.is_finite() {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.places$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|b| b == b'0' || b == b'.') => digits.to_owned(),
        _ => text,
    }
}

/// A number in a sentence: as short as it can be, and with an exponent if it is absurd.
pub(crate) fn plain(value: f64) -> String {
    let usual = value == 0.0 || (1e-4..1e9).contains(&value.abs());
    if usual { value.to_string() } else { format!("{value:.2e}") }
}

/// Breaks a text into lines of at most `width` characters, the later ones indented.
pub(crate) fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for (i, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_of_names_are_cut() {
        assert_eq!(some_of(&["a"]), "\"a\"");
        assert_eq!(some_of(&["a", "b"]), "\"a\" and \"b\"");
        assert_eq!(
            some_of(&["a", "b", "c", "d", "e", "f"]),
            "\"a\", \"b\", \"c\", \"d\" and 2 more"
        );
    }

    #[test]
    fn numbers_of_a_table_are_short() {
        for (value, places, text) in [
            (1.26, 1, "1.3"),
            (-0.004, 2, "0.00"),
            (-0.5, 2, "-0.50"),
            (999_999_999.0, 1, "999999999.0"),
            (1e9, 1, "1.00e9"),
            (-1.5e300, 2, "-1.50e300"),
            (f64::INFINITY, 2, "inf"),
        ] {
            assert_eq!(decimals(value, places), text);
        }
    }

    #[test]
    fn one_is_singular_and_none_is_not() {
        let files = |n: u64| counted(n, "file is", "files are");
        assert_eq!([files(0), files(1), files(11)], ["0 files are", "1 file is", "11 files are"]);
    }

    #[test]
    fn numbers_in_sentences_are_short_whatever_they_are() {
        let all = [0.0, 120.0, -2.5, 29.97, 1e300, -1e-300].map(plain);
        assert_eq!(all, ["0", "120", "-2.5", "29.97", "1.00e300", "-1.00e-300"]);
    }

    #[test]
    fn long_texts_are_wrapped_between_words() {
        assert_eq!(wrapped("ab cd ef", 5, 1), "ab cd\n ef");
        assert_eq!(wrapped("  ab", 5, 1), "  ab");
        assert_eq!(wrapped("abcdefgh i", 5, 1), "abcdefgh\n i");
    }
}
