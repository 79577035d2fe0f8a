//! Estimates of real motion.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use condyle::enforce::BoundRig;
use condyle::estimate::{EstimateOptions, Take, estimate};
use condyle::formats::{MotionFile, ReadOptions, read_file};
use condyle::glam::DVec3;
use condyle::limits::{Limit, TwistBounds, TwistOffset};
use condyle::math::Angle;
use condyle::motion::Clip;
use condyle::picture::Figures;
use condyle::rig::{EndOf, JointKind, Rig, RigJoint};
use condyle::synth::{Figure, Options, Synth};

use crate::acclaim::skeleton_of;
use crate::same_take::takes;
use crate::shared::{files, shared};

/// The standard deviations of a joint about its principal axes, degrees.
fn spread(clip: &Clip, joint: condyle::skeleton::JointIndex) -> [f64; 3] {
    let rotations = clip.track(joint).rotations();
    let mean = condyle::math::mean_rotation(rotations.iter().map(|r| (r, 1.0))).unwrap();
    let mut m = [[0.0; 3]; 3];
    let logs: Vec<_> = rotations.iter().map(|r| (mean.rotation.inverse() * r).log()).collect();
    let middle = logs.iter().sum::<DVec3>() / logs.len() as f64;
    for v in &logs {
        let v = (*v - middle).to_array();
        for i in 0..3 {
            for j in 0..3 {
                m[i][j] += v[i] * v[j] / logs.len() as f64;
            }
        }
    }
    condyle::math::symmetric_eigen(m).unwrap().values.map(|v| v.max(0.0).sqrt().to_degrees())
}

#[test]
fn declared_kinds_are_found_in_both_forms_of_a_take() {
    let (mut moving, mut right) = (0, 0);
    for (amc, bvh) in takes() {
        for file in [&amc, &bvh] {
            let clip = file.clip.as_ref().unwrap();
            let take = Take { skeleton: &file.skeleton, clip };
            let found = estimate(&[take], &EstimateOptions::default()).unwrap();
            for j in amc.skeleton.indices().skip(1) {
                let [first, second, third] = spread(amc.clip.as_ref().unwrap(), j);
                if first <= 2.0 {
                    continue;
                }
                let dofs = amc.skeleton[j].declared.dofs.as_ref().map_or(0, |dofs| {
                    dofs.iter().filter(|d| d.dof.rotation_axis().is_some()).count()
                });
                let entry: &RigJoint = found.joints.get(&file.skeleton[j].name).unwrap();
                let good = match dofs {
                    0 => entry.kind == JointKind::Fixed,
                    1 => entry.kind == JointKind::Hinge,
                    2 => matches!(entry.kind, JointKind::Universal | JointKind::Ball),
                    _ => {
                        entry.kind == JointKind::Ball
                            || (entry.kind == JointKind::Universal && third < 1.0)
                    }
                };
                moving += 1;
                right += usize::from(good);
                if !good {
                    println!(
                        "{:?} {}: declared {dofs}, {:?} ({}) sd {first:.2} {second:.2} {third:.2} conf {:?} rejected {:?}",
                        file.format,
                        amc.skeleton[j].name,
                        entry.kind,
                        entry.why.as_deref().unwrap_or(""),
                        entry.confidence,
                        entry.rejected
                    );
                }
            }
        }
    }
    println!("{right} of {moving} moving joints have the declared kind");
    assert!(right as f64 >= 0.98 * moving as f64, "{right} of {moving}");
}

/// Every clip keeps to what is estimated from it, but for frames that the estimate left out: no more
/// of them than it says.
fn keep_to_their_limits(clips: impl Iterator<Item = (PathBuf, MotionFile)>) -> usize {
    let mut count = 0;
    for (path, file) in clips {
        let Some(clip) = &file.clip else { continue };
        let take = Take { skeleton: &file.skeleton, clip };
        let found = match estimate(&[take], &EstimateOptions::default()) {
            Ok(found) => found,
            Err(error) => {
                assert!(clip.frame_count() < 2, "{error}");
                continue;
            }
        };
        let rig = found.into_rig();
        // As a user has it.
        let rig = Rig::read(&rig.write().unwrap()).unwrap().rig;
        let bound = BoundRig::new(&rig, &file.skeleton).unwrap();
        let check = bound.check(clip, NonZeroUsize::MIN);
        let in_front = usize::from(clip.has_leading_pose());
        for joint in &check.joints {
            let name = &file.skeleton[joint.joint].name;
            let entry = rig.joints.get(name).unwrap();
            assert_eq!(joint.outside, 0, "{}: {name}", path.display());
            let most = entry.rejected.unwrap_or(0) as usize + in_front;
            assert!(joint.left_out <= most, "{}: {name}", path.display());
            if joint.left_out > in_front {
                println!(
                    "{}, {} frames, {name} {:?}: {} left out",
                    path.display(),
                    clip.frame_count(),
                    entry.kind,
                    joint.left_out,
                );
            }
        }
        count += 1;
    }
    count
}

#[test]
fn bvh_clips_keep_to_what_is_estimated_from_them() {
    let Some(folder) = shared("bvh") else { return };
    let read = |path: PathBuf| {
        let file = read_file(&path, None, &ReadOptions::default()).unwrap().file;
        (path, file)
    };
    assert_eq!(keep_to_their_limits(files(&folder, "bvh").into_iter().map(read)), 26);
}

