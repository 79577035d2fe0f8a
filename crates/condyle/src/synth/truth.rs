//! What a joint can really do, and what it did.

use glam::DVec3;

use super::SwingRegion;
use crate::math::{Angle, Arc, Rotation, direct_rotation, trig, unit};

/// What a joint can really do.
///
/// # Convention
///
/// As in the rig document: `local = rest · center · m`, axes and directions are unit vectors in the
/// space of `rest · center`.
///
/// ```text
///   fixed      m = identity
///   hinge      m = R(axis, angle)
///   universal  m = R(axes[0], a) · R(axes[1], b)
///   ball       m = swing · twist, twist about bone_axis, swing about an axis across it
/// ```
///
/// The constructors choose what the estimator is to find among equal descriptions: `center` is the
/// identity where rest is on the orbit and else the point of the orbit nearest to rest, and the
/// larger excursion from angle 0 is positive.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum JointTruth {
    /// A root: goes anywhere.
    Free,
    /// Does not turn.
    Fixed {
        /// Where it is held, seen from rest.
        center: Rotation,
    },
    /// Turns about one axis.
    Hinge {
        /// The axis.
        axis: DVec3,
        /// The angles it reaches.
        arc: Arc,
        /// Angle 0, seen from rest.
        center: Rotation,
    },
    /// Turns about two axes, perpendicular or not: the first is fixed in the parent, the second in
    /// the moving joint.
    Universal {
        /// The axes.
        axes: [DVec3; 2],
        /// The angles it reaches about each.
        arcs: [Arc; 2],
        /// Angles 0, seen from rest.
        center: Rotation,
    },
    /// Points its bone into a region and rolls.
    Ball {
        /// The bone, which is the axis of the twist.
        bone_axis: DVec3,
        /// Where `m · bone_axis` goes.
        swing: SwingRegion,
        /// The roll, relative to the direct swing.
        twist: Arc,
        /// No swing and no twist, seen from rest.
        center: Rotation,
    },
}

/// Where a joint stands within what it can do.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Coordinates {
    /// Free or fixed: nothing to say.
    None,
    /// The angle of a hinge.
    Hinge(Angle),
    /// The angles of a universal joint.
    Universal([Angle; 2]),
    /// The state of a ball joint.
    Ball {
        /// `m · bone_axis`, a unit vector.
        direction: DVec3,
        /// About the bone.
        twist: Angle,
    },
}

impl JointTruth {
    /// A hinge whose orbit passes through rest turned by `off` about `across`. With `off = 0` rest
    /// is on the orbit, at angle 0.
    ///
    /// `across` is made perpendicular to the axis, because then angle 0 is the point of the orbit
    /// nearest to rest: turning on by θ about the axis multiplies the `w` of `center` by cos(θ/2).
    /// The axis is reversed if the larger excursion would be negative.
    ///
    /// `None` for a zero axis, an empty arc, or `off` not in `[0, 180°)`, or if `across` is along
    /// the axis while it matters.
    #[must_use]
    pub fn hinge(axis: DVec3, arc: Arc, across: DVec3, off: Angle) -> Option<Self> {
        let axis = unit(axis)?;
        if arc.is_empty() {
            return None;
        }
        let center = turned_across(&[axis], across, off)?;
        let (axis, arc) = positive(axis, arc);
        Some(Self::Hinge { axis, arc, center })
    }

    /// A universal joint whose reachable rotations pass rest at a distance `off`. With `off = 0`
    /// rest is one of them, at angles 0.
    ///
    /// `center` turns about the common perpendicular of the axes: with φ the angle between them and
    /// α, β the joint's angles, the `w` of `center · m` is
    /// `cos(off/2) cos(α/2) cos(β/2) − cos(φ − off/2) sin(α/2) sin(β/2)`, which is largest at
    /// α = β = 0 as long as `off ≤ φ`. So angles 0 are nearest to rest.
    ///
    /// `None` for parallel axes, an empty arc, or `off` not in `[0, φ]`.
    #[must_use]
    pub fn universal(axes: [DVec3; 2], arcs: [Arc; 2], off: Angle) -> Option<Self> {
        let (a, b) = (unit(axes[0])?, unit(axes[1])?);
        let normal = a.cross(b);
        let phi = crate::math::angle_between(a, b);
        if normal.length_squared() < 1e-12 || arcs.iter().any(|arc| arc.is_empty()) || off > phi {
            return None;
        }
        let center = turned_across(&[a, b], normal, off)?;
        let (a, first) = positive(a, arcs[0]);
        let (b, second) = positive(b, arcs[1]);
        Some(Self::Universal { axes: [a, b], arcs: [first, second], center })
    }

