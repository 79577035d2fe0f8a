//! Fewer corners, by steps that only add to the inside.

use glam::DVec3;

use super::rows::{LANES, all_dots, rows};
use super::{APART, CLEAR, OUTSIDE, STRAIGHT, Scale, TOLERANCE};
use crate::math::unit;

/// One step of simplification.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A corner where the boundary turns right is cut off.
    Cut,
    /// The edge after a corner is replaced by the point where its neighbours meet.
    Meet { at: DVec3 },
}

/// A closed boundary that gets fewer corners by steps that only add to its inside.
struct Outline {
    corners: Vec<DVec3>,
    /// Where the edge after each corner begins in the boundary as it was.
    since: Vec<usize>,
    /// As it was.
    original: Vec<DVec3>,
    /// From each corner of it to the next.
    edges: Vec<Edge>,
}

impl Outline {
    /// Corners that are the same but for rounding count once.
    fn new(polygon: &[DVec3]) -> Self {
        let mut corners = polygon.to_vec();
        let same = |a: DVec3, b: DVec3| (a - b).length_squared() < OUTSIDE * OUTSIDE;
        corners.dedup_by(|b, a| same(*a, *b));
        while corners.len() > 1 && same(corners[0], corners[corners.len() - 1]) {
            corners.pop();
        }
        let following = corners.iter().skip(1).chain(corners.first());
        let edges = corners.iter().zip(following).map(|(a, b)| Edge::new(*a, *b)).collect();
        Self { since: (0..corners.len()).collect(), original: corners.clone(), edges, corners }
    }

    /// Takes steps, the least deviation first, while it is within the tolerance or there are too many
    /// corners.
    fn reduce(&mut self, scale: &Scale) {
        // Where there are few enough corners it does not matter how far beyond the tolerance one is.
        let enough = if self.corners.len() <= scale.corners { TOLERANCE } else { f64::INFINITY };
        let (mut costs, mut steps): (Vec<f64>, Vec<Step>) =
            (0..self.corners.len()).map(|i| self.step(i, enough)).unzip();
        while self.corners.len() > 3 {
            let mut least = (None, f64::INFINITY);
            for (i, &cost) in costs.iter().enumerate() {
                least = if cost < least.1 { (Some(i), cost) } else { least };
            }
            let (Some(i), cost) = least else { break };
            if cost > TOLERANCE && self.corners.len() <= scale.corners {
                break;
            }
            let step = steps[i];
            if !self.apply(i, step, scale.empty) {
                costs[i] = f64::INFINITY;
                continue;
            }
            // One corner less: of a cut the corner itself, of a meeting the one after.
            let count = self.corners.len();
            let gone = match step {
                Step::Meet { .. } => around(i + 1, count + 1),
                Step::Cut => i,
            };
            costs.remove(gone);
            steps.remove(gone);
            let here = if gone < i { i - 1 } else { around(i, count) };
            // What can be done at a corner depends on the one before it and on two after: on the new
            // edge before this corner, or on this corner itself.
            let last = if let Step::Meet { .. } = step { 3 } else { 2 };
            for k in 0..=last {
                let j = (here + 2 * count + k - 2) % count;
                (costs[j], steps[j]) = self.step(j, enough);
            }
        }
    }

    /// What can be done at a corner, and how far the boundary would then be from where it was, radians.
    /// Infinity if nothing can; if it is more than enough, by anything.
    fn step(&self, i: usize, enough: f64) -> (f64, Step) {
        match step_at(&self.corners, i) {
            Some(step) => (self.deviation(i, step, enough), step),
            None => (f64::INFINITY, Step::Cut),
        }
    }

    /// The corners of the boundary as it was, from where one edge begins to where another does.
    fn between(&self, from: usize, to: usize) -> impl Iterator<Item = DVec3> {
        let (from, to) = (self.since[from], self.since[to]);
        let (last, first) = if from <= to {
            (&self.original[from..=to], &[][..])
        } else {
            (&self.original[from..], &self.original[..=to])
        };
        last.iter().chain(first).copied()
    }

