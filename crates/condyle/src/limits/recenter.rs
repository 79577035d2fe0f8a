//! Another zero for a limit, so that the singular direction is out of the way (B7).

use std::f64::consts::PI;

use glam::DVec3;

use super::polygon::Polygon;
use super::region::Region;
use super::{
    LimitError, LimitErrorKind, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit, TwistOffset,
};
use crate::math::{Angle, Rotation, direct_rotation};

/// A limit about another zero.
#[derive(Clone, Debug)]
pub struct Recentered {
    /// To multiply the joint's `center` with, from the right.
    pub center: Rotation,
    /// What it allows is `center⁻¹ · m` for what the old one allows.
    pub limit: SwingTwistLimit,
}

impl SwingTwistLimit {
    /// The same limit about a zero deep inside its region, so that −bone, where twist is not defined,
    /// is as far outside as can be (B7).
    ///
    /// # Source
    ///
    /// P. Baerlocher, R. Boulic (2001), section 3.2. With `center = R_D(bone, c)`, c a direction deep
    /// inside: directions turn by `center⁻¹`, and zero twist stays what it was by
    /// [`TwistOffset::From`] of `center⁻¹ · bone`.
    ///
    /// Polygons, reach cones and what is combined of them turn exactly. Other shapes are tied to the
    /// bone's direction; their boundary is taken as polygons with corners every degree. A region of
    /// several parts becomes any of them.
    ///
    /// # Errors
    ///
    /// If the limit cannot be prepared, if it already has a twist offset, since two cannot be kept, or if
    /// the boundary touches itself and is not made of polygons.
    pub fn recentered(&self) -> Result<Recentered, LimitError> {
        if !matches!(self.twist.offset, TwistOffset::None) {
            return Err(LimitError::new(LimitErrorKind::SecondOffset)
                .within("offset")
                .within("twist"));
        }
        let region = Region::new(&self.swing, &self.axes).map_err(|e| e.within("swing"))?;
        let deep = self.axes.vector(region.deepest());
        let unchanged = Recentered { center: Rotation::IDENTITY, limit: self.clone() };
        let Some(direct) = direct_rotation(self.axes.bone(), deep) else { return Ok(unchanged) };
        let center = direct.rotation;
        let back = center.inverse();
        let swing = match turned(&self.swing, back) {
            Some(swing) => swing,
            None => {
                let loops = region.loops(PI / 180.0);
                let turn = |d: DVec3| back * self.axes.vector(d);
                let loops = loops.into_iter().map(|l| l.into_iter().map(turn).collect());
                polygons(loops.collect()).map_err(|e| e.within("swing"))?
            }
        };
        let bounds = match &self.twist.bounds {
            TwistBounds::BySwing(at) => {
                let mut at = at.clone();
                at.iter_mut().for_each(|at| at.direction = back * at.direction);
                TwistBounds::BySwing(at)
            }
            other => other.clone(),
        };
        let from = back * self.axes.bone();
        let offset = if center.angle() > Angle::from_radians(1e-12) {
            TwistOffset::From(from)
        } else {
            TwistOffset::None
        };
        let limit = Self { axes: self.axes, swing, twist: TwistLimit { bounds, offset } };
        // Polygons must not touch themselves, as the boundary of a box over a pole does.
        Region::new(&limit.swing, &limit.axes).map_err(|e| e.within("swing"))?;
        Ok(Recentered { center, limit })
    }
}

/// The region left of loops that do not touch each other.
fn polygons(mut loops: Vec<Vec<DVec3>>) -> Result<SwingLimit, LimitError> {
    let mut parts: Vec<(Vec<bool>, Vec<Vec<DVec3>>)> = Vec::new();
    let left_of: Vec<Polygon> =
        loops.iter().map(|corners| Polygon::new(corners)).collect::<Result<_, _>>()?;
    for (i, corners) in loops.drain(..).enumerate() {
        // Loops around the same part are on the same side of every loop; their own has them on its
        // left.
        let left = |(j, of): (usize, &Polygon)| i == j || corners.iter().all(|c| of.contains(*c));
        let sides: Vec<bool> = left_of.iter().enumerate().map(left).collect();
        match parts.iter_mut().find(|part| part.0 == sides) {
            Some(part) => part.1.push(corners),
            None => parts.push((sides, vec![corners])),
        }
    }
    let mut parts: Vec<SwingLimit> =
        parts.into_iter().map(|(_, loops)| SwingLimit::Polygons(loops)).collect();
    Ok(match parts.len() {
        0 => SwingLimit::Free,
        1 => parts.remove(0),
        _ => SwingLimit::Any(parts),
    })
}

