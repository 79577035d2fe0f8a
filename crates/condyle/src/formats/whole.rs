//! Files written as a whole, several together or none of them.

use std::collections::hash_map::RandomState;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{WriteError, names_a_folder};

/// Links that lead to nothing are followed so far: as many as Linux follows.
const LINKS: usize = 40;

/// So many random names are tried for a temporary file: that even one is taken is next to impossible.
const TRIES: usize = 16;

/// The temporary files that writing makes, each beside the file that it will replace.
///
/// They are removed when writing fails. A program that is stopped by a signal in the middle calls
/// [`remove_all`](Self::remove_all) first: `condyle` does so from a thread that waits for signals.
#[derive(Debug, Default)]
pub struct Temporaries(Mutex<Names>);

#[derive(Debug, Default)]
struct Names {
    paths: Vec<PathBuf>,
    /// Whether the program is about to end.
    closed: bool,
}

impl Temporaries {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(Names { paths: Vec::new(), closed: false }))
    }

    /// Removes the temporary files that are there. From then on no file is written: neither a
    /// temporary file is made, nor one renamed to its target. So files that belong together are
    /// either all there or as they were.
    pub fn remove_all(&self) {
        let mut names = self.lock();
        names.closed = true;
        for path in names.paths.drain(..) {
            let _ = fs::remove_file(path);
        }
    }

    /// Whether [`remove_all`](Self::remove_all) was called, so that no file is written any more.
    #[must_use]
    pub fn are_removed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> MutexGuard<'_, Names> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names, while the program is not about to end.
    fn open(&self) -> io::Result<MutexGuard<'_, Names>> {
        let names = self.lock();
        if names.closed { Err(io::ErrorKind::Interrupted.into()) } else { Ok(names) }
    }

    /// A new, empty file in the folder of a target, with a name that nobody can foresee. It is made
    /// exclusively: what has its name, a link above all, is neither followed nor replaced. From the
    /// start nobody may read it who may not read the target.
    fn create(&self, target: &Path) -> io::Result<(PathBuf, File)> {
        let there = fs::metadata(target).ok();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if let Some(there) = &there {
            use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
            options.mode(there.mode() & 0o700);
        }
        let mut names = self.open()?;
        let mut tries = 1;
        let (path, file) = loop {
            let path = beside(target, "part");
            match options.open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => {
                    tries += 1;
                }
                file => break (path, file?),
            }
        };
        names.paths.push(path.clone());
        drop(names);
        let done = there.map_or(Ok(()), |there| same_permissions(&there, &file));
        done.inspect_err(|_| self.remove(&path))?;
        Ok((path, file))
    }

    /// Removes a temporary file, unless it has been renamed.
    fn remove(&self, path: &Path) {
        let mut names = self.lock();
        if let Some(i) = names.paths.iter().position(|known| known == path) {
            names.paths.swap_remove(i);
            let _ = fs::remove_file(path);
        }
    }
}

/// Writes files, all of them or none: each is written under a temporary name beside its target,
/// and when all are there and on the disk they are renamed. So nothing is half-written, and what was
/// there stays as it was if one of them fails. A file that is replaced keeps who may read and write it.
///
/// A symbolic link stays one: what it leads to is replaced, or made if it is not there. What is no
/// regular file (a device, a FIFO, a socket) is written through, after the temporary files and
/// before they are renamed; what has gone through it cannot be taken back.
///
/// `temporaries` knows the temporary files while they are there, for a program that is stopped.
///
/// # Errors
///
/// [`WriteError::Io`] with the path, as it was given, that could not be written.
pub fn write_whole(files: &[(&Path, &[u8])], temporaries: &Temporaries) -> Result<(), WriteError> {
    write_whole_and(files, temporaries, || Ok(()))
}

