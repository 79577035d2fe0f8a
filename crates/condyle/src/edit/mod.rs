//! Motion editing: moved and turned, matched, blended, connected, mirrored, retargeted.
//!
//! Everything takes clips and gives new ones, or changes one in place; frames and channels that an
//! edit does not touch keep the numbers of their file. `docs/edit.md` has the methods and a worked
//! example.

mod blend;
mod connect;
mod ease;
mod error;
mod facing;
mod feet;
mod jumps;
mod onto;
mod place;
mod time;
mod world;

pub use blend::{blend, interpolate};
pub use connect::{Connected, Keep, Method, Order, Overlap, connect};
pub use ease::Easing;
pub use error::EditError;
pub use facing::{Facing, Ground, Stand};
pub use feet::{ContactOptions, Leg, contacts};
pub use jumps::{Jump, jump_quantile, jumps, largest_jump};
pub use onto::{Onto, onto};
pub use place::Placement;
pub use time::{retimed, reversed, trimmed};
pub use world::{scaled, with_up};
