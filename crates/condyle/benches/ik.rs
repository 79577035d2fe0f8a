//! Inverse kinematics by numbers: arms of seven freedoms beside the `k` crate, and a whole body.
//!
//! Goals are poses of the same figure inside of its limits. Near ones are at most 2 cm and 5° from the
//! start; from afar every goal is looked for from one start, with restarts. A goal counts as reached
//! within 10⁻⁴ m and 10⁻³ rad, by forward kinematics, with every joint inside of its limit. `k` steps by
//! half of the way by default, and all of the way if told so; both are shown. It stays in its limits by
//! clamping. Best of some runs, interleaved.
//!
//! Limbs in closed form with the swivel of the largest margin: the shoulder of the README, all presets,
//! ellipses, and the limbs of a figure that was estimated, against a shoulder of 20 edges with a range of
//! twist; and a whole body with exact limbs against the solver alone. Each 32 goals at the best of some runs.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]
#![allow(clippy::disallowed_methods, reason = "inputs are made with the functions of std")]
#![allow(clippy::unwrap_used, reason = "a benchmark that fails panics")]

use std::f64::consts::TAU;
use std::hint::black_box;
use std::time::Instant;

use condyle::enforce::BoundRig;
use condyle::estimate::{EstimateOptions, Take, estimate};
use condyle::evaluate::usual_effectors;
use condyle::glam::DVec3;
use condyle::ik::limb::{Limb, LimbGoal, LimbParts, LimbScratch, LimitStatus, Swivel};
use condyle::ik::{Body, Figure, Goal, Miss, Settings, Solver};
use condyle::limits::{Limit, PreparedLimit, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit};
use condyle::math::{Angle, Arc, Rotation, SwingAxes};
use condyle::motion::Pose;
use condyle::presets;
use condyle::rig::Rig;
use condyle::skeleton::{Joint, JointIndex, Skeleton};
use condyle::synth::{Figure as Truth, Options, Rng, Synth};
use k::InverseKinematicsSolver as _;

#[path = "../examples/shoulder.rs"]
#[allow(dead_code, reason = "its main function is the example's")]
mod shoulder;

const RUNS: usize = 11;

fn arc(min: f64, max: f64) -> Arc {
    Arc::from_degrees(min, max).unwrap()
}

fn ball(bone: DVec3, swing: SwingLimit, twist: f64) -> Limit {
    let axes = SwingAxes::new(bone, None).unwrap();
    let bounds = TwistBounds::Arc(arc(-twist, twist));
    let twist = TwistLimit { bounds, ..TwistLimit::default() };
    Limit::SwingTwist(SwingTwistLimit { axes, swing, twist })
}

fn ellipse(rx: f64, ry: f64) -> SwingLimit {
    SwingLimit::Ellipse { rx: Angle::from_degrees(rx), ry: Angle::from_degrees(ry) }
}

/// Twenty corners about a bone, with bays.
fn polygon(bone: DVec3) -> SwingLimit {
    let x = bone.any_orthonormal_vector();
    let y = bone.cross(x);
    let corner = |i: u32| {
        let a = TAU * f64::from(i) / 20.0;
        let r = 1.2 + 0.3 * (3.0 * a).sin();
        bone * r.cos() + (x * a.cos() + y * a.sin()) * r.sin()
    };
    SwingLimit::Polygons(vec![(0..20).map(corner).collect()])
}

/// A tree of joints with limits.
struct Model {
    skeleton: Skeleton,
    figure: Figure,
    limits: Vec<PreparedLimit>,
    shapes: Vec<Limit>,
}

impl Model {
    fn new() -> Self {
        let skeleton = Skeleton::new();
        let figure = Figure::without_limits(&skeleton);
        Self { skeleton, figure, limits: Vec::new(), shapes: Vec::new() }
    }

    fn add(&mut self, parent: Option<JointIndex>, name: &str, offset_m: DVec3, limit: Limit) {
        let joint = Joint::new(name, offset_m);
        match parent {
            None => self.skeleton.add_root(joint).unwrap(),
            Some(parent) => self.skeleton.add(parent, joint).unwrap(),
        };
        self.limits.push(limit.prepare().unwrap());
        self.shapes.push(limit);
    }

