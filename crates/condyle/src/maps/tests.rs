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

/// Which joints above the humerus are cancelled (D4).
fn cancelling(map: &mut JointMap, joints: &[&str]) {
    for part in &mut map.parts {
        if let Component::Compensate { cancel, .. } = &mut part.component {
            *cancel = joints.iter().map(|s| (*s).to_owned()).collect();
        }
    }
}

/// All of a row, one, and some with another between.
const CANCELLED: [&[&str]; 3] = [&["scapula", "clavicle"], &["clavicle"], &["thorax", "scapula"]];

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
        cancelling(&mut map, CANCELLED[n % 3]);
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
        let cancelled = CANCELLED[n % 3];
        cancelling(&mut map, cancelled);
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

/// Row D3: one number between two functions of another; where these cross, the middle of them is left.
#[test]
fn d3_bounds_hold_from_below_and_above_and_meet_in_the_middle() {
    let skeleton = skeleton(&mut Rng::new(19));
    let line = |slope: f64, offset: f64| radians(&Curve::Linear { slope, offset });
    // From below −0.4 − a, from above 0.2 − 2 a: they cross at a = 0.6.
    let bounds = [line(-1.0, -0.4), line(-2.0, 0.2)];
    let network = |lower: bool, upper: bool| {
        let [low, high] = bounds.clone();
        let bound = Component::Bound {
            active: "arm".to_owned(),
            passive: "blade".to_owned(),
            lower: lower.then_some(low),
            upper: upper.then_some(high),
        };
        let turn =
            Component::Turn { angle: "held".to_owned(), turn: Turn::about(DVec3::X, DVec3::ZERO) };
        let map = JointMap {
            dials: ["arm", "blade"].map(|name| dial(name, Unit::Angle, -1.0, 1.0)).to_vec(),
            parts: vec![part("held", bound), part("turned", turn)],
            joints: vec![driven("scapula", "turned")],
        };
        Network::new(&map, &skeleton).unwrap()
    };
    let scapula = skeleton.find("scapula").unwrap();
    for (sides, dials, angle, rates) in [
        ([true, true], [0.1, -0.8], -0.5, [-1.0, 0.0]),
        ([true, true], [0.1, 0.3], 0.0, [-2.0, 0.0]),
        ([true, true], [0.1, -0.2], -0.2, [0.0, 1.0]),
        ([true, false], [0.1, 0.3], 0.3, [0.0, 1.0]),
        ([true, false], [0.1, -0.8], -0.5, [-1.0, 0.0]),
        ([false, true], [0.1, -0.8], -0.8, [0.0, 1.0]),
        ([false, true], [0.1, 0.3], 0.0, [-2.0, 0.0]),
        // −1.3 from below and −1.6 from above.
        ([true, true], [0.9, 0.5], -1.45, [-1.5, 0.0]),
        ([true, true], [0.9, -1.0], -1.45, [-1.5, 0.0]),
    ] {
        let network = network(sides[0], sides[1]);
        let mut state = network.state();
        network.evaluate(&dials, &mut state);
        let found = network.motion(&state, scapula).rotation.log().x;
        assert!((found - angle).abs() < 1e-12, "{sides:?} {dials:?}: {found}");
        for (d, rate) in network.rates(&state, scapula) {
            assert!((rate.turn.x - rates[d]).abs() < 1e-12, "{sides:?} {dials:?}: {rate:?}");
        }
    }
}

