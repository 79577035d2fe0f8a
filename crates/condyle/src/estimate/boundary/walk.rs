//! A cap that rolls around points.
#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use std::f64::consts::{FRAC_PI_2, PI};

use glam::DVec3;

use super::rows::{LANES, Row, bits, dots, rows, squares};
use super::samples::real;
use super::solid_angle;
use crate::math::{Kernel, Level, trig, unit};

/// Points to roll a cap around: in strips across one axis that are as wide as a cap, and along another
/// axis in each of them.
pub(super) struct Walk {
    points: Vec<DVec3>,
    /// The same; what is filled up is near nothing.
    rows: Vec<Row>,
    level: Level,
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
        let mut walk = Self {
            points: points.to_vec(),
            rows: Vec::new(),
            level: Level::best(),
            strips: vec![0],
            low,
            axes,
            sin,
            cos,
            tan: sin / cos,
        };
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
        walk.rows = rows(&walk.points, DVec3::NAN);
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
        let mut touches = [Touches::NONE; BLOCK];
        let Some((first, leaves, _)) = self.turn(start, toward, usize::MAX, &mut touches) else {
            let visit =
                Visit { point: start, at: s, arrives: toward, leaves: toward, beyond: true };
            return Some(vec![visit]);
        };
        let mut visits = Vec::with_capacity(self.points.len());
        let (mut before, mut here) = (start, first);
        let mut centre = s * self.cos + leaves * self.sin;
        let points = self.points.len();
        for step in 0..4 * points + 16 {
            let p = self.points[here];
            let arrives = unit(centre - p * p.dot(centre))?;
            let (next, leaves, beyond) = self.turn(here, arrives, before, &mut touches)?;
            visits.push(Visit { point: here, at: p, arrives, leaves, beyond });
            if here == start && next == first {
                return Some(visits);
            }
            centre = p * self.cos + leaves * self.sin;
            (before, here) = (here, next);
            // Where points are the same but for rounding, it may pass the start by on their other side.
            if [points + 16, 2 * points + 16, 4 * points + 15].contains(&step)
                && let Some(first) = once_around(&visits)
            {
                return Some(visits.split_off(first));
            }
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
    fn turn(
        &self,
        here: usize,
        from: DVec3,
        before: usize,
        touches: &mut [Touches; BLOCK],
    ) -> Option<(usize, DVec3, bool)> {
        let p = self.points[here];
        let across = p.cross(from);
        let strips = self.strips.len() - 1;
        let mut best = Touch { point: 0, turned: f64::INFINITY, x: 0.0, y: 0.0 };
        let mut look = |begin: usize, end: usize| {
            // Whole rows: to look at some twice does no harm.
            let begin = begin / LANES;
            self.level.run(Turn {
                rows: self.rows.get(begin..end.div_ceil(LANES)).unwrap_or_default(),
                first: begin * LANES,
                p,
                from,
                across,
                before: real(before),
                tan: self.tan,
                most: 4.0 * self.sin * self.sin,
                touches,
                best: &mut best,
            });
        };
        if strips == 1 {
            look(0, self.points.len());
        } else {
            let strip = usize::try_from(self.strip(p[self.axes[0]])).unwrap_or(0).min(strips - 1);
            for strip in strip.saturating_sub(1)..(strip + 2).min(strips) {
                let (begin, end) = (self.strips[strip], self.strips[strip + 1]);
                // In one place they are in any order.
                let far = 2.0 * self.sin + 2.0 * PLACE;
                let along = |q: &DVec3| q[self.axes[1]] - p[self.axes[1]];
                let inside = &self.points[begin..end];
                look(
                    begin + inside.partition_point(|q| along(q) < -far),
                    begin + inside.partition_point(|q| along(q) <= far),
                );
            }
        }
        if best.turned == f64::INFINITY {
            return None;
        }
        let leaves = unit(from * best.x + across * best.y)?;
        Some((best.point, leaves, best.y < 0.0))
    }
}

/// Where the last time around began, if the way to the last point was gone before.
fn once_around(visits: &[Visit]) -> Option<usize> {
    let ways = || visits.windows(2).map(|pair| [pair[0].point, pair[1].point]);
    let last = ways().next_back()?;
    let before = ways().rev().skip(1).position(|way| way == last)?;
    Some(visits.len() - 1 - before)
}

/// A point that the cap touches, and the direction of its centre then, along the one that it turns from
/// and across; of any length.
struct Touch {
    point: usize,
    /// How far the cap has turned, see [`turned`]; infinity if there is no point.
    turned: f64,
    x: f64,
    y: f64,
}

/// The same of each point of a row.
#[derive(Clone, Copy)]
struct Touches {
    turned: [f64; LANES],
    x: [f64; LANES],
    y: [f64; LANES],
}

impl Touches {
    const NONE: Self = Self { turned: [f64::INFINITY; LANES], x: [0.0; LANES], y: [0.0; LANES] };
}

/// The first point of some rows that the cap touches when it turns about `p`; see [`Walk::turn`].
struct Turn<'a> {
    rows: &'a [Row],
    /// The number of the first point.
    first: usize,
    p: DVec3,
    from: DVec3,
    across: DVec3,
    before: f64,
    tan: f64,
    /// The square of the largest chord in reach.
    most: f64,
    /// Room.
    touches: &'a mut [Touches; BLOCK],
    best: &'a mut Touch,
}

