//! Sine, cosine, tangent, their inverses and the hypotenuse, with the same bits on every machine.
//!
//! This is the only place in the library that computes transcendental functions. It uses `+ - * /`,
//! square root, comparison and bit operations and nothing else. IEEE 754 fixes the result of each
//! of these to the last bit, so one source gives one result: scalar or in any vector width, at any
//! optimisation level, native or wasm. A fused multiply-add would break that and is not used.
//!
//! Each function has a *kernel*: straight-line code without a branch or a table, always inlined, so
//! that a plain loop over slices becomes packed instructions. A public function returns exactly
//! what its kernel returns wherever the kernel is valid. The inverse functions and the hypotenuses
//! have kernels that are valid everywhere; those of sine, cosine and tangent hold up to
//! `KERNEL_MAX` = 2²⁰, and beyond it the public functions reduce the argument in integers.
//!
//! Where a public function has no answer it returns exactly [`f64::NAN`], whatever NaN came in.
//!
//! Errors are stated in ulp of the true result: the spacing of the doubles in its binade, and never
//! less than 2⁻¹⁰⁷⁴. They were measured by `tests/it/trig.rs`, which holds the reference.

#![allow(
    clippy::inline_always,
    reason = "a kernel must dissolve into its caller's loop, and take over its vector width"
)]
#![allow(clippy::many_single_char_names, reason = "as in the formulas")]

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4};

/// The largest `|x|` for which [`sin_cos_kernel`], [`sin_kernel`], [`cos_kernel`] and
/// [`tan_kernel`] are valid: 2²⁰, some 166 886 turns.
pub(crate) const KERNEL_MAX: f64 = 1_048_576.0;

const SIGN_BIT: u64 = 1 << 63;
const EXPONENT_BITS: u64 = 0x7FF0_0000_0000_0000;
const MANTISSA_BITS: u64 = 0x000F_FFFF_FFFF_FFFF;

/// 1.5 · 2⁵². A number below 2⁵¹ added to it is rounded to an integer, which is then found in the
/// low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// π/2 in four parts, the first three short enough that 20-bit multiples of them are exact:
/// multiples of 2⁻³², 2⁻⁶⁴ and 2⁻⁹⁶, then the rest rounded. Cut with mpmath 1.4.1 at 3000 bits.
const HALF_PI_PARTS: [f64; 4] = [
    f64::from_bits(0x3FF9_21FB_5440_0000), // 1.5707963267341256
    f64::from_bits(0x3DD0_B461_1A40_0000), // 6.07710050359346e-11
    f64::from_bits(0x3BE1_3198_A2E0_0000), // 2.912732056084878e-20
    f64::from_bits(0x397B_839A_2520_49C1), // 8.4784276603689e-32
];

/// π/2 − `FRAC_PI_2`.
const FRAC_PI_2_LOW: f64 = f64::from_bits(0x3C91_A626_3314_5C07); // 6.123233995736766e-17

/// π/4 − `FRAC_PI_4`. `FRAC_PI_4` ends in three zero bits, so its multiples up to 4 are exact.
const FRAC_PI_4_LOW: f64 = f64::from_bits(0x3C81_A626_3314_5C07); // 3.061616997868383e-17

/// sin r ≈ r + r³ · (S₀ + S₁ r² + …) for |r| ≤ π/4, relative error below 2⁻⁵⁷.
/// From fdlibm 5.3 (Sun Microsystems, 1993), `k_sin.c`, S1 to S6.
const SIN: [f64; 6] = [
    f64::from_bits(0xBFC5_5555_5555_5549), // -0.16666666666666632
    f64::from_bits(0x3F81_1111_1110_F8A6), // 0.00833333333332249
    f64::from_bits(0xBF2A_01A0_19C1_61D5), // -0.0001984126982985795
    f64::from_bits(0x3EC7_1DE3_57B1_FE7D), // 2.7557313707070068e-6
    f64::from_bits(0xBE5A_E5E6_8A2B_9CEB), // -2.5050760253406863e-8
    f64::from_bits(0x3DE5_D93A_5ACF_D57C), // 1.58969099521155e-10
];

/// cos r ≈ 1 − r²/2 + r⁴ · (C₀ + C₁ r² + …) for |r| ≤ π/4, error below 2⁻⁵⁹.
/// From fdlibm 5.3 (Sun Microsystems, 1993), `k_cos.c`, C1 to C6.
const COS: [f64; 6] = [
    f64::from_bits(0x3FA5_5555_5555_554C), // 0.0416666666666666
    f64::from_bits(0xBF56_C16C_16C1_5177), // -0.001388888888887411
    f64::from_bits(0x3EFA_01A0_19CB_1590), // 2.480158728947673e-5
    f64::from_bits(0xBE92_7E4F_809C_52AD), // -2.7557314351390663e-7
    f64::from_bits(0x3E21_EE9E_BDB4_B1C4), // 2.087572321298175e-9
    f64::from_bits(0xBDA8_FAE9_BE88_38D4), // -1.1359647557788195e-11
];

/// atan t ≈ t − t³ · (A₀ + A₁ t² + …) for |t| ≤ ½, relative error below 2⁻⁵⁷. Chebyshev series of
/// (1 − atan t / t) / t² in t² on [0, ¼], computed with mpmath 1.3.0 at 200 bits and rounded.
const ATAN: [f64; 13] = [
    f64::from_bits(0x3FD5_5555_5555_5555), // 0.3333333333333333
    f64::from_bits(0xBFC9_9999_9999_98E0), // -0.19999999999999485
    f64::from_bits(0x3FC2_4924_9248_81F5), // 0.1428571428559874
    f64::from_bits(0xBFBC_71C7_1C01_4E0D), // -0.11111111100881761
    f64::from_bits(0x3FB7_45D1_6016_EA5F), // 0.09090908618865388
    f64::from_bits(0xBFB3_B138_E4B5_B747), // -0.07692294677482635
    f64::from_bits(0x3FB1_10EA_393F_FFE2), // 0.06666435144143137
    f64::from_bits(0xBFAE_1A79_5C3F_B24F), // -0.05879573107799684
    f64::from_bits(0x3FAA_D441_C371_57FA), // 0.052400641544110685
    f64::from_bits(0xBFA7_B1D7_856D_14A5), // -0.04627870086418654
    f64::from_bits(0x3FA3_7CE5_1C50_9047), // 0.03806224794996687
    f64::from_bits(0xBF99_9984_C361_3CD5), // -0.024999689507521367
    f64::from_bits(0x3F82_DD40_041C_2C27), // 0.009211063504627926
];