/// Row D7: of several ways to touch, a bone that is moved little by little keeps its own.
#[test]
fn d7_bones_slide_on_from_where_they_were() {
    let mut skeleton = Skeleton::new();
    let ribs = skeleton.add_root(Joint::new("ribs", DVec3::ZERO)).unwrap();
    skeleton.add(ribs, Joint::new("blade", DVec3::ZERO)).unwrap();
    let points_m = [DVec3::Y, DVec3::new(0.1, 1.0, 0.0)];
    let slide = Slide {
        place: Transform::IDENTITY,
        radii_m: DVec3::new(1.0, 2.0, 0.5),
        axis: DVec3::X,
        pairs: vec![ContactPair { at: [0.0; 2], points_m }],
    };
    let [input, angle] = ["turned", "turn"].map(str::to_owned);
    let about = Component::Turn { angle: angle.clone(), turn: Turn::about(DVec3::X, DVec3::ZERO) };
    let slides = Component::Slide {
        input: Some(input),
        joint: "blade".to_owned(),
        on: "ribs".to_owned(),
        numbers: [angle.clone(), angle],
        slide,
    };
    let map = JointMap {
        dials: vec![dial("turn", Unit::Angle, 0.1, 2.5)],
        parts: vec![part("turned", about), part("slid", slides)],
        joints: vec![driven("blade", "slid")],
    };
    let network = Network::new(&map, &skeleton).unwrap();
    // The first point is on the ellipsoid at ±0.46 and at half a turn from there, however the bone is
    // turned beforehand: cos²/4 + 4 sin² = 1. At 0.1 the first of these is nearest, at 2.5 another.
    let root = 0.2_f64.sqrt();
    let touching = |state: &State| state.slid().next().unwrap().turns[0] + state.dials()[0];
    let mut state = network.state();
    for k in 0..=48 {
        network.evaluate(&[0.1 + 0.05 * f64::from(k)], &mut state);
        let at = touching(&state);
        assert!((crate::math::trig::sin_cos(at).0 - root).abs() < 1e-12 && at < 0.5, "{at}");
    }
    let mut state = network.state();
    network.evaluate(&[2.5], &mut state);
    assert!(touching(&state) > 2.0, "at once it goes to what is nearest");
}

/// Documents of a few hundred kilobytes that stand for gigabytes are refused, each by its own part.
#[test]
fn d1_networks_that_are_too_large_are_refused() {
    let mut skeleton = Skeleton::new();
    let mut below = skeleton.add_root(Joint::new("0", DVec3::Y)).unwrap();
    for i in 1..3000 {
        below = skeleton.add(below, Joint::new(i.to_string(), DVec3::Y)).unwrap();
    }
    let names =
        |of: &str, n: usize| -> Vec<String> { (0..n).map(|i| format!("{of}{i}")).collect() };
    let too_large = |dials: &[String], parts: Vec<Part>| {
        let dials = dials.iter().map(|name| dial(name, Unit::Angle, -1.0, 1.0)).collect();
        let map = JointMap { dials, parts, joints: Vec::new() };
        let error = Network::new(&map, &skeleton).unwrap_err();
        assert_eq!(*error.kind(), MapErrorKind::TooLarge, "{error}");
        let MapStep::Key(part) = &error.place()[1] else { panic!("{error}") };
        part.clone()
    };
    let dials = names("d", 1200);
    let turns = |n: usize| dials[..n].iter().map(|d| turn(&format!("t{d}"), d, DVec3::X));
    // Many ways up a long row.
    let away = |i: usize| {
        let cancel = vec!["0".to_owned()];
        let (input, joint) = ("td0".to_owned(), "2999".to_owned());
        part(&format!("c{i}"), Component::Compensate { input, joint, cancel })
    };
    let parts = turns(1).chain((0..1000).map(away)).collect();
    assert_eq!(too_large(&dials[..1], parts), "c333");
    // One part that takes many dials many times, or makes many numbers of them.
    let all: Vec<String> = dials.iter().map(|d| format!("t{d}")).collect();
    let once = part("once", Component::Chain { of: all });
    let often = part("often", Component::Chain { of: vec!["once".to_owned(); 1000] });
    assert_eq!(too_large(&dials, turns(1200).chain([once.clone(), often]).collect()), "often");
    let bound = |i: usize| {
        let active = dials[i].clone();
        let passive = if i == 1 { dials[0].clone() } else { format!("b{}", i - 1) };
        let lower = Some(Curve::default());
        part(&format!("b{i}"), Component::Bound { active, passive, lower, upper: None })
    };
    let outputs = names("o", 1000).iter().map(|o| output(o, Curve::default())).collect();
    let wide = part("wide", Component::Spread { input: "b999".to_owned(), outputs });
    assert_eq!(too_large(&dials, (1..1000).map(bound).chain([wide]).collect()), "wide");
    // Many parts that depend on all.
    let again = |i: usize| part(&format!("a{i}"), Component::Chain { of: vec!["once".to_owned()] });
    let parts = turns(1200).chain([once]).chain((0..1000).map(again)).collect();
    assert!(too_large(&dials, parts).starts_with('a'));
}

