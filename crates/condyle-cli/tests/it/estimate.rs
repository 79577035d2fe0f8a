//! `condyle estimate`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Folder, complaints};

/// A leg that swings about x, up to 40° and back, and a foot that does not move.
pub(super) fn swinging(frames: usize) -> String {
    let mut text = "\
HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Leg
  {
    OFFSET 0 -90 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT Foot
    {
      OFFSET 0 -80 0
      CHANNELS 3 Zrotation Xrotation Yrotation
      End Site
      {
        OFFSET 0 0 15
      }
    }
  }
}
MOTION
"
    .to_owned();
    let _ = writeln!(text, "Frames: {frames}\nFrame Time: 0.0083333");
    for i in 0..frames {
        // Up for thirty frames, down for thirty.
        let angle = 40.0 * (1.0 - ((i % 60) as f64 / 30.0 - 1.0).abs());
        let _ = writeln!(text, "0 90 0 0 0 0 0 {angle:.6} 0 0 0 0");
    }
    text
}

pub(super) fn json(folder: &Folder, args: &str) -> Value {
    let got = folder.condyle(args);
    serde_json::from_slice(&got.stdout)
        .unwrap_or_else(|e| panic!("{args}: {e}\n{}", complaints(&got)))
}

/// A command that fails says why in JSON, too, once for each error, as `info` and `check` do.
#[track_caller]
pub(super) fn fails_in_json(folder: &Folder, args: &str) -> Vec<Value> {
    let got = folder.condyle(&format!("{args} --json"));
    let err = complaints(&got);
    assert_eq!(got.status.code(), Some(2), "{args}\n{err}");
    let value: Value =
        serde_json::from_slice(&got.stdout).unwrap_or_else(|e| panic!("{args}: {e}\n{err}"));
    let errors = value["errors"].as_array().unwrap().clone();
    assert!(!errors.is_empty(), "{args}");
    for error in &errors {
        let mut keys: Vec<&str> = error.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["column", "help", "line", "message", "path"], "{args}");
        // What people see, but for the place, which has fields of its own.
        let last = error["message"].as_str().unwrap().rsplit(": ").next().unwrap();
        assert!(!last.is_empty() && err.contains(last), "{args}: {error}\n{err}");
        assert!(error["path"].as_str().is_none_or(|path| err.contains(path)), "{args}: {error}");
    }
    errors
}

pub(super) fn rig(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.read(name)).unwrap()
}

#[test]
fn estimate_writes_a_rig_and_prints_a_table() {
    let folder = Folder::new("estimate");
    folder.write("swing.bvh", &swinging(200));
    let got = folder.condyle("estimate swing.bvh -o rig.json");
    let out = String::from_utf8(got.stdout).unwrap();
    assert_eq!(got.status.code(), Some(0), "{out}");
    assert_eq!(String::from_utf8(got.stderr).unwrap(), "");
    let row = |name: &str| -> Vec<&str> {
        let line = out.lines().find(|l| l.trim_start().starts_with(name)).unwrap();
        line.split_whitespace().collect()
    };
    assert_eq!(&row("Leg")[..2], ["Leg", "hinge"], "{out}");
    assert_eq!(&row("Leg")[3..], ["0..40", "3", "200"], "{out}");
    assert_eq!(&row("Foot")[..2], ["Foot", "fixed"], "{out}");
    assert!(
        out.ends_with("200 frames, noise 0.00° about each axis; written to rig.json\n"),
        "{out}"
    );
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
    assert_eq!(folder.names(), ["rig.json", "swing.bvh"], "nothing half-written is left");
    let rig = rig(&folder, "rig.json");
    assert_eq!(rig["joints"]["Leg"]["kind"], "hinge");
    assert_eq!(rig["joints"]["Leg"]["source"], "estimated");
    assert_eq!(rig["joints"]["Hips"]["kind"], "free");
    assert_eq!(rig["skeleton"]["joints"][2]["name"], "Foot");
    assert_eq!(folder.condyle("check swing.bvh --rig rig.json").status.code(), Some(0));
}

/// Up and down three times and a bit: both ends are bounds. Ten times: the true ends are told.
#[test]
fn ends_are_told_with_their_visits() {
    let folder = Folder::new("estimate_ends");
    let said = |args: &str| String::from_utf8(folder.condyle(args).stdout).unwrap();
    folder.write("few.bvh", &swinging(200));
    let out = said("estimate few.bvh -o few.json");
    assert!(out.contains("2 ends of 1 joint are only bounds"), "{out}");
    let shown = said("limits show few.json Leg");
    assert!(
        shown.contains("ends      min 0°, seen 3 times: may be farther: the motion went"),
        "{shown}"
    );
    assert!(
        shown.contains("          max 40°, seen 3 times: may be farther: the motion went"),
        "{shown}"
    );
    let reason = "2: the motion went this way and back fewer than five times";
    assert!(out.replace("\n  ", " ").contains(reason), "{out}");
    let value = json(&folder, "estimate --json few.bvh -o few.json");
    for told in
        [&value["joints"]["Leg"]["ends"], &rig(&folder, "few.json")["joints"]["Leg"]["ends"]]
    {
        assert_eq!(
            (&told[0]["open"], &told[1]["open"]),
            (&"few_excursions".into(), &"few_excursions".into())
        );
    }
    folder.write("many.bvh", &swinging(601));
    // What the limit is widened by is told apart from what was seen.
    assert_eq!(folder.condyle("estimate many.bvh -o wide.json --margin 5").status.code(), Some(0));
    let shown = said("limits show wide.json Leg");
    let apart = "max 45°, the motion came to 40°, seen 10 times: 90 % within 40° to 40°";
    assert!(shown.contains(apart), "{shown}");
    // The same file again tells nothing new.
    let out = said("estimate many.bvh many.bvh -o twice.json").replace("\n         ", " ");
    let warning = "warning: many.bvh: the same motion as many.bvh; visits of ends count it once";
    assert!(out.contains(warning), "{out}");
    let value = json(&folder, "estimate --json many.bvh -o many.json");
    let ends = &value["joints"]["Leg"]["ends"];
    assert_eq!((&ends[0]["of"], &ends[0]["visits"]), (&"min".into(), &9.into()), "{ends}");
    assert_eq!((&ends[1]["of"], &ends[1]["visits"]), (&"max".into(), &10.into()), "{ends}");
    let written = &rig(&folder, "many.json")["joints"]["Leg"]["ends"][1];
    assert_eq!((&written["of"], &written["visits"]), (&"max".into(), &10.into()), "{written}");
    for told in [written, &ends[1]] {
        let degrees = [&told["at_deg"], &told["interval_deg"][0], &told["interval_deg"][1]];
        assert!(degrees.iter().all(|d| d.as_f64() == Some(40.0)), "{told}");
    }
    let shown = said("limits show many.json Leg");
    assert!(shown.contains("max 40°, seen 10 times: 90 % within 40° to 40°"), "{shown}");
    assert!(!said("estimate many.bvh -o again.json").contains("only bounds"));
    // A summary has no order of time.
    assert_eq!(folder.condyle("stats many.bvh -o many.cst").status.code(), Some(0));
    let value = json(&folder, "merge --json many.cst -o merged.json");
    assert!(value["joints"]["Leg"]["ends"].is_null(), "{value}");
}

