//! The anatomical frame of every segment, from the geometry of a standing pose.

use glam::DVec3;

use super::names::Names;
use super::{BodyJoint, BodySide, NameTable};
use crate::math::{Rotation, direct_rotation, unit};
use crate::rig::name_table::frame_of;
use crate::skeleton::{JointIndex, Skeleton};

/// The joints with names, as a tree of their own.
pub(super) struct Tree {
    /// The nearest ancestor with a name, of every joint.
    pub(super) above: Vec<Option<JointIndex>>,
    /// The joints with names that have it as that.
    pub(super) below: Vec<Vec<JointIndex>>,
    /// All children of every joint.
    children: Vec<Vec<JointIndex>>,
}

impl Tree {
    pub(super) fn of(skeleton: &Skeleton, names: &Names) -> Self {
        let mut above: Vec<Option<JointIndex>> = Vec::with_capacity(skeleton.len());
        let mut below = vec![Vec::new(); skeleton.len()];
        for j in skeleton.indices() {
            let nearest = skeleton.parent(j).and_then(|p| match names[p.get()] {
                Some(_) => Some(p),
                None => above[p.get()],
            });
            above.push(nearest);
            if let (Some(a), Some(_)) = (nearest, names[j.get()]) {
                below[a.get()].push(j);
            }
        }
        Self { above, below, children: skeleton.children_of_all() }
    }

    /// The direction of a joint's bone in its local space: to a child with a name, else to another,
    /// else to an end site.
    fn bone(&self, skeleton: &Skeleton, names: &Names, j: JointIndex) -> Option<DVec3> {
        let children = &self.children[j.get()];
        let named = children.iter().filter(|c| names[c.get()].is_some());
        let offsets = named.chain(children).map(|c| skeleton[*c].offset_m);
        let sites = skeleton[j].end_sites.iter().map(|site| site.offset_m);
        offsets.chain(sites).find_map(unit)
    }
}

/// Whether the frames of a table fit a skeleton: the bones of the limbs lie along them. `Some(false)`
/// if the table has none.
pub(super) fn fit(table: &NameTable, skeleton: &Skeleton, names: &Names) -> Option<bool> {
    // About 25 degrees: what a bone that is drawn along an axis may be off.
    const ALONG: f64 = 0.9;
    use BodyJoint::{Elbow, Hip, Knee, Shoulder};
    let limb = |j: &JointIndex| matches!(names[j.get()], Some((Hip | Knee | Shoulder | Elbow, _)));
    let framed = |j| Some((j, table.frame(&skeleton[j].name)?));
    let framed: Vec<_> = skeleton.indices().filter(limb).filter_map(framed).collect();
    if framed.is_empty() {
        return Some(false);
    }
    let tree = Tree::of(skeleton, names);
    let along = |(j, frame): &(JointIndex, Rotation)| {
        let bone = tree.bone(skeleton, names, *j);
        bone.is_some_and(|bone| bone.dot(*frame * DVec3::NEG_Y) > ALONG)
    };
    framed.iter().all(along).then_some(true)
}

/// A pose that the frames are taken from.
pub(super) struct Standing<'a> {
    pub(super) skeleton: &'a Skeleton,
    pub(super) names: &'a Names,
    pub(super) tree: &'a Tree,
    /// World rotations and positions of the joints.
    pub(super) rotations: &'a [Rotation],
    pub(super) positions: &'a [DVec3],
    /// The pose is the rest pose of a file: what is nearly along an axis of the world is meant to be.
    pub(super) at_rest: bool,
    /// What is up in the world, where feet stand on the ground; else it is up for the body.
    pub(super) up: Option<DVec3>,
}

