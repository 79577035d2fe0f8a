//! How much two angles have to do with each other, and how much two that have nothing to do with each
//! other would seem to.
#![allow(clippy::cast_precision_loss, reason = "counts are below 2^32")]

use std::ops::Range;

use super::angles::{Angles, quantile};
use super::beside::Beside;
use super::clock::Clock;
use crate::math::{exp, log, trig};

/// How many bins the active angle is told apart in, with as many samples each.
const BINS: usize = 16;

/// How many levels the passive angle is told apart in, as wide each.
const LEVELS: usize = 64;

/// The share of the samples of a bin that are beyond where it seems to end.
const BEYOND: f64 = 0.004;

/// A bin counts if the motion came to it so often.
const VISITS: usize = 3;

/// The least number of bins that count.
const LEAST_BINS: usize = 4;

/// With fewer shifts that tell something of their own, nothing is told.
const LEAST_SHIFTS: f64 = 6.0;

/// Chance spreads by so much at least: of Fisher's z, and of bounds by a level. A common phase is not known
/// better, and in step there is no doubt about it.
const LEAST_SPREAD: f64 = 0.08;

const LEVEL: f64 = 1.0 / LEVELS as f64;

/// So much of what is told beside usual courses spreads by chance, at least.
const LEAST_SPREAD_BESIDE: f64 = 0.055;

/// What is tested: driving; a bound above, below, and on both sides; and, in periodic motion, whether the
/// two leave their usual courses together, by where these are and by the part of the period.
pub(super) const TESTS: usize = 6;
pub(super) const DRIVING: usize = 0;
pub(super) const ABOVE: usize = 1;
pub(super) const BELOW: usize = 2;
pub(super) const BOTH: usize = 3;
pub(super) const BESIDE: [usize; 2] = [4, 5];

/// Of neither: not in a bin, not at a level.
const NONE: u8 = u8::MAX;

/// An angle, sorted into bins and into levels.
pub(super) struct Sorted {
    bins: Vec<u8>,
    bin_count: usize,
    levels: Vec<u8>,
    /// From where to where most of it goes.
    pub(super) range: [f64; 2],
}

impl Sorted {
    pub(super) fn of(column: &[f64], angles: &Angles) -> Self {
        let mut sorted: Vec<f64> = column.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let range = [quantile(&sorted, 0.005), quantile(&sorted, 0.995)];
        let mut edges: Vec<f64> =
            (1..BINS).map(|i| quantile(&sorted, i as f64 / BINS as f64)).collect();
        edges.dedup();
        let place = |v: &f64| u8::try_from(edges.partition_point(|e| e < v)).unwrap_or(NONE);
        let bin = |v: &f64| if v.is_finite() { place(v) } else { NONE };
        let mut bins: Vec<u8> = column.iter().map(bin).collect();
        let visits = visits(&bins, edges.len() + 1, angles);
        let kept = visits.iter().filter(|v| **v >= VISITS).count();
        for bin in &mut bins {
            if visits.get(usize::from(*bin)).is_some_and(|v| *v < VISITS) {
                *bin = NONE;
            }
        }
        let width = (range[1] - range[0]).max(f64::MIN_POSITIVE);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let level = |v: &f64| {
            let at = (v - range[0]) / width * LEVELS as f64;
            if v.is_finite() { at.clamp(0.0, (LEVELS - 1) as f64) as u8 } else { NONE }
        };
        let levels = column.iter().map(level).collect();
        Self { bins, bin_count: if kept < LEAST_BINS { 0 } else { edges.len() + 1 }, levels, range }
    }
}

/// How often the motion came to each bin: from farther than the next one, or in another stretch.
fn visits(bins: &[u8], count: usize, angles: &Angles) -> Vec<usize> {
    let mut visits = vec![0; count];
    for stretch in &angles.stretches {
        let mut away = vec![true; count];
        for bin in &bins[stretch.clone()] {
            let here = usize::from(*bin);
            if here >= count {
                continue;
            }
            if away[here] {
                visits[here] += 1;
                away[here] = false;
            }
            away[..here.saturating_sub(1)].fill(true);
            away[(here + 2).min(count)..].fill(true);
        }
    }
    visits
}

