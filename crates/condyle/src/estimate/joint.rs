//! One joint: from what was seen of it to its entry in a rig.

use std::borrow::Cow;

use glam::DVec3;

use super::arcs::{self, Range};
use super::ball::{self, BallOptions};
use super::bind::{self, Repair};
use super::excess;
use super::hinge::{Hinge, ON_ORBIT};
use super::kinds::{self, Decision, Evidence, decide};
use super::models::{Spread, Universal};
use super::moments::Moments;
use super::options::EstimateOptions;
use super::paper;
use super::samples::Samples;
use super::universal::UniversalJoint;
use crate::limits::{Limit, PreparedLimit};
use crate::math::{Angle, Rotation, Rotations};
use crate::rig::{JointKind, RigJoint, Source};
use crate::skeleton::{JointIndex, Skeleton};

/// What all clips show of a joint.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) clips: Vec<Samples>,
    pub(crate) moments: Moments,
    pub(crate) evidence: Option<Evidence>,
    translation_moves: bool,
}

/// Fewer samples than this get a note.
const FEW_SAMPLES: u64 = 30;

/// Fewer keys than this get a note (A2).
const FEW_KEYS: usize = 4;

/// At most this share of samples without order are glitches.
const MAX_TRIMMED: f64 = 0.02;

impl Seen {
    pub(crate) fn new(
        clips: Vec<Samples>,
        translation_moves: bool,
        time_counts: bool,
        reject: bool,
    ) -> Self {
        let mut seen =
            Self { clips, moments: Moments::default(), evidence: None, translation_moves };
        seen.look(time_counts);
        if reject {
            seen.trim(time_counts);
        }
        seen
    }

    /// Samples that stand for others, whose moments and jitter are known.
    pub(crate) fn from_moments(clip: Samples, moments: Moments, jitter: Option<f64>) -> Self {
        let evidence = Evidence::new(&moments, jitter, &[&clip.rotations], clip.used as u64);
        Self { clips: vec![clip], moments, evidence, translation_moves: false }
    }

    fn look(&mut self, time_counts: bool) {
        self.moments = Moments::default();
        for clip in &self.clips {
            self.moments.merge(&Moments::of(&clip.rotations));
        }
        let mut jitters: Vec<f64> =
            self.clips.iter().filter(|_| time_counts).filter_map(|clip| clip.jitter).collect();
        jitters.sort_unstable_by(f64::total_cmp);
        let jitter = jitters.get(jitters.len() / 2).copied();
        self.evidence = Evidence::new(&self.moments, jitter, &self.rotations(), self.used());
    }

