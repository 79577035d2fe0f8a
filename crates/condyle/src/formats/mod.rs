//! Motion files: reading, writing, units, errors.
//!
//! Each format has two layers: a document that says exactly what the file says, and lowering, which
//! turns it into a [`Skeleton`] and a [`Clip`]. Formats do not know each other; converting is
//! reading one and writing another.
//!
//! ```
//! use condyle::formats::{Format, ReadOptions, WriteOptions, read, write};
//!
//! let bvh = b"HIERARCHY\nROOT Hips\n{\n OFFSET 0 0 0\n CHANNELS 3 Zrotation Xrotation Yrotation\n}\n\
//!             MOTION\nFrames: 1\nFrame Time: 0.01\n 10 20 30\n";
//! let read = read(bvh, None, &ReadOptions::default())?;
//! assert_eq!(read.file.skeleton.len(), 1);
//! let amc = write(&read.file, Format::Amc, &WriteOptions::default())?;
//! assert_eq!(amc.parts.len(), 2); // the motion and its skeleton
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod acclaim;
pub mod bvh;
mod decimal;
mod error;
mod far;
mod files;
mod foreign;
mod kind;
mod names;
mod pairs;
mod replace;
mod rows;
mod text;
pub mod trc;
mod units;
mod whole;

use std::num::NonZeroUsize;

use crate::motion::{Channels, Clip, FrameRate, Markers};
use crate::skeleton::Skeleton;

pub use crate::memory::{FilesStay, read_bytes, read_stream};
pub use error::{Excerpt, Position, ReadError, ReadErrorKind, Warning, WarningKind, WriteError};
pub use files::{MotionFiles, ReadFiles, motion_files, read_file, read_files, write_file};
pub use foreign::Foreign;
pub use kind::FileKind;
pub use pairs::{Pairing, skeleton_of};
pub use replace::{InTheWay, in_the_way, is_another, is_same_file, names_a_folder};
pub use units::{LengthUnit, UnitSource, Units, size_beside, size_notice};
pub use whole::{Temporaries, write_whole, write_whole_and};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Acclaim skeleton.
    Asf,
    /// Acclaim motion. Needs the skeleton of an ASF.
    Amc,
    /// Biovision hierarchy.
    Bvh,
    /// Marker table of Motion Analysis and OpenSim.
    Trc,
}

impl Format {
    /// Its name, as `info` prints it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Asf => "ASF",
            Self::Amc => "AMC",
            Self::Bvh => "BVH",
            Self::Trc => "TRC",
        }
    }

    /// Its file name extension, without the dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Asf => "asf",
            Self::Amc => "amc",
            Self::Bvh => "bvh",
            Self::Trc => "trc",
        }
    }

    /// The format that a file name extension (without dot, any case) stands for.
    #[must_use]
    pub fn from_extension(extension: &str) -> Option<Self> {
        [Self::Asf, Self::Amc, Self::Bvh, Self::Trc]
            .into_iter()
            .find(|f| f.extension().eq_ignore_ascii_case(extension))
    }

    /// The format that the extension of a path stands for.
    #[must_use]
    pub fn of_path(path: &std::path::Path) -> Option<Self> {
        path.extension().and_then(|e| e.to_str()).and_then(Self::from_extension)
    }

    /// Tells the format by the content.
    #[must_use]
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        let bytes = text::strip_bom(bytes).ok()?;
        // A comment may be long, a format says what it is early.
        let mut scanner = text::Scanner::new(&bytes[..bytes.len().min(1 << 20)]);
        loop {
            scanner.skip_space();
            match scanner.peek()? {
                b'#' => scanner.next_line(),
                b':' => {
                    let word = scanner.word();
                    let motion = ["FULLY-SPECIFIED", "DEGREES", "RADIANS", "SAMPLES-PER-SECOND"];
                    let is_motion = motion.iter().any(|m| text::is_word(&word[1..], m));
                    return Some(if is_motion { Self::Amc } else { Self::Asf });
                }
                _ => break,
            }
        }
        let line = scanner.clone().rest_of_line();
        let word = scanner.word();
        if text::is_word(word, "HIERARCHY") || text::is_word(word, "ROOT") {
            Some(Self::Bvh)
        } else if text::is_word(word, "PathFileType") {
            Some(Self::Trc)
        } else if word == line && !word.is_empty() && word.iter().all(u8::is_ascii_digit) {
            // An AMC without header: a frame number alone on its line.
            Some(Self::Amc)
        } else {
            None
        }
    }
}

/// How forgiving a reader is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Any repair is an error.
    Strict,
    /// What has one sensible repair is repaired, with a warning; lost data is an error.
    #[default]
    Repair,
    /// Like `Repair`, and a file that breaks off is read up to its last whole frame.
    Lenient,
}

