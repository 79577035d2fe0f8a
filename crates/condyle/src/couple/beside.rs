//! Whether one angle does more or less than usual where another does, in motion that comes again.
#![allow(clippy::cast_precision_loss, reason = "counts are below 2^32")]

use super::angles::Angles;
use super::clock::Clock;
use crate::math::{Angle, log};

/// So many samples of a period are looked at, about.
const SAMPLES: usize = 16;

/// So many parts of a period have slopes of their own.
const PARTS: usize = 12;

/// By so much any angle is beside its usual course: that of the noise.
const NOISE: Angle = Angle::from_degrees(0.15);

/// What one angle does beside its usual course, as far as it follows from what another does beside its own.
///
/// A larger step of the one makes itself felt in the other by an amount that depends on where in the period
/// they are: most where the other is held back. That amount is taken to be
/// - a combination of 1, and of where each of the two usually is at that phase: few numbers, the same in all
///   stretches, whose phases need not begin together; or
/// - a number for each part of the period and each stretch: many, for what shows at few phases only.
pub(super) struct Beside<'a> {
    places: Vec<u32>,
    /// What the active angle does, by itself and times where each usually is: of length one, at right angles.
    courses: Vec<Vec<f64>>,
    /// Of every place, the part of a period that it is in, and what the active angle does there beside what
    /// it does in that part on average.
    parts: Vec<(usize, f64)>,
    /// Of every part, how many places it has, and the sum of squares of these.
    sums: Vec<[f64; 2]>,
    passive: &'a [f64],
    /// Room for what the passive angle does in each part.
    of_parts: Vec<[f64; 3]>,
}

impl<'a> Beside<'a> {
    /// In the stretches that count and have a period; `None` if there are none.
    pub(super) fn of(
        pair: [usize; 2],
        angles: &Angles,
        clock: &'a Clock,
        counts: impl Fn(usize) -> bool,
    ) -> Option<Self> {
        let (mut places, mut numbers, mut part_count) = (Vec::new(), Vec::new(), 0);
        for (number, stretch) in angles.stretches.iter().enumerate() {
            let Some(period) = clock.periods[number].filter(|_| counts(number)) else {
                continue;
            };
            if clock.apart_beside(number, pair).is_none() {
                continue;
            }
            for i in stretch.clone().step_by((period / SAMPLES).max(1)) {
                let phase = clock.phase[i] - clock.phase[i].floor();
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a phase is between 0 and 1"
                )]
                let part = ((phase * PARTS as f64) as usize).min(PARTS - 1);
                places.push(u32::try_from(i).ok()?);
                numbers.push(part_count + part);
            }
            part_count += PARTS;
        }
        if places.is_empty() {
            return None;
        }
        let take = |of: &[f64]| -> Vec<f64> { places.iter().map(|i| of[*i as usize]).collect() };
        let [active, passive] = pair;
        let own = take(&clock.beside[active]);
        let usual = pair.map(|i| standard(take(&clock.usual[i])));
        let mut courses: Vec<Vec<f64>> = Vec::new();
        add_at_right_angles(&mut courses, own.clone());
        for usual in usual.iter().rev() {
            let by = own.iter().zip(usual).map(|(v, usual)| v * usual).collect();
            add_at_right_angles(&mut courses, by);
        }
        let mut sums = vec![[0.0; 2]; part_count];
        for (part, v) in numbers.iter().zip(&own) {
            sums[*part][0] += 1.0;
            sums[*part][1] += v;
        }
        let means: Vec<f64> = sums.iter().map(|[n, sum]| sum / f64::max(*n, 1.0)).collect();
        let parts: Vec<(usize, f64)> =
            numbers.into_iter().zip(&own).map(|(part, v)| (part, v - means[part])).collect();
        sums.iter_mut().for_each(|[_, square]| *square = 0.0);
        parts.iter().for_each(|(part, v)| sums[*part][1] += v * v);
        let (passive, of_parts) = (&clock.beside[passive], vec![[0.0; 3]; part_count]);
        Some(Self { places, courses, parts, sums, passive, of_parts })
    }

    /// How much of what the passive angle does beside its usual course is explained by courses, as Fisher's
    /// z, and by parts of the period, as the root of the mean of −ln(1 − r²); as it is, or out of step.
    pub(super) fn explained(&mut self, shift: Option<&[u32]>) -> [f64; 2] {
        let noise = NOISE.radians() * NOISE.radians();
        let mut square = 0.0;
        let mut along = [0.0; 3];
        self.of_parts.fill([0.0; 3]);
        for (i, (place, (part, v))) in self.places.iter().zip(&self.parts).enumerate() {
            let at = shift.map_or(*place, |shift| shift[*place as usize]);
            let passive = self.passive[at as usize];
            square += passive * passive;
            for (along, course) in along.iter_mut().zip(&self.courses) {
                *along += passive * course[i];
            }
            let [sum, square, both] = &mut self.of_parts[*part];
            *sum += passive;
            *square += passive * passive;
            *both += v * passive;
        }
        let all = square + noise * self.places.len() as f64;
        let r = (along.iter().map(|v| v * v).sum::<f64>() / all).clamp(0.0, 1.0).sqrt();
        let mut told = 0.0;
        for ([n, own], [sum, square, both]) in self.sums.iter().zip(&self.of_parts) {
            let other = (square - sum * sum / n.max(1.0)).max(0.0);
            let r_square =
                both * both / ((own + noise * n.max(1.0)) * (other + noise * n.max(1.0)));
            told -= log((1.0 - r_square).max(1e-6));
        }
        [0.5 * log((1.0 + r) / (1.0 - r).max(1e-9)), (told / self.sums.len() as f64).sqrt()]
    }
}

