//! Rotations with translations, and how they change with the dials.

use std::ops::Mul;

use glam::DVec3;

use crate::math::Rotation;

/// `x ↦ rotation · x + translation_m`. `a * b` means "first `b`, then `a`".
#[derive(Clone, Copy, Debug)]
pub struct Transform {
    /// About the origin.
    pub rotation: Rotation,
    /// Then by this, in metres.
    pub translation_m: DVec3,
}

impl Transform {
    /// What leaves everything where it is.
    pub const IDENTITY: Self = Self { rotation: Rotation::IDENTITY, translation_m: DVec3::ZERO };

    /// A rotation about the origin.
    #[must_use]
    pub const fn from_rotation(rotation: Rotation) -> Self {
        Self { rotation, translation_m: DVec3::ZERO }
    }

    /// Where a point goes.
    #[must_use]
    pub fn apply(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation_m
    }

    /// What takes everything back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.inverse();
        Self { rotation, translation_m: -(rotation * self.translation_m) }
    }
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Mul for Transform {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self {
            rotation: self.rotation * other.rotation,
            translation_m: self.apply(other.translation_m),
        }
    }
}

/// How a [`Transform`] changes with a dial: by a small step δ of it the rotation becomes
/// `exp(δ turn) · rotation`, and the translation grows by `δ shift_m`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// The axis that it turns about, times how fast: radians per unit of the dial.
    pub turn: DVec3,
    /// Metres per unit of the dial.
    pub shift_m: DVec3,
}

impl Rate {
    /// How fast `b` makes `a * b` change.
    pub(super) fn after(self, a: &Transform) -> Self {
        Self { turn: a.rotation * self.turn, shift_m: a.rotation * self.shift_m }
    }

    /// How fast `a` makes `a * b` change, the lever being where `b` goes, as `a` turns it.
    pub(super) fn before(self, lever: DVec3) -> Self {
        Self { turn: self.turn, shift_m: self.shift_m + self.turn.cross(lever) }
    }

    /// How fast a point moves, given relative to the transform's own space.
    pub(super) fn of_point(self, a: &Transform, point: DVec3) -> DVec3 {
        self.turn.cross(a.rotation * point) + self.shift_m
    }

    pub(super) fn scaled(self, by: f64) -> Self {
        Self { turn: self.turn * by, shift_m: self.shift_m * by }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { turn: self.turn + other.turn, shift_m: self.shift_m + other.shift_m }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::synth::Rng;

    pub(crate) fn any(rng: &mut Rng) -> Transform {
        let translation_m = rng.direction() * rng.between(0.0, 0.5);
        Transform { rotation: rng.rotation(), translation_m }
    }

    /// The rate of a function of one number by central differences.
    pub(crate) fn by_differences(of: impl Fn(f64) -> Transform, at: f64, h: f64) -> Rate {
        let (less, more) = (of(at - h), of(at + h));
        let turn = (more.rotation * less.rotation.inverse()).log() / (2.0 * h);
        Rate { turn, shift_m: (more.translation_m - less.translation_m) / (2.0 * h) }
    }

    pub(crate) fn near(a: Rate, b: Rate, tolerance: f64) -> bool {
        let size = 1.0 + a.turn.length() + a.shift_m.length();
        a.turn.distance(b.turn) < tolerance * size
            && a.shift_m.distance(b.shift_m) < tolerance * size
    }

    #[test]
    fn rates_of_products_are_those_of_differences() {
        let mut rng = Rng::new(3);
        for _ in 0..100 {
            let (a, b) = (any(&mut rng), any(&mut rng));
            let mut rate =
                || Rate { turn: rng.direction() * 0.7, shift_m: rng.direction() * rng.normal() };
            let (of_a, of_b) = (rate(), rate());
            let moved = |of: Transform, by: Rate, t: f64| Transform {
                rotation: Rotation::exp(by.turn * t).unwrap() * of.rotation,
                translation_m: of.translation_m + by.shift_m * t,
            };
            let product = |t: f64| moved(a, of_a, t) * moved(b, of_b, t);
            let expected = by_differences(product, 0.0, 1e-5);
            assert!(near(
                of_a.before(a.rotation * b.translation_m).plus(of_b.after(&a)),
                expected,
                1e-9
            ));
            let point = rng.direction();
            let h = 1e-5;
            let path = |t: f64| moved(a, of_a, t).apply(point);
            let expected = (path(h) - path(-h)) / (2.0 * h);
            assert!(of_a.of_point(&a, point).distance(expected) < 1e-9);
            let back = (a * a.inverse()).translation_m;
            assert!(back.length() < 1e-15 && (a.inverse() * a).rotation.angle().radians() < 1e-14);
        }
    }
}
