//! A bone that slides on an ellipsoid, as the scapula does on the ribs (D7).

use std::f64::consts::TAU;
use std::fmt;

use glam::DVec3;

use super::transform::{Rate, Transform};
use super::turn::about;
use crate::math::{Rotation, trig, unit};

/// Two points of a bone, in its own space in metres, that stay on an ellipsoid by two turns.
///
/// The bone is turned about `axis` through its joint until the first point is on the ellipsoid, and about
/// the line from its joint to that point until the second one is. Which points these are depends on two
/// numbers: up to three pairs are given, each for some place `at` of the two numbers, and what lies
/// between is interpolated. Beyond the line or the triangle of the places, the nearest place in it counts.
///
/// # Source
///
/// Row D7 of the checklist. A point p turned by θ about a is `u + v cos θ + w sin θ`, so that the
/// ellipsoid's equation is one of degree two in cos θ and sin θ, with up to four roots. The one with the
/// smallest turn from where the bone stood before counts. If there is none, the bone comes as near as it
/// can by the value of the ellipsoid's equation, and is flagged.
///
/// By the implicit function theorem the turn changes with a dial by `−(∂F/∂dial) / (∂F/∂θ)`, for the root
/// of F, and of its derivative by θ where there is none.
#[derive(Clone, Debug)]
pub struct Slide {
    /// From the space of the ellipsoid, whose axes are x, y and z, to that of the joint it is fixed to.
    pub place: Transform,
    /// Half the length of each axis, metres.
    pub radii_m: DVec3,
    /// In the space of the bone; of any length but zero.
    pub axis: DVec3,
    /// One to three.
    pub pairs: Vec<ContactPair>,
}

/// Two points that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPair {
    /// The two numbers that they belong to. In a map: in degrees, metres, or neither.
    pub at: [f64; 2],
    /// In the space of the bone, metres. The first is not at the joint itself.
    pub points_m: [DVec3; 2],
}

/// Why a bone cannot slide.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SlideError {
    /// A number is not finite.
    NotFinite,
    /// A radius is not above zero.
    NoRadius,
    /// The axis has no direction.
    NoAxis,
    /// There are none or more than three pairs.
    Pairs {
        /// How many there are.
        found: usize,
    },
    /// The first point of a pair is at the joint.
    AtJoint {
        /// Which pair, from 0.
        pair: usize,
    },
    /// Pairs are for the same place, or three of them on a line.
    Flat,
}

impl fmt::Display for SlideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => f.write_str("a number is not finite"),
            Self::NoRadius => f.write_str("a radius of the ellipsoid is not above zero"),
            Self::NoAxis => f.write_str("the axis is zero, so it has no direction"),
            Self::Pairs { found } => {
                write!(f, "there are {found} pairs of points, not one to three")
            }
            Self::AtJoint { pair } => {
                write!(f, "the first point of pair {pair} is at the joint, so no turn moves it")
            }
            Self::Flat => f.write_str("the places of the pairs coincide, or are on one line"),
        }
    }
}

impl std::error::Error for SlideError {}

impl Slide {
    /// The same, checked.
    ///
    /// # Errors
    ///
    /// See [`SlideError`].
    pub fn prepare(&self) -> Result<PreparedSlide, SlideError> {
        let Self { place, radii_m, axis, pairs } = self;
        let finite = |pair: &ContactPair| {
            pair.at.iter().all(|x| x.is_finite()) && pair.points_m.iter().all(|p| p.is_finite())
        };
        if !(place.translation_m.is_finite() && radii_m.is_finite() && pairs.iter().all(finite)) {
            return Err(SlideError::NotFinite);
        }
        if radii_m.min_element() <= 0.0 {
            return Err(SlideError::NoRadius);
        }
        if !(1..=3).contains(&pairs.len()) {
            return Err(SlideError::Pairs { found: pairs.len() });
        }
        let axis = unit(*axis).ok_or(SlideError::NoAxis)?;
        let small = 1e-9 * radii_m.min_element();
        if let Some(pair) = pairs.iter().position(|pair| pair.points_m[0].length() < small) {
            return Err(SlideError::AtJoint { pair });
        }
        let weights = Weights::new(&pairs.iter().map(|pair| pair.at).collect::<Vec<_>>());
        let weights = weights.ok_or(SlideError::Flat)?;
        let points_m = pairs.iter().map(|pair| pair.points_m).collect();
        Ok(PreparedSlide {
            from_frame: place.inverse(),
            over: radii_m.recip(),
            axis,
            points_m,
            weights,
            steps: Steps::new(),
        })
    }
}

/// A [`Slide`] ready to be made.
#[derive(Clone, Debug)]
pub struct PreparedSlide {
    from_frame: Transform,
    /// One over the radii.
    over: DVec3,
    axis: DVec3,
    points_m: Vec<[DVec3; 2]>,
    weights: Weights,
    steps: Steps,
}