    fn done(mut self) -> Self {
        self.figure = Figure::without_limits(&self.skeleton);
        for (joint, limit) in self.skeleton.indices().zip(&self.limits) {
            self.figure.limit(joint, Rotation::IDENTITY, limit.clone());
        }
        self
    }

    fn last(&self) -> Option<JointIndex> {
        self.skeleton.indices().last()
    }

    /// An arm with its joints in a row.
    fn row(links: &[(DVec3, Limit)]) -> Self {
        let mut model = Self::new();
        for (i, (offset_m, limit)) in links.iter().enumerate() {
            let parent = model.last();
            model.add(parent, &format!("j{i}"), *offset_m, limit.clone());
        }
        model.done()
    }

    /// A polygon for the shoulder, a hinge, an ellipse for the wrist.
    fn shaped(off: f64) -> Self {
        Self::row(&[
            (DVec3::ZERO, ball(DVec3::X, polygon(DVec3::X), 90.0)),
            (DVec3::new(0.3, off, 0.0), Limit::Hinge { axis: DVec3::Y, arc: arc(-145.0, 0.0) }),
            (DVec3::new(0.26, 0.0, off), ball(DVec3::X, ellipse(70.0, 35.0), 80.0)),
        ])
    }

    /// Seven hinges.
    fn boxed(off: f64) -> Self {
        let links = HINGES.iter().zip(offsets(off)).map(|((axis, min, max), offset_m)| {
            (offset_m, Limit::Hinge { axis: *axis, arc: arc(*min, *max) })
        });
        Self::row(&links.collect::<Vec<_>>())
    }

    /// A pose inside of the limits.
    fn random(&self, rng: &mut Rng) -> Pose {
        let mut pose = Pose::rest(&self.skeleton);
        for ((rotation, limit), shape) in
            pose.rotations.iter_mut().zip(&self.limits).zip(&self.shapes)
        {
            *rotation = match shape {
                Limit::Hinge { axis, arc } => {
                    let angle = rng.between(arc.min().degrees(), arc.max().degrees());
                    Rotation::from_axis_angle(*axis, Angle::from_degrees(angle)).unwrap()
                }
                _ => loop {
                    let m = rng.rotation();
                    if limit.contains(m) {
                        break m;
                    }
                },
            };
        }
        pose
    }

    fn hand(&self, pose: &Pose) -> (DVec3, Rotation) {
        let world = pose.world(&self.skeleton);
        (*world.positions_m.last().unwrap(), *world.rotations.last().unwrap())
    }

    fn goals(&self, (position, rotation): (DVec3, Rotation)) -> [Goal; 2] {
        let hand = self.last().unwrap();
        [Goal::position(hand, position), Goal::rotation(hand, rotation)]
    }

    fn is_inside(&self, pose: &Pose) -> bool {
        pose.rotations.iter().zip(&self.limits).all(|(m, limit)| limit.contains(*m))
    }

    fn is_good(&self, pose: &Pose, goal: (DVec3, Rotation)) -> bool {
        let (position, rotation) = self.hand(pose);
        self.is_inside(pose)
            && position.distance(goal.0) <= 1e-4
            && rotation.distance(goal.1).radians() <= 1e-3
    }

    /// Starts, with goals of at most 2 cm and 5° away.
    fn near(&self, count: usize, rng: &mut Rng) -> Vec<(Pose, (DVec3, Rotation))> {
        let mut found = Vec::new();
        while found.len() < count {
            let (from, to) = (self.random(rng), self.random(rng));
            let start = self.hand(&from);
            let goal = (1..14).find_map(|i| {
                let share = 0.7_f64.powi(i);
                let mut pose = from.clone();
                for (j, rotation) in pose.rotations.iter_mut().enumerate() {
                    *rotation = from.rotations[j].slerp(to.rotations[j], share);
                }
                let goal = self.hand(&pose);
                let near = goal.0.distance(start.0) <= 0.02
                    && goal.1.distance(start.1).degrees() <= 5.0
                    && self.is_inside(&pose);
                near.then_some(goal)
            });
            found.extend(goal.map(|goal| (from, goal)));
        }
        found
    }
}

