//! Published ranges of joints: the entries of a rig with what they are taken from.

use glam::DVec3;

use super::cursor::{Cursor, Notes};
use super::json::{self, Fault};
use super::read::joint;
use super::{End, Position, RigError, RigJoint};
use crate::limits::{Limit, LimitError, Mirror};
use crate::math::Rotation;

/// A joint with a limit from published ranges. See `docs/presets.md`.
#[derive(Clone, Debug)]
pub struct Preset {
    /// What it is found by: `hip`.
    pub name: &'static str,
    /// What it is, in words.
    pub title: String,
    /// Which side of the body it is for.
    pub side: Side,
    /// Along the bone that moves, in the joint's local space.
    pub bone: DVec3,
    /// What its numbers mean.
    pub frame: Frame,
    /// What of it is not published but constructed, and how.
    pub construction: Option<String>,
    /// The joint, to be put into a rig.
    pub joint: RigJoint,
    /// Where its values are from.
    pub citations: Vec<Citation>,
    /// The data file, in the form of an entry of a rig document.
    pub text: &'static str,
}

/// A side of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Of a pair, the right one; [`RigJoint::mirrored`] across the plane with normal z makes the
    /// left one.
    Right,
    /// Not one of a pair.
    Middle,
}

impl Side {
    const NAMES: [&'static str; 2] = ["right", "middle"];
}

/// What the numbers of a preset mean, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The coordinates.
    pub space: String,
    /// Which bone moves, and along which axis it is.
    pub bone: String,
    /// The pose in which all clinical angles are zero.
    pub zero: String,
    /// Which motion goes which way.
    pub senses: String,
}

/// Where a value is from.
#[derive(Clone, Debug, PartialEq)]
pub struct Citation {
    /// The motion by its clinical name.
    pub what: String,
    /// How far it goes.
    pub value_deg: f64,
    /// The motion as geometry. None for values that only lead to others.
    pub motion: Option<Motion>,
    /// Author or publisher, and title.
    pub who: String,
    /// The year, or `undated`.
    pub year: String,
    /// Edition, table, page, address.
    pub place: String,
    /// How well it is known.
    pub status: Status,
    /// A second source that has the same value.
    pub second: Option<String>,
    /// What else is to be said.
    pub note: Option<String>,
}

/// A clinical motion as geometry. Its end is at the value of its citation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// The bone goes from one direction towards another, perpendicular to it.
    Swing {
        /// Where the value is zero; the bone's own direction unless said.
        from: Option<DVec3>,
        /// Where the value is 90 degrees.
        toward: DVec3,
    },
    /// The bone rolls.
    Twist {
        /// By the right-hand rule about the bone, or against it.
        positive: bool,
        /// Where the bone points meanwhile; its own direction unless said.
        at: Option<DVec3>,
    },
    /// A hinge turns.
    Hinge {
        /// By the right-hand rule about its axis, or against it.
        positive: bool,
    },
    /// A universal joint turns about one of its axes.
    Universal {
        /// Which: 0 or 1.
        axis: usize,
        /// By the right-hand rule about it, or against it.
        positive: bool,
    },
}

/// How well a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Read in the named source.
    Seen,
    /// Recalled, and found in the second source.
    Checked,
    /// Recalled from the literature only.
    Unverified,
    /// Made from published values by an assumption of ours.
    Constructed,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Seen, Self::Checked, Self::Unverified, Self::Constructed];

    const NAMES: [&'static str; 4] = ["seen", "checked", "unverified", "constructed"];

    /// Its name in the data files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::Checked => "checked",
            Self::Unverified => "unverified",
            Self::Constructed => "constructed",
        }
    }

    /// Whether nobody published the value as it is, or we did not see where.
    #[must_use]
    pub const fn is_doubtful(self) -> bool {
        matches!(self, Self::Unverified | Self::Constructed)
    }
}

impl Citation {
    /// Whose value it is, in words: a constructed one is ours, made from that of the source.
    #[must_use]
    pub fn credit(&self) -> String {
        let source = format!("{}, {}", self.who, self.year);
        match (self.status, &self.note) {
            (Status::Constructed, Some(note)) => format!("constructed, {note}, from {source}"),
            (Status::Constructed, None) => format!("constructed from {source}"),
            (Status::Unverified, _) => format!("{source}, recalled and not verified"),
            _ => source,
        }
    }
}

