//! `condyle transform`, `trim`, `blend`, `match` and `connect`. Judged by reading what was written.

use std::path::{Path, PathBuf};

use condyle::edit::Facing;
use condyle::formats::{Format, MotionFile, ReadOptions, WriteOptions, read, write};
use condyle::glam::DVec3;
use condyle::math::Angle;
use condyle::motion::{Clip, FrameIndex, FrameRate, Pose, Track, farthest_apart_m};
use condyle::synth::Gait;

use super::estimate::json;
use super::{Folder, complaints};

fn bvh(gait: Gait, frames: usize, fps: f64) -> String {
    let (skeleton, clip) = gait.generate(frames, FrameRate::from_fps(fps).unwrap()).unwrap();
    let file = MotionFile::new(skeleton, clip);
    let mut written = write(&file, Format::Bvh, &WriteOptions::default()).unwrap();
    String::from_utf8(written.parts.remove(0).1).unwrap()
}

/// A walk of 150 frames that faces 170°, and a run of 130 that faces 50°.
fn gaits(name: &str) -> Folder {
    let folder = Folder::new(name);
    let walk = Gait { facing: Angle::from_degrees(170.0), ..Gait::default() };
    let run = Gait { speed_m_s: 2.4, steps_per_s: 2.6, down: 0.42, ..Gait::default() };
    folder.write("walk.bvh", &bvh(walk, 150, 100.0));
    let run = Gait { facing: Angle::from_degrees(50.0), ..run };
    folder.write("run.bvh", &bvh(run, 130, 100.0));
    folder
}

fn file(folder: &Folder, name: &str) -> MotionFile {
    read(folder.read(name).as_bytes(), None, &ReadOptions::default()).unwrap().file
}

fn rows(folder: &Folder, name: &str) -> Vec<String> {
    let text = folder.read(name);
    text.lines().skip_while(|l| !l.starts_with("Frame Time")).skip(1).map(str::to_owned).collect()
}

#[track_caller]
fn done(folder: &Folder, args: &str) {
    let got = folder.condyle(args);
    assert_eq!(got.status.code(), Some(0), "{}", String::from_utf8_lossy(&got.stderr));
}

#[test]
fn c3_transform_faces_and_starts_as_told_and_keeps_heights() {
    let folder = gaits("transform");
    done(&folder, "transform walk.bvh --facing -45 --at 1.5,-2 -o moved.bvh");
    let (old, new) = (file(&folder, "walk.bvh"), file(&folder, "moved.bvh"));
    let facing = Facing::of(&new.skeleton);
    let stand =
        |f: &MotionFile| facing.stand_in(&f.skeleton, f.clip.as_ref().unwrap(), FrameIndex(0));
    let (from, to) = (stand(&old), stand(&new));
    assert!((to.facing.degrees() + 45.0).abs() < 1e-4, "{to:?}");
    assert!((to.position_m.x - 1.5).abs() < 1e-6 && (to.position_m.z + 2.0).abs() < 1e-6);
    assert!((to.position_m.y - from.position_m.y).abs() < 1e-6);
    // And back again.
    let back = format!(
        "transform moved.bvh --facing {} --at {},{} -o back.bvh",
        from.facing.degrees(),
        from.position_m.x,
        from.position_m.z
    );
    done(&folder, &back);
    let back = file(&folder, "back.bvh");
    let apart = farthest_apart_m(
        (&old.skeleton, old.clip.as_ref().unwrap()),
        (&back.skeleton, back.clip.as_ref().unwrap()),
    );
    assert!(apart < 1e-6, "{apart}");
    let nothing = folder.condyle("transform walk.bvh -o x.bvh");
    assert_eq!(nothing.status.code(), Some(2));
}

/// A pose that faces ahead at the origin, in front of a walk that does not, for so many frames.
fn behind_a_pose(folder: &Folder, name: &str, held: usize) {
    let walk = file(folder, "walk.bvh");
    let (skeleton, clip) = (walk.skeleton, walk.clip.unwrap());
    let rest = Pose::rest(&skeleton);
    let still = skeleton
        .indices()
        .map(|j| Track::constant(rest.rotations[j.get()], rest.translations_m[j.get()]));
    let pose = Clip::new(held, clip.rate(), still.collect()).unwrap();
    let both = Clip::joined(&[&pose, &clip]).unwrap();
    let mut written =
        write(&MotionFile::new(skeleton, both), Format::Bvh, &WriteOptions::default()).unwrap();
    folder.write(name, &String::from_utf8(written.parts.remove(0).1).unwrap());
}

#[test]
fn motion_behind_a_pose_in_front_is_placed_by_its_own_first_frame() {
    let folder = gaits("transform_front");
    let stand = |name: &str, frame: usize| {
        let of = file(&folder, name);
        let frame = FrameIndex(u32::try_from(frame).unwrap());
        Facing::of(&of.skeleton).stand_in(&of.skeleton, &of.clip.unwrap(), frame)
    };
    for held in [1, 40] {
        behind_a_pose(&folder, "front.bvh", held);
        let (frame, from) = (held, stand("front.bvh", held));
        assert!((from.facing.degrees() - 170.0).abs() < 15.0, "{from:?}");
        for (options, at) in [("", frame), (" --speed 0.5", 2 * frame)] {
            let args = format!("transform front.bvh --facing 90 --at 1.5,-2{options} -o t.bvh");
            let got = folder.condyle(&args);
            let told = complaints(&got);
            assert_eq!(got.status.code(), Some(0), "{told}");
            let to = stand("t.bvh", at);
            assert!((to.facing.degrees() - 90.0).abs() < 1e-3, "{held}{options}: {to:?}");
            let place = to.position_m;
            assert!((place.x - 1.5).abs() < 1e-5 && (place.z + 2.0).abs() < 1e-5, "{to:?}");
            let says =
                format!("front of the motion, and the figure is placed by frame {at}, the first");
            assert!(told.contains(&says), "{told}");
        }
        // In a mirror it goes on from the same place in the same direction.
        done(&folder, "mirror front.bvh --in-place -o m.bvh");
        let to = stand("m.bvh", frame);
        let turned =
            (to.facing.degrees() - from.facing.degrees() + 540.0).rem_euclid(360.0) - 180.0;
        assert!(turned.abs() < 1e-3, "{from:?} {to:?}");
        assert!(to.position_m.distance(from.position_m) < 1e-5, "{from:?} {to:?}");
    }
    // Without one, nothing is said.
    let got = folder.condyle("transform walk.bvh --facing 90 -o t.bvh");
    assert!(!complaints(&got).contains("in front"), "{}", complaints(&got));
    let Some(data) = shared() else { return };
    for name in ["88_01", "90_02", "02_05"] {
        let path = data.join(format!("bvh/{name}.bvh"));
        let args = format!("transform {} --facing 90 --at 0,0 -o t.bvh", path.display());
        let got = folder.condyle(&args);
        let told = complaints(&got);
        assert!(told.contains("frame 0 is a pose in front of the motion"), "{name}: {told}");
        let to = stand("t.bvh", 1);
        assert!((to.facing.degrees() - 90.0).abs() < 1e-3, "{name}: {to:?}");
        assert!(to.position_m.with_y(0.0).length() < 1e-4, "{name}: {to:?}");
    }
}

/// What `docs/edit.md` quotes is what is said, and what it says of it is so.
#[test]
fn the_quoted_seam_is_that_of_the_demo() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/edit.md");
    let page = std::fs::read_to_string(page).unwrap();
    let folder = Folder::new("quoted_seam");
    done(&folder, "demo -o demo");
    let commands = page.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let args = commands.lines().find_map(|line| line.strip_prefix("condyle connect ")).unwrap();
    let got = folder.condyle(&format!("connect {args}"));
    assert_eq!(got.status.code(), Some(0), "{}", complaints(&got));
    let out = String::from_utf8(got.stdout).unwrap();
    let said: Vec<&str> = out.lines().map(str::trim_end).collect();
    let quoted = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(quoted.contains("seam"), "{quoted}");
    let quoted: Vec<&str> = quoted.lines().map(str::trim_end).collect();
    assert_eq!(quoted, said, "docs/edit.md quotes another seam than this one:\n{out}");
    let shown = json(&folder, &format!("connect {args} --json --force"));
    let seam = &shown["seams"][0];
    for told in [
        format!(
            "The walk is as it was up to frame {}, the run from its frame {} on",
            seam["from_frame"], seam["to_frame"]
        ),
        format!("The {} frames between are made", seam["out_frames"]),
    ] {
        assert!(page.contains(&told), "docs/edit.md does not say: {told}");
    }
}

#[test]
fn frames_that_are_kept_keep_their_numbers() {
    let folder = gaits("trim");
    let walk = rows(&folder, "walk.bvh");
    done(&folder, "trim walk.bvh --frames 10..19 -o part.bvh");
    assert_eq!(rows(&folder, "part.bvh"), walk[10..20]);
    done(&folder, "trim walk.bvh --seconds 0.5..0.6 -o part.bvh");
    assert_eq!(rows(&folder, "part.bvh"), walk[50..61]);
    done(&folder, "transform walk.bvh --reverse -o back.bvh");
    let back: Vec<String> = walk.iter().rev().cloned().collect();
    assert_eq!(rows(&folder, "back.bvh"), back);
    done(&folder, "transform walk.bvh --speed 2 -o fast.bvh");
    let fast: Vec<String> = walk.iter().step_by(2).cloned().collect();
    assert_eq!(rows(&folder, "fast.bvh"), fast);
    let err = complaints(&folder.condyle("trim walk.bvh --frames 100..150 -o x.bvh"));
    assert!(
        err.contains(
            "walk.bvh: frames 100 to 150 are asked for, and it takes 1.500 s (150 frames)"
        ),
        "{err}"
    );
}

