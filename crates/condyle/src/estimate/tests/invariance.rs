//! What must not matter (A3-trap-1, A11): how the same motion is written down.

use glam::DVec3;

use super::*;
use crate::math::EulerOrder;
use crate::motion::Track;
use crate::skeleton::{EndSite, Joint};

/// A figure and its motion, each joint and rotation changed, frames in another order.
fn changed(
    synth: &Synth,
    joint_of: impl Fn(&Joint) -> Joint,
    rotation_of: impl Fn(JointIndex, Rotation) -> Rotation,
    order: &[usize],
) -> (Skeleton, Clip) {
    let mut skeleton = Skeleton::new();
    let mut tracks = Vec::new();
    for joint in synth.skeleton.indices() {
        let new = joint_of(&synth.skeleton[joint]);
        match synth.skeleton.parent(joint) {
            Some(parent) => skeleton.add(parent, new).unwrap(),
            None => skeleton.add_root(new).unwrap(),
        };
        let all: Vec<Rotation> = synth
            .clip
            .frames()
            .map(|f| rotation_of(joint, synth.clip.rotation(joint, f)))
            .collect();
        let rotations = order.iter().map(|&frame| all[frame]).collect();
        tracks.push(Track::turning(rotations, DVec3::ZERO));
    }
    let clip = Clip::new(order.len(), synth.clip.rate(), tracks).unwrap();
    (skeleton, clip)
}

/// The same motion with its frames in another order.
pub(super) fn reordered(synth: &Synth, order: &[usize]) -> (Skeleton, Clip) {
    changed(synth, Joint::clone, |_, q| q, order)
}

fn in_order(synth: &Synth) -> Vec<usize> {
    (0..synth.clip.frame_count()).collect()
}

/// The document, without the count of samples.
fn document(found: Estimate) -> String {
    let mut rig = found.into_rig();
    rig.joints.iter_mut().for_each(|(_, joint)| joint.samples = None);
    String::from_utf8(rig.write().unwrap()).unwrap()
}

/// How much two limits differ, radians: in the distance from them, at and around samples relative to
/// rest, which are somewhere else for the second. First what concerns the swing of balls, then the rest.
///
/// Inside a limit without an inside, as a hinge has it, the distance jumps as soon as a rotation is off
/// by rounding, so only that outside counts.
fn difference(
    synth: &Synth,
    joint: JointIndex,
    entries: [&RigJoint; 2],
    over: impl Fn(Rotation) -> Rotation,
) -> [f64; 2] {
    let mut rng = Rng::new(joint.get() as u64);
    let limits = entries.map(|entry| entry.limit.prepare().unwrap());
    let most_inside = if entries[0].kind == JointKind::Ball { f64::INFINITY } else { 0.0 };
    let mut most = [0.0_f64; 2];
    for q in relative(synth, joint).step_by(synth.clip.frame_count() / 40) {
        for turn in [0.0, 0.1] {
            let q = q * Rotation::exp(rng.direction() * turn).unwrap();
            let of = |i: usize| {
                let m = entries[i].center.inverse() * if i == 0 { q } else { over(q) };
                let swing = match (&entries[i].limit, limits[i].swing()) {
                    (Limit::SwingTwist(limit), Some(region)) => {
                        region.distance(m * limit.axes.bone()).unwrap().radians()
                    }
                    _ => 0.0,
                };
                [swing, limits[i].distance(m).radians().min(most_inside)]
            };
            for ((most, first), second) in most.iter_mut().zip(of(0)).zip(of(1)) {
                #[allow(clippy::float_cmp, reason = "both may be infinite")]
                if first != second {
                    *most = most.max((first - second).abs());
                }
            }
        }
    }
    most
}

/// Differences of hinges and universal joints that count as rounding, degrees.
const ROUNDING: f64 = 1e-4;

