//! Joints as a clinician sees them: angles of the body against published ranges, left against right.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use glam::DVec2;

use super::Take;
use super::column::{extent, ticks};
use super::words::{Html, share_bar};
use crate::anatomy::{
    AnatomicalJoint, Anatomy, Beyond, BodySide, Coverage, Explored, ExploredAngle, PublishedRange,
};
use crate::math::Angle;
use crate::picture::dial::{degrees, range};
use crate::picture::svg::{Anchor, Canvas};
use crate::rig::{Rig, RigJoint};
use crate::skeleton::JointIndex;

/// A joint of the body in the takes.
pub(super) struct Clinical {
    /// `left knee`.
    title: String,
    rows: [ExploredAngle; 3],
}

/// Where published ranges are from, numbered as they are cited.
#[derive(Default)]
pub(super) struct Sources {
    list: Vec<String>,
}

impl Sources {
    fn cite(&mut self, range: &PublishedRange) -> String {
        let mut numbers: Vec<usize> = Vec::new();
        for from in [&range.low_source, &range.high_source] {
            let mut text = format!("{}, {}", from.credit(), from.place);
            if let Some(second) = &from.second {
                let _ = write!(text, "; {second}");
            }
            let known = self.list.iter().position(|t| *t == text);
            let number = known.unwrap_or_else(|| {
                self.list.push(text);
                self.list.len() - 1
            });
            if !numbers.contains(&(number + 1)) {
                numbers.push(number + 1);
            }
        }
        let links = numbers.iter().map(|n| format!("<a href=\"#s{n}\">[{n}]</a>"));
        links.collect::<Vec<_>>().join(" ")
    }

    /// The list at the end of the page.
    pub(super) fn html(&self) -> String {
        if self.list.is_empty() {
            return String::new();
        }
        let mut text =
            "<h3>Sources of the published ranges</h3>\n<ol class=\"sources\">\n".to_owned();
        for (i, source) in self.list.iter().enumerate() {
            let _ = writeln!(text, "<li id=\"s{}\">{}</li>", i + 1, Html(source));
        }
        text.push_str("</ol>\n");
        text
    }
}

/// `left knee`; those in the middle have no side.
pub(super) fn name_of(joint: &AnatomicalJoint) -> String {
    match joint.side {
        BodySide::Middle => joint.what.as_str().to_owned(),
        side => format!("{} {}", side.as_str(), joint.what.as_str()),
    }
}

/// What the takes show of the body.
pub(super) fn explored<'a>(
    rig: &Rig,
    takes: &[Take<'_>],
    anatomy: &'a Anatomy,
) -> Vec<Explored<'a>> {
    let clips: Vec<_> = takes.iter().map(|t| (t.skeleton, t.clip)).collect();
    anatomy.explored_by_all(&rig.skeleton, &clips, &rig.joints)
}

