//! Samples without order in time that lie far from all others.

use super::glitches::LEAST;
use crate::math::{Rotations, trig};

/// Which neighbour has to be far.
const NEIGHBOUR: usize = 5;

pub(super) fn find_isolated(series: &Rotations) -> Vec<usize> {
    let n = series.len();
    let [x, y, z, w] = series.xyzw();
    // Samples in a cell with others are not alone; what remains is looked at one by one.
    let mut cells: Vec<(u32, usize)> =
        (0..n).map(|i| (cell([x[i], y[i], z[i], w[i]]), i)).collect();
    cells.sort_unstable();
    let mut alone = Vec::new();
    for group in cells.chunk_by(|a, b| a.0 == b.0) {
        if group.len() <= NEIGHBOUR {
            alone.extend(group.iter().map(|c| c.1));
        }
    }
    if alone.is_empty() || alone.len() > 20_000_000 / n {
        return Vec::new();
    }
    let mut nearest = [0.0; NEIGHBOUR];
    let mut distance = |i: usize| {
        nearest.fill(0.0);
        for j in 0..n {
            let cos = (x[i] * x[j] + y[i] * y[j] + z[i] * z[j] + w[i] * w[j]).abs();
            if cos > nearest[NEIGHBOUR - 1] && j != i {
                nearest[NEIGHBOUR - 1] = cos;
                nearest.sort_unstable_by(|a, b| b.total_cmp(a));
            }
        }
        2.0 * trig::acos(nearest[NEIGHBOUR - 1].min(1.0))
    };
    let probes = 64.min(n);
    let mut usual: Vec<f64> =
        (0..probes).map(|k| distance((2 * k + 1) * n / (2 * probes))).collect();
    let usual = *usual.select_nth_unstable_by(probes / 2, f64::total_cmp).1;
    let threshold = (4.0 * usual).max(0.4 * LEAST);
    alone.retain(|&i| distance(i) > threshold);
    alone.sort_unstable();
    alone
}

/// A cell of rotations about 15° wide: by the largest component of the quaternion, and the others
/// divided by it.
fn cell(q: [f64; 4]) -> u32 {
    const STEPS: f64 = 6.0;
    let largest = (0..4).fold(0, |a, b| if q[b].abs() > q[a].abs() { b } else { a });
    let mut cell = u32::try_from(largest).unwrap_or(0);
    for (k, component) in q.iter().enumerate() {
        if k != largest {
            let ratio = component / q[largest];
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and 12"
            )]
            let step = ((ratio + 1.0) * STEPS).clamp(0.0, 2.0 * STEPS - 1.0) as u32;
            cell = cell * 16 + step;
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use crate::estimate::glitches::tests::missed_and_wrong;
    use crate::synth::Exploration;

    #[test]
    fn most_glitches_among_poses_without_order_are_found() {
        for exploration in [Exploration::Poses, Exploration::Scatter] {
            let (missed, wrong, all) = missed_and_wrong(exploration, 2000);
            println!("{exploration:?}: {missed} of {all} missed, {wrong} wrong");
            // Those that are missed lie among the other poses.
            assert!(10 * missed <= all, "{exploration:?}: {missed} of {all}");
            assert!(wrong <= 5, "{exploration:?}: {wrong}");
        }
    }
}
