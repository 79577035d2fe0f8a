//! Three ways to give a bone's direction two coordinates and a zero twist.

use std::f64::consts::PI;

use glam::DVec3;

use super::rotation::unit;
use super::{Angle, Rotation, SwingAxes, trig};

/// How a direction of the bone is written as two angles, and which rotation stands for it.
///
/// # Source
///
/// P. Baerlocher, R. Boulic, "Parametrization and range of motion of the ball-and-socket joint"
/// (2001), sections 2.3–2.5; the third is J. U. Korein's ("A geometric investigation of reach",
/// 1985) as described there. With `d` the direction in [`SwingAxes`] (x, y, z = bone):
///
/// | kind | coordinates | rotation | singular at |
/// | --- | --- | --- | --- |
/// | axis-angle | `(Sx, Sy)`, the rotation vector | direct | −z |
/// | Euler | `(α, β)` | `R_x(α) · R_y(β)` | ±x, where β = ±π/2 |
/// | halfplane–deviation | `(h, δ)`, longitude and angle from z | direct | z and −z |
///
/// # Convention
///
/// Column vectors. The paper prints the Euler swing as `R_y(β) R_x(α)`, in the order of row
/// vectors: only with `R_x(α) · R_y(β)` are its singularities where it says.
///
/// # Domain and singularity
///
/// At a singular direction the coordinate that is free is 0 (for the axis-angle: the half-turn is
/// about x). At z, halfplane–deviation is singular in its coordinates only; its rotation, the
/// identity, is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SwingKind {
    /// The rotation vector of the direct rotation: the components of [`super::Swing`].
    AxisAngle,
    /// A turn about the moved y, then about x: the first two angles of a universal joint.
    Euler,
    /// Longitude about the bone, counted from x towards y, and angle from the bone.
    HalfplaneDeviation,
}

impl SwingKind {
    /// All three.
    pub const ALL: [Self; 3] = [Self::AxisAngle, Self::Euler, Self::HalfplaneDeviation];

    /// The two coordinates of a direction; `None` if it is zero or not finite.
    ///
    /// ```text
    ///   axis-angle            (Sx, Sy) = θ/sin θ · (−d_y, d_x),   θ = atan2(|(d_x, d_y)|, d_z)
    ///   Euler                 α = atan2(−d_y, d_z),   β = atan2(d_x, |(d_y, d_z)|)
    ///   halfplane–deviation   h = atan2(d_y, d_x),   δ = θ
    /// ```
    ///
    /// ```
    /// use condyle::glam::DVec3;
    /// use condyle::math::{SwingAxes, SwingKind};
    /// let [x, y] = SwingKind::AxisAngle.coordinates(&SwingAxes::Z, DVec3::X).unwrap();
    /// assert!(x.degrees() == 0.0 && (y.degrees() - 90.0).abs() < 1e-13);
    /// ```
    #[must_use]
    pub fn coordinates(self, axes: &SwingAxes, direction: DVec3) -> Option<[Angle; 2]> {
        let d = axes.components(unit(direction)?);
        // Adding zero turns −0 into +0, so that atan2 never answers −π for a plain 0.
        let (dx, dy, dz) = (d.x + 0.0, d.y + 0.0, d.z + 0.0);
        let across = trig::hypot(dx, dy);
        let theta = trig::atan2(across, dz);
        let pair = match self {
            Self::AxisAngle if across == 0.0 => [theta, 0.0],
            Self::AxisAngle => [-dy * (theta / across), dx * (theta / across)],
            Self::Euler if dy == 0.0 && dz == 0.0 => [0.0, trig::atan2(dx, 0.0)],
            Self::Euler => [trig::atan2(0.0 - dy, dz), trig::atan2(dx, trig::hypot(dy, dz))],
            Self::HalfplaneDeviation if across == 0.0 => [0.0, theta],
            Self::HalfplaneDeviation => [trig::atan2(dy, dx), theta],
        };
        Some(pair.map(|a| Angle::from_radians(a + 0.0)))
    }

    /// The direction with these coordinates, a unit vector; `None` if they are not finite.
    #[must_use]
    pub fn direction(self, axes: &SwingAxes, coordinates: [Angle; 2]) -> Option<DVec3> {
        Some(self.rotation(axes, coordinates)? * axes.bone())
    }

