//! The judge is the prepared limit for what is inside, and the regions of `synth` for what should be.

use super::*;
use crate::limits::SwingLimit;
use crate::limits::{Limit, PreparedLimit, SwingTwistLimit};
use crate::math::{Angle, Arc, Rotation, angle_between, unit};
use crate::synth::{
    Coordinates, Figure, JointTruth, Options, RegionShape, Rng, SwingRegion, Synth,
};

impl Boundary {
    /// The limit that allows what is inside; `None` for nothing.
    pub(crate) fn limit(self) -> Option<SwingLimit> {
        match self {
            Self::Nothing => None,
            Self::Everything => Some(SwingLimit::Free),
            Self::Polygon { corners, .. } => Some(SwingLimit::Polygons(vec![corners])),
        }
    }
}

pub(super) fn deg(d: f64) -> Angle {
    Angle::from_degrees(d)
}

fn boundary(directions: &[DVec3], options: &BoundaryOptions) -> Boundary {
    super::boundary(&Samples::new(directions), options)
}

/// Every shape, small and larger than a hemisphere, in any direction.
pub(in crate::estimate) fn regions(seed: u64) -> Vec<(&'static str, SwingRegion)> {
    let mut rng = Rng::new(seed);
    [
        ("cone 20", RegionShape::Cone { half_angle: deg(20.0) }),
        ("cone 60", RegionShape::Cone { half_angle: deg(60.0) }),
        ("cone 125", RegionShape::Cone { half_angle: deg(125.0) }),
        ("ellipse 70 25", RegionShape::Ellipse { along: deg(70.0), across: deg(25.0) }),
        ("ellipse 50 110", RegionShape::Ellipse { along: deg(50.0), across: deg(110.0) }),
        (
            "kidney 50 150 20",
            RegionShape::Kidney { radius: deg(50.0), extent: deg(150.0), half_width: deg(20.0) },
        ),
        (
            "kidney 85 270 38",
            RegionShape::Kidney { radius: deg(85.0), extent: deg(270.0), half_width: deg(38.0) },
        ),
        (
            "kidney 120 90 30",
            RegionShape::Kidney { radius: deg(120.0), extent: deg(90.0), half_width: deg(30.0) },
        ),
        (
            "notched 60 20 100",
            RegionShape::Notched { half_angle: deg(60.0), inner: deg(20.0), notch: deg(100.0) },
        ),
        (
            "notched 110 60 120",
            RegionShape::Notched { half_angle: deg(110.0), inner: deg(60.0), notch: deg(120.0) },
        ),
    ]
    .into_iter()
    .map(|(name, shape)| {
        let region = SwingRegion::new(shape, rng.direction(), rng.direction()).unwrap();
        (name, region)
    })
    .collect()
}

/// Uniform over the region.
pub(in crate::estimate) fn scattered(
    region: &SwingRegion,
    count: usize,
    rng: &mut Rng,
) -> Vec<DVec3> {
    (0..count)
        .map(|_| {
            loop {
                let d = rng.direction();
                if region.contains(d) {
                    return d;
                }
            }
        })
        .collect()
}

/// Along the path of a ball joint that explores the region fully.
pub(in crate::estimate) fn explored(region: &SwingRegion, count: usize, seed: u64) -> Vec<DVec3> {
    let bone = region.center();
    let twist = Arc::from_degrees(-30.0, 40.0).unwrap();
    let truth = JointTruth::ball(bone, *region, twist, Rotation::IDENTITY).unwrap();
    let human = Figure::human();
    let joint = human.skeleton().indices().nth(1).unwrap();
    let mut all = human.truth().to_vec();
    all[joint.get()] = truth;
    let figure = Figure::new(human.skeleton().clone(), all).unwrap();
    let options = Options { frames: count, ..Options::default() };
    let synth = Synth::generate(&figure, &options, seed).unwrap();
    synth.coordinates[joint.get()]
        .iter()
        .map(|c| match c {
            Coordinates::Ball { direction, .. } => *direction,
            _ => panic!("a ball"),
        })
        .collect()
}

pub(in crate::estimate) fn shaken(directions: &[DVec3], noise: f64, rng: &mut Rng) -> Vec<DVec3> {
    let shake = |d: &DVec3| {
        let x = d.any_orthonormal_vector();
        let y = d.cross(x);
        let (a, b) = (rng.normal() * noise, rng.normal() * noise);
        unit(*d + x * a + y * b).unwrap()
    };
    directions.iter().map(shake).collect()
}

