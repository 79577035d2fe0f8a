//! Clamping a clip: 31 joints, 10,000 frames, half of the joints balls with polygons of 20 edges and
//! twist by swing, the others hinges. Best of some runs on one thread, in joint-frames per second, for
//! motion near the limits, and for motion that is everywhere.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]
#![allow(clippy::unwrap_used, reason = "a benchmark that fails panics")]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Instant;

use condyle::enforce::{BoundRig, ClampOptions, Smoothing};
use condyle::glam::DVec3;
use condyle::limits::{Limit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit};
use condyle::math::{Angle, Arc, Interpolation, Rotation, Rotations, SwingAxes};
use condyle::motion::{Clip, FrameRate, Track};
use condyle::rig::{JointKind, Rig, RigJoint};
use condyle::skeleton::{Joint, Skeleton};
use condyle::synth::{RegionShape, Rng, SwingRegion};

const JOINTS: usize = 31;
const FRAMES: usize = 10_000;
const RUNS: usize = 5;

fn ball() -> Limit {
    let degrees = Angle::from_degrees;
    let shape = RegionShape::Notched {
        half_angle: degrees(70.0),
        inner: degrees(35.0),
        notch: degrees(70.0),
    };
    let region = SwingRegion::new(shape, DVec3::Z, DVec3::X).unwrap();
    let at = |x: f64, y: f64, min, max| TwistAt {
        direction: DVec3::new(x, y, 1.0).normalize(),
        arc: Arc::from_degrees(min, max).unwrap(),
    };
    let by_swing = vec![
        at(0.0, 0.0, -80.0, 60.0),
        at(1.0, 0.0, -20.0, 90.0),
        at(0.0, 1.0, -50.0, 75.0),
        at(-1.0, 0.0, -60.0, 70.0),
        at(0.0, -1.0, -40.0, 85.0),
    ];
    Limit::SwingTwist(SwingTwistLimit {
        axes: SwingAxes::new(DVec3::Z, None).unwrap(),
        swing: SwingLimit::Polygons(vec![region.boundary(20)]),
        twist: TwistLimit { bounds: TwistBounds::BySwing(by_swing), ..TwistLimit::default() },
    })
}

/// Smooth curves through random rotations up to so far from rest; hinges about y, with some noise.
fn motion(far: f64, hinge: bool, rng: &mut Rng) -> Rotations {
    let keys: Rotations = (0..200)
        .map(|_| {
            let angle = Angle::from_radians(rng.between(-far, far));
            let axis = if hinge { DVec3::Y + 0.01 * rng.direction() } else { rng.direction() };
            Rotation::from_axis_angle(axis, angle).unwrap()
        })
        .collect();
    let at = |i: usize| i as f64 * 199.0 / FRAMES as f64;
    (0..FRAMES).map(|i| keys.sample_frames(at(i), Interpolation::Smooth).unwrap()).collect()
}

fn main() {
    // `cargo test --all-targets` runs it, too, without this.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut skeleton = Skeleton::new();
    let mut last = skeleton.add_root(Joint::new("0", DVec3::ZERO)).unwrap();
    for i in 1..JOINTS {
        last = skeleton.add(last, Joint::new(i.to_string(), DVec3::Z)).unwrap();
    }
    let mut rig = Rig::from_skeleton(&skeleton);
    let is_hinge = |i: usize| i % 2 == 1;
    for i in 0..JOINTS {
        let arc = Arc::from_degrees(-10.0, 70.0).unwrap();
        let joint = if is_hinge(i) {
            RigJoint::new(JointKind::Hinge, Limit::Hinge { axis: DVec3::Y, arc })
        } else {
            RigJoint::new(JointKind::Ball, ball())
        };
        rig.joints.insert(i.to_string(), joint);
    }
    let bound = BoundRig::new(&rig, &skeleton).unwrap();
    for (name, far) in [("near the limits", 1.0), ("everywhere", 3.1)] {
        let mut rng = Rng::new(1);
        let tracks = (0..JOINTS)
            .map(|i| Track::turning(motion(far, is_hinge(i), &mut rng), DVec3::ZERO))
            .collect();
        let clip = Clip::new(FRAMES, FrameRate::from_fps(120.0).unwrap(), tracks).unwrap();
        let smoothing = Some(Smoothing::default());
        let time = |what: &str, run: &mut dyn FnMut(&mut Clip)| {
            let mut best = f64::INFINITY;
            for _ in 0..RUNS {
                let mut clip = clip.clone();
                let start = Instant::now();
                run(&mut clip);
                best = best.min(start.elapsed().as_secs_f64());
                black_box(&clip);
            }
            let rate = (JOINTS * FRAMES) as f64 / best / 1e6;
            println!("  {what:<16} {rate:8.3} million joint-frames per second");
        };
        let changed: usize = {
            let clamped = bound.clamp(&mut clip.clone(), &ClampOptions::default());
            clamped.joints.iter().map(|j| j.changed).sum()
        };
        let share = 100 * changed / (JOINTS * FRAMES);
        println!("{name}: {share} % of the joint-frames are outside; one thread, best of {RUNS}:");
        time("check", &mut |clip| {
            black_box(bound.check(clip, NonZeroUsize::MIN));
        });
        time("clamp", &mut |clip| {
            let _ = black_box(bound.clamp(clip, &ClampOptions::default()));
        });
        time("clamp, smooth", &mut |clip| {
            let options = ClampOptions { smoothing, ..ClampOptions::default() };
            let _ = black_box(bound.clamp(clip, &options));
        });
    }
}
