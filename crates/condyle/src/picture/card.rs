//! The picture of one joint: a heading, and a globe, dials or a word below it.

use std::f64::consts::FRAC_PI_2;

use glam::{DVec2, DVec3};

use super::dial::{self, degrees, range, range_of};
use super::figures::{Figures, SwingFigures, swings};
use super::globe::{View, boundary, lattice, outlines, strokes};
use super::svg::{Anchor, Canvas, fitted, width_of};
use crate::limits::{
    Limit, LimitError, PreparedLimit, PreparedSwing, SwingLimit, SwingTwistLimit, TwistBounds,
    TwistLimit, TwistOffset,
};
use crate::math::{Angle, Arc, Rotation, SwingKind, trig};
use crate::rig::{JointKind, RigJoint};

/// How large and how detailed a card is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Radius of a globe.
    globe: f64,
    /// Where the middles of globes and dials are.
    middle: f64,
    /// How far the middles of the two globes are from that of the card.
    apart: f64,
    /// Room for labels beside a dial.
    beside: f64,
    /// Whether extremes have labels.
    detailed: bool,
    /// Whether it explains itself.
    legend: bool,
}

/// Samples on one side of a globe, at most.
const DOTS: usize = 500;

/// What was seen of a joint, to be drawn with its limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen<'a> {
    /// Where the bone pointed: components along x, y and the bone, by the class of their dots.
    pub(crate) directions: &'a [(String, Vec<DVec3>)],
    /// Where it pointed in samples that were left out.
    pub(crate) left_out: &'a [DVec3],
    /// For each arc of the figures how often its angle was in each part of the circle, from −180° on.
    pub(crate) turns: &'a [Vec<u32>],
}

impl Size {
    /// Alone in a picture.
    pub(super) const ALONE: Self = Self {
        width: 780.0,
        height: 500.0,
        globe: 150.0,
        middle: 266.0,
        apart: 189.0,
        beside: 34.0,
        detailed: true,
        legend: true,
    };
    /// One of many.
    pub(super) const CELL: Self = Self {
        width: 440.0,
        height: 316.0,
        globe: 80.0,
        middle: 192.0,
        apart: 98.0,
        beside: 34.0,
        detailed: false,
        legend: false,
    };
    /// On a page that has the heading and the legend. One dial is half as wide.
    const PAGE: Self = Self {
        width: 560.0,
        height: 284.0,
        globe: 108.0,
        middle: 132.0,
        apart: 132.0,
        beside: 54.0,
        detailed: true,
        legend: false,
    };
}

/// The globes or dials of a joint with what was seen of it, and how large they are. None where there is
/// nothing to be drawn: every turn is allowed, or none.
pub(crate) fn drawing(
    joint: &RigJoint,
    prepared: &PreparedLimit,
    figures: &Figures,
    seen: Seen<'_>,
) -> Option<(Canvas, DVec2)> {
    let mut canvas = Canvas::default();
    let mut size = Size::PAGE;
    match (&joint.limit, prepared.swing()) {
        (Limit::SwingTwist(of), Some(swing)) => {
            let rest = joint.center.inverse() * of.axes.bone();
            globes(&mut canvas, size, of, swing, rest, seen);
        }
        _ if figures.arcs.is_empty() => return None,
        _ => {
            size.width = match figures.arcs.len() {
                1 => 280.0,
                2 => 560.0,
                _ => 660.0,
            };
            size.height = 256.0;
            dials(&mut canvas, size, joint.kind, figures, seen);
        }
    }
    Some((canvas, DVec2::new(size.width, size.height)))
}

/// A card, and what it says in words.
pub(super) struct Card {
    pub(super) canvas: Canvas,
    pub(super) words: String,
}

