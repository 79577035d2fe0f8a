//! Inputs that change while they are read, and such as never end: an answer or an error, never a crash,
//! and no memory for what nobody could use.

use std::fs::{File, OpenOptions};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Folder, WALK};

/// The program with at most a gigabyte of memory, and with what a file holds on standard input.
fn with_little_memory(folder: &Folder, args: &str, input: &Path) -> Output {
    let limited = "ulimit -v 1048576 || exit 99; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", limited, "sh", env!("CARGO_BIN_EXE_condyle")]);
    command.args(args.split_whitespace()).current_dir(&folder.0);
    command.stdin(File::open(input).unwrap()).output().unwrap()
}

#[track_caller]
fn check_refused(folder: &Folder, args: &str, input: &Path, says: &str) {
    let got = with_little_memory(folder, args, input);
    let err = String::from_utf8_lossy(&got.stderr);
    assert_eq!(got.status.code(), Some(2), "{args}: {:?}\n{err}", got.status);
    assert!(err.contains(says), "{args}: {err}");
}

/// A file of so many bytes, of which nothing but the beginning is on the disk.
fn sparse(folder: &Folder, name: &str, begins: &str, length: u64) {
    folder.write(name, begins);
    OpenOptions::new().write(true).open(folder.0.join(name)).unwrap().set_len(length).unwrap();
}

const RIG: &str = r#"{"condyle": 1, "skeleton": {"joints": [{"name": "Leg", "offset_m": [0, 0, 0]}]},
  "joints": {"Leg": {"kind": "hinge", "axis": [0, 0, 1],
                     "limit": {"shape": "arc", "min_deg": -90, "max_deg": 90}}}}"#;
const NOTHING: &str = "/dev/null";
const ENDLESS: &str = "/dev/zero";

#[test]
fn files_of_five_gigabytes_are_refused_before_they_are_read() {
    let folder = Folder::new("inputs_five");
    folder.write("walk.bvh", WALK);
    folder.write("rig0.json", RIG);
    let long = 5 << 30;
    for name in ["x.bvh", "x.trc", "x.asf", "x.amc", "x.json", "x.cst", "x.csv", "x"] {
        sparse(&folder, name, "", long);
    }
    sparse(&folder, "walk5.bvh", WALK, long);
    let motion = "more than 512 MiB, the most that is read into memory";
    for name in ["x.bvh", "x.trc", "x.asf", "x.amc", "x", "walk5.bvh"] {
        check_refused(&folder, &format!("info {name}"), Path::new(NOTHING), motion);
    }
    for (args, says) in [
        ("estimate walk5.bvh -o rig.json", motion),
        ("check walk.bvh --rig x.json", "more than 32 MiB"),
        ("limits show x.json", "more than 32 MiB"),
        ("estimate walk.bvh -o x.json", "more than 32 MiB"),
        ("dials x.json", "more than 32 MiB"),
        ("ik walk.bvh --rig rig0.json --goals x.json -o out.bvh", "more than 32 MiB"),
        ("pose spine --goals x.json -o out.bvh", "more than 32 MiB"),
        ("merge x.cst -o rig.json", "more than 256 MiB"),
        ("pose spine --dials x.csv -o out.bvh", "more than 64 MiB"),
    ] {
        check_refused(&folder, args, Path::new(NOTHING), says);
    }
    assert!(!folder.0.join("out.bvh").exists() && !folder.0.join("rig.json").exists());
}

#[test]
fn what_never_ends_is_refused() {
    let folder = Folder::new("inputs_endless");
    folder.write("walk.bvh", WALK);
    folder.write("rig0.json", RIG);
    for name in ["zero.bvh", "zero.amc", "zero.json", "zero.cst", "zero.csv"] {
        std::os::unix::fs::symlink(ENDLESS, folder.0.join(name)).unwrap();
    }
    for (args, says) in [
        ("info /dev/zero", "more than 512 MiB"),
        ("info zero.bvh", "more than 512 MiB"),
        ("info --mmap zero.amc", "more than 512 MiB"),
        ("check walk.bvh --rig zero.json", "more than 32 MiB"),
        ("merge zero.cst -o rig.json", "more than 256 MiB"),
        ("pose spine --dials zero.csv -o out.bvh", "more than 64 MiB"),
        (
            "pose spine --dials - -o out.bvh",
            "standard input: cannot be read: it has more than 64 MiB",
        ),
        ("ik walk.bvh --rig rig0.json --goals zero.json -o out.bvh", "more than 32 MiB"),
    ] {
        check_refused(&folder, args, Path::new(ENDLESS), says);
    }
}

