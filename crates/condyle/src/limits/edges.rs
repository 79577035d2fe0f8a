//! Great arcs, prepared for asking which point of them is nearest.

use glam::DVec3;

use crate::math::unit;

/// Great arcs shorter than half a turn, in groups of consecutive ones with a ball around each, and
/// groups of groups, so that most are never looked at.
#[derive(Clone, Debug)]
pub(crate) struct Edges {
    edges: Vec<Edge>,
    /// Bounds of `FAN` edges each, then of `FAN` of those each, until there are at most `FAN`.
    levels: Vec<Vec<Bounds>>,
    /// If there are few.
    rows: Rows,
}

/// Few edges that form closed loops, in columns: a first look at all of them at once costs less than
/// one wrong guess about which to skip. Empty if there are many, or ends that are no beginnings.
#[derive(Clone, Debug, Default)]
struct Rows {
    count: usize,
    rows: Vec<Row>,
}

/// [`LANES`] edges; the last is repeated until the row is full.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    start: [[f64; LANES]; 3],
    normal: [[f64; LANES]; 3],
    after_start: [[f64; LANES]; 3],
    before_end: [[f64; LANES]; 3],
}

const LANES: usize = 4;

/// The most edges that are few. From here on groups are faster.
pub(super) const FEW: usize = 32;

/// How many edges are in a group, and groups in a group of groups.
const FAN: usize = 8;

/// One great arc. The last three are NaN for an arc without length, so that it has no interior.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) start: DVec3,
    end: DVec3,
    /// Unit normal of its plane, to the left.
    pub(super) normal: DVec3,
    /// Unit, in the plane: positive along the half circle that begins at `start`.
    pub(super) after_start: DVec3,
    /// Unit, in the plane: positive along the half circle that ends at `end`.
    pub(super) before_end: DVec3,
}

/// Holds all points of a group: a ball, which is good for what is about as long as wide, and a slab
/// across it, which is good for parallel edges and for rings.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Of the ball; not on the sphere.
    centre: DVec3,
    radius: f64,
    /// Unit normal of the slab, where its middle plane is along it, and half its thickness.
    across: DVec3,
    middle: f64,
    half: f64,
}

/// The point of the arcs that is nearest to a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nearest {
    /// Where; a unit vector.
    pub(crate) point: DVec3,
    /// The square of the straight distance to it, `2 − 2 cos θ`. Tiny ones keep their digits.
    pub(crate) chord_squared: f64,
    /// On which arc.
    pub(crate) edge: usize,
    /// On which part of it.
    pub(crate) part: Part,
}

/// A part of an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Its first corner.
    Start,
    /// Between its corners.
    Interior,
    /// Its last corner.
    End,
}

/// What the search has found so far.
#[derive(Clone, Copy)]
struct Best {
    chord_squared: f64,
    /// Its root, a little enlarged: what is farther than this is out.
    chord: f64,
    edge: usize,
    part: Part,
}

/// How much balls and bounds are enlarged, so that rounding never hides the nearest point. The sums
/// that it covers are of numbers up to 3 with some ten roundings.
pub(super) const SLACK: f64 = 1e-14;

/// Beyond this `chord²`, within 2° of half a turn, chords are too much alike. At it, rounding moves
/// the angle by less than 1e-14.
pub(super) const FAR: f64 = 3.999;

impl Best {
    /// Takes over what is nearer, or as near and earlier.
    #[inline]
    fn offer(&mut self, chord_squared: f64, edge: usize, part: Part) {
        if chord_squared < self.chord_squared
            || (chord_squared == self.chord_squared && edge < self.edge)
        {
            *self = Self { chord_squared, chord: chord_squared.sqrt() + SLACK, edge, part };
        }
    }
}

impl Edges {
    /// Arcs between unit vectors, each from its first to its second.
    pub(crate) fn new(arcs: &[(DVec3, DVec3)]) -> Self {
        let edges: Vec<Edge> = arcs.iter().map(|&(start, end)| Edge::new(start, end)).collect();
        let mut levels: Vec<Vec<Bounds>> = Vec::new();
        let mut size = 1;
        while levels.last().map_or(edges.len(), Vec::len) > FAN {
            size *= FAN;
            levels.push(edges.chunks(size).map(Bounds::of).collect());
        }
        let rows = Rows::new(&edges);
        Self { edges, levels, rows }
    }

    pub(crate) fn len(&self) -> usize {
        self.edges.len()
    }

    /// All of them, if they are few and form closed loops.
    pub(super) fn few(&self) -> Option<&[Edge]> {
        (self.rows.count > 0).then_some(&self.edges)
    }

