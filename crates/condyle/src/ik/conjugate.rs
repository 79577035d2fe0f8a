//! Conjugate gradients inside of limits: the source's way, in more steps than
//! [`levenberg`](super::levenberg).

use glam::DVec3;

use super::search::{Ending, Hold, Scratch};
use super::system::{Linear, Stop, System};

/// How often a step is halved before the search gives up.
const HALVINGS: u32 = 30;

/// A limit that would have to pull by more than this share of what pulls at it is let go.
const PULLS: f64 = 1e-9;

/// How often limits of a joint are added to those that are held to.
const ROUNDS: usize = 8;

/// Looks for where a system's cost is least, from `here`.
///
/// # Source
///
/// C11, eq 35 to 37: nonlinear conjugate gradients, by R. Fletcher and C. Reeves 1964 with the factor of
/// E. Polak and G. Ribière 1969, never negative. The first length of a step is that at which the linear
/// problem is least, halved until the cost is less.
///
/// Limits that `here` is on the boundary of, and that push inward, are held to: their ways out are taken
/// out of slope and direction, and the search begins anew wherever these change. So it does where a step
/// leads nowhere, held to what that ran into as well, and ends if it leads nowhere again.
pub(super) fn solve(
    system: &mut impl System,
    scratch: &mut Scratch,
    most_steps: u32,
) -> (Ending, u32) {
    scratch.stops_here.clear();
    scratch.holds.clear();
    system.look(&mut scratch.linear);
    let postured = scratch.linear.is_postured();
    scratch.direction.clear();
    scratch.slope_before.clear();
    let mut held = 0;
    for steps in 0..most_steps {
        let met = scratch.linear.met;
        if met && !postured {
            return (Ending::Met, steps);
        }
        let ending = if met { Ending::Met } else { Ending::Stuck };
        let before = scratch.linear.cost();
        system.differentiate(&mut scratch.linear);
        scratch.find_slope(system);
        scratch.hold_to(system);
        let Scratch {
            linear, step, stops, stops_here, slope, slope_before, direction, holds, ..
        } = scratch;
        let holds_now = signature(holds);
        take_out(system, slope, holds);
        let square = dot(slope, slope);
        if square < 1e-24 * (1.0 + before) {
            return (ending, steps);
        }
        let mut anew = slope_before.len() != slope.len() || holds_now != held;
        if !anew {
            let turned = (square - dot(slope, slope_before)) / dot(slope_before, slope_before);
            let turned = turned.max(0.0);
            for (d, s) in direction.iter_mut().zip(slope.iter()) {
                *d = turned * *d - s;
            }
            take_out(system, direction, holds);
            // It may not lead up.
            anew = dot(direction, slope) >= 0.0;
        }
        if anew {
            direction.clear();
            direction.extend(slope.iter().map(|s| -s));
        }
        held = holds_now;
        slope_before.clone_from(slope);
        let mut length = -dot(direction, slope) / curvature(system, linear, direction).max(1e-300);
        let mut better = false;
        for _ in 0..HALVINGS {
            step.clear();
            step.extend(direction.iter().map(|d| d * length));
            stops.clear();
            system.try_step(step, stops);
            system.look(linear);
            if linear.cost() < before {
                better = true;
                break;
            }
            length *= 0.5;
        }
        if better {
            system.accept();
            scratch.remember_stops(system);
            if before - scratch.linear.cost() >= 1e-9 * before {
                continue;
            }
            let is_held = |stop: &Stop| {
                scratch.holds.iter().any(|hold| is_same(stop, hold.block, hold.way_out, 0.9))
            };
            if anew && scratch.stops_here.iter().all(is_held) {
                let ending = if scratch.linear.met { Ending::Met } else { Ending::Stuck };
                return (ending, steps + 1);
            }
        } else {
            let known = stops_here.len();
            for stop in stops.iter() {
                if !stops_here.iter().any(|known| is_same(known, stop.block, stop.normal, 0.999)) {
                    stops_here.push(*stop);
                }
            }
            let more = stops_here.len() > known;
            step.fill(0.0);
            stops.clear();
            system.try_step(step, stops);
            system.look(linear);
            if anew && !more {
                return (ending, steps);
            }
        }
        scratch.slope_before.clear();
    }
    (if scratch.linear.met { Ending::Met } else { Ending::TooLong }, most_steps)
}

impl Scratch {
    fn find_slope(&mut self, system: &impl System) {
        self.slope.clear();
        for (b, block) in system.blocks().iter().enumerate() {
            let of = |freedom| self.linear.slope(freedom, system.touched(b));
            self.slope.extend(block.freedoms().map(of));
        }
    }

