//! Inverse kinematics: which rotations of joints put a hand or a foot where it should be.
//!
//! [`limb`] is exact, for an arm or a leg. A [`Solver`] is for any joints of a [`Figure`] and any
//! [`Goal`]s.

mod chain;
mod conjugate;
mod figure;
mod goal;
mod levenberg;
pub mod limb;
mod random;
mod search;
mod solver;
mod system;

pub use figure::Figure;
pub use goal::{Aim, Goal, Miss};
pub(crate) use random::{any_rotation, random};
pub use solver::{Method, Outcome, Settings, Solver};

#[cfg(test)]
mod tests;
