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

/// While the program is about to write to a FIFO that nobody reads, it has its temporary files: it is
/// stopped then, by each of the signals, and leaves what was there.
fn stopped_in_the_middle(name: &str, fifo: &str, args: &[&str]) {
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let folder = Folder::new(&format!("files_signal_{name}_{signal}"));
        // What runs under `nohup` ignores one of them, and so does all that it starts.
        if !folder.shell(&format!("kill -{signal} $$; echo ignored")).stdout.is_empty() {
            println!("skipped: {signal} is ignored here");
            continue;
        }
        folder.write("walk.bvh", &long_walk(40));
        folder.write("rig.json", "");
        assert!(folder.shell(&format!("mkfifo {fifo}")).status.success());
        let child = Command::new(env!("CARGO_BIN_EXE_condyle"))
            .current_dir(&folder.0)
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut there = [fifo, "rig.json", "walk.bvh"];
        there.sort_unstable();
        let has_part = || folder.names().iter().any(|name| name.ends_with(".part"));
        for _ in 0..600 {
            if has_part() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(has_part(), "{:?}", folder.names());
        let id = child.id();
        assert!(folder.shell(&format!("kill -{signal} {id}")).status.success());
        let status = child.wait_with_output().unwrap().status;
        assert_eq!(status.signal(), Some(number), "{status:?}");
        assert_eq!(folder.names(), there);
        assert_eq!(folder.read("rig.json"), "");
        assert_eq!(folder.read("walk.bvh"), long_walk(40));
    }
}

#[test]
fn a_signal_in_the_middle_of_writing_leaves_no_file_behind() {
    let args = ["estimate", "walk.bvh", "-o", "rig.json", "--fresh", "--report", "page"];
    stopped_in_the_middle("estimate", "page", &args);
}

#[test]
fn a_signal_in_the_middle_of_the_demo_leaves_no_file_behind() {
    stopped_in_the_middle("demo", "figure.amc", &["demo", "-o", ".", "--force"]);
}

/// Each with an output, a file or standard output, that has no room.
#[test]
fn outputs_are_there_all_or_none() {
    let folder = Folder::new("files_none");
    if !std::path::Path::new("/dev/full").exists() {
        println!("skipped: no /dev/full here");
        return;
    }
    assert_eq!(folder.condyle("demo -o .").status.code(), Some(0));
    fs::create_dir(folder.0.join("out")).unwrap();
    let full = "/dev/full";
    for line in [
        "connect walk.bvh run.bvh -o out/x.bvh --report FULL",
        "connect walk.bvh run.bvh -o out/x.amc --report FULL",
        "connect walk.bvh run.bvh -o - --report out/x.html > FULL",
        "estimate walk.bvh -o out/x.json --report FULL",
        "estimate walk.bvh -o FULL --report out/x.html",
        "estimate walk.bvh -o - --report out/x.html > FULL",
        "couple walk.bvh --rig rig.json -o out/x.json --report FULL",
        "couple walk.bvh --rig rig.json -o - --report out/x.html > FULL",
        "fit walk.bvh --rig body -o out/x.bvh --dials out/x.csv --report FULL",
        "fit walk.bvh --rig body -o out/x.bvh --dials FULL --report out/x.html",
        "fit walk.bvh --rig body -o - --report out/x.html > FULL",
        "pose spine --set lumbar.flexion=20 -o out/x.bvh --report FULL",
        "pose spine --set lumbar.flexion=20 -o - --to bvh --report out/x.html > FULL",
    ] {
        let got = folder.shell(&format!("condyle {}", line.replace("FULL", full)));
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(2), "{line}: {err}");
        assert!(err.contains("No space left"), "{line}: {err}");
        let there = fs::read_dir(folder.0.join("out")).unwrap().count();
        assert_eq!(there, 0, "{line}");
    }
    // Who has read enough is no failure.
    let got = folder.shell("condyle estimate walk.bvh -o - --report out/x.html | head -c 1");
    assert_eq!(got.stdout, b"{");
    assert!(folder.read("out/x.html").ends_with("</html>\n"));
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

