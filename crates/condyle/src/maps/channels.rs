//! Dials over time: the channels that an animator keys, and a table of them in a text file (D11).

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;

use super::model::{Dial, Unit};
use super::network::Network;
use crate::math::{Points, Rotations};
use crate::motion::{Clip, ClipError, FrameRate, KeyTimes, Pose, Track};
use crate::skeleton::{Skeleton, names_near};

/// The largest table of dials that should be read, in bytes.
pub const MAX_TABLE_BYTES: u64 = 64 << 20;

/// The most frames times joints, or times dials, that should be made a motion of at once: half an hour of
/// seventy joints at 30 frames per second. A few bytes of a table or of goals are a frame.
pub const MAX_POSED: usize = 4_000_000;

/// A table may have so many values, frames times dials, whatever its length: dials without a column take
/// memory, too.
const FREE_VALUES: usize = 1 << 23;

/// The dials of a network, frame by frame.
#[derive(Clone, Debug, PartialEq)]
pub struct DialClip {
    rate: FrameRate,
    dials: usize,
    frames: usize,
    /// Frame after frame.
    values: Vec<f64>,
}

impl DialClip {
    /// No frames yet, of so many dials.
    #[must_use]
    pub const fn new(rate: FrameRate, dials: usize) -> Self {
        Self { rate, dials, frames: 0, values: Vec::new() }
    }

    /// One more frame.
    ///
    /// # Panics
    ///
    /// If there is not one number for each dial.
    pub fn push(&mut self, dials: &[f64]) {
        assert_eq!(dials.len(), self.dials, "one number for each dial");
        self.values.extend_from_slice(dials);
        self.frames += 1;
    }

