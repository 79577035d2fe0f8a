//! From a [`Rig`] to the text of a rig document.

use std::borrow::Cow;

use glam::{DVec2, DVec3};

use super::couplings;
use super::cursor::{Cursor, Notes};
use super::fields::ObjectKind;
use super::json::{self, Fault, Field, MAX_DEPTH, Node, Value};
use super::maps;
use super::merge::{Trust, merge};
use super::path::{Step, Steps};
use super::read::{MAX_BYTES, interpret};
use super::{End, JointKind, LeftOut, Rig, RigError, RigErrorKind, RigJoint, is_identity, is_unit};
use crate::hash::{self, ContentHash};
use crate::limits::{Limit, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit, TwistOffset};
use crate::math::{Angle, Arc, Rotation, unit};
use crate::skeleton::Skeleton;

impl Rig {
    /// The text of the rig document, with a line break at the end.
    ///
    /// What was read and not changed keeps its numbers, its place and the unknown fields around it
    /// (see the [module](super)). What a document has no field for is not written: names of end sites,
    /// and what a motion file declares about a joint.
    ///
    /// # Errors
    ///
    /// If the rig holds what a document cannot: a limit that does not fit its joint's kind, a number
    /// that is not finite or out of range, an empty arc, a shape that is a function. The error's path
    /// names the joint. And if the document would be larger than what is read.
    pub fn write(&self) -> Result<Vec<u8>, RigError> {
        let error = |fault: Fault| RigError::new(fault.kind, fault.path, None);
        let fresh = canonical(self).map_err(error)?;
        let text = self.origin.as_deref().and_then(|text| merged(text, &fresh));
        let text = text.unwrap_or_else(|| json::print(&fresh));
        is_readable(&text).map_err(|kind| RigError::new(kind, String::new(), None))?;
        Ok(text.into_bytes())
    }
}

/// That a document is within the bounds of reading.
fn is_readable(text: &str) -> Result<(), RigErrorKind> {
    let too_large = |found, limit, of| RigErrorKind::TooLargeToWrite { found, limit, of };
    if text.len() > MAX_BYTES {
        return Err(too_large(text.len(), MAX_BYTES, "bytes"));
    }
    // A value takes two bytes, with what is between it and the next, but the last one.
    if text.len() > 2 * json::MAX_VALUES {
        let values = json::values(text);
        if values > json::MAX_VALUES {
            return Err(too_large(values, json::MAX_VALUES, "values"));
        }
    }
    Ok(())
}

/// The document `text` changed to say what `fresh` says; `None` if it is not a rig document.
fn merged(text: &str, fresh: &Node<'_>) -> Option<String> {
    let origin = json::parse(text).ok()?;
    let base = meaning(&origin)?;
    if base == *fresh {
        return Some(json::print(&origin));
    }
    let whole = Some(ObjectKind::Document);
    let kept = merge(&base, &origin, fresh, whole, Trust::Origin);
    let printed = json::print(&kept);
    // What the rest of a document means can depend on what was changed: a second joint of some name
    // is the first once that is gone.
    let same = json::parse(&printed).ok().and_then(|tree| meaning(&tree)).as_ref() == Some(fresh);
    Some(if same {
        printed
    } else {
        json::print(&merge(&base, &origin, fresh, whole, Trust::Numbers))
    })
}

/// What we would write for a document.
fn meaning(tree: &Node<'_>) -> Option<Node<'static>> {
    canonical(&interpret(tree, &mut Notes::default()).ok()?).ok()
}

/// The one tree that says this.
///
/// It is read once, so that what cannot be read is not written; and written again, since some angles
/// in radians have no equal in degrees.
fn canonical(rig: &Rig) -> Result<Node<'static>, Fault> {
    tree(&interpret(&tree(rig)?, &mut Notes::default())?)
}

fn tree(rig: &Rig) -> Result<Node<'static>, Fault> {
    let entries = rig.joints.iter().map(|(name, entry)| {
        let node = joint(entry).map_err(|fault| {
            let way = [Step::Key("joints".into()), Step::Key(name.into())];
            within(fault, &Steps(&way).to_string())
        })?;
        Ok(Field::new(name.to_owned(), node))
    });
    let mut fields = vec![
        Field::new("condyle", number(1.0)),
        Field::new("skeleton", skeleton_tree(&rig.skeleton)),
        Field::new("joints", Node::object(entries.collect::<Result<_, Fault>>()?)),
    ];
    fields.extend(maps::tree(&rig.maps)?.map(|maps| Field::new("maps", maps)));
    let couplings = couplings::tree(&rig.couplings);
    fields.extend(couplings.map(|couplings| Field::new("couplings", couplings)));
    Ok(Node::object(fields))
}