const HINGES: [(DVec3, f64, f64); 7] = [
    (DVec3::Z, -100.0, 100.0),
    (DVec3::Y, -90.0, 90.0),
    (DVec3::X, -90.0, 90.0),
    (DVec3::Y, -145.0, 0.0),
    (DVec3::X, -80.0, 80.0),
    (DVec3::Y, -70.0, 70.0),
    (DVec3::Z, -35.0, 35.0),
];

fn offsets(off: f64) -> [DVec3; 7] {
    let o = DVec3::new(0.0, off, off);
    let (upper, lower) = (0.3 * DVec3::X + o, 0.26 * DVec3::X);
    [DVec3::ZERO, o, -0.5 * o, upper, lower, 0.3 * o, 0.2 * o]
}

/// The same arm for `k`.
fn arm_of_k(off: f64) -> k::SerialChain<f64> {
    let nodes: Vec<k::Node<f64>> = HINGES
        .iter()
        .zip(offsets(off))
        .enumerate()
        .map(|(i, ((axis, min, max), o))| {
            let axis = k::nalgebra::Unit::new_normalize(k::Vector3::new(axis.x, axis.y, axis.z));
            k::NodeBuilder::new()
                .name(&format!("j{i}"))
                .joint_type(k::JointType::Rotational { axis })
                .translation(k::Translation3::new(o.x, o.y, o.z))
                .limits(Some((min.to_radians()..=max.to_radians()).into()))
                .into_node()
        })
        .collect();
    for pair in nodes.windows(2) {
        pair[1].set_parent(&pair[0]);
    }
    k::SerialChain::from_end(&nodes[6])
}

fn seconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

fn near_goals() {
    println!("goals near the start, {RUNS} runs:");
    for (name, model, of_k) in [
        ("7 hinges", Model::boxed(0.0), Some(arm_of_k(0.0))),
        ("7 hinges, offset", Model::boxed(0.03), Some(arm_of_k(0.03))),
        ("shaped", Model::shaped(0.0), None),
        ("shaped, offset", Model::shaped(0.04), None),
    ] {
        let pairs = model.near(4000, &mut Rng::new(1));
        let settings = Settings { restarts: 10, ..Settings::default() };
        let mut solver = Solver::new(&model.figure);
        let mut pose = Pose::rest(&model.skeleton);
        let good = pairs.iter().filter(|(start, goal)| {
            solver.solve(start, &model.goals(*goal), &settings, &mut pose);
            model.is_good(&pose, *goal)
        });
        let good = good.count();
        let (mut best, mut of_peer) = (f64::INFINITY, [f64::INFINITY; 2]);
        let mut each = vec![f64::INFINITY; pairs.len()];
        for _ in 0..RUNS {
            best = best.min(seconds(|| {
                for (start, goal) in &pairs {
                    solver.solve(start, &model.goals(*goal), &settings, &mut pose);
                }
            }));
            for ((start, goal), time) in pairs.iter().zip(&mut each) {
                let goals = model.goals(*goal);
                let solve = || {
                    solver.solve(start, &goals, &settings, &mut pose);
                };
                *time = time.min(seconds(solve));
            }
            let Some(chain) = &of_k else { continue };
            for (best, multiplier) in of_peer.iter_mut().zip([0.5, 1.0]) {
                *best = best.min(seconds(|| solve_with_k(chain, &pairs, multiplier)));
            }
        }
        each.sort_unstable_by(f64::total_cmp);
        let us = 1e6 / pairs.len() as f64;
        print!(
            "  {name:<18} {good} of {} good; mean {:.2} µs, median {:.2} µs",
            pairs.len(),
            best * us,
            each[pairs.len() / 2] * 1e6
        );
        if of_k.is_some() {
            let [half, whole] = of_peer;
            print!(
                "; k {:.1} µs, {:.1} times ours; with whole steps {:.1} µs, {:.1} times",
                half * us,
                half / best,
                whole * us,
                whole / best
            );
        }
        println!();
    }
}

