//! Which kind a joint is.

use super::models::{Spread, Universal};
use super::moments::{MatrixMoments, Moments};
use crate::math::{Angle, Rotations, trig};
use crate::rig::JointKind;

/// What the samples of a joint say about its kind.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub(crate) spread: Spread,
    pub(crate) matrices: MatrixMoments,
    pub(crate) universal: Option<Universal>,
    /// The noise that the order of frames shows, radians: an upper bound.
    jitter: Option<f64>,
    /// How many different places the samples are at, see [`places`].
    places: f64,
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

/// Less than this, in radians, is not moving at all.
const STILL: f64 = 1e-7;

impl Evidence {
    /// Of samples, by clips, and their moments.
    pub(crate) fn new(
        moments: &Moments,
        jitter: Option<f64>,
        samples: &[&Rotations],
        frames: u64,
    ) -> Option<Self> {
        let spread = Spread::new(moments)?;
        let places = places(&spread, samples);
        let matrices = moments.matrices();
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
        .map(|e| decide(e, first))
        .filter(|d| d.kind != JointKind::Ball)
        .map(|d| d.noise)
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
    let count = axes.iter().take_while(|v| **v > threshold).count();

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
    // Two places are always on one hinge, and every curve is near to some universal joint.
    let spare = match count {
        0 => 0.25 * (spread.count - 1.0),
        1 => 0.5 * (evidence.places - 1.0),
        2 => 0.1 * (evidence.places - 5.0),
        _ => 0.25 * (evidence.places - 3.0),
    };
    confidence *= 1.0 - exp(-spare.max(0.0));
    // It may yet move in another clip.
    if !evidence.moves() {
        confidence = 0.9 * (1.0 - exp(-0.05 * evidence.frames));
    }

    let kind = [JointKind::Fixed, JointKind::Hinge, JointKind::Universal, JointKind::Ball][count];
    let left = evidence.left_over();
    let own = left.get(count).copied().unwrap_or_else(|| {
        // A ball leaves nothing over: the noise of the others, or what time shows if that is less.
        evidence.jitter.map_or(noise, |jitter| if noise > 0.0 { jitter.min(noise) } else { 0.0 })
    });
    Decision { kind, confidence, noise: own }
}

/// The variance of each axis.
fn axes(evidence: &Evidence, noise: f64) -> [f64; 3] {
    let first = evidence.spread.beyond_fixed();
    // Two axes of noise, of which one is taken off.
    let second = (evidence.spread.beyond_hinge() - noise * noise).max(0.0);
    [first, second, evidence.universal.map_or(0.0, |u| u.variance)]
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
    match kind {
        JointKind::Fixed if !evidence.moves() => "does not move".to_owned(),
        JointKind::Fixed => {
            format!(
                "moves by {:.2} deg, below the {limit:.2} deg that noise explains",
                degrees(first)
            )
        }
        JointKind::Hinge => format!(
            "second axis {:.2} deg, below the {limit:.2} deg that noise explains",
            degrees(second)
        ),
        JointKind::Universal => format!(
            "second axis {:.1} deg, what two axes leave over {:.2} deg, below the {limit:.2} deg that \
             noise explains",
            degrees(second),
            degrees(third)
        ),
        _ => format!(
            "two axes leave {:.1} deg over, above the {limit:.2} deg that noise explains",
            degrees(third)
        ),
    }
}

/// How many different places samples are at: cells of half the largest standard deviation, so that
/// noise alone makes as many as a ball would.
fn places(spread: &Spread, samples: &[&Rotations]) -> f64 {
    let size = 0.5 * spread.variances[0].sqrt();
    if size < STILL {
        return 1.0;
    }
    let back = spread.mean().inverse();
    let mut cells = Cells { table: [Cells::FREE; Cells::ROOM], count: 0 };
    let mut before = Cells::FREE;
    for rotation in samples.iter().flat_map(|r| r.iter()) {
        let q = back * rotation;
        let q = if q.quat().w > 0.0 { q } else { q.canonical() }.quat();
        #[allow(clippy::cast_possible_truncation, reason = "saturates, which is as good")]
        let cell = [q.x, q.y, q.z].map(|v| (2.0 * v / size + 0.5_f64.copysign(v)) as i32);
        if cell != before {
            cells.insert(cell);
            before = cell;
        }
        // More than enough to be sure.
        if cells.count >= 100 {
            break;
        }
    }
    cells.count as f64
}

/// A set of few cells.
struct Cells {
    table: [[i32; 3]; Self::ROOM],
    count: usize,
}

impl Cells {
    /// More than twice as many as there will be.
    const ROOM: usize = 256;
    const FREE: [i32; 3] = [i32::MIN; 3];

    fn insert(&mut self, cell: [i32; 3]) {
        // The factors of M. Teschner et al., "Optimized spatial hashing" (2003).
        let factors = [73_856_093, 19_349_663, 83_492_791];
        let mixed = cell.iter().zip(factors).fold(0, |mixed, (c, f)| mixed ^ c.wrapping_mul(f));
        let mut place = usize::from(mixed.to_le_bytes()[0]);
        while self.table[place] != cell {
            if self.table[place] == Self::FREE {
                self.table[place] = cell;
                self.count += 1;
                return;
            }
            place = (place + 1) % Self::ROOM;
        }
    }
}

/// The natural logarithm to some ten digits, from the exponent and a series: the platform's are not
/// the same everywhere.
fn log(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NEG_INFINITY;
    }
    // x = m 2^e with m near 1; ln m = 2 artanh((m − 1)/(m + 1)).
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | (1023 << 52));
    let (mantissa, exponent) = if mantissa > std::f64::consts::SQRT_2 {
        (0.5 * mantissa, exponent + 1)
    } else {
        (mantissa, exponent)
    };
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let mut series = 0.0;
    for k in (0..12).rev() {
        series = series * square + 1.0 / f64::from(2 * k + 1);
    }
    2.0 * t * series + f64::from(exponent) * std::f64::consts::LN_2
}

/// The exponential function to some ten digits.
fn exp(x: f64) -> f64 {
    if x > 700.0 {
        return f64::INFINITY;
    }
    if x < -700.0 {
        return 0.0;
    }
    let turns = (x * std::f64::consts::LOG2_E).round();
    let rest = x - turns * std::f64::consts::LN_2;
    let mut series = 1.0;
    for k in (1..16).rev() {
        series = 1.0 + series * rest / f64::from(k);
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 1023")]
    let power = f64::from_bits(((turns + 1023.0) as u64) << 52);
    series * power
}

/// The angle whose cosine of half is given.
pub(super) fn twice_acos(cos: f64) -> f64 {
    2.0 * trig::acos(cos.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_and_exponentials_are_right() {
        for i in -600..600 {
            let x = f64::from(i) * 0.5 + 0.1;
            #[allow(clippy::disallowed_methods, reason = "the judge")]
            let truth = x.exp();
            assert!((exp(x) / truth - 1.0).abs() < 1e-10, "{x}");
            assert!((log(truth) - x).abs() < 1e-10 * x.abs().max(1.0), "{x}");
        }
    }
}