#[test]
fn a_motion_blended_with_itself_is_itself_and_others_meet_in_the_middle() {
    let folder = gaits("blend");
    done(&folder, "blend walk.bvh walk.bvh walk.bvh --weights 1,2,0.5 -o same.bvh");
    let (a, b) = (file(&folder, "walk.bvh"), file(&folder, "same.bvh"));
    let apart = farthest_apart_m(
        (&a.skeleton, a.clip.as_ref().unwrap()),
        (&b.skeleton, b.clip.as_ref().unwrap()),
    );
    assert!(apart < 1e-6, "{apart}");
    // From the one to the other: the first frame is the walk's, the last the run's posture.
    done(&folder, "blend walk.bvh run.bvh --ease sine -o both.bvh");
    let both = rows(&folder, "both.bvh");
    assert_eq!(both.len(), 130);
    assert_eq!(file(&folder, "both.bvh").clip.unwrap().frame_count(), 130);
    let [walk, run] = ["walk.bvh", "run.bvh"].map(|n| file(&folder, n));
    let knee = walk.skeleton.find("LeftLeg").unwrap();
    let at = |f: &MotionFile, frame| f.clip.as_ref().unwrap().rotation(knee, FrameIndex(frame));
    let out = file(&folder, "both.bvh");
    assert!(at(&out, 0).distance(at(&walk, 0)).degrees() < 1e-4);
    assert!(at(&out, 129).distance(at(&run, 129)).degrees() < 1e-4);
    let err = complaints(&folder.condyle("blend walk.bvh run.bvh --weights 1 -o x.bvh"));
    assert!(err.contains("1 weight for 2 motions"), "{err}");
    let err = complaints(&folder.condyle("blend walk.bvh run.bvh --only Nose -o x.bvh"));
    assert!(err.contains("no joint \"Nose\""), "{err}");
}

