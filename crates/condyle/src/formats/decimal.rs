//! Decimal numbers at memory speed, and exactly.
//!
//! Nearly every number of a motion file is a sign, up to seven digits, a point and up to eight more
//! digits. Those are read eight bytes at a time in one 64-bit register; everything else is left to
//! [`number`](super::text::number), which reads every notation. Both round correctly, so which of
//! them reads a number makes no difference.

/// The bytes that must follow a number's start for it to be read here: sign, digits, point, digits
/// and one more, in two loads of eight.
const WINDOW: usize = 24;

const ONES: u64 = 0x0101_0101_0101_0101;

/// Powers of ten up to the eight digits after a point.
const POWERS: [f64; 9] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];
const INTEGER_POWERS: [u64; 9] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The number at `at` and where it ends, if it is of the usual form and followed by a blank or a
/// line end. `None` says nothing about what is there.
///
/// # Source
///
/// Digits side by side in a register: D. Lemire, "Number parsing at a gigabyte per second", 2021,
/// section 3. The value: W. D. Clinger, "How to read floating point numbers accurately", 1990: an
/// integer below 2⁵³ divided by a power of ten up to 10²² is rounded once, hence correctly.
#[inline(always)]
#[allow(clippy::inline_always, reason = "the whole cost of reading a file is here")]
pub(crate) fn decimal(bytes: &[u8], at: usize) -> Option<(f64, usize)> {
    let window: &[u8; WINDOW] = bytes.get(at..)?.first_chunk()?;
    let negative = usize::from(window[0] == b'-');
    let whole = Digits::load(window, negative);
    let mut length = negative + whole.count;
    if whole.count == 0 || whole.count == 8 {
        return None;
    }
    let mut mantissa = whole.value();
    let mut places = 0;
    if window[length] == b'.' {
        let fraction = Digits::load(window, length + 1);
        places = fraction.count;
        // Up to 15 digits in all: below 2⁵³.
        mantissa = mantissa * INTEGER_POWERS[places] + fraction.value();
        length += 1 + places;
    }
    // A digit too many, an exponent, a comma: not here.
    if window[length] > b' ' {
        return None;
    }
    #[allow(clippy::cast_precision_loss, reason = "below 10^15")]
    let value = mantissa as f64 / POWERS[places];
    let sign = (negative as u64) << 63;
    Some((f64::from_bits(value.to_bits() | sign), at + length))
}

/// Up to eight digits at the start of eight bytes.
struct Digits {
    /// The bytes less `'0'`: those of digits are 0 to 9.
    bytes: u64,
    /// How many of the first are digits.
    count: usize,
}

impl Digits {
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "see decimal")]
    fn load(window: &[u8; WINDOW], at: usize) -> Self {
        let mut eight = [0; 8];
        eight.copy_from_slice(&window[at..at + 8]);
        let bytes = u64::from_le_bytes(eight) ^ (ONES * 0x30);
        // A byte of 10 or more gets its highest bit: 0x76 + 0x0A = 0x80. Bytes from 0x80 on have it.
        let others = (((bytes & (ONES * 0x7F)) + ONES * 0x76) | bytes) & (ONES * 0x80);
        Self { bytes, count: (others.trailing_zeros() / 8) as usize }
    }

    /// Their value. Missing digits become zeros in front.
    ///
    /// Pairs, then fours, then eights are put together: with bytes a b c d e f g h from the first,
    /// 10·a + b in one byte of each pair, 100·ab + cd in one half of each four, and so on.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "see decimal")]
    fn value(&self) -> u64 {
        // A shift by 64 bits would be one by none.
        let missing = 8 * (8 - self.count);
        let aligned = if self.count == 0 { 0 } else { self.bytes << missing };
        let pairs = aligned.wrapping_mul(10).wrapping_add(aligned >> 8) & 0x00FF_00FF_00FF_00FF;
        let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
        (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) & 0xFFFF_FFFF
    }
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
        for text in ["0", "-0", "5", "-12.345678", "1234567.12345678", "0.00000001", "7.", "-0.0"] {
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