/// What samples show of one angle as a function of another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shown {
    /// The share of the passive angle's variance that the active one explains, as Fisher's z.
    pub(super) explained: f64,
    /// By how much the passive angle's upper end is lower than the highest, on average over the bins, as a
    /// share of its range.
    pub(super) upper: f64,
    /// The same of the lower end.
    pub(super) lower: f64,
    /// The same of the upper end, the lower one and both on average, of envelopes that only fall or only
    /// rise: that is what is tested, as chance makes fewer of them.
    steady: [f64; 3],
    /// How much of what the passive angle does beside its usual course the active one explains, in two ways
    /// (`Beside::explained`); no numbers where motion is not periodic.
    pub(super) beside: [f64; 2],
}

impl Shown {
    /// What is tested. Of what is taken away the root: it spreads alike whether it is much or little.
    fn all(self) -> [f64; TESTS] {
        let [upper, lower, both] = self.steady.map(|taken| (taken + LEVEL).sqrt());
        let [by_courses, by_parts] = self.beside;
        [self.explained, upper, lower, both, by_courses, by_parts]
    }

    /// The shares of variance that `beside` stands for.
    pub(super) fn told_beside(&self) -> [f64; 2] {
        let [by_courses, by_parts] = self.beside;
        [share_of(by_courses), 1.0 - exp(-by_parts * by_parts)]
    }

    fn add(&mut self, other: &Self) {
        self.explained += other.explained;
        self.upper += other.upper;
        self.lower += other.lower;
        self.steady.iter_mut().zip(other.steady).for_each(|(sum, v)| *sum += v);
        self.beside.iter_mut().zip(other.beside).for_each(|(sum, v)| *sum += v);
    }

    fn over(self, n: f64) -> Self {
        Self {
            explained: self.explained / n,
            upper: self.upper / n,
            lower: self.lower / n,
            steady: self.steady.map(|v| v / n),
            beside: self.beside.map(|v| v / n),
        }
    }
}

/// The share of the variance that Fisher's z stands for: tanh² z.
pub(super) fn share_of(z: f64) -> f64 {
    let e = exp(-2.0 * z);
    let r = (1.0 - e) / (1.0 + e);
    r * r
}

fn shown(counts: &[u32]) -> Shown {
    let (mut n, mut sum, mut squares, mut within) = (0.0, 0.0, 0.0, 0.0);
    let mut whole = [0_u32; LEVELS];
    let (mut ends, mut bins) = ([0.0; 2 * BINS], 0);
    for bin in counts.chunks_exact(LEVELS) {
        let (mut own_n, mut own_sum, mut own_squares) = (0_u32, 0_u32, 0_u32);
        for (level, (count, all)) in (0_u32..).zip(bin.iter().zip(&mut whole)) {
            own_n += count;
            own_sum += count * level;
            own_squares += count * level * level;
            *all += count;
        }
        if own_n == 0 {
            continue;
        }
        let (count, own_sum, own_squares) =
            (f64::from(own_n), f64::from(own_sum), f64::from(own_squares));
        n += count;
        sum += own_sum;
        squares += own_squares;
        within += own_squares - own_sum * own_sum / count;
        let [low, high] = ends_of(bin, own_n);
        (ends[2 * bins], ends[2 * bins + 1]) = (low, high);
        bins += 1;
    }
    let total = squares - sum * sum / f64::max(n, 1.0);
    if bins < 2 || total <= 0.0 {
        return Shown::default();
    }
    // A level is so wide that within it no more can be told.
    let rest = ((within + n / 12.0) / (total + n / 12.0)).clamp(1e-6, 1.0);
    let r = (1.0 - rest).max(0.0).sqrt();
    let [low, high] = ends_of(&whole, whole.iter().sum());
    let share = |off: f64| off / (bins as f64 * LEVELS as f64);
    let ends = &ends[..2 * bins];
    let [rising, falling] = [false, true].map(|backwards| {
        let mut reached = [f64::INFINITY, f64::NEG_INFINITY];
        let mut taken = [0.0; 2];
        for i in 0..bins {
            let at = if backwards { bins - 1 - i } else { i };
            reached = [reached[0].min(ends[2 * at]), reached[1].max(ends[2 * at + 1])];
            taken[0] += (reached[0] - low).max(0.0);
            taken[1] += (high - reached[1]).max(0.0);
        }
        taken.map(share)
    });
    let both = 0.5 * (rising[0] + rising[1]).max(falling[0] + falling[1]);
    Shown {
        steady: [rising[1].max(falling[1]), rising[0].max(falling[0]), both],
        beside: [f64::NAN; 2],
        explained: 0.5 * log((1.0 + r) / (1.0 - r).max(1e-9)),
        upper: share(ends.iter().skip(1).step_by(2).map(|end| (high - end).max(0.0)).sum()),
        lower: share(ends.iter().step_by(2).map(|end| (end - low).max(0.0)).sum()),
    }
}

