//! What can be wrong with a rig document: what, where, why, and what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{JointAngle, JointKind, path};
use crate::limits::LimitError;
use crate::maps::MapErrorKind;
use crate::math::Angle;

/// A place in a text: line and column from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl Position {
    /// Where byte `at` of a text stands. Lines end with LF, CR LF or CR.
    pub(crate) fn of(text: &str, at: usize) -> Self {
        Sweep::new(text).position(at)
    }
}

/// Positions of bytes in rising order, in one pass over the text.
pub(super) struct Sweep<'a> {
    text: &'a [u8],
    at: usize,
    position: Position,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), at: 0, position: Position { line: 1, column: 1 } }
    }

    /// The position of byte `at`, not before the one asked for last.
    pub(super) fn position(&mut self, at: usize) -> Position {
        while self.at < at.min(self.text.len()) {
            let byte = self.text[self.at];
            self.at += 1;
            let Position { line, column } = &mut self.position;
            if byte == b'\n' || (byte == b'\r' && self.text.get(self.at) != Some(&b'\n')) {
                *line = line.saturating_add(1);
                *column = 1;
            } else if self.text.get(self.at).is_none_or(|next| next & 0xC0 != 0x80) {
                // The last byte of a character.
                *column = column.saturating_add(1);
            }
        }
        self.position
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Why a rig document cannot be read, or a rig not be written.
///
/// Match on [`kind`](Self::kind) to handle it; print it to report it:
///
/// ```text
/// arm.json:14:33: joints.LeftArm.limit.shape: "cone" is no shape of a limit
///   help: use one of arc, arcs, euler_box, swing_twist, locked, free
/// ```
#[derive(Clone, Debug)]
pub struct RigError {
    // Boxed: results are returned all over the reader, and an error is rare.
    inner: Box<Inner>,
}

#[derive(Clone, Debug)]
struct Inner {
    kind: RigErrorKind,
    path: String,
    position: Option<Position>,
    file: Option<PathBuf>,
    /// The page that describes the document.
    page: &'static str,
}

/// The page that describes rigs.
const RIG_PAGE: &str = "docs/rig.md";

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RigErrorKind {
    /// There is nothing in the file.
    Empty,
    /// The file is larger than any rig.
    TooLarge {
        /// The most bytes that are read.
        limit: usize,
    },
    /// The document would be too large to be read again.
    TooLargeToWrite {
        /// How many there would be.
        found: usize,
        /// The most that are read.
        limit: usize,
        /// Of what: `bytes` or `values`.
        of: &'static str,
    },
    /// There are more values than in any rig: a few bytes of text are many in memory.
    TooManyValues {
        /// The most that are read.
        limit: usize,
    },
    /// The text is not UTF-8.
    Encoding,
    /// The text is not JSON.
    Syntax {
        /// What has to be there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// Arrays and objects lie too deep within each other, in a document or in a limit to be written.
    TooDeep {
        /// How deep they may.
        limit: usize,
    },
    /// A name appears twice in an object, so that it is not clear which counts.
    DuplicateKey {
        /// The name.
        key: String,
        /// Where it is first.
        first: Position,
    },
    /// A field is missing.
    Missing {
        /// Which.
        field: &'static str,
    },
    /// A value is of another type.
    Type {
        /// What has to be there.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// A list has too few or too many values.
    Length {
        /// How many there have to be, and of what.
        expected: &'static str,
        /// How many there are.
        found: usize,
    },
    /// A number is out of its range.
    Range {
        /// What it has to be.
        expected: &'static str,
        /// The number.
        found: String,
    },
    /// A range of angles ends before it starts, or is wider than a turn.
    Arc {
        /// From, in degrees.
        min_deg: f64,
        /// To, in degrees.
        max_deg: f64,
    },
    /// A vector or quaternion is zero, so that it has no direction.
    Zero,
    /// `x_axis` is along the bone.
    AlongBone,
    /// A word that is not one of those that can stand there.
    Unknown {
        /// What it would be, such as "kind of joint".
        what: &'static str,
        /// The word.
        found: String,
        /// Those that can.
        known: &'static [&'static str],
    },
    /// A version of the format that we do not know.
    Version {
        /// What the document says.
        found: String,
    },
    /// A limit that a joint of this kind cannot have.
    Misfit {
        /// The joint's kind.
        kind: JointKind,
        /// The limit's shape.
        shape: &'static str,
    },
    /// A joint's parent is no joint before it.
    Parent {
        /// The joint.
        joint: String,
        /// Its parent.
        parent: String,
        /// What is wrong with it.
        fault: ParentFault,
    },
    /// More joints than a skeleton may have.
    TooManyJoints,
    /// The limit's geometry is wrong. Found when the limit is prepared, not by reading; see
    /// [`Rig::limit_error`](super::Rig::limit_error).
    Limit(LimitError),
    /// The joint maps cannot be used. Found when they are put on the skeleton, not by reading; see
    /// [`Rig::network`](super::Rig::network).
    Map(MapErrorKind),
    /// A shape that is a function of the user's own has no written form.
    Custom,
}

/// What is wrong with a parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParentFault {
    /// There is no such joint.
    Unknown,
    /// It stands after its child.
    Later,
    /// It is, some joints up, its own parent.
    Cycle,
}

impl RigError {
    pub(super) fn new(kind: RigErrorKind, path: String, position: Option<Position>) -> Self {
        Self { inner: Box::new(Inner { kind, path, position, file: None, page: RIG_PAGE }) }
    }

    /// The same error of a document that another page describes than that of rigs.
    pub(super) fn described_in(mut self, page: &'static str) -> Self {
        self.inner.page = page;
        self
    }

    /// The same error with the file it is about.
    #[must_use]
    pub fn with_file(mut self, file: &Path) -> Self {
        self.inner.file = Some(file.to_owned());
        self
    }

    /// What is wrong, for matching.
    #[must_use]
    pub fn kind(&self) -> &RigErrorKind {
        &self.inner.kind
    }

    /// Where inside the document: `joints.LeftArm.limit.swing.polygons[0][2]`; empty for the whole.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.inner.path
    }

    /// Where in the text; `None` when writing.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.inner.position
    }

    /// The file, where known.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.inner.file.as_deref()
    }

    /// One sentence on how to get past it.
    #[must_use]
    pub fn help(&self) -> String {
        match self.inner.kind {
            // Only limits are meant to have parts within parts.
            RigErrorKind::TooDeep { .. } if !path::is_in_limit(self.path()) => {
                "no real rig is as deep: the file is broken, or no rig".to_owned()
            }
            _ => self.inner.kind.help().replace(RIG_PAGE, self.inner.page),
        }
    }
}

