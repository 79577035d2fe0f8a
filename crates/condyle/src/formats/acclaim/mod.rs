//! Acclaim skeletons (ASF) and motions (AMC).
//!
//! [`asf::Document`] and [`amc::Document`] say what the files say; `lower.rs` says what it means.
//! Everything of the two formats is read; what we do not know is kept and written back.

pub mod amc;
pub mod asf;
mod frames;
mod lower;
mod write;

#[cfg(test)]
mod tests;

use crate::motion::Columns;
use crate::skeleton::{Dof, Skeleton};

use super::{
    Format, MotionFile, Read, ReadError, ReadErrorKind, ReadOptions, WriteError, WriteOptions,
    Written, text,
};

/// What an ASF and an AMC say besides skeleton and motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// The skeleton file.
    pub asf: asf::Document,
    /// The motion file but for its numbers, which are in the clip's channels.
    pub amc: Option<amc::Document>,
}

/// The comment at the top of every ASF made here.
const WRITTEN_BY: &str = " written by condyle";

/// Whether the bytes of an ASF begin with our own comment.
pub(super) fn is_ours(asf: &[u8]) -> bool {
    asf.strip_prefix(b"#").is_some_and(|rest| rest.starts_with(WRITTEN_BY.as_bytes()))
}

/// Reads an ASF.
///
/// # Errors
///
/// [`ReadError`] says what is wrong and where.
pub fn read_asf(bytes: &[u8], options: &ReadOptions) -> Result<Read, ReadError> {
    // Names are compared across the file, so it is decoded as a whole.
    let decoded = text::decode(bytes);
    let bytes = decoded.as_bytes();
    let (document, places) = asf::parse(bytes)?;
    let source = lower::Source { bytes, places: &places };
    let lowered = lower::lower(&document, source, options.source_unit)?;
    Ok(Read {
        file: MotionFile {
            format: Some(Format::Asf),
            skeleton: lowered.skeleton,
            clip: None,
            markers: None,
            units: lowered.units,
            origin: super::Origin::Acclaim(Box::new(Origin { asf: document, amc: None })),
        },
        warnings: lowered.warnings,
    })
}

/// Reads an AMC; `asf` is what reading its ASF gave.
///
/// The frame rate is that of a `:SAMPLES-PER-SECOND` line, else that of the options, else 120.
///
/// # Errors
///
/// [`ReadError`] says what is wrong and where.
pub fn read_amc(bytes: &[u8], asf: &MotionFile, options: &ReadOptions) -> Result<Read, ReadError> {
    let (origin, lowered) = skeleton_of(asf)?;
    let (document, clip, warnings) =
        amc::read(bytes, &asf.skeleton, &origin.asf, lowered, options)?;
    Ok(Read {
        file: MotionFile {
            format: Some(Format::Amc),
            skeleton: asf.skeleton.clone(),
            clip,
            markers: None,
            units: asf.units,
            origin: super::Origin::Acclaim(Box::new(Origin {
                asf: origin.asf.clone(),
                amc: Some(document),
            })),
        },
        warnings,
    })
}

/// See [`MotionFile::follow_scale`].
pub(super) fn follow_scale(file: &mut MotionFile, factor: f64) -> bool {
    const ROUNDING: f64 = 1e-12;
    let super::Origin::Acclaim(origin) = &mut file.origin else { return true };
    let mut document = origin.asf.clone();
    write::scale_lengths(&mut document, factor);
    let places = asf::Places::default();
    let source = lower::Source { bytes: &[], places: &places };
    let Ok(lowered) = lower::lower(&document, source, Some(file.units.length)) else {
        return false;
    };
    let stretches = lowered.channels.iter().any(|c| c.dofs.contains(&Dof::Length));
    let near_m = ROUNDING * file.skeleton.longest_path_m();
    let follows = !stretches && write::is_same(&file.skeleton, &lowered.skeleton, near_m);
    if follows {
        (origin.asf, file.skeleton) = (document, lowered.skeleton);
    }
    follows
}

/// The documents of an ASF, and what its motion's columns mean.
fn skeleton_of(asf: &MotionFile) -> Result<(&Origin, lower::Lowered), ReadError> {
    let super::Origin::Acclaim(origin) = &asf.origin else {
        return Err(ReadError::new(ReadErrorKind::MissingSkeleton));
    };
    let places = asf::Places::default();
    let source = lower::Source { bytes: &[], places: &places };
    let mut lowered = lower::lower(&origin.asf, source, Some(asf.units.length))?;
    let names = |s: &Skeleton| s.joints().iter().map(|j| j.name.clone()).collect::<Vec<_>>();
    if names(&asf.skeleton) != names(&lowered.skeleton) {
        let what = "the skeleton is no longer that of its ASF".to_owned();
        return Err(ReadError::new(ReadErrorKind::Hierarchy { what }));
    }
    lowered.stand_on(&asf.skeleton);
    Ok((origin, lowered))
}

/// Reads the numbers of an AMC into columns and no further: the motion as the file has it.
///
/// # Errors
///
/// [`ReadError`] says what is wrong and where.
pub fn read_columns(
    bytes: &[u8],
    asf: &MotionFile,
    options: &ReadOptions,
) -> Result<Columns, ReadError> {
    let (origin, lowered) = skeleton_of(asf)?;
    amc::read_columns(bytes, &origin.asf, &lowered, options).map(|numbers| numbers.columns)
}

/// Writes an ASF. What was read from an ASF and not changed is written with its own numbers.
///
/// # Errors
///
/// [`WriteError::Unsupported`] if there are no joints.
pub fn write_asf(file: &MotionFile, options: &WriteOptions) -> Result<Written, WriteError> {
    write::asf(file, options)
}

/// Writes an AMC and its ASF. Motion that was read from an AMC and not changed is written with its
/// own numbers.
///
/// # Errors
///
/// [`WriteError::Unsupported`] if there are no joints or no motion.
pub fn write_amc(file: &MotionFile, options: &WriteOptions) -> Result<Written, WriteError> {
    write::amc(file, options)
}
