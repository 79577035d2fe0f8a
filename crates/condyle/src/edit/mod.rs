//! Motion editing: moved and turned, matched, blended, connected, mirrored, retargeted.
//!
//! Everything takes clips and gives new ones, or changes one in place; frames and channels that an
//! edit does not touch keep the numbers of their file. `docs/edit.md` has the methods and a worked
//! example.

mod facing;
mod place;

pub use facing::{Facing, Ground, Stand};
pub use place::Placement;
