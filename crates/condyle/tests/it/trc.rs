//! Marker tables from OpenSim, Cortex, Motion Builder, Mokka and `OpenCap`.

use std::fs;

use condyle::formats::{
    Format, Mode, Origin, Read, ReadOptions, WarningKind, WriteOptions, read, write,
};
use condyle::motion::Markers;

use crate::shared::shared;

/// What a file holds.
struct Case {
    file: &'static str,
    frames: usize,
    /// Markers as the header declares them.
    declared: u64,
    /// Markers with a name.
    named: usize,
    /// Markers with a name or data.
    markers: usize,
    fps: f64,
    unit: &'static str,
    /// Warnings other than a wrong number of markers and markers without a name.
    warnings: usize,
}

#[rustfmt::skip]
const CASES: [Case; 15] = [
    // Rows hold up to ten points that nobody named.
    Case { file: "10002-20130626160334-Unnamed", frames: 882, declared: 0, named: 0, markers: 10, fps: 400.0, unit: "mm", warnings: 0 },
    Case { file: "DJ1", frames: 245, declared: 51, named: 51, markers: 51, fps: 100.0, unit: "m", warnings: 0 },
    // 33 names; 59 of the unnamed columns, in rows of 33 to 105 triples, hold points.
    Case { file: "Gait", frames: 487, declared: 66, named: 33, markers: 92, fps: 100.0, unit: "mm", warnings: 0 },
    Case { file: "Knee", frames: 200, declared: 71, named: 71, markers: 71, fps: 200.0, unit: "mm", warnings: 0 },
    Case { file: "T", frames: 89, declared: 41, named: 41, markers: 41, fps: 30.0, unit: "mm", warnings: 0 },
    Case { file: "arm26_elbow_flex", frames: 121, declared: 3, named: 3, markers: 3, fps: 120.0, unit: "mm", warnings: 0 },
    Case { file: "dataWithBlanksForMissingMarkers", frames: 464, declared: 40, named: 40, markers: 40, fps: 250.0, unit: "mm", warnings: 0 },
    Case { file: "dataWithEformat", frames: 5, declared: 14, named: 14, markers: 14, fps: 119.880_12, unit: "m", warnings: 0 },
    Case { file: "exampleFormat", frames: 5, declared: 3, named: 3, markers: 3, fps: 100.0, unit: "m", warnings: 0 },
    Case { file: "gait10dof18musc_walk_CRLF_line_ending", frames: 10, declared: 41, named: 41, markers: 41, fps: 60.0, unit: "mm", warnings: 0 },
    // DataRate says 250 per second, the times step by 0.04 s.
    Case { file: "std_walking2_markers", frames: 126, declared: 44, named: 44, markers: 44, fps: 250.0, unit: "mm", warnings: 1 },
    Case { file: "subject01_static", frames: 300, declared: 49, named: 49, markers: 49, fps: 60.0, unit: "mm", warnings: 0 },
    Case { file: "subject01_walk1", frames: 151, declared: 41, named: 41, markers: 41, fps: 60.0, unit: "mm", warnings: 0 },
    Case { file: "subject02_running", frames: 600, declared: 41, named: 41, markers: 41, fps: 60.0, unit: "mm", warnings: 0 },
    // 27 virtual markers without data, one name twice.
    Case { file: "walk", frames: 184, declared: 28, named: 55, markers: 55, fps: 150.0, unit: "mm", warnings: 1 },
];

/// Each case with its bytes and what they read as; none if the files are not there.
fn cases() -> Vec<(Case, Vec<u8>, Read)> {
    let Some(directory) = shared("trc") else { return Vec::new() };
    let files = fs::read_dir(&directory).unwrap();
    let trc = files.filter(|f| f.as_ref().unwrap().path().extension() == Some("trc".as_ref()));
    assert_eq!(trc.count(), CASES.len(), "every file has a case");
    let open = |case: Case| {
        let bytes = fs::read(directory.join(format!("{}.trc", case.file))).unwrap();
        let read = read(&bytes, None, &ReadOptions::default());
        let read = read.unwrap_or_else(|e| panic!("{}: {e}", case.file));
        (case, bytes, read)
    };
    CASES.into_iter().map(open).collect()
}

