//! What to estimate, and how.

use std::num::NonZeroUsize;

use super::boundary::CORNERS;
use super::{PaperOptions, Repair};
use crate::math::Angle;

/// How kinds and limits are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Noise, glitches and rest poses off the orbit are reckoned with; universal joints are told from
    /// balls.
    #[default]
    Robust,
    /// Engell-Nørregård and Erleben step by step: fixed, hinge or ball, the ball as a ZYZ box.
    Paper,
}

/// How noisy the motion is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Noise {
    /// As noisy as the motion shows.
    #[default]
    Auto,
    /// One standard deviation about each axis.
    Given(Angle),
}

/// What happens to frames that are wrong altogether.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outliers {
    /// They are found, counted and left out.
    #[default]
    Reject,
    /// All frames count.
    Keep,
}

/// How the limit of a ball joint is described.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BallModel {
    /// An ellipse where it is nearly as tight as a polygon, else a polygon.
    #[default]
    Auto,
    /// The paper's box of ZYZ Euler angles.
    Box,
    /// The smallest ellipse of directions.
    Ellipse,
    /// The boundary of the directions.
    Polygon,
}

/// What to estimate, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimateOptions {
    /// How kinds and limits are found.
    pub method: Method,
    /// How noisy the motion is.
    pub noise: Noise,
    /// What happens to frames that are wrong altogether.
    pub outliers: Outliers,
    /// How the limits of ball joints are described.
    pub ball: BallModel,
    /// Corners of a polygon, at most; 4 if less. There are as few as keep its boundary within 0.35° of
    /// the outline of the samples; it is moved farther only if there would be more than this.
    pub corners: usize,
    /// The share of the accepted samples to have inside, in (0, 1].
    pub coverage: f64,
    /// Whether every accepted sample is to be inside as it is, with its noise.
    pub raw: bool,
    /// How far limits are widened at every end, from 0 to half a turn.
    pub margin: Angle,
    /// How a start pose is found for a joint whose rest pose is outside (A10).
    pub repair: Repair,
    /// Whether to find out how well the ends of limits are known ([`RigJoint::ends`]), which takes a
    /// tenth longer for short clips. It needs the order of frames: there are none from summaries, nor with a given noise and all outliers kept,
    /// where the answer does not depend on it. [`Method::Paper`] does not look at them.
    ///
    /// [`RigJoint::ends`]: crate::rig::RigJoint::ends
    pub ends: bool,
    /// For [`Method::Paper`].
    pub paper: PaperOptions,
    /// Threads to work with; one starts none.
    pub threads: NonZeroUsize,
}

impl EstimateOptions {
    /// How far limits are widened, radians.
    pub(super) fn margin_radians(&self) -> f64 {
        self.margin.radians().clamp(0.0, std::f64::consts::PI)
    }
}

impl Default for EstimateOptions {
    fn default() -> Self {
        Self {
            method: Method::default(),
            noise: Noise::default(),
            outliers: Outliers::default(),
            ball: BallModel::default(),
            corners: CORNERS,
            coverage: 1.0,
            raw: false,
            margin: Angle::ZERO,
            repair: Repair::default(),
            ends: false,
            paper: PaperOptions::default(),
            threads: NonZeroUsize::MIN,
        }
    }
}
