//! Rotations from where they take a line and a side of it, without angles and matrices.

#![allow(
    clippy::inline_always,
    reason = "a call costs a third of the answer: rotations go through memory on the way"
)]

use glam::{DQuat, DVec3};

use crate::math::{Rotation, direct_rotation, unit};

/// `v` with length one; `None` if it is zero or not finite. By one quotient where squares neither overflow
/// nor underflow.
#[inline(always)]
pub(super) fn normal(v: DVec3) -> Option<DVec3> {
    let square = v.length_squared();
    if square > 1e-200 && square < 1e200 { Some(v * (1.0 / square.sqrt())) } else { unit(v) }
}

#[inline(always)]
fn rotation(v: DVec3, w: f64) -> Option<Rotation> {
    let q = DQuat::from_xyzw(v.x, v.y, v.z, w);
    let square = q.length_squared();
    if square > 1e-200 && square < 1e200 {
        Some(Rotation::from_unit(q * (1.0 / square.sqrt())))
    } else {
        Rotation::new(q)
    }
}

/// The rotation that takes a unit vector `line` to the unit vector `to`, and `side` to the half-plane of
/// `toward`; both are across their lines, of any length.
///
/// # Source
///
/// The direct rotation from line to `to` has the quaternion `(line × to, 1 + line·to)`, but for a factor,
/// and takes the side to
///
/// ```text
///   s = side − (line + to) (side·to) / (1 + line·to)
/// ```
///
/// From there a turn about `to` remains whose cosine and sine, times r = |s| |toward|, are
/// `x = s·toward` and `y = to·(s × toward)`; half of it has the tangent `y / (r + x) = (r − x) / y`, of
/// which the one without cancellation is taken. If line and `to` are opposite, or nearly, half a turn about
/// the side comes first, which takes the line to its opposite and leaves the side.
#[inline(always)]
pub(super) fn between(line: DVec3, to: DVec3, side: DVec3, toward: DVec3) -> Option<Rotation> {
    let dot = line.dot(to);
    let opposite = dot < 0.0;
    let (line, dot) = if opposite { (-line, -dot) } else { (line, dot) };
    let (across, above) = (line.cross(to), 1.0 + dot);
    let moved = side - (line + to) * (side.dot(to) / above);
    let (x, y) = (moved.dot(toward), to.dot(moved.cross(toward)));
    let r = (side.length_squared() * toward.length_squared()).sqrt();
    let sum = r + x.abs();
    let (w, z) = if x >= 0.0 { (sum, y) } else { (y, sum) };
    // (to z, w) · (across, above), and to·across = 0.
    let v = across * w + to * (above * z) + to.cross(across) * z;
    let w = w * above;
    if opposite { rotation(side * w + v.cross(side), -v.dot(side)) } else { rotation(v, w) }
}

/// The rotation nearest to another one that takes a unit vector to another: first that one, then the direct
/// rotation. From the opposite of where it should be, any half-turn is as near.
#[inline(always)]
pub(super) fn nearest(to_this: Rotation, line: DVec3, to: DVec3) -> Option<Rotation> {
    let from = to_this * line;
    let above = 1.0 + from.dot(to);
    let direct = if above > 0.1 {
        rotation(from.cross(to), above)?
    } else {
        direct_rotation(from, to)?.rotation
    };
    Some(direct * to_this)
}
