//! Functions through samples, and how well they are known. In degrees.
#![allow(clippy::cast_precision_loss, reason = "counts are below 2^32")]

use super::angles::quantile;
use super::dice::Dice;
use crate::maps::Curve;

/// How many points a function has at most.
const POINTS: usize = 10;

/// A part of a bound has at least so many samples.
const LEAST: usize = 20;

/// The share of the samples that a bound leaves out on its side.
const OUTSIDE: f64 = 0.01;

/// No sample of the active angle within this share of its range is a gap.
const GAP: f64 = 0.2;

/// How often blocks of the motion are drawn anew.
const DRAWS: usize = 100;

/// A function of the active angle so near to a line is one, degrees.
const STRAIGHT: f64 = 0.5;

/// A function with its band.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The function, in degrees.
    pub curve: Curve,
    /// Where it is at the points that it was found by: `[x, y, low, high]`, in degrees, with the ends of
    /// the band that 95 % of all draws of blocks are in.
    pub band: Vec<[f64; 4]>,
}

impl Fitted {
    /// Half the width of the band where it is widest.
    #[must_use]
    pub fn uncertain_deg(&self) -> f64 {
        self.band.iter().map(|[_, _, low, high]| 0.5 * (high - low)).fold(0.0, f64::max)
    }
}

impl Fitted {
    /// Whether its highest and its lowest point differ by more than their bands, and by more than twice
    /// what is not known.
    pub(super) fn has_relief(&self) -> bool {
        let by_value = |a: &&[f64; 4], b: &&[f64; 4]| a[1].total_cmp(&b[1]);
        let (lowest, highest) =
            (self.band.iter().min_by(by_value), self.band.iter().max_by(by_value));
        lowest.zip(highest).is_some_and(|(lowest, highest)| {
            lowest[3] < highest[2] && highest[1] - lowest[1] > 2.0 * self.uncertain_deg()
        })
    }
}

/// Which function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Through the middle.
    Middle,
    /// Above nearly all.
    Upper,
    /// Below nearly all.
    Lower,
}

/// Samples of two angles, in blocks that have forgotten each other.
pub(super) struct Samples {
    /// Active and passive, degrees.
    pub(super) points: Vec<[f64; 2]>,
    /// Where each block ends.
    pub(super) blocks: Vec<usize>,
}

impl Samples {
    /// Only those on one side of a gap in the active angle, if there is one: nothing is known across it.
    pub(super) fn new(points: Vec<[f64; 2]>, blocks: Vec<usize>) -> Self {
        let mut x: Vec<f64> = points.iter().map(|p| p[0]).collect();
        x.sort_unstable_by(f64::total_cmp);
        let widest = GAP * (quantile(&x, 0.995) - quantile(&x, 0.005));
        let mut most = 0..0;
        let mut from = 0;
        for to in 1..=x.len() {
            if to == x.len() || x[to] - x[to - 1] > widest {
                if to - from > most.len() {
                    most = from..to;
                }
                from = to;
            }
        }
        if most.len() == x.len() {
            return Self { points, blocks };
        }
        let within = x[most.start]..=x[most.end - 1];
        let (mut kept, mut ends, mut at) = (Vec::new(), Vec::new(), 0);
        for end in blocks {
            let before = kept.len();
            kept.extend(points[at..end].iter().filter(|p| within.contains(&p[0])));
            if kept.len() > before {
                ends.push(kept.len());
            }
            at = end;
        }
        Self { points: kept, blocks: ends }
    }

