//! A universal joint: its axes, its zero, and the angles of a rotation.

use glam::DVec3;

use super::arcs::{is_backwards, reversed};
use super::hinge::ON_ORBIT;
use super::models::{Spread, Universal};
use super::moments::MatrixMoments;
use crate::math::{Angle, Arc, Level, Rotation, Rotations, angle_between, batch, trig, unit};

/// The rotations `center · R(axes[0], α) · R(axes[1], β)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UniversalJoint {
    pub(crate) center: Rotation,
    pub(crate) axes: [DVec3; 2],
}

impl UniversalJoint {
    /// From the fitted condition `a · R b = c`.
    ///
    /// # Convention
    ///
    /// `center` is the joint's rotation nearest to rest: about the common perpendicular of a and b, as
    /// far as it takes to bring b to the right angle from a. Up to noise or half a degree rest is one
    /// of the joint's rotations, and then the axes are fitted again with it among them.
    pub(crate) fn new(
        fit: &Universal,
        spread: &Spread,
        moments: &MatrixMoments,
        noise: f64,
    ) -> Option<Self> {
        let off = |fit: &Universal| {
            let wanted = trig::acos(fit.c.clamp(-1.0, 1.0));
            wanted - angle_between(fit.a, fit.b).radians()
        };
        let through = Universal::fit_through_rest(spread, moments, fit);
        if off(fit).abs() <= noise.max(ON_ORBIT)
            && let Some(fit) = through
        {
            return Some(Self { center: Rotation::IDENTITY, axes: [fit.a, fit.b] });
        }
        let normal = unit(fit.a.cross(fit.b)).unwrap_or_else(|| fit.a.any_orthonormal_vector());
        let center = Rotation::from_axis_angle(normal, Angle::from_radians(off(fit)))?;
        Some(Self { center, axes: [center.inverse() * fit.a, fit.b] })
    }

    /// The angles α and β of rotations, in (−π, π]: with m = center⁻¹ q, `m b = R(a, α) b` and
    /// `m⁻¹ a = R(b, −β) a`.
    pub(crate) fn angles(&self, samples: &Rotations) -> [Vec<f64>; 2] {
        let [a, b] = self.axes;
        let back = self.center.inverse();
        let [mut sines, mut angles] =
            [(); 2].map(|()| [(); 2].map(|()| Vec::with_capacity(samples.len())));
        for q in samples.iter() {
            let m = back * q;
            for (i, [sin, cos]) in
                [about(a, b, m * b), about(b, a, m.inverse() * a)].into_iter().enumerate()
            {
                sines[i].push(sin);
                angles[i].push(cos);
            }
        }
        for (sines, angles) in sines.iter().zip(&mut angles) {
            batch::atan2(Level::best(), sines, angles);
        }
        angles[1].iter_mut().for_each(|angle| *angle = -*angle);
        angles
    }

    /// Axes turned around where the larger excursion is negative, and the arcs with them.
    pub(crate) fn oriented(mut self, mut arcs: [Arc; 2]) -> (Self, [Arc; 2]) {
        for (axis, arc) in self.axes.iter_mut().zip(&mut arcs) {
            if is_backwards(*arc, *axis) {
                *axis = -*axis;
                *arc = reversed(*arc);
            }
        }
        (self, arcs)
    }
}

/// Sine and cosine of the angle about an axis from one vector to another, both times the same.
#[inline]
pub(super) fn about(axis: DVec3, from: DVec3, to: DVec3) -> [f64; 2] {
    let across = axis.cross(from);
    [across.dot(to), from.dot(to) - axis.dot(from) * axis.dot(to)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::moments::Moments;
    use crate::math::Rotations;
    use crate::synth::Rng;

    #[test]
    fn axes_and_angles_come_back_for_rest_inside_and_off() {
        for seed in 0..40 {
            let mut rng = Rng::new(seed);
            let (a, b) = (rng.direction(), rng.direction());
            let between = angle_between(a, b).radians();
            if !(0.5..2.6).contains(&between) {
                continue;
            }
            let off = if seed % 2 == 0 { 0.0 } else { rng.between(0.1, 0.5) };
            let normal = unit(a.cross(b)).unwrap();
            let center = Rotation::from_axis_angle(normal, Angle::from_radians(off)).unwrap();
            let angles: Vec<[f64; 2]> =
                (0..400).map(|_| [rng.between(-0.6, 0.9), rng.between(-0.4, 1.1)]).collect();
            let turn = |[x, y]: &[f64; 2]| {
                center
                    * Rotation::from_axis_angle(a, Angle::from_radians(*x)).unwrap()
                    * Rotation::from_axis_angle(b, Angle::from_radians(*y)).unwrap()
            };
            let samples: Rotations = angles.iter().map(turn).collect();
            let moments = Moments::of(&samples);
            let spread = Spread::new(&moments).unwrap();
            let matrices = moments.matrices();
            let fit = Universal::fit(&spread, &matrices).unwrap();
            let joint = UniversalJoint::new(&fit, &spread, &matrices, 0.0).unwrap();
            assert_eq!(off == 0.0, joint.center.angle().radians() == 0.0, "{seed}");
            let signs = [joint.axes[0].dot(a).signum(), joint.axes[1].dot(b).signum()];
            assert!(joint.center.distance(center).radians() < 1e-4, "{seed}");
            for (truth, q) in angles.iter().zip(samples.iter()) {
                let found = joint.angles(&[q].into_iter().collect()).map(|angles| angles[0]);
                for k in 0..2 {
                    assert!((found[k] * signs[k] - truth[k]).abs() < 1e-3, "{seed} {found:?}");
                }
            }
        }
    }
}