impl RigErrorKind {
    pub(crate) fn help(&self) -> String {
        let help = match self {
            Self::Empty => "the export or download went wrong: get the file again",
            Self::TooLarge { .. } | Self::TooManyValues { .. } => {
                "no real rig is as large: the file is broken, or no rig"
            }
            Self::TooLargeToWrite { .. } => {
                "have fewer joints, or fewer corners: estimate has --corners N and --model ellipse"
            }
            Self::Encoding => "save it as UTF-8",
            Self::Syntax { found, expected } => match found.as_str() {
                "\"/\"" | "\"#\"" => "JSON has no comments: remove it",
                "\"]\"" if *expected == "a value" => "JSON has no comma after the last value",
                "\"}\"" if *expected == "a name in double quotes" => {
                    "JSON has no comma after the last field"
                }
                "\"'\"" => "JSON has double quotes only",
                "the end of the file" => "the file was cut off, or a bracket is not closed",
                _ => "correct the JSON here",
            },
            Self::TooDeep { .. } => "join `all` within `all` and `any` within `any` into one",
            Self::DuplicateKey { .. } => "remove or rename one of the two",
            Self::Missing { .. } => return format!("add it; {RIG_PAGE} has an example"),
            Self::Type { .. } | Self::Length { .. } | Self::Range { .. } => "correct the value",
            Self::Arc { min_deg, max_deg } if min_deg > max_deg => {
                "an arc runs up from min_deg to max_deg and may pass 180: 170 to -160 is written 170 \
                 to 200"
            }
            Self::Arc { .. } => "the whole circle is -180 to 180",
            Self::Zero => "give a direction, of length one",
            Self::AlongBone => "leave x_axis out, or choose one across the bone",
            Self::Unknown { known, .. } => return format!("use one of {}", known.join(", ")),
            Self::Version { .. } => {
                "version 1 is understood here: get a newer condyle, or have the file written again"
            }
            Self::Misfit { kind, .. } => {
                return format!("a joint of this kind can have {}", kind.shapes().join(", "));
            }
            Self::Parent { fault: ParentFault::Unknown, .. } => {
                "correct the name, or add the parent before this joint"
            }
            Self::Parent { fault: ParentFault::Later, .. } => "list parents before their children",
            Self::Parent { fault: ParentFault::Cycle, .. } => {
                "one of them has to be a root: leave out its parent"
            }
            Self::TooManyJoints => "no real figure has as many: the file is broken",
            Self::Limit(_) => {
                return format!("correct the shape; {RIG_PAGE} says what each has to be");
            }
            Self::Map(kind) => return kind.help(),
            Self::Custom => "use a polygon along its boundary instead",
        };
        help.to_owned()
    }
}

