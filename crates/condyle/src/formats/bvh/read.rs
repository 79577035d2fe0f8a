//! From bytes to a [`Document`].

use super::{BvhEndSite, BvhJoint, Document, Hierarchy, rows};
use crate::formats::error::{ReadError, ReadErrorKind, WarningKind};
use crate::formats::far::{FarTurn, far_turn};
use crate::formats::rows::Table;
use crate::formats::text::{
    Number, Scanner, Warnings, count, decode, error_at, is_space, is_word, number, shortened,
};
use crate::formats::{Mode, ReadOptions};
use crate::motion::Columns;
use crate::skeleton::{Dof, MAX_JOINTS};

/// What is assumed where a file's frame time makes no sense.
const ASSUMED_FRAME_TIME_S: f64 = 1.0 / 30.0;

/// Declared counts up to this are taken for honest mistakes, however short the file is.
const MIN_ABSURD: u64 = 1000;

/// The most frames of a file whose joints have no channels at all.
const MAX_STILL_FRAMES: u64 = 1000;

/// Where in the file each joint begins, as byte offsets, in the order of the joints.
pub(super) type Sites = Vec<usize>;

/// Reads a whole BVH.
pub(super) fn document(
    bytes: &[u8],
    options: &ReadOptions,
    warnings: &mut Warnings,
) -> Result<(Document, Sites), ReadError> {
    let mut scanner = Scanner::new(bytes);
    let (hierarchy, sites) = hierarchy(&mut scanner, warnings)?;
    let header = motion_header(&mut scanner, warnings)?;
    let channels = hierarchy.channel_count();
    let usual = header.frames.and_then(|frames| {
        let frames = usize::try_from(frames).ok()?;
        rows::usual_rows(scanner.rest(), channels, frames, options.threads)
    });
    let data_at = scanner.at;
    let table = match usual {
        Some(table) => table,
        None => Table::of(careful_rows(&mut scanner, channels, &header, options.mode, warnings)?),
    };
    warn_of_far_turns(bytes, data_at, &hierarchy, &table, warnings);
    let document = Document {
        hierarchy,
        declared_frames: header.frames,
        frame_time_s: header.frame_time_s,
        motion: table.columns,
    };
    Ok((document, sites))
}

/// Warns of angles that nobody means, at the first one's place.
fn warn_of_far_turns(
    bytes: &[u8],
    data_at: usize,
    hierarchy: &Hierarchy,
    table: &Table,
    warnings: &mut Warnings,
) {
    let dofs = hierarchy.joints.iter().flat_map(|joint| &joint.channels);
    let turns = dofs.enumerate().filter(|(_, dof)| matches!(dof, Dof::Rx | Dof::Ry | Dof::Rz));
    let found = far_turn(table, turns.map(|(column, _)| column), 1.0);
    let Some(FarTurn { frame, column, kind }) = found else { return };
    // Values follow each other frame by frame, whatever the line ends.
    let mut scanner = Scanner::new(bytes);
    scanner.at = data_at;
    for _ in 0..frame * table.columns.columns() + column {
        scanner.skip_space();
        if scanner.number_on_line("a number", b"").is_err() {
            break;
        }
    }
    scanner.skip_space();
    warnings.at(scanner.at, kind);
}

/// A joint being read.
struct Open {
    /// Index of the joint.
    joint: usize,
    /// How far its line is indented, in bytes.
    indent: usize,
    has_offset: bool,
    has_channels: bool,
}

