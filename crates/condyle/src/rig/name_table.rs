//! Tables of joint names: what the joints of a family of skeletons are called, and which joints of
//! the body they are. See `docs/anatomy.md`.

use std::collections::BTreeSet;

use glam::{DMat3, DVec3};

use super::cursor::{Cursor, Notes};
use super::json::{self, Fault, Value};
use super::path::Step;
use super::{Position, RigError, RigErrorKind};
use crate::math::{Angle, Rotation, unit};

/// A joint of the human body. The segment below it moves against the one above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BodyJoint {
    /// The pelvis in the world: where the other joints start. It has no angles of its own.
    Pelvis,
    /// Thigh against pelvis.
    Hip,
    /// Shank against thigh.
    Knee,
    /// Foot against shank, the subtalar joint included.
    Ankle,
    /// Toes against foot.
    Toes,
    /// The lumbar spine, or a part of it.
    Lumbar,
    /// The thoracic spine, or a part of it.
    Thoracic,
    /// The cervical spine, or a part of it, up to the head.
    Neck,
    /// Clavicle, with scapula, against thorax.
    Clavicle,
    /// Upper arm against clavicle or thorax.
    Shoulder,
    /// Forearm against upper arm.
    Elbow,
    /// The forearm turning about itself.
    Forearm,
    /// Hand against forearm.
    Wrist,
    /// Thorax against pelvis: lumbar and thoracic spine together. Not in tables.
    Back,
}

impl BodyJoint {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Pelvis,
        Self::Hip,
        Self::Knee,
        Self::Ankle,
        Self::Toes,
        Self::Lumbar,
        Self::Thoracic,
        Self::Neck,
        Self::Clavicle,
        Self::Shoulder,
        Self::Elbow,
        Self::Forearm,
        Self::Wrist,
        Self::Back,
    ];

    /// Its name in tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pelvis => "pelvis",
            Self::Hip => "hip",
            Self::Knee => "knee",
            Self::Ankle => "ankle",
            Self::Toes => "toes",
            Self::Lumbar => "lumbar",
            Self::Thoracic => "thoracic",
            Self::Neck => "neck",
            Self::Clavicle => "clavicle",
            Self::Shoulder => "shoulder",
            Self::Elbow => "elbow",
            Self::Forearm => "forearm",
            Self::Wrist => "wrist",
            Self::Back => "back",
        }
    }

    /// Whether there are two of it.
    #[must_use]
    pub const fn is_paired(self) -> bool {
        !matches!(self, Self::Pelvis | Self::Lumbar | Self::Thoracic | Self::Neck | Self::Back)
    }
}

/// A side of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BodySide {
    /// The person's left.
    Left,
    /// The person's right.
    Right,
    /// Not one of a pair.
    Middle,
}

impl BodySide {
    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Middle => "middle",
        }
    }

    /// The other of a pair; the middle is its own.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
            Self::Middle => Self::Middle,
        }
    }
}

/// What a table may say a joint is.
const KNOWN: [&str; 22] = [
    "pelvis",
    "lumbar",
    "thoracic",
    "neck",
    "left hip",
    "right hip",
    "left knee",
    "right knee",
    "left ankle",
    "right ankle",
    "left toes",
    "right toes",
    "left clavicle",
    "right clavicle",
    "left shoulder",
    "right shoulder",
    "left elbow",
    "right elbow",
    "left forearm",
    "right forearm",
    "left wrist",
    "right wrist",
];

/// What a table may say is up.
const AXES: [&str; 6] = ["x", "y", "z", "-x", "-y", "-z"];

/// A joint in a [document](NameTable::document).
pub(crate) struct NamedJoint<'a> {
    /// As its file has it.
    pub(crate) name: &'a str,
    /// What it is, if that is known.
    pub(crate) is: Option<(BodyJoint, BodySide)>,
    /// Its anatomical frame, if that is to be written.
    pub(crate) frame: Option<Rotation>,
}

/// The names of the joints of one family of skeletons.
#[derive(Clone, Debug)]
pub struct NameTable {
    /// Whose names they are.
    pub title: String,
    /// Where they are from.
    pub source: String,
    /// What may stand before each name.
    prefixes: Vec<String>,
    /// All names, of joints, axes and turns, as they are spelt.
    spelt: Vec<String>,
    /// The axis of the world that is up, as one of [`AXES`].
    up: Option<&'static str>,
    /// Names in lower case.
    joints: Vec<(String, BodyJoint, BodySide)>,
    /// Names in lower case, and the axes of the anatomical frame in the joint's local space.
    frames: Vec<(String, Rotation)>,
    /// Names in lower case, and by how much the segment is turned outward about itself at rest.
    turned: Vec<(String, Angle)>,
}

