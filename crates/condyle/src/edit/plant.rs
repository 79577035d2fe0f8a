//! Feet that are kept where they are while they are on the ground.

use std::ops::Range;

use glam::DVec3;

use super::blend::{as_f64, index};
use super::feet::{lowest_m, runs, soles};
use super::hold::Hold;
use super::{
    Connected, ContactOptions, Easing, Facing, Leg, Placement, UsualJumps, contacts, joint_jumps,
    quantile,
};
use crate::anatomy::{Anatomy, NameTable};
use crate::math::{Angle, Rotation};
use crate::motion::turns::Turns;
use crate::motion::{Clip, Pose, World};
use crate::skeleton::{JointIndex, Skeleton};

/// A foot is down in a frame that was made if the motions which are so much of it have it down.
const MOSTLY: f64 = 0.8;

/// Soles of a figure may be so much apart when both are on the ground, metres: captures have them so.
const UNEVEN_M: f64 = 0.02;

/// A foot that would have to be moved farther than this to stay, metres, is let go.
const LET_GO_M: f64 = 0.12;

/// How gently a foot is held, in seconds, and how much of what it takes. Of those that legs can do as smoothly as
/// in the motions, the one is taken with which the foot slides least.
const WAYS: [(f64, f64); 12] = [
    (0.005, 1.0),
    (0.01, 1.0),
    (0.02, 1.0),
    (0.04, 1.0),
    (0.08, 1.0),
    (0.08, 0.8),
    (0.08, 0.6),
    (0.16, 1.0),
    (0.16, 0.8),
    (0.16, 0.6),
    (0.16, 0.4),
    (0.16, 0.2),
];

impl Connected {
    /// Keeps feet where they are while they are on the ground, in the frames that were made. A foot is, where
    /// it is in both motions, or in the one that nearly all of the frame is from, and its sole is near the
    /// ground in the frame itself.
    ///
    /// A foot that is down before the seam stays there, one that is down after it is there already; one that is
    /// down on both sides, at different places, slides evenly. In the first and the last frame that were made
    /// it is not moved, and it is never moved by more than 12 cm: then it is let go. Legs are not stretched to
    /// more than 99 % of their length for it, but for those that are already; and where a hip, a knee or an
    /// ankle would change its angular velocity by more than 1.5 times what is usual of it in the motions, the
    /// foot is held more gently, or less of the way, and slides.
    ///
    /// Before that the whole figure goes with its feet: it is moved on the ground against what those that are
    /// down slide, as far as the pelvis gets no rougher and no faster than in the motions, and the second
    /// motion goes on from where that leads. Heights stay, and of joints only hips, knees and ankles change.
    ///
    /// `motions` are those that were connected, and `names` tables of the names of their joints, before ours.
    ///
    /// # Panics
    ///
    /// If a motion is not one of the skeleton.
    pub fn plant_feet(
        &mut self,
        skeleton: &Skeleton,
        facing: &Facing,
        (motions, names): ([&Clip; 2], &[NameTable]),
        options: &ContactOptions,
    ) -> Planted {
        let anatomy = Anatomy::in_motion(skeleton, &motions, names);
        let legs = anatomy.map_or_else(Vec::new, |anatomy| Leg::all(skeleton, &anatomy));
        let made = self.made.clone();
        let most_m = options.speed_m_s * self.clip.rate().frame_time_s();
        let mut told =
            Planted { legs: legs.len(), moved: 0, sliding: 0, most_m, start: 0, down: Vec::new() };
        if legs.is_empty() || made.is_empty() {
            return told;
        }
        // One frame more on either side: the last and the first of the motions.
        let span = made.start - 1..made.end + 1;
        let pins = self.pins(skeleton, facing, motions, &legs, options);
        let down: Vec<Vec<bool>> =
            pins.iter().map(|pins| pins.iter().map(|pin| *pin >= 0.5).collect()).collect();
        self.go_with_feet(skeleton, facing, motions, &legs, &down);
        let usual = UsualJumps::of(&motions);
        let mut moved = vec![false; span.len()];
        for (leg, pins) in legs.iter().zip(&pins) {
            for (k, rotations) in self.planted(skeleton, (motions, &usual), leg, pins) {
                for (joint, rotation) in leg.bending().into_iter().zip(rotations) {
                    self.clip.set_rotation(joint, index(span.start + k), rotation);
                }
                moved[k] = true;
            }
        }
        told.moved = moved.into_iter().filter(|is| *is).count();
        told.start = span.start;
        told.down = legs.iter().map(Leg::sole).zip(down).collect();
        told.sliding = told.sliding_in(skeleton, &self.clip);
        told
    }

