//! The angle of the largest margin to limits of swing and twist, by bounds that are waves.

use std::f64::consts::TAU;

use glam::DVec3;

use super::wave::{At, Swung, Wave};
use super::{Asked, Border, BorderOf, SLACK};

/// The angle of the largest margin that was seen, and a cut through the margins for each angle that was
/// asked.
///
/// # Source
///
/// A branch and bound of our own. Everything is in cosines of margins, so that less is better and no
/// angle is taken. At an angle ψ the nearest point p of the boundary gives a bound for all angles: no
/// margin is larger than the angle to p, whose cosine is a wave. If p is between the ends of an edge with
/// normal n, and stays there between two angles, the margin there is at most the angle to the edge's plane,
/// whose sine is a wave. The ends of a range of twist give bounds likewise. Between two angles that were
/// asked both their bounds hold; the largest margin that they leave is where they are equal, or at the top
/// of one of them. There it is asked next, until no bound is above the best.
///
/// At the largest margin of a polygon two edges are as near, or one edge or corner is as far as it gets. So
/// that is found to rounding once its two bounds are known, after some five to ten questions.
#[derive(Debug, Default)]
pub(super) struct Bounded {
    samples: Vec<Sample>,
    gaps: Vec<Gap>,
    best: usize,
}

/// An angle that was asked.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: At,
    /// The cosine of the margin.
    cosine: f64,
    cut: Cut,
}

/// What the margin is bounded by.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// The angle to a point with this cosine.
    Point(Wave),
    /// To a plane with this sine, as long as the other two are positive; else to a point.
    Plane { sine: Wave, beside: [Wave; 2], point: Wave },
    /// To an end of the twist of a joint.
    Twist { joint: usize, end: usize },
}

/// A [`Cut`] that holds between two angles.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Point(Wave),
    Plane(Wave),
    Twist { joint: usize, end: usize },
}

/// Two neighbours among the angles that were asked, less than half a turn apart.
#[derive(Clone, Copy, Debug)]
struct Gap {
    ends: [usize; 2],
    /// No cosine between them is less.
    least: f64,
    /// Where it may be that.
    at: At,
}

/// As a cosine: at a margin of 1° it is 6e-8 rad. What is better by less is not looked for.
const ENOUGH: f64 = 1e-9;

/// Cosines this near are the same.
const EQUAL: f64 = 1e-10;

/// Questions, at most. Polygons take some ten; boundaries that are curved along with the circle more.
const MOST: usize = 100;

impl Bounded {
    pub(super) fn clear(&mut self) {
        self.samples.clear();
        self.gaps.clear();
        self.best = 0;
    }

    /// The angle of the largest margin.
    pub(super) fn best(&self) -> Option<At> {
        self.samples.get(self.best).map(|sample| sample.at)
    }

