//! Inverse kinematics with figures, limits, goals and settings made of bytes.

use arbitrary::{Result, Unstructured};
use condyle::glam::{DQuat, DVec3};
use condyle::ik::limb::{
    Limb, LimbGoal, LimbOutcome, LimbParts, LimbScratch, LimitStatus, Reach, Swivel,
};
use condyle::ik::{
    Aim, Body, Figure, FollowOptions, Goal, Goals, Method, Miss, Outcome, Settings, Solver,
};
use condyle::limits::{Limit, PreparedLimit};
use condyle::math::{Angle, Rotation};
use condyle::motion::{Clip, FrameRate, Pose, Track, World};
use condyle::skeleton::{Joint, JointIndex, Skeleton};

use super::limits::{angle, arc, limit, number, vector};

/// A number of the size of bones, sometimes any.
fn length(u: &mut Unstructured<'_>) -> Result<f64> {
    if u.ratio(1, 16)? { number(u) } else { Ok(f64::from(u.arbitrary::<i8>()?) / 64.0) }
}

fn place(u: &mut Unstructured<'_>) -> Result<DVec3> {
    Ok(DVec3::new(length(u)?, length(u)?, length(u)?))
}

fn rotation(u: &mut Unstructured<'_>) -> Result<Rotation> {
    if u.ratio(1, 4)? {
        return Ok(Rotation::IDENTITY);
    }
    let mut part = || Ok(f64::from(u.arbitrary::<i8>()?) / 64.0);
    let q = DQuat::from_xyzw(part()?, part()?, part()?, part()?);
    Ok(Rotation::new(q).unwrap_or_default())
}

/// A limit that can be asked; mostly of the usual kinds.
fn prepared(u: &mut Unstructured<'_>) -> Result<PreparedLimit> {
    let limit = match u.int_in_range(0..=3)? {
        0 => Limit::Hinge { axis: vector(u)?, arc: arc(u)? },
        1 => Limit::Free,
        _ => limit(u)?,
    };
    Ok(limit.prepare().unwrap_or_else(|_| Limit::Free.prepare().expect("of nothing")))
}

/// A figure with its limits, a pose of it, and what it is asked for.
struct Problem {
    skeleton: Skeleton,
    figure: Figure,
    /// The zero and the limit of each joint.
    limits: Vec<(Rotation, PreparedLimit)>,
    held: Vec<bool>,
    shifting: bool,
    start: Pose,
    posture: Pose,
    goals: Vec<Goal>,
}

impl Problem {
    fn new(u: &mut Unstructured<'_>) -> Result<Self> {
        let mut skeleton = Skeleton::new();
        let count = u.int_in_range(1..=6)?;
        for i in 0..count {
            let offset_m = DVec3::from_array(place(u)?.to_array().map(|x| {
                // What a skeleton takes.
                if x.is_finite() { x } else { 1.0 }
            }));
            let joint = Joint { rest: rotation(u)?, ..Joint::new(format!("j{i}"), offset_m) };
            // Mostly chains, as arms and legs are.
            let parent = if u.ratio(3, 4)? { i.max(1) - 1 } else { u.int_in_range(0..=i)? };
            let parent = skeleton.indices().nth(parent).filter(|_| i > 0);
            let added = match parent {
                Some(parent) => skeleton.add(parent, joint),
                None => skeleton.add_root(joint),
            };
            added.expect("finite, and named by number");
        }
        let mut figure = Figure::without_limits(&skeleton);
        let (mut limits, mut held) = (Vec::new(), Vec::new());
        for joint in skeleton.indices() {
            let (zero, limit) = (rotation(u)?, prepared(u)?);
            figure.limit(joint, zero, limit.clone());
            limits.push((zero, limit));
            held.push(u.ratio(1, 16)?);
            if held.last() == Some(&true) {
                figure.hold(joint);
            }
        }
        let shifting = u.ratio(1, 3)?;
        if shifting {
            figure.free_root();
        }
        let mut pose = || -> Result<Pose> {
            let mut pose = Pose::rest(&skeleton);
            for i in 0..count {
                pose.rotations[i] = rotation(u)?;
                if u.ratio(1, 8)? {
                    pose.translations_m[i] = place(u)?;
                }
            }
            Ok(pose)
        };
        let (start, posture) = (pose()?, pose()?);
        let mut goals = Vec::new();
        for _ in 0..u.int_in_range(0..=5)? {
            goals.push(goal(u, &skeleton)?);
        }
        Ok(Self { skeleton, figure, limits, held, shifting, start, posture, goals })
    }

