//! Which way is up, and which way a figure faces.

use glam::{DMat3, DVec3};

use crate::anatomy::{Anatomy, FigureAxes, WorldAxis};
use crate::math::{Angle, Rotation, trig, unit};
use crate::motion::{Clip, FrameIndex, World};
use crate::skeleton::{JointIndex, Skeleton};

/// The axes of the world that a figure stands in: which way is up, and which way facing angles are
/// counted from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    up: DVec3,
    forward: DVec3,
}

impl Ground {
    /// Y up, Z forward: BVH and ASF as they mostly are.
    pub const Y_UP: Self = Self { up: DVec3::Y, forward: DVec3::Z };
    /// Z up, −Y forward: what becomes of [`Y_UP`](Self::Y_UP) by a quarter turn about x.
    pub const Z_UP: Self = Self { up: DVec3::Z, forward: DVec3::NEG_Y };
    /// X up, Z forward.
    pub const X_UP: Self = Self { up: DVec3::X, forward: DVec3::Z };

    /// Axes of one's own; what of `forward` is along `up` does not count. `None` if a vector is zero or
    /// not finite, or both are parallel.
    #[must_use]
    pub fn new(up: DVec3, forward: DVec3) -> Option<Self> {
        let up = unit(up)?;
        let forward = unit(unit(forward)?.reject_from_normalized(up))?;
        Some(Self { up, forward })
    }

    /// The axes of a world in which this axis is up.
    #[must_use]
    pub fn up_along(axis: WorldAxis) -> Self {
        let plain = match axis {
            WorldAxis::X | WorldAxis::NegX => Self::X_UP,
            WorldAxis::Y | WorldAxis::NegY => Self::Y_UP,
            WorldAxis::Z | WorldAxis::NegZ => Self::Z_UP,
        };
        Self { up: axis.vector(), ..plain }
    }

    /// By the rest pose alone: [`FigureAxes::of`] without motion. Where there is motion, it knows better.
    #[must_use]
    pub fn of(skeleton: &Skeleton) -> Self {
        Self::up_along(FigureAxes::of(skeleton, &[]).up().axis)
    }

    /// Against gravity.
    #[must_use]
    pub const fn up(self) -> DVec3 {
        self.up
    }

    /// Where a figure looks that faces 0°.
    #[must_use]
    pub const fn forward(self) -> DVec3 {
        self.forward
    }

    /// To the left of who faces 0°: x, if y is up and z forward.
    #[must_use]
    pub fn left(self) -> DVec3 {
        self.up.cross(self.forward)
    }

    /// The rotation from a world with y up and z forward to this one.
    pub(crate) fn axes(self) -> Rotation {
        let axes = DMat3::from_cols(self.left(), self.up, self.forward);
        Rotation::from_matrix(axes).unwrap_or_default()
    }

    /// The turn about the vertical by an angle, counter-clockwise seen from above.
    #[must_use]
    pub fn turn(self, angle: Angle) -> Rotation {
        Rotation::from_axis_angle(self.up, angle).unwrap_or_default()
    }

    /// How far up a point is, metres.
    #[must_use]
    pub fn height_m(self, point_m: DVec3) -> f64 {
        point_m.dot(self.up)
    }

    /// The point of the ground below a point, metres.
    #[must_use]
    pub fn below(self, point_m: DVec3) -> DVec3 {
        point_m - self.up * self.height_m(point_m)
    }

    /// The angle of a horizontal direction, counter-clockwise from forward.
    fn angle(self, direction: DVec3) -> Angle {
        let (left, ahead) = (direction.dot(self.left()), direction.dot(self.forward));
        Angle::from_radians(trig::atan2(left, ahead))
    }
}

/// Where a figure stands and which way it faces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stand {
    /// The centre of the joint that faces, metres.
    pub position_m: DVec3,
    /// Counter-clockwise seen from above; 0 faces [`Ground::forward`].
    pub facing: Angle,
}

