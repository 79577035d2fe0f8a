//! Documents come back as they were, and edits change what they touch.

use std::path::Path;

use condyle::glam::DVec3;
use condyle::limits::{Limit, SwingLimit, SwingShape, SwingTwistLimit, TwistBounds};
use condyle::math::{Angle, Arc, Rotation, Swing, SwingAxes};
use condyle::rig::{
    JointKind, Rig, RigErrorKind, RigJoint, RigJoints, RigWarningKind, Soft, Source,
};
use condyle::skeleton::{Joint, Skeleton};

use super::{contents, document, words, write, zoo};

/// The example of the command line's contract, as it stands there.
const EXAMPLE: &str = r#"{
  "condyle": 1,
  "skeleton": { "joints": [ { "name": "LeftForeArm", "parent": "LeftArm",
                              "offset_m": [0.28, 0, 0], "rest": [1, 0, 0, 0] } ] },
  "joints": {
    "LeftForeArm": {
      "kind": "hinge",
      "confidence": 0.99, "why": "second axis 0.2 deg, below the noise of 0.4 deg",
      "center": [1, 0, 0, 0],
      "axis": [0, 0, 1],
      "limit": { "shape": "arc", "min_deg": 4.1, "max_deg": 141.7 },
      "rest_inside": false, "rest_excess_deg": 4.1,
      "samples": 1855, "rejected": 2, "noise_deg": 0.4,
      "source": "estimated"
    },
    "LeftFoot": {
      "kind": "universal",
      "axes": [[1, 0, 0], [0, 0, 1]],
      "limit": { "shape": "arcs", "arcs": [ { "min_deg": -20, "max_deg": 45 }, { "min_deg": -15, "max_deg": 12 } ] }
    },
    "LeftArm": {
      "kind": "ball",
      "center": [0.9, 0.1, 0.3, 0.3],
      "bone_axis": [1, 0, 0], "x_axis": [0, 1, 0],
      "limit": { "shape": "swing_twist",
                 "swing": { "shape": "polygon",
                            "polygons": [ [[0.48, 0.8, 0.36], [0.48, -0.8, 0.36], [0.6, 0.0, -0.8]] ] },
                 "twist": { "shape": "arc", "min_deg": -40, "max_deg": 70 } }
    }
  }
}
"#;

#[test]
fn the_example_of_the_contract_reads_as_it_stands() {
    let read = Rig::read(EXAMPLE.as_bytes()).unwrap();
    let kinds: Vec<_> = read.warnings.iter().map(|w| &w.kind).collect();
    assert!(
        matches!(
            kinds[..],
            [
                RigWarningKind::PartOfSkeleton { .. },
                RigWarningKind::UnknownJoint { .. },
                RigWarningKind::UnknownJoint { .. }
            ]
        ),
        "{kinds:?}"
    );
    assert_eq!(
        read.warnings[0].to_string(),
        "3:64: skeleton.joints[0].parent: the parent \"LeftArm\" is not in the skeleton: \
         \"LeftForeArm\" is taken for a root"
    );
    let rig = &read.rig;
    let elbow = rig.joints.get("LeftForeArm").unwrap();
    assert_eq!((elbow.kind, elbow.samples), (JointKind::Hinge, Some(1855)));
    let Limit::Hinge { axis, arc } = elbow.limit else { panic!() };
    assert_eq!((axis, arc), (DVec3::Z, Arc::from_degrees(4.1, 141.7).unwrap()));
    let Limit::SwingTwist(shoulder) = &rig.joints.get("LeftArm").unwrap().limit else { panic!() };
    assert_eq!(shoulder.axes, SwingAxes::new(DVec3::X, Some(DVec3::Y)).unwrap());
    let SwingLimit::Polygons(polygons) = &shoulder.swing else { panic!() };
    assert_eq!(polygons[0][1], DVec3::new(0.48, -0.8, 0.36));
    assert_eq!(words(&write(rig)), words(EXAMPLE));
}

#[test]
fn every_shape_comes_back_as_it_was_written() {
    for seed in 0..500 {
        let rig = zoo::rig(seed);
        let written = write(&rig);
        let read = Rig::read(written.as_bytes()).unwrap();
        assert!(read.warnings.iter().all(|w| !w.is_repair()), "{seed}: {:?}", read.warnings);
        assert_eq!(contents(&read.rig), contents(&rig), "{seed}");
        assert_eq!(write(&read.rig), written, "{seed}");
        // Without the text it was read from, the same again.
        let anew = Rig::new(read.rig.skeleton.clone(), read.rig.joints.clone());
        assert_eq!(write(&anew), written, "{seed}");
        assert!(written.ends_with("}\n") && !written.contains('\r'));
    }
}

