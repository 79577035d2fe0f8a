//! The error of `math::trig`, measured against a reference of about 100 bits.
//!
//! The reference shares no method with the library. It reduces an angle with a table of 2ᵉ mod 2π
//! in fixed point, made from Machin's formula for π; sums Taylor series in double-double; and gets
//! an arc tangent from one step of Newton's method on those. The library multiplies by 2/π, uses
//! minimax polynomials, and has a polynomial for the arc tangent.
//!
//! The reference was itself checked against mpmath 1.4.1 (300 to 2300 bits, as the arguments
//! need) on 142 000 values, 11 000 to 30 000 for each function, taken from the arguments below: every
//! 101st or 211th, more of the special ones, and all of `NEAR_QUARTER_TURNS`. The relative difference
//! was below 2⁻¹⁰⁴ everywhere, which is 2⁻⁵¹ ulp. That check needs Python and is not part of this test.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::many_single_char_names,
    clippy::unreadable_literal,
    reason = "words and bits of numbers are taken apart and put together, as in the formulas"
)]

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4, PI};

use condyle::math::trig;

/// The largest errors found by the test below, in ulp, rounded up to a hundredth. Library
/// and reference are deterministic, so no headroom is needed for other machines.
const BOUNDS: [(&str, f64); 8] = [
    ("sin", 0.80),
    ("cos", 0.77),
    ("tan", 0.89),
    ("atan2", 1.49),
    ("asin", 0.85),
    ("acos", 0.77),
    ("hypot", 0.76),
    ("hypot3", 0.75),
];

#[test]
fn errors_stay_within_their_bounds() {
    let reference = Reference::new();
    let mut worst = BOUNDS.map(|(name, bound)| Worst::new(name, bound));
    let [sin, cos, tan, atan2, asin, acos, hypot, hypot3] = &mut worst;

    angles(&mut |x| {
        let (s, c) = trig::sin_cos(x);
        assert_eq!((s.to_bits(), c.to_bits()), (trig::sin(x).to_bits(), trig::cos(x).to_bits()));
        let exact = reference.sin_cos_tan(x);
        sin.add(s, exact[0], [x, 0.0, 0.0]);
        cos.add(c, exact[1], [x, 0.0, 0.0]);
        tan.add(trig::tan(x), exact[2], [x, 0.0, 0.0]);
    });
    points(&mut |y, x| {
        atan2.add(trig::atan2(y, x), reference.atan2(y, x), [y, x, 0.0]);
    });
    sines(&mut |x| {
        asin.add(trig::asin(x), reference.asin(x), [x, 0.0, 0.0]);
        acos.add(trig::acos(x), reference.acos(x), [x, 0.0, 0.0]);
    });
    vectors(&mut |x, y, z| {
        hypot.add(trig::hypot(x, y), length(&[x, y]), [x, y, 0.0]);
        hypot3.add(trig::hypot3(x, y, z), length(&[x, y, z]), [x, y, z]);
    });

    for entry in &worst {
        println!("{entry}");
    }
    let count: u64 = worst.iter().map(|w| w.count).sum();
    println!("{count} results");
    assert!(count >= 10_000_000);
    for entry in &worst {
        assert!(entry.error <= entry.bound, "{entry}: more than {} ulp", entry.bound);
    }
}

/// One number for many results: it changes with any bit of any of them, so it must come out the
/// same at every optimisation level, with every vector extension and on every target.
#[test]
fn results_have_the_same_bits_everywhere() {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut add = |value: f64| {
        hash = (hash ^ value.to_bits()).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(29);
    };
    let mut random = Random(7);
    for _ in 0..50_000 {
        let (x, y, z) = (random.within(10.0), random.finite(), random.within(1.0));
        let (s, c) = trig::sin_cos(x);
        let (huge_s, huge_c) = trig::sin_cos(y);
        for value in [s, c, huge_s, huge_c, trig::tan(x), trig::tan(y), trig::atan2(x, z)] {
            add(value);
        }
        for value in [trig::atan2(y, x), trig::asin(z), trig::acos(z), trig::hypot(x, z)] {
            add(value);
        }
        add(trig::hypot3(y, y * z, x));
    }
    assert_eq!(hash, 0x130F_DFB3_3C7D_5657, "{hash:#018X}");
}

