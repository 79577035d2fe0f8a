//! Limits of the other side of the body.

use std::sync;

use glam::{DVec2, DVec3};

use super::{
    EulerBox, Limit, LimitError, LimitErrorKind, SwingLimit, SwingShape, SwingTwistLimit,
    TOLERANCE, TwistAt, TwistBounds, TwistLimit, TwistOffset,
};
use crate::math::{Angle, Arc, Axis, Rotation, Swing, SwingAxes, unit};

/// Parts within parts, as deep as a rig document can have them.
const MAX_DEPTH: usize = 128;

impl Limit {
    /// The limit of the joint on the other side of a plane: what a left hip may do if this is what
    /// a right hip may do, in coordinates that are mirrored too.
    ///
    /// # Convention
    ///
    /// `normal` is perpendicular to the plane, of any length. With M the reflection
    /// `d → d − 2 (n·d) n`, the limit allows `M · m · M` where this one allows `m`. A direction `d`
    /// becomes `M d`; a rotation about `u` becomes one about `−M u` by the same angle. So axes of
    /// hinges and universal joints turn round and their arcs stay, and twists change their sign.
    ///
    /// # Errors
    ///
    /// If `normal` is no direction, if a box of Euler angles is mirrored across a plane that is not
    /// perpendicular to a coordinate axis (the result is no such box), if axes are not usable, or if
    /// regions are combined more than 128 deep.
    ///
    /// # Example
    ///
    /// ```
    /// use condyle::glam::DVec3;
    /// use condyle::limits::Limit;
    /// use condyle::math::{Angle, Arc, Rotation};
    ///
    /// // A right foot turns its sole inwards about x, forward; a left one about −x.
    /// let right = Limit::Hinge { axis: DVec3::X, arc: Arc::from_degrees(-15.0, 35.0).unwrap() };
    /// let left = right.mirrored(DVec3::Z)?.prepare()?;
    /// assert!(left.contains(Rotation::about_x(Angle::from_degrees(-30.0))));
    /// assert!(!left.contains(Rotation::about_x(Angle::from_degrees(30.0))));
    /// # Ok::<(), condyle::limits::LimitError>(())
    /// ```
    pub fn mirrored(&self, normal: DVec3) -> Result<Self, LimitError> {
        let mirror = Mirror::new(normal)?;
        Ok(match self {
            Self::Free => Self::Free,
            Self::Locked => Self::Locked,
            Self::Hinge { axis, arc } => Self::Hinge { axis: -mirror.of(*axis), arc: *arc },
            Self::Universal { axes, arcs } => {
                Self::Universal { axes: axes.map(|axis| -mirror.of(axis)), arcs: *arcs }
            }
            Self::EulerBox(of) => Self::EulerBox(mirror.euler_box(of)?),
            Self::SwingTwist(of) => Self::SwingTwist(SwingTwistLimit {
                axes: mirror.axes(&of.axes)?,
                swing: mirror.swing(&of.swing, 0).map_err(|e| e.within("swing"))?,
                twist: mirror.twist(&of.twist),
            }),
        })
    }
}

/// A reflection across a plane through the origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mirror {
    normal: DVec3,
}

impl Mirror {
    pub(crate) fn new(normal: DVec3) -> Result<Self, LimitError> {
        let normal = unit(normal)
            .ok_or_else(|| LimitError::new(LimitErrorKind::NoDirection).within("normal"))?;
        Ok(Self { normal })
    }

    /// A direction on the other side. The components along coordinate axes stay the same bits if the
    /// normal is one of these.
    pub(crate) fn of(self, d: DVec3) -> DVec3 {
        d - self.normal * (2.0 * self.normal.dot(d))
    }

    /// A rotation on the other side: `M · r · M`.
    pub(crate) fn rotation(self, r: Rotation) -> Rotation {
        let [w, x, y, z] = r.to_wxyz();
        let v = -self.of(DVec3::new(x, y, z));
        Rotation::from_wxyz([w, v.x, v.y, v.z]).unwrap_or(r)
    }

    fn axes(self, axes: &SwingAxes) -> Result<SwingAxes, LimitError> {
        let (bone, x) = (self.of(axes.bone()), self.of(axes.x()));
        SwingAxes::from_orthonormal(bone, x)
            .or_else(|| SwingAxes::new(bone, Some(x)))
            .ok_or_else(|| LimitError::new(LimitErrorKind::NoDirection).within("bone_axis"))
    }