/// All that is allowed and that we would write otherwise.
const ODD: &str = r##"{ "author": {"name": "é \u00e9", "tags": [1.0, 1.00, null, {}, []]}, "joints":
{"Hand#2": {"mine": 1e-0, "kind": "ball", "limit": {"x-note": "kept", "shape": "swing_twist",
  "swing": {"shape": "all", "of": [ {"of": [], "shape": "any", "n": 12345678901234567890123},
     {"shape": "polygon", "polygons": [[[1.0, 0, 0.0], [0, 1, 0], [0e0, 0, 100e-2]]], "by": [0.10]}]},
  "twist": {"shape": "by_swing", "at": [{"dir": [0, 0, 1.0001], "min_deg": 350.0, "max_deg": 370.50,
     "weight": 0.50}], "offset": {"shape": "from", "dir": [0, 3, 4], "q": 0}}},
  "bone_axis": [0, 0, 2], "x_axis": [1, 1, 1]},
 "Hand": {"axis": [0.0, 0.6, 0.8], "axes": [[1,0,0],[0,1,0]], "kind": "hinge", "limit": {"shape":
    "locked", "until": "autumn"}, "center": [2, 0, 0, 0], "noise_deg": 0.40},
 "Hips": {"kind": "free", "limit": {"shape": "free"}, "samples": 1e3}},
"condyle": 1.0, "skeleton": {"units": "m", "joints": [
  {"name": "Hips", "offset_m": [0.0, 0.90, -0], "parent": null, "id": 7},
  {"parent": "Hips", "name": "Hand", "offset_m": [1e-3, 0, 0], "rest": [0.5, 0.5, 0.5, 0.50]},
  {"name": "Hand", "offset_m": [0, 0, 0], "parent": "Hand", "end_sites_m": [[0, 0, 0.10]], "id": 9}
]}}"##;

#[test]
fn unknown_fields_order_and_spelling_survive() {
    let read = Rig::read(ODD.as_bytes()).unwrap();
    let written = write(&read.rig);
    assert_eq!(words(&written), words(&ODD.replace("\\u00e9", "é")));
    assert_eq!(write(&Rig::read(written.as_bytes()).unwrap().rig), written);

    // With a byte order mark too.
    let marked = [b"\xEF\xBB\xBF", ODD.as_bytes()].concat();
    assert_eq!(write(&Rig::read(&marked).unwrap().rig), written);

    // What it means.
    let skeleton = &read.rig.skeleton;
    let hand = skeleton.find("Hand#2").unwrap();
    assert_eq!(skeleton.parent(hand), skeleton.find("Hand"));
    assert_eq!(skeleton[hand].end_sites[0].offset_m, DVec3::new(0.0, 0.0, 0.1));
    let Limit::Hinge { axis, arc } = read.rig.joints.get("Hand").unwrap().limit else { panic!() };
    assert_eq!((axis, arc.width()), (DVec3::new(0.0, 0.6, 0.8), Angle::ZERO));
    assert_eq!(read.rig.joints.get("Hips").unwrap().samples, Some(1000));
    let warnings: Vec<_> = read.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "6:59: joints.Hand#2.limit.twist.offset.dir: the length is 5, not 1: only the direction \
             is used",
            "7:16: joints.Hand#2.bone_axis: the length is 2, not 1: only the direction is used",
            "7:37: joints.Hand#2.x_axis: the length is 1.7320508075688772, not 1: only the \
             direction is used",
            "9:45: joints.Hand.center: the length is 2, not 1: only the direction is used",
            "14:12: skeleton.joints[2].name: a second \"Hand\" is called \"Hand#2\" here",
        ]
    );
}

/// An edit of `ODD`, and the words of the document it should change.
#[track_caller]
fn check_edit(edit: impl FnOnce(&mut Rig), changes: &[(&str, &str)]) {
    let mut rig = Rig::read(ODD.as_bytes()).unwrap().rig;
    edit(&mut rig);
    let written = write(&rig);
    let mut expected = words(&ODD.replace("\\u00e9", "é"));
    for (from, to) in changes {
        assert!(expected.contains(from), "{from}");
        expected = expected.replacen(from, to, 1);
    }
    assert_eq!(words(&written), expected);
    assert_eq!(contents(&Rig::read(written.as_bytes()).unwrap().rig), contents(&rig));
}

