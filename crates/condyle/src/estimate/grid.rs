//! Directions in the cells of a grid, to find those near others.
#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use std::ops::Range;

use glam::DVec3;

use crate::math::{Kernel, Level};

/// Directions by the cells of a grid of x and y: what is within the width of a cell of a direction is in its
/// cell or in the eight around it.
pub(super) struct Grid {
    /// Cells on a side.
    side: usize,
    /// The rows and the columns that directions are in, from the first to the last.
    filled: [Range<usize>; 2],
    /// All directions, cell by cell, each cell in the order they were given.
    points: Vec<DVec3>,
    /// Their components, each in a column.
    columns: [Vec<f64>; 3],
    /// Which they were.
    numbers: Vec<u32>,
    /// Where each cell of these rows and columns begins, row by row, and where the last one ends.
    starts: Vec<u32>,
}

impl Grid {
    pub(super) fn new(directions: &[DVec3], side: usize) -> Self {
        let side = side.clamp(1, 1024);
        let places: Vec<[u16; 2]> = directions.iter().map(|d| place(*d, side)).collect();
        let filled = [0, 1].map(|axis| {
            let (mut least, mut most) = (u16::MAX, 0);
            for place in &places {
                (least, most) = (least.min(place[axis]), most.max(place[axis]));
            }
            if places.is_empty() { 0..0 } else { usize::from(least)..usize::from(most) + 1 }
        });
        let (first, width) = ([filled[0].start, filled[1].start], filled[1].len());
        let cells: Vec<u32> = places
            .iter()
            .map(|place| {
                let [row, column] = [0, 1].map(|axis| usize::from(place[axis]) - first[axis]);
                u32::try_from(row * width + column).unwrap_or(0)
            })
            .collect();
        let mut starts = vec![0_u32; filled[0].len() * width + 1];
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
        let points: Vec<DVec3> = numbers.iter().map(|i| directions[*i as usize]).collect();
        let columns = [0, 1, 2].map(|axis| points.iter().map(|d| d[axis]).collect());
        Self { side, filled, points, columns, numbers, starts }
    }

    /// Which the directions were, cell by cell.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> + '_ {
        self.numbers.iter().map(|number| *number as usize)
    }

    /// The row and column of each cell that may have directions, row by row.
    #[inline(always)]
    pub(super) fn cells(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let [rows, columns] = self.filled.clone();
        rows.flat_map(move |row| columns.clone().map(move |column| [row, column]))
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

    /// Where the directions in the cells around one cell are, `ring` to each side, by rows.
    #[inline(always)]
    pub(super) fn around(
        &self,
        cell: [usize; 2],
        ring: usize,
    ) -> impl Iterator<Item = Range<usize>> + '_ {
        let [rows, columns] = [0, 1].map(|axis| {
            let Range { start, end } = self.filled[axis];
            let from = cell[axis].saturating_sub(ring).max(start);
            from..(cell[axis] + ring + 1).min(end).max(from)
        });
        rows.map(move |row| {
            let start = |column: usize| self.start(row, column);
            if columns.is_empty() { 0..0 } else { start(columns.start)..start(columns.end) }
        })
    }

    /// Where the directions of a cell are.
    #[inline(always)]
    pub(super) fn inside(&self, [row, column]: [usize; 2]) -> Range<usize> {
        self.start(row, column)..self.start(row, column + 1)
    }

    /// Where the directions of a cell begin, which has to be one that may have some, or one behind the last
    /// of its row.
    #[inline(always)]
    fn start(&self, row: usize, column: usize) -> usize {
        let [rows, columns] = &self.filled;
        self.starts[(row - rows.start) * columns.len() + (column - columns.start)] as usize
    }

    /// The row and column of a direction.
    fn cell(&self, d: DVec3) -> [usize; 2] {
        place(d, self.side).map(usize::from)
    }

    /// For each direction, in the order of [`points`](Self::points), the squared distance to the nearest
    /// other one; infinite if there is none.
    pub(super) fn all_nearest(&self) -> Vec<f64> {
        let mut nearest = vec![f64::INFINITY; self.points.len()];
        let level = Level::best();
        level.run(NearestAround { grid: self, nearest: &mut nearest });
        for (i, nearest) in nearest.iter_mut().enumerate() {
            let d = self.points[i];
            let mut ring = 1;
            // What is not in the cells that were looked at may be nearer.
            loop {
                let clear = self.clear(d, ring);
                if *nearest <= clear * clear || ring >= self.side {
                    break;
                }
                ring *= 2;
                for range in self.around(self.cell(d), ring) {
                    let columns = self.columns.each_ref().map(|column| &column[range.clone()]);
                    let own = i.wrapping_sub(range.start);
                    level.run(NearestOf { columns, d, own, nearest });
                }
            }
        }
        nearest
    }

    /// Whether so many other directions in the cell of one of them are as near to it as this, by squared
    /// distance.
    pub(super) fn has_in_cell(&self, number: usize, count: usize, square: f64) -> bool {
        let d = self.points[number];
        let all = &self.points[self.inside(self.cell(d))];
        // Itself is as near.
        let near = all.iter().filter(|p| (**p - d).length_squared() <= square);
        near.take(count + 1).count() > count
    }

    /// The same of all directions.
    pub(super) fn has_within(&self, number: usize, count: usize, square: f64) -> bool {
        if self.has_in_cell(number, count, square) {
            return true;
        }
        let d = self.points[number];
        let cell = self.cell(d);
        let reach = square.sqrt();
        let mut ring = 1;
        loop {
            let all = self.around(cell, ring).flat_map(|range| &self.points[range]);
            let near = all.filter(|p| (**p - d).length_squared() <= square);
            if near.take(count + 1).count() > count {
                return true;
            }
            if self.clear(d, ring) >= reach || ring >= self.side {
                return false;
            }
            ring *= 2;
        }
    }

    /// How far it is at least from a direction to what is not in the cells around it.
    fn clear(&self, d: DVec3, ring: usize) -> f64 {
        let width = 2.0 / self.side as f64;
        let off = |x: f64| {
            let in_cell = ((x + 1.0) / width).fract() * width;
            in_cell.min(width - in_cell)
        };
        // Rounding may have moved it into the next cell.
        (off(d.x).min(off(d.y)) + ring as f64 * width - 1e-12).max(0.0)
    }
}

