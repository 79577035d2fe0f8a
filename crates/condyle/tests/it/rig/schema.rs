//! `docs/rig.schema.json` and the reader agree.

use std::path::Path;

use condyle::maps::MapErrorKind;
use condyle::models;
use condyle::rig::{Rig, RigErrorKind};
use condyle::synth::Rng;
use jsonschema::Validator;
use serde_json::{Value, json};

use super::{errors, write, zoo};

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rig.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn validator() -> Validator {
    jsonschema::draft202012::new(&schema()).unwrap()
}

#[test]
fn the_schema_is_one() {
    jsonschema::draft202012::meta::validate(&schema()).unwrap();
    assert_eq!(schema()["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

#[test]
fn what_is_written_satisfies_the_schema() {
    let validator = validator();
    for seed in 0..500 {
        let written = write(&zoo::rig(seed));
        let value = serde_json::from_str(&written).unwrap();
        if let Err(error) = validator.validate(&value) {
            panic!("{seed}: {}: {error}\n{written}", error.instance_path());
        }
    }
}

#[test]
fn presets_satisfy_the_schema() {
    let validator = validator();
    for preset in condyle::presets::all() {
        let entry: Value = serde_json::from_str(preset.text).unwrap();
        let document =
            json!({"condyle": 1, "skeleton": {"joints": []}, "joints": {preset.name: entry}});
        if let Err(error) = validator.validate(&document) {
            panic!("{}: {}: {error}", preset.name, error.instance_path());
        }
    }
}

#[test]
fn broken_documents_fail_in_both() {
    let validator = validator();
    for case in errors::table() {
        assert!(Rig::read(case.text.as_bytes()).is_err());
        // What is not JSON satisfies no schema.
        let value = serde_json::from_str(&case.text);
        let valid = value.is_ok_and(|value| validator.is_valid(&value));
        assert_eq!(valid, !case.in_schema, "{}", case.text);
    }
}

/// All values in a tree, by the ways to them.
fn ways(value: &Value, way: &str, found: &mut Vec<String>) {
    found.push(way.to_owned());
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                ways(item, &format!("{way}/{i}"), found);
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                let key = key.replace('~', "~0").replace('/', "~1");
                ways(item, &format!("{way}/{key}"), found);
            }
        }
        _ => {}
    }
}

/// One value of a document changed, left out or doubled.
fn change(rng: &mut Rng, document: &mut Value) {
    let mut found = Vec::new();
    ways(document, "", &mut found);
    let way = rng.choose(&found).unwrap();
    let odd = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1.5),
        json!(1e300),
        json!(400),
        json!(""),
        json!("free"),
        json!("arc"),
        json!("hinge"),
        json!("ball"),
        json!("locked"),
        json!("swing_twist"),
        json!([]),
        json!([0, 0, 0]),
        json!([1, 2, 3]),
        json!({}),
        json!({"shape": "free"}),
        json!({"min_deg": 3, "max_deg": 4}),
    ];
    let other = document.pointer(rng.choose(&found).unwrap()).cloned();
    match rng.below(4) {
        0 => *document.pointer_mut(way).unwrap() = rng.choose(&odd).unwrap().clone(),
        1 => *document.pointer_mut(way).unwrap() = other.unwrap(),
        _ => {
            let Some((above, last)) = way.rsplit_once('/') else { return };
            match document.pointer_mut(above).unwrap() {
                Value::Array(items) => {
                    let i: usize = last.parse().unwrap();
                    if rng.chance(0.5) {
                        items.remove(i);
                    } else {
                        items.insert(i, items[i].clone());
                    }
                }
                Value::Object(fields) => {
                    fields.remove(&last.replace("~1", "/").replace("~0", "~"));
                }
                _ => {}
            }
        }
    }
}

#[test]
fn changed_documents_are_judged_alike_by_schema_and_reader() {
    let validator = validator();
    let originals: Vec<Value> =
        (0..100).map(|seed| serde_json::from_str(&write(&zoo::rig(seed))).unwrap()).collect();
    let (mut good, mut bad, mut beyond) = (0, 0, 0);
    for seed in 0..4000 {
        let mut rng = Rng::stream(7, seed);
        let mut document = rng.choose(&originals).unwrap().clone();
        for _ in 0..=rng.below(2) {
            change(&mut rng, &mut document);
        }
        let text = document.to_string();
        let valid = validator.is_valid(&document);
        match (valid, Rig::read(text.as_bytes())) {
            (true, Ok(_)) => good += 1,
            (false, Err(_)) => bad += 1,
            (false, Ok(_)) => panic!(
                "read, but not valid: {}\n{text}",
                validator.validate(&document).unwrap_err()
            ),
            (true, Err(error)) => {
                beyond += 1;
                // What a schema cannot say.
                let range = ["samples", "rejected", "visits", "interval_deg"];
                let count = range.iter().any(|field| error.path().ends_with(field));
                let expected = match error.kind() {
                    RigErrorKind::Arc { .. }
                    | RigErrorKind::Parent { .. }
                    | RigErrorKind::AlongBone => true,
                    RigErrorKind::Range { .. } => count,
                    _ => false,
                };
                assert!(expected, "valid, but not read: {error}\n{text}");
            }
        }
    }
    println!("{good} good, {bad} bad, {beyond} beyond the schema");
    assert!(good > 400 && bad > 400 && beyond > 5);
}

