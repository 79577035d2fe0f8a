//! The models of a joint, fitted to its moments: a fixed rotation, a hinge, a universal joint.
//!
//! All of them speak of `q`, a joint's rotation relative to rest, and of noise of σ radians about each
//! of three axes. What a model leaves over is given per axis that it does not explain, so that it is σ
//! if the model is right.
#![allow(clippy::needless_range_loop, reason = "matrices read best with their indices")]
#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use std::f64::consts::PI;

use glam::{DMat3, DVec3};

use super::moments::{MatrixMoments, Means, rotation};
use crate::math::{Kernel, Level, Rotation, SymmetricEigen, symmetric_eigen, unit};

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
    pub(crate) fn new(means: &Means) -> Option<Self> {
        if means.count() == 0 {
            return None;
        }
        let eigen = symmetric_eigen(means.second())?;
        let count = means.count() as f64;
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

    /// How far a rotation is turned from the mean about each principal axis: the components of
    /// `mean⁻¹ q` along them, on the side of the mean. About half the angle if that is small.
    #[inline(always)]
    pub(crate) fn place(&self, q: [f64; 4]) -> [f64; 3] {
        let along = |v: &[f64; 4]| q[0] * v[0] + q[1] * v[1] + q[2] * v[2] + q[3] * v[3];
        let [mean, first, second, third] = &self.eigen.vectors;
        let side = 1.0_f64.copysign(along(mean));
        [side * along(first), side * along(second), side * along(third)]
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
    /// How much the variances of both angles together are of that of the motion: 1 if they vary
    /// independently, far more if they turn against each other.
    pub(crate) inflation: f64,
}

/// More than this is too much: the angles go 1.7 times as far as the joint.
pub(crate) const INFLATED: f64 = 3.0;

/// Of both axes and c.
const PARAMETERS: f64 = 5.0;

/// Directions tried for b, in the principal axes: those of the faces, edges and corners of a cube.
const AROUND: [[f64; 3]; 13] = [
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 1.0, 0.0],
    [1.0, -1.0, 0.0],
    [1.0, 0.0, 1.0],
    [1.0, 0.0, -1.0],
    [0.0, 1.0, 1.0],
    [0.0, 1.0, -1.0],
    [1.0, 1.0, 1.0],
    [1.0, 1.0, -1.0],
    [1.0, -1.0, 1.0],
    [1.0, -1.0, -1.0],
];

/// Of those, so many are followed downhill.
const STARTS: usize = 5;

/// The cosine between them is at most this.
const APART: f64 = 0.75;

/// Less than this left over, (0.1°)², is good enough.
const GOOD: f64 = (0.1 * PI / 180.0) * (0.1 * PI / 180.0);

/// Steps from each of them; the best is then followed to the end.
const FIRST_STEPS: usize = 3;

/// Steps to the value of the best a for one b. A step of Newton's for a cubic takes at least a third
/// of what is missing.
const NEWTONS: usize = 3;

/// The axes of a joint are at right angles but for a deviation of the cotangent of this.
const OBLIQUE: f64 = 0.5;