#[test]
fn an_edit_of_a_rig_changes_its_own_words_only() {
    check_edit(
        |rig| {
            let hand = rig.joints.get_mut("Hand").unwrap();
            hand.noise = Some(Angle::from_degrees(0.5));
            hand.rejected = Some(3);
        },
        &[("\"noise_deg\":0.40}", "\"noise_deg\":0.5,\"rejected\":3}")],
    );
    check_edit(
        |rig| *twist_at(rig) = Arc::from_degrees(-20.0, 30.0).unwrap(),
        &[("\"min_deg\":350.0,\"max_deg\":370.50", "\"min_deg\":-20,\"max_deg\":30")],
    );
    // What was said in another way is said in ours: the lock of a hinge.
    check_edit(
        |rig| {
            let Limit::Hinge { arc, .. } = &mut rig.joints.get_mut("Hand").unwrap().limit else {
                panic!()
            };
            *arc = Arc::from_degrees(0.0, 10.0).unwrap();
        },
        &[(
            "\"shape\":\"locked\",\"until\":\"autumn\"",
            "\"shape\":\"arc\",\"until\":\"autumn\",\"min_deg\":0,\"max_deg\":10",
        )],
    );
    // What no longer applies goes.
    check_edit(
        |rig| {
            let hand = rig.joints.get_mut("Hand").unwrap();
            (hand.kind, hand.limit) = (JointKind::Fixed, Limit::Locked);
            hand.noise = None;
            hand.center = Rotation::about_x(Angle::from_degrees(180.0));
        },
        &[
            ("\"axis\":[0.0,0.6,0.8],", ""),
            ("\"kind\":\"hinge\"", "\"kind\":\"fixed\""),
            ("\"center\":[2,0,0,0]", "\"center\":[6.123233995736766e-17,1,0,0]"),
            (",\"noise_deg\":0.40", ""),
        ],
    );
    // Entries are found by name.
    check_edit(
        |rig| {
            rig.joints.remove("Hand").unwrap();
            rig.joints.insert("new", RigJoint::default());
        },
        &[
            (
                "\"Hand\":{\"axis\":[0.0,0.6,0.8],\"axes\":[[1,0,0],[0,1,0]],\"kind\":\"hinge\",\
                 \"limit\":{\"shape\":\"locked\",\"until\":\"autumn\"},\"center\":[2,0,0,0],\
                 \"noise_deg\":0.40},",
                "",
            ),
            ("\"samples\":1e3}", "\"samples\":1e3},\"new\":{\"kind\":\"free\"}"),
        ],
    );
}

fn twist_at(rig: &mut Rig) -> &mut Arc {
    let Limit::SwingTwist(limit) = &mut rig.joints.get_mut("Hand#2").unwrap().limit else {
        panic!()
    };
    let TwistBounds::BySwing(at) = &mut limit.twist.bounds else { panic!() };
    &mut at[0].arc
}

#[test]
fn the_ends_of_an_arc_are_written_together() {
    // 350 to 370.5 is -10 to 10.5 here: one end in each way of counting would be another arc.
    let mut rig = Rig::read(ODD.as_bytes()).unwrap().rig;
    let arc = twist_at(&mut rig);
    *arc = Arc::new(arc.min(), Angle::from_degrees(30.0)).unwrap();
    let arc = *arc;
    let written = write(&rig);
    assert!(!written.contains("350") && written.contains("\"max_deg\": 30,"), "{written}");
    let back = *twist_at(&mut Rig::read(written.as_bytes()).unwrap().rig);
    // 350° less a turn is an angle in radians that has no equal in degrees.
    assert!((back.min() - arc.min()).abs().radians() <= f64::EPSILON);
    assert_eq!(back.max(), arc.max());
}

