//! The estimator against known truth.
//!
//! Every test asserts a bar on some random figures, few enough for every run. With `CONDYLE_STUDY=full`
//! in the environment the same tests take as many figures as the bars name; with `--nocapture` they
//! print what they measured.
#![allow(clippy::cast_possible_truncation, reason = "small counts and seeds")]

mod alone;
mod ends;
mod glitches;
mod input;
mod inside;
mod invariance;
mod kinds;
mod limits;
mod summary;

use super::*;
use crate::limits::Limit;
use crate::math::{Arc, Rotation};
use crate::rig::{JointKind, RigJoint};
use crate::synth::{Exploration, Figure, JointTruth, Options, Rng, Synth};

/// How many figures to take.
fn figures(few: u64, all: u64) -> u64 {
    if std::env::var("CONDYLE_STUDY").is_ok_and(|v| v == "full") { all } else { few }
}

fn deg(degrees: f64) -> Angle {
    Angle::from_degrees(degrees)
}

fn take(synth: &Synth) -> Take<'_> {
    Take { skeleton: &synth.skeleton, clip: &synth.clip }
}

/// A random figure of twelve joints, and its motion.
fn random(seed: u64, options: &Options) -> Synth {
    Synth::generate(&Figure::random(12, seed).unwrap(), options, seed).unwrap()
}

fn options(exploration: Exploration, noise: f64, frames: usize) -> Options {
    Options { frames, exploration, noise: deg(noise), ..Options::default() }
}

fn with(ball: BallModel) -> EstimateOptions {
    EstimateOptions { ball, ..EstimateOptions::default() }
}

fn estimated(synth: &Synth, how: &EstimateOptions) -> Estimate {
    estimate(&[take(synth)], how).unwrap()
}

/// All joints but the root: what was found, the truth, and which it is.
fn joints<'a>(
    synth: &'a Synth,
    found: &'a Estimate,
) -> impl Iterator<Item = (JointIndex, &'a RigJoint, &'a JointTruth)> {
    synth.skeleton.indices().skip(1).map(|joint| {
        let entry = found.joints.get(&synth.skeleton[joint].name).unwrap();
        (joint, entry, &synth.truth[joint.get()])
    })
}

/// The rotations of a joint relative to rest.
fn relative(synth: &Synth, joint: JointIndex) -> impl Iterator<Item = Rotation> {
    let back = synth.skeleton[joint].rest.inverse();
    synth.clip.frames().map(move |frame| back * synth.clip.rotation(joint, frame))
}

/// The value below which a share of the others lies.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1).expect("no values");
    values[(share * last as f64).round() as usize]
}

/// The angles the other way round.
fn reversed(arc: Arc) -> Arc {
    if arc.is_full() { arc } else { Arc::new(-arc.max(), -arc.min()).unwrap() }
}

/// How far the ends of arcs are apart, degrees: the lower, and the upper ones.
fn apart(a: Arc, b: Arc) -> [f64; 2] {
    match (a.is_full(), b.is_full()) {
        (true, true) => [0.0; 2],
        (false, false) => {
            [a.min() - b.min(), a.max() - b.max()].map(|off| off.wrapped().degrees().abs())
        }
        _ => [180.0; 2],
    }
}