    /// Whether goals depend on a joint.
    fn is_asked(&self, joint: JointIndex) -> bool {
        let below = |of: JointIndex| {
            let above = std::iter::successors(Some(of), |&j| self.skeleton.parent(j));
            above.into_iter().any(|j| j == joint)
        };
        self.goals.iter().any(|goal| {
            below(goal.joint) || matches!(goal.aim, Aim::Meet { other, .. } if below(other))
        })
    }

    /// A solved pose is one, inside of the limits, and changed where it may be only.
    fn check(&self, pose: &Pose, misses: &[Miss], outcome: Outcome, settings: &Settings<'_>) {
        for joint in self.skeleton.indices() {
            let j = joint.get();
            let (was, is) = (self.start.rotations[j].quat(), pose.rotations[j].quat());
            assert!((is.length() - 1.0).abs() < 1e-9, "{joint:?} {is:?}");
            let (zero, limit) = &self.limits[j];
            if self.held[j] || !self.is_asked(joint) {
                assert_eq!(bits(&was.to_array()), bits(&is.to_array()), "{joint:?} is left alone");
            } else {
                let inside = limit.distance(zero.inverse() * pose.rotations[j]).radians();
                assert!(inside > -1e-9, "{joint:?} {is:?}: {inside}");
            }
            let (was, is) = (self.start.translations_m[j], pose.translations_m[j]);
            if self.shifting && self.is_asked(joint) && self.skeleton.parent(joint).is_none() {
                assert!(is.is_finite() || !was.is_finite(), "{joint:?} {is:?}");
            } else {
                assert_eq!(bits(&was.to_array()), bits(&is.to_array()), "{joint:?} is left there");
            }
        }
        assert_eq!(misses.len(), self.goals.len());
        let finite = self.start.translations_m.iter().all(|t| t.is_finite());
        assert!(!finite || misses.iter().all(|miss| miss.value() >= 0.0), "{misses:?}");
        if outcome.reached && finite {
            let mut world = World::new();
            world.update(&self.skeleton, pose);
            for goal in self.goals.iter().filter(|goal| goal.weight > 0.0) {
                let miss = goal.miss(&world).value();
                let size = world.positions_m.iter().map(|p| p.length()).fold(1.0, f64::max);
                assert!(miss <= settings.near_m.max(1e-3) + 1e-9 * size, "{goal:?} {miss}");
            }
        }
    }
}

