//! Lengths, directions and the rest pose of a skeleton.

use glam::DVec3;

use super::{JointIndex, Skeleton};
use crate::math::Rotation;

impl Skeleton {
    /// The world rotation of every joint's local space at rest.
    #[must_use]
    pub fn rest_world_rotations(&self) -> Vec<Rotation> {
        let mut world: Vec<Rotation> = Vec::with_capacity(self.len());
        for j in self.indices() {
            let rest = self[j].rest;
            world.push(self.parent(j).map_or(rest, |p| world[p.get()] * rest));
        }
        world
    }

    /// The world position of every joint centre at rest, in metres.
    #[must_use]
    pub fn rest_world_positions(&self) -> Vec<DVec3> {
        let rotations = self.rest_world_rotations();
        let mut world: Vec<DVec3> = Vec::with_capacity(self.len());
        for j in self.indices() {
            let offset = self[j].offset_m;
            world.push(
                self.parent(j).map_or(offset, |p| world[p.get()] + rotations[p.get()] * offset),
            );
        }
        world
    }

    /// The length of the segment from the parent to this joint, in metres. A root's is zero: its
    /// offset is a place in the world, not a bone.
    #[must_use]
    pub fn bone_length_m(&self, joint: JointIndex) -> f64 {
        if self.parent(joint).is_some() { length(self[joint].offset_m) } else { 0.0 }
    }

    /// Length of the longest path from one leaf of the tree to another along the bones, end sites
    /// included, in metres. For a person it is 1.5 to 2.5 m, whatever the pose, which tells
    /// whether a file's unit was guessed right. A root is no leaf: some stand on the ground, far
    /// from the body. Only a chain, which has one leaf, is measured from its root.
    #[must_use]
    pub fn longest_path_m(&self) -> f64 {
        // For each joint the longest way down, and the two longest ways over different branches.
        let mut down = vec![0.0_f64; self.len()];
        let mut branches = vec![0_u8; self.len()];
        let mut longest = 0.0_f64;
        for j in self.indices().rev() {
            let site = self[j].end_sites.iter().map(|s| length(s.offset_m)).fold(0.0, f64::max);
            // `down` of this joint was gathered from its children already.
            let here = down[j.get()];
            if branches[j.get()] > 0 && !self[j].end_sites.is_empty() {
                longest = longest.max(here + site);
            }
            down[j.get()] = here.max(site);
            if let Some(p) = self.parent(j) {
                let through = down[j.get()] + length(self[j].offset_m);
                if branches[p.get()] > 0 {
                    longest = longest.max(down[p.get()] + through);
                }
                branches[p.get()] = 1;
                down[p.get()] = down[p.get()].max(through);
            }
        }
        if longest > 0.0 { longest } else { down.into_iter().fold(0.0, f64::max) }
    }

    /// The direction of the bone in the joint's local space, a unit vector: towards the child with
    /// the longest subtree, else the first end site, else on along the bone from the parent. Offsets
    /// of zero length are skipped. `None` if nothing gives a direction.
    #[must_use]
    pub fn bone_axis(&self, joint: JointIndex) -> Option<DVec3> {
        let axis = |child: JointIndex| Some((child, crate::math::unit(self[child].offset_m)?));
        let mut children = self.children(joint).filter_map(axis);
        let toward = match (children.next(), children.next()) {
            (Some(first), Some(second)) => {
                self.toward_longest([first, second].into_iter().chain(children))
            }
            (only, _) => only.map(|(_, axis)| axis),
        };
        toward
            .or_else(|| {
                self[joint].end_sites.iter().find_map(|site| crate::math::unit(site.offset_m))
            })
            .or_else(|| {
                self.parent(joint)?;
                crate::math::unit(self[joint].rest.inverse() * self[joint].offset_m)
            })
    }

