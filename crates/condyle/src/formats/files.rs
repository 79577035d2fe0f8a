//! Where paths are opened to be read, and motion is written to them.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{
    Format, MAX_IN_MEMORY, MAX_NUMBERS, MotionFile, Pairing, Read, ReadError, ReadErrorKind,
    ReadOptions, Temporaries, Warning, WarningKind, WriteError, WriteOptions, Written, skeleton_of,
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
            _ if path.is_dir() => ReadErrorKind::Folder,
            io::ErrorKind::FileTooLarge => ReadErrorKind::TooLarge { most: MAX_IN_MEMORY },
            io::ErrorKind::OutOfMemory => ReadErrorKind::NoMemory { message: error.to_string() },
            _ => ReadErrorKind::Io { message: error.to_string() },
        };
        ReadError::new(kind).with_path(path)
    })?;
    if options.map.is_none() && bytes.len() > CERTAINLY_FEW && numbers_at_most(&bytes) > MAX_NUMBERS
    {
        return Err(ReadError::new(ReadErrorKind::TooManyNumbers).with_path(path));
    }
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

/// So many bytes hold no more than [`MAX_NUMBERS`].
const CERTAINLY_FEW: usize = MAX_NUMBERS;

/// How many numbers there are at most: what begins behind a blank, or with a sign behind a digit, and cells of a
/// table that are empty.
fn numbers_at_most(bytes: &[u8]) -> usize {
    // As many as a byte counts.
    const BLOCK: usize = 255;
    let begins = |[before, here]: [u8; 2]| {
        let word = (before <= b' ') & (here > b' ');
        let sign = ((here == b'-') | (here == b'+')) & (before > b' ');
        let empty = (before == b'\t') & (here <= b' ');
        u8::from(word | sign | empty)
    };
    let [first, others @ ..] = bytes else { return 0 };
    let blocks = bytes.chunks(BLOCK).zip(others.chunks(BLOCK));
    let of_block = |(before, here): (&[u8], &[u8])| {
        let pairs = before.iter().zip(here);
        usize::from(pairs.fold(0_u8, |n, (before, here)| n + begins([*before, *here])))
    };
    usize::from(begins([b' ', *first])) + blocks.map(of_block).sum::<usize>()
}

/// The ASF in the folder of an AMC that is its own by name, or the only one there is.
fn skeleton_beside(amc: &Path) -> Option<PathBuf> {
    // Nobody has as many; a folder that is larger is not looked through to the end.
    const MOST: usize = 10_000;
    let folder = amc.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let names =
        fs::read_dir(folder).ok()?.take(MOST).filter_map(|entry| Some(entry.ok()?.file_name()));
    // As it was given: `./` is not.
    let paths = names.map(|name| amc.with_file_name(name));
    let mut found: Vec<PathBuf> =
        paths.filter(|p| Format::of_path(p) == Some(Format::Asf)).collect();
    found.sort();
    let own = skeleton_of(amc, &found).skeleton()?;
    Some(found.swap_remove(own))
}

/// Reads files in order, one at a time. A single ASF serves all AMCs, before it or after it. Of several,
/// names tell which one an AMC needs, see [`skeleton_of`]; where they do not, an ASF
/// that stands alone right before AMCs serves these. An ASF without AMC stands for itself. So there is one
/// result per motion, skeleton without motion, or marker file.
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
    let formats: Vec<Option<Format>> =
        paths.iter().map(|path| told_format(path, options)).collect();
    let plan = Plan::of(paths, &formats);
    ReadFiles { paths, next: 0, options, plan, skeletons: BTreeMap::new() }
}

/// The format of a file by its beginning, else by its name. What is no regular file (a FIFO) can be read
/// once only: its name has to do.
fn told_format(path: &Path, options: &ReadOptions) -> Option<Format> {
    const LOOKED_AT: u64 = 1 << 16;
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file).and_then(|_| {
        let mut beginning = Vec::new();
        fs::File::open(path).ok()?.take(LOOKED_AT).read_to_end(&mut beginning).ok()?;
        Format::detect(&beginning)
    });
    // A format given for AMC motion is not meant for its skeleton.
    let given = options.format.filter(|f| !(*f == Format::Amc && found == Some(Format::Asf)));
    given.or(found).or_else(|| Format::of_path(path))
}

