//! Which frames of a clip leave the limits.

use std::num::NonZeroUsize;

use super::BoundRig;
use super::bound::BoundJoint;
use crate::hash::ContentHash;
use crate::math::Angle;
use crate::motion::{Clip, FrameIndex};
use crate::rig::LeftOut;
use crate::skeleton::JointIndex;
use crate::threads;

/// How a clip keeps to its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// How many frames the clip has.
    pub frames: usize,
    /// The joints that both the rig and the skeleton have, in the skeleton's order.
    pub joints: Vec<JointCheck>,
}

/// How one joint keeps to its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointCheck {
    /// Which joint.
    pub joint: JointIndex,
    /// How many frames are outside by more than `allowance`, and not left out.
    pub outside: usize,
    /// How many are outside as well, but are the very frames of this very clip that the estimate of the
    /// rig left out, see [`RigJoint::left_out`](crate::rig::RigJoint::left_out): known already.
    pub left_out: usize,
    /// How many frames are outside by less.
    pub within_noise: usize,
    /// The worst of the frames that are not left out. None where there is no boundary, or no such frame.
    pub worst: Option<Worst>,
    /// The [noise](crate::rig::RigJoint::noise) of the estimate, if the rig tells it.
    pub noise: Option<Angle>,
    /// The [worst sample](crate::rig::RigJoint::tolerance) that the estimate accepted, if the rig tells
    /// it.
    pub tolerance: Option<Angle>,
    /// The largest excess that counts as noise: max(0.01°, 3 × noise, tolerance).
    pub allowance: Angle,
}

/// The frame that is farthest outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// How far outside it is: −distance. Negative if all frames are inside; then it is what was left to
    /// the boundary.
    pub excess: Angle,
    /// The first frame that is so far outside.
    pub frame: FrameIndex,
}

impl Check {
    /// Whether no frame of any joint is outside by more than the noise, but those that the rig lists.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.joints.iter().all(|j| j.outside == 0)
    }
}

impl BoundRig {
    /// How a clip keeps to the limits, joint by joint. Allocates nothing per frame.
    ///
    /// # Panics
    ///
    /// If the clip has another number of joints than the skeleton that the rig is bound to.
    #[must_use]
    pub fn check(&self, clip: &Clip, threads: NonZeroUsize) -> Check {
        let take = self.take_of(clip);
        let of_joint = |bound: &BoundJoint| of_joint(bound, clip, take);
        let joints = threads::each(self.bound(clip), threads, of_joint);
        Check { frames: clip.frame_count(), joints }
    }
}

fn of_joint(bound: &BoundJoint, clip: &Clip, take: Option<ContentHash>) -> JointCheck {
    let left_out = LeftOut::frames_of(&bound.left_out, take);
    let is_left_out = |frame: FrameIndex| left_out.binary_search(&frame.0).is_ok();
    let mut found = JointCheck {
        joint: bound.joint,
        outside: 0,
        left_out: 0,
        within_noise: 0,
        worst: None,
        noise: bound.noise,
        tolerance: bound.tolerance,
        allowance: bound.allowance,
    };
    if !bound.restricts {
        return found;
    }
    let mut add = |frame, local, times| {
        let m = bound.motion(local);
        let excess = Angle::from_radians(-bound.limit.distance(m).radians());
        if excess > bound.allowance {
            if is_left_out(frame) {
                found.left_out += times;
                return;
            }
            found.outside += times;
        } else if excess.radians() > crate::limits::TOLERANCE {
            found.within_noise += times;
        }
        // Half a turn is what is left where there is no boundary.
        let least = found.worst.map_or(-Angle::HALF_TURN.radians(), |worst| worst.excess.radians());
        if excess.radians() > least {
            found.worst = Some(Worst { excess, frame });
        }
    };
    let track = clip.track(bound.joint);
    if track.rotation_times().is_constant() {
        if clip.frame_count() > 0 {
            add(FrameIndex(0), track.rotations().at(0), clip.frame_count());
        }
    } else {
        bound.locals(clip).for_each(|(frame, local)| add(frame, local, 1));
    }
    found
}
