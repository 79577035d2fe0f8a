//! Figures some of whose angles drive or bound others, with motion.

use std::f64::consts::TAU;

use glam::DVec3;

use super::{MAX_FRAMES, Rng, SynthError};
use crate::math::{Angle, Rotation, Swing, SwingAxes, SwingTwist, trig};
use crate::motion::{Clip, FrameRate, Track};
use crate::skeleton::{Joint, Skeleton};

/// How a figure with couplings is made and moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoupledOptions {
    /// How many hinges it has.
    pub hinges: usize,
    /// How many balls.
    pub balls: usize,
    /// How many of its angles depend on others.
    pub couplings: usize,
    /// How many clips.
    pub takes: usize,
    /// How long each is.
    pub seconds: f64,
    /// How it moves.
    pub motion: CoupledMotion,
    /// The noise about each angle, one standard deviation.
    pub noise: Angle,
}

impl Default for CoupledOptions {
    fn default() -> Self {
        Self {
            hinges: 8,
            balls: 2,
            couplings: 4,
            takes: 3,
            seconds: 30.0,
            motion: CoupledMotion::Free,
            noise: Angle::from_degrees(0.3),
        }
    }
}

/// How a figure with couplings moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoupledMotion {
    /// Every angle goes its own way, smoothly.
    Free,
    /// As in a walk: every angle that is not driven is a function of a common phase, with amplitudes and
    /// offsets that vary by themselves from period to period. So all angles have to do with each other, and
    /// only those that are coupled do by themselves.
    Periodic,
    /// The same, but the amplitudes of all angles vary together: the walk gets larger and smaller.
    PeriodicTogether,
    /// Free and periodic clips in turn.
    Both,
    /// Every angle goes its own way, but all at the same times: between, the figure stands still.
    Bursts,
    /// From pose to pose, every angle at its own times, with holds between.
    Poses,
    /// From pose to pose, all angles at once, with holds between.
    PosesTogether,
}

/// What an angle of a figure does to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoupledKind {
    /// It drives it, straight.
    Line,
    /// It drives it by a curve that rises or falls.
    Curve,
    /// It drives it by a curve that turns back.
    Valley,
    /// It bounds it above.
    Upper,
    /// It bounds it below.
    Lower,
    /// It narrows it from both sides.
    Both,
}

impl CoupledKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Line, Self::Curve, Self::Valley, Self::Upper, Self::Lower, Self::Both];

    /// Whether it drives.
    #[must_use]
    pub const fn drives(self) -> bool {
        matches!(self, Self::Line | Self::Curve | Self::Valley)
    }
}

/// The axes of a joint of such a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CoupledAxes {
    /// A hinge about an axis.
    Hinge(DVec3),
    /// A ball with swings about x and y and a twist.
    Ball(SwingAxes),
}

/// An angle that really depends on another one. Angles are counted through all joints: a hinge has one, a
/// ball three (x, y, twist).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrueCoupling {
    /// The one that drives or bounds.
    pub active: usize,
    /// The other one.
    pub passive: usize,
    /// How.
    pub kind: CoupledKind,
}

/// A figure some of whose angles drive or bound others, and its motion.
#[derive(Clone, Debug)]
pub struct CoupledFigure {
    /// Its skeleton: a root, and all joints in a chain. Rest poses are the identity.
    pub skeleton: Skeleton,
    /// The axes of each joint but the root.
    pub axes: Vec<CoupledAxes>,
    /// Where each angle is at 0 of its course, and how far it goes from there, radians.
    pub courses: Vec<[f64; 2]>,
    /// What depends on what.
    pub truth: Vec<TrueCoupling>,
    /// The motion.
    pub clips: Vec<Clip>,
}

const RATE: f64 = 60.0;

