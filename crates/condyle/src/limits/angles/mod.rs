//! Limits that are ranges of angles about axes: locked, hinge, universal and Euler box (A5, A8).
//!
//! For these the nearest allowed rotation has a closed form. A hinge is one sinusoid
//! ([`hinge`]), two turns in a row are two ([`two_turns`]), and the nearest point of a box of three
//! angles is on a face, where one angle is fixed and two turns remain ([`euler_box`]).

mod euler_box;
mod hinge;
mod locked;
mod range;
mod two_turns;
mod universal;

#[cfg(test)]
mod tests;

pub(crate) use euler_box::EulerBoxLimit;
pub(crate) use hinge::HingeLimit;
pub(crate) use locked::LockedLimit;
pub(crate) use universal::UniversalLimit;

use std::f64::consts::PI;

use glam::{DMat3, DVec3};

use super::TOLERANCE;
use crate::math::{Rotation, unit};

/// Radians. Where two rotations are nearer than this, the direction between them is taken from the
/// surface that one of them is on: half the digits of it would be lost.
const NEAR: f64 = 1e-8;

/// The direction in which `m` gets away from `from` fastest, as a rotation vector of length one.
/// `None` where there is no such direction: at `from`, and half a turn from it.
fn away(m: Rotation, from: Rotation) -> Option<DVec3> {
    let apart = m * from.inverse();
    let angle = apart.angle().radians();
    if angle == 0.0 || angle > PI - TOLERANCE {
        return None;
    }
    unit(apart.log())
}

/// `a · bᵀ`.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}
