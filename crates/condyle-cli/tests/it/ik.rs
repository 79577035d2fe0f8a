//! `condyle ik`. Judged by forward kinematics of what was written, and by `check`.

use std::fmt::Write as _;
use std::path::PathBuf;

use condyle::formats::{MotionFile, ReadOptions, read_files};
use condyle::glam::DVec3;
use condyle::math::Rotation;
use condyle::motion::WorldTracks;
use condyle::synth::{Figure, Options, Synth};
use serde_json::{Value, json};

use super::estimate::{fails_in_json, json as json_of};
use super::{Folder, complaints};

const FRAMES: usize = 20;

/// Hips with an arm that swings and bends, and with a leg that kicks.
fn arm() -> String {
    let mut text = "\
HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Arm
  {
    OFFSET 0 40 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT Fore
    {
      OFFSET 30 0 0
      CHANNELS 3 Zrotation Xrotation Yrotation
      JOINT Hand
      {
        OFFSET 25 0 0
        CHANNELS 3 Zrotation Xrotation Yrotation
        End Site
        {
          OFFSET 10 0 0
        }
      }
    }
  }
  JOINT Leg
  {
    OFFSET 0 -10 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT Foot
    {
      OFFSET 0 -40 0
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
    let _ = writeln!(text, "Frames: {FRAMES}\nFrame Time: 0.0083333");
    for i in 0..FRAMES {
        let bend = (400 + i) as f64 / 10.0;
        let kick = 2 * i;
        let _ = writeln!(text, "{i} 90 0 0 0 0 {i} 5 -{i} 0 0 -{bend} 0 3 0 0 {kick} 0 0 0 2");
    }
    text
}

const RIG: &str = r#"{
  "condyle": 1,
  "skeleton": { "joints": [] },
  "joints": {
    "Hips": { "kind": "free" },
    "Arm": { "kind": "ball", "bone_axis": [1, 0, 0], "x_axis": [0, 1, 0],
             "limit": { "shape": "swing_twist",
                        "swing": { "shape": "ellipse", "rx_deg": 80, "ry_deg": 70 },
                        "twist": { "shape": "arc", "min_deg": -60, "max_deg": 60 } } },
    "Fore": { "kind": "hinge", "axis": [0, 1, 0],
              "limit": { "shape": "arc", "min_deg": -140, "max_deg": 0 } },
    "Hand": { "kind": "ball" }, "Leg": { "kind": "ball" }, "Foot": { "kind": "ball" }
  }
}
"#;

/// A folder with the arm and its rig.
fn with_arm(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("arm.bvh", &arm());
    folder.write("rig.json", RIG);
    folder
}

/// A motion, and where its joints are.
struct Motion {
    file: MotionFile,
    world: WorldTracks,
}

impl Motion {
    fn read(folder: &Folder, names: &[&str]) -> Self {
        let paths: Vec<PathBuf> = names.iter().map(|name| folder.0.join(name)).collect();
        let (_, read) = read_files(&paths, &ReadOptions::default()).next().unwrap();
        let file = read.unwrap().file;
        let world = WorldTracks::of(&file.skeleton, file.clip.as_ref().unwrap());
        Self { file, world }
    }

    fn frames(&self) -> usize {
        self.file.clip.as_ref().unwrap().frame_count()
    }

    fn place(&self, joint: &str, frame: usize) -> DVec3 {
        self.world.position_m(self.file.skeleton.find(joint).unwrap(), frame)
    }

    fn turn(&self, joint: &str, frame: usize) -> Rotation {
        self.world.rotation(self.file.skeleton.find(joint).unwrap(), frame)
    }

    fn places(&self, joint: &str) -> Vec<DVec3> {
        (0..self.frames()).map(|frame| self.place(joint, frame)).collect()
    }
}

/// The rows of numbers of a BVH.
fn rows(folder: &Folder, name: &str) -> Vec<Vec<String>> {
    let text = folder.read(name);
    let rows = text.lines().skip_while(|line| !line.starts_with("Frame Time")).skip(1);
    rows.map(|row| row.split_whitespace().map(str::to_owned).collect()).collect()
}

fn vector(v: DVec3) -> Value {
    json!([v.x, v.y, v.z])
}

/// Where a point goes that follows another beside it.
fn beside(places: &[DVec3], by: DVec3) -> Vec<Value> {
    places.iter().map(|place| vector(*place + by)).collect()
}

fn write_goals(folder: &Folder, name: &str, goals: &Value) {
    folder.write(name, &goals.to_string());
}

#[track_caller]
fn code(folder: &Folder, args: &str, expected: i32) {
    let got = folder.condyle(args);
    let out = String::from_utf8_lossy(&got.stdout).into_owned();
    assert_eq!(got.status.code(), Some(expected), "{args}\n{out}{}", complaints(&got));
}

#[test]
fn goals_are_reached_inside_of_the_limits_and_the_rest_keeps_its_numbers() {
    let folder = with_arm("ik_reaches");
    let before = Motion::read(&folder, &["arm.bvh"]);
    let by = DVec3::new(-0.05, 0.04, 0.02);
    let targets = beside(&before.places("Hand"), by);
    let turn = before.turn("Hand", 3);
    write_goals(
        &folder,
        "goals.json",
        &json!({ "goals": [{ "joint": "Hand", "position_m": targets,
                             "orientation": turn.to_wxyz(), "weight": 2.0 }] }),
    );
    let args = "ik arm.bvh --rig rig.json --goals goals.json -o out.bvh";
    let got = folder.condyle(args);
    let out = String::from_utf8_lossy(&got.stdout).into_owned();
    assert_eq!(got.status.code(), Some(0), "{out}{}", complaints(&got));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "arm.bvh: 20 frames, 2 of 2 goals reached, 3 of 6 joints changed");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(lines[1]), "joint goal frames reached mean miss worst at frame");
    assert!(words(lines[3]).starts_with("Hand position 20 20 0.0"), "{out}");
    assert!(words(lines[4]).starts_with("Hand orientation 20 20 0.00° 0.00°"), "{out}");
    let after = Motion::read(&folder, &["out.bvh"]);
    for frame in 0..FRAMES {
        let miss = after.place("Hand", frame).distance(before.place("Hand", frame) + by);
        assert!(miss < 1e-4, "{frame}: {miss}");
        assert!(after.turn("Hand", frame).distance(turn).degrees() < 0.01, "{frame}");
    }
    code(&folder, "check out.bvh --rig rig.json", 0);
    // Root and leg were not asked.
    let (was, is) = (rows(&folder, "arm.bvh"), rows(&folder, "out.bvh"));
    for (was, is) in was.iter().zip(&is) {
        assert_eq!((&was[..6], &was[15..]), (&is[..6], &is[15..]));
        assert_ne!(was[6..15], is[6..15]);
    }
    // The other solver gets there, too, and both do the same each time.
    code(&folder, &format!("{args}x.bvh --solver cg").replace("out.bvhx", "cg"), 0);
    code(&folder, &args.replace("out", "again"), 0);
    assert_eq!(folder.read("out.bvh"), folder.read("again.bvh"));
}