#[test]
fn c4_match_finds_a_piece_again_and_lists_the_best_first() {
    let folder = gaits("match");
    let found = json(&folder, "match walk.bvh --frames 20..49 walk.bvh run.bvh --count 3 --json");
    let matches = found["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 3);
    assert_eq!(
        (matches[0]["path"].as_str(), matches[0]["frame"].as_u64()),
        (Some("walk.bvh"), Some(20))
    );
    assert!(matches[0]["distance"].as_f64().unwrap() < 1e-6);
    let distances: Vec<f64> = matches.iter().map(|m| m["distance"].as_f64().unwrap()).collect();
    assert!(distances.is_sorted());
    // A cycle takes a hundred frames.
    assert_eq!(matches[1]["frame"], 120);
    for metric in ["euler", "position"] {
        let args =
            format!("match walk.bvh --frames 20..49 run.bvh walk.bvh --metric {metric} --json");
        assert_eq!(json(&folder, &args)["matches"][0]["frame"], 20);
    }
    let err = complaints(&folder.condyle("match walk.bvh --frames 20..200 run.bvh"));
    assert!(
        err.contains("frames 20 to 200 are asked for, and it takes 1.500 s (150 frames)"),
        "{err}"
    );
    let err = complaints(&folder.condyle("match walk.bvh run.bvh --joints Nose"));
    assert!(err.contains("no joint \"Nose\""), "{err}");
}

#[test]
fn connect_keeps_the_first_up_to_the_seam_and_tells_where_it_is() {
    let folder = gaits("connect");
    let (walk, run) = (rows(&folder, "walk.bvh"), rows(&folder, "run.bvh"));
    for (method, matching) in [
        ("blend", "forward"),
        ("interpolate", "forward"),
        ("inertialize", "forward"),
        ("blend", "backward"),
        ("interpolate", "best"),
        ("inertialize", "best"),
    ] {
        let args = format!(
            "connect walk.bvh run.bvh -o out.bvh --json --method {method} --matching {matching} --plant"
        );
        let told = json(&folder, &args);
        let seam = &told["seams"][0];
        let number = |name: &str| usize::try_from(seam[name].as_u64().unwrap()).unwrap();
        let (from, to) = (number("from_frame"), number("to_frame"));
        let (start, end) = (number("out_start"), number("out_end"));
        assert!(seam["distance"].as_f64().unwrap() > 0.0);
        assert!(seam["worst_jump"]["ratio"].as_f64().unwrap() > 0.0);
        let out = rows(&folder, "out.bvh");
        assert_eq!(start, from + 1);
        assert_eq!(out.len(), end + 130 - to);
        assert_eq!(told["frames"], out.len());
        assert_eq!(out[..=from], walk[..=from], "{method} {matching}");
        // The run's joints have their numbers, its root is elsewhere.
        let tail = |row: &str| row.split_whitespace().skip(6).collect::<Vec<_>>().join(" ");
        for (got, want) in out[end..].iter().zip(&run[to..]) {
            assert_eq!(tail(got), tail(want), "{method} {matching}");
        }
        if matching == "forward" && method != "blend" {
            assert_eq!(from, 149);
        }
        if matching == "backward" {
            assert!(to < 45, "{to}");
        }
    }
}

#[test]
fn connect_takes_more_than_two_other_rates_and_stays_inside_limits() {
    let folder = gaits("connect_more");
    folder.write("slow.bvh", &bvh(Gait { phase: 0.3, ..Gait::default() }, 60, 50.0));
    done(&folder, "estimate walk.bvh run.bvh -o rig.json");
    let got = folder.condyle("connect walk.bvh slow.bvh run.bvh -o all.bvh --rig rig.json --json");
    let err = String::from_utf8(got.stderr).unwrap();
    assert_eq!(got.status.code(), Some(0), "{err}");
    assert!(err.contains("slow.bvh: resampled from 50 to 100 frames per second"), "{err}");
    let told: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    assert_eq!(told["seams"].as_array().unwrap().len(), 2);
    let frames = |k: usize, name: &str| told["seams"][k][name].as_u64().unwrap();
    assert!(frames(1, "out_start") > frames(0, "out_end"));
    assert!(frames(1, "from_frame") < 119);
    done(&folder, "check all.bvh --rig rig.json");
}

#[test]
fn a_chain_has_the_seams_of_its_pairs_and_tells_what_is_left_of_a_motion() {
    let folder = gaits("chain");
    done(&folder, "estimate walk.bvh run.bvh -o rig.json");
    for more in ["", " --rig rig.json", " --method interpolate --matching backward"] {
        let args = format!("connect walk.bvh run.bvh --plant --json -o two.bvh{more}");
        let pair = json(&folder, &args);
        let args =
            format!("connect walk.bvh run.bvh walk.bvh run.bvh --plant --json -o all.bvh{more}");
        let chain = json(&folder, &args);
        let (one, all) = (&pair["seams"][0], chain["seams"].as_array().unwrap());
        assert_eq!(all.len(), 3);
        for (name, told) in one.as_object().unwrap() {
            // Limits smooth the motion over some frames.
            if !(more.contains("rig") && told.is_f64()) {
                assert_eq!(&all[0][name], told, "{more}: {name}");
            }
        }
        // The frames before the second seam are those of the pair.
        let (two, out) = (rows(&folder, "two.bvh"), rows(&folder, "all.bvh"));
        assert_eq!(chain["frames"], out.len());
        let start = usize::try_from(all[1]["out_start"].as_u64().unwrap()).unwrap();
        assert!(more.contains("rig") || out[..start] == two[..start], "{more}");
        // What is between the seams has the numbers of its file.
        let tail = |row: &str| row.split_whitespace().skip(6).collect::<Vec<_>>().join(" ");
        let frame =
            |seam: usize, name: &str| usize::try_from(all[seam][name].as_u64().unwrap()).unwrap();
        let walk = rows(&folder, "walk.bvh");
        for k in frame(1, "to_frame")..=frame(2, "from_frame") {
            let got = &out[frame(1, "out_end") + k - frame(1, "to_frame")];
            assert!(more.contains("rig") || tail(got) == tail(&walk[k]), "{more}: {k}");
        }
        for seam in all {
            let [fast, usual] =
                ["pelvis_m_s", "usual_pelvis_m_s"].map(|n| seam[n].as_f64().unwrap());
            assert!(fast > 0.5 && fast < 1.5 * usual, "{more}: {fast} of {usual} m/s");
        }
    }
    for matching in ["forward", "backward", "best"] {
        let args =
            format!("connect walk.bvh run.bvh walk.bvh --matching {matching} -o all.bvh --json");
        let got = folder.condyle(&args);
        let err = String::from_utf8(got.stderr).unwrap();
        let told: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
        let at = |k: usize, name: &str| told["seams"][k][name].as_i64().unwrap();
        let left = (at(1, "from_frame") - at(0, "to_frame") + 1).max(0);
        let warning =
            format!("warning: run.bvh: {left} of its 130 frames left between its two seams");
        assert_eq!(err.contains(&warning), 2 * left < 130, "{matching}: {left}: {err}");
        assert_eq!(err.contains("between its two seams"), 2 * left < 130, "{err}");
    }
}

#[test]
fn motions_that_cannot_be_connected_are_refused_with_what_to_do() {
    let folder = gaits("connect_bad");
    folder.write("one.bvh", &bvh(Gait::default(), 1, 100.0));
    folder.write("other.bvh", super::WALK);
    for (args, what) in [
        ("connect walk.bvh -o x.bvh", "1 motion is given"),
        (
            "connect walk.bvh one.bvh -o x.bvh",
            "one.bvh: 1 frame is left of it, and 40 are compared",
        ),
        ("connect walk.bvh other.bvh -o x.bvh", "condyle retarget"),
        ("connect walk.bvh run.bvh --window 140 -o x.bvh", "run.bvh: 130 frames are left"),
        ("connect walk.bvh run.bvh --joints Nose -o x.bvh", "no joint \"Nose\""),
        ("connect walk.bvh run.bvh -o run.bvh", "run.bvh"),
    ] {
        let err = complaints(&folder.condyle(args));
        assert!(err.contains(what), "{args}: {err}");
    }
    assert!(!folder.names().contains(&"x.bvh".to_owned()));
    // One frame after another: a window of one.
    done(&folder, "connect walk.bvh one.bvh --window 1 -o x.bvh");
    let counts = file(&folder, "x.bvh").clip.unwrap().frame_count();
    assert!(counts >= 150, "{counts}");
}

#[test]
fn a_mirror_twice_is_the_motion_again_and_left_is_right() {
    let folder = gaits("mirror");
    done(&folder, "mirror walk.bvh -o other.bvh");
    done(&folder, "mirror other.bvh -o again.bvh");
    let [walk, other, again] =
        ["walk.bvh", "other.bvh", "again.bvh"].map(|name| file(&folder, name));
    let apart = farthest_apart_m(
        (&walk.skeleton, walk.clip.as_ref().unwrap()),
        (&again.skeleton, again.clip.as_ref().unwrap()),
    );
    assert!(apart < 1e-6, "{apart}");
    let place = |f: &MotionFile, name: &str| {
        let world = f.clip.as_ref().unwrap().pose(FrameIndex(30)).world(&f.skeleton);
        world.positions_m[f.skeleton.find(name).unwrap().get()]
    };
    let (left, right) = (place(&walk, "LeftFoot"), place(&other, "RightFoot"));
    assert!((left.x + right.x).abs() < 1e-6 && (left.z - right.z).abs() < 1e-6, "{left} {right}");
    done(&folder, "mirror walk.bvh --in-place -o here.bvh");
    let here = file(&folder, "here.bvh");
    assert!((place(&here, "Hips") - place(&walk, "Hips")).length() < 1e-3);
    folder.write("door.bvh", super::WALK);
    let err = complaints(&folder.condyle("mirror door.bvh -o x.bvh"));
    assert!(err.contains("door.bvh: neither a table nor the words in the names tell"), "{err}");
}

#[test]
fn c13_retarget_goes_there_and_back_with_its_feet_on_the_ground() {
    let folder = gaits("retarget");
    done(&folder, "transform walk.bvh --scale 1.3 -o giant.bvh");
    let told = json(&folder, "retarget walk.bvh --onto giant.bvh --keep-feet -o large.bvh --json");
    assert!((told["scale"].as_f64().unwrap() - 1.3).abs() < 1e-6, "{told:#}");
    assert_eq!(told["joints"]["LeftLeg"], "LeftLeg");
    assert_eq!(told["kept"][0]["reached"], 150);
    done(&folder, "retarget large.bvh --onto walk.bvh -o back.bvh");
    let (walk, back) = (file(&folder, "walk.bvh"), file(&folder, "back.bvh"));
    let apart = farthest_apart_m(
        (&walk.skeleton, walk.clip.as_ref().unwrap()),
        (&back.skeleton, back.clip.as_ref().unwrap()),
    );
    assert!(apart < 1e-5, "{apart}");
    done(&folder, "estimate walk.bvh run.bvh -o rig.json");
    done(
        &folder,
        "retarget run.bvh --onto walk.bvh --keep-feet --keep-hands --rig rig.json -o in.bvh",
    );
    done(&folder, "check in.bvh --rig rig.json");
    folder.write("door.bvh", super::WALK);
    let err = complaints(&folder.condyle("retarget walk.bvh --onto door.bvh -o x.bvh"));
    assert!(err.contains("what the target's joints are of the body"), "{err}");
}

/// Joints with names that nobody knows, so that nothing is told of the figure but what is said.
fn nameless(text: &str) -> String {
    let mut count = 0;
    let rename = |line: &str| match line.trim().split_once(' ') {
        Some((what @ ("ROOT" | "JOINT"), _)) => {
            count += 1;
            format!("{what} n{count}")
        }
        _ => line.to_owned(),
    };
    text.lines().map(rename).collect::<Vec<_>>().join("\n") + "\n"
}

fn number(value: &serde_json::Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

#[test]
fn files_that_cannot_be_compared_are_left_out_named_and_listed() {
    let folder = gaits("match_foreign");
    folder.write("foreign.bvh", super::WALK);
    folder.write("short.bvh", &bvh(Gait::default(), 7, 100.0));
    folder.write("broken.bvh", "HIERARCHY\n");
    // The same names, but a shin that points to the side at rest, or hangs on the hips.
    let walk = folder.read("walk.bvh");
    let (before, after) = walk.split_once("JOINT LeftLeg").unwrap();
    let (_, rest) = after.split_once("OFFSET").unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    folder.write("bent.bvh", &format!("{before}JOINT LeftLeg\n{{\nOFFSET 40 0 0\n{rest}"));
    let all = "foreign.bvh run.bvh short.bvh broken.bvh bent.bvh gone.bvh";
    let args = format!("match walk.bvh --frames 20..49 {all} --json");
    let got = folder.condyle(&args);
    let err = String::from_utf8(got.stderr).unwrap();
    assert_eq!(got.status.code(), Some(0), "{err}");
    let told: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    assert!(told["matches"].as_array().unwrap().iter().all(|m| m["path"] == "run.bvh"));
    let reasons = [
        ("foreign.bvh", "only one of the two has a joint"),
        ("broken.bvh", "ends"),
        ("bent.bvh", "another rest pose: \"LeftLeg\" is 90.0° off"),
        ("gone.bvh", "cannot be read"),
        ("short.bvh", "it has 7 frames, and 30 are looked for"),
    ];
    let skipped = told["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), reasons.len(), "{skipped:#?}");
    for (path, why) in reasons {
        let of = skipped.iter().find(|s| s["path"] == path).unwrap();
        assert!(path == "broken.bvh" || of["message"].as_str().unwrap().contains(why), "{of:#}");
        assert!(err.contains(&format!("warning: left out: {path}: ")), "{err}");
    }
    // Where joints are does not depend on the rest pose.
    let by_place = "match walk.bvh --frames 20..49 bent.bvh --metric position --json";
    assert_eq!(json(&folder, by_place)["matches"][0]["path"], "bent.bvh");
    // Strict reading leaves nothing out, and with nothing left there is no answer.
    assert_eq!(folder.condyle(&format!("{args} --strict")).status.code(), Some(2));
    let errors = super::estimate::fails_in_json(&folder, "match walk.bvh foreign.bvh bent.bvh");
    assert_eq!(errors.len(), 3, "{errors:#?}");
    let err = complaints(&folder.condyle("match walk.bvh foreign.bvh"));
    assert!(err.contains("foreign.bvh: another skeleton"), "{err}");
    assert!(err.contains("condyle retarget brings it onto the skeleton of walk.bvh"), "{err}");
    assert!(!err.contains("clip 0"), "{err}");
}

#[test]
fn frames_are_told_as_the_file_counts_them_whatever_the_rate() {
    let folder = gaits("match_rates");
    done(&folder, "resample walk.bvh --fps 50 -o slow.bvh");
    let found = json(&folder, "match walk.bvh --frames 40..69 slow.bvh --json");
    let best = &found["matches"][0];
    assert_eq!([&best["frame"], &best["last_frame"]], [20, 35]);
    assert!((best["time_s"].as_f64().unwrap() - 0.4).abs() < 1e-12);
    let found = json(&folder, "match slow.bvh --frames 10..24 walk.bvh --json");
    let best = &found["matches"][0];
    assert_eq!([&best["frame"], &best["last_frame"]], [20, 48]);
    assert!((best["time_s"].as_f64().unwrap() - 0.2).abs() < 1e-12);
    let got = folder.condyle("match walk.bvh --frames 40..69 slow.bvh --count 1");
    let out = String::from_utf8(got.stdout).unwrap();
    assert!(out.contains("20–35") && out.contains("0.400"), "{out}");
    // A seam: frames of the file, and times.
    let seam = &json(&folder, "connect run.bvh slow.bvh -o out.bvh --json")["seams"][0];
    let (frame, time) = (number(&seam["to_frame"]), seam["to_s"].as_f64().unwrap());
    assert!((time * 50.0 - frame as f64).abs() < 0.5 + 1e-9 && frame < 75, "{seam:#}");
    let left = 149 - (time * 100.0).round() as usize;
    assert_eq!(rows(&folder, "out.bvh").len(), number(&seam["out_end"]) + left);
    assert_eq!(number(&seam["out_frames"]), number(&seam["out_end"]) - number(&seam["out_start"]));
}

#[test]
fn which_way_is_up_can_be_told_wherever_it_matters() {
    let folder = gaits("up");
    for name in ["walk.bvh", "run.bvh"] {
        let text = nameless(&folder.read(name));
        folder.write(name, &text);
        done(&folder, &format!("transform {name} --to-up z -o z-{name}"));
    }
    done(&folder, "transform z-walk.bvh --up z --turn 70 -o turned.bvh");
    let distance = |args: &str| {
        let found = json(&folder, &format!("{args} --metric position --json"));
        let list = found.get("matches").or(found.get("seams")).unwrap();
        list[0]["distance"].as_f64().unwrap()
    };
    let query = "match z-walk.bvh --frames 20..49 turned.bvh";
    assert!(distance(&format!("{query} --up z")) < 1e-6);
    assert!(distance(&format!("{query} --up y")) > 0.05);
    // The floor tells, without names.
    assert!(distance(query) < 1e-6);
    let wanted = distance("connect walk.bvh run.bvh -o out.bvh");
    let told = distance("connect z-walk.bvh z-run.bvh --up z -o out.bvh");
    assert!((told - wanted).abs() < 1e-6, "{told} {wanted}");
    let err = complaints(&folder.condyle(&format!("{query} --up z")));
    assert!(err.contains("--up is not used with a --metric of rotations"), "{err}");

    // Names tell what is up, unless it is said otherwise.
    let folder = gaits("up_retarget");
    done(&folder, "transform walk.bvh --to-up z -o z.bvh");
    let hips = |args: &str| {
        done(&folder, &format!("retarget z.bvh --onto run.bvh -o out.bvh {args}"));
        let out = file(&folder, "out.bvh");
        let hips = out.skeleton.find("Hips").unwrap();
        out.clip.unwrap().translation_m(hips, FrameIndex(0))
    };
    assert!(hips("").y > 0.7 && hips("--up z --onto-up y").y > 0.7);
    let same = hips("--up y");
    assert!(same.y.abs() < 0.5 && same.z > 0.7, "{same}");
    assert!(hips("--up z --onto-up z").z > 0.7);
}

#[test]
fn options_that_have_nothing_to_do_are_refused() {
    let folder = gaits("idle");
    for (args, what) in [
        ("connect walk.bvh run.bvh --frames 9", "--frames is not used with --method blend"),
        ("connect walk.bvh run.bvh --order linear", "--order is not used with --method blend"),
        (
            "connect walk.bvh run.bvh --method interpolate --ease sine",
            "--ease is not used with --method interpolate",
        ),
        (
            "connect walk.bvh run.bvh --method interpolate --root steps",
            "--root is not used with --method interpolate",
        ),
        (
            "connect walk.bvh run.bvh --method inertialize --order cubic",
            "choose --method interpolate",
        ),
        ("blend walk.bvh run.bvh --in-place --up y", "--up is not used with --in-place"),
        ("transform walk.bvh --reverse --up z", "--up is not used with --reverse"),
        ("transform walk.bvh --reverse --interpolation smooth", "--speed"),
        (
            "connect walk.bvh run.bvh --joints Hips",
            "no joint is left to compare: the root \"Hips\"",
        ),
    ] {
        let err = complaints(&folder.condyle(&format!("{args} -o x.bvh")));
        assert!(err.contains(what), "{args}: {err}");
    }
    assert!(!folder.names().contains(&"x.bvh".to_owned()));
    let err = complaints(&folder.condyle("match walk.bvh run.bvh --joints Hips"));
    assert!(err.contains("name other joints, or compare places: --metric position"), "{err}");
    done(&folder, "match walk.bvh --frames 0..9 run.bvh --joints Hips --metric position");
    let got = folder.condyle("match walk.bvh --frames 0..9 run.bvh --joints Hips,LeftLeg");
    let err = String::from_utf8(got.stderr).unwrap();
    assert!(got.status.success() && err.contains("note: the root \"Hips\""), "{err}");
    // Fewer frames than asked for are told.
    let got = folder.condyle("connect walk.bvh run.bvh --method inertialize --frames 999 -o x.bvh");
    let err = String::from_utf8(got.stderr).unwrap();
    assert!(got.status.success() && err.contains("left of it to fade over, not 999"), "{err}");
}

#[test]
fn a_motion_that_follows_itself_goes_on_and_is_not_found_where_it_is() {
    let folder = gaits("again");
    folder.write("copy.bvh", &folder.read("walk.bvh"));
    for again in ["walk.bvh", "copy.bvh"] {
        let args = format!("connect walk.bvh {again} {again} --matching best -o out.bvh --json");
        let told = json(&folder, &args);
        for seam in told["seams"].as_array().unwrap() {
            let (from, to) = (number(&seam["from_frame"]), number(&seam["to_frame"]));
            // The window begins where the first is left, and ends where the second is entered.
            assert!(from + 39 >= to + 40, "{from} {to}");
        }
        // A step is a cycle of a hundred frames, which is played twice more.
        assert_eq!(told["frames"], 350);
    }
    // In a motion alone, the piece itself is no answer.
    let found = json(&folder, "match walk.bvh --frames 20..49 --json");
    assert_eq!(found["matches"][0]["frame"], 120);
}

#[test]
fn what_is_told_is_short_true_and_told_when_it_is_done() {
    let folder = gaits("told");
    let said = |args: &str| {
        let got = folder.condyle(args);
        (got.status.code(), String::from_utf8([got.stdout, got.stderr].concat()).unwrap())
    };
    let (code, text) = said("transform walk.bvh --at 1,2 -o x.bvh");
    assert!(code == Some(0) && text.contains("starts at (1.000, "), "{text}");
    assert!(text.contains("; y is up"), "{text}");
    let (code, text) = said("transform walk.bvh --at 1,2 -o nowhere/x.bvh");
    assert!(code == Some(2) && !text.contains("starts at"), "{text}");
    for args in [
        "transform walk.bvh --at 1e300,0 -o x.bvh",
        "transform walk.bvh --scale 1e300 -o x.bvh",
        "trim walk.bvh --seconds 1e300.. -o x.bvh",
        "retarget walk.bvh --onto run.bvh --scale 1e300 -o x.bvh",
        "match x.bvh --frames 0..9 walk.bvh --metric position",
    ] {
        let (_, text) = said(args);
        assert!(text.lines().all(|line| line.len() < 200), "{args}: {text}");
        assert!(!text.contains("000000000"), "{args}: {text}");
    }
    let (_, text) = said("connect walk.bvh run.bvh -o x.bvh");
    assert!(text.contains(" frames, 1 seam\n"), "{text}");
    // No command writes over what it reads.
    for args in [
        "trim walk.bvh --frames 0..9",
        "transform walk.bvh --reverse",
        "mirror walk.bvh",
        "resample walk.bvh --fps 50",
        "blend run.bvh walk.bvh",
        "connect run.bvh walk.bvh",
        "retarget run.bvh --onto walk.bvh",
        "retarget walk.bvh --onto run.bvh",
    ] {
        let walk = folder.read("walk.bvh");
        let (code, text) = said(&format!("{args} -o ./walk.bvh"));
        assert!(code == Some(2) && text.contains("walk.bvh is one of the inputs"), "{text}");
        assert_eq!(folder.read("walk.bvh"), walk);
    }
    // Feet that do not get where they should are told; the motion is there all the same.
    let args = "retarget walk.bvh --onto run.bvh --scale 2 --keep-feet -o far.bvh";
    let (code, text) = said(args);
    assert!(code == Some(0) && text.contains("\"LeftFoot\" is not where it should be"), "{text}");
    assert_eq!(json(&folder, &format!("{args} --json"))["all_reached"], false);
    let told = json(&folder, "retarget walk.bvh --onto run.bvh --keep-feet -o near.bvh --json");
    assert_eq!(told["all_reached"], true);
    let told = json(&folder, "connect walk.bvh run.bvh --plant -o both.bvh --json");
    assert!(told["seams"][0]["sliding_frames"].is_u64(), "{told:#}");
    let told = json(&folder, "connect walk.bvh run.bvh -o both.bvh --json");
    assert!(told["seams"][0]["sliding_frames"].is_null(), "{told:#}");
}

/// What is put on an ASF, or mirrored, goes with the ASF that there is.
#[test]
fn motion_on_an_asf_keeps_to_its_degrees_of_freedom() {
    let folder = gaits("asf");
    done(&folder, "demo -o demo");
    for args in [
        "retarget walk.bvh --onto demo/figure.asf --keep-feet -o there.amc",
        "mirror demo/figure.asf demo/figure.amc -o other.amc",
    ] {
        let got = folder.condyle(args);
        assert_eq!(got.status.code(), Some(0), "{}", String::from_utf8_lossy(&got.stderr));
        let said = String::from_utf8_lossy(&got.stderr);
        assert!(!said.contains("does not fit its degrees"), "{said}");
    }
    let dofs = |name: &str| -> Vec<String> {
        let text = folder.read(name);
        text.lines().filter(|l| l.trim().starts_with("dof")).map(str::to_owned).collect()
    };
    assert!(dofs("demo/figure.asf").len() > 10);
    for name in ["there.asf", "other.asf"] {
        assert_eq!(dofs(name), dofs("demo/figure.asf"), "{name}");
    }
}

#[test]
fn retarget_says_which_hands_it_cannot_keep() {
    let folder = gaits("hands");
    // A figure that ends at the elbows.
    let text = folder.read("walk.bvh");
    let mut file = read(text.as_bytes(), None, &ReadOptions::default()).unwrap().file;
    let old = file.skeleton.clone();
    let mut armless = condyle::skeleton::Skeleton::new();
    let stays = |name: &str| !name.contains("Hand") && !name.contains("Finger");
    let kept: Vec<_> = old.indices().filter(|j| stays(&old[*j].name)).collect();
    for j in &kept {
        let joint = old[*j].clone();
        match old.parent(*j) {
            Some(p) => armless.add(armless.find(&old[p].name).unwrap(), joint).unwrap(),
            None => armless.add_root(joint).unwrap(),
        };
    }
    (file.skeleton, file.clip) = (armless, None);
    let mut written = write(&file, Format::Bvh, &WriteOptions::default()).unwrap();
    folder.write("armless.bvh", &String::from_utf8(written.parts.remove(0).1).unwrap());
    let got = folder.condyle("retarget walk.bvh --onto armless.bvh --keep-hands -o x.bvh");
    let said = String::from_utf8_lossy(&got.stderr);
    assert_eq!(got.status.code(), Some(0), "{said}");
    assert!(said.contains("the left wrist is not kept"), "{said}");
}

/// Where joints of a motion that was written are, frame by frame.
fn places(folder: &Folder, name: &str, joints: [&str; 2]) -> Vec<[DVec3; 2]> {
    let stem = name.strip_suffix(".amc");
    if let Some(stem) = stem {
        done(folder, &format!("convert {stem}.asf {name} {stem}.as.bvh"));
    }
    let file = file(folder, &stem.map_or(name.to_owned(), |stem| format!("{stem}.as.bvh")));
    let joints = joints.map(|name| file.skeleton.find(name).unwrap());
    let clip = file.clip.unwrap();
    let at = |f| {
        let world = clip.pose(f).world(&file.skeleton);
        joints.map(|j| world.positions_m[j.get()])
    };
    clip.frames().map(at).collect()
}

/// A folder of real files, if they are on this machine.
fn shared() -> Option<PathBuf> {
    let root = match std::env::var_os("CONDYLE_SHARED") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let data = root.join("data");
    if !data.exists() {
        let line = b"skipped: the real files of shared/data are not on this machine\n";
        let _ = std::io::Write::write_all(&mut std::io::stderr(), line);
        return None;
    }
    Some(data)
}

/// Limits bring feet away from where they should be, or they do not: both is told as it is in the file.
/// Where they should be is where they are without limits, where legs get there.
#[test]
fn feet_on_an_asf_are_told_as_they_are_in_the_file_that_is_written() {
    let folder = gaits("feet_told");
    done(&folder, "demo -o demo");
    // Knees that bend about one axis.
    let mut text = String::new();
    let (mut knee, mut ends) = (false, 0);
    for line in folder.read("demo/figure.asf").lines() {
        let word = line.trim();
        knee = if word.starts_with("name ") { word.ends_with("Leg") } else { knee };
        knee &= !word.ends_with("UpLeg") && word != "end";
        ends =
            if word.starts_with("limits") { 1 } else { ends + usize::from(word.starts_with('(')) };
        if knee && word.starts_with("dof") {
            text += "dof rx\n";
        } else if !(knee && word.starts_with('(') && ends > 1) {
            text += &format!("{line}\n");
        }
    }
    folder.write("knees.asf", &text);
    let of_demo = "knees.asf".to_owned();
    let mut cases = vec![(
        "walk.bvh".to_owned(),
        of_demo,
        "",
        ["LeftFoot", "RightFoot"],
        ["LeftArm", "LeftLeg"],
    )];
    if let Some(data) = shared() {
        let path = |name: &str| data.join(name).display().to_string();
        let files = (path("bvh/07_01.bvh"), path("asf-amc/07-walk.asf"));
        cases.push((files.0, files.1, "--scale 5.2", ["lfoot", "rfoot"], ["lhumerus", "ltibia"]));
    }
    for (motion, onto, scale, feet, [arm, knee]) in cases {
        let args = format!("retarget {motion} --onto {onto} --keep-feet {scale} --json");
        let free = json(&folder, &format!("{args} -o free.amc"));
        assert_eq!(free["all_reached"], true, "{free:#}");
        let wanted = places(&folder, "free.amc", feet);
        for (preset, joint, reaches) in [("elbow", arm, true), ("knee", knee, false)] {
            let got = folder.condyle(&format!("limits preset {preset} --left --as {joint}"));
            folder.write("pre.json", &String::from_utf8(got.stdout).unwrap());
            let told = json(&folder, &format!("{args} --rig pre.json -o limited.amc"));
            let found = places(&folder, "limited.amc", feet);
            for (k, kept) in told["kept"].as_array().unwrap().iter().enumerate() {
                let misses = wanted.iter().zip(&found).map(|(a, b)| a[k].distance(b[k]));
                let misses: Vec<f64> = misses.collect();
                let worst = misses.iter().copied().fold(0.0, f64::max);
                let reached = misses.iter().filter(|miss| **miss <= 1e-3).count();
                assert!((worst - kept["worst_m"].as_f64().unwrap()).abs() < 1e-4, "{worst} {kept}");
                assert!(reached.abs_diff(number(&kept["reached"])) <= 1, "{reached} {kept}");
            }
            if reaches {
                assert_eq!(told["all_reached"], true, "{told:#}");
            }
        }
    }
}

#[test]
fn hands_are_kept_where_no_table_has_a_wrist_and_others_are_listed() {
    let folder = gaits("wrists");
    let mut longer = file(&folder, "walk.bvh");
    let (old, mut arms) = (longer.skeleton.clone(), condyle::skeleton::Skeleton::new());
    for j in old.indices() {
        let mut joint = old[j].clone();
        if joint.name.ends_with("ForeArm") {
            joint.offset_m *= 1.3;
        }
        match old.parent(j) {
            Some(p) => arms.add(p, joint).unwrap(),
            None => arms.add_root(joint).unwrap(),
        };
    }
    (longer.skeleton, longer.clip) = (arms, None);
    let mut written = write(&longer, Format::Bvh, &WriteOptions::default()).unwrap();
    folder.write("longer.bvh", &String::from_utf8(written.parts.remove(0).1).unwrap());
    let told = json(&folder, "retarget run.bvh --onto longer.bvh --keep-hands -o kept.bvh --json");
    let names = |value: &serde_json::Value| -> Vec<String> {
        let all = value.as_array().unwrap().iter();
        all.map(|v| v["joint"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(names(&told["kept"]), ["LeftHand", "RightHand"], "{told:#}");
    assert_eq!(
        (&told["all_reached"], told["not_kept"].as_array().unwrap().len()),
        (&true.into(), 0)
    );
    done(&folder, "retarget run.bvh --onto longer.bvh -o plain.bvh");
    // The hands are as many times as far from each other in every frame.
    let apart = |name: &str| -> Vec<DVec3> {
        let all = places(&folder, name, ["LeftHand", "RightHand"]);
        all.into_iter().map(|[left, right]| right - left).collect()
    };
    let (source, kept, plain) = (apart("run.bvh"), apart("kept.bvh"), apart("plain.bvh"));
    let times = kept[0].length() / source[0].length();
    let off = |found: &[DVec3]| {
        let off = found.iter().zip(&source).map(|(a, b)| a.distance(*b * times));
        off.fold(0.0, f64::max)
    };
    assert!(times > 1.02 && off(&kept) < 1e-5, "{times} {}", off(&kept));
    assert!(off(&plain) > 0.01, "{}", off(&plain));
}

/// What an ASF declares, and the angles of an AMC, whatever the size.
#[test]
fn scaling_keeps_what_an_asf_declares_and_the_angles_of_its_amc() {
    let folder = gaits("scaled_asf");
    done(&folder, "demo -o demo");
    let mut cases = vec!["demo/figure.asf demo/figure.amc".to_owned()];
    if let Some(data) = shared() {
        let path = |name: &str| data.join(name).display().to_string();
        cases.push(format!("{} {}", path("asf-amc/07-walk.asf"), path("asf-amc/07_01-walk.amc")));
    }
    for files in cases {
        done(&folder, &format!("convert {files} same.amc"));
        done(&folder, &format!("transform {files} --scale 1.7 -o large.amc"));
        let declared = |name: &str| -> Vec<String> {
            let text = folder.read(name);
            let is_length = |l: &str| l.starts_with("length") || l.starts_with("position");
            text.lines().map(|l| l.trim().to_owned()).filter(|l| !is_length(l)).collect()
        };
        assert_eq!(declared("large.asf"), declared("same.asf"));
        let (same, large) = (folder.read("same.amc"), folder.read("large.amc"));
        assert_eq!(same.lines().count(), large.lines().count());
        for (a, b) in same.lines().zip(large.lines()) {
            let numbers = |line: &str| -> Vec<f64> {
                line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
            };
            if a.starts_with("root") {
                let (a, b) = (numbers(a), numbers(b));
                assert_eq!(a[3..], b[3..]);
                assert!((0..3).all(|i| (1.7 * a[i] - b[i]).abs() < 1e-9 * (1.0 + b[i].abs())));
            } else {
                assert_eq!(a, b);
            }
        }
        done(&folder, "convert same.asf same.amc same.bvh");
        done(&folder, "convert large.asf large.amc large.bvh");
        let (same, large) = (file(&folder, "same.bvh"), file(&folder, "large.bvh"));
        let (a, b) = (same.clip.unwrap(), large.clip.unwrap());
        for f in a.frames() {
            let world =
                [(&a, &same.skeleton), (&b, &large.skeleton)].map(|(c, s)| c.pose(f).world(s));
            for (a, b) in world[0].positions_m.iter().zip(&world[1].positions_m) {
                assert!((*a * 1.7).distance(*b) < 1e-5, "{f:?} {a} {b}");
            }
        }
        let got = folder.condyle(&format!("transform {files} --to-up z -o turned.amc"));
        let said = String::from_utf8(got.stderr).unwrap();
        assert!(said.contains("limits that the ASF declares"), "{said}");
        let got = folder.condyle(&format!("transform {files} --to-up z -o turned.bvh"));
        assert!(!String::from_utf8(got.stderr).unwrap().contains("declares"));
    }
}

#[test]
fn feet_that_slide_are_counted_in_made_frames_of_what_is_written() {
    let folder = gaits("sliding");
    done(&folder, "demo -o demo");
    let args =
        "connect demo/walk.bvh demo/run.bvh --method interpolate --matching backward --plant";
    let told = json(&folder, &format!("{args} -o x.bvh --json"));
    let seam = &told["seams"][0];
    assert!(number(&seam["sliding_frames"]) <= number(&seam["out_frames"]), "{told:#}");
    // Limits that hold the legs nearly still.
    done(&folder, "trim walk.bvh --frames 0..12 -o short.bvh");
    done(&folder, "estimate short.bvh -o rig.json");
    let sliding = |args: &str| {
        let told = json(&folder, &format!("connect walk.bvh run.bvh --plant {args} --json"));
        number(&told["seams"][0]["sliding_frames"])
    };
    let (free, held) = (sliding("-o free.bvh"), sliding("-o held.bvh --rig rig.json"));
    assert!(held > free, "{held} {free}");
}

/// A motion with one number of one row changed by so much.
fn with_jump(folder: &Folder, name: &str, row: usize, column: usize, by: f64) -> String {
    let text = folder.read(name);
    let all: Vec<&str> = text.lines().collect();
    let first = all.iter().position(|l| l.starts_with("Frame Time")).unwrap() + 1;
    let mut all: Vec<String> = all.into_iter().map(str::to_owned).collect();
    let mut numbers: Vec<f64> =
        all[first + row].split_whitespace().map(|n| n.parse().unwrap()).collect();
    numbers[column] += by;
    all[first + row] = numbers.iter().map(|n| format!("{n} ")).collect();
    all.join("\n") + "\n"
}

#[test]
fn warnings_of_seams_are_printed_and_are_in_the_json() {
    let folder = gaits("seam_warnings");
    let warned = |args: &str| {
        let got = folder.condyle(args);
        let err = String::from_utf8(got.stderr).unwrap();
        assert_eq!(got.status.code(), Some(0), "{args}: {err}");
        let told: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
        let list = |v: &serde_json::Value| v.as_str().unwrap().to_owned();
        let in_json: Vec<String> = told["warnings"].as_array().unwrap().iter().map(list).collect();
        let printed: Vec<&str> =
            err.lines().filter_map(|line| line.strip_prefix("warning: ")).collect();
        assert_eq!(in_json, printed, "{args}");
        (in_json.join("\n"), told)
    };
    let (none, told) = warned("connect walk.bvh run.bvh -o x.bvh --json");
    assert!(none.is_empty(), "{none}");
    let worst = &told["seams"][0]["worst_jump"];
    let [jump, usual, ratio] =
        ["deg_s", "usual_deg_s", "ratio"].map(|n| worst[n].as_f64().unwrap());
    assert!((jump / usual - ratio).abs() < 1e-9 && ratio < 3.0, "{worst:#}");
    let walk = file(&folder, "walk.bvh");
    assert!(walk.skeleton.find(worst["joint"].as_str().unwrap()).is_some());
    let [frame, start, end] = ["frame", "out_start", "out_end"].map(|n| {
        worst.get(n).or(told["seams"][0].get(n)).and_then(serde_json::Value::as_u64).unwrap()
    });
    assert!(frame + 1 >= start && frame <= end, "{told:#}");
    // A foot that would have to be held where legs do not get it.
    let args =
        "connect walk.bvh run.bvh --method interpolate --frames 30 --matching backward --plant";
    let (feet, told) = warned(&format!("{args} -o x.bvh --json"));
    let sliding = number(&told["seams"][0]["sliding_frames"]);
    assert!(sliding > 0 && feet.contains("a foot that is down still slides in"), "{feet}");
    // One number of the frame in which it is left, 20 degrees off.
    folder.write("jumps.bvh", &with_jump(&folder, "walk.bvh", 110, 7, 20.0));
    let (jump, told) = warned("connect jumps.bvh run.bvh -o x.bvh --json");
    assert!(told["seams"][0]["from_frame"] == 110 && jump.contains("jumps.bvh: "), "{jump}");
    assert!(jump.contains("beside frame 110 in which it is left"), "{jump}");
    // Two metres up within the seam.
    done(&folder, "transform run.bvh --move 0,2,0 -o up.bvh");
    let (fast, _) = warned("connect walk.bvh up.bvh -o x.bvh --json");
    assert!(fast.contains("the pelvis goes ") && fast.contains("give it more --window"), "{fast}");
}

#[test]
fn table_json_and_page_say_the_same_of_how_rough_a_seam_is() {
    let folder = gaits("connect_rough");
    // A wrist that flips in every third frame, as fingers of captures do: the largest jump is its own, everywhere.
    let mut text = folder.read("walk.bvh");
    let wrist = text.find("JOINT RightHand").expect("a hand");
    let column =
        text[..wrist].matches("rotation").count() + text[..wrist].matches("position").count();
    let (head, numbers) = text.split_once("Frame Time").expect("motion");
    let mut lines = numbers.lines().map(str::to_owned).collect::<Vec<_>>();
    for line in lines.iter_mut().skip(1).step_by(3) {
        let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        words[column] = (words[column].parse::<f64>().unwrap() + 90.0).to_string();
        *line = words.join(" ");
    }
    text = format!("{head}Frame Time{}\n", lines.join("\n"));
    folder.write("flips.bvh", &text);
    let args =
        "connect flips.bvh run.bvh -o out.bvh --method interpolate --frames 2 --order linear";
    let told = json(&folder, &format!("{args} --json --report page.html"));
    let worst = &told["seams"][0]["worst_jump"];
    let number = |name: &str| worst[name].as_f64().unwrap();
    let (joint, ratio) = (worst["joint"].as_str().unwrap(), number("ratio"));
    assert!(joint != "RightHand" && ratio > 1.0, "{worst}");
    assert!((ratio - number("deg_s") / number("usual_deg_s")).abs() < 1e-9);
    let page = folder.read("page.html");
    let (_, fact) = page.split_once("°/s of ").expect("how rough it is");
    let (fact, _) = fact.split_once("</dd>").unwrap();
    let fact = fact.replace("<bdi>", "").replace("</bdi>", "");
    let digits = if ratio < 100.0 { 1 } else { 0 };
    let wanted =
        format!("{joint} in frame {}, {ratio:.digits$} times what is usual of it", worst["frame"]);
    assert!(fact.starts_with(&wanted), "{wanted}: {fact}");
    assert!(page.contains(&format!("times the usual; most here: {joint}")));
    let out = folder.condyle(args);
    let text = String::from_utf8(out.stdout).unwrap();
    let row = text.lines().find(|line| line.contains("flips.bvh")).expect("a seam");
    let cells = [
        joint.to_owned(),
        format!("{:.0}", number("deg_s")),
        format!("{:.0}", number("usual_deg_s")),
    ];
    for cell in cells {
        assert!(row.contains(&cell), "{cell}: {row}");
    }
}

#[test]
fn as_much_as_is_asked_for_is_kept_of_motions_between_others() {
    let folder = gaits("keep");
    for method in ["blend", "interpolate", "inertialize"] {
        for matching in ["best", "forward", "backward"] {
            for (keep, least) in [("0.3", 30), ("0.5", 50)] {
                let args = format!(
                    "connect run.bvh walk.bvh run.bvh --method {method} --matching {matching} --window 20"
                );
                let told = json(&folder, &format!("{args} --keep {keep} -o x.bvh --json"));
                let [one, two] = [0, 1].map(|k| &told["seams"][k]);
                let left =
                    (number(&two["from_frame"]) + 1).saturating_sub(number(&one["to_frame"]));
                assert!(left >= least, "{method} {matching} {keep}: {left}\n{told:#}");
            }
        }
    }
    let said = |args: &str| complaints(&folder.condyle(args));
    let err = said("connect run.bvh walk.bvh run.bvh --keep 1.4 -o x.bvh");
    assert!(err.contains("walk.bvh: it takes 1.500 s") && err.contains("--keep SECONDS"), "{err}");
    let err = said("connect walk.bvh run.bvh --keep 1 -o x.bvh");
    assert!(err.contains("--keep is not used with two motions"), "{err}");
    for wrong in ["0", "-1", "x", "NaN", "inf"] {
        let err = said(&format!("connect walk.bvh run.bvh walk.bvh --keep {wrong} -o x.bvh"));
        assert!(err.contains("this is a time in seconds"), "{err}");
    }
}

#[test]
fn an_amc_without_its_asf_is_told_of_the_one_beside_it() {
    let folder = gaits("beside");
    done(&folder, "convert walk.bvh walk.amc");
    let said = |args: &str| complaints(&folder.condyle(args));
    let help = "help: name its ASF before it: ";
    // The only one.
    let err = said("info walk.amc");
    assert!(err.contains(&format!("{help}walk.asf walk.amc")), "{err}");
    folder.write("02_01.amc", &folder.read("walk.amc"));
    let err = said("info 02_01.amc");
    assert!(err.contains(&format!("{help}walk.asf 02_01.amc")), "{err}");
    // The one whose name it begins with; of others none is meant.
    folder.write("0.asf", &folder.read("walk.asf"));
    folder.write("02.asf", &folder.read("walk.asf"));
    let err = said("info 02_01.amc");
    assert!(err.contains(&format!("{help}02.asf 02_01.amc")), "{err}");
    folder.write("run.amc", &folder.read("walk.amc"));
    let err = said("info run.amc");
    assert!(err.contains(&format!("{help}SKELETON.asf MOTION.amc")), "{err}");
}

#[test]
fn what_is_near_the_frames_that_are_looked_for_is_no_answer_and_strict_is_strict() {
    let folder = gaits("hold");
    // Fifty frames more of frame 60.
    let text = folder.read("walk.bvh");
    let (head, _) = text.split_once("Frames:").unwrap();
    let mut frames = rows(&folder, "walk.bvh");
    let held = frames[60].clone();
    frames.splice(60..60, std::iter::repeat_n(held, 50));
    let motion = format!("Frames: {}\nFrame Time: 0.01\n{}\n", frames.len(), frames.join("\n"));
    folder.write("hold.bvh", &format!("{head}{motion}"));
    for (args, spacing) in [("", 15), ("--spacing 20", 20), ("--spacing 500", 500)] {
        let args = format!("match hold.bvh --frames 80..94 --count 6 {args} --json");
        let found = json(&folder, &args);
        let found = found["matches"].as_array().unwrap();
        let starts: Vec<usize> = found.iter().map(|m| number(&m["frame"])).collect();
        assert_eq!(starts.is_empty(), spacing == 500, "{starts:?}");
        let apart = |a: usize, b: usize| a.abs_diff(b) >= spacing;
        assert!(starts.iter().all(|s| apart(*s, 80)), "{starts:?}");
        assert!(starts.iter().enumerate().all(|(i, s)| starts[..i].iter().all(|t| apart(*s, *t))));
        let distances: Vec<f64> = found.iter().map(|m| m["distance"].as_f64().unwrap()).collect();
        assert!(distances.is_sorted(), "{distances:?}");
    }
    done(&folder, "trim walk.bvh --frames 0..12 -o short.bvh");
    let args = "match walk.bvh --frames 0..29 short.bvh run.bvh";
    done(&folder, args);
    let got = folder.condyle(&format!("{args} --strict"));
    assert_eq!(got.status.code(), Some(2));
    assert!(complaints(&got).contains("it has 13 frames, and 30 are looked for"));
}

/// Places of joints that differ from the hierarchy by the digits of a file only are no motion of bones.
#[test]
fn dust_on_places_gives_no_bone_other_degrees_of_freedom() {
    let folder = gaits("dust");
    done(&folder, "demo -o demo");
    let mut dusty = file(&folder, "walk.bvh");
    let clip = dusty.clip.as_mut().unwrap();
    for name in ["LeftLeg", "RightForeArm"] {
        let joint = dusty.skeleton.find(name).unwrap();
        for f in clip.frames() {
            let place = dusty.skeleton[joint].offset_m + DVec3::X * 1e-6;
            clip.set_translation_m(joint, f, place);
        }
    }
    let mut written = write(&dusty, Format::Bvh, &WriteOptions::default()).unwrap();
    folder.write("dusty.bvh", &String::from_utf8(written.parts.remove(0).1).unwrap());
    // Somebody else: a figure with the same bones takes over all that the motion has.
    done(&folder, "transform demo/figure.asf demo/figure.amc --scale 1.1 -o taller.amc");
    let mut cases = vec![("dusty.bvh".to_owned(), "taller.asf".to_owned())];
    if let Some(data) = shared() {
        let path = |name: &str| data.join(name).display().to_string();
        let motion = path("bvh/dataset-2_walk-turn-left_youthful_018.bvh");
        cases.push((motion, path("asf-amc/02.asf")));
    }
    for (motion, onto) in cases {
        let got = folder.condyle(&format!("retarget {motion} --onto {onto} -o x.amc"));
        let said = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(0), "{said}");
        assert!(!said.contains("does not fit its degrees"), "{said}");
    }
}

/// A motion whose lengths are so many times as large, in the same unit.
fn times(text: &str, factor: f64) -> String {
    let file = read(text.as_bytes(), None, &ReadOptions::default()).unwrap().file;
    let made = condyle::edit::scaled(&file.skeleton, file.clip.as_ref().unwrap(), factor).unwrap();
    let file = MotionFile::new(made.0, made.1);
    let written = write(&file, Format::Bvh, &WriteOptions::default()).unwrap().parts.remove(0).1;
    String::from_utf8(written).unwrap()
}

/// What is asked for and told in metres depends on the unit of the file.
#[test]
fn figures_of_no_persons_size_are_told_once_where_metres_count() {
    let folder = gaits("sizes");
    for (factor, unit) in [(0.177, "cmu"), (0.01, "m")] {
        for name in ["walk.bvh", "run.bvh"] {
            folder.write(&format!("small-{name}"), &times(&folder.read(name), factor));
        }
        let told = |args: &str| {
            let got = folder.condyle(args);
            let err = String::from_utf8(got.stderr).unwrap();
            assert_eq!(got.status.code(), Some(0), "{args}: {err}");
            (err.matches("no person's size").count(), err, got.stdout)
        };
        for args in [
            "transform small-walk.bvh --at 1,2 -o x.bvh",
            "transform small-walk.bvh --move 0,1,0 -o x.trc",
            "connect small-walk.bvh small-run.bvh --plant -o x.bvh --json",
            "connect small-walk.bvh small-run.bvh -o x.bvh",
            "connect small-walk.bvh small-run.bvh --metric position -o x.amc --json",
            "match small-walk.bvh small-run.bvh --frames 0..9 --metric position --json",
            "match walk.bvh small-run.bvh --frames 0..9 --metric position --json",
            "retarget walk.bvh --onto small-run.bvh --keep-feet -o x.bvh --json",
            "retarget small-walk.bvh --onto run.bvh --scale none -o x.bvh --json",
        ] {
            let (count, err, out) = told(args);
            assert_eq!(count, 1, "{args}: {err}");
            assert!(err.contains(&format!("--source-units {unit} would fit")), "{args}: {err}");
            if args.ends_with("--json") {
                let told: serde_json::Value = serde_json::from_slice(&out).unwrap();
                let first = told["warnings"][0].as_str().unwrap_or_default();
                assert!(first.contains("small-") && first.contains("person's size"), "{told:#}");
            }
            let (count, err, _) = told(&format!("{args} --source-units {}", 0.01 / factor));
            // The one unit is that of both files.
            let both = args.contains(" walk.bvh") || args.contains(" run.bvh");
            assert!(both || count == 0, "{args}: {err}");
        }
        // Where nothing is in metres there is nothing to say.
        for args in [
            "trim small-walk.bvh --frames 0..9 -o x.bvh",
            "mirror small-walk.bvh -o x.bvh",
            "transform small-walk.bvh --turn 9 -o x.bvh",
            "retarget small-walk.bvh --onto run.bvh -o x.bvh",
        ] {
            assert_eq!(told(args).0, 0, "{args}");
        }
        // But lengths that are written in another unit are.
        assert_eq!(told("mirror small-walk.bvh -o x.trc").0, 1);
    }
}

/// The ASF beside an AMC may be what was read, and has no room for motion.
#[test]
fn an_asf_that_is_read_is_not_replaced_and_none_is_written_for_a_motion() {
    let folder = gaits("asf_inputs");
    done(&folder, "convert walk.bvh walk.amc");
    done(&folder, "convert walk.bvh figure.amc");
    let asf = folder.read("figure.asf");
    for (args, output) in [
        ("transform figure.asf walk.amc --scale 2", "figure.amc"),
        ("mirror figure.asf walk.amc", "figure.amc"),
        ("blend figure.asf walk.amc figure.amc", "walk.amc"),
        ("retarget run.bvh --onto figure.asf", "./figure.amc"),
        ("connect figure.asf walk.amc walk.amc", "figure.amc"),
    ] {
        let err = complaints(&folder.condyle(&format!("{args} -o {output}")));
        assert!(err.contains("is one of the inputs"), "{args}: {err}");
        assert_eq!(folder.read("figure.asf"), asf, "{args}");
    }
    for args in [
        "transform figure.asf walk.amc --scale 2",
        "trim walk.bvh --frames 0..9",
        "mirror walk.bvh",
        "blend walk.bvh run.bvh",
        "connect walk.bvh run.bvh",
        "retarget run.bvh --onto figure.asf",
        "resample walk.bvh --fps 50",
    ] {
        let err = complaints(&folder.condyle(&format!("{args} -o t.asf")));
        assert!(err.contains("t.asf: an ASF holds a skeleton without its motion"), "{args}: {err}");
        assert!(err.contains("write t.amc: the ASF is written beside it"), "{args}: {err}");
        assert!(!folder.names().contains(&"t.asf".to_owned()), "{args}");
    }
    // Who converts may want just that, and is told; on standard output it is asked for.
    let got = folder.condyle("convert walk.bvh t.asf");
    assert!(
        String::from_utf8(got.stderr).unwrap().contains("note: an ASF holds the skeleton only")
    );
    done(&folder, "transform walk.bvh --scale 2 -o - --to asf");
    let err = complaints(&folder.condyle("connect walk.bvh run.bvh -o x.bvh --report ./x.bvh"));
    assert!(err.contains("x.bvh would be written twice"), "{err}");
}

#[test]
fn what_is_beyond_the_end_is_told_with_how_long_the_clip_is() {
    let folder = gaits("beyond");
    let takes = "it takes 1.500 s (150 frames)";
    for (args, what) in [
        ("trim walk.bvh --frames 300.. -o x.bvh", "frame 300 is asked for, and"),
        ("trim walk.bvh --frames 150..150 -o x.bvh", "frame 150 is asked for, and"),
        ("trim walk.bvh --frames 100..150 -o x.bvh", "frames 100 to 150 are asked for, and"),
        ("match walk.bvh run.bvh --frames 300..", "frame 300 is asked for, and"),
        ("trim walk.bvh --seconds 2.. -o x.bvh", "and 2 s is after that"),
    ] {
        let err = complaints(&folder.condyle(args));
        assert!(err.contains(what) && err.contains(takes), "{args}: {err}");
    }
    let got = folder.condyle("trim walk.bvh --seconds 1..9 -o x.bvh");
    let err = String::from_utf8(got.stderr).unwrap();
    assert!(err.contains(takes) && err.contains("9 s is after that: kept to its end"), "{err}");
    assert_eq!(rows(&folder, "x.bvh").len(), 50);
    let got = folder.condyle("trim walk.bvh --seconds 1..1.5 -o x.bvh");
    assert!(got.stderr.is_empty());
    done(&folder, "convert walk.bvh walk.trc");
    let err = complaints(&folder.condyle("mirror walk.trc -o x.bvh"));
    assert!(err.contains("walk.trc: it has the paths of markers, and no skeleton"), "{err}");
}

/// Hips below a reference node are where the motion says, whatever their OFFSET is.
#[test]
fn takes_whose_hips_start_elsewhere_are_of_one_skeleton() {
    let folder = gaits("reference");
    for (name, offset) in [("walk.bvh", "OFFSET -20 90 450"), ("run.bvh", "OFFSET 5 91 -430")] {
        let text = folder.read(name);
        let (figure, motion) = text.split_once("MOTION").unwrap();
        let figure = figure.replacen("HIERARCHY\nROOT", "JOINT", 1);
        let (before, after) = figure.split_once("OFFSET").unwrap();
        let (_, after) = after.split_once('\n').unwrap();
        let six = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation";
        let root = format!("HIERARCHY\nROOT reference\n{{\nOFFSET 0 0 0\n{six}\n");
        let figure = format!("{root}{before}{offset}\n{after}}}\n");
        let (head, rows) = motion.split_once("Frame Time:").unwrap();
        let (time, rows) = rows.split_once('\n').unwrap();
        let rows: String = rows.lines().map(|row| format!("0 0 0 0 0 0 {row}\n")).collect();
        folder
            .write(&format!("r-{name}"), &format!("{figure}MOTION{head}Frame Time:{time}\n{rows}"));
    }
    let seam = |args: &str| json(&folder, &format!("connect {args} -o x.bvh --json"));
    let (own, plain) = (seam("r-walk.bvh r-run.bvh"), seam("walk.bvh run.bvh"));
    assert_eq!(own["seams"][0]["to_frame"], plain["seams"][0]["to_frame"]);
    // Between the motions the hips do not hurry, though the reference node carries them.
    let speed = |of: &serde_json::Value| of["seams"][0]["pelvis_m_s"].as_f64().unwrap();
    assert!((speed(&own) / speed(&plain) - 1.0).abs() < 1e-6, "{} {}", speed(&own), speed(&plain));
    done(&folder, "blend r-walk.bvh r-run.bvh -o z.bvh");
    // Where they are does not depend on OFFSET.
    let own = folder.read("r-run.bvh");
    folder.write("same.bvh", &own.replace("OFFSET 5 91 -430", "OFFSET -20 90 450"));
    done(&folder, "blend r-walk.bvh same.bvh -o y.bvh");
    assert_eq!(rows(&folder, "y.bvh"), rows(&folder, "z.bvh"));
    done(&folder, "match r-walk.bvh --frames 0..9 r-run.bvh --strict");
    done(&folder, "stats r-walk.bvh -o a.stats");
    done(&folder, "stats r-run.bvh -o b.stats");
    let got = folder.condyle("merge a.stats b.stats -o c.stats");
    assert!(!String::from_utf8_lossy(&got.stderr).contains("apart at rest"));
}

/// The names of all fields, but for those of a table by joint.
fn fields(value: &serde_json::Value, names: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (name, value) in object {
                names.insert(name.clone());
                if name != "joints" {
                    fields(value, names);
                }
            }
        }
        serde_json::Value::Array(all) => all.iter().for_each(|value| fields(value, names)),
        _ => {}
    }
}

#[test]
fn every_field_of_the_json_is_described() {
    let folder = gaits("fields");
    folder.write("broken.bvh", "HIERARCHY\n");
    done(&folder, "demo -o demo");
    let docs = include_str!("../../../../docs/edit.md");
    let (_, docs) = docs.split_once("\n## JSON\n").unwrap();
    for (command, args) in [
        ("match", vec!["walk.bvh --frames 0..9 run.bvh broken.bvh"]),
        ("connect", vec!["walk.bvh run.bvh --plant -o x.bvh"]),
        (
            "retarget",
            vec![
                "walk.bvh --onto run.bvh --keep-feet --keep-hands --scale 1.05 -o x.bvh",
                "walk.bvh --onto demo/figure.asf --keep-feet --keep-hands -o x.amc",
                "demo/figure.asf demo/figure.amc --onto walk.bvh --keep-hands -o y.bvh",
            ],
        ),
    ] {
        let (_, table) = docs.split_once(&format!("\n`{command}`:\n")).unwrap();
        let table: Vec<&str> =
            table.lines().skip(1).take_while(|line| line.starts_with('|')).collect();
        let table = table.join("\n");
        let mut names = std::collections::BTreeSet::new();
        for args in args {
            fields(&json(&folder, &format!("{command} {args} --json")), &mut names);
        }
        for name in &names {
            let told = [format!("`{name}`"), format!(".{name}`")];
            assert!(told.iter().any(|told| table.contains(told)), "{command}: {name}");
        }
        // And none that is not there.
        let words = table.lines().skip(2).filter_map(|line| line.split('|').nth(1));
        for word in words.flat_map(|cell| cell.split('`').skip(1).step_by(2)) {
            let name = word.rsplit('.').next().unwrap();
            assert!(names.contains(name), "{command}: {word}");
        }
    }
}

/// A preset is about the axes of biomechanics, and a joint may have others.
#[test]
fn limits_about_other_axes_than_those_of_a_knee_are_told() {
    let folder = gaits("stiff");
    done(&folder, "limits preset knee --left --as LeftLeg -o knee.json");
    let turned = folder.read("knee.json").replace("[0, 0, -1]", "[1, 0, 0]");
    assert!(turned.contains("[1, 0, 0]"));
    folder.write("turned.json", &turned);
    let told = |rig: &str| {
        let got = folder.condyle(&format!("blend walk.bvh run.bvh --rig {rig} -o x.bvh"));
        String::from_utf8(got.stderr)
            .unwrap()
            .contains("the limits of \"LeftLeg\" do not let it bend")
    };
    assert!(told("knee.json") && !told("turned.json"));
    done(&folder, "estimate walk.bvh run.bvh -o rig.json");
    assert!(!told("rig.json"));
}
