//! `condyle stats`, `condyle merge` and `condyle corpus`.

use std::fs;

use super::estimate::{fails_in_json, json, rig, swinging};
use super::{Folder, complaints};

/// The last angle of a hinge in a rig.
fn end_of(folder: &Folder, name: &str, joint: &str) -> f64 {
    rig(folder, name)["joints"][joint]["limit"]["max_deg"].as_f64().unwrap()
}

fn code(folder: &Folder, args: &str) -> Option<i32> {
    folder.condyle(args).status.code()
}

#[test]
fn parts_in_any_order_and_grouping_give_the_same_rig_a11() {
    let folder = Folder::new("parts");
    for (i, frames) in [200, 90, 130].iter().enumerate() {
        folder.write(&format!("{i}.bvh"), &swinging(*frames));
        let args = format!("stats {i}.bvh -o {i}.cst");
        assert_eq!(code(&folder, &args), Some(0), "{args}");
    }
    let got = folder.condyle("stats 0.bvh 2.bvh -o 02.cst");
    let out = String::from_utf8(got.stdout).unwrap();
    assert!(out.starts_with("330 frames of 2 files, 3 joints, known to 0.965°; "), "{out}");
    assert!(out.ends_with(" kB written to 02.cst\n"), "{out}");
    for args in [
        "merge 0.cst 1.cst 2.cst -o a.json",
        "merge 2.cst 0.cst 1.cst -o b.json --threads 1",
        "merge 1.cst 02.cst -o c.json",
        "merge 02.cst 1.cst -o all.cst",
        "merge all.cst -o d.json",
    ] {
        let got = folder.condyle(args);
        assert_eq!(got.status.code(), Some(0), "{args}: {}", complaints(&got));
    }
    let first = folder.read("a.json");
    for other in ["b.json", "c.json", "d.json"] {
        assert_eq!(folder.read(other), first, "{other}");
    }
    assert_eq!(rig(&folder, "a.json")["joints"]["Leg"]["kind"], "hinge");
    assert!((end_of(&folder, "a.json", "Leg") - 40.0).abs() < 1.0);
    assert_eq!(rig(&folder, "a.json")["joints"]["Leg"]["samples"], 420);
    assert_eq!(code(&folder, "check 0.bvh 1.bvh 2.bvh --rig a.json"), Some(0));
    let value = json(&folder, "merge 0.cst 1.cst 2.cst -o e.json --json --margin 2");
    assert_eq!((&value["frames"], &value["files"][1]["frames"]), (&420.into(), &90.into()));
    let wider = end_of(&folder, "e.json", "Leg") - end_of(&folder, "a.json", "Leg");
    assert!((wider - 2.0).abs() < 1e-9, "{wider}");
    let value = json(&folder, "stats 0.bvh -o x.cst --json");
    assert_eq!((&value["joints"], &value["files"][0]["path"]), (&3.into(), &"0.bvh".into()));
}

