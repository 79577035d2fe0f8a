//! From bytes to a [`Document`], which says what the file says.

use crate::formats::error::{Position, ReadError, ReadErrorKind, Warning, WarningKind};
use crate::formats::{Mode, text};

use super::MAX_MARKERS;

/// A TRC as it is written: header, names, rows. Numbers are in the file's unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Document {
    /// The path in the first line.
    pub(super) path: String,
    /// The header's fields.
    pub(super) fields: Vec<Field>,
    /// Where the line of names begins.
    pub(super) names_at: usize,
    /// The marker names, in the file's order.
    pub(super) names: Vec<Name>,
    /// The frames.
    pub(super) rows: Vec<Row>,
    /// The positions of all rows, one after the other. NaN where a coordinate is missing; what is
    /// missing at the end of a row is not there. Those past the last row's end are of no row.
    pub(super) points: Vec<[f64; 3]>,
    /// What was repaired.
    pub(super) warnings: Vec<Warning>,
}

/// A header field.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) value: String,
    /// Where the value is.
    pub(super) at: usize,
}

/// A marker's name.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    /// Which triple of the rows it belongs to.
    pub(super) slot: usize,
    pub(super) at: Position,
}

/// A frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Its number, NaN if there is none.
    pub(super) number: f64,
    /// Its time in seconds, NaN if there is none.
    pub(super) time_s: f64,
    /// Where its positions end in [`Document::points`]; they begin where the row before ends.
    pub(super) points_end: usize,
}

impl Document {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.name.eq_ignore_ascii_case(name))
    }

    /// The positions of a row.
    pub(super) fn points(&self, row: usize) -> &[[f64; 3]] {
        let start = if row == 0 { 0 } else { self.rows[row - 1].points_end };
        &self.points[start..self.rows[row].points_end]
    }

    /// A count of the header, `None` if it is missing or makes no sense.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        let text = self.field(name)?.value.as_bytes();
        match text::number(text) {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative; larger than u64 saturates"
            )]
            Some(text::Number::Finite(v, n)) if n == text.len() && v >= 0.0 && v.fract() == 0.0 => {
                Some(v as u64)
            }
            _ => None,
        }
    }
}

/// Reads the file's text.
pub(super) fn parse(bytes: &[u8], mode: Mode) -> Result<Document, ReadError> {
    let mut document = Document::default();
    let mut lines = Lines { bytes, at: 0 };
    read_header(bytes, &mut lines, &mut document)?;
    check_counts(bytes, &lines, &document, mode)?;
    read_names(bytes, &mut lines, &mut document)?;
    read_rows(bytes, lines, &mut document, mode)?;
    Ok(document)
}

/// A line without its end.
#[derive(Clone, Copy, Debug)]
struct Line {
    start: usize,
    end: usize,
    /// Whether a line end follows; the last line may have none.
    terminated: bool,
}

#[derive(Clone, Debug)]
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Lines<'_> {
    /// The next line that is not blank.
    fn next_filled(&mut self) -> Option<Line> {
        while self.at < self.bytes.len() {
            let start = self.at;
            let mut scanner = text::Scanner { bytes: self.bytes, at: start };
            let blank = scanner.at_line_end();
            scanner.next_line();
            self.at = scanner.at;
            if !blank {
                let line = &self.bytes[start..self.at];
                let ends = line.iter().rev().take_while(|b| matches!(b, b'\n' | b'\r')).count();
                return Some(Line { start, end: self.at - ends, terminated: ends > 0 });
            }
        }
        None
    }

    /// The next line that is not blank, or the error that the file ends before it.
    fn require(&mut self, within: &str) -> Result<Line, ReadError> {
        self.next_filled().ok_or_else(|| {
            let kind = ReadErrorKind::Truncated { within: within.to_owned() };
            text::error_at(self.bytes, self.bytes.len(), kind)
        })
    }
}

/// A piece of a line, without the blanks around it, and where it is.
type Cell<'a> = (usize, &'a [u8]);

/// The cells of a line: what is between its tabs.
fn cells(bytes: &[u8], line: Line) -> impl Iterator<Item = Cell<'_>> {
    let mut at = Some(line.start);
    std::iter::from_fn(move || {
        let start = at?;
        let rest = &bytes[start..line.end];
        let n = text::run(rest, |b| b != b'\t');
        at = (n < rest.len()).then_some(start + n + 1);
        let cell = text::trim_end(&rest[..n]);
        let lead = text::run(cell, text::is_space);
        Some((start + lead, &cell[lead..]))
    })
}

