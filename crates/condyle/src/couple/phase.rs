//! The phase that all angles of periodic motion share, and what each does beside it.
#![allow(clippy::cast_precision_loss, reason = "counts are below 2^32")]

use std::f64::consts::{PI, TAU};
use std::ops::Range;

use super::angles::Angles;
use super::beside::dot;
use crate::math::trig;

/// Periods that are looked for, seconds.
const PERIODS_S: [f64; 2] = [0.3, 4.0];

/// Motion whose liveliest angles are as alike as this after a period has that period.
const PERIODIC: f64 = 0.4;

/// The most angles that the phase is taken from.
const MOST: usize = 24;

/// A function of the phase has so many harmonics.
const HARMONICS: usize = 6;

/// How often the phase is made better.
const ROUNDS: usize = 3;

/// The period of a stretch, if its liveliest quarter of angles has one.
pub(super) fn period(alike: &[Option<Vec<f64>>], n: usize, step_s: f64) -> Option<usize> {
    let moving: Vec<&Vec<f64>> = alike.iter().flatten().collect();
    let count = moving.len().div_ceil(4);
    if count == 0 {
        return None;
    }
    let lags = moving.iter().map(|a| a.len()).min().unwrap_or(0);
    let together = |lag: usize| {
        let mut of: Vec<f64> = moving.iter().map(|a| a[lag]).collect();
        of.sort_unstable_by(|a, b| b.total_cmp(a));
        of[..count].iter().sum::<f64>() / count as f64
    };
    let all: Vec<f64> = (0..lags).map(together).collect();
    let [least, most] = PERIODS_S.map(|s| s / step_s);
    let mut lowest = f64::INFINITY;
    let mut peaks: Vec<(usize, f64)> = Vec::new();
    for lag in 1..lags.saturating_sub(1) {
        lowest = lowest.min(all[lag]);
        let peak = all[lag] >= all[lag - 1] && all[lag] > all[lag + 1];
        let in_range = (least..=most).contains(&(lag as f64)) && 2 * lag <= n;
        if peak && in_range && all[lag] > PERIODIC && all[lag] - lowest > 0.2 {
            peaks.push((lag, all[lag]));
        }
    }
    let best = peaks.iter().map(|(_, r)| *r).fold(0.0, f64::max);
    peaks.iter().find(|(_, r)| *r >= 0.9 * best).map(|(lag, _)| *lag)
}

/// The common phase of a stretch with a period, in periods, never falling.
///
/// From the first guess on, every angle has its usual course, a function of the phase, and is ahead of it
/// or behind. What most of them are ahead by, over half a period around each sample, the phase is moved by.
pub(super) fn phase(
    angles: &Angles,
    alike: &[Option<Vec<f64>>],
    stretch: &Range<usize>,
    period: usize,
) -> Vec<f64> {
    let mut liveliest: Vec<(usize, f64)> = alike
        .iter()
        .enumerate()
        .filter_map(|(i, a)| Some((i, *a.as_ref()?.get(period)?)))
        .filter(|(_, r)| *r > 0.5 * PERIODIC)
        .collect();
    liveliest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    liveliest.truncate(MOST);
    let liveliest: Vec<usize> = liveliest.into_iter().map(|(i, _)| i).collect();
    let mut phase = guess(angles, &liveliest, stretch, period);
    let n = stretch.len();
    let half = (period / 4).max(1);
    for _ in 0..ROUNDS {
        let waves = Waves::of(&phase);
        // How far ahead, times how much can be told, and how much can be told.
        let mut ahead = vec![[0.0; 2]; n];
        for i in &liveliest {
            let column = &angles.columns[*i][stretch.clone()];
            let course = waves.course(column);
            let rest = course.rest(column);
            let square = rest.iter().map(|v| v * v).sum::<f64>() / n as f64;
            if square <= 0.0 || square.is_nan() {
                continue;
            }
            for ((ahead, slope), rest) in ahead.iter_mut().zip(&course.slope).zip(&rest) {
                ahead[0] += slope * rest / square;
                ahead[1] += slope * slope / square;
            }
        }
        let moved = |i: usize| {
            let window = &ahead[i.saturating_sub(half)..(i + half + 1).min(n)];
            let [sum, weight] =
                window.iter().fold([0.0; 2], |[a, b], [sum, weight]| [a + sum, b + weight]);
            if weight > 0.0 { (sum / weight).clamp(-0.1, 0.1) } else { 0.0 }
        };
        let mut better: Vec<f64> = (0..n).map(|i| phase[i] + moved(i)).collect();
        let steady = 1.0 / period as f64;
        let start = better.first().copied().unwrap_or(0.0);
        better.iter_mut().for_each(|v| *v -= start);
        for i in 1..n {
            let least = better[i - 1] + 0.1 * steady;
            better[i] = better[i].max(least);
        }
        phase = better;
    }
    phase
}

/// Functions of a phase that tell nothing of each other: a constant, and harmonics.
pub(super) struct Waves {
    /// Each of length one, at every sample.
    columns: Vec<Vec<f64>>,
    /// How fast each goes with the phase, per period.
    slopes: Vec<Vec<f64>>,
}

/// What an angle usually does at a phase.
pub(super) struct Course {
    pub(super) usual: Vec<f64>,
    /// Per period.
    slope: Vec<f64>,
}

