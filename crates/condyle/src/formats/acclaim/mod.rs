//! Acclaim skeletons (ASF) and motions (AMC).

use super::{MotionFile, Read, ReadError, ReadOptions, WriteError, WriteOptions, Written};

/// What an ASF and an AMC say besides skeleton and motion.
#[derive(Clone, Debug)]
pub struct Origin {}

/// Reads an ASF.
pub fn read_asf(_bytes: &[u8], _options: &ReadOptions) -> Result<Read, ReadError> {
    todo!()
}
/// Reads an AMC.
pub fn read_amc(
    _bytes: &[u8],
    _asf: &MotionFile,
    _options: &ReadOptions,
) -> Result<Read, ReadError> {
    todo!()
}
/// Writes an ASF.
pub fn write_asf(_file: &MotionFile, _options: &WriteOptions) -> Result<Written, WriteError> {
    todo!()
}
/// Writes an AMC and its ASF.
pub fn write_amc(_file: &MotionFile, _options: &WriteOptions) -> Result<Written, WriteError> {
    todo!()
}
