//! Interpolation of rotations and points over time.
//!
//! Between two keys: [`Rotation::slerp`]. Through many, with keys at any times:
//! [`Rotations::sample`] and [`Points::sample`], which hold, go straight, or go smoothly
//! ([`Squad`] for rotations, a cubic with the same velocities for points).

use std::f64::consts::PI;

use glam::{DQuat, DVec3};

use super::angle::wrap;
use super::{Points, Rotation, Rotations, trig};

impl Rotation {
    /// The rotation a share `t` of the way from `self` to `other`, at constant angular velocity.
    ///
    /// # Source
    ///
    /// K. Shoemake, "Animating rotation with quaternion curves", SIGGRAPH 1985:
    ///
    /// ```text
    ///   slerp(a, b; t) = ( sin((1−t) ω) a + sin(t ω) b ) / sin ω,   ω the angle between a and b
    /// ```
    ///
    /// with `ω = 2 atan2(|b − a|, |b + a|)`, accurate where `acos(a · b)` is not.
    ///
    /// # Convention
    ///
    /// The short way round: `b` or `-b`, whichever is nearer. `t` outside 0 … 1 goes on at the same
    /// velocity.
    ///
    /// # Domain and singularity
    ///
    /// Total, and `q` and `-q` give the same rotation. The ends are exact. Rotations half a turn
    /// apart have two shortest ways; we turn about the axis (in the space `self` acts on) whose
    /// first non-zero component is positive. After choosing, `ω ≤ π/2`, so nothing is divided by
    /// zero. A `t` that is not finite counts as 0.
    ///
    /// # Example
    ///
    /// ```
    /// use condyle::math::{Angle, Rotation};
    /// let turn = |degrees| Rotation::about_z(Angle::from_degrees(degrees));
    /// let quarter = turn(350.0).slerp(turn(30.0), 0.25);
    /// assert!(quarter.distance(turn(0.0)).degrees() < 1e-13);
    /// ```
    #[must_use]
    pub fn slerp(self, other: Self, t: f64) -> Self {
        if t == 0.0 {
            return self;
        }
        if t == 1.0 {
            return other;
        }
        let q = slerp_on_sphere(self.quat(), nearer_sign(self, other), t);
        // NaN, from a `t` that is not finite, is no rotation.
        Self::new(q).unwrap_or(self)
    }
}

/// The quaternion of `b` on the short way from `a`: see [`Rotation::slerp`].
///
/// Decided by the same component as [`Rotation::log`] of `a⁻¹ b`, so that both take the same way.
fn nearer_sign(a: Rotation, b: Rotation) -> DQuat {
    let q = (a.inverse() * b).quat();
    let lead = [q.w, q.x, q.y, q.z].into_iter().find(|c| *c != 0.0).unwrap_or(1.0);
    if lead < 0.0 { -b.quat() } else { b.quat() }
}

/// The great arc from `a` to `b` on the sphere of unit quaternions, without changing a sign.
///
/// Undefined, but finite, if `b = −a`.
fn slerp_on_sphere(a: DQuat, b: DQuat, t: f64) -> DQuat {
    let length = |q: DQuat| trig::hypot(trig::hypot3(q.x, q.y, q.z), q.w);
    let omega = 2.0 * trig::atan2(length(b - a), length(b + a));
    if omega == 0.0 {
        return a;
    }
    let (sine, _) = trig::sin_cos(omega);
    let (from, _) = trig::sin_cos(wrap((1.0 - t) * omega));
    let (to, _) = trig::sin_cos(wrap(t * omega));
    a * (from / sine) + b * (to / sine)
}

