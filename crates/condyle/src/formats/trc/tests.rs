use glam::DVec3;

use super::{MAX_MARKERS, read};
use crate::formats::UnitSource;
use crate::formats::{
    Format, LengthUnit, Mode, MotionFile, Origin, OutputUnit, Position, Read, ReadErrorKind,
    ReadOptions, Units, Warning, WarningKind, WriteError, WriteOptions,
};
use crate::math::{Angle, Points, Rotation, Rotations};
use crate::motion::{Clip, FrameRate, KeyTimes, Marker, Markers, Track};
use crate::skeleton::{EndSite, Joint, Skeleton};

const HEAD: &str = "PathFileType\t4\t(X/Y/Z)\tx.trc\n\
    DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n";

/// A file of `frames` and `markers` (as declared), with this line of names and these rows.
fn trc(frames: &str, markers: &str, names: &str, rows: &str) -> String {
    format!("{HEAD}100\t100\t{frames}\t{markers}\tm\t100\t1\t2\n{names}\n\t\tX1\tY1\tZ1\n\n{rows}")
}

/// Two markers A and B, two frames, with these rows.
fn two(rows: &str) -> String {
    trc("2", "2", "Frame#\tTime\tA\t\t\tB\t\t", rows)
}

#[track_caller]
fn parse_as(text: impl AsRef<[u8]>, mode: Mode) -> Read {
    crate::formats::read(text.as_ref(), None, &ReadOptions { mode, ..ReadOptions::default() })
        .unwrap()
}

#[track_caller]
fn parse(text: impl AsRef<[u8]>) -> Read {
    parse_as(text, Mode::Repair)
}

/// Reads without any warning.
#[track_caller]
fn clean(text: impl AsRef<[u8]>) -> Markers {
    parse_as(text, Mode::Strict).file.markers.unwrap()
}

#[track_caller]
fn check_error(
    text: impl AsRef<[u8]>,
    line: u32,
    column: u32,
    kind: impl std::borrow::Borrow<ReadErrorKind>,
) {
    let error = read(text.as_ref(), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.kind(), kind.borrow());
    assert_eq!(error.position(), Some(Position::Text { line, column }));
}

fn names(markers: &Markers) -> Vec<&str> {
    markers.markers.iter().map(|m| m.name.as_str()).collect()
}

/// All positions, marker by marker.
fn positions(markers: &Markers) -> Vec<Vec<Option<[f64; 3]>>> {
    let frames = 0..markers.frame_count();
    let path = |m: &Marker| {
        assert_eq!(m.positions_m.len(), markers.frame_count(), "one position per frame");
        frames.clone().map(|f| m.position_m(f).map(|p| p.to_array())).collect()
    };
    markers.markers.iter().map(path).collect()
}

fn repaired(what: &str) -> WarningKind {
    WarningKind::Repaired { what: what.to_owned() }
}

fn at(kind: WarningKind, line: u32, column: u32) -> Warning {
    Warning { kind, path: None, at: Some(Position::Text { line, column }) }
}

fn write(file: &MotionFile, options: &WriteOptions) -> (String, Vec<Warning>) {
    let written = crate::formats::write(file, Format::Trc, options).unwrap();
    assert_eq!(written.parts.len(), 1);
    (String::from_utf8(written.parts[0].1.clone()).unwrap(), written.warnings)
}

const ROWS: &str = "1\t0\t1\t2\t3\t4\t5\t6\n2\t0.01\t1.5\t-2e-1\t+3.\t.4\t5E+1\t-0\n";

#[test]
fn a_plain_file() {
    let read = parse_as(two(ROWS), Mode::Strict);
    assert_eq!(read.warnings, []);
    assert_eq!(read.file.units, Units { length: LengthUnit::M, source: UnitSource::Declared });
    assert!(read.file.skeleton.is_empty() && read.file.clip.is_none());
    let markers = read.file.markers.unwrap();
    assert_eq!(names(&markers), ["A", "B"]);
    assert_eq!(markers.times_s, [0.0, 0.01]);
    assert_eq!(markers.rate, FrameRate::from_fps(100.0).unwrap());
    assert_eq!(
        positions(&markers),
        [
            vec![Some([1.0, 2.0, 3.0]), Some([1.5, -0.2, 3.0])],
            vec![Some([4.0, 5.0, 6.0]), Some([0.4, 50.0, -0.0])],
        ]
    );
    let Origin::Trc(header) = read.file.origin else { panic!("no header") };
    assert_eq!((header.path.as_str(), header.first_frame), ("x.trc", 1));
    assert_eq!(header.field("orignumframes"), Some("2"));
    assert_eq!(header.fields.len(), 8);
}

#[test]
fn line_ends_final_newline_and_blank_lines_do_not_matter() {
    let plain = two(ROWS);
    let expected = positions(&clean(&plain));
    for (what, text) in [
        ("CRLF", plain.replace('\n', "\r\n")),
        ("CR", plain.replace('\n', "\r")),
        ("CR CRLF", plain.replace('\n', "\r\r\n")),
        ("no final newline", plain.trim_end().to_owned()),
        ("no blank line after the header", plain.replace("\n\n", "\n")),
        ("no row of axes", plain.replace("\t\tX1\tY1\tZ1\n", "")),
        ("neither", plain.replace("\t\tX1\tY1\tZ1\n\n", "")),
        ("blank row of axes", plain.replace("\t\tX1\tY1\tZ1\n", "\t\t\n")),
        ("trailing tabs", plain.replace('\n', "\t\n")),
        ("many trailing tabs", plain.replace('\n', "\t\t\t\t\t \n")),
        ("trailing blanks", plain.replace('\n', "  \n")),
        ("blanks around", plain.replace('\t', " \t  ")),
        ("Ctrl-Z at the end", format!("{plain}\u{1a}")),
        ("blank lines at the end", format!("{plain}\n\t\t\n\n")),
        ("byte order mark", format!("\u{feff}{plain}")),
        (
            "lower case",
            plain.replace("Frame#\tTime", "frame#\ttime").replace("DataRate", "datarate"),
        ),
    ] {
        assert_eq!(positions(&clean(&text)), expected, "{what}");
    }
}