impl Kernel for Turn<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { rows, first, p, most, touches, best, .. } = self;
        let look = Look {
            p,
            from: self.from,
            across: self.across,
            before: self.before,
            tan: self.tan,
            most,
        };
        for (block, rows) in rows.chunks(BLOCK).enumerate() {
            let first = first + block * BLOCK * LANES;
            // Many are not in reach. Which ones is told first, without a branch for each.
            let (mut near, mut count) = ([0_u32; BLOCK], 0);
            for (n, row) in (0..).zip(rows) {
                near[count % BLOCK] = n;
                let any = bits(squares(row, p), |squared| squared <= most) != 0;
                count += usize::from(any);
            }
            let near = near.get(..count).unwrap_or_default();
            let mut least = [f64::INFINITY; LANES];
            for (&n, touches) in near.iter().zip(touches.iter_mut()) {
                look.at(&rows[n as usize], real(first) + LANES as f64 * f64::from(n), touches);
            }
            for (_, touches) in near.iter().zip(touches.iter()) {
                for (least, &turned) in least.iter_mut().zip(&touches.turned) {
                    *least = if turned < *least { turned } else { *least };
                }
            }
            let least = least[0].min(least[1]).min(least[2].min(least[3]));
            if least < best.turned {
                // Of several the first.
                for (n, Touches { turned, x, y }) in near.iter().zip(touches.iter()) {
                    if let Some(lane) = turned.iter().position(|turned| *turned == least) {
                        let point = first + *n as usize * LANES + lane;
                        *best = Touch { point, turned: least, x: x[lane], y: y[lane] };
                        break;
                    }
                }
            }
        }
    }
}

/// How a cap turns about `p`; see [`Turn`].
#[derive(Clone, Copy)]
struct Look {
    p: DVec3,
    from: DVec3,
    across: DVec3,
    before: f64,
    tan: f64,
    most: f64,
}

impl Look {
    /// When the cap touches the points of a row. `first` is the number of the first of them.
    #[inline(always)]
    fn at(&self, row: &Row, first: f64, touches: &mut Touches) {
        let squares = squares(row, self.p);
        let differences = seen_from(row, self.p);
        let (x, y) = (dots(&differences, self.from), dots(&differences, self.across));
        for lane in 0..LANES {
            let (x, y) = (x[lane], y[lane]);
            // The direction of the centre then, times (1 + cos d) tan r sin² d: only signs matter.
            let sine_squared = x * x + y * y;
            let scale = (2.0 - 0.5 * squares[lane]) * self.tan;
            let square = sine_squared * (scale * scale - sine_squared);
            let root = if square > 0.0 { square } else { 0.0 }.sqrt();
            let x_then = x * sine_squared + y * root;
            let y_then = y * sine_squared - x * root;
            // Several points on the rim of one cap: rounding must not make it go around.
            let rim = -1e-9 * scale * sine_squared;
            let not_below = if y_then > 0.0 { y_then } else { 0.0 };
            let on_rim = if y_then > rim { not_below } else { y_then };
            let on_rim = if x_then > 0.0 { on_rim } else { y_then };
            let y_then = if first + LANE[lane] == self.before { y_then } else { on_rim };
            let turned = turned(x_then, y_then);
            // At p itself it is NaN, which is not less than anything.
            touches.turned[lane] = if squares[lane] <= self.most { turned } else { f64::INFINITY };
            touches.x[lane] = x_then;
            touches.y[lane] = y_then;
        }
    }
}

