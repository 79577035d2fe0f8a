//! The smallest spherical ellipse around sampled directions (B4, B7).

use std::f64::consts::PI;

use glam::{DVec2, DVec3};

use super::boundary::{compare, emptiest};
use crate::math::{Kernel, Level, trig, unit};

/// An ellipse as [`SwingLimit::Ellipse`](crate::limits::SwingLimit::Ellipse) has it, for a bone that
/// points to `center`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SphericalEllipse {
    /// A unit vector.
    pub(crate) center: DVec3,
    /// A unit vector across it. The other axis is `center × x`.
    pub(crate) x: DVec3,
    /// The largest rotation about x, in radians.
    pub(crate) rx: f64,
    /// The largest rotation about `center × x`.
    pub(crate) ry: f64,
}

/// 0.25°: no radius is less.
const LEAST: f64 = 0.25 * PI / 180.0;

/// No radius is more.
const MOST: f64 = PI;

/// How much an ellipse is enlarged, so that rounding leaves nothing outside.
const ROOM: f64 = 1e-12;

/// The spherical ellipse of smallest area, or nearly, that contains all directions.
///
/// # Source
///
/// The smallest ellipse in the plane of rotation vectors (the azimuthal equidistant map) about a
/// centre, with the centre moved to that of the ellipse until it stays. In the plane: L. Khachiyan,
/// "Rounding of polytopes in the real number model of computation" (1996), with the away steps of
/// M. J. Todd, E. A. Yıldırım, "On Khachiyan's algorithm for the computation of minimum-volume
/// enclosing ellipsoids" (2007). Only few directions are looked at: those outside are added until none
/// is.
///
/// # Convention
///
/// `rx` is the largest rotation about `x`: how far the ellipse reaches along `center × x`. `x` is along
/// the longer half axis, so that `rx ≤ ry`.
///
/// # Domain and singularity
///
/// Total; `None` if there is no direction. Radii are from 0.25° to π. Area is measured in the plane,
/// so that for radii beyond 90° a slightly smaller ellipse may exist. The same bits for any order of
/// the directions, and however often each comes.
pub(crate) fn smallest_ellipse(directions: &[DVec3]) -> Option<SphericalEllipse> {
    let mut some = extremes(directions);
    let mut center = unit(some.iter().sum()).or_else(|| some.first().copied())?;
    let least = directions.iter().fold(1.0_f64, |least, d| {
        let cosine = d.dot(center);
        // NaN is not less.
        if cosine < least { cosine } else { least }
    });
    if least < 0.0 {
        center = -emptiest(directions)?;
    }
    let mut weights = vec![1.0 / real(some.len()); some.len()];
    let mut fit = Fit::around(center);
    let mut worst = Vec::new();
    for round in 0..ROUNDS {
        fit = fit.improved(&some, &mut weights);
        fit.beyond(directions, &mut worst);
        if worst.is_empty() || round + 1 == ROUNDS {
            break;
        }
        // What has no weight may go, but it may come back: it stays.
        some.append(&mut worst);
        weights.resize(some.len(), 0.0);
    }
    // All of them. A radius that would be more than half a turn leaves it to the other to grow.
    for _ in 0..GROWTHS {
        let mut most: f64 = 1.0;
        fit.each_near(directions, |d| {
            if fit.at_most(d) > most {
                most = most.max(fit.value(d).unwrap_or(0.0));
            }
        });
        let grow = most.sqrt() * (1.0 + ROOM);
        let cut = fit.radii[0] * grow > MOST;
        fit.radii = fit.radii.map(|radius| (radius * grow).clamp(LEAST, MOST));
        if !cut {
            break;
        }
    }
    // What grew and was cut so often holds everything at last.
    let [ry, rx] = if fit.radii[0] < MOST { fit.radii } else { fit.whole(directions) };
    let mut x = fit.axis;
    if x.x < 0.0 || (x.x == 0.0 && (x.y < 0.0 || (x.y == 0.0 && x.z < 0.0))) {
        x = -x;
    }
    Some(SphericalEllipse { center: fit.center, x, rx, ry })
}

