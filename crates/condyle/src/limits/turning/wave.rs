//! Sinusoids of the angle that a rotation turns by, and what of a limit they are.

use glam::DVec3;

use super::Turning;
use crate::limits::PreparedLimit;
use crate::limits::ball::Ball;
use crate::limits::twist_field::TwistRange;
use crate::math::trig;

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
/// twist that is the same everywhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Swung<'a> {
    pub(super) ball: &'a Ball,
    /// The bone is at `even + along cos ψ + across sin ψ`, in the axes of the ball.
    circle: [DVec3; 3],
    /// The unit vector that it goes around, and the cosine of the angle to it.
    pole: DVec3,
    height: f64,
    pub(super) twist: Option<TwistWaves>,
}

/// The twist while a rotation turns. With (z, w) as [`Ball`] splits a quaternion, `z = n sin t/2` and
/// `w = n cos t/2`, all squares and products of which are waves.
#[derive(Clone, Copy, Debug)]
pub(super) struct TwistWaves {
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

    /// Whether it is positive all the way from one angle to another less than half a turn on.
    pub(super) fn is_positive_between(self, from: At, to: At) -> bool {
        let bottom = At { cos: -self.cos, sin: -self.sin };
        let everywhere =
            || self.even > 0.0 && self.even * self.even > self.cos * self.cos + self.sin * self.sin;
        self.at(from) > 0.0 && self.at(to) > 0.0 && (!bottom.is_between(from, to) || everywhere())
    }
}

impl<'a> Swung<'a> {
    /// `None` for what is no swing and twist with the same range of twist everywhere.
    pub(super) fn new(limit: &'a PreparedLimit, turning: &Turning) -> Option<Self> {
        let ball = limit.ball()?;
        let range = ball.plain_twist()?;
        let axes = ball.axes();
        let circle = turning.circle(axes.bone()).map(|part| axes.components(part));
        let pole = axes.components(turning.left * turning.axis);
        let height = pole.dot(circle[0]);
        let twist = (!range.is_full()).then(|| TwistWaves::new(ball, range, turning));
        Some(Self { ball, circle, pole, height, twist })
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
    /// as fast as the angle, and the twist by √(2 / (1 + d·bone)) of it, the length of
    /// `(bone + d) / (1 + d·bone)`. Beside −bone, where that has no end, it is cut off.
    pub(super) fn speed(&self, from: At, to: At) -> f64 {
        if self.twist.is_none() {
            return 1.0;
        }
        let along = self.wave(DVec3::Z);
        let bottom = along.negative().top_between(from, to);
        let least = bottom.map_or_else(|| along.at(from).min(along.at(to)), |at| along.at(at));
        (2.0 / (1.0 + least).max(1e-3)).sqrt()
    }

    pub(super) fn is_inside(&self, at: At) -> bool {
        self.twist.is_none_or(|twist| twist.inside.at(at) >= 0.0)
            && self.ball.region().contains(self.direction(at))
    }
}

impl TwistWaves {
    fn new(ball: &Ball, TwistRange { min, max }: TwistRange, turning: &Turning) -> Self {
        let bone = ball.axes().bone();
        let halves = turning.halves();
        let z = halves.map(|q| q.x * bone.x + q.y * bone.y + q.z * bone.z);
        let w = halves.map(|q| q.w);
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
