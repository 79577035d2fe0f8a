//! A limit in numbers.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use crate::limits::{
    Limit, LimitError, PreparedLimit, PreparedSwing, SwingLimit, SwingTwistLimit, TwistBounds,
    TwistLimit, TwistOffset,
};
use crate::math::{Angle, Arc, Axis, Rotation, SwingAxes, SwingKind, trig};
use crate::rig::{End, EndOf};

/// What a limit allows, in numbers.
///
/// ```
/// use condyle::limits::{Limit, SwingLimit, SwingTwistLimit};
/// use condyle::math::{Angle, Rotation};
/// use condyle::picture::Figures;
///
/// let deg = Angle::from_degrees;
/// let swing = SwingLimit::Ellipse { rx: deg(60.0), ry: deg(60.0) };
/// let limit = Limit::SwingTwist(SwingTwistLimit { swing, ..SwingTwistLimit::default() });
/// let figures = Figures::of(&limit, Rotation::IDENTITY)?;
/// let swing = figures.swing.ok_or("no swing")?;
/// assert!((swing.share() - 0.25).abs() < 1e-9);
/// assert!((swing.x[1].degrees() - 60.0).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Figures {
    /// The name of its shape in a rig document.
    pub shape: &'static str,
    /// The angles that are limited one by one: one of a hinge, two of a universal joint, three of an
    /// Euler box. Each has a name: `angle`; `first`, `second`; the letters of the order.
    pub arcs: Vec<(&'static str, Arc)>,
    /// Swing and twist, if it is a limit of these.
    pub swing: Option<SwingFigures>,
    /// Whether the rest pose is allowed.
    pub rest_inside: bool,
    /// How far the rest pose is outside; zero if it is inside.
    pub rest_excess: Angle,
}

/// Where a bone may point and how far it may roll, in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwingFigures {
    /// The name of the region's shape in a rig document.
    pub shape: &'static str,
    /// The name of the twist's shape in a rig document.
    pub twist_shape: &'static str,
    /// The area of the region on the unit sphere, in steradians.
    pub area_sr: f64,
    /// The least and the largest swing about x (the components of the rotation vector), to
    /// 0.002°. If −bone is inside, half a turn both ways.
    pub x: [Angle; 2],
    /// The same about y.
    pub y: [Angle; 2],
    /// The largest angle from the bone.
    pub farthest: Angle,
    /// Every twist that is allowed somewhere: the shortest arc about the ranges at about two thousand
    /// directions inside, corners and given directions among them. Where zero twist is that of a
    /// swing from another direction ([`TwistOffset::From`]), it is counted from there, as the ends
    /// of an estimate are.
    pub twist: Arc,
    /// The widths of the narrowest and of the widest of these ranges.
    pub twist_width: [Angle; 2],
}

impl SwingFigures {
    /// The region's share of the sphere, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        (self.area_sr / (2.0 * TAU)).clamp(0.0, 1.0)
    }

    /// Whether every twist is allowed, wherever the bone points. [`twist`](Self::twist) may be the
    /// whole circle without, when the range turns with the swing.
    #[must_use]
    pub fn is_any_twist(&self) -> bool {
        self.twist_width[0].radians() >= TAU
    }

    /// The half-angle of the cone about the bone with the same area.
    ///
    /// A cap of half-angle a has the area 2π (1 − cos a) = 4π sin² a/2.
    #[must_use]
    pub fn cone(&self) -> Angle {
        Angle::from_radians(2.0 * trig::asin(self.share().sqrt()))
    }
}

impl Figures {
    /// Of a limit whose zero is at `center` relative to the rest pose.
    ///
    /// # Errors
    ///
    /// If the limit cannot be prepared.
    pub fn of(limit: &Limit, center: Rotation) -> Result<Self, LimitError> {
        Ok(Self::of_prepared(limit, &limit.prepare()?, center))
    }

