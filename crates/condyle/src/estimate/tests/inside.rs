//! What was estimated from is inside.

use std::num::NonZeroUsize;

use super::*;
use crate::enforce::{BoundRig, Check};
use crate::synth::Coordinates;

const MODELS: [BallModel; 4] =
    [BallModel::Auto, BallModel::Polygon, BallModel::Ellipse, BallModel::Box];

fn check(synth: &Synth, found: Estimate) -> Check {
    let bound = BoundRig::new(&found.into_rig(), &synth.skeleton).unwrap();
    bound.check(&synth.clip, NonZeroUsize::MIN)
}

#[test]
fn the_clip_of_an_estimate_passes_its_check() {
    for noise in [0.0, 0.3, 1.0] {
        for exploration in [Exploration::Full, Exploration::Scatter, Exploration::Dwell] {
            let (mut fail, mut fail_kept, mut all) = (0, 0, 0);
            for seed in 0..figures(2, 40) {
                let synth = random(seed, &options(exploration, noise, 600));
                for ball in MODELS {
                    for raw in [false, true] {
                        let how = EstimateOptions { ball, raw, ..EstimateOptions::default() };
                        let found = estimated(&synth, &how);
                        let rejected: Vec<u64> =
                            joints(&synth, &found).map(|(_, e, _)| e.rejected.unwrap()).collect();
                        let check_ = check(&synth, found);
                        // What is outside was rejected.
                        for joint in &check_.joints {
                            let most = joint.joint.get().checked_sub(1).map_or(0, |i| rejected[i]);
                            assert!(
                                joint.outside as u64 <= most,
                                "{exploration:?} {noise} {ball:?}"
                            );
                        }
                        fail += usize::from(!check_.ok());
                        let how = EstimateOptions { outliers: Outliers::Keep, ..how };
                        fail_kept += usize::from(!check(&synth, estimated(&synth, &how)).ok());
                        all += 1;
                    }
                }
            }
            println!(
                "{exploration:?}, noise {noise}: {fail} of {all} checks fail, {fail_kept} where all \
                 frames are kept"
            );
            assert_eq!(fail_kept, 0, "{exploration:?}, noise {noise}");
            assert_eq!(fail, 0, "{exploration:?}, noise {noise}");
        }
    }
}

/// How far the samples of a joint are outside of each of its arcs and of its region, sample by sample,
/// radians: what a limit says about them if they are on the hinge, or the universal joint, exactly.
fn excesses(synth: &Synth, joint: JointIndex, entry: &RigJoint) -> Vec<Vec<f64>> {
    let moves = relative(synth, joint).map(|q| entry.center.inverse() * q);
    let beyond = |arc: Arc, angle: Angle| -arc.distance(angle).radians();
    let center = entry.center;
    match &entry.limit {
        Limit::Hinge { axis, arc } => {
            let model = JointTruth::Hinge { axis: *axis, arc: *arc, center };
            let angle = |m| match model.coordinates(m) {
                Coordinates::Hinge(angle) => beyond(*arc, angle),
                _ => panic!("no hinge"),
            };
            vec![moves.map(angle).collect()]
        }
        Limit::Universal { axes, arcs } => {
            let model = JointTruth::Universal { axes: *axes, arcs: *arcs, center };
            let angles: Vec<[Angle; 2]> = moves
                .map(|m| match model.coordinates(m) {
                    Coordinates::Universal(angles) => angles,
                    _ => panic!("no universal joint"),
                })
                .collect();
            (0..2).map(|i| angles.iter().map(|a| beyond(arcs[i], a[i])).collect()).collect()
        }
        Limit::SwingTwist(limit) => {
            let prepared = entry.limit.prepare().unwrap();
            let region = prepared.swing().unwrap();
            let bone = limit.axes.bone();
            let mut all = vec![Vec::new(); 2];
            for m in moves {
                let direction = m * bone;
                all[0].push(-region.distance(direction).unwrap().radians());
                let twist = crate::math::SwingTwist::from_rotation(m, &limit.axes).twist;
                all[1].push(beyond(region.twist(direction).unwrap(), twist));
            }
            all
        }
        Limit::EulerBox(_) => {
            let prepared = entry.limit.prepare().unwrap();
            vec![moves.map(|m| -prepared.distance(m).radians()).collect()]
        }
        _ => Vec::new(),
    }
}

