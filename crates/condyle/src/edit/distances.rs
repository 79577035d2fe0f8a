//! The distances of all windows of two clips, as data for a picture.

use std::ops::Range;

use super::features::LANES;
use super::search::starts_in;
use super::window::{Measure, Plan};
use super::{Features, MatchError, Query};

/// Distances of windows of two clips.
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceMatrix {
    /// The first frame of each row's window.
    pub a_frames: Vec<usize>,
    /// The first frame of each column's window.
    pub b_frames: Vec<usize>,
    /// Row by row, in degrees or metres: see [`Query`].
    pub distances: Vec<f64>,
}

impl DistanceMatrix {
    /// One distance.
    ///
    /// # Panics
    ///
    /// If there is no such row or column.
    #[must_use]
    pub fn distance(&self, row: usize, column: usize) -> f64 {
        assert!(column < self.b_frames.len(), "column {column} of {}", self.b_frames.len());
        self.distances[row * self.b_frames.len() + column]
    }
}

/// The distances of windows of `query`'s clip that start in `a_starts` from those of `b` that start in
/// `b_starts`. Where there are more than `size` (rows, columns) of them, so many are taken evenly from the
/// first to the last: each number is the distance of two windows, not of any around them. The length of
/// the windows and the weights are those of the query; where it starts does not matter.
///
/// # Errors
///
/// If the clips cannot be compared, or a range has no window.
pub fn distance_matrix(
    query: &Query<'_>,
    a_starts: Range<usize>,
    b: &Features,
    b_starts: Range<usize>,
    size: (usize, usize),
) -> Result<DistanceMatrix, MatchError> {
    let window = query.frames().len();
    let frames = |clip: &Features, starts: &Range<usize>, most: usize| {
        let starts = starts_in(clip, window, starts);
        if starts.is_empty() {
            return Err(MatchError::TooShort { window, frames: clip.frame_count() });
        }
        Ok(spread(starts, most))
    };
    let a_frames = frames(query.features(), &a_starts, size.0)?;
    let b_frames = frames(b, &b_starts, size.1)?;
    let plan = Plan::new(query, b)?;
    let (mut sums, mut across) = (vec![[0.0; LANES]; a_frames.len()], Vec::new());
    let mut distances = vec![0.0; a_frames.len() * b_frames.len()];
    for (i, starts) in b_frames.chunks(LANES).enumerate() {
        // What is missing in the last group is some window of it again.
        let mut lanes = [starts[0]; LANES];
        lanes[..starts.len()].copy_from_slice(starts);
        let windows = (&a_frames[..], &lanes);
        plan.table(Measure::Exact, windows, f64::INFINITY, (&mut sums, &mut across));
        for (row, sums) in distances.chunks_exact_mut(b_frames.len()).zip(&sums) {
            for (to, sum) in row[i * LANES..].iter_mut().zip(sums) {
                *to = query.reported(*sum);
            }
        }
    }
    Ok(DistanceMatrix { a_frames, b_frames, distances })
}

/// All of a range, or `most` of it, evenly from the first to the last.
fn spread(range: Range<usize>, most: usize) -> Vec<usize> {
    let (count, last) = (range.len(), range.len() - 1);
    if count <= most {
        return range.collect();
    }
    match most {
        0 => Vec::new(),
        1 => vec![range.start],
        // In 64 bits everywhere: a product of two counts of frames fits.
        _ => (0..most)
            .map(|i| i as u64 * last as u64 / (most as u64 - 1))
            .map(|i| range.start + usize::try_from(i).unwrap_or(last))
            .collect(),
    }
}
