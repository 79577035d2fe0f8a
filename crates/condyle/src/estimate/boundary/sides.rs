//! Which samples are outside of a polygon, and a polygon that holds them too.
#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use glam::DVec3;

use super::OUTSIDE;
use super::rows::{LANES, Row, bits, dots, rows};
use crate::math::{Kernel, Level, unit};

/// A sample outside of a polygon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing {
    pub(super) at: DVec3,
    /// As a chord.
    pub(super) distance: f64,
    /// The nearest.
    pub(super) edge: usize,
}

/// A polygon, to be asked which samples are outside.
pub(super) struct Sides<'a> {
    polygon: &'a [DVec3],
    /// The same, the last one again until a row is full.
    rows: Vec<Row>,
    normals: Vec<DVec3>,
    empty: DVec3,
    empty_side: Vec<bool>,
}

/// Rows of corners looked at together: one bit for each corner.
const GROUP: usize = 64 / LANES;

pub(super) struct Nearest {
    pub(super) edge: usize,
    pub(super) chord_squared: f64,
    pub(super) at_corner: bool,
}

impl<'a> Sides<'a> {
    pub(super) fn new(polygon: &'a [DVec3], empty: DVec3) -> Self {
        let following = polygon.iter().skip(1).chain(polygon.first());
        let normal = |(a, b): (&DVec3, &DVec3)| unit(a.cross(*b - *a)).unwrap_or(DVec3::ZERO);
        let normals: Vec<DVec3> = polygon.iter().zip(following).map(normal).collect();
        let empty_side = normals.iter().map(|n| n.dot(empty) > 0.0).collect();
        let rows = rows(polygon, polygon.last().copied().unwrap_or(empty));
        Self { polygon, rows, normals, empty, empty_side }
    }

    /// Whether a direction is inside, by how often the arc to it from a direction outside meets the
    /// boundary; `None` if that is a close call.
    #[inline(always)]
    pub(super) fn contains(&self, d: DVec3) -> Option<bool> {
        let across = self.empty.cross(d);
        if across.length_squared() < 1e-12 {
            return None;
        }
        let count = self.polygon.len();
        let mut inside = false;
        let mut before = u64::from(across.dot(*self.polygon.last()?) < 0.0);
        for (group, rows) in self.rows.chunks(GROUP).enumerate() {
            // Which are on the right, one bit each: without a branch per corner.
            let (mut right, mut least) = (0_u64, [f64::INFINITY; LANES]);
            for (n, row) in rows.iter().enumerate() {
                let sides = dots(row, across);
                right |= bits(sides, |side| side < 0.0) << (n * LANES);
                for lane in 0..LANES {
                    let side = sides[lane].abs();
                    least[lane] = if side < least[lane] { side } else { least[lane] };
                }
            }
            if least.iter().any(|least| *least < 1e-14) {
                // Many samples are corners.
                return self.polygon.contains(&d).then_some(true);
            }
            let last = rows.len() * LANES - 1;
            let mut changes = (right ^ (right << 1 | before)) & (u64::MAX >> (63 - last));
            before = right >> last & 1;
            while changes != 0 {
                let bit = changes.trailing_zeros();
                changes &= changes - 1;
                // The edge that ends here, and begins on the other side.
                let end = group * GROUP * LANES + bit as usize;
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

    pub(super) fn nearest(&self, d: DVec3) -> Nearest {
        let mut best = Nearest { edge: 0, chord_squared: f64::INFINITY, at_corner: true };
        let following = self.polygon.iter().skip(1).chain(self.polygon.first());
        let edges = self.polygon.iter().zip(following).zip(&self.normals);
        for (i, ((&a, &b), &n)) in edges.enumerate() {
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

    /// Adds those of the directions that are outside.
    pub(super) fn check<'b>(
        &self,
        directions: impl Iterator<Item = &'b DVec3>,
        missing: &mut Vec<Missing>,
    ) {
        Level::best().run(Check { sides: self, directions, missing });
    }

    /// Whether a direction is on an edge, as good as; not at a corner.
    fn is_on_edge(&self, d: DVec3) -> bool {
        let following = self.polygon.iter().skip(1).chain(self.polygon.first());
        let mut edges = self.polygon.iter().zip(following).zip(&self.normals);
        edges.any(|((&a, &b), &n)| {
            n.dot(d).abs() < 0.99 * OUTSIDE && n.cross(a).dot(d) > 0.0 && b.cross(n).dot(d) > 0.0
        })
    }

    fn miss(&self, d: DVec3, contains: Option<bool>, missing: &mut Vec<Missing>) {
        // Most that are not inside are where an edge was made longer.
        if self.is_on_edge(d) {
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

struct Check<'a, I> {
    sides: &'a Sides<'a>,
    directions: I,
    missing: &'a mut Vec<Missing>,
}

impl<'b, I: Iterator<Item = &'b DVec3>> Kernel for Check<'_, I> {
    #[inline(always)]
    fn run(self) {
        for d in self.directions {
            let contains = self.sides.contains(*d);
            if contains != Some(true) {
                self.sides.miss(*d, contains, self.missing);
            }
        }
    }
}

/// The polygon with corners put in so that the missing samples are inside: beyond each edge the convex
/// hull of those nearest to it.
///
/// # Source
///
/// C. B. Barber, D. P. Dobkin, H. Huhdanpaa, "The quickhull algorithm for convex hulls" (1996).
pub(super) fn take_in(polygon: &[DVec3], mut missing: Vec<Missing>) -> Vec<DVec3> {
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
