//! Shares of wrong answers over the margin.

use condyle::math::Rotation;

use super::Trial;
use super::methods::Judge;

/// The margins in degrees with which a model allows poses, sorted.
#[derive(Clone, Debug)]
pub(crate) struct Scores {
    /// Of the subject's own frames.
    real: Vec<f64>,
    /// Of the implausible poses of each kind.
    poses: [Vec<f64>; 3],
}

impl Scores {
    pub(crate) fn new(judge: &Judge, real: &[Rotation], poses: &[Vec<Rotation>; 3]) -> Self {
        let ask = |of: &[Rotation]| {
            let mut scores: Vec<f64> = of.iter().map(|q| judge(*q)).collect();
            scores.sort_unstable_by(f64::total_cmp);
            scores
        };
        Self { real: ask(real), poses: [0, 1, 2].map(|k| ask(&poses[k])) }
    }

    /// The share of the subject's own frames outside.
    pub(crate) fn rejects(&self, margin: f64) -> f64 {
        allowed(&self.real, margin, 1).map_or(0.0, |inside| 1.0 - inside)
    }
}

/// A share of fewer poses than this is not counted: it would weigh as much as one of hundreds.
pub(crate) const FEW: usize = 30;

/// The share that is allowed with a margin; `None` of too few.
fn allowed(sorted: &[f64], margin: f64, few: usize) -> Option<f64> {
    let count = sorted.partition_point(|score| *score <= margin);
    (sorted.len() >= few.max(1)).then(|| count as f64 / sorted.len() as f64)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), v| (sum + v, n + 1.0));
    (n > 0.0).then(|| sum / n)
}

/// The shares of wrong answers with one margin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Degrees.
    pub(crate) margin: f64,
    /// Of real frames outside: each joint of each subject counts the same.
    pub(crate) rejects: f64,
    /// Of implausible poses inside, by kind: each joint of each subject that has such poses counts the
    /// same. Not a number if none has.
    pub(crate) kinds: [f64; 3],
    /// The mean of the kinds that there are.
    pub(crate) accepts: f64,
}

/// Margins from −60 to 180 degrees.
const STEPS: i32 = 2400;

/// The curve of one model over some trials, of shares of at least so many poses.
pub(crate) fn curve<'a>(
    trials: &(impl Iterator<Item = &'a Trial> + Clone),
    model: usize,
    few: usize,
) -> Vec<Point> {
    (0..=STEPS)
        .map(|step| {
            let margin = -60.0 + 0.1 * f64::from(step);
            let scores = || trials.clone().map(|t| &t.scores[model]);
            let inside = mean(scores().filter_map(|s| allowed(&s.real, margin, few)));
            let kinds = [0, 1, 2].map(|k| {
                mean(scores().filter_map(|s| allowed(&s.poses[k], margin, few))).unwrap_or(f64::NAN)
            });
            let accepts = mean(kinds.iter().copied().filter(|k| !k.is_nan()));
            Point {
                margin,
                rejects: 1.0 - inside.unwrap_or(1.0),
                kinds,
                accepts: accepts.unwrap_or(f64::NAN),
            }
        })
        .collect()
}

/// Where a curve has a share of false rejects, linear between its points. `None` if it never has so
/// many, or so few.
pub(crate) fn at(curve: &[Point], rejects: f64) -> Option<Point> {
    let next = curve.iter().position(|p| p.rejects <= rejects)?;
    let [a, b] = [curve.get(next.checked_sub(1)?)?, curve.get(next)?];
    let t =
        if a.rejects > b.rejects { (a.rejects - rejects) / (a.rejects - b.rejects) } else { 1.0 };
    let mix = |a: f64, b: f64| a + t * (b - a);
    Some(Point {
        margin: mix(a.margin, b.margin),
        rejects,
        kinds: [0, 1, 2].map(|k| mix(a.kinds[k], b.kinds[k])),
        accepts: mix(a.accepts, b.accepts),
    })
}
