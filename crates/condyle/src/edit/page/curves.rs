//! The root and the joints that move most, over time.

use std::fmt::Write as _;

use glam::{DMat3, DVec2, DVec3};

use super::SeamView;
use super::seam::{Part, Seam};
use crate::edit::blend::as_f64;
use crate::edit::connect::nearest;
use crate::edit::jumps::Jump;
use crate::math::Angle;
use crate::picture::axis::{extent, ticks};
use crate::picture::svg::{Anchor, Canvas, fitted};
use crate::skeleton::JointIndex;

/// How many joints have curves.
const JOINTS: usize = 8;
/// How many frames are drawn at most.
const FRAMES: usize = 400;

const SIZE: DVec2 = DVec2::new(290.0, 158.0);
const LEFT: f64 = 38.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 20.0;

/// A small plot. All lines have a value for each of the frames.
struct Plot {
    name: String,
    what: String,
    main: Vec<f64>,
    /// Drawn thin.
    others: Vec<Vec<f64>>,
    /// A line across, and what it is.
    level: Option<(f64, &'static str)>,
    /// The least range of values that is shown, so that noise looks like noise.
    least: f64,
    /// Whether the range begins at zero.
    from_zero: bool,
}

pub(super) fn add(text: &mut String, seam: &Seam<'_>, view: &SeamView<'_>) {
    let mut frames = seam.spread(FRAMES);
    frames.extend(seam.between().take(1).chain(seam.between().last()));
    frames.sort_unstable();
    frames.dedup();
    let mut plots = vec![jump_plot(seam, view, &frames)];
    plots.extend(root_plots(seam, &frames));
    plots.extend(joint_plots(seam, &frames, view.worst));
    text.push_str("<figure class=\"curves\"><div>\n");
    for plot in &plots {
        let name = format!("{}, {}", plot.name, plot.what);
        text.push_str(&plot.draw(seam, &frames).embedded(SIZE, &name));
    }
    let _ = writeln!(
        text,
        "</div><figcaption>By frames of the connected motion; what was made is shaded, bars on top are the windows in \
         which the motions are alike. Jumps are \
         changes of an angular velocity, each against what is usual of its joint: at 1 are those that one frame in a \
         hundred of the two motions exceeds. Joints: those that move most here and the one that jumps most, as turns in \
         degrees away from the last frame of the first motion, about the axis that they turn about most (thick) and \
         the two square to it (thin).</figcaption></figure>"
    );
}

fn jump_plot(seam: &Seam<'_>, view: &SeamView<'_>, frames: &[usize]) -> Plot {
    let jumps = view.usual.worst_by_frame(seam.clip, seam.span.clone());
    // The largest since the frame before.
    let mut before = None;
    let value = |frame: &usize| {
        let since = before.replace(*frame).map_or(*frame, |b: usize| b + 1);
        let here = jumps.iter().filter(|j| (since..=*frame).contains(&j.frame));
        here.map(|jump| view.usual.ratio(jump)).fold(0.0, f64::max)
    };
    let main = frames.iter().map(value).collect();
    let most = view.worst.and_then(|worst| seam.skeleton.joints().get(worst.joint.get()));
    let what = most.map_or_else(
        || "times the usual".to_owned(),
        |joint| format!("times the usual; most here: {}", joint.name),
    );
    let level = Some((1.0, "usual"));
    let name = "largest jump".to_owned();
    Plot { name, what, main, others: Vec::new(), level, least: 1.0, from_zero: true }
}

fn root_plots(seam: &Seam<'_>, frames: &[usize]) -> [Plot; 3] {
    let ground = seam.facing.ground();
    let stands: Vec<_> = frames.iter().map(|f| seam.stand(*f)).collect();
    let name = &seam.skeleton[seam.facing.joint()].name;
    let plot = |what: &str, main: Vec<f64>, least: f64, from_zero: bool| Plot {
        name: name.clone(),
        what: what.to_owned(),
        main,
        others: Vec::new(),
        level: None,
        least,
        from_zero,
    };
    let heights = stands.iter().map(|s| ground.height_m(s.position_m)).collect();
    let mut facing = 0.0;
    let mut facings = Vec::new();
    for (i, stand) in stands.iter().enumerate() {
        let now = stand.facing.radians();
        // On from the frame before, the short way.
        facing += match i {
            0 => now,
            _ => Angle::from_radians(now - facing).wrapped().radians(),
        };
        facings.push(facing.to_degrees());
    }
    let speeds = frames.iter().map(|f| {
        // To the next frame; from the one before in the last.
        let from = (*f).min(seam.clip.frame_count().saturating_sub(2));
        let to = (from + 1).min(seam.clip.frame_count() - 1);
        let step = seam.stand(to).position_m - seam.stand(from).position_m;
        ground.below(step).length() * seam.clip.rate().fps()
    });
    [
        plot("speed on the ground, m/s", speeds.collect(), 0.1, true),
        plot("height, m", heights, 0.1, false),
        plot("facing, °", facings, 10.0, false),
    ]
}

/// Those of the joints that turn most, in the order of the skeleton.
fn joint_plots(seam: &Seam<'_>, frames: &[usize], worst: Option<Jump>) -> Vec<Plot> {
    let own = |j: &JointIndex| seam.skeleton.parent(*j).is_some();
    let mut all: Vec<(f64, JointIndex, Vec<DVec3>)> = seam
        .skeleton
        .indices()
        .filter(own)
        .map(|j| {
            let turns = turns(seam, j, frames);
            let spread = covariance(&turns);
            let first = if worst.is_some_and(|w| w.joint == j) { f64::INFINITY } else { 0.0 };
            (spread.x_axis.x + spread.y_axis.y + spread.z_axis.z + first, j, turns)
        })
        .filter(|(spread, ..)| *spread > 0.0)
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.truncate(JOINTS);
    all.sort_by_key(|(_, j, _)| j.get());
    all.into_iter().map(|(_, j, turns)| joint_plot(seam, j, &turns)).collect()
}

fn joint_plot(seam: &Seam<'_>, joint: JointIndex, turns: &[DVec3]) -> Plot {
    let (axes, about) = axes(covariance(turns));
    let along =
        |axis: DVec3| -> Vec<f64> { turns.iter().map(|v| v.dot(axis).to_degrees()).collect() };
    Plot {
        name: seam.skeleton[joint].name.clone(),
        what: format!("about {about}, °"),
        main: along(axes[0]),
        others: vec![along(axes[1]), along(axes[2])],
        level: None,
        least: 10.0,
        from_zero: false,
    }
}

/// Rotation vectors of a joint from how it is in the last frame of the first motion, in its own space.
/// Each is the one that is nearest to that of the frame next to it, from the seam on to both sides.
fn turns(seam: &Seam<'_>, joint: JointIndex, frames: &[usize]) -> Vec<DVec3> {
    let back = seam.rotation(joint, seam.first_last()).inverse();
    let mut turns: Vec<DVec3> =
        frames.iter().map(|f| (back * seam.rotation(joint, *f)).log()).collect();
    let middle = frames.partition_point(|f| *f < seam.first_last());
    for i in middle + 1..turns.len() {
        turns[i] = nearest(turns[i], turns[i - 1]);
    }
    for i in (0..middle.min(turns.len().saturating_sub(1))).rev() {
        turns[i] = nearest(turns[i], turns[i + 1]);
    }
    turns
}

fn covariance(vectors: &[DVec3]) -> DMat3 {
    let count = as_f64(vectors.len().max(1));
    let mean = vectors.iter().sum::<DVec3>() / count;
    let mut sum = DMat3::ZERO;
    for v in vectors {
        let d = *v - mean;
        sum += DMat3::from_cols(d * d.x, d * d.y, d * d.z);
    }
    sum * (1.0 / count)
}

/// The axis of the greatest spread, two others square to it, and what it is called. An axis of the
/// joint itself, if one is near.
fn axes(spread: DMat3) -> ([DVec3; 3], String) {
    const OWN: [(DVec3, &str); 3] = [(DVec3::X, "x"), (DVec3::Y, "y"), (DVec3::Z, "z")];
    // The cosine of 25 degrees.
    const NEAR: f64 = 0.906_307_787_036_65;
    // By powers of the matrix, from its longest column.
    let columns = [spread.x_axis, spread.y_axis, spread.z_axis];
    let longest =
        columns.into_iter().fold(DVec3::ZERO, |a, b| if b.length() > a.length() { b } else { a });
    let mut axis = longest.try_normalize().unwrap_or(DVec3::X);
    for _ in 0..50 {
        axis = (spread * axis).try_normalize().unwrap_or(axis);
    }
    let near = OWN.iter().position(|(own, _)| own.dot(axis).abs() >= NEAR);
    if let Some(i) = near {
        return ([OWN[i].0, OWN[(i + 1) % 3].0, OWN[(i + 2) % 3].0], OWN[i].1.to_owned());
    }
    if axis.element_sum() < 0.0 {
        axis = -axis;
    }
    let (u, v) = axis.any_orthonormal_pair();
    let part = |x: f64| format!("{x:.1}").replace('-', "−");
    ([axis, u, v], format!("({}, {}, {})", part(axis.x), part(axis.y), part(axis.z)))
}

impl Plot {
    fn draw(&self, seam: &Seam<'_>, frames: &[usize]) -> Canvas {
        let mut canvas = Canvas::default();
        let (at, size) = (DVec2::new(LEFT, TOP), SIZE - DVec2::new(LEFT + RIGHT, TOP + BOTTOM));
        let name = fitted(&self.name, 12.0, SIZE.x - 8.0);
        canvas.text("sm-name", DVec2::new(4.0, 12.0), Anchor::Start, &name);
        let what = fitted(&self.what, 10.0, SIZE.x - 8.0);
        canvas.text("cl-small", DVec2::new(4.0, 25.0), Anchor::Start, &what);
        canvas.rectangle("sm-panel", at, size, 0.0);

        let zero = self.from_zero.then_some(0.0);
        let level = self.level.map(|(value, _)| value);
        let values = self.main.iter().chain(self.others.iter().flatten()).copied();
        let [low, high] = extent(values.chain(zero).chain(level)).unwrap_or([0.0, 0.0]);
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low).max(self.least));
        let (low, high) = match self.from_zero {
            true => (0.0, (middle + half).max(self.least) * 1.08),
            false => (middle - 1.1 * half, middle + 1.1 * half),
        };
        let first = as_f64(seam.span.start);
        let steps = as_f64(seam.span.len() - 1).max(1.0);
        let x = |frame: f64| at.x + size.x * ((frame - first) / steps).clamp(0.0, 1.0);
        let y = |value: f64| at.y + size.y * ((high - value) / (high - low)).clamp(0.0, 1.0);

