//! What a rig says about one joint.

use std::collections::HashMap;
use std::fmt;

use super::{End, LeftOut};
use crate::hash::ContentHash;
use crate::limits::Limit;
use crate::math::{Angle, Rotation};

/// How a joint moves: what `m` is in `local = rest · center · m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum JointKind {
    /// `m` is the identity.
    Fixed,
    /// `m = R(axis, a)`.
    Hinge,
    /// `m = R(axes[0], a) · R(axes[1], b)`.
    Universal,
    /// `m = swing · twist`, the twist about the bone, the swing about an axis across it.
    Ball,
    /// Any motion: turns and shifts.
    #[default]
    Free,
}

impl JointKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Fixed, Self::Hinge, Self::Universal, Self::Ball, Self::Free];

    pub(super) const NAMES: [&'static str; 5] = ["fixed", "hinge", "universal", "ball", "free"];

    /// Its name in the document.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Hinge => "hinge",
            Self::Universal => "universal",
            Self::Ball => "ball",
            Self::Free => "free",
        }
    }

    /// The shapes of limit that a joint of this kind can have.
    pub(super) const fn shapes(self) -> &'static [&'static str] {
        match self {
            Self::Fixed => &["locked"],
            Self::Hinge => &["arc", "locked", "free"],
            Self::Universal => &["arcs", "locked", "free"],
            Self::Ball => &["swing_twist", "euler_box", "locked", "free"],
            Self::Free => &["free"],
        }
    }
}

impl fmt::Display for JointKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where the kind and the limit of a joint come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// From motion.
    Estimated,
    /// From a person.
    Edited,
    /// From a table of published ranges.
    Preset,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Estimated, Self::Edited, Self::Preset];

    pub(super) const NAMES: [&'static str; 3] = ["estimated", "edited", "preset"];

    /// Its name in the document.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Estimated => "estimated",
            Self::Edited => "edited",
            Self::Preset => "preset",
        }
    }
}

/// A limit that resists before it stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Soft {
    /// How far inside the boundary it begins.
    pub onset: Angle,
    /// How strongly it resists, relative to a limit's own scale; not negative.
    pub stiffness: f64,
}

/// What a rig says about one joint.
#[derive(Clone, Debug, Default)]
pub struct RigJoint {
    /// How it moves.
    pub kind: JointKind,
    /// The limit's zero, relative to the rest pose.
    pub center: Rotation,
    /// Which rotations it may take. It has to fit the kind: a hinge has [`Limit::Hinge`], a universal
    /// joint [`Limit::Universal`], a fixed one [`Limit::Locked`], a free one [`Limit::Free`], and a
    /// ball any other or one of the last two.
    pub limit: Limit,
    /// Resistance inside the limit.
    pub soft: Option<Soft>,
    /// How sure the kind is, from 0 to 1.
    pub confidence: Option<f64>,
    /// Why it is this kind, in words.
    pub why: Option<String>,
    /// What else its user should know, in sentences.
    pub notes: Vec<String>,
    /// Whether the rest pose satisfies kind and limit.
    pub rest_inside: Option<bool>,
    /// How far the rest pose is outside.
    pub rest_excess: Option<Angle>,
    /// The repaired start pose of a joint whose rest is not allowed: a local rotation.
    pub start: Option<Rotation>,
    /// How many samples the estimate is from.
    pub samples: Option<u64>,
    /// How many samples were rejected.
    pub rejected: Option<u64>,
    /// Of what the estimate left out, the frames that the limit does not allow: glitches, and poses in
    /// front of the motion. A check of the very takes that they are from names them, and does not count
    /// them; the same poses elsewhere count.
    pub left_out: Vec<LeftOut>,
    /// The noise that the estimate assumed, and nothing else.
    pub noise: Option<Angle>,
    /// How far the worst sample that the estimate accepted is outside of the limit.
    pub tolerance: Option<Angle>,
    /// How well the ends of the limit are known, if the estimate could tell.
    pub ends: Vec<End>,
    /// Where it comes from.
    pub source: Option<Source>,
    /// The [content](Self::content_hash) that the entry had when it was estimated: what has another one
    /// was changed since, see [`is_edited`](Self::is_edited).
    pub estimate_hash: Option<ContentHash>,
}

/// What a check always allows: files round.
const LEAST_ALLOWANCE: Angle = Angle::from_degrees(0.01);

impl RigJoint {
    /// How far outside of its limit a joint may be to count as within the noise of the estimate:
    /// max(0.01°, 3 × [`noise`](Self::noise), [`tolerance`](Self::tolerance)).
    #[must_use]
    pub fn allowance(&self) -> Angle {
        let noise = self.noise.map_or(0.0, |noise| 3.0 * noise.degrees());
        let tolerance = self.tolerance.map_or(0.0, Angle::degrees);
        Angle::from_degrees(LEAST_ALLOWANCE.degrees().max(noise).max(tolerance))
    }

