//! A whole motion moved and turned on the ground.

use glam::DVec3;

use super::{Ground, Stand};
use crate::math::{Angle, Rotation};
use crate::motion::{Clip, ClipError, Track};
use crate::skeleton::Skeleton;

/// A turn about the vertical and a shift: where a motion takes place.
///
/// # Source
///
/// S. Lin, "Help note for assignment 2", 2010, eq 8 to 10 (row C3), about any point:
///
/// ```text
///   R'[n] = R_up(θ) R[n]
///   T'[n] = R_up(θ) T[n] + t,   t = T'[0] − R_up(θ) T[0]
/// ```
///
/// Heights stay as they are, though eq 9 and 10 as printed move the first frame to the height of
/// `T_d0`: [`between`](Self::between) takes only the place on the ground from where it goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    ground: Ground,
    turn: Angle,
    shift_m: DVec3,
}

impl Placement {
    /// Turned by an angle about the vertical through the origin, then shifted.
    #[must_use]
    pub const fn new(ground: Ground, turn: Angle, shift_m: DVec3) -> Self {
        Self { ground, turn, shift_m }
    }

    /// What brings who stands at `from` to where `to` is, to face as `to` does. The height stays.
    #[must_use]
    pub fn between(ground: Ground, from: Stand, to: Stand) -> Self {
        let turn = Angle::from_radians(to.facing.radians() - from.facing.radians()).wrapped();
        let shift = ground.below(to.position_m) - ground.below(ground.turn(turn) * from.position_m);
        Self { ground, turn, shift_m: shift }
    }

    /// What undoes it.
    #[must_use]
    pub fn inverse(self) -> Self {
        let turn = Angle::from_radians(-self.turn.radians());
        let shift_m = -(self.ground.turn(turn) * self.shift_m);
        Self { ground: self.ground, turn, shift_m }
    }

    /// This, and then another one in the same world.
    ///
    /// # Panics
    ///
    /// If another way is up for it.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        assert_eq!(self.ground.up(), next.ground.up(), "placements of one world");
        let turn = Angle::from_radians(self.turn.radians() + next.turn.radians()).wrapped();
        Self { ground: self.ground, turn, shift_m: next.point(self.shift_m) }
    }

    /// The turn, counter-clockwise seen from above.
    #[must_use]
    pub const fn turn(self) -> Angle {
        self.turn
    }

    /// Where the origin goes, metres.
    #[must_use]
    pub const fn shift_m(self) -> DVec3 {
        self.shift_m
    }

    /// Where a point goes.
    #[must_use]
    pub fn point(self, point_m: DVec3) -> DVec3 {
        self.ground.turn(self.turn) * point_m + self.shift_m
    }

    /// Where who stands somewhere goes.
    #[must_use]
    pub fn stand(self, stand: Stand) -> Stand {
        let facing = Angle::from_radians(stand.facing.radians() + self.turn.radians()).wrapped();
        Stand { position_m: self.point(stand.position_m), facing }
    }

    /// Moves a whole clip: the roots, as everything else hangs on them. Nothing is touched by a
    /// placement that does nothing.
    ///
    /// # Errors
    ///
    /// [`ClipError::Track`] if a place would be beyond the range of numbers.
    ///
    /// # Panics
    ///
    /// If the clip has another number of joints than the skeleton.
    pub fn apply(self, skeleton: &Skeleton, clip: &mut Clip) -> Result<(), ClipError> {
        assert_eq!(clip.tracks().len(), skeleton.len(), "a clip has one track per joint");
        if self.turn.radians() == 0.0 && self.shift_m == DVec3::ZERO {
            return Ok(());
        }
        let turn = self.ground.turn(self.turn);
        let only_shifts = self.turn.radians() == 0.0;
        for j in skeleton.indices().filter(|j| skeleton.parent(*j).is_none()) {
            if only_shifts {
                // Rotations keep their numbers.
                clip.change_translations(j, |t| t + self.shift_m)?;
            } else {
                clip.set_track(j, moved(clip.track(j), turn, self.shift_m))?;
            }
        }
        Ok(())
    }
}

