//! A rotation that turns about an axis: at which angles limits allow it, and at which they are farthest.

mod best;
mod climb;
mod wave;

use std::f64::consts::{PI, TAU};

use glam::{DQuat, DVec3};

use self::best::Bounded;
pub(crate) use self::climb::Climb;
use self::wave::{At, Swung};
use super::PreparedLimit;
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

/// A limit, and the rotations that it is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Turned<'a> {
    /// The limit.
    pub limit: &'a PreparedLimit,
    /// The rotations.
    pub turning: Turning,
}

/// Where to look for an angle: near another.
#[derive(Clone, Copy, Debug)]
pub struct NearAngle {
    /// That other.
    pub angle: Angle,
    /// How far from it, at most.
    pub step: Angle,
}

/// What [`TurningSearch::best`] finds.
#[derive(Clone, Copy, Debug)]
pub struct BestTurn {
    /// The angle.
    pub angle: Angle,
    /// Whether all limits allow it; if not, none is allowed, and this is the least outside. Where arcs are
    /// not exact, as [`allowed`](TurningSearch::allowed) says, there may be some elsewhere.
    pub inside: bool,
}

/// Questions about limits that turn by the same angle together. Its memory is used again, so that nothing
/// is allocated once it is large enough.
///
/// ```
/// use condyle::glam::DVec3;
/// use condyle::limits::{Limit, SwingLimit, SwingTwistLimit, Turned, Turning, TurningSearch};
/// use condyle::math::{Angle, Rotation, SwingAxes};
///
/// // A bone along x, in a cone of 30° about x, goes around an axis that is 40° from x.
/// let radius = Angle::from_degrees(30.0);
/// let limit = Limit::SwingTwist(SwingTwistLimit {
///     axes: SwingAxes::new(DVec3::X, None).unwrap(),
///     swing: SwingLimit::Ellipse { rx: radius, ry: radius },
///     ..SwingTwistLimit::default()
/// });
/// let limit = limit.prepare()?;
/// let axis = Rotation::about_z(Angle::from_degrees(40.0)) * DVec3::X;
/// let turning = Turning::new(Rotation::IDENTITY, axis, Rotation::IDENTITY).unwrap();
/// let mut search = TurningSearch::default();
/// let [arc] = search.allowed([Turned { limit: &limit, turning }]) else { panic!() };
/// assert!((limit.distance(turning.at(arc.max()))).degrees().abs() < 1e-9);
/// let best = search.best([Turned { limit: &limit, turning }], None);
/// assert!(best.inside && best.angle.degrees().abs() < 0.1);
/// # Ok::<(), condyle::limits::LimitError>(())
/// ```
#[derive(Debug, Default)]
pub struct TurningSearch {
    borders: Vec<Border>,
    todo: Vec<[f64; 4]>,
    arcs: Vec<Arc>,
    /// The borders that the arcs are between, by their numbers; of a full arc any.
    ends: Vec<[usize; 2]>,
    bounded: Bounded,
    climb: Climb,
}

/// An angle with nothing special about it, unlike 0, at which a limit without volume may be met.
const GENERAL: At = At { cos: 0.28, sin: 0.96 };

/// A margin of at least this, in radians, is inside: rounding.
const ROUNDING: f64 = -1e-9;

/// In what is not a polygon, arcs narrower than this may be missed, and gaps, in radians: 0.06°.
const FINE: f64 = 1e-3;

/// The distance to a boundary changes by at most this times the angle, unless the bone comes near to the
/// direction opposite to its own, where twist is not defined.
const SPEED: f64 = 2.0;

/// The same where the range of twist depends on the direction.
const SPEED_BY_SWING: f64 = 20.0;

/// The direction of a bone changes by at most the angle.
const SPEED_OF_SWING: f64 = 1.0;

/// A border at an edge's end belongs to both edges there, this far beyond their ends.
const SLACK: f64 = 1e-9;

impl Turning {
    /// `None` if the axis has no direction.
    #[must_use]
    pub fn new(left: Rotation, axis: DVec3, right: Rotation) -> Option<Self> {
        Some(Self { left, axis: unit(axis)?, right })
    }