/// How often the shorter radius grows when the longer one cannot.
const GROWTHS: usize = 20;

/// Directions are added at most so often; then the ellipse grows around what is left.
const ROUNDS: usize = 12;

/// An ellipse while it is being fitted.
#[derive(Clone, Copy, Debug)]
struct Fit {
    center: DVec3,
    /// Of the first radius.
    axis: DVec3,
    /// The larger first.
    radii: [f64; 2],
}

impl Fit {
    fn around(center: DVec3) -> Self {
        Self { center, axis: center.any_orthonormal_vector(), radii: [LEAST; 2] }
    }

    /// The radii, or half a turn both if something is still outside.
    fn whole(&self, directions: &[DVec3]) -> [f64; 2] {
        let inside = |d: &DVec3| self.value(*d).is_none_or(|value| value <= 1.0);
        if directions.iter().all(inside) { self.radii } else { [MOST; 2] }
    }

    /// The smallest around some directions, in the plane about its centre, all of them inside.
    fn improved(mut self, some: &[DVec3], weights: &mut [f64]) -> Self {
        let mut points = Vec::with_capacity(some.len());
        for _ in 0..20 {
            let other = self.center.cross(self.axis);
            points.clear();
            points.extend(some.iter().map(|d| plane(*d, self.center, self.axis, other)));
            let planar = Planar::around(&points, weights);
            let toward = self.axis * planar.center.x + other * planar.center.y;
            let moved = planar.center.length();
            let (sin, cos) = trig::sin_cos(moved);
            if moved > 0.0 {
                self.center = self.center * cos + toward * (sin / moved);
            }
            self.center = unit(self.center).unwrap_or(self.center);
            let axis = self.axis * planar.axis.x + other * planar.axis.y;
            let across = axis - self.center * self.center.dot(axis);
            self.axis = unit(across).unwrap_or(self.center.any_orthonormal_vector());
            self.radii = planar.radii.map(|r| r.clamp(LEAST, MOST));
            if moved < 1e-3 * self.radii[1] {
                break;
            }
        }
        let most = some.iter().fold(1e-6, |most: f64, d| most.max(self.value(*d).unwrap_or(0.0)));
        self.radii = self.radii.map(|r| (r * most.sqrt()).clamp(LEAST, MOST));
        self
    }

    /// `(p / a)² + (q / b)²` with the rotation vector's components along both axes: at most 1 inside.
    fn value(&self, d: DVec3) -> Option<f64> {
        let d = unit(d)?;
        let p = plane(d, self.center, self.axis, self.center.cross(self.axis));
        let (x, y) = (p.x / self.radii[0], p.y / self.radii[1]);
        Some(x * x + y * y)
    }

    /// No less than the value, and nearly it, without an inverse cosine. With h = (1 − cos β) / 2 and the
    /// series of asin²,
    ///
    /// ```text
    ///   (β / sin β)² = Σ 2²ⁿ⁻¹ hⁿ⁻¹ / (n² (2n over n)) / (1 − h)
    /// ```
    ///
    /// whose coefficients fall, so that the rest is no more than the next one times h / (1 − h). Beyond a
    /// right angle β = π − 2 asin √(1 − h), and the series of asin without its rest is too small.
    fn at_most(&self, d: DVec3) -> f64 {
        let other = self.center.cross(self.axis);
        let (x, y) = (d.dot(self.axis) / self.radii[0], d.dot(other) / self.radii[1]);
        let h = (0.5 - 0.5 * d.dot(self.center)).clamp(0.0, 1.0);
        let squared = if h <= 0.5 {
            let near = 0.114_286 + h * (0.081_27 + h * 0.061_58);
            let sum = 1.0 + h * (1.0 / 3.0 + h * (8.0 / 45.0 + h * near));
            let h3 = h * h * h;
            let rest = 0.0488 * h3 * h3 / (1.0 - h);
            (sum + rest) / (1.0 - h)
        } else {
            let k = 1.0 - h;
            let asin = k.sqrt() * (1.0 + k * (1.0 / 6.0 + k * (0.075 + k * (0.0446 + k * 0.03))));
            let beta = PI - 2.0 * asin;
            beta * beta / (4.0 * h * k)
        };
        // For vectors that are not quite units.
        let bound = (x * x + y * y) * squared * (1.0 + 1e-5);
        if bound.is_nan() { f64::INFINITY } else { bound }
    }

