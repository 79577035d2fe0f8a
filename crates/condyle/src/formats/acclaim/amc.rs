//! The AMC: its header, and the numbers of its frames straight into columns.

use std::collections::HashMap;

use super::asf;
use super::frames;
use super::lower::{Lowered, ROOT};
use crate::formats::error::{ReadError, ReadErrorKind, Warning, WarningKind};
use crate::formats::far::{FarTurn, far_turn};
use crate::formats::rows::Table;
use crate::formats::text::{self, Number, Scanner, Warnings, is_word};
use crate::formats::{Mode, ReadOptions};
use crate::motion::{AngleUnit, Channels, Clip, Columns, FrameRate};
use crate::skeleton::{Dof, Skeleton};

/// The rate of AMC files, which hardly ever say it.
pub(super) const USUAL_FPS: f64 = 120.0;

/// Frames may leave bones out, so a short file could ask for a large table. A file that leaves
/// nothing out has at most one value per two bytes; four times that is taken.
const VALUES_PER_BYTE: u64 = 2;

/// A table of this many values is always taken.
const VALUES_FREE: u64 = 1 << 20;

/// What an AMC says besides the numbers of its frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The lines before the first frame that are not empty: comments and lines with a colon.
    pub header: Vec<String>,
    /// The bones with a line in a frame, in the order they first appear.
    pub bones: Vec<String>,
    /// The number of the first frame. The others count on from it when written, even if they did
    /// not in the file; comments between frames are not kept.
    pub first_frame: u64,
}

/// The word after the colon of a header line, and what follows.
fn keyword(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix(':')?;
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    Some((&line[..end], line[end..].trim()))
}

impl Document {
    /// The unit of angles that the header gives.
    #[must_use]
    pub fn angle_unit(&self) -> Option<AngleUnit> {
        self.header.iter().rev().find_map(|line| match keyword(line)?.0 {
            word if word.eq_ignore_ascii_case("degrees") => Some(AngleUnit::Degrees),
            word if word.eq_ignore_ascii_case("radians") => Some(AngleUnit::Radians),
            _ => None,
        })
    }

    /// The frames per second that the header gives.
    #[must_use]
    pub fn samples_per_second(&self) -> Option<f64> {
        self.header.iter().rev().find_map(|line| {
            let mut s = Scanner { bytes: line.as_bytes(), at: 0 };
            let word = s.word().strip_prefix(b":")?;
            let fps = is_word(word, SAMPLES_PER_SECOND).then(|| rate_on_line(&mut s));
            fps.and_then(Result::ok)
        })
    }
}

/// The number behind the word for a frame rate.
fn rate_on_line(s: &mut Scanner<'_>) -> Result<f64, ReadError> {
    s.number_on_line("the number of samples per second", b"#")
}

pub(super) const SAMPLES_PER_SECOND: &str = "SAMPLES-PER-SECOND";

/// Words of a header that we know.
const KEYWORDS: [&str; 4] = ["FULLY-SPECIFIED", "DEGREES", "RADIANS", SAMPLES_PER_SECOND];

/// What an AMC says: its header, its numbers, and what they mean.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) document: Document,
    /// One column per degree of freedom of the skeleton.
    pub(super) columns: Columns,
    angle: AngleUnit,
    rate: FrameRate,
    warnings: Warnings,
}

/// Reads an AMC for a skeleton. There is no clip if there are no frames.
pub(super) fn read(
    bytes: &[u8],
    skeleton: &Skeleton,
    asf: &asf::Document,
    lowered: Lowered,
    options: &ReadOptions,
) -> Result<(Document, Option<Clip>, Vec<Warning>), ReadError> {
    let Numbers { document, columns, angle, rate, mut warnings } =
        read_columns(bytes, asf, &lowered, options)?;
    if columns.frames() == 0 {
        warnings.whole(WarningKind::NoMotion);
        return Ok((document, None, warnings.finish(bytes)));
    }
    for j in skeleton.indices() {
        let stretches = lowered.channels[j.get()].dofs.contains(&Dof::Length);
        if stretches && !skeleton[j].end_sites.is_empty() {
            warnings.whole(WarningKind::LengthOfLeaf { bone: skeleton[j].name.clone() });
        }
    }
    let bad = |what: String| ReadError::new(ReadErrorKind::BadValue { what });
    let unit_m = lowered.units.length.metres();
    let channels = Channels::of_finite(lowered.channels, columns, angle, unit_m);
    let channels = channels.map_err(|e| bad(e.to_string()))?;
    let clip = Clip::from_channels_on(skeleton, rate, channels, options.threads)
        .map_err(|e| bad(e.to_string()))?;
    Ok((document, Some(clip), warnings.finish(bytes)))
}