    /// The rotation of the bone with these coordinates and twist zero; `None` if they are not
    /// finite.
    ///
    /// ```text
    ///   axis-angle            exp(Sx x + Sy y)
    ///   Euler                 R_x(α) · R_y(β)
    ///   halfplane–deviation   R_z(h) · R_y(δ) · R_z(−h)
    /// ```
    #[must_use]
    pub fn rotation(self, axes: &SwingAxes, coordinates: [Angle; 2]) -> Option<Rotation> {
        let [a, b] = coordinates.map(Angle::radians);
        if !(a.is_finite() && b.is_finite()) {
            return None;
        }
        match self {
            Self::AxisAngle => super::Swing::from_radians(a, b).to_rotation(axes),
            Self::Euler => {
                let (sin_a, cos_a) = trig::sin_cos(0.5 * a);
                let (sin_b, cos_b) = trig::sin_cos(0.5 * b);
                axes.rotation(sin_a * cos_b, cos_a * sin_b, sin_a * sin_b, cos_a * cos_b)
            }
            Self::HalfplaneDeviation => {
                let (sin_h, cos_h) = trig::sin_cos(a);
                let (sin_d, cos_d) = trig::sin_cos(0.5 * b);
                axes.rotation(-sin_h * sin_d, cos_h * sin_d, 0.0, cos_d)
            }
        }
    }

    /// The angle from a direction to the nearest one where the coordinates are singular; `None` if
    /// the direction is zero or not finite.
    ///
    /// In `[0, π]` for the axis-angle, in `[0, π/2]` for the others. Accurate near zero.
    #[must_use]
    pub fn distance_to_singularity(self, axes: &SwingAxes, direction: DVec3) -> Option<Angle> {
        let d = axes.components(unit(direction)?);
        Some(Angle::from_radians(match self {
            Self::AxisAngle => trig::atan2(trig::hypot(d.x, d.y), -d.z),
            Self::Euler => trig::atan2(trig::hypot(d.y, d.z), d.x.abs()),
            Self::HalfplaneDeviation => trig::atan2(trig::hypot(d.x, d.y), d.z.abs()),
        }))
    }

    /// The twist of this kind's zero relative to the direct swing: τ in
    /// `rotation = direct · R_bone(τ)`; `None` if the direction is zero or not finite.
    ///
    /// # Source
    ///
    /// Baerlocher and Boulic (2001), sections 2.3 and 2.6. Zero for the kinds whose rotation is the
    /// direct one. For the Euler swing, appendix I applied to
    /// `R_x(α) R_y(β) = (sin α/2 cos β/2, cos α/2 sin β/2, sin α/2 sin β/2, cos α/2 cos β/2)`:
    ///
    /// ```text
    ///   τ = 2 atan2( sin α/2 sin β/2,  cos α/2 cos β/2 )
    /// ```
    ///
    /// # Domain and singularity
    ///
    /// In `[-π, π]`. Around the Euler singularities ±x it runs through a full turn, around −z,
    /// where the direct swing it is compared with is singular, through two.
    ///
    /// ```
    /// use condyle::glam::DVec3;
    /// use condyle::math::{SwingAxes, SwingKind};
    /// let d = DVec3::new(1.0, -1.0, 1.0);
    /// let twist = SwingKind::Euler.induced_twist(&SwingAxes::Z, d).unwrap();
    /// assert!((twist.degrees() - 15.0).abs() < 1e-13);
    /// ```
    #[must_use]
    pub fn induced_twist(self, axes: &SwingAxes, direction: DVec3) -> Option<Angle> {
        let [a, b] = self.coordinates(axes, direction)?.map(Angle::radians);
        if self != Self::Euler {
            return Some(Angle::ZERO);
        }
        let (sin_a, cos_a) = trig::sin_cos(0.5 * a);
        let (sin_b, cos_b) = trig::sin_cos(0.5 * b);
        let tau = 2.0 * trig::atan2(sin_a * sin_b, cos_a * cos_b);
        Some(Angle::from_radians(tau.clamp(-PI, PI)))
    }

    /// Where the x axis goes when the bone is brought to a direction with twist zero; `None` if the
    /// direction is zero or not finite.
    ///
    /// Sampled over the sphere this is the field of arrows in table 1 of Baerlocher and Boulic.
    #[must_use]
    pub fn zero_twist(self, axes: &SwingAxes, direction: DVec3) -> Option<DVec3> {
        Some(self.rotation(axes, self.coordinates(axes, direction)?)? * axes.x())
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, TAU};

