//! One motion after another, with a seam that is not seen.

use std::f64::consts::TAU;
use std::ops::Range;

use glam::DVec3;

use super::blend::{as_f64, blend_locals, index};
use super::carrier::Carrier;
use super::{Easing, EditError, Facing, Ground, Placement, Stand};
use crate::math::{Angle, Rotation};
use crate::motion::turns::Turns;
use crate::motion::{Clip, ClipError, Pose, Track, TrackFault};
use crate::skeleton::{JointIndex, Skeleton};

/// Where two motions are alike: a window of each, of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The first frame of the window in the first motion.
    pub first: usize,
    /// The first frame of the window in the second motion.
    pub second: usize,
    /// How many frames the windows have, at least one.
    pub frames: usize,
}

/// Which motion goes on through the window in which both are alike, where only one of them can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The first: what the second has in the window is left out (forward matching).
    #[default]
    First,
    /// The second: the first ends where the window begins (backward matching).
    Second,
}

/// How the frames between two motions, and the place of the second one, are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Facing and place go on as in the last two frames, for whole turns if there is time, and poses go
    /// straight from one to the other (row C7, eq 14). Velocities jump at both ends.
    Linear,
    /// Facing and place go on with the mean of the velocities before and after, poses on cubic curves
    /// with the velocities of both motions, each taken from five frames.
    #[default]
    Cubic,
}

/// How to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// New frames between the two motions, beyond their windows (row C7, fig 3).
    Interpolate {
        /// How many.
        frames: usize,
        /// How.
        order: Order,
    },
    /// The two windows blended into each other (row C8, eq 15, fig 4). Where their roots drift apart, the
    /// one hurries to where the other is.
    Blend(Easing),
    /// The same, but with the steps of the roots blended in place of where they are: how far each goes and
    /// turns from frame to frame, seen from where it faces. Speeds stay between those of the motions, and
    /// the second goes on from where that leads.
    BlendSteps(Easing),
    /// The second motion at once, with what it differs by fading over some frames.
    Inertialize {
        /// How many.
        frames: usize,
    },
}

impl Default for Method {
    fn default() -> Self {
        Self::BlendSteps(Easing::default())
    }
}

/// Two motions as one.
#[must_use]
#[derive(Clone, Debug)]
pub struct Connected {
    /// The motion.
    pub clip: Clip,
    /// The frames of it that are neither of the two motions'. The one before them is
    /// [`first_last`](Self::first_last), the one after them [`second_first`](Self::second_first).
    pub made: Range<usize>,
    /// The last frame that is as the first motion has it.
    pub first_last: usize,
    /// The first frame of the second motion that is as it has it, but for its place.
    pub second_first: usize,
    /// Where the second motion was moved to.
    pub placement: Placement,
}

/// Connects two motions of one skeleton where they are alike.
///
/// The first stays where it is. The second is turned about the vertical and shifted on the ground so
/// that it goes on from there; its heights stay. Frames of either that are not changed keep the numbers
/// of their files.
///
/// # Source
///
/// S. Lin, "Help note for assignment 2", 2010, eq 14 and 15, with facing differences wrapped and without
/// extrapolating heights. Inertialization: D. Bollo, "Inertialization: high-performance animation
/// transitions in Gears of War", Game Developers Conference 2018, here with the quintic for all three
/// components of the offset, which starts with the difference of the velocities and without
/// acceleration.
///
/// # Errors
///
/// [`EditError::Window`], [`EditError::JointCount`], [`EditError::OtherRate`], [`EditError::Clip`].
pub fn connect(
    skeleton: &Skeleton,
    facing: &Facing,
    [first, second]: [&Clip; 2],
    at: Overlap,
    keep: Keep,
    method: Method,
) -> Result<Connected, EditError> {
    for (clip, (motion, start)) in [(first, at.first), (second, at.second)].into_iter().enumerate()
    {
        let (found, expected) = (motion.tracks().len(), skeleton.len());
        if found != expected {
            return Err(EditError::JointCount { clip, found, expected });
        }
        let available = motion.frame_count();
        if at.frames == 0 || start.checked_add(at.frames).is_none_or(|end| end > available) {
            return Err(EditError::Window { clip, start, frames: at.frames, available });
        }
    }
    if first.rate().nominal_fps() != second.rate().nominal_fps() {
        return Err(EditError::OtherRate { clip: 1 });
    }
    // More new frames than motion of that many joints may have altogether.
    const MOST: usize = 20_000_000;
    if let Method::Interpolate { frames, .. } | Method::Inertialize { frames } = method
        && frames.saturating_mul(skeleton.len().max(1)) > MOST
    {
        return Err(EditError::Clip(ClipError::TooManyFrames));
    }
    let Some(carrier) = Carrier::of(skeleton, facing.joint(), &[first, second]) else {
        return Seam { skeleton, facing, first, second, at }.connect(keep, method);
    };
    let (a, b) = (&carrier.lifted(first)?, &carrier.lifted(second)?);
    let (lifted, facing) = (carrier.skeleton(), &carrier.facing(facing));
    let seam = Seam { skeleton: lifted, facing, first: a, second: b, at };
    let mut connected = seam.connect(keep, method)?;
    // Only what was made is lowered: the rest has its own numbers.
    let made = connected.made.clone();
    let mut made = (!made.is_empty()).then(|| part(&connected.clip, made)).transpose()?;
    made.as_mut().map_or(Ok(()), |made| carrier.lowered(made))?;
    let mut placed = second.clone();
    connected.placement.apply(skeleton, &mut placed)?;
    let ends = (connected.first_last, connected.second_first);
    connected.clip = joined((first, ends.0), made.as_ref(), (&placed, ends.1))?;
    Ok(connected)
}

/// The one motion up to a frame, new frames, and the other from a frame on.
fn joined(
    (first, last): (&Clip, usize),
    made: Option<&Clip>,
    (second, next): (&Clip, usize),
) -> Result<Clip, EditError> {
    let before = part(first, 0..last + 1)?;
    let after = part(second, next..second.frame_count())?;
    let parts: Vec<&Clip> = [&before].into_iter().chain(made).chain([&after]).collect();
    Ok(Clip::joined(&parts)?)
}

/// Two motions and where they are alike, all checked. Nothing above the pelvis goes its own way.
struct Seam<'a> {
    skeleton: &'a Skeleton,
    facing: &'a Facing,
    first: &'a Clip,
    second: &'a Clip,
    at: Overlap,
}

