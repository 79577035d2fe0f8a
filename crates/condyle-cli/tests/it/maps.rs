//! Tables of names that users give by `--map`, and what is told where names are not all known.

use std::collections::BTreeSet;

use condyle::formats::{ReadOptions, read};
use condyle::math::Rotation;
use condyle::motion::{Clip, Pose, Track};
use serde_json::Value;

use super::exporters::{apart, bvh, done, motion, walks};
use super::{Folder, complaints};

/// The joints of a BVH, in order.
fn joints(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let line = line.trim();
        let name = line.strip_prefix("JOINT ").or_else(|| line.strip_prefix("ROOT "))?;
        Some(name.to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// A file with names that say nothing, and a table of what they are.
fn nameless(folder: &Folder, from: &str, to: &str, map: &str) {
    let mut text = folder.read(from);
    done(folder, &format!("anatomy {from} -o {map} --force"));
    let mut table = folder.read(map);
    for (k, name) in joints(&text).iter().enumerate() {
        for word in ["JOINT", "ROOT"] {
            text = text.replace(&format!("{word} {name}\n"), &format!("{word} bone{k}\n"));
        }
        table = table.replace(&format!("\"{name}\":"), &format!("\"bone{k}\":"));
    }
    folder.write(to, &text);
    folder.write(map, &table);
}

/// The name that a joint has among those that say nothing.
fn bone(folder: &Folder, file: &str, name: &str) -> String {
    let at = joints(&folder.read(file)).iter().position(|joint| joint == name).unwrap();
    format!("bone{at}")
}

fn json(folder: &Folder, args: &str) -> Value {
    let got = folder.condyle(args);
    serde_json::from_slice(&got.stdout).unwrap_or_else(|_| panic!("{args}: {}", complaints(&got)))
}

#[test]
fn a_name_of_a_table_that_no_joint_has_is_told_with_the_nearest_one() {
    let folder = walks("maps_misspelt");
    nameless(&folder, "y.bvh", "bare.bvh", "map.json");
    done(&folder, "mirror y.bvh -o y_m.bvh");
    let told = done(&folder, "mirror bare.bvh --map map.json -o m.bvh");
    assert!(!told.contains("warning"), "{told}");
    let off = apart(&motion(&folder, "y_m.bvh"), Rotation::IDENTITY, &motion(&folder, "m.bvh"));
    assert!(off < 1e-6, "{off}");
    let knee = bone(&folder, "y.bvh", "LeftLeg");
    let good = folder.read("map.json");
    folder.write("map.json", &good.replace(&format!("\"{knee}\":"), &format!("\"{knee}x\":")));
    for args in ["mirror bare.bvh -o m.bvh", "transform bare.bvh --facing 0 -o m.bvh"] {
        let told = done(&folder, &format!("{args} --map map.json"));
        let said =
            format!("warning: bare.bvh: \"{knee}x\" (near is \"{knee}\") is in the table of names");
        assert!(told.contains(&said), "{told}");
        assert!(told.contains("no joint is recognised as the left knee"), "{told}");
    }
    let told = done(&folder, "estimate bare.bvh --map map.json -o rig.json");
    assert!(told.contains(&format!("near is \"{knee}\"")), "{told}");
    let shown = json(&folder, "anatomy bare.bvh --map map.json --json");
    let codes: Vec<&str> =
        shown["findings"].as_array().unwrap().iter().filter_map(|f| f["code"].as_str()).collect();
    assert!(codes.contains(&"names-lacked") && codes.contains(&"one-sided"), "{codes:?}");
    // Of names that a table of ours has, too, a table with a misspelt one is not used.
    done(&folder, "anatomy y.bvh -o y.json");
    folder.write("y.json", &folder.read("y.json").replace("\"LeftLeg\":", "\"LeftLegg\":"));
    let told = done(&folder, "mirror y.bvh --map y.json -o m.bvh");
    assert!(
        told.contains("\"LeftLegg\" (near is \"LeftLeg\")") && told.contains("not used"),
        "{told}"
    );
}

#[test]
fn a_main_joint_that_is_recognised_on_one_side_only_is_told() {
    let folder = walks("maps_one_sided");
    folder.write("odd.bvh", &folder.read("y.bvh").replace("JOINT LeftLeg\n", "JOINT Blob\n"));
    let said = "no joint is recognised as the left knee (the right one is \"RightLeg\")";
    let told = done(&folder, "mirror odd.bvh -o m.bvh");
    assert!(told.contains(&format!("warning: odd.bvh: {said}")), "{told}");
    let got = folder.condyle("anatomy odd.bvh");
    assert_eq!(got.status.code(), Some(1));
    assert!(complaints(&got).contains(said), "{}", complaints(&got));
    let got = folder.condyle("info odd.bvh");
    let words =
        String::from_utf8(got.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(said), "{words}");
    // On both sides, there is no counterpart either.
    let text = folder.read("y.bvh").replace("JOINT LeftUpLeg\n", "JOINT Blob\n");
    folder.write("both.bvh", &text.replace("JOINT RightUpLeg\n", "JOINT Blub\n"));
    let told = done(&folder, "mirror both.bvh -o m.bvh");
    assert!(told.contains("\"Blob\" and \"Blub\" have no counterpart on the other side"), "{told}");
    for args in ["mirror y.bvh -o m.bvh", "mirror along_z.bvh -o m.bvh", "anatomy y.bvh"] {
        let told = done(&folder, args);
        assert!(!told.contains("no joint is recognised"), "{args}: {told}");
        assert!(!told.contains("no counterpart"), "{args}: {told}");
    }
}

#[test]
fn feet_are_planted_by_a_table_of_names_too() {
    let folder = Folder::new("maps_plant");
    done(&folder, "demo -o .");
    nameless(&folder, "walk.bvh", "a.bvh", "map.json");
    nameless(&folder, "run.bvh", "b.bvh", "map.json");
    let planted = |args: &str| {
        let shown = json(&folder, &format!("connect {args} --plant -o both.bvh --force --json"));
        let warnings = shown["warnings"].as_array().unwrap();
        let without = warnings.iter().any(|w| w.as_str().unwrap().contains("no foot is planted"));
        (shown["seams"][0]["planted_frames"].as_u64().unwrap(), without)
    };
    let usual = planted("walk.bvh run.bvh");
    assert!(usual.0 > 0 && !usual.1, "{usual:?}");
    assert_eq!(planted("a.bvh b.bvh"), (0, true));
    assert_eq!(planted("a.bvh b.bvh --map map.json"), usual);
}

#[test]
fn a_table_that_was_filled_in_is_not_replaced() {
    let folder = walks("maps_filled");
    done(&folder, "anatomy y.bvh -o map.json");
    // The same again is no loss.
    done(&folder, "anatomy y.bvh -o map.json");
    let filled = folder.read("map.json").replace("left knee", "right knee");
    folder.write("map.json", &filled);
    let got = folder.condyle("anatomy y.bvh -o map.json");
    let told = complaints(&got);
    assert_eq!(got.status.code(), Some(2), "{told}");
    assert!(told.contains("map.json: a table with other contents is there"), "{told}");
    assert!(told.contains("--force"), "{told}");
    assert_eq!(folder.read("map.json"), filled);
    done(&folder, "anatomy y.bvh -o map.json --force");
    assert_ne!(folder.read("map.json"), filled);
}

#[test]
fn every_command_that_needs_names_takes_a_table() {
    let folder = walks("maps_commands");
    nameless(&folder, "y.bvh", "bare.bvh", "map.json");
    // Dials by what joints are of the body.
    let knees = |args: &str, name: &str| -> Vec<f64> {
        done(&folder, &format!("fit {args} --rig body -o {name}"));
        let text = folder.read(name);
        let (head, rows) = text.split_once('\n').unwrap();
        let at = head.split(',').position(|dial| dial == "left.knee.flexion_deg").unwrap();
        rows.lines().map(|row| row.split(',').nth(at).unwrap().parse().unwrap()).collect()
    };
    let got = folder.condyle("fit bare.bvh --rig body -o no.csv");
    assert_eq!(got.status.code(), Some(2));
    assert!(complaints(&got).contains("--map"), "{}", complaints(&got));
    let (ours, theirs) = (knees("bare.bvh --map map.json", "bare.csv"), knees("y.bvh", "y.csv"));
    for (a, b) in ours.iter().zip(&theirs) {
        assert!((a - b).abs() < 0.5, "{a} {b}");
    }
    assert_eq!(ours.len(), 90);
    let got = folder.condyle("pose body -o body.bvh");
    assert_eq!(got.status.code(), Some(0), "{}", complaints(&got));
    let got = folder.condyle("fit body.bvh --rig body --up y -o body.csv");
    assert_eq!(got.status.code(), Some(2), "{}", complaints(&got));
    // Hands, feet and head.
    done(&folder, "estimate bare.bvh -o rig.json");
    let ends = |args: &str| {
        let shown = json(&folder, &format!("evaluate {args} --rig rig.json --samples 2 --json"));
        let ends = shown["files"][0]["effectors"].as_array().unwrap().clone();
        BTreeSet::from_iter(ends.iter().map(|end| end.as_str().unwrap().to_owned()))
    };
    let named = ends("bare.bvh --map map.json");
    for name in ["LeftHand", "RightHand", "LeftFoot", "RightFoot", "Hips"] {
        assert!(named.contains(&bone(&folder, "y.bvh", name)), "{name}: {named:?}");
    }
    assert_ne!(named, ends("bare.bvh"));
    // Where joints are, seen from where the figure stands and faces.
    let matched = |args: &str| {
        let places = "--frames 0..9 --metric position --json";
        json(&folder, &format!("match {args} {places}"))["matches"][1]["distance"].as_f64().unwrap()
    };
    // The root stays at the origin.
    let text = folder.read("y.bvh");
    let (tree, rows) = text.split_once("MOTION\n").unwrap();
    let tree = tree.replace("HIERARCHY\n", "").replace("ROOT ", "JOINT ");
    let turns = "Xposition Yposition Zposition Zrotation Xrotation Yrotation";
    let above = format!("HIERARCHY\nROOT Scene\n{{\nOFFSET 0 0 0\nCHANNELS 6 {turns}\n{tree}}}\n");
    let (head, rows) = rows.split_at(rows.match_indices('\n').nth(1).unwrap().0 + 1);
    let rows: Vec<String> = rows.lines().map(|row| format!("0 0 0 0 0 0 {row}\n")).collect();
    folder.write("scene.bvh", &format!("{above}MOTION\n{head}{}", rows.concat()));
    nameless(&folder, "scene.bvh", "plain.bvh", "scene.json");
    let (ours, theirs) = (matched("plain.bvh --map scene.json"), matched("scene.bvh"));
    assert!((ours - theirs).abs() < 1e-9, "{ours} {theirs}");
    assert!((matched("plain.bvh") - theirs).abs() > 1e-3);
    // Which way is up, and what says so.
    let up = |args: &str| json(&folder, &format!("info {args} --json"))["files"][0]["up"].clone();
    assert!(up("bare.bvh")["why"].as_str().unwrap().contains("say nothing"));
    assert!(up("bare.bvh --map map.json")["why"].as_str().unwrap().contains("body along it"));
    assert_eq!(up("bare.bvh --up z")["axis"], "z");
    let told = done(&folder, "info z.bvh --map map.json");
    assert!(told.contains("less than half"), "{told}");
    // The sides of the body.
    std::fs::create_dir_all(folder.0.join("takes")).unwrap();
    std::fs::copy(folder.0.join("bare.bvh"), folder.0.join("takes/bare.bvh")).unwrap();
    let corpus = "corpus takes --two-pass --symmetrise -o sides.json";
    assert_eq!(folder.condyle(corpus).status.code(), Some(2));
    done(&folder, &format!("{corpus} --map map.json"));
    let got = folder.condyle("corpus takes -o sides.json --map map.json");
    assert_eq!(got.status.code(), Some(2), "{}", complaints(&got));
}

#[test]
fn no_command_names_an_option_that_it_has_not_got() {
    let folder = walks("maps_options");
    nameless(&folder, "x.bvh", "bare.bvh", "map.json");
    let odd = folder.read("along_z.bvh").replace("JOINT LeftLeg\n", "JOINT Blob\n");
    folder.write("odd.bvh", &odd);
    let text = odd.split("MOTION").next().unwrap();
    let zeros = vec!["0"; 3 * joints(text).len() + 3].join(" ");
    folder.write("still.bvh", &format!("{text}MOTION\nFrames: 1\nFrame Time: 0.1\n{zeros}\n"));
    let mut options = 0;
    for file in ["bare.bvh", "odd.bvh", "still.bvh", "z.bvh"] {
        for args in [
            "mirror FILE -o out.bvh",
            "transform FILE --facing 0 -o out.bvh",
            "retarget FILE --onto y.bvh -o out.bvh",
            "retarget y.bvh --onto FILE -o out.bvh",
            "connect FILE FILE --window 5 --plant -o out.bvh",
            "blend FILE FILE -o out.bvh",
            "match FILE --frames 0..5 --metric position",
            "fit FILE --rig body -o out.csv",
            "info FILE",
            "anatomy FILE",
            "estimate FILE -o out.json --fresh --symmetrise",
            "evaluate FILE --samples 1 --rig rig.json",
        ] {
            let command = args.split(' ').next().unwrap();
            if command == "evaluate" {
                folder.condyle(&format!("estimate {file} -o rig.json --fresh"));
            }
            let got = folder.condyle(&args.replace("FILE", file));
            let help = folder.condyle(&format!("{command} --help"));
            let help = String::from_utf8(help.stdout).unwrap();
            let said = complaints(&got) + &String::from_utf8_lossy(&got.stdout);
            for word in said.split(|c: char| !(c.is_ascii_lowercase() || c == '-')) {
                if word.len() > 3 && word.starts_with("--") && !word[2..].contains("--") {
                    assert!(
                        help.contains(&format!("{word} ")) || help.contains(&format!("{word}\n")),
                        "{args} with {file} tells of {word}: {said}"
                    );
                    options += 1;
                }
            }
        }
    }
    assert!(options > 10, "{options}");
}

#[test]
fn a_table_says_which_way_is_up_where_nothing_else_does() {
    let folder = walks("maps_up");
    // Bones along x, and motion that says nothing: the target of a studio.
    let (skeleton, clip) = motion(&folder, "along_z.bvh");
    let rest = Pose::rest(&skeleton);
    let still = skeleton
        .indices()
        .map(|j| Track::constant(rest.rotations[j.get()], rest.translations_m[j.get()]));
    let still = Clip::new(2, clip.rate(), still.collect()).unwrap();
    folder.write("bare.bvh", &bvh(&skeleton, &still));
    done(&folder, "anatomy along_z.bvh -o map.json");
    let map = folder.read("map.json");
    assert!(map.contains("\"up\": \"z\""), "{map}");
    let told = done(&folder, "retarget z.bvh --onto bare.bvh --map map.json -o out.bvh");
    assert!(!told.contains("up: y is taken"), "{told}");
    let off = apart(&motion(&folder, "z.bvh"), Rotation::IDENTITY, &motion(&folder, "out.bvh"));
    assert!(off < 0.08, "{off} m");
    let shown = json(&folder, "anatomy bare.bvh --map map.json --json");
    assert_eq!(shown["up"]["axis"], "z");
    assert_eq!(shown["up"]["why"], "as the table of names says");
    // Motion, the rest pose and the user know better.
    let shown = json(&folder, "anatomy along.bvh --map map.json --json");
    assert_eq!(shown["up"]["axis"], "y");
    let shown = json(&folder, "anatomy bare.bvh --map map.json --up x --json");
    assert_eq!(shown["up"]["axis"], "x");
    // Without, it is assumed, and the option of the target is named.
    folder.write("old.json", &map.replace(" \"up\": \"z\",\n", ""));
    let told = done(&folder, "retarget z.bvh --onto bare.bvh --map old.json -o old.bvh");
    let line = told.lines().find(|line| line.contains("y is taken")).unwrap();
    assert!(line.contains("bare.bvh") && line.contains("--onto-up takes another axis"), "{line}");
    let off = apart(&motion(&folder, "z.bvh"), Rotation::IDENTITY, &motion(&folder, "old.bvh"));
    assert!(off > 0.5, "{off} m");
    folder.write("bad.json", &map.replace("\"up\": \"z\"", "\"up\": \"up\""));
    let got = folder.condyle("anatomy bare.bvh --map bad.json");
    assert_eq!(got.status.code(), Some(2));
    assert!(complaints(&got).contains("use one of x, y, z, -x, -y, -z"), "{}", complaints(&got));
    // A file that stands has it, too, and one that says nothing has not.
    let bytes = folder.read("bare.bvh");
    assert!(read(bytes.as_bytes(), None, &ReadOptions::default()).is_ok());
    let got = folder.condyle("anatomy bare.bvh -o -");
    assert!(!String::from_utf8(got.stdout).unwrap().contains("\"up\""));
}

/// As docs/edit.md promises.
#[test]
fn mirrored_twice_is_the_same_where_axes_are_told_and_nearly_where_they_are_from_the_motion() {
    let folder = walks("maps_twice");
    let twice = |file: &str, map: &str| {
        done(&folder, &format!("mirror {file} -o once.bvh --force {map}"));
        done(&folder, &format!("mirror once.bvh -o twice.bvh --force {map}"));
        apart(&motion(&folder, file), Rotation::IDENTITY, &motion(&folder, "twice.bvh"))
    };
    assert!(twice("y.bvh", "") < 1e-6);
    let off = twice("along.bvh", "");
    assert!(off < 0.005 && off > 1e-6, "{off}");
    done(&folder, "anatomy along.bvh -o map.json");
    let off = twice("along.bvh", "--map map.json");
    assert!(off < 1e-6, "{off}");
}

#[test]
fn errors_in_a_table_name_the_page_about_tables() {
    let folder = walks("maps_errors");
    folder.write("empty.json", "{}");
    let got = folder.condyle("mirror y.bvh --map empty.json -o out.bvh");
    let told = complaints(&got);
    assert_eq!(got.status.code(), Some(2), "{told}");
    assert!(told.contains("\"title\" is missing"), "{told}");
    assert!(told.contains("docs/anatomy.md has an example"), "{told}");
}