    /// The axis of the child with the longest subtree, the first of several.
    fn toward_longest(&self, children: impl Iterator<Item = (JointIndex, DVec3)>) -> Option<DVec3> {
        let mut depth = vec![0.0_f64; self.len()];
        for j in self.indices().rev() {
            let site = self[j].end_sites.iter().map(|s| length(s.offset_m)).fold(0.0, f64::max);
            depth[j.get()] = depth[j.get()].max(site);
            if let Some(p) = self.parent(j) {
                let through = depth[j.get()] + length(self[j].offset_m);
                depth[p.get()] = depth[p.get()].max(through);
            }
        }
        let mut best: Option<(f64, DVec3)> = None;
        for (child, axis) in children {
            let reach = depth[child.get()] + length(self[child].offset_m);
            if best.is_none_or(|(b, _)| reach > b) {
                best = Some((reach, axis));
            }
        }
        best.map(|(_, axis)| axis)
    }
}

fn length(v: DVec3) -> f64 {
    v.length()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Angle;
    use crate::skeleton::{EndSite, Joint};

    fn forked() -> Skeleton {
        let mut s = Skeleton::new();
        let root = s.add_root(Joint::new("root", DVec3::new(0.0, 9.0, 0.0))).unwrap();
        let a = s.add(root, Joint::new("a", DVec3::X)).unwrap();
        let mut tip = Joint::new("tip", 2.0 * DVec3::Y);
        tip.end_sites.push(EndSite { name: None, offset_m: 0.5 * DVec3::Z });
        s.add(a, tip).unwrap();
        s.add(root, Joint::new("b", -3.0 * DVec3::X)).unwrap();
        s
    }

    #[test]
    fn the_longest_path_runs_over_two_branches_and_ignores_where_the_root_stands() {
        assert_eq!(forked().longest_path_m(), 1.0 + 2.0 + 0.5 + 3.0);
    }

    #[test]
    fn a_root_on_the_ground_does_not_count_and_a_chain_is_measured_whole() {
        let mut s = Skeleton::new();
        let ground = s.add_root(Joint::new("ground", DVec3::ZERO)).unwrap();
        let hips = s.add(ground, Joint::new("hips", 9.0 * DVec3::Y)).unwrap();
        assert_eq!(s.longest_path_m(), 9.0);
        s.add(hips, Joint::new("left", DVec3::X)).unwrap();
        assert_eq!(s.longest_path_m(), 10.0);
        s.add(hips, Joint::new("right", -0.5 * DVec3::X)).unwrap();
        assert_eq!(s.longest_path_m(), 1.5);
    }

    #[test]
    fn the_bone_axis_points_to_the_longest_subtree() {
        let s = forked();
        let root = s.find("root").unwrap();
        // Through `a` 3.5 m hang on, through `b` only 3 m, although the first bone is shorter.
        assert_eq!(s.bone_axis(root), Some(DVec3::X));
        assert_eq!(s.bone_axis(s.find("tip").unwrap()), Some(DVec3::Z));
        assert_eq!(s.bone_axis(s.find("b").unwrap()), Some(DVec3::NEG_X));
    }

    #[test]
    fn without_children_the_axis_continues_the_parents_bone_in_local_space() {
        let mut s = Skeleton::new();
        let root = s.add_root(Joint::new("root", DVec3::ZERO)).unwrap();
        let mut leaf = Joint::new("leaf", DVec3::X);
        leaf.rest = Rotation::about_z(Angle::from_degrees(90.0));
        let leaf = s.add(root, leaf).unwrap();
        let axis = s.bone_axis(leaf).unwrap();
        assert!((axis - DVec3::NEG_Y).length() < 1e-15, "{axis}");
        let alone = Skeleton::new().add_root(Joint::new("alone", DVec3::X));
        assert!(alone.is_ok());
    }

    #[test]
    fn rest_rotations_accumulate_from_the_root() {
        let mut s = Skeleton::new();
        let quarter = Rotation::about_z(Angle::from_degrees(90.0));
        let mut a = Joint::new("a", DVec3::ZERO);
        a.rest = quarter;
        let a = s.add_root(a).unwrap();
        let mut b = Joint::new("b", DVec3::X);
        b.rest = quarter;
        let b = s.add(a, b).unwrap();
        s.add(b, Joint::new("c", DVec3::X)).unwrap();
        let p = s.rest_world_positions();
        assert!((p[1] - DVec3::Y).length() < 1e-15);
        assert!((p[2] - (DVec3::Y - DVec3::X)).length() < 1e-15);
    }
}