fn goal(u: &mut Unstructured<'_>, skeleton: &Skeleton) -> Result<Goal> {
    let joints: Vec<JointIndex> = skeleton.indices().collect();
    let joint = *u.choose(&joints)?;
    let aim = match u.int_in_range(0..=6)? {
        0 => Aim::Position { point_m: place(u)?, target_m: place(u)? },
        1 => Aim::Rotation(rotation(u)?),
        2 => Aim::Direction { axis: vector(u)?, target: vector(u)? },
        3 => Aim::LookAt { point_m: place(u)?, axis: vector(u)?, target_m: place(u)? },
        4 => Aim::Meet { point_m: place(u)?, other: *u.choose(&joints)?, other_point_m: place(u)? },
        _ => Goal::position(joint, place(u)?).aim,
    };
    let weight = if u.ratio(1, 8)? { number(u)? } else { 1.0 };
    Ok(Goal { joint, aim, weight })
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

fn bits_of(pose: &Pose) -> Vec<u64> {
    let turns = pose.rotations.iter().flat_map(|r| r.quat().to_array());
    turns.chain(pose.translations_m.iter().flat_map(DVec3::to_array)).map(f64::to_bits).collect()
}

/// A figure that should reach goals: by numbers, and with exact limbs.
pub fn solve(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let u = &mut u;
    let Ok(problem) = Problem::new(u) else { return };
    let Ok(settings) = settings(u, &problem.posture) else { return };
    let Problem { skeleton, figure, start, goals, .. } = &problem;
    let mut solver = Solver::new(figure);
    let mut pose = start.clone();
    let outcome = solver.solve(start, goals, &settings, &mut pose);
    problem.check(&pose, solver.misses(), outcome, &settings);
    // Each part has its starts, and one more beside each where it is stuck.
    let parts = u32::try_from(goals.len()).expect("a few");
    assert!(outcome.restarts <= parts * settings.restarts);
    let most = if settings.method == Method::ConjugateGradient { 10 } else { 1 } * settings.steps;
    assert!(outcome.steps <= parts * 2 * (settings.restarts + 1) * most, "{outcome:?}");
    // Nothing is left of it.
    let mut again = start.clone();
    assert_eq!(solver.solve(start, goals, &settings, &mut again), outcome);
    assert_eq!(bits_of(&again), bits_of(&pose), "solved again");

    let mut body = Body::new(figure, skeleton);
    let mut pose = start.clone();
    let outcome = body.solve(start, goals, &settings, &mut pose);
    problem.check(&pose, body.misses(), outcome, &settings);
}

fn settings<'a>(u: &mut Unstructured<'_>, posture: &'a Pose) -> Result<Settings<'a>> {
    let mut reference = || -> Result<Option<(&'a Pose, f64)>> {
        Ok(match u.int_in_range(0..=5)? {
            0 => Some((posture, number(u)?)),
            1 | 2 => Some((posture, 1e-4)),
            _ => None,
        })
    };
    let (posture, before) = (reference()?, reference()?);
    let method =
        if u.ratio(1, 4)? { Method::ConjugateGradient } else { Method::LevenbergMarquardt };
    let steps = u.int_in_range(0..=15)?;
    Ok(Settings {
        method,
        steps: if method == Method::ConjugateGradient { steps / 5 } else { steps },
        restarts: u.int_in_range(0..=1)?,
        near_m: if u.ratio(1, 16)? { number(u)?.min(1e-3) } else { 1e-4 },
        posture,
        before,
        ..Settings::default()
    })
}

/// An arm or a leg: every swivel, and the limits before the goal.
pub fn limb(data: &[u8]) {
    let _too_short = limb_of(&mut Unstructured::new(data));
}

fn limb_of(u: &mut Unstructured<'_>) -> Result<()> {
    let parts = LimbParts {
        upper_m: place(u)?,
        lower_m: place(u)?,
        zeros: [rotation(u)?, rotation(u)?, rotation(u)?],
        axis: vector(u)?,
        arc: arc(u)?,
    };
    let (upper, end) = (prepared(u)?, prepared(u)?);
    let Some(limb) = Limb::new(&parts) else { return Ok(()) };
    let limb = limb.with_limits(upper.clone(), end.clone());
    let goal = LimbGoal {
        position_m: place(u)?,
        rotation: if u.arbitrary()? { Some(rotation(u)?) } else { None },
    };
    let corners = [rotation(u)?, rotation(u)?];
    let (toward, angle) = (vector(u)?, angle(u)?);
    let mut scratch = LimbScratch::default();
    let check = |found: &LimbOutcome<'_>| {
        for local in found.pose.locals {
            assert!((local.quat().length() - 1.0).abs() < 1e-9, "{found:?}");
        }
        assert!(found.pose.miss_m >= 0.0 && found.pose.miss.radians() >= 0.0, "{found:?}");
        assert!(found.pose.hinge().radians().is_finite(), "{found:?}");
        assert!(found.swivel.radians().abs() <= std::f64::consts::PI, "{found:?}");
        let margins = found.margins().map(Angle::radians);
        assert!(!margins.iter().any(|m| m.is_nan()), "{margins:?} {found:?}");
        assert!(margins[1] > -1e-9, "the hinge is in its arc: {margins:?} {found:?}");
        margins
    };
    for swivel in [
        Swivel::Given { toward, angle },
        Swivel::At(angle),
        Swivel::Nearest(corners[0]),
        Swivel::BestMargin { near: None },
        Swivel::BestMargin { near: Some((corners[0], angle)) },
        Swivel::AtMost { from: corners[0], step: angle },
        Swivel::CornerSum(&corners),
    ] {
        let found = limb.solve(&goal, swivel, &mut scratch);
        let margins = check(&found);
        if found.status == LimitStatus::Inside {
            let asked =
                if goal.rotation.is_some() { margins[0].min(margins[2]) } else { margins[0] };
            assert!(asked > -1e-6, "{swivel:?} {margins:?}");
        }
        assert!(limb.arcs(&goal, &mut scratch).iter().all(|arc| !arc.is_empty()));
        let size = parts.upper_m.length() + parts.lower_m.length();
        if found.pose.reach == Reach::Reached && goal.position_m.is_finite() && size > 1e-140 {
            let [a, b, _] = found.pose.locals;
            let miss_m = (a * (parts.upper_m + b * parts.lower_m) - goal.position_m).length();
            assert!(miss_m <= 1e-6 * size, "{miss_m} {parts:?} {goal:?} {swivel:?}");
        }
        let clamped = limb.clamped(&goal, &found);
        let margins = check(&clamped);
        assert!(margins[0] > -1e-9 && margins[2] > -1e-9, "{swivel:?} {margins:?}");
    }
    Ok(())
}

