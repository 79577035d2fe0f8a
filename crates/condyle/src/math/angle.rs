//! Angles.

use std::f64::consts::{PI, TAU};
use std::ops::{Add, Neg, Sub};

/// A plane angle. Stored in radians; degrees exist only at the edges (files, flags, UI).
///
/// Radians in and out are exact. Degrees are not in general: `from_degrees(n).degrees()` may differ
/// from `n` in the last bit, so compare degrees with a tolerance, or compare radians.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Angle(f64);

impl Angle {
    /// No turn.
    pub const ZERO: Self = Self(0.0);
    /// Half a turn.
    pub const HALF_TURN: Self = Self(PI);

    /// From radians, exactly.
    #[must_use]
    pub const fn from_radians(radians: f64) -> Self {
        Self(radians)
    }

    /// From degrees, rounded.
    #[must_use]
    pub const fn from_degrees(degrees: f64) -> Self {
        Self(degrees.to_radians())
    }

    /// In radians, exactly.
    #[must_use]
    pub const fn radians(self) -> f64 {
        self.0
    }

    /// In degrees, rounded.
    #[must_use]
    pub const fn degrees(self) -> f64 {
        self.0.to_degrees()
    }

    /// The same direction on the circle, in `(-π, π]`.
    ///
    /// An angle already in that range comes back unchanged, bit for bit. Others are moved by a
    /// whole number of turns, which rounds: the error is at most one ulp of the argument.
    /// Infinities and NaN give NaN.
    ///
    /// ```
    /// use condyle::math::Angle;
    /// assert_eq!(Angle::from_radians(-1.5).wrapped(), Angle::from_radians(-1.5));
    /// assert!((Angle::from_degrees(350.0).wrapped().degrees() + 10.0).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn wrapped(self) -> Self {
        Self(wrap(self.0))
    }

    /// The absolute value.
    #[must_use]
    pub const fn abs(self) -> Self {
        Self(self.0.abs())
    }
}

/// Unit of angles that are plain numbers, as in motion files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AngleUnit {
    /// 360 to a turn.
    Degrees,
    /// 2π to a turn.
    Radians,
}

impl AngleUnit {
    /// A source number in radians.
    #[must_use]
    pub fn to_radians(self, value: f64) -> f64 {
        match self {
            Self::Degrees => value.to_radians(),
            Self::Radians => value,
        }
    }

    /// Radians as a source number.
    #[must_use]
    pub fn from_radians(self, radians: f64) -> f64 {
        match self {
            Self::Degrees => radians.to_degrees(),
            Self::Radians => radians,
        }
    }
}

/// `radians` moved by whole turns into `(-π, π]`. See [`Angle::wrapped`].
pub(crate) fn wrap(radians: f64) -> f64 {
    if radians > -PI && radians <= PI {
        return radians;
    }
    // `%` is exact in IEEE arithmetic; the one rounding is that of TAU itself.
    let r = radians % TAU;
    if r > PI {
        r - TAU
    } else if r <= -PI {
        r + TAU
    } else {
        r
    }
}

impl Add for Angle {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Angle {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Neg for Angle {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_wrap(degrees: f64, expected: f64) {
        let got = Angle::from_degrees(degrees).wrapped().degrees();
        assert!((got - expected).abs() < 1e-10, "{degrees} -> {got}, expected {expected}");
    }

    #[test]
    fn wrapping_keeps_the_direction_and_lands_in_the_half_open_range() {
        check_wrap(0.0, 0.0);
        check_wrap(190.0, -170.0);
        check_wrap(-190.0, 170.0);
        check_wrap(1990.0, -170.0);
        check_wrap(-725.0, -5.0);
    }

    #[test]
    fn minus_pi_is_plus_pi() {
        assert_eq!(wrap(-PI), PI);
        assert_eq!(wrap(PI), PI);
    }

    #[test]
    fn non_finite_angles_wrap_to_nan() {
        for x in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(wrap(x).is_nan());
        }
    }
}
