//! Every error says what, where inside the document, where in the text, and what to do.

use condyle::rig::{MAX_BYTES, ParentFault, Rig, RigErrorKind, RigWarningKind};

use super::document;

/// A broken document: its text, the place and the path of the error, its first line, and whether the
/// schema finds it too.
pub(super) struct Broken {
    pub(super) text: String,
    place: &'static str,
    path: &'static str,
    message: &'static str,
    pub(super) in_schema: bool,
}

fn broken(
    text: impl Into<String>,
    place: &'static str,
    path: &'static str,
    message: &'static str,
) -> Broken {
    Broken { text: text.into(), place, path, message, in_schema: true }
}

impl Broken {
    /// What a schema cannot say.
    fn beyond_schema(self) -> Self {
        Self { in_schema: false, ..self }
    }
}

/// An entry `a`; it starts in column 6 of line 2.
fn entry(text: &str, place: &'static str, path: &'static str, message: &'static str) -> Broken {
    broken(document(&format!("\"a\": {text}")), place, path, message)
}

/// A ball with this swing, which starts in column 1 of line 3.
fn swing(text: &str, place: &'static str, path: &'static str, message: &'static str) -> Broken {
    let text = format!(
        "{{\"kind\": \"ball\", \"bone_axis\": [1, 0, 0], \"limit\": {{\"shape\": \"swing_twist\", \
         \"twist\": {{\"shape\": \"free\"}}, \"swing\":\n{text}}}}}"
    );
    entry(&text, place, path, message)
}

/// A ball with this twist, which starts in column 1 of line 3.
fn twist(text: &str, place: &'static str, path: &'static str, message: &'static str) -> Broken {
    let text = format!(
        "{{\"kind\": \"ball\", \"bone_axis\": [1, 0, 0], \"limit\": {{\"shape\": \"swing_twist\", \
         \"swing\": {{\"shape\": \"free\"}}, \"twist\":\n{text}}}}}"
    );
    entry(&text, place, path, message)
}

/// A skeleton of these joints, which start in line 2.
fn skeleton(
    joints: &str,
    place: &'static str,
    path: &'static str,
    message: &'static str,
) -> Broken {
    let text =
        format!("{{\"condyle\": 1, \"joints\": {{}}, \"skeleton\": {{\"joints\": [\n{joints}]}}}}");
    broken(text, place, path, message)
}

