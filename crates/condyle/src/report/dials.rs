//! Poses of a figure with dials on a page to look at.
//!
//! [`html`] gives the text of one HTML file that needs nothing beside it.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use glam::{DVec2, DVec3};

use crate::maps::{Dial, DialClip, Network, State, Transform, Unit};
use crate::math::trig;
use crate::motion::{Pose, World};
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

/// The longer side of a picture, in pixels.
const SIZE: f64 = 300.0;
/// Room around the figure, and above it for the name of the view.
const MARGIN: f64 = 14.0;
const TOP: f64 = 18.0;
/// So many points of an outline.
const POINTS: u32 = 48;

/// The page: each pose from the front, from its right side and from above, with the figure at rest behind
/// it; how its dials are set; and, if there are any, dials over time. `[up, forward]` are the directions
/// of the figure at rest, square to each other.
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
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<link rel=\"icon\" href=\"data:,\"/>\n\
         <title>{}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n<main>\n\
         <h1>{}</h1>\n<p class=\"lead\">{} move {}.</p>\n",
        Html(title),
        STYLE.replace("@media (prefers", "@media screen and (prefers"),
        include_str!("dials.css"),
        Html(title),
        counted(network.dials().len(), "dial"),
        counted(skeleton.indices().filter(|joint| network.moves(*joint)).count(), "joint"),
    );
    let rest = Drawn::new(skeleton, network, &network.state());
    for pose in poses {
        let mut state = network.state();
        network.evaluate(pose.dials, &mut state);
        let drawn = Drawn::new(skeleton, network, &state);
        section(&mut text, pose, &Scene { up, forward, rest: &rest, now: &drawn });
        if state.is_off() {
            text.push_str(
                "<p>A bone that should slide on an ellipsoid does not reach it here.</p>\n",
            );
        }
        dials(&mut text, network.dials(), &state);
        text.push_str("</section>\n");
    }
    if let Some(clip) = over_time {
        curves(&mut text, network.dials(), clip);
    }
    let _ = write!(
        text,
        "<footer><p class=\"small\">Written by condyle {}.</p></footer>\n</main>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    text
}

/// `1 joint`, `3 joints`.
fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// What is seen of a figure.
struct Drawn {
    bones: Vec<[DVec3; 2]>,
    joints: Vec<DVec3>,
    /// The joint of a bone that slides, and the two points that touch.
    blades: Vec<[DVec3; 3]>,
    /// From a unit sphere.
    ellipsoids: Vec<(Transform, DVec3)>,
}

impl Drawn {
    fn new(skeleton: &Skeleton, network: &Network, state: &State) -> Self {
        let mut pose = Pose::rest(skeleton);
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
        Self {
            bones: world.bones(skeleton).chain(world.tips(skeleton)).collect(),
            joints: world.positions_m.clone(),
            blades: blades.collect(),
            ellipsoids: ellipsoids.collect(),
        }
    }

    fn points(&self) -> impl Iterator<Item = DVec3> + '_ {
        let ends = self.bones.iter().flatten().chain(&self.joints);
        ends.chain(self.blades.iter().flatten()).copied().filter(|p| p.is_finite())
    }
}

/// A figure at rest and in a pose.
struct Scene<'a> {
    up: DVec3,
    forward: DVec3,
    rest: &'a Drawn,
    now: &'a Drawn,
}

fn section(text: &mut String, pose: &PoseView<'_>, scene: &Scene<'_>) {
    let (up, forward) = (scene.up, scene.forward);
    let left = up.cross(forward);
    let _ = writeln!(text, "<section>\n<h2>{}</h2>\n<div class=\"views\">", Html(pose.name));
    for (name, right, above) in [
        ("from the front", left, up),
        ("from its right", forward, up),
        ("from above", left, forward),
    ] {
        text.push_str(&view(scene, pose.name, name, right, above));
    }
    text.push_str("</div>\n<p class=\"small\">Behind it, pale, the figure at rest.");
    if !scene.now.blades.is_empty() {
        text.push_str(
            " Shaded: a bone that slides, between its joint and the two points that touch; dashed: what \
             it slides on.",
        );
    }
    text.push_str("</p>\n");
}

