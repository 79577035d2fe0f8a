//! In how many dimensions a joint moves (A14, figure 4 of the paper).

use glam::{DVec2, DVec3};

use super::column::{extent, ticks};
use super::series::Series;
use crate::math::{Rotation, mean_rotation, symmetric_eigen};
use crate::picture::card::thinned;
use crate::picture::dial::degrees;
use crate::picture::svg::{Anchor, Canvas};

const SIZE: DVec2 = DVec2::new(280.0, 172.0);

/// Samples in one of the two pictures, at most.
const DOTS: usize = 300;

/// At most so many samples are looked at, evenly spread in time.
const MOST: usize = 1000;

/// The samples as rotation vectors from their mean, seen along the third and along the second of their
/// principal axes, to one scale: a hinge is a line in both, a universal joint a surface, a ball a cloud.
///
/// # Source
///
/// Figure 4 of M. Engell-Nørregård and K. Erleben, "Estimation of joint types and joint limits from
/// motion capture data", which has the vector parts of quaternions; a rotation vector has the same
/// direction, and the angle as its length.
pub(super) fn motion_space(series: &Series) -> Option<(Canvas, DVec2)> {
    let kept: Vec<Rotation> = series
        .turns
        .iter()
        .zip(&series.left_out)
        .filter(|(_, out)| !**out)
        .map(|(m, _)| m)
        .collect();
    let step = kept.len().div_ceil(MOST).max(1);
    let samples: Vec<Rotation> = kept.into_iter().step_by(step).collect();
    if samples.len() < 2 {
        return None;
    }
    let mean = mean_rotation(samples.iter().map(|m| (*m, 1.0)))?.rotation;
    let vectors: Vec<DVec3> = samples.iter().map(|m| (mean.inverse() * *m).log()).collect();
    let mut sums = [[0.0; 3]; 3];
    for v in &vectors {
        let v = v.to_array();
        for (row, a) in sums.iter_mut().zip(v) {
            for (sum, b) in row.iter_mut().zip(v) {
                *sum += a * b;
            }
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "at most MOST")]
    let count = vectors.len() as f64;
    let eigen = symmetric_eigen(sums)?;
    let axes = eigen.vectors.map(DVec3::from_array);
    let spread = eigen.values.map(|sum| (sum.max(0.0) / count).sqrt());
    let along: Vec<DVec3> = vectors
        .iter()
        .map(|v| DVec3::new(v.dot(axes[0]), v.dot(axes[1]), v.dot(axes[2])))
        .collect();
    let reach = extent(along.iter().flat_map(|v| v.to_array().map(f64::abs)))?[1].max(0.0175);

    let mut canvas = Canvas::default();
    let side = 106.0;
    for (panel, other) in [(0.0, 1_usize), (1.0, 2)] {
        let at = DVec2::new(36.0 + panel * (side + 22.0), 18.0);
        let middle = at + DVec2::splat(0.5 * side);
        canvas.rectangle("rp-panel", at, DVec2::splat(side), 0.0);
        let to = |x: f64| 0.47 * side * x / reach;
        let shown = ticks(-reach.to_degrees(), reach.to_degrees(), 4, true);
        let mut grid = Vec::new();
        for tick in shown {
            let offset = to(tick.to_radians());
            let text = degrees(tick.to_radians());
            grid.push(vec![
                DVec2::new(middle.x + offset, at.y),
                DVec2::new(middle.x + offset, at.y + side),
            ]);
            grid.push(vec![
                DVec2::new(at.x, middle.y - offset),
                DVec2::new(at.x + side, middle.y - offset),
            ]);
            canvas.text(
                "cl-small",
                DVec2::new(middle.x + offset, at.y + side + 12.0),
                Anchor::Middle,
                &text,
            );
            if panel == 0.0 {
                canvas.text(
                    "cl-small",
                    DVec2::new(at.x - 4.0, middle.y - offset + 3.5),
                    Anchor::End,
                    &text,
                );
            }
        }
        canvas.path("cl-grid", &grid, false);
        let dots: Vec<DVec2> =
            along.iter().map(|v| middle + DVec2::new(to(v.x), -to(v.to_array()[other]))).collect();
        canvas.dots("cl-seen", &thinned(dots, DOTS));
        let title = if other == 1 { "1st and 2nd axis" } else { "1st and 3rd axis" };
        canvas.text("cl-ink", DVec2::new(middle.x, 12.0), Anchor::Middle, title);
    }
    let words = spread.map(degrees).join(", ");
    let at = DVec2::new(0.5 * SIZE.x, 18.0 + side + 32.0);
    canvas.text("cl-small", at, Anchor::Middle, &format!("spread along them: {words}"));
    Some((canvas, SIZE))
}
