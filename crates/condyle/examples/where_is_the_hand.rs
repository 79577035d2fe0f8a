//! Where is the left hand in each frame?
//!
//! ```sh
//! cargo run --example where_is_the_hand -- walk.bvh LeftHand
//! cargo run --example where_is_the_hand              # a made-up figure, no file needed
//! ```

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::path::Path;

use condyle::formats::{MotionFile, ReadOptions, read_file};
use condyle::motion::WorldTracks;
use condyle::synth::{Figure, Options, Synth};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let file = match args.next() {
        Some(path) => read_file(Path::new(&path), None, &ReadOptions::default())?.file,
        None => {
            let Synth { skeleton, clip, .. } =
                Synth::generate(&Figure::human(), &Options::default(), 1)?;
            MotionFile::new(skeleton, clip)
        }
    };
    let name = args.next().unwrap_or_else(|| "LeftHand".to_owned());

    let skeleton = &file.skeleton;
    let clip = file.clip.as_ref().ok_or("the file has no motion")?;
    let hand = skeleton.find(&name).ok_or_else(|| format!("there is no joint {name:?}"))?;
    let world = WorldTracks::of(skeleton, clip);
    for frame in (0..clip.frame_count()).step_by(60) {
        let p = world.position_m(hand, frame);
        println!("frame {frame:5}: {:7.3} {:7.3} {:7.3} m", p.x, p.y, p.z);
    }
    Ok(())
}
