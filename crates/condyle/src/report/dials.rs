//! Poses of a figure with dials on a page to look at.
//!
//! [`html`] gives the text of one HTML file that needs nothing beside it.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use glam::{DVec2, DVec3};

use crate::maps::{Dial, DialClip, Network, State, Transform, Unit};
use crate::math::{Angle, trig};
use crate::motion::{Clip, Pose, World};
use crate::picture::document;
use crate::picture::svg::{Anchor, Canvas, Html, STYLE};
use crate::skeleton::Skeleton;

/// A pose to be shown.
#[derive(Clone, Copy, Debug)]
pub struct PoseView<'a> {
    /// What it is called.
    pub name: &'a str,
    /// One number for each dial.
    pub dials: &'a [f64],
}

/// Dials that were found for a motion, with that motion.
#[derive(Clone, Copy, Debug)]
pub struct FitView<'a> {
    /// The dials of each frame.
    pub dials: &'a DialClip,
    /// What they were found for, on the joints of the figure,
    pub captured: &'a Clip,
    /// and the skeleton that it is of, whose bones may have other lengths.
    pub source: &'a Skeleton,
    /// How far joints are from it.
    pub residuals: &'a [Residual<'a>],
    /// What has to be known about it.
    pub warnings: &'a [String],
}

/// How far a joint is from what it should do.
#[derive(Clone, Copy, Debug)]
pub struct Residual<'a> {
    /// The joint's name.
    pub joint: &'a str,
    /// The root of the mean square.
    pub rms: Angle,
    /// At most,
    pub worst: Angle,
    /// and in which frame, from 0.
    pub worst_frame: usize,
}

/// How high pictures may be, in pixels, and how wide all that stand in a row: a pose from all sides, and
/// frames of a motion.
const SIZE: DVec2 = DVec2::new(1080.0, 520.0);
const SMALL: DVec2 = DVec2::new(780.0, 320.0);
/// Room for the words above the latter.
const WORDS: f64 = 84.0;
/// So many frames of a motion are shown.
const FRAMES: usize = 8;
/// How long the marks are that show how bones roll, as a share of the figure, at least; in a row of pictures only
/// figures of so many moved joints have them.
const MARK: f64 = 0.08;
const FEW: usize = 12;
/// Room around the figure, above it for the name of the view, and below it for what is on either side.
const MARGIN: f64 = 14.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 16.0;
/// So many points of an outline.
const POINTS: u32 = 48;