/// `rig.json/` and `rig.json/.` cannot be looked at, and without their ends they are `rig.json`.
#[test]
fn an_output_that_is_spelt_as_a_folder_is_refused_where_a_file_is_meant() {
    let folder = Folder::new("files_slash");
    assert_eq!(folder.condyle("demo -o .").status.code(), Some(0));
    folder.write("goals.json", "{ \"goals\": [] }");
    folder.write("dials.csv", "time_s,lumbar.flexion_deg\n0,1\n");
    fs::create_dir(folder.0.join("there")).unwrap();
    let names = folder.names();
    let all = || {
        let files = names.iter().filter(|name| folder.0.join(name).is_file());
        files.map(|name| folder.read_bytes(name)).collect::<Vec<_>>()
    };
    let before = all();
    for line in [
        "estimate walk.bvh -o OUT",
        "estimate walk.bvh --fresh -o OUT",
        "estimate walk.bvh -o - --report OUT",
        "corpus . -o OUT",
        "stats walk.bvh -o OUT",
        "merge part.cst -o OUT",
        "anatomy walk.bvh -o OUT",
        "limits preset hip -o OUT",
        "limits show rig.json -o OUT",
        "dials spine -o OUT",
        "pose spine --set lumbar.flexion=20 -o OUT",
        "pose spine --set lumbar.flexion=20 --report OUT",
        "fit walk.bvh --rig body -o OUT",
        "fit walk.bvh --rig body -o - --dials OUT",
        "fit walk.bvh --rig body -o - --report OUT",
        "couple walk.bvh --rig rig.json -o OUT",
        "couple walk.bvh --rig rig.json --report OUT",
        "evaluate walk.bvh --rig rig.json --report OUT",
        "connect walk.bvh run.bvh -o OUT",
        "connect walk.bvh run.bvh -o - --report OUT",
        "blend walk.bvh run.bvh -o OUT",
        "ik walk.bvh --rig rig.json --goals goals.json -o OUT",
    ] {
        for out in ["rig.json/", "rig.json/.", "walk.bvh//", "dials.csv/", "new/", "there/", "."] {
            for force in ["", " --force"] {
                let line = line.replace("OUT", out) + force;
                let got = folder.condyle(&line);
                let err = String::from_utf8_lossy(&got.stderr);
                assert_eq!(got.status.code(), Some(2), "{line}: {err}");
                let told = format!("condyle: {out} is the name of a folder, and the ");
                assert!(
                    err.starts_with(&told) && err.contains("\n  help: name it "),
                    "{line}: {err}"
                );
                assert!(folder.names() == names && all() == before, "{line}: {err}");
            }
        }
    }
    // Where a folder may be meant, it is not the file of that name.
    for out in ["run.bvh/", "run.bvh/."] {
        let got = folder.condyle(&format!("mirror walk.bvh -o {out} --force"));
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(2), "{err}");
        assert!(err.contains("the folder cannot be made"), "{err}");
    }
    assert!(folder.names() == names && all() == before);
    // A link to such a name.
    symlink("rig.json/", folder.0.join("link")).unwrap();
    let got = folder.condyle("estimate walk.bvh -o link");
    let err = String::from_utf8_lossy(&got.stderr);
    assert_eq!(got.status.code(), Some(2), "{err}");
    assert!(err.contains("link: cannot be written: this is the name of a folder"), "{err}");
    assert!(all() == before);
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
        ("dials spine -o report.html", "report.html has the extension of a page (HTML)"),
        ("estimate walk.bvh -o copy.json --fresh", "copy.json: a BVH is there"),
        ("estimate walk.bvh -o copy.json", "copy.json:1:1"),
        ("estimate walk.bvh -o new.json --report copy.json", "copy.json: a BVH is there"),
        ("stats walk.bvh -o report.html", "report.html has the extension of a page (HTML)"),
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

/// What begins a little like a file of the kind that would be written, and is somebody's own.
#[test]
fn what_only_looks_a_little_like_a_kind_is_not_replaced() {
    let folder = Folder::new("files_alike");
    assert_eq!(folder.condyle("demo -o .").status.code(), Some(0));
    folder.write("letter.txt", "Dear John, precious as it is, this is a letter.\n");
    folder.write("diary.csv", "day,mood\n1,good\n");
    folder.write("package.json", "{ \"name\": \"x\", \"dependencies\": { \"condyle\": \"1\" } }\n");
    folder.write("diary.amc", "2024\nDear diary, it is 5 already.\n");
    folder.write("poem.bvh", "ROOT and branch\nthe tree was felled.\n");
    folder.write("drawing.svg", "<note><svg></svg></note>\n");
    let names = folder.names();
    let all = || names.iter().map(|name| folder.read_bytes(name)).collect::<Vec<_>>();
    let before = all();
    for line in [
        "fit walk.bvh --rig body -o - --dials letter.txt",
        "fit walk.bvh --rig body -o diary.csv",
        "pose spine --set lumbar.flexion=20 -o diary.csv",
        "limits preset hip -o package.json",
        "dials spine -o package.json",
        "estimate walk.bvh --fresh -o package.json",
        "estimate walk.bvh -o package.json",
        "couple walk.bvh --rig rig.json -o package.json",
        "anatomy walk.bvh -o package.json",
        "convert walk.bvh diary.amc",
        "mirror walk.bvh -o poem.bvh",
        "connect walk.bvh run.bvh -o poem.bvh",
        "limits show rig.json -o drawing.svg",
    ] {
        let got = folder.condyle(line);
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(2), "{line}: {err}");
        assert!(err.contains("  help: "), "{line}: {err}");
        assert!(folder.names() == names && all() == before, "{line}: {err}");
    }
}

