//! What can go wrong with a file: what, where, why, and what to do.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use super::Foreign;

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Position {
    /// Text formats: one-based line and column (in characters).
    Text {
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
    },
    /// Binary formats: byte offset from the start of the file.
    Byte(u64),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { line, column } => write!(f, "{line}:{column}"),
            Self::Byte(offset) => write!(f, "@{offset}"),
        }
    }
}

/// The line of text an error points at, for drawing a caret under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The line, or the part of a long line around the place; tabs are blanks.
    pub line: String,
    /// How many characters stand before the place.
    pub caret: usize,
}

/// A failure to read a file.
///
/// Match on [`kind`](Self::kind) to handle it; print it to report it:
///
/// ```text
/// walk.bvh:241:1: frame 118 has 57 values, but the hierarchy declares 60 channels
///   help: re-export the clip, or read it with --lenient to stop at the last whole frame
/// ```
#[derive(Clone, Debug)]
pub struct ReadError {
    // Boxed: results are returned all over the readers, and an error is rare.
    inner: Box<Inner>,
}

#[derive(Clone, Debug)]
struct Inner {
    kind: ReadErrorKind,
    path: Option<PathBuf>,
    at: Option<Position>,
    excerpt: Option<Excerpt>,
    /// A skeleton that lies beside a motion without one.
    beside: Option<PathBuf>,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The file could not be opened or read.
    Io {
        /// What the system said.
        message: String,
    },
    /// There is no room for the file in memory or, where it is mapped, among the addresses.
    NoMemory {
        /// What the system said.
        message: String,
    },
    /// There are more bytes than are read into memory.
    TooLarge {
        /// The most that are, see [`MAX_IN_MEMORY`](crate::formats::MAX_IN_MEMORY).
        most: u64,
    },
    /// There are more numbers than are kept in memory, see [`MAX_NUMBERS`](crate::formats::MAX_NUMBERS).
    TooManyNumbers,
    /// There is nothing in the file.
    Empty,
    /// The bytes are of no format we know.
    UnknownFormat,
    /// The file is UTF-16 text.
    Utf16,
    /// A format that is known and not read yet.
    Foreign {
        /// Which.
        format: Foreign,
    },
    /// The path leads to a folder.
    Folder,
    /// Something else stands where a certain word, name or number has to be.
    Expected {
        /// What has to be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// Text that is not a number where one has to be.
    BadNumber {
        /// The text.
        text: String,
    },
    /// A number that is infinite, not a number, or too large for any motion.
    NotFinite {
        /// The text.
        text: String,
    },
    /// A value is out of its range.
    BadValue {
        /// What it is, and what is wrong with it.
        what: String,
    },
    /// A row of motion has the wrong number of values.
    RowLength {
        /// The frame, from 0.
        frame: u64,
        /// How many values it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A bone's line has the wrong number of values (AMC).
    BoneLength {
        /// The bone.
        bone: String,
        /// The frame, from 0.
        frame: u64,
        /// How many values it has.
        found: usize,
        /// How many degrees of freedom the skeleton declares.
        expected: usize,
    },
    /// A count that cannot be true, since the file is too short for it.
    Declared {
        /// Of what: frames, channels, markers.
        what: &'static str,
        /// What the file says.
        declared: u64,
        /// How many there could be at most in the bytes that are left.
        possible: u64,
    },
    /// More of something than we take.
    TooMany {
        /// Of what.
        what: &'static str,
        /// The most we take.
        limit: u64,
    },
    /// The file ends too early.
    Truncated {
        /// What was being read.
        within: String,
    },
    /// A section or field is missing.
    Missing {
        /// Which.
        what: String,
    },
    /// Two things share a name that has to be unique.
    Duplicate {
        /// What they are and the name.
        what: String,
        /// Where the first one is.
        first: Option<Position>,
    },
    /// A name that the skeleton does not have.
    UnknownJoint {
        /// The name.
        name: String,
    },
    /// The hierarchy is not a tree.
    Hierarchy {
        /// What is wrong with it.
        what: String,
    },
    /// Motion without the skeleton it belongs to (AMC without ASF).
    MissingSkeleton,
    /// Motion that none of several skeletons fits by its name.
    NoSkeletonFits {
        /// How many skeletons there are.
        skeletons: usize,
    },
    /// Motion that two skeletons fit alike by their names.
    TwoSkeletonsFit {
        /// The two.
        skeletons: [PathBuf; 2],
    },
    /// Motion whose skeleton could not be read.
    BrokenSkeleton,
    /// A repair that `strict` does not allow.
    Strict {
        /// What would have been repaired.
        warning: WarningKind,
    },
}

impl ReadError {
    pub(crate) fn new(kind: ReadErrorKind) -> Self {
        Self { inner: Box::new(Inner { kind, path: None, at: None, excerpt: None, beside: None }) }
    }

    pub(crate) fn at(mut self, position: Position, excerpt: Option<Excerpt>) -> Self {
        self.inner.at = Some(position);
        self.inner.excerpt = excerpt;
        self
    }

    /// The same error with the path of the file it is about.
    #[must_use]
    pub fn with_path(mut self, path: &Path) -> Self {
        self.inner.path = Some(path.to_owned());
        self
    }

    /// What went wrong, for matching.
    #[must_use]
    pub fn kind(&self) -> &ReadErrorKind {
        &self.inner.kind
    }

    /// The file, where known.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.inner.path.as_deref()
    }

    /// Where in the file, where known.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.inner.at
    }