/// A smooth curve of rotations between two keys that knows the keys before and after.
///
/// # Source
///
/// K. Shoemake, "Quaternion calculus and fast animation", SIGGRAPH course notes 1987:
///
/// ```text
///   squad(u) = slerp( slerp(q₀, q₁; u), slerp(s₀, s₁; u); 2u(1−u) )
/// ```
///
/// Its angular velocity per u, as a rotation vector in the moving space, is `L + 2 A` at the start
/// and `L − 2 B` at the end, where `q₁ = q₀ exp L`, `s₀ = q₀ exp A`, `s₁ = q₁ exp B`. Shoemake's
/// inner points are for keys equally spaced in time; for any times we ask for an angular velocity
/// ω at each key and solve for the inner points on either side (h is the interval's length):
///
/// ```text
///   A = (h ω₀ − L) / 2,   B = (L − h ω₁) / 2
///   ω = ( h₋ · L₊/h₊ + h₊ · L₋/h₋ ) / (h₋ + h₊)     − before the key, + after it
/// ```
///
/// This ω is the velocity of the parabola through the three keys: exact for constant angular
/// acceleration about a fixed axis, and Shoemake's choice when the intervals are equal. The first
/// and the last key take the mean velocity of their only interval.
///
/// # Convention
///
/// Each interval goes the short way round, see [`Rotation::slerp`].
///
/// # Domain and singularity
///
/// The angular velocity is continuous at the keys. Two limits keep uneven keys sane: ω is
/// shortened to at most half a turn within the longer of the two intervals, and a neighbour whose
/// interval is 10⁹ times longer or shorter counts as absent, in which case the velocity jumps.
///
/// # Example
///
/// ```
/// use condyle::math::{Angle, Rotation, Squad};
/// // θ = t² at t = 0, 1, 3, 4.
/// let key = |t: f64| (t, Rotation::about_x(Angle::from_radians(0.1 * t * t)));
/// let squad = Squad::new(Some(key(0.0)), key(1.0), key(3.0), Some(key(4.0))).unwrap();
/// assert!((squad.at(0.5).angle().radians() - 0.4).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Squad {
    start: DQuat,
    end: DQuat,
    start_control: DQuat,
    end_control: DQuat,
}

impl Squad {
    /// The curve from `start` to `end`, each key a time and a rotation.
    ///
    /// `None` unless the times are finite and `start` comes before `end`. A `previous` that does
    /// not come before, or a `next` that does not come after, counts as absent.
    #[must_use]
    pub fn new(
        previous: Option<(f64, Rotation)>,
        start: (f64, Rotation),
        end: (f64, Rotation),
        next: Option<(f64, Rotation)>,
    ) -> Option<Self> {
        let turn = |a: (f64, Rotation), b: (f64, Rotation)| {
            Some((interval(a.0, b.0)?, (a.1.inverse() * b.1).log()))
        };
        let own = turn(start, end)?;
        let (_, along) = own;
        let start_turn = velocity(own, previous.and_then(|p| turn(p, start)), PI);
        let end_turn = velocity(own, next.and_then(|n| turn(end, n)), PI);

        let end_quat = nearer_sign(start.1, end.1);
        let bend = |v: DVec3| Rotation::exp(v).map(Rotation::quat);
        Some(Self {
            start: start.1.quat(),
            end: end_quat,
            start_control: start.1.quat() * bend((start_turn - along) * 0.5)?,
            end_control: end_quat * bend((along - end_turn) * 0.5)?,
        })
    }

    /// The rotation at `u`, from 0 at the start to 1 at the end; `u` is clamped, NaN counts as 0.
    #[must_use]
    pub fn at(&self, u: f64) -> Rotation {
        let u = clamp_share(u);
        let outer = slerp_on_sphere(self.start, self.end, u);
        let inner = slerp_on_sphere(self.start_control, self.end_control, u);
        let q = slerp_on_sphere(outer, inner, 2.0 * u * (1.0 - u));
        Rotation::new(q).unwrap_or(Rotation::from_unit(self.start))
    }
}

/// How far apart two intervals may be, as a ratio, for the keys to be seen as one curve.
const MAX_RATIO: f64 = 1e9;

/// The length of an interval, halved so that it does not overflow; `None` unless it is positive and
/// finite. Only ratios of these are used.
fn interval(from: f64, to: f64) -> Option<f64> {
    let h = 0.5 * to - 0.5 * from;
    (h > 0.0 && h.is_finite()).then_some(h)
}

