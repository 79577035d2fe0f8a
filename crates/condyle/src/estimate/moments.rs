//! What a joint's samples say about its kind: means of products of four components of the quaternion.
#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use crate::math::{Kernel, Level, Rotation, Rotations};

/// Sums over rotations of all products of four components of their quaternions.
///
/// They do not change when a quaternion changes sign. A rotation matrix is quadratic in the
/// quaternion, so they give the mean of the matrices and the mean of all products of two of their
/// entries, and with them the residuals of hinges and universal joints, whatever the number of
/// samples. The sums are integers: adding them up in any order gives the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moments {
    count: u64,
    /// In units of 2⁻⁶⁰, in the order of [`EXPONENTS`].
    sums: [i128; PRODUCTS],
}

/// How many products of four out of four there are: 7 choose 3.
pub(crate) const PRODUCTS: usize = 35;

/// Which components, 0 to 3 for x, y, z, w, rising.
const EXPONENTS: [[usize; 4]; PRODUCTS] = {
    let mut all = [[0; 4]; PRODUCTS];
    let mut n = 0;
    let mut a = 0;
    while a < 4 {
        let mut b = a;
        while b < 4 {
            let mut c = b;
            while c < 4 {
                let mut d = c;
                while d < 4 {
                    all[n] = [a, b, c, d];
                    n += 1;
                    d += 1;
                }
                c += 1;
            }
            b += 1;
        }
        a += 1;
    }
    all
};

/// 2⁶⁰: a product of components is at most 1, and a sum of 2⁶⁷ of them still fits.
const UNIT: f64 = 1_152_921_504_606_846_976.0;

/// So many samples are summed as floats before they become integers.
const CHUNK: usize = 256;

impl Default for Moments {
    fn default() -> Self {
        Self { count: 0, sums: [0; PRODUCTS] }
    }
}

impl Moments {
    pub(crate) fn of(rotations: &Rotations) -> Self {
        let mut moments = Self::default();
        let columns = rotations.xyzw();
        let level = Level::best();
        for start in (0..rotations.len()).step_by(CHUNK) {
            let end = rotations.len().min(start + CHUNK);
            let mut sums = [0.0; PRODUCTS];
            level.run(Sums { columns: columns.map(|c| &c[start..end]), sums: &mut sums });
            for (sum, part) in moments.sums.iter_mut().zip(sums) {
                #[allow(clippy::cast_possible_truncation, reason = "at most 2⁶⁸")]
                let part = (part * UNIT) as i128;
                *sum = sum.saturating_add(part);
            }
            moments.count += (end - start) as u64;
        }
        moments
    }

    /// The samples of both.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        for (sum, part) in self.sums.iter_mut().zip(other.sums) {
            *sum = sum.saturating_add(part);
        }
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// The mean of every product; zeros if there are no samples.
    pub(crate) fn means(&self) -> Means {
        let scale = if self.count == 0 { 0.0 } else { 1.0 / (UNIT * self.count as f64) };
        Means { count: self.count, of: self.sums.map(|sum| sum as f64 * scale) }
    }
}

impl Moments {
    /// The sums in units of 2⁻⁶⁰, in the order of [`EXPONENTS`].
    pub(crate) const fn sums(&self) -> &[i128; PRODUCTS] {
        &self.sums
    }

    /// What was taken apart by [`count`](Self::count) and [`sums`](Self::sums); `None` unless they
    /// could be those of so many unit quaternions.
    pub(crate) fn from_sums(count: u64, sums: [i128; PRODUCTS]) -> Option<Self> {
        let whole = i128::from(count) << 60;
        // Lengths are 1 to within 10⁻⁹, and each chunk is rounded once.
        let slack = (whole >> 20) + i128::from(count);
        let bound = whole + slack;
        if sums.iter().any(|sum| *sum > bound || *sum < -bound) {
            return None;
        }
        // (x² + y² + z² + w²)² = 1: fourth powers once, products of two squares twice.
        let mut total = 0;
        for ([a, b, c, d], sum) in EXPONENTS.into_iter().zip(sums) {
            if a == b && c == d {
                total += if b == c { sum } else { 2 * sum };
                if sum < 0 || total > bound {
                    return None;
                }
            }
        }
        ((total - whole).abs() <= slack).then_some(Self { count, sums })
    }
}