/// The bits of 2/π after the point, behind one word of zeros. Computed with mpmath 1.4.1 at
/// 3000 bits.
const TWO_OVER_PI: [u64; 21] = [
    0,
    0xA2F9_836E_4E44_1529,
    0xFC27_57D1_F534_DDC0,
    0xDB62_9599_3C43_9041,
    0xFE51_63AB_DEBB_C561,
    0xB724_6E3A_424D_D2E0,
    0x0649_2EEA_09D1_921C,
    0xFE1D_EB1C_B129_A73E,
    0xE882_35F5_2EBB_4484,
    0xE99C_7026_B45F_7E41,
    0x3991_D639_8353_39F4,
    0x9C84_5F8B_BDF9_283B,
    0x1FF8_97FF_DE05_980F,
    0xEF2F_118B_5A0A_6D1F,
    0x6D36_7ECF_27CB_09B7,
    0x4F46_3F66_9E5F_EA2D,
    0x7527_BAC7_EBE5_F17B,
    0x3D07_39F7_8A52_92EA,
    0x6BFB_5FB1_1F8D_5D08,
    0x5603_3046_FC7B_6BAB,
    0xF0CF_BC20_9AF4_361D,
];

// ---------------------------------------------------------------------------------------------
// Sine, cosine, tangent

/// The sine and the cosine of an angle in radians.
///
/// # Source
///
/// W. J. Cody, W. Waite, "Software Manual for the Elementary Functions" (1980), chapter 8, for the
/// reduction by a π/2 in parts; M. H. Payne, R. N. Hanek, "Radian reduction for trigonometric
/// functions", SIGNUM Newsletter 18 (1983), for arguments beyond 2²⁰; polynomials of fdlibm.
///
/// ```text
///   x = n·π/2 + r,  |r| ≤ π/4        sin r = r + r³·S(r²)        cos r = 1 − r²/2 + r⁴·C(r²)
///   n mod 4 = 0, 1, 2, 3:            sin x = sin r, cos r, −sin r, −cos r
/// ```
///
/// # Convention
///
/// Radians; `(sine, cosine)` in this order. `sin(-x) = -sin(x)` and `cos(-x) = cos(x)` to the bit.
///
/// # Domain and singularity
///
/// All finite `x`, with the π of mathematics and not a rounded one, however large `x` is. Infinite
/// `x` and NaN give NaN for both. `sin(±0) = ±0`.
///
/// Worst error measured: sine 0.80 ulp, cosine 0.77 ulp.
///
/// # Example
///
/// ```
/// use condyle::math::trig;
///
/// let (sine, cosine) = trig::sin_cos(std::f64::consts::FRAC_PI_6);
/// assert!((sine - 0.5).abs() < 1e-15);
/// assert_eq!(cosine, 0.75_f64.sqrt());
/// ```
#[must_use]
pub fn sin_cos(x: f64) -> (f64, f64) {
    if x.abs() <= KERNEL_MAX { sin_cos_kernel(x) } else { sin_cos_far(x) }
}

/// The sine of an angle in radians: the first of [`sin_cos`], which says the rest.
///
/// Worst error measured: 0.80 ulp.
///
/// # Example
///
/// ```
/// use condyle::math::trig;
///
/// assert_eq!(trig::sin(std::f64::consts::FRAC_PI_2), 1.0);
/// // π rounded to a double is short of π by the sine it has.
/// assert_eq!(trig::sin(std::f64::consts::PI), 1.2246467991473532e-16);
/// ```
#[must_use]
pub fn sin(x: f64) -> f64 {
    if x.abs() <= KERNEL_MAX { sin_kernel(x) } else { sin_cos_far(x).0 }
}

/// The cosine of an angle in radians: the second of [`sin_cos`], which says the rest.
///
/// Worst error measured: 0.77 ulp.
///
/// # Example
///
/// ```
/// use condyle::math::trig;
///
/// assert_eq!(trig::cos(0.0), 1.0);
/// assert_eq!(trig::cos(-2.0), trig::cos(2.0));
/// ```
#[must_use]
pub fn cos(x: f64) -> f64 {
    if x.abs() <= KERNEL_MAX { cos_kernel(x) } else { sin_cos_far(x).1 }
}

/// The tangent of an angle in radians.
///
/// # Source
///
/// As for [`sin_cos`]; then, with the part each sum loses to rounding kept as `·ₗ`,
///
/// ```text
///   t = s/c        tan r = t + (s − t·c + sₗ − t·cₗ)/c        tan(r + π/2) = −cos r / sin r
/// ```
///
/// # Convention
///
/// Radians. `tan(-x) = -tan(x)` to the bit.
///
/// # Domain and singularity
///
/// All finite `x`. No double is an odd multiple of π/2, so the result is always finite; it is
/// ill-conditioned there, as an error ε in `x` moves it by `ε·(1 + tan² x)`. Infinite `x` and NaN
/// give NaN. `tan(±0) = ±0`.
///
/// Worst error measured: 0.89 ulp.
///
/// # Example
///
/// ```
/// use condyle::math::trig;
///
/// assert_eq!(trig::tan(0.0), 0.0);
/// assert!((trig::tan(std::f64::consts::FRAC_PI_3) - 3_f64.sqrt()).abs() < 1e-15);
/// ```
#[must_use]
pub fn tan(x: f64) -> f64 {
    if x.abs() <= KERNEL_MAX { tan_kernel(x) } else { tan_far(x) }
}

/// [`sin_cos`] for `|x| ≤` [`KERNEL_MAX`] or `x` not finite; without meaning for other `x`.
#[inline(always)]
pub(crate) fn sin_cos_kernel(x: f64) -> (f64, f64) {
    sin_cos_of_reduced(reduce(x.abs()), x.to_bits() & SIGN_BIT)
}

/// [`sin`] for `|x| ≤` [`KERNEL_MAX`] or `x` not finite; without meaning for other `x`.
#[inline(always)]
pub(crate) fn sin_kernel(x: f64) -> f64 {
    sin_cos_kernel(x).0
}

/// [`cos`] for `|x| ≤` [`KERNEL_MAX`] or `x` not finite; without meaning for other `x`.
#[inline(always)]
pub(crate) fn cos_kernel(x: f64) -> f64 {
    sin_cos_kernel(x).1
}

/// [`tan`] for `|x| ≤` [`KERNEL_MAX`] or `x` not finite; without meaning for other `x`.
#[inline(always)]
pub(crate) fn tan_kernel(x: f64) -> f64 {
    tan_of_reduced(reduce(x.abs()), x.to_bits() & SIGN_BIT)
}

/// The sine and the cosine of half an angle in degrees, for angles up to 180 · 2²⁰; without meaning
/// for others.
///
/// Half of 180° is a quadrant, so the quadrants are taken off in degrees, where that is exact
/// (Sterbenz), and only what is left becomes radians: less work than reducing radians, and angles of
/// many turns lose nothing. Halves of 180° give a sine of exactly 1.
#[inline(always)]
pub(crate) fn sin_cos_half_degrees_kernel(degrees: f64) -> (f64, f64) {
    const RADIANS_PER_DEGREE_OF_A_WHOLE: f64 = std::f64::consts::PI / 360.0;
    let rounded = degrees * (1.0 / 180.0) + ROUNDER;
    let r = (degrees - (rounded - ROUNDER) * 180.0) * RADIANS_PER_DEGREE_OF_A_WHOLE;
    let z = r * r;
    let zz = z * z;
    let [s0, s1, s2, s3, s4, s5] = SIN;
    let sine = r + r * z * (s0 + z * ((s1 + z * s2) + zz * ((s3 + z * s4) + zz * s5)));
    let [c0, c1, c2, c3, c4, c5] = COS;
    let half = 0.5 * z;
    let tail = ((c0 + z * c1) + zz * (c2 + z * c3)) + zz * zz * (c4 + z * c5);
    let high = 1.0 - half;
    let cosine = high + (((1.0 - high) - half) + zz * tail);
    in_quadrant(rounded.to_bits(), sine, cosine)
}