/// What the joint of a rig is in the body, as the end of joints that are taken as one and as itself.
pub(super) fn of_joint(
    rig: &Rig,
    anatomy: &Anatomy,
    explored: &[Explored<'_>],
    joint: JointIndex,
) -> Vec<Clinical> {
    let here: Vec<&Explored<'_>> =
        explored.iter().filter(|of| of.joint.joint() == Some(joint)).collect();
    let title = |of: &AnatomicalJoint| {
        let own = name_of(of);
        let names = of.chain.iter().filter_map(|j| rig.skeleton.joints().get(j.get()));
        let names: Vec<&str> = names.map(|j| j.name.as_str()).collect();
        let is_row = anatomy.wholes().iter().any(|w| (w.what, &w.chain) == (of.what, &of.chain));
        match (is_row && names.len() > 1, here.len()) {
            (true, _) => format!("{own}: {} as one", names.join(" + ")),
            (false, 0 | 1) => own,
            (false, _) => format!("{own} alone"),
        }
    };
    let clinical =
        |of: &&Explored<'_>| Clinical { title: title(of.joint), rows: of.angles.clone() };
    here.iter().map(clinical).collect()
}

/// Which angle of a table it is.
fn name_of_row(row: &ExploredAngle) -> String {
    format!("{} (+), {} (−)", row.name.positive, row.name.negative)
}

/// What was seen of an angle, and what to know about it.
fn seen_of_row(row: &ExploredAngle) -> String {
    let [low, high] = match row.seen {
        Some(ends) => ends.map(Angle::radians),
        None => return row.note().map_or(String::new(), |note| Html(&note).to_string()),
    };
    match row.note() {
        Some(note) => format!("{} <small>{}</small>", range(low, high), Html(&note)),
        None => range(low, high),
    }
}

/// A published range, with a star where an end is doubtful.
fn published_of(known: &PublishedRange) -> String {
    let [low, high] = known.is_doubtful().map(|doubtful| if doubtful { "*" } else { "" });
    format!("{}{low} to {}{high}", degrees(known.low.radians()), degrees(known.high.radians()))
}

impl Clinical {
    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// The mean share of the published ranges that was explored. Angles that others of the joint move
    /// without do not count, nor do those that no frame determines.
    pub(super) fn explored(&self) -> Option<f64> {
        let any = self.rows.iter().any(|row| row.moves);
        let rows = self.rows.iter().filter(|row| row.seen.is_some() && (row.moves || !any));
        let shares: Vec<f64> =
            rows.filter_map(|row| Some(row.published.as_ref()?.1.share)).collect();
        #[allow(clippy::cast_precision_loss, reason = "at most three")]
        let count = shares.len() as f64;
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / count)
    }

    /// Where it goes beyond published ranges.
    pub(super) fn beyond(&self) -> impl Iterator<Item = Beyond<'_>> {
        self.rows.iter().flat_map(ExploredAngle::beyond)
    }

    fn published(&self) -> impl Iterator<Item = &(PublishedRange, Coverage)> {
        self.rows.iter().filter_map(|row| row.published.as_ref())
    }

    /// The table of a card.
    pub(super) fn html(&self, sources: &mut Sources) -> String {
        let ends = self.published().flat_map(|(r, _)| [r.low.radians(), r.high.radians()]);
        let seen = self.rows.iter().filter_map(|row| row.seen).flatten().map(Angle::radians);
        let all = seen.chain(ends).chain([0.0]);
        let [low, high] = extent(all).unwrap_or([-1.0, 1.0]);
        let pad = (0.04 * (high - low)).max(0.02);
        let (low, high) = (low - pad, high + pad);
        let mut text = format!(
            "<div class=\"scroll\"><table class=\"clinical\">\n<caption>{}</caption>\n<thead><tr>\
             <th scope=\"col\">clinical angle</th><th scope=\"col\">seen (bar) and published (box)</th>\
             <th scope=\"col\">seen</th><th scope=\"col\">published</th><th scope=\"col\">explored</th>\
             <th scope=\"col\">beyond</th></tr></thead>\n<tbody>\n",
            Html(&self.title)
        );
        for (i, row) in self.rows.iter().enumerate() {
            let last = i + 1 == self.rows.len();
            let bar = bar(row, low, high, last);
            let (published, explored, beyond) = match &row.published {
                Some((known, coverage)) => (
                    format!("{} {}", published_of(known), sources.cite(known)),
                    if row.moves { share_bar(coverage.share) } else { String::new() },
                    beyond_of_row(row),
                ),
                None => Default::default(),
            };
            let _ = writeln!(
                text,
                "<tr><th scope=\"row\">{}</th><td>{bar}</td><td>{}</td><td>{published}</td>\
                 <td>{explored}</td><td>{beyond}</td></tr>",
                Html(&name_of_row(row)),
                seen_of_row(row)
            );
        }
        text.push_str("</tbody></table></div>\n");
        if self.published().any(|(known, _)| known.is_doubtful().contains(&true)) {
            text.push_str(
                "<p class=\"small\">* No published value as it stands: constructed from others, or recalled and not \
                 verified; its source says which.</p>\n",
            );
        }
        text
    }
}

/// By how much each end is beyond what is published, and of which motion it is.
fn beyond_of_row(row: &ExploredAngle) -> String {
    let far = row.beyond().filter(|end| end.by.radians() > 0.0005);
    let ends: Vec<String> = far
        .map(|end| {
            let more = if end.past_half_turn { " and more" } else { "" };
            format!("{}{more} <small>{}</small>", degrees(end.by.radians()), Html(end.name))
        })
        .collect();
    if row.seen.is_none() {
        return String::new();
    }
    if ends.is_empty() { "no".to_owned() } else { ends.join("<br/>") }
}

