//! Motion of one skeleton on another.

use std::fmt;

use glam::DVec3;

use super::Ground;
use super::body::{Body, axes_of};
use super::fit::{Fitted, fit, fit_inside, fit_with};
use super::keep::{KeptLimb, keep};
use super::lower::Lowered;
use super::rows::{MotionFrom, matched, used};
use crate::anatomy::{Anatomy, BodyJoint, BodySide, FigureAxes};
use crate::enforce::{BoundRig, ClampOptions, Clamped};
use crate::math::{Angle, Points, Rotation, Rotations};
use crate::motion::{Clip, ClipError, KeyTimes, Pose, Track, World};
use crate::skeleton::{JointIndex, Skeleton};

/// What motion of one skeleton is on another, by what their joints are of the body (row C13).
///
/// # Method
///
/// With W a rotation in the world, F the anatomical frame of a joint in its local space
/// ([`Anatomy::frame`]), s and t the same joint of the body in both skeletons, and Q the turn from the
/// axes of the one world to those of the other,
///
/// ```text
///   W(t) = Q W(s) F(s) F(t)⁻¹
/// ```
///
/// so that segments point where they did and clinical angles are the same, whatever the rest poses and
/// local spaces are: a T-pose and an A-pose agree. What only the source has, as clavicles, goes into the
/// next joint below by itself.
///
/// Lumbar and thoracic joints are one row, from the pelvis to the thorax, and so are those from neck to
/// head, or several of any other name. Rows of as many joints are taken one to one. Else joint k of n in
/// the target has the orientation at k/n of the way along the source's row, with a
/// [slerp](Rotation::slerp) between its joints: the last is that of the last.
///
/// What of the body only the target has stays as it is at rest relative to its parent; if the rest pose is
/// none of standing (LAFAN1, Bandai-Namco), in line with it. Joints that are none of the body (fingers,
/// helpers) get the motion, relative to rest, of the joint of the source with the same name, without
/// namespace, that hangs on the same joint of the body; else they stay at rest. So do those that the
/// tables of names take for different joints (a hand for the wrist, and for the turning forearm), if the
/// names are the same or nothing else of the body is left there.
///
/// # Places
///
/// The pelvis is where that of the source is, times the [scale](Scale), turned by Q. If it is below
/// others in the target (a reference node), the root moves and the pelvis keeps its offset; but a root
/// that has the name of the source's goes where that goes, times the scale, and the pelvis makes up for
/// the rest.
///
/// Where the file of the target gives joints few degrees of freedom (ASF), they [keep](super::fit()) to
/// these. Joints that only the target has turn so that the next one below gets where it belongs: CMU's
/// wrist for the hand.
///
/// Bones of the target keep their lengths. But where a bone of the source becomes longer or shorter than at
/// rest, the same one of the target, if both hang on the same joint, does so too, times the scale.
///
/// # Example
///
/// ```
/// use condyle::edit::{Retarget, RetargetOptions};
/// use condyle::synth::{Figure, Options, Synth};
///
/// let made = Synth::generate(&Figure::human(), &Options::default(), 1)?;
/// let other = Figure::human();
/// let retarget = Retarget::new(&made.skeleton, other.skeleton())?;
/// let options = RetargetOptions { keep_feet: true, ..RetargetOptions::default() };
/// let found = retarget.apply(&made.clip, &options)?;
/// assert_eq!(found.clip.frame_count(), made.clip.frame_count());
/// assert!((found.scale - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Retarget<'a> {
    source: Body<'a>,
    target: Body<'a>,
    grounds: [Ground; 2],
    from: Vec<MotionFrom>,
}

/// How places of the source are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Scale {
    /// By the heights of the pelvis above the soles of straight legs: heights and ways on the ground
    /// alike. Without legs it is 1.
    #[default]
    Legs,
    /// By a number; 1 leaves places as they are.
    By(f64),
}