#[cold]
fn sin_cos_far(x: f64) -> (f64, f64) {
    if x.is_finite() {
        sin_cos_of_reduced(reduce_far(x.abs()), x.to_bits() & SIGN_BIT)
    } else {
        (f64::NAN, f64::NAN)
    }
}

#[cold]
fn tan_far(x: f64) -> f64 {
    if x.is_finite() {
        tan_of_reduced(reduce_far(x.abs()), x.to_bits() & SIGN_BIT)
    } else {
        f64::NAN
    }
}

/// An angle less a multiple of π/2.
#[derive(Clone, Copy)]
struct Reduced {
    /// What is left, in about [−π/4, π/4].
    r: f64,
    /// What `r` lost to rounding: below 2⁻¹⁷ · |r| always, and mostly half an ulp.
    r_low: f64,
    /// The multiple, of which only the two lowest bits have a meaning.
    quadrant: u64,
}

/// Subtracts the nearest multiple of π/2 from `x` in [0, [`KERNEL_MAX`]].
///
/// With n < 2²⁰ the products of n with the first three parts of π/2 are exact, and so is
/// x − n·P₀ (Sterbenz). Each further subtraction is exact as a pair: its sum is either that of a
/// larger and a smaller number, or of two multiples of 2⁻⁶⁴ below 2⁻¹² (for P₁; 2⁻⁹⁶ and 2⁻⁴⁴ for
/// P₂), which has at most 53 bits. What is lost is below 2⁻¹²⁸ in all, or below 2⁻⁸⁵ · |r| where
/// |r| > 2⁻¹¹. No double up to 2²⁰ but 0 comes nearer to a multiple of π/2 than 2⁻⁶¹
/// (6411027962775774 · 2⁻⁴⁷, found by continued fractions).
#[inline(always)]
fn reduce(x: f64) -> Reduced {
    let rounded = x * FRAC_2_PI + ROUNDER;
    let n = rounded - ROUNDER;
    let [p0, p1, p2, p3] = HALF_PI_PARTS;

    let first = x - n * p0;
    let second = first - n * p1;
    let lost = (first - second) - n * p1;
    let third = n * p2 - lost;
    let r = second - third;
    let r_low = ((second - r) - third) - n * p3;
    Reduced { r, r_low, quadrant: rounded.to_bits() }
}

/// Subtracts the nearest multiple of π/2 from a finite `x ≥ 2²⁰`, in integers.
///
/// With x = m·2ᵉ and m of 53 bits, those bits of 2/π that make m·2ᵉ·2/π a multiple of 4 are left
/// out, the next 192 are kept, and the product is taken modulo 4. The bits after them are worth
/// less than 2⁻¹³⁷ of a quadrant, and no double comes nearer than 2⁻⁶¹ to a multiple of π/2
/// (J.-M. Muller et al., "Handbook of Floating-Point Arithmetic", 2nd ed. 2018, section 10.2).
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "words are taken out of a wider product, and what becomes an f64 has 53 bits"
)]
fn reduce_far(x: f64) -> Reduced {
    let bits = x.to_bits();
    let mantissa = (bits & MANTISSA_BITS) | (1 << 52);
    // e = biased exponent − 1075 ≥ −32. The first bit kept is bit 62 + e of the table.
    let first_bit = (bits >> 52) as usize + 62 - 1075;
    let (word, shift) = (first_bit / 64, first_bit % 64);
    let window = |i: usize| {
        let pair = u128::from(TWO_OVER_PI[word + i]) << 64 | u128::from(TWO_OVER_PI[word + i + 1]);
        (pair << shift >> 64) as u64
    };

    // mantissa · window modulo 2¹⁹²: a number of quadrants with 2 bits before the point.
    let low = u128::from(mantissa) * u128::from(window(2));
    let middle = u128::from(mantissa) * u128::from(window(1)) + (low >> 64);
    let high = mantissa.wrapping_mul(window(0)).wrapping_add((middle >> 64) as u64);
    let quadrants = u128::from(high) << 64 | u128::from(middle as u64);
    let low = low as u64;

    // The fraction to the nearest quadrant, 192 bits in two's complement, then its magnitude.
    let fraction = quadrants << 2 | u128::from(low >> 62);
    let negative = fraction >> 127 == 1;
    let quadrant = (quadrants >> 126) as u64 + u64::from(negative);
    let (mut high, mut low) = (fraction, low << 2);
    if negative {
        low = low.wrapping_neg();
        high = (!high).wrapping_add(u128::from(low == 0));
    }

    // The fraction as two doubles; it has less than 64 leading zeros (see above).
    let zeros = high.leading_zeros();
    let top = high << zeros | u128::from(low) << zeros >> 64;
    let unit = f64::from_bits((1023 - 53 - u64::from(zeros)) << 52);
    let f = (top >> 75) as u64 as f64 * unit;
    let f_low = (top >> 22 & ((1 << 53) - 1)) as u64 as f64 * (unit / 9_007_199_254_740_992.0);

    // Times π/2.
    let (product, product_low) = exact_product(f, FRAC_PI_2);
    let rest = product_low + (f * FRAC_PI_2_LOW + f_low * FRAC_PI_2);
    let r = product + rest;
    let r_low = (product - r) + rest;
    let sign = u64::from(negative) << 63;
    Reduced { r: xor_sign(r, sign), r_low: xor_sign(r_low, sign), quadrant }
}

/// The sine of a reduced angle before its last addition: `a` and the smaller `b` of `a + b`.
#[inline(always)]
fn sin_terms(r: f64, r_low: f64) -> (f64, f64) {
    let [s0, s1, s2, s3, s4, s5] = SIN;
    let z = r * r;
    let zz = z * z;
    let tail = (s1 + z * s2) + zz * ((s3 + z * s4) + zz * s5);
    (r, r * z * (s0 + z * tail) + (r_low - 0.5 * z * r_low))
}

/// The cosine of a reduced angle before its last addition: `a` and the smaller `b` of `a + b`.
/// `square_low` is what the rounding of r² takes, or 0 if a quarter of an ulp does not matter.
#[inline(always)]
fn cos_terms(r: f64, r_low: f64, square_low: f64) -> (f64, f64) {
    let [c0, c1, c2, c3, c4, c5] = COS;
    let z = r * r;
    let zz = z * z;
    let half = 0.5 * z;
    let tail = ((c0 + z * c1) + zz * (c2 + z * c3)) + zz * zz * (c4 + z * c5);
    let a = 1.0 - half;
    (a, ((1.0 - a) - half) + ((zz * tail - r * r_low) - 0.5 * square_low))
}

