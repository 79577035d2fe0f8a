//! The outer boundary of sampled directions, as a spherical polygon (A17, B5).
//!
//! A cap is rolled around the samples from outside, as in the alpha shape of H. Edelsbrunner,
//! D. Kirkpatrick, R. Seidel, "On the shape of a set of points in the plane" (1983), and the walk by
//! pivoting of F. Bernardini et al., "The ball-pivoting algorithm" (1999), both on the sphere. Where
//! it cannot enter is inside. The closed walk from sample to sample is then simplified by steps that
//! only add area, so that no sample is lost.

pub(super) mod rows;
mod samples;
mod sides;
mod simplify;
mod walk;

use std::f64::consts::{FRAC_PI_2, PI};

use glam::DVec3;

use self::samples::real;
pub(super) use self::samples::{Samples, compare, emptiest};
use self::sides::{Sides, take_in};
use self::simplify::{is_simple, simplified};
use self::walk::{Walk, outline};
use crate::math::{trig, unit};

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BoundaryOptions {
    /// The most corners, at least 4. There are fewer if that keeps the boundary within [`TOLERANCE`].
    pub(crate) corners: usize,
    /// The radius of the cap that is rolled around, in radians: gaps narrower than twice this are
    /// closed. `None` takes it from how dense the samples are.
    pub(crate) reach: Option<f64>,
    /// Radians. Nothing narrower is resolved.
    pub(crate) noise: f64,
}

/// The most corners of a polygon, unless told otherwise.
pub(crate) const CORNERS: usize = 64;

/// 0.35°: so far a boundary may move to have fewer corners. Which ones stay may depend on rounding, so
/// this is also how far rounding may move it.
pub(crate) const TOLERANCE: f64 = 0.35 * PI / 180.0;

impl Default for BoundaryOptions {
    fn default() -> Self {
        Self { corners: CORNERS, reach: None, noise: 0.0 }
    }
}

/// Where samples are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Boundary {
    /// There are none.
    Nothing,
    /// All over the sphere.
    Everything,
    /// Inside a polygon, on the left of its edges.
    Polygon {
        corners: Vec<DVec3>,
        /// Of the inside: the direction of its centre of mass, or what is opposite of the direction
        /// farthest from all samples if some are far from that.
        middle: DVec3,
    },
}

/// The outer boundary of the region that the directions fill.
///
/// Every direction is inside, whatever they are; holes are filled. The outside is where the direction
/// farthest from all of them is. What is no direction is ignored.
///
/// # Convention
///
/// The inside is on the left, seen from outside the sphere. One direction, or several along an arc,
/// become a band of half the width max(`noise`, 0.25°).
///
/// # Domain and singularity
///
/// Total. The same bits for any order of the directions, and however often each comes. Where samples
/// fall apart into groups farther from each other than the reach, the reach is raised until they are
/// one. Where no walk closes, the answer is all but a polygon in the largest empty cap.
pub(super) fn boundary(samples: &Samples, options: &BoundaryOptions) -> Boundary {
    if samples.directions.is_empty() {
        return Boundary::Nothing;
    }
    let half_width = usable(options.noise).clamp(LEAST_HALF_WIDTH, MOST_HALF_WIDTH);
    let least_reach = 2.5 * half_width;
    let corners = options.corners.max(4);
    let (empty, empty_radius) = samples.emptiest();
    let usual = |area: f64| samples.reach(area).clamp(least_reach, MOST_REACH);
    let mut reach = match options.reach {
        Some(reach) => usable(reach).clamp(least_reach, MOST_REACH),
        None => usual(samples.covered()),
    };
    let mut points = samples.thinned(reach);
    if options.reach.is_none() && reach <= empty_radius && !samples.are_many() {
        // Better by the area inside of a first walk, which is the same whichever way samples are turned.
        let rough = samples.covered();
        let first = usual(0.8 * rough);
        let walked = Walk::new(&points, first).around(empty).unwrap_or_default();
        reach = usual(walk::area(&walked).clamp(0.5 * rough, 4.0 * rough));
        if !walked.is_empty() && reach >= first {
            points = walk::touched(&walked);
        }
    }
    if empty_radius < reach {
        return Boundary::Everything;
    }
    let mut last = false;
    loop {
        let scale = Scale { reach, half_width, corners, empty };
        if let Some((corners, mass)) = attempt(samples, &points, &scale) {
            let middle = unit(mass).filter(|middle| samples.all_within(*middle, FAR));
            return Boundary::Polygon { corners, middle: middle.unwrap_or(-empty) };
        }
        if last {
            break;
        }
        // What was left out by a walk around a part of them.
        reach *= 1.5;
        points = samples.thinned(reach);
        let most = MOST_REACH.min(0.999 * empty_radius);
        if reach >= most {
            reach = most;
            last = true;
        }
    }
    match around_empty(empty, empty_radius, corners) {
        Some(corners) => Boundary::Polygon { corners, middle: -empty },
        None => Boundary::Everything,
    }
}