fn hierarchy(
    scanner: &mut Scanner<'_>,
    warnings: &mut Warnings,
) -> Result<(Hierarchy, Sites), ReadError> {
    let mut joints: Vec<BvhJoint> = Vec::new();
    let mut sites = Vec::new();
    let mut stack: Vec<Open> = Vec::new();
    let mut brackets = Brackets::default();
    loop {
        scanner.skip_space();
        let start = scanner.at;
        if scanner.peek() == Some(b'}') {
            scanner.at += 1;
            if let Some(open) = stack.last()
                && let Some(indent) = indent_of(scanner.bytes, start)
            {
                let odd = indent != open.indent;
                brackets.note(open, odd);
            }
            match stack.pop() {
                Some(open) if !open.has_offset => {
                    let name = &joints[open.joint].name;
                    let what = format!("joint {name:?} has no OFFSET; zero was assumed");
                    warnings.at(start, repaired(what));
                }
                Some(_) => {}
                None => {
                    warnings.at(start, repaired("a } closes nothing and was ignored".to_owned()));
                }
            }
            continue;
        }
        let word = scanner.word_before(b"{}");
        if scanner.peek() == Some(b'{') && word.is_empty() {
            return Err(scanner.expected("a name before {"));
        }
        if word.is_empty() || is_word(word, "MOTION") {
            if let Some(open) = stack.last() {
                let name = &joints[open.joint].name;
                if word.is_empty() {
                    let within = format!("joint {name:?}");
                    return Err(scanner.error(ReadErrorKind::Truncated { within }));
                }
                if let Some(what) = brackets.fault(&joints) {
                    let at = brackets.first_odd.map_or(start, |joint| sites[joint]);
                    return Err(error_at(scanner.bytes, at, ReadErrorKind::Hierarchy { what }));
                }
                warnings.at(start, repaired(format!("joint {name:?} is not closed by a }}")));
            }
            if joints.is_empty() {
                let what = "the HIERARCHY with a ROOT".to_owned();
                return Err(error_at(scanner.bytes, start, ReadErrorKind::Missing { what }));
            }
            if word.is_empty() {
                scanner.at = scanner.bytes.len();
            } else {
                scanner.at = start;
            }
            return Ok((Hierarchy { joints }, sites));
        } else if is_word(word, "HIERARCHY") {
            continue;
        } else if is_word(word, "ROOT") || is_word(word, "JOINT") {
            if joints.len() >= MAX_JOINTS {
                let kind = ReadErrorKind::TooMany { what: "joints", limit: MAX_JOINTS as u64 };
                return Err(error_at(scanner.bytes, start, kind));
            }
            let name = block_name(scanner)?;
            let parent = stack.last().map(|open| open.joint);
            if is_word(word, "ROOT") && parent.is_some() {
                warnings
                    .at(start, repaired(format!("ROOT {name:?} within a joint was read as JOINT")));
            } else if is_word(word, "JOINT") && parent.is_none() {
                warnings
                    .at(start, repaired(format!("JOINT {name:?} outside a ROOT was read as ROOT")));
            }
            let indent = indent_of(scanner.bytes, start).unwrap_or(0);
            brackets.indented |= stack.last().is_some_and(|above| above.indent < indent);
            stack.push(Open {
                joint: joints.len(),
                indent,
                has_offset: false,
                has_channels: false,
            });
            sites.push(start);
            joints.push(BvhJoint { name, parent, ..BvhJoint::default() });
        } else if let Some(open) = stack.last_mut() {
            let joint = &mut joints[open.joint];
            if is_word(word, "OFFSET") {
                refuse_second(scanner, start, &mut open.has_offset, "OFFSET", &joint.name)?;
                joint.offset = triple(scanner)?;
            } else if is_word(word, "CHANNELS") {
                refuse_second(scanner, start, &mut open.has_channels, "CHANNELS", &joint.name)?;
                joint.channels = channels(scanner, warnings)?;
            } else if is_word(word, "End") || is_word(word, "EndSite") {
                joint.end_sites.push(end_site(scanner, is_word(word, "End"))?);
            } else {
                scanner.at = start;
                return Err(scanner.expected("JOINT, End Site, OFFSET, CHANNELS or }"));
            }
        } else {
            scanner.at = start;
            return Err(scanner.expected(if joints.is_empty() {
                "ROOT"
            } else {
                "MOTION or ROOT"
            }));
        }
    }
}

/// What indentation says about the braces. A brace that is missing somewhere in the middle hangs
/// joints below the wrong parent, and nothing but the indentation tells where it is missing.
#[derive(Default)]
struct Brackets {
    /// Whether joints are indented deeper than their parents at all.
    indented: bool,
    /// The first joint that was closed by a } that is not below it.
    first_odd: Option<usize>,
}

impl Brackets {
    fn note(&mut self, open: &Open, odd: bool) {
        if odd && self.first_odd.is_none() {
            self.first_odd = Some(open.joint);
        }
    }

    /// Why missing braces cannot be filled in at the end, if they cannot.
    fn fault(&self, joints: &[BvhJoint]) -> Option<String> {
        match self.first_odd {
            Some(joint) => {
                let name = &joints[joint].name;
                Some(format!("a }} is missing; by the indentation, joint {name:?} is not closed"))
            }
            None if self.indented => None,
            None => Some("a } is missing somewhere before MOTION".to_owned()),
        }
    }
}

/// How far a place is indented, if nothing but blanks is before it on its line.
fn indent_of(bytes: &[u8], at: usize) -> Option<usize> {
    // Deeper than any indentation; a long line is not searched for its beginning again and again.
    const DEEPEST: usize = 4096;
    let before = &bytes[at.saturating_sub(DEEPEST)..at];
    let line = before.iter().rposition(|b| *b == b'\n' || *b == b'\r').map_or(0, |i| i + 1);
    before[line..].iter().all(|b| is_space(*b)).then_some(before.len() - line)
}