/// Compares what was found with what is found of the same motion, written down otherwise. The swings of
/// balls may differ by some degrees, and with their twists by some other.
fn assert_same(
    synth: &Synth,
    what: &str,
    [a, b]: [&Estimate; 2],
    over: impl Fn(Rotation) -> Rotation,
    [swings, balls]: [f64; 2],
) {
    let (mut most, mut most_swing, mut most_ball) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (joint, entry, _) in joints(synth, a) {
        let name = &synth.skeleton[joint].name;
        let other = b.joints.get(name).unwrap();
        assert_eq!(entry.kind, other.kind, "{what}: {name}");
        assert_eq!(entry.rejected, other.rejected, "{what}: {name}");
        let [p, q] = [entry, other].map(|e| e.confidence.unwrap());
        assert!((p - q).abs() <= 1e-3, "{what}: {name}: {p} {q}");
        let [swing, all] = difference(synth, joint, [entry, other], &over)
            .map(|off| Angle::from_radians(off).degrees());
        if entry.kind != JointKind::Ball {
            most = most.max(all);
            continue;
        }
        most_swing = most_swing.max(swing);
        most_ball = most_ball.max(all);
    }
    println!(
        "{what}: hinges and universal joints {most:.1e}, swings {most_swing:.1e}, balls \
         {most_ball:.1e}"
    );
    assert!(most <= ROUNDING, "{what}: {most}");
    assert!(most_swing <= swings && most_ball <= balls, "{what}: {most_swing} {most_ball}");
}

/// How much rounding moves a polygon, degrees: it decides which of nearly equal corners stay, all of
/// them within 0.35° of the same outline.
const SIMPLIFIED: f64 = 0.36;

const EXPLORATIONS: [Exploration; 2] = [Exploration::Full, Exploration::Scatter];

/// Some figures, with a model of balls for each.
fn cases() -> impl Iterator<Item = (Synth, EstimateOptions)> {
    let models = [BallModel::Polygon, BallModel::Ellipse, BallModel::Auto];
    (0..figures(4, 40)).map(move |seed| {
        let exploration = EXPLORATIONS[seed as usize % 2];
        let noise = [0.0, 0.3, 1.0][seed as usize % 3];
        (random(seed, &options(exploration, noise, 600)), with(models[seed as usize % 3]))
    })
}

#[test]
fn a3_trap_1_signs_of_quaternions_do_not_matter() {
    for seed in 0..figures(4, 40) {
        let plain = options(EXPLORATIONS[seed as usize % 2], 0.3, 600);
        let flipped = Options { sign_flips: 0.5, ..plain };
        let [a, b] = [plain, flipped].map(|options| {
            let synth = random(seed, &options);
            document(estimated(&synth, &EstimateOptions::default()))
        });
        assert!(a == b, "figure {seed}");
    }
}

#[test]
fn whole_turns_and_the_order_of_channels_do_not_matter() {
    for (n, (synth, how)) in cases().enumerate() {
        let found = estimated(&synth, &how);
        for (order, wraps) in
            [(EulerOrder::ZXY, 0.0), (EulerOrder::ZXY, 0.3), (EulerOrder::XYZ, 0.3)]
        {
            let source = synth.channels(|_| order, wraps, n as u64).unwrap();
            let clip =
                Clip::from_channels(&synth.skeleton, synth.clip.rate(), source.channels).unwrap();
            let other = estimate(&[Take { skeleton: &synth.skeleton, clip: &clip }], &how).unwrap();
            assert_same(
                &synth,
                &format!("{order:?} {wraps}"),
                [&found, &other],
                |q| q,
                [SIMPLIFIED; 2],
            );
        }
    }
}

#[test]
fn a11_the_order_of_clips_and_the_number_of_threads_do_not_matter() {
    let figure = Figure::random(12, 3).unwrap();
    for exploration in EXPLORATIONS {
        let clips: Vec<Synth> = (0..3)
            .map(|seed| {
                let options = options(exploration, 0.3, 200 + 100 * seed as usize);
                Synth::generate(&figure, &options, seed).unwrap()
            })
            .collect();
        let document_of = |order: [usize; 3], threads: usize| {
            let takes = order.map(|i| take(&clips[i]));
            let threads = std::num::NonZeroUsize::new(threads).unwrap();
            let how = EstimateOptions { threads, ..EstimateOptions::default() };
            document(estimate(&takes, &how).unwrap())
        };
        let expected = document_of([0, 1, 2], 1);
        for order in [[2, 1, 0], [1, 2, 0], [0, 2, 1]] {
            assert!(document_of(order, 1) == expected, "{exploration:?} {order:?}");
        }
        assert!(document_of([0, 1, 2], 3) == expected, "threads");
    }
}

