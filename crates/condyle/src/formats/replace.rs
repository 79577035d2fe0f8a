//! What a file that is written may replace: nothing that was read, and nothing of another kind.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::{FileKind, Format};

/// So much of a file is looked at to tell its kind.
const LOOKED_AT: u64 = 1 << 20;

/// What is in the way of a file that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InTheWay {
    /// One of the inputs would be replaced: this path leads to it. It is the output, or the ASF that
    /// goes with the output if that is an AMC.
    Input(PathBuf),
    /// The output has the extension of files of another kind, or leads to a file that has.
    OtherName(PathBuf, FileKind),
    /// A file of another kind is there; of which one, where that is known.
    OtherKind(Option<FileKind>),
}

/// What is in the way of writing `output`, a file of this kind, for a program that has read these
/// inputs. Links are followed, and all names of a file are seen as one. A device or a FIFO is never in
/// the way, nor is an empty file.
///
/// # Errors
///
/// What the system says about a file that is there and cannot be looked at.
pub fn in_the_way(output: &Path, kind: FileKind, inputs: &[&Path]) -> io::Result<Option<InTheWay>> {
    let is_input = |path: &Path| inputs.iter().any(|input| is_same_file(path, input));
    if is_input(output) {
        return Ok(Some(InTheWay::Input(output.to_owned())));
    }
    if let FileKind::Motion(format) = kind {
        let skeleton = output.with_extension(Format::Asf.extension());
        if format == Format::Amc && is_input(&skeleton) {
            return Ok(Some(InTheWay::Input(skeleton)));
        }
    } else {
        let names = std::iter::once(output.to_owned()).chain(fs::canonicalize(output).ok());
        for path in names {
            if let Some(other) = kind_of_name(&path).filter(|other| *other != kind) {
                return Ok(Some(InTheWay::OtherName(path, other)));
            }
        }
    }
    if !fs::metadata(output).is_ok_and(|there| there.is_file() && there.len() > 0) {
        return Ok(None);
    }
    let mut beginning = Vec::new();
    File::open(output)?.take(LOOKED_AT).read_to_end(&mut beginning)?;
    let there = FileKind::detect(&beginning);
    Ok((there != Some(kind)).then_some(InTheWay::OtherKind(there)))
}

/// The kind of file that an extension is for. JSON is for many.
fn kind_of_name(path: &Path) -> Option<FileKind> {
    let motion = Format::of_path(path).map(FileKind::Motion);
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    motion.or(match &*extension {
        "cst" => Some(FileKind::Summary),
        "html" | "htm" => Some(FileKind::Page),
        "svg" => Some(FileKind::Picture),
        "csv" => Some(FileKind::Table),
        _ => None,
    })
}

/// Whether a file is there, neither empty nor a device or a FIFO, with other contents than these.
///
/// # Errors
///
/// What the system says about a file that cannot be read.
pub fn is_another(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let Ok(there) = fs::metadata(path) else { return Ok(false) };
    if !there.is_file() || there.len() == 0 {
        return Ok(false);
    }
    Ok(there.len() != bytes.len() as u64 || fs::read(path)? != bytes)
}

/// Whether a path is spelt as only that of a folder is: it ends in a separator, or in `.` or `..`. The
/// system takes `rig.json/` for a folder whatever `rig.json` is, while the last part of such a path is
/// still called `rig.json`.
#[must_use]
pub fn names_a_folder(path: &Path) -> bool {
    // What is not ASCII in these bytes is no separator and no dot.
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_separator = |byte: &u8| std::path::is_separator(char::from(*byte));
    let last = bytes.rsplit(|byte| is_separator(byte)).next().unwrap_or_default();
    !bytes.is_empty() && matches!(last, b"" | b"." | b"..")
}

