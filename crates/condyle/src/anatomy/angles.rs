//! Clinical angles of a joint of the body, and the ISB's.

use glam::DVec3;

use super::{BodyJoint, BodySide};
use crate::math::{
    Angle, EulerAngles, EulerOrder, Level, Rotation, Rotations, Swing, SwingAxes, SwingTwist, batch,
};
use crate::skeleton::JointIndex;

/// What a clinical angle is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AngleName {
    /// Where it is positive.
    pub positive: &'static str,
    /// Where it is negative.
    pub negative: &'static str,
}

const fn name(positive: &'static str, negative: &'static str) -> AngleName {
    AngleName { positive, negative }
}

const FLEXION: AngleName = name("flexion", "extension");
const ABDUCTION: AngleName = name("abduction", "adduction");
const ROTATION: AngleName = name("external rotation", "internal rotation");
const PRONATION: AngleName = name("pronation", "supination");

impl BodyJoint {
    /// The names of its three angles, in the order of the sequence.
    ///
    /// ```
    /// use condyle::anatomy::BodyJoint;
    /// assert_eq!(BodyJoint::Ankle.angles()[0].positive, "dorsiflexion");
    /// ```
    #[must_use]
    pub const fn angles(self) -> [AngleName; 3] {
        match self {
            Self::Hip | Self::Knee | Self::Shoulder => [FLEXION, ABDUCTION, ROTATION],
            Self::Ankle => {
                [name("dorsiflexion", "plantar flexion"), name("inversion", "eversion"), ROTATION]
            }
            Self::Toes => [FLEXION, name("inversion", "eversion"), ROTATION],
            Self::Clavicle => [
                name("protraction", "retraction"),
                name("elevation", "depression"),
                name("backward rotation", "forward rotation"),
            ],
            Self::Elbow | Self::Forearm => [FLEXION, ABDUCTION, PRONATION],
            Self::Wrist => [FLEXION, name("ulnar deviation", "radial deviation"), PRONATION],
            Self::Pelvis | Self::Lumbar | Self::Thoracic | Self::Neck | Self::Back => [
                FLEXION,
                name("bending to the right", "bending to the left"),
                name("turning to the left", "turning to the right"),
            ],
        }
    }

    /// The sequence of the ISB: Y-X'-Y'' for the shoulder (thorax to humerus), Y-X'-Z'' for the
    /// clavicle, Z-X'-Y'' (Grood and Suntay) for all others. First letter leftmost.
    ///
    /// # Source
    ///
    /// G. Wu et al., ISB recommendation on definitions of joint coordinate systems, part I: ankle, hip
    /// and spine, J. Biomech. 35(4), 2002, 543–548; part II: shoulder, elbow, wrist and hand,
    /// J. Biomech. 38(5), 2005, 981–992. E. S. Grood and W. J. Suntay, A joint coordinate system for
    /// the clinical description of three-dimensional motions, J. Biomech. Eng. 105(2), 1983, 136–144.
    #[must_use]
    pub const fn sequence(self) -> EulerOrder {
        match self {
            Self::Shoulder => EulerOrder::YXY,
            Self::Clavicle => EulerOrder::YXZ,
            _ => EulerOrder::ZXY,
        }
    }

    /// On the right: whether the positive clinical angle is the positive angle of the sequence.
    const fn signs(self) -> [f64; 3] {
        match self {
            // The thigh hangs along −Y: about Z it goes forward, about X to the left.
            Self::Hip => [1.0, -1.0, -1.0],
            // The shank goes backward.
            Self::Knee => [-1.0, -1.0, -1.0],
            // The foot lies along X: about Z the toes go up, about X the sole to the left.
            Self::Ankle => [1.0, 1.0, -1.0],
            Self::Toes => [-1.0, 1.0, -1.0],
            // The clavicle lies along Z: about Y it goes forward, about X down.
            Self::Clavicle => [1.0, -1.0, 1.0],
            Self::Elbow | Self::Forearm => [1.0, -1.0, 1.0],
            Self::Wrist | Self::Shoulder => [1.0, 1.0, 1.0],
            // The spine stands along Y: about Z it goes backward, about X to the right.
            Self::Pelvis | Self::Lumbar | Self::Thoracic | Self::Neck | Self::Back => {
                [-1.0, 1.0, 1.0]
            }
        }
    }
}