/// How a bone slides into place.
#[derive(Clone, Copy, Debug)]
pub struct Slid {
    /// The turns, radians: about the axis, and about the first point.
    pub turns: [f64; 2],
    /// Both together.
    pub rotation: Rotation,
    /// The points that touch, in the space of the bone.
    pub points_m: [DVec3; 2],
    /// Whether each of them does.
    pub touches: [bool; 2],
}

/// The derivative of something by a dial.
pub(super) struct Inputs<'a> {
    /// From the space of the bone to that of the joint that the ellipsoid is fixed to, and its rates.
    pub(super) bone: &'a Transform,
    pub(super) bone_rates: &'a [Rate],
    /// The two numbers that choose the points, and the rates of each.
    pub(super) numbers: [f64; 2],
    pub(super) number_rates: [&'a [f64]; 2],
    /// Where the turns were before, radians.
    pub(super) before: [f64; 2],
}

impl PreparedSlide {
    /// The value of the ellipsoid's equation at a point of the joint it is fixed to: negative inside,
    /// zero on it.
    #[must_use]
    pub fn level(&self, point_m: DVec3) -> f64 {
        (self.from_frame.apply(point_m) * self.over).length_squared() - 1.0
    }

    /// How far a point of the joint that the ellipsoid is fixed to is from its surface, in metres, to
    /// some 1e-11 of its size.
    ///
    /// # Source
    ///
    /// With Lagrange's multiplier t the nearest point has the coordinates xᵢ = rᵢ² yᵢ / (t + rᵢ²), and is
    /// on the ellipsoid where `Σ (rᵢ yᵢ / (t + rᵢ²))² = 1`, which falls in t. We look for s = t + m², m
    /// being the least radius, by halves: its root is between `m yₘ` and `|(rᵢ yᵢ)ᵢ|`. No yᵢ is taken as
    /// less than 1e-12 rᵢ, for which reason there is a root also where several points are nearest.
    #[must_use]
    pub fn off_m(&self, point_m: DVec3) -> f64 {
        let radii = self.over.recip();
        let point_m = self.from_frame.apply(point_m);
        if !point_m.is_finite() {
            return f64::INFINITY;
        }
        let y = point_m.abs().max(radii * 1e-12);
        let least = radii.min_element();
        // (rᵢ − m)(rᵢ + m) is exactly zero for the least one.
        let more = (radii - least) * (radii + least);
        let scaled = radii * y;
        let own = [radii.x, radii.y, radii.z].iter().position(|r| *r == least).unwrap_or(0);
        let (mut low, mut high) = (least * y[own], scaled.length());
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            let over = (scaled / (more + middle)).length_squared() > 1.0;
            if over { low = middle } else { high = middle }
        }
        let nearest = radii * scaled / (more + high);
        nearest.distance(y)
    }

    /// Turns the bone, and writes how fast that turns with each dial, in the space of the bone.
    pub(super) fn at(&self, inputs: &Inputs<'_>, turn_rates: &mut [DVec3]) -> Slid {
        let (weights, slopes) = self.weights.at(inputs.numbers);
        let mix = |of: [f64; 3], k: usize| -> DVec3 {
            self.points_m.iter().zip(of).map(|(points, weight)| points[k] * weight).sum()
        };
        let points_m = [mix(weights, 0), mix(weights, 1)];
        // How the points move with the dial in place i.
        let point_rate = |k: usize, i: usize| {
            mix(slopes[0], k) * inputs.number_rates[0][i]
                + mix(slopes[1], k) * inputs.number_rates[1][i]
        };
        let frame = self.from_frame * *inputs.bone;
        let first_axis = self.axis;
        let first = Circle::new(&frame, self.over, first_axis, points_m[0]);
        let (first_turn, first_touches) = first.nearest_root(inputs.before[0], &self.steps);
        let turned = about(first_axis, first_turn);
        let second_axis = unit(points_m[0]).unwrap_or(first_axis);
        let frame = Transform { rotation: frame.rotation * turned, ..frame };
        let second = Circle::new(&frame, self.over, second_axis, points_m[1]);
        let (second_turn, second_touches) = second.nearest_root(inputs.before[1], &self.steps);
        let rotation = turned * about(second_axis, second_turn);

        // Of the second turn, where anything is asked for.
        let (sin, cos) =
            if turn_rates.is_empty() { (0.0, 1.0) } else { trig::sin_cos(second_turn) };
        for (i, rate) in turn_rates.iter_mut().enumerate() {
            let bone = inputs.bone_rates[i];
            let shrunk = |v: DVec3| self.over * (self.from_frame.rotation * v);
            // A point and a vector of the bone, which change by themselves and with the bone.
            let of_point = |point: DVec3, change: DVec3| {
                shrunk(bone.of_point(inputs.bone, point) + inputs.bone.rotation * change)
            };
            let of_vector = |vector: DVec3, change: DVec3| {
                let turning = bone.turn.cross(inputs.bone.rotation * vector);
                shrunk(turning + inputs.bone.rotation * change)
            };

            let point = turned * points_m[0];
            let change = turned * point_rate(0, i);
            let moved = of_point(point, change);
            let ahead = of_vector(first_axis.cross(point), first_axis.cross(change));
            let first_rate = first.rate(first_turn, first_touches, moved, ahead);

            // The second axis is the line to the first point, which may be chosen anew. By Rodrigues'
            // formula p cos θ + a × p sin θ + a (a · p) (1 − cos θ).
            let p = points_m[1];
            let chosen = point_rate(0, i);
            let axis_rate = (chosen - second_axis * second_axis.dot(chosen)) / points_m[0].length();
            let across = axis_rate.cross(p);
            let along = second_axis * axis_rate.dot(p) + axis_rate * second_axis.dot(p);
            let again = turned.inverse() * (rotation * point_rate(1, i));
            let change = turned * (again + across * sin + along * (1.0 - cos));
            let change_ahead = turned * (second_axis.cross(again) + across * cos + along * sin);
            let (point, carried) = (rotation * p, first_axis * first_rate);
            let forward = (turned * second_axis).cross(point);
            let moved = of_point(point, carried.cross(point) + change);
            let ahead = of_vector(forward, carried.cross(forward) + change_ahead);
            let second_rate = second.rate(second_turn, second_touches, moved, ahead);

            // A rotation by θ about a turns by θ' a + sin θ a' + (1 − cos θ) a × a'.
            let by_axis = axis_rate * sin + second_axis.cross(axis_rate) * (1.0 - cos);
            *rate = carried + turned * (second_axis * second_rate + by_axis);
        }
        Slid {
            turns: [first_turn, second_turn],
            rotation,
            points_m,
            touches: [first_touches, second_touches],
        }
    }
}

