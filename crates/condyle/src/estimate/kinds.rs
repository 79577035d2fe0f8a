//! Which kind a joint is.
#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use super::models::{INFLATED, Spread, Universal};
use super::moments::{MatrixMoments, Moments};
use crate::math::{Angle, Kernel, Level, Rotations, exp, log, trig};
use crate::rig::JointKind;

/// What the samples of a joint say about its kind.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub(crate) spread: Spread,
    pub(crate) matrices: MatrixMoments,
    pub(crate) universal: Option<Universal>,
    /// The noise that the order of frames shows, radians: an upper bound.
    jitter: Option<f64>,
    places: Places,
    /// How many frames there are, repeated ones included.
    frames: f64,
}

/// A kind and how sure it is.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    pub(crate) kind: JointKind,
    pub(crate) confidence: f64,
    /// The noise of this joint: what its model leaves over, radians per axis.
    pub(crate) noise: f64,
}

/// Standard deviations below this are no axis, however quiet the data are: conversions between
/// skeletons leave up to half a degree on joints that are hinges by construction.
const FLOOR: f64 = 0.6 * (std::f64::consts::PI / 180.0);

/// An axis has to move with this many times the variance of the noise: the geometric mean between an
/// axis that does not move and one with three times the standard deviation.
const FACTOR: f64 = 3.2;

/// No capture is noisier than this, radians (3°): what looks like more is motion.
pub(super) const MOST_NOISE: f64 = 3.0 * (std::f64::consts::PI / 180.0);

/// How unsure the logarithm of a variance ratio is apart from sampling: the noise of a joint is not
/// quite that of its figure.
const DOUBT: f64 = 0.3;

/// A standard deviation below this, in radians, is not moving at all (0.01°): files round angles to
/// hundredths of a degree or finer, so that what is less may be rounding.
const STILL: f64 = 0.01 * (std::f64::consts::PI / 180.0);

impl Evidence {
    /// Of samples, by clips, and their moments.
    pub(crate) fn new(
        moments: &Moments,
        jitter: Option<f64>,
        samples: &[&Rotations],
        frames: u64,
    ) -> Option<Self> {
        let means = moments.means();
        let spread = Spread::new(&means)?;
        let places = Places::new(&spread, samples);
        let matrices = means.matrices();
        // What a hinge explains well enough, two axes explain too.
        let hinge = spread.beyond_hinge();
        let universal = if hinge > (0.2 * FLOOR) * (0.2 * FLOOR) {
            Universal::fit(&spread, &matrices)
        } else {
            None
        };
        Some(Self { spread, matrices, universal, jitter, places, frames: frames as f64 })
    }

    fn moves(&self) -> bool {
        self.spread.beyond_fixed() > STILL * STILL
    }

    /// What is left over by each kind, per axis, radians: a fixed joint, a hinge, a universal joint.
    fn left_over(&self) -> [f64; 3] {
        let spread = &self.spread;
        let fixed = (spread.variances.iter().sum::<f64>() / 3.0).sqrt();
        let hinge = (0.5 * spread.beyond_hinge()).sqrt();
        [fixed, hinge, self.universal.map_or(hinge, |u| u.variance.sqrt())]
    }

    /// The noise, if it is the joint's own: what the simplest model leaves over that is not clearly
    /// worse than the next. The best of many universal joints explains some of the noise too.
    fn least(&self) -> f64 {
        let [fixed, hinge, universal] = self.left_over();
        let least = if hinge <= 1.8 * universal { hinge } else { universal };
        let least = if fixed <= 1.6 * least { fixed } else { least };
        self.jitter.map_or(least, |jitter| jitter.min(least))
    }
}

/// The noise of a figure, radians per axis: that of all its joints is taken to be alike, and the joints
/// that some model explains show it.
///
/// First a low quantile of what the models leave over at least; with it the kinds; then the middle of
/// what those leave over that are not balls. Where most joints are balls, and time does not tell, that
/// is motion and no noise: more than [`MOST_NOISE`] is not believed.
pub(crate) fn figure_noise<'a>(joints: impl Iterator<Item = &'a Evidence> + Clone) -> f64 {
    let mut least: Vec<f64> = joints.clone().filter(|e| e.moves()).map(Evidence::least).collect();
    if least.is_empty() {
        return 0.0;
    }
    let low = (least.len() - 1) / 5;
    let first = least.select_nth_unstable_by(low, f64::total_cmp).1.min(MOST_NOISE);
    let mut explained: Vec<f64> = joints
        .filter(|e| e.moves())
        .filter_map(|e| e.left_over().get(axes_that_count(e, first)).copied())
        .collect();
    if explained.is_empty() {
        return first;
    }
    let middle = explained.len() / 2;
    explained.select_nth_unstable_by(middle, f64::total_cmp).1.min(MOST_NOISE)
}

