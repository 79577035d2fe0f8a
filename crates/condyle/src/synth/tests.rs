//! The generator as a whole: what it makes is what it says.

use std::collections::BTreeSet;

use glam::DVec3;

use super::{
    Coordinates, Exploration, Figure, GlitchScope, Glitches, JointTruth, Keys, Options, Rng, Synth,
    SynthError,
};
use crate::math::{Angle, EulerOrder, Rotation, angle_between, trig};
use crate::motion::{Clip, FrameIndex, FrameRate, Interpolation, KeyTimes};
use crate::skeleton::JointIndex;

fn generate(figure: &Figure, options: &Options, seed: u64) -> Synth {
    Synth::generate(figure, options, seed).unwrap()
}

fn frames(frames: usize) -> Options {
    Options { frames, ..Options::default() }
}

fn bits(clip: &Clip, j: JointIndex) -> Vec<[u64; 4]> {
    clip.track(j).rotations().iter().map(|r| r.quat().to_array().map(f64::to_bits)).collect()
}

fn all_bits(clip: &Clip, figure: &Figure) -> Vec<Vec<[u64; 4]>> {
    figure.skeleton().indices().map(|j| bits(clip, j)).collect()
}

/// The turn about `axis` that takes the part of `from` across it to that of `to`.
fn azimuth(axis: DVec3, from: DVec3, to: DVec3) -> Angle {
    let (f, t) = (from - axis * axis.dot(from), to - axis * axis.dot(to));
    Angle::from_radians(trig::atan2(axis.dot(f.cross(t)), f.dot(t)))
}

/// Panics unless a local rotation is what the truth allows. Goes by images of vectors only, not by
/// the quaternion parts that made it.
#[track_caller]
fn check_allowed(truth: &JointTruth, rest: Rotation, local: Rotation) {
    /// Rounding of four products of rotations, with headroom.
    const ROUNDING: f64 = 1e-14;
    let m = (rest * truth.center()).inverse().to_matrix() * local.to_matrix();
    match *truth {
        JointTruth::Free => {}
        JointTruth::Fixed { center } => {
            assert!((rest * center).distance(local).radians() < ROUNDING);
        }
        JointTruth::Hinge { axis, arc, .. } => {
            assert!((m * axis - axis).length() < ROUNDING, "off the axis");
            let across = axis.any_orthonormal_vector();
            assert!(arc.contains(azimuth(axis, across, m * across)), "outside {arc:?}");
        }
        JointTruth::Universal { axes: [a, b], arcs, .. } => {
            assert!((a.dot(m * b) - a.dot(b)).abs() < ROUNDING, "off both axes");
            assert!(arcs[0].contains(azimuth(a, b, m * b)), "first outside {arcs:?}");
            // Seen from the moving joint the first axis turns about the second, the other way.
            let second = -azimuth(b, a, m.transpose() * a);
            assert!(arcs[1].contains(second), "second outside {arcs:?}: {second:?}");
        }
        JointTruth::Ball { bone_axis: b, swing, twist, .. } => {
            let d = m * b;
            assert!(swing.contains(d), "outside {swing:?}");
            // Carry a vector along the great arc to d without turning it, and compare.
            let p = b.any_orthonormal_vector();
            let carried = p - (b + d) * (p.dot(d) / (1.0 + b.dot(d)));
            assert!(twist.contains(azimuth(d, carried, m * p)), "twist outside {twist:?}");
        }
    }
}

const EXPLORATIONS: [Exploration; 6] = [
    Exploration::Full,
    Exploration::Partial { share: 0.5 },
    Exploration::Partial { share: 0.05 },
    Exploration::Dwell,
    Exploration::Poses,
    Exploration::Scatter,
];

