//! The command line as a user meets it: arguments, exit code, standard output, standard error.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test that fails panics"
)]

mod browser;
mod corpus;
mod couple;
mod dials;
mod edit;
mod estimate;
mod evaluate;
mod exporters;
mod files;
mod ik;
#[cfg(unix)]
mod inputs;
mod maps;
#[cfg(unix)]
mod snapshots;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const WALK: &str = "\
HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Leg
  {
    OFFSET 0 -90 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -80 5
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.0083333
0 90 0 0 0 0 0 0 0
1 90 0 0 0 10 0 20 0
2 90 0 0 0 370 0 40 0
";

/// A folder of its own for each test, empty at the start.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.0)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The same, with a text on standard input.
    fn condyle_with(&self, args: &str, input: &str) -> Output {
        use std::io::Write as _;
        let mut child = Command::new(env!("CARGO_BIN_EXE_condyle"))
            .current_dir(&self.0)
            .args(args.split_whitespace())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    fn condyle(&self, args: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_condyle"))
            .current_dir(&self.0)
            .args(args.split_whitespace())
            .output()
            .unwrap()
    }

    #[track_caller]
    fn check(&self, args: &str, code: i32, stdout: &str, stderr: &str) {
        let got = self.condyle(args);
        let out = String::from_utf8(got.stdout).unwrap();
        let err = String::from_utf8(got.stderr).unwrap();
        let shown = format!("condyle {args}\n--- stdout\n{out}--- stderr\n{err}---");
        assert_eq!(got.status.code(), Some(code), "{shown}");
        assert_eq!(out, stdout, "{shown}");
        assert_eq!(err, stderr, "{shown}");
    }
}

#[test]
fn info_shows_what_a_file_holds() {
    let folder = Folder::new("info_shows");
    folder.write("walk.bvh", WALK);
    let expected = "\
walk.bvh: BVH
  frames    3 at 120 per second (0.0083333 s each), 0.02 s
  units     cm (assumed), 0.01 m
  skeleton  2 joints, 1 end sites, 1.702 m along the bones
  bind pose rest of the skeleton; frame 0 is in it
  up        y: assumed
  note      neither the motion nor the rest pose tell which way is up: y is taken; --up takes
            another axis
    joint                 channels           bone to it
    Hips                  tx ty tz rz rx ry    0.0000 m
      Leg                 rz rx ry             0.9000 m
";
    folder.check("info walk.bvh", 0, expected, "");
}

#[test]
fn info_as_json_has_the_fields_of_the_contract() {
    let folder = Folder::new("info_json");
    folder.write("walk.bvh", &WALK.replace("Frames: 3", "Frames: 4"));
    let got = folder.condyle("info --json walk.bvh");
    assert_eq!(got.status.code(), Some(0));
    let value: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    let file = &value["files"][0];
    assert_eq!(file["path"], "walk.bvh");
    assert_eq!(file["format"], "BVH");
    assert_eq!(file["joints"], 2);
    assert_eq!(file["frames"], 3);
    assert_eq!(file["fps"], 120.0);
    assert_eq!(file["units"]["name"], "cm");
    assert_eq!(file["units"]["declared"], false);
    assert_eq!(
        file["warnings"][0],
        "walk.bvh:17:1: 4 frames are declared, 3 are there and were read"
    );
}

#[test]
fn a_wrong_size_is_noticed_and_the_unit_that_fits_is_named() {
    let folder = Folder::new("size");
    folder.write("walk.bvh", WALK);
    let got = folder.condyle("info --source-units mm walk.bvh");
    let out = String::from_utf8(got.stdout).unwrap();
    let words: Vec<&str> = out.split_whitespace().collect();
    let out = words.join(" ");
    assert!(out.contains("no person's size in mm; --source-units cm would fit"), "{out}");
    // A notice is no repair: strict reading goes through.
    assert_eq!(folder.condyle("info --strict --source-units mm walk.bvh").status.code(), Some(0));
}

#[test]
fn errors_name_file_line_and_column_and_what_to_do() {
    let folder = Folder::new("errors");
    folder.write("bad.bvh", &WALK.replace("2 90 0 0 0 370 0 40 0", "2 90 0 0 0 370"));
    folder.check(
        "info bad.bvh",
        2,
        "",
        "bad.bvh:21:1: frame 2 has 6 values, but the hierarchy declares 9 channels\n  help: \
         re-export the clip, or read it with --lenient to stop at the last whole frame\n",
    );
    folder.write("comma.bvh", &WALK.replace("0 -90 0", "0 -90,5 0"));
    folder.check(
        "info comma.bvh",
        2,
        "",
        "comma.bvh:8:14: \"-90,5\" is not a number\n  help: decimal commas are not read: export \
         with a decimal point\n",
    );
    let got = folder.condyle("info gone.bvh");
    assert_eq!(got.status.code(), Some(2));
    assert!(String::from_utf8(got.stderr).unwrap().starts_with("gone.bvh: cannot be read: "));
}

#[test]
fn one_unreadable_file_does_not_hide_the_others() {
    let folder = Folder::new("others");
    folder.write("walk.bvh", WALK);
    folder.write("bad.bvh", "HIERARCHY\n");
    let got = folder.condyle("info bad.bvh walk.bvh --json");
    assert_eq!(got.status.code(), Some(2));
    let value: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    assert_eq!(value["files"][0]["path"], "walk.bvh");
    assert_eq!(value["errors"][0]["path"], "bad.bvh");
    assert_eq!(value["errors"][0]["line"], 2);
    assert!(String::from_utf8(got.stderr).unwrap().starts_with("bad.bvh:2:1: "));
}

/// It is kept as it is, and so no repair.
#[test]
fn angles_that_nobody_means_are_told_with_their_place() {
    let folder = Folder::new("far_turn");
    let wild = WALK.replace("2 90 0 0 0 370 0 40 0", "2 9e9 0 0 0 370 -1e300 40 2e6");
    for (name, text) in
        [("wild.bvh", wild.clone()), ("other.bvh", wild.replace("Frames: 3", "Frames: 4"))]
    {
        folder.write(name, &text);
        let got = folder.condyle(&format!("convert {name} out.bvh"));
        let line = text.lines().position(|l| l.starts_with("2 9e9")).unwrap() + 1;
        let expected = format!(
            "{name}:{line}:17: an angle of -1e300 degrees is hardly meant, and 1 more is like it; they are kept"
        );
        assert!(complaints(&got).contains(&expected), "{}", complaints(&got));
        assert_eq!(got.status.code(), Some(0));
    }
    assert_eq!(folder.condyle("convert wild.bvh out.bvh --strict").status.code(), Some(0));
    folder.write("walk.bvh", WALK);
    assert_eq!(complaints(&folder.condyle("convert walk.bvh out.bvh")), "");
}

#[test]
fn strict_refuses_repairs_and_lenient_reads_to_the_last_whole_frame() {
    let folder = Folder::new("modes");
    folder.write("count.bvh", &WALK.replace("Frames: 3", "Frames: 4"));
    assert_eq!(folder.condyle("info count.bvh").status.code(), Some(0));
    folder.check(
        "info --strict count.bvh",
        2,
        "",
        "count.bvh:17:1: 4 frames are declared, 3 are there and were read\n  help: read it \
         without --strict to accept the repair\n",
    );
    folder.write("cut.bvh", WALK.strip_suffix(" 40 0\n").unwrap());
    assert_eq!(folder.condyle("convert cut.bvh out.bvh").status.code(), Some(2));
    let got = folder.condyle("convert --lenient cut.bvh out.bvh");
    assert_eq!(got.status.code(), Some(0));
    assert!(String::from_utf8(got.stderr).unwrap().contains("were left out: frame 2 has 7 values"));
    assert!(folder.read("out.bvh").contains("Frames: 2"));
}

#[test]
fn converting_a_bvh_to_itself_keeps_its_numbers() {
    let folder = Folder::new("itself");
    folder.write("walk.bvh", WALK);
    folder.check("convert walk.bvh again.bvh", 0, "", "");
    let rows = |text: String| text.split("MOTION").nth(1).unwrap().to_owned();
    assert_eq!(rows(folder.read("again.bvh")), rows(WALK.to_owned()));
}

#[test]
fn writing_an_amc_writes_its_asf_and_both_convert_back() {
    let folder = Folder::new("amc");
    folder.write("walk.bvh", WALK);
    folder.check("convert walk.bvh walk.amc", 0, "", "");
    assert_eq!(folder.names(), ["walk.amc", "walk.asf", "walk.bvh"]);
    folder.check("convert walk.asf walk.amc back.bvh", 0, "", "");
    let back = folder.read("back.bvh");
    assert!(back.contains("ROOT Hips"), "{back}");
    assert!(back.contains("\n2 90 0 0 0 370 0 40 0\n"), "{back}");
}

#[test]
fn an_amc_without_frames_is_a_skeleton_without_motion() {
    let folder = Folder::new("no_frames");
    folder.write("walk.bvh", WALK);
    folder.check("convert walk.bvh walk.amc", 0, "", "");
    folder.write("empty.amc", ":FULLY-SPECIFIED\n:DEGREES\n");
    let got = folder.condyle("info walk.asf empty.amc");
    assert_eq!(got.status.code(), Some(0));
    assert!(String::from_utf8(got.stdout).unwrap().contains("no motion"));
    assert_eq!(
        folder.condyle("resample walk.asf empty.amc --frames 5 -o x.amc").status.code(),
        Some(2)
    );
}

#[test]
fn a_folder_in_the_way_leaves_nothing_behind() {
    let folder = Folder::new("folder_in_the_way");
    folder.write("walk.bvh", WALK);
    fs::create_dir(folder.0.join("x.asf")).unwrap();
    assert_eq!(folder.condyle("convert walk.bvh x.amc").status.code(), Some(2));
    assert_eq!(folder.names(), ["walk.bvh", "x.asf"]);
}

#[test]
fn a_given_format_is_not_forced_on_the_skeleton() {
    let folder = Folder::new("from");
    folder.write("walk.bvh", WALK);
    folder.check("convert walk.bvh walk.amc", 0, "", "");
    assert_eq!(folder.condyle("info --from amc walk.asf walk.amc").status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = Folder::new("pipe");
    let rows: String = (0..20_000).map(|i| format!("{i} 90 0 0 0 0 0 0 0\n")).collect();
    let long = WALK.replace("Frames: 3", "Frames: 20000");
    folder.write("long.bvh", &(long.split("0 90 0").next().unwrap().to_owned() + &rows));
    let script = format!(
        "{} convert long.bvh - --to trc | head -n 1; exit ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_condyle")
    );
    let got = Command::new("bash").current_dir(&folder.0).args(["-c", &script]).output();
    // Without bash there is nothing to see.
    let Ok(got) = got else { return };
    assert_eq!(got.status.code(), Some(0), "{}", String::from_utf8_lossy(&got.stderr));
}

#[test]
fn a_skeleton_that_others_made_is_not_replaced_unasked() {
    let folder = Folder::new("replace");
    folder.write("walk.bvh", WALK);
    folder.write("walk.asf", ":name someone's\n");
    folder.check(
        "convert walk.bvh walk.amc",
        2,
        "",
        "walk.asf: the skeleton of the AMC would replace this other one\n  help: choose another \
         name for the AMC, or replace it with --force\n",
    );
    assert_eq!(folder.names(), ["walk.asf", "walk.bvh"]);
    folder.check("convert --force walk.bvh walk.amc", 0, "", "");
    // Our own may be replaced by another of ours.
    folder.write("walk.bvh", &WALK.replace("-90", "-95"));
    folder.check("convert walk.bvh walk.amc", 0, "", "");
}

#[test]
fn a_broken_skeleton_is_the_only_error_of_its_motions() {
    let folder = Folder::new("broken_skeleton");
    folder.write("a.asf", ":units\n length none\n:root\n");
    folder.write("a.amc", ":FULLY-SPECIFIED\n1\nroot 0\n");
    let got = folder.condyle("info a.asf a.amc");
    let err = String::from_utf8(got.stderr).unwrap();
    assert!(err.starts_with("a.asf:2:"), "{err}");
    assert!(err.contains("a.amc: not read, since its skeleton could not be read"), "{err}");
}

#[test]
fn an_amc_alone_asks_for_its_skeleton() {
    let folder = Folder::new("alone");
    folder.write("walk.bvh", WALK);
    folder.check("convert walk.bvh walk.amc", 0, "", "");
    folder.check(
        "info walk.amc",
        2,
        "",
        "walk.amc: AMC motion needs the skeleton it belongs to\n  help: name its ASF before \
         it: walk.asf walk.amc\n",
    );
}

#[test]
fn standard_output_gets_only_the_file_and_the_format_of_the_input() {
    let folder = Folder::new("stdout");
    folder.write("walk.bvh", WALK);
    folder.write("rig.json", LEG_RIG);
    let text = |args: &str| {
        let got = folder.condyle(args);
        assert_eq!(got.status.code(), Some(0), "{args}");
        String::from_utf8(got.stdout).unwrap()
    };
    folder.check("convert walk.bvh copy.bvh", 0, "", "");
    assert_eq!(text("convert walk.bvh -"), folder.read("copy.bvh"));
    folder.condyle("resample walk.bvh --frames 2 -o two.bvh");
    assert_eq!(text("resample walk.bvh --frames 2 -o -"), folder.read("two.bvh"));
    assert_eq!(folder.condyle("clamp walk.bvh --rig rig.json -o in.bvh").status.code(), Some(0));
    assert_eq!(text("clamp walk.bvh --rig rig.json -o -"), folder.read("in.bvh"));
    folder.check("convert walk.bvh walk.amc", 0, "", "");
    assert_eq!(text("convert walk.asf walk.amc -"), folder.read("walk.amc"));
    assert_eq!(text("convert walk.asf -"), folder.read("walk.asf"));
    let got = folder.condyle("convert walk.bvh - --to trc --end-sites --units m");
    let out = String::from_utf8(got.stdout).unwrap();
    let names = out.lines().nth(3).unwrap();
    assert_eq!(names, "Frame#\tTime\tHips\t\t\tLeg\t\t\tLeg_end\t\t");
    let row = out.lines().find(|l| l.starts_with("1\t")).unwrap();
    // Full precision: metres of centimetres, to the last bit.
    assert!(row.starts_with("1\t0\t0\t0.9\t0\t0\t0\t0\t0\t-0.8\t0.05"), "{row}");
}

#[test]
fn two_motions_do_not_fit_into_one_output() {
    let folder = Folder::new("two");
    folder.write("a.bvh", WALK);
    folder.write("b.bvh", WALK);
    folder.check(
        "convert a.bvh b.bvh out.bvh",
        2,
        "",
        "condyle: a.bvh and b.bvh are two inputs, but there is one output\n  help: write \
         them into a folder: FOLDER/\n",
    );
    assert_eq!(folder.names(), ["a.bvh", "b.bvh"]);
}

#[test]
fn a_failed_write_leaves_nothing_behind() {
    let folder = Folder::new("failed");
    folder.write("walk.bvh", WALK);
    assert_eq!(folder.condyle("convert walk.bvh no/such/folder/out.amc").status.code(), Some(2));
    assert_eq!(folder.condyle("convert walk.bvh out.xyz").status.code(), Some(2));
    assert_eq!(folder.names(), ["walk.bvh"]);
}

#[test]
fn resampling_keeps_the_numbers_of_the_frames_it_takes_over() {
    let folder = Folder::new("resample");
    folder.write("walk.bvh", WALK);
    assert_eq!(folder.condyle("resample walk.bvh --fps 240 -o twice.bvh").status.code(), Some(0));
    let twice = folder.read("twice.bvh");
    let rows: Vec<&str> = twice.lines().skip_while(|l| !l.starts_with("Frame Time")).collect();
    assert_eq!(rows.len(), 1 + 5, "{twice}");
    assert_eq!(rows[3], "1 90 0 0 0 10 0 20 0");
    assert_eq!(rows[5], "2 90 0 0 0 370 0 40 0");
    assert!(rows[2].starts_with("0.5 90 0 0 0 "), "{}", rows[2]);
    let got = folder.condyle("resample walk.bvh --frames 50 -o fifty.bvh");
    let note = String::from_utf8(got.stderr).unwrap();
    assert!(note.contains("\"Hips\" and one more joint have fewer than 4 keys"), "{note}");
    assert!(folder.read("fifty.bvh").contains("Frames: 50"));
    let got = folder.condyle("resample walk.bvh --fps 1e30 -o huge.bvh");
    assert_eq!(got.status.code(), Some(2));
    assert_eq!(folder.condyle("resample walk.bvh -o none.bvh").status.code(), Some(2));
}

const RIG: &str = r#"{
  "condyle": 1,
  "skeleton": { "joints": [
    { "name": "Hips", "offset_m": [0, 1, 0] },
    { "name": "LeftArm", "parent": "Hips", "offset_m": [0.2, 0.5, 0] },
    { "name": "LeftForeArm", "parent": "LeftArm", "offset_m": [0.3, 0, 0] },
    { "name": "LeftHand", "parent": "LeftForeArm", "offset_m": [0.3, 0, 0] }
  ] },
  "joints": {
    "Hips": { "kind": "free" },
    "LeftArm": { "kind": "ball", "bone_axis": [1, 0, 0], "x_axis": [0, 1, 0],
      "limit": { "shape": "swing_twist",
        "swing": { "shape": "ellipse", "rx_deg": 60, "ry_deg": 60 },
        "twist": { "shape": "arc", "min_deg": -40, "max_deg": 70 } },
      "source": "estimated", "confidence": 0.9 },
    "LeftForeArm": { "kind": "hinge", "axis": [0, 0, 1],
      "limit": { "shape": "arc", "min_deg": 4.5, "max_deg": 141 }, "why": "one axis" }
  }
}
"#;