    /// The line it points at, for text formats.
    #[must_use]
    pub fn excerpt(&self) -> Option<&Excerpt> {
        self.inner.excerpt.as_ref()
    }

    /// One sentence on how to get past it.
    #[must_use]
    pub fn help(&self) -> Cow<'static, str> {
        match (&self.inner.beside, &self.inner.path) {
            (Some(asf), Some(amc)) => {
                format!("name its ASF before it: {} {}", asf.display(), amc.display()).into()
            }
            _ => self.inner.kind.help().into(),
        }
    }

    /// The same error with the skeleton that may be meant.
    pub(super) fn with_beside(mut self, skeleton: Option<PathBuf>) -> Self {
        self.inner.beside = skeleton;
        self
    }
}

impl ReadErrorKind {
    fn help(&self) -> &'static str {
        match self {
            Self::Io { .. } => "check the path, and that it is a file you may read",
            Self::NoMemory { .. } => {
                "let the program have more memory (ulimit -v), or cut the file in pieces"
            }
            Self::TooLarge { .. } => {
                "--mmap reads larger files, if no program changes them meanwhile; or cut it in pieces"
            }
            Self::TooManyNumbers => {
                "cut it in pieces; or read it with --mmap, which takes memory for all of them, if there is enough"
            }
            Self::Empty => "the export or download went wrong: get the file again",
            Self::UnknownFormat => {
                "readable are ASF, AMC, BVH and TRC; the content decides, then the extension"
            }
            Self::Utf16 => "save it as UTF-8 or plain ASCII text",
            Self::Foreign { format } => format.help(),
            Self::Folder => {
                "name the files in it; condyle corpus FOLDER -o RIG.json estimates from whole folders"
            }
            Self::NoSkeletonFits { .. } => {
                "the name of an AMC has to begin with that of its ASF (03.asf for 03_01.amc), or its ASF \
                 has to stand alone right before it"
            }
            Self::TwoSkeletonsFit { .. } => {
                "give one of the two only, or the right one alone right before the AMC"
            }
            Self::Expected { .. } => {
                "the file breaks its format's rules here: correct the line, or re-export the file"
            }
            Self::BadNumber { text } if text.contains(',') => {
                "decimal commas are not read: export with a decimal point"
            }
            Self::BadNumber { .. } | Self::BadValue { .. } => {
                "correct the value, or re-export the file"
            }
            Self::NotFinite { .. } => "every value has to be a finite number: re-export the clip",
            Self::RowLength { .. } | Self::BoneLength { .. } => {
                "re-export the clip, or read it with --lenient to stop at the last whole frame"
            }
            Self::Declared { .. } => {
                "the file was cut off or its header is wrong; --lenient reads the frames that are there"
            }
            Self::TooMany { .. } => "no real figure has as many: the file is broken",
            Self::Truncated { .. } => {
                "the file was cut off: get it again, or read it with --lenient to keep the whole \
                 frames, if it has any"
            }
            Self::Missing { .. } => "the file is incomplete: get it again or re-export it",
            Self::Duplicate { .. } => "remove or rename one of the two",
            Self::UnknownJoint { .. } => {
                "names have to match the skeleton: for AMC, give the ASF it was recorded with"
            }
            Self::Hierarchy { .. } => {
                "every bone needs one way up to the root: correct the hierarchy"
            }
            Self::MissingSkeleton => "name its ASF before it: SKELETON.asf MOTION.amc",
            Self::BrokenSkeleton => "see the error of its ASF",
            Self::Strict { .. } => "read it without --strict to accept the repair",
        }
    }
}

