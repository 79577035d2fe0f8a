//! Three Euler angles, each in its arc.

use std::cell::LazyCell;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DMat3, DQuat, DVec3};

use super::super::{EulerBox, HalfSpace, LimitError, TOLERANCE};
use super::range::{End, Half, Range};
use super::two_turns::{ANY, Foot, Frame, TwoTurns};
use super::{NEAR, away};
use crate::math::{Angle, Arc, Axis, EulerOrder, Rotation, trig, unit};

/// The rotations `R_i(a) · R_j(b) · R_k(c)`, each angle in its arc, prepared (A8).
///
/// # Source
///
/// Own derivation. With a repeated first axis, and `k` perpendicular to `i` and `j`,
///
/// ```text
///   R_i(a) R_j(b) R_i(c) = sin(b/2) (j cos((a−c)/2) + k sin((a−c)/2))
///                        + cos(b/2) (1 cos((a+c)/2) + i sin((a+c)/2))
/// ```
///
/// and three different axes are the same with `b − π/2` for `b`, `±c` for `c`, and `R_j(π/2)` on the
/// right. A rotation is inside if one of its two triples is in the arcs; if not, the nearest point of
/// the box is on a face, where one angle is at an end of its arc and [`TwoTurns`] remain. At a lock
/// there are infinitely many triples; if one of them is in the arcs then one is on a face, or there
/// are no faces.
///
/// # Convention
///
/// As [`EulerBox`]. Distances are angles of rotations.
///
/// # Domain and singularity
///
/// Total. Inside, the distance is to the nearest wall. Walls are the parts of faces beyond which the
/// rotations are outside: a face, or a part of it, is no wall where the box continues beyond it with
/// the second triple of the same rotations. That is found exactly, to rounding, when the limit is
/// prepared. A face of the middle angle at a lock is a curve and no wall, unless that angle is the
/// only one allowed. π if there are no walls.
///
/// An arc of one angle leaves no inside: the distance is then never above rounding.
#[derive(Clone, Debug)]
pub(crate) struct EulerBoxLimit {
    of: EulerBox,
    shape: Shape,
    ranges: [Range; 3],
    faces: Vec<Face>,
    walls: Vec<Face>,
    /// An arc holds one angle, or hardly more.
    thin: bool,
}

/// What an order means for the coordinates of a quaternion.
#[derive(Clone, Copy, Debug)]
struct Shape {
    axes: [DVec3; 3],
    frame: Frame,
    /// The middle angle at a lock; the other lock is half a turn on.
    lock: f64,
    half_lock: Half,
    /// The frame's second pair has the sine of the middle angle, and not the first.
    swapped: bool,
    /// The sign of `t₀ × t₂` along `t₁`, with `t` the three axes as they are turned, where the middle
    /// angle is less than half a turn beyond the lock.
    cross: f64,
}

/// What is left of an arc.
type Parts = [Option<Range>; 2];

/// One angle at an end of its arc.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    /// Which.
    pub(super) angle: usize,
    pub(super) end: End,
    pub(super) turns: TwoTurns,
    /// For the middle angle, [`Shape::cross`] at that end.
    cross: f64,
}

impl EulerBoxLimit {
    pub(crate) fn new(of: EulerBox) -> Result<Self, LimitError> {
        let EulerBox { order, arcs } = of;
        let range =
            |i: usize| Range::new(arcs[i]).map_err(|error| error.within(format!("arcs[{i}]")));
        let ranges = [range(0)?, range(1)?, range(2)?];
        let shape = Shape::new(order);
        let mut faces = Vec::with_capacity(6);
        let mut walls = Vec::with_capacity(6);
        let parts = LazyCell::new(|| [0, 1, 2].map(|angle| shape.once(angle, arcs[angle])));
        for angle in 0..3 {
            for &end in ranges[angle].ends() {
                if let Some(face) = shape.face(&ranges, angle, end) {
                    faces.push(face);
                    shape.add_walls(&face, arcs[angle], || *parts, &mut walls);
                }
            }
        }
        let thin = arcs.iter().any(|arc| arc.width().radians() <= TOLERANCE);
        Ok(Self { of, shape, ranges, faces, walls, thin })
    }

