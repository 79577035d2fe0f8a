//! Couplings as a page: every pair with its samples, its function and its band.
#![allow(clippy::cast_precision_loss, reason = "counts are below 2^32")]

use std::fmt::Write as _;

use glam::DVec2;

use super::{Couplings, Found};
use crate::maps::Curve;
use crate::math::Angle;
use crate::picture::axis::{extent, ticks};
use crate::picture::document;
use crate::picture::svg::{Anchor, Canvas, Html, fitted};
use crate::rig::Rule;

const STYLE: &str = include_str!("style.css");

/// The size of a picture, in pixels.
const SIZE: DVec2 = DVec2::new(370.0, 290.0);

/// Left and above of the frame, and right and below of it.
const MARGINS: [DVec2; 2] = [DVec2::new(52.0, 8.0), DVec2::new(8.0, 40.0)];

/// The most samples that are drawn.
const DOTS: usize = 1500;

/// A page that needs nothing beside it.
#[must_use]
pub fn html(title: &str, couplings: &Couplings) -> String {
    let mut page = String::new();
    let Couplings { found, angles, still, pairs, untold, echoes, single, samples, .. } = couplings;
    let warnings = couplings.warnings();
    let warnings = warnings.iter().map(|w| format!("<p class=\"warning\">{}.</p>\n", Html(w)));
    let warnings: String = warnings.collect();
    // Writing to a string does not fail.
    let _ = write!(
        page,
        "{}<h1>What moves with what</h1>\n<p>{}: {} among {pairs} pairs of {angles} angles, from \
         {samples} samples. {still} angles hardly move; {untold} pairs could not be tested, {single} hang on one take, \
         {echoes} follow from others. Dots are samples; the line is what was learnt, its band holds 95 % of what other draws \
         of the same motion would have given. Of a bound that says how well the edge of this motion is known, not that \
         nobody can go farther. After the name of a joint comes the angle: <code>turn</code> of a hinge, <code>first</code> \
         and <code>second</code> of a universal joint, of a ball <code>x</code> and <code>y</code>, how its bone swings about \
         the axes of its entry in the rig, and <code>twist</code>, how it rolls. A bound takes a share of the range away, on \
         average; out of step is what that share would be between angles that have nothing to do with each other.</p>\n{}<div class=\"pairs\">\n",
        document::begin("Couplings", &[STYLE], None),
        Html(title),
        match found.len() {
            0 => "no couplings were found".to_owned(),
            1 => "1 coupling was found".to_owned(),
            n => format!("{n} couplings were found"),
        },
        warnings,
    );
    for of in found {
        let (active, passive) = (of.coupling.active.to_string(), of.coupling.passive.to_string());
        let (does, how) = match &of.coupling.rule {
            Rule::Drive { .. } => ("drives", ""),
            Rule::Bound { lower: Some(_), upper: None } => ("bounds", " from below"),
            Rule::Bound { lower: None, .. } => ("bounds", " from above"),
            Rule::Bound { .. } => ("bounds", " on both sides"),
        };
        let name = format!("{active} {does} {passive}{how}");
        let _ = writeln!(
            page,
            "<figure><h2>{} {does} {}{how}</h2>{}<figcaption>{}</figcaption></figure>",
            Html(&active),
            Html(&passive),
            picture(of).embedded(SIZE, &name),
            caption(of)
        );
    }
    page.push_str("</div>\n");
    page.push_str(&document::end(None));
    page
}

fn caption(of: &Found) -> String {
    let degrees = |angle: Option<Angle>| angle.map_or(0.0, Angle::degrees);
    let share = of.coupling.false_share.unwrap_or(1.0);
    // What the tail of a distribution says of the rarest is not known so well.
    let share =
        if share < 1e-4 { "below 0.01 %".to_owned() } else { format!("{:.2} %", 100.0 * share) };
    let lasting = if of.lasting { "" } else { "; rests on one take" };
    let periods = if of.by_periods { "; shows only in unusual periods" } else { "" };
    let known = format!(
        "known to ±{:.1}°, share of false ones {share}{lasting}{periods}",
        degrees(of.coupling.uncertain)
    );
    match of.coupling.rule {
        Rule::Drive { .. } => format!(
            "explains {:.0} % (out of step {:.0} %), within {:.1}°; {known}",
            100.0 * of.explained,
            100.0 * of.explained_by_chance,
            degrees(of.coupling.residual),
        ),
        Rule::Bound { ref lower, ref upper } => {
            let part = |side: &str, i: usize| {
                format!(
                    "takes {:.0} % {side} (out of step {:.0} %)",
                    100.0 * of.taken[i],
                    100.0 * of.taken_by_chance[i]
                )
            };
            let parts: Vec<String> = [(lower, "below", 0), (upper, "above", 1)]
                .into_iter()
                .filter(|(curve, ..)| curve.is_some())
                .map(|(_, side, i)| part(side, i))
                .collect();
            format!("{}; {known}", parts.join(", "))
        }
    }
}

