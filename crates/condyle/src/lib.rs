//! Joint kinds and joint limits from motion capture, and what they are good for.
//!
//! This is the foundation: a [`skeleton`](skeleton::Skeleton) is the tree of joints with its rest
//! pose, a [`clip`](motion::Clip) its motion over time, [`formats`] read and write both, [`math`] has
//! the rotations, and [`synth`] makes figures whose truth is known.
//!
//! Right-handed, metres, radians and seconds inside; `a * b` means "first `b`, then `a`". The
//! repository's `CONVENTIONS.md` has the rest, each line with the test that pins it.
//!
//! ```
//! use condyle::formats::{Format, MotionFile, ReadOptions, WriteOptions, read, write};
//! use condyle::motion::WorldTracks;
//! use condyle::synth::{Figure, Options, Synth};
//!
//! // A figure and its motion, written as BVH and read back.
//! let made = Synth::generate(&Figure::human(), &Options { frames: 60, ..Options::default() }, 1)?;
//! let file = MotionFile::new(made.skeleton, made.clip);
//! let written = write(&file, Format::Bvh, &WriteOptions::default())?;
//! let back = read(&written.parts[0].1, None, &ReadOptions::default())?.file;
//!
//! // Where is the left hand in the last frame?
//! let clip = back.clip.as_ref().ok_or("no motion")?;
//! let hand = back.skeleton.find("LeftHand").ok_or("no hand")?;
//! let place = WorldTracks::of(&back.skeleton, clip).position_m(hand, 59);
//! assert!(place.is_finite());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod anatomy;
pub mod couple;
pub mod edit;
pub mod enforce;
pub mod estimate;
pub mod evaluate;
pub mod formats;
pub mod hash;
pub mod ik;
pub mod limits;
pub mod maps;
pub mod math;
mod memory;
pub mod models;
pub mod motion;
pub mod picture;
pub mod presets;
pub mod report;
pub mod rig;
pub mod skeleton;
pub mod synth;
mod threads;

pub use glam;
