//! The exponential function and its inverse.

/// The natural logarithm to some ten digits, from the exponent and a series: the platform's are not
/// the same everywhere.
pub(crate) fn log(x: f64) -> f64 {
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

/// The exponential function to some ten digits: a power of two, and a series for what is left.
pub(crate) fn exp(x: f64) -> f64 {
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
