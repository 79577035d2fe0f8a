//! A turn about an axis whose centre changes with the angle (D6).

use std::fmt;

use glam::{DQuat, DVec3};

use super::transform::{Rate, Transform};
use crate::math::{Angle, Rotation, trig, unit};

/// A turn about one axis, about one centre after the other: what a knee does, or a humerus.
///
/// From `from` on the centre is the first one's, up to its end; then the next one's. Before `from` the
/// first goes on, and after the last end the last.
///
/// # Source
///
/// Row D6 of the checklist: over `[aᵢ₋₁, aᵢ)` the joint turns about cᵢ, `Mᵢ = T(cᵢ) Q(βᵢ) T(−cᵢ)` and
/// `R(a) = Mⱼ … M₁`, with βᵢ all of an interval that is passed and the begun part of the current one.
/// Centres are fixed in the parent. At the rest angle the joint stands as it is: what is given is
/// `R(a) R(rest)⁻¹`, for the other order would move the centres.
///
/// The derivative by a is a turn about the axis through the current centre, which jumps from one
/// interval to the next. The transform itself is continuous.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Of any length but zero.
    pub axis: DVec3,
    /// The angle at which nothing is turned.
    pub rest: Angle,
    /// Where the first interval begins.
    pub from: Angle,
    /// Where each interval ends, rising, and its centre in metres. One at least.
    pub centers: Vec<(Angle, DVec3)>,
}

impl Turn {
    /// About an axis through one point.
    #[must_use]
    pub fn about(axis: DVec3, center_m: DVec3) -> Self {
        let centers = vec![(Angle::from_degrees(180.0), center_m)];
        Self { axis, rest: Angle::ZERO, from: Angle::from_degrees(-180.0), centers }
    }

    /// The same, checked, with the products of passed intervals.
    ///
    /// # Errors
    ///
    /// If the axis has no direction, there is no centre, ends do not rise, or a number is not finite.
    pub fn prepare(&self) -> Result<PreparedTurn, TurnError> {
        let Self { axis, rest, from, centers } = self;
        let finite = |m: &(Angle, DVec3)| m.0.radians().is_finite() && m.1.is_finite();
        if !(rest.radians().is_finite() && from.radians().is_finite() && centers.iter().all(finite))
        {
            return Err(TurnError::NotFinite);
        }
        let axis = unit(*axis).ok_or(TurnError::NoAxis)?;
        if centers.is_empty() {
            return Err(TurnError::NoCenter);
        }
        // About one centre it is the same to turn from rest.
        if let [(end, center_m)] = *centers.as_slice()
            && end.radians() > from.radians()
        {
            let piece = Piece { begin: rest.radians(), center_m, passed: None };
            return Ok(PreparedTurn::new(axis, vec![piece]));
        }
        let mut begin = from.radians();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut passed = Transform::IDENTITY;
        for (i, (end, center_m)) in centers.iter().enumerate() {
            if end.radians() <= begin {
                return Err(TurnError::NotRising { interval: i });
            }
            pieces.push(Piece { begin, center_m: *center_m, passed: Some(passed) });
            passed = turned(unit(axis).unwrap_or(axis), *center_m, end.radians() - begin) * passed;
            begin = end.radians();
        }
        let mut turn = PreparedTurn::new(axis, pieces);
        let back = turn.at(rest.radians()).0.inverse();
        for piece in &mut turn.pieces {
            piece.passed = piece.passed.map(|passed| passed * back);
        }
        Ok(turn)
    }
}

/// About an axis of length one; not at all by an angle that is not finite.
pub(super) fn about(axis: DVec3, radians: f64) -> Rotation {
    if !radians.is_finite() {
        return Rotation::IDENTITY;
    }
    let (s, c) = trig::sin_cos(0.5 * radians);
    Rotation::from_unit(DQuat::from_xyzw(axis.x * s, axis.y * s, axis.z * s, c))
}

/// The same through a point.
fn turned(axis: DVec3, center_m: DVec3, radians: f64) -> Transform {
    let rotation = about(axis, radians);
    Transform { rotation, translation_m: center_m - rotation * center_m }
}