#[test]
fn goals_that_are_reached_already_change_nothing() {
    let folder = with_arm("ik_nothing");
    let before = Motion::read(&folder, &["arm.bvh"]);
    let places = beside(&before.places("Hand"), DVec3::ZERO);
    write_goals(
        &folder,
        "goals.json",
        &json!({ "goals": [{ "joint": "Hand", "position_m": places }] }),
    );
    code(&folder, "ik arm.bvh --rig rig.json --goals goals.json -o out.bvh", 0);
    assert_eq!(rows(&folder, "arm.bvh"), rows(&folder, "out.bvh"));
    // Limits hold all the same: a joint that goals depend on and that is outside comes inside.
    folder.write("tight.json", &RIG.replace("-140", "-40.5"));
    code(&folder, "check arm.bvh --rig tight.json", 1);
    code(&folder, "ik arm.bvh --rig tight.json --goals goals.json -o out.bvh", 1);
    code(&folder, "check out.bvh --rig tight.json", 0);
}

#[test]
fn what_is_missed_is_told_and_written_all_the_same() {
    let folder = with_arm("ik_missed");
    let goals = json!({ "goals": [
        { "joint": "Hand", "position_m": [9, 1, 0] },
        { "joint": "Foot", "direction": { "axis": [0, 0, 1], "target": [0, 0, 2] } } ] });
    write_goals(&folder, "goals.json", &goals);
    let args = "ik arm.bvh --rig rig.json --goals goals.json -o out.bvh";
    let got = folder.condyle(args);
    let out = String::from_utf8_lossy(&got.stdout).into_owned();
    assert_eq!(got.status.code(), Some(1), "{out}");
    assert!(out.starts_with("arm.bvh: 20 frames, 1 of 2 goals reached, "), "{out}");
    let found = json_of(&folder, &format!("{args} --json"));
    assert_eq!((&found["ok"], &found["frames"]), (&json!(false), &json!(FRAMES)));
    let [hand, foot] = found["goals"].as_array().unwrap().as_slice() else { panic!("{found}") };
    let keys: Vec<&str> = hand.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["joint", "kind", "frames", "reached", "worst", "worst_frame", "mean", "unit"];
    assert_eq!(keys, expected);
    let told = |goal: &Value, key: &str| goal[key].as_str().unwrap().to_owned();
    assert_eq!(["joint", "kind", "unit"].map(|key| told(hand, key)), ["Hand", "position", "mm"]);
    assert_eq!(["joint", "kind", "unit"].map(|key| told(foot, key)), ["Foot", "direction", "deg"]);
    assert_eq!((&hand["reached"], &foot["reached"]), (&json!(0), &json!(FRAMES)));
    // The misses are those of what was written, and the arm is stretched out as far as it goes.
    let after = Motion::read(&folder, &["out.bvh"]);
    let misses: Vec<f64> = (0..FRAMES)
        .map(|f| 1e3 * after.place("Hand", f).distance(DVec3::new(9.0, 1.0, 0.0)))
        .collect();
    let mean = misses.iter().sum::<f64>() / FRAMES as f64;
    let worst = misses[hand["worst_frame"].as_u64().unwrap() as usize];
    assert!((mean - hand["mean"].as_f64().unwrap()).abs() < 1e-6);
    assert!((worst - hand["worst"].as_f64().unwrap()).abs() < 1e-6);
    assert!(misses.iter().all(|miss| *miss <= worst + 1e-6));
    for frame in 0..FRAMES {
        let reach = after.place("Hand", frame).distance(after.place("Arm", frame));
        assert!(reach > 0.549, "{frame}: {reach}");
    }
    code(&folder, "check out.bvh --rig rig.json", 0);
}

#[test]
fn limits_are_hard_unless_they_are_not_asked_for() {
    let folder = with_arm("ik_no_limits");
    // The elbow bends one way only, and the arm does not reach behind.
    let goals = json!({ "goals": [{ "joint": "Hand", "position_m": [-0.3, 1.3, 0.1] }] });
    write_goals(&folder, "goals.json", &goals);
    let args = "ik arm.bvh --rig rig.json --goals goals.json";
    code(&folder, &format!("{args} -o held.bvh --restarts 5"), 1);
    code(&folder, "check held.bvh --rig rig.json", 0);
    code(&folder, &format!("{args} -o free.bvh --no-limits"), 0);
    code(&folder, "check free.bvh --rig rig.json", 1);
    // Without limits no rig is needed, with them it is.
    code(&folder, "ik arm.bvh --no-limits --goals goals.json -o same.bvh", 0);
    assert_eq!(folder.read("free.bvh"), folder.read("same.bvh"));
    code(&folder, "ik arm.bvh --goals goals.json -o same.bvh", 2);
}

