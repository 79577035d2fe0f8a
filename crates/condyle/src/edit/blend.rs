//! Poses and clips between others.

use std::f64::consts::{PI, TAU};

use glam::{DQuat, DVec3};

use super::carrier::Carrier;
use super::{EditError, Facing};
use crate::math::{Rotation, geodesic_mean, trig, unit};
use crate::motion::turns::Turns;
use crate::motion::{Clip, ClipError, FrameIndex, Pose, TrackFault};
use crate::skeleton::{JointIndex, Skeleton};

/// The pose a share of the way from one to another: translations on the straight line, rotations at an
/// even speed the short way round.
///
/// # Source
///
/// S. Lin, "Help note for assignment 2", 2010, eq 12 (row C5); [`Rotation::slerp`].
///
/// # Panics
///
/// If the poses are of different numbers of joints.
#[must_use]
pub fn interpolate(a: &Pose, b: &Pose, share: f64) -> Pose {
    assert_eq!(a.rotations.len(), b.rotations.len(), "poses of one skeleton");
    assert_eq!(a.translations_m.len(), b.translations_m.len(), "poses of one skeleton");
    let rotations = a.rotations.iter().zip(&b.rotations).map(|(a, b)| a.slerp(*b, share));
    let translations = a.translations_m.iter().zip(&b.translations_m);
    Pose {
        rotations: rotations.collect(),
        translations_m: translations.map(|(a, b)| a.lerp(*b, share)).collect(),
    }
}

/// Clips of one skeleton blended frame by frame, as long as the shortest, at the rate of the first.
///
/// `weight` says how much a clip counts for a joint in a frame; only proportions matter. Rotations are
/// averaged on the sphere ([`geodesic_mean`], for two clips [`Rotation::slerp`], the short way round),
/// translations in space.
/// Where two clips come to be more than half a turn apart, the blend stays on its side up to 30° beyond;
/// from there to 150° beyond it goes over to the short way, through the clip that counts more.
/// Where the file of the first has channels for one or two turns of a joint only, and the others keep to
/// these, their angles are averaged: each goes on from frame to frame, and in the first frame is in the
/// turn that is nearest to the first clip's. A frame
/// of a joint that only one clip counts for is that clip's, to the last digit; where no weight is
/// positive, it is the first clip's.
///
/// # Errors
///
/// [`EditError::NoClips`], [`EditError::NoFrames`], [`EditError::JointCount`],
/// [`EditError::OtherRate`] (resample first), [`EditError::Weight`] if a weight is negative or not
/// finite.
///
/// ```
/// use condyle::edit::{Easing, blend};
/// use condyle::synth::{Figure, Options, Synth};
///
/// // From one motion into another over 60 frames, but the head stays with the first.
/// let figure = Figure::human();
/// let make = |seed| Synth::generate(&figure, &Options { frames: 60, ..Options::default() }, seed);
/// let (a, b) = (make(1)?, make(2)?);
/// let head = figure.skeleton().find("Head").ok_or("no head")?;
/// let clip = blend(figure.skeleton(), &[&a.clip, &b.clip], |clip, joint, frame| {
///     let second = if joint == head { 0.0 } else { Easing::Sine.weight(frame, 60) };
///     [1.0 - second, second][clip]
/// })?;
/// assert_eq!(clip.frame_count(), 60);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn blend(
    skeleton: &Skeleton,
    clips: &[&Clip],
    mut weight: impl FnMut(usize, JointIndex, usize) -> f64,
) -> Result<Clip, EditError> {
    let first = clips.first().ok_or(EditError::NoClips)?;
    let joints = skeleton.len();
    for (i, clip) in clips.iter().enumerate() {
        if clip.tracks().len() != joints {
            return Err(EditError::JointCount {
                clip: i,
                found: clip.tracks().len(),
                expected: joints,
            });
        }
        if clip.rate().nominal_fps() != first.rate().nominal_fps() {
            return Err(EditError::OtherRate { clip: i });
        }
    }
    let Some(carrier) = Carrier::of(skeleton, Facing::of(skeleton).joint(), clips) else {
        return blend_locals(skeleton, clips, weight);
    };
    let lifted = clips.iter().map(|clip| carrier.lifted(clip)).collect::<Result<Vec<Clip>, _>>()?;
    let lifted: Vec<&Clip> = lifted.iter().collect();
    let mut carried = blend_locals(carrier.skeleton(), &lifted, &mut weight)?;
    carrier.lowered(&mut carried)?;
    let mut made = blend_locals(skeleton, clips, &mut weight)?;
    let joint = carrier.joint();
    for (f, frame) in carried.frames().enumerate() {
        let mut whose = |j: &JointIndex| {
            let weights: Vec<f64> = (0..clips.len()).map(|i| weight(i, *j, f)).collect();
            alone(&weights)
        };
        // Where all of the trunk is one clip's, so is the pelvis.
        let one = whose(&joint);
        if one.is_none() || !carrier.trunk().iter().all(|j| whose(j) == one) {
            made.set_rotation(joint, frame, carried.rotation(joint, frame));
            made.set_translation_m(joint, frame, carried.translation_m(joint, frame));
        }
    }
    Ok(made)
}

