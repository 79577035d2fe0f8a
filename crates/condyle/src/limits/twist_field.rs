//! The range of twist at every direction of the bone.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::triangulation::{Cell, MAX_DIRECTIONS, Tied, Triangulation, Weights};
use super::{LimitError, LimitErrorKind, TwistAt, TwistBounds, TwistLimit, TwistOffset};
use crate::math::{Angle, Arc, SwingAxes, direct_rotation, trig, unit};

/// A [`TwistLimit`] prepared for questions (B8, B9).
///
/// Directions of the bone are unit vectors by their components along x, y and the bone of the
/// [`SwingAxes`]; twist is relative to the direct swing, with the offset already in.
///
/// # Convention
///
/// Arcs by swing are interpolated as two numbers, `min` and `max`, over the spherical triangulation
/// of their directions (see [`Triangulation`]). An arc is the same when both ends move by whole turns;
/// each is moved so that its centre is nearest to that of the first arc given that is not full. So
/// 170° … 200° and −170° … −150° meet the short way, at 180° … 205°. A full arc is centred there.
/// Offsets are moved to the turn nearest to the first.
///
/// Outside of the given directions the range is that of the nearest point of their border. Where parts
/// of the border are equally near it jumps between their ranges, and each of these is allowed: the
/// rotations that are allowed are a closed set, in which there is a nearest. So are they where the parts
/// are equally near to [`TIE`], so that a rotation that was clamped is still allowed when it comes back
/// from a file. [`TwistField::range`] has the range of the first of them.
#[derive(Clone, Debug)]
pub(crate) struct TwistField {
    bounds: Bounds,
    offset: Offset,
    /// How much more than the direction an end of the range changes at most.
    steepest: f64,
}

/// What the bounds and the offset of a direction are interpolated between, where they are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TwistCells {
    bounds: Option<Cell>,
    offset: Option<Cell>,
}

/// A part of an end of the range while the bone is in some [`TwistCells`]: the quotient of its products with
/// two vectors, as long as those with the others are not negative.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TwistQuotient {
    pub(crate) over: DVec3,
    pub(crate) under: DVec3,
    pub(crate) within: [DVec3; 3],
}

/// An end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TwistEnd {
    Min,
    Max,
}

/// The twists from `min` to `max`, in radians: `min ≤ max ≤ min + 2π`, anywhere on the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TwistRange {
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// A range, and how its ends change with the direction: vectors perpendicular to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TwistRangeGradient {
    pub(crate) range: TwistRange,
    /// Of the lower end.
    pub(crate) min: DVec3,
    /// Of the upper end.
    pub(crate) max: DVec3,
}

/// Whether the range at a direction is the only one that may hold there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Doubt {
    /// Outside of the given directions, where the range jumps between parts of their border.
    jumps: bool,
    /// Rounding of the direction may lead to another range: there, and where zero twist is singular.
    pub(crate) rounding: bool,
}

#[derive(Clone, Debug)]
enum Bounds {
    Free,
    Constant(TwistRange),
    BySwing(Triangulation, Vec<TwistRange>),
}

#[derive(Clone, Debug)]
enum Offset {
    None,
    BySwing(Triangulation, Vec<f64>),
    From(InducedFrom),
}

/// Radians. Parts of the border are equally near if their distances differ by no more than this: sixty
/// times what six decimals of a degree round. What is clamped goes by half of it.
const TIE: f64 = 1e-6;

/// Rounding of an angle within a few turns, and of the turn that is added to compare it: 16 ulps of
/// 2π.
pub(super) const ROUNDING: f64 = 16.0 * 8.881_784_197_001_252e-16;

impl TwistField {
    /// # Errors
    ///
    /// Paths are `arc`, `at` and `at[3]` for the bounds, `offset.at`, `offset.at[3]` and `offset.from`
    /// for the offset: directions that are zero or not finite, arcs that are empty, angles that are not
    /// finite, empty lists, and lists of more than 10 000.
    pub(crate) fn new(limit: &TwistLimit, axes: &SwingAxes) -> Result<Self, LimitError> {
        let bounds = match &limit.bounds {
            TwistBounds::Free => Bounds::Free,
            TwistBounds::Arc(arc) => {
                if arc.is_empty() {
                    return Err(LimitError::new(LimitErrorKind::EmptyArc).within("arc"));
                }
                if arc.is_full() { Bounds::Free } else { Bounds::Constant(TwistRange::of(*arc)) }
            }
            TwistBounds::BySwing(at) => bounds_by_swing(at, axes)?,
        };
        let offset = match &limit.offset {
            TwistOffset::None => Offset::None,
            TwistOffset::BySwing(at) => {
                offset_by_swing(at, axes).map_err(|e| e.within("offset"))?
            }
            TwistOffset::From(from) => Offset::From(
                InducedFrom::new(*from, axes).map_err(|e| e.within("from").within("offset"))?,
            ),
        };
        let of_bounds = match &bounds {
            Bounds::Free | Bounds::Constant(_) => 0.0,
            Bounds::BySwing(triangulation, ranges) => {
                let low = triangulation.steepest(|i| ranges[i].min);
                low.max(triangulation.steepest(|i| ranges[i].max))
            }
        };
        let of_offset = match &offset {
            Offset::None | Offset::From(_) => 0.0,
            Offset::BySwing(triangulation, angles) => triangulation.steepest(|i| angles[i]),
        };
        Ok(Self { bounds, offset, steepest: of_bounds + of_offset })
    }

    /// Whether the range is the same everywhere.
    pub(crate) const fn is_constant(&self) -> bool {
        match self.bounds {
            Bounds::Free => true,
            Bounds::Constant(_) => matches!(self.offset, Offset::None),
            Bounds::BySwing(..) => false,
        }
    }

