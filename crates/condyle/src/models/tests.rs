//! The models do what their sources say.

use glam::DVec3;

use super::*;
use crate::ik::{DialSettings, DialSolver, FitTo, Goal, same_joints};
use crate::maps::{By, Component, Dial, DialClip, Network, State, Transform};
use crate::math::{Angle, Rotation, trig};
use crate::motion::{FrameRate, Pose};
use crate::skeleton::{Joint, Skeleton};
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
            let at = |value: f64, state: &mut State| -> Vec<f64> {
                let mut dials: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
                dials[d] = value;
                network.evaluate(&dials, state);
                let angle = |j: &_| network.motion(state, *j).rotation.angle().degrees();
                moved.iter().map(angle).collect()
            };
            let ends = network.dials()[d].range;
            let (low, high) = (at(ends[0], &mut state), at(ends[1], &mut state));
            for (i, segment) in segments[..count].iter().enumerate() {
                let whole = if k == 0 { low[first + i] + high[first + i] } else { high[first + i] };
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
        assert!((rotation * DVec3::Z).x > 0.1, "{region}");
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
        solver.fit(&mut dials, &pose, &[], &settings);
        for (found, truth) in dials.iter().zip(&truth) {
            assert!((found - truth).abs() < 1e-6, "{dials:?} {truth:?}");
        }
    }
}

/// Sets dials by name, the others at rest, in degrees.
fn set(network: &Network, state: &mut State, given: &[(&str, f64)]) {
    let mut dials: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
    for (name, degrees) in given {
        dials[network.find(name).unwrap()] = degrees.to_radians();
    }
    network.evaluate(&dials, state);
}

/// Where a joint is in the world.
fn world(network: &Network, skeleton: &Skeleton, state: &State, joint: &str) -> Transform {
    let mut pose = Pose::rest(skeleton);
    network.write(state, &mut pose);
    let world = pose.world(skeleton);
    let j = skeleton.find(joint).unwrap().get();
    Transform { rotation: world.rotations[j], translation_m: world.positions_m[j] }
}

/// The direction along the spine of the right scapula to its glenoid, at rest.
fn across_scapula() -> DVec3 {
    DVec3::new(-0.82, 0.0, 0.57).normalize()
}

/// How far the right scapula is turned upwards: the second of the angles y, x, z that biomechanics
/// uses (Wu et al. 2005) is how far the line along its spine is above the horizontal.
fn upward(scapula: &Transform) -> f64 {
    trig::asin((scapula.rotation * across_scapula()).y).to_degrees()
}

/// Row D9: between 30 and 120 degrees the arm goes 2 to 2.4 times as far in the shoulder as the scapula
/// turns, in every plane; it hardly turns before.
#[test]
fn d9_the_scapula_follows_the_arm_in_the_published_rhythm() {
    let rig = find("shoulder").unwrap();
    let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
    let mut state = network.state();
    for plane in [0.0, 35.0, 90.0] {
        let mut at = |elevation: f64| {
            let dials = [("right.arm.plane", plane), ("right.arm.elevation", elevation)];
            set(&network, &mut state, &dials);
            upward(&world(&network, &rig.skeleton, &state, "RightScapula"))
        };
        let (rest, low, high) = (at(0.0), at(30.0), at(120.0));
        let turned = high - low;
        let ratio = (90.0 - turned) / turned;
        println!("plane {plane}: {low:.2} at 30, {high:.2} at 120: {ratio:.2} : 1");
        assert!((2.0..=2.4).contains(&ratio), "{ratio}");
        assert!(rest.abs() < 1e-9 && low < 4.0);
        // And it never turns back on the way up.
        let way: Vec<f64> = (0..=36).map(|k| at(5.0 * f64::from(k))).collect();
        assert!(way.windows(2).all(|w| w[1] > w[0]), "{way:?}");
    }
}

/// Rows D7 and D9: wherever the dials are, both points of the scapula are on the ellipsoid, by its
/// equation written out once more.
#[test]
fn d9_the_scapula_never_leaves_the_ribs() {
    let rig = find("shoulder").unwrap();
    let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
    let (center, radii) = (DVec3::new(-0.055, -0.12, -0.04), DVec3::new(0.1, 0.2, 0.085));
    let thorax = DVec3::new(0.0, 1.43, 0.0);
    let mut state = network.state();
    let mut rng = Rng::new(4);
    let (mut off, mut worst, mut most) = (0, 0.0_f64, 0.0_f64);
    let count = 4000;
    for _ in 0..count {
        let dials: Vec<f64> =
            network.dials().iter().map(|d| rng.between(d.range[0], d.range[1])).collect();
        network.evaluate(&dials, &mut state);
        let slid = *state.slid().next().unwrap();
        off += u32::from(state.is_off());
        let scapula = world(&network, &rig.skeleton, &state, "RightScapula");
        for (point, touches) in slid.points_m.into_iter().zip(slid.touches) {
            let at = (scapula.apply(point) - thorax - center) / radii;
            if touches {
                worst = worst.max((at.length() - 1.0).abs());
            }
        }
        most = most.max(slid.turns[0].abs()).max(slid.turns[1].abs());
    }
    let most = most.to_degrees();
    println!("{off} of {count} unreachable, {worst:.1e} off, turned by {most:.0} deg at most");
    assert!(off * 100 <= count, "{off}");
    assert!(worst < 1e-10, "{worst}");
    // It stays the same way round.
    assert!(most < 30.0);
}

