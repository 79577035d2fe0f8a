//! Regions of the sphere that a bone may point into: truth to be found again, not a limit to use.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use crate::math::{Angle, angle_between, trig, unit};

/// What a [`SwingRegion`] looks like around its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RegionShape {
    /// All directions within an angle of the centre; larger than a hemisphere beyond 90°.
    Cone {
        /// In (0, 180°).
        half_angle: Angle,
    },
    /// An ellipse in the rotation vectors from the centre: with r the angle from the centre and φ
    /// the azimuth from `toward`, `(r cos φ / along)² + (r sin φ / across)² ≤ 1`.
    Ellipse {
        /// Semi-axis in the direction of `toward`, in (0, 180°).
        along: Angle,
        /// The other semi-axis, in (0, 180°).
        across: Angle,
    },
    /// Concave: all directions within `half_width` of a bent spine, a piece of the circle of
    /// `radius` around a pole that lies towards `toward`. The centre is the middle of the spine.
    /// With a long spine it is neither star-shaped nor smaller than a hemisphere.
    Kidney {
        /// From the pole to the spine, in (0, 180°).
        radius: Angle,
        /// Of the spine, as an angle at the pole, in (0, 360°).
        extent: Angle,
        /// Less than `radius` and than 180° − `radius`. The two ends must not meet.
        half_width: Angle,
    },
    /// Concave with corners: a cone from which a sector around `toward` is cut down to `inner`. A
    /// notch of about a quarter turn makes an L.
    Notched {
        /// Of the cone, in (0, 180°).
        half_angle: Angle,
        /// What is left in the sector, in (0, `half_angle`).
        inner: Angle,
        /// The angle of the sector at the centre, in (0, 360°).
        notch: Angle,
    },
}

/// A region of directions with an exact test, its solid angle and its boundary.
///
/// Every shape is mirror-symmetric about the plane through `center` and `toward`.
///
/// ```
/// use condyle::glam::DVec3;
/// use condyle::math::Angle;
/// use condyle::synth::{RegionShape, SwingRegion};
/// let cone = RegionShape::Cone { half_angle: Angle::from_degrees(60.0) };
/// let region = SwingRegion::new(cone, DVec3::X, DVec3::Y).unwrap();
/// assert!(region.contains(DVec3::new(1.0, 1.0, 0.0)) && !region.contains(DVec3::Y));
/// assert!((region.solid_angle() - std::f64::consts::PI).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwingRegion {
    shape: RegionShape,
    /// The centre, `toward` made perpendicular to it, and their cross product.
    frame: [DVec3; 3],
}

/// How far inside the boundary [`SwingRegion::point`] stays, relative to the way from the spine to
/// the boundary (and in radians at the sides of a notch): far above rounding, far below any angle
/// that is measured.
pub(super) const INSIDE: f64 = 1e-9;

/// Points of the boundary used for distances.
const BOUNDARY_POINTS: usize = 2048;

impl SwingRegion {
    /// A shape around `center`, turned so that its `toward` side points to the given direction.
    /// `None` if the two are parallel, or a size is outside what [`RegionShape`] allows.
    #[must_use]
    pub fn new(shape: RegionShape, center: DVec3, toward: DVec3) -> Option<Self> {
        let c = unit(center)?;
        let t = unit(toward)?;
        let across = t - c * c.dot(t);
        if across.length_squared() < 1e-12 {
            return None;
        }
        let t = unit(across)?;
        let open = |a: Angle, end: f64| a.radians() > 0.0 && a.radians() < end;
        let good = match shape {
            RegionShape::Cone { half_angle } => open(half_angle, PI),
            RegionShape::Ellipse { along, across } => open(along, PI) && open(across, PI),
            RegionShape::Kidney { radius, extent, half_width } => {
                open(radius, PI)
                    && open(extent, TAU)
                    && open(half_width, radius.radians().min(PI - radius.radians()))
                    && {
                        // How far the round end reaches along the circle, seen from the pole.
                        let reach = trig::asin(
                            trig::sin_cos(half_width.radians()).0
                                / trig::sin_cos(radius.radians()).0,
                        );
                        0.5 * extent.radians() + reach < PI
                    }
            }
            RegionShape::Notched { half_angle, inner, notch } => {
                open(half_angle, PI) && open(inner, half_angle.radians()) && open(notch, TAU)
            }
        };
        good.then(|| Self { shape, frame: [c, t, c.cross(t)] })
    }

