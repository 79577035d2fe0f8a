//! From a [`Document`] to markers in metres.

use glam::DVec3;

use super::read::{Document, Name, Row};
use super::{FREE_POSITIONS, Header, MAX_MARKERS};
use crate::formats::error::{ReadError, ReadErrorKind, Warning, WarningKind};
use crate::formats::names::UniqueNames;
use crate::formats::{LengthUnit, ReadOptions, Units, text};
use crate::math::Points;
use crate::motion::{FrameRate, Marker, Markers};

/// Frames per second if neither the header nor the times tell: what most marker systems record at.
const ASSUMED_FPS: f64 = 100.0;

/// Turns what the file says into markers; also gives what is kept of the header, the unit, and the
/// warnings in the order of the file.
pub(super) fn lower(
    bytes: &[u8],
    mut document: Document,
    options: &ReadOptions,
) -> Result<(Markers, Header, Units, Vec<Warning>), ReadError> {
    let mut warnings = std::mem::take(&mut document.warnings);
    let units = unit(bytes, &document, options, &mut warnings);
    let first_frame = first_frame(&document);
    let rate = rate(bytes, &document, options, &mut warnings);
    let times_s = times(&document, rate);
    let markers = markers(bytes, &document, units.length, &mut warnings)?;
    check_counts(bytes, &document, markers.len(), &mut warnings);
    warnings.sort_by_key(|w| (w.at.is_none(), w.at));
    if let Some(more) = warnings.len().checked_sub(text::MAX_WARNINGS).filter(|n| *n > 0) {
        let repairs = warnings[text::MAX_WARNINGS..].iter().any(Warning::is_repair);
        warnings.truncate(text::MAX_WARNINGS);
        warnings.push(Warning::new(WarningKind::More { count: more as u64, repairs }));
    }
    let fields = document.fields.into_iter().map(|f| (f.name, f.value)).collect();
    let header = Header { path: document.path, fields, first_frame };
    Ok((Markers { rate, times_s, markers }, header, units, warnings))
}

/// The unit that a header's text stands for.
fn parse_unit(text: &str) -> Option<LengthUnit> {
    let word = text.trim().trim_end_matches('.').to_ascii_lowercase();
    match word.as_str() {
        "m" | "meter" | "meters" | "metre" | "metres" => Some(LengthUnit::M),
        "mm" | "millimeter" | "millimeters" | "millimetre" | "millimetres" => Some(LengthUnit::MM),
        "cm" | "centimeter" | "centimeters" | "centimetre" | "centimetres" => Some(LengthUnit::CM),
        "dm" | "decimeter" | "decimeters" | "decimetre" | "decimetres" => {
            LengthUnit::from_metres(0.1)
        }
        "in" | "inch" | "inches" => Some(LengthUnit::INCH),
        "ft" | "foot" | "feet" => LengthUnit::from_metres(0.3048),
        // What we write for units that a TRC has no name for.
        "cmu" => Some(LengthUnit::CMU),
        _ => word.strip_suffix(" m")?.parse().ok().and_then(LengthUnit::from_metres),
    }
}

fn unit(
    bytes: &[u8],
    document: &Document,
    options: &ReadOptions,
    warnings: &mut Vec<Warning>,
) -> Units {
    let field = document.field("Units").filter(|f| !f.value.is_empty());
    let declared = field.and_then(|f| parse_unit(&f.value));
    if let Some(field) = field
        && declared.is_none()
        && options.source_unit.is_none()
    {
        let text = text::shortened(field.value.as_bytes());
        let what = format!("{text:?} is no unit of length we know; millimetres were assumed");
        let at = text::position(bytes, field.at);
        warnings.push(Warning::at(WarningKind::Repaired { what }, at));
    }
    Units::choose(declared, options.source_unit, LengthUnit::MM)
}