impl Standing<'_> {
    /// The anatomical frame of each joint's segment in its local space; of those that have none, `None`.
    pub(super) fn frames(&self) -> Vec<Option<Rotation>> {
        let mut world: Vec<Option<Rotation>> = vec![None; self.skeleton.len()];
        let Some(body) = self.body() else { return world };
        for j in self.skeleton.indices() {
            let Some((what, side)) = self.names[j.get()] else { continue };
            let above = self.tree.above[j.get()].and_then(|a| world[a.get()]);
            world[j.get()] = match what {
                BodyJoint::Hip | BodyJoint::Shoulder => self.hanging(j, side, body),
                BodyJoint::Knee | BodyJoint::Elbow => self.on(j, side, above),
                BodyJoint::Ankle => self.foot(j, body, above),
                BodyJoint::Toes | BodyJoint::Forearm | BodyJoint::Wrist => above,
                _ => Some(body),
            };
        }
        let local = |(frame, rotation): (Option<Rotation>, &Rotation)| {
            frame.map(|frame| rotation.inverse() * frame)
        };
        world.into_iter().zip(self.rotations).map(local).collect()
    }

    pub(super) fn place(&self, what: BodyJoint, side: BodySide) -> Option<DVec3> {
        let at = self.names.iter().position(|n| *n == Some((what, side)))?;
        Some(self.positions[at])
    }

    /// Whether both thighs and both shanks, as far as they are there, point down from the
    /// body: a pose of standing, from which frames may be taken.
    pub(super) fn stands(&self) -> bool {
        // 45 degrees: who rests with knees bent a little stands.
        const DOWN: f64 = std::f64::consts::FRAC_1_SQRT_2;
        let Some(body) = self.body() else { return false };
        [BodySide::Left, BodySide::Right].into_iter().all(|side| {
            self.leg(side).into_iter().flatten().all(|bone| bone.dot(body * DVec3::NEG_Y) > DOWN)
        })
    }

    /// The directions of thigh and shank, as far as they are there.
    pub(super) fn leg(&self, side: BodySide) -> [Option<DVec3>; 2] {
        use BodyJoint::{Ankle, Hip, Knee};
        self.bones([Hip, Knee, Ankle], side)
    }

    /// The cosine between the line of the shoulders and that of the hips. `None` without both.
    pub(super) fn shoulders_against_hips(&self) -> Option<f64> {
        let across = |what| {
            let (left, right) = (BodySide::Left, BodySide::Right);
            unit(self.place(what, right)? - self.place(what, left)?)
        };
        Some(across(BodyJoint::Hip)?.dot(across(BodyJoint::Shoulder)?))
    }

    /// The directions of upper arm and forearm, as far as they are there.
    pub(super) fn arm(&self, side: BodySide) -> [Option<DVec3>; 2] {
        use BodyJoint::{Elbow, Shoulder, Wrist};
        self.bones([Shoulder, Elbow, Wrist], side)
    }

    fn bones(&self, row: [BodyJoint; 3], side: BodySide) -> [Option<DVec3>; 2] {
        let [a, b, c] = row.map(|what| self.place(what, side));
        [(a, b), (b, c)].map(|(from, to)| unit(to? - from?))
    }

    /// X forward, Y up, Z to the right, of the whole body.
    pub(super) fn body(&self) -> Option<Rotation> {
        use BodyJoint::{Hip, Neck, Pelvis, Shoulder, Thoracic};
        use BodySide::{Left, Middle, Right};
        let pair = |what| Some((self.place(what, Left)?, self.place(what, Right)?));
        let (hips, shoulders) = (pair(Hip), pair(Shoulder));
        let middle = |(a, b): (DVec3, DVec3)| (a + b) * 0.5;
        let low = self.place(Pelvis, Middle).or_else(|| hips.map(middle))?;
        let last = |what| self.names.iter().rposition(|n| *n == Some((what, Middle)));
        let top = last(Neck).or_else(|| last(Thoracic)).map(|at| self.positions[at]);
        let up = [top, shoulders.map(middle)].into_iter().flatten();
        let up = self.snapped(up.map(|top| top - low).find(|v| unit(*v).is_some())?)?;
        let across = [hips, shoulders].into_iter().flatten().map(|(left, right)| right - left);
        let right = across.filter_map(|v| unit(v - up * v.dot(up))).next()?;
        let right = self.snapped(right)?;
        frame_of(up.cross(right), up)
    }

    /// At rest, the axis of the world that is within 15 degrees of a vector; else the vector.
    fn snapped(&self, v: DVec3) -> Option<DVec3> {
        const COS_15: f64 = 0.965_925_826_289_068_3;
        let v = unit(v)?;
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let near =
            axes.into_iter().flat_map(|a| [a, -a]).find(|a| self.at_rest && a.dot(v) > COS_15);
        Some(near.unwrap_or(v))
    }

    /// Where the segment of a joint points: to the first joint below it with a name that is on its
    /// side and not at the same place; else along its bone.
    fn direction(&self, j: JointIndex, side: BodySide) -> Option<DVec3> {
        // Elbow, forearm and wrist may be at one place; more than three never are.
        const DEEP: usize = 3;
        let on_side = |k: &&JointIndex| self.names[k.get()].is_some_and(|(_, s)| s == side);
        let mut at = j;
        for _ in 0..DEEP {
            let below = || self.tree.below[at.get()].iter().filter(on_side);
            let from = self.positions[j.get()];
            if let Some(v) = below().find_map(|k| unit(self.positions[k.get()] - from)) {
                return Some(v);
            }
            let Some(next) = below().next() else { break };
            at = *next;
        }
        let bone = self.tree.bone(self.skeleton, self.names, j)?;
        Some(self.rotations[j.get()] * bone)
    }

    /// The frame of a limb's first segment: that of the body, swung directly from hanging down to where
    /// the bone is. `None` if it points up, where there is no direct swing.
    fn hanging(&self, j: JointIndex, side: BodySide, body: Rotation) -> Option<Rotation> {
        let down = body * DVec3::NEG_Y;
        let bone = self.direction(j, side)?;
        // 15 degrees from straight up the twist of the swing is anybody's guess.
        const COS_165: f64 = -0.965_925_826_289_068_3;
        if down.dot(bone) < COS_165 {
            return None;
        }
        Some(direct_rotation(down, bone)?.rotation * body)
    }

    /// The frame of the next segment of a limb: that of the one above, swung directly.
    fn on(&self, j: JointIndex, side: BodySide, above: Option<Rotation>) -> Option<Rotation> {
        let above = above?;
        let bone = self.direction(j, side)?;
        Some(direct_rotation(above * DVec3::NEG_Y, bone)?.rotation * above)
    }

    /// The frame of a foot that stands flat: Y is up, but leant sideways with the shank, X along the
    /// foot.
    fn foot(&self, j: JointIndex, body: Rotation, shank: Option<Rotation>) -> Option<Rotation> {
        let shank = shank?;
        let (up, right) = (self.up.unwrap_or(body * DVec3::Y), shank * DVec3::Z);
        let up = unit(up - right * up.dot(right))?;
        let bone = self.direction(j, self.names[j.get()]?.1).unwrap_or(right.cross(up));
        let along = bone - up * bone.dot(up);
        // A foot that is drawn straight down says nothing about where it points.
        let forward = if along.length_squared() > 0.1 { along } else { up.cross(right) };
        frame_of(forward, up)
    }
}