#[inline(always)]
fn sin_cos_of_reduced(angle: Reduced, sign: u64) -> (f64, f64) {
    let Reduced { r, r_low, quadrant } = angle;
    let (a, b) = sin_terms(r, r_low);
    let sine = a + b;
    let (a, b) = cos_terms(r, r_low, 0.0);
    let cosine = a + b;
    let (sine, cosine) = in_quadrant(quadrant, sine, cosine);
    (xor_sign(sine, sign), cosine)
}

/// The sine and the cosine of an angle from those of what a number of quadrants leaves of it.
#[inline(always)]
fn in_quadrant(quadrant: u64, sine: f64, cosine: f64) -> (f64, f64) {
    let odd = odd_mask(quadrant);
    let sine_sign = (quadrant << 62) & SIGN_BIT;
    let cosine_sign = (quadrant.wrapping_add(1) << 62) & SIGN_BIT;
    (
        xor_sign(select(odd, cosine, sine), sine_sign),
        xor_sign(select(odd, sine, cosine), cosine_sign),
    )
}

#[inline(always)]
fn tan_of_reduced(angle: Reduced, sign: u64) -> f64 {
    let Reduced { r, r_low, quadrant } = angle;
    let (a, b) = sin_terms(r, r_low);
    let sine = a + b;
    let sine_low = (a - sine) + b;
    let (a, b) = cos_terms(r, r_low, square(r).1);
    let cosine = a + b;
    let cosine_low = (a - cosine) + b;

    let odd = odd_mask(quadrant);
    let (over, over_low) = (select(odd, cosine, sine), select(odd, cosine_low, sine_low));
    let (under, under_low) = (select(odd, sine, cosine), select(odd, sine_low, cosine_low));
    let inverse = 1.0 / under;
    let t = over * inverse;
    let (product, product_low) = exact_product(t, under);
    let rest = ((over - product) - product_low) + (over_low - t * under_low);
    xor_sign(t + rest * inverse, (odd & SIGN_BIT) ^ sign)
}

// ---------------------------------------------------------------------------------------------
// Inverses

/// The angle in radians from the positive x axis to the point `(x, y)`, in [−π, π].
///
/// # Source
///
/// The addition theorem about the nearest multiple of π/4, and a Chebyshev series. With
/// a = max(|x|, |y|) and b = min(|x|, |y|):
///
/// ```text
///   b/a ≤ ½:     φ = atan(b/a)
///   otherwise:   φ = π/4 + atan((b − a)/(b + a))
///   |y| > |x|: φ ← π/2 − φ      x < 0: φ ← π − φ      y < 0: φ ← −φ
/// ```
///
/// The multiples of π/4 are kept as sums of two doubles. The quotient is a plain one: keeping that
/// as two doubles as well takes the error to 0.75 ulp and costs a third more.
///
/// # Convention
///
/// `y` first. Radians, counter-clockwise from +x towards +y. `atan2(-y, x) = -atan2(y, x)` to the
/// bit.
///
/// # Domain and singularity
///
/// Everything but NaN, which gives NaN. As in C99, Annex F.9.1.4, a zero or an infinity counts as
/// the limit from its side: `atan2(±0, x)` is `±0` for `x` of positive sign (+0 included) and `±π`
/// for `x` of negative sign (−0 included), and two infinities lie on a diagonal. The largest result
/// is π rounded down to a double. At the origin the angle is ill-conditioned: a displacement ε of
/// the point moves it by up to `ε / hypot(x, y)`.
///
/// Worst error measured: 1.49 ulp.
///
/// # Example
///
/// ```
/// use condyle::math::trig;
///
/// assert_eq!(trig::atan2(1.0, 0.0), std::f64::consts::FRAC_PI_2);
/// assert_eq!(trig::atan2(-0.0, -1.0), -std::f64::consts::PI);
/// ```
#[must_use]
pub fn atan2(y: f64, x: f64) -> f64 {
    atan2_kernel(y, x)
}

/// The angle in [−π/2, π/2] whose sine is `x`, in radians.
///
/// # Source
///
/// ```text
///   asin x = atan2(x, √(1 − x²))
/// ```
///
/// with 1 − x² and its root as sums of two doubles.
///
/// # Convention
///
/// Radians. `asin(-x) = -asin(x)` to the bit.
///
/// # Domain and singularity
///
/// [−1, 1]; outside it, and for NaN, the result is NaN. `asin(±0) = ±0`. Near ±1 it is
/// ill-conditioned: an error ε in `x` moves it by up to `√(2ε)`. Prefer [`atan2`] where both sine
/// and cosine are at hand.
///
/// Worst error measured: 0.85 ulp.
///
/// # Example
///
/// ```
/// use condyle::math::trig;
///
/// assert_eq!(trig::asin(-1.0), -std::f64::consts::FRAC_PI_2);
/// assert!(trig::asin(1.0 + f64::EPSILON).is_nan());
/// ```
#[must_use]
pub fn asin(x: f64) -> f64 {
    asin_kernel(x)
}

/// The angle in [0, π] whose cosine is `x`, in radians.
///
/// # Source
///
/// ```text
///   acos x = atan2(√(1 − x²), x)
/// ```
///
/// with 1 − x² and its root as sums of two doubles.
///
/// # Convention
///
/// Radians.
///
/// # Domain and singularity
///
/// [−1, 1]; outside it, and for NaN, the result is NaN. `acos(1) = +0`. Near ±1 it is
/// ill-conditioned: an error ε in `x` moves it by up to `√(2ε)`. Prefer [`atan2`] where both sine
/// and cosine are at hand.
///
/// Worst error measured: 0.77 ulp.
///
/// # Example
///
/// ```
/// use condyle::math::trig;
///
/// assert_eq!(trig::acos(-1.0), std::f64::consts::PI);
/// assert_eq!(trig::acos(0.0), std::f64::consts::FRAC_PI_2);
/// ```
#[must_use]
pub fn acos(x: f64) -> f64 {
    acos_kernel(x)
}

