//! Angles that nobody means.

use super::error::WarningKind;
use super::rows::Table;

/// Degrees. Almost three thousand turns one way: an hour of pirouettes has fewer.
const FAR: f64 = 1e6;

/// The first of the angles that nobody means.
pub(super) struct FarTurn {
    pub(super) frame: usize,
    pub(super) column: usize,
    pub(super) kind: WarningKind,
}

/// Looks for such angles in the columns that are turns, of a unit of so many degrees.
pub(super) fn far_turn(
    table: &Table,
    turns: impl Iterator<Item = usize>,
    unit_deg: f64,
) -> Option<FarTurn> {
    let far = FAR / unit_deg;
    let is_far = |x: &f64| x.abs() > far;
    let mut first: Option<(usize, usize)> = None;
    let mut count = 0_u64;
    let motion = &table.columns;
    for column in turns.filter(|column| table.largest[*column] > far) {
        let values = motion.column(column);
        count += values.iter().filter(|x| is_far(x)).count() as u64;
        if let Some(frame) = values.iter().position(is_far) {
            first = Some(first.map_or((frame, column), |f| f.min((frame, column))));
        }
    }
    let (frame, column) = first?;
    let degrees = motion.column(column)[frame] * unit_deg;
    Some(FarTurn { frame, column, kind: WarningKind::FarTurn { degrees, more: count - 1 } })
}