/// Reads the numbers of an AMC.
pub(super) fn read_columns(
    bytes: &[u8],
    asf: &asf::Document,
    lowered: &Lowered,
    options: &ReadOptions,
) -> Result<Numbers, ReadError> {
    let mut warnings = Warnings::default();
    let mut s = Scanner::new(bytes);
    let (mut document, rate) = header(&mut s, options, &mut warnings)?;
    let angle = document.angle_unit().unwrap_or(lowered.angle);
    if angle != lowered.angle {
        warnings.at(0, WarningKind::AngleUnits);
    }
    let (bones, frames) = (bones(asf, lowered), s.clone());
    let usual = usual_lines(s.clone(), &bones).and_then(|(lines, first)| {
        let all = lowered.columns;
        let table = frames::usual_frames(s.rest(), &lines, all, first, options.threads)?;
        Some((lines, first, table))
    });
    let table = if let Some((lines, first, table)) = usual {
        document.first_frame = first;
        document.bones = lines.iter().map(|l| text::decode(&l.name).into_owned()).collect();
        table
    } else {
        let all = lowered.columns;
        Table::of(careful_frames(s, bones, all, options.mode, &mut document, &mut warnings)?)
    };
    warn_of_far_turns(frames, asf, lowered, angle, &table, &mut warnings);
    Ok(Numbers { document, columns: table.columns, angle, rate, warnings })
}

/// Warns of angles that nobody means, at the first one's place.
fn warn_of_far_turns(
    mut s: Scanner<'_>,
    asf: &asf::Document,
    lowered: &Lowered,
    angle: AngleUnit,
    table: &Table,
    warnings: &mut Warnings,
) {
    let dofs = lowered.channels.iter().flat_map(|c| c.columns.iter().zip(&c.dofs));
    let turns = dofs.filter(|(_, dof)| matches!(dof, Dof::Rx | Dof::Ry | Dof::Rz));
    let unit_deg = match angle {
        AngleUnit::Degrees => 1.0,
        AngleUnit::Radians => 1_f64.to_degrees(),
    };
    let found = far_turn(table, turns.map(|(column, _)| *column), unit_deg);
    let Some(FarTurn { frame, column, kind }) = found else { return };
    let bones = bones(asf, lowered);
    let bone = bones.iter().find(|b| (b.first..b.first + b.count).contains(&column));
    // The line of the bone in its frame, and in it the number.
    let mut frames = 0;
    while !s.is_done() && frames <= frame + 1 {
        s.skip_space();
        let mut line = s.clone();
        if frame_number(&mut s.clone()).is_some() {
            frames += 1;
        } else if frames == frame + 1
            && let Some(bone) = bone
            && line.word_on_line() == bone.name.as_bytes()
        {
            for _ in bone.first..column {
                if line.number_on_line("a number", b"").is_err() {
                    break;
                }
            }
            line.skip_blanks();
            return warnings.at(line.at, kind);
        }
        s.next_line();
    }
    warnings.whole(kind);
}

/// Frames of any kind, with every fault at its place.
fn careful_frames(
    s: Scanner<'_>,
    bones: Vec<BoneColumns>,
    columns: usize,
    mode: Mode,
    document: &mut Document,
    warnings: &mut Warnings,
) -> Result<Columns, ReadError> {
    let bytes = s.bytes;
    let count = count_frames(s.clone());
    let cells = columns as u64 * count as u64;
    let limit = VALUES_FREE.max(bytes.len() as u64 * VALUES_PER_BYTE);
    if cells > limit || u32::try_from(count).is_err() {
        let what = "values for a file of this size (its frames leave out most bones)";
        return Err(s.error(ReadErrorKind::TooMany { what, limit }));
    }
    let mut frames = Frames {
        s,
        moving: (0..bones.len()).filter(|b| bones[*b].count > 0).collect(),
        bones,
        order: Vec::new(),
        columns: Columns::zeros(columns, count),
        frame: None,
        frame_at: 0,
        number: 0,
        numbers_warned: false,
        bones_seen: 0,
        slow: HashMap::new(),
    };
    let result = frames.read(document, warnings);
    let mut whole = count;
    if let Err(error) = result {
        // What was read so far is whole but for the frame that the error is in.
        let kept = frames.frame.unwrap_or(0);
        if mode != Mode::Lenient || kept == 0 {
            return Err(error);
        }
        whole = kept;
        let dropped = bytes.len() - frames.frame_at;
        let kind = WarningKind::Dropped { bytes: dropped as u64, why: error.kind().to_string() };
        warnings.at(frames.frame_at, kind);
    }
    frames.report_missing(whole, warnings);
    document.bones = frames.order.iter().map(|&b| frames.bones[b].name.clone()).collect();
    Ok(frames.columns.truncated(whole))
}