fn solve_with_k(chain: &k::SerialChain<f64>, pairs: &[(Pose, (DVec3, Rotation))], multiplier: f64) {
    let solver = k::JacobianIkSolver::new(1e-4, 1e-3, multiplier, 100);
    let mut angles = [0.0; 7];
    for (start, (p, rotation)) in pairs {
        for ((angle, m), (axis, ..)) in angles.iter_mut().zip(&start.rotations).zip(HINGES) {
            let q = m.quat();
            *angle = 2.0 * DVec3::new(q.x, q.y, q.z).dot(axis).atan2(q.w);
        }
        let q = rotation.quat();
        let q = k::nalgebra::Quaternion::new(q.w, q.x, q.y, q.z);
        let target = k::Isometry3::from_parts(
            k::Translation3::new(p.x, p.y, p.z),
            k::UnitQuaternion::from_quaternion(q),
        );
        chain.set_joint_positions_unchecked(&angles);
        let _ = solver.solve(chain, &target);
    }
}

fn far_goals() {
    println!("goals from afar, with restarts:");
    for (name, model) in [
        ("7 hinges", Model::boxed(0.0)),
        ("7 hinges, offset", Model::boxed(0.03)),
        ("shaped", Model::shaped(0.0)),
        ("shaped, offset", Model::shaped(0.04)),
    ] {
        let mut rng = Rng::new(2);
        let goals: Vec<_> = (0..10_000).map(|_| model.hand(&model.random(&mut rng))).collect();
        let settings = Settings { restarts: 100, ..Settings::default() };
        let mut solver = Solver::new(&model.figure);
        let start = Pose::rest(&model.skeleton);
        let mut pose = start.clone();
        let good = goals.iter().filter(|goal| {
            solver.solve(&start, &model.goals(**goal), &settings, &mut pose);
            model.is_good(&pose, **goal)
        });
        let good = good.count();
        let mut best = f64::INFINITY;
        for _ in 0..RUNS {
            best = best.min(seconds(|| {
                for goal in &goals {
                    solver.solve(&start, &model.goals(*goal), &settings, &mut pose);
                }
            }));
        }
        let share = 100.0 * good as f64 / goals.len() as f64;
        println!("  {name:<18} {share:.2} % good, {:.0} good ones per second", good as f64 / best);
    }
}

/// Name, parent, offset and freedoms: 62 in all, as a skeleton of the CMU collection has.
const BODY: [(&str, &str, [f64; 3], usize); 29] = [
    ("root", "", [0.0, 0.95, 0.0], 3),
    ("lowerback", "root", [0.0, 0.08, 0.0], 3),
    ("upperback", "lowerback", [0.0, 0.12, 0.0], 3),
    ("thorax", "upperback", [0.0, 0.12, 0.0], 3),
    ("lowerneck", "thorax", [0.0, 0.12, 0.0], 3),
    ("upperneck", "lowerneck", [0.0, 0.07, 0.0], 3),
    ("head", "upperneck", [0.0, 0.08, 0.0], 3),
    ("lclavicle", "thorax", [0.02, 0.1, 0.0], 2),
    ("lhumerus", "lclavicle", [0.16, 0.0, 0.0], 3),
    ("lradius", "lhumerus", [0.28, 0.0, 0.0], 1),
    ("lwrist", "lradius", [0.25, 0.0, 0.0], 1),
    ("lhand", "lwrist", [0.04, 0.0, 0.0], 2),
    ("lfingers", "lhand", [0.08, 0.0, 0.0], 1),
    ("lthumb", "lhand", [0.04, 0.0, 0.04], 2),
    ("rclavicle", "thorax", [-0.02, 0.1, 0.0], 2),
    ("rhumerus", "rclavicle", [-0.16, 0.0, 0.0], 3),
    ("rradius", "rhumerus", [-0.28, 0.0, 0.0], 1),
    ("rwrist", "rradius", [-0.25, 0.0, 0.0], 1),
    ("rhand", "rwrist", [-0.04, 0.0, 0.0], 2),
    ("rfingers", "rhand", [-0.08, 0.0, 0.0], 1),
    ("rthumb", "rhand", [-0.04, 0.0, 0.04], 2),
    ("lfemur", "root", [0.09, -0.05, 0.0], 3),
    ("ltibia", "lfemur", [0.0, -0.42, 0.0], 1),
    ("lfoot", "ltibia", [0.0, -0.41, 0.0], 2),
    ("ltoes", "lfoot", [0.0, -0.04, 0.14], 1),
    ("rfemur", "root", [-0.09, -0.05, 0.0], 3),
    ("rtibia", "rfemur", [0.0, -0.42, 0.0], 1),
    ("rfoot", "rtibia", [0.0, -0.41, 0.0], 2),
    ("rtoes", "rfoot", [0.0, -0.04, 0.14], 1),
];

