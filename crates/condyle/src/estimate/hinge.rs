//! A hinge: its axis, its zero, and the angle of a rotation about it.

use glam::DVec3;

use super::arcs::{is_backwards, reversed};
use super::kinds::twice_acos;
use super::models::Spread;
use super::moments::{Moments, rotation};
use crate::math::{Arc, Level, Rotation, Rotations, batch, symmetric_eigen, trig, unit};

/// Rest is on the orbit if it is this near, or as near as the noise: half a degree.
pub(super) const ON_ORBIT: f64 = 0.5 * (std::f64::consts::PI / 180.0);

/// The rotations `center · R(axis, θ)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hinge {
    pub(crate) center: Rotation,
    pub(crate) axis: DVec3,
}

impl Hinge {
    /// The hinge nearest to samples.
    ///
    /// # Source
    ///
    /// Rotations `p cos(θ/2) + r sin(θ/2)` are a plane of quaternions through 0: that of the two
    /// largest eigenvectors of Σ q qᵀ (A3, A6). The paper's axis, the normalised sum of vector parts
    /// (eq 8), cancels where the motion straddles the reference.
    ///
    /// # Convention
    ///
    /// Angle 0 is the orbit's point nearest to rest, which is the projection of (1, 0, 0, 0) into the
    /// plane. If rest is on the orbit, up to noise or half a degree, it is angle 0 itself, and the
    /// plane is then the best of those that hold rest: its axis is the largest eigenvector of
    /// Σ v vᵀ.
    pub(crate) fn fit(spread: &Spread, moments: &Moments, noise: f64) -> Self {
        let [p, r] = spread.orbit();
        let (along_p, along_r) = (p[3], r[3]);
        let cos = trig::length(along_p, along_r);
        if twice_acos(cos) <= noise.max(ON_ORBIT)
            && let Some(axis) = axis_through_rest(moments)
        {
            return Self { center: Rotation::IDENTITY, axis };
        }
        let (a, b) = if cos > 1e-9 { (along_p / cos, along_r / cos) } else { (1.0, 0.0) };
        let center = rotation(std::array::from_fn(|i| a * p[i] + b * r[i]));
        let quarter = rotation(std::array::from_fn(|i| a * r[i] - b * p[i]));
        let q = (center.inverse() * quarter).quat();
        let axis = unit(DVec3::new(q.x, q.y, q.z)).unwrap_or(DVec3::Z);
        Self { center, axis }
    }

    /// The angles of rotations, in (−π, π] (A7): `2 atan2(v · axis, w)`.
    pub(crate) fn angles(&self, samples: &Rotations) -> Vec<f64> {
        let mut angles = vec![0.0; samples.len()];
        let back = self.center.inverse();
        batch::angles_about(Level::best(), back, self.axis, samples, &mut angles);
        angles
    }

    /// The axis turned around if the larger excursion is negative, and the arc with it.
    pub(crate) fn oriented(self, arc: Arc) -> (Self, Arc) {
        if is_backwards(arc, self.axis) {
            (Self { axis: -self.axis, ..self }, reversed(arc))
        } else {
            (self, arc)
        }
    }
}

#[allow(clippy::needless_range_loop, reason = "a matrix")]
fn axis_through_rest(moments: &Moments) -> Option<DVec3> {
    let second = moments.means().second();
    let mut m = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            m[i][j] = second[i][j];
        }
    }
    unit(DVec3::from_array(symmetric_eigen(m)?.vectors[0]))
}

#[cfg(test)]
impl Hinge {
    /// The angle of one rotation.
    pub(super) fn angle(&self, q: Rotation) -> f64 {
        (self.center.inverse() * q).angle_about(self.axis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Angle;
    use crate::synth::Rng;

    fn fit(samples: &Rotations, noise: f64) -> Hinge {
        let moments = Moments::of(samples);
        Hinge::fit(&Spread::new(&moments.means()).unwrap(), &moments, noise)
    }

    #[test]
    fn a6_a7_axis_and_angles_come_back_for_rest_on_and_off_the_orbit() {
        for seed in 0..40 {
            let mut rng = Rng::new(seed);
            let axis = rng.direction();
            let off = if seed % 2 == 0 { 0.0 } else { rng.between(0.1, 2.0) };
            let across = rng.perpendicular(axis);
            let center = Rotation::from_axis_angle(across, Angle::from_radians(off)).unwrap();
            let angles: Vec<f64> = (0..200).map(|_| rng.between(-1.0, 2.5)).collect();
            let turn = |a: &f64| {
                center * Rotation::from_axis_angle(axis, Angle::from_radians(*a)).unwrap()
            };
            let samples: Rotations = angles.iter().map(turn).collect();
            let hinge = fit(&samples, 0.0);
            assert_eq!(off == 0.0, hinge.center.angle().radians() == 0.0, "{seed}");
            assert!(hinge.center.distance(center).radians() < 1e-7, "{seed}");
            let sign = hinge.axis.dot(axis).signum();
            assert!((hinge.axis * sign - axis).length() < 1e-7, "{seed}");
            for (a, q) in angles.iter().zip(samples.iter()) {
                assert!((hinge.angle(q) * sign - a).abs() < 1e-7, "{seed}");
            }
        }
    }

    #[test]
    fn a6_motion_to_both_sides_of_rest_does_not_cancel() {
        let samples: Rotations =
            (-50..=50).map(|i| Rotation::about_y(Angle::from_degrees(f64::from(i)))).collect();
        let hinge = fit(&samples, 0.0);
        assert!(hinge.axis.dot(DVec3::Y).abs() > 1.0 - 1e-12);
    }

    #[test]
    fn the_axis_is_as_good_as_the_noise_allows() {
        // Error of an axis by least squares: σ / (√N sd) about each of two axes.
        let mut errors = Vec::new();
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let axis = rng.direction();
            let sigma = 0.01;
            let center = if seed % 2 == 0 { Rotation::IDENTITY } else { rng.rotation() };
            let angles: Vec<f64> = (0..300).map(|_| rng.between(-0.3, 0.6)).collect();
            let samples: Rotations = angles
                .iter()
                .map(|a| {
                    let noise = DVec3::new(rng.normal(), rng.normal(), rng.normal()) * sigma;
                    center
                        * Rotation::from_axis_angle(axis, Angle::from_radians(*a)).unwrap()
                        * Rotation::exp(noise).unwrap()
                })
                .collect();
            let hinge = fit(&samples, sigma);
            let truth = hinge.center.inverse() * center * axis;
            let error = hinge.axis.cross(truth).length();
            errors.push(error / (sigma / (300.0_f64.sqrt() * 0.9 / 12.0_f64.sqrt())));
        }
        errors.sort_by(f64::total_cmp);
        assert!(errors[100] < 1.6 && errors[190] < 3.5, "{} {}", errors[100], errors[190]);
    }
}
