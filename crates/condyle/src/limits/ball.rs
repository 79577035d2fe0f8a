//! The limit of a ball joint, prepared: a region for the bone's direction and a range of twist.

use std::f64::consts::PI;
use std::sync::OnceLock;

use glam::{DMat3, DVec2, DVec3};

use super::contact::{Contact, Held};
use super::curve::{Curve, GreatArc};
use super::linearize::HalfSpace;
use super::region::{Nearest, Region};
use super::twist_field::{TwistField, TwistRange};
use super::{LimitError, SwingLimit, SwingTwistLimit, TOLERANCE};
use crate::math::{Rotation, SwingAxes, trig, unit};

/// What is nearer to the boundary than this, in radians, has its normal from the boundary itself. The
/// way to the nearest point, of this length, is known to 10⁻⁷ of it.
const TOUCHING: f64 = 1e-9;

/// A prepared [`SwingTwistLimit`]. Inside, everything is in its axes: z along the bone.
#[derive(Clone, Debug)]
pub(crate) struct Ball {
    axes: SwingAxes,
    region: Region,
    twist: TwistField,
    /// Looked for when it is first asked for, where the limit does not say it.
    rest: OnceLock<DVec3>,
}

/// Where the bone points, and its twist relative to the direct swing.
#[derive(Clone, Copy, Debug)]
struct Split {
    direction: DVec3,
    twist: f64,
    /// How far the twist may be off for the rounding of the quaternion alone: more and more towards
    /// −bone, where it is not defined.
    blur: f64,
}

/// How to look for the nearest rotation from a direction.
#[derive(Clone, Copy, Debug)]
struct Search {
    /// The first step, and the last, in radians.
    step: f64,
    until: f64,
    /// How often to look around before the step is halved.
    patience: u32,
    /// How often in all.
    rounds: u32,
}

impl Search {
    /// Where the range of twist is the same everywhere.
    const SMOOTH: Self = Self { step: 0.1, until: 1e-9, patience: 1, rounds: 400 };
    /// To see which place is worth more.
    const ROUGH: Self = Self { step: 0.1, until: 1e-4, patience: 2, rounds: 400 };
    /// Along creases.
    const CREASED: Self = Self { step: 0.01, until: 1e-9, patience: 12, rounds: 1200 };
}

impl Ball {
    pub(crate) fn new(limit: &SwingTwistLimit) -> Result<Self, LimitError> {
        let axes = limit.axes;
        let region = Region::new(&limit.swing, &axes).map_err(|e| e.within("swing"))?;
        let twist = TwistField::new(&limit.twist, &axes).map_err(|e| e.within("twist"))?;
        let rest = match &limit.swing {
            SwingLimit::ReachCone { rest, .. } => unit(axes.components(*rest)),
            _ => region.contains(DVec3::Z).then_some(DVec3::Z),
        };
        let rest = rest.map_or_else(OnceLock::new, OnceLock::from);
        Ok(Self { axes, region, twist, rest })
    }

    pub(crate) const fn axes(&self) -> &SwingAxes {
        &self.axes
    }

    pub(crate) const fn region(&self) -> &Region {
        &self.region
    }

    pub(crate) const fn twist(&self) -> &TwistField {
        &self.twist
    }

    /// The same with great arcs for curved boundaries ([`Region::with_chords`]).
    pub(crate) fn with_chords(&self, off: f64) -> Self {
        Self { region: self.region.with_chords(off), ..self.clone() }
    }

    /// The direction of the bone is `(2(xz + wy), 2(yz − wx), w² + z² − x² − y²)`, half the twist the
    /// angle of (w, z), for the quaternion's components in our axes.
    fn split(&self, m: Rotation) -> Split {
        let q = m.quat();
        // Canonical: the other sign for the other half, without a branch.
        let q = if q.w == 0.0 { m.canonical().quat() } else { q * 1.0_f64.copysign(q.w) };
        let DVec3 { x, y, z } = self.axes.components(DVec3::new(q.x, q.y, q.z));
        let w = q.w;
        let direction =
            DVec3::new(2.0 * (x * z + w * y), 2.0 * (y * z - w * x), w * w + z * z - x * x - y * y);
        // Four roundings of a component, over the cosine of half the swing.
        let blur = 4.0 * f64::EPSILON / trig::length(z, w) + self.twist.blur(direction);
        Split { direction, twist: 2.0 * trig::atan2(z, w), blur }
    }

    /// The blur of a rotation that is made for a direction.
    fn blur_at(&self, direction: DVec3) -> f64 {
        let half_cos = if direction.z >= 0.0 {
            (0.5 * (1.0 + direction.z)).sqrt()
        } else {
            0.5 * trig::length(direction.x, direction.y)
        };
        4.0 * f64::EPSILON / half_cos + self.twist.blur(direction)
    }

    /// `R_D(z, direction) · R_z(twist)`.
    fn join(&self, direction: DVec3, twist: f64) -> Option<Rotation> {
        let DVec3 { x: dx, y: dy, z: dz } = direction;
        let (x, y, w) = if dz >= 0.0 {
            let w = (0.5 * (1.0 + dz)).sqrt();
            (-dy / (2.0 * w), dx / (2.0 * w), w)
        } else {
            let (sin, across) = ((0.5 * (1.0 - dz)).sqrt(), trig::length(dx, dy));
            if across == 0.0 {
                (sin, 0.0, 0.0)
            } else {
                (-dy * sin / across, dx * sin / across, across / (2.0 * sin))
            }
        };
        let (sin, cos) = trig::sin_cos(0.5 * twist);
        self.axes.near_unit_rotation(cos * x + sin * y, cos * y - sin * x, w * sin, w * cos)
    }

    pub(crate) fn contains(&self, m: Rotation) -> bool {
        let split = self.split(m);
        self.twist_margin(split) >= -TOLERANCE
            && (self.region.contains(split.direction)
                || self.region.distance(split.direction) >= -TOLERANCE)
    }

    pub(crate) fn distance(&self, m: Rotation) -> f64 {
        let split = self.split(m);
        self.region.distance(split.direction).min(self.twist_margin(split))
    }

    /// How far a twist is inside its range; what rounding alone may have done does not count.
    fn twist_margin(&self, Split { direction, twist, blur }: Split) -> f64 {
        let margin = self.twist.margin(direction, twist);
        if margin < 0.0 { (margin + blur).min(0.0) } else { margin }
    }

