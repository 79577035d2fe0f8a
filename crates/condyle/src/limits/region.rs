//! A region of directions, prepared: what is inside, and the boundary as pieces of curves.

#![allow(
    clippy::inline_always,
    reason = "a call costs as much as the answer: a direction goes through memory on the way"
)]

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DMat3, DVec3};

use super::curve::{
    CircleArc, Curve, CustomArc, EllipseArc, Few, Foot, GreatArc, great_foot_jacobian, root_across,
    value_of,
};
use super::edges::{Edges, Part};
use super::ellipse::{Ellipse, direction_of};
use super::polygon::Polygon;
use super::{LimitError, LimitErrorKind, SwingLimit, SwingShape, TOLERANCE};
use crate::math::{Angle, Arc, SwingAxes, trig, unit};

/// A region of directions with its boundary. Directions have components along x, y and the bone.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    inside: Inside,
    /// The great arcs of the boundary, which most boundaries are made of.
    edges: std::sync::Arc<Edges>,
    /// The rest of it, each piece with a ball around it.
    curves: Vec<(Curve, DVec3, f64)>,
}

/// What is inside.
#[derive(Clone, Debug)]
enum Inside {
    Everything,
    Ellipse(Ellipse),
    Polygon(Box<Polygon>),
    /// Longitude about x from z towards −y, and latitude towards x.
    Rectangle(Rectangle),
    Custom(std::sync::Arc<dyn SwingShape>),
    All(Vec<Inside>),
    Any(Vec<Inside>),
    Not(Box<Inside>),
    Grown(Box<Region>, f64),
}

/// What loops over many directions work with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tables<'a> {
    Everything,
    /// Of few edges.
    Polygon(&'a Polygon),
    /// With an angle from the bone.
    Circle(Ellipse, f64),
}

#[derive(Clone, Copy, Debug)]
struct Rectangle {
    longitude: Arc,
    latitude: [f64; 2],
}

/// The nearest point of a boundary, and the piece that it is on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    pub(crate) foot: Foot,
    piece: Piece,
}

#[derive(Clone, Copy, Debug)]
enum Piece {
    Great(usize),
    Curve(usize),
}

/// Shapes within shapes, at most.
const MAX_DEPTH: usize = 32;

/// Pieces of a boundary, at most.
const MAX_PIECES: usize = 100_000;

/// The work of preparing a limit, at most. A unit is about a nanosecond.
const MAX_WORK: u64 = 1_500_000_000;

/// What is left of [`MAX_WORK`]. It is counted, not timed, so that the same limits are refused
/// everywhere.
struct Work(u64);

impl Work {
    fn spend(&mut self, units: u64) -> Result<(), LimitError> {
        let left = self.0.checked_sub(units);
        self.0 = left.ok_or_else(|| LimitError::new(LimitErrorKind::TooLarge))?;
        Ok(())
    }
}

/// How far to either side of a boundary it is looked whether that is inside.
const ASIDE: f64 = 1e-7;

impl Region {
    /// Prepares a limit.
    pub(crate) fn new(limit: &SwingLimit, axes: &SwingAxes) -> Result<Self, LimitError> {
        let (inside, curves) = lower(limit, axes, 0, &mut Work(MAX_WORK))?;
        Self::from_parts(inside, &curves)
    }

    fn from_parts(inside: Inside, curves: &[Curve]) -> Result<Self, LimitError> {
        if curves.len() > MAX_PIECES {
            return Err(LimitError::new(LimitErrorKind::TooLarge));
        }
        let arc = |c: &Curve| if let Curve::Great(g) = c { Some((g.from, g.to)) } else { None };
        let edges = match &inside {
            Inside::Polygon(polygon) => polygon.edges().clone(),
            _ => Edges::new(&curves.iter().filter_map(arc).collect::<Vec<_>>()).into(),
        };
        let others = curves
            .iter()
            .filter(|c| !matches!(c, Curve::Great(_)))
            .map(|c| {
                let (center, radius) = c.bounds();
                (c.clone(), center, radius)
            })
            .collect();
        let region = Self { inside, edges, curves: others };
        // Without a boundary it is all or nothing, as `settled` has seen to.
        if curves.is_empty() && !region.contains(DVec3::Z) {
            return Err(LimitError::new(LimitErrorKind::EmptyRegion));
        }
        Ok(region)
    }

    /// Whether all of its boundary is in [`edges`](Self::edges).
    pub(crate) fn is_polygon(&self) -> bool {
        self.curves.is_empty()
    }

