//! Which axis of the world is up for a figure in motion.
//!
//! Files do not say it. The rest pose is a hint and no more: exporters lay all bones along x at rest, or
//! turn a figure that rests along y into a world with z up by the rotation of its root. The motion knows:
//! people carry their heads above their pelvises and those above their feet, and what is lowest is on a
//! floor, at one height and not moving.

use std::fmt;

use glam::DVec3;

use super::floor::{CLIPS, Frames, Lowest, Posed};
use super::frames::{Standing, Tree};
use super::names::Names;
use super::{BodyJoint, BodySide};
use crate::math::unit;
use crate::motion::{Clip, World};
use crate::skeleton::{JointIndex, Skeleton};

/// An axis of the world, with its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorldAxis {
    /// Along x.
    X,
    /// Along y.
    Y,
    /// Along z.
    Z,
    /// Against x.
    NegX,
    /// Against y.
    NegY,
    /// Against z.
    NegZ,
}

impl WorldAxis {
    /// All six, the usual ones first: of equals the first is chosen.
    pub const ALL: [Self; 6] = [Self::Y, Self::Z, Self::X, Self::NegY, Self::NegZ, Self::NegX];

    /// As a unit vector.
    #[must_use]
    pub const fn vector(self) -> DVec3 {
        match self {
            Self::X => DVec3::X,
            Self::Y => DVec3::Y,
            Self::Z => DVec3::Z,
            Self::NegX => DVec3::NEG_X,
            Self::NegY => DVec3::NEG_Y,
            Self::NegZ => DVec3::NEG_Z,
        }
    }

    /// Its name: `x` or `-x`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Y => "y",
            Self::Z => "z",
            Self::NegX => "-x",
            Self::NegY => "-y",
            Self::NegZ => "-z",
        }
    }

    /// The axis of a name, as [`as_str`](Self::as_str) has it, in capitals or not.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|axis| axis.as_str().eq_ignore_ascii_case(name))
    }

    /// The axis that is nearest to a vector. `None` for the zero vector, or one that is not finite.
    #[must_use]
    pub fn nearest(v: DVec3) -> Option<Self> {
        let v = unit(v)?;
        let nearer = |best: Self, axis: Self| {
            if axis.vector().dot(v) > best.vector().dot(v) { axis } else { best }
        };
        Some(Self::ALL.into_iter().fold(Self::Y, nearer))
    }

    pub(super) fn index(self) -> usize {
        Self::ALL.iter().position(|axis| *axis == self).unwrap_or(0)
    }
}

impl fmt::Display for WorldAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which axis is up, and what says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Up {
    /// The axis.
    pub axis: WorldAxis,
    /// What it was taken from.
    pub from: UpFrom,
    /// What the motion shows along this axis. `None` without motion, or where pelvis, head and feet are
    /// not known.
    pub shown: Option<UpEvidence>,
    /// The axis that is up in the rest pose, if that is one of standing.
    pub rest: Option<WorldAxis>,
    /// Another axis that the body is along in the mean over the motion, which was not taken: somebody
    /// lies, swims or hangs all the time, or this axis is up.
    pub doubt: Option<WorldAxis>,
}

/// What the axis that is up was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpFrom {
    /// The caller said so.
    Told,
    /// The motion: how the body is held, and the floor.
    Motion,
    /// The motion of a figure whose joints have names that say nothing: the floor below it alone.
    Floor,
    /// The rest pose, which the motion does not speak against.
    Rest,
    /// The table of names that was given: neither motion nor rest pose tell.
    Table,
    /// Nothing: y, as in most files.
    Assumed,
}

/// What motion shows of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UpEvidence {
    /// The mean over frames of the cosine between the axis and the body, from the feet over the pelvis to the
    /// head: 1 for who stands straight up all the time. 0 where the joints are not known.
    pub posture: f64,
    /// The share of the frames in which the lowest joint is at the height of the floor.
    pub level: f64,
    /// The share of the frames in which it is there and hardly moves.
    pub still: f64,
}

