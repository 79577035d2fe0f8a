//! The outer boundary of sampled directions, as a spherical polygon (A17, B5).
//!
//! A cap is rolled around the samples from outside, as in the alpha shape of H. Edelsbrunner,
//! D. Kirkpatrick, R. Seidel, "On the shape of a set of points in the plane" (1983), and the walk by
//! pivoting of F. Bernardini et al., "The ball-pivoting algorithm" (1999), both on the sphere. Where
//! it cannot enter is inside. The closed walk from sample to sample is then simplified by steps that
//! only add area, so that no sample is lost.

use std::f64::consts::{FRAC_PI_2, PI};

use glam::DVec3;

use crate::limits::SwingLimit;
use crate::math::trig;

use super::unit;

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BoundaryOptions {
    /// The most corners, at least 4.
    pub(crate) corners: usize,
    /// The radius of the cap that is rolled around, in radians: gaps narrower than twice this are
    /// closed. `None` takes it from how dense the samples are.
    pub(crate) reach: Option<f64>,
    /// Radians. Nothing narrower is resolved.
    pub(crate) noise: f64,
    /// Whether fjords and corners too small to mean anything are filled.
    pub(crate) smooth: bool,
}

impl Default for BoundaryOptions {
    fn default() -> Self {
        Self { corners: 24, reach: None, noise: 0.0, smooth: true }
    }
}

/// Where samples are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Boundary {
    /// There are none.
    Nothing,
    /// All over the sphere.
    Everything,
    /// Inside all of these polygons, which [`SwingLimit::Polygons`] takes. There is one.
    Polygons(Vec<Vec<DVec3>>),
}

impl Boundary {
    /// The limit that allows what is inside; `None` for nothing.
    pub(crate) fn limit(self) -> Option<SwingLimit> {
        match self {
            Self::Nothing => None,
            Self::Everything => Some(SwingLimit::Free),
            Self::Polygons(polygons) => Some(SwingLimit::Polygons(polygons)),
        }
    }
}

/// The outer boundary of the region that the directions fill.
///
/// Every direction is inside, whatever they are; holes are filled. The outside is where the direction
/// farthest from all of them is. What is no direction is ignored.
///
/// # Convention
///
/// The inside is on the left, seen from outside the sphere. One direction, or several along an arc,
/// become a band of half the width max(`noise`, 0.25°).
///
/// # Domain and singularity
///
/// Total. The same bits for any order of the directions, and however often each comes. Where samples
/// fall apart into groups farther from each other than the reach, the reach is raised until they are
/// one. Where no walk closes, the answer is all but a polygon in the largest empty cap.
pub(crate) fn boundary(directions: &[DVec3], options: &BoundaryOptions) -> Boundary {
    let samples = Samples::new(directions);
    if samples.directions.is_empty() {
        return Boundary::Nothing;
    }
    let half_width = usable(options.noise).max(LEAST_HALF_WIDTH).min(MOST_HALF_WIDTH);
    let least_reach = 2.5 * half_width;
    let reach = match options.reach {
        Some(reach) => usable(reach),
        None => samples.reach(),
    };
    let mut reach = reach.clamp(least_reach, MOST_REACH);
    let corners = options.corners.max(4);

    let (empty, empty_radius) = samples.emptiest();
    if empty_radius < reach {
        if empty_radius < least_reach || options.reach.is_some() || samples.directions.len() > 3 {
            return Boundary::Everything;
        }
        reach = least_reach;
    }
    let mut last = false;
    loop {
        let scale = Scale { reach, half_width, smooth: options.smooth, corners, empty };
        if let Some(polygon) = attempt(&samples, &scale) {
            return Boundary::Polygons(vec![polygon]);
        }
        if last {
            break;
        }
        reach *= 1.5;
        let most = MOST_REACH.min(0.999 * empty_radius);
        if reach >= most {
            reach = most;
            last = true;
        }
    }
    match around_empty(empty, empty_radius, corners) {
        Some(polygon) => Boundary::Polygons(vec![polygon]),
        None => Boundary::Everything,
    }
}

/// A direction far from all of the given ones; `None` if there are none.
pub(super) fn emptiest(directions: &[DVec3]) -> Option<DVec3> {
    let samples = Samples::new(directions);
    (!samples.directions.is_empty()).then(|| samples.emptiest().0)
}

/// 0.25°.
const LEAST_HALF_WIDTH: f64 = 0.25 * PI / 180.0;

/// 10°: noise beyond this says nothing.
const MOST_HALF_WIDTH: f64 = 10.0 * PI / 180.0;

/// 80°. A cap of 90° is no longer convex, and pivoting needs its tangent.
const MOST_REACH: f64 = 80.0 * PI / 180.0;

/// Neighbouring corners are at least so far apart.
const APART: f64 = 2e-6;

/// Edges that are no neighbours are at least so far apart, as a sine: far more than what the limit takes
/// for touching.
const CLEAR: f64 = 2e-6;

/// A corner this near to the arc between its neighbours is on it.
const STRAIGHT: f64 = 3e-14;

/// What is outside by less counts as inside: a tenth of the tolerance of limits.
const OUTSIDE: f64 = 1e-13;

