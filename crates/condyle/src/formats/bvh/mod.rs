//! Biovision hierarchies (BVH).

use super::{MotionFile, Read, ReadError, ReadOptions, WriteError, WriteOptions, Written};

/// What a BVH says besides motion.
#[derive(Clone, Debug)]
pub struct Hierarchy {}

/// Reads a BVH.
pub fn read(_bytes: &[u8], _options: &ReadOptions) -> Result<Read, ReadError> {
    todo!()
}
/// Writes a BVH.
pub fn write(_file: &MotionFile, _options: &WriteOptions) -> Result<Written, WriteError> {
    todo!()
}