pub(super) fn within(fault: Fault, part: &str) -> Fault {
    let dot = if fault.path.is_empty() { "" } else { "." };
    Fault { path: format!("{part}{dot}{}", fault.path), ..fault }
}

/// As short as possible so that it reads back with the same bits. What is not finite becomes text
/// that does not read back as a number.
pub(super) fn number(x: f64) -> Node<'static> {
    Value::Number(Cow::Owned(number_text(x))).into()
}

fn number_text(x: f64) -> String {
    // No −0: other programs write 0 for it, and nothing should have changed then.
    let x = x + 0.0;
    if x == 0.0 || (1e-5..1e16).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

fn count(count: u64) -> Node<'static> {
    Value::Number(Cow::Owned(count.to_string())).into()
}

pub(super) fn numbers(values: &[f64]) -> Node<'static> {
    Node::array(values.iter().map(|x| number(*x)))
}

pub(super) fn point(v: DVec3) -> Node<'static> {
    numbers(&v.to_array())
}

pub(super) fn direction(v: DVec3) -> Node<'static> {
    // Zero has no direction: reading it back says so.
    point(if is_unit(v.length_squared()) { v } else { unit(v).unwrap_or(DVec3::ZERO) })
}

pub(super) fn rotation(r: Rotation) -> Node<'static> {
    numbers(&r.to_wxyz())
}

/// In degrees: the shortest text that reads back as these radians. Not all radians have one, since
/// degrees are sparser in places; those get the nearest degrees.
pub(super) fn degrees(angle: Angle) -> f64 {
    let degrees = angle.degrees();
    if !degrees.is_finite() {
        return degrees;
    }
    let same = |d: f64| Angle::from_degrees(d).radians().to_bits() == angle.radians().to_bits();
    // Seventeen digits tell any two doubles apart.
    for digits in 0..17 {
        if let Ok(rounded) = format!("{degrees:.digits$e}").parse()
            && same(rounded)
        {
            return rounded;
        }
    }
    [degrees.next_up(), degrees.next_down()].into_iter().find(|d| same(*d)).unwrap_or(degrees)
}

fn arc_fields(arc: Arc) -> [Field<'static>; 2] {
    let (mut min, mut max) = (degrees(arc.min()), degrees(arc.max()));
    if min > max {
        // By rounding, unless it is empty.
        (min, max) = (arc.min().degrees(), arc.max().degrees());
    }
    [Field::new("min_deg", number(min)), Field::new("max_deg", number(max))]
}

fn arc(arc: Arc) -> Node<'static> {
    Node::object(arc_fields(arc).into())
}

/// An object with a shape and what follows.
pub(super) fn shape(
    name: &'static str,
    fields: impl IntoIterator<Item = Field<'static>>,
) -> Node<'static> {
    let first = Field::new("shape", Node::string(name));
    Node::object(std::iter::once(first).chain(fields).collect())
}

pub(super) fn skeleton_tree(skeleton: &Skeleton) -> Node<'static> {
    let joints = skeleton.indices().map(|j| {
        let joint = &skeleton[j];
        let mut fields = vec![Field::new("name", Node::string(joint.name.clone()))];
        if let Some(parent) = skeleton.parent(j) {
            fields.push(Field::new("parent", Node::string(skeleton[parent].name.clone())));
        }
        fields.push(Field::new("offset_m", point(joint.offset_m)));
        fields.push(Field::new("rest", rotation(joint.rest)));
        if !joint.end_sites.is_empty() {
            let sites = joint.end_sites.iter().map(|site| point(site.offset_m));
            fields.push(Field::new("end_sites_m", Node::array(sites)));
        }
        Node::object(fields)
    });
    Node::object(vec![Field::new("joints", Node::array(joints))])
}

/// The axes of a limit.
fn axes(limit: &Limit) -> Vec<(&'static str, Node<'static>)> {
    match limit {
        Limit::Hinge { axis, .. } => vec![("axis", direction(*axis))],
        Limit::Universal { axes, .. } => {
            vec![("axes", Node::array(axes.iter().map(|axis| direction(*axis))))]
        }
        Limit::SwingTwist(SwingTwistLimit { axes, .. }) => {
            vec![("bone_axis", point(axes.bone())), ("x_axis", point(axes.x()))]
        }
        Limit::Free | Limit::Locked | Limit::EulerBox(_) => Vec::new(),
    }
}