impl fmt::Display for RigErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the file is empty"),
            Self::TooLarge { limit } => write!(f, "the file is larger than {limit} bytes"),
            Self::TooLargeToWrite { found, limit, of } => {
                write!(
                    f,
                    "the rig would have {found} {of}, and no more than {limit} are read again"
                )
            }
            Self::TooManyValues { limit } => write!(f, "there are more than {limit} values"),
            Self::Encoding => f.write_str("the text is not UTF-8"),
            Self::Syntax { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::TooDeep { limit } => write!(f, "more than {limit} levels within each other"),
            Self::DuplicateKey { key, first } => {
                write!(f, "{key:?} appears a second time (first at {first})")
            }
            Self::Missing { field } => {
                // One of several would do.
                let names: Vec<String> = field.split(" or ").map(|of| format!("{of:?}")).collect();
                write!(f, "{} is missing", names.join(" or "))
            }
            Self::Type { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Length { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Range { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Arc { min_deg, max_deg } if min_deg > max_deg => {
                write!(f, "min_deg {min_deg} is above max_deg {max_deg}")
            }
            Self::Arc { min_deg, max_deg } => {
                write!(f, "the arc from {min_deg} to {max_deg} degrees is wider than a turn")
            }
            Self::Zero => f.write_str("the vector is zero and has no direction"),
            Self::AlongBone => f.write_str("x_axis is along bone_axis"),
            Self::Unknown { what, found, .. } => write!(f, "{found:?} is no {what}"),
            Self::Version { found } => write!(f, "the document is of version {found}"),
            Self::Misfit { kind, shape } => {
                write!(f, "a limit of shape {shape:?} does not fit a joint of kind {kind}")
            }
            Self::Parent { joint, parent, fault } => match fault {
                ParentFault::Unknown => {
                    write!(f, "the parent {parent:?} of {joint:?} is no joint of the skeleton")
                }
                ParentFault::Later => {
                    write!(f, "the parent {parent:?} of {joint:?} comes after it")
                }
                ParentFault::Cycle => {
                    write!(f, "{joint:?} is above {parent:?}, which is given as its parent")
                }
            },
            Self::TooManyJoints => {
                write!(f, "more than {} joints", crate::skeleton::MAX_JOINTS)
            }
            Self::Limit(error) => {
                // Its path is a part of ours, which is told already.
                let text = error.to_string();
                let inside = text.strip_prefix(error.path()).and_then(|t| t.strip_prefix(": "));
                f.write_str(inside.unwrap_or(&text))
            }
            Self::Map(kind) => kind.fmt(f),
            Self::Custom => f.write_str("a shape that is a function cannot be written"),
        }
    }
}

impl fmt::Display for RigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        location(f, self.file(), self.position(), self.path())?;
        write!(f, "{}\n  help: {}", self.inner.kind, self.help())
    }
}

impl std::error::Error for RigError {}

pub(crate) fn location(
    f: &mut fmt::Formatter<'_>,
    file: Option<&Path>,
    position: Option<Position>,
    path: &str,
) -> fmt::Result {
    if let Some(file) = file {
        write!(f, "{}:", file.display())?;
    }
    if let Some(position) = position {
        write!(f, "{position}:")?;
    }
    if file.is_some() || position.is_some() {
        f.write_str(" ")?;
    }
    if !path.is_empty() {
        write!(f, "{}: ", path::shortened(path))?;
    }
    Ok(())
}

/// Something about a rig document that its user should know.
#[derive(Clone, Debug, PartialEq)]
pub struct RigWarning {
    /// What it is about.
    pub kind: RigWarningKind,
    /// Where inside the document.
    pub path: String,
    /// Where in the text; `None` for a rig that was not read.
    pub position: Option<Position>,
    /// The file, where known.
    pub file: Option<PathBuf>,
}

/// What a warning is about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RigWarningKind {
    /// `joints` has an entry for a joint that the skeleton does not have.
    UnknownJoint {
        /// The name.
        name: String,
    },
    /// The same, and the entry was edited.
    IdleEdit {
        /// The joint that is spelt most like it.
        near: Option<String>,
    },
    /// The parent is not in the skeleton but has an entry in `joints`: the document holds a part of a
    /// skeleton, and the joint is a root of that part.
    PartOfSkeleton {
        /// The joint.
        joint: String,
        /// Its parent.
        parent: String,
    },
    /// A joint's name was used before; it was numbered.
    RenamedJoint {
        /// The name in the document.
        name: String,
        /// The name it got.
        renamed: String,
    },
    /// A direction or quaternion was not of length one, and was brought to it.
    NotUnit {
        /// Its length.
        length: f64,
    },
    /// A field that we do not know, spelt nearly like one that we do. It is kept, and not used.
    Misspelt {
        /// The name in the document.
        name: String,
        /// The name that it is like.
        known: &'static str,
    },
    /// The bone is outside of a polygon that is larger than a hemisphere; see
    /// [`Rig::doubts`](super::Rig::doubts).
    Reversed {
        /// The polygon's share of the sphere, from 0 to 1.
        share: f64,
    },
    /// A coupling is about an angle that the joint does not have; see
    /// [`Rig::doubts`](super::Rig::doubts).
    NoSuchAngle {
        /// The joint.
        joint: String,
        /// Its kind.
        kind: JointKind,
        /// The angle.
        angle: JointAngle,
        /// Those that it has.
        has: &'static [JointAngle],
    },
    /// A check lets pass what is far outside of the limit; see [`Rig::doubts`](super::Rig::doubts).
    WideAllowance {
        /// The joint.
        joint: String,
        /// How far outside a joint may be, see [`RigJoint::allowance`](super::RigJoint::allowance).
        allowance: Angle,
    },
    /// `left_out` lists rotations instead of frames of takes. They are kept, and not used.
    LeftOutRotations,
    /// There are more warnings than are kept.
    More {
        /// How many more.
        count: usize,
        /// Whether there are repairs among them.
        repairs: bool,
    },
}

