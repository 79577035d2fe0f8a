//! Rigs with every shape, with numbers that exist in degrees.

use condyle::glam::{DVec2, DVec3};
use condyle::limits::{
    EulerBox, Limit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit, TwistOffset,
};
use condyle::math::{Angle, Arc, EulerOrder, Rotation, SwingAxes};
use condyle::rig::{End, EndOf, JointKind, LeftOut, Open, Rig, RigJoint, RigJoints, Soft, Source};
use condyle::skeleton::{EndSite, Joint, Skeleton};
use condyle::synth::Rng;

/// Degrees with up to three digits after the point, or with all that a double has.
fn degrees(rng: &mut Rng, low: f64, high: f64) -> f64 {
    let d = rng.between(low, high);
    match rng.below(4) {
        0 => d,
        1 => d.trunc(),
        2 => (d * 10.0).trunc() / 10.0,
        _ => (d * 1000.0).trunc() / 1000.0,
    }
}

fn angle(rng: &mut Rng, low: f64, high: f64) -> Angle {
    Angle::from_degrees(degrees(rng, low, high))
}

fn arc(rng: &mut Rng) -> Arc {
    if rng.chance(0.1) {
        return Arc::FULL;
    }
    let min = degrees(rng, -179.0, 179.0);
    let width = if rng.chance(0.1) { 0.0 } else { rng.between(0.0, 359.0).trunc() };
    Arc::from_degrees(min, min + width).unwrap()
}

fn directions(rng: &mut Rng) -> Vec<DVec3> {
    let n = 3 + rng.below(5);
    (0..n).map(|_| direction(rng)).collect()
}

fn direction(rng: &mut Rng) -> DVec3 {
    match rng.below(4) {
        0 => DVec3::X,
        1 => -DVec3::Z,
        _ => rng.direction(),
    }
}

fn rotation(rng: &mut Rng) -> Rotation {
    if rng.chance(0.3) { Rotation::IDENTITY } else { rng.rotation() }
}

/// Every shape without parts, then those with.
fn swing(rng: &mut Rng, depth: usize) -> SwingLimit {
    let parts = |rng: &mut Rng| (0..rng.below(3)).map(|_| swing(rng, depth + 1)).collect();
    match rng.below(if depth < 4 { 10 } else { 6 }) {
        0 => SwingLimit::Free,
        1 => SwingLimit::Ellipse { rx: angle(rng, 0.0, 180.0), ry: angle(rng, 0.0, 180.0) },
        2 => SwingLimit::Polygons((0..=rng.below(2)).map(|_| directions(rng)).collect()),
        3 => SwingLimit::PlanarCone(
            (0..3 + rng.below(4)).map(|_| DVec2::new(rng.normal(), rng.normal())).collect(),
        ),
        4 => SwingLimit::ReachCone { boundary: directions(rng), rest: direction(rng) },
        5 => SwingLimit::Box { alpha: arc(rng), beta: arc(rng) },
        6 => SwingLimit::All(parts(rng)),
        7 => SwingLimit::Any(parts(rng)),
        8 => SwingLimit::Not(Box::new(swing(rng, depth + 1))),
        _ => {
            let of = Box::new(swing(rng, depth + 1));
            SwingLimit::Grown { of, by: angle(rng, -20.0, 20.0) }
        }
    }
}

fn twist(rng: &mut Rng) -> TwistLimit {
    let n = 1 + rng.below(4);
    TwistLimit {
        bounds: match rng.below(3) {
            0 => TwistBounds::Free,
            1 => TwistBounds::Arc(arc(rng)),
            _ => TwistBounds::BySwing(
                (0..n).map(|_| TwistAt { direction: direction(rng), arc: arc(rng) }).collect(),
            ),
        },
        offset: match rng.below(4) {
            0 => TwistOffset::BySwing(
                (0..n).map(|_| (direction(rng), angle(rng, -90.0, 90.0))).collect(),
            ),
            1 => TwistOffset::From(direction(rng)),
            _ => TwistOffset::None,
        },
    }
}