pub(super) fn prepared(boundary: &Boundary) -> PreparedLimit {
    let swing = boundary.clone().limit().unwrap();
    let limit = Limit::SwingTwist(SwingTwistLimit { swing, ..SwingTwistLimit::default() });
    match limit.prepare() {
        Ok(limit) => limit,
        Err(error) => panic!("{error}: {boundary:?}"),
    }
}

/// Intersection over union of two regions by random directions.
pub(in crate::estimate) fn overlap(
    a: impl Fn(DVec3) -> bool,
    b: impl Fn(DVec3) -> bool,
    rng: &mut Rng,
    count: usize,
) -> f64 {
    let (mut both, mut any) = (0_u32, 0_u32);
    for _ in 0..count {
        let d = rng.direction();
        let (a, b) = (a(d), b(d));
        both += u32::from(a && b);
        any += u32::from(a || b);
    }
    f64::from(both) / f64::from(any)
}

/// How far outside the worst sample is.
pub(super) fn worst(limit: &PreparedLimit, directions: &[DVec3]) -> f64 {
    let swing = limit.swing().unwrap();
    directions
        .iter()
        .filter_map(|d| swing.distance(*d))
        .fold(f64::INFINITY, |worst, distance| worst.min(distance.radians()))
}

/// The overlaps with truth of each shape, by its name.
fn overlaps(noise: f64, count: usize, path: bool, seeds: u64) -> Vec<(&'static str, Vec<f64>)> {
    let mut names: Vec<(&str, Vec<f64>)> = Vec::new();
    let noise = noise.to_radians();
    for seed in 0..seeds {
        for (name, region) in regions(seed) {
            let mut rng = Rng::new(seed * 100 + 7);
            let clean = if path {
                explored(&region, count, seed)
            } else {
                scattered(&region, count, &mut rng)
            };
            let d = shaken(&clean, noise, &mut rng);
            let found = boundary(&d, &BoundaryOptions { noise, ..BoundaryOptions::default() });
            let limit = check(&found, &d, CORNERS);
            let swing = limit.swing().unwrap();
            let n = 40_000;
            let overlap = overlap(|d| swing.contains(d), |d| region.contains(d), &mut rng, n);
            match names.iter_mut().find(|(n, _)| *n == name) {
                Some((_, all)) => all.push(overlap),
                None => names.push((name, vec![overlap])),
            }
        }
    }
    for (_, all) in &mut names {
        all.sort_by(f64::total_cmp);
    }
    names
}

/// The prepared limit, which takes it; every sample is inside, and there are not too many corners.
#[track_caller]
fn check(found: &Boundary, directions: &[DVec3], corners: usize) -> PreparedLimit {
    let limit = prepared(found);
    let worst = worst(&limit, directions);
    assert!(worst >= -1e-12, "{worst}: {found:?}");
    if let Boundary::Polygon { corners: polygon, .. } = found {
        assert!(polygon.len() <= corners.max(4), "{} corners", polygon.len());
        for (i, a) in polygon.iter().enumerate() {
            for b in &polygon[..i] {
                assert!((*a - *b).length() > 1e-6, "{found:?}");
            }
        }
    }
    limit
}