    /// The range, where it is the same everywhere and zero is that of the direct swing.
    pub(crate) fn plain(&self) -> Option<TwistRange> {
        match (&self.bounds, &self.offset) {
            (Bounds::Free, _) => Some(TwistRange::FULL),
            (Bounds::Constant(range), Offset::None) => Some(*range),
            _ => None,
        }
    }

    /// The range, where it is the same everywhere and zero is that of the direct swing from a direction.
    pub(crate) fn plain_from(&self) -> Option<(TwistRange, DVec3)> {
        match (&self.bounds, &self.offset) {
            (Bounds::Constant(range), Offset::From(induced)) if !induced.backwards => {
                Some((*range, induced.from))
            }
            _ => None,
        }
    }

    /// Whether the ends of the range are quotients of products with the direction, in cells.
    pub(crate) const fn is_in_cells(&self) -> bool {
        match (&self.bounds, &self.offset) {
            (Bounds::Free, _) | (_, Offset::From(_)) => false,
            (Bounds::Constant(_), Offset::None) => false,
            (Bounds::Constant(_) | Bounds::BySwing(..), Offset::None | Offset::BySwing(..)) => true,
        }
    }

    /// The range of a direction, and the cells that it is in.
    pub(crate) fn range_and_cells(&self, d: DVec3) -> (TwistRange, TwistCells) {
        let mut cells = TwistCells::default();
        let range = match &self.bounds {
            Bounds::Free => return (TwistRange::FULL, cells),
            Bounds::Constant(range) => *range,
            Bounds::BySwing(triangulation, ranges) => {
                let (weights, cell) = triangulation.weights_and_cell(d);
                cells.bounds = Some(cell);
                interpolated(&weights, ranges)
            }
        };
        let offset = match &self.offset {
            Offset::BySwing(triangulation, angles) => {
                let (weights, cell) = triangulation.weights_and_cell(d);
                cells.offset = Some(cell);
                weighted(&weights, angles)
            }
            Offset::None | Offset::From(_) => self.offset(d),
        };
        (range.shifted(offset), cells)
    }

    /// The parts of an end of the range that change with the direction in some cells.
    pub(crate) fn quotients(
        &self,
        cells: &TwistCells,
        end: TwistEnd,
    ) -> [Option<TwistQuotient>; 2] {
        fn quotient(
            triangulation: &Triangulation,
            cell: Option<Cell>,
            value: impl Fn(usize) -> f64,
        ) -> Option<TwistQuotient> {
            let (corners, within) = triangulation.duals(cell?)?;
            let parts = corners.into_iter().zip(within);
            let over = parts.map(|(corner, g)| value(corner as usize) * g).sum();
            Some(TwistQuotient { over, under: within.into_iter().sum(), within })
        }
        let of_bounds = match &self.bounds {
            Bounds::BySwing(triangulation, ranges) => {
                quotient(triangulation, cells.bounds, |i| match end {
                    TwistEnd::Min => ranges[i].min,
                    TwistEnd::Max => ranges[i].max,
                })
            }
            _ => None,
        };
        let of_offset = match &self.offset {
            Offset::BySwing(triangulation, angles) => {
                quotient(triangulation, cells.offset, |i| angles[i])
            }
            _ => None,
        };
        [of_bounds, of_offset]
    }

    /// How much more than the direction an end of the range changes at most, but for jumps and singular
    /// directions.
    pub(crate) const fn steepest(&self) -> f64 {
        self.steepest
    }

    /// How wide the range is, where that is the same everywhere.
    pub(crate) fn constant_width(&self) -> Option<f64> {
        match &self.bounds {
            Bounds::Free => Some(TAU),
            Bounds::Constant(range) => Some(range.width()),
            Bounds::BySwing(..) => None,
        }
    }

    /// The directions at which ranges are given, if they are.
    pub(crate) fn directions(&self) -> &[DVec3] {
        match &self.bounds {
            Bounds::BySwing(triangulation, _) => triangulation.directions(),
            _ => &[],
        }
    }

    /// The twists allowed where the bone points to `d`. Not wrapped; [`TwistRange::FULL`] if all are.
    ///
    /// A direction that is not finite gets the first arc and the first offset.
    pub(crate) fn range(&self, d: DVec3) -> TwistRange {
        let range = match &self.bounds {
            Bounds::Free => return TwistRange::FULL,
            Bounds::Constant(range) => *range,
            Bounds::BySwing(triangulation, ranges) => {
                interpolated(&triangulation.weights(d), ranges)
            }
        };
        range.shifted(self.offset(d))
    }

    /// The range, and whether another one may hold right beside `d`.
    pub(crate) fn range_and_doubt(&self, d: DVec3) -> (TwistRange, Doubt) {
        let (range, mut jumps) = match &self.bounds {
            Bounds::Free => return (TwistRange::FULL, Doubt::default()),
            Bounds::Constant(range) => (*range, false),
            Bounds::BySwing(triangulation, ranges) => {
                let (weights, outside) = triangulation.weights_and_whether_outside(d);
                (interpolated(&weights, ranges), outside)
            }
        };
        let offset = match &self.offset {
            Offset::BySwing(triangulation, angles) => {
                let (weights, outside) = triangulation.weights_and_whether_outside(d);
                jumps |= outside;
                weighted(&weights, angles)
            }
            Offset::None | Offset::From(_) => self.offset(d),
        };
        let rounding = jumps || !matches!(self.offset, Offset::None);
        (range.shifted(offset), Doubt { jumps, rounding })
    }

