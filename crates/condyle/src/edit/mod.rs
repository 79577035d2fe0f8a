//! Motion editing: moved and turned, matched, blended, connected, mirrored, retargeted.
//!
//! Everything takes clips and gives new ones, or changes one in place; frames and channels that an
//! edit does not touch keep the numbers of their file. `docs/edit.md` has the methods and a worked
//! example.

mod bound;
mod distances;
mod facing;
mod features;
mod index;
mod match_error;
mod place;
mod search;
mod window;

pub use distances::{DistanceMatrix, distance_matrix};
pub use facing::{Facing, Ground, Stand};
pub use features::{Features, Metric};
pub use match_error::MatchError;
pub use place::Placement;
pub use search::{Match, Pair, SearchOptions, best_matches, closest_windows};
pub use window::Query;