/// Row D9, as the seed has it: the higher the arm, the less the clavicle can be lowered; and an arm in
/// front of the chest cannot have its shoulder drawn back.
#[test]
fn d9_the_raised_arm_holds_the_clavicle() {
    let rig = find("shoulder").unwrap();
    let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
    let mut state = network.state();
    let mut end = |dials: &[(&str, f64)]| {
        set(&network, &mut state, dials);
        world(&network, &rig.skeleton, &state, "RightScapula").translation_m
    };
    let (lower, raise) = ("right.clavicle.elevation", "right.arm.elevation");
    let lowest: Vec<f64> = [0.0, 60.0, 120.0, 180.0]
        .map(|elevation| end(&[(lower, -5.0), (raise, elevation)]).y)
        .to_vec();
    assert!(lowest.windows(2).all(|w| w[1] > w[0] + 0.005), "{lowest:?}");
    // Nothing keeps it from being lifted.
    let highest = [0.0, 120.0].map(|elevation| end(&[(lower, 32.0), (raise, elevation)]).y);
    assert!((highest[0] - highest[1]).abs() < 0.01, "{highest:?}");
    let (back, plane) = ("right.clavicle.protraction", "right.arm.plane");
    let backmost = [0.0, 135.0].map(|p| end(&[(back, -15.0), (plane, p)]).z);
    let foremost = [-45.0, 90.0].map(|p| end(&[(back, 15.0), (plane, p)]).z);
    assert!(backmost[1] > backmost[0] + 0.02 && foremost[0] < foremost[1] - 0.02);
}

/// Row D13: whatever the dials, the arm is inside of its cone; and D4: it does not turn with the
/// shoulder, but stays attached.
#[test]
fn d13_the_arm_never_leaves_its_cone_nor_its_socket() {
    let rig = find("shoulder").unwrap();
    let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
    let held = rig.maps.parts.iter().find_map(|part| match &part.component {
        Component::Limit { center, limit, .. } => Some((*center, limit.prepare().unwrap())),
        _ => None,
    });
    let (center, limit) = held.unwrap();
    let mut state = network.state();
    let mut rng = Rng::new(5);
    let mut outside = 0;
    for _ in 0..2000 {
        let wide = |d: &Dial| rng.between(2.0 * d.range[0], 2.0 * d.range[1]);
        let mut dials: Vec<f64> = network.dials().iter().map(wide).collect();
        network.evaluate(&dials, &mut state);
        let arm = world(&network, &rig.skeleton, &state, "RightUpperArm");
        let m = center.inverse() * arm.rotation;
        let beyond = limit.project(m).distance(m).radians();
        assert!(beyond < 1e-9, "{beyond}");
        let scapula = world(&network, &rig.skeleton, &state, "RightScapula");
        let socket = scapula.apply(DVec3::new(0.003, -0.045, 0.012));
        assert!(socket.distance(arm.translation_m) < 1e-12);
        // The shoulder may do what it likes.
        for name in ["right.clavicle.elevation", "right.clavicle.protraction"] {
            dials[network.find(name).unwrap()] = rng.between(-0.3, 0.5);
        }
        network.evaluate(&dials, &mut state);
        let other = world(&network, &rig.skeleton, &state, "RightUpperArm");
        assert!(other.rotation.distance(arm.rotation).radians() < 1e-12);
        outside += u32::from(!limit.contains(center.inverse() * arm.rotation));
    }
    println!("{outside} on the outer side of the boundary by rounding");
}

/// Dials of the shoulder at which all of them tell: the arm away from its rest and from its limit, and
/// the clavicle away from its bounds.
fn telling(network: &Network, rng: &mut Rng) -> Vec<f64> {
    let range = |name: &str| match name {
        "right.clavicle.elevation" => [16.0, 30.0],
        "right.clavicle.protraction" => [3.0, 9.0],
        "right.arm.plane" => [20.0, 80.0],
        "right.arm.elevation" => [20.0, 85.0],
        _ => [-35.0, 40.0],
    };
    let dials = network.dials().iter().map(|d| range(&d.name));
    dials.map(|[min, max]| rng.between(min, max).to_radians()).collect()
}

