//! Spherical polygons: what is inside, and what is nearest. The peer counts crossings in a plain loop
//! over all edges, with their normals at hand. Best of 41 short runs, interleaved, so that what
//! else the machine does shows little. Half of the directions are within 5° of the boundary, half
//! anywhere.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]
#![allow(clippy::disallowed_methods, reason = "inputs are made with the functions of std")]

use std::f64::consts::{PI, TAU};
use std::hint::black_box;
use std::time::Instant;

use condyle::glam::DVec3;
use condyle::limits::{
    Limit, PreparedLimit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit,
};
use condyle::math::{Angle, Arc, Level, Rotation, Rotations, direct_rotation};
use condyle::synth::Rng;

const COUNT: usize = 16_384;
const RUNS: usize = 41;

/// One way to do a task.
struct Way<'a> {
    name: &'static str,
    /// How many queries a run answers.
    count: usize,
    run: Box<dyn FnMut() + 'a>,
    best_ns: f64,
}

fn way<'a>(name: &'static str, count: usize, run: impl FnMut() + 'a) -> Way<'a> {
    Way { name, count, run: Box::new(run), best_ns: f64::INFINITY }
}

/// Runs all ways in turn and prints each beside the first, the peer.
fn compare(task: &str, mut ways: Vec<Way<'_>>) {
    for _ in 0..RUNS {
        for way in &mut ways {
            let start = Instant::now();
            (way.run)();
            let ns = start.elapsed().as_secs_f64() * 1e9 / way.count as f64;
            way.best_ns = way.best_ns.min(ns);
        }
    }
    println!("{task}, one thread, best of {RUNS}:");
    for way in &ways {
        let ratio = way.best_ns / ways[0].best_ns;
        println!("  {:<24} {:9.2} ns   this / peer {ratio:6.3}", way.name, way.best_ns);
    }
}

/// The loop that one would write: does the arc from a direction that is known to be inside to `d`
/// cross an edge? Both ends of each are on different sides of the other's plane, and it is not the
/// opposite of the arc that is crossed.
struct Plain {
    from: DVec3,
    corners: Vec<DVec3>,
    normals: Vec<DVec3>,
    /// On which side of each edge `from` is.
    left: Vec<bool>,
}

impl Plain {
    fn new(corners: &[DVec3], from: DVec3) -> Self {
        let next = |i: usize| corners[(i + 1) % corners.len()];
        let normals: Vec<DVec3> =
            corners.iter().enumerate().map(|(i, c)| c.cross(next(i)).normalize()).collect();
        let left = normals.iter().map(|n| n.dot(from) > 0.0).collect();
        Self { from, corners: corners.to_vec(), normals, left }
    }

    /// A branch on the side of each edge.
    fn contains(&self, d: DVec3) -> bool {
        let plane = self.from.cross(d);
        let mut inside = true;
        let mut start = plane.dot(self.corners[self.corners.len() - 1]) > 0.0;
        let last = self.normals.len() - 1;
        let edges = self.normals[last..].iter().chain(&self.normals[..last]);
        let lefts = self.left[last..].iter().chain(&self.left[..last]);
        for ((corner, normal), &left) in self.corners.iter().zip(edges).zip(lefts) {
            let end = plane.dot(*corner) > 0.0;
            if start != end && start != left && (normal.dot(d) > 0.0) != left {
                inside = !inside;
            }
            start = end;
        }
        inside
    }

    /// The same without a branch.
    fn contains_without_branch(&self, d: DVec3) -> bool {
        let plane = self.from.cross(d);
        let mut inside = true;
        let last = self.corners.len() - 1;
        let mut start = plane.dot(self.corners[0]) > 0.0;
        for i in 0..=last {
            let end = plane.dot(self.corners[if i == last { 0 } else { i + 1 }]) > 0.0;
            let left = self.left[i];
            inside ^= (start ^ end) & (start ^ left) & ((self.normals[i].dot(d) > 0.0) ^ left);
            start = end;
        }
        inside
    }
}

/// `splitmix64` in [-1, 1].
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31)) as i64 as f64 / 9.3e18
}

fn random_direction(state: &mut u64) -> DVec3 {
    loop {
        let v = DVec3::new(random(state), random(state), random(state));
        if v.length() < 1.0 && v.length() > 0.01 {
            return v.normalize();
        }
    }
}

/// About 50° around a direction, wobbling by up to 15°.
fn wobbly(count: usize, axis: DVec3, state: &mut u64) -> Vec<DVec3> {
    let x = axis.any_orthonormal_vector();
    let y = axis.cross(x);
    let corner = |i: usize| {
        let azimuth = TAU * (i as f64 + 0.3 * random(state)) / count as f64;
        let radius = (50.0 + 15.0 * random(state)) * PI / 180.0;
        radius.cos() * axis + radius.sin() * (azimuth.cos() * x + azimuth.sin() * y)
    };
    (0..count).map(corner).collect()
}