fn refuse_second(
    scanner: &Scanner<'_>,
    at: usize,
    seen: &mut bool,
    what: &str,
    joint: &str,
) -> Result<(), ReadError> {
    if std::mem::replace(seen, true) {
        let what = format!("{what} of joint {joint:?}");
        return Err(error_at(scanner.bytes, at, ReadErrorKind::Duplicate { what, first: None }));
    }
    Ok(())
}

/// A name up to the end of the line or a brace, then the brace, on this line or a later one.
fn block_name(scanner: &mut Scanner<'_>) -> Result<String, ReadError> {
    let line = scanner.clone().rest_of_line();
    scanner.skip_blanks();
    let n = line.iter().position(|&b| b == b'{').unwrap_or(line.len());
    scanner.at += n;
    let mut name = &line[..n];
    while name.last().is_some_and(|&b| is_space(b)) {
        name = &name[..name.len() - 1];
    }
    scanner.skip_space();
    if scanner.peek() != Some(b'{') {
        return Err(scanner.expected("{"));
    }
    scanner.at += 1;
    Ok(decode(name).into_owned())
}

fn triple(scanner: &mut Scanner<'_>) -> Result<[f64; 3], ReadError> {
    let mut out = [0.0; 3];
    for value in &mut out {
        *value = scanner.number_on_line("three numbers after OFFSET", b"}")?;
    }
    Ok(out)
}

fn end_site(scanner: &mut Scanner<'_>, two_words: bool) -> Result<BvhEndSite, ReadError> {
    if two_words {
        let start = scanner.at;
        if scanner.at_line_end() || !is_word(scanner.word_before(b"{}"), "Site") {
            scanner.at = start;
        }
    }
    let name = block_name(scanner)?;
    let mut site = BvhEndSite { name: (!name.is_empty()).then_some(name), offset: [0.0; 3] };
    loop {
        scanner.skip_space();
        let start = scanner.at;
        if scanner.peek() == Some(b'}') {
            scanner.at += 1;
            return Ok(site);
        }
        let word = scanner.word_before(b"{}");
        if is_word(word, "OFFSET") {
            site.offset = triple(scanner)?;
        } else if is_word(word, "CHANNELS") && is_word(scanner.word_on_line(), "0") {
            // Some exporters say so explicitly.
        } else if word.is_empty() && scanner.is_done() {
            let within = "an End Site".to_owned();
            return Err(scanner.error(ReadErrorKind::Truncated { within }));
        } else {
            scanner.at = start;
            return Err(scanner.expected("OFFSET or } within an End Site"));
        }
    }
}

fn channels(scanner: &mut Scanner<'_>, warnings: &mut Warnings) -> Result<Vec<Dof>, ReadError> {
    scanner.skip_blanks();
    let count_at = scanner.at;
    let declared = match number(scanner.word_on_line()) {
        Some(Number::Finite(n, _)) if n >= 0.0 && n.fract() == 0.0 && n < 1e9 => n,
        _ => {
            scanner.at = count_at;
            return Err(scanner.expected("the number of channels"));
        }
    };
    let mut dofs = Vec::new();
    // The names may run over several lines: they end where a word is no channel's name.
    loop {
        let mut ahead = scanner.clone();
        #[allow(clippy::cast_precision_loss, reason = "declared is below 1e9")]
        let more = (dofs.len() as f64) < declared;
        let word = if more || !ahead.at_line_end() { ahead.word_before(b"{}") } else { &[] };
        let Some(dof) = channel(word) else {
            ahead.skip_blanks();
            let at_end = word.is_empty() || is_keyword(word);
            if at_end {
                break;
            }
            scanner.skip_space();
            if ahead.is_done() {
                let within = "the names of channels".to_owned();
                return Err(scanner.error(ReadErrorKind::Truncated { within }));
            }
            return Err(scanner.expected("a channel such as Xposition or Zrotation"));
        };
        if dof.translation_axis().is_some() && dofs.contains(&dof) {
            scanner.skip_space();
            let what = format!("the channel {:?}", shortened(word));
            return Err(scanner.error(ReadErrorKind::Duplicate { what, first: None }));
        }
        dofs.push(dof);
        scanner.at = ahead.at;
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 0 to 1e9"
    )]
    let declared = declared as u64;
    if dofs.len() as u64 != declared {
        let kind =
            WarningKind::Count { what: "channels".to_owned(), declared, found: dofs.len() as u64 };
        warnings.at(count_at, kind);
    }
    Ok(dofs)
}