#[test]
fn estimate_as_json_has_the_fields_of_the_contract() {
    let folder = Folder::new("estimate_json");
    folder.write("swing.bvh", &swinging(200));
    let value = json(&folder, "estimate --json swing.bvh -o rig.json");
    let leg = &value["joints"]["Leg"];
    assert_eq!(leg["kind"], "hinge");
    assert!(leg["confidence"].as_f64().unwrap() > 0.9, "{leg}");
    assert!(leg["why"].as_str().unwrap().contains("second axis"), "{leg}");
    assert_eq!(leg["samples"], 200);
    assert_eq!(leg["rejected"], 0);
    assert!(leg["noise_deg"].as_f64().unwrap() < 0.01, "{leg}");
    assert!((leg["arcs"][0]["max_deg"].as_f64().unwrap() - 40.0).abs() < 0.1, "{leg}");
    assert_eq!(leg["notes"], serde_json::json!([]));
    assert_eq!(value["frames"], 200);
    assert!(value["noise_deg"].is_number());
    assert_eq!(value["warnings"], serde_json::json!([]));
    assert_eq!(value["kept"], serde_json::json!([]));
    assert_eq!(value["files"][0]["path"], "swing.bvh");
}

#[test]
fn standard_output_gets_the_rig_and_nothing_else() {
    let folder = Folder::new("estimate_stdout");
    folder.write("swing.bvh", &swinging(100));
    let got = folder.condyle("estimate swing.bvh -o -");
    let value: Value = serde_json::from_slice(&got.stdout).unwrap();
    assert_eq!(value["condyle"], 1);
    let err = complaints(&got);
    assert!(err.contains("Leg") && err.contains("rig on standard output"), "{err}");
    assert_eq!(folder.names(), ["swing.bvh"]);
}

#[test]
fn edits_and_unknown_fields_survive_and_the_difference_is_told_a13() {
    let folder = Folder::new("estimate_edits");
    folder.write("swing.bvh", &swinging(200));
    let there = r#"{
  "condyle": 1, "studio": { "camera": [1, 2.50] },
  "skeleton": { "joints": [] },
  "joints": {
    "Leg": { "kind": "hinge", "axis": [1, 0, 0], "source": "edited", "by": "Ann",
             "limit": { "shape": "arc", "min_deg": -10.0, "max_deg": 120.0 } },
    "Foot": { "kind": "ball", "source": "estimated", "color": "red" },
    "Hips": { "kind": "free" },
    "Tail": { "kind": "ball", "source": "preset" }
  }
}"#;
    folder.write("rig.json", there);
    let got = folder.condyle("estimate swing.bvh -o rig.json");
    let out = String::from_utf8(got.stdout).unwrap();
    assert!(out.contains("Leg: hinge -10..120 -> hinge 0..40"), "{out}");
    assert!(out.contains("not from an estimate: \"Hips\"."), "{out}");
    assert!(out.contains("not in the clips: \"Tail\"."), "{out}");
    let text = folder.read("rig.json");
    assert!(text.contains("\"min_deg\": -10.0, \"max_deg\": 120.0"), "{text}");
    let rig = rig(&folder, "rig.json");
    assert_eq!(rig["joints"]["Leg"]["by"], "Ann");
    assert_eq!(rig["joints"]["Leg"]["source"], "edited");
    assert_eq!(rig["joints"]["Foot"]["kind"], "fixed");
    assert_eq!(rig["joints"]["Foot"]["color"], "red");
    assert_eq!(rig["joints"]["Tail"]["kind"], "ball");
    assert!(text.contains("2.50"), "{text}");

    let value = json(&folder, "estimate --json swing.bvh -o rig.json");
    assert_eq!(value["kept"][0]["joint"], "Leg");
    let end = |of: &str| value["kept"][0][of]["arcs"][0]["max_deg"].as_f64().unwrap();
    assert!((end("kept") - 120.0).abs() < 1e-9 && (end("estimated") - 40.0).abs() < 0.1);
    assert_eq!(value["untouched"], serde_json::json!(["Tail"]));

    // Again gives the same document, and --fresh starts over.
    let before = folder.read("rig.json");
    let again = folder.condyle("estimate swing.bvh -o rig.json");
    assert_eq!(folder.read("rig.json"), before);
    assert!(!String::from_utf8(again.stdout).unwrap().contains("Replaced"));
    assert_eq!(folder.condyle("estimate --fresh swing.bvh -o rig.json").status.code(), Some(0));
    let text = folder.read("rig.json");
    assert!(!text.contains("Ann") && !text.contains("Tail") && !text.contains("camera"), "{text}");
}

/// A misspelt name: the entry limits nothing, and the estimate goes into another one.
#[test]
fn an_edited_entry_of_a_joint_that_is_not_there_is_told_with_the_nearest_name() {
    let folder = Folder::new("estimate_misspelt");
    folder.write("swing.bvh", &swinging(200));
    assert_eq!(folder.condyle("estimate swing.bvh -o rig.json").status.code(), Some(0));
    let text = folder.read("rig.json");
    let mut misspelt: Value = serde_json::from_str(&text).unwrap();
    let mut entry = misspelt["joints"]["Leg"].clone();
    misspelt["joints"]["Tail"] = entry.clone();
    entry["limit"]["max_deg"] = 35.into();
    misspelt["joints"]["Legg"] = entry;
    misspelt["joints"].as_object_mut().unwrap().remove("Leg");
    folder.write("rig.json", &misspelt.to_string());
    let got = folder.condyle("estimate swing.bvh -o rig.json");
    let told = complaints(&got);
    let says = "warning: rig.json: joints.Legg: the entry was edited, and the skeleton has no such joint (near is \
                \"Leg\"): it limits nothing";
    assert!(told.contains(says), "{told}");
    assert!(!told.contains("Tail"), "nobody edited it: {told}");
    let value = json(&folder, "estimate swing.bvh -o rig.json --json");
    let warnings = value["warnings"].as_array().unwrap();
    let legg = |w: &&Value| w.as_str().unwrap().contains("joints.Legg");
    assert_eq!(warnings.iter().filter(legg).count(), 1, "{warnings:?}");
}

