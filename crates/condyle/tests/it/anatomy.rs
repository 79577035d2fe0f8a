//! Clinical angles of real motion.

use std::path::Path;

use condyle::anatomy::{AnatomicalJoint, Anatomy, BodyJoint, BodySide, NameTable, NamesFrom};
use condyle::formats::{MotionFile, ReadOptions, read_file};
use condyle::math::Angle;

use crate::same_take;
use crate::shared::shared;

fn bvh(folder: &Path, name: &str) -> MotionFile {
    read_file(&folder.join(name), None, &ReadOptions::default()).unwrap().file
}

fn find(anatomy: &Anatomy, what: BodyJoint, side: BodySide) -> AnatomicalJoint {
    let is = |j: &&AnatomicalJoint| j.what == what && j.side == side;
    // A shoulder with its clavicle.
    anatomy.wholes().iter().find(is).or_else(|| anatomy.joints().find(is)).unwrap().clone()
}

/// Each frame's angles in degrees, without a pose in front of the motion.
fn angles(joint: &AnatomicalJoint, file: &MotionFile) -> Vec<[f64; 3]> {
    let clip = file.clip.as_ref().unwrap();
    let first = clip.motion_start();
    let frames = clip.frames().skip(first).map(|frame| clip.pose(frame).rotations);
    frames.map(|pose| joint.angles_along(|j| pose[j.get()]).map(Angle::degrees)).collect()
}

fn extremes(angles: &[[f64; 3]], k: usize) -> (f64, f64) {
    let of = |f: fn(f64, f64) -> f64| angles.iter().map(|a| a[k]).reduce(f).unwrap();
    (of(f64::min), of(f64::max))
}

/// What is known of people who walk: D. A. Winter, Biomechanics and Motor Control of Human Movement,
/// 4th edition, 2009, appendix A: the knee goes from nearly straight to some 65 degrees, the hip from
/// some 20 behind to some 30 before.
#[test]
fn people_who_walk_have_the_knees_and_hips_of_walking() {
    let (Some(folder), Some(asf_amc)) = (shared("bvh"), shared("asf-amc")) else { return };
    let options = ReadOptions::default();
    let acclaim = |asf: &str, amc: &str| {
        let asf = read_file(&asf_amc.join(asf), None, &options).unwrap().file;
        read_file(&asf_amc.join(amc), Some(&asf), &options).unwrap().file
    };
    let walks = [
        ("02_01.bvh", bvh(&folder, "02_01.bvh")),
        ("02_01.amc", acclaim("02.asf", "02_01.amc")),
        ("07_01.bvh", bvh(&folder, "07_01.bvh")),
        ("35_01.amc", acclaim("35.asf", "35_01.amc")),
        ("16_15.amc", acclaim("16.asf", "16_15.amc")),
        ("Bandai", bvh(&folder, "dataset-2_walk-turn-left_youthful_018.bvh")),
        ("neutral_01_000.bvh", bvh(&folder, "neutral_01_000.bvh")),
    ];
    for (name, file) in &walks {
        let anatomy = Anatomy::of(&file.skeleton).unwrap();
        for side in [BodySide::Left, BodySide::Right] {
            let of = |what, k| extremes(&angles(&find(&anatomy, what, side), file), k);
            let what = format!("{name} {side:?}");
            let (low, high) = of(BodyJoint::Knee, 0);
            assert!(
                (-10.0..25.0).contains(&low) && (50.0..80.0).contains(&high),
                "{what} {low} {high}"
            );
            let (low, high) = of(BodyJoint::Hip, 0);
            assert!(low > -32.0 && low < 5.0 && high > 15.0 && high < 50.0, "{what} {low} {high}");
            // The knees of this file, retargeted from another figure, are no hinges, and its elbows bend
            // about other axes than those of the file whose names it has.
            let hinge = if *name == "neutral_01_000.bvh" { 30.0 } else { 5.0 };
            for (joint, k, most) in [
                (BodyJoint::Hip, 1, 22.0),
                (BodyJoint::Hip, 2, 35.0),
                (BodyJoint::Knee, 1, hinge),
                (BodyJoint::Elbow, 1, hinge),
            ] {
                let (low, high) = of(joint, k);
                assert!(low > -most && high < most, "{what} {joint:?} {k}: {low} {high}");
            }
            let (low, high) = of(BodyJoint::Elbow, 0);
            assert!(low > -5.0 && high < 110.0, "{what}: elbow {low} {high}");
        }
    }
}

