//! Which way is up, and anatomical frames, in motion of all kinds of files.

use std::path::{Path, PathBuf};

use condyle::anatomy::{BodyJoint, BodySide, FigureAxes, FramesFrom, NamesFrom, UpFrom, WorldAxis};
use condyle::formats::{MotionFile, ReadOptions, read_file, read_files};
use condyle::math::{Angle, Rotation};
use condyle::motion::Clip;
use condyle::skeleton::{Joint, Skeleton};
use condyle::synth::{bones_along_x, turned_in_motion};

use crate::shared::{cmu, files, shared};

/// The axis that is up in each file that is not y-up, by looking at the figures: `MakeHuman`'s two, and two with
/// Mixamo's names. In all the others, also in those where people lie, roll and turn cartwheels, it is y.
const NOT_Y: [(&str, WorldAxis); 4] = [
    ("bvh_test1.bvh", WorldAxis::Z),
    ("dab.bvh", WorldAxis::Z),
    ("tpose.bvh", WorldAxis::Z),
    ("walk1.bvh", WorldAxis::Z),
];

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn truth(path: &Path) -> WorldAxis {
    NOT_Y.iter().find(|(file, _)| *file == name(path)).map_or(WorldAxis::Y, |(_, axis)| *axis)
}

/// All motion of the shared data, but that of `cmu`.
fn motion() -> Vec<(PathBuf, MotionFile)> {
    let (Some(bvh), Some(acclaim)) = (shared("bvh"), shared("asf-amc")) else { return Vec::new() };
    let mut paths = files(&bvh, "bvh");
    paths.extend(files(&acclaim, "asf"));
    paths.extend(files(&acclaim, "amc"));
    let options = ReadOptions::default();
    let read = read_files(&paths, &options);
    read.map(|(path, read)| (path.to_owned(), read.unwrap().file)).collect()
}

#[test]
fn up_is_right_in_all_files_with_a_skeleton() {
    let mut count = 0;
    for (path, file) in motion() {
        let Some(clip) = &file.clip else { continue };
        let up = FigureAxes::of(&file.skeleton, &[clip]).up();
        assert_eq!(up.axis, truth(&path), "{}: {up:?}", path.display());
        // None of them stands at rest along another axis than in motion.
        assert!(up.rest.is_none_or(|rest| rest == up.axis), "{}: {up:?}", path.display());
        count += 1;
    }
    assert!(count == 0 || count >= 69, "{count}");
}