#[test]
fn locked_joints_and_fixed_roots_stay_and_free_roots_move() {
    let folder = with_arm("ik_lock");
    let far = json!([{ "joint": "Hand", "position_m": [1.5, 1.3, 0.0] }]);
    write_goals(&folder, "fixed.json", &json!({ "goals": far, "root": "fixed" }));
    write_goals(&folder, "free.json", &json!({ "goals": far, "root": "free" }));
    write_goals(
        &folder,
        "lock.json",
        &json!({ "goals": far, "root": "free", "lock": ["Arm", "Fore"] }),
    );
    let ik = |name: &str| format!("ik arm.bvh --rig rig.json --goals {name}.json -o {name}.bvh");
    code(&folder, &ik("fixed"), 1);
    code(&folder, &ik("free"), 0);
    code(&folder, &ik("lock"), 0);
    code(&folder, &format!("{} --root free --lock Arm,Fore", ik("fixed")), 0);
    assert_eq!(folder.read("fixed.bvh"), folder.read("lock.bvh"));
    let was = rows(&folder, "arm.bvh");
    for (was, is) in was.iter().zip(rows(&folder, "lock.bvh")) {
        assert_eq!(was[6..], is[6..], "only the root moves");
    }
    code(&folder, &format!("{} --root free", ik("lock").replace("lock", "free")), 0);
    let free = Motion::read(&folder, &["free.bvh"]);
    assert!(free.places("Hand").iter().all(|p| p.distance(DVec3::new(1.5, 1.3, 0.0)) < 1e-4));
    code(&folder, "check free.bvh --rig rig.json", 0);
    // All that matters is locked.
    code(&folder, &format!("{} --root fixed", ik("lock")), 1);
    assert_eq!(rows(&folder, "lock.bvh"), was);
    let got = folder.condyle(&format!("{} --lock fore", ik("fixed")));
    assert_eq!(got.status.code(), Some(2));
    assert!(complaints(&got).contains("near are \"Fore\""), "{}", complaints(&got));
}

#[test]
fn frames_without_a_goal_keep_their_numbers() {
    let folder = with_arm("ik_null");
    let before = Motion::read(&folder, &["arm.bvh"]);
    let mut targets = beside(&before.places("Hand"), DVec3::new(0.0, 0.05, 0.0));
    for (frame, target) in targets.iter_mut().enumerate() {
        if frame % 3 > 0 {
            *target = Value::Null;
        }
    }
    let goals = json!({ "goals": [{ "joint": "Hand", "position_m": targets }] });
    write_goals(&folder, "goals.json", &goals);
    let args = "ik arm.bvh --rig rig.json --goals goals.json -o out.bvh --json";
    let found = json_of(&folder, args);
    assert_eq!((&found["ok"], &found["goals"][0]["frames"]), (&json!(true), &json!(7)));
    let was = rows(&folder, "arm.bvh");
    for (frame, (was, is)) in was.iter().zip(rows(&folder, "out.bvh")).enumerate() {
        assert_eq!(*was == is, frame % 3 > 0, "{frame}");
        // The hand's own rotation has no say in where it is.
        assert_eq!(was[12..], is[12..], "{frame}");
    }
    // Of the frames that are asked for.
    let found = json_of(&folder, &format!("{args} --frames 6..8"));
    assert_eq!((&found["frames"], &found["goals"][0]["frames"]), (&json!(3), &json!(1)));
    for (frame, (was, is)) in was.iter().zip(rows(&folder, "out.bvh")).enumerate() {
        assert_eq!(*was == is, frame != 6, "{frame}");
    }
    let found = json_of(&folder, &format!("{args} --frames 18.."));
    assert_eq!((&found["frames"], &found["goals"][0]["worst_frame"]), (&json!(2), &json!(18)));
    let found = json_of(&folder, &format!("{args} --frames 19..19"));
    assert_eq!((&found["ok"], &found["goals"][0]["worst_frame"]), (&json!(true), &Value::Null));
    for bad in ["20..", "3..2", "3", "0..20", "-1..2", "..", "a..b"] {
        code(&folder, &format!("{args} --frames {bad}"), 2);
    }
}

#[test]
fn a_held_foot_stays_where_it_was_at_first() {
    let folder = with_arm("ik_hold");
    let toes = DVec3::new(0.0, -0.05, 0.1);
    let goals = json!({ "goals": [
        { "joint": "Foot", "hold": [[2, 6], [10, 10], [12, 19]] },
        { "joint": "Hand", "point_m": [0.1, 0, 0], "hold": [[4, 5]] } ], "root": "free" });
    write_goals(&folder, "goals.json", &goals);
    let args = "ik arm.bvh --rig rig.json --goals goals.json -o out.bvh --json";
    let found = json_of(&folder, args);
    assert_eq!(found["ok"], true, "{found}");
    assert_eq!(
        (&found["goals"][0]["kind"], &found["goals"][0]["frames"]),
        (&json!("hold"), &json!(14))
    );
    let [before, after] = ["arm.bvh", "out.bvh"].map(|name| Motion::read(&folder, &[name]));
    let slid = before.place("Foot", 2).distance(before.place("Foot", 6));
    assert!(slid > 0.05, "{slid}");
    for (first, last) in [(2, 6), (12, 19)] {
        for frame in first..=last {
            let off = after.place("Foot", frame).distance(before.place("Foot", first));
            assert!(off < 1e-4, "{frame}: {off}");
        }
    }
    let tip = |motion: &Motion, frame: usize| {
        motion.place("Hand", frame) + motion.turn("Hand", frame) * DVec3::new(0.1, 0.0, 0.0)
    };
    assert!(tip(&after, 5).distance(tip(&before, 4)) < 1e-4);
    let (was, is) = (rows(&folder, "arm.bvh"), rows(&folder, "out.bvh"));
    for frame in [0, 1, 7, 8, 9, 10, 11] {
        assert_eq!(was[frame], is[frame]);
    }
    // A point of the foot that is not its centre.
    let goals = json!({ "goals": [{ "joint": "Foot", "point_m": toes.to_array(),
                                    "hold": [[0, 19]] }] });
    write_goals(&folder, "toes.json", &goals);
    code(&folder, "ik arm.bvh --no-limits --goals toes.json -o toes.bvh --root free", 0);
    let after = Motion::read(&folder, &["toes.bvh"]);
    let at =
        |motion: &Motion, frame| motion.place("Foot", frame) + motion.turn("Foot", frame) * toes;
    assert!((0..FRAMES).all(|frame| at(&after, frame).distance(at(&before, 0)) < 1e-4));
}