/// A body with a hinge per freedom, or with a joint per joint. The axes of its freedoms, by joint.
fn body(shaped: bool) -> (Model, Vec<Vec<DVec3>>) {
    let (mut model, mut axes) = (Model::new(), Vec::new());
    for (name, parent, offset, freedoms) in BODY {
        let offset = DVec3::from_array(offset);
        let bone = match name {
            n if n.contains("femur") || n.contains("tibia") || n.contains("foot") => -DVec3::Y,
            _ if offset.x.abs() > 0.03 && !parent.is_empty() => DVec3::X * offset.x.signum(),
            _ => DVec3::Y,
        };
        let x = bone.any_orthonormal_vector();
        let all = [x, bone.cross(x), bone];
        let mut above = model.skeleton.find(parent);
        let is_root = parent.is_empty();
        if shaped || freedoms == 1 {
            let limit = match freedoms {
                1 => Limit::Hinge { axis: x, arc: arc(-120.0, 0.0) },
                2 => Limit::Universal {
                    axes: [all[0], all[1]],
                    arcs: [arc(-45.0, 45.0), arc(-45.0, 45.0)],
                },
                _ if is_root => Limit::Free,
                _ if name.contains("humerus") || name.contains("femur") => {
                    ball(bone, polygon(bone), 50.0)
                }
                _ => ball(bone, ellipse(50.0, 45.0), 50.0),
            };
            model.add(above, name, offset, limit);
            axes.push(all[..freedoms].to_vec());
            continue;
        }
        for (i, axis) in all.into_iter().take(freedoms).enumerate() {
            let last = i + 1 == freedoms;
            let name = if last { name.to_owned() } else { format!("{name}{i}") };
            let arc = if is_root { Arc::FULL } else { arc(-50.0, 50.0) };
            let offset = if i == 0 { offset } else { DVec3::ZERO };
            model.add(above, &name, offset, Limit::Hinge { axis, arc });
            axes.push(vec![axis]);
            above = model.last();
        }
    }
    let mut model = model.done();
    model.figure.free_root();
    (model, axes)
}

