//! Rotations in columns against one at a time: nanoseconds per rotation, beside the loop over glam
//! quaternions with the functions of `std` that most would write. Best of 101 short
//! runs, interleaved, so that what else the machine does shows little.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]
#![allow(clippy::disallowed_methods, reason = "the peers use the functions of std")]

use std::hint::black_box;
use std::time::Instant;

use condyle::glam::{DQuat, DVec3, EulerRot};
use condyle::math::{
    Angle, EulerAngles, EulerOrder, Level, Points, Rotation, Rotations, SwingAxes, SwingTwist,
    batch,
};

const COUNT: usize = 4096;
const REPEATS: usize = 4;
const RUNS: usize = 101;

/// One way to do a task.
struct Way<'a> {
    name: String,
    run: Box<dyn FnMut() + 'a>,
    best_ns: f64,
}

fn way<'a>(name: impl Into<String>, run: impl FnMut() + 'a) -> Way<'a> {
    Way { name: name.into(), run: Box::new(run), best_ns: f64::INFINITY }
}

/// Runs all ways in turn and prints each beside the first, the peer.
fn compare(task: &str, mut ways: Vec<Way<'_>>) {
    for _ in 0..RUNS {
        for way in &mut ways {
            let start = Instant::now();
            for _ in 0..REPEATS {
                (way.run)();
            }
            let ns = start.elapsed().as_secs_f64() * 1e9 / (COUNT * REPEATS) as f64;
            way.best_ns = way.best_ns.min(ns);
        }
    }
    println!("{task}, {COUNT} rotations, one thread, best of {RUNS}:");
    for way in &ways {
        let ratio = ways[0].best_ns / way.best_ns;
        println!("  {:<24} {:7.2} ns   peer / this {ratio:6.2}", way.name, way.best_ns);
    }
}

/// ZYZ angles as in a textbook.
fn zyz_of_std(q: DQuat) -> [f64; 3] {
    let x = 2.0 * (q.x * q.z + q.w * q.y);
    let y = 2.0 * (q.y * q.z - q.w * q.x);
    let z = 1.0 - 2.0 * (q.x * q.x + q.y * q.y);
    let psi = z.clamp(-1.0, 1.0).acos();
    if psi.sin().abs() < 1e-9 {
        return [2.0 * q.z.atan2(q.w), psi, 0.0];
    }
    let from_x = 2.0 * (q.x * q.z - q.w * q.y);
    let from_y = 2.0 * (q.y * q.z + q.w * q.x);
    [y.atan2(x), psi, from_y.atan2(-from_x)]
}

/// Swing and twist as in a textbook.
fn swing_twist_of_std(q: DQuat) -> [f64; 3] {
    let q = if q.w < 0.0 { -q } else { q };
    let length = (q.z * q.z + q.w * q.w).sqrt();
    if length < 1e-12 {
        return [q.x * std::f64::consts::PI, q.y * std::f64::consts::PI, 0.0];
    }
    let twist = DQuat::from_xyzw(0.0, 0.0, q.z / length, q.w / length);
    let swing = q * twist.conjugate();
    let sin = (swing.x * swing.x + swing.y * swing.y).sqrt();
    let scale = if sin < 1e-12 { 2.0 } else { 2.0 * sin.atan2(swing.w) / sin };
    [scale * swing.x, scale * swing.y, 2.0 * twist.z.atan2(twist.w)]
}

/// `splitmix64` in [-1, 1].
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31)) as i64 as f64 / 9.3e18
}