    /// Angles about the normal stay, the others change their sign: `−M e` is `e` for the one and
    /// `−e` for the others.
    fn euler_box(self, of: &EulerBox) -> Result<EulerBox, LimitError> {
        let along = |axis: Axis| {
            let n = self.normal.abs();
            match axis {
                Axis::X => n.y.max(n.z) <= TOLERANCE,
                Axis::Y => n.z.max(n.x) <= TOLERANCE,
                Axis::Z => n.x.max(n.y) <= TOLERANCE,
            }
        };
        if ![Axis::X, Axis::Y, Axis::Z].into_iter().any(along) {
            return Err(LimitError::new(LimitErrorKind::ObliqueMirror).within("order"));
        }
        let mut arcs = of.arcs;
        for (arc, axis) in arcs.iter_mut().zip(of.order.axes()) {
            if !along(axis) {
                *arc = negated(*arc);
            }
        }
        Ok(EulerBox { order: of.order, arcs })
    }

    /// With the bone and x mirrored, `y = bone × x` is the opposite of the mirrored y. So a swing by
    /// (Sx, Sy) becomes one by (−Sx, Sy), and a point (x, y) across the bone becomes (x, −y).
    fn swing(self, of: &SwingLimit, depth: usize) -> Result<SwingLimit, LimitError> {
        if depth > MAX_DEPTH {
            return Err(LimitError::new(LimitErrorKind::TooLarge));
        }
        let parts = |of: &[SwingLimit]| -> Result<Vec<SwingLimit>, LimitError> {
            of.iter().map(|part| self.swing(part, depth + 1)).collect()
        };
        let part = |of: &SwingLimit| self.swing(of, depth + 1).map(Box::new);
        Ok(match of {
            SwingLimit::Free => SwingLimit::Free,
            SwingLimit::Ellipse { rx, ry } => SwingLimit::Ellipse { rx: *rx, ry: *ry },
            SwingLimit::Polygons(polygons) => {
                // The mirror swaps left and right, so the corners are walked the other way.
                let walked = |polygon: &Vec<DVec3>| -> Vec<DVec3> {
                    polygon.iter().rev().map(|d| self.of(*d)).collect()
                };
                SwingLimit::Polygons(polygons.iter().map(walked).collect())
            }
            SwingLimit::PlanarCone(points) => {
                SwingLimit::PlanarCone(points.iter().map(|p| DVec2::new(p.x, -p.y)).collect())
            }
            SwingLimit::ReachCone { boundary, rest } => SwingLimit::ReachCone {
                boundary: boundary.iter().rev().map(|d| self.of(*d)).collect(),
                rest: self.of(*rest),
            },
            SwingLimit::Box { alpha, beta } => {
                SwingLimit::Box { alpha: negated(*alpha), beta: *beta }
            }
            SwingLimit::All(of) => SwingLimit::All(parts(of)?),
            SwingLimit::Any(of) => SwingLimit::Any(parts(of)?),
            SwingLimit::Not(of) => SwingLimit::Not(part(of)?),
            SwingLimit::Grown { of, by } => SwingLimit::Grown { of: part(of)?, by: *by },
            SwingLimit::Custom(shape) => {
                SwingLimit::Custom(sync::Arc::new(MirroredShape(sync::Arc::clone(shape))))
            }
        })
    }

    fn twist(self, of: &TwistLimit) -> TwistLimit {
        TwistLimit {
            bounds: match &of.bounds {
                TwistBounds::Free => TwistBounds::Free,
                TwistBounds::Arc(arc) => TwistBounds::Arc(negated(*arc)),
                TwistBounds::BySwing(at) => TwistBounds::BySwing(
                    at.iter()
                        .map(|at| TwistAt {
                            direction: self.of(at.direction),
                            arc: negated(at.arc),
                        })
                        .collect(),
                ),
            },
            offset: match &of.offset {
                TwistOffset::None => TwistOffset::None,
                TwistOffset::BySwing(at) => TwistOffset::BySwing(
                    at.iter().map(|(d, angle)| (self.of(*d), opposite(*angle))).collect(),
                ),
                TwistOffset::From(from) => TwistOffset::From(self.of(*from)),
            },
        }
    }
}

