//! Limits that push back before they are reached.

use glam::DVec3;

use super::PreparedLimit;
use crate::math::{Angle, Rotation};

/// A spring that begins to act some way before the limit.
///
/// # Source
///
/// Hooke's law on the [distance](PreparedLimit::distance) δ to the limit, with the onset ε > 0 inside:
///
/// ```text
///   E = ½ k max(0, ε − δ)²        τ = −∂E/∂v = k max(0, ε − δ) · ∂δ/∂v
/// ```
///
/// # Convention
///
/// `v` is a small rotation in the space of the limit, `m ← exp(v) · m`. With the stiffness k in newton
/// metres per radian, E is in joules and τ in newton metres.
#[derive(Clone, Copy, Debug)]
pub struct SoftLimit<'a> {
    limit: &'a PreparedLimit,
    onset: f64,
    stiffness: f64,
}

impl<'a> SoftLimit<'a> {
    /// `None` unless the onset and the stiffness are finite and the stiffness is not negative.
    #[must_use]
    pub fn new(limit: &'a PreparedLimit, onset: Angle, stiffness: f64) -> Option<Self> {
        let onset = onset.radians();
        let sensible = onset.is_finite() && stiffness.is_finite() && stiffness >= 0.0;
        sensible.then_some(Self { limit, onset, stiffness })
    }

    /// How far a rotation is past the onset, in radians; 0 before it.
    fn depth(&self, m: Rotation) -> f64 {
        (self.onset - self.limit.distance(m).radians()).max(0.0)
    }

    /// The energy stored in the spring.
    #[must_use]
    pub fn energy(&self, m: Rotation) -> f64 {
        let depth = self.depth(m);
        0.5 * self.stiffness * depth * depth
    }

    /// The torque of the spring, which turns the joint back inside; on the boundary too, as
    /// [`HalfSpace`](super::HalfSpace) says.
    #[must_use]
    pub fn torque(&self, m: Rotation) -> DVec3 {
        let depth = self.depth(m);
        if depth == 0.0 {
            return DVec3::ZERO;
        }
        self.limit.gradient(m) * (self.stiffness * depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::zoo::zoo;
    use crate::limits::{Limit, SwingTwistLimit, TwistLimit};
    use crate::math::{Arc, SwingAxes};
    use crate::synth::Rng;

    /// Where every projection lies: on the boundary.
    #[test]
    fn on_the_boundary_the_torque_pushes_inwards() {
        for (name, swing) in zoo() {
            let limit = SwingTwistLimit { axes: SwingAxes::Z, swing, twist: TwistLimit::default() };
            let limit = Limit::SwingTwist(limit).prepare().unwrap();
            let soft = SoftLimit::new(&limit, Angle::from_radians(0.1), 5.0).unwrap();
            let mut rng = Rng::new(2);
            let mut pushed = 0;
            for _ in 0..200 {
                let m = rng.rotation();
                let p = limit.project(m);
                if limit.contains(m) {
                    continue;
                }
                let torque = soft.torque(p);
                assert!((torque.length() - 0.5).abs() < 1e-6, "{name}: {torque}");
                let pushed_to = Rotation::exp(torque * 1e-6).unwrap() * p;
                // Where the boundary touches itself there are two ways inside.
                let inside = limit.distance(pushed_to).radians() > 1e-8;
                assert!(inside || name == "box over the pole", "{name} at {p:?}");
                pushed += u32::from(inside);
            }
            assert!(pushed > 10, "{name}: {pushed}");
        }
    }

    #[test]
    fn the_torque_is_the_slope_of_the_energy() {
        let arc = Arc::from_degrees(-30.0, 60.0).unwrap();
        let limit = Limit::Hinge { axis: DVec3::Y, arc }.prepare().unwrap();
        let soft = SoftLimit::new(&limit, Angle::from_degrees(10.0), 5.0).unwrap();
        let at = |degrees: f64| Rotation::about_y(Angle::from_degrees(degrees));
        assert_eq!(soft.energy(at(0.0)), 0.0);
        assert_eq!(soft.torque(at(49.0)), DVec3::ZERO);
        let mut rng = Rng::new(1);
        for _ in 0..100 {
            let angle = rng.between(51.0, 59.0);
            let h = 1e-4;
            let slope = (soft.energy(at(angle + h)) - soft.energy(at(angle - h)))
                / (2.0 * Angle::from_degrees(h).radians());
            let torque = soft.torque(at(angle));
            assert!((torque.y + slope).abs() < 1e-6 && torque.x.abs() < 1e-12, "{torque} {slope}");
        }
        assert!(SoftLimit::new(&limit, Angle::from_radians(f64::NAN), 1.0).is_none());
        assert!(SoftLimit::new(&limit, Angle::ZERO, -1.0).is_none());
    }
}
