//! Feet that are on the ground, and stay there.

use std::ops::Range;

use glam::DVec3;

use super::blend::{as_f64, index};
use super::reach::Reach;
use super::{Connected, Easing, Facing, Ground, Placement, jump_quantile, jumps};
use crate::anatomy::{Anatomy, BodyJoint};
use crate::math::Angle;
use crate::motion::turns::Turns;
use crate::motion::{Clip, Pose, World};
use crate::skeleton::{JointIndex, Skeleton};

/// A leg: three joints in a row, and the toes if there are any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// Carries the thigh.
    pub hip: JointIndex,
    /// Carries the shank.
    pub knee: JointIndex,
    /// Carries the foot.
    pub ankle: JointIndex,
    /// Carries the toes.
    pub toes: Option<JointIndex>,
    bends: Reach,
}

impl Leg {
    /// The legs of a skeleton with [names that we know](Anatomy::of) whose knees hang on hips and ankles
    /// on knees, with no joints between.
    #[must_use]
    pub fn all(skeleton: &Skeleton, anatomy: &Anatomy) -> Vec<Self> {
        let is = |j: JointIndex, what| anatomy.name(j).is_some_and(|(name, _)| name == what);
        let leg = |ankle: JointIndex| {
            let knee = skeleton.parent(ankle).filter(|j| is(*j, BodyJoint::Knee))?;
            let hip = skeleton.parent(knee).filter(|j| is(*j, BodyJoint::Hip))?;
            let toes = skeleton.children(ankle).find(|j| is(*j, BodyJoint::Toes));
            let bends = Reach::new(skeleton, anatomy, [hip, knee, ankle], true)?;
            Some(Self { hip, knee, ankle, toes, bends })
        };
        skeleton.indices().filter(|j| is(*j, BodyJoint::Ankle)).filter_map(leg).collect()
    }

    /// What of it is on the ground the longest: the toes, or else the ankle.
    #[must_use]
    pub fn sole(&self) -> JointIndex {
        self.toes.unwrap_or(self.ankle)
    }

    /// Bends knee and hip so that the ankle of a pose is at a place in the world, or as near as the bones
    /// reach. The knee bends about its own axis, if its file gives it one, or that of flexion; the hip turns
    /// as little as it can, and the foot keeps its rotation in the world. `world` is that of the pose.
    ///
    /// # Panics
    ///
    /// If the pose is not one of the leg's skeleton.
    pub fn reach(&self, skeleton: &Skeleton, pose: &mut Pose, world: &World, ankle_m: DVec3) {
        self.bends.reach(skeleton, pose, world, ankle_m);
    }
}

/// When a foot counts as on the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactOptions {
    /// Slower than this, metres per second, over five frames.
    pub speed_m_s: f64,
    /// Not higher than this above its lowest place, which is the one that 5 % of its frames are below,
    /// metres.
    pub height_m: f64,
}

impl Default for ContactOptions {
    fn default() -> Self {
        Self { speed_m_s: 0.25, height_m: 0.05 }
    }
}

/// In which frames each leg's foot is on the ground: its [`sole`](Leg::sole) is low and slow. Contacts of
/// fewer than three frames, and gaps of fewer, do not count.
///
/// # Panics
///
/// If the clip has another number of joints than the skeleton.
#[must_use]
pub fn contacts(
    skeleton: &Skeleton,
    clip: &Clip,
    ground: Ground,
    legs: &[Leg],
    options: &ContactOptions,
) -> Vec<Vec<bool>> {
    const SHORT: usize = 3;
    let count = clip.frame_count();
    let mut pose = Pose::default();
    let mut world = World::new();
    let mut places: Vec<Vec<DVec3>> = vec![Vec::with_capacity(count); legs.len()];
    for frame in clip.frames() {
        clip.pose_into(frame, &mut pose);
        world.update(skeleton, &pose);
        for (leg, places) in legs.iter().zip(&mut places) {
            places.push(world.positions_m[leg.sole().get()]);
        }
    }
    let of_leg = |places: &Vec<DVec3>| {
        let mut heights: Vec<f64> = places.iter().map(|p| ground.height_m(*p)).collect();
        let mut sorted = heights.clone();
        sorted.sort_by(f64::total_cmp);
        let low = sorted.get(sorted.len() / 20).copied().unwrap_or(0.0);
        heights.iter_mut().for_each(|h| *h -= low);
        let on = |f: usize| {
            let (a, b) = (f.saturating_sub(2), (f + 2).min(count - 1));
            let seconds = as_f64(b - a) * clip.rate().frame_time_s();
            let slow = (places[b] - places[a]).length() <= options.speed_m_s * seconds;
            slow && heights[f] <= options.height_m
        };
        let mut on: Vec<bool> = (0..count).map(on).collect();
        for value in [false, true] {
            for run in runs(&on, value) {
                // What goes on before the first frame or after the last is not known to be short.
                if run.len() < SHORT && run.start > 0 && run.end < count {
                    on[run].fill(!value);
                }
            }
        }
        on
    };
    places.iter().map(of_leg).collect()
}