/// Row D12: poses, and goals for the upper arm alone, are mapped back to the dials of the shoulder.
#[test]
fn d12_dials_of_the_shoulder_are_found_again() {
    let rig = find("shoulder").unwrap();
    let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
    let mut solver = DialSolver::new(&network);
    let (mut state, mut pose) = (network.state(), Pose::rest(&rig.skeleton));
    let near = Angle::from_radians(1e-10);
    let settings = DialSettings { near, near_m: 1e-10, ..DialSettings::default() };
    let arm = rig.skeleton.find("RightUpperArm").unwrap();
    let mut rng = Rng::new(22);
    for _ in 0..30 {
        let truth = telling(&network, &mut rng);
        network.evaluate(&truth, &mut state);
        network.write(&state, &mut pose);
        let place = world(&network, &rig.skeleton, &state, "RightUpperArm");
        let rest = Pose::rest(&rig.skeleton);
        let goals = [Goal::position(arm, place.translation_m), Goal::rotation(arm, place.rotation)];
        for by_goals in [false, true] {
            let mut dials: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
            // The plane of an arm that hangs does not tell.
            dials[network.find("right.arm.elevation").unwrap()] = 0.5;
            if by_goals {
                solver.reach(&mut dials, &rest, &goals, &settings);
            } else {
                solver.fit(&mut dials, &pose, &[], &settings);
            }
            for (found, truth) in dials.iter().zip(&truth) {
                assert!((found - truth).abs() < 1e-6, "{by_goals} {dials:?} {truth:?}");
            }
        }
    }
}

/// Row D12: a dial that a bound holds back has no effect there, and is found again all the same.
#[test]
fn d12_dials_that_start_beyond_a_bound_are_found_again() {
    let rig = find("shoulder").unwrap();
    let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
    let mut solver = DialSolver::new(&network);
    let (mut state, mut pose) = (network.state(), Pose::rest(&rig.skeleton));
    let settings = DialSettings { near: Angle::from_radians(1e-10), ..DialSettings::default() };
    let lift = network.find("right.clavicle.elevation").unwrap();
    let mut rng = Rng::new(24);
    for _ in 0..20 {
        let mut truth = telling(&network, &mut rng);
        truth[network.find("right.arm.elevation").unwrap()] = 80_f64.to_radians();
        network.evaluate(&truth, &mut state);
        network.write(&state, &mut pose);
        let mut dials = truth.clone();
        dials[lift] = network.dials()[lift].range[0];
        network.evaluate(&dials, &mut state);
        assert!(network.held(&state).any(|held| held.part == "right_lift"));
        solver.fit(&mut dials, &pose, &[], &settings);
        for (found, truth) in dials.iter().zip(&truth) {
            assert!((found - truth).abs() < 1e-6, "{dials:?} {truth:?}");
        }
    }
}

/// Row D12: three vertebrae in the world tell all nine dials of the spine.
#[test]
fn d12_goals_for_vertebrae_give_the_dials_of_the_spine() {
    let rig = find("spine").unwrap();
    let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
    let mut solver = DialSolver::new(&network);
    let (mut state, rest) = (network.state(), Pose::rest(&rig.skeleton));
    let near = Angle::from_radians(1e-10);
    let settings = DialSettings { near, near_m: 1e-10, ..DialSettings::default() };
    let mut rng = Rng::new(23);
    for _ in 0..20 {
        let truth: Vec<f64> =
            network.dials().iter().map(|d| rng.between(d.range[0], d.range[1])).collect();
        network.evaluate(&truth, &mut state);
        let goals: Vec<Goal> = ["L1", "T1", "C1"]
            .iter()
            .map(|name| {
                let place = world(&network, &rig.skeleton, &state, name);
                Goal::rotation(rig.skeleton.find(name).unwrap(), place.rotation)
            })
            .collect();
        let mut dials = vec![0.0; 9];
        solver.reach(&mut dials, &rest, &goals, &settings);
        for (found, truth) in dials.iter().zip(&truth) {
            assert!((found - truth).abs() < 1e-6, "{dials:?} {truth:?}");
        }
    }
}