fn opposite(angle: Angle) -> Angle {
    Angle::from_radians(-angle.radians())
}

/// The angles of the opposite sign.
fn negated(arc: Arc) -> Arc {
    Arc::new(opposite(arc.max()), opposite(arc.min())).unwrap_or(Arc::EMPTY)
}

/// A user's shape on the other side.
#[derive(Debug)]
struct MirroredShape(sync::Arc<dyn SwingShape>);

impl SwingShape for MirroredShape {
    fn value(&self, swing: Swing) -> f64 {
        self.0.value(Swing { x: opposite(swing.x), y: swing.y })
    }
}

#[cfg(test)]
mod tests {
    use glam::DMat3;

    use super::*;
    use crate::limits::PreparedLimit;
    use crate::limits::zoo::{arc, deg, dir, zoo};
    use crate::math::{EulerOrder, arbitrary};

    /// M m M by matrices, which knows nothing of quaternions.
    fn reflected(m: Rotation, normal: DVec3) -> Rotation {
        let n = unit(normal).unwrap();
        let outer = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        let mirror = DMat3::IDENTITY - outer * 2.0;
        Rotation::from_matrix(mirror * m.to_matrix() * mirror).unwrap()
    }

    /// Directions in no special position: far from them the nearest edge counts, and for a direction
    /// as far from two of them rounding chooses.
    fn twists() -> Vec<TwistLimit> {
        let at = |x, y, z, min, max| TwistAt { direction: dir(x, y, z), arc: arc(min, max) };
        let by_swing = TwistBounds::BySwing(vec![
            at(0.13, -0.07, 1.0, -80.0, 20.0),
            at(1.0, 0.2, 0.1, -10.0, 70.0),
            at(-0.3, 1.0, 0.04, -30.0, 30.0),
            at(-0.5, -1.0, 0.2, 0.0, 90.0),
        ]);
        vec![
            TwistLimit::default(),
            TwistLimit { bounds: TwistBounds::Arc(arc(-20.0, 65.0)), offset: TwistOffset::None },
            TwistLimit {
                bounds: TwistBounds::Arc(arc(150.0, 230.0)),
                offset: TwistOffset::From(dir(0.4, -0.7, 0.3)),
            },
            TwistLimit {
                bounds: by_swing,
                offset: TwistOffset::BySwing(vec![
                    (dir(0.11, -0.21, 1.0), deg(5.0)),
                    (dir(1.0, 0.17, 0.3), deg(-25.0)),
                    (dir(0.07, 1.0, -0.2), deg(40.0)),
                ]),
            },
        ]
    }

    /// Every shape with some twist, and the kinds without swing.
    fn limits() -> Vec<(&'static str, Limit)> {
        let axes = SwingAxes::Z;
        let twists = twists();
        let mut limits: Vec<(&str, Limit)> = zoo()
            .into_iter()
            .enumerate()
            .map(|(i, (name, swing))| {
                let twist = twists[i % twists.len()].clone();
                (name, Limit::SwingTwist(SwingTwistLimit { axes, swing, twist }))
            })
            .collect();
        let oblique = SwingAxes::new(dir(0.3, -0.8, 0.2), Some(dir(0.1, 0.5, 1.0))).unwrap();
        for (name, swing) in [
            ("oblique ellipse", SwingLimit::Ellipse { rx: deg(70.0), ry: deg(30.0) }),
            ("oblique box", SwingLimit::Box { alpha: arc(-30.0, 80.0), beta: arc(-20.0, 50.0) }),
            ("oblique free", SwingLimit::Free),
        ] {
            let twist = twists[1].clone();
            limits.push((name, Limit::SwingTwist(SwingTwistLimit { axes: oblique, swing, twist })));
        }
        limits.push(("free", Limit::Free));
        limits.push(("locked", Limit::Locked));
        limits.push(("hinge", Limit::Hinge { axis: dir(1.0, 2.0, -0.5), arc: arc(-20.0, 130.0) }));
        limits.push((
            "universal",
            Limit::Universal {
                axes: [dir(0.0, 0.1, 1.0), dir(1.0, 0.2, 0.0)],
                arcs: [arc(-50.0, 20.0), arc(-15.0, 35.0)],
            },
        ));
        limits
    }