/// [`atan2`], for all arguments.
#[inline(always)]
pub(crate) fn atan2_kernel(y: f64, x: f64) -> f64 {
    let (ay, ax) = (y.abs(), x.abs());
    let swapped = ay > ax;
    let small = if swapped { ax } else { ay };
    let large = if swapped { ay } else { ax };

    // An infinity outweighs all that is finite, and two are equal.
    let infinite = large == f64::INFINITY;
    let small_if_infinite = if small == f64::INFINITY { 1.0 } else { 0.0 };
    let small = if infinite { small_if_infinite } else { small };
    let large = if infinite { 1.0 } else { large };

    // A quotient below 2⁻⁵⁰⁰ is taken 2⁴⁸⁰ times larger, so that no step of it underflows.
    let tiny = small < large * f64::from_bits((1023 - 500) << 52);
    let (up, down) = (f64::from_bits((1023 + 480) << 52), f64::from_bits((1023 - 480) << 52));
    let (up, down) = (if tiny { up } else { 1.0 }, if tiny { down } else { 1.0 });

    // To [2, 4) for a normal `large`, at least 2⁻⁵¹ for a subnormal one; no zero to divide by.
    let (scale, _) = scale_to_two(large);
    let (small, large) = (small * up * scale, large * scale);
    let floor = f64::from_bits((1023 - 60) << 52);
    let large = if large > floor { large } else { floor };

    // Beyond a half from the diagonal on, where the difference is exact (Sterbenz).
    let diagonal = small > 0.5 * large;
    let pick = |value: f64| if diagonal { value } else { 0.0 };
    let t = (small - pick(large)) / (large + pick(small)) * down;
    let angle = angle_of_quotient(t, 0.0, diagonal, swapped, x.is_sign_negative());
    // `x + y` would do as a test were it not for ∞ − ∞.
    if x.is_nan() | y.is_nan() { f64::NAN } else { angle.copysign(y) }
}

/// [`asin`], for all arguments.
#[inline(always)]
pub(crate) fn asin_kernel(x: f64) -> f64 {
    let sine = x.abs();
    let (cosine, cosine_low) = cosine_from_sine(sine);
    let swapped = sine > cosine;
    let sides = if swapped {
        Sides { small: cosine, small_low: cosine_low, large: sine, large_low: 0.0 }
    } else {
        Sides { small: sine, small_low: 0.0, large: cosine, large_low: cosine_low }
    };
    let angle = angle_in_half_plane(sides, swapped, false);
    if sine <= 1.0 { angle.copysign(x) } else { f64::NAN }
}

/// [`acos`], for all arguments.
#[inline(always)]
pub(crate) fn acos_kernel(x: f64) -> f64 {
    let cosine = x.abs();
    let (sine, sine_low) = cosine_from_sine(cosine);
    let swapped = sine > cosine;
    let sides = if swapped {
        Sides { small: cosine, small_low: 0.0, large: sine, large_low: sine_low }
    } else {
        Sides { small: sine, small_low: sine_low, large: cosine, large_low: 0.0 }
    };
    let angle = angle_in_half_plane(sides, swapped, x.is_sign_negative());
    if cosine <= 1.0 { angle } else { f64::NAN }
}

/// The two legs of a right triangle, neither negative, each the sum of a double and a correction.
#[derive(Clone, Copy)]
struct Sides {
    small: f64,
    small_low: f64,
    /// Not zero.
    large: f64,
    large_low: f64,
}

/// The angle in [0, π] to the point whose coordinates have these magnitudes: |y| ≤ |x| unless
/// `swapped`.
#[inline(always)]
fn angle_in_half_plane(sides: Sides, swapped: bool, x_negative: bool) -> f64 {
    let Sides { small, small_low, large, large_low } = sides;
    let diagonal = small > 0.5 * large;
    let pick = |value: f64| if diagonal { value } else { 0.0 };

    // over/under = small/large, or (small − large)/(small + large); with what rounding takes.
    let over = small - pick(large);
    let over_low = (small_low - pick(large_low)) - ((pick(large) + over) - small);
    let under = large + pick(small);
    let under_low = ((large - under) + pick(small)) + (large_low + pick(small_low));

    let (t, t_low) = divide(over, over_low, under, under_low);
    angle_of_quotient(t, t_low, diagonal, swapped, x_negative)
}

/// The angle in [0, π] from the quotient of the sides, or of their difference and sum if
/// `diagonal`.
#[inline(always)]
fn angle_of_quotient(t: f64, t_low: f64, diagonal: bool, swapped: bool, x_negative: bool) -> f64 {
    // 1/(1 + t²) ≈ 1 − t² is the derivative.
    let bend = atan_bend(t) + (t_low - t_low * (t * t));

    // ± (t + bend) + eighths · π/4
    let eighths = if diagonal { 1.0 } else { 0.0 };
    let eighths = if swapped { 2.0 - eighths } else { eighths };
    let eighths = if x_negative { 4.0 - eighths } else { eighths };
    let sign = if swapped ^ x_negative { -1.0 } else { 1.0 };
    let base = eighths * FRAC_PI_4;
    let signed_t = sign * t;
    let sum = base + signed_t;
    let sum_low = (base - sum) + signed_t;
    sum + (sum_low + (eighths * FRAC_PI_4_LOW + sign * bend))
}

/// `(over + over_low) / (under + under_low)` as a double and a correction, to 2⁻⁷⁵ or so.
///
/// A first quotient of 26 bits has exact products with both halves of `under`; what is left of
/// `over` has then lost its first 25 bits, so one more step in plain doubles is enough.
#[inline(always)]
fn divide(over: f64, over_low: f64, under: f64, under_low: f64) -> (f64, f64) {
    let inverse = 1.0 / under;
    let (quotient, _) = halves(over * inverse);
    let (under_high, under_rest) = halves(under);
    let rest = ((over - quotient * under_high) - quotient * under_rest)
        + (over_low - quotient * under_low);
    let correction = rest * inverse;
    let t = quotient + correction;
    (t, (quotient - t) + correction)
}

/// What `atan t` is more than `t`, for |t| ≤ ½.
#[inline(always)]
fn atan_bend(t: f64) -> f64 {
    let [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12] = ATAN;
    let z = t * t;
    let zz = z * z;
    let z4 = zz * zz;
    let low = (a0 + z * a1) + zz * (a2 + z * a3);
    let middle = (a4 + z * a5) + zz * (a6 + z * a7);
    let high = ((a8 + z * a9) + zz * (a10 + z * a11)) + z4 * a12;
    -t * (z * (low + z4 * (middle + z4 * high)))
}

/// √(1 − s²) for `s` in [0, 1], as a double and a correction. NaN or without meaning for other `s`.
#[inline(always)]
fn cosine_from_sine(s: f64) -> (f64, f64) {
    let (square, square_low) = exact_product(s, s);
    let rest = 1.0 - square;
    let rest_low = ((1.0 - rest) - square) - square_low;
    root(rest, rest_low)
}

// ---------------------------------------------------------------------------------------------
// Hypotenuse

/// √(x² + y²), the distance of the point `(x, y)` from the origin.
///
/// # Source
///
/// The definition, on arguments scaled by a power of 2; the squares and their sum as sums of two
/// doubles (T. J. Dekker, "A floating-point technique for extending the available precision",
/// Numer. Math. 18 (1971), section 5), and one step of Newton's method on the root.
///
/// # Convention
///
/// None: symmetric to the bit in order and signs.
///
/// # Domain and singularity
///
/// Everything. It overflows or underflows only where the result itself does. As in C99, Annex
/// F.9.4.3, an infinite argument gives `+∞` even if the other is NaN; else NaN gives NaN.
///
/// Worst error measured: 0.75 ulp, where the result is subnormal.
///
/// # Example
///
/// ```
/// use condyle::math::trig;
///
/// assert_eq!(trig::hypot(3.0, -4.0), 5.0);
/// assert_eq!(trig::hypot(1e308, 0.0), 1e308);
/// ```
#[must_use]
pub fn hypot(x: f64, y: f64) -> f64 {
    hypot_kernel(x, y)
}

