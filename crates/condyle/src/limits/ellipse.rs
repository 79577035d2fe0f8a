//! The spherical ellipse (B4): its curve, its derivatives, and the quartic of the source paper.

use glam::{DVec2, DVec3};

use crate::math::{Angle, Swing, trig};

/// An ellipse in the components (Sx, Sy) of the swing's rotation vector, as a curve on the sphere.
///
/// # Source
///
/// P. Baerlocher, R. Boulic, "Parametrization and range of motion of the ball-and-socket joint"
/// (2001), section 3.1. With β = |S| and sc = sin β / β,
///
/// ```text
///   S(φ) = (rx cos φ, ry sin φ)        d(S) = (sc·Sy, −sc·Sx, cos β)
/// ```
///
/// # Convention
///
/// Directions have components along x, y and the bone. φ rises as the curve is walked with the inside
/// on the left, seen from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ellipse {
    pub(crate) rx: f64,
    pub(crate) ry: f64,
}

/// A point of a curve with its first two derivatives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jet {
    pub(crate) point: DVec3,
    pub(crate) first: DVec3,
    pub(crate) second: DVec3,
}

impl Ellipse {
    /// The point at φ and how it moves.
    pub(crate) fn jet(self, phi: f64) -> Jet {
        let (sin, cos) = trig::sin_cos(phi);
        let s = DVec2::new(self.rx * cos, self.ry * sin);
        let s1 = DVec2::new(-self.rx * sin, self.ry * cos);
        // S'' = −S. p = S·S', and its derivative.
        let (p, p1) = (s.dot(s1), s1.dot(s1) - s.dot(s));
        let Bend { sinc, k, m, cos } = Bend::new(s.dot(s));
        // d sinc / dφ = k p,  d k / dφ = m p.
        let first = s1 * sinc + s * (k * p);
        let second = s1 * (2.0 * k * p) - s * sinc + s * (m * p * p + k * p1);
        Jet {
            point: DVec3::new(sinc * s.y, -sinc * s.x, cos),
            first: DVec3::new(first.y, -first.x, -sinc * p),
            second: DVec3::new(second.y, -second.x, -k * p * p - sinc * p1),
        }
    }

    /// The point at φ.
    pub(crate) fn point(self, phi: f64) -> DVec3 {
        let (sin, cos) = trig::sin_cos(phi);
        direction_of(DVec2::new(self.rx * cos, self.ry * sin))
    }

    /// Whether a direction is inside or on the curve: whether [`value`](Self::value) is at most 0.
    pub(crate) fn contains(self, d: DVec3) -> bool {
        self.surely_contains(d) || self.value(d) <= 0.0
    }

    /// Whether a direction is clearly inside, without an inverse sine; it is no answer that another is
    /// not. With h = (1 − cos β) / 2 and the series of asin²,
    ///
    /// ```text
    ///   (β / sin β)² = Σ 2²ⁿ⁻¹ hⁿ⁻¹ / (n² (2n over n)) / (1 − h)
    /// ```
    ///
    /// whose coefficients fall, so that the rest is no more than the next one times h / (1 − h).
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "a part of kernels, and what most directions pass")]
    pub(crate) fn surely_contains(self, d: DVec3) -> bool {
        let (x, y) = (d.y / self.rx, d.x / self.ry);
        let h = 0.5 - 0.5 * d.z;
        let near = 0.114_286 + h * (0.081_27 + h * 0.061_58);
        let sum = 1.0 + h * (1.0 / 3.0 + h * (8.0 / 45.0 + h * near));
        let h3 = h * h * h;
        let rest = 0.0488 * h3 * h3 / (1.0 - h);
        // Up to a right angle, and with more than what coefficients and lengths are off.
        (h < 0.5) & ((x * x + y * y) * (sum + rest) < (1.0 - 1e-4) * (1.0 - h))
    }

    /// (Sx / rx)² + (Sy / ry)² − 1 of a direction; infinite off the line of a radius of zero.
    pub(crate) fn value(self, d: DVec3) -> f64 {
        let s = swing_of(d);
        let square = |s: f64, r: f64| {
            if s == 0.0 {
                0.0
            } else {
                let q = s / r;
                q * q
            }
        };
        square(s.x, self.rx) + square(s.y, self.ry) - 1.0
    }
}