    /// What to ask about many directions with, if it has a form for that.
    pub(super) fn tables(&self) -> Option<Tables<'_>> {
        match &self.inside {
            Inside::Everything if self.curves.is_empty() && self.edges.len() == 0 => {
                Some(Tables::Everything)
            }
            Inside::Polygon(polygon)
                if self.curves.is_empty() && polygon.edges().few().is_some() =>
            {
                Some(Tables::Polygon(polygon))
            }
            Inside::Ellipse(ellipse) if self.edges.len() == 0 => match &self.curves[..] {
                [(Curve::Circle(circle), ..)] => {
                    circle.whole().map(|radius| Tables::Circle(*ellipse, radius))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The same region with great arcs between points of its boundary where that is curved, which are off it
    /// by an angle at most. What is inside is asked of the shape itself.
    pub(crate) fn with_chords(&self, off: f64) -> Self {
        if self.is_polygon() {
            return self.clone();
        }
        let chords = self.curves.iter().flat_map(|(curve, ..)| curve.chords(off));
        let edges = Edges::new(&self.edges.iter().chain(chords).collect::<Vec<_>>());
        Self { inside: self.inside.clone(), edges: edges.into(), curves: Vec::new() }
    }

    /// The great arcs of the boundary.
    pub(crate) fn edges(&self) -> &Edges {
        &self.edges
    }

    /// What is inside, if that is an ellipse.
    pub(crate) const fn ellipse(&self) -> Option<Ellipse> {
        match self.inside {
            Inside::Ellipse(ellipse) => Some(ellipse),
            _ => None,
        }
    }

    /// Whether a direction is inside. Boundaries are, up to rounding.
    #[inline(always)]
    pub(crate) fn contains(&self, d: DVec3) -> bool {
        match &self.inside {
            // Here, so that the usual case is compiled into its caller.
            Inside::Polygon(polygon) => polygon.contains(d),
            inside => inside.contains(d),
        }
    }

    /// The nearest point of the boundary; `None` if there is no boundary.
    pub(crate) fn nearest(&self, d: DVec3) -> Option<Nearest> {
        let mut best: Option<Nearest> = None;
        if let Some(found) = self.edges.nearest(d) {
            let foot = Foot {
                point: found.point,
                chord_square: found.chord_squared,
                at: (found.part == Part::Interior).then_some(0.5),
            };
            best = Some(Nearest { foot, piece: Piece::Great(found.edge) });
        }
        // A first guess keeps most pieces from being looked at.
        let reach = self.curves.iter().map(|(_, center, radius)| (*center - d).length() + radius);
        let reach = if self.curves.len() > 8 { reach.fold(4.0, f64::min) } else { 4.0 };
        for (i, (curve, center, radius)) in self.curves.iter().enumerate() {
            let at_least = (*center - d).length() - radius;
            let so_far = best.map_or(reach, |b| b.foot.chord_square.sqrt().min(reach));
            if at_least > so_far {
                continue;
            }
            let foot = curve.foot(d);
            if best.is_none_or(|b| foot.chord_square < b.foot.chord_square) {
                best = Some(Nearest { foot, piece: Piece::Curve(i) });
            }
        }
        best
    }

    /// If a nearest point is between the ends of a great arc: the arc's normal, to the left, and two
    /// vectors that are at acute angles to the directions whose nearest point is between its ends, too.
    pub(crate) fn great_arc(&self, nearest: &Nearest) -> Option<(DVec3, [DVec3; 2])> {
        match nearest.piece {
            Piece::Great(edge) if nearest.foot.at.is_some() => self.edges.half_spaces(edge),
            _ => None,
        }
    }

    /// Signed geodesic distance to the boundary, positive inside; π where there is no boundary.
    pub(crate) fn distance(&self, d: DVec3) -> f64 {
        let Some(nearest) = self.nearest(d) else { return PI };
        let angle = nearest.foot.angle(d);
        if self.contains(d) { angle } else { -angle }
    }

    /// The nearest direction inside: `d` itself if it is, up to the tolerance.
    pub(crate) fn project(&self, d: DVec3) -> DVec3 {
        if self.contains(d) {
            return d;
        }
        match self.nearest(d) {
            Some(nearest) if nearest.foot.chord_square > TOLERANCE * TOLERANCE => {
                nearest.foot.point
            }
            _ => d,
        }
    }

    /// How the nearest point moves with the direction: `δpoint = J δd`.
    pub(crate) fn foot_jacobian(&self, d: DVec3, nearest: &Nearest) -> DMat3 {
        if nearest.foot.at.is_none() {
            return DMat3::ZERO;
        }
        match nearest.piece {
            Piece::Great(i) => great_foot_jacobian(self.edges.normal(i), d),
            Piece::Curve(i) => self.curves[i].0.foot_jacobian(d, &nearest.foot),
        }
    }

    /// The direction at `d` that leads inside, for a `d` on the boundary, by the pieces of it that are
    /// within an angle of `d`: the inside is to the left of each. At a corner it is the mean of theirs,
    /// which halves the angle. `None` where they are opposite, as on a line, or where there are none.
    pub(crate) fn leftward(&self, d: DVec3, within: f64) -> Option<DVec3> {
        let square = within * within;
        let mut sum = DVec3::ZERO;
        for (i, (from, to)) in self.edges.iter().enumerate() {
            let normal = self.edges.normal(i);
            if normal.dot(d).abs() <= within
                && GreatArc::new(from, to).is_some_and(|arc| arc.foot(d).chord_square <= square)
            {
                sum += normal;
            }
        }
        for (curve, center, radius) in &self.curves {
            if (*center - d).length() - radius > within {
                continue;
            }
            let foot = curve.foot(d);
            if foot.chord_square > square {
                continue;
            }
            let to = |t: f64| (curve.point(t) - foot.point).length_squared();
            let t = foot.at.unwrap_or_else(|| if to(0.0) <= to(1.0) { 0.0 } else { 1.0 });
            sum += unit(foot.point.cross(curve.tangent(t))).unwrap_or(DVec3::ZERO);
        }
        // Those of a line differ from opposites by rounding.
        let across = sum - d * sum.dot(d);
        if across.length_squared() > 1e-12 { unit(across) } else { None }
    }

    /// All pieces of the boundary.
    pub(crate) fn pieces(&self) -> Vec<Curve> {
        let arcs = self.edges.iter().filter_map(|(from, to)| GreatArc::new(from, to));
        let great = arcs.map(Curve::Great);
        great.chain(self.curves.iter().map(|(curve, ..)| curve.clone())).collect()
    }

    /// The part of the sphere that is inside, in steradians.
    ///
    /// By Stokes' theorem the integral of (1 − cos β) dα along the boundary, with β and α polar
    /// coordinates about a pole, is the area, less 4π if the pole's antipode is inside.
    pub(crate) fn area(&self) -> f64 {
        let pieces = self.pieces();
        if pieces.is_empty() {
            return 2.0 * TAU;
        }
        // The pole whose antipode is farthest from the boundary.
        let slack = |p: &DVec3| self.distance(-*p).abs();
        let pole = AXES.iter().copied().max_by(|a, b| slack(a).total_cmp(&slack(b)));
        let pole = pole.unwrap_or(DVec3::Z);
        let around: f64 = pieces.iter().map(|piece| piece.area_integral(pole)).sum();
        // A triangle over a chord may have been taken from its other side.
        let area = around + if self.contains(-pole) { 2.0 * TAU } else { 0.0 };
        area.rem_euclid(2.0 * TAU)
    }

    /// Where the great arc from one direction to another meets the boundary, as fractions of it, in
    /// order. Touching it may be missed.
    pub(crate) fn crossings(&self, from: DVec3, to: DVec3) -> Few {
        let mut found = Few::default();
        let Some(way) = GreatArc::new(from, to).map(Curve::Great) else { return found };
        for arc in self.edges.iter().filter_map(|(from, to)| GreatArc::new(from, to)) {
            way.crossings(&Curve::Great(arc), &mut found);
        }
        for (curve, ..) in &self.curves {
            way.crossings(curve, &mut found);
        }
        found.sort_unstable_by(f64::total_cmp);
        found
    }

    /// How far one can go from a direction inside along the great arc to another before leaving, as a
    /// fraction; 1 if one can go all the way. To be outside by no more than the tolerance, or for no
    /// longer, is not to leave.
    pub(crate) fn first_exit(&self, from: DVec3, to: DVec3) -> f64 {
        let Some(way) = GreatArc::new(from, to) else { return 1.0 };
        let way = Curve::Great(way);
        let crossings = self.crossings(from, to);
        for (i, &t) in crossings.iter().enumerate() {
            let next = crossings.get(i + 1).copied().unwrap_or(1.0);
            if next - t < TOLERANCE {
                continue;
            }
            let between = way.point(0.5 * (t + next));
            if !self.contains(between) && self.distance(between) < -TOLERANCE {
                return t;
            }
        }
        1.0
    }

    /// The boundary as closed polylines.
    pub(crate) fn loops(&self, step: f64) -> Vec<Vec<DVec3>> {
        /// The ends of pieces that follow each other are this near.
        const GAP: f64 = 1e-5;
        let pieces = self.pieces();
        let starts = NearPoints::new(pieces.iter().map(|piece| piece.point(0.0)).collect(), GAP);
        // Those that are not in a loop yet, and where each of them is in the list.
        let mut open: Vec<usize> = (0..pieces.len()).collect();
        let mut place = open.clone();
        let mut loops = Vec::new();
        while let Some(first) = open.pop() {
            place[first] = usize::MAX;
            let start = starts.points[first];
            let mut line = Vec::new();
            pieces[first].trace(step, &mut line);
            let mut end = pieces[first].point(1.0);
            let mut length = pieces[first].length();
            // The piece that begins where this one ends, until one is back; not yet, if the first one
            // is tiny.
            while (end - start).length_squared() > 1e-12 || length < 1e-4 {
                let beside = starts.around(end).filter(|&i| place[i] != usize::MAX);
                let gap = |i: usize| (starts.points[i] - end).length_squared();
                let next = beside.map(|i| (gap(i), place[i], i)).min_by(|a, b| {
                    let by_gap = a.0.total_cmp(&b.0);
                    by_gap.then(a.1.cmp(&b.1))
                });
                let Some((_, at, i)) = next.filter(|(gap, ..)| *gap < GAP * GAP) else { break };
                open.swap_remove(at);
                place[i] = usize::MAX;
                if let Some(&moved) = open.get(at) {
                    place[moved] = at;
                }
                pieces[i].trace(step, &mut line);
                end = pieces[i].point(1.0);
                length += pieces[i].length();
            }
            if line.len() > 2 {
                loops.push(line);
            }
        }
        loops
    }

    /// Directions drawn uniformly, by rejection from a cap around all of it; fewer than asked for if a
    /// hundred thousand draws in a row are not inside.
    pub(crate) fn samples(&self, count: usize, mut random: impl FnMut() -> f64) -> Vec<DVec3> {
        const TRIES: u32 = 100_000;
        let middle = self.deepest();
        let (u, v) = middle.any_orthonormal_pair();
        // The farthest point of the boundary, unless the other side of the sphere is inside.
        let mut least: f64 = -1.0;
        if !self.contains(-middle) {
            let mut points = Vec::new();
            self.pieces().iter().for_each(|c| c.trace(0.02, &mut points));
            let farthest = points.iter().map(|p| p.dot(middle)).fold(1.0, f64::min);
            least = trig::cos((trig::acos(farthest.max(-1.0)) + 0.03).min(PI));
        }
        let mut found = Vec::new();
        let mut tries = 0;
        while found.len() < count && tries < TRIES {
            tries += 1;
            // Uniform in height and in azimuth.
            let height = 1.0 - random() * (1.0 - least);
            let (sin, cos) = trig::sin_cos(TAU * random());
            let across = (1.0 - height * height).max(0.0).sqrt();
            let d = unit(middle * height + (u * cos + v * sin) * across);
            if let Some(d) = d.filter(|d| self.contains(*d)) {
                found.push(d);
                tries = 0;
            }
        }
        found
    }

    /// A direction inside and far from the boundary, by trying.
    pub(crate) fn deepest(&self) -> DVec3 {
        let pieces = self.pieces();
        if pieces.is_empty() {
            return DVec3::Z;
        }
        let mut candidates = vec![DVec3::Z];
        let middles: DVec3 = pieces.iter().map(|p| p.point(0.5) * p.length()).sum();
        candidates.extend(unit(middles));
        candidates.extend(unit(-middles));
        let mut best = (f64::NEG_INFINITY, DVec3::Z);
        let consider = |best: &mut (f64, DVec3), d: DVec3| {
            let depth = self.distance(d);
            if depth > best.0 {
                *best = (depth, d);
            }
        };
        candidates.iter().for_each(|d| consider(&mut best, *d));
        for d in spread(200) {
            consider(&mut best, d);
        }
        // To the left of each piece lies the inside, if only a little of it.
        if best.0 <= 0.0 {
            for piece in pieces.iter().take(1000) {
                let p = piece.point(0.5);
                if let Some(left) = unit(p.cross(piece.tangent(0.5))) {
                    for step in [1e-2, 1e-4, 1e-6] {
                        unit(p + left * step).into_iter().for_each(|d| consider(&mut best, d));
                    }
                    if best.0 <= 0.0 {
                        consider(&mut best, p);
                    }
                }
            }
        }
        // Uphill.
        let mut step = 0.2;
        for _ in 0..200 {
            let before = best.0;
            let (u, v) = best.1.any_orthonormal_pair();
            for way in [u, v, -u, -v, u + v, u - v, -u - v, v - u] {
                if let Some(d) = unit(best.1 + way * step) {
                    consider(&mut best, d);
                }
            }
            if best.0 <= before {
                step *= 0.5;
                if step < 1e-6 {
                    break;
                }
            }
        }
        best.1
    }
}

/// Points in cells, to find those near to another.
struct NearPoints {
    points: Vec<DVec3>,
    /// The cell and the number of each, in the order of cells.
    cells: Vec<([i64; 3], usize)>,
    /// Cells per unit of length.
    scale: f64,
}

impl NearPoints {
    /// Finds what is no farther than `reach`.
    fn new(points: Vec<DVec3>, reach: f64) -> Self {
        let scale = 0.5 / reach;
        let mut cells: Vec<_> =
            points.iter().enumerate().map(|(i, p)| (Self::cell(*p, scale), i)).collect();
        cells.sort_unstable();
        Self { points, cells, scale }
    }

    #[allow(clippy::cast_possible_truncation, reason = "components of unit vectors over the reach")]
    fn cell(p: DVec3, scale: f64) -> [i64; 3] {
        (p * scale).floor().to_array().map(|c| c as i64)
    }

    /// The numbers of the points in the cells that the reach around `p` is in, with some others.
    fn around(&self, p: DVec3) -> impl Iterator<Item = usize> + '_ {
        // Cells are twice as wide as the reach.
        let [low, high] = [-0.5, 0.5].map(|side| (p * self.scale + side).floor());
        let count = |low: f64, high: f64| if low < high { 2 } else { 1 };
        let sizes = [count(low.x, high.x), count(low.y, high.y), count(low.z, high.z)];
        let base = Self::cell(low, 1.0);
        (0..8)
            .map(|k| [k & 1, k >> 1 & 1, k >> 2])
            .filter(move |at| at.iter().zip(&sizes).all(|(at, size)| at < size))
            .flat_map(move |[x, y, z]| {
                let cell = [base[0] + x, base[1] + y, base[2] + z];
                let first = self.cells.partition_point(|(other, _)| *other < cell);
                let same = self.cells[first..].iter().take_while(move |(other, _)| *other == cell);
                same.map(|(_, i)| *i)
            })
    }
}

/// Where shapes like to have something special.
const AXES: [DVec3; 6] = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Y, DVec3::NEG_Z];

/// Directions spread evenly over the sphere (a Fibonacci lattice).
pub(crate) fn spread(n: u32) -> impl Iterator<Item = DVec3> {
    let golden = PI * (3.0 - 5.0_f64.sqrt());
    (0..n).map(move |i| {
        let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(n);
        let (sin, cos) = trig::sin_cos(golden * f64::from(i));
        let r = (1.0 - z * z).sqrt();
        DVec3::new(r * cos, r * sin, z)
    })
}

impl Inside {
    fn contains(&self, d: DVec3) -> bool {
        match self {
            Self::Everything => true,
            Self::Ellipse(ellipse) => ellipse.contains(d),
            Self::Polygon(polygon) => polygon.contains(d),
            Self::Rectangle(rectangle) => rectangle.contains(d),
            Self::Custom(shape) => value_of(&**shape, d) <= 0.0,
            Self::All(of) => of.iter().all(|inside| inside.contains(d)),
            Self::Any(of) => of.iter().any(|inside| inside.contains(d)),
            Self::Not(of) => !of.contains(d),
            Self::Grown(of, by) => of.distance(d) >= -by,
        }
    }

