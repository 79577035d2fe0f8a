//! How well the ends of a limit are known.

use std::borrow::Cow;
use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::samples::{Samples, compare};
use super::universal::UniversalJoint;
use super::visits::Excursions;
use crate::limits::{Limit, PreparedLimit, TwistOffset};
use crate::math::{Angle, Level, Rotation, Rotations, SwingAxes, batch, direct_rotation, unit};
use crate::rig::{Bounds, End, EndOf};

/// A visit of an end is over when the angle has gone back by this share of its range;
const RETREAT_SHARE: f64 = 0.25;

/// by so many standard deviations of the noise, which no two frames are apart by noise alone;
const RETREAT_NOISE: f64 = 6.0;

/// and by this, radians: 2°.
const RETREAT_LEAST: f64 = 2.0 * PI / 180.0;

/// An angle that a limit bounds.
struct Bounded {
    of: [EndOf; 2],
    /// Where the limit ends, radians.
    at: [f64; 2],
    /// Where it would end had it not been widened: how often ends were visited does not depend on that.
    seen: [f64; 2],
    /// Where every angle that there is lies.
    within: [f64; 2],
}

impl Bounded {
    /// As widened by `margin` at each end.
    fn new(Bounds { of, at }: Bounds, margin: f64) -> Self {
        let [low, high] = at;
        let middle = 0.5 * (low + high);
        let seen = [(low + margin).min(middle), (high - margin).max(middle)];
        let within = match of[0] {
            EndOf::XMin | EndOf::YMin => [-PI, PI],
            _ => [high - TAU, low + TAU],
        };
        // Of angles on the circle; swings have theirs anyway.
        let within = within.map(|end| end.clamp(seen[1] - TAU, seen[0] + TAU));
        Self { of, at, seen, within }
    }

    fn retreat(&self, noise: f64) -> f64 {
        let share = RETREAT_SHARE * (self.seen[1] - self.seen[0]);
        share.max(RETREAT_NOISE * noise).max(RETREAT_LEAST)
    }

    /// Angles without jumps: as near to the middle of the range as whole turns bring them.
    fn lift(&self, angles: &mut [f64]) {
        let from = 0.5 * (self.seen[0] + self.seen[1]) - PI;
        for angle in angles {
            let x = *angle - from;
            *angle = if (0.0..TAU).contains(&x) { *angle } else { from + x.rem_euclid(TAU) };
        }
    }
}

/// A limit as angles that it bounds, and how to find them.
enum Angles {
    Hinge {
        back: Rotation,
        axis: DVec3,
    },
    Universal(UniversalJoint),
    /// Twist is that of `untwisted · q`, if this is not `back`.
    Ball {
        back: Rotation,
        axes: SwingAxes,
        untwisted: Option<Rotation>,
    },
}

impl Angles {
    /// Those of rotations, in the order of [`Bounds::of`].
    fn of(&self, series: &Rotations) -> Vec<Vec<f64>> {
        let (n, level) = (series.len(), Level::best());
        let about = |back: Rotation, axis: DVec3| {
            let mut angles = vec![0.0; n];
            batch::angles_about(level, back, axis, series, &mut angles);
            angles
        };
        match self {
            Self::Hinge { back, axis } => vec![about(*back, *axis)],
            Self::Universal(joint) => joint.angles(series).into(),
            Self::Ball { back, axes, untwisted } => {
                let mut moves = Rotations::new();
                moves.turn_from(*back, series, 0..n);
                let [mut x, mut y, mut twist] = [(); 3].map(|()| vec![0.0; n]);
                batch::swing_twist(level, axes, &moves, [&mut x, &mut y, &mut twist]);
                if let Some(untwisted) = untwisted {
                    twist = about(*untwisted, axes.bone());
                }
                vec![x, y, twist]
            }
        }
    }
}

/// How to find the angles of a limit, in the order of [`Bounds::of`].
fn angles_of(center: Rotation, limit: &Limit) -> Option<Angles> {
    let back = center.inverse();
    match limit {
        Limit::Hinge { axis, .. } => Some(Angles::Hinge { back, axis: unit(*axis)? }),
        Limit::Universal { axes, .. } => {
            let [Some(a), Some(b)] = axes.map(unit) else { return None };
            Some(Angles::Universal(UniversalJoint { center, axes: [a, b] }))
        }
        Limit::SwingTwist(of) => {
            let axes = of.axes;
            let untwisted = match &of.twist.offset {
                TwistOffset::None => None,
                // z = R_D(bone, from) has no twist, and z⁻¹ m has that of m.
                TwistOffset::From(from) => {
                    Some(direct_rotation(axes.bone(), *from)?.rotation.inverse() * back)
                }
                TwistOffset::BySwing(_) => return None,
            };
            Some(Angles::Ball { back, axes, untwisted })
        }
        Limit::Free | Limit::Locked | Limit::EulerBox(_) => None,
    }
}

