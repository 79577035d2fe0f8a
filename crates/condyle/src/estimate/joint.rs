//! One joint: from what was seen of it to its entry in a rig.

use std::borrow::Cow;

use glam::DVec3;

use super::arcs::{self, Range};
use super::ball::{self, BallOptions};
use super::bind;
use super::ends;
use super::excess;
use super::hinge::{Hinge, ON_ORBIT};
use super::kinds::{self, Decision, Evidence, decide};
use super::moments::Moments;
use super::options::{EstimateOptions, Outliers};
use super::paper;
use super::samples::Samples;
use super::universal::UniversalJoint;
use crate::hash::ContentHash;
use crate::limits::{Limit, PreparedLimit};
use crate::math::{Angle, Rotation, Rotations};
use crate::rig::{JointKind, LeftOut, RigJoint, Source};
use crate::skeleton::{JointIndex, Skeleton};

/// What all clips show of a joint.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) clips: Vec<Samples>,
    pub(crate) moments: Moments,
    pub(crate) evidence: Option<Evidence>,
    translation_moves: bool,
    /// Whether the order of frames may say how large the noise is.
    time_counts: bool,
}

/// Fewer samples than this get a note.
const FEW_SAMPLES: u64 = 30;

/// Fewer keys than this get a note (A2).
const FEW_KEYS: usize = 4;

impl Seen {
    pub(crate) fn new(
        clips: Vec<Samples>,
        translation_moves: bool,
        time_counts: bool,
        reject: bool,
    ) -> Self {
        let (moments, evidence) = (Moments::default(), None);
        let mut seen = Self { clips, moments, evidence, translation_moves, time_counts };
        seen.look();
        if reject {
            seen.trim();
        }
        seen
    }

    /// Samples that stand for others, whose moments and jitter are known.
    pub(crate) fn from_moments(clip: Samples, moments: Moments, jitter: Option<f64>) -> Self {
        let evidence = Evidence::new(&moments, jitter, &[&clip.rotations], clip.used as u64);
        Self { clips: vec![clip], moments, evidence, translation_moves: false, time_counts: true }
    }

    /// Sums up the samples.
    pub(super) fn look(&mut self) {
        self.moments = Moments::default();
        for clip in &self.clips {
            self.moments.merge(&Moments::of(&clip.rotations));
        }
        let mut jitters: Vec<f64> =
            self.clips.iter().filter(|_| self.time_counts).filter_map(|clip| clip.jitter).collect();
        jitters.sort_unstable_by(f64::total_cmp);
        let jitter = jitters.get(jitters.len() / 2).copied();
        self.evidence = Evidence::new(&self.moments, jitter, &self.rotations(), self.used());
    }

    fn used(&self) -> u64 {
        self.clips.iter().map(|c| c.used as u64).sum()
    }

    fn rotations(&self) -> Vec<&Rotations> {
        self.clips.iter().map(|clip| &clip.rotations).collect()
    }
}

/// A root goes anywhere.
pub(super) fn root() -> RigJoint {
    let source = Some(Source::Estimated);
    RigJoint { kind: JointKind::Free, source, ..RigJoint::default() }
}

