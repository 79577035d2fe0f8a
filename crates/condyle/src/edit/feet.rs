//! Feet that are on the ground, and stay there.

use std::ops::Range;

use glam::DVec3;

use super::Ground;
use super::blend::{as_f64, index};
use super::reach::Reach;
use crate::anatomy::{Anatomy, BodyJoint};
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

    /// The joints that bend: hip, knee and ankle.
    pub(super) const fn bending(&self) -> [JointIndex; 3] {
        [self.hip, self.knee, self.ankle]
    }

    /// A place for the ankle that the leg reaches without being stretched straight.
    pub(super) fn within(&self, world: &World, ankle_m: DVec3) -> DVec3 {
        self.bends.within(world, ankle_m)
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
        Self { speed_m_s: 0.25, height_m: 0.03 }
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
    let of_leg = |places: &Vec<DVec3>| {
        let low = low_m(places, ground);
        let on = |f: usize| {
            let (a, b) = (f.saturating_sub(2), (f + 2).min(count - 1));
            let seconds = as_f64(b - a) * clip.rate().frame_time_s();
            let slow = (places[b] - places[a]).length() <= options.speed_m_s * seconds;
            slow && ground.height_m(places[f]) <= low + options.height_m
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
    soles(skeleton, clip, 0..count, legs).iter().map(of_leg).collect()
}

/// Where the [soles](Leg::sole) of legs are in some frames.
pub(super) fn soles(
    skeleton: &Skeleton,
    clip: &Clip,
    frames: Range<usize>,
    legs: &[Leg],
) -> Vec<Vec<DVec3>> {
    let mut pose = Pose::default();
    let mut world = World::new();
    let mut places: Vec<Vec<DVec3>> = vec![Vec::with_capacity(frames.len()); legs.len()];
    for frame in frames {
        clip.pose_into(index(frame), &mut pose);
        world.update(skeleton, &pose);
        for (leg, places) in legs.iter().zip(&mut places) {
            places.push(world.positions_m[leg.sole().get()]);
        }
    }
    places
}

/// The height that one place in twenty is below.
fn low_m(places: &[DVec3], ground: Ground) -> f64 {
    let mut heights: Vec<f64> = places.iter().map(|p| ground.height_m(*p)).collect();
    heights.sort_by(f64::total_cmp);
    heights.get(heights.len() / 20).copied().unwrap_or(0.0)
}

/// The same of the lower one of some soles.
pub(super) fn lowest_m(soles: &[Vec<DVec3>], ground: Ground) -> f64 {
    soles.iter().map(|places| low_m(places, ground)).fold(f64::INFINITY, f64::min)
}

/// The runs of a value.
pub(super) fn runs(values: &[bool], value: bool) -> Vec<Range<usize>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Angle, angle_between};
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
    fn runs_are_found_up_to_both_ends() {
        assert_eq!(runs(&[true, true, false, true], true), [0..2, 3..4]);
        assert_eq!(runs(&[true, true, false, true], false), vec![2..3]);
        assert!(runs(&[], true).is_empty());
    }
}