    /// Calls `visit` with the ranges of all parts of the border of the given directions that are equally
    /// near to `d`, where that [jumps](Doubt::jumps).
    fn tied_ranges(&self, d: DVec3, within: f64, visit: &mut dyn FnMut(TwistRange)) {
        let mut of_bounds = |[low, high]: [f64; 2]| {
            let mut moved = |range: TwistRange| {
                visit(TwistRange { min: range.min + low, max: range.max + high }.shifted(0.0));
            };
            match &self.bounds {
                Bounds::Free => moved(TwistRange::FULL),
                Bounds::Constant(range) => moved(*range),
                Bounds::BySwing(triangulation, ranges) => {
                    for_each_tied(triangulation, d, within, &mut |tied| {
                        moved(match tied {
                            Tied::At(weights) => interpolated(&weights, ranges),
                            Tied::Between(ends) => {
                                let [a, b] = ends.map(|i| ranges[i as usize]);
                                TwistRange { min: a.min.min(b.min), max: a.max.max(b.max) }
                            }
                        });
                    });
                }
            }
        };
        match &self.offset {
            Offset::None => of_bounds([0.0; 2]),
            Offset::From(induced) => of_bounds([induced.twist(d); 2]),
            Offset::BySwing(triangulation, angles) => {
                for_each_tied(triangulation, d, within, &mut |tied| {
                    of_bounds(match tied {
                        Tied::At(weights) => [weighted(&weights, angles); 2],
                        Tied::Between(ends) => {
                            let [a, b] = ends.map(|i| angles[i as usize]);
                            [a.min(b), a.max(b)]
                        }
                    });
                });
            }
        }
    }

    /// How far `twist` is inside of the range at `d`, negative outside: see [`TwistRange::margin`]. Where
    /// the range jumps it is that of the range in which it is deepest.
    pub(crate) fn margin(&self, d: DVec3, twist: f64) -> f64 {
        let (range, doubt) = self.range_and_doubt(d);
        self.margin_in(range, doubt, d, twist)
    }

    /// The same with what is known of `d`.
    fn margin_in(&self, range: TwistRange, doubt: Doubt, d: DVec3, twist: f64) -> f64 {
        let mut margin = range.margin(twist);
        if doubt.jumps && margin < 0.0 {
            let mut deeper = |range: TwistRange| margin = margin.max(range.margin(twist));
            self.tied_ranges(d, TIE, &mut deeper);
        }
        margin
    }

    /// The allowed twist at `d` that is nearest to one that is more than `slack` outside, `None` if it is
    /// not; and whether rounding of the direction may lead to another range.
    pub(crate) fn clamp_beyond(&self, d: DVec3, twist: f64, slack: f64) -> (Option<f64>, bool) {
        let (range, doubt) = self.range_and_doubt(d);
        let rounding = doubt.rounding;
        let Some(mut end) = range.clamp_beyond(twist, slack) else { return (None, rounding) };
        if doubt.jumps {
            if self.margin_in(range, doubt, d, twist) >= -slack {
                return (None, rounding);
            }
            let mut least = -range.margin(twist);
            let mut nearer = |range: TwistRange| {
                let away = -range.margin(twist);
                if away < least {
                    (least, end) = (away, range.clamp(twist));
                }
            };
            self.tied_ranges(d, 0.5 * TIE, &mut nearer);
        }
        (Some(end), rounding)
    }

    /// How far the rounding of a direction moves zero twist, where that is singular; infinite at the
    /// singularity itself, where every twist is as good.
    pub(crate) fn blur(&self, d: DVec3) -> f64 {
        match &self.offset {
            Offset::From(induced) => {
                let [p, q] = induced.arguments(d);
                // The arguments have gradients of at most 2, the angle is twice that of (q, p).
                16.0 * f64::EPSILON / trig::length(p, q)
            }
            _ => 0.0,
        }
    }

    /// The range and its gradient: zero where it is constant, and that of one side where it jumps.
    pub(crate) fn range_with_gradient(&self, d: DVec3) -> TwistRangeGradient {
        let (mut min, mut max) = (DVec3::ZERO, DVec3::ZERO);
        let range = match &self.bounds {
            Bounds::Free => return TwistRangeGradient { range: TwistRange::FULL, min, max },
            Bounds::Constant(range) => *range,
            Bounds::BySwing(triangulation, ranges) => {
                let (at, gradients) = triangulation.weights_with_gradient(d);
                for (corner, gradient) in at.corners.into_iter().zip(gradients) {
                    min += ranges[corner as usize].min * gradient;
                    max += ranges[corner as usize].max * gradient;
                }
                interpolated(&at, ranges)
            }
        };
        let (offset, turn) = self.offset_with_gradient(d);
        TwistRangeGradient { range: range.shifted(offset), min: min + turn, max: max + turn }
    }

    /// The twist nearest to `twist` on the circle in the range of [`range`](Self::range). See
    /// [`TwistRange::clamp`].
    pub(crate) fn clamp(&self, d: DVec3, twist: f64) -> f64 {
        self.range(d).clamp(twist)
    }

    /// Zero twist at `d`, relative to the direct swing.
    pub(crate) fn offset(&self, d: DVec3) -> f64 {
        match &self.offset {
            Offset::None => 0.0,
            Offset::BySwing(triangulation, angles) => weighted(&triangulation.weights(d), angles),
            Offset::From(induced) => induced.twist(d),
        }
    }

