//! How the joints of a figure move, and how far, from motion.
//!
//! [`estimate`] looks at every joint of one or more clips of a skeleton and says whether it is fixed, a
//! hinge, a universal joint or a ball, how sure that is and why, and which limits hold what was seen.
//! The method is described in `docs/estimate.md`.
//!
//! ```
//! use condyle::estimate::{EstimateOptions, Take, estimate};
//! use condyle::rig::JointKind;
//! use condyle::synth::{Figure, Options, Synth};
//!
//! let synth = Synth::generate(&Figure::human(), &Options::default(), 1)?;
//! let take = Take { skeleton: &synth.skeleton, clip: &synth.clip };
//! let found = estimate(&[take], &EstimateOptions::default())?;
//! let elbow = found.joints.get("LeftForeArm").ok_or("no elbow")?;
//! assert_eq!(elbow.kind, JointKind::Hinge);
//! assert!(elbow.confidence > Some(0.9));
//! let document = found.into_rig().write()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arcs;
mod ball;
mod bind;
mod bind_pose;
mod boundary;
mod cst;
mod directions;
mod ellipse;
mod ends;
mod excess;
mod from_summary;
mod glitches;
mod grid;
mod hinge;
mod isolated;
mod jitter;
mod joint;
mod kinds;
mod models;
mod moments;
mod neighbours;
mod noise;
mod occupancy;
mod options;
mod pairs;
mod paper;
mod quiet;
mod samples;
mod summary;
#[cfg(test)]
mod tests;
mod trace;
mod twist;
mod universal;
mod visits;

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

pub use bind::Repair;
pub use bind_pose::{BindPose, estimate_about};
pub use cst::{MAX_SUMMARY_BYTES, SummaryError, SummaryErrorKind};
pub use from_summary::estimate_summary;
pub use options::{BallModel, EstimateOptions, Method, Noise, Outliers};
pub use pairs::{Pair, estimate_paired};
pub use paper::{PaperOptions, Space, Threshold};
pub use summary::{MergeError, Summary};

use crate::hash::ContentHash;
use crate::math::{Angle, Rotations};
use crate::motion::Clip;
use crate::rig::{Rig, RigJoints};
use crate::skeleton::{JointIndex, RestBone, RestsDiffer, Skeleton};
use crate::threads;
use joint::{Seen, TakeOf};
use pairs::Sources;

/// A clip and the skeleton that it moves.
#[derive(Clone, Copy, Debug)]
pub struct Take<'a> {
    /// Who moves.
    pub skeleton: &'a Skeleton,
    /// How.
    pub clip: &'a Clip,
}

/// What was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Estimate {
    /// That of the first take.
    pub skeleton: Skeleton,
    /// One entry for every joint.
    pub joints: RigJoints,
    /// The noise that the kinds were told with, one standard deviation about each axis.
    pub noise: Angle,
    /// Frames of all takes.
    pub frames: u64,
    /// What to know about the takes together. What concerns a joint is in its notes.
    pub warnings: Vec<String>,
}

impl Estimate {
    /// As a document, which knows by [`estimate_hash`](crate::rig::RigJoint::estimate_hash) what was
    /// estimated.
    #[must_use]
    pub fn into_rig(mut self) -> Rig {
        for (_, joint) in self.joints.iter_mut() {
            joint.estimate_hash = joint.content_hash();
        }
        Rig::new(self.skeleton, self.joints)
    }
}

/// Why nothing can be estimated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EstimateError {
    /// No takes, or takes without frames.
    NoMotion,
    /// One frame is a pose, no motion.
    OneFrame,
    /// A joint hangs on another parent than in the first take.
    Contradiction {
        /// Which take, from 0.
        take: usize,
        /// Which joint.
        joint: String,
        /// Its parent there, if it has one.
        found: Option<String>,
        /// Its parent in the first take.
        expected: Option<String>,
    },
    /// A share that is none.
    Coverage,
    /// What was asked for needs the samples, and there is only a summary of them.
    NeedsSamples {
        /// What that is.
        what: &'static str,
    },
}