/// A limit that is no joint's, with the kind that it is of.
pub(super) fn limit_fields(center: Rotation, of: &Limit) -> Result<Vec<Field<'static>>, Fault> {
    let kind = match of {
        Limit::Free => JointKind::Ball,
        Limit::Locked => JointKind::Fixed,
        Limit::Hinge { .. } => JointKind::Hinge,
        Limit::Universal { .. } => JointKind::Universal,
        Limit::EulerBox(_) | Limit::SwingTwist(_) => JointKind::Ball,
    };
    let mut fields = vec![Field::new("kind", Node::string(kind.as_str()))];
    if !is_identity(center) {
        fields.push(Field::new("center", rotation(center)));
    }
    fields.extend(axes(of).into_iter().map(|(key, node)| Field::new(key, node)));
    let limit = limit(kind, of).map_err(|fault| within(fault, "limit"))?;
    fields.extend(limit.map(|limit| Field::new("limit", limit)));
    Ok(fields)
}

fn joint(joint: &RigJoint) -> Result<Node<'static>, Fault> {
    let mut fields = vec![Field::new("kind", Node::string(joint.kind.as_str()))];
    let mut add = |key: &'static str, node: Option<Node<'static>>| {
        fields.extend(node.map(|node| Field::new(key, node)));
    };
    let angle = |angle: Angle| number(degrees(angle));
    add("confidence", joint.confidence.map(number));
    add("why", joint.why.clone().map(Node::string));
    add("center", (!is_identity(joint.center)).then(|| rotation(joint.center)));
    axes(&joint.limit).into_iter().for_each(|(key, node)| add(key, Some(node)));
    add("limit", limit(joint.kind, &joint.limit).map_err(|fault| within(fault, "limit"))?);
    add(
        "soft",
        joint.soft.map(|soft| {
            Node::object(vec![
                Field::new("onset_deg", angle(soft.onset)),
                Field::new("stiffness", number(soft.stiffness)),
            ])
        }),
    );
    add("rest_inside", joint.rest_inside.map(|inside| Value::Bool(inside).into()));
    add("rest_excess_deg", joint.rest_excess.map(angle));
    add("start", joint.start.map(rotation));
    add("samples", joint.samples.map(count));
    add("rejected", joint.rejected.map(count));
    if !joint.left_out.is_empty() {
        add("left_out", Some(Node::array(joint.left_out.iter().map(left_out))));
    }
    add("noise_deg", joint.noise.map(angle));
    add("tolerance_deg", joint.tolerance.map(angle));
    if !joint.ends.is_empty() {
        add("ends", Some(Node::array(joint.ends.iter().map(end))));
    }
    add("source", joint.source.map(|source| Node::string(source.as_str())));
    add("estimate_hash", joint.estimate_hash.map(|hash| Node::string(hash.to_string())));
    if !joint.notes.is_empty() {
        add("notes", Some(Node::array(joint.notes.iter().cloned().map(Node::string))));
    }
    Ok(Node::object(fields))
}

impl RigJoint {
    /// The entry by what a document says of it, without unknown fields, [`soft`](Self::soft), which an
    /// estimate does not make, [`samples`](Self::samples), since frames that come again change nothing
    /// else, [`source`](Self::source) and [`estimate_hash`](Self::estimate_hash). `None` if a document
    /// cannot hold it.
    #[must_use]
    pub fn content_hash(&self) -> Option<ContentHash> {
        let bare =
            Self { soft: None, samples: None, source: None, estimate_hash: None, ..self.clone() };
        let written = joint(&bare).ok()?;
        // As it is when it was read: some angles in radians have no equal in degrees.
        let again = super::read::joint(&Cursor::root(&written), &mut Notes::default()).ok()?;
        let mut bytes = Vec::new();
        add_content(&joint(&again).ok()?, &mut bytes);
        Some(ContentHash::new(hash::of_bytes(&bytes)))
    }
}

/// What a tree says, so that different trees have different bytes; not how it is laid out.
fn add_content(node: &Node<'_>, bytes: &mut Vec<u8>) {
    let mut text = |mark: u8, text: &str| {
        bytes.push(mark);
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    };
    match &node.value {
        Value::Null => text(b'0', ""),
        Value::Bool(truth) => text(b'b', if *truth { "1" } else { "0" }),
        Value::Number(number) => text(b'n', number),
        Value::String(string) => text(b's', string),
        Value::Array(items) => {
            text(b'[', "");
            items.iter().for_each(|item| add_content(item, bytes));
            bytes.push(b']');
        }
        Value::Object(fields) => {
            text(b'{', "");
            for field in fields {
                bytes.push(b':');
                bytes.extend((field.key.len() as u64).to_le_bytes());
                bytes.extend(field.key.as_bytes());
                add_content(&field.node, bytes);
            }
            bytes.push(b'}');
        }
    }
}

