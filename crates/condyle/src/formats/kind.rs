//! What kind of file something is, by how such files begin: before one is replaced.

use super::Format;
use super::text::{self, Number, Scanner};

/// What kind of file something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// Motion, a skeleton or markers.
    Motion(Format),
    /// A rig document (RIG.json).
    Rig,
    /// A table of joint names (MAP.json).
    NameTable,
    /// A summary of motion (`.cst`).
    Summary,
    /// A page (HTML).
    Page,
    /// A picture (SVG).
    Picture,
    /// A table of dials over time (CSV).
    Table,
}

impl FileKind {
    /// What it is, for a sentence: `a rig document`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Motion(Format::Asf) => "an ASF",
            Self::Motion(Format::Amc) => "an AMC",
            Self::Motion(Format::Bvh) => "a BVH",
            Self::Motion(Format::Trc) => "a TRC",
            Self::Rig => "a rig document",
            Self::NameTable => "a table of joint names",
            Self::Summary => "a summary",
            Self::Page => "a page (HTML)",
            Self::Picture => "a picture (SVG)",
            Self::Table => "a table (CSV)",
        }
    }

    /// Tells the kind by the content, which may be the beginning of it only.
    ///
    /// Readers are generous, since who names a file to be read means it: a word or two that a format
    /// could begin with will do. This is about files that nobody named to be lost, so it takes what a file
    /// of the kind has to begin with, and everything else is of no kind that is known:
    ///
    /// - a rig is an object with a number `condyle`, and with an object `skeleton` or `joints`; a table
    ///   of names has the texts `title` and `source` and an object `joints`;
    /// - a BVH begins with `HIERARCHY` and `ROOT`, or with `MOTION` and `Frames:`; an ASF with two of its
    ///   sections; an AMC with a line of its header, or with the number of a frame and lines with a name and
    ///   numbers; a TRC with `PathFileType` and a number;
    /// - a table begins with a line of names, one of them `time_s` or all of them with the unit of a dial
    ///   (`_deg`, `_m`), and goes on with numbers.
    #[must_use]
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"condylst") {
            // Behind it stands the version, a small number of four bytes: text has no zeros.
            return (bytes.get(9..12) == Some(&[0; 3])).then_some(Self::Summary);
        }
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
        match text.first()? {
            b'{' => of_json(text),
            b'<' => of_markup(text),
            _ => {
                of_motion(text).map(Self::Motion).or_else(|| is_table(text).then_some(Self::Table))
            }
        }
    }
}

/// What an object is, by its own fields.
fn of_json(text: &[u8]) -> Option<FileKind> {
    let fields = fields(text);
    let has = |name: &str, begins: fn(u8) -> bool| {
        fields.iter().any(|(key, value)| *key == name.as_bytes() && begins(*value))
    };
    let [is_text, is_object]: [fn(u8) -> bool; 2] = [|b| b == b'"', |b| b == b'{'];
    if has("condyle", |b| b.is_ascii_digit()) {
        return (has("skeleton", is_object) || has("joints", is_object)).then_some(FileKind::Rig);
    }
    let is_table = has("title", is_text) && has("source", is_text) && has("joints", is_object);
    is_table.then_some(FileKind::NameTable)
}

/// The names of an object's own fields, each with the first byte of its value, as far as the text goes.
fn fields(text: &[u8]) -> Vec<(&[u8], u8)> {
    let mut fields = Vec::new();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => break,
            b'}' | b']' => depth -= 1,
            b'"' => {
                let start = at;
                while text.get(at).is_some_and(|b| *b != b'"') {
                    // What is escaped is no end.
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
                let Some(name) = text.get(start..at) else { break };
                at += 1;
                let behind = text.get(at..).unwrap_or_default().trim_ascii_start();
                let value = behind.strip_prefix(b":").map(<[u8]>::trim_ascii_start);
                if let Some(first) = value.and_then(<[u8]>::first).filter(|_| depth == 1) {
                    fields.push((name, *first));
                }
            }
            _ => {}
        }
    }
    fields
}