/// The page: each pose from the front, from its right side and from above, with the figure at rest behind
/// it; how dials are set; and, if there is a motion, some of its frames in a row, and dials over time.
/// Marks on bones that are moved show how they roll: at rest they point forward. `[up, forward]` are the
/// directions of the figure at rest, square to each other.
///
/// ```
/// use condyle::glam::DVec3;
/// use condyle::maps::Network;
/// use condyle::models;
/// use condyle::report::dials;
///
/// let rig = models::find("shoulder").ok_or("no shoulder")?;
/// let network = Network::new(&rig.maps, &rig.skeleton)?;
/// let rest: Vec<f64> = network.dials().iter().map(|dial| dial.rest).collect();
/// let pose = dials::PoseView { name: "at rest", dials: &rest };
/// let axes = [DVec3::Y, DVec3::Z];
/// let text = dials::html("shoulder", &rig.skeleton, &network, axes, &[pose], None);
/// assert!(text.contains("from the front"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
///
/// If the skeleton is not that of the network, or a pose has another number of dials.
#[must_use]
pub fn html(
    title: &str,
    skeleton: &Skeleton,
    network: &Network,
    [up, forward]: [DVec3; 2],
    poses: &[PoseView<'_>],
    over_time: Option<&DialClip>,
) -> String {
    let mut text = head(title, skeleton, network, None);
    let show = Show { skeleton, network, views: views(up, forward), forward, captured: None };
    let mut states = Vec::with_capacity(poses.len());
    for pose in poses {
        let mut state = network.state();
        network.evaluate_values(pose.dials, &mut state);
        show.pose(&mut text, pose.name, &state, None);
        states.push(state);
    }
    dials(&mut text, network, poses, &states);
    if let Some(clip) = over_time {
        let shown = frames(clip.len());
        show.frames(&mut text, clip, &shown);
        curves(&mut text, network.dials(), clip, &shown);
    }
    foot(&mut text);
    text
}

/// The page of dials that were found for a motion: what has to be known about it, some frames with what was
/// captured behind them, how far each joint is from that, and dials over time. A single frame is shown from
/// three sides, with how its dials are set.
///
/// # Panics
///
/// If the skeleton is not that of the network, or the dials or the motion are of another one.
#[must_use]
pub fn html_of_fit(
    title: &str,
    skeleton: &Skeleton,
    network: &Network,
    [up, forward]: [DVec3; 2],
    fit: &FitView<'_>,
) -> String {
    let clip = fit.dials;
    let mut text = head(title, skeleton, network, Some(clip.len()));
    warnings(&mut text, fit.warnings);
    let show = Show { skeleton, network, views: views(up, forward), forward, captured: Some(fit) };
    if clip.len() == 1 {
        let mut state = network.state();
        network.evaluate_values(clip.frame(0), &mut state);
        show.pose(&mut text, "frame 0", &state, Some(0));
        residuals(&mut text, fit.residuals);
        dials(&mut text, network, &[PoseView { name: "frame 0", dials: clip.frame(0) }], &[state]);
    } else {
        let shown = frames(clip.len());
        show.frames(&mut text, clip, &shown);
        residuals(&mut text, fit.residuals);
        curves(&mut text, network.dials(), clip, &shown);
    }
    foot(&mut text);
    text
}

/// Up to what is shown; of a motion with its frames.
fn head(title: &str, skeleton: &Skeleton, network: &Network, frames: Option<usize>) -> String {
    let begin = document::begin(title, &[STYLE, include_str!("dials.css")], None);
    format!(
        "{begin}<h1>{}</h1>\n<p class=\"lead\">{}{} move {}.</p>\n",
        Html(title),
        frames.map_or_else(String::new, |frames| format!("{}; ", counted(frames, "frame"))),
        counted(network.dials().len(), "dial"),
        counted(skeleton.indices().filter(|joint| network.moves(*joint)).count(), "joint"),
    )
}

fn foot(text: &mut String) {
    let _ = write!(
        text,
        "<footer><p class=\"small\">Written by condyle {}.</p></footer>\n</main>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
}

/// What has to be known about a fit.
fn warnings(text: &mut String, warnings: &[String]) {
    if warnings.is_empty() {
        return;
    }
    text.push_str("<section>\n<h2>Warnings</h2>\n<ul>\n");
    for warning in warnings {
        let _ = writeln!(text, "<li>{}</li>", Html(warning));
    }
    text.push_str("</ul>\n</section>\n");
}

/// How far joints are from what was captured, those that are farthest first.
fn residuals(text: &mut String, all: &[Residual<'_>]) {
    if all.is_empty() {
        return;
    }
    text.push_str(
        "<section>\n<h2>How near it comes</h2>\n<div class=\"wide\">\n<table>\n<thead><tr><th>joint</th>\
         <th>off by (rms)</th><th>at most</th><th>at frame</th></tr></thead>\n<tbody>\n",
    );
    let mut order: Vec<&Residual<'_>> = all.iter().collect();
    order.sort_by(|a, b| b.rms.radians().total_cmp(&a.rms.radians()));
    for Residual { joint, rms, worst, worst_frame } in order {
        let [rms, worst] = [rms, worst].map(|angle| shown(Unit::Angle, angle.radians()));
        let _ = writeln!(
            text,
            "<tr><td>{}</td><td>{rms}</td><td>{worst}</td><td>{worst_frame}</td></tr>",
            Html(joint)
        );
    }
    text.push_str(
        "</tbody>\n</table>\n</div>\n<p class=\"small\">How far the rotation of each joint is from what was \
         captured: what the rig cannot do.</p>\n</section>\n",
    );
}

/// `1 joint`, `3 joints`.
fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Frames of a motion to be shown, evenly placed from the first to the last.
fn frames(count: usize) -> Vec<usize> {
    let last = count.saturating_sub(1);
    let mut all: Vec<usize> =
        (0..FRAMES.min(count)).map(|k| k * last / (FRAMES.min(count) - 1).max(1)).collect();
    all.dedup();
    all
}

/// What is seen of a figure.
struct Drawn {
    bones: Vec<[DVec3; 2]>,
    joints: Vec<DVec3>,
    /// From the middle of a bone that is moved to where its front points.
    marks: Vec<[DVec3; 2]>,
    /// The joint of a bone that slides, and the two points that touch.
    blades: Vec<[DVec3; 3]>,
    /// From a unit sphere.
    ellipsoids: Vec<(Transform, DVec3)>,
}

impl Drawn {
    fn points(&self) -> impl Iterator<Item = DVec3> + '_ {
        let ends = self.bones.iter().chain(&self.marks).flatten().chain(&self.joints);
        ends.chain(self.blades.iter().flatten()).copied().filter(|p| p.is_finite())
    }
}

/// A direction to look from.
struct View {
    name: &'static str,
    /// What is to the right in the picture, and what is up. Their cross product points at who looks, or
    /// else the picture is a mirror image.
    right: DVec3,
    up: DVec3,
    /// What of the figure is on the left side of the picture, and on the right one.
    sides: [&'static str; 2],
}

fn views(up: DVec3, forward: DVec3) -> [View; 3] {
    let left = up.cross(forward);
    [
        View { name: "from the front", right: left, up, sides: ["its right", "its left"] },
        View { name: "from its right", right: forward, up, sides: ["back", "front"] },
        View { name: "from above", right: -left, up: forward, sides: ["its left", "its right"] },
    ]
}

impl View {
    fn flat(&self, p: DVec3) -> DVec2 {
        DVec2::new(p.dot(self.right), -p.dot(self.up))
    }

    /// The rectangle that holds some figures.
    fn around<'d>(&self, all: impl IntoIterator<Item = &'d Drawn>) -> [DVec2; 2] {
        let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        for drawn in all {
            let bodies = drawn.ellipsoids.iter();
            let outlines = bodies.flat_map(|(place, radii)| {
                outline(place, *radii, self.right, self.up, |p| self.flat(p))
            });
            for p in drawn.points().map(|p| self.flat(p)).chain(outlines) {
                (low, high) = (low.min(p), high.max(p));
            }
        }
        if low.is_finite() && high.is_finite() { [low, high] } else { [DVec2::ZERO, DVec2::ONE] }
    }

    /// Figures on each other, each with its class, inside of a rectangle, with so many pixels per metre, and
    /// with what is on which side, or without.
    fn picture(
        &self,
        [title, caption]: [&str; 2],
        sides: bool,
        figures: &[(&Drawn, &str)],
        [low, high]: [DVec2; 2],
        scale: f64,
    ) -> String {
        let room = DVec2::new(MARGIN, MARGIN + TOP);
        let to = |p: DVec3| (self.flat(p) - low) * scale + room;
        let least = DVec2::new(WORDS, 0.5 * WORDS);
        let below = DVec2::new(MARGIN, MARGIN + if sides { BOTTOM } else { 0.0 });
        let size = ((high - low) * scale + room + below).max(least);
        let mut canvas = Canvas::default();
        canvas.text("cl-small", DVec2::new(MARGIN, 12.0), Anchor::Start, caption);
        if sides {
            let foot = size.y - 4.0;
            canvas.text("mp-side", DVec2::new(2.0, foot), Anchor::Start, self.sides[0]);
            canvas.text("mp-side", DVec2::new(size.x - 2.0, foot), Anchor::End, self.sides[1]);
        }
        for (drawn, class) in figures {
            if class.starts_with("mp-now") {
                let outlines: Vec<Vec<DVec2>> = drawn
                    .ellipsoids
                    .iter()
                    .map(|(place, radii)| outline(place, *radii, self.right, self.up, to))
                    .collect();
                canvas.path("mp-ribs", &outlines, true);
            }
            let blades: Vec<Vec<DVec2>> = drawn.blades.iter().map(|b| b.map(to).to_vec()).collect();
            canvas.path(&format!("mp-blade {class}"), &blades, true);
            let lines = |all: &[[DVec3; 2]]| -> Vec<Vec<DVec2>> {
                let finite = |line: &&[DVec3; 2]| line.iter().all(|p| p.is_finite());
                all.iter().filter(finite).map(|line| line.map(to).to_vec()).collect()
            };
            canvas.path(&format!("mp-bone {class}"), &lines(&drawn.bones), false);
            canvas.path(&format!("mp-mark {class}"), &lines(&drawn.marks), false);
            let joints: Vec<DVec2> = drawn.joints.iter().map(|p| to(*p)).collect();
            canvas.dots(&format!("mp-joint {class}"), &joints);
        }
        canvas.embedded(size, title)
    }
}

/// Pixels per metre such that some rectangles side by side are no wider than so many together, and none is
/// higher than so many.
fn scale_of(all: impl Iterator<Item = [DVec2; 2]>, pixels: DVec2) -> f64 {
    let (mut width, mut height) = (1e-6, 1e-6_f64);
    for [low, high] in all {
        let size = high - low;
        width += size.x;
        height = height.max(size.y);
    }
    (pixels / DVec2::new(width, height)).min_element()
}

/// What is shown, and from where.
struct Show<'a> {
    skeleton: &'a Skeleton,
    network: &'a Network,
    views: [View; 3],
    forward: DVec3,
    /// What dials were found for.
    captured: Option<&'a FitView<'a>>,
}

impl Show<'_> {
    /// The pose of a frame as captured, in place: a root that no dial moves is at rest, and bones have the
    /// lengths of the figure.
    fn captured(&self, frame: usize) -> Option<Pose> {
        let Self { skeleton, network, captured, .. } = self;
        let fit = captured.as_ref()?;
        let mut pose = fit.captured.pose(fit.captured.frames().nth(frame)?);
        let rest = Pose::rest(skeleton);
        for joint in skeleton.indices() {
            let j = joint.get();
            pose.translations_m[j] += skeleton[joint].offset_m - fit.source[joint].offset_m;
            if skeleton.parent(joint).is_none() && !network.moves(joint) {
                (pose.rotations[j], pose.translations_m[j]) =
                    (rest.rotations[j], rest.translations_m[j]);
            }
        }
        Some(pose)
    }

    /// A figure of bones alone.
    fn bones(&self, pose: &Pose) -> Drawn {
        let world = pose.world(self.skeleton);
        let bones = world.bones(self.skeleton).chain(world.tips(self.skeleton)).collect();
        let (marks, blades, ellipsoids) = (Vec::new(), Vec::new(), Vec::new());
        Drawn { bones, joints: world.positions_m, marks, blades, ellipsoids }
    }

    /// What dials say, and what they do not move as it was captured, if there is such a frame.
    fn drawn(&self, state: &State, marked: bool, frame: Option<usize>) -> Drawn {
        let Self { skeleton, network, .. } = self;
        let mut pose = Pose::rest(skeleton);
        let rest = pose.world(skeleton);
        if let Some(captured) = frame.and_then(|frame| self.captured(frame)) {
            pose = captured;
        }
        network.write(state, &mut pose);
        let world = pose.world(skeleton);
        let at = |world: &World, j: usize| Transform {
            rotation: world.rotations[j],
            translation_m: world.positions_m[j],
        };
        let slides = network.sliding().iter().zip(state.slid());
        let blades = slides.map(|(bone, slid)| {
            let place = at(&world, bone.joint.get());
            [place.translation_m, place.apply(slid.points_m[0]), place.apply(slid.points_m[1])]
        });
        let ellipsoids = network
            .sliding()
            .iter()
            .map(|bone| (at(&world, bone.on.get()) * bone.place, bone.radii_m));
        let bones: Vec<[DVec3; 2]> = world.bones(skeleton).chain(world.tips(skeleton)).collect();
        let (low, high) = rest
            .positions_m
            .iter()
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(a, b), p| (a.min(*p), b.max(*p)));
        let length = MARK * (high - low).max_element().clamp(0.0, 1e6);
        let moved = skeleton.indices().filter(|joint| marked && network.moves(*joint));
        let marks = moved.map(|joint| {
            let j = joint.get();
            let from = world.positions_m[j];
            let end = bones.iter().find(|bone| bone[0] == from).map_or(from, |bone| bone[1]);
            let ahead = world.rotations[j] * (rest.rotations[j].inverse() * self.forward);
            let middle = (from + end) * 0.5;
            [middle, middle + ahead * length.max(0.25 * from.distance(end))]
        });
        Drawn {
            marks: marks.collect(),
            bones,
            joints: world.positions_m.clone(),
            blades: blades.collect(),
            ellipsoids: ellipsoids.collect(),
        }
    }

    /// A pose from all sides, before the figure at rest, or as it was captured.
    fn pose(&self, text: &mut String, name: &str, state: &State, frame: Option<usize>) {
        let now = self.drawn(state, true, frame);
        let captured = frame.and_then(|frame| self.captured(frame));
        let behind = captured.is_none();
        let rest = captured.map_or_else(
            || self.drawn(&self.network.state(), true, None),
            |captured| self.bones(&captured),
        );
        let _ = writeln!(text, "<section>\n<h2>{}</h2>\n<div class=\"views\">", Html(name));
        let figures = [(&rest, "mp-rest"), (&now, "mp-now")];
        let around = self.views.each_ref().map(|view| view.around([&rest, &now]));
        let scale = scale_of(around.into_iter(), SIZE);
        for (view, around) in self.views.iter().zip(around) {
            let title = format!("{name}, {}", view.name);
            text.push_str(&view.picture([&title, view.name], true, &figures, around, scale));
        }
        let behind = if behind { "pale, the figure at rest" } else { "grey, what was captured" };
        let _ = write!(text, "</div>\n<p class=\"small\">Behind it, {behind}. ");
        text.push_str("Marks on bones show how these roll: at rest they point forward.");
        if !now.blades.is_empty() {
            text.push_str(
                " Shaded: a bone that slides, between its joint and the two points that touch; dashed: what \
                 it slides on.",
            );
        }
        text.push_str("</p>\n");
        held(text, self.network.held(state).map(|held| held.to_string()));
        text.push_str("</section>\n");
    }

    /// Frames of a motion in a row, from the front and from the side.
    fn frames(&self, text: &mut String, clip: &DialClip, shown: &[usize]) {
        let moved = self.skeleton.indices().filter(|joint| self.network.moves(*joint)).count();
        let mut state = self.network.state();
        let (mut drawn, mut behind) = (Vec::with_capacity(shown.len()), Vec::new());
        for frame in shown {
            self.network.evaluate_values(clip.frame(*frame), &mut state);
            drawn.push(self.drawn(&state, moved <= FEW, Some(*frame)));
            behind.extend(self.captured(*frame).map(|pose| self.bones(&pose)));
        }
        text.push_str("<section>\n<h2>Frames</h2>\n");
        let around = [0, 1].map(|k| self.views[k].around(drawn.iter().chain(&behind)));
        // Each view has a row of its own.
        let row = |around| scale_of(std::iter::repeat_n(around, FRAMES), SMALL);
        let scale = around.map(row).into_iter().fold(f64::INFINITY, f64::min);
        for (view, around) in self.views.iter().zip(around) {
            let _ = writeln!(
                text,
                "<h3>{}, {} on the left</h3>\n<div class=\"strip\">",
                view.name, view.sides[0]
            );
            for (i, (frame, figure)) in shown.iter().zip(&drawn).enumerate() {
                let seconds = *frame as f64 * clip.rate().frame_time_s();
                let caption = format!("{frame} · {seconds:.2} s");
                let title = format!("frame {frame}, {}", view.name);
                let behind = behind.get(i).map(|captured| (captured, "mp-rest mp-thin"));
                let figures: Vec<_> =
                    behind.into_iter().chain([(figure, "mp-now mp-thin")]).collect();
                text.push_str(&view.picture([&title, &caption], false, &figures, around, scale));
            }
            text.push_str("</div>\n");
        }
        text.push_str(
            "<p class=\"small\">Frame and time of each; in place, since dials do not say where the figure \
             goes.",
        );
        if !behind.is_empty() {
            text.push_str(" Behind it, grey, what was captured, with the bones of the rig.");
        }
        text.push_str("</p>\n");
        let over = self.network.held_over(clip);
        held(
            text,
            over.iter().map(|of| {
                let (n, all, worst) = (of.frames, clip.len(), of.worst_frame);
                format!("{} ({n} of {all} frames, worst in frame {worst})", of.worst)
            }),
        );
        text.push_str("</section>\n");
    }
}

