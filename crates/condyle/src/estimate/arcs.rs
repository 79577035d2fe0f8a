//! The range of an angle from its samples.

use std::f64::consts::{PI, TAU};

use crate::math::{Angle, Arc};

/// The angles of one clip, radians, in any order.
pub(crate) type Angles = Vec<f64>;

/// What to make of samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    /// Of the angles, one standard deviation, radians; 0 to contain every sample as it is.
    pub(crate) noise: f64,
    /// The share of the samples to contain, 1 for all.
    pub(crate) coverage: f64,
}

/// The arc that the samples of all clips fill: everything but the largest gap between them (A9).
///
/// # Source
///
/// M. Engell-Nørregård, K. Erleben, "Estimation of joint types and joint limits from motion capture
/// data" (2009), eq 16 to 19. As printed, a duplicate angle makes a gap of a whole turn and one
/// sample alone a full circle; here equal angles have no gap, and one sample is an arc of one angle.
///
/// With noise, an end is not the outermost sample but where that sample probably is without noise: the
/// mean of the samples around it, weighted by a normal curve as wide as the noise. That is the
/// posterior mean by Tweedie's formula (B. Efron, "Tweedie's formula and selection bias", 2011) for a
/// density estimated with that curve. It grows with the sample, so it need be done for the outermost
/// sample of each clip only. A sample without neighbours stays where it is.
///
/// Samples all around, without a gap that stands out, fill the circle. `None` if there are none.
pub(crate) fn range(clips: &[Angles], how: Range) -> Option<Arc> {
    let mut all: Vec<f64> = Vec::with_capacity(clips.iter().map(Vec::len).sum());
    let mut ends = Vec::with_capacity(clips.len());
    for clip in clips {
        if clip.iter().all(|a| a.is_finite()) {
            all.extend(clip.iter().map(|a| wrapped(*a)));
        } else {
            all.extend(clip.iter().filter(|a| a.is_finite()).map(|a| wrapped(*a)));
        }
        ends.push(all.len());
    }
    if how.noise <= 0.0 || how.coverage < 1.0 {
        return holding(&all, how.coverage);
    }
    let Gap { start, width: gap, .. } = largest_gap(&all)?;
    if is_full(&all, gap) {
        return Some(Arc::FULL);
    }
    for x in &mut all {
        let along = *x - start;
        let along = if along < 0.0 { along + TAU } else { along };
        // The start itself may round to a whole turn.
        *x = if along > TAU - 0.5 * gap { 0.0 } else { along };
    }
    let (mut low, mut high) = (TAU, 0.0_f64);
    let mut from = 0;
    for to in ends {
        let places = &all[from..to];
        from = to;
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for &x in places {
            least = if x < least { x } else { least };
            most = if x > most { x } else { most };
        }
        if least > most {
            continue;
        }
        low = low.min(settled(least, places, how.noise));
        high = high.max(settled(most, places, how.noise));
    }
    let (low, high) = (low.min(high), high.max(low));
    Arc::new(Angle::from_radians(start + low), Angle::from_radians(start + high))
}

/// [`range`] of a share of samples as they are, which have to be in (−π, π].
pub(crate) fn holding(angles: &[f64], share: f64) -> Option<Arc> {
    if share < 1.0 && !angles.is_empty() {
        let mut sorted = angles.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        return shortest(&sorted, share);
    }
    exact(angles)
}

/// [`range`] of all samples as they are, which have to be in (−π, π]. NaN is left out, though it counts
/// as a sample where the number of them matters.
///
/// Takes time in proportion to their number; the ends are samples, bit for bit.
pub(crate) fn exact(angles: &[f64]) -> Option<Arc> {
    let gap = largest_gap(angles)?;
    if is_full(angles, gap.width) {
        return Some(Arc::FULL);
    }
    let turn = if gap.end < gap.start { TAU } else { 0.0 };
    Arc::new(Angle::from_radians(gap.start), Angle::from_radians(gap.end + turn))
}

/// Where no sample is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gap {
    /// The sample after it, where the arc starts.
    start: f64,
    /// The sample before it, where the arc ends.
    end: f64,
    width: f64,
}

/// Buckets of the first attempt, at most. They stay in the first-level cache, and nearly every motion
/// leaves a gap of more than a degree.
const COARSE: usize = 360;

