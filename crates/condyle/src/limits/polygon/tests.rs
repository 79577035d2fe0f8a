#![allow(clippy::cast_possible_truncation, reason = "numbers of steps and turns are small")]

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use arbtest::arbtest;
use glam::{DQuat, DVec3};
use s2::edge_crossings::{Crossing, EdgeCrosser};
use s2::point::Point;

use super::*;
use crate::math::{angle_between, arbitrary, trig, unit};

/// How far the nearest point is, in `[0, π]`.
fn angle_to(nearest: &Nearest, d: DVec3) -> f64 {
    let half = |square: f64| trig::asin((0.5 * square.sqrt()).min(1.0));
    if nearest.chord_squared <= 2.0 || !d.is_finite() {
        2.0 * half(nearest.chord_squared)
    } else {
        PI - 2.0 * half((d + nearest.point).length_squared())
    }
}

/// `splitmix64`.
struct Random(u64);

impl Random {
    /// In [-1, 1].
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn direction(&mut self) -> DVec3 {
        loop {
            let v = DVec3::new(self.number(), self.number(), self.number());
            if v.length() < 1.0 && v.length() > 0.01 {
                return v.normalize();
            }
        }
    }

    /// Anywhere, or near to the boundary at some distance between 1e-12 and 1.
    fn query(&mut self, polygon: &Polygon) -> DVec3 {
        if self.number() < 0.0 {
            return self.direction();
        }
        let count = polygon.corners().len();
        let i = ((self.number() + 1.0) * 0.5 * count as f64) as usize % count;
        let t = 0.5 * (self.number() + 1.0);
        let on = polygon.corners()[i].lerp(polygon.corners()[(i + 1) % count], t);
        let mut scale = 1.0;
        for _ in 0..(6.0 * (self.number() + 1.0)) as usize {
            scale *= 0.1;
        }
        (on.normalize() + scale * self.direction()).normalize()
    }
}

fn at(longitude: f64, latitude: f64) -> DVec3 {
    let ((sin, cos), (z, r)) = (trig::sin_cos(longitude), trig::sin_cos(latitude));
    DVec3::new(r * cos, r * sin, z)
}

/// Around z: each corner an angle from it.
fn around(radii: impl ExactSizeIterator<Item = f64>) -> Vec<DVec3> {
    let count = radii.len() as f64;
    radii.enumerate().map(|(i, r)| at(TAU * i as f64 / count, FRAC_PI_2 - r)).collect()
}

fn wobbly(count: usize, seed: u64) -> Vec<DVec3> {
    let mut random = Random(seed);
    around((0..count).map(|_| 0.9 + 0.3 * random.number()))
}

/// Teeth that point north, on a spine along a parallel.
fn comb(teeth: usize) -> Vec<DVec3> {
    let width = 1.5 / teeth as f64;
    let mut corners = vec![at(0.0, -0.6), at(1.5 - 0.5 * width, -0.6)];
    for tooth in (0..teeth).rev() {
        let west = width * tooth as f64;
        let east = west + 0.5 * width;
        corners.extend([at(east, -0.4), at(east, 0.7), at(west, 0.7), at(west, -0.4)]);
    }
    corners
}

/// A band that winds around z.
fn spiral(turns: usize, per_turn: usize) -> Vec<DVec3> {
    let pitch = 1.4 / (turns as f64 + 1.0);
    let corner = |i: usize, inwards: f64| {
        let turn = i as f64 / per_turn as f64;
        at(TAU * turn, FRAC_PI_2 - pitch * (1.0 + turn - inwards))
    };
    let count = turns * per_turn;
    (0..=count).map(|i| corner(i, 0.0)).chain((0..=count).rev().map(|i| corner(i, 0.5))).collect()
}

struct Fixture {
    name: String,
    corners: Vec<DVec3>,
    /// A direction inside.
    inside: DVec3,
}