#[test]
fn a_rig_in_which_somebody_has_worked_is_not_replaced_by_another() {
    let folder = Folder::new("files_own_work");
    for line in [
        "demo -o .",
        "limits preset hip -o hip.json",
        "limits preset hip --left --as LeftUpLeg -o left.json",
        "dials spine -o spine.json",
    ] {
        assert_eq!(folder.condyle(line).status.code(), Some(0), "{line}");
    }
    let changed = |from: &str, to: &str, old: &str, new: &str| {
        let text = folder.read(from);
        let replaced = text.replacen(old, new, 1);
        assert_ne!(text, replaced, "{from}");
        folder.write(to, &replaced);
    };
    let [estimated, edited] = ["estimated", "edited"].map(|of| format!("\"source\": \"{of}\""));
    changed("rig.json", "edited.json", &estimated, &edited);
    changed("rig.json", "field.json", "{", "{ \"mine\": [1, 2],");
    changed("rig.json", "changed.json", "\"noise_deg\": 0", "\"noise_deg\": 1");
    changed("rig.json", "broken.json", "\"offset_m\"", "\"offset_m\":");
    changed("spine.json", "dials.json", "\"label\": \"", "\"label\": \"My ");
    changed(
        "hip.json",
        "wider.json",
        "\"source\": \"preset\"",
        "\"noise_deg\": 1, \"source\": \"preset\"",
    );
    let names = folder.names();
    let all = || names.iter().map(|name| folder.read_bytes(name)).collect::<Vec<_>>();
    let before = all();
    for (line, what) in [
        ("limits preset hip -o edited.json", "the entry of \""),
        ("limits preset hip -o changed.json", "the entry of \""),
        ("limits preset hip -o field.json", "the field mine would be lost"),
        ("limits preset hip -o dials.json", "the skeleton and "),
        ("limits preset hip -o broken.json", "is broken"),
        ("limits preset hip -o wider.json", "the entry of \"hip\" would be lost"),
        ("dials spine -o edited.json", "the entry of \""),
        ("dials spine -o dials.json", "the joint maps"),
        ("dials body -o field.json", "the field mine would be lost"),
        ("couple walk.bvh --rig rig.json -o edited.json", "the entry of \""),
    ] {
        let got = folder.condyle(line);
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(2), "{line}: {err}");
        assert!(err.contains(what) && err.contains("replace it with --force"), "{line}: {err}");
        assert!(folder.names() == names && all() == before, "{line}: {err}");
    }
    // What can be made again is replaced, and with force all is.
    for line in [
        "limits preset knee -o hip.json",
        "limits preset knee -o left.json",
        "dials body -o spine.json",
        "couple walk.bvh --rig edited.json -o edited.json",
        "limits preset hip -o edited.json --force",
        "dials spine -o dials.json --force",
    ] {
        let got = folder.condyle(line);
        assert_eq!(got.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&got.stderr));
    }
}

#[test]
fn the_demo_replaces_only_what_it_wrote() {
    let folder = Folder::new("files_demo");
    for (name, text) in [("walk.bvh", long_walk(20)), ("figure.asf", acclaim(30.0).0)] {
        folder.write(name, &text);
        let got = folder.condyle("demo -o .");
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(2), "{err}");
        assert!(err.contains(name) && err.contains("--force"), "{err}");
        assert_eq!(folder.names(), [name]);
        assert_eq!(folder.read(name), text);
        fs::remove_file(folder.0.join(name)).unwrap();
    }
    folder.write("walk.bvh", &long_walk(20));
    assert_eq!(folder.condyle("demo -o . --force").status.code(), Some(0));
    let rig = folder.read("rig.json").replacen("estimated", "edited", 1);
    folder.write("rig.json", &rig);
    let got = folder.condyle("demo -o .");
    assert_eq!(got.status.code(), Some(2), "{got:?}");
    assert_eq!(folder.read("rig.json"), rig);
}

/// The other side: who runs a command again needs no force.
#[test]
fn every_command_replaces_what_it_wrote_before() {
    let folder = Folder::new("files_again");
    let goal = "{ \"joint\": \"LeftHand\", \"position_m\": [0.4, 1.2, 0.3] }";
    folder.write("goals.json", &format!("{{ \"goals\": [ {goal} ] }}"));
    let (asf, amc) = acclaim(30.0);
    folder.write("03.asf", &asf);
    folder.write("03_01.amc", &amc);
    for line in [
        "demo -o .",
        "estimate walk.bvh -o mine.json --report page.html",
        "estimate walk.bvh -o mine.json --fresh",
        "corpus . -o all.json",
        "stats walk.bvh -o part.cst",
        "merge part.cst -o merged.json",
        "merge part.cst part.cst -o both.cst",
        "anatomy walk.bvh -o names.json",
        "limits preset hip -o hip.json",
        "limits show rig.json -o sheet.svg",
        "dials spine -o spine.json",
        "dials body -o body.json",
        "pose spine --set lumbar.flexion=20 -o posed.csv --report posed.html",
        "pose spine --set lumbar.flexion=20 -o posed.bvh",
        "fit walk.bvh --rig body -o fitted.bvh --dials fitted.csv --report fitted.html",
        "couple walk.bvh --rig rig.json -o coupled.json --report coupled.html",
        "evaluate walk.bvh --rig rig.json --samples 3 --report evaluated.html",
        "connect walk.bvh run.bvh -o connected.bvh --report seam.html",
        "blend walk.bvh run.bvh -o blended.bvh",
        "ik walk.bvh --rig rig.json --goals goals.json -o reached.bvh",
        "convert walk.bvh walk.amc",
        "convert 03.asf 03_01.amc other.amc",
        "convert walk.bvh walk.trc",
        "mirror walk.bvh run.bvh -o out/",
    ] {
        for again in [false, true] {
            let got = folder.condyle(line);
            let err = String::from_utf8_lossy(&got.stderr);
            assert!(matches!(got.status.code(), Some(0 | 1)), "{line}, again {again}: {err}");
        }
    }
}