/// √(x² + y² + z²), the length of the vector `(x, y, z)`.
///
/// As [`hypot`] in all respects.
///
/// Worst error measured: 0.75 ulp, where the result is subnormal.
///
/// # Example
///
/// ```
/// use condyle::math::trig;
///
/// assert_eq!(trig::hypot3(2.0, -3.0, 6.0), 7.0);
/// assert_eq!(trig::hypot3(0.0, 1e-308, 0.0), 1e-308);
/// ```
#[must_use]
pub fn hypot3(x: f64, y: f64, z: f64) -> f64 {
    hypot3_kernel(x, y, z)
}

/// [`hypot`], for all arguments.
#[inline(always)]
pub(crate) fn hypot_kernel(x: f64, y: f64) -> f64 {
    let (large, small) = sorted(x.abs(), y.abs());
    let (scale, half_unscale) = scale_to_two(large);
    let (a, a_low) = square(large * scale);
    let (b, b_low) = square(small * scale);

    let sum = a + b;
    let sum_low = ((a - sum) + b) + (a_low + b_low);
    let (length, length_low) = root(sum, sum_low);
    let length = 0.5 * (length + length_low) * half_unscale;

    let length = if x.is_nan() | y.is_nan() { f64::NAN } else { length };
    if x.is_infinite() | y.is_infinite() { f64::INFINITY } else { length }
}

/// [`hypot3`], for all arguments.
#[inline(always)]
pub(crate) fn hypot3_kernel(x: f64, y: f64, z: f64) -> f64 {
    // Sorted, so that the order of the arguments cannot show in the last bit.
    let (p, q) = sorted(x.abs(), y.abs());
    let (large, p) = sorted(p, z.abs());
    let (middle, small) = sorted(p, q);
    let (scale, half_unscale) = scale_to_two(large);
    let (a, a_low) = square(large * scale);
    let (b, b_low) = square(middle * scale);
    let (c, c_low) = square(small * scale);

    let pair = a + b;
    let pair_low = (a - pair) + b;
    let sum = pair + c;
    let sum_low = ((pair - sum) + c) + (pair_low + ((a_low + b_low) + c_low));
    let (length, length_low) = root(sum, sum_low);
    let length = 0.5 * (length + length_low) * half_unscale;

    let length = if x.is_nan() | y.is_nan() | z.is_nan() { f64::NAN } else { length };
    let infinite = x.is_infinite() | y.is_infinite() | z.is_infinite();
    if infinite { f64::INFINITY } else { length }
}

// ---------------------------------------------------------------------------------------------
// Short forms for numbers of ordinary size

/// What [`atan2_quotient`] and [`length_ordinary`] take: 0, or a magnitude in [2⁻³⁰⁰, 2³⁰⁰].
pub(crate) const ORDINARY_MIN: f64 = f64::from_bits((1023 - 300) << 52);

/// Where [`tiny_flag`] begins: 2⁻²⁴⁰.
pub(crate) const TINY: f64 = f64::from_bits((1023 - 240) << 52);

/// Has its highest bit set if `0 < |a| < 2⁻²⁴⁰`: well before [`ORDINARY_MIN`], so that a difference
/// of two numbers that pass is 0 or at least that.
///
/// In integers, as loops do it for every component and the adders have enough to do.
#[inline(always)]
pub(crate) fn tiny_flag(a: f64) -> u64 {
    const MIN: u64 = TINY.to_bits();
    // 0 wraps around to all ones.
    let less_one = (a.to_bits() & !SIGN_BIT).wrapping_sub(1);
    !less_one & less_one.wrapping_sub(MIN - 1)
}

/// √(x² + y²) for the components of a quaternion: to 1 ulp or so, at a fifth of the cost of
/// [`hypot`], which takes over where a square might underflow.
#[inline(always)]
pub(crate) fn length(x: f64, y: f64) -> f64 {
    let square = x * x + y * y;
    if square >= ORDINARY_MIN * ORDINARY_MIN { square.sqrt() } else { hypot_kernel(x, y) }
}

/// √(x² + y² + z²) as [`length`] does it.
#[inline(always)]
pub(crate) fn length3(x: f64, y: f64, z: f64) -> f64 {
    let length = length3_ordinary(x, y, z);
    if ordinary_length3(length) { length } else { hypot3_kernel(x, y, z) }
}

/// [`length3`] if [`ordinary_length3`] of the result.
#[inline(always)]
pub(crate) fn length3_ordinary(x: f64, y: f64, z: f64) -> f64 {
    (x * x + y * y + z * z).sqrt()
}

/// Whether no square on the way to this length under- or overflowed to any effect.
#[inline(always)]
pub(crate) fn ordinary_length3(length: f64) -> bool {
    (TINY..=1.0 / TINY).contains(&length)
}

