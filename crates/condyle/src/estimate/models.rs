//! The models of a joint, fitted to its moments: a fixed rotation, a hinge, a universal joint.
//!
//! All of them speak of `q`, a joint's rotation relative to rest, and of noise of σ radians about each
//! of three axes. What a model leaves over is given per axis that it does not explain, so that it is σ
//! if the model is right.
#![allow(clippy::needless_range_loop, reason = "matrices read best with their indices")]

use glam::{DMat3, DVec3};

use super::moments::{MatrixMoments, Moments, rotation};
use crate::math::{Rotation, SymmetricEigen, symmetric_eigen, unit};

/// How the samples of a joint spread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) count: f64,
    /// Of the mean of `q qᵀ`.
    eigen: SymmetricEigen<4>,
    /// The variance about the principal axes, largest first. Exact for small motions; a hinge has
    /// one and a fixed joint none, however large the motion.
    pub(crate) variances: [f64; 3],
}

impl Spread {
    /// # Source
    ///
    /// The eigenvalues of Σ q qᵀ: rank 1 for a fixed joint, rank 2 for a hinge (row A3 of the
    /// checklist; F. L. Markley et al. 2007 for the mean). A turn by a small angle δ moves `q` by δ/2, so an
    /// eigenvalue is a quarter of a variance.
    pub(crate) fn new(moments: &Moments) -> Option<Self> {
        if moments.count() == 0 {
            return None;
        }
        let eigen = symmetric_eigen(moments.second())?;
        let count = moments.count() as f64;
        let variances = [1, 2, 3].map(|i| 4.0 * eigen.values[i].max(0.0));
        Some(Self { count, eigen, variances })
    }

    /// The mean rotation.
    pub(crate) fn mean(&self) -> Rotation {
        rotation(self.eigen.vectors[0])
    }

    /// The principal axes in the joint's space at the mean.
    pub(crate) fn axes(&self) -> [DVec3; 3] {
        let back = self.mean().inverse();
        [1, 2, 3].map(|i| {
            let q = (back * rotation(self.eigen.vectors[i])).quat();
            unit(DVec3::new(q.x, q.y, q.z)).unwrap_or(DVec3::Z)
        })
    }

    /// What is left over by a fixed joint: the variance about the axis it moves most about.
    pub(crate) fn beyond_fixed(&self) -> f64 {
        self.variances[0] * self.count / (self.count - 1.0).max(1.0)
    }

    /// What is left over by a hinge: the sum of the variances across its axis, two axes together.
    pub(crate) fn beyond_hinge(&self) -> f64 {
        (self.variances[1] + self.variances[2]) * self.count / (self.count - 2.0).max(1.0)
    }

    /// The orbit of a hinge: the rotations `cos(θ/2) p + sin(θ/2) r` for perpendicular `p` and `r`.
    pub(crate) const fn orbit(&self) -> [[f64; 4]; 2] {
        [self.eigen.vectors[0], self.eigen.vectors[1]]
    }
}

/// A universal joint: the rotations with `a · R b = c`.
///
/// For `R = C R(a₁, α) R(b, β)` that holds with `a = C a₁` and `c = a₁ · b`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Universal {
    /// Unit, in the parent.
    pub(crate) a: DVec3,
    /// Unit, in the joint.
    pub(crate) b: DVec3,
    /// The cosine of the angle between the axes.
    pub(crate) c: f64,
    /// What is left over.
    pub(crate) variance: f64,
}

/// Directions tried in a plane for each axis.
const GRID: usize = 8;

/// Of those, so many are followed downhill.
const STARTS: usize = 3;

const MAX_STEPS: usize = 40;

/// The bottom is near if a step gains less than this share.
const NEAR: f64 = 0.3;

impl Universal {
    /// The two axes that leave least over.
    ///
    /// # Source
    ///
    /// Noise `R → R exp(v)` moves `a · R b` by `v · (b × Rᵀ a)`, whose length is `√(1 − c²)`. So we look
    /// for the smallest
    ///
    /// ```text
    ///   f(a, b) = Var(a · R b) / (1 − c²),   c = mean of a · R b
    /// ```
    ///
    /// by Levenberg and Marquardt's method on the two unit vectors. The variance is a quadratic form in
    /// `a bᵀ`, known from the moments. At the mean rotation M both b and Mᵀ a are across the axis that
    /// the joint does not turn about; single starts miss the best pair (real ankles), so pairs in the
    /// planes of the principal axes are compared first.
    pub(crate) fn fit(spread: &Spread, moments: &MatrixMoments) -> Option<Self> {
        Problem::about_mean(moments).solve(spread)
    }