/// Which files are skeletons, and which one each motion needs.
#[derive(Debug)]
struct Plan {
    /// Places of ASFs, each once.
    skeletons: Vec<usize>,
    /// The place of the skeleton of each file that may be an AMC.
    needs: BTreeMap<usize, Needs>,
}

#[derive(Clone, Copy, Debug)]
enum Needs {
    /// This one, and whether its name is that of another subject.
    This(usize, bool),
    /// One of several, of which none or two fit by their names.
    Unknown(Pairing),
}

impl Plan {
    fn of(paths: &[PathBuf], formats: &[Option<Format>]) -> Self {
        let is_asf = |i: &usize| formats[*i] == Some(Format::Asf);
        let all: Vec<usize> = (0..paths.len()).filter(is_asf).collect();
        let mut skeletons: Vec<usize> = Vec::new();
        for &i in &all {
            if !skeletons.iter().any(|known| paths[*known] == paths[i]) {
                skeletons.push(i);
            }
        }
        let named: Vec<&Path> = skeletons.iter().map(|i| paths[*i].as_path()).collect();
        let may_be_amc = |i: &usize| matches!(formats[*i], None | Some(Format::Amc));
        let needs =
            (0..paths.len()).filter(may_be_amc).filter(|_| !skeletons.is_empty()).map(|i| {
                let pairing = skeleton_of(&paths[i], &named);
                if let Some(found) = pairing.skeleton() {
                    return (i, Needs::This(skeletons[found], pairing == Pairing::OtherSubject));
                }
                // One that stands alone right before motions is meant for them.
                let before = all.iter().rev().copied().find(|asf| *asf < i);
                let alone = before.filter(|asf| asf.checked_sub(1).is_none_or(|at| !is_asf(&at)));
                let Some(before) = alone else { return (i, Needs::Unknown(pairing)) };
                let own = [paths[before].as_path()];
                (i, Needs::This(before, skeleton_of(&paths[i], &own) == Pairing::OtherSubject))
            });
        let needs = needs.collect();
        Self { skeletons, needs }
    }

    fn is_needed(&self, asf: usize) -> bool {
        self.needs.values().any(|needs| matches!(needs, Needs::This(this, _) if *this == asf))
    }
}

/// See [`read_files`].
#[derive(Debug)]
pub struct ReadFiles<'a> {
    paths: &'a [PathBuf],
    next: usize,
    options: &'a ReadOptions,
    plan: Plan,
    /// The skeletons that were read, by their places.
    skeletons: BTreeMap<usize, Result<Read, ReadError>>,
}

impl<'a> Iterator for ReadFiles<'a> {
    type Item = (&'a Path, Result<Read, ReadError>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (i, paths) = (self.next, self.paths);
            let path = paths.get(i)?.as_path();
            self.next += 1;
            if let Some(needs) = self.plan.needs.get(&i).copied() {
                return Some((path, self.motion(path, needs)));
            }
            if !self.plan.is_needed(i) {
                // A skeleton that is named again is the same.
                let again = self.plan.skeletons.iter().any(|j| *j < i && paths[*j] == *path);
                if again {
                    continue;
                }
                return Some((path, read_file(path, None, self.options)));
            }
            let is_other = |read: &Read| read.file.format != Some(Format::Asf);
            match self.skeleton(i) {
                Ok(read) if is_other(read) => return Some((path, Ok(read.clone()))),
                Ok(_) => {}
                Err(error) => return Some((path, Err(error.clone()))),
            }
        }
    }
}