impl fmt::Display for ReadErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { message } | Self::NoMemory { message } => {
                write!(f, "cannot be read: {message}")
            }
            Self::TooLarge { most } => {
                write!(
                    f,
                    "the file has more than {} MiB, the most that is read into memory",
                    most >> 20
                )
            }
            Self::TooManyNumbers => write!(
                f,
                "the file has more than {} million numbers, the most that are kept in memory",
                super::MAX_NUMBERS / 1_000_000
            ),
            Self::Empty => f.write_str("the file is empty"),
            Self::UnknownFormat => f.write_str("this is no motion file we know"),
            Self::Utf16 => f.write_str("the text is UTF-16"),
            Self::Foreign { format } => {
                write!(f, "this is {}, which is not read yet", format.name())
            }
            Self::Folder => f.write_str("this is a folder"),
            Self::NoSkeletonFits { skeletons } => {
                write!(
                    f,
                    "AMC motion needs its skeleton: none of the {skeletons} ASFs fits its name"
                )
            }
            Self::TwoSkeletonsFit { skeletons: [a, b] } => write!(
                f,
                "AMC motion needs its skeleton: {} and {} fit its name alike",
                a.display(),
                b.display()
            ),
            Self::Expected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::BadNumber { text } => write!(f, "{text:?} is not a number"),
            Self::NotFinite { text } => write!(f, "the value {text:?} is not a finite number"),
            Self::BadValue { what } => f.write_str(what),
            Self::RowLength { frame, found, expected } => write!(
                f,
                "frame {frame} has {found} values, but the hierarchy declares {expected} channels"
            ),
            Self::BoneLength { bone, frame, found, expected } => write!(
                f,
                "bone {bone:?} has {found} values in frame {frame} (from 0), but the skeleton \
                 declares {expected} degrees of freedom"
            ),
            Self::Declared { what, declared, possible } => write!(
                f,
                "{declared} {what} are declared, but the rest of the file has room for at most \
                 {possible}"
            ),
            Self::TooMany { what, limit } => write!(f, "more than {limit} {what}"),
            Self::Truncated { within } => write!(f, "the file ends within {within}"),
            Self::Missing { what } => write!(f, "{what} is missing"),
            Self::Duplicate { what, first: Some(at) } => {
                write!(f, "{what} appears a second time (first at {at})")
            }
            Self::Duplicate { what, first: None } => write!(f, "{what} appears a second time"),
            Self::UnknownJoint { name } => write!(f, "the skeleton has no joint {name:?}"),
            Self::Hierarchy { what } => f.write_str(what),
            Self::MissingSkeleton => f.write_str("AMC motion needs the skeleton it belongs to"),
            Self::BrokenSkeleton => f.write_str("not read, since its skeleton could not be read"),
            Self::Strict { warning } => write!(f, "{warning}"),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        location(f, self.path(), self.position())?;
        write!(f, "{}\n  help: {}", self.inner.kind, self.help())
    }
}

impl std::error::Error for ReadError {}

fn location(f: &mut fmt::Formatter<'_>, path: Option<&Path>, at: Option<Position>) -> fmt::Result {
    match (path, at) {
        (Some(path), Some(at)) => write!(f, "{}:{at}: ", path.display()),
        (Some(path), None) => write!(f, "{}: ", path.display()),
        (None, Some(at)) => write!(f, "{at}: "),
        (None, None) => Ok(()),
    }
}

