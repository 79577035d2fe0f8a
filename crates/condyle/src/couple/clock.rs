//! How long motion remembers, whether it comes again, and how two angles are taken out of step.
#![allow(clippy::cast_precision_loss, reason = "counts are below 2^32")]

use std::ops::Range;

use super::angles::Angles;
use super::dice::Dice;
use super::phase::{Waves, period, phase};
use crate::math::Angle;

/// The most shifts that are tried.
const SHIFTS: usize = 199;

/// An angle that is less like itself than this may be so by chance.
const FORGOTTEN: f64 = 0.2;

/// An angle moves in a stretch that has this share of its standard deviation.
const MOVES: f64 = 0.1;

/// What an angle does beside its usual course is at most this share of its variance.
const COURSE: f64 = 0.5;

/// The most lags that are looked at, seconds.
const MOST_LAG_S: f64 = 8.0;

/// How the motion goes in time.
pub(super) struct Clock {
    /// For every shift, the sample that stands in for each.
    pub(super) shifts: Vec<Vec<u32>>,
    /// For every stretch and angle, how many samples tell as much as one would that stands alone; `None`
    /// where it does not move.
    memory: Vec<Vec<Option<usize>>>,
    /// The period of every stretch in samples, if it has one.
    pub(super) periods: Vec<Option<usize>>,
    /// The phase of every sample of a stretch with a period, in periods.
    pub(super) phase: Vec<f64>,
    /// Of every angle, what it usually does at the phase of each sample, and what it does beside that; zero
    /// where motion has no period, or the angle does not move.
    pub(super) usual: Vec<Vec<f64>>,
    pub(super) beside: Vec<Vec<f64>>,
    /// As `memory`, of what angles do beside their usual course; `None` where that is next to nothing, or
    /// nearly all.
    memory_beside: Vec<Vec<Option<usize>>>,
}

impl Clock {
    pub(super) fn of(angles: &Angles, seed: u64) -> Self {
        let mut memory = Vec::new();
        let mut periods = Vec::new();
        let mut shifters = Vec::new();
        let nothing = || -> Vec<Vec<f64>> {
            angles.columns.iter().map(|column| vec![0.0; column.len()]).collect()
        };
        let mut phases = vec![0.0; angles.columns.first().map_or(0, Vec::len)];
        let (mut courses, mut beside, mut memory_beside) = (nothing(), nothing(), Vec::new());
        let least: Vec<f64> = angles.columns.iter().map(|column| least_square(column)).collect();
        for (number, stretch) in angles.stretches.iter().enumerate() {
            let alike: Vec<Option<Vec<f64>>> = angles
                .columns
                .iter()
                .zip(&least)
                .map(|(column, least)| {
                    autocorrelation(&column[stretch.clone()], *least, angles.step_s)
                })
                .collect();
            let own: Vec<Option<usize>> =
                alike.iter().map(|alike| alike.as_deref().map(remembered)).collect();
            let mut moving: Vec<usize> = own.iter().copied().flatten().collect();
            moving.sort_unstable();
            let usual = moving.get(moving.len() / 2).copied().unwrap_or(stretch.len());
            memory.push(own);
            let period = period(&alike, stretch.len(), angles.step_s);
            periods.push(period);
            let phase = period.map(|period| phase(angles, &alike, stretch, period));
            let mut own_beside = vec![None; angles.columns.len()];
            if let Some(phase) = &phase {
                phases[stretch.clone()].copy_from_slice(phase);
                let waves = Waves::of(phase);
                for (i, column) in angles.columns.iter().enumerate() {
                    if alike[i].is_some() {
                        let column = &column[stretch.clone()];
                        let course = waves.course(column);
                        let rest = course.rest(column);
                        // A course that leaves most of the angle open is none.
                        if square_of(&rest) <= COURSE * square_of(column) {
                            let alike = autocorrelation(&rest, noise_square(), angles.step_s);
                            own_beside[i] = alike.as_deref().map(remembered);
                        }
                        beside[i][stretch.clone()].copy_from_slice(&rest);
                        courses[i][stretch.clone()].copy_from_slice(&course.usual);
                    }
                }
            }
            memory_beside.push(own_beside);
            let dice = Dice::new(seed ^ number as u64);
            shifters.push(Shifter { stretch: stretch.clone(), phase, usual, dice });
        }
        let shifts = shifts(&mut shifters, angles.columns.first().map_or(0, Vec::len));
        Self { shifts, memory, periods, phase: phases, usual: courses, beside, memory_beside }
    }