/// How to retarget. The default is by the length of the legs, without anything that needs inverse
/// kinematics or limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct RetargetOptions<'a> {
    /// How places are scaled.
    pub scale: Scale,
    /// Whether hips and knees bring the ankles to where those of the source are in the world, times the
    /// scale, and as much farther above the sole as the target's are. So feet that stand do not slide
    /// more than those of the source do, times the scale. They keep their orientation. Where legs are too
    /// short for it the pelvis is lowered, smoothly, by at most a tenth of the leg.
    pub keep_feet: bool,
    /// Whether shoulders and elbows bring the wrists to where those of the source are, seen from the
    /// middle between the shoulders, times the ratio of how far the hands reach from there: hands that
    /// hold each other still do. What they touch in the world they may not. They keep their
    /// orientation.
    pub keep_hands: bool,
    /// Limits of the target that the result is to be inside of.
    pub rig: Option<&'a BoundRig>,
    /// How motion is brought inside of them.
    pub clamp: ClampOptions,
}

/// Motion on another skeleton, and how it came to be.
#[derive(Clone, Debug)]
pub struct Retargeted {
    /// The motion of the target.
    pub clip: Clip,
    /// What places were multiplied by.
    pub scale: f64,
    /// Where each joint of the target has its motion from.
    pub from: Vec<MotionFrom>,
    /// Joints of the body that only the source has, and whether their motion went into what is below them:
    /// else it is lost.
    pub only_source: Vec<(JointIndex, bool)>,
    /// Main joints of the source (hips, knees, ankles, shoulders, elbows) whose motion no joint of the target
    /// has: a limb of the target does not move as it should.
    pub lost_limbs: Vec<(BodyJoint, BodySide)>,
    /// Main joints of the target that stay at rest, since no joint of the source has their motion: that limb of
    /// the source is not recognised, or not there.
    pub still_limbs: Vec<(BodyJoint, BodySide)>,
    /// How well hands and feet are kept, in the clip as it is here.
    pub limbs: Vec<KeptLimb>,
    /// Those that were to be kept but have not got the joints for it in both skeletons.
    pub not_kept: Vec<(BodyJoint, BodySide)>,
    /// How far joints are from where the source has them because the target's file gives them few degrees of
    /// freedom, before anything was done about hands and feet.
    pub fitted: Option<Fitted>,
    /// What the pelvis was lowered by so that legs reach where their feet should be.
    pub lowered: Option<Lowered>,
    /// What was outside of the limits before anything was done about hands and feet.
    pub clamped: Option<Clamped>,
}

impl<'a> Retarget<'a> {
    /// From one skeleton to another, by the names of their joints and the rest poses. Where there is motion,
    /// [`by`](Self::by) knows better which way is up, and what the axes of joints are.
    ///
    /// # Errors
    ///
    /// [`RetargetError::NoNames`] or [`RetargetError::NoPelvis`].
    pub fn new(source: &'a Skeleton, target: &'a Skeleton) -> Result<Self, RetargetError> {
        Self::by([source, target], [source, target].map(|s| FigureAxes::of(s, &[])))
    }

