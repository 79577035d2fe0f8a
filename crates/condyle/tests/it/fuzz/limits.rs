//! Limits of any kind, made of bytes, with any numbers in them; and what must hold of those that can
//! be prepared.

use arbitrary::{Result, Unstructured};
use condyle::glam::{DQuat, DVec2, DVec3};
use condyle::limits::{
    EulerBox, Limit, PreparedLimit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit,
    TwistOffset,
};
use condyle::math::{Angle, Arc, EulerOrder, Rotation, SwingAxes};

/// Any number: mostly of the size of angles and directions, sometimes of any bits.
pub(super) fn number(u: &mut Unstructured<'_>) -> Result<f64> {
    Ok(match u.int_in_range(0..=9)? {
        0 => f64::from_bits(u.arbitrary()?),
        1 => [0.0, -0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 180.0][u.choose_index(8)?],
        _ => f64::from(u.arbitrary::<i16>()?) / 8192.0,
    })
}

pub(super) fn vector(u: &mut Unstructured<'_>) -> Result<DVec3> {
    Ok(DVec3::new(number(u)?, number(u)?, number(u)?))
}

pub(super) fn angle(u: &mut Unstructured<'_>) -> Result<Angle> {
    number(u).map(Angle::from_radians)
}

pub(super) fn arc(u: &mut Unstructured<'_>) -> Result<Arc> {
    let (a, b) = (angle(u)?, angle(u)?);
    Ok(match u.int_in_range(0..=7)? {
        0 => Arc::FULL,
        1 => Arc::EMPTY,
        2 => Arc::point(a).unwrap_or(Arc::FULL),
        _ => Arc::new(a, b).or_else(|| Arc::new(b, a)).unwrap_or(Arc::FULL),
    })
}

fn list<T>(
    u: &mut Unstructured<'_>,
    most: usize,
    mut one: impl FnMut(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let n = u.int_in_range(0..=most)?;
    (0..n).map(|_| one(u)).collect()
}

/// Corners around z, so that many of them make a polygon.
fn corners(u: &mut Unstructured<'_>) -> Result<Vec<DVec3>> {
    if u.ratio(1, 4)? {
        return list(u, 8, vector);
    }
    let n = u.int_in_range(3..=12_u32)?;
    (0..n)
        .map(|i| {
            let radius = 0.05 + f64::from(u.arbitrary::<u8>()?) / 90.0;
            let a = std::f64::consts::TAU * f64::from(i) / f64::from(n);
            let (sin, cos) = condyle::math::trig::sin_cos(a);
            let (sr, cr) = condyle::math::trig::sin_cos(radius);
            Ok(DVec3::new(sr * cos, sr * sin, cr))
        })
        .collect()
}

fn swing(u: &mut Unstructured<'_>, depth: u32) -> Result<SwingLimit> {
    let most = if depth == 0 { 5 } else { 9 };
    let deeper = |u: &mut Unstructured<'_>| swing(u, depth - 1);
    Ok(match u.int_in_range(0..=most)? {
        0 => SwingLimit::Free,
        1 => SwingLimit::Ellipse { rx: angle(u)?, ry: angle(u)? },
        2 => SwingLimit::Polygons(list(u, 2, corners)?),
        3 => SwingLimit::PlanarCone(list(u, 6, |u| Ok(DVec2::new(number(u)?, number(u)?)))?),
        4 => SwingLimit::ReachCone { boundary: corners(u)?, rest: vector(u)? },
        5 => SwingLimit::Box { alpha: arc(u)?, beta: arc(u)? },
        6 => SwingLimit::All(list(u, 3, deeper)?),
        7 => SwingLimit::Any(list(u, 3, deeper)?),
        8 => SwingLimit::Not(Box::new(deeper(u)?)),
        _ => {
            // Growth in growth of either sign, which must not take longer and longer.
            let mut grown = SwingLimit::Grown { of: Box::new(deeper(u)?), by: angle(u)? };
            for _ in 0..u.int_in_range(0..=5)? {
                grown = SwingLimit::Grown { of: Box::new(grown), by: angle(u)? };
            }
            grown
        }
    })
}

fn twist(u: &mut Unstructured<'_>) -> Result<TwistLimit> {
    let bounds = match u.int_in_range(0..=2)? {
        0 => TwistBounds::Free,
        1 => TwistBounds::Arc(arc(u)?),
        _ => TwistBounds::BySwing(list(u, 6, |u| {
            Ok(TwistAt { direction: vector(u)?, arc: arc(u)? })
        })?),
    };
    let offset = match u.int_in_range(0..=3)? {
        0 => TwistOffset::BySwing(list(u, 4, |u| Ok((vector(u)?, angle(u)?)))?),
        1 => TwistOffset::From(vector(u)?),
        _ => TwistOffset::None,
    };
    Ok(TwistLimit { bounds, offset })
}

pub(super) fn limit(u: &mut Unstructured<'_>) -> Result<Limit> {
    Ok(match u.int_in_range(0..=9)? {
        0 => Limit::Free,
        1 => Limit::Locked,
        2 => Limit::Hinge { axis: vector(u)?, arc: arc(u)? },
        3 => Limit::Universal { axes: [vector(u)?, vector(u)?], arcs: [arc(u)?, arc(u)?] },
        4 => Limit::EulerBox(EulerBox {
            order: EulerOrder::ALL[u.choose_index(12)?],
            arcs: [arc(u)?, arc(u)?, arc(u)?],
        }),
        _ => Limit::SwingTwist(SwingTwistLimit {
            axes: SwingAxes::new(vector(u)?, None).unwrap_or_default(),
            swing: swing(u, 2)?,
            twist: twist(u)?,
        }),
    })
}

/// A limit and some rotations: every question is answered, by numbers, and answers agree.
pub fn check(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let Ok(limit) = limit(&mut u) else { return };
    let prepared = match limit.prepare() {
        Ok(prepared) => prepared,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    check_one(&prepared, Rotation::IDENTITY);
    for _ in 0..4 {
        let parts = [(); 4].map(|()| number(&mut u).unwrap_or(1.0));
        let q = DQuat::from_xyzw(parts[0], parts[1], parts[2], parts[3]);
        if let Some(m) = Rotation::new(q) {
            check_one(&prepared, m);
        }
    }
    if let Some(swing) = prepared.swing() {
        assert!((0.0..=13.0).contains(&swing.area()));
        assert!(!swing.contains(DVec3::NAN) && !swing.contains(DVec3::ZERO));
    }
}

fn check_one(limit: &PreparedLimit, m: Rotation) {
    let bits = |r: Rotation| r.quat().to_array().map(f64::to_bits);
    let distance = limit.distance(m).radians();
    assert!(!distance.is_nan(), "{m:?}");
    let inside = limit.contains(m);
    let p = limit.project(m);
    if inside {
        assert_eq!(bits(p), bits(m), "inside is left alone");
    }
    let left = limit.distance(p).radians();
    assert!(left >= -1e-12, "{m:?} to {p:?}: {left}");
    assert_eq!(bits(limit.project(p)), bits(p), "{m:?} to {p:?}, and again");
    assert!(limit.gradient(m).is_finite() && limit.jacobian(m).is_finite());
    assert!(
        limit.linearize(m).iter().all(|h| h.normal.is_finite() && !h.margin.radians().is_nan())
    );
    let rest = limit.toward_rest(m);
    assert!(limit.distance(rest).radians() >= -1e-9, "{m:?}");
}