#[test]
fn every_clean_sample_is_what_the_truth_allows() {
    for seed in 0..120 {
        let figure = if seed == 0 { Figure::human() } else { Figure::random(15, seed).unwrap() };
        let exploration = EXPLORATIONS[usize::try_from(seed).unwrap() % EXPLORATIONS.len()];
        let synth = generate(&figure, &Options { exploration, ..frames(200) }, seed);
        for j in synth.skeleton.indices() {
            let (truth, rest) = (&synth.truth[j.get()], synth.skeleton[j].rest);
            for (f, local) in synth.clip.track(j).rotations().iter().enumerate() {
                check_allowed(truth, rest, local);
                let m = truth.rotation(synth.coordinates[j.get()][f]).unwrap();
                if synth.skeleton.parent(j).is_some() {
                    let stated = rest * truth.center() * m;
                    assert!(stated.distance(local).radians() < 1e-14, "coordinates as stated");
                }
            }
            if synth.skeleton.parent(j).is_some() {
                let place = synth.clip.track(j).translations_m();
                assert!(place.iter().all(|p| p == synth.skeleton[j].offset_m));
            }
        }
    }
}

#[test]
fn full_exploration_meets_every_end_and_partial_its_share() {
    for seed in 0..60 {
        let figure = Figure::random(15, seed).unwrap();
        for (exploration, share) in [
            (Exploration::Full, 1.0),
            (Exploration::Poses, 1.0),
            (Exploration::Dwell, 1.0),
            (Exploration::Partial { share: 0.35 }, 0.35),
        ] {
            let synth = generate(&figure, &Options { exploration, ..frames(100) }, seed);
            for j in synth.skeleton.indices() {
                let arcs = match synth.truth[j.get()] {
                    JointTruth::Hinge { arc, .. } => vec![arc],
                    JointTruth::Universal { arcs, .. } => arcs.to_vec(),
                    JointTruth::Ball { twist, .. } => vec![twist],
                    _ => vec![],
                };
                let explored = synth.explored(j);
                assert_eq!(arcs.len(), explored.len());
                for (arc, explored) in arcs.into_iter().zip(explored) {
                    let width = explored.width().radians() / arc.width().radians();
                    assert!((width - share).abs() < 1e-9, "{exploration:?} {arc:?} {explored:?}");
                    assert!(arc.contains(explored.min()) && arc.contains(explored.max()));
                    if share == 1.0 {
                        let gap = (arc.min() - explored.min()).wrapped().radians().abs();
                        assert!(gap < 1e-9, "{arc:?} {explored:?}");
                    }
                }
            }
        }
    }
}

/// How far joints turn from one frame to the next, at most, in degrees times the root of the number
/// of frames: a human figure, all but the next, and balls that point beyond a hemisphere.
///
/// Measured 267, 339 and 481 over the figures below; a quarter more is allowed. So at 2000 frames no
/// joint of the human turns by more than 7.4° in a frame.
const STEPS: [f64; 3] = [330.0, 420.0, 600.0];

#[test]
fn consecutive_frames_are_near_each_other() {
    let mut worst = [0.0_f64; 3];
    for seed in 0..40 {
        let figure = if seed == 0 { Figure::human() } else { Figure::random(15, seed).unwrap() };
        for n in [100, 400, 2000, 5000] {
            let root = f64::from(u32::try_from(n).unwrap()).sqrt();
            for exploration in [Exploration::Full, Exploration::Partial { share: 0.4 }] {
                let synth = generate(&figure, &Options { exploration, ..frames(n) }, seed);
                for j in synth.skeleton.indices().skip(1) {
                    let wide = matches!(synth.truth[j.get()], JointTruth::Ball { swing, .. }
                        if swing.solid_angle() > std::f64::consts::TAU);
                    let class = if seed == 0 { 0 } else { 1 + usize::from(wide) };
                    let rotations = synth.clip.track(j).rotations();
                    for f in 1..n {
                        let step = rotations.at(f).distance(rotations.at(f - 1)).degrees();
                        worst[class] = worst[class].max(step * root);
                    }
                }
            }
        }
    }
    assert!(worst.iter().zip(STEPS).all(|(w, most)| *w < most), "{worst:?}");
}

