//! Joint maps as they stand in a document: dials, parts, and the joints that they move.

use glam::DVec3;

use super::cursor::{Cursor, Notes, nearly_same};
use super::fields::{CURVE_SHAPES, ObjectKind, PART_SHAPES, UNIT_SHAPES};
use super::json::{Fault, Field, Node, Value};
use super::path::Step;
use super::shapes::limit;
use super::write;
use super::{JointKind, RigErrorKind, RigWarningKind};
use crate::maps::{
    Component, ContactPair, Curve, Dial, Driven, JointMap, Output, Part, Slide, Transform, Turn,
    Unit,
};
use crate::math::{Angle, Rotation};

/// What the field `maps` says.
pub(super) fn read(cursor: &Cursor<'_>, notes: &mut Notes) -> Result<JointMap, Fault> {
    cursor.object()?;
    cursor.spelling(ObjectKind::Maps, notes);
    let mut map = JointMap::default();
    named(&cursor.required("dials")?, |name, of| {
        map.dials.push(dial(name, of, notes)?);
        Ok(())
    })?;
    named(&cursor.required("parts")?, |name, of| {
        map.parts.push(Part { name: name.to_owned(), component: component(of, notes)? });
        Ok(())
    })?;
    named(&cursor.required("joints")?, |name, of| {
        map.joints.push(Driven { joint: name.to_owned(), by: of.text()?.to_owned() });
        Ok(())
    })?;
    Ok(map)
}

