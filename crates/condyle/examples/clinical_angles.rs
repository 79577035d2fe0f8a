//! Which clinical angles does a motion go through, and are they within the published ranges?
//!
//! `cargo run --release --example clinical_angles -- walk.bvh subject.asf,take.amc …`

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::path::Path;

use condyle::anatomy::{AnatomicalJoint, Anatomy, BodyJoint};
use condyle::formats::{MotionFile, ReadOptions, read_file};
use condyle::math::Angle;

/// The lowest and the highest of each angle, in degrees.
fn extremes(joint: &AnatomicalJoint, file: &MotionFile) -> [[f64; 2]; 3] {
    let mut extremes = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
    let Some(clip) = &file.clip else { return extremes };
    let first = usize::from(clip.has_leading_pose());
    for frame in clip.frames().skip(first) {
        let pose = clip.pose(frame);
        let angles = joint.angles_along(|j| pose.rotations[j.get()]);
        for ([low, high], angle) in extremes.iter_mut().zip(angles) {
            *low = low.min(angle.degrees());
            *high = high.max(angle.degrees());
        }
    }
    // Without the sign of a zero.
    extremes.map(|ends| ends.map(|end| end.round() + 0.0))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for argument in std::env::args().skip(1) {
        let options = ReadOptions::default();
        let file = match argument.split_once(',') {
            Some((skeleton, motion)) => {
                let skeleton = read_file(Path::new(skeleton), None, &options)?.file;
                read_file(Path::new(motion), Some(&skeleton), &options)?.file
            }
            None => read_file(Path::new(&argument), None, &options)?.file,
        };
        let Some(anatomy) = Anatomy::of(&file.skeleton) else {
            println!("{argument}: names that no table has");
            continue;
        };
        println!("{argument}: {}", anatomy.title());
        // A shoulder is taken with its clavicle, a neck with the head.
        let taken = [BodyJoint::Shoulder, BodyJoint::Neck];
        let alone = anatomy.joints().filter(|j| j.whole && !taken.contains(&j.what));
        for joint in alone.chain(anatomy.wholes()) {
            let found = extremes(joint, &file);
            print!("  {} {}:", joint.side.as_str(), joint.what.as_str());
            for ((name, [low, high]), range) in
                joint.what.angles().iter().zip(found).zip(joint.published())
            {
                print!("  {} {low:.0}..{high:.0}", name.positive);
                if let Some(range) = range {
                    let (a, b) = (range.low.degrees(), range.high.degrees());
                    let [low, high] = [low, high].map(Angle::from_degrees);
                    let share = 100.0 * range.coverage(low, high).share;
                    print!(" of {a:.0}..{b:.0} ({share:.0} %)");
                }
            }
            println!();
        }
    }
    Ok(())
}
