//! Swing–twist coordinates: where the bone points (swing) and how it rolls (twist).

use std::f64::consts::PI;

use glam::{DQuat, DVec3};

use super::rotation::unit;
use super::{Angle, Rotation, trig};

/// The axes a joint's swing and twist are measured in: z along the bone, x and y across.
///
/// Right-handed and orthonormal. `y = bone × x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwingAxes {
    x: DVec3,
    y: DVec3,
    bone: DVec3,
}

impl SwingAxes {
    /// The bone along +z and the swing about x and y, as in the source paper.
    pub const Z: Self = Self { x: DVec3::X, y: DVec3::Y, bone: DVec3::Z };

    /// A given `x` must make at least this sine with the bone: below it fewer than ten digits of
    /// its direction across the bone are left.
    const MIN_SINE: f64 = 1e-6;

    /// From the direction of the bone and, if it matters, a direction for x, which is made
    /// perpendicular to the bone. Lengths do not matter.
    ///
    /// Without `x` it is the coordinate axis after the one nearest to the bone, in the cycle
    /// x → y → z → x: a bone along z has x along x, a bone along x has x along y.
    ///
    /// `None` if a vector is zero or not finite, or if `x` is along the bone (sine below 1e-6).
    ///
    /// ```
    /// use condyle::glam::DVec3;
    /// use condyle::math::SwingAxes;
    /// let axes = SwingAxes::new(DVec3::X, Some(DVec3::Y)).unwrap();
    /// assert_eq!((axes.bone(), axes.x(), axes.y()), (DVec3::X, DVec3::Y, DVec3::Z));
    /// assert_eq!(SwingAxes::new(DVec3::X, None), Some(axes));
    /// assert_eq!(SwingAxes::new(DVec3::X, Some(DVec3::X)), None);
    /// ```
    #[must_use]
    pub fn new(bone: DVec3, x: Option<DVec3>) -> Option<Self> {
        let bone = unit(bone)?;
        let x = match x {
            Some(x) => unit(x)?,
            None => {
                let [bx, by, bz] = bone.abs().to_array();
                if bz >= bx && bz >= by {
                    DVec3::X
                } else if bx >= by {
                    DVec3::Y
                } else {
                    DVec3::Z
                }
            }
        };
        let across = x - bone * x.dot(bone);
        if trig::hypot3(across.x, across.y, across.z) < Self::MIN_SINE {
            return None;
        }
        // Once more: the first difference may leave a part along the bone of one ulp over the sine.
        let across = unit(across)?;
        let x = unit(across - bone * across.dot(bone))?;
        let y = unit(bone.cross(x))?;
        Some(Self { x, y, bone })
    }

    /// Axes that are orthonormal but for rounding, with the bits that they have: what
    /// [`new`](Self::new) gave, from [`bone`](Self::bone) and [`x`](Self::x). `None` for others.
    pub(crate) fn from_orthonormal(bone: DVec3, x: DVec3) -> Option<Self> {
        // Each component is within an ulp, a product of three sums up to some.
        const ROUNDING: f64 = 8.0 * f64::EPSILON;
        let unit_length = |v: DVec3| (v.length_squared() - 1.0).abs() <= ROUNDING;
        if !(unit_length(bone) && unit_length(x) && bone.dot(x).abs() <= ROUNDING) {
            return None;
        }
        Some(Self { x, y: unit(bone.cross(x))?, bone })
    }

    /// The first axis across the bone.
    #[must_use]
    pub const fn x(&self) -> DVec3 {
        self.x
    }

    /// The second axis across the bone, `bone × x`.
    #[must_use]
    pub const fn y(&self) -> DVec3 {
        self.y
    }

    /// The direction of the bone, our z.
    #[must_use]
    pub const fn bone(&self) -> DVec3 {
        self.bone
    }

    /// The components of `v` along x, y and the bone.
    #[must_use]
    pub fn components(&self, v: DVec3) -> DVec3 {
        DVec3::new(v.dot(self.x), v.dot(self.y), v.dot(self.bone))
    }

