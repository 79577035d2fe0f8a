//! Files that change while they are read: cut short, made longer, overwritten. What comes out is a file, or
//! an error; nothing ends the program.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arbitrary::{Arbitrary, Result, Unstructured};
use condyle::formats::{Format, Mode, ReadOptions, WriteOptions, read_file, write};

use super::check::check_file;
use super::made::Made;

/// A file that another thread changes while it is read, again and again.
pub fn changing(data: &[u8]) {
    let _too_short = changing_of(&mut Unstructured::new(data));
}

/// What happens to the file.
#[derive(Clone, Debug)]
enum Change {
    Cut(u64),
    Longer(u64),
    Overwrite(u64, Vec<u8>),
    /// Another file takes its name.
    Replace(Vec<u8>),
    Gone,
}

fn changing_of(u: &mut Unstructured<'_>) -> Result<()> {
    let mut changes = Vec::new();
    for _ in 0..u.int_in_range(1..=4)? {
        let count = u.int_in_range(0..=16)?;
        let (at, bytes) = (u64::from(u.arbitrary::<u16>()?), u.bytes(count)?.to_vec());
        changes.push(match u.int_in_range(0..=4)? {
            0 => Change::Cut(at % 600),
            1 => Change::Longer(16 * at),
            2 => Change::Overwrite(at % 600, bytes),
            3 => Change::Replace(bytes),
            _ => Change::Gone,
        });
    }
    let mode = *u.choose(&super::MODES)?;
    // Large ones take more than one look at the file.
    let large = u.ratio(1, 16)?;
    let made = Made::arbitrary(u)?;
    let format = *u.choose(&[Format::Bvh, Format::Asf, Format::Trc])?;
    let Ok(written) = write(&made.file(), format, &WriteOptions::default()) else { return Ok(()) };
    let mut bytes = written.parts[0].1.clone();
    if large {
        // Its last line again and again.
        let end = bytes.iter().rposition(|b| !b.is_ascii_whitespace()).map_or(0, |n| n + 1);
        let start = bytes[..end].iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
        let line = [&bytes[start..end], b"\n"].concat();
        bytes.extend(line.repeat((600 << 10) / line.len()));
    }
    read_while(&bytes, format, mode, &changes);
    Ok(())
}

fn read_while(bytes: &[u8], format: Format, mode: Mode, changes: &[Change]) {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = folder().join(format!("condyle-changing-{}-{number}", std::process::id()));
    fs::write(&path, bytes).expect("there is room for temporary files");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for change in changes.iter().cycle().take(64) {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                apply(&path, bytes, change);
            }
        });
        for _ in 0..4 {
            let options = ReadOptions { mode, format: Some(format), ..ReadOptions::default() };
            match read_file(&path, None, &options) {
                Ok(read) => check_file(&read.file),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    let _ = fs::remove_file(&path);
}

/// In memory where the system has such a folder: disks are slow.
fn folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}

/// The change, and what it was before. Where the file is gone that fails, which is what is wanted.
fn apply(path: &Path, bytes: &[u8], change: &Change) {
    let open = || OpenOptions::new().write(true).open(path);
    let resized = |length: u64| open().and_then(|file| file.set_len(length));
    let _may_be_gone = match change {
        Change::Cut(length) => resized(*length),
        Change::Longer(more) => resized(bytes.len() as u64 + more),
        Change::Overwrite(at, with) => open().and_then(|mut file: File| {
            file.seek(SeekFrom::Start(*at))?;
            file.write_all(with)
        }),
        Change::Replace(with) => {
            let beside = path.with_extension("new");
            fs::write(&beside, with).and_then(|()| fs::rename(&beside, path))
        }
        Change::Gone => fs::remove_file(path),
    };
    let _may_be_gone = fs::write(path, bytes);
}