/// Into 0 … 1; NaN becomes 0.
fn clamp_share(u: f64) -> f64 {
    if u > 0.0 { u.min(1.0) } else { 0.0 }
}

/// The velocity at the key between two intervals, times the length of the first, `own`; each
/// interval is its length and how far the curve moves in it. See [`Squad`] for the formula.
///
/// The movement at this velocity during the longer interval is shortened to `limit`.
fn velocity(own: (f64, DVec3), other: Option<(f64, DVec3)>, limit: f64) -> DVec3 {
    let (h, l) = own;
    let Some((k, n)) = other else { return l };
    let longer = h.max(k);
    let (x, y) = (h / longer, k / longer);
    if x < 1.0 / MAX_RATIO || y < 1.0 / MAX_RATIO {
        return l;
    }
    let during_longer = (l * (y / x) + n * (x / y)) / (x + y);
    let length = trig::hypot3(during_longer.x, during_longer.y, during_longer.z);
    let shortened = if length > limit { during_longer * (limit / length) } else { during_longer };
    shortened * x
}

/// The point at `u` of the cubic from `start` to `end` that has the velocities of [`Squad`] at both:
/// a Catmull–Rom curve for keys at any times.
///
/// # Source
///
/// E. Catmull, R. Rom, "A class of local interpolating splines" (1974), with the velocity of the
/// parabola through three keys in place of their equally spaced one. With Δ the way from start to
/// end and m₀, m₁ the velocities times the interval's length:
///
/// ```text
///   p(u) = p₀ + u Δ + u(1−u) ( (1−u)(m₀ − Δ) + u (Δ − m₁) )
/// ```
///
/// # Domain and singularity
///
/// `None` unless the times are finite and `start` comes before `end`; neighbours out of order count
/// as absent. Exact for constant acceleration. Finite points give finite points: where a velocity
/// overflows the way is straight. `u` is clamped, NaN counts as 0.
///
/// # Example
///
/// ```
/// use condyle::glam::DVec3;
/// use condyle::math::cubic_point;
/// let key = |t: f64| (t, DVec3::new(t * t, t, 0.0));
/// let p = cubic_point(Some(key(0.0)), key(1.0), key(3.0), Some(key(4.0)), 0.5).unwrap();
/// assert!((p - DVec3::new(4.0, 2.0, 0.0)).length() < 1e-15);
/// ```
#[must_use]
pub fn cubic_point(
    previous: Option<(f64, DVec3)>,
    start: (f64, DVec3),
    end: (f64, DVec3),
    next: Option<(f64, DVec3)>,
    u: f64,
) -> Option<DVec3> {
    let way = |a: (f64, DVec3), b: (f64, DVec3)| Some((interval(a.0, b.0)?, b.1 - a.1));
    let own = way(start, end)?;
    let (_, delta) = own;
    let m0 = velocity(own, previous.and_then(|p| way(p, start)), f64::INFINITY);
    let m1 = velocity(own, next.and_then(|n| way(end, n)), f64::INFINITY);
    let u = clamp_share(u);
    let bend = (m0 - delta) * (1.0 - u) + (delta - m1) * u;
    let p = start.1 + delta * u + bend * (u * (1.0 - u));
    Some(if p.is_finite() { p } else { start.1 * (1.0 - u) + end.1 * u })
}

/// How values between keys are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Interpolation {
    /// The value of the key before holds until the next.
    Step,
    /// Slerp for rotations, straight lines for points.
    #[default]
    Linear,
    /// [`Squad`] for rotations, [`cubic_point`] for points: velocities do not jump.
    Smooth,
}

/// Where a time falls among the keys.
#[derive(Clone, Copy)]
enum Place {
    /// At a key, or before the first, or after the last.
    Key(usize),
    /// After a key, at a share of the way to the next.
    Between(usize, f64),
}

