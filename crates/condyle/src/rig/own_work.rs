//! What in a rig is a person's own work: before the document is replaced by another.

use std::fmt;

use super::fields::ObjectKind;
use super::json::{self, Node, Value};
use super::path::{Step, Steps};
use super::{Rig, RigJoint, Source, couplings, maps, write};

/// Something in a rig document that no command can make again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwnWork {
    /// An entry that was written or changed by hand.
    Entry {
        /// The joint's name.
        joint: String,
    },
    /// A field that we do not know.
    Field {
        /// The way to it: `joints.Knee.mine`.
        path: String,
    },
    /// The joint maps.
    Maps,
    /// A coupling that was written or changed by hand.
    Coupling {
        /// Its name.
        name: String,
    },
    /// A skeleton that no entry was estimated for.
    Skeleton,
}

impl fmt::Display for OwnWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry { joint } => write!(f, "the entry of {joint:?}"),
            Self::Field { path } => write!(f, "the field {path}"),
            Self::Maps => f.write_str("the joint maps"),
            Self::Coupling { name } => write!(f, "the coupling {name:?}"),
            Self::Skeleton => f.write_str("the skeleton"),
        }
    }
}

impl Rig {
    /// What a person has done in this rig and `other` has not: it would be lost if the document of this
    /// one were replaced by that of the other.
    ///
    /// That is entries that are [edited](RigJoint::is_edited), or that neither come from an estimate nor
    /// can be made again, which `is_made` knows (such as the presets); fields that are unknown; joint maps;
    /// couplings that were not learnt; and the skeleton of a rig without estimated entries.
    #[must_use]
    pub fn own_work_beyond(
        &self,
        other: &Self,
        is_made: impl Fn(&RigJoint) -> bool,
    ) -> Vec<OwnWork> {
        let estimated = |joint: &RigJoint| joint.source == Some(Source::Estimated);
        let is_own = |joint: &RigJoint| joint.is_edited() || !(estimated(joint) || is_made(joint));
        let has = |name: &str, joint: &RigJoint| {
            let same = |theirs: &RigJoint| {
                // Whose it is counts: what is edited is kept later.
                theirs.content_hash() == joint.content_hash()
                    && (theirs.soft, theirs.source) == (joint.soft, joint.source)
            };
            other.joints.get(name).is_some_and(same)
        };
        let mut work = Vec::new();
        if !self.skeleton.is_empty() && !self.joints.iter().any(|(_, joint)| estimated(joint)) {
            let same =
                write::skeleton_tree(&self.skeleton) == write::skeleton_tree(&other.skeleton);
            work.extend((!same).then_some(OwnWork::Skeleton));
        }
        let entries = self.joints.iter().filter(|(name, of)| is_own(of) && !has(name, of));
        work.extend(entries.map(|(name, _)| OwnWork::Entry { joint: name.to_owned() }));
        let [ours, theirs] = [self, other].map(|rig| maps::tree(&rig.maps).ok().flatten());
        work.extend((ours.is_some() && ours != theirs).then_some(OwnWork::Maps));
        for of in self.couplings.iter().filter(|of| of.source != Some(Source::Estimated)) {
            let tree = couplings::tree(std::slice::from_ref(of));
            let same = |theirs| couplings::tree(std::slice::from_ref(theirs)) == tree;
            if !other.couplings.iter().any(same) {
                work.push(OwnWork::Coupling { name: of.name.clone() });
            }
        }
        let [ours, theirs] = [self, other].map(unknown_fields);
        let fields = ours.into_iter().filter(|field| !theirs.contains(field));
        work.extend(fields.map(|(path, _)| OwnWork::Field { path }));
        work
    }
}

/// The fields that we do not know, of a rig that was read: the way to each, and what it says.
fn unknown_fields(rig: &Rig) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let Some(root) = rig.origin.as_deref().and_then(|text| json::parse(text).ok()) {
        add_unknown(&root, ObjectKind::Document, &mut Vec::new(), &mut found);
    }
    found
}