/// What axes 45° apart cost in variance left over where angles are inflated, and others by the square of
/// their cotangent: half of (0.6°)², which is what an axis has to move to count.
const PRICE: f64 = 0.5 * (0.6 * PI / 180.0) * (0.6 * PI / 180.0);

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
    /// `a bᵀ`, known from the moments. Single starts miss the best pair (real ankles), so b is tried all
    /// around first, each time with the best a for it, which is an eigenvector.
    ///
    /// # Domain and singularity
    ///
    /// Axes that are nearly parallel explain any joint that hardly moves: they turn against each other,
    /// far, and what is left of both is small. Where the angles are [inflated](Self::inflation) the axes
    /// are looked for again with a [`PRICE`] on cot²γ.
    pub(crate) fn fit(spread: &Spread, moments: &MatrixMoments) -> Option<Self> {
        let problem = Problem::about_mean(moments);
        let found = problem.solve(spread)?;
        let mut fit = Self::at(found, spread, PARAMETERS);
        if fit.inflation > INFLATED {
            let upright = problem.upright(PRICE.max(0.5 * found.value)).solve(spread)?;
            fit = Self::at(problem.at(upright.a, upright.b), spread, PARAMETERS);
        }
        Some(fit)
    }

    /// With what the samples leave over, of which so many parameters were fitted.
    fn at(point: Point, spread: &Spread, parameters: f64) -> Self {
        let Point { a, b, c, value } = point;
        let variance = value * spread.count / (spread.count - parameters).max(1.0);
        Self { a, b, c, variance, inflation: inflation(a, b, spread) }
    }

    /// The axes again, nearer to a right angle where the samples hardly tell the angle between them;
    /// and the same with rest among the joint's rotations, `c = a · b`.
    ///
    /// # Source
    ///
    /// A small turn α about the first axis moves `a · R b` by some α² only if a is tilted towards b, so
    /// that noise may tilt it by tens of degrees, and both arcs grow as the axes become parallel. The
    /// axes with the largest posterior probability minimise `n f / σ² + cot²γ / τ²` for samples with
    /// noise σ and an angle γ between the axes whose cotangent is normal with deviation τ
    /// (A. E. Hoerl, R. W. Kennard, "Ridge regression", 1970). With `cot²γ = c² / (1 − c²)` that is f
    /// with `σ² / (n τ²) m mᵀ` added to its form. Where samples tell the angle, it changes nothing.
    pub(crate) fn settled(&self, spread: &Spread, moments: &MatrixMoments) -> [Self; 2] {
        let weight = self.variance / (spread.count * OBLIQUE * OBLIQUE);
        [Problem::about_mean(moments), Problem::about_rest(moments)].map(|problem| {
            let found = problem.upright(weight).settle(self.a, self.b);
            Self::at(problem.at(found.a, found.b), spread, 0.0)
        })
    }
}

/// The variances of both angles, over that of the motion in the plane of the axes.
///
/// For motions that are not too large: about the mean M the joint turns by `α Mᵀ a + β b`, so that with
/// S the covariance of rotation vectors and P the pseudo-inverse of both axes it is `tr(P S Pᵀ)` over the
/// sum of the larger two variances.
fn inflation(a: DVec3, b: DVec3, spread: &Spread) -> f64 {
    let a = spread.mean().inverse() * a;
    let normal = a.cross(b);
    let across = normal.length_squared();
    // α = (b × n) · v / n², β = (n × a) · v / n².
    let parts = [b.cross(normal), normal.cross(a)];
    let axes = spread.axes();
    let of = |part: DVec3| -> f64 {
        (0..3).map(|i| spread.variances[i] * part.dot(axes[i]) * part.dot(axes[i])).sum()
    };
    let angles = (of(parts[0]) + of(parts[1])) / (across * across).max(1e-24);
    angles / (spread.variances[0] + spread.variances[1]).max(1e-300)
}

/// The entries of a matrix by rows, and zeros up to a multiple of the widest vectors.
type Entries = [f64; 12];