fn whole_bodies() {
    const FRAMES: u32 = 2000;
    println!(
        "whole body, goals for hands, feet, head and pelvis, near the rest pose, 120 frames/s:"
    );
    for (name, shaped) in [("62 hinges", false), ("shaped", true)] {
        let (model, axes) = body(shaped);
        let mut rng = Rng::new(3);
        let waves: Vec<Vec<[f64; 4]>> = axes
            .iter()
            .map(|axes| {
                let mut wave = || {
                    let middle = rng.between(-0.3, 0.3);
                    [rng.between(0.1, 0.5), rng.between(0.2, 1.2), rng.between(0.0, TAU), middle]
                };
                axes.iter().map(|_| wave()).collect()
            })
            .collect();
        let pose_at = |frame: u32| {
            let t = f64::from(frame) / 120.0;
            let mut pose = Pose::rest(&model.skeleton);
            for (j, (axes, waves)) in axes.iter().zip(&waves).enumerate() {
                let mut m = Rotation::IDENTITY;
                for (axis, [size, rate, phase, middle]) in axes.iter().zip(waves) {
                    let wave = size * (TAU * rate * t + phase).sin();
                    // An elbow that is never straight leaves no doubt which way it bends.
                    let bends = matches!(&model.shapes[j], Limit::Hinge { arc, .. } if arc.max().radians() <= 0.0);
                    let angle = if bends { 0.8 * wave - 0.9 } else { middle + wave };
                    let turn = Rotation::from_axis_angle(*axis, Angle::from_radians(angle));
                    m = m * turn.unwrap();
                }
                pose.rotations[j] = model.limits[j].project(m);
            }
            pose.translations_m[0] = DVec3::new(0.5 * t, 0.95, 0.1 * (3.0 * t).sin());
            pose
        };
        let effectors: Vec<JointIndex> = ["lfingers", "rfingers", "ltoes", "rtoes", "head", "root"]
            .map(|name| model.skeleton.find(name).unwrap())
            .to_vec();
        let frames: Vec<Vec<Goal>> = (0..FRAMES)
            .map(|frame| {
                let world = pose_at(frame).world(&model.skeleton);
                effectors.iter().map(|j| Goal::position(*j, world.positions_m[j.get()])).collect()
            })
            .collect();
        let rest = Pose::rest(&model.skeleton);
        let first = pose_at(0);
        let mut solver = Solver::new(&model.figure);
        for weight in [1e-6, 1e-5] {
            let posture = Some((&rest, weight));
            let settings = Settings { posture, near_m: 1e-3, restarts: 1, ..Settings::default() };
            let (mut best, mut worst, mut reached, mut inside) = (f64::INFINITY, 0.0_f64, 0, 0);
            for _ in 0..RUNS {
                let (mut pose, mut next) = (first.clone(), first.clone());
                (worst, reached, inside) = (0.0, 0, 0);
                let mut time = 0.0;
                for goals in &frames {
                    let mut outcome = false;
                    time += seconds(|| {
                        outcome = solver.solve(&pose, goals, &settings, &mut next).reached;
                    });
                    std::mem::swap(&mut pose, &mut next);
                    reached += u32::from(outcome);
                    inside += u32::from(model.is_inside(&pose));
                    for miss in solver.misses() {
                        if let Miss::Distance(m) = miss {
                            worst = worst.max(*m);
                        }
                    }
                }
                best = best.min(time);
            }
            println!(
                "  {name:<10} {} freedoms, posture {weight:e}: {:.0} frames/s; {reached} of {FRAMES} \
                 within 1 mm, worst {:.2} mm, {inside} inside of limits",
                model.figure.freedoms(),
                f64::from(FRAMES) / best,
                1e3 * worst
            );
        }
    }
}

/// A limb with goals that a pose inside of its limits reaches, and that pose's upper joint.
struct Reaching {
    name: String,
    limb: Limb,
    goals: Vec<(LimbGoal, Rotation)>,
}

impl Reaching {
    /// A limb with limits of its upper joint and its end; its end may be left alone.
    fn new(name: &str, parts: &LimbParts, limits: [&Limit; 2], turned: bool) -> Self {
        let [upper_limit, end_limit] = limits.map(|limit| limit.prepare().unwrap());
        let mut rng = Rng::new(7);
        let mut goals = Vec::new();
        while goals.len() < 1024 {
            let m = rng.rotation();
            if upper_limit.distance(m).radians() < 0.05 {
                continue;
            }
            let end = match limits[1] {
                Limit::Free => Rotation::IDENTITY,
                _ => end_limit.project(rng.rotation()),
            };
            let share = rng.between(0.05, 0.95);
            let angle = parts.arc.min().radians() + share * parts.arc.width().radians();
            let turn = Rotation::from_axis_angle(parts.axis, Angle::from_radians(angle)).unwrap();
            let (upper, hinge) = (parts.zeros[0] * m, parts.zeros[1] * turn);
            let position_m = upper * (parts.upper_m + hinge * parts.lower_m);
            let rotation = turned.then(|| upper * hinge * parts.zeros[2] * end);
            goals.push((LimbGoal { position_m, rotation }, upper));
        }
        let limb = Limb::new(parts).unwrap().with_limits(upper_limit, end_limit);
        Self { name: name.to_owned(), limb, goals }
    }

