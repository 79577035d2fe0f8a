//! How often an end of a range was visited, and where the true end is.

/// The farthest point of an excursion.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Peak {
    /// Radians, growing outwards: of a lower end negated.
    at: f64,
    /// One standard deviation of what noise does to it.
    error: f64,
}

/// The excursions of an angle in time, to the lower and to the upper end of its range.
#[derive(Clone, Debug)]
pub(crate) struct Excursions {
    peaks: [Vec<Peak>; 2],
    /// The farthest of all angles, growing outwards.
    farthest: [f64; 2],
}

impl Default for Excursions {
    fn default() -> Self {
        Self { peaks: [const { Vec::new() }; 2], farthest: [f64::NEG_INFINITY; 2] }
    }
}

/// From fewer excursions than this nothing follows about where the end is,
const FEW: usize = 5;

/// nor where fewer of them came near it.
const NEAR: usize = 3;

/// The interval leaves out this much on each side: see [`interval`].
const MISSED: f64 = 0.08;

impl Excursions {
    /// Those that a clip makes, frame by frame, added to those of others.
    ///
    /// An excursion goes out by `retreat` and back by as much. So what trembles at the end of a range is
    /// one excursion, and so is staying there. Where a clip begins or ends nothing turned back.
    ///
    /// `noise` is one standard deviation of each angle, radians.
    pub(crate) fn add(&mut self, angles: &[f64], retreat: f64, noise: f64) {
        let (mut low, mut high) = (0, 0);
        // Where it goes; not known before it has gone so far.
        let mut upwards = None;
        for (i, &x) in angles.iter().enumerate() {
            self.farthest = [self.farthest[0].max(-x), self.farthest[1].max(x)];
            if upwards != Some(false) && x > angles[high] {
                high = i;
            }
            if upwards != Some(true) && x < angles[low] {
                low = i;
            }
            if upwards != Some(false) && angles[high] - x >= retreat {
                if upwards.is_some() {
                    self.peaks[1].push(settled(angles, high, 1.0, retreat, noise));
                }
                (upwards, low) = (Some(false), i);
            } else if upwards != Some(true) && x - angles[low] >= retreat {
                if upwards.is_some() {
                    self.peaks[0].push(settled(angles, low, -1.0, retreat, noise));
                }
                (upwards, high) = (Some(true), i);
            }
        }
    }

    /// The lower excursions of some angles, and the upper ones of others.
    pub(crate) fn add_envelope(&mut self, low: &[f64], high: &[f64], retreat: f64, noise: f64) {
        for (side, angles) in [low, high].into_iter().enumerate() {
            let mut of = Self::default();
            of.add(angles, retreat, noise);
            self.peaks[side].append(&mut of.peaks[side]);
            self.farthest[side] = self.farthest[side].max(of.farthest[side]);
        }
    }

    /// How often the lower or the upper end was visited: how many excursions came within `near` of the
    /// farthest angle.
    pub(crate) fn visits(&self, upper: bool, near: f64) -> usize {
        let side = usize::from(upper);
        self.peaks[side].iter().filter(|peak| self.farthest[side] - peak.at <= near).count()
    }

    /// Where the true end is, growing outwards; `None` where too few excursions came near it to tell, or
    /// a clip begins or ends beyond all that they tell.
    pub(crate) fn interval(&self, upper: bool, near: f64) -> Option<[f64; 2]> {
        if self.visits(upper, near) < NEAR {
            return None;
        }
        let side = usize::from(upper);
        interval(&self.peaks[side]).filter(|[_, end]| *end >= self.farthest[side])
    }
}