#[test]
fn what_is_written_has_no_extension_of_another_kind() {
    let folder = Folder::new("files_extensions");
    folder.write("walk.bvh", &long_walk(40));
    folder.write("rig.json", "");
    assert_eq!(folder.condyle("estimate walk.bvh -o rig.json --fresh").status.code(), Some(0));
    let names = folder.names();
    for (line, other) in [
        ("estimate walk.bvh -o walk.svg", "a picture (SVG)"),
        ("estimate walk.bvh -o a.html --fresh", "a page (HTML)"),
        ("estimate walk.bvh -o a.json --report a.csv", "a table (CSV)"),
        ("corpus . -o c.cst", "a summary"),
        ("couple walk.bvh --rig rig.json -o c.HTM", "a page (HTML)"),
        ("limits preset hip -o hip.csv", "a table (CSV)"),
        ("dials spine -o spine.trc", "a motion file"),
        ("anatomy walk.bvh -o names.svg", "a picture (SVG)"),
        ("stats walk.bvh -o part.svg", "a picture (SVG)"),
    ] {
        let got = folder.condyle(line);
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(2), "{line}: {err}");
        assert!(err.contains(&format!("has the extension of {other}")), "{line}: {err}");
        assert!(err.contains("help: the output is a"), "{line}: {err}");
        assert_eq!(folder.names(), names, "{line}");
    }
}

/// What a file cannot be written for is told, with what helps.
#[test]
fn help_fits_what_is_wrong_with_a_name() {
    let folder = Folder::new("files_help");
    folder.write("walk.bvh", WALK);
    symlink("nowhere/new.bvh", folder.0.join("far.bvh")).unwrap();
    symlink("far.bvh", folder.0.join("twice.bvh")).unwrap();
    let long = format!("{}.bvh", "x".repeat(300));
    for (output, help) in [
        ("far.bvh", "it is a link to nowhere/new.bvh, in a folder that is not there"),
        ("twice.bvh", "it is a link to nowhere/new.bvh, in a folder that is not there"),
        ("nowhere/new.bvh", "make the folder first"),
        (&long, "choose a shorter name"),
    ] {
        let got = folder.condyle(&format!("resample walk.bvh --fps 60 -o {output}"));
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(2), "{output}: {err}");
        assert!(err.contains(&format!("help: {help}")), "{output}: {err}");
    }
    // Five gigabytes of nothing, and less room for them.
    fs::File::create(folder.0.join("large.bvh")).unwrap().set_len(5 << 30).unwrap();
    for (flag, help) in [("--mmap", "let the program have more memory"), ("", "--mmap reads")] {
        let got = folder.shell(&format!("ulimit -v 3000000; condyle info large.bvh {flag}"));
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(2), "{flag}: {err}");
        assert!(err.contains(&format!("help: {help}")), "{flag}: {err}");
    }
}

/// Closed, or without room.
#[test]
fn what_cannot_be_printed_is_no_success() {
    let folder = Folder::new("files_stdout");
    folder.write("walk.bvh", WALK);
    folder
        .write("rig.json", "{ \"condyle\": 1, \"skeleton\": { \"joints\": [] }, \"joints\": {} }");
    let full = std::path::Path::new("/dev/full").exists().then_some(">/dev/full");
    for to in [">&-"].into_iter().chain(full) {
        for line in [
            "--help",
            "--version",
            "estimate --help",
            "info walk.bvh",
            "info walk.bvh --json",
            "man",
            "completions bash",
            "dials spine",
            "limits show hip",
            "limits preset hip",
            "convert walk.bvh - --to bvh",
            "pose spine --set lumbar.flexion=20 --json",
            "estimate walk.bvh -o new.json",
        ] {
            let got = folder.shell(&format!("condyle {line} {to}"));
            let err = String::from_utf8_lossy(&got.stderr);
            assert_eq!(got.status.code(), Some(2), "{line} {to}: {err}");
            assert!(err.contains("condyle: standard output: "), "{line} {to}: {err}");
        }
        // What prints nothing needs no standard output.
        let got = folder.shell(&format!("condyle convert walk.bvh new.trc {to}"));
        assert_eq!(got.status.code(), Some(0), "{got:?}");
    }
    let got = folder
        .shell("condyle --help >/dev/null && condyle --help | head -c 1 && condyle --nonsense");
    assert_eq!(got.status.code(), Some(2), "{got:?}");
    assert!(String::from_utf8_lossy(&got.stderr).contains("unexpected argument"), "{got:?}");
}