    /// The vector with these components along x, y and the bone.
    #[must_use]
    pub fn vector(&self, c: DVec3) -> DVec3 {
        self.x * c.x + self.y * c.y + self.bone * c.z
    }

    /// The rotation whose quaternion has these components in our axes; `None` if they are not
    /// finite or all zero.
    pub(crate) fn rotation(&self, x: f64, y: f64, z: f64, w: f64) -> Option<Rotation> {
        let v = self.vector(DVec3::new(x, y, z));
        Rotation::new(DQuat::from_xyzw(v.x, v.y, v.z, w))
    }
}

impl SwingAxes {
    /// [`rotation`](Self::rotation) for components that are those of a unit quaternion but for
    /// rounding, which one step of Newton's method takes away.
    pub(crate) fn near_unit_rotation(&self, x: f64, y: f64, z: f64, w: f64) -> Option<Rotation> {
        let square = x * x + y * y + z * z + w * w;
        if (square - 1.0).abs() > 1e-7 || !square.is_finite() {
            return self.rotation(x, y, z, w);
        }
        let scale = 1.5 - 0.5 * square;
        let v = self.vector(DVec3::new(x, y, z)) * scale;
        Some(Rotation::from_unit(DQuat::from_xyzw(v.x, v.y, v.z, w * scale)))
    }
}

impl Default for SwingAxes {
    fn default() -> Self {
        Self::Z
    }
}

/// A rotation about an axis across the bone, as the components of its rotation vector.
///
/// Its direction is the axis and its length the angle, in `[0, π]` after
/// [`SwingTwist::from_rotation`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Swing {
    /// About [`SwingAxes::x`].
    pub x: Angle,
    /// About [`SwingAxes::y`].
    pub y: Angle,
}

impl Swing {
    /// No swing: the bone stays.
    pub const ZERO: Self = Self::from_radians(0.0, 0.0);

    /// From the components of the rotation vector, in radians.
    #[must_use]
    pub const fn from_radians(x: f64, y: f64) -> Self {
        Self { x: Angle::from_radians(x), y: Angle::from_radians(y) }
    }

    /// How far the bone moves, in `[0, π]` for a swing of at most half a turn.
    #[must_use]
    pub fn angle(self) -> Angle {
        Angle::from_radians(trig::hypot(self.x.radians(), self.y.radians()))
    }

    /// The swing as a rotation; `None` if it is not finite.
    #[must_use]
    pub fn to_rotation(self, axes: &SwingAxes) -> Option<Rotation> {
        SwingTwist { swing: self, twist: Angle::ZERO }.to_rotation(axes)
    }
}

/// A rotation split as `swing * twist`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SwingTwist {
    /// Where the bone points.
    pub swing: Swing,
    /// How it rolls: about the bone, in `[-π, π]`; the two ends are the same twist.
    pub twist: Angle,
}