/// Where the true end is, nine times out of ten; `None` after fewer than [`FEW`] excursions.
///
/// # Source
///
/// Let excursions end at independent points of a law with the end θ, near which P(X > x) is
/// proportional to (θ − x)^α. Given the third largest, x₃, the (θ − x)^α of the two farther ones are
/// uniform up to (θ − x₃)^α. So r = (θ − x₁) / (θ − x₃) has
///
/// ```text
///   P(r > ρ) = (1 − ρ^α)²,   θ = x₁ + (x₁ − x₃) r / (1 − r)
/// ```
///
/// whatever the scale and the number of excursions (D. Robson, J. Whitlock, "Estimation of a
/// truncation point", 1964, for α = 1; P. Cooke, "Statistical inference for bounds of random
/// variables", 1979; L. de Haan, "Estimation of the minimum of a function using order statistics",
/// 1981; P. Hall, "On estimating the endpoint of a distribution", 1982). α is not known: it is 1 for
/// a law that breaks off, as where a joint is stopped, and 2 for one that runs out, as where a person
/// stops. The lower end of the interval is that which α = 1 has beyond θ in 8 % of cases, and the
/// upper that which α = 2 has before θ in 8 %:
///
/// ```text
///   ρ = 1 − √0.92,     ρ / (1 − ρ) = 0.0426
///   ρ = √(1 − √0.08),  ρ / (1 − ρ) = 5.53
/// ```
///
/// So α = 1 is missed in 8 + 2.3 %, α = 2 in 0.3 + 8 %, and those between in less than 11 %. A law
/// with a pole at its end (α < 1) is missed more often, by little: there the end is what was seen.
///
/// A bootstrap would not do: it never goes beyond what was seen.
///
/// Noise moves the farthest peak outwards, the more so the more there are. With λ peaks per radian
/// near θ, each off by τ (one standard deviation), θ + δ is passed by λ τ L(δ/τ) of them on average,
/// where L(z) = φ(z) − z (1 − Φ(z)) is the loss function of the normal law. x₁ − x₃ is 2/λ on
/// average. So the lower end is x₁ − τ z with L(z) = 0.0426 (x₁ − x₃) / τ, which is the one above
/// where τ is small.
fn interval(peaks: &[Peak]) -> Option<[f64; 2]> {
    if peaks.len() < FEW {
        return None;
    }
    let mut first = [Peak { at: f64::NEG_INFINITY, error: 0.0 }; 3];
    for &peak in peaks {
        if peak.at > first[2].at {
            first[2] = peak;
            first.sort_unstable_by(|a, b| b.at.total_cmp(&a.at));
        }
    }
    let (farthest, spread) = (first[0].at, first[0].at - first[2].at);
    let error = (first.iter().map(|peak| peak.error * peak.error).sum::<f64>() / 3.0).sqrt();
    let within = |ratio: f64| spread * ratio / (1.0 - ratio);
    let low = within(1.0 - (1.0 - MISSED).sqrt());
    let high = within((1.0 - MISSED.sqrt()).sqrt());
    let low = if error > 0.0 { -error * inverse_loss(low / error) } else { low };
    Some([farthest + low, farthest + high.max(low)])
}

/// L(z) for z from −2 to 3 in steps of a half.
const LOSS: [f64; 11] = [
    2.008_491, 1.529_307, 1.083_316, 0.697_797, 0.398_942, 0.197_797, 0.083_316, 0.029_307,
    0.008_491, 0.002_004, 0.000_382,
];

/// The z with a given L(z), to a twentieth; 3 at most. Beyond the table L(z) is −z.
fn inverse_loss(loss: f64) -> f64 {
    let Some(i) = LOSS.iter().position(|l| *l < loss) else { return 3.0 };
    if i == 0 {
        return -loss;
    }
    let share = (LOSS[i - 1] - loss) / (LOSS[i - 1] - LOSS[i]);
    0.5 * (i as f64 - 1.0 + share) - 2.0
}

/// How far down from a peak its shape is looked at, in standard deviations of the noise.
const DEPTHS: [f64; 5] = [6.0, 12.0, 24.0, 48.0, 96.0];

/// Which of several rows of frames is taken depends on the noise too: it errs by so much more than a
/// row that was chosen beforehand. By simulation: peaks from Beta(5, 1) over 30° that are held for 20
/// frames with 0.3° of noise are missed in 12 % after 50 visits; in 16 % without.
const CHOSEN: f64 = 1.3;