/// The words of a line: its cells, and of a cell with blanks within it every word. Some programs write
/// blanks where tabs should be.
fn words(bytes: &[u8], line: Line) -> impl Iterator<Item = Cell<'_>> {
    let (mut at, line) = (Some(line.start), &bytes[..line.end]);
    std::iter::from_fn(move || {
        let blank = |b| text::is_space(b) & (b != b'\t');
        let from = at?;
        let start = from + text::run(&line[from..], blank);
        let word = &line[start..start + text::run(&line[start..], |b| !text::is_space(b))];
        let end = start + word.len();
        let next = end + text::run(&line[end..], blank);
        at = line.get(next).map(|b| next + usize::from(*b == b'\t'));
        Some((if word.is_empty() { from } else { start }, word))
    })
}

/// Those that are not empty.
fn filled<'a>(cells: impl Iterator<Item = Cell<'a>>) -> impl Iterator<Item = Cell<'a>> {
    cells.filter(|(_, cell)| !cell.is_empty())
}

fn expected(bytes: &[u8], at: usize, what: &str) -> ReadError {
    text::Scanner { bytes, at }.expected(what)
}

fn read_header(
    bytes: &[u8],
    lines: &mut Lines<'_>,
    document: &mut Document,
) -> Result<(), ReadError> {
    let line = lines.require("the header")?;
    let mut first = filled(words(bytes, line));
    match first.next() {
        Some((_, word)) if text::is_word(word, "PathFileType") => {}
        _ => return Err(expected(bytes, line.start, "PathFileType and its version")),
    }
    let mut first = first.skip(1);
    if let Some((at, axes)) = first.next() {
        let letters: Vec<u8> = axes.iter().filter(|b| b.is_ascii_alphabetic()).copied().collect();
        if axes.contains(&b'/') && !text::is_word(&letters, "XYZ") {
            let what =
                format!("the columns are {}, but only (X/Y/Z) can be read", text::shortened(axes));
            return Err(text::error_at(bytes, at, ReadErrorKind::BadValue { what }));
        }
    }
    // A path may have blanks.
    let path = first.next().and_then(|(start, _)| cells(bytes, Line { start, ..line }).next());
    document.path = path.map_or_else(String::new, |(_, p)| text::decode(p).into_owned());

    let keys_line = lines.require("the header")?;
    if !words(bytes, keys_line).any(|(_, key)| text::is_word(key, "DataRate")) {
        return Err(expected(bytes, keys_line.start, "the header fields DataRate, CameraRate, …"));
    }
    let values_line = lines.require("the header")?;
    for ((_, name), (at, value)) in fields(bytes, keys_line, values_line)? {
        document.fields.push(Field {
            name: text::decode(name).into_owned(),
            value: text::decode(value).into_owned(),
            at,
        });
    }
    Ok(())
}

/// The most fields that a header may have. Usual are eight.
const MAX_FIELDS: usize = 1000;

/// The names of the header's fields, each with its value.
fn fields(bytes: &[u8], keys: Line, values: Line) -> Result<Vec<(Cell<'_>, Cell<'_>)>, ReadError> {
    fn some<'a>(cells: impl Iterator<Item = Cell<'a>>) -> Vec<Cell<'a>> {
        filled(cells).take(MAX_FIELDS + 1).collect()
    }
    let names = some(words(bytes, keys));
    if let Some((at, _)) = names.get(MAX_FIELDS) {
        let kind = ReadErrorKind::TooMany { what: "header fields", limit: MAX_FIELDS as u64 };
        return Err(text::error_at(bytes, *at, kind));
    }
    let one_in_each_cell = some(cells(bytes, keys)).len() == names.len();
    let (in_cells, in_words) = (some(cells(bytes, values)), some(words(bytes, values)));
    let none = (values.end, &bytes[values.end..values.end]);
    // Tabs may be doubled in either line, and blanks may stand for them: if each name has a value, that
    // does not matter.
    let found = if one_in_each_cell && in_cells.len() == names.len() {
        in_cells
    } else if in_words.len() == names.len() || !one_in_each_cell {
        in_words
    } else {
        let columns = cells(bytes, values).chain(std::iter::repeat(none));
        let named = cells(bytes, keys).zip(columns).filter(|((_, key), _)| !key.is_empty());
        named.map(|(_, value)| value).collect()
    };
    Ok(names.into_iter().zip(found.into_iter().chain(std::iter::repeat(none))).collect())
}

