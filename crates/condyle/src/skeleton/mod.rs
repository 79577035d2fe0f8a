//! The tree of joints and its rest pose.
//!
//! A [`Joint`] is where a child segment meets its parent; it owns a local space. Its place in the
//! parent's local space at rest is `offset_m`, its rotation there is `rest`. Parents come before
//! children by construction, so one forward pass over the joints visits every parent first.

mod geometry;
mod near;
mod rests;

use std::collections::HashMap;
use std::fmt;
use std::ops::Index;

use glam::DVec3;

use crate::math::Rotation;

pub use near::names_near;
pub(crate) use rests::RestBone;
pub use rests::{RestPart, RestsDiffer, rests_differ};

/// The most joints a skeleton may have. The largest we know of (full-body with face) has under
/// 1,000; the limit keeps a hostile file from asking for more than we could walk.
pub const MAX_JOINTS: usize = 65_536;

/// Which joint of a skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointIndex(u32);

impl JointIndex {
    /// Its place in the skeleton's order, from 0.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn new(i: usize) -> Self {
        Self(u32::try_from(i).expect("a skeleton has at most MAX_JOINTS joints"))
    }
}

/// One degree of freedom, or one column of a motion file: a turn about or a shift along a local
/// axis, or a change of the bone's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dof {
    /// Shift along x.
    Tx,
    /// Shift along y.
    Ty,
    /// Shift along z.
    Tz,
    /// Turn about x.
    Rx,
    /// Turn about y.
    Ry,
    /// Turn about z.
    Rz,
    /// Change of the bone's length (`l` in ASF).
    Length,
}

impl fmt::Display for Dof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Dof {
    /// Its word in an ASF: `rx`, `tz`, `l`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tx => "tx",
            Self::Ty => "ty",
            Self::Tz => "tz",
            Self::Rx => "rx",
            Self::Ry => "ry",
            Self::Rz => "rz",
            Self::Length => "l",
        }
    }

    /// 0, 1, 2 for a turn about x, y, z.
    #[must_use]
    pub const fn rotation_axis(self) -> Option<usize> {
        match self {
            Self::Rx => Some(0),
            Self::Ry => Some(1),
            Self::Rz => Some(2),
            _ => None,
        }
    }

    /// 0, 1, 2 for a shift along x, y, z.
    #[must_use]
    pub const fn translation_axis(self) -> Option<usize> {
        match self {
            Self::Tx => Some(0),
            Self::Ty => Some(1),
            Self::Tz => Some(2),
            _ => None,
        }
    }

    /// The turn about axis 0, 1 or 2.
    pub(crate) const fn rotation(axis: usize) -> Self {
        [Self::Rx, Self::Ry, Self::Rz][axis]
    }

    /// The shift along axis 0, 1 or 2.
    pub(crate) const fn translation(axis: usize) -> Self {
        [Self::Tx, Self::Ty, Self::Tz][axis]
    }
}

/// A degree of freedom as a file declares it. Declared limits are kept and shown, not believed:
/// in the CMU data the recorded motion exceeds them on many axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeclaredDof {
    /// Which freedom.
    pub dof: Dof,
    /// From, to; in radians for turns and metres for shifts. Either end may be infinite.
    pub limit: Option<(f64, f64)>,
}

/// What the file says about a joint besides its place: kept, so that it can be shown, compared with
/// the motion, and written back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declared {
    /// Degrees of freedom in the file's order. `None` if the format declares none, empty if it says
    /// that the joint does not move.
    pub dofs: Option<Vec<DeclaredDof>>,
    /// Bone shape and other fields (`bodymass`, `cofmass`, …): key and the text after it.
    pub fields: Vec<(String, String)>,
}

/// The far end of a bone that has no joint there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndSite {
    /// Its name, where the file gives one.
    pub name: Option<String>,
    /// Its place in the joint's local space, in metres.
    pub offset_m: DVec3,
}