/// How well the ends of a joint's limit are known.
///
/// `courses` gives the rotations of a clip in the order of time, `clips` what was made of them, `noise`
/// is one standard deviation, and `margin` what the limit was widened by, radians. What was recorded
/// twice, bit for bit, counts once. Where frames have no order, visits cannot be counted,
/// and an angle that varies more than a visit goes back has no ends; a clip in which the joint rests
/// needs no order.
pub(super) fn find<'a>(
    (center, limit, prepared): (Rotation, &Limit, &PreparedLimit),
    clips: &[Samples],
    courses: impl Fn(usize) -> Option<Cow<'a, Rotations>>,
    noise: f64,
    margin: f64,
) -> Vec<End> {
    let Some(angles) = angles_of(center, limit) else { return Vec::new() };
    let bounds = Bounds::of(limit, prepared).into_iter();
    let bounded: Vec<Option<Bounded>> =
        bounds.map(|bounds| bounds.map(|bounds| Bounded::new(bounds, margin))).collect();
    let noise = match &angles {
        Angles::Universal(joint) => joint.noise_of_angles(noise),
        _ => noise,
    };
    let mut seen: Vec<Option<Excursions>> =
        bounded.iter().map(|b| b.as_ref().map(|_| Excursions::default())).collect();
    // What was recorded at once is one course: joints that go to the same end together visit it once.
    let mut takes: Vec<usize> = clips.iter().map(|clip| clip.take).collect();
    takes.sort_unstable();
    takes.dedup();
    // Which takes there were, by the digests of their courses.
    let mut known: Vec<(Vec<u64>, usize)> = Vec::new();
    for take in takes {
        let of_take = |take: usize| {
            let mine = move |(_, clip): &(usize, &Samples)| clip.take == take;
            clips.iter().enumerate().filter(mine)
        };
        let all: Option<Vec<_>> = of_take(take).map(|(i, _)| courses(i)).collect();
        let Some(all) = all else { return Vec::new() };
        let digests: Vec<u64> = all.iter().map(|course| digest(course)).collect();
        let is_copy = known.iter().filter(|(there, _)| *there == digests).any(|(_, other)| {
            of_take(*other)
                .zip(&all)
                .all(|((i, _), new)| courses(i).is_some_and(|old| same(&old, new)))
        });
        if is_copy {
            continue;
        }
        known.push((digests, take));
        let mut together: Vec<Vec<Course>> = bounded.iter().map(|_| Vec::new()).collect();
        for ((_, clip), course) in of_take(take).zip(&all) {
            let course: &Rotations = course;
            let skipped = skipped(clip, course);
            for (angles, courses) in angles.of(course).into_iter().zip(&mut together) {
                courses.push(Course { angles, skipped: skipped.to_vec(), ordered: clip.ordered });
            }
        }
        for ((courses, seen), bounded) in together.into_iter().zip(&mut seen).zip(&bounded) {
            let (Some(excursions), Some(bounded)) = (seen.as_mut(), bounded) else { continue };
            if !follow(courses, bounded, excursions, noise) {
                *seen = None;
            }
        }
    }
    let both = seen.iter().zip(&bounded).filter_map(|(seen, bounded)| {
        let (seen, bounded) = (seen.as_ref()?, bounded.as_ref()?);
        Some([false, true].map(|upper| end(bounded, seen, upper, noise)))
    });
    both.flatten().collect()
}

