//! Vectors in rows of four, so that a loop over them has one component of four at a time.
#![allow(clippy::inline_always, reason = "must take over its caller's vector width")]

use glam::DVec3;

use crate::math::{Kernel, Level};

/// Vectors in a row.
pub(in crate::estimate) const LANES: usize = 4;

/// The components x, y and z of [`LANES`] vectors.
pub(in crate::estimate) type Row = [[f64; LANES]; 3];

/// The vectors in rows; the last row is filled up with another one.
pub(in crate::estimate) fn rows(vectors: &[DVec3], filler: DVec3) -> Vec<Row> {
    let row = |four: &[DVec3]| {
        let at = |lane: usize| four.get(lane).copied().unwrap_or(filler);
        let four: [DVec3; LANES] = std::array::from_fn(at);
        [four.map(|v| v.x), four.map(|v| v.y), four.map(|v| v.z)]
    };
    vectors.chunks(LANES).map(row).collect()
}

/// The dot product of each with a vector.
#[inline(always)]
pub(in crate::estimate) fn dots([x, y, z]: &Row, d: DVec3) -> [f64; LANES] {
    let mut dots = [0.0; LANES];
    for lane in 0..LANES {
        dots[lane] = d.x * x[lane] + d.y * y[lane] + d.z * z[lane];
    }
    dots
}

/// One bit for each that a condition holds for, the first one lowest.
#[inline(always)]
pub(super) fn bits(values: [f64; LANES], condition: impl Fn(f64) -> bool) -> u64 {
    let mut bits = [0; LANES];
    for lane in 0..LANES {
        bits[lane] = if condition(values[lane]) { 1_u64 << lane } else { 0 };
    }
    (bits[0] | bits[1]) | (bits[2] | bits[3])
}

/// The dot product of each of several rows with a vector.
pub(super) fn all_dots(rows: &[Row], d: DVec3, dots: &mut [[f64; LANES]]) {
    Level::best().run(AllDots { rows, d, to: dots });
}

struct AllDots<'a> {
    rows: &'a [Row],
    d: DVec3,
    to: &'a mut [[f64; LANES]],
}

impl Kernel for AllDots<'_> {
    #[inline(always)]
    fn run(self) {
        for (to, row) in self.to.iter_mut().zip(self.rows) {
            *to = dots(row, self.d);
        }
    }
}

/// The square of the distance of each from a point.
#[inline(always)]
pub(super) fn squares([x, y, z]: &Row, p: DVec3) -> [f64; LANES] {
    let mut squares = [0.0; LANES];
    for lane in 0..LANES {
        let (x, y, z) = (x[lane] - p.x, y[lane] - p.y, z[lane] - p.z);
        squares[lane] = x * x + y * y + z * z;
    }
    squares
}

/// The largest dot product of any of them with a vector; −∞ if there are none.
pub(super) fn largest_dot(rows: &[Row], d: DVec3) -> f64 {
    let mut largest = f64::NEG_INFINITY;
    Level::best().run(LargestDot { rows, d, largest: &mut largest });
    largest
}

struct LargestDot<'a> {
    rows: &'a [Row],
    d: DVec3,
    largest: &'a mut f64,
}

impl Kernel for LargestDot<'_> {
    #[inline(always)]
    fn run(self) {
        let mut largest = [f64::NEG_INFINITY; LANES];
        for row in self.rows {
            let dots = dots(row, self.d);
            for lane in 0..LANES {
                // Not with NaN.
                largest[lane] = if dots[lane] > largest[lane] { dots[lane] } else { largest[lane] };
            }
        }
        *self.largest = largest.into_iter().fold(f64::NEG_INFINITY, f64::max);
    }
}

/// The least of all values; ∞ if there are none. NaN does not count.
pub(super) fn least(values: &[[f64; LANES]]) -> f64 {
    let mut least = [f64::INFINITY; LANES];
    for values in values {
        for lane in 0..LANES {
            least[lane] = if values[lane] < least[lane] { values[lane] } else { least[lane] };
        }
    }
    least.into_iter().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    #[test]
    fn rows_give_what_single_vectors_do() {
        let mut rng = Rng::new(1);
        for count in 0..20 {
            let vectors: Vec<DVec3> = (0..count).map(|_| rng.direction()).collect();
            let d = rng.direction();
            let all = rows(&vectors, DVec3::NAN);
            let mut found = vec![[0.0; LANES]; all.len()];
            all_dots(&all, d, &mut found);
            let fewest = vectors.iter().fold(f64::INFINITY, |fewest, v| fewest.min(v.dot(d)));
            assert_eq!(least(&found), fewest);
            let most = vectors.iter().fold(f64::NEG_INFINITY, |most, v| most.max(v.dot(d)));
            assert_eq!(largest_dot(&all, d), most);
            for (i, v) in vectors.iter().enumerate() {
                assert_eq!(found[i / LANES][i % LANES], v.dot(d));
                let squares = squares(&all[i / LANES], d);
                assert_eq!(squares[i % LANES], (*v - d).length_squared());
                let near = bits(squares, |squared| squared < 1.0) >> (i % LANES) & 1;
                assert_eq!(near == 1, (*v - d).length_squared() < 1.0);
            }
            assert!(found.as_flattened().iter().skip(count).all(|filled| filled.is_nan()));
        }
    }
}
