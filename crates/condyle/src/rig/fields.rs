//! Which fields the objects of a document have: the one list that reader and merge go by. Tests
//! compare it with the schema and with what is written.

use super::json::Node;

/// A kind of object in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ObjectKind {
    /// The document itself.
    Document,
    /// `skeleton`.
    Skeleton,
    /// A joint of the skeleton.
    SkeletonJoint,
    /// `joints`: its fields are names of joints.
    Entries,
    /// What a joint can do.
    Entry,
    Soft,
    /// Frames of a take that were left out.
    LeftOut,
    /// How well an end of the limit is known.
    End,
    Limit,
    Swing,
    Twist,
    TwistOffset,
    Arc,
    /// An arc of twist at a direction.
    TwistAt,
    /// A zero twist at a direction.
    OffsetAt,
    /// `maps`.
    Maps,
    /// Dials, parts, outputs and joints that are moved: their fields are names.
    Dials,
    Dial,
    Parts,
    Part,
    Outputs,
    Output,
    Moved,
    /// A function.
    Curve,
    /// Where a turn is about, up to an angle.
    Center,
    Ellipsoid,
    ContactPair,
    /// `couplings`: its fields are names.
    Couplings,
    Coupling,
    /// An angle of a joint.
    AngleOf,
}

/// A field that we know.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    /// What its value is, or what the items of its list are, if these are objects.
    holds: Option<ObjectKind>,
}

/// A shape that an object can have.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) name: &'static str,
    fields: &'static [Known],
}

const fn plain(name: &'static str) -> Known {
    Known { name, holds: None }
}

const fn of(name: &'static str, kind: ObjectKind) -> Known {
    Known { name, holds: Some(kind) }
}

const fn shape(name: &'static str, fields: &'static [Known]) -> Shape {
    Shape { name, fields }
}

const DOCUMENT: &[Known] = &[
    plain("condyle"),
    of("skeleton", ObjectKind::Skeleton),
    of("joints", ObjectKind::Entries),
    of("maps", ObjectKind::Maps),
    of("couplings", ObjectKind::Couplings),
];

const MAPS: &[Known] = &[
    of("dials", ObjectKind::Dials),
    of("parts", ObjectKind::Parts),
    of("joints", ObjectKind::Moved),
];

const DIAL: &[Known] = &[plain("unit"), plain("label"), plain("source")];

const UNIT: [Shape; 3] = [
    shape("angle", &[plain("min_deg"), plain("max_deg"), plain("rest_deg")]),
    shape("length", &[plain("min_m"), plain("max_m"), plain("rest_m")]),
    shape("ratio", &[plain("min"), plain("max"), plain("rest")]),
];

const DOES: &[Known] = &[plain("does")];

const PART: [Shape; 8] = [
    shape("spread", &[plain("input"), of("outputs", ObjectKind::Outputs)]),
    shape(
        "bound",
        &[
            plain("active"),
            plain("passive"),
            of("lower", ObjectKind::Curve),
            of("upper", ObjectKind::Curve),
        ],
    ),
    shape(
        "turn",
        &[
            plain("angle"),
            plain("axis"),
            plain("rest_deg"),
            plain("from_deg"),
            of("centers", ObjectKind::Center),
        ],
    ),
    shape("shift", &[plain("length"), plain("along")]),
    shape("chain", &[plain("of")]),
    shape(
        "limit",
        &[
            plain("input"),
            plain("kind"),
            plain("center"),
            plain("axis"),
            plain("axes"),
            plain("bone_axis"),
            plain("x_axis"),
            of("limit", ObjectKind::Limit),
            plain("toward_rest"),
        ],
    ),
    shape("compensate", &[plain("input"), plain("joint"), plain("cancel")]),
    shape(
        "slide",
        &[
            plain("input"),
            plain("joint"),
            plain("on"),
            plain("numbers"),
            of("ellipsoid", ObjectKind::Ellipsoid),
            plain("axis"),
            of("pairs", ObjectKind::ContactPair),
        ],
    ),
];

const OUTPUT: &[Known] = &[plain("unit"), of("curve", ObjectKind::Curve)];

