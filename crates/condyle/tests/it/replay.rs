//! Inputs that once hurt, or could, never do again: `corpus/fuzz/TARGET/NAME`.

use std::path::Path;

use condyle::estimate::Summary;
use condyle::formats::{Format, ReadErrorKind, ReadOptions, read};

use crate::fuzz::{ASF, TARGETS};

fn corpus() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/fuzz")
}

/// The inputs of a target, sorted by name.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let Ok(folder) = std::fs::read_dir(corpus().join(target)) else { return Vec::new() };
    let mut inputs: Vec<_> = folder
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    inputs.sort();
    inputs
}

#[test]
fn every_kept_input_passes_its_fuzz_target() {
    let mut replayed = 0;
    for (target, run) in TARGETS {
        for (name, bytes) in inputs(target) {
            assert!(bytes.len() <= 10_000, "{target}/{name}: keep crashers small");
            // The harness shows this only if the target panics.
            println!("corpus/fuzz/{target}/{name}");
            run(&bytes);
            replayed += 1;
        }
    }
    assert!(replayed >= 20, "only {replayed} inputs in corpus/fuzz");
}

#[test]
fn every_folder_of_the_corpus_is_a_target_and_every_target_a_file() {
    for entry in std::fs::read_dir(corpus()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || TARGETS.iter().any(|(t, _)| *t == name), "{name}");
    }
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let files = std::fs::read_dir(&fuzz).unwrap().count();
    assert_eq!(files, TARGETS.len());
    for (target, _) in TARGETS {
        assert!(fuzz.join(target).with_extension("rs").exists(), "{target}");
    }
}

/// Reads a kept input in the usual mode and checks what becomes of it.
#[track_caller]
fn check(target: &str, name: &str, format: Format, expected: impl Fn(&ReadErrorKind) -> bool) {
    let asf_options = ReadOptions { format: Some(Format::Asf), ..ReadOptions::default() };
    let skeleton = read(ASF.as_bytes(), None, &asf_options).unwrap().file;
    let bytes = std::fs::read(corpus().join(target).join(name)).unwrap();
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    let error = read(&bytes, Some(&skeleton), &options).unwrap_err();
    assert!(expected(error.kind()), "{target}/{name}: {error}");
    assert!(error.position().is_some(), "{target}/{name}: {error}");
}

#[test]
fn known_faults_get_the_right_error() {
    use ReadErrorKind as K;
    let bvh = |name, expected: fn(&K) -> bool| check("read_bvh", name, Format::Bvh, expected);
    bvh("frames_2e9_and_a_broken_row", |k| matches!(k, K::Declared { .. }));
    bvh("frames_1e9_and_no_row", |k| matches!(k, K::Declared { .. }));
    bvh("position_twice", |k| matches!(k, K::Duplicate { .. }));
    bvh("offset_1e999", |k| matches!(k, K::NotFinite { .. }));
    let asf = |name, expected: fn(&K) -> bool| check("read_asf", name, Format::Asf, expected);
    asf("length_1e999", |k| matches!(k, K::NotFinite { .. }));
    asf("cycle", |_| true);
    check("read_amc", "bone_twice", Format::Amc, |_| true);
    check("read_trc", "frames_1e9", Format::Trc, |k| matches!(k, K::Declared { .. }));
}

#[test]
fn summaries_are_what_another_program_writes() {
    // Made by a script from the description of the format.
    let read = |name: &str| {
        Summary::read(&std::fs::read(corpus().join("read_summary").join(name)).unwrap())
    };
    let summary = read("two_joints").unwrap();
    let skeleton = summary.skeleton().unwrap();
    let names: Vec<_> = skeleton.joints().iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["hip", "knee"]);
    assert_eq!(skeleton.joints()[1].end_sites[0].name.as_deref(), Some("tip"));
    assert!(read("empty").unwrap().is_empty());
    assert_eq!(read("most_samples").unwrap().len(), 1);
    for (name, expected) in [
        ("cut_short", "@12: cut short: 1426 of 1526 bytes"),
        ("checksum", "@1518: damaged: the checksum is not that of the bytes"),
        ("joints_2e32", "@20: joints: 4294967295, but there is room for 0 at most"),
        ("cycle", "@29: a joint that is above itself"),
        ("blocks_1e9", "@713: blocks of cells: 1000000000, but there is room for 0 at most"),
        ("moments_at_the_end_of_their_range", "@145: moments that no rotations have"),
        ("block_that_is_none", "@713: cells that are no sorted set"),
    ] {
        assert_eq!(read(name).unwrap_err().to_string(), expected, "{name}");
    }
}