/// Row D6: up to 25 degrees the knee turns about one point of the thigh and then about another, 10 mm
/// from it; and the shank turns inwards by 15 degrees while the knee begins to bend.
#[test]
fn d6_the_knee_has_two_centers() {
    let rig = find("knee").unwrap();
    let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
    let mut state = network.state();
    let mut at = |flexion: f64| {
        set(&network, &mut state, &[("right.knee.flexion", flexion)]);
        world(&network, &rig.skeleton, &state, "RightShank")
    };
    // The point that a small turn leaves alone, in the plane of the motion: the joint moves by
    // turn x (joint - centre).
    let mut center = |flexion: f64| {
        let h = 1e-3;
        let (less, more) = (at(flexion - h), at(flexion + h));
        let (middle, moved) = (at(flexion), more.translation_m - less.translation_m);
        let turn = 2.0 * h.to_radians();
        middle.translation_m + DVec3::new(0.0, -moved.z, moved.y) / turn
    };
    let (early, late) = (center(10.0), center(60.0));
    assert!(early.distance(center(24.0)) < 1e-6 && late.distance(center(130.0)) < 1e-6);
    assert!((early.distance(late) - 0.01).abs() < 1e-4, "{}", early.distance(late));
    // So the shank is shifted as well as turned, which vertebrae are not.
    assert!(network.shifts(rig.skeleton.find("RightShank").unwrap()));
    let spine = find("spine").unwrap();
    let vertebrae = Network::new(&spine.maps, &spine.skeleton).unwrap();
    assert!(!spine.skeleton.indices().any(|joint| vertebrae.shifts(joint)));
    let shin = |flexion: f64, at: &mut dyn FnMut(f64) -> Transform| at(flexion).rotation * DVec3::Z;
    let bent = shin(40.0, &mut at);
    assert!((trig::asin(bent.x).to_degrees() - 15.0).abs() < 1e-9, "{bent}");
}

/// The body is made of the other models: their dials and parts are in it as they are.
#[test]
fn the_body_joins_the_other_models() {
    let body = find("body").unwrap();
    let network = Network::new(&body.maps, &body.skeleton).unwrap();
    assert_eq!(network.dials().len(), 44);
    // Both sides are alike, and so are the models by themselves: what the dials turn, joint by joint.
    let mut rng = Rng::new(6);
    for model in ["spine", "shoulder", "knee"] {
        let part = find(model).unwrap();
        let alone = Network::new(&part.maps, &part.skeleton).unwrap();
        let (mut small, mut large) = (alone.state(), network.state());
        for _ in 0..50 {
            let given: Vec<f64> =
                alone.dials().iter().map(|d| rng.between(d.range[0], d.range[1])).collect();
            let mut all: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
            for (dial, value) in alone.dials().iter().zip(&given) {
                let found = network.find(&dial.name).unwrap();
                assert_eq!(network.dials()[found].range, dial.range);
                all[found] = *value;
                // The other side does the same.
                if let Some(other) = network.find(&dial.name.replace("right", "left")) {
                    all[other] = *value;
                }
            }
            alone.evaluate(&given, &mut small);
            network.evaluate(&all, &mut large);
            for joint in part.skeleton.indices().filter(|j| alone.moves(*j)) {
                let name = &part.skeleton[joint].name;
                let same = body.skeleton.find(name).unwrap();
                let (a, b) = (alone.motion(&small, joint), network.motion(&large, same));
                assert!(a.rotation.distance(b.rotation).radians() < 1e-9, "{name}");
                assert!(a.translation_m.distance(b.translation_m) < 1e-12, "{name}");
                // Left for right: a mirror turns the axis and the sign.
                let Some(left) = body.skeleton.find(&name.replace("Right", "Left")) else {
                    continue;
                };
                if left == same {
                    continue;
                }
                let c = network.motion(&large, left);
                let q = c.rotation.quat();
                let back = Rotation::new(glam::DQuat::from_xyzw(q.x, -q.y, -q.z, q.w)).unwrap();
                assert!(b.rotation.distance(back).radians() < 1e-9, "{name}");
            }
        }
    }
    let off = (0..2000).filter(|_| {
        let dials: Vec<f64> =
            network.dials().iter().map(|d| rng.between(d.range[0], d.range[1])).collect();
        let mut state = network.state();
        network.evaluate(&dials, &mut state);
        state.is_off()
    });
    assert!(off.count() <= 20);
}

