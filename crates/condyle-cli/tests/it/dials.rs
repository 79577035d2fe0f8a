//! `condyle dials`, `pose` and `fit`. Judged by forward kinematics of what was written.

use std::process::Output;

use condyle::formats::{ReadOptions, read_files};
use condyle::motion::WorldTracks;
use serde_json::Value;

use super::{Folder, complaints};

fn run(folder: &Folder, args: &[&str]) -> Output {
    folder.condyle(&args.join(" "))
}

fn json_of(folder: &Folder, args: &[&str]) -> Value {
    let out = run(folder, args);
    assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
    serde_json::from_slice(&out.stdout).unwrap()
}

#[test]
fn dials_are_listed_with_their_ranges_and_sources() {
    let folder = Folder::new("dials");
    let out = run(&folder, &["dials", "spine"]);
    assert_eq!(out.status.code(), Some(0));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("lumbar.flexion") && text.contains("White and Panjabi 1990"), "{text}");
    assert!(text.lines().take(12).all(|line| line.chars().count() <= 100));
    let all = json_of(&folder, &["dials", "body", "--json"]);
    let dials = all["dials"].as_array().unwrap();
    assert_eq!(dials.len(), 44);
    for dial in dials {
        let [min, max, rest] = ["min", "max", "rest"].map(|f| dial[f].as_f64().unwrap());
        assert!(min <= rest && rest <= max && dial["unit"] == "deg", "{dial}");
    }
    let out = run(&folder, &["dials", "spin"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(complaints(&out).contains("spine, shoulder, knee, body"), "{}", complaints(&out));
    folder.write("plain.json", r#"{"condyle": 1, "skeleton": {"joints": []}, "joints": {}}"#);
    let out = run(&folder, &["dials", "plain.json"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(complaints(&out).contains("the rig has no dials"));
}

/// Where a joint of a file is in a frame.
fn place(folder: &Folder, file: &str, joint: &str, frame: usize) -> condyle::glam::DVec3 {
    let files = [folder.0.join(file)];
    let (_, read) = read_files(&files, &ReadOptions::default()).next().unwrap();
    let file = read.unwrap().file;
    let world = WorldTracks::of(&file.skeleton, file.clip.as_ref().unwrap());
    world.position_m(file.skeleton.find(joint).unwrap(), frame)
}

#[test]
fn d13_a_pose_is_set_in_degrees_and_what_is_beyond_is_refused() {
    let folder = Folder::new("pose");
    let set = ["--set", "lumbar.flexion=40"];
    let out = run(&folder, &["pose", "spine", set[0], set[1], "-o", "bent.bvh"]);
    assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
    let out = run(&folder, &["pose", "spine", "-o", "rest.bvh"]);
    assert_eq!(out.status.code(), Some(0));
    let (bent, rest) =
        (place(&folder, "bent.bvh", "Head", 0), place(&folder, "rest.bvh", "Head", 0));
    assert!(bent.z > rest.z + 0.2 && bent.y < rest.y - 0.05, "{bent} {rest}");

    for (given, says) in [
        ("lumbar.flexion=95", "it goes from -24.67 to 49.33 deg"),
        ("lumbar.flexoin=5", "near are \"lumbar.flexion\""),
        ("lumbar.flexion", "DIAL=VALUE"),
        ("lumbar.flexion=nan", "is no number"),
        ("lumbar.flexion=1e300", "cannot be 1.00e300: it goes from"),
    ] {
        let out = run(&folder, &["pose", "spine", "--set", given, "-o", "no.bvh"]);
        assert_eq!(out.status.code(), Some(2));
        assert!(complaints(&out).contains(says), "{}", complaints(&out));
        assert!(!folder.0.join("no.bvh").exists());
    }
    let most = ["--set", "lumbar.flexion=95", "--clamp"];
    let out = run(&folder, &["pose", "spine", most[0], most[1], most[2], "-o", "most.bvh"]);
    assert_eq!(out.status.code(), Some(0));
    let end = ["--set", "lumbar.flexion=49.33"];
    run(&folder, &["pose", "spine", end[0], end[1], "-o", "end.bvh"]);
    let (a, b) = (place(&folder, "most.bvh", "Head", 0), place(&folder, "end.bvh", "Head", 0));
    assert!(a.distance(b) < 1e-6);
}

#[test]
fn d11_json_has_matrices_for_skinning_and_what_holds() {
    let folder = Folder::new("skinning");
    let set = ["--set", "right.arm.elevation=120", "--set", "right.clavicle.elevation=-5"];
    let args = ["pose", "shoulder", set[0], set[1], set[2], set[3], "--json"];
    let pose = json_of(&folder, &args);
    let held = pose["held"].as_array().unwrap();
    assert_eq!(held.len(), 1, "{held:?}");
    assert_eq!(held[0]["part"], "right_lift");
    assert!((held[0]["given"].as_f64().unwrap() - 9.0).abs() < 1e-6);
    let joints = pose["joints"].as_array().unwrap();
    assert_eq!(joints.len(), 4);
    // The arm's own origin at rest goes to where it is.
    let rest = json_of(&folder, &["pose", "shoulder", "--json"]);
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    for (joint, at_rest) in joints.iter().zip(rest["joints"].as_array().unwrap()) {
        let (from, to) = (numbers(&at_rest["position_m"]), numbers(&joint["position_m"]));
        for (k, row) in joint["skinning"].as_array().unwrap().iter().take(3).enumerate() {
            let row = numbers(row);
            let there = row[0] * from[0] + row[1] * from[1] + row[2] * from[2] + row[3];
            assert!((there - to[k]).abs() < 1e-12);
        }
    }
}

/// Row D12: from dials to motion and back, and through a page.
#[test]
fn d12_motion_becomes_dials_and_dials_motion() {
    let folder = Folder::new("fit");
    let table = "time_s,lumbar.flexion_deg,thoracic.axial_deg\n0,0,0\n0.05,10,5\n0.1,20,-7.5\n";
    folder.write("keys.csv", table);
    let out = run(&folder, &["pose", "spine", "--dials", "keys.csv", "-o", "keys.bvh"]);
    assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
    let out = run(
        &folder,
        &[
            "fit",
            "keys.bvh",
            "--rig",
            "spine",
            "-o",
            "again.bvh",
            "--dials",
            "again.csv",
            "--report",
            "page.html",
        ],
    );
    assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
    let again = folder.read("again.csv");
    let rows: Vec<Vec<f64>> = again
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    for (row, wanted) in rows.iter().zip([[0.0, 0.0, 0.0], [0.05, 10.0, 5.0], [0.1, 20.0, -7.5]]) {
        assert!((row[0] - wanted[0]).abs() < 1e-6);
        assert!((row[1] - wanted[1]).abs() < 1e-3 && (row[6] - wanted[2]).abs() < 1e-3, "{row:?}");
    }
    for frame in 0..3 {
        let (a, b) =
            (place(&folder, "keys.bvh", "Head", frame), place(&folder, "again.bvh", "Head", frame));
        assert!(a.distance(b) < 1e-4);
    }
    assert!(folder.read("page.html").contains("Dials over time"));
    // Of another skeleton: the demo's figure, by its anatomy.
    assert_eq!(run(&folder, &["demo", "-o", "demo"]).status.code(), Some(0));
    let args = ["fit", "demo/walk.bvh", "--rig", "body", "-o", "walk.csv", "--json"];
    let found = json_of(&folder, &args);
    assert_eq!(found["retargeted"], true);
    let thigh = found["joints"]["LeftThigh"]["rms_deg"].as_f64().unwrap();
    assert!(thigh < 5.0, "{thigh}");
    let out = run(&folder, &["pose", "body", "--dials", "walk.csv", "-o", "walk.bvh"]);
    assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
    // What is no motion of a body.
    folder.write("door.bvh", super::WALK);
    let out = run(&folder, &["fit", "door.bvh", "--rig", "body", "-o", "door.csv"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(complaints(&out).contains("docs/anatomy.md"));
    // Files that are something else.
    for args in [
        &["fit", "keys.bvh", "--rig", "spine", "-o", "keys.bvh"][..],
        &["fit", "keys.bvh", "--rig", "spine", "-o", "x.csv", "--dials", "x.csv"],
        &["pose", "spine", "--dials", "keys.csv", "-o", "keys.csv"],
        &["pose", "spine", "--set", "lumbar.flexion=1"],
    ] {
        assert_eq!(run(&folder, args).status.code(), Some(2), "{args:?}");
    }
    assert_eq!(folder.read("keys.csv"), table);
    folder.write("bad.csv", "time_s,lumbar.flexion_deg\n0,99\n");
    let out = run(&folder, &["pose", "spine", "--dials", "bad.csv", "-o", "bad.bvh"]);
    assert!(complaints(&out).contains("cannot be 99 in frame 0"), "{}", complaints(&out));
}

#[test]
fn what_is_wrong_with_maps_is_told_with_its_line_and_one_help() {
    let folder = Folder::new("maps-errors");
    let knee = condyle::models::find("knee").unwrap().write().unwrap();
    let knee = String::from_utf8(knee).unwrap();
    let line = knee.lines().position(|line| line.contains("\"does\": \"turn\"")).unwrap();
    let angle = knee.lines().skip(line).find(|line| line.contains("\"angle\":")).unwrap();
    let name = angle.split('"').nth(3).unwrap();
    let wrong = angle.replace(name, &format!("{name}x"));
    folder.write("knee.json", &knee.replacen(angle, &wrong, 1));
    let at = 1 + knee.lines().position(|line| line == angle).unwrap();
    let out = run(&folder, &["dials", "knee.json"]);
    assert_eq!(out.status.code(), Some(2));
    let told = complaints(&out);
    assert!(told.starts_with(&format!("knee.json:{at}:")), "{told}");
    assert!(told.contains(": maps.parts.") && told.contains(".angle: there is no dial"), "{told}");
    assert_eq!(told.matches("help: ").count(), 1, "{told}");
}

#[test]
fn d11_dials_on_standard_output_and_what_does_not_go_together() {
    let folder = Folder::new("dials-out");
    let keys = "time_s,lumbar.flexion_deg,lumbar.axial_deg,\n0,0,0,\n0.02,10,5,\n0.04,20,4,\n";
    folder.write("keys.csv", keys);
    let out = run(&folder, &["pose", "spine", "--dials", "keys.csv", "-o", "keys.bvh"]);
    assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
    // The table, as in a file, and what was found on standard error.
    let out = run(&folder, &["fit", "keys.bvh", "--rig", "spine", "-o", "-"]);
    assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
    let told = complaints(&out);
    assert!(told.contains("3 frames, 9 dials"), "{told}");
    let table = String::from_utf8(out.stdout).unwrap();
    run(&folder, &["fit", "keys.bvh", "--rig", "spine", "-o", "same.csv"]);
    assert_eq!(table, folder.read("same.csv"));
    assert!(table.starts_with("time_s,lumbar.flexion_deg,") && table.lines().count() == 4);
    let out = run(&folder, &["fit", "keys.bvh", "--rig", "spine", "-o", "-", "--to", "bvh"]);
    assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
    assert!(out.stdout.starts_with(b"HIERARCHY"));
    for (args, says) in [
        (
            &["fit", "keys.bvh", "--rig", "spine", "-o", "no.csv", "--to", "bvh"][..],
            "--to is for motion",
        ),
        (
            &[
                "pose",
                "spine",
                "--set",
                "lumbar.axial=3",
                "--set",
                "lumbar.axial=4.5",
                "-o",
                "no.bvh",
            ],
            "\"lumbar.axial\" is set twice: to 3 and to 4.5",
        ),
    ] {
        let out = run(&folder, args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(complaints(&out).contains(says), "{}", complaints(&out));
        assert!(!folder.0.join("no.bvh").exists() && !folder.0.join("no.csv").exists());
    }
}

/// Row D11: of a table all frames are told, in JSON each with its joints, and over all of them what is held.
#[test]
fn d11_json_of_a_table_has_all_frames_and_what_is_held_over_them() {
    let folder = Folder::new("pose-frames");
    let table = "right.arm.elevation,right.clavicle.elevation\n0,0\n120,-5\n90,20\n150,-5\n";
    folder.write("keys.csv", table);
    let all = json_of(&folder, &["pose", "shoulder", "--dials", "keys.csv", "--json"]);
    let frames = all["frames"].as_array().unwrap();
    assert_eq!((frames.len(), &all["fps"]), (4, &Value::from(30.0)));
    assert_eq!(all["units"]["right.arm.elevation"], "deg");
    let rows: Vec<Vec<f64>> = table
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    for (k, (frame, row)) in frames.iter().zip(&rows).enumerate() {
        assert_eq!(frame["dials"]["right.arm.elevation"], row[0]);
        // As the frame alone is, but for the branch of what slides, which is the same here.
        let set = format!("right.arm.elevation={}", row[0]);
        let other = format!("right.clavicle.elevation={}", row[1]);
        let alone =
            json_of(&folder, &["pose", "shoulder", "--set", &set, "--set", &other, "--json"]);
        assert_eq!(frame["held"], alone["held"], "{k}");
        for (a, b) in
            frame["joints"].as_array().unwrap().iter().zip(alone["joints"].as_array().unwrap())
        {
            for i in 0..3 {
                let [a, b] = [a, b].map(|of| of["position_m"][i].as_f64().unwrap());
                assert!((a - b).abs() < 1e-9, "{k}: {a} {b}");
            }
        }
    }
    let lift = &all["held"][0];
    assert_eq!((&lift["part"], &lift["frames"]), (&Value::from("right_lift"), &Value::from(2)));
    assert_eq!(lift["worst_frame"], 3);
    let out = run(&folder, &["pose", "shoulder", "--dials", "keys.csv", "-o", "x.bvh"]);
    let text = String::from_utf8(out.stdout).unwrap();
    let told = text.lines().find(|line| line.starts_with("right_lift holds")).unwrap();
    assert!(told.ends_with("(2 of 4 frames, worst in frame 3)"), "{text}");
    // A table on standard input, too; and a single pose as it was.
    let piped = folder.condyle_with("pose shoulder --dials - --json", table);
    assert_eq!(serde_json::from_slice::<Value>(&piped.stdout).unwrap(), all);
    let piped = folder.condyle_with("pose shoulder --dials - -o - --to bvh", table);
    assert!(piped.stdout.starts_with(b"HIERARCHY"), "{}", complaints(&piped));
    let one = json_of(&folder, &["pose", "shoulder", "--json"]);
    assert!(one["joints"].is_array() && one["dials"].is_object() && one.get("frames").is_none());
}

/// Row D13: what was brought into its range is told.
#[test]
fn d13_what_clamp_changed_is_told() {
    let folder = Folder::new("pose-clamp");
    folder.write("keys.csv", "lumbar.flexion\n10\n90\n");
    let args = ["pose", "spine", "--dials", "keys.csv", "--clamp"];
    let says = "lumbar.flexion: 90 deg brought to 49.33 deg (1 of 2 frames, worst in frame 1)";
    let out = run(&folder, &[&args[..], &["-o", "x.bvh"]].concat());
    assert!(complaints(&out).contains(&format!("note: {says}")), "{}", complaints(&out));
    let all = json_of(&folder, &[&args[..], &["--json"]].concat());
    assert_eq!(all["warnings"], serde_json::json!([says]));
    let set = ["pose", "spine", "--set", "lumbar.flexion=90", "--clamp", "--json"];
    let one = json_of(&folder, &set);
    let says = "lumbar.flexion: 90 deg brought to 49.33 deg";
    assert_eq!(one["warnings"], serde_json::json!([says]));
    // Nothing is said of what is inside.
    let set = ["pose", "spine", "--set", "lumbar.flexion=49.33", "--clamp", "--json"];
    assert_eq!(json_of(&folder, &set)["warnings"], serde_json::json!([]));
    // Without --clamp it is refused, with the line of the table.
    let out = run(&folder, &["pose", "spine", "--dials", "keys.csv", "-o", "no.bvh"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(complaints(&out).starts_with("keys.csv:3:1: dial"), "{}", complaints(&out));
}

/// Row D12: goals for joints become dials, which bring them about: judged by the file that comes out.
#[test]
fn d12_goals_become_dials_and_a_motion() {
    let folder = Folder::new("pose-goals");
    let posed = ["pose", "body", "--set", "right.arm.elevation=70", "--set", "right.arm.plane=60"];
    let posed = [&posed[..], &["--set", "right.elbow.flexion=50", "-o", "posed.bvh"]].concat();
    assert_eq!(run(&folder, &posed).status.code(), Some(0));
    let at = place(&folder, "posed.bvh", "RightHand", 0);
    let target = format!("[{}, {}, {}]", at.x, at.y, at.z);
    folder.write(
        "goals.json",
        &format!(
            r#"{{ "goals": [ {{ "joint": "RightHand", "position_m": [null, {target}] }} ] }}"#
        ),
    );
    let args = ["pose", "body", "--goals", "goals.json"];
    let out = run(&folder, &[&args[..], &["-o", "found.csv", "--report", "page.html"]].concat());
    assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("RightHand") && text.contains("worst"), "{text}");
    assert_eq!(folder.read("found.csv").lines().count(), 3);
    assert!(folder.read("page.html").contains("Dials over time"));
    // Through the table and a motion the hand is there, and in the first frame where it rests.
    let again = ["pose", "body", "--dials", "found.csv", "-o", "found.bvh"];
    assert_eq!(run(&folder, &again).status.code(), Some(0));
    assert!(place(&folder, "found.bvh", "RightHand", 1).distance(at) < 1e-3);
    let found = json_of(&folder, &[&args[..], &["--json"]].concat());
    assert_eq!(
        (&found["ok"], &found["goals"][0]["reached"]),
        (&Value::from(true), &Value::from(1))
    );
    assert_eq!(found["frames"].as_array().unwrap().len(), 2);
    // Out of reach: told, with exit code 1, and written all the same.
    let far = r#"{ "goals": [ { "joint": "RightHand", "position_m": [-3, 1, 0] } ] }"#;
    folder.write("far.json", far);
    let out = run(&folder, &["pose", "body", "--goals", "far.json", "-o", "far.bvh"]);
    assert_eq!(out.status.code(), Some(1), "{}", complaints(&out));
    assert!(folder.0.join("far.bvh").exists());
    // What dials do not do is refused, and so are goals for a skeleton that is not there.
    for (text, says) in [
        (far.replacen('{', r#"{ "root": "free","#, 1), "\"root\": \"free\" is for condyle ik"),
        (far.replacen("RightHand", "Hand", 1), "near are"),
        (far.replacen("position_m", "hold", 1), ""),
    ] {
        folder.write("bad.json", &text);
        let out = run(&folder, &["pose", "body", "--goals", "bad.json", "-o", "no.bvh"]);
        assert_eq!(out.status.code(), Some(2), "{text}");
        assert!(complaints(&out).contains(says), "{}", complaints(&out));
    }
    // Where limits are wanted, a rig that has maps only says what it is for.
    folder.write("walk.bvh", super::WALK);
    let body = condyle::models::text("body").unwrap();
    folder.write("body.json", body);
    for rig in ["body", "body.json"] {
        for args in [
            &["ik", "walk.bvh", "--rig", rig, "--goals", "far.json", "-o", "no.bvh"][..],
            &["check", "walk.bvh", "--rig", rig],
        ] {
            let out = run(&folder, args);
            assert_eq!(out.status.code(), Some(2), "{args:?}");
            let told = complaints(&out);
            assert!(told.contains("joint maps, and no limits") && told.contains("pose"), "{told}");
        }
    }
}

/// The document of a model.
fn document(model: &str) -> Value {
    let text = condyle::models::find(model).unwrap().write().unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Row D13: where no dials say what the pose does, that is told, and in which frames.
#[test]
fn d13_what_is_still_held_after_a_fit_is_counted() {
    let folder = Folder::new("fit-still-held");
    // The thigh turns with the dial that the straight knee does not let the shank have.
    let mut knee = document("knee");
    let turn = r#"{"does": "turn", "angle": "right.knee.rotation", "axis": [0, 1, 0],
                   "centers": [{"at_m": [0, 0, 0]}]}"#;
    knee["maps"]["parts"]["thigh_turn"] = serde_json::from_str(turn).unwrap();
    knee["maps"]["joints"]["RightThigh"] = "thigh_turn".into();
    folder.write("knee.json", &knee.to_string());
    folder.write("keys.csv", "time_s,right.knee.rotation_deg\n0,0\n0.05,20\n0.1,10\n");
    let out = run(&folder, &["pose", "knee.json", "--dials", "keys.csv", "-o", "keys.bvh"]);
    assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
    let args = ["fit", "keys.bvh", "--rig", "knee.json", "-o", "a.csv"];
    let found = json_of(&folder, &[&args[..], &["--json"]].concat());
    let held = found["held"].as_array().unwrap();
    assert_eq!(held.len(), 1, "{held:?}");
    let held = &held[0];
    assert_eq!((&held["number"], &held["unit"]), (&"right.knee.rotation".into(), &"deg".into()));
    assert_eq!((&held["frames"], &held["worst_frame"]), (&2.into(), &1.into()));
    let [wanted, given] = ["wanted", "given"].map(|key| held[key].as_f64().unwrap());
    assert!((wanted - 20.0).abs() < 0.01 && given.abs() < 0.01, "{held}");
    let told = complaints(&run(&folder, &args));
    let wanted =
        "holds right.knee.rotation at 0.00 deg instead of 20.00 (2 of 3 frames, worst in frame 1)";
    assert!(told.contains(wanted), "{told}");
}

/// Rows D12 and D13: each row of a fitted table is what its pose does, and the same figure as in the motion
/// that fit writes.
#[test]
fn d12_no_dial_of_a_fitted_table_is_held() {
    let folder = Folder::new("fit-held");
    assert_eq!(run(&folder, &["demo", "-o", "demo"]).status.code(), Some(0));
    let args =
        ["fit", "demo/walk.bvh", "--rig", "body", "-o", "a.bvh", "--dials", "a.csv", "--json"];
    let found = json_of(&folder, &args);
    assert_eq!(found["held"], serde_json::json!([]), "{}", found["held"]);
    assert_eq!(found["left_out"], serde_json::json!([]));
    let table = folder.read("a.csv");
    let mut lines = table.lines();
    let names = lines.next().unwrap();
    let rows: Vec<&str> = lines.collect();
    assert_eq!(found["frames"], rows.len());
    for frame in (0..rows.len()).step_by(rows.len() / 6 + 1) {
        folder.write("one.csv", &format!("{names}\n{}\n", rows[frame]));
        let pose = json_of(&folder, &["pose", "body", "--dials", "one.csv", "--json"]);
        assert_eq!(pose["held"], serde_json::json!([]), "{frame}");
        // Distances in the figure do not depend on where it is.
        let at = |name: &str| {
            let joints = pose["frames"][0]["joints"].as_array().unwrap();
            let joint = joints.iter().find(|joint| joint["name"] == name).unwrap();
            let place = joint["position_m"].as_array().unwrap();
            condyle::glam::DVec3::from_array([0, 1, 2].map(|k: usize| place[k].as_f64().unwrap()))
        };
        for (a, b) in [("LeftFoot", "RightHand"), ("LeftHand", "RightFoot"), ("Head", "LeftFoot")] {
            let written =
                place(&folder, "a.bvh", a, frame).distance(place(&folder, "a.bvh", b, frame));
            let off = (written - at(a).distance(at(b))).abs();
            // A BVH has some digits.
            assert!(off < 1e-5, "{frame}: {a} and {b} {off}");
        }
    }
}

#[test]
fn a_model_is_written_to_be_edited_and_read_again() {
    let folder = Folder::new("dials-model");
    for model in condyle::models::names() {
        let out = run(&folder, &["dials", model, "-o", "mine.json"]);
        assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
        assert_eq!(folder.read("mine.json"), condyle::models::text(model).unwrap());
        let [own, same] = [model, "mine.json"].map(|rig| run(&folder, &["dials", rig]).stdout);
        assert_eq!(own, same);
    }
    let out = run(&folder, &["dials", "knee", "-o", "-"]);
    assert_eq!(out.stdout, condyle::models::text("knee").unwrap().as_bytes());
    let out = run(&folder, &["dials", "mine.json", "-o", "mine.json"]);
    assert_eq!(out.status.code(), Some(2));
    let out = run(&folder, &["dials", "."]);
    assert!(complaints(&out).contains("a folder is no rig"), "{}", complaints(&out));
}

/// Files come together or not at all, and what is too long is refused before the work.
#[test]
fn a_pose_leaves_nothing_behind_if_a_file_cannot_be_written() {
    let folder = Folder::new("pose-whole");
    let args = ["pose", "spine", "-o", "pose.bvh", "--report", "nowhere/page.html"];
    let out = run(&folder, &args);
    assert_eq!(out.status.code(), Some(2));
    assert!(complaints(&out).contains("nowhere/page.html"), "{}", complaints(&out));
    assert_eq!(folder.names(), [""; 0]);
    // 26 joints: these are more frames than are posed at once.
    folder.write("long.csv", &("lumbar.axial\n".to_owned() + &"1\n".repeat(200_000)));
    let out = run(&folder, &["pose", "spine", "--dials", "long.csv", "-o", "long.bvh"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(complaints(&out).contains("more than is posed at once"), "{}", complaints(&out));
    assert_eq!(folder.names(), ["long.csv"]);
}

/// What a map of one's own does not say well is told.
#[test]
fn maps_of_ones_own_are_told_what_they_do_not_do() {
    let folder = Folder::new("pose-own");
    let rig = r#"{ "condyle": 1, "joints": {},
        "skeleton": { "joints": [ { "name": "A", "offset_m": [0, 0, 0] }, { "name": "B", "parent": "A", "offset_m": [0, 1, 0] } ] },
        "maps": {
            "dials": { "bend": { "unit": "angle", "min_deg": -90, "max_deg": 90 },
                       "idle": { "unit": "ratio", "min": 0, "max": 1 } },
            "parts": { "bent": { "does": "turn", "angle": "bend", "axis": [1, 0, 0], "rest_deg": 50,
                                 "centers": [ { "at_m": [0, 0, 0] } ] } },
            "joints": { "B": "bent" } } }"#;
    folder.write("own.json", rig);
    let out = run(&folder, &["dials", "own.json"]);
    assert!(complaints(&out).contains("dial \"idle\" moves no joint"), "{}", complaints(&out));
    let out = run(&folder, &["pose", "own.json", "-o", "own.bvh"]);
    let text = String::from_utf8(out.stdout.clone()).unwrap();
    assert!(text.contains("all dials are at rest; the map moves \"B\""), "{text}");
    assert!(complaints(&out).contains("dial \"idle\" moves no joint"), "{}", complaints(&out));
    folder.write("knee.json", condyle::models::text("knee").unwrap());
    let out = run(&folder, &["pose", "knee.json", "-o", "knee.bvh"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("all dials are at rest, and so is the figure"), "{text}");
}

/// A dial that is at its end all the time is told, in text and in JSON, and on the page with what was
/// captured and how far it is off.
#[test]
fn d12_dials_at_their_ends_and_residuals_are_told() {
    let folder = Folder::new("fit-ends");
    let table = "time_s,lumbar.flexion_deg\n0,10\n0.05,12\n0.1,14\n";
    folder.write("keys.csv", table);
    let out = run(&folder, &["pose", "spine", "--dials", "keys.csv", "-o", "keys.bvh"]);
    assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
    // A rig whose lumbar spine bends by 9 degrees at most.
    let mut spine = document("spine");
    spine["maps"]["dials"]["lumbar.flexion"]["max_deg"] = 9.into();
    folder.write("stiff.json", &spine.to_string());
    let page = ["fit", "keys.bvh", "--rig", "stiff.json", "-o", "a.csv", "--report", "a.html"];
    let out = run(&folder, &page);
    assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
    let text = String::from_utf8(out.stdout.clone()).unwrap();
    let line = text.lines().find(|line| line.contains("lumbar.flexion")).unwrap();
    assert!(line.trim_end().ends_with("100 %"), "{line}");
    assert!(
        complaints(&out).contains("\"lumbar.flexion\": at an end of the range"),
        "{}",
        complaints(&out)
    );
    let page = folder.read("a.html");
    assert!(page.contains("<title>keys on stiff</title>"));
    assert!(page.contains("How near it comes") && page.contains("what was captured"));
    assert!(page.contains("<h2>Warnings</h2>") && page.contains("at an end of the range"));
    let still = page.split("Still: ").nth(1).unwrap();
    assert!(!still.contains("lumbar.flexion"));
    let found =
        json_of(&folder, &["fit", "keys.bvh", "--rig", "stiff.json", "-o", "b.csv", "--json"]);
    let dial = &found["dials"]["lumbar.flexion"];
    assert_eq!((&dial["at_min_frames"], &dial["at_max_frames"]), (&0.into(), &3.into()));
    assert!(
        found["warnings"][0].as_str().unwrap().contains("lumbar.flexion"),
        "{}",
        found["warnings"]
    );
}

/// A motion with one joint more, and one of a whole body on the rig of a part; and what is missing if it is.
#[test]
fn d12_joints_are_found_by_name_and_others_left_out() {
    let folder = Folder::new("fit-names");
    let table = "time_s,lumbar.flexion_deg\n0,0\n0.05,10\n0.1,20\n";
    folder.write("keys.csv", table);
    for (rig, file) in [("spine", "spine.bvh"), ("body", "body.bvh")] {
        let out = run(&folder, &["pose", rig, "--dials", "keys.csv", "-o", file]);
        assert_eq!(out.status.code(), Some(0), "{}", complaints(&out));
    }
    // An ear with a channel of its own, at the end of the list of joints.
    let spine = folder.read("spine.bvh");
    let ear = "JOINT Ear\n{\nOFFSET 5 0 0\nCHANNELS 1 Zrotation\nEnd Site\n{\nOFFSET 1 0 0\n}\n}\n";
    let (tree, motion) = spine.split_once("MOTION").unwrap();
    let root = tree.trim_end().strip_suffix('}').unwrap();
    let mut rows: Vec<String> = motion.lines().map(str::to_owned).collect();
    let first = 1 + rows.iter().position(|line| line.starts_with("Frame Time")).unwrap();
    rows[first..].iter_mut().for_each(|row| *row += " 7");
    folder.write("eared.bvh", &format!("{root}{ear}}}\nMOTION{}\n", rows.join("\n")));
    for (file, left_out) in [("eared.bvh", "Ear"), ("body.bvh", "LeftClavicle")] {
        let found = json_of(&folder, &["fit", file, "--rig", "spine", "-o", "x.csv", "--json"]);
        assert_eq!(found["retargeted"], false);
        let others = found["left_out"].as_array().unwrap();
        assert_eq!(others[0], left_out, "{others:?}");
        let bent = &found["dials"]["lumbar.flexion"];
        assert!((bent["to"].as_f64().unwrap() - 20.0).abs() < 1e-3, "{bent}");
        let out = run(&folder, &["fit", file, "--rig", "spine", "-o", "x.csv"]);
        let told = complaints(&out);
        assert!(told.contains(&format!("does not have are left out: \"{left_out}\"")), "{told}");
    }
    folder.write("renamed.bvh", &folder.read("eared.bvh").replace("JOINT T4", "JOINT Brust"));
    let out = run(&folder, &["fit", "renamed.bvh", "--rig", "spine", "-o", "no.csv"]);
    let told = complaints(&out);
    assert_eq!(out.status.code(), Some(2), "{told}");
    assert!(told.contains("the motion has no joint \"T4\", 1 of the 24"), "{told}");
    assert!(told.contains("it has \"Pelvis\"") && told.contains("help: give the joints"), "{told}");
}

/// Lengths in another unit than was assumed, and a format that fit does not write: that before the work.
#[test]
fn fit_tells_of_another_unit_and_of_what_it_can_write() {
    let folder = Folder::new("fit-units");
    folder.write("keys.csv", "time_s,lumbar.flexion_deg\n0,0\n0.05,10\n");
    let args = ["pose", "spine", "--dials", "keys.csv", "-o", "m.bvh", "--units", "m"];
    assert_eq!(run(&folder, &args).status.code(), Some(0));
    let args = ["fit", "m.bvh", "--rig", "spine", "-o", "m.csv", "--json"];
    let warnings = json_of(&folder, &args)["warnings"].clone();
    let told = warnings[0].as_str().unwrap_or_default().to_owned();
    assert!(told.contains("m.bvh is 1/100 times as large as that of spine"), "{warnings}");
    assert!(told.ends_with("--source-units m would fit"), "{warnings}");
    let args = ["fit", "m.bvh", "--rig", "spine", "-o", "m.csv", "--json", "--source-units", "m"];
    assert_eq!(json_of(&folder, &args)["warnings"], serde_json::json!([]));
    for name in ["t.fbx", "t"] {
        let out = run(&folder, &["fit", "m.bvh", "--rig", "spine", "-o", name]);
        let told = complaints(&out);
        assert_eq!(out.status.code(), Some(2), "{told}");
        assert!(told.contains("help: use .csv for the dials, or .bvh"), "{told}");
    }
}