#[test]
fn a_changed_skeleton_keeps_what_is_known_of_its_joints() {
    let mut rig = Rig::read(ODD.as_bytes()).unwrap().rig;
    // The second hand alone, below a new root: its name has to be written now.
    let mut skeleton = Skeleton::new();
    let root = skeleton.add_root(Joint::new("New", DVec3::ZERO)).unwrap();
    let hand = rig.skeleton.find("Hand#2").unwrap();
    skeleton.add(root, rig.skeleton[hand].clone()).unwrap();
    rig.skeleton = skeleton;
    let written = write(&rig);
    assert!(words(&written).contains(
        "\"units\":\"m\",\"joints\":[{\"name\":\"New\",\"offset_m\":[0,0,0],\"rest\":[1,0,0,0]},\
         {\"name\":\"Hand#2\",\"offset_m\":[0,0,0],\"parent\":\"New\",\
         \"end_sites_m\":[[0,0,0.10]],\"id\":9}]"
    ), "{written}");
    assert_eq!(contents(&Rig::read(written.as_bytes()).unwrap().rig), contents(&rig));
}

#[test]
fn a_part_of_a_skeleton_stays_one_also_when_its_parent_comes_or_goes() {
    let mut rig = Rig::read(EXAMPLE.as_bytes()).unwrap().rig;
    rig.joints.remove("LeftArm").unwrap();
    let back = Rig::read(write(&rig).as_bytes()).unwrap().rig;
    assert_eq!(contents(&back), contents(&rig));

    let mut rig = Rig::read(EXAMPLE.as_bytes()).unwrap().rig;
    rig.skeleton.add_root(Joint::new("LeftArm", DVec3::ZERO)).unwrap();
    let back = Rig::read(write(&rig).as_bytes()).unwrap().rig;
    assert_eq!(contents(&back), contents(&rig));
}

#[test]
fn any_rig_can_take_the_place_of_any_other() {
    let texts = [EXAMPLE.to_owned(), ODD.to_owned()];
    let texts: Vec<String> =
        texts.into_iter().chain((0..10).map(|s| write(&zoo::rig(s)))).collect();
    for text in &texts {
        for seed in 0..60 {
            let other = zoo::rig(seed);
            let mut rig = Rig::read(text.as_bytes()).unwrap().rig;
            rig.skeleton = other.skeleton.clone();
            rig.joints = other.joints.clone();
            let written = write(&rig);
            let back = Rig::read(written.as_bytes()).unwrap().rig;
            assert_eq!(contents(&back), contents(&other), "{seed}\n{text}\n{written}");
            assert_eq!(write(&back), written);
        }
    }
}

#[test]
fn a_skeleton_becomes_a_rig_without_limits() {
    let mut skeleton = Skeleton::new();
    let root = skeleton.add_root(Joint::new("Hips", DVec3::Y)).unwrap();
    skeleton.add(root, Joint::new("Spine", DVec3::Y * 0.25)).unwrap();
    let expected = r#"{
  "condyle": 1,
  "skeleton": {
    "joints": [
      { "name": "Hips", "offset_m": [0, 1, 0], "rest": [1, 0, 0, 0] },
      { "name": "Spine", "parent": "Hips", "offset_m": [0, 0.25, 0], "rest": [1, 0, 0, 0] }
    ]
  },
  "joints": {
    "Hips": { "kind": "free" },
    "Spine": { "kind": "ball", "limit": { "shape": "free" } }
  }
}
"#;
    assert_eq!(write(&Rig::from_skeleton(&skeleton)), expected);
    assert_eq!(
        write(&Rig::new(Skeleton::new(), RigJoints::new())),
        "{\n  \"condyle\": 1,\n  \"skeleton\": {\n    \"joints\": []\n  },\n  \"joints\": {}\n}\n"
    );
}

/// What an estimator would say about a knee that bends to so many degrees.
fn estimate(max_deg: f64) -> RigJoint {
    let arc = Arc::from_degrees(4.5, max_deg).unwrap();
    let mut joint = RigJoint {
        confidence: Some(0.97),
        why: Some("one axis".to_owned()),
        notes: vec!["Never straight.".to_owned()],
        samples: Some(1855),
        rejected: Some(2),
        noise: Some(Angle::from_degrees(0.4)),
        source: Some(Source::Estimated),
        ..RigJoint::new(JointKind::Hinge, Limit::Hinge { axis: DVec3::X, arc })
    };
    joint.judge_rest(Rotation::IDENTITY).unwrap();
    joint
}

fn legs() -> Skeleton {
    let mut skeleton = Skeleton::new();
    let root = skeleton.add_root(Joint::new("Hips", DVec3::Y)).unwrap();
    for name in ["LeftLeg", "RightLeg"] {
        skeleton.add(root, Joint::new(name, DVec3::NEG_Y * 0.5)).unwrap();
    }
    skeleton
}