/// Seen so that one direction is to the right and another is up.
fn view(scene: &Scene<'_>, pose: &str, name: &str, right: DVec3, up: DVec3) -> String {
    let flat = |p: DVec3| DVec2::new(p.dot(right), -p.dot(up));
    let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
    let bodies = scene.now.ellipsoids.iter();
    let outlines = bodies.flat_map(|(place, radii)| outline(place, *radii, right, up, flat));
    for p in scene.rest.points().chain(scene.now.points()).map(flat).chain(outlines) {
        (low, high) = (low.min(p), high.max(p));
    }
    if !(low.is_finite() && high.is_finite()) {
        (low, high) = (DVec2::ZERO, DVec2::ONE);
    }
    let scale = SIZE / (high - low).max_element().max(1e-6);
    let room = DVec2::new(MARGIN, MARGIN + TOP);
    let to = |p: DVec3| (flat(p) - low) * scale + room;
    let size = ((high - low) * scale + room + DVec2::splat(MARGIN)).max(DVec2::new(120.0, 60.0));
    let mut canvas = Canvas::default();
    canvas.text("cl-small", DVec2::new(MARGIN, 12.0), Anchor::Start, name);
    for (drawn, class) in [(scene.rest, "mp-rest"), (scene.now, "mp-now")] {
        if class == "mp-now" {
            let outlines: Vec<Vec<DVec2>> = drawn
                .ellipsoids
                .iter()
                .map(|(place, radii)| outline(place, *radii, right, up, to))
                .collect();
            canvas.path("mp-ribs", &outlines, true);
        }
        let blades: Vec<Vec<DVec2>> = drawn.blades.iter().map(|b| b.map(to).to_vec()).collect();
        canvas.path(&format!("mp-blade {class}"), &blades, true);
        let finite = |bone: &&[DVec3; 2]| bone.iter().all(|p| p.is_finite());
        let bones: Vec<Vec<DVec2>> =
            drawn.bones.iter().filter(finite).map(|bone| bone.map(to).to_vec()).collect();
        canvas.path(&format!("mp-bone {class}"), &bones, false);
        let joints: Vec<DVec2> = drawn.joints.iter().map(|p| to(*p)).collect();
        canvas.dots(&format!("mp-joint {class}"), &joints);
    }
    canvas.embedded(size, &format!("{pose}, {name}"))
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

/// How dials are set, those at rest after the others.
fn dials(text: &mut String, dials: &[Dial], state: &State) {
    text.push_str(
        "<table>\n<thead><tr><th>dial</th><th>set to</th><th>range</th><th>what it does</th>\
         <th>source</th></tr></thead>\n<tbody>\n",
    );
    let set = |moved: bool| {
        let all = dials.iter().zip(state.dials());
        all.filter(move |(dial, value)| (**value != dial.rest) == moved)
    };
    for (dial, value) in set(true).chain(set(false)) {
        let [min, max] = dial.range.map(|end| shown(dial.unit, end));
        let _ = writeln!(
            text,
            "<tr><td>{}</td><td>{}</td><td>{min} to {max}</td><td>{}</td><td class=\"small\">{}</td></tr>",
            Html(&dial.name),
            shown(dial.unit, *value),
            Html(&dial.label),
            Html(&dial.source),
        );
    }
    text.push_str("</tbody>\n</table>\n");
}

/// A number as people read it.
fn shown(unit: Unit, value: f64) -> String {
    let number = value / unit.of_document();
    match unit {
        Unit::Angle => format!("{:.1}°", (10.0 * number).round() / 10.0 + 0.0),
        Unit::Length => format!("{:.1} mm", 1e3 * number),
        Unit::Ratio => format!("{number:.2}"),
    }
}

/// A curve for each dial that moves.
fn curves(text: &mut String, dials: &[Dial], clip: &DialClip) {
    const WIDTH: f64 = 270.0;
    const HEIGHT: f64 = 90.0;
    /// More points than pixels are not seen.
    const MOST: usize = 540;
    text.push_str("<section>\n<h2>Dials over time</h2>\n<div class=\"curves\">\n");
    let seconds = clip.len() as f64 * clip.rate().frame_time_s();
    let mut still = Vec::new();
    for (d, dial) in dials.iter().enumerate() {
        let value = |frame: usize| clip.frame(frame)[d];
        let first = if clip.is_empty() { 0.0 } else { value(0) };
        if (0..clip.len()).all(|frame| value(frame) == first) {
            still.push(dial.name.as_str());
            continue;
        }
        let [min, max] = dial.range;
        let count = clip.len().min(MOST);
        let line = (0..count).map(|i| {
            let frame = i * (clip.len() - 1) / (count - 1).max(1);
            let x = WIDTH * frame as f64 / (clip.len() - 1).max(1) as f64;
            let share = (value(frame) - min) / (max - min);
            DVec2::new(x, 18.0 + (HEIGHT - 18.0) * (1.0 - share))
        });
        let mut canvas = Canvas::default();
        canvas.rectangle("mp-panel", DVec2::new(0.0, 18.0), DVec2::new(WIDTH, HEIGHT - 18.0), 0.0);
        let head = format!("{}: {} to {}", dial.name, shown(dial.unit, min), shown(dial.unit, max));
        canvas.text("cl-small", DVec2::new(0.0, 12.0), Anchor::Start, &head);
        canvas.path("mp-curve", &[line.collect()], false);
        text.push_str(&canvas.embedded(DVec2::new(WIDTH, HEIGHT + 1.0), &dial.name));
    }
    let _ = writeln!(
        text,
        "</div>\n<p class=\"small\">{seconds:.2} s; from the lower to the upper end of each range.</p>"
    );
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
            let body = &text[text.find("<main>").unwrap()..text.find("</main>").unwrap()];
            assert!(well_formed(&format!("{body}</main>")) > 20, "{name}");
            assert!(!text.contains("NaN") && !text.contains("<far>"));
            assert_eq!(text.matches("from the front").count(), 2 * 2);
        }
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
