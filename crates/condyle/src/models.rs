//! Parts of the human body with joint maps: a few dials that move many joints.
//!
//! The data files are rig documents in `crates/condyle/models`, each with its sources and what was
//! assumed.
//!
//! ```
//! use condyle::maps::Network;
//! use condyle::models;
//!
//! let spine = models::find("spine").ok_or("no spine")?;
//! let network = Network::new(&spine.maps, &spine.skeleton)?;
//! let mut state = network.state();
//! let mut dials = state.dials().to_vec();
//! dials[network.find("lumbar.flexion").ok_or("no dial")?] = 0.6;
//! network.evaluate(&dials, &mut state);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::rig::Rig;

const FILES: &[(&str, &str)] = &[("spine", include_str!("../models/spine.json"))];

/// Their names.
pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The model of a name, read from its data file.
#[must_use]
pub fn find(name: &str) -> Option<Rig> {
    Some(Rig::read(text(name)?.as_bytes()).ok()?.rig)
}

/// The data file of a model.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ik::{DialSettings, DialSolver};
    use crate::maps::{Component, Network};
    use crate::math::{Angle, Rotation};
    use crate::motion::Pose;
    use crate::synth::Rng;

    #[test]
    fn models_can_be_read_and_used() {
        for name in names() {
            let read = Rig::read(text(name).unwrap().as_bytes()).unwrap();
            assert!(read.warnings.is_empty(), "{name}: {:?}", read.warnings);
            let rig = read.rig;
            let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
            assert!(network.dials().iter().all(|d| !d.label.is_empty() && !d.source.is_empty()));
            // At rest nothing is moved.
            let state = network.state();
            for joint in rig.skeleton.indices() {
                let motion = network.motion(&state, joint);
                assert!(motion.rotation.angle().radians() < 1e-12, "{name}");
                assert!(motion.translation_m.length() < 1e-12, "{name}");
            }
        }
    }

    /// White and Panjabi 1990, representative values, lowest segment first: flexion and extension, side
    /// bending and turning to one side, degrees.
    const SEGMENTS: [(&str, [[u32; 3]; 12], usize); 3] = {
        const NONE: [u32; 3] = [0; 3];
        let lumbar = [
            [17, 3, 1],
            [16, 6, 2],
            [15, 8, 2],
            [14, 6, 2],
            [12, 6, 2],
            NONE,
            NONE,
            NONE,
            NONE,
            NONE,
            NONE,
            NONE,
        ];
        let thoracic = [
            [12, 8, 2],
            [12, 9, 2],
            [9, 7, 2],
            [6, 6, 4],
            [6, 6, 6],
            [6, 6, 7],
            [5, 6, 7],
            [4, 6, 8],
            [4, 6, 8],
            [4, 5, 8],
            [4, 6, 8],
            [4, 5, 9],
        ];
        let cervical = [
            [9, 4, 2],
            [17, 7, 6],
            [20, 8, 7],
            [20, 11, 7],
            [15, 11, 7],
            [10, 10, 3],
            [20, 5, 40],
            NONE,
            NONE,
            NONE,
            NONE,
            NONE,
        ];
        [("lumbar", lumbar, 5), ("thoracic", thoracic, 12), ("cervical", cervical, 7)]
    };

    /// Row D8: nine dials drive 72 rotations, and each region has the range of its published segments,
    /// as has each segment.
    #[test]
    fn d8_the_spine_has_the_published_ranges() {
        let rig = find("spine").unwrap();
        let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
        assert_eq!(network.dials().len(), 9);
        let turns =
            rig.maps.parts.iter().filter(|part| matches!(part.component, Component::Turn { .. }));
        assert_eq!(turns.count(), 72);
        let moved: Vec<_> = rig.skeleton.indices().filter(|j| network.moves(*j)).collect();
        assert_eq!(moved.len(), 24);
        let mut state = network.state();
        let mut first = 0;
        for (region, segments, count) in SEGMENTS {
            for (k, dial) in ["flexion", "lateral", "axial"].iter().enumerate() {
                let d = network.find(&format!("{region}.{dial}")).unwrap();
                let [min, max] = network.dials()[d].range.map(f64::to_degrees);
                let sum: u32 = segments.iter().map(|segment| segment[k]).sum();
                // Of flexion both ways together, of the others to each side.
                let whole = if k == 0 { max - min } else { max };
                assert!((whole - f64::from(sum)).abs() < 1e-9, "{region} {dial}: {whole} {sum}");
                assert!(k == 0 || min == -max);
                let at = |value: f64, state: &mut crate::maps::State| -> Vec<f64> {
                    let mut dials: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
                    dials[d] = value;
                    network.evaluate(&dials, state);
                    let angle = |j: &_| network.motion(state, *j).rotation.angle().degrees();
                    moved.iter().map(angle).collect()
                };
                let ends = network.dials()[d].range;
                let (low, high) = (at(ends[0], &mut state), at(ends[1], &mut state));
                for (i, segment) in segments[..count].iter().enumerate() {
                    let whole =
                        if k == 0 { low[first + i] + high[first + i] } else { high[first + i] };
                    let off = (whole - f64::from(segment[k])).abs();
                    assert!(off < 1e-3, "{region} {dial} {i}: {whole}");
                }
                let elsewhere =
                    high.iter().enumerate().filter(|(i, _)| *i < first || *i >= first + count);
                assert!(elsewhere.into_iter().all(|(_, angle)| *angle == 0.0));
            }
            first += count;
        }
    }

    /// Forward, to the left, and turned to the left, as the labels say.
    #[test]
    fn d8_the_spine_bends_as_it_says() {
        let rig = find("spine").unwrap();
        let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
        let (mut state, mut pose) = (network.state(), Pose::rest(&rig.skeleton));
        let head = rig.skeleton.find("Head").unwrap().get();
        let mut at = |dial: &str, value: f64| {
            let mut dials = vec![0.0; 9];
            dials[network.find(dial).unwrap()] = value;
            network.evaluate(&dials, &mut state);
            network.write(&state, &mut pose);
            let world = pose.world(&rig.skeleton);
            (world.positions_m[head], world.rotations[head])
        };
        let (rest, _) = at("lumbar.flexion", 0.0);
        for region in ["lumbar", "thoracic", "cervical"] {
            let (place, rotation) = at(&format!("{region}.flexion"), 0.4);
            assert!(place.z > rest.z + 0.01 && place.x.abs() < 1e-12, "{region} {place}");
            let about_x = Rotation::about_x(Angle::from_radians(0.4));
            assert!(rotation.distance(about_x).radians() < 1e-6);
            let (place, _) = at(&format!("{region}.lateral"), 0.4);
            assert!(place.x > rest.x + 0.01, "{region} {place}");
            let (_, rotation) = at(&format!("{region}.axial"), 0.15);
            assert!((rotation * glam::DVec3::Z).x > 0.1, "{region}");
        }
    }

    /// Row D12: a pose of the spine is mapped back to its dials.
    #[test]
    fn d12_dials_of_the_spine_are_found_again() {
        let rig = find("spine").unwrap();
        let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
        let mut solver = DialSolver::new(&network);
        let (mut state, mut pose) = (network.state(), Pose::rest(&rig.skeleton));
        let settings = DialSettings { near: Angle::from_radians(1e-10), ..DialSettings::default() };
        let mut rng = Rng::new(21);
        for _ in 0..20 {
            let truth: Vec<f64> =
                network.dials().iter().map(|d| rng.between(d.range[0], d.range[1])).collect();
            network.evaluate(&truth, &mut state);
            network.write(&state, &mut pose);
            let mut dials = vec![0.0; 9];
            solver.fit(&mut dials, &pose, &settings);
            for (found, truth) in dials.iter().zip(&truth) {
                assert!((found - truth).abs() < 1e-6, "{dials:?} {truth:?}");
            }
        }
    }
}