/// A point that goes round, in a space where the ellipsoid is the unit sphere:
/// `middle + cos θ · across + sin θ · ahead`.
struct Circle {
    middle: DVec3,
    across: DVec3,
    ahead: DVec3,
}

impl Circle {
    /// A point turned about an axis through the joint, as a frame has it.
    fn new(frame: &Transform, over: DVec3, axis: DVec3, point: DVec3) -> Self {
        let along = axis * axis.dot(point);
        let to = |v: DVec3| over * (frame.rotation * v);
        Self {
            middle: over * frame.apply(along),
            across: to(point - along),
            ahead: to(axis.cross(point)),
        }
    }

    fn point(&self, turn: f64) -> [DVec3; 3] {
        let (sin, cos) = trig::sin_cos(turn);
        let point = self.middle + self.across * cos + self.ahead * sin;
        let first = self.ahead * cos - self.across * sin;
        [point, first, self.middle - point]
    }

    /// The equation of the sphere and its first two derivatives.
    fn level(&self, turn: f64) -> [f64; 3] {
        let [point, first, second] = self.point(turn);
        [
            point.length_squared() - 1.0,
            2.0 * point.dot(first),
            2.0 * (first.length_squared() + point.dot(second)),
        ]
    }

    /// The equation of the sphere as waves of the turn beyond a place.
    ///
    /// With the arms a and b of the circle from there, and its middle m, the square of the point
    /// `m + a cos φ + b sin φ` less 1 is
    ///
    /// ```text
    ///   m² − 1 + (a² + b²)/2 + 2 m·a cos φ + 2 m·b sin φ + (a² − b²)/2 cos 2φ + a·b sin 2φ
    /// ```
    fn around(&self, turn: f64) -> Waves {
        let (sin, cos) = trig::sin_cos(turn);
        let a = self.across * cos + self.ahead * sin;
        let b = self.ahead * cos - self.across * sin;
        let squares = [a.length_squared(), b.length_squared()];
        Waves {
            constant: self.middle.length_squared() - 1.0 + 0.5 * (squares[0] + squares[1]),
            once: [2.0 * self.middle.dot(a), 2.0 * self.middle.dot(b)],
            twice: [0.5 * (squares[0] - squares[1]), a.dot(b)],
        }
    }

