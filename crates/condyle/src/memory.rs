//! Large memory: files read whole, mapped if that is asked for, and tables in large pages.
//!
//! One of the two places in the library with `unsafe` code; what it promises is safe to use.

#![allow(unsafe_code, reason = "the system's calls for mapping files and advising on memory")]

use std::fs::File;
use std::io::{self, Read as _};
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::path::Path;

/// Files from this size on are mapped, where that is asked for; smaller ones are read, which costs
/// less.
const MAP_FROM: u64 = 1 << 20;

/// A promise without which no file is mapped: that the files which are read stay as they are until
/// they have been read.
///
/// A mapped file is not copied: the reader looks at the system's own pages of it. If another program
/// writes to the file meanwhile, the bytes change under the reader, which Rust does not define; and
/// if the file is cut short, the system stops this program (`SIGBUS`). Reading into memory, which is
/// what happens without this promise, has neither problem.
///
/// See [`ReadOptions::map`](crate::formats::ReadOptions::map).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilesStay(());

impl FilesStay {
    /// Makes the promise.
    ///
    /// # Safety
    ///
    /// No program, this one included, may write to, cut short or replace in place any file that is
    /// read with this promise, from the moment when it is opened until reading it has returned.
    #[must_use]
    pub const unsafe fn promise() -> Self {
        Self(())
    }
}

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

/// The bytes of a file: in memory, `most` at most, or mapped if it is a large regular file and
/// nobody changes it meanwhile. A file that is cut short while it is read has the bytes that were
/// left of it.
///
/// # Errors
///
/// What the system says; [`io::ErrorKind::FileTooLarge`] for more than `most` bytes, before they are
/// read where the system knows how many there are.
pub(crate) fn bytes_of(path: &Path, map: Option<FilesStay>, most: u64) -> io::Result<Bytes> {
    let file = File::open(path)?;
    let length = length_of(&file)?;
    if map.is_some() && length >= MAP_FROM {
        // SAFETY: the file is regular and open, and the mapping is private and read-only, so nothing
        // here changes its bytes. That nobody else does is what `FilesStay` promises: only the
        // unsafe `promise` makes one.
        match unsafe { memmap2::Mmap::map(&file) } {
            Ok(map) => return Ok(Bytes::Mapped(map)),
            // It is too large to be read instead.
            Err(error) if length > most => return Err(error),
            Err(_) => {}
        }
    }
    read(file, length, most).map(Bytes::Read)
}

/// The bytes of a file, such as a rig or a table, of `most` bytes at most.
///
/// # Errors
///
/// What the system says; [`io::ErrorKind::FileTooLarge`] for more than `most` bytes, before they are
/// read where the system knows how many there are.
pub fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let length = length_of(&file)?;
    read(file, length, most)
}

/// The same of what is no file, such as standard input.
///
/// # Errors
///
/// See [`read_bytes`].
pub fn read_stream(source: impl io::Read, most: u64) -> io::Result<Vec<u8>> {
    read(source, 0, most)
}

/// How long a file is, for all that the system says now; 0 for a pipe or a device.
fn length_of(file: &File) -> io::Result<u64> {
    let about = file.metadata()?;
    Ok(if about.is_file() { about.len() } else { 0 })
}