/// Every shape, turned somewhere; and each again walked the other way around.
fn zoo() -> Vec<Fixture> {
    let tiny = [1e-7, 2e-7, 0.5e-7, 1.5e-7, 1e-7].map(|r| 3.0 * r);
    let smallest = [3e-9; 5];
    let thin = vec![at(-0.5, 0.0), at(0.5, 0.0), at(0.5, 1e-7), at(0.0, 2e-7), at(-0.5, 1e-7)];
    let wide = around([1.0, 2.9, 1.0, 2.9, 1.0, 2.9, 1.0, 2.9, 1.0, 2.9].into_iter());
    let middle_of_band = at(0.05, FRAC_PI_2 - 1.4 / 7.0 * 0.75);
    let shapes = [
        ("octant", vec![DVec3::X, DVec3::Y, DVec3::Z], DVec3::ONE),
        ("quadrangle", around([0.7; 4].into_iter()), DVec3::Z),
        ("hemisphere", around([FRAC_PI_2; 3].into_iter()), DVec3::Z),
        ("concave", around([0.2, 1.2, 0.2, 1.0, 0.3, 1.4].into_iter()), DVec3::Z),
        ("beyond a hemisphere", around([2.3; 5].into_iter()), DVec3::Z),
        ("star beyond a hemisphere", wide, DVec3::Z),
        ("tiny", around(tiny.into_iter()), DVec3::Z),
        ("smallest", around(smallest.into_iter()), DVec3::Z),
        ("thin", thin, at(0.0, 1e-7)),
        ("wobbly 20", wobbly(20, 1), DVec3::Z),
        ("wobbly 200", wobbly(200, 2), DVec3::Z),
        ("comb", comb(20), at(0.7, -0.5)),
        ("spiral", spiral(6, 12), middle_of_band),
    ];
    let mut zoo = Vec::new();
    let mut random = Random(9);
    for (name, corners, inside) in shapes {
        // The first shape stays, with its corners on the axes.
        let turn = match name {
            "octant" => DQuat::IDENTITY,
            _ => {
                let [x, y, z, w] = [(); 4].map(|()| random.number());
                DQuat::from_xyzw(x, y, z, w).normalize()
            }
        };
        let corners: Vec<DVec3> = corners.iter().map(|&c| unit(turn * c).unwrap()).collect();
        let inside = unit(turn * inside).unwrap();
        let reversed = corners.iter().rev().copied().collect();
        // Opposite to its inside, the reversed of these shapes is inside; but not of the large ones.
        let outside =
            if name.contains("star beyond") { unit(turn * DVec3::NEG_Z).unwrap() } else { -inside };
        zoo.push(Fixture { name: name.to_owned(), corners, inside });
        zoo.push(Fixture { name: format!("{name}, reversed"), corners: reversed, inside: outside });
    }
    zoo
}

/// The boundary's turns around the axis through `d`, by a sum of angles: +1 if `d` is inside and
/// `−d` is not, −1 the other way, 0 if both or none are.
fn turns(corners: &[DVec3], d: DVec3) -> i32 {
    let mut sum = 0.0;
    for (i, a) in corners.iter().enumerate() {
        let b = corners[(i + 1) % corners.len()];
        let [a, b] = [*a, b].map(|c| c - d * d.dot(c));
        sum += trig::atan2(d.dot(a.cross(b)), a.dot(b));
    }
    (sum / TAU).round() as i32
}

/// Whether `d` is inside, by the triangles that `from` makes with each edge, left or right: their
/// sum is the polygon, up to whole spheres, and none holds `−from`. `None` if the fan itself is too
/// near to tell.
fn by_triangles(polygon: &Polygon, from: DVec3, d: DVec3) -> Option<bool> {
    let mut sum = i32::from(polygon.contains(-from));
    for (a, b) in polygon.edges().iter() {
        let n = from.cross(a);
        if n.dot(d).abs() <= 1e-12 || n.length() < 1e-3 {
            return None;
        }
        let volume = |n: DVec3| n.dot(d) > 0.0;
        let arc = if a.dot(b) > 0.0 { a.cross(b - a) } else { a.cross(b + a) };
        let sides = [volume(n), volume(arc), volume(b.cross(from))];
        if sides == [arc.dot(from) > 0.0; 3] {
            sum += if sides[0] { 1 } else { -1 };
        }
    }
    assert!(sum == 0 || sum == 1, "{sum}");
    Some(sum == 1)
}

