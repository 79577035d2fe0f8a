//! Smooth paths through what a joint can do.

use std::f64::consts::{FRAC_PI_2, TAU};

use glam::DVec3;

use super::{Coordinates, Exploration, JointTruth, Rng, SwingRegion};
use crate::math::{Angle, Arc, Rotation, angle_between, direct_rotation, trig};

/// How far inside its ends a path through an arc stays, relative to half the arc: far above the
/// rounding of a product of rotations, far below any angle that is measured.
const INSIDE_ARC: f64 = 1e-12;

/// How much of the frames of a ball joint go once around the boundary; the rest fill the inside.
const TOUR: f64 = 0.35;

/// The coordinates of one joint over `n` frames.
pub(super) fn explore(
    truth: &JointTruth,
    n: usize,
    exploration: Exploration,
    rng: &mut Rng,
) -> Vec<Coordinates> {
    match *truth {
        JointTruth::Free | JointTruth::Fixed { .. } => vec![Coordinates::None; n],
        JointTruth::Hinge { arc, .. } => {
            let cycles = cycles(n, rng);
            angles(arc, n, cycles, exploration, rng).into_iter().map(Coordinates::Hinge).collect()
        }
        JointTruth::Universal { arcs, .. } => {
            // The golden ratio keeps the two out of step, so that all pairs of angles come up.
            let first_cycles = cycles(n, rng);
            let first = angles(arcs[0], n, first_cycles, exploration, rng);
            let second = angles(arcs[1], n, first_cycles * 1.618, exploration, rng);
            first.into_iter().zip(second).map(|(a, b)| Coordinates::Universal([a, b])).collect()
        }
        JointTruth::Ball { bone_axis, swing, twist, .. } => {
            let cycles = 1.3 * cycles(n, rng);
            let twists = angles(twist, n, cycles, exploration, rng);
            let directions = directions(bone_axis, &swing, n, exploration, rng);
            let both = directions.into_iter().zip(twists);
            both.map(|(direction, twist)| Coordinates::Ball { direction, twist }).collect()
        }
    }
}

/// How often an arc is swept to and fro: at least once and a half, so that both ends are met, and
/// slowly more in longer clips.
fn cycles(n: usize, rng: &mut Rng) -> f64 {
    (1.5 + real(n).sqrt() / 16.0) * rng.between(1.0, 1.25)
}

/// A path through an arc, as angles between its ends (above π where the arc is).
fn angles(arc: Arc, n: usize, cycles: f64, exploration: Exploration, rng: &mut Rng) -> Vec<Angle> {
    let (min, width) = (arc.min().radians(), arc.width().radians());
    let (low, width) = match exploration {
        Exploration::Partial { share } => {
            (min + (1.0 - share) * width * rng.uniform(), share * width)
        }
        _ => (min, width),
    };
    let wave = match exploration {
        Exploration::Scatter => (0..n).map(|_| rng.between(-1.0, 1.0)).collect(),
        Exploration::Dwell => sweep(n, cycles, 3.0, rng),
        _ => sweep(n, cycles, 1.0, rng),
    };
    let half = 0.5 * width;
    let scale = half * (1.0 - INSIDE_ARC);
    wave.into_iter().map(|x| Angle::from_radians(low + half + scale * x)).collect()
}

/// A sine of uneven speed that reaches −1 and 1 exactly; cut off at both when `gain` is above 1, so
/// that it stays there.
fn sweep(n: usize, cycles: f64, gain: f64, rng: &mut Rng) -> Vec<f64> {
    let (start, sway, sway_start) = (rng.uniform(), rng.between(1.1, 1.9), rng.uniform());
    let wave: Vec<f64> = (0..n)
        .map(|i| {
            let t = part(i, n);
            // The speed changes by at most 0.4 · 1.9 turns, less than the 1.5 cycles: no reversal.
            let uneven = 0.4 * trig::sin_cos(TAU * (sway * t + sway_start)).0;
            let (sin, _) = trig::sin_cos(TAU * (cycles * t + start) + uneven);
            (gain * sin).clamp(-1.0, 1.0)
        })
        .collect();
    let low = wave.iter().copied().fold(f64::INFINITY, f64::min);
    let high = wave.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if high > low {
        wave.into_iter().map(|x| (2.0 * (x - low) / (high - low) - 1.0).clamp(-1.0, 1.0)).collect()
    } else {
        wave
    }
}