    pub(crate) fn project(&self, m: Rotation) -> Rotation {
        let from = self.split(m);
        let direction = self.region.project(from.direction);
        self.settle(m, from, direction)
    }

    /// [`project`](Self::project), and what stopped the bone and the twist. The normal of the first is
    /// along the boundary, that of the second the derivative of the twist less that of its end.
    pub(crate) fn hold(&self, m: Rotation) -> Held {
        let from = self.split(m);
        let direction = self.region.project(from.direction);
        let held = self.settle(m, from, direction);
        if held.quat() == m.quat() {
            return Held::free(m);
        }
        let swing = (direction != from.direction).then(|| {
            let out = from.direction - direction * direction.dot(from.direction);
            let beyond = trig::atan2(out.length(), direction.dot(from.direction));
            let normal = unit(direction.cross(out)).unwrap_or(DVec3::ZERO);
            Contact { normal: self.axes.vector(normal), beyond }
        });
        let (end, _) = self.twist.clamp_beyond(direction, from.twist, TOLERANCE);
        let twist = end.and_then(|end| {
            let over = from.twist - end + whole_turns(end - from.twist);
            let rate = Self::twist_rate(direction);
            let bounds = self.twist.range_with_gradient(direction);
            let bound = if over > 0.0 { bounds.max } else { bounds.min };
            let out = (rate - direction.cross(bound)) * 1.0_f64.copysign(over);
            let normal = self.axes.vector(unit(out)?);
            Some(Contact { normal, beyond: over.abs() / out.length() })
        });
        Held { m: held, contacts: [swing, twist] }
    }

    /// `m` with the bone pointing to a direction inside and its twist kept, as far as it may be.
    fn settle(&self, m: Rotation, from: Split, direction: DVec3) -> Rotation {
        let swing_moves = direction != from.direction;
        let blur = if swing_moves { self.blur_at(direction) } else { from.blur };
        let (clamped, doubt) = self.twist.clamp_beyond(direction, from.twist, TOLERANCE + blur);
        let settle_twist = |m| if doubt { self.settle_twist(m) } else { m };
        let (twist_inside, twist) = (clamped.is_none(), clamped.unwrap_or(from.twist));
        let settled = if swing_moves {
            self.join(direction, twist).map(settle_twist)
        } else if twist_inside {
            None
        } else {
            // The bone stays where it is.
            self.roll(twist - from.twist).map(|roll| settle_twist(m * roll))
        };
        settled.map_or(m, |settled| settled.in_hemisphere_of(m))
    }

    /// Where the range of twist jumps, or zero twist is singular, the rounding of the rotation alone may
    /// lead to another range. Then the twist is clamped to that of the direction as it came out, until
    /// it stays.
    fn settle_twist(&self, m: Rotation) -> Rotation {
        let mut settled = m;
        for _ in 0..4 {
            let split = self.split(settled);
            let slack = TOLERANCE + split.blur;
            let (clamped, _) = self.twist.clamp_beyond(split.direction, split.twist, slack);
            let Some(roll) = clamped.and_then(|twist| self.roll(twist - split.twist)) else {
                break;
            };
            settled = settled * roll;
        }
        settled
    }

    /// A turn about the bone.
    fn roll(&self, angle: f64) -> Option<Rotation> {
        let (sin, cos) = trig::sin_cos(0.5 * angle);
        self.axes.near_unit_rotation(0.0, 0.0, sin, cos)
    }

    /// The rest direction, from which [`toward_rest`](Self::toward_rest) looks.
    pub(crate) fn rest(&self) -> DVec3 {
        self.axes.vector(self.local_rest())
    }

    fn local_rest(&self) -> DVec3 {
        *self.rest.get_or_init(|| self.region.deepest())
    }

    /// The bone moved along the great arc to the rest direction, to where a walk from rest first leaves
    /// the region (D5). From the antipode of rest there are many arcs; the one over the region's deepest
    /// direction is taken, or any if that is rest itself.
    pub(crate) fn toward_rest(&self, m: Rotation) -> Rotation {
        let from = self.split(m);
        if self.region.contains(from.direction) {
            return self.settle(m, from, from.direction);
        }
        let rest = self.local_rest();
        let mut target = from.direction;
        if GreatArc::new(rest, target).is_none() {
            let deep = self.region.deepest();
            let beside = if GreatArc::new(rest, deep).is_some() {
                deep
            } else {
                rest.any_orthonormal_vector()
            };
            target = unit(target + beside * 1e-6).unwrap_or(target);
        }
        let t = self.region.first_exit(rest, target);
        let direction = match GreatArc::new(rest, target) {
            Some(arc) if t < 1.0 => Curve::Great(arc).point(t),
            _ => from.direction,
        };
        self.settle(m, from, self.region.project(direction))
    }

    /// As far as one can turn from a rotation inside towards another without leaving: the direction
    /// along the great arc to the first exit, then the twist.
    pub(crate) fn advance(&self, from: Rotation, to: Rotation) -> Rotation {
        let (a, b) = (self.split(from), self.split(to));
        let start = self.region.project(a.direction);
        let t = self.region.first_exit(start, b.direction);
        let direction = match GreatArc::new(start, b.direction) {
            Some(arc) if t < 1.0 => Curve::Great(arc).point(t),
            _ => b.direction,
        };
        self.settle(to, b, self.region.project(direction))
    }

    /// Derivatives of swing and twist under `m ← exp(v) · m`.
    ///
    /// ```text
    ///   δd = v × d        δτ = v · (z + d) / (1 + d·z)
    /// ```
    ///
    /// The second follows from `τ = 2 atan2(z, w)` of the quaternion q, and `δq = ½ v q`.
    fn twist_rate(direction: DVec3) -> DVec3 {
        let sum = 1.0 + direction.z;
        if sum < 1e-300 {
            return DVec3::ZERO;
        }
        (direction + DVec3::Z) / sum
    }

