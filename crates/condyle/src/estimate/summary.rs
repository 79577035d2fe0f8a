//! What motion says about the joints of a skeleton, in a form that can be merged.
//!
//! A [`Summary`] holds integers and sets only. So the summaries of many clips give the same bytes
//! however they are grouped and in whatever order they are merged, and a corpus can be worked through
//! in parts, on several machines, clip by clip.

use std::cmp::{Ordering, Reverse};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::fmt;

use glam::DVec3;

use super::cst;
use super::jitter::Jitters;
use super::moments::Moments;
use super::occupancy::Occupancy;
use crate::hash;
use crate::math::{Rotation, Rotations};
use crate::skeleton::{
    EndSite, Joint, JointIndex, MAX_JOINTS, RestBone, RestPart, RestsDiffer, Skeleton,
    SkeletonError,
};

/// What is known of one joint from any number of clips.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JointSummary {
    /// Of the samples that count towards the kind of the joint.
    pub(crate) moments: Moments,
    /// Where the joint was: what its limit has to contain.
    pub(crate) occupancy: Occupancy,
    /// How many frames were used, repeated ones included.
    pub(crate) frames: u64,
    /// How many frames were glitches.
    pub(crate) rejected: u64,
    /// How many keys there were.
    pub(crate) keys: u64,
    /// How many clips there were.
    pub(crate) clips: u64,
    /// The noise as the order of frames shows it, clip by clip.
    pub(crate) jitters: Jitters,
}

/// What is counted of a joint in one clip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// How many frames were used, repeated ones included.
    pub(crate) frames: usize,
    /// How many frames were glitches.
    pub(crate) rejected: usize,
    /// How many keys there were.
    pub(crate) keys: usize,
}

impl JointSummary {
    /// One clip: the moments of its samples, the rotations to be contained in a limit (the samples,
    /// or what they are without noise), counts, and the jitter in radians where it is known.
    pub(crate) fn new(
        moments: Moments,
        marks: &Rotations,
        counts: Counts,
        jitter: Option<f64>,
    ) -> Self {
        let frames = counts.frames as u64;
        Self {
            moments,
            occupancy: Occupancy::of(marks),
            frames,
            rejected: counts.rejected as u64,
            keys: counts.keys as u64,
            clips: 1,
            jitters: jitter.map_or_else(Jitters::default, |jitter| Jitters::of(jitter, frames)),
        }
    }

    /// The clips of both. Counts stop at the largest number there is.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.moments.merge(&other.moments);
        self.occupancy.merge(&other.occupancy);
        self.frames = self.frames.saturating_add(other.frames);
        self.rejected = self.rejected.saturating_add(other.rejected);
        self.keys = self.keys.saturating_add(other.keys);
        self.clips = self.clips.saturating_add(other.clips);
        self.jitters.merge(&other.jitters);
    }
}

/// A joint at rest, and which skeleton that is from.
///
/// Where skeletons differ, one of them has to be written into the rig, the same one in whatever
/// order they come. That is the one with the most joints; of several the one with the smallest
/// checksum, which is arbitrary but fixed. Each joint carries these two numbers, so the joints of a
/// merged skeleton come from one skeleton if one has them all, and joints that it lacks from the next
/// that has them.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    /// How many joints the skeleton has.
    pub(crate) joints: u32,
    /// The checksum of the skeleton.
    pub(crate) checksum: u64,
    /// Which of its joints this is.
    pub(crate) place: u32,
    pub(crate) offset_m: DVec3,
    /// Canonical.
    pub(crate) rest: Rotation,
    pub(crate) end_sites: Vec<EndSite>,
}

impl Placement {
    /// A total order: which placement is taken.
    fn compare(&self, other: &Self) -> Ordering {
        let key = |p: &Self| (Reverse(p.joints), p.checksum, p.place);
        key(self).cmp(&key(other)).then_with(|| {
            // Checksums are nearly always different; bytes decide then too.
            let bytes = |p: &Self| {
                let mut bytes = Vec::new();
                cst::put_placement(&mut bytes, p);
                bytes
            };
            bytes(self).cmp(&bytes(other))
        })
    }
}