/// Every field of an object, in order.
pub(super) fn named(
    cursor: &Cursor<'_>,
    mut read: impl FnMut(&str, &Cursor<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    for field in cursor.object()? {
        read(&field.key, &cursor.below(Step::Key(field.key.clone()), &field.node))?;
    }
    Ok(())
}

fn unit(cursor: &Cursor<'_>) -> Result<Unit, Fault> {
    let word = cursor.required("unit")?.word("unit", UNIT_SHAPES)?;
    Ok(Unit::ALL.into_iter().find(|unit| unit.name() == word).unwrap_or_default())
}

/// What the ends and the rest of a dial are called.
const fn ends_of(unit: Unit) -> [&'static str; 3] {
    match unit {
        Unit::Angle => ["min_deg", "max_deg", "rest_deg"],
        Unit::Length => ["min_m", "max_m", "rest_m"],
        Unit::Ratio => ["min", "max", "rest"],
    }
}

fn inside(unit: Unit, number: f64) -> f64 {
    if unit == Unit::Angle { Angle::from_degrees(number).radians() } else { number }
}

fn dial(name: &str, cursor: &Cursor<'_>, notes: &mut Notes) -> Result<Dial, Fault> {
    let unit = unit(cursor)?;
    cursor.spelling(ObjectKind::Dial, notes);
    other_units(unit, cursor, notes)?;
    let [min, max, rest] = ends_of(unit);
    let number = |key| Ok::<_, Fault>(inside(unit, cursor.required(key)?.number()?));
    let range = [number(min)?, number(max)?];
    let rest = if cursor.field(rest).is_some() { number(rest)? } else { 0.0 };
    if !(range[0] < range[1] && range[0] <= rest && rest <= range[1]) {
        // Without what conversion to radians and back adds.
        let [min, max, rest] = [range[0], range[1], rest].map(|x| {
            let (found, rounded) = (x / unit.of_document(), (1e9 * x / unit.of_document()).round());
            if rounded.is_finite() { rounded / 1e9 } else { found }
        });
        let found = format!("{min} to {max}, rest {rest}");
        return Err(cursor.out_of_range("a range that is not empty, with rest inside", &found));
    }
    let text = |key| cursor.field(key).map_or(Ok(String::new()), |c| c.text().map(str::to_owned));
    Ok(Dial {
        name: name.to_owned(),
        unit,
        range,
        rest,
        label: text("label")?,
        source: text("source")?,
    })
}

/// Says so where a dial has an end or a rest in another unit than its own: it counts for nothing.
fn other_units(unit: Unit, cursor: &Cursor<'_>, notes: &mut Notes) -> Result<(), Fault> {
    let own = ends_of(unit);
    for field in cursor.object()? {
        let others = Unit::ALL.into_iter().filter(|other| *other != unit).map(ends_of);
        let meant = others.flat_map(|names| names.into_iter().zip(own));
        let meant = meant.filter(|(name, _)| *name == field.key).map(|(_, own)| own).next();
        // Those that are spelt alike have been told.
        if let Some(known) = meant.filter(|known| !nearly_same(&field.key, known)) {
            let kind = RigWarningKind::Misspelt { name: field.key.to_string(), known };
            notes.add(&cursor.below(Step::Key(field.key.clone()), &field.node), kind);
        }
    }
    Ok(())
}

fn component(cursor: &Cursor<'_>, notes: &mut Notes) -> Result<Component, Fault> {
    let does = cursor.required("does")?.word("thing for a part to do", PART_SHAPES)?;
    cursor.spelling(ObjectKind::Part, notes);
    let text = |key| Ok::<_, Fault>(cursor.required(key)?.text()?.to_owned());
    let texts =
        |key| cursor.required(key)?.items(1, "at least one name", |c| c.text().map(str::to_owned));
    let degrees = |key, otherwise: f64| {
        let number = cursor.field(key).map_or(Ok(otherwise), |c| c.number());
        number.map(Angle::from_degrees)
    };
    Ok(match does {
        "spread" => {
            let mut outputs = Vec::new();
            let all = cursor.required("outputs")?;
            named(&all, |name, of| {
                let unit = unit(of)?;
                of.spelling(ObjectKind::Output, notes);
                let curve = curve(&of.required("curve")?, notes)?;
                outputs.push(Output { name: name.to_owned(), unit, curve });
                Ok(())
            })?;
            if outputs.is_empty() {
                let expected = "at least one output";
                return Err(all.fault(RigErrorKind::Length { expected, found: 0 }));
            }
            Component::Spread { input: text("input")?, outputs }
        }
        "bound" => {
            let mut bound = |key| cursor.field(key).map(|c| curve(&c, notes)).transpose();
            let (lower, upper) = (bound("lower")?, bound("upper")?);
            if lower.is_none() && upper.is_none() {
                return Err(cursor.fault(RigErrorKind::Missing { field: "lower or upper" }));
            }
            Component::Bound { active: text("active")?, passive: text("passive")?, lower, upper }
        }
        "turn" => {
            let centers = cursor.required("centers")?.items(1, "at least one centre", |c| {
                c.object()?;
                c.spelling(ObjectKind::Center, notes);
                let to = c.field("to_deg").map_or(Ok(180.0), |to| to.number())?;
                Ok((Angle::from_degrees(to), c.required("at_m")?.point()?))
            })?;
            let axis = cursor.required("axis")?.direction(notes)?;
            let (rest, from) = (degrees("rest_deg", 0.0)?, degrees("from_deg", -180.0)?);
            Component::Turn { angle: text("angle")?, turn: Turn { axis, rest, from, centers } }
        }
        "shift" => {
            let along = cursor.required("along")?.direction(notes)?;
            Component::Shift { length: text("length")?, along }
        }
        "chain" => Component::Chain { of: texts("of")? },
        "limit" => {
            let kind = cursor.required("kind")?.word("kind of joint", &JointKind::NAMES)?;
            let kind = JointKind::ALL.into_iter().find(|k| k.as_str() == kind).unwrap_or_default();
            let center = cursor.field("center").map(|c| c.rotation(notes)).transpose()?;
            let center = center.unwrap_or(Rotation::IDENTITY);
            let toward_rest = cursor.field("toward_rest").map(|c| c.truth()).transpose()?;
            Component::Limit {
                input: text("input")?,
                center,
                limit: limit(cursor, kind, notes)?,
                toward_rest: toward_rest.unwrap_or(false),
            }
        }
        "compensate" => Component::Compensate {
            input: text("input")?,
            joint: text("joint")?,
            cancel: texts("cancel")?,
        },
        _ => {
            let numbers = cursor.required("numbers")?;
            let numbers = numbers.exactly("2 names", |c| c.text().map(str::to_owned))?;
            let input = cursor.field("input").map(|c| c.text().map(str::to_owned)).transpose()?;
            let slide = slide(cursor, notes)?;
            Component::Slide { input, joint: text("joint")?, on: text("on")?, numbers, slide }
        }
    })
}

fn slide(cursor: &Cursor<'_>, notes: &mut Notes) -> Result<Slide, Fault> {
    let ellipsoid = cursor.required("ellipsoid")?;
    ellipsoid.object()?;
    ellipsoid.spelling(ObjectKind::Ellipsoid, notes);
    let rotation = ellipsoid.field("rotation").map(|c| c.rotation(notes)).transpose()?;
    let radii = ellipsoid.required("radii_m")?;
    let radii_m = radii.point()?;
    if radii_m.min_element() <= 0.0 {
        let least = radii_m.min_element().to_string();
        return Err(radii.out_of_range("lengths above 0", &least));
    }
    let pairs = cursor.required("pairs")?.items(1, "at least one pair", |c| {
        c.object()?;
        c.spelling(ObjectKind::ContactPair, notes);
        let points_m = c.required("points_m")?.exactly("2 points", point)?;
        Ok(ContactPair { at: c.required("at")?.numbers("2 numbers")?, points_m })
    })?;
    Ok(Slide {
        place: Transform {
            rotation: rotation.unwrap_or(Rotation::IDENTITY),
            translation_m: ellipsoid.required("center_m")?.point()?,
        },
        radii_m,
        axis: cursor.required("axis")?.direction(notes)?,
        pairs,
    })
}

// For any lifetime, which the methods themselves are not.
fn number(cursor: &Cursor<'_>) -> Result<f64, Fault> {
    cursor.number()
}

fn point(cursor: &Cursor<'_>) -> Result<DVec3, Fault> {
    cursor.point()
}

pub(super) fn curve(cursor: &Cursor<'_>, notes: &mut Notes) -> Result<Curve, Fault> {
    let shape = cursor.required("shape")?.word("shape of a function", CURVE_SHAPES)?;
    cursor.spelling(ObjectKind::Curve, notes);
    let points = || {
        cursor.required("points")?.items(2, "at least 2 points", |point| point.numbers("2 numbers"))
    };
    Ok(match shape {
        "linear" => Curve::Linear {
            slope: cursor.required("slope")?.number()?,
            offset: cursor.field("offset").map_or(Ok(0.0), |c| c.number())?,
        },
        "polynomial" => Curve::Polynomial(cursor.required("coefficients")?.items(
            1,
            "at least one number",
            number,
        )?),
        "points" => Curve::Points(points()?),
        _ => Curve::Spline(points()?),
    })
}

/// The field `maps` of a document; `None` if there is nothing to say.
pub(super) fn tree(map: &JointMap) -> Result<Option<Node<'static>>, Fault> {
    if map.dials.is_empty() && map.parts.is_empty() && map.joints.is_empty() {
        return Ok(None);
    }
    let dials = map.dials.iter().map(|dial| Field::new(dial.name.clone(), dial_tree(dial)));
    let mut parts = Vec::with_capacity(map.parts.len());
    for part in &map.parts {
        let node = part_tree(part)
            .map_err(|fault| write::within(fault, &format!("maps.parts.{}", part.name)))?;
        parts.push(Field::new(part.name.clone(), node));
    }
    let joints = map
        .joints
        .iter()
        .map(|driven| Field::new(driven.joint.clone(), Node::string(driven.by.clone())));
    Ok(Some(Node::object(vec![
        Field::new("dials", Node::object(dials.collect())),
        Field::new("parts", Node::object(parts)),
        Field::new("joints", Node::object(joints.collect())),
    ])))
}