#[test]
fn limits_show_lists_all_joints_and_one_in_detail() {
    let folder = Folder::new("limits_show");
    folder.write("rig.json", RIG);
    let got = folder.condyle("limits show rig.json");
    assert_eq!(got.status.code(), Some(0));
    let out = String::from_utf8(got.stdout).unwrap();
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
    let line = |name: &str| {
        let found = out.lines().find(|l| l.split_whitespace().next() == Some(name));
        found.unwrap_or_else(|| panic!("no {name}: {out}")).split_whitespace().collect::<Vec<_>>()
    };
    assert_eq!(
        line("LeftArm").join(" "),
        "LeftArm ball ellipse x -60..60, y -60..60 -40..70 25 % 60 inside"
    );
    assert_eq!(line("LeftForeArm").join(" "), "LeftForeArm hinge arc 4.5..141 off 4.5");
    // A joint without an entry can do anything.
    assert_eq!(line("LeftHand")[1..], ["free", "free", "inside"]);

    let got = folder.condyle("limits show rig.json LeftArm");
    let out = String::from_utf8(got.stdout).unwrap();
    for text in [
        "LeftArm: ball, estimated, confidence 0.90\n",
        "  swing     about x -60 to 60°, about y -60 to 60°\n",
        "  area      3.142 sr, 25 % of the sphere, like a cone of 60° about the bone\n",
        "  twist     -40 to 70°, 110° wide everywhere\n",
        "  rest      inside\n",
        "####@###",
        "rim at 90°",
    ] {
        assert!(out.contains(text), "{text:?}\n{out}");
    }
    // On a pipe the picture is ASCII.
    let picture: Vec<&str> = out.lines().filter(|l| l.contains("..") || l.contains("##")).collect();
    assert_eq!(picture.len(), 24);
    assert!(picture.iter().all(|l| l.is_ascii() && l.len() <= 60), "{out}");
    let got = folder.condyle("limits show rig.json LeftForeArm");
    let out = String::from_utf8(got.stdout).unwrap();
    assert!(out.contains("why       one axis") && out.contains("angle     4.5 to 141°"), "{out}");
    assert!(out.contains("rest      outside by 4.5°"), "{out}");
}