    /// About how long [`contains`](Self::contains) takes, in nanoseconds.
    fn cost(&self) -> u64 {
        match self {
            Self::Everything => 1,
            Self::Ellipse(_) | Self::Polygon(_) | Self::Rectangle(_) | Self::Custom(_) => 100,
            Self::All(of) | Self::Any(of) => of.iter().map(Self::cost).sum(),
            Self::Not(of) => of.cost(),
            Self::Grown(of, _) => 2000 + 10 * whole(of.curves.len()) + of.inside.cost(),
        }
    }
}

fn whole(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl Rectangle {
    fn contains(&self, d: DVec3) -> bool {
        let across = trig::hypot(d.y, d.z);
        let latitude = trig::atan2(d.x, across);
        let longitude = trig::atan2(-d.y, d.z);
        let in_band = latitude >= self.latitude[0] && latitude <= self.latitude[1];
        in_band && (across == 0.0 || self.longitude.contains(Angle::from_radians(longitude)))
    }

    fn point(longitude: f64, latitude: f64) -> DVec3 {
        let ((sa, ca), (sb, cb)) = (trig::sin_cos(longitude), trig::sin_cos(latitude));
        DVec3::new(sb, -sa * cb, ca * cb)
    }

    fn curves(&self) -> Vec<Curve> {
        let [low, high] = self.latitude;
        let (west, east) = (self.longitude.min().radians(), self.longitude.max().radians());
        let mut curves = Vec::new();
        // Longitude is a right-handed turn about +x, so that what is north of a parallel is on the left
        // when it is walked with rising longitude.
        for (latitude, from, sweep) in [(low, west, east - west), (high, east, west - east)] {
            let radius = FRAC_PI_2 - latitude;
            if radius > 1e-12 && radius < PI - 1e-12 && sweep != 0.0 {
                curves.push(Curve::Circle(CircleArc::new(DVec3::X, DVec3::Z, radius, from, sweep)));
            }
        }
        if !self.longitude.is_full() {
            let middle = 0.5 * (low + high);
            for (longitude, from, to) in [(east, low, high), (west, high, low)] {
                let at = |latitude: f64| Self::point(longitude, latitude);
                // Halves, since a whole meridian has opposite ends.
                for (a, b) in [(from, middle), (middle, to)] {
                    curves.extend(GreatArc::new(at(a), at(b)).map(Curve::Great));
                }
            }
        }
        curves
    }
}

/// What is inside and the boundary of a limit.
fn lower(
    limit: &SwingLimit,
    axes: &SwingAxes,
    depth: usize,
    work: &mut Work,
) -> Result<(Inside, Vec<Curve>), LimitError> {
    if depth > MAX_DEPTH {
        return Err(LimitError::new(LimitErrorKind::TooLarge));
    }
    let several = |of: &[SwingLimit], work: &mut Work| -> Result<_, LimitError> {
        let mut parts = (Vec::new(), Vec::new());
        for (i, limit) in of.iter().enumerate() {
            let (inside, curves) = not_a_line(limit)
                .and_then(|()| lower(limit, axes, depth + 1, work))
                .map_err(|e| e.within(format_args!("of[{i}]")))?;
            parts.0.push(inside);
            parts.1.push(curves);
        }
        Ok(parts)
    };
    match limit {
        SwingLimit::Free => Ok((Inside::Everything, Vec::new())),
        SwingLimit::Ellipse { rx, ry } => ellipse(rx.radians(), ry.radians()),
        SwingLimit::Polygons(polygons) => {
            let mut parts = (Vec::new(), Vec::new());
            for (i, corners) in polygons.iter().enumerate() {
                let corners: Vec<DVec3> = corners.iter().map(|c| axes.components(*c)).collect();
                let (inside, curves) = Polygon::new(&corners)
                    .map(whole_polygon)
                    .map_err(|e| e.within(format_args!("polygons[{i}]")))?;
                parts.0.push(inside);
                parts.1.push(curves);
            }
            combine(parts.0, parts.1, Inside::All, work)
        }
        SwingLimit::PlanarCone(points) => {
            let corners: Vec<DVec3> = points.iter().map(|p| p.extend(1.0)).collect();
            around(&corners, DVec3::NEG_Z, false).map_err(|e| e.within("points"))
        }
        SwingLimit::ReachCone { boundary, rest } => {
            let corners: Vec<DVec3> = boundary.iter().map(|c| axes.components(*c)).collect();
            let rest = unit(axes.components(*rest))
                .ok_or_else(|| LimitError::new(LimitErrorKind::NoDirection).within("rest_dir"))?;
            around(&corners, rest, true).map_err(|e| e.within("boundary"))
        }
        SwingLimit::Box { alpha, beta } => swing_box(*alpha, *beta, work),
        SwingLimit::All(of) => {
            let (inside, curves) = several(of, work)?;
            combine(inside, curves, Inside::All, work)
        }
        SwingLimit::Any(of) => {
            let (inside, curves) = several(of, work)?;
            combine(inside, curves, Inside::Any, work)
        }
        SwingLimit::Not(of) => {
            not_a_line(of).map_err(|e| e.within("of"))?;
            let (inside, curves) = lower(of, axes, depth + 1, work).map_err(|e| e.within("of"))?;
            let reversed = curves.iter().filter_map(|c| c.part(1.0, 0.0)).collect();
            Ok((Inside::Not(Box::new(inside)), reversed))
        }
        SwingLimit::Grown { of, by } => {
            let mut by = by.radians();
            if !by.is_finite() {
                let kind = LimitErrorKind::BadAngle { expected: "finite" };
                return Err(LimitError::new(kind).within("by_deg"));
            }
            // To grow twice, or to shrink twice, is to do it once by the sum.
            let (mut of, mut levels) = (of, 1);
            while let SwingLimit::Grown { of: inner, by: more } = &**of
                && let Some(sum) = one_growth(by, more.radians())
            {
                (of, by, levels) = (inner, sum, levels + 1);
            }
            lower(of, axes, depth + levels, work)
                .and_then(|(inside, curves)| Region::from_parts(inside, &curves))
                .map_err(|e| (0..levels).fold(e, |e, _| e.within("of")))
                .and_then(|region| grown(region, by, work))
        }
        SwingLimit::Custom(shape) => custom(shape),
    }
}

/// What growing by `a` and by `b` are together, if that is growing once: not if one is shrinking.
pub(super) fn one_growth(a: f64, b: f64) -> Option<f64> {
    let sum = a + b;
    let alike = a == 0.0 || b == 0.0 || (a < 0.0) == (b < 0.0);
    (alike && sum.is_finite()).then_some(sum)
}

/// Lines and points have no side that is inside, by which boundaries are combined. Those that combined
/// shapes leave are found when these are combined.
fn not_a_line(limit: &SwingLimit) -> Result<(), LimitError> {
    const NARROW: f64 = 1e-9;
    let mut limit = limit;
    while let SwingLimit::Grown { of, by } = limit
        && by.radians().abs() <= NARROW
    {
        limit = of;
    }
    let is_line = match limit {
        SwingLimit::Ellipse { rx, ry } => rx.radians().min(ry.radians()) < NARROW,
        SwingLimit::Box { alpha, beta } => {
            alpha.width().radians().min(beta.width().radians()) < NARROW
        }
        _ => false,
    };
    if is_line { Err(LimitError::new(LimitErrorKind::Line)) } else { Ok(()) }
}

fn ellipse(rx: f64, ry: f64) -> Result<(Inside, Vec<Curve>), LimitError> {
    for (radius, name) in [(rx, "rx_deg"), (ry, "ry_deg")] {
        if !(0.0..=PI).contains(&radius) {
            let kind = LimitErrorKind::BadAngle { expected: "from 0 to 180 degrees" };
            return Err(LimitError::new(kind).within(name));
        }
    }
    let ellipse = Ellipse { rx, ry };
    if rx == PI && ry == PI {
        return Ok((Inside::Everything, Vec::new()));
    }
    let curves = if rx == ry && rx > 1e-9 {
        // φ turns from −y towards +x: a right-handed turn about the bone.
        vec![Curve::Circle(CircleArc::new(DVec3::Z, DVec3::NEG_Y, rx, 0.0, TAU))]
    } else if rx.min(ry) < 1e-9 {
        // A line, walked to and fro, in halves: to −bone it is half a turn.
        let (x, y) = if rx > ry { (rx, 0.0) } else { (0.0, ry) };
        let at = |part: f64| direction_of(glam::DVec2::new(part * x, part * y));
        let walk = [1.0, 0.5, 0.0, -0.5, -1.0, -0.5, 0.0, 0.5, 1.0].map(at);
        let line: Vec<Curve> =
            walk.windows(2).filter_map(|w| GreatArc::new(w[0], w[1])).map(Curve::Great).collect();
        if line.is_empty() { point_curve(DVec3::Z) } else { line }
    } else {
        vec![Curve::Ellipse(EllipseArc::new(ellipse, 0.0, 0.0, TAU))]
    };
    Ok((Inside::Ellipse(ellipse), curves))
}

/// A boundary around a single direction: a circle too small to matter.
fn point_curve(d: DVec3) -> Vec<Curve> {
    let u = d.any_orthonormal_vector();
    vec![Curve::Circle(CircleArc::new(d, u, 1e-15, 0.0, TAU))]
}

fn whole_polygon(polygon: Polygon) -> (Inside, Vec<Curve>) {
    let corners = polygon.corners();
    let next = corners.iter().cycle().skip(1);
    let curves = corners
        .iter()
        .zip(next)
        .filter_map(|(a, b)| GreatArc::new(*a, *b))
        .map(Curve::Great)
        .collect();
    (Inside::Polygon(Box::new(polygon)), curves)
}

/// A polygon walked in either direction, of which one point is known to be inside or outside.
fn around(
    corners: &[DVec3],
    known: DVec3,
    inside: bool,
) -> Result<(Inside, Vec<Curve>), LimitError> {
    let polygon = Polygon::new(corners)?;
    // On the boundary it would be inside both ways.
    if polygon.nearest(known).chord_squared <= TOLERANCE * TOLERANCE {
        return Err(LimitError::new(LimitErrorKind::RestOutside));
    }
    if polygon.contains(known) == inside {
        return Ok(whole_polygon(polygon));
    }
    let reversed: Vec<DVec3> = corners.iter().rev().copied().collect();
    Polygon::new(&reversed).map(whole_polygon)
}

fn swing_box(alpha: Arc, beta: Arc, work: &mut Work) -> Result<(Inside, Vec<Curve>), LimitError> {
    for (arc, name) in [(alpha, "alpha"), (beta, "beta")] {
        if arc.is_empty() {
            return Err(LimitError::new(LimitErrorKind::EmptyArc).within(name));
        }
    }
    // Beyond a pole the same direction has a latitude of π − β and the opposite longitude.
    let (low, high) = (beta.min().radians(), beta.max().radians());
    let mut rectangles = Vec::new();
    for turn in [-1, 0, 1, 2] {
        let middle = PI * f64::from(turn);
        let (from, to) = (low.max(middle - FRAC_PI_2), high.min(middle + FRAC_PI_2));
        if from > to {
            continue;
        }
        let (from, to) = (from - middle, to - middle);
        let (longitude, latitude) = if turn % 2 == 0 {
            (alpha, [from, to])
        } else {
            let half = |a: Angle| Angle::from_radians(a.radians() + PI);
            (Arc::new(half(alpha.min()), half(alpha.max())).unwrap_or(alpha), [-to, -from])
        };
        rectangles.push(Rectangle { longitude, latitude });
    }
    let curves = rectangles.iter().map(Rectangle::curves).collect();
    let inside = rectangles.into_iter().map(Inside::Rectangle).collect();
    combine(inside, curves, Inside::Any, work)
}

/// Several regions as one: the parts of their boundaries that are still on the boundary.
fn combine(
    mut inside: Vec<Inside>,
    mut curves: Vec<Vec<Curve>>,
    how: fn(Vec<Inside>) -> Inside,
    work: &mut Work,
) -> Result<(Inside, Vec<Curve>), LimitError> {
    if inside.len() == 1 {
        return match (inside.pop(), curves.pop()) {
            (Some(inside), Some(curves)) => settled(inside, curves, &[]),
            _ => Ok((Inside::Everything, Vec::new())),
        };
    }
    let whole = how(inside);
    let all: Vec<Curve> = curves.into_iter().flatten().collect();
    let kept = boundary_of(&whole, &all, work)?;
    // Where shapes share no more than an edge, a corner of one of them is on it.
    let thin = if kept.is_empty() { corners_of(&all) } else { Vec::new() };
    settled(whole, kept, &thin)
}

fn corners_of(curves: &[Curve]) -> Vec<DVec3> {
    curves.iter().flat_map(|curve| [curve.point(0.0), curve.point(0.5)]).collect()
}

/// A region with its boundary. Without one it is all of the sphere or nothing of it, but for lines and
/// points: those outside do not count, since a boundary belongs to both sides; those inside would be
/// lost, so they are refused. Some places to look for them are given.
fn settled(
    inside: Inside,
    boundary: Vec<Curve>,
    thin: &[DVec3],
) -> Result<(Inside, Vec<Curve>), LimitError> {
    const LOOKS: u32 = 300;
    if !boundary.is_empty() {
        return Ok((inside, boundary));
    }
    let outside = spread(LOOKS).filter(|d| !inside.contains(*d)).count();
    if outside == 0 {
        return Ok((Inside::Everything, Vec::new()));
    }
    let everywhere = spread(LOOKS).chain(AXES).chain(thin.iter().copied());
    if everywhere.into_iter().any(|d| inside.contains(d)) {
        return Err(LimitError::new(LimitErrorKind::TooThin));
    }
    Ok((Inside::Any(Vec::new()), Vec::new()))
}

/// The parts of curves that have the inside on one side and the outside on the other, walked with the
/// inside on the left. Where curves coincide, the first is kept.
fn boundary_of(
    inside: &Inside,
    curves: &[Curve],
    work: &mut Work,
) -> Result<Vec<Curve>, LimitError> {
    let near = pairs_near(curves, work)?;
    let look = 2 * inside.cost();
    let mut kept = Vec::new();
    for (i, curve) in curves.iter().enumerate() {
        let mut cuts = vec![0.0, 1.0];
        for other in near[i].iter().map(|j| &curves[*j]) {
            let mut meet = Few::default();
            curve.crossings(other, &mut meet);
            cuts.extend(meet.iter());
            // Curves that only touch do so at an end of one of them.
            let ends = [other.point(0.0), other.point(1.0)];
            cuts.extend(ends.iter().filter_map(|p| curve.parameter_of(*p)));
        }
        // Three points of it are on an earlier curve.
        let covered = |from: f64, to: f64| {
            near[i].iter().take_while(|j| **j < i).any(|j| {
                [0.5, 0.1, 0.8].iter().all(|part| {
                    let p = curve.point(from + part * (to - from));
                    curves[*j].foot(p).chord_square < 1e-20
                })
            })
        };
        cuts.sort_by(f64::total_cmp);
        cuts.dedup_by(|b, a| *b - *a < 1e-10);
        let side = |from: f64, to: f64| -> Option<bool> {
            let t = 0.5 * (from + to);
            let p = curve.point(t);
            let left = unit(p.cross(curve.tangent(t)))?;
            let at = |step: f64| unit(p + left * step).is_some_and(|d| inside.contains(d));
            let (left, right) = (at(ASIDE), at(-ASIDE));
            (left != right && !covered(from, to)).then_some(left)
        };
        // Neighbours on the same side are one piece again.
        let mut open: Option<(f64, f64, bool)> = None;
        for cut in cuts.windows(2) {
            let (from, to) = (cut[0], cut[1]);
            work.spend(look)?;
            let found = side(from, to);
            open = match (open, found) {
                (Some((start, _, left)), Some(now)) if left == now => Some((start, to, left)),
                (before, now) => {
                    kept.extend(before.and_then(|piece| oriented(curve, piece)));
                    now.map(|left| (from, to, left))
                }
            };
        }
        kept.extend(open.and_then(|piece| oriented(curve, piece)));
        if kept.len() > MAX_PIECES {
            return Err(LimitError::new(LimitErrorKind::TooLarge));
        }
    }
    Ok(kept)
}

/// For each curve the others that may meet it, in order.
fn pairs_near(curves: &[Curve], work: &mut Work) -> Result<Vec<Vec<usize>>, LimitError> {
    const SLACK: f64 = 1e-6;
    let balls: Vec<(DVec3, f64)> = curves.iter().map(Curve::bounds).collect();
    // By the power of two that is above the radius: a curve looks among those as large or larger.
    let largest = |class: usize| (0..class).fold(4.0, |size, _| 0.5 * size);
    let class = |radius: f64| (0..40).find(|k| radius > largest(k + 1)).unwrap_or(40);
    let own: Vec<usize> = balls.iter().map(|(_, radius)| class(*radius)).collect();
    let mut classes = std::collections::BTreeMap::<usize, Vec<usize>>::new();
    for (i, class) in own.iter().enumerate() {
        classes.entry(*class).or_default().push(i);
    }
    let mut near = vec![Vec::new(); curves.len()];
    for (k, members) in &classes {
        let centres = members.iter().map(|i| balls[*i].0).collect();
        let places = NearPoints::new(centres, 2.0 * largest(*k) + SLACK);
        for (i, (centre, radius)) in balls.iter().enumerate() {
            if own[i] < *k {
                continue;
            }
            for j in places.around(*centre).map(|at| members[at]) {
                work.spend(10)?;
                let reach = radius + balls[j].1 + SLACK;
                let counted = i == j || (own[i] == *k && j < i);
                if !counted && (*centre - balls[j].0).length_squared() <= reach * reach {
                    let [a, b] = [&curves[i], &curves[j]];
                    work.spend(a.meeting_cost(b) + b.meeting_cost(a))?;
                    near[i].push(j);
                    near[j].push(i);
                }
            }
        }
    }
    near.iter_mut().for_each(|others| others.sort_unstable());
    Ok(near)
}

fn oriented(curve: &Curve, (from, to, left): (f64, f64, bool)) -> Option<Curve> {
    if left && from == 0.0 && to == 1.0 {
        return Some(curve.clone());
    }
    if left { curve.part(from, to) } else { curve.part(to, from) }
}

/// Everything no farther outside than `by`.
fn grown(of: Region, by: f64, work: &mut Work) -> Result<(Inside, Vec<Curve>), LimitError> {
    let mut of = of;
    let mut pieces = of.pieces();
    if by == 0.0 || pieces.is_empty() {
        return Ok((of.inside, pieces));
    }
    if pieces.iter().any(|piece| matches!(piece, Curve::Custom(_))) {
        // Users' functions grow as chords, which distances are then measured from too. They are off by
        // the square of their length, a small part of the growth.
        let step = (0.5 * by.abs().sqrt()).clamp(1e-3, 0.02);
        pieces = pieces.iter().flat_map(|piece| chords(piece, step)).collect();
        of = Region::from_parts(of.inside, &pieces)?;
    }
    pieces = pieces.iter().flat_map(|piece| piece.apart_at_vertices(by)).collect();
    let mut curves: Vec<Curve> = pieces.iter().filter_map(|piece| piece.offset(by)).collect();
    curves.extend(round_corners(&pieces, by));
    let inside = Inside::Grown(Box::new(of), by);
    let kept = boundary_of(&inside, &curves, work)?;
    if kept.is_empty()
        && let Inside::Grown(of, _) = &inside
    {
        let deep = of.deepest();
        let depth = of.distance(deep) + by;
        // As deep as that, and no deeper.
        if depth.abs() < 1e-9 {
            return Err(LimitError::new(LimitErrorKind::TooThin));
        }
        return settled(inside, kept, &[deep]);
    }
    Ok((inside, kept))
}

/// A user's curve as chords; others as they are.
fn chords(piece: &Curve, step: f64) -> Vec<Curve> {
    if !matches!(piece, Curve::Custom(_)) {
        return vec![piece.clone()];
    }
    let mut points = Vec::new();
    piece.trace(step, &mut points);
    points.push(piece.point(1.0));
    let chords = points.windows(2).filter_map(|w| GreatArc::new(w[0], w[1]));
    chords.map(Curve::Great).collect()
}

/// What closes the gaps between the offsets of a boundary's pieces: parts of circles around its corners.
/// Outward, gaps open where it turns to the left; inward, where it turns to the right. Where more than
/// two pieces meet, or one turns back, a whole circle.
fn round_corners(pieces: &[Curve], by: f64) -> Vec<Curve> {
    /// Pieces whose ends are this near follow each other. How well cuts are found.
    const SAME: f64 = 1e-7;
    /// Turns below this leave a gap that is not noticed.
    const STRAIGHT: f64 = 1e-7;
    let radius = by.abs();
    if !(radius > 1e-9 && radius < PI - 1e-9) {
        return Vec::new();
    }
    let points =
        |t: f64| NearPoints::new(pieces.iter().map(|piece| piece.point(t)).collect(), SAME);
    let (starts, ends) = (points(0.0), points(1.0));
    let at = |of: &NearPoints, p: DVec3| -> Vec<usize> {
        let near = of.around(p);
        near.filter(|i| (of.points[*i] - p).length_squared() <= SAME * SAME).collect()
    };
    let mut curves = Vec::new();
    for (i, piece) in pieces.iter().enumerate() {
        let p = piece.point(0.0);
        let (before, beside) = (at(&ends, p), at(&starts, p));
        if beside.iter().any(|j| *j < i) {
            continue;
        }
        let mut turn = PI;
        let mut u = p.any_orthonormal_vector();
        if let ([before], [_]) = (&before[..], &beside[..])
            && let (Some(a), Some(b)) = (pieces[*before].heading(1.0), piece.heading(0.0))
        {
            turn = trig::atan2(p.dot(a.cross(b)), a.dot(b));
            if turn.abs() < PI - 1e-6 {
                u = if by > 0.0 { a.cross(p) } else { p.cross(a) };
            }
        }
        if turn.abs() >= PI - 1e-6 {
            curves.push(Curve::Circle(CircleArc::new(p, u, radius, 0.0, TAU)));
        } else if turn * by.signum() > STRAIGHT {
            curves.push(Curve::Circle(CircleArc::new(p, u, radius, 0.0, turn)));
        }
    }
    curves
}

/// The boundary of a user's function: its sign on a fine mesh of triangles, and over each triangle
/// that it changes in, the curve between the two sides it passes.
fn custom(shape: &std::sync::Arc<dyn SwingShape>) -> Result<(Inside, Vec<Curve>), LimitError> {
    let mesh = Mesh::new(5);
    let values: Vec<f64> = mesh.points.iter().map(|p| value_of(&**shape, *p)).collect();
    let root = |a: usize, b: usize| -> Option<DVec3> {
        // From the lower index, so that neighbours find the same point.
        let (a, b) = (a.min(b), a.max(b));
        let chord = GreatArc::new(mesh.points[a], mesh.points[b])?;
        let half = 0.5 * chord.length();
        let middle = unit(chord.from + chord.to)?;
        root_across(&**shape, middle, chord.normal.cross(middle), half)
    };
    let mut curves = Vec::new();
    for triangle in &mesh.triangles {
        let inside = triangle.map(|i| values[i] <= 0.0);
        for k in 0..3 {
            // The corner that is alone, and the two others, counter-clockwise.
            let [a, b, c] = [triangle[k], triangle[(k + 1) % 3], triangle[(k + 2) % 3]];
            let [ia, ib, ic] = [inside[k], inside[(k + 1) % 3], inside[(k + 2) % 3]];
            if ia == ib || ib != ic {
                continue;
            }
            let (Some(p), Some(q)) = (root(a, b), root(a, c)) else { continue };
            // The inside is on the left: around a corner that is inside, from its next side to the
            // one before.
            let chord = if ia { GreatArc::new(p, q) } else { GreatArc::new(q, p) };
            if let Some(chord) = chord {
                let reach = 0.5 * chord.length();
                curves.push(Curve::Custom(CustomArc::new(shape.clone(), chord, reach)));
            }
        }
    }
    let inside = Inside::Custom(shape.clone());
    if curves.is_empty() {
        // All or nothing; nothing may be a spot that was not seen.
        let mut looks = mesh.points.iter().copied().chain(AXES);
        if looks.all(|d| inside.contains(d)) {
            return Ok((Inside::Everything, curves));
        }
        return Err(LimitError::new(LimitErrorKind::TooThin));
    }
    Ok((inside, curves))
}

/// Triangles that cover the sphere, counter-clockwise seen from outside.
struct Mesh {
    points: Vec<DVec3>,
    triangles: Vec<[usize; 3]>,
}

impl Mesh {
    /// An octahedron, each triangle split into four so many times.
    fn new(splits: usize) -> Self {
        let (x, y, z) = (DVec3::X, DVec3::Y, DVec3::Z);
        // Turned a little, so that its corners are not where functions like to have their own.
        let turn = |d: DVec3| {
            unit(DVec3::new(
                d.x + 0.137 * d.y - 0.071 * d.z,
                d.y - 0.137 * d.x + 0.053 * d.z,
                d.z + 0.071 * d.x - 0.053 * d.y,
            ))
            .unwrap_or(d)
        };
        let mut points: Vec<DVec3> = [x, y, -x, -y, z, -z].map(turn).to_vec();
        let mut triangles = vec![
            [0, 1, 4],
            [1, 2, 4],
            [2, 3, 4],
            [3, 0, 4],
            [1, 0, 5],
            [2, 1, 5],
            [3, 2, 5],
            [0, 3, 5],
        ];
        for _ in 0..splits {
            let mut middles = std::collections::BTreeMap::new();
            let mut finer = Vec::with_capacity(4 * triangles.len());
            for [a, b, c] in triangles {
                let mut middle = |a: usize, b: usize| {
                    *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                        points.push(unit(points[a] + points[b]).unwrap_or(points[a]));
                        points.len() - 1
                    })
                };
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
            }
            triangles = finer;
        }
        Self { points, triangles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::zoo::{arc, deg, dir, wobbly, zoo};
    use crate::synth::Rng;

    /// What is inside, written down once more and simply.
    fn inside_by_definition(limit: &SwingLimit, d: DVec3) -> bool {
        match limit {
            SwingLimit::Free => true,
            SwingLimit::Ellipse { rx, ry } => {
                let swing = crate::math::direct_rotation(DVec3::Z, d).unwrap().rotation.log();
                let (x, y) = (swing.x / rx.radians(), swing.y / ry.radians());
                x * x + y * y <= 1.0
            }
            SwingLimit::Polygons(polygons) => polygons.iter().all(|p| winding(p, d)),
            SwingLimit::PlanarCone(points) => {
                // Crossings of a ray in the plane.
                let (x, y) = (d.x / d.z, d.y / d.z);
                let n = points.len();
                let crossed = (0..n).filter(|&i| {
                    let (a, b) = (points[i], points[(i + 1) % n]);
                    (a.y > y) != (b.y > y) && x < a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x)
                });
                d.z > 0.0 && crossed.count() % 2 == 1
            }
            SwingLimit::ReachCone { boundary, rest } => {
                winding(boundary, d) == winding(boundary, *rest)
            }
            SwingLimit::Box { alpha, beta } => {
                // Both pairs of angles that give this direction.
                let b = trig::asin(d.x.clamp(-1.0, 1.0));
                let a = trig::atan2(-d.y, d.z);
                [(a, b), (a + PI, PI - b)].iter().any(|(a, b)| {
                    alpha.contains(Angle::from_radians(*a))
                        && beta.contains(Angle::from_radians(*b))
                })
            }
            SwingLimit::All(of) => of.iter().all(|l| inside_by_definition(l, d)),
            SwingLimit::Any(of) => of.iter().any(|l| inside_by_definition(l, d)),
            SwingLimit::Not(of) => !inside_by_definition(of, d),
            SwingLimit::Grown { of, by } => {
                // Every direction up to that distance, mostly at it: inside if one of them is, or all
                // if it is shrunk.
                let by = by.radians();
                let u = d.any_orthonormal_vector();
                let v = d.cross(u);
                let rings = (1..8).map(|k| (200, f64::from(k) / 8.0)).chain([(4000, 1.0)]);
                let mut around = rings.flat_map(|(n, share)| {
                    (0..n).map(move |i| {
                        let (s, c) = trig::sin_cos(TAU * f64::from(i) / f64::from(n));
                        let (sr, cr) = trig::sin_cos(share * by.abs());
                        d * cr + (u * c + v * s) * sr
                    })
                });
                let inside = inside_by_definition(of, d);
                if by > 0.0 {
                    inside || around.any(|p| inside_by_definition(of, p))
                } else {
                    inside && around.all(|p| inside_by_definition(of, p))
                }
            }
            SwingLimit::Custom(shape) => value_of(&**shape, d) <= 0.0,
        }
    }

    /// Whether a polygon winds once about a direction, by the angles under which its edges are seen. A
    /// polygon that winds about neither `d` nor −`d` has both on the same side: the larger one.
    fn winding(corners: &[DVec3], d: DVec3) -> bool {
        let n = corners.len();
        let edges = || (0..n).map(|i| (corners[i], corners[(i + 1) % n]));
        let flat = |p: DVec3| p - d * p.dot(d);
        let turn: f64 = edges()
            .map(|(a, b)| (flat(a), flat(b)))
            .map(|(a, b)| trig::atan2(d.dot(a.cross(b)), a.dot(b)))
            .sum();
        if turn.abs() > PI {
            return turn > 0.0;
        }
        let triangle = super::super::curve::triangle_area;
        let area: f64 = edges().map(|(a, b)| triangle(DVec3::Z, a, b)).sum();
        area.rem_euclid(4.0 * PI) > 2.0 * PI
    }

    fn queries(seed: u64, n: usize) -> Vec<DVec3> {
        let mut rng = Rng::new(seed);
        (0..n).map(|_| rng.direction()).collect()
    }

    #[test]
    fn what_is_inside_is_what_the_definition_says() {
        // By samples, growth in growth would take too long, and a line is never hit.
        let by_samples = |name: &str| {
            let grown_twice = name.starts_with("opened") || name.starts_with("closed");
            !grown_twice && name != "grown line"
        };
        for (name, limit) in larger_zoo().into_iter().filter(|(name, _)| by_samples(name)) {
            let region = Region::new(&limit, &SwingAxes::Z).unwrap();
            let n = if matches!(limit, SwingLimit::Grown { .. }) { 300 } else { 3000 };
            for d in queries(1, n) {
                // The definition of what is grown is by samples.
                if region.distance(d).abs() < 1e-3 {
                    continue;
                }
                let (found, expected) = (region.contains(d), inside_by_definition(&limit, d));
                assert_eq!(found, expected, "{name} at {d}");
            }
        }
    }

    /// Judged by points of the ellipse 1e-5 apart, and finer towards its vertices.
    #[test]
    fn feet_on_wide_ellipses_are_the_nearest_points_also_at_cusps() {
        let mut rng = Rng::new(12);
        for (rx, ry) in [(35.58, 180.0), (120.0, 180.0), (179.99, 60.0), (170.0, 20.0), (90.0, 0.5)]
        {
            let [rx, ry] = [rx, ry].map(f64::to_radians);
            let ellipse = Ellipse { rx, ry };
            let even = (0..=160_000).map(|i| FRAC_PI_2 * f64::from(i) / 160_000.0);
            let fine = std::iter::successors(Some(1.0), |a| Some(0.98 * a)).take(1200);
            let fine: Vec<f64> = fine.collect();
            let ends = fine.iter().copied().chain(fine.iter().map(|a| FRAC_PI_2 - a));
            let points: Vec<DVec3> = even.chain(ends).map(|a| ellipse.point(a)).collect();
            let limit =
                SwingLimit::Ellipse { rx: Angle::from_radians(rx), ry: Angle::from_radians(ry) };
            let region = Region::new(&limit, &SwingAxes::Z).unwrap();
            for i in 0..120 {
                let mut d = rng.direction();
                if i % 3 > 0 {
                    // Near a vertex, at all sizes.
                    let end = ellipse.point(if rx > ry { 0.0 } else { FRAC_PI_2 });
                    let size = (0..i % 8).fold(0.3, |size, _| 0.2 * size);
                    d = unit(end + rng.direction() * size).unwrap();
                }
                let found = region.nearest(d).unwrap().foot.angle(d);
                // By symmetry it is on the part that the points are of.
                let image = DVec3::new(d.x.abs(), -d.y.abs(), d.z);
                let least = points.iter().map(|p| (*p - image).length()).fold(4.0, f64::min);
                let least = 2.0 * trig::asin(0.5 * least.min(2.0));
                assert!(found <= least + 1e-12, "{rx} {ry} at {d}: {found} {least}");
                // Points are up to 1.5e-5 beside the foot.
                let slack = f64::min(1.5e-5, 3e-10 / least);
                assert!(found >= least - slack, "{rx} {ry} at {d}: {found} {least}");
            }
        }
    }

    #[test]
    fn boundaries_have_the_inside_on_their_left_and_nothing_else_changes_sides() {
        for (name, limit) in larger_zoo() {
            let region = Region::new(&limit, &SwingAxes::Z).unwrap();
            for piece in region.pieces() {
                for i in 1..20 {
                    let t = f64::from(i) / 20.0;
                    let p = piece.point(t);
                    let left = unit(p.cross(piece.tangent(t))).unwrap();
                    let at = |step: f64| region.contains(unit(p + left * step).unwrap());
                    assert!(at(1e-6) && !at(-1e-6), "{name}: {piece:?} at {t}");
                }
            }
            // Along random arcs, every change of sides is at a crossing.
            let all = queries(2, 200);
            for pair in all.windows(2) {
                let crossings = region.crossings(pair[0], pair[1]);
                let Some(arc) = GreatArc::new(pair[0], pair[1]).map(Curve::Great) else { continue };
                let mut before = region.contains(pair[0]);
                for i in 1..=400 {
                    let (a, b) = (f64::from(i - 1) / 400.0, f64::from(i) / 400.0);
                    let now = region.contains(arc.point(b));
                    if now != before {
                        let found = crossings.iter().any(|t| (a - 1e-6..=b + 1e-6).contains(t));
                        assert!(found, "{name}: between {a} and {b} of {pair:?}, {crossings:?}");
                    }
                    before = now;
                }
            }
        }
    }

    /// The nearest point of the boundary by looking everywhere: samples of all pieces, the best of them
    /// refined. Uses nothing of how feet are found.
    struct Everywhere {
        samples: Vec<(DVec3, usize, f64)>,
        pieces: Vec<Curve>,
        step: f64,
    }

    impl Everywhere {
        fn new(region: &Region) -> Self {
            let pieces = region.pieces();
            let per_piece = (4000 / pieces.len()).max(20);
            let step = 1.0 / per_piece as f64;
            let mut samples = Vec::new();
            for (i, piece) in pieces.iter().enumerate() {
                samples.extend((0..=per_piece).map(|k| {
                    let t = k as f64 * step;
                    (piece.point(t), i, t)
                }));
            }
            Self { samples, pieces, step }
        }

        fn distance(&self, d: DVec3) -> f64 {
            let mut near: Vec<(f64, usize, f64)> =
                self.samples.iter().map(|(p, i, t)| ((*p - d).length_squared(), *i, *t)).collect();
            near.select_nth_unstable_by(6, |a, b| a.0.total_cmp(&b.0));
            let mut best = f64::INFINITY;
            for &(_, i, t) in near.iter().take(6) {
                let value = |t: f64| (self.pieces[i].point(t.clamp(0.0, 1.0)) - d).length_squared();
                // By the golden section, one value for each step.
                let golden = 0.5 * (5_f64.sqrt() - 1.0);
                let (mut a, mut b) = (t - self.step, t + self.step);
                let (mut x, mut y) = (b - golden * (b - a), a + golden * (b - a));
                let (mut at_x, mut at_y) = (value(x), value(y));
                for _ in 0..45 {
                    if at_x < at_y {
                        (b, y, at_y) = (y, x, at_x);
                        x = b - golden * (b - a);
                        at_x = value(x);
                    } else {
                        (a, x, at_x) = (x, y, at_y);
                        y = a + golden * (b - a);
                        at_y = value(y);
                    }
                }
                best = best.min(at_x).min(at_y);
            }
            2.0 * trig::asin((0.5 * best.sqrt()).min(1.0))
        }
    }

    #[test]
    fn the_nearest_direction_is_the_nearest_b10() {
        for (name, limit) in larger_zoo() {
            let region = Region::new(&limit, &SwingAxes::Z).unwrap();
            let everywhere = Everywhere::new(&region);
            let mut worst: f64 = 0.0;
            // Shapes given by a function take most of the time.
            let n = if matches!(limit, SwingLimit::Custom(_)) { 1000 } else { 4500 };
            for d in queries(3, n) {
                let foot = region.nearest(d).unwrap().foot;
                let found = foot.angle(d);
                let expected = everywhere.distance(d);
                worst = worst.max(found - expected);
                // A foot is where it says it is, and on the boundary.
                let apart = crate::math::angle_between(d, foot.point).radians();
                assert!((apart - found).abs() < 1e-9, "{name} at {d}: {apart} {found}");
                assert!(region.distance(foot.point).abs() < 1e-9, "{name} at {d}");
                let projected = region.project(d);
                assert!(region.distance(projected) >= -TOLERANCE, "{name} at {d}");
                assert_eq!(region.project(projected), projected, "{name} at {d}");
            }
            assert!(worst < 1e-9, "{name}: farther by {worst}");
        }
    }

    #[test]
    fn lines_stand_alone() {
        let line = || SwingLimit::Ellipse { rx: Angle::ZERO, ry: Angle::from_degrees(30.0) };
        let point = SwingLimit::Box { alpha: Arc::FULL, beta: Arc::point(Angle::ZERO).unwrap() };
        let region = Region::new(&line(), &SwingAxes::Z).unwrap();
        assert!((region.distance(DVec3::Y) + PI / 2.0).abs() < 1e-12);
        for limit in [
            SwingLimit::Any(vec![SwingLimit::Free, line()]),
            SwingLimit::All(vec![point]),
            SwingLimit::Not(Box::new(line())),
        ] {
            let error = Region::new(&limit, &SwingAxes::Z).unwrap_err();
            assert_eq!(*error.kind(), LimitErrorKind::Line);
        }
        let grown = SwingLimit::Grown { of: Box::new(line()), by: Angle::from_degrees(5.0) };
        let region = Region::new(&grown, &SwingAxes::Z).unwrap();
        assert!(region.area() > 0.05);
        // The line goes along x, by 30° to either side.
        let (end, cos) = (trig::sin_cos(PI / 6.0), trig::cos(PI / 36.0));
        for d in queries(7, 3000) {
            let beside = d.z > 0.0 && (d.x / d.z).abs() <= end.0 / end.1;
            let near_line = beside && trig::hypot(d.x, d.z) >= cos;
            let near_end = d.x.abs() * end.0 + d.z * end.1 >= cos;
            assert_eq!(region.contains(d), near_line || near_end, "{d}");
        }
    }

    #[test]
    fn areas_are_those_of_random_hits() {
        for (name, limit) in larger_zoo() {
            let region = Region::new(&limit, &SwingAxes::Z).unwrap();
            let n = 20_000;
            let hits = queries(4, n).into_iter().filter(|d| region.contains(*d)).count();
            let share = hits as f64 / n as f64;
            let found = region.area() / (4.0 * PI);
            let sd = (share.max(1e-3) * (1.0 - share) / n as f64).sqrt();
            assert!((found - share).abs() < 5.0 * sd, "{name}: {found} {share}");
        }
        // Girard: an octant has an area of π/2; a cap of 2π(1 − cos r).
        let octant = SwingLimit::Polygons(vec![vec![DVec3::X, DVec3::Y, DVec3::Z]]);
        let area = Region::new(&octant, &SwingAxes::Z).unwrap().area();
        assert!((area - 0.5 * PI).abs() < 1e-14, "{area}");
        let cap =
            SwingLimit::Ellipse { rx: Angle::from_radians(1.0), ry: Angle::from_radians(1.0) };
        let area = Region::new(&cap, &SwingAxes::Z).unwrap().area();
        assert!((area - TAU * (1.0 - trig::cos(1.0))).abs() < 1e-12, "{area}");
    }

    fn ellipse_of(rx: f64, ry: f64) -> SwingLimit {
        SwingLimit::Ellipse { rx: deg(rx), ry: deg(ry) }
    }

    fn grown_by(of: SwingLimit, degrees: f64) -> SwingLimit {
        SwingLimit::Grown { of: Box::new(of), by: deg(degrees) }
    }

    fn box_of(alpha: (f64, f64), beta: (f64, f64)) -> SwingLimit {
        SwingLimit::Box { alpha: arc(alpha.0, alpha.1), beta: arc(beta.0, beta.1) }
    }

    fn error_of(limit: &SwingLimit) -> LimitErrorKind {
        match Region::new(limit, &SwingAxes::Z) {
            Ok(region) => panic!("{limit:?}: {} sr", region.area()),
            Err(error) => error.kind().clone(),
        }
    }

    /// What regions are made of when they grow more than once, or by more than they bend.
    fn larger_zoo() -> Vec<(&'static str, SwingLimit)> {
        let polygon = || SwingLimit::Polygons(vec![wobbly(8, 0.9, 0.3, 2.0)]);
        let mut zoo = zoo();
        zoo.extend([
            ("much shrunk ellipse", grown_by(ellipse_of(20.0, 40.0), -15.0)),
            ("much grown ellipse", grown_by(ellipse_of(20.0, 50.0), 110.0)),
            ("shrunk huge ellipse", grown_by(ellipse_of(170.0, 100.0), -20.0)),
            ("grown line", grown_by(ellipse_of(0.0, 40.0), 10.0)),
            ("grown box", grown_by(box_of((-30.0, 80.0), (-20.0, 50.0)), 12.0)),
            ("closed polygon", grown_by(grown_by(polygon(), 12.0), -8.0)),
            ("opened polygon", grown_by(grown_by(polygon(), -12.0), 8.0)),
            ("opened ellipse", grown_by(grown_by(ellipse_of(20.0, 40.0), -12.0), 8.0)),
        ]);
        zoo
    }

    /// All within so many radians of a direction.
    #[derive(Debug)]
    struct Cone(DVec3, f64);

    impl SwingShape for Cone {
        fn value(&self, swing: crate::math::Swing) -> f64 {
            let s = glam::DVec2::new(swing.x.radians(), swing.y.radians());
            crate::math::angle_between(direction_of(s), self.0).radians() - self.1
        }
    }

    #[test]
    fn what_collapses_is_refused_and_not_everything() {
        let (a, b) = (DVec3::X, DVec3::Y);
        let triangle = |c: DVec3| vec![a, b, c];
        let collapsed = [
            grown_by(ellipse_of(30.0, 30.0), -30.0),
            grown_by(ellipse_of(20.0, 40.0), -20.0),
            SwingLimit::All(vec![
                box_of((0.0, 40.0), (-20.0, 20.0)),
                box_of((-40.0, 0.0), (-20.0, 20.0)),
            ]),
            SwingLimit::Polygons(vec![triangle(DVec3::Z), vec![b, a, -DVec3::Z]]),
            SwingLimit::Custom(std::sync::Arc::new(Cone(DVec3::Z, 1e-3))),
            SwingLimit::Custom(std::sync::Arc::new(Cone(dir(0.3, 0.2, -0.7), 1e-3))),
        ];
        for limit in collapsed {
            assert_eq!(error_of(&limit), LimitErrorKind::TooThin, "{limit:?}");
            // Nor is it hidden among others, or grown again.
            let any = SwingLimit::Any(vec![ellipse_of(30.0, 50.0), limit.clone()]);
            assert!(matches!(error_of(&any), LimitErrorKind::TooThin), "{limit:?}");
            assert_eq!(error_of(&grown_by(limit, 5.0)), LimitErrorKind::TooThin);
        }
        for empty in [
            grown_by(ellipse_of(30.0, 30.0), -31.0),
            SwingLimit::All(vec![
                box_of((1.0, 40.0), (-20.0, 20.0)),
                box_of((-40.0, 0.0), (-20.0, 20.0)),
            ]),
            SwingLimit::Not(Box::new(SwingLimit::Free)),
            SwingLimit::Any(vec![]),
        ] {
            assert_eq!(error_of(&empty), LimitErrorKind::EmptyRegion, "{empty:?}");
        }
    }

    #[test]
    fn without_a_boundary_everything_is_inside() {
        let halves = [(0.0, 180.0), (180.0, 360.0)].map(|alpha| box_of(alpha, (-90.0, 90.0)));
        let thin = SwingLimit::All(vec![
            box_of((0.0, 40.0), (-20.0, 20.0)),
            SwingLimit::Not(Box::new(box_of((0.0, 40.0), (-20.0, 20.0)))),
        ]);
        for limit in [
            SwingLimit::Free,
            SwingLimit::All(vec![]),
            SwingLimit::Polygons(vec![]),
            ellipse_of(180.0, 180.0),
            grown_by(ellipse_of(30.0, 30.0), 180.0),
            grown_by(ellipse_of(30.0, 30.0), 1e9),
            SwingLimit::Any(halves.to_vec()),
            SwingLimit::Any(vec![SwingLimit::Free, ellipse_of(30.0, 20.0)]),
            SwingLimit::Not(Box::new(thin)),
            SwingLimit::Custom(std::sync::Arc::new(Cone(DVec3::Z, 4.0))),
        ] {
            let region = Region::new(&limit, &SwingAxes::Z).unwrap();
            assert!(region.pieces().is_empty(), "{limit:?}");
            assert_eq!(region.area().to_bits(), (4.0 * PI).to_bits());
            for d in queries(5, 200).into_iter().chain([DVec3::Z, -DVec3::Z, DVec3::X]) {
                assert!(region.contains(d), "{limit:?} at {d}");
            }
        }
    }

    #[test]
    fn growth_within_growth_is_prepared_in_no_time() {
        let polygon = || SwingLimit::Polygons(vec![wobbly(8, 0.9, 0.3, 2.0)]);
        let bases = [polygon(), ellipse_of(60.0, 30.0), box_of((-30.0, 80.0), (-20.0, 50.0))];
        for signs in [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]] {
            for base in &bases {
                for levels in [2_u32, 4, 8, 12] {
                    let by = |i: u32| signs[(i % 2) as usize] * (1.0 + 0.25 * f64::from(i)) / 4.0;
                    let limit = (0..levels).fold(base.clone(), |l, i| grown_by(l, by(i)));
                    let start = std::time::Instant::now();
                    let region = Region::new(&limit, &SwingAxes::Z).unwrap();
                    let pieces = region.pieces().len();
                    println!("{signs:?} {levels}: {pieces} pieces, {:?}", start.elapsed());
                    assert!(pieces < 100, "{signs:?} {levels}: {pieces}");
                }
            }
        }
    }