// ---------------------------------------------------------------------------------------------
// Arguments

/// A mantissa m and an exponent e for which m·2ᵉ is closer to a multiple of π/2 than almost all
/// doubles: the 40 closest of all and the 24 closest up to 2²⁰, among multiples of the convergents'
/// denominators of 2ᵉ·2/π. The first is the closest double there is (J.-M. Muller et al., "Handbook
/// of Floating-Point Arithmetic", 2nd ed. 2018, section 10.2).
const NEAR_QUARTER_TURNS: [(u64, i32); 64] = [
    (6381956970095103, 797),
    (6411027962775774, -47),
    (6381956970095103, 798),
    (6411027962775774, -46),
    (7763785107565477, -29),
    (5916243447979695, 79),
    (6381956970095103, 799),
    (8444920710073313, 939),
    (6411027962775774, -45),
    (5850965514341686, 525),
    (8160885118204141, 808),
    (8360820580228475, 628),
    (8583082635084172, 145),
    (7763785107565477, -28),
    (7958046405119485, 243),
    (5916243447979695, 80),
    (6808218460873451, 562),
    (7636753411044619, 201),
    (6381956970095103, 800),
    (8444920710073313, 940),
    (6366906923947931, 194),
    (6411027962775774, -44),
    (5850965514341686, 526),
    (6617649673795284, 15),
    (6311013172270677, 38),
    (5648695676206402, 887),
    (8160885118204141, 809),
    (6221301883130153, 969),
    (8360820580228475, 629),
    (6951690029616219, 503),
    (8583082635084172, 146),
    (7763785107565477, -27),
    (7958046405119485, 244),
    (5916243447979695, 81),
    (6808218460873451, 563),
    (7636753411044619, 202),
    (8776448271512529, 526),
    (6381956970095103, 801),
    (6101578227064009, 91),
    (8438258240500718, 637),
    (6411027962775774, -47),
    (6411027962775774, -46),
    (6411027962775774, -45),
    (6411027962775774, -44),
    (6411027962775774, -43),
    (6411027962775774, -42),
    (6411027962775774, -41),
    (5520028710995367, -34),
    (7074237752028440, -52),
    (6411027962775774, -40),
    (5520028710995367, -33),
    (7074237752028440, -51),
    (6331365068168276, -37),
    (6411027962775774, -39),
    (7074237752028441, -52),
    (6251702173560778, -38),
    (5305678314021330, -50),
    (6291533620864527, -36),
    (7102869978037436, -34),
    (7295307681779329, -47),
    (7074237752028440, -50),
    (6331365068168276, -36),
    (8842797190035550, -50),
    (6411027962775774, -38),
];

fn angles(check: &mut dyn FnMut(f64)) {
    let mut random = Random(1);
    for x in [0.0, f64::MIN_POSITIVE, f64::from_bits(1), 1.0, 1_048_576.0, f64::MAX] {
        neighbours(x, 20, check);
    }
    for (mantissa, exponent) in NEAR_QUARTER_TURNS {
        neighbours(ldexp(mantissa as f64, exponent), 2, check);
    }
    for degrees in -3600..=3600 {
        let degrees = f64::from(degrees);
        neighbours(degrees.to_radians(), 1, check);
        neighbours(degrees * PI / 180.0, 1, check);
    }
    for exponent in -1074..1024 {
        let power = ldexp(1.0, exponent);
        neighbours(power, 1, check);
        check(power * random.between(1.0, 2.0));
    }
    for _ in 0..600_000 {
        check(random.within(10.0));
        check(random.within(0.8));
    }
    for _ in 0..150_000 {
        check(random.within(1_048_576.0));
        check(random.finite());
        check(random.scaled(-60, 21));
        check(random.scaled(-1074, -1000));
        check(random.scaled(20, 64));
        // Multiples of π/2 and of π/4, small and large: the ends and the middle of a quadrant.
        let n = (random.next() >> (44 + random.next() % 20)) as f64;
        neighbours(n * FRAC_PI_2, 1, check);
        neighbours(n * FRAC_PI_4, 1, check);
        let n = (random.next() >> (random.next() % 44)) as f64;
        check(n * FRAC_PI_2);
        check(n * FRAC_PI_4);
    }
}