impl Seam<'_> {
    fn connect(&self, keep: Keep, method: Method) -> Result<Connected, EditError> {
        match method {
            Method::Interpolate { frames, order } => self.interpolate(keep, frames, order),
            Method::Blend(easing) => self.blend(easing, false),
            Method::BlendSteps(easing) => self.blend(easing, true),
            Method::Inertialize { frames } => self.inertialize(keep, frames),
        }
    }

    fn stand(&self, clip: &Clip, frame: usize) -> Stand {
        self.facing.stand_in(self.skeleton, clip, index(frame))
    }

    /// The second motion, moved so that in a frame it stands somewhere.
    fn placed(&self, frame: usize, at: Stand) -> Result<(Clip, Placement), EditError> {
        let from = self.stand(self.second, frame);
        let placement = Placement::between(self.facing.ground(), from, at);
        let mut clip = self.second.clone();
        placement.apply(self.skeleton, &mut clip)?;
        Ok((clip, placement))
    }

    /// The first motion up to a frame, new frames, and the second motion from a frame on.
    fn joined(
        &self,
        first_last: usize,
        made: Option<&Clip>,
        (second, placement): (&Clip, Placement),
        second_first: usize,
    ) -> Result<Connected, EditError> {
        let clip = joined((self.first, first_last), made, (second, second_first))?;
        let start = first_last + 1;
        let made = start..start + made.map_or(0, Clip::frame_count);
        Ok(Connected { clip, made, first_last, second_first, placement })
    }

    /// Eq 15: the second motion is where the first is when the window begins.
    fn blend(&self, easing: Easing, by_steps: bool) -> Result<Connected, EditError> {
        let Overlap { first, second, frames } = self.at;
        let (mut placed, mut placement) = self.placed(second, self.stand(self.first, first))?;
        let (mut a, mut b) =
            (part(self.first, first..first + frames)?, part(&placed, second..second + frames)?);
        if by_steps && frames > 1 {
            let on = self.blend_steps([&mut a, &mut b], easing)?;
            placement = placement.then(on);
            placed = self.second.clone();
            placement.apply(self.skeleton, &mut placed)?;
        }
        let weight = |clip: usize, _: JointIndex, frame: usize| {
            let second = easing.weight(frame, frames);
            if clip == 0 { 1.0 - second } else { second }
        };
        let blended = blend_locals(self.skeleton, &[&a, &b], weight)?;
        if frames == 1 {
            // One frame is half and half, between what is before and after it.
            let before = first.checked_sub(1);
            let after = Some(second + 1).filter(|f| *f < placed.frame_count());
            return match (before, after) {
                (Some(before), Some(after)) => {
                    self.joined(before, Some(&blended), (&placed, placement), after)
                }
                _ => self.joined(first, None, (&placed, placement), after.unwrap_or(second)),
            };
        }
        // The first frame of the window is the first motion's, the last the second's.
        let made = (frames > 2).then(|| part(&blended, 1..frames - 1)).transpose()?;
        self.joined(first, made.as_ref(), (&placed, placement), second + frames - 1)
    }

    /// Moves and turns the frames of two windows so that in each both stand where their blended steps lead,
    /// and go on turning alike; what the last of the second was moved by.
    ///
    /// A step turns by the vertical part of the rotation from frame to frame. That is smooth, too, for who
    /// lies or rolls, whose facing is not.
    fn blend_steps(
        &self,
        mut windows: [&mut Clip; 2],
        easing: Easing,
    ) -> Result<Placement, EditError> {
        let ground = self.facing.ground();
        let frames = windows[0].frame_count();
        let at = |clip: &Clip, k: usize| self.facing.place_in(self.skeleton, clip, index(k));
        let mut before = [0, 1].map(|i| at(windows[i], 0));
        let mut stands_at = ground.below(before[0].1);
        let mut turns = [0.0_f64; 2];
        let none = Placement::new(ground, Angle::ZERO, DVec3::ZERO);
        let mut ways = [vec![none], vec![none]];
        for k in 1..frames {
            let second = 0.5 * (easing.weight(k - 1, frames) + easing.weight(k, frames));
            let now = [0, 1].map(|i| at(windows[i], k));
            let turned = [0, 1].map(|i| (now[i].0 * before[i].0.inverse()).log().dot(ground.up()));
            let mean = (1.0 - second) * turned[0] + second * turned[1];
            for (i, share) in [1.0 - second, second].into_iter().enumerate() {
                let step = ground.turn(Angle::from_radians(turns[i])) * (now[i].1 - before[i].1);
                stands_at += ground.below(step) * share;
                turns[i] += mean - turned[i];
            }
            for (i, ways) in ways.iter_mut().enumerate() {
                let turn = Angle::from_radians(turns[i]).wrapped();
                let shift = stands_at - ground.below(ground.turn(turn) * now[i].1);
                ways.push(Placement::new(ground, turn, shift));
            }
            before = now;
        }
        for (window, ways) in windows.iter_mut().zip(&ways) {
            for j in self.skeleton.indices().filter(|j| self.skeleton.parent(*j).is_none()) {
                for (k, way) in ways.iter().enumerate().skip(1) {
                    let turned = ground.turn(way.turn()) * window.rotation(j, index(k));
                    let place = way.point(window.translation_m(j, index(k)));
                    if !place.is_finite() {
                        let (track, fault) = (j.get(), TrackFault::NotFinite);
                        return Err(EditError::Clip(ClipError::Track { track, fault }));
                    }
                    window.set_rotation(j, index(k), turned);
                    window.set_translation_m(j, index(k), place);
                }
            }
        }
        Ok(ways[1].last().copied().unwrap_or(none))
    }

    fn interpolate(&self, keep: Keep, count: usize, order: Order) -> Result<Connected, EditError> {
        let Overlap { first, second, frames } = self.at;
        // At least one frame of each is left.
        let (last, next) = match keep {
            Keep::First => {
                (first + frames - 1, (second + frames).min(self.second.frame_count() - 1))
            }
            Keep::Second => (first.saturating_sub(1), second),
        };
        let steps = as_f64(count) + 1.0;
        let end = self.stand(self.first, last);
        let ground = self.facing.ground();
        // The whole turn, unwrapped, and where it leads.
        let goes_on = |turn: f64, shift: DVec3| {
            let stand = Stand {
                position_m: end.position_m + ground.below(shift) * steps,
                facing: Angle::from_radians(end.facing.radians() + turn * steps).wrapped(),
            };
            (turn * steps, stand)
        };
        let (turn, start) = match order {
            Order::Linear => {
                let before = self.stand(self.first, last.saturating_sub(1));
                goes_on(turned(before, end), end.position_m - before.position_m)
            }
            Order::Cubic => {
                let (turn, shift) = self.velocity(self.first, last, Side::Before);
                let (later_turn, later_shift) = self.velocity(self.second, next, Side::After);
                let turn = 0.5 * (turn + later_turn);
                // The shift after the seam is in the world of the second motion: it is turned with it.
                let facing = end.facing.radians() + turn * steps;
                let by = facing - self.stand(self.second, next).facing.radians();
                let later_shift = ground.turn(Angle::from_radians(by)) * later_shift;
                goes_on(turn, 0.5 * (shift + later_shift))
            }
        };
        let (placed, placement) = self.placed(next, start)?;
        let curve = |j: JointIndex| {
            let (from, to) = (Knot::new(self.first, last, j), Knot::new(&placed, next, j));
            let mut curve = Curve::new(self.turns(&placed, j), from, to, (order, steps));
            if order == Order::Linear && self.skeleton.parent(j).is_none() {
                curve.spin(ground, turn);
            }
            curve
        };
        let curves: Vec<Curve> = self.skeleton.indices().map(curve).collect();
        let pose = |k: usize| {
            let share = as_f64(k) / steps;
            Pose {
                rotations: curves.iter().map(|c| c.rotation(share)).collect(),
                translations_m: curves.iter().map(|c| c.translation_m(share)).collect(),
            }
        };
        let made = self.clip_of((1..=count).map(pose))?;
        self.joined(last, made.as_ref(), (&placed, placement), next)
    }

    fn inertialize(&self, keep: Keep, count: usize) -> Result<Connected, EditError> {
        let Overlap { first, second, frames } = self.at;
        let (last, same) = match keep {
            Keep::First => (first + frames - 1, second + frames - 1),
            Keep::Second => (first, second),
        };
        let (placed, placement) = self.placed(same, self.stand(self.first, last))?;
        let left = placed.frame_count() - 1 - same;
        if left == 0 {
            // Nothing comes after: the frame itself is the end.
            return self.joined(last, None, (&placed, placement), same);
        }
        // One frame at least is the second motion's own.
        let count = count.min(left - 1);
        let steps = as_f64(count) + 1.0;
        let offsets: Vec<Offset> = self
            .skeleton
            .indices()
            .map(|j| Offset::new(self.turns(&placed, j), j, (self.first, last), (&placed, same)))
            .collect();
        let pose = |k: usize| {
            let mut pose = placed.pose(index(same + k));
            let (place, velocity) = fading(as_f64(k) / steps);
            for (offset, (r, t)) in
                offsets.iter().zip(pose.rotations.iter_mut().zip(&mut pose.translations_m))
            {
                let by = offset.turn * place + offset.turning * (velocity * steps);
                *r = match &offset.turns {
                    Some(turns) => turns.rotation(turns.angles(*r, DVec3::ZERO) + by),
                    None => Rotation::exp(by).unwrap_or_default() * *r,
                };
                *t += offset.shift * place + offset.shifting * (velocity * steps);
            }
            pose
        };
        let made = self.clip_of((1..=count).map(pose))?;
        self.joined(last, made.as_ref(), (&placed, placement), same + count + 1)
    }

    /// The turns of a joint that has few, in both motions.
    fn turns(&self, placed: &Clip, joint: JointIndex) -> Option<Turns> {
        Turns::of(self.skeleton, &[self.first, placed], joint)
    }

    /// Radians and metres per frame of who faces, on the side of a frame: from the line that fits best to
    /// up to five frames.
    fn velocity(&self, clip: &Clip, frame: usize, side: Side) -> (f64, DVec3) {
        let here = self.stand(clip, frame);
        let stands: Vec<Stand> =
            side.frames(frame, clip.frame_count()).map(|f| self.stand(clip, f)).collect();
        let turn = slope(stands.iter().map(|s| DVec3::X * turned(here, *s)), side);
        let shift = slope(stands.iter().map(|s| s.position_m - here.position_m), side);
        (turn.x, shift)
    }

    fn clip_of(&self, poses: impl Iterator<Item = Pose>) -> Result<Option<Clip>, EditError> {
        let poses: Vec<Pose> = poses.collect();
        if poses.is_empty() {
            return Ok(None);
        }
        let tracks = (0..self.skeleton.len()).map(|j| {
            let every = crate::motion::KeyTimes::EveryFrame;
            Track::from_parts(
                poses.iter().map(|p| p.rotations[j]).collect(),
                every.clone(),
                poses.iter().map(|p| p.translations_m[j]).collect(),
                every,
            )
        });
        Ok(Some(Clip::new(poses.len(), self.first.rate(), tracks.collect())?))
    }
}

