//! From markers or a skeleton's motion to bytes.

use super::lower::parse_rate;
use super::{Header, Written};
use crate::formats::error::{Warning, WarningKind, WriteError};
use crate::formats::names::UniqueNames;
use crate::formats::{Format, LengthUnit, MotionFile, Origin, WriteOptions, text};
use crate::motion::{Clip, FrameRate, Markers, WorldTracks};
use crate::skeleton::{JointIndex, Skeleton};
use glam::DVec3;

/// How many frames are turned into world positions at a time, so that a long clip does not stand in
/// memory a second time.
const BLOCK: usize = 256;

pub(super) fn write(file: &MotionFile, options: &WriteOptions) -> Result<Written, WriteError> {
    let header = match &file.origin {
        Origin::Trc(header) => Some(header),
        _ => None,
    };
    let unit = options.unit_for(file, header.is_some(), LengthUnit::MM);
    let mut writer = Writer { out: String::new(), unit, warnings: Vec::new(), not_finite: 0 };
    if let Some(markers) = &file.markers {
        writer.markers(markers, header);
    } else if let Some(clip) = &file.clip {
        writer.clip(&file.skeleton, clip, options.end_sites);
    } else {
        return Err(WriteError::Unsupported {
            what: "a TRC holds positions over time, but this is a skeleton without motion: give \
                   the motion, too"
                .to_owned(),
        });
    }
    Ok(writer.finish())
}

struct Writer {
    out: String,
    unit: LengthUnit,
    warnings: Vec<Warning>,
    /// How many positions were too far away for the unit.
    not_finite: usize,
}

impl Writer {
    fn markers(&mut self, markers: &Markers, header: Option<&Header>) {
        let made;
        let header = match header {
            Some(header) => header,
            None => {
                made = Header { first_frame: 1, ..Header::default() };
                &made
            }
        };
        let names = self.names(markers.markers.iter().map(|m| m.name.as_str()));
        self.head(header, markers.rate, markers.frame_count(), &names);
        for (frame, &time_s) in markers.times_s.iter().enumerate() {
            self.row_start(header.first_frame, frame, time_s);
            for marker in &markers.markers {
                self.position(marker.position_m(frame));
            }
            if self.out.ends_with('\t') {
                // Some readers drop an empty cell at the end of a line: then it is this one.
                self.out.push('\t');
            }
            self.out.push('\n');
        }
    }

    fn clip(&mut self, skeleton: &Skeleton, clip: &Clip, end_sites: bool) {
        let mut names: Vec<String> = skeleton.joints().iter().map(|j| j.name.clone()).collect();
        let mut sites: Vec<(JointIndex, DVec3)> = Vec::new();
        if end_sites {
            for j in skeleton.indices() {
                for (i, site) in skeleton[j].end_sites.iter().enumerate() {
                    let number = if i == 0 { String::new() } else { (i + 1).to_string() };
                    names.push(format!("{}_end{number}", skeleton[j].name));
                    sites.push((j, site.offset_m));
                }
            }
        }
        let names = self.names(names.iter().map(String::as_str));
        let header = Header { first_frame: 1, ..Header::default() };
        self.head(&header, clip.rate(), clip.frame_count(), &names);
        let mut world = WorldTracks::default();
        for frame in clip.frames() {
            let f = frame.get();
            if f.is_multiple_of(BLOCK) {
                world.update(skeleton, clip, f..(f + BLOCK).min(clip.frame_count()));
            }
            self.row_start(header.first_frame, f, clip.rate().time_of(frame));
            for j in skeleton.indices() {
                self.position(Some(world.position_m(j, f)));
            }
            for &(j, offset) in &sites {
                let site = world.position_m(j, f) + world.rotation(j, f) * offset;
                self.position(Some(site));
            }
            self.out.push('\n');
        }
    }

