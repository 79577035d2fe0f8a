//! A pelvis that is lowered where legs are too short for where their feet should be.

use glam::DVec3;

use super::reach::STRETCHED;
use crate::motion::FrameIndex;

/// How a pelvis was lowered so that legs reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lowered {
    /// By how much at most, in metres.
    pub most_m: f64,
    /// The first frame with it.
    pub frame: FrameIndex,
    /// In how many frames it is lowered by more than a millimetre.
    pub frames: usize,
}

/// The pelvis is lowered by at most this share of the leg.
const MOST: f64 = 0.1;

/// So much is rounding, in metres.
const ROUNDING_M: f64 = 1e-9;

/// A frame counts for those around it up to so far away, in seconds; so the pelvis is on its way there and back
/// for twice as long.
pub(super) const AROUND_S: f64 = 0.25;

/// A leg of which the foot is wanted elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    /// From where the foot should be to the hip.
    pub(super) to_hip_m: DVec3,
    /// How far the foot is from the hip as it is.
    pub(super) own_m: f64,
    /// The length of the straight leg.
    pub(super) leg_m: f64,
}

impl Stretch {
    /// By how much the hip has to be lowered for the leg to reach, in metres. A leg that is more than 45 degrees
    /// from the vertical counts less, and beyond 60 degrees not at all: lowering does not bring it nearer.
    pub(super) fn need_m(&self, up: DVec3) -> f64 {
        let reach_m = self.reach_m();
        let far_m = self.to_hip_m.length();
        if far_m <= reach_m {
            return 0.0;
        }
        let height_m = self.to_hip_m.dot(up);
        let across = (self.to_hip_m - up * height_m).length_squared();
        let below_m = height_m - (reach_m * reach_m - across).max(0.0).sqrt();
        let need_m = self.counts(up) * below_m.min(MOST * self.leg_m);
        if need_m > ROUNDING_M { need_m } else { 0.0 }
    }

    /// As far as the leg may be stretched.
    pub(super) fn reach_m(&self) -> f64 {
        (STRETCHED * self.leg_m).max(self.own_m.min(self.leg_m))
    }

    /// How much the leg counts, from 0 to 1.
    pub(super) fn counts(&self, up: DVec3) -> f64 {
        let upright = self.to_hip_m.dot(up) / self.to_hip_m.length().max(ROUNDING_M);
        let [least, all] = [0.5, std::f64::consts::FRAC_1_SQRT_2];
        ((upright - least) / (all - least)).clamp(0.0, 1.0)
    }
}

/// The least smooth course that is nowhere below what is needed: the largest need of the frames around each,
/// so many on either side, evened out three times over a third of them.
pub(super) fn course(needs: &[f64], around: usize) -> Vec<f64> {
    let around = around.min(needs.len());
    let third = around / 3;
    let mut course = largest_around(needs, 3 * third);
    for _ in 0..3 {
        course = mean_around(&course, third);
    }
    // Rounding of sums must not leave less than nothing, nor a foot out of reach.
    course.iter().zip(needs).map(|(by, need)| by.max(*need)).collect()
}

/// The largest of the numbers around each.
fn largest_around(all: &[f64], around: usize) -> Vec<f64> {
    let mut largest = Vec::with_capacity(all.len());
    // Places of numbers that no later one exceeds, falling.
    let mut falling = std::collections::VecDeque::new();
    let mut next = 0;
    for i in 0..all.len() {
        while next < all.len() && next <= i + around {
            while falling.back().is_some_and(|last: &usize| all[*last] <= all[next]) {
                falling.pop_back();
            }
            falling.push_back(next);
            next += 1;
        }
        while falling.front().is_some_and(|first| first + around < i) {
            falling.pop_front();
        }
        largest.push(falling.front().map_or(0.0, |first| all[*first]));
    }
    largest
}