    /// All directions in their order but those that are clearly inside, which are most.
    fn each_near(&self, directions: &[DVec3], mut see: impl FnMut(DVec3)) {
        let level = Level::best();
        let mut clear = [0.0; BLOCK];
        for block in directions.chunks(BLOCK) {
            level.run(Clearances { fit: *self, directions: block, clear: &mut clear });
            for (d, clear) in block.iter().zip(&clear) {
                if *clear <= 0.0 || clear.is_nan() {
                    see(*d);
                }
            }
        }
    }

    /// The directions outside by more than matters: of each sixteenth around the centre the farthest.
    fn beyond(&self, directions: &[DVec3], worst: &mut Vec<DVec3>) {
        let mut best = [(1.0 + 0.5 * TOLERANCE, DVec3::ZERO); 16];
        let other = self.center.cross(self.axis);
        self.each_near(directions, |d| {
            if self.at_most(d) <= 1.0 {
                return;
            }
            let Some(value) = self.value(d) else { return };
            let (x, y) = (d.dot(self.axis), d.dot(other));
            let (a, b) = (x.abs(), y.abs());
            let sector = usize::from(x < 0.0)
                | usize::from(y < 0.0) << 1
                | usize::from(a < b) << 2
                | usize::from(a.min(b) > 0.4142 * a.max(b)) << 3;
            let (most, at) = &mut best[sector];
            if value > *most || (value == *most && compare(d, *at).is_lt()) {
                (*most, *at) = (value, d);
            }
        });
        worst.clear();
        worst.extend(best.into_iter().map(|(_, at)| at).filter_map(unit));
    }
}

/// Directions that are looked at together.
const BLOCK: usize = 128;

/// More than zero for directions that are clearly inside: [`Fit::at_most`] up to a right angle, without
/// divisions, and with more room.
struct Clearances<'a> {
    fit: Fit,
    directions: &'a [DVec3],
    clear: &'a mut [f64; BLOCK],
}

impl Kernel for Clearances<'_> {
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "a kernel")]
    fn run(self) {
        let Self { fit: Fit { center, axis, radii }, directions, clear } = self;
        let other = center.cross(axis);
        let (x, y) = (axis / radii[0], other / radii[1]);
        // Local ones share no memory with the directions.
        let mut local = [0.0; BLOCK];
        for (d, clear) in directions.iter().zip(&mut local) {
            let (x, y) = (d.dot(x), d.dot(y));
            let h = 0.5 - 0.5 * d.dot(center);
            let near = 0.114_286 + h * (0.081_27 + h * 0.061_58);
            let sum = 1.0 + h * (1.0 / 3.0 + h * (8.0 / 45.0 + h * near));
            let (k, h3) = (1.0 - h, h * h * h);
            let squared = sum * k + 0.0488 * h3 * h3;
            let room = (1.0 - 1e-4) * k * k - (x * x + y * y) * squared;
            *clear = if (h < 0.5) & (h > -1e-6) { room } else { 0.0 };
        }
        *clear = local;
    }
}

