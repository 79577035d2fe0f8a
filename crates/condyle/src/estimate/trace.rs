//! The trace of one joint in one clip: what a summary needs of it, and no more.
//!
//! An estimate from samples sorts them and counts the places that they are at. A summary needs
//! neither, so its samples stay in the order of time, where neighbours are alike.

use std::borrow::Cow;

use glam::DVec3;

use super::glitches;
use super::isolated;
use super::joint::Seen;
use super::kinds::{self, Evidence};
use super::moments::Moments;
use super::noise;
use super::samples::{self, Samples, chord_squared, row, rows, without};
use super::summary::Counts;
use crate::math::{Kernel, Level, Rotations};
use crate::motion::{Clip, KeyTimes};
use crate::skeleton::{JointIndex, Skeleton};

/// What one clip says about one joint.
pub(super) struct Trace<'a> {
    /// `rest⁻¹ · local` without glitches, each rotation once, either sign.
    pub(super) rotations: Cow<'a, Rotations>,
    pub(super) counts: Counts,
    /// The noise as the order of the frames shows it, radians.
    pub(super) jitter: Option<f64>,
    pub(super) moments: Moments,
    /// Its confidence means nothing: that takes the places, which are not counted.
    pub(super) evidence: Option<Evidence>,
    /// All that was seen, if frames have no order and glitches are left out.
    unordered: Option<Box<Seen>>,
}

/// How to look at clips.
#[derive(Clone, Copy)]
pub(super) struct Look {
    /// The first frame that counts.
    pub(super) from: usize,
    /// Whether glitches are left out.
    pub(super) reject: bool,
    /// Whether the order of frames says something about the noise.
    pub(super) time_counts: bool,
}

impl<'a> Trace<'a> {
    pub(super) fn new(skeleton: &Skeleton, clip: &'a Clip, joint: JointIndex, look: Look) -> Self {
        let track = clip.track(joint);
        let times = track.rotation_times();
        let series = samples::series(skeleton, clip, joint, look.from);
        let steps = Steps::of(&series);
        let ordered = steps.still || steps.certainly_in_order || glitches::in_order(&series);
        if look.reject && !ordered && series.len() >= isolated::FEW {
            return Self::without_order(skeleton, clip, joint, look);
        }
        // Keys are set by hand, each as it is meant (A12).
        let captured = *times == KeyTimes::EveryFrame;
        let bad = match (look.reject && captured, steps.smooth) {
            (false, _) => Vec::new(),
            (true, true) => glitches::spikes(&series),
            (true, false) => glitches::find(&series, ordered),
        };
        let kept = without(series, &bad);
        let used = if times.is_constant() {
            clip.frame_count().saturating_sub(look.from)
        } else {
            kept.len()
        };
        let jitter = noise::jitter(&kept);
        let again = repeated(&kept);
        let rotations = without(kept, &again);
        let moments = Moments::of(&rotations);
        let shown = jitter.filter(|_| look.time_counts);
        let evidence = Evidence::new(&moments, shown, &[], used as u64);
        let counts = Counts { frames: used, rejected: bad.len(), keys: track.rotations().len() };
        Self { rotations, counts, jitter, moments, evidence, unordered: None }
    }

    /// Of frames that do not follow each other, glitches are found by looking at all of them.
    fn without_order(skeleton: &Skeleton, clip: &Clip, joint: JointIndex, look: Look) -> Self {
        let samples = Samples::new(skeleton, clip, joint, look.from, look.reject);
        let seen = Seen::new(vec![samples], false, look.time_counts, look.reject);
        let trace = Self::of_seen(&seen);
        Self { unordered: Some(Box::new(seen)), ..trace }
    }

    /// Of one clip.
    fn of_seen(seen: &Seen) -> Self {
        let Samples { rotations, used, rejected, jitter, keys, .. } =
            seen.clips.first().cloned().unwrap_or_default();
        Self {
            rotations: Cow::Owned(rotations),
            counts: Counts { frames: used, rejected, keys },
            jitter,
            moments: seen.moments,
            evidence: seen.evidence.clone(),
            unordered: None,
        }
    }

    /// Without samples that stick out alone, if the order of frames does not tell glitches and there
    /// are any.
    pub(super) fn without_isolated(&self, noise: f64, bone: impl Fn() -> DVec3) -> Option<Self> {
        let (seen, evidence) = (self.unordered.as_ref()?, self.evidence.as_ref()?);
        let kept = seen.without_isolated(&kinds::decide(evidence, noise), bone())?;
        Some(Self::of_seen(&kept))
    }
}

/// How far rotations go from frame to frame.
struct Steps {
    /// All are the same, so that it does not matter in which order they are.
    still: bool,
    /// So little that none of them is a glitch in time.
    smooth: bool,
    /// Whether [`glitches::in_order`] is true; if not, it may still be.
    certainly_in_order: bool,
}