#[test]
fn ends_are_told_in_the_turn_of_their_range() {
    let folder = Folder::new("limits_turns");
    let ends = r#""source": "estimated", "ends": [
      { "of": "twist_min", "at_deg": -195.8, "reached_deg": -190, "visits": 9, "interval_deg": [-202.7, -195.9] },
      { "of": "twist_max", "at_deg": -156.4, "reached_deg": -156.4, "visits": 5, "open": "few_near" } ]"#;
    let twist = r#""shape": "by_swing", "at": [
      { "dir": [0.8, 0.6, 0], "min_deg": 164.2, "max_deg": 203.6 },
      { "dir": [0.8, -0.6, 0], "min_deg": 164.2, "max_deg": 203.6 },
      { "dir": [0.8, 0, 0.6], "min_deg": 164.2, "max_deg": 203.6 } ] }"#;
    let rig = RIG.replace(r#""source": "estimated""#, ends);
    let rig = rig.replace(r#""shape": "arc", "min_deg": -40, "max_deg": 70 }"#, twist);
    folder.write("rig.json", &rig);
    let got = folder.condyle("limits show rig.json LeftArm");
    let out = String::from_utf8(got.stdout).unwrap();
    for text in [
        "  twist     164.2 to 203.6°",
        "twist min 164.2°, the motion came to 170°, seen 9 times: 90 % within 157.3° to 164.1°",
        "twist max 203.6°, seen 5 times: may be farther",
    ] {
        assert!(out.contains(text), "{text:?}\n{out}");
    }
    let got = folder.condyle("limits show rig.json --json");
    let value: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    let arm = &value["joints"]["LeftArm"];
    let near = |value: &serde_json::Value, expected: f64| {
        let got = value.as_f64().unwrap();
        assert!((got - expected).abs() < 1e-9, "{got} {expected}");
    };
    near(&arm["twist"]["min_deg"], 164.2);
    near(&arm["ends"][0]["at_deg"], 164.2);
    near(&arm["ends"][0]["interval_deg"][0], 157.3);
    near(&arm["ends"][1]["at_deg"], 203.6);
}

#[test]
fn limits_show_tells_of_entries_that_were_edited_since() {
    let folder = Folder::new("limits_edited");
    folder.condyle("demo -o demo");
    assert_eq!(folder.condyle("estimate demo/figure.bvh -o rig.json").status.code(), Some(0));
    let table =
        |folder: &Folder| String::from_utf8(folder.condyle("limits show rig.json").stdout).unwrap();
    assert!(!table(&folder).contains("edited"), "{}", table(&folder));
    let mut rig: serde_json::Value = serde_json::from_str(&folder.read("rig.json")).unwrap();
    rig["joints"]["LeftForeArm"]["limit"]["max_deg"] = 150.into();
    rig["joints"]["RightForeArm"]["source"] = "edited".into();
    folder.write("rig.json", &rig.to_string());
    let out = table(&folder);
    assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    let kind = |name: &str| {
        let mut words = out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        words.find(|words| words.first() == Some(&name)).unwrap()[1].to_owned()
    };
    assert_eq!(["LeftForeArm", "RightForeArm"].map(kind), ["hinge*", "hinge*"], "{out}");
    assert_eq!(kind("LeftLeg"), "hinge");
    assert!(out.contains("* edited: RightForeArm\n"), "{out}");
    assert!(out.contains("* edited since they were estimated: LeftForeArm\n"), "{out}");
    let got = folder.condyle("limits show rig.json LeftForeArm");
    let text = String::from_utf8(got.stdout).unwrap();
    assert!(text.contains("LeftForeArm: hinge, estimated, edited since\n"), "{text}");
    let got = folder.condyle("limits show rig.json --json");
    let value: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    for (name, source, since) in [
        ("LeftForeArm", "estimated", true),
        ("RightForeArm", "edited", false),
        ("LeftLeg", "estimated", false),
    ] {
        let joint = &value["joints"][name];
        assert_eq!((&joint["source"], &joint["edited_since"]), (&source.into(), &since.into()));
    }
}

#[test]
fn files_of_markers_are_told_as_such_where_a_skeleton_is_needed() {
    let folder = Folder::new("markers_told");
    folder.write("walk.bvh", WALK);
    folder.write("rig.json", RIG);
    assert_eq!(folder.condyle("convert walk.bvh paths.trc").status.code(), Some(0));
    for args in [
        "estimate paths.trc -o new.json",
        "stats paths.trc -o new.cst",
        "check paths.trc --rig rig.json",
        "clamp paths.trc --rig rig.json -o out.bvh",
        "couple paths.trc --rig rig.json",
        "evaluate paths.trc --rig rig.json",
        "ik paths.trc --no-limits --goals paths.trc -o out.bvh",
        "fit paths.trc --rig body -o out.csv",
        "resample paths.trc --fps 30 -o out.trc",
        "mirror paths.trc -o out.bvh",
    ] {
        let got = folder.condyle(args);
        let told = complaints(&got);
        assert_eq!(got.status.code(), Some(2), "{args}: {told}");
        let says = "paths.trc: it has the paths of markers, and no skeleton";
        assert!(told.contains(says) && told.contains("give a BVH"), "{args}: {told}");
    }
}

#[test]
fn limits_show_as_json_has_the_figures() {
    let folder = Folder::new("limits_json");
    folder.write("rig.json", RIG);
    let got = folder.condyle("limits show rig.json --json");
    assert_eq!(got.status.code(), Some(0));
    let value: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    assert_eq!(value["path"], "rig.json");
    assert_eq!(value["joints"].as_object().unwrap().len(), 4);
    let arm = &value["joints"]["LeftArm"];
    assert_eq!((&arm["kind"], &arm["shape"]), (&"ball".into(), &"swing_twist".into()));
    assert_eq!(arm["rest_inside"], true);
    let near = |value: &serde_json::Value, expected: f64| {
        let got = value.as_f64().unwrap();
        assert!((got - expected).abs() < 0.01, "{got} {expected}");
    };
    near(&arm["swing"]["area_sr"], std::f64::consts::PI);
    near(&arm["swing"]["share"], 0.25);
    near(&arm["swing"]["cone_deg"], 60.0);
    near(&arm["swing"]["x_deg"][0], -60.0);
    near(&arm["swing"]["y_deg"][1], 60.0);
    near(&arm["swing"]["farthest_deg"], 60.0);
    near(&arm["twist"]["min_deg"], -40.0);
    near(&arm["twist"]["max_deg"], 70.0);
    near(&arm["twist"]["widest_deg"], 110.0);
    let elbow = &value["joints"]["LeftForeArm"];
    assert_eq!(elbow["rest_inside"], false);
    near(&elbow["rest_excess_deg"], 4.5);
    near(&elbow["arcs"][0]["max_deg"], 141.0);
    let one = folder.condyle("limits show rig.json LeftArm --json").stdout;
    let one: serde_json::Value = serde_json::from_slice(&one).unwrap();
    assert_eq!(one["joints"]["LeftArm"], *arm);
    assert_eq!(one["joints"].as_object().unwrap().len(), 1);
}

#[test]
fn limits_show_writes_pictures() {
    let folder = Folder::new("limits_svg");
    folder.write("rig.json", RIG);
    folder.check("limits show rig.json LeftArm -o arm.svg", 0, "", "");
    folder.check("limits show rig.json -o sheet.svg", 0, "", "");
    assert_eq!(folder.names(), ["arm.svg", "rig.json", "sheet.svg"]);
    assert!(folder.read("arm.svg").contains("<title id=\"cl-LeftArm-title\">LeftArm</title>"));
    assert_eq!(folder.read("sheet.svg").matches("<g role=\"img\"").count(), 3);
    let got = folder.condyle("limits show rig.json LeftArm -o -");
    assert_eq!(String::from_utf8(got.stdout).unwrap(), folder.read("arm.svg"));
    let got = folder.condyle("limits show rig.json LeftArm -o arm.svg --json");
    assert!(serde_json::from_slice::<serde_json::Value>(&got.stdout).is_ok());
    for args in ["-o arm.png", "-o no/such/folder/arm.svg", "-o - --json"] {
        let got = folder.condyle(&format!("limits show rig.json {args}"));
        assert_eq!(got.status.code(), Some(2), "{args}");
    }
    assert_eq!(folder.names(), ["arm.svg", "rig.json", "sheet.svg"]);
}

#[test]
fn limits_show_says_what_is_wrong_with_joint_and_rig() {
    let folder = Folder::new("limits_errors");
    folder.write("rig.json", RIG);
    folder.check(
        "limits show rig.json leftarn",
        2,
        "",
        "condyle: the rig has no joint \"leftarn\"\n  help: near are \"LeftArm\", \
         \"LeftHand\"\n",
    );
    let got = folder.condyle("limits show gone.json");
    assert_eq!(got.status.code(), Some(2));
    assert!(String::from_utf8(got.stderr).unwrap().starts_with("gone.json: cannot be read: "));
    folder.write("bad.json", &RIG.replace("hinge", "hing"));
    let got = folder.condyle("limits show bad.json");
    assert_eq!(got.status.code(), Some(2));
    let err = String::from_utf8(got.stderr).unwrap();
    assert!(err.starts_with("bad.json:16:30: joints.LeftForeArm.kind: "), "{err}");
    // What only shows when it is prepared is told with its place, too.
    let flat = RIG.replace(
        "\"shape\": \"ellipse\", \"rx_deg\": 60, \"ry_deg\": 60",
        "\"shape\": \"polygon\", \"polygons\": [[[1, 0, 0], [-1, 0, 0], [0, 1, 0]]]",
    );
    folder.write("flat.json", &flat);
    let got = folder.condyle("limits show flat.json");
    assert_eq!(got.status.code(), Some(2));
    let err = String::from_utf8(got.stderr).unwrap();
    assert!(err.starts_with("flat.json:13:"), "{err}");
    assert!(err.contains("joints.LeftArm.limit.swing.polygons[0]: "), "{err}");
    // Repairs are warnings, and errors under --strict.
    folder.write("long.json", &RIG.replace("\"axis\": [0, 0, 1]", "\"axis\": [0, 0, 2]"));
    let got = folder.condyle("limits show long.json");
    assert_eq!(got.status.code(), Some(0));
    assert!(String::from_utf8(got.stderr).unwrap().starts_with("warning: long.json:16:"));
    assert_eq!(folder.condyle("limits show long.json --strict").status.code(), Some(2));
}

/// All lines of standard error.
fn complaints(got: &Output) -> String {
    String::from_utf8(got.stderr.clone()).unwrap()
}

#[test]
fn presets_are_found_by_name_in_any_case_and_listed_in_help_and_errors() {
    let folder = Folder::new("presets");
    fs::create_dir(folder.0.join("hip")).unwrap();
    let shown = folder.condyle("limits show hip");
    assert_eq!(shown.status.code(), Some(0), "{}", complaints(&shown));
    assert_eq!(folder.condyle("limits show Hip").stdout, shown.stdout);
    // A file of that name is a file.
    folder.write("knee", &RIG.replace("LeftArm", "Mine"));
    let out = String::from_utf8(folder.condyle("limits show knee").stdout).unwrap();
    assert!(out.contains("Mine"), "{out}");
    let all = "shoulder, shoulder-twist, shoulder-ellipse, elbow, forearm, wrist, hip, knee, ankle, \
               neck, thoracic, lumbar, thoracolumbar";
    let err = complaints(&folder.condyle("limits show hpi"));
    assert!(err.ends_with(&format!("or a preset: {all}\n")) && !err.contains("docs/"), "{err}");
    for args in ["limits --help", "limits show --help", "limits preset --help", "man limits show"] {
        let out = String::from_utf8(folder.condyle(args).stdout).unwrap();
        for name in all.split(", ") {
            assert!(out.replace("\\-", "-").contains(name), "{args}: {name}\n{out}");
        }
    }
    let err = complaints(&folder.condyle("limits preset hpi"));
    assert!(err.contains("thoracolumbar") && err.contains("hip"), "{err}");
    assert_eq!(folder.condyle("limits preset hpi").status.code(), Some(2));
}

#[test]
fn a_preset_is_printed_as_a_rig_for_either_side() {
    let folder = Folder::new("preset_rig");
    let json = |args: &str| -> serde_json::Value {
        let got = folder.condyle(args);
        assert_eq!(got.status.code(), Some(0), "{args}: {}", complaints(&got));
        serde_json::from_slice(&got.stdout).unwrap()
    };
    let right = json("limits preset HIP");
    let entry = &right["joints"]["hip"];
    assert_eq!((&right["condyle"], &entry["kind"]), (&1.into(), &"ball".into()));
    assert_eq!(
        (&entry["source"], &entry["why"]),
        (&"preset".into(), &"preset hip, right side".into())
    );
    let notes = entry["notes"].as_array().unwrap();
    assert!(notes.iter().any(|n| n.as_str().unwrap().starts_with("flexion 125 deg, seen: ")));
    folder.check("limits preset hip --left --as LeftLeg -o left.json", 0, "", "");
    let left: serde_json::Value = serde_json::from_str(&folder.read("left.json")).unwrap();
    assert_eq!(json("limits preset hip --left --as LeftLeg -o -"), left);
    let left = &left["joints"]["LeftLeg"];
    assert_eq!(left["why"], "preset hip, left side");
    // The same region on the other side of the plane x, y: z and the order are turned round.
    let corners = |entry: &serde_json::Value| -> Vec<Vec<f64>> {
        let list = entry["limit"]["swing"]["polygons"][0].as_array().unwrap().clone();
        let corner = |c: serde_json::Value| serde_json::from_value(c).unwrap();
        list.into_iter().map(corner).collect()
    };
    let mirrored: Vec<Vec<f64>> =
        corners(entry).iter().rev().map(|c| vec![c[0], c[1], -c[2]]).collect();
    for (ours, due) in corners(left).iter().flatten().zip(mirrored.iter().flatten()) {
        assert!((ours - due).abs() < 1e-15, "{ours} {due}");
    }
    let twist =
        |entry: &serde_json::Value, end: &str| entry["limit"]["twist"][end].as_f64().unwrap();
    assert_eq!(twist(left, "min_deg"), -twist(entry, "max_deg"));
    // It is a rig to use at once.
    folder.write("walk.bvh", &WALK.replace("Leg", "LeftLeg"));
    let got = folder.condyle("check walk.bvh --rig left.json");
    assert_eq!(got.status.code(), Some(0), "{}", complaints(&got));
    folder.check(
        "limits preset neck --left",
        2,
        "",
        "condyle: neck is not one of a pair\n  help: leave --left out\n",
    );
    let shown = String::from_utf8(folder.condyle("limits show left.json LeftLeg").stdout).unwrap();
    assert!(shown.contains("  note      Bone: femur, along -y."), "{shown}");
    // Every preset can be printed, and what is printed is read without a word.
    let names = "shoulder shoulder-twist shoulder-ellipse elbow forearm wrist hip knee ankle neck \
                 thoracic lumbar thoracolumbar";
    for name in names.split_whitespace() {
        for left in ["", " --left"] {
            let got = folder.condyle(&format!("limits preset {name}{left} -o it.json"));
            if got.status.code() == Some(2) {
                assert!(complaints(&got).contains("not one of a pair"), "{name}");
                continue;
            }
            let got = folder.condyle("limits show it.json");
            assert_eq!((got.status.code(), complaints(&got)), (Some(0), String::new()), "{name}");
        }
    }
}

#[test]
fn a_polygon_walked_the_wrong_way_and_wrong_lengths_are_told_in_a_line_each() {
    let folder = Folder::new("reversed");
    folder.write("walk.bvh", WALK);
    let rig = LEG_RIG.replace(
        "\"hinge\", \"axis\": [1, 0, 0],\n             \"limit\": { \"shape\": \"arc\", \
         \"min_deg\": 0, \"max_deg\": 30 }",
        "\"ball\", \"bone_axis\": [0, 0, 1], \"limit\": { \"shape\": \"swing_twist\",\n\
         \"twist\": { \"shape\": \"free\" }, \"swing\": { \"shape\": \"polygon\", \"polygons\":\n\
         [[[0, -0.6, 1], [-0.6, 0, 1], [0, 0.6, 1], [0.6, 0, 1]]] } }",
    );
    folder.write("rig.json", &rig);
    for args in ["check walk.bvh --rig", "clamp walk.bvh -o x.bvh --rig", "limits show"] {
        let got = folder.condyle(&format!("{args} rig.json"));
        let err = complaints(&got);
        let lines: Vec<&str> = err.lines().filter(|l| l.starts_with("warning: ")).collect();
        assert_eq!(
            lines,
            [
                "warning: rig.json:9:3: joints.Leg.limit.swing.polygons[0][0]: the length is \
                 1.1661903789690602, not 1: only the direction is used; and 3 more like this",
                "warning: rig.json:9:2: joints.Leg.limit.swing.polygons[0]: the bone is outside of \
                 the polygon, which has 95 % of the sphere inside: was it meant the other way \
                 around?",
            ],
            "{args}: {err}"
        );
    }
    // One alone has no others; nesting beyond all sense is told in two lines.
    folder.write("long.json", &LEG_RIG.replace("\"axis\": [1", "\"axis\": [2"));
    let err = complaints(&folder.condyle("check walk.bvh --rig long.json"));
    assert!(err.contains("only the direction is used\n"), "{err}");
    folder.write("deep.json", &"[".repeat(1_000_000));
    let err = complaints(&folder.condyle("check walk.bvh --rig deep.json"));
    assert!(err.len() < 300 && !err.contains("`all`"), "{err}");
}

#[test]
fn demo_needs_nothing_and_writes_what_it_says() {
    let folder = Folder::new("demo");
    let got = folder.condyle("demo -o here");
    assert_eq!(got.status.code(), Some(0));
    let out = String::from_utf8(got.stdout).unwrap();
    assert!(out.contains("LeftForeArm") && out.contains("hinge"), "{out}");
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
    let mut made: Vec<_> = fs::read_dir(folder.0.join("here"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    made.sort();
    assert_eq!(
        made,
        [
            "figure.amc",
            "figure.asf",
            "figure.bvh",
            "figure.trc",
            "report.html",
            "rig.json",
            "run.bvh",
            "walk.bvh"
        ]
    );
    // Estimate beside truth: what is one line in the table agrees in kind.
    let row = |name: &str| out.lines().find(|l| l.trim_start().starts_with(name)).unwrap();
    let elbow: Vec<&str> = row("LeftForeArm").split_whitespace().collect();
    assert_eq!(&elbow[..3], ["LeftForeArm", "hinge", "hinge"]);
    assert!(out.contains("Kinds: 25 of 25 right."), "{out}");
    // Every motion that it writes is inside of the limits that it writes.
    for motion in ["figure.bvh", "figure.asf here/figure.amc", "walk.bvh", "run.bvh"] {
        let got = folder.condyle(&format!("check here/{motion} --rig here/rig.json"));
        assert_eq!(
            got.status.code(),
            Some(0),
            "{motion}: {}",
            String::from_utf8_lossy(&got.stdout)
        );
    }

    let got = folder.condyle("demo --json -o here");
    let value: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    assert_eq!(value["kinds_right"], 25);
    let joints = value["joints"].as_array().unwrap();
    assert!(joints.iter().all(|j| j["kind"] == j["estimate"]["kind"]), "{value:#}");
    assert!(value["arc_ends_off_deg"]["most"].as_f64().unwrap() < 1.0, "{value:#}");
}

#[test]
fn completions_and_manual_come_from_the_same_table() {
    let folder = Folder::new("completions");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let got = folder.condyle(&format!("completions {shell}"));
        let out = String::from_utf8(got.stdout).unwrap();
        assert!(out.contains("resample") && out.contains("source-units"), "{shell}");
    }
    for (args, words) in [
        ("man", &["condyle\\-info", "condyle\\-resample", "EXIT CODES"][..]),
        ("man limits", &["condyle\\-limits\\-show", "condyle\\-limits\\-preset"][..]),
        ("man limits show", &["condyle\\-limits\\-show", ".SH EXAMPLES", ".SH PRESETS"][..]),
        ("man limits-preset", &["condyle\\-limits\\-preset", "\\-\\-left", "thoracic"][..]),
        ("man estimate", &["\\-\\-outliers", "\\-\\-coverage", "RIG.json", ".SH EXAMPLES"][..]),
        ("man resample", &["\\-\\-lenient", "\\-\\-frames", ".SH EXAMPLES"][..]),
    ] {
        let out = String::from_utf8(folder.condyle(args).stdout).unwrap();
        assert_eq!(out.matches(".TH ").count(), 1, "one page");
        for word in words {
            assert!(out.contains(word), "{args}: {word}\n{out}");
        }
    }
    for args in ["man frobnicate", "man limits frobnicate", "man info show"] {
        assert_eq!(folder.condyle(args).status.code(), Some(2), "{args}");
    }
    let out = String::from_utf8(folder.condyle("completions bash").stdout).unwrap();
    assert!(out.contains("thoracolumbar") && out.contains("--left"), "names of presets");
}

#[test]
fn bad_usage_exits_with_2() {
    let folder = Folder::new("usage");
    for args in
        ["", "frobnicate", "info", "info --units", "convert a.bvh", "info --strict --lenient a"]
    {
        assert_eq!(folder.condyle(args).status.code(), Some(2), "{args:?}");
    }
    assert_eq!(folder.condyle("--help").status.code(), Some(0));
    assert_eq!(folder.condyle("--version").status.code(), Some(0));
}

/// A hinge for the leg of `WALK`, and an entry that it has no joint for.
const LEG_RIG: &str = r#"{
  "condyle": 1,
  "skeleton": { "joints": [ { "name": "Leg", "offset_m": [0, -0.9, 0] },
                            { "name": "Tail", "offset_m": [0, 0, 0] } ] },
  "joints": {
    "Tail": { "kind": "ball" },
    "Leg": { "kind": "hinge", "axis": [1, 0, 0],
             "limit": { "shape": "arc", "min_deg": 0, "max_deg": 30 } }
  }
}
"#;

#[test]
fn check_says_which_joints_leave_their_limits() {
    let folder = Folder::new("check");
    folder.write("walk.bvh", WALK);
    folder.write("rig.json", LEG_RIG);
    let notes = "note: walk.bvh: the clip lacks \"Tail\" of the rig\n\
                 note: walk.bvh: the rig has no entry for \"Hips\": no limit there\n";
    let table = "\
walk.bvh: 3 frames, 1 of 1 joints leaves its limit
 joint   outside   worst    at frame   within noise   noise   tolerance 
------------------------------------------------------------------------
 Leg           1   10.00°          2              0                     
outside: by more than max(0.01°, 3 × noise, tolerance); what is outside by less is within noise
";
    folder.check("check walk.bvh --rig rig.json", 1, table, notes);
    folder.check("check walk.bvh --rig rig.json --threads 3", 1, table, notes);
    // Three times the noise is allowed.
    folder.write("noisy.json", &LEG_RIG.replace("\"axis\"", "\"noise_deg\": 3.5, \"axis\""));
    let table = "\
walk.bvh: 3 frames, 0 of 1 joints leave their limits
all are inside, 1 of them here and there by no more than the noise outside
";
    let doubt = "warning: noisy.json:7:44: joints.Leg.noise_deg: \"Leg\" may be up to 10.5° outside of its \
                 limit, and check calls that inside: it allows max(0.01°, 3 × noise_deg, \
                 tolerance_deg)\n";
    folder.check("check walk.bvh --rig noisy.json", 0, table, &format!("{doubt}{notes}"));
    let got = folder.condyle("check walk.bvh --rig noisy.json --json");
    let value: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    assert_eq!(value["warnings"], serde_json::json!([doubt[9..].trim_end()]));
    for (noise, tolerance) in [("1e308", "1"), ("181", "1"), ("1", "400")] {
        let fields = format!("\"noise_deg\": {noise}, \"tolerance_deg\": {tolerance}, \"axis\"");
        folder.write("absurd.json", &LEG_RIG.replace("\"axis\"", &fields));
        let err = complaints(&folder.condyle("check walk.bvh --rig absurd.json"));
        assert!(err.contains("expected an angle from 0 to 180 degrees, found "), "{err}");
        assert!(err.starts_with("absurd.json:7:"), "{err}");
    }
    // Entries alone will do: the skeleton is the clip's.
    let (_, joints) = LEG_RIG.split_once("\"joints\": {").unwrap();
    let entries =
        format!("{{\"condyle\": 1, \"skeleton\": {{\"joints\": []}}, \"joints\": {{{joints}");
    folder.write("entries.json", &entries);
    assert_eq!(folder.condyle("check walk.bvh --rig entries.json").stderr, notes.as_bytes());
    folder.write("wide.json", &LEG_RIG.replace("30", "40"));
    let inside = "walk.bvh: 3 frames, 0 of 1 joints leave their limits\nall are inside\n";
    folder.check("check walk.bvh --rig wide.json", 0, inside, notes);
}

#[test]
fn check_as_json_has_the_fields_of_the_contract() {
    let folder = Folder::new("check_json");
    folder.write("walk.bvh", WALK);
    folder.write("fast.bvh", &WALK.replace("0 40 0", "0 50 0"));
    folder.write("slow.bvh", &WALK.replace("0 40 0", "0 25 0"));
    folder.write("rig.json", LEG_RIG);
    let json = |args: &str, code| -> serde_json::Value {
        let got = folder.condyle(args);
        assert_eq!(got.status.code(), Some(code), "{args}");
        serde_json::from_slice(&got.stdout).unwrap()
    };
    let one = json("check --json walk.bvh --rig rig.json", 1);
    assert_eq!((&one["ok"], &one["frames"]), (&false.into(), &3.into()));
    let leg = &one["joints"]["Leg"];
    assert_eq!((&leg["outside"], &leg["worst_frame"]), (&1.into(), &2.into()));
    assert!((leg["worst_deg"].as_f64().unwrap() - 10.0).abs() < 1e-9);
    assert_eq!(one["files"][0]["not_in_clip"][0], "Tail");
    assert_eq!(one["files"][0]["not_in_rig"][0], "Hips");
    let all = json("check --json walk.bvh fast.bvh slow.bvh --rig rig.json", 1);
    assert_eq!((&all["ok"], &all["frames"]), (&false.into(), &9.into()));
    assert_eq!(all["joints"]["Leg"]["outside"], 2);
    assert!((all["joints"]["Leg"]["worst_deg"].as_f64().unwrap() - 20.0).abs() < 1e-9);
    assert_eq!(all["joints"]["Leg"]["worst_path"], "fast.bvh");
    assert_eq!(all["files"][2]["ok"], true);
    assert!((all["files"][2]["joints"]["Leg"]["worst_deg"].as_f64().unwrap() + 0.0).abs() < 1e-9);
    assert_eq!(json("check --json slow.bvh --rig rig.json", 0)["ok"], true);
    // What has no limit is nowhere near it, also if another file is asked after it.
    folder.write(
        "free.json",
        &LEG_RIG.replace("\"joints\": {", "\"joints\": { \"Hips\": { \"kind\": \"free\" },"),
    );
    let free = json("check --json slow.bvh walk.bvh --rig free.json", 1);
    for hips in [&free["joints"]["Hips"], &free["files"][0]["joints"]["Hips"]] {
        assert_eq!(hips["outside"], 0, "{hips}");
        for worst in ["worst_deg", "worst_frame", "worst_path"] {
            assert!(hips[worst].is_null(), "{hips}");
        }
    }
    assert!((free["joints"]["Leg"]["worst_deg"].as_f64().unwrap() - 10.0).abs() < 1e-9);
    // A file that cannot be read does not hide the others, and is not all right.
    let some = json("check --json slow.bvh gone.bvh --rig rig.json", 2);
    assert_eq!((&some["ok"], &some["errors"][0]["path"]), (&false.into(), &"gone.bvh".into()));
    assert_eq!(some["files"][0]["ok"], true);
    // Nor does one that does not fit the rig, or has no motion.
    folder.write("other.bvh", &WALK.replace("Leg", "Wing"));
    let told =
        "note: an ASF holds the skeleton only; an AMC has the motion, with its ASF beside it\n";
    folder.check("convert walk.bvh walk.asf", 0, "", told);
    let some = json("check --json other.bvh slow.bvh walk.asf --rig rig.json", 2);
    assert_eq!((&some["ok"], &some["frames"]), (&false.into(), &3.into()));
    assert_eq!(some["files"][0]["path"], "slow.bvh");
    let errors = some["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert_eq!((&errors[0]["path"], &errors[1]["path"]), (&"other.bvh".into(), &"walk.asf".into()));
    let message = |i: usize| errors[i]["message"].as_str().unwrap();
    assert_eq!(message(0), "no joint of other.bvh has an entry in rig.json");
    assert!(message(1).contains("there is no motion to check"), "{}", message(1));
    assert!(errors[0]["help"].as_str().unwrap().starts_with("joints are matched by name"));
    // A limit that makes no sense is told once, with its place.
    let flat = LEG_RIG.replace(
        "\"hinge\", \"axis\": [1, 0, 0],\n             \"limit\": { \"shape\": \"arc\", \
         \"min_deg\": 0, \"max_deg\": 30 }",
        "\"universal\", \"axes\": [[1, 0, 0], [1, 0, 0]]",
    );
    folder.write("flat.json", &flat);
    let none = json("check --json walk.bvh slow.bvh --rig flat.json", 2);
    let errors = none["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!((&errors[0]["path"], &errors[0]["line"]), (&"flat.json".into(), &7.into()));
    assert!(errors[0]["message"].as_str().unwrap().starts_with("joints.Leg.axes: "));
    let err = complaints(&folder.condyle("check walk.bvh slow.bvh --rig flat.json"));
    assert_eq!(err.matches("help: ").count(), 1, "{err}");
}

#[test]
fn zero_has_no_sign() {
    let folder = Folder::new("zero");
    // Every frame is on the boundary.
    folder.write("walk.bvh", &WALK.replace("0 20 0", "0 0 0").replace("0 40 0", "0 0 0"));
    folder.write("rig.json", &LEG_RIG.replace("\"max_deg\": 30", "\"max_deg\": 0"));
    for args in ["check walk.bvh", "clamp walk.bvh -o x.bvh"] {
        for json in ["", "--json"] {
            let got = folder.condyle(&format!("{args} --rig rig.json {json}"));
            let out = String::from_utf8(got.stdout).unwrap();
            assert!(!out.contains("-0.0"), "{args} {json}: {out}");
        }
    }
}

#[test]
fn clamp_brings_the_motion_inside_and_keeps_the_other_numbers() {
    let folder = Folder::new("clamp");
    folder.write("walk.bvh", WALK);
    folder.write("rig.json", LEG_RIG);
    let notes = "note: walk.bvh: the clip lacks \"Tail\" of the rig\n\
                 note: walk.bvh: the rig has no entry for \"Hips\": no limit there\n";
    let table = "\
walk.bvh: 3 frames, 1 of 1 joints changed
 joint   changed   by up to   at frame 
---------------------------------------
 Leg           1     10.00°          2 
";
    folder.check("clamp walk.bvh --rig rig.json -o inside.bvh", 0, table, notes);
    let inside = folder.read("inside.bvh");
    let rows: Vec<&str> = inside.lines().skip_while(|l| !l.starts_with("Frame T")).collect();
    assert_eq!(rows[1..3], ["0 90 0 0 0 0 0 0 0", "1 90 0 0 0 10 0 20 0"]);
    let angle: f64 = rows[3]
        .strip_prefix("2 90 0 0 0 370 ")
        .unwrap()
        .split(' ')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    assert!((angle - 30.0).abs() < 1e-12, "{}", rows[3]);
    assert_eq!(folder.condyle("check inside.bvh --rig rig.json").status.code(), Some(0));
    // What is inside comes back to the letter, smooth or not.
    for flags in ["", "--smooth"] {
        let args = format!("clamp inside.bvh --rig rig.json -o again.bvh {flags}");
        assert_eq!(folder.condyle(&args).status.code(), Some(0));
        assert_eq!(folder.read("again.bvh"), inside);
    }
    let got = folder.condyle("clamp walk.bvh --rig rig.json -o x.bvh --smooth --json");
    let value: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    assert_eq!((&value["changed"], &value["frames"]), (&true.into(), &3.into()));
    assert_eq!(value["joints"]["Leg"]["pops_left"], 0);
    assert!(got.stderr.is_empty());
}

#[test]
fn clamp_takes_and_writes_every_format() {
    let folder = Folder::new("clamp_formats");
    folder.write("walk.bvh", WALK);
    folder.write("rig.json", LEG_RIG);
    folder.check("convert walk.bvh walk.amc", 0, "", "");
    let got = folder.condyle("clamp walk.asf walk.amc --rig rig.json -o inside.amc");
    assert_eq!(got.status.code(), Some(0), "{}", String::from_utf8_lossy(&got.stderr));
    assert!(String::from_utf8(got.stdout).unwrap().starts_with("walk.amc: 3 frames"));
    let got = folder.condyle("check inside.asf inside.amc --rig rig.json");
    assert_eq!(got.status.code(), Some(0));
    let lines = |name: &str| -> Vec<String> {
        folder.read(name).lines().filter(|l| l.starts_with("Leg ")).map(str::to_owned).collect()
    };
    let (before, after) = (lines("walk.amc"), lines("inside.amc"));
    assert_eq!(before[..2], after[..2]);
    assert_ne!(before[2], after[2]);
    // Standard output is the motion's; the report goes beside it.
    let got = folder.condyle("clamp walk.bvh --rig rig.json -o - --to bvh");
    assert!(String::from_utf8(got.stdout).unwrap().starts_with("HIERARCHY"));
    assert!(String::from_utf8(got.stderr).unwrap().contains("1 of 1 joints changed"));
}

#[test]
fn errors_in_a_rig_name_file_place_and_path() {
    let folder = Folder::new("rig_errors");
    folder.write("walk.bvh", WALK);
    folder.write("bad.json", &LEG_RIG.replace("\"arc\"", "\"cone\""));
    let got = folder.condyle("check walk.bvh --rig bad.json");
    assert_eq!(got.status.code(), Some(2));
    let err = String::from_utf8(got.stderr).unwrap();
    assert!(
        err.starts_with("bad.json:8:34: joints.Leg.limit.shape: \"cone\" is no shape"),
        "{err}"
    );
    // What only shows when limits are prepared.
    let axes = LEG_RIG.replace(
        "\"hinge\", \"axis\": [1, 0, 0]",
        "\"universal\", \"axes\": [[1, 0, 0], [1, 0, 0]]",
    );
    folder.write(
        "axes.json",
        &axes.replace("\"shape\": \"arc\", \"min_deg\": 0, \"max_deg\": 30", "\"shape\": \"free\""),
    );
    for command in ["check walk.bvh", "clamp walk.bvh -o x.bvh"] {
        let got = folder.condyle(&format!("{command} --rig axes.json"));
        assert_eq!(got.status.code(), Some(2));
        let err = String::from_utf8(got.stderr).unwrap();
        assert!(err.starts_with("axes.json:7:"), "{err}");
        assert!(err.contains(": joints.Leg.axes: ") && err.contains("\n  help: "), "{err}");
    }
    folder.write("other.json", &LEG_RIG.replace("Leg", "Wing"));
    folder.check(
        "check walk.bvh --rig other.json",
        2,
        "",
        "condyle: no joint of walk.bvh has an entry in other.json\n  help: joints are matched by \
         name; the rig has \"Tail\" and \"Wing\", the clip \"Hips\" and \"Leg\"\n",
    );
    folder
        .write("turned.json", &LEG_RIG.replace("-0.9, 0]", "-0.9, 0], \"rest\": [0.8, 0.6, 0, 0]"));
    let err = String::from_utf8(folder.condyle("check walk.bvh --rig turned.json").stderr).unwrap();
    assert!(
        err.contains(
            "warning: walk.bvh: the rest pose of \"Leg\" is not the rig's, by up to 73.7°"
        ),
        "{err}"
    );
    let got = folder.condyle("check walk.bvh --rig gone.json");
    assert_eq!(got.status.code(), Some(2));
    assert!(String::from_utf8(got.stderr).unwrap().starts_with("gone.json: cannot be read"));
    folder.write("long.json", &LEG_RIG.replace("\"axis\": [1", "\"axis\": [2"));
    assert_eq!(folder.condyle("check walk.bvh --rig long.json").status.code(), Some(1));
    assert_eq!(folder.condyle("check --strict walk.bvh --rig long.json").status.code(), Some(2));
    for args in [
        "check walk.bvh",
        "clamp walk.bvh --rig rig.json",
        "check walk.bvh --rig bad.json --threads 0",
    ] {
        assert_eq!(folder.condyle(args).status.code(), Some(2), "{args}");
    }
    assert_eq!(folder.names().iter().filter(|n| *n == "x.bvh").count(), 0);
}

/// The lines of README's section run, and say what it says.
#[test]
fn the_example_of_the_readme_works() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let section = readme.split("### Check and clamp").nth(1).unwrap();
    let block = section.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = Folder::new("readme");
    let (rig, commands) = block.split_once("\nEND\n").unwrap();
    let (first, rig) = rig.split_once("<<'END'\n").unwrap();
    let (demo, cat) = first.trim_end().split_once('\n').unwrap();
    let run = |line: &str| {
        let line = line.split('#').next().unwrap();
        folder.condyle(line.strip_prefix("condyle ").unwrap()).status.code()
    };
    assert_eq!(run(demo), Some(0));
    folder.write(cat.strip_prefix("cat > ").unwrap().trim(), rig);
    let codes: Vec<_> = commands.lines().map(run).collect();
    assert_eq!(codes, [Some(1), Some(0), Some(0)]);
}

/// What README and the method page quote of the demo is what it prints.
#[test]
fn the_quoted_demo_is_the_demo() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Folder::new("quoted");
    let mut out = String::from_utf8(folder.condyle("demo -o demo").stdout).unwrap();
    let got = folder.condyle("estimate demo/figure.bvh -o rig.json");
    out.push_str(&String::from_utf8(got.stdout).unwrap());
    let said: Vec<&str> = out.lines().map(str::trim_end).collect();
    for page in ["README.md", "docs/estimate.md"] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let blocks = text.split("```text\n").skip(1).map(|b| b.split("```").next().unwrap());
        let block = blocks.into_iter().find(|b| b.contains(" joint  ")).unwrap();
        for line in block.lines().filter(|l| !l.starts_with('$') && l.trim() != "…") {
            assert!(said.contains(&line), "{page} quotes {line:?}, which is not said:\n{out}");
        }
    }
}