/// The one clip that counts; the first if none does.
fn alone(weights: &[f64]) -> Option<usize> {
    let total: f64 = weights.iter().sum();
    weights.iter().position(|w| *w == total || total == 0.0)
}

/// The same, with each joint blended in its parent.
pub(super) fn blend_locals(
    skeleton: &Skeleton,
    clips: &[&Clip],
    mut weight: impl FnMut(usize, JointIndex, usize) -> f64,
) -> Result<Clip, EditError> {
    let first = clips.first().ok_or(EditError::NoClips)?;
    let joints = skeleton.len();
    let frames = clips.iter().map(|c| c.frame_count()).min().unwrap_or(0);
    if frames == 0 {
        return Err(EditError::NoFrames);
    }
    let mut made = first.at_frames((0..frames).map(as_f64), first.rate(), None)?;
    let mut weights = vec![0.0; clips.len()];
    for j in (0..joints).map(JointIndex::new) {
        let mut all = Vec::with_capacity(clips.len());
        let mut way = Way::of(skeleton, clips, j);
        for (f, frame) in made.frames().enumerate() {
            for (i, w) in weights.iter_mut().enumerate() {
                *w = weight(i, j, f);
                if !(w.is_finite() && *w >= 0.0) {
                    return Err(EditError::Weight { clip: i });
                }
            }
            way.go_on(clips, j, frame);
            let total: f64 = weights.iter().sum();
            if !total.is_finite() {
                return Err(EditError::Weight { clip: 0 });
            }
            let (rotation, translation) = match alone(&weights) {
                // As the first has it, with the numbers of its file.
                Some(0) => continue,
                Some(i) => (clips[i].rotation(j, frame), clips[i].translation_m(j, frame)),
                None => {
                    all.clear();
                    let shares = clips.iter().zip(&weights).map(|(c, w)| (c, *w / total));
                    all.extend(shares.clone().map(|(c, w)| (c.rotation(j, frame), w)));
                    let place = shares.map(|(c, w)| c.translation_m(j, frame) * w);
                    (way.mean(&all), place.fold(DVec3::ZERO, |to, t| to + t))
                }
            };
            if !translation.is_finite() {
                let (track, fault) = (j.get(), TrackFault::NotFinite);
                return Err(EditError::Clip(ClipError::Track { track, fault }));
            }
            made.set_rotation(j, frame, rotation);
            made.set_translation_m(j, frame, translation);
        }
    }
    Ok(made)
}

/// The way round from some rotations of a joint to others.
enum Way {
    /// By its angles, as far as they have come, where it has few of them.
    Angles(Turns, Vec<DVec3>),
    /// Between two: the short way, but near half a turn on the side where it was.
    Sphere(Option<Side>),
}

/// The way from one rotation to another, where the last frame left it. Where motions are half a turn
/// apart, the short way would change sides from frame to frame.
#[derive(Clone, Copy)]
struct Side {
    /// The turn, by up to [`BACK`](Self::BACK).
    turn: DQuat,
    /// Beyond [`KEPT`](Self::KEPT): whether the blend goes over to the short way through the second
    /// rotation.
    through_second: Option<bool>,
}