#[test]
fn all_kinds_of_goals_can_be_given_for_all_frames_or_each() {
    let folder = with_arm("ik_kinds");
    let per_frame = |value: &dyn Fn(usize) -> Value| -> Vec<Value> {
        (0..FRAMES).map(|f| if f == 7 { Value::Null } else { value(f) }).collect()
    };
    let up = per_frame(&|f| json!([0.0, 1.0, 0.01 * f as f64]));
    let look = per_frame(&|_| json!({ "axis": [1, 0, 0], "target_m": [2, 3, 1] }));
    let meet = per_frame(&|_| json!({ "joint": "Leg", "point_m": [0.1, 0, 0] }));
    let goals = [
        ("Foot", json!({ "direction": { "axis": [0, 0, 1], "target": up } }), 19),
        ("Hand", json!({ "look_at": look, "point_m": [0.05, 0, 0] }), 19),
        ("Hand", json!({ "look_at": { "axis": [1, 0, 0], "target_m": [2, 3, 1] } }), 20),
        ("Hand", json!({ "meet": meet }), 19),
        ("Hand", json!({ "meet": { "joint": "Leg" }, "point_m": [0, -0.1, 0] }), 20),
        ("Hand", json!({ "orientation": [1, 0, 0, 0] }), 20),
    ];
    for (n, (joint, goal, frames)) in goals.into_iter().enumerate() {
        let mut goal = goal;
        goal["joint"] = json!(joint);
        write_goals(&folder, "goals.json", &json!({ "goals": [goal] }));
        let args = "ik arm.bvh --no-limits --goals goals.json --json --restarts 9";
        let found = json_of(&folder, &format!("{args} -o {n}.bvh"));
        assert_eq!((&found["ok"], &found["goals"][0]["frames"]), (&json!(true), &json!(frames)));
    }
    let foot = Motion::read(&folder, &["0.bvh"]);
    let off = foot.turn("Foot", 8) * DVec3::Z;
    assert!(off.distance(DVec3::new(0.0, 1.0, 0.08).normalize()) < 2e-3);
    let looking = Motion::read(&folder, &["1.bvh"]);
    let (turn, at) = (looking.turn("Hand", 0), looking.place("Hand", 0));
    let from = at + turn * DVec3::new(0.05, 0.0, 0.0);
    let off = (DVec3::new(2.0, 3.0, 1.0) - from).normalize().distance(turn * DVec3::X);
    assert!(off < 2e-3, "{off}");
    let met = Motion::read(&folder, &["3.bvh"]);
    let other = met.place("Leg", 9) + met.turn("Leg", 9) * DVec3::new(0.1, 0.0, 0.0);
    assert!(met.place("Hand", 9).distance(other) < 1e-3);
}