/// The kind with the fewest axes that leaves nothing over but noise.
///
/// An axis counts if its variance exceeds both the floor's and [`FACTOR`] times the noise's. The
/// confidence is that of the less sure of two answers: that the last axis is there, and that no other
/// is. Each is a logistic function of the logarithm of the ratio to the threshold, over its standard
/// deviation: √(2/n) for the sampling of a variance, and [`DOUBT`].
pub(crate) fn decide(evidence: &Evidence, noise: f64) -> Decision {
    let spread = &evidence.spread;
    let (axes, threshold) = (axes(evidence, noise), threshold(noise));
    let count = axes_that_count(evidence, noise);

    let doubt = (DOUBT * DOUBT + 2.0 / spread.count.max(1.0)).sqrt();
    let sure = |variance: f64, there: bool| {
        let ratio = log(variance.max(1e-30) / threshold) / doubt;
        1.0 / (1.0 + exp(if there { -ratio } else { ratio }))
    };
    let mut confidence = 1.0_f64;
    if count > 0 {
        confidence = confidence.min(sure(axes[count - 1], true));
    }
    if let Some(next) = axes.get(count) {
        confidence = confidence.min(sure(*next, false));
    }
    confidence *= explored(evidence, count);

    let kind = [JointKind::Fixed, JointKind::Hinge, JointKind::Universal, JointKind::Ball][count];
    let left = evidence.left_over();
    let own = left.get(count).copied().unwrap_or_else(|| {
        // A ball leaves nothing over: the noise of the others, or what time shows if that is less.
        evidence.jitter.map_or(noise, |jitter| if noise > 0.0 { jitter.min(noise) } else { 0.0 })
    });
    Decision { kind, confidence, noise: own }
}

/// How many axes a joint has.
fn axes_that_count(evidence: &Evidence, noise: f64) -> usize {
    let threshold = threshold(noise);
    axes(evidence, noise).iter().take_while(|v| **v > threshold).count()
}

/// How much the places that were seen say about a joint with so many axes, from 0 to 1.
///
/// Two places are always on one hinge. Five are always on some universal joint, and so is, nearly, all
/// that a ball does that dwells at a few places and goes straight between them. Of a joint without axes
/// the frames count as well; of one that is constant within the rounding of its file nothing else.
fn explored(evidence: &Evidence, axes: usize) -> f64 {
    let places = &evidence.places;
    let spare = match axes {
        // Which of the last digits differ says nothing: every frame shows that it does not move.
        0 if !evidence.moves() => 0.25 * (evidence.frames - 1.0),
        0 => (0.25 * (evidence.spread.count - 1.0)).max(0.05 * evidence.frames),
        1 => 0.7 * (places.along - 1.0),
        2 => 0.12 * (places.even - 5.0),
        _ => 0.25 * (places.all - 3.0),
    };
    1.0 - exp(-spare.max(0.0))
}

/// The variance of each axis.
fn axes(evidence: &Evidence, noise: f64) -> [f64; 3] {
    let first = evidence.spread.beyond_fixed();
    // Two axes of noise, of which one is taken off.
    let second = (evidence.spread.beyond_hinge() - noise * noise).max(0.0);
    // Axes that turn against each other, far, for a joint that hardly moves say nothing about it.
    let third =
        |u: Universal| u.variance + threshold(noise) * (u.inflation / INFLATED - 1.0).max(0.0);
    [first, second, evidence.universal.map_or(0.0, third)]
}

/// An axis counts if its variance is above this.
fn threshold(noise: f64) -> f64 {
    (FACTOR * noise * noise).max(FLOOR * FLOOR)
}

