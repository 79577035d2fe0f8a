//! Inverse kinematics by numbers: any joints, any goals.

use super::chain::Chain;
use super::figure::Figure;
use super::goal::{Goal, Miss};
use super::random::random;
use super::search::{Ending, Scratch};
use super::system::System as _;
use super::{conjugate, levenberg};
use crate::math::Angle;
use crate::motion::Pose;

/// Finds poses of a figure that reach goals inside of its limits.
///
/// It keeps what it needs from one call to the next, and allocates only when there are more goals than
/// before, or other joints.
#[derive(Debug)]
pub struct Solver<'a> {
    chain: Chain<'a>,
    scratch: Scratch,
}

/// How steps are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Damped least squares (Levenberg and Marquardt): a few steps nearly always.
    #[default]
    LevenbergMarquardt,
    /// Nonlinear conjugate gradients, as in the source (C11): many more steps, each cheaper.
    ConjugateGradient,
}

/// How to look for a pose.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// How steps are found.
    pub method: Method,
    /// A goal that is missed by no more than this, in metres, counts as reached.
    pub near_m: f64,
    /// The same for rotations and directions.
    pub near: Angle,
    /// The most steps from each start; ten times as many for conjugate gradients.
    pub steps: u32,
    /// How often to start again from elsewhere, if goals are not reached: from `posture` if there is
    /// one, then at random inside of the limits, the same places each time. The best is kept.
    pub restarts: u32,
    /// A pose to be near, and what the square of each joint's distance from it counts, in radians.
    pub posture: Option<(&'a Pose, f64)>,
    /// Another one: of the frame before, so that motion is smooth.
    pub before: Option<(&'a Pose, f64)>,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self {
            method: Method::default(),
            near_m: 1e-4,
            near: Angle::from_radians(1e-3),
            steps: 40,
            restarts: 0,
            posture: None,
            before: None,
        }
    }
}

/// What a solver found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether every goal is reached.
    pub reached: bool,
    /// How many steps it took, over all starts.
    pub steps: u32,
    /// How often it started again.
    pub restarts: u32,
}

impl<'a> Solver<'a> {
    /// A solver for a figure.
    #[must_use]
    pub fn new(figure: &'a Figure) -> Self {
        Self { chain: Chain::new(figure), scratch: Scratch::default() }
    }

    /// Looks for a pose that reaches goals, from a start, and writes it to `pose`: of the joints that
    /// goals depend on, the others stay as they are there.
    ///
    /// # Panics
    ///
    /// If a pose is not one of the figure's skeleton, or a goal is about a joint that it does not have.
    pub fn solve(
        &mut self,
        start: &Pose,
        goals: &[Goal],
        settings: &Settings<'_>,
        pose: &mut Pose,
    ) -> Outcome {
        self.chain.near = [settings.near_m, settings.near.radians()];
        self.chain.aim(goals);
        self.chain.start(start);
        self.chain.refer([settings.posture, settings.before]);
        let mut outcome = Outcome { reached: false, steps: 0, restarts: 0 };
        let mut seed = 0;
        let mut least = f64::INFINITY;
        loop {
            let (ending, steps) = self.search(settings);
            outcome.steps += steps;
            outcome.reached = ending == Ending::Met;
            let cost = self.scratch.linear.cost();
            if outcome.reached || cost < least {
                least = cost;
                self.chain.keep();
            }
            if outcome.reached || outcome.restarts == settings.restarts {
                break;
            }
            match settings.posture {
                Some((posture, _)) if outcome.restarts == 0 => self.chain.stand(posture),
                _ => self.chain.scatter(|| random(&mut seed)),
            }
            outcome.restarts += 1;
        }
        if self.chain.recall() {
            self.chain.look(&mut self.scratch.linear);
        }
        self.chain.write(pose);
        outcome
    }

    fn search(&mut self, settings: &Settings<'_>) -> (Ending, u32) {
        let Self { chain, scratch } = self;
        match settings.method {
            Method::LevenbergMarquardt => levenberg::solve(chain, scratch, settings.steps),
            Method::ConjugateGradient => {
                conjugate::solve(chain, scratch, settings.steps.saturating_mul(10))
            }
        }
    }

    /// How far each goal of the last call is missed.
    #[must_use]
    pub fn misses(&self) -> &[Miss] {
        self.chain.misses()
    }
}