/// The first frame's number.
fn first_frame(document: &Document) -> i64 {
    let number = |i: usize| document.rows[i].number;
    let known = (0..document.rows.len()).find(|&i| !number(i).is_nan());
    #[allow(clippy::cast_precision_loss, reason = "row counts are far below 2^53")]
    let first = known.map_or(1.0, |i| number(i) - i as f64);
    #[allow(clippy::cast_possible_truncation, reason = "whole; beyond i64 it saturates")]
    let first = first as i64;
    first
}

/// The rate that `DataRate` gives, else the time column, else the user, else a guess.
fn rate(
    bytes: &[u8],
    document: &Document,
    options: &ReadOptions,
    warnings: &mut Vec<Warning>,
) -> FrameRate {
    let field = document.field("DataRate");
    let declared = field.and_then(|f| parse_rate(&f.value));
    let measured = measured_step(document);
    let at = field.map(|f| text::position(bytes, f.at));
    if let Some(rate) = declared {
        if let Some((step_s, rounding_s)) = measured
            && (step_s - rate.frame_time_s()).abs() > 0.1 * rate.frame_time_s() + rounding_s
        {
            let what = format!(
                "DataRate gives {} s from frame to frame, the times {step_s:.6} s; DataRate is used",
                rate.frame_time_s()
            );
            let kind = WarningKind::Repaired { what };
            warnings.push(Warning { kind, path: None, at });
        }
        return rate;
    }
    let rate = measured
        .and_then(|(step_s, _)| FrameRate::from_frame_time(step_s))
        .or(options.rate)
        .or_else(|| FrameRate::from_fps(ASSUMED_FPS))
        .expect("the assumed rate is positive");
    let text = field.map_or_else(String::new, |f| text::shortened(f.value.as_bytes()));
    let kind = WarningKind::FrameTime { text, assumed_s: rate.frame_time_s() };
    warnings.push(Warning { kind, path: None, at });
    rate
}

/// The rate that a `DataRate` stands for.
pub(super) fn parse_rate(text: &str) -> Option<FrameRate> {
    match text::number(text.as_bytes()) {
        Some(text::Number::Finite(fps, n)) if n == text.len() => FrameRate::from_fps(fps),
        _ => None,
    }
}

/// The mean step of the time column and how much rounding to milliseconds can be off in it. `None`
/// unless frames are numbered one by one and time moves on.
#[allow(clippy::cast_precision_loss, reason = "row counts are far below 2^53")]
fn measured_step(document: &Document) -> Option<(f64, f64)> {
    let (first, last) = (document.rows.first()?, document.rows.last()?);
    let steps = (document.rows.len() - 1) as f64;
    let step_s = (last.time_s - first.time_s) / steps;
    let good = last.number - first.number == steps && step_s > 0.0 && step_s.is_finite();
    good.then_some((step_s, 0.001 / steps))
}

/// The times; those that are missing follow from the rate.
#[allow(clippy::cast_precision_loss, reason = "row counts are far below 2^53")]
fn times(document: &Document, rate: FrameRate) -> Vec<f64> {
    let shift = |i: usize| i as f64 * rate.frame_time_s();
    let known = document.rows.iter().position(|row| !row.time_s.is_nan());
    let start = known.map_or(0.0, |i| document.rows[i].time_s - shift(i));
    let time = |(i, row): (usize, &Row)| {
        if row.time_s.is_nan() { start + shift(i) } else { row.time_s }
    };
    document.rows.iter().enumerate().map(time).collect()
}