/// Something about a file that its user should know: a repair, or a notice.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// The file.
    pub path: Option<PathBuf>,
    /// Where in the file, where that makes sense.
    pub at: Option<Position>,
}

impl Warning {
    pub(crate) fn new(kind: WarningKind) -> Self {
        Self { kind, path: None, at: None }
    }

    pub(crate) fn at(kind: WarningKind, at: Position) -> Self {
        Self { kind, path: None, at: Some(at) }
    }

    /// Whether something in the file was repaired, which `strict` refuses. A notice is not a repair.
    #[must_use]
    pub fn is_repair(&self) -> bool {
        self.kind.is_repair()
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        location(f, self.path.as_deref(), self.at)?;
        write!(f, "{}", self.kind)
    }
}

/// What a warning is about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum WarningKind {
    /// The header promises another number of frames than there are rows; the rows count.
    FrameCount {
        /// What the header says.
        declared: u64,
        /// How many whole frames there are.
        found: u64,
    },
    /// `lenient` left out what comes after the last whole frame.
    Dropped {
        /// How many bytes of the file were left out.
        bytes: u64,
        /// Why: the error that the default would have given.
        why: String,
    },
    /// Rows of motion run over several lines; read as one stream of values.
    WrappedRows,
    /// A joint's name was used before; it was numbered.
    RenamedJoint {
        /// The name in the file.
        name: String,
        /// The name it got.
        renamed: String,
    },
    /// A joint has no name; it got one.
    UnnamedJoint {
        /// The name it got.
        renamed: String,
    },
    /// A count in the header differs from what follows it.
    Count {
        /// Of what.
        what: String,
        /// What the header says.
        declared: u64,
        /// How many there are.
        found: u64,
    },
    /// The position channels below the root were added to the OFFSETs instead of replacing them, since
    /// they are hardly anything beside them.
    PositionsAdded {
        /// How many joints below the root have position channels.
        joints: usize,
        /// How long positions are at most, as a share of the OFFSET: the median over the joints.
        share: f64,
    },
    /// The position channels below the root replaced the OFFSETs although they are much shorter.
    PositionsSmall {
        /// How many joints below the root have position channels.
        joints: usize,
        /// How long positions are at most, as a share of the OFFSET: the median over the joints.
        share: f64,
    },
    /// The position channels of some joints below the root say the opposite of what those of most do: these bones
    /// are next to nothing where positions replace OFFSETs, or much too long where they are added.
    PositionsContradict {
        /// The joints, by the names in the file.
        joints: Vec<String>,
        /// Whether positions were added.
        added: bool,
    },
    /// The frame time is missing, zero or nonsense; another was assumed.
    FrameTime {
        /// The text in the file.
        text: String,
        /// What was assumed, in seconds.
        assumed_s: f64,
    },
    /// The only skeleton given for a motion is by its name that of another subject.
    OtherSubject {
        /// The skeleton.
        skeleton: PathBuf,
    },
    /// There is a skeleton but no motion.
    NoMotion,
    /// The order of a bone's `dof` differs from that of its `axis`; the `dof` order is used for
    /// motion.
    OrderDiffers {
        /// The bone.
        bone: String,
    },
    /// A bone has another number of limits than degrees of freedom.
    LimitCount {
        /// The bone.
        bone: String,
        /// How many limits.
        found: usize,
        /// How many degrees of freedom.
        expected: usize,
    },
    /// A bone of the skeleton has no values in some frames; the values before were kept.
    MissingBone {
        /// The bone.
        bone: String,
        /// In how many frames.
        frames: u64,
    },
    /// Frame numbers do not count up by one; frames are taken in the order of the file.
    FrameNumbers {
        /// The number that was expected.
        expected: u64,
        /// The number in the file.
        found: u64,
    },
    /// The unit of angles is given twice, differently; the one in the motion is used for it.
    AngleUnits,
    /// Something else was repaired.
    Repaired {
        /// What was found and what was done.
        what: String,
    },
    /// A joint turns about the same axis twice.
    RepeatedAxis {
        /// The joint.
        joint: String,
    },
    /// An angle of more turns than anybody makes: not wrong as a number, but hardly meant.
    FarTurn {
        /// The first of these, in degrees.
        degrees: f64,
        /// How many more there are.
        more: u64,
    },
    /// A bone without children changes its length; its end site stays where it is.
    LengthOfLeaf {
        /// The bone.
        bone: String,
    },
    /// A unit was given for a file that declares one, which counts.
    UnitDeclared {
        /// The declared unit.
        unit: String,
    },
    /// A section or field that we do not know; it is kept.
    UnknownField {
        /// Its name.
        name: String,
    },
    /// The figure is no person's size: the unit of length is probably another.
    Size {
        /// Longest way along the bones from one end of the figure to another, in metres.
        longest_path_m: f64,
        /// The unit that was used.
        unit: String,
        /// The unit that would fit, if one does.
        suggestion: Option<&'static str>,
        /// Whether the file declares its unit: then no other can be given.
        declared: bool,
    },
    /// There are more warnings than are kept.
    More {
        /// How many more.
        count: u64,
        /// Whether there are repairs among them.
        repairs: bool,
    },
    /// Values that a file format cannot hold were left out when writing.
    NotWritten {
        /// What was left out and why.
        what: String,
    },
}