/// The depth of the tree bounds that of the recursion.
fn add_unknown<'n>(
    node: &'n Node<'n>,
    kind: ObjectKind,
    steps: &mut Vec<Step<'n>>,
    found: &mut Vec<(String, String)>,
) {
    match &node.value {
        Value::Object(fields) => {
            for field in fields {
                let key = &*field.key;
                steps.push(Step::Key(key.into()));
                if let Some(inner) = kind.holds(node, key) {
                    add_unknown(&field.node, inner, steps, found);
                } else if kind != ObjectKind::Moved && !kind.names_in(node).any(|name| name == key)
                {
                    found.push((Steps(steps).to_string(), json::print(&field.node)));
                }
                steps.pop();
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                steps.push(Step::Index(i));
                add_unknown(item, kind, steps, found);
                steps.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{ "condyle": 1,
  "skeleton": { "joints": [ { "name": "Leg", "offset_m": [0, -1, 0] } ] },
  "joints": { "Leg": { "kind": "hinge", "axis": [1, 0, 0], "source": "estimated",
    "limit": { "shape": "arc", "min_deg": 0, "max_deg": 90 } } } }"#;

    fn read(text: &str) -> Rig {
        Rig::read(text.as_bytes()).unwrap_or_else(|e| panic!("{e}: {text}")).rig
    }

    fn told(text: &str, other: &Rig) -> Vec<String> {
        let work = read(text).own_work_beyond(other, |_| false);
        work.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_person_did_is_told_and_what_was_estimated_is_not() {
        let none = Rig::default();
        assert_eq!(told(TEXT, &none), Vec::<String>::new());
        for (from, to, what) in [
            ("estimated", "edited", vec!["the skeleton", "the entry of \"Leg\""]),
            ("estimated", "preset", vec!["the skeleton", "the entry of \"Leg\""]),
            (", \"source\": \"estimated\"", "", vec!["the skeleton", "the entry of \"Leg\""]),
            ("\"kind\"", "\"mine\": [1], \"kind\"", vec!["the field joints.Leg.mine"]),
            ("\"shape\"", "\"mine\": 1, \"shape\"", vec!["the field joints.Leg.limit.mine"]),
            ("\"name\"", "\"mine\": 1, \"name\"", vec!["the field skeleton.joints[0].mine"]),
            ("\"condyle\"", "\"mine\": {}, \"condyle\"", vec!["the field mine"]),
            (
                "\"source\"",
                "\"estimate_hash\": \"0123456789abcdef\", \"source\"",
                vec!["the entry of \"Leg\""],
            ),
        ] {
            let changed = TEXT.replacen(from, to, 1);
            assert_ne!(changed, TEXT, "{from}");
            assert_eq!(told(&changed, &none), what, "{changed}");
            // Nothing is lost to a rig that has it, too.
            assert_eq!(told(&changed, &read(&changed)), Vec::<String>::new(), "{changed}");
        }
        // What can be made again.
        let preset = read(&TEXT.replace("estimated", "preset"));
        assert_eq!(preset.own_work_beyond(&none, |_| true), [OwnWork::Skeleton]);
    }

    #[test]
    fn maps_and_couplings_that_were_not_learnt_are_a_persons() {
        let none = Rig::default();
        let text = r#"{ "condyle": 1, "skeleton": { "joints": [] }, "joints": {
  "Arm": { "kind": "hinge", "axis": [1, 0, 0], "source": "estimated" },
  "Leg": { "kind": "hinge", "axis": [1, 0, 0], "source": "estimated" } },
"maps": { "dials": { "bend": { "unit": "ratio", "min": 0, "max": 1 } }, "parts": {}, "joints": {} },
"couplings": { "mine": { "does": "bound", "active": { "joint": "Arm", "angle": "turn" },
  "passive": { "joint": "Leg", "angle": "turn" }, "source": "edited",
  "upper": { "shape": "points", "points": [[0, 90.0], [140, 120]] }, "seen_deg": [0, 140] } } }"#;
        assert_eq!(told(text, &none), ["the joint maps", "the coupling \"mine\""]);
        assert_eq!(told(text, &read(text)), Vec::<String>::new());
        let learnt = text.replace("\"source\": \"edited\"", "\"source\": \"estimated\"");
        assert_eq!(told(&learnt, &none), ["the joint maps"]);
        let other = read(&text.replace("120", "121").replace("\"max\": 1", "\"max\": 2"));
        assert_eq!(told(text, &other), ["the joint maps", "the coupling \"mine\""]);
    }
}