impl CoupledFigure {
    /// Makes a figure and its motion from a seed.
    ///
    /// ```
    /// use condyle::synth::{CoupledFigure, CoupledOptions};
    /// let figure = CoupledFigure::generate(&CoupledOptions::default(), 1)?;
    /// assert_eq!((figure.axes.len(), figure.truth.len(), figure.clips.len()), (10, 4, 3));
    /// # Ok::<(), condyle::synth::SynthError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If it has too many frames, or none.
    pub fn generate(options: &CoupledOptions, seed: u64) -> Result<Self, SynthError> {
        let mut rng = Rng::stream(seed, 0xc0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let frames = (options.seconds * RATE).round() as usize;
        if frames == 0 || frames > MAX_FRAMES {
            return Err(SynthError::FrameCount { found: frames });
        }
        let mut skeleton = Skeleton::new();
        let mut parent = skeleton.add_root(Joint::new("Root", DVec3::ZERO))?;
        let mut axes = Vec::new();
        for i in 0..options.hinges + options.balls {
            let bone = rng.direction();
            let kind = if i < options.hinges { "Hinge" } else { "Ball" };
            parent = skeleton.add(parent, Joint::new(format!("{kind}{i}"), bone * 0.2))?;
            axes.push(match SwingAxes::new(bone, None) {
                Some(of) if i >= options.hinges => CoupledAxes::Ball(of),
                _ => CoupledAxes::Hinge(rng.direction()),
            });
        }
        let owners: Vec<usize> = axes
            .iter()
            .enumerate()
            .flat_map(|(i, of)| {
                std::iter::repeat_n(i, if let CoupledAxes::Ball(_) = of { 3 } else { 1 })
            })
            .collect();
        let courses: Vec<[f64; 2]> = owners
            .iter()
            .map(|owner| match axes[*owner] {
                CoupledAxes::Hinge(_) => [rng.between(-0.6, 0.6), rng.between(0.25, 1.0)],
                CoupledAxes::Ball(_) => [rng.between(-0.2, 0.2), rng.between(0.25, 0.6)],
            })
            .collect();
        let truth = couplings(&owners, options.couplings, &mut rng);
        let rate = FrameRate::from_fps(RATE).ok_or(SynthError::FrameCount { found: frames })?;
        let mut clips = Vec::new();
        for take in 0..options.takes {
            let how = match options.motion {
                CoupledMotion::Both if take % 2 == 1 => CoupledMotion::Periodic,
                CoupledMotion::Both => CoupledMotion::Free,
                motion => motion,
            };
            let mut rng = Rng::stream(seed, 0xc1 + take as u64);
            let angles = motion(&courses, &truth, frames, how, options.noise, &mut rng);
            let mut tracks = vec![Track::constant(Rotation::IDENTITY, DVec3::ZERO)];
            let mut next = 0;
            for (i, of) in axes.iter().enumerate() {
                let offset = skeleton.joints()[i + 1].offset_m;
                let turn = |frame: usize| match of {
                    CoupledAxes::Hinge(axis) => {
                        Rotation::from_axis_angle(*axis, Angle::from_radians(angles[next][frame]))
                    }
                    CoupledAxes::Ball(axes) => {
                        let swing =
                            Swing::from_radians(angles[next][frame], angles[next + 1][frame]);
                        let twist = Angle::from_radians(angles[next + 2][frame]);
                        SwingTwist { swing, twist }.to_rotation(axes)
                    }
                };
                let turns = (0..frames).map(|frame| turn(frame).unwrap_or_default()).collect();
                tracks.push(Track::turning(turns, offset));
                next += if let CoupledAxes::Ball(_) = of { 3 } else { 1 };
            }
            clips.push(Clip::new(frames, rate, tracks)?);
        }
        Ok(Self { skeleton, axes, courses, truth, clips })
    }
}

/// Which angles depend on which: never of the same joint, each on one other that depends on none.
fn couplings(owners: &[usize], count: usize, rng: &mut Rng) -> Vec<TrueCoupling> {
    const TRIES: usize = 1000;
    let mut truth: Vec<TrueCoupling> = Vec::new();
    for _ in 0..TRIES {
        if truth.len() >= count || owners.len() < 2 {
            break;
        }
        let (active, passive) = (rng.below(owners.len()), rng.below(owners.len()));
        let kind = CoupledKind::ALL[rng.below(CoupledKind::ALL.len())];
        let taken = truth
            .iter()
            .any(|c| c.passive == passive || c.passive == active || c.active == passive);
        if owners[active] != owners[passive] && !taken {
            truth.push(TrueCoupling { active, passive, kind });
        }
    }
    truth
}

/// All angles over time, radians.
fn motion(
    courses: &[[f64; 2]],
    truth: &[TrueCoupling],
    frames: usize,
    how: CoupledMotion,
    noise: Angle,
    rng: &mut Rng,
) -> Vec<Vec<f64>> {
    // Where each angle is on its way, from −1 to 1.
    let phase = phase(frames, rng);
    let larger = (how == CoupledMotion::PeriodicTogether).then(|| drift(frames, 1.5, rng));
    let together =
        if how == CoupledMotion::PosesTogether { moves(frames, rng) } else { Vec::new() };
    let mut ways: Vec<Vec<f64>> = courses
        .iter()
        .map(|_| match how {
            CoupledMotion::Periodic | CoupledMotion::PeriodicTogether => {
                periodic_way(&phase, larger.as_deref(), rng)
            }
            CoupledMotion::Poses => pose_way(&moves(frames, rng), frames, rng),
            CoupledMotion::PosesTogether => pose_way(&together, frames, rng),
            _ => free_way(frames, rng),
        })
        .collect();
    if how == CoupledMotion::Bursts {
        let burst = bursts(frames, rng);
        for way in &mut ways {
            way.iter_mut().zip(&burst).for_each(|(v, burst)| *v *= burst);
        }
    }
    for TrueCoupling { active, passive, kind } in truth {
        let off = drift(frames, 0.3, rng);
        let own = std::mem::take(&mut ways[*passive]);
        let by = &ways[*active];
        let falls = rng_sign(*active, *passive);
        let at = |i: usize| {
            let x = falls * by[i];
            match kind {
                CoupledKind::Line => 0.9 * x + 0.03 * off[i],
                // Flat on one side and steep on the other.
                CoupledKind::Curve => 0.45 * (x + 1.0) * (x + 1.0) - 0.9 + 0.03 * off[i],
                CoupledKind::Valley => 1.8 * x * x - 0.9 + 0.03 * off[i],
                CoupledKind::Upper => own[i].min(0.4 - 0.6 * x),
                CoupledKind::Lower => own[i].max(0.6 * x - 0.4),
                CoupledKind::Both => own[i] * (0.6 - 0.4 * x),
            }
        };
        ways[*passive] = (0..frames).map(at).collect();
    }
    let place = |way: &Vec<f64>, [middle, half]: &[f64; 2], rng: &mut Rng| {
        way.iter().map(|v| middle + half * v + noise.radians() * rng.normal()).collect()
    };
    ways.iter().zip(courses).map(|(way, course)| place(way, course, rng)).collect()
}

/// The same in all clips of a figure.
fn rng_sign(active: usize, passive: usize) -> f64 {
    if (active + passive).is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// A smooth course that forgets where it was after some seconds, with a standard deviation of one.
fn drift(frames: usize, seconds: f64, rng: &mut Rng) -> Vec<f64> {
    let keep = 1.0 - 1.0 / (1.0 + seconds * RATE * 0.5);
    let (mut first, mut second) = (0.0, 0.0);
    let mut step = || {
        first = keep * first + (1.0 - keep) * rng.normal();
        second = keep * second + (1.0 - keep) * first;
        second
    };
    // As long as it takes to forget where it started.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    (0..(10.0 * seconds * RATE) as usize).for_each(|_| {
        step();
    });
    let course: Vec<f64> = (0..frames).map(|_| step()).collect();
    // The variance of two such filters one after the other.
    let gain = 1.0 - keep;
    let square = keep * keep;
    let variance = gain * gain * gain * gain * (1.0 + square)
        / ((1.0 - square) * (1.0 - square) * (1.0 - square));
    let scale = 1.0 / variance.sqrt();
    course.into_iter().map(|v| v * scale).collect()
}

