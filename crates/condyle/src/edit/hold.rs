//! A foot that stays where it is: by how much it is moved in each frame.

use glam::DVec3;

/// How a foot is to be moved, frame by frame, so that it stays where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    /// Frames per second.
    pub(super) fps: f64,
    /// How gently, in seconds: what is moved changes its velocity so slowly that `gentle_s` of its
    /// acceleration counts as much as a foot that slides with that speed.
    pub(super) gentle_s: f64,
}

/// So many seconds of sliding count as much as being moved, where a foot is not held.
const BACK_S: f64 = 1.0;

impl Hold {
    /// How far to move a foot in each frame. `places` are those it has, and `pins` how much it is to stay from
    /// the frame before on, from 0 to 1, in each frame. In the first two frames and in the last two it is not
    /// moved, so it begins and ends without a jump of place or velocity.
    ///
    /// With `s` what is looked for and `p` the places, it is where
    ///
    /// ```text
    ///   Σ pin |p' + s'|²  +  Σ |gentle s''|²  +  Σ (1 − pin) |s / back|²
    /// ```
    ///
    /// is least: a foot that is held does not go, what it is moved by bends little, and fades where it is not
    /// held. One that is held throughout, between places that are apart, slides evenly.
    pub(super) fn shifts(&self, places: &[DVec3], pins: &[f64]) -> Vec<DVec3> {
        let count = places.len();
        let mut shifts = vec![DVec3::ZERO; count];
        if count < 5 {
            return shifts;
        }
        // In units of a frame: the equations of the least sum, a band of five, the diagonal and what is above.
        let bend = self.gentle_s * self.fps;
        let bend = bend * bend;
        let back = 1.0 / (BACK_S * self.fps);
        let back = back * back;
        let mut band = vec![[0.0_f64; 3]; count];
        let mut right = vec![DVec3::ZERO; count];
        for k in 1..count {
            let pin = pins[k];
            band[k - 1][0] += pin;
            band[k][0] += pin + (1.0 - pin) * back;
            band[k - 1][1] -= pin;
            let step = (places[k] - places[k - 1]) * pin;
            right[k - 1] += step;
            right[k] -= step;
        }
        for k in 1..count - 1 {
            band[k - 1][0] += bend;
            band[k][0] += 4.0 * bend;
            band[k + 1][0] += bend;
            band[k - 1][1] -= 2.0 * bend;
            band[k][1] -= 2.0 * bend;
            band[k - 1][2] += bend;
        }
        // The first two and the last two are known, and zero.
        let inner = &mut shifts[2..count - 2];
        solve(&mut band[2..count - 2], &mut right[2..count - 2]);
        inner.copy_from_slice(&right[2..count - 2]);
        shifts
    }
}

/// Solves a symmetric positive system with a band of five: the diagonal and the two above it, row by row. What
/// is found is in place of the right-hand side.
fn solve(band: &mut [[f64; 3]], right: &mut [DVec3]) {
    let count = band.len();
    for k in 0..count {
        let [pivot, one, two] = band[k];
        let value = right[k];
        if k + 1 < count {
            let share = one / pivot;
            band[k + 1][0] -= share * one;
            band[k + 1][1] -= share * two;
            right[k + 1] -= value * share;
        }
        if k + 2 < count {
            let share = two / pivot;
            band[k + 2][0] -= share * two;
            right[k + 2] -= value * share;
        }
    }
    for k in (0..count).rev() {
        let [pivot, one, two] = band[k];
        let mut value = right[k];
        if k + 1 < count {
            value -= right[k + 1] * one;
        }
        if k + 2 < count {
            value -= right[k + 2] * two;
        }
        right[k] = value / pivot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::Easing;

    const HOLD: Hold = Hold { fps: 100.0, gentle_s: 0.01 };

    fn going(count: u32) -> Vec<DVec3> {
        (0..count).map(|f| DVec3::new(0.004 * f64::from(f), 0.0, 1.0)).collect()
    }

    #[test]
    fn a_foot_that_is_held_stays_and_what_it_is_moved_by_begins_and_ends_at_rest() {
        let places = going(60);
        // Held up to the middle.
        let pins: Vec<f64> = (0..60).map(|k| if k < 30 { 1.0 } else { 0.0 }).collect();
        let shifts = HOLD.shifts(&places, &pins);
        let zero = |f: usize| shifts[f] == DVec3::ZERO;
        assert!(zero(0) && zero(1) && zero(58) && zero(59));
        let gone = |a: usize, b: usize| {
            let at = |f: usize| places[f] + shifts[f];
            at(b).distance(at(a))
        };
        // It goes 10 cm as it is.
        assert!(gone(4, 27) < 0.06 * places[4].distance(places[27]), "{}", gone(4, 27));
        // No jump of velocity is as large as that of a foot that stops at once.
        let bend = |w: &[DVec3]| (w[2] - w[1] * 2.0 + w[0]).length();
        assert!(shifts.windows(3).map(bend).fold(0.0, f64::max) < 0.7 * 0.004);
        // Nothing is held: nothing is moved.
        assert!(HOLD.shifts(&places, &[0.0; 60]).iter().all(|s| *s == DVec3::ZERO));
        for few in 0..5 {
            assert_eq!(HOLD.shifts(&going(few), &pins).len(), few as usize);
        }
    }

    #[test]
    fn a_foot_that_is_held_between_places_that_are_apart_slides_evenly() {
        // It stands, goes by 10 cm within 20 frames, and stands.
        let weight = |k: usize| Easing::Cubic.weight(k.saturating_sub(20), 21);
        let places: Vec<DVec3> = (0..60).map(|k| DVec3::X * (0.1 * weight(k))).collect();
        let shifts = HOLD.shifts(&places, &[1.0; 60]);
        let at = |f: usize| places[f] + shifts[f];
        let fastest = (1..60).map(|f| at(f).distance(at(f - 1))).fold(0.0, f64::max);
        assert!(at(59).distance(at(0)) > 0.099 && fastest < 1.3 * 0.1 / 60.0, "{fastest}");
    }

    #[test]
    fn the_least_sum_is_least() {
        let places: Vec<DVec3> = (0..12_u32)
            .map(|k| DVec3::new(f64::from(k * 7919 % 13), f64::from(k * 31 % 7), 0.0) * 0.01)
            .collect();
        let pins: Vec<f64> = (0..12_u32).map(|k| f64::from(k * 5 % 4) / 3.0).collect();
        let sum = |s: &[DVec3]| {
            let held = (1..12).map(|k| {
                let slide = (places[k] + s[k] - places[k - 1] - s[k - 1]).length_squared();
                pins[k] * slide + (1.0 - pins[k]) * s[k].length_squared() / (100.0 * 100.0)
            });
            let bent = s.windows(3).map(|w| (w[2] - w[1] * 2.0 + w[0]).length_squared());
            held.sum::<f64>() + bent.sum::<f64>()
        };
        let found = HOLD.shifts(&places, &pins);
        let least = sum(&found);
        for k in 2..10 {
            for by in [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y] {
                let mut other = found.clone();
                other[k] += by * 1e-4;
                assert!(sum(&other) > least, "{k} {by}");
            }
        }
    }
}