/// Farther from the boundary than the judges need.
fn clear(polygon: &Polygon, d: DVec3) -> bool {
    polygon.nearest(d).chord_squared > 1e-26
}

#[test]
fn b5_contains_agrees_with_sums_of_angles() {
    let mut random = Random(1);
    let mut judged = 0;
    for Fixture { name, corners, inside } in zoo() {
        let polygon = Polygon::new(&corners).expect(&name);
        assert!(polygon.contains(inside), "{name}");
        for _ in 0..100_000 / 20 {
            let d = random.query(&polygon);
            if clear(&polygon, d) && clear(&polygon, -d) {
                let found = i32::from(polygon.contains(d)) - i32::from(polygon.contains(-d));
                assert_eq!(found, turns(&corners, d), "{name} {d:?}");
                judged += 1;
            }
        }
    }
    assert!(judged > 100_000, "{judged}");
}

#[test]
fn b5_contains_agrees_with_a_fan_of_triangles() {
    let mut random = Random(2);
    for Fixture { name, corners, .. } in zoo() {
        let polygon = Polygon::new(&corners).expect(&name);
        for _ in 0..5000 {
            let (d, from) = (random.query(&polygon), random.direction());
            if clear(&polygon, d)
                && clear(&polygon, -from)
                && let Some(judged) = by_triangles(&polygon, from, d)
            {
                assert_eq!(polygon.contains(d), judged, "{name} {d:?}");
            }
        }
    }
}

#[test]
fn b5_contains_agrees_with_s2() {
    let mut random = Random(3);
    let point = |v: DVec3| Point::from_coords(v.x, v.y, v.z);
    let mut judged = 0;
    for Fixture { name, corners, inside } in zoo() {
        let polygon = Polygon::new(&corners).expect(&name);
        let points: Vec<Point> = corners.iter().map(|&c| point(c)).collect();
        let from = point(inside);
        let mut here = 0;
        while here < 40_000 {
            let d = random.query(&polygon);
            if polygon.nearest(d).chord_squared < 1e-24 || (d + inside).length() < 1e-6 {
                continue;
            }
            let to = point(d);
            let mut crosser = EdgeCrosser::new_with_c(&from, &to, &points[points.len() - 1]);
            let crossed =
                points.iter().filter(|p| crosser.chain_crossing_sign(p) == Crossing::Cross).count();
            assert_eq!(polygon.contains(d), crossed % 2 == 0, "{name} {d:?}");
            here += 1;
        }
        judged += here;
    }
    assert!(judged > 1_000_000, "{judged}");
}

#[test]
fn counting_crossings_agrees_with_the_side_of_the_nearest_point() {
    let mut random = Random(11);
    for Fixture { name, corners, .. } in zoo() {
        let polygon = Polygon::new(&corners).expect(&name);
        for _ in 0..20_000 {
            let d = random.query(&polygon);
            if clear(&polygon, d) {
                assert_eq!(polygon.contains(d), polygon.contains_by_nearest(d), "{name} {d:?}");
            }
        }
    }
}

#[test]
fn the_boundary_is_inside() {
    for Fixture { name, corners, .. } in zoo() {
        let polygon = Polygon::new(&corners).expect(&name);
        for (i, &a) in polygon.corners().iter().enumerate() {
            let b = polygon.corners()[(i + 1) % corners.len()];
            assert!(polygon.contains(a), "{name}, corner {i}");
            for t in [0.5, 0.1, 0.9, 1e-3, 0.123] {
                assert!(polygon.contains(a.lerp(b, t).normalize()), "{name}, edge {i} at {t}");
            }
        }
    }
}