/// The lines of the first frame and its number, if it has each moving bone once.
fn usual_lines(mut s: Scanner<'_>, bones: &[BoneColumns]) -> Option<(Vec<frames::Line>, u64)> {
    s.skip_space();
    let first = frame_number(&mut s)?;
    let by_name: HashMap<&str, &BoneColumns> = bones.iter().map(|b| (b.name.as_str(), b)).collect();
    let mut lines: Vec<frames::Line> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    loop {
        s.next_line();
        s.skip_space();
        let name = s.clone().word();
        if name.is_empty() || name.iter().all(u8::is_ascii_digit) {
            break;
        }
        let bone = by_name.get(text::decode(name).as_ref()).copied()?;
        if !seen.insert(bone.name.as_str()) {
            return None;
        }
        lines.push(frames::Line::new(name, bone.first, bone.count));
    }
    bones.iter().all(|b| b.count == 0 || seen.contains(b.name.as_str())).then_some((lines, first))
}

/// The lines before the first frame, and the frame rate.
fn header(
    s: &mut Scanner<'_>,
    options: &ReadOptions,
    warnings: &mut Warnings,
) -> Result<(Document, FrameRate), ReadError> {
    let mut document = Document::default();
    let mut rate = None;
    loop {
        s.skip_space();
        let at = s.at;
        match s.peek() {
            Some(b'#') => document.header.push(text::decode(s.rest_of_line()).into_owned()),
            Some(b':') => {
                let word = &s.clone().word()[1..];
                if is_word(word, SAMPLES_PER_SECOND) {
                    let mut value = s.clone();
                    value.word();
                    let fps = rate_on_line(&mut value)?;
                    let what = format!("{fps} samples per second make no frame rate");
                    let bad = || text::error_at(s.bytes, at, ReadErrorKind::BadValue { what });
                    rate = Some(FrameRate::from_fps(fps).ok_or_else(bad)?);
                } else if !KEYWORDS.iter().any(|k| is_word(word, k)) {
                    let name = format!(":{}", text::shortened(word));
                    warnings.at(at, WarningKind::UnknownField { name });
                }
                document.header.push(text::decode(s.rest_of_line()).into_owned());
            }
            _ => break,
        }
    }
    let usual = FrameRate::from_fps(USUAL_FPS).expect("120 per second is a rate");
    Ok((document, rate.or(options.rate).unwrap_or(usual)))
}

/// How many lines hold a frame number and nothing else.
fn count_frames(mut s: Scanner<'_>) -> usize {
    let mut count = 0;
    loop {
        s.skip_space();
        match s.peek() {
            None => return count,
            Some(b) if b.is_ascii_digit() => count += usize::from(frame_number(&mut s).is_some()),
            Some(_) => {}
        }
        s.next_line();
    }
}

/// The number of a line that holds nothing else, or a comment behind it.
fn frame_number(s: &mut Scanner<'_>) -> Option<u64> {
    let word = s.word_on_line();
    if !word.iter().all(u8::is_ascii_digit) || !(s.at_line_end() || s.peek() == Some(b'#')) {
        return None;
    }
    let digit = |n: u64, d: &u8| n.saturating_mul(10).saturating_add(u64::from(d - b'0'));
    Some(word.iter().fold(0, digit))
}

/// A bone that may have a line in a frame.
struct BoneColumns {
    name: String,
    /// Its first column; the others follow.
    first: usize,
    count: usize,
    /// In how many frames it was.
    frames: usize,
    /// One more than the latest frame it was in.
    latest: usize,
    /// Its place in the order of appearance, once it has appeared.
    place: usize,
}

