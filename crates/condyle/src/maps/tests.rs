//! Networks: their values, derivatives, and what is wrong with some.

use glam::DVec3;

use super::transform::tests::near;
use super::*;
use crate::limits::{Limit, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit};
use crate::math::{Angle, Arc, Rotation, SwingAxes};
use crate::motion::Pose;
use crate::skeleton::{Joint, JointIndex, Skeleton};
use crate::synth::Rng;

fn dial(name: &str, unit: Unit, min: f64, max: f64) -> Dial {
    let rest = 0.0_f64.clamp(min, max);
    let (label, source) = (String::new(), String::new());
    Dial { name: name.to_owned(), unit, range: [min, max], rest, label, source }
}

fn part(name: &str, component: Component) -> Part {
    Part { name: name.to_owned(), component }
}

fn output(name: &str, curve: Curve) -> Output {
    Output { name: name.to_owned(), unit: Unit::Angle, curve }
}

/// A function of radians in radians, as a map has it.
fn radians(curve: &Curve) -> Curve {
    let degree = Angle::from_degrees(1.0).radians();
    curve.scaled(1.0 / degree, 1.0 / degree)
}

fn driven(joint: &str, by: &str) -> Driven {
    Driven { joint: joint.to_owned(), by: by.to_owned() }
}

fn turn(name: &str, angle: &str, axis: DVec3) -> Part {
    let turn = Turn::about(axis, DVec3::new(0.01, 0.02, -0.01));
    part(name, Component::Turn { angle: angle.to_owned(), turn })
}

fn chain(name: &str, of: &[&str]) -> Part {
    part(name, Component::Chain { of: of.iter().map(|s| (*s).to_owned()).collect() })
}

/// A row of joints with rest poses of their own.
pub(crate) fn skeleton(rng: &mut Rng) -> Skeleton {
    let mut skeleton = Skeleton::new();
    let mut parent: Option<JointIndex> = None;
    for name in ["pelvis", "thorax", "clavicle", "scapula", "humerus"] {
        let mut joint = Joint::new(name, rng.direction() * 0.15);
        joint.rest = rng.rotation();
        parent = Some(match parent {
            None => skeleton.add_root(joint).unwrap(),
            Some(parent) => skeleton.add(parent, joint).unwrap(),
        });
    }
    skeleton
}

fn cone() -> Limit {
    let axes = SwingAxes::new(DVec3::X, None).unwrap();
    let swing =
        SwingLimit::Ellipse { rx: Angle::from_degrees(50.0), ry: Angle::from_degrees(30.0) };
    let bounds = TwistBounds::Arc(Arc::from_degrees(-40.0, 40.0).unwrap());
    let twist = TwistLimit { bounds, ..TwistLimit::default() };
    Limit::SwingTwist(SwingTwistLimit { axes, swing, twist })
}