#[test]
fn dwelling_joints_are_mostly_at_the_ends() {
    let synth =
        generate(&Figure::human(), &Options { exploration: Exploration::Dwell, ..frames(1000) }, 5);
    for j in synth.skeleton.indices() {
        if let JointTruth::Hinge { arc, .. } = synth.truth[j.get()] {
            let at = |end: Angle| {
                let near = synth.coordinates[j.get()].iter().filter(|c| {
                    let Coordinates::Hinge(angle) = c else { panic!("a hinge") };
                    (*angle - end).radians().abs() < 1e-9
                });
                near.count()
            };
            let (low, high) = (at(arc.min()), at(arc.max()));
            assert!(low > 200 && high > 200 && low + high > 600, "{low} {high}");
        }
    }
}

#[test]
fn poses_are_the_full_motion_in_another_order() {
    let figure = Figure::random(10, 8).unwrap();
    let full = generate(&figure, &frames(300), 8);
    let options = Options { exploration: Exploration::Poses, ..frames(300) };
    let poses = generate(&figure, &options, 8);
    let rows = |synth: &Synth| -> Vec<Vec<[u64; 4]>> {
        let columns = all_bits(&synth.clip, &figure);
        (0..300).map(|f| columns.iter().map(|c| c[f]).collect()).collect()
    };
    let (ordered, shuffled) = (rows(&full), rows(&poses));
    assert_ne!(ordered, shuffled);
    let set = |rows: &[Vec<[u64; 4]>]| rows.iter().cloned().collect::<BTreeSet<_>>();
    assert_eq!(set(&ordered), set(&shuffled), "whole poses stay together");
}

#[test]
fn noise_is_normal_and_independent_per_frame_and_axis() {
    let figure = Figure::human();
    let sigma = Angle::from_degrees(1.0);
    let options = Options { noise: sigma, ..frames(4000) };
    let synth = generate(&figure, &options, 3);
    let without = generate(&figure, &frames(4000), 3);
    assert_eq!(all_bits(&synth.clean, &figure), all_bits(&without.clip, &figure));
    let mut noise: Vec<DVec3> = Vec::new();
    for j in synth.skeleton.indices() {
        let pairs = synth.clean.track(j).rotations().iter();
        noise.extend(
            pairs
                .zip(synth.clip.track(j).rotations().iter())
                .map(|(clean, spoilt)| (clean.inverse() * spoilt).log() / sigma.radians()),
        );
    }
    let n = noise.len() as f64;
    // Six standard errors each: 1/√n of a mean or a product, √2/√n of a variance.
    let bound = 6.0 / n.sqrt();
    let mean = noise.iter().sum::<DVec3>() / n;
    let squares = noise.iter().map(|v| *v * *v).sum::<DVec3>() / n;
    let across = noise.iter().map(|v| *v * DVec3::new(v.y, v.z, v.x)).sum::<DVec3>() / n;
    let next = noise.windows(2).map(|w| w[0] * w[1]).sum::<DVec3>() / n;
    let joints = noise.windows(4001).map(|w| w[0] * w[4000]).sum::<DVec3>() / n;
    for v in [mean, across, next, joints] {
        assert!(v.abs().max_element() < bound, "{v}");
    }
    assert!((squares - DVec3::ONE).abs().max_element() < bound * 1.42, "{squares}");
    let beyond = noise.iter().filter(|v| v.x.abs() > 3.0).count() as f64;
    assert!((beyond / n - 2.7e-3).abs() < 6.0 * (2.7e-3 / n).sqrt(), "{beyond}");
}

#[test]
fn glitches_are_as_many_as_asked_and_nothing_else_changes() {
    let figure = Figure::random(12, 4).unwrap();
    let base = Options { noise: Angle::from_degrees(0.3), ..frames(1000) };
    let without = generate(&figure, &base, 4);
    for scope in [GlitchScope::Joint, GlitchScope::Pose] {
        let options = Options { glitches: Glitches { share: 0.005, scope }, ..base };
        let synth = generate(&figure, &options, 4);
        for j in synth.skeleton.indices() {
            let glitches = &synth.glitches[j.get()];
            assert_eq!(glitches.len(), 5);
            let (before, after) = (bits(&without.clip, j), bits(&synth.clip, j));
            for f in synth.clip.frames() {
                let distance = synth.clean.track(j).rotations().at(f.get());
                let distance = distance.distance(synth.clip.track(j).rotations().at(f.get()));
                if glitches.contains(&f) {
                    assert!(distance.degrees() >= 29.9, "{distance:?}");
                } else {
                    assert_eq!(before[f.get()], after[f.get()]);
                    assert!(distance.degrees() < 3.0);
                }
            }
        }
        let same = synth.glitches.iter().all(|g| *g == synth.glitches[0]);
        assert_eq!(same, scope == GlitchScope::Pose);
    }
    assert!(without.glitches.iter().all(Vec::is_empty));
}

