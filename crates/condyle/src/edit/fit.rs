//! Motion kept to the degrees of freedom that a skeleton's file gives its joints.

use std::collections::BTreeMap;

use glam::{DMat3, DVec3};

use crate::enforce::{BoundRig, ClampOptions, Clamped};
use crate::math::{Angle, Rotation};
use crate::motion::turns::Turns;
use crate::motion::{Clip, FrameIndex, Pose, World};
use crate::skeleton::{JointIndex, Skeleton};

/// What keeping to degrees of freedom did to a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitted {
    /// How many joints were turned by more than a hundredth of a degree.
    pub joints: usize,
    /// The joint that was turned farthest from where the motion has it in the world.
    pub worst: JointIndex,
    /// The first frame with that.
    pub frame: FrameIndex,
    /// By how much.
    pub by: Angle,
}

/// Turned by more than this is worth counting.
const COUNTS: Angle = Angle::from_degrees(0.01);

/// Keeps a motion to the degrees of freedom that the file of its skeleton declares (ASF), so that it needs
/// no others. From the root on, each joint gets the rotation that its own turns can make and that is
/// nearest to the one it has in the world: what a joint cannot do, those below it make up for as far as
/// they can. Roots, and joints that may turn about three axes, get there exactly.
///
/// `None` if nothing is declared, or all joints are free.
///
/// # Panics
///
/// If the clip has another number of joints than the skeleton.
pub fn fit(skeleton: &Skeleton, clip: &mut Clip) -> Option<Fitted> {
    fit_with(skeleton, clip, |_| false)
}

/// Brings a motion inside limits, and [fits](fit) it, in turns: what fits last may be outside again by
/// little, so limits come last, and what they need beyond the degrees of freedom stays.
///
/// # Panics
///
/// If the clip or the rig is of another number of joints than the skeleton.
pub fn fit_inside(
    skeleton: &Skeleton,
    clip: &mut Clip,
    rig: &BoundRig,
    options: &ClampOptions,
) -> (Clamped, Option<Fitted>) {
    const ROUNDS: usize = 8;
    let clamped = rig.clamp(clip, options);
    let fitted = fit(skeleton, clip);
    if fitted.is_some() {
        let sharp = ClampOptions { smoothing: None, ..*options };
        for _ in 0..ROUNDS {
            if !rig.clamp(clip, &sharp).changed() {
                break;
            }
            let still = fit(skeleton, clip).is_none_or(|f| f.by.radians() == 0.0);
            if still {
                break;
            }
        }
        let _ = rig.clamp(clip, &sharp);
    }
    (clamped, fitted)
}

/// The same, with joints that nothing is wanted of: they turn so that the joint below can be as wanted.
pub(super) fn fit_with(
    skeleton: &Skeleton,
    clip: &mut Clip,
    is_free: impl Fn(JointIndex) -> bool,
) -> Option<Fitted> {
    assert_eq!(clip.tracks().len(), skeleton.len(), "a clip has one track per joint");
    let turns: Vec<Option<Turns>> =
        skeleton.indices().map(|j| Turns::declared(skeleton, j)).collect();
    if turns.iter().all(Option::is_none) {
        return None;
    }
    // A free joint, and the one below that it turns for.
    let mut helped: BTreeMap<JointIndex, JointIndex> = BTreeMap::new();
    for c in skeleton.indices().filter(|c| turns[c.get()].is_some() && !is_free(*c)) {
        if let Some(p) = skeleton.parent(c).filter(|p| turns[p.get()].is_some() && is_free(*p)) {
            helped.entry(p).or_insert(c);
        }
    }
    let mut before: Vec<DVec3> = vec![DVec3::ZERO; skeleton.len()];
    let mut counted = vec![false; skeleton.len()];
    let mut worst = (JointIndex::new(0), FrameIndex(0), Angle::ZERO);
    let (mut pose, mut wanted) = (Pose::default(), World::new());
    let mut made: Vec<Rotation> = Vec::with_capacity(skeleton.len());
    for frame in clip.frames() {
        clip.pose_into(frame, &mut pose);
        wanted.update(skeleton, &pose);
        made.clear();
        for j in skeleton.indices() {
            let own = pose.rotations[j.get()];
            let (above, goal) = match skeleton.parent(j) {
                Some(p) => (made[p.get()], wanted.rotations[p.get()]),
                None => (Rotation::IDENTITY, Rotation::IDENTITY),
            };
            // As long as nothing above has changed, to the last digit.
            let same = above.quat() == goal.quat();
            let local = if same { own } else { above.inverse() * wanted.rotations[j.get()] };
            let local = match (&turns[j.get()], helped.get(&j)) {
                (None, _) => local,
                (Some(turns), None) => turns.nearest(local),
                (Some(own), Some(c)) => {
                    let below = turns[c.get()].as_ref().unwrap_or(own);
                    let goal = above.inverse() * wanted.rotations[c.get()];
                    let angles = turned_for(own, below, goal, before[j.get()]);
                    before[j.get()] = angles;
                    own.rotation(angles)
                }
            };
            let here = if same && local.quat() == own.quat() {
                wanted.rotations[j.get()]
            } else {
                above * local
            };
            // What is on its axes but for rounding stays as it is.
            let off = local.distance(own);
            if off.radians() > 1e-12 {
                clip.set_rotation(j, frame, local);
                made.push(here);
            } else {
                made.push(if same { wanted.rotations[j.get()] } else { above * own });
            }
            if !is_free(j) {
                let off = here.distance(wanted.rotations[j.get()]);
                counted[j.get()] |= off > COUNTS;
                if off > worst.2 {
                    worst = (j, frame, off);
                }
            }
        }
    }
    let joints = counted.iter().filter(|c| **c).count();
    Some(Fitted { joints, worst: worst.0, frame: worst.1, by: worst.2 })
}

/// The angles of a joint with which the one below gets nearest to a rotation, from others on: by damped least
/// squares (Levenberg–Marquardt) over the angles of both.
fn turned_for(own: &Turns, below: &Turns, goal: Rotation, from: DVec3) -> DVec3 {
    const ROUNDS: usize = 60;
    const ENOUGH: f64 = 1e-12;
    let off = |angles: [DVec3; 2]| {
        let made = own.rotation(angles[0]) * below.rotation(angles[1]);
        (goal * made.inverse()).log()
    };
    let mut angles = [from, below.angles(own.rotation(from).inverse() * goal, DVec3::ZERO)];
    let (mut left, mut damping) = (off(angles), 1e-6);
    for _ in 0..ROUNDS {
        if left.length() < ENOUGH {
            break;
        }
        let carried = own.rotation(angles[0]);
        let [a, b] = own.axes(angles[0]);
        let [c, d] = below.axes(angles[1]).map(|axis| carried * axis);
        let squares = [a, b, c, d].map(|v| DMat3::from_cols(v * v.x, v * v.y, v * v.z));
        let damped = squares.into_iter().sum::<DMat3>() + DMat3::IDENTITY * damping;
        let by = damped.inverse() * left;
        let step = |p: DVec3, q: DVec3| DVec3::new(p.dot(by), q.dot(by), 0.0);
        let next = [angles[0] + step(a, b), angles[1] + step(c, d)];
        let then = off(next);
        if then.length() < left.length() {
            (angles, left) = (next, then);
            damping = (0.1 * damping).max(1e-15);
        } else if damping < 1e3 {
            damping *= 10.0;
        } else {
            break;
        }
    }
    angles[0]
}
