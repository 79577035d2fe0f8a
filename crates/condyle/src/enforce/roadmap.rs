//! Ways inside a limit from one allowed rotation to another.
//!
//! Limits can be concave, wind about, or be an arc with a gap: the straight way between two allowed
//! rotations may leave them. We know of a limit only what is nearest to a rotation in it, so the way
//! is looked for on a graph: rotations spread evenly, brought inside, each joined with those near it
//! that can be walked to.

use crate::limits::PreparedLimit;
use crate::math::{Rotation, trig};

/// Rotations spread over all of SO(3): 27° apart on average. Most are outside of a limit, and come to
/// lie on its boundary, closer together.
const NODES: usize = 700;

/// With how many of the nearest each is joined.
const NEIGHBOURS: usize = 12;

/// Nodes closer than this are one.
const SAME: f64 = 0.5 * DEGREE;

/// Steps of a walk, before they are brought inside.
const STRIDE: f64 = 2.0 * DEGREE;

/// Points of a finished way are about this far apart.
const FINE: f64 = DEGREE;

/// Farther apart, even when looked at closely, is a jump.
const CLOSE: f64 = 2.0 * FINE;

/// So many ways on the graph are drawn before it counts as none.
const TRIES: usize = 16;

const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// The graph of a limit.
#[derive(Debug)]
pub(super) struct Roadmap<'a> {
    limit: &'a PreparedLimit,
    nodes: Vec<Rotation>,
    /// For each node those that can be walked to, and how long the way is.
    edges: Vec<Vec<(usize, f64)>>,
}

impl<'a> Roadmap<'a> {
    pub(super) fn new(limit: &'a PreparedLimit) -> Self {
        let mut nodes: Vec<Rotation> = Vec::new();
        for r in spread(NODES) {
            let inside = limit.project(r);
            if limit.contains(inside) && nodes.iter().all(|n| apart(*n, inside) > SAME) {
                nodes.push(inside);
            }
        }
        let mut map = Self { limit, nodes, edges: Vec::new() };
        map.edges = vec![Vec::new(); map.nodes.len()];
        for i in 0..map.nodes.len() {
            for j in map.nearest(map.nodes[i], NEIGHBOURS + 1) {
                let known = j == i || map.edges[i].iter().any(|(k, _)| *k == j);
                if known {
                    continue;
                }
                if let Some(length) = map.walk(map.nodes[i], map.nodes[j]) {
                    map.edges[i].push((j, length));
                    map.edges[j].push((i, length));
                }
            }
        }
        map
    }

    /// The nodes nearest to a rotation, nearest first.
    fn nearest(&self, to: Rotation, count: usize) -> Vec<usize> {
        // The larger the product of two quaternions, up to sign, the smaller the angle.
        let mut near: Vec<(f64, usize)> =
            self.nodes.iter().enumerate().map(|(i, n)| (-product(*n, to), i)).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        near.into_iter().take(count).map(|(_, i)| i).collect()
    }

    /// How long the straight way is when brought inside, if it is continuous.
    fn walk(&self, from: Rotation, to: Rotation) -> Option<f64> {
        let steps = count(apart(from, to) / STRIDE);
        let (mut length, mut before) = (0.0, from);
        for i in 1..=steps {
            let next =
                if i == steps { to } else { self.limit.project(from.slerp(to, ratio(i, steps))) };
            // Around a corner the way inside is faster than the straight one; a jump stays one,
            // however closely one looks.
            length += self.leg(before, next, 5)?;
            before = next;
        }
        Some(length)
    }

    fn leg(&self, from: Rotation, to: Rotation, depth: u32) -> Option<f64> {
        let length = apart(from, to);
        // As strict as a finished way, so that what is an edge here can be drawn.
        if length <= CLOSE {
            return Some(length);
        }
        let middle = self.limit.project(from.slerp(to, 0.5));
        let depth = depth.checked_sub(1)?;
        Some(self.leg(from, middle, depth)? + self.leg(middle, to, depth)?)
    }

    /// A way from one allowed rotation to another, both included, of allowed rotations that are no
    /// farther apart than two degrees. `None` if there is none, or it is narrower than the graph is
    /// fine.
    pub(super) fn way(&self, from: Rotation, to: Rotation) -> Option<Vec<Rotation>> {
        let straight = self.walk(from, to);
        let draw_straight =
            || straight.and_then(|_| Some(self.drawn(&[from, to])).filter(|w| continuous(w)));
        // A straight way inside is the shortest. Drawn more finely than it was walked, it may turn out
        // to jump after all.
        let way = match straight {
            Some(length) if length <= 1.1 * apart(from, to) + STRIDE => {
                draw_straight().or_else(|| self.around(from, to))
            }
            _ => self.around(from, to).or_else(draw_straight),
        }?;
        let shorter = self.relaxed(self.drawn(&self.shortened(&way)));
        Some(if continuous(&shorter) { shorter } else { way })
    }