/// The angle at a turn without noise, times `sign`: the top of the parabola through the frames
/// around it.
///
/// The outermost of some noisy frames is too far out. A parabola through more of them has less noise,
/// and is wrong where the motion is none. So the frames are taken that lie no deeper than 6 σ, then
/// 12 σ and so on, as long as the parabola leaves over no more than the noise, and its top stays
/// where it was within one and a half of its error (O. Lepskii, "On a problem of adaptive
/// estimation in Gaussian white noise", 1990). Where fewer than five frames are so near to it, and
/// the others do not make a parabola, the outermost frame stays as it is.
fn settled(angles: &[f64], at: usize, sign: f64, retreat: f64, noise: f64) -> Peak {
    let raw = sign * angles[at];
    if noise <= 0.0 {
        return Peak { at: raw, error: 0.0 };
    }
    let mut best: Option<Peak> = None;
    // No deeper than the retreat: then it is this excursion, and each frame belongs to one only.
    let depths = DEPTHS.map(|depth| depth * noise).into_iter().take_while(|d| *d <= retreat);
    for (i, depth) in depths.enumerate() {
        let deeper = |x: &f64| raw - sign * x > depth;
        let from = angles[..at].iter().rposition(deeper).map_or(0, |i| i + 1);
        let until = angles[at..].iter().position(deeper).map_or(angles.len(), |i| at + i);
        let Some((peak, left)) = top(&angles[from..until], noise, sign) else { continue };
        // Twice the spread of a variance of so many frames.
        let fits = left <= 1.0 + 2.0 * (2.0 / ((until - from) as f64 - 3.0)).sqrt();
        let stays = best.is_none_or(|best| (peak.at - best.at).abs() <= 1.5 * best.error);
        // Nearer than this, whatever it is, noise is most of it.
        if i > 0 && !(fits && stays) {
            break;
        }
        best = Some(peak);
    }
    let best = best.unwrap_or(Peak { at: raw, error: noise });
    Peak { error: CHOSEN * best.error, ..best }
}

/// The largest value of the parabola through numbers in a row, times `sign`, by least squares; and the
/// variance of what it leaves over, in those of the noise. A parabola that noise alone may have bent is
/// a line, and a line that noise alone may have tilted is the mean. `None` of fewer than five.
fn top(row: &[f64], noise: f64, sign: f64) -> Option<(Peak, f64)> {
    let n = row.len();
    if n < 5 {
        return None;
    }
    // In t from −1 to 1; 1, t and t² − mean are orthogonal on evenly spaced points.
    let (count, half) = (n as f64, 0.5 * (n - 1) as f64);
    let [mut t2, mut t4, mut y0, mut y1, mut y2, mut yy] = [0.0; 6];
    let origin = row[0];
    for (i, x) in row.iter().enumerate() {
        let (t, y) = ((i as f64 - half) / half, sign * (x - origin));
        let square = t * t;
        t2 += square;
        t4 += square * square;
        y0 += y;
        y1 += y * t;
        y2 += y * square;
        yy += y * y;
    }
    let mean = t2 / count;
    let t4 = t4 - t2 * mean;
    let y2 = y2 - y0 * mean;
    let (a, b, c) = (y0 / count, y1 / t2, y2 / t4);
    let left = (yy - a * y0 - b * y1 - c * y2).max(0.0) / (count - 3.0) / (noise * noise);
    let bent = c * t4.sqrt() < -SURELY * noise;
    let tilted = b.abs() * t2.sqrt() > SURELY * noise;
    let (at, bend) = match (bent, tilted) {
        (true, _) => ((-0.5 * b / c).clamp(-1.0, 1.0), c),
        (false, true) => (b.signum(), 0.0),
        (false, false) => (0.0, 0.0),
    };
    let slope = if bent || tilted { b } else { 0.0 };
    let curve = at * at - mean;
    let variance = 1.0 / count
        + if bent || tilted { at * at / t2 } else { 0.0 }
        + if bent { curve * curve / t4 } else { 0.0 };
    let peak =
        Peak { at: sign * origin + a + slope * at + bend * curve, error: noise * variance.sqrt() };
    (peak.at.is_finite() && left.is_finite()).then_some((peak, left))
}

