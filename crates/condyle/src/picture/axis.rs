//! Ranges of numbers and the marks along them.

/// The least and the largest of some numbers; `None` if there are none.
pub(crate) fn extent(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let start = [f64::INFINITY, f64::NEG_INFINITY];
    let [low, high] = values
        .into_iter()
        .filter(|v| v.is_finite())
        .fold(start, |[low, high], v| [low.min(v), high.max(v)]);
    (low <= high).then_some([low, high])
}

/// Numbers that people count in, some three to seven of them in a range: 1, 2, 5 times powers of ten;
/// for degrees 15, 30, 45, 90 above ten.
pub(crate) fn ticks(from: f64, to: f64, most: u32, degrees: bool) -> Vec<f64> {
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