/// Which frames a velocity is taken from.
#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

impl Side {
    /// Up to five frames, from the given one away.
    fn frames(self, frame: usize, count: usize) -> impl Iterator<Item = usize> + Clone {
        const FRAMES: usize = 5;
        (0..FRAMES).map_while(move |k| match self {
            Self::Before => frame.checked_sub(k),
            Self::After => Some(frame + k).filter(|f| *f < count),
        })
    }
}

/// The slope per frame of the line through the origin of the first value that fits best, in the
/// direction of time.
fn slope(values: impl Iterator<Item = DVec3>, side: Side) -> DVec3 {
    let (mut top, mut bottom) = (DVec3::ZERO, 0.0);
    for (k, value) in values.enumerate() {
        let t = match side {
            Side::Before => -as_f64(k),
            Side::After => as_f64(k),
        };
        top += value * t;
        bottom += t * t;
    }
    if bottom > 0.0 { top / bottom } else { DVec3::ZERO }
}

/// From the facing of one stand to that of another, the short way: 179° to −179° is 2°.
fn turned(from: Stand, to: Stand) -> f64 {
    Angle::from_radians(to.facing.radians() - from.facing.radians()).wrapped().radians()
}

/// A joint in a frame of a motion.
#[derive(Clone, Copy)]
struct Knot<'a> {
    clip: &'a Clip,
    frame: usize,
    joint: JointIndex,
}

impl<'a> Knot<'a> {
    const fn new(clip: &'a Clip, frame: usize, joint: JointIndex) -> Self {
        Self { clip, frame, joint }
    }

    fn rotation(&self, frame: usize) -> Rotation {
        self.clip.rotation(self.joint, index(frame))
    }