#[test]
fn sign_flips_turn_the_quaternion_and_not_the_joint() {
    let figure = Figure::random(8, 5).unwrap();
    let without = generate(&figure, &frames(500), 5);
    let synth = generate(&figure, &Options { sign_flips: 0.5, ..frames(500) }, 5);
    for j in synth.skeleton.indices() {
        let flips = &synth.sign_flips[j.get()];
        assert_eq!(flips.len(), 250);
        for f in synth.clip.frames() {
            let q = synth.clip.track(j).rotations().at(f.get()).quat();
            let before = without.clip.track(j).rotations().at(f.get()).quat();
            assert_eq!(q, if flips.contains(&f) { -before } else { before });
        }
    }
}

#[test]
fn repeated_frames_are_added_and_none_is_lost() {
    let figure = Figure::random(8, 6).unwrap();
    let glitches = Glitches { share: 0.02, scope: GlitchScope::Joint };
    let base = Options { noise: Angle::from_degrees(0.5), glitches, ..frames(400) };
    let without = generate(&figure, &base, 6);
    let synth = generate(&figure, &Options { repeats: 0.1, ..base }, 6);
    assert_eq!(synth.repeats.len(), 40);
    assert_eq!(synth.clip.frame_count(), 440);
    for j in synth.skeleton.indices() {
        for (long, short) in [(&synth.clip, &without.clip), (&synth.clean, &without.clean)] {
            let long = bits(long, j);
            for f in &synth.repeats {
                assert_eq!(long[f.get()], long[f.get() - 1]);
            }
            let kept: Vec<_> = (0..440_u32)
                .filter(|f| !synth.repeats.contains(&FrameIndex(*f)))
                .map(|f| long[f as usize])
                .collect();
            assert_eq!(kept, bits(short, j));
        }
        let first_time =
            synth.glitches[j.get()].iter().filter(|f| !synth.repeats.contains(f)).count();
        assert_eq!(first_time, 8, "glitch frames move with their frames");
        assert_eq!(synth.coordinates[j.get()].len(), 440);
        for f in &synth.glitches[j.get()] {
            let clean = synth.clean.track(j).rotations().at(f.get());
            let there = synth.clip.track(j).rotations().at(f.get());
            assert!(clean.distance(there).degrees() > 29.9);
        }
    }
    let root = synth.skeleton.indices().next().unwrap();
    let positions = synth.clip.track(root).translations_m();
    assert!(synth.repeats.iter().all(|f| positions.at(f.get()) == positions.at(f.get() - 1)));
}

#[test]
fn sparse_keys_are_frames_of_the_motion() {
    let figure = Figure::random(8, 7).unwrap();
    let without = generate(&figure, &frames(300), 7);
    for (count, interpolation) in
        [(12, Interpolation::Step), (5, Interpolation::Linear), (1, Interpolation::Smooth)]
    {
        let options = Options { keys: Keys::Sparse { count, interpolation }, ..frames(300) };
        let synth = generate(&figure, &options, 7);
        let keys = synth.keys.as_ref().unwrap();
        for j in synth.skeleton.indices() {
            let track = synth.clip.track(j);
            assert_eq!(track.interpolation(), interpolation);
            let KeyTimes::At(times) = track.rotation_times() else { panic!("keyed") };
            let frames = &keys[j.get()];
            assert_eq!((times.len(), frames.len()), (count, count));
            assert_eq!(frames[0], FrameIndex(0));
            assert!(count == 1 || frames[count - 1] == FrameIndex(299));
            for (k, f) in frames.iter().enumerate() {
                assert_eq!(times[k].to_bits(), options.rate.time_of(*f).to_bits());
                let expected = without.clip.track(j).rotations().at(f.get());
                assert_eq!(track.rotations().at(k).quat(), expected.quat());
            }
        }
        assert_eq!(all_bits(&synth.clean, &figure), all_bits(&without.clean, &figure));
    }
    let many = Keys::Sparse { count: 9999, interpolation: Interpolation::Step };
    let synth = generate(&figure, &Options { keys: many, ..frames(30) }, 7);
    assert_eq!(synth.keys.unwrap()[1].len(), 30);
}