#[test]
fn bad_parts_are_errors_that_name_the_file_and_the_place() {
    let folder = Folder::new("bad_parts");
    folder.write("a.bvh", &swinging(100));
    let other = swinging(100).replace("Foot", "Hand").replace("Leg", "Foot").replace("Hand", "Leg");
    folder.write("b.bvh", &other);
    assert_eq!(code(&folder, "stats a.bvh -o a.cst"), Some(0));
    assert_eq!(code(&folder, "stats b.bvh -o b.cst"), Some(0));
    let contradicted = |args: &str, file: &str| {
        let got = folder.condyle(args);
        assert_eq!(got.status.code(), Some(2), "{args}");
        let err = complaints(&got);
        assert!(err.starts_with(&format!("{file}: does not go with the files before it")), "{err}");
        assert!(err.contains("hangs on") && err.contains("\n  help: "), "{err}");
    };
    contradicted("stats a.bvh b.bvh -o ab.cst", "b.bvh");
    contradicted("merge a.cst b.cst -o rig.json", "b.cst");
    let bytes = fs::read(folder.0.join("a.cst")).unwrap();
    fs::write(folder.0.join("cut.cst"), &bytes[..bytes.len() / 2]).unwrap();
    let got = folder.condyle("merge a.cst cut.cst -o rig.json");
    assert_eq!(got.status.code(), Some(2));
    let err = complaints(&got);
    assert!(err.starts_with("cut.cst:@") && err.contains("\n  help: "), "{err}");
    let errors = fails_in_json(&folder, "merge a.cst cut.cst -o rig.json");
    assert_eq!(errors[0]["path"], "cut.cst");
    assert!(errors[0]["message"].as_str().unwrap().starts_with('@'), "{errors:?}");
    for args in [
        "merge gone.cst -o rig.json",
        "merge a.bvh -o rig.json",
        "merge a.cst -o rig.bvh",
        "stats a.bvh gone.bvh -o x.cst",
        "stats a.bvh -o x.json",
        "merge a.cst -o rig.json --coverage 0.5",
    ] {
        assert_eq!(code(&folder, args), Some(2), "{args}");
        if !args.contains("coverage") {
            fails_in_json(&folder, args);
        }
    }
    let errors = fails_in_json(&folder, "stats a.bvh b.bvh -o ab.cst");
    assert_eq!(errors[0]["path"], "b.bvh");
    assert_eq!(folder.names(), ["a.bvh", "a.cst", "b.bvh", "b.cst", "cut.cst"]);
}

/// Three figures that go together, an AMC with its skeleton, and all that can go wrong.
fn tree(name: &str) -> Folder {
    let folder = Folder::new(name);
    for sub in ["all/one", "all/two/deep", "all/amc", "empty"] {
        fs::create_dir_all(folder.0.join(sub)).unwrap();
    }
    folder.write("all/one/a.bvh", &swinging(200));
    folder.write("all/one/notes.txt", "nothing");
    folder.write("all/two/b.BVH", &swinging(90));
    folder.write("all/two/deep/c.bvh", &swinging(140));
    folder.write("all/two/deep/broken.bvh", "HIERARCHY\nROOT");
    let other = swinging(100).replace("Foot", "Hand").replace("Leg", "Foot").replace("Hand", "Leg");
    folder.write("all/two/other.bvh", &other);
    folder.write(
        "all/two/strange.bvh",
        &other.replace("Foot", "A").replace("Leg", "B").replace("Hips", "C"),
    );
    for args in ["convert all/one/a.bvh all/amc/7.amc", "convert all/two/other.bvh all/amc/8.amc"] {
        assert_eq!(code(&folder, args), Some(0), "{args}");
    }
    fs::rename(folder.0.join("all/amc/7.amc"), folder.0.join("all/amc/7_01.amc")).unwrap();
    fs::remove_file(folder.0.join("all/amc/8.amc")).unwrap();
    folder.write("all/amc/lost.amc", "");
    folder
}

