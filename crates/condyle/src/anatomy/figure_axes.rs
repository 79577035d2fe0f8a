//! The axes of a figure: which way is up in its world, and the anatomical frames of its joints.

use std::fmt;

use super::floor;
use super::upright::{self, stands_along};
use super::{
    Anatomy, BodyJoint, BodySide, FramesFrom, NameLacked, NameTable, NamesFrom, Up, UpFrom,
    WorldAxis,
};
use crate::motion::{Clip, Pose};
use crate::skeleton::Skeleton;

/// The axes of a figure in motion: which way is up in its world, and what its joints are of the body, with
/// their anatomical frames.
///
/// Every command that needs to know which way is up, where a figure faces, or what its left arm is asks
/// here, so that all agree.
///
/// ```
/// use condyle::anatomy::{FigureAxes, WorldAxis};
/// use condyle::synth::{Figure, Options, Synth};
///
/// let made = Synth::generate(&Figure::human(), &Options::default(), 1)?;
/// let axes = FigureAxes::of(&made.skeleton, &[&made.clip]);
/// assert_eq!(axes.up().axis, WorldAxis::Y);
/// assert!(axes.anatomy().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FigureAxes {
    up: Up,
    anatomy: Option<Anatomy>,
    /// Names of a table that was given, which no joint has.
    lacked: Vec<NameLacked>,
    /// Main joints of the body that are recognised on the other side only, and the joint there.
    one_sided: Vec<((BodyJoint, BodySide), String)>,
}

/// What is known of a figure beside its motion. The default is nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct AxesOptions<'a> {
    /// The axis that is up.
    pub up: Option<WorldAxis>,
    /// Tables of names, before ours: the one that fits is used.
    pub names: &'a [NameTable],
}

impl FigureAxes {
    /// By motion: clips of this skeleton. Without any, by the rest pose.
    #[must_use]
    pub fn of(skeleton: &Skeleton, clips: &[&Clip]) -> Self {
        Self::with(skeleton, clips, &AxesOptions::default())
    }

    /// The same where some of it is known. Clips with another number of joints do not count.
    #[must_use]
    pub fn with(skeleton: &Skeleton, clips: &[&Clip], options: &AxesOptions<'_>) -> Self {
        let fits = |clip: &&&Clip| clip.tracks().len() == skeleton.len();
        let clips: Vec<&Clip> = clips.iter().filter(fits).copied().collect();
        let anatomy = Anatomy::in_motion(skeleton, &clips, options.names);
        let Some(known) = &anatomy else {
            let seen = || floor::up_by_floor(skeleton, &clips);
            let up = options.up.is_none().then(seen).flatten();
            let up = up.unwrap_or(Up::without_motion(options.up, None));
            return Self { up, anatomy, lacked: Vec::new(), one_sided: Vec::new() };
        };
        let world = Pose::rest(skeleton).world(skeleton);
        let rest = stands_along(skeleton, &world, &known.names);
        let up = match options.up {
            Some(told) => Up::without_motion(Some(told), rest),
            None => upright::up(skeleton, &clips, &known.names, rest),
        };
        let up = match known.told_up.filter(|_| up.from == UpFrom::Assumed) {
            Some(axis) => Up { axis, from: UpFrom::Table, ..up },
            None => up,
        };
        let lacked = known.lacked.clone();
        let one_sided = known.one_sided();
        let one_sided = one_sided.map(|(lost, other)| (lost, skeleton[other].name.clone()));
        let one_sided = one_sided.collect();
        Self { up, anatomy, lacked, one_sided }
    }

    /// Which way is up.
    #[must_use]
    pub const fn up(&self) -> Up {
        self.up
    }

    /// What the joints are. `None` if neither a table nor the words in their names tell.
    #[must_use]
    pub const fn anatomy(&self) -> Option<&Anatomy> {
        self.anatomy.as_ref()
    }

    /// What a user should know about how they were found; nothing if the rest pose stands, the motion agrees,
    /// and a table has the names.
    #[must_use]
    pub fn findings(&self) -> Vec<AxesFinding> {
        let mut found = Vec::new();
        let Up { axis, from, rest, doubt, .. } = self.up;
        match (from, rest, doubt) {
            (UpFrom::Motion, Some(rest), _) if rest != axis => {
                found.push(AxesFinding::UpAgainstRest { up: self.up, rest });
            }
            (UpFrom::Floor, ..) if axis != WorldAxis::Y => {
                found.push(AxesFinding::UpByFloor { up: self.up });
            }
            (_, _, Some(doubt)) => found.push(AxesFinding::UpInDoubt { up: self.up, doubt }),
            (UpFrom::Assumed, ..) => found.push(AxesFinding::UpAssumed { axis }),
            _ => {}
        }
        let Some(anatomy) = &self.anatomy else { return found };
        if !self.lacked.is_empty() {
            found.push(AxesFinding::NamesLacked { names: self.lacked.clone() });
        }
        if !self.one_sided.is_empty() {
            found.push(AxesFinding::OneSided { joints: self.one_sided.clone() });
        }
        if anatomy.names_from() == NamesFrom::Words {
            found.push(AxesFinding::NamesByWords);
        }
        match anatomy.frames_from() {
            FramesFrom::Motion { frame, .. } => found.push(AxesFinding::FramesFromMotion { frame }),
            FramesFrom::Nothing => found.push(AxesFinding::NoFrames),
            FramesFrom::Rest | FramesFrom::Pose => {}
        }
        found
    }

