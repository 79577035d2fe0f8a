//! Joints that a file turns about one axis or two only.

use std::f64::consts::TAU;

use glam::DVec3;

use super::encode::source_axes;
use super::{Clip, FrameIndex};
use crate::math::{Axis, Rotation, trig};
use crate::skeleton::{JointIndex, Skeleton};

/// Rotations this near to what the axes of a joint can make are made by them, in radians: far above
/// rounding, far below the digits of files.
const ON_AXES: f64 = 1e-9;

/// The turns of a joint about one axis, or about two different ones, after its rest rotation; or none.
/// Between two of its poses there are rotations that it cannot make: it is to be moved by its angles.
///
/// ```text
///   local = rest · A_1(v.x) · A_2(v.y)
/// ```
///
/// Angles are radians, and each rotation of two axes has one pair of them, but for whole turns.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    /// At most two, leftmost factor first.
    axes: Vec<Axis>,
    rest: Rotation,
}

impl Turns {
    /// Those that the file of the first clip has for a joint, if all clips keep to them. `None` for roots,
    /// which are turned about the vertical to where a motion is put, and for joints with three turns.
    pub(crate) fn of(skeleton: &Skeleton, clips: &[&Clip], joint: JointIndex) -> Option<Self> {
        skeleton.parent(joint)?;
        let axes = source_axes(clips.first()?, joint);
        let few = match *axes {
            [_] => true,
            [a, b] => a != b,
            _ => false,
        };
        let turns = few.then(|| Self { axes, rest: skeleton[joint].rest })?;
        clips.iter().all(|clip| turns.has(clip, joint)).then_some(turns)
    }

    /// Those that the file of a skeleton declares for a joint: at most two different ones, or none at all.
    /// `None` for roots, for joints with three, and where nothing is declared.
    pub(crate) fn declared(skeleton: &Skeleton, joint: JointIndex) -> Option<Self> {
        skeleton.parent(joint)?;
        let dofs = skeleton[joint].declared.dofs.as_ref()?;
        // Listed first acts first, and is the rightmost factor.
        let turns = dofs.iter().rev().filter_map(|d| d.dof.rotation_axis()).map(Axis::from_index);
        let axes: Vec<Axis> = turns.collect();
        let few = match *axes {
            [] | [_] => true,
            [a, b] => a != b,
            _ => false,
        };
        few.then(|| Self { axes, rest: skeleton[joint].rest })
    }

    /// The axes in the joint's local space, leftmost factor first.
    pub(crate) fn local_axes(&self) -> Vec<DVec3> {
        self.axes.iter().map(|axis| [DVec3::X, DVec3::Y, DVec3::Z][axis.index()]).collect()
    }

    /// The axis in the joint's local space, if there is one only.
    pub(crate) fn axis(&self) -> Option<DVec3> {
        let [axis] = *self.local_axes() else { return None };
        Some(axis)
    }

    /// Whether a clip's rotations of a joint are all made by these turns.
    fn has(&self, clip: &Clip, joint: JointIndex) -> bool {
        let same = source_axes(clip, joint) == self.axes;
        clip.frames().all(|frame| {
            let as_read =
                || clip.channels().is_some_and(|c| c.rotation_is_source(joint, frame.get()));
            let local = || clip.rotation(joint, frame);
            (same && as_read()) || self.nearest(local()).distance(local()).radians() <= ON_AXES
        })
    }