/// Finite and not negative.
fn usable(value: f64) -> f64 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}

/// How one attempt is made.
struct Scale {
    reach: f64,
    half_width: f64,
    smooth: bool,
    corners: usize,
    /// Outside.
    empty: DVec3,
}

fn attempt(samples: &Samples, scale: &Scale) -> Option<Vec<DVec3>> {
    let walked = Walk::new(samples.thinned(scale.reach), scale.reach).around(scale.empty)?;
    let mut polygon = outline(&walked, scale.half_width);
    simplify(&mut polygon, scale);
    for _ in 0..3 {
        let missing = samples.outside(&polygon, scale.empty, scale.reach);
        if missing.is_empty() {
            let good = polygon.len() <= scale.corners && is_simple(&polygon);
            return good.then_some(polygon);
        }
        if missing.iter().any(|m| m.distance > 0.6 * scale.reach) {
            return None;
        }
        polygon = take_in(&polygon, missing);
        simplify(&mut polygon, scale);
    }
    None
}

/// All but a polygon in the empty cap; `None` if there is no room for one.
fn around_empty(empty: DVec3, radius: f64, corners: usize) -> Option<Vec<DVec3>> {
    let radius = (radius - 1e-9).min(FRAC_PI_2);
    if radius < 1e-4 {
        return None;
    }
    let x = empty.any_orthonormal_vector();
    let y = empty.cross(x);
    let count = corners.clamp(4, 12);
    let (sin_r, cos_r) = trig::sin_cos(radius);
    let corner = |i: usize| {
        let (sin, cos) = trig::sin_cos(-2.0 * PI * real(i) / real(count));
        empty * cos_r + (x * cos + y * sin) * sin_r
    };
    Some((0..count).map(corner).collect())
}

// ---------------------------------------------------------------------------------------------------

/// Bits of each coordinate on a face of the cube, at the finest level.
const LEVELS: u32 = 12;

/// Distinct samples in an order of their own: along a curve through the cells of a cube, so that those
/// of one cell are together at every level.
struct Samples {
    directions: Vec<DVec3>,
    keys: Vec<u32>,
    /// How many cells are occupied at each level.
    occupied: [usize; LEVELS as usize + 1],
}

impl Samples {
    fn new(given: &[DVec3]) -> Self {
        let mut order: Vec<u64> = Vec::with_capacity(given.len());
        let at = |i: u64| usize::try_from(i & 0xffff_ffff).unwrap_or(0);
        for (i, d) in given.iter().enumerate().take(u32::MAX as usize) {
            let squared = d.length_squared();
            if squared.is_finite() && squared > 0.0 {
                order.push(u64::from(key(*d)) << 32 | i as u64);
            }
        }
        sort(&mut order);
        // Those of the same finest cell by their components.
        let mut start = 0;
        while start < order.len() {
            let mut end = start + 1;
            while end < order.len() && order[end] >> 32 == order[start] >> 32 {
                end += 1;
            }
            if end - start > 1 {
                order[start..end].sort_unstable_by(|&a, &b| compare(given[at(a)], given[at(b)]));
            }
            start = end;
        }
        let mut directions: Vec<DVec3> = Vec::with_capacity(order.len());
        let mut keys: Vec<u32> = Vec::with_capacity(order.len());
        let mut steps = [0_usize; LEVELS as usize + 1];
        let mut before = DVec3::NAN;
        for o in order {
            let d = given[at(o)];
            if d == before {
                continue;
            }
            before = d;
            let Some(d) = direction(d) else { continue };
            let key = u32::try_from(o >> 32).unwrap_or(0);
            if let Some(last) = keys.last().filter(|last| **last != key) {
                let bit = 31 - (last ^ key).leading_zeros();
                steps[LEVELS.saturating_sub(bit / 2) as usize] += 1;
            }
            directions.push(d);
            keys.push(key);
        }
        let mut occupied = [0; LEVELS as usize + 1];
        let mut count = 1;
        for (occupied, step) in occupied.iter_mut().zip(steps) {
            count += step;
            *occupied = count;
        }
        Self { directions, keys, occupied }
    }

    /// The number of the cell at a level.
    fn cell(&self, i: usize, level: u32) -> u32 {
        self.keys[i] >> (2 * (LEVELS - level))
    }

    /// A reach by the area that a sample has: that of cells so large that they hold 2.5 samples each,
    /// between two levels. The largest empty cap among n random samples that have the area s² each has
    /// a radius of s √(ln n / π), 1.6 s for 2000; a little more keeps the cap out. It need not be finer
    /// than a thirtieth of the size of the region.
    fn reach(&self) -> f64 {
        let count = real(self.directions.len());
        let each = |level: u32| count / real(self.occupied[level as usize]);
        let covered = |level: u32| {
            real(self.occupied[level as usize]) * (4.0 * PI / 6.0) / real(1 << (2 * level))
        };
        let mut level = 0;
        while level + 1 < LEVELS && each(level + 1) >= ENOUGH {
            level += 1;
        }
        let (coarse, fine) = (each(level), each(level + 1));
        let part = if coarse > fine { (coarse - ENOUGH) / (coarse - fine) } else { 0.0 };
        let part = part.clamp(0.0, 1.0);
        let area = covered(level) * (1.0 - part) + covered(level + 1) * part;
        (REACH * (area / count).sqrt()).max(0.03 * area.sqrt())
    }

