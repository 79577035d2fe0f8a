//! Estimates of real motion.

use std::num::NonZeroUsize;

use condyle::enforce::BoundRig;
use condyle::estimate::{EstimateOptions, Take, estimate};
use condyle::formats::{ReadOptions, read_file};
use condyle::glam::DVec3;
use condyle::rig::{JointKind, RigJoint};

use crate::same_take::takes;
use crate::shared::{files, shared};

/// The standard deviations of a joint about its principal axes, degrees.
fn spread(clip: &condyle::motion::Clip, joint: condyle::skeleton::JointIndex) -> [f64; 3] {
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

#[test]
fn what_was_estimated_from_is_inside() {
    let mut clips = 0;
    for (folder, extension) in [("bvh", "bvh")] {
        let Some(folder) = shared(folder) else { return };
        for path in files(&folder, extension) {
            let Ok(read) = read_file(&path, None, &ReadOptions::default()) else { continue };
            let Some(clip) = &read.file.clip else { continue };
            let take = Take { skeleton: &read.file.skeleton, clip };
            let start = std::time::Instant::now();
            let Ok(found) = estimate(&[take], &EstimateOptions::default()) else { continue };
            let took = start.elapsed().as_secs_f64();
            let rejected: u64 = found.joints.iter().filter_map(|(_, j)| j.rejected).sum();
            let noise = found.noise.degrees();
            let rig = found.into_rig();
            let bound = BoundRig::new(&rig, &read.file.skeleton).unwrap();
            let check = bound.check(clip, NonZeroUsize::MIN);
            clips += 1;
            println!(
                "{}: {} frames, {:.0} ns per joint-frame, noise {noise:.3}, rejected {rejected}, ok {}",
                path.display(),
                clip.frame_count(),
                took * 1e9 / (clip.frame_count() * read.file.skeleton.len()) as f64,
                check.ok()
            );
            for joint in check.joints.iter().filter(|j| j.outside > 0) {
                let entry = rig.joints.get(&read.file.skeleton[joint.joint].name).unwrap();
                println!(
                    "   {} {:?}: {} outside, {:.2} deg at {}, rejected {:?} noise {:?}",
                    read.file.skeleton[joint.joint].name,
                    entry.kind,
                    joint.outside,
                    joint.worst.degrees(),
                    joint.worst_frame.get(),
                    entry.rejected,
                    entry.noise
                );
            }
        }
    }
    println!("{clips} clips");
}