fn left_out(of: &LeftOut) -> Node<'static> {
    let frames = of.frames.iter().map(|frame| count(u64::from(*frame)));
    Node::object(vec![
        Field::new("take", Node::string(of.take.to_string())),
        Field::new("frames", Node::array(frames)),
    ])
}

fn end(end: &End) -> Node<'static> {
    let mut fields = vec![
        Field::new("of", Node::string(end.of.as_str())),
        Field::new("at_deg", number(degrees(end.at))),
    ];
    fields.extend(end.reached.map(|x| Field::new("reached_deg", number(degrees(x)))));
    fields.push(Field::new("visits", count(end.visits)));
    let interval = end.interval.map(|ends| {
        let [low, high] = ends.map(degrees);
        // Rounding may swap what is the same but for the last digit.
        numbers(&if low > high { ends.map(Angle::degrees) } else { [low, high] })
    });
    fields.extend(interval.map(|interval| Field::new("interval_deg", interval)));
    fields.extend(end.open.map(|open| Field::new("open", Node::string(open.as_str()))));
    Node::object(fields)
}

fn limit(kind: JointKind, limit: &Limit) -> Result<Option<Node<'static>>, Fault> {
    Ok(Some(match limit {
        // A free joint has no limit; elsewhere it is worth saying.
        Limit::Free if kind == JointKind::Free => return Ok(None),
        Limit::Free => shape("free", []),
        Limit::Locked => shape("locked", []),
        Limit::Hinge { arc, .. } => shape("arc", arc_fields(*arc)),
        Limit::Universal { arcs, .. } => {
            shape("arcs", [Field::new("arcs", Node::array(arcs.map(arc)))])
        }
        Limit::EulerBox(euler) => shape(
            "euler_box",
            [
                Field::new("order", Node::string(euler.order.as_str())),
                Field::new("arcs", Node::array(euler.arcs.map(arc))),
            ],
        ),
        Limit::SwingTwist(limit) => {
            // The document, its joints, the joint and the limit are around it.
            let swing = swing(&limit.swing, 5).map_err(|fault| within(fault, "swing"))?;
            let parts = [Field::new("swing", swing), Field::new("twist", twist(&limit.twist))];
            shape("swing_twist", parts)
        }
    }))
}

/// `depth`: that of the object to be made, the document's being 1.
fn swing(limit: &SwingLimit, depth: usize) -> Result<Node<'static>, Fault> {
    let fault = |kind| Err(Fault { kind, at: 0, path: String::new() });
    // The lists in the shapes without parts are three deep at most.
    if depth + 3 > MAX_DEPTH {
        return fault(RigErrorKind::TooDeep { limit: MAX_DEPTH });
    }
    let parts = |limits: &[SwingLimit]| -> Result<Field<'static>, Fault> {
        let parts = limits.iter().enumerate().map(|(i, part)| {
            swing(part, depth + 2).map_err(|fault| within(fault, &format!("of[{i}]")))
        });
        Ok(Field::new("of", Value::Array(parts.collect::<Result<_, _>>()?).into()))
    };
    let part = |limit: &SwingLimit| -> Result<Field<'static>, Fault> {
        let part = swing(limit, depth + 1).map_err(|fault| within(fault, "of"))?;
        Ok(Field::new("of", part))
    };
    let directions = |list: &[DVec3]| Node::array(list.iter().map(|d| direction(*d)));
    Ok(match limit {
        SwingLimit::Free => shape("free", []),
        SwingLimit::Ellipse { rx, ry } => shape(
            "ellipse",
            [
                Field::new("rx_deg", number(degrees(*rx))),
                Field::new("ry_deg", number(degrees(*ry))),
            ],
        ),
        // No polygon leaves all directions, and a document has one at least.
        SwingLimit::Polygons(polygons) if polygons.is_empty() => shape("free", []),
        SwingLimit::Polygons(polygons) => {
            let polygons = Node::array(polygons.iter().map(|polygon| directions(polygon)));
            shape("polygon", [Field::new("polygons", polygons)])
        }
        SwingLimit::PlanarCone(points) => {
            let point = |p: &DVec2| numbers(&p.to_array());
            shape("cone_planar", [Field::new("points", Node::array(points.iter().map(point)))])
        }
        SwingLimit::ReachCone { boundary, rest } => shape(
            "reach_cone",
            [
                Field::new("boundary", directions(boundary)),
                Field::new("rest_dir", direction(*rest)),
            ],
        ),
        SwingLimit::Box { alpha, beta } => {
            shape("box", [Field::new("alpha", arc(*alpha)), Field::new("beta", arc(*beta))])
        }
        SwingLimit::All(limits) => shape("all", [parts(limits)?]),
        SwingLimit::Any(limits) => shape("any", [parts(limits)?]),
        SwingLimit::Not(limit) => shape("not", [part(limit)?]),
        SwingLimit::Grown { of, by } => {
            shape("grown", [part(of)?, Field::new("by_deg", number(degrees(*by)))])
        }
        SwingLimit::Custom(_) => return fault(RigErrorKind::Custom),
    })
}