/// The square of the largest difference between quaternions next to each other that no glitch has.
///
/// If no two neighbours are farther apart than s, the cubic through two on each side is, before it
/// is made a unit, within 2 s of the frame between them: (4/6) · 2 s + (1/6) · 2 · 2 s. For s = 0.1
/// it is within 0.2014 after, which is 0.403 radians or 23.1°; a glitch is 25° off at least.
const SMOOTH: f64 = 0.01;

/// Compared by [`glitches::in_order`], evenly spread.
const PROBES: usize = 2048;

impl Steps {
    fn of(series: &Rotations) -> Self {
        let n = series.len();
        if n < 3 {
            return Self { still: false, smooth: true, certainly_in_order: false };
        }
        let near = Distances::of(series);
        // Those that in_order compares; it asks for a quarter.
        let near_few = if n - 1 <= PROBES { near.sum / (n - 1) as f64 } else { probed(series) };
        Self {
            still: near.most == 0.0,
            smooth: near.most < SMOOTH,
            certainly_in_order: glitches::far_energy_exceeds(series, near_few / 0.249),
        }
    }
}

/// The mean square of some distances.
fn probed(series: &Rotations) -> f64 {
    let columns = series.xyzw();
    let last = series.len() - 1;
    let at = |k: usize| (2 * k + 1) * last / (2 * PROBES);
    let sum: f64 =
        (0..PROBES).map(|k| chord_squared(row(&columns, at(k)), row(&columns, at(k) + 1))).sum();
    sum / PROBES as f64
}

/// Squares of distances from frame to frame.
#[derive(Clone, Copy)]
struct Distances {
    sum: f64,
    most: f64,
}

/// So many sums run beside each other.
const LANES: usize = 8;

/// So many distances are found at once; a multiple of the above.
const BLOCK: usize = 128;

impl Distances {
    fn of(series: &Rotations) -> Self {
        let (mut sums, mut most) = ([0.0; LANES], [0.0; LANES]);
        let columns = series.xyzw();
        Level::best().run(Differences { columns, sums: &mut sums, most: &mut most });
        Self { sum: sums.iter().sum(), most: most.into_iter().fold(0.0, f64::max) }
    }
}

struct Differences<'a> {
    columns: [&'a [f64]; 4],
    sums: &'a mut [f64; LANES],
    most: &'a mut [f64; LANES],
}

#[allow(clippy::inline_always, reason = "a kernel")]
impl Kernel for Differences<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { columns, sums, most } = self;
        let n = columns[0].len().saturating_sub(1);
        let mut squares = [0.0; BLOCK];
        let (mut sum, mut largest) = (*sums, *most);
        for start in (0..n).step_by(BLOCK) {
            let m = BLOCK.min(n - start);
            let (here, later) = (rows(columns, start, m), rows(columns, start + 1, m));
            for (i, square) in squares[..m].iter_mut().enumerate() {
                *square = chord_squared(row(&here, i), row(&later, i));
            }
            squares[m..].fill(0.0);
            for lanes in squares.chunks_exact(LANES) {
                for e in 0..LANES {
                    sum[e] += lanes[e];
                    largest[e] = if lanes[e] > largest[e] { lanes[e] } else { largest[e] };
                }
            }
        }
        (*sums, *most) = (sum, largest);
    }
}

/// Which rotations were there before, rising.
fn repeated(series: &Rotations) -> Vec<usize> {
    // Small numbers make a small table, which is soon cleared and near at hand.
    match u16::try_from(series.len()) {
        Ok(_) => repeated_by(series, |n| u16::try_from(n).unwrap_or(u16::MAX)),
        Err(_) => repeated_by(series, |n| u32::try_from(n).unwrap_or(u32::MAX)),
    }
}

/// So many places per frame: most are then found free at once.
const ROOM: usize = 8;