fn at(longitude: f64, latitude: f64) -> DVec3 {
    let (r, z) = (latitude.cos(), latitude.sin());
    DVec3::new(r * longitude.cos(), r * longitude.sin(), z)
}

/// Teeth that point north, on a spine along a parallel; with a direction inside.
fn comb(teeth: usize) -> (Vec<DVec3>, DVec3) {
    let width = 1.5 / teeth as f64;
    let mut corners = vec![at(0.0, -0.6), at(1.5 - 0.5 * width, -0.6)];
    for tooth in (0..teeth).rev() {
        let west = width * tooth as f64;
        let east = west + 0.5 * width;
        corners.extend([at(east, -0.4), at(east, 0.7), at(west, 0.7), at(west, -0.4)]);
    }
    (corners, at(0.7, -0.5))
}

/// A band that winds around z; with a direction inside.
fn spiral(turns: usize, per_turn: usize) -> (Vec<DVec3>, DVec3) {
    let pitch = 1.4 / (turns as f64 + 1.0);
    let corner = |i: usize, inwards: f64| {
        let turn = i as f64 / per_turn as f64;
        at(TAU * turn, PI / 2.0 - pitch * (1.0 + turn - inwards))
    };
    let count = turns * per_turn;
    let back = (0..=count).rev().map(|i| corner(i, 0.5));
    ((0..=count).map(|i| corner(i, 0.0)).chain(back).collect(), at(0.01, PI / 2.0 - pitch * 0.75))
}

fn prepared(corners: &[DVec3], twist: TwistBounds) -> Option<PreparedLimit> {
    let swing = SwingLimit::Polygons(vec![corners.to_vec()]);
    let twist = TwistLimit { bounds: twist, ..TwistLimit::default() };
    Limit::SwingTwist(SwingTwistLimit { swing, twist, ..SwingTwistLimit::default() }).prepare().ok()
}

/// The whole projection: a polygon of 20 edges with a range of twist that changes with the swing.
fn projection(plain_corners: &[DVec3], inside: DVec3, state: &mut u64) {
    let at: Vec<TwistAt> = plain_corners
        .iter()
        .chain([&inside])
        .map(|&direction| {
            let width = 30.0 + 20.0 * random(state);
            let arc = Arc::from_degrees(-width, width).unwrap_or(Arc::FULL);
            TwistAt { direction, arc }
        })
        .collect();
    let Some(limit) = prepared(plain_corners, TwistBounds::BySwing(at)) else { return };
    let plain = Plain::new(plain_corners, inside);
    let (mut ins, mut outs) = (Vec::new(), Vec::new());
    while ins.len() < COUNT || outs.len() < COUNT {
        let d = random_direction(state);
        let Some(swing) = direct_rotation(DVec3::Z, d) else { continue };
        let twist = Rotation::about_z(Angle::from_radians(PI * random(state)));
        let m = swing.rotation * twist;
        if limit.contains(m) {
            ins.push(m);
        } else if outs.len() < COUNT {
            outs.push(m);
        }
    }
    ins.truncate(COUNT);
    let directions: Vec<DVec3> = outs.iter().map(|m| *m * DVec3::Z).collect();
    let all = |rotations: &[Rotation], f: &dyn Fn(Rotation) -> f64| {
        black_box(black_box(rotations).iter().map(|m| f(*m)).sum::<f64>());
    };
    let ways = vec![
        way("plain loop", COUNT, || {
            black_box(black_box(&directions).iter().filter(|&&d| plain.contains(d)).count());
        }),
        way("contains, inside", COUNT, || all(&ins, &|m| f64::from(u8::from(limit.contains(m))))),
        way("project, inside", COUNT, || all(&ins, &|m| limit.project(m).quat().w)),
        way("project, outside", COUNT, || all(&outs, &|m| limit.project(m).quat().w)),
        way("distance, outside", COUNT, || all(&outs, &|m| limit.distance(m).radians())),
    ];
    compare("projection, 20 edges, twist by swing", ways);
}

