//! Limits: what is inside, how far, and what is nearest.

use condyle::glam::{DVec2, DVec3};
use condyle::limits::{
    EulerBox, Limit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit, TwistOffset,
};
use condyle::math::{Angle, Arc, EulerOrder, Rotation, SwingAxes, trig};
use condyle::synth::Rng;
use condyle::{picture, presets};

use crate::{Hash, How};

fn arc(min: f64, max: f64) -> Arc {
    Arc::from_degrees(min, max).unwrap_or(Arc::FULL)
}

/// A closed curve about z, concave.
fn wobbly(n: u32, radius: f64) -> Vec<DVec3> {
    (0..n)
        .map(|i| {
            let a = std::f64::consts::TAU * f64::from(i) / f64::from(n);
            let r = radius * (1.0 + 0.3 * trig::sin(3.0 * a));
            let ((sa, ca), (sr, cr)) = (trig::sin_cos(a), trig::sin_cos(r));
            DVec3::new(sr * ca, sr * sa, cr)
        })
        .collect()
}

/// One of every kind and shape.
fn all_limits() -> Vec<Limit> {
    let deg = Angle::from_degrees;
    let ellipse = SwingLimit::Ellipse { rx: deg(70.0), ry: deg(30.0) };
    let swings = [
        ellipse.clone(),
        SwingLimit::Polygons(vec![wobbly(20, 0.9)]),
        SwingLimit::Polygons(vec![wobbly(60, 2.0), wobbly(7, 1.5)]),
        SwingLimit::PlanarCone(vec![DVec2::X, DVec2::Y, DVec2::new(-1.0, -0.5)]),
        SwingLimit::ReachCone { boundary: wobbly(9, 0.7), rest: DVec3::Z },
        SwingLimit::Box { alpha: arc(-40.0, 70.0), beta: arc(-20.0, 110.0) },
        SwingLimit::All(vec![
            ellipse.clone(),
            SwingLimit::Not(Box::new(SwingLimit::Polygons(vec![wobbly(5, 0.3)]))),
        ]),
        SwingLimit::Grown { of: Box::new(ellipse), by: deg(5.0) },
    ];
    let by_swing = TwistBounds::BySwing(
        wobbly(6, 1.0)
            .into_iter()
            .zip([10.0, 20.0, 30.0, 40.0, 50.0, 60.0])
            .map(|(direction, w)| TwistAt { direction, arc: arc(-w, 2.0 * w) })
            .collect(),
    );
    let axes = SwingAxes::new(DVec3::new(0.2, 0.9, -0.3), None).unwrap_or_default();
    let mut limits: Vec<Limit> = swings
        .into_iter()
        .enumerate()
        .map(|(i, swing)| {
            let bounds =
                if i % 2 == 0 { TwistBounds::Arc(arc(150.0, 250.0)) } else { by_swing.clone() };
            let offset = if i == 3 { TwistOffset::From(DVec3::X) } else { TwistOffset::None };
            Limit::SwingTwist(SwingTwistLimit { axes, swing, twist: TwistLimit { bounds, offset } })
        })
        .collect();
    limits.push(Limit::Hinge { axis: DVec3::new(1.0, 2.0, -1.0), arc: arc(-10.0, 140.0) });
    let axes = [DVec3::X, DVec3::new(0.3, 1.0, 0.1)];
    limits.push(Limit::Universal { axes, arcs: [arc(-50.0, 30.0), arc(160.0, 200.0)] });
    let arcs = [arc(-60.0, 60.0), arc(10.0, 90.0), arc(-120.0, 30.0)];
    limits.extend(EulerOrder::ALL.map(|order| Limit::EulerBox(EulerBox { order, arcs })));
    limits
}

pub(super) fn limits(how: &How) -> Hash {
    let mut rng = Rng::new(31);
    let rotations: Vec<Rotation> = (0..60).map(|_| rng.rotation()).collect();
    let hashes = how.each(&all_limits(), |limit| {
        let mut hash = Hash::default();
        let Ok(limit) = limit.prepare() else { return hash };
        for (i, &m) in rotations.iter().enumerate() {
            hash.angle(limit.distance(m));
            hash.rotation(limit.project(m));
            hash.rotation(limit.toward_rest(m));
            hash.vector(limit.gradient(m));
            hash.f64s(&limit.jacobian(m).to_cols_array());
            if i < 2 {
                hash.rotation(limit.project_rotation(m));
            }
        }
        if let Some(swing) = limit.swing() {
            hash.f64(swing.area());
            for line in swing.boundary(Angle::from_degrees(5.0)) {
                line.into_iter().for_each(|d| hash.vector(d));
            }
        }
        hash
    });
    let mut hash = Hash::default();
    hash.all(hashes);
    hash
}

pub(super) fn pictures(how: &How) -> Hash {
    let presets = presets::all();
    let hashes = how.each(&presets, |preset| {
        let mut hash = Hash::default();
        hash.option(picture::of_joint(preset.name, &preset.joint).ok(), |hash, svg| {
            hash.text(&svg);
        });
        hash
    });
    let mut hash = Hash::default();
    hash.all(hashes);
    hash
}
