//! Numbers by the row into columns, quickly: what the fast readers of BVH and AMC share.
//!
//! Rows are read into a small block and from there into the columns, so that each column is written
//! a cache line at a time. A text is cut into pieces for threads; each fills its own frames of every
//! column, so the result does not depend on how many there are.

use std::num::NonZeroUsize;

use super::decimal::decimal;
use super::text::{Number, count, is_blank, is_space, number, run};
use crate::motion::Columns;

/// Rows that are put into the columns at once: a cache line of each column.
pub(crate) const BLOCK: usize = 8;

/// Pieces smaller than this are not worth a thread.
pub(crate) const MIN_PIECE: usize = 1 << 20;

/// Into how many pieces to cut a text.
pub(crate) fn pieces_of(data: &[u8], threads: NonZeroUsize) -> usize {
    threads.get().min(data.len() / MIN_PIECE).max(1)
}

/// What a piece holds of a column.
pub(crate) struct Part<'a> {
    values: &'a mut [f64],
    /// The largest absolute values so far, of every other one each.
    largest: [f64; LANES],
}

/// So many numbers are compared at once: a register of every machine.
const LANES: usize = 2;

impl Part<'_> {
    /// How many frames it has.
    pub(crate) fn frames(&self) -> usize {
        self.values.len()
    }

    /// The largest absolute value that was put into it.
    fn largest(&self) -> f64 {
        self.largest.into_iter().fold(0.0, larger)
    }
}

/// A table that was read, all of it finite.
#[derive(Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Columns,
    /// The largest absolute value of every column.
    pub(crate) largest: Vec<f64>,
}

impl Table {
    /// Of columns whose values nobody looked at.
    pub(crate) fn of(columns: Columns) -> Self {
        let largest = vec![f64::INFINITY; columns.columns()];
        Self { columns, largest }
    }
}

/// Reads pieces, each with its number of frames, into columns: one thread each, none if there is
/// one piece. `read` gets a piece, how many frames come before it, and its frames of every column,
/// and says whether it could fill them, by [`flush`].
pub(crate) fn read_pieces(
    pieces: &[(&[u8], usize)],
    columns: usize,
    frames: usize,
    read: impl Fn(&[u8], usize, &mut [Part<'_>]) -> bool + Sync,
) -> Option<Table> {
    if pieces.iter().map(|(_, frames)| frames).sum::<usize>() != frames {
        return None;
    }
    let mut table = Columns::zeros(columns, frames);
    let mut largest = vec![0.0; columns];
    let mut parts: Vec<Vec<Part<'_>>> = pieces.iter().map(|_| Vec::new()).collect();
    for mut column in table.all_mut() {
        for (part, &(_, count)) in parts.iter_mut().zip(pieces) {
            let (values, rest) = column.split_at_mut(count);
            part.push(Part { values, largest: [0.0; LANES] });
            column = rest;
        }
    }
    let fill = |piece: &[u8], before: usize, mut part: Vec<Part<'_>>| -> Option<Vec<f64>> {
        read(piece, before, &mut part).then(|| part.iter().map(Part::largest).collect())
    };
    let all_read: Vec<Option<Vec<f64>>> = std::thread::scope(|scope| {
        let mut parts = parts.into_iter().zip(pieces);
        let (own, &(piece, mut before)) = parts.next()?;
        let mut reading = Vec::with_capacity(pieces.len());
        for (part, &(piece, frames)) in parts {
            let (fill, first) = (&fill, before);
            reading.push(scope.spawn(move || fill(piece, first, part)));
            before += frames;
        }
        // The first is read here.
        let own = fill(piece, 0, own);
        let others = reading.into_iter().map(|thread| thread.join().unwrap_or(None));
        Some(std::iter::once(own).chain(others).collect())
    })?;
    for part in all_read {
        largest.iter_mut().zip(part?).for_each(|(all, one)| *all = larger(*all, one));
    }
    Some(Table { columns: table, largest })
}

/// The larger of two, neither of which is NaN: one instruction, for several numbers at once.
#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// Puts the rows of a block into the columns, from frame `start` on.
#[inline]
pub(crate) fn flush<'a>(
    block: impl IntoIterator<Item = &'a [f64; BLOCK]>,
    columns: &mut [Part<'_>],
    start: usize,
    rows: usize,
) {
    for (column, values) in columns.iter_mut().zip(block) {
        let to = &mut column.values[start..start + rows];
        // A whole block is one store of a cache line, not a call to copy bytes.
        match <&mut [f64; BLOCK]>::try_from(&mut *to) {
            Ok(whole) => *whole = *values,
            Err(_) => to.copy_from_slice(&values[..rows]),
        }
        // What a block that is not full has from before was counted before.
        for pair in values.as_chunks::<LANES>().0 {
            for (largest, value) in column.largest.iter_mut().zip(pair) {
                *largest = larger(*largest, value.abs());
            }
        }
    }
}

/// How many LF there are.
pub(crate) fn line_ends(data: &[u8]) -> usize {
    count(data, |b| b == b'\n')
}

/// Behind blanks and line ends.
#[inline]
pub(crate) fn skip_space(piece: &[u8], at: usize) -> usize {
    let space = |at: usize| piece.get(at).is_some_and(|b| is_space(*b));
    if !space(at) {
        at
    } else if !space(at + 1) {
        at + 1
    } else {
        at + run(&piece[at..], is_space)
    }
}

/// The end of the line, if nothing but blanks is before it. A lone CR ends no line here.
#[inline]
pub(crate) fn line_end(piece: &[u8], at: usize) -> Option<usize> {
    if piece.get(at) == Some(&b'\n') {
        return Some(at);
    }
    let at = at + run(&piece[at..], is_blank);
    match piece[at..] {
        [] | [b'\n', ..] | [b'\r'] | [b'\r', b'\n', ..] => Some(at),
        _ => None,
    }
}

/// A number of the usual form or any other; `None` for what is none or not finite.
#[inline]
pub(crate) fn value(piece: &[u8], at: usize) -> Option<(f64, usize)> {
    decimal(piece, at).or_else(|| odd_value(piece, at))
}

/// A number behind a blank, which nearly always is one.
#[inline(always)]
#[allow(clippy::inline_always, reason = "the whole cost of reading a file is here")]
pub(crate) fn value_after_blank(piece: &[u8], mut at: usize) -> Option<(f64, usize)> {
    at += usize::from(piece.get(at) == Some(&b' '));
    decimal(piece, at).or_else(|| value_after_blanks(piece, at))
}

#[inline(never)]
fn odd_value(piece: &[u8], at: usize) -> Option<(f64, usize)> {
    match number(&piece[at..])? {
        Number::Finite(value, n) => {
            let ends = piece.get(at + n).is_none_or(|b| is_space(*b) || matches!(b, b'-' | b'+'));
            ends.then_some((value, at + n))
        }
        Number::NotFinite(_) => None,
    }
}

#[inline(never)]
fn value_after_blanks(piece: &[u8], at: usize) -> Option<(f64, usize)> {
    odd_value(piece, at + run(&piece[at..], is_blank))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_counted_in_blocks_of_any_length() {
        for n in [0, 1, 254, 255, 256, 1000] {
            assert_eq!(line_ends(&vec![b'\n'; n]), n);
            assert_eq!(line_ends(&vec![b'x'; n]), 0);
        }
    }
}
