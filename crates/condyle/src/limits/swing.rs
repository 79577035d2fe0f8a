//! Regions for the direction of a bone, as plain data.

use std::fmt;
use std::sync;

use glam::{DVec2, DVec3};

use crate::math::{Angle, Arc, Swing};

/// Where a bone may point.
///
/// Directions are unit vectors `m · bone`, in the same space as the axes of the
/// [`SwingTwistLimit`](super::SwingTwistLimit) they belong to. Boundaries are inside.
#[derive(Clone, Debug, Default)]
pub enum SwingLimit {
    /// Anywhere.
    #[default]
    Free,
    /// A spherical ellipse about the bone's own direction (B4):
    ///
    /// ```text
    ///   (Sx / rx)² + (Sy / ry)² ≤ 1
    /// ```
    ///
    /// in the components of the swing's rotation vector, `0 ≤ rx, ry ≤ π`.
    Ellipse {
        /// The largest swing about x.
        rx: Angle,
        /// The largest swing about y.
        ry: Angle,
    },
    /// Spherical polygons, intersected (B5). Each is a list of directions joined by great arcs
    /// shorter than π, with the inside on the left as one walks along it seen from outside the
    /// sphere; so a polygon may be concave, be larger than a hemisphere, or, walked the other way, be
    /// a hole.
    Polygons(Vec<Vec<DVec3>>),
    /// A polygon in the plane at distance 1 along the bone, in coordinates along x and y (B6).
    /// Walked in either direction.
    PlanarCone(Vec<DVec2>),
    /// A boundary seen from a direction inside it (D5). Walked in either direction.
    ReachCone {
        /// Directions joined by great arcs.
        boundary: Vec<DVec3>,
        /// A direction inside, to which moving towards rest leads.
        rest: DVec3,
    },
    /// Two Euler swing angles, each in its arc (B3): `direction = R_x(α) · R_y(β) · bone`.
    Box {
        /// α, about x.
        alpha: Arc,
        /// β, about the y that α has turned.
        beta: Arc,
    },
    /// Inside all of them.
    All(Vec<SwingLimit>),
    /// Inside any of them.
    Any(Vec<SwingLimit>),
    /// Outside of it; the boundary belongs to both.
    Not(Box<SwingLimit>),
    /// Everything no farther outside than `by`, or, if that is negative, everything that far inside.
    /// A function of the user's own grows as a polygon with corners every degree or nearer.
    Grown {
        /// Of what.
        of: Box<SwingLimit>,
        /// How far.
        by: Angle,
    },
    /// A function of the user's own (B4).
    Custom(sync::Arc<dyn SwingShape>),
}

/// A region for the direction of a bone, by a function (B4).
pub trait SwingShape: fmt::Debug + Send + Sync {
    /// Negative inside, positive outside, zero on the boundary, and continuous. Swings are of at
    /// most half a turn; one of exactly half a turn is the same direction whatever its axis.
    ///
    /// Boundaries are looked for on a mesh of 3°: spots and gaps narrower than that may be missed.
    fn value(&self, swing: Swing) -> f64;
}