/// All components at once, in no good order.
pub(crate) fn shoulder(rng: &mut Rng, skeleton: &Skeleton) -> JointMap {
    let mut axis = || rng.direction();
    let knots = vec![[-1.0, -0.4], [-0.2, -0.1], [0.5, 0.2], [1.0, 0.9]];
    let centers = vec![
        (Angle::from_radians(0.1), DVec3::new(0.02, 0.0, 0.0)),
        (Angle::from_radians(0.5), DVec3::new(0.0, 0.03, 0.0)),
        (Angle::from_radians(2.0), DVec3::new(0.0, 0.0, 0.01)),
    ];
    let knee = Turn { axis: axis(), rest: Angle::ZERO, from: Angle::from_radians(-0.5), centers };
    let slide = sliding(skeleton);
    let text = |s: &str| s.to_owned();
    let parts = vec![
        chain("humerus", &["free", "raise", "twist"]),
        part(
            "held",
            Component::Limit {
                input: text("humerus"),
                center: Rotation::IDENTITY,
                limit: cone(),
                toward_rest: false,
            },
        ),
        part(
            "alone",
            Component::Compensate {
                input: text("held"),
                joint: text("humerus"),
                cancel: vec![text("scapula"), text("clavicle")],
            },
        ),
        turn("raise", "arm.elevation", axis()),
        turn("twist", "arm.twist", axis()),
        part(
            "free",
            Component::Shift { length: text("arm.slip"), along: DVec3::new(1.0, 2.0, 0.0) },
        ),
        part(
            "spines",
            Component::Spread {
                input: text("spine"),
                outputs: vec![
                    output("low", radians(&Curve::Spline(knots))),
                    output("high", radians(&Curve::Polynomial(vec![0.0, 0.5, 0.2, -0.1]))),
                ],
            },
        ),
        turn("bend", "spines.low", axis()),
        turn("bend_more", "spines.high", axis()),
        chain("thorax", &["bend", "bend_more"]),
        part(
            "lifted",
            Component::Bound {
                active: text("arm.elevation"),
                passive: text("clavicle.elevation"),
                lower: Some(radians(&Curve::Linear { slope: 0.4, offset: -0.2 })),
                upper: Some(radians(&Curve::Points(vec![[-1.0, 0.3], [1.0, 0.6]]))),
            },
        ),
        turn("lift", "lifted", axis()),
        part("forward", Component::Turn { angle: text("clavicle.forward"), turn: knee }),
        chain("clavicle", &["lift", "forward"]),
        turn("scapula_turns", "arm.elevation", axis()),
        part(
            "scapula",
            Component::Slide {
                input: Some(text("scapula_turns")),
                joint: text("scapula"),
                on: text("thorax"),
                numbers: [text("lifted"), text("arm.elevation")],
                slide,
            },
        ),
    ];
    JointMap {
        dials: vec![
            dial("spine", Unit::Angle, -1.0, 1.0),
            dial("clavicle.elevation", Unit::Angle, -0.5, 0.8),
            dial("clavicle.forward", Unit::Angle, -0.4, 0.9),
            dial("arm.elevation", Unit::Angle, -0.8, 0.8),
            dial("arm.twist", Unit::Angle, -1.0, 1.0),
            dial("arm.slip", Unit::Length, -0.02, 0.02),
        ],
        parts,
        joints: vec![
            driven("thorax", "thorax"),
            driven("clavicle", "clavicle"),
            driven("scapula", "scapula"),
            driven("humerus", "alone"),
        ],
    }
}

/// An ellipsoid below the scapula's joint at rest, with points of the bone on it.
fn sliding(skeleton: &Skeleton) -> Slide {
    let rest = Pose::rest(skeleton).world(skeleton);
    let [thorax, scapula] = ["thorax", "scapula"].map(|name| {
        let j = skeleton.find(name).unwrap().get();
        Transform { rotation: rest.rotations[j], translation_m: rest.positions_m[j] }
    });
    let bone = thorax.inverse() * scapula;
    let out = DVec3::new(0.3, 0.5, 0.8).normalize();
    let radii_m = DVec3::new(0.12, 0.2, 0.15);
    // The joint is 5 mm over the surface.
    let center = bone.translation_m - out * (radii_m * 1.03);
    let place = Transform { rotation: Rotation::IDENTITY, translation_m: center };
    let on = |x: f64, y: f64| {
        let direction = (out + DVec3::new(x, y, 0.0)).normalize();
        bone.inverse().apply(place.apply(direction * radii_m))
    };
    let pair =
        |at: [f64; 2], d: f64| ContactPair { at, points_m: [on(0.3 + d, -0.2), on(0.1, 0.4 - d)] };
    let pairs = vec![pair([-30.0, -30.0], 0.0), pair([45.0, 0.0], 0.05), pair([0.0, 45.0], -0.05)];
    let axis = bone.rotation.inverse() * out.cross(DVec3::X);
    Slide { place, radii_m, axis, pairs }
}

fn some_dials(network: &Network, rng: &mut Rng) -> Vec<f64> {
    network.dials().iter().map(|dial| rng.between(dial.range[0], dial.range[1])).collect()
}

/// How directions outside of the cone come back (D5).
fn hold(map: &mut JointMap, back_to_rest: bool) {
    for part in &mut map.parts {
        if let Component::Limit { toward_rest, .. } = &mut part.component {
            *toward_rest = back_to_rest;
        }
    }
}