    /// Looks at the angles from one to another, all of which are inside, `turn` after it. What they are the
    /// borders of is told, where it is known.
    pub(super) fn look(
        &mut self,
        joints: &[Asked<'_>],
        [from, turn]: [f64; 2],
        borders: [Option<&Border>; 2],
    ) {
        let [first, last] =
            [borders[0], borders[1]].map(|border| border.and_then(|b| on(joints, b)));
        // In parts of less than half a turn.
        let parts = if turn >= 0.99 * TAU { 3 } else { 2 };
        let begin = self.samples.len();
        for part in 0..=parts {
            let at = || At::new(from + turn * f64::from(part) / f64::from(parts));
            let sample = match part {
                0 => first.unwrap_or_else(|| ask(joints, at())),
                _ if part == parts => last.unwrap_or_else(|| ask(joints, at())),
                _ => ask(joints, at()),
            };
            self.take(sample);
        }
        for index in begin + 1..self.samples.len() {
            self.add_gap(joints, [index - 1, index]);
        }
        while self.samples.len() < MOST {
            let Some(next) = (0..self.gaps.len())
                .min_by(|a, b| self.gaps[*a].least.total_cmp(&self.gaps[*b].least))
            else {
                break;
            };
            let Gap { ends: [a, b], at, .. } = self.gaps.swap_remove(next);
            let middle = self.take(ask(joints, at));
            self.add_gap(joints, [a, middle]);
            self.add_gap(joints, [middle, b]);
        }
        self.gaps.clear();
    }

    fn take(&mut self, sample: Sample) -> usize {
        let index = self.samples.len();
        if self.samples.get(self.best).is_none_or(|best| sample.cosine < best.cosine) {
            self.best = index;
            let most = sample.cosine - ENOUGH;
            self.gaps.retain(|gap| gap.least < most);
        }
        self.samples.push(sample);
        index
    }

    /// If it may hold anything better.
    fn add_gap(&mut self, joints: &[Asked<'_>], ends: [usize; 2]) {
        let [a, b] = ends.map(|i| &self.samples[i]);
        let most = self.samples[self.best].cosine - ENOUGH;
        if let Some((least, at)) = bound(joints, a, b, most) {
            self.gaps.push(Gap { ends, least, at });
        }
    }
}

/// What a border of the angles inside says of the margins beside it.
fn on(joints: &[Asked<'_>], border: &Border) -> Option<Sample> {
    let Some(Asked::Swung(joint, _)) = joints.get(border.joint) else { return None };
    let at = border.at;
    let cut = match border.of {
        BorderOf::Edge(index) => {
            plane(joint, joint.ball.region().edges().half_spaces(index)?, joint.direction(at), at)
        }
        BorderOf::Twist(end) => Cut::Twist { joint: border.joint, end },
        BorderOf::Other => return None,
    };
    Some(Sample { at, cosine: 1.0, cut })
}

/// The cut of an edge.
fn plane(joint: &Swung<'_>, (normal, beside): (DVec3, [DVec3; 2]), point: DVec3, at: At) -> Cut {
    let sine = joint.wave(normal);
    // On the border itself the sign is rounding.
    let sine = if sine.at(at) < -SLACK { sine.negative() } else { sine };
    Cut::Plane { sine, beside: beside.map(|v| joint.wave(v)), point: joint.wave(point) }
}

/// The cosine of the smallest margin at an angle, all being inside, and what it is to.
fn ask(joints: &[Asked<'_>], at: At) -> Sample {
    let mut cosine = -1.0;
    let mut cut = Cut::Point(Wave { even: -1.0, ..Wave::default() });
    for (index, joint) in joints.iter().enumerate() {
        let Asked::Swung(joint, _) = joint else { continue };
        if let Some(nearest) = joint.ball.region().nearest(joint.direction(at)) {
            let to = 1.0 - 0.5 * nearest.foot.chord_square;
            if to > cosine {
                cosine = to;
                let point = nearest.foot.point;
                cut = match joint.ball.region().great_arc(&nearest) {
                    Some(arc) => plane(joint, arc, point, at),
                    None => Cut::Point(joint.wave(point)),
                };
            }
        }
        if let Some(twist) = &joint.twist {
            for end in 0..2 {
                let to = twist.cosine_to(end, at);
                if to > cosine {
                    cosine = to;
                    cut = Cut::Twist { joint: index, end };
                }
            }
        }
    }
    Sample { at, cosine, cut }
}

/// The least that the cosine can be between two samples, and where; `None` if it is not below `most`.
///
/// Up to any angle x between them the first bound holds, and after it the second; the best x is where they
/// are equal.
fn bound(joints: &[Asked<'_>], a: &Sample, b: &Sample, most: f64) -> Option<(f64, At)> {
    let (first, second) = (a.cut.between(a.at, b.at), b.cut.between(a.at, b.at));
    for one in [&first, &second] {
        if one.least(joints, a.at, b.at).0 >= most {
            return None;
        }
    }
    let crossing = match (first, second) {
        (Bound::Point(p), Bound::Point(q)) | (Bound::Plane(p), Bound::Plane(q)) => {
            p.minus(q).root_between(a.at, b.at)
        }
        _ => None,
    };
    let at = crossing.unwrap_or_else(|| crossing_of(joints, [first, second], [a.at, b.at]));
    let [before, after] = [first.least(joints, a.at, at), second.least(joints, at, b.at)];
    let least = if before.0 <= after.0 { before } else { after };
    (least.0 < most).then_some(least)
}

/// About where the first bound stops being the higher one: a few steps of the Illinois method. It need not
/// be exact.
fn crossing_of(joints: &[Asked<'_>], [first, second]: [Bound; 2], [a, b]: [At; 2]) -> At {
    let off = |at: At| first.cosine(joints, at) - second.cosine(joints, at);
    let (mut low, mut high) = ((0.0, off(a)), (1.0, off(b)));
    // One of them is the higher one all the way, as far as numbers go, or they are the same.
    if low.1 <= EQUAL {
        return a;
    }
    if high.1 >= -EQUAL {
        return b;
    }
    let mut at = a;
    let mut side = 0;
    for _ in 0..8 {
        let part = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
        at = a.toward(b, part);
        let value = off(at);
        if value.abs() < EQUAL {
            break;
        }
        if value > 0.0 {
            low = (part, value);
            if side == 1 {
                high.1 *= 0.5;
            }
            side = 1;
        } else {
            high = (part, value);
            if side == -1 {
                low.1 *= 0.5;
            }
            side = -1;
        }
    }
    at
}

impl Cut {
    fn between(&self, from: At, to: At) -> Bound {
        match *self {
            Self::Point(wave) => Bound::Point(wave),
            Self::Plane { sine, beside, point } => {
                if beside.iter().all(|wave| wave.is_positive_between(from, to)) {
                    Bound::Plane(sine)
                } else {
                    Bound::Point(point)
                }
            }
            Self::Twist { joint, end } => Bound::Twist { joint, end },
        }
    }
}

impl Bound {
    fn cosine(&self, joints: &[Asked<'_>], at: At) -> f64 {
        match *self {
            Self::Point(wave) => wave.at(at),
            Self::Plane(sine) => {
                let sine = sine.at(at);
                ((1.0 - sine) * (1.0 + sine)).max(0.0).sqrt()
            }
            Self::Twist { joint, end } => {
                let Some(Asked::Swung(joint, _)) = joints.get(joint) else { return -1.0 };
                joint.twist.as_ref().map_or(-1.0, |twist| twist.cosine_to(end, at))
            }
        }
    }

    /// The least cosine on the way from one angle to another, and where.
    fn least(&self, joints: &[Asked<'_>], from: At, to: At) -> (f64, At) {
        let top = match *self {
            Self::Point(wave) => wave.negative().top_between(from, to),
            Self::Plane(sine) => sine.top_between(from, to),
            // It goes one way.
            Self::Twist { .. } => None,
        };
        if let Some(top) = top {
            return (self.cosine(joints, top), top);
        }
        let [a, b] = [from, to].map(|at| (self.cosine(joints, at), at));
        if a.0 < b.0 { a } else { b }
    }
}