    /// The root with the smallest turn from a place; or where the point is nearest to the sphere, and
    /// `false`.
    ///
    /// Steps of 1/64 of a turn to both sides find a change of sign, or an extremum between two of them
    /// that might reach over: four roots and four extrema at most are never all in one step.
    fn nearest_root(&self, from: f64, steps: &Steps) -> (f64, bool) {
        let waves = self.around(from);
        let [here, _] = waves.at(steps, 0);
        if here[0] == 0.0 {
            return (from, true);
        }
        let sign = here[0].signum();
        let mut sides = [(from, here); 2];
        let mut nearest = (from, here[0].abs());
        for k in 1..=Steps::HALF_TURN {
            let mut found: Option<f64> = None;
            let ways = [1.0, -1.0].into_iter().zip(waves.at(steps, k));
            for (side, (direction, level)) in sides.iter_mut().zip(ways) {
                let turn = from + direction * steps.angle(k);
                let before = *side;
                *side = (turn, level);
                // One that is just here, as half a turn away, is between no two steps.
                if level[0] * sign > 0.0 && level[0].abs() < nearest.1 {
                    nearest = (turn, level[0].abs());
                }
                let mut root = None;
                let slopes = [before.1[1] * direction * sign, level[1] * direction * sign];
                if level[0] * sign <= 0.0 {
                    let beyond = waves.moved(direction, steps, k - 1).root_in_step(-sign, steps);
                    root = Some(from + direction * (steps.angle(k - 1) + beyond));
                } else if slopes[0] < 0.0 && slopes[1] > 0.0 {
                    // Towards the sphere before, and away from it after: there is an extremum between.
                    let towards = direction * sign;
                    let extremum = root_between(before.0, turn, |t| {
                        let [_, slope, bend] = self.level(t);
                        [slope * towards, bend * towards]
                    });
                    let end = self.level(extremum)[0];
                    if end * sign > 0.0 && end.abs() <= nearest.1 {
                        nearest = (extremum, end.abs());
                    }
                    if end * sign <= 0.0 {
                        root = Some(root_between(before.0, extremum, |t| {
                            let [level, slope, _] = self.level(t);
                            [-level * sign, -slope * sign]
                        }));
                    }
                }
                if let Some(root) = root
                    && found.is_none_or(|other| (root - from).abs() < (other - from).abs())
                {
                    found = Some(root);
                }
            }
            if let Some(root) = found {
                return (root, true);
            }
        }
        (nearest.0, false)
    }

    /// How fast the turn changes if the point moves so, and its derivative by the turn does.
    fn rate(&self, turn: f64, touches: bool, moved: DVec3, moved_derivative: DVec3) -> f64 {
        let [point, first, _] = self.point(turn);
        let level = self.level(turn);
        let (change, by_turn) = if touches {
            (2.0 * point.dot(moved), level[1])
        } else {
            (2.0 * (moved.dot(first) + point.dot(moved_derivative)), level[2])
        };
        // Where the point only grazes, the turn has no finite rate.
        if by_turn.abs() < 1e-12 { 0.0 } else { -change / by_turn }
    }
}

/// The cosine and the sine of multiples of 1/64 of a turn.
#[derive(Clone, Debug)]
struct Steps {
    waves: Vec<[f64; 2]>,
    /// The tangent of half a step.
    half_tan: f64,
}

impl Steps {
    const HALF_TURN: usize = 32;

    fn new() -> Self {
        let wave = |k: u32| {
            let (sin, cos) = trig::sin_cos(TAU / 64.0 * f64::from(k));
            [cos, sin]
        };
        Self { waves: (0..=64).map(wave).collect(), half_tan: trig::tan(TAU / 128.0) }
    }

    #[allow(clippy::cast_precision_loss, reason = "64 at most")]
    fn angle(&self, k: usize) -> f64 {
        TAU / 64.0 * k as f64
    }

    /// Of a number of steps, and of twice as many.
    fn of(&self, k: usize) -> [[f64; 2]; 2] {
        [self.waves[k], self.waves[2 * k]]
    }
}

/// `constant + once · (cos φ, sin φ) + twice · (cos 2φ, sin 2φ)`.
#[derive(Clone, Copy)]
struct Waves {
    constant: f64,
    once: [f64; 2],
    twice: [f64; 2],
}

impl Waves {
    /// Value and slope a number of steps ahead, and as many behind.
    fn at(&self, steps: &Steps, k: usize) -> [[f64; 2]; 2] {
        let ([[cos, sin], [cos_twice, sin_twice]], [c, s], [cc, ss]) =
            (steps.of(k), self.once, self.twice);
        let (even, odd) = (self.constant + c * cos + cc * cos_twice, s * sin + ss * sin_twice);
        let (slope, bent) = (s * cos + 2.0 * ss * cos_twice, c * sin + 2.0 * cc * sin_twice);
        [[even + odd, slope - bent], [even - odd, slope + bent]]
    }

    /// The same from a number of steps away in a direction, 1 or −1, and on in that.
    fn moved(&self, direction: f64, steps: &Steps, k: usize) -> Self {
        let turned = |[a, b]: [f64; 2], [cos, sin]: [f64; 2]| {
            let b = b * direction;
            [a * cos + b * sin, b * cos - a * sin]
        };
        let [once, twice] = steps.of(k);
        Self {
            constant: self.constant,
            once: turned(self.once, once),
            twice: turned(self.twice, twice),
        }
    }