#[test]
fn what_is_on_an_edge_is_near_its_nearest_point() {
    let mut random = Random(12);
    let (mut on, mut asked) = (0, 0);
    for Fixture { name, corners, .. } in zoo() {
        let polygon = Polygon::new(&corners).expect(&name);
        for (i, &a) in polygon.corners().iter().enumerate() {
            let b = polygon.corners()[(i + 1) % corners.len()];
            let along = a.lerp(b, 0.5 + 0.5 * random.number()).normalize();
            for off in [0.0, 1e-15, 1e-14, 1e-13, 1e-9] {
                let d = (along + random.direction() * off).normalize();
                // Also beyond the end of its edge.
                for d in [d, (2.0 * b - a).normalize(), -d] {
                    if polygon.sectors.is_on_edge(d) {
                        assert!(
                            polygon.nearest(d).chord_squared <= NEAR * NEAR,
                            "{name} {i} {off}"
                        );
                        on += usize::from(off <= 0.0);
                    }
                }
                asked += usize::from(off <= 0.0);
            }
        }
    }
    assert!(10 * on > 9 * asked, "{on} of {asked}");
}

#[test]
fn the_opposite_of_the_boundary_is_judged_right() {
    for Fixture { name, corners, inside } in zoo() {
        let polygon = Polygon::new(&corners).expect(&name);
        let pole = polygon.sectors.pole();
        let middles =
            corners.iter().zip(corners.iter().skip(1)).map(|(a, b)| (*a + *b).normalize());
        for d in corners.iter().copied().chain(middles).map(|c| -c).chain([pole, -pole, -inside]) {
            if !clear(&polygon, d) {
                continue;
            }
            let mut random = Random(4);
            let mut judged = 0;
            for _ in 0..20 {
                // The fan has an edge opposite to each corner; beside that the answer is the same.
                let size = 0.1 * polygon.nearest(d).chord_squared.sqrt();
                let beside = (d + size * random.direction()).normalize();
                let from = random.direction();
                if clear(&polygon, -from)
                    && let Some(expected) = by_triangles(&polygon, from, beside)
                {
                    assert_eq!(polygon.contains(d), expected, "{name} {d:?}");
                    judged += 1;
                }
            }
            assert!(judged > 0, "{name} {d:?}");
        }
    }
}

#[test]
fn b10_nearest_is_the_nearest_of_many_points() {
    let mut random = Random(5);
    const STEPS: usize = 24;
    for Fixture { name, corners, .. } in zoo() {
        let polygon = Polygon::new(&corners).expect(&name);
        let on = |edge: usize, t: f64| {
            let (a, b) = (polygon.corners()[edge], polygon.corners()[(edge + 1) % corners.len()]);
            let n = angle_between(a, b).radians();
            let (s, u) = (trig::sin(t * n), trig::sin((1.0 - t) * n));
            unit(u * a + s * b).unwrap()
        };
        let points: Vec<[(f64, DVec3); STEPS + 1]> = (0..corners.len())
            .map(|edge| std::array::from_fn(|i| i as f64 / STEPS as f64).map(|t| (t, on(edge, t))))
            .collect();
        let step = points.iter().map(|p| (p[1].1 - p[0].1).length()).fold(0.0, f64::max);
        let distance = |a: DVec3, b: DVec3| angle_between(a, b).radians();
        for _ in 0..4000 {
            let d = random.query(&polygon);
            // The best of each edge, along which the distance has one valley at most.
            let chord = |p: &(f64, DVec3)| (p.1 - d).length();
            let lowest: Vec<&(f64, DVec3)> = points
                .iter()
                .map(|p| p.iter().min_by(|a, b| chord(a).total_cmp(&chord(b))).unwrap())
                .collect();
            let coarse = lowest.iter().map(|p| chord(p)).fold(4.0, f64::min);
            let mut least = f64::INFINITY;
            for (edge, &&(t, p)) in lowest.iter().enumerate() {
                if chord(&(t, p)) > coarse + 0.6 * step {
                    continue;
                }
                least = least.min(distance(p, d));
                let width = 1.0 / STEPS as f64;
                let (mut low, mut high) = ((t - width).max(0.0), (t + width).min(1.0));
                for _ in 0..50 {
                    let third = (high - low) / 3.0;
                    if distance(on(edge, low + third), d) < distance(on(edge, high - third), d) {
                        high -= third;
                    } else {
                        low += third;
                    }
                }
                least = least.min(distance(on(edge, 0.5 * (low + high)), d));
            }
            let nearest = polygon.nearest(d);
            let angle = angle_to(&nearest, d);
            assert!((angle - least).abs() < 1e-9, "{name} {d:?}: {angle} {least} {nearest:?}");
            assert!((distance(nearest.point, d) - angle).abs() < 1e-12, "{name} {d:?} {nearest:?}");
            match nearest.part {
                Part::Start => assert_eq!(nearest.point, polygon.corners()[nearest.edge]),
                Part::Interior => {
                    let (a, b) = polygon.edges().get(nearest.edge).unwrap();
                    let around = distance(a, nearest.point) + distance(nearest.point, b);
                    assert!((around - distance(a, b)).abs() < 1e-12, "{name} {d:?} {nearest:?}");
                }
                Part::End => panic!("{name}: a corner is where its edge starts"),
            }
        }
    }
}