/// Finds `t` among `n` keys; `None` if there are no keys, the number of times is another, `t` is
/// NaN, or the times around it do not ascend.
fn place(times: &[f64], n: usize, t: f64) -> Option<Place> {
    if times.len() != n || t.is_nan() {
        return None;
    }
    let (&first, &last) = (times.first()?, times.last()?);
    if t < first {
        return Some(Place::Key(0));
    }
    if t >= last {
        return Some(Place::Key(n - 1));
    }
    let i = times.partition_point(|&time| time <= t).checked_sub(1)?;
    let (before, after) = (*times.get(i)?, *times.get(i + 1)?);
    if before == t {
        return Some(Place::Key(i));
    }
    // The search promises nothing for times that do not ascend.
    if !(before < t && t < after) {
        return None;
    }
    let h = interval(before, after)?;
    Some(Place::Between(i, (0.5 * t - 0.5 * before) / h))
}

impl Rotations {
    /// The rotation at time `t`, these being the keys at `times`.
    ///
    /// At a key it is that key, bit for bit (the last one, if several have the same time); before
    /// the first and after the last key it is the first and the last. `None` if the column is
    /// empty, if there are more or fewer times than keys, if `t` is NaN, or if the times around `t`
    /// do not ascend.
    ///
    /// ```
    /// use condyle::math::{Angle, Interpolation, Rotation, Rotations};
    /// let keys: Rotations =
    ///     [0.0, 40.0].map(|d| Rotation::about_x(Angle::from_degrees(d))).into_iter().collect();
    /// let quarter = keys.sample(&[1.0, 3.0], 1.5, Interpolation::Linear).unwrap();
    /// assert!((quarter.angle().degrees() - 10.0).abs() < 1e-13);
    /// ```
    #[must_use]
    pub fn sample(&self, times: &[f64], t: f64, how: Interpolation) -> Option<Rotation> {
        self.between(place(times, self.len(), t)?, |i| times.get(i).copied(), how)
    }

    /// The rotation at a coordinate in frames, these being the frames 0, 1, 2 …; as
    /// [`sample`](Self::sample) otherwise.
    #[must_use]
    pub fn sample_frames(&self, frame: f64, how: Interpolation) -> Option<Rotation> {
        self.between(place_among_frames(self.len(), frame)?, frame_time, how)
    }

    fn between(
        &self,
        place: Place,
        time: impl Fn(usize) -> Option<f64>,
        how: Interpolation,
    ) -> Option<Rotation> {
        let (i, u) = match place {
            Place::Key(i) => return self.get(i),
            Place::Between(i, u) => (i, u),
        };
        let key = |i: usize| Some((time(i)?, self.get(i)?));
        Some(match how {
            Interpolation::Step => self.at(i),
            Interpolation::Linear => self.at(i).slerp(self.at(i + 1), u),
            Interpolation::Smooth => {
                let previous = i.checked_sub(1).and_then(key);
                Squad::new(previous, key(i)?, key(i + 1)?, key(i + 2))?.at(u)
            }
        })
    }
}

impl Points {
    /// The point at time `t`, these being the keys at `times`.
    ///
    /// As [`Rotations::sample`], with straight lines and [`cubic_point`].
    #[must_use]
    pub fn sample(&self, times: &[f64], t: f64, how: Interpolation) -> Option<DVec3> {
        self.between(place(times, self.len(), t)?, |i| times.get(i).copied(), how)
    }

    /// The point at a coordinate in frames, these being the frames 0, 1, 2 …; as
    /// [`sample`](Self::sample) otherwise.
    #[must_use]
    pub fn sample_frames(&self, frame: f64, how: Interpolation) -> Option<DVec3> {
        self.between(place_among_frames(self.len(), frame)?, frame_time, how)
    }

    fn between(
        &self,
        place: Place,
        time: impl Fn(usize) -> Option<f64>,
        how: Interpolation,
    ) -> Option<DVec3> {
        let (i, u) = match place {
            Place::Key(i) => return self.get(i),
            Place::Between(i, u) => (i, u),
        };
        let key = |i: usize| Some((time(i)?, self.get(i)?));
        match how {
            Interpolation::Step => self.get(i),
            Interpolation::Linear => cubic_point(None, key(i)?, key(i + 1)?, None, u),
            Interpolation::Smooth => {
                let previous = i.checked_sub(1).and_then(key);
                cubic_point(previous, key(i)?, key(i + 1)?, key(i + 2), u)
            }
        }
    }
}

