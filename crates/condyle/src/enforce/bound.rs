//! A rig matched with a skeleton.

use crate::hash::ContentHash;
use crate::limits::{Limit, PreparedLimit};
use crate::math::{Angle, Rotation};
use crate::motion::{Clip, FrameIndex, KeyTimes};
use crate::rig::{LeftOut, Rig, RigError};
use crate::skeleton::{JointIndex, RestPart, Skeleton, rests_differ};

/// Rest poses that differ by more than this are told.
const REST_TOLERANCE: Angle = Angle::from_degrees(0.1);

/// The limits of a rig, ready for the clips of a skeleton. Joints are matched by name.
///
/// # Convention
///
/// `local = rest · center · m`: `rest` is the given skeleton's, not the rig's, and `center` the
/// rig's; the limit speaks of `m`.
#[derive(Clone, Debug)]
pub struct BoundRig {
    joints: Vec<BoundJoint>,
    joint_count: usize,
    not_in_skeleton: Vec<String>,
    not_in_rig: Vec<JointIndex>,
    rest_differences: Vec<RestDifference>,
}

/// A joint whose rest pose in the skeleton is another than in the rig.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestDifference {
    /// The joint in the skeleton.
    pub joint: JointIndex,
    /// The angle between the two rest poses.
    pub angle: Angle,
    /// What differs: the joint's rest rotation, or where the bones below it point in its local space. Files
    /// without rest rotations, as BVH, have their rest pose in these.
    pub of: RestPart,
}

/// A joint with its limit.
#[derive(Clone, Debug)]
pub(super) struct BoundJoint {
    pub(super) joint: JointIndex,
    pub(super) limit: PreparedLimit,
    /// Whether there is anything that the limit does not allow.
    pub(super) restricts: bool,
    /// Those of the entry.
    pub(super) noise: Option<Angle>,
    pub(super) tolerance: Option<Angle>,
    /// An excess up to this is within the noise of the estimate (decision 12).
    pub(super) allowance: Angle,
    /// Which frames of which takes the estimate left out.
    pub(super) left_out: Vec<LeftOut>,
    /// `rest · center`, and back.
    zero: Rotation,
    from_zero: Rotation,
}

impl BoundRig {
    /// Matches the joints that a rig has entries for with those of a skeleton, and makes their limits
    /// ready.
    ///
    /// # Errors
    ///
    /// The first limit that makes no sense as geometry, with its place in the document. Limits of
    /// joints that the skeleton does not have are not looked at.
    pub fn new(rig: &Rig, skeleton: &Skeleton) -> Result<Self, RigError> {
        let mut joints = Vec::new();
        let mut not_in_skeleton = Vec::new();
        let mut rest_differences = Vec::new();
        let mut matched = vec![false; skeleton.len()];
        for (name, entry) in rig.joints.iter() {
            let Some(joint) = skeleton.find(name) else {
                not_in_skeleton.push(name.to_owned());
                continue;
            };
            let limit = entry.limit.prepare().map_err(|e| rig.limit_error(name, &e))?;
            let rest = skeleton[joint].rest;
            let restricts = !matches!(entry.limit, Limit::Free);
            if let Some(own) = rig.skeleton.find(name).filter(|_| restricts) {
                let angle = rig.skeleton[own].rest.distance(rest);
                if angle > REST_TOLERANCE {
                    let of = RestPart::Rotation;
                    rest_differences.push(RestDifference { joint, angle, of });
                }
            }
            let zero = rest * entry.center;
            matched[joint.get()] = true;
            joints.push(BoundJoint {
                joint,
                limit,
                restricts,
                noise: entry.noise,
                tolerance: entry.tolerance,
                allowance: entry.allowance(),
                left_out: entry.left_out.clone(),
                zero,
                from_zero: zero.inverse(),
            });
        }
        joints.sort_by_key(|j| j.joint);
        rest_differences.extend(bones_apart(rig, skeleton, &joints));
        rest_differences.sort_by_key(|d| d.joint);
        let not_in_rig = skeleton.indices().filter(|j| !matched[j.get()]).collect();
        let joint_count = skeleton.len();
        Ok(Self { joints, joint_count, not_in_skeleton, not_in_rig, rest_differences })
    }