/// A joint of a summary.
#[derive(Clone, Debug)]
pub(crate) struct SummaryJoint {
    pub(crate) parent: Option<String>,
    pub(crate) placement: Placement,
    pub(crate) joint: JointSummary,
}

/// What any number of clips say about the joints of a skeleton: the content of a `.cst` file.
///
/// Where a joint was is kept in cells; every rotation is within 1° of the centre of its cell.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// By name. Parents are there, and no joint is above itself.
    pub(super) joints: BTreeMap<String, SummaryJoint>,
}

impl Summary {
    /// The joints of a skeleton with what is known of them, in the skeleton's order. Joints beyond the
    /// end of `joints` are there without clips.
    pub(crate) fn new(skeleton: &Skeleton, joints: Vec<JointSummary>) -> Self {
        let mut placements: Vec<Placement> = skeleton
            .indices()
            .map(|joint| {
                let Joint { offset_m, rest, ref end_sites, .. } = skeleton[joint];
                Placement {
                    joints: number(skeleton.len()),
                    checksum: 0,
                    place: number(joint.get()),
                    offset_m,
                    rest: rest.canonical(),
                    end_sites: end_sites.clone(),
                }
            })
            .collect();
        let parent = |joint: JointIndex| skeleton.parent(joint).map(|p| skeleton[p].name.clone());
        let mut bytes = Vec::new();
        for (joint, placement) in skeleton.indices().zip(&placements) {
            cst::put_text(&mut bytes, &skeleton[joint].name);
            cst::put_text(&mut bytes, &parent(joint).unwrap_or_default());
            cst::put_placement(&mut bytes, placement);
        }
        let checksum = hash::of_bytes(&bytes);
        placements.iter_mut().for_each(|placement| placement.checksum = checksum);
        let joints = joints.into_iter().chain(std::iter::repeat_with(JointSummary::default));
        let joints = skeleton.indices().zip(placements).zip(joints);
        Self {
            joints: joints
                .map(|((index, placement), joint)| {
                    let parent = parent(index);
                    (skeleton[index].name.clone(), SummaryJoint { parent, placement, joint })
                })
                .collect(),
        }
    }

    /// What is known of a joint.
    pub(crate) fn joint(&self, name: &str) -> Option<&JointSummary> {
        self.joints.get(name).map(|j| &j.joint)
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

    /// The skeleton: that of the clips, or where theirs differ the one with the most joints, and what
    /// others have besides. It does not depend on the order in which summaries were merged.
    ///
    /// # Errors
    ///
    /// Never, as long as summaries are made and read by this library.
    pub fn skeleton(&self) -> Result<Skeleton, SkeletonError> {
        let mut children: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        // Those whose parents are there, by their place: parents come first, and a skeleton that is
        // one clip's has its own order.
        let mut ready = BinaryHeap::new();
        for (name, joint) in &self.joints {
            match &joint.parent {
                Some(parent) => children.entry(parent).or_default().push(name),
                None => ready.push(Reverse((joint.placement.place, name.as_str()))),
            }
        }
        let mut skeleton = Skeleton::new();
        while let Some(Reverse((_, name))) = ready.pop() {
            let Some(SummaryJoint { parent, placement, .. }) = self.joints.get(name) else {
                continue;
            };
            let mut joint = Joint::new(name, placement.offset_m);
            joint.rest = placement.rest;
            joint.end_sites.clone_from(&placement.end_sites);
            match parent.as_deref().and_then(|parent| skeleton.find(parent)) {
                Some(parent) => skeleton.add(parent, joint)?,
                None => skeleton.add_root(joint)?,
            };
            for child in children.remove(name).unwrap_or_default() {
                let place = self.joints.get(child).map_or(0, |j| j.placement.place);
                ready.push(Reverse((place, child)));
            }
        }
        Ok(skeleton)
    }

    /// Adds what another summary knows. Joints are the same if their names are; those that only one
    /// has are kept.
    ///
    /// Returns the joints whose rest rotations differ by more than 1°: their limits are relative to
    /// rest, so it should mean the same in both. And those that the bones to point another way at rest,
    /// by more than people differ (25°), as of a T-pose and an A-pose. What is compared is the skeleton
    /// that each of the two stands for.
    ///
    /// # Errors
    ///
    /// If a joint has different parents, or there is more than fits. Then nothing has changed.
    pub fn merge(&mut self, other: &Self) -> Result<Vec<RestsDiffer>, MergeError> {
        let mut differ = Vec::new();
        let mut new = 0;
        for (name, theirs) in &other.joints {
            let Some(ours) = self.joints.get(name) else {
                new += 1;
                continue;
            };
            if ours.parent != theirs.parent {
                let parents = [ours.parent.clone(), theirs.parent.clone()];
                return Err(MergeError::Parents { joint: name.clone(), parents });
            }
            let [a, b] = [ours, theirs].map(|j| j.joint.moments.count());
            if a.checked_add(b).is_none() {
                return Err(MergeError::TooManySamples { joint: name.clone() });
            }
            let apart = ours.placement.rest.distance(theirs.placement.rest);
            if apart > RestsDiffer::LEAST {
                differ.push(RestsDiffer { joint: name.clone(), apart, of: RestPart::Rotation });
            }
        }
        differ.extend(self.bones_apart(other));
        if self.joints.len() + new > MAX_JOINTS {
            return Err(MergeError::TooManyJoints);
        }
        for (name, theirs) in &other.joints {
            match self.joints.entry(name.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(theirs.clone());
                }
                Entry::Occupied(mut entry) => {
                    let ours = entry.get_mut();
                    ours.joint.merge(&theirs.joint);
                    if theirs.placement.compare(&ours.placement).is_lt() {
                        ours.placement = theirs.placement.clone();
                    }
                }
            }
        }
        Ok(differ)
    }
}