/// Whether two paths are names of one file: spelt in another way, through links, or as a second name of
/// it (a hard link). A file that is not there yet is known by its folder and its name. Devices and pipes
/// are no files to lose.
#[must_use]
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let (Ok(about_a), Ok(about_b)) = (fs::metadata(a), fs::metadata(b)) else {
        let place = |path: &Path| {
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
            Some(folder.join(path.file_name()?))
        };
        let there = place(a);
        return a == b || (there.is_some() && there == place(b));
    };
    if !about_a.is_file() || !about_b.is_file() {
        return false;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        (about_a.dev(), about_a.ino()) == (about_b.dev(), about_b.ino())
    }
    #[cfg(not(unix))]
    {
        let [a, b] = [a, b].map(|path| path.canonicalize().ok());
        a.is_some() && a == b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_only_a_folder_can_have_is_told_by_its_end() {
        for folder in
            ["out/", "rig.json/", "rig.json//", "rig.json/.", "a/..", ".", "..", "/", "./"]
        {
            assert!(names_a_folder(Path::new(folder)), "{folder}");
        }
        for file in ["rig.json", "a/rig.json", "./x", "x.", "..x", "a/.hidden", "", "-"] {
            assert!(!names_a_folder(Path::new(file)), "{file}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn all_names_of_a_file_are_one_and_other_files_are_others() {
        use std::os::unix::fs::symlink;

        let at = std::env::temp_dir().join(format!("condyle-replace-{}", std::process::id()));
        let _ = fs::remove_dir_all(&at);
        fs::create_dir_all(at.join("sub")).unwrap();
        let path = |name: &str| at.join(name);
        fs::write(path("walk.bvh"), "HIERARCHY\nROOT a\n").unwrap();
        fs::write(path("other.bvh"), "HIERARCHY\nROOT a\n").unwrap();
        fs::hard_link(path("walk.bvh"), path("hard")).unwrap();
        symlink("walk.bvh", path("soft")).unwrap();
        symlink("soft", path("twice")).unwrap();
        symlink("late", path("early")).unwrap();
        for name in ["walk.bvh", "hard", "soft", "twice", "sub/../walk.bvh"] {
            assert!(is_same_file(&path(name), &path("walk.bvh")), "{name}");
            assert!(!is_same_file(&path(name), &path("other.bvh")), "{name}");
        }
        assert!(is_same_file(&path("new"), &path("sub/../new")));
        assert!(!is_same_file(&path("new"), &path("sub/new")));
        assert!(!is_same_file(Path::new("/dev/null"), Path::new("/dev/null")));

        let bvh = FileKind::Motion(Format::Bvh);
        let inputs = [path("walk.bvh"), path("walk.asf")];
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        let found = |name: &str, kind| in_the_way(&path(name), kind, &inputs).unwrap();
        assert_eq!(found("hard", bvh), Some(InTheWay::Input(path("hard"))));
        assert_eq!(found("other.bvh", bvh), None);
        assert_eq!(found("new.bvh", bvh), None);
        let amc = FileKind::Motion(Format::Amc);
        assert_eq!(found("walk.amc", amc), Some(InTheWay::Input(path("walk.asf"))));
        assert_eq!(found("other.bvh", amc), Some(InTheWay::OtherKind(Some(bvh))));
        fs::write(path("goals.json"), "{ \"goals\": [] }").unwrap();
        assert_eq!(found("goals.json", FileKind::Rig), Some(InTheWay::OtherKind(None)));
        let other = |name: &str, kind| Some(InTheWay::OtherName(path(name), kind));
        assert_eq!(found("new.bvh", FileKind::Rig), other("new.bvh", bvh));
        for (name, kind) in [
            ("new.SVG", FileKind::Picture),
            ("new.htm", FileKind::Page),
            ("new.cst", FileKind::Summary),
            ("new.csv", FileKind::Table),
        ] {
            assert_eq!(found(name, FileKind::Rig), other(name, kind));
            assert_eq!(found(name, kind), None);
        }
        assert_eq!(found("new.txt", FileKind::Rig), None);
        fs::write(path("empty.json"), "").unwrap();
        assert_eq!(found("empty.json", FileKind::Rig), None);
        fs::remove_dir_all(at).unwrap();
    }
}