/// The tutorial's example: only the numbers of the limit are changed.
#[test]
fn a_limit_that_was_edited_is_not_contradicted_by_what_was_estimated() {
    let folder = Folder::new("estimate_stale");
    folder.condyle("demo -o demo");
    let _ = json(&folder, "estimate --json demo/figure.bvh -o rig.json");
    let estimated = rig(&folder, "rig.json");
    let elbow = &estimated["joints"]["LeftForeArm"];
    assert!(elbow["rest_inside"] == false && elbow["ends"].as_array().unwrap().len() == 2);
    assert!(elbow["rest_excess_deg"].is_number() && elbow["start"].is_array());
    let mut edited = estimated.clone();
    edited["joints"]["LeftForeArm"]["limit"]["min_deg"] = 0.into();
    edited["joints"]["LeftForeArm"]["limit"]["max_deg"] = 150.into();
    folder.write("rig.json", &edited.to_string());
    let shown = json(&folder, "limits show rig.json LeftForeArm --json");
    let shown = &shown["joints"]["LeftForeArm"];
    assert!(shown["rest_inside"] == true && shown["ends"].is_null(), "{shown}");
    let got = folder.condyle("limits show rig.json LeftForeArm");
    let shown = String::from_utf8(got.stdout).unwrap();
    assert!(shown.contains("rest      inside") && !shown.contains("ends"), "{shown}");
    let value = json(&folder, "estimate --json demo/figure.bvh -o rig.json --report page.html");
    assert!(value["kept"][0]["kept"]["ends"].is_null(), "{}", value["kept"]);
    let kept = &rig(&folder, "rig.json")["joints"]["LeftForeArm"];
    assert_eq!((&kept["rest_inside"], &kept["rest_excess_deg"]), (&true.into(), &0.into()));
    assert!(kept["start"].is_null() && kept["ends"].is_null(), "{kept}");
    assert_eq!(kept["limit"]["max_deg"], 150);
    for same in ["axis", "noise_deg", "samples", "why"] {
        assert_eq!(kept[same], elbow[same], "{same}");
    }
    let page = folder.read("page.html");
    let first = page.split("<section id=\"first\">").nth(1).unwrap();
    assert!(!first.split("</section>").next().unwrap().contains("LeftForeArm<"));
    // The other one was not touched, and its entry says what it said.
    assert_eq!(
        rig(&folder, "rig.json")["joints"]["RightForeArm"],
        estimated["joints"]["RightForeArm"]
    );
}

/// What readers have to say is for scripts, too, and on the page.
#[test]
fn warnings_of_readers_are_in_the_json() {
    let folder = Folder::new("estimate_warnings");
    folder.write("swing.bvh", &swinging(60).replacen("0 90 0 0 0 0", "0 90 0 0 0 9e9", 1));
    let value = json(&folder, "estimate --json swing.bvh -o rig.json --report page.html");
    let warnings = value["warnings"].as_array().unwrap();
    let told = |w: &&Value| w.as_str().unwrap().contains("an angle of 9e9 degrees is hardly meant");
    assert_eq!(warnings.iter().filter(told).count(), 1, "{warnings:?}");
    assert!(warnings[0].as_str().unwrap().starts_with("swing.bvh:"), "{warnings:?}");
    assert!(folder.read("page.html").contains("an angle of 9e9 degrees is hardly meant"));
}

/// A second take with another rest rotation counts from the bind pose as well.
#[test]
fn with_a_bind_pose_terminal_and_page_have_the_same_clinical_angles() {
    let folder = Folder::new("estimate_bind_norms");
    folder.condyle("demo -o demo");
    let asf = folder.read("demo/figure.asf");
    let (head, leg) = asf.split_once("name LeftLeg\n").unwrap();
    let other =
        format!("{head}name LeftLeg\n{}", leg.replacen("axis 0 0 0 XYZ", "axis 30 0 0 XYZ", 1));
    assert_ne!(asf, other);
    folder.write("demo/other.asf", &other);
    folder.write("demo/other.amc", &folder.read("demo/figure.amc"));
    let files = "demo/figure.asf demo/figure.amc demo/other.asf demo/other.amc";
    let value =
        json(&folder, &format!("estimate --json {files} -o r.json --bind 0 --report r.html"));
    let norms = value["norms"].as_array().unwrap();
    let knee = norms.iter().find(|n| n["what"] == "left knee" && n["angle"] == "flexion").unwrap();
    let highest = format!("to {:.1}°</td>", knee["highest_deg"].as_f64().unwrap());
    let page = folder.read("r.html");
    let table = page.split("<caption><bdi>left knee</bdi>").nth(1).unwrap();
    let row = table.split("<tr>").find(|row| row.contains("flexion (+)")).unwrap();
    assert!(row.contains(&highest), "{highest} {row}");
}

#[test]
fn an_entry_that_was_changed_since_it_was_estimated_is_kept_and_told_a13() {
    let folder = Folder::new("estimate_unmarked");
    folder.write("swing.bvh", &swinging(200));
    folder.write("more.bvh", &swinging(50));
    let value = json(&folder, "estimate --json swing.bvh -o rig.json");
    let nothing = Value::Array(vec![]);
    assert_eq!(
        (&value["changed"], &value["replaced"], &value["kept"]),
        (&nothing, &nothing, &nothing)
    );
    let estimated = rig(&folder, "rig.json");
    // In another order of fields, with a soft limit and fields of one's own, it is still the estimate.
    let mut own = estimated.clone();
    own["joints"]["Leg"]["soft"] = serde_json::json!({ "onset_deg": 5, "stiffness": 0.5 });
    own["joints"]["Leg"]["by"] = "Ann".into();
    folder.write("rig.json", &own.to_string());
    let value = json(&folder, "estimate --json swing.bvh more.bvh -o rig.json");
    assert_eq!((&value["kept"], &value["joints"]["Leg"]["samples"]), (&nothing, &250.into()));
    assert_eq!(rig(&folder, "rig.json")["joints"]["Leg"]["soft"]["onset_deg"], 5);

    let changes: [fn(&mut Value); 4] = [
        |leg| leg["limit"]["max_deg"] = 70.into(),
        |leg| leg["noise_deg"] = 2.into(),
        |leg| leg["axis"] = serde_json::json!([0, 0, 1]),
        |leg| leg["notes"] = serde_json::json!(["looked at"]),
    ];
    for change in changes {
        let mut edited = estimated.clone();
        change(&mut edited["joints"]["Leg"]);
        for files in ["estimate swing.bvh", "estimate swing.bvh more.bvh", "corpus swing.bvh"] {
            folder.write("rig.json", &edited.to_string());
            let out = folder.condyle(&format!("{files} -o rig.json")).stdout;
            let out = String::from_utf8(out).unwrap();
            assert!(
                out.contains("\nKept since they were changed after they were"),
                "{files}: {out}"
            );
            let there = rig(&folder, "rig.json");
            for field in ["limit", "noise_deg", "axis", "notes"] {
                let of = |rig: &Value| rig["joints"]["Leg"][field].clone();
                assert_eq!(of(&there), of(&edited), "{files}: {field}");
            }
            let value = json(&folder, &format!("{files} -o rig.json --json"));
            assert_eq!(value["kept"][0]["joint"], "Leg", "{files}");
            assert_eq!(value["kept"][0]["because"], "changed", "{files}");
            assert_eq!(value["kept"].as_array().unwrap().len(), 1, "{files}: {}", value["kept"]);
        }
    }
    // Without the hash nobody knows: it is replaced, and told.
    let mut edited = estimated;
    edited["joints"]["Leg"]["limit"]["max_deg"] = 70.into();
    let leg = edited["joints"]["Leg"].as_object_mut().unwrap();
    assert!(leg.remove("estimate_hash").is_some());
    folder.write("rig.json", &edited.to_string());
    let value = json(&folder, "estimate --json swing.bvh -o rig.json");
    assert_eq!(value["changed"][0]["was"]["arcs"][0]["max_deg"], 70.0);
    // From more clips too, where nobody can tell whether the clips or a person changed it.
    folder.write("rig.json", &edited.to_string());
    let value = json(&folder, "estimate --json swing.bvh more.bvh -o rig.json");
    assert_eq!(value["unknown"], serde_json::json!(["Leg"]), "{value}");
    folder.write("rig.json", &edited.to_string());
    let out = folder.condyle("estimate swing.bvh more.bvh -o rig.json").stdout;
    assert!(String::from_utf8(out).unwrap().contains("perhaps edited before"));
}