/// What is wrong, and what is told: where, and a part of the sentences.
const BAD: &[(&str, &str, &str)] = &[
    ("", "1:1: ", "the file is empty"),
    ("[1]", "1:1: ", "expected an object, found a list"),
    ("{\"goals\": [}", "1:12: goals[0]: ", "expected a value"),
    ("{}", "1:1: ", "\"goals\" is missing\n  help: add it; docs/ik.md"),
    ("{\"goals\": []}", "1:11: goals: ", "expected at least one goal, found 0"),
    ("{\"goals\": {}}", "1:11: goals: ", "expected a list, found an object"),
    ("{\"goals\": [7]}", "1:12: goals[0]: ", "expected an object, found a number"),
    (
        "{\"goals\": [], \"gaols\": 1}",
        "1:24: gaols: ",
        "unknown field \"gaols\"\n  help: is \"goals\" meant?",
    ),
    ("{\"goals\": [{\"position_m\": [0,0,0]}]}", "1:12: goals[0]: ", "\"joint\" is missing"),
    (
        "GOAL",
        "1:12: goals[0]: ",
        "does not say what the joint should do\n  help: give it one of position_m",
    ),
    ("GOAL, \"position_m\": 1", "goals[0].position_m: ", "expected a list, found a number"),
    ("GOAL, \"position_m\": null", "goals[0].position_m: ", "expected a list, found null"),
    ("GOAL, \"position_m\": []", "goals[0].position_m: ", "expected 3 numbers, found 0"),
    ("GOAL, \"position_m\": [1, 2]", "goals[0].position_m: ", "expected 3 numbers, found 2"),
    (
        "GOAL, \"position_m\": [1, \"2\", 3]",
        "goals[0].position_m[1]: ",
        "expected a number, found text",
    ),
    (
        "GOAL, \"position_m\": [1, 1e999, 3]",
        "goals[0].position_m[1]: ",
        "expected a finite number, found 1e999",
    ),
    (
        "GOAL, \"position_m\": [1, NaN, 3]",
        "goals[0].position_m[1]: ",
        "expected a value, found \"NaN\"",
    ),
    (
        "GOAL, \"position_m\": [[1, 2, 3]]",
        "goals[0].position_m: ",
        "1 entries for the 20 frames of the clip",
    ),
    ("GOAL, \"position_m\": [null, null]", "goals[0].position_m: ", "2 entries for the 20 frames"),
    ("GOAL, \"position_m\": EACH", "goals[0].position_m[19]: ", "expected 3 numbers, found 1"),
    (
        "GOAL, \"position\": [1, 2, 3]",
        "goals[0].position: ",
        "unknown field \"position\"\n  help: is \"position_m\" meant?",
    ),
    (
        "GOAL, \"speed\": [1, 2, 3]",
        "goals[0].speed: ",
        "unknown field \"speed\"\n  help: fields here are joint, weight",
    ),
    ("GOAL, \"orientation\": [0, 0, 0, 0]", "goals[0].orientation: ", "the vector is zero"),
    (
        "GOAL, \"orientation\": [0, 0, 1]",
        "goals[0].orientation: ",
        "expected 4 numbers: w, x, y, z, found 3",
    ),
    (
        "GOAL, \"position_m\": [1, 2, 3], \"weight\": 0",
        "goals[0].weight: ",
        "expected a number above zero, found 0",
    ),
    (
        "GOAL, \"position_m\": [1, 2, 3], \"weight\": -1",
        "goals[0].weight: ",
        "expected a number above zero, found -1",
    ),
    (
        "GOAL, \"position_m\": [1, 2, 3], \"point_m\": [1]",
        "goals[0].point_m: ",
        "expected 3 numbers, found 1",
    ),
    (
        "GOAL, \"position_m\": [1, 2, 3], \"joint\": \"Arm\"",
        "goals[0]: ",
        "\"joint\" appears a second time",
    ),
    ("GOAL, \"direction\": {\"axis\": [1, 0, 0]}", "goals[0].direction: ", "\"target\" is missing"),
    (
        "GOAL, \"direction\": {\"axis\": [0, 0, 0], \"target\": [1, 0, 0]}",
        "goals[0].direction.axis: ",
        "the vector is zero",
    ),
    (
        "GOAL, \"direction\": {\"axis\": [1, 0, 0], \"target\": [0, 0, 0]}",
        "goals[0].direction.target: ",
        "the vector is zero",
    ),
    (
        "GOAL, \"direction\": {\"axis\": [1, 0, 0], \"target_m\": [0, 0, 1]}",
        "goals[0].direction.target_m: ",
        "fields here are axis, target",
    ),
    ("GOAL, \"direction\": 5", "goals[0].direction: ", "expected a list, found a number"),
    (
        "GOAL, \"look_at\": {\"axis\": [1, 0, 0], \"target_m\": [[0, 0, 1]]}",
        "goals[0].look_at.target_m: ",
        "1 entries for the 20 frames",
    ),
    (
        "GOAL, \"meet\": {\"joint\": \"Hand\"}",
        "goals[0].meet.joint: ",
        "a joint cannot meet itself",
    ),
    (
        "GOAL, \"meet\": {\"joint\": \"Lag\"}",
        "goals[0].meet.joint: ",
        "no joint \"Lag\"\n  help: near are \"Leg\"",
    ),
    ("GOAL, \"hold\": [0, 3]", "goals[0].hold[0]: ", "expected a list, found a number"),
    ("GOAL, \"hold\": [[0]]", "goals[0].hold[0]: ", "expected 2 frames: first, last, found 1"),
    (
        "GOAL, \"hold\": [[3, 2]]",
        "goals[0].hold[0]: ",
        "the range from frame 3 to 2 ends before it begins",
    ),
    (
        "GOAL, \"hold\": [[3, 20]]",
        "goals[0].hold[0]: ",
        "from frame 3 to 20 is not in the 20 frames of the clip",
    ),
    (
        "GOAL, \"hold\": [[3, -1]]",
        "goals[0].hold[0][1]: ",
        "expected a whole number, not negative, found -1",
    ),
    ("GOAL, \"hold\": [[3, 1e99]]", "goals[0].hold[0][1]: ", "expected a whole number"),
    (
        "GOAL, \"hold\": [[3, 5], [5, 6]]",
        "goals[0].hold[1]: ",
        "begins before the one in front of it has ended",
    ),
    (
        "{\"goals\": [{\"joint\": \"hnad\", \"hold\": [[0, 1]]}]}",
        "1:22: goals[0].joint: ",
        "the clip has no joint \"hnad\"\n  help: near are \"Hand\"",
    ),
    (
        "{\"goals\": [{\"joint\": \"Whatever\", \"hold\": [[0, 1]]}]}",
        "goals[0].joint: ",
        "help: there are \"Hips\", \"Arm\", ",
    ),
    (
        "{\"goals\": [{\"joint\": 7, \"hold\": [[0, 1]]}]}",
        "goals[0].joint: ",
        "expected text, found a number",
    ),
    (
        "{\"lock\": [\"Arn\"], \"goals\": [{\"joint\": \"Hand\", \"hold\": [[0, 1]]}]}",
        "lock[0]: ",
        "near are \"Arm\"",
    ),
    (
        "{\"root\": \"loose\", \"goals\": [{\"joint\": \"Hand\", \"hold\": [[0, 1]]}]}",
        "1:10: root: ",
        "\"loose\" is no way to treat the root\n  help: use one of fixed, free",
    ),
];