impl WarningKind {
    /// Whether something in the file was repaired, which `strict` refuses.
    #[must_use]
    pub fn is_repair(&self) -> bool {
        !matches!(
            self,
            Self::Size { .. }
                | Self::OrderDiffers { .. }
                | Self::UnknownField { .. }
                | Self::NoMotion
                | Self::OtherSubject { .. }
                | Self::NotWritten { .. }
                | Self::RepeatedAxis { .. }
                | Self::FarTurn { .. }
                | Self::PositionsSmall { .. }
                | Self::PositionsContradict { .. }
                | Self::UnitDeclared { .. }
                | Self::LengthOfLeaf { .. }
                | Self::More { repairs: false, .. }
        )
    }
}

/// A share to two significant digits.
fn rounded(share: f64) -> String {
    let text = format!("{share:.1e}");
    text.parse::<f64>().map_or(text, |short| short.to_string())
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FrameCount { declared, found } => {
                write!(f, "{declared} frames are declared, {found} are there and were read")
            }
            Self::Dropped { bytes, why } => {
                write!(f, "the last {bytes} bytes were left out: {why}")
            }
            Self::WrappedRows => {
                f.write_str("rows of motion run over several lines; read as one stream of values")
            }
            Self::RenamedJoint { name, renamed } => {
                write!(f, "a second {name:?} is called {renamed:?} here")
            }
            Self::UnnamedJoint { renamed } => {
                write!(f, "a joint without a name is called {renamed:?} here")
            }
            Self::Count { what, declared, found } => {
                write!(f, "{declared} {what} are declared, {found} are there and were read")
            }
            Self::PositionsAdded { joints, share } => {
                let share = rounded(*share);
                write!(
                    f,
                    "the position channels below the root stay near zero (at most {share} of the \
                     OFFSET, in the median over {joints} joints): in all of them they were added to \
                     the OFFSET instead of replacing it"
                )
            }
            Self::PositionsSmall { joints, share } => {
                let share = rounded(*share);
                write!(
                    f,
                    "the position channels below the root replace the OFFSETs, but are at most \
                     {share} of them in the median over {joints} joints: bones are that much shorter \
                     than the hierarchy says"
                )
            }
            Self::PositionsContradict { joints, added } => {
                const SHOWN: usize = 4;
                let shown: Vec<_> = joints.iter().take(SHOWN).map(|j| format!("{j:?}")).collect();
                let mut who = shown.join(", ");
                if joints.len() > SHOWN {
                    who += &format!(" and {} more", joints.len() - SHOWN);
                }
                let (they, do_they) = if *added {
                    (
                        "about as long as the OFFSET",
                        "are added to it as in the other joints: bones get longer",
                    )
                } else {
                    ("next to nothing", "replace it as in the other joints: bones collapse")
                };
                write!(
                    f,
                    "the position channels of {who} are {they}, unlike those of most joints, and {do_they}"
                )
            }
            Self::FrameTime { text, assumed_s } => {
                write!(f, "the frame time {text:?} makes no sense; {assumed_s} s were assumed")
            }
            Self::OtherSubject { skeleton } => write!(
                f,
                "its skeleton is {}, by its name that of another subject: bones may have other lengths",
                skeleton.display()
            ),
            Self::NoMotion => f.write_str("there is a skeleton but no motion"),
            Self::OrderDiffers { bone } => {
                write!(
                    f,
                    "the dof order of {bone:?} differs from its axis order; dof order is used"
                )
            }
            Self::LimitCount { bone, found, expected } => write!(
                f,
                "bone {bone:?} has {found} limits for {expected} degrees of freedom; those without \
                 one are unlimited"
            ),
            Self::MissingBone { bone, frames } => write!(
                f,
                "bone {bone:?} has no values in {frames} frames; the values before were kept"
            ),
            Self::FrameNumbers { expected, found } => write!(
                f,
                "frame number {found} where {expected} was due; frames are taken in the order of \
                 the file"
            ),
            Self::AngleUnits => f.write_str(
                "skeleton and motion give different units of angle; each is read in its own",
            ),
            Self::Repaired { what } => f.write_str(what),
            Self::RepeatedAxis { joint } => {
                write!(f, "joint {joint:?} turns about the same axis twice")
            }
            Self::FarTurn { degrees, more } => {
                write!(f, "an angle of {degrees:e} degrees is hardly meant")?;
                match more {
                    0 => f.write_str("; it is kept"),
                    1 => f.write_str(", and 1 more is like it; they are kept"),
                    more => write!(f, ", and {more} more are like it; they are kept"),
                }
            }
            Self::LengthOfLeaf { bone } => {
                write!(f, "bone {bone:?} changes its length, but its end site stays where it is")
            }
            Self::UnitDeclared { unit } => {
                write!(f, "the file declares its unit, {unit}: --source-units is not used for it")
            }
            Self::UnknownField { name } => write!(f, "unknown field {name:?} (kept)"),
            Self::Size { longest_path_m, unit, suggestion, declared } => {
                write!(
                    f,
                    "the figure measures {longest_path_m:.3} m along its bones, which is no \
                     person's size in {unit}"
                )?;
                match suggestion {
                    _ if *declared => f.write_str(
                        ", which the file declares; condyle transform --scale changes its size",
                    ),
                    Some(unit) => write!(f, "; --source-units {unit} would fit"),
                    None => f.write_str("; --source-units can set another unit"),
                }
            }
            Self::NotWritten { what } => f.write_str(what),
            Self::More { count, .. } => write!(f, "{count} more warnings"),
        }
    }
}

