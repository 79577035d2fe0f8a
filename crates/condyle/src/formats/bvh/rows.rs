//! Rows of motion, the usual kind: one line per frame, as many numbers as channels.
//!
//! This is where a large file spends its time. Lines are not counted and no position is kept:
//! anything unusual makes this reader give up, and the careful one in
//! [`read`](mod@super::read) starts again and says what it is and where. So both give the same result.

use std::num::NonZeroUsize;
use std::ops::Range;

use crate::formats::rows::{self, BLOCK, Part, Table};
use crate::formats::text::{is_space, run};
/// The rows as columns, if all are usual and as many as declared; split over threads by lines, which
/// makes no difference to the result.
pub(super) fn usual_rows(
    data: &[u8],
    channels: usize,
    declared: usize,
    threads: NonZeroUsize,
) -> Option<Table> {
    // Each value takes two bytes at least: a count that does not fit is no reason to allocate.
    if channels == 0 || declared == 0 || declared.checked_mul(channels)? > data.len().div_ceil(2) {
        return None;
    }
    let read = |piece: &[u8], _: usize, columns: &mut [Part<'_>]| read_piece(piece, columns);
    let pieces = pieces(data, rows::pieces_of(data, threads));
    if let [piece] = *pieces {
        // The count is trusted and checked by reading.
        return rows::read_pieces(&[(piece, declared)], channels, declared, read);
    }
    let count = |rows_of: fn(&[u8]) -> usize| -> Vec<usize> {
        std::thread::scope(|scope| {
            let counting: Vec<_> =
                pieces.iter().map(|piece| scope.spawn(move || rows_of(piece))).collect();
            counting.into_iter().map(|thread| thread.join().unwrap_or(0)).collect()
        })
    };
    // Every line is a row, nearly always; only if that does not come out, blank ones are looked for.
    let mut counts = count(rows::line_ends);
    if counts.iter().sum::<usize>() != declared {
        counts = count(count_rows);
    }
    let pieces: Vec<(&[u8], usize)> = pieces.into_iter().zip(counts).collect();
    rows::read_pieces(&pieces, channels, declared, read)
}

/// The data in so many pieces of about the same length, cut behind line ends.
fn pieces(data: &[u8], n: usize) -> Vec<&[u8]> {
    let mut pieces = Vec::with_capacity(n);
    let mut from = 0;
    for i in 1..n {
        let about = (data.len() / n * i).max(from);
        let Some(line) = data[about..].iter().position(|b| *b == b'\n') else { break };
        pieces.push(&data[from..=about + line]);
        from = about + line + 1;
    }
    pieces.push(&data[from..]);
    pieces
}

/// How many lines have something on them.
fn count_rows(piece: &[u8]) -> usize {
    // Nearly every line has: count line ends quickly, then take back the empty lines.
    let mut rows = 0;
    let mut line_is_empty = true;
    let mut at = 0;
    while at < piece.len() {
        let b = piece[at];
        if b == b'\n' {
            rows += usize::from(!line_is_empty);
            line_is_empty = true;
            at += 1;
        } else if is_space(b) {
            at += run(&piece[at..], |b| is_space(b) & (b != b'\n'));
        } else {
            line_is_empty = false;
            at += piece[at..].iter().position(|b| *b == b'\n').unwrap_or(piece.len() - at);
        }
    }
    rows + usize::from(!line_is_empty)
}

/// Fills the columns, which are all of one length, with as many rows; whether that is what there is.
fn read_piece(piece: &[u8], columns: &mut [Part<'_>]) -> bool {
    read_halves(piece, columns).is_some() || read_whole(piece, columns)
}

fn read_whole(piece: &[u8], columns: &mut [Part<'_>]) -> bool {
    let frames = columns.first().map_or(0, Part::frames);
    read_rows(piece, 0, columns, 0..frames).is_some_and(|end| is_blank_from(piece, end))
}

fn is_blank_from(piece: &[u8], at: usize) -> bool {
    run(&piece[at..], is_space) == piece.len() - at
}

/// The rows of these frames, one after the other; gives where the last line ends.
fn read_rows(
    piece: &[u8],
    from: usize,
    columns: &mut [Part<'_>],
    frames: Range<usize>,
) -> Option<usize> {
    let mut block = vec![[0.0; BLOCK]; columns.len()];
    let mut at = from;
    for start in frames.clone().step_by(BLOCK) {
        let rows = BLOCK.min(frames.end - start);
        for row in 0..rows {
            at = read_row(piece, at, &mut block, row)?;
        }
        rows::flush(&block, columns, start, rows);
    }
    Some(at)
}

/// The same from two places at once. Where a number begins is known only when the one before has been
/// read: a processor that waits for that in one half goes on in the other.
///
/// `None` if the piece is small, or if a half has not as many rows as lines, which says nothing about
/// the whole.
fn read_halves(piece: &[u8], columns: &mut [Part<'_>]) -> Option<()> {
    if piece.len() < rows::MIN_PIECE {
        return None;
    }
    let [a, b] = pieces(piece, 2)[..] else { return None };
    let frames = columns.first()?.frames();
    let count = rows::line_ends(a);
    let (mut of_a, mut of_b): (Vec<_>, Vec<_>) = columns
        .iter_mut()
        .map(|column| column.halves(count))
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .unzip();
    let both = count.min(frames - count);
    let mut blocks = [vec![[0.0; BLOCK]; of_a.len()], vec![[0.0; BLOCK]; of_a.len()]];
    let (mut at_a, mut at_b) = (0, 0);
    for start in (0..both).step_by(BLOCK) {
        let rows = BLOCK.min(both - start);
        for row in 0..rows {
            [at_a, at_b] = read_row_of_each([a, b], [at_a, at_b], &mut blocks, row)?;
        }
        rows::flush(&blocks[0], &mut of_a, start, rows);
        rows::flush(&blocks[1], &mut of_b, start, rows);
    }
    let end_a = read_rows(a, at_a, &mut of_a, both..count)?;
    let end_b = read_rows(b, at_b, &mut of_b, both..frames - count)?;
    let largest: Vec<_> = of_a.iter().zip(&of_b).map(|(a, b)| a.largest_with(b)).collect();
    columns.iter_mut().zip(largest).for_each(|(column, largest)| column.set_largest(largest));
    (is_blank_from(a, end_a) && is_blank_from(b, end_b)).then_some(())
}

/// One row of each block, number by number.
#[inline]
fn read_row_of_each(
    [a, b]: [&[u8]; 2],
    from: [usize; 2],
    blocks: &mut [Vec<[f64; BLOCK]>; 2],
    row: usize,
) -> Option<[usize; 2]> {
    let row = row % BLOCK;
    let [of_a, of_b] = blocks;
    let mut at_a = rows::skip_space(a, from[0]);
    let mut at_b = rows::skip_space(b, from[1]);
    let (first_a, others_a) = of_a.split_first_mut()?;
    let (first_b, others_b) = of_b.split_first_mut()?;
    (first_a[row], at_a) = rows::value(a, at_a)?;
    (first_b[row], at_b) = rows::value(b, at_b)?;
    for (to_a, to_b) in others_a.iter_mut().zip(others_b) {
        (to_a[row], at_a) = rows::value_after_blank(a, at_a)?;
        (to_b[row], at_b) = rows::value_after_blank(b, at_b)?;
    }
    Some([rows::line_end(a, at_a)?, rows::line_end(b, at_b)?])
}

/// One row of the block from the next line that has something on it; gives where its line ends.
#[inline]
fn read_row(piece: &[u8], from: usize, block: &mut [[f64; BLOCK]], row: usize) -> Option<usize> {
    let row = row % BLOCK;
    let mut at = rows::skip_space(piece, from);
    let (first, others) = block.split_first_mut()?;
    (first[row], at) = rows::value(piece, at)?;
    for to in others {
        (to[row], at) = rows::value_after_blank(piece, at)?;
    }
    // Nothing else may be on the line.
    rows::line_end(piece, at)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::formats::{ReadOptions, bvh};

    fn threads(n: usize) -> NonZeroUsize {
        NonZeroUsize::new(n).unwrap()
    }

    /// Rows with many notations, blank lines and line ends, every value its own.
    fn made_up(channels: usize, frames: usize) -> String {
        let mut text = String::new();
        for f in 0..frames {
            for c in 0..channels {
                let v = (f * channels + c) as f64 * 0.37 - 100.0;
                let written = match (f + c) % 7 {
                    0 => write!(text, "{v:.6} "),
                    1 => write!(text, "{v} "),
                    2 => write!(text, "{v:e}\t"),
                    3 => write!(text, "  {v:.1} "),
                    4 => write!(text, "+{} ", v.abs()),
                    _ => write!(text, "{v:.0} "),
                };
                written.unwrap();
            }
            text.push_str(["\n", "\r\n", " \n\n", "\n \t \r\n"][f % 4]);
        }
        text
    }

    fn document(channels: usize, frames: usize, rows: &str) -> String {
        let names = "Xrotation Yrotation Zrotation ".repeat(channels / 3);
        format!(
            "HIERARCHY\nROOT r\n{{\nOFFSET 0 0 0\nCHANNELS {channels} {names}\n}}\nMOTION\n\
             Frames: {frames}\nFrame Time: 0.01\n{rows}"
        )
    }

    #[test]
    fn the_fast_reader_and_the_careful_one_agree() {
        let (channels, frames) = (6, 200);
        let rows = made_up(channels, frames);
        let fast = usual_rows(rows.as_bytes(), channels, frames, threads(1)).unwrap();
        // Another count sends the rows through the careful reader.
        let text = document(channels, frames + 1, &rows);
        let careful = bvh::read_document(text.as_bytes(), &ReadOptions::default()).unwrap().motion;
        assert!(fast.columns == careful);
        for (column, largest) in fast.largest.iter().enumerate() {
            let expected = careful.column(column).iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            assert_eq!(*largest, expected, "{column}");
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_columns() {
        let (channels, frames) = (30, 25_000);
        let rows = made_up(channels, frames);
        assert!(rows.len() > 5 * rows::MIN_PIECE);
        let one = usual_rows(rows.as_bytes(), channels, frames, threads(1)).unwrap();
        for n in [2, 3, 5] {
            assert!(
                usual_rows(rows.as_bytes(), channels, frames, threads(n)).unwrap() == one,
                "{n}"
            );
        }
    }

    #[test]
    fn halves_give_the_same_columns_as_the_whole() {
        let channels = 12;
        for frames in [40_000, 40_001] {
            // Lines of very different lengths: halves of the text have different numbers of rows.
            let text: String = (0..frames)
                .map(|f| {
                    let digits = if f < frames / 3 { 1 } else { 6 };
                    (0..channels)
                        .map(|c| format!("{:.digits$} ", (f * c) as f64 * 0.37))
                        .collect::<String>()
                        + "\n"
                })
                .collect();
            assert!(text.len() > rows::MIN_PIECE);
            let read = |piece: fn(&[u8], &mut [Part<'_>]) -> bool| {
                let read = |text: &[u8], _: usize, columns: &mut [Part<'_>]| piece(text, columns);
                rows::read_pieces(&[(text.as_bytes(), frames)], channels, frames, read).unwrap()
            };
            let halves =
                |piece: &[u8], columns: &mut [Part<'_>]| read_halves(piece, columns).is_some();
            assert!(read(halves) == read(read_whole));
        }
        // Blank lines are no rows: the halves say nothing then, the whole does.
        let text = "1 2\n\n3 4\n".repeat(200_000);
        let read = usual_rows(text.as_bytes(), 2, 400_000, threads(1)).unwrap();
        assert_eq!(read.columns.value(1, 399_999), 4.0);
        assert_eq!(read.largest, [3.0, 4.0]);
    }

    #[test]
    fn an_error_has_the_same_place_for_any_number_of_threads() {
        let (channels, frames) = (30, 25_000);
        let mut rows = made_up(channels, frames);
        let at = rows.len() * 3 / 4;
        let at = at + rows[at..].find('\n').unwrap() + 1;
        rows.insert_str(at, "1 2 x\n");
        let text = document(channels, frames, &rows);
        let errors = [1, 2, 5].map(|n| {
            let options = ReadOptions { threads: threads(n), ..ReadOptions::default() };
            bvh::read_document(text.as_bytes(), &options).unwrap_err().to_string()
        });
        assert!(errors[0].contains("\"x\" is not a number"), "{}", errors[0]);
        assert!(errors.iter().all(|e| *e == errors[0]));
    }

    #[test]
    fn what_is_unusual_is_left_to_the_careful_reader() {
        for text in
            ["1 2\n3\n", "1 2 3\n", "1 x\n", "1 nan\n", "1 2\n", "1 2\r3 4\n", "1,5 2\n3 4\n"]
        {
            assert!(usual_rows(text.as_bytes(), 2, 2, threads(1)).is_none(), "{text:?}");
        }
        assert!(usual_rows(b"1 2\n3 4", 2, 2, threads(1)).is_some());
        assert!(usual_rows(b"1 2\n3 4\n", 2, usize::MAX, threads(1)).is_none());
    }

    #[test]
    fn rows_are_counted_without_blank_lines() {
        for (text, rows) in [("", 0), ("\n\n", 0), ("1\n2\n", 2), ("1\n \t\r\n2", 2), ("\n 1", 1)] {
            assert_eq!(count_rows(text.as_bytes()), rows, "{text:?}");
        }
    }
}