/// Why [`decide`] says so, in a sentence.
pub(crate) fn why(evidence: &Evidence, noise: f64, kind: JointKind) -> String {
    let degrees = |variance: f64| Angle::from_radians(variance.sqrt()).degrees();
    let [first, second, third] = axes(evidence, noise);
    let limit = degrees(threshold(noise));
    let limit = if FACTOR * noise * noise > FLOOR * FLOOR {
        format!("the {limit:.2} deg that noise explains")
    } else {
        format!("{limit:.2} deg, the least that counts")
    };
    let (count, text) = match kind {
        JointKind::Fixed if !evidence.moves() => return "does not move".to_owned(),
        JointKind::Fixed => (0, format!("moves by {:.2} deg, below {limit}", degrees(first))),
        JointKind::Hinge => (1, format!("second axis {:.2} deg, below {limit}", degrees(second))),
        JointKind::Universal => (
            2,
            format!(
                "second axis {:.1} deg, what two axes leave over {:.2} deg, below {limit}",
                degrees(second),
                degrees(third)
            ),
        ),
        _ => (3, format!("two axes leave {:.1} deg over, above {limit}", degrees(third))),
    };
    // Where that is why the confidence is low.
    if explored(evidence, count) < 0.9 {
        format!("{text}; but few different places were seen")
    } else {
        text
    }
}

/// Where the samples of a joint are.
#[derive(Clone, Copy, Debug)]
struct Places {
    /// How many different places they are at along the axis that moves most.
    along: f64,
    /// How many they are at in all.
    all: f64,
    /// How many they would be at if they were at each equally often: less than there are where a
    /// joint dwells.
    even: f64,
}

/// So many samples are enough to tell.
const LOOKED_AT: usize = 512;

impl Places {
    /// Counts cells of half a standard deviation: about the axis that moves most its own, about the
    /// others that of the second, but no less than a tenth of the first.
    ///
    /// # Source
    ///
    /// `even` is the inverse of the chance that two samples are at one place: E. H. Simpson,
    /// "Measurement of diversity" (1949).
    fn new(spread: &Spread, samples: &[&Rotations]) -> Self {
        let first = spread.variances[0].sqrt();
        let count: usize = samples.iter().map(|clip| clip.len()).sum();
        if 0.5 * first < STILL || count == 0 {
            return Self { along: 1.0, all: 1.0, even: 1.0 };
        }
        let second = spread.variances[1].sqrt().max(0.1 * first);
        // A turn by a small angle moves a quaternion by half of it.
        let per_cell = [first, second, second].map(|deviation| 4.0 / deviation);
        // The same number of each clip, whatever their order.
        let step = count.div_ceil(LOOKED_AT);
        let mut cells = Cells::new(count / step + samples.len());
        let mut along = [0_u64; 2];
        let mut block = Block { cells: [[0; BLOCK]; 3], mixed: [0; BLOCK] };
        for clip in samples {
            // From the middle of a step, or of the clip: they are sorted.
            let first = (step / 2).min(clip.len() / 2);
            let every = |c: &[f64]| c.iter().skip(first).step_by(step).copied().collect();
            let picked: [Vec<f64>; 4] =
                if step > 1 { clip.xyzw().map(every) } else { Default::default() };
            let columns = if step > 1 { picked.each_ref().map(Vec::as_slice) } else { clip.xyzw() };
            for start in (0..columns[0].len()).step_by(BLOCK) {
                let end = columns[0].len().min(start + BLOCK);
                let columns = columns.map(|c| &c[start..end]);
                Level::best().run(Rounded { spread, per_cell, columns, to: &mut block });
                let [a, b, c] = &block.cells;
                let found = a.iter().zip(b).zip(c).zip(&block.mixed).take(end - start);
                for (((a, b), c), mixed) in found {
                    let cell = [*a, *b, *c];
                    cells.insert(cell, *mixed);
                    // No sample is farther than 63 cells on any path worth asking for.
                    let bit = cell[0].clamp(-63, 63);
                    along[usize::from(bit < 0)] |= 1 << bit.unsigned_abs();
                }
            }
        }
        Self {
            along: f64::from(along[0].count_ones() + along[1].count_ones()),
            all: cells.filled as f64,
            even: cells.even(),
        }
    }
}

/// Samples that are worked on together.
const BLOCK: usize = 128;

/// The cells of some samples.
struct Block {
    cells: [[i32; BLOCK]; 3],
    /// All three numbers in one, for [`Cells::insert`].
    mixed: [u32; BLOCK],
}

/// Finds the cells of samples.
struct Rounded<'a> {
    spread: &'a Spread,
    per_cell: [f64; 3],
    columns: [&'a [f64]; 4],
    to: &'a mut Block,
}

