//! `condyle couple`.

use std::fs;

use condyle::formats::{Format, MotionFile, WriteOptions, write};
use condyle::synth::{CoupledFigure, CoupledOptions};
use serde_json::Value;

use super::Folder;

/// Clips of a figure with couplings, and a rig of it.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    let options =
        CoupledOptions { hinges: 6, balls: 0, couplings: 2, seconds: 20.0, ..Default::default() };
    let figure = CoupledFigure::generate(&options, 2).unwrap();
    for (i, clip) in figure.clips.into_iter().enumerate() {
        let file = MotionFile::new(figure.skeleton.clone(), clip);
        let written = write(&file, Format::Bvh, &WriteOptions::default()).unwrap();
        fs::write(folder.0.join(format!("{i}.bvh")), &written.parts[0].1).unwrap();
    }
    let got = folder.condyle("estimate 0.bvh 1.bvh 2.bvh -o rig.json");
    assert!(got.status.success(), "{}", String::from_utf8_lossy(&got.stderr));
    folder
}

const CLIPS: &str = "0.bvh 1.bvh 2.bvh --rig rig.json";

#[test]
fn couplings_are_printed_drawn_and_written_into_the_rig() {
    let folder = folder("couple");
    let got = folder.condyle(&format!("couple {CLIPS} --json -o coupled.json --report pairs.html"));
    assert_eq!(got.status.code(), Some(0), "{}", String::from_utf8_lossy(&got.stderr));
    let found: Value = serde_json::from_slice(&got.stdout).unwrap();
    let couplings = found["couplings"].as_array().unwrap();
    assert_eq!(couplings.len(), 2, "{found:#}");
    assert_eq!(found["angles"], 6);
    for of in couplings {
        let function = match of["does"].as_str().unwrap() {
            "drive" => &of["curve"],
            _ if of["lower"].is_null() => &of["upper"],
            _ => &of["lower"],
        };
        assert!(function["band"].as_array().unwrap().len() > 1, "{of:#}");
        assert!(of["false_share"].as_f64().unwrap() <= 0.01);
    }
    let page = folder.read("pairs.html");
    assert!(
        page.matches("<svg").count() == 2 && !page.contains("http:") && !page.contains("https:")
    );
    let rig: Value = serde_json::from_str(&folder.read("coupled.json")).unwrap();
    let names: Vec<&String> = rig["couplings"].as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 2);

    // For people, and with the rig on standard output.
    let got = folder.condyle(&format!("couple {CLIPS}"));
    let text = String::from_utf8(got.stdout).unwrap();
    assert!(text.contains("2 couplings") && text.contains("passive"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let got = folder.condyle(&format!("couple {CLIPS} -o -"));
    let printed: Value = serde_json::from_slice(&got.stdout).unwrap();
    assert_eq!(printed, rig);
    assert!(String::from_utf8(got.stderr).unwrap().contains("2 couplings"));
}

#[test]
fn learning_again_replaces_what_was_learnt_and_keeps_what_was_edited() {
    let folder = folder("couple_again");
    let again = format!("couple {CLIPS} -o coupled.json");
    assert!(folder.condyle(&again).status.success());
    let first = folder.read("coupled.json");
    assert!(folder.condyle(&again).status.success());
    assert_eq!(folder.read("coupled.json"), first);
    // One is edited, the other gets another number.
    let mut rig: Value = serde_json::from_str(&first).unwrap();
    let couplings = rig["couplings"].as_object_mut().unwrap();
    let names: Vec<String> = couplings.keys().cloned().collect();
    couplings[&names[0]]["source"] = "edited".into();
    couplings[&names[0]]["seen_deg"] = serde_json::json!([-1, 1]);
    couplings[&names[1]]["seen_deg"] = serde_json::json!([-1, 1]);
    let edited = couplings[&names[0]].clone();
    folder.write("coupled.json", &rig.to_string());
    let got = folder.condyle(&again);
    assert!(String::from_utf8(got.stdout).unwrap().contains("kept, as edited"));
    let now: Value = serde_json::from_str(&folder.read("coupled.json")).unwrap();
    assert_eq!(now["couplings"].as_object().unwrap().len(), 2);
    assert_eq!(now["couplings"][&names[0]], edited);
    let then: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(now["couplings"][&names[1]], then["couplings"][&names[1]]);
    // Estimating into it drops what was learnt, and not what was edited.
    assert!(folder.condyle("estimate 0.bvh 1.bvh 2.bvh -o coupled.json").status.success());
    let now: Value = serde_json::from_str(&folder.read("coupled.json")).unwrap();
    assert_eq!(now["couplings"].as_object().unwrap().keys().collect::<Vec<_>>(), [&names[0]]);
}

#[test]
fn couple_says_what_is_wrong() {
    let folder = folder("couple_wrong");
    folder.write("walk.bvh", super::WALK);
    folder.write("notes.txt", "not a rig");
    for (args, what) in [
        ("couple 0.bvh", "--rig"),
        ("couple nothing.bvh --rig rig.json", "nothing.bvh"),
        ("couple 0.bvh --rig nothing.json", "nothing.json"),
        ("couple walk.bvh --rig rig.json", "no joint of walk.bvh has an entry"),
        ("couple 0.bvh --rig rig.json --report rig.json", "rig.json is one of the inputs"),
        ("couple 0.bvh --rig rig.json -o 0.bvh", "0.bvh is one of the inputs"),
        ("couple 0.bvh --rig rig.json -o notes.txt", "is there and no rig document"),
        ("couple 0.bvh --rig rig.json --false-share 2", "between 0 and 1"),
    ] {
        let got = folder.condyle(args);
        let error = String::from_utf8(got.stderr).unwrap();
        assert_eq!(got.status.code(), Some(2), "{args}: {error}");
        assert!(error.contains(what), "{args}: {error}");
    }
    // One take: told, and done.
    let got = folder.condyle("couple 0.bvh --rig rig.json");
    let told = String::from_utf8(got.stderr).unwrap();
    assert!(got.status.success());
    let found = String::from_utf8(got.stdout).unwrap();
    assert_eq!(told.contains("one take only"), !found.contains("0 couplings"), "{told}{found}");
}
