//! A skeleton whose joints can be turned by a solver, each as its limit lets it.

use std::sync::OnceLock;

use glam::DVec3;

use super::random::{any_rotation, drawn};
use crate::enforce::BoundRig;
use crate::limits::PreparedLimit;
use crate::math::Rotation;
use crate::skeleton::{JointIndex, Skeleton};

/// A skeleton with what each of its joints can do.
///
/// # Convention
///
/// `local = zero · m`, with `zero = rest · center`; limits speak of `m`.
#[derive(Clone, Debug)]
pub struct Figure {
    pub(super) joints: Vec<FigureJoint>,
}

#[derive(Clone, Debug)]
pub(super) struct FigureJoint {
    pub(super) parent: Option<usize>,
    pub(super) zero: Rotation,
    pub(super) turns: Turns,
    /// Whether it is held as it is.
    pub(super) held: bool,
    /// Whether its centre can be moved, too.
    pub(super) shifts: bool,
    /// Places inside of its limit, made when first asked for.
    starts: OnceLock<Vec<Rotation>>,
}

/// How many places inside of a limit there are to start from.
const STARTS: usize = 256;

/// How a joint can turn.
#[derive(Clone, Debug)]
pub(super) enum Turns {
    /// About one axis, or about one and then another, each angle in its range.
    About { axes: [DVec3; 2], ranges: [[f64; 2]; 2], count: usize, limit: PreparedLimit },
    /// About any, inside of a limit.
    Within(PreparedLimit),
    /// As it likes.
    Freely,
}

impl Figure {
    /// A skeleton with the limits of a rig. A joint without an entry turns freely. Roots turn, if their
    /// limits let them, and do not move: see [`free_root`](Self::free_root).
    ///
    /// # Panics
    ///
    /// If the rig was bound to another skeleton, with fewer joints.
    #[must_use]
    pub fn new(skeleton: &Skeleton, rig: &BoundRig) -> Self {
        let mut figure = Self::without_limits(skeleton);
        for joint in rig.joints() {
            let (Some(limit), Some(zero)) = (rig.limit(joint), rig.zero(joint)) else { continue };
            figure.limit(joint, zero, limit.clone());
        }
        figure
    }

    /// A skeleton whose joints all turn freely.
    #[must_use]
    pub fn without_limits(skeleton: &Skeleton) -> Self {
        let joint = |j: JointIndex| FigureJoint {
            parent: skeleton.parent(j).map(JointIndex::get),
            zero: skeleton[j].rest,
            turns: Turns::Freely,
            held: false,
            shifts: false,
            starts: OnceLock::new(),
        };
        Self { joints: skeleton.indices().map(joint).collect() }
    }

    /// Gives a joint a limit, and its zero: `local = zero · m`.
    ///
    /// # Panics
    ///
    /// If the figure has no such joint.
    pub fn limit(&mut self, joint: JointIndex, zero: Rotation, limit: PreparedLimit) {
        let turns = match limit.axes() {
            None if limit.is_free() => Turns::Freely,
            None => Turns::Within(limit),
            Some(about) => {
                let mut axes = [DVec3::X; 2];
                let mut ranges = [[f64::NEG_INFINITY, f64::INFINITY]; 2];
                for (i, (axis, arc)) in about.iter().take(2).enumerate() {
                    axes[i] = *axis;
                    if !arc.is_full() {
                        ranges[i] = [arc.min().radians(), arc.max().radians()];
                    }
                }
                Turns::About { axes, ranges, count: about.len().min(2), limit }
            }
        };
        let joint = &mut self.joints[joint.get()];
        (joint.zero, joint.turns) = (zero, turns);
        joint.starts = OnceLock::new();
    }

    /// Keeps a joint as it is in the pose that a solver starts from.
    ///
    /// # Panics
    ///
    /// If the figure has no such joint.
    pub fn hold(&mut self, joint: JointIndex) {
        self.joints[joint.get()].held = true;
    }

    /// Lets the centres of all roots move.
    pub fn free_root(&mut self) {
        for joint in self.joints.iter_mut().filter(|joint| joint.parent.is_none()) {
            joint.shifts = true;
        }
    }

    /// How many degrees of freedom it has.
    #[must_use]
    pub fn freedoms(&self) -> usize {
        self.joints.iter().map(|joint| if joint.shifts { 3 } else { 0 } + joint.turning()).sum()
    }
}

impl FigureJoint {
    /// A place inside of its limit at random, all of them as likely.
    pub(super) fn start(&self, random: &mut impl FnMut() -> f64) -> Rotation {
        let Turns::Within(limit) = &self.turns else { return any_rotation(random) };
        let starts = self.starts.get_or_init(|| {
            let mut seed = 0;
            drawn(limit, STARTS, || super::random::random(&mut seed)).unwrap_or_default()
        });
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 up to the number of starts"
        )]
        let at = (random() * starts.len() as f64) as usize;
        // What is so thin that nothing was found has only its boundary.
        let start = starts.get(at).copied();
        limit.project(start.unwrap_or_else(|| any_rotation(random)))
    }

    /// Whether its limit allows a local rotation.
    pub(super) fn allows(&self, local: Rotation) -> bool {
        match &self.turns {
            Turns::About { limit, .. } | Turns::Within(limit) => {
                limit.contains(self.zero.inverse() * local)
            }
            Turns::Freely => true,
        }
    }

    /// How many freedoms its rotation has.
    pub(super) const fn turning(&self) -> usize {
        match &self.turns {
            _ if self.held => 0,
            Turns::About { count, .. } => *count,
            Turns::Within(_) | Turns::Freely => 3,
        }
    }
}