impl Summary {
    /// The bones that point another way at rest than in another summary.
    fn bones_apart(&self, other: &Self) -> Vec<RestsDiffer> {
        let bone = |of: &Self, joint: &SummaryJoint, short_m: f64| {
            let parent_rest = of.joints.get(joint.parent.as_ref()?)?.placement.rest;
            Some(RestBone { offset_m: joint.placement.offset_m, parent_rest, short_m })
        };
        let apart = |name: &String, theirs: &SummaryJoint, short_m: [f64; 2]| {
            let ours = bone(self, self.joints.get(name)?, short_m[0])?;
            ours.apart(&bone(other, theirs, short_m[1])?)
        };
        // How long the figures are matters only if there is something to tell.
        if !other.joints.iter().any(|(name, theirs)| apart(name, theirs, [0.0; 2]).is_some()) {
            return Vec::new();
        }
        let short_m = [self, other].map(|s| s.skeleton().map_or(0.0, |s| RestBone::short_m(&s)));
        let alone = other.alone_on_roots();
        let found = other.joints.iter().filter_map(|(name, theirs)| {
            let apart = apart(name, theirs, short_m).filter(|_| !alone.contains(name.as_str()))?;
            Some(RestsDiffer { joint: name.clone(), apart, of: RestPart::Bone })
        });
        found.collect()
    }

    /// What alone hangs on a root, and has more below it: hips below a reference node, whose offset is where
    /// the figure stood.
    fn alone_on_roots(&self) -> BTreeSet<&str> {
        let mut below: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, joint) in &self.joints {
            if let Some(parent) = &joint.parent {
                below.entry(parent).or_default().push(name);
            }
        }
        let roots = self.joints.iter().filter(|(_, joint)| joint.parent.is_none());
        let only = |(root, _): (&String, _)| match below.get(root.as_str())?.as_slice() {
            [one] if below.contains_key(one) => Some(*one),
            _ => None,
        };
        roots.filter_map(only).collect()
    }
}