/// A joint: where a segment meets its parent.
#[derive(Clone, Debug, Default)]
pub struct Joint {
    /// Its name, unique within the skeleton.
    pub name: String,
    /// The joint centre at rest, in the parent's local space (in world space for a root), metres.
    pub offset_m: DVec3,
    /// The local rotation at rest: parent's local space from this joint's local space.
    pub rest: Rotation,
    /// Ends of bones without a joint, in this joint's local space.
    pub end_sites: Vec<EndSite>,
    /// What the file declares besides.
    pub declared: Declared,
}

impl Joint {
    /// A joint with a name and an offset, no rest rotation, no end sites.
    #[must_use]
    pub fn new(name: impl Into<String>, offset_m: DVec3) -> Self {
        Self { name: name.into(), offset_m, ..Self::default() }
    }
}

/// The tree of joints with its rest pose. Parents come before children; names are unique.
///
/// ```
/// use condyle::glam::DVec3;
/// use condyle::skeleton::{Joint, Skeleton};
///
/// let mut skeleton = Skeleton::new();
/// let hips = skeleton.add_root(Joint::new("Hips", DVec3::ZERO))?;
/// let spine = skeleton.add(hips, Joint::new("Spine", DVec3::new(0.0, 0.2, 0.0)))?;
/// assert_eq!(skeleton.parent(spine), Some(hips));
/// assert_eq!(skeleton.find("Spine"), Some(spine));
/// # Ok::<(), condyle::skeleton::SkeletonError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Skeleton {
    joints: Vec<Joint>,
    parents: Vec<Option<JointIndex>>,
    by_name: HashMap<String, JointIndex>,
}

impl Skeleton {
    /// No joints yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a joint without a parent. A skeleton may have several roots.
    ///
    /// # Errors
    ///
    /// See [`SkeletonError`].
    pub fn add_root(&mut self, joint: Joint) -> Result<JointIndex, SkeletonError> {
        self.push(None, joint)
    }

    /// Adds a joint below `parent`.
    ///
    /// # Errors
    ///
    /// See [`SkeletonError`].
    pub fn add(&mut self, parent: JointIndex, joint: Joint) -> Result<JointIndex, SkeletonError> {
        self.push(Some(parent), joint)
    }

    fn push(
        &mut self,
        parent: Option<JointIndex>,
        joint: Joint,
    ) -> Result<JointIndex, SkeletonError> {
        if self.joints.len() >= MAX_JOINTS {
            return Err(SkeletonError::TooManyJoints);
        }
        if parent.is_some_and(|p| p.get() >= self.joints.len()) {
            return Err(SkeletonError::UnknownParent { name: joint.name });
        }
        if self.by_name.contains_key(&joint.name) {
            return Err(SkeletonError::DuplicateName { name: joint.name });
        }
        let finite = joint.offset_m.is_finite()
            && joint.end_sites.iter().all(|site| site.offset_m.is_finite());
        if !finite {
            return Err(SkeletonError::NotFinite { name: joint.name });
        }
        let index = JointIndex::new(self.joints.len());
        self.by_name.insert(joint.name.clone(), index);
        self.joints.push(joint);
        self.parents.push(parent);
        Ok(index)
    }

    /// The same joints with other rest rotations; nothing else changes.
    #[must_use]
    pub fn with_rests(&self, rest: impl Fn(&Joint) -> Rotation) -> Self {
        self.changed(|joint| joint.rest = rest(joint))
    }

    /// The same joints with other places or rest rotations: what is finite stays finite, and names stay.
    pub(crate) fn changed(&self, change: impl Fn(&mut Joint)) -> Self {
        let mut other = self.clone();
        other.joints.iter_mut().for_each(change);
        other
    }

    /// The same joints in the same order, one of them without a parent.
    pub(crate) fn with_root(&self, joint: JointIndex) -> Self {
        let mut other = self.clone();
        other.parents[joint.get()] = None;
        other
    }

    /// How many joints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// All joints, parents before children.
    pub fn indices(
        &self,
    ) -> impl DoubleEndedIterator<Item = JointIndex> + ExactSizeIterator + use<> {
        (0..self.joints.len()).map(JointIndex::new)
    }