const CURVE: [Shape; 4] = [
    shape("linear", &[plain("slope"), plain("offset")]),
    shape("polynomial", &[plain("coefficients")]),
    shape("points", &[plain("points")]),
    shape("spline", &[plain("points")]),
];

const CENTER: &[Known] = &[plain("to_deg"), plain("at_m")];

const ELLIPSOID: &[Known] = &[plain("center_m"), plain("rotation"), plain("radii_m")];

const CONTACT_PAIR: &[Known] = &[plain("at"), plain("points_m")];

const COUPLING: &[Known] = &[
    plain("does"),
    of("active", ObjectKind::AngleOf),
    of("passive", ObjectKind::AngleOf),
    plain("seen_deg"),
    plain("uncertain_deg"),
    plain("false_share"),
    plain("source"),
];

const COUPLED: [Shape; 2] = [
    shape("drive", &[of("curve", ObjectKind::Curve), plain("residual_deg")]),
    shape("bound", &[of("lower", ObjectKind::Curve), of("upper", ObjectKind::Curve)]),
];

const ANGLE_OF: &[Known] = &[plain("joint"), plain("angle")];

const SKELETON: &[Known] = &[of("joints", ObjectKind::SkeletonJoint)];

const SKELETON_JOINT: &[Known] =
    &[plain("name"), plain("parent"), plain("offset_m"), plain("rest"), plain("end_sites_m")];

const ENTRY: &[Known] = &[
    plain("kind"),
    plain("confidence"),
    plain("why"),
    plain("center"),
    plain("axis"),
    plain("axes"),
    plain("bone_axis"),
    plain("x_axis"),
    of("limit", ObjectKind::Limit),
    of("soft", ObjectKind::Soft),
    plain("rest_inside"),
    plain("rest_excess_deg"),
    plain("start"),
    plain("samples"),
    plain("rejected"),
    of("left_out", ObjectKind::LeftOut),
    plain("noise_deg"),
    plain("tolerance_deg"),
    of("ends", ObjectKind::End),
    plain("source"),
    plain("estimate_hash"),
    plain("notes"),
];

const SOFT: &[Known] = &[plain("onset_deg"), plain("stiffness")];

const LEFT_OUT: &[Known] = &[plain("take"), plain("frames")];

const END: &[Known] = &[
    plain("of"),
    plain("at_deg"),
    plain("reached_deg"),
    plain("visits"),
    plain("interval_deg"),
    plain("open"),
];

const SHAPED: &[Known] = &[plain("shape")];

const SHAPED_TWIST: &[Known] = &[plain("shape"), of("offset", ObjectKind::TwistOffset)];

const TWIST_AT: &[Known] = &[plain("dir"), plain("min_deg"), plain("max_deg")];

const OFFSET_AT: &[Known] = &[plain("dir"), plain("deg")];

const ARC: &[Known] = &[plain("min_deg"), plain("max_deg")];

const LIMIT: [Shape; 6] = [
    shape("arc", ARC),
    shape("arcs", &[of("arcs", ObjectKind::Arc)]),
    shape("euler_box", &[plain("order"), of("arcs", ObjectKind::Arc)]),
    shape("swing_twist", &[of("swing", ObjectKind::Swing), of("twist", ObjectKind::Twist)]),
    shape("locked", &[]),
    shape("free", &[]),
];

const SWING: [Shape; 10] = [
    shape("ellipse", &[plain("rx_deg"), plain("ry_deg")]),
    shape("polygon", &[plain("polygons")]),
    shape("cone_planar", &[plain("points")]),
    shape("reach_cone", &[plain("boundary"), plain("rest_dir")]),
    shape("box", &[of("alpha", ObjectKind::Arc), of("beta", ObjectKind::Arc)]),
    shape("free", &[]),
    shape("all", &[of("of", ObjectKind::Swing)]),
    shape("any", &[of("of", ObjectKind::Swing)]),
    shape("not", &[of("of", ObjectKind::Swing)]),
    shape("grown", &[of("of", ObjectKind::Swing), plain("by_deg")]),
];

const TWIST: [Shape; 3] =
    [shape("arc", ARC), shape("by_swing", &[of("at", ObjectKind::TwistAt)]), shape("free", &[])];