/// Of so many samples and more, gaps below 6.1/n of a circle, which is 1° here, are no gaps: [`is_full`]
/// allows for [`SMALL`] as long as chance leaves 11/n and more.
const MANY: usize = 2200;

/// The largest gap between angles in (−π, π], the first of several; NaN is left out.
///
/// # Source
///
/// Eq 16 to 18 of the paper ask for sorted angles. Sorting is not needed: with the circle cut into
/// equal buckets, neighbours in different buckets are the last of one and the first of the next that
/// is not empty. Neighbours in one bucket are no further apart than it is wide. So a gap found
/// between buckets that is wider than a bucket is the largest, and it is the same that sorting finds.
/// n samples leave a gap of at least 1/n of the circle, so that 2n buckets always suffice.
///
/// # Domain and singularity
///
/// `None` if there are no samples. Where the largest gap is so small that [`is_full`] is true in any
/// case it is not looked for, and its width is given as 0.
fn largest_gap(angles: &[f64]) -> Option<Gap> {
    let n = angles.len();
    // Most motions leave half of the circle empty.
    let (gap, exact) = gap_between(&halves(angles))?;
    if exact {
        return Some(gap);
    }
    let (gap, exact) = gap_between(&buckets(angles, COARSE.min(n / 6 + 1)))?;
    if exact {
        return Some(gap);
    }
    let enough = if n < MANY { 2 * n } else { n / 6 + 1 };
    let (gap, exact) = gap_between(&buckets(angles, enough))?;
    Some(if exact { gap } else { Gap { width: 0.0, ..gap } })
}

/// The least and the largest angle of a bucket; no angles leave [`NONE`].
type Ends = [f64; 2];

const NONE: Ends = [f64::INFINITY, f64::NEG_INFINITY];

/// The ends of equal parts of the circle, from −π on.
fn buckets(angles: &[f64], count: usize) -> Vec<Ends> {
    let scale = count as f64 / TAU;
    let mut buckets = vec![NONE; count];
    for &angle in angles {
        // Grows with the angle, however it is rounded.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let place = ((angle + PI) * scale) as u32 as usize;
        let [low, high] = &mut buckets[place.min(count - 1)];
        // Without branches, and not with NaN.
        *low = if angle < *low { angle } else { *low };
        *high = if angle > *high { angle } else { *high };
    }
    buckets
}

/// The same for two parts, without looking up places.
fn halves(angles: &[f64]) -> [Ends; 2] {
    let (many, last) = angles.as_chunks();
    let mut last_lanes = [f64::NAN; LANES];
    last_lanes[..last.len()].copy_from_slice(last);
    let [mut least, mut above] = [[NONE[0]; LANES]; 2];
    let [mut most, mut below] = [[NONE[1]; LANES]; 2];
    for lanes in many.iter().chain([&last_lanes]) {
        for (lane, &angle) in lanes.iter().enumerate() {
            let (low, high) = if angle < 0.0 { (angle, NONE[0]) } else { (NONE[1], angle) };
            least[lane] = if angle < least[lane] { angle } else { least[lane] };
            below[lane] = if low > below[lane] { low } else { below[lane] };
            above[lane] = if high < above[lane] { high } else { above[lane] };
            most[lane] = if angle > most[lane] { angle } else { most[lane] };
        }
    }
    let smallest = |of: [f64; LANES]| of.into_iter().fold(NONE[0], f64::min);
    let largest = |of: [f64; LANES]| of.into_iter().fold(NONE[1], f64::max);
    [[smallest(least), largest(below)], [smallest(above), largest(most)]]
}

/// Angles that are compared at a time.
const LANES: usize = 4;

/// The largest gap between samples in different buckets, and whether it is certainly the largest of
/// all.
fn gap_between(buckets: &[Ends]) -> Option<(Gap, bool)> {
    let mut filled = buckets.iter().filter(|[low, high]| low <= high);
    let &[first, mut last] = filled.next()?;
    let mut gap = Gap { start: first, end: last, width: f64::NEG_INFINITY };
    for &[low, high] in filled {
        if low - last > gap.width {
            gap = Gap { start: low, end: last, width: low - last };
        }
        last = high;
    }
    let around = first + TAU - last;
    if gap.width <= around {
        gap = Gap { start: first, end: last, width: around };
    }
    // Rounding moves the borders of buckets by some 1e-16 of a turn, and a hundredth of one at worst.
    Some((gap, gap.width > 1.01 * TAU / buckets.len() as f64))
}

