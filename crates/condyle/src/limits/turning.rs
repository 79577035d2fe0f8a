//! A rotation that turns about an axis: at which angles a limit allows it.

use std::f64::consts::{PI, TAU};

use glam::{DQuat, DVec3};

use super::PreparedLimit;
use super::ball::Ball;
use crate::math::{Angle, Arc, Rotation, trig, unit};

/// The rotations `left · R(axis, ψ) · right`, for all angles ψ: what a shoulder does while its hand stays
/// where it is, and the wrist against it.
#[derive(Clone, Copy, Debug)]
pub struct Turning {
    /// What comes last.
    pub left: Rotation,
    axis: DVec3,
    /// What comes first.
    pub right: Rotation,
}

/// In what is not a polygon, arcs narrower than this may be missed, and gaps, in radians: 0.06°.
const FINE: f64 = 1e-3;

/// The distance to a boundary changes by at most this times the angle.
const SPEED: f64 = 2.0;

/// The same where the range of twist depends on the direction.
const SPEED_BY_SWING: f64 = 20.0;

/// A border at an edge's end belongs to both edges there, this far beyond their ends.
const SLACK: f64 = 1e-9;

impl Turning {
    /// `None` if the axis has no direction.
    #[must_use]
    pub fn new(left: Rotation, axis: DVec3, right: Rotation) -> Option<Self> {
        Some(Self { left, axis: unit(axis)?, right })
    }

    /// The rotation at an angle.
    #[must_use]
    pub fn at(&self, angle: Angle) -> Rotation {
        let (sin, cos) = trig::sin_cos(0.5 * angle.radians());
        let turn = self.axis * sin;
        let turn = Rotation::from_unit_unchecked(DQuat::from_xyzw(turn.x, turn.y, turn.z, cos));
        self.left * turn * self.right
    }

    /// Where it takes a vector: `even + along cos ψ + across sin ψ`.
    fn circle(&self, v: DVec3) -> [DVec3; 3] {
        let v = self.right * v;
        let even = self.axis * self.axis.dot(v);
        [even, v - even, self.axis.cross(v)].map(|part| self.left * part)
    }

    /// The quaternion at an angle: the first times cos ψ/2 and the second times sin ψ/2.
    fn halves(&self) -> [DQuat; 2] {
        let DVec3 { x, y, z } = self.axis;
        let (left, right) = (self.left.quat(), self.right.quat());
        [left * right, left * DQuat::from_xyzw(x, y, z, 0.0) * right]
    }
}

impl PreparedLimit {
    /// The arcs of angles at which a turning rotation is allowed, in the order of their beginnings from
    /// −π on; one full arc if it always is. `arcs` is emptied first.
    ///
    /// # Source
    ///
    /// The bone goes around a circle, which meets the great circle of an edge with normal n where
    /// `n · even + n · along cos ψ + n · across sin ψ = 0`. The twist has the angle t where its half
    /// angle's sine and cosine, both linear in those of ψ/2, are as those of t/2. So the borders of
    /// polygons and of a range of twist are exact. Of other shapes they are bracketed by the distance,
    /// which cannot change faster than the angle by much, and then bisected.
    ///
    /// # Domain and singularity
    ///
    /// Single angles are no arcs, and of a locked joint, a hinge and a universal joint, which have no
    /// volume, there are none even about their own axes. Of shapes other than
    /// polygons, arcs and gaps below 0.06° may be missed; and wider ones where the range of twist
    /// changes by more than 20 times as much as the direction.
    pub fn allowed(&self, turning: &Turning, arcs: &mut Vec<Arc>) {
        arcs.clear();
        if self.is_surface() {
            return;
        }
        let mut borders = Vec::new();
        match self.ball().and_then(|ball| Some((ball, ball.plain_twist()?))) {
            Some((ball, twist)) if ball.region().is_polygon() => {
                polygon_borders(ball, turning, &mut borders);
                if !twist.is_full() {
                    for end in [twist.min, twist.max] {
                        borders.extend(twist_border(ball, turning, end));
                    }
                }
            }
            _ => {
                let distance = |psi: f64| self.distance(turning.at(Angle::from_radians(psi)));
                let by_swing = self.ball().is_some_and(|ball| ball.plain_twist().is_none());
                let speed = if by_swing { SPEED_BY_SWING } else { SPEED };
                scan(|psi| distance(psi).radians(), speed, &mut borders);
            }
        }
        borders.sort_unstable_by(f64::total_cmp);
        let inside = |psi: f64| self.contains(turning.at(Angle::from_radians(psi)));
        let (Some(&first), Some(&last)) = (borders.first(), borders.last()) else {
            if inside(0.0) {
                arcs.push(Arc::FULL);
            }
            return;
        };
        let mut from = None;
        let following = borders.iter().copied().skip(1).chain([first + TAU]);
        for (here, next) in borders.iter().copied().zip(following) {
            // Narrower ones have no middle.
            let holds = next - here > 1e-14 && inside(0.5 * (here + next));
            match (holds, from) {
                (true, None) => from = Some(here),
                (false, Some(start)) if next - here > 1e-14 => {
                    arcs.extend(between(start, here));
                    from = None;
                }
                _ => {}
            }
        }
        let Some(start) = from else { return };
        let end = last.max(first + TAU);
        // Over the end of the circle into what begins there.
        match arcs.first().copied() {
            None if start == first => arcs.push(Arc::FULL),
            Some(joined) if (joined.min().radians() - first).abs() < 1e-14 => {
                arcs.remove(0);
                arcs.extend(between(start, joined.max().radians() + TAU));
            }
            _ => arcs.extend(between(start, end)),
        }
    }
}

