//! Temporary.
use super::curve::{GreatArc, triangle_area};
use super::{LimitError, LimitErrorKind};
use crate::math::unit;
use glam::DVec3;
#[derive(Clone, Debug)]
pub(crate) struct Polygon {
    corners: Vec<DVec3>,
    edges: Edges,
}
#[derive(Clone, Debug)]
pub(crate) struct Edges {
    arcs: Vec<GreatArc>,
}
pub(crate) struct Found {
    pub point: DVec3,
    pub chord_square: f64,
    pub interior: bool,
    pub normal: DVec3,
    pub edge: usize,
}
impl Edges {
    pub(crate) fn new(a: &[(DVec3, DVec3)]) -> Self {
        Self { arcs: a.iter().filter_map(|(a, b)| GreatArc::new(*a, *b)).collect() }
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.arcs.is_empty()
    }
    pub(crate) fn len(&self) -> usize {
        self.arcs.len()
    }
    pub(crate) fn get(&self, i: usize) -> (DVec3, DVec3) {
        (self.arcs[i].from, self.arcs[i].to)
    }
    pub(crate) fn nearest(&self, d: DVec3) -> Found {
        let mut best: Option<Found> = None;
        for (i, a) in self.arcs.iter().enumerate() {
            let f = a.foot(d);
            if best.as_ref().is_none_or(|b| f.chord_square < b.chord_square) {
                best = Some(Found {
                    point: f.point,
                    chord_square: f.chord_square,
                    interior: f.at.is_some(),
                    normal: a.normal,
                    edge: i,
                });
            }
        }
        best.unwrap_or(Found {
            point: d,
            chord_square: 0.0,
            interior: false,
            normal: DVec3::Z,
            edge: 0,
        })
    }
}
impl Polygon {
    pub(crate) fn new(corners: &[DVec3]) -> Result<Self, LimitError> {
        if corners.len() < 3 {
            return Err(LimitError::new(LimitErrorKind::TooFewCorners { found: corners.len() }));
        }
        let corners: Vec<DVec3> = corners.iter().map(|c| unit(*c).unwrap_or(DVec3::Z)).collect();
        let n = corners.len();
        let e: Vec<_> = (0..n).map(|i| (corners[i], corners[(i + 1) % n])).collect();
        Ok(Self { edges: Edges::new(&e), corners })
    }
    pub(crate) fn corners(&self) -> &[DVec3] {
        &self.corners
    }
    pub(crate) fn contains(&self, d: DVec3) -> bool {
        let f = self.edges.nearest(d);
        if f.chord_square < 1e-30 {
            return true;
        }
        let _ = triangle_area;
        let n = self.corners.len();
        if f.interior {
            return f.normal.dot(d) >= 0.0;
        }
        let i = (0..n)
            .min_by(|a, b| {
                (self.corners[*a] - d)
                    .length_squared()
                    .total_cmp(&(self.corners[*b] - d).length_squared())
            })
            .unwrap_or(0);
        let (e, x) = (&self.edges.arcs[(i + n - 1) % n], &self.edges.arcs[i]);
        let convex = e.normal.dot(x.to) > 0.0;
        let (l, r) = (e.normal.dot(d) >= 0.0, x.normal.dot(d) >= 0.0);
        if convex { l && r } else { l || r }
    }
}