        // What is between the motions, from the last frame of one to the first of the other.
        let between = seam.between();
        let shade = [x(as_f64(between.start)), x(as_f64(between.end.max(1) - 1))];
        let corner = DVec2::new(shade[0], at.y);
        canvas.rectangle("sm-shade", corner, DVec2::new(shade[1] - shade[0], size.y), 0.0);
        let mut grid = Vec::new();
        for tick in ticks(low, high, 4, self.what.ends_with('°')) {
            grid.push(vec![DVec2::new(at.x, y(tick)), DVec2::new(at.x + size.x, y(tick))]);
            let text = format!("{}", (tick * 1e6).round() / 1e6).replace('-', "−");
            canvas.text("cl-small", DVec2::new(at.x - 5.0, y(tick) + 3.5), Anchor::End, &text);
        }
        let last = as_f64(seam.span.end - 1);
        for tick in ticks(first, last, 5, false).into_iter().filter(|t| t.fract() == 0.0) {
            grid.push(vec![DVec2::new(x(tick), at.y), DVec2::new(x(tick), at.y + size.y)]);
            let place = DVec2::new(x(tick), at.y + size.y + 13.0);
            let anchor = if place.x > SIZE.x - 14.0 { Anchor::End } else { Anchor::Middle };
            canvas.text("cl-small", place, anchor, &format!("{tick}"));
        }
        canvas.path("cl-grid", &grid, false);
        for (i, (window, class)) in seam.windows.iter().zip(["first", "second"]).enumerate() {
            if !window.is_empty() {
                let ends = [x(as_f64(window.start)), x(as_f64(window.end - 1))];
                let corner = DVec2::new(ends[0], at.y - 5.0 + 2.5 * as_f64(i));
                let bar = DVec2::new((ends[1] - ends[0]).max(2.0), 2.0);
                canvas.rectangle(&format!("sm-window {class}"), corner, bar, 0.0);
            }
        }
        if let Some((value, what)) = self.level {
            let ends = [at.x, at.x + size.x].map(|x| DVec2::new(x, y(value)));
            canvas.path("sm-level", &[ends.to_vec()], false);
            let below = if y(value) < at.y + 14.0 { 11.0 } else { -3.0 };
            let place = DVec2::new(at.x + 4.0, y(value) + below);
            canvas.text("sm-on", place, Anchor::Start, what);
        }
        let points = |values: &[f64]| -> Vec<(usize, DVec2)> {
            frames.iter().zip(values).map(|(f, v)| (*f, DVec2::new(x(as_f64(*f)), y(*v)))).collect()
        };
        for other in &self.others {
            let line: Vec<DVec2> = points(other).into_iter().map(|(_, p)| p).collect();
            canvas.path("sm-thin", &[line], false);
        }
        let points = points(&self.main);
        for part in [Part::First, Part::Second, Part::Made] {
            let line = seam.stretch(part, &points, |p| *p);
            canvas.path(&format!("sm-curve {}", part.class()), &[line], false);
        }
        canvas
    }
}
