//! Frames of an AMC, the usual kind: every frame has the same bones in the same order, and frame
//! numbers count up by one.
//!
//! As with BVH, anything unusual makes this reader give up, and the careful one in
//! [`amc`](super::amc) starts again and says what it is and where.

use std::num::NonZeroUsize;

use crate::formats::rows::{self, BLOCK, Part, Table};
use crate::formats::text::{is_space, run};

/// A bone's line in every frame.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The name it begins with.
    pub(super) name: Vec<u8>,
    /// Its first column; the others follow.
    pub(super) first: usize,
    /// How many values it has.
    pub(super) count: usize,
    /// The first eight bytes of the name as a number, and which of its bits count.
    word: u64,
    mask: u64,
}

impl Line {
    pub(super) fn new(name: &[u8], first: usize, count: usize) -> Self {
        let mut eight = [0; 8];
        let n = name.len().min(8);
        eight[..n].copy_from_slice(&name[..n]);
        let mask = if n == 8 { u64::MAX } else { (1 << (8 * n)) - 1 };
        Self { name: name.to_vec(), first, count, word: u64::from_le_bytes(eight), mask }
    }

    /// Whether the text begins with this name.
    #[inline]
    fn begins(&self, text: &[u8]) -> bool {
        match text.first_chunk() {
            // Nearly every name has no more than eight letters: one comparison of a register.
            Some(eight) => {
                u64::from_le_bytes(*eight) & self.mask == self.word
                    && (self.name.len() <= 8 || text.starts_with(&self.name))
            }
            None => text.starts_with(&self.name),
        }
    }
}

/// The frames as columns, if all are usual. `data` begins at the first frame's number.
pub(super) fn usual_frames(
    data: &[u8],
    lines: &[Line],
    columns: usize,
    first_number: u64,
    threads: NonZeroUsize,
) -> Option<Table> {
    let data = data.trim_ascii_end();
    let per_frame = lines.len() + 1;
    let ends = rows::line_ends(data) + 1;
    // With a line for each column at least, a frame takes more bytes than it has values.
    if !ends.is_multiple_of(per_frame) || columns == 0 || lines.is_empty() {
        return None;
    }
    let frames = ends / per_frame;
    if frames.checked_mul(columns)? > data.len() {
        return None;
    }
    let read = |piece: &[u8], before: usize, columns: &mut [Part<'_>]| {
        let first = first_number.checked_add(before as u64);
        first.is_some_and(|number| read_piece(piece, lines, number, columns))
    };
    let pieces = match rows::pieces_of(data, threads) {
        1 => vec![(data, frames)],
        n => pieces(data, per_frame, n),
    };
    rows::read_pieces(&pieces, columns, frames, read)
}

/// The data in so many pieces, cut before frame numbers, each with its number of frames.
fn pieces(data: &[u8], per_frame: usize, n: usize) -> Vec<(&[u8], usize)> {
    let mut pieces = Vec::with_capacity(n);
    let mut from = 0;
    for i in 1..n {
        let mut at = (data.len() / n * i).max(from);
        let mut lines = rows::line_ends(&data[from..at]);
        // On to the end of a frame's last line.
        while let Some(line) = data[at..].iter().position(|b| *b == b'\n') {
            at += line + 1;
            lines += 1;
            if lines.is_multiple_of(per_frame) {
                pieces.push((&data[from..at], lines / per_frame));
                from = at;
                break;
            }
        }
    }
    pieces.push((&data[from..], (rows::line_ends(&data[from..]) + 1) / per_frame));
    pieces
}