/// The first lines of a card, and what is read aloud.
pub(super) fn card(name: &str, joint: &RigJoint, size: Size) -> Result<Card, LimitError> {
    let prepared = joint.limit.prepare()?;
    let figures = Figures::of_prepared(&joint.limit, &prepared, joint.center);
    let mut canvas = Canvas::default();
    let left = 20.0;
    let width = size.width - 2.0 * left;
    let mut lines = vec![headline(joint, &figures)];
    if let Some(swing) = &figures.swing {
        let words = swing_words(swing);
        if size.detailed {
            lines.push(words.join("; "));
        } else {
            lines.extend(words);
        }
    }
    let arcs = figures.arcs.iter().map(|(n, arc)| format!("{n} {}", range_of(*arc)));
    lines.extend((!figures.arcs.is_empty()).then(|| arcs.collect::<Vec<_>>().join(", ")));
    canvas.text("cl-name", DVec2::new(left, 30.0), Anchor::Start, &fitted(name, 15.0, width));
    let mut y = 30.0;
    for line in &lines {
        y += 17.0;
        canvas.text("cl-note", DVec2::new(left, y), Anchor::Start, &fitted(line, 11.0, width));
    }
    match (&joint.limit, prepared.swing()) {
        (Limit::SwingTwist(of), Some(swing)) => {
            let rest = joint.center.inverse() * of.axes.bone();
            globes(&mut canvas, size, of, swing, rest, Seen::default());
        }
        _ => dials(&mut canvas, size, joint.kind, &figures, Seen::default()),
    }
    Ok(Card { canvas, words: lines.join("; ") })
}

fn headline(joint: &RigJoint, figures: &Figures) -> String {
    let mut words = vec![joint.kind.as_str().to_owned()];
    match &figures.swing {
        Some(swing) => words.push(format!("{} swing, {} twist", swing.shape, swing.twist_shape)),
        None if figures.shape != joint.kind.as_str() => words.push(figures.shape.to_owned()),
        None => {}
    }
    words.extend(joint.source.map(|s| s.as_str().to_owned()));
    words.extend(joint.confidence.map(|c| format!("confidence {c:.2}")));
    if !figures.rest_inside {
        words.push(format!("rest outside by {}", degrees(figures.rest_excess.radians())));
    }
    words.join(" · ")
}

fn swing_words(swing: &SwingFigures) -> [String; 2] {
    let [x, y] = [swing.x, swing.y].map(|[low, high]| range(low.radians(), high.radians()));
    let (share, cone) = (percent(swing.share()), degrees(swing.cone().radians()));
    // A range that turns with the swing may come to every twist.
    let twist = if swing.twist.is_full() && !swing.is_any_twist() {
        format!("{} wide", range(swing.twist_width[0].radians(), swing.twist_width[1].radians()))
    } else {
        range_of(swing.twist)
    };
    [
        format!("swing about x {x}, about y {y}"),
        format!("twist {twist}; {share} of the sphere, as a cone of {cone}"),
    ]
}

/// Whole percents, of small shares one digit more.
pub(crate) fn percent(share: f64) -> String {
    if share < 0.1 { format!("{:.1} %", 100.0 * share) } else { format!("{:.0} %", 100.0 * share) }
}

fn dials(canvas: &mut Canvas, size: Size, kind: JointKind, figures: &Figures, seen: Seen<'_>) {
    let n = u32::try_from(figures.arcs.len()).unwrap_or(0);
    if n == 0 {
        let (word, sentence) = match figures.shape {
            "locked" => ("locked", "no turn at all"),
            _ if kind == JointKind::Free => ("free", "every turn and every shift"),
            _ => ("free", "every turn"),
        };
        let middle = DVec2::new(0.5 * size.width, size.middle);
        let half = DVec2::new(90.0, 32.0);
        canvas.rectangle("cl-disc", middle - half, 2.0 * half, 32.0);
        let at = middle + DVec2::new(0.0, -2.0);
        canvas.text("cl-name", at, Anchor::Middle, word);
        canvas.text("cl-note", at + DVec2::new(0.0, 17.0), Anchor::Middle, sentence);
        return;
    }
    let room = size.width / f64::from(n);
    let radius = (0.5 * room - size.beside).min(0.8 * size.globe);
    for (i, (name, arc)) in (0_u32..).zip(&figures.arcs) {
        let at = DVec2::new((f64::from(i) + 0.5) * room, size.middle - 4.0);
        let name = match figures.shape {
            "arc" => "angle about the axis".to_owned(),
            "arcs" => format!("about the {name} axis"),
            _ => format!("about {name}"),
        };
        let turns = seen.turns.get(i as usize).map_or(&[][..], Vec::as_slice);
        dial::plain(canvas, at, radius, &name, *arc, turns);
    }
    if size.legend {
        let at = DVec2::new(0.5 * size.width, size.height - 16.0);
        let text = "the axis points at you, positive angles are counter-clockwise from the line";
        canvas.text("cl-small", at, Anchor::Middle, text);
    }
}

