//! The one place where paths are opened.

use std::fs;
use std::path::{Path, PathBuf};

use super::{
    Format, MotionFile, Read, ReadError, ReadErrorKind, ReadOptions, Warning, WriteError,
    WriteOptions, Written,
};

/// Reads one file. For AMC motion, `skeleton` is what its ASF held.
///
/// # Errors
///
/// See [`read`](super::read).
pub fn read_file(
    path: &Path,
    skeleton: Option<&MotionFile>,
    options: &ReadOptions,
) -> Result<Read, ReadError> {
    let bytes = fs::read(path).map_err(|error| {
        ReadError::new(ReadErrorKind::Io { message: error.to_string() }).with_path(path)
    })?;
    let mut read = super::read(&bytes, skeleton, options).map_err(|e| e.with_path(path))?;
    for warning in &mut read.warnings {
        warning.path = Some(path.to_owned());
    }
    Ok(read)
}

/// Reads files in order. An ASF serves the AMCs that follow it; an ASF that none follows stands for
/// itself. So the result has one entry per motion, skeleton without motion, or marker file.
pub fn read_files(
    paths: &[PathBuf],
    options: &ReadOptions,
) -> Vec<(PathBuf, Result<Read, ReadError>)> {
    let mut out: Vec<(PathBuf, Result<Read, ReadError>)> = Vec::new();
    // The latest ASF, and whether an AMC has used it.
    let mut asf: Option<(PathBuf, Read, bool)> = None;
    for path in paths {
        let skeleton = asf.as_ref().map(|(_, read, _)| &read.file);
        match read_file(path, skeleton, options) {
            Ok(read) if read.file.format == Some(Format::Asf) => {
                flush(&mut out, asf.take());
                asf = Some((path.clone(), read, false));
            }
            Ok(mut read) => {
                if let Some((_, skeleton, used)) = &mut asf
                    && read.file.format == Some(Format::Amc)
                {
                    // What is odd about the skeleton is odd about each of its motions.
                    let skeleton: Vec<Warning> = skeleton.warnings.clone();
                    read.warnings.splice(0..0, skeleton);
                    *used = true;
                }
                out.push((path.clone(), Ok(read)));
            }
            Err(error) => {
                if let Some((_, _, used)) = &mut asf {
                    *used = true;
                }
                out.push((path.clone(), Err(error)));
            }
        }
    }
    flush(&mut out, asf);
    out
}

fn flush(out: &mut Vec<(PathBuf, Result<Read, ReadError>)>, asf: Option<(PathBuf, Read, bool)>) {
    if let Some((path, read, false)) = asf {
        out.push((path, Ok(read)));
    }
}

/// Writes a file in the format of its extension; `out.amc` writes `out.asf`, too. Each file is
/// written under a temporary name and renamed, so nothing is ever half-written.
///
/// # Errors
///
/// [`WriteError`] says what is wrong.
pub fn write_file(
    path: &Path,
    file: &MotionFile,
    options: &WriteOptions,
) -> Result<Vec<Warning>, WriteError> {
    let format = path
        .extension()
        .and_then(|e| e.to_str())
        .and_then(Format::from_extension)
        .ok_or_else(|| WriteError::UnknownFormat { path: path.to_owned() })?;
    let Written { parts, warnings } = super::write(file, format, options)?;
    // All temporary files first: if the disk is full, no part replaces anything.
    let mut staged = Vec::new();
    for (part, bytes) in &parts {
        let target =
            if *part == format { path.to_owned() } else { path.with_extension(part.extension()) };
        match stage(&target, bytes) {
            Ok(temporary) => staged.push((temporary, target)),
            Err(error) => {
                for (temporary, _) in &staged {
                    let _ = fs::remove_file(temporary);
                }
                return Err(WriteError::Io { path: target, message: error.to_string() });
            }
        }
    }
    for (temporary, target) in staged {
        fs::rename(&temporary, &target).map_err(|error| {
            let _ = fs::remove_file(&temporary);
            WriteError::Io { path: target, message: error.to_string() }
        })?;
    }
    Ok(warnings)
}

fn stage(target: &Path, bytes: &[u8]) -> std::io::Result<PathBuf> {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let temporary = target.with_file_name(name);
    fs::write(&temporary, bytes).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })?;
    Ok(temporary)
}