    /// One sample of each cell that is small for a reach.
    fn thinned(&self, reach: f64) -> Vec<DVec3> {
        let share = if self.directions.len() > 4096 { 0.35 } else { 0.1 };
        let mut level = 0;
        while level < LEVELS && FRAC_PI_2 / real(1 << level) > share * reach {
            level += 1;
        }
        if self.occupied[level as usize] == self.directions.len() {
            return self.directions.clone();
        }
        self.first_of_cells(level)
    }

    fn first_of_cells(&self, level: u32) -> Vec<DVec3> {
        let mut kept = Vec::new();
        let mut before = u32::MAX;
        for (i, d) in self.directions.iter().enumerate() {
            let cell = self.cell(i, level);
            if cell != before {
                kept.push(*d);
                before = cell;
            }
        }
        kept
    }

    /// A direction far from all samples, in the part of the outside that holds the farthest one, and
    /// how far it is from the nearest of them.
    fn emptiest(&self) -> (DVec3, f64) {
        // If all are within 90° of some direction, the opposite is at least 90° from all, and what is
        // that far from all is together.
        let sum: DVec3 = self.directions.iter().sum();
        if let Some(mean) = unit(sum) {
            let least = self.directions.iter().fold(1.0_f64, |least, d| least.min(mean.dot(*d)));
            if least > 1e-6 {
                return (-mean, PI - trig::acos(least.min(1.0)));
            }
        }
        let mut level = 0;
        while level < LEVELS && self.occupied[level as usize + 1] <= 1500 {
            level += 1;
        }
        let some = self.first_of_cells(level);
        let nearest = |d: DVec3| some.iter().fold(-1.0_f64, |most, s| most.max(s.dot(d)));
        let mut best = (DVec3::Z, 2.0);
        // Evenly over the sphere, on a spiral by the golden angle.
        let tries = (some.len() / 2).clamp(50, 200);
        for i in 0..tries {
            let z = 1.0 - (2.0 * real(i) + 1.0) / real(tries);
            let (sin, cos) = trig::sin_cos(2.399_963_229_728_653 * real(i));
            let across = (1.0 - z * z).sqrt();
            let d = DVec3::new(across * cos, across * sin, z);
            let near = nearest(d);
            if near < best.1 {
                best = (d, near);
            }
        }
        // Up the hill.
        let mut step = 0.15;
        while step > 0.01 {
            let x = best.0.any_orthonormal_vector();
            let y = best.0.cross(x);
            let mut moved = false;
            for along in [x, y, -x, -y] {
                let Some(d) = unit(best.0 + along * step) else { continue };
                let near = nearest(d);
                if near < best.1 {
                    best = (d, near);
                    moved = true;
                }
            }
            if !moved {
                step *= 0.5;
            }
        }
        let near = self.directions.iter().fold(-1.0_f64, |most, s| most.max(s.dot(best.0)));
        (best.0, trig::acos(near.clamp(-1.0, 1.0)))
    }

    /// The samples outside of a polygon.
    fn outside(&self, polygon: &[DVec3], empty: DVec3, reach: f64) -> Vec<Missing> {
        let sides = Sides::new(polygon, empty);
        let mut missing = Vec::new();
        let count = self.directions.len();
        if count < 1000 {
            // A cap inside holds many.
            let sum: DVec3 = self.directions.iter().sum();
            let middle = unit(sum).filter(|middle| sides.contains(*middle) == Some(true));
            let (middle, near) = middle.map_or((DVec3::ZERO, -1.0), |middle| {
                (middle, 0.999 * sides.nearest(middle).chord_squared)
            });
            for d in &self.directions {
                if (*d - middle).length_squared() > near {
                    sides.check(*d, &mut missing);
                }
            }
            return missing;
        }
        // Cells as a whole where they are clear of the boundary.
        let mut level = 0;
        while level < LEVELS && FRAC_PI_2 / real(1 << level) > reach {
            level += 1;
        }
        let mut start = 0;
        while start < count {
            let cell = self.cell(start, level);
            let mut end = start + 1;
            while end < count && self.cell(end, level) == cell {
                end += 1;
            }
            let group = &self.directions[start..end];
            start = end;
            let middle = unit(group.iter().sum());
            let clear = group.len() > 2
                && middle.is_some_and(|middle| {
                    let farthest = |most: f64, d: &DVec3| most.max((*d - middle).length_squared());
                    let radius = group.iter().fold(0.0, farthest);
                    let nearest = sides.nearest(middle);
                    nearest.chord_squared > 1.1 * radius && sides.contains(middle) == Some(true)
                });
            if !clear {
                for d in group {
                    sides.check(*d, &mut missing);
                }
            }
        }
        missing
    }
}

