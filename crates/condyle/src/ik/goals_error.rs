//! What can be wrong with goals: what, where, why, and what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use super::goals::{NamedBy, Near};
use crate::rig::document::{location, nearly_same};
use crate::rig::{Position, RigErrorKind};

/// Why goals cannot be read, or do not fit a clip.
///
/// ```text
/// goals.json:3:18: goals[0].joint: the clip has no joint "LeftHnad"
///   help: near are "LeftHand"
/// ```
#[derive(Clone, Debug)]
pub struct GoalsError {
    // Boxed: an error is rare.
    inner: Box<Inner>,
}

#[derive(Clone, Debug)]
struct Inner {
    kind: GoalsErrorKind,
    path: String,
    position: Option<Position>,
    file: Option<PathBuf>,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GoalsErrorKind {
    /// The text is no JSON, or a value is not of the type or in the range that it should be.
    Document(RigErrorKind),
    /// More goals than can be solved together in a sensible time.
    TooMany {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
        /// What says which they are.
        named_by: NamedBy,
    },
    /// A field that means nothing here.
    UnknownField {
        /// Its name.
        name: String,
        /// Those that mean something.
        known: &'static [&'static str],
    },
    /// The clip has no such joint.
    UnknownJoint {
        /// Its name.
        name: String,
        /// Joints that it has.
        near: Near,
    },
    /// A goal that says what joint it is about, and not what that should do.
    NoAim {
        /// What it could say.
        known: &'static [&'static str],
    },
    /// A list does not have one entry for each frame of the clip.
    FrameCount {
        /// How many it has.
        found: usize,
        /// How many frames there are.
        expected: usize,
    },
    /// A range of frames that the clip does not have, or that ends before it begins.
    Frames {
        /// From, to.
        range: [u64; 2],
        /// How many frames there are.
        count: usize,
    },
    /// A range of frames begins before the one in front of it has ended.
    Overlap,
    /// The joint should meet itself.
    OwnJoint,
    /// The motion that goals are taken from has another number of frames.
    OtherCount {
        /// How many it has.
        found: usize,
        /// How many the clip has.
        expected: usize,
        /// How many the clip has per second, if that is another number too.
        fps: Option<f64>,
    },
    /// The motion that goals are taken from has no such joint or marker.
    NotInOther {
        /// Its name.
        name: String,
        /// What it has.
        near: Near,
    },
    /// No marker has the name of a joint.
    NoMarkers {
        /// Some of the markers.
        markers: Vec<String>,
        /// Some of the joints.
        joints: Vec<String>,
    },
}

impl GoalsError {
    pub(super) fn new(kind: GoalsErrorKind, path: String, position: Option<Position>) -> Self {
        Self { inner: Box::new(Inner { kind, path, position, file: None }) }
    }

    /// An error that is about no place in particular.
    pub(super) fn whole(kind: GoalsErrorKind) -> Self {
        Self::new(kind, String::new(), None)
    }

    /// The same error with the file it is about.
    #[must_use]
    pub fn with_file(mut self, file: &Path) -> Self {
        self.inner.file = Some(file.to_owned());
        self
    }

    /// What is wrong, for matching.
    #[must_use]
    pub fn kind(&self) -> &GoalsErrorKind {
        &self.inner.kind
    }

    /// Where inside the document: `goals[2].position_m[17]`; empty for the whole.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.inner.path
    }

    /// Where in the text, if there is one.
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
        self.inner.kind.help()
    }
}