impl Preset {
    /// Reads a data file.
    ///
    /// # Errors
    ///
    /// Those of a rig document.
    pub(crate) fn read(name: &'static str, text: &'static str) -> Result<Self, RigError> {
        let error = |fault: Fault| {
            RigError::new(fault.kind, fault.path, Some(Position::of(text, fault.at)))
        };
        let root = json::parse(text).map_err(error)?;
        preset(name, text, &Cursor::root(&root)).map_err(error)
    }
}

/// Entries of a rig document, with what the numbers mean and where they are from as
/// [`notes`](RigJoint::notes).
impl Preset {
    /// The entry, for the right side or the middle.
    #[must_use]
    pub fn entry(&self) -> RigJoint {
        let side = match self.side {
            Side::Right => "right side",
            Side::Middle => "middle",
        };
        self.noted(self.joint.clone(), side)
    }

    /// The entry for the left side.
    ///
    /// # Errors
    ///
    /// Those of [`RigJoint::mirrored`]; none for the presets that there are.
    pub fn left_entry(&self) -> Result<RigJoint, LimitError> {
        let mut entry = self.noted(self.joint.mirrored(DVec3::Z)?, "left side");
        let note = "Mirrored to the left across the plane x, y: in what follows, which is about the \
                    right, read z as -z, right as left, and signs of twists the other way round.";
        entry.notes.insert(0, note.to_owned());
        // What is turned round may be −0, which is no pretty sight; with 0 added it is 0.
        let center = Rotation::from_wxyz(entry.center.to_wxyz().map(|x| x + 0.0));
        entry.center = center.unwrap_or(entry.center);
        match &mut entry.limit {
            Limit::Hinge { axis, .. } => *axis += DVec3::ZERO,
            Limit::Universal { axes, .. } => axes.iter_mut().for_each(|axis| *axis += DVec3::ZERO),
            _ => {}
        }
        Ok(entry)
    }

    fn noted(&self, joint: RigJoint, side: &str) -> RigJoint {
        let Frame { space, bone, zero, senses } = &self.frame;
        let mut notes = vec![
            format!("Space: {space}."),
            format!("Bone: {bone}."),
            format!("Zero: {zero}"),
            format!("Senses: {senses}"),
        ];
        notes.extend(self.construction.as_ref().map(|text| format!("Constructed: {text}")));
        notes.extend(self.citations.iter().map(|c| {
            let Citation { what, value_deg, who, year, place, status, .. } = c;
            let status = status.as_str();
            format!("{what} {value_deg} deg, {status}: {who}, {year}, {place}")
        }));
        let why = format!("preset {}, {side}", self.name);
        RigJoint { why: Some(why), notes, ..joint }
    }
}

fn preset(name: &'static str, text: &'static str, entry: &Cursor<'_>) -> Result<Preset, Fault> {
    let mut notes = Notes::default();
    let frame = entry.required("frame")?;
    Ok(Preset {
        name,
        title: words(entry, "title")?,
        side: match entry.required("side")?.word("side", &Side::NAMES)? {
            "right" => Side::Right,
            _ => Side::Middle,
        },
        bone: entry.required("bone_axis")?.direction(&mut notes)?,
        frame: Frame {
            space: words(&frame, "space")?,
            bone: words(&frame, "bone")?,
            zero: words(&frame, "zero")?,
            senses: words(&frame, "senses")?,
        },
        construction: maybe_words(entry, "construction")?,
        joint: joint(entry, &mut notes)?,
        citations: entry.required("citations")?.items(1, "at least one citation", citation)?,
        text,
    })
}

fn words(cursor: &Cursor<'_>, field: &'static str) -> Result<String, Fault> {
    let field = cursor.required(field)?;
    match field.text()? {
        "" => Err(field.out_of_range("some words", "none")),
        text => Ok(text.to_owned()),
    }
}

fn maybe_words(cursor: &Cursor<'_>, field: &'static str) -> Result<Option<String>, Fault> {
    cursor.field(field).map(|_| words(cursor, field)).transpose()
}

fn citation(cursor: &Cursor<'_>) -> Result<Citation, Fault> {
    let status = cursor.required("status")?.word("status of a citation", &Status::NAMES)?;
    Ok(Citation {
        what: words(cursor, "what")?,
        value_deg: cursor.required("value_deg")?.number_within(
            0.0,
            360.0,
            "an angle from 0 to 360",
        )?,
        motion: cursor.field("motion").map(|c| motion(&c)).transpose()?,
        who: words(cursor, "who")?,
        year: words(cursor, "year")?,
        place: words(cursor, "where")?,
        status: Status::ALL
            .into_iter()
            .find(|s| s.as_str() == status)
            .unwrap_or(Status::Unverified),
        second: maybe_words(cursor, "second")?,
        note: maybe_words(cursor, "note")?,
    })
}

