//! Fewer corners, by steps that only add to the inside.

use glam::DVec3;

use super::{APART, CLEAR, STRAIGHT, Scale};
use crate::estimate::unit;

/// One step of simplification, with what it costs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
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
pub(super) fn simplify(polygon: &mut Vec<DVec3>, scale: &Scale) {
    let worth = if scale.smooth { 0.25 * scale.reach } else { 0.0 };
    let free = if scale.smooth { 0.01 * scale.reach * scale.reach } else { NO_AREA };
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

/// Steradians: what rounding makes of a corner that is on the arc between its neighbours.
const NO_AREA: f64 = 1e-13;

/// What can be done at a corner.
pub(super) fn step_at(polygon: &[DVec3], i: usize, worth: f64) -> Step {
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
pub(super) fn area(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    let whole = 1.0 + a.dot(b) + b.dot(c) + c.dot(a);
    // By differences: the product itself cancels.
    let box_ = a.dot((b - a).cross(c - a));
    if whole > 0.1 { 2.0 * box_ / whole } else { f64::INFINITY }
}

/// Does a step if nothing else is in the triangle that it adds.
pub(super) fn apply(polygon: &mut Vec<DVec3>, i: usize, step: Step, empty: DVec3) -> bool {
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
pub(super) fn is_free(
    polygon: &[DVec3],
    [a, b, c]: [DVec3; 3],
    but: [usize; 3],
    empty: DVec3,
) -> bool {
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

/// The sine of an angle that is 0 but for rounding, of an edge as short as [`APART`].
const ROUNDING: f64 = 1e-10;

/// Whether a limit takes it, with room to spare.
pub(super) fn is_simple(polygon: &[DVec3]) -> bool {
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
