//! Pictures are judged by reading their text again: XML by a checker, filled paths by counting
//! crossings, cells by `contains`.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};

use super::characters::Grid;
use super::globe::{View, boundary, lattice, outlines};
use super::svg::Canvas;
use super::*;
use crate::limits::{
    EulerBox, Limit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit, TwistOffset,
};
use crate::math::{Angle, Arc, EulerOrder, Rotation, SwingAxes, trig, unit};
use crate::rig::{JointKind, RigJoint, Source};
use crate::skeleton::Skeleton;
use crate::synth::Rng;

// The fuzz targets judge pages by it as well.
#[allow(dead_code, unreachable_pub, reason = "parts are for the fuzz targets")]
#[path = "../../tests/it/fuzz/markup.rs"]
pub(crate) mod markup;

pub(crate) use markup::well_formed;

fn deg(d: f64) -> Angle {
    Angle::from_degrees(d)
}

fn arc(min: f64, max: f64) -> Arc {
    Arc::from_degrees(min, max).unwrap()
}

/// A closed curve at a wobbling angle from z, turned about an axis.
fn wobbly(n: u32, radius: f64, wobble: f64, waves: f64, axis: DVec3, turn: f64) -> Vec<DVec3> {
    let r = Rotation::from_axis_angle(axis, deg(turn)).unwrap();
    (0..n)
        .map(|i| {
            let a = 2.0 * PI * f64::from(i) / f64::from(n);
            let b = radius * (1.0 + wobble * trig::sin(waves * a));
            let ((sa, ca), (sb, cb)) = (trig::sin_cos(a), trig::sin_cos(b));
            r * DVec3::new(sb * ca, sb * sa, cb)
        })
        .collect()
}

fn reversed(mut points: Vec<DVec3>) -> Vec<DVec3> {
    points.reverse();
    points
}

/// Regions of every topology, in the axes of `SwingAxes::Z`.
pub(crate) fn zoo() -> Vec<(&'static str, SwingLimit)> {
    let ellipse = |rx, ry| SwingLimit::Ellipse { rx: deg(rx), ry: deg(ry) };
    let polygon = |p| SwingLimit::Polygons(vec![p]);
    let cap = |radius, axis, turn| wobbly(24, radius, 0.0, 1.0, axis, turn);
    vec![
        ("everything", SwingLimit::Free),
        ("hemisphere", ellipse(90.0, 90.0)),
        ("the other hemisphere", SwingLimit::Not(Box::new(ellipse(90.0, 90.0)))),
        ("convex", polygon(cap(0.7, DVec3::Y, 15.0))),
        ("concave", polygon(wobbly(20, 0.8, 0.35, 4.0, DVec3::X, 10.0))),
        ("over the limb", polygon(wobbly(30, 0.9, 0.3, 5.0, DVec3::Y, 80.0))),
        ("behind", polygon(cap(0.5, DVec3::X, 180.0))),
        ("larger than a hemisphere", polygon(wobbly(20, 2.1, 0.15, 3.0, DVec3::X, 20.0))),
        ("to and fro over the limb", polygon(wobbly(40, 0.5 * PI, 0.2, 6.0, DVec3::X, 3.0))),
        ("symmetric about the limb", polygon(wobbly(40, 0.5 * PI, 0.2, 6.0, DVec3::X, 0.0))),
        (
            "along the limb in part",
            SwingLimit::All(vec![ellipse(90.0, 90.0), ellipse(120.0, 60.0)]),
        ),
        ("hemisphere across the limb", polygon(cap(0.5 * PI, DVec3::X, 90.0))),
        ("wide ellipse", ellipse(150.0, 60.0)),
        (
            "hole",
            SwingLimit::Polygons(vec![
                wobbly(12, 1.2, 0.1, 2.0, DVec3::X, 0.0),
                reversed(cap(0.4, DVec3::Y, 20.0)),
            ]),
        ),
        (
            "hole over the limb",
            SwingLimit::Polygons(vec![
                wobbly(12, 2.6, 0.0, 2.0, DVec3::X, 0.0),
                reversed(cap(0.4, DVec3::Y, 85.0)),
            ]),
        ),
        (
            "two parts",
            SwingLimit::Any(vec![
                polygon(cap(0.5, DVec3::Y, 40.0)),
                polygon(cap(0.4, DVec3::Y, -88.0)),
            ]),
        ),
        ("band", SwingLimit::Box { alpha: arc(-180.0, 180.0), beta: arc(-20.0, 50.0) }),
    ]
}

