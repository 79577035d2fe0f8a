//! Numbers of many samples: ranges, gaps, and what is left of a curve in columns of pixels.

use std::f64::consts::{PI, TAU};

use crate::math::{Angle, Arc};

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

/// Around which angle a channel is drawn, so that what is allowed is in one piece.
pub(super) fn middle(limit: Option<Arc>, circular: bool) -> f64 {
    match limit {
        Some(arc) if circular && !arc.is_full() && !arc.is_empty() => arc.center().radians(),
        _ => 0.0,
    }
}

/// The least and the largest of some numbers; `None` if there are none.
pub(super) fn extent(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let start = [f64::INFINITY, f64::NEG_INFINITY];
    let [low, high] = values
        .into_iter()
        .filter(|v| v.is_finite())
        .fold(start, |[low, high], v| [low.min(v), high.max(v)]);
    (low <= high).then_some([low, high])
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

/// Numbers that people count in, some three to seven of them in a range: 1, 2, 5 times powers of ten;
/// for degrees 15, 30, 45, 90 above ten.
pub(super) fn ticks(from: f64, to: f64, most: u32, degrees: bool) -> Vec<f64> {
    const PLAIN: [f64; 3] = [1.0, 2.0, 5.0];
    let width = to - from;
    if !(width.is_finite() && width > 0.0 && from.is_finite()) || most == 0 {
        return Vec::new();
    }
    let enough = |step: &f64| width / step <= f64::from(most);
    let mut step = None;
    if degrees {
        step = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 90.0, 180.0]
            .into_iter()
            .find(enough);
    }
    let mut power = 1e-6;
    while step.is_none() && power < 1e18 {
        step = PLAIN.into_iter().map(|p| p * power).find(enough);
        power *= 10.0;
    }
    let Some(step) = step else { return Vec::new() };
    let mut found = Vec::new();
    let mut tick = (from / step).ceil() * step;
    while tick <= to + 1e-9 * width && found.len() <= most as usize + 1 {
        // Sums of steps are zero but for rounding.
        found.push(if tick.abs() < 1e-9 * step { 0.0 } else { tick });
        tick += step;
    }
    found
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

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(-170.0, 100.0, 4, true), [-90.0, 0.0, 90.0]);
        assert_eq!(ticks(0.0, 10.0, 6, false), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        for (from, to) in [
            (0.0, 1e-5),
            (-3e7, 9e9),
            (12.0, 12.5),
            (5.0, 5.0),
            (f64::NAN, 1.0),
            (0.0, f64::INFINITY),
        ] {
            for degrees in [true, false] {
                let found = ticks(from, to, 6, degrees);
                assert!(found.len() <= 7 && found.iter().all(|t| t.is_finite()), "{found:?}");
                assert!(found.windows(2).all(|w| w[0] < w[1]), "{found:?}");
            }
        }
    }
}
