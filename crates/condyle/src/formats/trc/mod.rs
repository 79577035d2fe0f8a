//! Marker tables (TRC).

use super::{MotionFile, Read, ReadError, ReadOptions, WriteError, WriteOptions, Written};

/// What a TRC says besides markers.
#[derive(Clone, Debug)]
pub struct Header {}

/// Reads a TRC.
pub fn read(_bytes: &[u8], _options: &ReadOptions) -> Result<Read, ReadError> {
    todo!()
}
/// Writes a TRC.
pub fn write(_file: &MotionFile, _options: &WriteOptions) -> Result<Written, WriteError> {
    todo!()
}
