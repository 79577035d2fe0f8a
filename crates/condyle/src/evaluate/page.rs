//! The page of an evaluation: a table, and poses as in figure 8 of the source paper.

use std::fmt::Write as _;

use glam::{DVec2, DVec3};

use super::{Evaluation, FramePoses, Way, WayErrors};
use crate::motion::World;
use crate::picture::document;
use crate::picture::svg::{Canvas, Escaped};
use crate::skeleton::Skeleton;

/// How many frames of each clip are drawn.
const DRAWN: usize = 5;

/// The size of a picture, in pixels.
const SIZE: DVec2 = DVec2::new(190.0, 240.0);

const STYLE: &str = include_str!("style.css");

/// A clip on a page.
#[derive(Clone, Copy, Debug)]
pub struct Evaluated<'a> {
    /// The name of its file.
    pub name: &'a str,
    /// Its skeleton.
    pub skeleton: &'a Skeleton,
    /// What came out.
    pub evaluation: &'a Evaluation,
}

/// A page that needs nothing beside it: errors of all ways in a table, and some frames of each clip,
/// evenly spread, as captured (red) and as found (green) without limits, near the mean pose and with
/// limits (A15).
#[must_use]
pub fn html(clips: &[Evaluated<'_>]) -> String {
    let mut page = String::new();
    let evaluations: Vec<Evaluation> = clips.iter().map(|c| c.evaluation.clone()).collect();
    let all = Evaluation::together(&evaluations);
    // Writing to a string does not fail.
    let _ = write!(
        page,
        "{}<h1>Do limits help?</h1>\n<p>Each pose was found again from the \
         positions of a few joints alone, by the same solver, from the same start, with the same weights. \
         Smaller errors are better.</p>\n",
        document::begin("Do limits help?", &[STYLE], None),
    );
    table(&mut page, &all, &evaluations);
    for clip in clips {
        let _ = writeln!(page, "<h2>{}</h2>", Escaped(clip.name));
        if clips.len() > 1 {
            table(&mut page, &clip.evaluation.ways, std::slice::from_ref(clip.evaluation));
        }
        pictures(&mut page, clip);
    }
    page.push_str(&document::end(None));
    page
}

fn table(page: &mut String, ways: &[WayErrors], of: &[Evaluation]) {
    let published: usize = of.iter().map(|e| e.published * e.poses.len()).sum();
    page.push_str(
        "<table>\n<thead><tr><th></th><th colspan=\"2\">positions, mm<br>mean, 95 %</th><th \
         colspan=\"2\">rotations, °<br>mean, 95 %</th><th>paths<br>missed by, mm</th>",
    );
    if published > 0 {
        page.push_str("<th>outside published<br>ranges</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for way in ways {
        let _ = write!(
            page,
            "<tr><th>{}</th><td>{:.1}</td><td>{:.1}</td><td>{:.2}</td><td>{:.2}</td><td>{:.1}</td>",
            way.way.title(),
            1e3 * way.position_m.mean(),
            1e3 * way.position_m.p95(),
            way.rotation_deg.mean(),
            way.rotation_deg.p95(),
            1e3 * way.missed_m.mean(),
        );
        if published > 0 {
            let _ = write!(page, "<td>{}</td>", way.outside_published);
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table>\n");
    if published > 0 {
        let captured: usize = of.iter().map(|e| e.captured_outside_published).sum();
        let _ = writeln!(
            page,
            "<p>Outside of published ranges: joints of the body, counted in every pose, {published} in \
             all. Of the capture itself it is {captured}.</p>"
        );
    }
}

fn pictures(page: &mut String, clip: &Evaluated<'_>) {
    let poses = &clip.evaluation.poses;
    page.push_str(
        "<p><span class=\"red\">captured</span>, <span class=\"green\">found</span>; dots are what was \
         kept</p>\n",
    );
    let shown = [Way::WithoutLimits, Way::MeanPose, Way::WithLimits];
    let step = poses.len().div_ceil(DRAWN).max(1);
    page.push_str("<div class=\"poses\">\n");
    for frame in poses.iter().step_by(step) {
        let _ = writeln!(page, "<div><h3>frame {}</h3>", frame.frame.get());
        for way in shown {
            let Some(at) = Way::ALL.iter().position(|w| *w == way) else { continue };
            let picture = picture(clip, frame, at);
            let name = format!("frame {}, {}", frame.frame.get(), way.title());
            let _ = writeln!(
                page,
                "<figure>{}<figcaption>{}</figcaption></figure>",
                picture.embedded(SIZE, &name),
                way.title()
            );
        }
        page.push_str("</div>\n");
    }
    page.push_str("</div>\n");
}

fn picture(clip: &Evaluated<'_>, frame: &FramePoses, way: usize) -> Canvas {
    let captured = frame.captured.world(clip.skeleton);
    let found = frame.found[way].world(clip.skeleton);
    let view = View::of(&captured);
    let bones = |world: &World| -> Vec<Vec<DVec2>> {
        world.bones(clip.skeleton).map(|ends| ends.map(|p| view.at(p)).to_vec()).collect()
    };
    let mut canvas = Canvas::default();
    canvas.path("captured", &bones(&captured), false);
    canvas.path("found", &bones(&found), false);
    let kept = clip.evaluation.effectors.iter().map(|j| view.at(captured.positions_m[j.get()]));
    canvas.dots("kept", &kept.collect::<Vec<_>>());
    canvas
}

/// From aside, so that neither a walk nor arms held out hide behind themselves. Up is y.
struct View {
    middle: DVec3,
    scale: f64,
}

impl View {
    fn of(world: &World) -> Self {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for p in world.positions_m.iter().filter(|p| p.is_finite()) {
            (low, high) = (low.min(*p), high.max(*p));
        }
        if !(low.is_finite() && high.is_finite()) {
            return Self { middle: DVec3::ZERO, scale: 1.0 };
        }
        // With room for poses that reach farther.
        let size = (high - low).max(DVec3::splat(1e-6));
        let scale = 0.85 * (SIZE.y / size.y).min(SIZE.x / (size.x + size.z));
        Self { middle: 0.5 * (low + high), scale }
    }

    fn at(&self, p: DVec3) -> DVec2 {
        const ASIDE: DVec2 = DVec2::new(0.866, 0.5);
        let p = (p - self.middle) * self.scale;
        let across = p.x * ASIDE.x + p.z * ASIDE.y;
        let away = p.z * ASIDE.x - p.x * ASIDE.y;
        0.5 * SIZE + DVec2::new(across, -p.y - 0.2 * away)
    }
}