#[test]
fn missing_positions_in_all_spellings() {
    for cell in [
        "",
        " ",
        "NaN",
        "nan",
        "NAN",
        "Nan",
        "-nan",
        "1.#QNAN",
        "1.#QNAN0",
        "-1.#IND",
        "-1.#IND00",
        "1.#SNAN",
        "-nan(ind)",
        "nan(ind)",
        "-NaN(IND)",
        "nan(0x8000)",
        "QNaN",
        " nan ",
    ] {
        let rows = format!(
            "1\t0\t{cell}\t{cell}\t{cell}\t4\t5\t6\n2\t.01\t1\t2\t3\t{cell}\t{cell}\t{cell}\n"
        );
        assert_eq!(
            positions(&clean(two(&rows))),
            [vec![None, Some([1.0, 2.0, 3.0])], vec![Some([4.0, 5.0, 6.0]), None]],
            "{cell:?}"
        );
        let marker = &clean(two(&rows)).markers[0];
        assert!(marker.positions_m.at(0).to_array().iter().all(|v| v.is_nan()));
        assert_eq!(marker.missing(), 1);
    }
}

#[test]
fn cells_missing_at_the_end_of_a_row_are_missing_markers() {
    let markers = clean(two("1\t0\t1\t2\t3\n2\t.01\n"));
    assert_eq!(positions(&markers), [vec![Some([1.0, 2.0, 3.0]), None], vec![None, None]]);
    // Also in the last line, if the row before does not have more.
    let markers = clean(two("1\t0\t1\t2\t3\n2\t.01\t1\t2\t3"));
    assert_eq!(positions(&markers)[1], [None, None]);
}

#[test]
fn a_cell_that_is_no_number_is_an_error_at_its_place() {
    let bad = |text: &str| ReadErrorKind::BadNumber { text: text.to_owned() };
    check_error(two("1\t0\t1\t2\t3\t4\tx5\t6\n"), 7, 13, bad("x5"));
    check_error(two("1\t0\t1\t2,5\t3\n2\t0\n"), 7, 7, bad("2,5"));
    check_error(two("1\t0\t 1 2\t2\t3\n2\t0\n"), 7, 6, bad("1 2"));
    check_error(two("1\t0\n2\tnow\n"), 8, 3, bad("now"));
    check_error(two("1\t0\nFrame\t0\n"), 8, 1, bad("Frame"));
    check_error(two("1\t0\t--1\t2\t3\n2\t0\n"), 7, 5, bad("--1"));
    check_error(two("1\t0\tnano\t2\t3\n2\t0\n"), 7, 5, bad("nano"));
    for text in ["inf", "-INF", "1e999", "1.#INF"] {
        let kind = ReadErrorKind::NotFinite { text: text.to_owned() };
        check_error(two(&format!("1\t0\t1\t{text}\t3\n2\t0\n")), 7, 7, kind);
    }
    let kind =
        ReadErrorKind::BadValue { what: "the frame number 1.5 is not a whole number".into() };
    check_error(two("1.5\t0\n2\t0\n"), 7, 1, kind);
}

#[test]
fn a_file_cut_off_within_a_row_is_an_error_and_lenient_drops_the_row() {
    let within = || ReadErrorKind::Truncated { within: "frame 1".to_owned() };
    for (row, column) in [
        ("2\t.01\t1", 8),              // after x
        ("2\t.01\t1\t", 9),            // before y
        ("2\t.01\t1\t2", 10),          // after y
        ("2\t.01\t1\t2\t", 11),        // before z
        ("2\t.01\t1\t2\t3", 12),       // a whole position, but the row before has two
        ("2\t.01\t1\t2\t3\t4\t-", 15), // half a number
        ("2\t.01\t1\t2\t3\t4\t5\tNa", 17),
        ("2\t.01", 6),
        ("2\t", 3),
        ("2", 2),
        ("2\t.01\t1\t2\n", 10), // with a line end all the same
    ] {
        let text = two(&format!("1\t0\t1\t2\t3\t4\t5\t6\n{row}"));
        check_error(&text, 8, column, within());
        let read = parse_as(&text, Mode::Lenient);
        assert_eq!(positions(&read.file.markers.unwrap())[1], [Some([4.0, 5.0, 6.0])], "{row:?}");
        let why = "the file ends within frame 1".to_owned();
        let dropped = WarningKind::Dropped { bytes: row.len() as u64, why };
        assert_eq!(
            read.warnings,
            [at(WarningKind::FrameCount { declared: 2, found: 1 }, 3, 9), at(dropped, 8, column)],
            "{row:?}"
        );
    }
}

