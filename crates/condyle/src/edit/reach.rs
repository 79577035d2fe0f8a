//! A leg or an arm whose end is brought to a place.

use std::f64::consts::PI;

use glam::DVec3;

use crate::anatomy::Anatomy;
use crate::ik::limb::{Limb, LimbGoal, LimbParts};
use crate::math::{Angle, Arc, Rotation, trig};
use crate::motion::turns::Turns;
use crate::motion::{Pose, World};
use crate::skeleton::{JointIndex, Skeleton};

/// As far as a knee or an elbow may bend for the sake of a goal.
const BENT: f64 = 160.0 * (PI / 180.0);

/// A limb whose end is so near to where it should be stays as it is: that is rounding.
const THERE_M: f64 = 1e-12;

/// A limb may be stretched to this share of its length for the sake of a goal: a knee or an elbow that is nearly
/// straight turns ever faster for the same way of the end. If it is straighter without that, it may stay so.
pub(super) const STRETCHED: f64 = 0.99;

/// From this share of its length on a limb that is stretched goes less far than it should.
const SOFT: f64 = 0.96;

/// Three joints of a limb, one below the other, with others between them or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reach {
    pub(super) upper: JointIndex,
    pub(super) hinge: JointIndex,
    pub(super) end: JointIndex,
    /// What the hinge bends about, in the local space of the upper joint.
    flexion: DVec3,
    /// The hinge's own axis, in its local space, if its file gives it only one.
    own: Option<DVec3>,
}

impl Reach {
    /// A knee flexes about −z of the frame of the thigh, an elbow about z of that of the upper arm.
    pub(super) fn new(
        skeleton: &Skeleton,
        anatomy: &Anatomy,
        [upper, hinge, end]: [JointIndex; 3],
        is_leg: bool,
    ) -> Option<Self> {
        let hangs = |below: JointIndex, on: JointIndex| {
            let up = |j: &JointIndex| skeleton.parent(*j);
            std::iter::successors(up(&below), up).any(|j| j == on)
        };
        let flexion = anatomy.frame(upper)? * if is_leg { DVec3::NEG_Z } else { DVec3::Z };
        let own = Turns::declared(skeleton, hinge).and_then(|turns| turns.axis());
        let reach = Self { upper, hinge, end, flexion, own };
        (hangs(hinge, upper) && hangs(end, hinge)).then_some(reach)
    }

    pub(super) const fn joints(&self) -> [JointIndex; 3] {
        [self.upper, self.hinge, self.end]
    }

    /// A place for the end, brought so near that the limb is not stretched to more than [`STRETCHED`], or than it
    /// is: it goes ever less far beyond [`SOFT`], and never all of the way. `world` is that of the pose as it is.
    pub(super) fn within(&self, world: &World, place_m: DVec3) -> DVec3 {
        let [upper, hinge, end] = self.joints().map(|j| world.positions_m[j.get()]);
        let length = hinge.distance(upper) + end.distance(hinge);
        let (own, wanted) = (end.distance(upper), place_m.distance(upper));
        let from = own.max(SOFT * length);
        let (more, room) = (wanted - from, (STRETCHED * length - from).max(0.0));
        if more <= 0.0 || !more.is_finite() {
            return place_m;
        }
        // It begins as it would without.
        upper + (place_m - upper) * ((from + more * room / (more + room)) / wanted)
    }

    /// Brings the end to a place, or as near as the bones let it: the hinge bends about its own axis, or about
    /// that of flexion, so that of its clinical angles only this changes; the upper joint turns as little
    /// as it can; the end keeps its rotation in the world. `world` is that of the pose.
    pub(super) fn reach(
        &self,
        skeleton: &Skeleton,
        pose: &mut Pose,
        world: &World,
        place_m: DVec3,
    ) {
        let [u, h, e] = self.joints().map(JointIndex::get);
        let (rotations, positions) = (&world.rotations, &world.positions_m);
        if positions[e].distance(place_m) <= THERE_M {
            return;
        }
        let above = |j| skeleton.parent(j).map_or(Rotation::IDENTITY, |p| rotations[p.get()]);
        let base = above(self.upper);
        let across = rotations[u].inverse() * rotations[h];
        let (upper_m, lower_m) = (
            rotations[u].inverse() * (positions[h] - positions[u]),
            rotations[h].inverse() * (positions[e] - positions[h]),
        );
        let found = || {
            let flexion = across.inverse() * self.flexion;
            let axis =
                self.own.map_or(flexion, |own| if own.dot(flexion) < 0.0 { -own } else { own });
            // How far it is bent about that axis; never through straight to the other side.
            let [a, b] = [across.inverse() * upper_m, lower_m].map(|v| v - axis * axis.dot(v));
            let bent = trig::atan2(axis.dot(a.cross(b)), a.dot(b));
            let [min, max] = [bent.min(0.0) - bent, bent.max(BENT) - bent];
            let limb = Limb::new(&LimbParts {
                upper_m,
                lower_m,
                zeros: [pose.rotations[u], across, rotations[h].inverse() * rotations[e]],
                axis,
                arc: Arc::new(Angle::from_radians(min), Angle::from_radians(max))?,
            })?;
            let position_m = base.inverse() * (place_m - positions[u]);
            let goal = LimbGoal { position_m, rotation: Some(base.inverse() * rotations[e]) };
            Some(limb.pose_near(&goal, pose.rotations[u]).locals)
        };
        let Some([upper, hinge, _]) = found() else { return };
        // Joints between these three stay as they are.
        let bent = across.inverse() * hinge;
        let carries = base * upper * hinge * rotations[h].inverse() * above(self.end);
        pose.rotations[u] = upper;
        pose.rotations[h] = pose.rotations[h] * bent;
        pose.rotations[e] = carries.inverse() * rotations[e];
    }
}