/// Means over rotations of all products of four components of their quaternions.
pub(crate) struct Means {
    count: u64,
    /// In the order of [`EXPONENTS`].
    of: [f64; PRODUCTS],
}

impl Means {
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    fn of_four(&self, a: usize, b: usize, c: usize, d: usize) -> f64 {
        self.of[usize::from(PLACES[a][b][c][d])]
    }

    /// The squares of a unit quaternion add up to 1.
    fn of_two(&self, a: usize, b: usize) -> f64 {
        (0..4).map(|k| self.of_four(a, b, k, k)).sum()
    }

    /// The mean of `q qᵀ`, components in the order x, y, z, w.
    pub(crate) fn second(&self) -> [[f64; 4]; 4] {
        std::array::from_fn(|a| std::array::from_fn(|b| self.of_two(a, b)))
    }

    /// The mean of the rotation matrices, and of the products of their entries:
    /// `products[3 i + j][3 k + l]` is the mean of `R[i][j] R[k][l]`, row i, column j.
    pub(crate) fn matrices(&self) -> MatrixMoments {
        let mut mean = [0.0; 9];
        for (mean, entry) in mean.iter_mut().zip(ENTRIES) {
            for &(a, b, f) in entry {
                *mean += f * self.of_two(a, b);
            }
        }
        let mut products = [[0.0; 9]; 9];
        let mut terms = TERMS.as_slice();
        for n in 0..9 {
            for m in n..9 {
                let (these, others) = terms.split_at(ENTRIES[n].len() * ENTRIES[m].len());
                terms = others;
                let mut sum = 0.0;
                for term in these {
                    sum += term.factor * self.of[term.place];
                }
                (products[n][m], products[m][n]) = (sum, sum);
            }
        }
        MatrixMoments { mean, products }
    }
}

/// Where the product of any four components stands in [`EXPONENTS`].
const PLACES: [[[[u8; 4]; 4]; 4]; 4] = {
    let mut places = [[[[0; 4]; 4]; 4]; 4];
    let mut n = 0;
    while n < 256 {
        let indices = [n & 3, (n >> 2) & 3, (n >> 4) & 3, (n >> 6) & 3];
        let mut place = 0;
        while !same(EXPONENTS[place], indices) {
            place += 1;
        }
        #[allow(clippy::cast_possible_truncation, reason = "below 35")]
        let place = place as u8;
        places[indices[0]][indices[1]][indices[2]][indices[3]] = place;
        n += 1;
    }
    places
};

/// Whether each component comes as often in both.
const fn same(a: [usize; 4], b: [usize; 4]) -> bool {
    let (mut in_a, mut in_b) = (0, 0);
    let mut i = 0;
    while i < 4 {
        in_a += 1 << (4 * a[i]);
        in_b += 1 << (4 * b[i]);
        i += 1;
    }
    in_a == in_b
}

/// See [`Means::matrices`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatrixMoments {
    pub(crate) mean: [f64; 9],
    pub(crate) products: [[f64; 9]; 9],
}

/// The entries of a rotation matrix, by rows, as sums of products of two components.
const ENTRIES: [&[(usize, usize, f64)]; 9] = {
    const X: usize = 0;
    const Y: usize = 1;
    const Z: usize = 2;
    const W: usize = 3;
    [
        &[(W, W, 1.0), (X, X, 1.0), (Y, Y, -1.0), (Z, Z, -1.0)],
        &[(X, Y, 2.0), (W, Z, -2.0)],
        &[(X, Z, 2.0), (W, Y, 2.0)],
        &[(X, Y, 2.0), (W, Z, 2.0)],
        &[(W, W, 1.0), (X, X, -1.0), (Y, Y, 1.0), (Z, Z, -1.0)],
        &[(Y, Z, 2.0), (W, X, -2.0)],
        &[(X, Z, 2.0), (W, Y, -2.0)],
        &[(Y, Z, 2.0), (W, X, 2.0)],
        &[(W, W, 1.0), (X, X, -1.0), (Y, Y, -1.0), (Z, Z, 1.0)],
    ]
};

/// A part of the product of two entries of a rotation matrix: a product of four components, times a
/// factor.
#[derive(Clone, Copy)]
struct Term {
    /// In [`EXPONENTS`].
    place: usize,
    factor: f64,
}