fn motion(cursor: &Cursor<'_>) -> Result<Motion, Fault> {
    let mut notes = Notes::default();
    let mut direction =
        |key| cursor.field(key).map(|c: Cursor<'_>| c.direction(&mut notes)).transpose();
    let positive = |field: Cursor<'_>| -> Result<bool, Fault> {
        match field.number()? {
            1.0 => Ok(true),
            -1.0 => Ok(false),
            other => Err(field.out_of_range("1 or -1", &other.to_string())),
        }
    };
    if let Some(toward) = direction("swing_toward")? {
        return Ok(Motion::Swing { from: direction("from")?, toward });
    }
    if let Some(sign) = cursor.field("twist") {
        return Ok(Motion::Twist { positive: positive(sign)?, at: direction("at")? });
    }
    if let Some(sign) = cursor.field("hinge") {
        return Ok(Motion::Hinge { positive: positive(sign)? });
    }
    let axis = cursor.required("axis")?;
    let axis = match axis.count()? {
        0 => 0,
        1 => 1,
        other => return Err(axis.out_of_range("0 or 1", &other.to_string())),
    };
    Ok(Motion::Universal { axis, positive: positive(cursor.required("sign")?)? })
}

impl RigJoint {
    /// The joint on the other side of a plane: `center`, `start`, the limit and its ends mirrored, as
    /// [`Limit::mirrored`](crate::limits::Limit::mirrored) says. The rest pose has to be mirrored
    /// too. Everything else is the same.
    ///
    /// # Errors
    ///
    /// Those of [`Limit::mirrored`](crate::limits::Limit::mirrored).
    pub fn mirrored(&self, normal: DVec3) -> Result<Self, LimitError> {
        let mirror = Mirror::new(normal)?;
        Ok(Self {
            center: mirror.rotation(self.center),
            limit: self.limit.mirrored(normal)?,
            start: self.start.map(|start| mirror.rotation(start)),
            ends: End::all_mirrored(&self.ends),
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;
    use crate::rig::Rig;
    use crate::rig::RigErrorKind;
    use crate::skeleton::Skeleton;

    #[test]
    fn b14_entries_are_the_presets_with_notes_and_can_be_written() {
        for preset in presets::all() {
            let right = preset.entry();
            let left = preset.left_entry().unwrap();
            assert!(right.notes.len() >= 4 + preset.citations.len(), "{}", preset.name);
            assert_eq!(left.notes.len(), right.notes.len() + 1);
            let mirrored = preset.joint.mirrored(DVec3::Z).unwrap();
            assert!(left.center.distance(mirrored.center).radians() < 1e-15);
            let [a, b] = [&left, &mirrored].map(|joint| joint.limit.prepare().unwrap());
            for m in [Rotation::IDENTITY, mirrored.center.inverse(), a.project(left.center)] {
                assert_eq!(a.contains(m), b.contains(m), "{}", preset.name);
            }
            let joints = [("Left", left), ("Right", right)].into_iter().collect();
            let written = Rig::new(Skeleton::new(), joints).write().unwrap();
            let text = String::from_utf8(written).unwrap();
            assert!(!text.contains("[-0,") && !text.contains(" -0,"), "{text}");
            let read = Rig::read(text.as_bytes()).unwrap();
            assert!(read.warnings.iter().all(|w| !w.is_repair()) && read.rig.doubts().is_empty());
        }
    }

    #[test]
    fn what_is_wrong_with_a_data_file_is_told_with_its_place() {
        let text = r#"{"title": "t", "side": "right", "kind": "hinge", "axis": [0, 0, 1],
 "bone_axis": [0, -1, 0], "limit": {"shape": "arc", "min_deg": 0, "max_deg": 150},
 "frame": {"space": "s", "bone": "b", "zero": "z", "senses": "p"},
 "citations": [{"what": "w", "value_deg": 1, "motion": {"hinge": 2}, "who": "a", "year": "y",
 "where": "p", "status": "seen"}]}"#;
        let error = Preset::read("elbow", text).unwrap_err();
        assert_eq!(error.path(), "citations[0].motion.hinge");
        assert!(matches!(error.kind(), RigErrorKind::Range { .. }), "{error}");
    }
}
