//! Sinusoids of the angle that a rotation turns by, and what of a limit they are.

use std::f64::consts::{PI, TAU};

use glam::{DQuat, DVec3};

use super::Turning;
use crate::limits::PreparedLimit;
use crate::limits::ball::Ball;
use crate::limits::twist_field::{TwistCells, TwistEnd, TwistField, TwistRange};
use crate::math::{direct_rotation, trig};

/// An angle as its cosine and sine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct At {
    pub(super) cos: f64,
    pub(super) sin: f64,
}

/// `even + cos · cos ψ + sin · sin ψ`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wave {
    pub(super) even: f64,
    pub(super) cos: f64,
    pub(super) sin: f64,
}

/// What swing and twist do while a rotation turns: a region for the bone, of any shape, and a range of
/// twist.
#[derive(Clone, Copy, Debug)]
pub(super) struct Swung<'a> {
    pub(super) ball: &'a Ball,
    /// The bone is at `even + along cos ψ + across sin ψ`, in the axes of the ball.
    circle: [DVec3; 3],
    /// The unit vector that it goes around, and the cosine of the angle to it.
    pole: DVec3,
    height: f64,
    /// If the range of twist is the same everywhere, and there is one.
    pub(super) twist: Option<TwistWaves>,
    /// If it depends on the direction.
    field: Option<&'a TwistField>,
    /// The cosine of the bone's angle to the direction from which zero twist is the direct swing, and how much
    /// more than the angle the twist changes, times one and that.
    along: Wave,
    rate: f64,
    /// The twist as (z, w) about that direction, by the cosine and sine of half the angle.
    pairs: [[f64; 2]; 2],
}

/// A twist in its range.
#[derive(Clone, Copy, Debug)]
pub(super) struct TwistHere {
    /// How far inside it is, negative outside.
    pub(super) margin: f64,
    /// The margin of the twist that is farthest from the range.
    pub(super) least: f64,
    /// The end of the range that is nearer.
    end: TwistEnd,
    cells: TwistCells,
}

/// Where the bone is so near to −bone that the twist changes by more than this times the angle, it is taken
/// for that much: it goes through its range in no time.
const FASTEST: f64 = 40.0;

/// The twist while a rotation turns. With (z, w) as [`Ball`] splits a quaternion, `z = n sin t/2` and
/// `w = n cos t/2`, all squares and products of which are waves.
#[derive(Clone, Copy, Debug)]
pub(super) struct TwistWaves {
    range: TwistRange,
    /// n²
    norm: Wave,
    /// Of both ends e of the range: n² sin² (t − e)/2, and n² sin (t − e)/2 cos (t − e)/2.
    ends: [[Wave; 2]; 2],
    /// Not negative where the twist is in the range.
    inside: Wave,
    /// Where the twist is at its ends.
    pub(super) borders: [Option<At>; 2],
}

impl At {
    pub(super) fn new(angle: f64) -> Self {
        let (sin, cos) = trig::sin_cos(angle);
        Self { cos, sin }
    }

    pub(super) fn angle(self) -> f64 {
        trig::atan2(self.sin, self.cos)
    }

    /// Of any length; `None` without one.
    fn along(cos: f64, sin: f64) -> Option<Self> {
        let square = cos * cos + sin * sin;
        if !(square > 1e-200 && square < 1e200) {
            return None;
        }
        let scale = 1.0 / square.sqrt();
        Some(Self { cos: cos * scale, sin: sin * scale })
    }

    /// Cosine and sine of half of it, or of half of it and half a turn.
    fn half(self) -> [f64; 2] {
        if self.cos > 0.0 {
            let cos = (0.5 * (1.0 + self.cos)).sqrt();
            [cos, 0.5 * self.sin / cos]
        } else {
            let sin = (0.5 * (1.0 - self.cos)).sqrt();
            [0.5 * self.sin / sin, sin]
        }
    }