#[test]
fn what_is_wrong_with_goals_is_told_with_its_place() {
    let folder = with_arm("ik_bad");
    let each = format!("[{}[1]]", "[1, 2, 3], ".repeat(19));
    for (text, place, what) in BAD {
        let mut text = text.replace("EACH", &each);
        if let Some(rest) = text.strip_prefix("GOAL") {
            text = format!("{{\"goals\": [{{\"joint\": \"Hand\"{rest}}}]}}");
        }
        folder.write("bad.json", &text);
        let args = "ik arm.bvh --rig rig.json --goals bad.json -o out.bvh";
        let got = folder.condyle(args);
        let err = complaints(&got);
        assert_eq!(got.status.code(), Some(2), "{text}\n{err}");
        assert!(err.starts_with("bad.json:1:") && err.contains(place), "{text}\n{err}");
        assert!(err.contains(what) && err.contains("\n  help: "), "{text}\n{err}");
        assert!(!folder.0.join("out.bvh").exists(), "{text}");
        let errors = fails_in_json(&folder, args);
        assert_eq!((&errors[0]["path"], &errors[0]["line"]), (&json!("bad.json"), &json!(1)));
    }
    // A quaternion of another length is a repair.
    folder.write("long.json", r#"{"goals": [{"joint": "Hand", "orientation": [2, 0, 0, 0]}]}"#);
    let got = folder.condyle("ik arm.bvh --rig rig.json --goals long.json -o out.bvh");
    assert_eq!(got.status.code(), Some(0));
    assert!(complaints(&got).contains("warning: long.json:1:45: goals[0].orientation: the length"));
    let strict = "ik arm.bvh --rig rig.json --goals long.json -o out.bvh --strict";
    let got = folder.condyle(strict);
    assert_eq!(got.status.code(), Some(2));
    assert!(complaints(&got).starts_with("long.json:1:45: goals[0].orientation: the length"));
    let errors = fails_in_json(&folder, strict);
    assert_eq!((&errors[0]["path"], &errors[0]["column"]), (&json!("long.json"), &json!(45)));
    // Numbers beyond all figures break nothing.
    let vast = json!({ "goals": [{ "joint": "Hand", "position_m": [1e308, -1e308, 1e200] },
                                 { "joint": "Foot", "position_m": [1e160, 0, 0],
                                   "weight": 1e300 }], "root": "free" });
    write_goals(&folder, "vast.json", &vast);
    code(&folder, "ik arm.bvh --rig rig.json --goals vast.json -o vast.bvh", 1);
    assert!(!folder.read("vast.bvh").contains("NaN"));
}

#[test]
fn goals_can_be_another_motion_or_markers() {
    let folder = with_arm("ik_motion");
    // The same, with the arm higher and the leg still.
    let raised: Vec<String> =
        arm().lines().map(|line| line.replace("OFFSET 0 40 0", "OFFSET 0 45 0")).collect();
    folder.write("other.bvh", &raised.join("\n"));
    code(&folder, "convert other.bvh other.trc", 0);
    code(&folder, "convert other.bvh other.amc", 0);
    code(&folder, "convert arm.bvh arm.amc", 0);
    let other = Motion::read(&folder, &["other.bvh"]);
    let ik = "ik arm.bvh --rig rig.json -o";
    for (n, goals) in
        ["other.bvh", "other.trc", "other.asf --goals other.amc"].into_iter().enumerate()
    {
        let joints = "--joints Hand,Fore --root free --source-fps 120";
        code(&folder, &format!("{ik} {n}.bvh --goals {goals} {joints}"), 0);
        let after = Motion::read(&folder, &[&format!("{n}.bvh")]);
        for frame in 0..FRAMES {
            let off = after.place("Hand", frame).distance(other.place("Hand", frame));
            assert!(off < 1e-4, "{goals} {frame}: {off}");
        }
        code(&folder, &format!("check {n}.bvh --rig rig.json"), 0);
    }
    // Of markers, all by default.
    let found = json_of(&folder, &format!("{ik} all.bvh --goals other.trc --json --root free"));
    assert_eq!(found["goals"].as_array().unwrap().len(), 6);
    // An AMC without an ASF is of the clip's skeleton, and motion of that format is written.
    let args = "ik arm.asf arm.amc --rig rig.json -o out.amc --goals arm.amc --joints Hand";
    code(&folder, args, 0);
    assert!(folder.0.join("out.asf").exists());
    let lines =
        |name: &str| folder.read(name).lines().skip(4).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines("arm.amc"), lines("out.amc"));
    write_goals(
        &folder,
        "goals.json",
        &json!({ "goals": [{ "joint": "Hand", "position_m": [0.4, 1.2, 0.2] }] }),
    );
    code(&folder, "ik arm.asf arm.amc --rig rig.json -o reach.amc --goals goals.json", 0);
    let after = Motion::read(&folder, &["reach.asf", "reach.amc"]);
    assert!(after.places("Hand").iter().all(|p| p.distance(DVec3::new(0.4, 1.2, 0.2)) < 1e-4));
    code(&folder, "check reach.asf reach.amc --rig rig.json", 0);
    // Standard output is the motion's, the table goes beside it.
    let got = folder.condyle("ik arm.bvh --rig rig.json -o - --goals goals.json");
    assert!(String::from_utf8(got.stdout).unwrap().starts_with("HIERARCHY"));
    assert!(String::from_utf8(got.stderr).unwrap().contains("1 of 1 goal reached"));
}