/// A quadratic form of `vec(a bᵀ)`, and what c is.
struct Problem {
    form: [Entries; 9],
    mean: Entries,
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
        let mut form = moments.products.map(entries);
        for i in 0..9 {
            for j in 0..9 {
                form[i][j] -= moments.mean[i] * moments.mean[j];
            }
        }
        Self { form, mean: entries(moments.mean) }
    }

    /// Products of the entries of `R − 1`.
    fn about_rest(moments: &MatrixMoments) -> Self {
        let mut form = moments.products.map(entries);
        let rest: [f64; 9] = std::array::from_fn(|n| f64::from(u8::from(n % 4 == 0)));
        for i in 0..9 {
            for j in 0..9 {
                form[i][j] +=
                    rest[i] * rest[j] - moments.mean[i] * rest[j] - rest[i] * moments.mean[j];
            }
        }
        Self { form, mean: entries(rest) }
    }

    /// With a weight on `c²` beside the samples.
    fn upright(&self, weight: f64) -> Self {
        let mut form = self.form;
        for i in 0..9 {
            for j in 0..9 {
                form[i][j] += weight * self.mean[i] * self.mean[j];
            }
        }
        Self { form, mean: self.mean }
    }

    fn solve(&self, spread: &Spread) -> Option<Point> {
        let (mut found, mut work) = (None, Work::default());
        let axes = spread.axes();
        Level::best().run(Solve { problem: self, axes, work: &mut work, found: &mut found });
        found
    }

    /// The bottom of the valley that the axes are in.
    fn settle(&self, a: DVec3, b: DVec3) -> Point {
        let mut at = Point { a, b, c: 0.0, value: 0.0 };
        Level::best().run(Settle { problem: self, work: &mut Work::default(), at: &mut at });
        at
    }

    #[inline(always)]
    fn solution(&self, axes: [DVec3; 3], work: &mut Work) -> Option<Point> {
        let around = AROUND
            .map(|[x, y, z]| unit(axes[0] * x + axes[1] * y + axes[2] * z).unwrap_or(DVec3::X));
        let mut tried = around.map(|b| (0.0, b));
        for (tried, around) in tried.chunks_mut(LANES).zip(around.chunks(LANES)) {
            let four = std::array::from_fn(|lane| around[lane.min(around.len() - 1)]);
            self.least(four, &mut work.given);
            for (tried, least) in tried.iter_mut().zip(work.given.least) {
                tried.0 = least;
            }
        }
        tried.sort_by(|x, y| x.0.total_cmp(&y.0));
        let mut tried = tried.into_iter();
        let mut starts = [DVec3::ZERO; STARTS];
        let mut count = 0;
        let mut best: Option<Point> = None;
        loop {
            // What explains so much need not be looked for further.
            let enough = count == STARTS || best.is_some_and(|best| best.value < GOOD);
            let next = tried.find(|(_, b)| starts.iter().all(|start| start.dot(*b).abs() <= APART));
            let start = if let Some((least, b)) = next.filter(|_| !enough) {
                starts[count] = b;
                count += 1;
                self.given(b).axis(least).map(|a| (a, b, FIRST_STEPS))
            } else {
                let best = best?;
                Some((best.a, best.b, MAX_STEPS))
            };
            let Some((a, b, steps)) = start else { continue };
            let found = self.descend(a, b, steps, work);
            if steps == MAX_STEPS {
                return Some(found).filter(|found| found.value.is_finite());
            }
            if best.is_none_or(|best| found.value < best.value) {
                best = Some(found);
            }
        }
    }

    /// What is left to choose once b is chosen.
    #[inline(always)]
    fn given(&self, b: DVec3) -> Given {
        let mut form = DMat3::ZERO;
        let mut mean = DVec3::ZERO;
        for i in 0..3 {
            mean[i] = along(&self.mean, 3 * i, b);
            for k in 0..=i {
                let entry = self.entry(i, k, b);
                form.col_mut(k)[i] = entry;
                form.col_mut(i)[k] = entry;
            }
        }
        Given { form, mean }
    }

    /// Of the form that is [given](Self::given) with b.
    #[inline(always)]
    fn entry(&self, i: usize, k: usize, b: DVec3) -> f64 {
        let row = |j: usize| along(&self.form[3 * i + j], 3 * k, b);
        row(0) * b.x + row(1) * b.y + row(2) * b.z
    }

    fn at(&self, a: DVec3, b: DVec3) -> Point {
        self.weighed(a, b, &mut [0.0; 12])
    }

    /// The same, and the form times a bᵀ.
    #[inline(always)]
    fn weighed(&self, a: DVec3, b: DVec3, weighted: &mut Entries) -> Point {
        let v = outer(a, b);
        let c = dot(&self.mean, &v);
        multiply(&self.form, &v, weighted);
        Point { a, b, c, value: value(dot(weighted, &v), c) }
    }

    /// The smallest value for any a, or a little less, of four b.
    ///
    /// # Source
    ///
    /// With F and m what is [`given`](Self::given), it is the least λ with `det(F − λ (1 − m mᵀ)) = 0`.
    /// All three are real and not negative, so that Newton's method goes up to the least one from 0 and
    /// not beyond.
    #[inline(always)]
    fn least(&self, b: [DVec3; LANES], given: &mut FourGiven) {
        let FourGiven { form, mean, cofactors, powers, least } = given;
        for i in 0..3 {
            for lane in 0..LANES {
                mean[i][lane] = along(&self.mean, 3 * i, b[lane]);
            }
            for k in 0..=i {
                for lane in 0..LANES {
                    form[i + k + i / 2][lane] = self.entry(i, k, b[lane]);
                }
            }
        }
        let [xx, xy, yy, xz, yz, zz] = &*form;
        for lane in 0..LANES {
            let [xx, xy, yy] = [xx[lane], xy[lane], yy[lane]];
            let [xz, yz, zz] = [xz[lane], yz[lane], zz[lane]];
            cofactors[0][lane] = yy * zz - yz * yz;
            cofactors[1][lane] = yz * xz - xy * zz;
            cofactors[2][lane] = zz * xx - xz * xz;
            cofactors[3][lane] = xy * yz - yy * xz;
            cofactors[4][lane] = xz * xy - yz * xx;
            cofactors[5][lane] = xx * yy - xy * xy;
        }
        for lane in 0..LANES {
            let m = DVec3::new(mean[0][lane], mean[1][lane], mean[2][lane]);
            // mᵀ M m of a symmetric matrix.
            let twice = |of: &[Four; 6]| {
                let [xx, xy, yy, xz, yz, zz] = of.map(|entry| entry[lane]);
                let x = xx * m.x + xy * m.y + xz * m.z;
                let y = xy * m.x + yy * m.y + yz * m.z;
                let z = xz * m.x + yz * m.y + zz * m.z;
                m.x * x + m.y * y + m.z * z
            };
            powers[0][lane] = xx[lane] * cofactors[0][lane]
                + xy[lane] * cofactors[1][lane]
                + xz[lane] * cofactors[3][lane];
            let trace = cofactors[0][lane] + cofactors[2][lane] + cofactors[5][lane];
            powers[1][lane] = trace - twice(cofactors);
            powers[3][lane] = 1.0 - (m.x * m.x + m.y * m.y + m.z * m.z);
            powers[2][lane] = powers[3][lane] * (xx[lane] + yy[lane] + zz[lane]) + twice(form);
        }
        *least = [0.0; LANES];
        for _ in 0..NEWTONS {
            for lane in 0..LANES {
                let [zeroth, first, second, third] = powers.map(|power| power[lane]);
                let at = least[lane];
                let value = zeroth - at * (first - at * (second - at * third));
                let slope = first - at * (2.0 * second - 3.0 * at * third);
                let further = if value > 0.0 { value / slope } else { 0.0 };
                least[lane] = at + if slope > 0.0 { further } else { 0.0 };
            }
        }
    }

    /// Where a step back along the tangents leads, and the square of its length, if that is down.
    #[inline(always)]
    fn stepped(
        &self,
        from: &Point,
        [a1, a2, b1, b2]: [DVec3; 4],
        step: Option<Four>,
        weighted: &mut Entries,
    ) -> Option<(Point, f64)> {
        let [s, t, u, v] = step?;
        let a = unit(from.a - a1 * s - a2 * t)?;
        let b = unit(from.b - b1 * u - b2 * v)?;
        let next = self.weighed(a, b, weighted);
        (next.value < from.value).then_some((next, (s * s + t * t) + (u * u + v * v)))
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
    #[inline(always)]
    fn descend(&self, a: DVec3, b: DVec3, steps: usize, work: &mut Work) -> Point {
        let Work { weighted, sides, products, flat, turns, gradient, .. } = work;
        let mut here = self.weighed(a, b, weighted);
        let mut damping = 1e-3;
        let mut near = false;
        for _ in 0..steps {
            let Point { a, b, c, value } = here;
            let ((a1, a2), (b1, b2)) = (a.any_orthonormal_pair(), b.any_orthonormal_pair());
            let across = (1.0 - c * c).max(1e-6);
            outers([a1, a2, a, a], [b, b, b1, b2], sides);
            dots(sides, |n| self.mean[n], turns);
            dots(sides, |n| weighted[n], gradient);
            for i in 0..LANES {
                gradient[i] = (gradient[i] + value * c * turns[i]) / across;
            }
            for n in 0..9 {
                let mut sum = [0.0; LANES];
                for m in 0..9 {
                    for i in 0..LANES {
                        sum[i] += self.form[m][n] * sides[m][i];
                    }
                }
                products[n] = sum;
            }
            for j in 0..4 {
                dots(products, |n| sides[n][j], &mut flat[j]);
                for i in 0..LANES {
                    flat[j][i] /= across;
                }
            }
            let tangents = [a1, a2, b1, b2];
            let mut moved = None;
            if near {
                let (bent, bends, bend_turns) =
                    (&mut work.bent, &mut work.bends, &mut work.bend_turns);
                outers([a1, a2, a1, a2], [b1, b1, b2, b2], bent);
                dots(bent, |n| weighted[n], bends);
                dots(bent, |n| self.mean[n], bend_turns);
                let straight = -dot(weighted, &outer(a, b));
                let mut curved = *flat;
                for j in 0..4 {
                    for i in j..4 {
                        let (bend, turn) = if i == j {
                            (straight, -c)
                        } else if i >= 2 && j < 2 {
                            (bends[2 * i + j - 4], bend_turns[2 * i + j - 4])
                        } else {
                            (0.0, 0.0)
                        };
                        let mixed = gradient[i] * turns[j] + gradient[j] * turns[i];
                        let denominator = value * (turns[i] * turns[j] + c * turn);
                        curved[j][i] += (bend + 2.0 * c * mixed + denominator) / across;
                    }
                }
                moved = self.stepped(&here, tangents, solve4(curved, *gradient), weighted);
            }
            let largest = (0..4).map(|i| flat[i][i]).fold(1e-30, f64::max);
            for _ in 0..8 {
                if moved.is_some() {
                    break;
                }
                let mut damped = *flat;
                for i in 0..4 {
                    damped[i][i] += damping * largest;
                }
                moved = self.stepped(&here, tangents, solve4(damped, *gradient), weighted);
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

/// Numbers that are worked on together.
const LANES: usize = 4;

type Four = [f64; LANES];

/// Room for what [`Problem::descend`] and [`Problem::least`] work out. Results of four at once have to be
/// somewhere in memory: compilers then keep the four in one vector.
#[derive(Default)]
struct Work {
    /// The form times a bᵀ.
    weighted: Entries,
    /// The derivatives of a bᵀ by the four tangents, and the form times these.
    sides: [Four; 9],
    products: [Four; 9],
    /// Columns of the Hessian without what bends.
    flat: [Four; 4],
    /// The derivatives of c, and the gradient.
    turns: Four,
    gradient: Four,
    /// The second derivatives of a bᵀ by a tangent of each sphere; of them, along what is weighted, and
    /// of c.
    bent: [Four; 9],
    bends: Four,
    bend_turns: Four,
    given: FourGiven,
}

/// What is [`Given`] four times; see [`Problem::least`].
#[derive(Default)]
struct FourGiven {
    /// xx, xy, yy, xz, yz, zz of symmetric matrices.
    form: [Four; 6],
    mean: [Four; 3],
    cofactors: [Four; 6],
    /// The determinant by powers of λ, signs apart.
    powers: [Four; 4],
    least: Four,
}

/// [`Problem::solution`] with the fastest instructions there are.
struct Solve<'a> {
    problem: &'a Problem,
    axes: [DVec3; 3],
    work: &'a mut Work,
    found: &'a mut Option<Point>,
}

impl Kernel for Solve<'_> {
    #[inline(always)]
    fn run(self) {
        *self.found = self.problem.solution(self.axes, self.work);
    }
}

/// The same for [`Problem::descend`].
struct Settle<'a> {
    problem: &'a Problem,
    work: &'a mut Work,
    at: &'a mut Point,
}

impl Kernel for Settle<'_> {
    #[inline(always)]
    fn run(self) {
        *self.at = self.problem.descend(self.at.a, self.at.b, MAX_STEPS, self.work);
    }
}

