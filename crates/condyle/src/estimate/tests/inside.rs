//! What was estimated from is inside.

use std::num::NonZeroUsize;

use glam::DVec3;

use super::*;
use crate::enforce::{BoundRig, Check};
use crate::limits::{SwingLimit, SwingTwistLimit};
use crate::math::trig;
use crate::motion::{FrameRate, Track};
use crate::skeleton::Joint;
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
            let (mut left_out, mut all) = (0, 0);
            for seed in 0..figures(2, 40) {
                let synth = random(seed, &options(exploration, noise, 600));
                for ball in MODELS {
                    for raw in [false, true] {
                        let how = EstimateOptions { ball, raw, ..EstimateOptions::default() };
                        let found = estimated(&synth, &how);
                        let rejected: Vec<u64> =
                            joints(&synth, &found).map(|(_, e, _)| e.rejected.unwrap()).collect();
                        let found = check(&synth, found);
                        assert!(found.ok(), "{exploration:?} {noise} {ball:?}");
                        for joint in &found.joints {
                            let most = joint.joint.get().checked_sub(1).map_or(0, |i| rejected[i]);
                            let known = joint.left_out as u64;
                            assert!(known <= most, "{exploration:?} {noise} {ball:?}");
                            left_out += joint.left_out;
                            all += found.frames;
                        }
                        let how = EstimateOptions { outliers: Outliers::Keep, ..how };
                        let kept = check(&synth, estimated(&synth, &how));
                        assert!(kept.ok() && kept.joints.iter().all(|j| j.left_out == 0));
                    }
                }
            }
            println!("{exploration:?}, noise {noise}: {left_out} of {all} left out and outside");
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

/// How much of a margin on both semi-axes of an ellipse there is across its boundary at least. That is
/// r(φ) away from the middle, and leans by arctan(r′ / sin r).
fn least_across(rx: Angle, ry: Angle, by: Angle) -> f64 {
    let radius = |phi: f64, more: f64| {
        let (sin, cos) = trig::sin_cos(phi);
        1.0 / trig::hypot(cos / (rx.radians() + more), sin / (ry.radians() + more))
    };
    let across = |i: u32| {
        let phi = f64::from(i) * 1e-3;
        let slope = (radius(phi + 1e-5, 0.0) - radius(phi - 1e-5, 0.0)) / 2e-5;
        let lean = trig::hypot(slope / trig::sin(radius(phi, 0.0)), 1.0);
        (radius(phi, by.radians()) - radius(phi, 0.0)) / lean
    };
    (0..1571).map(across).fold(f64::INFINITY, f64::min) / by.radians()
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
                // The margin goes to the semi-axes of an ellipse.
                let part = match &a.limit {
                    Limit::SwingTwist(SwingTwistLimit {
                        swing: SwingLimit::Ellipse { rx, ry },
                        ..
                    }) => 0.98 * least_across(*rx, *ry, by),
                    _ if a.kind == JointKind::Ball => 0.75,
                    _ => 1.0,
                };
                let least = part * by.radians();
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

/// How far the rotations at the corners of a universal joint's arcs are from the mean of the samples at
/// most, over how far these are.
fn reach(entry: &RigJoint, samples: &[Rotation]) -> Option<f64> {
    let Limit::Universal { axes, arcs } = &entry.limit else { return None };
    let moments = moments::Moments::of(&samples.iter().copied().collect());
    let mean = models::Spread::new(&moments.means())?.mean();
    let seen = samples.iter().map(|q| q.distance(mean).degrees()).fold(0.0, f64::max);
    let turn = |i: usize, angle: Angle| Rotation::from_axis_angle(axes[i], angle).unwrap();
    let corners = [arcs[0].min(), arcs[0].max()].into_iter().flat_map(|first| {
        [arcs[1].min(), arcs[1].max()].map(|second| entry.center * turn(0, first) * turn(1, second))
    });
    let allowed = corners.map(|q| q.distance(mean).degrees()).fold(0.0, f64::max);
    Some(allowed / seen.max(1.0))
}

/// A joint that wobbles by some degrees about all axes is explained by two nearly parallel ones that turn
/// against each other by a hundred: that must not become its limit.
#[test]
fn a_universal_joint_allows_not_much_more_than_was_seen() {
    let mut reached = Vec::new();
    for seed in 0..figures(60, 600) {
        let mut rng = Rng::new(seed);
        let widths = [rng.between(2.0, 6.0), rng.between(0.7, 3.0), rng.between(0.0, 0.6)];
        let about = rng.rotation();
        let (phases, rates): (Vec<f64>, Vec<f64>) =
            (0..9).map(|_| (rng.between(0.0, 360.0), rng.between(0.5, 6.0))).unzip();
        let angle = |k: usize, i: usize| {
            let at = |j: usize| {
                deg(phases[3 * k + j] + 360.0 * rates[3 * k + j] * i as f64 / 600.0).radians()
            };
            (0..3).map(|j| trig::sin(at(j))).sum::<f64>() * widths[k] / 1.7
        };
        // Bent, so that the way is no plane.
        let bend = rng.between(-0.1, 0.1);
        let samples: Vec<Rotation> = (0..600)
            .map(|i| {
                let [x, y] = [angle(0, i), angle(1, i)];
                let v = DVec3::new(x, y, angle(2, i) + bend * x * x);
                about * Rotation::exp(v * deg(1.0).radians()).unwrap()
            })
            .collect();
        let mut skeleton = Skeleton::new();
        let root = skeleton.add_root(Joint::new("root", DVec3::ZERO)).unwrap();
        skeleton.add(root, Joint::new("joint", DVec3::Y)).unwrap();
        let tracks = vec![
            Track::constant(Rotation::IDENTITY, DVec3::ZERO),
            Track::turning(samples.iter().copied().collect(), DVec3::Y),
        ];
        let clip = Clip::new(samples.len(), FrameRate::from_fps(60.0).unwrap(), tracks);
        let clip = clip.unwrap();
        let found =
            estimate(&[Take { skeleton: &skeleton, clip: &clip }], &EstimateOptions::default());
        let found = found.unwrap();
        reached.extend(reach(found.joints.get("joint").unwrap(), &samples));
    }
    let (middle, most) = (quantile(&mut reached, 0.5), quantile(&mut reached, 1.0));
    println!(
        "{} universal joints allow {middle:.2} times what was seen, {most:.2} at most",
        reached.len()
    );
    assert!(reached.len() >= 10 && middle < 1.6 && most < 3.0, "{middle} {most}");
}