    /// Holds to the limits that `here` is on the boundary of and that push inward where the cost falls.
    ///
    /// The one that the fall of the cost leads out of most is added until none is left. With the ways out
    /// wᵢ of a block made square to each other, eⱼ, what they push with adds up to the fall along them,
    /// `Σᵢ λᵢ (wᵢ·eⱼ) = −slope·eⱼ`; one that would have to pull is let go (C. Lawson and R. Hanson,
    /// "Solving Least Squares Problems", 1974, chapter 23).
    fn hold_to(&mut self, system: &impl System) {
        self.holds.clear();
        for (b, block) in system.blocks().iter().enumerate() {
            let mut fall = [0.0; 3];
            for (fall, freedom) in fall.iter_mut().zip(block.freedoms()) {
                *fall = -self.slope[freedom];
            }
            let fall = DVec3::from_array(fall);
            let first = self.holds.len();
            for _ in 0..ROUNDS {
                let left = self.holds[first..].iter().fold(fall, |left, hold| {
                    let normal = DVec3::from_array(hold.normal);
                    left - normal * normal.dot(fall)
                });
                let out = |stop: &Stop| DVec3::from_array(stop.normal).dot(left);
                let of_block = self.stops_here.iter().filter(|stop| stop.block == b);
                let most = of_block.max_by(|x, y| out(x).total_cmp(&out(y)));
                let Some(stop) = most.filter(|stop| out(stop) > PULLS * fall.length()) else {
                    break;
                };
                let way_out = DVec3::from_array(stop.normal);
                if !add_square(&mut self.holds, first, b, way_out) {
                    break;
                }
                while let Some(pulls) = pulling(&self.holds[first..], fall) {
                    self.holds.remove(first + pulls);
                    // No more than two are left, to be made square again.
                    let mut left = [None; 2];
                    for (left, hold) in left.iter_mut().zip(&self.holds[first..]) {
                        *left = Some(DVec3::from_array(hold.way_out));
                    }
                    self.holds.truncate(first);
                    for way_out in left.into_iter().flatten() {
                        add_square(&mut self.holds, first, b, way_out);
                    }
                }
            }
        }
    }
}

/// Adds a way out to those of its block, which begin at `first`, unless it is one of theirs. Whether it was
/// none.
fn add_square(holds: &mut Vec<Hold>, first: usize, block: usize, way_out: DVec3) -> bool {
    let mut normal = way_out;
    for hold in &holds[first..] {
        let along = DVec3::from_array(hold.normal);
        normal -= along * normal.dot(along);
    }
    let length = normal.length();
    // What is left is the rounding of the others, or nearly parallel to them.
    if length < 0.05 || holds.len() - first == 3 {
        return false;
    }
    let (normal, way_out) = ((normal / length).to_array(), way_out.to_array());
    holds.push(Hold { block, way_out, normal, out_by: 0.0, by: 0.0, pull: 0.0, along: 0 });
    true
}

/// Which of a block's limits would have to pull, and most.
fn pulling(holds: &[Hold], fall: DVec3) -> Option<usize> {
    let mut push = [0.0; 3];
    for (j, hold) in holds.iter().enumerate().take(3).rev() {
        let normal = DVec3::from_array(hold.normal);
        let beside = |i: usize| DVec3::from_array(holds[i].way_out).dot(normal);
        let others: f64 = (j + 1..holds.len().min(3)).map(|i| push[i] * beside(i)).sum();
        push[j] = (fall.dot(normal) - others) / beside(j);
    }
    let pulls = |i: &usize| push[*i] < -PULLS * fall.length();
    (0..holds.len().min(3)).filter(pulls).min_by(|a, b| push[*a].total_cmp(&push[*b]))
}

/// Which blocks are held, and how often.
fn signature(holds: &[Hold]) -> u64 {
    holds.iter().fold(0, |sum: u64, hold| sum.wrapping_mul(31).wrapping_add(1 + hold.block as u64))
}

/// Whether a limit has nearly this way out, by the cosine between them.
fn is_same(stop: &Stop, block: usize, way_out: [f64; 3], cos: f64) -> bool {
    stop.block == block && DVec3::from_array(stop.normal).dot(DVec3::from_array(way_out)) > cos
}

/// Takes the directions that are held to out of a vector.
fn take_out(system: &impl System, of: &mut [f64], holds: &[Hold]) {
    for hold in holds {
        let freedoms = system.blocks()[hold.block].freedoms();
        let out: f64 = freedoms.clone().zip(hold.normal).map(|(freedom, n)| of[freedom] * n).sum();
        for (freedom, n) in freedoms.zip(hold.normal) {
            of[freedom] -= out * n;
        }
    }
}

/// The second derivative of the linear problem along a direction.
fn curvature(system: &impl System, linear: &Linear, direction: &[f64]) -> f64 {
    let goals = linear.residual.len();
    let mut sum = 0.0;
    for g in 0..goals {
        let mut along = DVec3::ZERO;
        for (freedom, d) in direction.iter().enumerate() {
            along += linear.columns[freedom * goals + g] * *d;
        }
        sum += along.length_squared();
    }
    let stiff = direction.iter().zip(&linear.stiffness).map(|(d, s)| d * d * s);
    debug_assert_eq!(system.blocks().iter().map(|b| b.len).sum::<usize>(), direction.len());
    sum + stiff.sum::<f64>()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
