//! The way of the root, seen from above.

use std::fmt::Write as _;

use glam::DVec2;

use super::seam::{Part, Seam};
use crate::picture::axis::extent;
use crate::picture::svg::{Anchor, Canvas};

const WIDTH: f64 = 560.0;
const MARGIN: f64 = 26.0;
const HEIGHTS: [f64; 2] = [110.0, 420.0];
/// How many places are drawn at most, and how many of them with the facing.
const PLACES: usize = 300;
const ARROWS: usize = 11;

pub(super) fn add(text: &mut String, seam: &Seam<'_>) {
    let ground = seam.facing.ground();
    let right = seam.ahead();
    let left = ground.up().cross(right);
    let flat = |p: glam::DVec3| DVec2::new(p.dot(right), -p.dot(left));
    let mut frames = seam.spread(PLACES);
    // What is between the motions begins and ends where they do.
    frames.extend(seam.between());
    frames.sort_unstable();
    frames.dedup();
    let places: Vec<(usize, DVec2)> =
        frames.iter().map(|f| (*f, flat(seam.stand(*f).position_m))).collect();
    let xs = extent(places.iter().map(|(_, p)| p.x)).unwrap_or([0.0, 0.0]);
    let ys = extent(places.iter().map(|(_, p)| p.y)).unwrap_or([0.0, 0.0]);
    let size = DVec2::new(xs[1] - xs[0], ys[1] - ys[0]);
    let room = DVec2::new(WIDTH, HEIGHTS[1]) - 2.0 * MARGIN;
    // Who stands still moves by less than a step.
    let scale = (room / size.max(DVec2::new(0.5, 0.2))).min_element();
    let scale = if scale.is_finite() { scale } else { 1.0 };
    let height = (size.y * scale + 2.0 * MARGIN + 16.0).clamp(HEIGHTS[0], HEIGHTS[1] + 16.0);
    let middle = 0.5 * DVec2::new(xs[0] + xs[1], ys[0] + ys[1]);
    let center = DVec2::new(0.5 * WIDTH, 0.5 * (height - 16.0));
    let at = |p: DVec2| center + (p - middle) * scale;

    let mut canvas = Canvas::default();
    canvas.rectangle("sm-panel", DVec2::splat(0.5), DVec2::new(WIDTH - 1.0, height - 1.0), 4.0);
    for part in [Part::First, Part::Second, Part::Made] {
        let line = seam.stretch(part, &places, |p| at(*p));
        canvas.path(&format!("sm-way {}", part.class()), &[line], false);
    }
    for frame in seam.spread(ARROWS) {
        let stand = seam.stand(frame);
        let from = at(flat(stand.position_m));
        let direction = flat(ground.turn(stand.facing) * ground.forward());
        let (tip, side) = (from + direction * 18.0, direction.perp() * 3.5);
        let back = from + direction * 12.0;
        let class = format!("sm-facing {}", seam.part(frame).class());
        canvas.path(&class, &[vec![from, tip], vec![back + side, tip, back - side]], false);
        canvas.circle(&format!("sm-spot {}", seam.part(frame).class()), from, 3.2);
    }
    // The longest round length that is at most a quarter as wide as the picture.
    let lengths = [10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1];
    let length = lengths.into_iter().find(|l| l * scale <= 0.25 * WIDTH).unwrap_or(0.1);
    let (y, x) = (height - 10.0, 12.0);
    canvas.line("cl-zero", DVec2::new(x, y), DVec2::new(x + length * scale, y));
    let words = format!("{length} m");
    canvas.text("cl-small", DVec2::new(x + length * scale + 6.0, y + 3.5), Anchor::Start, &words);
    let _ = writeln!(
        text,
        "<figure class=\"way\">{}<figcaption>The way of {} seen from above, it goes to the right; arrows point \
         where the figure faces.</figcaption></figure>",
        canvas.embedded(DVec2::new(WIDTH, height), "the way seen from above"),
        crate::picture::svg::Html(&seam.skeleton[seam.facing.joint()].name),
    );
}