    use super::*;
    use crate::math::angle::wrap;
    use crate::math::{Swing, SwingTwist, arbitrary, direct_rotation};

    const Z: &SwingAxes = &SwingAxes::Z;

    /// Length. Measured worst 1.8e-15 over 9·10⁶ directions, most of them singular or nearly so; 2×
    /// headroom.
    const ROUND_TRIP: f64 = 4e-15;

    fn axes(u: &mut ::arbitrary::Unstructured<'_>) -> ::arbitrary::Result<SwingAxes> {
        SwingAxes::new(arbitrary::direction(u)?, None).ok_or(::arbitrary::Error::IncorrectFormat)
    }

    #[test]
    fn prop_b3_directions_round_trip_in_every_kind() {
        arbtest::arbtest(|u| {
            let (d, axes) = (arbitrary::direction(u)?, axes(u)?);
            for kind in SwingKind::ALL {
                let back = kind.direction(&axes, kind.coordinates(&axes, d).unwrap()).unwrap();
                let gap = (back - d).length();
                assert!(gap < ROUND_TRIP, "{kind:?} {d} {axes:?}: {gap:e}");
            }
            Ok(())
        });
    }

    #[test]
    fn b3_the_euler_swing_is_x_times_y_with_column_vectors() {
        let (alpha, beta) = (Angle::from_radians(0.4), Angle::from_radians(1.1));
        let expected = Rotation::about_x(alpha) * Rotation::about_y(beta);
        let got = SwingKind::Euler.rotation(Z, [alpha, beta]).unwrap();
        assert!(got.distance(expected).radians() < 1e-15);
    }

    #[test]
    fn b3_singular_directions_are_those_of_the_paper() {
        let distance = |kind: SwingKind, d| kind.distance_to_singularity(Z, d).unwrap().radians();
        assert_eq!(distance(SwingKind::AxisAngle, DVec3::NEG_Z), 0.0);
        assert_eq!(distance(SwingKind::AxisAngle, DVec3::Z), PI);
        for (kind, axis) in
            [(SwingKind::Euler, DVec3::X), (SwingKind::HalfplaneDeviation, DVec3::Z)]
        {
            for d in [axis, -axis] {
                assert_eq!(distance(kind, d), 0.0);
                let beside = d + DVec3::Y * 1e-12;
                assert!((distance(kind, beside) - 1e-12).abs() < 1e-27);
            }
            assert_eq!(distance(kind, DVec3::Y), FRAC_PI_2);
        }
        // At the Euler singularity β is ±π/2 and α does not matter: the bone stays along ±x.
        for sign in [1.0, -1.0] {
            let [alpha, beta] = SwingKind::Euler.coordinates(Z, DVec3::X * sign).unwrap();
            assert_eq!((alpha.radians(), beta.radians()), (0.0, sign * FRAC_PI_2));
            for alpha in [0.0, 1.0, -2.0] {
                let d = SwingKind::Euler.direction(Z, [Angle::from_radians(alpha), beta]).unwrap();
                assert!((d - DVec3::X * sign).length() < 1e-15);
            }
        }
    }

    #[test]
    fn b3_backwards_every_kind_makes_a_choice() {
        let back = DVec3::new(-0.0, -0.0, -1.0);
        for (kind, expected) in [
            (SwingKind::AxisAngle, [PI, 0.0]),
            (SwingKind::Euler, [PI, 0.0]),
            (SwingKind::HalfplaneDeviation, [0.0, PI]),
        ] {
            assert_eq!(kind.coordinates(Z, back).unwrap().map(Angle::radians), expected);
        }
    }