fn points(check: &mut dyn FnMut(f64, f64)) {
    let mut random = Random(2);
    let limits = [
        f64::from_bits(1),
        f64::from_bits(3),
        f64::MIN_POSITIVE,
        f64::MIN_POSITIVE * 1.5,
        1e-160,
        1.0,
        1.5,
        3.0,
        1e160,
        f64::MAX / 2.0,
        f64::MAX,
    ];
    for y in limits {
        for x in limits {
            neighbours(y, 3, &mut |y| {
                for (y, x) in [(y, x), (y, -x), (-y, x), (-y, -x), (y, x + x), (y, x / 2.0)] {
                    if x.is_finite() && (x != 0.0 || y != 0.0) {
                        check(y, x);
                    }
                }
            });
        }
    }
    for degrees in -1800..=1800 {
        let (y, x) = trig::sin_cos((f64::from(degrees) * 0.1).to_radians());
        for y in [y.next_down(), y, y.next_up()] {
            for x in [x.next_down(), x, x.next_up()] {
                check(y, x);
            }
        }
    }
    // Where the polynomial's octants meet, the diagonals, and the quotients 2⁻⁵⁰⁰ and 2⁻¹⁰²².
    for _ in 0..20_000 {
        let x = random.scaled(-20, 20);
        for quotient in [0.41421356237309503, 1.0, 2.414213562373095, 1e-9, 0.25, 0.5, 0.4375] {
            neighbours(x * quotient, 2, &mut |y| check(y, x));
        }
        check(x * ldexp(random.between(0.5, 2.0), -500), x);
        check(x * ldexp(random.between(0.25, 4.0), -1000), ldexp(x, 22));
        check(x * ldexp(random.between(0.25, 4.0), -500), ldexp(x, 540));
    }
    for _ in 0..400_000 {
        check(random.within(1.0), random.within(1.0));
        let y = random.within(1.0);
        check(y, y * random.between(1.0, 3.0));
        check(random.scaled(-30, 30), random.scaled(-30, 30));
    }
    for _ in 0..250_000 {
        check(random.finite(), random.finite());
        check(random.scaled(-1074, -1010), random.scaled(-1074, -1010));
        check(random.scaled(-1074, -900), random.scaled(-100, 100));
        check(random.scaled(960, 1024), random.scaled(960, 1024));
    }
}

fn sines(check: &mut dyn FnMut(f64)) {
    let mut random = Random(3);
    let mut inside = |x: f64| {
        if x.abs() <= 1.0 {
            check(x);
        }
    };
    for x in [0.0, f64::MIN_POSITIVE, 0.25, 0.5, FRAC_1_SQRT_2, 0.9238795325112867, 1.0] {
        neighbours(x, 300, &mut inside);
        neighbours(-x, 300, &mut inside);
    }
    neighbours(0.3826834323650898, 300, &mut inside);
    for exponent in -1074..0 {
        let power = ldexp(1.0, exponent);
        neighbours(power, 1, &mut inside);
        neighbours(1.0 - power, 1, &mut inside);
        neighbours(power - 1.0, 1, &mut inside);
    }
    for _ in 0..500_000 {
        inside(random.within(1.0));
        inside(random.scaled(-8, 0));
    }
    for _ in 0..150_000 {
        inside(1.0 - random.scaled(-54, -1).abs());
        inside(random.scaled(-54, -1).abs() - 1.0);
        inside(random.scaled(-40, 0));
        inside(random.scaled(-1074, 0));
    }
}

