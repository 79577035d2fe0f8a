//! What the solvers have in common.

use glam::{DMat3, DVec3};

use super::system::{Linear, Stop};

/// Room for the work of a solver, used again by the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) linear: Linear,
    pub(super) step: Vec<f64>,
    /// The limits that the last step ran into, and those that `here` is on the boundary of.
    pub(super) stops: Vec<Stop>,
    pub(super) stops_here: Vec<Stop>,
    /// Of least squares: the matrix of the step by goals or by freedoms, what it is solved for, one over what freedoms resist
    /// with, and how they are damped.
    pub(super) matrix: Vec<DMat3>,
    pub(super) normal: Vec<f64>,
    pub(super) dual: Vec<DVec3>,
    pub(super) softness: Vec<f64>,
    pub(super) damping: Vec<f64>,
    /// The residual before the last step.
    pub(super) residual: Vec<DVec3>,
    /// What limits settle of the step, and those that are held to.
    pub(super) settled: Vec<f64>,
    pub(super) holds: Vec<Hold>,
    pub(super) along: Vec<DVec3>,
    /// Of conjugate gradients.
    pub(super) slope: Vec<f64>,
    pub(super) slope_before: Vec<f64>,
    pub(super) direction: Vec<f64>,
}

impl Scratch {
    /// Room for as many limits as so many blocks can run into, so that none is made on the way.
    pub(super) fn reserve(&mut self, blocks: usize) {
        let most = 3 * blocks;
        for stops in [&mut self.stops, &mut self.stops_here] {
            stops.reserve(most.saturating_sub(stops.len()));
        }
        self.holds.reserve(most.saturating_sub(self.holds.len()));
    }
}

/// A direction in a block that a step may not take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) block: usize,
    /// The way out of the limit, of length one, and how far the step goes along it.
    pub(super) way_out: [f64; 3],
    pub(super) out_by: f64,
    /// What of it was not held to already: of length one, and square to the others of the block.
    pub(super) normal: [f64; 3],
    /// How far the step goes along it.
    pub(super) by: f64,
    /// What was taken out of the problem: the pull along the normal, and where the derivatives along it
    /// are in [`Scratch::along`], one for each goal that the block touches.
    pub(super) pull: f64,
    pub(super) along: usize,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Every goal is met, and the posture cannot be bettered by much.
    Met,
    /// No step makes it better.
    Stuck,
    /// Too many steps.
    TooLong,
}