impl RigWarning {
    /// Whether something was repaired, which `strict` refuses. A notice is not a repair.
    #[must_use]
    pub fn is_repair(&self) -> bool {
        self.kind.is_repair()
    }
}

impl RigWarningKind {
    /// Whether something was repaired, which `strict` refuses. A notice is not a repair.
    #[must_use]
    pub fn is_repair(&self) -> bool {
        match self {
            Self::RenamedJoint { .. } | Self::NotUnit { .. } | Self::PartOfSkeleton { .. } => true,
            Self::UnknownJoint { .. }
            | Self::IdleEdit { .. }
            | Self::Misspelt { .. }
            | Self::Reversed { .. }
            | Self::NoSuchAngle { .. }
            | Self::WideAllowance { .. }
            | Self::LeftOutRotations => false,
            Self::More { repairs, .. } => *repairs,
        }
    }
}

impl fmt::Display for RigWarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownJoint { name } => {
                write!(f, "the skeleton has no joint {name:?}: the entry is kept, and not used")
            }
            Self::IdleEdit { near } => {
                f.write_str("the entry was edited, and the skeleton has no such joint")?;
                match near {
                    Some(near) => write!(f, " (near is {near:?}): it limits nothing"),
                    None => f.write_str(": it limits nothing"),
                }
            }
            Self::PartOfSkeleton { joint, parent } => write!(
                f,
                "the parent {parent:?} is not in the skeleton: {joint:?} is taken for a root"
            ),
            Self::RenamedJoint { name, renamed } => {
                write!(f, "a second {name:?} is called {renamed:?} here")
            }
            Self::NotUnit { length } => {
                write!(f, "the length is {length}, not 1: only the direction is used")
            }
            Self::Misspelt { name, known } => {
                write!(f, "unknown field {name:?} is kept, and not used: is {known:?} meant?")
            }
            Self::Reversed { share } => write!(
                f,
                "the bone is outside of the polygon, which has {:.0} % of the sphere inside: was it \
                 meant the other way around?",
                100.0 * share
            ),
            Self::NoSuchAngle { joint, kind, angle, has } => {
                let angle = angle.as_str();
                write!(f, "the {kind} {joint:?} has no angle {angle:?}")?;
                if !has.is_empty() {
                    let has: Vec<&str> = has.iter().map(|angle| angle.as_str()).collect();
                    write!(f, ", but {}", has.join(", "))?;
                }
                write!(f, ": the coupling is kept, and not used")
            }
            Self::WideAllowance { joint, allowance } => write!(
                f,
                "{joint:?} may be up to {:.1}° outside of its limit, and check calls that inside: it \
                 allows max(0.01°, 3 × noise_deg, tolerance_deg)",
                allowance.degrees()
            ),
            Self::LeftOutRotations => f.write_str(
                "rotations, as an earlier version wrote them, are kept, and not used: they would excuse \
                 equal poses in any motion; estimate again to have the frames of the takes",
            ),
            Self::More { count, .. } => write!(f, "{count} more warnings"),
        }
    }
}

impl fmt::Display for RigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        location(f, self.file.as_deref(), self.position, &self.path)?;
        write!(f, "{}", self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_every_kind_of_line_end() {
        let text = "ä\nbc\r\nd\re";
        let at = |c: char| {
            let p = Position::of(text, text.find(c).unwrap());
            (p.line, p.column)
        };
        assert_eq!(
            [at('ä'), at('b'), at('c'), at('d'), at('e')],
            [(1, 1), (2, 1), (2, 2), (3, 1), (4, 1)]
        );
        assert_eq!(Position::of("äöx", 4), Position { line: 1, column: 3 });
        assert_eq!(Position::of("", 9), Position { line: 1, column: 1 });
    }
}