    fn boxes() -> Vec<(&'static str, Limit)> {
        let arcs = [arc(-60.0, 120.0), arc(0.0, 130.0), arc(170.0, 260.0)];
        EulerOrder::ALL
            .into_iter()
            .map(|order| (order.as_str(), Limit::EulerBox(EulerBox { order, arcs })))
            .collect()
    }

    fn check(name: &str, [a, b]: [&PreparedLimit; 2], [m, n]: [Rotation; 2]) {
        // Near −bone, which is half a turn away, rounding is made larger by the twist's condition.
        if a.swing().is_some() && m.quat().w.abs() < 1e-5 {
            return;
        }
        let [near, far] = [a.distance(m).radians(), b.distance(n).radians()];
        assert!((near - far).abs() <= 1e-9, "{name} {m:?}: {near} {far}");
        if near.abs() > 1e-9 {
            assert_eq!(a.contains(m), b.contains(n), "{name} {m:?}");
        }
    }

    #[test]
    fn b14_a_mirrored_limit_allows_mirrored_rotations() {
        let normals = [DVec3::X, DVec3::Y, DVec3::Z * -2.0, DVec3::new(0.3, -0.5, 0.9)];
        let mut tested = 0;
        for (i, (name, limit)) in limits().into_iter().enumerate() {
            let normal = normals[i % normals.len()];
            let original = limit.prepare().unwrap();
            let once = limit.mirrored(normal).unwrap();
            let mirrored = once.prepare().unwrap();
            let twice = once.mirrored(normal).unwrap().prepare().unwrap();
            arbtest::arbtest(|u| {
                let m = arbitrary::rotation(u)?;
                check(name, [&original, &mirrored], [m, reflected(m, normal)]);
                check(name, [&original, &twice], [m, m]);
                tested += 1;
                Ok(())
            })
            .budget_ms(60)
            .run();
        }
        assert!(tested > 1000, "{tested}");
    }

    #[test]
    fn b14_euler_boxes_are_mirrored_across_coordinate_planes_only() {
        for (i, (name, limit)) in boxes().into_iter().enumerate() {
            let normal = [DVec3::X, DVec3::Y, DVec3::Z][i % 3];
            let original = limit.prepare().unwrap();
            let once = limit.mirrored(normal).unwrap();
            let mirrored = once.prepare().unwrap();
            let twice = once.mirrored(normal).unwrap().prepare().unwrap();
            arbtest::arbtest(|u| {
                let m = arbitrary::rotation(u)?;
                check(name, [&original, &mirrored], [m, reflected(m, normal)]);
                check(name, [&original, &twice], [m, m]);
                Ok(())
            })
            .budget_ms(60)
            .run();
            let error = limit.mirrored(DVec3::ONE).unwrap_err();
            assert_eq!(error.kind(), &LimitErrorKind::ObliqueMirror);
        }
    }

    #[test]
    fn mirrors_that_are_none_are_refused() {
        for normal in [DVec3::ZERO, DVec3::NAN, DVec3::INFINITY] {
            let error = Limit::Free.mirrored(normal).unwrap_err();
            assert_eq!(error.kind(), &LimitErrorKind::NoDirection);
        }
        let mut deep = SwingLimit::Free;
        for _ in 0..200 {
            deep = SwingLimit::Not(Box::new(deep));
        }
        let deep = SwingTwistLimit { swing: deep, ..SwingTwistLimit::default() };
        let error = Limit::SwingTwist(deep).mirrored(DVec3::X).unwrap_err();
        assert_eq!(error.kind(), &LimitErrorKind::TooLarge);
    }

    #[test]
    fn rotations_are_mirrored_as_matrices_are() {
        arbtest::arbtest(|u| {
            let (m, normal) = (arbitrary::rotation(u)?, arbitrary::direction(u)?);
            let ours = Mirror::new(normal).unwrap().rotation(m);
            // The products of three matrices of size one are good to some dozen ulps.
            assert!(ours.distance(reflected(m, normal)).radians() < 32.0 * f64::EPSILON);
            Ok(())
        });
    }
}