/// The rotation vector (Sx, Sy) of the direct swing that takes the bone to `d`. At −bone the axis is
/// x, as [`direct_rotation`](crate::math::direct_rotation) has it.
pub(crate) fn swing_of(d: DVec3) -> DVec2 {
    let sin = trig::hypot(d.x, d.y);
    let beta = trig::atan2(sin, d.z);
    if sin == 0.0 {
        return DVec2::new(beta, 0.0);
    }
    DVec2::new(-d.y, d.x) * (beta / sin)
}

/// The direction that a swing with this rotation vector takes the bone to.
pub(crate) fn direction_of(s: DVec2) -> DVec3 {
    let Bend { sinc, cos, .. } = Bend::new(s.dot(s));
    DVec3::new(sinc * s.y, -sinc * s.x, cos)
}

/// Functions of β² that the curve is made of, without cancellation near β = 0:
///
/// ```text
///   sinc = sin β / β      k = (cos β − sinc) / β²      m = −(sinc + 3k) / β²
/// ```
struct Bend {
    sinc: f64,
    cos: f64,
    k: f64,
    m: f64,
}

impl Bend {
    fn new(square: f64) -> Self {
        let beta = square.sqrt();
        let (sin, cos) = trig::sin_cos(beta);
        if square < 0.04 {
            // Taylor series; the first term left out is below 1e-17.
            let q = square;
            let sinc = 1.0
                - q / 6.0
                    * (1.0 - q / 20.0 * (1.0 - q / 42.0 * (1.0 - q / 72.0 * (1.0 - q / 110.0))));
            let k = -1.0 / 3.0 + q / 30.0 - q * q / 840.0 + q * q * q / 45_360.0
                - q * q * q * q / 3_991_680.0;
            let m = 1.0 / 15.0 - q / 210.0 + q * q / 7560.0 - q * q * q / 498_960.0;
            return Self { sinc, cos, k, m };
        }
        let sinc = sin / beta;
        let k = (cos - sinc) / square;
        Self { sinc, cos, k, m: -(sinc + 3.0 * k) / square }
    }
}

/// The foot of a swing on an ellipse in the plane of its components: the method of the source paper.
/// [`PreparedLimit::project`](super::PreparedLimit::project) is what to use instead.
///
/// # Source
///
/// P. Baerlocher, R. Boulic (2001), appendix II: with the ellipse `(x/a)² + (y/b)² = 1` and a
/// multiplier λ, the foot of a point P is `x = a² Px / (a² + λ)`, `y = b² Py / (b² + λ)`, where λ
/// solves the quartic
///
/// ```text
///   (a Px / (a² + λ))² + (b Py / (b² + λ))² = 1
/// ```
///
/// The foot is nearest for the largest root, which is the only one above −min(a², b²). Two cases of
/// the printed form give no root and are treated here: a point on an axis within the evolute, whose
/// foot is off the axis, and the centre of a circle, for which every point is a foot.
///
/// # Domain
///
/// Nearest in the plane of rotation vectors, not on the sphere: the direction it gives is farther away
/// than the nearest one by up to 0.03° for an ellipse of 30° by 20°, 2.2° for 60° by 25° and 51° for
/// 120° by 60°, for directions up to the larger radius outside (a test measures it). Negative radii
/// count as 0; for the centre of a circle the foot is on +x. What is not finite comes back as it is.
#[must_use]
pub fn swing_by_quartic(rx: Angle, ry: Angle, swing: Swing) -> Swing {
    let p = DVec2::new(swing.x.radians(), swing.y.radians());
    let (rx, ry) = (rx.radians().max(0.0), ry.radians().max(0.0));
    if !(p.is_finite() && rx.is_finite() && ry.is_finite()) {
        return swing;
    }
    let (px, py) = (p.x.abs(), p.y.abs());
    let foot = if rx >= ry {
        quadrant_foot(rx, ry, px, py)
    } else {
        let foot = quadrant_foot(ry, rx, py, px);
        DVec2::new(foot.y, foot.x)
    };
    Swing::from_radians(foot.x.copysign(p.x), foot.y.copysign(p.y))
}