    /// The angle from another to it, in (−π, π].
    pub(super) fn angle_from(self, from: Self) -> f64 {
        trig::atan2(
            from.cos * self.sin - from.sin * self.cos,
            from.cos * self.cos + from.sin * self.sin,
        )
    }

    /// A part of the way to another that is less than half a turn on.
    pub(super) fn toward(self, to: Self, part: f64) -> Self {
        let (cos, sin) =
            (self.cos + part * (to.cos - self.cos), self.sin + part * (to.sin - self.sin));
        Self::along(cos, sin).unwrap_or(self)
    }

    /// The middle of the way on to another that is less than a turn on.
    pub(super) fn middle(self, to: Self, more_than_half: bool) -> Self {
        let middle = Self::along(self.cos + to.cos, self.sin + to.sin);
        // Opposite: a right angle on.
        let Some(middle) = middle else { return Self { cos: -self.sin, sin: self.cos } };
        if more_than_half { Self { cos: -middle.cos, sin: -middle.sin } } else { middle }
    }

    /// Whether it is on the way from one to another, less than half a turn on. Of any length.
    fn is_between(self, from: Self, to: Self) -> bool {
        from.cos * self.sin > from.sin * self.cos && self.cos * to.sin > self.sin * to.cos
    }
}

impl Wave {
    /// The product of two that are linear in cos ψ/2 and sin ψ/2.
    fn product([a, b]: [f64; 2], [c, d]: [f64; 2]) -> Self {
        let (first, second) = (a * c, b * d);
        Self {
            even: 0.5 * (first + second),
            cos: 0.5 * (first - second),
            sin: 0.5 * (a * d + b * c),
        }
    }

    /// A number of each times it, in all.
    fn sum(of: [(f64, Self); 3]) -> Self {
        of.into_iter().fold(Self::default(), |sum, (times, wave)| Self {
            even: sum.even + times * wave.even,
            cos: sum.cos + times * wave.cos,
            sin: sum.sin + times * wave.sin,
        })
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self { even: self.even - other.even, cos: self.cos - other.cos, sin: self.sin - other.sin }
    }

    #[inline]
    pub(super) fn at(self, at: At) -> f64 {
        self.even + self.cos * at.cos + self.sin * at.sin
    }

    /// The two angles at which it is zero, if it goes through zero.
    pub(super) fn roots(self) -> Option<[At; 2]> {
        let Self { even: a, cos: b, sin: c } = self;
        let square = b * b + c * c;
        let under = square - a * a;
        // Touched at most, or zero all the way.
        if under <= 0.0 || square < 1e-30 {
            return None;
        }
        let root = under.sqrt();
        let scale = 1.0 / square;
        Some(
            [root, -root].map(|root| At {
                cos: (-a * b - c * root) * scale,
                sin: (-a * c + b * root) * scale,
            }),
        )
    }

    /// Where it goes through zero on the way from one angle to another less than half a turn on.
    pub(super) fn root_between(self, from: At, to: At) -> Option<At> {
        self.roots()?.into_iter().find(|root| root.is_between(from, to))
    }

    /// Its top, if that is on the way from one angle to another less than half a turn on.
    pub(super) fn top_between(self, from: At, to: At) -> Option<At> {
        let top = At { cos: self.cos, sin: self.sin };
        if top.is_between(from, to) { At::along(self.cos, self.sin) } else { None }
    }

    pub(super) fn negative(self) -> Self {
        Self { even: -self.even, cos: -self.cos, sin: -self.sin }
    }

    /// Its derivative.
    pub(super) const fn slope(self) -> Self {
        Self { even: 0.0, cos: self.sin, sin: -self.cos }
    }

    /// The least and the most that it is on the way from one angle to another less than half a turn on.
    pub(super) fn range_between(self, from: At, to: At) -> [f64; 2] {
        let [a, b] = [self.at(from), self.at(to)];
        let top = self.top_between(from, to).map(|at| self.at(at));
        let bottom = self.negative().top_between(from, to).map(|at| self.at(at));
        [bottom.unwrap_or_else(|| a.min(b)), top.unwrap_or_else(|| a.max(b))]
    }