/// Both sides of the globe of a ball joint.
fn globes(
    canvas: &mut Canvas,
    size: Size,
    limit: &SwingTwistLimit,
    swing: PreparedSwing<'_>,
    rest: DVec3,
    seen: Seen<'_>,
) {
    let axes = &limit.axes;
    let loops = boundary(swing, axes);
    let contains = |d: DVec3| swing.contains(axes.vector(d));
    let rest = axes.components(rest);
    let extremes = if size.detailed { extremes(limit, swing) } else { Vec::new() };
    let offset = offset(limit);
    for (view, side) in [(View::FRONT, -1.0), (View::BACK, 1.0)] {
        let middle = 0.5 * size.width + side * size.apart;
        let middle = DVec2::new(middle, size.middle);
        let screen = |p: DVec2| middle + DVec2::new(p.x, -p.y) * size.globe;
        let place = |lines: Vec<Vec<DVec2>>| -> Vec<Vec<DVec2>> {
            lines.into_iter().map(|l| l.into_iter().map(screen).collect()).collect()
        };
        canvas.circle("cl-disc", middle, size.globe);
        graticule(canvas, screen, size.globe);
        canvas.path("cl-area", &place(outlines(view, &loops, contains)), true);
        let (shown, hidden) = strokes(view, &loops);
        canvas.path("cl-far", &place(hidden), false);
        let mut dots = |class: &str, directions: &[DVec3], most: usize| {
            let here = directions.iter().filter(|d| view.depth(**d) >= 0.0);
            let points: Vec<DVec2> = here.map(|d| screen(view.project(*d))).collect();
            canvas.dots(class, &thinned(points, most));
        };
        // Of several kinds not more in all.
        let most = DOTS / seen.directions.len().max(1);
        for (class, directions) in seen.directions {
            dots(class, directions, most);
        }
        dots("cl-out", seen.left_out, DOTS);

        let mut taken = rulers(canvas, size, view, middle);
        // Neither on the other globe nor over the edge.
        let other = DVec2::new(0.5 * size.width - side * size.apart, size.middle);
        let reach = DVec2::splat(size.globe + 8.0);
        taken.push((other - reach, other + reach));
        let (far, whole) = (DVec2::splat(1000.0), DVec2::new(size.width, size.height));
        taken.push((-far, DVec2::new(far.x, 2.0)));
        taken.push((-far, DVec2::new(2.0, far.y)));
        taken.push((DVec2::new(whole.x - 2.0, -far.y), far));
        taken.push((DVec2::new(-far.x, whole.y - 2.0), far));
        for d in lattice(view).into_iter().chain(lonely(view, swing, limit)) {
            if !contains(d) {
                continue;
            }
            let direction = axes.vector(d);
            // The direct swing, and so the field of table 1 for the axis-angle (B3).
            let x = SwingKind::AxisAngle.zero_twist(axes, direction);
            let (Some(x), Some(arc)) = (x, swing.twist(direction)) else { continue };
            let zero = offset.as_ref().and_then(|o| o.swing()?.twist(direction));
            let zero = zero.map_or(0.0, |z| z.min().radians());
            dial::on_globe(canvas, view, screen, d, axes.components(x), arc, zero);
            let p = view.project(d);
            // A disc is seen as narrow as it is turned away.
            let half = (DVec2::ONE - p * p).max(DVec2::ZERO);
            let half = DVec2::new(half.x.sqrt(), half.y.sqrt()) * (dial::RADIUS * size.globe);
            let at = screen(p);
            taken.push((at - half, at + half));
        }
        canvas.path("cl-edge", &place(shown), false);
        if view.depth(rest) > -1e-9 {
            let at = screen(view.project(rest));
            canvas.circle("cl-rest", at, if size.detailed { 5.0 } else { 3.5 });
            taken.push((at - DVec2::splat(7.0), at + DVec2::splat(7.0)));
        }
        let least = if view == View::FRONT { -1e-6 } else { 1e-6 };
        let here: Vec<_> = extremes.iter().filter(|(d, _)| view.depth(*d) > least).collect();
        // All dots before the first label, which is not to be under the dot of another.
        for (d, _) in &here {
            let at = screen(view.project(*d));
            canvas.circle("cl-dot", at, 3.5);
            taken.extend([(at - DVec2::splat(5.0), at + DVec2::splat(5.0)); 4]);
        }
        for (d, text) in here {
            let p = view.project(*d);
            label(canvas, screen(p), p, text, &mut taken);
        }
    }
    if size.legend {
        legend(canvas, size);
    }
}