/// A [`Turn`] ready to be made.
#[derive(Clone, Debug)]
pub struct PreparedTurn {
    axis: DVec3,
    /// The same with its length made one once more, as [`Rotation::from_axis_angle`] has it.
    turn_axis: DVec3,
    pieces: Vec<Piece>,
}

/// From an angle on, in radians, about a centre, after what was turned before and back from rest.
#[derive(Clone, Copy, Debug)]
struct Piece {
    begin: f64,
    center_m: DVec3,
    /// Nothing, if the turn begins at rest.
    passed: Option<Transform>,
}

impl PreparedTurn {
    fn new(axis: DVec3, pieces: Vec<Piece>) -> Self {
        Self { axis, turn_axis: unit(axis).unwrap_or(axis), pieces }
    }

    /// The transform at an angle in radians, and its rate; at a border that of the next interval.
    #[must_use]
    pub fn at(&self, radians: f64) -> (Transform, Rate) {
        let after = self.pieces.partition_point(|piece| piece.begin <= radians);
        let Piece { begin, center_m, passed } = self.pieces[after.saturating_sub(1)];
        let own = turned(self.turn_axis, center_m, radians - begin);
        let transform = passed.map_or(own, |passed| own * passed);
        let shift_m = self.axis.cross(transform.translation_m - center_m);
        (transform, Rate { turn: self.axis, shift_m })
    }

    /// Whether every centre is the origin: then nothing is shifted.
    pub(super) fn is_about_origin(&self) -> bool {
        self.pieces.iter().all(|piece| piece.center_m == DVec3::ZERO)
    }

    /// Where it begins and its axis, of length one, if it is nothing but a turn about that through the
    /// origin: half its angle beyond the begin has the sine and cosine of its quaternion.
    pub(super) fn about_origin(&self) -> Option<(f64, DVec3)> {
        match *self.pieces.as_slice() {
            [Piece { begin, center_m: DVec3::ZERO, passed: None }] => Some((begin, self.turn_axis)),
            _ => None,
        }
    }

    /// Where the rate jumps.
    #[cfg(test)]
    fn borders(&self) -> impl Iterator<Item = f64> + '_ {
        self.pieces.iter().skip(1).map(|piece| piece.begin)
    }
}

/// Why a turn cannot be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TurnError {
    /// A number is not finite.
    NotFinite,
    /// The axis has no direction.
    NoAxis,
    /// There is no centre.
    NoCenter,
    /// An interval ends before it begins, or where it begins.
    NotRising {
        /// Which, from 0.
        interval: usize,
    },
}

impl fmt::Display for TurnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => f.write_str("a number is not finite"),
            Self::NoAxis => f.write_str("the axis is zero, so it has no direction"),
            Self::NoCenter => f.write_str("there is no centre to turn about"),
            Self::NotRising { interval } => {
                write!(f, "interval {interval} does not end after it begins")
            }
        }
    }
}

impl std::error::Error for TurnError {}

#[cfg(test)]
mod tests {
    use super::super::transform::tests::{by_differences, near};
    use super::*;
    use crate::synth::Rng;

    fn any(rng: &mut Rng, intervals: usize) -> Turn {
        let from = rng.between(-1.0, 0.0);
        let mut end = from;
        let centers = (0..intervals)
            .map(|_| {
                end += rng.between(0.1, 0.8);
                (Angle::from_radians(end), rng.direction() * 0.1)
            })
            .collect();
        let rest = Angle::from_radians(rng.between(from - 0.2, end + 0.2));
        Turn { axis: rng.direction() * 3.0, rest, from: Angle::from_radians(from), centers }
    }

