//! An arm solved for goals that it reaches: with a pole vector, against a plain solver, and with the swivel
//! of the largest margin to a shoulder of 20 edges with a range of twist. Best of some runs on one thread.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]
#![allow(clippy::unwrap_used, reason = "a benchmark that fails panics")]
#![allow(clippy::disallowed_methods, reason = "the peers call the platform's trigonometry")]

use std::f64::consts::{PI, TAU};
use std::hint::black_box;
use std::time::Instant;

use condyle::glam::{DQuat, DVec3};
use condyle::ik::limb::{Limb, LimbGoal, LimbParts, LimbScratch, LimitStatus, Swivel};
use condyle::limits::{Limit, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit};
use condyle::math::{Angle, Arc, Rotation, SwingAxes};
use condyle::synth::Rng;

const GOALS: usize = 1024;
const RUNS: usize = 201;

/// What an engine does: the law of cosines for the hinge, then the upper bone aimed, then turned to the
/// side of the pole.
struct Plain {
    upper_m: DVec3,
    lower_m: DVec3,
    lengths_m: [f64; 2],
    axis: DVec3,
    rest: DQuat,
}

impl Plain {
    fn hinge(&self, target: DVec3) -> DQuat {
        let [a, b] = self.lengths_m;
        let d = target.length().clamp((a - b).abs(), a + b);
        let cos = (a * a + b * b - d * d) / (2.0 * a * b);
        self.rest * DQuat::from_axis_angle(self.axis, PI - cos.clamp(-1.0, 1.0).acos())
    }

    /// Where the end is aimed, and the hinge's side and the pole's, seen along the line there.
    fn aimed(&self, target: DVec3, hinge: DQuat, pole: DVec3) -> (DVec3, DQuat, DVec3, DVec3) {
        let to = target.normalize();
        let aim = DQuat::from_rotation_arc((self.upper_m + hinge * self.lower_m).normalize(), to);
        let side = (aim * self.upper_m).reject_from_normalized(to).normalize_or_zero();
        (to, aim, side, pole.reject_from_normalized(to).normalize_or_zero())
    }

    fn solve(&self, target: DVec3, rotation: DQuat, pole: DVec3) -> [DQuat; 3] {
        let hinge = self.hinge(target);
        let (to, aim, side, want) = self.aimed(target, hinge, pole);
        let angle = side.dot(want).clamp(-1.0, 1.0).acos();
        let angle = if side.cross(want).dot(to) < 0.0 { -angle } else { angle };
        let upper = DQuat::from_axis_angle(to, angle) * aim;
        [upper, hinge, (upper * hinge).inverse() * rotation]
    }

    /// With an arc from side to side, which goes wrong if they are opposite.
    fn solve_by_arcs(&self, target: DVec3, rotation: DQuat, pole: DVec3) -> [DQuat; 3] {
        let hinge = self.hinge(target);
        let (_, aim, side, want) = self.aimed(target, hinge, pole);
        let upper = DQuat::from_rotation_arc(side, want) * aim;
        [upper, hinge, (upper * hinge).inverse() * rotation]
    }
}

fn shoulder() -> Limit {
    let corner = |i: usize| {
        let (sin, cos) = (TAU * i as f64 / 20.0).sin_cos();
        let r: f64 = [1.2, 1.0, 1.35, 1.1, 0.9][i % 5];
        DVec3::new(r.cos(), r.sin() * cos, r.sin() * sin)
    };
    let arc = Arc::from_degrees(-80.0, 70.0).unwrap();
    Limit::SwingTwist(SwingTwistLimit {
        axes: SwingAxes::new(DVec3::X, Some(DVec3::Y)).unwrap(),
        swing: SwingLimit::Polygons(vec![(0..20).map(corner).collect()]),
        twist: TwistLimit { bounds: TwistBounds::Arc(arc), ..TwistLimit::default() },
    })
}

fn wrist(swing: SwingLimit) -> Limit {
    let arc = Arc::from_degrees(-80.0, 80.0).unwrap();
    Limit::SwingTwist(SwingTwistLimit {
        axes: SwingAxes::new(DVec3::X, Some(DVec3::Y)).unwrap(),
        swing,
        twist: TwistLimit { bounds: TwistBounds::Arc(arc), ..TwistLimit::default() },
    })
}

