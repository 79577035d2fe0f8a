//! Directions in the cells of a grid, to find those near others.

use glam::DVec3;

/// Directions by the cells of a grid of x and y: what is within the width of a cell of a direction is in its
/// cell or in the eight around it.
pub(super) struct Grid {
    /// Cells on a side.
    side: usize,
    /// All directions, cell by cell, each cell in the order they were given.
    points: Vec<DVec3>,
    /// Which they were.
    numbers: Vec<u32>,
    /// Where each cell begins, row by row, and where the last one ends.
    starts: Vec<u32>,
}

impl Grid {
    pub(super) fn new(directions: &[DVec3], side: usize) -> Self {
        let side = side.clamp(1, 1024);
        let cells: Vec<u32> = directions.iter().map(|d| cell(*d, side)).collect();
        let mut starts = vec![0_u32; side * side + 1];
        cells.iter().for_each(|cell| starts[*cell as usize + 1] += 1);
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut numbers = vec![0; directions.len()];
        for (number, cell) in (0..).zip(&cells) {
            let place = &mut next[*cell as usize];
            numbers[*place as usize] = number;
            *place += 1;
        }
        let points = numbers.iter().map(|i| directions[*i as usize]).collect();
        Self { side, points, numbers, starts }
    }

    /// All directions with their numbers, cell by cell.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, DVec3)> + '_ {
        self.numbers.iter().zip(&self.points).map(|(number, d)| (*number as usize, *d))
    }

    /// The directions, cell by cell.
    pub(super) fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// How many directions there are in the cell of one, on the mean over the directions.
    pub(super) fn crowd(&self) -> f64 {
        let squares: f64 = self.counts().map(|n| f64::from(n) * f64::from(n)).sum();
        squares / (self.points.len() as f64).max(1.0)
    }

    /// How many directions each cell has.
    pub(super) fn counts(&self) -> impl Iterator<Item = u32> + '_ {
        self.starts.windows(2).map(|pair| pair[1] - pair[0])
    }

    /// The cells around a direction, `ring` to each side, by rows.
    pub(super) fn around(&self, d: DVec3, ring: usize) -> impl Iterator<Item = &[DVec3]> + '_ {
        let place = cell(d, self.side) as usize;
        let (row, column) = (place / self.side, place % self.side);
        let within = |at: usize| at.saturating_sub(ring)..(at + ring + 1).min(self.side);
        let columns = within(column);
        within(row).map(move |row| {
            let start = |column: usize| self.starts[row * self.side + column] as usize;
            &self.points[start(columns.start)..start(columns.end)]
        })
    }

    /// The squared distance to the nearest other direction; infinite if there is none. `d` is one of those
    /// in the grid.
    pub(super) fn nearest(&self, d: DVec3) -> f64 {
        let mut ring = 1;
        loop {
            // Itself is the nearest.
            let (mut own, mut other) = (f64::INFINITY, f64::INFINITY);
            for p in self.around(d, ring).flatten() {
                let square = (*p - d).length_squared();
                other = if square < own {
                    own
                } else if square < other {
                    square
                } else {
                    other
                };
                own = own.min(square);
            }
            let inside = self.inside(d, ring);
            if other <= inside * inside || ring >= self.side {
                return other;
            }
            ring *= 2;
        }
    }

    /// Whether so many other directions are as near as this, by squared distance. `d` is one of those in
    /// the grid.
    pub(super) fn has_within(&self, d: DVec3, count: usize, square: f64) -> bool {
        let reach = square.sqrt();
        let mut ring = 1;
        loop {
            let near =
                self.around(d, ring).flatten().filter(|p| (**p - d).length_squared() <= square);
            if near.take(count + 1).count() > count {
                return true;
            }
            if self.inside(d, ring) >= reach || ring >= self.side {
                return false;
            }
            ring *= 2;
        }
    }

    /// How far it is at least from a direction to what is not in the cells around it.
    fn inside(&self, d: DVec3, ring: usize) -> f64 {
        let width = 2.0 / self.side as f64;
        let off = |x: f64| {
            let in_cell = ((x + 1.0) / width).fract() * width;
            in_cell.min(width - in_cell)
        };
        // Rounding may have moved it into the next cell.
        (off(d.x).min(off(d.y)) + ring as f64 * width - 1e-12).max(0.0)
    }
}

/// The cell of a direction among `side` times `side`, row by row. Grows with x, and with y.
fn cell(d: DVec3, side: usize) -> u32 {
    let half = 0.5 * side as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let place = |x: f64| (((x + 1.0) * half) as u32 as usize).min(side - 1);
    u32::try_from(place(d.x) * side + place(d.y)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    #[test]
    fn what_is_near_is_what_looking_at_all_finds() {
        let mut rng = Rng::new(8);
        for (n, side) in [(1, 3), (2, 40), (60, 1), (60, 7), (700, 30), (700, 1000)] {
            // Some come several times, and some are on the rim.
            let all: Vec<DVec3> = (0..n)
                .map(|i| {
                    let d = rng.direction();
                    let d = if i % 3 == 0 { (d * 9.0).round() / 9.0 } else { d };
                    if i % 5 == 0 { DVec3::new(d.x, d.y, 0.0) } else { d }
                })
                .collect();
            let grid = Grid::new(&all, side);
            for (i, d) in all.iter().enumerate() {
                let others = all.iter().enumerate().filter(|(j, _)| *j != i);
                let mut squares: Vec<f64> =
                    others.map(|(_, o)| (*o - *d).length_squared()).collect();
                squares.sort_by(f64::total_cmp);
                let first = squares.first().copied().unwrap_or(f64::INFINITY);
                assert_eq!(grid.nearest(*d), first, "{n} {side}");
                for square in [0.0, 1e-4, 0.01, 0.3] {
                    let near = squares.iter().filter(|s| **s <= square).count();
                    assert_eq!(grid.has_within(*d, 3, square), near >= 3, "{n} {side}");
                }
            }
            let mut numbers: Vec<usize> = grid.iter().map(|(i, _)| i).collect();
            assert!(grid.iter().all(|(i, d)| all[i] == d));
            numbers.sort_unstable();
            assert_eq!(numbers, (0..n).collect::<Vec<_>>());
        }
    }
}