/// What the labels say, of dials that are in no other model: a direction of a bone, and where it goes.
/// The right palm is to the left at rest.
#[test]
fn the_body_moves_as_its_labels_say() {
    const LEFT: DVec3 = DVec3::X;
    const RIGHT: DVec3 = DVec3::NEG_X;
    const UP: DVec3 = DVec3::Y;
    const DOWN: DVec3 = DVec3::NEG_Y;
    const FRONT: DVec3 = DVec3::Z;
    const BACK: DVec3 = DVec3::NEG_Z;
    let body = find("body").unwrap();
    let network = Network::new(&body.maps, &body.skeleton).unwrap();
    let mut state = network.state();
    for (dial, joint, of, to) in [
        ("head.flexion", "Head", FRONT, DOWN),
        ("head.lateral", "Head", UP, LEFT),
        ("head.axial", "Head", FRONT, LEFT),
        ("right.arm.elevation", "RightUpperArm", DOWN, RIGHT),
        ("right.arm.rotation", "RightUpperArm", FRONT, RIGHT),
        ("right.elbow.flexion", "RightForearm", DOWN, FRONT),
        ("right.forearm.pronation", "RightForearm", LEFT, BACK),
        ("right.wrist.flexion", "RightHand", DOWN, LEFT),
        ("right.wrist.ulnar", "RightHand", DOWN, BACK),
        ("right.hip.flexion", "RightThigh", DOWN, FRONT),
        ("right.hip.abduction", "RightThigh", DOWN, RIGHT),
        ("right.hip.rotation", "RightThigh", FRONT, RIGHT),
        ("right.knee.flexion", "RightShank", DOWN, BACK),
        ("right.ankle.dorsiflexion", "RightFoot", FRONT, UP),
        ("right.ankle.inversion", "RightFoot", DOWN, LEFT),
    ] {
        let mirror = DVec3::new(-1.0, 1.0, 1.0);
        let left = [dial.replace("right", "left"), joint.replace("Right", "Left")];
        for ([dial, joint], of, to) in
            [([dial.to_owned(), joint.to_owned()], of, to), (left, of * mirror, to * mirror)]
        {
            if dial.starts_with("head") && of.x + to.x < 0.0 {
                continue; // There is but one.
            }
            set(&network, &mut state, &[(&dial, 3.0)]);
            let moved = world(&network, &body.skeleton, &state, &joint).rotation * of;
            // Three degrees, of which the arm goes 35 to the front.
            assert!(moved.dot(to) > 0.8 * trig::sin_cos(0.052).0, "{dial}: {moved}");
        }
    }
}

/// Row D11: a point of the skin that was drawn on a bone stays on it.
#[test]
fn d11_skins_follow_their_bones() {
    let rig = find("body").unwrap();
    let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
    let (mut state, mut pose) = (network.state(), Pose::rest(&rig.skeleton));
    let rest = pose.world(&rig.skeleton);
    let mut rng = Rng::new(7);
    for still in network.skinning(&pose) {
        assert!(still.rotation.angle().radians() < 1e-12 && still.translation_m.length() < 1e-12);
    }
    let dials: Vec<f64> =
        network.dials().iter().map(|d| rng.between(d.range[0], d.range[1])).collect();
    network.evaluate(&dials, &mut state);
    network.write(&state, &mut pose);
    let now = pose.world(&rig.skeleton);
    for (j, skin) in network.skinning(&pose).iter().enumerate() {
        let point = rng.direction() * 0.1;
        let drawn = rest.rotations[j] * point + rest.positions_m[j];
        let there = now.rotations[j] * point + now.positions_m[j];
        assert!(skin.apply(drawn).distance(there) < 1e-12);
    }
}

/// Row D12: the motion of the spine and that of the shoulder give their dials again, frame by frame; and that
/// of a body's limbs in the world, with nothing told of its shoulders, a body that looks the same.
#[test]
fn d12_dials_of_motions_are_found_again() {
    let rate = FrameRate::from_fps(30.0).unwrap();
    let waves = |network: &Network, frames: u32| {
        let mut clip = DialClip::new(rate, network.dials().len());
        for frame in 0..frames {
            let at = |(i, d): (usize, &Dial)| {
                let phase = 0.11 * f64::from(frame) + 1.7 * i as f64;
                let [min, max] = d.range;
                // Out of the middle third of the range, where no limit holds.
                0.5 * (min + max) + (max - min) / 7.0 * trig::sin_cos(phase).0
            };
            let dials: Vec<f64> = network.dials().iter().enumerate().map(at).collect();
            clip.push(&dials);
        }
        clip
    };
    let near = Angle::from_radians(1e-10);
    let settings = DialSettings { near, near_m: 1e-10, ..DialSettings::default() };
    for model in ["spine", "shoulder"] {
        let rig = find(model).unwrap();
        let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
        let truth = waves(&network, 30);
        let clip = network.clip(&rig.skeleton, &truth).unwrap();
        let mut solver = DialSolver::new(&network);
        let mut told = 0;
        let to = FitTo::Parents(&rig.skeleton);
        let found = solver.fit_clip(&network, &rig.skeleton, &clip, to, &settings, |n| told = n);
        assert_eq!(told, 90);
        for frame in 0..30 {
            for (a, b) in found.dials.frame(frame).iter().zip(truth.frame(frame)) {
                assert!((a - b).abs() < 1e-6, "{model}, frame {frame}: {a} {b}");
            }
        }
        assert!(found.misses.iter().all(|miss| miss.worst.radians() < 1e-6));
    }

    let rig = find("body").unwrap();
    let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
    let clip = network.clip(&rig.skeleton, &waves(&network, 20)).unwrap();
    let joints: Vec<_> = rig
        .skeleton
        .indices()
        .filter(|j| {
            let name = &rig.skeleton[*j].name;
            !name.ends_with("Clavicle") && !name.ends_with("Scapula")
        })
        .collect();
    let mut solver = DialSolver::new(&network);
    let settings = DialSettings::default();
    let to = FitTo::World(&joints);
    let found = solver.fit_clip(&network, &rig.skeleton, &clip, to, &settings, |_| ());
    let worst = found.misses.iter().map(|miss| miss.worst.degrees()).fold(0.0, f64::max);
    println!("worst {worst:.3} deg of {} joints", found.misses.len());
    assert!(worst < 1.0, "{worst}");
}

