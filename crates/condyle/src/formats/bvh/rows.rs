//! Rows of motion, the usual kind: one line per frame, as many numbers as channels.
//!
//! This is where a large file spends its time. Lines are not counted and no position is kept:
//! anything unusual makes this reader give up, and the careful one in
//! [`read`](mod@super::read) starts again and says what it is and where. So both give the same result.

use std::num::NonZeroUsize;

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
    let mut rows = Rows::of(columns);
    rows.by_windows(piece).is_some() || rows.one_by_one(piece).is_some()
}

/// Lines are counted over so many bytes: they stay in the second-level cache until they are read.
const WINDOW: usize = 1 << 17;

/// Rows are read from so many places at once. Where a number begins is known only when the one before
/// has been read: a processor that waits for that in one place goes on in the other.
const PLACES: usize = 2;

/// Where reading goes on, and in which frame.
#[derive(Clone, Copy)]
struct Place {
    at: usize,
    frame: usize,
}

/// A piece is read into these columns.
struct Rows<'a, 'b> {
    columns: &'a mut [Part<'b>],
    /// Rows from each place on their way into the columns.
    block: Vec<[[f64; BLOCK]; PLACES]>,
}

impl<'a, 'b> Rows<'a, 'b> {
    fn of(columns: &'a mut [Part<'b>]) -> Self {
        Self { block: vec![[[0.0; BLOCK]; PLACES]; columns.len()], columns }
    }

    fn frames(&self) -> usize {
        self.columns.first().map_or(0, Part::frames)
    }

    /// The lines of a window, and as many that follow it at the same time, and so on. `None` if a window
    /// has not as many rows as lines, which says nothing about the piece.
    fn by_windows(&mut self, piece: &[u8]) -> Option<()> {
        let mut place = Place { at: 0, frame: 0 };
        while let Some(window) = piece[place.at..].get(..WINDOW) {
            let rows = rows::line_ends(window);
            if rows == 0 || self.frames() - place.frame < PLACES * rows {
                break;
            }
            let behind = place.at + window.iter().rposition(|b| *b == b'\n')? + 1;
            let second = Place { at: behind, frame: place.frame + rows };
            let [first, next] = self.read(piece, [place, second], rows)?;
            if !is_blank_between(piece, first.at, behind) {
                return None;
            }
            // The end of its last line is not counted again.
            place = Place { at: rows::skip_space(piece, next.at), ..next };
        }
        let [last] = self.read(piece, [place], self.frames() - place.frame)?;
        is_blank_between(piece, last.at, piece.len()).then_some(())
    }

    fn one_by_one(&mut self, piece: &[u8]) -> Option<()> {
        let [end] = self.read(piece, [Place { at: 0, frame: 0 }], self.frames())?;
        is_blank_between(piece, end.at, piece.len()).then_some(())
    }

    /// So many rows from each place; gives where they end.
    fn read<const N: usize>(
        &mut self,
        piece: &[u8],
        from: [Place; N],
        rows: usize,
    ) -> Option<[Place; N]> {
        let mut at = from.map(|place| place.at);
        for start in (0..rows).step_by(BLOCK) {
            let rows = BLOCK.min(rows - start);
            for row in 0..rows {
                at = read_row(piece, at, &mut self.block, row)?;
            }
            for (k, from) in from.iter().enumerate() {
                let block = self.block.iter().map(|parts| &parts[k]);
                rows::flush(block, self.columns, from.frame + start, rows);
            }
        }
        Some(std::array::from_fn(|k| Place { at: at[k], frame: from[k].frame + rows }))
    }
}

fn is_blank_between(piece: &[u8], at: usize, end: usize) -> bool {
    piece.get(at..end).is_some_and(|rest| run(rest, is_space) == rest.len())
}

/// One row from every place, number by number, from the next line that has something on it; gives
/// where the lines end.
#[inline(always)]
#[allow(clippy::inline_always, reason = "places are to stay in registers")]
#[allow(clippy::needless_range_loop, reason = "the same place of several arrays")]
fn read_row<const N: usize>(
    piece: &[u8],
    from: [usize; N],
    block: &mut [[[f64; BLOCK]; PLACES]],
    row: usize,
) -> Option<[usize; N]> {
    let row = row % BLOCK;
    let mut at = from;
    let (first, others) = block.split_first_mut()?;
    for k in 0..N {
        (first[k][row], at[k]) = rows::value(piece, rows::skip_space(piece, at[k]))?;
    }
    for to in others {
        for k in 0..N {
            (to[k][row], at[k]) = rows::value_after_blank(piece, at[k])?;
        }
    }
    // Nothing else may be on the line.
    for k in 0..N {
        at[k] = rows::line_end(piece, at[k])?;
    }
    Some(at)
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
    fn windows_give_the_same_columns_as_one_row_after_the_other() {
        for frames in [1, 7, 8, 40_000, 40_001] {
            // Lines of very different lengths.
            let text: String = (0..frames)
                .map(|f| {
                    let digits = if f < frames / 3 { 1 } else { 6 };
                    (0..12)
                        .map(|c| format!("{:.digits$} ", (f * c) as f64 * 0.37))
                        .collect::<String>()
                        + ["\n", "\r\n"][f / 20_000 % 2]
                })
                .collect();
            for text in [text.as_str(), text.trim_end()] {
                let pieces = [(text.as_bytes(), frames)];
                let by_windows = rows::read_pieces(&pieces, 12, frames, |text, _, columns| {
                    Rows::of(columns).by_windows(text).is_some()
                });
                let one_by_one = rows::read_pieces(&pieces, 12, frames, |text, _, columns| {
                    Rows::of(columns).one_by_one(text).is_some()
                });
                assert!(by_windows.unwrap() == one_by_one.unwrap());
            }
        }
        // Blank lines are no rows: windows say nothing then, one row after the other does.
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