    #[test]
    fn too_much_work_is_refused_at_once() {
        let wheel = |n: u32| {
            let one = |i: u32| ellipse_of(10.0 + 0.1 * f64::from(i), 60.0 - 0.1 * f64::from(i));
            SwingLimit::Any((0..n).map(one).collect())
        };
        assert!(Region::new(&wheel(20), &SwingAxes::Z).is_ok());
        assert_eq!(error_of(&wheel(250)), LimitErrorKind::TooLarge);
        let deep = (0..33).fold(ellipse_of(50.0, 60.0), |l, i| grown_by(l, [1.0, -1.0][i % 2]));
        assert_eq!(error_of(&deep), LimitErrorKind::TooLarge);
    }

    #[test]
    fn what_is_said_twice_counts_once() {
        for (name, limit) in zoo() {
            let once = Region::new(&limit, &SwingAxes::Z).unwrap();
            for how in [SwingLimit::All, SwingLimit::Any] {
                let twice = how(vec![limit.clone(), limit.clone()]);
                let twice = Region::new(&twice, &SwingAxes::Z).unwrap();
                println!("{name}: {} {}", once.pieces().len(), twice.pieces().len());
                assert!((once.area() - twice.area()).abs() < 1e-6, "{name}");
            }
        }
    }

    #[test]
    fn a_grown_polygon_of_many_corners_is_prepared_soon() {
        for n in [300, 1000, 3000] {
            for by in [5.0, -5.0] {
                let limit = grown_by(SwingLimit::Polygons(vec![wobbly(n, 0.9, 0.3, 7.0)]), by);
                let start = std::time::Instant::now();
                let region = Region::new(&limit, &SwingAxes::Z).unwrap();
                println!("{n} {by}: {} pieces, {:?}", region.pieces().len(), start.elapsed());
            }
        }
    }

