//! Reading text: a scanner over bytes, numbers, and where we are.
//!
//! Positions are byte offsets while reading; lines and columns are counted only when an error or a
//! warning asks for them, so keeping them costs nothing.

use std::borrow::Cow;

use super::error::{Excerpt, Position, ReadError, ReadErrorKind, Warning, WarningKind};

/// The longest piece of a line shown with an error, in characters.
const EXCERPT_MAX: usize = 120;

/// The text after a byte order mark, or the error that it is UTF-16.
pub(crate) fn strip_bom(bytes: &[u8]) -> Result<&[u8], ReadError> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err(ReadError::new(ReadErrorKind::Utf16));
    }
    Ok(bytes.strip_prefix(&[0xEF, 0xBB, 0xBF]).unwrap_or(bytes))
}

/// Bytes as text: UTF-8 if they are, else Latin-1, in which every byte is a character.
pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&b| char::from(b)).collect()),
    }
}

/// At most 40 characters of a text, for a message.
pub(crate) fn shortened(bytes: &[u8]) -> String {
    const MAX: usize = 40;
    let text = decode(&bytes[..bytes.len().min(4 * MAX)]);
    if text.chars().count() <= MAX {
        return text.into_owned();
    }
    text.chars().take(MAX - 1).chain(['…']).collect()
}

/// Warnings while reading, by byte offset. Lines and columns are counted once, at the end, and only
/// the first [`MAX_WARNINGS`] are kept, so that a file full of faults does not take quadratic time.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    found: Vec<(Option<usize>, WarningKind)>,
    more: u64,
    more_repairs: bool,
}

/// The most warnings that are kept for a file; the rest are counted.
pub(crate) const MAX_WARNINGS: usize = 1000;

impl Warnings {
    /// A warning about a place.
    pub(crate) fn at(&mut self, offset: usize, kind: WarningKind) {
        self.push(Some(offset), kind);
    }

    /// A warning about the whole file.
    pub(crate) fn whole(&mut self, kind: WarningKind) {
        self.push(None, kind);
    }

    fn push(&mut self, offset: Option<usize>, kind: WarningKind) {
        if self.found.len() < MAX_WARNINGS {
            self.found.push((offset, kind));
        } else {
            self.more += 1;
            self.more_repairs |= kind.is_repair();
        }
    }

    /// All of them with lines and columns, in the order of the file, those without a place last.
    pub(crate) fn finish(mut self, bytes: &[u8]) -> Vec<Warning> {
        self.found.sort_by_key(|(offset, _)| offset.unwrap_or(usize::MAX));
        let mut counted = LineCounter::default();
        let mut out: Vec<Warning> = self
            .found
            .into_iter()
            .map(|(offset, kind)| match offset {
                Some(offset) => Warning::at(kind, counted.position(bytes, offset)),
                None => Warning::new(kind),
            })
            .collect();
        if self.more > 0 {
            let kind = WarningKind::More { count: self.more, repairs: self.more_repairs };
            out.push(Warning::new(kind));
        }
        out
    }
}

/// Counts lines and columns of offsets that come in rising order, looking at each byte once.
#[derive(Debug, Default)]
struct LineCounter {
    seen: usize,
    lines: usize,
    /// Characters since the line began, up to `seen`.
    characters: usize,
}

impl LineCounter {
    fn position(&mut self, bytes: &[u8], offset: usize) -> Position {
        let offset = offset.min(bytes.len());
        while self.seen < offset {
            let block = &bytes[self.seen..offset.min(self.seen + BLOCK)];
            if count_block(block, |b| (b == b'\n') | (b == b'\r')) > 0 {
                self.count_by_bytes(bytes, block.len());
            } else {
                self.characters += count_block(block, begins_character);
            }
            self.seen += block.len();
        }
        let count = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
        Position::Text { line: count(self.lines), column: count(self.characters) }
    }

    fn count_by_bytes(&mut self, bytes: &[u8], n: usize) {
        for i in self.seen..self.seen + n {
            let b = bytes[i];
            if b == b'\n' || (b == b'\r' && bytes.get(i + 1) != Some(&b'\n')) {
                self.lines += 1;
                self.characters = 0;
            } else if begins_character(b) {
                self.characters += 1;
            }
        }
    }
}

/// Every byte but those that continue a UTF-8 character.
fn begins_character(b: u8) -> bool {
    b & 0xC0 != 0x80
}