/// For one b: `f(a) = a · F a / a · G a` with `G = 1 − m mᵀ`, m the mean of `R b`.
struct Given {
    form: DMat3,
    mean: DVec3,
}

impl Given {
    /// The a with a value: across the rows of `F − λ G`.
    #[inline(always)]
    fn axis(&self, value: f64) -> Option<DVec3> {
        let row = |i: usize| {
            let unit = DVec3::AXES[i];
            self.form.col(i) - (unit - self.mean * self.mean[i]) * value
        };
        let [x, y, z] = [row(0), row(1), row(2)];
        let crosses = [y.cross(z), z.cross(x), x.cross(y)];
        let longest =
            crosses.into_iter().max_by(|p, q| p.length_squared().total_cmp(&q.length_squared()))?;
        unit(longest)
    }
}

/// A variance of `a · R b` over `1 − c²`.
#[inline(always)]
fn value(variance: f64, c: f64) -> f64 {
    let across = 1.0 - c * c;
    // Parallel axes are a hinge.
    if across > 1e-6 { variance.max(0.0) / across } else { f64::INFINITY }
}

/// `a bᵀ`.
#[inline(always)]
fn outer(a: DVec3, b: DVec3) -> Entries {
    let (x, y, z) = (b * a.x, b * a.y, b * a.z);
    entries([x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z])
}

