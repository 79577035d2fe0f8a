//! Which joint of the human body a joint of a skeleton is, its anatomical axes, its clinical angles and
//! their published ranges.
//!
//! [`Anatomy::of`] finds the table of names (`crates/condyle/anatomy`, one file per family of
//! skeletons) that fits a skeleton, and from the rest pose the anatomical frame of every segment: x
//! forward, y up, along the bone to its proximal end, z to the right (ISB). A joint's rotation in those
//! frames gives angles that mean the same for every skeleton: [`AnatomicalJoint::angles`].
//! `docs/anatomy.md` has conventions, signs and tables.

mod angles;
mod explored;
mod figure_axes;
mod floor;
mod frames;
mod in_motion;
mod names;
mod norms;
mod symmetry;
#[cfg(test)]
mod tests;
mod trials;
mod upright;
mod words;

use std::f64::consts::FRAC_PI_2;

use crate::math::{Angle, Rotation};
use crate::motion::{Clip, Pose};
use crate::rig::name_table::NamedJoint;
use crate::skeleton::{JointIndex, Skeleton};

pub use angles::{AnatomicalJoint, AngleName};
pub use explored::{Beyond, Explored, ExploredAngle};
pub use figure_axes::{AxesFinding, AxesOptions, FigureAxes};
pub use names::{
    BodyJoint, BodySide, NameLacked, NameTable, names_lacked, table_fits, table_used, tables,
};
pub use norms::{Coverage, PublishedRange};
pub use symmetry::Asymmetry;
pub use upright::{Up, UpEvidence, UpFrom, WorldAxis};

use frames::{Standing, Tree};
use names::Names;

/// What the joints of a skeleton are.
#[derive(Clone, Debug)]
pub struct Anatomy {
    title: String,
    names: Names,
    frames: Vec<Option<Rotation>>,
    joints: Vec<Option<AnatomicalJoint>>,
    wholes: Vec<AnatomicalJoint>,
    /// The local rotations of a standing body: those of rest, unless the frames are from motion.
    neutral: Vec<Rotation>,
    names_from: NamesFrom,
    frames_from: FramesFrom,
    /// Names of a table that was given, which no joint has.
    lacked: Vec<NameLacked>,
    /// What a table that was given says is up.
    told_up: Option<WorldAxis>,
}

/// How joints were recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamesFrom {
    /// By a table of names of ours.
    Table,
    /// By a table that was given.
    Given,
    /// By the words in their names, as no table has them.
    Words,
}

/// Where the anatomical frames of the joints are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramesFrom {
    /// A standing rest pose, or the axes that a table gives.
    Rest,
    /// The frames of the motion in which the body is nearest to standing, as the rest pose is none of
    /// standing. The nearest of all is this frame of this clip.
    Motion {
        /// Which of the clips, from 0.
        clip: usize,
        /// Which of its frames.
        frame: usize,
    },
    /// A pose that the caller gave.
    Pose,
    /// There are none: neither rest pose nor motion stand.
    Nothing,
}

impl Anatomy {
    /// By the names of the joints and the rest pose. `None` if neither a table of ours nor the words in the
    /// names tell what they are.
    ///
    /// The rest pose has to be one of a person who stands, arms hanging, raised to the side or anywhere
    /// between, unless the table gives the axes; else no joint has a [frame](Self::frame). See
    /// [`in_motion`](Self::in_motion) for other skeletons, and [`with`](Self::with) for other names.
    #[must_use]
    pub fn of(skeleton: &Skeleton) -> Option<Self> {
        Self::in_motion(skeleton, &[], &[])
    }

    /// The same with tables of one's own, and no guess by words. Of those that name the most joints the
    /// first one counts.
    #[must_use]
    pub fn with(skeleton: &Skeleton, tables: &[NameTable]) -> Option<Self> {
        let (table, names) = names::detect(tables, skeleton)?;
        Some(Self::from_names(skeleton, &[], table, names, NamesFrom::Table))
    }