impl NameTable {
    /// Reads a table; `docs/anatomy.md` describes the format.
    ///
    /// ```
    /// use condyle::anatomy::{BodyJoint, BodySide, NameTable};
    /// let table = NameTable::read(r#"{
    ///   "title": "Mine", "source": "myself", "prefixes": ["rig"],
    ///   "joints": { "Root": "pelvis", "thigh_l": "left hip", "thigh_r": "right hip" }
    /// }"#)?;
    /// assert_eq!(table.find("rig2:Thigh_L"), Some((BodyJoint::Hip, BodySide::Left)));
    /// # Ok::<(), condyle::rig::RigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of a rig document, with the place.
    pub fn read(text: &str) -> Result<Self, RigError> {
        let error = |fault: Fault| {
            RigError::new(fault.kind, fault.path, Some(Position::of(text, fault.at)))
                .described_in("docs/anatomy.md")
        };
        let root = json::parse(text).map_err(error)?;
        table(&Cursor::root(&root)).map_err(error)
    }

    /// A table of names without axes. Namespaces (up to the last `:` or `|`) are left out.
    #[must_use]
    pub fn of(
        title: &str,
        source: &str,
        joints: impl IntoIterator<Item = (String, BodyJoint, BodySide)>,
    ) -> Self {
        let mut spelt = Vec::new();
        let entry = |(name, what, side): (String, BodyJoint, BodySide)| {
            let entry = (bare(&name), what, side);
            spelt.push(name);
            entry
        };
        let joints = joints.into_iter().map(entry).collect();
        Self {
            title: title.to_owned(),
            source: source.to_owned(),
            prefixes: Vec::new(),
            spelt,
            up: None,
            joints,
            frames: Vec::new(),
            turned: Vec::new(),
        }
    }

    /// How many names it has.
    pub(crate) fn len(&self) -> usize {
        self.joints.len()
    }

    /// Whether it has axes of joints.
    pub(crate) fn has_frames(&self) -> bool {
        !self.frames.is_empty()
    }

    /// The axis of the world that is up, by its name: where neither motion nor rest pose tell.
    #[must_use]
    pub const fn up(&self) -> Option<&'static str> {
        self.up
    }

    /// Those of its names that none of these is, as they are spelt: of what it says something about.
    pub(crate) fn lacking<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<&str> {
        let mut there = BTreeSet::new();
        for name in names {
            there.extend(self.keys(name));
        }
        let mut told = BTreeSet::new();
        let mut lacking = self.spelt.iter().map(String::as_str).collect::<Vec<_>>();
        lacking.retain(|name| !there.contains(&bare(name)) && told.insert(bare(name)));
        lacking
    }

    /// A table as a document to be edited, in the order that is given: which axis is up if that is known,
    /// every joint, what it is if that is known, and its anatomical frame if that is to be written.
    pub(crate) fn document<'a>(
        title: &str,
        source: &str,
        up: Option<&str>,
        joints: impl IntoIterator<Item = NamedJoint<'a>>,
    ) -> String {
        let (mut names, mut frames) = (Vec::new(), Vec::new());
        for NamedJoint { name, is, frame } in joints {
            let word = is.map(|(what, side)| match side {
                BodySide::Middle => what.as_str().to_owned(),
                _ => format!("{} {}", side.as_str(), what.as_str()),
            });
            let word = word.map_or_else(json::Node::null, json::Node::string);
            names.push(json::Field::new(name, word));
            if let Some(frame) = frame {
                let axis = |v: DVec3| {
                    let rounded = |x: f64| super::write::number((x * 1e6).round() / 1e6 + 0.0);
                    json::Node::array(v.to_array().map(rounded))
                };
                let axes = vec![
                    json::Field::new("forward", axis(frame * DVec3::X)),
                    json::Field::new("up", axis(frame * DVec3::Y)),
                ];
                frames.push(json::Field::new(name, json::Node::object(axes)));
            }
        }
        let mut fields = vec![
            json::Field::new("title", json::Node::string(title)),
            json::Field::new("source", json::Node::string(source)),
        ];
        fields.extend(up.map(|axis| json::Field::new("up", json::Node::string(axis))));
        fields.push(json::Field::new("joints", json::Node::object(names)));
        if !frames.is_empty() {
            fields.push(json::Field::new("frames", json::Node::object(frames)));
        }
        json::print(&json::Node::object(fields))
    }

    /// What the joint with a name is. Letters may be upper or lower case. A namespace (up to the last
    /// `:` or `|`) does not count, nor does one of the table's prefixes, with digits and one `:` or
    /// `_` after it.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<(BodyJoint, BodySide)> {
        self.entry(name, |key| {
            self.joints.iter().find(|(n, ..)| n == key).map(|(_, what, side)| (*what, *side))
        })
    }

    /// The anatomical frame of the joint with a name, in its local space, where the table gives one.
    #[must_use]
    pub fn frame(&self, name: &str) -> Option<Rotation> {
        self.entry(name, |key| self.frames.iter().find(|(n, _)| n == key).map(|(_, f)| *f))
    }

    /// By how much the segment of the joint with a name is turned outward about itself in the rest pose,
    /// which its shape does not tell; zero unless the table says so.
    #[must_use]
    pub fn turned(&self, name: &str) -> Angle {
        let find = |key: &str| self.turned.iter().find(|(n, _)| n == key).map(|(_, by)| *by);
        self.entry(name, find).unwrap_or_default()
    }

    /// The names alone.
    pub(crate) fn without_frames(&self) -> Self {
        Self { frames: Vec::new(), turned: Vec::new(), ..self.clone() }
    }

    fn entry<T>(&self, name: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.keys(name).find_map(|key| find(&key))
    }

    /// What a name may be in the table: itself, and without each of the prefixes.
    fn keys(&self, name: &str) -> impl Iterator<Item = String> {
        let bare = bare(name);
        let own = std::iter::once(bare.clone());
        own.chain(self.prefixes.iter().filter_map(move |prefix| {
            let rest = bare.strip_prefix(prefix.as_str())?;
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            Some(rest.strip_prefix('_').unwrap_or(rest).to_owned())
        }))
    }
}