    /// How much each foot is to stay where it is, from 0 to 1, in the frames that were made, the one before and
    /// the one after.
    fn pins(
        &self,
        skeleton: &Skeleton,
        facing: &Facing,
        motions: [&Clip; 2],
        legs: &[Leg],
        options: &ContactOptions,
    ) -> Vec<Vec<f64>> {
        let ground = facing.ground();
        let made = self.made.clone();
        let span = made.start - 1..made.end + 1;
        let [before, after] = motions.map(|clip| contacts(skeleton, clip, ground, legs, options));
        let lowest = motions
            .map(|clip| lowest_m(&soles(skeleton, clip, 0..clip.frame_count(), legs), ground));
        let high_m = lowest[0].min(lowest[1]) + options.height_m + UNEVEN_M;
        let here = soles(skeleton, &self.clip, span.clone(), legs);
        let of_leg = |leg: usize| {
            let low = |k: usize| ground.height_m(here[leg][k]) <= high_m;
            let pin = |k: usize| {
                let f = span.start + k;
                // Beyond its ends a motion stays as it is there.
                let is = |down: &[bool], f: usize| {
                    let down = down.get(f).or(down.last()).copied().unwrap_or(false);
                    f64::from(u8::from(down))
                };
                let second = (f + self.second_first).saturating_sub(made.end);
                let share = Easing::Sine.weight(k, span.len());
                let down = (1.0 - share) * is(&before[leg], f) + share * is(&after[leg], second);
                // 0.5 where a foot is just down.
                let least = 2.0 * MOSTLY - 1.0;
                if low(k) { ((down - least) / (1.0 - least)).clamp(0.0, 1.0) } else { 0.0 }
            };
            let mut pins: Vec<f64> = (0..span.len()).map(pin).collect();
            // Feet that are up for a moment between two contacts only, and low, are not lifted.
            const MOMENT: usize = 8;
            let up: Vec<bool> = pins.iter().map(|pin| *pin < 0.5).collect();
            for gap in runs(&up, true) {
                let inside = gap.start > 0 && gap.end < span.len();
                if inside && gap.len() < MOMENT && gap.clone().all(low) {
                    pins[gap].fill(1.0);
                }
            }
            pins
        };
        (0..legs.len()).map(of_leg).collect()
    }