/// The rotation vector's way from the centre, in the directions of two axes.
fn plane(d: DVec3, center: DVec3, x: DVec3, y: DVec3) -> DVec2 {
    let across = DVec2::new(d.dot(x), d.dot(y));
    let sin = across.length();
    let cos = d.dot(center);
    if sin == 0.0 {
        return if cos < 0.0 { DVec2::new(PI, 0.0) } else { DVec2::ZERO };
    }
    across * (trig::atan2(sin, cos) / sin)
}

/// An ellipse in the plane.
struct Planar {
    center: DVec2,
    axis: DVec2,
    radii: [f64; 2],
}

impl Planar {
    /// The smallest around some points, to about a thousandth. The weights are where to begin, and
    /// come back as they are at the end.
    fn around(points: &[DVec2], weights: &mut [f64]) -> Self {
        let size = points.iter().fold(LEAST, |size, p| size.max(p.length()));
        // Keeps points on a line from having no inverse.
        let ridge = 1e-8 * size * size;
        let mut moments = Moments::of(points, weights);
        for _ in 0..300 {
            let inverse = moments.inverse(ridge);
            let (mut high, mut low) = ((0, -1.0), (0, f64::INFINITY));
            for (i, p) in points.iter().enumerate() {
                let value = inverse.value(*p);
                if value > high.1 {
                    high = (i, value);
                }
                if value < low.1 && weights[i] > 0.0 {
                    low = (i, value);
                }
            }
            if high.1 < 3.0 * (1.0 + TOLERANCE) && low.1 > 3.0 * (1.0 - TOLERANCE) {
                break;
            }
            let (i, step) = if high.1 - 3.0 >= 3.0 - low.1 {
                (high.0, (high.1 - 3.0) / (3.0 * (high.1 - 1.0)))
            } else {
                let weight = weights[low.0];
                let most = if weight < 1.0 { weight / (1.0 - weight) } else { 1.0 };
                let step = if low.1 > 1.0 { (3.0 - low.1) / (3.0 * (low.1 - 1.0)) } else { most };
                (low.0, -step.min(most))
            };
            for weight in weights.iter_mut() {
                *weight *= 1.0 - step;
            }
            weights[i] = (weights[i] + step).max(0.0);
            if step < 0.0 && weights[i] < 1e-12 {
                weights[i] = 0.0;
            }
            moments.mix(points[i], step);
        }
        let m = Moments::of(points, weights);
        let (xx, xy, yy) = (m.xx - m.x * m.x, m.xy - m.x * m.y, m.yy - m.y * m.y);
        // Eigenvalues of the symmetric matrix.
        let (half, difference) = (0.5 * (xx + yy), 0.5 * (xx - yy));
        let root = (difference * difference + xy * xy).sqrt();
        let axis = if difference >= 0.0 {
            DVec2::new(difference + root, xy)
        } else {
            DVec2::new(xy, root - difference)
        };
        let axis = if axis.length_squared() > 0.0 { axis.normalize() } else { DVec2::X };
        let radius = |square: f64| (2.0 * square.max(0.0)).sqrt().max(LEAST);
        Self {
            center: DVec2::new(m.x, m.y),
            axis,
            radii: [radius(half + root), radius(half - root)],
        }
    }
}

/// Of the values at the support, which are 3.
const TOLERANCE: f64 = 3e-3;