    /// The ends of this limit with their angles in the turn in which its ranges are shown: `shown` has the two
    /// ends of a range as they are told, such as [`Arc::ends_about_zero`]. A range and what is said of its ends
    /// may be whole turns apart, where a limit is written from −195° and told from 165°.
    #[must_use]
    pub fn in_turn(&self, ends: &[End], shown: impl Fn(Arc) -> [Angle; 2]) -> Vec<End> {
        use EndOf::{FirstMax, FirstMin, Max, Min, SecondMax, SecondMin, TwistMax, TwistMin};
        let range = |of: EndOf| {
            let arc = match of {
                Min | Max | FirstMin | FirstMax => self.arcs.first().map(|(_, arc)| *arc),
                SecondMin | SecondMax => self.arcs.get(1).map(|(_, arc)| *arc),
                TwistMin | TwistMax => self.swing.map(|swing| swing.twist),
                _ => None,
            };
            arc.filter(|arc| !arc.is_full() && !arc.is_empty())
        };
        let turned = |end: &End| {
            let Some([low, high]) = range(end.of).map(&shown) else { return *end };
            let there = if end.of.is_upper() { high } else { low };
            let by = TAU * ((there.radians() - end.at.radians()) / TAU).round();
            // What is in the same turn keeps its digits.
            if by == 0.0 { *end } else { end.turned(Angle::from_radians(by)) }
        };
        ends.iter().map(turned).collect()
    }

    pub(crate) fn of_prepared(limit: &Limit, prepared: &PreparedLimit, center: Rotation) -> Self {
        let rest = center.inverse();
        let swing = match (limit, prepared.swing()) {
            (Limit::SwingTwist(of), Some(swing)) => Some(swing_figures(of, swing)),
            _ => None,
        };
        let rest_inside = prepared.contains(rest);
        let excess = if rest_inside { 0.0 } else { -prepared.distance(rest).radians() };
        Self {
            shape: limit_shape(limit),
            arcs: arcs(limit),
            swing,
            rest_inside,
            rest_excess: Angle::from_radians(excess.max(0.0)),
        }
    }
}

fn arcs(limit: &Limit) -> Vec<(&'static str, Arc)> {
    match limit {
        Limit::Hinge { arc, .. } => vec![("angle", *arc)],
        Limit::Universal { arcs: [a, b], .. } => vec![("first", *a), ("second", *b)],
        Limit::EulerBox(of) => {
            let letter = |axis| match axis {
                Axis::X => "X",
                Axis::Y => "Y",
                Axis::Z => "Z",
            };
            of.order.axes().map(letter).into_iter().zip(of.arcs).collect()
        }
        _ => Vec::new(),
    }
}

fn limit_shape(limit: &Limit) -> &'static str {
    match limit {
        Limit::Free => "free",
        Limit::Locked => "locked",
        Limit::Hinge { .. } => "arc",
        Limit::Universal { .. } => "arcs",
        Limit::EulerBox(_) => "euler_box",
        Limit::SwingTwist(_) => "swing_twist",
    }
}

fn swing_shape(swing: &SwingLimit) -> &'static str {
    match swing {
        SwingLimit::Free => "free",
        SwingLimit::Ellipse { .. } => "ellipse",
        SwingLimit::Polygons(_) => "polygon",
        SwingLimit::PlanarCone(_) => "cone_planar",
        SwingLimit::ReachCone { .. } => "reach_cone",
        SwingLimit::Box { .. } => "box",
        SwingLimit::All(_) => "all",
        SwingLimit::Any(_) => "any",
        SwingLimit::Not(_) => "not",
        SwingLimit::Grown { .. } => "grown",
        SwingLimit::Custom(_) => "custom",
    }
}

/// Points of a boundary and their swings, which have the extremes among them.
///
/// A direction is mapped to its rotation vector one to one except at −bone, so what is largest over a
/// region is largest on its boundary, unless −bone is inside.
pub(super) fn swings(swing: PreparedSwing<'_>, axes: &SwingAxes) -> Vec<(DVec3, [f64; 2])> {
    // Between points of a smooth curve with curvature up to 5 the extreme is missed by 5·step²/8.
    let step = Angle::from_degrees(0.4);
    let points = swing.boundary(step).into_iter().flatten();
    let of = |d: DVec3| {
        let [x, y] = SwingKind::AxisAngle.coordinates(axes, d)?.map(Angle::radians);
        Some((d, [x, y]))
    };
    points.filter_map(of).collect()
}