    /// The same with rest among its rotations: `c = a · b`.
    pub(crate) fn fit_through_rest(
        spread: &Spread,
        moments: &MatrixMoments,
        start: &Self,
    ) -> Option<Self> {
        let problem = Problem::about_rest(moments);
        let found = problem.descend(start.a, start.b);
        let variance = found.value * spread.count / (spread.count - 4.0).max(1.0);
        (variance.is_finite()).then_some(Self { a: found.a, b: found.b, c: found.c, variance })
    }
}

/// A quadratic form of `vec(a bᵀ)`, and what c is.
struct Problem {
    form: [[f64; 9]; 9],
    mean: [f64; 9],
}

#[derive(Clone, Copy)]
struct Point {
    a: DVec3,
    b: DVec3,
    c: f64,
    value: f64,
}

impl Problem {
    fn about_mean(moments: &MatrixMoments) -> Self {
        let mut form = moments.products;
        for i in 0..9 {
            for j in 0..9 {
                form[i][j] -= moments.mean[i] * moments.mean[j];
            }
        }
        Self { form, mean: moments.mean }
    }

    /// Products of the entries of `R − 1`.
    fn about_rest(moments: &MatrixMoments) -> Self {
        let mut form = moments.products;
        let rest: [f64; 9] = std::array::from_fn(|n| f64::from(u8::from(n % 4 == 0)));
        for i in 0..9 {
            for j in 0..9 {
                form[i][j] +=
                    rest[i] * rest[j] - moments.mean[i] * rest[j] - rest[i] * moments.mean[j];
            }
        }
        Self { form, mean: rest }
    }

    fn solve(&self, spread: &Spread) -> Option<Universal> {
        let (mean, axes) = (spread.mean(), spread.axes());
        let circle: [(f64, f64); GRID] = std::array::from_fn(|i| {
            let (sin, cos) =
                crate::math::trig::sin_cos(std::f64::consts::PI * i as f64 / GRID as f64);
            (cos, sin)
        });
        let mut starts = [(f64::INFINITY, DVec3::X, DVec3::Y); STARTS];
        // The plane that the joint turns in; then the others, by larger steps.
        for (plane, step) in [([0, 1], 1), ([0, 2], 2), ([1, 2], 2)] {
            let [u, v] = plane.map(|i| axes[i]);
            for &(cos, sin) in circle.iter().step_by(step) {
                let b = u * cos + v * sin;
                let of_a = self.given(b);
                for &(cos, sin) in circle.iter().step_by(step) {
                    let a = mean * (u * cos + v * sin);
                    let value = of_a(a);
                    if value < starts[STARTS - 1].0 {
                        starts[STARTS - 1] = (value, a, b);
                        starts.sort_by(|x, y| x.0.total_cmp(&y.0));
                    }
                }
            }
        }
        let mut best: Option<Point> = None;
        for (value, a, b) in starts {
            if value.is_finite() {
                let found = self.descend(a, b);
                if best.is_none_or(|best| found.value < best.value) {
                    best = Some(found);
                }
            }
        }
        let Point { a, b, c, value } = best?;
        let variance = value * spread.count / (spread.count - 5.0).max(1.0);
        Some(Universal { a, b, c, variance })
    }

    /// The value as a function of a, for one b.
    fn given(&self, b: DVec3) -> impl Fn(DVec3) -> f64 + use<> {
        let along = |row: &[f64]| row[0] * b.x + row[1] * b.y + row[2] * b.z;
        let mut form = DMat3::ZERO;
        let mut mean = DVec3::ZERO;
        for i in 0..3 {
            mean[i] = along(&self.mean[3 * i..3 * i + 3]);
            for k in 0..3 {
                let row = |j: usize| along(&self.form[3 * i + j][3 * k..3 * k + 3]);
                form.col_mut(k)[i] = row(0) * b.x + row(1) * b.y + row(2) * b.z;
            }
        }
        move |a| value(a.dot(form * a), a.dot(mean))
    }

    fn at(&self, a: DVec3, b: DVec3) -> Point {
        let v = outer(a, b);
        let c = dot(&self.mean, &v);
        Point { a, b, c, value: value(dot(&multiply(&self.form, &v), &v), c) }
    }