    /// The derivative of its quotient by another wave, times the square of that one.
    fn quotient_slope(self, under: Self) -> Self {
        let Self { even: a, cos: b, sin: c } = self;
        let Self { even: d, cos: e, sin: f } = under;
        Self { even: c * e - b * f, cos: d * c - a * f, sin: a * e - d * b }
    }

    /// Whether it is positive all the way from one angle to another less than half a turn on.
    pub(super) fn is_positive_between(self, from: At, to: At) -> bool {
        let bottom = At { cos: -self.cos, sin: -self.sin };
        let everywhere =
            || self.even > 0.0 && self.even * self.even > self.cos * self.cos + self.sin * self.sin;
        self.at(from) > 0.0 && self.at(to) > 0.0 && (!bottom.is_between(from, to) || everywhere())
    }
}

impl<'a> Swung<'a> {
    /// `None` for what is no swing and twist, and where the range of twist depends on the direction other
    /// than in cells.
    pub(super) fn new(limit: &'a PreparedLimit, turning: &Turning) -> Option<Self> {
        let ball = limit.ball()?;
        let (axes, twist) = (ball.axes(), ball.twist());
        let circle = turning.circle(axes.bone()).map(|part| axes.components(part));
        let pole = axes.components(turning.left * turning.axis);
        let height = pole.dot(circle[0]);
        let mut halves = turning.halves();
        let (mut zero, mut plain) = (DVec3::Z, twist.plain());
        if plain.is_none()
            && let Some((range, from)) = twist.plain_from()
        {
            // R_D(from, d) R_D(bone, from) R(bone, t) = R_D(from, d) R(from, t) R_D(bone, from)
            let first = direct_rotation(axes.bone(), axes.vector(from))?.rotation.inverse();
            halves = halves.map(|q| q * first.quat());
            (zero, plain) = (from, Some(range));
        }
        if plain.is_none() && !twist.is_in_cells() {
            return None;
        }
        let pairs = along_and_real(halves, axes.vector(zero));
        let field = plain.is_none().then_some(twist);
        let range = plain.filter(|range| !range.is_full());
        let twist = range.map(|range| TwistWaves::new(pairs, range));
        // δt = v · (zero + d) / (1 + d · zero) for a turn by v.
        let [even, cos, sin] = circle.map(|part| zero.dot(part));
        let (along, rate) = (Wave { even, cos, sin }, pole.dot(zero) + height);
        let swung = Self { ball, circle, pole, height, twist, field, along, rate, pairs };
        Some(swung)
    }

    /// Where the bone points.
    #[inline]
    pub(super) fn direction(&self, at: At) -> DVec3 {
        let [even, along, across] = self.circle;
        even + along * at.cos + across * at.sin
    }

    /// The plane that the bone's circle is in: a unit vector, and how far along it.
    pub(super) const fn plane(&self) -> (DVec3, f64) {
        (self.pole, self.height)
    }

    /// The cosine of the bone's angle to a unit vector.
    #[inline]
    pub(super) fn wave(&self, v: DVec3) -> Wave {
        let [even, cos, sin] = self.circle.map(|part| v.dot(part));
        Wave { even, cos, sin }
    }

    /// How fast the distance changes between two angles less than half a turn apart, at most: the direction
    /// as fast as it goes around its circle, and the twist by `pole · (bone + d) / (1 + d · bone)` of the
    /// angle. Beside −bone, where that has no end, it is cut off.
    pub(super) fn speed(&self, from: At, to: At) -> f64 {
        let sweep = self.sweep();
        if self.twist.is_none() && self.field.is_none() {
            return sweep;
        }
        let [low, high] = self.twist_slopes(from, to);
        let steepest = self.field.map_or(0.0, |field| field.steepest() * sweep);
        let twist = low.abs().max(high.abs()).min(FASTEST);
        sweep.max(twist + steepest)
    }

