//! How noisy rotations are, as their order in time shows it.

use super::samples::{combined, dot, fill, row, rows, side};
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
    let columns = series.xyzw();
    let n = series.len();
    // At most so many, evenly spread, tell as much as all.
    let step = (n / 2048).max(1);
    let (inner, frames) = (n.saturating_sub(2), n.min(2));
    let part = |skipped: usize| rows(columns, skipped.min(frames), inner);
    let (before, here, after) = (part(0), part(1), part(2));
    let mut squares = vec![0.0; inner.div_ceil(step)];
    if step == 1 {
        fill(&mut squares, [before, here, after], second_difference);
    } else {
        for (square, i) in squares.iter_mut().zip((0..inner).step_by(step)) {
            *square = second_difference([row(&before, i), row(&here, i), row(&after, i)]);
        }
    }
    // The bits of positive numbers rise as the numbers do, and are sooner compared.
    let mut squares: Vec<u64> =
        squares.into_iter().filter(|square| *square >= 0.0).map(f64::to_bits).collect();
    if squares.len() < 8 {
        return None;
    }
    let middle = squares.len() / 2;
    let (_, median, _) = squares.select_nth_unstable(middle);
    Some((f64::from_bits(*median) / (6.0 * 2.366)).sqrt())
}

/// The square of what is left of the middle frame, radians; −1 if it repeats a neighbour.
#[inline(always)]
#[allow(clippy::inline_always, reason = "in a kernel")]
fn second_difference([before, here, after]: [[f64; 4]; 3]) -> f64 {
    let sum = combined([side(here, before), side(here, after)], [before, after]);
    let across = combined([1.0, -dot(sum, here)], [sum, here]);
    let (first, second) = (dot(before, here).abs(), dot(after, here).abs());
    let nearer = if first > second { first } else { second };
    // A turn by δ moves a quaternion by δ/2.
    if nearer >= 1.0 - f64::EPSILON { -1.0 } else { 4.0 * dot(across, across) }
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
