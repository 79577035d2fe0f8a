//! Functions of one number, with their slopes: what makes one angle follow another.

use std::fmt;

/// A function of one number, in the units of tables and documents: degrees, metres, or neither.
///
/// Beyond its first and last point a function through points keeps their values.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// `slope · x + offset`.
    Linear {
        /// What is gained by one more.
        slope: f64,
        /// The value at 0.
        offset: f64,
    },
    /// `c₀ + c₁ x + c₂ x² + …`.
    Polynomial(Vec<f64>),
    /// Straight from point to point; `[x, y]`, with rising x.
    Points(Vec<[f64; 2]>),
    /// Through the points smoothly: a cubic from each to the next, which rises or falls wherever they
    /// do and goes no farther.
    ///
    /// # Source
    ///
    /// F. N. Fritsch, R. E. Carlson, "Monotone piecewise cubic interpolation", SIAM J. Numer. Anal.
    /// 17(2), 1980; slopes at the points by F. N. Fritsch, J. Butland, "A method for constructing local
    /// monotone piecewise cubic interpolants", SIAM J. Sci. Stat. Comput. 5(2), 1984: the weighted
    /// harmonic mean of those beside. The first and the last slope are those of the parabola through
    /// three points, as far as it stays monotone.
    Spline(Vec<[f64; 2]>),
}

impl Curve {
    /// The same function of other units: `y · f(x · …)`. One unit of its argument are `x` of the new
    /// ones, and one of its value `y`.
    #[must_use]
    pub fn scaled(&self, x: f64, y: f64) -> Self {
        let point = |[a, b]: &[f64; 2]| [a * x, b * y];
        match self {
            Self::Linear { slope, offset } => {
                Self::Linear { slope: slope * y / x, offset: offset * y }
            }
            Self::Polynomial(coefficients) => {
                let mut power = y;
                let mut next = |c: &f64| {
                    let scaled = c * power;
                    power /= x;
                    scaled
                };
                Self::Polynomial(coefficients.iter().map(&mut next).collect())
            }
            Self::Points(points) => Self::Points(points.iter().map(point).collect()),
            Self::Spline(points) => Self::Spline(points.iter().map(point).collect()),
        }
    }
}

impl Default for Curve {
    fn default() -> Self {
        Self::Linear { slope: 1.0, offset: 0.0 }
    }
}

/// Why a function cannot be used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CurveError {
    /// A number is not finite.
    NotFinite,
    /// There are fewer points, or coefficients, than it takes.
    TooFew {
        /// How many there are.
        found: usize,
        /// How many it takes.
        least: usize,
    },
    /// A point is not to the right of the one before it.
    NotRising {
        /// Which, from 0.
        point: usize,
    },
}

impl fmt::Display for CurveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => f.write_str("a number is not finite"),
            Self::TooFew { found, least } => write!(f, "it has {found} entries and needs {least}"),
            Self::NotRising { point } => {
                write!(f, "point {point} is not to the right of the one before it")
            }
        }
    }
}

impl std::error::Error for CurveError {}

impl Curve {
    /// The same, checked, and with what can be known beforehand.
    ///
    /// # Errors
    ///
    /// If there are too few points, they do not rise, or a number is not finite.
    pub fn prepare(&self) -> Result<PreparedCurve, CurveError> {
        match self {
            Self::Linear { slope, offset } => polynomial(&[*offset, *slope]),
            Self::Polynomial(coefficients) => polynomial(coefficients),
            Self::Points(points) => through(points, false),
            Self::Spline(points) => through(points, true),
        }
    }
}

fn polynomial(coefficients: &[f64]) -> Result<PreparedCurve, CurveError> {
    if coefficients.is_empty() {
        return Err(CurveError::TooFew { found: 0, least: 1 });
    }
    if !coefficients.iter().all(|c| c.is_finite()) {
        return Err(CurveError::NotFinite);
    }
    Ok(PreparedCurve(match *coefficients {
        [offset, slope] => Kind::Line { offset, slope },
        _ => Kind::Polynomial(coefficients.to_vec()),
    }))
}

