//! Every command as a user types it: what it prints, its exit code and what it writes stays the same, but
//! for changes that are meant.
//!
//! The commands are in `tests/snapshots/commands.txt`, what comes of them in `expected.txt` beside it: texts
//! as they are, files by their length and a hash. With `CONDYLE_BLESS=1` the test writes `expected.txt` anew;
//! the difference belongs into the commit and its message.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::Folder;

/// The files below a folder with what tells whether they have changed: their length and a hash (FNV-1a,
/// 64 bits: G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, "The FNV Non-Cryptographic Hash Algorithm", IETF).
fn files(folder: &Path, below: &str, found: &mut BTreeMap<String, (usize, u64)>) {
    for entry in fs::read_dir(folder.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.file_type().unwrap().is_dir() {
            files(folder, &path, found);
            continue;
        }
        let bytes = fs::read(entry.path()).unwrap();
        let hash = bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
        });
        found.insert(path, (bytes.len(), hash));
    }
}

/// What comes of the commands, one after the other.
fn story(folder: &Folder, commands: &str) -> String {
    let mut told = String::new();
    let mut before = BTreeMap::new();
    let mut lines = commands.lines();
    while let Some(line) = lines.next() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix("write ") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != ".").collect();
            folder.write(name, &(text.join("\n") + "\n"));
            files(&folder.0, "", &mut before);
            continue;
        }
        let got = folder.condyle(line.strip_prefix("condyle ").unwrap());
        writeln!(told, "$ {line}").unwrap();
        writeln!(told, "exit code {:?}", got.status.code()).unwrap();
        for (name, text) in [("output", &got.stdout), ("errors", &got.stderr)] {
            // The program names itself in what to try next.
            let text =
                String::from_utf8_lossy(text).replace(env!("CARGO_BIN_EXE_condyle"), "condyle");
            if !text.is_empty() {
                writeln!(told, "--- {name}\n{}", text.trim_end_matches('\n')).unwrap();
            }
        }
        let mut now = BTreeMap::new();
        files(&folder.0, "", &mut now);
        for (name, (length, hash)) in
            now.iter().filter(|(name, file)| before.get(*name) != Some(*file))
        {
            writeln!(told, "--- wrote {name}: {length} bytes, {hash:016x}").unwrap();
        }
        for name in before.keys().filter(|name| !now.contains_key(*name)) {
            writeln!(told, "--- removed {name}").unwrap();
        }
        told.push('\n');
        before = now;
    }
    told
}

#[test]
fn every_command_does_what_it_did() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let folder = Folder::new("snapshots");
    let told = story(&folder, &fs::read_to_string(here.join("commands.txt")).unwrap());
    let path = here.join("expected.txt");
    if std::env::var_os("CONDYLE_BLESS").is_some() {
        fs::write(path, told).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let (mut command, mut differences) = ("", String::new());
    for (now, then) in told.lines().zip(expected.lines()) {
        if now.starts_with("$ ") {
            command = now;
        }
        if now != then {
            write!(differences, "{command}\n  then: {then}\n  now:  {now}\n").unwrap();
            break;
        }
    }
    assert!(
        told == expected,
        "{} lines, {} expected; the first that differs:\n{differences}what was written is in {}; \
         CONDYLE_BLESS=1 takes it over",
        told.lines().count(),
        expected.lines().count(),
        folder.0.display(),
    );
}