/// So many standard deviations noise alone does not make.
const SURELY: f64 = 2.5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    /// One of the k-th largest of n uniform numbers, which is Beta(n + 1 − k, k).
    fn beta(rng: &mut Rng, n: usize, k: usize) -> f64 {
        let mut all: Vec<f64> = (0..n).map(|_| rng.uniform()).collect();
        all.sort_unstable_by(|a, b| b.total_cmp(a));
        all[k - 1]
    }

    /// Uniform, Beta(2, 2), Beta(5, 1), Beta(1, 2): with α = 1, 2, 1, 2.
    const LAWS: [(&str, usize, usize); 4] =
        [("uniform", 1, 1), ("Beta(2, 2)", 3, 2), ("Beta(5, 1)", 5, 1), ("Beta(1, 2)", 2, 2)];

    fn exact(at: f64) -> Peak {
        Peak { at, error: 0.0 }
    }

    #[test]
    fn nine_of_ten_intervals_have_the_end_whatever_the_law() {
        let mut rng = Rng::new(1);
        for (name, n, k) in LAWS {
            for count in [5, 7, 10, 15, 20, 30, 50] {
                let mut missed = [0; 2];
                for _ in 0..4000 {
                    let peaks: Vec<Peak> =
                        (0..count).map(|_| exact(beta(&mut rng, n, k))).collect();
                    let [low, high] = interval(&peaks).unwrap();
                    missed[0] += usize::from(low > 1.0);
                    missed[1] += usize::from(high < 1.0);
                }
                let share = 1.0 - (missed[0] + missed[1]) as f64 / 4000.0;
                println!("{name}, {count} visits: {share:.3}, missed {missed:?}");
                assert!((0.85..=0.95).contains(&share), "{name}, {count} visits: {share}");
            }
        }
    }

    /// Peaks off by normal errors, a tenth as large as the peaks are apart near the end up to the same.
    #[test]
    fn noise_of_peaks_is_reckoned_with() {
        let mut rng = Rng::new(2);
        for (name, n, k) in LAWS {
            let apart = if k == 1 { 1.0 / (30 * n) as f64 } else { 1.0 / 30.0 };
            for error in [0.1 * apart, 0.3 * apart, apart] {
                let mut missed = [0; 2];
                for _ in 0..4000 {
                    let noisy = |_| Peak { at: beta(&mut rng, n, k) + error * rng.normal(), error };
                    let peaks: Vec<Peak> = (0..30).map(noisy).collect();
                    let [low, high] = interval(&peaks).unwrap();
                    missed[0] += usize::from(low > 1.0);
                    missed[1] += usize::from(high < 1.0);
                }
                let share = 1.0 - (missed[0] + missed[1]) as f64 / 4000.0;
                println!("{name}, error {error}: {share:.3}, missed {missed:?}");
                assert!((0.85..=0.95).contains(&share), "{name}, error {error}: {share}");
            }
        }
    }

    /// ∫ from z of (x − z) φ(x) dx, by the trapezoidal rule.
    #[test]
    fn losses_are_those_of_the_normal_law() {
        let phi = |x: f64| {
            // exp(−x²/2) as a power of that of a small number.
            let small = -0.5 * x * x / 1024.0;
            let mut e =
                1.0 + small * (1.0 + small / 2.0 * (1.0 + small / 3.0 * (1.0 + small / 4.0)));
            (0..10).for_each(|_| e *= e);
            e / (2.0 * std::f64::consts::PI).sqrt()
        };
        for (i, loss) in LOSS.iter().enumerate() {
            let z = 0.5 * i as f64 - 2.0;
            let sum: f64 = (1..=12_000).map(|k| f64::from(k) * 1e-3).map(|t| t * phi(z + t)).sum();
            assert!((sum * 1e-3 - loss).abs() < 2e-6, "{z}: {} {loss}", sum * 1e-3);
            assert!((inverse_loss(*loss) - z).abs() < 1e-9, "{z}");
        }
        assert_eq!((inverse_loss(0.0), inverse_loss(7.0)), (3.0, -7.0));
        assert!(inverse_loss(0.398_942 + 1e-9) < 1e-6);
    }

    fn peaks(angles: &[f64], upper: bool) -> Vec<f64> {
        let mut seen = Excursions::default();
        seen.add(angles, 1.0, 0.0);
        seen.peaks[usize::from(upper)]
            .iter()
            .map(|peak| if upper { peak.at } else { -peak.at })
            .collect()
    }

    #[test]
    fn an_excursion_is_over_when_the_angle_went_back() {
        for (angles, lower, upper) in [
            (&[][..], &[][..], &[][..]),
            (&[3.0], &[], &[]),
            (&[0.0, 5.0, 4.5, 5.2, 4.4, 5.1, 0.0], &[], &[5.2]),
            (&[5.0, 4.0, 4.9, 5.3], &[4.0], &[]),
            (&[0.0, 2.0, 0.5, 1.0, 0.6, 3.0], &[0.5], &[2.0]),
            (&[3.0, 2.0, 1.0], &[], &[]),
            (&[0.2, 0.9, 0.0, 0.9], &[], &[]),
        ] {
            assert_eq!(peaks(angles, true), upper, "{angles:?}");
            assert_eq!(peaks(angles, false), lower, "{angles:?}");
            // The other way round, and backwards in time.
            let turned: Vec<f64> = angles.iter().rev().map(|x| -x).collect();
            let negated = |ends: &[f64]| ends.iter().rev().map(|x| -x).collect::<Vec<_>>();
            assert_eq!(peaks(&turned, true), negated(lower), "{angles:?}");
            assert_eq!(peaks(&turned, false), negated(upper), "{angles:?}");
        }
    }

    #[test]
    fn visits_come_near_the_farthest() {
        let of = |tops: &[f64]| {
            let mut seen = Excursions::default();
            let course: Vec<f64> =
                tops.iter().flat_map(|top| [-10.0, *top]).chain([-10.0]).collect();
            seen.add(&course, 1.0, 0.0);
            seen
        };
        let some = of(&[1.0, 0.2, 0.9, 0.75, 0.7]);
        assert_eq!((some.visits(true, 0.25), some.visits(true, 0.05)), (3, 1));
        assert!(some.interval(true, 0.25).is_some() && some.interval(true, 0.05).is_none());
        assert_eq!(of(&[1.0, 0.9, 0.8, 0.7]).interval(true, 0.25), None);
        assert_eq!(of(&[2.0; 5]).interval(true, 0.25), Some([2.0, 2.0]));
        // A clip that ends far beyond tells that the others did not go as far.
        let mut beyond = some;
        beyond.add(&[-10.0, 9.0], 1.0, 0.0);
        assert_eq!((beyond.visits(true, 0.25), beyond.interval(true, 0.25)), (0, None));
        assert_eq!(Excursions::default().visits(false, 1.0), 0);
    }

    /// Parabolas, and angles that are held, with noise: the peak is found within its error.
    #[test]
    fn peaks_are_freed_of_noise() {
        let mut rng = Rng::new(3);
        for (name, bend) in [("parabola", 0.02), ("steep parabola", 0.5), ("held", 0.0)] {
            let mut squares = 0.0;
            let mut mean = 0.0;
            const TIMES: usize = 2000;
            for _ in 0..TIMES {
                let at = rng.between(28.0, 32.0);
                let angles: Vec<f64> = (0..60)
                    .map(|i| -bend * (f64::from(i) - at) * (f64::from(i) - at) + 0.3 * rng.normal())
                    .collect();
                let high = (0..60).max_by(|a, b| angles[*a].total_cmp(&angles[*b])).unwrap();
                let peak = settled(&angles, high, 1.0, 100.0, 0.3);
                mean += peak.at / TIMES as f64;
                squares += (peak.at / peak.error) * (peak.at / peak.error) / TIMES as f64;
                assert!(peak.error > 0.0 && peak.error <= CHOSEN * 0.3, "{name}");
            }
            println!("{name}: off by {mean:.3}, {:.2} errors", squares.sqrt());
            assert!(mean.abs() < 0.06 && squares.sqrt() < 1.2, "{name}: {mean} {squares}");
        }
    }
}