/// Sorts by the upper half of 27 bits; what is below may be in any order. By digits if there are many.
fn sort(order: &mut Vec<u64>) {
    if order.len() < 4096 {
        order.sort_unstable();
        return;
    }
    let mut other = vec![0; order.len()];
    for shift in [32, 41, 50] {
        let digit = |x: u64| usize::try_from(x >> shift & 511).unwrap_or(0);
        let mut starts = [0_usize; 512];
        for &x in order.iter() {
            starts[digit(x)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        for &x in order.iter() {
            let place = &mut starts[digit(x)];
            other[*place] = x;
            *place += 1;
        }
        std::mem::swap(order, &mut other);
    }
}

/// Samples in a cell that tell how dense they are.
const ENOUGH: f64 = 2.5;

/// Times √(area / samples).
const REACH: f64 = 1.8;

/// The same direction as a unit vector: unchanged if it is one.
fn direction(d: DVec3) -> Option<DVec3> {
    if (d.length_squared() - 1.0).abs() < 1e-14 { Some(d) } else { unit(d) }
}

/// An order of vectors, by their components.
pub(super) fn compare(a: DVec3, b: DVec3) -> std::cmp::Ordering {
    a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z))
}

/// The cell of a direction on a cube around the sphere: face, then bits of both coordinates in turn.
///
/// # Source
///
/// The quadratic transform of S2 (google/s2geometry, `s2coords.h`), which makes cells nearly equal.
fn key(d: DVec3) -> u32 {
    let a = d.abs();
    let (face, u, v, w) = if a.x >= a.y && a.x >= a.z {
        (0, d.y, d.z, d.x)
    } else if a.y >= a.z {
        (2, d.z, d.x, d.y)
    } else {
        (4, d.x, d.y, d.z)
    };
    let place = |u: f64| {
        let u = u / w.abs();
        let half = 0.5 * (1.0 + 3.0 * u.abs()).sqrt();
        let s = if u >= 0.0 { half } else { 1.0 - half };
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to the range of the cells"
        )]
        let cell = (s * f64::from(1 << LEVELS)).clamp(0.0, f64::from((1 << LEVELS) - 1)) as u32;
        cell
    };
    let face = if w < 0.0 { face + 1 } else { face };
    face << (2 * LEVELS) | spread(place(u)) << 1 | spread(place(v))
}

/// Bits of a number of twelve at every second place.
fn spread(x: u32) -> u32 {
    let x = (x | x << 8) & 0x00ff_00ff;
    let x = (x | x << 4) & 0x0f0f_0f0f;
    let x = (x | x << 2) & 0x3333_3333;
    (x | x << 1) & 0x5555_5555
}

#[allow(clippy::cast_precision_loss, reason = "counts")]
fn real(n: usize) -> f64 {
    n as f64
}

// ---------------------------------------------------------------------------------------------------

/// Points to roll a cap around, sorted along an axis.
struct Walk {
    points: Vec<DVec3>,
    axis: usize,
    sin: f64,
    cos: f64,
    tan: f64,
}

/// Fewer points are all looked at.
const SORTED: usize = 160;

/// The cap turns about a point of the boundary, counter-clockwise seen from outside.
#[derive(Clone, Copy, Debug)]
struct Visit {
    point: usize,
    at: DVec3,
    /// Where the centre of the cap is, seen from the point, when it arrives: a unit tangent.
    arrives: DVec3,
    /// The same when it touches the next point.
    leaves: DVec3,
    /// Whether it turns by more than half a turn.
    beyond: bool,
}

impl Walk {
    fn new(mut points: Vec<DVec3>, reach: f64) -> Self {
        let first = points.first().copied().unwrap_or(DVec3::Z);
        let low = points.iter().fold(first, |low, p| low.min(*p));
        let high = points.iter().fold(first, |high, p| high.max(*p));
        let extent = high - low;
        let axis = if extent.x >= extent.y && extent.x >= extent.z {
            0
        } else if extent.y >= extent.z {
            1
        } else {
            2
        };
        if points.len() > SORTED {
            points.sort_by(|a, b| a[axis].total_cmp(&b[axis]));
        }
        let (sin, cos) = trig::sin_cos(reach);
        Self { points, axis, sin, cos, tan: sin / cos }
    }

    /// Once around, beginning at the point nearest to a direction that has an empty cap of this radius
    /// around it, or a larger one. `None` if it does not come back.
    fn around(&self, empty: DVec3) -> Option<Vec<Visit>> {
        let mut start = 0;
        let mut nearest = -2.0;
        for (i, p) in self.points.iter().enumerate() {
            let cosine = p.dot(empty);
            if cosine > nearest {
                nearest = cosine;
                start = i;
            }
        }
        let s = *self.points.get(start)?;
        let toward = empty - s * s.dot(empty);
        // Opposite directions leave only rounding.
        let toward = unit(toward).filter(|_| toward.length_squared() > 1e-20);
        let toward = toward.unwrap_or(s.any_orthonormal_vector());
        let Some((first, leaves, _)) = self.turn(start, toward, usize::MAX) else {
            let visit =
                Visit { point: start, at: s, arrives: toward, leaves: toward, beyond: true };
            return Some(vec![visit]);
        };
        let mut visits = Vec::new();
        let (mut before, mut here) = (start, first);
        let mut centre = s * self.cos + leaves * self.sin;
        for _ in 0..4 * self.points.len() + 16 {
            let p = self.points[here];
            let arrives = unit(centre - p * p.dot(centre))?;
            let (next, leaves, beyond) = self.turn(here, arrives, before)?;
            visits.push(Visit { point: here, at: p, arrives, leaves, beyond });
            if here == start && next == first {
                return Some(visits);
            }
            centre = p * self.cos + leaves * self.sin;
            (before, here) = (here, next);
        }
        None
    }