/// A page or a picture, by the first element.
fn of_markup(mut text: &[u8]) -> Option<FileKind> {
    let begins = |text: &[u8], word: &str| {
        let is = text.get(..word.len()).is_some_and(|s| s.eq_ignore_ascii_case(word.as_bytes()));
        is && text.get(word.len()).is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'-')
    };
    loop {
        if begins(text, "<!doctype html") || begins(text, "<html") {
            return Some(FileKind::Page);
        }
        if begins(text, "<svg") {
            return Some(FileKind::Picture);
        }
        // A comment, or what is said about the document.
        let end: &[u8] = if text.starts_with(b"<!--") {
            b"-->"
        } else if text.starts_with(b"<?") || text.starts_with(b"<!") {
            b">"
        } else {
            return None;
        };
        let at = text.windows(end.len()).position(|part| part == end)?;
        text = text[at + end.len()..].trim_ascii_start();
    }
}

/// The format of motion.
fn of_motion(text: &[u8]) -> Option<Format> {
    let mut scanner = Scanner::new(text);
    scanner.skip_space();
    while scanner.peek() == Some(b'#') {
        scanner.next_line();
        scanner.skip_space();
    }
    let body = scanner.clone();
    let word = scanner.word();
    let is = |word: &[u8], name: &str| text::is_word(word, name);
    if is(word, "HIERARCHY") {
        is(scanner.word(), "ROOT").then_some(Format::Bvh)
    } else if is(word, "MOTION") {
        is(scanner.word(), "Frames:").then_some(Format::Bvh)
    } else if is(word, "PathFileType") {
        is_number(scanner.word()).then_some(Format::Trc)
    } else if word.starts_with(b":") {
        let of = Format::detect(body.rest())?;
        (of == Format::Amc || sections(body) > 1).then_some(of)
    } else {
        is_frame(body).then_some(Format::Amc)
    }
}

/// How many kinds of sections of an ASF there are.
fn sections(mut scanner: Scanner<'_>) -> usize {
    const NAMES: [&str; 8] = [
        ":version",
        ":name",
        ":units",
        ":documentation",
        ":root",
        ":bonedata",
        ":hierarchy",
        ":skin",
    ];
    let mut found = [false; NAMES.len()];
    while !scanner.is_done() {
        let word = scanner.word();
        for (found, name) in found.iter_mut().zip(NAMES) {
            *found |= text::is_word(word, name);
        }
        scanner.next_line();
    }
    found.into_iter().filter(|found| *found).count()
}

/// Whether the first frame of an AMC stands here: its number, and lines with a name and numbers, up to the
/// next number or the end.
fn is_frame(mut scanner: Scanner<'_>) -> bool {
    let is_count = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    if !is_count(scanner.rest_of_line()) {
        return false;
    }
    let mut bones = 0;
    loop {
        scanner.next_line();
        scanner.skip_space();
        if scanner.is_done() || is_count(scanner.clone().rest_of_line()) {
            return bones > 0;
        }
        let name = scanner.word();
        let mut numbers = 0;
        loop {
            match scanner.word_on_line() {
                [] => break,
                word if is_number(word) => numbers += 1,
                _ => return false,
            }
        }
        if is_number(name) || numbers == 0 {
            return false;
        }
        bones += 1;
    }
}

fn is_number(word: &[u8]) -> bool {
    matches!(text::number(word), Some(Number::Finite(_, n) | Number::NotFinite(n)) if n == word.len())
}

/// Whether there is a line of names as tables of dials have it, and numbers in the next one.
fn is_table(text: &[u8]) -> bool {
    let mut lines = text.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    // Programs for tables add empty columns.
    let head = lines.next().unwrap_or_default();
    let mut names = cells(head);
    while names.len() > 1 && names.last().is_some_and(|name| name.is_empty()) {
        names.pop();
    }
    let has_time = names.iter().any(|name| name.eq_ignore_ascii_case(b"time_s"));
    let of_dials = |name: &&[u8]| name.ends_with(b"_deg") || name.ends_with(b"_m");
    if !has_time && !names.iter().all(of_dials) {
        return false;
    }
    let is_cell = |cell: &&[u8]| cell.is_empty() || is_number(cell);
    lines.find(|line| !line.is_empty()).is_none_or(|row| cells(row).iter().all(is_cell))
}