#[test]
fn up_is_right_in_all_of_cmu_and_seen_without_rest_pose_in_nearly_all() {
    let Some(folder) = cmu() else { return };
    let (mut count, mut unseen, mut wrong) = (0, Vec::new(), Vec::new());
    for subject in std::fs::read_dir(folder).unwrap() {
        for path in files(&subject.unwrap().path(), "bvh") {
            let file = read_file(&path, None, &ReadOptions::default()).unwrap().file;
            let clip = file.clip.as_ref().unwrap();
            let up = FigureAxes::of(&file.skeleton, &[clip]).up();
            if up.axis != WorldAxis::Y {
                wrong.push((name(&path).to_owned(), up));
            }
            // The same with all bones along x at rest, and no pose in front.
            let (bare, moved) = bones_along_x(&file.skeleton, &behind_front(clip)).unwrap();
            let axes = FigureAxes::of(&bare, &[&moved]);
            if axes.up().axis != WorldAxis::Y {
                unseen.push(name(&path).to_owned());
            }
            count += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(count, 1664);
    // Swimmers (125, 126), who are along z throughout, and some who get up from the floor.
    let others = unseen.iter().filter(|n| !n.starts_with("125_") && !n.starts_with("126_"));
    let others: Vec<_> = others.collect();
    assert!(unseen.len() <= 30 && others.len() <= 14, "{unseen:?}");
}

/// The same skeleton with names that say nothing.
fn nameless(skeleton: &Skeleton) -> Skeleton {
    let mut made = Skeleton::new();
    for j in skeleton.indices() {
        let joint = Joint { name: format!("n{}", j.get()), ..skeleton[j].clone() };
        match skeleton.parent(j) {
            Some(parent) => made.add(parent, joint).unwrap(),
            None => made.add_root(joint).unwrap(),
        };
    }
    made
}

#[test]
fn up_is_seen_by_the_floor_where_names_say_nothing() {
    // Right, wrong, not told.
    let mut counts = [0; 3];
    let mut count = |path: &Path, file: &MotionFile| {
        let Some(clip) = &file.clip else { return };
        let axes = FigureAxes::of(&nameless(&file.skeleton), &[clip]);
        let up = axes.up();
        assert!(axes.anatomy().is_none(), "{}", path.display());
        let which = match up.from {
            UpFrom::Floor if up.axis == truth(path) => 0,
            UpFrom::Floor => {
                eprintln!("{}: {up:?}", path.display());
                // A wrong axis is told.
                let findings = axes.findings();
                assert!(findings.iter().any(|f| f.code() == "up-by-floor"), "{findings:?}");
                1
            }
            _ => {
                assert_eq!((up.axis, up.from), (WorldAxis::Y, UpFrom::Assumed));
                2
            }
        };
        counts[which] += 1;
    };
    for (path, file) in motion() {
        count(&path, &file);
    }
    if let Some(folder) = cmu() {
        for subject in std::fs::read_dir(folder).unwrap() {
            for path in files(&subject.unwrap().path(), "bvh") {
                count(&path, &read_file(&path, None, &ReadOptions::default()).unwrap().file);
            }
        }
    }
    let [right, wrong, not_told] = counts;
    eprintln!("{right} right, {wrong} wrong, {not_told} not told");
    let all = right + wrong + not_told;
    assert!(100 * wrong <= all && 100 * right >= 96 * all, "{counts:?}");
}

/// A clip without a pose in front of it.
fn behind_front(clip: &Clip) -> Clip {
    condyle::edit::trimmed(clip, clip.motion_start()..clip.frame_count()).unwrap()
}

#[test]
fn a_world_that_is_turned_under_a_rest_pose_is_seen_in_the_motion() {
    let (mut count, mut unseen) = (0, Vec::new());
    for (path, file) in motion() {
        let Some(clip) = &file.clip else { continue };
        let y = Rotation::about_x(Angle::from_degrees(90.0));
        let x = Rotation::about_z(Angle::from_degrees(-90.0));
        for (world, up) in [(y, WorldAxis::Z), (y.inverse(), WorldAxis::NegZ), (x, WorldAxis::X)] {
            if truth(&path) != WorldAxis::Y {
                continue;
            }
            let found = FigureAxes::of(
                &file.skeleton,
                &[&turned_in_motion(&file.skeleton, clip, world).unwrap()],
            )
            .up();
            count += 1;
            if found.axis == up {
                assert_eq!(found.from, UpFrom::Motion, "{}", path.display());
                continue;
            }
            // What is not seen is told to be in doubt, but where people are upside down most of the time.
            unseen.push((name(&path).to_owned(), up, found));
        }
    }
    // Cartwheels, and lying on the floor.
    let allowed = ["49_08", "lieDownFloor", "88_01"];
    let others = unseen.iter().filter(|(n, ..)| !allowed.iter().any(|a| n.contains(a)));
    let others: Vec<_> = others.collect();
    assert!(others.is_empty(), "{others:?} of {count}");
}

/// The largest difference of a clinical angle between two versions of one motion, degrees.
fn farthest(what: BodyJoint, side: BodySide, [a, b]: [(&FigureAxes, &Clip); 2]) -> f64 {
    let find = |axes: &FigureAxes| {
        let anatomy = axes.anatomy().unwrap();
        anatomy.joints().find(|j| j.what == what && j.side == side).unwrap().clone()
    };
    let (ours, theirs) = (find(a.0), find(b.0));
    let mut worst = 0.0_f64;
    for frame in a.1.frames().skip(1) {
        let of = |joint: &condyle::anatomy::AnatomicalJoint, clip: &Clip| {
            let pose = clip.pose(frame);
            joint.angles_along(|j| pose.rotations[j.get()])[0]
        };
        let off = of(&ours, a.1).degrees() - of(&theirs, b.1).degrees();
        worst = worst.max((off - 360.0 * (off / 360.0).round()).abs());
    }
    worst
}

#[test]
fn frames_of_figures_whose_bones_lie_along_x_at_rest_are_from_the_motion() {
    let mut count = 0;
    for (path, file) in motion() {
        let walks = [
            "02_01.bvh",
            "07_01.bvh",
            "16_35.bvh",
            "neutral_01_000.bvh",
            "test_freebvh.bvh",
            "127_02.bvh",
            "02_01.amc",
            "Swagger.bvh",
            "AV_8Walk_Meredith_HVHA_Rep1.bvh",
        ];
        if !walks.contains(&name(&path)) {
            continue;
        }
        let clip = file.clip.as_ref().unwrap();
        let own = FigureAxes::of(&file.skeleton, &[clip]);
        for (degrees, up) in [(0.0, WorldAxis::Y), (90.0, WorldAxis::Z)] {
            let world = Rotation::about_x(Angle::from_degrees(degrees));
            let (bare, moved) = bones_along_x(&file.skeleton, clip).unwrap();
            let moved = turned_in_motion(&bare, &moved, world).unwrap();
            let axes = FigureAxes::of(&bare, &[&moved]);
            assert_eq!(axes.up().axis, up, "{}: {:?}", path.display(), axes.up());
            assert_eq!(axes.up().rest, None, "{}", path.display());
            let anatomy = axes.anatomy().unwrap();
            assert!(
                matches!(anatomy.frames_from(), FramesFrom::Motion { .. }),
                "{}: {:?}",
                path.display(),
                anatomy.frames_from()
            );
            for side in [BodySide::Left, BodySide::Right] {
                for (what, most) in [(BodyJoint::Knee, 12.0), (BodyJoint::Hip, 15.0)] {
                    let off = farthest(what, side, [(&own, clip), (&axes, &moved)]);
                    eprintln!("{} {what:?} {side:?} {off:.1}", name(&path));
                    assert!(off < most, "{}: {what:?} {side:?} {off}", path.display());
                }
            }
            count += 1;
        }
    }
    assert!(count == 0 || count == 18, "{count}");
}

#[test]
fn names_that_no_table_has_are_read_by_their_words() {
    for (path, file) in motion() {
        let words = ["tpose.bvh", "walk1.bvh"].contains(&name(&path));
        let Some(clip) = &file.clip else { continue };
        let axes = FigureAxes::of(&file.skeleton, &[clip]);
        let from = axes.anatomy().unwrap().names_from();
        assert_eq!(from == NamesFrom::Words, words, "{}", path.display());
    }
}
