//! A region on the sphere as it is seen from one side.

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};

use crate::limits::PreparedSwing;
use crate::math::{SwingAxes, trig, unit};

/// From where the globe is looked at. Vectors are components along x, y and the bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    /// To the right of the picture.
    pub(super) right: DVec3,
    /// Up in the picture.
    pub(super) up: DVec3,
    /// Towards who looks.
    pub(super) toward: DVec3,
}

impl View {
    /// The bone points at who looks.
    pub(super) const FRONT: Self = Self { right: DVec3::X, up: DVec3::Y, toward: DVec3::Z };
    /// The globe turned by half a turn about y.
    pub(super) const BACK: Self = Self { right: DVec3::NEG_X, up: DVec3::Y, toward: DVec3::NEG_Z };

    /// Where a direction is seen, in a disc of radius one with y up.
    pub(super) fn project(self, d: DVec3) -> DVec2 {
        DVec2::new(d.dot(self.right), d.dot(self.up))
    }

    /// How far in front of the limb a direction is: above zero if it is seen.
    pub(super) fn depth(self, d: DVec3) -> f64 {
        d.dot(self.toward)
    }

    /// The direction at an angle along the limb, counter-clockwise from the right.
    fn limb(self, angle: f64) -> DVec3 {
        let (sin, cos) = trig::sin_cos(angle);
        self.right * cos + self.up * sin
    }
}

/// Angle between points along the limb. A chord of it is off by 0.0003 of the globe's radius.
const LIMB_STEP: f64 = PI / 60.0;

/// How far in front of the limb the globe is cut, in radii, until the cut is clean: a boundary along
/// the limb itself, as every hemisphere about the bone has, then is on one side of it. None can be
/// seen; they have no common multiple, so that no symmetry of a region meets them all.
const CUTS: [f64; 5] = [1e-5, 2.3e-5, 0.7e-5, 5.9e-5, 1.31e-4];

/// A part of a boundary that is seen, and the angles along the limb where it comes and goes.
struct Chain {
    points: Vec<DVec3>,
    from: f64,
    to: f64,
}

/// A boundary cut at the limb.
struct Cut {
    /// Closed lines that are seen whole.
    rings: Vec<Vec<DVec3>>,
    chains: Vec<Chain>,
}

fn cut(view: View, loops: &[Vec<DVec3>], at: f64) -> Cut {
    let mut found = Cut { rings: Vec::new(), chains: Vec::new() };
    let depth = |p: DVec3| view.depth(p) - at;
    // Where a step from a hidden point to a seen one meets the limb.
    let crossing = |a: DVec3, b: DVec3| {
        let t = depth(a) / (depth(a) - depth(b));
        let p = view.project(a + (b - a) * t);
        trig::atan2(p.y, p.x)
    };
    for line in loops {
        let seen = |i: usize| depth(line[i]) > 0.0;
        let Some(start) = (0..line.len()).find(|&i| !seen(i)) else {
            if !line.is_empty() {
                found.rings.push(line.clone());
            }
            continue;
        };
        let mut open: Option<Chain> = None;
        for k in 0..line.len() {
            let (i, j) = ((start + k) % line.len(), (start + k + 1) % line.len());
            match (seen(i), seen(j)) {
                (false, true) => {
                    let from = crossing(line[i], line[j]);
                    open = Some(Chain { points: vec![line[j]], from, to: from });
                }
                (true, true) => {
                    if let Some(chain) = &mut open {
                        chain.points.push(line[j]);
                    }
                }
                (true, false) => {
                    if let Some(mut chain) = open.take() {
                        chain.to = crossing(line[j], line[i]);
                        found.chains.push(chain);
                    }
                }
                (false, false) => {}
            }
        }
    }
    found
}

/// Where a boundary meets the limb.
#[derive(Clone, Copy)]
struct Meeting {
    angle: f64,
    chain: usize,
    /// Whether the chain ends here, else it begins.
    ends: bool,
}

/// The limb between two meetings.
fn limb_points(view: View, from: f64, to: f64, out: &mut Vec<DVec2>) {
    let sweep = to - from;
    // At most two turns, so the count is small.
    #[allow(clippy::cast_possible_truncation, reason = "at most 240")]
    let steps = (sweep.abs() / LIMB_STEP).ceil().clamp(1.0, 240.0) as u32;
    for i in 0..=steps {
        let angle = from + sweep * f64::from(i) / f64::from(steps);
        out.push(view.project(view.limb(angle)));
    }
}

/// The closed outlines of what is seen of a region, to be filled by the even-odd rule.
///
/// The boundary is cut at the limb. Along the limb, parts inside and outside of the region
/// alternate from one meeting with the boundary to the next, and `inside` says which is which: asked
/// in the middle of the longest part, confirmed by the others. The parts inside close the lines that
/// were cut.
pub(super) fn outlines(
    view: View,
    loops: &[Vec<DVec3>],
    inside: impl Fn(DVec3) -> bool,
) -> Vec<Vec<DVec2>> {
    let mut best: Option<(usize, Vec<Vec<DVec2>>)> = None;
    for at in CUTS {
        // Asked where it is cut: the limb itself may be the boundary.
        let seen = |d: DVec3| inside(d + view.toward * at);
        let (doubts, lines) = closed(view, &cut(view, loops, at), seen);
        if best.as_ref().is_none_or(|(least, _)| doubts < *least) {
            best = Some((doubts, lines));
        }
        if doubts == 0 {
            break;
        }
    }
    best.map(|(_, lines)| lines).unwrap_or_default()
}