/// [`length`] for ordinary numbers.
#[inline(always)]
pub(crate) fn length_ordinary(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// The first half of [`atan2`] for ordinary numbers, not both 0 and `x` not −0, of which `y` has no
/// sign if `UPPER` and `x` is not negative if `RIGHT`: the quotient and
/// the multiple of π/4 it is to be added to, for [`atan2_of_quotient`].
///
/// The same operations on the same digits: only scaling by powers of 2, infinities and what is 0
/// anyway are left out. Sets the highest bit of `flag` where the numbers are not ordinary, unless
/// `UPPER`: lengths are better checked before their root is taken.
#[inline(always)]
pub(crate) fn atan2_quotient<const UPPER: bool, const RIGHT: bool>(
    y: f64,
    x: f64,
    flag: &mut u64,
) -> [f64; 2] {
    let (ay, ax) = (if UPPER { y } else { y.abs() }, if RIGHT { x } else { x.abs() });
    let swapped = ay > ax;
    let small = if swapped { ax } else { ay };
    let large = if swapped { ay } else { ax };
    if !UPPER {
        *flag |= tiny_flag(small);
    }
    let diagonal = small > 0.5 * large;
    let pick = |value: f64| if diagonal { value } else { 0.0 };

    let t = (small - pick(large)) / (large + pick(small));

    // Constants masked by a comparison and signs flipped: cheaper than choosing between values.
    let mut sign = if swapped { SIGN_BIT } else { 0 };
    let mut eighths = xor_sign(pick(1.0), sign) + if swapped { 2.0 } else { 0.0 };
    if !RIGHT {
        let left = if x < 0.0 { SIGN_BIT } else { 0 };
        eighths = xor_sign(eighths, left) + if x < 0.0 { 4.0 } else { 0.0 };
        sign ^= left;
    }
    [xor_sign(t, sign), eighths]
}

/// The second half of [`atan2`], after [`atan2_quotient`], of the same `y`.
#[inline(always)]
pub(crate) fn atan2_of_quotient<const UPPER: bool>([t, eighths]: [f64; 2], y: f64) -> f64 {
    let bend = atan_bend(t);
    let base = eighths * FRAC_PI_4;
    let sum = base + t;
    let sum_low = (base - sum) + t;
    let angle = sum + (sum_low + (eighths * FRAC_PI_4_LOW + bend));
    if UPPER { angle } else { xor_sign(angle, y.to_bits() & SIGN_BIT) }
}

// ---------------------------------------------------------------------------------------------
// Shared steps

/// The larger and the smaller of two numbers.
#[inline(always)]
fn sorted(a: f64, b: f64) -> (f64, f64) {
    (if a > b { a } else { b }, if a > b { b } else { a })
}

/// For a finite `large ≥ 0`, the power of 2 that takes it to [2, 4), and half of its inverse.
/// Numbers below the smallest normal one are scaled like that one.
#[inline(always)]
fn scale_to_two(large: f64) -> (f64, f64) {
    let normal = if large > f64::MIN_POSITIVE { large } else { f64::MIN_POSITIVE };
    let exponent = normal.to_bits() & EXPONENT_BITS;
    (f64::from_bits(EXPONENT_BITS - exponent), f64::from_bits(exponent))
}

/// `√(s + s_low)` as a double and a correction, by one step of Newton's method. Exactly 0 at 0.
#[inline(always)]
fn root(s: f64, s_low: f64) -> (f64, f64) {
    let r = s.sqrt();
    let (square, square_low) = exact_product(r, r);
    let rest = ((s - square) - square_low) + s_low;
    // The rest at 0 is 0; it only must not be divided by 0.
    let twice = if r > f64::MIN_POSITIVE { 2.0 * r } else { f64::MIN_POSITIVE };
    (r, rest / twice)
}

#[inline(always)]
fn square(a: f64) -> (f64, f64) {
    exact_product(a, a)
}

/// `a · b` as its rounded value and what rounding took, exactly, unless it over- or underflows.
///
/// T. J. Dekker, "A floating-point technique for extending the available precision", Numer. Math.
/// 18 (1971), section 5.
#[inline(always)]
fn exact_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    let rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    (product, rest)
}

/// `a` as the sum of two numbers of 26 bits. The first is `a` rounded, so the second has a sign of
/// its own, which is worth the 53rd bit.
#[inline(always)]
fn halves(a: f64) -> (f64, f64) {
    const LOW_BITS: u64 = (1 << 27) - 1;
    let high = f64::from_bits(a.to_bits().wrapping_add(1 << 26) & !LOW_BITS);
    (high, a - high)
}

/// All ones for an odd number, else 0.
#[inline(always)]
fn odd_mask(n: u64) -> u64 {
    0_u64.wrapping_sub(n & 1)
}

/// `a` where the mask is all ones, `b` where it is 0.
#[inline(always)]
fn select(mask: u64, a: f64, b: f64) -> f64 {
    f64::from_bits((a.to_bits() & mask) | (b.to_bits() & !mask))
}

/// `a` with its sign changed if the highest bit of `sign` is set.
#[inline(always)]
fn xor_sign(a: f64, sign: u64) -> f64 {
    f64::from_bits(a.to_bits() ^ sign)
}