/// Contacts of two motions as one: a foot that is up for a moment between them only is not lifted.
fn without_gaps(mut down: Vec<bool>) -> Vec<bool> {
    const MOMENT: usize = 8;
    let last = down.len();
    for gap in runs(&down, false) {
        if gap.len() < MOMENT && gap.start > 0 && gap.end < last {
            down[gap].fill(true);
        }
    }
    down
}

/// The runs of a value.
fn runs(values: &[bool], value: bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (i, v) in values.iter().enumerate() {
        match (start, *v == value) {
            (None, true) => start = Some(i),
            (Some(from), false) => {
                found.push(from..i);
                start = None;
            }
            _ => {}
        }
    }
    found.extend(start.map(|from| from..values.len()));
    found
}

impl Connected {
    /// Keeps feet where they are while they are on the ground, in the frames that were made: by the
    /// contacts of the two motions, the first's in the first half. A foot that is down before the seam
    /// stays there, one that is down after it is there already; one that is down on both sides, at
    /// different places, slides evenly. A foot that would have to be moved by more than 12 cm to stay is let
    /// go, and where that would change the angular velocity of a joint by more than 1.5 times what is usual
    /// in the motions the foot slides. Between contacts what was moved fades.
    ///
    /// Before that the whole figure goes with its feet: it is moved on the ground against what those that are
    /// down slide, as far as the pelvis gets no rougher and no faster than in the motions, and the second
    /// motion goes on from where that leads. Heights stay, and of joints only hips, knees and ankles change.
    ///
    /// `motions` are those that were connected.
    ///
    /// # Panics
    ///
    /// If a motion is not one of the skeleton.
    pub fn plant_feet(
        &mut self,
        skeleton: &Skeleton,
        facing: &Facing,
        [first, second]: [&Clip; 2],
        options: &ContactOptions,
    ) -> Planted {
        let legs =
            Anatomy::of(skeleton).map_or_else(Vec::new, |anatomy| Leg::all(skeleton, &anatomy));
        let ground = facing.ground();
        let made = self.made.clone();
        let most_m = options.speed_m_s * self.clip.rate().frame_time_s();
        let mut told =
            Planted { legs: legs.len(), moved: 0, sliding: 0, most_m, start: 0, down: Vec::new() };
        if legs.is_empty() || made.is_empty() {
            return told;
        }
        let before = contacts(skeleton, first, ground, &legs, options);
        let after = contacts(skeleton, second, ground, &legs, options);
        // One frame more on either side: the last and the first of the motions.
        let span = made.start - 1..made.end + 1;
        let down = |before: &Vec<bool>, after: &Vec<bool>| {
            let is_down = |f: usize| {
                let own = before.get(f).copied();
                let other = (f + self.second_first).checked_sub(made.end);
                let other = other.and_then(|f| after.get(f).copied());
                let early = 2 * (f + 1 - span.start) <= span.len();
                let sides = if early { [own, other] } else { [other, own] };
                sides.into_iter().flatten().next().unwrap_or(false)
            };
            without_gaps(span.clone().map(is_down).collect())
        };
        let down: Vec<Vec<bool>> = before.iter().zip(&after).map(|(b, a)| down(b, a)).collect();
        self.go_with_feet(skeleton, facing, [first, second], &legs, &down);
        let in_motions = [first, second].map(|clip| jumps(clip, 0..clip.frame_count()));
        let usual = jump_quantile(in_motions.iter().flatten(), 0.99).radians();
        let roughness = |clip: &Clip| jump_quantile(&jumps(clip, span.clone()), 1.0).radians();
        let mut moved = vec![false; span.len()];
        for (leg, down) in legs.iter().zip(&down) {
            let mut poses: Vec<Pose> = span.clone().map(|f| self.clip.pose(index(f))).collect();
            let soles: Vec<DVec3> = poses
                .iter()
                .map(|pose| pose.world(skeleton).positions_m[leg.sole().get()])
                .collect();
            let turns = [leg.hip, leg.knee, leg.ankle]
                .map(|joint| Turns::of(skeleton, &[first, second], joint));
            let mut planted = self.clip.clone();
            let mut frames = Vec::new();
            for (k, shift) in shifts(down, &soles).into_iter().enumerate() {
                if shift.length() <= 1e-6 {
                    continue;
                }
                let world = poses[k].world(skeleton);
                let goal = world.positions_m[leg.ankle.get()] + shift;
                leg.reach(skeleton, &mut poses[k], &world, goal);
                for (joint, turns) in [leg.hip, leg.knee, leg.ankle].into_iter().zip(&turns) {
                    let found = poses[k].rotations[joint.get()];
                    let rotation = turns.as_ref().map_or(found, |turns| turns.nearest(found));
                    planted.set_rotation(joint, index(span.start + k), rotation);
                }
                frames.push(k);
            }
            // Rather a foot that slides than a leg that jerks.
            if roughness(&planted) <= (1.5 * usual).max(roughness(&self.clip)) {
                self.clip = planted;
                frames.into_iter().for_each(|k| moved[k] = true);
            }
        }
        told.moved = moved.into_iter().filter(|is| *is).count();
        told.start = span.start;
        told.down = legs.iter().map(Leg::sole).zip(down).collect();
        told.sliding = told.sliding_in(skeleton, &self.clip);
        told
    }