    /// The same, with frames from the motion where the rest pose is none of standing: exporters lay all
    /// bones along x at rest. `clips` are of this skeleton; those with another number of joints do not
    /// count. Of `tables` of one's own, the one whose names the skeleton has is used; else ours.
    ///
    /// The frames of every limb are means over the motion, in which those count most where the limb is
    /// nearest to that of a standing body; see [`FramesFrom::Motion`].
    #[must_use]
    pub fn in_motion(skeleton: &Skeleton, clips: &[&Clip], tables: &[NameTable]) -> Option<Self> {
        let ours = names::tables();
        let usual = names::usual(&ours, skeleton);
        let count = usual.as_ref().map_or(0, |(_, names, _)| names.iter().flatten().count());
        if let Some((table, names)) = names::given(tables, skeleton, count) {
            return Some(Self::from_names(skeleton, clips, table, names, NamesFrom::Given));
        }
        let (table, names, from) = usual?;
        Some(Self::from_names(skeleton, clips, &table, names, from))
    }

    fn from_names(
        skeleton: &Skeleton,
        clips: &[&Clip],
        table: &NameTable,
        names: Names,
        names_from: NamesFrom,
    ) -> Self {
        let tree = Tree::of(skeleton, &names);
        let rest: Vec<Rotation> = skeleton.joints().iter().map(|joint| joint.rest).collect();
        let standing = Standing {
            skeleton,
            names: &names,
            tree: &tree,
            rotations: &skeleton.rest_world_rotations(),
            positions: &skeleton.rest_world_positions(),
            at_rest: true,
            up: None,
        };
        // Axes that fit the bones are known, whatever the rest pose is.
        let given = names_from == NamesFrom::Given && table.has_frames();
        let has_axes = given || frames::fit(table, skeleton, &names) == Some(true);
        let found = if has_axes || standing.stands() {
            Some((standing.frames(), rest.clone(), FramesFrom::Rest))
        } else {
            let up = upright::up(skeleton, clips, &names, None).axis;
            in_motion::frames(skeleton, clips, &names, &tree, up.vector())
        };
        let nothing = || (vec![None; skeleton.len()], rest, FramesFrom::Nothing);
        let (mut frames, mut neutral, frames_from) = found.unwrap_or_else(nothing);
        if frames_from == FramesFrom::Rest {
            for j in skeleton.indices() {
                let name = &skeleton[j].name;
                let by = table.turned(name);
                if let Some(frame) = table.frame(name) {
                    frames[j.get()] = Some(frame);
                } else if let (Some(frame), Some((_, side))) =
                    (&mut frames[j.get()], names[j.get()])
                {
                    // Outward is against y on the right, and mirrored on the left.
                    let sign = if side == BodySide::Left { 1.0 } else { -1.0 };
                    *frame = *frame * Rotation::about_y(Angle::from_radians(sign * by.radians()));
                }
            }
        }
        if given {
            // The pose in which all axes are in line stands.
            for j in skeleton.indices() {
                let above = skeleton.parent(j).and_then(|p| frames[p.get()]);
                if let (Some(above), Some(own)) = (above, table.frame(&skeleton[j].name)) {
                    neutral[j.get()] = above * own.inverse();
                }
            }
        }
        let title = table.title.clone();
        let anatomy = Self::build(skeleton, title, names, &tree, frames, neutral);
        let by_user = names_from == NamesFrom::Given;
        let lacked = if by_user { names_lacked(table, skeleton) } else { Vec::new() };
        let told_up = WorldAxis::named(table.up().unwrap_or_default()).filter(|_| by_user);
        Self { names_from, frames_from, lacked, told_up, ..anatomy }
    }