    /// The corners of an arc.
    pub(crate) fn get(&self, index: usize) -> Option<(DVec3, DVec3)> {
        self.edges.get(index).map(|edge| (edge.start, edge.end))
    }

    /// The corners of all arcs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (DVec3, DVec3)> + '_ {
        self.edges.iter().map(|edge| (edge.start, edge.end))
    }

    /// The unit normal of an arc's plane, to its left; NaN if it has no length.
    pub(crate) fn normal(&self, index: usize) -> DVec3 {
        self.edges.get(index).map_or(DVec3::NAN, |edge| edge.normal)
    }

    /// The unit normal of an arc's plane, to its left, and the unit normals of the planes across it at its
    /// ends, both positive where the foot of the perpendicular is on the arc.
    pub(crate) fn half_spaces(&self, index: usize) -> Option<(DVec3, [DVec3; 2])> {
        self.edges.get(index).map(|edge| (edge.normal, [edge.after_start, edge.before_end]))
    }

    /// [`half_spaces`](Self::half_spaces) of an arc that may come within `slack` of a plane at a height
    /// along a unit vector; `None` of many that do not.
    #[inline]
    pub(crate) fn sides_of(
        &self,
        index: usize,
        along: DVec3,
        height: f64,
        slack: f64,
    ) -> Option<(DVec3, [DVec3; 2])> {
        let edge = self.edges.get(index)?;
        let (start, end) = (along.dot(edge.start) - height, along.dot(edge.end) - height);
        let far = 4.0 * slack;
        // On one side at both ends, it may still bulge over.
        let toward = if start > far && end > far {
            -1.0
        } else if start < -far && end < -far {
            1.0
        } else {
            0.0
        };
        let bulges = || {
            edge.after_start.dot(along) * toward >= 0.0
                && edge.before_end.dot(along) * toward >= 0.0
        };
        (toward == 0.0 || bulges()).then_some((edge.normal, [edge.after_start, edge.before_end]))
    }

    /// The point nearest to a unit vector, `None` if there are no arcs.
    ///
    /// # Source
    ///
    /// P. Baerlocher, R. Boulic (2001), section 4.1: the nearest point of a great arc is the foot of
    /// the perpendicular, if that is on the arc, or else a corner. With `n` the arc's normal and
    /// `s = n · d` the foot is `d − s n`, normalised, at the straight distance
    ///
    /// ```text
    ///   chord² = 2 − 2 cos θ = 2 s² / (1 + cos θ),  s = sin θ
    /// ```
    ///
    /// # Domain and singularity
    ///
    /// Among equally near points the one on the arc that comes first. For `d = ±n` all points of an
    /// arc are equally near and the first corner is taken. A `d` that is not finite is answered as
    /// if it were opposite to the first corner of all.
    pub(crate) fn nearest(&self, d: DVec3) -> Option<Nearest> {
        let first = self.edges.first()?;
        let infinity = f64::INFINITY;
        let mut best =
            Best { chord_squared: infinity, chord: infinity, edge: usize::MAX, part: Part::Start };
        if self.rows.count > 0 {
            let mut near = self.rows.near(d);
            while near != 0 {
                let edge = near.trailing_zeros() as usize;
                self.visit_edges(edge, edge + 1, d, &mut best);
                near &= near - 1;
            }
        } else if let Some(top) = self.levels.len().checked_sub(1) {
            self.visit_groups(top, 0, d, &mut best);
        } else {
            self.visit_edges(0, self.edges.len(), d, &mut best);
        }
        let Some(edge) = self.edges.get(best.edge).filter(|_| d.is_finite()) else {
            let point = first.start;
            return Some(Nearest { point, chord_squared: 4.0, edge: 0, part: Part::Start });
        };
        if best.chord_squared > FAR {
            return self.least_far_corner(d);
        }
        let (point, part) = match best.part {
            Part::Start => (edge.start, Part::Start),
            Part::End => (edge.end, Part::End),
            Part::Interior => {
                let foot = d - edge.normal * edge.normal.dot(d);
                match quick_unit(foot).filter(|_| foot.length_squared() > SLACK * SLACK) {
                    Some(point) => (point, Part::Interior),
                    None => (edge.start, Part::Start),
                }
            }
        };
        Some(Nearest { point, chord_squared: best.chord_squared, edge: best.edge, part })
    }

    /// The nearest point if all are nearly opposite to `d`: a corner, since a foot is never farther
    /// than a right angle. Chords of nearly 2 hardly differ, so it goes by the distance to `−d`.
    #[cold]
    fn least_far_corner(&self, d: DVec3) -> Option<Nearest> {
        let mut best: Option<(f64, Nearest)> = None;
        for (index, edge) in self.edges.iter().enumerate() {
            for (point, part) in [(edge.start, Part::Start), (edge.end, Part::End)] {
                let missing = (d + point).length_squared();
                if best.is_none_or(|(most, _)| missing > most) {
                    let chord_squared = (4.0 - missing).max(0.0);
                    best = Some((missing, Nearest { point, chord_squared, edge: index, part }));
                }
            }
        }
        best.map(|(_, nearest)| nearest)
    }

    #[inline]
    fn visit_edges(&self, begin: usize, end: usize, d: DVec3, best: &mut Best) {
        for (edge, index) in self.edges[begin..end].iter().zip(begin..) {
            let s = edge.normal.dot(d);
            // The arc is no nearer than its great circle.
            if s.abs() > best.chord {
                continue;
            }
            let along = edge.after_start.dot(d);
            if along > 0.0 && edge.before_end.dot(d) > 0.0 {
                // The cosine by its two parts in the plane: √(1 − s²) has half the digits near the
                // pole of an edge.
                let across = edge.start.dot(d);
                let cosine = (along * along + across * across).sqrt();
                best.offer(2.0 * s * s / (1.0 + cosine), index, Part::Interior);
            } else {
                let to_start = (d - edge.start).length_squared();
                let to_end = (d - edge.end).length_squared();
                if to_start <= to_end {
                    best.offer(to_start, index, Part::Start);
                } else {
                    best.offer(to_end, index, Part::End);
                }
            }
        }
    }

    /// The nearest group first, until no other can hold anything nearer.
    fn visit_groups(&self, level: usize, begin: usize, d: DVec3, best: &mut Best) {
        let groups = &self.levels[level];
        let groups = &groups[begin..groups.len().min(begin + FAN)];
        let mut distances = [f64::INFINITY; FAN];
        for (distance, group) in distances.iter_mut().zip(groups) {
            *distance = group.distance(d);
        }
        for _ in groups {
            let mut next = 0;
            for i in 1..FAN {
                if distances[i] < distances[next] {
                    next = i;
                }
            }
            if distances[next] > best.chord {
                break;
            }
            distances[next] = f64::INFINITY;
            self.visit_inside(level, begin + next, d, best);
        }
    }

    fn visit_inside(&self, level: usize, group: usize, d: DVec3, best: &mut Best) {
        let begin = group * FAN;
        match level.checked_sub(1) {
            None => self.visit_edges(begin, self.edges.len().min(begin + FAN), d, best),
            Some(below) => self.visit_groups(below, begin, d, best),
        }
    }
}