/// Of rotations in their order, so that those that differ are hardly ever compared.
fn digest(course: &Rotations) -> u64 {
    let mut digest = course.len() as u64;
    for component in course.xyzw() {
        for x in component {
            digest = (digest.rotate_left(29) ^ x.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
    digest
}

/// Whether rotations are the same, bit for bit.
pub(super) fn same(a: &Rotations, b: &Rotations) -> bool {
    let bits = |x: &f64| x.to_bits();
    a.xyzw().iter().zip(b.xyzw()).all(|(a, b)| a.iter().map(bits).eq(b.iter().map(bits)))
}

/// An angle of one clip, frame by frame, and what is to be left out of it.
struct Course {
    angles: Vec<f64>,
    skipped: Vec<usize>,
    ordered: bool,
}

/// Adds the excursions of an angle in clips that were recorded at once. `false` if there is no order in
/// one of them.
///
/// Of several clips the upper excursions are those of the largest of their angles in each frame, and the
/// lower ones those of the least.
fn follow(courses: Vec<Course>, bounded: &Bounded, seen: &mut Excursions, noise: f64) -> bool {
    let retreat = bounded.retreat(noise);
    let alone = courses.len() == 1;
    let mut all: Vec<Vec<f64>> = Vec::with_capacity(courses.len());
    for Course { mut angles, skipped, ordered } in courses {
        // In their places, for the others.
        for i in skipped {
            if let Some(angle) = angles.get_mut(i) {
                *angle = f64::NAN;
            }
        }
        bounded.lift(&mut angles);
        let mut known = if alone { std::mem::take(&mut angles) } else { angles.clone() };
        known.retain(|angle| angle.is_finite());
        if !(ordered || follow_each_other(&known) || width(&known) < retreat) {
            return false;
        }
        if alone {
            seen.add(&known, retreat, noise);
            return true;
        }
        all.push(angles);
    }
    let frames = all.iter().map(Vec::len).max().unwrap_or(0);
    // One angle alone stands for every frame.
    let at = |angles: &Vec<f64>, i: usize| {
        let i = if angles.len() == 1 { 0 } else { i };
        angles.get(i).copied().unwrap_or(f64::NAN)
    };
    let envelope = |most: fn(f64, f64) -> f64| -> Vec<f64> {
        let of = |i| all.iter().map(|angles| at(angles, i)).fold(f64::NAN, most);
        (0..frames).map(of).filter(|x| x.is_finite()).collect()
    };
    seen.add_envelope(&envelope(f64::min), &envelope(f64::max), retreat, noise);
    true
}

/// Which frames of a clip were left out, rising.
pub(super) fn skipped<'c>(clip: &'c Samples, course: &Rotations) -> Cow<'c, [usize]> {
    if clip.ordered || clip.left_out.is_empty() {
        return Cow::Borrowed(&clip.skipped);
    }
    let parts = |q: Rotation| q.canonical().quat().to_array();
    let mut out: Vec<[f64; 4]> = clip.left_out.iter().map(|q| parts(*q)).collect();
    out.sort_unstable_by(compare);
    let is_out = |q: Rotation| out.binary_search_by(|p| compare(p, &parts(q))).is_ok();
    let frames = course.iter().enumerate().filter(|(_, q)| is_out(*q));
    Cow::Owned(frames.map(|(i, _)| i).collect())
}

/// Whether angles follow each other: by the mean square of their steps, which is twice their variance
/// if they are in no order (J. von Neumann, "Distribution of the ratio of the mean square successive
/// difference to the variance", 1941). Motion that comes again and again, as a walk does, follows too.
fn follow_each_other(angles: &[f64]) -> bool {
    let mean = angles.iter().sum::<f64>() / angles.len().max(1) as f64;
    let variance: f64 = angles.iter().map(|x| (x - mean) * (x - mean)).sum();
    let steps: f64 = angles.windows(2).map(|w| (w[1] - w[0]) * (w[1] - w[0])).sum();
    steps < variance
}

fn end(bounded: &Bounded, seen: &Excursions, upper: bool, noise: f64) -> End {
    let side = usize::from(upper);
    let [low, high] = bounded.within;
    let angle = |x: f64| Angle::from_degrees(hundredths(Angle::from_radians(x).degrees()));
    let near = bounded.retreat(noise);
    let outwards = if upper { 1.0 } else { -1.0 };
    let reached = outwards * seen.reached(upper);
    let interval = seen.interval(upper, near).map(|[near, far]| {
        let ends = if upper { [near, far] } else { [-far, -near] };
        ends.map(|x| angle(x.clamp(low, high)))
    });
    End {
        of: bounded.of[side],
        at: angle(bounded.at[side]),
        reached: reached.is_finite().then(|| angle(reached.clamp(low, high))),
        visits: seen.visits(upper, near) as u64,
        interval: interval.ok(),
        open: interval.err(),
    }
}

/// Without −0.
fn hundredths(degrees: f64) -> f64 {
    (degrees * 100.0).round() / 100.0 + 0.0
}

fn width(angles: &[f64]) -> f64 {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (least, most) = angles.iter().fold(ends, |(a, b), x| (a.min(*x), b.max(*x)));
    (most - least).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::trig;

    /// Five times up to 1 and down to −1, in 1000 frames.
    fn waves() -> Vec<f64> {
        (0..1000).map(|i| trig::sin(f64::from(i) * TAU / 200.0)).collect()
    }

    /// How often the ends of −1 to 1 were visited.
    fn visited(courses: &[(Vec<f64>, &[usize])]) -> [usize; 2] {
        let bounds = Bounds { of: [EndOf::Min, EndOf::Max], at: [-1.0, 1.0] };
        let bounded = Bounded::new(bounds, 0.0);
        let courses = courses.iter().map(|(angles, skipped)| Course {
            angles: angles.clone(),
            skipped: skipped.to_vec(),
            ordered: true,
        });
        let mut seen = Excursions::default();
        assert!(follow(courses.collect(), &bounded, &mut seen, 0.0));
        [false, true].map(|upper| seen.visits(upper, 0.1))
    }

    #[test]
    fn ends_that_two_reach_at_once_are_visited_once() {
        let up = waves();
        let down: Vec<f64> = up.iter().map(|x| -x).collect();
        assert_eq!(visited(&[(up.clone(), &[])]), [5, 5]);
        assert_eq!(visited(&[(up.clone(), &[]), (up.clone(), &[])]), [5, 5]);
        assert_eq!(visited(&[(up.clone(), &[]), (down, &[])]), [10, 10]);
        // One that rests has one angle for all frames.
        assert_eq!(visited(&[(up.clone(), &[]), (vec![0.0], &[])]), [5, 5]);
        // What is left out of the one does not count, and the other does.
        let mut glitch = up.clone();
        glitch[500] = 3.0;
        assert_eq!(visited(&[(up.clone(), &[]), (glitch, &[500])]), [5, 5]);
        assert_eq!(visited(&[(up, &[]), (Vec::new(), &[])]), [5, 5]);
    }
}