/// Programs that write JSON have no −0.
#[test]
fn a_rig_that_another_program_wrote_again_is_as_it_was_estimated() {
    let folder = Folder::new("estimate_negative_zero");
    folder.write("swing.bvh", &swinging(200));
    folder.write("more.bvh", &swinging(50));
    let _ = json(&folder, "estimate --json swing.bvh -o rig.json");
    let text = folder.read("rig.json");
    let alone = |text: &str| text.replace(['[', ']', ',', '\n'], " ").split(' ').any(|w| w == "-0");
    assert!(!alone(&text), "{text}");
    // As older versions wrote it.
    let with = text.replacen("\"axis\": [1, 0, 0]", "\"axis\": [1, -0, -0]", 1);
    assert!(alone(&with), "{text}");
    folder.write("rig.json", &with);
    let value = json(&folder, "estimate --json swing.bvh more.bvh -o rig.json");
    assert_eq!(value["kept"], serde_json::json!([]));
}

/// A capture that swings, with frames that are poses of nobody: in front, and frozen in.
fn with_poses(frames: usize, at: &[usize]) -> String {
    let text = swinging(frames);
    let (head, rows) = text.split_once("0.0083333\n").unwrap();
    let rows = rows.lines().enumerate().map(|(i, row)| match at.contains(&i) {
        true => "0 90 0 0 0 0 0 -55 0 0 0 0\n".to_owned(),
        false => format!("{row}\n"),
    });
    format!("{head}0.0083333\n{}", rows.collect::<String>())
}

#[test]
fn a_pose_that_an_estimate_left_out_is_found_wherever_else_it_is() {
    let folder = Folder::new("estimate_left_out");
    folder.write("take.bvh", &with_poses(200, &[0]));
    folder.write("pose.bvh", &with_poses(1, &[0]));
    folder.write("frozen.bvh", &with_poses(100, &(0..100).collect::<Vec<_>>()));
    folder.write("other.bvh", &with_poses(230, &[0]));
    folder.write("again.bvh", &with_poses(200, &[0, 120, 121, 122]));
    let found = json(&folder, "estimate --json take.bvh -o rig.json");
    assert!(found["warnings"].to_string().contains("a pose in front of the motion"), "{found}");
    let check = |file: &str, outside: u64, left_out: u64| {
        let got = folder.condyle(&format!("check {file} --rig rig.json"));
        assert_eq!(got.status.code(), Some(i32::from(outside > 0)), "{file}");
        let out = String::from_utf8(got.stdout).unwrap();
        assert!(!out.contains("180"), "{file}: {out}");
        let got = folder.condyle(&format!("check {file} --rig rig.json --json"));
        let out: Value = serde_json::from_slice(&got.stdout).unwrap();
        let leg = &out["joints"]["Leg"];
        assert_eq!(
            (&leg["outside"], &leg["left_out"]),
            (&outside.into(), &left_out.into()),
            "{file}"
        );
        assert!(leg["worst_deg"].as_f64().is_none_or(|worst| worst > -179.0), "{file}: {leg}");
        assert!(leg["tolerance_deg"].is_number() && leg["noise_deg"].is_number(), "{leg}");
    };
    check("take.bvh", 0, 1);
    check("pose.bvh", 1, 0);
    check("frozen.bvh", 100, 0);
    check("other.bvh", 1, 0);
    check("again.bvh", 4, 0);
    // Converted without a change it is the same take, and clamped it keeps its numbers.
    assert!(folder.condyle("clamp take.bvh --rig rig.json -o same.bvh").status.success());
    let rows = |name: &str| -> Vec<Vec<f64>> {
        let text = folder.read(name);
        let rows = text.lines().skip_while(|l| !l.starts_with("Frame Time")).skip(1);
        let numbers = |row: &str| row.split_whitespace().map(|x| x.parse().unwrap()).collect();
        rows.map(numbers).collect()
    };
    assert_eq!(rows("same.bvh"), rows("take.bvh"));
    check("same.bvh", 0, 1);
    let exact = "clamp take.bvh --rig rig.json -o exact.bvh --exact --json";
    assert_eq!(
        json(&folder, exact)["joints"]["Leg"]["changed"].as_u64().map(|n| n > 0),
        Some(true)
    );
    assert_ne!(rows("exact.bvh")[0], rows("take.bvh")[0]);
    check("exact.bvh", 0, 0);
    // A frozen pose is brought inside, and a pose in front moves no other frame.
    for how in ["", " --smooth"] {
        let got = json(&folder, &format!("clamp other.bvh --rig rig.json -o out.bvh --json{how}"));
        assert_eq!(
            (&got["joints"]["Leg"]["changed"], &got["motion_start"]),
            (&1.into(), &1.into())
        );
        check("out.bvh", 0, 0);
    }
}

#[test]
fn a_pose_that_is_held_in_front_of_the_motion_is_no_part_of_it() {
    let folder = Folder::new("estimate_held_pose");
    folder.write("plain.bvh", &with_poses(230, &[]));
    folder.write("held.bvh", &with_poses(230, &(0..40).collect::<Vec<_>>()));
    let plain = json(&folder, "estimate --json plain.bvh -o plain.json");
    let held = json(&folder, "estimate --json held.bvh -o held.json");
    assert!(held["warnings"].to_string().contains("a pose in front of the motion"), "{held}");
    let arc = |of: &Value| of["joints"]["Leg"]["arcs"].clone();
    assert_eq!(arc(&held), arc(&plain));
    let check = json(&folder, "check held.bvh --rig held.json --json");
    let leg = &check["joints"]["Leg"];
    assert_eq!((&leg["outside"], &leg["left_out"]), (&0.into(), &40.into()), "{leg}");
    // Elsewhere it counts, and moves no other frame.
    for how in ["", " --smooth"] {
        let clamp = format!("clamp held.bvh --rig plain.json -o out.bvh --json{how}");
        let got = json(&folder, &clamp);
        let told = (&got["joints"]["Leg"]["changed"], &got["motion_start"]);
        assert_eq!(told, (&40.into(), &40.into()), "{how}");
    }
    let got = folder.condyle("clamp held.bvh --rig plain.json -o out.bvh --smooth");
    let err = String::from_utf8(got.stderr).unwrap();
    assert!(err.contains("frames 0 to 39 are a pose in front of the motion"), "{err}");
}