    /// Where it changes its sign within one step ahead; that times the one given is negative here, and not
    /// at the end.
    ///
    /// # Source
    ///
    /// With t = tan(φ/2), cos φ = (1 − t²)/(1 + t²) and sin φ = 2t/(1 + t²), and the waves times (1 + t²)²
    /// are a polynomial of degree four. Its root is looked for from that of its first three terms, which
    /// are nearly all of it: by Newton's method, and by halves where that would leave the step. The next
    /// error is the square of this one times half the second derivative over the first.
    fn root_in_step(&self, sign: f64, steps: &Steps) -> f64 {
        let Self { constant, once: [c, s], twice: [cc, ss] } = *self;
        let terms = [
            constant + c + cc,
            2.0 * s + 4.0 * ss,
            2.0 * constant - 6.0 * cc,
            2.0 * s - 4.0 * ss,
            constant - c + cc,
        ];
        let [p0, p1, p2, p3, p4] = terms.map(|term| term * sign);
        let bend = p2.abs() + 0.2 * p3.abs() + 0.02 * p4.abs();
        let (mut low, mut high) = (0.0, steps.half_tan);
        let inside = |t: f64, low: f64, high: f64| {
            if (t - low) * (t - high) < 0.0 { t } else { 0.5 * (low + high) }
        };
        let mut at = inside(-2.0 * p0 / (p1 + (p1 * p1 - 4.0 * p0 * p2).sqrt()), low, high);
        for _ in 0..60 {
            let value = (((p4 * at + p3) * at + p2) * at + p1) * at + p0;
            let slope = ((4.0 * p4 * at + 3.0 * p3) * at + 2.0 * p2) * at + p1;
            if value < 0.0 {
                low = at;
            } else {
                high = at;
            }
            let newton = at - value / slope;
            let next = inside(newton, low, high);
            let step = next - at;
            let near = next == newton && step * step * bend <= 1e-17 * slope.abs();
            at = next;
            if near || step.abs() <= 1e-15 {
                break;
            }
        }
        2.0 * trig::atan2(at, 1.0)
    }
}

/// The root of a function that is negative at `low` and not at `high`, to the last bits: by Newton's
/// method from its value and slope, and by halves where that would leave the interval.
fn root_between(low: f64, high: f64, of: impl Fn(f64) -> [f64; 2]) -> f64 {
    let (mut low, mut high) = (low, high);
    let mut at = 0.5 * (low + high);
    for _ in 0..60 {
        let [value, slope] = of(at);
        if value < 0.0 {
            low = at;
        } else {
            high = at;
        }
        let step = at - value / slope;
        let next = if (step - low) * (step - high) < 0.0 { step } else { 0.5 * (low + high) };
        if (next - at).abs() <= 2e-15 {
            return next;
        }
        at = next;
    }
    at
}

/// Weights of up to three places in the plane.
#[derive(Clone, Debug, PartialEq)]
enum Weights {
    One,
    Two {
        from: [f64; 2],
        along: [f64; 2],
    },
    Three {
        places: [[f64; 2]; 3],
        /// How each weight inside grows with the two numbers.
        slopes: [[f64; 2]; 3],
    },
}

/// Weights, and their derivatives by the two numbers.
type Weighed = ([f64; 3], [[f64; 3]; 2]);

impl Weights {
    fn new(places: &[[f64; 2]]) -> Option<Self> {
        let apart = |a: [f64; 2], b: [f64; 2]| [b[0] - a[0], b[1] - a[1]];
        match *places {
            [_] => Some(Self::One),
            [a, b] => {
                let [x, y] = apart(a, b);
                let square = x * x + y * y;
                (square > 0.0).then_some(Self::Two { from: a, along: [x / square, y / square] })
            }
            [a, b, c] => {
                let ([x, y], [u, v]) = (apart(a, b), apart(a, c));
                let area = x * v - y * u;
                let size = (x * x + y * y).max(u * u + v * v);
                let slopes =
                    |p: [f64; 2], q: [f64; 2]| [(p[1] - q[1]) / area, (q[0] - p[0]) / area];
                let slopes = [slopes(b, c), slopes(c, a), slopes(a, b)];
                let places = [a, b, c];
                (area.abs() > 1e-9 * size).then_some(Self::Three { places, slopes })
            }
            _ => None,
        }
    }

    fn at(&self, [x, y]: [f64; 2]) -> Weighed {
        match self {
            Self::One => ([1.0, 0.0, 0.0], [[0.0; 3]; 2]),
            Self::Two { from, along } => {
                let (t, slopes) = between(*from, *along, [x, y]);
                ([1.0 - t, t, 0.0], slopes.map(|s| [-s, s, 0.0]))
            }
            Self::Three { places, slopes } => {
                inside(places, slopes, [x, y]).unwrap_or_else(|| edge(places, [x, y]))
            }
        }
    }
}

