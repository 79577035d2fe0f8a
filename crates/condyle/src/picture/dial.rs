//! Dials: an arc of angles on a circle.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use super::globe::View;
use super::svg::{Anchor, Canvas};
use crate::math::{Angle, Arc, trig};

/// Angle between the points of a drawn arc.
const STEP: f64 = 0.1;
/// The same for dials on a globe, which are small: a chord is off by a fifth of a pixel.
const SMALL_STEP: f64 = 0.35;

/// Angles from one end of an arc to the other, the whole circle without its end.
fn angles(arc: Arc, step: f64) -> Vec<f64> {
    let (from, sweep) = (arc.min().radians(), arc.width().radians());
    #[allow(clippy::cast_possible_truncation, reason = "at most 2π / STEP")]
    let steps = (sweep / step).ceil().max(1.0) as u32;
    let last = if arc.is_full() { steps } else { steps + 1 };
    (0..last).map(|i| from + sweep * f64::from(i) / f64::from(steps)).collect()
}

/// A dial that lies on the globe, where the bone points to `d`: the twists that are allowed there as
/// directions of the x axis (B13, figure 12 of the source paper), and a line where it is at zero twist.
/// `x` is where the x axis is after the direct swing, across `d`; both are components in the axes of
/// the view. The arc and `zero` are measured from there.
pub(super) fn on_globe(
    canvas: &mut Canvas,
    view: View,
    screen: impl Fn(DVec2) -> DVec2,
    d: DVec3,
    x: DVec3,
    arc: Arc,
    zero: f64,
) {
    let side = d.cross(x);
    let at = |angle: f64, radius: f64| {
        let (sin, cos) = trig::sin_cos(angle);
        screen(view.project(d + (x * cos + side * sin) * radius))
    };
    let ring =
        |arc: Arc| angles(arc, SMALL_STEP).into_iter().map(|a| at(a, RADIUS)).collect::<Vec<_>>();
    canvas.path("cl-rim", &[ring(Arc::FULL)], true);
    if !arc.is_empty() {
        let mut sector = ring(arc);
        if !arc.is_full() {
            sector.push(at(0.0, 0.0));
        }
        canvas.path("cl-twist", &[sector], true);
    }
    canvas.line("cl-zero", at(zero, 0.0), at(zero, 1.25 * RADIUS));
}

/// Radius of a dial on the globe, of which it is a part.
pub(super) const RADIUS: f64 = 0.11;

/// A dial of its own: zero to the right, angles counter-clockwise, both ends with their degrees. How
/// often angles were seen is a rose: `seen` counts equal parts of the circle from −180° on, and the area
/// of each petal is in proportion.
pub(super) fn plain(
    canvas: &mut Canvas,
    at: DVec2,
    radius: f64,
    name: &str,
    arc: Arc,
    seen: &[u32],
) {
    let point = |angle: f64, r: f64| {
        let (sin, cos) = trig::sin_cos(angle);
        at + DVec2::new(cos, -sin) * r
    };
    canvas.circle("cl-disc", at, radius);
    if !arc.is_empty() {
        let mut sector: Vec<DVec2> =
            angles(arc, STEP).into_iter().map(|a| point(a, 0.86 * radius)).collect();
        if !arc.is_full() {
            sector.push(at);
        }
        canvas.path("cl-area", &[sector.clone()], true);
        canvas.path("cl-rose", &rose(seen, |angle, r| point(angle, 0.82 * radius * r)), true);
        canvas.path("cl-edge", &[sector], true);
    }
    let ticks = (0..12).map(|i| {
        let angle = TAU * f64::from(i) / 12.0;
        let inner = if i % 3 == 0 { 0.92 } else { 0.95 };
        vec![point(angle, inner * radius), point(angle, radius)]
    });
    canvas.path("cl-tick", &ticks.collect::<Vec<_>>(), false);
    canvas.path("cl-zero", &[vec![at, point(0.0, radius)]], false);
    canvas.circle("cl-dot", at, 2.5);
    labels(canvas, at, radius, arc);
    let below = at + DVec2::new(0.0, radius + 30.0);
    canvas.text("cl-ink", below, Anchor::Middle, name);
}

/// The petals of a rose, at most of length one.
fn rose(seen: &[u32], point: impl Fn(f64, f64) -> DVec2) -> Vec<Vec<DVec2>> {
    let most = f64::from(seen.iter().copied().max().unwrap_or(0).max(1));
    let parts = f64::from(u32::try_from(seen.len()).unwrap_or(u32::MAX));
    let petal = |(i, count): (u32, &u32)| {
        let length = (f64::from(*count) / most).sqrt();
        let at = |k: f64| TAU * ((f64::from(i) + k) / parts - 0.5);
        let rim = [0.08, 0.5, 0.92].map(|k| point(at(k), length));
        (*count > 0).then(|| [point(0.0, 0.0)].into_iter().chain(rim).collect())
    };
    (0..).zip(seen).filter_map(petal).collect()
}

fn labels(canvas: &mut Canvas, at: DVec2, radius: f64, arc: Arc) {
    let mut ends = Vec::new();
    if !arc.is_full() && !arc.is_empty() {
        let [min, max] = arc.ends_about_zero().map(Angle::radians);
        // Labels that would touch are pushed apart, each to its own side.
        let apart = 54.0 / (radius + 12.0);
        let gap = (TAU - (max - min)).min(max - min);
        let push = (0.5 * (apart - gap)).max(0.0);
        let push = if max - min <= TAU - (max - min) { push } else { -push };
        if max - min < 5e-4 {
            ends.push((min, degrees(min)));
        } else {
            ends.push((min - push, degrees(min)));
            ends.push((max + push, degrees(max)));
        }
    }
    let zero_is_free = ends.iter().all(|(a, _)| {
        let turn = (a / TAU - (a / TAU).round()).abs() * TAU;
        turn > 26.0 / (radius + 12.0)
    });
    if zero_is_free {
        ends.push((0.0, "0°".to_owned()));
    }
    for (angle, text) in ends {
        let (sin, cos) = trig::sin_cos(angle);
        let anchor = if cos > 0.35 {
            Anchor::Start
        } else if cos < -0.35 {
            Anchor::End
        } else {
            Anchor::Middle
        };
        let place = at + DVec2::new(cos * (radius + 5.0), -sin * (radius + 9.0) + 4.0);
        canvas.text("cl-ink", place, anchor, &text);
    }
}

/// Whole degrees where that says it all, else tenths.
pub(crate) fn degrees(radians: f64) -> String {
    let text = format!("{:.1}", radians.to_degrees());
    let text = text.strip_suffix(".0").unwrap_or(&text);
    let text = if text == "-0" { "0" } else { text };
    format!("{}°", text.replace('-', "−"))
}

/// `−40° to 70°`.
pub(crate) fn range(min: f64, max: f64) -> String {
    format!("{} to {}", degrees(min), degrees(max))
}

/// The same of an arc.
pub(crate) fn range_of(arc: Arc) -> String {
    if arc.is_full() {
        return "any".to_owned();
    }
    if arc.is_empty() {
        return "none".to_owned();
    }
    let [min, max] = arc.ends_about_zero().map(Angle::radians);
    if arc.width().degrees() < 0.05 { degrees(min) } else { range(min, max) }
}