    /// What it looks like.
    #[must_use]
    pub const fn shape(&self) -> RegionShape {
        self.shape
    }

    /// A direction inside: the centre, or the middle of the spine.
    #[must_use]
    pub const fn center(&self) -> DVec3 {
        self.frame[0]
    }

    /// The direction of azimuth 0, perpendicular to the centre.
    #[must_use]
    pub const fn toward(&self) -> DVec3 {
        self.frame[1]
    }

    /// The region seen in a mirror: `x` becomes `−x`.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let m = |v: DVec3| DVec3::new(-v.x, v.y, v.z);
        let (c, t) = (m(self.frame[0]), m(self.frame[1]));
        Self { shape: self.shape, frame: [c, t, c.cross(t)] }
    }

    /// Whether a direction (of any length) is inside, the boundary included. Zero is not.
    #[must_use]
    pub fn contains(&self, direction: DVec3) -> bool {
        let Some(d) = unit(direction) else { return false };
        match self.shape {
            RegionShape::Cone { half_angle } => angle_between(d, self.frame[0]) <= half_angle,
            RegionShape::Ellipse { along, across } => {
                let (r, phi) = polar(&self.frame, d);
                let (sin, cos) = trig::sin_cos(phi);
                let (x, y) = (r * cos / along.radians(), r * sin / across.radians());
                x * x + y * y <= 1.0
            }
            RegionShape::Kidney { radius, extent, half_width } => {
                let frame = self.pole_frame(radius);
                let (r, psi) = polar(&frame, d);
                let half = 0.5 * extent.radians();
                if psi.abs() <= half {
                    (r - radius.radians()).abs() <= half_width.radians()
                } else {
                    let end = at(&frame, radius.radians(), half.copysign(psi));
                    angle_between(d, end) <= half_width
                }
            }
            RegionShape::Notched { half_angle, inner, notch } => {
                let (r, phi) = polar(&self.frame, d);
                let in_notch = phi.abs() < 0.5 * notch.radians();
                r <= if in_notch { inner.radians() } else { half_angle.radians() }
            }
        }
    }

    /// The solid angle in steradians: closed forms, and for the ellipse a periodic sum that agrees
    /// with itself at half the points to 1e-12 for axes up to one to six.
    #[must_use]
    pub fn solid_angle(&self) -> f64 {
        match self.shape {
            RegionShape::Cone { half_angle } => TAU * cap_height(half_angle.radians()),
            RegionShape::Ellipse { along, across } => {
                ellipse_area(along.radians(), across.radians(), 4096)
            }
            RegionShape::Kidney { radius, extent, half_width } => {
                // A zone of the sphere between two circles about the pole, and two half caps.
                let (rho, w) = (radius.radians(), half_width.radians());
                let zone = 2.0 * trig::sin_cos(rho).0 * trig::sin_cos(w).0;
                extent.radians() * zone + TAU * cap_height(w)
            }
            RegionShape::Notched { half_angle, inner, notch } => {
                let nu = notch.radians();
                (TAU - nu) * cap_height(half_angle.radians()) + nu * cap_height(inner.radians())
            }
        }
    }

    /// The boundary as a closed loop of `n` directions (the first is not repeated), inside on the
    /// left when walked in order and seen from outside the sphere.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "counts of points")]
    pub fn boundary(&self, n: usize) -> Vec<DVec3> {
        (0..n).map(|i| self.place(i as f64 / n as f64, 1.0, 0.0)).collect()
    }

    /// The angle from a direction to the nearest point of the boundary, measured to a loop of
    /// great arcs through 2048 points of it: at most some 1e-6 rad off.
    #[must_use]
    pub fn boundary_distance(&self, direction: DVec3) -> Angle {
        let Some(d) = unit(direction) else { return Angle::from_radians(PI) };
        let loop_ = self.boundary(BOUNDARY_POINTS);
        let mut best = PI;
        for (i, &a) in loop_.iter().enumerate() {
            best = best.min(arc_distance(d, a, loop_[(i + 1) % loop_.len()]));
        }
        Angle::from_radians(best)
    }

    /// How far outside a direction is; zero inside. See
    /// [`boundary_distance`](Self::boundary_distance).
    #[must_use]
    pub fn excess(&self, direction: DVec3) -> Angle {
        if self.contains(direction) { Angle::ZERO } else { self.boundary_distance(direction) }
    }

    /// A point of the region by two numbers: `s` goes once around for every whole number, `u` goes
    /// from the centre or spine (0) to just inside the boundary (1). Continuous in both.
    #[must_use]
    pub fn point(&self, s: f64, u: f64) -> DVec3 {
        self.place(s, u.clamp(0.0, 1.0) * (1.0 - INSIDE), INSIDE)
    }

    /// The point at `(s, u)`; a notch is made wider by `widen` on each side.
    fn place(&self, s: f64, u: f64, widen: f64) -> DVec3 {
        let s = s - s.floor();
        match self.shape {
            RegionShape::Cone { half_angle } => at(&self.frame, u * half_angle.radians(), TAU * s),
            RegionShape::Ellipse { along, across } => {
                let (sin, cos) = trig::sin_cos(TAU * s);
                let (x, y) = (along.radians() * cos, across.radians() * sin);
                at(&self.frame, u * trig::hypot(x, y), trig::atan2(y, x))
            }
            RegionShape::Kidney { radius, extent, half_width } => {
                let frame = self.pole_frame(radius);
                let (rho, w) = (radius.radians(), half_width.radians());
                let (phi, half) = (extent.radians(), 0.5 * extent.radians());
                let sides = [
                    phi * trig::sin_cos(rho + w).0,
                    PI * trig::sin_cos(w).0,
                    phi * trig::sin_cos(rho - w).0,
                    PI * trig::sin_cos(w).0,
                ];
                let (side, t) = locate(s, sides);
                let end = |psi: f64, from: f64| {
                    let center = at(&frame, rho, psi);
                    // Away from the pole, and around it.
                    let out = at(&frame, rho + 0.5 * PI, psi);
                    let (sin, cos) = trig::sin_cos(from + PI * t);
                    let (sin_r, cos_r) = trig::sin_cos(u * w);
                    // out × center points against the azimuth.
                    center * cos_r + (out * cos - out.cross(center) * sin) * sin_r
                };
                match side {
                    0 => at(&frame, rho + u * w, phi * t - half),
                    1 => end(half, 0.0),
                    2 => at(&frame, rho - u * w, half - phi * t),
                    _ => end(-half, PI),
                }
            }
            RegionShape::Notched { half_angle, inner, notch } => {
                let (outer, inner) = (half_angle.radians(), inner.radians());
                let half = 0.5 * notch.radians() + widen;
                let sides = [
                    (TAU - 2.0 * half) * trig::sin_cos(outer).0,
                    outer - inner,
                    2.0 * half * trig::sin_cos(inner).0,
                    outer - inner,
                ];
                let (side, t) = locate(s, sides);
                match side {
                    0 => at(&self.frame, u * outer, half + (TAU - 2.0 * half) * t),
                    1 => at(&self.frame, u * (outer + (inner - outer) * t), -half),
                    2 => at(&self.frame, u * inner, half * (2.0 * t - 1.0)),
                    _ => at(&self.frame, u * (inner + (outer - inner) * t), half),
                }
            }
        }
    }

    /// The pole of the kidney's spine, the direction from it to the centre, and across.
    fn pole_frame(&self, radius: Angle) -> [DVec3; 3] {
        let [c, t, _] = self.frame;
        let (sin, cos) = trig::sin_cos(radius.radians());
        let pole = c * cos + t * sin;
        let to_center = c * sin - t * cos;
        [pole, to_center, pole.cross(to_center)]
    }
}

