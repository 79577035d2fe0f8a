//! Motion editing: moved and turned, matched, blended, connected, mirrored, retargeted.
//!
//! Everything takes clips and gives new ones, or changes one in place; frames and channels that an
//! edit does not touch keep the numbers of their file. `docs/edit.md` has the methods and a worked
//! example.

mod body;
mod facing;
#[cfg(test)]
mod figures;
mod keep;
mod mirror;
mod place;
mod retarget;
mod rows;
mod sides;

pub use facing::{Facing, Ground, Stand};
pub use keep::KeptLimb;
pub use mirror::{Mirror, MirrorError, mirror};
pub use place::Placement;
pub use retarget::{End, Retarget, RetargetError, RetargetOptions, Retargeted, Scale, retarget};
pub use rows::MotionFrom;
