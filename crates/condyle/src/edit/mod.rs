//! Motion editing: moved and turned, matched, blended, connected, mirrored, retargeted.
//!
//! Everything takes clips and gives new ones, or changes one in place; frames and channels that an
//! edit does not touch keep the numbers of their file. `docs/edit.md` has the methods and a worked
//! example.

mod blend;
mod body;
mod bound;
mod carrier;
mod closest;
mod connect;
mod diagonals;
mod distances;
mod ease;
mod error;
mod facing;
mod features;
mod feet;
#[cfg(test)]
mod figures;
mod fit;
mod hold;
mod index;
mod jumps;
mod keep;
mod lower;
mod match_error;
mod mirror;
mod onto;
pub mod page;
mod place;
mod plant;
mod reach;
mod retarget;
mod rows;
mod search;
mod sides;
mod time;
mod window;
mod world;

pub use blend::{blend, interpolate};
pub use closest::{Between, Pair, closest_windows};
pub use connect::{Connected, Keep, Method, Order, Overlap, connect};
pub use distances::{DistanceMatrix, distance_matrix};
pub use ease::Easing;
pub use error::EditError;
pub use facing::{Facing, Ground, Stand};
pub use features::{Features, Metric};
pub use feet::{ContactOptions, Leg, contacts};
pub use fit::{Fitted, fit, fit_inside};
pub use jumps::{Jump, UsualJumps, joint_jumps, jump_quantile, jumps, quantile, speeds};
pub use keep::KeptLimb;
pub use lower::Lowered;
pub use match_error::MatchError;
pub use mirror::{Mirror, MirrorError, mirror};
pub use onto::{Onto, onto};
pub use place::Placement;
pub use plant::Planted;
pub use retarget::{End, Retarget, RetargetError, RetargetOptions, Retargeted, Scale, retarget};
pub use rows::MotionFrom;
pub use search::{Match, SearchOptions, best_matches};
pub use time::{retimed, reversed, trimmed};
pub use window::Query;
pub use world::{in_world_of, scaled, with_up};
