//! Acclaim files (rows C1 and C2).

use std::path::{Path, PathBuf};

use condyle::formats::{
    Format, MotionFile, Origin, Read, ReadOptions, WriteOptions, read, read_file, write,
};
use condyle::skeleton::Dof;

use crate::shared::shared;

const DATA: &str = "data/asf-amc";

/// The files with an extension, sorted.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|p| p.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

/// The ASF of an AMC: the one whose name begins with the same subject.
fn skeleton_of(amc: &Path) -> PathBuf {
    let name = amc.file_name().unwrap().to_str().unwrap();
    let subject = match name.strip_prefix("HDM_") {
        Some(rest) => format!("HDM_{}", rest.split('_').next().unwrap()),
        None => name.split('_').next().unwrap().to_owned(),
    };
    let candidates = files(amc.parent().unwrap(), "asf");
    let begins = |p: &&PathBuf| {
        let stem = p.file_stem().unwrap().to_str().unwrap();
        stem == subject || stem.strip_prefix(&subject).is_some_and(|r| r.starts_with('-'))
    };
    candidates.iter().find(begins).unwrap().clone()
}

/// The frame counts in the table of the data's README.
fn counts(folder: &Path) -> Vec<(String, usize)> {
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let row = |line: &str| {
        let name = line.strip_prefix("| ")?.split(' ').next()?;
        let frames = line.split("AMC; ").nth(1)?.split(' ').next()?.parse().ok()?;
        name.ends_with(".amc").then(|| (name.to_owned(), frames))
    };
    readme.lines().filter_map(row).collect()
}

fn acclaim(file: &MotionFile) -> &condyle::formats::acclaim::Origin {
    match &file.origin {
        Origin::Acclaim(origin) => origin,
        other => panic!("{other:?}"),
    }
}

/// Every invariant of an Acclaim file that was read and not changed: writing and reading again
/// gives the same documents, skeleton and numbers.
fn check_round_trip(path: &Path, first: &Read) {
    let format = first.file.format.unwrap();
    let written = write(&first.file, format, &WriteOptions::default()).unwrap();
    assert!(written.warnings.is_empty(), "{path:?}: {:?}", written.warnings);
    let part = |f| &written.parts.iter().find(|(format, _)| *format == f).unwrap().1;
    let asf = read(part(Format::Asf), None, &ReadOptions::default()).unwrap();
    assert_eq!(acclaim(&asf.file).asf, acclaim(&first.file).asf, "{path:?}");
    for (a, b) in asf.file.skeleton.joints().iter().zip(first.file.skeleton.joints()) {
        assert_eq!((&a.name, a.offset_m, a.rest.quat()), (&b.name, b.offset_m, b.rest.quat()));
        assert_eq!((&a.end_sites, &a.declared), (&b.end_sites, &b.declared));
    }
    if format == Format::Amc {
        let amc = read(part(Format::Amc), Some(&asf.file), &ReadOptions::default()).unwrap();
        assert!(amc.warnings.is_empty());
        assert_eq!(acclaim(&amc.file), acclaim(&first.file), "{path:?}");
        let columns =
            |r: &Read| r.file.clip.as_ref().unwrap().channels().unwrap().columns().clone();
        assert_eq!(columns(&amc), columns(first), "{path:?}");
    }
}

#[test]
fn c1_every_skeleton_reads_and_comes_back() {
    let Some(folder) = shared(DATA) else { return };
    let asfs = files(&folder, "asf");
    assert_eq!(asfs.len(), 11);
    for path in asfs {
        let asf = read_file(&path, None, &ReadOptions::default()).unwrap();
        assert!(asf.warnings.is_empty(), "{path:?}: {:?}", asf.warnings);
        let skeleton = &asf.file.skeleton;
        assert_eq!(skeleton.len(), 31, "{path:?}");
        assert_eq!(asf.file.units.length.name(), Some("cmu"), "{path:?}");
        assert!(asf.file.units.declared);
        // The dof sets of the README.
        let mut sets = std::collections::BTreeMap::new();
        let mut limits = 0;
        for joint in &skeleton.joints()[1..] {
            let dofs = joint.declared.dofs.as_ref().unwrap();
            let name: Vec<&str> = dofs
                .iter()
                .map(|d| match d.dof {
                    Dof::Rx => "rx",
                    Dof::Ry => "ry",
                    Dof::Rz => "rz",
                    other => panic!("{other:?}"),
                })
                .collect();
            *sets.entry(name.join(" ")).or_insert(0) += 1;
            limits += dofs.iter().filter(|d| d.limit.is_some()).count();
        }
        let expected =
            [("", 2), ("rx", 8), ("rx ry rz", 10), ("rx rz", 6), ("ry", 2), ("ry rz", 2)];
        assert_eq!(sets, expected.map(|(k, v)| (k.to_owned(), v)).into_iter().collect());
        assert_eq!(limits, 56, "{path:?}");
        assert!((1.0..3.0).contains(&skeleton.longest_path_m()), "{path:?}");
        check_round_trip(&path, &asf);
    }
}

#[test]
fn c1_every_motion_reads_and_comes_back() {
    let Some(folder) = shared(DATA) else { return };
    let counts = counts(&folder);
    let amcs = files(&folder, "amc");
    assert_eq!((amcs.len(), counts.len()), (42, 42));
    let mut values = 0;
    for path in amcs {
        let asf = read_file(&skeleton_of(&path), None, &ReadOptions::default()).unwrap();
        let amc = read_file(&path, Some(&asf.file), &ReadOptions::default()).unwrap();
        assert!(amc.warnings.is_empty(), "{path:?}: {:?}", amc.warnings);
        let clip = amc.file.clip.as_ref().unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let expected = counts.iter().find(|(n, _)| n == name).unwrap().1;
        assert_eq!(clip.frame_count(), expected, "{path:?}");
        assert_eq!(clip.rate().nominal_fps(), 120.0);
        let columns = clip.channels().unwrap().columns();
        assert_eq!(columns.columns(), 62);
        values += columns.columns() * columns.frames();
        check_round_trip(&path, &amc);
    }
    println!("{values} values");
}
