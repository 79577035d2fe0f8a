//! Large memory: files mapped instead of copied, and tables in large pages.
//!
//! One of the two places in the library with `unsafe` code; what it promises is safe to use.

#![allow(unsafe_code, reason = "the system's calls for mapping files and advising on memory")]

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// Files from this size on are mapped; smaller ones are read, which costs less.
const MAP_FROM: u64 = 1 << 20;

/// The bytes of a file.
#[derive(Debug)]
pub(crate) enum Bytes {
    /// Copied.
    Read(Vec<u8>),
    /// Mapped: pages come in as they are looked at.
    Mapped(memmap2::Mmap),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

/// The bytes of a file, mapped if it is a large regular file.
///
/// A mapped file must not be cut short by another program while it is looked at: then the system
/// stops this one, as it does with every program that maps files. Changed bytes are harmless: the
/// readers take nothing on trust, and each byte is looked at for what it is at that moment.
pub(crate) fn bytes_of(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.len() < MAP_FROM {
        return std::fs::read(path).map(Bytes::Read);
    }
    // SAFETY: the mapping is private and read-only, and `file` is open. That its bytes may change
    // under us is what the comment above is about: no invariant of ours rests on them.
    match unsafe { memmap2::Mmap::map(&file) } {
        Ok(map) => Ok(Bytes::Mapped(map)),
        Err(_) => std::fs::read(path).map(Bytes::Read),
    }
}

/// So many zeros. A large table is put into large pages where the system has them: it is filled
/// once, and half the time of that would go into small pages.
pub(crate) fn zeros(n: usize) -> Vec<f64> {
    let table = vec![0.0; n];
    advise_large_pages(&table);
    table
}

#[cfg(target_os = "linux")]
fn advise_large_pages(table: &[f64]) {
    const LARGE_PAGE: usize = 2 << 20;
    let from = (table.as_ptr() as usize).next_multiple_of(LARGE_PAGE);
    let to = table.as_ptr() as usize + size_of_val(table);
    let Some(length) = to.checked_sub(from).filter(|length| *length >= LARGE_PAGE) else { return };
    // SAFETY: the range lies within memory that we own, and the advice changes no byte of it.
    unsafe {
        libc::madvise(from as *mut libc::c_void, length, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_large_pages(_table: &[f64]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_tables_are_zero_and_writable() {
        let mut table = zeros(3 << 20);
        assert!(table.iter().all(|v| v.to_bits() == 0));
        table.fill(1.5);
        assert_eq!(table.iter().sum::<f64>(), 1.5 * f64::from(3 << 20));
        assert!(zeros(0).is_empty());
    }

    #[test]
    fn mapped_and_read_files_have_the_same_bytes() {
        let folder = std::env::temp_dir();
        for size in [10, 3 << 20] {
            let path = folder.join(format!("condyle-memory-{}-{size}", std::process::id()));
            let bytes: Vec<u8> = (0..=255).cycle().take(size).collect();
            std::fs::write(&path, &bytes).unwrap();
            let read = bytes_of(&path).unwrap();
            assert_eq!(matches!(read, Bytes::Mapped(_)), size > 10);
            assert!(*read == *bytes);
            drop(read);
            std::fs::remove_file(&path).unwrap();
        }
        assert!(bytes_of(&folder).is_err(), "a folder is no file");
    }
}
