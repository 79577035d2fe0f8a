//! The seed's objective for the swivel: the sum of distances to corners.

use std::f64::consts::PI;

use glam::DQuat;

use crate::limits::Climb;
use crate::math::{Rotation, trig};

/// The angle at which a rotation that turns, by its two halves, has the least sum of distances to corners.
///
/// # Source
///
/// The source note (C10, its eq 27 to 30): `Σ dist(q(ψ), qᵢ)` with `dist(p, q) = |log(p⁻¹ q)|`. As printed,
/// eq 30 has `dist(q − qᵢ)`.
///
/// # Convention
///
/// `|log|` is half the angle of the rotation between them, the short way: eq 28 has a plain arctan, which
/// does not care which of q and −q it is. So each term is `acos |p·q|`, also where w = −1, which eq 28 leaves
/// out. With `q(ψ) = a cos ψ/2 + b sin ψ/2` that is `acos |α cos ψ/2 + β sin ψ/2|`, α = a·qᵢ, β = b·qᵢ.
///
/// # Domain and singularity
///
/// Zero if there are no corners. Among angles with the same sum it is any.
pub(super) fn least_sum(climb: &mut Climb, [a, b]: [DQuat; 2], corners: &[Rotation]) -> f64 {
    if corners.is_empty() {
        return 0.0;
    }
    let sum = |psi: f64| -> f64 {
        let (sin, cos) = trig::sin_cos(0.5 * psi);
        let q = a * cos + b * sin;
        corners.iter().map(|corner| trig::acos(q.dot(corner.quat()).abs().min(1.0))).sum()
    };
    // Each changes by at most half the angle.
    let speed = 0.5 * corners.len() as f64;
    let [psi, _] = climb.climb(|psi| -sum(psi), [-PI, PI], |_, _| speed, std::iter::empty());
    psi
}
