//! The joints that some goals depend on, as a [`System`].

use glam::{DMat3, DQuat, DVec3};

use super::figure::{Figure, Turns};
use super::goal::{Aim, Goal, Miss};
use super::look::{Look, World, log, rotate};
use super::search::Scratch;
use super::system::{Block, Linear, Stop, System};
use crate::math::{Angle, Rotation, trig, unit};
use crate::motion::Pose;

/// Radians, or metres: how far a [nudge](Chain::nudge) leads.
const NUDGE: f64 = 0.2;

/// The joints above the goals of a figure, parents first, and where they are.
#[derive(Debug)]
pub(super) struct Chain<'a> {
    figure: &'a Figure,
    links: Vec<Link>,
    blocks: Vec<Block>,
    freedoms: usize,
    /// The goals, and for each the link of its joint and of the other one of [`Aim::Meet`], and where the
    /// steps of its path begin.
    goals: Vec<Goal>,
    /// The roots of their weights; `None` of those with a number that is not finite.
    weights: Vec<Option<f64>>,
    ends: Vec<[usize; 2]>,
    paths: Vec<usize>,
    steps: Vec<Step>,
    /// The goals that each block has an influence on, and where those of a block begin.
    touched: Vec<usize>,
    touched_from: Vec<usize>,
    here: Vec<Place>,
    there: Vec<Place>,
    /// The best place so far, and whether `here` is another.
    kept: Vec<Place>,
    moved_on: bool,
    /// Whether derivatives are of other joints, or of another chain.
    is_new: bool,
    /// Poses to be near, and how much that counts.
    references: [Reference; 2],
    /// In the world, at the place that was last looked at.
    worlds: Vec<World>,
    /// The axis of every freedom of rotation, at the place that was last differentiated at.
    axes: Vec<DVec3>,
    looks: Vec<Look>,
    /// For goals that are very far away, where they are looked for instead: see
    /// [`bring_near`](Self::bring_near).
    nearer_m: Vec<Option<DVec3>>,
    misses: Vec<Miss>,
    /// How near is near enough.
    pub(super) near_m: f64,
    pub(super) near: Angle,
}

/// A joint of the chain.
#[derive(Clone, Copy, Debug)]
struct Link {
    joint: usize,
    parent: Option<usize>,
    offset_m: DVec3,
    /// Its zero; of a joint that does not turn, its local rotation.
    zero: DQuat,
    turning: usize,
    shifts: bool,
    /// Whether its angles have no ends.
    goes_round: [bool; 2],
    /// The first freedom: of the shift if there is one, then of the rotation.
    first: usize,
}

impl Link {
    /// Its zero in the world, below a rotation.
    fn zero_below(&self, above: DQuat) -> DQuat {
        if self.zero == DQuat::IDENTITY { above } else { above * self.zero }
    }
}

/// The angle of a turn, or the rotation `m`, and the shift of the centre.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    m: DQuat,
    angles: [f64; 2],
    shift: DVec3,
}

#[derive(Debug, Default)]
struct Reference {
    weight: f64,
    places: Vec<Place>,
}

/// A link on the way from a root to what a goal is about.
#[derive(Clone, Copy, Debug)]
struct Step {
    link: usize,
    /// Whether it moves the goal's joint, and the other one of [`Aim::Meet`].
    moves: [bool; 2],
}

impl<'a> Chain<'a> {
    pub(super) fn new(figure: &'a Figure) -> Self {
        Self {
            figure,
            links: Vec::new(),
            blocks: Vec::new(),
            freedoms: 0,
            goals: Vec::new(),
            weights: Vec::new(),
            ends: Vec::new(),
            paths: Vec::new(),
            steps: Vec::new(),
            touched: Vec::new(),
            touched_from: Vec::new(),
            looks: Vec::new(),
            nearer_m: Vec::new(),
            here: Vec::new(),
            there: Vec::new(),
            kept: Vec::new(),
            moved_on: false,
            is_new: true,
            references: Default::default(),
            worlds: Vec::new(),
            axes: Vec::new(),
            misses: Vec::new(),
            near_m: 0.0,
            near: Angle::ZERO,
        }
    }

