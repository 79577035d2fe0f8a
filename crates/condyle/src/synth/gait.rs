//! A walk or a run with feet that stay where they are put.

use std::f64::consts::TAU;

use glam::DVec3;

use super::{Figure, MAX_FRAMES, SynthError};
use crate::math::{Angle, Points, Rotation, Rotations, direct_rotation, trig};
use crate::motion::{Clip, FrameRate, KeyTimes, Track};
use crate::skeleton::Skeleton;

/// How the [human figure](Figure::human) walks: forward (+z at the start), y up. A foot that is down
/// does not move at all. The motion is made by geometry, not recorded, and does not care for the
/// figure's limits; a foot that the leg cannot reach is let go.
///
/// ```
/// use condyle::motion::FrameRate;
/// use condyle::synth::Gait;
///
/// let rate = FrameRate::from_fps(120.0).ok_or("no rate")?;
/// let walk = Gait { speed_m_s: 1.3, ..Gait::default() };
/// let run = Gait { speed_m_s: 3.0, steps_per_s: 2.8, down: 0.36, ..Gait::default() };
/// let (skeleton, clip) = walk.generate(240, rate)?;
/// assert_eq!((skeleton.len(), clip.frame_count()), (26, 240));
/// assert!(run.generate(240, rate).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gait {
    /// How fast, metres per second.
    pub speed_m_s: f64,
    /// Steps of both feet together per second.
    pub steps_per_s: f64,
    /// The share of the time that a foot is down: above ½ for a walk, below for a run.
    pub down: f64,
    /// The facing at the start, counter-clockwise seen from above.
    pub facing: Angle,
    /// How fast the way turns to the left, per second.
    pub turning: Angle,
    /// Where the hips are at the start, on the ground, metres.
    pub start_m: DVec3,
    /// Where in the cycle of two steps it starts, from 0 to 1.
    pub phase: f64,
}

impl Default for Gait {
    fn default() -> Self {
        Self {
            speed_m_s: 1.3,
            steps_per_s: 2.0,
            down: 0.62,
            facing: Angle::ZERO,
            turning: Angle::ZERO,
            start_m: DVec3::ZERO,
            phase: 0.0,
        }
    }
}

impl Gait {
    /// The figure's skeleton and so many frames.
    ///
    /// # Errors
    ///
    /// [`SynthError::FrameCount`] for none or more than [`MAX_FRAMES`], and [`SynthError::Gait`] if a
    /// number of the gait is not finite, there are no steps, or feet are down never or always.
    pub fn generate(&self, frames: usize, rate: FrameRate) -> Result<(Skeleton, Clip), SynthError> {
        if frames == 0 || frames > MAX_FRAMES {
            return Err(SynthError::FrameCount { found: frames });
        }
        let numbers = [self.speed_m_s, self.phase, self.facing.radians(), self.turning.radians()];
        let good = numbers.iter().all(|n| n.is_finite())
            && self.start_m.is_finite()
            && self.steps_per_s.is_finite()
            && self.steps_per_s > 0.0
            && self.down > 0.0
            && self.down < 1.0;
        if !good {
            return Err(SynthError::Gait);
        }
        let skeleton = Figure::human().skeleton().clone();
        let mut rotations: Vec<Rotations> = vec![Rotations::with_capacity(frames); skeleton.len()];
        let mut hips = Points::new();
        for frame in 0..frames {
            #[allow(clippy::cast_precision_loss, reason = "frames are below 2^24")]
            let time = frame as f64 * rate.frame_time_s();
            let pose = self.pose(&skeleton, time);
            for (to, rotation) in rotations.iter_mut().zip(pose.0) {
                to.push(rotation);
            }
            hips.push(pose.1);
        }
        let every = KeyTimes::EveryFrame;
        let tracks =
            skeleton.indices().zip(rotations).map(|(j, rotations)| match skeleton.parent(j) {
                None => Track::from_parts(rotations, every.clone(), hips.clone(), every.clone()),
                Some(_) => Track::turning(rotations, skeleton[j].offset_m),
            });
        let clip = Clip::new(frames, rate, tracks.collect()).map_err(SynthError::Clip)?;
        Ok((skeleton, clip))
    }

    /// Facing and place on the ground at a time: a line or a circle.
    fn way(&self, time: f64) -> (Rotation, DVec3) {
        let turned = self.turning.radians() * time;
        let facing = Rotation::about_y(Angle::from_radians(self.facing.radians() + turned));
        // The chord of the circle, which has the mean direction and this length.
        let half = 0.5 * turned;
        let (sine, _) = trig::sin_cos(half);
        let shorter = if half.abs() < 1e-6 { 1.0 } else { sine / half };
        let middle = Rotation::about_y(Angle::from_radians(self.facing.radians() + half));
        (facing, self.start_m + middle * DVec3::Z * (self.speed_m_s * time * shorter))
    }