pub(super) fn table() -> Vec<Broken> {
    vec![
        broken("[]", "1:1", "", "expected an object, found a list"),
        broken("{}", "1:1", "", "\"condyle\" is missing"),
        broken("{\"condyle\": 1}", "1:1", "", "\"joints\" is missing"),
        broken("{\"condyle\": 1, \"joints\": {}}", "1:1", "", "\"skeleton\" is missing"),
        broken(
            "{\"condyle\": 2, \"joints\": {}, \"skeleton\": {\"joints\": []}}",
            "1:13",
            "condyle",
            "the document is of version 2",
        ),
        broken(
            "{\"condyle\": \"1\", \"joints\": {}, \"skeleton\": {\"joints\": []}}",
            "1:13",
            "condyle",
            "expected a number, found text",
        ),
        broken(
            "{\"condyle\": 1, \"joints\": [], \"skeleton\": {\"joints\": []}}",
            "1:26",
            "joints",
            "expected an object, found a list",
        ),
        broken(
            "{\"condyle\": 1, \"joints\": {}, \"skeleton\": {}}",
            "1:42",
            "skeleton",
            "\"joints\" is missing",
        ),
        // The skeleton.
        skeleton("3", "2:1", "skeleton.joints[0]", "expected an object, found a number"),
        skeleton("{}", "2:1", "skeleton.joints[0]", "\"name\" is missing"),
        skeleton("{\"name\": \"a\"}", "2:1", "skeleton.joints[0]", "\"offset_m\" is missing"),
        skeleton(
            "{\"name\": \"\", \"offset_m\": [0, 0, 0]}",
            "2:10",
            "skeleton.joints[0].name",
            "expected a name, found none",
        ),
        skeleton(
            "{\"name\": \"a\", \"offset_m\": [0, 0]}",
            "2:27",
            "skeleton.joints[0].offset_m",
            "expected 3 numbers, found 2",
        ),
        skeleton(
            "{\"name\": \"a\", \"offset_m\": [0, \"1\", 0]}",
            "2:31",
            "skeleton.joints[0].offset_m[1]",
            "expected a number, found text",
        ),
        skeleton(
            "{\"name\": \"a\", \"offset_m\": [0, 1, 0], \"rest\": [1, 0, 0]}",
            "2:46",
            "skeleton.joints[0].rest",
            "expected 4 numbers: w, x, y, z, found 3",
        ),
        skeleton(
            "{\"name\": \"a\", \"offset_m\": [0, 1, 0], \"rest\": [0, 0, 0, 0]}",
            "2:46",
            "skeleton.joints[0].rest",
            "the vector is zero and has no direction",
        ),
        skeleton(
            "{\"name\": \"a\", \"offset_m\": [0, 1, 0], \"parent\": 0}",
            "2:48",
            "skeleton.joints[0].parent",
            "expected text, found a number",
        ),
        skeleton(
            "{\"name\": \"a\", \"offset_m\": [0, 1, 0], \"parent\": \"b\"}",
            "2:48",
            "skeleton.joints[0].parent",
            "the parent \"b\" of \"a\" is no joint of the skeleton",
        )
        .beyond_schema(),
        skeleton(
            "{\"name\": \"a\", \"offset_m\": [0, 1, 0], \"parent\": \"b\"},\n\
             {\"name\": \"b\", \"offset_m\": [0, 1, 0]}",
            "2:48",
            "skeleton.joints[0].parent",
            "the parent \"b\" of \"a\" comes after it",
        )
        .beyond_schema(),
        skeleton(
            "{\"name\": \"a\", \"offset_m\": [0, 1, 0], \"parent\": \"b\"},\n\
             {\"name\": \"b\", \"offset_m\": [0, 1, 0], \"parent\": \"a\"}",
            "2:48",
            "skeleton.joints[0].parent",
            "\"a\" is above \"b\", which is given as its parent",
        )
        .beyond_schema(),
        skeleton(
            "{\"name\": \"a\", \"offset_m\": [0, 1, 0], \"parent\": \"a\"}",
            "2:48",
            "skeleton.joints[0].parent",
            "\"a\" is above \"a\", which is given as its parent",
        )
        .beyond_schema(),
        // Joints.
        entry("{}", "2:6", "joints.a", "\"kind\" is missing"),
        entry("null", "2:6", "joints.a", "expected an object, found null"),
        entry(
            "{\"kind\": \"knee\"}",
            "2:15",
            "joints.a.kind",
            "\"knee\" is no kind of joint\n  help: use one of fixed, hinge, universal, ball, free",
        ),
        entry("{\"kind\": \"hinge\"}", "2:6", "joints.a", "\"axis\" is missing"),
        entry(
            "{\"kind\": \"hinge\", \"axes\": [[1, 0, 0], [0, 1, 0]]}",
            "2:6",
            "joints.a",
            "\"axis\" is missing",
        ),
        entry("{\"kind\": \"universal\"}", "2:6", "joints.a", "\"axes\" is missing"),
        entry(
            "{\"kind\": \"universal\", \"axes\": [[1, 0, 0]]}",
            "2:36",
            "joints.a.axes",
            "expected 2 axes, found 1",
        ),
        entry(
            "{\"kind\": \"hinge\", \"axis\": [0, 0.0, -0]}",
            "2:32",
            "joints.a.axis",
            "the vector is zero and has no direction",
        ),
        // An axis that the kind has no use for has to be one all the same.
        entry(
            "{\"kind\": \"free\", \"x_axis\": true}",
            "2:33",
            "joints.a.x_axis",
            "expected a list, found true or false",
        ),
        entry(
            "{\"kind\": \"hinge\", \"axis\": [1, 0, 0], \"limit\": {\"shape\": \"cone\"}}",
            "2:62",
            "joints.a.limit.shape",
            "\"cone\" is no shape of a limit\n  help: use one of arc, arcs, euler_box, swing_twist, \
             locked, free",
        ),
        entry(
            "{\"kind\": \"hinge\", \"axis\": [1, 0, 0], \"limit\": {\"shape\": \"arcs\"}}",
            "2:62",
            "joints.a.limit.shape",
            "a limit of shape \"arcs\" does not fit a joint of kind hinge\n  help: a joint of this \
             kind can have arc, locked, free",
        ),
        entry(
            "{\"kind\": \"fixed\", \"limit\": {\"shape\": \"free\"}}",
            "2:43",
            "joints.a.limit.shape",
            "a limit of shape \"free\" does not fit a joint of kind fixed",
        ),
        entry(
            "{\"kind\": \"ball\", \"limit\": {}}",
            "2:32",
            "joints.a.limit",
            "\"shape\" is missing",
        ),
        entry(
            "{\"kind\": \"hinge\", \"axis\": [1, 0, 0], \"limit\": {\"shape\": \"arc\"}}",
            "2:52",
            "joints.a.limit",
            "\"min_deg\" is missing",
        ),
        entry(
            "{\"kind\": \"hinge\", \"axis\": [1, 0, 0], \"limit\": {\"shape\": \"arc\", \
             \"min_deg\": 170, \"max_deg\": -160}}",
            "2:52",
            "joints.a.limit",
            "min_deg 170 is above max_deg -160\n  help: an arc runs up from min_deg to max_deg and \
             may pass 180: 170 to -160 is written 170 to 200",
        )
        .beyond_schema(),
        entry(
            "{\"kind\": \"hinge\", \"axis\": [1, 0, 0], \"limit\": {\"shape\": \"arc\", \
             \"min_deg\": -180, \"max_deg\": 180.001}}",
            "2:52",
            "joints.a.limit",
            "the arc from -180 to 180.001 degrees is wider than a turn",
        )
        .beyond_schema(),
        entry(
            "{\"kind\": \"universal\", \"axes\": [[1, 0, 0], [0, 1, 0]], \"limit\": {\"shape\": \
             \"arcs\", \"arcs\": [{\"min_deg\": 0, \"max_deg\": 1}, {\"min_deg\": \"0\"}]}}",
            "2:138",
            "joints.a.limit.arcs[1].min_deg",
            "expected a number, found text",
        ),
        entry(
            "{\"kind\": \"universal\", \"axes\": [[1, 0, 0], [0, 1, 0]], \"limit\": {\"shape\": \
             \"arcs\", \"arcs\": []}}",
            "2:95",
            "joints.a.limit.arcs",
            "expected 2 arcs, found 0",
        ),
        entry(
            "{\"kind\": \"ball\", \"limit\": {\"shape\": \"euler_box\", \"order\": \"ZZY\", \
             \"arcs\": []}}",
            "2:64",
            "joints.a.limit.order",
            "\"ZZY\" is no order of Euler angles",
        ),
        entry(
            "{\"kind\": \"ball\", \"limit\": {\"shape\": \"swing_twist\", \"swing\": {\"shape\": \
             \"free\"}, \"twist\": {\"shape\": \"free\"}}}",
            "2:6",
            "joints.a",
            "\"bone_axis\" is missing",
        ),
        entry(
            "{\"kind\": \"ball\", \"bone_axis\": [1, 0, 0], \"x_axis\": [-2, 0, 0]}",
            "2:57",
            "joints.a.x_axis",
            "x_axis is along bone_axis",
        )
        .beyond_schema(),
        entry(
            "{\"kind\": \"free\", \"confidence\": 1.5}",
            "2:37",
            "joints.a.confidence",
            "expected a number from 0 to 1, found 1.5",
        ),
        entry(
            "{\"kind\": \"free\", \"noise_deg\": -1}",
            "2:36",
            "joints.a.noise_deg",
            "expected an angle from 0 to 180 degrees, found -1",
        ),
        entry(
            "{\"kind\": \"free\", \"noise_deg\": 1e308}",
            "2:36",
            "joints.a.noise_deg",
            "expected an angle from 0 to 180 degrees, found 1",
        ),
        entry(
            "{\"kind\": \"free\", \"noise_deg\": 180.5}",
            "2:36",
            "joints.a.noise_deg",
            "expected an angle from 0 to 180 degrees, found 180.5",
        ),
        entry(
            "{\"kind\": \"free\", \"tolerance_deg\": 400}",
            "2:40",
            "joints.a.tolerance_deg",
            "expected an angle from 0 to 180 degrees, found 400",
        ),
        entry(
            "{\"kind\": \"free\", \"samples\": 0.5}",
            "2:34",
            "joints.a.samples",
            "expected a whole number, not negative, found 0.5",
        ),
        entry(
            "{\"kind\": \"free\", \"ends\": [{\"of\": \"end\", \"at_deg\": 1, \"visits\": 1}]}",
            "2:39",
            "joints.a.ends[0].of",
            "\"end\" is no end of a limit",
        ),
        entry(
            "{\"kind\": \"free\", \"ends\": [{\"of\": \"max\", \"at_deg\": 1, \"visits\": 1, \"interval_deg\": [2]}]}",
            "2:88",
            "joints.a.ends[0].interval_deg",
            "expected 2 numbers, found 1",
        ),
        entry(
            "{\"kind\": \"free\", \"ends\": [{\"of\": \"max\", \"at_deg\": 1, \"visits\": 1, \"interval_deg\": [2, 1]}]}",
            "2:88",
            "joints.a.ends[0].interval_deg",
            "expected two angles, the lower one first, found 2 before 1",
        )
        .beyond_schema(),
        entry(
            "{\"kind\": \"free\", \"samples\": -1}",
            "2:34",
            "joints.a.samples",
            "expected a whole number, not negative, found -1",
        ),
        entry(
            "{\"kind\": \"free\", \"source\": \"guess\"}",
            "2:33",
            "joints.a.source",
            "\"guess\" is no source of a joint\n  help: use one of estimated, edited, preset",
        ),
        entry(
            "{\"kind\": \"free\", \"rest_inside\": 1}",
            "2:38",
            "joints.a.rest_inside",
            "expected true or false, found a number",
        ),
        entry(
            "{\"kind\": \"free\", \"soft\": {\"onset_deg\": 1}}",
            "2:31",
            "joints.a.soft",
            "\"stiffness\" is missing",
        ),
        entry(
            "{\"kind\": \"free\", \"center\": null}",
            "2:33",
            "joints.a.center",
            "expected a list, found null",
        ),
        // Swings.
        swing("{}", "3:1", "joints.a.limit.swing", "\"shape\" is missing"),
        swing(
            "{\"shape\": \"cone\"}",
            "3:11",
            "joints.a.limit.swing.shape",
            "\"cone\" is no shape of a swing limit\n  help: use one of ellipse, polygon, \
             cone_planar, reach_cone, box, free, all, any, not, grown",
        ),
        swing(
            "{\"shape\": \"ellipse\", \"rx_deg\": 20, \"ry_deg\": 181}",
            "3:46",
            "joints.a.limit.swing.ry_deg",
            "expected an angle from 0 to 180, found 181",
        ),
        swing(
            "{\"shape\": \"polygon\", \"polygons\": []}",
            "3:34",
            "joints.a.limit.swing.polygons",
            "expected at least one polygon, found 0",
        ),
        swing(
            "{\"shape\": \"polygon\", \"polygons\": [[[1, 0, 0], [0, 1, 0]]]}",
            "3:35",
            "joints.a.limit.swing.polygons[0]",
            "expected at least 3 directions, found 2",
        ),
        swing(
            "{\"shape\": \"polygon\", \"polygons\": [[[1, 0, 0], [0, 1, 0],\n [0, 0, 1, 0]]]}",
            "4:2",
            "joints.a.limit.swing.polygons[0][2]",
            "expected 3 numbers, found 4",
        ),
        swing(
            "{\"shape\": \"cone_planar\", \"points\": [[0, 1], [1, 0], [0, 0, 0]]}",
            "3:53",
            "joints.a.limit.swing.points[2]",
            "expected 2 numbers, found 3",
        ),
        swing(
            "{\"shape\": \"reach_cone\", \"boundary\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}",
            "3:1",
            "joints.a.limit.swing",
            "\"rest_dir\" is missing",
        ),
        swing(
            "{\"shape\": \"box\", \"alpha\": {\"min_deg\": 0, \"max_deg\": 1}, \"beta\": 1}",
            "3:65",
            "joints.a.limit.swing.beta",
            "expected an object, found a number",
        ),
        swing(
            "{\"shape\": \"all\", \"of\": {\"shape\": \"free\"}}",
            "3:24",
            "joints.a.limit.swing.of",
            "expected a list, found an object",
        ),
        swing(
            "{\"shape\": \"not\", \"of\": {\"shape\": \"any\", \"of\": [{\"shape\": 1}]}}",
            "3:58",
            "joints.a.limit.swing.of.of[0].shape",
            "expected text, found a number",
        ),
        swing(
            "{\"shape\": \"grown\", \"of\": {\"shape\": \"free\"}}",
            "3:1",
            "joints.a.limit.swing",
            "\"by_deg\" is missing",
        ),
        // Twists.
        twist(
            "{\"shape\": \"box\"}",
            "3:11",
            "joints.a.limit.twist.shape",
            "\"box\" is no shape of a twist limit\n  help: use one of arc, by_swing, free",
        ),
        twist(
            "{\"shape\": \"by_swing\", \"at\": []}",
            "3:29",
            "joints.a.limit.twist.at",
            "expected at least one direction, found 0",
        ),
        twist(
            "{\"shape\": \"by_swing\", \"at\": [{\"min_deg\": 0, \"max_deg\": 1}]}",
            "3:30",
            "joints.a.limit.twist.at[0]",
            "\"dir\" is missing",
        ),
        twist(
            "{\"shape\": \"free\", \"offset\": {\"shape\": \"to\"}}",
            "3:39",
            "joints.a.limit.twist.offset.shape",
            "\"to\" is no shape of a twist offset\n  help: use one of by_swing, from",
        ),
        twist(
            "{\"shape\": \"free\", \"offset\": {\"shape\": \"by_swing\", \"at\": [{\"dir\": [1, 0, \
             0]}]}}",
            "3:58",
            "joints.a.limit.twist.offset.at[0]",
            "\"deg\" is missing",
        ),
        // JSON.
        entry(
            "{\"kind\": \"free\", \"kind\": \"ball\"}",
            "2:23",
            "joints.a",
            "\"kind\" appears a second time (first at 2:7)\n  help: remove or rename one of the two",
        )
        .beyond_schema(),
        entry("{\"kind\": \"free\"}, \"a\": {\"kind\": \"ball\"}", "2:24", "joints", "\"a\" appears a second time")
            .beyond_schema(),
        entry(
            "{\"kind\": \"free\", \"mine\": {\"x\": [{\"y\": 1, \"y\": 1}]}}",
            "2:47",
            "joints.a.mine.x[0]",
            "\"y\" appears a second time",
        )
        .beyond_schema(),
        entry(
            "{\"kind\": \"free\", \"noise_deg\": 1e999}",
            "2:36",
            "joints.a.noise_deg",
            "expected a finite number, found 1e999",
        ),
        entry(
            "{\"kind\": \"free\",}",
            "2:22",
            "joints.a",
            "expected a name in double quotes, found \"}\"\n  help: JSON has no comma after the \
             last field",
        ),
        entry(
            "{\"kind\": \"free\", // as it is",
            "2:23",
            "joints.a",
            "expected a name in double quotes, found \"/\"\n  help: JSON has no comments: remove it",
        ),
        entry(
            "{\"kind\": \"free\", \"samples\": 0x10}",
            "2:35",
            "joints.a.samples",
            "expected ',' or '}', found \"x10\"",
        ),
    ]
}

