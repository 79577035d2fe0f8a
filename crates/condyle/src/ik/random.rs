//! Numbers that look drawn, the same each time.

use glam::DQuat;

use crate::math::{Rotation, trig};

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