    /// Whether an arc holds one angle, or hardly more.
    pub(crate) const fn is_thin(&self) -> bool {
        self.thin
    }

    /// What it was made from.
    pub(crate) const fn of(&self) -> &EulerBox {
        &self.of
    }

    /// Radians, positive inside.
    pub(crate) fn distance(&self, m: Rotation) -> f64 {
        match self.outside(m) {
            Some((face, foot)) => -foot.distance(m, face.turns.rotation(&foot)),
            None => nearest(&self.walls, m.quat())
                .map_or(PI, |(wall, foot)| m.distance(wall.turns.rotation(&foot)).radians()),
        }
    }

    pub(crate) fn contains(&self, m: Rotation) -> bool {
        self.outside(m).is_none_or(|(_, foot)| foot.is_here())
    }

    pub(crate) fn project(&self, m: Rotation) -> Rotation {
        match self.outside(m) {
            Some((face, foot)) if !foot.is_here() => face.turns.rotation(&foot).in_hemisphere_of(m),
            _ => m,
        }
    }

    /// On a wall it points inside. Zero where walls meet, and where there is no inside.
    pub(crate) fn gradient(&self, m: Rotation) -> DVec3 {
        let (nearest, inside) = match self.outside(m) {
            Some(outside) => (Some(outside), -1.0),
            None => (nearest(&self.walls, m.quat()), 1.0),
        };
        let Some((face, foot)) = nearest else {
            return DVec3::ZERO;
        };
        let at = face.turns.rotation(&foot);
        let distance = m.distance(at).radians();
        if distance > TOLERANCE {
            let apart = away(m, at).unwrap_or(DVec3::ZERO);
            if distance > NEAR || !foot.is_free() {
                return apart * inside;
            }
            let [first, second] = face.turns.tangents(at);
            let normal = unit(first.cross(second)).unwrap_or(apart);
            return if normal.dot(apart) < 0.0 { -normal } else { normal } * inside;
        }
        self.inward(m)
    }

    /// The normal of the one wall that a rotation is on, into the box. Zero where walls meet, and at
    /// a lock, where a wall meets itself.
    fn inward(&self, m: Rotation) -> DVec3 {
        let p = self.shape.frame.coordinates(m.quat());
        let sine = 2.0 * trig::length(p[0], p[1]) * trig::length(p[2], p[3]);
        if self.thin || sine <= TOLERANCE {
            return DVec3::ZERO;
        }
        let mut inward: Option<DVec3> = None;
        for wall in &self.walls {
            let foot = wall.turns.foot(m.quat());
            if !foot.is_here() {
                continue;
            }
            let outward = self.shape.outward(wall, wall.turns.rotation(&foot));
            match (outward.filter(|_| foot.is_free()), inward) {
                // Parts of one face may overlap; they have the same normal, to rounding.
                (Some(outward), Some(other)) if (outward + other).length() < NEAR => {}
                (Some(outward), None) => inward = Some(-outward),
                _ => return DVec3::ZERO,
            }
        }
        inward.unwrap_or(DVec3::ZERO)
    }

    /// The identity inside, unless an arc leaves no room: then as outside, so that it is the
    /// derivative along what is allowed.
    pub(crate) fn jacobian(&self, m: Rotation) -> DMat3 {
        let q = m.quat();
        let nearest = match self.outside(m) {
            Some((face, foot)) if self.thin || !foot.is_here() => Some((face, foot)),
            None if self.thin => self.nearest_face(q),
            _ => None,
        };
        nearest.map_or(DMat3::IDENTITY, |(face, foot)| face.turns.jacobian(q, &foot))
    }