    /// How many of the shifts tell something of their own, in the stretches that count: as many as there are
    /// times that are [`apart`](Self::apart), or [`apart_beside`](Self::apart_beside). A stretch without
    /// such a time tells nothing.
    pub(super) fn independent(
        &self,
        angles: &Angles,
        counts: impl Fn(usize) -> bool,
        apart: impl Fn(usize) -> Option<usize>,
    ) -> f64 {
        let of = |number: usize| {
            let length = angles.stretches[number].len() as f64;
            apart(number).map_or(0.0, |apart| (length / apart as f64 - 1.0).max(0.0))
        };
        let all: f64 = (0..angles.stretches.len()).filter(|n| counts(*n)).map(of).sum();
        all.min(self.shifts.len() as f64)
    }

    /// After how many samples of a stretch two angles have forgotten each other: a period, or the longer
    /// memory. `None` if one of them does not move there.
    pub(super) fn apart(&self, stretch: usize, pair: [usize; 2]) -> Option<usize> {
        let [a, b] = pair.map(|angle| self.memory[stretch][angle]);
        let longer = a?.max(b?);
        Some(self.periods[stretch].unwrap_or(longer).max(1))
    }

    /// After how many samples of a stretch with a period that is forgotten which two angles do beside their
    /// usual courses. `None` if there is no period, or one of them does nothing beside it.
    pub(super) fn apart_beside(&self, stretch: usize, pair: [usize; 2]) -> Option<usize> {
        let [a, b] = pair.map(|angle| self.memory_beside[stretch][angle]);
        Some(a?.max(b?).max(self.periods[stretch]?).max(1))
    }
}

/// How many samples tell as much as one that stands alone: the sum of squared autocorrelations on both
/// sides, as in Bartlett's formula for the variance of a correlation of two alike series. What is too weak
/// to be told from chance does not count.
fn remembered(alike: &[f64]) -> usize {
    let beside: f64 = alike.iter().skip(1).filter(|r| r.abs() >= FORGOTTEN).map(|r| r * r).sum();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least one")]
    let samples = (1.0 + 2.0 * beside).ceil() as usize;
    samples
}

/// The mean square, in radians², above which an angle moves in a stretch: more than a tenth of a degree,
/// which is noise, and than a tenth of what it does in all.
fn least_square(column: &[f64]) -> f64 {
    let there = || column.iter().filter(|v| v.is_finite());
    let n = there().count().max(1) as f64;
    let mean = there().sum::<f64>() / n;
    let square = there().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    f64::max(noise_square(), MOVES * MOVES * square)
}

/// The mean square of what a column is beside its mean.
fn square_of(column: &[f64]) -> f64 {
    let n = column.len().max(1) as f64;
    let mean = column.iter().sum::<f64>() / n;
    column.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n
}

/// What has a lower mean square, in radians², is noise.
fn noise_square() -> f64 {
    let noise = Angle::from_degrees(0.1).radians();
    noise * noise
}