impl ReadFiles<'_> {
    /// A skeleton, read once.
    fn skeleton(&mut self, at: usize) -> &Result<Read, ReadError> {
        let read = || read_file(&self.paths[at], None, self.options);
        self.skeletons.entry(at).or_insert_with(read)
    }

    /// A file that may be an AMC, with its skeleton.
    fn motion(&mut self, path: &Path, needs: Needs) -> Result<Read, ReadError> {
        let options = self.options;
        let (at, other) = match needs {
            Needs::This(at, other) => (at, other),
            Needs::Unknown(pairing) => {
                let read = read_file(path, None, options);
                let lacks = |e: &ReadError| *e.kind() == ReadErrorKind::MissingSkeleton;
                return read.map_err(|e| if lacks(&e) { self.unknown(path, pairing) } else { e });
            }
        };
        let asf = self.paths[at].clone();
        match self.skeleton(at) {
            Ok(skeleton) => {
                let mut read = read_file(path, Some(&skeleton.file), options)?;
                if read.file.format == Some(Format::Amc) {
                    let other = other.then(|| Warning {
                        path: Some(path.to_owned()),
                        ..Warning::new(WarningKind::OtherSubject { skeleton: asf })
                    });
                    // What is odd about the skeleton is odd about each of its motions.
                    let odd = other.into_iter().chain(skeleton.warnings.iter().cloned());
                    read.warnings.splice(0..0, odd.collect::<Vec<_>>());
                }
                Ok(read)
            }
            Err(_) => read_file(path, None, options).map_err(|error| match error.kind() {
                ReadErrorKind::MissingSkeleton => {
                    ReadError::new(ReadErrorKind::BrokenSkeleton).with_path(path)
                }
                _ => error,
            }),
        }
    }

    /// That names do not tell which skeleton a motion needs.
    fn unknown(&self, path: &Path, pairing: Pairing) -> ReadError {
        let named = |i: usize| self.paths[self.plan.skeletons[i]].clone();
        let kind = match pairing {
            Pairing::Two(a, b) => {
                ReadErrorKind::TwoSkeletonsFit { skeletons: [named(a), named(b)] }
            }
            _ => ReadErrorKind::NoSkeletonFits { skeletons: self.plan.skeletons.len() },
        };
        ReadError::new(kind).with_path(path)
    }
}

/// Writes a file in the format of its extension; `out.amc` writes `out.asf`, too: both or none, see
/// [`write_whole`](super::write_whole), which also says what `temporaries` is for. To write it together
/// with other files see [`motion_files`].
///
/// # Errors
///
/// [`WriteError`] says what is wrong.
pub fn write_file(
    path: &Path,
    file: &MotionFile,
    options: &WriteOptions,
    temporaries: &Temporaries,
) -> Result<Vec<Warning>, WriteError> {
    let MotionFiles { files, warnings } = motion_files(path, file, options)?;
    let files: Vec<(&Path, &[u8])> =
        files.iter().map(|(path, bytes)| (&**path, &**bytes)).collect();
    super::write_whole(&files, temporaries)?;
    Ok(warnings)
}

/// What [`write_file`] writes: one file, or two for AMC with its ASF.
#[must_use]
#[derive(Clone, Debug)]
pub struct MotionFiles {
    /// Each with its bytes, the one that was asked for first.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// What the format could not hold, or had to rename.
    pub warnings: Vec<Warning>,
}

/// The files that [`write_file`] would write, to be written with others, all of them or none, by
/// [`write_whole`](super::write_whole).
///
/// # Errors
///
/// [`WriteError`] says what is wrong.
pub fn motion_files(
    path: &Path,
    file: &MotionFile,
    options: &WriteOptions,
) -> Result<MotionFiles, WriteError> {
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
    let files = parts.into_iter().map(|(part, bytes)| (target_of(part), bytes)).collect();
    Ok(MotionFiles { files, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_at_their_beginnings() {
        let count = |text: &str| numbers_at_most(text.as_bytes());
        assert_eq!(["", " \n", "1", " -1.5e3 \r\n2"].map(count), [0, 0, 1, 2]);
        // Without blanks between them, and cells that are empty.
        assert_eq!(["1-2+3", "1\t\t\t2", "1\t2\n"].map(count), [3, 4, 2]);
        let long = "12.5 -7 ".repeat(1000);
        assert_eq!(count(&long), 2000);
    }
}