    /// [`new`](Self::new) for an axis that is a unit vector.
    pub(crate) const fn about(left: Rotation, axis: DVec3, right: Rotation) -> Self {
        Self { left, axis, right }
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
    pub(crate) fn halves(&self) -> [DQuat; 2] {
        let DVec3 { x, y, z } = self.axis;
        let (left, right) = (self.left.quat(), self.right.quat());
        [left * right, left * DQuat::from_xyzw(x, y, z, 0.0) * right]
    }
}

/// An angle at which it may change whether a limit allows its rotation.
#[derive(Clone, Copy, Debug)]
struct Border {
    angle: f64,
    at: At,
    /// Of which of the limits, and what of it.
    joint: usize,
    of: BorderOf,
}

#[derive(Clone, Copy, Debug)]
enum BorderOf {
    /// This edge of its region.
    Edge(usize),
    /// The first or the last twist.
    Twist(usize),
    Other,
}

/// What is known of a limit while it turns.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "there are one or two, on the stack")]
enum Asked<'a> {
    Always,
    /// There is nothing but single angles.
    Never(&'a Turned<'a>),
    Swung(Swung<'a>, &'a Turned<'a>),
    Other(&'a Turned<'a>),
}

impl<'a> Asked<'a> {
    fn new(of: &'a Turned<'a>) -> Self {
        if of.limit.is_free() {
            Self::Always
        } else if of.limit.is_surface() {
            Self::Never(of)
        } else {
            let swung = Swung::new(of.limit, &of.turning);
            swung.map_or(Self::Other(of), |swung| Self::Swung(swung, of))
        }
    }

    fn is_inside(&self, psi: f64, at: At) -> bool {
        match self {
            Self::Always => true,
            Self::Never(_) => false,
            Self::Swung(swung, _) => swung.is_inside(at),
            Self::Other(of) => of.limit.contains(of.turning.at(Angle::from_radians(psi))),
        }
    }

    fn distance(&self, psi: f64) -> f64 {
        match self {
            Self::Always => PI,
            Self::Never(of) | Self::Swung(_, of) | Self::Other(of) => of.distance(psi),
        }
    }

    /// Whether its borders are found without a search.
    fn is_polygon(&self) -> bool {
        match self {
            Self::Always => true,
            Self::Swung(swung, _) => swung.ball.region().is_polygon(),
            Self::Never(_) | Self::Other(_) => false,
        }
    }

    /// How fast the distance changes between two angles less than half a turn apart, at most.
    fn speed(&self, from: f64, to: f64) -> f64 {
        match self {
            Self::Swung(swung, _) => swung.speed(At::new(from), At::new(to)),
            Self::Other(of) if of.limit.ball().is_some() => SPEED_BY_SWING,
            _ => SPEED,
        }
    }
}

impl Turned<'_> {
    fn distance(&self, psi: f64) -> f64 {
        self.limit.distance(self.turning.at(Angle::from_radians(psi))).radians()
    }
}