/// `1 − cos r` without cancellation: the height of a cap.
fn cap_height(r: f64) -> f64 {
    let s = trig::sin_cos(0.5 * r).0;
    2.0 * s * s
}

/// ∫ (1 − cos r(φ)) dφ by the trapezoidal rule, which converges geometrically on a period.
fn ellipse_area(along: f64, across: f64, n: u32) -> f64 {
    let mut sum = 0.0;
    for i in 0..n {
        let (sin, cos) = trig::sin_cos(TAU * f64::from(i) / f64::from(n));
        sum += cap_height(1.0 / trig::hypot(cos / along, sin / across));
    }
    sum * TAU / f64::from(n)
}

/// The direction at angle `r` from the frame's first axis, in azimuth `phi` from its second.
fn at([c, t, n]: &[DVec3; 3], r: f64, phi: f64) -> DVec3 {
    let (sin_r, cos_r) = trig::sin_cos(r);
    let (sin, cos) = trig::sin_cos(phi);
    *c * cos_r + (*t * cos + *n * sin) * sin_r
}

/// Angle from the frame's first axis and azimuth from its second: the inverse of [`at`].
fn polar([c, t, n]: &[DVec3; 3], d: DVec3) -> (f64, f64) {
    let (x, y) = (d.dot(*t), d.dot(*n));
    (trig::atan2(trig::hypot(x, y), d.dot(*c)), trig::atan2(y, x))
}