    /// The bottom of the valley that the axes are in.
    ///
    /// # Source
    ///
    /// With `v = a bᵀ`, the form F and the mean m, `f = N / D`, `N = v · F v`, `D = 1 − c²`,
    /// `c = m · v`. For unit tangents tᵢ of both spheres, vᵢ the first and vᵢⱼ the second derivatives
    /// of v (−v for i = j, the product of both tangents for one of each sphere, else 0), half the
    /// gradient and half the Hessian of f are
    ///
    /// ```text
    ///   gᵢ  = (vᵢ · F v + f c cᵢ) / D
    ///   Hᵢⱼ = (vᵢ · F vⱼ + vᵢⱼ · F v + 2 c (gᵢ cⱼ + gⱼ cᵢ) + f (cᵢ cⱼ + c cᵢⱼ)) / D
    /// ```
    ///
    /// Steps are by Levenberg and Marquardt, with `vᵢ · F vⱼ / D` for the Hessian, which finds the
    /// valley; near its bottom, where that is slow if much is left over, they are Newton's.
    fn descend(&self, a: DVec3, b: DVec3) -> Point {
        let mut here = self.at(a, b);
        let mut damping = 1e-3;
        let mut near = false;
        for _ in 0..MAX_STEPS {
            let Point { a, b, c, value } = here;
            let ((a1, a2), (b1, b2)) = (a.any_orthonormal_pair(), b.any_orthonormal_pair());
            let columns = [outer(a1, b), outer(a2, b), outer(a, b1), outer(a, b2)];
            let bent = [[outer(a1, b1), outer(a2, b1)], [outer(a1, b2), outer(a2, b2)]];
            let v = outer(a, b);
            let weighted = multiply(&self.form, &v);
            let across = (1.0 - c * c).max(1e-6);
            let (mut gradient, mut turns) = ([0.0; 4], [0.0; 4]);
            for i in 0..4 {
                turns[i] = dot(&self.mean, &columns[i]);
                gradient[i] = (dot(&weighted, &columns[i]) + value * c * turns[i]) / across;
            }
            // Lower triangles: more is not asked for.
            let (mut flat, mut curved) = ([[0.0; 4]; 4], [[0.0; 4]; 4]);
            for i in 0..4 {
                let column = multiply(&self.form, &columns[i]);
                for j in 0..=i {
                    flat[i][j] = dot(&column, &columns[j]) / across;
                    let (bend, turn) = if i == j {
                        (-dot(&weighted, &v), -c)
                    } else if i >= 2 && j < 2 {
                        let second = &bent[i - 2][j];
                        (dot(&weighted, second), dot(&self.mean, second))
                    } else {
                        (0.0, 0.0)
                    };
                    let mixed = gradient[i] * turns[j] + gradient[j] * turns[i];
                    let denominator = value * (turns[i] * turns[j] + c * turn);
                    curved[i][j] = flat[i][j] + (bend + 2.0 * c * mixed + denominator) / across;
                }
            }
            let stepped = |hessian: [[f64; 4]; 4]| {
                let step = solve4(hessian, gradient)?;
                let next_a = super::unit(a - a1 * step[0] - a2 * step[1])?;
                let next_b = super::unit(b - b1 * step[2] - b2 * step[3])?;
                let next = self.at(next_a, next_b);
                let length: f64 = step.iter().map(|s| s * s).sum();
                (next.value < value).then_some((next, length))
            };
            let mut moved = if near { stepped(curved) } else { None };
            let largest = (0..4).map(|i| flat[i][i]).fold(1e-30, f64::max);
            for _ in 0..8 {
                if moved.is_some() {
                    break;
                }
                let mut damped = flat;
                for i in 0..4 {
                    damped[i][i] += damping * largest;
                }
                moved = stepped(damped);
                damping = if moved.is_some() { (damping * 0.1).max(1e-12) } else { damping * 10.0 };
            }
            let Some((next, step)) = moved else { break };
            let gain = value - next.value;
            here = next;
            if step < 1e-20 || gain <= 1e-9 * value {
                break;
            }
            near = gain <= NEAR * value;
        }
        here
    }
}

/// A variance of `a · R b` over `1 − c²`.
fn value(variance: f64, c: f64) -> f64 {
    let across = 1.0 - c * c;
    // Parallel axes are a hinge.
    if across > 1e-6 { variance.max(0.0) / across } else { f64::INFINITY }
}

/// `a bᵀ`, by rows.
#[inline]
fn outer(a: DVec3, b: DVec3) -> [f64; 9] {
    let (x, y, z) = (b * a.x, b * a.y, b * a.z);
    [x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z]
}

#[inline]
fn multiply(m: &[[f64; 9]; 9], v: &[f64; 9]) -> [f64; 9] {
    // By columns, which the compiler keeps in vectors; the matrix is symmetric.
    let mut product = [0.0; 9];
    for (row, x) in m.iter().zip(v) {
        for (sum, entry) in product.iter_mut().zip(row) {
            *sum += entry * x;
        }
    }
    product
}

#[inline]
fn dot(a: &[f64; 9], b: &[f64; 9]) -> f64 {
    let mut sum = 0.0;
    for i in 0..9 {
        sum += a[i] * b[i];
    }
    sum
}

