//! Dials over time: the channels that an animator keys, and a table of them in a text file (D11).

use std::fmt;
use std::fmt::Write as _;

use super::model::{Dial, Unit};
use super::network::Network;
use crate::math::{Points, Rotations};
use crate::motion::{Clip, ClipError, FrameRate, KeyTimes, Pose, Track};
use crate::skeleton::{Skeleton, names_near};

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

    /// The first number that is beyond its dial's range: its frame and its dial.
    #[must_use]
    pub fn beyond(&self, dials: &[Dial]) -> Option<(usize, usize)> {
        (0..self.frames).find_map(|frame| {
            let mut both = self.frame(frame).iter().zip(dials);
            let outside = both.position(|(value, dial)| dial.beyond(*value));
            outside.map(|dial| (frame, dial))
        })
    }

    /// A table: a line of names, then one for each frame with its time in seconds. Angles are in degrees,
    /// and their names end in `_deg`; lengths are in metres, with `_m`.
    #[must_use]
    pub fn csv(&self, dials: &[Dial]) -> String {
        let mut text = "time_s".to_owned();
        for dial in dials {
            let _ = write!(text, ",{}{}", dial.name, suffix(dial.unit));
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
    /// at rest. Without times it is `rate`.
    ///
    /// # Errors
    ///
    /// [`DialClipError`] says where.
    pub fn read_csv(text: &str, dials: &[Dial], rate: FrameRate) -> Result<Self, DialClipError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let at = |line: usize, column: usize, kind: Kind| DialClipError {
            line: line + 1,
            column: column + 1,
            kind,
        };
        let (first, header) = lines.next().ok_or_else(|| at(0, 0, Kind::Empty))?;
        if !header.contains(',') && header.contains([';', '\t']) {
            return Err(at(first, 0, Kind::Separator));
        }
        let mut columns: Vec<Option<usize>> = Vec::new();
        for (place, name) in cells(header) {
            if name.eq_ignore_ascii_case("time_s") {
                columns.push(None);
                continue;
            }
            let named =
                |dial: &Dial| name == dial.name || name == dial.name.clone() + suffix(dial.unit);
            let Some(found) = dials.iter().position(named) else {
                let near = names_near(dials.iter().map(|d| d.name.as_str()), name);
                let near = near.into_iter().map(str::to_owned).collect();
                return Err(at(first, place, Kind::Unknown { name: name.to_owned(), near }));
            };
            if columns.contains(&Some(found)) {
                return Err(at(first, place, Kind::Twice { name: name.to_owned() }));
            }
            columns.push(Some(found));
        }
        let rest: Vec<f64> = dials.iter().map(|dial| dial.rest).collect();
        let mut clip = Self::new(rate, dials.len());
        let mut times: Vec<f64> = Vec::new();
        for (line, row) in lines {
            let mut frame = rest.clone();
            let mut count = 0;
            for (place, cell) in cells(row) {
                let Some(column) = columns.get(count) else {
                    return Err(at(line, place, Kind::Cells { wanted: columns.len() }));
                };
                count += 1;
                let number = cell.parse::<f64>().ok().filter(|number| number.is_finite());
                let Some(number) = number else {
                    return Err(at(line, place, Kind::NoNumber { found: cell.to_owned() }));
                };
                match column {
                    Some(dial) => frame[*dial] = number * dials[*dial].unit.of_document(),
                    None => times.push(number),
                }
            }
            if count < columns.len() {
                return Err(at(line, row.len(), Kind::Cells { wanted: columns.len() }));
            }
            clip.push(&frame);
        }
        if clip.is_empty() {
            return Err(at(first + 1, 0, Kind::Empty));
        }
        if let [start, .., end] = times.as_slice() {
            let steps = (times.len() - 1) as f64;
            let fps = steps / (end - start);
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
                .ok_or_else(|| at(first, 0, Kind::Times))?;
        }
        Ok(clip)
    }
}

impl Dial {
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
        let rest = Pose::rest(skeleton);
        let mut state = self.state();
        let mut pose = rest.clone();
        let mut columns: Vec<(Rotations, Points)> =
            vec![(Rotations::new(), Points::new()); skeleton.len()];
        for frame in 0..dials.len() {
            self.evaluate(dials.frame(frame), &mut state);
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

/// To 1e-9, so that what was set comes out as it was set.
fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e9).round() / 1e9;
    // No −0.
    if rounded.is_finite() { rounded + 0.0 } else { value }
}

/// The cells of a line, and the place of the first character of each.
fn cells(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    line.split(',').map(move |cell| {
        let spaces = cell.len() - cell.trim_start().len();
        let place = from + spaces;
        from += cell.len() + 1;
        (place, cell.trim().trim_matches('"'))
    })
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
    Times,
    Separator,
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
            Kind::NoNumber { found } => write!(f, "{found:?} is no number"),
            Kind::Cells { wanted } => write!(f, "there should be {wanted} numbers in the line"),
            Kind::Separator => f.write_str("names and numbers should be separated by commas"),
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
        // The motion is that of each frame.
        let motion = network.clip(&rig.skeleton, &clip).unwrap();
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
}