    /// Takes up goals: finds the joints that they depend on, unless these are the same as before.
    pub(super) fn aim(&mut self, goals: &[Goal]) {
        let same = self.goals.len() == goals.len()
            && self.goals.iter().zip(goals).all(|(a, b)| a.joints() == b.joints());
        self.goals.clear();
        self.goals.extend_from_slice(goals);
        self.misses.clear();
        self.misses.resize(goals.len(), Miss::Distance(0.0));
        self.looks.clear();
        self.looks.resize(goals.len(), Look::default());
        self.weights.clear();
        self.weights.extend(goals.iter().map(Goal::root_of_weight));
        self.nearer_m.clear();
        self.nearer_m.resize(goals.len(), None);
        if !same {
            self.find_links();
        }
    }

    /// Whoever else used the derivatives, they are to be made anew.
    pub(super) fn forget(&mut self) {
        self.is_new = true;
    }

    fn find_links(&mut self) {
        self.is_new = true;
        let all = &self.figure.joints;
        let mut needed = vec![false; all.len()];
        let above = |joint: usize| std::iter::successors(Some(joint), |&j| all[j].parent);
        for goal in &self.goals {
            for joint in goal.joints().into_iter().flatten() {
                above(joint).for_each(|j| needed[j] = true);
            }
        }
        let mut link_of = vec![None; all.len()];
        self.links.clear();
        self.blocks.clear();
        self.freedoms = 0;
        for (j, joint) in all.iter().enumerate().filter(|(j, _)| needed[*j]) {
            link_of[j] = Some(self.links.len());
            let first = self.freedoms;
            for len in [if joint.shifts { 3 } else { 0 }, joint.turning()] {
                if len > 0 {
                    self.blocks.push(Block { first: self.freedoms, len });
                    self.freedoms += len;
                }
            }
            self.links.push(Link {
                joint: j,
                parent: joint.parent.and_then(|p| link_of[p]),
                offset_m: DVec3::ZERO,
                zero: joint.zero.quat(),
                turning: joint.turning(),
                shifts: joint.shifts,
                goes_round: match &joint.turns {
                    Turns::About { ranges, .. } => ranges.map(|[min, _]| !min.is_finite()),
                    Turns::Within(_) | Turns::Freely => [false; 2],
                },
                first,
            });
        }
        self.steps.clear();
        self.paths.clear();
        for goal in &self.goals {
            self.paths.push(self.steps.len());
            let [own, other] =
                goal.joints().map(|joint| joint.map_or(Vec::new(), |j| above(j).collect()));
            for (i, link) in self.links.iter().enumerate() {
                let moves = [own.contains(&link.joint), other.contains(&link.joint)];
                let both = moves == [true, true] && link.turning == 0;
                if moves != [false, false] && (link.turning > 0 || link.shifts) && !both {
                    self.steps.push(Step { link: i, moves });
                }
            }
        }
        self.paths.push(self.steps.len());
        let link = |joint: Option<usize>| joint.and_then(|j| link_of[j]).unwrap_or(0);
        self.ends.clear();
        self.ends.extend(self.goals.iter().map(|goal| goal.joints().map(link)));
        self.touched.clear();
        self.touched_from.clear();
        for (i, link) in self.links.iter().enumerate() {
            for _ in 0..usize::from(link.shifts) + usize::from(link.turning > 0) {
                self.touched_from.push(self.touched.len());
                let path = |g: usize| &self.steps[self.paths[g]..self.paths[g + 1]];
                let touches = |g: &usize| path(*g).iter().any(|step| step.link == i);
                self.touched.extend((0..self.goals.len()).filter(touches));
            }
        }
        self.touched_from.push(self.touched.len());
        self.axes.clear();
        self.axes.resize(self.freedoms, DVec3::ZERO);
        self.worlds.clear();
        self.worlds.resize(self.links.len(), World::default());
    }

    pub(super) fn misses(&self) -> &[Miss] {
        &self.misses
    }