/// From degrees to pixels.
struct View {
    low: DVec2,
    high: DVec2,
}

impl View {
    fn of(found: &Found) -> Self {
        let range = |i: usize| {
            let points = found.points_deg.iter().map(|p| p[i]);
            // What was learnt is within the picture, too.
            let learnt = found.fitted.iter().flat_map(|fit| fit.band.iter().map(|at| at[i]));
            let [low, high] = extent(points.chain(learnt)).unwrap_or([-1.0, 1.0]);
            let margin = (0.04 * (high - low)).max(0.5);
            [low - margin, high + margin]
        };
        let [x, y] = [range(0), range(1)];
        Self { low: DVec2::new(x[0], y[0]), high: DVec2::new(x[1], y[1]) }
    }

    fn at(&self, x: f64, y: f64) -> DVec2 {
        let room = SIZE - MARGINS[0] - MARGINS[1];
        let share = (DVec2::new(x, y) - self.low) / (self.high - self.low);
        let share = share.clamp(DVec2::ZERO, DVec2::ONE);
        MARGINS[0] + DVec2::new(share.x * room.x, (1.0 - share.y) * room.y)
    }
}

fn picture(found: &Found) -> Canvas {
    let view = View::of(found);
    let mut canvas = Canvas::default();
    canvas.rectangle("frame", MARGINS[0], SIZE - MARGINS[0] - MARGINS[1], 0.0);
    let bottom = SIZE.y - MARGINS[1].y;
    for x in ticks(view.low.x, view.high.x, 6, true) {
        let at = view.at(x, view.low.y);
        canvas.line("tick", at, at + DVec2::new(0.0, 4.0));
        canvas.text("", DVec2::new(at.x, bottom + 16.0), Anchor::Middle, &format!("{x:.0}°"));
    }
    for y in ticks(view.low.y, view.high.y, 6, true) {
        let at = view.at(view.low.x, y);
        canvas.line("tick", at, at - DVec2::new(4.0, 0.0));
        let digits = usize::from(view.high.y - view.low.y < 5.0);
        let text = format!("{y:.digits$}°");
        canvas.text("", at + DVec2::new(-7.0, 4.0), Anchor::End, &text);
    }
    let [x, y] = [&found.coupling.active, &found.coupling.passive].map(ToString::to_string);
    let width = SIZE.x - MARGINS[0].x - MARGINS[1].x;
    let names =
        format!("{} →, {} ↑", fitted(&x, 11.0, 0.45 * width), fitted(&y, 11.0, 0.45 * width));
    canvas.text(
        "axis",
        DVec2::new(MARGINS[0].x + 0.5 * width, SIZE.y - 6.0),
        Anchor::Middle,
        &names,
    );
    let step = found.points_deg.len().div_ceil(DOTS).max(1);
    let dots: Vec<DVec2> =
        found.points_deg.iter().step_by(step).map(|[x, y]| view.at(*x, *y)).collect();
    canvas.dots("dots", &dots);
    for fit in &found.fitted {
        let low = fit.band.iter().map(|[x, _, low, _]| view.at(*x, *low));
        let high = fit.band.iter().rev().map(|[x, _, _, high]| view.at(*x, *high));
        canvas.path("band", &[low.chain(high).collect()], true);
    }
    let curves: Vec<&Curve> = match &found.coupling.rule {
        Rule::Drive { curve } => vec![curve],
        Rule::Bound { lower, upper } => lower.iter().chain(upper).collect(),
    };
    let ends = found.coupling.seen.map(|ends| ends.map(Angle::degrees));
    let [from, to] = ends.unwrap_or([view.low.x, view.high.x]);
    for curve in curves.into_iter().filter_map(|curve| curve.prepare().ok()) {
        const STEPS: u32 = 80;
        let at = |i: u32| {
            let x = from + (to - from) * f64::from(i) / f64::from(STEPS);
            view.at(x, curve.at(x)[0])
        };
        canvas.path("curve", &[(0..=STEPS).map(at).collect()], false);
    }
    canvas
}