fn median_of(names: &[(&str, Vec<f64>)]) -> [f64; 2] {
    let mut all: Vec<f64> = names.iter().flat_map(|(_, all)| all.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    [all[all.len() / 2], all[0]]
}

#[test]
fn regions_are_found_again_b5() {
    for (noise, bar) in [(0.0, 0.95), (0.3, 0.95), (1.0, 0.9)] {
        for path in [false, true] {
            let [median, _] = median_of(&overlaps(noise, 2000, path, 2));
            assert!(median > bar, "noise {noise}, path {path}: {median}");
        }
    }
}

#[test]
fn order_and_repetition_change_no_bit() {
    for (name, region) in regions(3) {
        for count in [1, 2, 7, 100, 3000] {
            let mut rng = Rng::new(9);
            let mut d = scattered(&region, count, &mut rng);
            let before = boundary(&d, &BoundaryOptions::default());
            d.extend_from_within(..count.div_ceil(3));
            d.push(DVec3::NAN);
            d.push(DVec3::new(f64::INFINITY, 0.0, 0.0));
            d.push(DVec3::ZERO);
            rng.shuffle(&mut d);
            assert_eq!(boundary(&d, &BoundaryOptions::default()), before, "{name} {count}");
        }
    }
}

/// How far the boundaries of two limits are apart at most (Hausdorff), degrees. The first is turned or
/// mirrored to compare it, the second back.
fn apart(
    [one, two]: [&PreparedLimit; 2],
    over: impl Fn(DVec3) -> DVec3,
    back: impl Fn(DVec3) -> DVec3,
) -> f64 {
    let (one, two) = (one.swing().unwrap(), two.swing().unwrap());
    let (of_one, of_two) = (one.boundary(deg(0.5)), two.boundary(deg(0.5)));
    let there = of_one.iter().flatten().map(|d| two.distance(over(*d)));
    let here = of_two.iter().flatten().map(|d| one.distance(back(*d)));
    there.chain(here).fold(0.0, |most, d| most.max(d.unwrap().degrees().abs()))
}

#[test]
fn turned_and_mirrored_samples_have_the_same_boundary() {
    let mut most = [0.0_f64; 4];
    for seed in 0..3 {
        for (name, region) in regions(seed) {
            let mut rng = Rng::new(seed + 70);
            let turn = rng.rotation();
            for (path, count) in [(false, 600), (false, 3000), (true, 600), (true, 3000)] {
                let d = if path {
                    shaken(&explored(&region, count, seed), 0.005, &mut rng)
                } else {
                    scattered(&region, count, &mut rng)
                };
                let limit = check(&boundary(&d, &BoundaryOptions::default()), &d, CORNERS);
                for way in [0, 1] {
                    let mirrored = |d: DVec3| DVec3::new(d.x, -d.y, d.z);
                    let over = |d: DVec3| if way == 0 { turn * d } else { mirrored(d) };
                    let back = |d: DVec3| if way == 0 { turn.inverse() * d } else { mirrored(d) };
                    let other: Vec<DVec3> = d.iter().map(|d| over(*d)).collect();
                    let found = boundary(&other, &BoundaryOptions::default());
                    let off = apart([&limit, &check(&found, &other, CORNERS)], over, back);
                    let most = &mut most[2 * usize::from(path) + way];
                    *most = most.max(off);
                    // A cap that is a little larger or smaller may or may not enter between samples.
                    if way == 1 || path || count > 1000 {
                        assert!(off <= 0.5, "{name} {seed}, path {path} {count}, {way}: {off}");
                    }
                }
            }
        }
    }
    println!("apart, degrees: turned {:?}, mirrored {:?}", [most[0], most[2]], [most[1], most[3]]);
}

/// Paths without noise run along the same arcs again and again.
#[test]
fn rounding_moves_no_boundary_beyond_the_tolerance() {
    let mut most = 0.0_f64;
    for seed in 0..3 {
        for (name, region) in regions(seed) {
            for count in [300, 2000] {
                let d = explored(&region, count, seed);
                let limit = check(&boundary(&d, &BoundaryOptions::default()), &d, CORNERS);
                for by in [1e-15, -1e-14] {
                    let over = |d: DVec3| DVec3::new(d.x * (1.0 + by), d.y, d.z);
                    let other: Vec<DVec3> = d.iter().map(|d| over(*d)).collect();
                    let found = boundary(&other, &BoundaryOptions::default());
                    let off = apart([&limit, &check(&found, &other, CORNERS)], |d| d, |d| d);
                    most = most.max(off);
                    assert!(off <= 1.05 * TOLERANCE.to_degrees(), "{name} {seed} {count}: {off}");
                }
            }
        }
    }
    println!("apart, degrees: {most}");
}

#[test]
fn corners_are_saved_within_the_tolerance_of_the_walk() {
    for seed in 0..3 {
        for (name, region) in regions(seed) {
            let mut rng = Rng::new(seed);
            let d = shaken(&explored(&region, 1500, seed), 0.005, &mut rng);
            let samples = Samples::new(&d);
            let (reach, (empty, _)) = (samples.reach(region.solid_angle()), samples.emptiest());
            let walked = Walk::new(&samples.thinned(reach), reach).around(empty).unwrap();
            let whole = outline(&walked, LEAST_HALF_WIDTH);
            for corners in [1000, 12] {
                let scale = Scale { reach, half_width: LEAST_HALF_WIDTH, corners, empty };
                let fewer = simplified(&whole, &scale);
                let limits = [&whole, &fewer]
                    .map(|p| prepared(&Boundary::Polygon { corners: p.clone(), middle: -empty }));
                let off = apart([&limits[0], &limits[1]], |d| d, |d| d);
                assert!(worst(&limits[1], &whole) >= -1e-12, "{name} {seed}");
                if corners == 12 {
                    assert!(fewer.len() <= 12, "{name} {seed}: {}", fewer.len());
                } else {
                    // Half of them are saved, or nearly; distances along chords are a little shorter.
                    assert!(10 * fewer.len() < 6 * whole.len(), "{name} {seed}: {}", fewer.len());
                    assert!(off <= 1.001 * TOLERANCE.to_degrees(), "{name} {seed}: {off}");
                }
            }
        }
    }
}

#[test]
fn few_samples_have_a_small_polygon() {
    let mut rng = Rng::new(1);
    for _ in 0..300 {
        let (a, b) = (rng.direction(), rng.direction());
        let options = BoundaryOptions { noise: 0.01, ..BoundaryOptions::default() };
        for d in [vec![a], vec![a; 5]] {
            let limit = check(&boundary(&d, &options), &d, CORNERS);
            let area = limit.swing().unwrap().area();
            assert!(area > PI * 0.8 * 1e-4 && area < PI * 1.5e-4, "{area}");
        }
        for d in [vec![a, b], vec![a, -a], vec![a, b, -a], vec![DVec3::X, DVec3::Y, DVec3::Z]] {
            check(&boundary(&d, &options), &d, CORNERS);
        }
    }
    assert_eq!(boundary(&[], &BoundaryOptions::default()), Boundary::Nothing);
    assert_eq!(boundary(&[DVec3::NAN], &BoundaryOptions::default()), Boundary::Nothing);
}

#[test]
fn samples_along_an_arc_have_a_thin_band() {
    let mut rng = Rng::new(2);
    for round in 0..100 {
        let (a, count) = (rng.direction(), 20 + rng.below(200));
        let b = rng.perpendicular(a);
        let length = rng.between(0.3, if round % 2 == 0 { 2.9 } else { 5.5 });
        let wobble = [0.0, 1e-15, 1e-10, 1e-6, 1e-4][round % 5];
        let d: Vec<DVec3> = (0..count)
            .map(|i| {
                let (s, c) = trig::sin_cos(length * real(i) / real(count));
                unit(a * c + b * s + a.cross(b) * (wobble * rng.normal())).unwrap()
            })
            .collect();
        let limit = check(&boundary(&d, &BoundaryOptions::default()), &d, CORNERS);
        let area = limit.swing().unwrap().area();
        let band = length * 2.0 * LEAST_HALF_WIDTH;
        assert!(area > 0.5 * band && area < 3.0 * band, "{length} {count} {wobble}: {area} {band}");
    }
}

#[test]
fn what_is_all_over_is_everything() {
    let mut rng = Rng::new(3);
    for count in [200, 2000, 50_000] {
        let d: Vec<DVec3> = (0..count).map(|_| rng.direction()).collect();
        assert_eq!(boundary(&d, &BoundaryOptions::default()), Boundary::Everything);
    }
}

#[test]
fn paths_around_a_region_mean_its_inside_too() {
    for seed in 0..4 {
        for (name, region) in regions(seed) {
            let d = region.boundary(600);
            let found = boundary(&d, &BoundaryOptions::default());
            let limit = check(&found, &d, CORNERS);
            // The other side of a large region is the inside of its boundary.
            let inside = region.solid_angle() < 2.0 * PI;
            let area = limit.swing().unwrap().area();
            if inside {
                let ratio = area / region.solid_angle();
                assert!((ratio - 1.0).abs() < 0.05, "{name}: {ratio}");
            }
        }
    }
}

#[test]
fn clusters_become_one() {
    let mut rng = Rng::new(4);
    for _ in 0..100 {
        let centres: Vec<DVec3> = (0..2 + rng.below(3)).map(|_| rng.direction()).collect();
        let d: Vec<DVec3> = (0..200)
            .map(|i| unit(centres[i % centres.len()] + rng.direction() * 0.03).unwrap())
            .collect();
        check(&boundary(&d, &BoundaryOptions::default()), &d, CORNERS);
    }
}

/// Anything at all: on axes, in lattices, in heaps a few ulps wide, opposite to each other.
#[test]
fn every_sample_is_inside_whatever_they_are() {
    arbtest::arbtest(|u| {
        let mut d = Vec::new();
        for _ in 0..u.int_in_range(0..=60)? {
            let x = crate::math::arbitrary::direction(u).unwrap_or(DVec3::X);
            match u.int_in_range(0..=4)? {
                0 => d.push(DVec3::new(x.x, f64::NAN, x.z)),
                1 => d.push(x * 1e-3),
                2 => {
                    let step = [1e-16, 1e-12, 1e-8, 1e-6, 1e-3, 0.1][u.int_in_range(0..=5)?];
                    let y = x.any_orthonormal_vector();
                    for i in 0..u.int_in_range(1..=8)? {
                        d.push(unit(x + y * (step * f64::from(i))).unwrap());
                    }
                }
                _ => d.push(x),
            }
        }
        let options = BoundaryOptions {
            corners: [0, 5, 24, 1000][u.int_in_range(0..=3)?],
            reach: [None, Some(0.0), Some(0.3), Some(9.0), Some(f64::NAN)]
                [u.int_in_range(0..=4)?],
            noise: [0.0, 0.01, f64::NAN, 2.0][u.int_in_range(0..=3)?],
        };
        let found = boundary(&d, &options);
        if found != Boundary::Nothing {
            check(&found, &d, options.corners);
        }
        Ok(())
    })
    .budget_ms(2000);
}

/// Many points on the rim of one cap, whichever way it is turned.
#[test]
fn lattices_have_their_outline() {
    let mut rng = Rng::new(8);
    for half in [5, 10, 20] {
        let side = -half..=half;
        let square = side.clone().flat_map(|i| side.clone().map(move |j| (i, j)));
        let d: Vec<DVec3> = square
            .map(|(i, j)| {
                unit(DVec3::new(f64::from(i), f64::from(j), 2.0 * f64::from(half))).unwrap()
            })
            .collect();
        let limit = check(&boundary(&d, &BoundaryOptions::default()), &d, CORNERS);
        let swing = limit.swing().unwrap();
        let truth = |d: DVec3| d.z > 0.0 && d.x.abs() <= 0.5 * d.z && d.y.abs() <= 0.5 * d.z;
        let overlap = overlap(|d| swing.contains(d), truth, &mut rng, 100_000);
        assert!(overlap > 0.99, "{half}: {overlap}");
    }
}

/// By trying very many, and turned.
#[test]
fn b7_the_emptiest_direction_is_farthest_from_all_and_turns_with_them() {
    let (mut worse, mut turned) = (0.0_f64, 0.0_f64);
    let mut beyond = 0;
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let (hole, lobe) = (rng.direction(), rng.direction());
        let radius = rng.between(0.4, 1.7);
        let count = [40, 300, 2500][rng.below(3)];
        let directions: Vec<DVec3> = (0..20 * count)
            .map(|_| rng.direction())
            .filter(|d| d.dot(hole) < trig::cos(radius) && d.dot(lobe) > -0.7)
            .take(count)
            .collect();
        let (found, clear) = Samples::new(&directions).emptiest();
        let mean = unit(directions.iter().sum()).unwrap();
        if directions.iter().all(|d| d.dot(mean) > 0.0) {
            continue;
        }
        beyond += 1;
        let nearest = |d: DVec3| directions.iter().fold(-1.0_f64, |most, s| most.max(s.dot(d)));
        assert!((trig::acos(nearest(found)) - clear).abs() < 1e-9);
        let lattice = (0..20_000).map(|_| nearest(rng.direction())).fold(1.0, f64::min);
        worse = worse.max(trig::acos(lattice) - clear);
        let q = rng.rotation();
        let other = directions.iter().map(|d| q * *d).collect::<Vec<_>>();
        let there = Samples::new(&other).emptiest().0;
        turned = turned.max(angle_between(q * found, there).degrees());
    }
    println!("{beyond} beyond a half: worse by {worse:.1e} rad, turned {turned:.1e} deg");
    assert!(beyond > 20 && worse <= 0.0 && turned < 1e-6, "{beyond} {worse} {turned}");
}