    /// A ball joint. `None` for a zero axis, an empty twist, or a region that contains the direction
    /// opposite to the bone, where twist means nothing.
    #[must_use]
    pub fn ball(
        bone_axis: DVec3,
        swing: SwingRegion,
        twist: Arc,
        center: Rotation,
    ) -> Option<Self> {
        let bone_axis = unit(bone_axis)?;
        let good = !twist.is_empty() && !swing.contains(-bone_axis);
        good.then_some(Self::Ball { bone_axis, swing, twist, center })
    }

    /// The kind as the rig document names it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Fixed { .. } => "fixed",
            Self::Hinge { .. } => "hinge",
            Self::Universal { .. } => "universal",
            Self::Ball { .. } => "ball",
        }
    }

    /// The `center` of `local = rest · center · m`.
    #[must_use]
    pub const fn center(&self) -> Rotation {
        match *self {
            Self::Free => Rotation::IDENTITY,
            Self::Fixed { center }
            | Self::Hinge { center, .. }
            | Self::Universal { center, .. }
            | Self::Ball { center, .. } => center,
        }
    }

    /// `m` of a local rotation.
    #[must_use]
    pub fn motion(&self, rest: Rotation, local: Rotation) -> Rotation {
        (rest * self.center()).inverse() * local
    }

    /// `m` at the given coordinates; the identity for a free or fixed joint. `None` if they are
    /// those of another kind.
    #[must_use]
    pub fn rotation(&self, coordinates: Coordinates) -> Option<Rotation> {
        match (*self, coordinates) {
            (Self::Free | Self::Fixed { .. }, Coordinates::None) => Some(Rotation::IDENTITY),
            (Self::Hinge { axis, .. }, Coordinates::Hinge(angle)) => {
                Rotation::from_axis_angle(axis, angle)
            }
            (Self::Universal { axes, .. }, Coordinates::Universal([a, b])) => {
                let first = Rotation::from_axis_angle(axes[0], a)?;
                Some(first * Rotation::from_axis_angle(axes[1], b)?)
            }
            (Self::Ball { bone_axis, .. }, Coordinates::Ball { direction, twist }) => {
                let swing = direct_rotation(bone_axis, direction)?.rotation;
                Some(swing * Rotation::from_axis_angle(bone_axis, twist)?)
            }
            _ => None,
        }
    }

    /// The coordinates of `m`, or of a rotation this joint can do that is near `m`: the nearest for
    /// a hinge, while a universal joint takes its first angle from where `m` puts the second axis.
    #[must_use]
    pub fn coordinates(&self, m: Rotation) -> Coordinates {
        match *self {
            Self::Free | Self::Fixed { .. } => Coordinates::None,
            Self::Hinge { axis, .. } => Coordinates::Hinge(turn_about(m, axis)),
            Self::Universal { axes: [a, b], .. } => {
                let moved = m * b;
                let first = Angle::from_radians(trig::atan2(
                    a.dot(b.cross(moved)),
                    b.dot(moved) - a.dot(b) * a.dot(moved),
                ));
                let back = Rotation::from_axis_angle(a, -first).unwrap_or_default();
                Coordinates::Universal([first, turn_about(back * m, b)])
            }
            Self::Ball { bone_axis, .. } => {
                Coordinates::Ball { direction: m * bone_axis, twist: turn_about(m, bone_axis) }
            }
        }
    }

    /// How far `m` is from being allowed: off the kind's rotations, beyond an arc's end or outside
    /// the region, whichever is most. Zero for what is allowed, to within rounding; infinite never.
    #[must_use]
    pub fn excess(&self, m: Rotation) -> Angle {
        let coordinates = self.coordinates(m);
        let off = match self {
            Self::Free => Angle::ZERO,
            _ => self.rotation(coordinates).map_or(Angle::HALF_TURN, |near| near.distance(m)),
        };
        let beyond = |arc: Arc, angle: Angle| (-arc.distance(angle).radians()).max(0.0);
        let radians = match (*self, coordinates) {
            (Self::Hinge { arc, .. }, Coordinates::Hinge(angle)) => beyond(arc, angle),
            (Self::Universal { arcs, .. }, Coordinates::Universal([a, b])) => {
                beyond(arcs[0], a).max(beyond(arcs[1], b))
            }
            (Self::Ball { swing, twist, .. }, Coordinates::Ball { direction, twist: roll }) => {
                swing.excess(direction).radians().max(beyond(twist, roll))
            }
            _ => 0.0,
        };
        Angle::from_radians(radians.max(off.radians()))
    }

    /// How far rest itself is from being allowed: `rest_excess_deg` of the rig document.
    #[must_use]
    pub fn rest_excess(&self) -> Angle {
        self.excess(self.center().inverse())
    }

    /// The truth seen in a mirror: `x` becomes `−x`, for the other side of a body.
    ///
    /// Axes of turns keep their angles and become `(x, −y, −z)`; directions become `(−x, y, z)`, so
    /// a twist about the mirrored bone changes its sign.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let axial = |v: DVec3| DVec3::new(v.x, -v.y, -v.z);
        let turn = |r: Rotation| {
            let [w, x, y, z] = r.to_wxyz();
            Rotation::from_wxyz([w, x, -y, -z]).unwrap_or_default()
        };
        match *self {
            Self::Free => Self::Free,
            Self::Fixed { center } => Self::Fixed { center: turn(center) },
            Self::Hinge { axis, arc, center } => {
                let (axis, arc) = positive(axial(axis), arc);
                Self::Hinge { axis, arc, center: turn(center) }
            }
            Self::Universal { axes, arcs, center } => {
                let (a, first) = positive(axial(axes[0]), arcs[0]);
                let (b, second) = positive(axial(axes[1]), arcs[1]);
                Self::Universal { axes: [a, b], arcs: [first, second], center: turn(center) }
            }
            Self::Ball { bone_axis, swing, twist, center } => Self::Ball {
                bone_axis: -axial(bone_axis),
                swing: swing.mirrored(),
                twist: negative(twist),
                center: turn(center),
            },
        }
    }
}