/// All of them, those of two entries together, by the first and then by the second, which is not before
/// the first. 24 parts of single entries make 24² pairs, of which those of different entries count once
/// and those of one entry, 3 · 4² + 6 · 2², twice.
static TERMS: [Term; 324] = {
    let mut terms = [Term { place: 0, factor: 0.0 }; 324];
    let (mut count, mut n) = (0, 0);
    while n < 9 {
        let mut m = n;
        while m < 9 {
            let mut i = 0;
            while i < ENTRIES[n].len() {
                let (a, b, f) = ENTRIES[n][i];
                let mut j = 0;
                while j < ENTRIES[m].len() {
                    let (c, d, g) = ENTRIES[m][j];
                    let place = PLACES[a][b][c][d] as usize;
                    terms[count] = Term { place, factor: f * g };
                    count += 1;
                    j += 1;
                }
                i += 1;
            }
            m += 1;
        }
        n += 1;
    }
    assert!(count == terms.len());
    terms
};

/// The sums of the products of some rows.
struct Sums<'a> {
    columns: [&'a [f64]; 4],
    /// In the order of [`EXPONENTS`].
    sums: &'a mut [f64; PRODUCTS],
}

impl Kernel for Sums<'_> {
    #[inline(always)]
    fn run(self) {
        let [x, y, z, w] = self.columns;
        let n = x.len();
        let (y, z, w) = (&y[..n], &z[..n], &w[..n]);
        // Four at a time, in an order of their own.
        let mut sums = [[0.0; 4]; 9];
        for i in 0..n {
            let (x, y, z, w) = (x[i], y[i], z[i], w[i]);
            let (xx, xy, xz, xw) = (x * x, x * y, x * z, x * w);
            let (yy, yz, yw, zz, zw, ww) = (y * y, y * z, y * w, z * z, z * w, w * w);
            let of_y = [yy, yz, yw, zz];
            let with_w = [zw, ww, zw, ww];
            add(&mut sums[0], [xx; 4], [xx, xy, xz, xw]);
            add(&mut sums[1], [xx; 4], of_y);
            add(&mut sums[2], [xx, xx, xy, xy], with_w);
            add(&mut sums[3], [xy; 4], of_y);
            add(&mut sums[4], [yy; 4], of_y);
            add(&mut sums[5], [yy, yy, yz, yz], with_w);
            add(&mut sums[6], [xz, xz, zz, zz], with_w);
            add(&mut sums[7], [xz, yz, zz, zw], [zz, zz, zz, ww]);
            add(&mut sums[8], [xw, yw, ww, 0.0], [ww, ww, ww, 0.0]);
        }
        let [a, b, c, d, e, f, g, h, k] = sums;
        *self.sums = [
            a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], c[0], c[1], // xx
            d[0], d[1], d[2], d[3], c[2], c[3], // xy
            h[0], g[0], g[1], // xz
            k[0], // xw
            e[0], e[1], e[2], e[3], f[0], f[1], // yy
            h[1], f[2], f[3], // yz
            k[1], // yw
            h[2], g[2], g[3], // zz
            h[3], // zw
            k[2], // ww
        ];
    }
}

/// Adds products, four at a time.
#[inline(always)]
fn add(sums: &mut [f64; 4], a: [f64; 4], b: [f64; 4]) {
    for lane in 0..4 {
        sums[lane] += a[lane] * b[lane];
    }
}

/// The rotation of a quaternion given as x, y, z, w; the identity if that has no length.
pub(crate) fn rotation([x, y, z, w]: [f64; 4]) -> Rotation {
    Rotation::from_wxyz([w, x, y, z]).unwrap_or(Rotation::IDENTITY)
}

/// The same for components that come from a rotation.
pub(crate) fn rotation_unchecked([x, y, z, w]: [f64; 4]) -> Rotation {
    Rotation::from_unit_unchecked(glam::DQuat::from_xyzw(x, y, z, w))
}

#[cfg(test)]
mod tests {
    use glam::{DMat3, DVec3};

    use super::*;
    use crate::synth::Rng;