    /// The same with the frames of another pose than rest, for skeletons whose rest pose is none of a
    /// standing person: local rotations in the skeleton's order. `None` if neither a table of ours nor the words
    /// in the names tell what the joints are, or the pose is not of this skeleton.
    #[must_use]
    pub fn at(skeleton: &Skeleton, pose: &[Rotation]) -> Option<Self> {
        if pose.len() != skeleton.len() {
            return None;
        }
        let bare: Vec<NameTable> = tables().iter().map(NameTable::without_frames).collect();
        let (table, names, names_from) = names::usual(&bare, skeleton)?;
        let tree = Tree::of(skeleton, &names);
        let translations_m = skeleton.joints().iter().map(|joint| joint.offset_m).collect();
        let world = Pose { rotations: pose.to_vec(), translations_m }.world(skeleton);
        let standing = Standing {
            skeleton,
            names: &names,
            tree: &tree,
            rotations: &world.rotations,
            positions: &world.positions_m,
            at_rest: false,
            up: None,
        };
        let frames = standing.frames();
        let title = table.title.clone();
        let anatomy = Self::build(skeleton, title, names, &tree, frames, pose.to_vec());
        Some(Self { names_from, ..anatomy })
    }

    /// Whose names they are.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The joints of the body that a motion cannot do without: what has not got them all is no whole person.
    pub const MAIN: [(BodyJoint, BodySide); 11] = {
        use BodyJoint::{Ankle, Elbow, Hip, Knee, Pelvis, Shoulder};
        use BodySide::{Left, Middle, Right};
        [
            (Pelvis, Middle),
            (Hip, Left),
            (Hip, Right),
            (Knee, Left),
            (Knee, Right),
            (Ankle, Left),
            (Ankle, Right),
            (Shoulder, Left),
            (Shoulder, Right),
            (Elbow, Left),
            (Elbow, Right),
        ]
    };