    /// Takes the bones, and the joints that do not turn, from a pose.
    pub(super) fn take_bones(&mut self, pose: &Pose) {
        for link in &mut self.links {
            link.offset_m = pose.translations_m[link.joint];
            if link.turning == 0 {
                link.zero = turned_local(self.figure, link.joint, pose).quat();
            }
        }
    }

    /// Stands where a pose is, each joint held inside of its limit.
    pub(super) fn stand(&mut self, pose: &Pose) {
        let mut here = std::mem::take(&mut self.here);
        self.place(pose, true, &mut here);
        self.there.clone_from(&here);
        self.here = here;
        self.moved_on = true;
    }

    /// Looks for what is very far away in the same direction and nearer, from where a limb begins that
    /// cannot move off. To point at it is the same, and costs and damping stay in proportion to the limb.
    pub(super) fn bring_near(&mut self) {
        // So many times as far as the limb is long. Much farther, and steps along limits get stuck more often.
        const FAR: f64 = 30.0;
        // What no limb of a person makes far away is not looked at closely.
        const MAYBE_FAR_M: f64 = 100.0;
        let target = |goal: &Goal| match goal.aim {
            Aim::Position { point_m, target_m } if goal.is_finite() => Some((point_m, target_m)),
            _ => None,
        };
        let is_far = |(_, m): (DVec3, DVec3)| m.abs().max_element() > MAYBE_FAR_M;
        if !self.goals.iter().filter_map(target).any(is_far) {
            return;
        }
        self.forward();
        for (g, goal) in self.goals.iter().enumerate() {
            let Some((point_m, target_m)) = target(goal) else { continue };
            let length = |v: DVec3| trig::hypot3(v.x, v.y, v.z);
            let (mut reach_m, mut begin) = (length(point_m), None);
            let mut at = Some(self.ends[g][0]);
            while let Some(link) = at.map(|i| &self.links[i]) {
                if link.shifts {
                    begin = None;
                } else if link.turning > 0 {
                    begin = at.map(|i| (self.worlds[i].position_m, reach_m));
                }
                reach_m += length(link.offset_m);
                at = link.parent;
            }
            let Some((begin_m, reach_m)) = begin else { continue };
            let off = target_m - begin_m;
            if length(off) > FAR * reach_m {
                self.nearer_m[g] = unit(off).map(|to| begin_m + to * (FAR * reach_m));
            }
        }
    }

    /// Whether two poses differ in something that the goals depend on.
    pub(super) fn tells_apart(&self, a: &Pose, b: &Pose) -> bool {
        self.links.iter().any(|link| {
            let j = link.joint;
            link.turning > 0 && a.rotations[j].quat() != b.rotations[j].quat()
                || link.shifts && a.translations_m[j] != b.translations_m[j]
        })
    }

    /// Poses to be near, with weights; `None` for none.
    pub(super) fn refer(&mut self, poses: [Option<(&Pose, f64)>; 2]) {
        for (i, pose) in poses.into_iter().enumerate() {
            let mut places = std::mem::take(&mut self.references[i].places);
            self.references[i].weight = pose.map_or(0.0, |(_, weight)| weight);
            if let Some((pose, _)) = pose {
                self.place(pose, false, &mut places);
            }
            self.references[i].places = places;
        }
    }

    fn place(&self, pose: &Pose, inside: bool, places: &mut Vec<Place>) {
        places.clear();
        places.extend(self.links.iter().map(|link| {
            let joint = &self.figure.joints[link.joint];
            // What does not shift has its bones from the start; so has what is nowhere.
            let shift = pose.translations_m[link.joint] - link.offset_m;
            let shift = if link.shifts && shift.is_finite() { shift } else { DVec3::ZERO };
            if link.turning == 0 {
                return Place { m: DQuat::IDENTITY, shift, ..Place::default() };
            }
            let m = joint.zero.inverse() * pose.rotations[link.joint];
            match &joint.turns {
                Turns::About { axes, ranges, count, limit } => {
                    // Of one axis, the nearest angle is all there is to it.
                    let near = if *count > 1 { limit.project(m) } else { m };
                    let there = limit.angles(near);
                    let mut angles = there;
                    for (angle, [min, max]) in angles.iter_mut().zip(ranges).take(*count) {
                        *angle = angle.clamp(*min, *max);
                    }
                    let m = match turn_in(m, axes[0]) {
                        Some(turn) if *count == 1 && angles == there => turn,
                        _ => turned(*axes, angles, *count),
                    };
                    Place { m, angles, shift }
                }
                Turns::Within(limit) if inside => {
                    Place { m: limit.project(m).quat(), shift, ..Place::default() }
                }
                Turns::Within(_) | Turns::Freely => {
                    Place { m: m.quat(), shift, ..Place::default() }
                }
            }
        }));
    }