/// Row D12: a motion of the figure itself is found again wherever its dials are, at bounds and limits, and
/// from one frame to another that has nothing to do with it. Which dials made it need not come back there.
#[test]
fn d12_motion_at_bounds_and_limits_is_found_again() {
    let rate = FrameRate::from_fps(30.0).unwrap();
    for model in ["knee", "shoulder"] {
        let rig = find(model).unwrap();
        let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
        let mut rng = Rng::new(31);
        let mut truth = DialClip::new(rate, network.dials().len());
        for _ in 0..40 {
            let dials: Vec<f64> =
                network.dials().iter().map(|d| rng.between(d.range[0], d.range[1])).collect();
            truth.push(&dials);
        }
        let clip = network.clip(&rig.skeleton, &truth).unwrap();
        let mut solver = DialSolver::new(&network);
        let settings = DialSettings { near: Angle::from_radians(1e-7), ..DialSettings::default() };
        let to = FitTo::Parents(&rig.skeleton);
        let found = solver.fit_clip(&network, &rig.skeleton, &clip, to, &settings, |_| ());
        let rms = found.misses.iter().map(|miss| miss.rms.degrees()).fold(0.0, f64::max);
        let worst = found.misses.iter().map(|miss| miss.worst.degrees()).fold(0.0, f64::max);
        println!("{model}: {rms:.4} deg rms, {worst:.3} at worst");
        // They come back to 1e-4 degrees.
        assert!(rms < 0.01, "{model}: {rms}");
    }
}

/// A pose in front of the motion neither counts in what is missed nor changes what is found behind it.
#[test]
fn d12_a_pose_in_front_of_the_motion_is_fitted_by_itself() {
    let rate = FrameRate::from_fps(30.0).unwrap();
    let rig = find("spine").unwrap();
    let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
    let dials = |share: f64| -> Vec<f64> {
        network.dials().iter().map(|d| d.rest + share * (d.range[1] - d.rest)).collect()
    };
    let fitted = |front: Option<f64>| {
        let mut truth = DialClip::new(rate, network.dials().len());
        let motion = (0..20).map(|frame| 0.01 * f64::from(frame));
        front.into_iter().chain(motion).for_each(|share| truth.push(&dials(share)));
        let clip = network.clip(&rig.skeleton, &truth).unwrap();
        let mut solver = DialSolver::new(&network);
        let settings = DialSettings { near: Angle::from_radians(1e-7), ..DialSettings::default() };
        let to = FitTo::Parents(&rig.skeleton);
        solver.fit_clip(&network, &rig.skeleton, &clip, to, &settings, |_| ())
    };
    let (with, without) = (fitted(Some(0.9)), fitted(None));
    assert_eq!((with.motion_start, without.motion_start), (1, 0));
    assert_eq!((with.dials.len(), with.motion().len(), without.motion().len()), (21, 20, 20));
    for frame in 0..20 {
        let both = with.motion().frame(frame).to_vec();
        let both = both.iter().zip(without.dials.frame(frame));
        assert!(both.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 1e-6, "frame {frame}");
    }
    for (a, b) in with.misses.iter().zip(&without.misses) {
        assert!((a.rms.radians() - b.rms.radians()).abs() < 1e-6, "{a:?} {b:?}");
        assert!(a.worst.radians() < 1e-3 && (1..=20).contains(&a.worst_frame), "{a:?}");
    }
}

