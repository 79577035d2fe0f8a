//! A universal joint: its axes, its zero, and the angles of a rotation.
#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use glam::DVec3;

use super::arcs::{is_backwards, reversed};
use super::hinge::ON_ORBIT;
use super::models::{INFLATED, Spread, Universal};
use super::moments::{MatrixMoments, rotation_unchecked};
use crate::math::{
    Angle, Arc, Kernel, Level, Rotation, Rotations, angle_between, batch, trig, unit,
};

/// Rest among the joint's rotations leaves more over by chance: n times the logarithm of the ratio is
/// a χ² variable of one degree of freedom (S. S. Wilks 1938), and above this once in 22.
const CHANCE: f64 = 4.0;

/// Of the angle between axes.
const LEAST_SINE: f64 = 0.3;

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
    /// far as it takes to bring b to the right angle from a. If rest is one of the joint's rotations,
    /// the axes are fitted with it among them: up to noise or half a degree, or if that leaves no more
    /// over than chance.
    pub(crate) fn new(
        fit: &Universal,
        spread: &Spread,
        moments: &MatrixMoments,
        noise: f64,
    ) -> Option<Self> {
        let [free, through] = fit.settled(spread, moments);
        let usable = |u: &Universal| u.variance.is_finite() && u.inflation <= INFLATED;
        let free = if usable(&free) { free } else { *fit };
        let wanted = trig::acos(free.c.clamp(-1.0, 1.0));
        let off = wanted - angle_between(free.a, free.b).radians();
        let as_good = through.variance <= (1.0 + CHANCE / spread.count) * free.variance;
        if (as_good || off.abs() <= noise.max(ON_ORBIT)) && usable(&through) {
            return Some(Self { center: Rotation::IDENTITY, axes: [through.a, through.b] });
        }
        let normal = unit(free.a.cross(free.b)).unwrap_or_else(|| free.a.any_orthonormal_vector());
        let center = Rotation::from_axis_angle(normal, Angle::from_radians(off))?;
        Some(Self { center, axes: [center.inverse() * free.a, free.b] })
    }

    /// The noise of the angles, where that of rotations is given about each axis.
    ///
    /// # Source
    ///
    /// Noise across b moves `m b` by σ, on a circle about a of radius sin γ for axes with the angle γ
    /// between them: σ / sin γ. Axes that are nearly parallel are not believed to be.
    pub(crate) fn noise_of_angles(&self, noise: f64) -> f64 {
        let [a, b] = self.axes;
        noise / a.cross(b).length().max(LEAST_SINE)
    }

    /// The angles α and β of rotations, in (−π, π]: with m = center⁻¹ q, `m b = R(a, α) b` and
    /// `m⁻¹ a = R(b, −β) a`.
    pub(crate) fn angles(&self, samples: &Rotations) -> [Vec<f64>; 2] {
        let (n, level) = (samples.len(), Level::best());
        let [mut sines, mut angles] = [(); 2].map(|()| [(); 2].map(|()| vec![0.0; n]));
        let mut turns = [[0.0; BLOCK]; 4];
        for start in (0..n).step_by(BLOCK) {
            let range = start..n.min(start + BLOCK);
            let columns = samples.xyzw().map(|column| &column[range.clone()]);
            level.run(Turns { joint: self, columns, turns: &mut turns });
            let to = sines.iter_mut().chain(&mut angles);
            for (to, turns) in to.zip(&turns) {
                to[range.clone()].copy_from_slice(&turns[..range.len()]);
            }
        }
        for (sines, angles) in sines.iter().zip(&mut angles) {
            batch::atan2(level, sines, angles);
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

/// Samples that are worked on together.
const BLOCK: usize = 128;

/// The sines of both angles of some samples, and the cosines, of which each pair is times the same; the
/// second angle is backwards.
struct Turns<'a> {
    joint: &'a UniversalJoint,
    columns: [&'a [f64]; 4],
    turns: &'a mut [[f64; BLOCK]; 4],
}

impl Kernel for Turns<'_> {
    #[inline(always)]
    fn run(self) {
        let [a, b] = self.joint.axes;
        let back = self.joint.center.inverse();
        let [x, y, z, w] = self.columns;
        let n = x.len().min(BLOCK);
        let (x, y, z, w) = (&x[..n], &y[..n], &z[..n], &w[..n]);
        let [sines, other_sines, cosines, other_cosines] = self.turns;
        for i in 0..n {
            let m = back * rotation_unchecked([x[i], y[i], z[i], w[i]]);
            let ([sin, cos], [other_sin, other_cos]) =
                (about(a, b, m * b), about(b, a, m.inverse() * a));
            sines[i] = sin;
            other_sines[i] = other_sin;
            cosines[i] = cos;
            other_cosines[i] = other_cos;
        }
    }
}

/// Sine and cosine of the angle about an axis from one vector to another, both times the same.
#[inline(always)]
#[allow(clippy::inline_always, reason = "a part of kernels")]
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
            let spread = Spread::new(&moments.means()).unwrap();
            let matrices = moments.means().matrices();
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

    #[test]
    fn noise_of_angles_grows_as_axes_become_parallel() {
        let (a, sigma) = (DVec3::X, 0.01);
        for degrees in [30.0_f64, 50.0, 90.0, 140.0] {
            let gamma = degrees.to_radians();
            let (sin, cos) = trig::sin_cos(gamma);
            let b = DVec3::new(cos, sin, 0.0);
            let joint = UniversalJoint { center: Rotation::IDENTITY, axes: [a, b] };
            let mut rng = Rng::new(3);
            let clean = Rotation::from_axis_angle(a, Angle::from_radians(0.4)).unwrap()
                * Rotation::from_axis_angle(b, Angle::from_radians(-0.7)).unwrap();
            let samples: Rotations = (0..4000)
                .map(|_| {
                    let v = DVec3::new(rng.normal(), rng.normal(), rng.normal()) * sigma;
                    clean * Rotation::exp(v).unwrap()
                })
                .collect();
            for (angles, truth) in joint.angles(&samples).iter().zip([0.4, -0.7]) {
                let square: f64 = angles.iter().map(|x| (x - truth) * (x - truth)).sum();
                let ratio = (square / 4000.0).sqrt() / joint.noise_of_angles(sigma);
                // Deviation 1/√8000, and σ² / sin² γ of curvature.
                assert!((ratio - 1.0).abs() < 0.05, "{degrees}: {ratio}");
            }
        }
    }
}