#[inline(always)]
fn entries([a, b, c, d, e, f, g, h, i]: [f64; 9]) -> Entries {
    [a, b, c, d, e, f, g, h, i, 0.0, 0.0, 0.0]
}

/// Three entries from one on, times a vector.
#[inline(always)]
fn along(entries: &Entries, first: usize, b: DVec3) -> f64 {
    entries[first] * b.x + entries[first + 1] * b.y + entries[first + 2] * b.z
}

/// The matrix is symmetric: its rows are its columns.
#[inline(always)]
fn multiply(m: &[Entries; 9], v: &Entries, product: &mut Entries) {
    for part in 0..3 {
        let mut sum = [0.0; LANES];
        for n in 0..9 {
            for lane in 0..LANES {
                sum[lane] += m[n][LANES * part + lane] * v[n];
            }
        }
        for lane in 0..LANES {
            product[LANES * part + lane] = sum[lane];
        }
    }
}

/// `a bᵀ` of four pairs, by rows.
#[inline(always)]
fn outers(a: [DVec3; LANES], b: [DVec3; LANES], to: &mut [Four; 9]) {
    for i in 0..3 {
        for j in 0..3 {
            for lane in 0..LANES {
                to[3 * i + j][lane] = a[lane][i] * b[lane][j];
            }
        }
    }
}