impl Side {
    /// Up to this the side is kept, radians.
    const KEPT: f64 = 210.0 * PI / 180.0;
    /// From here on the way is the short one.
    const BACK: f64 = 330.0 * PI / 180.0;

    /// The same side, or the short way where that leads too far round. The angle of the turn, radians.
    fn next(before: Option<Self>, short: DQuat, share: f64) -> (Self, f64) {
        let turn = if before.is_some_and(|b| b.turn.dot(short) < 0.0) { -short } else { short };
        let angle = 2.0 * trig::atan2(DVec3::new(turn.x, turn.y, turn.z).length(), turn.w);
        if angle >= Self::BACK {
            return (Self { turn: short, through_second: None }, TAU - angle);
        }
        let through = before.and_then(|b| b.through_second).unwrap_or(share > 0.5);
        (Self { turn, through_second: (angle > Self::KEPT).then_some(through) }, angle)
    }

    /// The rotation a share of the way from `a` to `b`, which are this angle apart on this side.
    fn between(self, a: Rotation, b: Rotation, angle: f64, share: f64) -> Rotation {
        if self.turn.w >= 0.0 {
            return a.slerp(b, share);
        }
        let axis = unit(DVec3::new(self.turn.x, self.turn.y, self.turn.z)).unwrap_or(DVec3::ZERO);
        // Less and less of the turn, until it is the short one, which goes the other way.
        let over = ((angle - Self::KEPT) / (Self::BACK - Self::KEPT)).clamp(0.0, 1.0);
        let by = angle - TAU * over;
        let turned = |by: f64| Rotation::exp(axis * by).unwrap_or_default();
        match self.through_second {
            Some(true) => b * turned(by * (share - 1.0)),
            _ => a * turned(by * share),
        }
    }
}

impl Way {
    fn of(skeleton: &Skeleton, clips: &[&Clip], joint: JointIndex) -> Self {
        match Turns::of(skeleton, clips, joint) {
            Some(turns) => Self::Angles(turns, Vec::with_capacity(clips.len())),
            None => Self::Sphere(None),
        }
    }

    /// To the next frame.
    fn go_on(&mut self, clips: &[&Clip], joint: JointIndex, frame: FrameIndex) {
        let Self::Angles(turns, angles) = self else { return };
        for (i, clip) in clips.iter().enumerate() {
            let near = angles.get(i).or(angles.first()).copied().unwrap_or_default();
            let now = turns.at(clip, joint, frame, near);
            match angles.get_mut(i) {
                Some(angles) => *angles = now,
                None => angles.push(now),
            }
        }
    }