    /// An arm along a bone.
    fn along(name: &str, bone: DVec3, upper: &Limit, end: &Limit) -> Self {
        let axis = bone.any_orthonormal_vector();
        Self::new(name, &arm_along(bone, axis, arc(0.0, 145.0)), [upper, end], true)
    }

    /// In nanoseconds, each 32 goals at their best.
    fn time(&self, mut solve: impl FnMut(&Limb, &LimbGoal, Rotation)) -> f64 {
        let mut best = vec![f64::INFINITY; self.goals.len() / 32];
        for _ in 0..10 * RUNS {
            for (goals, best) in self.goals.chunks(32).zip(&mut best) {
                *best = best.min(seconds(|| {
                    for (goal, upper) in goals {
                        solve(&self.limb, goal, *upper);
                    }
                }));
            }
        }
        best.iter().sum::<f64>() * 1e9 / self.goals.len() as f64
    }
}

fn arm_along(bone: DVec3, axis: DVec3, arc: Arc) -> LimbParts {
    let zeros = [Rotation::IDENTITY; 3];
    LimbParts { upper_m: bone * 0.3, lower_m: bone * 0.25, zeros, axis, arc }
}

/// Motion of a figure with known truth, and what was estimated of it.
fn estimated() -> (Synth, Rig) {
    let options = Options { frames: 600, ..Options::default() };
    let synth = Synth::generate(&Truth::human(), &options, 5).unwrap();
    let takes = [Take { skeleton: &synth.skeleton, clip: &synth.clip }];
    let rig = estimate(&takes, &EstimateOptions::default()).unwrap().into_rig();
    (synth, rig)
}

/// The limbs of a figure that was estimated.
fn estimated_limbs() -> Vec<Reaching> {
    let (synth, rig) = estimated();
    let skeleton = &synth.skeleton;
    let bound = BoundRig::new(&rig, skeleton).unwrap();
    let limit = |j: JointIndex| rig.joints.get(&skeleton[j].name).map(|joint| &joint.limit);
    let mut found = Vec::new();
    for end in skeleton.indices() {
        let Some(hinge) = skeleton.parent(end) else { continue };
        let Some(upper) = skeleton.parent(hinge) else { continue };
        let (Some(upper_limit), Some(Limit::Hinge { axis, arc })) = (limit(upper), limit(hinge))
        else {
            continue;
        };
        let Limit::SwingTwist(of) = upper_limit else { continue };
        let parts = LimbParts {
            upper_m: skeleton[hinge].offset_m,
            lower_m: skeleton[end].offset_m,
            zeros: [upper, hinge, end].map(|j| bound.zero(j).unwrap_or_default()),
            axis: *axis,
            arc: *arc,
        };
        let shape = match of.swing {
            SwingLimit::Ellipse { .. } => "ellipse",
            SwingLimit::Polygons(_) => "polygon",
            _ => "other",
        };
        let name = format!("estimated {}, {shape}", skeleton[upper].name);
        found.push(Reaching::new(&name, &parts, [upper_limit, &Limit::Free], false));
    }
    found
}