#[test]
fn channels_give_the_motion_back_and_wraps_are_whole_turns() {
    let figure = Figure::random(13, 9).unwrap();
    let options = Options { noise: Angle::from_degrees(0.5), ..frames(200) };
    let synth = generate(&figure, &options, 9);
    let order_of = |j: JointIndex| EulerOrder::ALL[j.get() % 12];
    let plain = synth.channels(order_of, 0.0, 1).unwrap();
    let wrapped = synth.channels(order_of, 0.2, 1).unwrap();
    assert!(plain.wraps.is_empty());
    let turns = 13 * 3 * 200;
    let expected = 0.2 * f64::from(turns);
    let found = wrapped.wraps.len() as f64;
    assert!((found - expected).abs() < 5.0 * (0.8 * expected).sqrt(), "{found}");

    let (a, b) = (plain.channels.columns(), wrapped.channels.columns());
    assert_eq!(a.columns(), 13 * 3 + 3);
    let mut wraps = wrapped.wraps.iter().peekable();
    for column in 0..a.columns() {
        for frame in 0..a.frames() {
            let mut expected = a.value(column, frame);
            if let Some(w) = wraps.next_if(|w| (w.column, w.frame) == (column, frame)) {
                assert!((1..=2).contains(&w.turns.abs()));
                expected += 360.0 * f64::from(w.turns);
            }
            assert_eq!(b.value(column, frame).to_bits(), expected.to_bits());
        }
    }
    assert!(wraps.next().is_none());

    for source in [plain, wrapped] {
        let clip = Clip::from_channels(&synth.skeleton, options.rate, source.channels).unwrap();
        for j in synth.skeleton.indices() {
            for f in 0..200 {
                let there = synth.clip.track(j).rotations().at(f);
                let error = clip.track(j).rotations().at(f).distance(there).radians();
                // Two turns cost two roundings of 720° plus those of degrees.
                assert!(error < 1e-14, "{j:?} {f}: {error:e}");
            }
        }
        let root = synth.skeleton.indices().next().unwrap();
        for f in 0..200 {
            let gap = clip.track(root).translations_m().at(f)
                - synth.clip.track(root).translations_m().at(f);
            assert!(gap.length() < 1e-14);
        }
    }
    assert!(matches!(
        synth.channels(order_of, 1.5, 1).unwrap_err(),
        SynthError::Share { option: "wraps", .. }
    ));
}

#[test]
fn everything_depends_on_the_seed_only() {
    let figure = Figure::random(9, 1).unwrap();
    let glitches = Glitches { share: 0.01, scope: GlitchScope::Joint };
    let noise = Angle::from_degrees(1.0);
    let options = Options { noise, glitches, sign_flips: 0.1, repeats: 0.05, ..frames(200) };
    let (a, b) = (generate(&figure, &options, 1), generate(&figure, &options, 1));
    assert_eq!(all_bits(&a.clip, &figure), all_bits(&b.clip, &figure));
    assert_eq!((&a.glitches, &a.repeats), (&b.glitches, &b.repeats));
    let other = generate(&figure, &options, 2);
    assert_ne!(all_bits(&a.clip, &figure), all_bits(&other.clip, &figure));
}