/// A number of joints, which are at most [`MAX_JOINTS`].
fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Why two summaries cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// A joint has different parents in the two.
    Parents {
        /// The joint.
        joint: String,
        /// Its parents, `None` where it is a root.
        parents: [Option<String>; 2],
    },
    /// Both together have more than [`MAX_JOINTS`] joints.
    TooManyJoints,
    /// A joint has more than 2⁶⁴ samples in both together.
    TooManySamples {
        /// The joint.
        joint: String,
    },
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parents { joint, parents } => {
                let on = |parent: &Option<String>| match parent {
                    Some(parent) => format!("hangs on {parent:?}"),
                    None => "is a root".to_owned(),
                };
                let first = on(&parents[0]);
                let second = match parents {
                    [Some(_), Some(second)] => format!("on {second:?}"),
                    [_, second] => on(second),
                };
                write!(f, "joint {joint:?} {first} in one skeleton and {second} in another")
            }
            Self::TooManyJoints => write!(f, "more than {MAX_JOINTS} joints"),
            Self::TooManySamples { joint } => {
                write!(f, "joint {joint:?} has more than 2^64 samples")
            }
        }
    }
}

impl std::error::Error for MergeError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::samples::Samples;
    use crate::math::Angle;
    use crate::motion::Clip;
    use crate::synth::{Figure, Options, Rng, Synth};

    impl Summary {
        /// One clip, its samples taken as they are.
        pub(crate) fn of_clip(skeleton: &Skeleton, clip: &Clip, reject: bool) -> Self {
            let joints = skeleton
                .indices()
                .map(|joint| JointSummary::of(&Samples::new(skeleton, clip, joint, 0, reject)))
                .collect();
            Self::new(skeleton, joints)
        }
    }

    impl JointSummary {
        /// One clip, its samples taken as they are.
        pub(crate) fn of(samples: &Samples) -> Self {
            let Samples { rotations, used, rejected, jitter, keys, .. } = samples;
            let counts = Counts { frames: *used, rejected: *rejected, keys: *keys };
            Self::new(Moments::of(rotations), rotations, counts, *jitter)
        }
    }

    /// A figure, one of three sizes, with the motion of a seed; some without their last joints.
    fn random(seed: u64) -> Summary {
        let mut rng = Rng::new(seed);
        let figure = Figure::human();
        let options = Options { frames: 20 + rng.below(100), ..Options::default() };
        let synth = Synth::generate(&figure, &options, seed).unwrap();
        let size = 1.0 + 0.1 * rng.below(3) as f64;
        let keep = synth.skeleton.len() - rng.below(3) * 4;
        let mut skeleton = Skeleton::new();
        for index in synth.skeleton.indices().take(keep) {
            let mut joint = synth.skeleton[index].clone();
            joint.offset_m *= size;
            match synth.skeleton.parent(index) {
                Some(parent) => skeleton.add(parent, joint).unwrap(),
                None => skeleton.add_root(joint).unwrap(),
            };
        }
        let joints = skeleton
            .indices()
            .map(|j| JointSummary::of(&Samples::new(&synth.skeleton, &synth.clip, j, 0, true)))
            .collect();
        Summary::new(&skeleton, joints)
    }

    #[test]
    fn merging_in_any_order_and_grouping_gives_the_same_bytes_a11() {
        let mut rng = Rng::new(17);
        let parts: Vec<Summary> = (0..9).map(random).collect();
        let mut in_order = Summary::default();
        for part in &parts {
            assert_eq!(in_order.merge(part), Ok(Vec::new()));
        }
        let bytes = in_order.write();
        for _ in 0..40 {
            let mut left = parts.clone();
            while left.len() > 1 {
                let taken = left.swap_remove(rng.below(left.len()));
                let other = rng.below(left.len());
                // Now and then by way of a file.
                let taken =
                    if rng.chance(0.3) { Summary::read(&taken.write()).unwrap() } else { taken };
                left[other].merge(&taken).unwrap();
            }
            assert!(left[0].write() == bytes);
        }
        let joint = in_order.joint("Hips").unwrap();
        assert_eq!(joint.clips, 9);
        let frames = |s: &Summary| s.joint("Hips").unwrap().frames;
        assert_eq!(joint.frames, parts.iter().map(frames).sum::<u64>());
    }

    #[test]
    fn the_skeleton_is_the_largest_one_and_comes_back_in_its_order() {
        let synth = Synth::generate(&Figure::human(), &Options::default(), 1).unwrap();
        let summary = Summary::of_clip(&synth.skeleton, &synth.clip, true);
        let back = summary.skeleton().unwrap();
        assert_eq!(back.parents(), synth.skeleton.parents());
        for (a, b) in back.joints().iter().zip(synth.skeleton.joints()) {
            assert_eq!((&a.name, a.offset_m, &a.end_sites), (&b.name, b.offset_m, &b.end_sites));
            assert!(a.rest.distance(b.rest).radians() < 1e-15);
        }
        // Others with fewer joints do not change it, larger ones do.
        let all: Vec<Summary> = (0..9).map(random).collect();
        let most = all.iter().map(Summary::len).max().unwrap();
        assert!(all.iter().any(|s| s.len() < most));
        let mut merged = Summary::default();
        all.iter().for_each(|s| assert!(merged.merge(s).is_ok()));
        let merged = merged.skeleton().unwrap();
        let same = |s: &Skeleton| {
            s.len() == merged.len()
                && s.joints()
                    .iter()
                    .zip(merged.joints())
                    .all(|(a, b)| a.name == b.name && a.offset_m == b.offset_m)
        };
        let whole = |s: &&Summary| s.len() == most && same(&s.skeleton().unwrap());
        assert!(all.iter().filter(whole).count() > 0, "joints of different skeletons are mixed");
    }

    fn chain(names: &[&str], turn_deg: f64) -> Summary {
        let mut skeleton = Skeleton::new();
        let mut parent = None;
        for name in names {
            let mut joint = Joint::new(*name, DVec3::Y);
            joint.rest = Rotation::about_x(Angle::from_degrees(turn_deg));
            parent = Some(match parent {
                Some(parent) => skeleton.add(parent, joint).unwrap(),
                None => skeleton.add_root(joint).unwrap(),
            });
        }
        Summary::new(&skeleton, vec![])
    }

    #[test]
    fn contradictory_parents_are_an_error_that_names_them_and_nothing_changes() {
        let mut summary = chain(&["a", "b", "c"], 0.0);
        let before = summary.write();
        let error = summary.merge(&chain(&["a", "c"], 0.0)).unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"joint "c" hangs on "b" in one skeleton and on "a" in another"#
        );
        let error = summary.merge(&chain(&["b", "x"], 0.0)).unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"joint "b" hangs on "a" in one skeleton and is a root in another"#
        );
        let error = chain(&["b", "x"], 0.0).merge(&summary).unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"joint "b" is a root in one skeleton and hangs on "a" in another"#
        );
        assert_eq!(summary.write(), before);
        // What only one has is kept.
        assert_eq!(summary.merge(&chain(&["a", "b", "c", "d"], 0.0)), Ok(vec![]));
        assert_eq!(summary.merge(&chain(&["e"], 0.0)), Ok(vec![]));
        assert_eq!(summary.len(), 5);
        assert_eq!(summary.skeleton().unwrap().len(), 5);
    }

    #[test]
    fn different_rests_are_reported() {
        let mut summary = chain(&["a"], 0.0);
        assert_eq!(summary.merge(&chain(&["a"], 0.99)), Ok(vec![]));
        let mut summary = chain(&["a"], 0.0);
        let found = summary.merge(&chain(&["a"], 90.0)).unwrap();
        let text = found.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(text, ["the rest rotations of joint \"a\" differ by 90.0 deg"]);
    }

    #[test]
    fn too_much_is_an_error() {
        let mut summary = chain(&["a"], 0.0);
        let mut sums = [0; super::super::moments::PRODUCTS];
        sums[0] = i128::from(u64::MAX) << 60;
        summary.joints.get_mut("a").unwrap().joint.moments =
            Moments::from_sums(u64::MAX, sums).unwrap();
        let again = summary.clone();
        assert_eq!(
            summary.merge(&again),
            Err(MergeError::TooManySamples { joint: "a".to_owned() })
        );
        let many = |prefix: &str| {
            let mut skeleton = Skeleton::new();
            for i in 0..40_000 {
                skeleton.add_root(Joint::new(format!("{prefix}{i}"), DVec3::ZERO)).unwrap();
            }
            Summary::new(&skeleton, vec![])
        };
        let (mut a, b) = (many("a"), many("b"));
        assert_eq!(a.merge(&b), Err(MergeError::TooManyJoints));
        assert_eq!(a.len(), 40_000);
    }
}