fn dial_tree(dial: &Dial) -> Node<'static> {
    let number = |x: f64| match dial.unit {
        Unit::Angle => write::number(write::degrees(Angle::from_radians(x))),
        Unit::Length | Unit::Ratio => write::number(x),
    };
    let [min, max, rest] = ends_of(dial.unit);
    let mut fields = vec![
        Field::new("unit", Node::string(dial.unit.name())),
        Field::new(min, number(dial.range[0])),
        Field::new(max, number(dial.range[1])),
        Field::new(rest, number(dial.rest)),
    ];
    for (key, text) in [("label", &dial.label), ("source", &dial.source)] {
        if !text.is_empty() {
            fields.push(Field::new(key, Node::string(text.clone())));
        }
    }
    Node::object(fields)
}

fn part_tree(part: &Part) -> Result<Node<'static>, Fault> {
    let text = |key: &'static str, text: &str| Field::new(key, Node::string(text.to_owned()));
    let texts = |key: &'static str, all: &[String]| {
        Field::new(key, Node::array(all.iter().cloned().map(Node::string)))
    };
    let angle =
        |key: &'static str, angle: Angle| Field::new(key, write::number(write::degrees(angle)));
    let (does, fields) = match &part.component {
        Component::Spread { input, outputs } => {
            let outputs = outputs.iter().map(|output| {
                let fields = vec![
                    Field::new("unit", Node::string(output.unit.name())),
                    Field::new("curve", curve_tree(&output.curve)),
                ];
                Field::new(output.name.clone(), Node::object(fields))
            });
            let outputs = Node::object(outputs.collect());
            ("spread", vec![text("input", input), Field::new("outputs", outputs)])
        }
        Component::Bound { active, passive, lower, upper } => {
            let mut fields = vec![text("active", active), text("passive", passive)];
            for (key, bound) in [("lower", lower), ("upper", upper)] {
                fields.extend(bound.as_ref().map(|bound| Field::new(key, curve_tree(bound))));
            }
            ("bound", fields)
        }
        Component::Turn { angle: input, turn } => {
            let centers = turn.centers.iter().map(|(to, at_m)| {
                Node::object(vec![angle("to_deg", *to), Field::new("at_m", write::point(*at_m))])
            });
            let fields = vec![
                text("angle", input),
                Field::new("axis", write::direction(turn.axis)),
                angle("rest_deg", turn.rest),
                angle("from_deg", turn.from),
                Field::new("centers", Node::array(centers)),
            ];
            ("turn", fields)
        }
        Component::Shift { length, along } => {
            let along = Field::new("along", write::direction(*along));
            ("shift", vec![text("length", length), along])
        }
        Component::Chain { of } => ("chain", vec![texts("of", of)]),
        Component::Limit { input, center, limit, toward_rest } => {
            let mut fields = vec![text("input", input)];
            fields.extend(write::limit_fields(*center, limit)?);
            if *toward_rest {
                fields.push(Field::new("toward_rest", Value::Bool(true).into()));
            }
            ("limit", fields)
        }
        Component::Compensate { input, joint, cancel } => (
            "compensate",
            vec![text("input", input), text("joint", joint), texts("cancel", cancel)],
        ),
        Component::Slide { input, joint, on, numbers, slide } => {
            let mut fields: Vec<Field<'static>> =
                input.as_deref().map(|input| text("input", input)).into_iter().collect();
            fields.extend([text("joint", joint), text("on", on), texts("numbers", numbers)]);
            fields.extend(slide_fields(slide));
            ("slide", fields)
        }
    };
    let first = Field::new("does", Node::string(does));
    Ok(Node::object(std::iter::once(first).chain(fields).collect()))
}