/// The same, together with an output that is no file, such as standard output: `through` writes it when all
/// is on the disk and before anything is renamed. If it fails, no file is there.
///
/// # Errors
///
/// As [`write_whole`], or what `through` says.
pub fn write_whole_and<E: From<WriteError>>(
    files: &[(&Path, &[u8])],
    temporaries: &Temporaries,
    through: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    let mut staged = Staged { temporaries, parts: Vec::new() };
    let failed = |path: &Path, error: &io::Error| WriteError::Io {
        path: path.to_owned(),
        message: error.to_string(),
    };
    for (path, bytes) in files {
        if !is_through(path) {
            staged.add(path, bytes).map_err(|error| failed(path, &error))?;
        }
    }
    for (path, bytes) in files {
        if is_through(path) {
            // Not created: what is there is there. Not cut, either: it has no length.
            let write = || OpenOptions::new().write(true).open(path)?.write_all(bytes);
            write().map_err(|error| failed(path, &error))?;
        }
    }
    through()?;
    Ok(staged.rename().map_err(|(path, error)| failed(&path, &error))?)
}

/// Whether this is, or leads to, neither a regular file nor a folder.
fn is_through(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Where a path leads to: to a file that is there, or to the name that its last link has. That of a folder
/// (`out/`) leads to no file, although its last part without the separator may be the name of one.
fn target_of(path: &Path) -> io::Result<PathBuf> {
    let no_file = || io::Error::other("this is the name of a folder");
    if names_a_folder(path) {
        return Err(no_file());
    }
    let mut target = path.to_owned();
    let mut links = 0;
    loop {
        if let Ok(there) = fs::canonicalize(&target) {
            return Ok(there);
        }
        let Ok(link) = fs::read_link(&target) else { break };
        links += 1;
        if links > LINKS {
            return Err(io::Error::other("too many links, one after the other"));
        }
        if names_a_folder(&link) {
            return Err(no_file());
        }
        // A relative link counts from the folder it is in.
        target = target.parent().unwrap_or(Path::new("")).join(link);
    }
    // Two names of one file are seen by the folder's own name.
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
        return Ok(target);
    };
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    Ok(fs::canonicalize(folder).map_or_else(|_| target.clone(), |folder| folder.join(name)))
}

/// A name in the folder of a target that nobody can foresee. The target's own name is no part of it:
/// that may be as long as names can be.
fn beside(target: &Path, what: &str) -> PathBuf {
    // The keys of hash tables are the randomness that the standard library has, from the system.
    let random = RandomState::new().build_hasher().finish();
    target.with_file_name(format!(".condyle-{random:016x}.{what}"))
}

/// Gives a new file the owner and the permissions of what it is to replace: a rig that only its owner
/// may read stays so.
fn same_permissions(there: &Metadata, new: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        let own = new.metadata()?;
        if (own.uid(), own.gid()) != (there.uid(), there.gid()) {
            // Few may give files away. What others replace is theirs, as with any renaming.
            let _ = fchown(new, Some(there.uid()), Some(there.gid()));
        }
    }
    // One that may not be written is replaced all the same, as renaming does; and stays so.
    new.set_permissions(there.permissions())
}

/// A file under its temporary name.
struct Part {
    /// As it was given.
    path: PathBuf,
    target: PathBuf,
    temporary: PathBuf,
    undo: Undo,
}

/// How a renamed file is taken back.
enum Undo {
    /// Not at all: it is not renamed yet, or there was no way to keep what it replaced.
    Nothing,
    /// Nothing was there.
    Remove,
    /// What was there has this second name.
    Restore(PathBuf),
}

/// The files to be renamed. Names that are left over are removed when it is dropped.
struct Staged<'a> {
    temporaries: &'a Temporaries,
    parts: Vec<Part>,
}