/// The identity for `off = 0`, else a turn by `off` about `about` made perpendicular to the axes.
fn turned_across(axes: &[DVec3], about: DVec3, off: Angle) -> Option<Rotation> {
    if off == Angle::ZERO {
        return Some(Rotation::IDENTITY);
    }
    if !(off > Angle::ZERO && off < Angle::HALF_TURN) {
        return None;
    }
    let about = unit(about)?;
    let across = match axes {
        [axis] => about - *axis * axis.dot(about),
        // The normal of two axes is perpendicular already.
        _ => about,
    };
    if across.length_squared() < 1e-12 {
        return None;
    }
    Rotation::from_axis_angle(across, off)
}

/// The same turns with the axis' sign chosen so that the larger excursion from angle 0 is positive, in
/// the turn that holds 0 or lies nearest to it; if both are the same, so that the axis' largest component
/// is positive.
fn positive(axis: DVec3, arc: Arc) -> (DVec3, Arc) {
    let other = negative(arc);
    let largest = [axis.x, axis.y, axis.z]
        .into_iter()
        .fold(0.0_f64, |best, c| if c.abs() > best.abs() { c } else { best });
    let (ours, others) = (arc.center(), other.center());
    let reverse = others > ours || (others == ours && largest < 0.0);
    if reverse { (-axis, other) } else { (axis, arc) }
}

/// The arc of the negative angles.
fn negative(arc: Arc) -> Arc {
    if arc.is_full() {
        return arc;
    }
    Arc::new(-arc.max(), -arc.min()).unwrap_or(Arc::EMPTY)
}