/// The numbers of lanes.
const LANE: [f64; LANES] = [0.0, 1.0, 2.0, 3.0];

/// Rows looked at together.
const BLOCK: usize = 64;

/// Grows with the angle of a direction from x to y, from 0 to 4 for a whole turn: along a square instead
/// of a circle. Small angles keep their digits.
#[inline(always)]
fn turned(x: f64, y: f64) -> f64 {
    let half = (x.abs() - x + y.abs()) / (x.abs() + y.abs());
    if y < 0.0 { 4.0 - half } else { half }
}

/// The vectors of a row from a point.
#[inline(always)]
fn seen_from(row: &Row, p: DVec3) -> Row {
    let mut seen = *row;
    for (components, p) in seen.iter_mut().zip(p.to_array()) {
        for component in components {
            *component -= p;
        }
    }
    seen
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
    let at: Vec<DVec3> = visits.iter().map(|v| v.at).collect();
    let mut thin: Vec<bool> = visits.iter().map(|v| v.beyond).collect();
    let rows = rows(&at, DVec3::NAN);
    let near = 4.0 * half_width * half_width;
    Level::best().run(Thin { visits, outward: &outward, rows: &rows, near, thin: &mut thin });
    let mut polygon = Vec::with_capacity(visits.len() + 8);
    let (sin, cos) = trig::sin_cos(half_width);
    for (i, visit) in visits.iter().enumerate() {
        if !thin[i] {
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
        let (turn_sin, turn_cos) = trig::sin_cos(angle / pieces);
        let (mut s, mut c) = (0.0, 1.0);
        for _ in 0..count {
            polygon.push(visit.at * cos + (visit.arrives * c + across * s) * sin);
            (s, c) = (s * turn_cos + c * turn_sin, c * turn_cos - s * turn_sin);
        }
    }
    polygon
}

/// Where a walk comes by on the other side: at the same point, or near it and facing away.
struct Thin<'a> {
    visits: &'a [Visit],
    outward: &'a [DVec3],
    /// Where the visits are.
    rows: &'a [Row],
    /// The square of how near.
    near: f64,
    thin: &'a mut [bool],
}

