//! Files under attack: links, full disks, limits of size, signals in the middle of writing.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use super::{Folder, WALK};

impl Folder {
    fn read_bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap()
    }

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

/// Every command that writes, with an output that is one of its inputs.
#[test]
fn no_command_replaces_one_of_its_inputs() {
    let folder = Folder::new("files_inputs");
    assert_eq!(folder.condyle("demo -o .").status.code(), Some(0));
    folder.write("goals.json", "{ \"goals\": [] }");
    assert_eq!(folder.condyle("dials spine -o map.json").status.code(), Some(0));
    assert_eq!(
        folder.condyle("pose map.json --set lumbar.flexion=20 -o dials.csv").status.code(),
        Some(0)
    );
    assert_eq!(folder.condyle("stats walk.bvh -o part.cst").status.code(), Some(0));
    fs::hard_link(folder.0.join("walk.bvh"), folder.0.join("hard.bvh")).unwrap();
    symlink("walk.bvh", folder.0.join("soft.bvh")).unwrap();
    let names = folder.names();
    let all = || names.iter().map(|name| folder.read_bytes(name)).collect::<Vec<_>>();
    let before = all();
    for line in [
        "convert walk.bvh walk.bvh",
        "resample walk.bvh --fps 30 -o ./walk.bvh",
        "trim walk.bvh --frames 0..9 -o soft.bvh",
        "transform soft.bvh --reverse -o walk.bvh",
        "mirror walk.bvh -o hard.bvh",
        "blend run.bvh walk.bvh -o walk.bvh",
        "connect run.bvh walk.bvh -o hard.bvh",
        "connect run.bvh walk.bvh -o new.bvh --report walk.bvh",
        "retarget run.bvh --onto walk.bvh -o soft.bvh",
        "clamp walk.bvh --rig rig.json -o walk.bvh",
        "clamp walk.bvh --rig rig.json -o hard.bvh",
        "ik walk.bvh --rig rig.json --goals goals.json -o walk.bvh",
        "ik walk.bvh --rig rig.json --goals run.bvh -o run.bvh",
        "fit walk.bvh --rig map.json -o walk.bvh",
        "fit walk.bvh --rig map.json -o new.csv --report map.json",
        "pose map.json --dials dials.csv -o dials.csv",
        "dials map.json -o map.json",
        "estimate walk.bvh -o new.json --report walk.bvh",
        "estimate walk.bvh -o hard.bvh",
        "estimate walk.bvh --bind run.bvh -o new.json --report run.bvh",
        "stats walk.bvh -o hard.bvh",
        "merge part.cst -o part.cst",
        "couple walk.bvh --rig rig.json --report rig.json",
        "couple walk.bvh --rig rig.json -o walk.bvh",
        "evaluate walk.bvh --rig rig.json --report hard.bvh",
        "limits show rig.json -o rig.json",
    ] {
        let got = folder.condyle(line);
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(2), "{line}: {err}");
        assert!(folder.names() == names && all() == before, "{line}: {err}");
        let told = ["is one of the inputs", "extension of a", "not the extension of a picture"];
        assert!(told.iter().any(|what| err.contains(what)), "{line}: {err}");
    }
    // Forced, they do.
    let got = folder.condyle("trim walk.bvh --frames 0..9 -o hard.bvh --force");
    assert_eq!(got.status.code(), Some(0), "{got:?}");
    assert!(folder.read("hard.bvh").contains("Frames: 10\n"));
    assert_eq!(folder.names(), names);
}

#[test]
fn no_command_replaces_a_file_of_another_kind() {
    let folder = Folder::new("files_kinds");
    assert_eq!(folder.condyle("demo -o .").status.code(), Some(0));
    folder.write("notes.txt", "Notes about the takes.\n");
    folder.write("goals.json", "{ \"goals\": [] }");
    folder.write("copy.json", WALK);
    folder.write("page.amc", "<!DOCTYPE html>\n");
    let names = folder.names();
    let all = || names.iter().map(|name| folder.read_bytes(name)).collect::<Vec<_>>();
    let before = all();
    for (line, what) in [
        ("limits preset hip -o walk.bvh", "walk.bvh has the extension of a motion file"),
        ("limits preset hip -o new.bvh", "the output is a rig document: name it RIG.json"),
        (
            "limits preset hip -o copy.json",
            "copy.json: a BVH is there, and would be replaced by a rig",
        ),
        ("limits preset hip -o goals.json", "goals.json: what is there is something else"),
        ("limits preset hip -o notes.txt", "notes.txt: what is there is something else"),
        ("dials spine -o report.html", "report.html: a page (HTML) is there"),
        ("estimate walk.bvh -o copy.json --fresh", "copy.json: a BVH is there"),
        ("estimate walk.bvh -o copy.json", "copy.json:1:1"),
        ("estimate walk.bvh -o new.json --report copy.json", "copy.json: a BVH is there"),
        ("stats walk.bvh -o report.html", "report.html: a page (HTML) is there"),
        (
            "convert walk.bvh page.amc",
            "page.amc: a page (HTML) is there, and would be replaced by an AMC",
        ),
        ("connect walk.bvh run.bvh -o new.bvh --report notes.txt", "notes.txt: what is there"),
    ] {
        let got = folder.condyle(line);
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(2), "{line}: {err}");
        assert!(err.contains(what), "{line}: {err}");
        assert!(folder.names() == names && all() == before, "{line}: {err}");
    }
    for line in ["limits preset hip -o goals.json --force", "limits preset hip -o rig.json"] {
        assert_eq!(folder.condyle(line).status.code(), Some(0), "{line}");
    }
    assert!(folder.read("goals.json").contains("\"condyle\""));
}