/// One of the points in each cell of a grid, the first one: every place that was seen stays, and there
/// are not more than `most`: the cells grow until there are so few.
pub(crate) fn thinned(points: Vec<DVec2>, most: usize) -> Vec<DVec2> {
    let mut side = 1.6;
    let mut left = points;
    loop {
        let mut cells = std::collections::BTreeSet::new();
        #[allow(clippy::cast_possible_truncation, reason = "pixels of a picture; it saturates")]
        let cell = |x: f64| (x / side).floor() as i32;
        left.retain(|p| cells.insert((cell(p.x), cell(p.y))));
        if left.len() <= most {
            return left;
        }
        side *= 1.25;
    }
}

/// Where zero twist is, as the twists of a limit that allows no other; none if it is the direct swing.
fn offset(limit: &SwingTwistLimit) -> Option<PreparedLimit> {
    if matches!(limit.twist.offset, TwistOffset::None) {
        return None;
    }
    let bounds = TwistBounds::Arc(Arc::point(Angle::ZERO)?);
    let twist = TwistLimit { bounds, offset: limit.twist.offset.clone() };
    let zero = SwingTwistLimit { axes: limit.axes, swing: SwingLimit::Free, twist };
    Limit::SwingTwist(zero).prepare().ok()
}

/// A place for a dial in a region that has none of the lattice.
fn lonely(view: View, swing: PreparedSwing<'_>, limit: &SwingTwistLimit) -> Option<DVec3> {
    let inside = |d: &DVec3| swing.contains(limit.axes.vector(*d));
    let any = [View::FRONT, View::BACK].into_iter().flat_map(lattice).any(|d| inside(&d));
    let d = limit.axes.components(swing.rest());
    (!any && view.depth(d) > 0.2 && inside(&d)).then_some(d)
}

fn graticule(canvas: &mut Canvas, screen: impl Fn(DVec2) -> DVec2, radius: f64) {
    let middle = screen(DVec2::ZERO);
    for ring in [30.0_f64, 60.0] {
        canvas.circle("cl-grid", middle, radius * trig::sin(ring.to_radians()));
    }
    let spokes = (0..6).map(|i| {
        let (sin, cos) = trig::sin_cos(f64::from(i) * FRAC_PI_2 / 3.0);
        let end = DVec2::new(cos, sin);
        vec![screen(-end), screen(end)]
    });
    canvas.path("cl-grid", &spokes.collect::<Vec<_>>(), false);
}

