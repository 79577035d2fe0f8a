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

const DOCUMENT: &[Known] =
    &[plain("condyle"), of("skeleton", ObjectKind::Skeleton), of("joints", ObjectKind::Entries)];

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
    plain("left_out"),
    plain("noise_deg"),
    of("ends", ObjectKind::End),
    plain("source"),
    plain("notes"),
];

const SOFT: &[Known] = &[plain("onset_deg"), plain("stiffness")];

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
            Self::End => END,
            Self::Limit | Self::Swing | Self::TwistOffset => SHAPED,
            Self::Twist => SHAPED_TWIST,
            Self::Arc => ARC,
            Self::TwistAt => TWIST_AT,
            Self::OffsetAt => OFFSET_AT,
        }
    }

    /// The shapes that an object of this kind can have.
    const fn shapes(self) -> &'static [Shape] {
        match self {
            Self::Limit => &LIMIT,
            Self::Swing => &SWING,
            Self::Twist => &TWIST,
            Self::TwistOffset => &TWIST_OFFSET,
            _ => &[],
        }
    }

    /// The fields that an object of this kind and shape has.
    fn known(self, shape: Option<&str>) -> impl Iterator<Item = &'static Known> {
        let shape = self.shapes().iter().find(|s| Some(s.name) == shape);
        self.fields().iter().chain(shape.map_or(&[][..], |s| s.fields))
    }

    /// The names of the fields that this object has by its kind and shape.
    pub(super) fn names_in(self, object: &Node<'_>) -> impl Iterator<Item = &'static str> {
        self.known(object.get("shape").and_then(Node::as_str)).map(|known| known.name)
    }

    /// What a field of this object holds, in it or in a list: `None` if it is unknown or no object.
    pub(super) fn holds(self, object: &Node<'_>, field: &str) -> Option<Self> {
        if self == Self::Entries {
            return Some(Self::Entry);
        }
        let shape = object.get("shape").and_then(Node::as_str);
        self.known(shape).find(|known| known.name == field)?.holds
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    use super::super::json::{self, Value};
    use super::super::{Rig, RigJoint};
    use super::*;

    const ALL: [ObjectKind; 14] = [
        ObjectKind::Document,
        ObjectKind::Skeleton,
        ObjectKind::SkeletonJoint,
        ObjectKind::Entries,
        ObjectKind::Entry,
        ObjectKind::Soft,
        ObjectKind::End,
        ObjectKind::Limit,
        ObjectKind::Swing,
        ObjectKind::Twist,
        ObjectKind::TwistOffset,
        ObjectKind::Arc,
        ObjectKind::TwistAt,
        ObjectKind::OffsetAt,
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
        ALL.into_iter().filter(|kind| *kind != ObjectKind::Entries).flat_map(of).collect()
    }

    fn at<'n>(node: &'n Node<'n>, way: &str) -> &'n Node<'n> {
        way.split('/').fold(node, |node, key| node.get(key).unwrap_or_else(|| panic!("{way}")))
    }

    /// What the schema says about one of several shapes.
    fn of_shape<'n>(schema: &'n Node<'n>, shape: &str) -> Option<&'n Node<'n>> {
        let Value::Array(cases) = &schema.get("allOf")?.value else { return None };
        let is = |case: &&Node<'_>| {
            at(case, "if/properties").get("shape").and_then(|s| s.get("const")?.as_str())
                == Some(shape)
        };
        cases.iter().find(is)?.get("then")
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
                let Value::Array(words) = &at(schema, "properties/shape/enum").value else {
                    panic!()
                };
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
                let shape = node.get("shape").and_then(Node::as_str);
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
            let anew = Rig::new(read.skeleton, read.joints).write().unwrap();
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
            assert_eq!(ours, theirs, "{kind:?} {shape:?}");
        }
        written.remove(&form(ObjectKind::Entries, None));
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