/// Refuses counts that the rest of the file has no room for. Nothing is allocated by them; but a
/// file that says so is cut off or not what it seems. Lenient reading takes what is there.
fn check_counts(
    bytes: &[u8],
    lines: &Lines<'_>,
    document: &Document,
    mode: Mode,
) -> Result<(), ReadError> {
    if mode == Mode::Lenient {
        return Ok(());
    }
    let left = (bytes.len() - lines.at) as u64;
    // A frame has a number and a line end, which the last may lack; a marker has at least a tab.
    for (name, what, possible) in
        [("NumFrames", "frames", left.div_ceil(2)), ("NumMarkers", "markers", left)]
    {
        if let (Some(declared), Some(field)) = (document.count(name), document.field(name))
            && declared > possible
        {
            let kind = ReadErrorKind::Declared { what, declared, possible };
            return Err(text::error_at(bytes, field.at, kind));
        }
    }
    Ok(())
}

/// Whether the names are apart by blanks. A name may have blanks within it, so that is so only where
/// tabs do not lead to the headings, or to another number of names than the header says.
fn apart_by_blanks(bytes: &[u8], line: Line, document: &Document) -> bool {
    let by_tabs = count_headed(cells(bytes, line));
    let by_blanks = count_headed(words(bytes, line));
    let declared = document.count("NumMarkers");
    by_blanks.is_some() && by_tabs != by_blanks && (by_tabs.is_none() || by_blanks == declared)
}

/// How many cells follow the headings of the frame's number and time, if those are there.
fn count_headed<'a>(cells: impl Iterator<Item = Cell<'a>>) -> Option<u64> {
    let mut cells = filled(cells);
    for heading in ["Frame", "Time"] {
        cells.next().filter(|(_, cell)| begins_with(cell, heading))?;
    }
    Some(cells.take(MAX_MARKERS + 1).count() as u64)
}

fn begins_with(cell: &[u8], word: &str) -> bool {
    cell.get(..word.len()).is_some_and(|head| text::is_word(head, word))
}

fn read_names(
    bytes: &[u8],
    lines: &mut Lines<'_>,
    document: &mut Document,
) -> Result<(), ReadError> {
    let line = lines.require("the header")?;
    document.names_at = line.start;
    let all: Box<dyn Iterator<Item = Cell<'_>>> = match apart_by_blanks(bytes, line, document) {
        true => Box::new(words(bytes, line)),
        false => Box::new(cells(bytes, line)),
    };
    let mut columns = all.enumerate().filter(|(_, (_, cell))| !cell.is_empty());
    match columns.next() {
        Some((_, (_, cell))) if begins_with(cell, "Frame") => {}
        _ => return Err(expected(bytes, line.start, "the column headings Frame# and Time")),
    }
    let first_column = match columns.next() {
        Some((column, (_, cell))) if begins_with(cell, "Time") => column + 1,
        Some((_, (at, _))) => return Err(expected(bytes, at, "the column heading Time")),
        None => return Err(expected(bytes, line.end, "the column heading Time")),
    };
    // Counted along the line: counting from the start for each of many names takes too long.
    let Position::Text { line: line_number, .. } = text::position(bytes, line.start) else {
        unreachable!("positions in text are lines and columns")
    };
    let is_utf8 = str::from_utf8(&bytes[line.start..line.end]).is_ok();
    let (mut counted, mut column_number) = (line.start, 1_u32);
    let mut over_triples = true;
    for (column, (at, cell)) in columns {
        if document.names.len() == MAX_MARKERS {
            let kind = ReadErrorKind::TooMany { what: "markers", limit: MAX_MARKERS as u64 };
            return Err(text::error_at(bytes, at, kind));
        }
        let is_character = |b: &&u8| !is_utf8 || (**b & 0xC0) != 0x80;
        let characters = bytes[counted..at].iter().filter(is_character).count();
        column_number = column_number.saturating_add(u32::try_from(characters).unwrap_or(u32::MAX));
        counted = at;
        over_triples &= (column - first_column).is_multiple_of(3);
        document.names.push(Name {
            text: text::decode(cell).into_owned(),
            slot: (column - first_column) / 3,
            at: Position::Text { line: line_number, column: column_number },
        });
    }
    if !over_triples {
        for (slot, name) in document.names.iter_mut().enumerate() {
            name.slot = slot;
        }
    }
    // The row of axes, X1 Y1 Z1 …, is missing in some files.
    let mut ahead = lines.clone();
    if let Some(line) = ahead.next_filled()
        && let Some((_, word)) = cells(bytes, line).find(|(_, cell)| !cell.is_empty())
        && matches!(word[0], b'X' | b'x')
    {
        *lines = ahead;
    }
    Ok(())
}