/// The solution of a positive definite system, by Cholesky's method; `None` if it is not.
fn solve4(mut m: [[f64; 4]; 4], mut b: [f64; 4]) -> Option<[f64; 4]> {
    for i in 0..4 {
        for j in 0..=i {
            let mut sum = m[i][j];
            for k in 0..j {
                sum -= m[i][k] * m[j][k];
            }
            if i == j {
                if sum.is_nan() || sum <= 0.0 {
                    return None;
                }
                m[i][i] = sum.sqrt();
            } else {
                m[i][j] = sum / m[j][j];
            }
        }
    }
    for i in 0..4 {
        for k in 0..i {
            b[i] -= m[i][k] * b[k];
        }
        b[i] /= m[i][i];
    }
    for i in (0..4).rev() {
        for k in i + 1..4 {
            b[i] -= m[k][i] * b[k];
        }
        b[i] /= m[i][i];
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Angle, Rotations, angle_between};
    use crate::synth::Rng;

    fn noisy(rng: &mut Rng, q: Rotation, sigma: f64) -> Rotation {
        q * Rotation::exp(DVec3::new(rng.normal(), rng.normal(), rng.normal()) * sigma).unwrap()
    }

    #[test]
    fn a3_rank_two_is_a_hinge_wherever_its_frame_is() {
        let mut rng = Rng::new(1);
        let offset = rng.rotation();
        let axis = rng.direction();
        let turn = |rng: &mut Rng| {
            let angle = Angle::from_radians(rng.between(-2.0, 2.0));
            offset * Rotation::from_axis_angle(axis, angle).unwrap()
        };
        let clean: Rotations = (0..500).map(|_| turn(&mut rng)).collect();
        let spread = Spread::new(&Moments::of(&clean)).unwrap();
        assert!(spread.beyond_hinge() < 1e-14 && spread.beyond_fixed() > 0.5);
        let sigma = 0.01;
        let spoilt = (0..5000).map(|_| {
            let q = turn(&mut rng);
            noisy(&mut rng, q, sigma)
        });
        let spread = Spread::new(&Moments::of(&spoilt.collect())).unwrap();
        let left = (spread.beyond_hinge() / 2.0).sqrt();
        assert!((left / sigma - 1.0).abs() < 0.05, "{left}");
    }

    #[test]
    fn a3_a_universal_joint_is_found_and_leaves_the_noise() {
        for seed in 0..50 {
            let mut rng = Rng::new(seed);
            let offset = rng.rotation();
            let (a, b) = (rng.direction(), rng.direction());
            if a.dot(b).abs() > 0.9 {
                continue;
            }
            let widths = [rng.between(0.2, 1.5), rng.between(0.2, 1.5)];
            let turn = |rng: &mut Rng| {
                let [first, second] = widths.map(|w| Angle::from_radians(rng.between(-w, 0.7 * w)));
                offset
                    * Rotation::from_axis_angle(a, first).unwrap()
                    * Rotation::from_axis_angle(b, second).unwrap()
            };
            for sigma in [0.0, 0.01] {
                let samples = (0..1000).map(|_| {
                    let q = turn(&mut rng);
                    noisy(&mut rng, q, sigma)
                });
                let moments = Moments::of(&samples.collect());
                let spread = Spread::new(&moments).unwrap();
                let fit = Universal::fit(&spread, &moments.matrices()).unwrap();
                let left = fit.variance.sqrt();
                assert!((left - sigma).abs() < 0.1 * sigma + 1e-6, "{seed}: {left} for {sigma}");
                let off = |found: DVec3, truth: DVec3| {
                    angle_between(found, truth)
                        .radians()
                        .min(angle_between(found, -truth).radians())
                };
                if sigma == 0.0 {
                    assert!(off(fit.a, offset * a) < 1e-3, "{seed}");
                    assert!(off(fit.b, b) < 1e-3, "{seed}");
                    assert!((fit.c.abs() - a.dot(b).abs()).abs() < 1e-3);
                }
            }
        }
    }

    #[test]
    fn a_ball_leaves_more_than_a_universal_joint() {
        let mut rng = Rng::new(2);
        let samples = (0..2000).map(|_| {
            let v = DVec3::new(rng.normal() * 0.5, rng.normal() * 0.3, rng.normal() * 0.1);
            Rotation::exp(v).unwrap()
        });
        let moments = Moments::of(&samples.collect());
        let spread = Spread::new(&moments).unwrap();
        let fit = Universal::fit(&spread, &moments.matrices()).unwrap();
        let left = fit.variance.sqrt();
        assert!(left > 0.08 && left < 0.13, "{left}");
    }
}