    fn pose(&self, skeleton: &Skeleton, time: f64) -> (Vec<Rotation>, DVec3) {
        let (sin, cos) = (|x: f64| trig::sin_cos(x).0, |x: f64| trig::sin_cos(x).1);
        let mut rotations: Vec<Rotation> = skeleton.joints().iter().map(|j| j.rest).collect();
        let about = |axis: DVec3, degrees: f64| {
            Rotation::from_axis_angle(axis, Angle::from_degrees(degrees)).unwrap_or_default()
        };
        let (facing, ground) = self.way(time);
        let cycles = 0.5 * self.steps_per_s * time + self.phase;
        let phase = TAU * cycles;
        // Up when a leg is under the body.
        let root = ground + DVec3::Y * (0.845 + 0.01 * cos(2.0 * phase));
        let mut set = |name: &str, rotation: Rotation| {
            if let Some(j) = skeleton.find(name) {
                rotations[j.get()] = rotation;
            }
        };
        set("Hips", facing);
        let sway = 5.0 * sin(phase);
        set("Spine", about(DVec3::Y, sway) * about(DVec3::X, 2.0 + 2.0 * self.speed_m_s));
        set("Neck", about(DVec3::Y, -sway));
        for (side, half, sign) in [("Left", 0.0, 1.0), ("Right", 0.5, -1.0)] {
            // Arms hang and go with the other leg.
            let swing = -20.0 * (1.0 + 0.3 * self.speed_m_s) * cos(phase + TAU * half);
            let hang = about(DVec3::X, swing) * about(DVec3::Z, -sign * 75.0);
            set(&format!("{side}Arm"), hang);
            set(&format!("{side}ForeArm"), about(DVec3::Y, -sign * (25.0 + 0.3 * swing.abs())));
            // The leg reaches for the foot.
            let (ankle, foot) = self.foot(cycles + half, sign, time);
            let place = |name: &str| skeleton.find(&format!("{side}{name}"));
            let offset = |name: &str| place(name).map_or(DVec3::ZERO, |j| skeleton[j].offset_m);
            let hip = root + facing * (offset("HipJoint") + offset("UpLeg"));
            let (thigh, shank) = (offset("Leg").length(), offset("Foot").length());
            let to = facing.inverse() * (ankle - hip);
            let far = to.length().clamp((thigh - shank).abs() + 1e-3, thigh + shank - 1e-4);
            // The law of cosines at the hip and at the knee.
            let angle = |a: f64, b: f64, c: f64| {
                let cos = (a * a + b * b - c * c) / (2.0 * a * b);
                trig::acos(cos.clamp(-1.0, 1.0)).to_degrees()
            };
            let aim = direct_rotation(DVec3::NEG_Y, to).map(|d| d.rotation).unwrap_or_default();
            let upper = aim * about(DVec3::X, -angle(thigh, far, shank));
            let knee = about(DVec3::X, 180.0 - angle(thigh, shank, far));
            set(&format!("{side}UpLeg"), upper);
            set(&format!("{side}Leg"), knee);
            set(&format!("{side}Foot"), (facing * upper * knee).inverse() * foot);
        }
        (rotations, root)
    }

    /// Where the ankle of a side is and how its foot lies: still while it is down, which it is from the
    /// start of its cycle.
    fn foot(&self, cycles: f64, sign: f64, time: f64) -> (DVec3, Rotation) {
        // The ankle above the sole.
        const HEIGHT: f64 = 0.08;
        let period = 2.0 / self.steps_per_s;
        let within = cycles - cycles.floor();
        // Down where the hip is in the middle of its time on the ground.
        let step = |ahead: f64| {
            let middle = time + (ahead + 0.5 * self.down - within) * period;
            let (facing, place) = self.way(middle);
            (facing, place + facing * DVec3::X * (sign * 0.09) + DVec3::Y * HEIGHT)
        };
        let (facing, place) = step(0.0);
        if within < self.down {
            return (place, facing);
        }
        let (next_facing, next_place) = step(1.0);
        let share = (within - self.down) / (1.0 - self.down);
        // Without velocity at both ends.
        let eased = share * share * (3.0 - 2.0 * share);
        let arch = trig::sin_cos(share * TAU * 0.5).0;
        let lifted = DVec3::Y * (0.12 * arch * arch);
        (place.lerp(next_place, eased) + lifted, facing.slerp(next_facing, eased))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::WorldTracks;

    #[test]
    fn feet_that_are_down_stay_and_the_way_is_as_told() {
        let walk = Gait {
            facing: Angle::from_degrees(40.0),
            turning: Angle::from_degrees(20.0),
            start_m: DVec3::new(2.0, 0.0, -1.0),
            ..Gait::default()
        };
        let run = Gait { speed_m_s: 3.0, steps_per_s: 2.8, down: 0.36, ..walk };
        for gait in [walk, run] {
            let (skeleton, clip) = gait.generate(360, FrameRate::from_fps(120.0).unwrap()).unwrap();
            let world = WorldTracks::of(&skeleton, &clip);
            let mut still = [0; 2];
            for (k, name) in ["LeftFoot", "RightFoot"].into_iter().enumerate() {
                let foot = skeleton.find(name).unwrap();
                for f in 1..360 {
                    let [a, b] = [f - 1, f].map(|f| world.position_m(foot, f));
                    still[k] += usize::from((a - b).length() < 1e-9);
                    assert!(b.y > 0.079);
                }
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let expected = (0.9 * gait.down * 360.0) as usize;
            assert!(still.iter().all(|n| *n > expected), "{still:?} of {expected}");
            let hips = skeleton.find("Hips").unwrap();
            let at = |f| world.position_m(hips, f);
            assert!(((at(0) - walk.start_m) * DVec3::new(1.0, 0.0, 1.0)).length() < 1e-12);
            let speed = (at(180) - at(179)).length() * 120.0;
            assert!((speed - gait.speed_m_s).abs() < 0.2, "{speed}");
        }
    }

    #[test]
    fn gaits_that_are_none_are_refused() {
        let rate = FrameRate::from_fps(100.0).unwrap();
        for bad in [
            Gait { down: 1.0, ..Gait::default() },
            Gait { steps_per_s: 0.0, ..Gait::default() },
            Gait { speed_m_s: f64::NAN, ..Gait::default() },
        ] {
            assert!(matches!(bad.generate(10, rate), Err(SynthError::Gait)));
        }
        assert!(Gait::default().generate(0, rate).is_err());
    }
}
