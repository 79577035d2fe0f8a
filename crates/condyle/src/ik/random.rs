//! Numbers that look drawn, the same each time.

use glam::DQuat;

use crate::limits::PreparedLimit;
use crate::math::{Angle, Arc, Rotation, direct_rotation, trig};

/// From 0 up to 1 (S. Vigna's splitmix64).
pub(crate) fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A rotation drawn uniformly (K. Shoemake, "Uniform random rotations", Graphics Gems III, 1992).
pub(crate) fn any_rotation(random: &mut impl FnMut() -> f64) -> Rotation {
    let [u, v, w] = [random(), random(), random()];
    let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
    let tau = std::f64::consts::TAU;
    let ((sv, cv), (sw, cw)) = (trig::sin_cos(tau * v), trig::sin_cos(tau * w));
    Rotation::new(DQuat::from_xyzw(a * sv, a * cv, b * sw, b * cw)).unwrap_or_default()
}

/// Rotations that a limit allows, spread evenly: over the angles of axes, or over directions and the twists
/// that each has. `None` if that is all of them.
pub(crate) fn drawn(
    limit: &PreparedLimit,
    count: usize,
    mut random: impl FnMut() -> f64,
) -> Option<Vec<Rotation>> {
    // How often to draw again what a limit without directions does not allow.
    const TRIES: usize = 100;
    let turn = |axis, arc: Arc, share: f64| {
        let angle = arc.min().radians() + arc.width().radians() * share;
        Rotation::from_axis_angle(axis, Angle::from_radians(angle)).unwrap_or_default()
    };
    if let Some(axes) = limit.axes() {
        let one = |_| {
            axes.iter().fold(Rotation::IDENTITY, |m, (axis, arc)| m * turn(*axis, *arc, random()))
        };
        return Some((0..count).map(one).collect());
    }
    if let Some(swing) = limit.swing() {
        let (bone, directions) = (swing.bone(), swing.samples(count, &mut random));
        let one = |d: glam::DVec3| {
            let swung = direct_rotation(bone, d)?.rotation;
            Some(swung * turn(bone, swing.twist(d)?, random()))
        };
        return Some(directions.into_iter().filter_map(one).collect());
    }
    if limit.is_free() {
        return None;
    }
    let any = |_| {
        let mut tried = (0..TRIES).map(|_| any_rotation(&mut random));
        let inside = tried.find(|m| limit.contains(*m));
        inside.unwrap_or_else(|| limit.project(any_rotation(&mut random)))
    };
    Some((0..count).map(any).collect())
}
