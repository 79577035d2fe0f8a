//! What the solvers have in common.

use glam::{DMat3, DVec3};

use super::system::{Linear, Stop};

/// Room for the work of a solver, used again by the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) linear: Linear,
    pub(super) step: Vec<f64>,
    /// The limits that the last step ran into, and the one before it, which led to `here`.
    pub(super) stops: Vec<Stop>,
    pub(super) stops_here: Vec<Stop>,
    /// Of least squares: the matrix of the step, what it is solved for, one over what freedoms resist
    /// with, what limits settle of the step,
    /// and the limits that are held to.
    pub(super) matrix: Vec<DMat3>,
    pub(super) dual: Vec<DVec3>,
    pub(super) softness: Vec<f64>,
    pub(super) damping: Vec<f64>,
    /// The residual before the last step.
    pub(super) residual: Vec<DVec3>,
    pub(super) settled: Vec<f64>,
    pub(super) holds: Vec<Hold>,
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
    pub(super) normal: [f64; 3],
    /// How far the step goes along it.
    pub(super) by: f64,
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