/// What the lines of the graticule are: swings about y below the globe, about x beside it. Returns
/// where they are.
fn rulers(canvas: &mut Canvas, size: Size, view: View, middle: DVec2) -> Vec<(DVec2, DVec2)> {
    let front = view == View::FRONT;
    let radius = size.globe;
    let bottom = middle.y + radius + 6.0;
    // Beside the globe: left of the front, right of the back.
    let (side, outward) = if front { (-1.0, Anchor::End) } else { (1.0, Anchor::Start) };
    let edge = middle.x + side * (radius + 6.0);
    let mut ticks = Vec::new();
    for degrees in [-90.0_f64, -60.0, -30.0, 0.0, 30.0, 60.0, 90.0] {
        let offset = radius * trig::sin(degrees.to_radians());
        let x = middle.x + offset;
        ticks.push(vec![DVec2::new(x, bottom), DVec2::new(x, bottom + 4.0)]);
        let y = middle.y + offset;
        ticks.push(vec![DVec2::new(edge, y), DVec2::new(edge + side * 4.0, y)]);
        // In small pictures there is no room for 60.
        if !size.detailed && degrees.abs() == 60.0 {
            continue;
        }
        // The bone swings to the right about +y, and down about +x; behind, right is towards −x.
        let shown = |d: f64, flip: bool| {
            let d = match (front, flip) {
                (true, _) => d,
                (false, _) if d == 0.0 => 180.0,
                (false, true) => -d.signum() * (180.0 - d.abs()),
                (false, false) => d.signum() * (180.0 - d.abs()),
            };
            format!("{d:.0}").replace('-', "−")
        };
        // 60 and 90 are near each other: they make room.
        let aside = if degrees.abs() == 90.0 {
            9.0 * degrees.signum()
        } else if degrees.abs() == 60.0 {
            -4.0 * degrees.signum()
        } else {
            0.0
        };
        let at = DVec2::new(x + aside, bottom + 14.0);
        canvas.text("cl-small", at, Anchor::Middle, &shown(degrees, true));
        let at = DVec2::new(edge + side * 6.0, y + 3.5);
        canvas.text("cl-small", at, outward, &shown(degrees, false));
    }
    canvas.path("cl-tick", &ticks, false);
    let below = DVec2::new(middle.x, bottom + 27.0);
    let title = match (front, size.detailed) {
        (true, true) => "seen along the bone; degrees about y",
        (false, true) => "seen from behind; degrees about y",
        (true, false) => "along the bone; about y",
        (false, false) => "from behind; about y",
    };
    canvas.text("cl-small", below, Anchor::Middle, title);
    let above = DVec2::new(edge + side * 6.0, middle.y - radius - 8.0);
    canvas.text("cl-small", above, if front { Anchor::Start } else { Anchor::End }, "about x");
    // The axes themselves.
    let top = DVec2::new(middle.x, middle.y - radius - 5.0);
    canvas.text("cl-ink", top, Anchor::Middle, "y");
    let (beside, anchor) = if front { (1.0, Anchor::Start) } else { (-1.0, Anchor::End) };
    let right = DVec2::new(middle.x + beside * (radius + 5.0), middle.y + 3.5);
    canvas.text("cl-ink", right, anchor, "x");
    let around = |at: DVec2, half: DVec2| (at - half, at + half);
    vec![
        around(top - DVec2::new(0.0, 4.0), DVec2::new(6.0, 7.0)),
        around(above + DVec2::new(-side * 20.0, -4.0), DVec2::new(22.0, 7.0)),
        around(right + DVec2::new(4.0 * beside, -4.0), DVec2::new(7.0, 8.0)),
        around(DVec2::new(middle.x, bottom + 12.0), DVec2::new(radius + 20.0, 14.0)),
        around(DVec2::new(edge + side * 16.0, middle.y), DVec2::new(18.0, radius + 8.0)),
    ]
}

/// The points of the boundary with the least and the largest swing about x and about y.
fn extremes(limit: &SwingTwistLimit, swing: PreparedSwing<'_>) -> Vec<(DVec3, String)> {
    if swing.contains(-limit.axes.bone()) {
        return Vec::new();
    }
    let boundary = swings(swing, &limit.axes);
    let mut found: Vec<(DVec3, String)> = Vec::new();
    for (component, letter) in [(1, "y"), (0, "x")] {
        for sign in [1.0, -1.0] {
            let by = |s: &[f64; 2]| sign * s[component];
            let Some((d, s)) = boundary.iter().max_by(|a, b| by(&a.1).total_cmp(&by(&b.1))) else {
                continue;
            };
            let text = format!("{letter} {}", degrees(s[component]));
            let d = limit.axes.components(*d);
            match found.iter_mut().find(|(at, _)| (*at - d).length_squared() < 0.003) {
                Some((_, there)) => *there = format!("{there}, {text}"),
                None => found.push((d, text)),
            }
        }
    }
    found
}