    /// How fast the bone goes around its circle: the sine of the angle to what it goes around.
    pub(super) fn sweep(&self) -> f64 {
        ((1.0 - self.height) * (1.0 + self.height)).max(0.0).sqrt()
    }

    /// How much more than the angle the twist changes between two, at least and at most.
    fn twist_slopes(&self, from: At, to: At) -> [f64; 2] {
        let [low, high] = self.along.range_between(from, to);
        let at = |along: f64| self.rate / (1.0 + along).max(1e-3);
        let [a, b] = [at(low), at(high)];
        [a.min(b), a.max(b)]
    }

    /// Whether the direction is inside, whatever the twist.
    pub(super) fn is_direction_inside(&self, at: At) -> bool {
        self.ball.region().contains(self.direction(at))
    }

    /// Whether it is inside, but for a range of twist that depends on the direction.
    pub(super) fn is_inside_but_for_field(&self, at: At) -> bool {
        self.twist.is_none_or(|twist| twist.inside.at(at) >= 0.0) && self.is_direction_inside(at)
    }

    pub(super) fn is_inside(&self, at: At) -> bool {
        self.is_inside_but_for_field(at)
            && self.field_twist(at).is_none_or(|here| here.margin >= 0.0)
    }

    /// Whether the range of twist depends on the direction.
    pub(super) const fn is_field(&self) -> bool {
        self.field.is_some()
    }

    /// The twist in its range, if that depends on the direction.
    pub(super) fn field_twist(&self, at: At) -> Option<TwistHere> {
        self.field?;
        self.twist_here(at, self.direction(at))
    }

    /// The twist in its range, if there is one, at an angle where the bone points to `d`.
    pub(super) fn twist_here(&self, at: At, d: DVec3) -> Option<TwistHere> {
        let (range, cells) = match (self.field, &self.twist) {
            (Some(field), _) => field.range_and_cells(d),
            (None, Some(waves)) => (waves.range, TwistCells::default()),
            (None, None) => return None,
        };
        let [z, w] = self.pairs;
        let [cos, sin] = at.half();
        let twist = 2.0 * trig::atan2(z[0] * cos + z[1] * sin, w[0] * cos + w[1] * sin);
        let off = twist - 0.5 * (range.min + range.max);
        let off = off - TAU * (off / TAU).round();
        let margin = if range.is_full() { PI } else { 0.5 * range.width() - off.abs() };
        let end = if off < 0.0 { TwistEnd::Min } else { TwistEnd::Max };
        let least = 0.5 * range.width() - PI;
        Some(TwistHere { margin, least, end, cells })
    }

    /// How much more than the angle the twist's margin changes between two angles, at most.
    pub(super) fn margin_speed(&self, from: At, to: At) -> f64 {
        let [first, last] = [from, to].map(|at| self.field_twist(at));
        let of = |here: Option<TwistHere>| {
            here.map_or(0.0, |here| {
                let ([low, high], _) = self.margin_slopes(&here, from, to);
                low.abs().max(high.abs())
            })
        };
        of(first).max(of(last))
    }

