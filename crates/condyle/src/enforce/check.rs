//! Which frames of a clip leave the limits.

use std::num::NonZeroUsize;

use super::BoundRig;
use super::bound::BoundJoint;
use crate::math::Angle;
use crate::motion::{Clip, FrameIndex};
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
    /// How many are outside as well, but one by one in the rig's list of what its estimate left out,
    /// see [`RigJoint::left_out`](crate::rig::RigJoint::left_out): known already.
    pub left_out: usize,
    /// How many frames are outside by less.
    pub within_noise: usize,
    /// How far outside the worst frame is that is not left out: −distance. Negative if all frames are inside; then it is
    /// what was left to the boundary. −180° where there is no limit or no frame.
    pub worst: Angle,
    /// The first frame that is so far outside.
    pub worst_frame: FrameIndex,
    /// The largest excess that counts as noise: max(0.01°, 3 × the noise of the estimate).
    pub allowance: Angle,
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
        let joints = threads::each(self.bound(clip), threads, |bound| of_joint(bound, clip));
        Check { frames: clip.frame_count(), joints }
    }
}

fn of_joint(bound: &BoundJoint, clip: &Clip) -> JointCheck {
    let mut found = JointCheck {
        joint: bound.joint,
        outside: 0,
        left_out: 0,
        within_noise: 0,
        worst: Angle::from_radians(-Angle::HALF_TURN.radians()),
        worst_frame: FrameIndex(0),
        allowance: bound.allowance,
    };
    if !bound.restricts {
        return found;
    }
    let mut add = |frame, local, times| {
        let m = bound.motion(local);
        let excess = Angle::from_radians(-bound.limit.distance(m).radians());
        if excess > bound.allowance {
            if bound.left_out.has(m) {
                found.left_out += times;
                return;
            }
            found.outside += times;
        } else if excess.radians() > crate::limits::TOLERANCE {
            found.within_noise += times;
        }
        if excess > found.worst {
            (found.worst, found.worst_frame) = (excess, frame);
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
