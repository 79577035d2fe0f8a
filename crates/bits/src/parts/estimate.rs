//! Joint kinds and limits from motion.

use std::num::NonZeroUsize;

use condyle::estimate::{
    BallModel, EstimateOptions, Method, Outliers, Summary, Take, estimate, estimate_summary,
};
use condyle::math::Angle;
use condyle::synth::{Figure, Glitches, Options, Synth};

use crate::{Hash, How};

/// The motion of one figure, in order and as poses, with noise and glitches.
fn motions() -> Vec<Synth> {
    let glitches = Glitches { share: 0.01, ..Glitches::default() };
    let clip = |seed: u64| {
        let noise = Angle::from_degrees(0.3);
        let options = Options { frames: 600, noise, glitches, ..Options::default() };
        Synth::generate(&Figure::human(), &options, seed).expect("a figure of our own moves")
    };
    vec![clip(1), clip(2)]
}

/// The ways to estimate, all of them by so many threads.
fn ways(how: &How) -> Vec<EstimateOptions> {
    let threads = NonZeroUsize::new(how.threads).unwrap_or(NonZeroUsize::MIN);
    let robust = EstimateOptions { threads, ends: true, ..EstimateOptions::default() };
    let with = |ball| EstimateOptions { ball, ..robust };
    vec![
        robust,
        with(BallModel::Polygon),
        with(BallModel::Ellipse),
        EstimateOptions { raw: true, outliers: Outliers::Keep, ..with(BallModel::Box) },
        EstimateOptions { coverage: 0.98, margin: Angle::from_degrees(2.0), ..robust },
        EstimateOptions { method: Method::Paper, ..robust },
    ]
}

/// The documents of one clip and of two.
pub(super) fn from_clips(how: &How) -> Hash {
    let motions = motions();
    let takes: Vec<Take<'_>> =
        motions.iter().map(|m| Take { skeleton: &m.skeleton, clip: &m.clip }).collect();
    let mut hash = Hash::default();
    for options in ways(how) {
        for takes in [&takes[..1], &takes[..]] {
            let rig = estimate(takes, &options).expect("there is motion").into_rig();
            hash.bytes(&rig.write().expect("a rig can be written"));
        }
    }
    hash
}

/// The bytes of summaries, and the documents of them merged.
pub(super) fn from_summaries(how: &How) -> Hash {
    let options = EstimateOptions { ends: false, ..ways(how)[0] };
    let mut hash = Hash::default();
    let mut all = Summary::default();
    for motion in motions() {
        let part = Summary::of_take(&motion.skeleton, &motion.clip, &options);
        hash.bytes(&part.write());
        all.merge(&part).expect("it is the same figure");
    }
    let rig = estimate_summary(&all, &options).expect("there is motion").into_rig();
    hash.bytes(&rig.write().expect("a rig can be written"));
    hash
}
