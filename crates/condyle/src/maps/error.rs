//! What can be wrong with a joint map.

use std::fmt;

use super::curve::CurveError;
use super::slide::SlideError;
use super::turn::TurnError;
use crate::limits::LimitError;

/// Why a joint map cannot be used.
///
/// ```text
/// part "clavicle_follows": there is no dial or part "arm.elevatoin"
///   help: near are "arm.elevation"
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum MapError {
    /// A range that is empty, or does not hold rest, or is not finite.
    Range {
        /// Whose.
        dial: String,
    },
    /// Two dials, parts or outputs with one name.
    SameName {
        /// The name.
        name: String,
    },
    /// An input that is neither a dial nor a part.
    UnknownInput {
        /// Who asks for it; a joint if it is not a part.
        by: String,
        /// What is asked for.
        input: String,
        /// Names that are nearly that.
        near: Vec<String>,
    },
    /// A joint that the skeleton does not have.
    UnknownJoint {
        /// Who names it.
        by: String,
        /// The name.
        joint: String,
        /// Names that are nearly that.
        near: Vec<String>,
    },
    /// An input of another kind than what is needed.
    WrongKind {
        /// Who asks for it.
        by: String,
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
    TwoDrivers {
        /// The joint.
        joint: String,
    },
    /// A joint that is not above another.
    NotAbove {
        /// Who says so.
        part: String,
        /// What should be above.
        above: String,
        /// The joint below.
        joint: String,
    },
    /// A part with nothing in it: no outputs, no bounds, no transforms, nothing to cancel.
    Empty {
        /// Which.
        part: String,
    },
    /// More derivatives than fit: as many as dials, for every part that depends on all of them.
    TooLarge {
        /// The part that is too much.
        part: String,
    },
    /// A direction of no length.
    NoDirection {
        /// Whose.
        part: String,
    },
    /// A function that is none.
    Curve {
        /// Whose.
        part: String,
        /// What is wrong.
        error: CurveError,
    },
    /// A turn that cannot be made.
    Turn {
        /// Whose.
        part: String,
        /// What is wrong.
        error: TurnError,
    },
    /// A bone that cannot slide.
    Slide {
        /// Whose.
        part: String,
        /// What is wrong.
        error: SlideError,
    },
    /// A limit that cannot be used.
    Limit {
        /// Whose.
        part: String,
        /// What is wrong.
        error: LimitError,
    },
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range { dial } => write!(
                f,
                "dial {dial:?}: its range has to be of finite numbers, not empty, with rest inside"
            ),
            Self::SameName { name } => write!(f, "there are two dials or parts {name:?}"),
            Self::UnknownInput { by, input, near } => {
                write!(f, "{by:?}: there is no dial or part {input:?}")?;
                help(f, near)
            }
            Self::UnknownJoint { by, joint, near } => {
                write!(f, "{by:?}: the skeleton has no joint {joint:?}")?;
                help(f, near)
            }
            Self::WrongKind { by, input, wanted, found } => {
                write!(f, "{by:?} takes {wanted}, and {input:?} is {found}")
            }
            Self::Cycle { parts } => {
                write!(f, "parts wait for each other: ")?;
                for part in parts {
                    write!(f, "{part:?} for ")?;
                }
                write!(f, "{:?}", parts.first().map_or("", String::as_str))
            }
            Self::TwoDrivers { joint } => write!(f, "joint {joint:?} is moved by two transforms"),
            Self::NotAbove { part, above, joint } => {
                write!(f, "part {part:?}: {above:?} is not above {joint:?} in the skeleton")
            }
            Self::Empty { part } => write!(f, "part {part:?} has nothing to do"),
            Self::TooLarge { part } => {
                write!(
                    f,
                    "part {part:?}: with it parts depend on more than a million dials together"
                )
            }
            Self::NoDirection { part } => {
                write!(f, "part {part:?}: a direction is zero, or not finite")
            }
            Self::Curve { part, error } => write!(f, "part {part:?}: {error}"),
            Self::Turn { part, error } => write!(f, "part {part:?}: {error}"),
            Self::Slide { part, error } => write!(f, "part {part:?}: {error}"),
            Self::Limit { part, error } => write!(f, "part {part:?}: {error}"),
        }
    }
}

fn help(f: &mut fmt::Formatter<'_>, near: &[String]) -> fmt::Result {
    if near.is_empty() {
        return Ok(());
    }
    write!(f, "\n  help: near are ")?;
    for (i, name) in near.iter().enumerate() {
        write!(f, "{}{name:?}", if i > 0 { ", " } else { "" })?;
    }
    Ok(())
}

impl std::error::Error for MapError {}