#[test]
fn tiny_distances_keep_their_digits() {
    let polygon = Polygon::new(&around([0.7; 4].into_iter())).unwrap();
    let (a, b) = polygon.edges().get(0).unwrap();
    let middle = (a + b).normalize();
    let normal = a.cross(b).normalize();
    for distance in [1e-3, 1e-6, 1e-9, 1e-12] {
        let d = (middle + distance * normal).normalize();
        let angle = angle_to(&polygon.nearest(d), d);
        // What d itself is rounded to.
        assert!((angle - trig::atan2(distance, 1.0)).abs() < 4e-16, "{distance} {angle}");
    }
}

#[test]
fn equally_near_parts_are_taken_in_order() {
    let polygon = Polygon::new(&[DVec3::X, DVec3::Y, DVec3::Z]).unwrap();
    // A pole of an edge, where all of the edge is equally near.
    for (d, edge) in [(DVec3::Z, 2), (DVec3::NEG_Z, 0), (DVec3::NEG_X, 1), (DVec3::NEG_Y, 0)] {
        let nearest = polygon.nearest(d);
        assert!(nearest.point.is_finite() && nearest.edge == edge, "{d:?} {nearest:?}");
        assert_eq!(nearest.part, Part::Start, "{d:?}");
    }
    // The middle of the octant.
    let nearest = polygon.nearest(DVec3::ONE.normalize());
    assert_eq!((nearest.edge, nearest.part), (0, Part::Interior));
    let nearest = polygon.nearest(-DVec3::ONE.normalize());
    assert_eq!((nearest.edge, nearest.part), (0, Part::Start));
}

#[test]
fn groups_change_nothing() {
    let mut random = Random(6);
    for count in [3, 8, 9, 64, 65, 300, 1100] {
        // Long and short ones.
        let mut arc = |i: usize| {
            let (start, way) = (random.direction(), random.direction());
            (start, if i.is_multiple_of(16) { way } else { (start + 0.1 * way).normalize() })
        };
        let arcs: Vec<_> = (0..count).map(&mut arc).collect();
        let edges = Edges::new(&arcs);
        let single: Vec<Edges> = arcs.iter().map(|&arc| Edges::new(&[arc])).collect();
        assert_eq!(edges.len(), count);
        for _ in 0..200 {
            let d = random.direction();
            let mut best = single[0].nearest(d).unwrap();
            for (i, one) in single.iter().enumerate() {
                let nearest = one.nearest(d).unwrap();
                if nearest.chord_squared < best.chord_squared {
                    best = Nearest { edge: i, ..nearest };
                }
            }
            assert_eq!(edges.nearest(d), Some(best));
        }
    }
    assert!(Edges::new(&[]).len() == 0 && Edges::new(&[]).nearest(DVec3::X).is_none());
    let point = Edges::new(&[(DVec3::X, DVec3::X)]).nearest(DVec3::Y).unwrap();
    assert_eq!((point.point, point.chord_squared, point.part), (DVec3::X, 2.0, Part::Start));
}

