//! From the text of a rig document to a [`Rig`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc as Shared;

use super::couplings;
use super::cursor::{Cursor, Notes};
use super::fields::ObjectKind;
use super::json::{self, Fault, Node, Value, shortened};
use super::maps;
use super::path::Step;
use super::shapes::limit;
use super::{
    End, EndOf, JointKind, LeftOut, Open, ParentFault, Position, Rig, RigError, RigErrorKind,
    RigJoint, RigJoints, RigWarning, RigWarningKind, Soft, Source,
};
use crate::math::{Angle, Rotation};
use crate::skeleton::{EndSite, Joint, JointIndex, Skeleton, SkeletonError};

/// The largest document that is read, in bytes. A rig of the most joints that a skeleton may have,
/// each with a hinge, has about half as many.
pub const MAX_BYTES: usize = 32 << 20;

/// A document as it was read.
#[derive(Clone, Debug)]
pub struct ReadRig {
    /// The rig.
    pub rig: Rig,
    /// What its user should know, in the order of the text.
    pub warnings: Vec<RigWarning>,
}

impl Rig {
    /// Reads a rig document. See `docs/rig.md`.
    ///
    /// Whether limits make sense as geometry (a polygon that crosses itself, say) shows when they are
    /// prepared: [`limit_error`](Self::limit_error) makes an error of this document of that.
    ///
    /// # Errors
    ///
    /// See [`RigErrorKind`].
    pub fn read(bytes: &[u8]) -> Result<ReadRig, RigError> {
        let text = text_of(bytes)?;
        let error = |fault: Fault| {
            RigError::new(fault.kind, fault.path, Some(Position::of(text, fault.at)))
        };
        let root = json::parse(text).map_err(error)?;
        let mut notes = Notes::default();
        let rig = interpret(&root, &mut notes).map_err(error)?;
        let warnings = notes.positioned(text);
        let rig = Self { origin: Some(Shared::from(text)), ..rig };
        Ok(ReadRig { rig, warnings })
    }
}

/// The text without a byte order mark.
pub(crate) fn text_of(bytes: &[u8]) -> Result<&str, RigError> {
    let start = Position { line: 1, column: 1 };
    let whole = |kind| RigError::new(kind, String::new(), Some(start));
    if bytes.len() > MAX_BYTES {
        return Err(whole(RigErrorKind::TooLarge { limit: MAX_BYTES }));
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        let position = Position::of(valid, valid.len());
        RigError::new(RigErrorKind::Encoding, String::new(), Some(position))
    })?;
    // UTF-16 without a mark is valid UTF-8 as far as ASCII goes.
    if text.contains('\0') {
        return Err(whole(RigErrorKind::Encoding));
    }
    if text.trim().is_empty() {
        return Err(whole(RigErrorKind::Empty));
    }
    Ok(text)
}

/// What a tree says.
pub(super) fn interpret(root: &Node<'_>, notes: &mut Notes) -> Result<Rig, Fault> {
    let document = Cursor::root(root);
    document.object()?;
    document.spelling(ObjectKind::Document, notes);
    version(&document.required("condyle")?)?;
    let entries = document.required("joints")?;
    entries.object()?;
    let skeleton = skeleton(&document.required("skeleton")?, &entries, notes)?;
    let joints = joints(&entries, &skeleton, notes)?;
    let maps = document.field("maps").map(|c| maps::read(&c, notes)).transpose()?;
    let couplings = document.field("couplings");
    let couplings =
        couplings.map(|c| couplings::read(&c, &joints, &skeleton, notes)).transpose()?;
    let (maps, couplings) = (maps.unwrap_or_default(), couplings.unwrap_or_default());
    Ok(Rig { skeleton, joints, maps, couplings, origin: None })
}

fn version(cursor: &Cursor<'_>) -> Result<(), Fault> {
    match &cursor.node.value {
        Value::Number(text) if text.parse() == Ok(1.0) => Ok(()),
        Value::Number(text) => {
            let found = shortened(text).into_owned();
            Err(cursor.fault(RigErrorKind::Version { found }))
        }
        _ => Err(cursor.wrong_type("a number")),
    }
}