fn swing_figures(limit: &SwingTwistLimit, swing: PreparedSwing<'_>) -> SwingFigures {
    let axes = &limit.axes;
    let boundary = swings(swing, axes);
    let extent = |component: usize| {
        if swing.contains(-axes.bone()) {
            return [-PI, PI];
        }
        let of = boundary.iter().map(|(_, s)| s[component]);
        let (low, high) =
            of.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), s| (low.min(s), high.max(s)));
        if low <= high { [low, high] } else { [0.0, 0.0] }
    };
    let farthest = if swing.contains(-axes.bone()) {
        PI
    } else {
        boundary.iter().map(|(_, [x, y])| trig::hypot(*x, *y)).fold(0.0, f64::max)
    };
    let (twist, twist_width) = twists(limit, swing, &boundary);
    SwingFigures {
        shape: swing_shape(&limit.swing),
        twist_shape: match limit.twist.bounds {
            TwistBounds::Free => "free",
            TwistBounds::Arc(_) => "arc",
            TwistBounds::BySwing(_) => "by_swing",
        },
        area_sr: swing.area(),
        x: extent(0).map(Angle::from_radians),
        y: extent(1).map(Angle::from_radians),
        farthest: Angle::from_radians(farthest.min(PI)),
        twist,
        twist_width: twist_width.map(Angle::from_radians),
    }
}

/// The shortest arc about all ranges of twist, and the least and the largest of their widths.
fn twists(
    limit: &SwingTwistLimit,
    swing: PreparedSwing<'_>,
    boundary: &[(DVec3, [f64; 2])],
) -> (Arc, [f64; 2]) {
    const COUNT: u32 = 2000;
    // The golden angle: each point of the spiral keeps away from the others.
    let golden = PI * (3.0 - 5.0_f64.sqrt());
    let spiral = (0..COUNT).map(|i| {
        let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(COUNT);
        let (sin, cos) = trig::sin_cos(golden * f64::from(i));
        let across = (1.0 - z * z).max(0.0).sqrt();
        limit.axes.vector(DVec3::new(cos * across, sin * across, z))
    });
    // From the limit's own zero where that is another than the bone's: as a range, not as the arc that
    // it covers while the bone swings.
    let own = match &limit.twist.offset {
        TwistOffset::From(_) => {
            let twist = TwistLimit { offset: TwistOffset::None, ..limit.twist.clone() };
            Limit::SwingTwist(SwingTwistLimit { twist, ..limit.clone() }).prepare().ok()
        }
        TwistOffset::None | TwistOffset::BySwing(_) => None,
    };
    let ranged = own.as_ref().and_then(PreparedLimit::swing).unwrap_or(swing);
    let given: Vec<DVec3> = match &limit.twist.bounds {
        TwistBounds::BySwing(at) => at.iter().map(|t| t.direction).collect(),
        _ => Vec::new(),
    };
    let inside = spiral.chain(given).chain([swing.rest()]).filter(|d| swing.contains(*d));
    let directions = inside.chain(boundary.iter().step_by(4).map(|(d, _)| *d));
    let mut ranges: Vec<Arc> = directions.filter_map(|d| ranged.twist(d)).collect();
    let widths = ranges.iter().map(|r| r.width().radians());
    let (narrow, wide) =
        widths.fold((TAU, 0.0), |(a, b): (f64, f64), width| (a.min(width), b.max(width)));
    ranges.dedup();
    (hull(ranges), [narrow, wide])
}

