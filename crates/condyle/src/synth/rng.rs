//! Random numbers that are the same on every machine.

use std::f64::consts::{LN_2, SQRT_2, TAU};

use glam::{DQuat, DVec3};

use crate::math::{Rotation, trig};

/// A small deterministic generator: the same seed gives the same bits on every machine.
///
/// # Source
///
/// xoshiro256++ 1.0: D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators",
/// ACM Trans. Math. Softw. 47(4), 2021. Its state is filled by `SplitMix64` (G. Steele, D. Lea,
/// C. Flood, "Fast splittable pseudorandom number generators", 2014, with the constants of
/// D. Stafford's mix 13), as its authors advise. Not for secrets.
///
/// ```
/// use condyle::synth::Rng;
/// let (mut a, mut b) = (Rng::new(7), Rng::new(7));
/// assert_eq!(a.normal().to_bits(), b.normal().to_bits());
/// assert!((0.0..1.0).contains(&a.uniform()));
/// ```
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

/// The golden ratio in 64 bits: the step of `SplitMix64`.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Rng {
    /// From a seed; every seed is good.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut x = seed;
        let state = [(); 4].map(|()| {
            x = x.wrapping_add(GOLDEN);
            mix(x)
        });
        Self { state }
    }

    /// One of many generators that belong to a seed. What one of them is used for does not change
    /// what the others give, so noise can be added without moving the motion under it.
    #[must_use]
    pub fn stream(seed: u64, stream: u64) -> Self {
        // Two rounds of mixing keep (seed, stream) and (seed + 1, stream − 1) apart.
        Self::new(mix(seed.wrapping_add(GOLDEN)) ^ mix(stream ^ 0x6a09_e667_f3bc_c908))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform in `[0, 1)`: a multiple of 2⁻⁵³.
    #[allow(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform from `low` up to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Uniform in `0..n`, without bias; 0 if `n` is 0.
    ///
    /// # Source
    ///
    /// D. Lemire, "Fast random integer generation in an interval", ACM Trans. Model. Comput.
    /// Simul. 29(1), 2019, algorithm 5.
    #[allow(clippy::cast_possible_truncation, reason = "the low and the high half are meant")]
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            return 0;
        }
        let range = n as u64;
        let mut product = u128::from(self.bits()) * u128::from(range);
        if (product as u64) < range {
            let threshold = range.wrapping_neg() % range;
            while (product as u64) < threshold {
                product = u128::from(self.bits()) * u128::from(range);
            }
        }
        (product >> 64) as usize
    }

    /// Normal with mean 0 and standard deviation 1.
    ///
    /// # Source
    ///
    /// G. Box and M. Muller, "A note on the generation of random normal deviates", Ann. Math.
    /// Stat. 29, 1958: `√(−2 ln u) cos 2πv` with u in (0, 1] and v in [0, 1). The second value
    /// (with the sine) is not kept, so the state is the four words only.
    ///
    /// # Domain
    ///
    /// Tails reach 8.57 standard deviations (u = 2⁻⁵³). The logarithm is our own, made of sums,
    /// products and one quotient, so no platform function is involved.
    pub fn normal(&mut self) -> f64 {
        let u = 1.0 - self.uniform();
        let (_, cos) = trig::sin_cos(TAU * self.uniform());
        (-2.0 * ln(u)).sqrt() * cos
    }

    /// A direction, uniform on the sphere.
    ///
    /// # Source
    ///
    /// Archimedes: the height is uniform, and so is the azimuth.
    pub fn direction(&mut self) -> DVec3 {
        let z = self.between(-1.0, 1.0);
        let (sin, cos) = trig::sin_cos(TAU * self.uniform());
        let r = ((1.0 - z) * (1.0 + z)).sqrt();
        DVec3::new(r * cos, r * sin, z)
    }

    /// A direction perpendicular to `axis` (a unit vector), uniform on that circle.
    pub fn perpendicular(&mut self, axis: DVec3) -> DVec3 {
        loop {
            let d = self.direction();
            let across = d - axis * axis.dot(d);
            // Short ones would lose digits of being perpendicular; skipping them favours no azimuth.
            if across.length_squared() > 0.01
                && let Some(unit) = crate::math::unit(across)
            {
                return unit;
            }
        }
    }

    /// A rotation, uniform over all rotations.
    ///
    /// # Source
    ///
    /// K. Shoemake, "Uniform random rotations", Graphics Gems III, 1992.
    pub fn rotation(&mut self) -> Rotation {
        let x = self.uniform();
        let (s1, c1) = trig::sin_cos(TAU * self.uniform());
        let (s2, c2) = trig::sin_cos(TAU * self.uniform());
        let (r1, r2) = ((1.0 - x).sqrt(), x.sqrt());
        let q = DQuat::from_xyzw(s1 * r1, c1 * r1, s2 * r2, c2 * r2);
        Rotation::new(q).unwrap_or_default()
    }

    /// One of the items; `None` if there are none.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Puts the items into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// `k` different numbers of `0..n` in rising order; all of them if `k ≥ n`.
    pub fn subset(&mut self, n: usize, k: usize) -> Vec<usize> {
        // Selection sampling (Knuth, TAOCP 2, 3.4.2, algorithm S): one pass, sorted by itself.
        let mut left = k.min(n);
        let mut out = Vec::with_capacity(left);
        for i in 0..n {
            if self.below(n - i) < left {
                out.push(i);
                left -= 1;
            }
        }
        out
    }
}

