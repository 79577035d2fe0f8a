//! From samples on a circle to one interval, before and after (A9, A14).

use std::f64::consts::{PI, TAU};

use glam::DVec2;

use super::column::{Gap, extent, histogram, largest_gap, lifted, middle, ticks};
use super::plot::tenths;
use super::series::{Channel, Series};
use crate::math::Arc;
use crate::picture::dial::degrees;
use crate::picture::svg::{Anchor, Canvas, width_of};

const ROW: f64 = 88.0;
const TOP: f64 = 14.0;
const BARS: f64 = 40.0;
const SIDE: f64 = 22.0;

/// Each limited angle of a joint as it was recorded, from −180° to 180°, with the largest gap (left); and
/// cut open at the gap, with the resulting range (right). `None` if there is nothing to show.
pub(super) fn before_and_after(series: &Series, width: f64) -> Option<(Canvas, DVec2)> {
    let mut canvas = Canvas::default();
    let half = 0.5 * (width - 2.0 * SIDE - 32.0);
    let size = DVec2::new(half, BARS);
    let mut y = TOP;
    for channel in &series.channels {
        let Some(arc) = channel.limit.filter(|arc| !arc.is_empty()) else { continue };
        let values: Vec<f64> = series.accepted(channel).collect();
        let Some(gap) = largest_gap(&values) else { continue };
        let title = format!("{}: as recorded", channel.name);
        canvas.text("cl-ink", DVec2::new(SIDE, y), Anchor::Start, &title);
        let right = SIDE + half + 32.0;
        canvas.text("cl-ink", DVec2::new(right, y), Anchor::Start, "in one piece");
        let at = DVec2::new(SIDE, y + 8.0);
        before(&mut canvas, at, size, &values, gap);
        let arrow = at + DVec2::new(half + 16.0, 0.5 * BARS + 5.0);
        canvas.text("rp-arrow", arrow, Anchor::Middle, "→");
        after(&mut canvas, DVec2::new(right, y + 8.0), size, channel, &values, arc);
        y += ROW;
    }
    (y > TOP).then(|| (canvas, DVec2::new(width, y - 10.0)))
}

/// Bars between two angles, as one outline.
fn bars(canvas: &mut Canvas, at: DVec2, size: DVec2, counts: &[u32]) {
    let most = f64::from(counts.iter().copied().max().unwrap_or(0).max(1));
    let parts = f64::from(u32::try_from(counts.len()).unwrap_or(u32::MAX).max(1));
    let step = size.x / parts;
    let mut data = String::new();
    let mut command = |letter: char, value: f64| {
        data.push(letter);
        tenths(&mut data, value);
    };
    let mut before = 0;
    command('M', at.x);
    command(' ', at.y + size.y);
    for (i, count) in (0_u32..).zip(counts).chain([(counts.len().try_into().unwrap_or(0), &0)]) {
        if *count != before {
            // A single sample is still seen.
            let share = (f64::from(*count) / most).sqrt();
            let height = if *count == 0 { 0.0 } else { (size.y * share).max(1.0) };
            command('H', at.x + f64::from(i) * step);
            command('V', at.y + size.y - height);
            before = *count;
        }
    }
    data.push('Z');
    canvas.data("rp-bars", &data);
}

fn axis(canvas: &mut Canvas, at: DVec2, size: DVec2, marks: &[(f64, String)]) {
    let bottom = at.y + size.y;
    let mut lines = vec![vec![DVec2::new(at.x, bottom), DVec2::new(at.x + size.x, bottom)]];
    for (x, text) in marks {
        lines.push(vec![DVec2::new(*x, bottom), DVec2::new(*x, bottom + 4.0)]);
        canvas.text("cl-small", DVec2::new(*x, bottom + 14.0), Anchor::Middle, text);
    }
    canvas.path("cl-tick", &lines, false);
}

fn before(canvas: &mut Canvas, at: DVec2, size: DVec2, values: &[f64], gap: Gap) {
    canvas.rectangle("rp-panel", at, size, 0.0);
    let x = |angle: f64| at.x + size.x * (angle + PI) / TAU;
    // The gap goes around.
    let to = gap.from + gap.width;
    let mut parts = vec![(gap.from, to.min(PI))];
    if to > PI {
        parts.push((-PI, to - TAU));
    }
    let mut widest = (0.0, 0.0);
    for (from, to) in parts {
        let (from, to) = (x(from), x(to).min(at.x + size.x));
        canvas.rectangle(
            "rp-gap",
            DVec2::new(from, at.y),
            DVec2::new((to - from).max(0.0), size.y),
            0.0,
        );
        if to - from > widest.1 - widest.0 {
            widest = (from, to);
        }
    }
    bars(canvas, at, size, &histogram(values.iter().copied(), -PI, PI, 180));
    let text = format!("largest gap {}", degrees(gap.width));
    if widest.1 - widest.0 > width_of(&text, 10.0) + 8.0 {
        let place = DVec2::new(0.5 * (widest.0 + widest.1), at.y + 13.0);
        canvas.text("cl-small", place, Anchor::Middle, &text);
    }
    let marks =
        [-180.0_f64, -90.0, 0.0, 90.0, 180.0].map(|d| (x(d.to_radians()), degrees(d.to_radians())));
    axis(canvas, at, size, &marks);
}

fn after(canvas: &mut Canvas, at: DVec2, size: DVec2, channel: &Channel, values: &[f64], arc: Arc) {
    canvas.rectangle("rp-panel", at, size, 0.0);
    let middle = middle(Some(arc), channel.circular);
    let half = 0.5 * arc.width().radians();
    let [low, high] = match (arc.is_full(), channel.circular) {
        (true, _) => [-PI, PI],
        (false, true) => [middle - half, middle + half],
        (false, false) => [arc.min().radians(), arc.max().radians()],
    };
    let seen = values.iter().map(|a| lifted(*a, middle));
    let [from, to] = extent(seen.clone().chain([low, high])).unwrap_or([low, high]);
    let pad = (0.08 * (to - from)).max(0.009);
    let (from, to) = (from - pad, to + pad);
    let x = |angle: f64| at.x + size.x * ((angle - from) / (to - from)).clamp(0.0, 1.0);
    let corner = DVec2::new(x(low), at.y);
    canvas.rectangle("rp-band", corner, DVec2::new(x(high) - x(low), size.y), 0.0);
    bars(canvas, at, size, &histogram(seen, from, to, 90));
    if !arc.is_full() {
        let line = |a: f64| vec![DVec2::new(x(a), at.y), DVec2::new(x(a), at.y + size.y)];
        canvas.path("rp-end", &[line(low), line(high)], false);
    }
    let shown = ticks(from.to_degrees(), to.to_degrees(), 6, true);
    let marks: Vec<(f64, String)> =
        shown.into_iter().map(|d| (x(d.to_radians()), degrees(d.to_radians()))).collect();
    axis(canvas, at, size, &marks);
}