/// Row D5: outside of the cone the two ways differ, and each is that of the limit.
#[test]
fn d5_a_cone_holds_by_the_nearest_direction_or_towards_rest() {
    let mut rng = Rng::new(16);
    let limit = cone().prepare().unwrap();
    let skeleton = skeleton(&mut rng);
    let mut map = shoulder(&mut rng, &skeleton);
    let network = |map: &JointMap, by: &str| {
        let mut map = map.clone();
        map.joints[3].by = by.to_owned();
        Network::new(&map, &skeleton).unwrap()
    };
    let free = network(&map, "humerus");
    let nearest = network(&map, "held");
    hold(&mut map, true);
    let walked = network(&map, "held");
    let humerus = skeleton.find("humerus").unwrap();
    let mut differ = 0;
    for _ in 0..300 {
        let dials = some_dials(&free, &mut rng);
        let rotation = |network: &Network| {
            let mut state = network.state();
            network.evaluate(&dials, &mut state);
            network.motion(&state, humerus).rotation
        };
        let (m, a, b) = (rotation(&free), rotation(&nearest), rotation(&walked));
        let apart = |a: Rotation, b: Rotation| a.distance(b).radians();
        assert!(apart(a, limit.project(m)) < 1e-12 && apart(b, limit.toward_rest(m)) < 1e-12);
        differ += u32::from(a.distance(b).degrees() > 1.0);
    }
    assert!(differ > 10, "{differ}");
}