/// Seen over published, with degrees below the last one.
fn bar(row: &ExploredAngle, low: f64, high: f64, labels: bool) -> String {
    let width = 360.0;
    let height = if labels { 34.0 } else { 20.0 };
    let x = |a: f64| 14.0 + (width - 28.0) * ((a - low) / (high - low)).clamp(0.0, 1.0);
    let mut canvas = Canvas::default();
    let mut grid = Vec::new();
    for tick in ticks(low.to_degrees(), high.to_degrees(), 6, true) {
        let at = x(tick.to_radians());
        grid.push(vec![DVec2::new(at, 0.0), DVec2::new(at, 20.0)]);
        if labels {
            let text = degrees(tick.to_radians());
            canvas.text("cl-small", DVec2::new(at, 31.0), Anchor::Middle, &text);
        }
    }
    canvas.path("cl-grid", &grid, false);
    if let Some((known, _)) = &row.published {
        let (a, b) = (x(known.low.radians()), x(known.high.radians()));
        canvas.rectangle(
            "rp-published",
            DVec2::new(a, 3.0),
            DVec2::new((b - a).max(1.0), 14.0),
            2.0,
        );
    }
    let mut words = name_of_row(row);
    if let Some([low, high]) = row.seen.map(|ends| ends.map(Angle::radians)) {
        let parts = match row.hole.map(|hole| hole.map(Angle::radians)) {
            Some([from, to]) => vec![[low, from], [to, high]],
            None => vec![[low, high]],
        };
        for [a, b] in parts.into_iter().map(|part| part.map(x)) {
            canvas.rectangle("rp-seen", DVec2::new(a, 7.0), DVec2::new((b - a).max(1.0), 6.0), 1.0);
        }
        words = format!("{words}: {}", range(low, high));
    }
    canvas.embedded(DVec2::new(width, height), &words)
}

/// Left against right, for all pairs.
pub(super) fn symmetry(rig: &Rig, anatomy: &Anatomy) -> String {
    const MOST: usize = 40;
    let mut rows = String::new();
    let mut left_over = 0_usize;
    let mut count = 0_usize;
    let found = anatomy.asymmetries(&rig.skeleton, &rig.joints, NonZeroUsize::MIN);
    for pair in anatomy.sides(&rig.skeleton) {
        let names = pair.map(|j| rig.skeleton[j].name.as_str());
        let (Some(a), Some(b)) = (rig.joints.get(names[0]), rig.joints.get(names[1])) else {
            continue;
        };
        if count == MOST {
            left_over += 1;
            continue;
        }
        count += 1;
        let kinds =
            if a.kind == b.kind { a.kind.to_string() } else { format!("{} / {}", a.kind, b.kind) };
        let cells = match found.iter().find(|(of, _)| *of == pair) {
            Some((_, found)) => {
                let volume = |of: &RigJoint| of.limit.prepare().map_or(0.0, |p| p.volume());
                let ratio = match (volume(a), volume(b)) {
                    (l, r) if l > 0.0 && r > 0.0 => format!("{:.2}", l / r),
                    _ => String::new(),
                };
                format!(
                    "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{ratio}</td>",
                    degrees(found.left_beyond.radians()),
                    degrees(found.right_beyond.radians())
                )
            }
            None => "<td colspan=\"3\">cannot be mirrored</td>".to_owned(),
        };
        let _ = writeln!(
            rows,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{kinds}</td>{cells}</tr>",
            anatomy.joint(pair[0]).map_or("", |joint| joint.what.as_str()),
            Html(names[0]),
            Html(names[1])
        );
    }
    if rows.is_empty() {
        return String::new();
    }
    let more = if left_over > 0 {
        format!("<p>{left_over} more pairs are not listed.</p>\n")
    } else {
        String::new()
    };
    format!(
        "<section id=\"symmetry\">\n<h2>Left and right</h2>\n<p>How far the limit of one side goes beyond the \
         mirror image of the other, at most; and the size of the left range over that of the right, where both \
         have a volume. Differences say as much about the motion as about the body: a hand that throws reaches \
         farther.</p>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">pair</th><th scope=\"col\">left</th>\
         <th scope=\"col\">right</th><th scope=\"col\">kind</th><th scope=\"col\" class=\"n\">left beyond right</th>\
         <th scope=\"col\" class=\"n\">right beyond left</th><th scope=\"col\" class=\"n\">left : right</th></tr></thead>\n\
         <tbody>\n{rows}</tbody></table></div>\n{more}</section>\n"
    )
}