    /// Keeps in mind where it stands.
    pub(super) fn keep(&mut self) {
        self.kept.clone_from(&self.here);
        self.moved_on = false;
    }

    /// Goes back to where it was when told to [`keep`](Self::keep) it. Whether it was elsewhere.
    pub(super) fn recall(&mut self) -> bool {
        let back = self.moved_on && self.kept.len() == self.here.len();
        if back {
            self.here.clone_from(&self.kept);
            self.there.clone_from(&self.kept);
        }
        back
    }

    /// Writes where it stands into a pose.
    pub(super) fn write(&self, pose: &mut Pose) {
        for (link, place) in self.links.iter().zip(&self.here) {
            let local = if link.turning > 0 { link.zero * place.m } else { link.zero };
            pose.rotations[link.joint] = Rotation::from_unit(local);
            if link.shifts {
                pose.translations_m[link.joint] = link.offset_m + place.shift;
            }
        }
    }

    /// Stands a little beside where it stands, at random, inside of the limits, by the freedoms that
    /// move a goal.
    pub(super) fn nudge(&mut self, scratch: &mut Scratch, mut random: impl FnMut() -> f64) {
        let Scratch { linear, step, stops, .. } = scratch;
        let mut by = |column: &[DVec3]| {
            let by = NUDGE * (2.0 * random() - 1.0);
            if column.iter().any(|c| *c != DVec3::ZERO) { by } else { 0.0 }
        };
        let columns = linear.columns.chunks_exact(self.goals.len().max(1));
        step.clear();
        step.extend(columns.map(&mut by));
        stops.clear();
        self.try_step(step, stops);
        self.accept();
        self.there.clone_from(&self.here);
        self.moved_on = true;
    }

    /// Stands somewhere at random inside of the limits; what does not turn and where roots are is kept.
    pub(super) fn scatter(&mut self, mut random: impl FnMut() -> f64) {
        for (link, place) in self.links.iter().zip(&mut self.here) {
            if link.turning == 0 {
                continue;
            }
            let joint = &self.figure.joints[link.joint];
            match &joint.turns {
                Turns::About { axes, ranges, count, .. } => {
                    for (angle, [min, max]) in place.angles.iter_mut().zip(ranges).take(*count) {
                        let [min, max] = if min.is_finite() {
                            [*min, *max]
                        } else {
                            [-std::f64::consts::PI, std::f64::consts::PI]
                        };
                        *angle = min + (max - min) * random();
                    }
                    place.m = turned(*axes, place.angles, *count);
                }
                Turns::Within(_) | Turns::Freely => place.m = joint.start(&mut random).quat(),
            }
        }
        self.there.clone_from(&self.here);
        self.moved_on = true;
    }

    /// Where every link is in the world.
    fn forward(&mut self) {
        for (i, (link, place)) in self.links.iter().zip(&self.there).enumerate() {
            let above = self.above(link);
            let offset_m = link.offset_m + place.shift;
            let position_m = above.position_m + rotate(above.rotation, offset_m);
            let zero = link.zero_below(above.rotation);
            let rotation = if link.turning > 0 { zero * place.m } else { zero };
            self.worlds[i] = World { rotation, position_m };
        }
    }

    /// Where what a link hangs on is in the world.
    fn above(&self, link: &Link) -> World {
        let origin = World { rotation: DQuat::IDENTITY, position_m: DVec3::ZERO };
        link.parent.map_or(origin, |p| self.worlds[p])
    }