impl Staged<'_> {
    fn add(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let target = target_of(path)?;
        if target.is_dir() {
            return Err(io::Error::other("there is a folder of that name"));
        }
        if self.parts.iter().any(|part| part.target == target) {
            return Err(io::Error::other("two outputs have this name"));
        }
        let (temporary, mut file) = self.temporaries.create(&target)?;
        self.parts.push(Part { path: path.to_owned(), target, temporary, undo: Undo::Nothing });
        file.write_all(bytes)?;
        match file.sync_all() {
            // There are file systems that cannot say when a file is on the disk.
            Err(error) if is_unable(&error) => Ok(()),
            done => done,
        }
    }

    /// Renames all, or says which one failed and brings back what the others replaced. A second
    /// name keeps that: where a file system has no second names, it is lost.
    fn rename(mut self) -> Result<(), (PathBuf, io::Error)> {
        let Some(first) = self.parts.first() else { return Ok(()) };
        // Who stops the program has done so before, or waits until all are renamed or brought back.
        let temporaries = self.temporaries;
        let mut names = temporaries.open().map_err(|error| (first.path.clone(), error))?;
        let failed = rename_all(&mut self.parts);
        for part in &mut self.parts {
            if let Undo::Restore(second) = std::mem::replace(&mut part.undo, Undo::Nothing) {
                let _ = fs::remove_file(second);
            }
        }
        if failed.is_ok() {
            names.paths.retain(|path| self.parts.iter().all(|part| part.temporary != *path));
        }
        failed
    }
}

fn rename_all(parts: &mut [Part]) -> Result<(), (PathBuf, io::Error)> {
    // One alone has nothing to bring back.
    let many = parts.len() > 1;
    for i in 0..parts.len() {
        let part = &mut parts[i];
        if many {
            part.undo = part.undo_of();
        }
        if let Err(error) = fs::rename(&part.temporary, &part.target) {
            let path = part.path.clone();
            parts[..i].iter_mut().for_each(Part::take_back);
            return Err((path, error));
        }
    }
    Ok(())
}

fn is_unable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

impl Part {
    fn undo_of(&self) -> Undo {
        if !self.target.exists() {
            return Undo::Remove;
        }
        let second = beside(&self.target, "before");
        fs::hard_link(&self.target, &second).map_or(Undo::Nothing, |()| Undo::Restore(second))
    }