/// A gap of less than this does not end an arc where samples are dense: 1°.
const SMALL: f64 = PI / 180.0;

/// A gap of this is always one, radians (10°): few samples all around leave such gaps by chance, but
/// where no sample is nothing was seen.
const LARGE: f64 = 10.0 * PI / 180.0;

/// Whether samples are all around, and their largest gap is one that chance leaves between them.
///
/// # Source
///
/// The n gaps between even samples of a circle are as exponential variables over their sum (R. Pyke,
/// "Spacings", 1965). The largest is about ln n times the mean gap, and above ln n + 3 times in one case
/// of 20. It exceeds the second by an exponential variable with the mean gap as its mean (A. Rényi, "On
/// the theory of order statistics", 1953): by three times as much in one case of 20.
///
/// # Domain and singularity
///
/// From [`SMALL`] to [`LARGE`] a gap must be like the second, too: samples at even steps leave a gap
/// that stands out though it is not above ln n + 3 of them.
fn is_full(angles: &[f64], gap: f64) -> bool {
    let n = angles.len();
    let mean = TAU / n as f64;
    let logarithm = f64::from(usize::BITS - n.leading_zeros()) * std::f64::consts::LN_2;
    let by_chance = gap < (logarithm + 3.0) * mean;
    by_chance && gap < LARGE && (gap < SMALL || gap - second_gap(angles).max(mean) < 3.0 * mean)
}

