//! The mean of rotations.

use glam::DQuat;

use super::{Rotation, symmetric_eigen};

/// The mean of several rotations.
#[derive(Clone, Copy, Debug)]
pub struct MeanRotation {
    /// The mean, in the hemisphere of [`Rotation::canonical`].
    pub rotation: Rotation,
    /// The eigenvalues of the weighted mean of `q qᵀ`, largest first; they add up to 1.
    ///
    /// `(1, 0, 0, 0)`: all rotations are the same. Two that are not 0: they turn about one axis.
    pub eigenvalues: [f64; 4],
    /// Whether there is only one mean, to within rounding. If not, the rotations are spread so
    /// evenly that several are equally good (the identity and a half-turn, say), and `rotation` is
    /// one of them.
    pub unique: bool,
}

/// The rotation whose weighted sum of squared distances to the given ones is smallest.
///
/// # Source
///
/// F. L. Markley, Y. Cheng, J. L. Crassidis, Y. Oshman, "Averaging quaternions", Journal of
/// Guidance, Control, and Dynamics 30(4), 2007, eq. 12 and 13:
///
/// ```text
///   M = Σ w_i q_i q_iᵀ,   mean = the unit q with the largest qᵀ M q
/// ```
///
/// the eigenvector of the largest eigenvalue. It minimises the weighted sum of the squared
/// Frobenius distances of the rotation matrices, which for an angle θ are 8 sin²(θ/2).
///
/// # Convention
///
/// `q` and `-q` count the same, so no common hemisphere is needed.
///
/// # Domain and singularity
///
/// `None` if there are no rotations, if a weight is negative or not finite, or if the sum of the
/// weights is zero or not finite. Where the two largest eigenvalues are equal the mean is not
/// determined: see [`MeanRotation::unique`].
///
/// # Example
///
/// ```
/// use condyle::math::{Angle, Rotation, mean_rotation};
/// let turns = [10.0, 20.0, 60.0].map(|d| Rotation::about_y(Angle::from_degrees(d)));
/// let mean = mean_rotation(turns.map(|r| (r, 1.0))).unwrap();
/// assert!((mean.rotation.angle().degrees() - 30.0).abs() < 0.6);
/// assert!(mean.unique && mean_rotation([]).is_none());
/// ```
#[must_use]
pub fn mean_rotation(rotations: impl IntoIterator<Item = (Rotation, f64)>) -> Option<MeanRotation> {
    let mut m = [[0.0; 4]; 4];
    let mut total = 0.0;
    let mut count = 0.0;
    for (rotation, weight) in rotations {
        if !(weight.is_finite() && weight >= 0.0) {
            return None;
        }
        let q = rotation.quat().to_array();
        for i in 0..4 {
            // The upper triangle is all that is read.
            for j in i..4 {
                m[i][j] += weight * (q[i] * q[j]);
            }
        }
        total += weight;
        count += 1.0;
    }
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }

    let eigen = symmetric_eigen(m)?;
    let [x, y, z, w] = eigen.vectors[0];
    // Summing n terms may be off by n ε of their sum, and the eigenvalues by a few ε more.
    let noise = (count + 16.0) * f64::EPSILON * total;
    Some(MeanRotation {
        rotation: Rotation::new(DQuat::from_xyzw(x, y, z, w))?.canonical(),
        eigenvalues: eigen.values.map(|v| v / total),
        unique: eigen.values[0] - eigen.values[1] > noise,
    })
}