    fn take_back(&mut self) {
        let _ = match std::mem::replace(&mut self.undo, Undo::Nothing) {
            Undo::Nothing => Ok(()),
            Undo::Remove => fs::remove_file(&self.target),
            Undo::Restore(second) => fs::rename(second, &self.target),
        };
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        self.parts.iter().for_each(|part| self.temporaries.remove(&part.temporary));
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{FileTypeExt, symlink};

    use super::*;

    /// A folder of its own for each test, empty at the start.
    fn folder(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("condyle-whole-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn names(folder: &Path) -> Vec<String> {
        let name = |e: io::Result<fs::DirEntry>| e.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
        names.sort();
        names
    }

    fn write(files: &[(&Path, &[u8])]) -> Result<(), WriteError> {
        write_whole(files, &Temporaries::new())
    }

    /// `ln -s victim out.bvh.$$.part`, with the name that the temporary file had once.
    #[test]
    fn a_link_with_the_name_of_a_temporary_file_is_not_followed() {
        let at = folder("victim");
        fs::write(at.join("victim"), "precious").unwrap();
        let own = format!("out.bvh.{}.part", std::process::id());
        symlink("victim", at.join(&own)).unwrap();
        write(&[(&at.join("out.bvh"), b"new")]).unwrap();
        assert_eq!(fs::read(at.join("victim")).unwrap(), b"precious");
        assert_eq!(fs::read(at.join("out.bvh")).unwrap(), b"new");
        // Names cannot be foreseen, and no two are the same.
        let names: std::collections::BTreeSet<PathBuf> =
            (0..100).map(|_| beside(&at.join("out.bvh"), "part")).collect();
        assert_eq!(names.len(), 100);
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn a_temporary_file_is_no_more_open_than_its_target_from_the_start() {
        use std::os::unix::fs::PermissionsExt;

        let at = folder("private");
        for mode in [0o600, 0o640, 0o444] {
            let target = at.join(format!("{mode:o}"));
            fs::write(&target, "old").unwrap();
            fs::set_permissions(&target, fs::Permissions::from_mode(mode)).unwrap();
            let temporaries = Temporaries::new();
            let (temporary, file) = temporaries.create(&target).unwrap();
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, mode);
            assert_eq!(temporary.parent(), target.parent());
            temporaries.remove(&temporary);
        }
        assert_eq!(names(&at), ["444", "600", "640"]);
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn a_name_as_long_as_names_can_be_is_written() {
        let at = folder("long");
        let path = at.join("x".repeat(255));
        write(&[(&path, b"a"), (&at.join("b"), b"b")]).unwrap();
        write(&[(&path, b"c"), (&at.join("b"), b"d")]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"c");
        assert_eq!(names(&at).len(), 2);
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn a_program_that_is_stopped_leaves_all_files_as_they_were() {
        let at = folder("stopped");
        fs::write(at.join("old"), "old").unwrap();
        let temporaries = Temporaries::new();
        let mut staged = Staged { temporaries: &temporaries, parts: Vec::new() };
        for name in ["old", "new"] {
            staged.add(&at.join(name), b"bytes").unwrap();
        }
        assert_eq!(names(&at).len(), 3);
        assert!(!temporaries.are_removed());
        temporaries.remove_all();
        assert!(temporaries.are_removed());
        assert_eq!(names(&at), ["old"]);
        assert!(staged.rename().is_err());
        assert!(write_whole(&[(&at.join("late"), b"bytes")], &temporaries).is_err());
        assert_eq!(names(&at), ["old"]);
        assert_eq!(fs::read(at.join("old")).unwrap(), b"old");
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
        let at = folder("link");
        fs::create_dir(at.join("far")).unwrap();
        fs::write(at.join("far/there"), "old").unwrap();
        symlink("far/there", at.join("near")).unwrap();
        // Two links, the second one from within another folder, lead to what is not there yet.
        symlink("far/second", at.join("first")).unwrap();
        symlink("../new", at.join("far/second")).unwrap();
        write(&[(&at.join("near"), b"a"), (&at.join("first"), b"b")]).unwrap();
        assert_eq!(fs::read(at.join("far/there")).unwrap(), b"a");
        assert_eq!(fs::read(at.join("new")).unwrap(), b"b");
        assert!(at.join("near").is_symlink() && at.join("first").is_symlink());
        assert_eq!(names(&at), ["far", "first", "near", "new"]);
        assert_eq!(names(&at.join("far")), ["second", "there"]);
        // A link to itself is an error, not a loop.
        symlink("round", at.join("round")).unwrap();
        let error = write(&[(&at.join("round"), b"c")]).unwrap_err();
        assert!(error.to_string().contains("links"), "{error}");
        assert!(at.join("round").is_symlink());
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn the_name_of_a_folder_is_no_file_to_be_written() {
        let at = folder("slash");
        fs::write(at.join("old"), "old").unwrap();
        symlink("old/", at.join("link")).unwrap();
        symlink("new/", at.join("early")).unwrap();
        for name in ["old/", "old/.", "old//", "new/", "new/.", "link", "early", "."] {
            // `Path::join` keeps what the name ends in.
            let error = write(&[(&at.join(name), b"new")]).unwrap_err();
            assert!(error.to_string().contains("a folder"), "{name}: {error}");
        }
        assert_eq!(names(&at), ["early", "link", "old"]);
        assert_eq!(fs::read(at.join("old")).unwrap(), b"old");
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn who_may_read_a_file_that_is_replaced_stays() {
        use std::os::unix::fs::PermissionsExt;

        let at = folder("mode");
        let mode = |name: &str| fs::metadata(at.join(name)).unwrap().permissions().mode() & 0o777;
        fs::write(at.join("usual"), "old").unwrap();
        let modes = [("secret", 0o600), ("shared", 0o664), ("script", 0o755), ("kept", 0o444)];
        for (name, mode) in modes {
            fs::write(at.join(name), "old").unwrap();
            fs::set_permissions(at.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        symlink("secret", at.join("link")).unwrap();
        for name in ["link", "shared", "script", "kept"] {
            write(&[(&at.join(name), b"new"), (&at.join("new"), b"new")]).unwrap();
            assert_eq!(fs::read(at.join(name)).unwrap(), b"new");
        }
        for (name, expected) in modes {
            assert_eq!(mode(name), expected, "{name}");
        }
        // What was not there is as the system has it.
        assert_eq!(mode("new"), mode("usual"));
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn a_fifo_is_written_through_and_stays_one() {
        let at = folder("fifo");
        let fifo = at.join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        symlink("fifo", at.join("link")).unwrap();
        for name in ["fifo", "link"] {
            let reader = std::thread::spawn({
                let fifo = fifo.clone();
                move || fs::read(fifo).unwrap()
            });
            write(&[(&at.join(name), b"through"), (&at.join("file"), b"whole")]).unwrap();
            assert_eq!(reader.join().unwrap(), b"through");
            assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());
        }
        assert_eq!(names(&at), ["fifo", "file", "link"]);
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn all_are_written_or_none() {
        let at = folder("none");
        let path = |name: &str| at.join(name);
        fs::write(path("old"), "old").unwrap();
        fs::create_dir(path("taken")).unwrap();
        for bad in ["no/such", "taken", "./new"] {
            let files = [(path("new"), "n"), (path("old"), "o"), (path(bad), "b")];
            let files: Vec<(&Path, &[u8])> =
                files.iter().map(|(p, b)| (p.as_path(), b.as_bytes())).collect();
            for files in [files.clone(), files.iter().rev().copied().collect()] {
                let error = write(&files).unwrap_err();
                let last = Path::new(bad).file_name().unwrap().to_str().unwrap();
                assert!(error.to_string().contains(last), "{bad}: {error}");
                assert_eq!(names(&at), ["old", "taken"], "{bad}");
                assert_eq!(fs::read(path("old")).unwrap(), b"old", "{bad}");
            }
        }
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn what_goes_elsewhere_fails_with_the_files() {
        let at = folder("through");
        fs::write(at.join("old"), "old").unwrap();
        let names_then = std::cell::RefCell::new(Vec::new());
        let mut result = Err(WriteError::Unsupported { what: "no room".to_owned() });
        for expected in [&["old"][..], &["new", "old"]] {
            let through = || {
                *names_then.borrow_mut() = names(&at);
                std::mem::replace(&mut result, Ok(()))
            };
            let files: [(&Path, &[u8]); 2] = [(&at.join("old"), b"o"), (&at.join("new"), b"n")];
            let done = write_whole_and(&files, &Temporaries::new(), through);
            // All was there under temporary names by then, and nothing renamed.
            assert_eq!(names_then.borrow().len(), 3);
            assert_eq!(done.is_ok(), expected.len() == 2);
            assert_eq!(names(&at), expected);
        }
        assert_eq!(fs::read(at.join("old")).unwrap(), b"o");
        fs::remove_dir_all(at).unwrap();
    }

    /// A rename fails where the temporary file has gone since.
    #[test]
    fn what_was_replaced_is_brought_back() {
        let at = folder("back");
        fs::write(at.join("old"), "old").unwrap();
        let temporaries = Temporaries::new();
        let mut staged = Staged { temporaries: &temporaries, parts: Vec::new() };
        for name in ["old", "new", "last"] {
            staged.add(&at.join(name), b"bytes").unwrap();
        }
        fs::remove_file(&staged.parts[2].temporary).unwrap();
        let (path, _) = staged.rename().unwrap_err();
        assert_eq!(path, at.join("last"));
        assert_eq!(names(&at), ["old"]);
        assert_eq!(fs::read(at.join("old")).unwrap(), b"old");
        fs::remove_dir_all(at).unwrap();
    }
}
