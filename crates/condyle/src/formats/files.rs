//! Where paths are opened to be read, and motion is written to them.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{
    Format, MAX_IN_MEMORY, MotionFile, Read, ReadError, ReadErrorKind, ReadOptions, Temporaries,
    Warning, WriteError, WriteOptions, Written,
};
use crate::memory;

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
    let bytes = memory::bytes_of(path, options.map, MAX_IN_MEMORY).map_err(|error| {
        let kind = match error.kind() {
            io::ErrorKind::FileTooLarge => ReadErrorKind::TooLarge { most: MAX_IN_MEMORY },
            _ => ReadErrorKind::Io { message: error.to_string() },
        };
        ReadError::new(kind).with_path(path)
    })?;
    // The content decides; where it does not tell, the name does.
    let found = Format::detect(&bytes);
    // A format given for AMC motion is not meant for the skeleton before it.
    let given = options.format.filter(|f| !(*f == Format::Amc && found == Some(Format::Asf)));
    let format = given.or(found).or_else(|| Format::of_path(path));
    let options = ReadOptions { format, ..*options };
    let mut read = super::read(&bytes, skeleton, &options).map_err(|error| {
        let alone = *error.kind() == ReadErrorKind::MissingSkeleton;
        error.with_path(path).with_beside(if alone { skeleton_beside(path) } else { None })
    })?;
    for warning in &mut read.warnings {
        warning.path = Some(path.to_owned());
    }
    Ok(read)
}

/// The ASF in the folder of an AMC that is its own by name, `02.asf` of `02_01.amc`, or the only one there is.
fn skeleton_beside(amc: &Path) -> Option<PathBuf> {
    // Nobody has as many; a folder that is larger is not looked through to the end.
    const MOST: usize = 10_000;
    let folder = amc.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let paths = fs::read_dir(folder).ok()?.take(MOST).filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> =
        paths.filter(|p| Format::of_path(p) == Some(Format::Asf)).collect();
    found.sort();
    let stem = |path: &Path| path.file_stem().map(|s| s.to_string_lossy().to_lowercase());
    let own = stem(amc)?;
    // What a name begins with, up to what is no letter or digit.
    let fits = |asf: &&PathBuf| {
        let rest = stem(asf).and_then(|asf| own.strip_prefix(&asf).map(str::to_owned));
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let longest = found.iter().filter(fits).max_by_key(|p| stem(p).map_or(0, |s| s.len()));
    let only = || found.first().filter(|_| found.len() == 1);
    // As it was given: `./` is not.
    let name = longest.or_else(only)?.file_name()?;
    Some(amc.with_file_name(name))
}

/// Reads files in order, one at a time. An ASF serves the AMCs that follow it; an ASF that none
/// follows stands for itself. So there is one result per motion, skeleton without motion, or marker
/// file.
///
/// ```no_run
/// use condyle::formats::{ReadOptions, read_files};
///
/// let paths = ["02.asf".into(), "02_01.amc".into(), "walk.bvh".into()];
/// for (path, read) in read_files(&paths, &ReadOptions::default()) {
///     match read {
///         Ok(read) => println!("{}: {} joints", path.display(), read.file.skeleton.len()),
///         Err(error) => eprintln!("{error}"),
///     }
/// }
/// ```
#[must_use]
pub fn read_files<'a>(paths: &'a [PathBuf], options: &'a ReadOptions) -> ReadFiles<'a> {
    ReadFiles { paths: paths.iter(), options, skeleton: None, broken: false }
}

/// See [`read_files`].
#[derive(Debug)]
pub struct ReadFiles<'a> {
    paths: std::slice::Iter<'a, PathBuf>,
    options: &'a ReadOptions,
    skeleton: Option<Skeleton<'a>>,
    /// Whether the latest ASF could not be read.
    broken: bool,
}

/// The latest ASF.
#[derive(Debug)]
struct Skeleton<'a> {
    path: &'a Path,
    read: Read,
    /// Whether a motion was given for it.
    used: bool,
}

