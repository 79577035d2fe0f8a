//! How far joints go, against the truth (A6, A7, A9, B5, B7).

use super::*;
use crate::limits::SwingLimit;
use crate::math::angle_between;
use crate::synth::RegionShape;

#[test]
fn a6_hinge_axes_are_as_good_as_the_noise_lets_them() {
    for exploration in [Exploration::Full, Exploration::Scatter] {
        let mut ratios = Vec::new();
        for noise in [0.3, 1.0, 2.0] {
            for seed in 0..figures(40, 400) {
                let frames = [100, 300, 1000, 5000][seed as usize % 4];
                let synth = random(seed, &options(exploration, noise, frames));
                let found = estimated(&synth, &with(BallModel::Box));
                for (joint, entry, truth) in joints(&synth, &found) {
                    let JointTruth::Hinge { axis: real, .. } = truth else { continue };
                    let Limit::Hinge { axis, .. } = entry.limit else { continue };
                    let off = angle_between(axis, *real).radians();
                    let off = off.min(std::f64::consts::PI - off);
                    let sd = synth.spread(joint)[0].radians();
                    ratios.push(off / (deg(noise).radians() / ((frames as f64).sqrt() * sd)));
                }
            }
        }
        let (middle, most) = (quantile(&mut ratios, 0.5), quantile(&mut ratios, 0.95));
        println!("{exploration:?}: {} hinges, {middle:.2}, p95 {most:.2}", ratios.len());
        assert!(middle <= 1.6 && most <= 3.5, "{exploration:?}: {middle} {most}");
    }
}

/// How far the ends of hinges, then of universal joints, are off, and how much too wide their arcs are,
/// degrees.
fn ends(exploration: Exploration, noise: f64, figures: u64) -> [[Vec<f64>; 2]; 2] {
    let mut all = [const { [const { Vec::new() }; 2] }; 2];
    let mut add = |kind: usize, arc: Arc, real: Arc, same: bool| {
        let arc = if same { arc } else { reversed(arc) };
        all[kind][0].extend(apart(arc, real));
        all[kind][1].push(arc.width().degrees() - real.width().degrees());
    };
    for seed in 0..figures {
        let synth = random(seed, &options(exploration, noise, 2000));
        let found = estimated(&synth, &with(BallModel::Box));
        for (_, entry, truth) in joints(&synth, &found) {
            match (truth, &entry.limit) {
                (
                    JointTruth::Hinge { axis: real_axis, arc: real, .. },
                    Limit::Hinge { axis, arc },
                ) => add(0, *arc, *real, axis.dot(*real_axis) > 0.0),
                (
                    JointTruth::Universal { axes: real_axes, arcs: real, .. },
                    Limit::Universal { axes, arcs },
                ) => {
                    for i in 0..2 {
                        add(1, arcs[i], real[i], axes[i].dot(real_axes[i]) > 0.0);
                    }
                }
                _ => {}
            }
        }
    }
    all
}

#[test]
fn a9_ends_of_arcs_are_where_they_are() {
    for (noise, bar) in [(0.0, 0.01), (0.3, 0.7), (1.0, 2.0)] {
        for (kind, [off, wider]) in
            ["hinge", "universal"].iter().zip(&mut ends(Exploration::Full, noise, figures(30, 300)))
        {
            let (middle, high) = (quantile(off, 0.5), quantile(off, 0.95));
            let (worst, widest) = (quantile(off, 1.0), quantile(wider, 1.0));
            println!(
                "{kind}, noise {noise}: {} ends off by {middle:.3}, p95 {high:.2}, {worst:.2} at most; \
                 {widest:.2} too wide at most",
                off.len()
            );
            assert!(middle < bar, "{kind}, noise {noise}: {middle}");
            assert!(widest <= 2.0 + 6.0 * noise, "{kind}, noise {noise}: {widest}");
        }
    }
}