    /// The angles of the rotation nearest to a local one, each in the turn nearest to another angle.
    ///
    /// For two axes, with α and β half the angles about the right and the left one, and `(w, x, y, z)` the
    /// rotation with x along the right axis, y along the left and z along the third (its sign so that
    /// the three are right-handed), the cosine of half the distance is
    ///
    /// ```text
    ///   w cos β cos α + x cos β sin α + y sin β cos α − z sin β sin α
    ///   = ½ [ (w − z) cos(β − α) + (y − x) sin(β − α) + (w + z) cos(β + α) + (y + x) sin(β + α) ]
    /// ```
    ///
    /// which is largest where both pairs are.
    pub(crate) fn angles(&self, local: Rotation, near: DVec3) -> DVec3 {
        let q = (self.rest.inverse() * local).quat();
        let v = [q.x, q.y, q.z];
        let angles = match *self.axes {
            [left, right, ..] => {
                let (i, j) = (right.index(), left.index());
                let handed = if (i + 1) % 3 == j { 1.0 } else { -1.0 };
                let (x, y, z) = (v[i], v[j], handed * v[3 - i - j]);
                let (difference, sum) = (trig::atan2(y - x, q.w - z), trig::atan2(y + x, q.w + z));
                DVec3::new(sum + difference, sum - difference, 0.0)
            }
            [axis] => DVec3::X * (2.0 * trig::atan2(v[axis.index()], q.w)),
            [] => DVec3::ZERO,
        };
        angles + ((near - angles) / TAU).round() * TAU
    }

    /// The local rotation that angles make.
    pub(crate) fn rotation(&self, angles: DVec3) -> Rotation {
        let about = |(axis, angle): (&Axis, f64)| {
            let (sine, cosine) = trig::sin_cos(0.5 * angle);
            let mut v = [0.0; 3];
            v[axis.index()] = sine;
            Rotation::from_wxyz([cosine, v[0], v[1], v[2]]).unwrap_or_default()
        };
        let turns = self.axes.iter().zip(angles.to_array()).map(about);
        turns.fold(self.rest, |all, turn| all * turn)
    }

    /// What a small change of each angle turns about, in the parent's local space; zero for what is not there.
    pub(crate) fn axes(&self, angles: DVec3) -> [DVec3; 2] {
        let unit = |k: usize| {
            let axis = self.axes.get(k)?;
            Some([DVec3::X, DVec3::Y, DVec3::Z][axis.index()])
        };
        let first = unit(0).map(|axis| self.rest * axis);
        // The leftmost turn carries the other.
        let carried = self.rotation(angles);
        let second = unit(1).map(|axis| carried * axis);
        [first, second].map(Option::unwrap_or_default)
    }

    /// The nearest rotation that these turns can make.
    pub(crate) fn nearest(&self, local: Rotation) -> Rotation {
        self.rotation(self.angles(local, DVec3::ZERO))
    }

    /// The angles of a clip's joint in a frame.
    pub(crate) fn at(
        &self,
        clip: &Clip,
        joint: JointIndex,
        frame: FrameIndex,
        near: DVec3,
    ) -> DVec3 {
        self.angles(clip.rotation(joint, frame), near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Angle, arbitrary};

    const AXES: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    fn about(axis: Axis, radians: f64) -> Rotation {
        let a = Angle::from_radians(radians);
        [Rotation::about_x(a), Rotation::about_y(a), Rotation::about_z(a)][axis.index()]
    }

    #[test]
    fn prop_angles_are_found_again_and_others_are_no_nearer() {
        arbtest::arbtest(|u| {
            let (rest, r) = (arbitrary::rotation(u)?, arbitrary::rotation(u)?);
            let given =
                DVec3::new(arbitrary::angle(u)?.radians(), arbitrary::angle(u)?.radians(), 0.0);
            for left in AXES {
                for right in AXES {
                    let axes = if left == right { vec![left] } else { vec![left, right] };
                    let given = if left == right { DVec3::X * given.x } else { given };
                    let turns = Turns { axes, rest };
                    let second = if left == right { 0.0 } else { given.y };
                    let made = rest * about(left, given.x) * about(right, second);
                    assert!(turns.rotation(given).distance(made).radians() < 1e-14);
                    assert!((turns.angles(made, given) - given).length() < 1e-7, "{given}");
                    let near = turns.nearest(r);
                    let off = near.distance(r).radians();
                    for by in [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y] {
                        let other = turns.angles(near, DVec3::ZERO) + by * 1e-3;
                        assert!(turns.rotation(other).distance(r).radians() >= off - 1e-9);
                    }
                }
            }
            Ok(())
        });
    }
}
