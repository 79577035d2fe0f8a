//! One spherical polygon, prepared for asking what is inside and what is nearest.

#![allow(
    clippy::inline_always,
    reason = "a call costs as much as the answer: a direction goes through memory on the way"
)]

use std::sync::Arc;

use glam::DVec3;

use super::edges::{Edges, Nearest, Part, quick_unit};
use super::sectors::{NEAR, Sectors};
use super::{LimitError, LimitErrorKind};

/// A spherical polygon (B5): corners joined by great arcs shorter than π, the inside on the left as
/// one walks along them seen from outside the sphere. It may be concave, larger than a hemisphere,
/// or, walked the other way around, everything but a hole.
#[derive(Clone, Debug)]
pub(crate) struct Polygon {
    corners: Vec<DVec3>,
    edges: Arc<Edges>,
    sectors: Sectors,
    pole_inside: bool,
}

/// More corners are not meant.
pub(crate) const MAX_CORNERS: usize = 65_536;

/// Neighbouring corners this near, in radians, are the same.
const SHORT: f64 = 1e-9;

/// An edge this near to half a turn, in radians, might go either way.
const LONG: f64 = 1e-6;

/// Edges this near touch. A thousandth of [`SHORT`], and a hundred times [`NEAR`]: those farther
/// apart are told apart by every test.
const TOUCH: f64 = 1e-12;

impl Polygon {
    /// Prepares a polygon. Corners may have any positive length.
    ///
    /// # Errors
    ///
    /// If there are less than three corners or more than 65 536; if a corner is zero or not finite;
    /// if an edge has no length, or nearly half a turn; if edges cross or touch other than
    /// neighbours at their corner.
    pub(crate) fn new(corners: &[DVec3]) -> Result<Self, LimitError> {
        let fail = |kind| Err(LimitError::new(kind));
        if corners.len() < 3 {
            return fail(LimitErrorKind::TooFewCorners { found: corners.len() });
        }
        if corners.len() > MAX_CORNERS {
            return fail(LimitErrorKind::TooLarge);
        }
        let direction = |(i, &corner): (usize, &DVec3)| {
            let error = || LimitError::new(LimitErrorKind::NoDirection).within(format!("[{i}]"));
            quick_unit(corner).ok_or_else(error)
        };
        let corners: Vec<DVec3> =
            corners.iter().enumerate().map(direction).collect::<Result<_, _>>()?;
        let following = corners.iter().skip(1).chain(corners.first());
        let arcs: Vec<_> = corners.iter().copied().zip(following.copied()).collect();
        for (corner, &(a, b)) in arcs.iter().enumerate() {
            if (b - a).length_squared() <= SHORT * SHORT {
                return fail(LimitErrorKind::ShortEdge { corner });
            }
            if (a + b).length_squared() <= LONG * LONG {
                return fail(LimitErrorKind::LongEdge { corner });
            }
        }
        let edges = Arc::new(Edges::new(&arcs));
        let sectors = Sectors::new(&edges);
        let mut crossing = None;
        sectors.find_pair(|i, j| {
            let (i, j) = (i.min(j), i.max(j));
            if touch(&edges, i, j) {
                crossing = Some([i, j]);
            }
            crossing.is_some()
        });
        if let Some(edges) = crossing {
            return fail(LimitErrorKind::Crossing { edges });
        }
        let mut polygon = Self { corners, edges, sectors, pole_inside: false };
        polygon.pole_inside = polygon.contains_by_nearest(polygon.sectors.pole());
        Ok(polygon)
    }

    /// Unit vectors.
    pub(crate) fn corners(&self) -> &[DVec3] {
        &self.corners
    }

    /// Edge `i` goes from corner `i` to the next.
    pub(crate) const fn edges(&self) -> &Arc<Edges> {
        &self.edges
    }

    /// Whether the directions are inside to which a corner is nearest, and no point beside it: where the
    /// boundary turns right.
    pub(super) fn is_inside_about(&self, corner: usize) -> bool {
        let count = self.corners.len();
        let next = self.corners[(corner + 1) % count];
        self.edges.normal((corner + count - 1) % count).dot(next) < 0.0
    }