#[test]
fn a_row_cut_off_in_the_midst_of_the_file_is_an_error() {
    let text = two("1\t0\t1\t2\t3\t4\n2\t.01\t1\t2\t3\n");
    let what = "frame 0 ends within a position: 4 values, which are no triples".to_owned();
    check_error(&text, 7, 11, ReadErrorKind::BadValue { what });
    // Lenient stops at the last whole frame, and drops nothing before.
    let text = trc("3", "1", "Frame#\tTime\tA", "1\t0\t1\t2\t3\n2\t.01\t1\t2\n3\t.02\t1\t2\t3\n");
    let read = parse_as(&text, Mode::Lenient);
    assert_eq!(read.file.markers.unwrap().frame_count(), 1);
    assert!(matches!(read.warnings[1].kind, WarningKind::Dropped { bytes: 22, .. }));
    assert_eq!(read.warnings.len(), 2, "{:?}", read.warnings);
}

#[test]
fn half_a_position_with_all_its_cells_is_missing_with_a_warning() {
    let read = parse(two("1\t0\t1\t\t3\t4\t5\t6\n2\t.01\tnan\t2\t3\t4\t5\t6\n"));
    let what = "2 frames have positions of one or two coordinates; taken as missing";
    assert_eq!(read.warnings, [at(repaired(what), 7, 5)]);
    assert_eq!(positions(&read.file.markers.unwrap())[0], [None, None]);
}

#[test]
fn names_over_doubled_tabs_are_taken_in_order() {
    for line in ["Frame#\tTime\t\tA\t\tB", "Frame#\tTime\tA\tB", "Frame#\t\tTime\t\tA\t\tB\t"] {
        let markers = clean(trc("2", "2", line, ROWS));
        assert_eq!(names(&markers), ["A", "B"], "{line:?}");
        assert_eq!(positions(&markers)[1][0], Some([4.0, 5.0, 6.0]), "{line:?}");
    }
}

#[test]
fn names_keep_blanks_inside_and_stars_and_latin_letters() {
    let line = "Frame#\tTime\t left  hip \t\t\t*Unnamed_66\t\t";
    assert_eq!(names(&clean(trc("2", "2", line, ROWS))), ["left  hip", "*Unnamed_66"]);
    let mut latin = trc("2", "2", "Frame#\tTime\tH?fte\t\t\tB", ROWS).into_bytes();
    let place = latin.iter().position(|&b| b == b'?').unwrap();
    latin[place] = 0xFC;
    assert_eq!(names(&clean(latin)), ["Hüfte", "B"]);
}

#[test]
fn markers_of_the_same_name_are_numbered() {
    let line = "Frame#\tTime\tÄ\t\t\tA\t\t\tÄ\t\t\tÄ";
    let read = parse(trc("1", "4", line, "1\t0\t1\t1\t1\t2\t2\t2\t3\t3\t3\t4\t4\t4\n"));
    assert_eq!(names(read.file.markers.as_ref().unwrap()), ["Ä", "A", "Ä#2", "Ä#3"]);
    let renamed = |renamed: &str, column| {
        let (name, renamed) = ("Ä".to_owned(), renamed.to_owned());
        at(WarningKind::RenamedJoint { name, renamed }, 4, column)
    };
    assert_eq!(read.warnings, [renamed("Ä#2", 21), renamed("Ä#3", 25)]);
}

#[test]
fn data_without_a_name_are_markers_called_by_their_column() {
    let count = |declared, found| WarningKind::Count { what: "markers".into(), declared, found };
    // More triples than names; the third has no data.
    let rows = "1\t0\t1\t1\t1\t2\t2\t2\t\t\t\t4\t4\t4\n2\t.01\t1\t1\t1\n";
    let read = parse(trc("2", "9", "Frame#\tTime\tA\t\t\t", rows));
    assert_eq!(names(read.file.markers.as_ref().unwrap()), ["A", "*2", "*4"]);
    let unnamed = "a marker without a name has data and is called \"*2\", and so on for 1 more";
    assert_eq!(read.warnings, [at(count(9, 3), 3, 11), at(repaired(unnamed), 4, 1)]);
    let markers = read.file.markers.unwrap();
    assert_eq!(positions(&markers)[2], [Some([4.0; 3]), None]);

    // A gap between names, and a name that is taken.
    let rows = "1\t0\t1\t1\t1\t2\t2\t2\t3\t3\t3\n";
    let read = parse(trc("1", "3", "Frame#\tTime\t*2\t\t\t\t\t\tC", rows));
    assert_eq!(names(read.file.markers.as_ref().unwrap()), ["*2", "*2#2", "C"]);
    assert_eq!(positions(&read.file.markers.unwrap())[2], [Some([3.0; 3])]);

    // The gap has no data: it is no marker, and the name after it keeps its columns.
    let rows = "1\t0\t1\t1\t1\t\t\t\t3\t3\t3\n";
    let markers = clean(trc("1", "2", "Frame#\tTime\tA\t\t\t\t\t\tC", rows));
    assert_eq!(names(&markers), ["A", "C"]);
    assert_eq!(positions(&markers)[1], [Some([3.0; 3])]);
}

#[test]
fn names_without_data_are_markers_that_are_never_seen() {
    let read = parse(trc("2", "1", "Frame#\tTime\tA\t\t\tV", "1\t0\t1\t2\t3\t\t\t\n2\t.01\n"));
    let markers = read.file.markers.unwrap();
    assert_eq!(positions(&markers), [vec![Some([1.0, 2.0, 3.0]), None], vec![None, None]]);
    let count = WarningKind::Count { what: "markers".into(), declared: 1, found: 2 };
    assert_eq!(read.warnings, [at(count, 3, 11)]);
}