    /// Turns the cap about a point until it touches another: which, where its centre is then, and
    /// whether that is more than half a turn. `None` if nothing is in reach.
    ///
    /// Seen from p, the centre is beside the direction of q by α when the cap touches both, where
    ///
    /// ```text
    ///   cos α = tan(d / 2) / tan r,  d the angle from p to q
    /// ```
    fn turn(&self, here: usize, from: DVec3, before: usize) -> Option<(usize, DVec3, bool)> {
        let p = self.points[here];
        let across = p.cross(from);
        let most = 4.0 * self.sin * self.sin;
        let (begin, end) = if self.points.len() > SORTED {
            let (low, high) = (p[self.axis] - 2.0 * self.sin, p[self.axis] + 2.0 * self.sin);
            let begin = self.points.partition_point(|q| q[self.axis] < low);
            (begin, self.points.partition_point(|q| q[self.axis] <= high))
        } else {
            (0, self.points.len())
        };
        let mut best: Option<(usize, f64, f64)> = None;
        for (i, q) in self.points[begin..end].iter().enumerate() {
            let difference = *q - p;
            let squared = difference.length_squared();
            if squared > most || squared == 0.0 {
                continue;
            }
            let i = begin + i;
            let (x, y) = (difference.dot(from), difference.dot(across));
            let sine = (x * x + y * y).sqrt();
            let cos_alpha = (sine / ((2.0 - 0.5 * squared) * self.tan)).min(1.0);
            let sin_alpha = (1.0 - cos_alpha * cos_alpha).sqrt();
            let x_then = (x * cos_alpha + y * sin_alpha) / sine;
            let mut y_then = (y * cos_alpha - x * sin_alpha) / sine;
            // Several points on the rim of one cap: rounding must not make it go around.
            if y_then < 0.0 && y_then > -1e-9 && x_then > 0.0 && i != before {
                y_then = 0.0;
            }
            let earlier = best.is_none_or(|(_, x, y)| {
                if (y < 0.0) == (y_then < 0.0) { x_then * y - y_then * x > 0.0 } else { y < 0.0 }
            });
            if earlier {
                best = Some((i, x_then, y_then));
            }
        }
        let (i, x, y) = best?;
        Some((i, from * x + across * y, y < 0.0))
    }
}

/// The polygon through the points of a walk. Where the region is thinner than the half width, it is
/// made so wide: the cap that rolls around leaves the room.
fn outline(visits: &[Visit], half_width: f64) -> Vec<DVec3> {
    let outward: Vec<DVec3> = visits
        .iter()
        .map(|v| {
            let sum = v.arrives + v.leaves;
            let middle = unit(sum).filter(|_| sum.length_squared() > 1e-12);
            match middle {
                Some(middle) if v.beyond => -middle,
                Some(middle) => middle,
                None => v.at.cross(v.arrives),
            }
        })
        .collect();
    let near = 4.0 * half_width * half_width;
    let mut polygon = Vec::with_capacity(visits.len() + 8);
    let (sin, cos) = trig::sin_cos(half_width);
    for (i, visit) in visits.iter().enumerate() {
        let thin = visit.beyond
            || visits.iter().enumerate().any(|(j, other)| {
                i != j
                    && (visit.point == other.point
                        || ((visit.at - other.at).length_squared() < near
                            && outward[i].dot(outward[j]) < -0.5))
            });
        if !thin {
            polygon.push(visit.at);
            continue;
        }
        let across = visit.at.cross(visit.arrives);
        let (x, y) = (visit.leaves.dot(visit.arrives), visit.leaves.dot(across));
        let mut angle = trig::atan2(y, x);
        if visits.len() == 1 {
            angle = 2.0 * PI;
        } else if angle < 0.0 {
            angle += 2.0 * PI;
        }
        if angle <= FRAC_PI_2 {
            polygon.push(visit.at * cos + outward[i] * sin);
            continue;
        }
        let pieces = if angle > PI { 4.0 } else { 2.0 };
        let (count, pieces) =
            if visits.len() == 1 { (6, 6.0) } else { (1 + pieces as u32, pieces) };
        for j in 0..count {
            let (s, c) = trig::sin_cos(angle * f64::from(j) / pieces);
            polygon.push(visit.at * cos + (visit.arrives * c + across * s) * sin);
        }
    }
    polygon
}

// ---------------------------------------------------------------------------------------------------

/// One step of simplification, with what it costs.
#[derive(Clone, Copy, Debug)]
enum Step {
    None,
    /// A corner where the boundary turns right is cut off.
    Cut {
        cost: f64,
    },
    /// The edge after a corner is replaced by the point where its neighbours meet.
    Meet {
        cost: f64,
        at: DVec3,
    },
}

impl Step {
    fn cost(self) -> f64 {
        match self {
            Self::None => f64::INFINITY,
            Self::Cut { cost } | Self::Meet { cost, .. } => cost,
        }
    }
}