/// The same with frames counted in some type.
fn repeated_by<N>(series: &Rotations, number: impl Fn(usize) -> N) -> Vec<usize>
where
    N: Copy + Default + Into<u32>,
{
    let [x, y, z, w] = series.xyzw();
    let n = series.len();
    let (x, y, z, w) = (&x[..n], &y[..n], &z[..n], &w[..n]);
    // Places in an open table, by the bits without their signs; 0 is free.
    let bits = (ROOM * n).max(2).next_power_of_two().trailing_zeros();
    let mut table = vec![N::default(); 1 << bits];
    let mut again = Vec::new();
    for i in 0..n {
        let [a, b, c, d] = [x[i], y[i], z[i], w[i]].map(|v| v.abs().to_bits());
        let key = a ^ b.rotate_left(21) ^ c.rotate_left(42) ^ d.rotate_left(11);
        let key = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        #[allow(clippy::cast_possible_truncation, reason = "below the size of the table")]
        let mut place = (key >> (64 - bits)) as usize;
        loop {
            let other: u32 = table[place].into();
            let Some(j) = other.checked_sub(1).map(|j| j as usize) else {
                table[place] = number(i + 1);
                break;
            };
            let same = x[i] == x[j] && y[i] == y[j] && z[i] == z[j] && w[i] == w[j];
            if same || (x[i] == -x[j] && y[i] == -y[j] && z[i] == -z[j] && w[i] == -w[j]) {
                again.push(i);
                break;
            }
            place = (place + 1) & ((1 << bits) - 1);
        }
    }
    again
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Angle, Rotation};
    use crate::synth::{Exploration, Figure, Options, Rng, Synth};

    #[test]
    fn repeated_rotations_are_those_that_sorting_leaves_out() {
        let mut rng = Rng::new(3);
        for n in [0, 1, 2, 50, 700, 70_000] {
            let some: Vec<Rotation> = (0..n / 3 + 1).map(|_| rng.rotation()).collect();
            let series: Rotations = (0..n)
                .map(|_| {
                    let q = some[rng.below(some.len())];
                    if rng.chance(0.5) { Rotation::from_unit_unchecked(-q.quat()) } else { q }
                })
                .collect();
            let again = repeated(&series);
            let kept = without(Cow::Borrowed(&series), &again);
            let mut found: Vec<[u64; 4]> =
                kept.iter().map(|q| q.canonical().to_wxyz().map(f64::to_bits)).collect();
            found.sort_unstable();
            let sorted = Samples::from_series(&series, false);
            let mut expected: Vec<[u64; 4]> =
                sorted.rotations.iter().map(|q| q.to_wxyz().map(f64::to_bits)).collect();
            expected.sort_unstable();
            assert_eq!(found, expected, "{n}");
        }
    }

    #[test]
    fn smooth_steps_are_no_glitches_and_what_is_certainly_in_order_is() {
        let mut seen = [0; 4];
        for seed in 0..400 {
            let mut rng = Rng::new(seed);
            let n = 3 + rng.below(300);
            // Steps of every size up to the bound and beyond, and turns back and forth.
            let size = [0.02, 0.04, 0.08, 0.16, 0.32][rng.below(5)];
            // Some only shake about one place.
            let wanders = rng.chance(0.5);
            let mut at = rng.rotation();
            let mut axis = rng.direction();
            let series: Rotations = (0..n)
                .map(|_| {
                    if rng.chance(0.3) {
                        axis = if rng.chance(0.5) { -axis } else { rng.direction() };
                    }
                    let angle = Angle::from_radians(size * rng.uniform());
                    let next = at * Rotation::from_axis_angle(axis, angle).unwrap();
                    if wanders {
                        at = next;
                    }
                    next
                })
                .collect();
            let steps = Steps::of(&series);
            if steps.smooth {
                assert_eq!(glitches::find(&series, true), Vec::<usize>::new(), "{seed}");
            }
            assert!(!steps.certainly_in_order || glitches::in_order(&series), "{seed}");
            seen[usize::from(steps.smooth)] += 1;
            seen[2 + usize::from(steps.certainly_in_order)] += 1;
        }
        assert!(seen.iter().all(|n| *n > 40), "{seen:?}");
    }

    #[test]
    fn a_trace_is_what_samples_show() {
        let figure = Figure::human();
        for (seed, exploration) in
            [Exploration::Full, Exploration::Dwell, Exploration::Scatter, Exploration::Poses]
                .into_iter()
                .enumerate()
        {
            for frames in [2, 20, 300, 3000] {
                let noise = Angle::from_degrees(0.3);
                let options = Options { frames, exploration, noise, ..Options::default() };
                let synth = Synth::generate(&figure, &options, seed as u64).unwrap();
                for joint in synth.skeleton.indices().skip(1) {
                    let look = Look { from: seed % 2, reject: true, time_counts: true };
                    let trace = Trace::new(&synth.skeleton, &synth.clip, joint, look);
                    let samples =
                        Samples::new(&synth.skeleton, &synth.clip, joint, look.from, true);
                    let seen = Seen::new(vec![samples], false, true, true);
                    let samples = &seen.clips[0];
                    let Counts { frames, rejected, keys } = trace.counts;
                    assert_eq!(
                        (frames, rejected, keys),
                        (samples.used, samples.rejected, samples.keys)
                    );
                    assert_eq!(trace.jitter, samples.jitter);
                    assert_eq!(trace.rotations.len(), samples.rotations.len());
                    // Sums of 256 and less in another order: each addition rounds by up to half a
                    // unit of 2⁻⁴⁵, which is 2¹⁵ of theirs.
                    let all = trace.moments.sums().iter().zip(seen.moments.sums());
                    let off = all.map(|(a, b)| (a - b).unsigned_abs()).max().unwrap();
                    assert!(off < 3000 << 15, "{off}");
                }
            }
        }
    }
}
