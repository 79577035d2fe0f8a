//! Decimal numbers at memory speed, and exactly.
//!
//! Nearly every number of a motion file is a sign, up to seven digits, a point and up to eight more
//! digits. Those are read eight bytes at a time in one 64-bit register; everything else is left to
//! [`number`](super::text::number), which reads every notation. Both round correctly, so which of
//! them reads a number makes no difference.

/// The bytes that must follow a number's start for it to be read here: sign, digits, point, digits
/// and one more, in two loads of eight.
const WINDOW: usize = 24;

/// What the mantissa is a multiple of, for each sign: zeros keep theirs.
const UNIT: [f64; 2] = [1e8, -1e8];

const ONES: u64 = 0x0101_0101_0101_0101;

/// The number at `at` and where it ends, if it is of the usual form and followed by a blank or a
/// line end. `None` says nothing about what is there.
///
/// # Source
///
/// Digits side by side in a register: D. Lemire, "Number parsing at a gigabyte per second", 2021,
/// section 3. The value: W. D. Clinger, "How to read floating point numbers accurately", 1990: an
/// integer below 2⁵³ divided by a power of ten up to 10²² is rounded once, hence correctly. The integer
/// is `whole · 10⁸ + fraction`, the fraction filled up with zeros to eight digits: 15 digits in all.
#[inline(always)]
#[allow(clippy::inline_always, reason = "the whole cost of reading a file is here")]
pub(crate) fn decimal(bytes: &[u8], at: usize) -> Option<(f64, usize)> {
    let window: &[u8; WINDOW] = bytes.get(at..)?.first_chunk()?;
    let negative = usize::from(window[0] == b'-');
    let (whole, digits) = match up_to_three(window, negative) {
        Some(short) => short,
        None => up_to_seven(window, negative)?,
    };
    let mut length = negative + digits;
    let mut mantissa = whole * 100_000_000;
    if window[length] == b'.' {
        let bytes = eight(window, length + 1);
        let others = others(bytes);
        // The lowest bit of the first other byte, and below it the digits; none, and all are digits.
        let first = (others & others.wrapping_neg()) >> 7;
        mantissa += value_of_eight(bytes & first.wrapping_sub(1));
        length += 1 + (others.trailing_zeros() / 8) as usize;
    }
    // A digit too many, an exponent, a comma: not here.
    if window[length] > b' ' {
        return None;
    }
    #[allow(clippy::cast_precision_loss, reason = "below 10^15")]
    let value = mantissa as f64 / UNIT[negative];
    Some((value, at + length))
}

/// Eight bytes less `'0'`: those of digits are 0 to 9.
#[inline(always)]
#[allow(clippy::inline_always, reason = "see decimal")]
fn eight(window: &[u8; WINDOW], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&window[at..at + 8]);
    u64::from_le_bytes(eight) ^ (ONES * 0x30)
}

/// The highest bit of every byte that is not 0 to 9.
#[inline(always)]
#[allow(clippy::inline_always, reason = "see decimal")]
fn others(bytes: u64) -> u64 {
    // A byte of 10 or more gets its highest bit: 0x76 + 0x0A = 0x80. Bytes from 0x80 on have it.
    (((bytes & (ONES * 0x7F)) + ONES * 0x76) | bytes) & (ONES * 0x80)
}

/// The value of eight digits, the first in the lowest byte.
///
/// Pairs, then fours, then eights are put together: with bytes a b c d e f g h from the first,
/// 10·a + b in one byte of each pair, 100·ab + cd in one half of each four, and so on.
#[inline(always)]
#[allow(clippy::inline_always, reason = "see decimal")]
fn value_of_eight(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
    (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) & 0xFFFF_FFFF
}