impl Course {
    /// What is left.
    pub(super) fn rest(&self, column: &[f64]) -> Vec<f64> {
        column.iter().zip(&self.usual).map(|(v, usual)| v - usual).collect()
    }
}

impl Waves {
    /// By the method of Gram and Schmidt.
    pub(super) fn of(phase: &[f64]) -> Self {
        let mut waves = Self { columns: Vec::new(), slopes: Vec::new() };
        waves.add(vec![1.0; phase.len()], vec![0.0; phase.len()]);
        for k in 1..=HARMONICS {
            let turn = TAU * k as f64;
            let of = |p: &f64| trig::sin_cos(turn * p);
            let (sin, cos): (Vec<f64>, Vec<f64>) = phase.iter().map(of).unzip();
            let slope = |of: &[f64], sign: f64| of.iter().map(|v| sign * turn * v).collect();
            let slopes = [slope(&cos, 1.0), slope(&sin, -1.0)];
            for (column, slope) in [sin, cos].into_iter().zip(slopes) {
                waves.add(column, slope);
            }
        }
        waves
    }

    fn add(&mut self, mut column: Vec<f64>, mut slope: Vec<f64>) {
        for (other, other_slope) in self.columns.iter().zip(&self.slopes) {
            let share = dot(&column, other);
            column.iter_mut().zip(other).for_each(|(v, o)| *v -= share * o);
            slope.iter_mut().zip(other_slope).for_each(|(v, o)| *v -= share * o);
        }
        let length = dot(&column, &column).sqrt();
        // A harmonic that the others make up for adds nothing.
        if length > 1e-3 * (column.len() as f64).sqrt() {
            column.iter_mut().chain(&mut slope).for_each(|v| *v /= length);
            self.columns.push(column);
            self.slopes.push(slope);
        }
    }

    pub(super) fn course(&self, column: &[f64]) -> Course {
        let zero = vec![0.0; column.len()];
        let mut course = Course { usual: zero.clone(), slope: zero };
        for (wave, slope) in self.columns.iter().zip(&self.slopes) {
            let share = dot(column, wave);
            course.usual.iter_mut().zip(wave).for_each(|(v, w)| *v += share * w);
            course.slope.iter_mut().zip(slope).for_each(|(v, w)| *v += share * w);
        }
        course
    }
}

/// A first guess at the common phase of a stretch with a period, in periods, never falling.
///
/// Every angle that is alike after a period is brought to its amplitude and phase at that period, over
/// two periods around each sample. What they share is the strongest component of these.
fn guess(angles: &Angles, liveliest: &[usize], stretch: &Range<usize>, period: usize) -> Vec<f64> {
    let n = stretch.len();
    let half = i64::try_from(period).unwrap_or(1);
    let window: Vec<(i64, [f64; 2])> = (-half..=half)
        .map(|s| {
            let turn = TAU * s as f64 / period as f64;
            let weight = 0.5 + 0.5 * trig::cos(PI * s as f64 / half as f64);
            let (sin, cos) = trig::sin_cos(turn);
            (s, [weight * cos, -weight * sin])
        })
        .collect();
    let demodulated: Vec<Vec<[f64; 2]>> = liveliest
        .iter()
        .map(|i| {
            let column = &angles.columns[*i][stretch.clone()];
            let mean = column.iter().sum::<f64>() / n as f64;
            let square = column.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n as f64;
            let scale = if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
            (0..n)
                .map(|at| {
                    window.iter().fold([0.0; 2], |[re, im], (s, [cos, sin])| {
                        let there = i64::try_from(at).unwrap_or(0) + s;
                        let value = usize::try_from(there).ok().and_then(|t| column.get(t));
                        let value = value.map_or(0.0, |v| (v - mean) * scale);
                        [re + value * cos, im + value * sin]
                    })
                })
                .collect()
        })
        .collect();
    let common = strongest(&demodulated, n);
    let steady = 1.0 / period as f64;
    let mut phase = vec![0.0; n];
    for i in 1..n {
        let [a, b] = [common[i - 1], common[i]];
        let turned = trig::atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]) / TAU;
        phase[i] = phase[i - 1] + turned.clamp(0.25 * steady, 2.0 * steady);
    }
    phase
}

/// What complex columns have in common: the first left singular vector, but for its length.
fn strongest(columns: &[Vec<[f64; 2]>], n: usize) -> Vec<[f64; 2]> {
    const STEPS: usize = 30;
    let mut weights = vec![[0.0; 2]; columns.len()];
    if let Some(first) = weights.first_mut() {
        *first = [1.0, 0.0];
    }
    let mut common = vec![[0.0; 2]; n];
    for _ in 0..STEPS {
        common.fill([0.0; 2]);
        for (column, [re, im]) in columns.iter().zip(&weights) {
            for (sum, [a, b]) in common.iter_mut().zip(column) {
                sum[0] += a * re - b * im;
                sum[1] += a * im + b * re;
            }
        }
        for (column, weight) in columns.iter().zip(&mut weights) {
            // The conjugate of the column times what is common.
            *weight = column.iter().zip(&common).fold([0.0; 2], |[re, im], ([a, b], [c, d])| {
                [re + a * c + b * d, im + a * d - b * c]
            });
        }
        let length = weights.iter().flatten().map(|w| w * w).sum::<f64>().sqrt();
        if length <= 0.0 {
            break;
        }
        weights.iter_mut().flatten().for_each(|w| *w /= length);
    }
    common
}