    /// The function, and its band from blocks drawn anew; `None` if there are too few samples.
    pub(super) fn fit(&self, wanted: Wanted, seed: u64) -> Option<Fitted> {
        let at = self.places(wanted)?;
        let own = self.values(&at, wanted, None)?;
        let mut dice = Dice::new(seed);
        let mut draws: Vec<Vec<f64>> = vec![Vec::new(); own.len()];
        for _ in 0..DRAWS {
            let count = self.blocks.len();
            let mut times = vec![0_u32; count];
            for _ in 0..count {
                times[dice.below(count)] += 1;
            }
            // Of a draw that leaves a part empty nothing is known there.
            if let Some(values) = self.values(&at, wanted, Some(&times)) {
                draws.iter_mut().zip(values).for_each(|(all, value)| all.push(value));
            }
        }
        let mut band: Vec<[f64; 4]> = Vec::new();
        for ((x, y), mut all) in at.points.iter().zip(&own).zip(draws) {
            all.sort_unstable_by(f64::total_cmp);
            let [low, high] = match all.len() {
                0 => [*y, *y],
                _ => [quantile(&all, 0.025), quantile(&all, 0.975)],
            };
            band.push([*x, *y, low.min(*y), high.max(*y)]);
        }
        let points: Vec<[f64; 2]> = band.iter().map(|[x, y, ..]| [*x, *y]).collect();
        let line = line(&points);
        let straight = band.iter().all(|[x, y, low, high]| {
            let off = line[0] + line[1] * x - y;
            off.abs() <= STRAIGHT || (low - y..=high - y).contains(&off)
        });
        // More digits than anyone measures.
        let rounded = |v: f64| (1e3 * v).round() / 1e3;
        let points: Vec<[f64; 2]> = points.into_iter().map(|p| p.map(rounded)).collect();
        let curve = if straight {
            Curve::Linear { slope: (1e5 * line[1]).round() / 1e5, offset: rounded(line[0]) }
        } else if wanted == Wanted::Middle {
            Curve::Spline(points)
        } else {
            Curve::Points(points)
        };
        Some(Fitted { curve, band })
    }

    /// The share of the passive angle's variance that a function of the active one leaves.
    pub(super) fn left(&self) -> f64 {
        let Some(at) = self.places(Wanted::Middle) else { return 1.0 };
        let Some(values) = self.values(&at, Wanted::Middle, None) else { return 1.0 };
        let points = at.points.iter().zip(values).map(|(x, y)| [*x, y]).collect();
        let Ok(curve) = Curve::Points(points).prepare() else { return 1.0 };
        let mean = self.points.iter().map(|p| p[1]).sum::<f64>() / self.points.len().max(1) as f64;
        let sum = |off: &dyn Fn(&[f64; 2]) -> f64| -> f64 {
            self.points.iter().map(|p| off(p) * off(p)).sum()
        };
        let all = sum(&|p| p[1] - mean);
        if all > 0.0 { sum(&|p| p[1] - curve.at(p[0])[0]) / all } else { 1.0 }
    }

    /// Where the points of a function are: between evenly spaced and evenly filled.
    fn places(&self, wanted: Wanted) -> Option<Places> {
        let mut x: Vec<f64> = self.points.iter().map(|p| p[0]).collect();
        x.sort_unstable_by(f64::total_cmp);
        let [low, high] = [quantile(&x, 0.005), quantile(&x, 0.995)];
        if x.len() < 2 * LEAST || high - low < 1e-6 {
            return None;
        }
        let between = |i: usize, n: usize| {
            let share = i as f64 / n as f64;
            0.5 * (low + share * (high - low)) + 0.5 * quantile(&x, share.clamp(0.005, 0.995))
        };
        if wanted == Wanted::Middle {
            let mut points: Vec<f64> = (0..POINTS).map(|i| between(i, POINTS - 1)).collect();
            points.dedup_by(|b, a| *b - *a < 1e-3 * (high - low));
            return Some(Places { points, bins: Vec::new() });
        }
        // Parts with enough samples, each with its mean for a point.
        let mut edges = Vec::new();
        let (mut points, mut from) = (Vec::new(), 0);
        for i in 1..=POINTS {
            let edge = if i == POINTS { f64::INFINITY } else { between(i, POINTS) };
            let to = x.partition_point(|v| *v < edge);
            let few_left = x.len() - to < LEAST && i < POINTS;
            if to - from >= LEAST && !few_left {
                points.push(x[from..to].iter().sum::<f64>() / (to - from) as f64);
                edges.push(edge);
                from = to;
            }
        }
        points.dedup_by(|b, a| *b <= *a);
        if points.len() < 2 || points.len() != edges.len() {
            return None;
        }
        let bins = self.points.iter().map(|p| edges.partition_point(|e| *e <= p[0])).collect();
        Some(Places { points, bins })
    }