    /// How many frames.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.frames
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.frames == 0
    }

    /// Frames per second.
    #[must_use]
    pub const fn rate(&self) -> FrameRate {
        self.rate
    }

    /// The dials of a frame: radians, metres, or neither.
    ///
    /// # Panics
    ///
    /// If there is no such frame.
    #[must_use]
    pub fn frame(&self, frame: usize) -> &[f64] {
        &self.values[frame * self.dials..(frame + 1) * self.dials]
    }

    /// The frames from one on.
    ///
    /// # Panics
    ///
    /// If it is behind the last frame by more than one.
    #[must_use]
    pub fn from_frame(&self, frame: usize) -> Self {
        let values = self.values[frame * self.dials..].to_vec();
        Self { frames: self.frames - frame, values, ..*self }
    }

    /// Between which values a dial is; from infinity to minus infinity if there are no frames.
    ///
    /// # Panics
    ///
    /// If there is no such dial.
    #[must_use]
    pub fn ends(&self, dial: usize) -> [f64; 2] {
        let all = (0..self.frames).map(|frame| self.frame(frame)[dial]);
        all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
    }

    /// The same number for a dial in all frames.
    ///
    /// # Panics
    ///
    /// If there is no such dial.
    pub fn set(&mut self, dial: usize, value: f64) {
        assert!(dial < self.dials, "dial {dial} of {}", self.dials);
        self.values.iter_mut().skip(dial).step_by(self.dials).for_each(|of| *of = value);
    }

    /// Brings every number into its dial's range, and says which dials were beyond it by more than
    /// rounding.
    ///
    /// # Panics
    ///
    /// If these are not as many dials.
    pub fn clamp(&mut self, dials: &[Dial]) -> Vec<Clamped> {
        assert_eq!(dials.len(), self.dials, "the dials of the clip");
        let mut all: Vec<Option<Clamped>> = vec![None; dials.len()];
        for frame in 0..self.frames {
            let values = &mut self.values[frame * self.dials..(frame + 1) * self.dials];
            for (d, (value, dial)) in values.iter_mut().zip(dials).enumerate() {
                let [min, max] = dial.range;
                let was = *value;
                *value = if was.is_nan() { dial.rest } else { was.clamp(min, max) };
                if !dial.beyond(was) {
                    continue;
                }
                let one = Clamped { dial: d, frames: 0, worst_frame: frame, from: was, to: *value };
                let of = all[d].get_or_insert(one);
                of.frames += 1;
                if (was - *value).abs() > (of.from - of.to).abs() {
                    *of = Clamped { frames: of.frames, ..one };
                }
            }
        }
        all.into_iter().flatten().collect()
    }

    /// The first number that is beyond its dial's range: its frame and its dial.
    #[must_use]
    pub fn beyond(&self, dials: &[Dial]) -> Option<(usize, usize)> {
        (0..self.frames).find_map(|frame| {
            let mut both = self.frame(frame).iter().zip(dials);
            let outside = both.position(|(value, dial)| dial.beyond(*value));
            outside.map(|dial| (frame, dial))
        })
    }

    /// In how many frames each dial is at the lower and at the upper end of its range, or nearer to it than a
    /// millionth of the range: it may go no further, whatever it should do.
    #[must_use]
    pub fn at_ends(&self, dials: &[Dial]) -> Vec<[usize; 2]> {
        let mut counts = vec![[0; 2]; dials.len()];
        for frame in 0..self.frames {
            for ((value, dial), count) in self.frame(frame).iter().zip(dials).zip(&mut counts) {
                let [min, max] = dial.range;
                let near = 1e-6 * (max - min);
                count[0] += usize::from(*value <= min + near);
                count[1] += usize::from(*value >= max - near);
            }
        }
        counts
    }

    /// A table: a line of names, then one for each frame with its time in seconds. Angles are in degrees,
    /// and their names end in `_deg`; lengths are in metres, with `_m`. Names with commas or quotes are in
    /// double quotes.
    #[must_use]
    pub fn csv(&self, dials: &[Dial]) -> String {
        let mut text = "time_s".to_owned();
        for dial in dials {
            let name = dial.name.clone() + suffix(dial.unit);
            let _ = write!(text, ",{}", quoted(&name));
        }
        text.push('\n');
        for frame in 0..self.frames {
            let time = frame as f64 * self.rate.frame_time_s();
            let _ = write!(text, "{}", rounded(time));
            for (value, dial) in self.frame(frame).iter().zip(dials) {
                let _ = write!(text, ",{}", rounded(value / dial.unit.of_document()));
            }
            text.push('\n');
        }
        text
    }

    /// A table as [`csv`](Self::csv) writes it. Columns may be in any order; dials without a column stay
    /// at rest. Without times, and for a single frame, it is `rate`. Empty columns after the last name are
    /// left out, as programs for tables add them.
    ///
    /// # Errors
    ///
    /// [`DialClipError`] says where.
    pub fn read_csv(text: &str, dials: &[Dial], rate: FrameRate) -> Result<Self, DialClipError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // A table that names every dial has a number for each in two bytes at least.
        let most = (text.len() / 2).max(FREE_VALUES);
        let mut records = Records::new(text);
        let mut row: Vec<Cell<'_>> = Vec::new();
        records.next(&mut row, dials.len() + 1)?;
        let Some(head) = row.first() else { return Err(at([0; 2], Kind::Empty)) };
        let first = head.place;
        if row.len() == 1 && !head.quoted && head.text.contains([';', '\t']) {
            return Err(at(first, Kind::Separator));
        }
        while row.len() > 1 && row.last().is_some_and(|cell| cell.text.is_empty()) {
            row.pop();
        }
        let mut columns: Vec<Option<usize>> = Vec::new();
        for Cell { place, text: name, .. } in &row {
            if name.eq_ignore_ascii_case("time_s") {
                if columns.contains(&None) {
                    return Err(at(*place, Kind::Twice { name: name.to_string() }));
                }
                columns.push(None);
                continue;
            }
            let Some(found) = dials.iter().position(|dial| dial.is_named(name)) else {
                let near = names_near(dials.iter().map(|d| d.name.as_str()), name);
                let near = near.into_iter().map(str::to_owned).collect();
                return Err(at(*place, Kind::Unknown { name: name.to_string(), near }));
            };
            if columns.contains(&Some(found)) {
                return Err(at(*place, Kind::Twice { name: name.to_string() }));
            }
            columns.push(Some(found));
        }
        let rest: Vec<f64> = dials.iter().map(|dial| dial.rest).collect();
        let mut clip = Self::new(rate, dials.len());
        let mut times: Vec<f64> = Vec::new();
        let mut frame = rest.clone();
        while records.next(&mut row, columns.len())? {
            frame.copy_from_slice(&rest);
            for (cell, column) in row.iter().zip(&columns) {
                let number = cell.text.parse::<f64>().ok().filter(|number| number.is_finite());
                let Some(number) = number else {
                    let found = cell.text.to_string();
                    return Err(at(cell.place, Kind::NoNumber { found }));
                };
                match column {
                    Some(dial) => frame[*dial] = number * dials[*dial].unit.of_document(),
                    None => times.push(number),
                }
            }
            let wanted = columns.len();
            if row.len() < wanted {
                return Err(at(records.end, Kind::Cells { wanted }));
            }
            if let Some(more) = row[wanted..].iter().find(|cell| !cell.text.is_empty()) {
                return Err(at(more.place, Kind::Cells { wanted }));
            }
            if clip.values.len() + frame.len() > most {
                let Cell { place, .. } = row[0];
                return Err(at(place, Kind::TooMany { frames: clip.len(), dials: dials.len() }));
            }
            clip.push(&frame);
        }
        if clip.is_empty() {
            return Err(at([first[0] + 1, 0], Kind::Empty));
        }
        if let [start, .., end] = times.as_slice() {
            let steps = (times.len() - 1) as f64;
            let fps = steps / (end - start);
            let step_s = (end - start) / steps;
            if step_s > 0.0 && !STEPS_S.contains(&step_s) {
                return Err(at(first, Kind::Step { step_s }));
            }
            // Times are rounded.
            let near = (fps * 1e3).round() / 1e3;
            let told =
                FrameRate::from_fps(if (near / fps - 1.0).abs() < 1e-5 { near } else { fps });
            let even = |(i, time): (usize, &f64)| {
                (time - start - (end - start) * (i as f64 / steps)).abs() * steps
                    < 0.02 * (end - start)
            };
            clip.rate = told
                .filter(|_| times.iter().enumerate().all(even))
                .ok_or_else(|| at(first, Kind::Times))?;
        }
        Ok(clip)
    }

    /// Where in a table that [`read_csv`](Self::read_csv) reads the number of a dial in a frame is: line
    /// and column, both from 1, the column in bytes. `None` if the table has no such number.
    #[must_use]
    pub fn place_in_csv(
        text: &str,
        dials: &[Dial],
        frame: usize,
        dial: usize,
    ) -> Option<[usize; 2]> {
        let mut records = Records::new(text.strip_prefix('\u{feff}').unwrap_or(text));
        let mut row: Vec<Cell<'_>> = Vec::new();
        records.next(&mut row, dials.len() + 1).ok()?;
        let dial = dials.get(dial)?;
        let column = row.iter().position(|cell| dial.is_named(&cell.text))?;
        for _ in 0..=frame {
            records.next(&mut row, column + 1).ok().filter(|more| *more)?;
        }
        row.get(column).map(|cell| cell.place.map(|n| n + 1))
    }
}