/// The second largest gap between angles in (−π, π], which may be as large as the largest; NaN is left
/// out.
fn second_gap(angles: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = angles.iter().copied().filter(|a| !a.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let around = sorted.first().zip(sorted.last()).map_or(0.0, |(first, last)| first + TAU - last);
    let (mut first, mut second) = (around, 0.0_f64);
    for gap in sorted.windows(2).map(|pair| pair[1] - pair[0]) {
        second = second.max(first.min(gap));
        first = first.max(gap);
    }
    second
}

/// Samples farther from x than so many times the noise do not count in [`settled`].
pub(super) const SETTLES: f64 = 4.1;

/// The weighted mean of the samples around x.
pub(super) fn settled(x: f64, samples: &[f64], noise: f64) -> f64 {
    if noise <= 0.0 {
        return x;
    }
    let (mut sum, mut total) = (0.0, 0.0);
    let near = SETTLES * noise;
    for sample in samples.iter().filter(|sample| (**sample - x).abs() < near) {
        let z = (sample - x) / noise;
        if z.abs() < 4.0 {
            let weight = bell(z);
            sum += weight * (sample - x);
            total += weight;
        }
    }
    if total > 0.0 { x + sum / total } else { x }
}

/// exp(−z²/2), to a thousandth: (1 − z²/16)⁸ comes near within |z| < 4.
fn bell(z: f64) -> f64 {
    let base = (1.0 - z * z / 16.0).max(0.0);
    let square = base * base;
    let fourth = square * square;
    fourth * fourth
}

/// The shortest arc with a share of the samples, which are sorted and at least one.
fn shortest(sorted: &[f64], share: f64) -> Option<Arc> {
    let n = sorted.len();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to n")]
    let wanted = ((share * n as f64).ceil() as usize).clamp(1, n);
    let at = |i: usize| sorted[i % n] + if i >= n { TAU } else { 0.0 };
    let width = |i: usize| at(i + wanted - 1) - at(i);
    let best = (0..n).min_by(|a, b| width(*a).total_cmp(&width(*b)))?;
    Arc::new(Angle::from_radians(at(best)), Angle::from_radians(at(best + wanted - 1)))
}

fn wrapped(radians: f64) -> f64 {
    Angle::from_radians(radians).wrapped().radians()
}

/// The arc with both ends moved outwards.
pub(crate) fn widened(arc: Arc, by: f64) -> Arc {
    if arc.is_full() || arc.width().radians() + 2.0 * by >= TAU {
        return Arc::FULL;
    }
    let ends = [arc.min().radians() - by, arc.max().radians() + by].map(Angle::from_radians);
    Arc::new(ends[0], ends[1]).unwrap_or(arc)
}

/// The arc seen from the other end of the axis.
pub(crate) fn reversed(arc: Arc) -> Arc {
    let ends = [-arc.max().radians(), -arc.min().radians()].map(Angle::from_radians);
    if arc.is_full() { arc } else { Arc::new(ends[0], ends[1]).unwrap_or(arc) }
}

/// Whether an axis points so that the larger excursion from angle 0 is negative; if both are equal, so
/// that its largest component is (decision 7).
///
/// Excursions are those of the turn that holds 0, or lies nearest to it: its middle is in (−π, π], and
/// has the sign of the larger excursion.
pub(crate) fn is_backwards(arc: Arc, axis: glam::DVec3) -> bool {
    const EQUAL: f64 = 5e-10;
    let middle = arc.center().radians();
    if middle.abs() < EQUAL || PI - middle.abs() < EQUAL {
        let a = axis.to_array();
        let largest = (0..3).fold(0, |i, j| if a[j].abs() > a[i].abs() { j } else { i });
        return a[largest] < 0.0;
    }
    middle < 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    const EXACT: Range = Range { noise: 0.0, coverage: 1.0 };

    fn degrees(clips: &[&[f64]], how: Range) -> [f64; 2] {
        let clips: Vec<Angles> =
            clips.iter().map(|c| c.iter().map(|a| a.to_radians()).collect()).collect();
        let arc = range(&clips, how).unwrap();
        [arc.min().degrees(), arc.max().degrees()]
    }

    #[test]
    fn a9_everything_but_the_largest_gap() {
        let near = |found: [f64; 2], min: f64, max: f64| {
            assert!((found[0] - min).abs() < 1e-9 && (found[1] - max).abs() < 1e-9, "{found:?}");
        };
        near(degrees(&[&[10.0, 20.0, 30.0]], EXACT), 10.0, 30.0);
        // The traps: duplicates, and one sample.
        near(degrees(&[&[10.0, 20.0, 20.0, 30.0]], EXACT), 10.0, 30.0);
        near(degrees(&[&[15.0]], EXACT), 15.0, 15.0);
        near(degrees(&[&[15.0, 15.0]], EXACT), 15.0, 15.0);
        // Across half a turn, and numbers some turns away.
        near(degrees(&[&[170.0, -170.0, 175.0 + 720.0]], EXACT), 170.0, 190.0);
        near(degrees(&[&[350.0], &[370.0, 5.0]], EXACT), -10.0, 10.0);
        assert_eq!(range(&[], EXACT), None);
        assert_eq!(range(&[vec![f64::NAN]], EXACT), None);
    }

    /// As printed, but with ≥ for eq 16 and 19: the judge of [`largest_gap`].
    fn gap_by_sorting(angles: &[f64]) -> Gap {
        let mut all = angles.to_vec();
        all.sort_unstable_by(f64::total_cmp);
        let (first, last) = (all[0], all[all.len() - 1]);
        let mut gap = Gap { start: first, end: last, width: first + TAU - last };
        for pair in all.windows(2) {
            if pair[1] - pair[0] > gap.width {
                gap = Gap { start: pair[1], end: pair[0], width: pair[1] - pair[0] };
            }
        }
        gap
    }

    #[track_caller]
    fn check_gap(angles: &[f64]) {
        let (found, sorted) = (largest_gap(angles).unwrap(), gap_by_sorting(angles));
        let full = is_full(angles, sorted.width);
        assert_eq!(full, is_full(angles, found.width), "{} samples", angles.len());
        if !full {
            assert_eq!(found, sorted, "{} samples", angles.len());
        }
    }

    #[test]
    fn a9_buckets_find_the_gap_that_sorting_finds() {
        let mut rng = Rng::new(5);
        for n in [1, 2, 3, 5, 6, 30, 100, 400, 2154, 2199, 2200, 2201, 5000, 100_000] {
            for width in [1e-9, 0.1, 3.0, 6.0, 6.2, TAU - 1e-3, TAU] {
                let from = rng.between(-PI, PI);
                let even = |rng: &mut Rng| wrapped(rng.between(from, from + width));
                let angles: Angles = (0..n).map(|_| even(&mut rng)).collect();
                check_gap(&angles);
                // Dwelling at the ends, and whole degrees: many equal gaps.
                let ends: Angles = (0..n)
                    .map(|i| {
                        wrapped(from + if i % 2 == 0 { 0.0 } else { width } + 0.01 * rng.normal())
                    })
                    .collect();
                check_gap(&ends);
                let whole: Angles =
                    angles.iter().map(|a| wrapped(a.to_degrees().round().to_radians())).collect();
                check_gap(&whole);
            }
            // Even steps all around, and a gap that is as wide as some of them.
            for wide in [1.0, 2.0, 4.5, 5.0, 6.0, 8.0] {
                let step = TAU / (f64::from(n - 1) + wide);
                check_gap(&(0..n).map(|i| wrapped(0.3 + step * f64::from(i))).collect::<Angles>());
            }
        }
    }

    #[test]
    fn prop_buckets_find_the_gap_that_sorting_finds_a9() {
        arbtest::arbtest(|u| {
            let n = u.int_in_range(1..=200)?;
            let angle = |u: &mut arbitrary::Unstructured<'_>| -> arbitrary::Result<f64> {
                Ok(crate::math::arbitrary::angle(u)?.wrapped().radians())
            };
            let angles: Angles = (0..n).map(|_| angle(u)).collect::<Result<_, _>>()?;
            check_gap(&angles);
            Ok(())
        });
    }

    #[test]
    fn samples_all_around_fill_the_circle() {
        let mut rng = Rng::new(1);
        for n in [500, 1000, 5000] {
            let all = |rng: &mut Rng| (0..n).map(|_| rng.between(-PI, PI)).collect::<Angles>();
            let full =
                (0..200).filter(|_| range(&[all(&mut rng)], EXACT).unwrap().is_full()).count();
            // Chance leaves out one in 20 by each of two rules.
            assert!(full >= 170, "{n}: {full}");
            let most: Angles = (0..n).map(|_| rng.between(0.0, 5.0)).collect();
            assert!(!range(&[most], EXACT).unwrap().is_full(), "{n}");
        }
        // Turning evenly, if not in large steps.
        for (n, full) in [(30, false), (35, false), (37, true), (100, true), (3000, true)] {
            let even = (0..n).map(|i| wrapped(0.1 + TAU * f64::from(i) / f64::from(n))).collect();
            assert_eq!(range(&[even], EXACT).unwrap().is_full(), full, "{n}");
        }
    }

    /// Decision 7: the turn that holds 0 or lies nearest to it, then the larger excursion positive.
    #[test]
    fn the_sign_of_an_axis_is_that_of_the_larger_excursion_from_zero() {
        let chosen = |min: f64, max: f64| {
            let arc = Arc::from_degrees(min, max).unwrap();
            let x = glam::DVec3::X;
            let arc = if is_backwards(arc, x) { reversed(arc) } else { arc };
            [arc.min().degrees(), arc.max().degrees()].map(|end| (1e9 * end).round() / 1e9)
        };
        for (min, max, wanted) in [
            (18.9, 203.2, [18.9, 203.2]),
            (-203.2, -18.9, [18.9, 203.2]),
            (127.3, 413.6, [-53.6, 232.7]),
            (-53.6, 232.7, [-53.6, 232.7]),
            (-10.0, 80.0, [-10.0, 80.0]),
            (-80.0, 10.0, [-10.0, 80.0]),
            (170.0, 200.0, [160.0, 190.0]),
            (300.0, 340.0, [20.0, 60.0]),
        ] {
            assert_eq!(chosen(min, max), wanted, "{min} {max}");
        }
        let mut rng = Rng::new(17);
        for _ in 0..2000 {
            let (min, width) = (rng.between(-180.0, 180.0), rng.between(0.0, 359.0));
            let arc = Arc::from_degrees(min, min + width).unwrap();
            let axis = rng.direction();
            let (arc, axis) = match is_backwards(arc, axis) {
                true => (reversed(arc), -axis),
                false => (arc, axis),
            };
            let [low, high] = arc.ends_about_zero().map(Angle::radians);
            assert_eq!([low, high], [arc.min(), arc.max()].map(Angle::radians), "as written");
            let holds_zero = arc.distance(Angle::ZERO).radians() > 0.0;
            assert!(holds_zero == (low < 0.0 && high > 0.0) && high > -low, "{arc:?}");
            assert!(holds_zero || low < TAU - high + 1e-9, "nearer by a turn: {arc:?}");
            assert!(!is_backwards(arc, axis) && is_backwards(reversed(arc), -axis));
            // Seen in a mirror an axis keeps its direction and turns go the other way, or both are
            // turned around.
            assert!(is_backwards(reversed(arc), axis));
        }
        // Both as large: the largest component of the axis.
        let even = Arc::from_degrees(-40.0, 40.0).unwrap();
        assert!(is_backwards(even, glam::DVec3::new(0.1, -0.9, 0.2)));
        assert!(!is_backwards(Arc::FULL, glam::DVec3::new(-0.1, 0.9, 0.2)));
        assert!(is_backwards(Arc::from_degrees(90.0, 270.0).unwrap(), -glam::DVec3::X));
    }

    #[test]
    fn a_gap_that_stands_out_is_never_filled() {
        let mut rng = Rng::new(3);
        for n in [5, 30, 100, 300, 1000, 10_000, 100_000] {
            for gap in [12.0, 20.0, 40.0, 70.0, 120.0_f64] {
                // Even steps, and chance.
                let width = TAU - gap.to_radians();
                let step = width / f64::from(n - 1);
                let from = rng.between(-PI, PI);
                for even in [true, false] {
                    let place =
                        |i: i32| if even { step * f64::from(i) } else { width * rng.uniform() };
                    let all: Angles = (0..n).map(place).map(|a| wrapped(from + a)).collect();
                    for noise in [0.0, 0.001] {
                        let arc = range(std::slice::from_ref(&all), Range { noise, coverage: 1.0 });
                        let found = arc.unwrap().width().radians();
                        assert!(found <= width + 1e-9, "{n} {gap} {even} {noise}: {found}");
                    }
                }
            }
        }
        // A smaller one, if steps are even: of 1.8°, and then 9°.
        let step = 351.0_f64.to_radians() / 199.0;
        let all: Angles = (0..200).map(|i| wrapped(step * f64::from(i))).collect();
        assert!(!range(&[all], EXACT).unwrap().is_full());
    }

    #[test]
    fn prop_every_sample_is_inside_and_the_ends_are_samples_a9() {
        arbtest::arbtest(|u| {
            let n = u.int_in_range(1..=20)?;
            let angle = |u: &mut arbitrary::Unstructured<'_>| -> arbitrary::Result<f64> {
                Ok(f64::from(u.int_in_range(-24..=24)?) * 15.0_f64.to_radians())
            };
            let all: Angles = (0..n).map(|_| angle(u)).collect::<Result<_, _>>()?;
            let arc = range(std::slice::from_ref(&all), EXACT).unwrap();
            let slack = 1e-9;
            for a in &all {
                assert!(arc.distance(Angle::from_radians(*a)).radians() >= -slack, "{arc:?} {a}");
            }
            for end in [arc.min(), arc.max()] {
                let near = |a: &&f64| wrapped(**a - end.radians()).abs() < slack;
                assert!(arc.is_full() || all.iter().any(|a| near(&a)), "{arc:?}");
            }
            Ok(())
        });
    }

    #[test]
    fn noise_is_taken_off_the_ends() {
        let mut rng = Rng::new(2);
        let mut errors = [Vec::new(), Vec::new()];
        for _ in 0..100 {
            let sigma = 0.02;
            let all: Angles =
                (0..2000).map(|_| rng.between(-0.5, 1.2) + sigma * rng.normal()).collect();
            for (errors, noise) in errors.iter_mut().zip([0.0, sigma]) {
                let arc =
                    range(std::slice::from_ref(&all), Range { noise, coverage: 1.0 }).unwrap();
                errors.push((arc.max().radians() - 1.2) / sigma);
            }
        }
        for e in &mut errors {
            e.sort_by(f64::total_cmp);
        }
        let [raw, settled] = errors.map(|e| e[50]);
        assert!(raw > 1.5 && settled.abs() < 0.9, "{raw} {settled}");
    }

    #[test]
    fn a_share_of_the_samples_may_be_left_out() {
        let mut all: Angles = (0..98).map(|i| f64::from(i) * 0.01).collect();
        all.extend([2.0, -1.0]);
        let arc = range(&[all], Range { noise: 0.0, coverage: 0.98 }).unwrap();
        assert!(arc.min().radians().abs() < 1e-12 && (arc.max().radians() - 0.97).abs() < 1e-12);
    }
}