    /// The ends of the arcs, for the triple that is farther inside. At a lock the angles have no
    /// derivatives, and nothing is said about them.
    pub(crate) fn linearize(&self, m: Rotation) -> Vec<HalfSpace> {
        let mut half_spaces = Vec::with_capacity(6);
        let q = m.quat();
        let first = self.shape.angles(q);
        let second = self.shape.second(first);
        let margin = |angles: [f64; 3]| {
            let margin = |i: usize| self.ranges[i].arc().distance(Angle::from_radians(angles[i]));
            margin(0).radians().min(margin(1).radians()).min(margin(2).radians())
        };
        let mirrored = margin(second) > margin(first);
        let angles = if mirrored { second } else { first };
        let [outer_first, outer_third] = self.shape.frame.angle_gradients(q);
        let middle = self.shape.middle_gradient(q);
        let middle = if mirrored { -middle } else { middle };
        for (i, gradient) in [outer_first, middle, outer_third].into_iter().enumerate() {
            self.ranges[i].linearize(angles[i], gradient, &mut half_spaces);
        }
        half_spaces
    }

    /// The nearest point of the box, if no triple is in the arcs.
    fn outside(&self, m: Rotation) -> Option<(&Face, Foot)> {
        let q = m.quat();
        if self.holds(q) { None } else { self.nearest_face(q) }
    }

    /// [`nearest`] of the faces, but each edge of the box is met once: with the faces of the first
    /// angle those where it is fixed, with the faces of the middle angle those where the third is.
    fn nearest_face(&self, q: DQuat) -> Option<(&Face, Foot)> {
        let mut best = None;
        let mut than = ANY;
        for face in &self.faces {
            if let Some(foot) = face.turns.nearest_inner(q, than) {
                than = foot.chord;
                best = Some((face, foot));
            }
        }
        for face in &self.faces {
            let fixed: &[usize] = match face.angle {
                0 => &[0, 1],
                1 => &[1],
                _ => continue,
            };
            if let Some(foot) = face.turns.nearest_edge(q, than, fixed) {
                than = foot.chord;
                best = Some((face, foot));
            }
        }
        best
    }

    /// Whether one of the two triples of [`Shape::angles`] is in the arcs. Their parts are compared as
    /// vectors: the products of the two complex coordinates have the outer angles.
    fn holds(&self, q: DQuat) -> bool {
        let [first, middle, third] = &self.ranges;
        let p = self.shape.frame.coordinates(q);
        let (r1, r2) = (trig::length(p[0], p[1]), trig::length(p[2], p[3]));
        let (sin, cos) = if self.shape.swapped { (r2, r1) } else { (r1, r2) };
        let lock = self.shape.half_lock;
        // Half of lock + 2x and of lock − 2x.
        let upper =
            Half { cos: lock.cos * cos - lock.sin * sin, sin: lock.sin * cos + lock.cos * sin };
        let lower =
            Half { cos: lock.cos * cos + lock.sin * sin, sin: lock.sin * cos - lock.cos * sin };
        let length = r1 * r2;
        let outer = |sign: f64| {
            let (x, y) = (sign * p[0], sign * p[1]);
            first.contains(x * p[2] - y * p[3], x * p[3] + y * p[2], length)
                && third.contains(x * p[2] + y * p[3], x * p[3] - y * p[2], length)
        };
        (middle.contains_half(upper) && outer(1.0)) || (middle.contains_half(lower) && outer(-1.0))
    }

    #[cfg(test)]
    pub(super) fn walls(&self) -> &[Face] {
        &self.walls
    }

    #[cfg(test)]
    pub(super) fn faces(&self) -> &[Face] {
        &self.faces
    }
}

/// The nearest point of some faces.
pub(super) fn nearest(faces: &[Face], q: DQuat) -> Option<(&Face, Foot)> {
    let mut best = None;
    let mut than = ANY;
    for face in faces {
        if let Some(foot) = face.turns.nearest(q, than) {
            than = foot.chord;
            best = Some((face, foot));
        }
    }
    best
}

