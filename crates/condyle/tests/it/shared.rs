//! Real motion files, which are no part of the repository.

use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder of real files: `$CONDYLE_SHARED/data/NAME`, or `shared/data/NAME` beside the repository.
/// `None`, and a line that says so, where there is none: then the test has nothing to do.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("CONDYLE_SHARED") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let path = root.join("data").join(name);
    if path.exists() {
        return Some(path);
    }
    let given = std::env::var_os("CONDYLE_SHARED");
    assert!(given.is_none(), "CONDYLE_SHARED is set, but has no data/{name}");
    // Not by `println!`, which the test harness swallows.
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "skipped: the real files of shared/data/{name} are not on this machine");
    None
}

/// The folder of the 1,664 takes of CMU, one folder per subject, unpacked once into the user's cache folder
/// (`$XDG_CACHE_HOME`, else `~/.cache`). `None`, and a line that says so, where they or `tar` are not there.
pub(crate) fn cmu() -> Option<PathBuf> {
    static ONCE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let archive = shared("cmu/cmu-30fps.tar.xz")?;
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home)?;
    let folder = cache.join("condyle-data");
    let whole = folder.join("cmu-30fps.whole");
    let _one_at_a_time = ONCE.lock();
    if !whole.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        let mut tar = std::process::Command::new("tar");
        let done = tar.arg("-C").arg(&folder).arg("-xJf").arg(&archive).status();
        if !done.is_ok_and(|status| status.success()) {
            let _ = writeln!(std::io::stderr().lock(), "skipped: tar does not unpack {archive:?}");
            return None;
        }
        std::fs::write(&whole, "").unwrap();
    }
    Some(folder.join("cmu"))
}

/// The files of a folder with this extension, sorted by name.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}