fn main() {
    // `cargo test --all-targets` runs it, too, without this.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut state = 1;
    let all: Vec<Rotation> = std::iter::repeat_with(|| {
        let [x, y, z, w] = [(); 4].map(|()| random(&mut state));
        Rotation::new(DQuat::from_xyzw(x, y, z, w))
    })
    .flatten()
    .take(COUNT)
    .collect();
    let quats: Vec<DQuat> = all.iter().map(|r| r.quat()).collect();
    let columns: Rotations = all.iter().copied().collect();
    let vectors: Points = all.iter().map(|r| r.log()).collect();
    let axes = SwingAxes::Z;
    let out = || [(); 3].map(|()| vec![0.0; COUNT]);

    for order in [EulerOrder::ZYZ, EulerOrder::ZYX] {
        let (mut peer, mut one) = (out(), out());
        let mut ways = Vec::new();
        if order == EulerOrder::ZYZ {
            ways.push(way("glam and std", || {
                for (i, q) in black_box(&quats).iter().enumerate() {
                    [peer[0][i], peer[1][i], peer[2][i]] = zyz_of_std(*q);
                }
                black_box(&peer);
            }));
        } else {
            ways.push(way("glam (to_euler)", || {
                for (i, q) in black_box(&quats).iter().enumerate() {
                    (peer[0][i], peer[1][i], peer[2][i]) = q.to_euler(EulerRot::ZYX);
                }
                black_box(&peer);
            }));
        }
        ways.push(way("EulerAngles", || {
            for (i, r) in black_box(&all).iter().enumerate() {
                let angles = EulerAngles::from_rotation(order, *r).angles;
                [one[0][i], one[1][i], one[2][i]] = angles.map(Angle::radians);
            }
            black_box(&one);
        }));
        for level in Level::all() {
            let mut to = out();
            let columns = &columns;
            ways.push(way(format!("batch, {}", level.name()), move || {
                let [a, b, c] = to.each_mut().map(|c| &mut c[..]);
                batch::euler_angles(level, order, black_box(columns), [a, b, c]);
                black_box(&to);
            }));
        }
        compare(&format!("{order} angles"), ways);
    }

    let mut peer = out();
    let mut one = out();
    let mut ways = vec![
        way("glam and std", || {
            for (i, q) in black_box(&quats).iter().enumerate() {
                [peer[0][i], peer[1][i], peer[2][i]] = swing_twist_of_std(*q);
            }
            black_box(&peer);
        }),
        way("SwingTwist", || {
            for (i, r) in black_box(&all).iter().enumerate() {
                let s = SwingTwist::from_rotation(*r, &axes);
                [one[0][i], one[1][i], one[2][i]] =
                    [s.swing.x, s.swing.y, s.twist].map(Angle::radians);
            }
            black_box(&one);
        }),
    ];
    for level in Level::all() {
        let mut to = out();
        let (columns, axes) = (&columns, &axes);
        ways.push(way(format!("batch, {}", level.name()), move || {
            let [a, b, c] = to.each_mut().map(|c| &mut c[..]);
            batch::swing_twist(level, axes, black_box(columns), [a, b, c]);
            black_box(&to);
        }));
    }
    for level in Level::all() {
        let mut to = [(); 5].map(|()| vec![0.0; COUNT]);
        let (columns, axes) = (&columns, &axes);
        ways.push(way(format!("no angle, {}", level.name()), move || {
            let [a, b, c, d, e] = to.each_mut().map(|c| &mut c[..]);
            batch::swing_twist_halves(level, axes, black_box(columns), [a, b, c, d, e]);
            black_box(&to);
        }));
    }
    compare("swing and twist", ways);

    let mut peer = vec![DVec3::ZERO; COUNT];
    let mut ways = vec![way("glam (to_scaled_axis)", || {
        for (v, q) in peer.iter_mut().zip(black_box(&quats)) {
            *v = q.to_scaled_axis();
        }
        black_box(&peer);
    })];
    for level in Level::all() {
        let mut to = Points::repeat(DVec3::ZERO, COUNT);
        let columns = &columns;
        ways.push(way(format!("batch, {}", level.name()), move || {
            batch::log(level, black_box(columns), &mut to);
            black_box(&to);
        }));
    }
    compare("logarithm", ways);

    let peer_vectors: Vec<DVec3> = vectors.iter().collect();
    let mut peer = quats.clone();
    let mut ways = vec![way("glam (from_scaled_axis)", || {
        for (q, v) in peer.iter_mut().zip(black_box(&peer_vectors)) {
            *q = DQuat::from_scaled_axis(*v);
        }
        black_box(&peer);
    })];
    for level in Level::all() {
        let mut to = Rotations::repeat(Rotation::IDENTITY, COUNT);
        let vectors = &vectors;
        ways.push(way(format!("batch, {}", level.name()), move || {
            batch::exp(level, black_box(vectors), &mut to);
            black_box(&to);
        }));
    }
    compare("exponential", ways);

    let mut peer = quats.clone();
    let mut ways = vec![way("glam (from_euler)", || {
        let [x, y, z] = black_box(vectors.xyz());
        for (i, q) in peer.iter_mut().enumerate() {
            *q = DQuat::from_euler(EulerRot::ZYX, x[i], y[i], z[i]);
        }
        black_box(&peer);
    })];
    for level in Level::all() {
        let mut to = Rotations::repeat(Rotation::IDENTITY, COUNT);
        let vectors = &vectors;
        ways.push(way(format!("batch, {}", level.name()), move || {
            batch::euler_rotations(level, EulerOrder::ZYX, black_box(vectors.xyz()), &mut to);
            black_box(&to);
        }));
    }
    compare("from ZYX angles", ways);
}