#[test]
fn what_cannot_be_estimated_says_why_and_writes_nothing() {
    let folder = Folder::new("estimate_errors");
    folder.write("swing.bvh", &swinging(100));
    folder.write("one.bvh", &swinging(1));
    folder.write("none.bvh", &swinging(0));
    folder.write("broken.bvh", &swinging(5).replace("Zposition", "Qposition"));
    // The foot hangs on the hips.
    let other = swinging(5).replace("JOINT Leg", "JOINT Shin").replace("JOINT Foot", "JOINT Leg");
    folder.write("other.bvh", &other);
    let alien = other.replace("Hips", "A").replace("Shin", "B").replace("Leg", "C");
    folder.write("alien.bvh", &alien);
    folder.write("strange.json", "{\"condyle\": 1, \"skeleton\": {\"joints\": []}, \"joints\": {\"Wing\": {\"kind\": \"ball\"}}}");
    folder.write("list.json", "[1, 2]");
    folder.write("nan.bvh", &swinging(5).replacen("0 90 0 0 0 0 0 ", "0 90 0 0 0 0 0 nan", 1));
    assert_eq!(folder.condyle("convert swing.bvh swing.trc").status.code(), Some(0));
    let before = folder.names();
    for (args, words) in [
        ("estimate one.bvh -o rig.json", &["one.bvh: there is one frame only", "help: "][..]),
        ("estimate none.bvh -o rig.json", &["none.bvh: there ", "help: "][..]),
        ("estimate missing.bvh -o rig.json", &["missing.bvh"][..]),
        (
            "estimate swing.bvh -o rig.json --symmetrise",
            &["swing.bvh: the names of its joints do not tell left from right", "help: "][..],
        ),
        // Every file that cannot be read is told.
        (
            "estimate broken.bvh swing.bvh missing.bvh -o rig.json",
            &["broken.bvh:5:", "missing.bvh"][..],
        ),
        (
            "estimate swing.bvh other.bvh -o rig.json",
            &[
                "other.bvh: contradicts swing.bvh: \"Leg\" hangs on \"Shin\" here",
                " and on \"Hips\" there",
            ][..],
        ),
        ("estimate swing.bvh alien.bvh -o rig.json", &["alien.bvh: is of another figure"][..]),
        (
            "estimate swing.bvh -o strange.json",
            &["strange.json: is the rig of another", "--fresh"][..],
        ),
        ("estimate swing.bvh -o list.json", &["list.json:1:1", "--fresh"][..]),
        ("estimate swing.bvh -o out.bvh", &["out.bvh has the extension of a motion file"][..]),
        ("estimate swing.bvh -o no/such/rig.json", &["no/such/rig.json: cannot be written"][..]),
        ("estimate swing.bvh", &["--output"][..]),
        ("estimate swing.bvh -o rig.json --coverage 0", &["above 0 and at most 1"][..]),
        ("estimate swing.bvh -o rig.json --coverage 1.5", &["above 0 and at most 1"][..]),
        ("estimate swing.bvh -o rig.json --noise -1", &["degrees from 0 to 90, or auto"][..]),
        ("estimate swing.bvh -o rig.json --noise NaN", &["degrees from 0 to 90, or auto"][..]),
        ("estimate swing.bvh -o rig.json --margin -1", &["degrees from 0 to 180"][..]),
        ("estimate swing.bvh -o rig.json --samples 1", &["whole number from 2"][..]),
        ("estimate swing.bvh -o rig.json --corners 3", &["whole number from 4"][..]),
        ("estimate swing.bvh -o rig.json --method best", &["robust", "paper"][..]),
        ("estimate swing.bvh -o rig.json --model disc", &["polygon"][..]),
        ("estimate swing.bvh -o rig.json --threads 0", &["above zero"][..]),
    ] {
        let got = folder.condyle(args);
        let err = complaints(&got);
        assert_eq!(got.status.code(), Some(2), "{args}\n{err}");
        assert_eq!(got.stdout, b"", "{args}");
        for word in words {
            assert!(err.contains(word), "{args}: {word}\n{err}");
        }
        // What is wrong with options comes before all else.
        if !err.starts_with("error: ") {
            fails_in_json(&folder, args);
        }
        assert_eq!(folder.names(), before, "{args}");
    }
    let one = fails_in_json(&folder, "estimate one.bvh -o rig.json");
    assert_eq!(one[0]["path"], "one.bvh");
    let two = fails_in_json(&folder, "estimate broken.bvh swing.bvh missing.bvh -o rig.json");
    assert_eq!((two.len(), &two[1]["path"]), (2, &"missing.bvh".into()));
    let list = fails_in_json(&folder, "estimate swing.bvh -o list.json");
    assert_eq!((&list[0]["path"], &list[0]["line"]), (&"list.json".into(), &1.into()));
    assert_eq!(folder.read("list.json"), "[1, 2]");
    let value = json(&folder, "estimate --json broken.bvh swing.bvh -o rig.json");
    assert_eq!(value["errors"][0]["path"], "broken.bvh");
    assert_eq!(value["errors"][0]["line"], 5);
}

#[test]
fn options_do_what_they_say() {
    let folder = Folder::new("estimate_options");
    folder.write("swing.bvh", &swinging(200));
    let arc = |args: &str| -> [f64; 2] {
        let got = folder.condyle(&format!("estimate swing.bvh -o - {args}"));
        let rig: Value = serde_json::from_slice(&got.stdout).unwrap();
        let limit = &rig["joints"]["Leg"]["limit"];
        ["min_deg", "max_deg"].map(|end| limit[end].as_f64().unwrap())
    };
    let near =
        |[a, b]: [f64; 2], min: f64, max: f64| (a - min).abs() < 0.1 && (b - max).abs() < 0.1;
    assert!(near(arc(""), 0.0, 40.0));
    assert!(near(arc("--margin 2"), -2.0, 42.0));
    let [min, max] = arc("--coverage 0.5");
    assert!(max - min < 30.0, "{min} {max}");
    assert!(near(arc("--raw"), 0.0, 40.0));
    // What noise explains is no motion.
    let value = json(&folder, "estimate --json swing.bvh -o rig.json --noise 30");
    assert_eq!(value["joints"]["Leg"]["kind"], "fixed");
    assert!((value["noise_deg"].as_f64().unwrap() - 30.0).abs() < 1e-9);
    let value = json(&folder, "estimate --json swing.bvh -o rig.json --samples 50");
    assert_eq!(value["frames"], 50);
    assert_eq!(value["joints"]["Leg"]["samples"], 50);
    for args in
        ["--model box", "--model ellipse", "--model polygon", "--method paper", "--outliers keep"]
    {
        let got = folder.condyle(&format!("estimate swing.bvh -o rig.json {args}"));
        assert_eq!(got.status.code(), Some(0), "{args}\n{}", complaints(&got));
    }
    // Any number of threads gives the same document.
    let one = folder.condyle("estimate swing.bvh -o - --threads 1").stdout;
    assert_eq!(folder.condyle("estimate swing.bvh -o - --threads 3").stdout, one);
}

