//! A clip at any time, and at another rate.

use glam::DVec3;

use super::{Clip, FrameIndex, KeyTimes};
use crate::math::Rotation;
use crate::skeleton::JointIndex;

impl Clip {
    /// The joint's local rotation in a frame.
    ///
    /// # Panics
    ///
    /// If there is no such joint or frame.
    #[must_use]
    pub fn rotation(&self, joint: JointIndex, frame: FrameIndex) -> Rotation {
        let track = self.track(joint);
        match track.rotation_times() {
            KeyTimes::EveryFrame => track.rotations().at(frame.get()),
            KeyTimes::At(_) => track.rotations().at(0),
        }
    }

    /// The joint centre in its parent's local space in a frame, metres.
    ///
    /// # Panics
    ///
    /// If there is no such joint or frame.
    #[must_use]
    pub fn translation_m(&self, joint: JointIndex, frame: FrameIndex) -> DVec3 {
        let track = self.track(joint);
        match track.translation_times() {
            KeyTimes::EveryFrame => track.translations_m().at(frame.get()),
            KeyTimes::At(_) => track.translations_m().at(0),
        }
    }
}