    /// There is at least one rotation, and weights add up to 1.
    fn mean(&mut self, rotations: &[(Rotation, f64)]) -> Rotation {
        let before = match self {
            Self::Angles(turns, angles) => {
                let all = angles.iter().zip(rotations);
                return turns.rotation(all.fold(DVec3::ZERO, |to, (a, (_, w))| to + *a * *w));
            }
            Self::Sphere(before) => before,
        };
        match rotations {
            [(a, _), (b, share)] => {
                let short = (a.inverse() * *b).canonical().quat();
                let (side, angle) = Side::next(*before, short, *share);
                *before = Some(side);
                side.between(*a, *b, angle, *share)
            }
            all => geodesic_mean(all).unwrap_or_else(|| all[0].0),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "frame counts are below 2^32")]
pub(super) fn as_f64(frame: usize) -> f64 {
    frame as f64
}

pub(super) fn index(frame: usize) -> FrameIndex {
    FrameIndex(u32::try_from(frame).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::Easing;
    use crate::math::Angle;
    use crate::motion::{FrameIndex, FrameRate, Track};
    use crate::skeleton::Joint;
    use crate::synth::{Figure, Options, Synth};

    fn made(frames: usize, seed: u64) -> Synth {
        let options = Options { frames, ..Options::default() };
        Synth::generate(&Figure::human(), &options, seed).unwrap()
    }

    #[test]
    fn c5_eq_12_is_the_sum_of_sines_on_the_short_way() {
        let a = Rotation::about_x(Angle::from_degrees(10.0));
        let b = Rotation::about_y(Angle::from_degrees(70.0)) * a;
        let pose = |r| Pose { rotations: vec![r], translations_m: vec![DVec3::X] };
        // The other sign of b: the same rotation, the long way by eq 12 as printed.
        let other = Rotation::new(-b.quat()).unwrap();
        for u in [0.0, 0.25, 0.5, 0.9, 1.0] {
            let cos = a.quat().dot(b.quat());
            let theta = trig::acos(cos);
            let sin = |x: f64| trig::sin_cos(x).0;
            let seed = a.quat() * (sin((1.0 - u) * theta) / sin(theta))
                + b.quat() * (sin(u * theta) / sin(theta));
            for end in [b, other] {
                let got = interpolate(&pose(a), &pose(end), u).rotations[0];
                assert!(got.distance(Rotation::new(seed).unwrap()).degrees() < 1e-9, "{u}");
            }
        }
    }

    #[test]
    fn prop_a_clip_blended_with_itself_is_itself() {
        let synth = made(30, 3);
        arbtest::arbtest(|u| {
            let w = [(); 3].map(|()| u.int_in_range(0..=9_u8).unwrap_or(1));
            let clips = [&synth.clip; 3];
            let n = u.int_in_range(1..=3)?;
            let blended =
                blend(&synth.skeleton, &clips[..n], |i, _, f| f64::from(w[i]) * (1.0 + as_f64(f)))
                    .unwrap();
            for j in synth.skeleton.indices() {
                for f in synth.clip.frames() {
                    let off = blended.rotation(j, f).distance(synth.clip.rotation(j, f));
                    assert!(off.radians() < 1e-13, "{off:?}");
                    let off = blended.translation_m(j, f) - synth.clip.translation_m(j, f);
                    assert!(off.length() < 1e-13);
                }
            }
            Ok(())
        });
    }

    #[test]
    fn c6_easing_goes_from_the_one_to_the_other_and_joints_may_stay() {
        let (a, b) = (made(21, 4), made(21, 5));
        let head = a.skeleton.find("Head").unwrap();
        let out = blend(&a.skeleton, &[&a.clip, &b.clip], |clip, joint, f| {
            let second = if joint == head { 0.0 } else { Easing::Sine.weight(f, 21) };
            [1.0 - second, second][clip]
        })
        .unwrap();
        for j in a.skeleton.indices() {
            let [first, middle, last] = [0, 10, 20].map(FrameIndex);
            let at = |f| out.rotation(j, f);
            assert_eq!(at(first).quat(), a.clip.rotation(j, first).quat());
            let (from, to) = (a.clip.rotation(j, middle), b.clip.rotation(j, middle));
            let want = if j == head { from } else { from.slerp(to, 0.5) };
            assert!(at(middle).distance(want).radians() < 1e-12);
            let end = if j == head { &a } else { &b };
            assert_eq!(at(last).quat(), end.clip.rotation(j, last).quat());
        }
    }

    #[test]
    fn motions_half_a_turn_apart_do_not_change_sides() {
        let mut skeleton = Skeleton::new();
        skeleton.add_root(Joint::new("a", DVec3::ZERO)).unwrap();
        let rate = FrameRate::from_fps(30.0).unwrap();
        let clip = |angles: [f64; 5]| {
            let turns = angles.map(|d| Rotation::about_z(Angle::from_degrees(d)));
            let track = Track::turning(turns.into_iter().collect(), DVec3::ZERO);
            Clip::new(5, rate, vec![track]).unwrap()
        };
        let (a, b) = (clip([0.0; 5]), clip([178.0, 179.0, 180.5, 181.0, 179.5]));
        let out = blend(&skeleton, &[&a, &b], |_, _, _| 1.0).unwrap();
        let j = JointIndex::new(0);
        for (f, want) in [89.0, 89.5, 90.25, 90.5, 89.75].into_iter().enumerate() {
            let want = Rotation::about_z(Angle::from_degrees(want));
            let got = out.rotation(j, FrameIndex(u32::try_from(f).unwrap()));
            assert!(got.distance(want).degrees() < 1e-9, "{f}: {got:?}");
        }
    }

    /// A motion of one joint.
    fn turning(turns: impl Iterator<Item = Rotation>) -> (Skeleton, Clip) {
        let mut skeleton = Skeleton::new();
        skeleton.add_root(Joint::new("a", DVec3::ZERO)).unwrap();
        let track = Track::turning(turns.collect(), DVec3::ZERO);
        let frames = track.rotations().len();
        (skeleton, Clip::new(frames, FrameRate::from_fps(30.0).unwrap(), vec![track]).unwrap())
    }

    #[test]
    fn prop_where_motions_agree_so_does_their_blend_and_it_never_jumps() {
        let root = JointIndex::new(0);
        arbtest::arbtest(|u| {
            // The one sways, the other sways and spins, for two turns and a half there and back.
            let [speed, sway, phase] = [(); 3].map(|()| u.int_in_range(0..=100).unwrap_or(50));
            let share = f64::from(u.int_in_range(1..=9_u8)?) * 0.1;
            let backward = u.arbitrary::<bool>()?;
            let step = (1.0 + 0.03 * f64::from(speed)) * if backward { -1.0 } else { 1.0 };
            let frames = num_frames(900.0 / step.abs());
            let swayed = |f: usize, late: f64| {
                let (sine, cosine) = trig::sin_cos(0.03 * as_f64(f) + late);
                let by = DVec3::new(sine, 0.0, cosine) * (0.004 * f64::from(sway));
                Rotation::exp(by).unwrap()
            };
            let spin = |f: usize| {
                let turns = as_f64(f.min(2 * frames - f));
                Rotation::about_y(Angle::from_degrees(step * turns))
            };
            let (skeleton, a) = turning((0..2 * frames).map(|f| swayed(f, 0.0)));
            let late = 0.06 * f64::from(phase);
            let (_, b) = turning((0..2 * frames).map(|f| spin(f) * swayed(f, late)));
            let weights = [1.0 - share, share];
            let out = blend(&skeleton, &[&a, &b], |i, _, _| weights[i]).unwrap();
            let at = |clip: &Clip, f: usize| clip.rotation(root, index(f));
            for f in 1..2 * frames {
                let apart = at(&a, f).distance(at(&b, f)).degrees();
                for clip in [&a, &b] {
                    let off = at(&out, f).distance(at(clip, f)).degrees();
                    assert!(apart > 29.0 || off < apart + 1e-9, "{f}: {off} of {apart}");
                }
                let moved = |clip: &Clip| at(clip, f - 1).distance(at(clip, f)).degrees();
                let (jump, usual) = (moved(&out), moved(&a) + moved(&b));
                assert!(jump < 5.0 * usual + 1e-9, "{f}: {jump} of {usual}");
            }
            Ok(())
        });
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small and positive"
    )]
    fn num_frames(frames: f64) -> usize {
        frames.ceil() as usize
    }

    #[test]
    #[should_panic(expected = "poses of one skeleton")]
    fn poses_with_different_numbers_of_places_are_refused() {
        let pose =
            |n| Pose { rotations: vec![Rotation::IDENTITY], translations_m: vec![DVec3::X; n] };
        let _ = interpolate(&pose(1), &pose(2), 0.5);
    }

    #[test]
    fn three_motions_meet_in_the_middle_of_their_rotations() {
        let turn =
            |d: f64| Track::constant(Rotation::about_z(Angle::from_degrees(d)), DVec3::X * d);
        let rate = FrameRate::from_fps(30.0).unwrap();
        let clips = [350.0, 30.0, 130.0].map(|d| Clip::new(1, rate, vec![turn(d)]).unwrap());
        let all: Vec<&Clip> = clips.iter().collect();
        let mut skeleton = Skeleton::new();
        skeleton.add_root(Joint::new("a", DVec3::ZERO)).unwrap();
        let out = blend(&skeleton, &all, |i, _, _| [2.0, 1.0, 1.0][i]).unwrap();
        // (2 · −10 + 30 + 130) / 4.
        let want = Rotation::about_z(Angle::from_degrees(35.0));
        let got = out.rotation(JointIndex::new(0), FrameIndex(0));
        assert!(got.distance(want).degrees() < 1e-9, "{got:?}");
        let place = out.translation_m(JointIndex::new(0), FrameIndex(0)).x;
        assert!((place - (2.0 * 350.0 + 30.0 + 130.0) / 4.0).abs() < 1e-12);
    }

    #[test]
    fn joints_with_two_turns_have_the_mean_of_their_angles() {
        let clip = |row: &str| {
            let text = format!(
                "HIERARCHY\nROOT a\n{{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nJOINT \
                 b\n{{\nOFFSET 0 10 0\nCHANNELS 2 Zrotation Xrotation\nEnd Site\n{{\nOFFSET 0 5 \
                 0\n}}\n}}\n}}\nMOTION\nFrames: 1\nFrame Time: 0.01\n0 0 0 {row}\n"
            );
            let options = crate::formats::ReadOptions::default();
            crate::formats::read(text.as_bytes(), None, &options).unwrap().file
        };
        let files = ["170 -60", "-170 10", "-160 390"].map(clip);
        let skeleton = files[0].skeleton.clone();
        let clips = files.map(|file| file.clip.unwrap());
        let all: Vec<&Clip> = clips.iter().collect();
        let j = skeleton.find("b").unwrap();
        let made = |clips: &[&Clip], w: [f64; 3]| {
            blend(&skeleton, clips, |i, _, _| w[i]).unwrap().rotation(j, FrameIndex(0))
        };
        let turned = |z: f64, x: f64| {
            Rotation::about_z(Angle::from_degrees(z)) * Rotation::about_x(Angle::from_degrees(x))
        };
        // (2 · 170 + 190 + 200) / 4 and (2 · −60 + 10 + 30) / 4.
        let got = made(&all, [2.0, 1.0, 1.0]);
        assert!(got.distance(turned(182.5, -20.0)).degrees() < 1e-9, "{got:?}");
        let got = made(&all[..2], [1.0, 3.0, 0.0]);
        assert!(got.distance(turned(185.0, -7.5)).degrees() < 1e-9, "{got:?}");
    }

    #[test]
    fn frames_that_are_the_first_motions_keep_the_numbers_of_its_file() {
        let text = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation \
            Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 5 0\n}\n}\nMOTION\nFrames: 3\nFrame Time: 0.01\n\
            1 2 3 10.1 20.2 30.3\n1 2 3 11.1 21.2 31.3\n1 2 3 12.1 22.2 32.3\n";
        let options = crate::formats::ReadOptions::default();
        let file = crate::formats::read(text.as_bytes(), None, &options).unwrap().file;
        let clip = file.clip.unwrap();
        let other = crate::edit::reversed(&clip).unwrap();
        let weight = |i: usize, _: JointIndex, f: usize| {
            let second = Easing::Sine.weight(f, 3);
            [1.0 - second, second][i]
        };
        let out = blend(&file.skeleton, &[&clip, &other], weight).unwrap();
        let root = JointIndex::new(0);
        let as_read = |f| out.channels().unwrap().rotation_is_source(root, f);
        assert_eq!([0, 1, 2].map(as_read), [true, false, false]);
    }

    #[test]
    fn what_cannot_be_blended_is_an_error() {
        let (a, b) = (made(5, 1), made(5, 2));
        assert!(matches!(blend(&a.skeleton, &[], |_, _, _| 1.0), Err(EditError::NoClips)));
        let bad =
            blend(&a.skeleton, &[&a.clip, &b.clip], |i, _, _| if i == 1 { -1.0 } else { 1.0 });
        assert!(matches!(bad, Err(EditError::Weight { clip: 1 })));
        let rate = FrameRate::from_fps(17.0).unwrap();
        let slow = b.clip.at_frames([0.0], rate, None).unwrap();
        let bad = blend(&a.skeleton, &[&a.clip, &slow], |_, _, _| 1.0);
        assert!(matches!(bad, Err(EditError::OtherRate { clip: 1 })));
        // No weight at all: the first.
        let none = blend(&a.skeleton, &[&a.clip, &b.clip], |_, _, _| 0.0).unwrap();
        let j = a.skeleton.find("Head").unwrap();
        assert_eq!(
            none.rotation(j, FrameIndex(3)).quat(),
            a.clip.rotation(j, FrameIndex(3)).quat()
        );
    }
}