impl TurningSearch {
    /// The arcs of angles at which all limits allow their rotations, in the order of their beginnings from
    /// −π on; one full arc if they always do.
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
    /// Single angles are no arcs, and of a locked joint, a hinge, a universal joint and a box with a single
    /// Euler angle, which have no volume, there are none even about their own axes. Of shapes other than
    /// polygons, arcs and gaps below 0.06° may be missed; and wider ones where the range of twist
    /// changes by more than 20 times as much as the direction.
    pub fn allowed<const N: usize>(&mut self, of: [Turned<'_>; N]) -> &[Arc] {
        self.find_arcs(&of.each_ref().map(Asked::new));
        &self.arcs
    }

    /// What [`allowed`](Self::allowed) found, or [`best`](Self::best) on its way.
    #[must_use]
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// The angle with the largest margin, which is the smallest [`distance`](PreparedLimit::distance) of
    /// all limits.
    ///
    /// Near an angle it is the largest within a step of that, in the arc of allowed angles where that is, or
    /// in the nearest arc, from its nearest end on. So a margin that is larger elsewhere does not make it
    /// jump.
    ///
    /// # Domain and singularity
    ///
    /// Exact for limits of swing and twist with the same range of twist everywhere, to 1e-7 rad where the
    /// margin is above 1°. Otherwise within 0.03° of the largest margin, as long as that does not change
    /// faster than twice the angle (20 times if the range of twist depends on the direction) and is not
    /// flat at the top. Among angles with the same margin it is any. If nothing is allowed, it is the angle
    /// that is least outside, to the same 0.03°.
    pub fn best<const N: usize>(
        &mut self,
        of: [Turned<'_>; N],
        near: Option<NearAngle>,
    ) -> BestTurn {
        let asked = of.each_ref().map(Asked::new);
        self.find_arcs(&asked);
        let mut inside = !self.arcs.is_empty();
        let near = near.map(|near| {
            let angle = near.angle.wrapped().radians();
            let step = near.step.radians().clamp(0.0, PI);
            [if angle.is_finite() { angle } else { 0.0 }, if step.is_nan() { 0.0 } else { step }]
        });
        let window = near.map(|[angle, step]| self.window(angle, step));
        let exact = |one: &Asked<'_>| matches!(one, Asked::Swung(..) | Asked::Always);
        let angle = if asked.iter().all(|one| matches!(one, Asked::Always)) {
            near.map_or(0.0, |[angle, _]| angle)
        } else if inside && asked.iter().all(exact) {
            let angle = self.best_bounded(&asked, window);
            // Arcs of polygons are exact; of other shapes, gaps may have been missed.
            if !asked.iter().all(Asked::is_polygon) {
                inside = asked.iter().all(|one| one.distance(angle) >= ROUNDING);
            }
            angle
        } else {
            let distance =
                |psi: f64| asked.iter().fold(PI, |least, one| least.min(one.distance(psi)));
            let speed = |from: f64, to: f64| {
                asked.iter().fold(0.0, |most: f64, one| most.max(one.speed(from, to)))
            };
            let [angle, margin] = self.best_climbed(distance, speed, window);
            inside &= margin >= ROUNDING;
            angle
        };
        BestTurn { angle: Angle::from_radians(angle).wrapped(), inside }
    }

    fn best_bounded(&mut self, joints: &[Asked<'_>], window: Option<[f64; 2]>) -> f64 {
        self.bounded.clear();
        if let Some([from, to]) = window {
            self.bounded.look(joints, [from, to - from], [None; 2]);
        } else {
            for (arc, ends) in self.arcs.iter().zip(&self.ends) {
                let range = [arc.min().radians(), arc.width().radians()];
                let borders =
                    if arc.is_full() { [None; 2] } else { ends.map(|end| self.borders.get(end)) };
                self.bounded.look(joints, range, borders);
            }
        }
        self.bounded.best().map_or(0.0, At::angle)
    }

    fn best_climbed(
        &mut self,
        distance: impl Fn(f64) -> f64,
        speed: impl Fn(f64, f64) -> f64,
        window: Option<[f64; 2]>,
    ) -> [f64; 2] {
        let Self { climb, borders, arcs, .. } = self;
        // Where the bone is nearly opposite to its own direction, the twist goes through its range in no
        // time: so at all borders, and between them.
        let next = |i: usize| borders.get(i + 1).map_or(borders[0].angle + TAU, |next| next.angle);
        let seeds = |(i, here): (usize, &Border)| [here.angle, 0.5 * (here.angle + next(i))];
        let mut best = [0.0, f64::NEG_INFINITY];
        let mut look = |range: [f64; 2]| {
            let also = borders.iter().enumerate().flat_map(seeds);
            let found = climb.climb(&distance, range, &speed, also);
            if found[1] > best[1] {
                best = found;
            }
        };
        match window {
            Some(range) => look(range),
            None if arcs.is_empty() => look([-PI, PI]),
            None => arcs.iter().for_each(|arc| look([arc.min().radians(), arc.max().radians()])),
        }
        best
    }

    /// From where to where to look near an angle.
    fn window(&self, angle: f64, step: f64) -> [f64; 2] {
        let off = |arc: &Arc| arc.distance(Angle::from_radians(angle)).radians();
        let nearest = self.arcs.iter().copied().max_by(|a, b| off(a).total_cmp(&off(b)));
        let Some(arc) = nearest.filter(|arc| !arc.is_full()) else {
            return [angle - step, angle + step];
        };
        let start = arc.nearest(Angle::from_radians(angle)).map_or(angle, Angle::radians);
        let [min, max] = [arc.min().radians(), arc.max().radians()];
        // As it is counted in the arc; at its ends a turn may be all that is off.
        let lifted = if start < min { start + TAU } else { start };
        let lifted = if lifted > max && lifted - TAU >= min { lifted - TAU } else { lifted };
        let lifted = lifted.clamp(min, max);
        [(lifted - step).max(min), (lifted + step).min(max)]
    }

    fn find_arcs(&mut self, asked: &[Asked<'_>]) {
        self.arcs.clear();
        self.ends.clear();
        self.borders.clear();
        if asked.iter().any(|one| matches!(one, Asked::Never(_))) {
            return;
        }
        for (joint, one) in asked.iter().enumerate() {
            self.add_borders(joint, one);
        }
        let Self { borders, arcs, ends, .. } = self;
        borders.sort_unstable_by(|a, b| a.angle.total_cmp(&b.angle));
        let inside = |psi: f64, at: At| asked.iter().all(|one| one.is_inside(psi, at));
        let count = borders.len();
        let Some(first) = borders.first() else {
            if inside(GENERAL.angle(), GENERAL) {
                arcs.push(Arc::FULL);
                ends.push([0, 0]);
            }
            return;
        };
        // Where the arc that is being walked through begins.
        let mut from = None;
        for (i, here) in borders.iter().enumerate() {
            let (next, turn) = borders.get(i + 1).map_or((first, TAU), |next| (next, 0.0));
            let width = next.angle + turn - here.angle;
            // Narrower ones have no middle.
            if width <= 1e-14 {
                continue;
            }
            let middle = here.angle + 0.5 * width;
            match (inside(middle, here.at.middle(next.at, width > PI)), from) {
                (true, None) => from = Some(i),
                (false, Some(start)) => {
                    let start_angle = borders.get(start).map_or(0.0, |b| b.angle);
                    arcs.extend(between(start_angle, here.angle));
                    ends.push([start, i]);
                    from = None;
                }
                _ => {}
            }
        }
        let Some(start) = from else { return };
        let start_angle = borders.get(start).map_or(0.0, |b| b.angle);
        // Over the end of the circle into what begins there.
        let begins = |arc: &Arc| (arc.min().radians() - first.angle).abs() < 1e-14;
        match arcs.first().copied().filter(begins) {
            Some(joined) => {
                arcs.remove(0);
                let [_, end] = ends.remove(0);
                arcs.extend(between(start_angle, joined.max().radians() + TAU));
                ends.push([start, end]);
            }
            None if arcs.is_empty() && start_angle - first.angle < 1e-14 => {
                arcs.push(Arc::FULL);
                ends.push([0, 0]);
            }
            None => {
                arcs.extend(between(start_angle, first.angle + TAU));
                ends.push([start, count]);
            }
        }
        // Its last border is the first.
        for end in ends.iter_mut().flatten().filter(|end| **end == count) {
            *end = 0;
        }
    }

    /// Where it may change whether a limit allows its rotation.
    fn add_borders(&mut self, joint: usize, asked: &Asked<'_>) {
        let Self { borders, todo, .. } = self;
        let exact = |at: At, of: BorderOf| Border { angle: at.angle(), at, joint, of };
        let found = |psi: f64| Border { angle: psi, at: At::new(psi), joint, of: BorderOf::Other };
        match asked {
            Asked::Always | Asked::Never(_) => {}
            Asked::Swung(swung, _) => {
                let region = swung.ball.region();
                if region.is_polygon() {
                    let add = |edge: usize, at: At| borders.push(exact(at, BorderOf::Edge(edge)));
                    polygon_borders(swung, add);
                } else {
                    let distance = |psi: f64| region.distance(swung.direction(At::new(psi)));
                    let holds = |psi: f64| region.contains(swung.direction(At::new(psi)));
                    scan(distance, holds, SPEED_OF_SWING, todo, |psi| borders.push(found(psi)));
                }
                let twist = swung.twist.iter().flat_map(|twist| twist.borders).enumerate();
                let twist = twist.filter_map(|(end, at)| Some(exact(at?, BorderOf::Twist(end))));
                borders.extend(twist);
            }
            Asked::Other(of) => {
                let distance = |psi: f64| of.distance(psi);
                let holds = |psi: f64| of.distance(psi) >= 0.0;
                scan(distance, holds, asked.speed(0.0, 0.0), todo, |psi| borders.push(found(psi)));
            }
        }
    }
}

fn between(from: f64, to: f64) -> Option<Arc> {
    Arc::new(Angle::from_radians(from), Angle::from_radians(to))
}

/// Where the bone crosses an edge.
///
/// The bone's circle is where a plane `pole · x = height` meets the sphere. Most edges are on one side of it.
fn polygon_borders(swung: &Swung<'_>, mut add: impl FnMut(usize, At)) {
    let edges = swung.ball.region().edges();
    let (pole, height) = swung.plane();
    for i in 0..edges.len() {
        let Some(sides) = edges.sides_of(i, pole, height, SLACK) else { continue };
        let (n, [after, before]) = sides;
        let Some(roots) = swung.wave(n).roots() else { continue };
        for root in roots {
            let d = swung.direction(root);
            if after.dot(d) >= -SLACK && before.dot(d) >= -SLACK {
                add(i, root);
            }
        }
    }
}

/// Where a function of an angle changes its sign, if it does not change faster than a speed. Whether it is
/// negative is asked of `holds` once that is all that matters.
fn scan(
    f: impl Fn(f64) -> f64,
    holds: impl Fn(f64) -> bool,
    speed: f64,
    todo: &mut Vec<[f64; 4]>,
    mut add: impl FnMut(f64),
) {
    const FIRST: u32 = 16;
    let at = |i: u32| -PI + TAU * f64::from(i) / f64::from(FIRST);
    todo.clear();
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
            add(bisected(&holds, [a, b], fa < 0.0));
        }
    }
}

fn bisected(holds: &impl Fn(f64) -> bool, [mut a, mut b]: [f64; 2], negative: bool) -> f64 {
    while b - a > 1e-14 {
        let middle = 0.5 * (a + b);
        if middle <= a || middle >= b {
            break;
        }
        if holds(middle) != negative {
            a = middle;
        } else {
            b = middle;
        }
    }
    0.5 * (a + b)
}

#[cfg(test)]
mod tests;