#[test]
fn no_markers_and_no_frames() {
    let markers = clean(trc("       2", "0", "Frame#\tTime\t", "1\t0.000\t\n2\t0.010\t\n"));
    assert_eq!((markers.times_s.len(), markers.markers.len()), (2, 0));
    let markers = clean(trc("0", "1", "Frame#\tTime\tA", ""));
    assert_eq!((markers.times_s.len(), markers.markers.len()), (0, 1));
}

#[test]
fn a_wrong_number_of_frames_is_a_warning_and_an_impossible_one_an_error() {
    let count = |frames: &str| trc(frames, "2", "Frame#\tTime\tA\t\t\tB", ROWS);
    for (text, declared) in [("3", 3), ("1", 1), (" 20 ", 20), ("2e1", 20)] {
        let read = parse(count(text));
        assert_eq!(read.file.markers.unwrap().frame_count(), 2);
        let kind = WarningKind::FrameCount { declared, found: 2 };
        let column = 9 + u32::from(text.starts_with(' '));
        assert_eq!(read.warnings, [at(kind, 3, column)]);
    }
    for text in ["many", "-1", "2.5", "nan"] {
        let what = "NumFrames is missing or no count; 2 were read";
        assert_eq!(parse(count(text)).warnings, [at(repaired(what), 3, 9)]);
    }
    let rest = count("1").split_once("1\t2\n").unwrap().1.len() as u64;
    let possible = rest.div_ceil(2);
    let kind = |declared| ReadErrorKind::Declared { what: "frames", declared, possible };
    check_error(count("2000000000"), 3, 9, kind(2_000_000_000));
    check_error(count("1e300"), 3, 9, kind(u64::MAX));
    let read = parse_as(count("2000000000"), Mode::Lenient);
    assert_eq!(read.file.markers.unwrap().frame_count(), 2);

    let text = trc("2", "2000000000", "Frame#\tTime\tA\t\t\tB", ROWS);
    let kind = ReadErrorKind::Declared { what: "markers", declared: 2_000_000_000, possible: rest };
    check_error(text, 3, 11, kind);
}

#[test]
fn more_names_than_memory_would_hold_are_refused() {
    let many = "a\t".repeat(MAX_MARKERS + 1);
    let text = trc("1", "1", &format!("Frame#\tTime\t{many}"), "1\t0\n");
    let column = u32::try_from(13 + 2 * MAX_MARKERS).unwrap();
    let kind = ReadErrorKind::TooMany { what: "markers", limit: MAX_MARKERS as u64 };
    check_error(text, 4, column, kind);

    // 60,000 markers in 100,000 rows of four bytes would be 144 GB.
    let names = format!("Frame#\tTime\t{}", "a\t".repeat(60_000));
    let text = trc("100000", "60000", &names, &"1\t0\n".repeat(100_000));
    let limit = text.len() as u64 + (1 << 20);
    let what = "marker positions for a file of this length";
    check_error(text, 4, 1, ReadErrorKind::TooMany { what, limit });

    // Unnamed ones the same: one long row, many short ones.
    let long = "\t1\t1\t1".repeat(60_000);
    let rows = format!("1\t0{long}\n{}", "2\t0\n".repeat(100_000));
    let error = read(trc("100001", "0", "Frame#\tTime", &rows).as_bytes(), &ReadOptions::default());
    assert!(matches!(error.unwrap_err().kind(), ReadErrorKind::TooMany { .. }));
}

#[test]
fn units_in_any_spelling() {
    let read_with = |unit: &str, options: &ReadOptions| {
        let text = two(ROWS).replace("\tm\t100", &format!("\t{unit}\t100"));
        crate::formats::read(text.as_bytes(), None, options).unwrap()
    };
    for (text, metres) in [
        ("m", 1.0),
        ("M", 1.0),
        ("Meters", 1.0),
        ("metre", 1.0),
        ("mm", 0.001),
        ("MM", 0.001),
        ("Millimeters", 0.001),
        ("cm", 0.01),
        ("in", 0.0254),
        ("Inches", 0.0254),
        ("ft", 0.3048),
        ("cmu", 0.0254 / 0.45),
        ("0.3 m", 0.3),
    ] {
        let read = read_with(text, &ReadOptions::default());
        assert_eq!(read.file.units.length.metres(), metres, "{text}");
        assert!(read.file.units.is_declared() && read.warnings.is_empty(), "{text}");
        assert_eq!(positions(&read.file.markers.unwrap())[0][0].unwrap()[2], 3.0 * metres);
    }
    let read = read_with("parsec", &ReadOptions::default());
    assert_eq!(read.file.units, Units { length: LengthUnit::MM, source: UnitSource::Assumed });
    let what = "\"parsec\" is no unit of length we know; millimetres were assumed";
    assert_eq!(read.warnings, [at(repaired(what), 3, 13)]);
    let given = ReadOptions { source_unit: Some(LengthUnit::CM), ..ReadOptions::default() };
    let read = read_with("parsec", &given);
    assert_eq!(read.file.units, Units { length: LengthUnit::CM, source: UnitSource::Given });
    assert_eq!(positions(&read.file.markers.unwrap())[0][0], Some([0.01, 0.02, 0.03]));
    assert_eq!(read.warnings, []);
    // What the file declares counts more, and that is said.
    let read = read_with("m", &given);
    assert_eq!(read.file.units, Units { length: LengthUnit::M, source: UnitSource::Declared });
    assert!(matches!(read.warnings[0].kind, WarningKind::UnitDeclared { .. }));
    let none = two(ROWS).replace("\tUnits", "").replace("\tm\t100", "\t100");
    assert_eq!(
        parse(none).file.units,
        Units { length: LengthUnit::MM, source: UnitSource::Assumed }
    );
}

