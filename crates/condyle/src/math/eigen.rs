//! Eigenvectors of small symmetric matrices and singular values of 3×3 matrices, by Jacobi
//! rotations in a fixed order, so that every build gives the same bits.
#![allow(clippy::needless_range_loop, reason = "matrices read best with their indices")]

use glam::{DMat3, DVec3};

use super::direct::perpendicular;
use super::rotation::unit;
use super::trig;

/// The eigenvalues and eigenvectors of a symmetric matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SymmetricEigen<const N: usize> {
    /// Largest first. Infinite if it does not fit into an f64.
    pub values: [f64; N],
    /// `vectors[i]` belongs to `values[i]`. Orthonormal. The component of largest magnitude (the
    /// first, if several) is positive.
    pub vectors: [[f64; N]; N],
}

/// A guard against a loop without end. Of 10⁶ matrices 3×3 none needs more than 5 sweeps, of 10⁶
/// 4×4 none more than 6, of 2·10⁵ 9×9 none more than 12.
const MAX_SWEEPS: usize = 40;

/// The eigenvalues and eigenvectors of a symmetric matrix.
///
/// # Source
///
/// The cyclic Jacobi method as in G. H. Golub, C. F. Van Loan, "Matrix computations", 4th ed. 2013,
/// section 8.5: for each p < q in row order, the rotation in the plane of p and q with
///
/// ```text
///   τ = (a_qq − a_pp) / (2 a_pq),   t = sign(τ) / (|τ| + √(1 + τ²)),   c = 1/√(1 + t²),   s = t c
/// ```
///
/// makes a_pq zero. Sweeps are repeated until every `|a_pq| ≤ ε/2 √(|a_pp a_qq|)`, the criterion of
/// J. Demmel and K. Veselić, "Jacobi's method is more accurate than QR" (1992).
///
/// # Convention
///
/// `m[i][j]` is row i, column j; only the upper triangle `j ≥ i` is read.
///
/// # Domain and singularity
///
/// `None` if an entry read is not finite. Entries of any size: they are scaled by a power of two
/// first. Where eigenvalues are equal the vectors span the right space but are otherwise arbitrary,
/// though always the same; nearly equal ones turn by about `ε |m| / gap`.
///
/// # Example
///
/// ```
/// use condyle::math::symmetric_eigen;
/// let eigen = symmetric_eigen([[2.0, 1.0], [1.0, 2.0]]).unwrap();
/// assert!((eigen.values[0] - 3.0).abs() < 1e-15 && (eigen.values[1] - 1.0).abs() < 1e-15);
/// assert!((eigen.vectors[0][0] - eigen.vectors[0][1]).abs() < 1e-15);
/// ```
#[must_use]
#[allow(clippy::doc_markdown, reason = "a_pq is a matrix entry")]
pub fn symmetric_eigen<const N: usize>(m: [[f64; N]; N]) -> Option<SymmetricEigen<N>> {
    let mut a = [[0.0; N]; N];
    let mut largest = 0.0_f64;
    for i in 0..N {
        for j in i..N {
            if !m[i][j].is_finite() {
                return None;
            }
            largest = largest.max(m[i][j].abs());
            (a[i][j], a[j][i]) = (m[i][j], m[i][j]);
        }
    }
    let scale = power_of_two_below(largest);
    for entry in a.iter_mut().flatten() {
        *entry /= scale;
    }

    let mut v = [[0.0; N]; N];
    for (i, row) in v.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    jacobi(&mut a, &mut v);

    let mut order = [0; N];
    for (i, slot) in order.iter_mut().enumerate() {
        *slot = i;
    }
    order.sort_by(|&i, &j| a[j][j].total_cmp(&a[i][i]));
    Some(SymmetricEigen {
        values: order.map(|i| a[i][i] * scale),
        vectors: order.map(|i| with_positive_lead(v[i])),
    })
}