/// How alike a column is to itself some samples later; `None` if it does not move.
fn autocorrelation(column: &[f64], least: f64, step_s: f64) -> Option<Vec<f64>> {
    let n = column.len();
    let mean = column.iter().sum::<f64>() / n.max(1) as f64;
    let off: Vec<f64> = column.iter().map(|v| v - mean).collect();
    let square: f64 = off.iter().map(|v| v * v).sum();
    // NaN does not.
    let moves = square > n as f64 * least;
    if !moves {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, small")]
    let most = ((MOST_LAG_S / step_s) as usize).min(n / 2);
    let at = |lag: usize| {
        let sum: f64 = off[lag..].iter().zip(&off).map(|(a, b)| a * b).sum();
        sum / square * (n as f64 / (n - lag) as f64)
    };
    Some((0..most).map(at).collect())
}

/// How one stretch is shifted.
struct Shifter {
    stretch: Range<usize>,
    /// In periods, if it has any.
    phase: Option<Vec<f64>>,
    /// After how many samples most angles have forgotten what they were.
    usual: usize,
    dice: Dice,
}

impl Shifter {
    /// Between how many different shifts there is to choose.
    fn choices(&self) -> usize {
        match self.whole_periods() {
            Some(periods) => periods.saturating_sub(1),
            None => self.stretch.len().saturating_sub(2 * self.usual.max(1)),
        }
    }

    fn whole_periods(&self) -> Option<usize> {
        let phase = self.phase.as_ref()?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
        let whole = phase.last().map_or(0, |last| last.floor() as usize);
        Some(whole)
    }

    /// Puts into `to`, from its own place on, which sample stands in for each by one of the choices.
    fn shift(&self, choice: usize, to: &mut [u32]) {
        let (start, n) = (self.stretch.start, self.stretch.len());
        let place = |i: usize| u32::try_from(start + i).unwrap_or(u32::MAX);
        match (&self.phase, self.whole_periods()) {
            (Some(phase), Some(periods)) if periods > 1 => {
                let whole = periods as f64;
                let by = (choice % (periods - 1) + 1) as f64;
                for (i, to) in to[self.stretch.clone()].iter_mut().enumerate() {
                    let mut wanted = phase[i] + by;
                    while wanted >= whole {
                        wanted -= whole;
                    }
                    let above = phase.partition_point(|p| *p < wanted).min(n - 1);
                    let below = above.saturating_sub(1);
                    let nearer = wanted - phase[below] < phase[above] - wanted;
                    *to = place(if nearer { below } else { above });
                }
            }
            _ => {
                let by = if self.choices() == 0 { 0 } else { self.usual.max(1) + choice };
                for (i, to) in to[self.stretch.clone()].iter_mut().enumerate() {
                    *to = place((i + by) % n);
                }
            }
        }
    }
}

/// As many shifts as tell something, of all stretches at once, each by its own amount.
fn shifts(shifters: &mut [Shifter], samples: usize) -> Vec<Vec<u32>> {
    let different = shifters
        .iter()
        .map(Shifter::choices)
        .fold(1_usize, |all, choices| all.saturating_mul(choices.max(1)));
    let count = if different > 1 { SHIFTS.min(different) } else { 0 };
    let alone = shifters.iter().filter(|s| s.choices() > 1).count() == 1;
    let mut shifts = vec![vec![0_u32; samples]; count];
    for (number, shift) in shifts.iter_mut().enumerate() {
        for shifter in shifters.iter_mut() {
            let choices = shifter.choices();
            let choice = match choices {
                0 | 1 => 0,
                // Evenly spread, none twice.
                _ if alone => number * choices / count,
                _ => shifter.dice.below(choices),
            };
            shifter.shift(choice, shift);
        }
    }
    shifts
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use crate::math::trig;

    #[test]
    fn a_period_is_found_and_shifts_keep_the_phase() {
        // One turn per second, hastening and slowing by a tenth.
        let phase = |i: usize| {
            let t = i as f64 / 60.0;
            t + 0.03 * trig::sin(0.5 * t)
        };
        let column = |by: f64| (0..1500).map(|i| trig::sin(TAU * (phase(i) + by))).collect();
        let angles = Angles::made(vec![column(0.0), column(0.2), column(0.7)], 1.0 / 60.0);
        let clock = Clock::of(&angles, 1);
        let period = clock.periods[0].unwrap();
        assert!((57..=63).contains(&period), "{period}");
        assert!((15..25).contains(&clock.shifts.len()), "{}", clock.shifts.len());
        for shift in &clock.shifts {
            let mut off = 0.0_f64;
            for (i, place) in shift.iter().enumerate() {
                let turned = phase(*place as usize) - phase(i);
                assert!((*place as usize).abs_diff(i) > 30);
                // Demodulation does not see beyond the ends.
                if (90..1410).contains(&i) && (90..1410).contains(&(*place as usize)) {
                    off = off.max((turned - turned.round()).abs());
                }
            }
            assert!(off < 0.02, "{off}");
        }
    }

    #[test]
    fn motion_that_does_not_come_again_has_no_period() {
        let mut dice = Dice::new(7);
        let (mut a, mut b) = (0.0, 0.0);
        let mut step = || {
            a = 0.95 * a + 0.05 * (dice.below(1000) as f64 / 500.0 - 1.0);
            b = 0.95 * b + 0.05 * a;
            20.0 * b
        };
        let column = (0..3000).map(|_| step()).collect();
        let angles = Angles::made(vec![column], 1.0 / 60.0);
        let clock = Clock::of(&angles, 1);
        assert_eq!((clock.periods[0], clock.shifts.len()), (None, SHIFTS));
        let memory = clock.apart(0, [0, 0]).unwrap();
        assert!((5..200).contains(&memory), "{memory}");
    }
}