pub(crate) fn limit_of(swing: SwingLimit) -> SwingTwistLimit {
    let twist = TwistLimit { bounds: TwistBounds::Arc(arc(-40.0, 70.0)), ..TwistLimit::default() };
    SwingTwistLimit { axes: SwingAxes::Z, swing, twist }
}

/// The points of a path's data as we write it.
fn parse(data: &str) -> Vec<Vec<DVec2>> {
    let mut lines: Vec<Vec<DVec2>> = Vec::new();
    for part in data.split('M').skip(1) {
        let part = part.strip_suffix('Z').expect("filled paths are closed");
        let numbers: Vec<f64> = part
            .split(['L', ' '])
            .map(|n| n.parse().unwrap_or_else(|_| panic!("no number: {n:?}")))
            .collect();
        assert!(numbers.len().is_multiple_of(2));
        lines.push(numbers.chunks(2).map(|p| DVec2::new(p[0], p[1])).collect());
    }
    lines
}

/// The even-odd rule: how often a ray to the right meets the lines.
fn is_filled(lines: &[Vec<DVec2>], p: DVec2) -> bool {
    let mut crossings = 0;
    for line in lines {
        for (i, a) in line.iter().enumerate() {
            let b = line[(i + 1) % line.len()];
            if (a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) * (b.x - a.x) / (b.y - a.y) {
                crossings += 1;
            }
        }
    }
    crossings % 2 == 1
}

/// The value of an attribute in every element of a class.
fn all_of<'a>(svg: &'a str, class: &str, attribute: &str) -> Vec<&'a str> {
    let class = format!("class=\"{class}\"");
    let attribute = format!(" {attribute}=\"");
    svg.split('<')
        .filter(|e| e.contains(&class))
        .filter_map(|e| e.split(&attribute).nth(1)?.split('"').next())
        .collect()
}

#[test]
fn b13_what_is_filled_is_what_is_inside_on_both_sides_of_the_globe() {
    // A pixel, and the sagitta of steps of 3° on the boundary.
    const AWAY: f64 = 0.01;
    let mut rng = Rng::new(3);
    for (name, swing) in zoo() {
        let limit = limit_of(swing);
        let prepared = Limit::SwingTwist(limit.clone()).prepare().unwrap();
        let region = prepared.swing().unwrap();
        let loops = boundary(region, &limit.axes);
        for view in [View::FRONT, View::BACK] {
            let lines = outlines(view, &loops, |d| region.contains(d));
            // As written, hundred times larger so that rounding is below what is looked at.
            let scaled: Vec<Vec<DVec2>> =
                lines.iter().map(|l| l.iter().map(|p| *p * 100.0).collect()).collect();
            let mut canvas = Canvas::default();
            canvas.path("area", &scaled, true);
            let svg = canvas.document(DVec2::ONE, name, "");
            let path = all_of(&svg, "area", "d").first().map(|d| parse(d)).unwrap_or_default();
            let mut counts = [0, 0];
            for _ in 0..3000 {
                let p = DVec2::new(rng.between(-1.0, 1.0), rng.between(-1.0, 1.0));
                let r = p.length();
                if r > 0.995 {
                    assert!(r < 1.001 || !is_filled(&path, p * 100.0), "{name} {view:?} {p}");
                    continue;
                }
                let d = view.right * p.x + view.up * p.y + view.toward * (1.0 - r * r).sqrt();
                // Near the limb a step along the globe is a small one in the picture.
                let away = AWAY / (1.0 - r * r).sqrt();
                if region.distance(d).unwrap().radians().abs() < away {
                    continue;
                }
                let inside = region.contains(d);
                counts[usize::from(inside)] += 1;
                assert_eq!(is_filled(&path, p * 100.0), inside, "{name} {view:?} {p}");
            }
            assert!(counts[0] + counts[1] > 1500, "{name} {view:?} {counts:?}");
        }
    }
}