#[test]
fn an_estimate_is_made_by_code_and_written() {
    let mut rig = Rig::from_skeleton(&legs());
    rig.joints.insert("LeftLeg", estimate(140.0));
    let written = write(&rig);
    let start = Rotation::about_x(Angle::from_degrees(4.5));
    let entry = r#""LeftLeg": {
      "kind": "hinge",
      "confidence": 0.97,
      "why": "one axis",
      "axis": [1, 0, 0],
      "limit": { "shape": "arc", "min_deg": 4.5, "max_deg": 140 },
      "rest_inside": false,
      "rest_excess_deg": "#;
    assert!(written.contains(entry), "{written}");
    let end = r#""samples": 1855,
      "rejected": 2,
      "noise_deg": 0.4,
      "source": "estimated",
      "notes": ["Never straight."]
    }"#;
    assert!(written.contains(end), "{written}");
    let read = Rig::read(written.as_bytes()).unwrap();
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    let knee = read.rig.joints.get("LeftLeg").unwrap();
    assert!((knee.rest_excess.unwrap().degrees() - 4.5).abs() < 1e-9);
    assert!(knee.start.unwrap().distance(start).degrees() < 1e-6);
    assert_eq!(contents(&read.rig), contents(&rig));
    // A rest pose that is allowed has no other start.
    let mut wide = RigJoint::new(
        JointKind::Hinge,
        Limit::Hinge { axis: DVec3::X, arc: Arc::from_degrees(-1.0, 1.0).unwrap() },
    );
    wide.start = Some(start);
    wide.judge_rest(start).unwrap();
    assert_eq!((wide.rest_inside, wide.rest_excess), (Some(true), Some(Angle::ZERO)));
    assert!(wide.start.is_none());
}

#[test]
fn a_new_estimate_leaves_what_was_edited_and_what_is_not_ours() {
    let mut rig = Rig::from_skeleton(&legs());
    rig.joints.insert("LeftLeg", estimate(140.0));
    rig.joints.insert("RightLeg", RigJoint { source: Some(Source::Edited), ..estimate(120.0) });
    let soft = Soft { onset: Angle::from_degrees(5.0), stiffness: 0.5 };
    rig.joints.get_mut("LeftLeg").unwrap().soft = Some(soft);
    rig.joints.insert("Tail", RigJoint::new(JointKind::Fixed, Limit::Locked));
    let document = write(&rig)
        .replace("\"why\"", "\"colour\": \"red\", \"why\"")
        .replace("\"condyle\": 1", "\"condyle\": 1, \"author\": { \"name\": \"N\" }");

    let mut fresh = Rig::from_skeleton(&legs());
    fresh.joints.insert("LeftLeg", estimate(150.0));
    fresh.joints.insert("RightLeg", estimate(150.0));
    let mut rig = Rig::read(document.as_bytes()).unwrap().rig;
    assert_eq!(rig.update(fresh), ["RightLeg"]);
    let expected = document.replacen("\"max_deg\": 140", "\"max_deg\": 150", 1);
    assert_eq!(words(&write(&rig)), words(&expected));

    // Another kind takes the fields of the old one with it.
    let mut fresh = Rig::from_skeleton(&legs());
    fresh.joints.insert("LeftLeg", RigJoint::new(JointKind::Ball, Limit::Free));
    assert_eq!(rig.update(fresh), ["RightLeg"]);
    let written = words(&write(&rig));
    let entry = r#""LeftLeg":{"kind":"ball","colour":"red","limit":{"shape":"free"},"soft":"#;
    assert!(written.contains(entry), "{written}");
}

#[derive(Debug)]
struct Mine;

impl SwingShape for Mine {
    fn value(&self, swing: Swing) -> f64 {
        swing.angle().radians() - 1.0
    }
}

#[track_caller]
fn check_refused(joint: RigJoint, path: &str, message: &str) {
    let rig = Rig::new(Skeleton::new(), [("Left Arm", joint)].into_iter().collect());
    let error = rig.write().unwrap_err();
    assert_eq!(error.position(), None);
    assert_eq!(error.path(), path);
    let text = error.to_string();
    assert!(text.starts_with(&format!("{path}: {message}\n  help: ")), "{text}");
}