fn is_keyword(word: &[u8]) -> bool {
    ["JOINT", "ROOT", "End", "EndSite", "OFFSET", "MOTION", "CHANNELS"]
        .iter()
        .any(|k| is_word(word, k))
}

fn channel(word: &[u8]) -> Option<Dof> {
    let axis = match word.first()?.to_ascii_lowercase() {
        b'x' => 0,
        b'y' => 1,
        b'z' => 2,
        _ => return None,
    };
    if is_word(&word[1..], "rotation") {
        Some(Dof::rotation(axis))
    } else if is_word(&word[1..], "position") {
        Some(Dof::translation(axis))
    } else {
        None
    }
}

/// What stands between MOTION and the rows.
struct MotionHeader {
    frames: Option<u64>,
    /// Where the number of frames stands.
    frames_at: usize,
    frame_time_s: f64,
    /// Whether there is a MOTION section at all.
    present: bool,
}

fn motion_header(
    scanner: &mut Scanner<'_>,
    warnings: &mut Warnings,
) -> Result<MotionHeader, ReadError> {
    let mut header = MotionHeader {
        frames: None,
        frames_at: scanner.at,
        frame_time_s: ASSUMED_FRAME_TIME_S,
        present: !scanner.is_done(),
    };
    if !header.present {
        return Ok(header);
    }
    let word = scanner.word_before(b"{}");
    debug_assert!(is_word(word, "MOTION"), "the hierarchy ends at MOTION");
    let motion_at = scanner.at;
    let mut frame_time_seen = false;
    loop {
        scanner.skip_space();
        let start = scanner.at;
        let line = scanner.clone().rest_of_line();
        if let Some(value) = after_label(line, &["Frames"]) {
            header.frames_at = start;
            header.frames = Some(frame_count(value).ok_or_else(|| {
                let text = shortened(value);
                let what = format!("the number of frames {text:?} is not a whole number");
                error_at(scanner.bytes, start, ReadErrorKind::BadValue { what })
            })?);
        } else if let Some(value) =
            after_label(line, &["Frame", "Time"]).or_else(|| after_label(line, &["FrameTime"]))
        {
            frame_time_seen = true;
            match number(value) {
                Some(Number::Finite(t, n))
                    if n == value.len()
                        && crate::motion::FrameRate::from_frame_time(t).is_some() =>
                {
                    header.frame_time_s = t;
                }
                None if !value.is_empty() => {
                    let text = shortened(value);
                    return Err(error_at(scanner.bytes, start, ReadErrorKind::BadNumber { text }));
                }
                Some(Number::Finite(_, n)) if n < value.len() => {
                    let text = shortened(value);
                    return Err(error_at(scanner.bytes, start, ReadErrorKind::BadNumber { text }));
                }
                _ => {
                    let kind = WarningKind::FrameTime {
                        text: shortened(value),
                        assumed_s: ASSUMED_FRAME_TIME_S,
                    };
                    warnings.at(start, kind);
                }
            }
        } else {
            break;
        }
        scanner.next_line();
    }
    if !frame_time_seen {
        let kind = WarningKind::FrameTime { text: String::new(), assumed_s: ASSUMED_FRAME_TIME_S };
        warnings.at(motion_at, kind);
    }
    Ok(header)
}

/// What follows a label made of these words and a colon; any blanks between, the colon optional.
fn after_label<'a>(line: &'a [u8], words: &[&str]) -> Option<&'a [u8]> {
    let mut rest = line;
    for word in words {
        let n = word.len();
        if rest.len() < n || !is_word(&rest[..n], word) {
            return None;
        }
        rest = rest[n..].trim_ascii_start();
    }
    match rest.strip_prefix(b":") {
        Some(value) => Some(value.trim_ascii()),
        // Without a colon it must not swallow a word that merely begins like the label.
        None => rest.first().is_none_or(|b| !b.is_ascii_alphabetic()).then_some(rest.trim_ascii()),
    }
}

fn frame_count(text: &[u8]) -> Option<u64> {
    match number(text)? {
        Number::Finite(n, length)
            if length == text.len() && n >= 0.0 && n.fract() == 0.0 && n <= 1e18 =>
        {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a whole number from 0 to 1e18"
            )]
            Some(n as u64)
        }
        _ => None,
    }
}

