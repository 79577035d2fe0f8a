//! Joint maps: a few dials that move many joints as a body does.
//!
//! A [`JointMap`] is plain data: dials, the parts that make numbers and transforms of them, and the joints
//! that these move. [`Network::new`] puts it on a skeleton and checks it; [`Network::evaluate`] gives
//! every joint's motion with its derivatives by the dials, and [`Network::clip`] the motion of a
//! [`DialClip`].

mod channels;
mod curve;
mod error;
mod flat;
mod held;
mod model;
mod network;
mod settle;
mod slide;
mod state;
mod transform;
mod turn;

#[cfg(test)]
pub(crate) mod tests;

pub use channels::{Clamped, DialClip, DialClipError, MAX_POSED, MAX_TABLE_BYTES};
pub use curve::{Curve, CurveError, PreparedCurve};
pub use error::{MapError, MapErrorKind, MapStep};
pub use held::{By, Held, HeldOver};
pub use model::{Component, Dial, Driven, JointMap, Output, Part, Unit};
pub(crate) use network::{Input, places, union};
pub use network::{Network, SlidingBone};
pub use slide::{ContactPair, PreparedSlide, Slid, Slide, SlideError};
pub use state::State;
pub use transform::{Rate, Transform};
pub use turn::{PreparedTurn, Turn, TurnError};