/// A skeleton as Acclaim has it, with a leg of this length, and a motion of it.
fn acclaim(leg: f64) -> (String, String) {
    let asf = format!(
        ":version 1.10\n:name x\n:units\n  mass 1.0\n  length 1.0\n  angle deg\n:documentation\n  x\n:root\n   \
         order TX TY TZ RX RY RZ\n   axis XYZ\n   position 0 0 0\n   orientation 0 0 0\n:bonedata\n  begin\n     id \
         1\n     name leg\n     direction 0 -1 0\n     length {leg}\n     axis 0 0 0 XYZ\n    dof rx ry rz\n  end\n:hierarchy\n  \
         begin\n    root leg\n  end\n"
    );
    let mut amc = ":FULLY-SPECIFIED\n:DEGREES\n".to_owned();
    for frame in 1..=30 {
        amc += &format!("{frame}\nroot 0 40 0 0 0 0\nleg {} {} 0\n", frame * 2, frame % 7);
    }
    (asf, amc)
}

fn subjects(name: &str) -> Folder {
    let folder = Folder::new(name);
    for (stem, leg) in [("02", 20.0), ("03", 30.0), ("07-walk", 35.0), ("HDM_bd", 40.0)] {
        let (asf, amc) = acclaim(leg);
        folder.write(&format!("{stem}.asf"), &asf);
        let motion = if stem == "07-walk" { "07_01-walk".to_owned() } else { format!("{stem}_01") };
        folder.write(&format!("{motion}.amc"), &amc);
    }
    folder
}

/// `estimate *.asf *.amc`: all skeletons come before all motions.
#[test]
fn motions_find_their_skeletons_by_name() {
    let folder = subjects("files_pairs");
    let asfs = "02.asf 03.asf 07-walk.asf HDM_bd.asf";
    let amcs = "02_01.amc 03_01.amc 07_01-walk.amc HDM_bd_01.amc";
    let got = folder.condyle(&format!("info --json {asfs} {amcs}"));
    assert_eq!(got.status.code(), Some(0), "{}", String::from_utf8_lossy(&got.stderr));
    let value: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    let files = value["files"].as_array().unwrap();
    assert_eq!(files.len(), 4, "{value:#}");
    // Each has the leg of its own.
    let got = folder.condyle(&format!("convert {asfs} {amcs} out/ --to bvh --units in"));
    assert_eq!(got.status.code(), Some(0), "{}", String::from_utf8_lossy(&got.stderr));
    for (stem, leg) in [("02_01", 20.0), ("03_01", 30.0), ("07_01-walk", 35.0), ("HDM_bd_01", 40.0)]
    {
        let text = folder.read(&format!("out/{stem}.bvh"));
        assert!(text.contains(&format!("OFFSET 0 {} 0", -leg)), "{stem}: {text}");
    }
    let got = folder.condyle(&format!("estimate {asfs} {amcs} -o rig.json"));
    assert_eq!(got.status.code(), Some(0), "{}", String::from_utf8_lossy(&got.stderr));
    // Motions before their skeletons, and order against names.
    for line in ["02_01.amc 02.asf", "03_01.amc 02_01.amc 02.asf 03.asf", "02.asf 03_01.amc 03.asf"]
    {
        let got = folder.condyle(&format!("info --json {line}"));
        let err = String::from_utf8_lossy(&got.stderr).into_owned();
        assert_eq!(got.status.code(), Some(0), "{line}: {err}");
        assert!(!err.contains("another subject"), "{line}: {err}");
    }
}

#[test]
fn a_motion_without_one_skeleton_of_its_own_is_told() {
    let folder = subjects("files_unpaired");
    let walk = folder.read("02_01.amc");
    fs::create_dir(folder.0.join("sub")).unwrap();
    folder.write("sub/03.asf", &folder.read("03.asf"));
    folder.write("walk.amc", &walk);
    folder.write("99_01.amc", &walk);
    folder.write("sub2_03_01.amc", &walk);
    for (args, what) in [
        (
            "02.asf 03.asf walk.amc",
            "walk.amc: AMC motion needs its skeleton: none of the 2 ASFs fits its name",
        ),
        ("02.asf 03.asf 99_01.amc", "99_01.amc: AMC motion needs its skeleton: none of the 2"),
        (
            "./03.asf sub/03.asf 03_01.amc",
            "03_01.amc: AMC motion needs its skeleton: ./03.asf and sub/03.asf fit",
        ),
    ] {
        let got = folder.condyle(&format!("estimate {args} -o rig.json"));
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(2), "{args}: {err}");
        assert!(err.contains(what), "{args}: {err}");
    }
    // One serves all; of another subject that is told, but an ASF that stands alone before it is meant.
    for (args, told) in
        [("02.asf walk.amc", 0), ("02.asf 99_01.amc", 1), ("02.asf 02_01.amc 03.asf walk.amc", 0)]
    {
        let got = folder.condyle(&format!("info {args}"));
        let err = String::from_utf8_lossy(&got.stderr).into_owned()
            + &String::from_utf8_lossy(&got.stdout);
        assert_eq!(got.status.code(), Some(0), "{args}: {err}");
        assert_eq!(err.matches("another subject").count(), told, "{args}: {err}");
    }
    let got = folder.condyle("corpus sub . -o rig.json");
    let out =
        String::from_utf8_lossy(&got.stdout).into_owned() + &String::from_utf8_lossy(&got.stderr);
    assert!(out.contains("99_01.amc"), "{out}");
}