fn main() {
    // `cargo test --all-targets` runs it, too, without this.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let parts = LimbParts {
        upper_m: DVec3::X * 0.3,
        lower_m: DVec3::X * 0.25,
        zeros: [Rotation::IDENTITY; 3],
        axis: DVec3::Z,
        arc: Arc::from_degrees(0.0, 145.0).unwrap(),
    };
    let degrees = Angle::from_degrees;
    let bare = Limb::new(&parts).unwrap();
    let [shoulder, free] = [shoulder(), Limit::Free].map(|limit| limit.prepare().unwrap());
    let square = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
    let square = square.map(|(y, z)| DVec3::new(1.0, 0.8 * y, 0.5 * z)).to_vec();
    let [polygon, ellipse] = [
        SwingLimit::Polygons(vec![square]),
        SwingLimit::Ellipse { rx: degrees(80.0), ry: degrees(40.0) },
    ]
    .map(|swing| wrist(swing).prepare().unwrap());
    let limited = bare.clone().with_limits(shoulder.clone(), free);
    let with_polygon = bare.clone().with_limits(shoulder.clone(), polygon);
    let with_ellipse = bare.clone().with_limits(shoulder.clone(), ellipse);
    let plain = black_box(Plain {
        upper_m: parts.upper_m,
        lower_m: parts.lower_m,
        lengths_m: [parts.upper_m.length(), parts.lower_m.length()],
        axis: parts.axis,
        rest: DQuat::IDENTITY,
    });

    // Poses inside, so that there is something to find.
    let mut rng = Rng::new(7);
    let mut goals = Vec::new();
    while goals.len() < GOALS {
        let upper = rng.rotation();
        if shoulder.distance(upper).radians() < 0.05 {
            continue;
        }
        let hinge = Rotation::about_z(degrees(rng.between(5.0, 140.0)));
        let end = Rotation::exp(rng.direction() * rng.between(0.0, 0.6)).unwrap();
        let position_m = upper * (parts.upper_m + hinge * parts.lower_m);
        goals.push(LimbGoal { position_m, rotation: Some(upper * hinge * end) });
    }
    let pole = DVec3::new(0.1, -1.0, 0.2);
    for goal in &goals {
        let turned = goal.rotation.unwrap().quat();
        let ours = bare.pose_toward(goal, pole).locals[0];
        let theirs = plain.solve(goal.position_m, turned, pole)[0];
        assert!(ours.distance(Rotation::new(theirs).unwrap()).radians() < 1e-6);
    }

    let mut scratch = LimbScratch::default();
    let mut peer = None;
    let mut time = |what: &str, runs: usize, run: &mut dyn FnMut(&LimbGoal)| {
        let mut best = f64::INFINITY;
        for _ in 0..runs {
            let start = Instant::now();
            for goal in &goals {
                run(goal);
            }
            best = best.min(start.elapsed().as_secs_f64());
        }
        let nanoseconds = best * 1e9 / GOALS as f64;
        let peer = *peer.get_or_insert(nanoseconds);
        println!("  {what:<38} {nanoseconds:9.1} ns   this / peer {:8.3}", nanoseconds / peer);
    };
    let turned = |goal: &LimbGoal| goal.rotation.map_or(DQuat::IDENTITY, Rotation::quat);
    println!("an arm, {GOALS} goals, one thread, best of {RUNS}:");
    time("plain glam, pole vector (peer)", RUNS, &mut |goal| {
        black_box(plain.solve(goal.position_m, turned(goal), pole));
    });
    time("plain glam, roll by an arc", RUNS, &mut |goal| {
        black_box(plain.solve_by_arcs(goal.position_m, turned(goal), pole));
    });
    time("pole vector", RUNS, &mut |goal| {
        let _ = black_box(bare.pose_toward(goal, pole));
    });
    time("nearest", RUNS, &mut |goal| {
        let _ = black_box(bare.pose_near(goal, Rotation::IDENTITY));
    });
    let given = Swivel::Given { toward: pole, angle: Angle::ZERO };
    time("pole vector, and what limits say", RUNS, &mut |goal| {
        let _ = black_box(limited.solve(goal, given, &mut scratch));
    });
    let best = Swivel::BestMargin { near: None };
    time("best margin", RUNS, &mut |goal| {
        let found = limited.solve(goal, best, &mut scratch);
        assert!(black_box(found).status == LimitStatus::Inside);
    });
    let near = Swivel::BestMargin { near: Some((Rotation::IDENTITY, degrees(5.0))) };
    time("best margin within 5°", RUNS, &mut |goal| {
        let _ = black_box(limited.solve(goal, near, &mut scratch));
    });
    time("best margin, polygon at the wrist", RUNS, &mut |goal| {
        let _ = black_box(with_polygon.solve(goal, best, &mut scratch));
    });
    time("best margin, ellipse at the wrist", 5, &mut |goal| {
        let _ = black_box(with_ellipse.solve(goal, best, &mut scratch));
    });
}