    /// The axes of all freedoms of rotation in the world.
    fn find_axes(&mut self) {
        for (i, link) in self.links.iter().enumerate().filter(|(_, link)| link.turning > 0) {
            let first = link.first + if link.shifts { 3 } else { 0 };
            let rotation = self.worlds[i].rotation;
            match &self.figure.joints[link.joint].turns {
                // What turns about an axis leaves that where it is.
                Turns::About { axes, count: 1, .. } => self.axes[first] = rotate(rotation, axes[0]),
                Turns::About { axes, .. } => {
                    let zero = link.zero_below(self.above(link).rotation);
                    self.axes[first] = rotate(zero, axes[0]);
                    self.axes[first + 1] = rotate(rotation, axes[1]);
                }
                Turns::Within(_) | Turns::Freely => {
                    let zero = link.zero_below(self.above(link).rotation);
                    let m = DMat3::from_quat(zero);
                    self.axes[first..first + 3].copy_from_slice(&[m.x_axis, m.y_axis, m.z_axis]);
                }
            }
        }
    }

    /// The derivative of a goal's residual by the freedoms on its path.
    ///
    /// A turn about an axis a through c moves a point p by `a × (p − c)` and a direction d by `a × d`
    /// (C11, eq 43 to 45, with the axis as it is in the world after the turns before it). The rotation
    /// vector φ of the rotation that is left to do changes by `a − φ × a / 2 + k φ × (φ × a)`, with
    /// `k = (1 − |φ|/2 · cot(|φ|/2)) / |φ|²`, the inverse of the left Jacobian of the exponential.
    fn differentiate_goal(&self, g: usize, linear: &mut Linear) {
        let goals = self.goals.len();
        let steps = &self.steps[self.paths[g]..self.paths[g + 1]];
        let Look { point, along, other, off, curve, weight } = self.looks[g];
        let columns = Columns { columns: &mut linear.columns, at: g, goals, chain: self };
        match self.goals[g].aim {
            Aim::Position { .. } => columns.fill(
                steps,
                |_, axis, center| axis.cross(point - center) * weight,
                |_, axis| axis * weight,
            ),
            Aim::Rotation(_) => columns.fill(
                steps,
                |_, axis, _| {
                    let across = off.cross(axis);
                    (axis - across * 0.5 + off.cross(across) * curve) * weight
                },
                |_, _| DVec3::ZERO,
            ),
            Aim::Direction { .. } => {
                columns.fill(steps, |_, axis, _| axis.cross(along) * weight, |_, _| DVec3::ZERO);
            }
            Aim::LookAt { .. } => {
                // As the point moves, so does the direction to what is looked at.
                let swerve = |by: DVec3| (by - other * other.dot(by)) * curve;
                columns.fill(
                    steps,
                    |_, axis, center| {
                        (axis.cross(along) + swerve(axis.cross(point - center))) * weight
                    },
                    |_, axis| swerve(axis) * weight,
                );
            }
            Aim::Meet { .. } => {
                let share = |moves: bool| if moves { weight } else { 0.0 };
                columns.fill(
                    steps,
                    |[a, b], axis, center| {
                        axis.cross(point - center) * share(a)
                            - axis.cross(other - center) * share(b)
                    },
                    |[a, b], axis| axis * (share(a) - share(b)),
                );
            }
        }
    }

    fn posture(&self, linear: &mut Linear) {
        linear.pull.fill(0.0);
        linear.stiffness.fill(0.0);
        linear.posture = 0.0;
        for reference in self.references.iter().filter(|reference| reference.weight > 0.0) {
            let weight = reference.weight;
            for ((link, place), to) in self.links.iter().zip(&self.there).zip(&reference.places) {
                let mut add = |first: usize, off: &[f64]| {
                    for (i, off) in off.iter().enumerate() {
                        linear.pull[first + i] += weight * off;
                        linear.stiffness[first + i] += weight;
                        linear.posture += 0.5 * weight * off * off;
                    }
                };
                let mut first = link.first;
                if link.shifts {
                    add(first, &(place.shift - to.shift).to_array());
                    first += 3;
                }
                let apart = |i: usize| {
                    let off = place.angles[i] - to.angles[i];
                    // An angle without ends is the same after a turn.
                    if link.goes_round[i] {
                        Angle::from_radians(off).wrapped().radians()
                    } else {
                        off
                    }
                };
                match link.turning {
                    0 => {}
                    3 => add(first, &log(place.m * to.m.conjugate()).0.to_array()),
                    1 => add(first, &[apart(0)]),
                    _ => add(first, &[apart(0), apart(1)]),
                }
            }
        }
    }
}