fn vectors(check: &mut dyn FnMut(f64, f64, f64)) {
    let mut random = Random(4);
    let limits = [0.0, f64::from_bits(1), f64::MIN_POSITIVE, 1e-160, 1.0, 1e160, f64::MAX / 4.0];
    for x in limits {
        for y in limits {
            for z in limits {
                neighbours(x, 3, &mut |x| check(x, y, z));
            }
        }
    }
    for _ in 0..300_000 {
        check(random.within(1.0), random.within(1.0), random.within(1.0));
        check(random.scaled(-30, 30), random.scaled(-30, 30), random.scaled(-30, 30));
    }
    for _ in 0..150_000 {
        check(random.scaled(-1074, 1022), random.scaled(-1074, 1022), random.scaled(-1074, 1022));
        check(
            random.scaled(-1074, -1010),
            random.scaled(-1074, -1010),
            random.scaled(-1074, -1010),
        );
        check(random.scaled(1010, 1022), random.scaled(1010, 1022), random.scaled(1010, 1022));
        // Whole numbers, many of them with a whole length.
        let mut whole = || f64::from((random.next() % 2000) as u32);
        check(whole(), whole(), whole());
    }
}

/// `x` and the doubles up to `steps` places away from it, as far as they are finite.
fn neighbours(x: f64, steps: u32, check: &mut dyn FnMut(f64)) {
    check(x);
    let (mut below, mut above) = (x, x);
    for _ in 0..steps {
        (below, above) = (below.next_down(), above.next_up());
        for x in [below, above] {
            if x.is_finite() {
                check(x);
            }
        }
    }
}

/// `splitmix64` (G. L. Steele, D. Lea, C. H. Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ldexp((self.next() >> 11) as f64, -53)
    }

    fn within(&mut self, bound: f64) -> f64 {
        self.between(-bound, bound)
    }

    /// Of either sign, with a magnitude from 2^low to 2^high, its exponent uniform.
    fn scaled(&mut self, low: i32, high: i32) -> f64 {
        let exponent = low + (self.next() % (high - low) as u64) as i32;
        let magnitude = ldexp(self.between(1.0, 2.0), exponent);
        if self.next() & 1 == 0 { magnitude } else { -magnitude }
    }

    /// Any finite double, by its bits.
    fn finite(&mut self) -> f64 {
        loop {
            let x = f64::from_bits(self.next());
            if x.is_finite() {
                return x;
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Measuring

struct Worst {
    name: &'static str,
    bound: f64,
    error: f64,
    at: [f64; 3],
    count: u64,
}

impl Worst {
    fn new(name: &'static str, bound: f64) -> Self {
        Self { name, bound, error: 0.0, at: [0.0; 3], count: 0 }
    }

    fn add(&mut self, got: f64, exact: Exact, at: [f64; 3]) {
        self.count += 1;
        let error = exact.error_of(got);
        // So that a NaN counts as the worst there can be.
        if error > self.error || error.is_nan() {
            (self.error, self.at) = (error.max(0.0), at);
            assert!(!error.is_nan(), "{}{at:?} is {got}", self.name);
        }
    }
}

impl std::fmt::Display for Worst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, error, at, count, .. } = self;
        write!(f, "{name:>6}: {error:.4} ulp at {at:?}, of {count}")
    }
}

/// `value · 2^exponent`.
#[derive(Clone, Copy)]
struct Exact {
    value: Wide,
    exponent: i32,
}

impl Exact {
    fn new(value: Wide) -> Self {
        Self { value, exponent: 0 }
    }