#[test]
fn a_folder_given_to_estimate_is_told_what_to_do() {
    let folder = subjects("files_folder");
    let got = folder.condyle("estimate . -o rig.json");
    let err = String::from_utf8_lossy(&got.stderr);
    assert_eq!(got.status.code(), Some(2), "{err}");
    assert!(
        err.contains(".: this is a folder\n  help: name the files in it; condyle corpus FOLDER"),
        "{err}"
    );
}

/// Commands that make a motion of a motion, of many into a folder.
#[test]
fn many_motions_go_into_a_folder() {
    let folder = Folder::new("files_many");
    assert_eq!(folder.condyle("demo -o .").status.code(), Some(0));
    let (asf, amc) = acclaim(30.0);
    folder.write("03.asf", &asf);
    folder.write("03_01.amc", &amc);
    folder.write("03_02.amc", &amc);
    for (i, line) in [
        "clamp walk.bvh run.bvh --rig rig.json -o out0/",
        "mirror walk.bvh run.bvh -o out1/",
        "retarget walk.bvh run.bvh --onto walk.bvh -o out2/",
        "convert walk.bvh run.bvh out3/",
        "transform walk.bvh run.bvh --facing 90 -o out4/",
        "resample walk.bvh run.bvh --fps 30 -o out5/",
        "trim walk.bvh run.bvh --frames 0..9 -o out6/",
    ]
    .into_iter()
    .enumerate()
    {
        let got = folder.condyle(line);
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(0), "{line}: {err}");
        for name in ["walk", "run"] {
            // As the command alone makes it.
            let (rest, _) = line.rsplit_once(' ').unwrap();
            let alone = rest.replace("walk.bvh run.bvh", &format!("{name}.bvh"));
            let got = folder.condyle(&format!("{alone} alone.bvh"));
            assert_eq!(got.status.code(), Some(0), "{alone}");
            let there = folder.read(&format!("out{i}/{name}.bvh"));
            assert!(there == folder.read("alone.bvh"), "{line}");
        }
    }
    // Into another format, with an ASF, and told as JSON.
    let got = folder.condyle("convert 03.asf 03_01.amc 03_02.amc other --to bvh");
    assert_eq!(got.status.code(), Some(2), "a name without a slash is that of a file");
    let got = folder.condyle("convert 03.asf 03_01.amc 03_02.amc other/ --to bvh");
    assert_eq!(got.status.code(), Some(0), "{got:?}");
    assert!(folder.read("other/03_02.bvh").starts_with("HIERARCHY"));
    let got = folder.condyle("clamp walk.bvh run.bvh --rig rig.json -o out0 --json");
    let value: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    assert_eq!(value["files"][1]["path"], "run.bvh");
    assert_eq!(value["files"][1]["output"], "out0/run.bvh");
    assert!(value["files"][0]["joints"].is_object());
    // What is wrong with one does not stop the others, and nothing that is read is replaced.
    folder.write("broken.bvh", "HIERARCHY\n");
    fs::create_dir_all(folder.0.join("sub")).unwrap();
    folder.write("sub/walk.bvh", &folder.read("walk.bvh"));
    let walk = folder.read("walk.bvh");
    let got = folder.condyle("mirror walk.bvh broken.bvh sub/walk.bvh run.bvh -o last/");
    let err = String::from_utf8_lossy(&got.stderr);
    assert_eq!(got.status.code(), Some(2), "{err}");
    assert!(
        err.contains("broken.bvh:2:1") && err.contains("sub/walk.bvh: it would be written to"),
        "{err}"
    );
    assert!(folder.0.join("last/run.bvh").exists());
    let got = folder.condyle("mirror walk.bvh run.bvh -o .");
    let err = String::from_utf8_lossy(&got.stderr);
    assert_eq!(got.status.code(), Some(2), "{err}");
    assert!(
        err.contains("walk.bvh is one of the inputs") || err.contains("walk.bvh: ./walk.bvh"),
        "{err}"
    );
    assert_eq!(folder.read("walk.bvh"), walk);
    let got = folder.condyle("mirror walk.bvh run.bvh -o both.bvh");
    let err = String::from_utf8_lossy(&got.stderr);
    assert!(err.contains("help: write them into a folder: FOLDER/"), "{err}");
}