impl Shape {
    fn new(order: EulerOrder) -> Self {
        let axes = order.axes().map(Axis::unit);
        let [first, second, third] = axes;
        let perpendicular = first.cross(second);
        let pure = |v: DVec3| DQuat::from_xyzw(v.x, v.y, v.z, 0.0);
        let frame = [pure(second), pure(perpendicular), DQuat::IDENTITY, pure(first)];
        if order.is_proper() {
            let frame = Frame(frame);
            return Self {
                axes,
                frame,
                lock: 0.0,
                half_lock: Half::of(0.0),
                swapped: false,
                cross: 1.0,
            };
        }
        // The quarter turn that takes `perpendicular` to `first`.
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let turn = DQuat::from_xyzw(second.x * half, second.y * half, second.z * half, half);
        let [e0, e1, e2, e3] = frame.map(|e| e * turn);
        // A third axis that points the other way turns the sum of the outer angles into their
        // difference.
        let swapped = third.dot(perpendicular) < 0.0;
        let frame = Frame(if swapped { [e2, e3, e0, e1] } else { [e0, e1, e2, e3] });
        let cross = if swapped { -1.0 } else { 1.0 };
        Self { axes, frame, lock: FRAC_PI_2, half_lock: Half::of(FRAC_PI_2), swapped, cross }
    }

    /// A triple of angles; its middle one is from the lock to half a turn beyond.
    fn angles(&self, q: DQuat) -> [f64; 3] {
        let p = self.frame.coordinates(q);
        let (r1, r2) = (trig::length(p[0], p[1]), trig::length(p[2], p[3]));
        let half = if self.swapped { trig::atan2(r2, r1) } else { trig::atan2(r1, r2) };
        let difference = trig::atan2(p[1], p[0]);
        let sum = trig::atan2(p[3], p[2]);
        [sum + difference, self.lock + 2.0 * half, sum - difference]
    }

    /// The other triple of the same rotation.
    fn second(&self, [a, b, c]: [f64; 3]) -> [f64; 3] {
        [a + PI, 2.0 * self.lock - b, c + PI]
    }

    /// The derivative of the middle angle of [`angles`](Self::angles); zero at a lock.
    fn middle_gradient(&self, q: DQuat) -> DVec3 {
        let p = self.frame.coordinates(q);
        let g = self.frame.gradients(q);
        let (r1, r2) = (trig::length(p[0], p[1]), trig::length(p[2], p[3]));
        if r1 == 0.0 || r2 == 0.0 {
            return DVec3::ZERO;
        }
        let first = (g[0] * p[0] + g[1] * p[1]) / r1;
        let second = (g[2] * p[2] + g[3] * p[3]) / r2;
        (first * r2 - second * r1) * if self.swapped { -2.0 } else { 2.0 }
    }

    /// `None` never happens: neighbouring axes are perpendicular.
    fn face(&self, ranges: &[Range; 3], angle: usize, end: End) -> Option<Face> {
        let [first, second, third] = self.axes;
        let arc = ranges[angle].arc();
        let at = match end {
            End::First => arc.min(),
            End::Last => arc.max(),
        };
        let turned = |axis: usize| Rotation::from_axis_angle(self.axes[axis], at);
        let (turns, cross) = match angle {
            0 => {
                let ranges = [ranges[1], ranges[2]];
                (TwoTurns::new(turned(0)?, [second, third], Rotation::IDENTITY, ranges)?, 1.0)
            }
            1 => {
                let beyond = at.radians() - self.lock;
                let (sin, cos) = trig::sin_cos(0.5 * beyond);
                let radii = if self.swapped { (cos, sin) } else { (sin, cos) };
                let ranges = [ranges[0], ranges[2]];
                let turns = TwoTurns::from_frame(self.frame, radii, [first, third], ranges);
                (turns, if sin * cos < 0.0 { -self.cross } else { self.cross })
            }
            _ => {
                let ranges = [ranges[0], ranges[1]];
                (TwoTurns::new(Rotation::IDENTITY, [first, second], turned(2)?, ranges)?, 1.0)
            }
        };
        Some(Face { angle, end, turns, cross })
    }