fn slide_fields(slide: &Slide) -> [Field<'static>; 3] {
    let Slide { place, radii_m, axis, pairs } = slide;
    let points = |points: [DVec3; 2]| Node::array(points.map(write::point));
    let pairs = pairs.iter().map(|pair| {
        Node::object(vec![
            Field::new("at", write::numbers(&pair.at)),
            Field::new("points_m", points(pair.points_m)),
        ])
    });
    let ellipsoid = vec![
        Field::new("center_m", write::point(place.translation_m)),
        Field::new("rotation", write::rotation(place.rotation)),
        Field::new("radii_m", write::point(*radii_m)),
    ];
    [
        Field::new("ellipsoid", Node::object(ellipsoid)),
        Field::new("axis", write::direction(*axis)),
        Field::new("pairs", Node::array(pairs)),
    ]
}

pub(super) fn curve_tree(curve: &Curve) -> Node<'static> {
    let points = |points: &[[f64; 2]]| {
        Field::new("points", Node::array(points.iter().map(|point| write::numbers(point))))
    };
    match curve {
        Curve::Linear { slope, offset } => {
            let fields = [("slope", slope), ("offset", offset)];
            write::shape("linear", fields.map(|(key, x)| Field::new(key, write::number(*x))))
        }
        Curve::Polynomial(coefficients) => {
            let coefficients = Field::new("coefficients", write::numbers(coefficients));
            write::shape("polynomial", [coefficients])
        }
        Curve::Points(of) => write::shape("points", [points(of)]),
        Curve::Spline(of) => write::shape("spline", [points(of)]),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::maps::Network;
    use crate::rig::Rig;

    /// The example of the manual.
    fn example() -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rig.md");
        let manual = std::fs::read_to_string(path).unwrap();
        let block = manual.split("```json\n").find(|block| block.contains("\"maps\"")).unwrap();
        block.split("```").next().unwrap().to_owned()
    }

    #[test]
    fn d10_a_map_is_read_used_and_written_back_as_it_was() {
        let text = example();
        let read = Rig::read(text.as_bytes()).unwrap();
        assert!(read.warnings.is_empty(), "{:?}", read.warnings);
        let mut rig = read.rig;
        let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
        let names: Vec<&str> = network.dials().iter().map(|dial| dial.name.as_str()).collect();
        assert_eq!(names, ["arm.elevation", "clavicle.elevation", "arm.slip", "shrug"]);
        assert!((network.dials()[0].range[1].to_degrees() - 150.0).abs() < 1e-12);
        // Anew, and again: the same document.
        let anew = |rig: &Rig| {
            let mut anew = Rig::new(rig.skeleton.clone(), rig.joints.clone());
            anew.maps = rig.maps.clone();
            String::from_utf8(anew.write().unwrap()).unwrap()
        };
        let written = anew(&rig);
        assert_eq!(anew(&Rig::read(written.as_bytes()).unwrap().rig), written);
        // What is changed is changed, and nothing else.
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        let same = String::from_utf8(rig.write().unwrap()).unwrap();
        assert_eq!(plain(&same), plain(&text));
        rig.maps.dials[1].range[1] = 40_f64.to_radians();
        let changed = String::from_utf8(rig.write().unwrap()).unwrap();
        let expected =
            text.replace("\"min_deg\": -5, \"max_deg\": 45 ", "\"min_deg\": -5, \"max_deg\": 40 ");
        assert_eq!(plain(&changed), plain(&expected));
    }

    #[test]
    fn d10_errors_say_where_in_the_map() {
        let says = |from: &str, to: &str| {
            let text = example();
            assert!(text.contains(from), "{from}");
            Rig::read(text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
        };
        let error = says("\"does\": \"chain\"", "\"does\": \"chian\"");
        assert!(error.contains("maps.parts.both.does"), "{error}");
        assert!(error.contains("chain") && error.contains("slide"), "{error}");
        let error = says("\"max_deg\": 150", "\"max_deg\": -150");
        assert!(error.contains("maps.dials") && error.contains("rest inside"), "{error}");
        // As they were written, and not as radians bring them back.
        let error = says("\"min_deg\": -5, \"max_deg\": 45", "\"min_deg\": 60, \"max_deg\": 45");
        assert!(error.contains("60 to 45, rest 0"), "{error}");
        let sides = "\"upper\": { \"shape\": \"points\", \"points\": [[0, 45], [150, 40]] } }";
        let text =
            example().replacen(sides, "\"no\": 1 }", 1).replacen("\"lower\":", "\"none\":", 1);
        let error = Rig::read(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("maps.parts.lifted: \"lower\" or \"upper\" is missing"), "{error}");
        let error = says("\"slope\": 0.1, ", "");
        assert!(error.contains("maps.parts.lifted.lower") && error.contains("slope"), "{error}");
        let error = says("\"axis\": [0, 1, 0]", "\"axis\": [0, 0, 0]");
        assert!(error.contains("maps.parts.scapula.axis"), "{error}");
        let error = says("\"Humerus\": \"humerus\"", "\"Humerus\": 3");
        assert!(error.contains("maps.joints.Humerus"), "{error}");
    }

    /// The small map of the manual does what the manual says, step by step: by rotations about one axis,
    /// which add up.
    #[test]
    fn d10_the_finger_of_the_manual_does_what_the_manual_says() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/maps.md");
        let manual = std::fs::read_to_string(path).unwrap();
        let block = manual.split("```json\n").find(|block| block.contains("\"maps\"")).unwrap();
        let read = Rig::read(block.split("```").next().unwrap().as_bytes()).unwrap();
        assert!(read.warnings.is_empty(), "{:?}", read.warnings);
        let rig = read.rig;
        let network = rig.network().unwrap();
        assert!(network.idle().next().is_none() && network.moved_at_rest().is_empty());
        let mut state = network.state();
        let mut bent = |knuckle: f64, curl: f64| {
            network.evaluate(&[knuckle, curl].map(f64::to_radians), &mut state);
            let mut pose = crate::motion::Pose::rest(&rig.skeleton);
            network.write(&state, &mut pose);
            let world = pose.world(&rig.skeleton);
            let turned = ["Knuckle", "Middle", "Tip"].map(|name| {
                let v = world.rotations[rig.skeleton.find(name).unwrap().get()].log();
                assert!(v.y.abs() + v.z.abs() < 1e-12);
                (-v.x).to_degrees()
            });
            (turned, network.held(&state).map(|held| held.to_string()).collect::<Vec<_>>())
        };
        let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        // The hinge alone turns all that is on it.
        assert!(near(bent(30.0, 0.0).0, [30.0; 3]));
        // The spread: the end bends 0.6 times as much as the middle.
        let (turned, held) = bent(0.0, 50.0);
        assert!(near(turned, [0.0, 50.0, 80.0]) && held.is_empty(), "{turned:?} {held:?}");
        // The bound: bent back by 20 at the knuckle, it curls by 40 at most; half way there by 70.
        let (turned, held) = bent(-20.0, 100.0);
        assert!(near(turned, [-20.0, 20.0, 44.0]), "{turned:?}");
        assert_eq!(held, ["kept holds curl at 40.00 deg instead of 100.00"]);
        assert!(manual.contains(&held[0]));
        let (turned, _) = bent(-10.0, 100.0);
        assert!(near(turned, [-10.0, 60.0, 102.0]), "{turned:?}");
    }

    /// A turn stands as the skeleton does at its `rest_deg`, whatever rest is of its dial; past the last
    /// centre that one goes on.
    #[test]
    fn d6_the_rest_of_a_turn_is_not_that_of_its_dial() {
        let text = r#"{ "condyle": 1,
            "skeleton": { "joints": [ { "name": "A", "offset_m": [0, 0, 0] }, { "name": "B", "parent": "A", "offset_m": [0, -0.3, 0] } ] },
            "joints": {},
            "maps": {
                "dials": { "bend": { "unit": "angle", "min_deg": -200, "max_deg": 200 } },
                "parts": { "bent": { "does": "turn", "angle": "bend", "axis": [1, 0, 0], "rest_deg": 50,
                    "from_deg": 0, "centers": [ { "to_deg": 20, "at_m": [0, 0, 0] },
                                                { "to_deg": 60, "at_m": [0, 0.01, 0] } ] } },
                "joints": { "B": "bent" } } }"#;
        let rig = Rig::read(text.as_bytes()).unwrap().rig;
        let network = rig.network().unwrap();
        let b = rig.skeleton.find("B").unwrap();
        let moved = network.moved_at_rest();
        assert!(moved.len() == 1 && moved[0].0 == b);
        assert!((moved[0].1.rotation.log().x.to_degrees() + 50.0).abs() < 1e-9);
        let mut state = network.state();
        network.evaluate(&[50_f64.to_radians()], &mut state);
        assert!(network.motion(&state, b).rotation.angle().radians() < 1e-12);
        // Past 60 it is still about the second centre, which stays where it is from 50 to 150.
        network.evaluate(&[150_f64.to_radians()], &mut state);
        let motion = network.motion(&state, b);
        let center = glam::DVec3::new(0.0, 0.01, 0.0);
        assert!(motion.apply(center).distance(center) < 1e-12);
        assert!((motion.rotation.log().x.to_degrees() - 100.0).abs() < 1e-9);
    }

    /// A field of another unit counts for nothing, and that is told with the field that would count.
    #[test]
    fn d10_an_end_in_another_unit_is_told_with_the_right_field() {
        for (from, to, meant) in [
            ("\"max_deg\": 45", "\"max_deg\": 45, \"rest\": 5", "rest_deg"),
            ("\"max_m\": 0.004, \"rest_m\": 0", "\"max_m\": 0.004, \"rest_deg\": 0", "rest_m"),
            ("\"max\": 1, \"rest\": 0", "\"max\": 1, \"max_deg\": 5", "max"),
        ] {
            let text = example();
            assert!(text.contains(from), "{from}");
            let read = Rig::read(text.replacen(from, to, 1).as_bytes()).unwrap();
            let told: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].contains(&format!("is {meant:?} meant?")), "{told:?}");
        }
    }

    /// Rows D7 and D10: wherever the dials of the manual's example are, its bone slides.
    #[test]
    fn d7_the_example_of_the_manual_slides_up_to_the_ends_of_its_ranges() {
        let rig = Rig::read(example().as_bytes()).unwrap().rig;
        let network = rig.network().unwrap();
        let mut state = network.state();
        let steps = 9_u32;
        for n in 0..steps.pow(3) {
            let share = |d: u32| f64::from(n / steps.pow(d) % steps) / f64::from(steps - 1);
            let all = network.dials().iter().zip([share(0), share(1), share(2), 0.0]);
            let dials: Vec<f64> =
                all.map(|(d, share)| d.range[0] + (d.range[1] - d.range[0]) * share).collect();
            network.evaluate(&dials, &mut state);
            let off: Vec<String> = network
                .held(&state)
                .filter(|held| matches!(held.by, crate::maps::By::Slide { .. }))
                .map(|held| held.to_string())
                .collect();
            assert!(off.is_empty() && !state.is_off(), "{dials:?}: {off:?}");
        }
    }

    /// What shows only on the skeleton has its line, its path and one help, as what the reader finds.
    #[test]
    fn d10_errors_of_the_network_say_where_in_the_document() {
        for (from, to, path, says) in [
            (
                "[\"slipped\", \"raised\"]",
                "[\"slipped\", \"raized\"]",
                "parts.both.of[1]",
                "no dial or part",
            ),
            ("\"active\": \"arm.e", "\"active\": \"e", "parts.lifted.active", "no dial or part"),
            (
                "[\"lifted\", \"arm.elevation\"]",
                "[\"lifted\", \"held\"]",
                "parts.scapula.numbers[1]",
                "a number is needed",
            ),
            ("\"on\": \"Thorax\"", "\"on\": \"Humerus\"", "parts.scapula.on", "is not above"),
            ("\"joint\": \"Scapula\"", "\"joint\": \"Scapulo\"", "parts.scapula.joint", "no joint"),
            (
                "\"input\": \"held\", \"joint\": \"Humerus\"",
                "\"input\": \"held\", \"joint\": \"Scapula\"",
                "parts.humerus.joint",
                "is for joint \"Scapula\", and what it makes moves \"Humerus\"",
            ),
            (
                "\"Humerus\": \"humerus\" }",
                "\"Humerus\": \"scapula\" }",
                "parts.scapula.joint",
                "is for joint \"Scapula\", and what it makes moves \"Humerus\"",
            ),
            ("[\"Clavicle\"] }", "[\"Clavicula\"] }", "parts.humerus.cancel[0]", "no joint"),
            (
                "\"Humerus\": \"humerus\"",
                "\"Humerus\": \"humrus\"",
                "joints.Humerus",
                "no dial or part",
            ),
            (
                "\"Humerus\": \"humerus\"",
                "\"Humerus\": \"shrug\"",
                "joints.Humerus",
                "a transform is needed",
            ),
            (
                "\"length\": \"arm.slip\"",
                "\"length\": \"shrug\"",
                "parts.slipped.length",
                "a length is needed",
            ),
            (
                "\"angle\": \"lifted\"",
                "\"angle\": \"shrug\"",
                "parts.clavicle.angle",
                "an angle is needed",
            ),
            ("\"input\": \"both\"", "\"input\": \"humerus\"", "parts.held", "wait for each other"),
            (
                "[30, 2], [150, 50]",
                "[30, 2], [20, 50]",
                "parts.rhythm.outputs.scapula.curve.points[2]",
                "",
            ),
            ("[[0, 45], [150, 40]]", "[[0, 45], [0, 40]]", "parts.lifted.upper.points[1]", ""),
            ("\"to_deg\": 90", "\"to_deg\": 9", "parts.clavicle.centers[1]", "does not end after"),
            ("[[-0.09, -0.02, -0.02], ", "[[0, 0, 0], ", "parts.scapula.pairs[0]", "at the joint"),
            (
                "{ \"shape\": \"ellipse\", \"rx_deg\": 60, \"ry_deg\": 120 }",
                "{ \"shape\": \"cone_planar\", \"points\": [[-1, -1], [1, 1], [1, -1], [-1, 1]] }",
                "parts.held.limit.swing",
                "cross or touch",
            ),
            (
                "\"shrug\": { \"unit\"",
                "\"rhythm.scapula\": { \"unit\"",
                "parts.rhythm.outputs.scapula",
                "two dials or parts",
            ),
        ] {
            let text = example();
            assert!(text.contains(from), "{from}");
            let text = text.replacen(from, to, 1);
            let rig = Rig::read(text.as_bytes()).unwrap().rig;
            let error = rig.network().unwrap_err();
            let told = error.to_string();
            assert!(error.path().starts_with(&format!("maps.{path}")), "{told}");
            assert!(told.contains(says), "{told}");
            assert_eq!(told.matches("help: ").count(), 1, "{told}");
            // The line has what was changed, or the part begins there.
            let position = error.position().unwrap();
            let line = text.lines().nth(position.line as usize - 1).unwrap();
            let mut own = path.split(['.', '[']).skip(1).map(|key| format!("\"{key}\""));
            assert!(line.contains(to) || own.any(|own| line.contains(&own)), "{told}\n{line}");
        }
    }
}
