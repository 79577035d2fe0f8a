//! Glitch frames change nothing.

use super::*;
use crate::motion::Track;
use crate::synth::Glitches;

/// How far the boundaries of two swing regions, seen from rest, are apart at most, and then the ends of
/// their twists, degrees.
fn regions_apart(a: &RigJoint, b: &RigJoint) -> Option<[f64; 2]> {
    let (first, second) = (a.limit.prepare().unwrap(), b.limit.prepare().unwrap());
    let (first, second) = (first.swing()?, second.swing()?);
    let over = b.center.inverse() * a.center;
    let mut farthest = 0.0_f64;
    for (from, to, over) in [(first, second, over), (second, first, over.inverse())] {
        for direction in from.boundary(deg(0.5)).iter().flatten() {
            farthest = farthest.max(to.distance(over * *direction)?.degrees().abs());
        }
    }
    let mut rng = Rng::new(5);
    let mut twist = 0.0_f64;
    for direction in first.samples(40, || rng.uniform()) {
        let arcs = [first.twist(direction)?, second.twist(over * direction)?];
        twist = apart(arcs[0], arcs[1]).into_iter().fold(twist, f64::max);
    }
    Some([farthest, twist])
}

#[derive(Default)]
struct Moved {
    ends: Vec<f64>,
    boundaries: Vec<f64>,
    twists: Vec<f64>,
    other_kind: usize,
}

/// The same motion with the glitches of each joint replaced by a good frame: that it comes again changes
/// nothing.
fn without_glitches(synth: &Synth) -> Clip {
    let tracks = synth.skeleton.indices().map(|joint| {
        let bad = &synth.glitches[joint.get()];
        let good = synth.clip.frames().find(|f| !bad.contains(f)).unwrap();
        let frames = synth.clip.frames().map(|f| if bad.contains(&f) { good } else { f });
        let rotations = frames.map(|f| synth.clip.rotation(joint, f)).collect();
        Track::turning(rotations, synth.skeleton[joint].offset_m)
    });
    Clip::new(synth.clip.frame_count(), synth.clip.rate(), tracks.collect()).unwrap()
}

/// What motion with glitches is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum With {
    /// The motion as it was before.
    Clean,
    /// The same motion without the glitch frames.
    Fewer,
}

/// What one glitch frame in two hundred moves.
fn moved(
    exploration: Exploration,
    how: &EstimateOptions,
    frames: usize,
    with: With,
    figures: u64,
) -> Moved {
    let mut all = Moved::default();
    for seed in 0..figures {
        let plain = options(exploration, 0.3, frames);
        let spoilt =
            Options { glitches: Glitches { share: 0.005, ..Glitches::default() }, ..plain };
        let [plain, spoilt] = [plain, spoilt].map(|options| random(seed, &options));
        let found = estimated(&spoilt, how);
        let without = match with {
            With::Fewer => {
                let keep = EstimateOptions { outliers: Outliers::Keep, ..*how };
                let clip = without_glitches(&spoilt);
                estimate(&[Take { skeleton: &spoilt.skeleton, clip: &clip }], &keep).unwrap()
            }
            With::Clean => estimated(&plain, how),
        };
        for ((_, a, _), (_, b, _)) in joints(&plain, &without).zip(joints(&spoilt, &found)) {
            match (&a.limit, &b.limit) {
                _ if a.kind != b.kind => all.other_kind += 1,
                (Limit::Hinge { axis: u, arc: a }, Limit::Hinge { axis: v, arc: b }) => {
                    let b = if u.dot(*v) > 0.0 { *b } else { reversed(*b) };
                    all.ends.extend(apart(*a, b));
                }
                (Limit::Universal { axes: u, arcs: a }, Limit::Universal { axes: v, arcs: b }) => {
                    for i in 0..2 {
                        let b = if u[i].dot(v[i]) > 0.0 { b[i] } else { reversed(b[i]) };
                        all.ends.extend(apart(a[i], b));
                    }
                }
                _ => {
                    if let Some([boundary, twist]) = regions_apart(a, b) {
                        all.boundaries.push(boundary);
                        all.twists.push(twist);
                    }
                }
            }
        }
    }
    let mut line =
        format!("{exploration:?} {frames} {:?} {with:?}, other kinds {}", how.ball, all.other_kind);
    for (name, values) in
        [("ends", &mut all.ends), ("boundaries", &mut all.boundaries), ("twists", &mut all.twists)]
    {
        let over = values.iter().filter(|v| **v > 1.0).count();
        let (p99, most) = (quantile(values, 0.99), quantile(values, 1.0));
        line +=
            &format!("; {name}: {over} of {} above 1, p99 {p99:.2}, most {most:.2}", values.len());
    }
    println!("{line}");
    all
}

#[test]
fn glitches_move_no_end_and_no_boundary() {
    let cases = [
        (BallModel::Polygon, 2000, With::Clean),
        (BallModel::Polygon, 2000, With::Fewer),
        // Of few frames a single one may hold an ellipse where it is: without it, it moves by up to 1.7°.
        (BallModel::Ellipse, 1000, With::Fewer),
    ];
    for (model, frames, against) in cases {
        let how = with(model);
        let moved = moved(Exploration::Full, &how, frames, against, figures(8, 100));
        assert_eq!(moved.other_kind, 0);
        assert!(moved.boundaries.iter().all(|v| *v <= 1.0), "{:?}", how.ball);
        for values in [&moved.ends, &moved.twists] {
            assert!(values.iter().all(|v| *v <= 1.0), "{:?}", how.ball);
        }
    }
}

#[test]
fn glitches_among_poses_without_order_move_few() {
    let how = EstimateOptions { corners: 64, ..with(BallModel::Polygon) };
    for exploration in [Exploration::Scatter, Exploration::Poses] {
        // Where poses are few, that some are missing moves a boundary as well.
        let moved = moved(exploration, &how, 2000, With::Fewer, figures(6, 100));
        assert_eq!(moved.other_kind, 0);
        let far = |values: &[f64]| values.iter().filter(|v| **v > 1.0).count();
        assert!(100 * far(&moved.ends) <= moved.ends.len(), "{exploration:?}");
        // Those just outside of the others cannot be told: nearer than some four times as far as samples
        // are from each other, which in the largest regions is 20°.
        for values in [&moved.boundaries, &moved.twists] {
            assert!(2 * far(values) <= values.len(), "{exploration:?}: {values:?}");
        }
        assert!(moved.boundaries.iter().all(|v| *v <= 25.0), "{exploration:?}");
    }
}