#[test]
fn header_fields_are_found_by_name() {
    let swapped = "PathFileType\t4\t(X/Y/Z)\t\nUnits\t\tNumMarkers\tDataRate\tNumFrames\tMine\n\
                   cm\t2\t\t100\t2\tx\t\nFrame#\tTime\tA\t\t\tB\n";
    let read = parse_as(format!("{swapped}{ROWS}"), Mode::Strict);
    assert_eq!(read.file.units.length, LengthUnit::CM);
    let Origin::Trc(header) = read.file.origin else { panic!("no header") };
    assert_eq!((header.field("Mine"), header.path.as_str()), (Some("x"), ""));
}

#[test]
fn the_rate_comes_from_the_header_else_the_times_else_the_user() {
    let with = |rate: &str, rows: &str| two(rows).replace("\n100\t", &format!("\n{rate}\t"));
    let at_50 = "1\t1.00\n2\t1.02\n";
    for (rate, rows, frame_time, warned) in [
        ("100", "1\t0\n2\t.01\n", 0.01, false),
        ("119.88012", "1\t0.008342\n2\t0.016683\n", 1.0 / 119.880_12, false),
        ("0", at_50, 0.02, true),
        ("", at_50, 0.02, true),
        ("fast", at_50, 0.02, true),
        ("nan", at_50, 0.02, true),
        ("-5", "1\t0\n2\t0\n", 0.01, true),
    ] {
        let read = parse(with(rate, rows));
        let markers = read.file.markers.unwrap();
        assert!((markers.rate.frame_time_s() - frame_time).abs() < 1e-15, "{rate}");
        let kinds: Vec<_> = read.warnings.iter().map(|w| &w.kind).collect();
        let is_rate = |k: &&WarningKind| matches!(k, WarningKind::FrameTime { .. });
        assert_eq!(kinds.iter().any(is_rate), warned, "{rate}: {kinds:?}");
    }
    let options = ReadOptions { rate: FrameRate::from_fps(30.0), ..ReadOptions::default() };
    let read = read(with("x", "1\t0\n2\t0\n").as_bytes(), &options).unwrap();
    assert_eq!(read.file.markers.unwrap().rate.nominal_fps(), 30.0);

    let read = parse(with("250", "1\t0\n2\t0.04\n"));
    let what = "DataRate gives 0.004 s from frame to frame, the times 0.040000 s; DataRate is used";
    assert_eq!(read.warnings, [at(repaired(what), 3, 1)]);
    assert_eq!(read.file.markers.unwrap().times_s, [0.0, 0.04]);
}

#[test]
fn frame_numbers_and_times_are_repaired_with_a_warning() {
    let read = parse(two("7\t0\n9\t.02\n"));
    let kind = WarningKind::FrameNumbers { expected: 8, found: 9 };
    assert_eq!(read.warnings, [at(kind, 8, 1)]);
    let Origin::Trc(header) = read.file.origin else { panic!("no header") };
    assert_eq!(header.first_frame, 7);

    let read = parse(two("1\t1.5\n\t\t1\t2\t3\n"));
    assert_eq!(read.file.markers.as_ref().unwrap().times_s, [1.5, 1.51]);
    assert_eq!(
        read.warnings,
        [
            at(repaired("1 frames have no number; they are taken in the order of the file"), 8, 1),
            at(repaired("1 frames have no time; it was filled in from the frame rate"), 8, 1),
        ]
    );
}

#[test]
fn headers_that_make_no_sense_are_errors_at_their_place() {
    let expected = |expected: &str, found: &str| ReadErrorKind::Expected {
        expected: expected.to_owned(),
        found: found.to_owned(),
    };
    let truncated = || ReadErrorKind::Truncated { within: "the header".to_owned() };
    check_error("", 1, 1, truncated());
    check_error("PathFileType\t4\n", 2, 1, truncated());
    check_error(HEAD, 3, 1, truncated());
    check_error("Path\t4", 1, 1, expected("PathFileType and its version", "\"Path\""));
    let fields = "the header fields DataRate, CameraRate, …";
    check_error("PathFileType\n1\t2\n", 2, 1, expected(fields, "\"1\""));
    let columns = "the column headings Frame# and Time";
    check_error(trc("0", "0", "A\tB", ""), 4, 1, expected(columns, "\"A\""));
    let time = "the column heading Time";
    check_error(trc("0", "0", "Frame#\tA", ""), 4, 8, expected(time, "\"A\""));
    check_error(trc("0", "0", "Frame#", ""), 4, 7, expected(time, "the end of the line"));
    let what = "the columns are (X/Y), but only (X/Y/Z) can be read".to_owned();
    check_error(two("").replace("X/Y/Z", "X/Y"), 1, 16, ReadErrorKind::BadValue { what });
}

#[test]
fn no_cut_or_changed_byte_makes_it_panic() {
    let text = two("1\t0\t1\t2\t3\tnan\t\t-nan(ind)\n2\t.01\t1.#QNAN\t2\t3\t4\t5\t6\n");
    for mode in [Mode::Strict, Mode::Repair, Mode::Lenient] {
        let options = ReadOptions { mode, format: Some(Format::Trc), ..ReadOptions::default() };
        for end in 0..text.len() {
            let _ = crate::formats::read(&text.as_bytes()[..end], None, &options);
        }
        for i in 0..text.len() {
            for b in [0, b'\t', b'\n', b'\r', b' ', b'9', b'-', b'e', b'#', 0xFF] {
                let mut bytes = text.clone().into_bytes();
                bytes[i] = b;
                if let Ok(read) = crate::formats::read(&bytes, None, &options) {
                    let (written, _) = write(&read.file, &WriteOptions::default());
                    let again = parse(&written).file.markers.unwrap();
                    assert_eq!(positions(&again), positions(read.file.markers.as_ref().unwrap()));
                }
            }
        }
    }
}