/// The same for a point and an answer in the first quadrant, `a ≥ b`.
fn quadrant_foot(a: f64, b: f64, px: f64, py: f64) -> DVec2 {
    if a == 0.0 {
        return DVec2::ZERO;
    }
    if py == 0.0 || b == 0.0 {
        // On the long axis: within the evolute the foot leaves the axis.
        let reach = (a * a - b * b) / a;
        if px >= reach {
            return DVec2::new(a, 0.0);
        }
        let x = px * a / reach;
        let y = b * (1.0 - (x / a) * (x / a)).max(0.0).sqrt();
        return DVec2::new(x, y);
    }
    // F falls from +∞ at −b² to −1: its root, in the scale of b² = 1, by Newton's method from the
    // left, where F is convex and the steps never pass the root; bisection if rounding stalls it.
    let (mut low, mut high) = (-b * b + b * py, -b * b + trig::hypot(a * px, b * py));
    let value = |l: f64| {
        let (u, v) = (a * px / (a * a + l), b * py / (b * b + l));
        (u * u + v * v - 1.0, -2.0 * (u * u / (a * a + l) + v * v / (b * b + l)))
    };
    let mut lambda = low;
    for _ in 0..100 {
        let (f, slope) = value(lambda);
        if f > 0.0 {
            low = lambda;
        } else {
            high = lambda;
        }
        let newton = lambda - f / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if next == lambda || low >= high {
            break;
        }
        lambda = next;
    }
    DVec2::new(a * a * px / (a * a + lambda), b * b * py / (b * b + lambda))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{Limit, SwingLimit, SwingTwistLimit};
    use crate::synth::Rng;

    /// By the angle itself: all that is clearly inside is inside, and most of the inside is clearly so.
    #[test]
    fn what_is_clearly_inside_is_inside() {
        let mut rng = Rng::new(4);
        let (mut clear, mut inside) = (0, 0);
        for round in 0..300 {
            let mut radius = || match round % 3 {
                0 => rng.between(0.0, 0.1),
                1 => rng.between(0.1, 1.5),
                _ => rng.between(0.0, std::f64::consts::PI),
            };
            let ellipse = Ellipse { rx: radius(), ry: if round == 0 { 0.0 } else { radius() } };
            for _ in 0..300 {
                let most = 1.2 * ellipse.rx.max(ellipse.ry);
                let (x, y) = (rng.between(-most, most), rng.between(-most, most));
                let d = direction_of(DVec2::new(x, y));
                let is_inside = ellipse.value(d) <= 0.0;
                assert_eq!(ellipse.contains(d), is_inside, "{ellipse:?} {d}");
                assert!(is_inside || !ellipse.surely_contains(d));
                let near = is_inside && d.z > 0.0;
                (inside, clear) =
                    (inside + usize::from(near), clear + usize::from(ellipse.surely_contains(d)));
            }
        }
        assert!(10 * clear > 9 * inside, "{clear} of {inside}");
    }

    #[test]
    fn curves_and_their_derivatives_are_those_of_direct_swings() {
        for ellipse in [
            Ellipse { rx: 1.0, ry: 0.4 },
            Ellipse { rx: 0.1, ry: 0.02 },
            Ellipse { rx: 3.0, ry: 2.0 },
        ] {
            for i in 0..100 {
                let phi = f64::from(i) * 0.0631;
                let jet = ellipse.jet(phi);
                assert!((jet.point - ellipse.point(phi)).length() < 1e-15);
                assert!(ellipse.value(jet.point).abs() < 1e-12);
                let (s, c) = trig::sin_cos(phi);
                let swing = Swing::from_radians(ellipse.rx * c, ellipse.ry * s);
                let turned = swing.to_rotation(&crate::math::SwingAxes::Z).unwrap() * DVec3::Z;
                assert!((turned - jet.point).length() < 2e-15);
                let h = 1e-5;
                let (plus, minus) = (ellipse.jet(phi + h), ellipse.jet(phi - h));
                let first = (plus.point - minus.point) / (2.0 * h);
                let second = (plus.first - minus.first) / (2.0 * h);
                assert!((first - jet.first).length() < 1e-8, "{phi}: {first} {}", jet.first);
                assert!((second - jet.second).length() < 1e-8, "{phi}: {second} {}", jet.second);
            }
        }
    }

    #[test]
    fn the_foot_in_the_plane_is_the_nearest_there_b10() {
        let mut rng = Rng::new(1);
        let mut cases = vec![
            // What the printed form gets wrong.
            ([1.0, 0.5], [-2.0, 0.0]),
            ([1.0, 0.5], [0.1, 0.0]),
            ([1.0, 0.5], [0.0, 0.1]),
            ([1.0, 1.0], [0.0, 0.0]),
            ([0.0, 0.5], [0.3, 0.9]),
            ([0.5, 0.0], [0.3, 0.9]),
        ];
        for _ in 0..500 {
            let mut two = || [rng.between(0.01, 2.0), rng.between(0.01, 2.0)];
            cases.push((two(), two()));
        }
        for ([rx, ry], [x, y]) in cases {
            let angle = Angle::from_radians;
            let foot = swing_by_quartic(angle(rx), angle(ry), Swing::from_radians(x, y));
            let (fx, fy) = (foot.x.radians(), foot.y.radians());
            let found = trig::hypot(fx - x, fy - y);
            let brute = (0..200_000)
                .map(|i| {
                    let (s, c) = trig::sin_cos(f64::from(i) * std::f64::consts::TAU / 200_000.0);
                    trig::hypot(rx * c - x, ry * s - y)
                })
                .fold(f64::INFINITY, f64::min);
            assert!(found <= brute + 1e-12, "{rx} {ry} {x} {y}: {found} {brute}");
            let on = |v: f64, r: f64| if r > 0.0 { (v / r) * (v / r) } else { 0.0 };
            if rx > 0.0 && ry > 0.0 {
                assert!((on(fx, rx) + on(fy, ry) - 1.0).abs() < 1e-9, "{rx} {ry} {x} {y}");
            }
        }
    }

    #[test]
    fn the_quartic_is_near_for_small_swings_only() {
        let mut rng = Rng::new(2);
        for (rx, ry, bound) in [(30.0, 20.0, 0.03), (60.0, 25.0, 3.0), (120.0, 60.0, 60.0)] {
            let (rx, ry) = (Angle::from_degrees(rx), Angle::from_degrees(ry));
            let limit = Limit::SwingTwist(SwingTwistLimit {
                swing: SwingLimit::Ellipse { rx, ry },
                ..SwingTwistLimit::default()
            });
            let limit = limit.prepare().unwrap();
            let region = limit.swing().unwrap();
            let mut worst: f64 = 0.0;
            for _ in 0..3000 {
                let d = rng.direction();
                let away = region.distance(d).unwrap().radians();
                // Up to as far outside as the ellipse is wide.
                if away > 0.0 || away < -rx.radians() {
                    continue;
                }
                let s = swing_of(d);
                let foot = swing_by_quartic(rx, ry, Swing::from_radians(s.x, s.y));
                let foot = direction_of(DVec2::new(foot.x.radians(), foot.y.radians()));
                let found = crate::math::angle_between(d, foot).radians();
                assert!(found >= -away - 1e-9);
                worst = worst.max((found + away).to_degrees());
            }
            assert!(worst < bound && worst > 0.5 * bound, "{rx:?} {ry:?}: {worst}");
        }
    }
}