/// The nearest other directions in the cells around each, see [`Grid::all_nearest`].
struct NearestAround<'a> {
    grid: &'a Grid,
    nearest: &'a mut [f64],
}

impl Kernel for NearestAround<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { grid, nearest } = self;
        let columns = grid.columns.each_ref().map(Vec::as_slice);
        for cell in grid.cells() {
            let own = grid.inside(cell);
            if own.is_empty() {
                continue;
            }
            for range in grid.around(cell, 1) {
                let columns = columns.map(|column| &column[range.clone()]);
                for i in own.clone() {
                    let (d, own) = (grid.points[i], i.wrapping_sub(range.start));
                    NearestOf { columns, d, own, nearest: &mut nearest[i] }.run();
                }
            }
        }
    }
}

/// The least squared distance of a direction to some others, if it is less than what it was; one that is
/// the direction itself does not count.
struct NearestOf<'a> {
    columns: [&'a [f64]; 3],
    d: DVec3,
    /// Where it is among them; beyond their end if it is not.
    own: usize,
    nearest: &'a mut f64,
}

/// Directions that are compared at a time.
const LANES: usize = 4;

impl Kernel for NearestOf<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { columns: [x, y, z], d, own, nearest } = self;
        let n = x.len().min(y.len()).min(z.len());
        let square = |i: usize| (DVec3::new(x[i], y[i], z[i]) - d).length_squared();
        let mut least = [f64::INFINITY; LANES];
        let mut from = 0;
        while from + LANES <= n {
            for (lane, least) in least.iter_mut().enumerate() {
                let i = from + lane;
                let square = if i == own { f64::INFINITY } else { square(i) };
                *least = if square < *least { square } else { *least };
            }
            from += LANES;
        }
        for i in (from..n).filter(|i| *i != own) {
            least[0] = least[0].min(square(i));
        }
        *nearest = least.into_iter().fold(*nearest, f64::min);
    }
}

/// The row and column of a direction among `side` times `side`. Grow with x, and with y.
fn place(d: DVec3, side: usize) -> [u16; 2] {
    let half = 0.5 * side as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    [d.x, d.y].map(|x| (((x + 1.0) * half) as u32).min(side as u32 - 1) as u16)
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
            let nearest = grid.all_nearest();
            for (place, i) in grid.numbers().enumerate() {
                let d = &all[i];
                assert_eq!(grid.points()[place], *d);
                let others = all.iter().enumerate().filter(|(j, _)| *j != i);
                let mut squares: Vec<f64> =
                    others.map(|(_, o)| (*o - *d).length_squared()).collect();
                squares.sort_by(f64::total_cmp);
                let first = squares.first().copied().unwrap_or(f64::INFINITY);
                assert_eq!(nearest[place], first, "{n} {side}");
                for square in [0.0, 1e-4, 0.01, 0.3] {
                    let near = squares.iter().filter(|s| **s <= square).count();
                    assert_eq!(grid.has_within(place, 3, square), near >= 3, "{n} {side}");
                }
            }
            let mut numbers: Vec<usize> = grid.numbers().collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..n).collect::<Vec<_>>());
        }
    }
}