/// How to read.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// How forgiving to be.
    pub mode: Mode,
    /// The unit of length, for files that declare none. What a file declares counts more.
    pub source_unit: Option<LengthUnit>,
    /// The frame rate, for formats that have none (AMC; 120 per second if not given).
    pub rate: Option<FrameRate>,
    /// The format, where the content does not tell or tells wrong.
    pub format: Option<Format>,
    /// How many threads a large file may be read with; the result is the same. One, the default,
    /// starts none.
    pub threads: NonZeroUsize,
    /// Whether large files are mapped instead of being read into memory, which saves a copy: only with
    /// the promise that nobody changes them meanwhile. Without it, the default, a file of more than
    /// [`MAX_IN_MEMORY`] bytes or [`MAX_NUMBERS`] numbers is refused.
    pub map: Option<FilesStay>,
}

/// The largest motion file that is read into memory, in bytes. What is made of it takes about as much
/// again.
pub const MAX_IN_MEMORY: u64 = 512 << 20;

/// The most numbers of a motion file that is read into memory: each takes eight bytes, and what rotations are made
/// of half as many again and more. A file of 400 MB as programs write them has as many; one of zeros may have
/// five times more.
pub const MAX_NUMBERS: usize = 48 << 20;

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            source_unit: None,
            rate: None,
            format: None,
            threads: NonZeroUsize::MIN,
            map: None,
        }
    }
}

/// What a motion file holds.
#[derive(Clone, Debug)]
pub struct MotionFile {
    /// The format it was read from, or `None` if it was made here.
    pub format: Option<Format>,
    /// The skeleton; without joints for marker files.
    pub skeleton: Skeleton,
    /// The motion, if there is one.
    pub clip: Option<Clip>,
    /// The markers, for marker files.
    pub markers: Option<Markers>,
    /// The file's unit of length. Skeleton, clip and markers are in metres all the same.
    pub units: Units,
    /// What the file says besides, kept for writing it again in the same format.
    pub origin: Origin,
}

impl MotionFile {
    /// A skeleton and its motion made here, to be written.
    #[must_use]
    pub fn new(skeleton: Skeleton, clip: Clip) -> Self {
        Self {
            format: None,
            skeleton,
            clip: Some(clip),
            markers: None,
            units: Units { length: LengthUnit::M, source: UnitSource::Declared },
            origin: Origin::Made,
        }
    }

    /// After the skeleton and its motion were made `factor` times as large: the same for the lengths of what
    /// the file says besides, so that what an ASF declares (axes, degrees of freedom, limits) is written
    /// again. The skeleton may change by rounding.
    ///
    /// Says whether that is so. It is not where the skeleton is no longer that of its ASF, or bones have
    /// lengths of their own in each frame (`l`): the ASF is then written afresh.
    pub fn follow_scale(&mut self, factor: f64) -> bool {
        acclaim::follow_scale(self, factor)
    }
}

/// What a file says that skeleton and clip do not hold.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Origin {
    /// Made here, not read.
    Made,
    /// A BVH and its hierarchy.
    Bvh(bvh::Hierarchy),
    /// An ASF, and the header of the AMC if there was one.
    Acclaim(Box<acclaim::Origin>),
    /// A TRC and its header.
    Trc(trc::Header),
}

/// What reading gives: the file's contents, and what its user should know about them.
#[must_use]
#[derive(Clone, Debug)]
pub struct Read {
    /// The contents.
    pub file: MotionFile,
    /// Repairs and notices, in the order of the file.
    pub warnings: Vec<Warning>,
}

impl Read {
    /// The same, or the error that strict reading makes of the first repair.
    fn checked(self, mode: Mode) -> Result<Self, ReadError> {
        if mode == Mode::Strict
            && let Some(repair) = self.warnings.iter().find(|w| w.is_repair())
        {
            let error = ReadError::new(ReadErrorKind::Strict { warning: repair.kind.clone() });
            return Err(match repair.at {
                Some(at) => error.at(at, None),
                None => error,
            });
        }
        Ok(self)
    }
}

/// Reads a file's bytes. AMC motion needs the contents of its ASF as `skeleton`.
///
/// # Errors
///
/// [`ReadError`] says what is wrong and where. No input makes it panic, hang, or take more memory
/// than a small multiple of its length.
pub fn read(
    bytes: &[u8],
    skeleton: Option<&MotionFile>,
    options: &ReadOptions,
) -> Result<Read, ReadError> {
    read_text(bytes, skeleton, options).map_err(|error| placed(error, bytes))
}

/// An error that no reader gave a place: what is missing is missing at the end, and all else is about the
/// file as a whole, which begins in its first line. What is about another file has no place in this one.
fn placed(error: ReadError, bytes: &[u8]) -> ReadError {
    use ReadErrorKind::{Foreign, MissingSkeleton, Utf16};
    if error.position().is_some() || *error.kind() == MissingSkeleton {
        return error;
    }
    match error.kind() {
        Foreign { .. } => error.at(Position::Byte(0), None),
        ReadErrorKind::Missing { .. } | ReadErrorKind::Truncated { .. } => {
            let end = bytes.trim_ascii_end().len();
            error.at(text::position(bytes, end), Some(text::excerpt(bytes, end)))
        }
        Utf16 => error.at(Position::Text { line: 1, column: 1 }, None),
        _ => error.at(Position::Text { line: 1, column: 1 }, Some(text::excerpt(bytes, 0))),
    }
}