fn markers(
    bytes: &[u8],
    document: &Document,
    unit: LengthUnit,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Marker>, ReadError> {
    let too_many = |what, limit: usize| {
        let kind = ReadErrorKind::TooMany { what, limit: limit as u64 };
        text::error_at(bytes, document.names_at, kind)
    };
    let slots = columns(document);
    if slots.len() > MAX_MARKERS {
        return Err(too_many("markers", MAX_MARKERS));
    }
    let limit = bytes.len().saturating_add(FREE_POSITIONS);
    if slots.len().saturating_mul(document.rows.len()) > limit {
        return Err(too_many("marker positions for a file of this length", limit));
    }

    let names_at = text::position(bytes, document.names_at);
    let mut unique = UniqueNames::default();
    // Names of the file first: a name made up here gives way.
    let mut take = |name: &str, index, at| {
        let (name, warning) = unique.take(name, index);
        warnings.extend(warning.map(|kind| Warning::at(kind, at)));
        name
    };
    let mut names: Vec<String> = slots
        .iter()
        .enumerate()
        .map(|(i, (_, name))| name.map_or_else(String::new, |n| take(&n.text, i, n.at)))
        .collect();
    let mut unnamed = Vec::new();
    for (i, (slot, name)) in slots.iter().enumerate() {
        if name.is_none() {
            names[i] = take(&format!("*{}", slot + 1), i, names_at);
            unnamed.push(i);
        }
    }
    if let [first, ..] = unnamed[..] {
        let more = match unnamed.len() - 1 {
            0 => String::new(),
            n => format!(", and so on for {n} more"),
        };
        let what =
            format!("a marker without a name has data and is called {:?}{more}", names[first]);
        warnings.push(Warning::at(WarningKind::Repaired { what }, names_at));
    }

    // Slot to marker, so that each row is walked once.
    let mut marker_of = vec![None; slots.last().map_or(0, |(slot, _)| slot + 1)];
    for (i, (slot, _)) in slots.iter().enumerate() {
        marker_of[*slot] = Some(i);
    }
    let missing = Points::repeat(DVec3::NAN, document.rows.len());
    let mut markers: Vec<Marker> =
        names.into_iter().map(|name| Marker { name, positions_m: missing.clone() }).collect();
    for frame in 0..document.rows.len() {
        for (point, marker) in document.points(frame).iter().zip(&marker_of) {
            let position_m = DVec3::from_array(*point) * unit.metres();
            if let Some(marker) = marker
                && !position_m.is_nan()
            {
                if !position_m.is_finite() {
                    let what = format!(
                        "marker {:?} is too far away in frame {frame}",
                        markers[*marker].name
                    );
                    return Err(ReadError::new(ReadErrorKind::BadValue { what }));
                }
                markers[*marker].positions_m.set(frame, position_m);
            }
        }
    }
    Ok(markers)
}

/// The triples of columns that are markers, with their names, from left to right.
fn columns(document: &Document) -> Vec<(usize, Option<&Name>)> {
    let mut has_data: Vec<bool> = Vec::new();
    for frame in 0..document.rows.len() {
        let points = document.points(frame);
        has_data.resize(has_data.len().max(points.len()), false);
        for (slot, point) in has_data.iter_mut().zip(points) {
            *slot |= point.iter().all(|v| !v.is_nan());
        }
    }
    let mut names = document.names.iter().peekable();
    let slot_count = has_data.len().max(document.names.last().map_or(0, |n| n.slot + 1));
    (0..slot_count)
        .filter_map(|slot| {
            let name = names.next_if(|n| n.slot == slot);
            let data = has_data.get(slot).copied().unwrap_or(false);
            (name.is_some() || data).then_some((slot, name))
        })
        .collect()
}

fn check_counts(bytes: &[u8], document: &Document, markers: usize, warnings: &mut Vec<Warning>) {
    for (field, found) in [("NumFrames", document.rows.len()), ("NumMarkers", markers)] {
        let found = found as u64;
        let kind = match document.count(field) {
            Some(declared) if declared == found => continue,
            Some(declared) if field == "NumFrames" => WarningKind::FrameCount { declared, found },
            Some(declared) => WarningKind::Count { what: "markers".to_owned(), declared, found },
            None => {
                let what = format!("{field} is missing or no count; {found} were read");
                WarningKind::Repaired { what }
            }
        };
        let at = document.field(field).map(|f| text::position(bytes, f.at));
        warnings.push(Warning { kind, path: None, at });
    }
}
