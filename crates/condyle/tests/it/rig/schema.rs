//! `docs/rig.schema.json` and the reader agree.

use std::path::Path;

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
