//! Shapes that every test meets.

use std::f64::consts::PI;
use std::sync;

use glam::{DVec2, DVec3};

use super::{SwingLimit, SwingShape};
use crate::math::{Angle, Arc, Swing, trig, unit};

pub(crate) fn deg(d: f64) -> Angle {
    Angle::from_degrees(d)
}

pub(crate) fn arc(min: f64, max: f64) -> Arc {
    Arc::from_degrees(min, max).unwrap()
}

pub(crate) fn dir(x: f64, y: f64, z: f64) -> DVec3 {
    unit(DVec3::new(x, y, z)).unwrap()
}

/// A closed curve about z whose angle from it wobbles.
pub(crate) fn wobbly(n: u32, radius: f64, wobble: f64, waves: f64) -> Vec<DVec3> {
    (0..n)
        .map(|i| {
            let a = 2.0 * PI * f64::from(i) / f64::from(n);
            let r = radius * (1.0 + wobble * trig::sin(waves * a));
            let ((sa, ca), (sr, cr)) = (trig::sin_cos(a), trig::sin_cos(r));
            DVec3::new(sr * ca, sr * sa, cr)
        })
        .collect()
}

fn turned(points: Vec<DVec3>, axis: DVec3, degrees: f64) -> Vec<DVec3> {
    let r = crate::math::Rotation::from_axis_angle(axis, deg(degrees)).unwrap();
    points.into_iter().map(|p| r * p).collect()
}

/// A function of a user: a flower.
#[derive(Debug)]
pub(crate) struct Flower;

impl SwingShape for Flower {
    fn value(&self, swing: Swing) -> f64 {
        let (x, y) = (swing.x.radians(), swing.y.radians());
        let a = trig::atan2(y, x);
        trig::hypot(x, y) - (0.8 + 0.2 * trig::cos(3.0 * a))
    }
}

/// Every kind of region, each with what is special about it.
pub(crate) fn zoo() -> Vec<(&'static str, SwingLimit)> {
    let ellipse = |rx, ry| SwingLimit::Ellipse { rx: deg(rx), ry: deg(ry) };
    let polygon = |p: Vec<DVec3>| SwingLimit::Polygons(vec![p]);
    let reversed = |mut p: Vec<DVec3>| {
        p.reverse();
        p
    };
    vec![
        ("round ellipse", ellipse(40.0, 40.0)),
        ("ellipse", ellipse(60.0, 25.0)),
        ("tall ellipse", ellipse(10.0, 120.0)),
        ("huge ellipse", ellipse(170.0, 100.0)),
        ("needle ellipse", ellipse(90.0, 0.5)),
        ("triangle", polygon(vec![dir(0.3, 0.5, 1.0), dir(-0.6, 0.1, 1.0), dir(0.4, -0.8, 1.0)])),
        ("concave polygon", polygon(wobbly(20, 0.8, 0.35, 4.0))),
        ("larger than a hemisphere", polygon(wobbly(20, 2.1, 0.15, 3.0))),
        ("two hundred edges", polygon(wobbly(200, 1.1, 0.2, 5.0))),
        (
            "polygon with a hole",
            SwingLimit::Polygons(vec![
                wobbly(12, 1.2, 0.1, 2.0),
                reversed(turned(wobbly(5, 0.3, 0.0, 1.0), DVec3::Y, 20.0)),
            ]),
        ),
        (
            "two polygons intersected",
            SwingLimit::Polygons(vec![
                wobbly(7, 1.0, 0.1, 2.0),
                turned(wobbly(9, 0.9, 0.2, 3.0), DVec3::X, 50.0),
            ]),
        ),
        (
            "planar cone",
            SwingLimit::PlanarCone(vec![
                DVec2::new(1.0, -0.5),
                DVec2::new(0.9, 2.0),
                DVec2::new(0.1, 0.3),
                DVec2::new(-1.5, 0.2),
            ]),
        ),
        (
            "reach cone",
            SwingLimit::ReachCone {
                boundary: reversed(turned(wobbly(8, 1.0, 0.3, 2.0), DVec3::X, 25.0)),
                rest: dir(0.0, -0.4, 1.0),
            },
        ),
        ("box", SwingLimit::Box { alpha: arc(-30.0, 80.0), beta: arc(-20.0, 50.0) }),
        ("box around", SwingLimit::Box { alpha: arc(-180.0, 180.0), beta: arc(-20.0, 50.0) }),
        ("box over the pole", SwingLimit::Box { alpha: arc(-40.0, 50.0), beta: arc(30.0, 130.0) }),
        ("thin box", SwingLimit::Box { alpha: arc(100.0, 101.0), beta: arc(-80.0, 80.0) }),
        (
            "ellipse without a bite",
            SwingLimit::All(vec![
                ellipse(60.0, 50.0),
                SwingLimit::Not(Box::new(polygon(turned(
                    wobbly(5, 0.5, 0.0, 1.0),
                    DVec3::X,
                    45.0,
                )))),
            ]),
        ),
        (
            "box or cap",
            SwingLimit::Any(vec![
                SwingLimit::Box { alpha: arc(-30.0, 80.0), beta: arc(-20.0, 50.0) },
                polygon(turned(wobbly(9, 0.6, 0.0, 1.0), DVec3::X, -40.0)),
            ]),
        ),
        (
            "grown polygon",
            SwingLimit::Grown { of: Box::new(polygon(wobbly(8, 0.7, 0.3, 2.0))), by: deg(8.0) },
        ),
        (
            "shrunk polygon",
            SwingLimit::Grown { of: Box::new(polygon(wobbly(8, 0.9, 0.3, 2.0))), by: deg(-8.0) },
        ),
        ("grown ellipse", SwingLimit::Grown { of: Box::new(ellipse(60.0, 30.0)), by: deg(10.0) }),
        ("flower", SwingLimit::Custom(sync::Arc::new(Flower))),
    ]
}