/// The rows of motion into columns.
fn careful_rows(
    scanner: &mut Scanner<'_>,
    channels: usize,
    header: &MotionHeader,
    mode: Mode,
    warnings: &mut Warnings,
) -> Result<Columns, ReadError> {
    let bytes = scanner.bytes;
    let data = scanner.rest();
    // The shortest row has one digit per value and one byte between them.
    let shortest = (2 * channels).max(2) as u64 - 1;
    let possible = (data.len() as u64 + 1) / (shortest + 1);
    // A count that is off is repaired; one that is out of all proportion says that most of the file
    // is missing, or that the number is nonsense.
    let absurd = |declared: u64, possible: u64| declared > MIN_ABSURD && declared / 10 > possible;
    // Frames without values take no bytes: then only nonsense is refused.
    let most = if channels == 0 { MAX_STILL_FRAMES } else { possible };
    if let Some(declared) = header.frames
        && absurd(declared, most)
        && mode != Mode::Lenient
    {
        let kind = ReadErrorKind::Declared { what: "frames", declared, possible: most };
        return Err(error_at(bytes, header.frames_at, kind));
    }
    if channels == 0 {
        let declared = header.frames.unwrap_or(0);
        let frames = declared.min(MAX_STILL_FRAMES);
        if frames < declared {
            warnings.at(header.frames_at, WarningKind::FrameCount { declared, found: frames });
        }
        return Ok(Columns::zeros(0, usize::try_from(frames).unwrap_or(0)));
    }
    let room = possible.min(count_lines(data));
    let mut columns = Columns::zeros(channels, usize::try_from(room).unwrap_or(usize::MAX));
    let start = scanner.at;
    let mut frames = 0_usize;
    loop {
        scanner.skip_space();
        if scanner.is_done() {
            break;
        }
        let row = scanner.at;
        let found = match parse_row(scanner, &mut columns, frames) {
            Ok(found) => found,
            Err(_) if header.frames == Some(frames as u64) && !starts_number(&bytes[row..]) => {
                // Everything that was promised is there; what follows is something else.
                let what = format!(
                    "{} bytes after the last frame are no motion and were left out",
                    bytes.len() - row
                );
                warnings.at(row, repaired(what));
                break;
            }
            Err(error) if mode == Mode::Lenient => {
                warnings.at(row, dropped(bytes, row, &error));
                break;
            }
            Err(error) => return Err(error),
        };
        if found != channels {
            if let Some(stream) = wrapped(&bytes[start..], channels, header.frames) {
                warnings.at(row, WarningKind::WrappedRows);
                return Ok(stream);
            }
            let kind = ReadErrorKind::RowLength { frame: frames as u64, found, expected: channels };
            let error = error_at(bytes, row, kind);
            if mode != Mode::Lenient {
                return Err(error);
            }
            warnings.at(row, dropped(bytes, row, &error));
            break;
        }
        frames += 1;
    }
    if let Some(declared) = header.frames
        && declared != frames as u64
    {
        let kind = WarningKind::FrameCount { declared, found: frames as u64 };
        warnings.at(header.frames_at, kind);
    }
    Ok(columns.truncated(frames))
}

fn dropped(bytes: &[u8], from: usize, error: &ReadError) -> WarningKind {
    WarningKind::Dropped { bytes: (bytes.len() - from) as u64, why: error.kind().to_string() }
}

fn repaired(what: String) -> WarningKind {
    WarningKind::Repaired { what }
}

/// An upper bound on the number of rows.
fn count_lines(data: &[u8]) -> u64 {
    count(data, |b| (b == b'\n') | (b == b'\r')) as u64 + 1
}

fn starts_number(bytes: &[u8]) -> bool {
    number(bytes).is_some()
}

/// One row: writes as many values as there are columns, and says how many there were.
fn parse_row(
    scanner: &mut Scanner<'_>,
    columns: &mut Columns,
    frame: usize,
) -> Result<usize, ReadError> {
    let mut found = 0;
    while !scanner.at_line_end() {
        let value = scanner.number_on_line("a number", b"")?;
        if found < columns.columns() && frame < columns.frames() {
            columns.set(found, frame, value);
        }
        found += 1;
    }
    Ok(found)
}

/// The values as one stream, whatever the line ends, if they make whole frames and as many as were
/// declared.
fn wrapped(data: &[u8], channels: usize, declared: Option<u64>) -> Option<Columns> {
    let declared = usize::try_from(declared?).ok()?;
    // Each value takes two bytes at least: a count that does not fit is no reason to allocate.
    if declared.checked_mul(channels)? > data.len().div_ceil(2) {
        return None;
    }
    let mut scanner = Scanner::new(data);
    let mut columns = Columns::zeros(channels, declared);
    for frame in 0..declared {
        for column in 0..channels {
            scanner.skip_space();
            let value = scanner.number_on_line("a number", b"").ok()?;
            columns.set(column, frame, value);
        }
    }
    scanner.skip_space();
    scanner.is_done().then_some(columns)
}