/// Kind and limit as the paper has them.
pub(super) fn paper_entry(
    skeleton: &Skeleton,
    joint: JointIndex,
    series: &[Cow<'_, Rotations>],
    frames: u64,
    options: &EstimateOptions,
) -> RigJoint {
    let clips: Vec<&Rotations> = series.iter().map(Cow::as_ref).collect();
    let Some(found) = paper::estimate(&clips, &options.paper) else { return unseen() };
    let mut entry = RigJoint {
        kind: found.kind,
        center: found.center,
        limit: found.limit,
        why: Some(found.why),
        notes: found.notes,
        samples: Some(frames),
        rejected: Some(0),
        source: Some(Source::Estimated),
        ..RigJoint::default()
    };
    // The paper has all samples inside.
    let whole = EstimateOptions { coverage: 1.0, ..*options };
    match entry.limit.prepare() {
        Ok(limit) => judge(&mut entry, &limit, &clips, 0.0, skeleton[joint].rest, &whole),
        Err(error) => {
            entry.notes.push(format!("the limit cannot be used ({error}); it is left open"));
            entry.limit = Limit::Free;
        }
    }
    entry
}

fn unseen() -> RigJoint {
    RigJoint {
        kind: JointKind::Ball,
        confidence: Some(0.0),
        why: Some("no sample of it".to_owned()),
        samples: Some(0),
        source: Some(Source::Estimated),
        ..RigJoint::default()
    }
}

/// Kind, limit and what is known about them.
///
/// `courses` gives the rotations of each of the clips in the order of time, relative to rest; `None` if
/// that is not known. `takes` says of which take they are; `None` if it is not the joint's own motion.
pub(crate) fn entry<'a>(
    skeleton: &Skeleton,
    joint: JointIndex,
    seen: &Seen,
    noise: f64,
    options: &EstimateOptions,
    courses: impl Fn(usize) -> Option<Cow<'a, Rotations>>,
    takes: impl Fn(usize) -> Option<TakeOf>,
) -> RigJoint {
    let Some(evidence) = &seen.evidence else { return unseen() };
    let mut decision = decide(evidence, noise);
    let mut notes = Vec::new();
    let bone = skeleton.bone_axis(joint).unwrap_or_else(|| {
        notes.push("nothing shows where its bone points: z is taken".to_owned());
        DVec3::Z
    });
    let alone = (options.outliers == Outliers::Reject)
        .then(|| seen.without_isolated(&decision, bone))
        .flatten();
    let seen = alone.as_ref().unwrap_or(seen);
    let Some(evidence) = &seen.evidence else { return unseen() };
    if alone.is_some() {
        decision = decide(evidence, noise);
    }
    let why = kinds::why(evidence, noise, decision.kind);
    let model = match decision.kind {
        JointKind::Fixed => fixed(evidence, &decision),
        JointKind::Hinge => hinge(seen, evidence, &decision, options),
        JointKind::Universal => universal(seen, evidence, &decision, options),
        _ => None,
    };
    let (center, limit) = model.unwrap_or_else(|| {
        decision.kind = JointKind::Ball;
        let how = BallOptions {
            model: options.ball,
            corners: options.corners,
            noise: if options.raw { 0.0 } else { decision.noise },
            coverage: options.coverage,
            margin: options.margin_radians(),
        };
        match ball::fit(&seen.rotations(), bone, &how) {
            Some(ball) => {
                notes.extend(ball.notes);
                (ball.center, ball.limit)
            }
            None => (Rotation::IDENTITY, Limit::Free),
        }
    });

    let mut entry = RigJoint {
        kind: decision.kind,
        center,
        limit,
        confidence: Some(rounded(decision.confidence, 1e4)),
        why: Some(why),
        samples: Some(seen.used()),
        rejected: Some(seen.clips.iter().map(|c| c.rejected as u64).sum()),
        source: Some(Source::Estimated),
        ..RigJoint::default()
    };
    match entry.limit.prepare() {
        Ok(limit) => {
            let rest = skeleton[joint].rest;
            judge(&mut entry, &limit, &seen.rotations(), decision.noise, rest, options);
            settle_left_out(&mut entry, &limit, seen, &courses, &takes, &mut notes);
            // Where the answer is not to depend on the order of frames, visits cannot be counted.
            if options.ends && (seen.time_counts || options.outliers == Outliers::Reject) {
                let found = (entry.center, &entry.limit, &limit);
                let margin = options.margin_radians();
                entry.ends = ends::find(found, &seen.clips, courses, decision.noise, margin);
            }
        }
        Err(error) => {
            notes.push(format!("the limit cannot be used ({error}); it is left open"));
            entry.limit = Limit::Free;
        }
    }
    add_notes(&mut notes, seen);
    if options.coverage < 1.0 && entry.kind != JointKind::Fixed {
        notes.push(format!(
            "each of its ranges holds {} % of the samples by choice, and check counts the others",
            rounded(100.0 * options.coverage, 100.0)
        ));
    }
    notes.append(&mut entry.notes);
    entry.notes = notes;
    entry
}

fn add_notes(notes: &mut Vec<String>, seen: &Seen) {
    let used = seen.used();
    if used < FEW_SAMPLES {
        let samples = super::counted(used, "sample", "samples");
        notes.push(format!("only {samples}: kind and limits are a first guess"));
    }
    let keys = seen.clips.iter().map(|c| c.keys).max().unwrap_or(0);
    if keys < FEW_KEYS && keys > 1 {
        notes.push(format!("only {keys} keys: between them the motion is the interpolation's"));
    }
    if seen.translation_moves {
        notes.push("its place in the parent moves, which is not looked at".to_owned());
    }
}

fn rounded(value: f64, units: f64) -> f64 {
    (value * units).round() / units
}

/// What is said where a repair gives way.
pub(super) const REPAIR_NOT_ALLOWED: &str =
    "the repair asked for is not allowed here: it starts from the nearest sampled pose";

/// What the limit says about samples and rest.
fn judge(
    entry: &mut RigJoint,
    limit: &PreparedLimit,
    samples: &[&Rotations],
    noise: f64,
    rest: Rotation,
    options: &EstimateOptions,
) {
    let back = entry.center.inverse();
    entry.noise = Some(Angle::from_radians(noise));
    // What was left outside by choice was not accepted.
    entry.tolerance = (options.coverage >= 1.0).then(|| {
        let excess = excess::largest(&entry.limit, limit, back, samples);
        Angle::from_radians((excess * (1.0 + 1e-9)).min(std::f64::consts::PI))
    });
    let start = bind::start(&entry.limit, limit, entry.center, samples, options.repair);
    // Without samples there is no start either.
    entry.rest_inside = Some(start.is_none() && limit.contains(back));
    entry.rest_excess = Some(start.map_or(Angle::ZERO, |start| start.excess));
    entry.start = start.map(|start| rest * start.rotation);
    if start.is_some_and(|start| start.fell_back) {
        entry.notes.push(REPAIR_NOT_ALLOWED.to_owned());
    }
}