impl UpEvidence {
    /// Feet are at the height of a floor.
    fn floor(&self) -> f64 {
        self.level + self.still
    }
}

impl Up {
    /// What says so, as a clause.
    #[must_use]
    pub fn reason(&self) -> String {
        match (self.from, self.shown) {
            (UpFrom::Told, _) => "as told".to_owned(),
            (UpFrom::Table, _) => "as the table of names says".to_owned(),
            (UpFrom::Rest, _) => "the figure stands along it at rest".to_owned(),
            (UpFrom::Motion, Some(UpEvidence { posture, level, .. })) => format!(
                "the motion has the body along it ({posture:.2} in the mean, 1 is upright) and the lowest \
                 joint on one level in {:.0} % of the frames",
                100.0 * level
            ),
            (UpFrom::Floor, Some(UpEvidence { level, .. })) => format!(
                "the names of the joints say nothing, and along this axis the lowest of them is on one level in \
                 {:.0} % of the frames, with the figure above it",
                100.0 * level
            ),
            (UpFrom::Motion | UpFrom::Floor | UpFrom::Assumed, _) => "assumed".to_owned(),
        }
    }

    /// What is said by the caller, or by the rest pose, or by nothing.
    pub(super) const fn without_motion(told: Option<WorldAxis>, rest: Option<WorldAxis>) -> Self {
        let (axis, from) = match (told, rest) {
            (Some(axis), _) => (axis, UpFrom::Told),
            (None, Some(axis)) => (axis, UpFrom::Rest),
            (None, None) => (WorldAxis::Y, UpFrom::Assumed),
        };
        Self { axis, from, shown: None, rest, doubt: None }
    }
}

/// The joints that say how a body is held: the pelvis or what is between the hips, the top of the spine, and
/// the ankles or what there is of the legs.
struct Landmarks {
    low: Vec<JointIndex>,
    top: JointIndex,
    feet: Vec<JointIndex>,
    /// All that have names: what of them is lowest is on the floor.
    all: Vec<JointIndex>,
}

impl Landmarks {
    fn of(skeleton: &Skeleton, names: &Names) -> Option<Self> {
        use BodyJoint::{Ankle, Hip, Knee, Neck, Pelvis, Thoracic};
        let is = |what: BodyJoint| {
            move |j: &JointIndex| names[j.get()].is_some_and(|(name, _)| name == what)
        };
        let last = |what| skeleton.indices().rev().find(is(what));
        let sides = |what| -> Vec<JointIndex> {
            let one = |side| skeleton.indices().find(|j| names[j.get()] == Some((what, side)));
            [BodySide::Left, BodySide::Right].into_iter().filter_map(one).collect()
        };
        let pelvis: Vec<JointIndex> = skeleton.indices().find(is(Pelvis)).into_iter().collect();
        let low = if pelvis.is_empty() { sides(Hip) } else { pelvis };
        let top = last(Neck).or_else(|| last(Thoracic))?;
        let feet = [Ankle, Knee].map(sides).into_iter().find(|feet| !feet.is_empty());
        let all = skeleton.indices().filter(|j| names[j.get()].is_some()).collect();
        (!low.is_empty()).then(|| Self { low, top, feet: feet.unwrap_or_default(), all })
    }

    fn middle(world: &World, joints: &[JointIndex]) -> Option<DVec3> {
        #[allow(clippy::cast_precision_loss, reason = "one or two joints")]
        let count = joints.len() as f64;
        let sum: DVec3 = joints.iter().map(|j| world.positions_m[j.get()]).sum();
        (count > 0.0).then(|| sum / count)
    }

    /// The way from the pelvis to the top and from the feet to the pelvis, metres.
    fn body(&self, world: &World) -> Option<[DVec3; 2]> {
        let low = Self::middle(world, &self.low)?;
        let up = world.positions_m[self.top.get()] - low;
        let feet = Self::middle(world, &self.feet);
        Some([up, feet.map_or(up, |feet| low - feet)])
    }
}

