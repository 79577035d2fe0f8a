//! Biovision hierarchies (BVH): a skeleton and its motion in one text file.
//!
//! The format has no specification that files keep to. What we read, and what we make of it:
//!
//! - Channels in any order and number per joint; turns are multiplied as listed, the first leftmost.
//! - Position channels replace the joint's OFFSET, as in Blender and MotionBuilder. Exception: where
//!   those of the joints below the root are no more than a hundredth of the OFFSETs, in the median
//!   over the joints, they are added in all of these joints, with a warning.
//! - Several ROOTs, leaves without End Site, any spelling of `End Site`, names with blanks.
//! - Rows decide how many frames there are, not `Frames:`.
//! - No unit is declared: centimetres unless the user says otherwise.

mod lower;
mod positions;
mod read;
mod rows;
mod write;

#[cfg(test)]
mod tests;

use super::text::Warnings;
use super::{MotionFile, Read, ReadError, ReadOptions, WriteError, WriteOptions, Written};
use crate::motion::Columns;
use crate::skeleton::Dof;

/// What a BVH says, number for number.
#[derive(Clone, Debug)]
pub struct Document {
    /// The joints.
    pub hierarchy: Hierarchy,
    /// What `Frames:` says, if it is there.
    pub declared_frames: Option<u64>,
    /// Seconds per frame.
    pub frame_time_s: f64,
    /// The rows of motion: one column per channel, in the order of the file.
    pub motion: Columns,
}

/// The HIERARCHY section of a BVH.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hierarchy {
    /// In the order of the file, parents before children.
    pub joints: Vec<BvhJoint>,
}

impl Hierarchy {
    /// How many channels all joints have together.
    #[must_use]
    pub fn channel_count(&self) -> usize {
        self.joints.iter().map(|j| j.channels.len()).sum()
    }
}

/// A ROOT or JOINT of a BVH.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BvhJoint {
    /// The name as written.
    pub name: String,
    /// Index of the joint it is nested in; `None` for a ROOT.
    pub parent: Option<usize>,
    /// OFFSET, in the file's unit.
    pub offset: [f64; 3],
    /// CHANNELS, in order; none for `CHANNELS 0` and where the line is missing.
    pub channels: Vec<Dof>,
    /// End Sites nested in it.
    pub end_sites: Vec<BvhEndSite>,
}

/// An End Site of a BVH.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BvhEndSite {
    /// What stands behind `End Site`, usually nothing.
    pub name: Option<String>,
    /// OFFSET, in the file's unit.
    pub offset: [f64; 3],
}

/// Reads a BVH.
///
/// # Errors
///
/// See [`read`](super::read).
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Read, ReadError> {
    let mut warnings = Warnings::default();
    let (document, sites) = read::document(bytes, options, &mut warnings)?;
    let file = lower::lower(bytes, document, &sites, options, &mut warnings)?;
    Ok(Read { file, warnings: warnings.finish(bytes) })
}

/// Reads a BVH as it stands, without making a skeleton and a clip of it.
///
/// # Errors
///
/// See [`read`](super::read).
pub fn read_document(bytes: &[u8], options: &ReadOptions) -> Result<Document, ReadError> {
    let bytes = super::text::strip_bom(bytes)?;
    read::document(bytes, options, &mut Warnings::default()).map(|(document, _)| document)
}

/// Writes a BVH.
///
/// # Errors
///
/// [`WriteError::Unsupported`] for files without a skeleton.
pub fn write(file: &MotionFile, options: &WriteOptions) -> Result<Written, WriteError> {
    write::write(file, options)
}