#[test]
fn corpus_reads_what_it_can_and_lists_the_rest() {
    let folder = tree("corpus");
    let got = folder.condyle("corpus all -o rig.json");
    let (out, err) = (String::from_utf8(got.stdout.clone()).unwrap(), complaints(&got));
    assert_eq!(got.status.code(), Some(0), "{err}");
    assert!(out.contains("Leg") && out.contains("hinge"), "{out}");
    assert!(out.contains("\n2 files could not be read: see the end.\n"), "{out}");
    assert!(out.contains("\n2 files are of another figure and left out: see the end.\n"), "{out}");
    assert!(out.contains("630 frames of 4 files, noise "), "{out}");
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
    assert!(err.contains("all/two/deep/broken.bvh:"), "{err}");
    assert!(err.contains("all/amc/lost.amc: its skeleton was not found"), "{err}");
    assert!(
        err.contains("all/two/other.bvh: is of another figure than all/amc/7_01.amc: joint"),
        "{err}"
    );
    assert!(err.contains("all/two/strange.bvh: is of another figure"), "{err}");
    assert!((end_of(&folder, "rig.json", "Leg") - 40.0).abs() < 1.0);
    assert_eq!(code(&folder, "check all/one/a.bvh --rig rig.json"), Some(0));

    let value = json(&folder, "corpus all -o json.json --json");
    assert_eq!(value["files"].as_array().unwrap().len(), 4);
    assert_eq!(value["unreadable"].as_array().unwrap().len(), 2);
    assert_eq!(value["skipped"][0]["path"], "all/two/other.bvh");
    assert_eq!(value["frames"], 630);
    // Neither threads nor how folders are given change anything.
    let first = folder.read("rig.json");
    for args in ["all --threads 1", "all --threads 5", "all/two all all/one"] {
        assert_eq!(code(&folder, &format!("corpus {args} -o again.json --fresh")), Some(0));
        assert_eq!(folder.read("again.json"), first, "{args}");
    }
    // stats and merge are the same by hand.
    let files = "all/one/a.bvh all/two/b.BVH all/two/deep/c.bvh";
    assert_eq!(code(&folder, &format!("stats {files} -o bvh.cst")), Some(0));
    assert_eq!(code(&folder, "stats all/amc/7.asf all/amc/7_01.amc -o amc.cst"), Some(0));
    assert_eq!(code(&folder, "merge bvh.cst amc.cst -o merged.json"), Some(0));
    assert_eq!(folder.read("merged.json"), first);
}

#[test]
fn two_passes_give_the_exact_answer() {
    let folder = tree("two_pass");
    let got = folder.condyle("corpus all -o rig.json --two-pass");
    assert_eq!(got.status.code(), Some(0), "{}", complaints(&got));
    let files = "all/amc/7.asf all/amc/7_01.amc all/one/a.bvh all/two/b.BVH all/two/deep/c.bvh";
    assert_eq!(code(&folder, &format!("estimate {files} -o exact.json")), Some(0));
    assert_eq!(folder.read("rig.json"), folder.read("exact.json"));
    for how in ["--coverage 0.9", "--method paper"] {
        assert_eq!(code(&folder, &format!("corpus all -o x.json --two-pass {how}")), Some(0));
        let got = folder.condyle(&format!("corpus all -o y.json {how}"));
        assert_eq!(got.status.code(), Some(2));
        assert!(complaints(&got).contains("add --two-pass"), "{}", complaints(&got));
    }
    let got = folder.condyle("corpus all -o y.json --two-pass --memory 0.00001");
    assert_eq!(got.status.code(), Some(2));
    let said = " about 1 MB of motion in memory, more than 0.00001 GB";
    assert!(complaints(&got).contains(said), "{}", complaints(&got));
    assert!(!folder.names().contains(&"y.json".to_owned()));
}

#[test]
fn two_passes_symmetrise_as_an_estimate_does() {
    let folder = Folder::new("corpus_symmetry");
    assert_eq!(code(&folder, "demo -o demo"), Some(0));
    for sub in ["all", "nameless"] {
        fs::create_dir_all(folder.0.join(sub)).unwrap();
    }
    folder.write("all/figure.bvh", &folder.read("demo/figure.bvh"));
    folder.write("nameless/swing.bvh", &swinging(100));
    let got = folder.condyle("corpus all -o rig.json --two-pass --symmetrise");
    assert_eq!(got.status.code(), Some(0), "{}", complaints(&got));
    assert!(String::from_utf8_lossy(&got.stdout).contains("\nSymmetrised: "));
    assert_eq!(code(&folder, "estimate all/figure.bvh -o exact.json --symmetrise"), Some(0));
    assert_eq!(folder.read("rig.json"), folder.read("exact.json"));
    let got = folder.condyle("corpus nameless -o x.json --two-pass --symmetrise");
    assert_eq!(got.status.code(), Some(2));
    assert!(complaints(&got).contains("left from right"), "{}", complaints(&got));
    // Sums of samples cannot be mirrored.
    let got = folder.condyle("corpus all -o x.json --symmetrise");
    assert_eq!(got.status.code(), Some(2));
    assert!(complaints(&got).contains("--two-pass"), "{}", complaints(&got));
}