fn between(from: f64, to: f64) -> Option<Arc> {
    Arc::new(Angle::from_radians(from), Angle::from_radians(to))
}

/// Where the bone crosses an edge.
fn polygon_borders(ball: &Ball, turning: &Turning, borders: &mut Vec<f64>) {
    let axes = ball.axes();
    let [even, along, across] = turning.circle(axes.bone()).map(|part| axes.components(part));
    let edges = ball.region().edges();
    for (i, (from, to)) in edges.iter().enumerate() {
        let n = edges.normal(i);
        let (a, b, c) = (n.dot(even), n.dot(along), n.dot(across));
        let square = b * b + c * c;
        let under = square - a * a;
        // Touched at most, or in the plane all the way.
        if under <= 0.0 || square < 1e-30 {
            continue;
        }
        let root = under.sqrt();
        let (before, after) = (n.cross(from), to.cross(n));
        for root in [root, -root] {
            let (cos, sin) = ((-a * b - c * root) / square, (-a * c + b * root) / square);
            let d = even + along * cos + across * sin;
            if before.dot(d) >= -SLACK && after.dot(d) >= -SLACK {
                borders.push(trig::atan2(sin, cos));
            }
        }
    }
}

/// Where the twist has an angle: there is one such place at most, as both halves are linear.
fn twist_border(ball: &Ball, turning: &Turning, twist: f64) -> Option<f64> {
    let bone = ball.axes().bone();
    let (sin, cos) = trig::sin_cos(0.5 * twist);
    // sin(t/2 of the rotation − twist/2) of both halves.
    let off =
        turning.halves().map(|q| (q.x * bone.x + q.y * bone.y + q.z * bone.z) * cos - q.w * sin);
    let [even, turned] = off;
    if even == 0.0 && turned == 0.0 {
        return None;
    }
    Some(Angle::from_radians(2.0 * trig::atan2(-even, turned)).wrapped().radians())
}

/// Where a function of an angle changes its sign, if it does not change faster than a speed.
fn scan(f: impl Fn(f64) -> f64, speed: f64, borders: &mut Vec<f64>) {
    const FIRST: u32 = 64;
    let at = |i: u32| -PI + TAU * f64::from(i) / f64::from(FIRST);
    let mut todo: Vec<[f64; 4]> = Vec::new();
    let mut before = f(at(0));
    for i in 0..FIRST {
        let after = f(at(i + 1));
        todo.push([at(i), before, at(i + 1), after]);
        before = after;
    }
    while let Some([a, fa, b, fb]) = todo.pop() {
        let changes = (fa < 0.0) != (fb < 0.0);
        let clear = fa.abs() + fb.abs() > speed * (b - a);
        if b - a > FINE && (changes || !clear) {
            let middle = 0.5 * (a + b);
            let fm = f(middle);
            todo.extend([[a, fa, middle, fm], [middle, fm, b, fb]]);
        } else if changes {
            borders.push(bisected(&f, [a, b], fa < 0.0));
        }
    }
}