/// The levels that all but a few samples are between.
fn ends_of(counts: &[u32], all: u32) -> [f64; 2] {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a count")]
    let beyond = (BEYOND * f64::from(all)) as u32;
    let reach = |levels: &mut dyn Iterator<Item = usize>| {
        let mut passed = 0;
        for level in levels {
            passed += counts[level];
            if passed > beyond {
                return level as f64;
            }
        }
        0.0
    };
    [reach(&mut (0..LEVELS)), reach(&mut (0..LEVELS).rev())]
}

/// What speaks for one angle depending on another.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    /// As it is.
    pub(super) seen: Shown,
    /// The mean of what is seen when the two are out of step.
    pub(super) chance: Shown,
    /// By how many standard deviations of chance it is more than the mean, of each test.
    pub(super) t: [f64; TESTS],
    /// Degrees of freedom of these.
    pub(super) freedom: [f64; TESTS],
    /// Whether out of step there is sometimes as much.
    pub(super) matched: [bool; TESTS],
}

/// What there is for `active` driving or bounding `passive`, in the stretches that count; `None` if it
/// cannot be told.
pub(super) fn evidence(
    sorted: [&Sorted; 2],
    pair: [usize; 2],
    angles: &Angles,
    clock: &Clock,
    counts: impl Fn(usize) -> bool,
) -> Option<Evidence> {
    let [active, passive] = sorted;
    let independent = clock.independent(angles, &counts, |n| clock.apart(n, pair));
    if active.bin_count == 0 || independent < LEAST_SHIFTS {
        return None;
    }
    let counted: Vec<Range<usize>> = (0..angles.stretches.len())
        .filter(|n| counts(*n))
        .map(|n| angles.stretches[n].clone())
        .collect();
    let mut table = vec![0_u32; active.bin_count * LEVELS];
    let independent_beside = clock.independent(angles, &counts, |n| clock.apart_beside(n, pair));
    let mut beside = (independent_beside >= LEAST_SHIFTS)
        .then(|| Beside::of(pair, angles, clock, &counts))
        .flatten();
    let mut of = |shift: Option<&[u32]>| {
        table.fill(0);
        let mut add = |bin: u8, level: u8| {
            if bin != NONE && level != NONE {
                table[usize::from(bin) * LEVELS + usize::from(level)] += 1;
            }
        };
        for stretch in &counted {
            let (bins, levels) = (&active.bins[stretch.clone()], &passive.levels);
            match shift {
                None => {
                    let own = &levels[stretch.clone()];
                    bins.iter().zip(own).for_each(|(bin, level)| add(*bin, *level));
                }
                Some(shift) => {
                    let places = &shift[stretch.clone()];
                    bins.iter().zip(places).for_each(|(bin, at)| add(*bin, levels[*at as usize]));
                }
            }
        }
        let beside = beside.as_mut().map_or([f64::NAN; 2], |of| of.explained(shift));
        Shown { beside, ..shown(&table) }
    };
    let seen = of(None);
    let (mut sums, mut squares, mut most) = ([0.0; TESTS], [0.0; TESTS], [0.0_f64; TESTS]);
    let mut chance = Shown::default();
    for shift in &clock.shifts {
        let shown = of(Some(shift));
        chance.add(&shown);
        for (i, value) in shown.all().into_iter().enumerate() {
            sums[i] += value;
            squares[i] += value * value;
            most[i] = most[i].max(value);
        }
    }
    let n = clock.shifts.len() as f64;
    let (mut t, mut freedom, mut matched) = ([0.0; TESTS], [0.0; TESTS], [false; TESTS]);
    for (i, value) in seen.all().into_iter().enumerate() {
        let mean = sums[i] / n;
        let spread = ((squares[i] / n - mean * mean).max(0.0) * n / (n - 1.0).max(1.0)).sqrt();
        let (least, independent) = match i {
            DRIVING => (LEAST_SPREAD, independent),
            _ if BESIDE.contains(&i) => (LEAST_SPREAD_BESIDE, independent_beside),
            _ => (0.5 * LEVEL / mean.max(LEVEL.sqrt()), independent),
        };
        t[i] = (value - mean) / (spread.max(least) * (1.0 + 1.0 / independent).sqrt());
        freedom[i] = independent - 1.0;
        matched[i] = value <= most[i];
    }
    Some(Evidence { seen, chance: chance.over(n), t, freedom, matched })
}