/// By counting directions, against the formula.
#[test]
fn the_centre_of_mass_is_the_mean_of_what_is_inside() {
    let mut rng = Rng::new(5);
    let square = [(1.0, 1.0), (-1.0, 1.0), (-0.2, 0.1), (-1.0, -1.0), (1.0, -1.0)];
    let q = rng.rotation();
    let corners: Vec<DVec3> =
        square.iter().map(|(x, y)| (q * DVec3::new(*x, *y, 0.3)).normalize()).collect();
    for corners in [corners.clone(), corners.into_iter().rev().collect()] {
        let limit = prepared(&Boundary::Polygon { corners: corners.clone(), middle: DVec3::Z });
        let swing = limit.swing().unwrap();
        // On a spiral by the golden angle.
        const COUNT: u32 = 100_000;
        let lattice = (0..COUNT).map(|i| {
            let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(COUNT);
            let (sin, cos) = trig::sin_cos(2.399_963_229_728_653 * f64::from(i));
            let across = (1.0 - z * z).sqrt();
            DVec3::new(across * cos, across * sin, z)
        });
        let inside: DVec3 = lattice.filter(|d| swing.contains(*d)).sum();
        let counted = inside * (4.0 * PI / f64::from(COUNT));
        let found = centre_of_mass(&corners);
        assert!((counted - found).length() < 2e-3, "{counted} {found}");
    }
}