fn bisected(f: &impl Fn(f64) -> f64, [mut a, mut b]: [f64; 2], negative: bool) -> f64 {
    while b - a > 1e-14 {
        let middle = 0.5 * (a + b);
        if middle <= a || middle >= b {
            break;
        }
        if (f(middle) < 0.0) == negative {
            a = middle;
        } else {
            b = middle;
        }
    }
    0.5 * (a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{
        EulerBox, Limit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit,
    };
    use crate::math::{EulerOrder, SwingAxes};
    use crate::synth::Rng;

    fn polygon(rng: &mut Rng, corners: u32) -> SwingLimit {
        let middle = rng.direction();
        let (x, y) = middle.any_orthonormal_pair();
        let corner = |i: u32| {
            let (sin, cos) = trig::sin_cos(TAU * f64::from(i) / f64::from(corners));
            let r = rng.between(0.3, 1.6);
            middle * trig::cos(r) + (x * cos + y * sin) * trig::sin(r)
        };
        SwingLimit::Polygons(vec![(0..corners).map(corner).collect()])
    }

    fn limits(rng: &mut Rng) -> Vec<(Limit, bool)> {
        let arc = |rng: &mut Rng| {
            let (min, width) = (rng.between(-180.0, 180.0), rng.between(20.0, 300.0));
            Arc::from_degrees(min, min + width).unwrap()
        };
        let axes = SwingAxes::new(rng.direction(), None).unwrap();
        let ball = |swing, bounds| {
            let twist = TwistLimit { bounds, ..TwistLimit::default() };
            Limit::SwingTwist(SwingTwistLimit { axes, swing, twist })
        };
        let deg = Angle::from_degrees;
        let ellipse = SwingLimit::Ellipse {
            rx: deg(rng.between(10.0, 120.0)),
            ry: deg(rng.between(10.0, 80.0)),
        };
        let table = (0..6).map(|_| TwistAt { direction: rng.direction(), arc: arc(rng) }).collect();
        let shape = polygon(rng, 20);
        vec![
            (Limit::Free, true),
            (ball(polygon(rng, 20), TwistBounds::Free), true),
            (ball(polygon(rng, 5), TwistBounds::Arc(arc(rng))), true),
            (ball(shape.clone(), TwistBounds::Arc(arc(rng))), true),
            (ball(SwingLimit::Free, TwistBounds::Arc(arc(rng))), true),
            (ball(ellipse.clone(), TwistBounds::Arc(arc(rng))), false),
            (
                ball(SwingLimit::Grown { of: Box::new(shape), by: deg(4.0) }, TwistBounds::Free),
                false,
            ),
            (ball(ellipse, TwistBounds::BySwing(table)), false),
            (
                Limit::EulerBox(EulerBox {
                    order: EulerOrder::ZYZ,
                    arcs: [arc(rng), Arc::from_degrees(20.0, 120.0).unwrap(), arc(rng)],
                }),
                false,
            ),
        ]
    }

    /// By asking at every tenth of a degree.
    #[test]
    fn c10_allowed_angles_are_those_of_a_sweep() {
        let rounds = if std::env::var_os("CONDYLE_STUDY").is_some() { 400 } else { 40 };
        let (mut arcs, mut found, mut worst) = (Vec::new(), 0, 0.0_f64);
        for seed in 0..rounds {
            let mut rng = Rng::new(seed);
            for (n, (limit, exact)) in limits(&mut rng).into_iter().enumerate() {
                let Ok(limit) = limit.prepare() else { continue };
                let turning =
                    Turning::new(rng.rotation(), rng.direction(), rng.rotation()).unwrap();
                limit.allowed(&turning, &mut arcs);
                found += arcs.len();
                assert!(arcs.windows(2).all(|pair| pair[0].max() < pair[1].min()), "{arcs:?}");
                for i in 0..3600 {
                    let psi = Angle::from_degrees(0.1 * f64::from(i) - 180.0);
                    let holds = arcs.iter().any(|arc| arc.contains(psi));
                    let m = turning.at(psi);
                    // Of what is narrower than is asked for, or on the border, either is right.
                    if limit.contains(m) != holds {
                        let border = limit.distance(m).radians().abs();
                        let least = if exact { 1e-9 } else { 2.0 * FINE };
                        assert!(border < least, "{seed} {n} {i} {holds} {border} {arcs:?}");
                    }
                }
                for end in arcs.iter().filter(|arc| !arc.is_full()).flat_map(|a| [a.min(), a.max()])
                {
                    let off = limit.distance(turning.at(end)).radians().abs();
                    if exact {
                        worst = worst.max(off);
                    }
                }
            }
        }
        println!("{found} arcs; ends in polygons off by {worst:.1e}");
        assert!(found > 100 && worst < 1e-9, "{found} {worst}");
    }

    #[test]
    fn c10_nothing_is_allowed_by_what_has_no_volume_and_everything_by_what_is_free() {
        let turning = Turning::new(Rotation::IDENTITY, DVec3::X, Rotation::IDENTITY).unwrap();
        let mut arcs = vec![Arc::FULL];
        let hinge = Limit::Hinge { axis: DVec3::Z, arc: Arc::from_degrees(-10.0, 90.0).unwrap() };
        hinge.prepare().unwrap().allowed(&turning, &mut arcs);
        assert_eq!(arcs, []);
        Limit::Free.prepare().unwrap().allowed(&turning, &mut arcs);
        assert_eq!(arcs, [Arc::FULL]);
        assert!(Turning::new(Rotation::IDENTITY, DVec3::ZERO, Rotation::IDENTITY).is_none());
    }
}
