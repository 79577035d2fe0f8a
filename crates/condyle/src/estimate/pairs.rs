//! Joints that are estimated from the motion of others as well: left and right as one.

use std::borrow::Cow;
use std::fmt;

use super::samples::{self, Samples};
use super::{BindPose, Estimate, EstimateError, EstimateOptions, Take, bind_pose, from_sources};
use crate::math::{Rotation, Rotations};
use crate::skeleton::{JointIndex, Skeleton};

/// A joint, and one whose motion counts for it as well: the same joint on the other side of the body,
/// or itself in a mirror.
pub struct Pair<'a> {
    joint: JointIndex,
    counterpart: JointIndex,
    local_from: Box<dyn Fn(Rotation) -> Rotation + Send + Sync + 'a>,
}

impl<'a> Pair<'a> {
    /// A joint of the first take's skeleton, its counterpart there, and the local rotation of the joint
    /// for one of the counterpart. For left and right to come out as mirror images the counterpart needs
    /// a pair of its own, with the way back.
    pub fn new(
        joint: JointIndex,
        counterpart: JointIndex,
        local_from: impl Fn(Rotation) -> Rotation + Send + Sync + 'a,
    ) -> Self {
        Self { joint, counterpart, local_from: Box::new(local_from) }
    }
}

impl fmt::Debug for Pair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { joint, counterpart, .. } = self;
        f.debug_struct("Pair").field("joint", joint).field("counterpart", counterpart).finish()
    }
}

/// [`estimate`](super::estimate), or [`estimate_about`](super::estimate_about) a bind pose, with motion
/// of some joints that also counts for others.
///
/// What a pair's counterpart does is taken for motion of its joint, clip by clip, as if it were in
/// further takes: limits hold it, and samples count it. Ends are visited by either; if both are there at
/// once, that is one visit. `Anatomy::images` of the module `anatomy` finds the pairs that make the limits
/// of the left and the right side mirror images of each other. Pairs of joints that the skeleton does not
/// have are left out.
///
/// # Errors
///
/// As of [`estimate`](super::estimate).
pub fn estimate_paired(
    takes: &[Take<'_>],
    pairs: &[Pair<'_>],
    bind: Option<&BindPose>,
    options: &EstimateOptions,
) -> Result<Estimate, EstimateError> {
    match bind {
        Some(bind) => bind_pose::about(bind, takes, pairs, options),
        None => from_sources(takes, pairs, options),
    }
}

/// Where the samples of joints are from.
pub(super) struct Sources<'a> {
    /// Of the first take.
    pub(super) skeleton: &'a Skeleton,
    pub(super) takes: &'a [Take<'a>],
    /// For every take and every joint of the skeleton, the joint of that name in the take.
    pub(super) matches: Vec<Vec<Option<JointIndex>>>,
    pub(super) pairs: &'a [Pair<'a>],
}

impl Sources<'_> {
    /// Those of a joint: the takes with motion that have it, then those that have a counterpart.
    pub(super) fn of(&self, joint: JointIndex) -> Vec<Source<'_>> {
        let seen = |whose: JointIndex, pair| {
            let both = self.takes.iter().zip(&self.matches).enumerate();
            both.filter(|(_, (take, _))| take.clip.frame_count() > 0).filter_map(
                move |(number, (take, own))| {
                    let (skeleton, own) = (self.skeleton, (*own.get(whose.get())?)?);
                    Some(Source { skeleton, take, number, joint: own, pair })
                },
            )
        };
        let further = self.pairs_of(joint).flat_map(|pair| seen(pair.counterpart, Some(pair)));
        seen(joint, None).chain(further).collect()
    }

    fn pairs_of(&self, joint: JointIndex) -> impl Iterator<Item = &Pair<'_>> {
        let known = |pair: &&Pair<'_>| pair.counterpart.get() < self.skeleton.len();
        self.pairs.iter().filter(move |pair| pair.joint == joint).filter(known)
    }

    /// That there are others among the samples.
    pub(super) fn note(&self, joint: JointIndex) -> Option<String> {
        let pair = self.pairs_of(joint).next()?;
        self.skeleton.parent(joint)?;
        Some(if pair.counterpart == joint {
            "symmetrised: from its samples and their mirror images".to_owned()
        } else {
            "symmetrised: from the samples of both sides".to_owned()
        })
    }
}

/// A joint of a take whose motion counts for a joint.
pub(super) struct Source<'a> {
    skeleton: &'a Skeleton,
    pub(super) take: &'a Take<'a>,
    /// Which take that is.
    pub(super) number: usize,
    /// The joint that moves, in the take's skeleton.
    pub(super) joint: JointIndex,
    /// `None` if it is the joint itself.
    pair: Option<&'a Pair<'a>>,
}

impl<'a> Source<'a> {
    pub(super) const fn is_own(&self) -> bool {
        self.pair.is_none()
    }

    /// The rotations relative to rest, frame by frame; one alone if it does not move.
    pub(super) fn series(&self, from: usize) -> Cow<'a, Rotations> {
        let own = samples::series(self.take.skeleton, self.take.clip, self.joint, from);
        let image = self.image();
        samples::image_of(own, image.as_ref().map(|image| image as samples::Image<'_>))
    }

    pub(super) fn samples(&self, from: usize, reject: bool) -> Samples {
        let Take { skeleton, clip } = self.take;
        let image = self.image();
        let image = image.as_ref().map(|image| image as samples::Image<'_>);
        let samples = Samples::imaged(skeleton, clip, self.joint, from, reject, image);
        Samples { take: self.number, ..samples }
    }

    /// Every take is relative to its own rest pose; what that is for the other joint, the first
    /// skeleton tells.
    fn image(&self) -> Option<impl Fn(Rotation) -> Rotation + 'a> {
        let pair = self.pair?;
        let there = self.skeleton[pair.counterpart].rest;
        let back = self.skeleton[pair.joint].rest.inverse();
        Some(move |q| back * (pair.local_from)(there * q))
    }
}