#[track_caller]
fn check_error(corners: &[DVec3], path: &str, kind: &LimitErrorKind) {
    let error = Polygon::new(corners).expect_err("a bad polygon");
    assert_eq!((error.path(), error.kind()), (path, kind));
}

#[test]
fn each_fault_is_named() {
    let square = around([0.7; 4].into_iter());
    let with = |i: usize, corner: DVec3| {
        let mut corners = square.clone();
        corners[i] = corner;
        corners
    };
    check_error(&[], "", &LimitErrorKind::TooFewCorners { found: 0 });
    check_error(&square[..2], "", &LimitErrorKind::TooFewCorners { found: 2 });
    check_error(&with(2, DVec3::ZERO), "[2]", &LimitErrorKind::NoDirection);
    check_error(&with(1, DVec3::new(0.0, f64::NAN, 1.0)), "[1]", &LimitErrorKind::NoDirection);
    check_error(&with(3, DVec3::INFINITY), "[3]", &LimitErrorKind::NoDirection);
    check_error(&with(1, square[0] * 7.0), "", &LimitErrorKind::ShortEdge { corner: 0 });
    let almost = square[0] + DVec3::Z * 0.9e-9;
    check_error(&with(3, almost), "", &LimitErrorKind::ShortEdge { corner: 3 });
    let opposite = -square[3] + 0.4e-6 * square[0];
    check_error(&with(0, opposite), "", &LimitErrorKind::LongEdge { corner: 3 });
    let many = around((0..MAX_CORNERS + 1).map(|_| 1.0));
    check_error(&many, "", &LimitErrorKind::TooLarge);
    // A bow tie, a corner on another edge, a corner on another corner, a fold.
    let tie = [square[0], square[2], square[1], square[3]];
    check_error(&tie, "", &LimitErrorKind::Crossing { edges: [0, 2] });
    let middle = (square[0] + square[1]).normalize();
    let touching = [square[0], square[1], square[2], middle, square[3]];
    let found = Polygon::new(&touching).expect_err("touching");
    assert!(matches!(found.kind(), LimitErrorKind::Crossing { edges: [0, 2 | 3] }), "{found}");
    let eight = [square[0], square[1], DVec3::Z, square[2], square[3], DVec3::Z];
    let found = Polygon::new(&eight).expect_err("touching");
    assert!(matches!(found.kind(), LimitErrorKind::Crossing { .. }), "{found}");
    let fold = [square[0], square[1], middle, square[2], square[3]];
    check_error(&fold, "", &LimitErrorKind::Crossing { edges: [0, 1] });
    let fold_last =
        [middle, square[1], square[2], square[3], square[0], square[1].lerp(middle, 0.5)];
    let found = Polygon::new(&fold_last).expect_err("folding");
    assert!(matches!(found.kind(), LimitErrorKind::Crossing { .. }), "{found}");
    // There and back.
    let found = Polygon::new(&[DVec3::X, DVec3::Y, middle_of(DVec3::X, DVec3::Y)]);
    assert!(matches!(found.unwrap_err().kind(), LimitErrorKind::Crossing { .. }));
}

fn middle_of(a: DVec3, b: DVec3) -> DVec3 {
    (a + b).normalize()
}