#[test]
fn errors_say_what_and_where() {
    let mut wrong = String::new();
    for case in table() {
        let error = Rig::read(case.text.as_bytes()).unwrap_err();
        let text = error.to_string();
        let place = error.position().unwrap().to_string();
        let dots = if case.path.is_empty() { "" } else { ": " };
        let expected = format!("{}: {}{dots}{}", case.place, case.path, case.message);
        let right = (place.as_str(), error.path()) == (case.place, case.path)
            && text.starts_with(&expected)
            && text.contains("\n  help: ")
            && !error.help().is_empty();
        if !right {
            wrong.push_str(&format!("{}\n   told: {text}\n   due: {expected}\n", case.text));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn errors_name_the_file() {
    let error = Rig::read(b"{").unwrap_err().with_file("arm.json".as_ref());
    assert_eq!(
        error.to_string(),
        "arm.json:1:2: expected a name in double quotes, found the end of the file\n  help: the \
         file was cut off, or a bracket is not closed"
    );
}

#[test]
fn what_is_no_text_is_told() {
    let kind = |bytes: &[u8]| Rig::read(bytes).unwrap_err().kind().clone();
    assert_eq!(kind(b""), RigErrorKind::Empty);
    assert_eq!(kind(b"\xEF\xBB\xBF \n"), RigErrorKind::Empty);
    assert_eq!(kind(b"\xFF\xFE{\0}\0"), RigErrorKind::Encoding);
    assert_eq!(kind(b"{\0}\0"), RigErrorKind::Encoding);
    let error = Rig::read(b"{\"a\":\n \"\xC3\xA4\xE4\"}").unwrap_err();
    assert_eq!(*error.kind(), RigErrorKind::Encoding);
    assert_eq!(error.position().unwrap().to_string(), "2:4");
    let large = vec![b' '; MAX_BYTES + 1];
    assert_eq!(kind(&large), RigErrorKind::TooLarge { limit: MAX_BYTES });
}

#[test]
fn hostile_documents_are_refused_in_time() {
    // Brackets, deep and many; names, equal and many; a chain of parents backwards.
    let deep = "[".repeat(1_000_000);
    let error = Rig::read(deep.as_bytes()).unwrap_err();
    assert!(matches!(error.kind(), RigErrorKind::TooDeep { .. }));
    let told = error.to_string();
    assert!(told.lines().all(|line| line.chars().count() < 170), "{told}");
    assert!(told.contains("[0]…[0]") && told.ends_with("or no rig"), "{told}");
    let swing = "{\"shape\": \"not\", \"of\": ".repeat(200);
    let deep = format!("{{\"joints\": {{\"a\": {{\"limit\": {{\"swing\": {swing}");
    let told = Rig::read(deep.as_bytes()).unwrap_err().to_string();
    assert!(told.contains(": joints.a.limit.swing.of.of") && told.contains("`all`"), "{told}");
    let joint = |name: &str, parent: &str| {
        format!("{{\"name\": \"{name}\", \"parent\": {parent}, \"offset_m\": [0, 0, 0]}}")
    };
    let document = |joints: Vec<String>| {
        let joints = joints.join(",");
        format!("{{\"condyle\": 1, \"joints\": {{}}, \"skeleton\": {{\"joints\": [{joints}]}}}}")
    };
    let equal = document(vec![joint("a", "null"); 20_000]);
    let read = Rig::read(equal.as_bytes()).unwrap();
    assert_eq!(read.rig.skeleton.joints()[19_999].name, "a#20000");
    assert_eq!(read.warnings.len(), 1001);
    let last = &read.warnings[1000].kind;
    assert_eq!(*last, RigWarningKind::More { count: 18_999, repairs: true });
    assert_eq!(Rig::read(&read.rig.write().unwrap()).unwrap().rig.skeleton.len(), 20_000);

    let many = document(vec![joint("a", "null"); 65_537]);
    assert_eq!(*Rig::read(many.as_bytes()).unwrap_err().kind(), RigErrorKind::TooManyJoints);

    let n = 60_000;
    let backwards =
        document((0..n).map(|i| joint(&i.to_string(), &format!("\"{}\"", (i + 1) % n))).collect());
    let error = Rig::read(backwards.as_bytes()).unwrap_err();
    let fault = ParentFault::Cycle;
    let kind = RigErrorKind::Parent { joint: "0".to_owned(), parent: "1".to_owned(), fault };
    assert_eq!(*error.kind(), kind);
}

#[test]
fn a_field_that_is_nearly_known_is_pointed_out() {
    let text =
        document("\"a\": {\"kind\": \"hinge\", \"axis\": [1, 0, 0],\n \"limt\": {}, \"mine\": 1}");
    let read = Rig::read(text.as_bytes()).unwrap();
    let notices: Vec<_> = read.warnings.iter().filter(|w| !w.path.is_empty()).collect();
    assert_eq!(
        notices.last().unwrap().to_string(),
        "3:10: joints.a.limt: unknown field \"limt\" is kept, and not used: is \"limit\" meant?"
    );
    assert!(read.warnings.iter().all(|w| !w.is_repair()));
    assert_eq!(notices.len(), 2);
}
