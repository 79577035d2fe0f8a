//! What the page says about one joint.

use std::fmt::Write as _;

use glam::{DVec2, DVec3};

use super::WrittenRange;
use super::clinical::{Clinical, Sources};
use super::column::{around, extent};
use super::interval::before_and_after;
use super::plot::over_time;
use super::series::Series;
use super::space::motion_space;
use super::words::{Html, Name, confidence_bar, count, limits};
use crate::limits::{Limit, PreparedLimit};
use crate::math::{Angle, Arc};
use crate::picture::Figures;
use crate::picture::card::{Seen, drawing, percent};
use crate::picture::dial::{degrees, range};
use crate::picture::svg::Canvas;
use crate::rig::{End, JointKind, RigJoint};

/// Everything about a joint that is shown.
pub(super) struct Subject<'a> {
    pub(super) id: usize,
    pub(super) name: &'a str,
    pub(super) joint: &'a RigJoint,
    pub(super) prepared: PreparedLimit,
    pub(super) figures: Figures,
    /// What the files have for its angles, where that differs.
    pub(super) written: Vec<Option<WrittenRange>>,
    pub(super) clinical: Vec<Clinical>,
    /// Which colour is whose, of several files.
    pub(super) key: &'a str,
}

/// How wide the pictures of a card are beside each other.
const ROW: f64 = 1120.0;

pub(super) fn card(of: &Subject<'_>, series: &Series, sources: &mut Sources) -> String {
    const MOST_NOTES: usize = 20;
    let joint = of.joint;
    let mut text = format!("<section class=\"card\" id=\"j{}\">\n<h3>{}", of.id, Name(of.name));
    if let Some(first) = of.clinical.first() {
        let _ = write!(text, " <small>{}</small>", Html(first.title()));
    }
    let _ = writeln!(
        text,
        "</h3>\n<p class=\"gist\"><b>{}</b> {}",
        joint.kind,
        limits(joint, &of.figures, &of.written)
    );
    let edited = joint.is_edited();
    if let Some(sure) = joint.confidence.filter(|_| !edited) {
        let _ = writeln!(text, "<span class=\"sure\">sure {}</span>", confidence_bar(sure));
    }
    text.push_str("</p>\n");
    if let Some(why) = &joint.why {
        let whose = if edited { "As it was estimated: " } else { "" };
        let _ = writeln!(text, "<p class=\"why\">{whose}{}</p>", Html(why));
    }
    let _ = writeln!(text, "<p class=\"facts\">{}</p>", facts(of).join(" · "));
    if !joint.notes.is_empty() {
        text.push_str("<ul class=\"notes\">\n");
        for note in joint.notes.iter().take(MOST_NOTES) {
            let _ = writeln!(text, "<li>{}</li>", Html(note));
        }
        text.push_str("</ul>\n");
    }
    text.push_str(&ends(&of.figures.in_turn(&joint.ends, Arc::ends_about_zero)));
    if series.turns.is_empty() {
        text.push_str("<p>The files do not have this joint.</p>\n");
    } else if joint.kind == JointKind::Fixed && is_still(series) {
        text.push_str("<p>It holds still in all frames.</p>\n");
    } else {
        let class = if of.figures.arcs.len() == 1 { "figures one" } else { "figures" };
        let _ = writeln!(text, "{}<div class=\"{class}\">", of.key);
        figures(&mut text, of, series);
        text.push_str("</div>\n");
    }
    for clinical in &of.clinical {
        text.push_str(&clinical.html(sources));
    }
    text.push_str("</section>\n");
    text
}