#[test]
fn arms_that_are_raised_are_elevated_and_those_of_a_t_pose_abducted_by_90() {
    let Some(folder) = shared("bvh") else { return };
    let file = bvh(&folder, "dataset-2_raise-up-both-hands_active_085.bvh");
    let anatomy = Anatomy::of(&file.skeleton).unwrap();
    for side in [BodySide::Left, BodySide::Right] {
        let arm = angles(&find(&anatomy, BodyJoint::Shoulder, side), &file);
        let elevation = |a: &[f64; 3]| (a[0] * a[0] + a[1] * a[1]).sqrt();
        let most = arm.iter().map(elevation).fold(0.0, f64::max);
        assert!(most > 110.0 && elevation(&arm[0]) < 45.0, "{side:?}: {most}");
    }
    let file = bvh(&folder, "Geno_stance.bvh");
    let anatomy = Anatomy::of(&file.skeleton).unwrap();
    for side in [BodySide::Left, BodySide::Right] {
        let [flexion, abduction, _] = angles(&find(&anatomy, BodyJoint::Shoulder, side), &file)[0];
        assert!(flexion.abs() < 3.0 && (abduction - 90.0).abs() < 3.0, "{flexion} {abduction}");
    }
}

#[test]
fn the_same_take_as_amc_and_as_bvh_has_the_same_clinical_angles() {
    let mut worst = 0.0_f64;
    let mut compared = 0_usize;
    for (amc, bvh) in same_take::takes() {
        let [a, b] = [&amc, &bvh].map(|file| Anatomy::of(&file.skeleton).unwrap());
        // The trees are the same, joint by joint; the names are not.
        for j in amc.skeleton.indices() {
            let (Some(x), Some(y)) = (a.joint(j), b.joint(j)) else { continue };
            assert_eq!((x.what, x.side), (y.what, y.side), "{}", amc.skeleton[j].name);
            let (p, q) = (amc.clip.as_ref().unwrap(), bvh.clip.as_ref().unwrap());
            for (f, g) in p.frames().zip(q.frames().skip(1)) {
                let (p, q) = (p.pose(f).rotations, q.pose(g).rotations);
                // As rotations: near a singularity angles differ more than what they describe.
                let apart = x.rotation(p[j.get()]).distance(y.rotation(q[j.get()])).degrees();
                worst = worst.max(apart);
                compared += 1;
            }
        }
        assert_eq!(a.joints().count(), b.joints().count());
        assert!(a.joints().count() >= 24);
    }
    // Found: 2.0e-4; the files have four to six decimals.
    assert!(worst < 1e-3, "{worst} over {compared}");
}

#[test]
fn every_file_with_known_names_is_recognised() {
    let Some(folder) = shared("bvh") else { return };
    for (name, title, named) in [
        ("02_01.bvh", "MotionBuilder", 25),
        ("10_03.bvh", "Daz", 19),
        ("jumping_jacks.bvh", "3ds Max", 23),
        ("Geno_stance.bvh", "Geno", 24),
        ("dataset-2_walk-turn-left_youthful_018.bvh", "Bandai", 21),
        ("test_freebvh.bvh", "Mixamo", 22),
        ("bvh_test1.bvh", "Mixamo", 24),
        ("AV_8Walk_Meredith_HVHA_Rep1.bvh", "Mixamo", 19),
        ("bvh_test2.bvh", "Biovision", 23),
        ("test_mocapbank.bvh", "Biovision", 19),
        ("example.bvh", "Biovision", 18),
        ("Swagger.bvh", "Acclaim names in BVH", 22),
    ] {
        let file = bvh(&folder, name);
        let anatomy = Anatomy::of(&file.skeleton).unwrap();
        let found = file.skeleton.indices().filter(|j| anatomy.name(*j).is_some()).count();
        assert!(anatomy.title().contains(title), "{name}: {}", anatomy.title());
        assert_eq!(found, named, "{name}");
    }
    for strange in ["tpose.bvh", "walk1.bvh"] {
        let anatomy = Anatomy::of(&bvh(&folder, strange).skeleton).unwrap();
        assert_eq!(anatomy.names_from(), NamesFrom::Words, "{strange}");
        for (what, side) in Anatomy::MAIN {
            assert!(anatomy.find(what, side).is_some(), "{strange}: {what:?} {side:?}");
        }
    }
}

#[test]
fn the_table_of_names_in_the_documentation_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/anatomy.md");
    let manual = std::fs::read_to_string(path).unwrap();
    let mut tables = 0;
    for block in manual.split("```json\n").skip(1) {
        let table = NameTable::read(block.split("```").next().unwrap()).unwrap();
        assert_eq!(table.find("rig:Thigh_L"), Some((BodyJoint::Hip, BodySide::Left)));
        tables += 1;
    }
    assert!(tables > 0);
}