impl Rows {
    fn new(edges: &[Edge]) -> Self {
        let closed = || edges.iter().all(|e| edges.iter().any(|other| other.start == e.end));
        let Some(last) = edges.last().filter(|_| edges.len() <= FEW && closed()) else {
            return Self::default();
        };
        let mut rows = vec![Row::default(); edges.len().div_ceil(LANES)];
        for i in 0..rows.len() * LANES {
            let (edge, row) = (edges.get(i).unwrap_or(last), &mut rows[i / LANES]);
            let columns = [
                (&mut row.start, edge.start),
                (&mut row.normal, edge.normal),
                (&mut row.after_start, edge.after_start),
                (&mut row.before_end, edge.before_end),
            ];
            for (column, vector) in columns {
                for (component, value) in column.iter_mut().zip(vector.to_array()) {
                    component[i % LANES] = value;
                }
            }
        }
        Self { count: edges.len(), rows }
    }

    /// The edges that may be nearest, one bit each: as near as any by the signed square of the cosine,
    /// which tells angles apart to 1e-7, or better between 1° and 179°.
    fn near(&self, d: DVec3) -> u64 {
        // One step for all lanes at a time, so that they stay in vectors.
        let dots = |[x, y, z]: &[[f64; LANES]; 3]| {
            let mut dots = [0.0; LANES];
            for lane in 0..LANES {
                dots[lane] = x[lane] * d.x + y[lane] * d.y + z[lane] * d.z;
            }
            dots
        };
        let mut cosines = [[f64::NEG_INFINITY; LANES]; FEW / LANES];
        let mut largest = [f64::NEG_INFINITY; LANES];
        for (row, cosines) in self.rows.iter().zip(&mut cosines) {
            let (start, side) = (dots(&row.start), dots(&row.normal));
            let (after, before) = (dots(&row.after_start), dots(&row.before_end));
            for lane in 0..LANES {
                // NaN, for an arc without length, is not larger.
                let beside = (after[lane] > 0.0) & (before[lane] > 0.0);
                let corner = start[lane] * start[lane].abs();
                let foot = 1.0 - side[lane] * side[lane];
                cosines[lane] = if beside { foot } else { corner };
            }
            for lane in 0..LANES {
                let larger = cosines[lane] > largest[lane];
                largest[lane] = if larger { cosines[lane] } else { largest[lane] };
            }
        }
        let largest = largest.into_iter().fold(f64::NEG_INFINITY, f64::max) - SLACK;
        let mut near = 0;
        for (i, row) in cosines.iter().enumerate() {
            let mut bits = [0; LANES];
            for lane in 0..LANES {
                bits[lane] = if row[lane] >= largest { 1_u64 << lane } else { 0 };
            }
            let [a, b, c, e] = bits;
            near |= (a | b | c | e) << (i * LANES);
        }
        near & ((1 << self.count) - 1)
    }
}