#[test]
fn several_clips_are_one_estimate_and_few_keys_are_told() {
    let folder = Folder::new("estimate_several");
    folder.write("swing.bvh", &swinging(200));
    folder.write("walk.bvh", &swinging(60));
    let value = json(&folder, "estimate --json swing.bvh walk.bvh -o rig.json");
    assert_eq!(value["frames"], 260);
    assert_eq!(value["joints"]["Leg"]["samples"], 260);
    // In any order.
    let one = folder.condyle("estimate swing.bvh walk.bvh -o -").stdout;
    assert_eq!(folder.condyle("estimate walk.bvh swing.bvh -o -").stdout, one);
    // A joint less in the second: told with the name of the file.
    let footless = swinging(60).replace("JOINT Foot", "JOINT Toe");
    folder.write("toe.bvh", &footless);
    let value = json(&folder, "estimate --json swing.bvh toe.bvh -o rig.json");
    assert!(value["warnings"][0].as_str().unwrap().starts_with("toe.bvh: 1 joint of"), "{value:#}");
    // A12, A2: three keys are a first guess.
    folder.write("keys.bvh", &swinging(3));
    let out = String::from_utf8(folder.condyle("estimate keys.bvh -o keys.json").stdout).unwrap();
    assert!(out.contains("only 3 samples") && out.contains("only 3 keys"), "{out}");
    let got = folder.condyle("estimate keys.bvh -o keys.json --samples 100");
    assert_eq!(got.status.code(), Some(0));
    assert!(complaints(&got).contains("keys.bvh: only 3 frames"), "{}", complaints(&got));
}

/// Real clips, with the ASF before its AMC.
fn real_clips() -> Vec<Vec<PathBuf>> {
    let root = match std::env::var_os("CONDYLE_SHARED") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let data = root.join("data");
    if !data.exists() {
        return Vec::new();
    }
    let of = |names: &[&str]| names.iter().map(|n| data.join(n)).collect();
    vec![
        of(&["bvh/02_01.bvh"]),
        of(&["bvh/Swagger.bvh"]),
        of(&["bvh/jumping_jacks.bvh"]),
        of(&["bvh/test_mocapbank.bvh"]),
        of(&["asf-amc/02.asf", "asf-amc/02_01.amc"]),
        of(&["asf-amc/49.asf", "asf-amc/49_02.amc", "asf-amc/49_06.amc"]),
        of(&["asf-amc/HDM_bd.asf", "asf-amc/HDM_bd_throwBasketball_001_120.amc"]),
    ]
}

#[test]
fn a_bind_pose_is_a_frame_or_a_file_and_the_repair_is_a_choice() {
    let folder = Folder::new("estimate_bind");
    folder.condyle("demo -o demo");
    let plain = json(&folder, "estimate --json demo/figure.bvh -o plain.json");
    let bound = json(&folder, "estimate --json demo/figure.bvh -o bound.json --bind 7");
    let kinds = |of: &Value| -> Vec<Value> {
        of["joints"].as_object().unwrap().values().map(|j| j["kind"].clone()).collect()
    };
    assert_eq!(kinds(&plain), kinds(&bound));
    assert_ne!(folder.read("plain.json"), folder.read("bound.json"));
    let got = folder.condyle("check demo/figure.bvh --rig bound.json");
    assert_eq!(got.status.code(), Some(0));
    // A file stands for its first frame.
    json(&folder, "estimate --json demo/figure.bvh -o frame.json --bind 0");
    json(&folder, "estimate --json demo/figure.bvh -o file.json --bind demo/figure.bvh");
    assert_eq!(folder.read("frame.json"), folder.read("file.json"));
    for wrong in ["--bind 99999999", "--bind nowhere.bvh", "--bind 3 --samples 50"] {
        let got = folder.condyle(&format!("estimate demo/figure.bvh -o no.json {wrong}"));
        assert_eq!(got.status.code(), Some(2), "{wrong}");
        assert!(!got.stderr.is_empty());
    }
    for repair in ["nearest", "middle", "mean"] {
        let got =
            folder.condyle(&format!("estimate demo/figure.bvh -o {repair}.json --repair {repair}"));
        assert_eq!(got.status.code(), Some(0), "{repair}");
    }
    let share = "estimate --method paper --threshold 95% demo/figure.bvh -o share.json";
    assert_eq!(folder.condyle(share).status.code(), Some(0));
    for wrong in ["--threshold -1", "--threshold 0%", "--threshold 101%", "--threshold x"] {
        let command = format!("estimate --method paper demo/figure.bvh -o no.json {wrong}");
        assert_eq!(folder.condyle(&command).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn estimate_then_check_on_the_same_real_clip_is_content() {
    let folder = Folder::new("estimate_real");
    let mut left_out = 0;
    for (n, clip) in real_clips().iter().enumerate() {
        let names: Vec<String> = clip.iter().map(|p| p.display().to_string()).collect();
        let names = names.join(" ");
        let found = json(&folder, &format!("estimate --json {names} -o {n}.json"));
        let got = folder.condyle(&format!("check {names} --rig {n}.json"));
        assert_eq!(got.status.code(), Some(0), "{names}");
        let checked = json(&folder, &format!("check --json {names} --rig {n}.json"));
        let all = folder.condyle(&format!("check --json --all {names} --rig {n}.json"));
        let all: Value = serde_json::from_slice(&all.stdout).unwrap();
        for (joint, of) in checked["joints"].as_object().unwrap() {
            let known = of["left_out"].as_u64().unwrap();
            assert_eq!(of["outside"], 0, "{names}: {joint}");
            assert_eq!(all["joints"][joint]["outside"], known, "{names}: {joint}");
            let rejected = found["joints"][joint]["rejected"].as_u64().unwrap_or(0);
            // One more for each pose in front of a motion.
            let most = rejected + clip.len() as u64;
            assert!(known <= most, "{names}: {joint}: {known} of {most}");
            left_out += known;
        }
        let keep = folder.condyle(&format!("estimate {names} -o {n}.json --outliers keep"));
        assert_eq!(keep.status.code(), Some(0), "{names}");
        let got = folder.condyle(&format!("check {names} --rig {n}.json --all"));
        assert_eq!(got.status.code(), Some(0), "{names}");
    }
    // 02_01.bvh has a T-pose in front.
    assert!(left_out > 0 || real_clips().is_empty());
}

#[test]
fn estimate_writes_a_report_that_is_the_same_each_time() {
    let folder = Folder::new("estimate_report");
    folder.write("swing.bvh", &swinging(200));
    let got = folder.condyle("estimate swing.bvh -o rig.json --report page.html");
    let out = String::from_utf8(got.stdout).unwrap();
    assert_eq!(got.status.code(), Some(0), "{out}");
    assert!(out.contains("The report is in page.html.\n"), "{out}");
    let page = folder.read("page.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<bdi>swing.bvh</bdi>"));
    assert_eq!(folder.names(), ["page.html", "rig.json", "swing.bvh"]);
    let value =
        json(&folder, "estimate --json swing.bvh -o rig.json --threads 3 --report again.html");
    assert_eq!(value["report"], "again.html");
    assert_eq!(folder.read("again.html"), page);
    let _ = json(&folder, "estimate --json swing.bvh -o rig.json --bind 5 --report bound.html");
    assert!(folder.read("bound.html").contains("<bdi>bind pose</bdi>"));
    for (path, what) in [
        ("-", "the report cannot go to standard output"),
        ("rig.json", "rig.json would be written twice"),
        ("swing.bvh", "swing.bvh is one of the inputs"),
    ] {
        let got = folder.condyle(&format!("estimate swing.bvh -o rig.json --report {path}"));
        assert_eq!(got.status.code(), Some(2), "{path}");
        assert!(complaints(&got).contains(what), "{path}");
    }
    // What to do fits what is wrong.
    std::fs::create_dir(folder.0.join("taken")).unwrap();
    for (path, help) in [
        ("none/page.html", "make the folder first, or choose one that is there"),
        ("taken", "choose a name that no folder has"),
    ] {
        let errors =
            fails_in_json(&folder, &format!("estimate swing.bvh -o rig.json --report {path}"));
        assert_eq!(errors[0]["help"], help, "{errors:?}");
    }
}

/// The demo's figure, whose left elbow goes to and fro between what it does in the first 50 frames.
fn stiff(folder: &Folder) -> String {
    folder.condyle("demo -o demo");
    let text = folder.read("demo/figure.bvh");
    let (head, motion) = text.split_once("MOTION").unwrap();
    // Channels in the order of the joints.
    let (mut column, mut elbow, mut name) = (0, 0..0, "");
    for line in head.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["JOINT" | "ROOT", joint] => name = joint,
            ["CHANNELS", count, ..] => {
                let next = column + count.parse::<usize>().unwrap();
                if name == "LeftForeArm" {
                    elbow = column..next;
                }
                column = next;
            }
            _ => {}
        }
    }
    assert!(!elbow.is_empty());
    let (rows, others): (Vec<&str>, Vec<&str>) =
        motion.lines().partition(|line| line.split_whitespace().count() == column);
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.split_whitespace().collect()).collect();
    let mut text = format!("{head}MOTION{}\n", others.join("\n"));
    for (i, row) in rows.iter().enumerate() {
        let from = &rows[50_usize.abs_diff(i % 100)];
        let word = |k: usize| if elbow.contains(&k) { from[k] } else { row[k] };
        let row: Vec<&str> = (0..column).map(word).collect();
        let _ = writeln!(text, "{}", row.join(" "));
    }
    text
}