    /// In ulp of the exact value.
    fn error_of(self, got: f64) -> f64 {
        let Self { value: Wide(high, low), exponent } = self;
        if high == 0.0 {
            return if got == 0.0 { 0.0 } else { f64::INFINITY };
        }
        let mut binade = ilogb(high);
        if high.abs() == ldexp(1.0, binade) && low * high < 0.0 {
            binade -= 1;
        }
        let ulp = (binade + exponent - 52).max(-1074) - exponent;
        let difference = (ldexp(got, -exponent) - high) - low;
        // In two steps, as 2^-ulp may be more than the largest double.
        ldexp(difference.abs(), -ulp)
    }
}

/// x · 2ⁿ, exactly if the result is normal.
fn ldexp(mut x: f64, mut n: i32) -> f64 {
    while n != 0 {
        let step = n.clamp(-1000, 1000);
        x *= f64::from_bits(((1023 + step) as u64) << 52);
        n -= step;
    }
    x
}

/// The exponent e of |x| = f·2ᵉ, 1 ≤ f < 2.
fn ilogb(x: f64) -> i32 {
    let field = |x: f64| (x.to_bits() >> 52 & 0x7FF) as i32 - 1023;
    if x.abs() < f64::MIN_POSITIVE { field(ldexp(x, 64)) - 64 } else { field(x) }
}

// ---------------------------------------------------------------------------------------------
// The reference

/// 2ᵉ mod 2π for all exponents of large doubles, and the coefficients of the series.
struct Reference {
    /// 2ᵉ mod 2π for e = 0 to 971.
    powers: Vec<Fixed>,
    two_pi: Fixed,
    half_pi: Fixed,
    quarter_pi: Fixed,
    pi_wide: Wide,
    half_pi_wide: Wide,
    /// 1/k!
    inverse_factorials: Vec<Wide>,
}

impl Reference {
    fn new() -> Self {
        let pi = machin_pi();
        let mut two_pi = pi.clone();
        shift_left_once(&mut two_pi);
        let mut power = vec![0; LIMBS];
        power[LIMBS - 1] = 1;
        let mut powers = vec![];
        for _ in 0..=971 {
            powers.push(Fixed::top_of(&power));
            shift_left_once(&mut power);
            if power.iter().rev().ge(two_pi.iter().rev()) {
                subtract(&mut power, &two_pi);
            }
        }
        let two_pi = Fixed::top_of(&two_pi);
        let half_pi = two_pi.half().half();
        let mut inverse_factorials = vec![Wide(1.0, 0.0)];
        for k in 1..=30 {
            let last = inverse_factorials[k - 1];
            inverse_factorials.push(last / Wide(k as f64, 0.0));
        }
        Self {
            powers,
            two_pi,
            half_pi,
            quarter_pi: half_pi.half(),
            pi_wide: two_pi.half().to_wide(),
            half_pi_wide: half_pi.to_wide(),
            inverse_factorials,
        }
    }

    /// `x` less its nearest multiple of π/2, and that multiple modulo 4.
    fn reduce(&self, x: f64) -> (Wide, u32) {
        if x.abs() < 1e-9 {
            return (Wide(x, 0.0), 0);
        }
        let exponent = ilogb(x) - 52;
        let mantissa = ldexp(x.abs(), -exponent) as u64;
        let mut angle = if exponent >= 0 {
            self.powers[exponent as usize].times(mantissa)
        } else {
            Fixed::scaled(mantissa, exponent)
        };
        // Whole turns. There are less than 2⁵³, and the estimate is good to 3.
        let turns = (angle.0[4] as f64 / (2.0 * PI)) as u64;
        angle = angle.minus(self.two_pi.times(turns.saturating_sub(3)));
        while angle.at_least(self.two_pi) {
            angle = angle.minus(self.two_pi);
        }
        let mut quadrant = 0;
        while angle.at_least(self.half_pi) {
            angle = angle.minus(self.half_pi);
            quadrant += 1;
        }
        let mut r = angle.to_wide();
        if angle.at_least(self.quarter_pi) {
            r = -self.half_pi.minus(angle).to_wide();
            quadrant += 1;
        }
        if x < 0.0 { (-r, (8 - quadrant) % 4) } else { (r, quadrant % 4) }
    }