/// One to three digits and how many, in half the steps of [`up_to_seven`].
#[inline(always)]
#[allow(clippy::inline_always, reason = "see decimal")]
fn up_to_three(window: &[u8; WINDOW], at: usize) -> Option<(u64, usize)> {
    let mut four = [0; 4];
    four.copy_from_slice(&window[at..at + 4]);
    let bytes = u32::from_le_bytes(four) ^ 0x3030_3030;
    // A byte of 10 to 15 gets one of the four highest bits, others have one. What is carried into the
    // next byte comes behind the first that is no digit.
    let others = (bytes.wrapping_add(0x0606_0606) | bytes) & 0xF0F0_F0F0;
    let bits = others.trailing_zeros() & !7;
    // Zeros in front make four.
    let digits = match bits {
        8 | 16 | 24 => bytes << (32 - bits),
        _ => return None,
    };
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00FF_00FF;
    // 100 times the first pair and the second meet in the upper half.
    let value = pairs.wrapping_mul((100 << 16) + 1) >> 16;
    Some((u64::from(value), (bits / 8) as usize))
}

/// One to seven digits and how many.
#[inline(always)]
#[allow(clippy::inline_always, reason = "see decimal")]
fn up_to_seven(window: &[u8; WINDOW], at: usize) -> Option<(u64, usize)> {
    let bytes = eight(window, at);
    let count = (others(bytes).trailing_zeros() / 8) as usize;
    // Zeros in front make eight.
    (1..8).contains(&count).then(|| (value_of_eight(bytes << (64 - 8 * count)), count))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With room behind, as in the middle of a file.
    fn parse(text: &str) -> Option<(f64, usize)> {
        let padded = format!("{text} 1.0 2.0 3.0 4.0 5.0 6.0 7.0");
        decimal(padded.as_bytes(), 0)
    }

    #[test]
    fn usual_numbers_are_read() {
        for text in [
            "0",
            "-0",
            "5",
            "-12.345678",
            "1234567.12345678",
            "0.00000001",
            "7.",
            "-0.0",
            "12345.6",
            "-9999999",
        ] {
            let (value, length) = parse(text).unwrap_or_else(|| panic!("{text}"));
            let expected: f64 = text.parse().unwrap();
            assert_eq!((value.to_bits(), length), (expected.to_bits(), text.len()), "{text}");
        }
    }

    #[test]
    fn unusual_ones_are_left_to_others() {
        for text in [
            "",
            "-",
            ".5",
            "+1",
            "12345678",
            "1.123456789",
            "1e5",
            "1.5e-3",
            "1,5",
            "1.5-2",
            "nan",
            "1.2.3",
            "1x",
            "--1",
            "- 1",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        // Too near the end of the text to load eight bytes twice.
        assert_eq!(decimal(b"1.5", 0), None);
    }

    #[test]
    fn prop_what_is_read_is_rounded_correctly() {
        arbtest::arbtest(|u| {
            let whole: u32 = u.int_in_range(0..=9_999_999)?;
            let places = u.int_in_range(0..=8_usize)?;
            let fraction: u64 = u.int_in_range(0..=99_999_999)?;
            let digits = format!("{fraction:08}");
            let sign = if u.arbitrary()? { "-" } else { "" };
            let end = *u.choose(&[" ", "\n", "\r\n", "\t"])?;
            let text = format!("{sign}{whole}.{}", &digits[..places]);
            let padded = format!("{text}{end}0000000000000000000000000");
            let (value, length) = decimal(padded.as_bytes(), 0).expect("a usual number");
            let expected: f64 = text.parse().unwrap();
            assert_eq!((value.to_bits(), length), (expected.to_bits(), text.len()), "{text}");
            Ok(())
        })
        .budget_ms(500);
    }

    #[test]
    fn prop_any_bytes_agree_with_the_slow_way_or_are_left_to_it() {
        use crate::formats::text::{Number, number};
        arbtest::arbtest(|u| {
            let mut bytes = Vec::new();
            for _ in 0..u.int_in_range(0..=30)? {
                bytes.push(*u.choose(b"0123456789.-+eE \n,#xn\xFF")?);
            }
            bytes.extend_from_slice(&[b' '; WINDOW]);
            if let Some((value, length)) = decimal(&bytes, 0) {
                match number(&bytes) {
                    Some(Number::Finite(v, n)) => {
                        assert_eq!((v.to_bits(), n), (value.to_bits(), length), "{bytes:?}");
                    }
                    other => panic!("{bytes:?}: {other:?}"),
                }
            }
            Ok(())
        })
        .budget_ms(500);
    }
}
