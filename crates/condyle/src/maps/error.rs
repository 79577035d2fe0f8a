//! What can be wrong with a joint map.

use std::fmt;

use super::curve::CurveError;
use super::slide::SlideError;
use super::turn::TurnError;
use crate::limits::LimitError;

/// Why a joint map cannot be used, and which part of it is to blame.
///
/// ```text
/// part "clavicle_follows": there is no dial or part "arm.elevatoin"
///   help: near are "arm.elevation"
/// ```
///
/// [`Rig::network`](crate::rig::Rig::network) tells the place in the document, too.
#[derive(Clone, Debug, PartialEq)]
pub struct MapError {
    place: Vec<MapStep>,
    kind: MapErrorKind,
}

/// A step into a map, as into the field `maps` of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapStep {
    /// A field, or the name of a dial, a part or a joint.
    Key(String),
    /// One of a list, from 0.
    Item(usize),
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MapErrorKind {
    /// A range that is empty, or does not hold rest, or is not finite.
    Range,
    /// Two dials, parts or outputs with one name.
    SameName {
        /// The name.
        name: String,
    },
    /// An input that is neither a dial nor a part.
    UnknownInput {
        /// What is asked for.
        input: String,
        /// Names that are nearly that.
        near: Vec<String>,
    },
    /// A joint that the skeleton does not have.
    UnknownJoint {
        /// The name.
        joint: String,
        /// Names that are nearly that.
        near: Vec<String>,
    },
    /// An input of another kind than what is needed.
    WrongKind {
        /// What is asked for.
        input: String,
        /// What it would have to be.
        wanted: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// Parts that wait for each other.
    Cycle {
        /// The parts, each waiting for the next, and the last one for the first.
        parts: Vec<String>,
    },
    /// A joint that two things move.
    TwoDrivers,
    /// A joint that is not above another.
    NotAbove {
        /// What should be above.
        above: String,
        /// The joint below.
        joint: String,
    },
    /// A part that is about one joint, and what it makes moves another.
    OtherJoint {
        /// The joint that the part is about.
        about: String,
        /// The joint that is moved.
        moves: String,
    },
    /// A part with nothing in it: no outputs, no bounds, no transforms, nothing to cancel.
    Empty,
    /// More derivatives than fit: as many as dials, for every part that depends on all of them; or as
    /// many joints that parts pass on their ways up.
    TooLarge,
    /// A direction of no length.
    NoDirection,
    /// A function that is none.
    Curve(CurveError),
    /// A turn that cannot be made.
    Turn(TurnError),
    /// A bone that cannot slide.
    Slide(SlideError),
    /// A limit that cannot be used.
    Limit(LimitError),
}

impl MapError {
    /// An error at a dial, a part or a joint: `dials`, `parts` or `joints`, and its name.
    pub(super) fn new(section: &str, name: &str, kind: MapErrorKind) -> Self {
        Self { place: [section, name].map(|key| MapStep::Key(key.to_owned())).to_vec(), kind }
    }

    /// The same, in a field, if one is named.
    #[must_use]
    pub(super) fn at(self, field: &str) -> Self {
        if field.is_empty() { self } else { self.key(field) }
    }

    /// The same, in what has a name of the user's, which may be empty.
    #[must_use]
    pub(super) fn key(mut self, name: &str) -> Self {
        self.place.push(MapStep::Key(name.to_owned()));
        self
    }

    /// The same, in one of a list.
    #[must_use]
    pub(super) fn item(mut self, item: Option<usize>) -> Self {
        self.place.extend(item.map(MapStep::Item));
        self
    }

    /// Where in the map: `parts`, the name of one, a field of it.
    #[must_use]
    pub fn place(&self) -> &[MapStep] {
        &self.place
    }

    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> &MapErrorKind {
        &self.kind
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        self.kind.help()
    }
}

impl MapErrorKind {
    pub(crate) fn help(&self) -> String {
        let help = match self {
            Self::UnknownInput { near, .. } | Self::UnknownJoint { near, .. }
                if !near.is_empty() =>
            {
                let near: Vec<String> = near.iter().map(|name| format!("{name:?}")).collect();
                return format!("near are {}", near.join(", "));
            }
            Self::Range => "give a lower end, an upper end above it, and rest between them",
            Self::SameName { .. } => "rename one of the two",
            Self::UnknownInput { .. } => "name a dial, a part, or an output as part.output",
            Self::UnknownJoint { .. } => "name a joint of the skeleton",
            Self::WrongKind { wanted: "a transform", .. } => {
                "a turn makes a transform of an angle, and a shift of a length"
            }
            Self::WrongKind { .. } => "a spread makes a number of another unit of it",
            Self::Cycle { .. } => "let one of them take something else",
            Self::TwoDrivers => "make one of the two, as a chain",
            Self::NotAbove { .. } => "name one of the joints between it and the root",
            Self::OtherJoint { about, moves } => {
                return format!(
                    "write {moves:?} here, or let another part move {moves:?}, and this one {about:?}"
                );
            }
            Self::Empty => "give it something to do, or leave it out",
            Self::TooLarge => {
                "no body needs as many: let fewer parts depend on all dials, or on far joints"
            }
            Self::NoDirection => "give a direction, of length one",
            Self::Curve(_) | Self::Turn(_) | Self::Slide(_) | Self::Limit(_) => {
                "correct the value; docs/rig.md says what each has to be"
            }
        };
        help.to_owned()
    }
}

impl fmt::Display for MapErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range => {
                f.write_str("the range has to be of finite numbers, not empty, with rest inside")
            }
            Self::SameName { name } => write!(f, "there are two dials or parts {name:?}"),
            Self::UnknownInput { input, .. } => write!(f, "there is no dial or part {input:?}"),
            Self::UnknownJoint { joint, .. } => write!(f, "the skeleton has no joint {joint:?}"),
            Self::WrongKind { input, wanted, found } => {
                write!(f, "{wanted} is needed, and {input:?} is {found}")
            }
            Self::Cycle { parts } => {
                write!(f, "parts wait for each other: ")?;
                for part in parts {
                    write!(f, "{part:?} for ")?;
                }
                write!(f, "{:?}", parts.first().map_or("", String::as_str))
            }
            Self::TwoDrivers => f.write_str("the joint is moved by two transforms"),
            Self::NotAbove { above, joint } => {
                write!(f, "{above:?} is not above {joint:?} in the skeleton")
            }
            Self::OtherJoint { about, moves } => {
                write!(f, "the part is for joint {about:?}, and what it makes moves {moves:?}")
            }
            Self::Empty => f.write_str("the part has nothing to do"),
            Self::TooLarge => {
                f.write_str("with it parts depend on more than a million dials or joints together")
            }
            Self::NoDirection => f.write_str("a direction is zero, or not finite"),
            Self::Curve(error) => error.fmt(f),
            Self::Turn(error) => error.fmt(f),
            Self::Slide(error) => error.fmt(f),
            Self::Limit(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [MapStep::Key(section), MapStep::Key(name), ..] = self.place.as_slice() {
            write!(f, "{} {name:?}: ", section.trim_end_matches('s'))?;
        }
        write!(f, "{}\n  help: {}", self.kind, self.help())
    }
}

impl std::error::Error for MapError {}