/// A failure to write a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum WriteError {
    /// The system refused.
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        message: String,
    },
    /// The extension stands for no format we write.
    UnknownFormat {
        /// The path as given.
        path: PathBuf,
    },
    /// The format cannot hold this.
    Unsupported {
        /// What and why.
        what: String,
    },
    /// The ASF that goes with an AMC would replace another that we did not write.
    WouldReplace {
        /// The ASF.
        path: PathBuf,
    },
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, message } => {
                write!(f, "{}: cannot be written: {message}", path.display())
            }
            Self::UnknownFormat { path } => write!(
                f,
                "{}: the extension stands for no format we write\n  help: use .bvh, .amc, .asf or \
                 .trc",
                path.display()
            ),
            Self::Unsupported { what } => f.write_str(what),
            Self::WouldReplace { path } => write!(
                f,
                "{}: the skeleton of the AMC would replace this other one\n  help: choose another \
                 name for the AMC, or replace it with --force",
                path.display()
            ),
        }
    }
}

impl std::error::Error for WriteError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_where_and_what_to_do() {
        let error =
            ReadError::new(ReadErrorKind::RowLength { frame: 118, found: 57, expected: 60 })
                .at(Position::Text { line: 241, column: 1 }, None)
                .with_path(Path::new("walk.bvh"));
        assert_eq!(
            error.to_string(),
            "walk.bvh:241:1: frame 118 has 57 values, but the hierarchy declares 60 channels\n  \
             help: re-export the clip, or read it with --lenient to stop at the last whole frame"
        );
    }

    #[test]
    fn notices_are_not_repairs() {
        assert!(!Warning::new(WarningKind::NoMotion).is_repair());
        assert!(Warning::new(WarningKind::WrappedRows).is_repair());
    }
}