/// Reads to the end. There may be more or less than `length` bytes: files change.
fn read(mut source: impl io::Read, length: u64, most: u64) -> io::Result<Vec<u8>> {
    let too_large = || {
        let what = match most >> 20 {
            0 => format!("it has more than {most} bytes, and no more are read"),
            mebibytes => format!("it has more than {mebibytes} MiB, and no more are read"),
        };
        io::Error::new(io::ErrorKind::FileTooLarge, what)
    };
    if length > most {
        return Err(too_large());
    }
    // One more than there may be, so that the end is found without more room.
    let room_for = |n: u64| usize::try_from(n.min(most).saturating_add(1)).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(room_for(length))?;
    advise_large_pages(bytes.spare_capacity_mut());
    loop {
        let room = bytes.capacity() - bytes.len();
        if source.by_ref().take(room as u64).read_to_end(&mut bytes)? < room {
            return Ok(bytes);
        }
        if bytes.len() as u64 > most {
            return Err(too_large());
        }
        let twice = (2 * bytes.len() as u64).max(1 << 16);
        bytes.try_reserve_exact(room_for(twice) - bytes.len())?;
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
fn advise_large_pages<T>(table: &[T]) {
    const LARGE_PAGE: usize = 2 << 20;
    let from = (table.as_ptr() as usize).next_multiple_of(LARGE_PAGE);
    let to = table.as_ptr() as usize + size_of_val(table);
    let Some(length) = to.checked_sub(from).filter(|length| *length >= LARGE_PAGE) else { return };
    // SAFETY: the range lies within memory that is borrowed here, and the advice changes no byte of it.
    unsafe {
        libc::madvise(from as *mut libc::c_void, length, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_large_pages<T>(_table: &[T]) {}

/// An empty list with room for so many, whose pages are there: where they are filled once, in one go,
/// asking for each page when it is first written to would take longer than the writing.
pub(crate) fn room<T>(n: usize) -> Vec<T> {
    let mut list = Vec::with_capacity(n);
    ask_for_pages(list.spare_capacity_mut());
    list
}

#[cfg(target_os = "linux")]
fn ask_for_pages<T>(room: &mut [MaybeUninit<T>]) {
    /// As large as pages are anywhere.
    const PAGE: usize = 1 << 16;
    const LEAST: usize = 4 * PAGE;
    let to = (room.as_ptr() as usize + size_of_val(room)) & !(PAGE - 1);
    let from = (room.as_ptr() as usize).next_multiple_of(PAGE);
    let Some(length) = to.checked_sub(from).filter(|length| *length >= LEAST) else { return };
    // SAFETY: the range lies within memory that is borrowed here for writing, and asking for its pages
    // changes no byte of it. Systems before Linux 5.14 refuse, and pages come one by one.
    unsafe {
        libc::madvise(from as *mut libc::c_void, length, libc::MADV_POPULATE_WRITE);
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_pages<T>(_room: &mut [MaybeUninit<T>]) {}

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
    fn room_is_empty_and_writable() {
        for n in [0, 1, 1000, 100_000, 3 << 20] {
            let mut list: Vec<u64> = room(n);
            assert!(list.is_empty() && list.capacity() >= n);
            list.extend(0..n as u64);
            assert!(list.iter().enumerate().all(|(i, v)| i as u64 == *v));
        }
    }

    /// A file of its own, removed at the end.
    struct Temporary(std::path::PathBuf);

    impl Temporary {
        fn new(name: &str, bytes: &[u8]) -> Self {
            let name = format!("condyle-memory-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, bytes).unwrap();
            Self(path)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn bytes(n: usize) -> Vec<u8> {
        (0..=255).cycle().take(n).collect()
    }

    #[test]
    fn large_files_are_mapped_where_that_is_asked_for_and_have_the_same_bytes() {
        // SAFETY: nobody else knows these files.
        let stay = unsafe { FilesStay::promise() };
        for (size, map, mapped) in
            [(10, Some(stay), false), (3 << 20, Some(stay), true), (3 << 20, None, false)]
        {
            let expected = bytes(size);
            let file = Temporary::new(&format!("{size}-{mapped}"), &expected);
            let read = bytes_of(&file.0, map, u64::MAX).unwrap();
            assert_eq!(matches!(read, Bytes::Mapped(_)), mapped);
            assert!(*read == *expected);
        }
        assert!(bytes_of(&std::env::temp_dir(), None, u64::MAX).is_err(), "a folder is no file");
    }

    #[test]
    fn more_than_asked_for_is_refused_before_it_is_read() {
        let is_too_large = |read: io::Result<Vec<u8>>| {
            read.is_err_and(|error| error.kind() == io::ErrorKind::FileTooLarge)
        };
        let file = Temporary::new("sparse", b"x");
        assert_eq!(read_bytes(&file.0, 1).unwrap(), b"x");
        assert!(is_too_large(read_bytes(&file.0, 0)));
        // Terabytes that no disk holds.
        File::options().write(true).open(&file.0).unwrap().set_len(5 << 40).unwrap();
        assert!(is_too_large(read_bytes(&file.0, 1 << 20)));
        // What is no file says nothing about its length.
        assert!(is_too_large(read_stream(io::repeat(0), 1 << 20)));
        assert_eq!(read_stream(&b"abc"[..], 3).unwrap(), b"abc");
    }

    #[test]
    fn a_file_that_changes_its_length_has_the_bytes_that_were_there() {
        let all = bytes(1000);
        for length in [0, 10, 1000, 5000] {
            assert_eq!(read(&all[..], length, 5000).unwrap(), all, "{length}");
        }
    }
}