impl<'a> Iterator for ReadFiles<'a> {
    type Item = (&'a Path, Result<Read, ReadError>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(path) = self.paths.next() else {
                return self.skeleton.take().and_then(Skeleton::alone);
            };
            let skeleton = self.skeleton.as_ref().map(|s| &s.read.file);
            match read_file(path, skeleton, self.options) {
                Ok(read) if read.file.format == Some(Format::Asf) => {
                    self.broken = false;
                    let next = Skeleton { path, read, used: false };
                    if let Some(before) = self.skeleton.replace(next).and_then(Skeleton::alone) {
                        return Some(before);
                    }
                }
                Ok(mut read) => {
                    if let Some(skeleton) = &mut self.skeleton
                        && read.file.format == Some(Format::Amc)
                    {
                        skeleton.used = true;
                        // What is odd about the skeleton is odd about each of its motions.
                        read.warnings.splice(0..0, skeleton.read.warnings.iter().cloned());
                    }
                    return Some((path, Ok(read)));
                }
                Err(error) => {
                    let named = Format::of_path(path);
                    if named == Some(Format::Asf) {
                        // The motions that follow belong to this one, not to the one before.
                        self.skeleton = None;
                        self.broken = true;
                    } else if self.broken && *error.kind() == ReadErrorKind::MissingSkeleton {
                        let error = ReadError::new(ReadErrorKind::BrokenSkeleton).with_path(path);
                        return Some((path, Err(error)));
                    } else if let Some(skeleton) = &mut self.skeleton
                        && named == Some(Format::Amc)
                    {
                        skeleton.used = true;
                    }
                    return Some((path, Err(error)));
                }
            }
        }
    }
}

impl<'a> Skeleton<'a> {
    /// The skeleton as a result of its own, if no motion was given for it.
    fn alone(self) -> Option<(&'a Path, Result<Read, ReadError>)> {
        (!self.used).then_some((self.path, Ok(self.read)))
    }
}

/// Writes a file in the format of its extension; `out.amc` writes `out.asf`, too: both or none, see
/// [`write_whole`](super::write_whole).
///
/// # Errors
///
/// [`WriteError`] says what is wrong.
pub fn write_file(
    path: &Path,
    file: &MotionFile,
    options: &WriteOptions,
) -> Result<Vec<Warning>, WriteError> {
    write_file_with(path, file, options, &[])
}

/// The same, with other files: all of them or none.
///
/// # Errors
///
/// [`WriteError`] says what is wrong.
pub fn write_file_with(
    path: &Path,
    file: &MotionFile,
    options: &WriteOptions,
    others: &[(&Path, &[u8])],
) -> Result<Vec<Warning>, WriteError> {
    let format =
        Format::of_path(path).ok_or_else(|| WriteError::UnknownFormat { path: path.to_owned() })?;
    let Written { parts, warnings } = super::write(file, format, options)?;
    let target_of = |part: Format| {
        if part == format { path.to_owned() } else { path.with_extension(part.extension()) }
    };
    for (part, bytes) in parts.iter().filter(|(part, _)| *part != format) {
        // Nobody named this file: it replaces only its like.
        let target = target_of(*part);
        let is_others = match memory::read_bytes(&target, MAX_IN_MEMORY) {
            Ok(there) => there != *bytes && !super::acclaim::is_ours(&there),
            Err(error) => error.kind() == io::ErrorKind::FileTooLarge,
        };
        if !options.replace_skeleton && is_others {
            return Err(WriteError::WouldReplace { path: target });
        }
    }
    let targets: Vec<PathBuf> = parts.iter().map(|(part, _)| target_of(*part)).collect();
    let own = targets.iter().zip(&parts).map(|(path, (_, bytes))| (path.as_path(), &**bytes));
    let files: Vec<(&Path, &[u8])> = own.chain(others.iter().copied()).collect();
    super::write_whole(&files, options.temporaries.unwrap_or(&Temporaries::new()))?;
    Ok(warnings)
}