fn read_rows(
    bytes: &[u8],
    mut lines: Lines<'_>,
    document: &mut Document,
    mode: Mode,
) -> Result<(), ReadError> {
    // Where names end; positions beyond have no name and come and go.
    let named = document.names.iter().map(|n| n.slot + 1).max().unwrap_or(0);
    let mut odd = Oddities::default();
    while let Some(line) = lines.next_filled() {
        // Blank lines after the last row do not make it another.
        let is_last = lines.clone().next_filled().is_none();
        match read_row(bytes, line, is_last, named, document) {
            Ok(half) => odd.note(document, line.start, half),
            Err(error) if mode == Mode::Lenient => {
                let kind = WarningKind::Dropped {
                    bytes: (bytes.len() - line.start) as u64,
                    why: error.kind().to_string(),
                };
                let at = error.position().unwrap_or_else(|| text::position(bytes, line.start));
                document.warnings.push(Warning::at(kind, at));
                break;
            }
            Err(error) => return Err(error),
        }
    }
    odd.warn(bytes, document);
    Ok(())
}

/// What is odd about some rows: where it is first and in how many.
#[derive(Default)]
struct Oddities {
    unnumbered: Option<(usize, u64)>,
    untimed: Option<(usize, u64)>,
    half: Option<(usize, u64)>,
    jump: Option<(usize, f64, f64)>,
}

impl Oddities {
    /// Looks at the row that was read last, at byte `at`.
    fn note(&mut self, document: &Document, at: usize, half: Option<usize>) {
        fn count(oddity: &mut Option<(usize, u64)>, at: usize) {
            oddity.get_or_insert((at, 0)).1 += 1;
        }
        let (row, before) = match document.rows[..] {
            [.., before, row] => (row, Some(before)),
            [row] => (row, None),
            [] => return,
        };
        if row.number.is_nan() {
            count(&mut self.unnumbered, at);
        }
        if row.time_s.is_nan() {
            count(&mut self.untimed, at);
        }
        if let Some(at) = half {
            count(&mut self.half, at);
        }
        if let Some(before) = before {
            let (expected, found) = (before.number + 1.0, row.number);
            // Rows without a number were counted above.
            if (expected - found).abs() > 0.0 {
                self.jump.get_or_insert((at, expected, found));
            }
        }
    }

    fn warn(self, bytes: &[u8], document: &mut Document) {
        let mut warn = |at, kind| {
            document.warnings.push(Warning::at(kind, text::position(bytes, at)));
        };
        for (oddity, what) in [
            (self.unnumbered, "have no number; they are taken in the order of the file"),
            (self.untimed, "have no time; it was filled in from the frame rate"),
            (self.half, "have positions of one or two coordinates; taken as missing"),
        ] {
            if let Some((at, frames)) = oddity {
                let what = format!("{frames} frames {what}");
                warn(at, WarningKind::Repaired { what });
            }
        }
        if let Some((at, expected, found)) = self.jump {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole numbers; negative ones become 0, large ones saturate"
            )]
            let count = |v: f64| v as u64;
            let kind = WarningKind::FrameNumbers { expected: count(expected), found: count(found) };
            warn(at, kind);
        }
    }
}

/// Reads a row. Gives the place of the first position that has only one or two coordinates.
fn read_row(
    bytes: &[u8],
    line: Line,
    is_last: bool,
    named: usize,
    document: &mut Document,
) -> Result<Option<usize>, ReadError> {
    let points = document.points.len();
    let read = read_values(bytes, line, cells(bytes, line), is_last, named, document);
    if read.is_err() {
        // Apart by blanks? A blank that got into a number must not move all that follow: where there are
        // tabs, too, every value has to be there.
        let tabs = bytes[line.start..line.end].contains(&b'\t');
        let found = || filled(words(bytes, line)).take(3 * named + 3).count();
        let blanks = cells(bytes, line).any(|(_, cell)| cell.iter().any(|b| text::is_space(*b)));
        if blanks && (!tabs || found() == 3 * named + 2) {
            document.points.truncate(points);
            return read_values(bytes, line, words(bytes, line), is_last, named, document);
        }
    }
    read
}

