//! Models of limits, fitted to the same samples: ours, the paper's, and what other tools do.

use condyle::estimate::{BallModel, EstimateOptions, Method as Way, Outliers, Take, estimate};
use condyle::limits::{EulerBox, Limit};
use condyle::math::{Angle, Arc, EulerAngles, EulerOrder, Rotation};
use condyle::motion::Clip;
use condyle::skeleton::Skeleton;

use super::Fault;
use super::o3de;

/// What limits are made from: joints that hang on one root, at rest in the identity, and clips.
#[derive(Debug)]
pub(crate) struct Training {
    pub(crate) skeleton: Skeleton,
    pub(crate) clips: Vec<Clip>,
    /// Of each joint but the root.
    pub(crate) samples: Vec<Vec<Rotation>>,
    /// The orders of the file's Euler angles, in the same order.
    pub(crate) orders: Vec<EulerOrder>,
}

/// The smallest margin in degrees with which a rotation is allowed; negative if the limit may even
/// shrink.
pub(crate) type Judge = Box<dyn Fn(Rotation) -> f64>;

/// A model of limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    pub(crate) name: &'static str,
    /// One judge per joint of the training.
    pub(crate) fit: fn(&Training) -> Result<Vec<Judge>, Fault>,
}

/// Everything that is compared.
pub(crate) fn models() -> Vec<Model> {
    let model = |name, fit| Model { name, fit };
    vec![
        model("polygon and twist by swing", |t| ours(t, BallModel::Polygon)),
        model("ellipse and twist", |t| ours(t, BallModel::Ellipse)),
        model("ZYZ box", paper),
        model("Euler min/max", |t| euler(t, plain)),
        model("Euler arcs", |t| euler(t, shortest)),
        model("O3DE's ellipse", |t| o3de::fit(t, o3de::Variant::AsDescribed)),
        model("O3DE's ellipse, all inside", |t| o3de::fit(t, o3de::Variant::AllInside)),
        model("polygon, 99.5 % coverage", |t| {
            let ball = BallModel::Polygon;
            estimated(t, &EstimateOptions { ball, coverage: 0.995, ..options() })
        }),
    ]
}

/// Degrees. What is off a limit without volume by less than this is on it.
const ON: f64 = 0.01;

/// The least margin: no range is wider.
pub(crate) const LEAST: f64 = -180.0;

/// Every sample inside, none left out: the samples are the same for all.
fn options() -> EstimateOptions {
    EstimateOptions { outliers: Outliers::Keep, raw: true, ..EstimateOptions::default() }
}

fn estimated(training: &Training, options: &EstimateOptions) -> Result<Vec<Judge>, Fault> {
    let skeleton = &training.skeleton;
    let takes: Vec<Take<'_>> = training.clips.iter().map(|clip| Take { skeleton, clip }).collect();
    let found = estimate(&takes, options)?;
    let mut judges: Vec<Judge> = Vec::new();
    for joint in skeleton.joints().iter().skip(1) {
        let entry = found.joints.get(&joint.name).ok_or("a joint without an entry")?;
        let limit = entry.limit.prepare()?;
        let back = entry.center.inverse();
        judges.push(match entry.limit {
            Limit::EulerBox(of) => Box::new(move |q| {
                let m = back * q;
                beyond(&of, m).unwrap_or_else(|| -limit.distance(m).degrees())
            }),
            Limit::Locked => Box::new(move |q| {
                let off = (back * q).angle().degrees();
                if off > ON { off } else { LEAST }
            }),
            // Degrees off the surface count as degrees beyond the ends.
            Limit::Hinge { .. } | Limit::Universal { .. } => Box::new(move |q| {
                let m = back * q;
                let outside = -limit.distance(m).degrees();
                if outside > ON {
                    return outside;
                }
                -limit.distance(limit.project_rotation(m)).degrees()
            }),
            _ => Box::new(move |q| -limit.distance(back * q).degrees()),
        });
    }
    Ok(judges)
}

/// Kinds as found, and balls as asked for.
fn ours(training: &Training, ball: BallModel) -> Result<Vec<Judge>, Fault> {
    estimated(training, &EstimateOptions { ball, ..options() })
}

/// Fixed, hinge or a box of ZYZ angles, as the paper has it.
fn paper(training: &Training) -> Result<Vec<Judge>, Fault> {
    estimated(training, &EstimateOptions { method: Way::Paper, ..options() })
}

/// Each angle of the file's own order between its ends.
fn euler(training: &Training, ends: fn(&[f64]) -> Arc) -> Result<Vec<Judge>, Fault> {
    let mut judges: Vec<Judge> = Vec::new();
    for (samples, &order) in training.samples.iter().zip(&training.orders) {
        let triples: Vec<[f64; 3]> = samples.iter().map(|q| nearest_zero(order, *q)).collect();
        let angles = |i: usize| -> Vec<f64> { triples.iter().map(|t| t[i]).collect() };
        let of = EulerBox { order, arcs: [0, 1, 2].map(|i| ends(&angles(i))) };
        judges.push(Box::new(move |q| beyond(&of, q).unwrap_or(LEAST)));
    }
    Ok(judges)
}

/// From the smallest to the largest number, as it is.
pub(super) fn plain(angles: &[f64]) -> Arc {
    let low = angles.iter().copied().fold(f64::INFINITY, f64::min);
    let high = angles.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Arc::new(Angle::from_radians(low), Angle::from_radians(high)).unwrap_or(Arc::FULL)
}

/// Everything but the largest gap on the circle.
pub(super) fn shortest(angles: &[f64]) -> Arc {
    Arc::around(angles.iter().map(|x| Angle::from_radians(*x))).unwrap_or(Arc::FULL)
}

/// The two triples of Euler angles of a rotation that is not at a lock.
fn triples(order: EulerOrder, angles: [Angle; 3]) -> [[f64; 3]; 2] {
    let [a, b, c] = angles.map(Angle::radians);
    let half = Angle::HALF_TURN.radians();
    let other = if order.is_proper() { -b } else { half - b };
    let wrap = |x: f64| Angle::from_radians(x).wrapped().radians();
    [[a, b, c], [a + half, other, c + half].map(wrap)]
}

/// The triple with the smaller angles: an angle of 120 degrees about the middle axis alone is just that,
/// and not 60 degrees between two half turns.
fn nearest_zero(order: EulerOrder, q: Rotation) -> [f64; 3] {
    EulerAngles::from_rotation(order, q).nearest([Angle::ZERO; 3]).map(Angle::radians)
}

/// By how many degrees each range has to grow for a rotation to be in a box, with either of its two
/// triples of angles. `None` at a lock of a box like the paper's, where there are more.
fn beyond(of: &EulerBox, m: Rotation) -> Option<f64> {
    let found = EulerAngles::from_rotation(of.order, m);
    if of.order.is_proper() && found.lock.is_some() {
        return None;
    }
    let growth = |angles: [f64; 3]| {
        let each = angles.iter().zip(of.arcs).map(|(x, arc)| axis(arc, Angle::from_radians(*x)));
        each.fold(LEAST, f64::max)
    };
    let [one, other] = triples(of.order, found.angles);
    Some(growth(one).min(growth(other)))
}

/// Degrees. A range narrower than this is an axis that a joint does not have, and does not shrink.
const NARROW: f64 = 1.0;

/// By how many degrees one range has to grow.
pub(super) fn axis(arc: Arc, angle: Angle) -> f64 {
    let outside = -arc.distance(angle).degrees();
    let narrow = arc.width().degrees() < NARROW;
    if narrow && outside < ON { LEAST } else { outside.max(LEAST) }
}
