//! How noisy rotations are, as their order in time shows it.

use crate::math::Rotations;

/// The standard deviation of noise about each axis, radians: what is left of three frames in a row
/// after the straight way from the first to the last is taken off. Motion that bends or hastens
/// within three frames adds to it, so it is an upper bound.
///
/// # Source
///
/// The second difference of white noise of variance σ² has the variance 6 σ²; over three axes its
/// square is 6 σ² times a χ² variable of three degrees of freedom, whose median is 2.366. The
/// median does not mind glitches. Frames that repeat their neighbour are left out.
pub(super) fn jitter(series: &Rotations) -> Option<f64> {
    let [x, y, z, w] = series.xyzw();
    let n = series.len();
    // At most so many, evenly spread, tell as much as all.
    let step = (n / 2048).max(1);
    let mut squares = Vec::with_capacity(n.min(2048) + 1);
    for i in (1..n.saturating_sub(1)).step_by(step) {
        let q = [x[i], y[i], z[i], w[i]];
        let mut sum = [0.0; 4];
        let mut repeated = false;
        for j in [i - 1, i + 1] {
            let p = [x[j], y[j], z[j], w[j]];
            let cos = dot(p, q);
            repeated |= cos.abs() >= 1.0 - f64::EPSILON;
            let sign = if cos < 0.0 { -1.0 } else { 1.0 };
            for k in 0..4 {
                sum[k] += sign * p[k];
            }
        }
        if repeated {
            continue;
        }
        let along = dot(sum, q);
        let across: f64 = (0..4).map(|k| (sum[k] - along * q[k]) * (sum[k] - along * q[k])).sum();
        // A turn by δ moves a quaternion by δ/2.
        squares.push(4.0 * across);
    }
    if squares.len() < 8 {
        return None;
    }
    let middle = squares.len() / 2;
    let (_, median, _) = squares.select_nth_unstable_by(middle, f64::total_cmp);
    Some((*median / (6.0 * 2.366)).sqrt())
}

fn dot(a: [f64; 4], b: [f64; 4]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::math::Rotation;
    use crate::synth::Rng;

    #[test]
    fn noise_on_slow_motion_is_found_and_glitches_do_not_matter() {
        let mut rng = Rng::new(1);
        for sigma in [1e-4, 1e-2, 0.05] {
            let series: Rotations = (0..2000)
                .map(|i| {
                    let t = f64::from(i) * 0.01;
                    let slow = Rotation::exp(DVec3::new(t, 0.3 * t, 0.0) * 0.1).unwrap();
                    let noise = DVec3::new(rng.normal(), rng.normal(), rng.normal()) * sigma;
                    if i % 97 == 0 { rng.rotation() } else { slow * Rotation::exp(noise).unwrap() }
                })
                .collect();
            let found = jitter(&series).unwrap();
            assert!((found / sigma - 1.0).abs() < 0.1, "{found} {sigma}");
        }
        assert_eq!(jitter(&Rotations::repeat(Rotation::IDENTITY, 100)), None);
    }
}
