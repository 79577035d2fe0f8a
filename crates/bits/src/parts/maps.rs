//! Joint maps: figures set by their dials, with derivatives, and dials found for poses.

use condyle::ik::{DialSettings, DialSolver};
use condyle::maps::Network;
use condyle::models;
use condyle::motion::Pose;
use condyle::synth::Rng;

use crate::{Hash, How};

/// All models: motions of their joints, rates, and the dials of every fourth pose.
pub(super) fn models(_: &How) -> Hash {
    let mut hash = Hash::default();
    for name in models::names() {
        let rig = models::find(name).expect("a model is sound");
        let network = Network::new(&rig.maps, &rig.skeleton).expect("a model is sound");
        let mut solver = DialSolver::new(&network);
        let (mut state, mut pose) = (network.state(), Pose::rest(&rig.skeleton));
        let mut rng = Rng::new(8);
        for n in 0..40 {
            let dials: Vec<f64> =
                network.dials().iter().map(|d| rng.between(d.range[0], d.range[1])).collect();
            network.evaluate(&dials, &mut state);
            network.write(&state, &mut pose);
            pose.rotations.iter().for_each(|r| hash.rotation(*r));
            pose.translations_m.iter().for_each(|v| hash.vector(*v));
            for joint in rig.skeleton.indices() {
                for (_, rate) in network.rates(&state, joint) {
                    hash.vector(rate.turn);
                    hash.vector(rate.shift_m);
                }
            }
            if n % 4 == 0 {
                let mut found: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
                solver.fit(&mut found, &pose, &[], &DialSettings::default());
                found.iter().for_each(|dial| hash.f64(*dial));
            }
        }
    }
    hash
}