    /// A table of the names of the skeleton's joints, as a document to be edited and read by
    /// [`NameTable::read`]: what is not recognised is null. Which way is up is part of it if it is known, and so
    /// are the axes of joints where they are from motion, so that other files of the same skeleton need none.
    #[must_use]
    pub fn document(&self, skeleton: &Skeleton, title: &str) -> String {
        let up = Some(self.up.axis).filter(|_| self.up.from != UpFrom::Assumed);
        Anatomy::document(skeleton, self.anatomy.as_ref(), title, up)
    }

    /// The same, to keep.
    #[must_use]
    pub fn into_anatomy(self) -> Option<Anatomy> {
        self.anatomy
    }
}

/// Something to know about how the axes of a figure were found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AxesFinding {
    /// The motion shows another axis up than the rest pose.
    UpAgainstRest {
        /// What was taken.
        up: Up,
        /// The axis along which the figure stands at rest.
        rest: WorldAxis,
    },
    /// In the mean over the motion the body is along another axis than the one that was taken.
    UpInDoubt {
        /// What was taken.
        up: Up,
        /// The other axis.
        doubt: WorldAxis,
    },
    /// The names of the joints say nothing, and the floor below the figure tells that an unusual axis is up.
    UpByFloor {
        /// What was taken.
        up: Up,
    },
    /// Neither motion nor rest pose tell which way is up.
    UpAssumed {
        /// What was taken.
        axis: WorldAxis,
    },
    /// The table that was given has names that no joint of the skeleton has.
    NamesLacked {
        /// Those names.
        names: Vec<NameLacked>,
    },
    /// Main joints of the body are recognised on one side only.
    OneSided {
        /// Those that no joint is, each with the name of the joint that is its counterpart.
        joints: Vec<((BodyJoint, BodySide), String)>,
    },
    /// No table has the names of the joints, and they were read by their words.
    NamesByWords,
    /// The rest pose is none of standing, and the axes of joints are from the motion.
    FramesFromMotion {
        /// The frame that is nearest to standing.
        frame: usize,
    },
    /// Neither rest pose nor motion stand, so that the axes of joints are not known.
    NoFrames,
}

impl AxesFinding {
    /// A stable name for scripts.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UpAgainstRest { .. } => "up-against-rest",
            Self::UpInDoubt { .. } => "up-in-doubt",
            Self::UpByFloor { .. } => "up-by-floor",
            Self::UpAssumed { .. } => "up-assumed",
            Self::NamesLacked { .. } => "names-lacked",
            Self::OneSided { .. } => "one-sided",
            Self::NamesByWords => "names-by-words",
            Self::FramesFromMotion { .. } => "axes-from-motion",
            Self::NoFrames => "no-axes",
        }
    }

    /// Whether the result may be wrong because of it.
    #[must_use]
    pub const fn is_warning(&self) -> bool {
        matches!(
            self,
            Self::UpAgainstRest { .. }
                | Self::UpInDoubt { .. }
                | Self::UpByFloor { .. }
                | Self::UpAssumed { .. }
                | Self::NamesLacked { .. }
                | Self::OneSided { .. }
                | Self::NoFrames
        )
    }
}

impl fmt::Display for AxesFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UpAgainstRest { up, rest } => write!(
                f,
                "up is {}: {}, although the figure stands along {rest} at rest",
                up.axis,
                up.reason()
            ),
            Self::UpInDoubt { up, doubt } => write!(
                f,
                "up is taken to be {}: {}; but in the mean over the motion the body is along {doubt}, as \
                 that of somebody who lies or swims, unless {doubt} is up",
                up.axis,
                up.reason()
            ),
            Self::UpByFloor { up } => write!(f, "up is {}: {}", up.axis, up.reason()),
            Self::UpAssumed { axis } => {
                write!(f, "neither the motion nor the rest pose tell which way is up: {axis} is taken")
            }
            Self::NamesLacked { names } => {
                let (verb, s) = if names.len() == 1 { ("is", "") } else { ("are", "s") };
                let told = listed(names, |NameLacked { name, near }| match near {
                    Some(near) => format!("{name:?} (near is {near:?})"),
                    None => format!("{name:?}"),
                });
                write!(f, "{told} {verb} in the table of names, and no joint{s} of the skeleton")
            }
            Self::OneSided { joints } => {
                let told = listed(joints, |((what, side), other)| {
                    let (what, other_side) = (what.as_str(), side.other().as_str());
                    format!("the {} {what} (the {other_side} one is {other:?})", side.as_str())
                });
                write!(
                    f,
                    "no joint is recognised as {told}: motion that is mirrored or brought onto another figure \
                     is wrong there"
                )
            }
            Self::NamesByWords => f.write_str(
                "no table has the names of these joints; they are recognised by the words in their names",
            ),
            Self::FramesFromMotion { frame } => write!(
                f,
                "the figure does not stand at rest, so the axes of its joints are taken from the motion, where \
                 it is nearest to standing (frame {frame})"
            ),
            Self::NoFrames => f.write_str(
                "the figure stands neither at rest nor in the motion, so the axes of its joints are not known",
            ),
        }
    }
}

/// The first few of a list, in words.
fn listed<T>(all: &[T], told: impl Fn(&T) -> String) -> String {
    const SHOWN: usize = 4;
    let mut words: Vec<String> = all.iter().take(SHOWN).map(told).collect();
    let last = match all.len().saturating_sub(SHOWN) {
        0 => words.pop().unwrap_or_default(),
        more => format!("{more} more"),
    };
    if words.is_empty() { last } else { format!("{} and {last}", words.join(", ")) }
}