/// What a clip shows of each of [`WorldAxis::ALL`].
struct Seen {
    frames: usize,
    each: [UpEvidence; 6],
    /// The axis along which somebody stands in a pose in front of the motion.
    front: Option<WorldAxis>,
    /// Whether anybody stands in any frame, along whichever axis.
    stands: bool,
}

impl Seen {
    /// `None` if the figure has no size or is not finite in any frame.
    fn of(skeleton: &Skeleton, clip: &Clip, marks: &Landmarks, names: &Names) -> Option<Self> {
        let mut posed = Posed::new(skeleton, clip);
        let (mut world, mut next) = (World::new(), World::new());
        let mut lowest: [Lowest; 6] = Default::default();
        let mut posture = DVec3::ZERO;
        let mut sizes: Vec<f64> = Vec::new();
        let tree = Tree::of(skeleton, names);
        let mut stands = false;
        for [frame, beside] in Frames::of(clip) {
            posed.at(frame, &mut world);
            let Some([up, down]) = marks.body(&world) else { continue };
            let (Some(a), Some(b)) = (unit(up), unit(down)) else { continue };
            posed.at(beside, &mut next);
            posture += 0.5 * (a + b);
            stands = stands || standing(skeleton, names, &tree, &world).stands();
            sizes.push(up.length() + down.length());
            for (lowest, axis) in lowest.iter_mut().zip(WorldAxis::ALL) {
                lowest.add(axis, [&world, &next], marks.all.iter().copied(), clip.rate().fps());
            }
        }
        let frames = sizes.len();
        sizes.sort_unstable_by(f64::total_cmp);
        let size_m = *sizes.get(frames / 2)?;
        #[allow(clippy::cast_precision_loss, reason = "at most as many as are looked at")]
        let posture = posture / frames as f64;
        let good = posture.is_finite() && size_m.is_finite() && size_m > 0.0;
        let each = std::array::from_fn(|k| {
            let [level, still] = lowest[k].shares(size_m);
            UpEvidence { posture: posture.dot(WorldAxis::ALL[k].vector()), level, still }
        });
        let front = (clip.motion_start() > 0).then(|| {
            posed.at(0, &mut world);
            stands_along(skeleton, &world, names)
        });
        good.then(|| Self { frames, each, front: front.flatten(), stands })
    }
}

fn standing<'a>(
    skeleton: &'a Skeleton,
    names: &'a Names,
    tree: &'a Tree,
    world: &'a World,
) -> Standing<'a> {
    let (rotations, positions) = (&world.rotations, &world.positions_m);
    Standing { skeleton, names, tree, rotations, positions, at_rest: true, up: None }
}

/// The axis along which a figure stands in a pose; `None` if it does not.
pub(super) fn stands_along(skeleton: &Skeleton, world: &World, names: &Names) -> Option<WorldAxis> {
    let tree = Tree::of(skeleton, names);
    let standing = standing(skeleton, names, &tree, world);
    let up = standing.body().filter(|_| standing.stands())? * DVec3::Y;
    // Between two axes it is along none.
    const ALONG: f64 = 0.9;
    WorldAxis::nearest(up).filter(|axis| axis.vector().dot(up) > ALONG)
}