/// How far along a line, from 0 to 1, and the slopes of that.
fn between(from: [f64; 2], along: [f64; 2], [x, y]: [f64; 2]) -> (f64, [f64; 2]) {
    let t = (x - from[0]) * along[0] + (y - from[1]) * along[1];
    if t > 0.0 && t < 1.0 { (t, along) } else { (t.clamp(0.0, 1.0), [0.0; 2]) }
}

/// Barycentric coordinates, if none is negative.
fn inside(places: &[[f64; 2]; 3], slopes: &[[f64; 2]; 3], [x, y]: [f64; 2]) -> Option<Weighed> {
    let [a, b, c] = *places;
    let from = |p: [f64; 2], s: [f64; 2]| (x - p[0]) * s[0] + (y - p[1]) * s[1];
    let weights = [from(b, slopes[0]), from(c, slopes[1]), from(a, slopes[2])];
    let slopes = [0, 1].map(|k| slopes.map(|slope| slope[k]));
    weights.iter().all(|weight| *weight >= 0.0).then_some((weights, slopes))
}

/// Those of the nearest place on the edges.
fn edge(places: &[[f64; 2]; 3], [x, y]: [f64; 2]) -> Weighed {
    let mut best = (f64::INFINITY, ([1.0, 0.0, 0.0], [[0.0; 3]; 2]));
    for i in 0..3 {
        let j = (i + 1) % 3;
        let (a, b) = (places[i], places[j]);
        let along = [b[0] - a[0], b[1] - a[1]];
        let square = along[0] * along[0] + along[1] * along[1];
        let (t, slopes) = between(a, along.map(|e| e / square), [x, y]);
        let off = [x - a[0] - t * along[0], y - a[1] - t * along[1]];
        let distance = off[0] * off[0] + off[1] * off[1];
        if distance < best.0 {
            let mut weights = [0.0; 3];
            (weights[i], weights[j]) = (1.0 - t, t);
            let slopes = slopes.map(|s| {
                let mut of = [0.0; 3];
                (of[i], of[j]) = (-s, s);
                of
            });
            best = (distance, (weights, slopes));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::super::transform::tests::any;
    use super::*;
    use crate::math::Angle;
    use crate::synth::Rng;

    /// A bone whose joint is a little outside of an ellipsoid, with points near it.
    fn bone(rng: &mut Rng, pairs: usize) -> (Slide, Transform) {
        let radii_m =
            DVec3::new(rng.between(0.1, 0.2), rng.between(0.1, 0.2), rng.between(0.1, 0.2));
        let place = any(rng);
        let out = rng.direction();
        // The joint, over the surface, and two points of the bone under it.
        let joint = out * radii_m * rng.between(1.0, 1.2);
        let near =
            |rng: &mut Rng| (out + rng.direction() * rng.between(0.3, 0.6)).normalize() * radii_m;
        let bone = any(rng);
        let bone = Transform { translation_m: place.apply(joint), ..bone };
        let own = |rng: &mut Rng| bone.inverse().apply(place.apply(near(rng)));
        let at = [[0.0, 0.0], [1.0, 0.1], [0.2, 0.9]];
        let pairs = (0..pairs).map(|i| ContactPair { at: at[i], points_m: [own(rng), own(rng)] });
        let pairs = pairs.collect();
        (Slide { place, radii_m, axis: rng.direction(), pairs }, bone)
    }

    /// How far a point is from an ellipsoid, by the nearest of many points on it, which is never nearer,
    /// and by points that are made a known way off along the normal.
    #[test]
    fn d7_points_off_the_ellipsoid_are_as_far_as_its_nearest_point() {
        let mut rng = Rng::new(11);
        for n in 0..40 {
            let (mut slide, _) = bone(&mut rng, 1);
            if n % 4 == 0 {
                slide.radii_m.y = slide.radii_m.x;
            }
            let prepared = slide.prepare().unwrap();
            let outside = n % 2 == 0;
            let on = rng.direction() * slide.radii_m;
            let normal = (on / (slide.radii_m * slide.radii_m)).normalize();
            // Inside, no farther than the least radius of curvature: the foot is still the nearest there.
            let least = slide.radii_m.min_element();
            let most = least * least / slide.radii_m.max_element();
            let off = if outside { rng.between(0.0, 0.3) } else { -rng.between(0.0, 0.9) * most };
            let point = on + normal * off;
            let found = prepared.off_m(slide.place.apply(point));
            assert!((found - off.abs()).abs() < 1e-12, "{n}: {found} {off}");
            // Anywhere, its centre and its axes included.
            let mut point = rng.direction() * slide.radii_m * rng.between(0.0, 1.5);
            match n % 5 {
                0 => point = DVec3::ZERO,
                1 => point.x = 0.0,
                2 => point *= DVec3::Z,
                _ => {}
            }
            let found = prepared.off_m(slide.place.apply(point));
            let nearest = (0..20_000)
                .map(|_| (rng.direction() * slide.radii_m).distance(point))
                .fold(f64::INFINITY, f64::min);
            assert!(found <= nearest + 1e-9 && nearest < found + 0.006, "{n}: {found} {nearest}");
        }
        let (slide, _) = bone(&mut rng, 1);
        assert_eq!(slide.prepare().unwrap().off_m(DVec3::NAN), f64::INFINITY);
    }

    fn slid(slide: &PreparedSlide, bone: &Transform, numbers: [f64; 2], before: [f64; 2]) -> Slid {
        let number_rates = [&[] as &[f64]; 2];
        slide.at(&Inputs { bone, bone_rates: &[], numbers, number_rates, before }, &mut [])
    }

    #[test]
    fn d7_points_are_on_the_ellipsoid_or_flagged_at_their_closest() {
        let mut rng = Rng::new(8);
        let mut reached = 0;
        for n in 0..600 {
            let (slide, bone) = bone(&mut rng, 1 + n % 3);
            let prepared = slide.prepare().unwrap();
            let found = slid(&prepared, &bone, [rng.uniform(), rng.uniform()], [0.0; 2]);
            let level = |k: usize, rotation: Rotation| {
                prepared.level(bone.apply(rotation * found.points_m[k]))
            };
            let first = Rotation::from_axis_angle(slide.axis, Angle::from_radians(found.turns[0]));
            let first = first.unwrap();
            for k in 0..2 {
                let here = level(k, found.rotation);
                if found.touches[k] {
                    reached += 1;
                    assert!(here.abs() < 1e-10, "{here}");
                }
                // A dense walk around finds no root nearer, and nothing closer if there is none.
                let axis = if k == 0 { slide.axis } else { found.points_m[0] };
                let along = |t: f64| {
                    let turn = Rotation::from_axis_angle(axis, Angle::from_radians(t)).unwrap();
                    level(k, if k == 0 { turn } else { first * turn })
                };
                let far = found.turns[k].abs();
                let start = along(0.0);
                for i in 0..=720 {
                    let t = TAU * f64::from(i - 360) / 720.0;
                    let there = along(t);
                    if found.touches[k] {
                        assert!(t.abs() > far - 1e-9 || there * start >= 0.0, "{t} {far}");
                    } else {
                        assert!(there.abs() > here.abs() - 1e-9, "{there} {here}");
                    }
                }
            }
        }
        assert!(reached > 700, "{reached}");
    }

    #[test]
    fn d7_of_several_roots_the_one_nearest_to_before_counts() {
        // A circle about x through (0, 1, 0) that crosses a long ellipsoid four times.
        let slide = Slide {
            place: Transform::IDENTITY,
            radii_m: DVec3::new(1.0, 2.0, 0.5),
            axis: DVec3::X,
            pairs: vec![ContactPair {
                at: [0.0; 2],
                points_m: [DVec3::Y, DVec3::new(0.1, 1.0, 0.0)],
            }],
        };
        let slide = slide.prepare().unwrap();
        let turn =
            |before: f64| slid(&slide, &Transform::IDENTITY, [0.0; 2], [before, 0.0]).turns[0];
        // cos²/4 + 4 sin² = 1: sin² = 1/5.
        let root = trig::asin((0.2_f64).sqrt());
        for (before, expected) in [
            (0.0, root),
            (-0.3, -root),
            (1.2, root),
            (2.9, TAU / 2.0 - root),
            (3.6, TAU / 2.0 + root),
        ] {
            assert!((turn(before).abs() - expected.abs()).abs() < 1e-12, "{before}");
            if before != 0.0 {
                assert!((turn(before) - expected).abs() < 1e-12, "{before}");
            }
        }
    }

    /// The step that is half a turn away is the last of both sides, so that an extremum there is between no
    /// two of them.
    #[test]
    fn d7_the_closest_approach_is_found_half_a_turn_away() {
        let circle =
            |out: f64| Circle { middle: DVec3::X * 3.0, across: DVec3::X * out, ahead: DVec3::Y };
        for from in [0.0, 1.0, TAU / 4.0, -TAU / 2.0] {
            // Nearest where it is farthest from `middle`, at half a turn, or at none.
            for (out, nearest) in [(1.0, TAU / 2.0), (-1.0, 0.0)] {
                let (turn, touches) = circle(out).nearest_root(from, &Steps::new());
                assert!(!touches);
                let off = trig::sin_cos(0.5 * (turn - nearest)).0;
                assert!(off.abs() < 1e-7, "from {from}: {turn}, not {nearest}");
            }
        }
    }

    #[test]
    fn d7_rates_are_those_of_differences() {
        let mut rng = Rng::new(9);
        let mut compared = [0; 2];
        for n in 0..600 {
            let (slide, bone) = bone(&mut rng, 1 + n % 3);
            let prepared = slide.prepare().unwrap();
            let rate = Rate { turn: rng.direction(), shift_m: rng.direction() * 0.1 };
            let (numbers, speeds) = ([0.3, 0.3], [rng.normal(), rng.normal()]);
            let at = |t: f64| {
                let bone = Transform {
                    rotation: Rotation::exp(rate.turn * t).unwrap() * bone.rotation,
                    translation_m: bone.translation_m + rate.shift_m * t,
                };
                slid(&prepared, &bone, [0, 1].map(|k| numbers[k] + speeds[k] * t), [0.0; 2])
            };
            let mut found = [DVec3::ZERO];
            let inputs = Inputs {
                bone: &bone,
                bone_rates: &[rate],
                numbers,
                number_rates: [&speeds[..1], &speeds[1..]],
                before: [0.0; 2],
            };
            let here = prepared.at(&inputs, &mut found);
            // Richardson: what is left of two central differences is of the fourth order.
            let h = 2e-4;
            let around = [-2.0 * h, -h, h, 2.0 * h].map(at);
            let over = |less: usize, more: usize, by: f64| {
                (around[more].rotation * around[less].rotation.inverse()).log() / by
            };
            let [near, far] = [over(1, 2, 2.0 * h), over(0, 3, 4.0 * h)];
            let expected = (near * 4.0 - far) / 3.0;
            // Where it grazes the surface, or jumps from root to root, there is no rate. Near by, rates
            // change fast, and differences do not tell them.
            if expected.length() > 30.0
                || near.distance(far) > 1e-4 * expected.length()
                || around.iter().any(|slid| slid.touches != here.touches)
            {
                continue;
            }
            let size = 1.0 + expected.length();
            let off = found[0].distance(expected) / size;
            assert!(off < 1e-6, "{n}: {:?} {expected:?}", found[0]);
            compared[usize::from(here.touches == [true, true])] += 1;
        }
        assert!(compared[0] > 15 && compared[1] > 400, "{compared:?}");
    }

    #[test]
    fn weights_are_continuous_and_interpolate() {
        let mut rng = Rng::new(10);
        for _ in 0..200 {
            let places: Vec<[f64; 2]> = (0..3).map(|_| [rng.normal(), rng.normal()]).collect();
            for n in 1..=3 {
                let Some(weights) = Weights::new(&places[..n]) else { continue };
                for (i, place) in places[..n].iter().enumerate() {
                    assert!((weights.at(*place).0[i] - 1.0).abs() < 1e-9);
                }
                let (at, h) = ([2.0 * rng.normal(), 2.0 * rng.normal()], 1e-6);
                let (here, slopes) = weights.at(at);
                assert!((here.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(here.iter().all(|w| (-1e-12..=1.0 + 1e-12).contains(w)), "{here:?}");
                for k in 0..2 {
                    let moved = |by: f64| {
                        let mut at = at;
                        at[k] += by;
                        weights.at(at).0
                    };
                    let (less, more) = (moved(-h), moved(h));
                    for i in 0..3 {
                        let expected = (more[i] - less[i]) / (2.0 * h);
                        let sides = [(more[i] - here[i]) / h, (here[i] - less[i]) / h];
                        if (sides[0] - sides[1]).abs() < 1e-6 {
                            assert!(
                                (slopes[k][i] - expected).abs() < 1e-5,
                                "{slopes:?} {expected}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_cannot_slide_is_an_error() {
        let pair = ContactPair { at: [0.0; 2], points_m: [DVec3::X, DVec3::Y] };
        let good = Slide {
            place: Transform::IDENTITY,
            radii_m: DVec3::ONE,
            axis: DVec3::Z,
            pairs: vec![pair],
        };
        let error = |slide: Slide| slide.prepare().unwrap_err();
        assert_eq!(
            error(Slide { radii_m: DVec3::new(1.0, 0.0, 1.0), ..good.clone() }),
            SlideError::NoRadius
        );
        assert_eq!(error(Slide { axis: DVec3::ZERO, ..good.clone() }), SlideError::NoAxis);
        assert_eq!(error(Slide { pairs: vec![], ..good.clone() }), SlideError::Pairs { found: 0 });
        assert_eq!(error(Slide { pairs: vec![pair; 2], ..good.clone() }), SlideError::Flat);
        let at_joint = ContactPair { points_m: [DVec3::ZERO, DVec3::Y], ..pair };
        assert_eq!(
            error(Slide { pairs: vec![at_joint], ..good.clone() }),
            SlideError::AtJoint { pair: 0 }
        );
        let radii_m = DVec3::new(1.0, f64::NAN, 1.0);
        assert_eq!(error(Slide { radii_m, ..good }), SlideError::NotFinite);
    }
}
