//! The angle of the largest margin to limits of swing and twist whose range of twist depends on the
//! direction, by bounds that are lines over the angle.

use std::f64::consts::{PI, TAU};

use super::wave::{At, TwistHere, Wave};
use super::{Asked, FINE, SLACK};

/// The angle of the largest margin that was seen.
///
/// # Source
///
/// A branch and bound of our own, after Piyavskii (1972). Between two angles that were asked, a and b, the
/// margin is at most that to what is nearest at a, a point or an edge of the region or an end of the range of
/// twist; and it is known in closed form how fast that changes between them, at least and at most. So it is
/// below a line from a, and below another from b, and it is asked next where they meet, until no bound is
/// above the best by more than [`NEAR`]. As the angles get near to each other these lines become tangents.
///
/// Where the bone leaves the triangle of given directions that it is in at a or b, it is asked at that border.
#[derive(Debug, Default)]
pub(super) struct Lines {
    samples: Vec<Sample>,
    gaps: Vec<Gap>,
    best: usize,
}

/// An angle that was asked.
#[derive(Clone, Copy, Debug)]
struct Sample {
    angle: f64,
    at: At,
    margin: f64,
    to: Nearest,
    /// Of each joint.
    twists: [Option<TwistHere>; 2],
}

/// What is nearest, and of which joint.
#[derive(Clone, Copy, Debug)]
enum Nearest {
    Nothing,
    /// An edge, by the sine of the angle to its plane, as long as two others are positive; else a point of it.
    Edge {
        joint: usize,
        sine: Wave,
        beside: [Wave; 2],
        point: Wave,
    },
    /// A point, by the cosine of the angle to it.
    Point {
        joint: usize,
        cosine: Wave,
    },
    Twist {
        joint: usize,
    },
}

/// Two neighbours among the angles that were asked, less than half a turn apart.
#[derive(Clone, Copy, Debug)]
struct Gap {
    ends: [usize; 2],
    /// No margin between them is more.
    most: f64,
    /// Where to ask next.
    next: f64,
}

/// How far below the largest margin the best may be, in radians: 0.03°.
const NEAR: f64 = 5e-4;

/// Questions, at most.
const MOST: usize = 200;

impl Lines {
    pub(super) fn clear(&mut self) {
        self.samples.clear();
        self.gaps.clear();
        self.best = 0;
    }

    /// The angle of the largest margin, and that margin.
    pub(super) fn best(&self) -> Option<[f64; 2]> {
        self.samples.get(self.best).map(|sample| [sample.angle, sample.margin])
    }