    /// For each node whether and how far one can walk between it and a rotation: the nearest, or all
    /// if one can to none of them.
    fn legs(&self, to: Rotation) -> Vec<Option<f64>> {
        let mut legs = vec![None; self.nodes.len()];
        let mut any = false;
        for (n, i) in self.nearest(to, self.nodes.len()).into_iter().enumerate() {
            if any && n >= 3 * NEIGHBOURS {
                break;
            }
            legs[i] = self.walk(to, self.nodes[i]);
            any |= legs[i].is_some();
        }
        legs
    }

    /// A way on the graph: the shortest of those that are continuous when drawn.
    ///
    /// Next to −bone, and where a range of twist jumps, a walk may miss a jump that drawing finds. Then
    /// that edge is closed, and the next way looked for.
    fn around(&self, from: Rotation, to: Rotation) -> Option<Vec<Rotation>> {
        let (first, last) = (self.legs(from), self.legs(to));
        let mut closed: Vec<[usize; 2]> = Vec::new();
        'search: for _ in 0..TRIES {
            let stops = self.shortest(&first, &last, &closed)?;
            let mut way = vec![from];
            for pair in stops.windows(2) {
                let place = |stop: usize| match self.nodes.get(stop) {
                    Some(node) => *node,
                    None if stop == self.nodes.len() => from,
                    None => to,
                };
                let part = self.drawn(&[place(pair[0]), place(pair[1])]);
                if !continuous(&part) {
                    closed.push([pair[0], pair[1]]);
                    continue 'search;
                }
                way.extend(part.into_iter().skip(1));
            }
            return Some(way);
        }
        None
    }

    /// The shortest way on the graph (Dijkstra 1959) over edges that are not closed, given how far it is
    /// from its beginning to each node and from each to its end: the nodes, after the number of nodes
    /// for the beginning, and before one more for the end.
    fn shortest(
        &self,
        first: &[Option<f64>],
        last: &[Option<f64>],
        closed: &[[usize; 2]],
    ) -> Option<Vec<usize>> {
        let n = self.nodes.len();
        let open = |a: usize, b: usize| !closed.contains(&[a, b]) && !closed.contains(&[b, a]);
        let leg = |leg: Option<f64>, a: usize, b: usize| {
            leg.filter(|_| open(a, b)).unwrap_or(f64::INFINITY)
        };
        let mut length: Vec<f64> = (0..n).map(|i| leg(first[i], n, i)).collect();
        let mut before = vec![None; n];
        let mut done = vec![false; n];
        loop {
            let reached = (0..n).filter(|i| !done[*i] && length[*i].is_finite());
            let Some(i) = reached.min_by(|a, b| length[*a].total_cmp(&length[*b])) else { break };
            done[i] = true;
            for &(j, edge) in &self.edges[i] {
                if length[i] + edge < length[j] && open(i, j) {
                    length[j] = length[i] + edge;
                    before[j] = Some(i);
                }
            }
        }
        let whole = |i: &usize| length[*i] + leg(last[*i], *i, n + 1);
        let end = (0..n).min_by(|a, b| whole(a).total_cmp(&whole(b)))?;
        if !whole(&end).is_finite() {
            return None;
        }
        let mut stops = vec![n + 1];
        let mut at = Some(end);
        while let Some(i) = at {
            stops.push(i);
            at = before[i];
        }
        stops.push(n);
        stops.reverse();
        Some(stops)
    }

    /// The way along corners as points that are close together.
    fn drawn(&self, corners: &[Rotation]) -> Vec<Rotation> {
        let mut way: Vec<Rotation> = corners.first().copied().into_iter().collect();
        for pair in corners.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let steps = count(apart(from, to) / FINE);
            for i in 1..=steps {
                let next = if i == steps {
                    to
                } else {
                    self.limit.project(from.slerp(to, ratio(i, steps)))
                };
                self.refine(&mut way, next, 8);
            }
        }
        way
    }

    /// Appends a point, and before it points between it and the last one.
    fn refine(&self, way: &mut Vec<Rotation>, to: Rotation, depth: u32) {
        if let Some(&from) = way.last()
            && depth > 0
            && apart(from, to) > FINE
        {
            let middle = self.limit.project(from.slerp(to, 0.5));
            self.refine(way, middle, depth - 1);
            self.refine(way, to, depth - 1);
            return;
        }
        way.push(to);
    }

    /// The points of a way between which straight walks are shorter.
    fn shortened(&self, way: &[Rotation]) -> Vec<Rotation> {
        let Some(last) = way.len().checked_sub(1) else { return Vec::new() };
        let mut so_far = vec![0.0; way.len()];
        for i in 1..way.len() {
            so_far[i] = so_far[i - 1] + apart(way[i - 1], way[i]);
        }
        let mut kept = vec![way[0]];
        let mut i = 0;
        while i < last {
            // The farthest that a straight walk reaches no later than the way does.
            let stride = ((last - i) / 24).max(1);
            let mut next = (i + stride).min(last);
            let mut j = last;
            while j > next {
                let walk = self.walk(way[i], way[j]);
                if walk.is_some_and(|length| length <= so_far[j] - so_far[i]) {
                    next = j;
                    break;
                }
                j = j.saturating_sub(stride);
            }
            // What is not shortened is kept as it is.
            kept.extend_from_slice(if next > i + stride {
                &way[next..=next]
            } else {
                &way[i + 1..=next]
            });
            i = next;
        }
        kept
    }

    /// Rounds the corners off: each point goes to the middle of its neighbours.
    fn relaxed(&self, mut way: Vec<Rotation>) -> Vec<Rotation> {
        for _ in 0..16 {
            for i in 1..way.len().saturating_sub(1) {
                let (a, b) = (way[i - 1], way[i + 1]);
                let middle = self.limit.project(a.slerp(b, 0.5));
                if apart(a, middle) <= FINE && apart(middle, b) <= FINE {
                    way[i] = middle;
                }
            }
        }
        way
    }
}