/// On which of four sides of a loop the share `s` of its length falls, and where on it.
fn locate(s: f64, sides: [f64; 4]) -> (usize, f64) {
    let mut left = s * sides.iter().sum::<f64>();
    for (i, side) in sides.into_iter().enumerate() {
        if left < side {
            return (i, left / side);
        }
        left -= side;
    }
    (3, 1.0)
}

/// The angle from `d` to the great arc from `a` to `b` (shorter than half a turn).
fn arc_distance(d: DVec3, a: DVec3, b: DVec3) -> f64 {
    let ends = angle_between(d, a).radians().min(angle_between(d, b).radians());
    let n = a.cross(b);
    // Beside the arc's inside, the foot of the perpendicular is nearer than both ends.
    if n.cross(a).dot(d) >= 0.0 && b.cross(n).dot(d) >= 0.0 && n.length_squared() > 0.0 {
        let across = n.cross(d);
        let foot = trig::atan2(n.dot(d).abs(), trig::hypot3(across.x, across.y, across.z));
        return ends.min(foot);
    }
    ends
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, reason = "counts")]
pub(super) mod tests {
    use super::*;
    use crate::synth::Rng;

    fn deg(d: f64) -> Angle {
        Angle::from_degrees(d)
    }

    /// Every shape, small and larger than a hemisphere.
    pub(in crate::synth) fn zoo() -> Vec<SwingRegion> {
        let c = DVec3::new(0.3, -0.5, 0.8);
        let t = DVec3::new(1.0, 0.2, 0.1);
        [
            RegionShape::Cone { half_angle: deg(20.0) },
            RegionShape::Cone { half_angle: deg(125.0) },
            RegionShape::Ellipse { along: deg(70.0), across: deg(25.0) },
            RegionShape::Ellipse { along: deg(50.0), across: deg(110.0) },
            RegionShape::Kidney { radius: deg(50.0), extent: deg(150.0), half_width: deg(20.0) },
            RegionShape::Kidney { radius: deg(85.0), extent: deg(270.0), half_width: deg(38.0) },
            RegionShape::Kidney { radius: deg(120.0), extent: deg(90.0), half_width: deg(30.0) },
            RegionShape::Notched { half_angle: deg(60.0), inner: deg(20.0), notch: deg(100.0) },
            RegionShape::Notched { half_angle: deg(110.0), inner: deg(60.0), notch: deg(120.0) },
        ]
        .into_iter()
        .map(|shape| SwingRegion::new(shape, c, t).unwrap())
        .collect()
    }

    #[test]
    fn solid_angles_agree_with_counting_random_directions() {
        let mut rng = Rng::new(11);
        let regions = zoo();
        let n = 1_000_000;
        let mut inside = vec![0_u32; regions.len()];
        for _ in 0..n {
            let d = rng.direction();
            for (count, region) in inside.iter_mut().zip(&regions) {
                *count += u32::from(region.contains(d));
            }
        }
        let mut beyond_hemisphere = 0;
        for (count, region) in inside.iter().zip(&regions) {
            let p = region.solid_angle() / (2.0 * TAU);
            let error = (p * (1.0 - p) / f64::from(n)).sqrt();
            let found = f64::from(*count) / f64::from(n);
            assert!((found - p).abs() < 4.5 * error, "{region:?}: {found} {p}");
            beyond_hemisphere += u32::from(p > 0.5);
        }
        assert_eq!(beyond_hemisphere, 3);
    }

    /// The area to the left of the boundary, by Gauss and Bonnet on its polygon: a second way,
    /// which also pins the sense of the boundary.
    #[test]
    fn solid_angles_agree_with_the_boundary_polygon() {
        for region in zoo() {
            let loop_ = region.boundary(20_000);
            let n = loop_.len();
            let mut turned = 0.0;
            for i in 0..n {
                let (a, b, c) = (loop_[i], loop_[(i + 1) % n], loop_[(i + 2) % n]);
                let (u, v) = (a.cross(b), b.cross(c));
                turned += trig::atan2(u.cross(v).dot(b), u.dot(v));
            }
            let area = (TAU - turned).rem_euclid(2.0 * TAU);
            assert!((area - region.solid_angle()).abs() < 2e-3, "{region:?}: {area}");
        }
    }