/// The shortest arc that has all of these in it.
fn hull(mut arcs: Vec<Arc>) -> Arc {
    arcs.retain(|a| !a.is_empty());
    if arcs.iter().any(|a| a.is_full()) {
        return Arc::FULL;
    }
    arcs.sort_by(|a, b| a.min().radians().total_cmp(&b.min().radians()));
    let Some(first) = arcs.first() else { return Arc::EMPTY };
    // Once around: where nothing reaches to the next beginning there is a gap. Those that pass ±π
    // reach into the beginning of the circle.
    let mut reach = arcs.iter().map(|a| a.max().radians() - TAU).fold(f64::NEG_INFINITY, f64::max);
    let mut gap = (f64::NEG_INFINITY, first.min().radians(), reach);
    for arc in &arcs {
        let (min, max) = (arc.min().radians(), arc.max().radians());
        if min - reach > gap.0 {
            gap = (min - reach, min, reach);
        }
        reach = reach.max(max);
    }
    if gap.0 <= 0.0 {
        return Arc::FULL;
    }
    let (_, min, before) = gap;
    // The end as it was given, where it needs no turn.
    let max = if before < min - PI && reach - TAU == before { reach } else { before + TAU };
    let max = if max < min { max + TAU } else { max };
    Arc::new(Angle::from_radians(min), Angle::from_radians(max)).unwrap_or(Arc::FULL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    fn arc(min: f64, max: f64) -> Arc {
        Arc::from_degrees(min, max).unwrap()
    }

    #[test]
    fn ends_come_into_the_turn_in_which_their_range_is_shown() {
        let end = |of, at| {
            let at = Angle::from_degrees(at);
            End { of, at, reached: Some(at), visits: 3, interval: Some([at; 2]), open: None }
        };
        let axes = [DVec3::X, DVec3::Y];
        let arcs = [arc(127.0, 414.0), arc(-20.0, 45.0)];
        let limit = Limit::Universal { axes, arcs };
        let figures = Figures::of(&limit, Rotation::IDENTITY).unwrap();
        let ends = [
            end(EndOf::FirstMin, 127.0),
            end(EndOf::FirstMax, 54.0),
            end(EndOf::SecondMin, -20.1),
            end(EndOf::SecondMax, 405.0),
            end(EndOf::XMin, 400.0),
        ];
        let degrees = |ends: Vec<End>| -> Vec<f64> {
            let same = |end: &End| [end.reached, end.interval.map(|[low, _]| low)];
            assert!(ends.iter().all(|end| same(end) == [Some(end.at); 2]));
            ends.iter().map(|end| (10.0 * end.at.degrees()).round() / 10.0).collect()
        };
        let plain = figures.in_turn(&ends, |arc| [arc.min(), arc.max()]);
        assert_eq!(plain[2].at, ends[2].at, "what is in the same turn keeps its digits");
        assert_eq!(degrees(plain), [127.0, 414.0, -20.1, 45.0, 400.0]);
        let shown = figures.in_turn(&ends, Arc::ends_about_zero);
        assert_eq!(degrees(shown), [-233.0, 54.0, -20.1, 45.0, 400.0]);
    }

    #[test]
    fn the_hull_of_one_arc_is_that_arc() {
        for a in [arc(-40.0, 70.0), arc(170.0, 200.0), arc(10.0, 10.0), arc(-179.0, 179.0)] {
            let h = hull(vec![a, a]);
            assert_eq!(h.min(), a.min(), "{a:?} {h:?}");
            assert!((h.max() - a.max()).radians().abs() < 1e-12, "{a:?} {h:?}");
        }
        assert!(hull(vec![Arc::FULL, arc(0.0, 1.0)]).is_full());
        assert!(hull(Vec::new()).is_empty());
    }

    #[test]
    fn the_hull_of_some_arcs_holds_them_and_is_the_shortest() {
        let mut rng = Rng::new(7);
        for _ in 0..500 {
            let arcs: Vec<Arc> = (0..1 + rng.below(5))
                .map(|_| {
                    let min = rng.between(-180.0, 180.0);
                    arc(min, min + rng.between(0.0, 150.0))
                })
                .collect();
            let got = hull(arcs.clone());
            // By trying all arcs that begin where one of them begins.
            let least = arcs
                .iter()
                .map(|start| {
                    let from = start.min().radians();
                    let end = |a: &Arc| {
                        let at = (a.min().radians() - from).rem_euclid(TAU);
                        at + a.width().radians()
                    };
                    arcs.iter().map(end).fold(0.0, f64::max)
                })
                .fold(TAU, f64::min);
            assert!((got.width().radians() - least).abs() < 1e-9, "{arcs:?} {got:?} {least}");
            for a in &arcs {
                for end in [a.min(), a.max()] {
                    assert!(got.distance(end).radians() > -1e-9, "{arcs:?} {got:?}");
                }
            }
        }
    }
}