impl SwingTwist {
    /// Splits a rotation into swing and twist.
    ///
    /// # Source
    ///
    /// P. Baerlocher, R. Boulic, "Parametrization and range of motion of the ball-and-socket
    /// joint" (2001), Appendix I. With (x, y, z) the quaternion's vector part in the swing axes, β
    /// half the swing angle and γ half the twist:
    ///
    /// ```text
    ///   γ = atan2(z, w)                            twist = 2γ
    ///   β = atan2(√(x² + y²), √(z² + w²))
    ///   (Sx, Sy) = 2β/sin β · ( cos γ x − sin γ y,  sin γ x + cos γ y )
    /// ```
    ///
    /// # Convention
    ///
    /// `rotation = swing * twist`, active, right-handed: the twist acts first, about the bone at
    /// rest, so `rotation · bone = swing · bone` whatever the twist. The running text of the paper
    /// writes the factors in the order of row vectors; its appendix is as here.
    ///
    /// # Domain and singularity
    ///
    /// Total, and `q` and `-q` give the same bits. The paper's twist is in `[-2π, 2π]`; ours has
    /// γ ∈ [−π/2, π/2] because the hemisphere w ≥ 0 is taken first.
    ///
    /// At swing = π (`z = w = 0`) the bone points backwards and every twist fits: we return twist 0
    /// and the swing with `Sx > 0`, or `Sx = 0, Sy > 0`. Near it the twist is ill-conditioned: an
    /// error ε in the quaternion moves it by about `2ε / cos β`, see
    /// [`SwingKind::distance_to_singularity`](super::SwingKind::distance_to_singularity). Whoever
    /// fits twist limits drops such samples.
    ///
    /// # Example
    ///
    /// ```
    /// use condyle::glam::DVec3;
    /// use condyle::math::{Angle, Rotation, SwingAxes, SwingTwist};
    /// // An arm along x that is raised about y after rolling about itself.
    /// let axes = SwingAxes::new(DVec3::X, Some(DVec3::Y)).unwrap();
    /// let roll = Rotation::about_x(Angle::from_degrees(30.0));
    /// let raise = Rotation::about_y(Angle::from_degrees(-80.0));
    /// let split = SwingTwist::from_rotation(raise * roll, &axes);
    /// assert!((split.twist.degrees() - 30.0).abs() < 1e-13);
    /// assert!((split.swing.x.degrees() + 80.0).abs() < 1e-13);
    /// ```
    #[must_use]
    pub fn from_rotation(rotation: Rotation, axes: &SwingAxes) -> Self {
        let q = rotation.canonical().quat();
        let w = q.w;
        let DVec3 { x, y, z } = axes.components(DVec3::new(q.x, q.y, q.z));

        let sin_beta = trig::length(x, y);
        let cos_beta = trig::length(z, w);
        if cos_beta == 0.0 {
            let half_turn = if x < 0.0 || (x == 0.0 && y < 0.0) { -PI } else { PI };
            let swing = Swing::from_radians(half_turn * x / sin_beta, half_turn * y / sin_beta);
            return Self { swing, twist: Angle::ZERO };
        }

        let twist = 2.0 * trig::atan2(z, w);
        // 2β/sin β → 2 as β → 0, and the quotient is accurate down to the smallest sin β.
        let twice_beta = 2.0 * trig::atan2(sin_beta, cos_beta);
        let product = sin_beta * cos_beta;
        let swing = if product >= trig::ORDINARY_MIN {
            // With (sin γ, cos γ) = (z, w)/cos β put in, one division does for all.
            let scale = twice_beta / product;
            Swing::from_radians(scale * (w * x - z * y), scale * (z * x + w * y))
        } else {
            let (sin_gamma, cos_gamma) = (z / cos_beta, w / cos_beta);
            let scale = if sin_beta == 0.0 { 2.0 } else { twice_beta / sin_beta };
            Swing::from_radians(
                scale * (cos_gamma * x - sin_gamma * y),
                scale * (sin_gamma * x + cos_gamma * y),
            )
        };
        Self { swing, twist: Angle::from_radians(twist) }
    }

    /// The rotation with these coordinates: the inverse of [`SwingTwist::from_rotation`].
    ///
    /// Defined for every finite swing and twist, also beyond half a turn; `None` otherwise.
    ///
    /// ```text
    ///   (sin β Ŝ, cos β) · (sin γ ẑ, cos γ),   β = |S|/2,  γ = twist/2
    /// ```
    #[must_use]
    pub fn to_rotation(self, axes: &SwingAxes) -> Option<Rotation> {
        let (sx, sy) = (self.swing.x.radians(), self.swing.y.radians());
        let twist = self.twist.radians();
        if !(sx.is_finite() && sy.is_finite() && twist.is_finite()) {
            return None;
        }
        // Halved first, so that no finite swing overflows.
        let (hx, hy) = (0.5 * sx, 0.5 * sy);
        let beta = trig::hypot(hx, hy);
        let (sin_beta, cos_beta) = trig::sin_cos(beta);
        let (sin_gamma, cos_gamma) = trig::sin_cos(0.5 * twist);
        // sin β / β → 1.
        let k = if beta == 0.0 { 1.0 } else { sin_beta / beta };
        let (x, y) = (k * hx, k * hy);
        axes.rotation(
            cos_gamma * x + sin_gamma * y,
            cos_gamma * y - sin_gamma * x,
            cos_beta * sin_gamma,
            cos_beta * cos_gamma,
        )
    }
}