/// Numbers of one digit take four times their length in memory, and more for rotations.
#[test]
fn motion_of_more_numbers_than_are_kept_is_refused() {
    let folder = Folder::new("inputs_numbers");
    let megabytes = |text: &str, n: usize| text.repeat((n << 20) / text.len());
    let (head, _) = WALK.split_once("Frames: 3").unwrap();
    let head = format!("{head}Frames: 12000000\nFrame Time: 0.01\n");
    folder.write("zeros.bvh", &(head + &megabytes("0 0 0 0 0 0 0 0 0\n", 110)));
    folder.write("signs.bvh", &megabytes("-1", 110));
    folder.write("empty.trc", &megabytes("\t\t\t\t\t\t\t\n", 60));
    for name in ["zeros.bvh", "signs.bvh", "empty.trc"] {
        let says = "more than 50 million numbers";
        check_refused(&folder, &format!("info {name}"), Path::new(NOTHING), says);
    }
}

/// Tables and documents within the size that is read, but made to take many times their length.
#[test]
fn small_files_take_no_gigabyte() {
    let folder = Folder::new("inputs_small");
    folder.write("walk.bvh", WALK);
    folder.write("rig0.json", RIG);
    let megabytes = |text: &str, n: usize| text.repeat((n << 20) / text.len());
    // A frame of many dials in two bytes, a line of nothing but commas, numbers without end.
    folder.write("frames.csv", &("time_s\n".to_owned() + &megabytes("0\n", 40)));
    folder.write("commas.csv", &("time_s\n0".to_owned() + &megabytes(",", 40) + "1\n"));
    folder.write("names.csv", &megabytes("a,", 40));
    folder.write("rows.csv", &("lumbar.axial_deg\n".to_owned() + &megabytes("1\n", 15)));
    for name in ["frames.csv", "commas.csv", "names.csv", "rows.csv"] {
        for output in ["out.bvh", "out.csv"] {
            let args = format!("pose spine --dials {name} -o {output}");
            let got = with_little_memory(&folder, &args, Path::new(NOTHING));
            let err = String::from_utf8_lossy(&got.stderr);
            assert_eq!(got.status.code(), Some(2), "{args}: {:?}\n{err:.500}", got.status);
        }
    }
    // Lists of lists, and frames of goals.
    let lists = format!("[{}0]", megabytes("[0],", 31));
    folder.write("lists.json", &lists);
    folder.write(
        "goals.json",
        &format!("{{\"goals\": [{{\"joint\": \"Hips\", \"position_m\": {lists}}}]}}"),
    );
    let nulls = format!("[{}null]", megabytes("null,", 31));
    folder.write(
        "nulls.json",
        &format!("{{\"goals\": [{{\"joint\": \"x\", \"position_m\": {nulls}}}]}}"),
    );
    for args in [
        "limits show lists.json",
        "check walk.bvh --rig goals.json",
        "ik walk.bvh --rig rig0.json --goals goals.json -o out.bvh",
        "ik walk.bvh --rig rig0.json --goals nulls.json -o out.bvh",
        "pose spine --goals nulls.json -o out.bvh",
        "pose spine --goals goals.json -o out.csv",
    ] {
        let got = with_little_memory(&folder, args, Path::new(NOTHING));
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(2), "{args}: {:?}\n{err:.500}", got.status);
    }
}

#[test]
fn a_file_that_is_cut_short_while_it_is_read_crashes_nothing() {
    let folder = Folder::new("inputs_cut");
    let row = "0 90 0 1.5 2.25 -3.125 10 20 30\n";
    let head = WALK.split_once("Frames:").unwrap().0;
    let frames = 400_000;
    let text = format!("{head}Frames: {frames}\nFrame Time: 0.01\n{}", row.repeat(frames));
    folder.write("walk.bvh", &text);
    let length = text.len() as u64;
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = OpenOptions::new().write(true).open(folder.0.join("walk.bvh")).unwrap();
            while !over.load(Ordering::Relaxed) {
                for length in [length / 3, length, 0, length] {
                    file.set_len(length).unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(2));
                }
            }
        });
        for args in ["info walk.bvh", "info --lenient walk.bvh"].repeat(8) {
            let got = folder.condyle(args);
            let told = String::from_utf8_lossy(&got.stderr);
            assert_eq!(got.status.signal(), None, "{args}: {told}");
            assert!(matches!(got.status.code(), Some(0 | 2)), "{args}: {told}");
        }
        over.store(true, Ordering::Relaxed);
    });
}