    /// Whether it is a person's: its source says so, or it was changed since it was estimated.
    #[must_use]
    pub fn is_edited(&self) -> bool {
        let changed = self.estimate_hash.is_some_and(|was| self.content_hash() != Some(was));
        self.source == Some(Source::Edited) || changed
    }

    /// Whether it was changed since it was estimated, and its source does not say so.
    #[must_use]
    pub fn is_edited_since(&self) -> bool {
        self.source != Some(Source::Edited) && self.is_edited()
    }
}

/// What a rig says about its joints, by their names, in the order of the document.
#[derive(Clone, Debug, Default)]
pub struct RigJoints {
    entries: Vec<(String, RigJoint)>,
    by_name: HashMap<String, usize>,
}

impl RigJoints {
    /// No entries yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry of a joint.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RigJoint> {
        self.by_name.get(name).map(|&i| &self.entries[i].1)
    }

    /// The entry of a joint, to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut RigJoint> {
        self.by_name.get(name).map(|&i| &mut self.entries[i].1)
    }

    /// Adds an entry at the end, or replaces that of the same name where it is, and returns what was
    /// there.
    pub fn insert(&mut self, name: impl Into<String>, joint: RigJoint) -> Option<RigJoint> {
        let name = name.into();
        if let Some(old) = self.get_mut(&name) {
            return Some(std::mem::replace(old, joint));
        }
        self.by_name.insert(name.clone(), self.entries.len());
        self.entries.push((name, joint));
        None
    }

    /// Removes an entry; the others keep their order. Takes time in proportion to their number.
    pub fn remove(&mut self, name: &str) -> Option<RigJoint> {
        let i = self.by_name.remove(name)?;
        let (_, joint) = self.entries.remove(i);
        for (n, (name, _)) in self.entries.iter().enumerate().skip(i) {
            if let Some(index) = self.by_name.get_mut(name) {
                *index = n;
            }
        }
        Some(joint)
    }

    /// All entries in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &RigJoint)> {
        self.entries.iter().map(|(name, joint)| (name.as_str(), joint))
    }

    /// All entries in order, to change them.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut RigJoint)> {
        self.entries.iter_mut().map(|(name, joint)| (name.as_str(), joint))
    }
}

impl IntoIterator for RigJoints {
    type Item = (String, RigJoint);
    type IntoIter = std::vec::IntoIter<(String, RigJoint)>;

    /// All entries in order.
    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<N: Into<String>> FromIterator<(N, RigJoint)> for RigJoints {
    fn from_iter<I: IntoIterator<Item = (N, RigJoint)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        let room = entries.size_hint().0;
        let (list, by_name) = (Vec::with_capacity(room), HashMap::with_capacity(room));
        let mut joints = Self { entries: list, by_name };
        for (name, joint) in entries {
            joints.insert(name, joint);
        }
        joints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_order_through_every_change() {
        let of = |samples| RigJoint { samples: Some(samples), ..RigJoint::default() };
        let mut joints: RigJoints =
            [("c", of(0)), ("a", of(1)), ("b", of(2))].into_iter().collect();
        assert!(joints.insert("d", of(3)).is_none());
        assert_eq!(joints.insert("a", of(4)).unwrap().samples, Some(1));
        assert_eq!(joints.remove("c").unwrap().samples, Some(0));
        assert!(joints.remove("c").is_none());
        let listed: Vec<_> = joints.iter().map(|(n, j)| (n, j.samples.unwrap())).collect();
        assert_eq!(listed, [("a", 4), ("b", 2), ("d", 3)]);
        for (name, samples) in listed.clone() {
            assert_eq!(joints.get(name).unwrap().samples, Some(samples));
        }
    }

    #[test]
    fn the_same_estimate_from_more_samples_has_the_same_hash() {
        let mut joint = RigJoint { samples: Some(800), ..RigJoint::default() };
        joint.estimate_hash = joint.content_hash();
        assert!(joint.estimate_hash.is_some() && !joint.is_edited());
        joint.samples = Some(1000);
        assert!(!joint.is_edited());
        joint.rejected = Some(1);
        assert!(joint.is_edited());
    }

    #[test]
    fn names_in_lists_are_those_of_the_values() {
        assert_eq!(JointKind::ALL.map(JointKind::as_str), JointKind::NAMES);
        assert_eq!(Source::ALL.map(Source::as_str), Source::NAMES);
    }
}