/// The region turned, if it can be turned as it is.
fn turned(swing: &SwingLimit, by: Rotation) -> Option<SwingLimit> {
    let turn = |points: &[DVec3]| -> Vec<DVec3> { points.iter().map(|p| by * *p).collect() };
    let all = |of: &[SwingLimit]| of.iter().map(|l| turned(l, by)).collect::<Option<Vec<_>>>();
    Some(match swing {
        SwingLimit::Free => SwingLimit::Free,
        SwingLimit::Polygons(polygons) => {
            SwingLimit::Polygons(polygons.iter().map(|p| turn(p)).collect())
        }
        SwingLimit::ReachCone { boundary, rest } => {
            SwingLimit::ReachCone { boundary: turn(boundary), rest: by * *rest }
        }
        SwingLimit::All(of) => SwingLimit::All(all(of)?),
        SwingLimit::Any(of) => SwingLimit::Any(all(of)?),
        SwingLimit::Not(of) => SwingLimit::Not(Box::new(turned(of, by)?)),
        SwingLimit::Grown { of, by: margin } => {
            SwingLimit::Grown { of: Box::new(turned(of, by)?), by: *margin }
        }
        SwingLimit::Ellipse { .. }
        | SwingLimit::PlanarCone(_)
        | SwingLimit::Box { .. }
        | SwingLimit::Custom(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::zoo::{arc, deg, zoo};
    use crate::limits::{Limit, TwistAt};
    use crate::math::SwingAxes;
    use crate::synth::Rng;

    #[test]
    fn recentring_changes_the_zero_and_nothing_else_b7() {
        let axes = SwingAxes::new(DVec3::new(0.2, -0.4, 1.0), Some(DVec3::X)).unwrap();
        let mut rng = Rng::new(3);
        for (name, swing) in zoo() {
            let exact = turned(&swing, Rotation::IDENTITY).is_some();
            let twist = TwistLimit {
                bounds: TwistBounds::BySwing(vec![
                    TwistAt { direction: DVec3::X, arc: arc(-40.0, 10.0) },
                    TwistAt { direction: DVec3::Y, arc: arc(-20.0, 60.0) },
                    TwistAt { direction: DVec3::Z, arc: arc(0.0, 90.0) },
                ]),
                offset: TwistOffset::None,
            };
            let old = SwingTwistLimit { axes, swing, twist };
            if name == "box over the pole" {
                assert!(old.recentered().is_err(), "its boundary touches itself at the pole");
                continue;
            }
            let new = old.recentered().unwrap();
            if matches!(new.limit.twist.offset, TwistOffset::From(_)) {
                let error = new.limit.recentered().unwrap_err();
                assert_eq!(*error.kind(), LimitErrorKind::SecondOffset);
                assert_eq!(error.path(), "twist.offset");
            }
            let (old, limit) = (
                Limit::SwingTwist(old).prepare().unwrap(),
                Limit::SwingTwist(new.limit).prepare().unwrap(),
            );
            let slack = if exact { 1e-9 } else { 1e-3 };
            for _ in 0..300 {
                let m = rng.rotation();
                let (a, b) =
                    (old.distance(m).radians(), limit.distance(new.center.inverse() * m).radians());
                assert!((a - b).abs() < slack, "{name}: {a} {b}");
            }
            // −bone is outside, unless the region goes all around.
            let down = limit.swing().unwrap().distance(-axes.bone()).unwrap().radians();
            assert!(down < 0.0 || ["box around", "huge ellipse"].contains(&name), "{name}: {down}");
        }
    }

    #[test]
    fn parts_and_holes_stay_what_they_are_b7() {
        let ellipse = |rx, ry| SwingLimit::Ellipse { rx: deg(rx), ry: deg(ry) };
        let not = |of| SwingLimit::Not(Box::new(of));
        let apart = SwingLimit::Box { alpha: arc(100.0, 140.0), beta: arc(-20.0, 30.0) };
        let ring = |outer, inner| SwingLimit::All(vec![outer, not(inner)]);
        let rings = vec![
            ring(ellipse(80.0, 75.0), ellipse(60.0, 58.0)),
            ring(ellipse(50.0, 45.0), ellipse(30.0, 32.0)),
            ellipse(10.0, 20.0),
        ];
        let mut rng = Rng::new(8);
        for (swing, parts) in [
            (SwingLimit::Any(vec![ellipse(40.0, 30.0), apart.clone()]), 2),
            (SwingLimit::Any(rings.clone()), 3),
            (SwingLimit::Any(rings.into_iter().chain([apart]).collect()), 4),
            (ring(ellipse(80.0, 75.0), ellipse(60.0, 58.0)), 1),
        ] {
            let old = SwingTwistLimit { swing, ..SwingTwistLimit::default() };
            let new = old.recentered().unwrap();
            let found = match &new.limit.swing {
                SwingLimit::Any(parts) => parts.len(),
                _ => 1,
            };
            assert_eq!(found, parts);
            let old = Limit::SwingTwist(old).prepare().unwrap();
            let limit = Limit::SwingTwist(new.limit).prepare().unwrap();
            for _ in 0..300 {
                let m = rng.rotation();
                let (a, b) = (old.distance(m), limit.distance(new.center.inverse() * m));
                assert!((a.radians() - b.radians()).abs() < 1e-3, "{a:?} {b:?}");
            }
        }
    }
}