    fn offset_with_gradient(&self, d: DVec3) -> (f64, DVec3) {
        match &self.offset {
            Offset::None => (0.0, DVec3::ZERO),
            Offset::BySwing(triangulation, angles) => {
                let (at, gradients) = triangulation.weights_with_gradient(d);
                let parts = at.corners.into_iter().zip(gradients);
                let gradient = parts.map(|(corner, g)| angles[corner as usize] * g).sum();
                (weighted(&at, angles), gradient)
            }
            Offset::From(induced) => (induced.twist(d), induced.gradient(d)),
        }
    }
}

/// The parts of the border that are equally near to `d`, or where it is if that is inside.
fn for_each_tied(
    triangulation: &Triangulation,
    d: DVec3,
    within: f64,
    visit: &mut dyn FnMut(Tied),
) {
    let (weights, outside) = triangulation.weights_and_whether_outside(d);
    if outside {
        triangulation.tied(d, within, visit);
    } else {
        visit(Tied::At(weights));
    }
}

fn weighted(at: &Weights, values: &[f64]) -> f64 {
    let [a, b, c] = at.corners.map(|i| values[i as usize]);
    let [p, q, r] = at.weights;
    p * a + q * b + r * c
}

fn interpolated(at: &Weights, ranges: &[TwistRange]) -> TwistRange {
    let [a, b, c] = at.corners.map(|i| ranges[i as usize]);
    let [p, q, r] = at.weights;
    TwistRange { min: p * a.min + q * b.min + r * c.min, max: p * a.max + q * b.max + r * c.max }
}

impl TwistCells {
    /// Whether the range may jump on the way from these to others: outside of triangles.
    pub(crate) fn may_jump_to(&self, other: &Self) -> bool {
        let jump = |a: Option<Cell>, b: Option<Cell>| {
            let inside = |cell| matches!(cell, None | Some(Cell::Facet(_)));
            a != b && !(inside(a) && inside(b))
        };
        jump(self.bounds, other.bounds) || jump(self.offset, other.offset)
    }
}

impl TwistRange {
    /// Every twist.
    pub(crate) const FULL: Self = Self { min: -PI, max: PI };

    fn of(arc: Arc) -> Self {
        Self { min: arc.min().radians(), max: arc.max().radians() }
    }

    pub(crate) fn width(self) -> f64 {
        self.max - self.min
    }

    /// Moved by `turn`, and put in order: rounding must not turn the ends around, or make more than a
    /// turn of them.
    pub(super) fn shifted(self, turn: f64) -> Self {
        let (min, max) = (self.min + turn, self.max + turn);
        Self { min, max: max.max(min).min(min + TAU) }
    }

    /// Its ends, moved by whole turns into (−π, π].
    pub(super) fn wrapped_ends(self) -> [f64; 2] {
        [self.min, self.max].map(wrapped)
    }

    pub(crate) fn is_full(self) -> bool {
        self.max - self.min >= TAU - ROUNDING
    }

    /// The twist inside that is nearest to `twist` on the circle.
    ///
    /// A twist inside comes back unchanged, bit for bit, also when it is some turns away. An end comes
    /// back in `(-π, π]`. In the middle of the gap both ends are equally near, to 16 ulps of a turn:
    /// then it is the one of smaller absolute value, or `min` if these are equal too. What is not
    /// finite comes back as it is.
    pub(crate) fn clamp(self, twist: f64) -> f64 {
        self.clamp_beyond(twist, 0.0).unwrap_or(twist)
    }

    /// [`clamp`](Self::clamp), but `None` if the twist is inside or not farther outside than `slack`.
    pub(crate) fn clamp_beyond(self, twist: f64, slack: f64) -> Option<f64> {
        let above = self.outside(twist)?;
        let (min, max) = (wrapped(self.min), wrapped(self.max));
        let (past_max, before_min) = (above - (self.max - self.min), TAU - above);
        if past_max.min(before_min) <= slack {
            return None;
        }
        let nearer_max = if (past_max - before_min).abs() <= ROUNDING {
            max.abs() < min.abs() - ROUNDING
        } else {
            past_max < before_min
        };
        Some(if nearer_max { max } else { min })
    }

    /// The distance to the nearest end on the circle: positive inside, negative outside, π if every
    /// twist is inside. NaN for a twist that is not finite.
    pub(crate) fn margin(self, twist: f64) -> f64 {
        if !twist.is_finite() {
            return f64::NAN;
        }
        if self.is_full() {
            return PI;
        }
        let width = self.max - self.min;
        if let Some(above) = self.outside(twist) {
            return -(above - width).min(TAU - above);
        }
        let above = if twist >= self.min && twist <= self.max {
            twist - self.min
        } else {
            turn_part(twist - self.min)
        };
        above.min(width - above).max(0.0)
    }

    /// How far above `min` the twist is, in `[0, 2π)`, or `None` if it is inside or not finite.
    fn outside(self, twist: f64) -> Option<f64> {
        let inside = twist >= self.min && twist <= self.max;
        if inside || self.is_full() || !twist.is_finite() {
            return None;
        }
        let above = turn_part(twist - self.min);
        (above > self.max - self.min + ROUNDING && above < TAU - ROUNDING).then_some(above)
    }
}

/// Moved by whole turns into `[0, 2π]`.
fn turn_part(radians: f64) -> f64 {
    // The remainder of less than two turns, without a division.
    if radians.abs() < 2.0 * TAU {
        let part = if radians.abs() < TAU { radians } else { radians - TAU.copysign(radians) };
        return if part < 0.0 { part + TAU } else { part };
    }
    let part = radians % TAU;
    if part < 0.0 { part + TAU } else { part }
}

fn wrapped(radians: f64) -> f64 {
    Angle::from_radians(radians).wrapped().radians()
}

