//! Skeletons and motions with known truth.

mod region;
mod rng;
mod truth;

pub use region::{RegionShape, SwingRegion};
pub use rng::Rng;
pub use truth::{Coordinates, JointTruth};