/// Makes `a` diagonal and applies the same rotations to the rows of `v`. Returns how many sweeps
/// it took.
fn jacobi<const N: usize>(a: &mut [[f64; N]; N], v: &mut [[f64; N]; N]) -> usize {
    for sweep in 0..MAX_SWEEPS {
        let mut turned = false;
        for p in 0..N {
            for q in p + 1..N {
                let apq = a[p][q];
                let negligible = 0.5 * f64::EPSILON * (a[p][p].abs() * a[q][q].abs()).sqrt();
                // After scaling, the smallest normal numbers are nothing beside the largest entry.
                if apq.abs() <= negligible || apq.abs() < f64::MIN_POSITIVE {
                    continue;
                }
                turned = true;
                let (c, s, t) = rotation_for(a[p][p], a[q][q], apq);
                a[p][p] -= t * apq;
                a[q][q] += t * apq;
                (a[p][q], a[q][p]) = (0.0, 0.0);
                for r in (0..N).filter(|&r| r != p && r != q) {
                    let (x, y) = (a[r][p], a[r][q]);
                    (a[r][p], a[r][q]) = (c * x - s * y, s * x + c * y);
                    (a[p][r], a[q][r]) = (a[r][p], a[r][q]);
                }
                for r in 0..N {
                    let (x, y) = (v[p][r], v[q][r]);
                    (v[p][r], v[q][r]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
        if !turned {
            return sweep;
        }
    }
    MAX_SWEEPS
}

/// Cosine, sine and tangent of the smaller rotation that makes the off-diagonal entry zero.
fn rotation_for(app: f64, aqq: f64, apq: f64) -> (f64, f64, f64) {
    let tau = (aqq - app) / (2.0 * apq);
    // An infinite τ, or one whose square is, gives t = 0: the rotation is below the last digit.
    let t = 1.0_f64.copysign(tau) / (tau.abs() + (1.0 + tau * tau).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    (c, t * c, t)
}

/// The vector or its opposite, whichever has its component of largest magnitude positive.
fn with_positive_lead<const N: usize>(v: [f64; N]) -> [f64; N] {
    let mut lead = 0.0_f64;
    for x in v {
        if x.abs() > lead.abs() {
            lead = x;
        }
    }
    // Adding zero turns −0 into +0.
    if lead < 0.0 { v.map(|x| -x + 0.0) } else { v.map(|x| x + 0.0) }
}

/// The largest power of two not above `x`, at least the smallest normal number; 1 for zero.
fn power_of_two_below(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    if x == 0.0 {
        return 1.0;
    }
    f64::from_bits(x.to_bits() & EXPONENT).max(f64::MIN_POSITIVE)
}

/// A 3×3 matrix as `u · diag(s) · vᵀ`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Svd3 {
    /// Orthonormal columns. Its determinant is −1 exactly when that of the matrix is negative.
    pub u: DMat3,
    /// Singular values, largest first, none negative. Infinite if one does not fit into an f64.
    pub s: DVec3,
    /// A rotation.
    pub v: DMat3,
}

/// The singular value decomposition of a 3×3 matrix.
///
/// # Source
///
/// The one-sided Jacobi method of M. R. Hestenes, "Inversion of matrices by biorthogonalization and
/// related results" (1958): columns are rotated in pairs (1,2), (1,3), (2,3) until they are
/// orthogonal; `w = m v`, `s` the lengths of the columns of `w` and `u` their directions.
///
/// # Convention
///
/// `m = u · diag(s) · vᵀ`, column vectors. `v` is a rotation, so the rotation nearest to `m` is
/// `u · diag(1, 1, det u) · vᵀ`.
///
/// # Domain and singularity
///
/// `None` if an entry is not finite. Entries of any size: they are scaled by a power of two first.
/// For rank 2 and below, `u` is completed to a rotation. Where singular values are equal the
/// directions are arbitrary, though always the same.
///
/// # Example
///
/// ```
/// use condyle::glam::{DMat3, DVec3};
/// use condyle::math::svd3;
/// let svd = svd3(DMat3::from_diagonal(DVec3::new(1.0, -3.0, 2.0))).unwrap();
/// assert_eq!(svd.s, DVec3::new(3.0, 2.0, 1.0));
/// assert!((svd.u.determinant() + 1.0).abs() < 1e-15);
/// ```
#[must_use]
pub fn svd3(m: DMat3) -> Option<Svd3> {
    if !m.is_finite() {
        return None;
    }
    let largest = m.to_cols_array().iter().fold(0.0_f64, |l, e| l.max(e.abs()));
    let scale = power_of_two_below(largest);
    let mut w = [m.x_axis / scale, m.y_axis / scale, m.z_axis / scale];
    let mut v = [DVec3::X, DVec3::Y, DVec3::Z];

    for _ in 0..MAX_SWEEPS {
        let mut turned = false;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (pp, qq, pq) = (w[p].dot(w[p]), w[q].dot(w[q]), w[p].dot(w[q]));
            let negligible = 0.5 * f64::EPSILON * (pp * qq).sqrt();
            if pq.abs() <= negligible || pq.abs() < f64::MIN_POSITIVE {
                continue;
            }
            turned = true;
            let (c, s, _) = rotation_for(pp, qq, pq);
            (w[p], w[q]) = (w[p] * c - w[q] * s, w[p] * s + w[q] * c);
            (v[p], v[q]) = (v[p] * c - v[q] * s, v[p] * s + v[q] * c);
        }
        if !turned {
            break;
        }
    }

    let length = |v: DVec3| trig::hypot3(v.x, v.y, v.z);
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| length(w[j]).total_cmp(&length(w[i])));
    let [w0, w1, w2] = order.map(|i| w[i]);
    let [v0, v1, v2] = order.map(|i| v[i]);

    // Each column of u is taken perpendicular to the ones before, so that it stays orthonormal
    // where the columns of w have shrunk to rounding noise.
    let u0 = unit(w0).unwrap_or(DVec3::X);
    let u1 = unit(w1)
        .map(|d| d - u0 * u0.dot(d))
        // For rank 1 the second column is noise that may lie along the first.
        .filter(|across| length(*across) > 0.5)
        .and_then(unit)
        .or_else(|| perpendicular(u0))
        .unwrap_or(DVec3::Y);
    let u2 = u0.cross(u1);
    // A reflection, in v after sorting or in w from the start, shows in the last column.
    let v2 = if v0.cross(v1).dot(v2) < 0.0 { -v2 } else { v2 };
    let w2 = if v2 == v[order[2]] { w2 } else { -w2 };
    let u2 = if u2.dot(w2) < 0.0 { -u2 } else { u2 };

    Some(Svd3 {
        u: DMat3::from_cols(u0, u1, u2),
        s: DVec3::new(length(w0), length(w1), length(w2)) * scale,
        v: DMat3::from_cols(v0, v1, v2),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::arbitrary;

    /// Per dimension, relative to the largest entry. Measured worst over 10⁶ matrices 3×3 2.0e-15,
    /// over 10⁶ 4×4 3.1e-15, over 2·10⁵ 9×9 8.7e-15, and 3.7e-15 over 2·10⁶ singular value
    /// decompositions, half of them degenerate; 2× headroom.
    const PER_DIMENSION: f64 = 2.5e-15;

    /// A symmetric matrix, often with zero, equal or tiny entries, or of low rank.
    fn symmetric<const N: usize>(
        u: &mut ::arbitrary::Unstructured<'_>,
    ) -> ::arbitrary::Result<[[f64; N]; N]> {
        let mut m = [[0.0; N]; N];
        if u.arbitrary()? {
            let entries = N * (N + 1) / 2;
            let values: Vec<f64> = (0..entries)
                .map(|_| arbitrary::component(u))
                .collect::<::arbitrary::Result<_>>()?;
            let mut values = values.into_iter();
            for i in 0..N {
                for j in i..N {
                    m[i][j] = values.next().unwrap();
                    m[j][i] = m[i][j];
                }
            }
        } else {
            // A sum of few dyads: rank 0 to 3, never negative, as covariances are.
            for _ in 0..u.int_in_range(0..=3)? {
                let mut v = [0.0; N];
                for x in &mut v {
                    *x = arbitrary::component(u)?;
                }
                for i in 0..N {
                    for j in 0..N {
                        m[i][j] += v[i] * v[j];
                    }
                }
            }
        }
        Ok(m)
    }

    /// Reconstruction, orthogonality, order and sign.
    #[track_caller]
    fn check_eigen<const N: usize>(m: [[f64; N]; N]) -> f64 {
        let eigen = symmetric_eigen(m).unwrap();
        let size = m.iter().flatten().fold(0.0_f64, |l, e| l.max(e.abs()));
        let mut worst = 0.0_f64;
        for i in 0..N {
            for j in 0..N {
                let sum: f64 = (0..N)
                    .map(|k| eigen.values[k] * eigen.vectors[k][i] * eigen.vectors[k][j])
                    .sum();
                let dot: f64 = (0..N).map(|k| eigen.vectors[i][k] * eigen.vectors[j][k]).sum();
                let identity = if i == j { 1.0 } else { 0.0 };
                worst = worst.max((dot - identity).abs());
                if size > 0.0 {
                    worst = worst.max((sum - m[i][j]).abs() / size);
                }
            }
            assert!(i == 0 || eigen.values[i] <= eigen.values[i - 1]);
            let lead = eigen.vectors[i]
                .iter()
                .fold(0.0_f64, |l, x| if x.abs() > l.abs() { *x } else { l });
            assert!(lead > 0.0, "{eigen:?}");
        }
        worst
    }

    fn prop_eigen<const N: usize>() {
        arbtest::arbtest(|u| {
            let m = symmetric::<N>(u)?;
            let worst = check_eigen(m);
            assert!(worst < PER_DIMENSION * N as f64, "{m:?}: {worst:e}");
            let (mut a, mut v) = (m, m);
            let sweeps = jacobi(&mut a, &mut v);
            assert!(sweeps < 20, "{m:?}: {sweeps} sweeps");
            Ok(())
        });
    }

    #[test]
    fn prop_three_by_three_matrices_are_rebuilt_from_their_eigenvectors() {
        prop_eigen::<3>();
    }

    #[test]
    fn prop_four_by_four_matrices_are_rebuilt_from_their_eigenvectors() {
        prop_eigen::<4>();
    }

    #[test]
    fn prop_nine_by_nine_matrices_are_rebuilt_from_their_eigenvectors() {
        prop_eigen::<9>();
    }

    #[test]
    fn known_eigenvalues_come_out_largest_first() {
        // 2 − √2, 2, 2 + √2.
        let m = [[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]];
        let got = symmetric_eigen(m).unwrap().values;
        let root = std::f64::consts::SQRT_2;
        for (got, expected) in got.into_iter().zip([2.0 + root, 2.0, 2.0 - root]) {
            assert!((got - expected).abs() < 2e-15, "{got} {expected}");
        }
        let diagonal = symmetric_eigen([[1.0, 0.0], [0.0, 5.0]]).unwrap();
        assert_eq!(diagonal.values, [5.0, 1.0]);
        assert_eq!(diagonal.vectors, [[0.0, 1.0], [1.0, 0.0]]);
    }

    #[test]
    fn small_eigenvalues_of_graded_matrices_keep_their_digits() {
        // D·[[1, ½], [½, 1]]·D with D = diag(1, 1e-20): the smaller eigenvalue is 0.75e-40, while
        // the off-diagonal entry is nothing beside the largest.
        let got = symmetric_eigen([[1.0, 0.5e-20], [0.5e-20, 1e-40]]).unwrap();
        assert!((got.values[1] / 0.75e-40 - 1.0).abs() < 1e-14, "{got:?}");
    }

    #[test]
    fn only_the_upper_triangle_is_read() {
        let a = symmetric_eigen([[1.0, 0.5], [0.5, 2.0]]);
        assert_eq!(a, symmetric_eigen([[1.0, 0.5], [f64::NAN, 2.0]]));
    }

    #[test]
    fn extreme_sizes_are_scaled_and_non_finite_entries_refused() {
        for k in [1e-320, 1e-300, 1e300, 8e307] {
            let got = symmetric_eigen([[2.0 * k, k], [k, 2.0 * k]]).unwrap();
            if k > 1e-310 {
                assert!((got.values[1] / k - 1.0).abs() < 1e-14, "{k:e} {got:?}");
            }
            assert!(got.values.iter().all(|v| !v.is_nan()));
            assert!((got.vectors[0][0] - got.vectors[0][1]).abs() < 1e-15);
        }
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(symmetric_eigen([[1.0, bad], [bad, 1.0]]).is_none());
            assert!(svd3(DMat3::from_diagonal(DVec3::new(1.0, bad, 0.0))).is_none());
        }
        assert_eq!(symmetric_eigen([[0.0; 3]; 3]).unwrap().values, [0.0; 3]);
        let m = DMat3::from_cols_array(&[1.0, 2.0, 3.0, -1.0, 0.5, 2.0, 0.0, 1.0, 1.0]);
        let plain = svd3(m).unwrap();
        for k in [1e-300, 1e300] {
            let got = svd3(m * k).unwrap().s / k;
            assert!((got - plain.s).abs().max_element() < 1e-14, "{k:e} {got}");
        }
    }

    /// Reconstruction, orthogonality, order and handedness.
    #[track_caller]
    fn check_svd(m: DMat3) -> f64 {
        let svd = svd3(m).unwrap();
        assert!(svd.s.x >= svd.s.y && svd.s.y >= svd.s.z && svd.s.z >= 0.0, "{svd:?}");
        assert!((svd.v.determinant() - 1.0).abs() < 1e-14, "{svd:?}");
        let size = m.to_cols_array().iter().fold(0.0_f64, |l, e| l.max(e.abs())).max(1e-300);
        let rebuilt = svd.u * DMat3::from_diagonal(svd.s / size) * svd.v.transpose();
        let mut worst = 0.0_f64;
        for error in [
            rebuilt - m * (1.0 / size),
            svd.u.transpose() * svd.u - DMat3::IDENTITY,
            svd.v.transpose() * svd.v - DMat3::IDENTITY,
        ] {
            worst = error.to_cols_array().iter().fold(worst, |l, e| l.max(e.abs()));
        }
        worst
    }

    fn any_matrix(u: &mut ::arbitrary::Unstructured<'_>) -> ::arbitrary::Result<DMat3> {
        let mut e = [0.0; 9];
        for x in &mut e {
            *x = arbitrary::component(u)?;
        }
        let m = DMat3::from_cols_array(&e);
        Ok(match u.int_in_range(0..=2)? {
            // Rank 1 or less, and a rotation with all singular values equal.
            0 => DMat3::from_cols(m.x_axis * m.y_axis.x, m.x_axis * m.y_axis.y, m.x_axis * e[5]),
            1 => arbitrary::rotation(u)?.to_matrix(),
            _ => m,
        })
    }

    #[test]
    fn prop_matrices_are_rebuilt_from_their_singular_values() {
        arbtest::arbtest(|u| {
            let m = any_matrix(u)?;
            let worst = check_svd(m);
            assert!(worst < PER_DIMENSION * 3.0, "{m}: {worst:e}");
            Ok(())
        });
    }

    #[test]
    fn u_reflects_exactly_when_the_matrix_does() {
        for (diagonal, sign) in [
            (DVec3::new(1.0, 2.0, 3.0), 1.0),
            (DVec3::new(-1.0, 2.0, 3.0), -1.0),
            (DVec3::new(-1.0, -2.0, 3.0), 1.0),
            (DVec3::new(-1.0, -1.0, -1.0), -1.0),
            (DVec3::new(0.0, 2.0, 0.0), 1.0),
        ] {
            let svd = svd3(DMat3::from_diagonal(diagonal)).unwrap();
            assert!((svd.u.determinant() - sign).abs() < 1e-15, "{diagonal} {svd:?}");
        }
    }
}