    /// The [main joints](Self::MAIN) that no joint of the skeleton is, though one is their counterpart, each with
    /// that one: motion that is mirrored or brought onto another figure is wrong there.
    pub fn one_sided(&self) -> impl Iterator<Item = ((BodyJoint, BodySide), JointIndex)> + '_ {
        let lost = |(what, side): &(BodyJoint, BodySide)| {
            let other = self.find(*what, side.other())?;
            self.find(*what, *side).is_none().then_some(((*what, *side), other))
        };
        Self::MAIN.iter().filter_map(lost)
    }

    /// The first joint of the skeleton that is this one of the body.
    #[must_use]
    pub fn find(&self, what: BodyJoint, side: BodySide) -> Option<JointIndex> {
        self.names.iter().position(|name| *name == Some((what, side))).map(JointIndex::new)
    }

    /// A table of the names of a skeleton's joints; see [`FigureAxes::document`].
    fn document(
        skeleton: &Skeleton,
        anatomy: Option<&Self>,
        title: &str,
        up: Option<WorldAxis>,
    ) -> String {
        let source = match anatomy {
            None => "written by condyle, which recognised none of the joints".to_owned(),
            Some(anatomy) => format!("written by condyle; names by {}", anatomy.title()),
        };
        let from_motion = anatomy.filter(|a| matches!(a.frames_from, FramesFrom::Motion { .. }));
        // Of joints that are none of the body, that of what they are on.
        let mut frames: Vec<Option<Rotation>> = Vec::with_capacity(skeleton.len());
        for j in skeleton.indices() {
            let above = || {
                let above = frames[skeleton.parent(j)?.get()]?;
                Some(from_motion?.neutral(j).inverse() * above)
            };
            frames.push(from_motion.and_then(|anatomy| anatomy.frame(j)).or_else(above));
        }
        let joints = skeleton.indices().map(|j| NamedJoint {
            name: &skeleton[j].name,
            is: anatomy.and_then(|anatomy| anatomy.name(j)),
            frame: frames[j.get()],
        });
        NameTable::document(title, &source, up.map(WorldAxis::as_str), joints)
    }

    /// How its joints were recognised.
    #[must_use]
    pub const fn names_from(&self) -> NamesFrom {
        self.names_from
    }

    /// Where the frames of its joints are from.
    #[must_use]
    pub const fn frames_from(&self) -> FramesFrom {
        self.frames_from
    }

    /// The local rotation of a joint in the pose that the frames are from: that of rest, or of a standing
    /// frame of the motion.
    ///
    /// # Panics
    ///
    /// If the skeleton has no such joint.
    pub(crate) fn neutral(&self, joint: JointIndex) -> Rotation {
        self.neutral[joint.get()]
    }

    /// What a joint is, by its name.
    #[must_use]
    pub fn name(&self, joint: JointIndex) -> Option<(BodyJoint, BodySide)> {
        self.names.get(joint.get()).copied().flatten()
    }

    /// The joint that is the pelvis, the first of several.
    #[must_use]
    pub fn pelvis(&self) -> Option<JointIndex> {
        let at = self.names.iter().position(|n| matches!(n, Some((BodyJoint::Pelvis, _))))?;
        Some(JointIndex::new(at))
    }

    /// The anatomical frame of the segment that a joint carries, in the joint's local space: x forward,
    /// y up or to the proximal end, z to the right. Also of the pelvis. `None` if the joint has no name
    /// that the table has, or the pose is not one of standing.
    #[must_use]
    pub fn frame(&self, joint: JointIndex) -> Option<Rotation> {
        self.frames.get(joint.get()).copied().flatten()
    }

    /// A joint with its frames. `None` if it has no name that the table has, is the pelvis, or if there
    /// are no frames: what is above it has no name either, or the pose is not one of standing.
    #[must_use]
    pub fn joint(&self, joint: JointIndex) -> Option<&AnatomicalJoint> {
        self.joints.get(joint.get())?.as_ref()
    }

    /// All joints with frames.
    pub fn joints(&self) -> impl Iterator<Item = &AnatomicalJoint> {
        self.joints.iter().flatten()
    }

    /// Joints in a row that published ranges take as one: back, neck, and the shoulder with the
    /// clavicle. Their angles are those of [`AnatomicalJoint::angles_along`]. Also where the row has
    /// only one joint.
    #[must_use]
    pub fn wholes(&self) -> &[AnatomicalJoint] {
        &self.wholes
    }

    fn build(
        skeleton: &Skeleton,
        title: String,
        names: Names,
        tree: &Tree,
        frames: Vec<Option<Rotation>>,
        pose: Vec<Rotation>,
    ) -> Self {
        // From a joint up to (and without) a named one, from the top. A body has no longer ones.
        const LONGEST: usize = 256;
        let chain = |from: JointIndex, to: JointIndex| {
            let mut chain = vec![from];
            let mut at = from;
            while let Some(p) = skeleton.parent(at).filter(|p| *p != to) {
                chain.push(p);
                at = p;
                if chain.len() > LONGEST {
                    return None;
                }
            }
            chain.reverse();
            Some(chain)
        };
        let build = |j: JointIndex, above: JointIndex, what, side, whole| {
            let palm = palm(what, side);
            let proximal = frames[above.get()]? * palm;
            let distal = frames[j.get()]? * palm;
            let chain = chain(j, above)?;
            let between = &chain[..chain.len().saturating_sub(1)];
            let turned = between.iter().fold(Rotation::IDENTITY, |r, b| r * pose[b.get()]);
            let at_parent = turned.inverse() * proximal;
            Some(AnatomicalJoint { what, side, chain, whole, proximal, distal, at_parent })
        };

        let mut joints: Vec<Option<AnatomicalJoint>> = vec![None; skeleton.len()];
        for j in skeleton.indices() {
            let Some((what, side)) = names[j.get()] else { continue };
            let Some(above) = tree.above[j.get()] else { continue };
            let hangs = names[above.get()]
                .is_some_and(|(a, s)| hangs_on(what, a) && (s == side || s == BodySide::Middle));
            if hangs {
                joints[j.get()] = build(j, above, what, side, false);
            }
        }
        // Published ranges are about a joint that is the only one of its name, and has no other that
        // they take as one with it.
        let wholes = wholes(skeleton, &names, tree, &joints, build);
        let mut count = std::collections::BTreeMap::new();
        for joint in joints.iter().flatten() {
            *count.entry((joint.what, joint.side)).or_insert(0_usize) += 1;
        }
        for joint in joints.iter_mut().flatten() {
            let of = (joint.what, joint.side);
            let part = wholes.iter().any(|w| (w.what, w.side) == of && w.chain != joint.chain);
            joint.whole = count.get(&of) == Some(&1) && !part;
        }
        let (names_from, frames_from) = (NamesFrom::Table, FramesFrom::Pose);
        Self {
            title,
            names,
            frames,
            joints,
            wholes,
            neutral: pose,
            names_from,
            frames_from,
            lacked: Vec::new(),
            told_up: None,
        }
    }
}