/// `angle`, moved by whole turns to where it is nearest to `reference`.
fn turned_near(angle: f64, reference: f64) -> f64 {
    angle + TAU * ((reference - angle) / TAU).round()
}

fn bounds_by_swing(at: &[TwistAt], axes: &SwingAxes) -> Result<Bounds, LimitError> {
    let triangulation = triangulation(at.iter().map(|at| at.direction), axes)?;
    if let Some(index) = at.iter().position(|at| at.arc.is_empty()) {
        let path = format!("at[{index}]");
        return Err(LimitError::new(LimitErrorKind::EmptyArc).within(path));
    }
    let centre = |range: TwistRange| range.min + 0.5 * (range.max - range.min);
    let Some(first) = at.iter().find(|at| !at.arc.is_full()) else {
        return Ok(Bounds::Free);
    };
    let reference = centre(TwistRange::of(first.arc));
    let ranges = at.iter().map(|at| {
        if at.arc.is_full() {
            return TwistRange { min: reference - PI, max: reference + PI };
        }
        let range = TwistRange::of(at.arc);
        let moved = centre(range);
        range.shifted(turned_near(moved, reference) - moved)
    });
    Ok(Bounds::BySwing(triangulation, ranges.collect()))
}

fn offset_by_swing(at: &[(DVec3, Angle)], axes: &SwingAxes) -> Result<Offset, LimitError> {
    let triangulation = triangulation(at.iter().map(|at| at.0), axes)?;
    if let Some(index) = at.iter().position(|at| !at.1.radians().is_finite()) {
        let kind = LimitErrorKind::BadAngle { expected: "finite" };
        return Err(LimitError::new(kind).within(format!("at[{index}]")));
    }
    let angles: Vec<f64> = at.iter().map(|at| wrapped(at.1.radians())).collect();
    let first = angles.first().copied().unwrap_or(0.0);
    let angles = angles.into_iter().map(|a| turned_near(a, first)).collect();
    Ok(Offset::BySwing(triangulation, angles))
}

fn triangulation(
    directions: impl ExactSizeIterator<Item = DVec3>,
    axes: &SwingAxes,
) -> Result<Triangulation, LimitError> {
    let error = |kind| LimitError::new(kind);
    if directions.len() > MAX_DIRECTIONS {
        return Err(error(LimitErrorKind::TooLarge).within("at"));
    }
    let mut components = Vec::with_capacity(directions.len());
    for (index, direction) in directions.enumerate() {
        let in_axes = unit(direction).and_then(|d| unit(axes.components(d)));
        components
            .push(in_axes.ok_or_else(|| {
                error(LimitErrorKind::NoDirection).within(format!("at[{index}]"))
            })?);
    }
    Triangulation::new(&components).ok_or_else(|| error(LimitErrorKind::EmptyList).within("at"))
}

/// The twist, relative to the direct swing, of the direct swing that starts from `c`:
/// `R_D(c, d) · R_D(z, c) = R_D(z, d) · R_z(τ)`.
///
/// # Source
///
/// P. Baerlocher, R. Boulic, "Parametrization and range of motion of the ball-and-socket joint"
/// (2001), section 2.6: the twist induced by the walk z → c → d → z, which is the signed area of that
/// spherical triangle. By A. Van Oosterom and J. Strackee, "The solid angle of a plane triangle"
/// (1983),
///
/// ```text
///   τ = 2 atan2( z · (c × d),  1 + z·c + c·d + d·z )
///   ∇τ = 2 (Q ∇P − P ∇Q) / (P² + Q²),   ∇P = z × c,  ∇Q = z + c
/// ```
///
/// with P and Q the arguments of atan2, and what is along d taken off the gradient.
///
/// # Convention
///
/// As in B11 with column vectors: z → x → y gives +π/2. In `[-2π, 2π]`, not wrapped.
///
/// # Domain and singularity
///
/// Both arguments vanish at `d = −c` and at `d = −z`. Near the first we use s = c + d, near the second
/// s = z + d, where the formula reads
///
/// ```text
///   P = z · (c × s),  Q = s·s/2 + z·s          P = z · (c × s),  Q = s·s/2 + c·s
/// ```
///
/// without cancellation. At these directions themselves τ is 0, and so is the gradient. For c = −z,
/// where P and Q vanish everywhere, [`direct_rotation`] starts with half a turn about x, and
/// `τ = 2 atan2(d_x, −d_y)`: the limit for c = (0, −ε, −1).
#[derive(Clone, Copy, Debug)]
struct InducedFrom {
    from: DVec3,
    /// `from` is −z.
    backwards: bool,
}

impl InducedFrom {
    fn new(from: DVec3, axes: &SwingAxes) -> Result<Self, LimitError> {
        let error = || LimitError::new(LimitErrorKind::NoDirection);
        let from = unit(from).and_then(|c| unit(axes.components(c))).ok_or_else(error)?;
        let backwards = direct_rotation(DVec3::Z, from).ok_or_else(error)?.opposite;
        Ok(Self { from, backwards })
    }

    fn twist(&self, d: DVec3) -> f64 {
        let [p, q] = self.arguments(d);
        if (p == 0.0 && q == 0.0) || !(p.is_finite() && q.is_finite()) {
            return 0.0;
        }
        2.0 * trig::atan2(p, q)
    }

    fn gradient(&self, d: DVec3) -> DVec3 {
        let [p, q] = self.arguments(d);
        let c = self.from;
        let [by_p, by_q] = if self.backwards {
            [DVec3::X, DVec3::NEG_Y]
        } else {
            [DVec3::Z.cross(c), DVec3::Z + c]
        };
        let gradient = (q * by_p - p * by_q) * (2.0 / (p * p + q * q));
        let across = gradient - d * d.dot(gradient);
        if across.is_finite() { across } else { DVec3::ZERO }
    }