/// How well each end is known.
fn ends(all: &[End]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut rows = String::new();
    for end in all {
        let times = match end.visits {
            1 => "once".to_owned(),
            n => format!("{} times", count(n)),
        };
        let told = match end.interval {
            Some([low, high]) => {
                let round = if end.goes_round(all) { ", all the way round" } else { "" };
                format!("{}{round}", range(low.radians(), high.radians()))
            }
            None => match end.open {
                Some(open) => format!("may be farther: {}", open.reason()),
                None => "may be farther".to_owned(),
            },
        };
        let _ = writeln!(
            rows,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{times}</td><td>{told}</td></tr>",
            end.of.as_str().replace('_', " "),
            degrees(end.at.radians()),
            end.reached.map(|x| degrees(x.radians())).unwrap_or_default()
        );
    }
    format!(
        "<div class=\"scroll\"><table class=\"ends\">\n<caption>Ends: where the limit ends, how far the \
         motion came, how often it came there and turned back, and where the joint's own end is, nine \
         times out of ten if visits are independent and thin out towards it no faster than evenly\
         </caption>\n<thead><tr>\
         <th scope=\"col\">end</th><th scope=\"col\">limit</th><th scope=\"col\">motion to</th>\
         <th scope=\"col\">seen</th>\
         <th scope=\"col\">true end</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}

fn facts(of: &Subject<'_>) -> Vec<String> {
    let joint = of.joint;
    let mut facts = Vec::new();
    facts.extend(joint.samples.map(|n| format!("{} samples", count(n))));
    facts.extend(joint.rejected.filter(|n| *n > 0).map(|n| format!("{} left out", count(n))));
    let told = |what: &str, angle: Angle| format!("{what} {:.2}°", angle.degrees().max(0.0));
    facts.extend(joint.noise.map(|noise| told("noise", noise)));
    facts.extend(joint.tolerance.map(|tolerance| told("tolerance", tolerance)));
    if let Some(swing) = &of.figures.swing {
        let cone = degrees(swing.cone().radians());
        facts.push(format!(
            "{} swing with {} of the sphere, as a cone of {cone}",
            swing.shape,
            percent(swing.share())
        ));
    }
    if joint.kind != JointKind::Free {
        facts.push(match (joint.rest_inside, joint.rest_excess) {
            (Some(false), Some(by)) => format!("rest pose outside by {}", degrees(by.radians())),
            (Some(false), None) => "rest pose outside".to_owned(),
            _ if of.figures.rest_inside => "rest pose inside".to_owned(),
            _ => format!("rest pose outside by {}", degrees(of.figures.rest_excess.radians())),
        });
    }
    facts.extend(joint.source.map(|s| s.as_str().to_owned()));
    if joint.is_edited_since() {
        facts.push("edited since".to_owned());
    }
    facts
}

/// Whether nothing that can be seen happens.
fn is_still(series: &Series) -> bool {
    const SEEN: f64 = 1e-5;
    let width = |c| extent(series.accepted(c)).map_or(0.0, |[low, high]| high - low);
    series.channels.iter().all(|c| width(c) < SEEN)
}

fn figure(
    text: &mut String,
    class: &str,
    (canvas, size): &(Canvas, DVec2),
    name: &str,
    caption: &str,
) {
    let svg = canvas.embedded(*size, name);
    let width = size.x;
    let _ = writeln!(
        text,
        "<figure class=\"{class}\" style=\"width:{width:.0}px\">{svg}<figcaption>{caption}</figcaption></figure>"
    );
}

fn figures(text: &mut String, of: &Subject<'_>, series: &Series) {
    let (directions, left_out) = match &of.joint.limit {
        Limit::SwingTwist(limit) => series.directions(&limit.axes),
        _ => Default::default(),
    };
    let class = |colour: Option<&str>| {
        colour.map_or("cl-seen".to_owned(), |colour| format!("cl-seen {colour}"))
    };
    let directions: Vec<(String, Vec<DVec3>)> =
        series.colours().into_iter().map(class).zip(directions).collect();
    let turns: Vec<Vec<u32>> = series.channels.iter().map(|c| around(series.accepted(c))).collect();
    let seen = Seen { directions: &directions, left_out: &left_out, turns: &turns };
    let mut room = ROW;
    if let Some(drawn) = drawing(of.joint, &of.prepared, &of.figures, seen) {
        room -= drawn.1.x;
        let caption = if of.figures.swing.is_none() {
            "What is allowed (blue) and how often each angle was seen (rose); the axis points at you."
        } else {
            "Where the bone may point (blue), where it pointed (dots), and the twist allowed there (orange)."
        };
        figure(text, "limit", &drawn, &format!("limit of {}", of.name), caption);
    }
    if let Some(drawn) = before_and_after(series, room.min(0.5 * ROW)) {
        let name = format!("angles of {} before and after the interval analysis", of.name);
        let caption = "How often each angle was seen, and the range that holds it once the circle is cut at the \
                       largest gap. Heights are square roots of counts.";
        figure(text, "interval", &drawn, &name, caption);
    }
    if let Some(drawn) = over_time(series) {
        let caption = "Angles over time, with the range that the limit allows.";
        figure(text, "time", &drawn, &format!("angles of {} over time", of.name), caption);
    }
    if let Some(drawn) = motion_space(series) {
        let caption =
            "Turns from the mean along their principal axes: a hinge is a line, a ball a cloud.";
        figure(text, "space", &drawn, &format!("motion space of {}", of.name), caption);
    }
}
