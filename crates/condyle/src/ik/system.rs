//! What a solver sees of a problem: numbers that can change, what they should bring about, and what
//! stops them.

use glam::DVec3;

/// Numbers that are stopped together: those of one joint, or one dial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The first of its freedoms.
    pub(super) first: usize,
    /// How many, up to three.
    pub(super) len: usize,
}

impl Block {
    pub(super) const fn freedoms(self) -> std::ops::Range<usize> {
        self.first..self.first + self.len
    }
}

/// A limit that a step ran into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    pub(super) block: usize,
    /// The way out, of length one, over the freedoms of the block.
    pub(super) normal: [f64; 3],
    /// How far beyond the step led.
    pub(super) beyond: f64,
}

/// A problem near the place where it was looked at, to first order.
///
/// What is asked for is `½ |residual + columns · step|² + ½ Σ stiffness · step² + pull · step`, as small
/// as can be. The first term are the goals, three numbers each; the others a posture to be near, whose
/// derivative is `pull`.
#[derive(Clone, Debug, Default)]
pub(super) struct Linear {
    /// One per goal.
    pub(super) residual: Vec<DVec3>,
    /// The derivative of the residual by each freedom: one per goal, for each freedom. It is zero for
    /// goals that the freedom does not touch.
    pub(super) columns: Vec<DVec3>,
    pub(super) pull: Vec<f64>,
    pub(super) stiffness: Vec<f64>,
    /// Half the square of the residual, and the posture's share.
    pub(super) goals: f64,
    pub(super) posture: f64,
    /// Whether every goal is as near as asked for.
    pub(super) met: bool,
}

impl Linear {
    pub(super) const fn cost(&self) -> f64 {
        self.goals + self.posture
    }

    pub(super) fn is_postured(&self) -> bool {
        self.stiffness.iter().any(|&stiffness| stiffness > 0.0)
    }

    /// The derivative of the cost by a freedom, which touches some of the goals.
    pub(super) fn slope(&self, freedom: usize, touched: &[usize]) -> f64 {
        let goals = self.residual.len();
        let column = &self.columns[freedom * goals..][..goals];
        let by_goals: f64 = touched.iter().map(|&g| column[g].dot(self.residual[g])).sum();
        by_goals + self.pull[freedom]
    }
}

/// Parameters that make transforms, with their derivatives and limits.
///
/// There are two places: `here`, where the solver stands, and `there`, which it tries.
pub(super) trait System {
    /// The freedoms, in order and without gaps.
    fn blocks(&self) -> &[Block];

    /// The goals that the freedoms of a block have an influence on, in order.
    fn touched(&self, block: usize) -> &[usize];

    /// The problem at `there`, without derivatives.
    fn look(&mut self, linear: &mut Linear);

    /// The derivatives at `there`, after a look.
    fn differentiate(&mut self, linear: &mut Linear);

    /// `there` becomes `here`, moved by a step and then held inside of all limits. What stopped it is
    /// added to `stops`.
    fn try_step(&mut self, step: &[f64], stops: &mut Vec<Stop>);

    /// `here` becomes `there`.
    fn accept(&mut self);

    /// The limits of a block that `here` is on the boundary of, near one that it was held to: those that
    /// a small step out runs into. They are added to `stops`.
    fn touch(&self, block: usize, way_out: [f64; 3], stops: &mut Vec<Stop>);
}
