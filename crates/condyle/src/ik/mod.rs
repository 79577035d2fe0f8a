//! Inverse kinematics: which rotations of joints put a hand or a foot where it should be.
//!
//! [`limb`] is exact, for an arm or a leg, and stays inside the limits of its joints.

pub mod limb;