/// Which way a figure faces: by one joint, the pelvis or else the root, and what of it points forward.
///
/// # Source
///
/// S. Lin, "Help note for assignment 2", 2010, eq 6 and 7 (rows C3 of the checklist), with
/// `atan2(R02, R22)` for the printed quotient, for any axes, and by the line of the hips where forward
/// is nearly vertical or the figure upside down.
///
/// ```
/// use condyle::edit::Facing;
/// use condyle::synth::{Figure, Options, Synth};
///
/// let made = Synth::generate(&Figure::human(), &Options::default(), 1)?;
/// let facing = Facing::of(&made.skeleton);
/// let stand = facing.stand(&made.clip.pose(condyle::motion::FrameIndex(0)).world(&made.skeleton));
/// assert!(stand.facing.degrees().abs() <= 180.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Facing {
    ground: Ground,
    joint: JointIndex,
    /// In the local space of the joint.
    forward: DVec3,
    left: DVec3,
}

impl Facing {
    /// By the names of the joints and the rest pose; without [names that we know](Anatomy::of) by the
    /// root, which faces forward at rest. Where there is motion, [`by`](Self::by) knows better.
    #[must_use]
    pub fn of(skeleton: &Skeleton) -> Self {
        Self::by(skeleton, &FigureAxes::of(skeleton, &[]))
    }

    /// By the axes of a figure in motion.
    #[must_use]
    pub fn by(skeleton: &Skeleton, axes: &FigureAxes) -> Self {
        Self::with(skeleton, Ground::up_along(axes.up().axis), axes.anatomy())
    }

    /// By the names of the joints and the rest pose, in a world with these axes.
    #[must_use]
    pub fn on(skeleton: &Skeleton, ground: Ground) -> Self {
        Self::with(skeleton, ground, Anatomy::of(skeleton).as_ref())
    }

    pub(crate) fn with(skeleton: &Skeleton, ground: Ground, anatomy: Option<&Anatomy>) -> Self {
        let by_name = || {
            let anatomy = anatomy?;
            let joint = anatomy.pelvis()?;
            let frame = anatomy.frame(joint)?;
            Some(Self { ground, joint, forward: frame * DVec3::X, left: frame * DVec3::NEG_Z })
        };
        by_name().unwrap_or_else(|| {
            let rest = skeleton.joints().first().map_or(Rotation::IDENTITY, |j| j.rest).inverse();
            let (forward, left) = (rest * ground.forward, rest * ground.left());
            Self { ground, joint: JointIndex::new(0), forward, left }
        })
    }

    /// The same of another joint, which is turned as this one.
    pub(super) const fn of_joint(self, joint: JointIndex) -> Self {
        Self { joint, ..self }
    }

    /// The axes of the world.
    #[must_use]
    pub const fn ground(&self) -> Ground {
        self.ground
    }

    /// The joint that faces.
    #[must_use]
    pub const fn joint(&self) -> JointIndex {
        self.joint
    }

    /// The facing of the joint with this rotation in the world: that of its forward direction, seen
    /// from above. Within 30° of the vertical, where that says less and less, and upside down, where it
    /// points backward, the direction that the line of the hips is square to comes in.
    ///
    /// So facing is continuous for who bows, lies, or rolls over forward or backward. It cannot be
    /// everywhere: upside down, a roll forward and one sideways end in one pose that faces ahead by the
    /// one and back by the other. Here it turns about where a figure hangs 135° to its side.
    #[must_use]
    pub fn angle(&self, world: Rotation) -> Angle {
        // The sine of 30 degrees, squared.
        const STEEP: f64 = 0.25;
        let flat = |v: DVec3| (world * v).reject_from_normalized(self.ground.up);
        let forward = flat(self.forward);
        // Forward is left × up.
        let square = flat(self.left).cross(self.ground.up);
        // The cosine of the angle between the figure's up and the world's.
        let upright = square.dot(forward);
        let steep = (1.0 - forward.length_squared() / STEEP).max(0.0);
        // Their sum is zero only with the hips in the plane of the vertical (forward level), where
        // square = upright · forward, and 1 = 2 upright².
        let hips = steep + 2.0 * (-upright).max(0.0);
        if hips == 0.0 {
            return self.ground.angle(forward);
        }
        self.ground.angle(forward + square * hips)
    }

