//! Between takes, their summaries, and an estimate.

use std::f64::consts::PI;

use glam::DVec3;

use super::joint::{self, Seen};
use super::kinds;
use super::occupancy::RADIUS_DEG;
use super::options::{EstimateOptions, Method, Noise, Outliers};
use super::quiet::quiet;
use super::samples::{Samples, compare};
use super::summary::{JointSummary, Summary};
use super::trace::{Look, Trace};
use super::{Estimate, EstimateError};
use crate::math::Angle;
use crate::motion::Clip;
use crate::rig::RigJoint;
use crate::skeleton::{JointIndex, Skeleton};
use crate::threads;

impl Summary {
    /// What one clip says about the joints of its skeleton.
    ///
    /// Glitches are left out, and so is a pose in front of the motion. Noise is taken off the ends of
    /// what was seen unless [`raw`](EstimateOptions::raw) is set. Both happen here, clip by clip: a
    /// summary that is merged does not know its clips any more. Of the options, outliers, noise, raw
    /// and threads count; the others are for [`estimate_summary`].
    ///
    /// A root goes anywhere, so of roots only frames are counted.
    #[must_use]
    pub fn of_take(skeleton: &Skeleton, clip: &Clip, options: &EstimateOptions) -> Self {
        let reject = options.outliers == Outliers::Reject;
        let time_counts = options.noise == Noise::Auto;
        let frames = clip.frame_count();
        if frames == 0 {
            return Self::new(skeleton, Vec::new());
        }
        let joints: Vec<JointIndex> = skeleton.indices().collect();
        let look = Look { from: super::first_frame(clip, options), reject, time_counts };
        let traces = threads::each(&joints, options.threads, |&joint| {
            skeleton.parent(joint)?;
            Some(Trace::new(skeleton, clip, joint, look))
        });
        let noise = match options.noise {
            Noise::Given(noise) => noise.radians().max(0.0),
            Noise::Auto => {
                kinds::figure_noise(traces.iter().flatten().filter_map(|t| t.evidence.as_ref()))
            }
        };
        let work: Vec<(JointIndex, &Option<Trace<'_>>)> =
            joints.iter().copied().zip(&traces).collect();
        let joints = threads::each(&work, options.threads, |(joint, trace)| {
            let Some(trace) = trace else {
                return JointSummary { frames: frames as u64, clips: 1, ..JointSummary::default() };
            };
            let bone = || skeleton.bone_axis(*joint).unwrap_or(DVec3::Z);
            let without = trace.without_isolated(noise, bone);
            let Trace { rotations, counts, jitter, moments, evidence, .. } =
                without.as_ref().unwrap_or(trace);
            let quiet = match evidence {
                Some(evidence) if !options.raw => {
                    let decision = kinds::decide(evidence, noise);
                    quiet(rotations, moments, evidence, &decision, bone)
                }
                _ => None,
            };
            let marks = quiet.as_ref().unwrap_or(rotations);
            JointSummary::new(*moments, marks, *counts, *jitter)
        });
        Self::new(skeleton, joints)
    }

    /// How many frames were looked at, those that were left out included.
    #[must_use]
    pub fn frames(&self) -> u64 {
        let of = |j: &JointSummary| j.frames.saturating_add(j.rejected);
        self.joints.values().map(|j| of(&j.joint)).max().unwrap_or(0)
    }

    /// How far a rotation may be from where the summary has it.
    #[must_use]
    pub fn resolution() -> Angle {
        Angle::from_degrees(RADIUS_DEG)
    }
}

/// Kinds and limits of all joints, from a summary of any number of clips.
///
/// Kinds come from the same moments as those of [`estimate`](super::estimate). Limits hold the centres
/// of the cells that were visited, each within [`Summary::resolution`] of the samples, less than
/// 1°, which the tolerance of each joint allows for. Where a joint's place in its parent moves is not known here.
///
/// Equal summaries give equal estimates, so the result does not depend on the order or grouping in
/// which clips were merged, nor on the number of threads.
///
/// # Errors
///
/// If there is no motion, or if an option needs the samples themselves.
pub fn estimate_summary(
    summary: &Summary,
    options: &EstimateOptions,
) -> Result<Estimate, EstimateError> {
    if options.method == Method::Paper {
        return Err(EstimateError::NeedsSamples { what: "the method of the paper" });
    }
    if options.coverage != 1.0 {
        return Err(EstimateError::NeedsSamples { what: "a coverage below 1" });
    }
    let frames = summary.frames();
    match frames {
        0 => return Err(EstimateError::NoMotion),
        1 => return Err(EstimateError::OneFrame),
        _ => {}
    }
    let skeleton = summary.skeleton().map_err(|_| EstimateError::NoMotion)?;
    let joints: Vec<JointIndex> = skeleton.indices().collect();
    let time_counts = options.noise == Noise::Auto;
    let seen = threads::each(&joints, options.threads, |&joint| {
        skeleton.parent(joint)?;
        Some(seen_in(summary.joint(&skeleton[joint].name)?, time_counts))
    });
    let noise = match options.noise {
        Noise::Given(noise) => noise.radians().max(0.0),
        Noise::Auto => {
            kinds::figure_noise(seen.iter().flatten().filter_map(|s| s.evidence.as_ref()))
        }
    };
    // Noise was taken off clip by clip.
    let how = EstimateOptions { raw: true, ..*options };
    let work: Vec<(JointIndex, &Option<Seen>)> = joints.iter().copied().zip(&seen).collect();
    let entries = threads::each(&work, options.threads, |(joint, seen)| match seen {
        Some(seen) => {
            // A summary has no order of time.
            with_resolution(joint::entry(&skeleton, *joint, seen, noise, &how, |_| None, |_| None))
        }
        None => joint::root(),
    });
    let names = skeleton.joints().iter().map(|j| j.name.as_str());
    let joints = names.zip(entries).collect();
    Ok(Estimate {
        joints,
        noise: Angle::from_radians(noise),
        frames,
        warnings: vec![format!(
            "estimated from summaries: rotations are known to {RADIUS_DEG} deg"
        )],
        skeleton,
    })
}

/// What a summary shows of a joint: the cells' centres stand for the samples.
fn seen_in(joint: &JointSummary, time_counts: bool) -> Seen {
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let jitter = joint.jitters.median().filter(|_| time_counts);
    let mut sorted: Vec<[f64; 4]> =
        joint.occupancy.centres().iter().map(|q| q.quat().to_array()).collect();
    sorted.sort_unstable_by(compare);
    let samples = Samples {
        rotations: sorted.into_iter().map(super::moments::rotation_unchecked).collect(),
        used: count(joint.frames),
        skipped: Vec::new(),
        left_out: Vec::new(),
        in_front: None,
        rejected: count(joint.rejected),
        jitter,
        keys: count(joint.keys),
        ordered: true,
        take: 0,
    };
    Seen::from_moments(samples, joint.moments, jitter)
}

fn with_resolution(mut entry: RigJoint) -> RigJoint {
    let allowance = entry.allowance().radians() + Summary::resolution().radians();
    entry.tolerance = entry.tolerance.map(|_| Angle::from_radians(allowance.min(PI)));
    entry
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::enforce::BoundRig;
    use crate::estimate::{Take, estimate};
    use crate::limits::Limit;
    use crate::math::Arc;
    use crate::rig::JointKind;
    use crate::synth::{Figure, Options, Rng, Synth};

    fn clips(noise_deg: f64, count: u64) -> Vec<Synth> {
        (0..count)
            .map(|seed| {
                let noise = Angle::from_degrees(noise_deg);
                let frames = 700 + 100 * usize::try_from(seed).unwrap();
                let options = Options { frames, noise, ..Options::default() };
                Synth::generate(&Figure::human(), &options, seed).unwrap()
            })
            .collect()
    }

    fn part(synth: &Synth, options: &EstimateOptions) -> Summary {
        Summary::of_take(&synth.skeleton, &synth.clip, options)
    }

    fn merged(parts: &[Summary]) -> Summary {
        let mut all = Summary::default();
        parts.iter().for_each(|part| assert_eq!(all.merge(part), Ok(vec![])));
        all
    }

    fn arcs_of(limit: &Limit) -> Vec<Arc> {
        match limit {
            Limit::Hinge { arc, .. } => vec![*arc],
            Limit::Universal { arcs, .. } => arcs.to_vec(),
            _ => vec![],
        }
    }

    /// Per noise: joints of another kind, the farthest ends of hinges and of universal joints, degrees.
    fn compare(noise_deg: f64, options: &EstimateOptions) -> (Vec<String>, [f64; 2]) {
        let clips = clips(noise_deg, 4);
        let takes: Vec<Take<'_>> =
            clips.iter().map(|s| Take { skeleton: &s.skeleton, clip: &s.clip }).collect();
        let exact = estimate(&takes, options).unwrap();
        let parts: Vec<Summary> = clips.iter().map(|s| part(s, options)).collect();
        let found = estimate_summary(&merged(&parts), options).unwrap();
        assert_eq!(found.frames, exact.frames);
        assert_eq!(found.skeleton.parents(), exact.skeleton.parents());
        let mut others = Vec::new();
        let mut farthest = [0.0_f64; 2];
        for (name, a) in exact.joints.iter() {
            let b = found.joints.get(name).unwrap();
            assert_eq!((a.samples, a.rejected), (b.samples, b.rejected), "{name}");
            if a.kind != b.kind {
                others.push(name.to_owned());
                continue;
            }
            let of = usize::from(a.kind == JointKind::Universal);
            for (a, b) in arcs_of(&a.limit).into_iter().zip(arcs_of(&b.limit)) {
                for (a, b) in [(a.min(), b.min()), (a.max(), b.max())] {
                    farthest[of] = farthest[of].max((a.degrees() - b.degrees()).abs());
                }
            }
        }
        // What was summarised is within the limits as a check sees it.
        let rig = found.into_rig();
        for synth in &clips {
            let bound = BoundRig::new(&rig, &synth.skeleton).unwrap();
            let check = bound.check(&synth.clip, NonZeroUsize::MIN);
            assert!(check.ok(), "noise {noise_deg}: {check:?}");
        }
        (others, farthest)
    }

    #[test]
    fn a_summary_gives_the_same_kinds_and_ends_within_a_degree_a11() {
        for noise in [0.0, 0.3, 1.0] {
            for raw in [false, true] {
                let options = EstimateOptions { raw, ..EstimateOptions::default() };
                let (others, farthest) = compare(noise, &options);
                println!("noise {noise} raw {raw}: {farthest:?}, others {others:?}");
                assert!(others.is_empty(), "{others:?}");
                assert!(farthest.iter().all(|d| *d < 1.0), "noise {noise}: {farthest:?}");
            }
        }
    }

    #[test]
    fn any_order_grouping_and_number_of_threads_give_the_same_document_a11() {
        let options = EstimateOptions::default();
        let parts: Vec<Summary> = clips(0.3, 5).iter().map(|s| part(s, &options)).collect();
        let document = |summary: &Summary, threads: usize| {
            let threads = NonZeroUsize::new(threads).unwrap();
            let options = EstimateOptions { threads, ..EstimateOptions::default() };
            estimate_summary(summary, &options).unwrap().into_rig().write().unwrap()
        };
        let first = document(&merged(&parts), 1);
        assert_eq!(document(&merged(&parts), 3), first);
        let mut rng = Rng::new(5);
        for _ in 0..6 {
            let mut left = parts.clone();
            while left.len() > 1 {
                let taken = left.swap_remove(rng.below(left.len()));
                let other = rng.below(left.len());
                left[other].merge(&Summary::read(&taken.write()).unwrap()).unwrap();
            }
            assert!(document(&left[0], 1) == first);
        }
        let three = EstimateOptions { threads: NonZeroUsize::new(3).unwrap(), ..options };
        let clip = &clips(0.3, 1)[0];
        assert!(part(clip, &three).write() == part(clip, &options).write());
    }

    #[test]
    fn nothing_and_what_a_summary_cannot_do_are_errors() {
        let options = EstimateOptions::default();
        let error = |summary: &Summary, options: &EstimateOptions| {
            estimate_summary(summary, options).unwrap_err()
        };
        assert_eq!(error(&Summary::default(), &options), EstimateError::NoMotion);
        let one = Options { frames: 1, ..Options::default() };
        let synth = Synth::generate(&Figure::human(), &one, 1).unwrap();
        assert_eq!(error(&part(&synth, &options), &options), EstimateError::OneFrame);
        let summary = merged(&[part(&clips(0.0, 1)[0], &options)]);
        let half = EstimateOptions { coverage: 0.5, ..options };
        assert!(matches!(error(&summary, &half), EstimateError::NeedsSamples { .. }));
        let paper = EstimateOptions { method: Method::Paper, ..options };
        assert!(matches!(error(&summary, &paper), EstimateError::NeedsSamples { .. }));
    }
}
