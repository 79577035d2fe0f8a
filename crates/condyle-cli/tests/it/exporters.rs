//! Files as other exporters write them: bones along x at rest, another axis up in motion, names that no table
//! has. Judged by where joints are in the world.

use condyle::formats::{Format, MotionFile, ReadOptions, WriteOptions, read, write};
use condyle::glam::DVec3;
use condyle::math::{Angle, Rotation};
use condyle::motion::{Clip, FrameRate, WorldTracks};
use condyle::skeleton::Skeleton;
use condyle::synth::{Figure, Gait, Options, Synth, bones_along_x, turned_in_motion};

use super::{Folder, complaints};

pub(super) fn bvh(skeleton: &Skeleton, clip: &Clip) -> String {
    let file = MotionFile::new(skeleton.clone(), clip.clone());
    let mut written = write(&file, Format::Bvh, &WriteOptions::default()).unwrap();
    String::from_utf8(written.parts.remove(0).1).unwrap()
}

pub(super) fn motion(folder: &Folder, name: &str) -> (Skeleton, Clip) {
    let file = read(folder.read(name).as_bytes(), None, &ReadOptions::default()).unwrap().file;
    (file.skeleton, file.clip.unwrap())
}

/// From y up to z up, about x.
fn lifted() -> Rotation {
    Rotation::about_x(Angle::from_degrees(90.0))
}

/// A walk, with y up and as exporters write it: z up by the root's rotation, bones along x at rest, both.
pub(super) fn walks(name: &str) -> Folder {
    let folder = Folder::new(name);
    let rate = FrameRate::from_fps(60.0).unwrap();
    let walk = Gait { facing: Angle::from_degrees(40.0), ..Gait::default() };
    let (skeleton, clip) = walk.generate(90, rate).unwrap();
    let (along, moved) = bones_along_x(&skeleton, &clip).unwrap();
    folder.write("y.bvh", &bvh(&skeleton, &clip));
    folder.write("along.bvh", &bvh(&along, &moved));
    let up = |skeleton, clip| turned_in_motion(skeleton, clip, lifted()).unwrap();
    folder.write("z.bvh", &bvh(&skeleton, &up(&skeleton, &clip)));
    folder.write("along_z.bvh", &bvh(&along, &up(&along, &moved)));
    let x_up = Rotation::about_z(Angle::from_degrees(-90.0));
    folder.write("x.bvh", &bvh(&skeleton, &turned_in_motion(&skeleton, &clip, x_up).unwrap()));
    folder
}

#[track_caller]
pub(super) fn done(folder: &Folder, args: &str) -> String {
    let got = folder.condyle(args);
    assert_eq!(got.status.code(), Some(0), "{args}: {}", String::from_utf8_lossy(&got.stderr));
    complaints(&got)
}

/// The largest distance of any joint from where it is in another motion that is turned, metres.
pub(super) fn apart(a: &(Skeleton, Clip), turn: Rotation, b: &(Skeleton, Clip)) -> f64 {
    assert_eq!(a.1.frame_count(), b.1.frame_count());
    let (ours, theirs) = (WorldTracks::of(&a.0, &a.1), WorldTracks::of(&b.0, &b.1));
    let mut worst = 0.0_f64;
    for j in a.0.indices() {
        let other = b.0.find(&a.0[j].name).unwrap_or(j);
        for frame in 0..a.1.frame_count() {
            let place = turn * ours.position_m(j, frame);
            worst = worst.max(place.distance(theirs.position_m(other, frame)));
        }
    }
    worst
}

#[test]
fn mirrored_dancers_stand_whatever_axis_is_up_and_however_bones_lie_at_rest() {
    let folder = walks("exporters_mirror");
    done(&folder, "mirror y.bvh -o y_m.bvh");
    let plain = motion(&folder, "y_m.bvh");
    // z up and −y forward is what the quarter turn makes of y up and z forward.
    let toward_x = Rotation::about_z(Angle::from_degrees(-90.0));
    for (name, turn) in
        [("along", Rotation::IDENTITY), ("z", lifted()), ("along_z", lifted()), ("x", toward_x)]
    {
        let told = done(&folder, &format!("mirror {name}.bvh -o {name}_m.bvh"));
        let image = motion(&folder, &format!("{name}_m.bvh"));
        let off = apart(&plain, turn, &image);
        // The axes that motion shows are off by some degrees, which mirrors cancel.
        assert!(off < 0.02, "{name}: {off} m");
        let against_rest = name == "z" || name == "x";
        assert_eq!(told.contains("although the figure stands along y"), against_rest, "{told}");
    }
    // As before, when the rest pose decided.
    let told = done(&folder, "mirror x.bvh --up y -o wrong.bvh");
    assert!(!told.contains("up is"), "{told}");
    assert!(apart(&plain, toward_x, &motion(&folder, "wrong.bvh")) > 0.5);
}