    #[test]
    fn the_boundary_parts_inside_from_outside() {
        for region in zoo() {
            let loop_ = region.boundary(720);
            for (i, &b) in loop_.iter().enumerate() {
                let ahead = loop_[(i + 1) % loop_.len()] - b;
                // Corners of a notch have no one side.
                let behind = b - loop_[(i + 719) % 720];
                if angle_between(ahead, behind) > deg(5.0) || ahead.length() < 1e-9 {
                    continue;
                }
                let left = unit(b.cross(ahead)).unwrap();
                assert!(region.contains(b + 2e-3 * left), "{region:?} {i}");
                assert!(!region.contains(b - 2e-3 * left), "{region:?} {i}");
                if i % 16 == 0 {
                    assert!(region.boundary_distance(b + 2e-3 * left).radians() < 2.1e-3);
                }
            }
        }
    }

    #[test]
    fn points_by_number_are_inside_continuous_and_reach_the_boundary() {
        for region in zoo() {
            for k in 0..=10 {
                let u = f64::from(k) / 10.0;
                let mut before = region.point(-1e-4, u);
                for i in 0..10_000 {
                    let d = region.point(f64::from(i) * 1e-4, u);
                    assert!(region.contains(d), "{region:?} {i} {u}");
                    assert!(angle_between(d, before).degrees() < 0.25, "{region:?} {i} {u}");
                    before = d;
                }
            }
            for (i, b) in region.boundary(100).into_iter().enumerate() {
                let d = region.point(i as f64 / 100.0, 1.0);
                assert!(angle_between(b, d).radians() < 1e-8, "{region:?} {i}");
                for k in 0..100 {
                    let (u, next) = (f64::from(k) / 100.0, f64::from(k + 1) / 100.0);
                    let step = angle_between(
                        region.point(i as f64 / 100.0, u),
                        region.point(i as f64 / 100.0, next),
                    );
                    assert!(step.degrees() < 1.6, "{region:?} {step:?}");
                }
            }
        }
    }

    #[test]
    fn the_ellipse_sum_has_converged() {
        for (a, b) in [(1.2, 0.2), (0.3, 1.8), (2.5, 0.6), (0.5, 0.5)] {
            let difference = ellipse_area(a, b, 4096) - ellipse_area(a, b, 2048);
            assert!(difference.abs() < 1e-12, "{a} {b}: {difference:e}");
        }
        // A round ellipse is a cone.
        assert!((ellipse_area(0.5, 0.5, 64) - TAU * cap_height(0.5)).abs() < 1e-14);
    }

    #[test]
    fn the_excess_is_the_way_back_to_the_region() {
        let cone = zoo()[0];
        let out = at(&cone.frame, deg(33.0).radians(), 1.0);
        assert!((cone.excess(out).degrees() - 13.0).abs() < 1e-4);
        assert_eq!(cone.excess(cone.center()), Angle::ZERO);
        let antipode = cone.excess(-cone.center()).degrees();
        assert!((antipode - 160.0).abs() < 1e-4, "{antipode}");
    }

    #[test]
    fn a_mirrored_region_contains_the_mirrored_directions() {
        let mut rng = Rng::new(12);
        for region in zoo() {
            let mirrored = region.mirrored();
            for _ in 0..500 {
                let d = rng.direction();
                let m = DVec3::new(-d.x, d.y, d.z);
                assert_eq!(region.contains(d), mirrored.contains(m));
            }
        }
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let make = |shape| SwingRegion::new(shape, DVec3::X, DVec3::Y);
        assert!(make(RegionShape::Cone { half_angle: deg(180.0) }).is_none());
        assert!(make(RegionShape::Cone { half_angle: deg(f64::NAN) }).is_none());
        let kidney = |r: f64, e: f64, w: f64| RegionShape::Kidney {
            radius: deg(r),
            extent: deg(e),
            half_width: deg(w),
        };
        assert!(make(kidney(50.0, 90.0, 55.0)).is_none());
        assert!(make(kidney(50.0, 300.0, 30.0)).is_none());
        let inside_out =
            RegionShape::Notched { half_angle: deg(20.0), inner: deg(30.0), notch: deg(50.0) };
        assert!(make(inside_out).is_none());
        let cone = RegionShape::Cone { half_angle: deg(20.0) };
        assert!(SwingRegion::new(cone, DVec3::X, DVec3::X).is_none());
        assert!(!make(cone).unwrap().contains(DVec3::ZERO));
    }
}