    /// The rotations of hip, knee and ankle in the frames in which a foot is moved, counted from the one before
    /// those that were made.
    fn planted(
        &self,
        skeleton: &Skeleton,
        (motions, usual): ([&Clip; 2], &UsualJumps),
        leg: &Leg,
        pins: &[f64],
    ) -> Vec<(usize, [Rotation; 3])> {
        let span = self.made.start - 1..self.made.end + 1;
        let poses: Vec<Pose> = span.clone().map(|f| self.clip.pose(index(f))).collect();
        let worlds: Vec<World> = poses.iter().map(|pose| pose.world(skeleton)).collect();
        let soles: Vec<DVec3> = worlds.iter().map(|w| w.positions_m[leg.sole().get()]).collect();
        let turns = leg.bending().map(|joint| Turns::of(skeleton, &motions, joint));
        // What is usual of each joint, and what it has in these frames as they are.
        let most = leg.bending().map(|joint| {
            let own = joint_jumps(&self.clip, joint, span.clone());
            let own = quantile(own.into_iter().map(Angle::radians), 1.0);
            own.max(1.5 * usual.of_joint(joint).radians())
        });
        let fps = self.clip.rate().nominal_fps();
        // The way on which the foot slides least, and how far that is.
        let mut best = (slide_m(&soles, pins), Vec::new());
        for (gentle_s, share) in WAYS {
            let mut clip = Part::of(&self.clip, leg.bending(), span.clone());
            let (mut path, mut found) = (soles.clone(), Vec::new());
            let shifts = near(&Hold { fps, gentle_s }, &soles, pins);
            for (k, shift) in shifts.into_iter().enumerate().filter(|(_, s)| s.length() > 1e-6) {
                let moved = moved(skeleton, leg, (&poses[k], &worlds[k]), &turns, shift * share);
                clip.set(k, moved.0);
                found.push((k, moved.0));
                path[k] = moved.1;
            }
            // Rather a foot that slides than a leg that jerks.
            let smooth = (0..3).all(|j| clip.largest_jump(j) * fps <= most[j]);
            let slide = slide_m(&path, pins);
            if smooth && slide < best.0 {
                best = (slide, found);
            }
        }
        best.1
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

/// The rotations of some joints in a few frames of a clip, and in the frame before and after these.
struct Part {
    rotations: [Vec<Rotation>; 3],
    /// Where the first of the frames is.
    first: usize,
}

impl Part {
    fn of(clip: &Clip, joints: [JointIndex; 3], frames: Range<usize>) -> Self {
        let around = frames.start.saturating_sub(1)..(frames.end + 1).min(clip.frame_count());
        let of = |joint| around.clone().map(|f| clip.rotation(joint, index(f))).collect();
        Self { rotations: joints.map(of), first: frames.start - around.start }
    }

    fn set(&mut self, frame: usize, rotations: [Rotation; 3]) {
        for (all, rotation) in self.rotations.iter_mut().zip(rotations) {
            all[self.first + frame] = rotation;
        }
    }

    /// The largest change of a joint's angular velocity from frame to frame, in radians per frame.
    fn largest_jump(&self, joint: usize) -> f64 {
        let jump = |w: &[Rotation]| {
            ((w[1].inverse() * w[2]).log() - (w[0].inverse() * w[1]).log()).length()
        };
        self.rotations[joint].windows(3).map(jump).fold(0.0, f64::max)
    }
}

/// How far a foot goes while it is down.
fn slide_m(soles: &[DVec3], pins: &[f64]) -> f64 {
    let step = |k: usize| pins[k].min(pins[k - 1]) * soles[k].distance(soles[k - 1]);
    (1..soles.len()).map(step).sum()
}

/// Hip, knee and ankle of a pose whose foot is moved, and where its sole is then: not quite there, where the
/// leg would be straight, or its file gives its joints few turns.
fn moved(
    skeleton: &Skeleton,
    leg: &Leg,
    (pose, world): (&Pose, &World),
    turns: &[Option<Turns>; 3],
    shift: DVec3,
) -> ([Rotation; 3], DVec3) {
    let sole = leg.sole().get();
    let wanted = world.positions_m[sole] + shift;
    let mut goal = world.positions_m[leg.ankle.get()] + shift;
    let mut found = (leg.bending().map(|joint| pose.rotations[joint.get()]), wanted);
    // A foot that cannot stay as level as it was has its sole elsewhere: the ankle makes up for it.
    let times = if turns.iter().any(Option::is_some) { 2 } else { 1 };
    for _ in 0..times {
        let mut bent = pose.clone();
        leg.reach(skeleton, &mut bent, world, leg.within(world, goal));
        for (joint, turns) in leg.bending().into_iter().zip(turns) {
            let rotation = &mut bent.rotations[joint.get()];
            *rotation = turns.as_ref().map_or(*rotation, |turns| turns.nearest(*rotation));
        }
        let at = bent.world(skeleton).positions_m[sole];
        found = (leg.bending().map(|joint| bent.rotations[joint.get()]), at);
        goal += wanted - at;
    }
    found
}

/// How far to move a foot in each frame so that it stays where it is, never too far.
fn near(hold: &Hold, soles: &[DVec3], pins: &[f64]) -> Vec<DVec3> {
    const TIMES: usize = 4;
    // A step is held if both its ends are.
    let mut steps: Vec<f64> = pins.to_vec();
    for k in 1..pins.len() {
        steps[k] = pins[k].min(pins[k - 1]);
    }
    let mut shifts = hold.shifts(soles, &steps);
    for _ in 0..TIMES {
        let far = |k: &usize| shifts[*k].length() > LET_GO_M;
        let far: Vec<usize> = (0..shifts.len()).filter(far).collect();
        if far.is_empty() {
            return shifts;
        }
        far.into_iter().for_each(|k| steps[k] = 0.0);
        shifts = hold.shifts(soles, &steps);
    }
    let most = shifts.iter().map(|s| s.length()).fold(LET_GO_M, f64::max);
    shifts.iter_mut().for_each(|s| *s *= LET_GO_M / most);
    shifts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Keep, Method, Overlap, connect};
    use crate::motion::{FrameRate, WorldTracks};
    use crate::synth::Gait;

    fn gait(frames: usize, gait: Gait) -> (Skeleton, Clip) {
        gait.generate(frames, FrameRate::from_fps(100.0).unwrap()).unwrap()
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
        let told = planted.plant_feet(&skeleton, &facing, ([&a, &b], &[]), &options);
        // The right foot is up in the run all the time: it leaves the ground within three frames.
        assert!(told.legs == 2 && told.moved > 5 && told.sliding <= 3, "{told:?}");
        // Where a foot would have to go too far it is let go, and that is told.
        let sliding = |second: usize| {
            let at = Overlap { second, ..at };
            let method = Method::Blend(Easing::Sine);
            let found = connect(&skeleton, &facing, [&a, &b], at, Keep::First, method);
            found.unwrap().plant_feet(&skeleton, &facing, ([&a, &b], &[]), &options).sliding
        };
        assert!((0..100).step_by(10).any(|second| sliding(second) > 3));
        let legs = Leg::all(&skeleton, &Anatomy::of(&skeleton).unwrap());
        let down = [&a, &b].map(|clip| contacts(&skeleton, clip, facing.ground(), &legs, &options));
        let slide = |clip: &Clip| {
            let world = WorldTracks::of(&skeleton, clip);
            let mut total = 0.0;
            for (k, leg) in legs.iter().enumerate() {
                let at = |f| world.position_m(leg.sole(), f);
                // Where both motions have it down.
                let both = |f: usize| down[0][k][f] && down[1][k][f - 80];
                let on = |f: &usize| both(*f) && both(f - 1);
                for f in plain.made.clone().filter(on) {
                    total += (at(f) - at(f - 1)).length();
                }
            }
            total
        };
        let (before, after) = (slide(&plain.clip), slide(&planted.clip));
        assert!(before > 0.015 && after < 0.2 * before, "{after} m of {before} m");
        let legs: Vec<JointIndex> = legs.iter().flat_map(|l| [l.hip, l.knee, l.ankle]).collect();
        for f in 0..plain.clip.frame_count() {
            let (p, q) = (plain.clip.pose(index(f)), planted.clip.pose(index(f)));
            for j in skeleton.indices() {
                let same = p.rotations[j.get()].quat() == q.rotations[j.get()].quat();
                assert!(same || (legs.contains(&j) && plain.made.contains(&f)), "{f} {j:?}");
            }
        }
    }

    /// Two gaits whose left feet are down when the windows begin, connected.
    fn seam(
        at: Overlap,
        change: impl Fn(&Skeleton, &mut [Clip; 2]),
    ) -> (Skeleton, [Clip; 2], Connected) {
        let (skeleton, a) = gait(150, Gait::default());
        let run = Gait { speed_m_s: 2.4, steps_per_s: 2.6, down: 0.42, ..Gait::default() };
        let (_, b) = gait(150, Gait { facing: Angle::from_degrees(50.0), phase: 0.74, ..run });
        let mut clips = [a, b];
        change(&skeleton, &mut clips);
        let facing = Facing::of(&skeleton);
        let both = [&clips[0], &clips[1]];
        let method = Method::BlendSteps(Easing::Sine);
        let out = connect(&skeleton, &facing, both, at, Keep::First, method).unwrap();
        (skeleton, clips, out)
    }

    #[test]
    fn planted_legs_are_no_rougher_and_no_straighter_whatever_thumbs_do() {
        let is_leg = |skeleton: &Skeleton, j: JointIndex| {
            let legs = Leg::all(skeleton, &Anatomy::of(skeleton).unwrap());
            legs.iter().any(|leg| leg.bending().contains(&j))
        };
        for second in (0..100).step_by(10) {
            let at = Overlap { first: 100, second, frames: 40 };
            let planted = |flips: bool| {
                let (skeleton, clips, plain) = seam(at, |skeleton, clips| {
                    // Half a turn to and fro: something that hangs on nothing of the legs.
                    let hand = skeleton.indices().last().filter(|j| !is_leg(skeleton, *j)).unwrap();
                    for clip in clips.iter_mut().filter(|_| flips) {
                        for f in (0..150).filter(|f| f % 3 == 0) {
                            let turned = Rotation::about_x(Angle::from_degrees(170.0));
                            clip.set_rotation(hand, index(f), turned);
                        }
                    }
                });
                let facing = Facing::of(&skeleton);
                let mut out = plain.clone();
                let both = [&clips[0], &clips[1]];
                let _ = out.plant_feet(&skeleton, &facing, (both, &[]), &ContactOptions::default());
                (skeleton, clips, plain, out)
            };
            let (skeleton, clips, plain, out) = planted(false);
            let usual = UsualJumps::of(&[&clips[0], &clips[1]]);
            let worlds = [&plain, &out].map(|out| WorldTracks::of(&skeleton, &out.clip));
            let span = out.made.start - 1..out.made.end + 1;
            for leg in Leg::all(&skeleton, &Anatomy::of(&skeleton).unwrap()) {
                for joint in leg.bending() {
                    let most = |clip: &Clip| {
                        let all = joint_jumps(clip, joint, span.clone());
                        quantile(all.into_iter().map(Angle::radians), 1.0)
                    };
                    let limit = most(&plain.clip).max(1.5 * usual.of_joint(joint).radians());
                    assert!(most(&out.clip) <= limit * (1.0 + 1e-9), "{second} {joint:?}");
                    // Nothing is moved in the first and the last frame.
                    for f in [out.made.start, out.made.end - 1] {
                        let [a, b] = [&plain, &out].map(|o| o.clip.rotation(joint, index(f)));
                        assert_eq!(a.quat(), b.quat());
                    }
                }
                for f in out.made.clone() {
                    let [own, now] = [0, 1].map(|k| {
                        let [hip, knee, ankle] = leg.bending().map(|j| worlds[k].position_m(j, f));
                        hip.distance(ankle) / (hip.distance(knee) + knee.distance(ankle))
                    });
                    assert!(now <= own.max(0.99) + 1e-9, "{second} {f}: {now} {own}");
                }
            }
            // A hand that flips changes nothing of it.
            let (_, _, _, flips) = planted(true);
            for f in out.made.clone() {
                for joint in skeleton.indices().filter(|j| is_leg(&skeleton, *j)) {
                    let [a, b] = [&out, &flips].map(|o| o.clip.rotation(joint, index(f)));
                    assert!(a.distance(b).degrees() < 1e-9, "{second} {f} {joint:?}");
                }
            }
        }
    }

    #[test]
    fn a_foot_that_is_raised_in_one_motion_is_not_held_in_the_air() {
        // Somebody who stands, and then holds one foot some centimetres up and a little ahead.
        let (skeleton, walk) = gait(150, Gait::default());
        let legs = Leg::all(&skeleton, &Anatomy::of(&skeleton).unwrap());
        let facing = Facing::of(&skeleton);
        let down = contacts(&skeleton, &walk, facing.ground(), &legs, &ContactOptions::default());
        let both = (0..150).find(|f| down.iter().all(|down| down[*f])).unwrap();
        let stands = |lifted_m: f64| {
            let mut pose = walk.pose(index(both));
            let world = pose.world(&skeleton);
            let place = world.positions_m[legs[0].ankle.get()];
            let goal = place + (facing.ground().up() + facing.ground().forward()) * lifted_m;
            legs[0].reach(&skeleton, &mut pose, &world, goal);
            let mut clip = walk.clone();
            for f in 0..150 {
                for j in skeleton.indices() {
                    clip.set_rotation(j, index(f), pose.rotations[j.get()]);
                    clip.set_translation_m(j, index(f), pose.translations_m[j.get()]);
                }
            }
            clip
        };
        let at = Overlap { first: 100, second: 20, frames: 40 };
        for lifted_m in [0.04, 0.07, 0.1] {
            let (a, b) = (stands(0.0), stands(lifted_m));
            for clips in [[&a, &b], [&b, &a]] {
                let method = Method::BlendSteps(Easing::Sine);
                let plain = connect(&skeleton, &facing, clips, at, Keep::First, method).unwrap();
                let mut out = plain.clone();
                let _ =
                    out.plant_feet(&skeleton, &facing, (clips, &[]), &ContactOptions::default());
                let worlds = [&plain, &out].map(|out| WorldTracks::of(&skeleton, &out.clip));
                let height = |k: usize, f: usize| {
                    let low = a.pose(index(0)).world(&skeleton).positions_m[legs[0].sole().get()];
                    let here = worlds[k].position_m(legs[0].sole(), f);
                    facing.ground().height_m(here - low)
                };
                // Where it is well up it goes as it did, but for what fades; it never stops there.
                for f in plain.made.clone().filter(|f| height(0, *f) > 0.05) {
                    let apart = (height(1, f) - height(0, f)).abs();
                    assert!(apart < 0.015, "{lifted_m} {f}: {apart} of {}", height(0, f));
                }
            }
        }
    }
}