    /// The function at its points; each block counts so many times.
    fn values(&self, at: &Places, wanted: Wanted, times: Option<&[u32]>) -> Option<Vec<f64>> {
        let mut from = 0;
        let blocks = self.blocks.iter().enumerate().map(|(number, to)| {
            let range = from..*to;
            from = *to;
            (times.map_or(1, |times| times[number]), range)
        });
        if wanted == Wanted::Middle {
            let mut sums = Hats::new(&at.points);
            for (times, range) in blocks {
                for [x, y] in &self.points[range] {
                    sums.add(*x, *y, f64::from(times));
                }
            }
            return sums.solved();
        }
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); at.points.len()];
        for (times, range) in blocks {
            for i in range {
                if let Some(part) = parts.get_mut(at.bins[i]) {
                    part.extend(std::iter::repeat_n(i, times as usize));
                }
            }
        }
        let share = if wanted == Wanted::Upper { 1.0 - OUTSIDE } else { OUTSIDE };
        let mut room = Vec::new();
        let mut end = |part: &Vec<usize>, off: &dyn Fn([f64; 2]) -> f64| {
            room.clear();
            room.extend(part.iter().map(|i| off(self.points[*i])));
            selected(&mut room, share)
        };
        let first: Option<Vec<f64>> = parts.iter().map(|part| end(part, &|p| p[1])).collect();
        let first = first?;
        // A bound that rises or falls within a part is not where the part's end is: what is beyond the
        // slope through these ends counts.
        let along = |x: f64| {
            let last = at.points.len() - 2;
            let i = at.points.partition_point(|p| *p <= x).saturating_sub(1).min(last);
            let share = (x - at.points[i]) / (at.points[i + 1] - at.points[i]);
            first[i] + share * (first[i + 1] - first[i])
        };
        let beyond = |part| end(part, &|[x, y]| y - along(x));
        let beyond: Option<Vec<f64>> = parts.iter().map(beyond).collect();
        Some(first.iter().zip(beyond?).map(|(end, beyond)| end + beyond).collect())
    }
}

/// What a share of numbers is below, straight between them; they are put into another order. `None` if
/// there are none.
fn selected(values: &mut [f64], share: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let at = share * last as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the list")]
    let below = (at.floor() as usize).min(last);
    let (_, value, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(*value);
    Some(*value + (at - at.floor()) * (next - *value))
}

/// Where the points of a function are.
struct Places {
    points: Vec<f64>,
    /// The part that each sample is in; none for a function through the middle.
    bins: Vec<usize>,
}

/// Least squares over functions that are straight between points: a system with three diagonals.
struct Hats<'a> {
    points: &'a [f64],
    diagonal: Vec<f64>,
    /// Right of the diagonal.
    beside: Vec<f64>,
    right: Vec<f64>,
    n: f64,
}

impl<'a> Hats<'a> {
    fn new(points: &'a [f64]) -> Self {
        let zeros = vec![0.0; points.len()];
        Self { points, diagonal: zeros.clone(), beside: zeros.clone(), right: zeros, n: 0.0 }
    }