/// [`dot`] of four with one.
#[inline(always)]
fn dots(four: &[Four; 9], one: impl Fn(usize) -> f64, to: &mut Four) {
    for lane in 0..LANES {
        let term = |n: usize| one(n) * four[n][lane];
        let first = (term(0) + term(4)) + term(8);
        let (second, third) = (term(1) + term(5), term(2) + term(6));
        to[lane] = (first + second) + (third + (term(3) + term(7)));
    }
}

#[inline(always)]
fn dot(a: &Entries, b: &Entries) -> f64 {
    let mut sums = [0.0; 4];
    for lane in 0..4 {
        sums[lane] = (a[lane] * b[lane] + a[lane + 4] * b[lane + 4]) + a[lane + 8] * b[lane + 8];
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The solution of a positive definite system, by Cholesky's method without roots (`L D Lᵀ`), which would
/// have to be waited for; `None` if it is not. By columns, of which the lower parts count.
#[inline(always)]
fn solve4(mut m: [Four; 4], mut b: Four) -> Option<Four> {
    let mut inverse = [0.0; 4];
    for j in 0..4 {
        let pivot = m[j][j];
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        inverse[j] = 1.0 / pivot;
        let column = m[j];
        for i in 0..4 {
            m[j][i] = column[i] * inverse[j];
        }
        for k in j + 1..4 {
            let factor = m[j][k];
            for i in 0..4 {
                m[k][i] -= column[i] * factor;
            }
        }
    }
    for i in 0..4 {
        for k in 0..i {
            b[i] -= m[k][i] * b[k];
        }
    }
    for i in (0..4).rev() {
        b[i] *= inverse[i];
        for k in i + 1..4 {
            b[i] -= m[i][k] * b[k];
        }
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::moments::Moments;
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
        let spread = Spread::new(&Moments::of(&clean).means()).unwrap();
        assert!(spread.beyond_hinge() < 1e-14 && spread.beyond_fixed() > 0.5);
        let sigma = 0.01;
        let spoilt = (0..5000).map(|_| {
            let q = turn(&mut rng);
            noisy(&mut rng, q, sigma)
        });
        let spread = Spread::new(&Moments::of(&spoilt.collect()).means()).unwrap();
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
                let spread = Spread::new(&moments.means()).unwrap();
                let fit = Universal::fit(&spread, &moments.means().matrices()).unwrap();
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

    /// The judge of [`Universal::fit`]: from many random pairs, each downhill by trying steps along all
    /// tangents, with the value from the definition.
    fn lowest_of_many(moments: &MatrixMoments, rng: &mut Rng, starts: usize) -> f64 {
        let value = |a: DVec3, b: DVec3| {
            let mut second = 0.0;
            for i in 0..9 {
                for j in 0..9 {
                    let entries = [a[i / 3] * b[i % 3], a[j / 3] * b[j % 3]];
                    second += entries[0] * moments.products[i][j] * entries[1];
                }
            }
            let c = moments.mean_of(a, b);
            let across = 1.0 - c * c;
            if across > 1e-6 { (second - c * c) / across } else { f64::INFINITY }
        };
        let mut lowest = f64::INFINITY;
        for _ in 0..starts {
            let (mut a, mut b) = (rng.direction(), rng.direction());
            let (mut here, mut step) = (value(a, b), 0.3);
            while step > 1e-4 && (step > 0.01 || here < 1.5 * lowest) {
                let before = here;
                for sign in [1.0, -1.0] {
                    for k in 0..4 {
                        let of = if k < 2 { a } else { b }.any_orthonormal_pair();
                        let along = if k % 2 == 0 { of.0 } else { of.1 } * (sign * step);
                        let next = if k < 2 {
                            ((a + along).normalize(), b)
                        } else {
                            (a, (b + along).normalize())
                        };
                        let there = value(next.0, next.1);
                        if there < here {
                            ((a, b), here) = (next, there);
                        }
                    }
                }
                if here > (1.0 - 1e-4) * before {
                    step *= 0.5;
                }
            }
            lowest = lowest.min(here);
        }
        lowest
    }

    #[test]
    fn a3_no_other_pair_of_axes_leaves_less_over() {
        let mut rng = Rng::new(11);
        let (mut balls, mut missed) = (0, 0);
        for case in 0..120 {
            let (count, sigma) = ([100, 400][case % 2], [0.005, 0.02, 0.035][case % 3]);
            let (offset, a, b) = (rng.rotation(), rng.direction(), rng.direction());
            let ball = case % 4 < 2;
            let widths: [f64; 3] = std::array::from_fn(|_| rng.between(0.15, 1.5));
            let turn = |rng: &mut Rng| {
                let about = |axis: DVec3, width: f64, rng: &mut Rng| {
                    let angle = Angle::from_radians(rng.between(-width, width));
                    Rotation::from_axis_angle(axis, angle).unwrap()
                };
                let two = offset * about(a, widths[0], rng) * about(b, widths[1], rng);
                if ball { two * about(a.cross(b).normalize(), widths[2], rng) } else { two }
            };
            let samples = (0..count).map(|_| {
                let q = turn(&mut rng);
                noisy(&mut rng, q, sigma)
            });
            let moments = Moments::of(&samples.collect());
            let matrices = moments.means().matrices();
            let spread = Spread::new(&moments.means()).unwrap();
            let found = Problem::about_mean(&matrices).solve(&spread).unwrap().value;
            let lowest = lowest_of_many(&matrices, &mut rng, 25);
            if ball {
                balls += 1;
                missed += i32::from(found > 1.01 * lowest);
            } else {
                assert!(found <= 1.001 * lowest, "{case}: {found:e} {lowest:e}");
            }
        }
        println!("{missed} of {balls} balls are not at their best");
        assert!(20 * missed <= balls, "{missed} of {balls}");
    }

    #[test]
    fn axes_lean_to_a_right_angle_only_where_samples_do_not_tell() {
        let between = |u: &Universal| angle_between(u.a, u.b).degrees();
        let (mut fitted, mut settled) = (Vec::new(), Vec::new());
        for seed in 0..40 {
            let mut rng = Rng::new(seed);
            let sigma = 0.02;
            let mut fits = |gamma: f64, widths: [f64; 2]| {
                let (sin, cos) = crate::math::trig::sin_cos(gamma);
                let b = DVec3::new(cos, sin, 0.0);
                let samples = (0..400).map(|_| {
                    let [x, y] = widths.map(|w| Angle::from_radians(rng.between(-w, w)));
                    let q = Rotation::about_x(x) * Rotation::from_axis_angle(b, y).unwrap();
                    noisy(&mut rng, q, sigma)
                });
                let moments = Moments::of(&samples.collect());
                let spread = Spread::new(&moments.means()).unwrap();
                let matrices = moments.means().matrices();
                let fit = Universal::fit(&spread, &matrices).unwrap();
                let [free, through] = fit.settled(&spread, &matrices);
                [fit, free, through].map(|u| {
                    let angle = between(&u);
                    angle.min(180.0 - angle)
                })
            };
            let [fit, free, through] = fits(std::f64::consts::FRAC_PI_2, [0.12, 0.8]);
            fitted.push(90.0 - fit);
            settled.extend([90.0 - free, 90.0 - through]);
            // The deviation of the angle is σ / (√n sd(cos α)), 0.4°: the pull is far below.
            let [fit, free, _] = fits(1.0, [0.9, 0.8]);
            assert!((fit - free).abs() < 0.1, "{seed}: {fit} {free}");
        }
        fitted.sort_by(f64::total_cmp);
        settled.sort_by(f64::total_cmp);
        let (before, after) = (fitted[20], settled[40]);
        println!("{before:.1} and {after:.1} degrees from a right angle");
        assert!(before > 4.0 && after < 0.6 * before, "{before} {after}");
    }

    #[test]
    fn a_ball_leaves_more_than_a_universal_joint() {
        let mut rng = Rng::new(2);
        let samples = (0..2000).map(|_| {
            let v = DVec3::new(rng.normal() * 0.5, rng.normal() * 0.3, rng.normal() * 0.1);
            Rotation::exp(v).unwrap()
        });
        let moments = Moments::of(&samples.collect());
        let spread = Spread::new(&moments.means()).unwrap();
        let fit = Universal::fit(&spread, &moments.means().matrices()).unwrap();
        let left = fit.variance.sqrt();
        assert!(left > 0.08 && left < 0.13, "{left}");
    }

    /// By multiplying out.
    #[test]
    fn systems_are_solved() {
        let mut rng = Rng::new(8);
        for _ in 0..500 {
            let root: [Four; 4] = [(); 4].map(|()| [(); 4].map(|()| rng.normal()));
            let entry = |i: usize, j: usize| (0..4).map(|k| root[i][k] * root[j][k]).sum::<f64>();
            let m: [Four; 4] = std::array::from_fn(|j| std::array::from_fn(|i| entry(i, j)));
            let b = [(); 4].map(|()| rng.normal());
            let x = solve4(m, b).unwrap();
            let size = x.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
            for i in 0..4 {
                let product: f64 = (0..4).map(|j| m[j][i] * x[j]).sum();
                // Residuals are of the size of rounding times the solution.
                assert!((product - b[i]).abs() < 1e-12 * size, "{product} {}", b[i]);
            }
            let mut indefinite = m;
            indefinite[2][2] = -0.1;
            assert_eq!(solve4(indefinite, b), None);
        }
    }

    /// Against the value at any a, and at the one that goes with it.
    #[test]
    fn no_a_is_better_than_the_least_for_its_b() {
        let mut rng = Rng::new(9);
        for _ in 0..100 {
            let spread = rng.between(0.05, 1.5);
            let samples: Rotations =
                (0..60).map(|_| noisy(&mut rng, Rotation::IDENTITY, spread)).collect();
            let problem = Problem::about_mean(&Moments::of(&samples).means().matrices());
            let b = [(); LANES].map(|()| rng.direction());
            let mut given = FourGiven::default();
            problem.least(b, &mut given);
            for (b, least) in b.into_iter().zip(given.least) {
                for _ in 0..50 {
                    let value = problem.at(rng.direction(), b).value;
                    assert!(value > least * (1.0 - 1e-9), "{value} {least}");
                }
                let a = problem.given(b).axis(least).unwrap();
                // Three steps up to it leave some of the way.
                let value = problem.at(a, b).value;
                assert!(least > 0.5 * value, "{least} {value}");
            }
        }
    }
}