fn skeleton(
    cursor: &Cursor<'_>,
    entries: &Cursor<'_>,
    notes: &mut Notes,
) -> Result<Skeleton, Fault> {
    cursor.object()?;
    cursor.spelling(ObjectKind::Skeleton, notes);
    let list = cursor.required("joints")?;
    // Where each name stands first, for telling what is wrong with a parent.
    let names = list.items(0, "joints", |joint| {
        let name = joint.required("name")?;
        match name.text()? {
            "" => Err(name.out_of_range("a name", "none")),
            text => Ok(text.to_owned()),
        }
    })?;
    let mut first = HashMap::new();
    for (i, name) in names.iter().enumerate() {
        first.entry(name.as_str()).or_insert(i);
    }
    let entry_names: HashSet<&str> = entries.object()?.iter().map(|f| &*f.key).collect();

    let mut skeleton = Skeleton::new();
    let mut unique = UniqueNames::default();
    // The last joint so far that has a name in the document.
    let mut last: HashMap<&str, JointIndex> = HashMap::new();
    for (i, node) in list.list()?.iter().enumerate() {
        let cursor = list.below(Step::Index(i), node);
        let parent = match cursor.field("parent") {
            Some(field) if field.node.value == Value::Null => None,
            Some(field) => {
                let parent = field.text()?;
                let found = last.get(parent).copied().or_else(|| skeleton.find(parent));
                match found {
                    Some(found) => Some(found),
                    None => {
                        let fault = fault_of_parent(&list, &first, i, parent);
                        let (joint, parent) = (names[i].clone(), parent.to_owned());
                        // A part of a skeleton may be given, below a joint that has an entry.
                        if fault == ParentFault::Unknown && entry_names.contains(&*parent) {
                            notes.add(&field, RigWarningKind::PartOfSkeleton { joint, parent });
                            None
                        } else {
                            let kind = RigErrorKind::Parent { joint, parent, fault };
                            return Err(field.fault(kind));
                        }
                    }
                }
            }
            None => None,
        };
        let joint = skeleton_joint(&cursor, &names[i], &mut unique, notes)?;
        let added = match parent {
            Some(parent) => skeleton.add(parent, joint),
            None => skeleton.add_root(joint),
        };
        let index = added.map_err(|error| match error {
            SkeletonError::TooManyJoints => cursor.fault(RigErrorKind::TooManyJoints),
            // Names are unique and parents are there.
            _ => cursor.out_of_range("finite numbers", "others"),
        })?;
        last.insert(&names[i], index);
    }
    Ok(skeleton)
}

fn skeleton_joint(
    cursor: &Cursor<'_>,
    name: &str,
    unique: &mut UniqueNames,
    notes: &mut Notes,
) -> Result<Joint, Fault> {
    cursor.spelling(ObjectKind::SkeletonJoint, notes);
    let renamed = unique.take(name);
    if renamed != name {
        let kind = RigWarningKind::RenamedJoint { name: name.to_owned(), renamed: renamed.clone() };
        notes.add(&cursor.required("name")?, kind);
    }
    let mut joint = Joint::new(renamed, cursor.required("offset_m")?.point()?);
    if let Some(rest) = cursor.field("rest") {
        joint.rest = rest.rotation(notes)?;
    }
    if let Some(sites) = cursor.field("end_sites_m") {
        joint.end_sites =
            sites.items(0, "points", |site| Ok(EndSite { name: None, offset_m: site.point()? }))?;
    }
    Ok(joint)
}

/// What is wrong with a parent that does not stand before joint `i`.
fn fault_of_parent(
    list: &Cursor<'_>,
    first: &HashMap<&str, usize>,
    i: usize,
    parent: &str,
) -> ParentFault {
    let Ok(joints) = list.list() else { return ParentFault::Unknown };
    let Some(&start) = first.get(parent) else { return ParentFault::Unknown };
    let mut j = start;
    for _ in 0..joints.len() {
        if j == i {
            return ParentFault::Cycle;
        }
        let above = joints[j].get("parent").and_then(Node::as_str);
        match above.and_then(|name| first.get(name)) {
            Some(&above) => j = above,
            None => break,
        }
    }
    ParentFault::Later
}

/// Hands out names, numbering those that were used before: `Hand`, `Hand#2`.
#[derive(Debug, Default)]
struct UniqueNames {
    used: HashSet<String>,
    next: HashMap<String, u32>,
}

impl UniqueNames {
    fn take(&mut self, name: &str) -> String {
        let mut unique = name.to_owned();
        if self.used.contains(&unique) {
            // Counting on from the last number keeps many equal names from taking quadratic time.
            let n = self.next.entry(name.to_owned()).or_insert(2);
            while self.used.contains(&unique) {
                unique = format!("{name}#{n}");
                *n += 1;
            }
        }
        self.used.insert(unique.clone());
        unique
    }
}

fn joints(
    entries: &Cursor<'_>,
    skeleton: &Skeleton,
    notes: &mut Notes,
) -> Result<RigJoints, Fault> {
    let mut joints = RigJoints::new();
    for field in entries.object()? {
        let entry = entries.below(Step::Key(field.key.clone()), &field.node);
        if skeleton.find(&field.key).is_none() {
            notes.add(&entry, RigWarningKind::UnknownJoint { name: field.key.to_string() });
        }
        joints.insert(&*field.key, joint(&entry, notes)?);
    }
    Ok(joints)
}