/// Takes corners away, cheapest first, in ways that only add to the inside, until there are few enough
/// and every further one would cost. A step costs the area that it adds, less what it saves in length
/// times a quarter of the reach: what is filled is narrower than the reach.
fn simplify(polygon: &mut Vec<DVec3>, scale: &Scale) {
    let worth = if scale.smooth { 0.25 * scale.reach } else { 0.0 };
    let free = if scale.smooth { 0.01 * scale.reach * scale.reach } else { 0.0 };
    // Roughly first, while there are many.
    let mut threshold = 1e-6 * scale.reach * scale.reach;
    while polygon.len() > 3 * scale.corners {
        let mut changed = false;
        let mut i = 0;
        while i < polygon.len() && polygon.len() > 3 {
            let step = step_at(polygon, i, worth);
            if step.cost() <= threshold && apply(polygon, i, step, scale.empty) {
                changed = true;
                // What is before may be worth it now.
                i = i.saturating_sub(1);
            } else {
                i += 1;
            }
        }
        if !changed {
            if threshold > 10.0 {
                break;
            }
            threshold *= 4.0;
        }
    }
    let mut steps: Vec<Step> = (0..polygon.len()).map(|i| step_at(polygon, i, worth)).collect();
    while polygon.len() > 3 {
        let mut best = (0, f64::INFINITY);
        for (i, step) in steps.iter().enumerate() {
            if step.cost() < best.1 {
                best = (i, step.cost());
            }
        }
        if best.1 == f64::INFINITY || (best.1 > free && polygon.len() <= scale.corners) {
            break;
        }
        let i = best.0;
        if !apply(polygon, i, steps[i], scale.empty) {
            steps[i] = Step::None;
            continue;
        }
        // One corner less: of a cut the corner itself, of a meeting the one after.
        let count = polygon.len();
        let gone = match steps[i] {
            Step::Meet { .. } => (i + 1) % (count + 1),
            _ => i,
        };
        steps.remove(gone);
        let here = if gone < i { i - 1 } else { i } % count;
        for k in 0..5 {
            let j = (here + count + k - 3) % count;
            steps[j] = step_at(polygon, j, worth);
        }
    }
}

/// What can be done at a corner.
fn step_at(polygon: &[DVec3], i: usize, worth: f64) -> Step {
    let count = polygon.len();
    let at = |k: usize| polygon[(i + k) % count];
    let (a, b, c) = (at(count - 1), at(0), at(1));
    let before = a.cross(b);
    let turn = before.dot(c);
    // What is straight up to rounding goes too.
    if turn <= 0.0 || turn * turn < STRAIGHT * STRAIGHT * (c - a).length_squared() {
        if (c + a).length_squared() < 0.5 {
            return Step::None;
        }
        let saved = (b - a).length() + (c - b).length() - (c - a).length();
        return Step::Cut { cost: area(a, c, b) - worth * saved };
    }
    let d = at(2);
    let after = c.cross(d);
    if after.dot(b) <= 0.0 || count < 4 {
        return Step::None;
    }
    // Beyond b and before c, on the right of the edge.
    let Some(meet) = unit(before.cross(after)) else { return Step::None };
    let meet = if meet.dot(b + c) < 0.0 { -meet } else { meet };
    if b.cross(c).dot(meet) >= 0.0
        || meet.dot(b) < 0.3
        || meet.dot(c) < 0.3
        || meet.dot(a) < -0.7
        || meet.dot(d) < -0.7
        || before.cross(b).dot(meet) <= 0.0
    {
        return Step::None;
    }
    let more = (meet - b).length() + (c - meet).length() - (c - b).length();
    Step::Meet { cost: area(b, meet, c).abs() + worth * more, at: meet }
}

/// Twice the tangent of half the area of a triangle, counter-clockwise: near enough to the area.
///
/// # Source
///
/// A. van Oosterom, J. Strackee, "The solid angle of a plane triangle" (1983):
/// `tan(E / 2) = a · (b × c) / (1 + a·b + b·c + c·a)`.
fn area(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    let whole = 1.0 + a.dot(b) + b.dot(c) + c.dot(a);
    // By differences: the product itself cancels.
    let box_ = a.dot((b - a).cross(c - a));
    if whole > 0.1 { 2.0 * box_ / whole } else { f64::INFINITY }
}

/// Does a step if nothing else is in the triangle that it adds.
fn apply(polygon: &mut Vec<DVec3>, i: usize, step: Step, empty: DVec3) -> bool {
    let count = polygon.len();
    let next = (i + 1) % count;
    match step {
        Step::None => false,
        Step::Cut { .. } => {
            let before = (i + count - 1) % count;
            let (a, b, c) = (polygon[before], polygon[i], polygon[next]);
            if (c - a).length_squared() < APART * APART
                || !is_free(polygon, [a, c, b], [before, i, next], empty)
            {
                return false;
            }
            polygon.remove(i);
            true
        }
        Step::Meet { at, .. } => {
            if !is_free(polygon, [polygon[i], at, polygon[next]], [i, next, i], empty) {
                return false;
            }
            polygon[i] = at;
            polygon.remove(next);
            true
        }
    }
}