    #[test]
    fn a_rest_direction_on_the_boundary_is_refused_d5() {
        let corners = vec![dir(0.3, 0.5, 1.0), dir(-0.6, 0.1, 1.0), dir(0.4, -0.8, 1.0)];
        for rest in [dir(-0.3, 0.6, 2.0), corners[2]] {
            for boundary in [corners.clone(), corners.iter().rev().copied().collect()] {
                let limit = SwingLimit::ReachCone { boundary, rest };
                assert_eq!(error_of(&limit), LimitErrorKind::RestOutside, "{rest}");
            }
        }
    }

    #[test]
    fn arcs_inside_may_end_on_the_boundary_b12() {
        let mut rng = Rng::new(11);
        let (mut all, mut wrong) = (0, 0);
        for (name, limit) in zoo() {
            let region = Region::new(&limit, &SwingAxes::Z).unwrap();
            let middle = region.deepest();
            for _ in 0..1000 {
                let to = region.project(rng.direction());
                let Some(way) = GreatArc::new(middle, to).map(Curve::Great) else { continue };
                // Inside by looking: every point up to the last.
                let looks = (0..1000).all(|i| region.contains(way.point(f64::from(i) / 1000.0)));
                if looks && region.distance(to) >= 0.0 {
                    all += 1;
                    let exit = region.first_exit(middle, to);
                    // Unless it did leave, for less than was looked at.
                    let fine = |i: i32| way.point((exit + 1e-6 * f64::from(i)).min(1.0));
                    if exit < 1.0 && (0..2000).all(|i| region.distance(fine(i)) >= -TOLERANCE) {
                        wrong += 1;
                        println!("{name}: {exit:e} {:e}", 1.0 - exit);
                    }
                }
            }
        }
        assert_eq!(wrong, 0, "of {all}");
    }

