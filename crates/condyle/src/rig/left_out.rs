//! Frames that an estimate left out.

use super::{RigJoint, RigJoints};
use crate::hash::ContentHash;

/// Frames of a take that the estimate of a joint left out, and that the limit does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The take, by its content: that of its clip.
    pub take: ContentHash,
    /// Which of its frames, from 0.
    pub frames: Vec<u32>,
}

impl LeftOut {
    /// The frames of one take, rising; none of a take that is not known.
    pub(crate) fn frames_of(all: &[Self], take: Option<ContentHash>) -> Vec<u32> {
        let listed = all.iter().filter(|of| Some(of.take) == take);
        let mut frames: Vec<u32> = listed.flat_map(|of| of.frames.iter().copied()).collect();
        frames.sort_unstable();
        frames
    }
}

impl RigJoint {
    /// The frames of a clip that the estimate left out, rising; none of a clip that is not known.
    #[must_use]
    pub fn left_out_of(&self, take: Option<ContentHash>) -> Vec<u32> {
        LeftOut::frames_of(&self.left_out, take)
    }
}

impl RigJoints {
    /// Whether a joint has frames that were left out. If none has, nobody needs to ask which take it is.
    #[must_use]
    pub fn any_left_out(&self) -> bool {
        self.iter().any(|(_, joint)| !joint.left_out.is_empty())
    }
}
