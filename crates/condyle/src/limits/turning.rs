//! A rotation that turns about an axis: at which angles limits allow it, and at which they are farthest.

mod best;
mod climb;
mod lines;
mod surface;
mod wave;

use std::f64::consts::{PI, TAU};

use glam::{DQuat, DVec3};

use self::best::Bounded;
pub(crate) use self::climb::Climb;
use self::lines::Lines;
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
    /// Whether to go no farther even where nothing is allowed as near as that.
    pub hard: bool,
}

/// What [`TurningSearch::best`] finds.
#[derive(Clone, Copy, Debug)]
pub struct BestTurn {
    /// The angle.
    pub angle: Angle,
    /// Whether all limits allow it.
    pub inside: bool,
    /// If they do not: whether they allow others, that are too far away. If none is allowed, the angle is the
    /// least outside. Where arcs are not exact, as [`allowed`](TurningSearch::allowed) says, there may be some
    /// all the same.
    pub others: bool,
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
    lines: Lines,
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
            Self::Swung(swung, _) => swung.is_inside(at),
            _ => self.is_inside_but_for_field(psi, at),
        }
    }

    /// Where a range of twist depends on the direction, whatever it is.
    fn is_inside_but_for_field(&self, psi: f64, at: At) -> bool {
        match self {
            Self::Always => true,
            Self::Never(_) => false,
            Self::Swung(swung, _) => swung.is_inside_but_for_field(at),
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

    /// Whether its range of twist depends on the direction.
    fn is_field(&self) -> bool {
        self.field().is_some()
    }

    fn field(&self) -> Option<&Swung<'a>> {
        match self {
            Self::Swung(swung, _) => swung.is_field().then_some(swung),
            _ => None,
        }
    }

    /// How fast the distance changes between two angles less than half a turn apart, at most.
    fn speed(&self, from: f64, to: f64) -> f64 {
        match self {
            // Outside of given directions the range may jump.
            Self::Swung(swung, _) if swung.is_field() => SPEED_BY_SWING,
            Self::Swung(swung, _) => swung.speed(At::new(from), At::new(to)),
            Self::Other(of) if of.limit.ball().is_some() => SPEED_BY_SWING,
            // The angle to the nearest allowed rotation.
            Self::Never(_) => 1.0,
            _ => SPEED,
        }
    }
}

impl NearAngle {
    /// With numbers for what is none.
    fn sound(self) -> Self {
        let angle = self.angle.wrapped();
        let step = self.step.radians().clamp(0.0, PI);
        Self {
            angle: if angle.radians().is_finite() { angle } else { Angle::ZERO },
            step: if step.is_nan() { Angle::ZERO } else { Angle::from_radians(step) },
            ..self
        }
    }
}

/// The angles to look at, near one that is among them.
#[derive(Clone, Copy, Debug)]
struct Window {
    from: f64,
    start: f64,
    to: f64,
    /// Whether nothing is allowed as near as it is to be.
    is_too_far: bool,
}