    fn translation_m(&self, frame: usize) -> DVec3 {
        self.clip.translation_m(self.joint, index(frame))
    }

    /// Its angular velocity in its own space, per frame.
    fn turning(&self, side: Side) -> DVec3 {
        let back = self.rotation(self.frame).inverse();
        let frames = side.frames(self.frame, self.clip.frame_count());
        slope(frames.map(|f| (back * self.rotation(f)).log()), side)
    }

    /// The velocity of its angles, per frame.
    fn angles_turning(&self, turns: &Turns, side: Side) -> DVec3 {
        let here = turns.angles(self.rotation(self.frame), DVec3::ZERO);
        let frames = side.frames(self.frame, self.clip.frame_count());
        slope(frames.map(|f| turns.angles(self.rotation(f), here) - here), side)
    }

    /// The velocity of its centre, per frame.
    fn moving(&self, side: Side) -> DVec3 {
        let here = self.translation_m(self.frame);
        let frames = side.frames(self.frame, self.clip.frame_count());
        slope(frames.map(|f| self.translation_m(f) - here), side)
    }
}

/// A joint's way from one motion to another: straight, with two points, or with the velocities of both on
/// a cubic Bézier curve, whose inner points are a third of the velocity times the time from either end.
struct Curve {
    rotations: Bow,
    translations_m: Vec<DVec3>,
}

/// The rotations of a curve.
enum Bow {
    /// By repeated slerp (K. Shoemake, "Animating rotation with quaternion curves", SIGGRAPH 1985).
    Sphere(Vec<Rotation>),
    /// By the angles of a joint that has few of them.
    Angles(Turns, Vec<DVec3>),
    /// Evenly about the vertical, by so many radians in all, maybe beyond half a turn, and the short way
    /// for what else there is between two rotations.
    Spin(Ground, f64, [Rotation; 2]),
}

impl Curve {
    fn new(
        turns: Option<Turns>,
        from: Knot<'_>,
        to: Knot<'_>,
        (order, steps): (Order, f64),
    ) -> Self {
        let third = steps / 3.0;
        let (a, b) = (from.rotation(from.frame), to.rotation(to.frame));
        let (p, q) = (from.translation_m(from.frame), to.translation_m(to.frame));
        let start = turns.as_ref().map(|turns| turns.angles(a, DVec3::ZERO)).unwrap_or_default();
        let (rotations, translations_m) = match (order, turns) {
            (Order::Linear, None) => (Bow::Sphere(vec![a, b]), vec![p, q]),
            (Order::Linear, Some(turns)) => {
                let end = turns.angles(b, start);
                (Bow::Angles(turns, vec![start, end]), vec![p, q])
            }
            (Order::Cubic, turns) => {
                let inner = |a: DVec3, b: DVec3, velocity: &dyn Fn(&Knot<'_>, Side) -> DVec3| {
                    let (before, after) =
                        (velocity(&from, Side::Before), velocity(&to, Side::After));
                    vec![a, a + before * third, b - after * third, b]
                };
                let rotations = match turns {
                    Some(turns) => {
                        let velocity = |k: &Knot<'_>, side| k.angles_turning(&turns, side);
                        let angles = inner(start, turns.angles(b, start), &velocity);
                        Bow::Angles(turns, angles)
                    }
                    None => {
                        let turned = |v: DVec3| Rotation::exp(v * third).unwrap_or_default();
                        let (before, after) = (from.turning(Side::Before), to.turning(Side::After));
                        Bow::Sphere(vec![a, a * turned(before), b * turned(-after), b])
                    }
                };
                (rotations, inner(p, q, &|k, side| k.moving(side)))
            }
        };
        Self { rotations, translations_m }
    }

    /// Between its ends it turns about the vertical by this, radians: the short way may be the wrong one.
    fn spin(&mut self, ground: Ground, turn: f64) {
        if let Bow::Sphere(points) = &self.rotations
            && let [a, .., b] = points[..]
        {
            let back = ground.turn(Angle::from_radians(-turn).wrapped());
            self.rotations = Bow::Spin(ground, turn, [a, back * b]);
        }
    }

    fn rotation(&self, u: f64) -> Rotation {
        match &self.rotations {
            Bow::Spin(ground, turn, [a, b]) => {
                ground.turn(Angle::from_radians(turn * u).wrapped()) * a.slerp(*b, u)
            }
            Bow::Sphere(points) => bezier(points, |a, b| a.slerp(b, u)),
            Bow::Angles(turns, points) => turns.rotation(bezier(points, |a, b| a.lerp(b, u))),
        }
    }

    fn translation_m(&self, u: f64) -> DVec3 {
        bezier(&self.translations_m, |a, b| a.lerp(b, u))
    }
}

/// De Casteljau: points between neighbours, until one is left.
fn bezier<T: Copy + Default>(points: &[T], between: impl Fn(T, T) -> T) -> T {
    let mut points = points.to_vec();
    while points.len() > 1 {
        points = points.windows(2).map(|w| between(w[0], w[1])).collect();
    }
    points.first().copied().unwrap_or_default()
}

/// What the first motion has more than the second, and how fast that changes per frame. Rotations differ
/// by a turn in the parent's space, or by angles where a joint has few of them.
struct Offset {
    turns: Option<Turns>,
    turn: DVec3,
    turning: DVec3,
    shift: DVec3,
    shifting: DVec3,
}

impl Offset {
    fn new(
        turns: Option<Turns>,
        joint: JointIndex,
        (a, i): (&Clip, usize),
        (b, k): (&Clip, usize),
    ) -> Self {
        // The frames before; where there are none, what would have been there at the same velocity.
        let before = |clip: &Clip, frame: usize| {
            let at =
                |f: usize| (clip.rotation(joint, index(f)), clip.translation_m(joint, index(f)));
            let (here, place) = at(frame);
            let there = match frame.checked_sub(1) {
                Some(f) => at(f),
                None if frame + 1 < clip.frame_count() => {
                    let (next, next_place) = at(frame + 1);
                    (here * next.inverse() * here, place * 2.0 - next_place)
                }
                None => (here, place),
            };
            ([here, there.0], [place, there.1])
        };
        let ([ra, past_ra], [pa, past_pa]) = before(a, i);
        let ([rb, past_rb], [pb, past_pb]) = before(b, k);
        let (turn, past) = match &turns {
            Some(turns) => {
                let vb = turns.angles(rb, DVec3::ZERO);
                let va = turns.angles(ra, vb);
                (va - vb, turns.angles(past_ra, va) - turns.angles(past_rb, vb))
            }
            None => {
                let turn = (ra * rb.inverse()).log();
                (turn, nearest((past_ra * past_rb.inverse()).log(), turn))
            }
        };
        let (shift, past_shift) = (pa - pb, past_pa - past_pb);
        Self { turns, turn, turning: turn - past, shift, shifting: shift - past_shift }
    }
}