    /// The same by the axes of both figures in motion.
    ///
    /// # Errors
    ///
    /// [`RetargetError::NoNames`] or [`RetargetError::NoPelvis`].
    pub fn by(
        [source, target]: [&'a Skeleton; 2],
        axes: [FigureAxes; 2],
    ) -> Result<Self, RetargetError> {
        let grounds = axes.each_ref().map(|axes| Ground::up_along(axes.up().axis));
        let [ours, theirs] = axes.map(FigureAxes::into_anatomy);
        let ours = ours.ok_or(RetargetError::NoNames(End::Source))?;
        let theirs = theirs.ok_or(RetargetError::NoNames(End::Target))?;
        let source = Body::new(source, ours).ok_or(RetargetError::NoPelvis(End::Source))?;
        let target = Body::new(target, theirs).ok_or(RetargetError::NoPelvis(End::Target))?;
        let from = matched(&source, &target);
        Ok(Self { source, target, grounds, from })
    }

    /// Between worlds with other axes: those of the source, and of the target.
    #[must_use]
    pub fn on(mut self, grounds: [Ground; 2]) -> Self {
        self.grounds = grounds;
        self
    }

    /// Where each joint of the target has its motion from.
    #[must_use]
    pub fn from(&self) -> &[MotionFrom] {
        &self.from
    }

    /// The motion of a clip of the source on the target.
    ///
    /// With limits, motion is first brought inside of them; then hands and feet reach, inside of them, for
    /// where they should be.
    ///
    /// # Errors
    ///
    /// See [`RetargetError`].
    ///
    /// # Panics
    ///
    /// If the rig is bound to a skeleton with another number of joints than the target.
    pub fn apply(
        &self,
        clip: &Clip,
        options: &RetargetOptions<'_>,
    ) -> Result<Retargeted, RetargetError> {
        let (found, expected) = (clip.tracks().len(), self.source.skeleton.len());
        if found != expected {
            return Err(RetargetError::Clip(ClipError::JointCount { found, expected }));
        }
        if clip.frame_count() == 0 {
            return Err(RetargetError::Clip(ClipError::NoFrames));
        }
        let scale = self.scale(options.scale)?;
        let mut moved = self.plain(clip, scale).map_err(RetargetError::Clip)?;
        let target = self.target.skeleton;
        let is_free = |j: JointIndex| self.from[j.get()] == MotionFrom::Rest;
        let fitted = fit_with(target, &mut moved, is_free);
        let clamped = options.rig.map(|rig| fit_inside(target, &mut moved, rig, &options.clamp).0);
        let ends = [(options.keep_feet, BodyJoint::Ankle), (options.keep_hands, BodyJoint::Wrist)];
        let ends: Vec<BodyJoint> = ends.iter().filter(|e| e.0).map(|e| e.1).collect();
        let kept = keep(self, (clip, scale), &mut moved, &ends, options.rig);
        if !ends.is_empty() {
            let _ = fit(target, &mut moved);
        }
        if let (Some(rig), false) = (options.rig, ends.is_empty()) {
            // What a solver left at the very edge of a limit.
            let sharp = ClampOptions { smoothing: None, ..options.clamp };
            let _ = fit_inside(target, &mut moved, rig, &sharp);
        }
        let limbs = kept.measured(target, &moved);
        let (not_kept, lowered) = (kept.without, kept.lowered);
        let (from, only_source) = (self.from.clone(), self.only_source());
        let (lost_limbs, still_limbs) = (self.lost_limbs(), self.still_limbs());
        Ok(Retargeted {
            clip: moved,
            scale,
            from,
            only_source,
            lost_limbs,
            still_limbs,
            limbs,
            not_kept,
            fitted,
            lowered,
            clamped,
        })
    }

    /// Main joints of the source whose motion no joint of the target has.
    #[must_use]
    pub fn lost_limbs(&self) -> Vec<(BodyJoint, BodySide)> {
        let used = used(&self.source, &self.from);
        let lost = |part: &(BodyJoint, BodySide)| {
            // By name: a joint whose axes are not known is lost, too.
            let of_part = |j: &JointIndex| self.source.anatomy.name(*j) == Some(*part);
            let mut joints = self.source.skeleton.indices().filter(of_part).peekable();
            joints.peek().is_some() && !joints.any(|j| used[j.get()])
        };
        Anatomy::MAIN.into_iter().filter(lost).collect()
    }

    /// Main joints of the target that no joint of the source moves.
    #[must_use]
    pub fn still_limbs(&self) -> Vec<(BodyJoint, BodySide)> {
        let still = |part: &(BodyJoint, BodySide)| {
            let of_part = |j: &JointIndex| self.target.anatomy.name(*j) == Some(*part);
            let mut joints = self.target.skeleton.indices().filter(of_part).peekable();
            joints.peek().is_some() && joints.all(|j| self.from[j.get()] == MotionFrom::Rest)
        };
        Anatomy::MAIN.into_iter().filter(still).collect()
    }

    pub(super) fn bodies(&self) -> [&Body<'a>; 2] {
        [&self.source, &self.target]
    }

    /// The wrist or ankle of the target, and the joint of the source that is the same: at least one of the
    /// tables of names has it. Where neither has a wrist, it is where the turning forearm carries the hand.
    pub(super) fn ends(&self, what: BodyJoint, side: BodySide) -> Option<[JointIndex; 2]> {
        let has = |what| [&self.source, &self.target].map(|body| body.first(what, side).is_some());
        let what = match what {
            BodyJoint::Wrist if has(what) == [false; 2] => BodyJoint::Forearm,
            _ => what,
        };
        let goal = self.source.first(what, side);
        if let Some(end) = self.target.first(what, side) {
            return Some([end, self.from[end.get()].joint().or(goal)?]);
        }
        let end = |j: &JointIndex| goal.is_some() && self.from[j.get()].joint() == goal;
        Some([self.target.skeleton.indices().find(end)?, goal?])
    }

    /// The joint of the target that carries the pelvis where it belongs: the root, or the pelvis itself below a
    /// root that goes with that of the source.
    pub(super) fn carrier(&self) -> JointIndex {
        let trunk = self.target.trunk();
        match Places::new(self, &trunk).with {
            Some(_) => self.target.pelvis,
            None => trunk[0],
        }
    }

    /// The turn from the axes of the source's world to those of the target's, and the target's up.
    pub(super) fn turn(&self) -> (Rotation, DVec3) {
        let [ours, theirs] = self.grounds;
        let turn = if ours == theirs {
            Rotation::IDENTITY
        } else {
            axes_of(theirs) * axes_of(ours).inverse()
        };
        (turn, theirs.up())
    }

    fn scale(&self, scale: Scale) -> Result<f64, RetargetError> {
        match scale {
            Scale::By(by) if by.is_finite() && by > 0.0 => Ok(by),
            Scale::By(_) => Err(RetargetError::Scale),
            Scale::Legs => {
                let heights = [&self.source, &self.target].map(Body::pelvis_height_m);
                let [Some(ours), Some(theirs)] = heights else { return Ok(1.0) };
                let ratio = theirs / ours;
                if ratio.is_finite() && ratio > 0.0 { Ok(ratio) } else { Err(RetargetError::Scale) }
            }
        }
    }

    fn only_source(&self) -> Vec<(JointIndex, bool)> {
        let source = &self.source;
        let used = used(source, &self.from);
        // What is turned in the world as a joint of the source has the motion of all above that one.
        let mut carries = vec![false; source.skeleton.len()];
        for s in self.from.iter().filter_map(|found| match found {
            MotionFrom::Joint(s) | MotionFrom::Between { to: s, .. } => Some(*s),
            MotionFrom::Name(_) | MotionFrom::Rest => None,
        }) {
            let up =
                std::iter::successors(source.skeleton.parent(s), |p| source.skeleton.parent(*p));
            for p in up {
                if std::mem::replace(&mut carries[p.get()], true) {
                    break;
                }
            }
        }
        let only = |j: &JointIndex| {
            let part = source.part(*j);
            !used[j.get()] && part.is_some_and(|part| self.target.row(part).is_empty())
        };
        source.skeleton.indices().filter(only).map(|j| (j, carries[j.get()])).collect()
    }

    /// World frames copied, and the pelvis where it belongs.
    fn plain(&self, clip: &Clip, scale: f64) -> Result<Clip, ClipError> {
        let (source, target) = (self.source.skeleton, self.target.skeleton);
        let (turn, _) = self.turn();
        let turns = self.turns(turn);
        let trunk = self.target.trunk();
        let places = Places::new(self, &trunk);
        let stretches = self.stretches(clip, &trunk);
        let mut tracks: Vec<Moving> = vec![Moving::default(); target.len()];
        let mut pose = Pose::default();
        let mut ours = World::new();
        let mut theirs = Pose::rest(target);
        let mut world: Vec<Rotation> = Vec::with_capacity(target.len());
        for frame in clip.frames() {
            clip.pose_into(frame, &mut pose);
            ours.update(source, &pose);
            world.clear();
            for j in target.indices() {
                let above = target.parent(j).map_or(Rotation::IDENTITY, |p| world[p.get()]);
                let (local, here) = turns[j.get()].at(above, &pose, &ours);
                theirs.rotations[j.get()] = local;
                world.push(here);
                if turns[j.get()].moves() {
                    tracks[j.get()].rotations.push(local);
                }
            }
            let pelvis = turn * (ours.positions_m[self.source.pelvis.get()] * scale);
            places.put(self, (&pose, scale), pelvis, &world, &mut theirs);
            for j in &trunk {
                tracks[j.get()].translations_m.push(theirs.translations_m[j.get()]);
            }
            for Stretch { joint, from, turn } in &stretches {
                let by = pose.translations_m[from.get()] - source[*from].offset_m;
                let place = target[*joint].offset_m + *turn * (by * scale);
                theirs.translations_m[joint.get()] = place;
                tracks[joint.get()].translations_m.push(place);
            }
        }
        let track = |j: JointIndex| {
            let Moving { rotations, translations_m } = std::mem::take(&mut tracks[j.get()]);
            let (rotations, rotation_times) = if rotations.is_empty() {
                (Rotations::repeat(theirs.rotations[j.get()], 1), KeyTimes::constant())
            } else {
                (rotations, KeyTimes::EveryFrame)
            };
            let first = translations_m.get(0);
            let stays = translations_m.iter().all(|t| Some(t) == first);
            let (translations_m, translation_times) = if stays {
                (Points::repeat(theirs.translations_m[j.get()], 1), KeyTimes::constant())
            } else {
                (translations_m, KeyTimes::EveryFrame)
            };
            Track::from_parts(rotations, rotation_times, translations_m, translation_times)
        };
        let tracks = target.indices().map(track).collect();
        Clip::new(clip.frame_count(), clip.rate(), tracks)
    }

    /// An anatomical frame for every joint of the source, and of the target.
    fn frames(&self) -> [Vec<Rotation>; 2] {
        let [ours, theirs] = self.grounds.map(axes_of);
        [self.source.frames(ours), self.target.frames(theirs)]
    }

    /// The joints whose bones may become longer or shorter.
    fn stretches(&self, clip: &Clip, trunk: &[JointIndex]) -> Vec<Stretch> {
        let [ours, theirs] = self.frames();
        let (source, target) = (self.source.skeleton, self.target.skeleton);
        let dust_m = DUST * source.longest_path_m();
        // A joint with the same bone takes over all of its motion.
        let most_m = |own: JointIndex, from: JointIndex| {
            if target[own].offset_m == source[from].offset_m { 0.0 } else { dust_m }
        };
        let mut is_trunk = vec![false; target.len()];
        trunk.iter().for_each(|j| is_trunk[j.get()] = true);
        let of = |joint: JointIndex| {
            let p = target.parent(joint).filter(|_| !is_trunk[joint.get()])?;
            let from = self.from[joint.get()].joint()?;
            let q = source.parent(from)?;
            let same = self.from[p.get()].joint() == Some(q);
            let offset = source[from].offset_m;
            let most_m = most_m(joint, from);
            let moves =
                clip.track(from).translations_m().iter().any(|t| t.distance(offset) > most_m);
            let turn = theirs[p.get()] * ours[q.get()].inverse();
            (same && moves).then_some(Stretch { joint, from, turn })
        };
        target.indices().filter_map(of).collect()
    }

    fn turns(&self, turn: Rotation) -> Vec<Turn> {
        let [ours, theirs] = self.frames();
        let of = |j: JointIndex| {
            let back = theirs[j.get()].inverse();
            match self.from[j.get()] {
                MotionFrom::Joint(s) => {
                    Turn::World { from: s, before: turn, after: ours[s.get()] * back }
                }
                MotionFrom::Between { from, to, share } => Turn::Between {
                    from: (from, ours[from.get()]),
                    to: (to, ours[to.get()]),
                    share,
                    before: turn,
                    after: back,
                },
                MotionFrom::Name(s) => {
                    let parents = (self.target.skeleton.parent(j), self.source.skeleton.parent(s));
                    let before = match parents {
                        (Some(p), Some(q)) => theirs[p.get()] * ours[q.get()].inverse(),
                        _ => turn,
                    };
                    Turn::Local { from: s, before, after: ours[s.get()] * back }
                }
                MotionFrom::Rest => Turn::Rest(self.at_rest(j)),
            }
        };
        self.target.skeleton.indices().map(of).collect()
    }

    /// The local rotation of a joint that nothing moves: that of the pose that the frames are from, the rest
    /// pose where that stands. But if a segment whose
    /// frame is that of what it is on is far from it at rest, then the rest pose is none of standing, and
    /// it is in line.
    fn at_rest(&self, j: JointIndex) -> Rotation {
        use BodyJoint::{Clavicle, Forearm, Lumbar, Neck, Thoracic, Toes, Wrist};
        const FAR: Angle = Angle::from_degrees(45.0);
        let rest = self.target.anatomy.neutral(j);
        let joint = self.target.anatomy.joint(j).filter(|joint| {
            matches!(joint.what, Clavicle | Forearm | Wrist | Toes | Lumbar | Thoracic | Neck)
        });
        let in_line = joint.and_then(|joint| joint.local_of([Angle::ZERO; 3]));
        in_line.filter(|local| local.distance(rest) > FAR).unwrap_or(rest)
    }
}

/// [`Retarget`] for one clip, which shows the axes of the source; those of the target are by its rest pose.
///
/// # Errors
///
/// See [`RetargetError`].
///
/// # Panics
///
/// If the rig is bound to a skeleton with another number of joints than the target.
pub fn retarget(
    (source, clip): (&Skeleton, &Clip),
    target: &Skeleton,
    options: &RetargetOptions<'_>,
) -> Result<Retargeted, RetargetError> {
    let axes = [FigureAxes::of(source, &[clip]), FigureAxes::of(target, &[])];
    Retarget::by([source, target], axes)?.apply(clip, options)
}

/// Bones that are never farther from rest than this share of the longest path through the skeleton are as
/// they are at rest, but for the digits of a file: about a hundredth of a millimetre of a person.
const DUST: f64 = 1e-5;

/// The motion of a joint as far as it is known.
#[derive(Clone, Debug, Default)]
struct Moving {
    rotations: Rotations,
    translations_m: Points,
}

/// How the rotation of a joint comes about.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// `before · W(from) · after` in the world.
    World { from: JointIndex, before: Rotation, after: Rotation },
    /// The same between two of them, with their frames.
    Between {
        from: (JointIndex, Rotation),
        to: (JointIndex, Rotation),
        share: f64,
        before: Rotation,
        after: Rotation,
    },
    /// `before · local(from) · after` in the parent.
    Local { from: JointIndex, before: Rotation, after: Rotation },
    /// Always this in the parent.
    Rest(Rotation),
}