impl Evidence {
    /// By how much bounds above and below take more away than out of step.
    pub(super) fn beyond(&self) -> [f64; 2] {
        [self.seen.upper - self.chance.upper, self.seen.lower - self.chance.lower]
    }
}

/// How evidence spreads over all pairs, most of which have nothing to do with each other.
///
/// Where all of them do a little, by a cause that all share (a walk that gets faster), their evidence is
/// off as a whole, and is brought back by its median and its spread, where that is wider than by chance.
///
/// # Source
///
/// B. Devlin, K. Roeder, "Genomic control for association studies" (1999).
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual {
    middle: [f64; TESTS],
    spread: [f64; TESTS],
}

impl Usual {
    /// Fewer pairs tell nothing of what is usual.
    const LEAST: usize = 30;

    pub(super) fn of(all: &[Evidence]) -> Self {
        let mut usual = Self { middle: [0.0; TESTS], spread: [1.0; TESTS] };
        for i in 0..TESTS {
            let mut t: Vec<f64> = all.iter().map(|of| of.t[i]).filter(|t| t.is_finite()).collect();
            if t.len() < Self::LEAST {
                continue;
            }
            t.sort_unstable_by(f64::total_cmp);
            let middle = quantile(&t, 0.5).max(0.0);
            let mut off: Vec<f64> = t.iter().map(|t| (t - middle).abs()).collect();
            off.sort_unstable_by(f64::total_cmp);
            // The median of how far a normal number is off is 0.6745.
            let spread = quantile(&off, 0.5) / 0.6745;
            (usual.middle[i], usual.spread[i]) = (middle, spread.max(1.0));
        }
        usual
    }

    /// How likely as much would be seen by chance.
    pub(super) fn p(&self, of: &Evidence) -> [f64; TESTS] {
        std::array::from_fn(|i| {
            beyond_t((of.t[i] - self.middle[i]) / self.spread[i], of.freedom[i])
        })
    }

