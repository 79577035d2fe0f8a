//! The page around the cards.

use std::fmt::Write as _;

use glam::DVec2;

use super::card::{Subject, card};
use super::clinical::{self, Clinical, Sources};
use super::plot::sparkline;
use super::series::Series;
use super::words::{Html, Name, confidence_bar, count, counted, limits, share_bar};
use super::{About, Take, files, written_ranges};
use crate::anatomy::Anatomy;
use crate::math::Angle;
use crate::picture::Figures;
use crate::picture::card::twist_symbol;
use crate::picture::dial::degrees;
use crate::picture::document;
use crate::picture::svg::{Canvas, STYLE};
use crate::rig::{JointKind, Rig, RigJoint};

/// Below this a kind is a guess.
pub(super) const UNSURE: f64 = 0.6;
/// With fewer samples than this a limit is a first guess.
const FEW: u64 = 30;
/// Joints in the table, at most.
const MOST_ROWS: usize = 1000;
/// Joints with a card, at most.
const MOST_CARDS: usize = 120;
/// Names in a list, at most.
const MOST_NAMES: usize = 12;
/// Files in the head, at most.
const MOST_FILES: usize = 20;
/// Groups of notes, at most.
const MOST_GROUPS: usize = 20;

/// A joint and where it is on the page.
struct Entry<'a> {
    id: usize,
    name: &'a str,
    joint: &'a RigJoint,
    has_card: bool,
}

impl Entry<'_> {
    fn link(&self) -> String {
        if self.has_card {
            format!("<a href=\"#j{}\">{}</a>", self.id, Name(self.name))
        } else {
            Name(self.name).to_string()
        }
    }
}

/// What is found out about joints on the way, for the list of what to look at first.
#[derive(Default)]
struct Findings {
    /// Beyond the published range by more than 10°: by how much, and what goes how far.
    beyond: Vec<(usize, f64, String)>,
    /// Less than half of the published range was explored.
    little: Vec<(usize, f64)>,
}

pub(super) fn page(
    rig: &Rig,
    takes: &[Take<'_>],
    anatomy: Option<&Anatomy>,
    about: &About,
) -> String {
    let mut settled = rig.clone();
    settled.settle();
    let rig = &settled;
    let entries = entries(rig);
    let explored = anatomy.map(|a| clinical::explored(rig, takes, a)).unwrap_or_default();
    let key = files::key(takes);
    let mut sources = Sources::default();
    let (mut rows, mut cards) = (String::new(), String::new());
    let mut findings = Findings::default();
    for entry in entries.iter().take(MOST_ROWS) {
        let Ok(prepared) = entry.joint.limit.prepare() else {
            let _ = writeln!(
                rows,
                "<tr><th scope=\"row\">{}</th><td>{}</td><td colspan=\"6\">its limit makes no sense as \
                 geometry</td></tr>",
                entry.link(),
                entry.joint.kind
            );
            continue;
        };
        let figures = Figures::of_prepared(&entry.joint.limit, &prepared, entry.joint.center);
        let series = Series::of(entry.name, entry.joint, &figures, takes);
        let index = rig.skeleton.find(entry.name);
        let clinical: Vec<Clinical> = match (anatomy, index) {
            (Some(anatomy), Some(j)) if entry.has_card => {
                clinical::of_joint(rig, anatomy, &explored, j)
            }
            _ => Vec::new(),
        };
        let of = Subject {
            id: entry.id,
            name: entry.name,
            joint: entry.joint,
            prepared,
            figures,
            written: written_ranges(entry.name, entry.joint, takes),
            clinical,
            key: &key,
        };
        add_row(&mut rows, entry, &of, &series);
        if entry.has_card {
            cards.push_str(&card(&of, &series, &mut sources));
            findings.add(entry.id, &of.clinical);
        }
    }

    let title = if about.title.is_empty() { "Joint report" } else { &about.title };
    let script = Some(include_str!("script.js"));
    let mut text = document::begin(title, &[STYLE, include_str!("style.css")], script);
    head(&mut text, title, rig, takes, anatomy, about);
    first(&mut text, &entries, about, &findings);
    summary(&mut text, &entries, &rows);
    legend(&mut text);
    if !cards.is_empty() {
        let _ =
            write!(text, "<section id=\"joints\">\n<h2>Joint by joint</h2>\n{cards}</section>\n");
    }
    text.push_str(&anatomy.map(|a| clinical::symmetry(rig, a)).unwrap_or_default());
    foot(&mut text, &sources);
    text.push_str(&document::end(script));
    text
}

/// All joints, and who has a card: those that can turn, the doubtful ones before others if there are
/// too many.
fn entries(rig: &Rig) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = rig
        .joints
        .iter()
        .enumerate()
        .map(|(id, (name, joint))| Entry { id, name, joint, has_card: false })
        .collect();
    let listed = entries.len().min(MOST_ROWS);
    let mut wanted: Vec<usize> =
        (0..listed).filter(|i| entries[*i].joint.kind != JointKind::Free).collect();
    let rank = |i: &usize| {
        let joint = entries[*i].joint;
        match (is_doubtful(joint), joint.kind) {
            (true, _) => 0,
            (false, JointKind::Fixed) => 2,
            _ => 1,
        }
    };
    wanted.sort_by_key(rank);
    wanted.truncate(MOST_CARDS);
    for i in wanted {
        entries[i].has_card = true;
    }
    entries
}