/// Line and column of a byte offset. Lines end with LF, CR LF or CR.
pub(crate) fn position(bytes: &[u8], offset: usize) -> Position {
    LineCounter::default().position(bytes, offset)
}

/// The line around a byte offset, cut to a readable width.
pub(crate) fn excerpt(bytes: &[u8], offset: usize) -> Excerpt {
    let offset = offset.min(bytes.len());
    // Long lines are looked at only near the place.
    let window = 4 * EXCERPT_MAX;
    let is_end = |b: &u8| *b == b'\n' || *b == b'\r';
    let from = offset.saturating_sub(window);
    let to = (offset + window).min(bytes.len());
    let start = from + bytes[from..offset].iter().rposition(is_end).map_or(0, |i| i + 1);
    let end = offset + bytes[offset..to].iter().position(is_end).unwrap_or(to - offset);
    let show = |b: &[u8]| -> Vec<char> {
        decode(b).chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
    };
    let (before, after) = (show(&bytes[start..offset]), show(&bytes[offset..end]));
    let skip = before.len().saturating_sub(EXCERPT_MAX / 2);
    let line: String = before[skip..].iter().chain(after.iter().take(EXCERPT_MAX / 2)).collect();
    Excerpt { line: line.trim_end().to_owned(), caret: before.len() - skip }
}

/// An error at a byte offset, with line, column and excerpt.
pub(crate) fn error_at(bytes: &[u8], offset: usize, kind: ReadErrorKind) -> ReadError {
    ReadError::new(kind).at(position(bytes, offset), Some(excerpt(bytes, offset)))
}

/// A number at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// A finite number and how many bytes it takes.
    Finite(f64, usize),
    /// `nan`, `inf`, `1e999`, `1.#IND` and the like, and how many bytes it takes.
    NotFinite(usize),
}

/// The number that `bytes` begin with, in the notations files use: `1`, `-.5`, `5.`, `+1e-3`,
/// `7.6e-016`, `NaN`, `-inf`, `1.#QNAN`. Correctly rounded. `None` if there is none.
///
/// Stops where the number ends, also at a sign (`1.5-2.5` is two numbers in some files); the caller
/// decides which bytes may follow.
pub(crate) fn number(bytes: &[u8]) -> Option<Number> {
    let mut i = 0;
    let negative = match bytes.first() {
        Some(b'-') => {
            i = 1;
            true
        }
        Some(b'+') => {
            i = 1;
            false
        }
        _ => false,
    };
    let digits_start = i;
    // Up to 19 digits fit into 64 bits; more, and the slow path decides.
    let mut mantissa = 0_u64;
    let mut digits = 0_usize;
    let mut scale = 0_i64;
    while let Some(d) = digit(bytes, i) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(d);
        digits += usize::from(mantissa != 0);
        i += 1;
    }
    let mut any = i > digits_start;
    if bytes.get(i) == Some(&b'.') {
        let point = i;
        i += 1;
        while let Some(d) = digit(bytes, i) {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(d);
            digits += usize::from(mantissa != 0);
            scale -= 1;
            i += 1;
        }
        any |= i > point + 1;
        if any && bytes.get(i) == Some(&b'#') {
            // What Microsoft's C library prints: 1.#QNAN0, -1.#IND, 1.#INF00.
            let end = bytes[i + 1..]
                .iter()
                .position(|b| !b.is_ascii_alphanumeric())
                .map_or(bytes.len(), |n| i + 1 + n);
            return Some(Number::NotFinite(end));
        }
    }
    if !any {
        return not_finite_word(&bytes[digits_start..])
            .map(|n| Number::NotFinite(digits_start + n));
    }
    let mut exponent = 0_i64;
    if matches!(bytes.get(i), Some(b'e' | b'E')) {
        let mut k = i + 1;
        let minus = match bytes.get(k) {
            Some(b'-') => {
                k += 1;
                true
            }
            Some(b'+') => {
                k += 1;
                false
            }
            _ => false,
        };
        let start = k;
        while let Some(d) = digit(bytes, k) {
            exponent = (exponent * 10 + i64::try_from(d).expect("one digit")).min(1_000_000);
            k += 1;
        }
        if k > start {
            i = k;
            if minus {
                exponent = -exponent;
            }
        } else {
            exponent = 0;
        }
    }
    let power = scale + exponent;
    // Clinger: both factors exact in f64, so one operation rounds correctly.
    let value = if digits <= 19 && mantissa < 1 << 53 && (-22..=22).contains(&power) {
        #[allow(clippy::cast_precision_loss, reason = "below 2^53")]
        let m = mantissa as f64;
        let p = POWERS[usize::try_from(power.abs()).expect("at most 22")];
        let v = if power < 0 { m / p } else { m * p };
        if negative { -v } else { v }
    } else {
        slow(&bytes[..i])?
    };
    Some(if value.is_finite() { Number::Finite(value, i) } else { Number::NotFinite(i) })
}