#[test]
fn pictures_are_drawn_in_the_axes_of_the_limit() {
    // A cap of 20° at 40° from the bone towards x, with a bone that is along nothing.
    let axes = SwingAxes::new(DVec3::new(0.3, 1.0, -0.2), Some(DVec3::Z)).unwrap();
    let cap = wobbly(24, 0.35, 0.0, 1.0, DVec3::Y, 40.0);
    let cap = cap.into_iter().map(|d| axes.vector(d)).collect();
    let limit = SwingTwistLimit {
        axes,
        swing: SwingLimit::Polygons(vec![cap]),
        twist: TwistLimit::default(),
    };
    let svg = of_limit("cap", &Limit::SwingTwist(limit)).unwrap();
    // The first filled path is that of the front; x is to the right of the middle of its globe.
    let lines = parse(all_of(&svg, "cl-area", "d")[0]);
    let middle = DVec2::new(390.0 - 189.0, 266.0);
    let at = |degrees: f64| middle + DVec2::new(150.0 * trig::sin(degrees.to_radians()), 0.0);
    assert!(is_filled(&lines, at(40.0)) && is_filled(&lines, at(25.0)));
    assert!(!is_filled(&lines, at(15.0)) && !is_filled(&lines, at(-40.0)));
}

#[test]
fn cells_of_the_character_picture_are_what_contains_says_at_their_middles() {
    for (name, swing) in zoo() {
        let limit = limit_of(swing);
        let prepared = Limit::SwingTwist(limit.clone()).prepare().unwrap();
        let region = prepared.swing().unwrap();
        for columns in [12, 41, 60, 500] {
            for kind in [Characters::Ascii, Characters::Braille] {
                let drawn = characters(&limit, columns, kind).unwrap();
                let grid = Grid::new(columns, drawn.rim_deg, kind);
                assert_eq!(drawn.lines.len(), grid.rows() as usize);
                for (row, line) in (0_u32..).zip(&drawn.lines) {
                    assert!(line.chars().count() <= columns.min(60), "{name}");
                    let padded = line.chars().chain(std::iter::repeat(' '));
                    for (column, c) in (0..grid.columns).zip(padded) {
                        check_cell(grid, (column, row), c, |d| region.contains(d), name);
                    }
                }
            }
        }
    }
}

fn check_cell(
    grid: Grid,
    (column, row): (u32, u32),
    c: char,
    inside: impl Fn(DVec3) -> bool,
    name: &str,
) {
    let points = u32::from(c).wrapping_sub(0x2800);
    if grid.is_braille() {
        // Points 1, 2, 3 and 7 are on the left, 4, 5, 6 and 8 on the right.
        let set = |bit: u32| points < 256 && points & (1 << bit) != 0;
        for (bit, (across, down)) in
            (0..).zip([(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)])
        {
            let d = grid.direction(2 * column + across, 4 * row + down);
            assert_eq!(set(bit), d.is_some_and(&inside), "{name}: {column} {row} {bit}");
        }
    } else {
        let expected: &[char] = match grid.direction(column, row).map(inside) {
            None => &[' '],
            Some(true) => &['#', '@'],
            Some(false) => &['.', 'o'],
        };
        assert!(expected.contains(&c), "{name}: {column} {row} {c:?}");
    }
}

#[test]
fn the_checker_of_xml_refuses_what_is_none() {
    assert_eq!(well_formed("<a b=\"c\"><d/>e</a>\n"), 2);
    for bad in ["<a>", "<a></b>", "<a b=c/>", "<a>&</a>", "<a/><b/>", "x", "<a b=\"\" b=\"\"/>"] {
        assert!(std::panic::catch_unwind(|| well_formed(bad)).is_err(), "{bad}");
    }
}

pub(crate) fn rig() -> Rig {
    let mut rig = Rig::new(Skeleton::new(), crate::rig::RigJoints::new());
    let mut add = |name: &str, kind, limit| {
        let joint = RigJoint { kind, limit, ..RigJoint::default() };
        rig.joints.insert(name, joint);
    };
    add("Hips", JointKind::Free, Limit::Free);
    add("a <b> & \"c\"\u{7}", JointKind::Fixed, Limit::Locked);
    add("Knee", JointKind::Hinge, Limit::Hinge { axis: DVec3::X, arc: arc(-5.0, 140.0) });
    add("Wheel", JointKind::Hinge, Limit::Hinge { axis: DVec3::X, arc: Arc::FULL });
    add("Pin", JointKind::Hinge, Limit::Hinge { axis: DVec3::X, arc: arc(170.0, 170.0) });
    let arcs = [arc(-20.0, 45.0), arc(-15.0, 12.0)];
    let foot = Limit::Universal { axes: [DVec3::X, DVec3::Z], arcs };
    add("Foot", JointKind::Universal, foot);
    let arcs = [arc(-60.0, 120.0), arc(0.0, 130.0), arc(170.0, 260.0)];
    add("Arm", JointKind::Ball, Limit::EulerBox(EulerBox { order: EulerOrder::ZYZ, arcs }));
    for (name, swing) in zoo() {
        add(name, JointKind::Ball, Limit::SwingTwist(limit_of(swing)));
    }
    let knee = rig.joints.get_mut("Knee").unwrap();
    (knee.source, knee.confidence) = (Some(Source::Preset), Some(0.97));
    rig
}

