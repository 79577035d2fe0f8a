//! One document changed to say what another says, with as much of the first kept as possible.

use std::collections::HashMap;

use super::fields::ObjectKind;
use super::json::{Field, Node, Value};

/// How much of the document that was read can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// All that has not changed its meaning.
    Origin,
    /// Numbers, and fields that we do not know. Nothing whose meaning depends on other parts.
    Numbers,
}

/// Fields of an object that mean something together only: if one is written anew, so is the other.
const TOGETHER: [[&str; 2]; 2] = [["min_deg", "max_deg"], ["bone_axis", "x_axis"]];

/// `origin` changed to say what `fresh` says. `base` is what we would have written for `origin`, so
/// that the difference between `base` and `fresh` is what has changed since.
///
/// `kind`: what these are, or what their items are; `None` if no objects that we know.
///
/// The depth of the trees bounds that of the recursion.
pub(super) fn merge<'a>(
    base: &Node<'a>,
    origin: &Node<'a>,
    fresh: &Node<'a>,
    kind: Option<ObjectKind>,
    trust: Trust,
) -> Node<'a> {
    if base == fresh && (trust == Trust::Origin || is_numbers(origin)) {
        return origin.clone();
    }
    match (&base.value, &origin.value, &fresh.value) {
        (Value::Object(of_base), Value::Object(of_origin), Value::Object(of_fresh)) => {
            let holds = |key: &str| kind.and_then(|kind| kind.holds(fresh, key));
            // Those that either of the two shapes has.
            let known = |key: &str| {
                kind.is_some_and(|kind| {
                    kind.names_in(origin).chain(kind.names_in(fresh)).any(|name| name == key)
                })
            };
            Node::object(merge_fields(of_base, of_origin, of_fresh, &holds, &known, trust))
        }
        (Value::Array(base), Value::Array(origin), Value::Array(fresh)) => {
            Node::array(merge_items(base, origin, fresh, kind, trust))
        }
        _ => fresh.clone(),
    }
}

/// Whether this is a number or lists of numbers.
fn is_numbers(node: &Node<'_>) -> bool {
    match &node.value {
        Value::Number(_) => true,
        Value::Array(items) => items.iter().all(is_numbers),
        _ => false,
    }
}

fn by_key<'t, 'a>(fields: &'t [Field<'a>]) -> HashMap<&'t str, &'t Node<'a>> {
    fields.iter().map(|f| (&*f.key, &f.node)).collect()
}

fn merge_fields<'a>(
    base_fields: &[Field<'a>],
    origin: &[Field<'a>],
    fresh: &[Field<'a>],
    holds: &dyn Fn(&str) -> Option<ObjectKind>,
    known: &dyn Fn(&str) -> bool,
    trust: Trust,
) -> Vec<Field<'a>> {
    let (base, new, old) = (by_key(base_fields), by_key(fresh), by_key(origin));
    let same = |key: &str| base.contains_key(key) && base.get(key) == new.get(key);
    let together = |key: &str| TOGETHER.iter().find(|t| t.contains(&key));
    let unchanged = |key: &str| match together(key) {
        Some(keys) => keys.iter().all(|k| same(k)),
        None => same(key),
    };
    // The document says it in its own way, such as `locked` for a hinge's arc of zero width. Now that
    // something is different, all of it is said in ours.
    let text = |fields: &HashMap<&str, &Node<'a>>, key| {
        fields.get(key).and_then(|n| n.as_str().map(str::to_owned))
    };
    let respelt = base.contains_key("shape") && text(&base, "shape") != text(&old, "shape");

    let mut kept = Vec::with_capacity(origin.len());
    for field in origin {
        let key = &*field.key;
        let node = match (base.get(key), new.get(key)) {
            (Some(was), Some(now)) if unchanged(key) || together(key).is_none() => {
                let text = field.node.as_str().is_some() && was.as_str() != field.node.as_str();
                if text { (*now).clone() } else { merge(was, &field.node, now, holds(key), trust) }
            }
            (_, Some(now)) => (*now).clone(),
            // It no longer applies.
            (Some(_), None) => continue,
            (None, None) if trust == Trust::Numbers && known(key) => continue,
            (None, None) => field.node.clone(),
        };
        kept.push(Field::new(field.key.clone(), node));
    }
    // What the document leaves out because it means the same without stays out.
    let left_out = |f: &&Field<'a>| !respelt && trust == Trust::Origin && unchanged(&f.key);
    let missing = fresh.iter().filter(|f| !old.contains_key(&*f.key)).filter(|f| !left_out(f));
    let missing: Vec<_> = missing.cloned().collect();

    // A document in our order stays in it.
    let ours = origin.iter().filter(|f| base.contains_key(&*f.key)).map(|f| &f.key);
    let theirs = base_fields.iter().filter(|f| old.contains_key(&*f.key)).map(|f| &f.key);
    if ours.eq(theirs) {
        ordered(kept, missing, fresh)
    } else {
        kept.extend(missing);
        kept
    }
}

/// The fields in the order of `fresh`; those that it does not have stay behind the one that they
/// were behind.
fn ordered<'a>(
    kept: Vec<Field<'a>>,
    missing: Vec<Field<'a>>,
    fresh: &[Field<'a>],
) -> Vec<Field<'a>> {
    let places: HashMap<&str, usize> =
        fresh.iter().enumerate().map(|(i, f)| (&*f.key, i + 1)).collect();
    let mut last = 0;
    let mut placed = Vec::with_capacity(kept.len() + missing.len());
    for field in kept {
        last = places.get(&*field.key).copied().unwrap_or(last);
        placed.push((last, field));
    }
    for field in missing {
        placed.push((places.get(&*field.key).copied().unwrap_or(last), field));
    }
    // Stable, so that what is behind something stays behind it.
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, field)| field).collect()
}

fn merge_items<'a>(
    base: &[Node<'a>],
    origin: &[Node<'a>],
    fresh: &[Node<'a>],
    kind: Option<ObjectKind>,
    trust: Trust,
) -> Vec<Node<'a>> {
    fn name<'n>(node: &'n Node<'_>) -> Option<&'n str> {
        node.get("name")?.as_str()
    }
    let same_length = base.len() == origin.len() && base.len() == fresh.len();
    let same_names = same_length && base.iter().zip(fresh).all(|(b, f)| name(b) == name(f));
    // The numbers of a vector belong together.
    if same_names && !fresh.iter().all(|f| matches!(f.value, Value::Number(_))) {
        let items = base.iter().zip(origin).zip(fresh);
        return items.map(|((b, o), f)| merge(b, o, f, kind, trust)).collect();
    }
    // Joints are found by their names.
    let mut places = HashMap::new();
    for (b, o) in base.iter().zip(origin) {
        if let Some(name) = name(b) {
            places.insert(name, (b, o));
        }
    }
    let item = |f: &Node<'a>| match name(f).and_then(|name| places.get(name)) {
        Some((b, o)) if base.len() == origin.len() => merge(b, o, f, kind, trust),
        _ => f.clone(),
    };
    fresh.iter().map(item).collect()
}