/// Whether points of a way are close together.
fn continuous(way: &[Rotation]) -> bool {
    way.windows(2).all(|w| apart(w[0], w[1]) <= CLOSE)
}

pub(super) fn apart(a: Rotation, b: Rotation) -> f64 {
    a.distance(b).radians()
}

fn product(a: Rotation, b: Rotation) -> f64 {
    let (a, b) = (a.quat(), b.quat());
    (a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w).abs()
}

/// A number of steps, at least one.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 1 to some thousand"
)]
pub(super) fn count(steps: f64) -> usize {
    steps.ceil().clamp(1.0, 1e6) as usize
}

#[allow(clippy::cast_precision_loss, reason = "numbers of steps and frames are below 2^52")]
pub(super) fn ratio(i: usize, n: usize) -> f64 {
    i as f64 / n as f64
}

/// Rotations spread evenly over SO(3).
///
/// # Source
///
/// M. Alexa, Super-Fibonacci Spirals: Fast, Low-Discrepancy Sampling of SO(3), CVPR 2022,
/// algorithm 1: φ = √2 and ψ the root of ψ⁴ = ψ + 4.
fn spread(n: usize) -> impl Iterator<Item = Rotation> {
    const PHI: f64 = std::f64::consts::SQRT_2;
    const PSI: f64 = 1.533_751_168_755_204_3;
    (0..n).filter_map(move |i| {
        let s = ratio(2 * i + 1, 2);
        let t = ratio(2 * i + 1, 2 * n);
        let (r, rest) = (t.sqrt(), (1.0 - t).sqrt());
        let (sin_a, cos_a) = trig::sin_cos(std::f64::consts::TAU * s / PHI);
        let (sin_b, cos_b) = trig::sin_cos(std::f64::consts::TAU * s / PSI);
        Rotation::from_wxyz([rest * cos_b, r * sin_a, r * cos_a, rest * sin_b])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limit;
    use crate::math::{Angle, Arc};
    use glam::DVec3;

    #[test]
    fn rotations_are_spread_over_all_of_them() {
        let all: Vec<Rotation> = spread(NODES).collect();
        assert_eq!(all.len(), NODES);
        // Any rotation has one within 45°: an even spread of 700 has a mean spacing of 27°.
        arbtest::arbtest(|u| {
            let r = crate::math::arbitrary::rotation(u)?;
            let nearest = all.iter().map(|s| apart(*s, r)).fold(f64::INFINITY, f64::min);
            assert!(nearest < 45.0 * DEGREE, "{} from {r:?}", nearest / DEGREE);
            Ok(())
        });
    }

    #[test]
    fn the_way_around_the_gap_of_a_hinge_is_found() {
        let arc = Arc::from_degrees(-150.0, 160.0).unwrap();
        let limit = Limit::Hinge { axis: DVec3::Y, arc }.prepare().unwrap();
        let turn = |degrees| Rotation::about_y(Angle::from_degrees(degrees));
        let way = Roadmap::new(&limit).way(turn(160.0), turn(-150.0)).unwrap();
        assert!(way.iter().all(|r| limit.contains(*r)));
        let length: f64 = way.windows(2).map(|w| apart(w[0], w[1])).sum();
        assert!((length / DEGREE - 310.0).abs() < 0.5, "{}", length / DEGREE);
        assert!(way.windows(2).all(|w| apart(w[0], w[1]) <= CLOSE));
    }
}
