//! Conjugate gradients inside of limits: the source's way, slower than [`levenberg`](super::levenberg).

use super::search::{Ending, Scratch};
use super::system::{Linear, Stop, System};

/// How often a step is halved before the search gives up.
const HALVINGS: u32 = 30;

/// Looks for where a system's cost is least, from `here`.
///
/// # Source
///
/// C11, eq 35 to 37: nonlinear conjugate gradients, by R. Fletcher and C. Reeves 1964 with the factor of
/// E. Polak and G. Ribière 1969, never negative. The first length of a step is that at which the linear
/// problem is least, halved until the cost is less. Directions into limits that the last step ran into
/// are taken out of the slope, and the search begins anew wherever these change.
pub(super) fn solve(
    system: &mut impl System,
    scratch: &mut Scratch,
    most_steps: u32,
) -> (Ending, u32) {
    let Scratch { linear, step, stops, stops_here, slope, slope_before, direction, .. } = scratch;
    stops_here.clear();
    system.look(linear);
    let postured = linear.is_postured();
    direction.clear();
    slope_before.clear();
    let mut held = 0;
    for steps in 0..most_steps {
        let met = linear.met;
        if met && !postured {
            return (Ending::Met, steps);
        }
        let ending = if met { Ending::Met } else { Ending::Stuck };
        let before = linear.cost();
        system.differentiate(linear);
        slope.clear();
        for (b, block) in system.blocks().iter().enumerate() {
            slope.extend(block.freedoms().map(|freedom| linear.slope(freedom, system.touched(b))));
        }
        let holds = take_out(system, slope, stops_here);
        let square = dot(slope, slope);
        if square < 1e-24 * (1.0 + before) {
            return (ending, steps);
        }
        if slope_before.len() == slope.len() && holds == held {
            let turned = (square - dot(slope, slope_before)) / dot(slope_before, slope_before);
            let turned = turned.max(0.0);
            for (d, s) in direction.iter_mut().zip(slope.iter()) {
                *d = turned * *d - s;
            }
        }
        // At first, and where it would lead up.
        if direction.len() != slope.len() || holds != held || dot(direction, slope) >= 0.0 {
            direction.clear();
            direction.extend(slope.iter().map(|s| -s));
        }
        held = holds;
        take_out_of(system, direction, stops_here);
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
        if !better {
            step.fill(0.0);
            stops.clear();
            system.try_step(step, stops);
            system.look(linear);
            return (ending, steps);
        }
        system.accept();
        std::mem::swap(stops, stops_here);
        if before - linear.cost() < 1e-9 * before {
            return (if linear.met { Ending::Met } else { Ending::Stuck }, steps + 1);
        }
    }
    (if linear.met { Ending::Met } else { Ending::TooLong }, most_steps)
}

/// Takes the parts of the slope that lead on into limits out of it. How many there were.
fn take_out(system: &impl System, slope: &mut [f64], stops: &mut Vec<Stop>) -> usize {
    stops.retain(|stop| {
        let out = system.blocks()[stop.block].freedoms().zip(stop.normal);
        out.map(|(freedom, n)| slope[freedom] * n).sum::<f64>() < 0.0
    });
    take_out_of(system, slope, stops);
    stops.len()
}

/// Takes the directions of stops out of a vector.
fn take_out_of(system: &impl System, of: &mut [f64], stops: &[Stop]) {
    for stop in stops {
        let freedoms = system.blocks()[stop.block].freedoms();
        let out: f64 = freedoms.clone().zip(stop.normal).map(|(freedom, n)| of[freedom] * n).sum();
        for (freedom, n) in freedoms.zip(stop.normal) {
            of[freedom] -= out * n;
        }
    }
}

/// The second derivative of the linear problem along a direction.
fn curvature(system: &impl System, linear: &Linear, direction: &[f64]) -> f64 {
    let goals = linear.residual.len();
    let mut sum = 0.0;
    for g in 0..goals {
        let mut along = glam::DVec3::ZERO;
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