impl Kernel for Thin<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { visits, outward, rows, near, thin } = self;
        for (i, (visit, thin)) in visits.iter().zip(thin).enumerate() {
            let other_side = |j: usize| {
                i != j && (visit.point == visits[j].point || outward[i].dot(outward[j]) < -0.5)
            };
            for (n, row) in rows.iter().enumerate() {
                if *thin {
                    break;
                }
                let mut bits = bits(squares(row, visit.at), |squared| squared < near);
                while bits != 0 && !*thin {
                    *thin = other_side(n * LANES + bits.trailing_zeros() as usize);
                    bits &= bits - 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    /// By looking at all points, for few of them and for so many that they are in strips.
    #[test]
    fn a_rolling_cap_touches_the_next_point_and_holds_none() {
        for seed in 0..60 {
            let mut rng = Rng::new(seed);
            let middle = rng.direction();
            let count = [3, 21, 150, 161, 700][rng.below(5)];
            let wide = rng.between(0.3, 1.5);
            let points: Vec<DVec3> = (0..4 * count)
                .map(|_| (middle + rng.direction() * wide * rng.uniform()).normalize())
                .filter(|p| p.dot(middle) > 0.0)
                .take(count)
                .collect();
            let reach = rng.between(0.05, 0.8);
            let walk = Walk::new(&points, reach);
            let visits = walk.around(-middle).unwrap();
            for (i, visit) in visits.iter().enumerate() {
                let centre = visit.at * walk.cos + visit.leaves * walk.sin;
                let nearest = points.iter().fold(-1.0_f64, |most, p| most.max(p.dot(centre)));
                assert!(nearest <= walk.cos + 1e-12, "{seed} {count} {nearest} {}", walk.cos);
                let next = visits[(i + 1) % visits.len()].at;
                assert!((next.dot(centre) - walk.cos).abs() <= 1e-12, "{seed} {count}");
                // On the way there too.
                let across = visit.at.cross(visit.arrives);
                let angle = trig::atan2(visit.leaves.dot(across), visit.leaves.dot(visit.arrives));
                // All the way around a single point.
                let around = angle < 0.0 || visits.len() == 1;
                let angle = if around { angle + 2.0 * PI } else { angle };
                assert_eq!(visit.beyond, angle > PI, "{seed} {count} {angle}");
                for part in [0.25, 0.5, 0.75] {
                    let (sin, cos) = trig::sin_cos(part * angle);
                    let tangent = visit.arrives * cos + across * sin;
                    let centre = visit.at * walk.cos + tangent * walk.sin;
                    let nearest = points.iter().fold(-1.0_f64, |most, p| most.max(p.dot(centre)));
                    assert!(nearest <= walk.cos + 1e-12, "{seed} {count} {nearest}");
                }
            }
        }
    }

    #[test]
    fn what_is_turned_grows_with_the_angle() {
        let mut rng = Rng::new(3);
        for _ in 0..2000 {
            let [a, b] = [(); 2].map(|()| {
                let small = [1.0, 1e-5, 1e-12, 1e-200][rng.below(4)];
                rng.between(0.0, 1.0) * small * 2.0 * PI
            });
            let of = |angle: f64, length: f64| {
                let (sin, cos) = trig::sin_cos(angle);
                turned(length * cos, length * sin)
            };
            let (at_a, at_b) = (of(a, rng.between(0.1, 9.0)), of(b, rng.between(0.1, 9.0)));
            // Small angles keep their digits.
            let apart = (a - b).abs() > 1e-14 * a.min(b).max(1e-3 * a.max(b));
            assert!(!apart || (a < b) == (at_a < at_b), "{a:e} {b:e}: {at_a:e} {at_b:e}");
        }
        assert_eq!([turned(2.0, 0.0), turned(0.0, 3.0), turned(-2.0, 0.0)], [0.0, 1.0, 2.0]);
    }

    /// Motion that follows a boundary twice has every point twice, but for rounding.
    #[test]
    fn a_rolling_cap_comes_back_though_points_are_nearly_the_same() {
        for seed in 0..400 {
            let mut rng = Rng::new(seed);
            let q = rng.rotation();
            let count = [12_u32, 60, 400][rng.below(3)];
            let radius = rng.between(0.1, 1.2);
            let ring = |i: u32| {
                let (sin, cos) = trig::sin_cos(2.0 * PI * f64::from(i) / f64::from(count));
                let (s, c) = trig::sin_cos(radius * (1.0 + 0.2 * trig::sin(6.0 * cos)));
                q * DVec3::new(s * cos, s * sin, c)
            };
            let once: Vec<DVec3> = (0..count).map(ring).collect();
            let again = once.iter().map(|p| {
                let off = rng.direction() * [1e-16, 3e-16, 1e-15, 1e-12][rng.below(4)];
                (*p + off).normalize()
            });
            let again: Vec<DVec3> = again.collect();
            let points: Vec<DVec3> = once.into_iter().chain(again).collect();
            let reach = rng.between(8.0, 20.0) * radius / f64::from(count);
            let empty = q * DVec3::NEG_Z;
            let visits = Walk::new(&points, reach.clamp(0.01, 1.0)).around(empty);
            let visits = visits.unwrap_or_default();
            assert!(visits.len() as f64 > 0.3 * f64::from(count), "{seed}: {}", visits.len());
        }
    }
}