    #[test]
    fn lines_do_not_hide() {
        let line = || ellipse_of(0.0, 30.0);
        let hidden = [
            grown_by(line(), 0.0),
            grown_by(grown_by(line(), 0.0), 1e-9),
            SwingLimit::Grown { of: Box::new(line()), by: Angle::from_radians(-1e-10) },
            grown_by(grown_by(line(), 5.0), -5.0),
            grown_by(SwingLimit::Any(vec![SwingLimit::Free, line()]), 0.0),
        ];
        for limit in hidden {
            for limit in [
                SwingLimit::Any(vec![ellipse_of(20.0, 40.0), limit.clone()]),
                SwingLimit::All(vec![limit.clone()]),
                SwingLimit::Not(Box::new(limit)),
            ] {
                let kind = error_of(&limit);
                assert!(
                    matches!(kind, LimitErrorKind::Line | LimitErrorKind::TooThin),
                    "{limit:?}: {kind:?}"
                );
            }
        }
    }

    #[test]
    fn samples_of_what_is_never_hit_come_to_an_end() {
        let region = Region::new(&ellipse_of(0.0, 30.0), &SwingAxes::Z).unwrap();
        let mut rng = Rng::new(4);
        let mut asked = 0_u64;
        let found = region.samples(usize::MAX, || {
            asked += 1;
            rng.uniform()
        });
        assert!(found.is_empty() && asked < 1_000_000, "{asked}");
    }
}
