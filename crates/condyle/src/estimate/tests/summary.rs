//! Ball joints through summaries, against those from the samples themselves (A11, B5, B7).

use super::*;
use crate::limits::{PreparedLimit, SwingLimit};

/// How two estimates of a ball joint differ.
#[derive(Default)]
struct Differences {
    /// Intersection over union of the solid angles.
    overlaps: Vec<f64>,
    /// How far one region reaches beyond the other, degrees, at the directions of one that are not in
    /// the other; 0 if there are none.
    beyond: Vec<f64>,
    /// How far rotations at the border of the one limit are from that of the other, degrees.
    borders: Vec<f64>,
    /// The same of twist alone.
    twists: Vec<f64>,
}

/// A limit of twist alone.
fn twist_of(limit: &Limit) -> PreparedLimit {
    let mut limit = limit.clone();
    if let Limit::SwingTwist(both) = &mut limit {
        both.swing = SwingLimit::Free;
    }
    limit.prepare().unwrap()
}

impl Differences {
    fn add(&mut self, exact: &RigJoint, found: &RigJoint, seen: &[Rotation], rng: &mut Rng) {
        let limits = [exact, found].map(|entry| entry.limit.prepare().unwrap());
        let [Some(a), Some(b)] = limits.each_ref().map(PreparedLimit::swing) else { return };
        let there = found.center.inverse() * exact.center;
        let out = |d: Option<Angle>| d.map_or(0.0, |d| -d.degrees());
        let mut shared = 0;
        let samples = a.samples(2000, || rng.uniform());
        let mut farthest = 0.0_f64;
        for d in &samples {
            shared += usize::from(b.contains(there * *d));
            farthest = farthest.max(out(b.distance(there * *d)));
        }
        for d in b.samples(2000, || rng.uniform()) {
            farthest = farthest.max(out(a.distance(there.inverse() * d)));
        }
        let both = a.area() * shared as f64 / samples.len() as f64;
        self.overlaps.push(both / (a.area() + b.area() - both));
        self.beyond.push(farthest);
        // What is at the border of the one should be at that of the other, and so in twist alone.
        let twists = [exact, found].map(|entry| twist_of(&entry.limit));
        for q in seen {
            let axis = rng.direction();
            let near = Rotation::from_axis_angle(axis, deg(10.0 * rng.uniform())).unwrap() * *q;
            let depth = |[a, b]: &[PreparedLimit; 2]| {
                let of = |entry: &RigJoint, limit: &PreparedLimit| {
                    limit.distance(entry.center.inverse() * near).degrees()
                };
                [of(exact, a), of(found, b)]
            };
            for (limits, list) in [(&limits, &mut self.borders), (&twists, &mut self.twists)] {
                let [depth, other] = depth(limits);
                if depth.abs() < 0.5 {
                    list.push((depth - other).abs());
                }
            }
        }
    }
}

fn differences(noise: f64, model: BallModel) -> Differences {
    let mut rng = Rng::new(1);
    let mut all = Differences::default();
    for seed in 0..figures(6, 100) {
        let synth = random(seed, &options(Exploration::Full, noise, 2000));
        let exact = estimated(&synth, &with(model));
        let summary = Summary::of_take(&synth.skeleton, &synth.clip, &with(model));
        let found = estimate_summary(&summary, &with(model)).unwrap();
        for (joint, entry, _) in joints(&synth, &exact) {
            let other = found.joints.get(&synth.skeleton[joint].name).unwrap();
            assert_eq!(entry.kind, other.kind);
            if entry.kind == JointKind::Ball {
                let seen: Vec<Rotation> = relative(&synth, joint).step_by(4).collect();
                all.add(entry, other, &seen, &mut rng);
            }
        }
    }
    all
}

#[test]
fn balls_through_summaries_are_near_those_from_samples_a11() {
    let resolution = Summary::resolution().degrees();
    let mut measured = Vec::new();
    for model in [BallModel::Polygon, BallModel::Ellipse] {
        for noise in [0.0, 0.3, 1.0] {
            let Differences { mut overlaps, mut beyond, mut borders, mut twists } =
                differences(noise, model);
            let (middle, least) = (quantile(&mut overlaps, 0.5), quantile(&mut overlaps, 0.0));
            let far = [0.5, 0.9, 1.0].map(|share| quantile(&mut beyond, share));
            let off = [0.5, 0.9, 0.99].map(|share| quantile(&mut borders, share));
            let twist = [0.5, 0.9, 0.99].map(|share| quantile(&mut twists, share));
            println!(
                "{model:?}, noise {noise}: {} balls, overlap {middle:.3}, {least:.3} at least; beyond \
                 {far:.2?}; {} rotations at borders off by {off:.2?}, {} at those of twist by \
                 {twist:.2?}",
                overlaps.len(),
                borders.len(),
                twists.len()
            );
            measured.push((model, noise, [middle, least], off, twist));
        }
    }
    for (model, noise, [middle, least], off, twist) in measured {
        // Measured: 0.979 to 0.991, and 0.946 to 0.973.
        assert!(middle >= 0.97 && least >= 0.93, "{model:?} {noise}: {middle} {least}");
        // Half of the borders are off by 0.35° to 0.64°, nine tenths by up to 0.92°; at 1° of noise, where
        // each is told from other samples, by up to 1.56°.
        let most = if noise < 1.0 { resolution } else { 2.0 * resolution };
        assert!(off[0] <= 0.8 && off[1] <= most, "{model:?} {noise}: {off:?}");
        // Twist changes by more than the rotation does where the swing is large: nine tenths of its
        // ends are off by up to 1.02° without noise. Noise is not taken off it: 1.6° and 1.8° with it.
        if noise < 0.1 {
            assert!(twist[1] <= 1.25 * resolution, "{model:?}: {twist:?}");
        }
    }
}

#[test]
fn a_hinge_that_turns_all_around_is_full_through_summaries_too_and_no_other_is_a9() {
    let how = EstimateOptions { noise: Noise::Given(deg(0.0)), ..EstimateOptions::default() };
    for (gap, frames, full) in [
        (0.0, 60, true),
        (0.0, 900, true),
        (12.0, 900, false),
        (30.0, 300, false),
        (70.0, 30, false),
    ] {
        let angle = |i: usize| 5.0 + (360.0 - gap) * i as f64 / (frames - 1) as f64;
        let turns: Vec<Rotation> = (0..frames).map(|i| Rotation::about_z(deg(angle(i)))).collect();
        let (skeleton, clip) = alone::one_joint(&turns);
        let exact = estimate(&[Take { skeleton: &skeleton, clip: &clip }], &how).unwrap();
        let summary = Summary::of_take(&skeleton, &clip, &how);
        for found in [exact, estimate_summary(&summary, &how).unwrap()] {
            let Limit::Hinge { arc, .. } = found.joints.get("joint").unwrap().limit else {
                panic!("{gap} {frames}: {found:?}")
            };
            assert_eq!(arc.is_full(), full, "{gap} {frames}: {arc:?}");
            // To the resolution, at both ends.
            assert!(full || arc.width().degrees() < 362.0 - gap, "{gap} {frames}: {arc:?}");
        }
    }
}