/// The powers of ten that f64 holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

fn digit(bytes: &[u8], i: usize) -> Option<u64> {
    bytes.get(i).map(|b| u64::from(b.wrapping_sub(b'0'))).filter(|d| *d < 10)
}

/// The standard library rounds correctly for any length.
#[cold]
fn slow(text: &[u8]) -> Option<f64> {
    str::from_utf8(text).ok()?.parse().ok()
}

#[cold]
fn not_finite_word(bytes: &[u8]) -> Option<usize> {
    for word in ["infinity", "inf", "nan(ind)", "nan", "qnan", "snan"] {
        let n = word.len();
        if bytes.len() >= n && bytes[..n].eq_ignore_ascii_case(word.as_bytes()) {
            let ends = bytes.get(n).is_none_or(|b| !b.is_ascii_alphanumeric());
            if ends {
                return Some(n);
            }
        }
    }
    None
}

/// A place in a text, moving forward.
#[derive(Clone, Debug)]
pub(crate) struct Scanner<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips blanks, tabs and other control characters, but stays on the line.
    pub(crate) fn skip_blanks(&mut self) {
        self.skip_while(is_blank);
    }

    /// Skips blanks and line ends.
    pub(crate) fn skip_space(&mut self) {
        self.skip_while(is_space);
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        self.at += run(self.rest(), wanted);
    }

    /// Whether the line has nothing but blanks left.
    pub(crate) fn at_line_end(&mut self) -> bool {
        self.skip_blanks();
        self.peek().is_none_or(|b| b == b'\n' || b == b'\r')
    }

    /// Moves behind the end of this line.
    pub(crate) fn next_line(&mut self) {
        self.skip_while(|b| (b != b'\n') & (b != b'\r'));
        if self.peek() == Some(b'\r') {
            self.at += 1;
        }
        if self.peek() == Some(b'\n') {
            self.at += 1;
        }
    }

    /// The next word: bytes up to white space. Skips blanks and line ends before it. Empty at the
    /// end of the text.
    pub(crate) fn word(&mut self) -> &'a [u8] {
        self.skip_space();
        let start = self.at;
        self.skip_while(|b| !is_space(b));
        &self.bytes[start..self.at]
    }

    /// The next word, which also ends before one of these bytes: empty where one stands here.
    pub(crate) fn word_before(&mut self, ends: &[u8]) -> &'a [u8] {
        self.skip_space();
        let start = self.at;
        self.skip_while(|b| !is_space(b) && !ends.contains(&b));
        &self.bytes[start..self.at]
    }

    /// The next word on this line; empty at its end.
    pub(crate) fn word_on_line(&mut self) -> &'a [u8] {
        if self.at_line_end() { &[] } else { self.word() }
    }

    /// What is left of the line, without blanks around it. Stays before the line end.
    pub(crate) fn rest_of_line(&mut self) -> &'a [u8] {
        self.skip_blanks();
        let start = self.at;
        self.skip_while(|b| (b != b'\n') & (b != b'\r'));
        trim_end(&self.bytes[start..self.at])
    }

    /// An error at the current place.
    pub(crate) fn error(&self, kind: ReadErrorKind) -> ReadError {
        error_at(self.bytes, self.at, kind)
    }

    /// An error about what stands here instead of something else.
    pub(crate) fn expected(&self, expected: impl Into<String>) -> ReadError {
        let mut ahead = self.clone();
        ahead.skip_blanks();
        let at = ahead.at;
        let found = match ahead.peek() {
            None => "the end of the file".to_owned(),
            Some(b'\n' | b'\r') => "the end of the line".to_owned(),
            Some(_) => format!("{:?}", shortened(ahead.word())),
        };
        error_at(self.bytes, at, ReadErrorKind::Expected { expected: expected.into(), found })
    }

    /// A finite number on this line, blanks before it skipped. Whatever follows has to be white
    /// space, a sign, the end, or one of `closers`.
    pub(crate) fn number_on_line(&mut self, what: &str, closers: &[u8]) -> Result<f64, ReadError> {
        self.skip_blanks();
        let start = self.at;
        match number(self.rest()) {
            Some(Number::Finite(value, n)) if self.ends_number(start + n, closers) => {
                self.at = start + n;
                Ok(value)
            }
            Some(Number::NotFinite(n)) if self.ends_number(start + n, closers) => {
                let text = shortened(&self.bytes[start..start + n]);
                Err(self.error(ReadErrorKind::NotFinite { text }))
            }
            _ if self.at_line_end() => Err(self.expected(what)),
            _ => {
                let text = shortened(self.clone().word());
                Err(self.error(ReadErrorKind::BadNumber { text }))
            }
        }
    }

    /// Whether a number may end at this offset.
    pub(crate) fn ends_number(&self, offset: usize, closers: &[u8]) -> bool {
        match self.bytes.get(offset) {
            None => true,
            Some(&b) => is_space(b) || b == b'-' || b == b'+' || closers.contains(&b),
        }
    }
}