/// A path of directions inside a region.
fn directions(
    bone: DVec3,
    region: &SwingRegion,
    n: usize,
    exploration: Exploration,
    rng: &mut Rng,
) -> Vec<DVec3> {
    let start = rng.uniform();
    let sense = if rng.chance(0.5) { 1.0 } else { -1.0 };
    let share = match exploration {
        Exploration::Scatter => return scatter(region, n, rng),
        Exploration::Dwell => {
            // To and fro along the boundary between two places half of it apart.
            let cycles = cycles(n, rng);
            let wave = sweep(n, cycles, 3.0, rng);
            return wave.into_iter().map(|x| region.point(start + 0.25 * (1.0 + x), 1.0)).collect();
        }
        Exploration::Partial { share } => share,
        Exploration::Full | Exploration::Poses => 1.0,
    };
    let tour_frames = ceil(TOUR * real(n)).min(n);
    let fill_frames = n - tour_frames;
    let boundary = region.boundary(256);
    let perimeter: f64 = (0..boundary.len())
        .map(|i| angle_between(boundary[i], boundary[(i + 1) % boundary.len()]).radians())
        .sum();
    // On a disc of radius R, K turns are R/K apart and K π R long. Equal steps along and across
    // would be K = √(frames/π) = 2 √(frames · area) / perimeter; half of it moves more smoothly.
    let turns = ((real(fill_frames) * region.solid_angle() / share).sqrt() / perimeter).max(1.0);

    let tour = |t: f64| (start + sense * share * t, 1.0);
    let fill = |t: f64| {
        let s = if share < 1.0 { 1.0 - zigzag(turns * t) } else { turns * t };
        (start + sense * share * s, 1.0 - t)
    };
    let place = |(s, u): (f64, f64)| region.point(s, u);
    let mut path = evenly(bone, &tour, &place, tour_frames, 2048);
    path.extend(evenly(bone, &fill, &place, fill_frames, 256 * ceil(turns)));
    path
}

