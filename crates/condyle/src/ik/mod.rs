//! Inverse kinematics: which rotations of joints put a hand or a foot where it should be.
//!
//! [`limb`] is exact, for an arm or a leg, and stays inside the limits of its joints. A [`Solver`] is
//! for any joints of a [`Figure`] and any [`Goal`]s; a [`Body`] adds exact limbs to it, and a
//! [`DialSolver`] turns the dials of a joint map instead. [`Goals`] are
//! those of all frames of a clip: read from a document or taken from another motion, and
//! [followed](Goals::follow), or by [dials](DialSolver::follow).

mod body;
mod by_name;
mod chain;
mod conjugate;
mod dial_clip;
mod dial_goals;
mod dials;
mod figure;
mod follow;
mod goal;
mod goals;
mod goals_error;
mod goals_file;
mod levenberg;
pub mod limb;
mod look;
mod random;
mod search;
mod solver;
mod system;

pub use body::Body;
pub use by_name::{ByName, ByNameError, by_name};
pub use dial_clip::{FitTo, FittedDials, FittedJoint, FittedPlace, same_joints};
pub use dial_goals::FollowedDials;
pub use dials::{DialSettings, DialSolver};
pub use figure::Figure;
pub use follow::{
    FollowOptions, Followed, FollowedGoal, MOST_RESTARTS, REACHED, REACHED_M, RESTARTS_PER_FRAME,
};
pub use goal::{Aim, Goal, Miss};
pub use goals::{Aims, ClipGoal, GoalKind, Goals, NamedBy, Near, RootMotion};
pub use goals_error::{GoalsError, GoalsErrorKind};
pub use goals_file::ReadGoals;
pub(crate) use random::{drawn, random};
pub use solver::{Method, Outcome, Settings, Solver};

#[cfg(test)]
mod tests;