/// Fills the columns with as many frames; whether that is what there is.
fn read_piece(piece: &[u8], lines: &[Line], number: u64, columns: &mut [Part<'_>]) -> bool {
    let frames = columns.first().map_or(0, Part::frames);
    let mut block = vec![[0.0; BLOCK]; columns.len()];
    let mut at = 0;
    let mut number = number;
    for start in (0..frames).step_by(BLOCK) {
        let rows = BLOCK.min(frames - start);
        for row in 0..rows {
            match read_frame(piece, at, lines, number, &mut block, row) {
                Some(end) => at = end,
                None => return false,
            }
            number = number.saturating_add(1);
        }
        rows::flush(&block, columns, start, rows);
    }
    run(&piece[at..], is_space) == piece.len() - at
}

/// One frame; gives where it ends.
fn read_frame(
    piece: &[u8],
    from: usize,
    lines: &[Line],
    number: u64,
    block: &mut [[f64; BLOCK]],
    row: usize,
) -> Option<usize> {
    let row = row % BLOCK;
    let mut at = rows::skip_space(piece, from);
    let mut found = 0_u64;
    let digits = at;
    while let Some(b) = piece.get(at).filter(|b| b.is_ascii_digit()) {
        found = found.checked_mul(10)?.checked_add(u64::from(b - b'0'))?;
        at += 1;
    }
    if found != number || at == digits {
        return None;
    }
    at = rows::line_end(piece, at)?;
    for line in lines {
        at = rows::skip_space(piece, at);
        let rest = piece.get(at..)?;
        if !line.begins(rest) {
            return None;
        }
        at += line.name.len();
        // Else the name went on.
        if piece.get(at).is_some_and(|b| !is_space(*b)) {
            return None;
        }
        for to in block.get_mut(line.first..line.first + line.count)? {
            (to[row], at) = rows::value_after_blank(piece, at)?;
        }
        at = rows::line_end(piece, at)?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::motion::Columns;

    const NAMES: [(&str, usize); 3] = [("root", 6), ("a", 3), ("ab", 1)];

    fn lines() -> Vec<Line> {
        let mut first = 0;
        let line = |(name, count): (&str, usize)| {
            first += count;
            Line::new(name.as_bytes(), first - count, count)
        };
        NAMES.into_iter().map(line).collect()
    }

    fn text(frames: usize) -> String {
        let mut out = String::new();
        for f in 0..frames {
            writeln!(out, "{}", f + 5).unwrap();
            for (i, (name, count)) in NAMES.into_iter().enumerate() {
                out.push_str(name);
                for k in 0..count {
                    let v = (f * 10 + i * 3 + k) as f64 * 0.1;
                    match (f + k) % 3 {
                        0 => write!(out, " {v:.5}").unwrap(),
                        1 => write!(out, " -{v:e}").unwrap(),
                        _ => write!(out, "  {v}").unwrap(),
                    }
                }
                out.push_str(if f % 2 == 0 { "\r\n" } else { "\n" });
            }
        }
        out
    }

    fn read(text: &str, threads: usize) -> Option<Columns> {
        usual_frames(text.as_bytes(), &lines(), 10, 5, NonZeroUsize::new(threads).unwrap())
            .map(|table| table.columns)
    }

    #[test]
    fn any_number_of_threads_gives_the_same_columns() {
        let text = text(60_000);
        assert!(text.len() > 4 * rows::MIN_PIECE);
        let one = read(&text, 1).unwrap();
        assert_eq!(one.frames(), 60_000);
        assert_eq!(one.value(9, 7), -(76.0 * 0.1));
        for n in [2, 3, 4] {
            assert!(read(&text, n).unwrap() == one, "{n}");
        }
    }

    #[test]
    fn what_is_unusual_is_left_to_the_careful_reader() {
        let usual = text(4);
        assert!(read(&usual, 1).is_some());
        for (from, to) in [
            ("6\n", "7\n"),
            ("root", "toor"),
            ("\na ", "\nab "),
            ("\nab", "\na"),
            ("\nab ", "\nab1 "),
            ("\na ", "\na 1 "),
            ("\na ", "\n# a "),
            ("\na ", "\n\na "),
        ] {
            assert!(read(&usual.replacen(from, to, 1), 1).is_none(), "{from:?} {to:?}");
        }
    }
}