fn read_again(text: &str) -> Result<Read, crate::formats::ReadError> {
    crate::formats::read(
        text.as_bytes(),
        None,
        &ReadOptions { mode: Mode::Strict, ..ReadOptions::default() },
    )
}

#[test]
fn writing_what_was_read_keeps_numbers_header_and_gaps() {
    let text = "PathFileType\t4\t(X/Y/Z)\tC:\\a b\\x.trc\n\
        DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n\
        100.00\t200.00\t2\t2\tmm\t400.0\t17\t1103\n\
        Frame#\tTime\tleft hip\t\t\tB\t\t\n\
        \t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n\
        17\t0.16\t617.24762\t-1055.27502\t0.1\t\t\t\t\n\
        18\t0.17\t\t\t\t16.9505475600001\t-1e-9\t1234567.12345678\n";
    let read = parse_as(text, Mode::Strict);
    let (written, warnings) = write(&read.file, &WriteOptions::default());
    assert_eq!(written, text);
    assert_eq!(warnings, []);
    // In another unit, only numbers and the unit change.
    let options = WriteOptions { unit: OutputUnit::Unit(LengthUnit::M), ..WriteOptions::default() };
    let (written, _) = write(&read.file, &options);
    assert!(written.contains("\tm\t400.0\t17\t"), "{written}");
    assert!(written.contains("17\t0.16\t0.61724762\t-1.05527502\t0.0001\t\t\t\t\n"), "{written}");
}

#[test]
fn writing_corrects_what_is_no_longer_true() {
    let read = parse(trc("9", "9", "Frame#\tTime\tA", "1\t0\t1\t2\t3\t4\t5\t6\n2\t0.01\n"));
    let mut file = read.file;
    let (written, _) = write(&file, &WriteOptions::default());
    assert!(written.contains("\n100\t100\t2\t2\tm\t"), "{written}");
    assert_eq!(names(&clean(&written)), ["A", "*2"]);
    file.markers.as_mut().unwrap().rate = FrameRate::from_fps(50.0).unwrap();
    let (written, _) = write(&file, &WriteOptions::default());
    assert!(written.contains("\n50\t100\t2\t2\tm\t"), "{written}");
}

#[test]
fn units_without_a_name_are_written_so_that_they_read_back() {
    let mut file = parse(two(ROWS)).file;
    let before = positions(file.markers.as_ref().unwrap());
    for unit in [LengthUnit::CMU, LengthUnit::from_metres(0.3).unwrap()] {
        file.units.length = unit;
        let (written, warnings) = write(&file, &WriteOptions::default());
        assert!(matches!(&warnings[..], [Warning { kind: WarningKind::NotWritten { .. }, .. }]));
        let again = parse_as(&written, Mode::Strict).file;
        assert_eq!(again.units, Units { length: unit, source: UnitSource::Declared });
        for (a, b) in
            before.iter().flatten().zip(positions(&again.markers.unwrap()).iter().flatten())
        {
            let distance = (DVec3::from(a.unwrap()) - DVec3::from(b.unwrap())).length();
            assert!(distance < 1e-14, "{distance}");
        }
    }
}

#[test]
fn prop_numbers_of_15_digits_come_back_and_all_keep_their_metres() {
    arbtest::arbtest(|u| {
        let unit = *u.choose(&[
            LengthUnit::M,
            LengthUnit::MM,
            LengthUnit::CM,
            LengthUnit::INCH,
            LengthUnit::CMU,
        ])?;
        let digits = u.int_in_range(-999_999_999_999_999_i64..=999_999_999_999_999)?;
        let short: f64 = format!("{digits}e{}", u.int_in_range(-20..=5)?).parse().unwrap();
        assert_eq!(super::write::in_unit(short * unit.metres(), unit.metres()), short);
        // Any number at all: the same metres, and the same text from then on.
        let any = f64::from(u.arbitrary::<i32>()?)
            * (1.0 + u.int_in_range(0..=1_u64 << 52)? as f64 / 3e16);
        let metres = any * unit.metres();
        let written = super::write::in_unit(metres, unit.metres());
        assert_eq!(written * unit.metres(), metres);
        Ok(())
    });
}

