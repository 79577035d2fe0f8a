//! Seams on a page to look at: poses, curves, distances.
//!
//! [`html`] gives the text of one HTML file that needs nothing beside it. The same input gives the same
//! bytes on every machine.

mod curves;
mod heat;
mod path;
mod seam;
mod strip;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::ops::Range;

use super::{DistanceMatrix, Facing, Jump, Overlap, UsualJumps};
use crate::motion::Clip;
use crate::picture::document;
use crate::picture::svg::{Html, STYLE};
use crate::skeleton::Skeleton;
use seam::Seam;

/// A seam between two motions, as it is shown.
#[derive(Clone, Debug)]
pub struct SeamView<'a> {
    /// What the two motions are called.
    pub names: [&'a str; 2],
    /// How they were connected.
    pub method: &'a str,
    /// Where they are alike, in frames of their own.
    pub window: Overlap,
    /// The last frame of the output that is as the first motion has it.
    pub first_last: usize,
    /// The frames of the output that are neither of the two motions'. The next one is the second's.
    pub made: Range<usize>,
    /// Which frame of the first motion [`first_last`](Self::first_last) is.
    pub from_frame: usize,
    /// Which frame of the second motion comes after [`made`](Self::made).
    pub to_frame: usize,
    /// How far apart the windows are.
    pub distance: f64,
    /// In what: `°`, `m`.
    pub unit: &'a str,
    /// The distances of other windows; the first motion's are its rows.
    pub matrix: Option<&'a DistanceMatrix>,
    /// The jump at the seam that is the largest against what is usual of its joint:
    /// [`UsualJumps::worst_across`].
    pub worst: Option<Jump>,
    /// What is usual of the joints of the two motions.
    pub usual: &'a UsualJumps,
}