    /// The parts of a face that are walls.
    ///
    /// `(a, b, c)` is also `(a + π, b', c + π)` with `b' = 2·lock − b`. One step beyond a face of the
    /// first angle is inside again if `a + π`, one step on in the same direction, is in its arc, and
    /// `b'` and `c + π` are in theirs. What is left of the face is then where `b'` is outside, and
    /// where `c + π` is. The other faces are alike, but for the middle one, beyond which `b'` goes
    /// the other way.
    ///
    /// `arc` is that of the face's angle; `parts` gives what is left of all three, see
    /// [`once`](Self::once).
    fn add_walls(
        &self,
        face: &Face,
        arc: Arc,
        parts: impl Fn() -> [Parts; 3],
        walls: &mut Vec<Face>,
    ) {
        let at = match face.end {
            End::First => arc.min().radians(),
            End::Last => arc.max().radians(),
        };
        if face.angle == 1 && arc.width().radians() > 2.0 * TOLERANCE {
            let (sin, _) = trig::sin_cos(at - self.lock);
            if sin.abs() <= TOLERANCE {
                return;
            }
        }
        let covered = if face.angle == 1 {
            continues(arc, 2.0 * self.lock - at, face.end.other())
        } else {
            continues(arc, at + PI, face.end)
        };
        if !covered {
            walls.push(*face);
            return;
        }
        let others = (0..).zip(parts()).filter(|(angle, _)| *angle != face.angle);
        for (position, (_, parts)) in others.enumerate() {
            for part in parts.into_iter().flatten() {
                let mut ranges = *face.turns.ranges();
                ranges[position] = part;
                walls.push(Face { turns: face.turns.with_ranges(ranges), ..*face });
            }
        }
    }

    /// The parts of an arc whose angles are not in it with the second triple.
    fn once(&self, angle: usize, arc: Arc) -> Parts {
        let (min, max) = (arc.min().radians(), arc.max().radians());
        let (min, max) = if angle == 1 {
            (2.0 * self.lock - max, 2.0 * self.lock - min)
        } else {
            (min + PI, max + PI)
        };
        let second = Arc::new(Angle::from_radians(min), Angle::from_radians(max));
        without(arc, second.unwrap_or(Arc::EMPTY)).map(|part| Range::new(part?).ok())
    }

    /// The normal of a face that points out of the box, of length one.
    fn outward(&self, face: &Face, at: Rotation) -> Option<DVec3> {
        let [first, second] = face.turns.tangents(at);
        let normal = unit(first.cross(second))?;
        let along = match face.angle {
            0 => normal.dot(self.axes[0]),
            1 => face.cross,
            _ => normal.dot(at * self.axes[2]),
        };
        let side = if along < 0.0 { -1.0 } else { 1.0 };
        Some(normal * (side * face.end.outward()))
    }
}

/// Radians. What the ends of arcs that are meant to meet may miss each other by: some ulps of a turn.
const MEET: f64 = 1e-14;

/// Whether `angle`, moved a little in the direction in which `end` leads out, is in the arc.
fn continues(arc: Arc, angle: f64, end: End) -> bool {
    if arc.is_full() {
        return true;
    }
    let width = arc.width().radians();
    let above = (angle - arc.min().radians()).rem_euclid(TAU);
    match end {
        End::Last => above < width - MEET || (above > TAU - MEET && width > MEET),
        End::First => above > MEET && above <= width + MEET,
    }
}

/// What is left of an arc without another: at most two arcs.
fn without(arc: Arc, other: Arc) -> [Option<Arc>; 2] {
    if other.is_full() {
        return [None, None];
    }
    if other.is_empty() {
        return [Some(arc), None];
    }
    let (min, width) = (arc.min().radians(), arc.width().radians());
    if width <= MEET {
        return [(!other.contains(arc.min())).then_some(arc), None];
    }
    // The other arc as it is met going up from `min`, and its copy one turn below.
    let start = (other.min().radians() - min).rem_euclid(TAU);
    let end = start + other.width().radians();
    let piece = |low: f64, high: f64| {
        if high - low <= MEET {
            return None;
        }
        Arc::new(Angle::from_radians(min + low), Angle::from_radians(min + high))
    };
    [piece((end - TAU).max(0.0), start.min(width)), piece(end, width)]
}
