//! Where a limit ends.

use std::f64::consts::TAU;

use glam::DVec3;

use super::EndOf;
use crate::limits::{Limit, PreparedLimit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds};
use crate::math::{Angle, Arc, SwingAxes, SwingKind};

/// The two ends of an angle that a limit bounds.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) of: [EndOf; 2],
    /// Radians, the lower one first.
    pub(crate) at: [f64; 2],
}

impl Bounds {
    /// `None` for the whole circle.
    fn arc(of: [EndOf; 2], arc: Arc) -> Option<Self> {
        if arc.is_full() || arc.is_empty() {
            return None;
        }
        Self::turn(of, [arc.min(), arc.max()].map(Angle::radians))
    }

    /// An angle on the circle.
    fn turn(of: [EndOf; 2], [low, high]: [f64; 2]) -> Option<Self> {
        (high - low < TAU).then_some(Self { of, at: [low, high] })
    }

    /// The angles of a limit: one of a hinge, two of a universal joint; of a ball those about x and
    /// about y, and the twist. Where one has no ends, `None` stands in its place.
    pub(crate) fn of(limit: &Limit, prepared: &PreparedLimit) -> Vec<Option<Self>> {
        match limit {
            Limit::Hinge { arc, .. } => vec![Self::arc([EndOf::Min, EndOf::Max], *arc)],
            Limit::Universal { arcs: [first, second], .. } => vec![
                Self::arc([EndOf::FirstMin, EndOf::FirstMax], *first),
                Self::arc([EndOf::SecondMin, EndOf::SecondMax], *second),
            ],
            Limit::SwingTwist(of) => {
                let extents = extents(of, prepared);
                let [x, y] = [[EndOf::XMin, EndOf::XMax], [EndOf::YMin, EndOf::YMax]];
                let twist = [EndOf::TwistMin, EndOf::TwistMax];
                let twist = match &of.twist.bounds {
                    TwistBounds::Free => None,
                    TwistBounds::Arc(arc) => Self::arc(twist, *arc),
                    TwistBounds::BySwing(at) => hull(at).and_then(|hull| Self::turn(twist, hull)),
                };
                vec![
                    extents.map(|[at, _]| Self { of: x, at }),
                    extents.map(|[_, at]| Self { of: y, at }),
                    twist,
                ]
            }
            Limit::Free | Limit::Locked | Limit::EulerBox(_) => Vec::new(),
        }
    }
}

/// From the least to the largest of the twists that are allowed somewhere.
fn hull(at: &[TwistAt]) -> Option<[f64; 2]> {
    let base = at.first()?.arc.center().radians();
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for TwistAt { arc, .. } in at {
        let middle = arc.center().radians() - base;
        let middle = base + Angle::from_radians(middle).wrapped().radians();
        let half = 0.5 * arc.width().radians();
        least = least.min(middle - half);
        most = most.max(middle + half);
    }
    Some([least, most])
}

/// The least and the largest rotation about x and about y in a region of swings; `None` if there is no
/// end of them.
fn extents(of: &SwingTwistLimit, prepared: &PreparedLimit) -> Option<[[f64; 2]; 2]> {
    if prepared.swing()?.contains(-of.axes.bone()) {
        return None;
    }
    let (shape, by) = match &of.swing {
        SwingLimit::Grown { of, by } => (of.as_ref(), by.radians()),
        shape => (shape, 0.0),
    };
    match shape {
        SwingLimit::Ellipse { rx, ry } => {
            Some([rx, ry].map(|r| [-r.radians() - by, r.radians() + by]))
        }
        SwingLimit::Polygons(polygons) => {
            let corners: Vec<Vec<[f64; 2]>> = polygons
                .iter()
                .map(|p| p.iter().map(|d| swing_of(&of.axes, *d)).collect::<Option<_>>())
                .collect::<Option<_>>()?;
            let extreme = |i: usize, sign: f64| extreme(polygons, &corners, &of.axes, i, sign);
            let extent = |i: usize| Some([extreme(i, -1.0)? - by, extreme(i, 1.0)? + by]);
            Some([extent(0)?, extent(1)?])
        }
        _ => None,
    }
}

fn swing_of(axes: &SwingAxes, direction: DVec3) -> Option<[f64; 2]> {
    Some(SwingKind::AxisAngle.coordinates(axes, direction)?.map(Angle::radians))
}

/// The largest component of the swings on a boundary, or the least if the sign is −1: at the farthest
/// corner, or on an edge beside it, which bends outwards in the plane of rotation vectors.
fn extreme(
    polygons: &[Vec<DVec3>],
    corners: &[Vec<[f64; 2]>],
    axes: &SwingAxes,
    component: usize,
    sign: f64,
) -> Option<f64> {
    const STEPS: i32 = 8;
    let all = polygons.iter().zip(corners).flat_map(|(polygon, swings)| {
        swings.iter().enumerate().map(move |(i, swing)| (sign * swing[component], polygon, i))
    });
    let (mut most, polygon, i) = all.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let n = polygon.len();
    for beside in [polygon[(i + 1) % n], polygon[(i + n - 1) % n]] {
        for k in 1..STEPS {
            let share = f64::from(k) / f64::from(STEPS);
            let between = polygon[i] * (1.0 - share) + beside * share;
            most = swing_of(axes, between).map_or(most, |swing| most.max(sign * swing[component]));
        }
    }
    Some(sign * most)
}
