//! Noise taken off sampled directions.

use glam::DVec3;

use super::grid::Grid;

/// Pairs of directions that are compared at most, about; beyond, only some serve as neighbours.
const MAX_PAIRS: f64 = 2e7;

/// Less noise than this is left, radians: a twentieth of a degree is below what limits are told to.
pub(super) const LEAST: f64 = 9e-4;

/// Every direction moved to where it probably is without noise: the mean of those around it, weighted
/// by a bell as wide as the noise (radians). See [`super::arcs::range`] for why. Sparse directions, and
/// all of them without noise, stay where they are.
pub(crate) fn settled(directions: &[DVec3], noise: f64) -> Vec<DVec3> {
    if noise < LEAST {
        return directions.to_vec();
    }
    let reach = 4.0 * noise;
    // Cells are at least as wide as the reach.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 256")]
    let side = (2.0 / reach).clamp(1.0, MOST_CELLS) as usize;
    let grid = Grid::new(directions, side);
    // Each is compared with those of nine cells.
    let pairs: f64 = grid.counts().map(|n| 9.0 * f64::from(n) * f64::from(n)).sum();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
    let stride = (pairs / MAX_PAIRS).ceil().max(1.0) as usize;
    let fewer = (stride > 1).then(|| {
        let some: Vec<DVec3> = grid.points().iter().step_by(stride).copied().collect();
        Grid::new(&some, side)
    });
    let support = fewer.as_ref().unwrap_or(&grid);
    let per_reach = 1.0 / (reach * reach);
    let mut result = directions.to_vec();
    for (number, d) in grid.iter() {
        let mut sum = DVec3::ZERO;
        let mut total = 0.0;
        for s in support.around(d, 1).flatten() {
            let square = (*s - d).length_squared() * per_reach;
            if square < 1.0 {
                let base = 1.0 - square;
                let second = base * base;
                let fourth = second * second;
                let weight = fourth * fourth;
                sum += (*s - d) * weight;
                total += weight;
            }
        }
        if total > 0.0 {
            result[number] = crate::math::unit(d + sum / total).unwrap_or(d);
        }
    }
    result
}

/// On a side of the grid.
const MOST_CELLS: f64 = 256.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    /// By looking at every pair.
    #[test]
    fn directions_move_to_the_mean_of_those_around_them() {
        let mut rng = Rng::new(3);
        for (n, noise) in [(0, 0.01), (1, 0.01), (500, 0.001), (500, 0.02), (700, 0.2), (300, 1.0)]
        {
            let all: Vec<DVec3> = (0..n).map(|_| rng.direction()).collect();
            let found = settled(&all, noise);
            for (d, found) in all.iter().zip(&found) {
                let weight = |s: &DVec3| {
                    let square = (*s - *d).length_squared() / (16.0 * noise * noise);
                    let base = (1.0 - square).max(0.0);
                    let second = base * base;
                    second * second * (second * second)
                };
                let total: f64 = all.iter().map(weight).sum();
                let mean = all.iter().map(|s| *s * weight(s)).sum::<DVec3>() / total;
                assert!(found.distance(mean.normalize()) < 1e-12, "{n} {noise}");
            }
        }
        // So many that some have to do.
        let all: Vec<DVec3> = (0..40_000)
            .map(|_| DVec3::new(0.1 * rng.normal(), 0.1 * rng.normal(), 1.0).normalize())
            .collect();
        let found = settled(&all, 0.01);
        let off = all.iter().zip(&found).filter(|(d, _)| d.z > 0.99).map(|(a, b)| a.distance(*b));
        assert!(off.fold(0.0, f64::max) < 0.01);
    }
}