fn read_text(
    bytes: &[u8],
    skeleton: Option<&MotionFile>,
    options: &ReadOptions,
) -> Result<Read, ReadError> {
    if let Some(format) = Foreign::detect(bytes) {
        return Err(ReadError::new(ReadErrorKind::Foreign { format }));
    }
    let bytes = text::strip_bom(bytes)?;
    if is_blank(bytes) {
        return Err(ReadError::new(ReadErrorKind::Empty));
    }
    let format = options.format.or_else(|| Format::detect(bytes));
    let mut read = match format.ok_or_else(|| ReadError::new(ReadErrorKind::UnknownFormat))? {
        Format::Bvh => bvh::read(bytes, options),
        Format::Asf => acclaim::read_asf(bytes, options),
        Format::Amc => {
            let asf = skeleton.ok_or_else(|| ReadError::new(ReadErrorKind::MissingSkeleton))?;
            acclaim::read_amc(bytes, asf, options)
        }
        Format::Trc => trc::read(bytes, options),
    }?;
    let is_motion = read.file.format == Some(Format::Amc);
    if options.source_unit.is_some() && read.file.units.is_declared() && !is_motion {
        let unit = read.file.units.length.to_string();
        read.warnings.push(Warning::new(WarningKind::UnitDeclared { unit }));
    }
    read.checked(options.mode)
}

/// A number at `at` and where it ends, for the bare loop of the benchmark; at least one byte on.
#[doc(hidden)]
#[must_use]
#[inline]
pub fn bare_number(bytes: &[u8], at: usize) -> (f64, usize) {
    if let Some(found) = decimal::decimal(bytes, at) {
        return found;
    }
    match text::number(&bytes[at..]) {
        Some(text::Number::Finite(value, n)) => (value, at + n),
        _ => (f64::NAN, at + 1),
    }
}

/// Whether there is nothing but white space.
fn is_blank(bytes: &[u8]) -> bool {
    text::run(bytes, text::is_space) == bytes.len()
}

/// In which unit to write lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum OutputUnit {
    /// What users of the format expect: the source's own when the format stays the same, else
    /// centimetres for BVH and ASF, millimetres for TRC.
    #[default]
    Usual,
    /// The source file's own numbers.
    Native,
    /// This one.
    Unit(LengthUnit),
}

/// How to write.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// The unit of lengths.
    pub unit: OutputUnit,
    /// TRC: also write the end sites, named after their joint with `_end` added.
    pub end_sites: bool,
    /// AMC: let its ASF replace one that is there already and was not written by us.
    pub replace_skeleton: bool,
}

impl WriteOptions {
    /// The unit to write `file` in, to a format that `keeps` its numbers if unchanged and has a
    /// `usual` unit else.
    fn unit_for(&self, file: &MotionFile, keeps: bool, usual: LengthUnit) -> LengthUnit {
        match self.unit {
            OutputUnit::Unit(unit) => unit,
            OutputUnit::Native => file.units.length,
            OutputUnit::Usual if keeps => file.units.length,
            OutputUnit::Usual => usual,
        }
    }
}

/// What writing gives: one file, or two for AMC with its ASF.
#[must_use]
#[derive(Clone, Debug)]
pub struct Written {
    /// The bytes of each file, the asked-for format first.
    pub parts: Vec<(Format, Vec<u8>)>,
    /// What the format could not hold, or had to rename.
    pub warnings: Vec<Warning>,
}

fn no_more_than(most: usize, joints: usize, frames: usize) -> Result<(), WriteError> {
    if joints.saturating_mul(frames) > most {
        let what = format!(
            "{joints} joints over {frames} frames are more than one file is made of; write it in pieces"
        );
        return Err(WriteError::Unsupported { what });
    }
    Ok(())
}

/// The most joint-frames that are written to one file, unless its source had as many values: with
/// 30 joints, an hour and a half at 120 frames per second. A small file can declare many joints that
/// never move; it must not become gigabytes.
const MAX_WRITTEN: usize = 20_000_000;

/// Writes a file's bytes. [`Format::Amc`] gives the motion and its skeleton as two parts.
///
/// # Errors
///
/// [`WriteError::Unsupported`] if the format cannot hold what there is to write.
pub fn write(
    file: &MotionFile,
    format: Format,
    options: &WriteOptions,
) -> Result<Written, WriteError> {
    let frames = file.clip.as_ref().map_or(0, Clip::frame_count);
    let source = file.clip.as_ref().and_then(Clip::channels).map(Channels::columns);
    let most = source.map_or(0, |c| c.columns() * c.frames()).max(MAX_WRITTEN);
    no_more_than(most, file.skeleton.len(), frames)?;
    match format {
        Format::Bvh => bvh::write(file, options),
        Format::Asf => acclaim::write_asf(file, options),
        Format::Amc => acclaim::write_amc(file, options),
        Format::Trc => trc::write(file, options),
    }
}