/// A dial that was set beyond its range, and was brought back to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clamped {
    /// Which dial.
    pub dial: usize,
    /// In how many frames.
    pub frames: usize,
    /// The frame in which it was farthest beyond, the first if there are several.
    pub worst_frame: usize,
    /// What it was there,
    pub from: f64,
    /// and what it is: radians, metres, or neither.
    pub to: f64,
}

impl Dial {
    /// Whether a column of a table is about it: with its unit or without.
    fn is_named(&self, column: &str) -> bool {
        column
            .strip_prefix(self.name.as_str())
            .is_some_and(|rest| rest.is_empty() || rest == suffix(self.unit))
    }

    /// Whether a number is outside of the range, by more than rounding.
    #[must_use]
    pub fn beyond(&self, value: f64) -> bool {
        let [min, max] = self.range;
        let slack = 1e-9 * (max - min);
        !(value >= min - slack && value <= max + slack)
    }
}

impl Network {
    /// The motion of a figure whose dials are turned. What no dial moves is at rest.
    ///
    /// # Errors
    ///
    /// If there are no frames.
    ///
    /// # Panics
    ///
    /// If the dials or the skeleton are of another network.
    pub fn clip(&self, skeleton: &Skeleton, dials: &DialClip) -> Result<Clip, ClipError> {
        self.clip_over(skeleton, dials, None)
    }