    /// Whether another skeleton has the same joints by name, in the same order and on the same parents.
    #[must_use]
    pub fn same_names(&self, other: &Self) -> bool {
        let names = self.joints.iter().zip(&other.joints);
        self.parents == other.parents && names.into_iter().all(|(a, b)| a.name == b.name)
    }

    /// All joints, parents before children.
    #[must_use]
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// The parent of each joint, in the skeleton's order.
    #[must_use]
    pub fn parents(&self) -> &[Option<JointIndex>] {
        &self.parents
    }

    /// The parent, `None` for a root.
    #[must_use]
    pub fn parent(&self, joint: JointIndex) -> Option<JointIndex> {
        self.parents[joint.get()]
    }

    /// The children, in the skeleton's order. Walks all joints: gather once if you need them all.
    pub fn children(&self, joint: JointIndex) -> impl Iterator<Item = JointIndex> + '_ {
        self.indices().filter(move |&j| self.parent(j) == Some(joint))
    }

    /// The children of every joint, in the skeleton's order.
    #[must_use]
    pub fn children_of_all(&self) -> Vec<Vec<JointIndex>> {
        let mut children = vec![Vec::new(); self.len()];
        for j in self.indices() {
            if let Some(p) = self.parent(j) {
                children[p.get()].push(j);
            }
        }
        children
    }

    /// The joint with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<JointIndex> {
        self.by_name.get(name).copied()
    }
}

impl Index<JointIndex> for Skeleton {
    type Output = Joint;

    fn index(&self, joint: JointIndex) -> &Joint {
        &self.joints[joint.get()]
    }
}

/// Why a joint could not be added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkeletonError {
    /// There is a joint with this name already.
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The parent is not a joint of this skeleton.
    UnknownParent {
        /// The joint that was to be added.
        name: String,
    },
    /// An offset is infinite or not a number.
    NotFinite {
        /// The joint that was to be added.
        name: String,
    },
    /// More than [`MAX_JOINTS`].
    TooManyJoints,
}

impl fmt::Display for SkeletonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateName { name } => write!(f, "there is a joint {name:?} already"),
            Self::UnknownParent { name } => {
                write!(f, "the parent of joint {name:?} is not part of this skeleton")
            }
            Self::NotFinite { name } => write!(f, "an offset of joint {name:?} is not finite"),
            Self::TooManyJoints => write!(f, "more than {MAX_JOINTS} joints"),
        }
    }
}

impl std::error::Error for SkeletonError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_come_before_children_by_construction() {
        let mut s = Skeleton::new();
        let a = s.add_root(Joint::new("a", DVec3::ZERO)).unwrap();
        let b = s.add(a, Joint::new("b", DVec3::X)).unwrap();
        s.add(b, Joint::new("c", DVec3::X)).unwrap();
        s.add(a, Joint::new("d", DVec3::X)).unwrap();
        for j in s.indices() {
            assert!(s.parent(j).is_none_or(|p| p < j));
        }
        let below_a: Vec<_> = s.children(a).map(|j| s[j].name.as_str()).collect();
        assert_eq!(below_a, ["b", "d"]);
    }

    #[test]
    fn bad_joints_are_refused_and_change_nothing() {
        let mut s = Skeleton::new();
        let a = s.add_root(Joint::new("a", DVec3::ZERO)).unwrap();
        let mut other = s.clone();
        let far = other.add(a, Joint::new("b", DVec3::ZERO)).unwrap();
        assert!(matches!(
            s.add(a, Joint::new("a", DVec3::ZERO)),
            Err(SkeletonError::DuplicateName { .. })
        ));
        assert!(matches!(
            s.add(far, Joint::new("c", DVec3::ZERO)),
            Err(SkeletonError::UnknownParent { .. })
        ));
        assert!(matches!(
            s.add(a, Joint::new("c", DVec3::splat(f64::NAN))),
            Err(SkeletonError::NotFinite { .. })
        ));
        assert_eq!(s.len(), 1);
    }
}