/// Intersection over union of solid angle with the true region, seen from rest.
fn overlap(entry: &RigJoint, truth: &JointTruth, rng: &mut Rng) -> Option<f64> {
    let JointTruth::Ball { swing, center, .. } = truth else { return None };
    let prepared = entry.limit.prepare().unwrap();
    let region = prepared.swing()?;
    let to_truth = center.inverse() * entry.center;
    let samples = region.samples(2000, || rng.uniform());
    let shared = samples.iter().filter(|d| swing.contains(to_truth * **d)).count();
    let both = region.area() * shared as f64 / samples.len() as f64;
    Some(both / (region.area() + swing.solid_angle() - both))
}

fn overlaps(
    noise: f64,
    model: BallModel,
    figures: u64,
    of: impl Fn(RegionShape) -> bool,
) -> Vec<f64> {
    let mut rng = Rng::new(1);
    let mut all = Vec::new();
    for seed in 0..figures {
        let synth = random(seed, &options(Exploration::Full, noise, 2000));
        let found = estimated(&synth, &with(model));
        for (_, entry, truth) in joints(&synth, &found) {
            if matches!(truth, JointTruth::Ball { swing, .. } if of(swing.shape())) {
                all.extend(overlap(entry, truth, &mut rng));
            }
        }
    }
    all
}

#[test]
fn b5_polygons_cover_what_the_bone_covered() {
    for (noise, bar) in [(0.0, 0.93), (0.3, 0.93), (1.0, 0.88)] {
        let mut all = overlaps(noise, BallModel::Polygon, figures(12, 200), |_| true);
        let (middle, low) = (quantile(&mut all, 0.5), quantile(&mut all, 0.1));
        println!(
            "noise {noise}: {} balls, {middle:.3}, p10 {low:.3}, least {:.3}",
            all.len(),
            all[0]
        );
        assert!(middle >= bar, "noise {noise}: {middle}");
        assert!(low >= bar - 0.06, "noise {noise}: {low}");
    }
}

#[test]
fn polygons_have_no_more_corners_than_asked_for() {
    let synth = random(1, &options(Exploration::Full, 0.3, 600));
    for corners in [0, 4, 12, 64] {
        let how = EstimateOptions { corners, ..with(BallModel::Polygon) };
        let found = estimated(&synth, &how);
        let mut balls = 0;
        for (_, entry, _) in joints(&synth, &found) {
            let Limit::SwingTwist(limit) = &entry.limit else { continue };
            let SwingLimit::Polygons(polygons) = &limit.swing else { continue };
            balls += 1;
            assert!(polygons.iter().all(|p| p.len() <= corners.max(4)), "{corners}: {polygons:?}");
        }
        assert!(balls > 0);
    }
}

#[test]
fn b7_off_centre_ellipses_come_back_as_ellipses() {
    let round = |shape| matches!(shape, RegionShape::Ellipse { .. } | RegionShape::Cone { .. });
    for noise in [0.0, 0.3] {
        let mut all = overlaps(noise, BallModel::Ellipse, figures(12, 200), round);
        let (middle, low) = (quantile(&mut all, 0.5), quantile(&mut all, 0.1));
        println!(
            "noise {noise}: {} balls, {middle:.3}, p10 {low:.3}, least {:.3}",
            all.len(),
            all[0]
        );
        assert!(middle >= 0.95, "noise {noise}: {middle}");
    }
}

#[test]
fn b7_the_direction_opposite_to_the_bone_is_left_outside() {
    for seed in 0..6 {
        let synth = random(seed, &options(Exploration::Full, 0.3, 1000));
        let found = estimated(&synth, &EstimateOptions::default());
        for (joint, entry, _) in joints(&synth, &found) {
            let limit = entry.limit.prepare().unwrap();
            let (Some(region), Some(bone)) = (limit.swing(), synth.skeleton.bone_axis(joint))
            else {
                continue;
            };
            if region.area() < 4.0 * std::f64::consts::PI - 1e-6 {
                assert!(!region.contains(-bone), "{}", synth.skeleton[joint].name);
            }
        }
    }
}