    /// The same, with what no dial moves as it is in a clip of as many frames.
    ///
    /// # Errors
    ///
    /// If there are no frames.
    ///
    /// # Panics
    ///
    /// If the dials, the clip or the skeleton are of another network, or the clip is shorter.
    pub fn clip_over(
        &self,
        skeleton: &Skeleton,
        dials: &DialClip,
        under: Option<&Clip>,
    ) -> Result<Clip, ClipError> {
        if dials.is_empty() {
            return Err(ClipError::NoFrames);
        }
        let rest = Pose::rest(skeleton);
        let mut state = self.state();
        let mut pose = rest.clone();
        let mut columns: Vec<(Rotations, Points)> =
            vec![(Rotations::new(), Points::new()); skeleton.len()];
        for frame in 0..dials.len() {
            self.evaluate_values(dials.frame(frame), &mut state);
            self.write(&state, &mut pose);
            for joint in skeleton.indices().filter(|joint| self.moves(*joint)) {
                let j = joint.get();
                columns[j].0.push(pose.rotations[j]);
                columns[j].1.push(pose.translations_m[j]);
            }
        }
        let tracks = skeleton.indices().zip(columns).map(|(joint, (rotations, places))| {
            let j = joint.get();
            if !self.moves(joint) {
                let still = || Track::constant(rest.rotations[j], rest.translations_m[j]);
                return under.map_or_else(still, |clip| clip.track(joint).clone());
            }
            let [x, y, z] = places.xyz();
            let moves = [x, y, z].iter().any(|c| c.iter().any(|v| *v != c[0]));
            if moves {
                Track::from_parts(rotations, KeyTimes::EveryFrame, places, KeyTimes::EveryFrame)
            } else {
                Track::turning(rotations, places.at(0))
            }
        });
        Clip::new(dials.len(), dials.rate(), tracks.collect())
    }
}

/// How the name of a column ends.
const fn suffix(unit: Unit) -> &'static str {
    match unit {
        Unit::Angle => "_deg",
        Unit::Length => "_m",
        Unit::Ratio => "",
    }
}

/// To 1e-9, or to 15 digits where that is coarser, so that what was set comes out as it was set: a change of
/// units and back is off by less than that.
fn rounded(value: f64) -> f64 {
    if value.abs() >= 1e6 {
        return format!("{value:.14e}").parse().unwrap_or(value);
    }
    // No −0.
    (value * 1e9).round() / 1e9 + 0.0
}

/// From frame to frame, in seconds: less is lost in a table, and neither is a motion.
const STEPS_S: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// A name as it stands in a table.
fn quoted(name: &str) -> Cow<'_, str> {
    if name.contains([',', '"', '\n', '\r']) || name.trim() != name {
        Cow::Owned(format!("\"{}\"", name.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(name)
    }
}

/// A cell of a table.
struct Cell<'t> {
    /// Line and column, both from 0, the column in bytes.
    place: [usize; 2],
    text: Cow<'t, str>,
    quoted: bool,
}

/// The lines of a table, cell by cell. Cells in double quotes may have commas and line ends in them, and
/// quotes that are doubled (RFC 4180).
struct Records<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    /// Where the line begins.
    begin: usize,
    /// Where the last record ended.
    end: [usize; 2],
}

