//! What BVH files look like in the wild, and what we make of it (rows C1, C2 of the checklist, the
//! BVH conventions).

use glam::DVec3;

use super::read_document;
use crate::formats::{
    Format, LengthUnit, Mode, MotionFile, OutputUnit, Position, Read, ReadError, ReadErrorKind,
    ReadOptions, WarningKind, WriteOptions, read, write,
};
use crate::math::{Angle, Rotation};
use crate::motion::FrameIndex;
use crate::skeleton::JointIndex;

const TWO_JOINTS: &str = "\
HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Spine
  {
    OFFSET 0 10 0
    CHANNELS 3 Yrotation Zrotation Xrotation
    End Site
    {
      OFFSET 0 5 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.0083333
1 2 3 10 20 30 40 50 60
4 5 6 -10 -20 -30 -40 -50 400
";

fn ok(text: impl AsRef<[u8]>) -> Read {
    read(text.as_ref(), None, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn err(text: impl AsRef<[u8]>) -> ReadError {
    read(text.as_ref(), None, &ReadOptions::default()).expect_err("this text is broken")
}

#[track_caller]
fn check_error(text: &str, line: u32, column: u32, part: &str) {
    let e = err(text);
    assert_eq!(e.position(), Some(Position::Text { line, column }), "{e}");
    assert!(e.to_string().contains(part), "{e}");
}

fn lenient() -> ReadOptions {
    ReadOptions { mode: Mode::Lenient, ..ReadOptions::default() }
}

fn deg(axis: usize, d: f64) -> Rotation {
    let a = Angle::from_degrees(d);
    [Rotation::about_x(a), Rotation::about_y(a), Rotation::about_z(a)][axis]
}

#[track_caller]
fn check_local(file: &MotionFile, joint: &str, frame: u32, expected: Rotation) {
    let j = file.skeleton.find(joint).unwrap();
    let got = file.clip.as_ref().unwrap().rotation(j, FrameIndex(frame));
    assert!(got.distance(expected).radians() < 1e-14, "{joint} {frame}");
}

#[track_caller]
fn check_place(file: &MotionFile, joint: &str, frame: u32, expected_cm: [f64; 3]) {
    let j = file.skeleton.find(joint).unwrap();
    let got = file.clip.as_ref().unwrap().translation_m(j, FrameIndex(frame));
    assert!((got * 100.0 - DVec3::from_array(expected_cm)).length() < 1e-12, "{joint}: {got}");
}

#[test]
fn the_first_listed_turn_is_the_leftmost_factor() {
    let Read { file, warnings } = ok(TWO_JOINTS);
    assert!(warnings.is_empty(), "{warnings:?}");
    check_local(&file, "Hips", 0, deg(2, 10.0) * deg(0, 20.0) * deg(1, 30.0));
    check_local(&file, "Spine", 1, deg(1, -40.0) * deg(2, -50.0) * deg(0, 400.0));
    check_place(&file, "Hips", 1, [4.0, 5.0, 6.0]);
    check_place(&file, "Spine", 1, [0.0, 10.0, 0.0]);
    let clip = file.clip.unwrap();
    assert_eq!((clip.frame_count(), clip.rate().frame_time_s()), (2, 0.008_333_3));
    assert_eq!(file.skeleton.joints()[1].end_sites[0].offset_m, DVec3::new(0.0, 0.05, 0.0));
}

/// A hierarchy with one joint below the root and given lines inside, and one row of motion.
fn with_joint(inside: &str, row: &str) -> String {
    format!(
        "HIERARCHY\nROOT r\n{{\nOFFSET 0 0 0\nCHANNELS 0\nJOINT j\n{{\n{inside}\n}}\n}}\nMOTION\n\
         Frames: 1\nFrame Time: 0.01\n{row}\n"
    )
}

#[test]
fn channels_in_any_number_and_order() {
    let file = ok(with_joint("OFFSET 1 2 3\nCHANNELS 1 Yrotation", "45")).file;
    check_local(&file, "j", 0, deg(1, 45.0));
    let turns_first =
        "OFFSET 1 2 3\nCHANNELS 6 Yrotation Xrotation Zrotation Zposition Xposition Yposition";
    let file = ok(with_joint(turns_first, "10 20 30 7 8 9")).file;
    check_local(&file, "j", 0, deg(1, 10.0) * deg(0, 20.0) * deg(2, 30.0));
    check_place(&file, "j", 0, [8.0, 9.0, 7.0]);
    let wrapped = "OFFSET 1 2 3\nCHANNELS 3\nZrotation\nXrotation Yrotation\n";
    let file = ok(with_joint(wrapped, "10 20 30")).file;
    check_local(&file, "j", 0, deg(2, 10.0) * deg(0, 20.0) * deg(1, 30.0));
    let odd_case = "offset 1 2 3\nchannels 2 ZROTATION xRotation";
    check_local(&ok(with_joint(odd_case, "10 20")).file, "j", 0, deg(2, 10.0) * deg(0, 20.0));
}

#[test]
fn position_channels_replace_the_offset_per_axis() {
    let file = ok(with_joint("OFFSET 1 2 3\nCHANNELS 1 Yposition", "7")).file;
    check_place(&file, "j", 0, [1.0, 7.0, 3.0]);
}

#[test]
fn positions_near_zero_are_added_with_a_warning() {
    let six = "OFFSET 0 10 0\nCHANNELS 3 Xposition Yposition Zposition";
    let Read { file, warnings } = ok(with_joint(six, "0 0.05 0"));
    check_place(&file, "j", 0, [0.0, 10.05, 0.0]);
    assert_eq!(warnings[0].kind, WarningKind::PositionsAdded { joints: 1, share: 0.005 });
    assert!(warnings[0].to_string().contains("at most 0.005 of the OFFSET"), "{}", warnings[0]);
    let Read { file, warnings } = ok(with_joint(six, "0 0.2 0"));
    check_place(&file, "j", 0, [0.0, 0.2, 0.0]);
    assert_eq!(warnings[0].kind, WarningKind::PositionsSmall { joints: 1, share: 0.02 });
    assert!(!warnings[0].is_repair());
    let Read { file, warnings } = ok(with_joint(six, "0 -7 0"));
    check_place(&file, "j", 0, [0.0, -7.0, 0.0]);
    assert!(warnings.is_empty());
    // Only along its axes has an OFFSET to do with positions.
    let Read { file, warnings } = ok(with_joint("OFFSET 2 10 0\nCHANNELS 1 Xposition", "2.5"));
    check_place(&file, "j", 0, [2.5, 10.0, 0.0]);
    assert!(warnings.is_empty());
    // Never for the root: there zero is a place.
    let root = "HIERARCHY\nROOT r\n{\nOFFSET 0 9 0\nCHANNELS 3 Xposition Yposition Zposition\n}\n\
                MOTION\nFrames: 1\nFrame Time: 1\n0 0 0\n";
    check_place(&ok(root).file, "r", 0, [0.0, 0.0, 0.0]);
}

/// A chain of joints below a root, all with OFFSET 0 10 0 and three positions; one row for each frame,
/// of the positions along y.
fn chain(frames: &[&[f64]]) -> String {
    let joints = frames[0].len();
    let mut text = "HIERARCHY\nROOT r\n{\nOFFSET 0 9 0\nCHANNELS 0\n".to_owned();
    for j in 0..joints {
        text += &format!("JOINT j{j}\n{{\nOFFSET 0 10 0\n");
        text += "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n";
    }
    text += &"}\n".repeat(joints + 1);
    text += &format!("MOTION\nFrames: {}\nFrame Time: 0.01\n", frames.len());
    for frame in frames {
        let row: Vec<String> = frame.iter().map(|y| format!("0 {y} 0 0 0 0")).collect();
        text += &(row.join(" ") + "\n");
    }
    text
}

#[test]
fn one_reading_of_positions_holds_for_the_whole_file() {
    // Some joints are beyond a hundredth, most are not: all are added, and no bone collapses.
    let added = ok(chain(&[&[0.005, 0.05, 0.0, 0.3], &[0.005, 0.08, 0.0, -0.5]]));
    for (joint, y) in [("j0", 10.005), ("j1", 10.05), ("j2", 10.0), ("j3", 10.3)] {
        check_place(&added.file, joint, 0, [0.0, y, 0.0]);
    }
    assert_eq!(added.warnings.len(), 1);
    assert_eq!(added.warnings[0].kind, WarningKind::PositionsAdded { joints: 4, share: 0.008 });
    // Most are places: so is the zero of a joint that a program put onto its parent.
    let replaced = ok(chain(&[&[10.0, 0.0, 9.5, 10.0]]));
    for (joint, y) in [("j0", 10.0), ("j1", 0.0), ("j2", 9.5), ("j3", 10.0)] {
        check_place(&replaced.file, joint, 0, [0.0, y, 0.0]);
    }
    let contradict = |joint: &str, added| WarningKind::PositionsContradict {
        joints: vec![joint.to_owned()],
        added,
    };
    assert_eq!(replaced.warnings.len(), 1);
    assert_eq!(replaced.warnings[0].kind, contradict("j1", false));
    assert!(!replaced.warnings[0].is_repair());
    // One frame far away makes no joint a place if the others say otherwise, and half is not most.
    let jump = ok(chain(&[&[0.0, 0.0, 0.0], &[0.0, 0.0, 40.0]]));
    check_place(&jump.file, "j2", 1, [0.0, 50.0, 0.0]);
    assert_eq!(jump.warnings[1].kind, contradict("j2", true));
    check_place(&ok(chain(&[&[0.0, 10.0]])).file, "j0", 0, [0.0, 0.0, 0.0]);
}

#[test]
fn files_of_either_reading_come_back_with_their_numbers() {
    for frames in [[0.005, 0.05, 0.0, 0.3], [10.0, 0.0, 9.5, 10.0], [0.0, 4.0, 0.0, 6.0]] {
        let text = chain(&[&frames]);
        let file = ok(&text).file;
        let again = written(&file);
        let numbers =
            |text: &str| read_document(text.as_bytes(), &ReadOptions::default()).unwrap().motion;
        assert!(numbers(&again) == numbers(&text), "{again}");
        check_same_places(&file, &again);
    }
}

#[test]
fn what_is_written_is_read_as_it_was_meant() {
    // Added in the file, then moved so far that a reader would let positions replace the offsets.
    let mut file = ok(chain(&[&[0.005, 0.05, 0.0], &[0.0, 0.0, 0.0]])).file;
    let clip = file.clip.as_mut().unwrap();
    for (j, y) in [(1, 0.3), (2, 0.2), (3, 0.1)] {
        clip.set_translation_m(JointIndex::new(j), FrameIndex(0), DVec3::new(0.0, y, 0.0));
    }
    check_same_places(&file, &written(&file));
    // Places in the file, then nearly all moved onto their parents.
    let mut file = ok(chain(&[&[10.0, 9.0, 10.0], &[10.0, 9.0, 10.0]])).file;
    let clip = file.clip.as_mut().unwrap();
    for j in 1..3 {
        for frame in [FrameIndex(0), FrameIndex(1)] {
            clip.set_translation_m(JointIndex::new(j), frame, DVec3::new(0.0, 1e-5, 0.0));
        }
    }
    check_same_places(&file, &written(&file));
}

/// The text of a file as BVH.
fn written(file: &MotionFile) -> String {
    let out = write(file, Format::Bvh, &WriteOptions::default()).unwrap();
    String::from_utf8(out.parts[0].1.clone()).unwrap()
}

/// Whether all joints are where they were when a text is read.
#[track_caller]
fn check_same_places(file: &MotionFile, text: &str) {
    let again = ok(text).file;
    let (before, after) = (file.clip.as_ref().unwrap(), again.clip.as_ref().unwrap());
    for j in file.skeleton.indices() {
        for frame in (0..2).take(before.frame_count()).map(FrameIndex) {
            let apart = (before.translation_m(j, frame) - after.translation_m(j, frame)).length();
            assert!(apart < 1e-12, "joint {j:?} is {apart} m apart in {frame:?}:\n{text}");
        }
    }
}

#[test]
fn several_roots_leaves_without_end_site_and_names_of_all_kinds() {
    let text = "HIERARCHY\r\nROOT mixamorig:Hips\n{\r\nOFFSET 0 0 0\r\nCHANNELS 0\r\n\
                JOINT Left Up Leg {\r\n\tOFFSET 1 0 0\r\n\tCHANNELS 1 Xrotation\r\n}\r\n\
                JOINT End\n{\nOFFSET 0 1 0\nEND SITE\n{\nOFFSET 0 0 1 } }\r\n}\r\n\
                ROOT Prop\r\n{\r\nOFFSET 5 0 0\r\nCHANNELS 1 Zrotation\r\n\
                End site tip\r\n{\r\nOFFSET 1 1 1\r\n}\r\n}\r\nMOTION\r\nFrames:1\r\nFrame  Time : .5\r\n1 2";
    let Read { file, warnings } = ok(text);
    assert!(warnings.is_empty(), "{warnings:?}");
    let names: Vec<_> = file.skeleton.joints().iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["mixamorig:Hips", "Left Up Leg", "End", "Prop"]);
    assert_eq!(file.skeleton.parents().iter().filter(|p| p.is_none()).count(), 2);
    assert_eq!(file.skeleton.joints()[3].end_sites[0].name.as_deref(), Some("tip"));
    assert_eq!(file.skeleton.joints()[2].end_sites.len(), 1);
    check_local(&file, "Prop", 0, deg(2, 2.0));
}

#[test]
fn numbers_in_all_notations() {
    let row = "1e1-2.0E+1 +3.e1";
    let file = ok(with_joint("OFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation", row)).file;
    check_local(&file, "j", 0, deg(0, 10.0) * deg(1, -20.0) * deg(2, 30.0));
}

#[test]
fn rows_decide_how_many_frames_there_are() {
    for (declared, rows, kept) in [(3, "1\n2\n", 2), (1, "1\n2\n3\n", 3), (2, "1\n\n 2 \n\n", 2)] {
        let text = with_joint("OFFSET 0 1 0\nCHANNELS 1 Xrotation", rows)
            .replace("Frames: 1", &format!("Frames: {declared}"));
        let Read { file, warnings } = ok(&text);
        assert_eq!(file.clip.unwrap().frame_count(), kept, "{declared}");
        assert_eq!(warnings.len(), usize::from(declared != kept), "{declared}");
        let strict = ReadOptions { mode: Mode::Strict, ..ReadOptions::default() };
        assert_eq!(read(text.as_bytes(), None, &strict).is_err(), declared != kept);
    }
}

#[test]
fn rows_that_run_over_several_lines_are_one_stream() {
    let text = with_joint("OFFSET 0 1 0\nCHANNELS 2 Xrotation Yrotation", "1\n2\n3\n4\n")
        .replace("Frames: 1", "Frames: 2");
    let Read { file, warnings } = ok(text);
    assert_eq!(warnings[0].kind, WarningKind::WrappedRows);
    check_local(&file, "j", 1, deg(0, 3.0) * deg(1, 4.0));
}

#[test]
fn broken_rows_are_errors_and_lenient_reading_stops_before_them() {
    let text =
        with_joint("OFFSET 0 1 0\nCHANNELS 2 Xrotation Yrotation", "1.00 2.00\n3.00 4.00\n5")
            .replace("Frames: 1", "Frames: 3");
    check_error(&text, 17, 1, "frame 2 has 1 values, but the hierarchy declares 2 channels");
    assert!(err(&text).to_string().contains("--lenient"));
    let read = read(text.as_bytes(), None, &lenient()).unwrap();
    assert_eq!(read.file.clip.unwrap().frame_count(), 2);
    let dropped =
        |w: &crate::formats::Warning| matches!(w.kind, WarningKind::Dropped { bytes: 2, .. });
    assert!(read.warnings.iter().any(dropped));
}

#[test]
fn errors_say_where() {
    check_error("HIERARCHY\n", 2, 1, "ROOT");
    check_error("HIERARCHY\nROOT a\n  OFFSET", 3, 3, "expected {, found \"OFFSET\"");
    check_error("HIERARCHY\nROOT a\n{\n  OFFSET 1 x 3", 4, 12, "\"x\" is not a number");
    check_error("HIERARCHY\nROOT a\n{\n  OFFSET 1 2", 4, 13, "found the end of the file");
    check_error("HIERARCHY\nROOT a\n{\n  OFFSET 1 2\n}", 4, 13, "found the end of the line");
    check_error("HIERARCHY\nROOT a\n{\n  OFFSET 1 1,5 2", 4, 12, "decimal comma");
    check_error(
        "HIERARCHY\nROOT a\n{\n OFFSET 1 2 3\n CHANNELS 1 Wrotation\n",
        5,
        13,
        "a channel such as",
    );
    check_error(
        "HIERARCHY\nROOT a\n{\n OFFSET 1 2 3\n JOINT b\n {\n",
        7,
        1,
        "ends within joint \"b\"",
    );
    check_error("HIERARCHY\nROOT a\n{\n OFFSET 1 2 3\n OFFSET 1 2 3\n", 5, 2, "second time");
    check_error("HIERARCHY\nROOT a\n{\n BONE 1", 4, 2, "expected JOINT");
    let one = "OFFSET 0 0 0\nCHANNELS 1 Xrotation";
    check_error(&with_joint(one, "nan"), 15, 1, "not a finite number");
    check_error(&with_joint(one, "1e999"), 15, 1, "not a finite number");
    check_error(&with_joint(one, "  1.2.3"), 15, 3, "\"1.2.3\" is not a number");
    check_error(
        &with_joint(one, "1").replace("Frames: 1", "Frames: -1"),
        13,
        1,
        "not a whole number",
    );
}

/// Only a } missing at the end has one sensible repair: elsewhere joints would hang below the wrong
/// parent, and nobody would see.
#[test]
fn a_brace_missing_in_the_middle_is_an_error_that_names_the_joint() {
    let three = TWO_JOINTS.replace(
        "  }\n}\nMOTION",
        "  }\n  JOINT Arm\n  {\n    OFFSET 1 0 0\n    CHANNELS 0\n  }\n}\nMOTION",
    );
    assert_eq!(ok(&three).file.skeleton.len(), 3);
    let missing = three.replacen("    }\n  }\n", "    }\n", 1);
    check_error(&missing, 6, 3, "by the indentation, joint \"Spine\" is not closed");
    let flat: String = missing.lines().map(|l| format!("{}\n", l.trim_start())).collect();
    check_error(&flat, 20, 1, "a } is missing somewhere");
}

#[test]
fn a_word_where_a_number_belongs_is_named() {
    let one = with_joint("OFFSET 0 0 0\nCHANNELS 1 Xrotation", "1");
    check_error(&one.replace("Frames: 1", "Frames: many"), 13, 1, "\"many\"");
    check_error(
        &one.replace("0.01", "0,01"),
        14,
        1,
        "\"0,01\" is not a number\n  help: decimal comma",
    );
    check_error(&one.replace("0.01", "slow"), 14, 1, "\"slow\" is not a number");
    let cut = "HIERARCHY\nROOT a\n{\n OFFSET 1 2 3\n CHANNELS 3 Xrotation Yrot";
    check_error(cut, 5, 23, "the file ends within the names of channels");
}

#[test]
fn absurd_counts_fail_at_once() {
    let text = TWO_JOINTS.replace("Frames: 2", "Frames: 2000000000");
    let e = err(&text);
    assert!(matches!(e.kind(), ReadErrorKind::Declared { declared: 2_000_000_000, .. }), "{e}");
    assert_eq!(e.position(), Some(Position::Text { line: 17, column: 1 }));
    let read = read(text.as_bytes(), None, &lenient()).unwrap();
    assert_eq!(read.file.clip.unwrap().frame_count(), 2);
    // Neither does looking whether rows run over several lines.
    let broken = text.replace("4 5 6", "4 5");
    assert!(matches!(err(&broken).kind(), ReadErrorKind::Declared { .. }));
    let cut = crate::formats::read(broken.as_bytes(), None, &lenient()).unwrap();
    assert_eq!(cut.file.clip.unwrap().frame_count(), 1);
    let empty =
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n}\nMOTION\nFrames: 4000000000\nFrame Time: 1\n";
    assert!(matches!(err(empty).kind(), ReadErrorKind::Declared { .. }));
}

#[test]
fn deep_nesting_is_refused_without_recursion() {
    let mut text = String::from("HIERARCHY\n");
    for i in 0..100_000 {
        text.push_str(if i == 0 {
            "ROOT a\n{\nOFFSET 0 0 0\n"
        } else {
            "JOINT a\n{\nOFFSET 0 1 0\n"
        });
    }
    assert!(matches!(err(&text).kind(), ReadErrorKind::TooMany { what: "joints", .. }));
}

#[test]
fn the_deepest_chain_we_take_reads_and_writes() {
    let n = crate::skeleton::MAX_JOINTS;
    let mut text = String::from("HIERARCHY\n");
    for i in 0..n {
        text.push_str(if i == 0 {
            "ROOT a\n{\nOFFSET 0 0 0\n"
        } else {
            "JOINT a\n{\nOFFSET 0 1 0\n"
        });
    }
    text.extend(std::iter::repeat_n("}\n", n));
    let Read { file, warnings } = ok(&text);
    assert_eq!(file.skeleton.len(), n);
    // Every name but the first is numbered: the first of those warnings are kept, the rest counted.
    assert_eq!(warnings.len(), crate::formats::text::MAX_WARNINGS + 1);
    assert!(file.skeleton.find("a#65536").is_some());
    let written = write(&file, Format::Bvh, &WriteOptions::default()).unwrap();
    assert!(written.parts[0].1.len() < 400 * n);
}

#[test]
fn small_faults_are_repaired_with_warnings() {
    let check = |text: String, part: &str| {
        let Read { warnings, .. } = ok(&text);
        assert!(warnings.iter().any(|w| w.to_string().contains(part)), "{part}: {warnings:?}");
    };
    let one = "OFFSET 0 0 0\nCHANNELS 1 Xrotation";
    check(with_joint("OFFSET 0 0 0\nCHANNELS 3 Xrotation", "1"), "3 channels are declared, 1 are");
    check(with_joint("CHANNELS 1 Xrotation", "1"), "no OFFSET");
    check(with_joint(one, "1").replace("Frame Time: 0.01", "Frame Time: 0"), "frame time \"0\"");
    check(
        with_joint("OFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Xrotation", "1 2 3"),
        "axis twice",
    );
    check(with_joint(one, "1").replace("Frame Time: 0.01\n", ""), "frame time");
    check(with_joint(one, "1\nsome trailer text"), "no motion and were left out");
    check(TWO_JOINTS.replace("}\nMOTION", "MOTION"), "not closed");
    check(with_joint(one, "1").replace("}\nMOTION", "}\n}\nMOTION"), "closes nothing");
    check(with_joint(one, "1").replace("JOINT j", "JOINT r"), "\"r#2\"");
    check(with_joint(one, "1").replace("JOINT j", "JOINT"), "joint_1");
    check(with_joint(one, "1").split("MOTION").next().unwrap().to_owned(), "no motion");
}

#[test]
fn text_in_other_encodings() {
    let with_bom = [&[0xEF, 0xBB, 0xBF], TWO_JOINTS.as_bytes()].concat();
    assert_eq!(ok(with_bom).file.skeleton.len(), 2);
    let mut latin = TWO_JOINTS.as_bytes().to_vec();
    let at = TWO_JOINTS.find("Spine").unwrap();
    latin[at] = 0xFC;
    assert!(ok(latin).file.skeleton.find("üpine").is_some());
    assert!(matches!(err([0xFF, 0xFE, b'H', 0]).kind(), ReadErrorKind::Utf16));
    assert!(matches!(err("{\"json\": 1}").kind(), ReadErrorKind::UnknownFormat));
}

fn rewritten(file: &MotionFile, options: &WriteOptions) -> MotionFile {
    let written = write(file, Format::Bvh, options).unwrap();
    ok(&written.parts[0].1).file
}

fn columns_of(file: &MotionFile) -> Vec<Vec<f64>> {
    let columns = file.clip.as_ref().unwrap().channels().unwrap().columns();
    (0..columns.columns()).map(|c| columns.column(c).to_vec()).collect()
}

#[test]
fn untouched_files_come_back_with_their_numbers() {
    let mixed = with_joint(
        "OFFSET 0.1 2.30000000001 -0\nCHANNELS 5 Yrotation Zposition Xrotation Xposition Zrotation",
        "1e-17 0.1 -1234.5 3 0.30000000000000004",
    );
    for text in [TWO_JOINTS, mixed.as_str()] {
        let before = ok(text).file;
        let after = rewritten(&before, &WriteOptions::default());
        assert_eq!(columns_of(&before), columns_of(&after));
        let (a, b) = (format!("{:?}", before.origin), format!("{:?}", after.origin));
        assert_eq!(a, b);
        assert_eq!(before.clip.unwrap().rate(), after.clip.unwrap().rate());
    }
}

#[test]
fn an_edit_changes_its_own_numbers_only() {
    let mut file = ok(TWO_JOINTS).file;
    let spine = file.skeleton.find("Spine").unwrap();
    let turned = deg(0, 12.0) * deg(1, 100.0) * deg(2, 3.0);
    file.clip.as_mut().unwrap().set_rotation(spine, FrameIndex(0), turned);
    let after = rewritten(&file, &WriteOptions::default());
    check_local(&after, "Spine", 0, turned);
    let (before, after) = (columns_of(&file), columns_of(&after));
    for c in 0..9 {
        for f in 0..2 {
            let touched = c >= 6 && f == 0;
            assert_eq!(before[c][f] == after[c][f], !touched, "{c} {f}");
        }
    }
}

#[test]
fn an_edit_beyond_a_joints_channels_adds_channels_and_keeps_the_rest() {
    let text = with_joint("OFFSET 1 2 3\nCHANNELS 1 Yrotation", "45\n50")
        .replace("Frames: 1", "Frames: 2");
    let mut file = ok(&text).file;
    let j = file.skeleton.find("j").unwrap();
    file.clip.as_mut().unwrap().set_rotation(j, FrameIndex(1), deg(0, 10.0));
    let after = rewritten(&file, &WriteOptions::default());
    check_local(&after, "j", 1, deg(0, 10.0));
    check_local(&after, "j", 0, deg(1, 45.0));
    // Widened on the left: the file's own number stands in the last column, unchanged.
    assert_eq!(columns_of(&after).last().unwrap()[0], 45.0);
    // A turn that the one axis can make needs no new channels.
    let mut file = ok(&text).file;
    file.clip.as_mut().unwrap().set_rotation(j, FrameIndex(1), deg(1, -77.0));
    let after = rewritten(&file, &WriteOptions::default());
    assert_eq!(columns_of(&after).len(), 1);
    check_local(&after, "j", 1, deg(1, -77.0));
}

#[test]
fn an_edited_translation_gets_channels_where_there_were_none() {
    let mut file = ok(with_joint("OFFSET 1 2 3\nCHANNELS 1 Yrotation", "45")).file;
    let j = file.skeleton.find("j").unwrap();
    let clip = file.clip.as_mut().unwrap();
    clip.set_translation_m(j, FrameIndex(0), DVec3::new(0.5, 0.6, 0.7));
    let after = rewritten(&file, &WriteOptions::default());
    check_place(&after, "j", 0, [50.0, 60.0, 70.0]);
    // Close to zero: a reader would add it to the offset, so the offset has to go.
    let clip = file.clip.as_mut().unwrap();
    clip.set_translation_m(j, FrameIndex(0), DVec3::new(1e-6, 0.0, 0.0));
    check_place(&rewritten(&file, &WriteOptions::default()), "j", 0, [1e-4, 0.0, 0.0]);
}

#[test]
fn units_scale_offsets_and_positions_but_not_turns() {
    let file = ok(TWO_JOINTS).file;
    let options =
        WriteOptions { unit: OutputUnit::Unit(LengthUnit::MM), ..WriteOptions::default() };
    let text = write(&file, Format::Bvh, &options).unwrap().parts.remove(0).1;
    let in_mm = ReadOptions { source_unit: Some(LengthUnit::MM), ..ReadOptions::default() };
    let after = read(&text, None, &in_mm).unwrap().file;
    check_place(&after, "Hips", 1, [4.0, 5.0, 6.0]);
    check_local(&after, "Spine", 1, deg(1, -40.0) * deg(2, -50.0) * deg(0, 400.0));
    assert_eq!(columns_of(&after)[8], [60.0, 400.0]);
    assert!((columns_of(&after)[0][0] - 10.0).abs() < 1e-12);
}

#[test]
fn joints_in_another_order_than_nesting_are_written_nested() {
    use crate::motion::{Clip, FrameRate, Track};
    use crate::skeleton::{Joint, Skeleton};
    let mut s = Skeleton::new();
    let root = s.add_root(Joint::new("root", DVec3::ZERO)).unwrap();
    let a = s.add(root, Joint::new("a", DVec3::X)).unwrap();
    s.add(root, Joint::new("b", DVec3::Y)).unwrap();
    s.add(a, Joint::new("c", DVec3::Z)).unwrap();
    let tracks = s
        .joints()
        .iter()
        .enumerate()
        .map(|(i, j)| Track::constant(deg(i % 3, 10.0 * (i + 1) as f64), j.offset_m))
        .collect();
    let clip = Clip::new(2, FrameRate::from_fps(30.0).unwrap(), tracks).unwrap();
    let after = rewritten(&MotionFile::new(s, clip), &WriteOptions::default());
    let names: Vec<_> = after.skeleton.joints().iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["root", "a", "c", "b"]);
    check_local(&after, "c", 1, deg(0, 40.0));
    check_local(&after, "b", 0, deg(2, 30.0));
}

/// Positions along two axes leave the offset along the third alone.
#[test]
fn offsets_along_axes_without_a_channel_stay() {
    for offset in ["0 10 0", "3 10 0"] {
        let text =
            with_joint(&format!("OFFSET {offset}\nCHANNELS 2 Xposition Zposition"), "0 0.005");
        let options = ReadOptions { format: Some(Format::Bvh), ..ReadOptions::default() };
        let file = read(text.as_bytes(), None, &options).unwrap().file;
        let after = rewritten(&file, &WriteOptions::default());
        assert_eq!(columns_of(&file), columns_of(&after));
        assert_eq!(format!("{:?}", file.origin), format!("{:?}", after.origin));
    }
}

#[test]
fn prop_damaged_files_never_panic_and_what_reads_comes_back() {
    let samples = [
        TWO_JOINTS.to_owned(),
        with_joint("OFFSET 0 10 0\nCHANNELS 3 Xposition Yposition Zposition", "0 0.005 0"),
        with_joint("OFFSET 1 2 3\nCHANNELS 4 Xrotation Yrotation Xrotation Yposition", "1 2 3 4"),
    ];
    arbtest::arbtest(|u| {
        let mut bytes = u.choose(&samples)?.clone().into_bytes();
        for _ in 0..u.int_in_range(1..=4)? {
            let at = u.int_in_range(0..=bytes.len() - 1)?;
            match u.int_in_range(0..=3)? {
                0 => bytes[at] = u.arbitrary()?,
                1 => bytes[at] = *u.choose(b"{}-.eE0919 \t\r\n#JROE\0")?,
                2 => drop(bytes.drain(at..(at + u.int_in_range(1..=20)?).min(bytes.len()))),
                _ => {
                    let from = u.int_in_range(0..=bytes.len() - 1)?;
                    let piece = bytes[from..(from + 15).min(bytes.len())].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
            if bytes.is_empty() {
                return Ok(());
            }
        }
        let mode = *u.choose(&[Mode::Repair, Mode::Lenient, Mode::Strict])?;
        let options = ReadOptions { mode, format: Some(Format::Bvh), ..ReadOptions::default() };
        let Ok(Read { file, .. }) = read(&bytes, None, &options) else { return Ok(()) };
        if file.clip.is_none() {
            return Ok(());
        }
        let after = rewritten(&file, &WriteOptions::default());
        assert_eq!(columns_of(&file), columns_of(&after));
        assert_eq!(format!("{:?}", file.origin), format!("{:?}", after.origin));
        Ok(())
    })
    .budget_ms(2000);
}

#[test]
fn positions_that_were_added_replace_the_offset_once_they_leave_zero() {
    let six = "OFFSET 0 10 0\nCHANNELS 3 Xposition Yposition Zposition";
    let mut file = ok(with_joint(six, "0 0.005 0")).file;
    let j = file.skeleton.find("j").unwrap();
    let place = DVec3::new(0.0, 0.15, 0.02);
    file.clip.as_mut().unwrap().set_translation_m(j, FrameIndex(0), place);
    check_place(&rewritten(&file, &WriteOptions::default()), "j", 0, [0.0, 15.0, 2.0]);
}

#[test]
fn another_unit_keeps_channels_names_and_angles() {
    let text = with_joint("OFFSET 1 2 3\nCHANNELS 2 Xrotation Zrotation", "400 50")
        .replace("JOINT j", "JOINT r");
    let file = ok(&text).file;
    let options = WriteOptions { unit: OutputUnit::Unit(LengthUnit::M), ..WriteOptions::default() };
    let written = write(&file, Format::Bvh, &options).unwrap().parts.remove(0).1;
    let written = String::from_utf8(written).unwrap();
    assert!(
        written.contains("JOINT r\n") && written.contains("OFFSET 0.01 0.02 0.03"),
        "{written}"
    );
    assert!(written.contains("CHANNELS 2 Xrotation Zrotation"), "{written}");
    assert!(written.ends_with("\n400 50\n"), "{written}");
}

#[test]
fn a_turn_that_is_barely_beyond_the_channels_still_gets_them() {
    let mut file = ok(with_joint("OFFSET 1 2 3\nCHANNELS 1 Yrotation", "45")).file;
    let j = file.skeleton.find("j").unwrap();
    let beyond = deg(1, 45.0) * Rotation::about_x(Angle::from_radians(1e-6));
    file.clip.as_mut().unwrap().set_rotation(j, FrameIndex(0), beyond);
    check_local(&rewritten(&file, &WriteOptions::default()), "j", 0, beyond);
}

#[test]
fn an_edit_before_the_sources_frames_follows_them_in_turns() {
    let text = with_joint("OFFSET 1 2 3\nCHANNELS 1 Yrotation", "1000\n1010")
        .replace("Frames: 1", "Frames: 2");
    let mut file = ok(text).file;
    let j = file.skeleton.find("j").unwrap();
    file.clip.as_mut().unwrap().set_rotation(j, FrameIndex(0), deg(1, 995.0));
    let columns = columns_of(&rewritten(&file, &WriteOptions::default()));
    assert!((columns[0][0] - 995.0).abs() < 1e-9, "{columns:?}");
}

#[test]
fn braces_need_no_blanks_around_them() {
    let text = "HIERARCHY\nROOT a{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation}\nMOTION\nFrames: 1\n\
                Frame Time: 1\n5\n";
    check_local(&ok(text).file, "a", 0, deg(0, 5.0));
    for site in ["End Site{OFFSET 0 1 0}", "EndSite{\nOFFSET 0 1 0}", "End Site\n{OFFSET 0 1 0\n}"]
    {
        let file = ok(text.replace("Xrotation}", &format!("Xrotation\n{site}}}"))).file;
        let site = &file.skeleton.joints()[0].end_sites[0];
        assert_eq!((site.name.as_deref(), site.offset_m), (None, DVec3::new(0.0, 0.01, 0.0)));
    }
}

#[test]
fn the_same_position_twice_is_refused() {
    let text = with_joint("OFFSET 0 0 0\nCHANNELS 3 Xposition Xposition Yrotation", "1 2 3");
    check_error(&text, 9, 22, "the channel \"Xposition\" appears a second time");
}

#[test]
fn lengths_that_no_unit_can_hold_are_not_written() {
    let file = ok(with_joint("OFFSET 1e308 0 0\nCHANNELS 0", "")).file;
    let options =
        WriteOptions { unit: OutputUnit::Unit(LengthUnit::MM), ..WriteOptions::default() };
    for format in [Format::Bvh, Format::Asf] {
        assert!(write(&file, format, &options).is_err(), "{format:?}");
    }
}

#[test]
fn a_small_file_does_not_become_gigabytes() {
    use crate::motion::{Clip, FrameRate, Track};
    use crate::skeleton::{Joint, Skeleton};
    let mut s = Skeleton::new();
    let root = s.add_root(Joint::new("root", DVec3::ZERO)).unwrap();
    for i in 0..30_000 {
        s.add(root, Joint::new(i.to_string(), DVec3::X)).unwrap();
    }
    let still = vec![Track::constant(Rotation::IDENTITY, DVec3::X); s.len()];
    let clip = Clip::new(1000, FrameRate::from_fps(30.0).unwrap(), still).unwrap();
    let file = MotionFile::new(s, clip);
    for format in [Format::Bvh, Format::Amc, Format::Trc] {
        assert!(write(&file, format, &WriteOptions::default()).is_err(), "{format:?}");
    }
}