    /// The edges between them.
    fn edges_between(&self, from: usize, to: usize) -> impl Iterator<Item = &Edge> {
        let (from, to) = (self.since[from], self.since[to]);
        let (last, first) = if from <= to {
            (&self.edges[from..to], &[][..])
        } else {
            (&self.edges[from..], &self.edges[..to])
        };
        last.iter().chain(first)
    }

    /// How far apart the part of the boundary that a step replaces, as it was, and what comes instead
    /// are; some of it if that is more than enough.
    fn deviation(&self, i: usize, step: Step, enough: f64) -> f64 {
        let count = self.corners.len();
        let (before, next) = (around(i + count - 1, count), around(i + 1, count));
        match step {
            Step::Cut => {
                let edge = Edge::new(self.corners[before], self.corners[next]);
                let mut most = 0.0_f64;
                for p in self.between(before, next) {
                    most = most.max(edge.distance(p));
                    if most > enough {
                        break;
                    }
                }
                most
            }
            Step::Meet { at } => {
                // The tip is what is far, mostly.
                let mut tip = (self.original[self.since[i]] - at).length();
                for edge in self.edges_between(i, next) {
                    tip = tip.min(edge.distance(at));
                }
                if tip > enough {
                    return tip;
                }
                let after = around(i + 2, count);
                let edges =
                    [Edge::new(self.corners[before], at), Edge::new(at, self.corners[after])];
                let mut most = tip;
                for p in self.between(i, next) {
                    most = most.max(edges[0].distance(p).min(edges[1].distance(p)));
                    if most > enough {
                        break;
                    }
                }
                most
            }
        }
    }

    /// Does a step if nothing else is in the triangle that it adds.
    fn apply(&mut self, i: usize, step: Step, empty: DVec3) -> bool {
        let polygon = &mut self.corners;
        let count = polygon.len();
        let next = around(i + 1, count);
        match step {
            Step::Cut => {
                let before = around(i + count - 1, count);
                let (a, b, c) = (polygon[before], polygon[i], polygon[next]);
                if (c - a).length_squared() < APART * APART
                    || !is_free(polygon, [a, c, b], [before, i, next], empty)
                {
                    return false;
                }
                polygon.remove(i);
                self.since.remove(i);
            }
            Step::Meet { at } => {
                if !is_free(polygon, [polygon[i], at, polygon[next]], [i, next, i], empty) {
                    return false;
                }
                polygon[i] = at;
                polygon.remove(next);
                let mut nearest = (f64::INFINITY, 0);
                for (k, p) in self.between(i, next).enumerate() {
                    let far = (p - at).length_squared();
                    if far < nearest.0 {
                        nearest = (far, k);
                    }
                }
                self.since[i] = around(self.since[i] + nearest.1, self.original.len());
                self.since.remove(next);
            }
        }
        true
    }
}

/// An arc between two corners.
struct Edge {
    from: DVec3,
    to: DVec3,
    normal: DVec3,
}

impl Edge {
    fn new(from: DVec3, to: DVec3) -> Self {
        let normal = unit(from.cross(to - from)).unwrap_or(DVec3::ZERO);
        Self { from, to, normal }
    }

    /// How far a direction is from it, as a chord or a sine.
    fn distance(&self, p: DVec3) -> f64 {
        let ahead = self.normal.cross(self.from).dot(p) >= 0.0;
        match (ahead, self.to.cross(self.normal).dot(p) >= 0.0) {
            (true, true) if self.normal != DVec3::ZERO => self.normal.dot(p).abs(),
            (false, _) => (p - self.from).length(),
            _ => (p - self.to).length(),
        }
    }
}

/// Takes corners away in ways that only add to the inside: whatever leaves the boundary within the
/// tolerance of where it was, the least deviation first; and beyond the tolerance until there are few
/// enough corners.
pub(super) fn simplified(polygon: &[DVec3], scale: &Scale) -> Vec<DVec3> {
    let mut outline = Outline::new(polygon);
    outline.reduce(scale);
    outline.corners
}

/// The number of a corner that comes so far after the first, at most once around: without a division.
fn around(i: usize, count: usize) -> usize {
    if i < count { i } else { i - count }
}

