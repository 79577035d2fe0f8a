//! Noise taken off sampled directions.

use glam::DVec3;

/// Pairs of directions that are compared at most; beyond, only some serve as neighbours.
const MAX_PAIRS: usize = 20_000_000;

/// Less noise than this is left, radians: a twentieth of a degree is below what limits are told to.
pub(super) const LEAST: f64 = 9e-4;

/// Every direction moved to where it probably is without noise: the mean of those around it, weighted
/// by a bell as wide as the noise (radians). See [`super::arcs::range`] for why. Sparse directions, and
/// all of them without noise, stay where they are.
pub(crate) fn settled(directions: &[DVec3], noise: f64) -> Vec<DVec3> {
    if noise < LEAST {
        return directions.to_vec();
    }
    let mut order: Vec<usize> = (0..directions.len()).collect();
    order.sort_unstable_by(|a, b| directions[*a].x.total_cmp(&directions[*b].x));
    let sorted: Vec<DVec3> = order.iter().map(|&i| directions[i]).collect();
    let reach = 4.0 * noise;
    // A window of x holds about this many; fewer neighbours serve where there would be too many.
    let window = (sorted.len() as f64 * reach).max(1.0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let stride = ((sorted.len() as f64 * window / MAX_PAIRS as f64).ceil() as usize).max(1);
    let support: Vec<DVec3> = sorted.iter().step_by(stride).copied().collect();

    let mut result = directions.to_vec();
    let mut from = 0;
    for (&index, &d) in order.iter().zip(&sorted) {
        while from < support.len() && support[from].x < d.x - reach {
            from += 1;
        }
        let mut sum = DVec3::ZERO;
        let mut total = 0.0;
        for s in &support[from..] {
            if s.x > d.x + reach {
                break;
            }
            let square = (*s - d).length_squared() / (reach * reach);
            if square < 1.0 {
                let (second, base) = (1.0 - square, 1.0 - square);
                let fourth = second * base * (second * base);
                let weight = fourth * fourth;
                sum += (*s - d) * weight;
                total += weight;
            }
        }
        if total > 0.0 {
            result[index] = crate::math::unit(d + sum / total).unwrap_or(d);
        }
    }
    result
}