fn through(points: &[[f64; 2]], smooth: bool) -> Result<PreparedCurve, CurveError> {
    let [.., last] = points else { return Err(CurveError::TooFew { found: 0, least: 2 }) };
    if points.len() < 2 {
        return Err(CurveError::TooFew { found: points.len(), least: 2 });
    }
    if !points.as_flattened().iter().all(|x| x.is_finite()) {
        return Err(CurveError::NotFinite);
    }
    if let Some(i) = points.windows(2).position(|pair| pair[0][0] >= pair[1][0]) {
        return Err(CurveError::NotRising { point: i + 1 });
    }
    let slope = |pair: &[[f64; 2]]| (pair[1][1] - pair[0][1]) / (pair[1][0] - pair[0][0]);
    let slopes: Vec<f64> = points.windows(2).map(slope).collect();
    let tangents = smooth.then(|| tangents(points, &slopes));
    let piece = |i: usize| {
        let [x, y] = points[i];
        let width = points[i + 1][0] - x;
        let [first, last] = match &tangents {
            Some(tangents) => [tangents[i], tangents[i + 1]],
            None => [slopes[i]; 2],
        };
        let second = (3.0 * slopes[i] - 2.0 * first - last) / width;
        let third = (first + last - 2.0 * slopes[i]) / (width * width);
        Piece { x, cubic: [y, first, second, third] }
    };
    let pieces = (0..slopes.len()).map(piece).collect();
    Ok(PreparedCurve(Kind::Pieces { pieces, last: *last }))
}

/// Slopes at the points of a monotone spline, from those between them.
fn tangents(points: &[[f64; 2]], slopes: &[f64]) -> Vec<f64> {
    let n = points.len();
    let width = |i: usize| points[i + 1][0] - points[i][0];
    let mut tangents = vec![0.0; n];
    if n == 2 {
        return vec![slopes[0]; 2];
    }
    for i in 1..n - 1 {
        let (before, after) = (slopes[i - 1], slopes[i]);
        if before * after > 0.0 {
            let (w, v) = (2.0 * width(i) + width(i - 1), width(i) + 2.0 * width(i - 1));
            tangents[i] = (w + v) / (w / before + v / after);
        }
    }
    // At an end: the parabola through it and the next two, unless that turns back or overshoots.
    let end = |own: f64, next: f64, own_width: f64, next_width: f64| {
        let slope =
            ((2.0 * own_width + next_width) * own - own_width * next) / (own_width + next_width);
        if slope * own <= 0.0 {
            0.0
        } else if own * next <= 0.0 && slope.abs() > 3.0 * own.abs() {
            3.0 * own
        } else {
            slope
        }
    };
    tangents[0] = end(slopes[0], slopes[1], width(0), width(1));
    tangents[n - 1] = end(slopes[n - 2], slopes[n - 3], width(n - 2), width(n - 3));
    tangents
}

/// A [`Curve`] ready to be asked.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedCurve(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Line {
        offset: f64,
        slope: f64,
    },
    /// Rising powers; at least one.
    Polynomial(Vec<f64>),
    /// At least one, and where the last one ends.
    Pieces {
        pieces: Vec<Piece>,
        last: [f64; 2],
    },
}

/// From `x` on, a cubic in what is beyond it, rising powers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    x: f64,
    cubic: [f64; 4],
}

impl PreparedCurve {
    /// The value, and the slope. At a corner, and at an end, the slope to the right of it; at the last
    /// point 0.
    #[must_use]
    pub fn at(&self, x: f64) -> [f64; 2] {
        match &self.0 {
            Kind::Line { offset, slope } => [slope * x + offset, *slope],
            Kind::Polynomial(coefficients) => horner(coefficients, x),
            Kind::Pieces { pieces, last } => match piece(pieces, *last, x) {
                Ok((piece, beyond)) => horner(&piece.cubic, beyond),
                Err(flat) => [flat, 0.0],
            },
        }
    }

    /// The value alone, with the bits that [`at`](Self::at) has.
    #[inline]
    pub(super) fn value(&self, x: f64) -> f64 {
        match &self.0 {
            Kind::Line { offset, slope } => slope * x + offset,
            of => of.value(x),
        }
    }
}