/// The bar: 1e-6, relative. At kinks a difference straddles, so that places where both one-sided
/// differences disagree are left out, and counted.
#[test]
fn d1_derivatives_of_all_components_are_those_of_differences() {
    let mut rng = Rng::new(11);
    let (mut compared, mut kinks) = (0, 0);
    for n in 0..40 {
        let skeleton = skeleton(&mut rng);
        let mut map = shoulder(&mut rng, &skeleton);
        hold(&mut map, n % 2 == 1);
        let network = Network::new(&map, &skeleton).unwrap();
        let mut state = network.state();
        for _ in 0..10 {
            let dials = some_dials(&network, &mut rng);
            network.evaluate(&dials, &mut state);
            if state.is_off() {
                continue;
            }
            for joint in skeleton.indices().filter(|j| network.moves(*j)) {
                let mut found = vec![Rate::default(); dials.len()];
                network.rates(&state, joint).for_each(|(dial, rate)| found[dial] = rate);
                for (d, found) in found.iter().enumerate() {
                    let h = 1e-6;
                    let at = |by: f64| {
                        let (mut dials, mut state) = (dials.clone(), state.clone());
                        dials[d] += by;
                        network.evaluate(&dials, &mut state);
                        network.motion(&state, joint)
                    };
                    let rate = |a: Transform, b: Transform, width: f64| Rate {
                        turn: (b.rotation * a.rotation.inverse()).log() / width,
                        shift_m: (b.translation_m - a.translation_m) / width,
                    };
                    let (less, here, more) = (at(-h), at(0.0), at(h));
                    let sides = [rate(less, here, h), rate(here, more, h)];
                    if !near(sides[0], sides[1], 1e-3) {
                        kinks += 1;
                        continue;
                    }
                    let expected = rate(less, more, 2.0 * h);
                    let name = &network.dials()[d].name;
                    assert!(
                        near(*found, expected, 1e-6),
                        "{} by {name}: {found:?} {expected:?}",
                        skeleton[joint].name
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 5000 && kinks < compared / 100, "{compared} {kinks}");
}

/// Row D4: the world orientation is that with those cancelled at rest, for all and for some of those
/// above, with any rest pose; the joint stays attached.
#[test]
fn d4_compensation_keeps_the_world_orientation_and_the_place() {
    let mut rng = Rng::new(12);
    for n in 0..60 {
        let skeleton = skeleton(&mut rng);
        let mut map = shoulder(&mut rng, &skeleton);
        let cancelled: &[&str] =
            [&["scapula", "clavicle"][..], &["clavicle"], &["thorax", "scapula"]][n % 3];
        for part in &mut map.parts {
            if let Component::Compensate { cancel, .. } = &mut part.component {
                *cancel = cancelled.iter().map(|s| (*s).to_owned()).collect();
            }
        }
        let network = Network::new(&map, &skeleton).unwrap();
        map.joints[3].by = "held".to_owned();
        let plain = Network::new(&map, &skeleton).unwrap();
        let dials = some_dials(&network, &mut rng);
        let pose = |network: &Network| {
            let (mut state, mut pose) = (network.state(), Pose::rest(&skeleton));
            network.evaluate(&dials, &mut state);
            network.write(&state, &mut pose);
            pose
        };
        let (found, mut expected) = (pose(&network), pose(&plain));
        let humerus = skeleton.find("humerus").unwrap().get();
        let attached = expected.world(&skeleton).positions_m[humerus];
        let world = found.world(&skeleton);
        assert!(world.positions_m[humerus].distance(attached) < 1e-12);
        let rest = Pose::rest(&skeleton);
        for name in cancelled {
            let j = skeleton.find(name).unwrap().get();
            expected.rotations[j] = rest.rotations[j];
        }
        let expected = expected.world(&skeleton).rotations[humerus];
        let off = world.rotations[humerus].distance(expected).radians();
        assert!(off < 1e-12, "{cancelled:?}: {off}");
    }
}

/// Row D13: whatever the dials, their ranges and the limits hold.
#[test]
fn d13_no_setting_leads_outside() {
    let mut rng = Rng::new(13);
    let limit = cone().prepare().unwrap();
    for n in 0..400 {
        let skeleton = skeleton(&mut rng);
        let mut map = shoulder(&mut rng, &skeleton);
        map.joints[3].by = "held".to_owned();
        hold(&mut map, n % 2 == 1);
        let network = Network::new(&map, &skeleton).unwrap();
        let mut state = network.state();
        let wild = |rng: &mut Rng| match rng.below(5) {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => -1e300,
            _ => 3.0 * rng.normal(),
        };
        let dials: Vec<f64> = network.dials().iter().map(|_| wild(&mut rng)).collect();
        network.evaluate(&dials, &mut state);
        for (dial, value) in network.dials().iter().zip(state.dials()) {
            assert!(*value >= dial.range[0] && *value <= dial.range[1], "{n}: {value}");
        }
        let humerus = skeleton.find("humerus").unwrap();
        assert!(limit.contains(network.motion(&state, humerus).rotation));
    }
}

#[test]
fn d1_networks_are_evaluated_without_allocation() {
    let mut rng = Rng::new(14);
    let skeleton = skeleton(&mut rng);
    let mut map = shoulder(&mut rng, &skeleton);
    for toward_rest in [false, true] {
        hold(&mut map, toward_rest);
        let network = Network::new(&map, &skeleton).unwrap();
        let mut state = network.state();
        let mut pose = Pose::rest(&skeleton);
        let mut held = 0;
        for _ in 0..100 {
            let dials = some_dials(&network, &mut rng);
            let counted = allocation_counter::measure(|| {
                network.evaluate(&dials, &mut state);
                network.write(&state, &mut pose);
            });
            let holds = network.held(&state).any(|held| matches!(held.by, By::Limit { .. }));
            held += usize::from(holds);
            assert_eq!(counted.count_total, 0, "{toward_rest}");
        }
        assert!(held > 10 && held < 90, "{held}");
    }
}

#[test]
fn d1_what_is_wrong_with_a_network_is_named() {
    let mut rng = Rng::new(15);
    let skeleton = skeleton(&mut rng);
    let good = shoulder(&mut rng, &skeleton);
    let says = |change: &dyn Fn(&mut JointMap)| {
        let mut map = good.clone();
        change(&mut map);
        Network::new(&map, &skeleton).unwrap_err().to_string()
    };
    let find = |map: &mut JointMap, name: &str| -> usize {
        map.parts.iter().position(|part| part.name == name).unwrap()
    };
    let cycle = says(&|map| {
        let i = find(map, "raise");
        map.parts[i] = chain("raise", &["twist", "humerus"]);
    });
    assert!(cycle.contains(r#""humerus" for "raise" for "humerus""#), "{cycle}");
    // A joint that slides along what moves with it waits for itself, too.
    let round = says(&|map| map.joints[1].by = "scapula".to_owned());
    assert!(round.contains(r#"wait for each other: "scapula" for "scapula""#), "{round}");
    let unknown = says(&|map| map.parts[0] = chain("humerus", &["raize"]));
    assert!(
        unknown.contains(r#"no dial or part "raize""#) && unknown.contains(r#"near are "raise""#)
    );
    let kind = says(&|map| map.parts[0] = chain("humerus", &["arm.twist"]));
    let first = |text: &str| text.lines().next().unwrap().to_owned();
    assert_eq!(
        first(&kind),
        r#"part "humerus": a transform is needed, and "arm.twist" is an angle"#
    );
    let unit = says(&|map| {
        let i = find(map, "raise");
        map.parts[i] = turn("raise", "arm.slip", DVec3::X);
    });
    assert_eq!(first(&unit), r#"part "raise": an angle is needed, and "arm.slip" is a length"#);
    let two = says(&|map| map.joints.push(driven("thorax", "bend")));
    assert_eq!(first(&two), r#"joint "thorax": the joint is moved by two transforms"#);
    let same = says(&|map| map.dials[0].name = "raise".to_owned());
    assert_eq!(first(&same), r#"part "raise": there are two dials or parts "raise""#);
    let range = says(&|map| map.dials[0].range = [1.0, -1.0]);
    assert!(range.contains(r#"dial "spine""#));
    let nobody = says(&|map| map.joints[0].joint = "Thorax2".to_owned());
    assert!(nobody.contains(r#"no joint "Thorax2""#) && nobody.contains("thorax"), "{nobody}");
    let below = says(&|map| {
        let i = find(map, "alone");
        if let Component::Compensate { joint, .. } = &mut map.parts[i].component {
            *joint = "thorax".to_owned();
        }
    });
    assert!(below.contains("is not above"), "{below}");
    let nothing = says(&|map| map.parts[0] = chain("humerus", &[]));
    assert_eq!(first(&nothing), r#"part "humerus": the part has nothing to do"#);
    for text in [cycle, unknown, kind, unit, two, same, range, nobody, below, nothing] {
        assert_eq!(text.matches("\n  help: ").count(), 1, "{text}");
    }
}

/// Row D13: a dial that is held behind a function is brought back through it; and one that something else
/// depends on stays, since that would move, and is told frame by frame.
#[test]
fn d13_a_dial_is_brought_to_its_bound_unless_something_else_depends_on_it() {
    let mut rng = Rng::new(21);
    let skeleton = skeleton(&mut rng);
    let constant =
        |value: f64| Curve::Linear { slope: 0.0, offset: Angle::from_radians(value).degrees() };
    let bound = |name: &str, passive: &str, upper: f64| {
        let (active, passive) = ("other".to_owned(), passive.to_owned());
        part(name, Component::Bound { active, passive, lower: None, upper: Some(constant(upper)) })
    };
    let twice = Component::Spread {
        input: "own".to_owned(),
        outputs: vec![output("", Curve::Linear { slope: 2.0, offset: 3.0 })],
    };
    let angle = |name: &str| dial(name, Unit::Angle, -2.0, 2.0);
    let map = JointMap {
        dials: vec![angle("own"), angle("shared"), angle("other")],
        parts: vec![
            part("twice", twice),
            bound("own_held", "twice", 0.5),
            bound("shared_held", "shared", 0.3),
            turn("a", "own_held", DVec3::X),
            turn("b", "shared_held", DVec3::Y),
            turn("c", "shared", DVec3::Z),
            chain("both", &["a", "b"]),
        ],
        joints: vec![driven("thorax", "both"), driven("clavicle", "c")],
    };
    let network = Network::new(&map, &skeleton).unwrap();
    let mut state = network.state();
    let mut dials = vec![1.0, 1.0, 0.0];
    network.settle(&mut dials, &mut state);
    let own = 0.5 * (0.5 - 3.0_f64.to_radians());
    assert!((dials[0] - own).abs() < 1e-11, "{dials:?} {own}");
    assert_eq!(dials[1..], [1.0, 0.0]);
    let mut clip = DialClip::new(crate::motion::FrameRate::from_fps(30.0).unwrap(), 3);
    for shared in [0.2, 0.9, 1.0, 0.0] {
        clip.push(&[own, shared, 0.0]);
    }
    let held = network.held_over(&clip);
    assert_eq!(held.len(), 1, "{held:?}");
    let HeldOver { part, number, unit, frames, worst, worst_frame } = &held[0];
    assert_eq!((part.as_str(), number.as_deref()), ("shared_held", Some("shared")));
    assert_eq!((*unit, *frames, *worst_frame), (Unit::Angle, 2, 2));
    assert!((worst - 0.7).abs() < 1e-12);
}

/// A dial is counted at each end of its range, and not near it.
#[test]
fn frames_at_the_ends_of_ranges_are_counted() {
    let dials = [dial("a", Unit::Angle, -1.0, 2.0), dial("b", Unit::Ratio, 0.0, 1.0)];
    let mut clip = DialClip::new(crate::motion::FrameRate::from_fps(30.0).unwrap(), 2);
    for (a, b) in [(-1.0, 0.5), (2.0, 1.0), (2.0 - 1e-9, 0.999), (1.99, 1.0)] {
        clip.push(&[a, b]);
    }
    assert_eq!(clip.at_ends(&dials), [[1, 2], [0, 2]]);
}