/// A document with every part that a map can have: the example of the manual.
fn mapped() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rig.md");
    let manual = std::fs::read_to_string(path).unwrap();
    let block = manual.split("```json\n").find(|block| block.contains("\"maps\"")).unwrap();
    serde_json::from_str(block.split("```").next().unwrap()).unwrap()
}

/// What a part may not be is refused by both.
#[test]
fn d10_schema_and_reader_refuse_the_same_parts() {
    let validator = validator();
    let judge = |change: &dyn Fn(&mut Value)| {
        let mut document = mapped();
        change(&mut document["maps"]);
        let read = Rig::read(document.to_string().as_bytes());
        let used = read.and_then(|read| read.rig.network());
        (validator.is_valid(&document), used.is_ok())
    };
    assert_eq!(judge(&|_| {}), (true, true));
    let hinge = json!({"does": "limit", "input": "both", "kind": "hinge", "axis": [0, 0, 1],
        "limit": {"shape": "arc", "min_deg": 0, "max_deg": 9}});
    assert_eq!(judge(&|maps| maps["parts"]["held"] = hinge.clone()), (true, true));
    let remove = |maps: &mut Value, part: &str, fields: &[&str]| {
        let part = maps["parts"][part].as_object_mut().unwrap();
        fields.iter().for_each(|field| assert!(part.remove(*field).is_some()));
    };
    assert_eq!(judge(&|maps| remove(maps, "lifted", &["lower"])), (true, true));
    let wrong: [&dyn Fn(&mut Value); 9] = [
        &|maps| remove(maps, "lifted", &["lower", "upper"]),
        &|maps| remove(maps, "held", &["bone_axis"]),
        &|maps| maps["parts"]["held"]["kind"] = json!("hinge"),
        &|maps| {
            maps["parts"]["held"]["kind"] = json!("hinge");
            maps["parts"]["held"]["axis"] = json!([1, 0, 0]);
        },
        &|maps| maps["parts"]["scapula"]["ellipsoid"]["radii_m"] = json!([0.1, 0, 0.1]),
        &|maps| maps["parts"]["scapula"]["ellipsoid"]["radii_m"] = json!([0.1, 0.2, -0.1]),
        &|maps| maps["parts"]["rhythm"]["outputs"] = json!({}),
        &|maps| maps["parts"]["both"]["of"] = json!([]),
        &|maps| {
            let pair = maps["parts"]["scapula"]["pairs"][0].clone();
            maps["parts"]["scapula"]["pairs"] = json!([pair, pair, pair, pair]);
        },
    ];
    for (i, change) in wrong.into_iter().enumerate() {
        assert_eq!(judge(change), (false, false), "{i}");
    }
}

/// Maps that are changed at random: the schema accepts what can be used, and of what cannot be used only
/// what no schema can say. That is listed here.
#[test]
fn d10_changed_maps_are_judged_alike_by_schema_and_network() {
    let validator = validator();
    let mut originals: Vec<Value> = ["knee", "shoulder"]
        .into_iter()
        .map(|name| serde_json::from_str(&write(&models::find(name).unwrap())).unwrap())
        .collect();
    originals.push(mapped());
    let (mut good, mut bad, mut beyond) = (0, 0, 0);
    for seed in 0..3000 {
        let mut rng = Rng::stream(8, seed);
        let mut document = rng.choose(&originals).unwrap().clone();
        change(&mut rng, &mut document["maps"]);
        let text = document.to_string();
        let valid = validator.is_valid(&document);
        let used = Rig::read(text.as_bytes()).and_then(|read| read.rig.network());
        match (valid, used) {
            (true, Ok(_)) => good += 1,
            (false, Err(_)) => bad += 1,
            (false, Ok(_)) => panic!(
                "usable, but not valid: {}\n{}",
                validator.validate(&document).unwrap_err(),
                document["maps"]
            ),
            (true, Err(error)) => {
                beyond += 1;
                let listed = match error.kind() {
                    // Numbers that have to rise, and a rest between two others.
                    RigErrorKind::Arc { .. } | RigErrorKind::AlongBone => true,
                    RigErrorKind::Range { expected, .. } => expected.contains("rest inside"),
                    // Shapes as a whole.
                    RigErrorKind::Limit(_) => true,
                    RigErrorKind::Map(kind) => match kind {
                        MapErrorKind::Curve(_) | MapErrorKind::Turn(_) | MapErrorKind::Slide(_) => {
                            true
                        }
                        // Names, and what they stand for.
                        MapErrorKind::SameName { .. }
                        | MapErrorKind::UnknownInput { .. }
                        | MapErrorKind::UnknownJoint { .. }
                        | MapErrorKind::WrongKind { .. }
                        | MapErrorKind::Cycle { .. }
                        | MapErrorKind::NotAbove { .. }
                        | MapErrorKind::OtherJoint { .. }
                        | MapErrorKind::TwoDrivers => true,
                        _ => false,
                    },
                    _ => false,
                };
                assert!(listed, "valid, but not usable: {error}\n{}", document["maps"]);
            }
        }
    }
    println!("{good} good, {bad} bad, {beyond} beyond the schema");
    assert!(good > 200 && bad > 200 && beyond > 50, "{good} {bad} {beyond}");
}