/// The outline of an ellipsoid: where its surface is seen from the side. With E from the unit sphere, a
/// direction d of the picture is reached farthest at E Eᵀ d / |Eᵀ d|.
fn outline(
    place: &Transform,
    radii: DVec3,
    right: DVec3,
    up: DVec3,
    to: impl Fn(DVec3) -> DVec2,
) -> Vec<DVec2> {
    let point = |k: u32| {
        let (sin, cos) = trig::sin_cos(TAU * f64::from(k) / f64::from(POINTS));
        let along = radii * (place.rotation.inverse() * (right * cos + up * sin));
        let farthest = radii * along / along.length().max(1e-12);
        to(place.apply(farthest))
    };
    (0..POINTS).map(point).collect()
}

/// What keeps the figure from what was set, if anything does.
fn held(text: &mut String, all: impl Iterator<Item = String>) {
    let all: Vec<String> = all.collect();
    if all.is_empty() {
        return;
    }
    text.push_str("<h3>Held</h3>\n<ul>\n");
    for one in all {
        let _ = writeln!(text, "<li>{}.</li>", Html(&one));
    }
    text.push_str("</ul>\n");
}

/// How dials are set in each pose, and what became of it, those at rest after the others; of several
/// poses only those that are not at rest in all of them.
fn dials(text: &mut String, network: &Network, poses: &[PoseView<'_>], states: &[State]) {
    let dials = network.dials();
    if poses.is_empty() {
        return;
    }
    text.push_str(
        "<section>\n<h2>Dials</h2>\n<div class=\"wide\">\n<table>\n<thead><tr><th>dial</th>",
    );
    for pose in poses {
        let name = if poses.len() == 1 { "" } else { pose.name };
        let both = ["set", "got"].map(|word| format!("{name} {word}"));
        let _ = write!(text, "<th>{}</th><th>{}</th>", Html(both[0].trim()), Html(both[1].trim()));
    }
    text.push_str(
        "<th>held by</th><th>range</th><th>what it does</th><th>source</th></tr></thead>\n",
    );
    text.push_str("<tbody>\n");
    let given: Vec<Vec<Option<f64>>> = states.iter().map(|state| network.given(state)).collect();
    let mut holders: Vec<Vec<&str>> = vec![Vec::new(); dials.len()];
    for held in states.iter().flat_map(|state| network.held(state)) {
        for dial in held.dials {
            if !holders[*dial].contains(&held.part) {
                holders[*dial].push(held.part);
            }
        }
    }
    let moved = |d: usize| {
        let set = states.iter().any(|state| state.dials()[d] != dials[d].rest);
        set || !holders[d].is_empty()
    };
    let (set, still): (Vec<usize>, Vec<usize>) = (0..dials.len()).partition(|d| moved(*d));
    let rows = if poses.len() == 1 { [set, still.clone()].concat() } else { set };
    for d in rows {
        let dial = &dials[d];
        let [min, max] = dial.range.map(|end| shown(dial.unit, end));
        let _ = write!(text, "<tr><td>{}</td>", Html(&dial.name));
        for (state, given) in states.iter().zip(&given) {
            // Of a rotation that is held no number of one dial is left.
            let got = given[d].map_or_else(|| "–".to_owned(), |value| shown(dial.unit, value));
            let class = if given[d] == Some(state.dials()[d]) { "" } else { " class=\"held\"" };
            let set = shown(dial.unit, state.dials()[d]);
            let _ = write!(text, "<td>{set}</td><td{class}>{got}</td>");
        }
        let _ = writeln!(
            text,
            "<td>{}</td><td class=\"range\">{min} to {max}</td><td>{}</td><td class=\"small\">{}</td></tr>",
            Html(&holders[d].join(", ")),
            Html(&dial.label),
            Html(&dial.source),
        );
    }
    text.push_str("</tbody>\n</table>\n</div>\n");
    if given.iter().flatten().any(Option::is_none) {
        text.push_str(
            "<p class=\"small\">–: what the dial and others make together is held; what by, and how far, is \
             said above.</p>\n",
        );
    }
    if poses.len() > 1 && !still.is_empty() {
        let names: Vec<&str> = still.iter().map(|d| dials[*d].name.as_str()).collect();
        let _ = writeln!(text, "<p class=\"small\">At rest: {}.</p>", Html(&names.join(", ")));
    }
    text.push_str("</section>\n");
}

/// A number as people read it, in the unit in which it is set.
fn shown(unit: Unit, value: f64) -> String {
    let number = value / unit.of_document();
    match unit {
        Unit::Angle => format!("{:.1}°", (10.0 * number).round() / 10.0 + 0.0),
        Unit::Length => format!("{:.4} m", (1e4 * number).round() / 1e4 + 0.0),
        Unit::Ratio => format!("{number:.2}"),
    }
}

/// What share of frames some are: neither none nor all unless they are.
fn percent(some: usize, all: usize) -> String {
    match (100 * some + all / 2) / all.max(1) {
        0 if some > 0 => "< 1".to_owned(),
        100 if some < all => "> 99".to_owned(),
        share => share.to_string(),
    }
}

/// A curve for each dial that moves, with lines at the frames that are shown.
fn curves(text: &mut String, dials: &[Dial], clip: &DialClip, frames: &[usize]) {
    const WIDTH: f64 = 270.0;
    const HEIGHT: f64 = 90.0;
    /// More points than pixels are not seen.
    const MOST: usize = 540;
    text.push_str("<section>\n<h2>Dials over time</h2>\n<div class=\"curves\">\n");
    let seconds = clip.len() as f64 * clip.rate().frame_time_s();
    let (mut still, mut pinned) = (Vec::new(), Vec::new());
    for ((d, dial), ends) in dials.iter().enumerate().zip(clip.at_ends(dials)) {
        let value = |frame: usize| clip.frame(frame)[d];
        let first = if clip.is_empty() { 0.0 } else { value(0) };
        let at_end = ends[0] + ends[1];
        if (0..clip.len()).all(|frame| value(frame) == first) {
            // One whose range begins where the figure is at rest is not in the way there.
            if at_end > 0 && first != dial.rest {
                pinned.push(format!("{} ({})", dial.name, shown(dial.unit, first)));
            } else {
                still.push(dial.name.as_str());
            }
            continue;
        }
        let [min, max] = dial.range;
        let count = clip.len().min(MOST);
        let along = |frame: usize| WIDTH * frame as f64 / (clip.len() - 1).max(1) as f64;
        let line = (0..count).map(|i| {
            let frame = i * (clip.len() - 1) / (count - 1).max(1);
            let x = along(frame);
            let share = (value(frame) - min) / (max - min);
            DVec2::new(x, 18.0 + (HEIGHT - 18.0) * (1.0 - share))
        });
        let mut canvas = Canvas::default();
        canvas.rectangle("mp-panel", DVec2::new(0.0, 18.0), DVec2::new(WIDTH, HEIGHT - 18.0), 0.0);
        let mut head =
            format!("{}: {} to {}", dial.name, shown(dial.unit, min), shown(dial.unit, max));
        if at_end > 0 {
            let _ = write!(head, ", at its end {} %", percent(at_end, clip.len()));
        }
        canvas.text("cl-small", DVec2::new(0.0, 12.0), Anchor::Start, &head);
        for x in frames.iter().map(|frame| along(*frame)) {
            canvas.line("mp-frame", DVec2::new(x, 18.0), DVec2::new(x, HEIGHT));
        }
        canvas.path("mp-curve", &[line.collect()], false);
        text.push_str(&canvas.embedded(DVec2::new(WIDTH, HEIGHT + 1.0), &dial.name));
    }
    let _ = writeln!(
        text,
        "</div>\n<p class=\"small\">{seconds:.2} s; from the lower to the upper end of each \
         range. Lines: the frames above.</p>"
    );
    if !pinned.is_empty() {
        let names = pinned.join(", ");
        let _ = writeln!(text, "<p>At an end of their ranges in all frames: {}.</p>", Html(&names));
    }
    if !still.is_empty() {
        let _ = writeln!(text, "<p class=\"small\">Still: {}.</p>", Html(&still.join(", ")));
    }
    text.push_str("</section>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models;
    use crate::motion::FrameRate;
    use crate::picture::document::tests::check_policy;
    use crate::picture::tests::well_formed;

    #[test]
    fn every_model_has_a_page() {
        for name in models::names() {
            let rig = models::find(name).unwrap();
            let network = Network::new(&rig.maps, &rig.skeleton).unwrap();
            let far: Vec<f64> = network.dials().iter().map(|d| d.range[1]).collect();
            let rest: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
            let mut clip = DialClip::new(FrameRate::from_fps(30.0).unwrap(), far.len());
            clip.push(&rest);
            clip.push(&far);
            let poses = [
                PoseView { name: "at rest", dials: &rest },
                PoseView { name: "<far> & \"wide\"", dials: &far },
            ];
            let text =
                html(name, &rig.skeleton, &network, [DVec3::Y, DVec3::Z], &poses, Some(&clip));
            check_policy(&text, 0);
            let body = &text[text.find("<main>").unwrap()..text.find("</main>").unwrap()];
            assert!(well_formed(&format!("{body}</main>")) > 20, "{name}");
            assert!(!text.contains("NaN") && !text.contains("<far>"));
            // Twice in words and titles for each pose, and for the frames in a row.
            assert_eq!(text.matches("from the front").count(), 2 * 2 + 3);
            // One table whatever the number of poses.
            assert_eq!(text.matches("<table>").count(), 1);
            // Every moved joint has a mark, at rest and in the pose.
            let moved = rig.skeleton.indices().filter(|joint| network.moves(*joint)).count();
            let marks = text.split("mp-mark mp-now\"").nth(1).unwrap();
            let marks = marks.split("d=\"").nth(1).unwrap().split('"').next().unwrap();
            assert_eq!(marks.matches('M').count(), moved, "{name}");
        }
    }

    /// A picture is what one sees from a place, and not its mirror image, if what is to the right in it,
    /// what is up and who looks are right-handed: models have y up, z forward and x to the left.
    #[test]
    fn no_view_is_a_mirror_image() {
        let places = [DVec3::Z, DVec3::NEG_X, DVec3::Y];
        for (view, place) in views(DVec3::Y, DVec3::Z).iter().zip(places) {
            assert_eq!(view.right.cross(view.up), place, "{}", view.name);
        }
        // What is written at its sides is what is there.
        let beside = [("its left", DVec3::X), ("its right", DVec3::NEG_X)];
        let along = [("front", DVec3::Z), ("back", DVec3::NEG_Z)];
        let known: Vec<(&str, DVec3)> = beside.into_iter().chain(along).collect();
        for view in views(DVec3::Y, DVec3::Z) {
            let at = |side: &str| known.iter().find(|(name, _)| *name == side).unwrap().1;
            assert_eq!(view.sides.map(at), [-view.right, view.right], "{}", view.name);
        }
    }

    /// The left leg of a figure that is lifted forward and to its left is drawn on the left of its trunk
    /// from above, and on the right of it from the front, as its own picture on the page has it.
    #[test]
    fn a_leg_that_goes_to_the_left_is_seen_there() {
        let rig = models::find("body").unwrap();
        let network = rig.network().unwrap();
        let mut dials: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
        for (name, degrees) in [("left.hip.flexion", 90.0), ("left.hip.abduction", 40.0)] {
            dials[network.find(name).unwrap()] = f64::to_radians(degrees);
        }
        let pose = PoseView { name: "lifted", dials: &dials };
        let axes = [DVec3::Y, DVec3::Z];
        let text = html("body", &rig.skeleton, &network, axes, &[pose], None);
        let knee = rig.skeleton.find("LeftShank").unwrap().get();
        let joints = |view: usize| -> Vec<[f64; 2]> {
            let picture = text.split("<svg").nth(1 + view).unwrap();
            let dots = picture.split("mp-joint mp-now\"").nth(1).unwrap();
            let dots = dots.split("d=\"").nth(1).unwrap().split('"').next().unwrap();
            let numbers = |dot: &str| -> Vec<f64> {
                dot.split(|c: char| c != '.' && c != '-' && !c.is_ascii_digit())
                    .filter_map(|word| word.parse().ok())
                    .collect()
            };
            dots.split('M').skip(1).map(numbers).map(|n| [n[0], n[1]]).collect()
        };
        let ([front, above], trunk) = ([joints(0), joints(2)], 0);
        assert_eq!(front.len(), rig.skeleton.len());
        assert!(front[knee][0] > front[trunk][0] + 20.0, "{front:?}");
        assert!(above[knee][0] < above[trunk][0] - 20.0, "{above:?}");
        // Forward is up from above: less far down the page.
        assert!(above[knee][1] < above[trunk][1] - 20.0, "{above:?}");
    }

    /// Row D13: what was set, what became of it and what holds it stand side by side.
    #[test]
    fn d13_a_page_tells_what_was_set_what_was_got_and_what_holds_it() {
        let rig = models::find("shoulder").unwrap();
        let network = rig.network().unwrap();
        let mut dials: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
        for (name, degrees) in [("right.arm.elevation", 180.0), ("right.arm.plane", 90.0)] {
            dials[network.find(name).unwrap()] = f64::to_radians(degrees);
        }
        let pose = PoseView { name: "as set", dials: &dials };
        let axes = [DVec3::Y, DVec3::Z];
        let text = html("shoulder", &rig.skeleton, &network, axes, &[pose], None);
        let row = |dial: &str| {
            let row = text.split(&format!("<td>{}</td>", Html(dial))).nth(1).unwrap();
            row.split("</tr>").next().unwrap().to_owned()
        };
        let lifted = row("right.clavicle.elevation");
        let expected =
            format!("<td>0.0°</td><td class=\"held\">15.0°</td><td>{}</td>", Html("right_lift"));
        assert!(lifted.starts_with(&expected), "{lifted}");
        let raised = row("right.arm.elevation");
        assert!(raised.starts_with("<td>180.0°</td><td class=\"held\">–</td><td>"), "{raised}");
        // Every sentence of the network is on the page.
        let mut state = network.state();
        network.evaluate(&dials, &mut state);
        let all: Vec<String> = network.held(&state).map(|held| held.to_string()).collect();
        assert!(
            all.len() > 1
                && all.iter().all(|one| text.contains(&format!("<li>{}.</li>", Html(one))))
        );
        // A dial that nothing holds has what was set.
        let rest: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
        let pose = PoseView { name: "at rest", dials: &rest };
        let text = html("shoulder", &rig.skeleton, &network, axes, &[pose], None);
        assert!(!text.contains("class=\"held\"") && !text.contains("<h3>Held"));
    }

    /// Frames in a row: the first, the last and those between, in one scale; and no table.
    #[test]
    fn a_motion_is_shown_by_frames_from_its_beginning_to_its_end() {
        assert_eq!(frames(1), [0]);
        assert_eq!(frames(3), [0, 1, 2]);
        assert_eq!(frames(8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(frames(343), [0, 48, 97, 146, 195, 244, 293, 342]);
        let rig = models::find("knee").unwrap();
        let network = rig.network().unwrap();
        let mut clip = DialClip::new(FrameRate::from_fps(30.0).unwrap(), network.dials().len());
        for frame in 0..60 {
            let share = f64::from(frame) / 59.0;
            let at = |dial: &Dial| dial.rest + (dial.range[1] - dial.rest) * share;
            clip.push(&network.dials().iter().map(at).collect::<Vec<_>>());
        }
        let axes = [DVec3::Y, DVec3::Z];
        let text = html("knee", &rig.skeleton, &network, axes, &[], Some(&clip));
        assert_eq!(text.matches("<table").count(), 0);
        for (frame, seconds) in [(0, "0.00"), (33, "1.10"), (59, "1.97")] {
            assert_eq!(text.matches(&format!("{frame} · {seconds} s")).count(), 2, "{frame}");
        }
        // Pictures of a row are of one size, and differ.
        let row = text.split("<h3>from its right, back on the left</h3>").nth(1).unwrap();
        let row: Vec<&str> = row.split("<svg").skip(1).take(8).collect();
        let box_of = |svg: &str| svg.split("viewBox=").nth(1).unwrap()[..20].to_owned();
        assert!(row.iter().all(|svg| box_of(svg) == box_of(row[0])));
        assert!(row.windows(2).all(|pair| pair[0] != pair[1]));
    }

    /// What is needed to judge a fit: which clip, what was captured behind each figure, how far joints are
    /// off, warnings; and dials that would go further are not merely still.
    #[test]
    fn the_page_of_a_fit_tells_how_good_it_is() {
        let rig = models::find("knee").unwrap();
        let network = rig.network().unwrap();
        let rate = FrameRate::from_fps(30.0).unwrap();
        let [flexion, rotation] =
            ["flexion", "rotation"].map(|d| network.find(&format!("right.knee.{d}")).unwrap());
        for frames in [1, 20] {
            let mut clips = [0, 1].map(|_| DialClip::new(rate, network.dials().len()));
            for frame in 0..frames {
                let mut dials = network.state().dials().to_vec();
                dials[flexion] = network.dials()[flexion].range[1];
                clips[0].push(&dials);
                dials[flexion] -= 0.02 * f64::from(frame) + 0.3;
                clips[1].push(&dials);
            }
            let captured = network.clip(&rig.skeleton, &clips[1]).unwrap();
            let angle = Angle::from_degrees;
            let residuals = [
                Residual { joint: "<Near>", rms: angle(1.0), worst: angle(2.0), worst_frame: 3 },
                Residual { joint: "Far", rms: angle(12.3), worst: angle(45.6), worst_frame: 7 },
            ];
            let warnings = ["it is <far> off".to_owned()];
            let fit = FitView {
                dials: &clips[0],
                captured: &captured,
                source: &rig.skeleton,
                residuals: &residuals,
                warnings: &warnings,
            };
            let axes = [DVec3::Y, DVec3::Z];
            let text = html_of_fit("walk <1> on knee", &rig.skeleton, &network, axes, &fit);
            assert!(text.contains("<title>walk &lt;1&gt; on knee</title>"));
            assert!(text.contains("<h1><bdi>walk &lt;1&gt; on knee</bdi></h1>"));
            assert!(text.contains("<li><bdi>it is &lt;far&gt; off</bdi></li>"));
            assert!(text.contains("<td>12.3°</td><td>45.6°</td><td>7</td>"));
            // The farthest joint is the first.
            assert!(text.find("<bdi>Far</bdi>") < text.find("<bdi>&lt;Near&gt;</bdi>"));
            assert!(text.contains("grey, what was captured"));
            check_policy(&text, 0);
            let body = &text[text.find("<main>").unwrap()..text.find("</main>").unwrap()];
            assert!(well_formed(&format!("{body}</main>")) > 20);
            // Two figures in each picture, one behind the other, and not the same.
            let pictures: Vec<&str> =
                text.split("<svg").filter(|svg| svg.contains("mp-bone mp-now")).collect();
            assert_eq!(pictures.len(), if frames == 1 { 3 } else { 16 });
            for svg in &pictures {
                let [behind, before] = ["mp-rest", "mp-now"].map(|class| {
                    let at = svg.find(&format!("mp-bone {class}")).unwrap();
                    (at, svg[at..].split("d=\"").nth(1).unwrap().split('"').next().unwrap())
                });
                assert!(behind.0 < before.0);
            }
            let differ = pictures.iter().filter(|svg| {
                let [a, b] = ["mp-rest", "mp-now"].map(|class| {
                    let at = svg.find(&format!("mp-bone {class}")).unwrap();
                    svg[at..].split("d=\"").nth(1).unwrap().split('"').next().unwrap()
                });
                a != b
            });
            assert!(differ.count() > 0);
            if frames > 1 {
                assert!(
                    text.contains(
                        "At an end of their ranges in all frames: <bdi>right.knee.flexion"
                    )
                );
                let still = text.split("Still: ").nth(1).unwrap();
                let name = &network.dials()[rotation].name;
                assert!(still.contains(name.as_str()) && !still.contains("flexion"));
            }
        }
    }

    #[test]
    fn no_page_has_tags_in_its_title() {
        let rig = models::find("knee").unwrap();
        let network = rig.network().unwrap();
        let axes = [DVec3::Y, DVec3::Z];
        let text = html("knee & \"shin\"", &rig.skeleton, &network, axes, &[], None);
        assert!(text.contains("<title>knee &amp; &quot;shin&quot;</title>"), "{text}");
    }

    /// The outline holds all points of the ellipsoid, and touches it.
    #[test]
    fn the_outline_is_where_the_ellipsoid_ends() {
        let mut rng = crate::synth::Rng::new(3);
        let place = Transform { rotation: rng.rotation(), translation_m: rng.direction() };
        let radii = DVec3::new(0.3, 0.7, 1.1);
        let flat = |p: DVec3| DVec2::new(p.x, p.y);
        let line = outline(&place, radii, DVec3::X, DVec3::Y, flat);
        let points: Vec<DVec2> =
            (0..20_000).map(|_| flat(place.apply(rng.direction() * radii))).collect();
        for direction in [DVec2::X, DVec2::Y, DVec2::new(0.6, -0.8)] {
            let most = |points: &[DVec2]| {
                points.iter().map(|p| p.dot(direction)).fold(f64::NEG_INFINITY, f64::max)
            };
            let (outer, inner) = (most(&line), most(&points));
            assert!((outer - inner).abs() < 0.01, "{outer} {inner}");
        }
    }
}