    /// The direction at `d` that leads away from the boundary when inside, towards it when outside.
    ///
    /// On the boundary, where every projection lies, the way to the nearest point has no length: there
    /// it is to the left of the boundary, at a corner along the mean of both sides
    /// ([`Region::leftward`]). `None` at the middle of a line.
    fn inward(&self, d: DVec3, nearest: &Nearest, inside: bool) -> Option<DVec3> {
        let square = nearest.foot.chord_square;
        if square <= TOUCHING * TOUCHING {
            let left = self.region.leftward(d, TOUCHING);
            if left.is_some() || square <= TOLERANCE * TOLERANCE {
                return left;
            }
        }
        let along = nearest.foot.point - d * nearest.foot.point.dot(d);
        let toward = unit(along)?;
        Some(if inside { -toward } else { toward })
    }

    fn swing_half_space(&self, d: DVec3) -> Option<HalfSpace> {
        let nearest = self.region.nearest(d)?;
        let inside = self.region.contains(d);
        let angle = nearest.foot.angle(d);
        let normal = self.inward(d, &nearest, inside).map_or(DVec3::ZERO, |u| d.cross(u));
        Some(HalfSpace::new(self.axes.vector(normal), if inside { angle } else { -angle }))
    }

    /// The ends of the twist's range as half-spaces, first the lower; none if every twist is allowed.
    fn twist_half_spaces(
        &self,
        Split { direction: d, twist, .. }: Split,
    ) -> Option<[HalfSpace; 2]> {
        let bounds = self.twist.range_with_gradient(d);
        if bounds.range.is_full() {
            return None;
        }
        let TwistRange { min, max } = bounds.range;
        let rate = Self::twist_rate(d);
        let near = twist + whole_turns(0.5 * (min + max) - twist);
        // δ(bound) = g·(v × d) = v·(d × g).
        let low = rate - d.cross(bounds.min);
        let high = d.cross(bounds.max) - rate;
        Some([
            HalfSpace::new(self.axes.vector(low), near - min),
            HalfSpace::new(self.axes.vector(high), max - near),
        ])
    }

    pub(crate) fn linearize(&self, m: Rotation) -> Vec<HalfSpace> {
        let split = self.split(m);
        let mut spaces: Vec<HalfSpace> =
            self.swing_half_space(split.direction).into_iter().collect();
        spaces.extend(self.twist_half_spaces(split).into_iter().flatten());
        spaces
    }

    pub(crate) fn gradient(&self, m: Rotation) -> DVec3 {
        let spaces = self.linearize(m);
        let least = spaces.iter().min_by(|a, b| a.margin.radians().total_cmp(&b.margin.radians()));
        least.map_or(DVec3::ZERO, |space| space.normal)
    }

    pub(crate) fn jacobian(&self, m: Rotation) -> DMat3 {
        let from = self.split(m);
        let d = from.direction;
        let projected = self.region.project(d);
        let foot = if projected == d {
            DMat3::IDENTITY
        } else {
            self.region.nearest(d).map_or(DMat3::IDENTITY, |n| self.region.foot_jacobian(d, &n))
        };
        let blur = if projected == d { from.blur } else { self.blur_at(projected) };
        let twist = self.twist.range_with_gradient(projected);
        let settled = Split { direction: projected, blur, ..from };
        let twist_moves = self.twist_margin(settled) < -TOLERANCE;
        if projected == d && !twist_moves {
            return DMat3::IDENTITY;
        }
        // Which end of the range, if the twist is clamped.
        let bound = twist_moves.then(|| {
            let clamped = twist.range.clamp(from.twist);
            let to = |end: f64| trig::sin(0.5 * (clamped - end)).abs();
            if to(twist.range.min) <= to(twist.range.max) { twist.min } else { twist.max }
        });
        let p = projected;
        let column = |v: DVec3| {
            let moved = foot * v.cross(d);
            let twist = match bound {
                Some(gradient) => gradient.dot(moved),
                None => Self::twist_rate(d).dot(v),
            };
            // v' with v' × p = moved, and the twist's rate.
            let turn = p.cross(moved);
            let sum = 1.0 + p.z;
            let slip = if sum < 1e-300 { 0.0 } else { turn.z / sum };
            turn + p * (twist - slip)
        };
        let local = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
        let axes = DMat3::from_cols(self.axes.x(), self.axes.y(), self.axes.bone());
        axes * local * axes.transpose()
    }