/// White space and control characters. Some files end in NUL or Ctrl-Z.
pub(crate) fn is_space(b: u8) -> bool {
    (b <= b' ') | (b == 0x7F)
}

/// White space within a line.
pub(crate) fn is_blank(b: u8) -> bool {
    is_space(b) & (b != b'\n') & (b != b'\r')
}

/// How many bytes at a time go through a loop without a branch: as many as can be counted in a byte,
/// so that the compiler does sixteen or more at once.
const BLOCK: usize = 128;

/// How many of a block are wanted.
#[inline]
fn count_block(block: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    debug_assert!(block.len() <= BLOCK);
    usize::from(block.iter().fold(0_u8, |n, b| n + u8::from(wanted(*b))))
}

/// How many bytes are wanted.
pub(crate) fn count(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    bytes.chunks(BLOCK).map(|block| count_block(block, &wanted)).sum()
}

/// Bytes without the white space at their end.
pub(crate) fn trim_end(bytes: &[u8]) -> &[u8] {
    let all = |block: &&[u8]| count_block(block, is_space) == BLOCK;
    let blocks = bytes.rchunks_exact(BLOCK).take_while(all).count();
    let bytes = &bytes[..bytes.len() - blocks * BLOCK];
    &bytes[..bytes.iter().rposition(|b| !is_space(*b)).map_or(0, |last| last + 1)]
}

/// How many bytes at the start are wanted: usually one or two, but it may be a gigabyte.
pub(crate) fn run(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take(BLOCK).position(|&b| !wanted(b)).unwrap_or_else(|| {
        let all = |block: &&[u8]| count_block(block, &wanted) == BLOCK;
        let passed = bytes.chunks_exact(BLOCK).take_while(all).count() * BLOCK;
        let tail = &bytes[passed..];
        passed + tail.iter().position(|&b| !wanted(b)).unwrap_or(tail.len())
    })
}

/// Compares without case.
pub(crate) fn is_word(word: &[u8], keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword.as_bytes())
}