/// Weighted sums over points; the weights have the sum 1.
#[derive(Clone, Copy, Debug)]
struct Moments {
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Moments {
    fn of(points: &[DVec2], weights: &mut [f64]) -> Self {
        let sum: f64 = weights.iter().sum();
        let mut moments = Self { x: 0.0, y: 0.0, xx: 0.0, xy: 0.0, yy: 0.0 };
        for (p, weight) in points.iter().zip(weights) {
            *weight /= sum;
            let w = *weight;
            moments.x += w * p.x;
            moments.y += w * p.y;
            moments.xx += w * p.x * p.x;
            moments.xy += w * p.x * p.y;
            moments.yy += w * p.y * p.y;
        }
        moments
    }

    fn mix(&mut self, p: DVec2, step: f64) {
        let mix = |old: f64, new: f64| (1.0 - step) * old + step * new;
        self.x = mix(self.x, p.x);
        self.y = mix(self.y, p.y);
        self.xx = mix(self.xx, p.x * p.x);
        self.xy = mix(self.xy, p.x * p.y);
        self.yy = mix(self.yy, p.y * p.y);
    }

    /// `(p, 1)ᵀ M⁻¹ (p, 1)` is 1 plus a form about the mean.
    fn inverse(&self, ridge: f64) -> Form {
        let xx = self.xx - self.x * self.x + ridge;
        let yy = self.yy - self.y * self.y + ridge;
        let xy = self.xy - self.x * self.y;
        let determinant = (xx * yy - xy * xy).max(ridge * ridge);
        Form {
            center: DVec2::new(self.x, self.y),
            xx: yy / determinant,
            xy: -xy / determinant,
            yy: xx / determinant,
        }
    }
}

struct Form {
    center: DVec2,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Form {
    fn value(&self, p: DVec2) -> f64 {
        let q = p - self.center;
        1.0 + self.xx * q.x * q.x + 2.0 * self.xy * q.x * q.y + self.yy * q.y * q.y
    }
}

/// The farthest directions along seven axes, both ways: distinct, in an order of their own.
fn extremes(directions: &[DVec3]) -> Vec<DVec3> {
    const AXES: [DVec3; 7] = [
        DVec3::new(1.0, 0.0, 0.0),
        DVec3::new(0.0, 1.0, 0.0),
        DVec3::new(0.0, 0.0, 1.0),
        DVec3::new(1.0, 1.0, 1.0),
        DVec3::new(-1.0, 1.0, 1.0),
        DVec3::new(1.0, -1.0, 1.0),
        DVec3::new(1.0, 1.0, -1.0),
    ];
    let mut best = [(f64::NEG_INFINITY, DVec3::ZERO); 14];
    for d in directions {
        let squared = d.length_squared();
        if !(squared.is_finite() && squared > 0.0) {
            continue;
        }
        for (axis, pair) in AXES.iter().zip(best.chunks_exact_mut(2)) {
            let along = axis.dot(*d);
            for (value, (most, at)) in [along, -along].into_iter().zip(pair) {
                if value > *most || (value == *most && compare(*d, *at).is_lt()) {
                    (*most, *at) = (value, *d);
                }
            }
        }
    }
    let mut some: Vec<DVec3> = best.into_iter().map(|(_, at)| at).filter_map(unit).collect();
    some.sort_by(|a, b| compare(*a, *b));
    some.dedup();
    some
}

#[allow(clippy::cast_precision_loss, reason = "counts")]
fn real(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::super::boundary::tests::{overlap, scattered, shaken};
    use super::*;
    use crate::limits::{Limit, PreparedLimit, SwingLimit, SwingTwistLimit};
    use crate::math::{Angle, SwingAxes};
    use crate::synth::{RegionShape, Rng, SwingRegion};

    fn prepared(ellipse: &SphericalEllipse) -> PreparedLimit {
        let limit = Limit::SwingTwist(SwingTwistLimit {
            axes: SwingAxes::new(ellipse.center, Some(ellipse.x)).unwrap(),
            swing: SwingLimit::Ellipse {
                rx: Angle::from_radians(ellipse.rx),
                ry: Angle::from_radians(ellipse.ry),
            },
            ..SwingTwistLimit::default()
        });
        limit.prepare().unwrap()
    }

    fn truth(along: f64, across: f64, rng: &mut Rng) -> SwingRegion {
        let shape = RegionShape::Ellipse {
            along: Angle::from_degrees(along),
            across: Angle::from_degrees(across),
        };
        SwingRegion::new(shape, rng.direction(), rng.direction()).unwrap()
    }

    const SIZES: [(f64, f64); 6] =
        [(20.0, 20.0), (30.0, 12.0), (70.0, 25.0), (60.0, 50.0), (110.0, 50.0), (140.0, 125.0)];

    /// The overlaps with truth, sorted.
    fn overlaps(noise: f64, count: usize, seeds: u64) -> Vec<f64> {
        let mut all = Vec::new();
        for (along, across) in SIZES {
            for seed in 0..seeds {
                let mut rng = Rng::new(seed + 31);
                let region = truth(along, across, &mut rng);
                let d = scattered(&region, count, &mut rng);
                let d = shaken(&d, noise.to_radians(), &mut rng);
                let found = smallest_ellipse(&d).unwrap();
                let limit = prepared(&found);
                let swing = limit.swing().unwrap();
                let worst = d
                    .iter()
                    .fold(9.0, |worst: f64, d| worst.min(swing.distance(*d).unwrap().radians()));
                assert!(worst >= -1e-12, "{along} {across} {noise}: {worst}");
                let n = 40_000;
                all.push(overlap(|d| swing.contains(d), |d| region.contains(d), &mut rng, n));
            }
        }
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn ellipses_are_found_again_b4() {
        for noise in [0.0, 0.3] {
            let all = overlaps(noise, 2000, 5);
            assert!(all[all.len() / 2] > 0.95, "{noise}: {all:?}");
        }
    }

    #[test]
    fn order_and_repetition_change_no_bit() {
        let mut rng = Rng::new(5);
        for (along, across) in SIZES {
            let region = truth(along, across, &mut rng);
            let mut d = scattered(&region, 300, &mut rng);
            let before = smallest_ellipse(&d);
            d.extend_from_within(10..60);
            d.push(DVec3::NAN);
            d.push(DVec3::ZERO);
            rng.shuffle(&mut d);
            assert_eq!(smallest_ellipse(&d), before);
        }
    }

    #[test]
    fn what_is_all_over_or_nearly_is_inside() {
        let mut rng = Rng::new(7);
        for round in 0..200 {
            let (count, hole) = (3 + rng.below(300), rng.direction());
            let size = rng.between(-1.0, 1.2);
            let d: Vec<DVec3> =
                (0..count).map(|_| rng.direction()).filter(|d| d.dot(hole) < size).collect();
            let Some(found) = smallest_ellipse(&d) else { continue };
            assert!(found.rx <= found.ry && found.ry <= PI, "{found:?}");
            let limit = prepared(&found);
            for d in &d {
                let distance = limit.swing().unwrap().distance(*d).unwrap().radians();
                assert!(distance >= -1e-12, "{round} {count} {size}: {found:?} {distance}");
            }
        }
    }

    #[test]
    fn few_directions_and_lines_have_small_ellipses() {
        let mut rng = Rng::new(6);
        assert_eq!(smallest_ellipse(&[]), None);
        assert_eq!(smallest_ellipse(&[DVec3::NAN, DVec3::ZERO, DVec3::INFINITY]), None);
        for _ in 0..200 {
            let (a, b) = (rng.direction(), rng.direction());
            let line = |count: usize| -> Vec<DVec3> {
                (0..count).map(|i| unit(a.lerp(b, real(i) / real(count))).unwrap()).collect()
            };
            for d in
                [vec![a], vec![a, a], vec![a, b], line(5), line(50), vec![a, -a], vec![a, b, -a]]
            {
                let found = smallest_ellipse(&d).unwrap();
                assert!(found.rx >= LEAST && found.ry <= PI && found.rx <= found.ry, "{found:?}");
                assert!((found.x.dot(found.center)).abs() < 1e-12);
                let limit = prepared(&found);
                for d in &d {
                    let distance = limit.swing().unwrap().distance(*d).unwrap().radians();
                    assert!(distance >= -1e-12, "{d:?} {found:?} {distance}");
                }
            }
            let found = smallest_ellipse(&[a]).unwrap();
            assert!(found.ry < 1.01 * LEAST && found.center.dot(a) > 1.0 - 1e-9);
        }
    }
}