#[test]
fn prop_what_is_written_reads_back_the_same() {
    arbtest::arbtest(|u| {
        let frames = u.int_in_range(0..=4)?;
        let mut markers = Vec::new();
        for i in 0..u.int_in_range(0..=4)? {
            let mut positions_m = Points::new();
            for _ in 0..frames {
                let mut metres = || Ok(f64::from(u.arbitrary::<i32>()?) * 1e-5);
                let p = DVec3::new(metres()?, metres()?, metres()?);
                positions_m.push(if u.ratio(1, 3)? { DVec3::NAN } else { p });
            }
            markers.push(Marker { name: format!("m {i}"), positions_m });
        }
        let rate = FrameRate::from_fps(f64::from(u.int_in_range(1..=1000)?)).unwrap();
        let times_s = (0..frames).map(|f| f as f64 * rate.frame_time_s()).collect();
        let mut file = parse(two(ROWS)).file;
        file.origin = Origin::Made;
        file.markers = Some(Markers { rate, times_s, markers });
        // The first writing may round metres to what a unit can hold; from then on nothing changes.
        let first = read_again(&write(&file, &WriteOptions::default()).0).unwrap();
        let (text, _) = write(&first.file, &WriteOptions::default());
        let second = read_again(&text).unwrap();
        let (a, b) = (first.file.markers.unwrap(), second.file.markers.as_ref().unwrap());
        assert_eq!(positions(&a), positions(b));
        assert_eq!((names(&a), &a.times_s, a.rate), (names(b), &b.times_s, b.rate));
        assert_eq!(write(&second.file, &WriteOptions::default()).0, text);
        for (a, b) in
            positions(file.markers.as_ref().unwrap()).concat().iter().zip(positions(b).concat())
        {
            assert_eq!(a.is_some(), b.is_some());
            if let (Some(a), Some(b)) = (a, b) {
                assert!((DVec3::from(*a) - DVec3::from(b)).length() <= 1e-11);
            }
        }
        Ok(())
    });
}

/// A hip that walks and turns, a knee with two end sites; more frames than one block.
fn walker(frames: usize) -> (Skeleton, Clip) {
    let mut skeleton = Skeleton::new();
    let hip = skeleton.add_root(Joint::new("hip", DVec3::ZERO)).unwrap();
    let mut knee = Joint::new("knee", -0.5 * DVec3::Y);
    let site = |offset_m| EndSite { name: Some("named".to_owned()), offset_m };
    knee.end_sites = vec![site(-0.4 * DVec3::Y), site(0.1 * DVec3::X)];
    skeleton.add(hip, knee).unwrap();
    let walk: Points = (0..frames).map(|f| DVec3::new(0.01 * f as f64, 1.0, 0.0)).collect();
    let turn: Rotations =
        (0..frames).map(|f| Rotation::about_z(Angle::from_degrees(f as f64))).collect();
    let tracks = vec![
        Track::from_parts(turn, KeyTimes::EveryFrame, walk, KeyTimes::EveryFrame),
        Track::constant(Rotation::IDENTITY, -0.5 * DVec3::Y),
    ];
    let rate = FrameRate::from_frame_time(0.008_333_3).unwrap();
    (skeleton, Clip::new(frames, rate, tracks).unwrap())
}

#[test]
fn joint_centres_are_written_in_millimetres_with_their_names() {
    let (skeleton, clip) = walker(91);
    let file = MotionFile::new(skeleton, clip);
    let (text, warnings) = write(&file, &WriteOptions::default());
    assert_eq!(warnings, []);
    let head = "PathFileType\t4\t(X/Y/Z)\tcondyle.trc\n\
        DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n\
        120\t120\t91\t2\tmm\t120\t1\t91\n\
        Frame#\tTime\thip\t\t\tknee\t\t\n\
        \t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n\
        1\t0\t0\t1000\t0\t0\t500\t0\n\
        2\t0.0083333\t10\t1000\t0\t";
    assert!(text.starts_with(head), "{}", &text[..head.len() + 40]);
    let markers = clean(&text);
    // Turned by 90° about z, the shin points along +x.
    let at_90 = markers.markers[1].position_m(90).unwrap();
    assert!((at_90 - DVec3::new(0.9 + 0.5, 1.0, 0.0)).length() < 1e-15, "{at_90}");
    let metres = WriteOptions { unit: OutputUnit::Unit(LengthUnit::M), ..WriteOptions::default() };
    assert!(write(&file, &metres).0.contains("\n1\t0\t0\t1\t0\t0\t0.5\t0\n"));
    let native = WriteOptions { unit: OutputUnit::Native, ..WriteOptions::default() };
    assert!(write(&file, &native).0.contains("\tm\t"));
}

#[test]
fn joint_centres_over_several_blocks_agree_with_single_poses() {
    let (skeleton, clip) = walker(600);
    let options = WriteOptions { end_sites: true, ..WriteOptions::default() };
    let file = MotionFile::new(skeleton.clone(), clip.clone());
    let markers = clean(write(&file, &options).0);
    assert_eq!(names(&markers), ["hip", "knee", "knee_end", "knee_end2"]);
    for frame in clip.frames() {
        let world = clip.pose(frame).world(&skeleton);
        let (knee, turn) = (world.positions_m[1], world.rotations[1]);
        let expected = [
            world.positions_m[0],
            knee,
            knee + turn * (-0.4 * DVec3::Y),
            knee + turn * (0.1 * DVec3::X),
        ];
        for (marker, expected) in markers.markers.iter().zip(expected) {
            let found = marker.position_m(frame.get()).unwrap();
            // Two roundings of numbers below 8: one unit in the last place each.
            assert!((found - expected).abs().max_element() <= 2e-15, "{frame:?} {}", marker.name);
        }
        assert_eq!(markers.times_s[frame.get()], clip.rate().time_of(frame));
    }
}