#[test]
fn left_and_right_are_compared_and_with_symmetrise_one() {
    let folder = Folder::new("estimate_symmetry");
    let text = stiff(&folder);
    folder.write("stiff.bvh", &text);
    let got = folder.condyle("estimate stiff.bvh -o plain.json");
    let out = String::from_utf8(got.stdout).unwrap();
    let at = out.find("Left and right differ").unwrap_or_else(|| panic!("{out}"));
    let first = out[at..].lines().nth(1).unwrap();
    assert!(first.starts_with("  LeftForeArm, RightForeArm: "), "{out}");
    assert!(first.contains("right goes "), "{out}");
    let plain = json(&folder, "estimate --json stiff.bvh -o plain.json");
    let pair = plain["symmetry"].as_array().unwrap().iter().find(|p| p["left"] == "LeftForeArm");
    let by = |side: &str| pair.unwrap()[side].as_f64().unwrap();
    assert!(by("right_beyond_deg") > 20.0 && by("left_beyond_deg") < 5.0, "{pair:?}");
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
    assert!(!out.contains("Explored of the published ranges"), "{out}");
    for bind in ["", " --bind 40"] {
        let found =
            json(&folder, &format!("estimate --json stiff.bvh -o s.json --symmetrise{bind}"));
        let symmetry = found["symmetry"].as_array().unwrap();
        // Clavicle, shoulder, elbow, wrist, hip, knee, ankle and toes.
        assert_eq!(symmetry.len(), 8);
        for pair in symmetry {
            for by in ["left_beyond_deg", "right_beyond_deg"] {
                assert!(pair[by].as_f64().unwrap() < 1e-3, "{pair}");
            }
        }
        let [left, right] = ["LeftForeArm", "RightForeArm"].map(|name| &found["joints"][name]);
        assert_eq!(left["samples"], 2400, "{left}");
        assert_eq!(left["arcs"], right["arcs"], "{left} {right}");
        let entry = &rig(&folder, "s.json")["joints"]["LeftForeArm"];
        assert!(
            entry.to_string().contains("symmetrised: from the samples of both sides"),
            "{entry}"
        );
        assert_eq!(folder.condyle("check stiff.bvh --rig s.json").status.code(), Some(0));
    }
    // What is kept of a rig counts, not what was estimated anew.
    let kept = folder.read("s.json").replace("\"estimated\"", "\"edited\"");
    folder.write("kept.json", &kept);
    let got = folder.condyle("estimate stiff.bvh -o kept.json");
    assert!(!String::from_utf8_lossy(&got.stdout).contains("Left and right differ"), "{got:?}");
    let got = folder.condyle("estimate stiff.bvh -o s.json --symmetrise --fresh");
    let out = String::from_utf8(got.stdout).unwrap();
    assert!(out.contains("\nSymmetrised: ") && !out.contains("Left and right differ"), "{out}");
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
}

#[test]
fn published_ranges_are_told_where_names_are_known() {
    let folder = Folder::new("estimate_norms");
    folder.condyle("demo -o demo");
    let got = folder.condyle("estimate demo/figure.bvh -o rig.json --norms");
    let out = String::from_utf8(got.stdout).unwrap();
    let at = out.find("Explored of the published ranges").unwrap_or_else(|| panic!("{out}"));
    let knee = out[at..].lines().find(|l| l.contains("left knee (LeftLeg)")).unwrap();
    assert!(knee.contains("flexion ") && knee.contains(" of 0*..140, "), "{out}");
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
    let found = json(&folder, "estimate --json demo/figure.bvh -o rig.json");
    let norms = found["norms"].as_array().unwrap();
    let knee = norms.iter().find(|n| n["what"] == "left knee" && n["angle"] == "flexion").unwrap();
    assert_eq!(knee["joints"], serde_json::json!(["LeftLeg"]));
    let number = |field: &str| knee[field].as_f64().unwrap();
    let (low, high) = (number("lowest_deg").max(0.0), number("highest_deg").min(140.0));
    assert!((number("explored") - (high - low) / 140.0).abs() < 1e-3, "{knee}");
    assert!(
        (number("above_deg") - (number("highest_deg") - 140.0).max(0.0)).abs() < 1e-9,
        "{knee}"
    );
    assert!(knee["published"]["max_source"].as_str().is_some_and(|s| s.len() > 5), "{knee}");
    assert_eq!(knee["published"]["max_status"], "seen");
    // Of the lumbar spine flexion and extension are published as a sum only.
    let back = norms.iter().find(|n| n["what"] == "lumbar" && n["angle"] == "flexion").unwrap();
    for end in ["min", "max"] {
        assert_eq!(back["published"][format!("{end}_status")], "constructed", "{back}");
        let source = back["published"][format!("{end}_source")].as_str().unwrap();
        assert!(source.starts_with("constructed, "), "{source}");
    }
    assert!(out.contains("-19*..56*,") && out.contains("\n  * constructed from"), "{out}");
    // Names that no table has.
    folder.write("swing.bvh", &swinging(100));
    let found = json(&folder, "estimate --json swing.bvh -o swing.json");
    assert_eq!(
        (&found["norms"], &found["symmetry"]),
        (&serde_json::json!([]), &serde_json::json!([]))
    );
    let got = folder.condyle("estimate swing.bvh -o swing.json --norms");
    let out = String::from_utf8(got.stdout).unwrap();
    assert!(out.contains("  none: no table has the names of the joints"), "{out}");
}

