//! Files under attack: links, full disks, limits of size, signals in the middle of writing.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use super::{Folder, WALK};

impl Folder {
    /// A line of the shell in which `condyle` is the program.
    fn shell(&self, line: &str) -> Output {
        let program = env!("CARGO_BIN_EXE_condyle");
        Command::new("sh")
            .current_dir(&self.0)
            .args(["-c", &line.replace("condyle", program)])
            .output()
            .unwrap()
    }
}

/// A walk of so many frames.
fn long_walk(frames: usize) -> String {
    let (head, _) = WALK.split_once("Frames: 3").unwrap();
    let row = "0 90 0 1.25 2.5 3.75 10.125 20.25 30.5\n".repeat(frames);
    format!("{head}Frames: {frames}\nFrame Time: 0.0083333\n{row}")
}

/// While the program is about to write to a FIFO that nobody reads, it has its temporary files.
#[test]
fn a_signal_in_the_middle_of_writing_leaves_no_file_behind() {
    for (name, signal) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let folder = Folder::new(&format!("files_signal_{name}"));
        folder.write("walk.bvh", &long_walk(40));
        folder.write("rig.json", "");
        assert!(folder.shell("mkfifo page").status.success());
        let child = Command::new(env!("CARGO_BIN_EXE_condyle"))
            .current_dir(&folder.0)
            .args(["estimate", "walk.bvh", "-o", "rig.json", "--fresh", "--report", "page"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let there = ["page", "rig.json", "walk.bvh"];
        for _ in 0..600 {
            if folder.names().len() > there.len() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(folder.names().len() > there.len(), "{:?}", folder.names());
        let id = child.id();
        assert!(folder.shell(&format!("kill -{name} {id}")).status.success());
        let status = child.wait_with_output().unwrap().status;
        assert_eq!(status.signal(), Some(signal), "{status:?}");
        assert_eq!(folder.names(), there);
        assert_eq!(folder.read("rig.json"), "");
    }
}

/// What was to be ignored is: `nohup`.
#[test]
fn a_signal_that_is_ignored_stays_so() {
    let folder = Folder::new("files_nohup");
    folder.write("walk.bvh", &long_walk(40));
    let script = "mkfifo page; trap '' HUP; condyle estimate walk.bvh -o rig.json --report page \
                  >/dev/null 2>&1 & p=$!; sleep 1; kill -HUP $p; sleep 0.2; cat page > copy; wait $p";
    let got = folder.shell(script);
    assert_eq!(got.status.code(), Some(0), "{got:?}");
    assert!(folder.read("copy").contains("</html>"));
    assert_eq!(folder.names(), ["copy", "page", "rig.json", "walk.bvh"]);
}

#[test]
fn a_limit_of_size_is_an_error_and_the_old_file_stays() {
    let folder = Folder::new("files_ulimit");
    folder.write("walk.bvh", &long_walk(2000));
    folder.write("out.amc", "1\nold\n");
    let got = folder.shell("ulimit -f 1; condyle convert walk.bvh out.amc --force");
    let err = String::from_utf8_lossy(&got.stderr);
    assert_eq!(got.status.code(), Some(2), "{got:?}");
    assert!(err.contains("out.amc: cannot be written: "), "{err}");
    assert_eq!(folder.names(), ["out.amc", "walk.bvh"]);
    assert_eq!(folder.read("out.amc"), "1\nold\n");
}

/// On a small disk in memory, where that can be had.
#[test]
fn a_full_disk_is_an_error_and_the_old_file_stays() {
    let folder = Folder::new("files_full");
    folder.write("walk.bvh", &long_walk(20_000));
    folder.write("small.bvh", WALK);
    fs::create_dir(folder.0.join("disk")).unwrap();
    let mounted = "mount -t tmpfs -o size=256k tmpfs disk";
    if !folder.shell(&format!("unshare -rm sh -c '{mounted}'")).status.success() {
        println!("skipped: no disk of its own for a test here");
        return;
    }
    let script = "cp small.bvh disk/out.bvh; condyle resample walk.bvh --fps 60 -o disk/out.bvh; \
                  code=$?; cmp small.bvh disk/out.bvh && ls -A disk && exit $code";
    let got = folder.shell(&format!("unshare -rm sh -c '{mounted}; {script}'"));
    let [out, err] = [&got.stdout, &got.stderr].map(|text| String::from_utf8_lossy(text));
    assert_eq!(got.status.code(), Some(2), "{got:?}");
    assert_eq!(out, "out.bvh\n", "{err}");
    assert!(err.starts_with("disk/out.bvh: cannot be written: "), "{err}");
    assert!(err.contains("has room"), "{err}");
}

#[test]
fn a_folder_that_may_not_be_written_to_is_an_error_and_keeps_what_it_has() {
    let folder = Folder::new("files_read_only");
    folder.write("walk.bvh", WALK);
    let at = folder.0.join("closed");
    fs::create_dir(&at).unwrap();
    fs::write(at.join("out.bvh"), WALK).unwrap();
    fs::set_permissions(&at, fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write everywhere.
    let line = "condyle resample walk.bvh --fps 60 -o closed/out.bvh";
    let line = match folder.shell("test $(id -u) = 0").status.success() {
        true => format!("setpriv --reuid 65534 --clear-groups {line}"),
        false => line.to_owned(),
    };
    let got = folder.shell(&line);
    let err = String::from_utf8_lossy(&got.stderr).into_owned();
    fs::set_permissions(&at, fs::Permissions::from_mode(0o755)).unwrap();
    if !err.starts_with("closed/out.bvh: ") {
        println!("skipped: only root is here: {err}");
        return;
    }
    assert_eq!(got.status.code(), Some(2), "{got:?}");
    assert!(err.contains("cannot be written: "), "{err}");
    assert_eq!(fs::read_to_string(at.join("out.bvh")).unwrap(), WALK);
    assert_eq!(fs::read_dir(&at).unwrap().count(), 1);
}

#[test]
fn a_target_that_is_a_link_stays_one_and_what_it_leads_to_is_replaced() {
    let folder = Folder::new("files_link");
    folder.write("walk.bvh", WALK);
    folder.write("other.bvh", &long_walk(5));
    symlink("other.bvh", folder.0.join("out.bvh")).unwrap();
    let got = folder.condyle("resample walk.bvh --fps 60 -o out.bvh");
    assert_eq!(got.status.code(), Some(0), "{got:?}");
    assert!(folder.0.join("out.bvh").is_symlink());
    assert!(folder.read("other.bvh").contains("Frames: 2"));
    assert_eq!(folder.names(), ["other.bvh", "out.bvh", "walk.bvh"]);
}