    /// Looks at the angles from one to another, `turn` after it.
    pub(super) fn look(&mut self, joints: &[Asked<'_>], [from, turn]: [f64; 2]) {
        // In parts of less than half a turn.
        let parts = if turn >= 0.99 * TAU { 3 } else { 2 };
        let begin = self.samples.len();
        for part in 0..=parts {
            self.take(joints, from + turn * f64::from(part) / f64::from(parts));
        }
        for index in begin + 1..self.samples.len() {
            self.add_gap(joints, [index - 1, index]);
        }
        let end = begin + MOST;
        while self.samples.len() < end {
            let highest = self.gaps.iter().enumerate().max_by(|a, b| a.1.most.total_cmp(&b.1.most));
            let Some((highest, &Gap { ends: [a, b], most, next })) = highest else { break };
            if most <= self.enough() {
                break;
            }
            self.gaps.swap_remove(highest);
            let middle = self.take(joints, next);
            self.add_gap(joints, [a, middle]);
            self.add_gap(joints, [middle, b]);
        }
        self.gaps.clear();
    }

    /// What is above it by no more is not looked for.
    fn enough(&self) -> f64 {
        self.samples.get(self.best).map_or(f64::NEG_INFINITY, |best| best.margin + NEAR)
    }

    fn take(&mut self, joints: &[Asked<'_>], angle: f64) -> usize {
        let sample = Sample::new(joints, angle);
        let index = self.samples.len();
        if self.samples.get(self.best).is_none_or(|best| sample.margin > best.margin) {
            self.best = index;
        }
        self.samples.push(sample);
        index
    }

    /// If it may hold anything better.
    fn add_gap(&mut self, joints: &[Asked<'_>], ends: [usize; 2]) {
        let enough = self.enough();
        let [a, b] = ends.map(|i| &self.samples[i]);
        let width = b.angle - a.angle;
        // Falling from the first, or rising to the second, it is nowhere more than there.
        let Some(first) = a.line(joints, b, [a, b]) else { return };
        let up = first.slopes[1];
        if (up <= 0.0 || first.margin + up * width <= enough) && !first.jumps {
            return;
        }
        let Some(second) = b.line(joints, a, [a, b]) else { return };
        let down = second.slopes[0];
        if (down >= 0.0 || second.margin - down * width <= enough) && !second.jumps {
            return;
        }
        let (most, meet) = if first.jumps || second.jumps {
            if width < FINE {
                return;
            }
            let speed = up.abs().max(down.abs());
            (first.margin.max(second.margin) + speed * width, 0.5 * width)
        } else {
            let meet = (second.margin - down * width - first.margin) / (up - down);
            if meet <= 0.0 || meet >= width {
                return;
            }
            (first.margin + up * meet, meet)
        };
        if most <= enough {
            return;
        }
        let apart = |x: &f64| *x > 0.02 * width && *x < 0.98 * width;
        let exit = [first.exit, second.exit].into_iter().flatten().map(|at| at.angle_from(a.at));
        // Where they will meet once they are tangents.
        let [along, back] = [&first, &second].map(|line| 0.5 * (line.slopes[0] + line.slopes[1]));
        let guess = (second.margin - back * width - first.margin) / (along - back);
        let guess = Some(guess).filter(|_| along > 0.0 && back < 0.0);
        let next = exit.into_iter().chain(guess).find(apart).unwrap_or(meet);
        self.gaps.push(Gap { ends, most, next: a.angle + next });
    }
}

/// What the margin is below between two angles.
struct Line {
    /// At the angle that it is from.
    margin: f64,
    /// How much more than the angle it changes, at least and at most.
    slopes: [f64; 2],
    /// Where a border of triangles is crossed.
    exit: Option<At>,
    /// Whether it may jump.
    jumps: bool,
}

impl Sample {
    fn new(joints: &[Asked<'_>], angle: f64) -> Self {
        let at = At::new(angle);
        let mut sample = Self { angle, at, margin: PI, to: Nearest::Nothing, twists: [None; 2] };
        for (joint, one) in joints.iter().enumerate() {
            let Asked::Swung(swung, _) = one else { continue };
            let d = swung.direction(at);
            let region = swung.ball.region();
            if let Some(nearest) = region.nearest(d) {
                let margin = nearest.foot.angle(d);
                if margin < sample.margin {
                    sample.margin = margin;
                    let cosine = swung.wave(nearest.foot.point);
                    sample.to = match region.great_arc(&nearest) {
                        Some((normal, beside)) => {
                            let sine = swung.wave(normal);
                            let sine = if sine.at(at) < -SLACK { sine.negative() } else { sine };
                            let beside = beside.map(|v| swung.wave(v));
                            Nearest::Edge { joint, sine, beside, point: cosine }
                        }
                        None => Nearest::Point { joint, cosine },
                    };
                }
            }
            if let Some(here) = swung.twist_here(at, d) {
                if here.margin < sample.margin {
                    sample.margin = here.margin;
                    sample.to = Nearest::Twist { joint };
                }
                sample.twists[joint] = Some(here);
            }
        }
        sample
    }

    /// The line of what is nearest here, between here and another.
    fn line(&self, joints: &[Asked<'_>], other: &Self, [a, b]: [&Self; 2]) -> Option<Line> {
        let swung = |joint: usize| match joints.get(joint) {
            Some(Asked::Swung(swung, _)) => Some(swung),
            _ => None,
        };
        let (from, to) = (a.at, b.at);
        let line = |slopes| Line { margin: self.margin, slopes, exit: None, jumps: false };
        match &self.to {
            Nearest::Nothing => None,
            Nearest::Edge { joint, sine, beside, point } => {
                let sweep = swung(*joint)?.sweep();
                let is_edge = beside.iter().all(|wave| wave.is_positive_between(from, to));
                Some(line(if is_edge {
                    arc_slopes(sine, 1.0, sweep, from, to)
                } else {
                    arc_slopes(point, -1.0, sweep, from, to)
                }))
            }
            Nearest::Point { joint, cosine } => {
                Some(line(arc_slopes(cosine, -1.0, swung(*joint)?.sweep(), from, to)))
            }
            Nearest::Twist { joint } => {
                let swung = swung(*joint)?;
                let (here, there) = (self.twists[*joint]?, other.twists[*joint]?);
                if here.may_jump_to(&there) {
                    let speed = swung.speed(from, to);
                    let margin = here.margin.max(there.margin);
                    return Some(Line { margin, slopes: [-speed, speed], exit: None, jumps: true });
                }
                let (slopes, exit) = swung.margin_slopes(&here, from, to);
                let width = b.angle - a.angle;
                let falls = if self.angle == a.angle { -slopes[0] } else { slopes[1] } * width;
                // Beyond the middle of the gap of the range it is nearer to the other end.
                if here.margin - falls < here.least {
                    let speed = swung.speed(from, to);
                    return Some(Line { exit, ..line([-speed, speed]) });
                }
                Some(Line { exit, ..line(slopes) })
            }
        }
    }
}

/// How fast the angle changes whose sine a wave is (`sign` 1), or its cosine (−1): at least and at most,
/// between two angles, and no faster than the bone.
fn arc_slopes(of: &Wave, sign: f64, sweep: f64, from: At, to: At) -> [f64; 2] {
    let [least, most] = of.range_between(from, to);
    let [low, high] = of.slope().range_between(from, to);
    let root = |x: f64| ((1.0 - x) * (1.0 + x)).max(1e-12).sqrt();
    let [a, b] = [root(least), root(most)];
    let through = if least < 0.0 && most > 0.0 { 1.0 } else { a.max(b) };
    let (narrow, wide) = (a.min(b), through);
    let low = low / if low < 0.0 { narrow } else { wide };
    let high = high / if high < 0.0 { wide } else { narrow };
    let [low, high] = if sign < 0.0 { [-high, -low] } else { [low, high] };
    [low.clamp(-sweep, sweep), high.clamp(-sweep, sweep)]
}