/// Which take a clip is of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TakeOf {
    pub(crate) hash: ContentHash,
    /// The first frame that counts.
    pub(crate) start: usize,
    pub(crate) frames: usize,
}

/// At most so many frames of a joint that were left out are listed.
const MOST_LISTED: usize = 10_000;

/// Counts samples that were left out and turn out to be inside, or within what counts as noise, among
/// the others: they do no harm. Lists the frames of the rest, so that a check of the same takes knows
/// them again.
fn settle_left_out<'a>(
    entry: &mut RigJoint,
    limit: &PreparedLimit,
    seen: &Seen,
    courses: &impl Fn(usize) -> Option<Cow<'a, Rotations>>,
    takes: &impl Fn(usize) -> Option<TakeOf>,
    notes: &mut Vec<String>,
) {
    let allowed = entry.allowance().radians();
    let back = entry.center.inverse();
    let harmless = |q: &Rotation| {
        let m = back * *q;
        limit.contains(m) || -limit.distance(m).radians() <= allowed
    };
    let all = seen.clips.iter().flat_map(|clip| &clip.left_out);
    let back = all.filter(|q| harmless(q)).count() as u64;
    entry.samples = entry.samples.map(|n| n + back);
    entry.rejected = entry.rejected.map(|n| n.saturating_sub(back));

    let mut left_out: Vec<LeftOut> = Vec::new();
    for (number, clip) in seen.clips.iter().enumerate() {
        let in_front = clip.in_front.is_some_and(|q| !harmless(&q));
        if !in_front && clip.left_out.iter().all(harmless) {
            continue;
        }
        let Some(TakeOf { hash, start, frames }) = takes(number) else { continue };
        let Some(course) = courses(number) else { continue };
        let mut listed: Vec<usize> = if in_front { (0..start).collect() } else { Vec::new() };
        for i in ends::skipped(clip, &course).iter().copied() {
            if course.get(i).is_some_and(|q| !harmless(&q)) {
                // One that holds still has one rotation for all frames.
                let last = if course.len() == 1 { frames } else { start + i + 1 };
                listed.extend(start + i..last);
            }
        }
        let frames = listed.iter().filter_map(|frame| u32::try_from(*frame).ok()).collect();
        left_out.push(LeftOut { take: hash, frames });
    }
    // The same for any order of takes; one that is there twice is there once.
    left_out.sort_unstable_by_key(|of| of.take);
    left_out.dedup();
    let count: usize = left_out.iter().map(|of| of.frames.len()).sum();
    if count > MOST_LISTED {
        notes.push(format!(
            "{count} frames were left out and are outside; {MOST_LISTED} of them are listed, and check \
             counts the others"
        ));
        let mut room = MOST_LISTED;
        for of in &mut left_out {
            of.frames.truncate(room);
            room -= of.frames.len();
        }
    }
    left_out.retain(|of| !of.frames.is_empty());
    entry.left_out = left_out;
}

fn fixed(evidence: &Evidence, decision: &Decision) -> Option<(Rotation, Limit)> {
    let mean = evidence.spread.mean();
    let at_rest = mean.angle().radians() <= decision.noise.max(ON_ORBIT);
    Some((if at_rest { Rotation::IDENTITY } else { mean.canonical() }, Limit::Locked))
}

fn range(decision: &Decision, options: &EstimateOptions) -> Range {
    let noise = if options.raw { 0.0 } else { decision.noise };
    Range { noise, coverage: options.coverage }
}

fn hinge(
    seen: &Seen,
    evidence: &Evidence,
    decision: &Decision,
    options: &EstimateOptions,
) -> Option<(Rotation, Limit)> {
    let hinge = Hinge::fit(&evidence.spread, &seen.moments, decision.noise);
    let angles: Vec<Vec<f64>> =
        seen.clips.iter().map(|clip| hinge.angles(&clip.rotations)).collect();
    let arc = arcs::range(&angles, range(decision, options))?;
    let (hinge, arc) = hinge.oriented(arc);
    let arc = arcs::widened(arc, options.margin_radians());
    Some((hinge.center, Limit::Hinge { axis: hinge.axis, arc }))
}

fn universal(
    seen: &Seen,
    evidence: &Evidence,
    decision: &Decision,
    options: &EstimateOptions,
) -> Option<(Rotation, Limit)> {
    let fit = evidence.universal.as_ref()?;
    let joint = UniversalJoint::new(fit, &evidence.spread, &evidence.matrices, decision.noise)?;
    let how = range(decision, options);
    let how = Range { noise: joint.noise_of_angles(how.noise), ..how };
    let (first, second): (Vec<_>, Vec<_>) =
        seen.clips.iter().map(|clip| joint.angles(&clip.rotations).into()).unzip();
    let arcs = [first, second].map(|angles| arcs::range(&angles, how));
    let [Some(first), Some(second)] = arcs else { return None };
    let (joint, arcs) = joint.oriented([first, second]);
    let margin = options.margin_radians();
    let arcs = arcs.map(|arc| arcs::widened(arc, margin));
    Some((joint.center, Limit::Universal { axes: joint.axes, arcs }))
}