impl Turn {
    const fn moves(&self) -> bool {
        !matches!(self, Self::Rest(_))
    }

    /// The local rotation, and that in the world.
    fn at(&self, above: Rotation, pose: &Pose, world: &World) -> (Rotation, Rotation) {
        let turned = |(j, frame): (JointIndex, Rotation)| world.rotations[j.get()] * frame;
        let here = match *self {
            Self::World { from, before, after } => before * world.rotations[from.get()] * after,
            Self::Between { from, to, share, before, after } => {
                before * turned(from).slerp(turned(to), share) * after
            }
            Self::Local { from, before, after } => {
                let local = before * pose.rotations[from.get()] * after;
                return (local, above * local);
            }
            Self::Rest(local) => return (local, above * local),
        };
        (above.inverse() * here, here)
    }
}

/// A joint of the target that is moved from its offset as one of the source is.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    joint: JointIndex,
    from: JointIndex,
    /// From the space of the one's parent to that of the other's.
    turn: Rotation,
}

/// How the pelvis gets where it belongs.
struct Places<'t> {
    trunk: &'t [JointIndex],
    /// The joints of the source that those of the trunk go with, if the root has one. Then the pelvis
    /// makes up for what is left; else the root does.
    with: Option<Vec<Option<(JointIndex, Rotation)>>>,
}

