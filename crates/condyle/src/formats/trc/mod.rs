//! Marker tables (TRC): what capture systems and OpenSim exchange.
//!
//! ```text
//! PathFileType  4  (X/Y/Z)  walk.trc
//! DataRate  CameraRate  NumFrames  NumMarkers  Units  OrigDataRate  OrigDataStartFrame  OrigNumFrames
//! 100       100         2          2           mm     100           1                   2
//! Frame#  Time  Hip          Knee
//!               X1  Y1  Z1   X2  Y2  Z2
//!
//! 1       0.00  10  20  30   11  21  31
//! 2       0.01  10  20  30
//! ```
//!
//! Fields are separated by tabs; blanks around them are not part of them. Where a program wrote blanks
//! instead of tabs, as many do in the first line, they separate fields, too; names of markers and the
//! path may have blanks. How it is read:
//!
//! - A position of which no coordinate is given is missing: an empty cell, a blank, `NaN` in any
//!   spelling (`nan`, `1.#QNAN`, `-nan(ind)`). So are the cells that a row lacks at its end.
//! - A marker is what has a name or data. Columns that hold data but have no name are called `*N`,
//!   N being the number that the axis row gives them (`X34 Y34 Z34` is `*34`). Names without data
//!   are markers that are never seen. Columns with neither are no markers.
//! - `NumMarkers` and `NumFrames` are compared with what is there; if they differ, what is there
//!   counts.
//! - Names belong to the columns they stand over. If they do not all stand over the first column of
//!   a triple, as in files with doubled tabs, they are taken in order.
//! - Where the header names no unit, it is millimetres.

mod lower;
mod read;
#[cfg(test)]
mod tests;
mod write;

use super::{
    Format, MotionFile, Origin, Read, ReadError, ReadOptions, WriteError, WriteOptions, Written,
};
use crate::skeleton::Skeleton;

/// The most markers a file may have. A dense face capture has some hundreds.
pub const MAX_MARKERS: usize = 65_536;

/// How many positions a file may have besides one per byte of the file: a marker that is missing at
/// the end of a row takes no bytes there, yet a position in memory. A thousand frames of a thousand
/// markers are always possible.
const FREE_POSITIONS: usize = 1 << 20;

/// What a TRC says besides markers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The path that the first line holds, usually that of the file when it was first written.
    pub path: String,
    /// Name and value of the header fields as written (`DataRate`, `CameraRate`, …), in the file's
    /// order. Writing replaces those that would no longer be true.
    pub fields: Vec<(String, String)>,
    /// The number of the first frame, usually 1.
    pub first_frame: i64,
}

impl Header {
    /// The value of a header field, by its name in any case.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// Reads a TRC.
///
/// # Errors
///
/// [`ReadError`] says what is wrong and where: a cell that is no number, a row that breaks off
/// within a position, a count that the file has no room for.
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Read, ReadError> {
    let document = read::parse(bytes, options.mode)?;
    let (markers, header, units, warnings) = lower::lower(bytes, document, options)?;
    Ok(Read {
        file: MotionFile {
            format: Some(Format::Trc),
            skeleton: Skeleton::new(),
            clip: None,
            markers: Some(markers),
            units,
            origin: Origin::Trc(header),
        },
        warnings,
    })
}

/// Writes a TRC: the markers if there are any, else the world positions of all joint centres, one
/// marker per joint. Missing positions are empty cells.
///
/// Numbers are written as short as possible so that reading gives the same metres. Written in the
/// unit they were read in, numbers of up to 15 digits stay as they were.
///
/// # Errors
///
/// [`WriteError::Unsupported`] if there is a skeleton without motion.
pub fn write(file: &MotionFile, options: &WriteOptions) -> Result<Written, WriteError> {
    write::write(file, options)
}