    /// Of clips whose frames have no order, leaves out the few samples that lie far from a hinge, or
    /// from a universal joint, that nearly all the others lie on. Where time runs, what is far from
    /// the others but reached on a smooth way is no glitch.
    fn trim(&mut self, time_counts: bool) {
        if self.clips.iter().all(|clip| clip.ordered) {
            return;
        }
        for model in [JointKind::Hinge, JointKind::Universal] {
            for _ in 0..3 {
                let Some(evidence) = &self.evidence else { return };
                let residual = match model {
                    JointKind::Hinge => Residual::hinge(&evidence.spread),
                    _ => match evidence.universal {
                        Some(universal) => Residual::Universal(universal),
                        None => return,
                    },
                };
                let all = self.clips.iter().flat_map(|clip| clip.rotations.iter());
                let mut sizes: Vec<f64> = all.map(|q| residual.of(q)).collect();
                let n = sizes.len();
                if n < 50 {
                    return;
                }
                let middle = *sizes.select_nth_unstable_by(n / 2, f64::total_cmp).1;
                let cut = (8.0 * 1.4826 * middle).max(5.0_f64.to_radians());
                let far = sizes.iter().filter(|r| **r > cut).count();
                if far == 0 || far as f64 > (MAX_TRIMMED * n as f64).max(1.0) {
                    break;
                }
                let unordered = self.clips.iter_mut().filter(|clip| !clip.ordered);
                unordered.for_each(|clip| clip.drop_where(|q| residual.of(q) > cut));
                self.look(time_counts);
            }
        }
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
    options: &EstimateOptions,
) -> RigJoint {
    let clips: Vec<&Rotations> = series.iter().map(Cow::as_ref).collect();
    let Some(found) = paper::estimate(&clips, &options.paper) else { return unseen() };
    let samples = series.iter().map(|s| s.len() as u64).sum();
    let mut entry = RigJoint {
        kind: found.kind,
        center: found.center,
        limit: found.limit,
        why: Some(found.why),
        notes: found.notes,
        samples: Some(samples),
        rejected: Some(0),
        source: Some(Source::Estimated),
        ..RigJoint::default()
    };
    match entry.limit.prepare() {
        Ok(limit) => judge(&mut entry, &limit, &clips, 0.0, skeleton[joint].rest, options.repair),
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

/// How far rotations are from a model, radians.
enum Residual {
    /// From the plane of two quaternions.
    Hinge([[f64; 4]; 2]),
    Universal(Universal),
}

impl Residual {
    fn hinge(spread: &Spread) -> Self {
        Self::Hinge(spread.orbit())
    }

    fn of(&self, q: Rotation) -> f64 {
        match self {
            Self::Hinge(plane) => {
                let q = q.quat().to_array();
                let along = plane.map(|p| (0..4).map(|i| p[i] * q[i]).sum::<f64>());
                let inside = along[0] * along[0] + along[1] * along[1];
                2.0 * (1.0 - inside).max(0.0).sqrt()
            }
            Self::Universal(universal) => universal.residual(q).abs(),
        }
    }
}

/// Kind, limit and what is known about them.
pub(crate) fn entry(
    skeleton: &Skeleton,
    joint: JointIndex,
    seen: &Seen,
    noise: f64,
    options: &EstimateOptions,
) -> RigJoint {
    let Some(evidence) = &seen.evidence else { return unseen() };
    let mut decision = decide(evidence, noise);
    let why = kinds::why(evidence, noise, decision.kind);
    let mut notes = Vec::new();
    let bone = skeleton.bone_axis(joint).unwrap_or_else(|| {
        notes.push("nothing shows where its bone points: z is taken".to_owned());
        DVec3::Z
    });
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
            margin: options.margin.radians().max(0.0),
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
            judge(&mut entry, &limit, &seen.rotations(), decision.noise, rest, options.repair);
        }
        Err(error) => {
            notes.push(format!("the limit cannot be used ({error}); it is left open"));
            entry.limit = Limit::Free;
        }
    }
    add_notes(&mut notes, seen, options);
    entry.notes = notes;
    entry
}

fn add_notes(notes: &mut Vec<String>, seen: &Seen, options: &EstimateOptions) {
    let used = seen.used();
    if used < FEW_SAMPLES {
        notes.push(format!("only {used} samples: kind and limits are a first guess"));
    }
    let keys = seen.clips.iter().map(|c| c.keys).max().unwrap_or(0);
    if keys < FEW_KEYS && keys > 1 {
        notes.push(format!("only {keys} keys: between them the motion is the interpolation's"));
    }
    if seen.translation_moves {
        notes.push("its place in the parent moves, which is not looked at".to_owned());
    }
    if options.coverage < 1.0 {
        notes.push(format!(
            "{} % of the samples are inside its limit by choice",
            rounded(100.0 * options.coverage, 100.0)
        ));
    }
}

fn rounded(value: f64, units: f64) -> f64 {
    (value * units).round() / units
}

/// What the limit says about samples and rest.
fn judge(
    entry: &mut RigJoint,
    limit: &PreparedLimit,
    samples: &[&Rotations],
    noise: f64,
    rest: Rotation,
    repair: Repair,
) {
    let back = entry.center.inverse();
    let excess = excess::largest(&entry.limit, limit, back, samples);
    // What was accepted is within three times the noise.
    entry.noise = Some(Angle::from_radians(noise.max(excess / 3.0 * (1.0 + 1e-9))));
    let inside = limit.contains(back);
    let start =
        if inside { None } else { bind::start(&entry.limit, limit, entry.center, samples, repair) };
    entry.rest_inside = Some(inside);
    entry.rest_excess = Some(start.map_or(Angle::ZERO, |start| start.excess));
    entry.start = start.map(|start| rest * start.rotation);
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
    let arc = arcs::widened(arc, options.margin.radians().max(0.0));
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
    let (first, second): (Vec<_>, Vec<_>) =
        seen.clips.iter().map(|clip| joint.angles(&clip.rotations).into()).unzip();
    let arcs = [first, second].map(|angles| arcs::range(&angles, how));
    let [Some(first), Some(second)] = arcs else { return None };
    let (joint, arcs) = joint.oriented([first, second]);
    let margin = options.margin.radians().max(0.0);
    let arcs = arcs.map(|arc| arcs::widened(arc, margin));
    Some((joint.center, Limit::Universal { axes: joint.axes, arcs }))
}