impl Edge {
    fn new(start: DVec3, end: DVec3) -> Self {
        let normal = normal(start, end);
        let after_start = normal.cross(start);
        let before_end = end.cross(normal);
        Self { start, end, normal, after_start, before_end }
    }

    /// The least and the largest of `axis · x` along it.
    fn extent(&self, axis: DVec3) -> [f64; 2] {
        let (a, b) = (axis.dot(self.start), axis.dot(self.end));
        let (along, before) = (self.after_start.dot(axis), self.before_end.dot(axis));
        // Where the axis, or its opposite, is nearest to the great circle.
        let peak = || (a * a + along * along).sqrt();
        let high = if along > 0.0 && before > 0.0 { peak() } else { a.max(b) };
        let low = if along < 0.0 && before < 0.0 { -peak() } else { a.min(b) };
        [low, high]
    }
}

/// The unit normal of the plane of two unit vectors, to the left of the way from `a` to `b`; NaN if
/// they are parallel.
///
/// `b − a` (or `a + b`) is exact where it is small, so that the normal of a short arc, or of one of
/// nearly half a turn, is as good as any.
pub(super) fn normal(a: DVec3, b: DVec3) -> DVec3 {
    let other = if a.dot(b) >= 0.0 { b - a } else { a + b };
    quick_unit(a.cross(other)).unwrap_or(DVec3::NAN)
}

/// [`unit()`], at a fifth of the cost where squares neither overflow nor underflow. Off by two ulps at
/// most.
pub(super) fn quick_unit(v: DVec3) -> Option<DVec3> {
    let squared = v.length_squared();
    if squared > 1e-200 && squared < 1e200 { Some(v / squared.sqrt()) } else { unit(v) }
}

impl Bounds {
    fn of(edges: &[Edge]) -> Self {
        let corners = || edges.iter().flat_map(|edge| [edge.start, edge.end]);
        let centre = corners().sum::<DVec3>() / (2 * edges.len()).max(1) as f64;
        let (mut farthest, mut least) = (0.0_f64, f64::INFINITY);
        for corner in corners() {
            farthest = farthest.max((corner - centre).length_squared());
            least = least.min(centre.dot(corner));
        }
        // An arc with a corner on the far side may bulge away from the centre. Otherwise its corners
        // are the farthest of it: along it, `centre · x` is a cosine that is not negative at both
        // ends, which are less than half a turn apart.
        let radius = if least >= 0.0 { farthest.sqrt() } else { 1.0 + centre.length() };

        // Parallel edges have the longest among them for an example. A ring lies in the plane that
        // the triangles from its centre make together.
        let longest = edges.iter().fold((0.0, DVec3::Z), |(length, normal), edge| {
            let squared = (edge.end - edge.start).length_squared();
            if squared > length { (squared, edge.normal) } else { (length, normal) }
        });
        let ring = edges.iter().map(|e| (e.start - centre).cross(e.end - centre)).sum();
        let [a, b] = [longest.1, quick_unit(ring).unwrap_or(DVec3::Z)].map(|across| {
            let across = if across.is_finite() { across } else { DVec3::Z };
            let [low, high] = edges.iter().fold([2.0_f64, -2.0_f64], |[low, high], edge| {
                let [l, h] = edge.extent(across);
                [low.min(l), high.max(h)]
            });
            (across, 0.5 * (low + high), 0.5 * (high - low))
        });
        let (across, middle, half) = if a.2 <= b.2 { a } else { b };
        Self { centre, radius: radius + SLACK, across, middle, half: half + SLACK }
    }

    /// No point of the group is nearer to `d` than this, by the straight distance. May be negative.
    #[inline]
    fn distance(&self, d: DVec3) -> f64 {
        let to_ball = (d - self.centre).length() - self.radius;
        let to_slab = (self.across.dot(d) - self.middle).abs() - self.half;
        to_ball.max(to_slab)
    }
}