    /// Names that a table can hold: without tabs and line ends, none twice, none empty.
    fn names<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut unique = UniqueNames::default();
        names
            .enumerate()
            .map(|(i, name)| {
                let (written, _) = unique.take(&clean(name), i);
                if written != name {
                    let what = format!("{name:?} is called {written:?} in the TRC");
                    self.warnings.push(Warning::new(WarningKind::NotWritten { what }));
                }
                written
            })
            .collect()
    }

    fn head(&mut self, header: &Header, rate: FrameRate, frames: usize, names: &[String]) {
        let path = if header.path.is_empty() { "condyle.trc" } else { &header.path };
        self.out.push_str("PathFileType\t4\t(X/Y/Z)\t");
        self.out.push_str(&clean(path));
        self.out.push('\n');

        let mut fps = String::new();
        text::push_number(&mut fps, rate.nominal_fps());
        let unit = self.unit_name();
        let mut fields: Vec<(String, String)> =
            header.fields.iter().map(|(name, value)| (clean(name), clean(value))).collect();
        let is_new = fields.is_empty();
        let mut set = |name: &str, value: String, keep: bool| match fields
            .iter_mut()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
        {
            Some(_) if keep => {}
            Some((_, old)) => *old = value,
            None => fields.push((name.to_owned(), value)),
        };
        // What the source says about the rate stays, unless another rate was given since.
        let keep_rate = header.field("DataRate").and_then(parse_rate) == Some(rate);
        set("DataRate", fps.clone(), keep_rate);
        set("CameraRate", fps.clone(), true);
        set("NumFrames", frames.to_string(), false);
        set("NumMarkers", names.len().to_string(), false);
        set("Units", unit, false);
        if is_new {
            set("OrigDataRate", fps, false);
            set("OrigDataStartFrame", header.first_frame.to_string(), false);
            set("OrigNumFrames", frames.to_string(), false);
        }
        let join = |cells: Vec<&str>| cells.join("\t");
        self.out.push_str(&join(fields.iter().map(|(name, _)| name.as_str()).collect()));
        self.out.push('\n');
        self.out.push_str(&join(fields.iter().map(|(_, value)| value.as_str()).collect()));
        self.out.push_str("\nFrame#\tTime");
        // Three cells a marker, the last one's too, as other programs write it.
        for name in names {
            self.out.push('\t');
            self.out.push_str(name);
            self.out.push_str("\t\t");
        }
        self.out.push_str("\n\t");
        for i in 1..=names.len() {
            self.out.push_str(&format!("\tX{i}\tY{i}\tZ{i}"));
        }
        self.out.push_str("\n\n");
    }

    /// The unit as the header names it.
    fn unit_name(&mut self) -> String {
        let name = self.unit.to_string();
        if !matches!(name.as_str(), "m" | "cm" | "mm" | "in") {
            let what = format!(
                "other programs will not know {name:?}, the unit of this TRC: use --units m, cm, mm \
                 or in"
            );
            self.warnings.push(Warning::new(WarningKind::NotWritten { what }));
        }
        name
    }

    #[allow(clippy::cast_possible_wrap, reason = "frames are fewer than 2^63")]
    fn row_start(&mut self, first: i64, frame: usize, time_s: f64) {
        self.out.push_str(&first.saturating_add(frame as i64).to_string());
        self.out.push('\t');
        if time_s.is_finite() {
            text::push_number(&mut self.out, time_s);
        }
    }

    fn position(&mut self, position_m: Option<DVec3>) {
        let metres = self.unit.metres();
        let numbers = position_m.map(|p| p.to_array().map(|v| in_unit(v, metres)));
        match numbers {
            Some(numbers) if numbers.iter().all(|v| v.is_finite()) => {
                for value in numbers {
                    self.out.push('\t');
                    text::push_number(&mut self.out, value);
                }
            }
            Some(_) => {
                self.not_finite += 1;
                self.out.push_str("\t\t\t");
            }
            None => self.out.push_str("\t\t\t"),
        }
    }

    fn finish(mut self) -> Written {
        if self.not_finite > 0 {
            let n = self.not_finite;
            let what = format!("{n} positions are too far away for the unit and were left out");
            self.warnings.push(Warning::new(WarningKind::NotWritten { what }));
        }
        Written { parts: vec![(Format::Trc, self.out.into_bytes())], warnings: self.warnings }
    }
}

/// The text as a cell of the table holds it: without tabs and line ends in it or blanks around it.
fn clean(cell: &str) -> String {
    // Any other character is read back as it is, control characters of Latin-1 texts included.
    let clean = cell.replace(['\t', '\n', '\r'], "_");
    clean.trim_matches(|c: char| u8::try_from(c).is_ok_and(text::is_space)).to_owned()
}

/// The number that reads as this many metres in a unit of `unit_m` metres: of all that do, the one
/// with at most 15 digits if there is one. So numbers from a file come back as they were.
///
/// Dividing what was multiplied gives the number itself or one of its neighbours, since both
/// operations round once. Decimal numbers of at most 15 digits are more than 4 doubles apart: there
/// is at most one near, and rounding finds it.
pub(super) fn in_unit(value_m: f64, unit_m: f64) -> f64 {
    let divided = value_m / unit_m;
    let rounded: f64 = format!("{divided:.14e}").parse().unwrap_or(divided);
    let near = [rounded, divided, divided.next_up(), divided.next_down()];
    near.into_iter().find(|v| v * unit_m == value_m).unwrap_or(divided)
}