fn limit(rng: &mut Rng) -> (JointKind, Limit) {
    match rng.below(10) {
        0 => (JointKind::Fixed, Limit::Locked),
        1 => (JointKind::Free, Limit::Free),
        2 => (JointKind::Hinge, Limit::Hinge { axis: direction(rng), arc: arc(rng) }),
        3 => {
            let axes = [direction(rng), direction(rng)];
            (JointKind::Universal, Limit::Universal { axes, arcs: [arc(rng), arc(rng)] })
        }
        4 => {
            let order = *rng.choose(&EulerOrder::ALL).unwrap();
            let arcs = [arc(rng), arc(rng), arc(rng)];
            (JointKind::Ball, Limit::EulerBox(EulerBox { order, arcs }))
        }
        5 => (JointKind::Ball, [Limit::Free, Limit::Locked][rng.below(2)].clone()),
        _ => {
            let bone = direction(rng);
            let x = rng.chance(0.5).then(|| rng.perpendicular(bone));
            let axes = SwingAxes::new(bone, x).unwrap();
            let limit = SwingTwistLimit { axes, swing: swing(rng, 0), twist: twist(rng) };
            (JointKind::Ball, Limit::SwingTwist(limit))
        }
    }
}

fn end(rng: &mut Rng) -> End {
    let mut interval = [angle(rng, -180.0, 180.0), angle(rng, -180.0, 180.0)];
    interval.sort_by(|a, b| a.radians().total_cmp(&b.radians()));
    End {
        of: *rng.choose(&EndOf::ALL).unwrap(),
        at: angle(rng, -180.0, 180.0),
        reached: rng.chance(0.5).then(|| angle(rng, -180.0, 180.0)),
        visits: rng.bits() >> rng.below(64),
        interval: rng.chance(0.5).then_some(interval),
        open: rng.chance(0.5).then(|| *rng.choose(&Open::ALL).unwrap()),
    }
}

fn left_out(rng: &mut Rng) -> LeftOut {
    let take = format!("{:x}", rng.bits()).parse().unwrap();
    LeftOut { take, frames: (0..rng.below(4) as u32).map(|i| 3 * i).collect() }
}

fn rig_joint(rng: &mut Rng) -> RigJoint {
    let (kind, limit) = limit(rng);
    let mut joint = RigJoint::new(kind, limit);
    joint.center = rotation(rng);
    joint.soft =
        rng.chance(0.2).then(|| Soft { onset: angle(rng, 0.0, 20.0), stiffness: rng.uniform() });
    if rng.chance(0.5) {
        joint.confidence = Some(rng.uniform());
        joint.why = Some("second axis 0.2°, \"below\"\nthe noise".to_owned());
        joint.notes = (0..rng.below(3)).map(|i| format!("\"Note\" {i}.")).collect();
        joint.rest_inside = Some(rng.chance(0.5));
        joint.rest_excess = Some(angle(rng, 0.0, 10.0));
        joint.samples = Some(rng.bits() >> rng.below(64));
        joint.rejected = Some(0);
        joint.left_out = (0..rng.below(3)).map(|_| left_out(rng)).collect();
        joint.tolerance = rng.chance(0.5).then(|| angle(rng, 0.0, 3.0));
        joint.noise = Some(angle(rng, 0.0, 1.0));
        joint.ends = (0..rng.below(4)).map(|_| end(rng)).collect();
        joint.source = rng.choose(&Source::ALL).copied();
        joint.start = Some(rotation(rng));
        joint.estimate_hash = rng.chance(0.5).then(|| joint.content_hash().unwrap());
    }
    joint
}

pub(crate) fn rig(seed: u64) -> Rig {
    let mut rng = Rng::new(seed);
    let rng = &mut rng;
    let mut skeleton = Skeleton::new();
    let mut joints = RigJoints::new();
    for i in 0..1 + rng.below(8) {
        let name = ["Hips", "Left Arm", "mixamorig:Spine.1", "Ärmel", "Hand#2", "x", "y", "z"][i];
        let mut joint = Joint::new(name, 0.3 * rng.direction());
        joint.rest = rotation(rng);
        joint.end_sites = (0..rng.below(3).saturating_sub(1))
            .map(|_| EndSite { name: None, offset_m: rng.direction() })
            .collect();
        let parents: Vec<_> = skeleton.indices().collect();
        match rng.choose(&parents) {
            Some(parent) if rng.chance(0.9) => skeleton.add(*parent, joint).unwrap(),
            _ => skeleton.add_root(joint).unwrap(),
        };
        if rng.chance(0.9) {
            joints.insert(name, rig_joint(rng));
        }
    }
    Rig::new(skeleton, joints)
}