    /// Moves the figure on the ground against what the feet that are down slide; what is left of it when the
    /// second motion begins stays, and that goes on from there. Slides are evened out as much as the pelvis
    /// needs to be no rougher and no faster than in the motions; if that is not enough, nothing is moved.
    fn go_with_feet(
        &mut self,
        skeleton: &Skeleton,
        facing: &Facing,
        motions: [&Clip; 2],
        legs: &[Leg],
        down: &[Vec<bool>],
    ) {
        // Over how many seconds on either side, and how much of it.
        const EVEN: [(f64, f64); 4] = [(0.04, 1.0), (0.08, 1.0), (0.16, 1.0), (0.16, 0.5)];
        let ground = facing.ground();
        let (start, count) = (self.made.start - 1, self.clip.frame_count());
        let span = down.first().map_or(0, Vec::len);
        let soles: Vec<Vec<DVec3>> = (start..start + span)
            .map(|f| {
                let world = self.clip.pose(index(f)).world(skeleton);
                legs.iter().map(|leg| world.positions_m[leg.sole().get()]).collect()
            })
            .collect();
        let slide = |k: usize| {
            let legs = down.iter().enumerate().filter(|(_, down)| k > 0 && down[k - 1] && down[k]);
            let slides: Vec<DVec3> = legs.map(|(i, _)| soles[k][i] - soles[k - 1][i]).collect();
            ground.below(slides.iter().sum::<DVec3>() / as_f64(slides.len().max(1)))
        };
        let slides: Vec<DVec3> = (0..span).map(slide).collect();
        let place = |clip: &Clip, f: usize| facing.place_in(skeleton, clip, index(f)).1;
        let places = |clip: &Clip, frames: Range<usize>| -> Vec<DVec3> {
            frames.map(|f| place(clip, f)).collect()
        };
        let mut usual: Vec<f64> =
            motions.iter().flat_map(|c| bends(&places(c, 0..c.frame_count()))).collect();
        usual.sort_by(f64::total_cmp);
        let usual = usual.get(usual.len() * 99 / 100).copied().unwrap_or(0.0);
        // One frame more on either side.
        let around = start.saturating_sub(1)..(start + span + 1).min(count);
        let pelvis = places(&self.clip, around.clone());
        // The fastest that the pelvis goes, and the largest change of that.
        let figures = |path: &[DVec3]| {
            let moved = pelvis.iter().zip(around.clone());
            let moved: Vec<DVec3> = moved.map(|(p, f)| *p + at(path, start, f)).collect();
            (fastest(&moved), bends(&moved).into_iter().fold(0.0, f64::max))
        };
        let fast = motions.map(|c| fastest(&places(c, 0..c.frame_count())));
        let own = figures(&[]);
        let most = (own.0.max(fast[0]).max(fast[1]), own.1.max(1.5 * usual));
        let fits = |path: &Vec<DVec3>| {
            let (fast, rough) = figures(path);
            fast <= most.0 && rough <= most.1
        };
        let fps = self.clip.rate().nominal_fps();
        let paths = EVEN.iter().map(|(seconds, share)| against(&slides, fps * seconds, *share));
        let Some(path) = paths.into_iter().find(fits) else { return };
        let shift = at(&path, start, count);
        for j in skeleton.indices().filter(|j| skeleton.parent(*j).is_none()) {
            for f in start + 1..count {
                let by = at(&path, start, f);
                let place = self.clip.translation_m(j, index(f)) + by;
                if by != DVec3::ZERO && place.is_finite() {
                    self.clip.set_translation_m(j, index(f), place);
                }
            }
        }
        self.placement = self.placement.then(Placement::new(ground, Angle::ZERO, shift));
    }
}