/// The root and the bones in the order of the ASF.
fn bones(asf: &asf::Document, lowered: &Lowered) -> Vec<BoneColumns> {
    let names = [ROOT].into_iter().chain(asf.bones().iter().map(|b| b.name.as_str()));
    let bone = |(i, name): (usize, &str)| {
        let channels = lowered.joints[i].map(|j| &lowered.channels[j.get()]);
        let columns = channels.map(|c| c.columns.as_slice()).unwrap_or_default();
        BoneColumns {
            name: name.to_owned(),
            first: columns.first().copied().unwrap_or(0),
            count: columns.len(),
            frames: 0,
            latest: 0,
            place: 0,
        }
    };
    names.enumerate().map(bone).collect()
}

struct Frames<'a> {
    s: Scanner<'a>,
    bones: Vec<BoneColumns>,
    /// The bones that have columns.
    moving: Vec<usize>,
    /// The bones in the order in which they first appeared. The next line is nearly always that of
    /// the next of them, so no name is looked up.
    order: Vec<usize>,
    columns: Columns,
    /// The frame being read, from 0, and where it begins.
    frame: Option<usize>,
    frame_at: usize,
    /// Its number in the file.
    number: u64,
    numbers_warned: bool,
    /// How many of its bones that have columns were seen.
    bones_seen: usize,
    /// Names to bones, made when a name is not the expected one.
    slow: HashMap<String, usize>,
}