    fn add(&mut self, x: f64, y: f64, times: f64) {
        let last = self.points.len() - 2;
        let i = self.points.partition_point(|p| *p <= x).saturating_sub(1).min(last);
        let [a, b] = [self.points[i], self.points[i + 1]];
        // Beyond the ends the function stays.
        let share = ((x - a) / (b - a)).clamp(0.0, 1.0);
        let [u, v] = [1.0 - share, share];
        self.diagonal[i] += times * u * u;
        self.diagonal[i + 1] += times * v * v;
        self.beside[i] += times * u * v;
        self.right[i] += times * u * y;
        self.right[i + 1] += times * v * y;
        self.n += times;
    }

    /// `None` if there are no samples. Where there are none nearby it goes on as beside.
    fn solved(mut self) -> Option<Vec<f64>> {
        let n = self.points.len();
        if n < 2 || self.n <= 0.0 {
            return None;
        }
        let little = 1e-4 * self.n / n as f64;
        for i in 0..n - 1 {
            self.diagonal[i] += little;
            self.diagonal[i + 1] += little;
            self.beside[i] -= little;
        }
        // Thomas' algorithm; the matrix is positive definite.
        for i in 1..n {
            let factor = self.beside[i - 1] / self.diagonal[i - 1];
            self.diagonal[i] -= factor * self.beside[i - 1];
            self.right[i] -= factor * self.right[i - 1];
        }
        let mut values = self.right;
        values[n - 1] /= self.diagonal[n - 1];
        for i in (0..n - 1).rev() {
            values[i] = (values[i] - self.beside[i] * values[i + 1]) / self.diagonal[i];
        }
        values.iter().all(|v| v.is_finite()).then_some(values)
    }
}

/// The line through points with the least squares: its value at 0 and its slope.
fn line(points: &[[f64; 2]]) -> [f64; 2] {
    let n = points.len().max(1) as f64;
    let mean = |i: usize| points.iter().map(|p| p[i]).sum::<f64>() / n;
    let [x, y] = [mean(0), mean(1)];
    let across: f64 = points.iter().map(|p| (p[0] - x) * (p[0] - x)).sum();
    let both: f64 = points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    let slope = if across > 0.0 { both / across } else { 0.0 };
    [y - slope * x, slope]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_drawn_across_a_gap() {
        let point = |i: u32| if i < 300 { f64::from(i) * 0.1 } else { 100.0 + f64::from(i) * 0.1 };
        let points: Vec<[f64; 2]> = (0..400).map(|i| [point(i), 1.0]).collect();
        let samples = Samples::new(points.clone(), vec![100, 250, 400]);
        assert_eq!((samples.points.len(), samples.blocks), (300, vec![100, 250, 300]));
        let samples = Samples::new(points[..300].to_vec(), vec![100, 300]);
        assert_eq!((samples.points.len(), samples.blocks), (300, vec![100, 300]));
        assert!(Samples::new(Vec::new(), Vec::new()).points.is_empty());
    }

    #[test]
    fn what_is_selected_is_the_quantile() {
        let values: Vec<f64> = (0..57_u32).map(|i| f64::from(i * i % 41)).collect();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        for share in [0.0, 0.01, 0.3, 0.5, 0.99, 1.0] {
            let found = selected(&mut values.clone(), share).unwrap();
            assert!((found - quantile(&sorted, share)).abs() < 1e-12);
        }
        assert_eq!(selected(&mut [], 0.5), None);
    }

    /// A bound with a slope is where it is, and not at the higher end of each part.
    #[test]
    fn a_bound_with_a_slope_is_found_where_it_is() {
        let points: Vec<[f64; 2]> = (0..20_000_u32)
            .map(|i| {
                let x = f64::from(i % 200) * 0.5;
                [x, 80.0 - 0.7 * x - f64::from(i / 200) * 0.4]
            })
            .collect();
        let samples = Samples::new(points, (1..=20).map(|i| i * 1000).collect());
        let fit = samples.fit(Wanted::Upper, 1).unwrap();
        for [x, y, ..] in fit.band {
            let off = y - (80.0 - 0.7 * x);
            // One of a hundred is beyond.
            assert!((-0.9..=0.1).contains(&off), "{x}: {off}");
        }
    }
}