fn markers(read: &Read) -> &Markers {
    read.file.markers.as_ref().unwrap()
}

/// The cells of the rows, by a plain split at tabs.
fn naive_rows(bytes: &[u8]) -> Vec<Vec<Option<f64>>> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let cell = |cell: &str| match cell.trim().to_lowercase().as_str() {
        "" | "nan" => None,
        number => Some(number.parse().unwrap()),
    };
    let rows = text.lines().skip(5).filter(|line| !line.trim().is_empty());
    rows.map(|line| line.split('\t').map(cell).collect()).collect()
}

#[test]
fn every_file_has_its_markers_frames_rate_and_unit() {
    for (case, bytes, read) in cases() {
        let file = case.file;
        assert_eq!(markers(&read).frame_count(), case.frames, "{file}");
        assert_eq!(markers(&read).markers.len(), case.markers, "{file}");
        let starred = |name: &str| name.strip_prefix('*').is_some_and(|n| n.parse::<u32>().is_ok());
        let named = markers(&read).markers.iter().filter(|m| !starred(&m.name)).count();
        assert_eq!(named, case.named, "{file}");
        assert!((markers(&read).rate.nominal_fps() - case.fps).abs() < 1e-9, "{file}");
        assert_eq!(read.file.units.length.name(), Some(case.unit), "{file}");
        assert!(read.file.units.is_declared(), "{file}");

        let counts: Vec<_> = read.warnings.iter().map(|w| w.kind.clone()).collect();
        let mut expected = case.warnings;
        let found = case.markers as u64;
        if case.declared != found {
            let count =
                WarningKind::Count { what: "markers".into(), declared: case.declared, found };
            assert!(counts.contains(&count), "{file}: {counts:?}");
            expected += 1;
        }
        expected += usize::from(case.named < case.markers);
        assert_eq!(counts.len(), expected, "{file}: {counts:?}");
        let strict = ReadOptions { mode: Mode::Strict, ..ReadOptions::default() };
        let strictly = condyle::formats::read(&bytes, None, &strict);
        assert_eq!(strictly.is_ok(), expected == 0, "{file}");
    }
}

#[test]
fn every_value_is_what_a_plain_split_at_tabs_finds() {
    for (case, bytes, read) in cases() {
        let unit = read.file.units.length.metres();
        let markers = markers(&read);
        let rows = naive_rows(&bytes);
        assert_eq!(rows.len(), case.frames, "{}", case.file);
        let mut values = 0;
        for (f, row) in rows.iter().enumerate() {
            assert_eq!(row[1], Some(markers.times_s[f]), "{} time {f}", case.file);
            for (slot, cells) in row[2..].chunks(3).enumerate() {
                let expected = match cells {
                    [Some(x), Some(y), Some(z)] => Some([x * unit, y * unit, z * unit]),
                    cells => {
                        assert!(cells.iter().all(Option::is_none));
                        None
                    }
                };
                // Columns without a name are named by their number, the others are in order.
                let star = format!("*{}", slot + 1);
                let marker = match markers.markers.iter().find(|m| m.name == star) {
                    None if slot >= case.named => {
                        assert_eq!(expected, None, "{} frame {f} slot {slot}", case.file);
                        continue;
                    }
                    None => &markers.markers[slot],
                    Some(marker) => marker,
                };
                let found = marker.position_m(f).map(|p| p.to_array());
                assert_eq!(found, expected, "{} frame {f} slot {slot}", case.file);
                values += usize::from(found.is_some());
            }
        }
        let seen: usize = markers.markers.iter().map(|m| case.frames - m.missing()).sum();
        assert_eq!(values, seen, "{}: nothing lost, nothing made up", case.file);
        assert!(values > 0, "{}", case.file);
    }
}