impl Kind {
    fn value(&self, x: f64) -> f64 {
        match self {
            Self::Line { offset, slope } => slope * x + offset,
            Self::Polynomial(coefficients) => horner_value(coefficients, x),
            Self::Pieces { pieces, last } => match piece(pieces, *last, x) {
                Ok((piece, beyond)) => horner_value(&piece.cubic, beyond),
                Err(flat) => flat,
            },
        }
    }
}

/// The piece that a number is in and how far beyond its begin; or the value there where it is flat.
#[inline]
fn piece(pieces: &[Piece], last: [f64; 2], x: f64) -> Result<(&Piece, f64), f64> {
    if x >= last[0] {
        return Err(last[1]);
    }
    let after = match pieces.len() {
        // Few are counted sooner than halved.
        0..=FEW => pieces.iter().map(|piece| usize::from(piece.x <= x)).sum(),
        _ => pieces.partition_point(|piece| piece.x <= x),
    };
    match after.checked_sub(1).map(|i| &pieces[i]) {
        Some(piece) => Ok((piece, x - piece.x)),
        // Before the first, or not a number.
        None => Err(pieces[0].cubic[0]),
    }
}

/// So many pieces are looked at one after the other.
const FEW: usize = 16;

/// A polynomial of rising powers.
#[inline]
fn horner_value(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |value, c| value * x + c)
}

