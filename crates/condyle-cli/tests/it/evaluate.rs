//! `condyle evaluate`.

use super::Folder;

/// A clip of the demo's figure, and a rig of it.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    assert!(folder.condyle("demo -o .").status.success());
    folder
}

#[test]
fn a15_evaluate_compares_all_ways_and_draws_them() {
    let folder = folder("evaluate");
    let got = folder.condyle(
        "evaluate figure.bvh --rig rig.json --fit figure.bvh --samples 20 --report ways.html --json",
    );
    assert!(got.status.success(), "{}", String::from_utf8_lossy(&got.stderr));
    let document: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    assert_eq!(document["frames"], 20);
    for way in ["with_limits", "box_limits", "euler_limits", "without_limits", "mean_pose"] {
        for field in ["position_mean_m", "position_p95_m", "rotation_mean_deg", "rotation_p95_deg"]
        {
            assert!(document[way][field].as_f64().unwrap() > 0.0, "{way} {field}");
        }
    }
    let mean = |way: &str| document[way]["rotation_mean_deg"].as_f64().unwrap();
    assert!(mean("with_limits") < mean("without_limits"));
    let names = ["Hips", "LeftHand", "RightHand", "LeftFoot", "RightFoot", "Head"];
    assert_eq!(document["files"][0]["effectors"], serde_json::json!(names));
    let page = folder.read("ways.html");
    assert!(page.contains("figure.bvh") && page.matches("<figure>").count() == 15);
    assert!(!page.contains("http:") && !page.contains("https:"));

    let got = folder.condyle("evaluate figure.bvh --rig rig.json --samples 20");
    let text = String::from_utf8(got.stdout).unwrap();
    assert!(text.contains("with limits the error of rotations is") && text.contains("--fit"));
    assert!(text.lines().all(|line| line.chars().count() <= 130), "{text}");
}

#[test]
fn evaluate_says_what_is_wrong() {
    let folder = folder("evaluate_wrong");
    folder.write("other.bvh", super::WALK.replace("Hips", "pelvis").as_str());
    for (args, what) in [
        ("evaluate figure.asf --rig rig.json", "there is no motion to find again"),
        ("evaluate figure.bvh --rig rig.json --effectors Paw", "there is no joint Paw"),
        (
            "evaluate figure.bvh --rig rig.json --report figure.bvh",
            "figure.bvh is one of the inputs",
        ),
        ("evaluate figure.bvh --rig rig.json --report rig.json", "rig.json is one of the inputs"),
        ("evaluate figure.bvh --rig rig.json --effectors Hips", "no joint that could be compared"),
        ("evaluate figure.bvh --rig rig.json --fit other.bvh", "none of its joints is in"),
        ("evaluate nothing.bvh --rig rig.json", "nothing.bvh"),
        ("evaluate figure.bvh --rig nothing.json", "nothing.json"),
    ] {
        let got = folder.condyle(args);
        let error = String::from_utf8(got.stderr).unwrap();
        assert_eq!(got.status.code(), Some(2), "{args}: {error}");
        assert!(error.contains(what), "{args}: {error}");
    }
}

#[test]
fn evaluate_notices_a_wrong_size() {
    let folder = folder("evaluate_size");
    let fits = "evaluate figure.bvh --rig rig.json --samples 3";
    for (unit, is_told) in [("cm", false), ("mm", true)] {
        let got = folder.condyle(&format!("{fits} --source-units {unit}"));
        let told = String::from_utf8(got.stderr).unwrap();
        assert!(got.status.success(), "{told}");
        let notice = "warning: figure.bvh: the figure measures";
        assert_eq!(told.contains(notice), is_told, "{unit}: {told}");
        assert_eq!(told.contains("--source-units cm would fit"), is_told, "{unit}: {told}");
    }
}