impl System for Chain<'_> {
    fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    fn touched(&self, block: usize) -> &[usize] {
        &self.touched[self.touched_from[block]..self.touched_from[block + 1]]
    }

    fn look(&mut self, linear: &mut Linear) {
        self.forward();
        let (goals, freedoms) = (self.goals.len(), self.freedoms);
        linear.residual.clear();
        if std::mem::take(&mut self.is_new) {
            linear.columns.clear();
        }
        linear.columns.resize(goals * freedoms, DVec3::ZERO);
        linear.pull.resize(freedoms, 0.0);
        linear.stiffness.resize(freedoms, 0.0);
        linear.met = true;
        linear.goals = 0.0;
        for g in 0..goals {
            let (goal, weight) = (&self.goals[g], self.weights[g]);
            // What is not finite has no place to go to: it is missed, and left alone.
            let places = self.ends[g].map(|link| self.worlds[link]);
            let nearer_m = self.nearer_m[g];
            let look =
                weight.map_or_else(Look::default, |w| Look::at(&goal.aim, places, nearer_m, w));
            let miss = match (weight, self.nearer_m[g], goal.aim) {
                (None, ..) => Miss::Distance(f64::INFINITY),
                (_, Some(_), Aim::Position { target_m, .. }) => {
                    let off = look.point - target_m;
                    Miss::Distance(trig::hypot3(off.x, off.y, off.z))
                }
                _ => look.miss(&goal.aim),
            };
            let near = miss.is_within(self.near_m, self.near);
            let residual = look.off * look.weight;
            (self.looks[g], self.misses[g]) = (look, miss);
            linear.met &= near || weight == Some(0.0);
            linear.goals += 0.5 * residual.length_squared();
            linear.residual.push(residual);
        }
        self.posture(linear);
    }

    fn differentiate(&mut self, linear: &mut Linear) {
        self.find_axes();
        for g in 0..self.goals.len() {
            self.differentiate_goal(g, linear);
        }
    }

    fn try_step(&mut self, step: &[f64], stops: &mut Vec<Stop>) {
        let mut block = 0;
        for ((link, from), to) in self.links.iter().zip(&self.here).zip(&mut self.there) {
            let mut first = link.first;
            if link.shifts {
                let shift = from.shift + vector(&step[first..]);
                to.shift = if shift.is_finite() { shift } else { from.shift };
                first += 3;
                block += 1;
            }
            if link.turning == 0 {
                continue;
            }
            let joint = &self.figure.joints[link.joint];
            match &joint.turns {
                Turns::About { axes, ranges, count, .. } => {
                    for i in 0..*count {
                        let [min, max] = ranges[i];
                        let angle = from.angles[i] + step[first + i];
                        let angle = if angle.is_finite() { angle } else { from.angles[i] };
                        to.angles[i] = angle.clamp(min, max);
                        let beyond = angle - to.angles[i];
                        if beyond != 0.0 {
                            let mut normal = [0.0; 3];
                            normal[i] = 1.0_f64.copysign(beyond);
                            stops.push(Stop { block, normal, beyond: beyond.abs() });
                        }
                    }
                    to.m = turned(*axes, to.angles, *count);
                }
                Turns::Within(limit) => {
                    let m = moved(from.m, vector(&step[first..]));
                    let held = limit.hold(Rotation::from_unit(m));
                    to.m = held.m.quat();
                    for contact in held.contacts.iter().flatten() {
                        let normal = contact.normal.to_array();
                        stops.push(Stop { block, normal, beyond: contact.beyond });
                    }
                }
                Turns::Freely => to.m = moved(from.m, vector(&step[first..])),
            }
            block += 1;
        }
    }

    fn accept(&mut self) {
        std::mem::swap(&mut self.here, &mut self.there);
    }

    fn touch(&self, block: usize, way_out: [f64; 3], stops: &mut Vec<Stop>) {
        // So far may a step along a boundary lead back inside, since that is curved.
        const OUT: f64 = 1e-4;
        let first = self.blocks[block].first;
        let owner = self.links.partition_point(|link| link.first <= first).saturating_sub(1);
        let (link, place) = (&self.links[owner], &self.here[owner]);
        match &self.figure.joints[link.joint].turns {
            Turns::About { ranges, count, .. } => {
                for i in (0..*count).filter(|i| way_out[*i] != 0.0) {
                    let end = ranges[i][usize::from(way_out[i] > 0.0)];
                    if place.angles[i] == end {
                        stops.push(Stop { block, normal: way_out, beyond: 0.0 });
                    }
                }
            }
            Turns::Within(limit) => {
                let out = moved(place.m, vector(&way_out) * OUT);
                let held = limit.hold(Rotation::from_unit(out));
                for contact in held.contacts.iter().flatten() {
                    stops.push(Stop { block, normal: contact.normal.to_array(), beyond: 0.0 });
                }
            }
            Turns::Freely => {}
        }
    }
}

