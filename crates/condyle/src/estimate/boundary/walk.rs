//! A cap that rolls around points.

use std::f64::consts::{FRAC_PI_2, PI};

use glam::DVec3;

use super::solid_angle;
use crate::estimate::unit;
use crate::math::trig;

/// Points to roll a cap around: in strips across one axis that are as wide as a cap, and along another
/// axis in each of them.
pub(super) struct Walk {
    points: Vec<DVec3>,
    /// Where strips begin, and the end of the last one.
    strips: Vec<usize>,
    low: DVec3,
    /// Across strips, and along.
    axes: [usize; 2],
    sin: f64,
    cos: f64,
    tan: f64,
}

/// Fewer points are all looked at.
const FEW: usize = 160;

/// The cap turns about a point of the boundary, counter-clockwise seen from outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
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
    pub(super) fn new(points: &[DVec3], reach: f64) -> Self {
        let (sin, cos) = trig::sin_cos(reach);
        let first = points.first().copied().unwrap_or(DVec3::Z);
        let low = points.iter().fold(first, |low, p| low.min(*p));
        let high = points.iter().fold(first, |high, p| high.max(*p));
        let extent = high - low;
        let mut by_extent = [0, 1, 2];
        by_extent.sort_by(|a, b| extent[*b].total_cmp(&extent[*a]));
        let axes = [by_extent[0], by_extent[1]];
        let mut walk =
            Self { points: points.to_vec(), strips: vec![0], low, axes, sin, cos, tan: sin / cos };
        if points.len() > FEW {
            let mut order: Vec<u64> = (0_u64..)
                .zip(points)
                .map(|(i, p)| walk.strip(p[axes[0]]) << 54 | walk.place(p[axes[1]]) << 32 | i)
                .collect();
            order.sort_unstable();
            let at = |o: &u64| points[usize::try_from(o & 0xffff_ffff).unwrap_or(0)];
            walk.points = order.iter().map(at).collect();
            let last = order.last().map_or(0, |o| o >> 54);
            let begin = |strip: u64| order.partition_point(|o| o >> 54 < strip);
            walk.strips = (0..=last).map(begin).collect();
        }
        walk.strips.push(points.len());
        walk
    }

    /// Which strip a coordinate across them is in: at most 1024, as no cap is smaller than half a degree.
    fn strip(&self, across: f64) -> u64 {
        whole((across - self.low[self.axes[0]]) / (2.0 * self.sin)).min(1023)
    }

    /// A coordinate along strips in steps of [`PLACE`], fewer than 2²² of them.
    fn place(&self, along: f64) -> u64 {
        whole((along - self.low[self.axes[1]]) / PLACE)
    }

    /// Once around, beginning at the point nearest to a direction that has an empty cap of this radius
    /// around it, or a larger one. `None` if it does not come back.
    pub(super) fn around(&self, empty: DVec3) -> Option<Vec<Visit>> {
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
        let strips = self.strips.len() - 1;
        let strip = usize::try_from(self.strip(p[self.axes[0]])).unwrap_or(0).min(strips - 1);
        let mut best: Option<(usize, f64, f64)> = None;
        for strip in strip.saturating_sub(1)..(strip + 2).min(strips) {
            let (mut begin, mut end) = (self.strips[strip], self.strips[strip + 1]);
            if strips > 1 {
                // In one place they are in any order.
                let far = 2.0 * self.sin + 2.0 * PLACE;
                let along = |q: &DVec3| q[self.axes[1]] - p[self.axes[1]];
                let inside = &self.points[begin..end];
                end = begin + inside.partition_point(|q| along(q) <= far);
                begin += inside.partition_point(|q| along(q) < -far);
            }
            for (i, q) in (begin..end).zip(&self.points[begin..end]) {
                let difference = *q - p;
                let squared = difference.length_squared();
                if squared > most || squared == 0.0 {
                    continue;
                }
                let (x, y) = (difference.dot(from), difference.dot(across));
                // The direction of the centre then, times (1 + cos d) tan r sin² d: only signs matter.
                let sine_squared = x * x + y * y;
                let scale = (2.0 - 0.5 * squared) * self.tan;
                let root = (sine_squared * (scale * scale - sine_squared)).max(0.0).sqrt();
                let x_then = x * sine_squared + y * root;
                let mut y_then = y * sine_squared - x * root;
                // Several points on the rim of one cap: rounding must not make it go around.
                if y_then < 0.0
                    && y_then > -1e-9 * scale * sine_squared
                    && x_then > 0.0
                    && i != before
                {
                    y_then = 0.0;
                }
                let earlier = best.is_none_or(|(_, x, y)| {
                    if (y < 0.0) == (y_then < 0.0) {
                        x_then * y - y_then * x > 0.0
                    } else {
                        y < 0.0
                    }
                });
                if earlier {
                    best = Some((i, x_then, y_then));
                }
            }
        }
        let (i, x, y) = best?;
        let leaves = unit(from * x + across * y)?;
        Some((i, leaves, y < 0.0))
    }
}

/// How finely points are sorted along a strip.
const PLACE: f64 = 1e-6;

/// Without its fraction; 0 if negative or no number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(x: f64) -> u64 {
    x as u64
}

/// The points of a walk, each once. A larger cap touches no other ones.
pub(super) fn touched(visits: &[Visit]) -> Vec<DVec3> {
    let mut points: Vec<(usize, DVec3)> = visits.iter().map(|v| (v.point, v.at)).collect();
    points.sort_unstable_by_key(|(point, _)| *point);
    points.dedup_by_key(|(point, _)| *point);
    points.into_iter().map(|(_, at)| at).collect()
}

/// The area inside of a walk from point to point, in steradians.
pub(super) fn area(visits: &[Visit]) -> f64 {
    let points: Vec<DVec3> = visits.iter().map(|v| v.at).collect();
    solid_angle(&points)
}

/// The polygon through the points of a walk. Where the region is thinner than the half width, it is
/// made so wide: the cap that rolls around leaves the room.
pub(super) fn outline(visits: &[Visit], half_width: f64) -> Vec<DVec3> {
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
        // The ends included, unless it is all around.
        let (pieces, count) = if visits.len() == 1 {
            (6.0, 6)
        } else if angle > PI {
            (4.0, 5)
        } else {
            (2.0, 3)
        };
        for j in 0..count {
            let (s, c) = trig::sin_cos(angle * f64::from(j) / pieces);
            polygon.push(visit.at * cos + (visit.arrives * c + across * s) * sin);
        }
    }
    polygon
}