const TWIST_OFFSET: [Shape; 2] =
    [shape("by_swing", &[of("at", ObjectKind::OffsetAt)]), shape("from", &[plain("dir")])];

/// The names of shapes.
const fn names<const N: usize>(shapes: &[Shape; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut i = 0;
    while i < N {
        names[i] = shapes[i].name;
        i += 1;
    }
    names
}

pub(super) const LIMIT_SHAPES: &[&str] = &names(&LIMIT);
pub(super) const SWING_SHAPES: &[&str] = &names(&SWING);
pub(super) const TWIST_SHAPES: &[&str] = &names(&TWIST);
pub(super) const UNIT_SHAPES: &[&str] = &names(&UNIT);
pub(super) const PART_SHAPES: &[&str] = &names(&PART);
pub(super) const COUPLING_SHAPES: &[&str] = &names(&COUPLED);
pub(super) const CURVE_SHAPES: &[&str] = &names(&CURVE);
pub(super) const TWIST_OFFSET_SHAPES: &[&str] = &names(&TWIST_OFFSET);

impl ObjectKind {
    /// The fields that an object of this kind has whatever its shape.
    const fn fields(self) -> &'static [Known] {
        match self {
            Self::Document => DOCUMENT,
            Self::Skeleton => SKELETON,
            Self::SkeletonJoint => SKELETON_JOINT,
            Self::Entries => &[],
            Self::Entry => ENTRY,
            Self::Soft => SOFT,
            Self::LeftOut => LEFT_OUT,
            Self::End => END,
            Self::Limit | Self::Swing | Self::TwistOffset => SHAPED,
            Self::Twist => SHAPED_TWIST,
            Self::Arc => ARC,
            Self::TwistAt => TWIST_AT,
            Self::OffsetAt => OFFSET_AT,
            Self::Maps => MAPS,
            Self::Dials | Self::Parts | Self::Outputs | Self::Moved => &[],
            Self::Dial => DIAL,
            Self::Part => DOES,
            Self::Output => OUTPUT,
            Self::Curve => SHAPED,
            Self::Center => CENTER,
            Self::Ellipsoid => ELLIPSOID,
            Self::ContactPair => CONTACT_PAIR,
            Self::Couplings => &[],
            Self::Coupling => COUPLING,
            Self::AngleOf => ANGLE_OF,
        }
    }

    /// The shapes that an object of this kind can have.
    const fn shapes(self) -> &'static [Shape] {
        match self {
            Self::Limit => &LIMIT,
            Self::Swing => &SWING,
            Self::Twist => &TWIST,
            Self::TwistOffset => &TWIST_OFFSET,
            Self::Dial => &UNIT,
            Self::Part => &PART,
            Self::Curve => &CURVE,
            Self::Coupling => &COUPLED,
            _ => &[],
        }
    }

    /// The field that says which shape an object of this kind has.
    const fn told_by(self) -> &'static str {
        match self {
            Self::Dial => "unit",
            Self::Part | Self::Coupling => "does",
            _ => "shape",
        }
    }

    /// Which shape an object of this kind has.
    fn shape_of<'n>(self, object: &'n Node<'_>) -> Option<&'n str> {
        object.get(self.told_by()).and_then(Node::as_str)
    }

    /// The fields that an object of this kind and shape has.
    fn known(self, shape: Option<&str>) -> impl Iterator<Item = &'static Known> {
        let shape = self.shapes().iter().find(|s| Some(s.name) == shape);
        self.fields().iter().chain(shape.map_or(&[][..], |s| s.fields))
    }

    /// The names of the fields that this object has by its kind and shape.
    pub(super) fn names_in(self, object: &Node<'_>) -> impl Iterator<Item = &'static str> {
        self.known(self.shape_of(object)).map(|known| known.name)
    }

    /// What a field of this object holds, in it or in a list: `None` if it is unknown or no object.
    pub(super) fn holds(self, object: &Node<'_>, field: &str) -> Option<Self> {
        match self {
            Self::Entries => return Some(Self::Entry),
            Self::Dials => return Some(Self::Dial),
            Self::Parts => return Some(Self::Part),
            Self::Outputs => return Some(Self::Output),
            Self::Couplings => return Some(Self::Coupling),
            _ => {}
        }
        self.known(self.shape_of(object)).find(|known| known.name == field)?.holds
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    use super::super::json::{self, Value};
    use super::super::{Rig, RigJoint};
    use super::*;

    const ALL: [ObjectKind; 30] = [
        ObjectKind::Document,
        ObjectKind::Skeleton,
        ObjectKind::SkeletonJoint,
        ObjectKind::Entries,
        ObjectKind::Entry,
        ObjectKind::Soft,
        ObjectKind::LeftOut,
        ObjectKind::End,
        ObjectKind::Limit,
        ObjectKind::Swing,
        ObjectKind::Twist,
        ObjectKind::TwistOffset,
        ObjectKind::Arc,
        ObjectKind::TwistAt,
        ObjectKind::OffsetAt,
        ObjectKind::Maps,
        ObjectKind::Dials,
        ObjectKind::Dial,
        ObjectKind::Parts,
        ObjectKind::Part,
        ObjectKind::Outputs,
        ObjectKind::Output,
        ObjectKind::Moved,
        ObjectKind::Curve,
        ObjectKind::Center,
        ObjectKind::Ellipsoid,
        ObjectKind::ContactPair,
        ObjectKind::Couplings,
        ObjectKind::Coupling,
        ObjectKind::AngleOf,
    ];

    /// Objects whose fields are names of the user's.
    const NAMED: [ObjectKind; 6] = [
        ObjectKind::Entries,
        ObjectKind::Dials,
        ObjectKind::Parts,
        ObjectKind::Outputs,
        ObjectKind::Moved,
        ObjectKind::Couplings,
    ];

    fn document(name: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        std::fs::read_to_string(path).unwrap()
    }

    /// Every kind with every shape it has, or with none.
    fn forms() -> Vec<(ObjectKind, Option<&'static str>)> {
        let of = |kind: ObjectKind| -> Vec<_> {
            match kind.shapes() {
                [] => vec![(kind, None)],
                shapes => shapes.iter().map(|s| (kind, Some(s.name))).collect(),
            }
        };
        ALL.into_iter().filter(|kind| !NAMED.contains(kind)).flat_map(of).collect()
    }

    fn at<'n>(node: &'n Node<'n>, way: &str) -> &'n Node<'n> {
        way.split('/').fold(node, |node, key| node.get(key).unwrap_or_else(|| panic!("{way}")))
    }

    /// What the schema says about one of several shapes.
    fn of_shape<'n>(schema: &'n Node<'n>, shape: &str) -> Option<&'n Node<'n>> {
        let Value::Array(cases) = &schema.get("allOf")?.value else { return None };
        let is = |case: &&Node<'_>| {
            let told = |by: &str| at(case, "if/properties").get(by)?.get("const")?.as_str();
            ["shape", "unit", "does"].into_iter().find_map(told) == Some(shape)
        };
        cases.iter().find(is)?.get("then")
    }

    /// A field of a part that does something.
    fn part<'n>(root: &'n Node<'n>, does: &str, field: &str) -> &'n Node<'n> {
        at(at(of_shape(at(root, "$defs/part"), does).unwrap(), "properties"), field)
    }

    fn properties<'n>(schema: &'n Node<'n>) -> Vec<&'n str> {
        let Some(Value::Object(fields)) = schema.get("properties").map(|p| &p.value) else {
            return Vec::new();
        };
        // Fields of presets are told in the schema and not read.
        let read = |field: &&json::Field<'n>| {
            let about = field.node.get("description").and_then(Node::as_str);
            !about.is_some_and(|text| text.ends_with("Not read."))
        };
        fields.iter().filter(read).map(|f| &*f.key).collect()
    }

    #[test]
    fn the_schema_has_the_same_fields_and_shapes() {
        let text = document("rig.schema.json");
        let root = json::parse(&text).unwrap();
        let definition = |kind| match kind {
            ObjectKind::Document => &root,
            ObjectKind::Skeleton => at(&root, "properties/skeleton"),
            ObjectKind::SkeletonJoint => at(&root, "$defs/skeleton_joint"),
            ObjectKind::Entries => at(&root, "properties/joints"),
            ObjectKind::Entry => at(&root, "$defs/joint"),
            ObjectKind::Soft => at(&root, "$defs/joint/properties/soft"),
            ObjectKind::LeftOut => at(&root, "$defs/left_out"),
            ObjectKind::End => at(&root, "$defs/joint/properties/ends/items"),
            ObjectKind::Limit => at(&root, "$defs/limit"),
            ObjectKind::Swing => at(&root, "$defs/swing"),
            ObjectKind::Twist => at(&root, "$defs/twist"),
            ObjectKind::TwistOffset => at(&root, "$defs/twist_offset"),
            ObjectKind::Arc => at(&root, "$defs/arc"),
            ObjectKind::TwistAt => {
                at(of_shape(at(&root, "$defs/twist"), "by_swing").unwrap(), "properties/at/items")
            }
            ObjectKind::OffsetAt => at(
                of_shape(at(&root, "$defs/twist_offset"), "by_swing").unwrap(),
                "properties/at/items",
            ),
            ObjectKind::Maps => at(&root, "properties/maps"),
            ObjectKind::Dials => at(&root, "properties/maps/properties/dials"),
            ObjectKind::Dial => at(&root, "$defs/dial"),
            ObjectKind::Parts => at(&root, "properties/maps/properties/parts"),
            ObjectKind::Part => at(&root, "$defs/part"),
            ObjectKind::Outputs => part(&root, "spread", "outputs"),
            ObjectKind::Output => at(&root, "$defs/output"),
            ObjectKind::Moved => at(&root, "properties/maps/properties/joints"),
            ObjectKind::Curve => at(&root, "$defs/curve"),
            ObjectKind::Center => at(part(&root, "turn", "centers"), "items"),
            ObjectKind::Ellipsoid => part(&root, "slide", "ellipsoid"),
            ObjectKind::ContactPair => at(part(&root, "slide", "pairs"), "items"),
            ObjectKind::Couplings => at(&root, "properties/couplings"),
            ObjectKind::Coupling => at(&root, "$defs/coupling"),
            ObjectKind::AngleOf => at(&root, "$defs/angle_of"),
        };
        for (kind, shape) in forms() {
            let schema = definition(kind);
            let mut theirs = properties(schema);
            if let Some(shape) = shape {
                let case = of_shape(schema, shape).unwrap_or_else(|| panic!("{kind:?} {shape}"));
                theirs.extend(properties(case));
            }
            let theirs: BTreeSet<&str> = theirs.into_iter().collect();
            let ours: BTreeSet<&str> = kind.known(shape).map(|known| known.name).collect();
            assert_eq!(ours, theirs, "{kind:?} {shape:?}");
            if !kind.shapes().is_empty() {
                let told_by = at(at(schema, "properties"), kind.told_by());
                let Value::Array(words) = &at(told_by, "enum").value else { panic!() };
                let theirs: Vec<&str> = words.iter().filter_map(Node::as_str).collect();
                let ours: Vec<&str> = kind.shapes().iter().map(|s| s.name).collect();
                assert_eq!(ours, theirs, "{kind:?}");
            }
        }
    }

    type Written = BTreeMap<String, BTreeSet<String>>;

    fn form(kind: ObjectKind, shape: Option<&str>) -> String {
        format!("{kind:?} {}", shape.unwrap_or_default())
    }

    /// The fields that were written for each kind and shape.
    fn collect(node: &Node<'_>, kind: Option<ObjectKind>, written: &mut Written) {
        match &node.value {
            Value::Array(items) => items.iter().for_each(|item| collect(item, kind, written)),
            Value::Object(fields) => {
                let kind = kind.expect("an object where the list has none");
                // An output has a unit, and no shape.
                let shape = kind.shape_of(node).filter(|_| !kind.shapes().is_empty());
                let seen = written.entry(form(kind, shape)).or_default();
                seen.extend(fields.iter().map(|f| f.key.to_string()));
                for field in fields {
                    collect(&field.node, kind.holds(node, &field.key), written);
                }
            }
            _ => {}
        }
    }

    /// The manual shows every field once at least, so its examples, written anew, have all of them.
    #[test]
    fn what_is_written_has_the_same_fields() {
        let manual = document("rig.md");
        let mut written = Written::new();
        for block in manual.split("```json\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let text = if block.contains("\"condyle\"") {
                block.to_owned()
            } else {
                let skeleton = r#""skeleton": {"joints": []}"#;
                format!(r#"{{"condyle": 1, {skeleton}, "joints": {{{block}}}}}"#)
            };
            let read = Rig::read(text.as_bytes()).unwrap().rig;
            let mut anew = Rig::new(read.skeleton, read.joints);
            anew.maps = read.maps;
            anew.couplings = read.couplings;
            let anew = anew.write().unwrap();
            let anew = String::from_utf8(anew).unwrap();
            collect(&json::parse(&anew).unwrap(), Some(ObjectKind::Document), &mut written);
        }
        for (kind, shape) in forms() {
            let ours: BTreeSet<String> = kind.known(shape).map(|k| k.name.to_owned()).collect();
            let mut theirs = written.remove(&form(kind, shape)).unwrap_or_default();
            // It goes with every shape of twist, and the manual does not show all of these.
            if kind == ObjectKind::Twist {
                theirs.insert("offset".to_owned());
            }
            // So do these with every kind of limit.
            if (kind, shape) == (ObjectKind::Part, Some("limit")) {
                theirs.extend(["center", "axis", "axes"].map(str::to_owned));
            }
            assert_eq!(ours, theirs, "{kind:?} {shape:?}");
        }
        for kind in NAMED {
            written.remove(&form(kind, None));
        }
        assert!(written.is_empty(), "{written:?}");
    }

    #[test]
    fn a_field_of_the_users_own_survives_though_another_object_has_one_of_that_name() {
        let mine = r#""name": "m", "order": [1], "of": {"at": 2}, "dir": "x", "parent": null"#;
        let text = format!(
            r#"{{"condyle": 1, "shape": "s", "skeleton": {{"name": "k", "joints": [
              {{"name": "A", "offset_m": [0, 0, 0], "kind": "k", "order": 3}},
              {{"name": "A", "offset_m": [0, 0, 0], "limit": 4}}]}},
            "joints": {{"A": {{"kind": "hinge", "axis": [1, 0, 0], {mine}, "limit":
              {{"shape": "arc", "min_deg": 0, "max_deg": 9, "order": "o", "axis": 5}}}},
              "A#2": {{"kind": "free", "swing": {{"kind": 6}}}}}}}}"#
        );
        let mut rig = Rig::read(text.as_bytes()).unwrap().rig;
        // Without the first the second is no longer A#2 by itself: nothing that depends on other
        // parts can be kept as it is.
        let mut skeleton = crate::skeleton::Skeleton::new();
        let second = rig.skeleton.find("A#2").unwrap();
        skeleton.add_root(rig.skeleton[second].clone()).unwrap();
        rig.skeleton = skeleton;
        if let Some(joint) = rig.joints.get_mut("A") {
            *joint = RigJoint { samples: Some(7), ..joint.clone() };
        }
        let written = String::from_utf8(rig.write().unwrap()).unwrap();
        let tree = json::parse(&written).unwrap();
        let entry = at(&tree, "joints/A");
        for field in ["name", "order", "of", "dir", "parent", "samples"] {
            assert!(entry.get(field).is_some(), "{field}\n{written}");
        }
        assert_eq!(at(entry, "of/at").value, Value::Number("2".into()));
        assert!(at(entry, "limit").get("order").is_some() && at(entry, "limit/axis").at > 0);
        assert_eq!(at(&tree, "shape").as_str(), Some("s"));
        assert_eq!(at(&tree, "skeleton/name").as_str(), Some("k"));
        assert_eq!(at(&tree, "joints/A#2/swing/kind").value, Value::Number("6".into()));
        let Value::Array(joints) = &at(&tree, "skeleton/joints").value else { panic!() };
        assert_eq!(joints[0].get("name").and_then(Node::as_str), Some("A#2"));
        assert_eq!(joints[0].get("limit").map(|n| &n.value), Some(&Value::Number("4".into())));
    }
}