/// What can be done at a corner.
fn step_at(polygon: &[DVec3], i: usize) -> Option<Step> {
    let count = polygon.len();
    let at = |k: usize| polygon[around(i + k, count)];
    let (a, b, c) = (at(count - 1), at(0), at(1));
    let before = a.cross(b);
    let turn = before.dot(c);
    // What is straight up to rounding goes too.
    if turn <= 0.0 || turn * turn < STRAIGHT * STRAIGHT * (c - a).length_squared() {
        return ((c + a).length_squared() >= 0.5).then_some(Step::Cut);
    }
    if count < 4 {
        return None;
    }
    let d = at(2);
    let after = c.cross(d);
    if after.dot(b) <= 0.0 {
        return None;
    }
    // Beyond b and before c, on the right of the edge.
    let meet = unit(before.cross(after))?;
    let meet = if meet.dot(b + c) < 0.0 { -meet } else { meet };
    let beyond = b.cross(c).dot(meet) < 0.0
        && meet.dot(b) >= 0.3
        && meet.dot(c) >= 0.3
        && meet.dot(a) >= -0.7
        && meet.dot(d) >= -0.7
        && before.cross(b).dot(meet) > 0.0;
    beyond.then_some(Step::Meet { at: meet })
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
    let middle = a + b + c;
    // Its sides say little of a thin one: it is between the ends of its longest side.
    let sides = [(a, b), (b, c), (c, a)];
    let long = |side: &(DVec3, DVec3)| (side.1 - side.0).length_squared();
    let longest = sides.into_iter().max_by(|s, t| long(s).total_cmp(&long(t)));
    let (from, to) = longest.unwrap_or((a, b));
    let along = unit(to - from).unwrap_or(DVec3::ZERO);
    let (begin, end) = (along.dot(from) - CLEAR, along.dot(to) + CLEAR);
    let within = |p: DVec3| {
        let place = along.dot(p);
        place > begin
            && place < end
            && ab.dot(p) > -CLEAR
            && bc.dot(p) > -CLEAR
            && ca.dot(p) > -CLEAR
            && middle.dot(p) > 0.0
    };
    !within(empty) && polygon.iter().enumerate().all(|(i, p)| !within(*p) || but.contains(&i))
}

/// The sine of an angle that is 0 but for rounding, of an edge as short as [`APART`].
const ROUNDING: f64 = 1e-10;

/// Whether a limit takes it, with room to spare.
pub(super) fn is_simple(polygon: &[DVec3]) -> bool {
    let count = polygon.len();
    if count < 3 {
        return false;
    }
    let at = |i: usize| polygon[around(i, count)];
    let normals: Option<Vec<DVec3>> =
        (0..count).map(|i| unit(at(i).cross(at(i + 1) - at(i)))).collect();
    let Some(normals) = normals else { return false };
    let rows = rows(polygon, polygon[0]);
    let mut sides = vec![[0.0; LANES]; rows.len()];
    for i in 0..count {
        let (a, b) = (at(i), at(i + 1));
        if (b - a).length_squared() < APART * APART || (a + b).length_squared() < 1e-6 {
            return false;
        }
        // Neighbours must not fold back.
        let c = at(i + 2);
        let turn = normals[i].dot(normals[around(i + 1, count)]);
        if turn < 0.0 && normals[i].dot(c).abs() < CLEAR {
            return false;
        }
        all_dots(&rows, normals[i], &mut sides);
        let sides = sides.as_flattened();
        let mut nd = sides[around(i + 2, count)];
        for j in i + 2..count {
            let nc = nd;
            nd = sides[if j + 1 == count { 0 } else { j + 1 }];
            let one_side = (nc > CLEAR && nd > CLEAR) || (nc < -CLEAR && nd < -CLEAR);
            if one_side || (i == 0 && j + 1 == count) {
                continue;
            }
            let (c, d) = (at(j), at(j + 1));
            let (n, m) = (normals[i], normals[j]);
            let (ma, mb) = (m.dot(a), m.dot(b));
            if ma.min(mb) > CLEAR || ma.max(mb) < -CLEAR {
                continue;
            }
            // Of edges on one circle only rounding would say whether they cross.
            let one_circle = [nc, nd, ma, mb].iter().all(|side| side.abs() < ROUNDING);
            let crossed = one_circle || (nc * nd < 0.0 && ma * mb < 0.0 && nc * ma < 0.0);
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
