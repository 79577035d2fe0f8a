//! Every real BVH reads, and comes back with its numbers.

use condyle::formats::{Format, MotionFile, ReadOptions, WriteOptions, read, read_file, write};

use crate::shared::{files, shared};

/// Joints, End Sites and frames as counted in the data's own table.
const TABLE: &[(&str, usize, usize, usize)] = &[
    ("02_01", 31, 7, 344),
    ("02_05", 31, 7, 1855),
    ("07_01", 31, 7, 317),
    ("09_01", 31, 7, 149),
    ("10_03", 43, 14, 363),
    ("127_02", 31, 7, 1761),
    ("16_35", 31, 7, 163),
    ("49_08", 31, 7, 576),
    ("88_01", 31, 7, 203),
    ("90_02", 31, 7, 782),
    ("AV_8Walk_Meredith_HVHA_Rep1", 23, 7, 1064),
    ("Geno_stance", 75, 21, 2),
    ("Swagger", 22, 5, 581),
    ("bvh_test1", 24, 5, 75),
    ("bvh_test2", 23, 5, 61),
    ("dab", 27, 7, 339),
    ("dataset-2_raise-up-both-hands_active_085", 22, 5, 49),
    ("dataset-2_walk-turn-left_youthful_018", 22, 5, 190),
    ("example", 18, 5, 2),
    ("fullbody_model", 54, 15, 1977),
    ("jumping_jacks", 31, 7, 125),
    ("neutral_01_000", 31, 7, 327),
    ("strutting_01_000", 31, 7, 297),
    ("test_freebvh", 55, 15, 69),
    ("test_mocapbank", 19, 5, 455),
    ("tpose", 173, 49, 1),
    ("walk1", 75, 16, 14),
];

#[test]
fn every_real_file_reads_and_comes_back_with_its_numbers() {
    let Some(folder) = shared("bvh") else { return };
    let mut seen = 0;
    for path in files(&folder, "bvh") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let before =
            read_file(&path, None, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let file = &before.file;
        let sites: usize = file.skeleton.joints().iter().map(|j| j.end_sites.len()).sum();
        let frames = file.clip.as_ref().unwrap().frame_count();
        let row = TABLE.iter().find(|row| row.0 == name).unwrap_or_else(|| panic!("{name}?"));
        assert_eq!((file.skeleton.len(), sites, frames), (row.1, row.2, row.3), "{name}");
        let repairs: Vec<_> = before.warnings.iter().filter(|w| w.is_repair()).collect();
        let expected = usize::from(name == "tpose");
        assert_eq!(repairs.len(), expected, "{name}: {repairs:?}");

        let written = write(file, Format::Bvh, &WriteOptions::default()).unwrap();
        assert!(written.warnings.is_empty(), "{name}: {:?}", written.warnings);
        let after = read(&written.parts[0].1, None, &ReadOptions::default()).unwrap().file;
        assert_same(file, &after, name);
        seen += 1;
    }
    assert_eq!(seen, TABLE.len(), "every file of the table is there");
}

fn assert_same(a: &MotionFile, b: &MotionFile, name: &str) {
    assert_eq!(format!("{:?}", a.origin), format!("{:?}", b.origin), "{name}: the hierarchy");
    let (a, b) = (a.clip.as_ref().unwrap(), b.clip.as_ref().unwrap());
    assert_eq!(a.rate(), b.rate(), "{name}");
    let (a, b) = (a.channels().unwrap().columns(), b.channels().unwrap().columns());
    assert!(a == b, "{name}: the numbers of the motion");
}
