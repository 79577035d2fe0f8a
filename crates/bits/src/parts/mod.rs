//! What is hashed.

mod clips;
mod corpus;
mod couple;
mod edit;
mod estimate;
mod ik;
mod limits;
mod maps;
mod numbers;
mod turns;

use crate::Part;

/// All parts. A new kernel or format gets its own.
pub const PARTS: &[Part] = &[
    Part { name: "trig.circular", run: numbers::circular },
    Part { name: "trig.inverse", run: numbers::inverse },
    Part { name: "trig.hypot", run: numbers::hypot },
    Part { name: "eigen", run: numbers::eigen },
    Part { name: "rotation.log_exp", run: turns::log_exp },
    Part { name: "rotation.euler", run: turns::euler },
    Part { name: "rotation.swing_twist", run: turns::swing_twist },
    Part { name: "rotation.between", run: turns::between },
    Part { name: "rotation.mean", run: turns::mean },
    Part { name: "rotation.batch", run: turns::batch },
    Part { name: "synth", run: corpus::synth },
    Part { name: "write", run: corpus::write },
    Part { name: "read.bvh", run: clips::read_bvh },
    Part { name: "read.acclaim", run: clips::read_acclaim },
    Part { name: "read.trc", run: clips::read_trc },
    Part { name: "read.large", run: clips::read_large },
    Part { name: "forward", run: clips::forward },
    Part { name: "sample", run: clips::sample },
    Part { name: "resample.linear", run: clips::resample_linear },
    Part { name: "resample.smooth", run: clips::resample_smooth },
    Part { name: "limits", run: limits::limits },
    Part { name: "limits.pictures", run: limits::pictures },
    Part { name: "estimate", run: estimate::from_clips },
    Part { name: "estimate.summary", run: estimate::from_summaries },
    Part { name: "ik", run: ik::solvers },
    Part { name: "evaluate", run: ik::evaluation },
    Part { name: "maps", run: maps::models },
    Part { name: "couple", run: couple::couplings },
    Part { name: "edit.match", run: edit::matches },
    Part { name: "edit.motions", run: edit::motions },
    Part { name: "write.back", run: clips::write_back },
    Part { name: "write.edited", run: clips::write_edited },
];