/// The page for a motion that was connected from others.
///
/// A section for each seam shows about a second around it: poses seen from aside, the way seen from
/// above, the root and the joints that move most as curves, and the distances that the frames were chosen
/// by. The size does not depend on how long the motion is; a seam takes some 100 kB, and a table of
/// distances of 128 by 128 some 25 kB more.
///
/// ```
/// use condyle::edit::page::{SeamView, html};
/// use condyle::edit::{Facing, Keep, Method, Overlap, UsualJumps, connect};
/// use condyle::motion::FrameRate;
/// use condyle::synth::Gait;
///
/// let rate = FrameRate::from_fps(60.0).ok_or("no rate")?;
/// let (skeleton, walk) = Gait::default().generate(120, rate)?;
/// let facing = Facing::of(&skeleton);
/// let at = Overlap { first: 90, second: 30, frames: 20 };
/// let out = connect(&skeleton, &facing, [&walk, &walk], at, Keep::First, Method::default())?;
/// let usual = UsualJumps::of(&[&walk, &walk]);
/// let seam = SeamView {
///     names: ["walk.bvh", "walk.bvh"],
///     method: "blend",
///     window: at,
///     first_last: out.first_last,
///     made: out.made.clone(),
///     from_frame: out.first_last,
///     to_frame: out.second_first,
///     distance: 0.0,
///     unit: "°",
///     matrix: None,
///     worst: usual.worst_across(&out.clip, &out.made),
///     usual: &usual,
/// };
/// let page = html(&skeleton, &facing, &out.clip, &[seam]);
/// assert!(page.starts_with("<!DOCTYPE html>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
///
/// If the clip has another number of joints than the skeleton.
#[must_use]
pub fn html(skeleton: &Skeleton, facing: &Facing, clip: &Clip, seams: &[SeamView<'_>]) -> String {
    assert_eq!(clip.tracks().len(), skeleton.len(), "a clip has one track per joint");
    let styles = [STYLE, include_str!("style.css")];
    let mut text = document::begin("Connected motion", &styles, None);
    head(&mut text, clip, seams);
    for (i, view) in seams.iter().enumerate() {
        section(&mut text, i, view, &Seam::new(skeleton, facing, clip, seams, i));
    }
    let _ = write!(
        text,
        "<footer><p class=\"small\">Written by condyle {}. Frames count from 0.</p></footer>\n\
         </main>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    text
}

fn head(text: &mut String, clip: &Clip, seams: &[SeamView<'_>]) {
    let fps = (100.0 * clip.rate().nominal_fps()).round() / 100.0;
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "<header>\n<h1>Connected motion</h1>\n<p class=\"lead\">{} with {}: {}, {fps} per second, {:.2} s.</p>",
        counted(seams.len() + 1, "motion"),
        counted(seams.len(), "seam"),
        counted(clip.frame_count(), "frame"),
        clip.duration_s(),
    );
    if seams.len() > 1 {
        text.push_str("<ol class=\"seams\">\n");
        for (i, seam) in seams.iter().enumerate() {
            let _ = writeln!(text, "<li><a href=\"#seam{}\">{}</a></li>", i + 1, title(seam));
        }
        text.push_str("</ol>\n");
    }
    text.push_str("</header>\n");
}

fn section(text: &mut String, number: usize, view: &SeamView<'_>, seam: &Seam<'_>) {
    let _ = writeln!(text, "<section id=\"seam{}\">\n<h2>{}</h2>", number + 1, title(view));
    facts(text, view, seam);
    if seam.is_empty() {
        text.push_str("<p>There is nothing to draw.</p>\n</section>\n");
        return;
    }
    let _ = writeln!(
        text,
        "<p class=\"key\"><span><i class=\"spot first\"></i> {}</span> \
         <span><i class=\"spot made\"></i> {}</span> <span><i class=\"spot second\"></i> {}</span></p>",
        Html(view.names[0]),
        if seam.made().is_empty() { "the seam" } else { "made" },
        Html(view.names[1])
    );
    strip::add(text, seam);
    curves::add(text, seam, view);
    text.push_str("<div class=\"figures\">\n");
    if let Some(matrix) = view.matrix {
        heat::add(text, matrix, view);
    }
    path::add(text, seam);
    text.push_str("</div>\n</section>\n");
}

fn title(view: &SeamView<'_>) -> String {
    format!("{} → {}", Html(view.names[0]), Html(view.names[1]))
}

/// What was chosen, and how good it is.
fn facts(text: &mut String, view: &SeamView<'_>, seam: &Seam<'_>) {
    let made = view.made.len();
    let jump = view.worst.map_or_else(
        || "none".to_owned(),
        |worst| {
            format!(
                "{} °/s of {} in frame {}, {} times what is usual of it, {} °/s (99th percentile of the frames of \
                 both)",
                rounded(worst.by.degrees()),
                seam.skeleton.joints().get(worst.joint.get()).map_or_else(String::new, |joint| Html(&joint.name).to_string()),
                worst.frame,
                rounded(view.usual.ratio(&worst)),
                rounded(view.usual.of_joint(worst.joint).degrees())
            )
        },
    );
    let facts = [
        ("from", format!("frame {} of {}", view.from_frame, Html(view.names[0]))),
        ("to", format!("frame {} of {}", view.to_frame, Html(view.names[1]))),
        ("between them", format!("{} made", counted(made, "frame"))),
        ("how", Html(view.method).to_string()),
        ("windows", counted(view.window.frames, "frame")),
        ("apart by", format!("{} {}", rounded(view.distance), Html(view.unit))),
        ("largest jump of angular velocity, against what is usual of its joint", jump),
    ];
    text.push_str("<dl class=\"about\">\n");
    for (what, how) in facts {
        let _ = writeln!(text, "<div><dt>{what}</dt><dd>{how}</dd></div>");
    }
    text.push_str("</dl>\n");
}

/// A number with about three digits.
fn rounded(x: f64) -> String {
    match x.abs() {
        a if !a.is_finite() => "unknown".to_owned(),
        a if a < 1.0 => format!("{x:.3}"),
        a if a < 100.0 => format!("{x:.1}"),
        a if a < 1e9 => format!("{x:.0}"),
        _ => format!("{x:.1e}"),
    }
}

/// `1 frame`, `3 frames`.
fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