/// Whatever finite numbers a map is made of, what comes out is finite, with all rates.
#[test]
fn d13_no_map_leads_beyond_all_numbers() {
    let mut rng = Rng::new(20);
    let skeleton = skeleton(&mut rng);
    let good = shoulder(&mut rng, &skeleton);
    let wild = |rng: &mut Rng| {
        let sizes = [0.0, 1e-320, 1e-300, 1e-200, 1e-9, 5.0, 1e9, 1e200, 1e300, 1e308];
        sizes[rng.below(sizes.len())] * if rng.below(2) == 0 { -1.0 } else { 1.0 }
    };
    let vector = |rng: &mut Rng| DVec3::new(wild(rng), wild(rng), wild(rng));
    let curve = |rng: &mut Rng| {
        let mut points: Vec<[f64; 2]> = (0..4).map(|_| [wild(rng), wild(rng)]).collect();
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        match rng.below(4) {
            0 => Curve::Linear { slope: wild(rng), offset: wild(rng) },
            1 => Curve::Polynomial(points.as_flattened().to_vec()),
            2 => Curve::Points(points),
            _ => Curve::Spline(points),
        }
    };
    let mut made = 0;
    for n in 0..4000 {
        let mut map = good.clone();
        for dial in &mut map.dials {
            if rng.below(8) != 0 {
                continue;
            }
            let (a, b) = (wild(&mut rng), wild(&mut rng));
            (dial.range, dial.rest) = ([a.min(b), a.max(b)], a);
        }
        for part in &mut map.parts {
            if rng.below(4) != 0 {
                continue;
            }
            match &mut part.component {
                Component::Spread { outputs, .. } => {
                    outputs.iter_mut().for_each(|output| output.curve = curve(&mut rng));
                }
                Component::Bound { lower, .. } => *lower = Some(curve(&mut rng)),
                Component::Turn { turn, .. } => {
                    (turn.axis, turn.centers[0].1) = (vector(&mut rng), vector(&mut rng));
                    turn.rest = Angle::from_radians(wild(&mut rng));
                }
                Component::Shift { along, .. } => *along = vector(&mut rng),
                Component::Slide { slide, .. } => {
                    slide.radii_m = vector(&mut rng).abs();
                    slide.pairs[0].points_m[0] = vector(&mut rng);
                    slide.pairs[1].at = [wild(&mut rng), wild(&mut rng)];
                }
                _ => {}
            }
        }
        // What doubles itself a thousand times.
        if n % 50 == 0 {
            let double = |i: usize| {
                let of = if i == 0 { "free".to_owned() } else { format!("x{}", i - 1) };
                part(&format!("x{i}"), Component::Chain { of: vec![of.clone(), of] })
            };
            map.parts.extend((0..1100).map(double));
            map.joints[0].by = "x1099".to_owned();
        }
        let Ok(network) = Network::new(&map, &skeleton) else { continue };
        made += 1;
        let (mut state, mut pose) = (network.state(), Pose::rest(&skeleton));
        let ends = [0, 1].map(|k| network.dials().iter().map(|d| d.range[k]).collect::<Vec<_>>());
        for dials in ends {
            network.evaluate(&dials, &mut state);
            network.write(&state, &mut pose);
            for rotation in &pose.rotations {
                assert!((rotation.quat().length() - 1.0).abs() < 1e-9, "{n}: {rotation:?}");
            }
            assert!(pose.translations_m.iter().all(|place| place.is_finite()), "{n}");
            for joint in skeleton.indices() {
                for (dial, rate) in network.rates(&state, joint) {
                    let finite = rate.turn.is_finite() && rate.shift_m.is_finite();
                    assert!(finite, "{n}: {} {dial} {rate:?}", skeleton[joint].name);
                }
            }
        }
    }
    assert!(made > 1000, "{made}");
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

/// Rows D5 and D13: what is held is told with what it is: a number, where a bone points, its roll.
#[test]
fn d13_what_is_held_is_told_as_what_it_is() {
    let mut skeleton = Skeleton::new();
    skeleton.add_root(Joint::new("arm", DVec3::ZERO)).unwrap();
    let axes = SwingAxes::new(DVec3::NEG_Y, Some(DVec3::X)).unwrap();
    let limit = Limit::SwingTwist(SwingTwistLimit {
        axes,
        swing: SwingLimit::Ellipse { rx: Angle::from_degrees(30.0), ry: Angle::from_degrees(30.0) },
        twist: TwistLimit {
            bounds: TwistBounds::Arc(Arc::from_degrees(-20.0, 20.0).unwrap()),
            ..TwistLimit::default()
        },
    });
    let about = |name: &str, angle: &str, axis| {
        part(
            name,
            Component::Turn { angle: angle.to_owned(), turn: Turn::about(axis, DVec3::ZERO) },
        )
    };
    let upper = Some(Curve::Linear { slope: 0.0, offset: 50.0 });
    let [active, passive] = ["spin", "raise"].map(str::to_owned);
    let map = JointMap {
        dials: vec![dial("raise", Unit::Angle, -1.0, 1.0), dial("spin", Unit::Angle, -1.0, 1.0)],
        parts: vec![
            part("kept", Component::Bound { active, passive, lower: None, upper }),
            about("raised", "kept", DVec3::X),
            about("spun", "spin", DVec3::Y),
            chain("both", &["raised", "spun"]),
            part(
                "cone",
                Component::Limit {
                    input: "both".to_owned(),
                    center: Rotation::IDENTITY,
                    limit,
                    toward_rest: false,
                },
            ),
        ],
        joints: vec![driven("arm", "cone")],
    };
    let network = Network::new(&map, &skeleton).unwrap();
    let mut state = network.state();
    let mut told = |degrees: [f64; 2]| {
        network.evaluate(&degrees.map(f64::to_radians), &mut state);
        let all: Vec<String> = network.held(&state).map(|held| held.to_string()).collect();
        (all, network.given(&state))
    };
    assert_eq!(told([20.0, 10.0]).0, [""; 0]);
    assert_eq!(
        told([45.0, 10.0]).0,
        ["cone holds where the bone points, 15.00° from what was set"]
    );
    assert_eq!(told([-10.0, 32.0]).0, ["cone holds the bone's roll, 12.00° from what was set"]);
    let (both, given) = told([55.0, -30.0]);
    assert_eq!(
        both,
        [
            "kept holds raise at 50.00 deg instead of 55.00",
            "cone holds where the bone points, 20.00° from what was set, and its roll, 10.00° from it",
        ]
    );
    // No number of one dial makes that.
    assert_eq!(given, [None, None]);
    let (_, given) = told([20.0, 10.0]);
    assert_eq!(given, [Some(20_f64.to_radians()), Some(10_f64.to_radians())]);

    // Over frames: how often, how far at most, and where.
    let rate = crate::motion::FrameRate::from_fps(30.0).unwrap();
    let mut clip = DialClip::new(rate, 2);
    for degrees in [[0.0, 0.0], [40.0, 0.0], [55.0, 0.0], [56.0, 0.0], [31.0, 0.0]] {
        clip.push(&degrees.map(f64::to_radians));
    }
    let over: Vec<(&str, usize, usize)> = network
        .held_over(&clip)
        .iter()
        .map(|of| (of.worst.part, of.frames, of.worst_frame))
        .collect();
    assert_eq!(over, [("kept", 2, 3), ("cone", 4, 2)]);
}

/// Row D4: what compensates for the joints above one joint is wrong for another.
#[test]
fn d4_a_part_for_another_joint_than_it_moves_is_refused() {
    let mut rng = Rng::new(16);
    let skeleton = skeleton(&mut rng);
    let good = shoulder(&mut rng, &skeleton);
    assert!(Network::new(&good, &skeleton).is_ok());
    let by = |map: &JointMap, does: fn(&Component) -> bool| {
        map.parts.iter().find(|part| does(&part.component)).unwrap().name.clone()
    };
    let compensates = by(&good, |c| matches!(c, Component::Compensate { .. }));
    let slides = by(&good, |c| matches!(c, Component::Slide { .. }));
    for part_name in [compensates, slides] {
        // At once, and through others.
        for through in [false, true] {
            let mut map = good.clone();
            map.parts.push(chain("through", &[&part_name]));
            let name = if through { "through" } else { part_name.as_str() };
            map.joints.retain(|driven| driven.joint != "pelvis");
            map.joints.push(driven("pelvis", name));
            let error = Network::new(&map, &skeleton).unwrap_err();
            let MapErrorKind::OtherJoint { moves, .. } = error.kind() else { panic!("{error}") };
            assert_eq!(moves, "pelvis");
            assert!(error.to_string().starts_with(&format!("part {part_name:?}: the part is for")));
        }
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
    let HeldOver { worst, frames, worst_frame } = held[0];
    let By::Bound { number, unit, .. } = worst.by else { panic!("{worst:?}") };
    assert_eq!((worst.part, number, unit), ("shared_held", "shared", Unit::Angle));
    assert_eq!((frames, worst_frame), (2, 2));
    assert!((worst.size() - 0.7).abs() < 1e-12);
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

/// Numbers, transforms and sliding bones alike, over settings that follow each other. Turns that only
/// products need are not asked: values alone come without them.
#[test]
fn values_without_derivatives_have_the_same_bits() {
    let bits = |network: &Network, state: &State| -> Vec<u64> {
        let numbers = state.numbers.iter().copied();
        let unmade = &network.flat.unmade;
        let made = state.transforms.iter().enumerate().filter(|(i, _)| !unmade.contains(i));
        let transforms = made.flat_map(|(_, t)| {
            let (q, v) = (t.rotation.quat().to_array(), t.translation_m.to_array());
            q.into_iter().chain(v)
        });
        let slid = state.slid().flat_map(|slid| slid.turns);
        assert_eq!(state.numbers.len(), network.numbers.len());
        numbers.chain(transforms).chain(slid).map(f64::to_bits).collect()
    };
    let mut rng = Rng::new(41);
    let mut compared = 0;
    let mut check = |network: &Network, rng: &mut Rng| {
        let (mut with, mut without) = (network.state(), network.state());
        for _ in 0..20 {
            let dials = some_dials(network, rng);
            network.evaluate(&dials, &mut with);
            network.evaluate_values(&dials, &mut without);
            assert_eq!(bits(network, &with), bits(network, &without));
            compared += 1;
        }
        // And back. A bone that slides looks for its turns from where it is: evaluated again with the
        // same dials it starts from what it had found, and finds that to rounding only. So there both
        // go on to other dials.
        let dials = match network.sliding() {
            [] => with.dials().to_vec(),
            _ => {
                let dials = some_dials(network, rng);
                network.evaluate(&dials, &mut with);
                dials
            }
        };
        network.evaluate(&dials, &mut without);
        assert_eq!(bits(network, &with), bits(network, &without));
        for joint in (0..network.drivers.len()).map(JointIndex::new) {
            let rates = |state| network.rates(state, joint).collect::<Vec<_>>();
            assert_eq!(rates(&with), rates(&without));
        }
    };
    for name in crate::models::names() {
        let rig = crate::models::find(name).unwrap();
        check(&Network::new(&rig.maps, &rig.skeleton).unwrap(), &mut rng);
    }
    for n in 0..20 {
        let skeleton = skeleton(&mut rng);
        let mut map = shoulder(&mut rng, &skeleton);
        hold(&mut map, n % 2 == 1);
        cancelling(&mut map, CANCELLED[n % 3]);
        check(&Network::new(&map, &skeleton).unwrap(), &mut rng);
        // Angles of some million turns, which sines have another way for.
        for part in &mut map.parts {
            let Component::Spread { outputs, .. } = &mut part.component else { continue };
            for output in outputs {
                output.curve = Curve::Linear { slope: 1e7 * rng.normal(), offset: 1.0 };
            }
        }
        check(&Network::new(&map, &skeleton).unwrap(), &mut rng);
    }
    assert!(compared >= 880, "{compared}");
}

#[test]
#[should_panic(expected = "evaluated without derivatives")]
fn derivatives_that_were_not_evaluated_are_not_given() {
    let rig = crate::models::find("knee").unwrap();
    let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
    let mut state = network.state();
    let dials = state.dials().to_vec();
    network.evaluate_values(&dials, &mut state);
    let _ = network.rates(&state, JointIndex::new(0));
}