    /// By the definition, one interval after the other.
    fn plain(turn: &Turn, angle: f64) -> Transform {
        let axis = turn.axis.normalize();
        let mut product = Transform::IDENTITY;
        let mut begin = turn.from.radians();
        let last = turn.centers.len() - 1;
        for (i, (end, center)) in turn.centers.iter().enumerate() {
            let stop = if i == last { angle } else { angle.min(end.radians()) };
            let part = if i == 0 { stop - begin } else { (stop - begin).max(0.0) };
            let about = Rotation::from_axis_angle(axis, Angle::from_radians(part)).unwrap();
            let there = Transform { rotation: Rotation::IDENTITY, translation_m: *center };
            product = there * Transform::from_rotation(about) * there.inverse() * product;
            begin = end.radians();
        }
        product
    }

    #[test]
    fn d6_turns_are_products_of_their_intervals_and_rest_is_the_identity() {
        let mut rng = Rng::new(4);
        for n in 1..200 {
            let turn = any(&mut rng, 1 + n % 5);
            let prepared = turn.prepare().unwrap();
            let rest = prepared.at(turn.rest.radians()).0;
            assert!(rest.rotation.angle().radians() < 1e-15 && rest.translation_m.length() < 1e-16);
            let back = plain(&turn, turn.rest.radians()).inverse();
            for _ in 0..20 {
                let angle = rng.between(-1.5, 3.0);
                let (found, expected) = (prepared.at(angle).0, plain(&turn, angle) * back);
                assert!(found.rotation.distance(expected.rotation).radians() < 1e-14);
                assert!(found.translation_m.distance(expected.translation_m) < 1e-15);
            }
        }
    }

    #[test]
    fn d6_one_interval_is_a_plain_rotation() {
        let mut rng = Rng::new(5);
        for _ in 0..100 {
            let (axis, center) = (rng.direction(), rng.direction() * 0.2);
            let turn = Turn::about(axis, center).prepare().unwrap();
            let angle = rng.between(-4.0, 4.0);
            let rotation = Rotation::from_axis_angle(axis, Angle::from_radians(angle)).unwrap();
            let point = rng.direction();
            let expected = center + rotation * (point - center);
            assert!(turn.at(angle).0.apply(point).distance(expected) < 1e-14);
        }
    }

    #[test]
    fn d6_turns_are_continuous_and_their_rates_those_of_differences() {
        let mut rng = Rng::new(6);
        for n in 1..100 {
            let prepared = any(&mut rng, 1 + n % 5).prepare().unwrap();
            for border in prepared.borders() {
                let (a, b) = (prepared.at(border - 1e-12).0, prepared.at(border + 1e-12).0);
                assert!(a.rotation.distance(b.rotation).radians() < 1e-11);
                assert!(a.translation_m.distance(b.translation_m) < 1e-12);
                // The rate jumps: that of the interval that begins counts.
                let h = 1e-6;
                let ahead = by_differences(|a| prepared.at(a).0, border + h, h);
                let there = prepared.at(border).1;
                // A turn's speed changes by no more than its distance from the centre, 0.1, per radian.
                assert!(near(there, ahead, 1e-6), "{there:?} {ahead:?}");
            }
            for _ in 0..20 {
                let angle = rng.between(-1.5, 3.0);
                let h = 1e-6;
                if prepared.borders().any(|border| (border - angle).abs() < 2.0 * h) {
                    continue;
                }
                let expected = by_differences(|a| prepared.at(a).0, angle, h);
                assert!(near(prepared.at(angle).1, expected, 1e-6));
            }
        }
    }

    #[test]
    fn what_is_no_turn_is_an_error() {
        let good = Turn::about(DVec3::X, DVec3::ZERO);
        let error = |turn: Turn| turn.prepare().unwrap_err();
        assert_eq!(error(Turn { axis: DVec3::ZERO, ..good.clone() }), TurnError::NoAxis);
        assert_eq!(error(Turn { centers: vec![], ..good.clone() }), TurnError::NoCenter);
        let end = Angle::from_degrees(-180.0);
        let falling = Turn { centers: vec![(end, DVec3::ZERO)], ..good.clone() };
        assert_eq!(error(falling), TurnError::NotRising { interval: 0 });
        let nowhere = Turn { rest: Angle::from_radians(f64::NAN), ..good };
        assert_eq!(error(nowhere), TurnError::NotFinite);
    }
}