/// Where a path is in a frame that starts in another one: nowhere before, and where it ends after it.
fn at(path: &[DVec3], start: usize, frame: usize) -> DVec3 {
    let here = frame.checked_sub(start).and_then(|k| path.get(k).or(path.last()));
    here.copied().unwrap_or_default()
}

/// The longest step.
fn fastest(places: &[DVec3]) -> f64 {
    places.windows(2).map(|w| w[1].distance(w[0])).fold(0.0, f64::max)
}

/// By how much the velocity changes in each place but the first and the last, per frame.
fn bends(places: &[DVec3]) -> Vec<f64> {
    places.windows(3).map(|w| (w[2] - w[1] * 2.0 + w[0]).length()).collect()
}

/// The way against a share of some slides, evened out over as many frames on either side, twice. It begins
/// and ends gently.
fn against(slides: &[DVec3], frames: f64, share: f64) -> Vec<DVec3> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate is positive, and what is too large saturates"
    )]
    let half = (frames.round() as usize).min(slides.len());
    let evened = |steps: &[DVec3]| -> Vec<DVec3> {
        let mean = |k: usize| {
            let around = k.saturating_sub(half)..(k + half + 1).min(steps.len());
            // Beyond both ends nothing slides.
            steps[around].iter().sum::<DVec3>() / as_f64(2 * half + 1)
        };
        (0..steps.len()).map(mean).collect()
    };
    let last = slides.len().saturating_sub(1);
    let steps = evened(&evened(slides));
    let mut way = DVec3::ZERO;
    let step = |(k, step): (usize, &DVec3)| {
        let gently = as_f64(k.min(last - k)) / as_f64(half.max(1));
        way -= *step * (share * gently.min(1.0));
        way
    };
    steps.iter().enumerate().map(step).collect()
}

/// What became of feet that were to be kept where they are.
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub struct Planted {
    /// How many legs are known.
    pub legs: usize,
    /// In how many frames a foot was moved.
    pub moved: usize,
    /// In how many of the frames that were made a foot that should be down is faster than
    /// [one that is](ContactOptions::speed_m_s) all the same: it was let go, or slides.
    pub sliding: usize,
    /// As far as a foot that is down may go in a frame, metres.
    most_m: f64,
    /// The frame before the first that was made.
    start: usize,
    /// The soles, and whether each is down in the frames from `start` to the one after the last that was made.
    down: Vec<(JointIndex, Vec<bool>)>,
}

impl Planted {
    /// [`sliding`](Self::sliding), in a clip that was changed since then: by limits, or as a whole.
    ///
    /// # Panics
    ///
    /// If the clip is of another skeleton or ends before the frames that were made.
    #[must_use]
    pub fn sliding_in(&self, skeleton: &Skeleton, clip: &Clip) -> usize {
        let span = self.down.first().map_or(0, |(_, down)| down.len());
        let worlds: Vec<World> =
            (self.start..self.start + span).map(|f| clip.pose(index(f)).world(skeleton)).collect();
        let mut sliding = vec![false; span];
        for (sole, down) in &self.down {
            let place = |k: usize| worlds[k].positions_m[sole.get()];
            for k in (1..span).filter(|k| down[*k] && down[k - 1]) {
                // The step into the frame after the last that was made is that one's.
                sliding[k.min(span - 2)] |= place(k).distance(place(k - 1)) > self.most_m;
            }
        }
        sliding.into_iter().filter(|is| *is).count()
    }
}