/// A polynomial of rising powers and its derivative.
fn horner(coefficients: &[f64], x: f64) -> [f64; 2] {
    coefficients
        .iter()
        .rev()
        .fold([0.0, 0.0], |[value, slope], c| [value * x + c, slope * x + value])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    fn points(rng: &mut Rng, rising: bool) -> Vec<[f64; 2]> {
        let n = 2 + rng.below(7);
        let (mut x, mut y) = (rng.between(-50.0, 50.0), rng.between(-50.0, 50.0));
        (0..n)
            .map(|_| {
                x += rng.between(0.1, 20.0);
                y += if rising { rng.between(0.0, 20.0) } else { rng.between(-20.0, 20.0) };
                [x, y]
            })
            .collect()
    }

    /// Against differences, away from corners (D2, D3).
    #[test]
    fn d2_slopes_are_those_of_differences() {
        let mut rng = Rng::new(1);
        for _ in 0..300 {
            let some = points(&mut rng, false);
            let few: Vec<f64> = (0..1 + rng.below(5)).map(|_| rng.normal()).collect();
            let curves = [
                Curve::Linear { slope: rng.normal(), offset: rng.normal() },
                Curve::Polynomial(few),
                Curve::Points(some.clone()),
                Curve::Spline(some.clone()),
            ];
            for curve in curves {
                let curve = curve.prepare().unwrap();
                let x = rng.between(some[0][0] - 5.0, some[some.len() - 1][0] + 5.0);
                let h = 1e-5;
                if some.iter().any(|[at, _]| (at - x).abs() < 2.0 * h) {
                    continue;
                }
                let [value, slope] = curve.at(x);
                let differences = (curve.at(x + h)[0] - curve.at(x - h)[0]) / (2.0 * h);
                let size = 1.0 + value.abs() + slope.abs();
                assert!((slope - differences).abs() < 1e-6 * size, "{slope} {differences}");
            }
        }
    }

    #[test]
    fn d3_curves_go_through_their_points_and_splines_do_not_overshoot() {
        let mut rng = Rng::new(2);
        for _ in 0..300 {
            let some = points(&mut rng, true);
            let spline = Curve::Spline(some.clone()).prepare().unwrap();
            let straight = Curve::Points(some.clone()).prepare().unwrap();
            for [x, y] in &some {
                assert!((spline.at(*x)[0] - y).abs() < 1e-9);
                assert!((straight.at(*x)[0] - y).abs() < 1e-9);
            }
            let (first, last) = (some[0], some[some.len() - 1]);
            let mut before = first[1] - 1e-9;
            for i in 0..=1000 {
                let x = first[0] - 1.0 + (last[0] - first[0] + 2.0) * f64::from(i) / 1000.0;
                let here = spline.at(x)[0];
                assert!(here > before - 1e-9, "{here} after {before}");
                assert!(here > first[1] - 1e-9 && here < last[1] + 1e-9);
                before = here;
            }
            // Smooth at the points between.
            for [x, _] in &some[1..some.len() - 1] {
                let (left, right) = (spline.at(x - 1e-12)[1], spline.at(x + 1e-12)[1]);
                assert!((left - right).abs() < 1e-6 * (1.0 + left.abs()), "{left} {right}");
            }
        }
    }

    /// Where a function has a corner, and where it becomes flat, there are two slopes: the right one counts.
    #[test]
    fn d2_at_corners_and_ends_the_slope_is_that_to_the_right() {
        let mut rng = Rng::new(17);
        for _ in 0..100 {
            let some = points(&mut rng, false);
            for curve in [Curve::Points(some.clone()), Curve::Spline(some.clone())] {
                let curve = curve.prepare().unwrap();
                for [x, y] in &some {
                    let [value, slope] = curve.at(*x);
                    let (h, [ahead, _]) = (1e-7, curve.at(x + 1e-7));
                    // Of a cubic h² is left of the difference; steps of x are 0.1 at least, of y 20 at most.
                    let size = 1.0 + slope.abs();
                    assert!((slope - (ahead - value) / h).abs() < 1e-2 * size, "{slope} at {x}");
                    assert!((value - y).abs() < 1e-9);
                }
                assert_eq!(curve.at(some[some.len() - 1][0])[1], 0.0);
            }
        }
    }

    /// Also of points that rise and fall: from each to the next it goes no farther than these.
    #[test]
    fn d3_splines_stay_between_their_points() {
        let mut rng = Rng::new(18);
        for _ in 0..300 {
            let some = points(&mut rng, false);
            let spline = Curve::Spline(some.clone()).prepare().unwrap();
            for pair in some.windows(2) {
                let ([x, y], [to_x, to_y]) = (pair[0], pair[1]);
                for k in 0..=50 {
                    let here = spline.at(x + (to_x - x) * f64::from(k) / 50.0)[0];
                    let inside = here > y.min(to_y) - 1e-9 && here < y.max(to_y) + 1e-9;
                    assert!(inside, "{here} between {y} and {to_y}");
                }
            }
        }
    }

    #[test]
    fn scaled_curves_are_the_same_function() {
        let mut rng = Rng::new(7);
        for _ in 0..50 {
            let some = points(&mut rng, false);
            let few: Vec<f64> = (0..4).map(|_| rng.normal()).collect();
            let line = Curve::Linear { slope: rng.normal(), offset: rng.normal() };
            let (x, y) = (rng.between(0.01, 3.0), rng.between(0.01, 3.0));
            let straight = Curve::Points(some.clone());
            for curve in [line, Curve::Polynomial(few), straight, Curve::Spline(some)] {
                let at = rng.between(-3.0, 3.0);
                let own = curve.prepare().unwrap().at(at)[0];
                let scaled = curve.scaled(x, y).prepare().unwrap().at(at * x)[0];
                assert!((own * y - scaled).abs() < 1e-12 * (1.0 + own.abs()), "{own} {scaled}");
            }
        }
    }

    #[test]
    fn what_is_no_function_is_an_error() {
        let error = |curve: Curve| curve.prepare().unwrap_err();
        let twice = vec![[0.0, 1.0], [1.0, 1.0], [1.0, 2.0]];
        assert_eq!(error(Curve::Points(twice.clone())), CurveError::NotRising { point: 2 });
        assert_eq!(error(Curve::Spline(twice)), CurveError::NotRising { point: 2 });
        let one = vec![[0.0, 1.0]];
        assert_eq!(error(Curve::Points(one)), CurveError::TooFew { found: 1, least: 2 });
        assert_eq!(error(Curve::Polynomial(vec![])), CurveError::TooFew { found: 0, least: 1 });
        assert_eq!(error(Curve::Polynomial(vec![f64::NAN])), CurveError::NotFinite);
        let bad = Curve::Linear { slope: f64::INFINITY, offset: 0.0 };
        assert_eq!(error(bad), CurveError::NotFinite);
        let curve = Curve::Points(vec![[0.0, 1.0], [1.0, 2.0]]).prepare().unwrap();
        for x in [f64::NAN, f64::INFINITY, -1e300] {
            assert!(curve.at(x)[0].is_finite());
        }
    }
}