/// Of a kind that a person may have set there is no doubt.
fn is_unsure(joint: &RigJoint) -> bool {
    joint.confidence.is_some_and(|c| c < UNSURE) && !joint.is_edited()
}

fn is_doubtful(joint: &RigJoint) -> bool {
    is_unsure(joint) || joint.rest_inside == Some(false) || joint.rejected.is_some_and(|n| n > 0)
}

impl Findings {
    fn add(&mut self, id: usize, clinical: &[Clinical]) {
        const FAR: f64 = 10.0;
        for joint in clinical {
            for end in joint.beyond().filter(|end| end.by.degrees() > FAR) {
                let published = degrees(end.published.radians());
                let seen = match end.past_half_turn {
                    true => "past half a turn".to_owned(),
                    false => degrees(end.seen.radians()),
                };
                let star = if end.source.status.is_doubtful() { "*" } else { "" };
                let how = format!("{} {seen}, published {published}{star}", end.name);
                self.beyond.push((id, end.by.radians(), how));
            }
        }
        if let Some(share) = explored(clinical).filter(|share| percent_of(*share) < 50.0) {
            self.little.push((id, share));
        }
    }
}

/// As it is told.
fn percent_of(share: f64) -> f64 {
    (100.0 * share).round()
}

/// How much of the published range was seen, of the first that has one.
fn explored(clinical: &[Clinical]) -> Option<f64> {
    clinical.iter().find_map(Clinical::explored)
}

fn add_row(rows: &mut String, entry: &Entry<'_>, of: &Subject<'_>, series: &Series) {
    let joint = entry.joint;
    let body = of.clinical.first().map(|c| {
        format!("<small>{}</small>", Html(c.title().split(':').next().unwrap_or_default()))
    });
    let explored = explored(&of.clinical);
    let confidence = joint.confidence.filter(|_| !joint.is_edited());
    let number = |n: Option<u64>| n.map(count).unwrap_or_default();
    let key = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.4}"));
    let spark = if joint.kind == JointKind::Free { None } else { sparkline(series) };
    let _ = writeln!(
        rows,
        "<tr><th scope=\"row\">{}{}</th><td>{}</td><td class=\"words\">{}</td><td data-v=\"{}\">{}</td>\
         <td class=\"n\" data-v=\"{}\">{}</td><td class=\"n\" data-v=\"{}\">{}</td><td>{}</td>\
         <td data-v=\"{}\">{}</td></tr>",
        entry.link(),
        body.unwrap_or_default(),
        joint.kind,
        limits(joint, &of.figures, &of.written),
        key(confidence),
        confidence.map(confidence_bar).unwrap_or_default(),
        joint.samples.unwrap_or(0),
        number(joint.samples),
        joint.rejected.unwrap_or(0),
        number(joint.rejected.filter(|n| *n > 0)),
        spark.unwrap_or_default(),
        key(explored),
        explored.map(share_bar).unwrap_or_default(),
    );
}

