//! A ball joint: where its bone points, and how far it rolls.

use std::f64::consts::PI;

use glam::DVec3;

use super::arcs::{self, Range};
use super::boundary::{Boundary, BoundaryOptions, Samples, boundary, solid_angle};
use super::directions::settled;
use super::ellipse::{SphericalEllipse, smallest_ellipse};
use super::options::BallModel;
use super::paper::zyz_box;
use super::twist::Rolls;
use crate::limits::{Limit, SwingLimit, SwingTwistLimit, TwistLimit, TwistOffset};
use crate::math::{Angle, Rotation, Rotations, SwingAxes, angle_between, direct_rotation, trig};

/// How to describe a ball joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BallOptions {
    pub(crate) model: BallModel,
    /// Corners of a polygon, at most.
    pub(crate) corners: usize,
    /// Radians; 0 to contain every sample as it is.
    pub(crate) noise: f64,
    /// The share of the samples to contain.
    pub(crate) coverage: f64,
    /// How far to grow everything, radians.
    pub(crate) margin: f64,
}

/// A ball joint as found.
#[derive(Clone, Debug)]
pub(crate) struct Ball {
    pub(crate) center: Rotation,
    pub(crate) limit: Limit,
    /// Which model and why, and what to know about it.
    pub(crate) notes: Vec<String>,
}

/// The zero is moved if the middle of the directions is farther from the bone than this: 1°.
const CENTERED: f64 = PI / 180.0;

/// Twist may be measured from rest if no direction is farther from the bone than this: cos 150°.
pub(super) const FARTHEST: f64 = -0.866_025_403_784_438_6;

/// And if its range is then narrower by this factor.
const NARROWER: f64 = 0.95;

/// An ellipse is taken if its area is at most this times that of the polygon.
const SIMPLER: f64 = 1.15;

/// The limit of a ball joint whose samples, by clips, are relative to rest.
pub(crate) fn fit(clips: &[&Rotations], bone: DVec3, options: &BallOptions) -> Option<Ball> {
    if options.model == BallModel::Box {
        return euler_box(clips, options);
    }
    let raw: Vec<Vec<DVec3>> =
        clips.iter().map(|clip| clip.iter().map(|q| q * bone).collect()).collect();
    let mut directions = Vec::with_capacity(raw.iter().map(Vec::len).sum());
    for clip in &raw {
        directions.extend_from_slice(&settled(clip, options.noise));
    }
    if options.coverage < 1.0 {
        directions = deepest(directions, options);
    }
    let mut notes = Vec::new();

    let samples = (options.model != BallModel::Ellipse).then(|| Samples::new(&directions));
    let outline = samples.as_ref().map(|samples| {
        let how = BoundaryOptions {
            corners: options.corners,
            noise: options.noise,
            ..BoundaryOptions::default()
        };
        boundary(samples, &how)
    });
    let ellipse = (options.model != BallModel::Polygon)
        .then(|| smallest_ellipse(&directions, samples.as_ref()));
    let shape = choose(outline, ellipse.flatten(), &mut notes)?;

    let middle = match &shape {
        Shape::Ellipse(ellipse) => ellipse.center,
        Shape::Polygon { middle, .. } => *middle,
        Shape::Free => bone,
    };
    // An ellipse is about its own centre; a polygon may stay where it is. Zero twist may be that of a
    // swing from rest, if the range is narrower then and its singularity is far from all directions.
    let moved = direct_rotation(bone, middle)?.rotation;
    let axis = SwingAxes::new(bone, None)?.bone();
    let how = Range { noise: options.noise, coverage: options.coverage };
    let rolls = |center: Rotation| Rolls::new(clips, axis, center, how);
    let about = directions
        .iter()
        .all(|d| d.dot(bone) > FARTHEST)
        .then(|| [rolls(Rotation::IDENTITY), rolls(moved)]);
    let from_rest =
        about.as_ref().is_some_and(|[rest, moved]| rest.width() < NARROWER * moved.width());
    let round = matches!(shape, Shape::Ellipse(_));
    let stays = !round && (from_rest || angle_between(bone, middle).radians() <= CENTERED);
    let center = if stays { Rotation::IDENTITY } else { moved };
    let back = center.inverse();
    let (axes, swing) = match shape {
        Shape::Ellipse(ellipse) => {
            let [rx, ry] =
                [ellipse.rx, ellipse.ry].map(|r| Angle::from_radians((r + options.margin).min(PI)));
            (SwingAxes::new(bone, Some(back * ellipse.x))?, SwingLimit::Ellipse { rx, ry })
        }
        Shape::Polygon { corners, .. } => {
            let corners = corners.into_iter().map(|corner| back * corner);
            let swing = SwingLimit::Polygons(vec![corners.collect()]);
            let by = Angle::from_radians(options.margin);
            let grown = SwingLimit::Grown { of: Box::new(swing.clone()), by };
            (SwingAxes::new(bone, None)?, if options.margin > 0.0 { grown } else { swing })
        }
        Shape::Free => (SwingAxes::new(bone, None)?, SwingLimit::Free),
    };

    let offset = round && from_rest;
    let zero = if offset { Rotation::IDENTITY } else { center };
    let rolls = match about {
        Some([rest, _]) if offset || stays => rest,
        Some([_, moved]) => moved,
        None => rolls(zero),
    };
    let by_swing = (options.model != BallModel::Ellipse)
        .then(|| rolls.by_swing(&raw, back, options.margin))
        .flatten();
    let bounds = match by_swing {
        Some((bounds, share)) => {
            let percent = 100.0 * share;
            notes.push(format!(
                "twist changes with the swing: at one swing {percent:.0} % of the whole range were seen on average"
            ));
            bounds
        }
        None => rolls.bounds(options.margin),
    };
    let offset = if offset { TwistOffset::From(back * bone) } else { TwistOffset::None };
    let twist = TwistLimit { bounds, offset };
    let limit = Limit::SwingTwist(SwingTwistLimit { axes, swing, twist });
    Some(Ball { center, limit, notes })
}