/// Every kind of input, broken in every way that has been thought of.
#[test]
fn every_error_in_a_file_has_a_place() {
    let folder = Folder::new("files_places");
    assert_eq!(folder.condyle("demo -o .").status.code(), Some(0));
    let (asf, amc) = acclaim(30.0);
    folder.write("empty.bvh", "");
    folder.write("blank.bvh", " \n\n");
    folder.write("words.bvh", "These are words.\n");
    folder.write("words.xyz", "These are words.\n");
    folder.write("rootless.asf", &asf.replace(":root", ":rood"));
    folder.write("flat.asf", asf.split(":hierarchy").next().unwrap());
    folder.write("good.asf", &asf);
    folder.write("short.amc", amc.rsplit_once("leg").unwrap().0);
    let trc = folder.read("figure.trc");
    let mut lines: Vec<&str> = trc.lines().collect();
    let mut fields: Vec<&str> = lines[2].split('\t').collect();
    fields[3] = "1";
    let fields = fields.join("\t");
    lines[2] = &fields;
    folder.write("count.trc", &lines.join("\n"));
    folder.write("nofield.trc", &trc.replace("NumMarkers", "Nothing"));
    folder.write("utf16.bvh", "\u{0}");
    fs::write(folder.0.join("utf16.bvh"), b"\xff\xfeH\0I\0").unwrap();
    fs::write(folder.0.join("dials.csv"), b"time_s,lumbar.flexion_deg\n0,1\n\xff\xfe,2\n").unwrap();
    fs::write(folder.0.join("latin.json"), b"{ \"condyle\": 1, \"a\xff\": 2 }").unwrap();
    folder.write("empty.json", "");
    fs::write(folder.0.join("goals.json"), b"{ \"goals\": \xff }").unwrap();
    fs::write(folder.0.join("part.cst"), b"").unwrap();
    fs::write(folder.0.join("x.fbx"), b"Kaydara FBX Binary  \0\x1a\0").unwrap();
    for (line, place) in [
        ("info empty.bvh", "empty.bvh:1:1: "),
        ("info blank.bvh", "blank.bvh:1:1: "),
        ("info words.bvh", "words.bvh:1:1: "),
        ("info words.xyz", "words.xyz:1:1: "),
        ("info rootless.asf", "rootless.asf:"),
        ("info flat.asf", "flat.asf:"),
        ("info good.asf short.amc", "short.amc:"),
        ("info --strict count.trc", "count.trc:"),
        ("info --strict nofield.trc", "nofield.trc:"),
        ("info utf16.bvh", "utf16.bvh:1:1: "),
        ("info x.fbx", "x.fbx:@0: this is FBX, which is not read yet"),
        ("pose spine --dials dials.csv --json", "dials.csv:3:1: "),
        ("check walk.bvh --rig latin.json", "latin.json:1:"),
        ("check walk.bvh --rig empty.json", "empty.json:1:1: "),
        ("ik walk.bvh --rig rig.json --goals goals.json -o x.bvh", "goals.json:1:"),
        ("merge part.cst -o new.json", "part.cst:@0"),
    ] {
        let got = folder.condyle(line);
        let err = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(2), "{line}: {err}");
        assert!(err.starts_with(place), "{line}: {err}");
        let after = &err[place.split(':').next().unwrap().len() + 1..];
        let is_place = after.starts_with(|c: char| c.is_ascii_digit() || c == '@');
        assert!(is_place && err.contains("help: "), "{line}: {err}");
    }
}

/// Names from files, in tables, messages, warnings and JSON.
#[test]
fn names_are_shown_and_not_obeyed_and_cut_where_they_are_absurd() {
    let folder = Folder::new("files_names");
    let evil = "Le\u{1b}[2Jg\u{202e}\u{9b}31m\u{7}";
    folder.write("evil.bvh", &WALK.replace("Leg", evil));
    folder.write(
        "twice.bvh",
        &WALK.replace("Leg", evil).replace("ROOT Hips", &format!("ROOT {evil}")),
    );
    folder.write("bad.bvh", &WALK.replace("CHANNELS 3 Zrotation", &format!("{evil} 3 Zrotation")));
    assert_eq!(folder.condyle("estimate evil.bvh -o rig.json").status.code(), Some(0));
    for line in [
        "info evil.bvh",
        "info evil.bvh --json",
        "info twice.bvh",
        "info bad.bvh",
        "info bad.bvh --json",
        "estimate twice.bvh -o other.json",
        "check evil.bvh --rig rig.json",
        "check evil.bvh --rig rig.json --json",
        "limits show rig.json",
        "limits show rig.json Log",
        "convert evil.bvh evil.amc",
        "info no\u{1b}[31m.bvh",
    ] {
        let got = folder.condyle(line);
        for text in [&got.stdout, &got.stderr] {
            let text = std::str::from_utf8(text).unwrap();
            let obeyed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!text.contains(obeyed), "{line}: {text:?}");
        }
    }
    let long = "N".repeat(20_000_000);
    folder.write("long.bvh", &WALK.replace("CHANNELS 3 Zrotation", &format!("{long} 3 Zrotation")));
    folder.write(
        "same.bvh",
        &WALK.replace("Leg", &long).replace("ROOT Hips", &format!("ROOT {long}")),
    );
    for line in
        ["info long.bvh", "info long.bvh --json", "info same.bvh", "check same.bvh --rig rig.json"]
    {
        let got = folder.condyle(line);
        let told = got.stdout.len() + got.stderr.len();
        assert!(told < 5000, "{line}: {told} bytes");
    }
}

