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
    /// # Domain and singularity
    ///
    /// The old −bone stays what it was: the same rotations are allowed, and around it zero twist turns
    /// twice as fast as the bone goes round. So if the region holds the old −bone, projections of near
    /// rotations still pop there.
    /// [`recentered_with_new_twist`](Self::recentered_with_new_twist) is without that.
    ///
    /// # Errors
    ///
    /// If the limit cannot be prepared, if it already has a twist offset, since two cannot be kept, or if
    /// the boundary touches itself and is not made of polygons.
    pub fn recentered(&self) -> Result<Recentered, LimitError> {
        self.about_the_deepest(true)
    }

    /// The same region about a zero deep inside it, and zero twist chosen anew: that of the direct
    /// swing from there. The arcs of twist stay the same numbers and **mean something else**; other
    /// rotations are allowed than before.
    ///
    /// Twist and its range are then continuous wherever the region does not hold the new −bone, as far
    /// from it as can be: an arm that hung at zero and reaches straight up does not pop there.
    ///
    /// # Source
    ///
    /// As [`recentered`](Self::recentered), without the offset. At a direction d the new zero differs
    /// from the old one by the area of the triangle of the bone, c and d (what is induced by going
    /// around it); on the great arc from the bone over c to the old −bone they are the same.
    ///
    /// A [`TwistOffset::From`] is dropped, so that what `recentered` returns may be given too.
    ///
    /// # Errors
    ///
    /// As [`recentered`](Self::recentered); of offsets only [`TwistOffset::BySwing`] is refused.
    pub fn recentered_with_new_twist(&self) -> Result<Recentered, LimitError> {
        self.about_the_deepest(false)
    }

    fn about_the_deepest(&self, keep_twist: bool) -> Result<Recentered, LimitError> {
        let offset_fits = match self.twist.offset {
            TwistOffset::None => true,
            TwistOffset::From(_) => !keep_twist,
            TwistOffset::BySwing(_) => false,
        };
        if !offset_fits {
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
        let offset = if keep_twist && center.angle() > Angle::from_radians(1e-12) {
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

    /// The farthest that projections of rotations 0.1° apart are apart, in degrees, among bones inside
    /// near `around` and twists away from the middle of the gap.
    fn largest_pop(limit: &SwingTwistLimit, around: DVec3, rng: &mut Rng) -> f64 {
        let axes = limit.axes;
        let prepared = Limit::SwingTwist(limit.clone()).prepare().unwrap();
        let region = prepared.swing().unwrap();
        let mut largest: f64 = 0.0;
        for _ in 0..3000 {
            let d = around + rng.direction() * rng.between(0.0, 0.3);
            let d = crate::math::unit(d).unwrap();
            let Some(swing) = direct_rotation(axes.bone(), d) else { continue };
            let roll = Angle::from_radians(rng.between(-PI, PI));
            let m = swing.rotation * Rotation::from_axis_angle(axes.bone(), roll).unwrap();
            let near = Rotation::exp(rng.direction() * 0.1_f64.to_radians()).unwrap() * m;
            // The arc is 100° wide and the gap 260°: its middle is at −130°.
            let in_middle = prepared.distance(m).degrees() < -120.0;
            let inside = |m: Rotation| region.contains(m * axes.bone());
            if !in_middle && inside(m) && inside(near) {
                let apart = prepared.project(m).distance(prepared.project(near));
                largest = largest.max(apart.degrees());
            }
        }
        largest
    }

    #[test]
    fn over_the_old_opposite_of_the_bone_only_a_new_zero_of_twist_is_free_of_pops() {
        // About x with a radius of 97°: −z is inside, by 7°.
        let turn = Rotation::about_y(Angle::from_degrees(90.0));
        let corners = crate::limits::zoo::wobbly(24, 1.7, 0.0, 1.0);
        let corners: Vec<DVec3> = corners.into_iter().map(|c| turn * c).collect();
        let twist =
            TwistLimit { bounds: TwistBounds::Arc(arc(-50.0, 50.0)), offset: TwistOffset::None };
        let swing = SwingLimit::Polygons(vec![corners]);
        let old = SwingTwistLimit { axes: SwingAxes::Z, swing, twist };
        let mut rng = Rng::new(4);
        let down = DVec3::NEG_Z;
        assert!(largest_pop(&old, down, &mut rng) > 45.0);
        let same = old.recentered().unwrap();
        let there = same.center.inverse() * down;
        assert!(largest_pop(&same.limit, there, &mut rng) > 45.0);
        for new in [old.recentered_with_new_twist(), same.limit.recentered_with_new_twist()] {
            let new = new.unwrap();
            let pop = largest_pop(&new.limit, there, &mut rng);
            assert!(pop < 0.5, "{pop}");
        }
        // The same zero on the great arc over c, and the region is the same.
        let new = old.recentered_with_new_twist().unwrap();
        let [a, b] = [old, new.limit].map(|l| Limit::SwingTwist(l).prepare().unwrap());
        for degrees in [0.0, 40.0, 80.0, 120.0, 150.0] {
            let swing = direct_rotation(DVec3::Z, new.center * DVec3::Z).unwrap().rotation;
            let axis = crate::math::unit(swing.log()).unwrap();
            let swing = Rotation::from_axis_angle(axis, Angle::from_degrees(degrees)).unwrap();
            for roll in [-51.0, -49.0, 49.0, 51.0] {
                let m = swing * Rotation::about_z(Angle::from_degrees(roll));
                assert_eq!(a.contains(m), b.contains(new.center.inverse() * m), "{degrees} {roll}");
            }
        }
    }

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