/// Whether no corner other than the given ones, nor the empty direction, is in or near a triangle
/// that is walked counter-clockwise.
fn is_free(polygon: &[DVec3], [a, b, c]: [DVec3; 3], but: [usize; 3], empty: DVec3) -> bool {
    let sign = if a.cross(b - a).dot(c) >= 0.0 { 1.0 } else { -1.0 };
    let normal = |a: DVec3, b: DVec3| {
        let normal = a.cross(b - a);
        let length = normal.length();
        if length > 0.0 { normal * (sign / length) } else { DVec3::ZERO }
    };
    let (ab, bc, ca) = (normal(a, b), normal(b, c), normal(c, a));
    let middle = (a + b + c) / 3.0;
    let far = |p: DVec3| (p - middle).length_squared();
    let farthest = far(a).max(far(b)).max(far(c)) + CLEAR;
    let within = |p: DVec3| {
        far(p) < farthest && ab.dot(p) > -CLEAR && bc.dot(p) > -CLEAR && ca.dot(p) > -CLEAR
    };
    !within(empty) && polygon.iter().enumerate().all(|(i, p)| !within(*p) || but.contains(&i))
}

/// Whether a limit takes it, with room to spare.
fn is_simple(polygon: &[DVec3]) -> bool {
    let count = polygon.len();
    if count < 3 {
        return false;
    }
    let at = |i: usize| polygon[i % count];
    let normals: Option<Vec<DVec3>> =
        (0..count).map(|i| unit(at(i).cross(at(i + 1) - at(i)))).collect();
    let Some(normals) = normals else { return false };
    for i in 0..count {
        let (a, b) = (at(i), at(i + 1));
        if (b - a).length_squared() < APART * APART || (a + b).length_squared() < 1e-6 {
            return false;
        }
        // Neighbours must not fold back.
        let c = at(i + 2);
        let turn = normals[i].dot(normals[(i + 1) % count]);
        if turn < 0.0 && normals[i].dot(c).abs() < CLEAR {
            return false;
        }
        for j in i + 2..count {
            if i == 0 && j + 1 == count {
                continue;
            }
            let (c, d) = (at(j), at(j + 1));
            let (n, m) = (normals[i], normals[j]);
            let (nc, nd) = (n.dot(c), n.dot(d));
            if nc.min(nd) > CLEAR || nc.max(nd) < -CLEAR {
                continue;
            }
            let (ma, mb) = (m.dot(a), m.dot(b));
            if ma.min(mb) > CLEAR || ma.max(mb) < -CLEAR {
                continue;
            }
            let crossed = nc * nd < 0.0 && ma * mb < 0.0 && nc * ma < 0.0;
            let near = |p: DVec3, a: DVec3, b: DVec3, n: DVec3| {
                let beside = n.cross(a).dot(p) >= 0.0 && b.cross(n).dot(p) >= 0.0;
                (beside && n.dot(p).abs() < CLEAR)
                    || (p - a).length_squared() < CLEAR * CLEAR
                    || (p - b).length_squared() < CLEAR * CLEAR
            };
            if crossed
                || near(c, a, b, n)
                || near(d, a, b, n)
                || near(a, c, d, m)
                || near(b, c, d, m)
            {
                return false;
            }
        }
    }
    true
}

// ---------------------------------------------------------------------------------------------------

/// A sample outside of a polygon.
#[derive(Clone, Copy, Debug)]
struct Missing {
    at: DVec3,
    /// As a chord.
    distance: f64,
    /// The nearest.
    edge: usize,
}

/// A polygon, to be asked which samples are outside.
struct Sides<'a> {
    polygon: &'a [DVec3],
    normals: Vec<DVec3>,
    empty: DVec3,
    empty_side: Vec<bool>,
}

/// Corners looked at together.
const GROUP: usize = 32;

struct Nearest {
    edge: usize,
    chord_squared: f64,
    at_corner: bool,
}

impl<'a> Sides<'a> {
    fn new(polygon: &'a [DVec3], empty: DVec3) -> Self {
        let count = polygon.len();
        let normals: Vec<DVec3> = (0..count)
            .map(|i| {
                let (a, b) = (polygon[i], polygon[(i + 1) % count]);
                unit(a.cross(b - a)).unwrap_or(DVec3::ZERO)
            })
            .collect();
        let empty_side = normals.iter().map(|n| n.dot(empty) > 0.0).collect();
        Self { polygon, normals, empty, empty_side }
    }