impl<'t> Places<'t> {
    fn new(retarget: &Retarget<'_>, trunk: &'t [JointIndex]) -> Self {
        let Retarget { source, target, from, .. } = retarget;
        let [ours, theirs] = retarget.frames();
        let with = |j: &JointIndex| {
            let MotionFrom::Name(s) = from[j.get()] else { return None };
            let (p, q) = (target.skeleton.parent(*j), source.skeleton.parent(s));
            let turn = match (p, q) {
                (Some(p), Some(q)) => theirs[p.get()] * ours[q.get()].inverse(),
                _ => retarget.turn().0,
            };
            Some((s, turn))
        };
        let with: Vec<_> = trunk.iter().map(with).collect();
        let same = with.first().copied().flatten().map(|(s, _)| s);
        let is_root = same.is_some() && same == source.trunk().first().copied();
        Self { trunk, with: (is_root && trunk.len() > 1).then_some(with) }
    }

    fn put(
        &self,
        retarget: &Retarget<'_>,
        (pose, scale): (&Pose, f64),
        pelvis_m: DVec3,
        world: &[Rotation],
        theirs: &mut Pose,
    ) {
        let skeleton = retarget.target.skeleton;
        let [root, .., last] = self.trunk else {
            // The pelvis is the root.
            for j in self.trunk {
                theirs.translations_m[j.get()] = pelvis_m;
            }
            return;
        };
        let above = |j: JointIndex| skeleton.parent(j).map(|p| world[p.get()]);
        let Some(with) = &self.with else {
            let below = self.trunk.iter().skip(1);
            let reach = below.fold(DVec3::ZERO, |sum, j| {
                sum + above(*j).unwrap_or_default() * skeleton[*j].offset_m
            });
            theirs.translations_m[root.get()] = pelvis_m - reach;
            return;
        };
        let mut place = DVec3::ZERO;
        for (j, with) in self.trunk.iter().zip(with) {
            if j == last {
                break;
            }
            let local = match with {
                Some((s, turn)) => *turn * (pose.translations_m[s.get()] * scale),
                None => skeleton[*j].offset_m,
            };
            theirs.translations_m[j.get()] = local;
            place += above(*j).unwrap_or_default() * local;
        }
        let turn = above(*last).unwrap_or_default().inverse();
        theirs.translations_m[last.get()] = turn * (pelvis_m - place);
    }
}

/// One of the two skeletons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// That the motion is of.
    Source,
    /// That it goes to.
    Target,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "source",
            Self::Target => "target",
        })
    }
}

/// Why motion cannot be retargeted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetargetError {
    /// The joints have no names that we know.
    NoNames(End),
    /// No joint is known to be the pelvis of somebody who stands.
    NoPelvis(End),
    /// The scale is not a positive number.
    Scale,
    /// There is no motion, it is of another skeleton, or a place would be beyond the range of numbers.
    Clip(ClipError),
}

impl fmt::Display for RetargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNames(end) => write!(
                f,
                "neither a table nor the words in the names tell what the {end}'s joints are of the body; \
                 give a table of their names"
            ),
            Self::NoPelvis(end) => write!(
                f,
                "no joint of the {end} is known to be the pelvis, or the figure stands neither at rest nor in \
                 any frame of its file; give a file with motion in which it stands, or a table of names with \
                 the axes of its joints"
            ),
            Self::Scale => f.write_str("the scale of places has to be a positive number"),
            Self::Clip(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RetargetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Clip(error) => Some(error),
            Self::NoNames(_) | Self::NoPelvis(_) | Self::Scale => None,
        }
    }
}

#[cfg(test)]
mod tests;