/// Reads the values of a row.
fn read_values<'a>(
    bytes: &'a [u8],
    line: Line,
    mut row: impl Iterator<Item = Cell<'a>>,
    is_last: bool,
    named: usize,
    document: &mut Document,
) -> Result<Option<usize>, ReadError> {
    let frame = document.rows.len();
    let truncated = |at: usize| {
        let kind = ReadErrorKind::Truncated { within: format!("frame {frame}") };
        text::error_at(bytes, at, kind)
    };
    // A last cell without a line end may be half a number.
    let broken_off = |end: usize| end == line.end && !line.terminated;
    let value = |(at, cell): (usize, &[u8])| match coordinate(cell) {
        Some(value) => Ok(value),
        None if broken_off(at + cell.len()) => Err(truncated(at)),
        None => {
            let text = text::shortened(cell);
            let kind = match text::number(cell) {
                Some(text::Number::NotFinite(n)) if n == cell.len() => {
                    ReadErrorKind::NotFinite { text }
                }
                _ => ReadErrorKind::BadNumber { text },
            };
            Err(text::error_at(bytes, at, kind))
        }
    };
    let number_cell = row.next().unwrap_or((line.start, &[]));
    let number = value(number_cell)?;
    if number.fract() != 0.0 && !number.is_nan() {
        let what = format!("the frame number {number} is not a whole number");
        return Err(text::error_at(bytes, number_cell.0, ReadErrorKind::BadValue { what }));
    }
    let time_s = match row.next() {
        Some(cell) => value(cell)?,
        None => f64::NAN,
    };

    let start = document.points.len();
    // How many of its points are kept: missing ones at the end are not.
    let mut filled = start;
    let mut half = None;
    while let Some(x) = row.next() {
        let (y, z) = (row.next(), row.next());
        let end = z.or(y).unwrap_or(x);
        let mut point = [value(x)?, f64::NAN, f64::NAN];
        for (coordinate, cell) in point[1..].iter_mut().zip([y, z]) {
            if let Some(cell) = cell {
                *coordinate = value(cell)?;
            }
        }
        let given = point.iter().filter(|v| !v.is_nan()).count();
        document.points.push(point);
        if given > 0 {
            filled = document.points.len();
        }
        if given == 1 || given == 2 {
            let ends_line = end.0 + end.1.len() >= line.end;
            let is_cut = z.is_none() || (ends_line && !line.terminated && end.1.is_empty());
            if is_cut && is_last {
                return Err(truncated(line.end));
            }
            if z.is_none() {
                let what = format!(
                    "frame {frame} ends within a position: {} values, which are no triples",
                    3 * (document.points.len() - start) - if y.is_none() { 2 } else { 1 }
                );
                return Err(text::error_at(bytes, x.0, ReadErrorKind::BadValue { what }));
            }
            half.get_or_insert(x.0);
        }
    }
    document.points.truncate(filled);
    // A last line without a line end that lacks what the row before has: the file was cut off.
    if is_last && !line.terminated && frame > 0 {
        let seen = |points: &[[f64; 3]]| {
            let points = &points[..points.len().min(named)];
            points.iter().rposition(|p| !p[0].is_nan()).map_or(0, |i| i + 1)
        };
        let tabs = bytes[line.start..line.end].iter().filter(|&&b| b == b'\t').count();
        let has_all_cells = tabs > 3 * named;
        let shorter = seen(&document.points[start..]) < seen(document.points(frame - 1));
        let lost_time = time_s.is_nan() && !document.rows[frame - 1].time_s.is_nan();
        if (shorter && !has_all_cells) || lost_time {
            return Err(truncated(line.end));
        }
    }
    document.rows.push(Row { number, time_s, points_end: filled });
    Ok(half)
}

/// The number in a cell, NaN if it is missing; `None` if the cell holds something else.
fn coordinate(cell: &[u8]) -> Option<f64> {
    match text::number(cell) {
        _ if cell.is_empty() => Some(f64::NAN),
        Some(text::Number::Finite(value, n)) if n == cell.len() => Some(value),
        Some(text::Number::NotFinite(_)) if is_nan(cell) => Some(f64::NAN),
        _ => None,
    }
}

/// `NaN` as C libraries print it: `nan`, `-nan(ind)`, `NAN(0x7f)`, `1.#QNAN`, `-1.#IND00`.
fn is_nan(cell: &[u8]) -> bool {
    let text = cell.strip_prefix(b"-").or_else(|| cell.strip_prefix(b"+")).unwrap_or(cell);
    let text = text.to_ascii_lowercase();
    if let Some(hash) = text.iter().position(|&b| b == b'#') {
        let word: &[u8] = &text[hash + 1..];
        return [&b"qnan"[..], b"snan", b"nan", b"ind"].iter().any(|nan| {
            word.strip_prefix(*nan).is_some_and(|rest| rest.iter().all(u8::is_ascii_digit))
        });
    }
    let rest = [&b"qnan"[..], b"snan", b"nan"].iter().find_map(|nan| text.strip_prefix(*nan));
    rest.is_some_and(|rest| rest.is_empty() || (rest[0] == b'(' && rest.ends_with(b")")))
}
