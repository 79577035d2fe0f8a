//! Published ranges of joints: the entries of a rig with what they are taken from.

use glam::DVec3;

use super::cursor::{Cursor, Notes};
use super::json::{self, Fault};
use super::read::joint;
use super::{Position, RigError, RigJoint};
use crate::limits::{LimitError, Mirror};

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
    /// The joint on the other side of a plane: `center`, `start` and the limit mirrored, as
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
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::RigErrorKind;

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
