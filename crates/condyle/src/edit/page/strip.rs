//! Poses in a row, seen from aside.

use std::fmt::Write as _;

use glam::{DVec2, DVec3};

use super::seam::{Part, Seam};
use crate::anatomy::{Anatomy, BodyJoint};
use crate::edit::blend::as_f64;
use crate::motion::World;
use crate::picture::svg::{Anchor, Canvas};
use crate::skeleton::JointIndex;

/// How many poses are drawn. An odd number, so that one is in the middle of the seam.
const POSES: usize = 11;
/// The size of a pose at most, in pixels.
const MOST: DVec2 = DVec2::new(108.0, 190.0);
/// Room above, and below for the number of the frame.
const TOP: f64 = 8.0;
const BOTTOM: f64 = 22.0;

pub(super) fn add(text: &mut String, seam: &Seam<'_>) {
    let frames = seam.spread(POSES);
    let poses: Vec<(usize, World, DVec3)> =
        frames.iter().map(|f| (*f, seam.world(*f), seam.stand(*f).position_m)).collect();
    let view = View::of(seam, &poses);
    text.push_str("<figure class=\"strip\"><div>\n");
    for (frame, world, root) in &poses {
        let part = seam.part(*frame);
        let mut canvas = Canvas::default();
        view.draw(&mut canvas, seam, world, *root, part.class());
        let size = view.size();
        let middle = DVec2::new(0.5 * size.x, size.y - 6.0);
        canvas.text("cl-small", middle, Anchor::Middle, &frame.to_string());
        text.push_str(
            &canvas.embedded(size, &format!("the pose in frame {frame}, {}", part.class())),
        );
    }
    let _ = writeln!(
        text,
        "</div><figcaption>Poses seen from aside, {:.2} s from one to the next, with the number of their frame; \
         the side away from the viewer is paler. The ground is where the motions are lowest here.</figcaption></figure>",
        step_s(seam, &frames)
    );
}

fn step_s(seam: &Seam<'_>, frames: &[usize]) -> f64 {
    let steps = as_f64(frames.len().saturating_sub(1).max(1));
    as_f64(seam.span.len() - 1) * seam.clip.rate().frame_time_s() / steps
}

/// From aside: the way goes to the right.
struct View {
    right: DVec3,
    up: DVec3,
    /// The joint that the head is above, and where its top is in the joint's space.
    head: Option<(JointIndex, DVec3)>,
    /// Of what is drawn, from the root: behind and ahead of it; heights.
    across: [f64; 2],
    heights: [f64; 2],
    /// The height of the ground: the lowest of what the motions themselves have.
    ground: f64,
    scale: f64,
}

impl View {
    fn of(seam: &Seam<'_>, poses: &[(usize, World, DVec3)]) -> Self {
        let (right, up) = (seam.ahead(), seam.facing.ground().up());
        let (mut across, mut heights) = ([0.0_f64; 2], [f64::INFINITY, f64::NEG_INFINITY]);
        let mut ground = f64::INFINITY;
        for (frame, world, root) in poses {
            let is_own = seam.part(*frame) != Part::Made;
            let ends = world.bones(seam.skeleton).chain(world.tips(seam.skeleton)).flatten();
            for p in ends.chain([*root]).filter(|p| p.is_finite()) {
                let (x, y) = ((p - root).dot(right), p.dot(up));
                across = [across[0].min(x), across[1].max(x)];
                heights = [heights[0].min(y), heights[1].max(y)];
                if is_own {
                    ground = ground.min(y);
                }
            }
        }
        let size = DVec2::new(across[1] - across[0], heights[1] - heights[0]);
        let head = head(seam);
        if !size.is_finite() {
            let (across, heights) = ([-0.5, 0.5], [0.0, 1.0]);
            return Self { right, up, head, across, heights, ground: 0.0, scale: MOST.x };
        }
        let scale = (MOST / size.max(DVec2::splat(1e-6))).min_element();
        let ground = if ground.is_finite() { ground } else { heights[0] };
        Self { right, up, head, across, heights, ground, scale }
    }

    fn size(&self) -> DVec2 {
        let drawn = DVec2::new(self.across[1] - self.across[0], self.heights[1] - self.heights[0]);
        // Not narrower than the number of a frame.
        (drawn * self.scale).max(DVec2::new(44.0, 10.0)) + DVec2::new(0.0, TOP + BOTTOM)
    }

    fn at(&self, root: DVec3, p: DVec3) -> DVec2 {
        let x = (p - root).dot(self.right) - 0.5 * (self.across[0] + self.across[1]);
        let y = self.heights[0] - p.dot(self.up);
        let size = self.size();
        DVec2::new(0.5 * size.x, size.y - BOTTOM) + DVec2::new(x, y) * self.scale
    }

    fn draw(&self, canvas: &mut Canvas, seam: &Seam<'_>, world: &World, root: DVec3, class: &str) {
        let size = self.size();
        // Below the lines, which are some pixels wide.
        let ground = size.y - BOTTOM - (self.ground - self.heights[0]) * self.scale + 1.5;
        canvas.line("sm-ground", DVec2::new(0.0, ground), DVec2::new(size.x, ground));
        // Towards the viewer.
        let near = self.right.cross(self.up);
        let bones = world.bones(seam.skeleton).chain(world.tips(seam.skeleton));
        let (mut far, mut rest) = (Vec::new(), Vec::new());
        for ends in bones.filter(|ends| ends.iter().all(|p| p.is_finite())) {
            // A limb that is farther than the middle by 2 cm.
            let depth = (0.5 * (ends[0] + ends[1]) - root).dot(near);
            let line = ends.map(|p| self.at(root, p)).to_vec();
            if depth < -0.02 { far.push(line) } else { rest.push(line) }
        }
        canvas.path(&format!("sm-bone sm-away {class}"), &far, false);
        canvas.path(&format!("sm-bone {class}"), &rest, false);
        if let Some((joint, top)) = self.head {
            let (neck, turn) = (world.positions_m[joint.get()], world.rotations[joint.get()]);
            let middle = self.at(root, neck + turn * (0.5 * top));
            let radius = 0.5 * top.length() * self.scale;
            canvas.circle(&format!("sm-head {class}"), middle, radius);
        }
    }
}

/// The last joint of the neck, if it is known and the file says how far the head goes.
fn head(seam: &Seam<'_>) -> Option<(JointIndex, DVec3)> {
    let anatomy = Anatomy::of(seam.skeleton)?;
    let is_neck =
        |j: &JointIndex| anatomy.name(*j).is_some_and(|(name, _)| name == BodyJoint::Neck);
    let joint = seam.skeleton.indices().rfind(is_neck)?;
    let top = seam.skeleton[joint].end_sites.first()?.offset_m;
    (top.is_finite() && top.length() > 0.0).then_some((joint, top))
}
