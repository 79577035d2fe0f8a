//! Ranges of twist, as plain data.

use glam::DVec3;

use crate::math::{Angle, Arc};

/// How far a bone may roll about itself, relative to a direction of zero twist.
///
/// Zero twist is the direct swing (B8): the shortest rotation that takes the bone to where it points.
/// [`TwistOffset`] moves it.
#[derive(Clone, Debug, Default)]
pub struct TwistLimit {
    /// The range.
    pub bounds: TwistBounds,
    /// Where zero is.
    pub offset: TwistOffset,
}

/// A range of twist.
#[derive(Clone, Debug, Default)]
pub enum TwistBounds {
    /// Any twist.
    #[default]
    Free,
    /// The same arc wherever the bone points.
    Arc(Arc),
    /// An arc that changes with the direction of the bone (B9), linear between the given ones.
    BySwing(Vec<TwistAt>),
}

/// The range of twist where the bone has some direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwistAt {
    /// The direction of the bone, `m · bone`.
    pub direction: DVec3,
    /// The range there.
    pub arc: Arc,
}

/// What zero twist is, relative to the direct swing (B8).
#[derive(Clone, Debug, Default)]
pub enum TwistOffset {
    /// The direct swing itself.
    #[default]
    None,
    /// A twist that changes with the direction of the bone, linear between the given ones.
    BySwing(Vec<(DVec3, Angle)>),
    /// The direct swing that starts from another direction than the bone's own:
    /// `R_D(from, d) · R_D(bone, from)` is the rotation of zero twist that points to `d`. What
    /// recentring leaves behind.
    From(DVec3),
}