fn head(
    text: &mut String,
    title: &str,
    rig: &Rig,
    takes: &[Take<'_>],
    anatomy: Option<&Anatomy>,
    about: &About,
) {
    let frames: u64 = takes.iter().map(|t| t.clip.frame_count() as u64).sum();
    let seconds: f64 = takes.iter().map(|t| t.clip.duration_s()).sum();
    let _ = write!(
        text,
        "<header>\n<h1>{}</h1>\n<p class=\"lead\">Kinds and limits of {}, from {} frames in {} ({}).</p>\n\
         <dl class=\"about\">\n",
        Html(title),
        counted(rig.joints.len(), "joint"),
        count(frames),
        counted(takes.len(), "file"),
        duration(seconds)
    );
    for (what, how) in &about.facts {
        let _ = writeln!(text, "<div><dt>{}</dt><dd>{}</dd></div>", Html(what), Html(how));
    }
    if let Some(anatomy) = anatomy {
        let _ = writeln!(text, "<div><dt>names</dt><dd>{}</dd></div>", Html(anatomy.title()));
    }
    text.push_str("</dl>\n");
    if !takes.is_empty() {
        text.push_str("<div class=\"scroll\"><table class=\"files\">\n<thead><tr><th scope=\"col\">file</th>\
                       <th scope=\"col\" class=\"n\">joints</th><th scope=\"col\" class=\"n\">frames</th>\
                       <th scope=\"col\" class=\"n\">frames per second</th>\
                       <th scope=\"col\" class=\"n\">length</th></tr></thead>\n<tbody>\n");
        for (i, take) in takes.iter().take(MOST_FILES).enumerate() {
            let spot = if takes.len() > 1 { files::swatch(i) + " " } else { String::new() };
            let fps = take.clip.rate().nominal_fps();
            let _ = writeln!(
                text,
                "<tr><th scope=\"row\">{spot}{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
                 <td class=\"n\">{}</td></tr>",
                Html(take.name),
                count(take.skeleton.len() as u64),
                count(take.clip.frame_count() as u64),
                (100.0 * fps).round() / 100.0,
                duration(take.clip.duration_s())
            );
        }
        text.push_str("</tbody></table></div>\n");
        if takes.len() > MOST_FILES {
            let _ =
                writeln!(text, "<p>And {} more.</p>", counted(takes.len() - MOST_FILES, "file"));
        }
    }
    text.push_str("</header>\n");
}

/// `4.2 s`, `12 min 5 s`.
fn duration(seconds: f64) -> String {
    if !(seconds.is_finite() && seconds >= 60.0) {
        return format!("{:.1} s", if seconds.is_finite() { seconds } else { 0.0 });
    }
    let minutes = (seconds / 60.0).floor();
    format!("{minutes:.0} min {:.0} s", seconds - 60.0 * minutes)
}

/// What to look at first.
fn first(text: &mut String, entries: &[Entry<'_>], about: &About, findings: &Findings) {
    let mut items: Vec<String> = Vec::new();
    // Each with how bad it is, the worst first.
    let listed = |filter: &dyn Fn(&Entry<'_>) -> Option<(f64, String)>| {
        let mut all: Vec<(f64, String)> = entries
            .iter()
            .filter_map(|e| {
                let (bad, how) = filter(e)?;
                let how = if how.is_empty() { e.link() } else { format!("{} ({how})", e.link()) };
                Some((bad, how))
            })
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let all: Vec<String> = all.into_iter().map(|(_, how)| how).collect();
        (!all.is_empty()).then(|| (all.len(), some_of(&all)))
    };
    for warning in about.warnings.iter().take(MOST_GROUPS) {
        items.push(Html(warning).to_string());
    }
    let mut unsure: Vec<&Entry<'_>> = entries.iter().filter(|e| is_unsure(e.joint)).collect();
    let sure = |e: &Entry<'_>| e.joint.confidence.unwrap_or(0.0);
    unsure.sort_by(|a, b| sure(a).total_cmp(&sure(b)));
    for entry in unsure.iter().take(MOST_NAMES) {
        let sure = entry.joint.confidence.unwrap_or(0.0);
        let why = entry.joint.why.as_deref().unwrap_or_default();
        items.push(format!(
            "<b>Unsure</b> ({sure:.2}): {} is taken for {}. {}",
            entry.link(),
            article(entry.joint.kind),
            Html(why)
        ));
    }
    if unsure.len() > MOST_NAMES {
        items.push(format!("<b>Unsure</b>: {} more.", counted(unsure.len() - MOST_NAMES, "joint")));
    }
    let few = listed(&|e| {
        e.joint
            .samples
            .filter(|n| *n < FEW && e.joint.kind != JointKind::Free)
            .map(|n| (-number(n), format!("{n}")))
    });
    if let Some((_, names)) = few {
        items.push(format!("<b>Few samples</b>: a first guess for {names}."));
    }
    let bounds = listed(&|e| {
        let open = e.joint.ends.iter().filter(|end| end.interval.is_none()).count();
        (open > 0).then(|| (number(open as u64), open.to_string()))
    });
    if let Some((n, names)) = bounds {
        items.push(format!(
            "<b>Only bounds</b>: ends of {} may be farther out, for the reasons on their cards; so many of \
             each: {names}.",
            counted(n, "joint")
        ));
    }
    let outside = listed(&|e| {
        let by = e.joint.rest_excess.map(Angle::radians);
        (e.joint.rest_inside == Some(false))
            .then(|| (by.unwrap_or(0.0), by.map(degrees).unwrap_or_default()))
    });
    if let Some((n, names)) = outside {
        items.push(format!(
            "<b>Rest pose not allowed</b> for {}, by so much: {names}. The rig has a start pose for each.",
            counted(n, "joint")
        ));
    }
    let glitches = listed(&|e| e.joint.rejected.filter(|n| *n > 0).map(|n| (number(n), count(n))));
    if let Some((_, names)) = glitches {
        items.push(format!("<b>Left out as glitches</b>, in so many frames: {names}. They are crosses in the plots."));
    }
    let link = |id: usize| entries.get(id).map(Entry::link).unwrap_or_default();
    if !findings.little.is_empty() {
        let mut little = findings.little.clone();
        little.sort_by(|a, b| a.1.total_cmp(&b.1));
        let all: Vec<String> = little
            .iter()
            // A line is not broken before the sign.
            .map(|(id, share)| format!("{} ({}\u{a0}%)", link(*id), percent_of(*share)))
            .collect();
        items.push(format!(
            "<b>Little explored</b>: the motion shows less than half of the published range, so that these limits say \
             what was seen and not what is possible: {}.",
            some_of(&all)
        ));
    }
    if !findings.beyond.is_empty() {
        let mut far: Vec<&(usize, f64, String)> = findings.beyond.iter().collect();
        far.sort_by(|a, b| b.1.total_cmp(&a.1));
        let all: Vec<String> =
            far.iter().map(|(id, _, how)| format!("{} ({how})", link(*id))).collect();
        let shown = some_of(&all);
        let star = if shown.contains("°*") {
            " * No published value as it stands: the card says more."
        } else {
            ""
        };
        items.push(format!("<b>Beyond the published range</b> by more than 10°: {shown}.{star}"));
    }
    let notes = notes(entries);
    text.push_str("<section id=\"first\">\n<h2>Look at these first</h2>\n");
    if items.is_empty() {
        text.push_str("<p>Nothing stands out.</p>\n");
    } else {
        text.push_str("<ul class=\"warnings\">\n");
        for item in items {
            let _ = writeln!(text, "<li>{item}</li>");
        }
        text.push_str("</ul>\n");
    }
    if !notes.is_empty() {
        // They are on the cards as well.
        let _ = writeln!(text, "<details><summary>Notes on joints</summary>\n<ul class=\"notes\">");
        for note in notes {
            let _ = writeln!(text, "<li>{note}</li>");
        }
        text.push_str("</ul></details>\n");
    }
    text.push_str("</section>\n");
}

#[allow(clippy::cast_precision_loss, reason = "only to sort by it")]
const fn number(n: u64) -> f64 {
    n as f64
}

const fn article(kind: JointKind) -> &'static str {
    match kind {
        JointKind::Fixed => "fixed",
        JointKind::Hinge => "a hinge",
        JointKind::Universal => "a universal joint",
        JointKind::Ball => "a ball",
        JointKind::Free => "free",
    }
}

fn some_of(all: &[String]) -> String {
    let shown = all.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {} more", count(more as u64)),
    }
}

