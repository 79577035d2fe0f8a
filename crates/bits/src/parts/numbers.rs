//! Functions of plain numbers.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};

use condyle::glam::{DMat3, DVec3};
use condyle::math::{svd3, symmetric_eigen, trig};
use condyle::synth::Rng;

use crate::{Hash, How};

/// Zeros, subnormals, ends of ranges, neighbours of multiples of π/2, huge ones, and no numbers.
fn special() -> Vec<f64> {
    let mut values = vec![
        0.0,
        f64::from_bits(1),
        f64::from_bits(0x000f_ffff_ffff_ffff),
        f64::MIN_POSITIVE,
        1e-300,
        1e-160,
        f64::EPSILON,
        1e-8,
        0.5,
        1.0,
        2.0,
        // The double nearest to a multiple of π/2, of all doubles.
        6_381_956_970_095_103.0 * f64::from_bits((1023 + 797) << 52),
        1e22,
        9_007_199_254_740_993.0,
        1e160,
        1e300,
        f64::MAX,
        f64::INFINITY,
    ];
    for multiple in 1..20 {
        values.push(f64::from(multiple) * FRAC_PI_4);
    }
    for exponent in (-1070..1024).step_by(13) {
        values.push(f64::from_bits(if exponent > -1023 {
            // The exponent field, and bits that are not all zero behind it.
            ((u64::try_from(exponent + 1023).expect("positive")) << 52) | 0x000b_504f_333f_9de6
        } else {
            1 << (exponent + 1074)
        }));
    }
    let near: Vec<f64> = values.iter().flat_map(|&v| [v, v.next_up(), v.next_down()]).collect();
    near.iter().flat_map(|&v| [v, -v]).chain([f64::NAN]).collect()
}

/// The special values, then a fixed draw: small angles, many turns, any bits.
fn arguments(seed: u64, n: usize) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    let mut values = special();
    for i in 0..n {
        values.push(match i % 4 {
            0 => rng.between(-PI, PI),
            1 => rng.between(-1.0, 1.0),
            2 => rng.between(-1e4 * TAU, 1e4 * TAU),
            _ => f64::from_bits(rng.bits()),
        });
    }
    values
}

pub(super) fn circular(how: &How) -> Hash {
    let values = how.each(&arguments(1, 6000), |&x| {
        let (sin, cos) = trig::sin_cos(x);
        [sin, cos, trig::sin(x), trig::cos(x), trig::tan(x)]
    });
    hash_of(&values)
}

pub(super) fn inverse(how: &How) -> Hash {
    let values = arguments(2, 6000);
    let pairs: Vec<(f64, f64)> = pairs(&values);
    let mut hash = hash_of(&how.each(&values, |&x| [trig::asin(x), trig::acos(x)]));
    let directions = how.each(&pairs, |&(y, x)| [trig::atan2(y, x), trig::atan2(x, y)]);
    hash.all([hash_of(&directions)]);
    hash
}

pub(super) fn hypot(how: &How) -> Hash {
    let values = arguments(3, 6000);
    hash_of(&how.each(&pairs(&values), |&(x, y)| {
        [trig::hypot(x, y), trig::hypot3(x, y, x * 0.5), trig::hypot3(y, FRAC_PI_2, x)]
    }))
}

/// Each with its neighbour and with one farther off, and all special ones with each other's signs.
fn pairs(values: &[f64]) -> Vec<(f64, f64)> {
    let n = values.len();
    let with = |step: usize| (0..n).map(move |i| (values[i], values[(i * 7 + step) % n]));
    with(1).chain(with(5)).chain((1..n).map(|i| (values[i - 1], values[i]))).collect()
}

pub(super) fn eigen(how: &How) -> Hash {
    let seeds: Vec<u64> = (0..120).collect();
    let mut hash = Hash::default();
    hash.all(how.each(&seeds, |&seed| {
        let mut rng = Rng::stream(4, seed);
        // Also with equal eigenvalues, and with entries far apart in size.
        let spread = [1.0, 1e-12, 1e150][usize::try_from(seed % 3).expect("small")];
        let mut hash = Hash::default();
        let whole = seed % 5 == 0;
        add_eigen::<3>(&mut hash, &mut rng, spread, whole);
        add_eigen::<4>(&mut hash, &mut rng, spread, whole);
        add_eigen::<9>(&mut hash, &mut rng, spread, whole);
        let mut column = || DVec3::from_array([(); 3].map(|()| rng.between(-1.0, 1.0)));
        let m = DMat3::from_cols(column(), spread * column(), column());
        hash.option(svd3(m), |hash, svd| {
            hash.f64s(&svd.u.to_cols_array());
            hash.vector(svd.s);
            hash.f64s(&svd.v.to_cols_array());
        });
        hash
    }));
    hash
}

fn add_eigen<const N: usize>(hash: &mut Hash, rng: &mut Rng, spread: f64, whole: bool) {
    let mut entry = |i: usize| {
        let value = rng.between(-2.0, 2.0);
        let value = if whole { value.round() } else { value };
        if i == 0 { value * spread } else { value }
    };
    let m = [(); N].map(|()| std::array::from_fn(&mut entry));
    hash.option(symmetric_eigen::<N>(m), |hash, eigen| {
        hash.f64s(&eigen.values);
        eigen.vectors.iter().for_each(|v| hash.f64s(v));
    });
}

fn hash_of<const N: usize>(values: &[[f64; N]]) -> Hash {
    let mut hash = Hash::default();
    values.iter().flatten().for_each(|&v| hash.f64(v));
    hash
}
