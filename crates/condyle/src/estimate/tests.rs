//! The estimator against known truth.

use super::*;
use crate::limits::Limit;
use crate::math::Rotation;
use crate::rig::RigJoint;
use crate::synth::{Exploration, Figure, JointTruth, Options, Rng, Synth};

fn takes(synth: &Synth) -> [Take<'_>; 1] {
    [Take { skeleton: &synth.skeleton, clip: &synth.clip }]
}

/// Intersection over union of the directions of the bone, seen from rest, by chance.
fn overlap(entry: &RigJoint, truth: &JointTruth, rng: &mut Rng) -> Option<f64> {
    let JointTruth::Ball { bone_axis, swing, center, .. } = truth else { return None };
    let prepared = entry.limit.prepare().ok()?;
    let region = prepared.swing()?;
    let (mut both, mut either) = (0, 0);
    for _ in 0..4000 {
        let d = rng.direction();
        let found = region.contains(entry.center.inverse() * d);
        let real = swing.contains(center.inverse() * d);
        both += usize::from(found && real);
        either += usize::from(found || real);
    }
    let _ = bone_axis;
    Some(both as f64 / either as f64)
}

fn middle(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn study(exploration: Exploration, noise: f64, frames: usize, model: BallModel, count: u64) {
    let mut ends = Vec::new();
    let mut over = Vec::new();
    let mut overlaps = Vec::new();
    let mut rng = Rng::new(1);
    let mut unchecked = 0;
    for seed in 0..count {
        let figure = Figure::random(12, seed).unwrap();
        let options = Options {
            frames,
            exploration,
            noise: Angle::from_degrees(noise),
            ..Options::default()
        };
        let synth = Synth::generate(&figure, &options, seed).unwrap();
        let how = EstimateOptions { ball: model, ..EstimateOptions::default() };
        let found = estimate(&takes(&synth), &how).unwrap();
        for joint in synth.skeleton.indices().skip(1) {
            let name = &synth.skeleton[joint].name;
            let entry = found.joints.get(name).unwrap();
            let truth = &synth.truth[joint.get()];
            if entry.kind.as_str() != truth.kind() {
                continue;
            }
            match (truth, &entry.limit) {
                (JointTruth::Hinge { arc: real, .. }, Limit::Hinge { arc, .. }) => {
                    for (a, b) in [(arc.min(), real.min()), (arc.max(), real.max())] {
                        let off = Angle::from_radians(a.radians() - b.radians()).wrapped();
                        ends.push(off.degrees().abs());
                    }
                    over.push(arc.width().degrees() - real.width().degrees());
                }
                (JointTruth::Ball { .. }, _) => {
                    overlaps.extend(overlap(entry, truth, &mut rng));
                }
                _ => {}
            }
        }
        let rig = found.into_rig();
        let bound = crate::enforce::BoundRig::new(&rig, &synth.skeleton).unwrap();
        let check = bound.check(&synth.clip, std::num::NonZeroUsize::MIN);
        unchecked += usize::from(!check.ok());
    }
    over.sort_by(f64::total_cmp);
    ends.sort_by(f64::total_cmp);
    overlaps.sort_by(f64::total_cmp);
    let at =
        |v: &Vec<f64>, q: f64| v.get((q * v.len() as f64) as usize).copied().unwrap_or(f64::NAN);
    println!(
        "{exploration:?} {noise} n={frames} {model:?}: ends median {:.2} p95 {:.2} max {:.2}; wider by at most {:.2}; IoU median {:.3} p10 {:.3} min {:.3}; check fails {unchecked}",
        at(&ends, 0.5),
        at(&ends, 0.95),
        at(&ends, 0.9999),
        at(&over, 0.9999),
        at(&overlaps, 0.5),
        at(&overlaps, 0.1),
        at(&overlaps, 0.0)
    );
}

#[test]
fn study_limits() {
    for model in [BallModel::Polygon, BallModel::Auto] {
        for noise in [0.0, 0.3, 1.0] {
            for exploration in [Exploration::Full, Exploration::Scatter] {
                study(exploration, noise, 2000, model, 25);
            }
        }
    }
    study(Exploration::Full, 1.0, 5000, BallModel::Polygon, 25);
    study(Exploration::Full, 0.3, 300, BallModel::Polygon, 25);
    let _ = Rotation::IDENTITY;
}

#[test]
fn speed() {
    let options = Options { frames: 100, ..Options::default() };
    let synth = Synth::generate(&Figure::random(31, 1).unwrap(), &options, 1).unwrap();
    for model in [BallModel::Polygon, BallModel::Ellipse, BallModel::Auto] {
        let how = EstimateOptions { ball: model, ..EstimateOptions::default() };
        let mut best = f64::INFINITY;
        for _ in 0..200 {
            let start = std::time::Instant::now();
            std::hint::black_box(estimate(&takes(&synth), &how).unwrap());
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!("{model:?}: 30 joints x 100 samples in {:.3} ms", best * 1e3);
    }
}