/// The finaliser of `SplitMix64`.
const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The natural logarithm of a normal positive number, to within 3 ulps (or 1e-16 near 1).
///
/// `x = 2^k · m` with m in [√½, √2), and `ln m = 2 artanh s` with `s = (m − 1)/(m + 1)`, |s| < 0.172:
/// twelve terms of the series leave a remainder below s²⁴/25 < 2e-20 of the first.
fn ln(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    let bits = x.to_bits();
    let mut k = f64::from(u16::try_from(bits >> 52 & 0x7ff).unwrap_or(0)) - 1023.0;
    let mut m = f64::from_bits(bits & !EXPONENT | 1023 << 52);
    if m >= SQRT_2 {
        m *= 0.5;
        k += 1.0;
    }
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let mut sum = 0.0;
    for odd in (0..12).rev() {
        sum = sum * s2 + 1.0 / f64::from(2 * odd + 1);
    }
    k * LN_2 + 2.0 * s * sum
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, reason = "counts")]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_the_published_generators() {
        // State 1, 2, 3, 4: the first outputs of the authors' C code.
        let mut rng = Rng { state: [1, 2, 3, 4] };
        for expected in [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
            14_011_001_112_246_962_877,
            12_406_186_145_184_390_807,
            15_849_039_046_786_891_736,
            10_450_023_813_501_588_000,
        ] {
            assert_eq!(rng.bits(), expected);
        }
        assert_eq!(Rng::new(0).state[0], 0xe220_a839_7b1d_cdaf);
        assert_eq!(Rng::new(1_477_776_061_723_855_037).state[0], 1_985_237_415_132_408_290);
    }

    #[test]
    fn the_logarithm_agrees_with_the_platform() {
        let mut rng = Rng::new(1);
        let mut worst = 0.0_f64;
        for i in 0..200_000 {
            let x = match i % 3 {
                0 => rng.uniform() + 1e-17,
                1 => 1.0 - 1e-9 * rng.uniform(),
                _ => rng.between(1.0, 1e6),
            };
            #[allow(clippy::disallowed_methods, reason = "the reference")]
            let reference = x.ln();
            worst = worst.max((ln(x) - reference).abs() / (reference.abs() + 0.5));
        }
        // Measured 2.9e-16.
        assert!(worst < 6e-16, "{worst:e}");
        assert_eq!(ln(1.0), 0.0);
    }

    #[test]
    fn uniform_numbers_fill_the_unit_interval() {
        let mut rng = Rng::new(2);
        let n = 1_000_000;
        let (mut sum, mut squares, mut low, mut high) = (0.0, 0.0, 1.0_f64, 0.0_f64);
        for _ in 0..n {
            let u = rng.uniform();
            sum += u;
            squares += u * u;
            low = low.min(u);
            high = high.max(u);
        }
        let mean = sum / f64::from(n);
        let variance = squares / f64::from(n) - mean * mean;
        // Five standard errors: 0.289/√n of the mean, 0.0745/√n of the variance.
        assert!((mean - 0.5).abs() < 5.0 * 0.289e-3, "{mean}");
        assert!((variance - 1.0 / 12.0).abs() < 5.0 * 0.0745e-3, "{variance}");
        assert!((0.0..1e-4).contains(&low) && high < 1.0 && high > 1.0 - 1e-4);
    }

    #[test]
    fn normal_numbers_have_the_moments_and_tails_of_the_bell() {
        let mut rng = Rng::new(3);
        let n = 4_000_000_u32;
        let mut moments = [0.0_f64; 6];
        let mut beyond = [0_u32; 6];
        let mut successive = 0.0;
        let mut before = 0.0;
        for _ in 0..n {
            let x = rng.normal();
            let mut power = 1.0;
            for moment in &mut moments {
                power *= x;
                *moment += power / f64::from(n);
            }
            for (k, count) in beyond.iter_mut().enumerate() {
                *count += u32::from(x.abs() > k as f64);
            }
            successive += x * before / f64::from(n);
            before = x;
        }
        // Moments 0 1 0 3 0 15; the variance of x^k is m_2k − m_k². Five standard errors.
        let expected = [0.0, 1.0, 0.0, 3.0, 0.0, 15.0];
        let of_double = [1.0, 3.0, 15.0, 105.0, 945.0, 10_395.0];
        for k in 0..6 {
            let error = ((of_double[k] - expected[k] * expected[k]) / f64::from(n)).sqrt();
            assert!((moments[k] - expected[k]).abs() < 5.0 * error, "{}: {}", k + 1, moments[k]);
        }
        // 2(1 − Φ(k)) for k = 1 … 5.
        let shares = [3.173_105e-1, 4.550_026e-2, 2.699_796e-3, 6.334_25e-5, 5.733_03e-7];
        for (k, share) in shares.into_iter().enumerate() {
            let expected: f64 = share * f64::from(n);
            let found = f64::from(beyond[k + 1]);
            assert!(
                (found - expected).abs() < 5.0 * expected.sqrt() + 1.0,
                "{} sd: {found}",
                k + 1
            );
        }
        assert!(successive.abs() < 5.0 / f64::from(n).sqrt(), "{successive}");
    }

    #[test]
    fn whole_numbers_are_equally_likely() {
        let mut rng = Rng::new(4);
        let mut counts = [0_u32; 7];
        for _ in 0..700_000 {
            counts[rng.below(7)] += 1;
        }
        for count in counts {
            assert!((f64::from(count) - 1e5).abs() < 5.0 * 1e5_f64.sqrt(), "{counts:?}");
        }
        assert_eq!((rng.below(0), rng.below(1)), (0, 0));
        assert!(rng.choose::<u8>(&[]).is_none());
    }

    #[test]
    fn directions_are_uniform_on_the_sphere() {
        let mut rng = Rng::new(5);
        let n = 300_000;
        let (mut mean, mut squares, mut cap) = (DVec3::ZERO, DVec3::ZERO, 0);
        for _ in 0..n {
            let d = rng.direction();
            assert!((d.length() - 1.0).abs() < 1e-15);
            mean += d / f64::from(n);
            squares += d * d / f64::from(n);
            cap += u32::from(d.dot(DVec3::new(0.6, 0.0, 0.8)) > 0.9);
        }
        let error = 5.0 / f64::from(n).sqrt();
        assert!(mean.abs().max_element() < 0.58 * error, "{mean}");
        assert!((squares - DVec3::splat(1.0 / 3.0)).abs().max_element() < 0.3 * error);
        // The cap of height 0.1 holds a twentieth of the sphere.
        assert!((f64::from(cap) / f64::from(n) - 0.05).abs() < 0.22 * error);
        let p = rng.perpendicular(DVec3::new(0.6, 0.0, 0.8));
        assert!(p.dot(DVec3::new(0.6, 0.0, 0.8)).abs() < 1e-15 && (p.length() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn rotations_are_uniform() {
        let mut rng = Rng::new(6);
        let n = 200_000;
        let mut below = [0_u32; 4];
        let mut image = DVec3::ZERO;
        for _ in 0..n {
            let r = rng.rotation();
            image += r * DVec3::X / f64::from(n);
            let quarters = r.angle().radians() / std::f64::consts::FRAC_PI_4;
            for (k, count) in below.iter_mut().enumerate() {
                *count += u32::from(quarters < k as f64 + 1.0);
            }
        }
        // The angle has the distribution (θ − sin θ)/π.
        for (k, count) in below.into_iter().enumerate() {
            let theta = std::f64::consts::FRAC_PI_4 * (k as f64 + 1.0);
            let share = (theta - trig::sin_cos(theta).0) / std::f64::consts::PI;
            let found = f64::from(count) / f64::from(n);
            assert!((found - share).abs() < 2.5 / f64::from(n).sqrt(), "{k}: {found} {share}");
        }
        assert!(image.abs().max_element() < 3.0 / f64::from(n).sqrt(), "{image}");
    }

    #[test]
    fn streams_differ_and_shuffles_and_subsets_keep_what_they_have() {
        let first: Vec<u64> = (0..100).map(|k| Rng::stream(9, k).bits()).collect();
        let mut unique = first.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), first.len());
        assert_ne!(Rng::stream(9, 1).bits(), Rng::stream(10, 0).bits());

        let mut rng = Rng::new(7);
        let mut items: Vec<usize> = (0..50).collect();
        rng.shuffle(&mut items);
        assert!(items.iter().enumerate().any(|(i, v)| i != *v));
        items.sort_unstable();
        assert!(items.iter().enumerate().all(|(i, v)| i == *v));
        let some = rng.subset(1000, 37);
        assert!(some.len() == 37 && some.windows(2).all(|w| w[0] < w[1]) && some[36] < 1000);
        assert_eq!(rng.subset(3, 9), [0, 1, 2]);
    }
}
