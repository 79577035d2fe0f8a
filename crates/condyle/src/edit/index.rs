//! What a clip's numbers do over every few frames: made once, it shortens many searches.

use std::ops::Range;

/// Frames whose numbers are summed up as one range.
const FRAMES: usize = 32;

/// The least and the greatest of each column over every few frames.
#[derive(Clone, Debug)]
pub(super) struct Index {
    /// From column to column.
    stride: usize,
    least: Vec<f64>,
    greatest: Vec<f64>,
}

impl Index {
    pub(super) fn new<'a>(frames: usize, columns: impl Iterator<Item = &'a [f64]>) -> Self {
        let stride = frames.div_ceil(FRAMES);
        let (mut least, mut greatest) = (Vec::new(), Vec::new());
        for chunk in columns.flat_map(|column| column.chunks(FRAMES)) {
            least.push(chunk.iter().copied().fold(f64::INFINITY, f64::min));
            greatest.push(chunk.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        }
        Self { stride, least, greatest }
    }

    /// A range that holds the numbers of a column in these frames, of which there is one at least.
    pub(super) fn range(&self, column: usize, frames: &Range<usize>) -> [f64; 2] {
        let chunks = column * self.stride + frames.start / FRAMES
            ..column * self.stride + frames.end.div_ceil(FRAMES);
        let lesser = |a: f64, b: &f64| if *b < a { *b } else { a };
        let greater = |a: f64, b: &f64| if *b > a { *b } else { a };
        [
            self.least[chunks.clone()].iter().fold(f64::INFINITY, lesser),
            self.greatest[chunks].iter().fold(f64::NEG_INFINITY, greater),
        ]
    }
}