    /// The nearest allowed rotation by the angle of the turn between them, however that divides over
    /// swing and twist.
    ///
    /// For each direction the best twist is known in closed form. Over the directions the angle is
    /// looked at on a lattice, and from the best few of it followed downhill until steps are below
    /// 1e-9 rad; more closely if the range of twist depends on the direction.
    pub(crate) fn project_rotation(&self, m: Rotation) -> Rotation {
        if self.contains(m) {
            return m;
        }
        let at = |d: DVec3| self.best_at(m, d);
        let mut starts: Vec<(f64, DVec3)> = Vec::new();
        let mut add = |d: DVec3| {
            let d = self.region.project(d);
            starts.push((at(d).0, d));
        };
        let from = self.split(m);
        add(from.direction);
        let TwistRange { min, max } = self.twist.range(from.direction);
        for twist in [min, max] {
            // The nearest rotation with this twist: its quaternion has no part along
            // (w, z) = (−sin τ/2, cos τ/2).
            let q = m.canonical().quat();
            let DVec3 { x, y, z } = self.axes.components(DVec3::new(q.x, q.y, q.z));
            let (sin, cos) = trig::sin_cos(0.5 * twist);
            let off = z * cos - q.w * sin;
            let (z, w) = (z - off * cos, q.w + off * sin);
            if let Some(r) = self.axes.rotation(x, y, z, w) {
                add(self.split(r).direction);
            }
        }
        let constant = self.twist.is_constant();
        super::region::spread(if constant { 150 } else { 600 }).for_each(&mut add);
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut found: Vec<(f64, DVec3)> = Vec::new();
        let mut tried: Vec<DVec3> = Vec::new();
        let mut follow = |apart: f64, many: usize, search: Search| {
            for &(value, d) in &starts {
                if tried.len() == many {
                    break;
                }
                if tried.iter().all(|t| (*t - d).length_squared() >= apart * apart) {
                    tried.push(d);
                    found.push(self.descend(m, value, d, search));
                }
            }
        };
        // Neighbours lead to the same place, but for jumps and creases of the range of twist.
        if constant {
            follow(0.1, 6, Search::SMOOTH);
        } else {
            follow(0.2, 12, Search::ROUGH);
            follow(0.03, 20, Search::ROUGH);
        }
        found.extend(self.along_boundary(m));
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        if !constant {
            found.truncate(3);
            for (value, d) in &mut found {
                (*value, *d) = self.descend(m, *value, *d, Search::CREASED);
            }
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let mut best = self.project(m);
        let mut least = best.distance(m).radians();
        for &(value, d) in found.iter().take(3) {
            if value < least
                && let Some(r) = self.allowed_near(m, d)
                && r.distance(m).radians() < least
            {
                (least, best) = (r.distance(m).radians(), r);
            }
        }
        best.in_hemisphere_of(m)
    }

    /// The least angles over the directions of the boundary: each piece is looked at in steps, and around
    /// the best of these by golden sections. In narrow regions steps across all directions are too
    /// coarse.
    fn along_boundary(&self, m: Rotation) -> Vec<(f64, DVec3)> {
        /// (√5 − 1) / 2
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let pieces = self.region.pieces();
        let at = |piece: &Curve, t: f64| {
            let d = piece.point(t);
            (self.best_at(m, d).0, d)
        };
        let mut low: Vec<(f64, usize, f64, f64)> = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            let steps = (piece.length() / 0.05).ceil().clamp(4.0, 64.0);
            let mut values = Vec::new();
            let mut i = 0.0;
            while i <= steps {
                values.push(at(piece, i / steps).0);
                i += 1.0;
            }
            for (i, value) in values.iter().enumerate() {
                let beside = [i.checked_sub(1), Some(i + 1)];
                let lowest =
                    beside.iter().flatten().filter_map(|j| values.get(*j)).all(|v| v >= value);
                if lowest {
                    low.push((*value, index, i as f64 / steps, 1.0 / steps));
                }
            }
        }
        low.sort_by(|a, b| a.0.total_cmp(&b.0));
        let refine = |&(_, index, t, step): &(f64, usize, f64, f64)| {
            let piece = &pieces[index];
            let (mut from, mut to) = ((t - step).max(0.0), (t + step).min(1.0));
            let mut best = at(piece, t);
            for _ in 0..60 {
                let (a, b) = (to - GOLDEN * (to - from), from + GOLDEN * (to - from));
                let (at_a, at_b) = (at(piece, a), at(piece, b));
                for tried in [at_a, at_b] {
                    if tried.0 < best.0 {
                        best = tried;
                    }
                }
                if at_a.0 < at_b.0 {
                    to = b;
                } else {
                    from = a;
                }
            }
            best
        };
        low.iter().take(4).map(refine).collect()
    }

    /// The nearest allowed rotation that points along `d`, or right beside it: the rounding of a rotation
    /// may take it over a jump of the range of twist.
    fn allowed_near(&self, m: Rotation, d: DVec3) -> Option<Rotation> {
        let at = |d: DVec3| self.join(d, self.best_at(m, d).1);
        if let Some(r) = at(d).filter(|r| self.contains(*r)) {
            return Some(r);
        }
        let (u, v) = d.any_orthonormal_pair();
        let ways = [u, -u, v, -v, u + v, u - v, v - u, -u - v];
        let beside = [1e-12, 1e-10, 1e-8, 1e-7]
            .into_iter()
            .flat_map(|step| ways.into_iter().filter_map(move |way| unit(d + way * step)));
        beside
            .filter_map(|d| at(self.region.project(d)))
            .filter(|r| self.contains(*r))
            // Rounding next to −bone.
            .chain(at(d).map(|r| self.project(r)))
            .min_by(|a, b| a.distance(m).radians().total_cmp(&b.distance(m).radians()))
    }

    /// The angle to the nearest allowed rotation that points along `d`, and its twist.
    fn best_at(&self, m: Rotation, d: DVec3) -> (f64, f64) {
        let Some(swing) = self.join(d, 0.0) else { return (PI, 0.0) };
        let q = (swing.inverse() * m).quat();
        let z = self.axes.components(DVec3::new(q.x, q.y, q.z)).z;
        // ⟨q, R_z(τ)⟩ = w cos τ/2 + z sin τ/2 is largest at τ = 2 atan2(z, w) and falls to both sides.
        let twist = 2.0 * trig::atan2(z, q.w);
        let twist = self.twist.clamp(d, twist);
        let angle = self.join(d, twist).map_or(PI, |r| r.distance(m).radians());
        (angle, twist)
    }

    /// Downhill from a direction, by looking around it in steps that become smaller when nothing is
    /// found.
    ///
    /// # Source
    ///
    /// C. Audet, J. E. Dennis, "Mesh adaptive direct search algorithms for constrained optimization"
    /// (2006): where the range of twist changes with the direction, the angle has creases, and along
    /// one of these fixed ways to look may all lead uphill. So they are turned by the golden angle each
    /// time, and the step is kept until a number of them have been tried.
    fn descend(&self, m: Rotation, value: f64, d: DVec3, search: Search) -> (f64, DVec3) {
        // cos and sin of the golden angle, 2.39996… rad.
        const GOLDEN: (f64, f64) = (-0.737_368_878_078_32, 0.675_490_294_261_523_7);
        let Search { mut step, until, patience, rounds } = search;
        let mut best = (value, d);
        let (mut turn, mut failed) = (DVec2::X, 0);
        for _ in 0..rounds {
            let u = match self.region.nearest(best.1).and_then(|n| unit(n.foot.point.cross(best.1)))
            {
                // Along the boundary, if it is near.
                Some(u) => u,
                None => best.1.any_orthonormal_vector(),
            };
            let v = best.1.cross(u);
            let (u, v) = (u * turn.x + v * turn.y, v * turn.x - u * turn.y);
            let before = best.0;
            for way in [u, -u, v, -v, u + v, u - v, v - u, -u - v] {
                let Some(d) = unit(best.1 + way * step) else { continue };
                let d = self.region.project(d);
                let value = self.best_at(m, d).0;
                if value < best.0 {
                    best = (value, d);
                }
            }
            if best.0 < before {
                failed = 0;
                continue;
            }
            failed += 1;
            if failed < patience {
                let (cos, sin) = GOLDEN;
                turn = DVec2::new(turn.x * cos - turn.y * sin, turn.x * sin + turn.y * cos);
            } else {
                (turn, failed) = (DVec2::X, 0);
                step *= 0.5;
                if step < until {
                    break;
                }
            }
        }
        best
    }
}