    impl MatrixMoments {
        /// The mean of `a · R b`.
        pub(crate) fn mean_of(&self, a: DVec3, b: DVec3) -> f64 {
            let m = &self.mean;
            let rows =
                DMat3::from_cols_array(&[m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]]);
            a.dot(rows * b)
        }
    }

    fn random(count: usize) -> Rotations {
        let mut rng = Rng::new(3);
        (0..count).map(|_| rng.rotation()).collect()
    }

    #[test]
    #[allow(clippy::needless_range_loop, reason = "matrices read best with their indices")]
    fn moments_are_those_of_the_matrices_a3() {
        let rotations = random(1000);
        let moments = Moments::of(&rotations);
        let found = moments.means().matrices();
        let second = moments.means().second();
        let (mut mean, mut products, mut outer) = ([0.0; 9], [[0.0; 9]; 9], [[0.0; 4]; 4]);
        for r in rotations.iter() {
            let m = r.to_matrix();
            let entries: [f64; 9] = std::array::from_fn(|n| m.col(n % 3)[n / 3]);
            let q = r.quat().to_array();
            for i in 0..9 {
                mean[i] += entries[i] / 1000.0;
                for j in 0..9 {
                    products[i][j] += entries[i] * entries[j] / 1000.0;
                }
            }
            for i in 0..4 {
                for j in 0..4 {
                    outer[i][j] += q[i] * q[j] / 1000.0;
                }
            }
        }
        for i in 0..9 {
            assert!((found.mean[i] - mean[i]).abs() < 1e-14);
            for j in 0..9 {
                assert!((found.products[i][j] - products[i][j]).abs() < 1e-14, "{i} {j}");
            }
        }
        for i in 0..4 {
            for j in 0..4 {
                assert!((second[i][j] - outer[i][j]).abs() < 1e-14, "{i} {j}");
            }
        }
        let (a, b) = (DVec3::new(0.6, 0.0, 0.8), DVec3::new(0.0, -0.8, 0.6));
        let direct: f64 = rotations.iter().map(|r| a.dot(r * b)).sum::<f64>() / 1000.0;
        assert!((found.mean_of(a, b) - direct).abs() < 1e-14);
    }

    #[test]
    fn merging_in_any_grouping_gives_the_same_bits_a11() {
        let rotations = random(1000);
        let parts: Vec<Moments> = [0..100, 100..101, 101..600, 600..1000]
            .map(|range| Moments::of(&range.map(|i| rotations.at(i)).collect()))
            .to_vec();
        let merged = |order: &[usize]| {
            let mut all = Moments::default();
            order.iter().for_each(|i| all.merge(&parts[*i]));
            all
        };
        let first = merged(&[0, 1, 2, 3]);
        assert_eq!(first, merged(&[3, 1, 0, 2]));
        let mut pair = parts[2];
        pair.merge(&parts[3]);
        let mut nested = parts[1];
        nested.merge(&parts[0]);
        nested.merge(&pair);
        assert_eq!(first, nested);
        assert_eq!(first.count(), 1000);
    }

    #[test]
    fn sums_that_no_rotations_have_are_refused() {
        let moments = Moments::of(&random(1000));
        let (count, sums) = (moments.count(), *moments.sums());
        assert_eq!(Moments::from_sums(count, sums), Some(moments));
        assert_eq!(Moments::from_sums(0, [0; PRODUCTS]), Some(Moments::default()));
        assert_eq!(Moments::from_sums(count + 1, sums), None);
        assert_eq!(Moments::from_sums(u64::MAX, [i128::MIN; PRODUCTS]), None);
        // The sum of x² y² below zero, made up for by that of x⁴.
        let mut other = sums;
        (other[4], other[0]) = (-1, sums[0] + 2 * (sums[4] + 1));
        assert_eq!(EXPONENTS[4], [0, 0, 1, 1]);
        assert_eq!(Moments::from_sums(count, other), None);
        for i in 0..PRODUCTS {
            for value in [i128::MIN, i128::MAX, -(1 << 71), 1 << 71] {
                let mut other = sums;
                other[i] = value;
                assert_eq!(Moments::from_sums(count, other), None, "{i}");
            }
        }
    }

    #[test]
    fn signs_of_quaternions_do_not_matter_a3() {
        let rotations = random(50);
        let flipped: Rotations =
            rotations.iter().map(|r| Rotation::from_unit_unchecked(-r.quat())).collect();
        assert_eq!(Moments::of(&rotations), Moments::of(&flipped));
    }
}