#[test]
fn the_direction_of_time_does_not_matter() {
    for (synth, how) in cases() {
        let backwards: Vec<usize> = in_order(&synth).into_iter().rev().collect();
        let (skeleton, clip) = changed(&synth, Joint::clone, |_, q| q, &backwards);
        let other = estimate(&[Take { skeleton: &skeleton, clip: &clip }], &how).unwrap();
        assert_same(&synth, "backwards", [&estimated(&synth, &how), &other], |q| q, [1e-9; 2]);
    }
}

#[test]
fn the_frame_of_the_parent_does_not_matter() {
    for (n, (synth, how)) in cases().enumerate() {
        let turn = Rng::new(n as u64).rotation();
        let rest = |joint: &Joint| {
            let mut new = Joint { rest: turn * joint.rest, ..joint.clone() };
            // A bone without an end goes on as it comes from the parent: that way is still the same.
            if new.end_sites.is_empty() {
                let offset_m = joint.rest.inverse() * joint.offset_m * 1e-3;
                new.end_sites.push(EndSite { name: None, offset_m });
            }
            new
        };
        let (skeleton, clip) = changed(&synth, rest, |_, q| turn * q, &in_order(&synth));
        let other = estimate(&[Take { skeleton: &skeleton, clip: &clip }], &how).unwrap();
        assert_same(&synth, "parent", [&estimated(&synth, &how), &other], |q| q, [SIMPLIFIED; 2]);
    }
}

#[test]
fn a_mirrored_figure_has_mirrored_limits() {
    let vector = |v: DVec3| DVec3::new(-v.x, v.y, v.z);
    let turn = |q: Rotation| {
        let [w, x, y, z] = q.to_wxyz();
        Rotation::from_wxyz([w, x, -y, -z]).unwrap()
    };
    for (synth, how) in cases() {
        let mirrored = |joint: &Joint| {
            let mut new =
                Joint { offset_m: vector(joint.offset_m), rest: turn(joint.rest), ..joint.clone() };
            new.end_sites.iter_mut().for_each(|site| site.offset_m = vector(site.offset_m));
            new
        };
        let (skeleton, clip) = changed(&synth, mirrored, |_, q| turn(q), &in_order(&synth));
        let other = estimate(&[Take { skeleton: &skeleton, clip: &clip }], &how).unwrap();
        // Ellipses and twists may change more.
        let swings = if how.ball == BallModel::Polygon { SIMPLIFIED } else { 3.0 };
        assert_same(&synth, "mirror", [&estimated(&synth, &how), &other], turn, [swings, 3.0]);
    }
}

#[test]
fn with_noise_given_and_outliers_kept_neither_order_nor_repeats_of_frames_matter() {
    for (n, (synth, how)) in cases().enumerate() {
        let how =
            EstimateOptions { noise: Noise::Given(synth.noise), outliers: Outliers::Keep, ..how };
        let document_of = |order: &[usize]| {
            let (skeleton, clip) = changed(&synth, Joint::clone, |_, q| q, order);
            document(estimate(&[Take { skeleton: &skeleton, clip: &clip }], &how).unwrap())
        };
        let mut order = in_order(&synth);
        let expected = document_of(&order);
        let mut rng = Rng::new(n as u64);
        rng.shuffle(&mut order);
        assert!(document_of(&order) == expected, "shuffled");
        for _ in 0..200 {
            let at = rng.below(order.len());
            order.insert(at, order[at]);
        }
        assert!(document_of(&order) == expected, "repeated");
    }
}