/// Notes, those that several joints have once.
fn notes(entries: &[Entry<'_>]) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    let mut left_over = 0_usize;
    for entry in entries {
        for note in &entry.joint.notes {
            match groups.iter().position(|(known, _)| known == note) {
                Some(i) => groups[i].1.push(entry.link()),
                None if groups.len() < MOST_GROUPS => {
                    groups.push((note.clone(), vec![entry.link()]));
                }
                None => left_over += 1,
            }
        }
    }
    let mut items: Vec<String> =
        groups.iter().map(|(note, names)| format!("{}: {}", some_of(names), Html(note))).collect();
    if left_over > 0 {
        items.push(format!("{} more are on the cards.", count(left_over as u64)));
    }
    items
}

fn summary(text: &mut String, entries: &[Entry<'_>], rows: &str) {
    let _ = write!(
        text,
        "<section id=\"summary\">\n<h2>Summary</h2>\n<div class=\"scroll\"><table class=\"summary\">\n<thead><tr>\
         <th scope=\"col\">joint</th><th scope=\"col\">kind</th><th scope=\"col\">limits</th>\
         <th scope=\"col\">sure</th><th scope=\"col\" class=\"n\">samples</th>\
         <th scope=\"col\" class=\"n\">left out</th><th scope=\"col\">over time</th>\
         <th scope=\"col\">explored</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n\
         <p class=\"small\">Over time: the angle that varies most, with its limit. Explored: the share of the \
         published range that was seen, the mean over the angles that have one.</p>\n"
    );
    if entries.len() > MOST_ROWS {
        let _ = writeln!(
            text,
            "<p>{} are not in the table.</p>",
            counted(entries.len() - MOST_ROWS, "more joint")
        );
    }
    let cards = entries.iter().filter(|e| e.has_card).count();
    let turning = entries.iter().filter(|e| e.joint.kind != JointKind::Free).count();
    if turning > cards {
        let _ = writeln!(
            text,
            "<p>{} of {} have a card below, those in doubt and those that move first.</p>",
            count(cards as u64),
            counted(turning, "joint")
        );
    }
    text.push_str("</section>\n");
}

/// What the marks in the pictures mean, once.
fn legend(text: &mut String) {
    let icon = |draw: &dyn Fn(&mut Canvas)| {
        let mut canvas = Canvas::default();
        draw(&mut canvas);
        canvas.embedded(DVec2::new(28.0, 18.0), "")
    };
    let bar = |class: &'static str| {
        icon(&move |c| c.line(class, DVec2::new(3.0, 9.0), DVec2::new(25.0, 9.0)))
    };
    let block = |class: &'static str| {
        icon(&move |c| c.rectangle(class, DVec2::new(3.0, 3.0), DVec2::new(22.0, 12.0), 2.0))
    };
    let dots: Vec<DVec2> = [(6.0, 6.0), (12.0, 11.0), (17.0, 7.0), (22.0, 12.0), (9.0, 13.0)]
        .map(|(x, y)| DVec2::new(x, y))
        .to_vec();
    let marks = [
        (block("cl-area"), "allowed by the limit"),
        (bar("cl-edge"), "boundary of the limit"),
        (bar("cl-far"), "boundary on the other side of the globe"),
        (icon(&|c| c.dots("cl-seen", &dots)), "samples; on globes one for each place"),
        (icon(&|c| c.data("rp-cross", "M11 6l6 6m0-6l-6 6")), "left out as a glitch"),
        (
            icon(&|c| twist_symbol(c, DVec2::new(14.0, 9.0), 8.0)),
            "twist allowed where the dial is, as directions of x; the line is zero twist",
        ),
        (icon(&|c| c.circle("cl-rest", DVec2::new(14.0, 9.0), 5.0)), "bone in the rest pose"),
        (block("rp-gap"), "largest gap without samples"),
        (block("rp-published"), "published range"),
        (block("rp-seen"), "range seen"),
    ];
    text.push_str(
        "<section id=\"legend\">\n<h2>How to read the pictures</h2>\n<ul class=\"legend\">\n",
    );
    for (icon, words) in marks {
        let _ = writeln!(text, "<li>{icon}<span>{words}</span></li>");
    }
    text.push_str(
        "</ul>\n<p class=\"small\">Globes are seen along the bone, x to the right and y up, and from behind. A bone \
         that swings about +x goes down, about +y to the right. Angles are in degrees and count from the joint's zero: \
         its rest pose, where the limit's centre is not another. Dials: zero is to the right, positive angles are \
         counter-clockwise. Of several files, samples on globes and curves over time have the colour of their \
         file.</p>\n</section>\n",
    );
}

fn foot(text: &mut String, sources: &Sources) {
    let _ = write!(
        text,
        "<footer>\n{}<p class=\"small\">Written by condyle {}. Limits hold what the motion showed: they are as general \
         or as specific as the clips. Published ranges are of healthy adults, measured one motion at a time.</p>\n</footer>\n",
        sources.html(),
        env!("CARGO_PKG_VERSION")
    );
}