/// Dials that nothing tells of stay where they are, also where other starts are tried.
#[test]
fn d12_dials_that_nothing_tells_of_stay() {
    let rate = FrameRate::from_fps(30.0).unwrap();
    let rig = find("shoulder").unwrap();
    let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
    let arm = rig.skeleton.find("RightUpperArm").unwrap();
    let [lift, reach, plane, raise] =
        ["clavicle.elevation", "clavicle.protraction", "arm.plane", "arm.elevation"]
            .map(|name| network.find(&format!("right.{name}")).unwrap());
    let mut truth = DialClip::new(rate, network.dials().len());
    for frame in 0..40 {
        let mut dials: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
        // To and fro through where the arm hangs, and far enough to need another way.
        dials[raise] = 0.6 * trig::sin_cos(0.2 * f64::from(frame)).0;
        dials[plane] = if frame % 20 < 10 { 1.5 } else { -0.5 };
        truth.push(&dials);
    }
    let clip = network.clip(&rig.skeleton, &truth).unwrap();
    let mut solver = DialSolver::new(&network);
    let settings = DialSettings::default();
    let to = FitTo::World(&[arm]);
    let found = solver.fit_clip(&network, &rig.skeleton, &clip, to, &settings, |_| ());
    assert!(found.misses[0].rms.degrees() < 5.0, "{:?}", found.misses);
    let mut state = network.state();
    for frame in 0..40 {
        let dials = found.dials.frame(frame);
        // Where the arm is keeps the shoulder from being lowered and drawn back; that is all: what is written
        // is what a shoulder at rest is given.
        let mut still = dials.to_vec();
        (still[lift], still[reach]) = (0.0, 0.0);
        network.settle(&mut still, &mut state);
        for dial in [lift, reach] {
            let off = (dials[dial] - still[dial]).to_degrees();
            assert!(off.abs() < 3.0 && still[dial].to_degrees() < 3.0 + 1e-9, "{frame}: {off}");
        }
    }
}

/// Rotations of a figure with other lengths mean the same; those of one in another rest pose, or with other
/// names, do not.
#[test]
fn joints_are_the_same_whatever_their_lengths_but_not_in_another_rest_pose() {
    let body = find("body").unwrap().skeleton;
    let changed = |change: &dyn Fn(&mut Joint)| {
        let mut other = Skeleton::new();
        for index in body.indices() {
            let mut joint = body[index].clone();
            change(&mut joint);
            match body.parent(index) {
                Some(parent) => other.add(parent, joint).unwrap(),
                None => other.add_root(joint).unwrap(),
            };
        }
        other
    };
    assert!(same_joints(&body, &changed(&|joint| joint.offset_m *= 1.3)));
    // Arms to the side.
    let to_the_side = |joint: &mut Joint| {
        if joint.name == "LeftForearm" {
            joint.offset_m = DVec3::X * joint.offset_m.length();
        }
    };
    assert!(!same_joints(&body, &changed(&to_the_side)));
    let backwards = |joint: &mut Joint| joint.offset_m = -joint.offset_m;
    assert!(!same_joints(&body, &changed(&backwards)));
    let turn = Rotation::about_x(Angle::from_degrees(5.0));
    assert!(!same_joints(&body, &changed(&|joint| joint.rest = turn)));
    assert!(!same_joints(&body, &changed(&|joint| joint.name.push('2'))));
}

/// How far joints are apart in the world, in metres and radians.
fn apart(skeleton: &Skeleton, a: &Pose, b: &Pose) -> f64 {
    let (a, b) = (a.world(skeleton), b.world(skeleton));
    let places = a.positions_m.iter().zip(&b.positions_m).map(|(p, q)| p.distance(*q));
    let turns = a.rotations.iter().zip(&b.rotations).map(|(p, q)| p.distance(*q).radians());
    places.chain(turns).fold(0.0, f64::max)
}

/// Row D13: dials that bounds and limits hold back become what these give. Judged by forward kinematics:
/// the figure is where it was.
#[test]
fn d13_dials_that_are_held_become_what_they_give_and_the_figure_stays() {
    for model in names() {
        let rig = find(model).unwrap();
        let network = rig.network().unwrap();
        let (mut state, mut rng) = (network.state(), Rng::new(41));
        // Bounds and limits that hold, before and after.
        let mut counts = [[0; 2]; 2];
        let mut count = |state: &State, after: usize| {
            for held in network.held(state) {
                counts[after][usize::from(matches!(held.by, By::Limit { .. }))] += 1;
            }
        };
        for n in 0..300 {
            let mut dials: Vec<f64> =
                network.dials().iter().map(|d| rng.between(d.range[0], d.range[1])).collect();
            if n % 50 == 0 {
                dials[0] = f64::NAN;
            }
            network.evaluate(&dials, &mut state);
            let mut before = Pose::rest(&rig.skeleton);
            network.write(&state, &mut before);
            count(&state, 0);
            network.settle(&mut dials, &mut state);
            assert!(dials == state.dials(), "{model} {n}");
            let mut after = Pose::rest(&rig.skeleton);
            network.write(&state, &mut after);
            assert!(apart(&rig.skeleton, &before, &after) < 1e-9, "{model} {n}");
            // And once more from the dials alone.
            network.evaluate(&dials, &mut state);
            count(&state, 1);
            network.write(&state, &mut after);
            assert!(apart(&rig.skeleton, &before, &after) < 1e-9, "{model} {n}");
            for (dial, value) in network.dials().iter().zip(&dials) {
                assert!((dial.range[0]..=dial.range[1]).contains(value), "{model} {n}: {value}");
            }
        }
        println!("{model}: bounds and limits that hold {counts:?}");
        assert_eq!(
            counts[1][0], 0,
            "{model}: bounds hold dials, and nothing else depends on these"
        );
        assert!(2 * counts[1][1] <= counts[0][1], "{model}: {counts:?}");
    }
}