/// The multiple of a turn that is nearest to an angle.
fn whole_turns(angle: f64) -> f64 {
    let turns = angle / (2.0 * PI);
    if turns.is_finite() { turns.round() * 2.0 * PI } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::zoo::{arc, dir, zoo};
    use crate::limits::{TwistAt, TwistBounds, TwistLimit};
    use crate::math::{Angle, Arc, SwingTwist};
    use crate::synth::Rng;

    fn limits() -> Vec<(&'static str, SwingTwistLimit)> {
        let axes = SwingAxes::new(DVec3::new(0.3, 1.0, -0.2), Some(DVec3::Z)).unwrap();
        let arcs = [arc(-40.0, 70.0), arc(150.0, 260.0), Arc::FULL, arc(10.0, 10.0)];
        let twist = |i: usize| TwistLimit {
            bounds: TwistBounds::Arc(arcs[i % arcs.len()]),
            ..TwistLimit::default()
        };
        zoo()
            .into_iter()
            .enumerate()
            .map(|(i, (name, swing))| (name, SwingTwistLimit { axes, swing, twist: twist(i) }))
            .collect()
    }

    /// Rotations of all kinds: anywhere, near the boundary, near −bone, half-turns, the identity.
    fn rotations(ball: &Ball, seed: u64, n: usize) -> Vec<Rotation> {
        let mut rng = Rng::new(seed);
        let mut all = vec![Rotation::IDENTITY];
        for i in 0..n {
            let r = rng.rotation();
            let small = |rng: &mut Rng, size: f64| Rotation::exp(rng.direction() * size).unwrap();
            all.push(match i % 5 {
                0 | 1 => r,
                2 => small(&mut rng, 1e-3) * ball.project(r),
                3 => {
                    let size = [0.0, 1e-12, 1e-7, 1e-3][i / 5 % 4];
                    let down = ball.join(DVec3::NEG_Z, rng.between(-3.0, 3.0)).unwrap();
                    small(&mut rng, size) * down
                }
                _ => Rotation::from_axis_angle(rng.direction(), Angle::HALF_TURN).unwrap(),
            });
        }
        all
    }

    #[test]
    fn splitting_is_that_of_swing_and_twist_b2() {
        let ball = Ball::new(&limits()[1].1).unwrap();
        for m in rotations(&ball, 1, 2000) {
            let split = ball.split(m);
            let expected = SwingTwist::from_rotation(m, &ball.axes);
            assert_eq!(split.twist.to_bits(), expected.twist.radians().to_bits());
            let direction = ball.axes.components(m * ball.axes.bone());
            assert!((split.direction - direction).length() < 1e-15);
            let back = ball.join(split.direction, split.twist).unwrap();
            // Next to −bone the azimuth of a direction has few digits.
            let across = trig::hypot(direction.x, direction.y);
            if direction.z > 0.0 || across > 1e-9 {
                let lost = if direction.z > 0.0 { 0.0 } else { 1e-15 / across };
                assert!(back.distance(m).radians() < 2.0 * lost + 4e-15, "{direction}");
            }
        }
    }

    #[test]
    fn projections_land_inside_and_stay_b10_b11() {
        for (name, limit) in limits() {
            let ball = Ball::new(&limit).unwrap();
            for m in rotations(&ball, 2, 300) {
                let p = ball.project(m);
                let distance = ball.distance(p);
                assert!(distance >= -TOLERANCE, "{name}: {distance} of {p:?} from {m:?}");
                let again = ball.project(p);
                assert_eq!(again.quat().to_array(), p.quat().to_array(), "{name} {m:?}");
                if ball.distance(m) >= 0.0 {
                    assert_eq!(p.quat().to_array(), m.quat().to_array(), "{name} {m:?}");
                }
                // The bone never moves because of a twist, and no farther than it must.
                let (from, to) = (ball.split(m).direction, ball.split(p).direction);
                let moved = crate::math::angle_between(from, to).radians();
                let must = (-ball.region.distance(from)).max(0.0);
                assert!((moved - must).abs() < 1e-7, "{name}: {moved} {must}");
            }
        }
    }

    /// Ellipses of all sizes, those that are lines and those that reach −bone, where their vertices are
    /// cusps and twist is not defined (B4, B10).
    #[test]
    fn ellipses_up_to_half_a_turn_keep_what_is_inside_and_what_they_project() {
        let mut rng = Rng::new(21);
        let sizes = [0.0, 1e-8, 0.01, 1.0, 35.58, 90.0, 120.0, 170.0, 179.99, 179.999_999, 180.0];
        let twists = [arc(0.0, 0.0), arc(-40.0, 70.0), Arc::FULL];
        for i in 0..sizes.len() * sizes.len() {
            let [rx, ry] =
                [sizes[i / sizes.len()], sizes[i % sizes.len()]].map(Angle::from_degrees);
            for twist in twists {
                let limit = SwingTwistLimit {
                    swing: SwingLimit::Ellipse { rx, ry },
                    twist: TwistLimit { bounds: TwistBounds::Arc(twist), ..TwistLimit::default() },
                    ..SwingTwistLimit::default()
                };
                let ball = Ball::new(&limit).unwrap();
                for k in 0..200 {
                    // By the definition of the ellipse.
                    let (sin, cos) = trig::sin_cos(rng.between(-PI, PI));
                    let part = rng.uniform().sqrt();
                    let (x, y) = (part * cos * rx.radians(), part * sin * ry.radians());
                    let roll = rng.between(twist.min().radians(), twist.max().radians());
                    let inside = crate::math::Swing::from_radians(x, y);
                    let inside = inside.to_rotation(&SwingAxes::Z).unwrap()
                        * Rotation::about_z(Angle::from_radians(roll));
                    let off = ball.distance(inside);
                    assert!(off >= -1e-12, "{rx:?} {ry:?} {twist:?}: {off} of {inside:?}");

                    let far = if k % 2 == 0 {
                        rng.rotation()
                    } else {
                        let size = tenth_to(1 + rng.below(15));
                        let down = ball.join(DVec3::NEG_Z, rng.between(-3.0, 3.0)).unwrap();
                        Rotation::exp(rng.direction() * size).unwrap() * down
                    };
                    let p = ball.project(far);
                    let off = ball.distance(p);
                    assert!(off >= -TOLERANCE, "{rx:?} {ry:?} {twist:?}: {off} from {far:?}");
                    assert_eq!(ball.project(p).quat(), p.quat(), "{rx:?} {ry:?} {twist:?} {far:?}");
                }
            }
        }
    }

    fn tenth_to(n: usize) -> f64 {
        (0..n).fold(1.0, |size, _| 0.1 * size)
    }

    /// As a file has it: turns about z, y and x in degrees with six decimals.
    fn written(m: Rotation) -> Rotation {
        let order = crate::math::EulerOrder::ZYX;
        let angles = crate::math::EulerAngles::from_rotation(order, m).angles;
        let round = |a: Angle| Angle::from_degrees((a.degrees() * 1e6).round() / 1e6);
        order.to_rotation(angles.map(round)).unwrap()
    }

    /// Where parts of the border of the given directions are equally near, the range jumps. What is
    /// clamped there is allowed, also when it comes back from a file, and is clamped to the nearest of the
    /// ranges that meet (B9).
    #[test]
    fn ranges_that_jump_hold_what_is_clamped_to_them_also_after_writing() {
        let at = |x, y, z, min, max| TwistAt { direction: dir(x, y, z), arc: arc(min, max) };
        let square = vec![
            at(0.4, 0.4, 1.0, -80.0, -60.0),
            at(-0.4, 0.4, 1.0, -10.0, 10.0),
            at(-0.4, -0.4, 1.0, 60.0, 80.0),
            at(0.4, -0.4, 1.0, 20.0, 30.0),
        ];
        let two = vec![at(1.0, 0.0, 0.2, -80.0, -60.0), at(-1.0, 0.0, 0.2, 60.0, 80.0)];
        let notch = vec![
            at(1.0, 0.0, 0.3, -80.0, -60.0),
            at(0.0, 1.0, 0.3, 60.0, 80.0),
            at(-1.0, 0.1, 0.3, 0.0, 10.0),
        ];
        let axes = SwingAxes::new(DVec3::new(0.3, 1.0, -0.2), Some(DVec3::Z)).unwrap();
        let swings = [
            SwingLimit::Free,
            // One direction: opposite to the middle of what is given, and at the pole of an arc.
            SwingLimit::Ellipse { rx: Angle::ZERO, ry: Angle::ZERO },
        ];
        let mut rng = Rng::new(22);
        let (mut outside, mut ties) = (0, 0);
        for (given, swing) in
            [square, two, notch].into_iter().flat_map(|g| swings.clone().map(|s| (g.clone(), s)))
        {
            let mut given = given;
            for at in &mut given {
                at.direction = axes.vector(at.direction);
            }
            let turned = matches!(swing, SwingLimit::Ellipse { .. });
            if turned {
                // So that the tie is at the bone.
                let half = Rotation::from_axis_angle(axes.x(), Angle::HALF_TURN).unwrap();
                for at in &mut given {
                    at.direction = half * at.direction;
                }
            }
            let bounds = TwistBounds::BySwing(given);
            let twist = TwistLimit { bounds, ..TwistLimit::default() };
            let ball = Ball::new(&SwingTwistLimit { axes, swing, twist }).unwrap();
            for i in 0..400 {
                // On the planes where parts of the border are equally near, or within 1e-5 to 1e-15.
                let (sin, cos) = trig::sin_cos(rng.between(-PI, PI));
                let sum =
                    if i % 2 == 0 { DVec3::new(0.0, sin, cos) } else { DVec3::new(sin, 0.0, cos) };
                let off = rng.direction() * tenth_to(5 + rng.below(11));
                let d = unit(sum + off).unwrap();
                let m = ball.join(d, rng.between(-PI, PI)).unwrap();
                let p = ball.project(m);
                assert!(ball.distance(p) >= -TOLERANCE, "{}", ball.distance(p));
                assert_eq!(ball.project(p).quat(), p.quat());
                let again = ball.distance(written(p)).to_degrees();
                outside += usize::from(again < -0.01);
                assert!(again >= -0.01, "{again} at {:?}", ball.split(p));
                // No range right beside it has a nearer end.
                let (direction, twist) = (ball.split(p).direction, ball.split(m).twist);
                let moved = -ball.twist.range(direction).margin(twist).min(0.0);
                let away =
                    Angle::from_radians(ball.split(p).twist - twist).wrapped().radians().abs();
                if !turned && d.z < -0.5 {
                    ties += usize::from(away < moved - 1e-3);
                    assert!(away <= moved + 1e-9, "{away} {moved}");
                }
            }
        }
        assert_eq!(outside, 0);
        assert!(ties > 20, "{ties}");
    }

    #[test]
    fn gradients_are_finite_differences_of_the_distance() {
        for (name, limit) in limits() {
            let ball = Ball::new(&limit).unwrap();
            let mut checked = 0;
            for m in rotations(&ball, 3, 200) {
                let gradient = ball.gradient(m);
                let h = 1e-5;
                let at = |v: DVec3| ball.distance(Rotation::exp(v).unwrap() * m);
                let differences = |h: f64| {
                    DVec3::from_array(
                        [DVec3::X, DVec3::Y, DVec3::Z]
                            .map(|e| (at(e * h) - at(-e * h)) / (2.0 * h)),
                    )
                };
                let (fine, coarse) = (differences(h), differences(2.0 * h));
                // A kink within the steps shows as a difference of differences; so does −bone.
                let bend = [DVec3::X, DVec3::Y, DVec3::Z]
                    .map(|e| (at(e * h) - 2.0 * at(DVec3::ZERO) + at(-e * h)).abs() / h);
                let kink = bend.iter().any(|b| *b > 1e-3);
                let apart = (fine - coarse).length() > 1e-7 * fine.length();
                if kink || apart || ball.split(m).direction.z < -0.99 {
                    continue;
                }
                checked += 1;
                let error = (gradient - fine).length();
                assert!(error < 1e-6 * (1.0 + fine.length()), "{name}: {gradient} {fine} at {m:?}");
            }
            assert!(checked > 60, "{name}: {checked}");
        }
    }

    /// The distance of the bone's direction grows as fast along the gradient as along the best of many
    /// ways: at a rate of 1, at corners less.
    #[test]
    fn gradients_on_the_boundary_lead_inside_as_fast_as_can_be() {
        for (name, mut limit) in limits() {
            limit.twist = TwistLimit::default();
            let ball = Ball::new(&limit).unwrap();
            let mut rng = Rng::new(8);
            let (mut smooth, mut corners) = (0, 0);
            for i in 0..120 {
                let d = rng.direction();
                let nearest = ball.region.nearest(d).unwrap();
                let outside = !ball.region.contains(d);
                // Projected from outside; the nearest point from inside; a little off it.
                let off = [0.0, 1e-12, 1e-10, 9e-10, 1.1e-9, 1e-8][rng.below(6)];
                let m = if outside && i % 2 == 0 {
                    ball.project(ball.join(d, 0.4).unwrap())
                } else {
                    let off = if rng.chance(0.5) { off } else { -off };
                    let way = unit(d - nearest.foot.point * d.dot(nearest.foot.point));
                    let foot = nearest.foot.point + way.unwrap_or(DVec3::ZERO) * off;
                    ball.join(unit(foot).unwrap(), 0.4).unwrap()
                };
                let gradient = ball.gradient(m);
                assert!((gradient.length() - 1.0).abs() < 1e-9, "{name}: {gradient}");
                let here = ball.split(m).direction;
                if (here.x.abs() - 1.0).abs() < 1e-5 && name == "box over the pole" {
                    // There the boundary touches itself, and the inside is on two sides.
                    continue;
                }
                let h = 1e-6;
                let rate = |v: DVec3| {
                    let moved = Rotation::exp(v * h).unwrap() * m;
                    (ball.distance(moved) - ball.distance(m)) / h
                };
                let (u, v) = here.any_orthonormal_pair();
                let ways = (0..120).map(|k| {
                    let (sin, cos) = trig::sin_cos((3.0 * f64::from(k)).to_radians());
                    rate(ball.axes.vector(u * cos + v * sin))
                });
                let best = ways.fold(f64::NEG_INFINITY, f64::max);
                let got = rate(gradient);
                if best <= 0.999 && off > TOUCHING {
                    // The way to a corner is shorter than the step.
                    continue;
                }
                // Steps of 3° miss the best by up to 4e-4, at corners by more.
                let slack = if best > 0.999 { 1e-3 } else { 0.03 };
                assert!(got > best - slack, "{name}: {got} of {best} at {here}");
                if best > 0.999 {
                    smooth += 1;
                } else {
                    corners += 1;
                }
            }
            assert!(smooth + corners > 50 && smooth > 8, "{name}: {smooth} {corners}");
        }
    }

    #[test]
    fn gradients_agree_on_both_sides_of_where_they_are_taken_otherwise() {
        for (name, mut limit) in limits() {
            limit.twist = TwistLimit::default();
            let ball = Ball::new(&limit).unwrap();
            let mut rng = Rng::new(9);
            let mut worst: f64 = 0.0;
            for _ in 0..200 {
                let d = rng.direction();
                let nearest = ball.region.nearest(d).unwrap();
                let foot = nearest.foot.point;
                if nearest.foot.at.is_none() {
                    continue;
                }
                let Some(way) = unit(d - foot * d.dot(foot)) else { continue };
                let at = |off: f64| {
                    ball.gradient(ball.join(unit(foot + way * off).unwrap(), 0.0).unwrap())
                };
                worst = worst.max((at(0.9 * TOUCHING) - at(1.1 * TOUCHING)).length());
            }
            // Found: 2e-6.
            assert!(worst < 1e-5, "{name}: {worst}");
        }
    }

    #[test]
    fn on_a_line_there_is_no_way_inside() {
        let mut limit = limits().swap_remove(0).1;
        limit.twist = TwistLimit::default();
        limit.swing = SwingLimit::Ellipse { rx: Angle::from_degrees(50.0), ry: Angle::ZERO };
        let ball = Ball::new(&limit).unwrap();
        let d = unit(DVec3::new(0.0, 0.3, 1.0)).unwrap();
        let on = ball.join(d, 0.0).unwrap();
        assert_eq!(ball.gradient(on), DVec3::ZERO);
        // About this the bone leaves the line at a right angle.
        let axis = ball.axes.vector(d.cross(DVec3::X));
        for off in [1e-11, -1e-11, 1e-9, 1e-6] {
            let m = Rotation::exp(axis * off).unwrap() * on;
            let back = ball.gradient(m) * off.signum();
            assert!((back + axis).length() < 1e-3, "{off}: {back} {axis}");
        }
    }

    #[test]
    fn jacobians_are_finite_differences_of_the_projection() {
        for (name, limit) in limits() {
            let ball = Ball::new(&limit).unwrap();
            let custom = name == "flower";
            let mut checked = 0;
            for m in rotations(&ball, 4, 150) {
                let jacobian = ball.jacobian(m);
                let p = ball.project(m);
                let at =
                    |v: DVec3| (ball.project(Rotation::exp(v).unwrap() * m) * p.inverse()).log();
                let differences = |h: f64| {
                    DMat3::from_cols(
                        (at(DVec3::X * h) - at(DVec3::X * -h)) / (2.0 * h),
                        (at(DVec3::Y * h) - at(DVec3::Y * -h)) / (2.0 * h),
                        (at(DVec3::Z * h) - at(DVec3::Z * -h)) / (2.0 * h),
                    )
                };
                let size =
                    |m: DMat3| m.to_cols_array().iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                let h = if custom { 1e-4 } else { 1e-5 };
                let (fine, coarse) = (differences(h), differences(2.0 * h));
                let slack = if custom { 1e-3 } else { 1e-6 };
                let apart = size(fine - coarse) > 0.3 * slack * (1.0 + size(fine));
                if apart || size(fine) > 1e3 || ball.split(m).direction.z < -0.99 {
                    continue;
                }
                checked += 1;
                let error = size(jacobian - fine);
                assert!(error < slack * (1.0 + size(fine)), "{name}: {jacobian} {fine} at {m:?}");
            }
            assert!(checked > 50, "{name}: {checked}");
        }
    }

    /// With twist by swing as well, on a small part of the sphere and all around it.
    fn limits_with_fields() -> Vec<(&'static str, SwingTwistLimit)> {
        let at = |x, y, z, min, max| TwistAt { direction: dir(x, y, z), arc: arc(min, max) };
        let small = vec![
            at(0.3, 1.0, -0.2, -80.0, 60.0),
            at(1.0, 0.1, 0.1, -20.0, 90.0),
            at(-0.2, 1.0, 1.0, -50.0, 75.0),
            at(-0.6, 0.3, -0.5, 0.0, 30.0),
        ];
        let around = vec![
            at(1.0, 0.1, 0.2, -20.0, 30.0),
            at(-1.0, 0.0, 0.1, -40.0, 130.0),
            at(0.1, 1.0, 0.1, -60.0, 30.0),
            at(0.0, -1.0, -0.1, -10.0, 50.0),
            at(0.1, 0.2, 1.0, -90.0, 30.0),
            at(-0.1, 0.2, -1.0, -80.0, 10.0),
        ];
        let fields = [small, around];
        let by_swing = limits().into_iter().enumerate().map(|(i, (name, limit))| {
            let bounds = TwistBounds::BySwing(fields[i % 2].clone());
            (name, SwingTwistLimit { twist: TwistLimit { bounds, ..limit.twist }, ..limit })
        });
        limits().into_iter().chain(by_swing).collect()
    }

    /// The angle from `m` to the nearest rotation that points along `d` with a twist in its range: the
    /// quaternion of `R_D(z, d)⁻¹ · m` has the product w cos τ/2 + z sin τ/2 with that of a twist τ,
    /// which has one hill in a turn, so that the best is its top or an end.
    fn angle_by_definition(ball: &Ball, m: [f64; 4], d: DVec3) -> f64 {
        let [x, y, z, w] = m;
        // Exactly of length one, also next to −bone.
        let length = trig::hypot3(d.x, d.y, 1.0 + d.z);
        if length < 1e-9 {
            return PI;
        }
        // (sx, sy, 0, sw) is the direct swing.
        let (sx, sy, sw) = (-d.y / length, d.x / length, (1.0 + d.z) / length);
        let (w, z) = (sw * w + sx * x + sy * y, sw * z - sx * y + sy * x);
        let TwistRange { min, max } = ball.twist.range(d);
        let top = 2.0 * trig::atan2(z, w);
        let above = (top - min).rem_euclid(2.0 * PI);
        let cosine = if above <= max - min {
            trig::hypot(z, w)
        } else {
            let product = |twist: f64| {
                let (sin, cos) = trig::sin_cos(0.5 * twist);
                (w * cos + z * sin).abs()
            };
            product(min).max(product(max))
        };
        2.0 * trig::acos(cosine.min(1.0))
    }

    #[test]
    fn the_nearest_rotation_is_not_beaten_by_looking_everywhere() {
        let mut cases = 0;
        for (name, limit) in limits_with_fields() {
            let ball = Ball::new(&limit).unwrap();
            let mut rng = Rng::new(5);
            // Directions along the boundary, 0.02 rad apart, and inside, some 0.06 rad.
            let mut directions: Vec<DVec3> = ball.region.loops(0.02).concat();
            let inside = super::super::region::spread(3000).filter(|d| ball.region.contains(*d));
            directions.extend(inside);
            // Nearest rotations of shapes given by a function take most of the time.
            let by_function = matches!(limit.swing, SwingLimit::Custom(_));
            let some = match (ball.twist.is_constant(), by_function) {
                (true, false) => 36,
                (true, true) => 20,
                (false, _) => 10,
            };
            for m in rotations(&ball, 6, some) {
                let found = ball.project_rotation(m);
                assert!(ball.distance(found) >= -TOLERANCE, "{name}");
                let value = found.distance(m).radians();
                assert!(value <= ball.project(m).distance(m).radians() + 1e-9, "{name}");
                let q = m.quat();
                let across = ball.axes.components(DVec3::new(q.x, q.y, q.z));
                let q = [across.x, across.y, across.z, q.w];
                let at = |d: DVec3| angle_by_definition(&ball, q, d);
                let mut order: Vec<(f64, DVec3)> =
                    directions.iter().map(|d| (at(*d), *d)).collect();
                order.sort_by(|a, b| a.0.total_cmp(&b.0));
                // From the best few of all, apart from each other, downhill by chance.
                let mut starts: Vec<(f64, DVec3)> = Vec::new();
                for (angle, d) in order {
                    if starts.iter().all(|s| (s.1 - d).length() > 0.05) {
                        starts.push((angle, d));
                    }
                    if starts.len() == 4 {
                        break;
                    }
                }
                let mut brute = PI;
                for (angle, d) in starts {
                    let mut best = (angle, d);
                    let mut size = 0.02;
                    for i in 0..500 {
                        let to = unit(best.1 + rng.direction() * size * rng.uniform());
                        let to = ball.region.project(to.unwrap_or(best.1));
                        let angle = at(to);
                        if angle < best.0 {
                            best = (angle, to);
                        }
                        if i % 20 == 19 {
                            size *= 0.6;
                        }
                    }
                    brute = best.0.min(brute);
                }
                assert!(
                    value <= brute + 1e-6,
                    "{name}, {:?}: {value} {brute} for {m:?}",
                    limit.twist.bounds
                );
                cases += 1;
            }
        }
        assert!(cases >= 1000, "{cases}");
    }

    #[test]
    fn moving_towards_rest_stops_at_the_first_boundary_seen_from_rest_d5() {
        for (name, limit) in limits() {
            let ball = Ball::new(&limit).unwrap();
            let rest = ball.local_rest();
            let mut all = rotations(&ball, 7, 60);
            all.extend(ball.join(-rest, 0.3));
            for m in all {
                let p = ball.toward_rest(m);
                assert!(ball.distance(p) >= -TOLERANCE, "{name}: {}", ball.distance(p));
                let (from, to) = (ball.split(m).direction, ball.split(p).direction);
                if ball.region.contains(from) || (from + rest).length() < 1e-3 {
                    continue;
                }
                // On the arc between, and everything between rest and it is inside.
                let across = unit(rest.cross(from)).unwrap_or(DVec3::ZERO);
                assert!(across.dot(to).abs() < 1e-6, "{name} at {from}: {to}");
                for i in 0..50 {
                    let t = f64::from(i) / 50.0;
                    let Some(d) = unit(rest * (1.0 - t) + to * t) else { continue };
                    assert!(ball.region.distance(d) > -1e-9, "{name}: {t} of the way to {to}");
                }
            }
        }
    }
}