/// A track turned in its parent's space, and then shifted.
pub(super) fn moved(track: &Track, turn: Rotation, shift_m: DVec3) -> Track {
    Track::from_parts(
        track.rotations().iter().map(|r| turn * r).collect(),
        track.rotation_times().clone(),
        track.translations_m().iter().map(|t| turn * t + shift_m).collect(),
        track.translation_times().clone(),
    )
    .with_interpolation(track.interpolation())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::Facing;
    use crate::math::arbitrary;
    use crate::motion::{FrameIndex, farthest_apart_m};
    use crate::synth::{Figure, Options, Synth};

    fn made(seed: u64) -> Synth {
        let options = Options { frames: 20, ..Options::default() };
        Synth::generate(&Figure::human(), &options, seed).unwrap()
    }

    #[test]
    fn c3_eq_8_to_10_turn_about_the_first_root_and_keep_the_height() {
        let synth = made(1);
        let facing = Facing::of(&synth.skeleton);
        let mut clip = synth.clip.clone();
        let root = facing.joint();
        // Off the origin, at a height that is not 0.
        let away =
            Placement::new(facing.ground(), Angle::from_degrees(30.0), DVec3::new(1.0, 0.9, 2.0));
        away.apply(&synth.skeleton, &mut clip).unwrap();
        let from = facing.stand_in(&synth.skeleton, &clip, FrameIndex(0));
        let to =
            Stand { position_m: DVec3::new(-3.0, 7.0, 4.0), facing: Angle::from_degrees(-160.0) };
        let placement = Placement::between(facing.ground(), from, to);
        let mut moved = clip.clone();
        placement.apply(&synth.skeleton, &mut moved).unwrap();
        let theta = placement.turn();
        let turn = Rotation::about_y(theta);
        for f in clip.frames() {
            let (r, t) = (clip.rotation(root, f), clip.translation_m(root, f));
            let first = clip.translation_m(root, FrameIndex(0));
            // Eq 8; eq 9 and 10 with the first frame's own height.
            let place = DVec3::new(to.position_m.x, first.y, to.position_m.z);
            let seed = turn * (t - first) + place;
            assert!(moved.rotation(root, f).distance(turn * r).degrees() < 1e-9);
            assert!((moved.translation_m(root, f) - seed).length() < 1e-12);
        }
        let now = facing.stand_in(&synth.skeleton, &moved, FrameIndex(0));
        assert!((now.facing.degrees() + 160.0).abs() < 1e-9, "{now:?}");
        assert!((placement.stand(from).facing.degrees() + 160.0).abs() < 1e-9);
        assert!((placement.stand(from).position_m - now.position_m).length() < 1e-12);
        // All of the body goes along: distances within it are what they were.
        let head = synth.skeleton.find("Head").unwrap();
        for f in [0, 19].map(FrameIndex) {
            let (a, b) =
                (clip.pose(f).world(&synth.skeleton), moved.pose(f).world(&synth.skeleton));
            let there = placement.point(a.positions_m[head.get()]);
            assert!((there - b.positions_m[head.get()]).length() < 1e-12);
        }
    }

    #[test]
    fn prop_a_placement_and_its_inverse_are_the_identity() {
        let synth = made(2);
        arbtest::arbtest(|u| {
            let angle = arbitrary::angle(u)?;
            let ground = *u.choose(&[Ground::Y_UP, Ground::Z_UP, Ground::X_UP])?;
            let [x, y, z] = [(); 3].map(|()| u.int_in_range(-1000..=1000).unwrap_or(0));
            let shift = DVec3::new(f64::from(x), f64::from(y), f64::from(z)) * 0.01;
            let placement = Placement::new(ground, angle, shift);
            let mut clip = synth.clip.clone();
            placement.apply(&synth.skeleton, &mut clip).unwrap();
            placement.inverse().apply(&synth.skeleton, &mut clip).unwrap();
            let apart = farthest_apart_m((&synth.skeleton, &synth.clip), (&synth.skeleton, &clip));
            assert!(apart < 1e-12, "{apart}");
            Ok(())
        });
    }

    #[test]
    #[should_panic(expected = "placements of one world")]
    fn placements_of_different_worlds_do_not_follow_each_other() {
        let [a, b] = [Ground::Y_UP, Ground::Z_UP]
            .map(|ground| Placement::new(ground, Angle::from_degrees(20.0), DVec3::X));
        let _ = a.then(b);
    }

    #[test]
    fn a_placement_that_does_nothing_leaves_the_numbers_of_the_file() {
        let synth = made(3);
        let mut clip = synth.clip.clone();
        let nothing = Placement::new(Ground::Y_UP, Angle::from_degrees(0.0), DVec3::ZERO);
        nothing.apply(&synth.skeleton, &mut clip).unwrap();
        assert!(clip.channels().is_none_or(|c| !c.is_edited()));
        let far = Placement::new(Ground::Y_UP, Angle::from_degrees(0.0), DVec3::INFINITY);
        assert!(far.apply(&synth.skeleton, &mut clip).is_err());
    }
}
