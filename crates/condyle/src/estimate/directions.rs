//! Noise taken off sampled directions.
#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use std::borrow::Cow;

use glam::DVec3;

use super::grid::Grid;
use crate::math::{Kernel, Level};

/// Pairs of directions that are compared at most, about; beyond, only some serve as neighbours.
const MAX_PAIRS: f64 = 2e7;

/// Less noise than this is left, radians: a twentieth of a degree is below what limits are told to.
pub(super) const LEAST: f64 = 9e-4;

/// Every direction moved to where it probably is without noise: the mean of those around it, weighted
/// by a bell as wide as the noise (radians). See [`super::arcs::range`] for why. Sparse directions, and
/// all of them without noise, stay where they are.
pub(crate) fn settled(directions: &[DVec3], noise: f64) -> Cow<'_, [DVec3]> {
    if noise < LEAST {
        return Cow::Borrowed(directions);
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
    let mut moved = vec![DVec3::ZERO; directions.len()];
    let per_reach = 1.0 / (reach * reach);
    Level::best().run(Settle { grid: &grid, support, per_reach, moved: &mut moved });
    let mut result = directions.to_vec();
    for (number, moved) in grid.numbers().zip(moved) {
        result[number] = crate::math::unit(moved).unwrap_or(result[number]);
    }
    Cow::Owned(result)
}

/// The mean of the directions around each, in the order of the grid: not of unit length.
struct Settle<'a> {
    grid: &'a Grid,
    /// Directions that count as neighbours, in cells of the same width.
    support: &'a Grid,
    /// One over the square of how far they count.
    per_reach: f64,
    moved: &'a mut [DVec3],
}

/// Directions of a cell that are moved at a time: what is around is the same for all of them.
const LANES: usize = 4;

impl Kernel for Settle<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { grid, support, per_reach, moved } = self;
        for cell in grid.cells() {
            for start in grid.inside(cell).step_by(LANES) {
                let end = grid.inside(cell).end.min(start + LANES);
                // What is filled up is not used.
                let at = |lane: usize| grid.points()[(start + lane).min(end - 1)];
                let [x, y, z] = [0, 1, 2].map(|axis| [0, 1, 2, 3].map(|lane| at(lane)[axis]));
                let [mut sum_x, mut sum_y, mut sum_z, mut total] = [[0.0; LANES]; 4];
                for range in support.around(cell, 1) {
                    for s in &support.points()[range] {
                        for lane in 0..LANES {
                            let (dx, dy, dz) = (s.x - x[lane], s.y - y[lane], s.z - z[lane]);
                            let square = (dx * dx + dy * dy + dz * dz) * per_reach;
                            let base = 1.0 - square;
                            let second = base * base;
                            let fourth = second * second;
                            let weight = if square < 1.0 { fourth * fourth } else { 0.0 };
                            sum_x[lane] += dx * weight;
                            sum_y[lane] += dy * weight;
                            sum_z[lane] += dz * weight;
                            total[lane] += weight;
                        }
                    }
                }
                for lane in 0..end - start {
                    let sum = DVec3::new(sum_x[lane], sum_y[lane], sum_z[lane]);
                    let by = if total[lane] > 0.0 { sum / total[lane] } else { DVec3::NAN };
                    moved[start + lane] = at(lane) + by;
                }
            }
        }
    }
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
            for (d, found) in all.iter().zip(found.iter()) {
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
        let off =
            all.iter().zip(found.iter()).filter(|(d, _)| d.z > 0.99).map(|(a, b)| a.distance(*b));
        assert!(off.fold(0.0, f64::max) < 0.01);
    }
}