#[test]
fn names_that_a_table_cannot_hold_are_changed_with_a_warning() {
    let mut skeleton = Skeleton::new();
    let mut root = Joint::new("a\tb", DVec3::ZERO);
    root.end_sites = vec![EndSite::default()];
    let root = skeleton.add_root(root).unwrap();
    skeleton.add(root, Joint::new("a_b", DVec3::X)).unwrap();
    skeleton.add(root, Joint::new("c\n ", DVec3::X)).unwrap();
    skeleton.add(root, Joint::new("a_b_end", DVec3::X)).unwrap();
    let still = || Track::constant(Rotation::IDENTITY, DVec3::X);
    let rate = FrameRate::from_fps(100.0).unwrap();
    let clip = Clip::new(1, rate, vec![still(), still(), still(), still()]).unwrap();
    let options = WriteOptions { end_sites: true, ..WriteOptions::default() };
    let (text, warnings) = write(&MotionFile::new(skeleton, clip), &options);
    assert_eq!(names(&clean(text)), ["a_b", "a_b#2", "c_", "a_b_end", "a_b_end#2"]);
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            r#""a\tb" is called "a_b" in the TRC"#,
            r#""a_b" is called "a_b#2" in the TRC"#,
            r#""c\n " is called "c_" in the TRC"#,
            r#""a\tb_end" is called "a_b_end#2" in the TRC"#,
        ]
    );
}

#[test]
fn a_skeleton_without_motion_cannot_be_written() {
    let (skeleton, clip) = walker(1);
    let mut file = MotionFile::new(skeleton, clip);
    file.clip = None;
    let error = super::write(&file, &WriteOptions::default()).unwrap_err();
    assert!(matches!(error, WriteError::Unsupported { .. }));
    assert!(error.to_string().contains("a skeleton without motion"), "{error}");
}

#[test]
fn positions_beyond_what_a_double_holds_are_left_out_with_a_warning() {
    let mut file = parse(two(ROWS)).file;
    file.markers.as_mut().unwrap().markers[0].positions_m.set(0, DVec3::splat(1e307));
    file.units.length = LengthUnit::MM;
    let (text, warnings) = write(&file, &WriteOptions::default());
    assert!(text.contains("\n1\t0\t\t\t\t4000\t"), "{text}");
    assert!(matches!(&warnings[..], [Warning { kind: WarningKind::NotWritten { .. }, .. }]));
}

#[test]
fn blanks_may_stand_for_tabs() {
    let rows = "1\t0\t1\t2\t3\t4\t5\t6\n2\t0.01\t\t\t\t7\t8\t9\n";
    let text = two(rows);
    let expected = clean(&text);
    assert_eq!(names(&expected), ["A", "B"]);
    assert_eq!(positions(&expected)[0], [Some([1.0, 2.0, 3.0]), None]);
    let lines: Vec<&str> = text.lines().collect();
    // Any of the header's lines, and all of them.
    let blank =
        |line: &str| line.split('\t').filter(|w| !w.is_empty()).collect::<Vec<_>>().join("  ");
    for spaced in [&[0][..], &[1], &[2], &[1, 2], &[3], &[4], &[0, 1, 2, 3, 4]] {
        let with = lines.iter().enumerate().map(|(i, line)| match spaced.contains(&i) {
            true => blank(line) + " \r\n",
            false => format!("{line}\n"),
        });
        let text: String = with.collect();
        let found = clean(&text);
        assert_eq!(names(&found), names(&expected), "{text}");
        assert_eq!(positions(&found), positions(&expected), "{text}");
        assert_eq!(found.rate, expected.rate, "{text}");
    }
    // Rows, too, where nothing is missing; and between the tabs of a row.
    for row in ["1 0 1 2 3 4 5 6", " 1  0\t1 2 3\t 4  5 6 ", "1 0\t1\t2 3 4 5\t6"] {
        let found = clean(two(&format!("{row}\n2\t0.01\t\t\t\t7\t8\t9\n")));
        assert_eq!(positions(&found), positions(&expected), "{row:?}");
    }
    let Origin::Trc(header) = parse(
        text.replace("PathFileType\t4\t(X/Y/Z)\tx.trc", "PathFileType 4 (X/Y/Z) my walk.trc"),
    )
    .file
    .origin
    else {
        panic!("a TRC")
    };
    assert_eq!(header.path, "my walk.trc");
    assert_eq!(header.field("NumMarkers"), Some("2"));
}

#[test]
fn names_with_blanks_stay_whole_where_tabs_separate_them() {
    let row = "1\t0\t1\t2\t3\t4\t5\t6\n";
    let text = trc("1", "2", "Frame#\tTime\tL Knee\t\t\tR Knee\t\t", row);
    assert_eq!(names(&clean(text)), ["L Knee", "R Knee"]);
    // Four names for two markers are no better than two.
    let text = trc("1", "3", "Frame#\tTime\tL Knee\t\t\tR Knee\t\t", row);
    assert_eq!(names(&parse(text).file.markers.unwrap()), ["L Knee", "R Knee"]);
    // As many as the header says.
    let text = trc("1", "2", "Frame# Time\tA B", row);
    assert_eq!(names(&clean(text)), ["A", "B"]);
    let text = trc("1", "2", "Frame#\tTime\tA B", row);
    assert_eq!(names(&clean(text)), ["A", "B"]);
}

#[test]
fn a_header_of_countless_cells_takes_no_memory_for_them() {
    let text = trc("1", "2", "Frame#\tTime\tA\t\t\tB\t\t", "1\t0\t1\t2\t3\t4\t5\t6\n");
    let wide = text.replace("OrigNumFrames", &format!("OrigNumFrames{}", "\t".repeat(1 << 20)));
    assert_eq!(names(&clean(wide)), ["A", "B"]);
    let many = text.replace("OrigNumFrames", &"x ".repeat(2000));
    let kind = ReadErrorKind::TooMany { what: "header fields", limit: 1000 };
    let error = read(many.as_bytes(), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.kind(), &kind);
}