/// A rotation split as `swing * twist`, as the two quaternions: no angle, no trigonometry.
///
/// Enough to know where the bone points and to compare with limits given as sines and cosines. In
/// the [`SwingAxes`] the swing is `(x, y, 0, w)` and the twist `(0, 0, z, w)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwingTwistHalves {
    /// sin β times the swing's axis, component along [`SwingAxes::x`]; β is half the swing angle.
    pub swing_x: f64,
    /// The same along [`SwingAxes::y`].
    pub swing_y: f64,
    /// cos β, not negative.
    pub swing_w: f64,
    /// The sine of half the twist.
    pub twist_z: f64,
    /// The cosine of half the twist, not negative.
    pub twist_w: f64,
}

impl SwingTwistHalves {
    /// Splits a rotation. Source, convention and the choice at the half-turn are those of
    /// [`SwingTwist::from_rotation`]; the bone then points along `(2 w y, −2 w x, 2 w² − 1)` of the
    /// swing axes, with (x, y, w) the swing.
    ///
    /// ```
    /// use condyle::math::{Angle, Rotation, SwingAxes, SwingTwistHalves};
    /// let raise = Rotation::about_x(Angle::from_degrees(60.0));
    /// let roll = Rotation::about_z(Angle::from_degrees(90.0));
    /// let halves = SwingTwistHalves::from_rotation(raise * roll, &SwingAxes::Z);
    /// assert!((halves.swing_x - 0.5).abs() < 1e-15 && halves.swing_y.abs() < 1e-15);
    /// assert!((halves.twist_z - 0.5_f64.sqrt()).abs() < 1e-15);
    /// ```
    #[must_use]
    pub fn from_rotation(rotation: Rotation, axes: &SwingAxes) -> Self {
        let q = rotation.canonical().quat();
        let w = q.w;
        let DVec3 { x, y, z } = axes.components(DVec3::new(q.x, q.y, q.z));

        let cos_beta = trig::length(z, w);
        if cos_beta == 0.0 {
            let (x, y) = if x < 0.0 || (x == 0.0 && y < 0.0) { (-x, -y) } else { (x, y) };
            return Self { swing_x: x, swing_y: y, swing_w: 0.0, twist_z: 0.0, twist_w: 1.0 };
        }
        let (sin_gamma, cos_gamma) = (z / cos_beta, w / cos_beta);
        Self {
            swing_x: cos_gamma * x - sin_gamma * y,
            swing_y: sin_gamma * x + cos_gamma * y,
            swing_w: cos_beta,
            twist_z: sin_gamma,
            twist_w: cos_gamma,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;
    use crate::math::arbitrary;

    /// Radians. Measured worst 1.6e-15 over 5·10⁶ rotations and axes, most of them singular or nearly
    /// so; the second test below turns up to three times and is allowed five times that.
    const ROUND_TRIP: f64 = 8e-15;

    fn radians(angle: f64) -> Angle {
        Angle::from_radians(angle)
    }

    fn axes(u: &mut ::arbitrary::Unstructured<'_>) -> ::arbitrary::Result<SwingAxes> {
        if u.arbitrary()? {
            return Ok(SwingAxes::Z);
        }
        let x = if u.arbitrary()? { Some(arbitrary::direction(u)?) } else { None };
        SwingAxes::new(arbitrary::direction(u)?, x).ok_or(::arbitrary::Error::IncorrectFormat)
    }

    #[track_caller]
    fn check(q: DQuat, expected_swing: (f64, f64), expected_twist: f64) {
        let got = SwingTwist::from_rotation(Rotation::new(q).unwrap(), &SwingAxes::Z);
        let error = (got.swing.x.radians() - expected_swing.0)
            .abs()
            .max((got.swing.y.radians() - expected_swing.1).abs())
            .max((got.twist.radians() - expected_twist).abs());
        assert!(error < 1e-15, "{q}: got {got:?}");
    }

    #[test]
    fn b2_the_identity_is_the_origin() {
        check(DQuat::IDENTITY, (0.0, 0.0), 0.0);
        check(-DQuat::IDENTITY, (0.0, 0.0), 0.0);
    }

    #[test]
    fn b2_pure_rotations_land_on_their_axis() {
        check(Rotation::about_x(radians(0.3)).quat(), (0.3, 0.0), 0.0);
        check(Rotation::about_y(radians(-0.7)).quat(), (0.0, -0.7), 0.0);
        check(Rotation::about_z(radians(2.0)).quat(), (0.0, 0.0), 2.0);
        check(DQuat::from_xyzw(0.0, 0.0, -1.0, 0.0), (0.0, 0.0), PI);
        // A twist of 3.5 is 3.5 − 2π: the paper's ±2π is wrapped.
        check(Rotation::about_z(radians(3.5)).quat(), (0.0, 0.0), 3.5 - 2.0 * PI);
    }

    #[test]
    fn b2_twist_acts_before_swing() {
        let (swing, twist) =
            (Rotation::about_x(radians(1.0)), Rotation::about_z(radians(FRAC_PI_2)));
        check((swing * twist).quat(), (1.0, 0.0), FRAC_PI_2);
        // The other order turns the swing axis with the bone: this pins the convention.
        check((twist * swing).quat(), (0.0, 1.0), FRAC_PI_2);
    }

    #[test]
    fn b2_a_half_turn_swing_has_twist_zero_and_one_sign() {
        for zero in [0.0, -0.0] {
            check(DQuat::from_xyzw(1.0, 0.0, zero, zero), (PI, 0.0), 0.0);
            check(DQuat::from_xyzw(-1.0, 0.0, zero, zero), (PI, 0.0), 0.0);
            check(DQuat::from_xyzw(0.0, -1.0, zero, -zero), (0.0, PI), 0.0);
            check(DQuat::from_xyzw(-0.6, 0.8, zero, zero), (0.6 * PI, -0.8 * PI), 0.0);
        }
    }

    #[test]
    fn b2_the_sign_of_a_half_turn_is_that_of_the_swing_axes() {
        // x and y of these axes are −y and x of the quaternion.
        let axes = SwingAxes::new(DVec3::Z, Some(DVec3::NEG_Y)).unwrap();
        for (q, swing) in [([0.0, 1.0], [PI, 0.0]), ([-1.0, 0.0], [0.0, PI])] {
            let r = Rotation::new(DQuat::from_xyzw(q[0], q[1], 0.0, 0.0)).unwrap();
            let got = SwingTwist::from_rotation(r, &axes).swing;
            assert_eq!([got.x.radians(), got.y.radians()], swing);
        }
    }

    #[test]
    fn the_smallest_swing_and_twist_survive() {
        let split = |x, z| {
            let q = DQuat::from_xyzw(x, 0.0, z, 1.0);
            SwingTwist::from_rotation(Rotation::new(q).unwrap(), &SwingAxes::Z)
        };
        assert_eq!(split(1e-300, 0.0).swing, Swing::from_radians(2e-300, 0.0));
        assert_eq!(split(0.0, 1e-300).twist, radians(2e-300));
    }

    #[test]
    fn prop_b2_rotations_round_trip_for_any_bone_axis() {
        arbtest::arbtest(|u| {
            let (rotation, axes) = (arbitrary::rotation(u)?, axes(u)?);
            let split = SwingTwist::from_rotation(rotation, &axes);
            let back = split.to_rotation(&axes).unwrap();
            let error = back.distance(rotation).radians();
            assert!(error < ROUND_TRIP, "{rotation:?} {axes:?}: {error:e} rad");
            assert!(split.swing.angle().radians() <= PI * (1.0 + 1e-15), "{split:?}");
            assert!(split.twist.radians().abs() <= PI, "{split:?}");
            Ok(())
        });
    }

    /// The independent route: two rotations made from axis and angle and multiplied.
    #[test]
    fn prop_b2_coordinates_are_the_product_swing_times_twist() {
        arbtest::arbtest(|u| {
            let axes = axes(u)?;
            let [sx, sy, t] = [arbitrary::angle(u)?, arbitrary::angle(u)?, arbitrary::angle(u)?]
                .map(Angle::radians);
            let got = SwingTwist { swing: Swing::from_radians(sx, sy), twist: radians(t) }
                .to_rotation(&axes)
                .unwrap();
            let swing = Rotation::exp(axes.x() * sx + axes.y() * sy).unwrap();
            let twist = Rotation::from_axis_angle(axes.bone(), radians(t)).unwrap();
            // Swings up to three turns: their rounding is 8 times that of half a turn.
            let error = got.distance(swing * twist).radians();
            assert!(error < ROUND_TRIP, "{axes:?} {sx} {sy} {t}: {error:e}");
            Ok(())
        });
    }

    #[test]
    fn prop_b2_antipodes_agree_bit_for_bit() {
        arbtest::arbtest(|u| {
            let (q, axes) = (arbitrary::quat(u)?, axes(u)?);
            let (Some(plus), Some(minus)) = (Rotation::new(q), Rotation::new(-q)) else {
                return Ok(());
            };
            let bits = |r| {
                let s = SwingTwist::from_rotation(r, &axes);
                [s.swing.x, s.swing.y, s.twist].map(|a| a.radians().to_bits())
            };
            assert_eq!(bits(plus), bits(minus));
            Ok(())
        });
    }

    #[test]
    fn prop_b2_the_bone_direction_ignores_twist() {
        arbtest::arbtest(|u| {
            let (rotation, axes) = (arbitrary::rotation(u)?, axes(u)?);
            let swing =
                SwingTwist::from_rotation(rotation, &axes).swing.to_rotation(&axes).unwrap();
            let gap = (swing * axes.bone() - rotation * axes.bone()).length();
            assert!(gap < ROUND_TRIP, "{rotation:?} {axes:?}: {gap:e}");
            Ok(())
        });
    }

    #[test]
    fn prop_axes_are_orthonormal_and_right_handed() {
        arbtest::arbtest(|u| {
            let axes = axes(u)?;
            let (x, y, z) = (axes.x(), axes.y(), axes.bone());
            for dot in [x.dot(y), y.dot(z), z.dot(x), x.dot(x) - 1.0, y.dot(y) - 1.0] {
                assert!(dot.abs() < 1e-15, "{axes:?}");
            }
            assert!((x.cross(y) - z).length() < 1e-15, "{axes:?}");
            Ok(())
        });
    }

    #[test]
    fn default_x_follows_the_bone_in_the_cycle() {
        for (bone, x) in [(DVec3::Z, DVec3::X), (DVec3::NEG_X, DVec3::Y), (DVec3::Y, DVec3::Z)] {
            assert_eq!(SwingAxes::new(bone * 7.0, None).unwrap().x(), x);
        }
        assert_eq!(SwingAxes::new(DVec3::Z, None), Some(SwingAxes::Z));
    }

    #[test]
    fn bad_axes_and_angles_are_refused() {
        for bad in [DVec3::ZERO, DVec3::NAN, DVec3::INFINITY] {
            assert!(SwingAxes::new(bad, None).is_none());
            assert!(SwingAxes::new(DVec3::X, Some(bad)).is_none());
        }
        assert!(SwingAxes::new(DVec3::X, Some(DVec3::new(-1.0, 1e-7, 0.0))).is_none());
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(Swing::from_radians(bad, 0.0).to_rotation(&SwingAxes::Z).is_none());
            let split = SwingTwist { swing: Swing::ZERO, twist: radians(bad) };
            assert!(split.to_rotation(&SwingAxes::Z).is_none());
        }
        let huge = Swing::from_radians(f64::MAX, f64::MAX).to_rotation(&SwingAxes::Z);
        assert!(huge.unwrap().quat().is_finite());
    }
}