impl Window {
    const fn new(from: f64, start: f64, to: f64) -> Self {
        Self { from, start, to, is_too_far: false }
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
    /// polygons and of a range of twist are exact. Where the range depends on the direction, its ends are
    /// quotients of such waves in each triangle of given directions, so that it is known in closed form how
    /// fast the margin changes between two angles; by that its ends are bracketed, and then bisected to
    /// rounding. Of other shapes they are bracketed by the distance, which cannot change faster than the
    /// angle by much, and bisected.
    ///
    /// # Domain and singularity
    ///
    /// Single angles are no arcs (but [`best`](Self::best) finds those of a universal joint), and of a locked joint, a hinge, a universal joint and a box with a single
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
    /// jump. If the step is [`hard`](NearAngle::hard), and the nearest arc farther than it, it is a step
    /// towards that arc.
    ///
    /// # Domain and singularity
    ///
    /// Exact for limits of swing and twist with the same range of twist everywhere, to 1e-7 rad where the
    /// margin is above 1°. Where the range depends on the direction, within 0.006° of the largest margin; it
    /// can be more outside of the directions at which ranges are given, where they may jump. Otherwise
    /// within 0.03° of the largest margin, as long as that does not change faster than twice the angle (20
    /// times if the range of twist depends on the direction and zero twist on another one) and is not flat at
    /// the top. Among angles with the same margin it is any. If nothing is allowed, it is the angle
    /// that is least outside, to the same 0.03°.
    pub fn best<const N: usize>(
        &mut self,
        of: [Turned<'_>; N],
        near: Option<NearAngle>,
    ) -> BestTurn {
        let asked = of.each_ref().map(Asked::new);
        self.find_arcs_but_for_fields(&asked);
        let found = |angle: f64, inside: bool| BestTurn {
            angle: Angle::from_radians(angle).wrapped(),
            inside,
            others: false,
        };
        if let Some(met) = surface::best(&asked, near.map(NearAngle::sound)) {
            return met;
        }
        let window = match near.map(NearAngle::sound) {
            Some(near) if asked.iter().all(|one| matches!(one, Asked::Always)) => {
                return found(near.angle.radians(), true);
            }
            Some(near) => {
                let window = self.window_within_fields(&asked, near);
                if window.is_too_far {
                    return BestTurn { others: true, ..found(window.from, false) };
                }
                Some([window.from, window.to])
            }
            None => None,
        };
        let exact = |one: &Asked<'_>| matches!(one, Asked::Swung(..) | Asked::Always);
        if !self.arcs.is_empty() && asked.iter().all(exact) {
            let (angle, inside) = self.best_bounded(&asked, window);
            // Arcs of polygons are exact; of other shapes, gaps may have been missed.
            let gap = |one: &Asked<'_>| !one.is_polygon() && one.distance(angle) < ROUNDING;
            if inside && !asked.iter().any(gap) {
                return found(angle, true);
            }
            self.arcs.clear();
        } else if window.is_none() {
            self.narrow(&asked);
        }
        let distance = |psi: f64| asked.iter().fold(PI, |least, one| least.min(one.distance(psi)));
        let speed = |from: f64, to: f64| {
            asked.iter().fold(0.0, |most: f64, one| most.max(one.speed(from, to)))
        };
        let some = !self.arcs.is_empty();
        let [angle, margin] = self.best_climbed(distance, speed, window);
        found(angle, some && margin >= ROUNDING)
    }

    fn best_bounded(&mut self, joints: &[Asked<'_>], window: Option<[f64; 2]>) -> (f64, bool) {
        if joints.iter().any(Asked::is_field) {
            self.lines.clear();
            if let Some([from, to]) = window {
                self.lines.look(joints, [from, to - from]);
            } else {
                for arc in &self.arcs {
                    self.lines.look(joints, [arc.min().radians(), arc.width().radians()]);
                }
            }
            let [angle, margin] = self.lines.best().unwrap_or([0.0; 2]);
            return (angle, margin >= ROUNDING);
        }
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
        (self.bounded.best().map_or(0.0, At::angle), true)
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

    /// From where to where to look near an angle, with arcs that know nothing yet of ranges of twist that
    /// depend on the direction.
    fn window_within_fields(&mut self, asked: &[Asked<'_>], near: NearAngle) -> Window {
        if !asked.iter().any(Asked::is_field) {
            return self.window(near);
        }
        let angle = near.angle.radians();
        if !asked.iter().all(|one| one.is_inside(angle, At::new(angle))) {
            self.narrow(asked);
            return self.window(near);
        }
        let mut window = self.window(near);
        let start = window.start;
        for swung in asked.iter().filter_map(Asked::field) {
            let mut exits = [window.from, window.to];
            let Self { todo, .. } = self;
            scan_field(swung, [window.from, start], todo, |psi| exits[0] = exits[0].max(psi));
            scan_field(swung, [start, window.to], todo, |psi| exits[1] = exits[1].min(psi));
            [window.from, window.to] = exits;
        }
        window
    }

    /// From where to where to look near an angle.
    fn window(&self, NearAngle { angle, step, hard }: NearAngle) -> Window {
        let (angle, step) = (angle.radians(), step.radians());
        let off = |arc: &Arc| arc.distance(Angle::from_radians(angle)).radians();
        let nearest = self.arcs.iter().copied().max_by(|a, b| off(a).total_cmp(&off(b)));
        let Some(arc) = nearest.filter(|arc| !arc.is_full()) else {
            return Window::new(angle - step, angle, angle + step);
        };
        let start = arc.nearest(Angle::from_radians(angle)).map_or(angle, Angle::radians);
        let [min, max] = [arc.min().radians(), arc.max().radians()];
        // As it is counted in the arc; at its ends a turn may be all that is off.
        let lifted = if start < min { start + TAU } else { start };
        let lifted = if lifted > max && lifted - TAU >= min { lifted - TAU } else { lifted };
        let lifted = lifted.clamp(min, max);
        let mut middle = lifted;
        if hard {
            let off = Angle::from_radians(start - angle).wrapped().radians();
            if off.abs() > step {
                let there = angle + step.copysign(off);
                return Window { is_too_far: true, ..Window::new(there, there, there) };
            }
            middle -= off;
        }
        Window::new((middle - step).max(min), lifted, (middle + step).min(max))
    }

    fn find_arcs(&mut self, asked: &[Asked<'_>]) {
        self.find_arcs_but_for_fields(asked);
        self.narrow(asked);
    }

    /// Takes out of the arcs what ranges of twist that depend on the direction do not allow.
    fn narrow(&mut self, asked: &[Asked<'_>]) {
        if self.arcs.is_empty() || !asked.iter().any(Asked::is_field) {
            return;
        }
        for (joint, one) in asked.iter().enumerate() {
            let Some(swung) = one.field() else { continue };
            let Self { borders, todo, arcs, .. } = self;
            for arc in arcs.iter() {
                let range = [arc.min().radians(), arc.max().radians()];
                scan_field(swung, range, todo, |psi| {
                    let angle = Angle::from_radians(psi).wrapped().radians();
                    let of = BorderOf::Other;
                    borders.push(Border { angle, at: At::new(angle), joint, of });
                });
            }
        }
        self.join_borders(|psi, at| asked.iter().all(|one| one.is_inside(psi, at)));
    }

    /// [`find_arcs`](Self::find_arcs), but ranges of twist that depend on the direction are not asked.
    fn find_arcs_but_for_fields(&mut self, asked: &[Asked<'_>]) {
        self.arcs.clear();
        self.ends.clear();
        self.borders.clear();
        if asked.iter().any(|one| matches!(one, Asked::Never(_))) {
            return;
        }
        for (joint, one) in asked.iter().enumerate() {
            self.add_borders(joint, one);
        }
        self.join_borders(|psi, at| asked.iter().all(|one| one.is_inside_but_for_field(psi, at)));
    }

    /// The arcs between borders.
    fn join_borders(&mut self, inside: impl Fn(f64, At) -> bool) {
        self.arcs.clear();
        self.ends.clear();
        let Self { borders, arcs, ends, .. } = self;
        borders.sort_unstable_by(|a, b| a.angle.total_cmp(&b.angle));
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
                    let sweep = swung.sweep();
                    scan(distance, holds, |_, _| sweep, WHOLE, todo, |p| borders.push(found(p)));
                }
                let twist = swung.twist.iter().flat_map(|twist| twist.borders).enumerate();
                let twist = twist.filter_map(|(end, at)| Some(exact(at?, BorderOf::Twist(end))));
                borders.extend(twist);
            }
            Asked::Other(of) => {
                let distance = |psi: f64| of.distance(psi);
                let holds = |psi: f64| of.distance(psi) >= 0.0;
                let speed = |from: f64, to: f64| asked.speed(from, to);
                scan(distance, holds, speed, WHOLE, todo, |psi| borders.push(found(psi)));
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

/// Where the twist of a joint comes to an end of its range, which depends on the direction.
fn scan_field(swung: &Swung<'_>, range: [f64; 2], todo: &mut Vec<[f64; 4]>, add: impl FnMut(f64)) {
    let margin = |psi: f64| swung.field_twist(At::new(psi)).map_or(PI, |here| here.margin);
    let speed = |from: f64, to: f64| swung.margin_speed(At::new(from), At::new(to));
    scan(margin, |psi| margin(psi) >= 0.0, speed, range, todo, add);
}

const WHOLE: [f64; 2] = [-PI, PI];

/// Where a function of an angle changes its sign, if between two angles it does not change faster than a
/// speed. Whether it is negative is asked of `holds` once that is all that matters.
fn scan(
    f: impl Fn(f64) -> f64,
    holds: impl Fn(f64) -> bool,
    speed: impl Fn(f64, f64) -> f64,
    [from, to]: [f64; 2],
    todo: &mut Vec<[f64; 4]>,
    mut add: impl FnMut(f64),
) {
    // Parts of a 16th of a turn.
    let parts = (1..16).find(|n| to - from <= TAU / 16.0 * f64::from(*n)).unwrap_or(16);
    let at = |i: u32| from + (to - from) * f64::from(i) / f64::from(parts);
    todo.clear();
    let mut before = f(at(0));
    for i in 0..parts {
        let after = f(at(i + 1));
        todo.push([at(i), before, at(i + 1), after]);
        before = after;
    }
    while let Some([a, fa, b, fb]) = todo.pop() {
        let changes = (fa < 0.0) != (fb < 0.0);
        let clear = fa.abs() + fb.abs() > speed(a, b) * (b - a);
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