impl fmt::Display for EstimateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent = |p: &Option<String>| match p {
            Some(name) => format!("{name:?}"),
            None => "nothing".to_owned(),
        };
        match self {
            Self::NoMotion => f.write_str("there are no frames to estimate from"),
            Self::OneFrame => f.write_str(
                "there is one frame only: a pose does not show how joints move; give clips with motion",
            ),
            Self::Contradiction { joint, found, expected, .. } => write!(
                f,
                "the skeletons contradict each other: {joint:?} hangs on {} here and on {} in the first \
                 file; estimate them one by one",
                parent(found),
                parent(expected)
            ),
            Self::NeedsSamples { what } => {
                write!(f, "{what} needs the samples themselves, which a summary does not have")
            }
            Self::Coverage => f.write_str("the coverage has to be above 0 and at most 1"),
        }
    }
}

impl std::error::Error for EstimateError {}

/// Kinds and limits of all joints, from all takes together.
///
/// Joints are matched by name; those of the first take are estimated. Glitches are left out and noise
/// is taken off in each take by itself. The result is the same for any order of takes of one skeleton,
/// and for any number of threads.
///
/// # Errors
///
/// If there is no motion, if skeletons hang together differently, or if an option is not where it
/// should be.
pub fn estimate(takes: &[Take<'_>], options: &EstimateOptions) -> Result<Estimate, EstimateError> {
    from_sources(takes, &[], options)
}

/// [`estimate`], with motion of some joints that also counts for others.
fn from_sources(
    takes: &[Take<'_>],
    pairs: &[Pair<'_>],
    options: &EstimateOptions,
) -> Result<Estimate, EstimateError> {
    if !(options.coverage > 0.0 && options.coverage <= 1.0) {
        return Err(EstimateError::Coverage);
    }
    let frames: u64 = takes.iter().map(|t| t.clip.frame_count() as u64).sum();
    let first = takes.first().ok_or(EstimateError::NoMotion)?;
    match frames {
        0 => return Err(EstimateError::NoMotion),
        1 => return Err(EstimateError::OneFrame),
        _ => {}
    }
    let skeleton = first.skeleton;
    let mut warnings = Vec::new();
    let matches = match_takes(skeleton, takes, &mut warnings)?;
    warn_of_copies(takes, &mut warnings);
    let sources = Sources { skeleton, takes, matches, pairs };
    let joints: Vec<JointIndex> = skeleton.indices().collect();
    let names = skeleton.joints().iter().map(|j| j.name.as_str());
    if options.method == Method::Paper {
        let entries = threads::each(&joints, options.threads, |&joint| {
            if skeleton.parent(joint).is_none() {
                return joint::root();
            }
            let mine = sources.of(joint);
            let mut series: Vec<Cow<'_, Rotations>> =
                mine.iter().map(|source| source.series(0)).collect();
            // Where a joint rests its one rotation stands for every frame; a few will do if it never
            // moves.
            let rests = series.iter().all(|s| s.len() == 1);
            for (series, source) in series.iter_mut().zip(&mine) {
                let frames = source.take.clip.frame_count();
                if series.len() == 1 && frames > 1 {
                    let times = if rests { frames.min(paper::FEW) } else { frames };
                    *series = Cow::Owned(Rotations::repeat(series.at(0), times));
                }
            }
            let frames = mine.iter().map(|source| source.take.clip.frame_count() as u64).sum();
            let mut entry = joint::paper_entry(skeleton, joint, &series, frames, options);
            entry.notes.extend(sources.note(joint));
            entry
        });
        return Ok(Estimate {
            skeleton: skeleton.clone(),
            joints: names.zip(entries).collect(),
            noise: Angle::ZERO,
            frames,
            warnings,
        });
    }
    let starts: Vec<usize> = takes.iter().map(|take| first_frame(take.clip, options)).collect();
    for (number, from) in starts.iter().enumerate().filter(|(_, from)| **from > 0) {
        let front = match from {
            1 => "frame 0 is a pose".to_owned(),
            _ => format!("frames 0 to {} are a pose", from - 1),
        };
        warnings.push(format!("take {}: {front} in front of the motion, and left out", number + 1));
    }
    let seen = threads::each(&joints, options.threads, |&joint| {
        skeleton.parent(joint)?;
        Some(look(&sources, &starts, joint, options))
    });
    let evidence = || seen.iter().flatten().filter_map(|s| s.evidence.as_ref());
    let noise = match options.noise {
        Noise::Given(noise) => noise.radians().max(0.0),
        Noise::Auto => kinds::figure_noise(evidence()),
    };
    if options.noise == Noise::Auto && noise >= kinds::MOST_NOISE {
        warnings.push(
            "the noise cannot be told from the motion, and is taken to be 3°: kinds may be wrong; give \
             --noise, or clips with hinges in them"
                .to_owned(),
        );
    }
    // Asked for only where frames are left out.
    let hashes: Vec<OnceLock<ContentHash>> = takes.iter().map(|_| OnceLock::new()).collect();
    let work: Vec<(JointIndex, &Option<Seen>)> = joints.iter().copied().zip(&seen).collect();
    let entries = threads::each(&work, options.threads, |(joint, seen)| match seen {
        Some(seen) => {
            let mine = sources.of(*joint);
            let course = |clip: usize| {
                let source = mine.get(clip)?;
                Some(source.series(*starts.get(source.number)?))
            };
            let take = |clip: usize| {
                let source = mine.get(clip).filter(|source| source.is_own())?;
                let hash = hashes.get(source.number)?;
                Some(TakeOf {
                    hash: *hash.get_or_init(|| source.take.clip.content_hash()),
                    start: *starts.get(source.number)?,
                    frames: source.take.clip.frame_count(),
                })
            };
            let mut entry = joint::entry(skeleton, *joint, seen, noise, options, course, take);
            entry.notes.extend(sources.note(*joint));
            entry
        }
        None => joint::root(),
    });
    Ok(Estimate {
        skeleton: skeleton.clone(),
        joints: names.zip(entries).collect(),
        noise: Angle::from_radians(noise),
        frames,
        warnings,
    })
}

/// The first frame that counts: a pose in front of the motion is left out, unless all frames are to be
/// kept.
fn first_frame(clip: &Clip, options: &EstimateOptions) -> usize {
    if options.outliers == Outliers::Reject { clip.motion_start() } else { 0 }
}

/// Everything the takes show of one joint.
fn look(
    sources: &Sources<'_>,
    starts: &[usize],
    joint: JointIndex,
    options: &EstimateOptions,
) -> Seen {
    let reject = options.outliers == Outliers::Reject;
    let mine = sources.of(joint);
    let translation_moves = mine
        .iter()
        .any(|source| source.is_own() && source.take.clip.track(source.joint).translation_moves());
    let clips = mine.iter().map(|source| source.samples(starts[source.number], reject)).collect();
    let time_counts = options.noise == Noise::Auto;
    Seen::new(clips, translation_moves, time_counts, reject)
}

/// Names the takes in which every joint turns as it does in an earlier one, bit for bit.
fn warn_of_copies(takes: &[Take<'_>], warnings: &mut Vec<String>) {
    let turns =
        |clip: &Clip| clip.tracks().iter().any(|track| !track.rotation_times().is_constant());
    for (number, take) in takes.iter().enumerate().filter(|(_, take)| turns(take.clip)) {
        let original = takes[..number].iter().position(|other| turn_alike(other.clip, take.clip));
        if let Some(original) = original {
            warnings.push(format!(
                "take {}: the same motion as take {}; visits of ends count it once",
                number + 1,
                original + 1
            ));
        }
    }
}

fn turn_alike(a: &Clip, b: &Clip) -> bool {
    a.frame_count() == b.frame_count()
        && a.tracks().len() == b.tracks().len()
        && a.tracks().iter().zip(b.tracks()).all(|(a, b)| {
            a.rotation_times() == b.rotation_times() && ends::same(a.rotations(), b.rotations())
        })
}

/// For every take and every joint of the skeleton, the joint of that name in the take.
fn match_takes(
    skeleton: &Skeleton,
    takes: &[Take<'_>],
    warnings: &mut Vec<String>,
) -> Result<Vec<Vec<Option<JointIndex>>>, EstimateError> {
    let name = |s: &Skeleton, j: Option<JointIndex>| j.map(|j| s[j].name.clone());
    let mut all = Vec::with_capacity(takes.len());
    for (number, take) in takes.iter().enumerate() {
        let other = take.skeleton;
        if std::ptr::eq(skeleton, other) {
            all.push(skeleton.indices().map(Some).collect());
            continue;
        }
        let mut matched = Vec::with_capacity(skeleton.len());
        let mut turned = Vec::new();
        let mut bent = Vec::new();
        let short_m = [skeleton, other].map(RestBone::short_m);
        for joint in skeleton.indices() {
            let own = other.find(&skeleton[joint].name);
            if let Some(own) = own {
                let expected = name(skeleton, skeleton.parent(joint));
                let found = name(other, other.parent(own));
                if expected != found {
                    let joint = skeleton[joint].name.clone();
                    return Err(EstimateError::Contradiction {
                        take: number,
                        joint,
                        found,
                        expected,
                    });
                }
                if skeleton[joint].rest.distance(other[own].rest) > RestsDiffer::LEAST {
                    turned.push(skeleton[joint].name.as_str());
                }
                if let Some(apart) = bones_apart(skeleton, joint, take, own, short_m) {
                    bent.push((skeleton[joint].name.as_str(), apart));
                }
            }
            matched.push(own);
        }
        let missing = matched.iter().filter(|m| m.is_none()).count();
        all.push(matched);
        let extra = other.joints().iter().filter(|j| skeleton.find(&j.name).is_none()).count();
        let mut says = |what: &str| warnings.push(format!("take {}: {what}", number + 1));
        let one = "joint of the first skeleton is";
        let missing = (missing > 0).then(|| {
            format!("{} not in it", counted(missing, one, "joints of the first skeleton are"))
        });
        let extra = (extra > 0).then(|| {
            let more = counted(extra, "joint more, which is", "joints more, which are");
            format!("it has {more} not estimated")
        });
        let differs: Vec<String> = missing.into_iter().chain(extra).collect();
        if !differs.is_empty() {
            says(&differs.join(", and "));
        }
        if !bent.is_empty() {
            says(&bent_words(&bent));
        }
        let turned = match turned.as_slice() {
            [] => continue,
            [one] => format!("{one:?}"),
            [first, ..] => format!("{} joints, {first:?} among them,", turned.len()),
        };
        says(&format!(
            "the rest pose of {turned} is another than in the first; each take is relative to its own"
        ));
    }
    Ok(all)
}

/// By how much the bone from the parent to a joint points another way at rest than in the first
/// skeleton, if that is more than people differ and the rest rotations do not tell. Files that have
/// no rest rotations have their rest pose in the offsets: a T-pose and an A-pose differ there only,
/// and the same angles are other poses.
///
/// A joint that moves away from its parent has a place, not a bone.
fn bones_apart(
    skeleton: &Skeleton,
    joint: JointIndex,
    take: &Take<'_>,
    own: JointIndex,
    short_m: [f64; 2],
) -> Option<Angle> {
    if take.clip.track(own).translation_moves() {
        return None;
    }
    let ours = RestBone::of(skeleton, joint, short_m[0])?;
    ours.apart(&RestBone::of(take.skeleton, own, short_m[1])?)
}

fn bent_words(bent: &[(&str, Angle)]) -> String {
    const SHOWN: usize = 4;
    let told = |(name, apart): &(&str, Angle)| format!("{name:?} ({:.0}°)", apart.degrees());
    let mut bones = bent.iter().take(SHOWN).map(told).collect::<Vec<_>>().join(", ");
    if bent.len() > SHOWN {
        bones += &format!(" and {} more", bent.len() - SHOWN);
    }
    let (bone, points) = if bent.len() == 1 { ("bone", "points") } else { ("bones", "point") };
    format!(
        "the {bone} to {bones} {points} another way at rest than in the first, so that the same \
         angles are other poses; estimate it apart, or export it with the rest pose of the first"
    )
}

/// So many of something: `1 joint`, `2 joints`.
fn counted(n: impl fmt::Display, one: &str, many: &str) -> String {
    let n = n.to_string();
    let what = if n == "1" { one } else { many };
    format!("{n} {what}")
}