    /// Whether a direction is inside, by how often the arc to it from a direction outside meets the
    /// boundary; `None` if that is a close call.
    fn contains(&self, d: DVec3) -> Option<bool> {
        let across = self.empty.cross(d);
        if across.length_squared() < 1e-12 {
            return None;
        }
        let count = self.polygon.len();
        let mut inside = false;
        let mut before = across.dot(*self.polygon.last()?) < 0.0;
        for (group, corners) in self.polygon.chunks(GROUP).enumerate() {
            // Which are on the right, one bit each: without a branch per corner.
            let (mut right, mut least) = (0_u64, f64::INFINITY);
            for (bit, corner) in corners.iter().enumerate() {
                let side = across.dot(*corner);
                right |= u64::from(side < 0.0) << bit;
                least = least.min(side.abs());
            }
            if least < 1e-14 {
                return None;
            }
            let mut changes =
                (right ^ (right << 1 | u64::from(before))) & ((1 << corners.len()) - 1);
            before = right >> (corners.len() - 1) & 1 == 1;
            while changes != 0 {
                let bit = changes.trailing_zeros();
                changes &= changes - 1;
                // The edge that ends here, and begins on the other side.
                let end = group * GROUP + bit as usize;
                let edge = if end == 0 { count - 1 } else { end - 1 };
                let side = self.normals[edge].dot(d);
                if side.abs() < 1e-14 {
                    return None;
                }
                // It is met if both have their ends on both sides of the other, in the right sense.
                let begins_right = right >> bit & 1 == 0;
                if (side > 0.0) != self.empty_side[edge] && begins_right == (side < 0.0) {
                    inside = !inside;
                }
            }
        }
        Some(inside)
    }

    fn nearest(&self, d: DVec3) -> Nearest {
        let count = self.polygon.len();
        let mut best = Nearest { edge: 0, chord_squared: f64::INFINITY, at_corner: true };
        for i in 0..count {
            let (a, b, n) = (self.polygon[i], self.polygon[(i + 1) % count], self.normals[i]);
            let s = n.dot(d);
            // The arc is no nearer than its great circle.
            if s * s > best.chord_squared {
                continue;
            }
            let beside = n.cross(a).dot(d) > 0.0 && b.cross(n).dot(d) > 0.0;
            let chord_squared = if beside {
                2.0 * s * s / (1.0 + (1.0 - s * s).max(0.0).sqrt())
            } else {
                (d - a).length_squared()
            };
            if chord_squared < best.chord_squared {
                best = Nearest { edge: i, chord_squared, at_corner: !beside };
            }
        }
        best
    }

    fn check(&self, d: DVec3, missing: &mut Vec<Missing>) {
        let contains = self.contains(d);
        if contains == Some(true) {
            return;
        }
        let nearest = self.nearest(d);
        let distance = nearest.chord_squared.sqrt();
        if distance <= OUTSIDE || (contains.is_none() && self.contains_by(&nearest, d)) {
            return;
        }
        let mut edge = nearest.edge;
        if nearest.at_corner {
            // Of the two edges at the corner, one that it is on the right of.
            let count = self.polygon.len();
            let before = (edge + count - 1) % count;
            if self.normals[before].dot(d) < self.normals[edge].dot(d) {
                edge = before;
            }
        }
        missing.push(Missing { at: d, distance, edge });
    }

    /// By the side of the nearest point of the boundary.
    fn contains_by(&self, nearest: &Nearest, d: DVec3) -> bool {
        let left = |edge: usize| self.normals[edge].dot(d) >= 0.0;
        if !nearest.at_corner {
            return left(nearest.edge);
        }
        let count = self.polygon.len();
        let before = (nearest.edge + count - 1) % count;
        let next = self.polygon[(nearest.edge + 1) % count];
        if self.normals[before].dot(next) >= 0.0 {
            left(before) && left(nearest.edge)
        } else {
            left(before) || left(nearest.edge)
        }
    }
}

/// The polygon with corners put in so that the missing samples are inside: beyond each edge the convex
/// hull of those nearest to it.
///
/// # Source
///
/// C. B. Barber, D. P. Dobkin, H. Huhdanpaa, "The quickhull algorithm for convex hulls" (1996).
fn take_in(polygon: &[DVec3], mut missing: Vec<Missing>) -> Vec<DVec3> {
    let count = polygon.len();
    missing.sort_by_key(|m| m.edge);
    let mut rest = missing.as_slice();
    let mut result = Vec::with_capacity(count + 8);
    for i in 0..count {
        let many = rest.iter().take_while(|m| m.edge == i).count();
        let (here, after) = rest.split_at(many);
        rest = after;
        result.push(polygon[i]);
        let beyond: Vec<DVec3> = here.iter().map(|m| m.at).collect();
        // Arcs still to do, the first one last.
        let mut todo = vec![(polygon[i], polygon[(i + 1) % count], beyond)];
        while let Some((a, b, beyond)) = todo.pop() {
            let n = unit(a.cross(b - a)).unwrap_or(DVec3::ZERO);
            let mut farthest = (OUTSIDE, None);
            for p in &beyond {
                let out = -n.dot(*p);
                if out > farthest.0 {
                    farthest = (out, Some(*p));
                }
            }
            let Some(p) = farthest.1 else {
                if b != polygon[(i + 1) % count] {
                    result.push(b);
                }
                continue;
            };
            let right = |a: DVec3, b: DVec3| {
                let n = unit(a.cross(b - a)).unwrap_or(DVec3::ZERO);
                beyond
                    .iter()
                    .copied()
                    .filter(|q| n.dot(*q) < -OUTSIDE && *q != p)
                    .collect::<Vec<_>>()
            };
            let (first, second) = (right(a, p), right(p, b));
            todo.push((p, b, second));
            todo.push((a, p, first));
        }
    }
    result
}

#[cfg(test)]
pub(super) mod tests;