#[test]
fn who_is_turned_to_face_elsewhere_stays_on_the_ground() {
    let folder = walks("exporters_facing");
    done(&folder, "transform y.bvh --facing -90 --at 0,0 -o y_t.bvh");
    let plain = motion(&folder, "y_t.bvh");
    for (name, turn) in [("along", Rotation::IDENTITY), ("z", lifted()), ("along_z", lifted())] {
        let told = done(&folder, &format!("transform {name}.bvh --facing -90 --at 0,0 -o t.bvh"));
        let found = motion(&folder, "t.bvh");
        let head = found.0.find("Head").unwrap();
        let up = if turn.angle().degrees() > 1.0 { DVec3::Z } else { DVec3::Y };
        let tracks = WorldTracks::of(&found.0, &found.1);
        let lowest = (0..90).map(|f| tracks.position_m(head, f).dot(up)).fold(9.0, f64::min);
        assert!(lowest > 1.2, "{name}: the head is {lowest} m high");
        // Facing is that of the pelvis, whose forward in motion is known to some degrees only.
        let off = apart(&plain, turn, &found);
        assert!(off < 0.35, "{name}: {off}");
        let axis = if up == DVec3::Z { "z is up" } else { "y is up" };
        assert!(told.contains(axis), "{name}: {told}");
    }
}

#[test]
fn motions_of_worlds_with_other_axes_up_are_put_together_upright() {
    let folder = walks("exporters_connect");
    done(&folder, "connect y.bvh y.bvh -o plain.bvh");
    done(&folder, "blend y.bvh y.bvh -o plain_blend.bvh");
    for name in ["z", "x"] {
        for (command, plain) in [("connect", "plain.bvh"), ("blend", "plain_blend.bvh")] {
            let told = done(&folder, &format!("{command} y.bvh {name}.bvh -o both.bvh"));
            assert!(told.contains(&format!("{name} is up")), "{command} {name}: {told}");
            let off =
                apart(&motion(&folder, plain), Rotation::IDENTITY, &motion(&folder, "both.bvh"));
            assert!(off < 1e-4, "{command} {name}: {off} m");
        }
    }
    // In the world of the first, and as told.
    done(&folder, "connect z.bvh y.bvh -o both.bvh");
    let off = apart(&motion(&folder, "plain.bvh"), lifted(), &motion(&folder, "both.bvh"));
    assert!(off < 1e-4, "{off} m");
    done(&folder, "blend y.bvh z.bvh --up y -o wrong.bvh");
    let wrong = motion(&folder, "wrong.bvh");
    assert!(apart(&motion(&folder, "plain_blend.bvh"), Rotation::IDENTITY, &wrong) > 0.2);
}

#[test]
fn motion_reaches_figures_whose_bones_lie_along_x_and_comes_back() {
    let folder = walks("exporters_retarget");
    let (source, clip) = motion(&folder, "y.bvh");
    for (name, turn) in [("along", Rotation::IDENTITY), ("z", lifted()), ("along_z", lifted())] {
        // The same figure in other local spaces: joints get where they were.
        done(&folder, &format!("retarget y.bvh --onto {name}.bvh -o to.bvh"));
        let there = motion(&folder, "to.bvh");
        let off = apart(&(source.clone(), clip.clone()), turn, &there);
        assert!(off < 0.08, "onto {name}: {off} m");
        done(&folder, &format!("retarget {name}.bvh --onto y.bvh -o back.bvh"));
        let back = motion(&folder, "back.bvh");
        let off = apart(&(source.clone(), clip.clone()), Rotation::IDENTITY, &back);
        assert!(off < 0.08, "from {name}: {off} m");
    }
}