/// The rows that are taken as one: the last of a group, against what is above the first.
fn wholes(
    skeleton: &Skeleton,
    names: &Names,
    tree: &Tree,
    joints: &[Option<AnatomicalJoint>],
    build: impl Fn(JointIndex, JointIndex, BodyJoint, BodySide, bool) -> Option<AnatomicalJoint>,
) -> Vec<AnatomicalJoint> {
    let group = |j: JointIndex| match names[j.get()]?.0 {
        BodyJoint::Lumbar | BodyJoint::Thoracic => Some(BodyJoint::Back),
        BodyJoint::Neck => Some(BodyJoint::Neck),
        BodyJoint::Clavicle | BodyJoint::Shoulder => Some(BodyJoint::Shoulder),
        _ => None,
    };
    // What is above the first of a joint's row; parents come first.
    let mut start: Vec<Option<JointIndex>> = vec![None; skeleton.len()];
    let mut found: Vec<AnatomicalJoint> = Vec::new();
    for j in skeleton.indices() {
        let (Some(what), Some(above)) = (group(j), tree.above[j.get()]) else { continue };
        if joints[j.get()].is_none() {
            continue;
        }
        let goes_on = group(above) == Some(what) && start[above.get()].is_some();
        start[j.get()] = if goes_on { start[above.get()] } else { Some(above) };
        let last = !tree.below[j.get()].iter().any(|k| group(*k) == Some(what));
        let carries = what != BodyJoint::Shoulder
            || names[j.get()].is_some_and(|(n, _)| n == BodyJoint::Shoulder);
        let side = names[j.get()].map_or(BodySide::Middle, |(_, side)| side);
        let known = found.iter().any(|w| w.what == what && w.side == side);
        if let (true, true, false, Some(from)) = (last, carries, known, start[j.get()]) {
            found.extend(build(j, from, what, side, true));
        }
    }
    found
}

/// The wrist bends about axes of the hand: x out of the palm. With the thumb forward, that is to the
/// other side.
fn palm(what: BodyJoint, side: BodySide) -> Rotation {
    match (what, side) {
        (BodyJoint::Wrist, BodySide::Left) => Rotation::about_y(Angle::from_radians(-FRAC_PI_2)),
        (BodyJoint::Wrist, _) => Rotation::about_y(Angle::from_radians(FRAC_PI_2)),
        _ => Rotation::IDENTITY,
    }
}

/// What the segment above a joint of the body may be.
const fn hangs_on(what: BodyJoint, above: BodyJoint) -> bool {
    use BodyJoint as B;
    match what {
        B::Hip => matches!(above, B::Pelvis),
        B::Knee => matches!(above, B::Hip),
        B::Ankle => matches!(above, B::Knee | B::Ankle),
        B::Toes => matches!(above, B::Ankle),
        B::Lumbar => matches!(above, B::Pelvis | B::Lumbar),
        B::Thoracic => matches!(above, B::Pelvis | B::Lumbar | B::Thoracic),
        B::Neck | B::Clavicle => {
            matches!(above, B::Pelvis | B::Lumbar | B::Thoracic | B::Neck)
        }
        B::Shoulder => {
            matches!(above, B::Pelvis | B::Lumbar | B::Thoracic | B::Neck | B::Clavicle)
        }
        B::Elbow => matches!(above, B::Shoulder),
        B::Forearm => matches!(above, B::Elbow),
        B::Wrist => matches!(above, B::Elbow | B::Forearm),
        B::Pelvis | B::Back => false,
    }
}