fn limb_margins() {
    let edges = |bone: DVec3| ball(bone, polygon(bone), 75.0);
    let mut all = vec![Reaching::along(
        "20 edges and a range of twist",
        DVec3::X,
        &edges(DVec3::X),
        &Limit::Free,
    )];
    let readme = shoulder::shoulder().unwrap();
    all.push(Reaching::along("the README's shoulder", DVec3::X, &readme, &Limit::Free));
    for preset in presets::all() {
        let (name, bone) = (format!("preset {}", preset.name), preset.bone);
        let limit = &preset.joint.limit;
        match limit {
            Limit::SwingTwist(_) => all.push(Reaching::along(&name, bone, limit, &Limit::Free)),
            Limit::Universal { .. } => {
                let name = format!("{name}, as the end");
                all.push(Reaching::along(&name, bone, &edges(bone), limit));
            }
            Limit::Hinge { axis, arc } if axis.dot(bone).abs() < 0.5 => {
                let parts = arm_along(bone, *axis, *arc);
                let name = format!("{name}, as the hinge");
                all.push(Reaching::new(&name, &parts, [&edges(bone), &Limit::Free], true));
            }
            _ => {}
        }
    }
    for (rx, ry) in [(90.0, 80.0), (60.0, 25.0), (30.0, 30.0), (120.0, 60.0), (45.0, 10.0)] {
        let limit = ball(DVec3::X, ellipse(rx, ry), 70.0);
        all.push(Reaching::along(&format!("ellipse {rx} x {ry}"), DVec3::X, &limit, &Limit::Free));
    }
    all.extend(estimated_limbs());
    println!("limbs, largest margin; the same at most 5° from a pose; nearest to that pose:");
    let mut scratch = LimbScratch::default();
    let mut first = None;
    for case in &all {
        let best = Swivel::BestMargin { near: None };
        let inside = case.goals.iter().filter(|(goal, _)| {
            case.limb.solve(goal, best, &mut scratch).status == LimitStatus::Inside
        });
        let inside = inside.count();
        let largest = case.time(|limb, goal, _| {
            let _ = black_box(limb.solve(goal, best, &mut scratch));
        });
        let step = Angle::from_degrees(5.0);
        let stepped = case.time(|limb, goal, from| {
            let _ = black_box(limb.solve(goal, Swivel::AtMost { from, step }, &mut scratch));
        });
        let nearest = case.time(|limb, goal, from| {
            let _ = black_box(limb.solve(goal, Swivel::Nearest(from), &mut scratch));
        });
        let first = *first.get_or_insert(largest);
        println!(
            "  {:<36} {:7.2} µs, {:6.2} times the first; {:6.2} µs; {:5.2} µs; {inside} of {} inside",
            case.name,
            1e-3 * largest,
            largest / first,
            1e-3 * stepped,
            1e-3 * nearest,
            case.goals.len()
        );
    }
}

/// A body that was estimated, after its own motion.
fn bodies_with_limbs() {
    let (synth, rig) = estimated();
    let (skeleton, clip) = (&synth.skeleton, &synth.clip);
    let bound = BoundRig::new(&rig, skeleton).unwrap();
    let mut figure = Figure::new(skeleton, &bound);
    figure.free_root();
    let ends = usual_effectors(skeleton);
    let rest = Pose::rest(skeleton);
    let (mut solver, mut body) = (Solver::new(&figure), Body::new(&figure, skeleton));
    let goals_at = |frame| -> Vec<Goal> {
        let world = clip.pose(frame).world(skeleton);
        ends.iter().map(|j| Goal::position(*j, world.positions_m[j.get()])).collect()
    };
    let frames: Vec<Vec<Goal>> = clip.frames().map(goals_at).collect();
    let settings = Settings { posture: Some((&rest, 1e-6)), restarts: 1, ..Settings::default() };
    let mut best = vec![[f64::INFINITY; 2]; frames.len()];
    let mut reached = [0; 2];
    for _ in 0..RUNS {
        let mut poses = [rest.clone(), rest.clone()];
        reached = [0; 2];
        for (goals, best) in frames.iter().zip(&mut best) {
            let starts = poses.clone();
            let [a, b] = &mut poses;
            let mut outcomes = [false; 2];
            let times = [
                seconds(|| outcomes[0] = solver.solve(&starts[0], goals, &settings, a).reached),
                seconds(|| outcomes[1] = body.solve(&starts[1], goals, &settings, b).reached),
            ];
            for i in 0..2 {
                best[i] = best[i].min(times[i]);
                reached[i] += usize::from(outcomes[i]);
            }
        }
    }
    let mean = |i: usize| best.iter().map(|b| b[i]).sum::<f64>() * 1e6 / frames.len() as f64;
    println!(
        "an estimated body, {} frames: Solver {:.2} µs, {} reached; Body {:.2} µs, {} reached, {:.2} times",
        frames.len(),
        mean(0),
        reached[0],
        mean(1),
        reached[1],
        mean(1) / mean(0)
    );
}

fn main() {
    // `cargo test --all-targets` runs it, too, without this.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    limb_margins();
    bodies_with_limbs();
    near_goals();
    far_goals();
    whole_bodies();
}