#[test]
fn the_figure_is_that_of_most_files() {
    let folder = Folder::new("most");
    for sub in ["all/a", "all/b"] {
        fs::create_dir_all(folder.0.join(sub)).unwrap();
    }
    // The first file by path is of another figure than the next three.
    let other = swinging(100).replace("Foot", "Hand").replace("Leg", "Foot").replace("Hand", "Leg");
    folder.write("all/a/0.bvh", &other);
    for (name, frames) in [("b/1.bvh", 200), ("b/2.bvh", 90), ("b/3.bvh", 140)] {
        folder.write(&format!("all/{name}"), &swinging(frames));
    }
    let got = folder.condyle("corpus all -o rig.json");
    let (out, err) = (String::from_utf8(got.stdout.clone()).unwrap(), complaints(&got));
    assert_eq!(got.status.code(), Some(0), "{err}");
    assert!(out.contains("430 frames of 3 files, noise "), "{out}");
    assert!(
        err.starts_with("all/a/0.bvh: is of another figure than all/b/1.bvh: joint \""),
        "{err}"
    );
    assert_eq!(code(&folder, "stats all/b/1.bvh all/b/2.bvh all/b/3.bvh -o b.cst"), Some(0));
    assert_eq!(code(&folder, "merge b.cst -o merged.json"), Some(0));
    assert_eq!(folder.read("merged.json"), folder.read("rig.json"));
    let args = "corpus all -o two.json --two-pass --threads";
    assert_eq!(code(&folder, &format!("{args} 1")), Some(0));
    let two = folder.read("two.json");
    assert_eq!(code(&folder, &format!("{args} 3 --fresh")), Some(0));
    assert_eq!(folder.read("two.json"), two);
    let files = "all/b/1.bvh all/b/2.bvh all/b/3.bvh";
    assert_eq!(code(&folder, &format!("estimate {files} -o exact.json")), Some(0));
    assert_eq!(folder.read("exact.json"), two);
    // As many of each: the first path decides, however the folders are given.
    for name in ["a/4.bvh", "a/5.bvh"] {
        folder.write(&format!("all/{name}"), &other);
    }
    for args in ["all", "all/b all/a", "all/b all --threads 1"] {
        let got = folder.condyle(&format!("corpus {args} -o tie.json --fresh --json"));
        let value: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
        assert_eq!(value["files"][0]["path"], "all/a/0.bvh", "{args}");
        assert_eq!(value["skipped"].as_array().unwrap().len(), 3, "{args}");
    }
}

#[test]
fn smaller_figures_that_do_not_contradict_go_with_the_largest() {
    let folder = Folder::new("smaller");
    fs::create_dir_all(folder.0.join("all")).unwrap();
    // The first has a joint of another name than the two others.
    let whole = swinging(150);
    folder.write("all/1.bvh", &whole);
    folder.write("all/2.bvh", &swinging(90));
    folder.write("all/0.bvh", &whole.replace("Foot", "Paw"));
    let got = folder.condyle("corpus all -o rig.json");
    assert_eq!(got.status.code(), Some(0), "{}", complaints(&got));
    let out = String::from_utf8(got.stdout.clone()).unwrap();
    assert!(out.contains("390 frames of 3 files"), "{out}");
    assert!(rig(&folder, "rig.json")["joints"]["Paw"].is_object());
    // Two passes: those of the figure first, so that its joints are there.
    let got = folder.condyle("corpus all -o two.json --two-pass");
    assert_eq!(got.status.code(), Some(0), "{}", complaints(&got));
    assert_eq!(code(&folder, "estimate all/1.bvh all/2.bvh all/0.bvh -o exact.json"), Some(0));
    assert_eq!(folder.read("two.json"), folder.read("exact.json"));
    assert!(rig(&folder, "two.json")["joints"]["Foot"].is_object());
}