/// Where the derivatives of one goal are written to.
struct Columns<'a> {
    columns: &'a mut [DVec3],
    at: usize,
    goals: usize,
    chain: &'a Chain<'a>,
}

impl Columns<'_> {
    /// By the turns of each link, about an axis through a centre, and by its shifts along an axis.
    #[inline]
    fn fill(
        self,
        steps: &[Step],
        turn: impl Fn([bool; 2], DVec3, DVec3) -> DVec3,
        shift: impl Fn([bool; 2], DVec3) -> DVec3,
    ) {
        let Self { columns, at, goals, chain } = self;
        for step in steps {
            let link = &chain.links[step.link];
            let center = chain.worlds[step.link].position_m;
            let mut first = link.first;
            if link.shifts {
                for (i, axis) in DVec3::AXES.into_iter().enumerate() {
                    columns[(first + i) * goals + at] = shift(step.moves, axis);
                }
                first += 3;
            }
            for freedom in first..first + link.turning {
                columns[freedom * goals + at] = turn(step.moves, chain.axes[freedom], center);
            }
        }
    }
}

/// The local rotation of a joint that a solver does not turn: that of the pose if it is held, else the
/// only one that its limit allows.
fn turned_local(figure: &Figure, joint: usize, pose: &Pose) -> Rotation {
    let of = &figure.joints[joint];
    if of.held { pose.rotations[joint] } else { of.zero }
}

/// `R(axes[0], angles[0]) · R(axes[1], angles[1])`, as many as there are.
fn turned(axes: [DVec3; 2], angles: [f64; 2], count: usize) -> DQuat {
    let turn = |i: usize| {
        let (sin, cos) = trig::sin_cos(0.5 * angles[i]);
        let v = axes[i] * sin;
        DQuat::from_xyzw(v.x, v.y, v.z, cos)
    };
    if count > 1 { turn(0) * turn(1) } else { turn(0) }
}

/// The turn about an axis that is nearest to a rotation; `None` if all are as near.
fn turn_in(m: Rotation, axis: DVec3) -> Option<DQuat> {
    let DQuat { x, y, z, w } = m.quat();
    let along = DVec3::new(x, y, z).dot(axis);
    let length = (along * along + w * w).sqrt();
    // Near that, the angle is a matter of rounding, and should be the same for both.
    if length < 1e-3 {
        return None;
    }
    let v = axis * (along / length);
    Some(DQuat::from_xyzw(v.x, v.y, v.z, w / length))
}

/// `m` turned by a step: to first order by the rotation vector, by less than half a turn for a long one.
fn moved(m: DQuat, step: DVec3) -> DQuat {
    let turned = DQuat::from_xyzw(0.5 * step.x, 0.5 * step.y, 0.5 * step.z, 1.0) * m;
    let length = turned.length();
    if length.is_finite() { turned / length } else { m }
}

fn vector(step: &[f64]) -> DVec3 {
    DVec3::new(step[0], step[1], step[2])
}