/// With mean 0 and standard deviation 1; what does not change is 0.
fn standard(mut of: Vec<f64>) -> Vec<f64> {
    take_mean_away(&mut of);
    let deviation = (dot(&of, &of) / of.len() as f64).sqrt();
    if deviation > 0.0 {
        of.iter_mut().for_each(|v| *v /= deviation);
    }
    of
}

/// Adds what a column has beside its mean and the others, unless that is next to nothing.
fn add_at_right_angles(columns: &mut Vec<Vec<f64>>, mut column: Vec<f64>) {
    take_mean_away(&mut column);
    let before = dot(&column, &column);
    for other in &*columns {
        let share = dot(&column, other);
        column.iter_mut().zip(other).for_each(|(v, o)| *v -= share * o);
    }
    let square = dot(&column, &column);
    if square > 1e-6 * before && before > 0.0 {
        let length = square.sqrt();
        column.iter_mut().for_each(|v| *v /= length);
        columns.push(column);
    }
}

fn take_mean_away(of: &mut [f64]) {
    let mean = of.iter().sum::<f64>() / of.len() as f64;
    of.iter_mut().for_each(|v| *v -= mean);
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use crate::math::trig;

    /// What is not usual: slow waves that have nothing to do with each other.
    fn unusual(i: usize, number: usize) -> f64 {
        let (at, own) = (i as f64 / 60.0, number as f64);
        let wave = |hertz: f64| trig::sin(TAU * hertz * (1.0 + 0.13 * own) * at + own * own);
        0.5 * (wave(0.11) + wave(0.173) + wave(0.29))
    }

    /// Of angle 0, angle 1 as bounded by it or not, and others.
    fn told(bounded: bool) -> [[f64; 2]; 2] {
        let course = |i: usize, number: usize| {
            let size = 0.5 * (1.0 + 0.2 * unusual(i, number));
            size * trig::sin(TAU * (i as f64 / 60.0 + 0.3 * number as f64))
        };
        let column = |number: usize| -> Vec<f64> {
            let held = |i: usize| match bounded && number == 1 {
                true => course(i, 1) * (0.7 - 0.6 * course(i, 0)),
                false => course(i, number),
            };
            (0..5400).map(held).collect()
        };
        let angles = Angles::made((0..8).map(column).collect(), 1.0 / 60.0);
        let clock = Clock::of(&angles, 1);
        let mut beside = Beside::of([0, 1], &angles, &clock, |_| true).unwrap();
        let mut most = [0.0_f64; 2];
        for shift in &clock.shifts {
            let shown = beside.explained(Some(shift));
            most = [most[0].max(shown[0]), most[1].max(shown[1])];
        }
        [beside.explained(None), most]
    }

    #[test]
    fn a_bound_in_a_gait_shows_in_steps_that_are_unusual_in_both_angles() {
        let [seen, most] = told(true);
        assert!(seen[0] > most[0] && seen[1] > most[1], "{seen:?} {most:?}");
        let [seen, most] = told(false);
        assert!(seen[0] < most[0] && seen[1] < most[1], "{seen:?} {most:?}");
    }

    #[test]
    fn motion_without_a_period_has_no_usual_course() {
        let column = |k: usize| (0..600).map(|i| trig::sin((i * i * k) as f64 * 1e-4)).collect();
        let angles = Angles::made(vec![column(1), column(2)], 1.0 / 60.0);
        let clock = Clock::of(&angles, 1);
        assert_eq!(clock.periods, [None]);
        assert!(Beside::of([0, 1], &angles, &clock, |_| true).is_none());
    }
}