/// A joint of the body in a skeleton, or several of them in a row taken as one.
#[derive(Clone, Debug)]
pub struct AnatomicalJoint {
    /// Which.
    pub what: BodyJoint,
    /// On which side.
    pub side: BodySide,
    /// The joints of the skeleton that it consists of, from the top; the last one carries the segment
    /// that moves. Those before it may be at rest for ever.
    pub chain: Vec<JointIndex>,
    /// Whether it is all there is of this joint of the body, so that published ranges are about it.
    pub whole: bool,
    /// The anatomical frame of the segment above, in the local space of the parent of the first joint
    /// of [`chain`](Self::chain): x forward, y up or to the proximal end, z to the right.
    pub proximal: Rotation,
    /// The anatomical frame of the segment that moves, in the local space of the last joint.
    pub distal: Rotation,
    /// The proximal frame in the local space of the last joint's parent, when what is between is as in
    /// the pose that the frames are from.
    pub(super) at_parent: Rotation,
}

impl AnatomicalJoint {
    /// The joint of the skeleton that carries the segment that moves.
    #[must_use]
    pub fn joint(&self) -> Option<JointIndex> {
        self.chain.last().copied()
    }

    /// The clinical angles for a local rotation of the last joint, in the order of
    /// [`BodyJoint::angles`]; what else is in the chain is as in the pose that the frames are from.
    ///
    /// # Convention
    ///
    /// Zero is the standing body with hanging arms, thumbs forward. All but the shoulder: the angles of
    /// [`BodyJoint::sequence`], with signs such that each is positive as its name says, on the left as
    /// on the right. The shoulder: the direct swing of the arm from hanging, as a rotation vector, that
    /// is, its elevation times the sine (flexion) and the cosine (abduction) of the plane of elevation;
    /// and the twist about the arm besides.
    ///
    /// # Domain and singularity
    ///
    /// Total. Z-X'-Y'' and Y-X'-Z'' are singular where the second angle is ±90°, which no healthy joint
    /// reaches: the third is then 0. The first and the third are in (−180°, 180°], the second in
    /// [−90°, 90°]. The shoulder's is singular for the arm straight up, where only the elevation is
    /// determined.
    ///
    /// ```
    /// use condyle::anatomy::Anatomy;
    /// use condyle::math::{Angle, Rotation};
    /// use condyle::synth::Figure;
    ///
    /// let human = Figure::human();
    /// let skeleton = human.skeleton();
    /// let anatomy = Anatomy::of(skeleton).ok_or("no names that we know")?;
    /// let knee = skeleton.find("LeftLeg").ok_or("no knee")?;
    /// let joint = anatomy.joint(knee).ok_or("no frames")?;
    /// let bent = joint.local_of([60.0, 0.0, 0.0].map(Angle::from_degrees)).ok_or("not finite")?;
    /// assert!((joint.angles(bent)[0].degrees() - 60.0).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn angles(&self, local: Rotation) -> [Angle; 3] {
        self.clinical(self.rotation(local))
    }

    /// The same with the local rotation of every joint of the chain.
    #[must_use]
    pub fn angles_along(&self, local: impl FnMut(JointIndex) -> Rotation) -> [Angle; 3] {
        self.clinical(self.rotation_along(local))
    }

    /// Whether clinical angles are so near to where they are singular that a small error of the pose
    /// changes one of them by more than three times as much: an arm raised beyond 143.1°, or a second
    /// angle of another joint beyond ±70.5°.
    ///
    /// # Source
    ///
    /// Our own factors. With b the second angle of Z-X'-Y'' or Y-X'-Z'', the speed of the first angle is
    /// that of the segment about an axis, divided by cos b: so 1 / cos b > 3. With e the elevation of the
    /// arm, one that moves across its plane at unit speed changes the plane by 1 / sin e, and the twist
    /// of the direct swing by (1 − cos e) times that: so tan (e/2) > 3. The singularities themselves:
    /// H. J. Woltring, 3-D attitude representation of human joints: a standardization proposal,
    /// J. Biomech. 27(12), 1994, 1399–1414, for the sequences; G. Wu et al. 2005 for the shoulder.
    ///
    /// # Domain
    ///
    /// Total; not so for what is no number.
    #[must_use]
    pub fn is_nearly_singular(&self, angles: [Angle; 3]) -> bool {
        // 2 atan 3, and acos (1/3).
        const RAISED: f64 = 2.498_091_544_796_509;
        const ASIDE: f64 = 1.230_959_417_340_774_7;
        let [first, second, _] = angles.map(Angle::radians);
        match self.what {
            BodyJoint::Shoulder => (first * first + second * second).sqrt() > RAISED,
            _ => second.abs() > ASIDE,
        }
    }

    /// The angles of [`BodyJoint::sequence`] with the signs of the ISB for a right joint; those of a
    /// left one are of its mirror image. Of the shoulder: plane of elevation (0 abduction, 90° forward
    /// flexion), elevation (here not negative), axial rotation (internal positive).
    ///
    /// # Domain and singularity
    ///
    /// Total. The shoulder's is singular for the hanging arm and for the arm straight up: only the sum
    /// (or difference) of the first and third is then determined.
    #[must_use]
    pub fn isb(&self, local: Rotation) -> [Angle; 3] {
        let angles = EulerAngles::from_rotation(self.what.sequence(), self.rotation(local)).angles;
        match self.what {
            // R_y(a) R_x(b) R_y(c) = R_y(a − π) R_x(−b) R_y(c + π): the ISB raises the arm about −X.
            BodyJoint::Shoulder => {
                let [a, b, c] = angles;
                let half = Angle::HALF_TURN.radians();
                let turned = |angle: Angle, by| Angle::from_radians(angle.radians() + by).wrapped();
                [turned(a, -half), b, turned(c, half)]
            }
            _ => angles,
        }
    }

    /// The rotation from the proximal to the distal anatomical frame; of a left joint, its mirror image
    /// on the right.
    #[must_use]
    pub fn rotation(&self, local: Rotation) -> Rotation {
        self.to_right(self.at_parent.inverse() * local * self.distal)
    }

    /// The same with the local rotation of every joint of the chain.
    #[must_use]
    pub fn rotation_along(&self, mut local: impl FnMut(JointIndex) -> Rotation) -> Rotation {
        let start = self.proximal.inverse();
        let end = self.chain.iter().fold(start, |product, j| product * local(*j));
        self.to_right(end * self.distal)
    }

    /// The local rotation with some clinical angles: the way back from [`angles`](Self::angles). `None`
    /// if one is not finite.
    #[must_use]
    pub fn local_of(&self, angles: [Angle; 3]) -> Option<Rotation> {
        let right = match self.what {
            BodyJoint::Shoulder => {
                let [flexion, abduction, twist] = angles;
                let swing = Swing::from_radians(-abduction.radians(), flexion.radians());
                SwingTwist { swing, twist }.to_rotation(&arm()?)?
            }
            what => {
                let mut signed = angles;
                for (angle, sign) in signed.iter_mut().zip(what.signs()) {
                    *angle = Angle::from_radians(sign * angle.radians());
                }
                what.sequence().to_rotation(signed)?
            }
        };
        Some(self.at_parent * self.to_right(right) * self.distal.inverse())
    }

    fn clinical(&self, right: Rotation) -> [Angle; 3] {
        if self.what == BodyJoint::Shoulder {
            let Some(arm) = arm() else { return [Angle::ZERO; 3] };
            let SwingTwist { swing, twist } = SwingTwist::from_rotation(right, &arm);
            return [swing.y, Angle::from_radians(-swing.x.radians()), twist];
        }
        let mut angles = EulerAngles::from_rotation(self.what.sequence(), right).angles;
        for (angle, sign) in angles.iter_mut().zip(self.what.signs()) {
            *angle = Angle::from_radians(sign * angle.radians());
        }
        angles
    }

    /// The clinical angles of many rotations from the proximal to the distal anatomical frame, in radians,
    /// as of one; they are mirrored on the way.
    pub(super) fn clinical_columns(&self, rotations: &mut Rotations, mut to: [&mut [f64]; 3]) {
        if self.side == BodySide::Left {
            let [x, y, ..] = rotations.xyzw_mut();
            x.iter_mut().chain(y).for_each(|c| *c = -*c);
        }
        let level = Level::best();
        if self.what == BodyJoint::Shoulder {
            let Some(arm) = arm() else { return };
            let [flexion, abduction, twist] = to;
            batch::swing_twist(level, &arm, rotations, [&mut *abduction, flexion, twist]);
            abduction.iter_mut().for_each(|x| *x = -*x);
            return;
        }
        let [a, b, c] = to.each_mut();
        batch::euler_angles(level, self.what.sequence(), rotations, [&mut **a, &mut **b, &mut **c]);
        for (column, sign) in to.into_iter().zip(self.what.signs()) {
            column.iter_mut().for_each(|angle| *angle *= sign);
        }
    }

    /// The mirror image across the plane x, y of a left joint; mirroring it again gives it back.
    pub(super) fn to_right(&self, rotation: Rotation) -> Rotation {
        match self.side {
            BodySide::Left => mirrored(rotation),
            _ => rotation,
        }
    }
}

/// The mirror image across the plane x, y; mirroring it again gives it back.
pub(super) fn mirrored(rotation: Rotation) -> Rotation {
    let [w, x, y, z] = rotation.to_wxyz();
    Rotation::from_wxyz([w, -x, -y, z]).unwrap_or(rotation)
}

/// The arm hangs along −y; swings about x bring it to the left, about z forward.
fn arm() -> Option<SwingAxes> {
    SwingAxes::new(DVec3::NEG_Y, Some(DVec3::X))
}