#[test]
fn a_folder_without_motion_is_an_error() {
    let folder = tree("no_corpus");
    folder.check(
        "corpus empty -o rig.json",
        2,
        "",
        "condyle: there are no motion files in \"empty\"\n  help: read are .bvh, and .amc with its \
         .asf in the same folder\n",
    );
    let got = folder.condyle("corpus gone -o rig.json");
    assert_eq!(got.status.code(), Some(2));
    assert!(complaints(&got).starts_with("gone: cannot be read: "), "{}", complaints(&got));
    folder.write("empty/broken.bvh", "HIERARCHY");
    let got = folder.condyle("corpus empty -o rig.json");
    assert_eq!(got.status.code(), Some(2));
    let err = complaints(&got);
    assert!(
        err.contains("empty/broken.bvh:") && err.contains("the only file could not be read"),
        "{err}"
    );
    let errors = fails_in_json(&folder, "corpus empty -o rig.json");
    assert_eq!((errors.len(), &errors[0]["path"]), (2, &"empty/broken.bvh".into()));
    fails_in_json(&folder, "corpus gone -o rig.json");
    fails_in_json(&folder, "corpus all -o rig.json --coverage 0.5");
    // One file stands for itself.
    assert_eq!(code(&folder, "corpus all/one/a.bvh -o rig.json"), Some(0));
}

/// As `estimate` does: the rest pose of a BVH file is in its offsets.
#[test]
fn other_rest_poses_are_told_in_one_pass_and_of_parts() {
    let folder = Folder::new("corpus_rests");
    let text = swinging(100);
    let bent = text.replace("OFFSET 0 -80 0", "OFFSET 80 0 0");
    assert_ne!(text, bent);
    fs::create_dir(folder.0.join("all")).unwrap();
    for (name, text) in [("a", &text), ("b", &text), ("c", &text), ("x", &bent), ("y", &bent)] {
        folder.write(&format!("all/{name}.bvh"), text);
    }
    // Longer bones are no other pose.
    folder.write("all/d.bvh", &text.replace("OFFSET 0 -80 0", "OFFSET 0 -50 5"));
    let value = json(&folder, "corpus all -o rig.json --json");
    let told = value["warnings"].as_array().unwrap().iter().filter_map(|w| w.as_str());
    let told: Vec<&str> = told.filter(|told| told.starts_with("all/")).collect();
    // Which of the skeletons the rig has is arbitrary, but fixed.
    let [told] = told[..] else { panic!("{told:?}") };
    let who = ["all/x.bvh and 1 more", "all/a.bvh and 3 more"];
    assert!(who.iter().any(|who| told.starts_with(who)), "{told}");
    assert!(told.contains(": at rest the bones to \"Foot\" point another way"), "{told}");
    // The same bits in any order, and the same complaint.
    for (first, second) in [("a", "x"), ("x", "a")] {
        for name in [first, second] {
            assert_eq!(code(&folder, &format!("stats all/{name}.bvh -o {name}.cst")), Some(0));
        }
        let got = folder.condyle(&format!("merge {first}.cst {second}.cst -o merged.json --fresh"));
        let told = format!(
            "warning: {second}.cst: the bones to joint \"Foot\" point 90 deg apart at rest; the same \
             angles are other poses, so sum them up apart\n"
        );
        assert_eq!(complaints(&got), told);
        let got = folder.condyle(&format!("stats all/{first}.bvh all/{second}.bvh -o both.cst"));
        assert!(complaints(&got).contains("point 90 deg apart at rest"), "{}", complaints(&got));
    }
    assert_eq!(complaints(&folder.condyle("stats all/a.bvh all/d.bvh -o both.cst")), "");
}