#[test]
fn every_page_runs_its_own_script_only() {
    let folder = Folder::new("files_pages");
    assert_eq!(folder.condyle("demo -o .").status.code(), Some(0));
    for line in [
        "estimate walk.bvh -o new.json --report a.html",
        "couple walk.bvh --rig rig.json --report b.html",
        "evaluate walk.bvh --rig rig.json --samples 3 --report c.html",
        "connect walk.bvh run.bvh -o x.bvh --report d.html",
        "pose spine --set lumbar.flexion=20 --report e.html",
        "fit walk.bvh --rig body -o x.csv --report f.html",
    ] {
        let got = folder.condyle(line);
        assert_eq!(got.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&got.stderr));
        let page = folder.read(line.rsplit(' ').next().unwrap());
        let (_, rest) = page.split_once("\"Content-Security-Policy\" content=\"").expect(line);
        let (policy, _) = rest.split_once('"').unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{line}: {policy}");
        assert!(
            !policy.replace("style-src 'unsafe-inline'", "").contains("unsafe"),
            "{line}: {policy}"
        );
        let scripts = page.matches("<script").count();
        assert_eq!(policy.matches("script-src 'sha256-").count(), scripts, "{line}: {policy}");
    }
}

#[test]
fn a_dial_that_is_not_there_comes_before_an_output_that_is_missing() {
    let folder = Folder::new("files_dials");
    let got = folder.condyle("pose spine --set lumbar.flexoin=20");
    let err = String::from_utf8_lossy(&got.stderr);
    assert_eq!(got.status.code(), Some(2), "{err}");
    assert!(
        err.contains("there is no dial \"lumbar.flexoin\"")
            && err.contains("near are \"lumbar.flexion\""),
        "{err}"
    );
    let got = folder.condyle("pose spine --set lumbar.flexion=20");
    let err = String::from_utf8_lossy(&got.stderr);
    assert_eq!(got.status.code(), Some(2), "{err}");
    assert!(err.contains("add -o OUT, --report PAGE.html or --json"), "{err}");
}

/// The blocks of JSON in a page of the documentation.
fn examples(page: &str) -> Vec<String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = fs::read_to_string(path).unwrap();
    let blocks = text.split("```json\n").skip(1).map(|part| part.split("```").next().unwrap());
    blocks.map(str::to_owned).collect()
}

/// Those of rigs, maps and names are read by the library's tests.
#[test]
fn the_goals_of_the_documentation_are_goals_and_its_edit_is_one() {
    let folder = Folder::new("files_examples");
    assert_eq!(folder.condyle("demo -o .").status.code(), Some(0));
    assert_eq!(folder.condyle("trim walk.bvh --frames 0..2 -o three.bvh").status.code(), Some(0));
    let goals: Vec<String> =
        examples("ik.md").into_iter().filter(|e| !e.contains("\"ok\"")).collect();
    assert_eq!(goals.len(), 2);
    for (text, clip) in goals.iter().zip(["walk.bvh", "three.bvh"]) {
        folder.write("goals.json", text);
        let line = format!("ik {clip} --rig rig.json --goals goals.json -o out.bvh");
        let got = folder.condyle(&line);
        let err = String::from_utf8_lossy(&got.stderr);
        assert!(matches!(got.status.code(), Some(0 | 1)), "{text}\n{err}");
    }
    // The tutorial's line, in the entry of the left elbow: others follow it.
    let edit = examples("tutorial.md").remove(0);
    let edit = edit.trim_end().strip_suffix(',').unwrap();
    let mut rig: serde_json::Value = serde_json::from_str(&folder.read("rig.json")).unwrap();
    let edit: serde_json::Value = serde_json::from_str(&format!("{{{edit}}}")).unwrap();
    for (name, value) in edit.as_object().unwrap() {
        rig["joints"]["LeftForeArm"][name] = value.clone();
    }
    folder.write("rig.json", &format!("{rig:#}"));
    let got = folder.condyle("limits show rig.json LeftForeArm");
    let [out, err] = [&got.stdout, &got.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(
        got.status.success() && out.contains("edited") && out.contains("0 to 150"),
        "{out}{err}"
    );
}