/// Which axis is up in clips of one skeleton, whose rest pose stands along an axis or not.
///
/// # Method
///
/// Our own. Of every axis there is the mean posture p, the share l of frames in which the lowest joint of
/// the body is on one level, and the share s of those in which it hardly moves there. Without a rest pose
/// (or pose in front) that stands, the axis with the largest 2p + l + s is taken. Where there is one, its
/// axis stays unless another has p above 0.5 and larger by 0.3, and a clear floor: s ≥ 0.1, and l + s twice as
/// much as along the rest's axis. Where no pose in front of the motion stands along the rest's axis, p ≥ 0.9
/// will do, too, and so will l ≥ 0.8 with as much of l + s.
///
/// Of 1,733 takes at hand (1,664 of CMU at 30 frames a second, HDM05, and 27 BVH of others), with swimming,
/// cartwheels, rolls and lying among them, the first rule alone is wrong in 30, all but three of them
/// swimming or getting up from the floor; the second in none. If the world is turned under a rest pose
/// that stays, the second sees it in all but those in which nobody stands for long.
pub(super) fn up(
    skeleton: &Skeleton,
    clips: &[&Clip],
    names: &Names,
    rest: Option<WorldAxis>,
) -> Up {
    let plain = Up::without_motion(None, rest);
    let Some(marks) = Landmarks::of(skeleton, names) else { return plain };
    let step = clips.len().div_ceil(CLIPS).max(1);
    let seen = clips.iter().step_by(step).filter(|clip| clip.frame_count() > 0);
    let seen: Vec<Seen> = seen.filter_map(|clip| Seen::of(skeleton, clip, &marks, names)).collect();
    let frames: usize = seen.iter().map(|s| s.frames).sum();
    if frames == 0 {
        return plain;
    }
    let each: [UpEvidence; 6] = std::array::from_fn(|k| {
        let mean = |of: fn(&UpEvidence) -> f64| -> f64 {
            #[allow(clippy::cast_precision_loss, reason = "far below 2^53 frames")]
            let weighted = seen.iter().map(|s| of(&s.each[k]) * s.frames as f64 / frames as f64);
            weighted.sum()
        };
        UpEvidence {
            posture: mean(|e| e.posture),
            level: mean(|e| e.level),
            still: mean(|e| e.still),
        }
    });
    let front = seen.iter().find_map(|s| s.front);
    if rest.or(front).is_none() && !seen.iter().any(|s| s.stands) {
        // A tangle that never stands: which way it lies says nothing.
        return plain;
    }
    let chosen = choose(&each, rest, front);
    Up { shown: Some(each[chosen.axis.index()]), rest, ..chosen }
}

fn choose(each: &[UpEvidence; 6], rest: Option<WorldAxis>, front: Option<WorldAxis>) -> Up {
    // The posture of who stands, walks or runs is 0.9 and more; that of who swims or crawls is along the
    // ground.
    const HELD: f64 = 0.5;
    const MORE: f64 = 0.3;
    const CONSTANT: f64 = 0.9;
    const LEVEL: f64 = 0.8;
    const STILL: f64 = 0.1;
    const CLEAR: f64 = 2.0;
    // What the level of a floor is uncertain by.
    const SAME: f64 = 0.05;
    let of = |axis: WorldAxis| each[axis.index()];
    let found = |axis, from, doubt| Up { axis, from, shown: None, rest, doubt };
    let Some(held) = rest.or(front) else {
        let score = |axis: WorldAxis| 2.0 * of(axis).posture + of(axis).floor();
        let better = |best, axis| if score(axis) > score(best) { axis } else { best };
        return found(WorldAxis::ALL.into_iter().fold(WorldAxis::Y, better), UpFrom::Motion, None);
    };
    let own = of(held);
    let others = WorldAxis::ALL.into_iter().filter(|axis| {
        let e = of(*axis);
        *axis != held && e.posture > HELD && e.posture - own.posture > MORE
    });
    let more = |a: &WorldAxis, b: &WorldAxis| of(*a).posture.total_cmp(&of(*b).posture);
    let other = others.max_by(more);
    let is_up = |axis: &WorldAxis| {
        let e = of(*axis);
        // Feet that stand on it, and hardly anything that does along the rest's axis.
        let floor = e.still >= STILL && e.floor() >= CLEAR * own.floor();
        let level = e.level >= LEVEL && e.floor() + SAME >= own.floor();
        floor || (front != Some(held) && (level || e.posture >= CONSTANT))
    };
    let from_held = if rest.is_some() { UpFrom::Rest } else { UpFrom::Motion };
    match other {
        Some(axis) if is_up(&axis) => found(axis, UpFrom::Motion, None),
        doubt => {
            let sure = own.posture > HELD && doubt.is_none();
            found(held, if sure { UpFrom::Motion } else { from_held }, doubt)
        }
    }
}