impl Kernel for Rounded<'_> {
    #[inline(always)]
    fn run(self) {
        let (spread, per_cell) = (*self.spread, self.per_cell);
        let [x, y, z, w] = self.columns;
        let n = x.len().min(BLOCK);
        let (x, y, z, w) = (&x[..n], &y[..n], &z[..n], &w[..n]);
        let Block { cells: [a, b, c], mixed } = self.to;
        #[allow(clippy::cast_possible_truncation, reason = "saturates, as good")]
        let nearest = |x: f64| (x + 0.5_f64.copysign(x)) as i32;
        for i in 0..n {
            let [p, q, r] = spread.place([x[i], y[i], z[i], w[i]]);
            a[i] = nearest(p * per_cell[0]);
            b[i] = nearest(q * per_cell[1]);
            c[i] = nearest(r * per_cell[2]);
        }
        // The factors of M. Teschner et al., "Optimized spatial hashing" (2003).
        let [f, g, h] = [73_856_093, 19_349_663, 83_492_791];
        for i in 0..n {
            let all = a[i].wrapping_mul(f) ^ b[i].wrapping_mul(g) ^ c[i].wrapping_mul(h);
            mixed[i] = all.unsigned_abs();
        }
    }
}

/// A set of cells, and how often each was seen.
struct Cells {
    table: Vec<([i32; 3], u32)>,
    filled: usize,
    /// The sum of how often each was seen, and of the squares.
    seen: u64,
    squares: u64,
}

impl Cells {
    /// With room for so many.
    fn new(most: usize) -> Self {
        let table = vec![([0; 3], 0); (2 * most).next_power_of_two()];
        Self { table, filled: 0, seen: 0, squares: 0 }
    }

    /// `mixed` is the same for the same cell, and mostly another for another.
    fn insert(&mut self, cell: [i32; 3], mixed: u32) {
        let last = self.table.len() - 1;
        let mut place = mixed as usize & last;
        while self.table[place].1 > 0 && self.table[place].0 != cell {
            place = (place + 1) & last;
        }
        let before = self.table[place].1;
        self.table[place] = (cell, before + 1);
        self.filled += usize::from(before == 0);
        self.seen += 1;
        self.squares += 2 * u64::from(before) + 1;
    }

    /// The square of the number seen over the sum of squares.
    fn even(&self) -> f64 {
        let (sum, squares) = (self.seen as f64, self.squares as f64);
        if squares > 0.0 { sum * sum / squares } else { 1.0 }
    }
}

/// The angle whose cosine of half is given.
pub(super) fn twice_acos(cos: f64) -> f64 {
    2.0 * trig::acos(cos.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::math::Rotation;
    use crate::synth::Rng;

    #[test]
    fn dwelling_at_few_places_counts_as_few() {
        let mut rng = Rng::new(1);
        let mut places = |at: &mut dyn FnMut(&mut Rng) -> [f64; 2]| {
            let samples: Rotations = (0..1000)
                .map(|_| {
                    let [x, y] = at(&mut rng);
                    let noise = DVec3::new(rng.normal(), rng.normal(), rng.normal()) * 0.005;
                    Rotation::exp(DVec3::new(x, y, 0.0) + noise).unwrap()
                })
                .collect();
            Places::new(&Spread::new(&Moments::of(&samples).means()).unwrap(), &[&samples])
        };
        // Four corners; on the way between them one time in five; all over, and about one axis less.
        let corner = |rng: &mut Rng, w: f64| if rng.chance(0.5) { w } else { -w };
        let corners = places(&mut |rng| [corner(rng, 0.5), corner(rng, 0.3)]);
        assert!(corners.even < 9.0 && corners.along <= 6.0, "{corners:?}");
        let between = places(&mut |rng| match rng.chance(0.2) {
            true => [rng.between(-0.5, 0.5), corner(rng, 0.3)],
            false => [corner(rng, 0.5), corner(rng, 0.3)],
        });
        assert!(between.even < 13.0 && between.all > corners.all, "{between:?}");
        for width in [0.5, 0.1] {
            let over = places(&mut |rng| [rng.between(-0.5, 0.5), rng.between(-width, width)]);
            assert!(over.even > 40.0 && over.along >= 7.0, "{over:?}");
        }
        let same = Rotations::repeat(Rotation::IDENTITY, 3);
        let still = Places::new(&Spread::new(&Moments::of(&same).means()).unwrap(), &[&same]);
        assert!(still.all == 1.0 && still.even == 1.0, "{still:?}");
    }
}
