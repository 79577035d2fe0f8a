//! A ball joint: where its bone points, and how far it rolls.

use std::f64::consts::PI;

use glam::DVec3;

use super::arcs::{self, Range};
use super::boundary::{Boundary, BoundaryOptions, boundary, emptiest, solid_angle};
use super::directions::settled;
use super::ellipse::{SphericalEllipse, smallest_ellipse};
use super::options::BallModel;
use super::paper::zyz_box;
use crate::limits::{
    Limit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit, TwistOffset,
};
use crate::math::{
    Angle, Arc, Level, Rotation, Rotations, SwingAxes, angle_between, batch, direct_rotation, trig,
};

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

/// Fewer samples do not show how the twist depends on the swing.
const ENOUGH_FOR_TWIST: usize = 400;

/// Nodes of twist are this far apart, about: 25°.
const NODE_SPACING: f64 = 25.0 * PI / 180.0;

const MAX_NODES: usize = 32;

/// A node needs so many samples around it.
const NODE_SAMPLES: usize = 12;

/// The limit of a ball joint whose samples, by clips, are relative to rest.
pub(crate) fn fit(clips: &[&Rotations], bone: DVec3, options: &BallOptions) -> Option<Ball> {
    if options.model == BallModel::Box {
        return euler_box(clips, options);
    }
    let raw: Vec<Vec<DVec3>> =
        clips.iter().map(|clip| clip.iter().map(|q| q * bone).collect()).collect();
    let mut directions: Vec<DVec3> =
        raw.iter().flat_map(|clip| settled(clip, options.noise)).collect();
    if options.coverage < 1.0 {
        directions = deepest(directions, options);
    }
    let mut notes = Vec::new();

    let outline = (options.model != BallModel::Ellipse).then(|| {
        let how = BoundaryOptions {
            corners: options.corners,
            noise: options.noise,
            ..BoundaryOptions::default()
        };
        boundary(&directions, &how)
    });
    let ellipse = (options.model != BallModel::Polygon).then(|| smallest_ellipse(&directions));
    let shape = choose(outline, ellipse.flatten(), &mut notes)?;

    let middle = match &shape {
        Shape::Ellipse(ellipse) => ellipse.center,
        Shape::Polygons(_) => -emptiest(&directions)?,
        Shape::Free => bone,
    };
    // An ellipse is about its own centre; a polygon may stay where it is. Zero twist may be that of a
    // swing from rest, if the range is narrower then and its singularity is far from all directions.
    let moved = direct_rotation(bone, middle)?.rotation;
    let axis = SwingAxes::new(bone, None)?.bone();
    let rolls = |center: Rotation| Rolls::new(clips, axis, center, options);
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
        Shape::Polygons(mut polygons) => {
            polygons.iter_mut().flatten().for_each(|corner| *corner = back * *corner);
            let swing = SwingLimit::Polygons(polygons);
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
    let bounds = twist_bounds(&raw, back, &rolls, options, &mut notes);
    let offset = if offset { TwistOffset::From(back * bone) } else { TwistOffset::None };
    let twist = TwistLimit { bounds, offset };
    let limit = Limit::SwingTwist(SwingTwistLimit { axes, swing, twist });
    Some(Ball { center, limit, notes })
}

enum Shape {
    Free,
    Ellipse(SphericalEllipse),
    Polygons(Vec<Vec<DVec3>>),
}

fn choose(
    outline: Option<Boundary>,
    ellipse: Option<SphericalEllipse>,
    notes: &mut Vec<String>,
) -> Option<Shape> {
    let polygons = match outline {
        Some(Boundary::Everything) => {
            notes.push("the bone was seen in all directions: no limit of swing".to_owned());
            return Some(Shape::Free);
        }
        Some(Boundary::Polygons(polygons)) => polygons,
        Some(Boundary::Nothing) | None => return ellipse.map(Shape::Ellipse),
    };
    let Some(ellipse) = ellipse else { return Some(Shape::Polygons(polygons)) };
    let polygon: f64 = polygons.iter().map(|p| solid_angle(p)).sum();
    let round = ellipse_area(&ellipse);
    let percent = 100.0 * (round / polygon - 1.0);
    if round <= SIMPLER * polygon {
        notes.push(format!("ellipse: {percent:.0} % larger than the polygon, and simpler"));
        Some(Shape::Ellipse(ellipse))
    } else {
        notes.push(format!("polygon: an ellipse would be {percent:.0} % larger"));
        Some(Shape::Polygons(polygons))
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
    let Boundary::Polygons(polygons) = boundary(&directions, &how) else { return directions };
    let swing = SwingLimit::Polygons(polygons);
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

/// Where the bone points and how it is rolled.
#[derive(Clone, Copy, Debug)]
struct Spin {
    direction: DVec3,
    twist: f64,
}

/// The twist of every sample about a zero, by clips, and the arc of them.
struct Rolls {
    twists: Vec<Vec<f64>>,
    arc: Option<Arc>,
}

impl Rolls {
    fn new(clips: &[&Rotations], axis: DVec3, center: Rotation, options: &BallOptions) -> Self {
        let twists: Vec<Vec<f64>> = clips
            .iter()
            .map(|clip| {
                let mut twists = vec![0.0; clip.len()];
                let level = Level::best();
                batch::angles_about(level, center.inverse(), axis, clip, &mut twists);
                twists
            })
            .collect();
        let how = Range { noise: options.noise, coverage: options.coverage };
        let arc = arcs::range(&twists, how);
        Self { twists, arc }
    }

    /// Radians.
    fn width(&self) -> f64 {
        self.arc.map_or(2.0 * PI, |arc| arc.width().radians())
    }
}

/// The range of twist: one arc, or one that changes with the swing where samples show that. Directions
/// are given as they were seen, by clips.
fn twist_bounds(
    directions: &[Vec<DVec3>],
    back: Rotation,
    rolls: &Rolls,
    options: &BallOptions,
    notes: &mut Vec<String>,
) -> TwistBounds {
    let Some(arc) = rolls.arc else { return TwistBounds::Free };
    if arc.is_full() {
        return TwistBounds::Free;
    }
    let plain = TwistBounds::Arc(arcs::widened(arc, options.margin));
    let count: usize = directions.iter().map(Vec::len).sum();
    if count < ENOUGH_FOR_TWIST || options.model == BallModel::Ellipse {
        return plain;
    }
    let spin = |(d, twist): (&DVec3, &f64)| Spin { direction: back * *d, twist: *twist };
    let clips: Vec<Vec<Spin>> = directions
        .iter()
        .zip(&rolls.twists)
        .map(|(clip, twists)| clip.iter().zip(twists).map(spin).collect())
        .collect();
    match by_swing(&clips, arc, options) {
        Some((at, share)) => {
            notes.push(format!(
                "twist changes with the swing: {:.0} % of the whole range on average",
                100.0 * share
            ));
            TwistBounds::BySwing(at)
        }
        None => plain,
    }
}

/// Arcs of twist at some directions, and how wide they are on average compared with one for all.
/// `None` if they are not much narrower, or would not hold all samples.
fn by_swing(clips: &[Vec<Spin>], arc: Arc, options: &BallOptions) -> Option<(Vec<TwistAt>, f64)> {
    let all: Vec<Spin> = clips.iter().flatten().copied().collect();
    // Twists without jumps: from the start of the arc up.
    let start = arc.min().radians() - 0.5 * (2.0 * PI - arc.width().radians());
    let lift = |twist: f64| start + (twist - start).rem_euclid(2.0 * PI);
    let directions: Vec<DVec3> = all.iter().map(|s| s.direction).collect();
    let nodes = spread_nodes(&directions);
    let mut ranges = Vec::new();
    for node in nodes {
        let near = |spin: &&Spin| spin.direction.dot(node) > NODE_NEAR;
        let per_clip: Vec<Vec<f64>> =
            clips.iter().map(|clip| clip.iter().filter(near).map(|s| s.twist).collect()).collect();
        if per_clip.iter().map(Vec::len).sum::<usize>() < NODE_SAMPLES {
            continue;
        }
        let how = Range { noise: options.noise, coverage: 1.0 };
        let local = arcs::range(&per_clip, how)?;
        if local.is_full() {
            return None;
        }
        let low = lift(local.min().radians()).min(lift(local.max().radians()));
        ranges.push((node, [low, low + local.width().radians()]));
    }
    if ranges.len() < 3 {
        return None;
    }
    // Where the range between nodes leaves a sample out, the nodes nearest to it take it in.
    for _ in 0..4 {
        let at = bounds_at(&ranges, options.margin)?;
        let prepared = Limit::SwingTwist(SwingTwistLimit {
            twist: TwistLimit { bounds: TwistBounds::BySwing(at.clone()), ..TwistLimit::default() },
            ..SwingTwistLimit::default()
        })
        .prepare()
        .ok()?;
        let region = prepared.swing()?;
        let mut left_out = 0;
        let mut width = 0.0;
        for spin in &all {
            let here = region.twist(spin.direction)?;
            width += here.width().radians();
            let excess = -here.distance(Angle::from_radians(spin.twist)).radians();
            // The outermost samples are outside anyway, by as much as the noise.
            if excess > 2.0 * options.noise + 1e-9 {
                left_out += 1;
                let twist = lift(spin.twist);
                let mut near: Vec<usize> = (0..ranges.len()).collect();
                near.sort_by(|a, b| {
                    let to = |i: usize| spin.direction.dot(ranges[i].0);
                    to(*b).total_cmp(&to(*a))
                });
                for i in near.into_iter().take(3) {
                    let [low, high] = &mut ranges[i].1;
                    *low = low.min(twist + 2.0 * options.noise);
                    *high = high.max(twist - 2.0 * options.noise);
                }
            }
        }
        let share = width / (all.len() as f64 * arc.width().radians());
        if left_out == 0 {
            return (share < 0.8).then_some((at, share));
        }
        if share >= 0.8 {
            return None;
        }
    }
    None
}

/// The cosine of how near to a node samples count: a little more than the spacing.
pub(super) const NODE_NEAR: f64 = 0.882_947_592_858_926_9;

fn bounds_at(ranges: &[(DVec3, [f64; 2])], margin: f64) -> Option<Vec<TwistAt>> {
    ranges
        .iter()
        .map(|&(direction, [low, high])| {
            let arc = Arc::new(Angle::from_radians(low), Angle::from_radians(high))?;
            Some(TwistAt { direction, arc: arcs::widened(arc, margin) })
        })
        .collect()
}

/// Directions of samples, each far from those before, until none is.
pub(super) fn spread_nodes(all: &[DVec3]) -> Vec<DVec3> {
    // Whatever the order of clips.
    let Some(first) = all.iter().copied().min_by(|a, b| super::boundary::compare(*a, *b)) else {
        return Vec::new();
    };
    let farthest_first =
        |from: DVec3| all.iter().min_by(|a, b| a.dot(from).total_cmp(&b.dot(from))).copied();
    let Some(start) = farthest_first(first) else { return Vec::new() };
    let mut nodes = vec![start];
    let mut nearest: Vec<f64> = all.iter().map(|d| d.dot(start)).collect();
    let (_, spacing) = trig::sin_cos(NODE_SPACING);
    while nodes.len() < MAX_NODES {
        let Some((i, most)) =
            nearest.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))
        else {
            break;
        };
        if most > spacing {
            break;
        }
        let node = all[i];
        nodes.push(node);
        for (near, direction) in nearest.iter_mut().zip(all) {
            *near = near.max(direction.dot(node));
        }
    }
    nodes
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