    /// How much more than the angle the margin to the end that is nearer at one of two angles changes between
    /// them, at least and at most.
    ///
    /// # Source
    ///
    /// Inside of a triangle of given directions an end of the range is a quotient of two waves, A / B, and
    /// changes by `(A' B − A B') / B²`, of which the first is a wave again.
    ///
    /// Also where the bone leaves the triangle, if it does between them; then the change is the most that it
    /// is anywhere.
    pub(super) fn margin_slopes(
        &self,
        here: &TwistHere,
        from: At,
        to: At,
    ) -> ([f64; 2], Option<At>) {
        let twist = self.twist_slopes(from, to);
        let (mut end, mut exit) = ([0.0; 2], None);
        let quotients = self.field.map_or([None; 2], |f| f.quotients(&here.cells, here.end));
        for quotient in quotients.into_iter().flatten() {
            // At a border it is that by rounding; the third of an edge is nothing at all.
            let within = quotient.within.map(|v| {
                let wave = self.wave(v);
                Wave { even: wave.even + 1e-9, ..wave }
            });
            let leaves = |wave: &&Wave| !wave.is_positive_between(from, to);
            if let Some(wave) = within.iter().find(leaves) {
                let steepest = self.field.map_or(0.0, TwistField::steepest) * self.sweep();
                end = [-steepest, steepest];
                exit = wave.root_between(from, to);
                break;
            }
            let under = self.wave(quotient.under);
            let over = self.wave(quotient.over);
            let [low, high] = over.quotient_slope(under).range_between(from, to);
            let [least, most] = under.range_between(from, to).map(|b| (b * b).max(1e-6));
            end[0] += low / if low < 0.0 { least } else { most };
            end[1] += high / if high < 0.0 { most } else { least };
        }
        let slopes = match here.end {
            TwistEnd::Min => [twist[0] - end[1], twist[1] - end[0]],
            TwistEnd::Max => [end[0] - twist[1], end[1] - twist[0]],
        };
        (slopes, exit)
    }
}

impl TwistHere {
    /// Whether the range may jump between two angles.
    pub(super) fn may_jump_to(&self, other: &Self) -> bool {
        self.cells.may_jump_to(&other.cells)
    }
}

/// Of quaternions, what is along an axis and the real part.
fn along_and_real(halves: [DQuat; 2], axis: DVec3) -> [[f64; 2]; 2] {
    [halves.map(|q| q.x * axis.x + q.y * axis.y + q.z * axis.z), halves.map(|q| q.w)]
}

impl TwistWaves {
    /// Of (z, w), by the cosine and sine of half the angle.
    fn new([z, w]: [[f64; 2]; 2], range: TwistRange) -> Self {
        let TwistRange { min, max } = range;
        // Both, against an angle e: n sin (t − e)/2 and n cos (t − e)/2.
        let against = |e: f64| {
            let (sin, cos) = trig::sin_cos(0.5 * e);
            let sines = [z[0] * cos - w[0] * sin, z[1] * cos - w[1] * sin];
            let cosines = [w[0] * cos + z[0] * sin, w[1] * cos + z[1] * sin];
            [sines, cosines]
        };
        let norm = Wave::product(z, z).minus(Wave::product(w, w).negative());
        let [min_pair, max_pair] = [against(min), against(max)];
        let squares = |[sines, cosines]: [[f64; 2]; 2]| {
            [Wave::product(sines, sines), Wave::product(sines, cosines)]
        };
        let [sines, cosines] = against(0.5 * (min + max));
        // cos (t − middle) against the cosine of half the width.
        let inside = Wave::sum([
            (1.0, Wave::product(cosines, cosines)),
            (-1.0, Wave::product(sines, sines)),
            (-trig::cos(0.5 * (max - min)), norm),
        ]);
        // Where sin (t − e)/2, linear in both halves, is zero: there is one such place.
        let border = |[[even, turned], _]: [[f64; 2]; 2]| {
            let square = even * even + turned * turned;
            (square > 1e-30).then(|| At {
                cos: (turned - even) * (turned + even) / square,
                sin: -2.0 * even * turned / square,
            })
        };
        Self {
            range,
            norm,
            ends: [squares(min_pair), squares(max_pair)],
            inside,
            borders: [border(min_pair), border(max_pair)],
        }
    }

    /// The cosine of how far a twist in the range is from an end of it; −1 beyond half a turn.
    #[inline]
    pub(super) fn cosine_to(&self, end: usize, at: At) -> f64 {
        let norm = self.norm.at(at);
        let [square, product] = self.ends[end].map(|wave| wave.at(at));
        let product = if end == 0 { product } else { -product };
        // At the end itself the sign is rounding; near −bone the twist is any.
        if product < -1e-12 * norm || norm < 1e-28 { -1.0 } else { 1.0 - 2.0 * square / norm }
    }
}