#[test]
fn a_limb_that_gets_no_motion_is_told_and_the_answer_is_no() {
    let folder = walks("exporters_lost");
    let text = folder.read("y.bvh");
    let odd = ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"];
    let named = odd.iter().enumerate().fold(text.clone(), |text, (k, name)| {
        text.replace(&format!("JOINT {name}\n"), &format!("JOINT Bone{k}\n"))
    });
    assert_ne!(text, named);
    folder.write("odd.bvh", &named);
    let got = folder.condyle("retarget y.bvh --onto odd.bvh -o out.bvh");
    let told = complaints(&got);
    assert_eq!(got.status.code(), Some(1), "{told}");
    for limb in ["left hip", "left knee", "left ankle"] {
        assert!(told.contains(limb), "{told}");
    }
    assert!(!told.contains("right knee"), "{told}");
    // The other way round the limb of the target stays at rest.
    let got = folder.condyle("retarget odd.bvh --onto y.bvh -o out.bvh");
    let told = complaints(&got);
    assert_eq!(got.status.code(), Some(1), "{told}");
    for limb in ["left hip", "left knee", "left ankle", "stay at rest"] {
        assert!(told.contains(limb), "{told}");
    }
    // A table of its names mends it.
    let got = folder.condyle("anatomy odd.bvh -o map.json");
    assert_eq!(got.status.code(), Some(1), "{}", complaints(&got));
    let map = folder.read("map.json");
    assert!(
        map.contains("\"Bone1\": null") && map.contains("\"RightLeg\": \"right knee\""),
        "{map}"
    );
    let map = map
        .replace("\"Bone0\": null", "\"Bone0\": \"left hip\"")
        .replace("\"Bone1\": null", "\"Bone1\": \"left knee\"")
        .replace("\"Bone2\": null", "\"Bone2\": \"left ankle\"")
        .replace("\"Bone3\": null", "\"Bone3\": \"left toes\"");
    folder.write("map.json", &map);
    done(&folder, "retarget y.bvh --onto odd.bvh --map map.json -o out.bvh");
    done(&folder, "anatomy odd.bvh --map map.json");
    let (there, here) = (motion(&folder, "out.bvh"), motion(&folder, "y.bvh"));
    let off = apart(&here, Rotation::IDENTITY, &there);
    assert!(off < 1e-5, "{off}");
    // A table of another figure is refused, and so is a broken one, with its place.
    folder.write("other.json", r#"{"title": "t", "source": "s", "joints": {"Tail": "lumbar"}}"#);
    folder.write(
        "broken.json",
        "{\"title\": \"t\", \"source\": \"s\",\n \"joints\": {\"A\": \"tail\"}}",
    );
    for (map, says) in [("other.json", "less than half"), ("broken.json", "broken.json:2:")] {
        let got = folder.condyle(&format!("mirror y.bvh --map {map} -o out.bvh --force"));
        assert_eq!(got.status.code(), Some(2), "{map}");
        assert!(complaints(&got).contains(says), "{map}: {}", complaints(&got));
    }
}

/// The names of the demo's joints, and what some programs call them. Each convention shares eight names and more
/// with a table of another one.
const CONVENTIONS: [(&str, [&str; 14]); 8] = [
    (
        "ours",
        [
            "Hips",
            "LowerBack",
            "Spine",
            "Chest",
            "Neck",
            "Head",
            "Shoulder",
            "Arm",
            "ForeArm",
            "Hand",
            "UpLeg",
            "Leg",
            "Foot",
            "ToeBase",
        ],
    ),
    (
        "Unreal",
        [
            "pelvis",
            "spine_01",
            "spine_02",
            "spine_03",
            "neck_01",
            "head",
            "clavicle_",
            "upperarm_",
            "lowerarm_",
            "hand_",
            "thigh_",
            "calf_",
            "foot_",
            "ball_",
        ],
    ),
    (
        "Unity and VRM",
        [
            "Hips",
            "Spine",
            "Chest",
            "UpperChest",
            "Neck",
            "Head",
            "@Shoulder",
            "@UpperArm",
            "@LowerArm",
            "@Hand",
            "@UpperLeg",
            "@LowerLeg",
            "@Foot",
            "@Toes",
        ],
    ),
    (
        "Xsens",
        [
            "Pelvis",
            "L5",
            "L3",
            "T8",
            "Neck",
            "Head",
            "@Shoulder",
            "@UpperArm",
            "@ForeArm",
            "@Hand",
            "@UpperLeg",
            "@LowerLeg",
            "@Foot",
            "@Toe",
        ],
    ),
    (
        "Genesis",
        [
            "hip",
            "abdomenLower",
            "abdomenUpper",
            "chestLower",
            "neckLower",
            "head",
            "<Collar",
            "<ShldrBend",
            "<ForearmBend",
            "<Hand",
            "<ThighBend",
            "<Shin",
            "<Foot",
            "<Toe",
        ],
    ),
    (
        "AdvancedSkeleton",
        [
            "Root_M",
            "Spine1_M",
            "Spine2_M",
            "Chest_M",
            "Neck_M",
            "Head_M",
            "Scapula_",
            "Shoulder_",
            "Elbow_",
            "Wrist_",
            "Hip_",
            "Knee_",
            "Ankle_",
            "Toes_",
        ],
    ),
    (
        "Motive",
        [
            "Hip",
            "Ab",
            "Ab2",
            "Chest",
            "Neck",
            "Head",
            ">Shoulder",
            ">UArm",
            ">FArm",
            ">Hand",
            ">Thigh",
            ">Shin",
            ">Foot",
            ">Toe",
        ],
    ),
    (
        "SOMA",
        [
            "Hips",
            "Spine1",
            "Spine2",
            "Chest",
            "Neck1",
            "Head",
            "@Shoulder",
            "@Arm",
            "@ForeArm",
            "@Hand",
            "@Leg",
            "@Shin",
            "@Foot",
            "@ToeBase",
        ],
    ),
];

/// A name of a convention on a side: `@` is Left or Right, `<` l or r, `>` L or R, and `_` at the end `_l` or
/// `_r`.
fn spelt(word: &str, side: &str) -> String {
    let small = side[..1].to_lowercase();
    match (word.chars().next(), word.ends_with('_')) {
        (Some('@'), _) => format!("{side}{}", &word[1..]),
        (Some('<'), _) => format!("{small}{}", &word[1..]),
        (Some('>'), _) => format!("{}{}", &side[..1], &word[1..]),
        (_, true) => format!("{word}{small}"),
        _ => format!("{side}{word}"),
    }
}

#[test]
fn names_that_share_eight_with_another_convention_are_read_by_their_words() {
    let folder = walks("exporters_conventions");
    let here = motion(&folder, "y.bvh");
    let ours = CONVENTIONS[0].1;
    for (title, names) in &CONVENTIONS[1..] {
        let mut renamed = folder.read("y.bvh");
        let mut rename = |from: &str, to: &str| {
            for what in ["ROOT", "JOINT"] {
                let to = format!("{what} =={to}\n");
                renamed = renamed.replace(&format!("{what} {from}\n"), &to);
            }
        };
        for (k, (from, to)) in ours.iter().zip(names).enumerate() {
            if k < 6 {
                rename(from, to);
                continue;
            }
            for side in ["Left", "Right"] {
                rename(&format!("{side}{from}"), &spelt(to, side));
            }
        }
        folder.write("renamed.bvh", &renamed.replace("==", ""));
        done(&folder, "anatomy renamed.bvh");
        for args in
            ["y.bvh --onto renamed.bvh -o there.bvh", "renamed.bvh --onto y.bvh -o there.bvh"]
        {
            done(&folder, &format!("retarget {args}"));
            let there = motion(&folder, "there.bvh");
            let (ours, theirs) =
                (WorldTracks::of(&here.0, &here.1), WorldTracks::of(&there.0, &there.1));
            let off = here.0.indices().map(|j| {
                (0..90)
                    .map(|f| ours.position_m(j, f).distance(theirs.position_m(j, f)))
                    .fold(0.0, f64::max)
            });
            let off = off.fold(0.0, f64::max);
            // Spines that names place elsewhere bend a little otherwise.
            assert!(off < 0.02, "{title}: {args}: {off} m");
        }
        done(&folder, "mirror renamed.bvh -o m.bvh");
    }
}

#[test]
fn a_map_of_axes_from_motion_serves_files_that_never_stand() {
    let folder = walks("exporters_map");
    // One frame, in which nobody could tell how the figure stands: the tangle of its rest pose.
    let (skeleton, clip) = motion(&folder, "along.bvh");
    let still = condyle::motion::Pose::rest(&skeleton);
    let tracks = skeleton.indices().map(|j| {
        condyle::motion::Track::constant(still.rotations[j.get()], still.translations_m[j.get()])
    });
    let still = Clip::new(2, clip.rate(), tracks.collect()).unwrap();
    folder.write("bare.bvh", &bvh(&skeleton, &still));
    let got = folder.condyle("retarget y.bvh --onto bare.bvh -o out.bvh");
    assert_eq!(got.status.code(), Some(2), "{}", complaints(&got));
    assert!(complaints(&got).contains("stands neither at rest nor in"), "{}", complaints(&got));
    done(&folder, "anatomy along.bvh -o map.json");
    assert!(folder.read("map.json").contains("\"forward\""));
    done(&folder, "retarget y.bvh --onto bare.bvh --map map.json -o out.bvh");
    let off = apart(&motion(&folder, "y.bvh"), Rotation::IDENTITY, &motion(&folder, "out.bvh"));
    assert!(off < 0.08, "{off} m");
}

#[test]
fn names_of_a_studio_that_no_table_has_are_recognised_by_their_words() {
    let folder = walks("exporters_words");
    let mut text = folder.read("y.bvh");
    for (own, other) in [
        ("LeftUpLeg", "thigh.L"),
        ("LeftLeg", "shin.L"),
        ("LeftFoot", "foot.L"),
        ("LeftToeBase", "toe.L"),
        ("RightUpLeg", "thigh.R"),
        ("RightLeg", "shin.R"),
        ("RightFoot", "foot.R"),
        ("RightToeBase", "toe.R"),
        ("LeftArm", "upper_arm.L"),
        ("LeftForeArm", "forearm.L"),
        ("LeftHand", "hand.L"),
        ("LeftShoulder", "shoulder.L"),
        ("RightArm", "upper_arm.R"),
        ("RightForeArm", "forearm.R"),
        ("RightHand", "hand.R"),
        ("RightShoulder", "shoulder.R"),
    ] {
        text = text.replace(&format!("JOINT {own}\n"), &format!("JOINT {other}\n"));
    }
    folder.write("blender.bvh", &text);
    let told = done(&folder, "mirror blender.bvh -o m.bvh");
    assert!(told.contains("by the words in their names"), "{told}");
    done(&folder, "mirror y.bvh -o y_m.bvh");
    let (ours, theirs) = (motion(&folder, "m.bvh"), motion(&folder, "y_m.bvh"));
    let off = apart(&theirs, Rotation::IDENTITY, &ours);
    assert!(off < 1e-9, "{off}");
}

#[test]
fn limits_learnt_from_figures_whose_bones_lie_along_x_have_the_same_clinical_ranges() {
    let folder = Folder::new("exporters_norms");
    let options = Options { frames: 400, ..Options::default() };
    let made = Synth::generate(&Figure::human(), &options, 7).unwrap();
    folder.write("plain.bvh", &bvh(&made.skeleton, &made.clip));
    // One frame of standing in front, as most recordings have.
    let rest = condyle::motion::Pose::rest(&made.skeleton);
    let stand = made.skeleton.indices().map(|j| {
        condyle::motion::Track::constant(rest.rotations[j.get()], rest.translations_m[j.get()])
    });
    let stand = Clip::new(1, made.clip.rate(), stand.collect()).unwrap();
    let both = Clip::joined(&[&stand, &made.clip]).unwrap();
    let (along, moved) = bones_along_x(&made.skeleton, &both).unwrap();
    folder.write("along.bvh", &bvh(&along, &moved));
    let range = |name: &str| {
        let got = folder.condyle(&format!("estimate {name} --json -o {name}.json"));
        let document: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
        let norms = document["norms"].as_array().unwrap().clone();
        let knee = norms.iter().find(|n| n["what"] == "left knee" && n["angle"] == "flexion");
        let knee = knee.unwrap_or_else(|| panic!("{name}: {norms:?}"));
        [&knee["lowest_deg"], &knee["highest_deg"]].map(|v| v.as_f64().unwrap())
    };
    let (plain, along) = (range("plain.bvh"), range("along.bvh"));
    for (a, b) in plain.iter().zip(along) {
        assert!((a - b).abs() < 3.0, "{plain:?} {along:?}");
    }
}
