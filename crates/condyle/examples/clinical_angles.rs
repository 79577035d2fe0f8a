//! Which clinical angles does a motion go through, and are they within the published ranges?
//!
//! `cargo run --release --example clinical_angles -- walk.bvh subject.asf,take.amc …`

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::num::NonZeroUsize;
use std::path::Path;

use condyle::anatomy::Anatomy;
use condyle::formats::{ReadOptions, read_file};
use condyle::math::Angle;
use condyle::rig::RigJoints;

/// Whole degrees, without the sign of a zero.
fn whole(angle: Angle) -> f64 {
    angle.degrees().round() + 0.0
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
        let clips: Vec<_> = file.clip.iter().map(|clip| (&file.skeleton, clip)).collect();
        for explored in
            anatomy.explored(&file.skeleton, &clips, &RigJoints::new(), NonZeroUsize::MIN)
        {
            let joint = explored.joint;
            print!("  {} {}:", joint.side.as_str(), joint.what.as_str());
            for angle in &explored.angles {
                print!("  {}", angle.name.positive);
                if let Some([low, high]) = angle.seen.map(|ends| ends.map(whole)) {
                    print!(" {low:.0}..{high:.0}");
                }
                if let Some((range, coverage)) = &angle.published {
                    let (a, b) = (whole(range.low), whole(range.high));
                    print!(" of {a:.0}..{b:.0} ({:.0} %)", 100.0 * coverage.share);
                }
                if let Some(note) = angle.note() {
                    print!(" [{note}]");
                }
            }
            println!();
        }
    }
    Ok(())
}