/// Any bytes as goals for a leg of four joints and three frames. Faults are at a place in the text; what
/// can be read is about the clip, and can be followed.
pub fn read_goals(data: &[u8]) {
    let (skeleton, mut clip) = leg();
    let read = match Goals::read(data, &skeleton, &clip) {
        Ok(read) => read,
        Err(error) => {
            let text = String::from_utf8_lossy(data);
            // Lines end with LF, CR LF or CR.
            let unified = text.replace("\r\n", "\n").replace('\r', "\n");
            let at = error.position().expect("a fault of a text is somewhere in it");
            let line = unified.split('\n').nth(at.line as usize - 1);
            let line = line.unwrap_or_else(|| panic!("{error}: there is no such line"));
            // One beyond the end, where something is missing.
            assert!(at.column >= 1 && at.column as usize <= line.len() + 1, "{error}: {line:?}");
            assert!(!error.help().is_empty() && error.to_string().contains("help"));
            return;
        }
    };
    let goals = read.goals;
    assert!(!goals.goals.is_empty());
    for goal in &goals.goals {
        assert!(goal.weight > 0.0 && goal.weight.is_finite());
        assert!(goal.joint.get() < skeleton.len());
        if let condyle::ik::Aims::PerFrame(aims) = &goal.aims {
            assert_eq!(aims.len(), clip.frame_count());
        }
    }
    // Work grows with the cube of their number.
    if goals.goals.len() > 6 {
        return;
    }
    let figure = Figure::without_limits(&skeleton);
    let options = FollowOptions { restarts: Some(0), ..FollowOptions::default() };
    let followed = goals.follow(figure, &skeleton, &mut clip, &options, |_| {});
    assert_eq!(followed.goals.len(), goals.goals.len());
    for goal in &followed.goals {
        assert!(goal.reached <= goal.frames && goal.frames <= clip.frame_count());
        assert!(goal.mean.value() >= 0.0 && goal.worst.value() >= goal.mean.value() * (1.0 - 1e-9));
    }
    for frame in 0..3 {
        let pose = clip.pose(condyle::motion::FrameIndex(frame));
        assert!(pose.rotations.iter().all(|r| r.quat().is_finite()));
        assert!(pose.translations_m.iter().all(|t| t.is_finite()));
    }
}

fn leg() -> (Skeleton, Clip) {
    let mut skeleton = Skeleton::new();
    let mut parent = skeleton.add_root(Joint::new("Pelvis", DVec3::Y)).expect("a root");
    for name in ["Hip", "Knee", "Foot"] {
        parent = skeleton.add(parent, Joint::new(name, -0.4 * DVec3::Y)).expect("a joint");
    }
    let bend = |degrees| Rotation::about_x(Angle::from_degrees(degrees));
    let tracks = skeleton.joints().iter().enumerate();
    let tracks = tracks.map(|(i, j)| Track::constant(bend(f64::from(10 * (i as u8))), j.offset_m));
    let rate = FrameRate::from_fps(30.0).expect("a rate");
    let clip = Clip::new(3, rate, tracks.collect()).expect("of the skeleton");
    (skeleton, clip)
}