/// A name without its namespace, in lower case.
fn bare(name: &str) -> String {
    name.rsplit([':', '|']).next().unwrap_or(name).to_ascii_lowercase()
}

fn table(cursor: &Cursor<'_>) -> Result<NameTable, Fault> {
    let words = |field| -> Result<String, Fault> { Ok(cursor.required(field)?.text()?.to_owned()) };
    let prefix = |c: &Cursor<'_>| -> Result<String, Fault> { Ok(c.text()?.to_ascii_lowercase()) };
    let spelt = |field| -> Result<Vec<String>, Fault> {
        let Some(entries) = cursor.field(field) else { return Ok(Vec::new()) };
        let said = entries.object()?.iter().filter(|f| !matches!(f.node.value, Value::Null));
        Ok(said.map(|f| f.key.as_ref().to_owned()).collect())
    };
    Ok(NameTable {
        title: words("title")?,
        source: words("source")?,
        spelt: [spelt("joints")?, spelt("frames")?, spelt("turned_deg")?].concat(),
        up: cursor.field("up").map(|up| up.word("axis", &AXES)).transpose()?,
        prefixes: cursor
            .field("prefixes")
            .map(|list| list.items(1, "at least one prefix", prefix))
            .transpose()?
            .unwrap_or_default(),
        joints: by_name(&cursor.required("joints")?, joint)?
            .into_iter()
            .filter_map(|(name, is)| is.map(|(what, side)| (name, what, side)))
            .collect(),
        frames: cursor.field("frames").map_or(Ok(Vec::new()), |c| by_name(&c, frame))?,
        turned: cursor.field("turned_deg").map_or(Ok(Vec::new()), |c| by_name(&c, degrees))?,
    })
}

fn by_name<T>(
    cursor: &Cursor<'_>,
    read: impl Fn(&Cursor<'_>) -> Result<T, Fault>,
) -> Result<Vec<(String, T)>, Fault> {
    let entry = |field: &json::Field<'_>| {
        let value = cursor.below(Step::Key(field.key.as_ref().into()), &field.node);
        Ok((bare(&field.key), read(&value)?))
    };
    cursor.object()?.iter().map(entry).collect()
}

/// `None` for null: a joint that is none of the body.
fn joint(cursor: &Cursor<'_>) -> Result<Option<(BodyJoint, BodySide)>, Fault> {
    if cursor.is_null() {
        return Ok(None);
    }
    let text = cursor.word("joint of the body", &KNOWN)?;
    let (side, what) = match text.split_once(' ') {
        Some(("left", what)) => (BodySide::Left, what),
        Some((_, what)) => (BodySide::Right, what),
        None => (BodySide::Middle, text),
    };
    let what = BodyJoint::ALL.into_iter().find(|j| j.as_str() == what);
    Ok(what.map(|what| (what, side)))
}