    /// By Taylor's series. What stands at r¹⁷ and after is below 2⁻⁵³ of the sum, and f64 is enough
    /// for it.
    fn sin_cos(&self, x: f64) -> (Wide, Wide) {
        let (r, quadrant) = self.reduce(x);
        if r.0.abs() < 1e-40 {
            let one = Wide(1.0, 0.0);
            return [(r, one), (one, -r), (-r, -one), (-one, r)][quadrant as usize];
        }
        let z = r * r;
        let series = |parity: usize| {
            let mut tail = 0.0;
            for k in (17..=30).rev().filter(|k| k % 2 == parity) {
                let sign = if k / 2 % 2 == 0 { 1.0 } else { -1.0 };
                tail = tail * z.0 + sign * self.inverse_factorials[k].0;
            }
            let mut sum = Wide(tail, 0.0);
            for k in (0..17).rev().filter(|k| k % 2 == parity) {
                let term = self.inverse_factorials[k];
                sum = sum * z + if k / 2 % 2 == 0 { term } else { -term };
            }
            sum
        };
        let (sin, cos) = (series(1) * r, series(0));
        [(sin, cos), (cos, -sin), (-sin, -cos), (-cos, sin)][quadrant as usize]
    }

    fn sin_cos_tan(&self, x: f64) -> [Exact; 3] {
        let (sin, cos) = self.sin_cos(x);
        // Below this a tangent is its angle to 2⁻¹²⁰, and a quotient's parts would underflow.
        let tan = if x.abs() < 1e-18 { Wide(x, 0.0) } else { sin / cos };
        [sin, cos, tan].map(Exact::new)
    }

    /// For finite `y` and `x`; the signs of zeros are left to the unit tests.
    fn atan2(&self, y: f64, x: f64) -> Exact {
        if x == 0.0 || y == 0.0 {
            let angle = if x > 0.0 || x == y {
                Wide(0.0, 0.0)
            } else if x < 0.0 {
                self.pi_wide
            } else {
                self.half_pi_wide
            };
            return Exact::new(if y.is_sign_negative() { -angle } else { angle });
        }
        let (y_exponent, x_exponent) = (ilogb(y), ilogb(x));
        let gap = y_exponent - x_exponent;
        if gap.abs() < 100 {
            let [y, x] = [y, x].map(|v| Wide(ldexp(ldexp(v, -x_exponent), -gap.max(0)), 0.0));
            return Exact::new(self.angle(y, x));
        }
        // The arc tangent of so small a quotient is the quotient, to 2⁻¹⁹⁸.
        let (unit_y, unit_x) = (ldexp(y, -y_exponent), ldexp(x, -x_exponent));
        if gap < 0 {
            let quotient = Wide(unit_y, 0.0) / Wide(unit_x, 0.0);
            if x > 0.0 {
                return Exact { value: quotient, exponent: gap };
            }
            let pi = if y > 0.0 { self.pi_wide } else { -self.pi_wide };
            return Exact::new(pi + quotient.times_power_of_two(gap.max(-200)));
        }
        let quotient = Wide(unit_x, 0.0) / Wide(unit_y, 0.0);
        let half_pi = if y > 0.0 { self.half_pi_wide } else { -self.half_pi_wide };
        Exact::new(half_pi + -quotient.times_power_of_two((-gap).max(-200)))
    }

    fn asin(&self, x: f64) -> Exact {
        if x.abs() < 1e-18 {
            return Exact::new(Wide(x, 0.0));
        }
        Exact::new(self.angle(Wide(x, 0.0), other_leg(x)))
    }