#[test]
fn motions_that_do_not_go_with_the_clip_are_refused() {
    let folder = with_arm("ik_misfit");
    code(&folder, "convert arm.bvh arm.trc", 0);
    code(&folder, "trim arm.bvh --frames 0..9 -o short.bvh", 0);
    code(&folder, "resample arm.bvh --fps 60 -o half.bvh", 0);
    folder.write("slow.bvh", &arm().replace("0.0083333", "0.0333333"));
    folder
        .write("names.trc", &folder.read("arm.trc").replace("Hand", "Paw").replace("Arm", "Wing"));
    folder.write("goals.json", r#"{"goals": [{"joint": "Hand", "hold": [[0, 3]]}]}"#);
    for (goals, what) in [
        ("arm.bvh", "arm.bvh does not say which joints are to follow it"),
        (
            "short.bvh --joints Hand",
            "short.bvh: 10 frames of goals for a clip of 20: frames 10 to 19 have none\n  help: leave \
             these frames out: condyle trim CLIP --frames 0..9 -o OUT",
        ),
        (
            "half.bvh --joints Hand",
            "help: they have another rate: condyle resample GOALS --fps 120",
        ),
        ("arm.bvh --joints Hnad", "the clip has no joint \"Hnad\"\n  help: near are \"Hand\""),
        ("names.trc --joints Hand", "names.trc: the goals have no \"Hand\""),
        ("goals.json --joints Hand", "--joints is for a motion"),
        ("nothing.json", "nothing.json: cannot be read"),
        ("nothing.bvh --joints Hand", "nothing.bvh"),
        ("arm.bvh --goals slow.bvh --joints Hand", "two inputs"),
        ("goals.json --goals goals.json", "--goals takes one document"),
        ("goals.json --goals arm.bvh --joints Hand", "--goals takes one document"),
    ] {
        let got = folder.condyle(&format!("ik arm.bvh --rig rig.json -o out.bvh --goals {goals}"));
        let err = complaints(&got);
        assert_eq!(got.status.code(), Some(2), "{goals}\n{err}");
        assert!(err.contains(what), "{goals}\n{err}");
    }
    // The advice leads somewhere: goals that are longer are cut, those of another rate resampled.
    let got =
        folder.condyle("ik short.bvh --rig rig.json -o out.bvh --goals arm.bvh --joints Hand");
    let err = complaints(&got);
    assert!(err.contains("frames 10 to 19 of them have no frame there"), "{err}");
    assert!(err.contains("condyle trim GOALS --frames 0..9 -o OUT"), "{err}");
    code(&folder, "ik short.bvh --rig rig.json -o cut.bvh --goals short.bvh --joints Hand", 0);
    code(&folder, "resample half.bvh --fps 120 -o whole.bvh", 0);
    let whole = "ik whole.bvh --rig rig.json -o cut.bvh --goals";
    let short = complaints(&folder.condyle(&format!("{whole} arm.bvh --joints Hand")));
    assert!(!short.contains("rate"), "{short}");
    // As many frames at another rate are told of, and taken.
    let slow = "ik arm.bvh --rig rig.json -o slowly.bvh --goals slow.bvh --joints Hand";
    let got = folder.condyle(slow);
    let notice = "slow.bvh: goals at 30 frames per second are for a clip at 120, frame by frame";
    assert_eq!(got.status.code(), Some(0));
    assert!(complaints(&got).contains(&format!("warning: {notice}")), "{}", complaints(&got));
    let found = json_of(&folder, &format!("{slow} --json"));
    assert_eq!(found["warnings"], json!([notice]));
    let names = folder.read("names.trc");
    let names =
        ["Hips", "Fore", "Leg", "Foot"].iter().fold(names, |text, name| text.replace(name, "x"));
    folder.write("none.trc", &names);
    let got = folder.condyle("ik arm.bvh --rig rig.json -o out.bvh --goals none.trc");
    assert!(complaints(&got).contains("no marker has the name of a joint"), "{}", complaints(&got));
    // What is read is not written over.
    for output in ["arm.bvh", "./arm.bvh", "goals.json", "rig.json"] {
        code(&folder, &format!("ik arm.bvh --rig rig.json --goals goals.json -o {output}"), 2);
    }
    code(&folder, "ik arm.trc --rig rig.json --goals goals.json -o out.bvh", 2);
    assert!(!folder.0.join("out.bvh").exists());
    for bad in ["--solver newton", "--posture -1", "--smooth inf", "--restarts x", "--root loose"] {
        let args = format!("ik arm.bvh --rig rig.json --goals goals.json -o out.bvh {bad}");
        code(&folder, &args, 2);
    }
}

#[test]
fn smoothness_takes_the_jump_out_of_the_end_of_a_goal() {
    let folder = with_arm("ik_smooth");
    let before = Motion::read(&folder, &["arm.bvh"]);
    let mut targets = beside(&before.places("Hand"), DVec3::ZERO);
    for target in targets.iter_mut().take(10) {
        *target = json!([0.35, 1.35, 0.1]);
    }
    let goals = json!({ "goals": [{ "joint": "Hand", "position_m": targets }] });
    write_goals(&folder, "goals.json", &goals);
    let jump = |name: &str| {
        let motion = Motion::read(&folder, &[name]);
        motion.place("Hand", 9).distance(motion.place("Hand", 10))
    };
    let args = "ik arm.bvh --rig rig.json --goals goals.json";
    code(&folder, &format!("{args} -o hard.bvh"), 0);
    code(&folder, &format!("{args} -o soft.bvh --smooth 0.5"), 1);
    assert!(jump("soft.bvh") < 0.5 * jump("hard.bvh"));
}

/// A figure with all of its joints, its limits estimated.
#[test]
fn hands_and_feet_of_a_made_figure_go_where_they_should() {
    let folder = Folder::new("ik_synth");
    let options = Options { frames: 90, ..Options::default() };
    let made = Synth::generate(&Figure::human(), &options, 7).unwrap();
    let file = MotionFile::new(made.skeleton, made.clip);
    let path = folder.0.join("made.bvh");
    condyle::formats::write_file(
        &path,
        &file,
        &Default::default(),
        &condyle::formats::Temporaries::new(),
    )
    .unwrap();
    code(&folder, "estimate made.bvh -o rig.json --margin 10 --outliers keep", 0);
    let before = Motion::read(&folder, &["made.bvh"]);
    let by = DVec3::new(0.01, 0.02, -0.01);
    let goal =
        |joint: &str| json!({ "joint": joint, "position_m": beside(&before.places(joint), by) });
    let joints = ["LeftHand", "RightHand", "LeftFoot", "RightFoot"];
    let goals = json!({ "goals": joints.map(goal), "root": "free" });
    write_goals(&folder, "goals.json", &goals);
    let args = "ik made.bvh --rig rig.json --goals goals.json -o out.bvh --json";
    let found = json_of(&folder, args);
    assert_eq!(found["ok"], true, "{found:#}");
    let after = Motion::read(&folder, &["out.bvh"]);
    for joint in joints {
        for (was, is) in before.places(joint).iter().zip(after.places(joint)) {
            assert!((*was + by).distance(is) < 1e-3);
        }
    }
    code(&folder, "check out.bvh --rig rig.json", 0);
    // The head has no part in it.
    let head = before.file.skeleton.find("Head").unwrap();
    let changed: Vec<&str> =
        found["changed_joints"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(!changed.contains(&before.file.skeleton[head].name.as_str()), "{changed:?}");
}

/// Real takes: hands and feet where they are in another take of the same frames, the first with limits
/// of its own.
#[test]
fn real_figures_follow_their_own_hands_and_feet() {
    let root = match std::env::var_os("CONDYLE_SHARED") {
        Some(path) => PathBuf::from(path),
        None => std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let data = root.join("data");
    if !data.exists() {
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: the real files of shared/data are not on this machine\n",
        );
        return;
    }
    let folder = Folder::new("ik_real");
    for (n, (files, joints)) in [
        (&["bvh/02_01.bvh"][..], "LeftHand,RightHand,LeftFoot,RightFoot"),
        (&["asf-amc/02.asf", "asf-amc/02_01.amc"][..], "lhand,rhand,lfoot,rfoot"),
    ]
    .into_iter()
    .enumerate()
    {
        let names: Vec<String> = files.iter().map(|f| data.join(f).display().to_string()).collect();
        let names = names.join(" ");
        let extension = if files.len() > 1 { "amc" } else { "bvh" };
        code(&folder, &format!("estimate {names} -o {n}.json --outliers keep"), 0);
        code(&folder, &format!("convert {names} {n}.trc"), 0);
        let args = format!(
            "ik {names} --rig {n}.json --goals {n}.trc --joints {joints} -o {n}.{extension} --json"
        );
        let found = json_of(&folder, &args);
        assert_eq!(found["ok"], true, "{names}: {found:#}");
        let written = if files.len() > 1 { format!("{n}.asf {n}.amc") } else { format!("{n}.bvh") };
        code(&folder, &format!("check {written} --rig {n}.json"), 0);
    }
}

#[test]
fn more_goals_than_can_be_solved_are_refused() {
    let folder = Folder::new("ik_many");
    assert!(folder.condyle("demo -o .").status.success());
    let goal = r#"{ "joint": "LeftHand", "position_m": [0, 1, 0] }"#;
    let goals = vec![goal; 9000].join(",");
    folder.write("many.json", &format!("{{ \"goals\": [{goals}] }}"));
    let got = folder.condyle("ik figure.bvh --rig rig.json --goals many.json -o out.bvh");
    let error = String::from_utf8(got.stderr).unwrap();
    assert_eq!(got.status.code(), Some(2), "{error}");
    assert!(error.contains("9000 goals"), "{error}");
    // What counts is what joints should do, not how it is written.
    let goal = r#"{ "joint": "LeftHand", "position_m": [0, 1, 0], "orientation": [1, 0, 0, 0],
        "direction": { "axis": [1, 0, 0], "target": [1, 0, 0] } }"#;
    folder.write("six.json", &format!("{{ \"goals\": [{}] }}", vec![goal; 43].join(",")));
    let told = |args: &str| {
        let got = folder.condyle(&format!("ik figure.bvh --rig rig.json -o out.bvh {args}"));
        assert_eq!(got.status.code(), Some(2), "{args}");
        complaints(&got)
    };
    let error = told("--goals six.json");
    assert!(
        error.contains("six.json:1:12: goals: there are 129 goals, and there may be 128"),
        "{error}"
    );
    // Of a motion, too.
    folder.condyle("convert figure.bvh figure.trc");
    let joints = vec!["LeftHand"; 129].join(",");
    for motion in ["figure.bvh", "figure.trc"] {
        let error = told(&format!("--goals {motion} --joints {joints}"));
        assert!(error.contains("there are 129 goals, and there may be 128"), "{error}");
        assert!(error.contains("help: say which joints matter: --joints"), "{error}");
    }
}

/// Goals are in metres, so that a figure that is read in a wrong unit makes them mean another.
#[test]
fn ik_notices_a_wrong_size() {
    let folder = with_arm("ik_size");
    let goals = json!({ "goals": [{ "joint": "Hand", "position_m": [0.3, 1.2, 0.1] }] });
    folder.write("goals.json", &goals.to_string());
    let fits = "the figure measures 0.170 m along its bones, which is no person's size in mm; \
                --source-units cm would fit";
    let run = "ik arm.bvh --rig rig.json --goals goals.json -o out.bvh";
    let told = |args: &str| String::from_utf8(folder.condyle(args).stderr).unwrap();
    assert!(!told(run).contains("size"));
    assert!(told(&format!("{run} --source-units mm")).contains(&format!("arm.bvh: {fits}")));
    // Once, though the output has another format, for which it is told anyway.
    let other = told(&format!("{run} --source-units mm").replace("out.bvh", "out.trc"));
    assert_eq!(other.matches("no person's size").count(), 1, "{other}");
    // So is that of the motion that goals are from.
    folder.write("other.bvh", &arm().replace("40 0", "400 0"));
    let follow = "ik arm.bvh --rig rig.json --goals other.bvh --joints Hand -o out.bvh";
    let other = told(follow);
    assert!(other.contains("other.bvh: the figure measures 8.900 m"), "{other}");

    for limits in ["--rig rig.json", "--no-limits"] {
        let run = format!("ik arm.bvh {limits} --goals goals.json -o out.bvh --json");
        let warnings = |args: &str| {
            let out = folder.condyle(args).stdout;
            serde_json::from_slice::<Value>(&out).unwrap()["warnings"].clone()
        };
        assert_eq!(warnings(&run), json!([]));
        assert_eq!(warnings(&format!("{run} --source-units mm")), json!([fits]));
    }
}

/// A goal that is absurdly far away does not make the table absurdly wide.
#[test]
fn ik_prints_absurd_misses_with_an_exponent() {
    let folder = with_arm("ik_absurd");
    let goals = json!({ "goals": [{ "joint": "Hand", "position_m": [1e200, 0, 0] }] });
    folder.write("goals.json", &goals.to_string());
    let got = folder.condyle("ik arm.bvh --rig rig.json --goals goals.json -o out.bvh");
    assert_eq!(got.status.code(), Some(1));
    let text = String::from_utf8(got.stdout).unwrap();
    assert!(text.contains(" 1.00e203 mm "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

/// What was not meant so is told: a goal of no frame, and one in another unit.
#[test]
fn goals_of_no_frame_and_in_centimetres_are_noticed() {
    let folder = with_arm("ik_notices");
    let nothing = vec![Value::Null; FRAMES];
    let mut late = nothing.clone();
    late[15] = json!([0.3, 1.2, 0.1]);
    let goals = json!({ "goals": [{ "joint": "Foot", "hold": [] },
                                  { "joint": "Hand", "position_m": nothing },
                                  { "joint": "Fore", "position_m": late },
                                  { "joint": "Hand", "position_m": [30, 120, 10] }] });
    write_goals(&folder, "goals.json", &goals);
    let run = "ik arm.bvh --rig rig.json --goals goals.json -o out.bvh --frames 0..9";
    let told = complaints(&folder.condyle(run));
    for what in [
        "warning: \"Foot\": hold has no goal in these frames",
        "warning: \"Hand\": position has no goal in these frames",
        "warning: \"Fore\": position has no goal in these frames",
        "times as far away as the figure is long; goals are in metres",
    ] {
        assert_eq!(told.matches(what).count(), 1, "{what}\n{told}");
    }
    let got = folder.condyle(&format!("{run} --json"));
    let found: Value = serde_json::from_slice(&got.stdout).unwrap();
    assert_eq!(found["warnings"].as_array().unwrap().len(), 4);
    // A document that is called otherwise is still one, after spaces and the mark of a byte order.
    let text = format!("\u{feff} \n {}", folder.read("goals.json"));
    folder.write("goals", &text);
    let run = run.replace("goals.json", "goals");
    assert_eq!(folder.condyle(&run).status.code(), Some(1));
}