#[test]
fn a_thousand_random_skeletons_can_be_made() {
    let mut rng = Rng::new(1);
    for seed in 0..1000 {
        let figure = Figure::random(5 + rng.below(26), seed).unwrap();
        let synth = generate(&figure, &frames(100), seed);
        let j = synth.skeleton.indices().nth(1).unwrap();
        check_allowed(
            &synth.truth[1],
            synth.skeleton[j].rest,
            synth.clip.track(j).rotations().at(57),
        );
    }
}

#[test]
fn spreads_are_those_of_the_motion() {
    let synth = generate(&Figure::human(), &frames(2000), 1);
    for j in synth.skeleton.indices() {
        let spread = synth.spread(j);
        match synth.truth[j.get()] {
            // A sine has 1/√2 of its amplitude; uneven speed and started cycles change it some.
            JointTruth::Hinge { arc, .. } => {
                let ratio = spread[0].radians() / (0.5 * arc.width().radians());
                assert!((0.6..0.8).contains(&ratio), "{ratio}");
            }
            JointTruth::Universal { .. } => assert_eq!(spread.len(), 2),
            JointTruth::Ball { bone_axis, .. } => {
                assert_eq!(spread.len(), 3);
                assert!(spread[0] >= spread[1] && spread[1].degrees() > 5.0, "{spread:?}");
                // The trace is that of the swing angles, found without a basis.
                let swings: Vec<DVec3> = synth.coordinates[j.get()]
                    .iter()
                    .map(|c| {
                        let Coordinates::Ball { direction, .. } = *c else { panic!("a ball") };
                        let across = bone_axis.cross(direction);
                        let angle = angle_between(bone_axis, direction).radians();
                        if angle > 0.0 { across / across.length() * angle } else { across }
                    })
                    .collect();
                let n = swings.len() as f64;
                let mean = swings.iter().sum::<DVec3>() / n;
                let trace = swings.iter().map(|v| (*v - mean).length_squared()).sum::<f64>() / n;
                let sum = spread[..2].iter().map(|s| s.radians() * s.radians()).sum::<f64>();
                assert!((trace - sum).abs() < 1e-9, "{trace} {sum}");
            }
            _ => assert!(spread.is_empty()),
        }
    }
}

#[test]
fn small_motions_work_and_bad_options_are_refused() {
    let figure = Figure::random(10, 2).unwrap();
    for n in 1..20 {
        for exploration in EXPLORATIONS {
            let synth = generate(&figure, &Options { exploration, repeats: 0.5, ..frames(n) }, 2);
            for j in synth.skeleton.indices() {
                let rest = synth.skeleton[j].rest;
                for local in synth.clip.track(j).rotations().iter() {
                    check_allowed(&synth.truth[j.get()], rest, local);
                }
            }
        }
    }
    let fails = |options: Options| Synth::generate(&figure, &options, 1).unwrap_err();
    assert!(matches!(fails(frames(0)), SynthError::FrameCount { found: 0 }));
    assert!(matches!(fails(frames(usize::MAX)), SynthError::FrameCount { .. }));
    let nan = f64::NAN;
    assert!(matches!(
        fails(Options { sign_flips: nan, ..frames(9) }),
        SynthError::Share { option: "sign_flips", .. }
    ));
    assert!(matches!(
        fails(Options { repeats: -0.1, ..frames(9) }),
        SynthError::Share { option: "repeats", .. }
    ));
    for share in [0.0, 1.1, nan] {
        let exploration = Exploration::Partial { share };
        assert!(matches!(
            fails(Options { exploration, ..frames(9) }),
            SynthError::Share { option: "exploration", .. }
        ));
    }
    let noise = Angle::from_radians(-1.0);
    assert!(matches!(fails(Options { noise, ..frames(9) }), SynthError::Noise));
    let keys = Keys::Sparse { count: 0, interpolation: Interpolation::Step };
    assert!(matches!(fails(Options { keys, ..frames(9) }), SynthError::NoKeys));
    let skeleton = figure.skeleton().clone();
    assert!(matches!(
        Figure::new(skeleton, vec![]).unwrap_err(),
        SynthError::JointCount { found: 0, expected: 10 }
    ));
    assert!(Options::default().rate == FrameRate::from_fps(120.0).unwrap());
}