/// The cells of a line, those in quotes without them.
fn cells(line: &[u8]) -> Vec<&[u8]> {
    let (mut cells, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                cells.push(&line[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    cells.push(&line[start..]);
    cells.into_iter().map(bare).collect()
}

fn bare(cell: &[u8]) -> &[u8] {
    let cell = cell.trim_ascii();
    cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\"")).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIG: FileKind = FileKind::Rig;

    #[test]
    fn kinds_are_told_by_what_such_a_file_begins_with() {
        let motion = FileKind::Motion;
        for (bytes, kind) in [
            (&b"HIERARCHY\nROOT Hips\n"[..], motion(Format::Bvh)),
            (b"# mine\r\n hierarchy\r\nroot Hips {", motion(Format::Bvh)),
            (b"MOTION\nFrames: 3\n", motion(Format::Bvh)),
            (b"# comment\n:version 1.10\n:name x\n", motion(Format::Asf)),
            (b":FULLY-SPECIFIED\n", motion(Format::Amc)),
            (b"#!OML:ASF x\n:DEGREES\n1\n", motion(Format::Amc)),
            (b"1\nroot 0 1.5 -2e1\nleg 3\n2\nroot 0 0 0\n", motion(Format::Amc)),
            (b"PathFileType\t4\t(X/Y/Z)\ta.trc\n", motion(Format::Trc)),
            (b"\xef\xbb\xbf {\n  \"condyle\": 1, \"skeleton\": {", RIG),
            (
                b"{ \"a\": [{\"b\\\"\": \"}\"}], \"joints\": {\"condyle\": {}}, \"condyle\" : 1 }",
                RIG,
            ),
            (b"{ \"title\": \"x\", \"source\": \"y\", \"joints\": {} }", FileKind::NameTable),
            (b"condylst\x01\x00\x00\x00", FileKind::Summary),
            (b"<!DOCTYPE html>\n<html>", FileKind::Page),
            (b"<!-- mine --> <html lang=\"en\">", FileKind::Page),
            (b"<?xml version=\"1.0\"?>\n<!DOCTYPE svg>\n<svg>", FileKind::Picture),
            (b"time_s,a_deg\n0,1\n", FileKind::Table),
            (b"\"a, b_deg\", c_m,\r\n0,1,\r\n", FileKind::Table),
            (b"knee.flexion_deg\n12.5\n", FileKind::Table),
            (b"ratio, Time_s\n", FileKind::Table),
        ] {
            assert_eq!(FileKind::detect(bytes), Some(kind), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn what_only_looks_a_little_like_a_kind_is_of_none() {
        for text in [
            "",
            "notes about the take\n",
            "Dear John, precious as it is, this letter\nhas commas, too\n",
            "name,height_cm\nJohn,180\n",
            "time_s, as you know, is short\nbut not,so,here\n",
            "length_m\nlong\n",
            "2024\n",
            "2024\nDear diary, today was the 5\n",
            "12\ndozen 1 2 eggs\n",
            "ROOT and branch\n",
            "ROOT Hips\n{\n",
            "HIERARCHY of needs\n",
            "MOTION pictures\n",
            ":wq\n",
            ":name is one word of it\n",
            "PathFileType is a word\n",
            "{ \"name\": \"x\", \"dependencies\": { \"condyle\": \"1\" } }",
            "{ \"condyle\": \"0.1\", \"joints\": {} }",
            "{ \"condyle\": 1 }",
            "{ \"condyle\": 1, \"joints\": \"knee\" }",
            "{ \"a\": { \"condyle\": 1, \"joints\": {} } }",
            "{ \"a\": \"\\\", \\\"condyle\\\": 1\", \"joints\": {} }",
            "{ \"title\": \"Sore\", \"joints\": {} }",
            "{ \"goals\": [] }",
            "{ \"x",
            "[1, 2]\n3",
            "[1, \"condyle\", 2]",
            "<osim>",
            "<htmlx>",
            "<note><svg></svg></note>",
            "condylst is how it begins",
            "\0\u{1},\n",
        ] {
            assert_eq!(FileKind::detect(text.as_bytes()), None, "{text:?}");
        }
    }
}
