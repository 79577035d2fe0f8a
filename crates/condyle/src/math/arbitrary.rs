//! Generators for property tests, biased towards the hard cases.

use arbitrary::{Result, Unstructured};
use glam::{DQuat, DVec3};

use super::rotation::unit;
use super::{Angle, Rotation};

/// A rotation, often on or within a few ulps of a singular set.
pub(crate) fn rotation(u: &mut Unstructured<'_>) -> Result<Rotation> {
    Rotation::new(quat(u)?).ok_or(arbitrary::Error::IncorrectFormat)
}

/// A quaternion of any length, zero included.
pub(crate) fn quat(u: &mut Unstructured<'_>) -> Result<DQuat> {
    Ok(DQuat::from_xyzw(component(u)?, component(u)?, component(u)?, component(u)?))
}

/// A unit vector, often along an axis or nearly so.
pub(crate) fn direction(u: &mut Unstructured<'_>) -> Result<DVec3> {
    unit(DVec3::new(component(u)?, component(u)?, component(u)?))
        .ok_or(arbitrary::Error::IncorrectFormat)
}

/// An angle within a few turns, often a multiple of 90° or within some ulps of one.
pub(crate) fn angle(u: &mut Unstructured<'_>) -> Result<Angle> {
    let base = match u.int_in_range(0..=2)? {
        0 => f64::from(u.int_in_range(-8..=8)?) * std::f64::consts::FRAC_PI_2,
        _ => component(u)? * 7.0,
    };
    let nudge = match u.int_in_range(0..=2)? {
        0 => f64::EPSILON * f64::from(u.int_in_range(-32..=32)?),
        _ => 0.0,
    };
    Ok(Angle::from_radians(base + nudge))
}

/// In [-1, 1]: often exactly ±0 or ±1, often tiny.
pub(crate) fn component(u: &mut Unstructured<'_>) -> Result<f64> {
    let magnitude = match u.int_in_range(0..=3)? {
        0 => 0.0,
        1 => 1.0,
        2 => f64::EPSILON * f64::from(u.int_in_range(-32..=32)?),
        _ => f64::from(u.arbitrary::<i32>()?) / f64::from(i32::MAX),
    };
    Ok(if u.arbitrary()? { magnitude } else { -magnitude })
}
