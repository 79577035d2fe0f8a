//! The real files that tests read. They are not part of the repository.

use std::path::{Path, PathBuf};

/// A file or directory below the shared directory: `CONDYLE_SHARED`, or `shared` beside the
/// repository. `None`, with a line on standard error, if it is not there.
pub(crate) fn shared(relative: &str) -> Option<PathBuf> {
    let root = std::env::var_os("CONDYLE_SHARED").map(PathBuf::from).or_else(|| {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
        Some(repository.parent()?.join("shared"))
    });
    let path = root.map(|root| root.join(relative)).filter(|path| path.exists());
    if path.is_none() {
        eprintln!("skipped: no shared file {relative}");
    }
    path
}
