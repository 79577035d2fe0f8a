//! Numbers of many samples: ranges, gaps, and what is left of a curve in columns of pixels.

use std::f64::consts::{PI, TAU};

use crate::math::{Angle, Arc};
pub(super) use crate::picture::axis::{extent, ticks};

/// The largest part of the circle without samples, from one sample to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gap {
    /// The last sample before it, in (−π, π].
    pub(super) from: f64,
    pub(super) width: f64,
}

/// The largest gap between angles in (−π, π]; `None` if there are none.
///
/// # Source
///
/// Eq 16 to 18 of M. Engell-Nørregård and K. Erleben, "Estimation of joint types and joint limits from
/// motion capture data": sorted angles, and the difference from each to the next one counter-clockwise.
pub(super) fn largest_gap(angles: &[f64]) -> Option<Gap> {
    let mut sorted: Vec<f64> = angles.iter().copied().filter(|a| a.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let around = Gap { from: last, width: (first + TAU - last).clamp(0.0, TAU) };
    let mut best = around;
    for pair in sorted.windows(2) {
        if pair[1] - pair[0] > best.width {
            best = Gap { from: pair[0], width: pair[1] - pair[0] };
        }
    }
    Some(best)
}

/// Moves an angle by whole turns to within half a turn of another.
pub(super) fn lifted(angle: f64, about: f64) -> f64 {
    about + Angle::from_radians(angle - about).wrapped().radians()
}

/// Around which angle a channel is drawn, so that what is allowed is in one piece, and has the ends
/// that the page says.
pub(super) fn middle(limit: Option<Arc>, circular: bool) -> f64 {
    match limit {
        Some(arc) if circular && !arc.is_full() && !arc.is_empty() => {
            let [low, high] = arc.ends_about_zero().map(Angle::radians);
            0.5 * (low + high)
        }
        _ => 0.0,
    }
}

/// How many numbers are in each of some equal parts of a range.
pub(super) fn histogram(
    values: impl IntoIterator<Item = f64>,
    from: f64,
    to: f64,
    parts: usize,
) -> Vec<u32> {
    let mut counts = vec![0_u32; parts];
    let Some(last) = parts.checked_sub(1) else { return counts };
    if to > from {
        for value in values.into_iter().filter(|v| v.is_finite()) {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                clippy::cast_sign_loss,
                reason = "clamped to a number of parts, which is small"
            )]
            let part = ((value - from) / (to - from) * parts as f64).floor().clamp(0.0, last as f64)
                as usize;
            counts[part] = counts[part].saturating_add(1);
        }
    }
    counts
}

/// How often angles were in each of 72 parts of the circle, from −180° on.
pub(super) fn around(values: impl IntoIterator<Item = f64>) -> Vec<u32> {
    histogram(values, -PI, PI, 72)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(degrees: &[f64]) -> (f64, f64) {
        let angles: Vec<f64> = degrees.iter().map(|d| d.to_radians()).collect();
        let gap = largest_gap(&angles).unwrap();
        (gap.from.to_degrees().round(), gap.width.to_degrees().round())
    }

    /// The traps of eq 16 and 19: duplicates are no gap of a turn, one sample is no full circle.
    #[test]
    fn a9_the_largest_gap_is_that_of_the_circle() {
        assert_eq!(gap(&[10.0, 20.0, 20.0, 30.0]), (30.0, 340.0));
        assert_eq!(gap(&[170.0, -170.0]), (-170.0, 340.0));
        assert_eq!(gap(&[-90.0, 0.0, 90.0, 120.0]), (120.0, 150.0));
        assert_eq!(gap(&[-100.0, 100.0, 180.0]), (-100.0, 200.0));
        assert_eq!(gap(&[40.0]), (40.0, 360.0));
        assert_eq!(largest_gap(&[]), None);
        assert_eq!(largest_gap(&[f64::NAN]), None);
    }

    #[test]
    fn every_number_is_counted_once() {
        let values = [-4.0, 0.0, 0.5, 1.0, 2.0, 9.0, f64::NAN];
        assert_eq!(histogram(values, 0.0, 2.0, 4), [2, 1, 1, 2]);
        assert_eq!(histogram(values, 1.0, 1.0, 2), [0, 0]);
        assert_eq!(histogram(values, 0.0, 2.0, 0), [0_u32; 0]);
    }
}