/// The outlines, and how many parts of the limb disagree with them.
fn closed(view: View, cut: &Cut, inside: impl Fn(DVec3) -> bool) -> (usize, Vec<Vec<DVec2>>) {
    let flat = |line: &[DVec3]| line.iter().map(|p| view.project(*p)).collect::<Vec<_>>();
    let mut lines: Vec<Vec<DVec2>> = cut.rings.iter().map(|r| flat(r)).collect();
    let mut meetings: Vec<Meeting> = Vec::new();
    for (chain, c) in cut.chains.iter().enumerate() {
        meetings.push(Meeting { angle: c.from, chain, ends: false });
        meetings.push(Meeting { angle: c.to, chain, ends: true });
    }
    meetings.sort_by(|a, b| a.angle.total_cmp(&b.angle));
    let n = meetings.len();
    if n == 0 {
        let votes = (0..12).filter(|i| inside(view.limb(TAU * f64::from(*i) / 12.0))).count();
        if votes > 6 {
            let mut line = Vec::new();
            limb_points(view, 0.0, TAU, &mut line);
            line.pop();
            lines.push(line);
        }
        return (votes.min(12 - votes), lines);
    }
    // The part of the limb that begins at meeting `k`.
    let part = |k: usize| {
        let from = meetings[k].angle;
        let to = if k + 1 == n { meetings[0].angle + TAU } else { meetings[k + 1].angle };
        (from, to)
    };
    let width = |k: &usize| part(*k).1 - part(*k).0;
    let says = |k: usize| inside(view.limb(0.5 * (part(k).0 + part(k).1)));
    let longest = (0..n).max_by(|a, b| width(a).total_cmp(&width(b))).unwrap_or(0);
    let first = says(longest);
    let filled = |k: usize| first == ((k + longest).is_multiple_of(2));
    // Parts that are shorter than this are nothing that can be seen.
    let doubts = (0..n).filter(|&k| width(&k) > 1e-3 && says(k) != filled(k)).count();

    // Where each chain begins and ends.
    let mut places = vec![[0; 2]; cut.chains.len()];
    for (k, meeting) in meetings.iter().enumerate() {
        places[meeting.chain][usize::from(meeting.ends)] = k;
    }
    let mut used = vec![false; cut.chains.len()];
    for start in 0..cut.chains.len() {
        let (mut chain, mut forward) = (start, true);
        let mut line = Vec::new();
        while !used[chain] {
            used[chain] = true;
            let mut points = flat(&cut.chains[chain].points);
            if !forward {
                points.reverse();
            }
            line.extend(points);
            // Along the limb on the side that is inside.
            let k = places[chain][usize::from(forward)];
            let next = if filled(k) {
                let (from, to) = part(k);
                limb_points(view, from, to, &mut line);
                (k + 1) % n
            } else {
                let before = (k + n - 1) % n;
                let (from, to) = part(before);
                limb_points(view, to, from, &mut line);
                before
            };
            chain = meetings[next].chain;
            forward = !meetings[next].ends;
        }
        if !line.is_empty() {
            lines.push(line);
        }
    }
    (doubts, lines)
}

/// The boundary as open lines: what is seen, and what is behind the globe.
pub(super) fn strokes(view: View, loops: &[Vec<DVec3>]) -> (Vec<Vec<DVec2>>, Vec<Vec<DVec2>>) {
    // What runs along the limb is seen.
    const AT: f64 = -1e-4;
    let open = |view: View, at: f64| {
        let cut = cut(view, loops, at);
        let mut lines: Vec<Vec<DVec2>> = Vec::new();
        for ring in cut.rings {
            lines.push(ring.iter().chain(ring.first()).map(|p| view.project(*p)).collect());
        }
        for chain in cut.chains {
            let ends = [chain.from, chain.to].map(|a| view.project(view.limb(a)));
            let mut line = vec![ends[0]];
            line.extend(chain.points.iter().map(|p| view.project(*p)));
            line.push(ends[1]);
            lines.push(line);
        }
        lines
    };
    let behind = View { toward: -view.toward, ..view };
    (open(view, AT), open(behind, -AT))
}

/// The boundary of a region in components along x, y and the bone.
pub(super) fn boundary(swing: PreparedSwing<'_>, axes: &SwingAxes) -> Vec<Vec<DVec3>> {
    let step = crate::math::Angle::from_degrees(3.0);
    let loops = swing.boundary(step);
    loops
        .into_iter()
        .map(|line| line.into_iter().filter_map(|d| unit(axes.components(d))).collect())
        .collect()
}

/// Directions about 30° apart that are seen well, those farther than 75° from who looks left out,
/// and so is −bone, where zero twist is not defined: rings about the bone.
pub(super) fn lattice(view: View) -> Vec<DVec3> {
    let mut found = Vec::new();
    if view.toward == DVec3::Z {
        found.push(DVec3::Z);
    }
    for (ring, count) in [(30.0, 6_u32), (60.0, 12)] {
        let (sin, cos) = trig::sin_cos(f64::to_radians(ring));
        for i in 0..count {
            let around = TAU * f64::from(i) / f64::from(count);
            let (s, c) = trig::sin_cos(around);
            found.push((view.right * c + view.up * s) * sin + view.toward * cos);
        }
    }
    found
}