/// Row D12: what a fit writes is what the figure does, also where the motion is beyond bounds and limits:
/// a shank that is turned while the knee is straight, and an arm and a thigh behind the back.
#[test]
fn d12_dials_that_are_fitted_beyond_bounds_and_limits_are_in_effect() {
    let rate = FrameRate::from_fps(30.0).unwrap();
    let rig = find("body").unwrap();
    let network = rig.network().unwrap();
    let mut rest = DialClip::new(rate, network.dials().len());
    let frames = 12;
    (0..frames).for_each(|_| rest.push(network.state().dials()));
    let mut clip = network.clip(&rig.skeleton, &rest).unwrap();
    let joint = |name: &str| rig.skeleton.find(name).unwrap();
    for (i, frame) in clip.frames().enumerate() {
        let share = i as f64 / 11.0;
        let about = |axis: DVec3, degrees: f64| Rotation::exp(axis * degrees.to_radians()).unwrap();
        clip.set_rotation(joint("LeftShank"), frame, about(DVec3::Y, 10.0 + 15.0 * share));
        clip.set_rotation(joint("LeftUpperArm"), frame, about(DVec3::X, 50.0 + 90.0 * share));
        clip.set_rotation(joint("RightThigh"), frame, about(DVec3::X, 20.0 + 60.0 * share));
    }
    let joints: Vec<_> = rig.skeleton.indices().collect();
    let mut solver = DialSolver::new(&network);
    let (to, settings) = (FitTo::World(&joints), DialSettings::default());
    let found = solver.fit_clip(&network, &rig.skeleton, &clip, to, &settings, |_| ());
    let held = network.held_over(&found.dials);
    assert!(held.is_empty(), "{held:?}");
    let turn = network.find("left.knee.rotation").unwrap();
    let mut state = network.state();
    for frame in 0..frames {
        network.evaluate(found.dials.frame(frame), &mut state);
        assert_eq!(network.held(&state).count(), 0, "{frame}");
        // The shank really turns so: about its own length, with the screw of the knee.
        let motion = network.motion(&state, joint("LeftShank")).rotation;
        let mut still = found.dials.frame(frame).to_vec();
        still[turn] = 0.0;
        network.evaluate(&still, &mut state);
        let without = network.motion(&state, joint("LeftShank")).rotation;
        let told = found.dials.frame(frame)[turn];
        // What is held by less than 1e-7 is so by rounding.
        assert!((motion.distance(without).radians() - told.abs()).abs() < 1e-7, "{frame}: {told}");
    }
}

/// Row D12: a shoulder that only the raised arm lifts, and that the motion does not tell of, comes down
/// with the arm; while it is up its dial says so.
#[test]
fn d12_a_shoulder_that_its_arm_lifts_comes_down_with_it() {
    let rate = FrameRate::from_fps(30.0).unwrap();
    let rig = find("shoulder").unwrap();
    let network = rig.network().unwrap();
    let arm = rig.skeleton.find("RightUpperArm").unwrap();
    let [lift, raise] = ["clavicle.elevation", "arm.elevation"]
        .map(|name| network.find(&format!("right.{name}")).unwrap());
    let mut truth = DialClip::new(rate, network.dials().len());
    for frame in 0..=40 {
        let mut dials: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
        dials[raise] = (6.0 * f64::from(20 - i32::abs(frame - 20))).to_radians();
        truth.push(&dials);
    }
    let clip = network.clip(&rig.skeleton, &truth).unwrap();
    let mut solver = DialSolver::new(&network);
    let (to, settings) = (FitTo::World(&[arm]), DialSettings::default());
    let found = solver.fit_clip(&network, &rig.skeleton, &clip, to, &settings, |_| ());
    let held = network.held_over(&found.dials);
    assert!(held.is_empty(), "{held:?}");
    let lifted = |frame: usize| found.dials.frame(frame)[lift].to_degrees();
    // At 120 degrees the bound is 9.
    assert!((lifted(20) - 9.0).abs() < 0.5, "{}", lifted(20));
    assert!(lifted(0).abs() < 0.1 && lifted(40).abs() < 0.1, "{} {}", lifted(0), lifted(40));
}