    /// Whether a unit vector is inside or, up to rounding, on the boundary. Nothing that is not
    /// finite is.
    #[inline(always)]
    pub(crate) fn contains(&self, d: DVec3) -> bool {
        match self.sectors.odd(d) {
            Some(odd) => odd ^ self.pole_inside,
            None => self.contains_by_nearest(d),
        }
    }

    /// The point of the boundary nearest to a unit vector. A corner is the [`Part::Start`] of its
    /// edge, never the end of the one before. See [`Edges::nearest`] for ties and for what is not
    /// finite.
    pub(crate) fn nearest(&self, d: DVec3) -> Nearest {
        let nearest = self.edges.nearest(d);
        // There are edges.
        let point = self.corners[0];
        let none = Nearest { point, chord_squared: 4.0, edge: 0, part: Part::Start };
        let nearest = nearest.unwrap_or(none);
        match nearest.part {
            Part::End => Nearest {
                edge: (nearest.edge + 1) % self.edges.len(),
                part: Part::Start,
                ..nearest
            },
            _ => nearest,
        }
    }

    /// By which side of the nearest point it is on: the way there meets no other edge. At a corner
    /// where the boundary turns left the inside is left of both edges, otherwise left of either.
    #[cold]
    fn contains_by_nearest(&self, d: DVec3) -> bool {
        if !d.is_finite() {
            return false;
        }
        // Most who ask are on it.
        if self.sectors.is_on_edge(d) {
            return true;
        }
        let nearest = self.nearest(d);
        if nearest.chord_squared <= NEAR * NEAR {
            return true;
        }
        let edge = nearest.edge;
        let left = |edge| self.edges.normal(edge).dot(d) >= 0.0;
        if nearest.part == Part::Interior {
            return left(edge);
        }
        let count = self.corners.len();
        let before = (edge + count - 1) % count;
        let turns_left = self.edges.normal(before).dot(self.corners[(edge + 1) % count]) >= 0.0;
        if turns_left { left(before) && left(edge) } else { left(before) || left(edge) }
    }
}

/// Whether two edges of a polygon, `i < j`, have a point in common, other than the corner of
/// neighbours.
fn touch(edges: &Edges, i: usize, j: usize) -> bool {
    let (Some((a, b)), Some((c, d))) = (edges.get(i), edges.get(j)) else {
        return false;
    };
    let (n, m) = (edges.normal(i), edges.normal(j));
    let (nc, nd) = (n.dot(c), n.dot(d));
    if i + 1 == j {
        // Two half circles that begin at a corner have nothing else in common unless they are the
        // same.
        return (nd.abs() <= TOUCH && near_arc(d, a, b, n))
            || (m.dot(a).abs() <= TOUCH && near_arc(a, c, d, m));
    }
    if i == 0 && j + 1 == edges.len() {
        return (nc.abs() <= TOUCH && near_arc(c, a, b, n))
            || (m.dot(b).abs() <= TOUCH && near_arc(b, c, d, m));
    }
    if nc.min(nd) > TOUCH || nc.max(nd) < -TOUCH {
        return false;
    }
    let (ma, mb) = (m.dot(a), m.dot(b));
    if ma.min(mb) > TOUCH || ma.max(mb) < -TOUCH {
        return false;
    }
    // Arcs whose ends are on both sides of each other's plane meet, or one meets the opposite of the
    // other; the sides tell which.
    (nc * nd < 0.0 && ma * mb < 0.0 && nc * ma < 0.0)
        || near_arc(c, a, b, n)
        || near_arc(d, a, b, n)
        || near_arc(a, c, d, m)
        || near_arc(b, c, d, m)
}

/// Whether `p` is within [`TOUCH`] of the arc from `a` to `b` with normal `n`.
fn near_arc(p: DVec3, a: DVec3, b: DVec3, n: DVec3) -> bool {
    let beside = n.cross(a).dot(p) >= 0.0 && b.cross(n).dot(p) >= 0.0;
    (beside && n.dot(p).abs() <= TOUCH)
        || (p - a).length_squared() <= TOUCH * TOUCH
        || (p - b).length_squared() <= TOUCH * TOUCH
}

#[cfg(test)]
mod tests;