fn degrees(cursor: &Cursor<'_>) -> Result<Angle, Fault> {
    let degrees = cursor.number_within(-180.0, 180.0, "an angle from -180 to 180")?;
    Ok(Angle::from_degrees(degrees))
}

/// Forward is made perpendicular to up.
fn frame(cursor: &Cursor<'_>) -> Result<Rotation, Fault> {
    let mut notes = Notes::default();
    let up = cursor.required("up")?.direction(&mut notes)?;
    let forward = cursor.required("forward")?;
    let along = forward.direction(&mut notes)?;
    frame_of(along, up).ok_or_else(|| forward.fault(RigErrorKind::Zero))
}

/// The rotation that takes x to `forward`, y to `up` and z to the right. `forward` need not be
/// perpendicular; `None` if it is along `up`.
pub(crate) fn frame_of(forward: DVec3, up: DVec3) -> Option<Rotation> {
    let y = unit(up)?;
    let x = unit(forward - y * forward.dot(y))?;
    Rotation::from_matrix(DMat3::from_cols(x, y, x.cross(y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_table_is_a_joint_and_a_side_that_fit() {
        for word in KNOWN {
            let text = format!(r#"{{"title": "t", "source": "s", "joints": {{"J": "{word}"}}}}"#);
            let (what, side) = NameTable::read(&text).unwrap().find("j").unwrap();
            assert_eq!(what.is_paired(), side != BodySide::Middle, "{word}");
            let spelt = match side {
                BodySide::Middle => what.as_str().to_owned(),
                _ => format!("{} {}", side.as_str(), what.as_str()),
            };
            assert_eq!(spelt, word);
        }
    }

    #[test]
    fn what_is_wrong_with_a_table_is_told_with_its_place() {
        let of = |joints: &str, frames: &str| {
            let text = format!(
                r#"{{"title": "t", "source": "s", "joints": {{{joints}}}, "frames": {{{frames}}}}}"#
            );
            NameTable::read(&text).map_err(|e| e.path().to_owned())
        };
        for (joints, frames, place) in [
            (r#""J": "left tail""#, "", "joints.J"),
            (r#""J": "hip""#, "", "joints.J"),
            ("", r#""J": {"forward": [0, 2, 0], "up": [0, 1, 0]}"#, "frames.J.forward"),
        ] {
            assert_eq!(of(joints, frames).unwrap_err(), place);
        }
        let good = of("", r#""J": {"forward": [1, 1, 0], "up": [0, 1, 0]}"#).unwrap();
        assert!(good.frame("j").unwrap().angle().radians() < 1e-15);
    }

    #[test]
    fn names_that_nothing_has_are_told_as_they_are_spelt() {
        let text = r#"{"title": "t", "source": "s", "prefixes": ["rig"], "up": "-x",
            "joints": {"Root": "pelvis", "fig:Shin_L": "left knee", "Tail": null, "Thigh_L": "left hip"},
            "frames": {"Shin_R": {"forward": [1, 0, 0], "up": [0, 1, 0]},
                       "Thigh_L": {"forward": [1, 0, 0], "up": [0, 1, 0]}}}"#;
        let table = NameTable::read(text).unwrap();
        assert_eq!(table.up(), Some("-x"));
        assert_eq!(table.lacking(["other:root", "rig3_thigh_l"]), ["fig:Shin_L", "Shin_R"]);
        assert!(table.lacking(["Root", "Shin_L", "Shin_R", "Thigh_L"]).is_empty());
    }

    #[test]
    fn namespaces_prefixes_numbers_and_case_do_not_matter() {
        let text = r#"{"title": "t", "source": "s", "prefixes": ["mixamorig"],
            "joints": {"LeftArm": "left shoulder", "Spine1": "thoracic"}}"#;
        let table = NameTable::read(text).unwrap();
        for name in ["LeftArm", "leftarm", "mixamorig:LeftArm", "mixamorig7:LeftArm", "a|b:LeftArm"]
        {
            assert!(table.find(name).is_some(), "{name}");
        }
        for name in ["mixamorigLeftArm", "mixamorig12_LeftArm", "mixamorigSpine1"] {
            assert!(table.find(name).is_some(), "{name}");
        }
        for name in ["", ":", "LeftArm2", "MyLeftArm", "mixamorig", "Spine2"] {
            assert!(table.find(name).is_none(), "{name}");
        }
    }
}