/// Uniform over the region, each frame by itself.
fn scatter(region: &SwingRegion, n: usize, rng: &mut Rng) -> Vec<DVec3> {
    (0..n)
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

/// `n` points of the curve `place(curve(t))`, t from 0 to 1, at distances that differ by at most a
/// third from the mean. Distances are between the swings to the directions, so that the joint turns
/// at an even pace also where a direction far from the bone needs much turning.
fn evenly(
    bone: DVec3,
    curve: &dyn Fn(f64) -> (f64, f64),
    place: &dyn Fn((f64, f64)) -> DVec3,
    n: usize,
    at_least: usize,
) -> Vec<DVec3> {
    let dense = at_least.max(4 * n).max(2);
    let swing = |t: f64| {
        direct_rotation(bone, place(curve(t))).map_or(Rotation::IDENTITY, |direct| direct.rotation)
    };
    let mut lengths = Vec::with_capacity(dense);
    let (mut before, mut length) = (swing(0.0), 0.0);
    for i in 0..dense {
        let here = swing(part(i, dense));
        length += before.distance(here).radians();
        lengths.push(length);
        before = here;
    }
    let mut out = Vec::with_capacity(n);
    let mut i = 0;
    for k in 0..n {
        let t = part(k, n);
        // Faster and slower by 30 %, twice.
        let wanted = length * (t + 0.3 * trig::sin_cos(2.0 * TAU * t).0 / (2.0 * TAU));
        while i + 2 < dense && lengths[i + 1] < wanted {
            i += 1;
        }
        let step = lengths[i + 1] - lengths[i];
        let within = if step > 0.0 { ((wanted - lengths[i]) / step).clamp(0.0, 1.0) } else { 0.0 };
        out.push(place(curve((real(i) + within) / real(dense - 1))));
    }
    out
}

/// 0 → 1 → 0 → …, one way per whole number.
fn zigzag(x: f64) -> f64 {
    let x = x % 2.0;
    if x <= 1.0 { x } else { 2.0 - x }
}

/// Where a root is and how it stands after `time_s`: walking in a circle at 1.3 m/s, with the rise
/// and fall, the sway and the turning of the hips of a walk.
pub(super) fn walk(time_s: f64, offset_m: DVec3, rest: Rotation) -> (Rotation, DVec3) {
    const RADIUS_M: f64 = 2.5;
    const SPEED_M_S: f64 = 1.3;
    const STRIDES_PER_S: f64 = 0.95;
    let heading = SPEED_M_S / RADIUS_M * time_s;
    let (sin, cos) = trig::sin_cos(heading);
    let stride = TAU * STRIDES_PER_S * time_s;
    let (stride_sin, stride_cos) = trig::sin_cos(stride);
    // Two steps to a stride.
    let (step_sin, _) = trig::sin_cos(2.0 * stride + FRAC_PI_2);
    let side = 0.02 * stride_sin;
    let position = DVec3::new(
        RADIUS_M * (1.0 - cos) + side * cos,
        0.025 * (step_sin - 1.0),
        RADIUS_M * sin - side * sin,
    );
    let turn = Rotation::about_y(Angle::from_radians(heading + 0.09 * stride_cos))
        * Rotation::about_z(Angle::from_radians(0.06 * stride_sin))
        * Rotation::about_x(Angle::from_radians(0.05 + 0.02 * step_sin));
    (turn * rest, offset_m + position)
}

/// `i` of `n` frames as a number from 0 to 1.
fn part(i: usize, n: usize) -> f64 {
    if n < 2 { 0.0 } else { real(i) / real(n - 1) }
}

#[allow(clippy::cast_precision_loss, reason = "counts of frames are below 2^53")]
const fn real(n: usize) -> f64 {
    n as f64
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count of frames"
)]
fn ceil(x: f64) -> usize {
    x.ceil().max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::region::tests::zoo;

    #[test]
    fn a_sweep_reaches_both_ends_exactly_and_dwells_when_told() {
        let mut rng = Rng::new(1);
        for n in [2, 3, 10, 100, 3000] {
            for gain in [1.0, 3.0] {
                let wave = sweep(n, 2.0, gain, &mut rng);
                if n >= 10 || gain == 1.0 {
                    assert!(wave.contains(&-1.0) && wave.contains(&1.0), "{n} {gain}");
                }
                assert!(wave.iter().all(|x| x.abs() <= 1.0));
                let at_ends = wave.iter().filter(|x| x.abs() == 1.0).count();
                if n == 3000 {
                    assert_eq!(at_ends > 1500, gain > 1.0, "{at_ends}");
                }
            }
        }
        assert_eq!(sweep(1, 2.0, 1.0, &mut rng).len(), 1);
        assert!(sweep(0, 2.0, 1.0, &mut rng).is_empty());
    }

    #[test]
    fn a_partial_path_stays_in_its_share() {
        let mut rng = Rng::new(2);
        let arc = Arc::from_degrees(-40.0, 160.0).unwrap();
        for _ in 0..20 {
            let path = angles(arc, 500, 2.0, Exploration::Partial { share: 0.3 }, &mut rng);
            let low = path.iter().map(|a| a.degrees()).fold(f64::INFINITY, f64::min);
            let high = path.iter().map(|a| a.degrees()).fold(f64::NEG_INFINITY, f64::max);
            assert!((high - low - 60.0).abs() < 1e-6, "{low} {high}");
            assert!(low >= -40.0 && high <= 160.0);
        }
    }

    /// Degrees from a direction to the nearest of a path.
    fn gap(d: DVec3, path: &[DVec3]) -> f64 {
        let nearest = path.iter().copied().max_by(|a, b| a.dot(d).total_cmp(&b.dot(d)));
        angle_between(d, nearest.unwrap()).degrees()
    }

    /// Degrees from the boundary to the path, where the path leaves it most alone.
    fn reach(region: &SwingRegion, path: &[DVec3]) -> f64 {
        region.boundary(400).into_iter().map(|b| gap(b, path)).fold(0.0, f64::max)
    }

    #[test]
    fn a_full_path_passes_every_part_of_the_boundary_and_fills_the_inside() {
        let mut rng = Rng::new(3);
        for region in zoo() {
            let bone = region.center();
            for n in [100, 500, 2000, 5000] {
                let path = directions(bone, &region, n, Exploration::Full, &mut rng);
                assert_eq!(path.len(), n);
                assert!(path.iter().all(|d| region.contains(*d)), "{region:?}");
                let worst = reach(&region, &path);
                // Degrees times frames: measured 1950 on the long kidney, 560 on a cone of 125°.
                assert!(worst < 2400.0 / real(n), "{region:?} {n}: {worst}");
                let mut hole = 0.0_f64;
                for _ in 0..300 {
                    let d = rng.direction();
                    if region.contains(d) {
                        hole = hole.max(gap(d, &path));
                    }
                }
                // Measured 224 on the widest region.
                assert!(hole < 280.0 / real(n).sqrt(), "{region:?} {n}: {hole}");
            }
        }
    }

    #[test]
    fn a_partial_path_leaves_a_part_of_the_boundary_alone() {
        let mut rng = Rng::new(4);
        for region in zoo() {
            let path = directions(
                region.center(),
                &region,
                2000,
                Exploration::Partial { share: 0.4 },
                &mut rng,
            );
            assert!(path.iter().all(|d| region.contains(*d)));
            let worst = reach(&region, &path);
            assert!(worst > 8.0, "{region:?}: {worst}");
        }
    }

    #[test]
    fn scattered_directions_are_uniform_over_the_region() {
        let mut rng = Rng::new(5);
        let region = zoo()[0];
        let path = scatter(&region, 20_000, &mut rng);
        // Half of the area of a cap of 20° is within 14.1°.
        let inner = path
            .iter()
            .filter(|d| d.dot(region.center()) > 0.5 + 0.5 * trig::sin_cos(TAU / 18.0).1)
            .count();
        assert!((real(inner) - 1e4).abs() < 5.0 * 71.0, "{inner}");
    }

    #[test]
    fn a_walk_moves_like_one() {
        let offset = DVec3::new(0.0, 0.95, 0.0);
        let at = |t: f64| walk(t, offset, Rotation::IDENTITY);
        let mut before = at(0.0).1;
        for i in 1..2000 {
            let t = f64::from(i) * 0.01;
            let (rotation, here) = at(t);
            let velocity = (here - before) * 100.0;
            let level = DVec3::new(velocity.x, 0.0, velocity.z);
            assert!((1.1..1.5).contains(&level.length()), "{t}: {level}");
            let ahead = rotation * DVec3::Z;
            assert!(angle_between(ahead, level).degrees() < 14.0, "{t}: faces where it goes");
            assert!((0.89..=0.951).contains(&here.y), "{t}: {}", here.y);
            before = here;
        }
    }
}