/// Appends a number as short as possible so that reading gives the same bits.
pub(crate) fn push_number(out: &mut String, value: f64) {
    use std::fmt::Write;
    // Very small and very large numbers are shorter with an exponent.
    let magnitude = value.abs();
    let plain = magnitude == 0.0 || (1e-5..1e16).contains(&magnitude);
    let written = if plain { write!(out, "{value}") } else { write!(out, "{value:e}") };
    written.expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: f64, length: usize) {
        match number(text.as_bytes()) {
            Some(Number::Finite(v, n)) => {
                assert_eq!(v.to_bits(), expected.to_bits(), "{text}: {v}");
                assert_eq!(n, length, "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn numbers_in_all_notations() {
        check("1", 1.0, 1);
        check("-0", -0.0, 2);
        check("-.5 ", -0.5, 3);
        check("5. ", 5.0, 2);
        check("+1e-3", 1e-3, 5);
        check("7.62852e-016", 7.628_52e-16, 12);
        check("1.5-2.5", 1.5, 3);
        check("1.5e-2-3", 1.5e-2, 6);
        check("0.0083333", 0.008_333_3, 9);
        check("12E2x", 1200.0, 4);
        check("3e", 3.0, 1);
        check("1234567890123456789012345678901234567890", 1.234_567_890_123_456_8e39, 40);
        check("0.1000000000000000055511151231257827021181583404541015625", 0.1, 57);
        check("00000000000000000000000000001.25", 1.25, 32);
        check("9007199254740993", 9_007_199_254_740_992.0, 16);
    }

    #[test]
    fn words_and_overflow_are_not_finite() {
        for text in ["nan", "NaN", "-inf", "INF", "1e999", "-1.#IND00", "1.#QNAN", "Infinity"] {
            let got = number(text.as_bytes());
            assert_eq!(got, Some(Number::NotFinite(text.len())), "{text}");
        }
        for text in ["", "-", ".", "e5", "x", "nano", "information", "--1", "+-1"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn prop_numbers_round_as_the_standard_library_does() {
        arbtest::arbtest(|u| {
            let text = match u.int_in_range(0..=3)? {
                0 => format!("{:e}", f64::from_bits(u.arbitrary()?)),
                1 => format!("{}", f64::from(u.arbitrary::<i32>()?) * 1e-6),
                2 => format!("{}.{}", u.arbitrary::<i32>()?, u.arbitrary::<u64>()?),
                _ => format!("{}e{}", u.arbitrary::<u64>()?, u.int_in_range(-330..=330)?),
            };
            let expected: f64 = text.parse().unwrap();
            match number(text.as_bytes()) {
                Some(Number::Finite(v, n)) => {
                    assert_eq!((v.to_bits(), n), (expected.to_bits(), text.len()), "{text}");
                }
                Some(Number::NotFinite(n)) => {
                    assert!(!expected.is_finite() && n == text.len(), "{text}");
                }
                None => panic!("{text}"),
            }
            Ok(())
        });
    }

    #[test]
    fn prop_written_numbers_read_back_with_the_same_bits() {
        arbtest::arbtest(|u| {
            let value = f64::from_bits(u.arbitrary()?);
            if value.is_finite() {
                let mut text = String::new();
                push_number(&mut text, value);
                let Some(Number::Finite(back, n)) = number(text.as_bytes()) else {
                    panic!("{text}");
                };
                assert_eq!((back.to_bits(), n), (value.to_bits(), text.len()));
            }
            Ok(())
        });
    }

    #[test]
    fn positions_count_lines_of_every_kind_and_characters() {
        let text = b"a\r\nb\rc\nd\xC3\xA9e";
        let at = |offset| position(text, offset);
        assert_eq!(at(0), Position::Text { line: 1, column: 1 });
        assert_eq!(at(3), Position::Text { line: 2, column: 1 });
        assert_eq!(at(5), Position::Text { line: 3, column: 1 });
        assert_eq!(at(10), Position::Text { line: 4, column: 3 });
        let long = format!("a\n{}b", "\u{e9} ".repeat(1000)).into_bytes();
        assert_eq!(position(&long, 2 + 3000), Position::Text { line: 2, column: 2001 });
    }

    #[test]
    fn warnings_come_in_the_order_of_the_file_and_not_in_floods() {
        let text = b"a\nb\nc\n";
        let mut warnings = Warnings::default();
        warnings.whole(WarningKind::NoMotion);
        for i in 0..MAX_WARNINGS {
            warnings.at(4 - 2 * (i % 3), WarningKind::WrappedRows);
        }
        let out = warnings.finish(text);
        assert_eq!(out.len(), MAX_WARNINGS + 1);
        assert_eq!(out[0].at, Some(Position::Text { line: 1, column: 1 }));
        assert!(out.iter().map_while(|w| w.at).is_sorted());
        assert_eq!(out[MAX_WARNINGS].kind, WarningKind::More { count: 1, repairs: true });
    }

    #[test]
    fn excerpts_of_long_lines_stay_short_and_point_at_the_place() {
        let mut text = vec![b'x'; 10_000];
        text[5_000] = b'!';
        let e = excerpt(&text, 5_000);
        assert!(e.line.len() <= EXCERPT_MAX);
        assert_eq!(e.line.as_bytes()[e.caret], b'!');
        let e = excerpt(b"one\n\ttwo!\nthree", 8);
        assert_eq!((e.line.as_str(), e.caret), (" two!", 4));
    }

    #[test]
    fn latin_1_bytes_are_text() {
        assert_eq!(decode(b"f\xFCr"), "für");
        assert_eq!(decode("für".as_bytes()), "für");
    }
}