/// The time of a frame, counted in frames. Whether there is such a frame is for its column to say.
#[allow(clippy::cast_precision_loss, reason = "frames are below 2^32")]
fn frame_time(i: usize) -> Option<f64> {
    Some(i as f64)
}

/// Finds a frame coordinate among `n` frames; `None` if there are none or it is NaN.
fn place_among_frames(n: usize, frame: f64) -> Option<Place> {
    let last = n.checked_sub(1)?;
    if frame.is_nan() {
        return None;
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "between 0 and the last frame, which is below 2^32"
    )]
    Some(if frame <= 0.0 {
        Place::Key(0)
    } else if frame >= last as f64 {
        Place::Key(last)
    } else {
        match frame.fract() {
            0.0 => Place::Key(frame as usize),
            u => Place::Between(frame as usize, u),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Angle, arbitrary};

    /// Radians. Measured worst 1.3e-15 over 5·10⁶ pairs, most of them singular or nearly so; 3×
    /// headroom.
    const SLERP: f64 = 4e-15;

    fn about_x(radians: f64) -> Rotation {
        Rotation::about_x(Angle::from_radians(radians))
    }

    fn share(u: &mut ::arbitrary::Unstructured<'_>) -> ::arbitrary::Result<f64> {
        Ok(arbitrary::component(u)?.abs())
    }

    /// The independent route: the relative rotation's vector, scaled.
    #[test]
    fn prop_slerp_is_the_scaled_rotation_vector() {
        arbtest::arbtest(|u| {
            let (a, b, t) = (arbitrary::rotation(u)?, arbitrary::rotation(u)?, share(u)?);
            let expected = a * Rotation::exp((a.inverse() * b).log() * t).unwrap();
            let error = a.slerp(b, t).distance(expected).radians();
            assert!(error < SLERP, "{a:?} {b:?} {t}: {error:e}");
            Ok(())
        });
    }

    #[test]
    fn prop_slerp_does_not_depend_on_signs() {
        arbtest::arbtest(|u| {
            let (a, b, t) = (arbitrary::rotation(u)?, arbitrary::rotation(u)?, share(u)?);
            let minus = |r: Rotation| Rotation::from_unit(-r.quat());
            let plain = a.slerp(b, t);
            let bits = |r: Rotation| r.canonical().quat().to_array().map(f64::to_bits);
            for (a, b) in [(minus(a), b), (a, minus(b)), (minus(a), minus(b))] {
                assert_eq!(bits(a.slerp(b, t)), bits(plain), "{a:?} {b:?} {t}");
            }
            Ok(())
        });
    }

    #[test]
    fn tiny_rotations_are_interpolated_with_all_digits() {
        let tiny = Rotation::new(DQuat::from_xyzw(1e-200, 0.0, 0.0, 1.0)).unwrap();
        let got = Rotation::IDENTITY.slerp(tiny, 0.25).quat().x;
        assert!((got / 0.25e-200 - 1.0).abs() < 1e-15, "{got:e}");
    }

    #[test]
    fn half_a_turn_apart_the_axis_is_positive() {
        for other in [[1.0, 0.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [-1.0, -0.0, -0.0, -0.0]] {
            let half_turn = Rotation::new(DQuat::from_array(other)).unwrap();
            let middle = Rotation::IDENTITY.slerp(half_turn, 0.5);
            assert!(middle.distance(about_x(0.5 * PI)).radians() < 1e-15, "{other:?}");
        }
    }

    #[test]
    fn slerp_goes_on_beyond_the_ends_and_ignores_nonsense() {
        assert!(about_x(0.1).slerp(about_x(0.3), 3.0).distance(about_x(0.7)).radians() < 1e-14);
        assert!(about_x(0.1).slerp(about_x(0.3), -1.0).distance(about_x(-0.1)).radians() < 1e-14);
        for bad in [f64::NAN, f64::INFINITY] {
            assert_eq!(about_x(0.1).slerp(about_x(0.3), bad).quat(), about_x(0.1).quat());
        }
        for huge in [1e300, -f64::MAX] {
            let q = about_x(0.1).slerp(about_x(0.3), huge).quat();
            assert!((q.length() - 1.0).abs() < 1e-15);
        }
        // The ends are exact.
        let (a, b) = (about_x(0.1), about_x(0.3));
        assert_eq!(a.slerp(b, 0.0).quat(), a.quat());
        assert_eq!(a.slerp(b, 1.0).quat(), b.quat());
    }

    /// Four to seven rotations with steps of up to about 100°, intervals between 0.2 and 2.
    fn motion(u: &mut ::arbitrary::Unstructured<'_>) -> ::arbitrary::Result<(Vec<f64>, Rotations)> {
        let mut times = vec![0.0];
        let mut keys: Vec<Rotation> = vec![arbitrary::rotation(u)?];
        for i in 0..u.int_in_range(3..=6)? {
            times.push(times[i] + 0.2 + 1.8 * share(u)?);
            let step = arbitrary::direction(u)? * (1.75 * share(u)?);
            keys.push(keys[i] * Rotation::exp(step).unwrap());
        }
        // Signs do not matter.
        let signed = keys
            .into_iter()
            .enumerate()
            .map(|(i, r)| Rotation::from_unit(if i % 3 == 1 { -r.quat() } else { r.quat() }));
        Ok((times, signed.collect()))
    }

    /// A2, "C1": one-sided second-order differences on both sides of every inner key agree.
    #[test]
    fn prop_a2_angular_velocity_does_not_jump_at_the_keys() {
        arbtest::arbtest(|u| {
            let (times, keys) = motion(u)?;
            let sample = |t| keys.sample(&times, t, Interpolation::Smooth).unwrap();
            for i in 1..times.len() - 1 {
                let here = keys.at(i);
                let log = |dt: f64| (here.inverse() * sample(times[i] + dt)).log();
                let dt = 1e-5;
                let slope = |dt: f64| (4.0 * log(dt) - log(2.0 * dt)) / (2.0 * dt);
                // The difference is off by dt² times the third derivative, which is at most a few
                // half-turns over 0.2³: 1e-7; rounding adds 1e-15 / dt.
                let jump = (slope(dt) - slope(-dt)).length();
                assert!(jump < 1e-6, "{times:?} {keys:?} {i}: {jump:e}");
            }
            Ok(())
        });
    }

    #[test]
    fn prop_a2_keys_are_met_exactly_and_approached_from_both_sides() {
        arbtest::arbtest(|u| {
            let (times, keys) = motion(u)?;
            for how in [Interpolation::Linear, Interpolation::Smooth] {
                for (i, &t) in times.iter().enumerate() {
                    let at = |t| keys.sample(&times, t, how).unwrap();
                    assert_eq!(at(t).quat(), keys.at(i).quat());
                    for beside in [t - 1e-9, t + 1e-9] {
                        let gap = at(beside).distance(keys.at(i)).radians();
                        assert!(gap < 1e-7, "{how:?} {i}: {gap:e}");
                    }
                }
            }
            Ok(())
        });
    }

    /// The time scaling is that of the parabola: constant acceleration is reproduced.
    #[test]
    fn a2_constant_angular_acceleration_is_exact_at_uneven_times() {
        let times = [0.0, 0.3, 1.0, 1.2, 2.0, 2.1];
        let truth = |t: f64| 0.2 + 0.3 * t + 0.25 * t * t;
        let axis = DVec3::new(0.6, 0.0, -0.8);
        let keys: Rotations =
            times.iter().map(|&t| Rotation::exp(axis * truth(t)).unwrap()).collect();
        // The first and the last interval have an end velocity of their own.
        for i in 0..100 {
            let t = 0.3 + 1.7 * f64::from(i) / 100.0;
            let got = keys.sample(&times, t, Interpolation::Smooth).unwrap();
            let expected = Rotation::exp(axis * truth(t)).unwrap();
            assert!(got.distance(expected).radians() < 2e-15, "{t}");
        }
    }

    #[test]
    fn equal_intervals_give_shoemakes_inner_points() {
        let keys = [0.0, 0.4, 1.0, 1.1]
            .map(|x| about_x(x) * Rotation::about_y(Angle::from_radians(1.3 * x * x)));
        let [p, q, r, s] = keys;
        let squad = Squad::new(Some((1.0, p)), (2.0, q), (3.0, r), Some((4.0, s))).unwrap();
        let inner = |before: Rotation, at: Rotation, after: Rotation| {
            let sum = (at.inverse() * after).log() + (at.inverse() * before).log();
            at * Rotation::exp(sum * -0.25).unwrap()
        };
        let start = Rotation::from_unit(squad.start_control);
        let end = Rotation::from_unit(squad.end_control);
        assert!(start.distance(inner(p, q, r)).radians() < 1e-15);
        assert!(end.distance(inner(q, r, s)).radians() < 1e-15);
    }

    #[test]
    fn constant_velocity_stays_slerp_also_at_the_ends() {
        let times = [0.0, 1.0, 1.5, 4.0];
        let keys: Rotations = times.iter().map(|&t| about_x(0.7 * t)).collect();
        for i in 0..40 {
            let t = 0.1 * f64::from(i);
            let got = keys.sample(&times, t, Interpolation::Smooth).unwrap();
            assert!(got.distance(about_x(0.7 * t)).radians() < 2e-15, "{t}");
        }
    }

    #[test]
    fn wildly_uneven_keys_stay_within_a_turn() {
        // The short interval alone would ask for 100 turns in the long one.
        let (a, b, c) = ((0.0, about_x(0.0)), (1e-3, about_x(0.6)), (1.0, about_x(0.7)));
        let squad = Squad::new(Some(a), b, c, None).unwrap();
        let mut last = b.1;
        let mut travelled = 0.0;
        for i in 0..=1000 {
            let here = squad.at(f64::from(i) / 1000.0);
            travelled += here.distance(last).radians();
            last = here;
        }
        assert!(travelled < 2.0 * PI, "{travelled}");
        assert!(last.distance(c.1).radians() < 1e-15);
    }

    #[test]
    fn a_neighbour_in_no_time_counts_as_absent() {
        let before = (-1e-12, about_x(-0.1));
        let squad =
            Squad::new(Some(before), (0.0, about_x(0.0)), (1.0, about_x(0.7)), None).unwrap();
        assert!(squad.at(0.5).distance(about_x(0.35)).radians() < 1e-15);
    }

    #[test]
    fn beyond_its_ends_a_segment_stays_at_its_keys() {
        let (a, b) = ((0.0, about_x(0.2)), (1.0, about_x(0.7)));
        let squad = Squad::new(None, a, b, Some((2.0, about_x(0.8)))).unwrap();
        for (u, key) in [(-3.0, a.1), (f64::NAN, a.1), (7.0, b.1), (f64::INFINITY, b.1)] {
            assert!(squad.at(u).distance(key).radians() < 1e-15, "{u}");
        }
        let (a, b) = ((0.0, DVec3::X), (1.0, DVec3::Y));
        for (u, key) in [(-3.0, a.1), (f64::NAN, a.1), (7.0, b.1), (f64::INFINITY, b.1)] {
            assert_eq!(cubic_point(None, a, b, Some((2.0, DVec3::Z)), u), Some(key), "{u}");
        }
    }

    #[test]
    fn prop_points_have_no_jump_in_velocity_and_meet_their_keys() {
        arbtest::arbtest(|u| {
            let mut times = vec![0.0];
            let mut keys = vec![arbitrary::direction(u)?];
            for i in 0..4 {
                times.push(times[i] + 0.2 + 1.8 * share(u)?);
                keys.push(arbitrary::direction(u)? * 3.0);
            }
            let points: Points = keys.iter().copied().collect();
            let sample = |t| points.sample(&times, t, Interpolation::Smooth).unwrap();
            for i in 1..4 {
                assert_eq!(sample(times[i]), keys[i]);
                let log = |dt: f64| sample(times[i] + dt) - keys[i];
                let slope = |dt: f64| (4.0 * log(dt) - log(2.0 * dt)) / (2.0 * dt);
                let jump = (slope(1e-5) - slope(-1e-5)).length();
                assert!(jump < 1e-6, "{times:?} {keys:?} {i}: {jump:e}");
            }
            Ok(())
        });
    }

    #[test]
    fn points_go_straight_or_hold_when_asked() {
        let points: Points = [DVec3::ZERO, DVec3::X, DVec3::Y].into_iter().collect();
        let times = [0.0, 2.0, 3.0];
        let at = |t, how| points.sample(&times, t, how).unwrap();
        assert_eq!(at(0.5, Interpolation::Linear), DVec3::X * 0.25);
        assert_eq!(at(1.9, Interpolation::Step), DVec3::ZERO);
        assert_eq!(at(2.0, Interpolation::Step), DVec3::X);
        for how in [Interpolation::Step, Interpolation::Linear, Interpolation::Smooth] {
            assert_eq!(at(-1.0, how), DVec3::ZERO);
            assert_eq!(at(f64::INFINITY, how), DVec3::Y);
        }
    }

    #[test]
    fn finite_points_give_finite_points() {
        let huge = DVec3::splat(f64::MAX);
        let points: Points = [-huge, huge, -huge, huge].into_iter().collect();
        for times in [[0.0, 1.0, 2.0, 3.0], [-f64::MAX, -1e-300, 5e-324, f64::MAX]] {
            for how in [Interpolation::Linear, Interpolation::Smooth] {
                for t in [-1e308, -1e-310, 0.0, 0.5, 1.5, 1e308] {
                    assert!(points.sample(&times, t, how).unwrap().is_finite(), "{times:?} {t}");
                }
            }
        }
    }

    #[test]
    fn keys_at_the_same_time_step_and_the_curve_starts_anew() {
        let keys: Rotations = [0.0, 0.5, 1.5, 2.0].map(about_x).into_iter().collect();
        let times = [0.0, 1.0, 1.0, 2.0];
        let at = |t| keys.sample(&times, t, Interpolation::Smooth).unwrap();
        assert_eq!(at(1.0).quat(), keys.at(2).quat());
        assert!(at(0.5).distance(about_x(0.25)).radians() < 1e-15);
        assert!(at(1.5).distance(about_x(1.75)).radians() < 1e-15);
    }

    #[test]
    fn missing_extra_and_disordered_times_are_refused() {
        let keys: Rotations = [0.0, 0.5, 1.0].map(about_x).into_iter().collect();
        let none = |times: &[f64], t| {
            for how in [Interpolation::Step, Interpolation::Linear, Interpolation::Smooth] {
                assert!(keys.sample(times, t, how).is_none(), "{times:?} {t}");
            }
        };
        none(&[0.0, 1.0], 0.5);
        none(&[0.0, 1.0, 2.0, 3.0], 0.5);
        none(&[0.0, 1.0, 2.0], f64::NAN);
        none(&[0.0, f64::NAN, 2.0], 0.5);
        assert!(Rotations::new().sample(&[], 0.0, Interpolation::Linear).is_none());
        let key = (1.0, about_x(1.0));
        assert!(Squad::new(None, key, key, None).is_none());
        assert!(Squad::new(None, key, (f64::NAN, key.1), None).is_none());
        // Any times at all: an answer or none, never a panic.
        for a in [f64::NAN, f64::NEG_INFINITY, -1.0, 0.0, 3.0, f64::INFINITY] {
            for b in [f64::NAN, f64::NEG_INFINITY, -1.0, 0.0, 3.0, f64::INFINITY] {
                for t in [-2.0, 0.0, 0.5, 4.0] {
                    if let Some(r) = keys.sample(&[a, 0.2, b], t, Interpolation::Smooth) {
                        assert!(r.quat().is_finite());
                    }
                }
            }
        }
    }
}