/// The rotation vector of the same rotation that is nearest to another one: near half a turn two
/// opposite ones are.
pub(super) fn nearest(v: DVec3, to: DVec3) -> DVec3 {
    let length = v.length();
    if length == 0.0 {
        return v;
    }
    let other = v * ((length - TAU) / length);
    if (other - to).length_squared() < (v - to).length_squared() { other } else { v }
}

/// How much is left of an offset, and of its velocity times the whole time, after a share of it: the
/// polynomials of fifth degree that end without velocity and acceleration and begin without acceleration.
fn fading(s: f64) -> (f64, f64) {
    let (s3, s4, s5) = (s * s * s, s * s * s * s, s * s * s * s * s);
    (1.0 - 10.0 * s3 + 15.0 * s4 - 6.0 * s5, s - 6.0 * s3 + 8.0 * s4 - 3.0 * s5)
}

/// Frames of a clip as a clip of their own.
fn part(clip: &Clip, frames: Range<usize>) -> Result<Clip, EditError> {
    Ok(clip.at_frames(frames.map(as_f64), clip.rate(), None)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{interpolate, jump_quantile, jumps};
    use crate::motion::{FrameRate, World};
    use crate::skeleton::Joint;
    use crate::synth::Gait;

    const METHODS: [Method; 7] = [
        Method::BlendSteps(Easing::Sine),
        Method::Interpolate { frames: 12, order: Order::Linear },
        Method::Interpolate { frames: 12, order: Order::Cubic },
        Method::Blend(Easing::Sine),
        Method::Blend(Easing::Linear),
        Method::Blend(Easing::Quintic),
        Method::Inertialize { frames: 25 },
    ];

    fn gait(frames: usize, gait: Gait) -> (Skeleton, Clip) {
        gait.generate(frames, FrameRate::from_fps(100.0).unwrap()).unwrap()
    }

    /// Two walks of one kind, at other places, that face elsewhere: the second's frame 40 is as the
    /// first's frame 100.
    fn walks() -> (Skeleton, [Clip; 2]) {
        let first = Gait { facing: Angle::from_degrees(170.0), ..Gait::default() };
        let (skeleton, a) = gait(150, first);
        // 60 frames later in the cycle of one second.
        let second = Gait {
            facing: Angle::from_degrees(-60.0),
            start_m: DVec3::new(5.0, 0.0, 3.0),
            phase: 0.6,
            ..first
        };
        let (_, b) = gait(150, second);
        (skeleton, [a, b])
    }

    fn world(skeleton: &Skeleton, clip: &Clip, frame: usize) -> World {
        clip.pose(index(frame)).world(skeleton)
    }

    #[test]
    fn where_motions_are_the_same_every_method_goes_on_as_if_nothing_were() {
        let (skeleton, [a, b]) = walks();
        let facing = Facing::of(&skeleton);
        let at = Overlap { first: 100, second: 40, frames: 30 };
        for method in METHODS.into_iter().filter(|m| !matches!(m, Method::Interpolate { .. })) {
            for keep in [Keep::First, Keep::Second] {
                let out = connect(&skeleton, &facing, [&a, &b], at, keep, method).unwrap();
                // 60 frames between the two, whatever the method.
                assert_eq!(out.clip.frame_count(), 150 + 60);
                assert_eq!(out.made.end - out.second_first + 40, 100, "{method:?}");
                let (_, long) =
                    gait(210, Gait { facing: Angle::from_degrees(170.0), ..Gait::default() });
                for f in (0..210).step_by(7) {
                    let (got, want) = (world(&skeleton, &out.clip, f), world(&skeleton, &long, f));
                    for (p, q) in got.positions_m.iter().zip(&want.positions_m) {
                        assert!((*p - *q).length() < 1e-9, "{method:?} {keep:?} {f}: {p} {q}");
                    }
                }
            }
        }
    }

    /// What is above the pelvis of a figure.
    #[derive(Clone, Copy, Debug)]
    enum Above {
        /// A root that stays, as Bandai-Namco's: the pelvis goes about in it.
        Still,
        /// A root on the ground that goes along and sways.
        Along,
        /// A root that does all, with the pelvis fixed in it.
        Fixed,
        /// The same, with the pelvis turning in it.
        Turning,
    }

    /// The same motion with a joint above the pelvis.
    fn rooted(skeleton: &Skeleton, clip: &Clip, above: Above) -> (Skeleton, Clip) {
        let mut rooted = Skeleton::new();
        let root = rooted.add_root(Joint::new("Reference", DVec3::ZERO)).unwrap();
        for j in skeleton.indices() {
            let parent = skeleton.parent(j).map_or(root, |p| JointIndex::new(p.get() + 1));
            rooted.add(parent, skeleton[j].clone()).unwrap();
        }
        let pelvis = JointIndex::new(0);
        let low = DVec3::new(0.1, -0.4, 0.2);
        let at = |f: usize| {
            let (w, p) = (clip.rotation(pelvis, index(f)), clip.translation_m(pelvis, index(f)));
            let sway = Rotation::about_y(Angle::from_radians(0.3 + 0.02 * as_f64(f)));
            match above {
                Above::Still => (Rotation::IDENTITY, DVec3::ZERO),
                Above::Along => (sway, DVec3::new(0.7 * p.x, 0.0, 0.9 * p.z)),
                Above::Fixed => (w, p - w * low),
                Above::Turning => (sway, p - sway * low),
            }
        };
        let frames = 0..clip.frame_count();
        let pelvis_in = |f: usize| {
            let (r, t) = at(f);
            let (w, p) = (clip.rotation(pelvis, index(f)), clip.translation_m(pelvis, index(f)));
            (r.inverse() * w, r.inverse() * (p - t))
        };
        let track = |of: &dyn Fn(usize) -> (Rotation, DVec3)| {
            let every = crate::motion::KeyTimes::EveryFrame;
            let all = || frames.clone().map(of);
            let (turns, places) = (all().map(|a| a.0).collect(), all().map(|a| a.1).collect());
            Track::from_parts(turns, every.clone(), places, every)
        };
        let mut tracks = vec![track(&at), track(&pelvis_in)];
        tracks.extend_from_slice(&clip.tracks()[1..]);
        (rooted, Clip::new(clip.frame_count(), clip.rate(), tracks).unwrap())
    }

    #[test]
    fn what_is_above_the_pelvis_changes_nothing_below_it() {
        let (skeleton, [a, _]) = walks();
        let run = Gait { speed_m_s: 3.0, steps_per_s: 2.8, down: 0.36, ..Gait::default() };
        let far = DVec3::new(3.0, 0.0, -2.0);
        let (_, b) = gait(130, Gait { facing: Angle::from_degrees(50.0), start_m: far, ..run });
        let at = Overlap { first: 110, second: 20, frames: 24 };
        for above in [Above::Still, Above::Along, Above::Fixed, Above::Turning] {
            let ((other, ra), (_, rb)) =
                (rooted(&skeleton, &a, above), rooted(&skeleton, &b, above));
            let (facing, other_facing) = (Facing::of(&skeleton), Facing::of(&other));
            assert_eq!(other[other_facing.joint()].name, skeleton[facing.joint()].name);
            for method in METHODS {
                for keep in [Keep::First, Keep::Second] {
                    let want = connect(&skeleton, &facing, [&a, &b], at, keep, method).unwrap();
                    let got = connect(&other, &other_facing, [&ra, &rb], at, keep, method).unwrap();
                    let told = format!("{above:?} {method:?} {keep:?}");
                    assert_eq!((&got.made, got.second_first), (&want.made, want.second_first));
                    for f in 0..want.clip.frame_count() {
                        let (p, q) = (world(&other, &got.clip, f), world(&skeleton, &want.clip, f));
                        for (p, q) in p.positions_m[1..].iter().zip(&q.positions_m) {
                            assert!((*p - *q).length() < 1e-9, "{told} {f}: {p} {q}");
                        }
                        // Bones keep their lengths.
                        let bone = got.clip.translation_m(JointIndex::new(1), index(f));
                        let fixed = matches!(above, Above::Fixed | Above::Turning);
                        let low = DVec3::new(0.1, -0.4, 0.2);
                        assert!(!fixed || (bone - low).length() < 1e-9, "{told} {f}: {bone}");
                    }
                    // What is not made has its own numbers.
                    for f in 0..=got.first_last {
                        let (p, q) = (got.clip.pose(index(f)), ra.pose(index(f)));
                        assert_eq!(p.rotations[1].quat(), q.rotations[1].quat());
                        assert_eq!(p.translations_m[..2], q.translations_m[..2]);
                    }
                    let last = got.clip.frame_count() - 1;
                    let (p, q) = (got.clip.pose(index(last)), rb.pose(index(129)));
                    assert_eq!(p.rotations[1].quat(), q.rotations[1].quat());
                    assert_eq!(p.translations_m[1], q.translations_m[1]);
                }
            }
        }
    }

    #[test]
    fn a_blend_takes_the_pelvis_through_the_world_whatever_is_above_it() {
        let (skeleton, [a, b]) = walks();
        let share = |i: usize, f: usize| {
            let second = Easing::Sine.weight(f, 150);
            if i == 0 { 1.0 - second } else { second }
        };
        let want = crate::edit::blend(&skeleton, &[&a, &b], |i, _, f| share(i, f)).unwrap();
        for above in [Above::Still, Above::Along, Above::Fixed, Above::Turning] {
            let ((other, ra), (_, rb)) =
                (rooted(&skeleton, &a, above), rooted(&skeleton, &b, above));
            let got = crate::edit::blend(&other, &[&ra, &rb], |i, _, f| share(i, f)).unwrap();
            for f in 0..150 {
                let (p, q) = (world(&other, &got, f), world(&skeleton, &want, f));
                for (p, q) in p.positions_m[1..].iter().zip(&q.positions_m) {
                    assert!((*p - *q).length() < 1e-9, "{above:?} {f}: {p} {q}");
                }
            }
            for (f, own) in [(0, &ra), (149, &rb)] {
                let (p, q) = (got.pose(index(f)), own.pose(index(f)));
                assert_eq!(p.rotations[1].quat(), q.rotations[1].quat());
                assert_eq!(p.translations_m, q.translations_m);
            }
        }
    }

    #[test]
    fn frames_outside_of_the_seam_are_those_of_the_motions() {
        let (skeleton, [a, _]) = walks();
        let run = Gait { speed_m_s: 3.0, steps_per_s: 2.8, down: 0.36, ..Gait::default() };
        let (_, b) = gait(130, Gait { facing: Angle::from_degrees(50.0), ..run });
        let facing = Facing::of(&skeleton);
        let at = Overlap { first: 110, second: 20, frames: 24 };
        for method in METHODS {
            for keep in [Keep::First, Keep::Second] {
                let out = connect(&skeleton, &facing, [&a, &b], at, keep, method).unwrap();
                for f in 0..=out.first_last {
                    let (got, want) = (out.clip.pose(index(f)), a.pose(index(f)));
                    assert_eq!(got.rotations[3].quat(), want.rotations[3].quat());
                    assert_eq!(got.translations_m[0], want.translations_m[0]);
                }
                assert_eq!(out.made.start, out.first_last + 1);
                let mut moved = b.clone();
                out.placement.apply(&skeleton, &mut moved).unwrap();
                assert_eq!(out.clip.frame_count() - out.made.end, 130 - out.second_first);
                for k in out.second_first..130 {
                    let f = out.made.end + k - out.second_first;
                    let (got, want) = (out.clip.pose(index(f)), moved.pose(index(k)));
                    for (p, q) in got.rotations.iter().zip(&want.rotations) {
                        assert_eq!(p.quat(), q.quat());
                    }
                    assert_eq!(got.translations_m[0], want.translations_m[0]);
                    // Moved on the ground only.
                    let height = b.translation_m(JointIndex::new(0), index(k)).y;
                    assert!((got.translations_m[0].y - height).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn c7_eq_14_goes_on_as_in_the_last_two_frames_across_half_a_turn() {
        // Facing from 175° through ±180°: 20° in a second.
        let first = Gait {
            facing: Angle::from_degrees(175.0),
            turning: Angle::from_degrees(20.0),
            ..Gait::default()
        };
        let (skeleton, a) = gait(26, first);
        let (_, b) = gait(60, Gait::default());
        let facing = Facing::of(&skeleton);
        let at = Overlap { first: 16, second: 5, frames: 10 };
        let count = 9;
        let method = Method::Interpolate { frames: count, order: Order::Linear };
        let out = connect(&skeleton, &facing, [&a, &b], at, Keep::First, method).unwrap();
        let stand = |clip: &Clip, f| facing.stand_in(&skeleton, clip, index(f));
        let [before, end] = [24, 25].map(|f| stand(&a, f));
        let got = stand(&out.clip, out.made.end);
        // Eq 14.a, with 359.8° counted as −0.2°; eq 14.b on the ground.
        let n = as_f64(count) + 1.0;
        let step = end.facing.degrees() - before.facing.degrees();
        assert!((step + 359.8).abs() < 1e-6, "the test crosses nothing: {step}");
        let want = (end.facing.degrees() + n * 0.2 + 180.0).rem_euclid(360.0) - 180.0;
        assert!((got.facing.degrees() - want).abs() < 1e-6, "{got:?} {want}");
        let place = end.position_m + (end.position_m - before.position_m) * n;
        assert!(((got.position_m - place) * DVec3::new(1.0, 0.0, 1.0)).length() < 1e-9);
        // Not the height: it is the second motion's.
        let height = b.translation_m(JointIndex::new(0), index(15)).y;
        assert!((got.position_m.y - height).abs() < 1e-12);
        assert!((out.made.clone(), out.second_first) == (26..35, 15));
        // C5: the frames between are on the straight way.
        let (p, q) = (a.pose(index(25)), out.clip.pose(index(out.made.end)));
        for k in 1..=count {
            let want = interpolate(&p, &q, as_f64(k) / n);
            let got = out.clip.pose(index(25 + k));
            for (x, y) in got.rotations.iter().zip(&want.rotations) {
                assert!(x.distance(*y).radians() < 1e-12);
            }
        }
    }

    #[test]
    fn c7_eq_14_turns_on_beyond_half_a_turn() {
        // 6 degrees in a frame, and 37 steps: 222 degrees, not −138.
        let spin = Gait { turning: Angle::from_degrees(600.0), ..Gait::default() };
        let (skeleton, a) = gait(26, spin);
        let (_, b) = gait(60, Gait::default());
        let facing = Facing::of(&skeleton);
        let at = Overlap { first: 16, second: 5, frames: 10 };
        for (count, want) in [(36, 222.0), (89, 540.0)] {
            let method = Method::Interpolate { frames: count, order: Order::Linear };
            let out = connect(&skeleton, &facing, [&a, &b], at, Keep::First, method).unwrap();
            let stand = |f: usize| facing.stand_in(&skeleton, &out.clip, index(f));
            let steps = out.made.start..=out.made.end;
            let steps: Vec<f64> =
                steps.map(|f| turned(stand(f - 1), stand(f)).to_degrees()).collect();
            let all: f64 = steps.iter().sum();
            assert!((all - want).abs() < 1e-6, "{count}: {all}");
            assert!(steps.iter().all(|s| (s - 6.0).abs() < 0.5), "{count}: {steps:?}");
            // It stays upright.
            for f in out.made.clone() {
                let up = facing.place_in(&skeleton, &out.clip, index(f)).0 * DVec3::Y;
                assert!(up.y > 0.9, "{f}: {up}");
            }
        }
    }

    #[test]
    fn c8_eq_15_puts_the_second_where_the_window_of_the_first_begins() {
        let (skeleton, [a, _]) = walks();
        let run = Gait { speed_m_s: 3.0, steps_per_s: 2.8, down: 0.36, ..Gait::default() };
        let (_, b) = gait(130, run);
        let facing = Facing::of(&skeleton);
        let at = Overlap { first: 120, second: 20, frames: 30 };
        let out =
            connect(&skeleton, &facing, [&a, &b], at, Keep::First, Method::Blend(Easing::Sine))
                .unwrap();
        let mut moved = b.clone();
        out.placement.apply(&skeleton, &mut moved).unwrap();
        let [one, two] =
            [(&a, 120), (&moved, 20)].map(|(c, f)| facing.stand_in(&skeleton, c, index(f)));
        assert!((one.facing.degrees() - two.facing.degrees()).abs() < 1e-9);
        assert!(((one.position_m - two.position_m) * DVec3::new(1.0, 0.0, 1.0)).length() < 1e-12);
        for k in 1..29 {
            let share = Easing::Sine.weight(k, 30);
            let want = interpolate(&a.pose(index(120 + k)), &moved.pose(index(20 + k)), share);
            let got = out.clip.pose(index(120 + k));
            for (x, y) in got.rotations.iter().zip(&want.rotations) {
                assert!(x.distance(*y).radians() < 1e-12);
            }
            assert!((got.translations_m[0] - want.translations_m[0]).length() < 1e-12);
        }
    }

    #[test]
    fn smooth_methods_do_not_jerk_and_the_root_never_jumps() {
        let (skeleton, [a, _]) = walks();
        let run = Gait { speed_m_s: 3.0, steps_per_s: 2.8, down: 0.36, ..Gait::default() };
        let (_, b) = gait(130, Gait { facing: Angle::from_degrees(50.0), ..run });
        let facing = Facing::of(&skeleton);
        let at = Overlap { first: 110, second: 20, frames: 30 };
        let inside = |clip: &Clip| jump_quantile(&jumps(clip, 0..clip.frame_count()), 1.0);
        let usual = inside(&a).radians().max(inside(&b).radians());
        for method in METHODS {
            for keep in [Keep::First, Keep::Second] {
                let out = connect(&skeleton, &facing, [&a, &b], at, keep, method).unwrap();
                let seam = out.made.start.saturating_sub(2)..out.made.end + 2;
                let worst = jump_quantile(&jumps(&out.clip, seam.clone()), 1.0).radians();
                let rough = matches!(method, Method::Interpolate { order: Order::Linear, .. });
                assert!(rough || worst < 1.1 * usual, "{method:?} {keep:?}: {worst} of {usual}");
                for f in seam {
                    let [p, q] =
                        [f - 1, f].map(|f| facing.stand_in(&skeleton, &out.clip, index(f)));
                    // 3 m/s at 100 frames per second, and something for the easing.
                    assert!((p.position_m - q.position_m).length() < 0.06, "{method:?} {f}");
                    assert!(turned(p, q).abs() < 0.05, "{method:?} {f}: {}", turned(p, q));
                }
            }
        }
    }

    /// A motion as a file has it that turns its second joint about z and x only.
    fn two_turns(angles: impl Fn(usize) -> [f64; 2]) -> (Skeleton, Clip) {
        use std::fmt::Write as _;
        let mut text = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition \
            Zrotation Xrotation Yrotation\nJOINT b\n{\nOFFSET 0 10 0\nCHANNELS 2 Zrotation Xrotation\n\
            End Site\n{\nOFFSET 0 5 0\n}\n}\n}\nMOTION\nFrames: 100\nFrame Time: 0.01\n"
            .to_owned();
        for f in 0..100 {
            let [z, x] = angles(f);
            writeln!(text, "0 90 {f} 0 0 0 {z} {x}").unwrap();
        }
        let file =
            crate::formats::read(text.as_bytes(), None, &crate::formats::ReadOptions::default());
        let file = file.unwrap().file;
        (file.skeleton, file.clip.unwrap())
    }

    #[test]
    fn a_joint_with_two_turns_goes_by_its_angles_and_never_jumps() {
        let near = |f: usize| 3.0 * Angle::from_radians(0.1 * as_f64(f)).radians();
        let (skeleton, a) = two_turns(|f| [170.0 + near(f), -80.0]);
        // Half a turn and more from there about the other axis.
        let (_, b) = two_turns(|f| [-60.0, 100.0 - near(f)]);
        let facing = Facing::of(&skeleton);
        let joint = skeleton.find("b").unwrap();
        let at = Overlap { first: 50, second: 20, frames: 40 };
        for method in METHODS {
            for keep in [Keep::First, Keep::Second] {
                let out = connect(&skeleton, &facing, [&a, &b], at, keep, method).unwrap();
                assert!(Turns::of(&skeleton, &[&a, &out.clip], joint).is_some(), "{method:?}");
                let worst =
                    jump_quantile(&jumps(&out.clip, 1..out.clip.frame_count()), 1.0).degrees();
                // By angles it turns some 200 degrees in 12 frames or more.
                let kinks =
                    matches!(method, Method::Interpolate { .. } | Method::Blend(Easing::Linear));
                assert!(worst < if kinks { 2500.0 } else { 600.0 }, "{method:?}: {worst}");
                let far = |f: usize| {
                    let [p, q] = [f - 1, f].map(|f| out.clip.rotation(joint, index(f)));
                    p.distance(q).degrees()
                };
                let fastest = (1..out.clip.frame_count()).map(far).fold(0.0, f64::max);
                assert!(fastest < 45.0, "{method:?}: {fastest}");
            }
        }
    }

    #[test]
    fn who_lies_down_is_not_turned_by_blended_steps() {
        // On the back, and rocking about the line where the facing is that of the hips.
        let (skeleton, a) = gait(100, Gait::default());
        let root = skeleton.find("Hips").unwrap();
        let lie = |clip: &Clip, phase: f64| {
            let mut clip = clip.clone();
            for f in 0..100 {
                let (sine, _) = crate::math::trig::sin_cos(0.2 * as_f64(f) + phase);
                let tilt = Rotation::about_x(Angle::from_degrees(-70.0 + 3.0 * sine));
                clip.set_rotation(
                    root,
                    index(f),
                    tilt * Rotation::about_y(Angle::from_degrees(25.0)),
                );
            }
            clip
        };
        let (a, b) = (lie(&a, 0.0), lie(&a, 1.0));
        let facing = Facing::of(&skeleton);
        let at = Overlap { first: 50, second: 20, frames: 40 };
        let usual = jump_quantile(&jumps(&a, 0..100), 1.0).degrees();
        let method = Method::BlendSteps(Easing::Sine);
        let out = connect(&skeleton, &facing, [&a, &b], at, Keep::First, method).unwrap();
        let worst = jump_quantile(&jumps(&out.clip, out.made.clone()), 1.0).degrees();
        assert!(worst < 1.5 * usual, "{worst} of {usual}");
    }

    #[test]
    fn blended_steps_never_hurry() {
        let (skeleton, [a, _]) = walks();
        let run = Gait { speed_m_s: 3.0, steps_per_s: 2.8, down: 0.36, ..Gait::default() };
        let (_, b) = gait(130, Gait { facing: Angle::from_degrees(50.0), ..run });
        let facing = Facing::of(&skeleton);
        let at = Overlap { first: 110, second: 20, frames: 40 };
        let fastest = |method| {
            let out = connect(&skeleton, &facing, [&a, &b], at, Keep::First, method).unwrap();
            let place = |f| facing.stand_in(&skeleton, &out.clip, index(f)).position_m;
            let speed = |f: usize| {
                let step = place(f) - place(f - 1);
                100.0 * facing.ground().below(step).length()
            };
            (out.made.start..=out.made.end).map(speed).fold(0.0, f64::max)
        };
        let steps = fastest(Method::BlendSteps(Easing::Sine));
        assert!(steps < 3.0 + 1e-3, "{steps}");
        // By places it does.
        let places = fastest(Method::Blend(Easing::Sine));
        assert!(places > 3.3, "{places}");
    }

    #[test]
    fn short_motions_are_connected_or_refused() {
        let (skeleton, a) = gait(12, Gait::default());
        let (_, b) = gait(1, Gait::default());
        let facing = Facing::of(&skeleton);
        for method in METHODS {
            for keep in [Keep::First, Keep::Second] {
                for (x, y) in [(&a, &b), (&b, &a), (&b, &b)] {
                    for frames in [0, 1, 2, 13] {
                        let at = Overlap { first: 0, second: 0, frames };
                        let out = connect(&skeleton, &facing, [x, y], at, keep, method);
                        let fits = frames == 1;
                        assert_eq!(out.is_ok(), fits, "{method:?} {keep:?} {frames}");
                        if let Ok(out) = out {
                            assert!(out.made.end <= out.clip.frame_count());
                        }
                    }
                }
            }
        }
        let at = Overlap { first: 0, second: 0, frames: 1 };
        let many = Method::Interpolate { frames: usize::MAX, order: Order::Cubic };
        let error = connect(&skeleton, &facing, [&a, &b], at, Keep::First, many);
        assert!(matches!(error, Err(EditError::Clip(ClipError::TooManyFrames))));
        let slow = a.at_frames([0.0, 1.0], FrameRate::from_fps(3.0).unwrap(), None).unwrap();
        let at = Overlap { first: 0, second: 0, frames: 1 };
        let error = connect(&skeleton, &facing, [&a, &slow], at, Keep::First, Method::default());
        assert!(matches!(error, Err(EditError::OtherRate { clip: 1 })));
    }
}