/// Between −1 and 1, mostly away from the ends.
fn held(v: f64) -> f64 {
    1.05 * v / (1.0 + v * v).sqrt()
}

fn free_way(frames: usize, rng: &mut Rng) -> Vec<f64> {
    let seconds = rng.between(0.15, 0.6);
    drift(frames, seconds, rng).into_iter().map(held).collect()
}

/// A phase that does not go quite evenly, in turns.
fn phase(frames: usize, rng: &mut Rng) -> Vec<f64> {
    let often = rng.between(0.8, 1.2) / RATE;
    let mut at = rng.uniform();
    let uneven = drift(frames, 2.0, rng);
    uneven
        .into_iter()
        .map(|v| {
            at += often * (1.0 + 0.05 * v);
            at
        })
        .collect()
}

/// An angle of a gait, which is larger or smaller by itself or as all are.
fn periodic_way(phase: &[f64], larger: Option<&[f64]>, rng: &mut Rng) -> Vec<f64> {
    let (first, second) = (rng.uniform(), rng.uniform());
    let share = rng.between(0.0, 0.5);
    let (own, aside) = (drift(phase.len(), 1.5, rng), drift(phase.len(), 1.5, rng));
    let larger = larger.unwrap_or(&own);
    let at = |i: usize| {
        let wave = (1.0 - share) * trig::sin(TAU * (phase[i] + first))
            + share * trig::sin(TAU * (2.0 * phase[i] + second));
        0.75 * wave * (1.0 + 0.15 * larger[i]) + 0.1 * aside[i]
    };
    (0..phase.len()).map(at).collect()
}