impl<'t> Records<'t> {
    const fn new(text: &'t str) -> Self {
        Self { text, at: 0, line: 0, begin: 0, end: [0; 2] }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    const fn place(&self) -> [usize; 2] {
        [self.line, self.at - self.begin]
    }

    /// Goes over the end of a line.
    fn end_line(&mut self) {
        let two = self.text[self.at..].starts_with("\r\n");
        self.at += if two { 2 } else { 1 };
        self.line += 1;
        self.begin = self.at;
    }

    /// The cells of the next line that is not blank; without one there are none, and it is false.
    /// Beyond the first `most`, only the first cell that is not empty is kept.
    fn next(&mut self, cells: &mut Vec<Cell<'t>>, most: usize) -> Result<bool, DialClipError> {
        loop {
            cells.clear();
            if self.peek().is_none() {
                return Ok(false);
            }
            let mut found = 0_usize;
            loop {
                let cell = self.cell()?;
                found += 1;
                if cells.len() < most.max(1) || cells.len() == most && !cell.text.is_empty() {
                    cells.push(cell);
                }
                self.end = self.place();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(_) => {
                        self.end_line();
                        break;
                    }
                    None => break,
                }
            }
            if found > 1 || cells.iter().any(|one| one.quoted || !one.text.is_empty()) {
                return Ok(true);
            }
        }
    }

    /// A cell, up to the comma or the line's end after it.
    fn cell(&mut self) -> Result<Cell<'t>, DialClipError> {
        self.skip_blanks();
        let place = self.place();
        if self.peek() == Some(b'"') {
            self.at += 1;
            let mut text = String::new();
            loop {
                let rest = &self.text[self.at..];
                let stop = rest.find(['"', '\n', '\r']);
                let stop = stop.ok_or_else(|| at(place, Kind::Quote))?;
                text.push_str(&rest[..stop]);
                self.at += stop;
                if self.peek() != Some(b'"') {
                    let from = self.at;
                    self.end_line();
                    text.push_str(&self.text[from..self.at]);
                } else if rest[stop..].starts_with("\"\"") {
                    text.push('"');
                    self.at += 2;
                } else {
                    self.at += 1;
                    break;
                }
            }
            self.skip_blanks();
            if !matches!(self.peek(), None | Some(b',' | b'\n' | b'\r')) {
                return Err(at(self.place(), Kind::Quote));
            }
            return Ok(Cell { place, text: Cow::Owned(text), quoted: true });
        }
        let rest = &self.text[self.at..];
        let cell = &rest[..rest.find([',', '\n', '\r']).unwrap_or(rest.len())];
        self.at += cell.len();
        Ok(Cell { place, text: Cow::Borrowed(cell.trim_end()), quoted: false })
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        let blank = |c: char| c.is_whitespace() && c != '\n' && c != '\r';
        self.at += rest.len() - rest.trim_start_matches(blank).len();
    }
}

const fn at([line, column]: [usize; 2], kind: Kind) -> DialClipError {
    DialClipError { line: line + 1, column: column + 1, kind }
}

/// What is wrong with a table of dials.
#[derive(Clone, Debug, PartialEq)]
pub struct DialClipError {
    /// From 1.
    pub line: usize,
    /// In bytes, from 1.
    pub column: usize,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Empty,
    Unknown { name: String, near: Vec<String> },
    Twice { name: String },
    NoNumber { found: String },
    Cells { wanted: usize },
    TooMany { frames: usize, dials: usize },
    Times,
    Step { step_s: f64 },
    Separator,
    Quote,
}

impl fmt::Display for DialClipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        match &self.kind {
            Kind::Empty => {
                f.write_str("no frames: there should be a line of names, and one per frame")
            }
            Kind::Unknown { name, near } if near.is_empty() => {
                write!(f, "there is no dial {name:?}")
            }
            Kind::Unknown { name, near } => {
                write!(f, "there is no dial {name:?}; near are {}", near.join(", "))
            }
            Kind::Twice { name } => write!(f, "dial {name:?} has two columns"),
            Kind::NoNumber { found } if found.is_empty() => f.write_str("a number is missing"),
            Kind::NoNumber { found } => write!(f, "{found:?} is no number"),
            Kind::Cells { wanted } => write!(f, "there should be {wanted} numbers in the line"),
            Kind::TooMany { frames, dials } => write!(
                f,
                "more than {frames} frames of {dials} dials are too many for a table of this size, \
                 which has no column for most of them"
            ),
            Kind::Separator => f.write_str("names and numbers should be separated by commas"),
            Kind::Quote => f.write_str("a quote is not closed, or goes on behind its end"),
            Kind::Step { step_s } => write!(
                f,
                "times in column time_s are {step_s:e} s apart; that has to be from {:e} to {:e}",
                STEPS_S.start(),
                STEPS_S.end()
            ),
            Kind::Times => f.write_str("times in column time_s do not rise evenly"),
        }
    }
}