/// Columns of random rotations beside single calls, which are the peer.
fn columns(name: &str, limit: &PreparedLimit) {
    let mut rng = Rng::new(1);
    let all: Rotations = (0..COUNT).map(|_| rng.rotation()).collect();
    #[allow(clippy::cast_possible_truncation, reason = "single precision is what is measured")]
    let singles = all.xyzw().map(|c| c.iter().map(|v| *v as f32).collect::<Vec<f32>>());
    let quats: Vec<[f32; 4]> =
        (0..COUNT).map(|i| [0, 1, 2, 3].map(|k: usize| singles[k][i])).collect();
    let mut ways = vec![way("single calls", COUNT, || {
        let mut to = black_box(all.clone());
        for i in 0..COUNT {
            to.set(i, limit.project(to.at(i)));
        }
        black_box(&to);
    })];
    for level in Level::all() {
        let all = &all;
        ways.push(way(level.name(), COUNT, move || {
            let mut to = black_box(all.clone());
            limit.project_all_at(level, &mut to);
            black_box(&to);
        }));
    }
    ways.push(way("single precision", COUNT, || {
        let mut to = black_box(singles.clone());
        let [x, y, z, w] = &mut to;
        limit.project_all_f32([x, y, z, w]);
        black_box(&to);
    }));
    ways.push(way("its quaternions", COUNT, || {
        let mut to = black_box(quats.clone());
        limit.project_quats_f32(&mut to);
        black_box(&to);
    }));
    compare(&format!("columns, {name}"), ways);
}

/// Limits whose columns have loops of their own.
fn all_columns(corners: &[DVec3]) -> Option<()> {
    let arc = TwistBounds::Arc(Arc::from_degrees(-40.0, 70.0)?);
    columns("polygon of 20, arc", &prepared(corners, arc.clone())?);
    let hinge = Limit::Hinge { axis: DVec3::Y, arc: Arc::from_degrees(-10.0, 100.0)? };
    columns("hinge", &hinge.prepare().ok()?);
    let radius = Angle::from_degrees(60.0);
    let swing = SwingLimit::Ellipse { rx: radius, ry: radius };
    let twist = TwistLimit { bounds: arc, ..TwistLimit::default() };
    let circle = SwingTwistLimit { swing, twist, ..SwingTwistLimit::default() };
    columns("circle, arc", &Limit::SwingTwist(circle).prepare().ok()?);
    Some(())
}

fn main() {
    // `cargo test --all-targets` runs it, too, without this.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut state = 1;
    let axis = DVec3::new(0.3, -0.5, 0.8).normalize();
    let shapes = [
        ("wobbly", (wobbly(4, axis, &mut state), axis)),
        ("wobbly", (wobbly(20, axis, &mut state), axis)),
        ("wobbly", (wobbly(200, axis, &mut state), axis)),
        ("wobbly", (wobbly(2000, axis, &mut state), axis)),
        ("comb", comb(50)),
        ("comb", comb(500)),
        ("spiral", spiral(8, 12)),
        ("spiral", spiral(40, 25)),
    ];
    let shapes: Vec<_> = shapes
        .into_iter()
        .take(std::env::var("SHAPES").ok().and_then(|n| n.parse().ok()).unwrap_or(100))
        .collect();
    for (name, (corners, inside)) in shapes {
        let count = corners.len();
        let Some(limit) = prepared(&corners, TwistBounds::Free) else {
            println!("no polygon of {count} edges");
            continue;
        };
        let Some(polygon) = limit.swing() else { continue };
        let away = |d: DVec3| polygon.distance(d).map_or(0.0, |a| a.radians().abs());
        let plain = Plain::new(&corners, inside);

        let mut queries = Vec::new();
        while queries.len() < COUNT {
            let d = random_direction(&mut state);
            if queries.len() % 2 == 0 || away(d) < 5.0 * PI / 180.0 {
                queries.push(d);
            }
        }
        let agree = queries.iter().all(|&d| {
            polygon.contains(d) == plain.contains(d)
                && polygon.contains(d) == plain.contains_without_branch(d)
        });
        if !agree {
            println!("the ways disagree");
        }

        let ways = vec![
            way("plain loop", COUNT, || {
                black_box(black_box(&queries).iter().filter(|&&d| plain.contains(d)).count());
            }),
            way("same, no branches", COUNT, || {
                let inside = |&&d: &&DVec3| plain.contains_without_branch(d);
                black_box(black_box(&queries).iter().filter(inside).count());
            }),
            way("contains", COUNT, || {
                black_box(black_box(&queries).iter().filter(|&&d| polygon.contains(d)).count());
            }),
            way("distance", COUNT, || {
                black_box(black_box(&queries).iter().map(|&d| away(d)).sum::<f64>());
            }),
            way("prepare, once", 8, || {
                for _ in 0..8 {
                    black_box(prepared(black_box(&corners), TwistBounds::Free));
                }
            }),
        ];
        compare(&format!("{name}, {count} edges"), ways);
    }
    // About z, which is the bone.
    let corners = wobbly(20, DVec3::Z, &mut state);
    projection(&corners, DVec3::Z, &mut state);
    all_columns(&corners);
}