/// For how many frames each move goes, and for how many the pose is held after it.
fn moves(frames: usize, rng: &mut Rng) -> Vec<[usize; 2]> {
    let mut moves: Vec<[usize; 2]> = Vec::new();
    let mut at = 0;
    while at < frames {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some seconds")]
        let [go, hold] = [rng.between(0.4, 1.5), rng.between(0.0, 1.0)]
            .map(|seconds| (seconds * RATE).round() as usize);
        moves.push([go.max(1), hold]);
        at += go.max(1) + hold;
    }
    moves
}

/// From pose to pose with the least jerk: T. Flash, N. Hogan, "The coordination of arm movements" (1985).
fn pose_way(moves: &[[usize; 2]], frames: usize, rng: &mut Rng) -> Vec<f64> {
    let mut way = Vec::with_capacity(frames);
    let mut pose = rng.between(-1.0, 1.0);
    for [go, hold] in moves {
        let next = rng.between(-1.0, 1.0);
        for i in 0..*go {
            let t = i as f64 / *go as f64;
            way.push(pose + (next - pose) * t * t * t * (10.0 - 15.0 * t + 6.0 * t * t));
        }
        way.extend(std::iter::repeat_n(next, *hold));
        pose = next;
    }
    way.truncate(frames);
    way
}

/// From 0 to 1: how much the figure moves.
fn bursts(frames: usize, rng: &mut Rng) -> Vec<f64> {
    const EDGE_S: f64 = 0.3;
    let mut burst = Vec::new();
    while burst.len() < frames {
        for (moves, seconds) in [(false, rng.between(1.0, 3.0)), (true, rng.between(2.0, 5.0))] {
            let mut at_s = 0.0;
            while at_s < seconds {
                let edge = (at_s.min(seconds - at_s) / EDGE_S).clamp(0.0, 1.0);
                let smooth = edge * edge * (3.0 - 2.0 * edge);
                burst.push(if moves { smooth } else { 0.0 });
                at_s += 1.0 / RATE;
            }
        }
    }
    burst.truncate(frames);
    burst
}