    /// The joints that both have, in the skeleton's order.
    pub fn joints(&self) -> impl ExactSizeIterator<Item = JointIndex> + '_ {
        self.joints.iter().map(|j| j.joint)
    }

    /// Joints that the rig has an entry for and the skeleton does not have, in the rig's order.
    #[must_use]
    pub fn not_in_skeleton(&self) -> &[String] {
        &self.not_in_skeleton
    }

    /// Joints of the skeleton that the rig has no entry for: they can do anything.
    #[must_use]
    pub fn not_in_rig(&self) -> &[JointIndex] {
        &self.not_in_rig
    }

    /// Joints with a limit whose rest rotation differs by more than 0.1° from the rig's, or a bone below which
    /// points another way, by more than people differ ([`rests_differ`]). Their limits may mean something else
    /// on this skeleton.
    #[must_use]
    pub fn rest_differences(&self) -> &[RestDifference] {
        &self.rest_differences
    }

    /// The limit of a joint, if the rig has an entry for it.
    #[must_use]
    pub fn limit(&self, joint: JointIndex) -> Option<&PreparedLimit> {
        self.find(joint).map(|j| &j.limit)
    }

    /// The rotation `m` that the limit of a joint speaks of, for a local rotation of the joint.
    #[must_use]
    pub fn motion(&self, joint: JointIndex, local: Rotation) -> Option<Rotation> {
        self.find(joint).map(|j| j.motion(local))
    }

    /// Which take a clip is, if the rig knows of frames that were left out of takes.
    pub(super) fn take_of(&self, clip: &Clip) -> Option<ContentHash> {
        self.joints.iter().any(|j| !j.left_out.is_empty()).then(|| clip.content_hash())
    }

    /// The joint's `rest · center`.
    #[must_use]
    pub fn zero(&self, joint: JointIndex) -> Option<Rotation> {
        self.find(joint).map(|j| j.zero)
    }

    fn find(&self, joint: JointIndex) -> Option<&BoundJoint> {
        let i = self.joints.binary_search_by_key(&joint, |j| j.joint).ok()?;
        self.joints.get(i)
    }

    /// What there is to do for a clip of the skeleton.
    pub(super) fn bound(&self, clip: &Clip) -> &[BoundJoint] {
        assert_eq!(clip.tracks().len(), self.joint_count, "the clip is of the skeleton");
        &self.joints
    }
}

/// The joints with a limit below which a bone points another way at rest, by the bone that is farthest off.
fn bones_apart(rig: &Rig, skeleton: &Skeleton, joints: &[BoundJoint]) -> Vec<RestDifference> {
    let mut apart: Vec<RestDifference> = Vec::new();
    for differ in rests_differ(&rig.skeleton, skeleton) {
        let parent = skeleton.find(&differ.joint).and_then(|child| skeleton.parent(child));
        let limited = |j: &JointIndex| joints.iter().any(|b| b.joint == *j && b.restricts);
        let Some(joint) = parent.filter(limited).filter(|_| differ.of == RestPart::Bone) else {
            continue;
        };
        match apart.iter_mut().find(|d| d.joint == joint) {
            Some(known) if known.angle >= differ.apart => {}
            Some(known) => known.angle = differ.apart,
            None => apart.push(RestDifference { joint, angle: differ.apart, of: differ.of }),
        }
    }
    apart
}

impl BoundJoint {
    /// `m` of a local rotation.
    pub(super) fn motion(&self, local: Rotation) -> Rotation {
        self.from_zero * local
    }

    /// The local rotation of an `m` that is allowed, so that its own `m` is allowed as well: both
    /// products round.
    pub(super) fn local(&self, m: Rotation) -> Rotation {
        let mut local = self.zero * m;
        // Rounding matters near −bone only, where twist is hardly defined. One step nearly always
        // settles it.
        for _ in 0..4 {
            let again = self.motion(local);
            if self.limit.contains(again) {
                break;
            }
            local = self.zero * self.limit.project(again);
        }
        local
    }

    /// How far a rotation may be outside of the limit, radians, and still keep its numbers.
    pub(super) fn slack(&self, exact: bool) -> f64 {
        if exact { 0.0 } else { self.allowance.radians() }
    }

    /// What becomes of a local rotation that is outside by more than the slack; `None` if it is not.
    pub(super) fn clamped(&self, local: Rotation, slack: f64) -> Option<Rotation> {
        let allowed = nearest(&self.limit, self.motion(local), slack)?;
        Some(self.local(allowed).in_hemisphere_of(local))
    }

    /// The joint's local rotation in every frame of a clip.
    pub(super) fn locals<'a>(
        &self,
        clip: &'a Clip,
    ) -> impl Iterator<Item = (FrameIndex, Rotation)> + 'a {
        let joint = self.joint;
        let track = clip.track(joint);
        // Asked once, and not for every frame.
        let sampled = track.rotation_times() == &KeyTimes::EveryFrame;
        let rotations = track.rotations();
        clip.frames().map(move |frame| {
            let local =
                if sampled { rotations.at(frame.get()) } else { clip.rotation(joint, frame) };
            (frame, local)
        })
    }
}

/// Whether a rotation is inside of a limit, or outside by no more than the slack, radians.
pub(super) fn passes(limit: &PreparedLimit, m: Rotation, slack: f64) -> bool {
    limit.contains(m) || (slack > 0.0 && -limit.distance(m).radians() <= slack)
}

/// The nearest allowed rotation to one that does not [pass](passes); `None` if it does.
pub(super) fn nearest(limit: &PreparedLimit, m: Rotation, slack: f64) -> Option<Rotation> {
    let allowed = limit.project(m);
    // An allowed rotation comes back bit for bit.
    (allowed.quat() != m.quat() && !passes(limit, m, slack)).then_some(allowed)
}