/// The angle in `(-π, π]` by which a rotation turns about an axis once the swing is taken off.
fn turn_about(r: Rotation, axis: DVec3) -> Angle {
    let q = r.quat();
    let along = DVec3::new(q.x, q.y, q.z).dot(axis);
    Angle::from_radians(2.0 * trig::atan2(along, q.w)).wrapped()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;
    use crate::synth::region::tests::zoo;

    fn arc(min: f64, max: f64) -> Arc {
        Arc::from_degrees(min, max).unwrap()
    }

    fn deg(d: f64) -> Angle {
        Angle::from_degrees(d)
    }

    #[test]
    fn angle_zero_of_a_hinge_is_nearest_to_rest() {
        let mut rng = Rng::new(1);
        for _ in 0..200 {
            let (axis, off) = (rng.direction(), rng.between(0.0, 170.0));
            let truth = JointTruth::hinge(axis, Arc::FULL, rng.direction(), deg(off)).unwrap();
            let at_zero = truth.center().angle();
            assert!((at_zero.degrees() - off).abs() < 1e-9);
            for _ in 0..50 {
                let turned = Coordinates::Hinge(deg(rng.between(-180.0, 180.0)));
                let local = truth.center() * truth.rotation(turned).unwrap();
                assert!(local.angle().radians() >= at_zero.radians() - 1e-12);
            }
        }
    }

    #[test]
    fn angles_zero_of_a_universal_joint_are_nearest_to_rest() {
        let mut rng = Rng::new(2);
        for _ in 0..200 {
            let (a, b) = (rng.direction(), rng.direction());
            let phi = crate::math::angle_between(a, b).degrees();
            if !(20.0..160.0).contains(&phi) {
                continue;
            }
            let off = rng.between(0.0, phi.min(180.0 - phi));
            let truth = JointTruth::universal([a, b], [Arc::FULL; 2], deg(off)).unwrap();
            for _ in 0..200 {
                let turned = [(); 2].map(|()| deg(rng.between(-180.0, 180.0)));
                let m = truth.rotation(Coordinates::Universal(turned)).unwrap();
                let local = truth.center() * m;
                assert!(local.angle().degrees() >= off - 1e-9, "{phi} {off}");
            }
        }
    }

    #[test]
    fn the_larger_excursion_is_positive() {
        let check = |min: f64, max: f64, axis: DVec3, expected: (f64, f64), same: bool| {
            let Some(JointTruth::Hinge { axis: a, arc: found, .. }) =
                JointTruth::hinge(axis, arc(min, max), DVec3::Z, Angle::ZERO)
            else {
                panic!("no hinge");
            };
            assert!((found.min().degrees() - expected.0).abs() < 1e-9, "{found:?}");
            assert!((found.max().degrees() - expected.1).abs() < 1e-9, "{found:?}");
            assert_eq!(a.dot(axis) > 0.0, same);
        };
        check(-10.0, 90.0, DVec3::X, (-10.0, 90.0), true);
        check(-90.0, 10.0, DVec3::X, (-10.0, 90.0), false);
        // By the turn that is nearest to 0, or holds it.
        check(18.9, 203.2, DVec3::X, (18.9, 203.2), true);
        check(127.3, 413.6, DVec3::X, (-53.6, 232.7), false);
        check(170.0, 200.0, DVec3::X, (160.0, 190.0), false);
        check(160.0, 190.0, DVec3::X, (160.0, 190.0), true);
        check(-40.0, 40.0, DVec3::NEG_X, (-40.0, 40.0), false);
        check(-40.0, 40.0, DVec3::X, (-40.0, 40.0), true);
    }

    /// Random joints of every kind, with coordinates inside.
    fn joints(rng: &mut Rng) -> Vec<JointTruth> {
        let arcs = [arc(-30.0, 80.0), arc(150.0, 260.0)];
        let mut out = vec![
            JointTruth::hinge(rng.direction(), arcs[1], rng.direction(), deg(25.0)).unwrap(),
            JointTruth::universal([DVec3::X, DVec3::new(0.4, 1.0, 0.2)], arcs, deg(30.0)).unwrap(),
        ];
        for swing in zoo() {
            let bone = swing.center();
            out.push(JointTruth::ball(bone, swing, arcs[0], rng.rotation()).unwrap());
        }
        out
    }

    fn inside(truth: &JointTruth, rng: &mut Rng) -> Coordinates {
        let mut on =
            |a: Arc| Angle::from_radians(rng.between(a.min().radians(), a.max().radians()));
        match *truth {
            JointTruth::Hinge { arc, .. } => Coordinates::Hinge(on(arc)),
            JointTruth::Universal { arcs, .. } => Coordinates::Universal(arcs.map(on)),
            JointTruth::Ball { swing, twist, .. } => {
                let twist = on(twist);
                Coordinates::Ball { direction: swing.point(rng.uniform(), rng.uniform()), twist }
            }
            _ => Coordinates::None,
        }
    }

    #[test]
    fn coordinates_come_back_and_what_is_allowed_has_no_excess() {
        let mut rng = Rng::new(3);
        for _ in 0..20 {
            for truth in joints(&mut rng) {
                let there = inside(&truth, &mut rng);
                let m = truth.rotation(there).unwrap();
                let near = |a: Angle, b: Angle| (a - b).wrapped().radians().abs() < 1e-13;
                let same = match (there, truth.coordinates(m)) {
                    (Coordinates::Hinge(a), Coordinates::Hinge(b)) => near(a, b),
                    (Coordinates::Universal(a), Coordinates::Universal(b)) => {
                        near(a[0], b[0]) && near(a[1], b[1])
                    }
                    (
                        Coordinates::Ball { direction: a, twist: s },
                        Coordinates::Ball { direction: b, twist: t },
                    ) => (a - b).length() < 1e-14 && near(s, t),
                    _ => false,
                };
                assert!(same, "{truth:?} {there:?} {:?}", truth.coordinates(m));
                assert!(truth.excess(m).radians() < 1e-13, "{truth:?} {there:?}");
            }
        }
    }

    #[test]
    fn the_excess_says_how_far_outside() {
        let hinge = JointTruth::hinge(DVec3::X, arc(-10.0, 40.0), DVec3::Y, Angle::ZERO).unwrap();
        let about = |v: DVec3, d: f64| Rotation::from_axis_angle(v, deg(d)).unwrap();
        assert!((hinge.excess(about(DVec3::X, 55.0)).degrees() - 15.0).abs() < 1e-9);
        assert!((hinge.excess(about(DVec3::Y, 7.0)).degrees() - 7.0).abs() < 1e-9);
        let fixed = JointTruth::Fixed { center: about(DVec3::Z, 12.0) };
        assert!((fixed.rest_excess().degrees() - 12.0).abs() < 1e-9);
        let off = JointTruth::hinge(DVec3::X, arc(-10.0, 40.0), DVec3::Y, deg(20.0)).unwrap();
        assert!((off.rest_excess().degrees() - 20.0).abs() < 1e-9);
        assert_eq!(JointTruth::Free.excess(about(DVec3::Y, 100.0)), Angle::ZERO);
        let ball = JointTruth::ball(DVec3::X, zoo()[0], arc(-20.0, 20.0), Rotation::IDENTITY);
        let swing = zoo()[0].center();
        let m = direct_rotation(DVec3::X, swing).unwrap().rotation * about(DVec3::X, 50.0);
        assert!((ball.unwrap().excess(m).degrees() - 30.0).abs() < 1e-9);
    }

    #[test]
    fn a_mirrored_joint_does_the_mirrored_turns() {
        let mut rng = Rng::new(4);
        for truth in joints(&mut rng) {
            let mirrored = truth.mirrored();
            for _ in 0..20 {
                let m = truth.rotation(inside(&truth, &mut rng)).unwrap();
                let [w, x, y, z] = (truth.center() * m).to_wxyz();
                let local = Rotation::from_wxyz([w, x, -y, -z]).unwrap();
                let excess = mirrored.excess(mirrored.motion(Rotation::IDENTITY, local));
                assert!(excess.radians() < 1e-13, "{truth:?}: {excess:?}");
            }
            let twice = mirrored.mirrored();
            assert!(twice.center().distance(truth.center()).radians() < 1e-15);
        }
    }

    #[test]
    fn impossible_joints_are_refused() {
        let flat = arc(0.0, 10.0);
        assert!(JointTruth::hinge(DVec3::ZERO, flat, DVec3::X, Angle::ZERO).is_none());
        assert!(JointTruth::hinge(DVec3::X, Arc::EMPTY, DVec3::Y, Angle::ZERO).is_none());
        assert!(JointTruth::hinge(DVec3::X, flat, DVec3::X, deg(5.0)).is_none());
        assert!(JointTruth::hinge(DVec3::X, flat, DVec3::Y, deg(-5.0)).is_none());
        assert!(JointTruth::universal([DVec3::X; 2], [flat; 2], Angle::ZERO).is_none());
        assert!(JointTruth::universal([DVec3::X, DVec3::Y], [flat; 2], deg(100.0)).is_none());
        let cone = zoo()[1];
        assert!(JointTruth::ball(-cone.center(), cone, flat, Rotation::IDENTITY).is_none());
        let hinge = JointTruth::hinge(DVec3::X, flat, DVec3::X, Angle::ZERO).unwrap();
        assert!(hinge.rotation(Coordinates::None).is_none());
    }
}
