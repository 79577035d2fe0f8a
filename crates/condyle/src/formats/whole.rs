//! Files written as a whole, several together or none of them.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::WriteError;

/// Links that lead to nothing are followed so far: as many as Linux follows.
const LINKS: usize = 40;

/// Writes files, all of them or none: each is written under a temporary name beside its target,
/// and when all are there they are renamed. So nothing is half-written, and what was there stays
/// as it was if one of them fails. A file that is replaced keeps who may read and write it.
///
/// A symbolic link stays one: what it leads to is replaced, or made if it is not there. What is no
/// regular file (a device, a FIFO, a socket) is written through, after the temporary files and
/// before they are renamed; what has gone through it cannot be taken back.
///
/// # Errors
///
/// [`WriteError::Io`] with the path, as it was given, that could not be written.
pub fn write_whole(files: &[(&Path, &[u8])]) -> Result<(), WriteError> {
    let mut staged = Staged::default();
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
            let through = || fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
            through().map_err(|error| failed(path, &error))?;
        }
    }
    staged.rename().map_err(|(path, error)| failed(&path, &error))
}

/// Whether this is, or leads to, neither a regular file nor a folder.
fn is_through(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Where a path leads to: to a file that is there, or to the name that its last link has.
fn target_of(path: &Path) -> io::Result<PathBuf> {
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

/// The target's name and something more.
fn beside(target: &Path, what: &str) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{what}", std::process::id()));
    target.with_file_name(name)
}

/// Gives a new file the permissions of what it is to replace, if anything is there: a rig that only its
/// owner may read stays so.
fn same_permissions(there: &Path, new: &Path) -> io::Result<()> {
    match fs::metadata(there) {
        // One that may not be written is replaced all the same, as renaming does; and stays so.
        Ok(there) => fs::set_permissions(new, there.permissions()),
        Err(_) => Ok(()),
    }
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
#[derive(Default)]
struct Staged {
    parts: Vec<Part>,
}

impl Staged {
    fn add(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let target = target_of(path)?;
        if target.is_dir() {
            return Err(io::Error::other("there is a folder of that name"));
        }
        if self.parts.iter().any(|part| part.target == target) {
            return Err(io::Error::other("two outputs have this name"));
        }
        let temporary = beside(&target, "part");
        let written =
            fs::write(&temporary, bytes).and_then(|()| same_permissions(&target, &temporary));
        // If that failed, too: there may be a beginning to remove.
        self.parts.push(Part { path: path.to_owned(), target, temporary, undo: Undo::Nothing });
        written
    }

    /// Renames all, or says which one failed and brings back what the others replaced. A second
    /// name keeps that: where a file system has no second names, it is lost.
    fn rename(mut self) -> Result<(), (PathBuf, io::Error)> {
        // One alone has nothing to bring back.
        let many = self.parts.len() > 1;
        for i in 0..self.parts.len() {
            let part = &mut self.parts[i];
            if many {
                part.undo = part.undo_of();
            }
            if let Err(error) = fs::rename(&part.temporary, &part.target) {
                let path = part.path.clone();
                for done in &mut self.parts[..i] {
                    done.take_back();
                }
                return Err((path, error));
            }
        }
        Ok(())
    }
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

impl Drop for Staged {
    fn drop(&mut self) {
        for part in &self.parts {
            let _ = fs::remove_file(&part.temporary);
            if let Undo::Restore(second) = &part.undo {
                let _ = fs::remove_file(second);
            }
        }
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

    #[test]
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
        let at = folder("link");
        fs::create_dir(at.join("far")).unwrap();
        fs::write(at.join("far/there"), "old").unwrap();
        symlink("far/there", at.join("near")).unwrap();
        // Two links, the second one from within another folder, lead to what is not there yet.
        symlink("far/second", at.join("first")).unwrap();
        symlink("../new", at.join("far/second")).unwrap();
        write_whole(&[(&at.join("near"), b"a"), (&at.join("first"), b"b")]).unwrap();
        assert_eq!(fs::read(at.join("far/there")).unwrap(), b"a");
        assert_eq!(fs::read(at.join("new")).unwrap(), b"b");
        assert!(at.join("near").is_symlink() && at.join("first").is_symlink());
        assert_eq!(names(&at), ["far", "first", "near", "new"]);
        assert_eq!(names(&at.join("far")), ["second", "there"]);
        // A link to itself is an error, not a loop.
        symlink("round", at.join("round")).unwrap();
        let error = write_whole(&[(&at.join("round"), b"c")]).unwrap_err();
        assert!(error.to_string().contains("links"), "{error}");
        assert!(at.join("round").is_symlink());
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
            write_whole(&[(&at.join(name), b"new"), (&at.join("new"), b"new")]).unwrap();
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
            write_whole(&[(&at.join(name), b"through"), (&at.join("file"), b"whole")]).unwrap();
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
                let error = write_whole(&files).unwrap_err();
                let last = Path::new(bad).file_name().unwrap().to_str().unwrap();
                assert!(error.to_string().contains(last), "{bad}: {error}");
                assert_eq!(names(&at), ["old", "taken"], "{bad}");
                assert_eq!(fs::read(path("old")).unwrap(), b"old", "{bad}");
            }
        }
        fs::remove_dir_all(at).unwrap();
    }

    /// A rename fails where the temporary file has gone since.
    #[test]
    fn what_was_replaced_is_brought_back() {
        let at = folder("back");
        fs::write(at.join("old"), "old").unwrap();
        let mut staged = Staged::default();
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