enum Shape {
    Free,
    Ellipse(SphericalEllipse),
    Polygon { corners: Vec<DVec3>, middle: DVec3 },
}

fn choose(
    outline: Option<Boundary>,
    ellipse: Option<SphericalEllipse>,
    notes: &mut Vec<String>,
) -> Option<Shape> {
    let (corners, middle) = match outline {
        Some(Boundary::Everything) => {
            notes.push("the bone was seen in all directions: no limit of swing".to_owned());
            return Some(Shape::Free);
        }
        Some(Boundary::Polygon { corners, middle }) => (corners, middle),
        Some(Boundary::Nothing) | None => return ellipse.map(Shape::Ellipse),
    };
    let Some(ellipse) = ellipse else { return Some(Shape::Polygon { corners, middle }) };
    let polygon = solid_angle(&corners);
    let round = ellipse_area(&ellipse);
    let percent = 100.0 * (round / polygon - 1.0);
    if round <= SIMPLER * polygon {
        notes.push(format!("ellipse: {percent:.0} % larger than the polygon, and simpler"));
        Some(Shape::Ellipse(ellipse))
    } else {
        notes.push(format!("polygon: an ellipse would be {percent:.0} % larger"));
        Some(Shape::Polygon { corners, middle })
    }
}

/// The area of an ellipse in steradians: ∫ (1 − cos r(φ)) dφ by the trapezoidal rule, which converges
/// geometrically over a period.
fn ellipse_area(ellipse: &SphericalEllipse) -> f64 {
    const STEPS: u32 = 64;
    let height = |i: u32| {
        let (sin, cos) = trig::sin_cos(2.0 * PI * f64::from(i) / f64::from(STEPS));
        let half = 0.5 / trig::length(cos / ellipse.rx, sin / ellipse.ry);
        let s = trig::sin(half);
        2.0 * s * s
    };
    (0..STEPS).map(height).sum::<f64>() * 2.0 * PI / f64::from(STEPS)
}

/// The share of directions that lies deepest in what all of them fill.
fn deepest(directions: Vec<DVec3>, options: &BallOptions) -> Vec<DVec3> {
    let how = BoundaryOptions { noise: options.noise, ..BoundaryOptions::default() };
    let Boundary::Polygon { corners, .. } = boundary(&Samples::new(&directions), &how) else {
        return directions;
    };
    let swing = SwingLimit::Polygons(vec![corners]);
    let limit = Limit::SwingTwist(SwingTwistLimit { swing, ..SwingTwistLimit::default() });
    let Ok(prepared) = limit.prepare() else { return directions };
    let Some(region) = prepared.swing() else { return directions };
    let depth = |d: &DVec3| region.distance(*d).map_or(0.0, Angle::radians);
    let mut by_depth: Vec<(f64, DVec3)> = directions.iter().map(|d| (depth(d), *d)).collect();
    by_depth.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| super::boundary::compare(a.1, b.1)));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to n")]
    let kept = (options.coverage * by_depth.len() as f64).ceil() as usize;
    by_depth.truncate(kept.max(1));
    by_depth.into_iter().map(|(_, d)| d).collect()
}

/// The paper's model: three Euler angles ZYZ, each in an arc (A8).
fn euler_box(clips: &[&Rotations], options: &BallOptions) -> Option<Ball> {
    let (mut found, degenerate) = zyz_box(clips, options.coverage)?;
    found.arcs = found.arcs.map(|arc| arcs::widened(arc, options.margin));
    Some(Ball {
        center: Rotation::IDENTITY,
        limit: Limit::EulerBox(found),
        notes: degenerate.into_iter().collect(),
    })
}