/// 0.25°.
const LEAST_HALF_WIDTH: f64 = 0.25 * PI / 180.0;

/// 10°: noise beyond this says nothing.
const MOST_HALF_WIDTH: f64 = 10.0 * PI / 180.0;

/// 80°. A cap of 90° is no longer convex, and pivoting needs its tangent.
const MOST_REACH: f64 = 80.0 * PI / 180.0;

/// Neighbouring corners are at least so far apart.
const APART: f64 = 2e-6;

/// Edges that are no neighbours are at least so far apart, as a sine: far more than what the limit takes
/// for touching.
const CLEAR: f64 = 2e-6;

/// A corner this near to the arc between its neighbours is on it.
const STRAIGHT: f64 = 3e-14;

/// What is outside by less counts as inside: a tenth of the tolerance of limits.
const OUTSIDE: f64 = 1e-13;

/// The middle is within this of all samples: cos 120°.
const FAR: f64 = -0.5;

/// Finite and not negative.
fn usable(value: f64) -> f64 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}

/// How one attempt is made.
struct Scale {
    reach: f64,
    half_width: f64,
    corners: usize,
    /// Outside.
    empty: DVec3,
}

/// The corners, and the centre of mass of the inside before it was simplified, which rounding does not
/// move.
fn attempt(samples: &Samples, points: &[DVec3], scale: &Scale) -> Option<(Vec<DVec3>, DVec3)> {
    let walked = Walk::new(points, scale.reach).around(scale.empty)?;
    let mut whole = outline(&walked, scale.half_width);
    let mass = centre_of_mass(&whole);
    for _ in 0..3 {
        let polygon = simplified(&whole, scale);
        let missing = samples.outside(&polygon, scale.empty, scale.reach);
        if missing.is_empty() {
            let good = polygon.len() <= scale.corners && is_simple(&polygon);
            return good.then_some((polygon, mass));
        }
        if missing.iter().any(|m| m.distance > 0.6 * scale.reach) {
            return None;
        }
        // Steps only add to the inside, so that no others can have been outside before them.
        let sides = Sides::new(&whole, scale.empty);
        let mut before = Vec::new();
        if !samples.are_many() {
            sides.check(missing.iter().map(|m| &m.at), &mut before);
        }
        // Where only the steps lost something, by rounding, it is taken in after them; and of very many
        // what was not walked around.
        whole =
            if before.is_empty() { take_in(&polygon, missing) } else { take_in(&whole, before) };
    }
    None
}

/// The area inside a polygon, on the left of its edges, in steradians.
///
/// The signed areas of the triangles from the first corner add up to it, up to the whole sphere: A. Van
/// Oosterom and J. Strackee, "The solid angle of a plane triangle" (1983).
pub(super) fn solid_angle(corners: &[DVec3]) -> f64 {
    let Some(&a) = corners.first() else { return 0.0 };
    let triangle = |pair: &[DVec3]| {
        let (b, c) = (pair[0], pair[1]);
        let sum = 1.0 + a.dot(b) + b.dot(c) + c.dot(a);
        2.0 * trig::atan2(a.dot(b.cross(c)), sum)
    };
    corners[1..].windows(2).map(triangle).sum::<f64>().rem_euclid(4.0 * PI)
}

/// The integral of all directions inside a polygon, on the left of its edges.
///
/// By Stokes' theorem it is `½ Σ θᵢ nᵢ` over the edges, with their angles and normals (J. E. Brock, "The
/// inertia tensor for a spherical triangle", 1975).
fn centre_of_mass(corners: &[DVec3]) -> DVec3 {
    let following = corners.iter().skip(1).chain(corners.first());
    let edge = |(a, b): (&DVec3, &DVec3)| {
        let normal = a.cross(*b);
        let sine = normal.length();
        let angle = trig::atan2(sine, a.dot(*b));
        if sine > 0.0 { normal * (0.5 * angle / sine) } else { DVec3::ZERO }
    };
    corners.iter().zip(following).map(edge).sum()
}

/// All but a polygon in the empty cap; `None` if there is no room for one.
fn around_empty(empty: DVec3, radius: f64, corners: usize) -> Option<Vec<DVec3>> {
    let radius = (radius - 1e-9).min(FRAC_PI_2);
    if radius < 1e-4 {
        return None;
    }
    let x = empty.any_orthonormal_vector();
    let y = empty.cross(x);
    let count = corners.clamp(4, 12);
    let (sin_r, cos_r) = trig::sin_cos(radius);
    let corner = |i: usize| {
        let (sin, cos) = trig::sin_cos(-2.0 * PI * real(i) / real(count));
        empty * cos_r + (x * cos + y * sin) * sin_r
    };
    Some((0..count).map(corner).collect())
}

#[cfg(test)]
pub(super) mod tests;