#[test]
fn crossings_are_found_as_by_trying_all_pairs() {
    let mut random = Random(7);
    let mut crossing = 0;
    for round in 0..4000 {
        let count = 3 + round % 9;
        let corners: Vec<DVec3> = match round % 3 {
            0 => (0..count).map(|_| random.direction()).collect(),
            // Wobbling so much sideways that some fold over their neighbours.
            1 => (0..count + 10)
                .map(|i| {
                    let turn = TAU * (i as f64 + random.number()) / (count + 10) as f64;
                    at(turn, 0.4 * random.number() + 0.5)
                })
                .collect(),
            _ => {
                let mut corners = comb(count);
                let i = round % corners.len();
                corners[i] = (corners[i] + 0.2 * random.direction()).normalize();
                corners
            }
        };
        let arcs: Vec<_> =
            (0..corners.len()).map(|i| (corners[i], corners[(i + 1) % corners.len()])).collect();
        let edges = Edges::new(&arcs);
        let mut all = (0..arcs.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        let expected = all.any(|(i, j)| {
            // By the point where the planes meet.
            let adjacent = i + 1 == j || (i == 0 && j + 1 == arcs.len());
            let meet = edges.normal(i).cross(edges.normal(j)).normalize();
            let on = |(a, b): (DVec3, DVec3), p: DVec3| {
                let d = |a, b| angle_between(a, b).radians();
                d(a, p) + d(p, b) < d(a, b) + 1e-13
            };
            !adjacent && [meet, -meet].iter().any(|&p| on(arcs[i], p) && on(arcs[j], p))
        });
        match Polygon::new(&corners) {
            Ok(_) => assert!(!expected, "{corners:?}"),
            Err(e) => {
                assert!(matches!(e.kind(), LimitErrorKind::Crossing { .. }), "{e}");
                assert!(expected, "{corners:?}");
                crossing += 1;
            }
        }
    }
    assert!((1000..3500).contains(&crossing), "{crossing}");
}

#[test]
fn large_polygons_are_judged_right() {
    for corners in [wobbly(2000, 3), comb(500), spiral(40, 25), comb(16_000), spiral(100, 300)] {
        let polygon = Polygon::new(&corners).unwrap();
        let mut random = Random(8);
        for _ in 0..300 {
            let d = random.query(&polygon);
            if clear(&polygon, d) && clear(&polygon, -d) {
                let found = i32::from(polygon.contains(d)) - i32::from(polygon.contains(-d));
                assert_eq!(found, turns(&corners, d), "{} {d:?}", corners.len());
            }
        }
    }
}

#[test]
fn prop_turning_all_changes_nothing() {
    let zoo = zoo();
    let mut random = Random(10);
    arbtest(|u| {
        let turn = arbitrary::rotation(u)?;
        let Fixture { name, corners, .. } = &zoo[u.choose_index(zoo.len())?];
        let turned: Vec<DVec3> = corners.iter().map(|&c| turn * c).collect();
        let (one, two) = (Polygon::new(corners).expect(name), Polygon::new(&turned).expect(name));
        for _ in 0..20 {
            let d = if u.arbitrary()? { arbitrary::direction(u)? } else { random.query(&one) };
            let turned = unit(turn * d).unwrap();
            let (a, b) = (one.nearest(d), two.nearest(turned));
            let off = (angle_to(&a, d) - angle_to(&b, turned)).abs();
            assert!(off < 1e-14, "{name} {off} {d:?} {turn:?} {a:?} {b:?}");
            if a.chord_squared > 1e-26 {
                assert_eq!(one.contains(d), two.contains(turned), "{name} {d:?} {turn:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn prop_any_corners_and_any_query_are_answered() {
    arbtest(|u| {
        let count = u.int_in_range(0..=9)?;
        let mut corners = Vec::new();
        for _ in 0..count {
            let wild: f64 = u.arbitrary()?;
            let corner = arbitrary::direction(u)?;
            corners.push(match u.int_in_range(0..=5)? {
                0 => corner * wild,
                1 => DVec3::new(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
                _ => corner,
            });
        }
        if let Ok(polygon) = Polygon::new(&corners) {
            let wild = DVec3::new(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
            for d in [arbitrary::direction(u)?, wild, DVec3::ZERO, DVec3::MAX, DVec3::MIN] {
                polygon.contains(d);
                let nearest = polygon.nearest(d);
                assert!(!nearest.chord_squared.is_nan() && nearest.point.is_normalized());
                assert!((0.0..=PI).contains(&angle_to(&nearest, d)) || !d.is_normalized());
            }
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                for d in [DVec3::splat(bad), DVec3::X * bad, DVec3::new(0.0, 1.0, bad)] {
                    assert!(!polygon.contains(d));
                    let nearest = polygon.nearest(d);
                    assert_eq!((nearest.edge, nearest.chord_squared), (0, 4.0));
                }
            }
        }
        Ok(())
    });
}