    fn acos(&self, x: f64) -> Exact {
        if x >= 1.0 {
            return Exact::new(Wide(0.0, 0.0));
        }
        Exact::new(self.angle(other_leg(x), Wide(x, 0.0)))
    }

    /// The angle of `(x, y)`. With θ a first guess, what it lacks is the angle of the point turned
    /// back by θ, of which the sine over the cosine is enough: the cube is below 2⁻¹⁵⁰.
    fn angle(&self, y: Wide, x: Wide) -> Wide {
        #[allow(clippy::disallowed_methods, reason = "a first guess; good digits are asserted")]
        let guess = y.0.atan2(x.0);
        let (sin, cos) = self.sin_cos(guess);
        let lack = (y * cos + -(x * sin)) / (x * cos + y * sin);
        assert!(lack.0.abs() < 1e-15, "no guess: {guess} for {y:?}, {x:?}");
        Wide(guess, 0.0) + lack
    }
}

/// √(1 − x²)
fn other_leg(x: f64) -> Wide {
    (Wide(1.0, 0.0) + -exact_product(x, x)).sqrt()
}

/// √(Σ v²)
fn length(vector: &[f64]) -> Exact {
    let largest = vector.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
    if largest == 0.0 {
        return Exact::new(Wide(0.0, 0.0));
    }
    let exponent = ilogb(largest);
    let mut sum = Wide(0.0, 0.0);
    for v in vector {
        let v = ldexp(*v, -exponent);
        sum = sum + exact_product(v, v);
    }
    Exact { value: sum.sqrt(), exponent }
}

/// The unevaluated sum of a double and a smaller one: about 104 bits.
#[derive(Clone, Copy, Debug)]
struct Wide(f64, f64);

impl Wide {
    fn sqrt(self) -> Self {
        let root = self.0.sqrt();
        if root == 0.0 {
            return Wide(0.0, 0.0);
        }
        let lack = self + -exact_product(root, root);
        exact_sum(root, lack.0 / (2.0 * root))
    }

    fn times_power_of_two(self, n: i32) -> Self {
        Wide(ldexp(self.0, n), ldexp(self.1, n))
    }
}

impl std::ops::Neg for Wide {
    type Output = Self;

    fn neg(self) -> Self {
        Wide(-self.0, -self.1)
    }
}

impl std::ops::Add for Wide {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (high, low) = (exact_sum(self.0, other.0), exact_sum(self.1, other.1));
        let first = exact_sum(high.0, high.1 + low.0);
        exact_sum(first.0, first.1 + low.1)
    }
}

impl std::ops::Mul for Wide {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = exact_product(self.0, other.0);
        exact_sum(product.0, product.1 + (self.0 * other.1 + self.1 * other.0))
    }
}

impl std::ops::Div for Wide {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.0 / other.0;
        let rest = self + -(other * Wide(first, 0.0));
        let second = rest.0 / other.0;
        let rest = rest + -(other * Wide(second, 0.0));
        exact_sum(first, second) + Wide(rest.0 / other.0, 0.0)
    }
}

fn exact_sum(a: f64, b: f64) -> Wide {
    let sum = a + b;
    let b_seen = sum - a;
    Wide(sum, (a - (sum - b_seen)) + (b - b_seen))
}

fn exact_product(a: f64, b: f64) -> Wide {
    let split = |x: f64| {
        let high = x * 134_217_729.0 - (x * 134_217_729.0 - x);
        (high, x - high)
    };
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    let product = a * b;
    Wide(product, al * bl - (((product - ah * bh) - al * bh) - ah * bl))
}

/// A number in [0, 2⁶⁴) with 256 bits after the point, lowest word first.
#[derive(Clone, Copy)]
struct Fixed([u64; 5]);