impl std::error::Error for DialClipError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models;
    use crate::synth::Rng;

    /// Row D11: dials are channels, to a file and back.
    #[test]
    fn d11_tables_of_dials_come_back() {
        let rig = models::find("body").unwrap();
        let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
        let rate = FrameRate::from_fps(60.0).unwrap();
        let mut clip = DialClip::new(rate, network.dials().len());
        let mut rng = Rng::new(1);
        for _ in 0..5 {
            let degrees = |d: &Dial| {
                let [min, max] = d.range.map(f64::to_degrees);
                ((rng.between(min, max) * 1e3).round() * 1e-3).to_radians()
            };
            let frame: Vec<f64> = network.dials().iter().map(degrees).collect();
            clip.push(&frame);
        }
        let text = clip.csv(network.dials());
        assert!(text.starts_with("time_s,lumbar.flexion_deg,"));
        let other = FrameRate::from_fps(30.0).unwrap();
        let back = DialClip::read_csv(&text, network.dials(), other).unwrap();
        assert_eq!(back.len(), 5);
        assert!((back.rate().fps() - 60.0).abs() < 1e-6);
        for frame in 0..5 {
            for (a, b) in clip.frame(frame).iter().zip(back.frame(frame)) {
                assert!((a - b).abs() < 1e-10);
            }
        }
        assert_eq!(back.csv(network.dials()), text);
        // The motion is that of each frame; what no dial moves is at rest, or as in another motion.
        let motion = network.clip(&rig.skeleton, &clip).unwrap();
        let pelvis = rig.skeleton.find("Pelvis").unwrap();
        assert!(!network.moves(pelvis));
        let place = |motion: &Clip| motion.pose(motion.frames().nth(3).unwrap()).translations_m[0];
        assert_eq!(place(&motion), rig.skeleton[pelvis].offset_m);
        let elsewhere = glam::DVec3::new(3.0, 1.0, -2.0);
        let still = |joint| match motion.track(joint) {
            _ if joint == pelvis => Track::constant(crate::math::Rotation::IDENTITY, elsewhere),
            track => track.clone(),
        };
        let under = Clip::new(5, rate, rig.skeleton.indices().map(still).collect()).unwrap();
        let over = network.clip_over(&rig.skeleton, &clip, Some(&under)).unwrap();
        assert_eq!(place(&over), elsewhere);
        let mut state = network.state();
        for frame in motion.frames() {
            network.evaluate(clip.frame(frame.get()), &mut state);
            let mut pose = Pose::rest(&rig.skeleton);
            network.write(&state, &mut pose);
            let found = motion.pose(frame);
            for j in 0..rig.skeleton.len() {
                assert!(found.rotations[j].distance(pose.rotations[j]).radians() < 1e-12);
                assert!(found.translations_m[j].distance(pose.translations_m[j]) < 1e-12);
            }
        }
    }

    #[test]
    fn d11_a_table_takes_no_more_memory_than_its_length_allows() {
        let dial = |i: usize| Dial {
            name: format!("d{i}"),
            range: [0.0, 1.0],
            rest: 0.5,
            unit: Unit::Ratio,
            label: String::new(),
            source: String::new(),
        };
        let dials: Vec<Dial> = (0..10_000).map(dial).collect();
        let rate = FrameRate::from_fps(30.0).unwrap();
        let read = |text: &str| DialClip::read_csv(text, &dials, rate);
        // Each frame of two bytes would be ten thousand numbers.
        let text = format!("d7\n{}", "0\n".repeat(50_000));
        let error = read(&text).unwrap_err();
        let says = "840:1: more than 838 frames of 10000 dials are too many";
        assert!(error.to_string().starts_with(says), "{error}");
        assert_eq!(read(&text[..3 + 2 * 838]).unwrap().len(), 838);
        // With a column for each dial there is no bound but the table's own length.
        let few = &dials[..2];
        let text = format!("d0,d1\n{}", "0,1\n".repeat(5_000_000));
        assert_eq!(DialClip::read_csv(&text, few, rate).unwrap().len(), 5_000_000);
        // Empty cells behind the last are no memory, and what is in one of them is told.
        let commas = ",".repeat(1 << 20);
        let text = format!("d0,d1{commas}\n0,1{commas}\n");
        let mut records = Records::new(&text);
        let mut row = Vec::new();
        assert!(records.next(&mut row, 3).unwrap());
        assert_eq!(row.len(), 3);
        assert_eq!(DialClip::read_csv(&text, few, rate).unwrap().len(), 1);
        let text = format!("d0,d1{commas}x\n0,1{commas}\n");
        let error = DialClip::read_csv(&text, few, rate).unwrap_err();
        assert!(error.to_string().starts_with("1:7: there is no dial"), "{error}");
        let text = format!("d0,d1{commas}\n0,1{commas}x\n");
        let error = DialClip::read_csv(&text, few, rate).unwrap_err();
        assert_eq!((error.line, error.column), (2, commas.len() + 4));
    }

    #[test]
    fn d11_what_is_wrong_with_a_table_is_told_with_its_place() {
        let rig = models::find("spine").unwrap();
        let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
        let rate = FrameRate::from_fps(30.0).unwrap();
        let says =
            |text: &str| DialClip::read_csv(text, network.dials(), rate).unwrap_err().to_string();
        assert!(says("time_s;lumbar.axial\n0;1").contains("by commas"));
        assert!(says("").starts_with("1:1: no frames"));
        assert!(says("lumbar.flexion_deg\n").starts_with("2:1: no frames"));
        let near = "1:8: there is no dial \"lumbar.flexoin_deg\"; near are lumbar.flexion";
        assert!(says("time_s,lumbar.flexoin_deg\n0,1\n").starts_with(near));
        assert_eq!(says("lumbar.flexion\n4\n x\n"), "3:2: \"x\" is no number");
        assert_eq!(says("lumbar.flexion\nnan\n"), "2:1: \"nan\" is no number");
        assert!(says("lumbar.flexion\n1,2\n").starts_with("2:3: there should be 1"));
        assert!(says("lumbar.flexion,lumbar.axial\n1\n").starts_with("2:2: there should be 2"));
        assert!(says("lumbar.axial,lumbar.axial_deg\n1,1").starts_with("1:14: dial"));
        assert!(says("time_s,lumbar.axial\n0,1\n1,1\n1.1,1").contains("rise evenly"));
        let good =
            DialClip::read_csv("\u{feff}lumbar.axial\r\n4\r\n\r\n500\r\n", network.dials(), rate);
        let good = good.unwrap();
        assert_eq!((good.len(), good.beyond(network.dials())), (2, Some((1, 2))));
    }

    /// Row D13: a range ends where it ends, but for rounding.
    #[test]
    fn d13_a_dial_is_beyond_its_range_just_past_its_ends() {
        let rig = models::find("spine").unwrap();
        let network = rig.network().unwrap();
        for dial in network.dials() {
            let [min, max] = dial.range;
            let width = max - min;
            for inside in [min, max, dial.rest, min - 1e-12 * width, max + 1e-12 * width] {
                assert!(!dial.beyond(inside), "{}: {inside}", dial.name);
            }
            for outside in [min - 1e-6 * width, max + 1e-6 * width, f64::NAN, f64::INFINITY] {
                assert!(dial.beyond(outside), "{}: {outside}", dial.name);
            }
        }
    }

    /// Row D13: what cannot be set is brought to what can, and that is told.
    #[test]
    fn d13_what_is_brought_into_its_range_is_told_with_its_worst_frame() {
        let rig = models::find("spine").unwrap();
        let network = rig.network().unwrap();
        let rate = FrameRate::from_fps(30.0).unwrap();
        let text = "lumbar.flexion,lumbar.axial\n10,0\n90,0\n\n60,-100\n";
        let mut clip = DialClip::read_csv(text, network.dials(), rate).unwrap();
        // Where the numbers are: an empty line is none.
        let place = |frame, dial| DialClip::place_in_csv(text, network.dials(), frame, dial);
        assert_eq!(place(1, 0), Some([3, 1]));
        assert_eq!(place(2, 2), Some([5, 4]));
        assert_eq!((place(3, 0), place(0, 1)), (None, None));
        let mut same = clip.clone();
        let clamped = clip.clamp(network.dials());
        let told: Vec<_> = clamped.iter().map(|c| (c.dial, c.frames, c.worst_frame)).collect();
        assert_eq!(told, [(0, 2, 1), (2, 1, 2)]);
        assert!((clamped[0].from.to_degrees() - 90.0).abs() < 1e-12);
        assert_eq!(clamped[0].to, network.dials()[0].range[1]);
        assert_eq!(clip.beyond(network.dials()), None);
        assert_eq!(clip.frame(0), same.frame(0));
        assert_eq!(clip.clamp(network.dials()), []);
        same.set(0, 0.25);
        same.set(2, 0.0);
        assert!((0..3).all(|f| same.frame(f)[0] == 0.25) && same.clamp(network.dials()).is_empty());
    }

    #[test]
    fn d11_odd_tables_are_read_or_refused() {
        let dial = |name: &str, unit| Dial {
            name: name.to_owned(),
            unit,
            range: [-10.0, 10.0],
            rest: 0.0,
            label: String::new(),
            source: String::new(),
        };
        let dials = [
            dial("arm, left", Unit::Ratio),
            dial("the \"big\" one", Unit::Length),
            dial("two\r\nlines", Unit::Ratio),
            dial(" spaced ", Unit::Ratio),
        ];
        let rate = FrameRate::from_fps(30.0).unwrap();
        let read = |text: &str| DialClip::read_csv(text, &dials, rate);
        let says = |text: &str| read(text).unwrap_err().to_string();
        // Names of all kinds come back.
        let mut clip = DialClip::new(FrameRate::from_fps(60.0).unwrap(), 4);
        clip.push(&[1.0, 2.0, 3.0, 4.0]);
        clip.push(&[5.0, 6.0, 7.0, 8.0]);
        let text = clip.csv(&dials);
        let start =
            "time_s,\"arm, left\",\"the \"\"big\"\" one_m\",\"two\r\nlines\",\" spaced \"\n";
        assert!(text.starts_with(start), "{text}");
        let back = read(&text).unwrap();
        assert_eq!((back.frame(0), back.frame(1)), (clip.frame(0), clip.frame(1)));
        // Places count the lines inside of names.
        assert_eq!(says(&text.replacen("5,", "x,", 1)), "4:13: \"x\" is no number");
        // Commas after the last column.
        let trailing = "\"arm, left\",,\r\n1,,\r\n2,\r\n3\r\n,,\r\n";
        assert_eq!(says(trailing), "5:1: a number is missing");
        assert_eq!(read(trailing.trim_end_matches([',', '\r', '\n'])).unwrap().len(), 3);
        assert!(says("\"arm, left\",\n1,2\n").starts_with("2:3: there should be 1"));
        assert!(says("\"arm, left\n1\n").starts_with("1:1: a quote"));
        assert!(says("\"arm, left\" x\n1\n").starts_with("1:13: a quote"));
        assert!(says("time_s,time_s\n1,1\n").starts_with("1:8: dial \"time_s\" has two"));
        // Times.
        let timed = |step: f64| format!("time_s\n0\n{step:e}\n{:e}\n", 2.0 * step);
        assert!(says(&timed(1e-30)).contains("1e-30 s apart"));
        assert!(says(&timed(1e30)).contains("1e30 s apart"));
        assert!((read(&timed(1e-6)).unwrap().rate().fps() - 1e6).abs() < 1.0);
        assert!(says(&timed(-1.0)).contains("rise evenly"));
        assert!(says(&timed(0.0)).contains("rise evenly"));
        // One frame has no rate of its own.
        assert_eq!(read("time_s\n7\n").unwrap().rate(), rate);
    }
}