    /// P and Q.
    fn arguments(&self, d: DVec3) -> [f64; 2] {
        if self.backwards {
            return [d.x, -d.y];
        }
        let c = self.from;
        let (s, along) = if c.dot(d) <= d.z { (c + d, DVec3::Z) } else { (DVec3::Z + d, c) };
        // z · (c × s): both sums differ from d by a vector in the plane of z and c.
        [c.x * s.y - c.y * s.x, 0.5 * s.dot(s) + along.dot(s)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Rotation, SwingTwist, arbitrary, induced_twist};
    use crate::synth::Rng;

    const Z: &SwingAxes = &SwingAxes::Z;

    fn degrees(min: f64, max: f64) -> Arc {
        Arc::from_degrees(min, max).unwrap()
    }

    fn field(bounds: TwistBounds, offset: TwistOffset) -> TwistField {
        TwistField::new(&TwistLimit { bounds, offset }, Z).unwrap()
    }

    fn by_swing(at: &[(DVec3, Arc)]) -> TwistBounds {
        let at = at.iter().map(|&(direction, arc)| TwistAt { direction, arc });
        TwistBounds::BySwing(at.collect())
    }

    /// The distance of two angles on the circle.
    fn apart(a: f64, b: f64) -> f64 {
        wrapped(a - b).abs()
    }

    fn random_field(rng: &mut Rng) -> TwistField {
        let count = 1 + rng.below(12);
        let arc = |rng: &mut Rng| {
            if rng.chance(0.1) {
                return Arc::FULL;
            }
            let min = rng.between(-4.0, 4.0);
            let max = min + if rng.chance(0.2) { 0.0 } else { rng.between(0.0, 6.0) };
            Arc::new(Angle::from_radians(min), Angle::from_radians(max)).unwrap()
        };
        let bounds = match rng.below(6) {
            0 => TwistBounds::Free,
            1 => TwistBounds::Arc(arc(rng)),
            _ => by_swing(&(0..count).map(|_| (rng.direction(), arc(rng))).collect::<Vec<_>>()),
        };
        let offset = match rng.below(3) {
            0 => TwistOffset::None,
            1 => TwistOffset::From(rng.direction() * 3.0),
            _ => {
                let angle = |rng: &mut Rng| Angle::from_radians(rng.between(-9.0, 9.0));
                TwistOffset::BySwing((0..count).map(|_| (rng.direction(), angle(rng))).collect())
            }
        };
        field(bounds, offset)
    }

    /// B9: at the given directions the given arcs, and between two of them the mean.
    #[test]
    fn b9_given_arcs_come_back_and_meet_in_between() {
        let (x, y, z) = (DVec3::X, DVec3::Y, DVec3::Z);
        let arcs = [degrees(-30.0, 40.0), degrees(-10.0, 80.0), degrees(0.0, 0.0)];
        let f = field(by_swing(&[(x, arcs[0]), (y, arcs[1]), (z, arcs[2])]), TwistOffset::None);
        for (d, arc) in [x, y, z].into_iter().zip(arcs) {
            assert_eq!(f.range(d), TwistRange::of(arc));
        }
        let between = f.range((x + y).normalize());
        assert!((between.min.to_degrees() + 20.0).abs() < 1e-13);
        assert!((between.max.to_degrees() - 60.0).abs() < 1e-13);
        // Opposite to the middle of the triangle some edge or corner is nearest.
        let behind = f.range(DVec3::splat(-1.0).normalize());
        assert!(behind.min >= arcs[0].min().radians() && behind.max <= arcs[1].max().radians());
    }

    #[test]
    fn b9_arcs_on_both_sides_of_half_a_turn_meet_the_short_way() {
        let at = [(DVec3::X, degrees(170.0, 200.0)), (DVec3::Y, degrees(-170.0, -150.0))];
        let range = field(by_swing(&at), TwistOffset::None).range(DVec3::new(0.6, 0.6, 0.1));
        assert!((range.min.to_degrees() - 180.0).abs() < 1e-12, "{range:?}");
        assert!((range.max.to_degrees() - 205.0).abs() < 1e-12, "{range:?}");
    }

    #[test]
    fn b9_a_full_arc_widens_its_neighbours_evenly() {
        let at = [(DVec3::X, Arc::FULL), (DVec3::Y, degrees(90.0, 100.0))];
        let f = field(by_swing(&at), TwistOffset::None);
        let range = f.range(DVec3::new(0.5, 0.5, 0.0).normalize());
        assert!((range.min.to_degrees() - 2.5).abs() < 1e-12, "{range:?}");
        assert!((range.max.to_degrees() - 187.5).abs() < 1e-12, "{range:?}");
        assert_eq!(f.margin(DVec3::X, 2.0), PI);
        let free = field(by_swing(&[(DVec3::X, Arc::FULL)]), TwistOffset::None);
        assert_eq!(free.range(DVec3::Y), TwistRange::FULL);
    }

    #[test]
    fn b8_offsets_move_the_range() {
        let at = |x: f64, y: f64| {
            let angles = [(DVec3::X, Angle::from_degrees(x)), (DVec3::Y, Angle::from_degrees(y))];
            field(TwistBounds::Arc(degrees(-10.0, 10.0)), TwistOffset::BySwing(angles.to_vec()))
        };
        let middle = (DVec3::X + DVec3::Y).normalize();
        for (x, y, expected) in [(20.0, 40.0, 30.0), (170.0, -170.0, 180.0), (-380.0, 10.0, -5.0)] {
            let range = at(x, y).range(middle);
            assert!((range.min.to_degrees() - expected + 10.0).abs() < 1e-12, "{range:?}");
            assert!((range.max.to_degrees() - expected - 10.0).abs() < 1e-12, "{range:?}");
        }
    }

    /// In other axes: the same directions are meant.
    #[test]
    fn directions_are_those_of_the_space_of_the_axes() {
        let axes = SwingAxes::new(DVec3::X, Some(DVec3::Y)).unwrap();
        let at = [(DVec3::X, degrees(0.0, 1.0)), (DVec3::Y * 5.0, degrees(0.0, 3.0))];
        let limit = TwistLimit { bounds: by_swing(&at), offset: TwistOffset::None };
        let f = TwistField::new(&limit, &axes).unwrap();
        assert_eq!(f.range(DVec3::Z).max, 1_f64.to_radians());
        assert_eq!(f.range(DVec3::X).max, 3_f64.to_radians());
    }

    /// B8 and B11, by quaternions: the zero twist of the offset is that of the rotation it is made of.
    /// Near the singular directions, where a twist is ill-conditioned, by 2ε over the distance.
    #[test]
    fn prop_b8_an_offset_from_a_direction_is_the_twist_of_two_direct_swings() {
        arbtest::arbtest(|u| {
            let (c, d) = (arbitrary::direction(u)?, arbitrary::direction(u)?);
            let axes = SwingAxes::new(arbitrary::direction(u)?, None)
                .ok_or(::arbitrary::Error::IncorrectFormat)?;
            let bone = axes.bone();
            let limit = TwistLimit { bounds: TwistBounds::Free, offset: TwistOffset::From(c) };
            let got = TwistField::new(&limit, &axes).unwrap().offset(axes.components(d));
            assert!(got.is_finite());
            let near = (c + d).length().min((bone + d).length()).min((bone + c).length());
            if near < 1e-6 {
                return Ok(());
            }
            let direct = |a, b| direct_rotation(a, b).unwrap().rotation;
            let zero = direct(c, d) * direct(bone, c);
            let expected = SwingTwist::from_rotation(zero, &axes).twist.radians();
            let error = apart(got, expected);
            assert!(error < 1e-14 / near, "{c} {d} {bone}: {got} {expected}");
            let induced = induced_twist(bone, &[c, d]).unwrap().twist.radians();
            assert!(apart(got, induced) < 1e-14 / near, "{c} {d} {bone}: {got} {induced}");
            Ok(())
        });
    }

    #[test]
    fn b11_the_offset_from_x_at_y_is_a_positive_quarter_turn() {
        let f = field(TwistBounds::Free, TwistOffset::From(DVec3::X));
        assert!((f.offset(DVec3::Y) - 0.5 * PI).abs() < 1e-15);
        assert_eq!(f.offset(DVec3::NEG_X), 0.0);
        assert_eq!(f.offset(DVec3::NEG_Z), 0.0);
        assert_eq!(f.offset(DVec3::NAN), 0.0);
    }

    /// B8: from −bone the first swing is half a turn about x.
    #[test]
    fn an_offset_from_behind_follows_the_choice_of_the_half_turn() {
        let mut rng = Rng::new(1);
        let f = field(TwistBounds::Free, TwistOffset::From(DVec3::NEG_Z));
        for _ in 0..200 {
            let d = rng.direction();
            let zero = direct_rotation(DVec3::NEG_Z, d).unwrap().rotation
                * Rotation::about_x(Angle::HALF_TURN);
            let expected = SwingTwist::from_rotation(zero, Z).twist.radians();
            assert!(apart(f.offset(d), expected) < 1e-12, "{d}");
        }
    }

    /// Finite differences, relative to the gradient; where an edge is crossed there is none.
    #[test]
    fn prop_gradients_are_those_of_finite_differences() {
        let mut rng = Rng::new(2);
        let mut compared = 0;
        for _ in 0..20_000 {
            let f = random_field(&mut rng);
            let d = rng.direction();
            let got = f.range_with_gradient(d);
            assert_eq!(got.range, f.range(d));
            let across = rng.perpendicular(d);
            let size = got.min.length().max(got.max.length()).max(1.0);
            assert!(got.min.dot(d).abs() < 1e-12 * size && got.max.dot(d).abs() < 1e-12 * size);
            let quotients = |step: f64| {
                let at = |s: f64| f.range(unit(d + across * s).unwrap());
                let (ahead, behind) = (at(step), at(-step));
                [(ahead.min - behind.min) / (2.0 * step), (ahead.max - behind.max) / (2.0 * step)]
            };
            let step = 3e-5 / size;
            let (near, far) = (quotients(step), quotients(2.0 * step));
            let expected = [got.min.dot(across), got.max.dot(across)];
            // A kink within the step shows as a difference between the two one-sided slopes.
            let here = f.range(d);
            let ahead = f.range(unit(d + across * 2.0 * step).unwrap());
            let one_sided = (ahead.min - here.min) / (2.0 * step);
            let kink = (one_sided - far[0]).abs() > 1e-3 * size
                || (near[0] - far[0]).abs() > 1e-3 * size
                || (near[1] - far[1]).abs() > 1e-3 * size;
            if kink {
                continue;
            }
            compared += 1;
            for k in 0..2 {
                // Richardson: the error of the plain quotient goes with the square of the step.
                let quotient = (4.0 * near[k] - far[k]) / 3.0;
                let error = (quotient - expected[k]).abs();
                assert!(error < 1e-6 * size, "{d} {f:?}: {quotient} {}", expected[k]);
            }
        }
        assert!(compared > 19_000, "{compared}");
    }

    /// B9: nothing on the circle that is inside is nearer, by trying.
    #[test]
    fn prop_clamped_twists_are_inside_and_nearest() {
        let mut rng = Rng::new(3);
        for _ in 0..20_000 {
            let f = random_field(&mut rng);
            let d = rng.direction();
            let range = f.range(d);
            assert!(range.min <= range.max && range.max <= range.min + TAU, "{range:?}");
            let twist = match rng.below(4) {
                0 => range.min,
                1 => range.max + TAU,
                _ => rng.between(-10.0, 10.0),
            };
            let (clamped, margin) = (f.clamp(d, twist), f.margin(d, twist));
            assert_eq!(f.clamp(d, clamped).to_bits(), clamped.to_bits(), "{range:?} {twist}");
            assert!(f.margin(d, clamped) >= 0.0);
            let moved = apart(clamped, twist);
            let samples = (0..=100).map(|i| f64::from(i) / 100.0);
            let samples = samples.map(|s| range.min + s * (range.max - range.min));
            let nearest = samples.map(|t| apart(t, twist)).fold(f64::INFINITY, f64::min);
            assert!(moved <= nearest + 1e-13, "{range:?} {twist} {clamped}");
            if margin >= 0.0 {
                assert_eq!(clamped.to_bits(), twist.to_bits(), "{range:?}");
                let ends = apart(range.min, twist).min(apart(range.max, twist));
                assert!(range.is_full() || (margin - ends).abs() < 1e-13);
            } else {
                assert!((margin + moved).abs() < 1e-13, "{range:?} {twist} {margin}");
                assert!((-PI..=PI).contains(&clamped));
                // Brute force the other way: all of the samples are as far as the margin says.
                assert!(nearest >= -margin - 1e-13);
            }
        }
    }

    #[test]
    fn in_the_middle_of_the_gap_the_smaller_end_is_taken() {
        let clamp = |min: f64, max: f64, twist: f64| {
            let range = TwistRange { min: min.to_radians(), max: max.to_radians() };
            range.clamp(twist.to_radians()).to_degrees()
        };
        assert!((clamp(-20.0, 60.0, -160.0) + 20.0).abs() < 1e-12);
        assert!((clamp(-60.0, 20.0, 160.0) - 20.0).abs() < 1e-12);
        assert!((clamp(-30.0, 30.0, 180.0) + 30.0).abs() < 1e-12);
        assert!((clamp(-30.0, 30.0, -180.0) + 30.0).abs() < 1e-12);
        // Ends beyond half a turn come back wrapped.
        assert!((clamp(170.0, 200.0, -150.0) + 160.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_finite_becomes_nan() {
        let mut rng = Rng::new(4);
        let special = [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX, 1e-320];
        for _ in 0..5_000 {
            let f = random_field(&mut rng);
            let mut pick = || special[rng.below(special.len())];
            let d = DVec3::new(pick(), pick(), pick());
            for twist in [0.0, 3.0, -1e300, f64::MAX] {
                assert!(f.clamp(d, twist).is_finite(), "{d} {f:?}");
                assert!(f.margin(d, twist).is_finite(), "{d} {f:?}");
            }
            for twist in [f64::NAN, f64::INFINITY] {
                assert_eq!(f.clamp(d, twist).to_bits(), twist.to_bits());
                assert!(f.margin(d, twist).is_nan());
            }
            let gradient = f.range_with_gradient(d);
            assert!(gradient.min.is_finite() && gradient.max.is_finite(), "{d} {f:?}");
        }
    }

    #[test]
    fn errors_say_where() {
        let check = |bounds, offset, path: &str, kind: LimitErrorKind| {
            let error = TwistField::new(&TwistLimit { bounds, offset }, Z).unwrap_err();
            assert_eq!((error.path(), error.kind()), (path, &kind));
        };
        let good = (DVec3::X, Arc::FULL);
        let list = |bad: (DVec3, Arc)| by_swing(&[good, good, good, bad]);
        let none = || TwistOffset::None;
        let angle = Angle::ZERO;
        check(TwistBounds::Arc(Arc::EMPTY), none(), "arc", LimitErrorKind::EmptyArc);
        check(by_swing(&[]), none(), "at", LimitErrorKind::EmptyList);
        for bad in [DVec3::ZERO, DVec3::NAN, DVec3::INFINITY] {
            check(list((bad, Arc::FULL)), none(), "at[3]", LimitErrorKind::NoDirection);
            let offset = TwistOffset::BySwing(vec![(DVec3::X, angle), (bad, angle)]);
            check(TwistBounds::Free, offset, "offset.at[1]", LimitErrorKind::NoDirection);
            let from = TwistOffset::From(bad);
            check(TwistBounds::Free, from, "offset.from", LimitErrorKind::NoDirection);
        }
        check(list((DVec3::X, Arc::EMPTY)), none(), "at[3]", LimitErrorKind::EmptyArc);
        let empty = TwistOffset::BySwing(Vec::new());
        check(TwistBounds::Free, empty, "offset.at", LimitErrorKind::EmptyList);
        let bad = TwistOffset::BySwing(vec![(DVec3::X, Angle::from_radians(f64::NAN))]);
        let kind = LimitErrorKind::BadAngle { expected: "finite" };
        check(TwistBounds::Free, bad, "offset.at[0]", kind);
        let many = by_swing(&vec![good; MAX_DIRECTIONS + 1]);
        check(many, none(), "at", LimitErrorKind::TooLarge);
    }
}