#[test]
fn known_values() {
    for (case, _, read) in cases() {
        let at = |name: &str, frame: usize| {
            let marker = markers(&read).markers.iter().find(|m| m.name == name).unwrap();
            marker.position_m(frame).map(|p| p.to_array())
        };
        match case.file {
            "arm26_elbow_flex" => assert_eq!(
                at("r_radius_styloid", 1),
                Some([-12.867_024_79 * 0.001, 266.399_619_7 * 0.001, 251.382_549_6 * 0.001])
            ),
            "exampleFormat" => {
                assert_eq!(at("marker1", 0), None);
                assert_eq!(at("marker2", 0), Some([-0.152, 0.245, -1.71]));
                assert_eq!(at("marker2", 2), None);
            }
            "10002-20130626160334-Unnamed" => assert_eq!(
                at("*4", 300),
                Some([275.181_18 * 0.001, 450.914_09 * 0.001, -126.923_59 * 0.001])
            ),
            "Knee" => assert!(at("genou1_NewMarker3", 0).is_some()),
            "walk" => assert_eq!(at("V_R.TT#2", 0), None),
            _ => {}
        }
    }
}

#[test]
fn reading_what_was_written_gives_the_same() {
    for (case, bytes, first) in cases() {
        let written = write(&first.file, Format::Trc, &WriteOptions::default()).unwrap();
        assert_eq!(written.warnings, [], "{}", case.file);
        let text = &written.parts[0].1;
        let second = read(text, None, &ReadOptions::default()).unwrap();
        let (a, b) = (markers(&first), markers(&second));
        assert_eq!((a.rate, &a.times_s), (b.rate, &b.times_s), "{}", case.file);
        assert_eq!(a.markers.len(), b.markers.len(), "{}", case.file);
        for (a, b) in a.markers.iter().zip(&b.markers) {
            assert_eq!(a.name, b.name, "{}", case.file);
            for f in 0..case.frames {
                assert_eq!(a.position_m(f), b.position_m(f), "{} {}", case.file, a.name);
            }
        }
        let (Origin::Trc(a), Origin::Trc(b)) = (&first.file.origin, &second.file.origin) else {
            panic!("no header")
        };
        assert_eq!((&a.path, a.first_frame), (&b.path, b.first_frame));
        for (name, value) in &a.fields {
            let counted = name == "NumMarkers" || name == "NumFrames";
            assert!(counted || b.field(name) == Some(value), "{} {name}", case.file);
        }
        // And the numbers are those of the source: equal as decimals, not only as metres.
        if case.named == case.markers {
            for (row, source) in naive_rows(text).iter().zip(naive_rows(&bytes)) {
                let width = 2 + 3 * case.markers;
                assert_eq!(row[..width], source[..width], "{}", case.file);
            }
        }
        let again = write(&second.file, Format::Trc, &WriteOptions::default()).unwrap();
        assert!(again.parts[0].1 == *text, "{}", case.file);
    }
}

#[test]
fn a_file_cut_off_anywhere_never_loses_frames_silently() {
    let Some(path) = shared("trc/arm26_elbow_flex.trc") else { return };
    let bytes = fs::read(path).unwrap();
    let lenient = ReadOptions { mode: Mode::Lenient, ..ReadOptions::default() };
    let strict = ReadOptions { mode: Mode::Strict, ..ReadOptions::default() };
    let header = bytes.windows(2).position(|w| w == b"\n\n").unwrap() + 2;
    for end in header..bytes.trim_ascii_end().len() - 12 {
        let whole = read(&bytes[..end], None, &lenient).unwrap();
        assert!(!whole.warnings.is_empty(), "cut at {end}");
        let lines = bytes[header..end].iter().filter(|&&b| b == b'\n').count();
        // A whole last row may lack its line end, and a cut last number cannot be told.
        let frames = markers(&whole).frame_count();
        assert!(frames == lines || frames == lines + 1, "cut at {end}: {frames} of {lines}");
        assert!(read(&bytes[..end], None, &strict).is_err(), "cut at {end}");
    }
}