#[cfg(test)]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::unreadable_literal,
    clippy::float_cmp,
    reason = "exact integers become doubles and back, and exact results are compared"
)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

    use super::*;

    const INF: f64 = f64::INFINITY;
    const TINIEST: f64 = f64::from_bits(1);
    /// The double nearest to 3π/4.
    const FRAC_3_PI_4: f64 = 2.356194490192345;

    /// Equal bits, so that the sign of a zero counts and a NaN must be `f64::NAN`.
    #[track_caller]
    fn check(got: f64, expected: f64) {
        assert_eq!(got.to_bits(), expected.to_bits(), "got {got:e}, expected {expected:e}");
    }

    /// `splitmix64`, from which a few thousand arguments are made.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    fn unit(state: &mut u64) -> f64 {
        (random(state) >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// Calls `check` with doubles of random bits, NaN and infinities included.
    fn for_any_bits(mut check: impl FnMut(f64, f64, f64)) {
        let mut state = 5;
        let mut next = || f64::from_bits(random(&mut state));
        for _ in 0..20_000 {
            check(next(), next(), next());
        }
    }

    #[test]
    fn sine_and_tangent_keep_the_sign_of_zero_and_the_tiniest() {
        for x in [0.0, TINIEST, f64::MIN_POSITIVE, 1e-300, 1e-30] {
            for x in [x, -x] {
                check(sin(x), x);
                check(tan(x), x);
                check(cos(x), 1.0);
            }
        }
    }

    #[test]
    fn trigonometry_of_what_is_not_finite_is_nan() {
        for x in [INF, -INF, f64::NAN, -f64::NAN] {
            check(sin(x), f64::NAN);
            check(cos(x), f64::NAN);
            check(tan(x), f64::NAN);
            let (s, c) = sin_cos_kernel(x);
            assert!(s.is_nan() && c.is_nan() && tan_kernel(x).is_nan(), "{x}");
        }
    }

    #[test]
    fn quadrants_follow_each_other() {
        // The nearest doubles to 0.5 + n·π/2 are within 1e-15 of it.
        for (n, s, c) in [(0.0, 1.0, 1.0), (1.0, 1.0, -1.0), (2.0, -1.0, -1.0), (3.0, -1.0, 1.0)] {
            let (sine, cosine) = sin_cos(0.5 + n * FRAC_PI_2);
            assert_eq!((sine.signum(), cosine.signum()), (s, c), "quadrant {n}");
            assert_eq!(tan(0.5 + n * FRAC_PI_2).signum(), s * c, "quadrant {n}");
        }
    }

    #[test]
    fn huge_arguments_are_reduced_by_the_true_pi() {
        // mpmath 1.4.1, 1300 bits. The first is the double nearest to a multiple of π/2.
        let x = 6_381_956_970_095_103.0 * f64::from_bits((1023 + 797) << 52);
        check(cos(x), -4.687165924254628e-19);
        check(sin(x), 1.0);
        check(tan(x), -2.133485385753704e+18);
        check(sin(1e22), -0.8522008497671888);
        check(cos(1e22), 0.523214785395139);
        check(sin(f64::MAX), 0.004961954789184062);
        check(cos(f64::MAX), -0.9999876894265599);
    }

    #[test]
    fn reductions_agree_at_the_border() {
        let mut state = 6;
        for _ in 0..20_000 {
            // In [2¹⁹, 2²⁰], where both are valid.
            let x = KERNEL_MAX * (0.5 + 0.5 * unit(&mut state));
            let (near, far) = (reduce(x), reduce_far(x));
            assert_eq!(near.quadrant & 3, far.quadrant & 3, "{x}");
            let gap = (near.r - far.r) + (near.r_low - far.r_low);
            assert!(gap.abs() <= near.r.abs() * f64::from_bits((1023 - 70) << 52), "{x}: {gap:e}");
        }
    }

    #[test]
    fn public_functions_return_what_kernels_return() {
        let mut state = 8;
        for _ in 0..20_000 {
            let x = KERNEL_MAX * (2.0 * unit(&mut state) - 1.0);
            let (s, c) = sin_cos(x);
            let (kernel_s, kernel_c) = sin_cos_kernel(x);
            check(s, kernel_s);
            check(c, kernel_c);
            check(sin(x), kernel_s);
            check(cos(x), kernel_c);
            check(tan(x), tan_kernel(x));
        }
    }

    #[test]
    fn symmetries_hold_to_the_bit() {
        for_any_bits(|x, y, z| {
            if x.is_nan() || y.is_nan() || z.is_nan() || x.is_infinite() {
                return;
            }
            check(sin(-x), -sin(x));
            check(cos(-x), cos(x));
            check(tan(-x), -tan(x));
            check(atan2(-y, x), -atan2(y, x));
            check(hypot(-y, x), hypot(x, y));
            check(hypot3(y, -z, x), hypot3(x, y, z));
            check(hypot3(z, y, -x), hypot3(x, y, z));
            let w = x.abs() % 1.0;
            check(asin(-w), -asin(w));
        });
        let mut state = 10;
        for _ in 0..200_000 {
            let [x, y, z] = [(); 3].map(|()| unit(&mut state));
            check(hypot(y, x), hypot(x, y));
            check(hypot3(y, z, x), hypot3(x, y, z));
            check(hypot3(z, y, x), hypot3(x, y, z));
        }
    }

    #[test]
    fn atan2_has_the_special_cases_of_c99() {
        for (y, x, expected) in [
            (0.0, 0.0, 0.0),
            (0.0, -0.0, PI),
            (0.0, 1.0, 0.0),
            (0.0, -1.0, PI),
            (0.0, INF, 0.0),
            (0.0, -INF, PI),
            (1.0, 0.0, FRAC_PI_2),
            (1.0, -0.0, FRAC_PI_2),
            (1.0, INF, 0.0),
            (1.0, -INF, PI),
            (TINIEST, INF, 0.0),
            (f64::MAX, INF, 0.0),
            (f64::MAX, -INF, PI),
            (INF, 0.0, FRAC_PI_2),
            (INF, -1.0, FRAC_PI_2),
            (INF, f64::MAX, FRAC_PI_2),
            (INF, INF, FRAC_PI_4),
            (INF, -INF, FRAC_3_PI_4),
        ] {
            check(atan2(y, x), expected);
            check(atan2(-y, x), -expected);
        }
        for other in [0.0, 1.0, INF, -INF, f64::NAN] {
            check(atan2(f64::NAN, other), f64::NAN);
            check(atan2(other, -f64::NAN), f64::NAN);
        }
    }

    #[test]
    fn atan2_is_exact_on_axes_and_diagonals_of_any_size() {
        for a in [TINIEST, f64::MIN_POSITIVE, 1e-200, 1.0, 3.7, 1e200, f64::MAX] {
            check(atan2(a, a), FRAC_PI_4);
            check(atan2(a, -a), FRAC_3_PI_4);
            check(atan2(a, 0.0), FRAC_PI_2);
            check(atan2(0.0, -a), PI);
        }
        check(atan2(TINIEST, f64::MAX), 0.0);
        check(atan2(f64::MAX, TINIEST), FRAC_PI_2);
        check(atan2(TINIEST, -f64::MAX), PI);
        check(atan2(TINIEST, 1.0), TINIEST);
        check(atan2(f64::MIN_POSITIVE, 1.0), f64::MIN_POSITIVE);
    }

    #[test]
    fn arc_sine_and_cosine_end_where_they_should() {
        check(asin(1.0), FRAC_PI_2);
        check(asin(-1.0), -FRAC_PI_2);
        check(asin(0.0), 0.0);
        check(asin(-0.0), -0.0);
        check(asin(TINIEST), TINIEST);
        check(acos(1.0), 0.0);
        check(acos(-1.0), PI);
        check(acos(0.0), FRAC_PI_2);
        check(acos(-0.0), FRAC_PI_2);
        for x in [1.0 + f64::EPSILON, 2.0, f64::MAX, INF, f64::NAN] {
            for x in [x, -x] {
                check(asin(x), f64::NAN);
                check(acos(x), f64::NAN);
            }
        }
    }

    #[test]
    fn hypot_overflows_and_underflows_only_with_its_result() {
        check(hypot(0.0, -0.0), 0.0);
        check(hypot3(0.0, -0.0, -0.0), 0.0);
        check(hypot(TINIEST, 0.0), TINIEST);
        check(hypot3(0.0, 0.0, -TINIEST), TINIEST);
        check(hypot(3.0 * TINIEST, -4.0 * TINIEST), 5.0 * TINIEST);
        check(hypot(f64::MAX, 0.0), f64::MAX);
        check(hypot(f64::MAX, 1.0), f64::MAX);
        check(hypot(f64::MAX, f64::MAX), INF);
        check(hypot3(f64::MAX, 1.0, f64::MAX), INF);
        check(hypot(0.6 * f64::MAX, 0.7 * f64::MAX) / f64::MAX, hypot(0.6, 0.7));
        // Powers of 2, of which all multiples are exact.
        for a in [TINIEST, f64::MIN_POSITIVE, 1.0, 1024.0, f64::from_bits(2043 << 52)] {
            check(hypot(3.0 * a, 4.0 * a), 5.0 * a);
            check(hypot3(2.0 * a, 6.0 * a, 3.0 * a), 7.0 * a);
        }
    }

    #[test]
    fn hypot_is_infinite_if_any_argument_is() {
        for other in [0.0, 1.0, f64::MAX, INF, -INF, f64::NAN] {
            for infinite in [INF, -INF] {
                check(hypot(other, infinite), INF);
                check(hypot(infinite, other), INF);
                check(hypot3(other, infinite, f64::NAN), INF);
                check(hypot3(f64::NAN, other, infinite), INF);
                check(hypot3(infinite, f64::NAN, other), INF);
            }
        }
        check(hypot(f64::NAN, 1.0), f64::NAN);
        check(hypot(0.0, -f64::NAN), f64::NAN);
        check(hypot3(1.0, f64::NAN, f64::MAX), f64::NAN);
        check(hypot3(1.0, 1.0, f64::NAN), f64::NAN);
        check(hypot3(f64::NAN, 1.0, 1.0), f64::NAN);
    }

    #[test]
    fn products_are_exact() {
        let mut state = 9;
        for _ in 0..20_000 {
            let (a, b) = (random(&mut state) >> 11, random(&mut state) >> 11);
            let (product, rest) = exact_product(a as f64, b as f64);
            let sum = product as i128 + rest as i128;
            assert_eq!(sum, i128::from(a) * i128::from(b));
        }
    }
}