/// What an entry says about a joint.
pub(super) fn joint(entry: &Cursor<'_>, notes: &mut Notes) -> Result<RigJoint, Fault> {
    let kind = entry.required("kind")?.word("kind of joint", &JointKind::NAMES)?;
    let kind = JointKind::ALL.into_iter().find(|k| k.as_str() == kind).unwrap_or_default();
    entry.spelling(ObjectKind::Entry, notes);
    let not_negative = |cursor: Cursor<'_>| -> Result<Angle, Fault> {
        let degrees = cursor.number_within(0.0, f64::MAX, "an angle, not negative")?;
        Ok(Angle::from_degrees(degrees))
    };
    // What is allowed beside a limit; no two rotations are farther apart.
    let up_to_half_a_turn = |cursor: Cursor<'_>| -> Result<Angle, Fault> {
        let degrees = cursor.number_within(0.0, 180.0, "an angle from 0 to 180 degrees")?;
        Ok(Angle::from_degrees(degrees))
    };
    let field = |key| entry.field(key);
    Ok(RigJoint {
        kind,
        center: match field("center") {
            Some(center) => center.rotation(notes)?,
            None => Rotation::IDENTITY,
        },
        limit: limit(entry, kind, notes)?,
        soft: field("soft").map(|c| soft(&c, notes)).transpose()?,
        confidence: field("confidence")
            .map(|c| c.number_within(0.0, 1.0, "a number from 0 to 1"))
            .transpose()?,
        why: field("why").map(|c| c.text().map(str::to_owned)).transpose()?,
        notes: match field("notes") {
            Some(list) => list.items(0, "texts", |note| note.text().map(str::to_owned))?,
            None => Vec::new(),
        },
        rest_inside: field("rest_inside").map(|c| c.truth()).transpose()?,
        rest_excess: field("rest_excess_deg").map(not_negative).transpose()?,
        start: field("start").map(|c| c.rotation(notes)).transpose()?,
        samples: field("samples").map(|c| c.count()).transpose()?,
        rejected: field("rejected").map(|c| c.count()).transpose()?,
        left_out: match field("left_out") {
            Some(list) => left_out(&list, notes)?,
            None => Vec::new(),
        },
        noise: field("noise_deg").map(up_to_half_a_turn).transpose()?,
        tolerance: field("tolerance_deg").map(up_to_half_a_turn).transpose()?,
        ends: match field("ends") {
            Some(list) => list.items(0, "ends of the limit", |c| end(c, notes))?,
            None => Vec::new(),
        },
        source: field("source")
            .map(|c| c.word("source of a joint", &Source::NAMES))
            .transpose()?
            .and_then(|word| Source::ALL.into_iter().find(|s| s.as_str() == word)),
        estimate_hash: field("estimate_hash").map(|c| c.content_hash()).transpose()?,
    })
}

fn left_out(list: &Cursor<'_>, notes: &mut Notes) -> Result<Vec<LeftOut>, Fault> {
    let one = |item: &Cursor<'_>| {
        item.object()?;
        item.spelling(ObjectKind::LeftOut, notes);
        let frame = |frame: &Cursor<'_>| {
            let found = frame.count()?;
            u32::try_from(found).map_err(|_| frame.out_of_range("a frame", &found.to_string()))
        };
        Ok(LeftOut {
            take: item.required("take")?.content_hash()?,
            frames: item.required("frames")?.items(0, "frames", frame)?,
        })
    };
    // Rotations, as they were written before takes were named: these would excuse equal poses everywhere.
    if list.list()?.first().is_some_and(|item| matches!(item.value, Value::Array(_))) {
        list.items(0, "rotations", |q| q.rotation(notes))?;
        notes.add(list, RigWarningKind::LeftOutRotations);
        return Ok(Vec::new());
    }
    list.items(0, "takes", one)
}

fn soft(cursor: &Cursor<'_>, notes: &mut Notes) -> Result<Soft, Fault> {
    cursor.object()?;
    cursor.spelling(ObjectKind::Soft, notes);
    let not_negative = |field: &'static str| {
        cursor.required(field)?.number_within(0.0, f64::MAX, "a number, not negative")
    };
    Ok(Soft {
        onset: Angle::from_degrees(not_negative("onset_deg")?),
        stiffness: not_negative("stiffness")?,
    })
}

fn end(cursor: &Cursor<'_>, notes: &mut Notes) -> Result<End, Fault> {
    cursor.object()?;
    cursor.spelling(ObjectKind::End, notes);
    let of = cursor.required("of")?;
    let word = of.word("end of a limit", &EndOf::NAMES)?;
    let of = EndOf::ALL.into_iter().find(|of| of.as_str() == word).unwrap_or(EndOf::Max);
    let interval = |list: Cursor<'_>| {
        let [low, high] = list.numbers("2 numbers")?;
        if low > high {
            let found = format!("{low} before {high}");
            return Err(list.out_of_range("two angles, the lower one first", &found));
        }
        Ok([low, high].map(Angle::from_degrees))
    };
    let open = |of: Cursor<'_>| {
        let word = of.word("reason", &Open::NAMES)?;
        Ok(Open::ALL.into_iter().find(|of| of.as_str() == word).unwrap_or(Open::FewExcursions))
    };
    let reached = |of: Cursor<'_>| Ok::<_, Fault>(Angle::from_degrees(of.number()?));
    Ok(End {
        of,
        at: Angle::from_degrees(cursor.required("at_deg")?.number()?),
        reached: cursor.field("reached_deg").map(reached).transpose()?,
        visits: cursor.required("visits")?.count()?,
        interval: cursor.field("interval_deg").map(interval).transpose()?,
        open: cursor.field("open").map(open).transpose()?,
    })
}
