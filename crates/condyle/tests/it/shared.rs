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