    /// B3 and B2 agree: axis-angle coordinates are the swing of the decomposition.
    #[test]
    fn prop_b3_axis_angle_and_halfplane_are_the_direct_swing() {
        arbtest::arbtest(|u| {
            let (d, axes) = (arbitrary::direction(u)?, axes(u)?);
            let direct = direct_rotation(axes.bone(), d).unwrap();
            // Near the antipode the axis of the direct rotation is noise over the distance.
            let half_cosine = (0.5 * (1.0 + axes.bone().dot(d)).max(0.0)).sqrt();
            if direct.opposite || half_cosine < 1e-6 {
                return Ok(());
            }
            let amplification = 1.0 / half_cosine;
            for kind in [SwingKind::AxisAngle, SwingKind::HalfplaneDeviation] {
                let got = kind.rotation(&axes, kind.coordinates(&axes, d).unwrap()).unwrap();
                let error = got.distance(direct.rotation).radians();
                assert!(error < ROUND_TRIP * amplification, "{kind:?} {d}: {error:e}");
            }
            let [x, y] = SwingKind::AxisAngle.coordinates(&axes, d).unwrap();
            let swing = SwingTwist::from_rotation(direct.rotation, &axes).swing;
            let error = (Swing { x: swing.x - x, y: swing.y - y }).angle().radians();
            assert!(error < ROUND_TRIP * amplification, "{d}: {error:e}");
            Ok(())
        });
    }

    /// The independent route: the twist of the rotation by the decomposition B2.
    #[test]
    fn prop_b3_induced_twist_is_that_of_the_decomposition() {
        arbtest::arbtest(|u| {
            let (d, axes) = (arbitrary::direction(u)?, axes(u)?);
            if axes.bone().dot(d) < -0.999 {
                return Ok(());
            }
            for kind in SwingKind::ALL {
                let rotation = kind.rotation(&axes, kind.coordinates(&axes, d).unwrap()).unwrap();
                let expected = SwingTwist::from_rotation(rotation, &axes).twist.radians();
                let got = kind.induced_twist(&axes, d).unwrap().radians();
                let error = wrap(got - expected).abs();
                assert!(error < 1e-13, "{kind:?} {d}: {got} {expected}");
            }
            Ok(())
        });
    }

    /// B3, sections 2.4 and 2.5: once around a singularity the zero twist turns once (Euler) or
    /// twice (axis-angle) about the bone.
    #[test]
    fn b3_around_a_singularity_the_zero_twist_turns_once_or_twice() {
        let turns = |kind: SwingKind, centre: DVec3, side: DVec3, up: DVec3| {
            let mut total = 0.0;
            let mut last: Option<DVec3> = None;
            for i in 0..=720 {
                let (s, c) = trig::sin_cos(f64::from(i) * TAU / 720.0);
                let d = (centre + (side * c + up * s) * 1e-3).normalize();
                let arrow = kind.zero_twist(Z, d).unwrap();
                assert!(arrow.dot(d).abs() < 1e-14);
                if let Some(last) = last {
                    total += trig::atan2(last.cross(arrow).dot(d), last.dot(arrow));
                }
                last = Some(arrow);
            }
            total / TAU
        };
        for x in [DVec3::X, DVec3::NEG_X] {
            let once = turns(SwingKind::Euler, x, DVec3::Y, DVec3::Z);
            assert!((once.abs() - 1.0).abs() < 1e-4, "{once}");
        }
        let twice = turns(SwingKind::AxisAngle, DVec3::NEG_Z, DVec3::X, DVec3::Y);
        assert!((twice.abs() - 2.0).abs() < 1e-4, "{twice}");
        let none = turns(SwingKind::AxisAngle, DVec3::X, DVec3::Y, DVec3::Z);
        assert!(none.abs() < 1e-4, "{none}");
    }

    /// B3, table 1: the arrow at the rest direction is x, and a quarter swing about x leaves it.
    #[test]
    fn b3_the_zero_twist_arrow_is_the_image_of_x() {
        for kind in SwingKind::ALL {
            for d in [DVec3::Z, DVec3::Y, DVec3::NEG_Y] {
                let arrow = kind.zero_twist(Z, d).unwrap();
                assert!((arrow - DVec3::X).length() < 1e-15, "{kind:?} {d} {arrow}");
            }
        }
    }

    #[test]
    fn zero_and_non_finite_input_is_refused() {
        for kind in SwingKind::ALL {
            for bad in [DVec3::ZERO, DVec3::NAN, DVec3::INFINITY] {
                assert!(kind.coordinates(Z, bad).is_none());
                assert!(kind.distance_to_singularity(Z, bad).is_none());
                assert!(kind.induced_twist(Z, bad).is_none());
                assert!(kind.zero_twist(Z, bad).is_none());
            }
            for bad in [f64::NAN, f64::INFINITY] {
                assert!(kind.direction(Z, [Angle::ZERO, Angle::from_radians(bad)]).is_none());
            }
        }
    }
}