#[test]
fn every_picture_is_xml_and_the_same_each_time() {
    let rig = rig();
    let sheet = of_rig("rig <1>", &rig).unwrap();
    assert!(well_formed(&sheet) > 1000);
    assert_eq!(sheet, of_rig("rig <1>", &rig).unwrap());
    assert_eq!(sheet.matches("<g role=\"img\"").count(), rig.joints.len());
    for (name, joint) in rig.joints.iter() {
        let svg = of_joint(name, joint).unwrap();
        well_formed(&svg);
        assert!(svg.contains("<title id=") && svg.contains("<desc id="), "{name}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        assert_eq!(svg, of_joint(name, joint).unwrap());
    }
    let empty = Rig::new(Skeleton::new(), crate::rig::RigJoints::new());
    well_formed(&of_rig("", &empty).unwrap());
}

#[test]
fn dials_are_as_many_as_angles_and_say_their_ends() {
    let rig = rig();
    for (name, dials, labels) in [
        ("Hips", 0, &["free"][..]),
        ("Knee", 1, &[">140°<", ">−5°<", "preset", "confidence 0.97"]),
        ("Wheel", 1, &[">0°<"]),
        ("Pin", 1, &[">170°<"]),
        ("Foot", 2, &[">−20°<", ">45°<", ">−15°<", ">12°<"]),
        ("Arm", 3, &["about Z", "about Y", ">−60°<", ">260°<"]),
    ] {
        let svg = of_joint(name, rig.joints.get(name).unwrap()).unwrap();
        assert_eq!(all_of(&svg, "cl-disc", "r").len(), dials, "{name}");
        for label in labels {
            assert!(svg.contains(label), "{name}: {label}\n{svg}");
        }
    }
}

/// B13 and B9: a dial at every point of the lattice that is inside, and one in the legend; each with
/// the range of twist there.
#[test]
fn b13_twist_dials_are_where_the_region_is() {
    for (name, swing) in zoo() {
        let limit = limit_of(swing);
        let prepared = Limit::SwingTwist(limit.clone()).prepare().unwrap();
        let region = prepared.swing().unwrap();
        let points = [View::FRONT, View::BACK].into_iter().flat_map(lattice);
        let inside = points.filter(|d| region.contains(*d)).count().max(1);
        let svg = of_limit(name, &Limit::SwingTwist(limit)).unwrap();
        assert_eq!(all_of(&svg, "cl-twist", "d").len(), inside + 1, "{name}");
        assert_eq!(all_of(&svg, "cl-rim", "d").len(), inside + 1, "{name}");
    }
}

/// B9: the sector of the dial in the middle spans the arc that holds there, x to the right.
#[test]
fn b9_the_dial_in_the_middle_shows_the_twist_at_rest() {
    let at = |direction: DVec3, min, max| TwistAt { direction, arc: arc(min, max) };
    let bounds = TwistBounds::BySwing(vec![
        at(DVec3::Z, -30.0, 90.0),
        at(DVec3::X, -10.0, 10.0),
        at(DVec3::Y, -10.0, 10.0),
        at(-DVec3::X, -10.0, 10.0),
        at(-DVec3::Y, -10.0, 10.0),
    ]);
    let mut limit = limit_of(SwingLimit::Ellipse { rx: deg(20.0), ry: deg(20.0) });
    limit.twist.bounds = bounds;
    let svg = of_limit("dial", &Limit::SwingTwist(limit)).unwrap();
    let sector = &parse(all_of(&svg, "cl-twist", "d")[0])[0];
    let middle = DVec2::new(390.0 - 189.0, 266.0);
    let angle = |p: DVec2| trig::atan2(-(p.y - middle.y), p.x - middle.x).to_degrees();
    let ends = [sector[0], sector[sector.len() - 2]].map(angle);
    // Hundredths of a pixel at 16 pixels.
    assert!((ends[0] + 30.0).abs() < 0.1 && (ends[1] - 90.0).abs() < 0.1, "{ends:?}");
}

/// An offset turns the line of zero twist, and the range with it.
#[test]
fn dials_show_where_zero_twist_is() {
    let line = |offset: TwistOffset| {
        let mut limit = limit_of(SwingLimit::Ellipse { rx: deg(20.0), ry: deg(20.0) });
        limit.twist.offset = offset;
        let svg = of_limit("dial", &Limit::SwingTwist(limit)).unwrap();
        let points = |data: &str| parse(&format!("{data}Z")).remove(0);
        let line = points(all_of(&svg, "cl-zero", "d")[0]);
        let sector = parse(all_of(&svg, "cl-twist", "d")[0]).remove(0);
        let angle = |p: DVec2| trig::atan2(-p.y, p.x).to_degrees();
        [angle(line[1] - line[0]), angle(sector[0] - line[0])]
    };
    let near = |[a, b]: [f64; 2], [c, d]: [f64; 2]| (a - c).abs() < 0.1 && (b - d).abs() < 0.1;
    assert!(near(line(TwistOffset::None), [0.0, -40.0]));
    let around = [DVec3::X, DVec3::Y, -DVec3::X, -DVec3::Y, DVec3::Z];
    let thirty = around.map(|d| (d, deg(30.0))).to_vec();
    let got = line(TwistOffset::BySwing(thirty));
    assert!(near(got, [30.0, -10.0]), "{got:?}");
}

#[test]
fn figures_are_those_of_brute_force() {
    let mut rng = Rng::new(11);
    for (name, swing) in zoo() {
        let limit = limit_of(swing);
        let prepared = Limit::SwingTwist(limit.clone()).prepare().unwrap();
        let region = prepared.swing().unwrap();
        let figures = Figures::of(&Limit::SwingTwist(limit.clone()), Rotation::IDENTITY).unwrap();
        let swing = figures.swing.unwrap();
        let mut inside = 0;
        let mut extent = [f64::INFINITY, f64::NEG_INFINITY];
        const COUNT: u32 = 20_000;
        for _ in 0..COUNT {
            let d = rng.direction();
            if region.contains(d) {
                inside += 1;
                let [x, _] = crate::math::SwingKind::AxisAngle.coordinates(&limit.axes, d).unwrap();
                extent = [extent[0].min(x.degrees()), extent[1].max(x.degrees())];
            }
        }
        // Four standard deviations of a share of 20,000 draws.
        let share = f64::from(inside) / f64::from(COUNT);
        assert!((share - swing.share()).abs() < 0.015, "{name}: {share} {}", swing.share());
        // A boundary through −bone has swings of half a turn about every axis, and few of them.
        let singular = region.distance(-DVec3::Z).unwrap().radians().abs() < 0.01;
        for (got, seen) in swing.x.map(Angle::degrees).into_iter().zip(extent) {
            assert!(singular || (got - seen).abs() < 6.0, "{name}: {got} {seen}");
        }
        assert!(swing.x[0].degrees() <= extent[0] + 0.01, "{name}");
        assert!(swing.x[1].degrees() >= extent[1] - 0.01, "{name}");
        assert_eq!(swing.twist.min().radians(), arc(-40.0, 70.0).min().radians(), "{name}");
        assert!((swing.twist.width().degrees() - 110.0).abs() < 1e-9, "{name}");
        assert_eq!(figures.rest_inside, region.contains(DVec3::Z), "{name}");
    }
    let hinge = Limit::Hinge { axis: DVec3::X, arc: arc(10.0, 20.0) };
    let figures = Figures::of(&hinge, Rotation::IDENTITY).unwrap();
    assert!(!figures.rest_inside && (figures.rest_excess.degrees() - 10.0).abs() < 1e-9);
    // With its zero turned, rest is at another angle.
    let figures = Figures::of(&hinge, Rotation::about_x(deg(-15.0))).unwrap();
    assert!(figures.rest_inside && figures.rest_excess == Angle::ZERO);
}

#[test]
fn a_limit_that_makes_no_sense_is_told_with_its_joint() {
    let mut rig = Rig::new(Skeleton::new(), crate::rig::RigJoints::new());
    let flat = SwingLimit::Polygons(vec![vec![DVec3::X, unit(-DVec3::X).unwrap(), DVec3::Y]]);
    let joint = RigJoint::new(JointKind::Ball, Limit::SwingTwist(limit_of(flat)));
    rig.joints.insert("Bad", joint);
    let error = of_rig("rig", &rig).unwrap_err();
    assert!(error.to_string().contains("joints.Bad.limit"), "{error}");
}