impl Frames<'_> {
    fn read(&mut self, document: &mut Document, warnings: &mut Warnings) -> Result<(), ReadError> {
        let moving = self.moving.len();
        let mut next = 0;
        loop {
            self.s.skip_space();
            let at = self.s.at;
            match self.s.peek() {
                None => break,
                Some(b'#') => {
                    self.s.next_line();
                    continue;
                }
                Some(b) if b.is_ascii_digit() => {
                    let mut ahead = self.s.clone();
                    if let Some(number) = frame_number(&mut ahead) {
                        self.end_frame(moving)?;
                        self.begin_frame(at, number, document, warnings);
                        self.s = ahead;
                        self.s.next_line();
                        next = 0;
                        continue;
                    }
                }
                Some(_) => {}
            }
            let Some(frame) = self.frame else {
                return Err(self.s.expected("a frame number"));
            };
            let line = self.bone(&mut next).and_then(|bone| self.values(at, bone, frame));
            line.map_err(|error| self.cut_off(at, frame, error))?;
        }
        self.check_last()?;
        self.end_frame(moving)
    }

    /// The error of a line, or that the file ends within it: a last line without line end that
    /// cannot be read was cut off.
    fn cut_off(&self, line: usize, frame: usize, error: ReadError) -> ReadError {
        let rest = &self.s.bytes[line..];
        let is_last = text::run(rest, |b| (b != b'\n') & (b != b'\r')) == rest.len();
        let said = matches!(error.kind(), ReadErrorKind::Truncated { .. });
        if said || !is_last || self.frame == Some(0) {
            return error;
        }
        let within = format!("frame {frame} (from 0)");
        text::error_at(self.s.bytes, self.s.bytes.len(), ReadErrorKind::Truncated { within })
    }

    fn begin_frame(
        &mut self,
        at: usize,
        number: u64,
        document: &mut Document,
        warnings: &mut Warnings,
    ) {
        let frame = self.frame.map_or(0, |f| f + 1);
        if frame == 0 {
            document.first_frame = number;
        } else if number != self.number.saturating_add(1) && !self.numbers_warned {
            self.numbers_warned = true;
            let expected = self.number.saturating_add(1);
            warnings.at(at, WarningKind::FrameNumbers { expected, found: number });
        }
        self.frame = Some(frame);
        self.frame_at = at;
        self.number = number;
        self.bones_seen = 0;
    }

    /// The bone whose name stands here. Nearly always it is the one at `next` in the order of the
    /// frames before.
    fn bone(&mut self, next: &mut usize) -> Result<usize, ReadError> {
        let before = self.s.at;
        let word = self.s.word();
        if let Some(&bone) = self.order.get(*next)
            && self.bones[bone].name.as_bytes() == word
        {
            *next += 1;
            return Ok(bone);
        }
        if self.slow.is_empty() {
            let names = self.bones.iter().map(|b| b.name.clone());
            self.slow = names.enumerate().map(|(i, name)| (name, i)).collect();
        }
        let name = text::decode(word);
        let Some(&bone) = self.slow.get(name.as_ref()) else {
            let name = text::shortened(word);
            let kind = ReadErrorKind::UnknownJoint { name };
            return Err(text::error_at(self.s.bytes, before, kind));
        };
        if self.bones[bone].frames == 0 {
            // Its first line in the file. In the first frame this is every bone once.
            self.bones[bone].place = self.order.len();
            self.order.push(bone);
        }
        *next = self.bones[bone].place + 1;
        Ok(bone)
    }

    fn values(&mut self, at: usize, bone: usize, frame: usize) -> Result<(), ReadError> {
        let b = &mut self.bones[bone];
        if b.latest == frame + 1 {
            let what = format!("bone {:?} in frame {frame}", b.name);
            let kind = ReadErrorKind::Duplicate { what, first: None };
            return Err(text::error_at(self.s.bytes, at, kind));
        }
        b.latest = frame + 1;
        b.frames += 1;
        self.bones_seen += usize::from(b.count > 0);
        let (first, count) = (b.first, b.count);
        for i in 0..count {
            self.s.skip_blanks();
            let rest = self.s.rest();
            match text::number(rest) {
                Some(Number::Finite(value, n)) if self.s.ends_number(self.s.at + n, b"#") => {
                    self.columns.set(first + i, frame, value);
                    self.s.at += n;
                }
                _ => return Err(self.bad_value(at, bone, frame, i)),
            }
        }
        if !(self.s.at_line_end() || self.s.peek() == Some(b'#')) {
            return Err(self.bad_value(at, bone, frame, count));
        }
        self.s.next_line();
        Ok(())
    }

    /// What is wrong where the value `found` (from 0) of a bone has to be or must not be.
    #[cold]
    fn bad_value(&mut self, at: usize, bone: usize, frame: usize, found: usize) -> ReadError {
        let expected = self.bones[bone].count;
        let name = self.bones[bone].name.clone();
        let mut total = found;
        while !(self.s.at_line_end() || self.s.peek() == Some(b'#')) {
            if let Err(error) = self.s.number_on_line("a value", b"#") {
                return error;
            }
            total += 1;
        }
        if total < expected && self.s.is_done() {
            let within = format!("frame {frame}, in the values of bone {name:?}");
            return self.s.error(ReadErrorKind::Truncated { within });
        }
        let frame = frame as u64;
        let kind = ReadErrorKind::BoneLength { bone: name, frame, found: total, expected };
        text::error_at(self.s.bytes, at, kind)
    }

    /// Bones that were left out keep their values of the frame before. A first frame without any
    /// is refused: nothing says what the pose is.
    fn end_frame(&mut self, moving: usize) -> Result<(), ReadError> {
        let Some(frame) = self.frame.filter(|_| self.bones_seen < moving) else {
            return Ok(());
        };
        if frame == 0 {
            if self.bones_seen > 0 {
                return Ok(());
            }
            let what = "every value of the first frame".to_owned();
            let kind = ReadErrorKind::Missing { what };
            return Err(text::error_at(self.s.bytes, self.frame_at, kind));
        }
        for bone in self.moving.iter().map(|b| &self.bones[*b]) {
            if bone.latest == frame + 1 {
                continue;
            }
            for column in bone.first..bone.first + bone.count {
                let before = self.columns.value(column, frame - 1);
                self.columns.set(column, frame, before);
            }
        }
        Ok(())
    }

    /// A last frame that lacks a bone which every frame before had was cut off.
    fn check_last(&self) -> Result<(), ReadError> {
        let Some(frame) = self.frame.filter(|f| *f > 0) else { return Ok(()) };
        let lacks = |b: &&BoneColumns| b.count > 0 && b.latest != frame + 1 && b.frames == frame;
        let Some(bone) = self.bones.iter().find(lacks) else { return Ok(()) };
        let within = format!("frame {frame}: bone {:?} is missing", bone.name);
        Err(self.s.error(ReadErrorKind::Truncated { within }))
    }

    /// Which bones are missing from the first `whole` frames.
    fn report_missing(&self, whole: usize, warnings: &mut Warnings) {
        for bone in self.bones.iter().filter(|b| b.count > 0) {
            // A frame that was dropped may have counted.
            let frames = bone.frames - usize::from(bone.latest > whole);
            if frames < whole {
                let frames = (whole - frames) as u64;
                warnings.whole(WarningKind::MissingBone { bone: bone.name.clone(), frames });
            }
        }
    }
}