/// The rotation whose weighted sum of squared angles to the given ones is smallest: for two of them,
/// [`Rotation::slerp`] by the share of the second.
///
/// # Source
///
/// H. Karcher, "Riemannian center of mass and mollifier smoothing", Comm. Pure Appl. Math. 30(5), 1977:
/// the mean m is where `Σ w_i log(m⁻¹ q_i) = 0`, found by going there again and again from
/// [`mean_rotation`].
///
/// # Domain and singularity
///
/// `None` as for [`mean_rotation`]. If the rotations do not lie within a quarter turn of one of them there
/// may be several such means; the one near [`mean_rotation`] is taken, and that itself if the steps do
/// not get smaller.
///
/// ```
/// use condyle::math::{Angle, Rotation, geodesic_mean};
/// let turn = |degrees| Rotation::about_z(Angle::from_degrees(degrees));
/// let mean = geodesic_mean(&[(turn(0.0), 1.0), (turn(30.0), 1.0), (turn(90.0), 2.0)]).unwrap();
/// assert!(mean.distance(turn(52.5)).degrees() < 1e-9);
/// ```
#[must_use]
pub fn geodesic_mean(rotations: &[(Rotation, f64)]) -> Option<Rotation> {
    const STEPS: usize = 50;
    let start = mean_rotation(rotations.iter().copied())?.rotation;
    let total: f64 = rotations.iter().map(|(_, weight)| weight).sum();
    let (mut mean, mut before) = (start, f64::INFINITY);
    for _ in 0..STEPS {
        let back = mean.inverse();
        let sum = |to, &(r, weight): &(Rotation, f64)| to + (back * r).log() * (weight / total);
        let step = rotations.iter().fold(glam::DVec3::ZERO, sum);
        let length = step.length();
        if length >= before && length > 1e-12 {
            return Some(start);
        }
        mean = mean * Rotation::exp(step)?;
        if length < 1e-15 || length >= before {
            break;
        }
        before = length;
    }
    Some(mean)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::math::{Angle, arbitrary};

    fn about_x(radians: f64) -> Rotation {
        Rotation::about_x(Angle::from_radians(radians))
    }

    /// A3: free of hemisphere, and rank 2 for a hinge even when its frame is offset.
    #[test]
    fn a3_the_mean_lies_in_the_middle_and_a_hinge_has_rank_two() {
        let offset = Rotation::about_z(Angle::from_degrees(55.0));
        let turns = (-20..=20).map(|i| offset * about_x(f64::from(i) * 0.05));
        // Every other quaternion with the opposite sign.
        let signed = turns.enumerate().map(|(i, r)| {
            let q = if i % 2 == 0 { r.quat() } else { -r.quat() };
            (Rotation::new(q).unwrap(), 1.0)
        });
        let mean = mean_rotation(signed).unwrap();
        assert!(mean.unique);
        assert!(mean.rotation.distance(offset).radians() < 2e-15);
        let [a, b, c, d] = mean.eigenvalues;
        assert!((a + b + c + d - 1.0).abs() < 1e-14);
        assert!(b > 0.01 && c.abs() < 1e-16 && d.abs() < 1e-16, "{:?}", mean.eigenvalues);
    }

    #[test]
    fn of_two_rotations_the_heavier_one_is_nearer() {
        // Markley et al., the case of two quaternions: by symmetry the mean is on the arc between.
        let equal = mean_rotation([(about_x(0.2), 1.0), (about_x(1.0), 1.0)]).unwrap();
        assert!(equal.rotation.distance(about_x(0.6)).radians() < 1e-15);
        let heavy = mean_rotation([(about_x(0.2), 3.0), (about_x(1.0), 1.0)]).unwrap();
        let angle = heavy.rotation.angle().radians();
        assert!(angle > 0.2 && angle < 0.6, "{angle}");
        let alone = mean_rotation([(about_x(0.2), 3.0), (about_x(1.0), 0.0)]).unwrap();
        assert!(alone.rotation.distance(about_x(0.2)).radians() < 1e-15);
    }

    #[test]
    fn evenly_spread_rotations_have_no_unique_mean() {
        let opposite = mean_rotation([(about_x(0.0), 1.0), (about_x(PI), 1.0)]).unwrap();
        assert!(!opposite.unique);
        let all = (0..360).map(|i| (about_x(f64::from(i).to_radians()), 1.0));
        assert!(!mean_rotation(all).unwrap().unique);
        assert!(mean_rotation([(about_x(0.0), 1.0), (about_x(PI), 1.001)]).unwrap().unique);
    }

    #[test]
    fn empty_weightless_and_nonsense_input_is_refused() {
        assert!(mean_rotation([]).is_none());
        assert!(mean_rotation([(about_x(1.0), 0.0)]).is_none());
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(mean_rotation([(about_x(1.0), 2.0), (about_x(1.0), bad)]).is_none());
        }
        assert!(mean_rotation([(about_x(1.0), f64::MAX); 2]).is_none());
        for weight in [1e-300, 1e300] {
            let mean = mean_rotation([(about_x(1.0), weight)]).unwrap();
            assert!(mean.rotation.distance(about_x(1.0)).radians() < 1e-15);
        }
    }

    /// The independent route: no rotation nearby has a smaller sum of squared distances.
    #[test]
    fn prop_no_rotation_nearby_is_better() {
        arbtest::arbtest(|u| {
            let mut rotations = Vec::new();
            for _ in 0..u.int_in_range(1..=6)? {
                rotations.push((arbitrary::rotation(u)?, f64::from(u.int_in_range(1..=9)?)));
            }
            let mean = mean_rotation(rotations.iter().copied()).unwrap();
            let cost = |r: Rotation| -> f64 {
                rotations
                    .iter()
                    .map(|(q, w)| {
                        let d = (r.inverse() * *q).quat();
                        w * (d.x * d.x + d.y * d.y + d.z * d.z)
                    })
                    .sum()
            };
            let best = cost(mean.rotation);
            for step in [1e-3, 0.1, 1.0] {
                let nearby = Rotation::exp(arbitrary::direction(u)? * step).unwrap();
                assert!(best <= cost(mean.rotation * nearby) + 1e-14, "{rotations:?}");
            }
            Ok(())
        });
    }

    #[test]
    fn prop_signs_and_order_do_not_matter() {
        arbtest::arbtest(|u| {
            let (a, b, c) =
                (arbitrary::rotation(u)?, arbitrary::rotation(u)?, arbitrary::rotation(u)?);
            let plain = mean_rotation([(a, 1.0), (b, 2.0), (c, 3.0)]).unwrap();
            let minus_b = Rotation::new(-b.quat()).unwrap();
            let other = mean_rotation([(c, 3.0), (minus_b, 2.0), (a, 1.0)]).unwrap();
            // Rounding turns the mean by ε over the gap.
            let gap = plain.eigenvalues[0] - plain.eigenvalues[1];
            if gap > 1e-3 {
                let error = plain.rotation.distance(other.rotation).radians();
                assert!(error < 4e-15 / gap, "{a:?} {b:?} {c:?}: {error:e}");
            }
            Ok(())
        });
    }

    #[test]
    fn prop_the_geodesic_mean_of_two_is_slerp_and_that_of_many_is_a_minimum() {
        arbtest::arbtest(|u| {
            let a = arbitrary::rotation(u)?;
            let near = |r: Rotation| a * Rotation::exp(r.log() * 0.45).unwrap();
            let (b, c) = (near(arbitrary::rotation(u)?), near(arbitrary::rotation(u)?));
            let t = f64::from(u.int_in_range(0..=100_u32)?) / 100.0;
            let two = geodesic_mean(&[(a, 1.0 - t), (b, t)]).unwrap();
            assert!(two.distance(a.slerp(b, t)).radians() < 1e-9, "{t}");
            let all = [(a, 1.0), (b, 2.0), (c, 0.5)];
            let mean = geodesic_mean(&all).unwrap();
            let cost = |m: Rotation| -> f64 {
                let square = |a: Angle| a.radians() * a.radians();
                all.iter().map(|(r, w)| w * square(m.distance(*r))).sum()
            };
            for axis in [glam::DVec3::X, glam::DVec3::Y, glam::DVec3::Z] {
                for by in [-1e-3, 1e-3] {
                    let moved = mean * Rotation::exp(axis * by).unwrap();
                    assert!(cost(moved) >= cost(mean));
                }
            }
            Ok(())
        });
    }
}
