//! How a weight goes from 0 to 1.

use std::f64::consts::PI;

use crate::math::trig;

/// How a weight goes from 0 to 1 while a share goes from 0 to 1. All are symmetric about the middle:
/// what the one motion loses the other gains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Easing {
    /// Evenly: velocities jump at both ends.
    Linear,
    /// `½ + ½ sin(π u − π/2)`: velocities are continuous.
    ///
    /// S. Lin, "Help note for assignment 2", 2010, eq 13 (row C6), whose printed weight runs from −½ to
    /// ½.
    #[default]
    Sine,
    /// `3u² − 2u³`: velocities are continuous.
    Cubic,
    /// `10u³ − 15u⁴ + 6u⁵`: velocities and accelerations are continuous.
    Quintic,
}

impl Easing {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Linear, Self::Sine, Self::Cubic, Self::Quintic];

    /// The weight at a share; before 0 it is 0 and after 1 it is 1. What is no number counts as 0.
    #[must_use]
    pub fn at(self, share: f64) -> f64 {
        let u = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        match self {
            Self::Linear => u,
            // The ends are exact: frames there are those of one motion alone.
            Self::Sine if u == 0.0 || u == 1.0 => u,
            Self::Sine => 0.5 + 0.5 * trig::sin_cos(u * PI - 0.5 * PI).0,
            Self::Cubic => u * u * (3.0 - 2.0 * u),
            Self::Quintic => u * u * u * (10.0 + u * (6.0 * u - 15.0)),
        }
    }

    /// The weight of the second motion in a frame of a window of `count` frames, 0 in the first and 1 in
    /// the last; ½ where there is one frame only, for which eq 13 has 0/0.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "frame counts are below 2^32")]
    pub fn weight(self, frame: usize, count: usize) -> f64 {
        if count < 2 {
            return 0.5;
        }
        self.at(frame as f64 / (count - 1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c6_eq_13_runs_from_0_to_1_and_one_frame_has_half() {
        for count in [2_usize, 3, 30] {
            for f in 0..count {
                let u = f as f64 / (count - 1) as f64;
                let printed = 0.5 * trig::sin_cos(u * PI - PI / 2.0).0;
                assert!((Easing::Sine.weight(f, count) - (printed + 0.5)).abs() < 1e-15);
            }
        }
        for easing in Easing::ALL {
            assert_eq!(easing.weight(0, 1), 0.5);
            assert_eq!((easing.weight(0, 7), easing.weight(6, 7)), (0.0, 1.0));
            assert_eq!((easing.at(-3.0), easing.at(2.0), easing.at(f64::NAN)), (0.0, 1.0, 0.0));
        }
    }

    #[test]
    fn weights_rise_are_symmetric_and_as_smooth_at_the_ends_as_they_say() {
        let h = 1e-4;
        for easing in Easing::ALL {
            let mut before = 0.0;
            for k in 0..=1000 {
                let u = f64::from(k) / 1000.0;
                let w = easing.at(u);
                assert!(w >= before && (w + easing.at(1.0 - u) - 1.0).abs() < 1e-12);
                before = w;
            }
            let velocity = easing.at(h) / h;
            assert_eq!(velocity > 0.5, easing == Easing::Linear);
            let acceleration = (easing.at(2.0 * h) - 2.0 * easing.at(h)) / (h * h);
            assert_eq!(
                acceleration.abs() < 0.1,
                matches!(easing, Easing::Linear | Easing::Quintic)
            );
        }
    }
}