/// The mean of the numbers around each; the first and the last go on.
fn mean_around(all: &[f64], around: usize) -> Vec<f64> {
    let Some(last) = all.len().checked_sub(1) else { return Vec::new() };
    // Sums from the first on.
    let mut sums = Vec::with_capacity(all.len() + 1);
    sums.push(0.0);
    for x in all {
        sums.push(sums[sums.len() - 1] + x);
    }
    let mean = |i: usize| {
        let (low, high) = (i.saturating_sub(around), (i + around).min(last));
        let [before, after] = [around - (i - low), around - (high - i)];
        let sum = sums[high + 1] - sums[low] + before as f64 * all[0] + after as f64 * all[last];
        sum / (2 * around + 1) as f64
    };
    (0..all.len()).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leg_that_is_too_short_reaches_from_where_the_hip_is_lowered_to() {
        let up = DVec3::Y;
        for (across, height, own_m) in [(0.0, 0.9, 0.8), (0.3, 0.86, 0.8), (0.5, 0.72, 0.849)] {
            let to_hip_m = DVec3::new(across, height, 0.0);
            let leg = Stretch { to_hip_m, own_m, leg_m: 0.85 };
            let need_m = leg.need_m(up);
            let reach = (to_hip_m - up * need_m).length();
            assert!(need_m > 0.0 && need_m < 0.085, "{need_m}");
            assert!((reach - own_m.max(0.99 * 0.85)).abs() < 1e-12, "{reach}");
        }
        let need_m = |x: f64, y: f64| {
            let to_hip_m = DVec3::new(x, y, 0.0);
            Stretch { to_hip_m, own_m: 0.8, leg_m: 0.85 }.need_m(up)
        };
        // One that reaches needs nothing, one that is far away no more than a tenth, and one that is level, or
        // above the hip, nothing.
        assert!(need_m(0.0, 0.84) == 0.0);
        assert!((need_m(0.0, 2.0) - 0.085).abs() < 1e-15);
        assert!(need_m(0.9, 0.2) == 0.0 && need_m(0.2, -0.9) == 0.0);
        // It does not jump on the way from standing to level.
        let turned = |k: i32| {
            let (sin, cos) = crate::math::trig::sin_cos(f64::from(k) * 0.001);
            need_m(0.9 * sin, 0.9 * cos)
        };
        assert!((0..1570).all(|k| (turned(k + 1) - turned(k)).abs() < 1e-3));
    }

    #[test]
    fn the_course_is_above_what_is_needed_and_goes_there_and_back_evenly() {
        let mut needs = vec![0.0; 200];
        needs[80] = 0.03;
        needs[95] = 0.01;
        let by = course(&needs, 30);
        assert!(by.iter().zip(&needs).all(|(by, need)| by >= need));
        // The need of frame 80 counts up to 30 frames away, and that is evened out over as many.
        assert!(by[..20].iter().chain(&by[156..]).all(|by| *by == 0.0));
        assert!(by.iter().all(|by| *by <= 0.03 + 1e-15));
        // Twice as far at most as half a wave of that height and 60 frames bends.
        let bend = |w: &[f64]| (w[0] - 2.0 * w[1] + w[2]).abs();
        let wave = 0.5 * 0.03 * (std::f64::consts::PI / 60.0) * (std::f64::consts::PI / 60.0);
        assert!(by.windows(3).map(bend).fold(0.0, f64::max) < 2.0 * wave);
        // At the ends it stays, and without frames on either side it is what is needed.
        assert!((course(&[0.02; 5], 30)[0] - 0.02).abs() < 1e-15);
        let alone = course(&needs, 0);
        assert!(alone.iter().zip(&needs).all(|(by, need)| (by - need).abs() < 1e-15));
        assert!(course(&[], 30).is_empty());
    }

    #[test]
    fn the_largest_around_is_that_of_a_plain_search() {
        let all: Vec<f64> = (0..60_u32).map(|k| f64::from(k * 7919 % 101)).collect();
        for around in [0, 1, 4, 100] {
            let largest = largest_around(&all, around);
            for (i, found) in largest.iter().enumerate() {
                let near = &all[i.saturating_sub(around)..(i + around + 1).min(all.len())];
                assert_eq!(*found, near.iter().copied().fold(0.0, f64::max));
            }
        }
    }
}