/// A dot with a text beside it, where it covers the least of what is there.
fn label(
    canvas: &mut Canvas,
    at: DVec2,
    outward: DVec2,
    text: &str,
    taken: &mut Vec<(DVec2, DVec2)>,
) {
    let (w, h) = (width_of(text, 11.0), 12.0);
    let corner = |anchor: Anchor, place: DVec2| match anchor {
        Anchor::Start => place - DVec2::new(0.0, h - 2.0),
        Anchor::Middle => place - DVec2::new(0.5 * w, h - 2.0),
        Anchor::End => place - DVec2::new(w, h - 2.0),
    };
    let places = [
        (Anchor::Start, DVec2::new(7.0, 4.0)),
        (Anchor::End, DVec2::new(-7.0, 4.0)),
        (Anchor::Middle, DVec2::new(0.0, -8.0)),
        (Anchor::Middle, DVec2::new(0.0, 17.0)),
        (Anchor::Start, DVec2::new(6.0, -7.0)),
        (Anchor::End, DVec2::new(-6.0, -7.0)),
        (Anchor::Start, DVec2::new(6.0, 16.0)),
        (Anchor::End, DVec2::new(-6.0, 16.0)),
        (Anchor::Start, DVec2::new(10.0, -18.0)),
        (Anchor::End, DVec2::new(-10.0, -18.0)),
        (Anchor::Start, DVec2::new(10.0, 26.0)),
        (Anchor::End, DVec2::new(-10.0, 26.0)),
        (Anchor::Middle, DVec2::new(0.0, -22.0)),
        (Anchor::Middle, DVec2::new(0.0, 31.0)),
        (Anchor::Start, DVec2::new(12.0, -32.0)),
        (Anchor::End, DVec2::new(-12.0, -32.0)),
        (Anchor::Start, DVec2::new(12.0, 40.0)),
        (Anchor::End, DVec2::new(-12.0, 40.0)),
    ];
    let mut best: Option<(f64, Anchor, DVec2)> = None;
    for (anchor, offset) in places {
        let from = corner(anchor, at + offset);
        let to = from + DVec2::new(w, h);
        let covered: f64 = taken
            .iter()
            .map(|(a, b)| {
                let over = to.min(*b) - from.max(*a);
                over.x.max(0.0) * over.y.max(0.0)
            })
            .sum();
        // Of equals the one that leads away from the middle.
        let cost = covered - 0.3 * offset.dot(DVec2::new(outward.x, -outward.y));
        if best.is_none_or(|(least, ..)| cost < least) {
            best = Some((cost, anchor, offset));
        }
    }
    if let Some((_, anchor, offset)) = best {
        let from = corner(anchor, at + offset);
        // What is below a text can still be seen, another text cannot.
        let room = DVec2::new(2.0, 0.0);
        taken.extend([(from - room, from + DVec2::new(w, h) + room); 4]);
        canvas.text("cl-halo", at + offset, anchor, text);
    }
}

fn legend(canvas: &mut Canvas, size: Size) {
    let y = size.height - 20.0;
    let mut x = 20.0;
    let mut entry = |draw: &dyn Fn(&mut Canvas, DVec2), text: &str| {
        let at = DVec2::new(x + 10.0, y - 4.0);
        draw(canvas, at);
        canvas.text("cl-small", DVec2::new(x + 24.0, y), Anchor::Start, text);
        x += 24.0 + width_of(text, 10.0) + 8.0;
    };
    let bar = |class: &'static str| {
        move |c: &mut Canvas, at: DVec2| {
            let half = DVec2::new(9.0, 0.0);
            c.line(class, at - half, at + half);
        }
    };
    entry(
        &|c, at| c.rectangle("cl-area", at - DVec2::new(9.0, 6.0), DVec2::new(18.0, 12.0), 2.0),
        "the bone may point here",
    );
    entry(&bar("cl-edge"), "boundary");
    entry(&bar("cl-far"), "on the other side");
    entry(&|c, at| c.circle("cl-rest", at, 5.0), "bone at rest");
    entry(&|c, at| twist_symbol(c, at, 8.0), "twist allowed, as directions of x; line: zero twist");
}

/// A dial as it is on a globe, for legends.
pub(crate) fn twist_symbol(canvas: &mut Canvas, at: DVec2, radius: f64) {
    let arc = Arc::from_degrees(-40.0, 60.0).unwrap_or(Arc::FULL);
    let screen = |p: DVec2| at + DVec2::new(p.x, -p.y) * (radius / dial::RADIUS);
    dial::on_globe(canvas, View::FRONT, screen, DVec3::Z, DVec3::X, arc, 0.0);
}

/// The picture of a limit alone has a joint made for it.
pub(super) fn joint_of(limit: &Limit) -> RigJoint {
    let kind = match limit {
        Limit::Free | Limit::EulerBox(_) | Limit::SwingTwist(_) => JointKind::Ball,
        Limit::Locked => JointKind::Fixed,
        Limit::Hinge { .. } => JointKind::Hinge,
        Limit::Universal { .. } => JointKind::Universal,
    };
    RigJoint { kind, center: Rotation::IDENTITY, limit: limit.clone(), ..RigJoint::default() }
}
