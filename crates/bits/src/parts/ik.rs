//! Inverse kinematics: by numbers, with exact limbs, and its evaluation.

use std::num::NonZeroUsize;

use condyle::enforce::BoundRig;
use condyle::estimate::{EstimateOptions, Take, estimate};
use condyle::evaluate::{EvaluateOptions, Known, evaluate, usual_effectors};
use condyle::ik::{Body, Figure, Goal, Method, Settings, Solver};
use condyle::motion::Pose;
use condyle::synth::{Figure as Truth, Options, Synth};

use crate::{Hash, How};

fn motion() -> Synth {
    let options = Options { frames: 120, ..Options::default() };
    Synth::generate(&Truth::human(), &options, 5).expect("the options are sound")
}

/// Both solvers and the one with limbs, along a clip.
pub(super) fn solvers(_: &How) -> Hash {
    let synth = motion();
    let (skeleton, clip) = (&synth.skeleton, &synth.clip);
    let takes = [Take { skeleton, clip }];
    let rig = estimate(&takes, &EstimateOptions::default()).expect("there is motion").into_rig();
    let bound = BoundRig::new(&rig, skeleton).expect("an estimate is sound");
    let mut figure = Figure::new(skeleton, &bound);
    figure.free_root();
    let ends = usual_effectors(skeleton);
    let rest = Pose::rest(skeleton);
    let (mut solver, mut body) = (Solver::new(&figure), Body::new(&figure, skeleton));
    let mut hash = Hash::default();
    let mut poses = [rest.clone(), rest.clone(), rest.clone()];
    for frame in clip.frames() {
        let world = clip.pose(frame).world(skeleton);
        let goal =
            |j: &condyle::skeleton::JointIndex| Goal::position(*j, world.positions_m[j.get()]);
        let goals: Vec<Goal> = ends.iter().map(goal).collect();
        let posture = Some((&rest, 1e-4));
        let usual = Settings { posture, restarts: 1, ..Settings::default() };
        let other = Settings { method: Method::ConjugateGradient, steps: 10, ..usual };
        let starts = poses.clone();
        let [a, b, c] = &mut poses;
        let outcomes = [
            solver.solve(&starts[0], &goals, &usual, a),
            solver.solve(&starts[1], &goals, &other, b),
            body.solve(&starts[2], &goals, &usual, c),
        ];
        for (outcome, pose) in outcomes.iter().zip(&poses) {
            hash.u64(u64::from(outcome.steps));
            pose.rotations.iter().for_each(|r| hash.rotation(*r));
            pose.translations_m.iter().for_each(|v| hash.vector(*v));
        }
    }
    hash
}

/// The errors of all ways.
pub(super) fn evaluation(how: &How) -> Hash {
    let synth = motion();
    let (skeleton, clip) = (&synth.skeleton, &synth.clip);
    let takes = [Take { skeleton, clip }];
    let rig = estimate(&takes, &EstimateOptions::default()).expect("there is motion").into_rig();
    let known = Known::from_clips(&[(skeleton, clip)]).expect("there is motion");
    let threads = NonZeroUsize::new(how.threads).unwrap_or(NonZeroUsize::MIN);
    let options = EvaluateOptions { frames: 20, threads, ..EvaluateOptions::default() };
    let found = evaluate(skeleton, clip, &rig, &known, &options).expect("an estimate is sound");
    let mut hash = Hash::default();
    for way in &found.ways {
        hash.f64(way.position_m.mean());
        hash.f64(way.rotation_deg.p95());
        hash.f64(way.missed_m.mean());
        hash.count(way.outside_published);
    }
    hash
}