impl Fixed {
    fn top_of(limbs: &[u64]) -> Self {
        Self(std::array::from_fn(|i| limbs[limbs.len() - 5 + i]))
    }

    /// m·2ᵉ for −200 < e < 0.
    fn scaled(m: u64, e: i32) -> Self {
        let position = (256 + e) as usize;
        let (word, shift) = (position / 64, position % 64);
        let wide = u128::from(m) << shift;
        let mut result = [0; 5];
        result[word] = wide as u64;
        if word < 4 {
            result[word + 1] = (wide >> 64) as u64;
        }
        Self(result)
    }

    fn times(self, factor: u64) -> Self {
        let mut carry = 0;
        Self(self.0.map(|limb| {
            let product = u128::from(limb) * u128::from(factor) + carry;
            carry = product >> 64;
            product as u64
        }))
    }

    fn minus(mut self, other: Self) -> Self {
        subtract(&mut self.0, &other.0);
        self
    }

    fn half(self) -> Self {
        Self(std::array::from_fn(|i| {
            let above = if i < 4 { self.0[i + 1] << 63 } else { 0 };
            self.0[i] >> 1 | above
        }))
    }

    fn at_least(self, other: Self) -> bool {
        self.0.iter().rev().ge(other.0.iter().rev())
    }

    fn to_wide(self) -> Wide {
        let mut sum = Wide(0.0, 0.0);
        for (i, limb) in self.0.iter().enumerate() {
            let unit = 64 * i as i32 - 256;
            let (low, high) = (f64::from(*limb as u32), f64::from((limb >> 32) as u32));
            sum = sum + Wide(ldexp(low, unit), 0.0);
            sum = sum + Wide(ldexp(high, unit + 32), 0.0);
        }
        sum
    }
}

/// Words of the long numbers: one before the point, the rest after it, lowest first. 1408 bits
/// after the point leave more than 256 good ones after 971 doublings.
const LIMBS: usize = 23;

/// π = 16 atan(1/5) − 4 atan(1/239), J. Machin, 1706.
fn machin_pi() -> Vec<u64> {
    let inverse_arc_tangent = |n: u64, factor: u64| {
        let mut power = vec![0; LIMBS];
        power[LIMBS - 1] = factor;
        divide(&mut power, n);
        let mut sum = power.clone();
        for k in 1_u64.. {
            divide(&mut power, n * n);
            let mut term = power.clone();
            divide(&mut term, 2 * k + 1);
            if term.iter().all(|limb| *limb == 0) {
                break;
            }
            if k % 2 == 1 { subtract(&mut sum, &term) } else { add(&mut sum, &term) }
        }
        sum
    };
    let mut pi = inverse_arc_tangent(5, 16);
    subtract(&mut pi, &inverse_arc_tangent(239, 4));
    pi
}

fn divide(number: &mut [u64], divisor: u64) {
    let mut rest = 0;
    for limb in number.iter_mut().rev() {
        let part = u128::from(rest) << 64 | u128::from(*limb);
        *limb = (part / u128::from(divisor)) as u64;
        rest = (part % u128::from(divisor)) as u64;
    }
}

fn add(number: &mut [u64], other: &[u64]) {
    let mut carry = false;
    for (limb, other) in number.iter_mut().zip(other) {
        let (sum, first) = limb.overflowing_add(*other);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        (*limb, carry) = (sum, first | second);
    }
}

fn subtract(number: &mut [u64], other: &[u64]) {
    let mut borrow = false;
    for (limb, other) in number.iter_mut().zip(other) {
        let (rest, first) = limb.overflowing_sub(*other);
        let (rest, second) = rest.overflowing_sub(u64::from(borrow));
        (*limb, borrow) = (rest, first | second);
    }
}

fn shift_left_once(number: &mut [u64]) {
    let mut carry = 0;
    for limb in number {
        (*limb, carry) = (*limb << 1 | carry, *limb >> 63);
    }
}