fn twist(limit: &TwistLimit) -> Node<'static> {
    let at = |direction_of: DVec3, fields: Vec<Field<'static>>| {
        let dir = Field::new("dir", direction(direction_of));
        Node::object(std::iter::once(dir).chain(fields).collect())
    };
    let (name, mut fields) = match &limit.bounds {
        TwistBounds::Free => ("free", Vec::new()),
        TwistBounds::Arc(arc) => ("arc", arc_fields(*arc).into()),
        TwistBounds::BySwing(list) => {
            let list = list.iter().map(|t| at(t.direction, arc_fields(t.arc).into()));
            ("by_swing", vec![Field::new("at", Node::array(list))])
        }
    };
    let offset = match &limit.offset {
        TwistOffset::None => None,
        TwistOffset::From(from) => Some(shape("from", [Field::new("dir", direction(*from))])),
        TwistOffset::BySwing(list) => {
            let list =
                list.iter().map(|(d, a)| at(*d, vec![Field::new("deg", number(degrees(*a)))]));
            Some(shape("by_swing", [Field::new("at", Node::array(list))]))
        }
    };
    fields.extend(offset.map(|offset| Field::new("offset", offset)));
    shape(name, fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_to_be_read_is_not_written() {
        let with_notes = |bytes: usize| {
            let joint = RigJoint { notes: vec!["n".repeat(bytes)], ..RigJoint::default() };
            Rig::new(Skeleton::new(), [("a", joint)].into_iter().collect()).write()
        };
        let beside = with_notes(1000).unwrap().len() - 1000;
        let most = with_notes(MAX_BYTES - beside).unwrap();
        assert_eq!(most.len(), MAX_BYTES);
        assert!(Rig::read(&most).is_ok());
        let error = with_notes(MAX_BYTES - beside + 1).unwrap_err();
        let kind =
            RigErrorKind::TooLargeToWrite { found: MAX_BYTES + 1, limit: MAX_BYTES, of: "bytes" };
        assert_eq!(*error.kind(), kind);
        assert!(error.to_string().contains("--corners"), "{error}");
        // Many values in few bytes.
        let text = format!("[{}0]", "0,".repeat(json::MAX_VALUES - 2));
        assert_eq!(is_readable(&text), Ok(()));
        let error = is_readable(&format!("[0,{}", &text[1..])).unwrap_err();
        assert!(error.to_string().starts_with("the rig would have 4194305 values"), "{error}");
    }

    #[test]
    fn prop_degrees_read_back_as_the_radians_they_came_from() {
        // Written degrees keep their digits.
        for tenths in -3600_i32..3600 {
            let d = f64::from(tenths) / 10.0;
            assert_eq!(degrees(Angle::from_degrees(d)).to_bits(), d.to_bits(), "{d}");
        }
        // Any radians come back within an ulp, and are then the same for ever.
        let mut exact = 0;
        for i in 0..10_000 {
            // Spread evenly, and without a pattern in the last digits: multiples of the golden ratio.
            let r = (f64::from(i) * 0.618_033_988_749_894_9).fract() * 8.0 - 4.0;
            let back = Angle::from_degrees(degrees(Angle::from_radians(r))).radians();
            assert!((back - r).abs() <= (r.next_up() - r).abs().max((r - r.next_down()).abs()));
            let again = Angle::from_degrees(degrees(Angle::from_radians(back))).radians();
            assert_eq!(back.to_bits(), again.to_bits());
            exact += u32::from(back.to_bits() == r.to_bits());
        }
        println!("{exact} of 10000 exact");
        assert!(exact > 5000, "{exact}");
    }

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (1.0, "1"),
            (-0.0, "0"),
            (0.28, "0.28"),
            (1e-7, "1e-7"),
            (1e300, "1e300"),
            (123456.5, "123456.5"),
        ] {
            assert_eq!(number_text(x), text);
        }
    }
}