#[test]
fn of_two_outputs_both_are_written_or_none() {
    let folder = Folder::new("estimate_none");
    folder.write("swing.bvh", &swinging(200));
    for (output, report) in [("no/rig.json", "page.html"), ("rig.json", "no/page.html")] {
        let got = folder.condyle(&format!("estimate swing.bvh -o {output} --report {report}"));
        let bad = if output.starts_with("no") { output } else { report };
        assert_eq!(got.status.code(), Some(2));
        assert!(complaints(&got).starts_with(&format!("{bad}: cannot be written: ")));
        assert_eq!(folder.names(), ["swing.bvh"]);
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_rig_stays_a_link() {
    let folder = Folder::new("estimate_link");
    folder.write("swing.bvh", &swinging(200));
    std::os::unix::fs::symlink("real.json", folder.0.join("link.json")).unwrap();
    for _ in 0..2 {
        let got = folder.condyle("estimate swing.bvh -o link.json");
        assert_eq!(got.status.code(), Some(0), "{}", complaints(&got));
        assert!(folder.0.join("link.json").is_symlink());
        assert_eq!(rig(&folder, "real.json")["joints"]["Leg"]["kind"], "hinge");
        assert_eq!(folder.names(), ["link.json", "real.json", "swing.bvh"]);
    }
}

/// The rest pose of a BVH file is in its offsets. Longer bones are no other pose.
#[test]
fn bones_that_point_another_way_at_rest_are_told() {
    let folder = Folder::new("estimate_rest");
    folder.write("first.bvh", &swinging(200));
    folder.write("bent.bvh", &swinging(200).replace("OFFSET 0 -80 0", "OFFSET 80 0 0"));
    folder.write("long.bvh", &swinging(180).replace("OFFSET 0 -80 0", "OFFSET 0 -50 5"));
    let value = json(&folder, "estimate --json first.bvh bent.bvh -o rig.json");
    let warning = value["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("bent.bvh: the bone to \"Foot\" (90°) points another way"),
        "{warning}"
    );
    assert!(warning.contains("estimate it apart"), "{warning}");
    let value = json(&folder, "estimate --json first.bvh long.bvh -o long.json");
    assert_eq!(value["warnings"], Value::Array(Vec::new()));
}

/// Through links, and in another spelling.
#[cfg(unix)]
#[test]
fn what_is_read_is_never_written_over() {
    let folder = Folder::new("estimate_inputs");
    let motion = swinging(200);
    folder.write("swing.bvh", &motion);
    folder.write("named.json", &motion);
    std::fs::create_dir(folder.0.join("sub")).unwrap();
    for link in ["link.json", "link.html", "link.cst"] {
        std::os::unix::fs::symlink("swing.bvh", folder.0.join(link)).unwrap();
    }
    for args in [
        "estimate swing.bvh -o rig.json --report link.html",
        "estimate swing.bvh -o link.json --fresh",
        "estimate named.json -o sub/../named.json --fresh",
        "estimate named.json -o rig.json --report sub/../named.json",
        "estimate swing.bvh -o rig.html --report sub/../rig.html",
        "corpus . -o link.json --fresh",
        "stats swing.bvh -o link.cst",
    ] {
        let got = folder.condyle(args);
        // Two outputs of one name, which is not there, are seen when they are written.
        assert_eq!(got.status.code(), Some(2), "{args}: {}", complaints(&got));
        for name in ["swing.bvh", "named.json"] {
            let there = std::fs::read_to_string(folder.0.join(name)).unwrap();
            assert!(there == motion, "{args}: {name}");
        }
        assert!(!folder.0.join("rig.json").exists(), "{args}");
    }
}

/// A coupling that was written by hand stays, though the joint is of another kind now.
#[test]
fn a_coupling_of_an_angle_that_is_no_more_is_kept_with_a_warning() {
    let folder = Folder::new("estimate_coupling");
    folder.write("swing.bvh", &swinging(200));
    folder.write(
        "rig.json",
        r#"{"condyle": 1, "skeleton": {"joints": []}, "joints": {
  "Leg": {"kind": "ball", "bone_axis": [0, -1, 0], "limit": {"shape": "swing_twist",
    "swing": {"shape": "free"}, "twist": {"shape": "free"}}, "source": "estimated"}},
"couplings": {"mine": {"does": "bound", "active": {"joint": "Leg", "angle": "twist"},
    "passive": {"joint": "Foot", "angle": "turn"},
    "upper": {"shape": "points", "points": [[0, 90], [140, 120]]}, "source": "edited"}}}"#,
    );
    let got = folder.condyle("estimate swing.bvh -o rig.json");
    let err = complaints(&got);
    assert_eq!(got.status.code(), Some(0), "{err}");
    assert!(err.contains("couplings.mine.active.angle"), "{err}");
    assert!(err.contains("the hinge \"Leg\" has no angle \"twist\", but turn"), "{err}");
    let rig = rig(&folder, "rig.json");
    assert_eq!(rig["joints"]["Leg"]["kind"], "hinge");
    assert_eq!(rig["couplings"]["mine"]["active"]["angle"], "twist");
    // Known by now: told once, by the reader.
    let value = json(&folder, "estimate --json swing.bvh -o rig.json");
    assert_eq!(value["warnings"].as_array().unwrap().len(), 0, "{value}");
}

#[test]
fn the_size_of_no_person_is_told_as_info_tells_it() {
    let folder = Folder::new("estimate_size");
    let small = swinging(200).replace("-90", "-21.5").replace("-80", "-19");
    folder.write("small.bvh", &small);
    folder.write("again.bvh", &small);
    let info = json(&folder, "info --json small.bvh");
    let told = info["files"][0]["warnings"][0].as_str().unwrap_or_default().to_owned();
    assert!(told.contains("measures 0.555 m along its bones"), "{info}");
    let got = folder.condyle("estimate small.bvh again.bvh -o rig.json --json");
    let err = complaints(&got);
    assert_eq!(got.status.code(), Some(0), "{err}");
    assert!(err.contains(&told) && err.contains("; 1 more like this"), "{err}");
    let value: Value = serde_json::from_slice(&got.stdout).unwrap();
    let warning = value["warnings"][0].as_str().unwrap();
    assert!(warning.contains("small.bvh") && warning.contains(&told), "{value}");
    let right = folder.condyle("estimate small.bvh -o right.json --source-units 0.04");
    assert_eq!(complaints(&right), "");
}
