//! Couplings of angles, learnt from motion.

use std::num::NonZeroUsize;

use condyle::couple::{CoupleOptions, couple};
use condyle::estimate::{EstimateOptions, Take, estimate};
use condyle::synth::{CoupledFigure, CoupledMotion, CoupledOptions};

use crate::{Hash, How};

/// What is found in free and in periodic motion, with a rig that was estimated from it.
pub(super) fn couplings(how: &How) -> Hash {
    let threads = NonZeroUsize::new(how.threads).unwrap_or(NonZeroUsize::MIN);
    let mut hash = Hash::default();
    for (seed, motion) in [(0, CoupledMotion::Free), (1, CoupledMotion::Periodic)] {
        let made = CoupledOptions {
            hinges: 4,
            balls: 1,
            couplings: 2,
            takes: 2,
            seconds: 15.0,
            motion,
            ..CoupledOptions::default()
        };
        let figure = CoupledFigure::generate(&made, seed).expect("so many frames are possible");
        let takes: Vec<Take<'_>> =
            figure.clips.iter().map(|clip| Take { skeleton: &figure.skeleton, clip }).collect();
        let rig =
            estimate(&takes, &EstimateOptions::default()).expect("there is motion").into_rig();
        let found = couple(&takes, &rig, &CoupleOptions { threads, ..Default::default() });
        let counts = [found.angles, found.pairs, found.untold, found.echoes, found.single];
        counts.iter().for_each(|n| hash.count(*n));
        hash.f64s(&found.periods_s);
        hash.count(found.found.len());
        for of in &found.found {
            hash.text(&of.coupling.name);
            hash.f64s(&[of.explained, of.explained_by_chance]);
            hash.f64s(&of.taken);
            hash.f64s(&of.taken_by_chance);
            for band in of.fitted.iter().flat_map(|fitted| &fitted.band) {
                hash.f64s(band);
            }
        }
    }
    hash
}