#[test]
fn what_a_document_cannot_hold_is_not_written() {
    let ball = |swing| {
        let limit = SwingTwistLimit { swing, ..SwingTwistLimit::default() };
        RigJoint::new(JointKind::Ball, Limit::SwingTwist(limit))
    };
    let custom = SwingLimit::Custom(std::sync::Arc::new(Mine));
    let inside = SwingLimit::All(vec![SwingLimit::Free, SwingLimit::Not(Box::new(custom))]);
    check_refused(
        ball(inside),
        "joints[\"Left Arm\"].limit.swing.of[1].of",
        "a shape that is a function cannot be written",
    );
    check_refused(
        RigJoint::new(JointKind::Hinge, Limit::Free),
        "joints[\"Left Arm\"]",
        "\"axis\" is missing",
    );
    let hinge = |axis, arc| RigJoint::new(JointKind::Hinge, Limit::Hinge { axis, arc });
    check_refused(
        hinge(DVec3::ZERO, Arc::FULL),
        "joints[\"Left Arm\"].axis",
        "the vector is zero and has no direction",
    );
    check_refused(
        RigJoint { kind: JointKind::Fixed, ..hinge(DVec3::X, Arc::FULL) },
        "joints[\"Left Arm\"].limit.shape",
        "a limit of shape \"arc\" does not fit a joint of kind fixed",
    );
    check_refused(
        hinge(DVec3::X, Arc::EMPTY),
        "joints[\"Left Arm\"].limit.max_deg",
        "expected a finite number, found -inf",
    );
    check_refused(
        RigJoint { confidence: Some(f64::NAN), ..RigJoint::default() },
        "joints[\"Left Arm\"].confidence",
        "expected a finite number, found NaN",
    );
    check_refused(
        ball(SwingLimit::Polygons(vec![vec![DVec3::X, DVec3::Y]])),
        "joints[\"Left Arm\"].limit.swing.polygons[0]",
        "expected at least 3 directions, found 2",
    );
    // Depth: as deep as can be read is written, more is not, however deep.
    let nested = |n| (0..n).fold(SwingLimit::Free, |s, _| SwingLimit::Not(Box::new(s)));
    let rig = |n| Rig::new(Skeleton::new(), [("a", ball(nested(n)))].into_iter().collect());
    let deepest = (0..200).take_while(|&n| rig(n).write().is_ok()).last().unwrap();
    assert_eq!(deepest, 120);
    Rig::read(write(&rig(deepest)).as_bytes()).unwrap();
    for n in [deepest + 1, 5000] {
        let error = rig(n).write().unwrap_err();
        assert_eq!(*error.kind(), RigErrorKind::TooDeep { limit: 128 });
    }
}

#[test]
fn limits_left_out_or_said_shortly_mean_what_they_say() {
    let text = document(
        r#""a": {"kind": "hinge", "axis": [1, 0, 0]},
"b": {"kind": "fixed"}, "c": {"kind": "ball"}, "d": {"kind": "ball", "bone_axis": [1, 0, 0]},
"e": {"kind": "universal", "axes": [[1, 0, 0], [0, 1, 0]], "limit": {"shape": "locked"}}"#,
    );
    let rig = Rig::read(text.as_bytes()).unwrap().rig;
    let limit = |name| rig.joints.get(name).unwrap().limit.clone();
    assert!(matches!(limit("a"), Limit::Hinge { arc, .. } if arc.is_full()));
    assert!(matches!(limit("b"), Limit::Locked));
    assert!(matches!(limit("c"), Limit::Free));
    assert!(matches!(limit("d"), Limit::SwingTwist(l) if l.axes.bone() == DVec3::X));
    let zero = Arc::point(Angle::ZERO).unwrap();
    assert!(matches!(limit("e"), Limit::Universal { arcs, .. } if arcs == [zero; 2]));
    assert_eq!(words(&write(&rig)), words(&text));
}

/// The blocks of JSON in `docs/rig.md`: whole documents, and entries of joints.
#[test]
fn the_examples_of_the_manual_are_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rig.md");
    let manual = std::fs::read_to_string(path).unwrap();
    let mut blocks = 0;
    for block in manual.split("```json\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let whole = block.contains("\"condyle\"");
        let text = if whole { block.to_owned() } else { document(block) };
        let read = Rig::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{block}"));
        assert!(read.warnings.iter().all(|w| !w.is_repair() || whole), "{:?}", read.warnings);
        // Nothing in it that the program would warn of, as a polygon that is walked the wrong way.
        let doubts = read.rig.doubts();
        assert!(doubts.is_empty(), "{doubts:?}\n{block}");
        assert_eq!(words(&write(&read.rig)), words(&text));
        blocks += 1;
    }
    assert!(blocks >= 12, "{blocks}");
}