impl GoalsErrorKind {
    fn help(&self) -> String {
        let quoted = |names: &[String]| {
            names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
        };
        let instead = |near: &Near| match (near.names.as_slice(), near.are_near) {
            ([], _) => "it has none at all".to_owned(),
            (names, true) => format!("near are {}", quoted(names)),
            (names, false) => format!("there are {} and others", quoted(names)),
        };
        match self {
            Self::Document(RigErrorKind::Missing { .. }) => {
                "add it; docs/ik.md has examples".to_owned()
            }
            Self::Document(RigErrorKind::TooLarge { .. } | RigErrorKind::TooManyValues { .. }) => {
                "split the clip, or take the goals from a motion file".to_owned()
            }
            Self::Document(RigErrorKind::TooDeep { .. }) => {
                "no goals are as deep: the file is broken, or no goals".to_owned()
            }
            Self::Document(kind) => kind.help(),
            Self::UnknownField { name, known } => {
                match known.iter().find(|k| nearly_same(name, k)) {
                    Some(meant) => format!("is {meant:?} meant?"),
                    None => format!("fields here are {}", known.join(", ")),
                }
            }
            Self::UnknownJoint { near, .. } | Self::NotInOther { near, .. } => instead(near),
            Self::TooMany { most, named_by: NamedBy::Document, .. } => format!(
                "keep the {most} that matter most (one with a position and an orientation is two); work \
                 grows with the cube of their number"
            ),
            Self::TooMany { .. } => {
                "say which joints matter: --joints LeftHand,RightHand; work grows with the cube of their \
                 number"
                    .to_owned()
            }
            Self::NoAim { known } => format!("give it one of {}", known.join(", ")),
            Self::FrameCount { .. } => {
                "give one entry for every frame of the clip, null where there is no goal".to_owned()
            }
            Self::Frames { .. } => {
                "a range is [first, last], frames count from 0 and both are in it".to_owned()
            }
            Self::Overlap => "give the ranges in order, or make one of both".to_owned(),
            Self::OwnJoint => "name another joint".to_owned(),
            Self::OtherCount { fps: Some(fps), .. } => format!(
                "they have another rate: condyle resample GOALS --fps {fps} -o OUT makes it the same"
            ),
            Self::OtherCount { found: 0, .. } => "name a motion that has frames".to_owned(),
            Self::OtherCount { found, expected, .. } if found < expected => format!(
                "leave these frames out: condyle trim CLIP --frames 0..{} -o OUT",
                found - 1
            ),
            Self::OtherCount { expected, .. } => format!(
                "cut the goals to the frames of the clip: condyle trim GOALS --frames 0..{} -o OUT, or \
                 markers where they are made",
                expected.saturating_sub(1)
            ),
            Self::NoMarkers { markers, joints } if !markers.is_empty() => {
                let (markers, joints) = (quoted(markers), quoted(joints));
                format!(
                    "markers have to be called like the joints they are the centres of; there are \
                     markers {markers} and joints {joints}"
                )
            }
            Self::NoMarkers { .. } => "there are none at all".to_owned(),
        }
    }
}

impl fmt::Display for GoalsErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document(kind) => kind.fmt(f),
            Self::UnknownField { name, .. } => write!(f, "unknown field {name:?}"),
            Self::UnknownJoint { name, .. } => write!(f, "the clip has no joint {name:?}"),
            Self::TooMany { found, most, .. } => {
                write!(f, "there are {found} goals, and there may be {most}")
            }
            Self::NoAim { .. } => f.write_str("the goal does not say what the joint should do"),
            Self::FrameCount { found, expected } => {
                write!(f, "{found} entries for the {expected} frames of the clip")
            }
            Self::Frames { range: [first, last], .. } if first > last => {
                write!(f, "the range from frame {first} to {last} ends before it begins")
            }
            Self::Frames { range: [first, last], count } => {
                write!(
                    f,
                    "the range from frame {first} to {last} is not in the {count} frames of "
                )?;
                f.write_str("the clip")
            }
            Self::Overlap => {
                f.write_str("the range begins before the one in front of it has ended")
            }
            Self::OwnJoint => f.write_str("a joint cannot meet itself"),
            Self::OtherCount { found, expected, .. } => {
                write!(f, "{found} frames of goals for a clip of {expected}: ")?;
                let (from, to) = (found.min(expected), found.max(expected).saturating_sub(1));
                if found < expected {
                    write!(f, "frames {from} to {to} have none")
                } else {
                    write!(f, "frames {from} to {to} of them have no frame there")
                }
            }
            Self::NotInOther { name, .. } => write!(f, "the goals have no {name:?}"),
            Self::NoMarkers { .. } => f.write_str("no marker has the name of a joint of the clip"),
        }
    }
}

impl fmt::Display for GoalsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        location(f, self.file(), self.position(), self.path())?;
        write!(f, "{}\n  help: {}", self.inner.kind, self.help())
    }
}

impl std::error::Error for GoalsError {}