    /// The same; certain where a shift shows as much, and no number where nothing was tested.
    pub(super) fn strict_p(&self, of: &Evidence) -> [f64; TESTS] {
        let p = self.p(of);
        std::array::from_fn(|i| match of.t[i].is_nan() {
            true => f64::NAN,
            false if of.matched[i] => 1.0,
            false => p[i],
        })
    }
}

/// How likely Student's t with so many degrees of freedom is beyond `t`.
///
/// # Source
///
/// M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4: finite sums for
/// whole numbers of degrees. Freedom that is no whole number is rounded down. Below 1e-12 rounding is all
/// that is left: that is returned instead.
fn beyond_t(t: f64, freedom: f64) -> f64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let freedom = freedom.clamp(1.0, 1000.0) as u32;
    if !(t.is_finite() && t > 0.0) {
        return if t > 0.0 { 1e-12 } else { 1.0 };
    }
    let theta = trig::atan2(t, f64::from(freedom).sqrt());
    let (sin, cos) = trig::sin_cos(theta);
    // 1, 1 · 2/3 cos², … or 1, 1/2 cos², 1/2 · 3/4 cos⁴, …
    let odd = freedom % 2 == 1;
    let terms = if odd { (freedom - 1) / 2 } else { freedom / 2 };
    let (mut sum, mut term) = (0.0, 1.0);
    for k in 0..terms {
        sum += term;
        let k = f64::from(k);
        let factor =
            if odd { (2.0 * k + 2.0) / (2.0 * k + 3.0) } else { (2.0 * k + 1.0) / (2.0 * k + 2.0) };
        term *= factor * cos * cos;
    }
    let between =
        if odd { 2.0 / std::f64::consts::PI * (theta + sin * cos * sum) } else { sin * sum };
    (0.5 * (1.0 - between)).max(1e-12)
}

/// The share of false ones among those with at most each p, at most: Benjamini and Hochberg's adjusted p. What
/// was not tested does not count, and has 1.
pub(super) fn false_shares(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).filter(|i| !p[*i].is_nan()).collect();
    let count = order.len();
    order.sort_by(|a, b| p[*b].total_cmp(&p[*a]).then(b.cmp(a)));
    let mut shares = vec![1.0; p.len()];
    let mut least = 1.0_f64;
    for (above, i) in order.into_iter().enumerate() {
        let rank = (count - above) as f64;
        least = least.min(p[i] * count as f64 / rank);
        shares[i] = least;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_of_students_t_are_those_of_tables() {
        for (t, freedom, p) in [
            (12.706, 1.0, 0.025),
            (4.303, 2.0, 0.025),
            (2.571, 5.0, 0.025),
            (2.228, 10.0, 0.025),
            (3.169, 10.0, 0.005),
            (4.297, 9.0, 0.001),
            (2.750, 30.0, 0.005),
            (3.098, 1000.0, 0.001),
        ] {
            let got = beyond_t(t, freedom);
            assert!((got / p - 1.0).abs() < 0.02, "{t} {freedom}: {got}");
        }
        assert_eq!([beyond_t(-1.0, 5.0), beyond_t(f64::NAN, 5.0)], [1.0; 2]);
        assert!(beyond_t(1e9, 50.0) <= 1e-12 && beyond_t(f64::INFINITY, 3.0) <= 1e-12);
    }

    #[test]
    fn shares_of_false_ones_are_benjamini_and_hochbergs() {
        let shares = false_shares(&[0.01, 0.04, 0.03, 0.005, 1.0]);
        let expected = [0.025, 0.05, 0.05, 0.025, 1.0];
        assert!(shares.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{shares:?}");
        assert!(false_shares(&[]).is_empty());
    }

    #[test]
    fn fishers_z_and_back_are_each_others_inverse() {
        for share in [0.0_f64, 0.1, 0.5, 0.9, 0.999] {
            let r = share.sqrt();
            assert!((share_of(0.5 * log((1.0 + r) / (1.0 - r))) - share).abs() < 1e-8);
        }
    }
}