#[test]
fn raw_limits_hold_every_sample() {
    for seed in 0..figures(4, 40) {
        let noise = [0.3, 1.0][seed as usize % 2];
        let synth = random(seed, &options(EXPLORATIONS[seed as usize / 2 % 2], noise, 600));
        for ball in MODELS {
            let how = EstimateOptions {
                ball,
                raw: true,
                outliers: Outliers::Keep,
                ..EstimateOptions::default()
            };
            let found = estimated(&synth, &how);
            for (joint, entry, _) in joints(&synth, &found) {
                for excess in excesses(&synth, joint, entry) {
                    let most = excess.into_iter().fold(f64::NEG_INFINITY, f64::max);
                    assert!(
                        most <= 1e-9,
                        "{ball:?}, noise {noise}, figure {seed}, {} {:?}: {most:e} {:?}",
                        synth.skeleton[joint].name,
                        entry.kind,
                        entry.notes
                    );
                }
            }
        }
    }
}

const EXPLORATIONS: [Exploration; 2] = [Exploration::Full, Exploration::Scatter];

#[test]
fn coverage_leaves_no_more_out_than_was_asked() {
    const COVERAGE: f64 = 0.95;
    let mut most_out = 0.0_f64;
    let mut shares = Vec::new();
    for seed in 0..figures(4, 40) {
        let synth = random(seed, &options(EXPLORATIONS[seed as usize % 2], 0.0, 600));
        for ball in MODELS {
            let how = EstimateOptions {
                ball,
                coverage: COVERAGE,
                outliers: Outliers::Keep,
                ..EstimateOptions::default()
            };
            let found = estimated(&synth, &how);
            for (joint, entry, _) in joints(&synth, &found) {
                let all = excesses(&synth, joint, entry);
                // A box has three arcs, each of which leaves out as much.
                let each =
                    if ball == BallModel::Box && entry.kind == JointKind::Ball { 3.0 } else { 1.0 };
                for excess in all {
                    let out = excess.iter().filter(|e| **e > 1e-9).count() as f64;
                    let share = out / excess.len() as f64 / each;
                    most_out = most_out.max(share);
                    shares.push(share);
                    assert!(
                        share <= 1.0 - COVERAGE + 2.0 / excess.len() as f64,
                        "{ball:?} {} {:?}: {share}",
                        synth.skeleton[joint].name,
                        entry.kind
                    );
                }
                if entry.kind != JointKind::Fixed {
                    assert!(entry.notes.iter().any(|n| n.contains("95 %")), "{:?}", entry.notes);
                }
            }
        }
    }
    println!("{most_out:.4} left out at most, {:.4} in the middle", quantile(&mut shares, 0.5));
    // And it does leave some out.
    assert!(quantile(&mut shares, 0.5) > 0.02);
}

#[test]
fn margins_widen_every_limit() {
    let by = deg(3.0);
    for seed in 0..figures(4, 40) {
        let synth = random(seed, &options(EXPLORATIONS[seed as usize % 2], 0.3, 600));
        for ball in MODELS {
            let how = with(ball);
            let plain = estimated(&synth, &how);
            let wide = estimated(&synth, &EstimateOptions { margin: by, ..how });
            for ((joint, a, _), (_, b, _)) in joints(&synth, &plain).zip(joints(&synth, &wide)) {
                assert_eq!(a.kind, b.kind);
                let grown = |a: Arc, b: Arc| b.width().degrees() - a.width().degrees();
                match (&a.limit, &b.limit) {
                    (Limit::Hinge { arc: a, .. }, Limit::Hinge { arc: b, .. }) => {
                        assert!((grown(*a, *b) - 6.0).abs() < 1e-9 || b.is_full());
                    }
                    (Limit::Universal { arcs: a, .. }, Limit::Universal { arcs: b, .. }) => {
                        for i in 0..2 {
                            assert!((grown(a[i], b[i]) - 6.0).abs() < 1e-9 || b[i].is_full());
                        }
                    }
                    _ => {}
                }
                let excesses = [a, b].map(|entry| excesses(&synth, joint, entry));
                // The margin goes to the semi-axes of an ellipse: near its tips that is less.
                let least =
                    if a.kind == JointKind::Ball { 0.75 * by.radians() } else { by.radians() };
                for (a, b) in excesses[0].iter().flatten().zip(excesses[1].iter().flatten()) {
                    // Outside and near, it is nearer by the margin; deep inside it is at least inside.
                    if *a > 0.0 {
                        assert!(*b <= *a - least + 1e-9, "{ball:?}: {a} {b}");
                    }
                }
            }
        }
    }
}