#[test]
fn amc_clips_keep_to_what_is_estimated_from_them() {
    let Some(folder) = shared("asf-amc") else { return };
    let read = |path: PathBuf| {
        let options = ReadOptions::default();
        let asf = read_file(&skeleton_of(&path), None, &options).unwrap().file;
        let file = read_file(&path, Some(&asf), &options).unwrap().file;
        (path, file)
    };
    assert_eq!(keep_to_their_limits(files(&folder, "amc").into_iter().map(read)), 42);
}

/// A11: to the byte, with twists that depend on the swing.
#[test]
fn the_order_of_real_clips_does_not_matter() {
    let Some(folder) = shared("asf-amc") else { return };
    let mut by_swing = 0;
    for subject in ["49", "05", "HDM_bd"] {
        let mine = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(&format!("{subject}_"))
        };
        let clips: Vec<MotionFile> = files(&folder, "amc")
            .into_iter()
            .filter(mine)
            .map(|path| {
                let options = ReadOptions::default();
                let asf = read_file(&skeleton_of(&path), None, &options).unwrap().file;
                read_file(&path, Some(&asf), &options).unwrap().file
            })
            .collect();
        assert!(clips.len() > 1, "{subject}");
        let document = |order: &mut dyn Iterator<Item = &MotionFile>| {
            let takes: Vec<Take<'_>> = order
                .map(|f| Take { skeleton: &f.skeleton, clip: f.clip.as_ref().unwrap() })
                .collect();
            let rig = estimate(&takes, &EstimateOptions::default()).unwrap().into_rig();
            String::from_utf8(rig.write().unwrap()).unwrap()
        };
        let expected = document(&mut clips.iter());
        by_swing += expected.matches("by_swing").count();
        assert!(document(&mut clips.iter().rev()) == expected, "{subject}");
        let (front, back) = clips.split_at(clips.len() / 2);
        assert!(document(&mut back.iter().chain(front)) == expected, "{subject}");
    }
    assert!(by_swing > 0);
}

/// The ends of an entry are those of its limit's figures.
fn check_ends(entry: &RigJoint) -> usize {
    let figures = Figures::of(&entry.limit, entry.center).unwrap();
    for end in &entry.ends {
        let side = usize::from(end.of.is_upper());
        let swing = figures.swing.as_ref();
        let arc = |i: usize| [figures.arcs[i].1.min(), figures.arcs[i].1.max()];
        let (ends, tolerance) = match end.of {
            EndOf::Min | EndOf::Max | EndOf::FirstMin | EndOf::FirstMax => (arc(0), 0.01),
            EndOf::SecondMin | EndOf::SecondMax => (arc(1), 0.01),
            // Both look at points of the boundary, the figures at more of them.
            EndOf::XMin | EndOf::XMax => (swing.unwrap().x, 0.3),
            EndOf::YMin | EndOf::YMax => (swing.unwrap().y, 0.3),
            EndOf::TwistMin | EndOf::TwistMax => {
                let Limit::SwingTwist(limit) = &entry.limit else { panic!("{end:?}") };
                match (&limit.twist.bounds, &limit.twist.offset) {
                    // From the zero that the limit gives, whatever that is.
                    (TwistBounds::Arc(arc), _) => ([arc.min(), arc.max()], 0.01),
                    // The figures look at some directions inside.
                    (_, TwistOffset::None) => {
                        let twist = swing.unwrap().twist;
                        ([twist.min(), twist.max()], 3.0)
                    }
                    _ => continue,
                }
            }
        };
        let off = Angle::from_radians(end.at.radians() - ends[side].radians()).wrapped().degrees();
        assert!(off.abs() <= tolerance, "{end:?}: {off}\n{figures:?}");
        assert!(end.visits > 0, "{end:?}");
        if let Some([low, high]) = end.interval {
            assert!(low.radians() <= high.radians(), "{end:?}");
        }
    }
    entry.ends.len()
}

#[test]
fn ends_are_where_the_limits_have_them_and_in_the_mirror_too() {
    let mut ends = [0; 2];
    for seed in 0..6 {
        let figure = Figure::random(12, seed).unwrap();
        let synth = Synth::generate(&figure, &Options::default(), seed).unwrap();
        let take = Take { skeleton: &synth.skeleton, clip: &synth.clip };
        let how = |threads| EstimateOptions {
            ends: true,
            threads: NonZeroUsize::new(threads).unwrap(),
            ..EstimateOptions::default()
        };
        let found = estimate(&[take], &how(1)).unwrap();
        let again = estimate(&[take], &how(3)).unwrap();
        for (name, entry) in found.joints.iter() {
            ends[0] += check_ends(entry);
            ends[1] += check_ends(&entry.mirrored(DVec3::new(0.3, -0.5, 0.8)).unwrap());
            assert_eq!(again.joints.get(name).unwrap().ends, entry.ends, "{name}");
        }
    }
    println!("{} ends", ends[0]);
    assert!(ends[0] > 150 && ends[0] == ends[1], "{ends:?}");
}