    /// Where a figure with this pose in the world stands, and which way it faces.
    ///
    /// # Panics
    ///
    /// If there are no joints.
    #[must_use]
    pub fn stand(&self, world: &World) -> Stand {
        let at = self.joint.get();
        Stand { position_m: world.positions_m[at], facing: self.angle(world.rotations[at]) }
    }

    /// The same in a frame of a clip.
    ///
    /// # Panics
    ///
    /// If there is no such frame, or the clip has another number of joints.
    #[must_use]
    pub fn stand_in(&self, skeleton: &Skeleton, clip: &Clip, frame: FrameIndex) -> Stand {
        let (rotation, position_m) = self.place_in(skeleton, clip, frame);
        Stand { position_m, facing: self.angle(rotation) }
    }

    /// The rotation and the place in the world of the joint that faces, in a frame of a clip.
    pub(super) fn place_in(
        &self,
        skeleton: &Skeleton,
        clip: &Clip,
        frame: FrameIndex,
    ) -> (Rotation, DVec3) {
        // Only what is above the joint matters.
        let mut at = Some(self.joint);
        let (mut rotation, mut position) = (Rotation::IDENTITY, DVec3::ZERO);
        while let Some(j) = at {
            let local = clip.rotation(j, frame);
            position = clip.translation_m(j, frame) + local * position;
            rotation = local * rotation;
            at = skeleton.parent(j);
        }
        (rotation, position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::Joint;
    use crate::synth::Figure;

    const fn deg(d: f64) -> Angle {
        Angle::from_degrees(d)
    }

    #[test]
    fn c3_eq_7_is_atan2_of_the_third_column_over_the_whole_circle() {
        let mut s = Skeleton::new();
        s.add_root(Joint::new("root", DVec3::ZERO)).unwrap();
        let facing = Facing::of(&s);
        for theta in (-17..=18).map(|k| 10.0 * f64::from(k)) {
            for tilt in [-40.0, 0.0, 60.0] {
                let r = Rotation::about_y(deg(theta)) * Rotation::about_x(deg(tilt));
                let m = r.to_matrix();
                let seed = trig::atan2(m.col(2)[0], m.col(2)[2]);
                assert!((facing.angle(r).radians() - seed).abs() < 1e-12, "{theta} {tilt}");
                let off = (facing.angle(r).degrees() - theta).abs();
                assert!(off < 1e-9 || (off - 360.0).abs() < 1e-9, "{theta} {tilt}: {off}");
            }
        }
    }

    #[test]
    fn c3_trap_who_bows_to_the_ground_or_rolls_over_faces_as_before() {
        let mut s = Skeleton::new();
        s.add_root(Joint::new("root", DVec3::ZERO)).unwrap();
        let facing = Facing::of(&s);
        for tilt in [75.0, 89.999, 90.0, 90.001, 105.0, -75.0, -90.0, -105.0] {
            let r = Rotation::about_y(deg(50.0)) * Rotation::about_x(deg(tilt));
            assert!((facing.angle(r).degrees() - 50.0).abs() < 1e-6, "{tilt}");
        }
    }

    /// The angle from one facing to another, degrees.
    fn off(a: Angle, b: Angle) -> f64 {
        Angle::from_radians(a.radians() - b.radians()).wrapped().degrees().abs()
    }

    #[test]
    fn c3_trap_facing_is_continuous_all_the_way_over() {
        let mut s = Skeleton::new();
        s.add_root(Joint::new("root", DVec3::ZERO)).unwrap();
        let facing = Facing::of(&s);
        let at = |pitch: f64, roll: f64| {
            let tilt = Rotation::about_x(deg(pitch)) * Rotation::about_z(deg(roll));
            facing.angle(Rotation::about_y(deg(50.0)) * tilt)
        };
        for pitch in (0..=3600).map(|k| 0.1 * f64::from(k)) {
            assert!(off(at(pitch, 0.0), deg(50.0)) < 1e-6, "{pitch}");
            // To the side as well: no jump in either way, and never backward.
            for roll in (-40..=40).step_by(5).map(f64::from) {
                let here = at(pitch, roll);
                let [over, aside] = [at(pitch + 0.1, roll), at(pitch, roll + 0.1)];
                let jump = off(here, over).max(off(here, aside));
                assert!(jump < 0.7, "{pitch} {roll}: {jump}");
                assert!(off(here, deg(50.0)) < 90.0, "{pitch} {roll}: {here:?}");
            }
        }
        // Who lies on a side, or leans, has the forward direction.
        for roll in [-120.0, -90.0, -40.0, 10.0, 60.0, 90.0, 120.0] {
            assert!(off(at(0.0, roll), deg(50.0)) < 1e-6, "{roll}");
        }
    }

    #[test]
    fn who_stands_in_a_world_with_another_axis_up_faces_the_same() {
        // The human figure, turned as a whole into a world with z up.
        let figure = Figure::human();
        let skeleton = figure.skeleton();
        assert_eq!(Ground::of(skeleton), Ground::Y_UP);
        let lifted = Rotation::about_x(deg(90.0));
        let mut turned = Skeleton::new();
        for j in skeleton.indices() {
            let mut joint = skeleton[j].clone();
            match skeleton.parent(j) {
                Some(p) => turned.add(p, joint).unwrap(),
                None => {
                    joint.rest = lifted * joint.rest;
                    joint.offset_m = lifted * joint.offset_m;
                    turned.add_root(joint).unwrap()
                }
            };
        }
        assert_eq!(Ground::of(&turned), Ground::Z_UP);
        let (a, b) = (Facing::of(skeleton), Facing::of(&turned));
        for theta in [-170.0, -20.0, 0.0, 130.0] {
            let r = Rotation::about_y(deg(theta)) * skeleton[a.joint()].rest;
            assert!((a.angle(r).degrees() - theta).abs() < 1e-9, "{theta}");
            assert!((b.angle(lifted * r).degrees() - theta).abs() < 1e-9, "{theta}");
        }
    }

    #[test]
    fn a_rest_pose_that_does_not_stand_has_y_up() {
        // As Bandai-Namco's: all bones along x at rest, legs too, on the right against it; the table has
        // the axes.
        let mut s = Skeleton::new();
        let hips = s.add_root(Joint::new("Hips", DVec3::Y)).unwrap();
        let mut chain = |names: [String; 3], aside: DVec3, bone: DVec3| {
            let mut last = s.add(hips, Joint::new(names[0].as_str(), aside)).unwrap();
            for name in &names[1..] {
                last = s.add(last, Joint::new(name.as_str(), bone)).unwrap();
            }
        };
        chain(["Spine", "Chest", "Neck"].map(String::from), DVec3::X * 0.2, DVec3::X * 0.2);
        for (side, sign) in [("L", 1.0), ("R", -1.0)] {
            let leg = ["UpperLeg", "LowerLeg", "Foot"].map(|n| format!("{n}_{side}"));
            chain(leg, DVec3::Y * (0.1 * sign), DVec3::X * (0.4 * sign));
        }
        let anatomy = Anatomy::of(&s).unwrap();
        assert!(anatomy.title().starts_with("Bandai"), "{}", anatomy.title());
        assert_eq!(Ground::of(&s), Ground::Y_UP);
    }
}