/// A foot that would have to be moved farther than this to stay, metres, is let go.
const LET_GO_M: f64 = 0.12;

/// How far to move a foot in each frame so that it stays where it is while it is down. In the first and
/// the last frame it is not moved.
fn shifts(down: &[bool], places: &[DVec3]) -> Vec<DVec3> {
    let last = places.len().saturating_sub(1);
    let mut known: Vec<Option<DVec3>> = vec![None; places.len()];
    for run in runs(down, true) {
        let anchor = |f: usize| match (run.start == 0, run.end > last) {
            (true, true) => places[0].lerp(places[last], Easing::Cubic.weight(f, places.len())),
            (true, false) => places[0],
            (false, true) => places[last],
            (false, false) => places[run.start],
        };
        let near = |f: &usize| (anchor(*f) - places[*f]).length() <= LET_GO_M;
        // From where it stands on, until it is too far.
        let held: Vec<usize> = if run.start > 0 && run.end > last {
            run.clone().rev().take_while(near).collect()
        } else {
            run.clone().take_while(near).collect()
        };
        for f in held {
            known[f] = Some(anchor(f) - places[f]);
        }
    }
    known[0] = Some(DVec3::ZERO);
    known[last] = Some(DVec3::ZERO);
    let mut shifts = vec![DVec3::ZERO; places.len()];
    let mut before = 0;
    for f in 0..places.len() {
        let Some(here) = known[f] else { continue };
        let from = shifts[before];
        for (k, shift) in shifts[before..f].iter_mut().enumerate().skip(1) {
            *shift = from.lerp(here, Easing::Cubic.weight(k, f - before + 1));
        }
        shifts[f] = here;
        before = f;
    }
    shifts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Keep, Method, Overlap, connect};
    use crate::math::angle_between;
    use crate::motion::{FrameRate, WorldTracks};
    use crate::synth::Gait;

    fn gait(frames: usize, gait: Gait) -> (Skeleton, Clip) {
        gait.generate(frames, FrameRate::from_fps(100.0).unwrap()).unwrap()
    }

    #[test]
    fn feet_are_down_when_the_gait_puts_them_down() {
        for walk in [
            Gait { turning: Angle::from_degrees(15.0), ..Gait::default() },
            Gait { speed_m_s: 3.0, steps_per_s: 2.8, down: 0.36, ..Gait::default() },
        ] {
            let (skeleton, clip) = gait(400, walk);
            let legs = Leg::all(&skeleton, &Anatomy::of(&skeleton).unwrap());
            assert_eq!(legs.len(), 2);
            let options = ContactOptions::default();
            let found = contacts(&skeleton, &clip, Ground::Y_UP, &legs, &options);
            let world = WorldTracks::of(&skeleton, &clip);
            for (leg, found) in legs.iter().zip(&found) {
                // The feet of the figure stand still to the last digit.
                let still = |f: usize| {
                    let at = |f| world.position_m(leg.sole(), f);
                    (at(f) - at(f - 1)).length() < 1e-9
                };
                let wrong = (1..400).filter(|f| still(*f) != found[*f]).count();
                // Some frames at both ends of each of four to six steps.
                assert!(wrong < 50, "{wrong}");
                let right = (1..400).filter(|f| still(*f) && found[*f]).count();
                assert!(right > 100, "{right}");
            }
        }
    }

    #[test]
    fn a_leg_reaches_and_its_foot_stays_level() {
        let (skeleton, clip) = gait(60, Gait::default());
        let legs = Leg::all(&skeleton, &Anatomy::of(&skeleton).unwrap());
        for f in (0..60).step_by(7) {
            for leg in &legs {
                let mut pose = clip.pose(index(f));
                let world = pose.world(&skeleton);
                let [hip, ankle] = [leg.hip, leg.ankle].map(|j| world.positions_m[j.get()]);
                // A little nearer to the hip, and aside.
                let goal = ankle.lerp(hip, 0.08) + DVec3::new(0.03, 0.0, -0.02);
                leg.reach(&skeleton, &mut pose, &world, goal);
                let after = pose.world(&skeleton);
                assert!((after.positions_m[leg.ankle.get()] - goal).length() < 1e-9);
                let foot = |w: &World| w.rotations[leg.ankle.get()];
                assert!(foot(&after).distance(foot(&world)).radians() < 1e-9);
                // Too far: straight towards it.
                let mut far = clip.pose(index(f));
                leg.reach(&skeleton, &mut far, &world, hip + (goal - hip) * 3.0);
                let reached = far.world(&skeleton).positions_m[leg.ankle.get()];
                assert!(angle_between(reached - hip, goal - hip).radians() < 1e-6);
            }
        }
    }

    #[test]
    fn planted_feet_slide_less_and_only_legs_change() {
        let (skeleton, a) = gait(150, Gait::default());
        let run = Gait { speed_m_s: 2.4, steps_per_s: 2.6, down: 0.42, ..Gait::default() };
        // In the first frames of the windows both put the left foot down.
        let (_, b) = gait(150, Gait { facing: Angle::from_degrees(50.0), phase: 0.74, ..run });
        let facing = Facing::of(&skeleton);
        let options = ContactOptions::default();
        let at = Overlap { first: 100, second: 20, frames: 40 };
        let plain =
            connect(&skeleton, &facing, [&a, &b], at, Keep::First, Method::Blend(Easing::Sine))
                .unwrap();
        let mut planted = plain.clone();
        let told = planted.plant_feet(&skeleton, &facing, [&a, &b], &options);
        assert!(told.legs == 2 && told.moved > 5 && told.sliding == 0, "{told:?}");
        // Where a foot would have to go too far it is let go, and that is told.
        let sliding = |second: usize| {
            let at = Overlap { second, ..at };
            let method = Method::Blend(Easing::Sine);
            let found = connect(&skeleton, &facing, [&a, &b], at, Keep::First, method);
            found.unwrap().plant_feet(&skeleton, &facing, [&a, &b], &options).sliding
        };
        assert!((0..100).step_by(10).any(|second| sliding(second) > 3));
        let legs = Leg::all(&skeleton, &Anatomy::of(&skeleton).unwrap());
        let down = [&a, &b].map(|clip| contacts(&skeleton, clip, facing.ground(), &legs, &options));
        let slide = |clip: &Clip| {
            let world = WorldTracks::of(&skeleton, clip);
            let mut total = 0.0;
            for (k, leg) in legs.iter().enumerate() {
                let at = |f| world.position_m(leg.sole(), f);
                // The first motion's steps in the first half, the second's in the second.
                let on = |f: &usize| match f - 100 {
                    n if n < 20 => down[0][k][*f] && down[0][k][f - 1],
                    n => down[1][k][n + 20] && down[1][k][n + 19],
                };
                for f in plain.made.clone().filter(on) {
                    total += (at(f) - at(f - 1)).length();
                }
            }
            total
        };
        let (before, after) = (slide(&plain.clip), slide(&planted.clip));
        assert!(before > 0.05 && after < 0.05 * before, "{after} m of {before} m");
        let legs: Vec<JointIndex> = legs.iter().flat_map(|l| [l.hip, l.knee, l.ankle]).collect();
        for f in 0..plain.clip.frame_count() {
            let (p, q) = (plain.clip.pose(index(f)), planted.clip.pose(index(f)));
            for j in skeleton.indices() {
                let same = p.rotations[j.get()].quat() == q.rotations[j.get()].quat();
                assert!(same || (legs.contains(&j) && plain.made.contains(&f)), "{f} {j:?}");
            }
        }
    }

    #[test]
    fn runs_and_shifts_meet_at_their_ends() {
        assert_eq!(runs(&[true, true, false, true], true), [0..2, 3..4]);
        assert_eq!(runs(&[true, true, false, true], false), vec![2..3]);
        assert_eq!(without_gaps(vec![true, false, true, false]), [true, true, true, false]);
        // A foot that goes 4 cm a frame.
        let places: Vec<DVec3> = (0..8).map(|f| DVec3::X * 0.04 * f64::from(f)).collect();
        let got = shifts(&[true, true, true, true, true, false, false, false], &places);
        assert_eq!(got[0], DVec3::ZERO);
        assert_eq!(got[2], DVec3::NEG_X * 0.08);
        // 12 cm and more are too far, but for rounding: it fades.
        assert!(got[4].x > -0.12 && got[4].x < 0.0 && got[5].x > got[4].x);
        assert_eq!(got[7], DVec3::ZERO);
        let back = shifts(&[false, false, false, false, true, true, true, true], &places);
        assert!((back[5] - DVec3::X * 0.08).length() < 1e-12 && back[3].x < 0.12);
    }
}
