//! Which dials of a joint map bring something about: goals, or a captured pose (D12).

use glam::DVec3;

use super::goal::{Aim, Goal, Miss};
use super::levenberg;
use super::look::{Look, Moving, World};
use super::search::{Ending, Scratch};
use super::solver::Outcome;
use super::system::{Block, Linear, Stop, System};
use crate::maps::{Input, Network, Rate, State, Transform, Unit, places, union};
use crate::math::Angle;
use crate::motion::Pose;
use crate::skeleton::JointIndex;

/// How to look for dials.
#[derive(Clone, Copy, Debug)]
pub struct DialSettings<'a> {
    /// A goal is met if it is no farther than this, in metres.
    pub near_m: f64,
    /// The same for angles.
    pub near: Angle,
    /// The most steps.
    pub steps: u32,
    /// Dials to be near, and what the square of the distance counts, in radians, metres, or shares of a
    /// range: what decides where goals do not. With a weight of zero dials that nothing depends on stay
    /// where they are.
    pub posture: Option<(&'a [f64], f64)>,
    /// How many times the square of each dial's distance counts, one number for each dial, such as how much
    /// of the figure it moves; `None` for once.
    pub efforts: Option<&'a [f64]>,
}

impl Default for DialSettings<'_> {
    fn default() -> Self {
        Self {
            near_m: 1e-4,
            near: Angle::from_radians(1e-3),
            steps: 60,
            posture: None,
            efforts: None,
        }
    }
}

/// Looks for dials of a network. The room that it works in is used again by the next call.
#[derive(Debug)]
pub struct DialSolver<'a> {
    system: DialSystem<'a>,
    scratch: Scratch,
}

impl<'a> DialSolver<'a> {
    /// A solver for a network.
    #[must_use]
    pub fn new(network: &'a Network) -> Self {
        Self { system: DialSystem::new(network), scratch: Scratch::default() }
    }

    /// Dials that bring goals about, from those given, which are changed. The joints that no dial moves
    /// are as in the pose.
    ///
    /// # Panics
    ///
    /// If there is not one number for each dial, the pose is of another skeleton, or a goal is about a
    /// joint that it does not have.
    pub fn reach(
        &mut self,
        dials: &mut [f64],
        pose: &Pose,
        goals: &[Goal],
        settings: &DialSettings<'_>,
    ) -> Outcome {
        let wanted: Vec<Wanted> = goals.iter().map(|goal| Wanted::World(*goal)).collect();
        self.solve(dials, pose, &wanted, settings)
    }

    /// The dials that come nearest to the local rotations of a pose, of all joints that dials move, and to
    /// the places in their parents of those that are listed; a metre counts as much as a radian.
    ///
    /// # Panics
    ///
    /// If there is not one number for each dial, the pose is of another skeleton, or a joint is.
    pub fn fit(
        &mut self,
        dials: &mut [f64],
        pose: &Pose,
        places: &[JointIndex],
        settings: &DialSettings<'_>,
    ) -> Outcome {
        let network = self.system.network;
        let moved = (0..network.drivers.len()).filter(|j| network.drivers[*j].is_some());
        let turned = moved.map(|j| Goal::rotation(JointIndex::new(j), pose.rotations[j]));
        let placed = places.iter().map(|j| Goal::position(*j, pose.translations_m[j.get()]));
        let wanted: Vec<Wanted> = turned.chain(placed).map(Wanted::Local).collect();
        self.solve(dials, pose, &wanted, settings)
    }

    /// How far each goal, or each joint's rotation and then each place, is missed by the last call, in the
    /// order of goals or of joints.
    #[must_use]
    pub fn misses(&self) -> &[Miss] {
        &self.system.misses
    }

    /// The dials of the last call, but those that a bound held back where they would be without it. The
    /// goals do not tell of these, so that is where [`DialSettings::posture`] has them, if the bound holds
    /// them there, too.
    pub(super) fn wanted(&self, dials: &[f64]) -> Vec<f64> {
        let DialSystem { network, before, posture, scales, .. } = &self.system;
        let own = |d: usize| {
            let (given, found) = (dials[d], before[d]);
            if found == given || !network.is_bounded(d) {
                return given;
            }
            match posture.get(d).map(|x| x * scales[d]) {
                Some(near) if (near - given) * (found - given) > 0.0 => near,
                Some(_) => given,
                None => found,
            }
        };
        (0..dials.len()).map(own).collect()
    }

    /// Whether a bound may hold a dial back.
    pub(super) fn is_bounded(&self, dial: usize) -> bool {
        self.system.network.is_bounded(dial)
    }

    /// Replaces dials by those that make what limits give, also where that moves other joints; whether
    /// there was any that a limit or a bound held.
    pub(super) fn give(&mut self, dials: &mut [f64]) -> bool {
        let DialSystem { network, state, .. } = &mut self.system;
        network.evaluate(dials, state);
        let holds = network.held(state).next().is_some();
        if holds {
            network.settle_but(dials, state, true);
        }
        holds
    }

    /// What distances of dials are counted in, see [`DialSettings::posture`].
    pub(super) fn scales(&self) -> &[f64] {
        &self.system.scales
    }

    /// The network where the last call ended.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.system.state
    }

    fn solve(
        &mut self,
        dials: &mut [f64],
        pose: &Pose,
        wanted: &[Wanted],
        settings: &DialSettings<'_>,
    ) -> Outcome {
        let Self { system, scratch } = self;
        system.aim(wanted, pose);
        (system.near_m, system.near) = (settings.near_m, settings.near);
        system.posture.clear();
        let weight = settings.posture.map_or(0.0, |(_, weight)| weight.max(0.0));
        system.weights.clear();
        match settings.efforts {
            Some(efforts) => {
                let each = efforts.iter().zip(&system.scales);
                system.weights.extend(each.map(|(effort, scale)| weight * effort * scale * scale));
            }
            None => system.weights.resize(system.scales.len(), weight),
        }
        if let Some((posture, _)) = settings.posture {
            system.posture.extend(posture.iter().zip(&system.scales).map(|(x, scale)| x / scale));
        }
        system.stand(dials);
        scratch.reserve(system.blocks.len());
        scratch.linear.columns.clear();
        let (ending, steps) = levenberg::solve(system, scratch, settings.steps);
        // The last look was at the best place.
        system.there.clone_from(&system.here);
        system.look(&mut scratch.linear);
        // What is held back has no say: it becomes what it gives. The pose, and what is missed, is the same.
        dials.copy_from_slice(&system.state.dials);
        system.before.clone_from(&system.state.dials);
        if system.network.held(&system.state).next().is_some() {
            system.network.settle(dials, &mut system.state);
        }
        Outcome { reached: ending == Ending::Met, steps, restarts: 0 }
    }
}

/// What a joint should do: in the world, or relative to its parent.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    World(Goal),
    Local(Goal),
}

impl Wanted {
    const fn goal(&self) -> &Goal {
        match self {
            Self::World(goal) | Self::Local(goal) => goal,
        }
    }

    fn same_joints(&self, other: &Self) -> bool {
        let local = |wanted: &Self| matches!(wanted, Self::Local(_));
        local(self) == local(other) && self.goal().joints() == other.goal().joints()
    }
}

/// What is wanted, and what it depends on.
#[derive(Debug)]
struct Plan {
    wanted: Wanted,
    /// The root of its weight; `None` if it is not finite.
    weight: Option<f64>,
    /// The dials that move it, rising.
    dials: Vec<usize>,
    /// Its joint, and the other one of [`Aim::Meet`], among the nodes.
    nodes: [Option<usize>; 2],
    look: Look,
}

/// A joint that something is wanted of, or one above it.
#[derive(Debug)]
struct Node {
    joint: usize,
    /// Whether its parent is where it counts from, and not the world.
    local: bool,
    /// The node of its parent, with the places of that one's dials among its own.
    parent: Option<Input>,
    /// Its place in its parent: at rest if a dial moves it, else as in the pose.
    place: Transform,
    driver: Option<Input>,
    /// The dials that move it, rising.
    dials: Vec<usize>,
    /// Where its rates begin.
    first: usize,
}

/// Dials as parameters.
#[derive(Debug)]
struct DialSystem<'a> {
    network: &'a Network,
    blocks: Vec<Block>,
    plans: Vec<Plan>,
    /// Parents first.
    nodes: Vec<Node>,
    /// Where each node is, and how it moves with each of its dials.
    stands: Vec<Transform>,
    rates: Vec<Rate>,
    /// What each dial has an influence on.
    touched: Vec<Vec<usize>>,
    /// The parameter is the dial over its scale.
    scales: Vec<f64>,
    here: Vec<f64>,
    there: Vec<f64>,
    /// At `there`, as last looked at.
    state: State,
    misses: Vec<Miss>,
    posture: Vec<f64>,
    /// Of each dial's distance from it.
    weights: Vec<f64>,
    near_m: f64,
    near: Angle,
    dials: Vec<f64>,
    /// What the last search came to, before bounds and limits had their say.
    before: Vec<f64>,
}

impl<'a> DialSystem<'a> {
    fn new(network: &'a Network) -> Self {
        let count = network.dials.len();
        let scales = network.dials.iter().map(|dial| match dial.unit {
            Unit::Angle | Unit::Length => 1.0,
            Unit::Ratio => dial.range[1] - dial.range[0],
        });
        Self {
            network,
            blocks: (0..count).map(|first| Block { first, len: 1 }).collect(),
            plans: Vec::new(),
            nodes: Vec::new(),
            stands: Vec::new(),
            rates: Vec::new(),
            touched: vec![Vec::new(); count],
            scales: scales.collect(),
            here: Vec::new(),
            there: Vec::new(),
            state: network.state(),
            misses: Vec::new(),
            posture: Vec::new(),
            weights: Vec::new(),
            near_m: 0.0,
            near: Angle::ZERO,
            dials: Vec::new(),
            before: Vec::new(),
        }
    }

    fn aim(&mut self, wanted: &[Wanted], pose: &Pose) {
        let same = self.plans.len() == wanted.len()
            && self.plans.iter().zip(wanted).all(|(plan, wanted)| plan.wanted.same_joints(wanted));
        if same {
            for (plan, wanted) in self.plans.iter_mut().zip(wanted) {
                plan.wanted = *wanted;
                plan.weight = wanted.goal().root_of_weight();
            }
        } else {
            self.nodes.clear();
            self.plans = wanted.iter().map(|wanted| self.plan(*wanted)).collect();
            self.stands.resize(self.nodes.len(), Transform::IDENTITY);
            let rates = self.nodes.last().map_or(0, |node| node.first + node.dials.len());
            self.rates.resize(rates, Rate::default());
            for (dial, touched) in self.touched.iter_mut().enumerate() {
                let plans = self.plans.iter().enumerate();
                let own = plans.filter(|(_, plan)| plan.dials.binary_search(&dial).is_ok());
                *touched = own.map(|(g, _)| g).collect();
            }
        }
        for node in self.nodes.iter_mut().filter(|node| node.driver.is_none()) {
            let j = node.joint;
            let (rotation, translation_m) = (pose.rotations[j], pose.translations_m[j]);
            node.place = Transform { rotation, translation_m };
        }
        self.misses.clear();
        self.misses.resize(self.plans.len(), Miss::Distance(0.0));
    }

    fn plan(&mut self, wanted: Wanted) -> Plan {
        let local = matches!(wanted, Wanted::Local(_));
        let nodes = wanted.goal().joints().map(|joint| joint.map(|joint| self.node(joint, local)));
        let moved = nodes.iter().flatten().map(|&node| self.nodes[node].dials.as_slice());
        let dials = union(moved);
        let weight = wanted.goal().root_of_weight();
        Plan { wanted, weight, dials, nodes, look: Look::default() }
    }

    /// The node of a joint, made with those above if it is not there yet.
    fn node(&mut self, joint: usize, local: bool) -> usize {
        let network = self.network;
        let known = |nodes: &[Node], joint: usize| {
            nodes.iter().position(|node| node.joint == joint && node.local == local)
        };
        let mut path = vec![joint];
        if !local {
            path = std::iter::successors(Some(joint), |&j| network.parents[j]).collect();
            path.reverse();
        }
        let mut parent: Option<usize> = None;
        for j in path {
            if let Some(there) = known(&self.nodes, j) {
                parent = Some(there);
                continue;
            }
            let above = parent.map_or(&[][..], |p| self.nodes[p].dials.as_slice());
            let own = network.drivers[j].map_or(&[][..], |of| network.transforms.of(of));
            let dials = union([above, own]);
            let input = |of: usize, some: &[usize]| Input { of, into: places(some, &dials) };
            let node = Node {
                joint: j,
                local,
                parent: parent.map(|p| input(p, above)),
                place: network.rests[j],
                driver: network.drivers[j].map(|of| input(of, own)),
                first: self.nodes.last().map_or(0, |node| node.first + node.dials.len()),
                dials,
            };
            parent = Some(self.nodes.len());
            self.nodes.push(node);
        }
        parent.unwrap_or(0)
    }

    fn stand(&mut self, dials: &[f64]) {
        assert_eq!(dials.len(), self.scales.len(), "one number for each dial");
        self.here.clear();
        for ((value, dial), scale) in dials.iter().zip(&self.network.dials).zip(&self.scales) {
            let value = if value.is_nan() { dial.rest } else { *value };
            self.here.push(value.clamp(dial.range[0], dial.range[1]) / scale);
        }
        // A dial that a bound holds back has no effect, and would never leave it: it starts on the bound.
        self.dials.clear();
        self.dials.extend(self.here.iter().zip(&self.scales).map(|(x, scale)| x * scale));
        self.network.evaluate_values(&self.dials, &mut self.state);
        self.network.snap(&self.state, &mut self.dials);
        for ((here, value), scale) in self.here.iter_mut().zip(&self.dials).zip(&self.scales) {
            *here = value / scale;
        }
        self.there.clone_from(&self.here);
    }

    /// Where the nodes stand.
    fn place(&mut self) {
        for (i, node) in self.nodes.iter().enumerate() {
            let parent = node.parent.as_ref().map_or(Transform::IDENTITY, |p| self.stands[p.of]);
            let motion = node.driver.as_ref().map(|of| self.state.transforms[of.of]);
            let placed = parent * node.place;
            self.stands[i] = motion.map_or(placed, |motion| placed * motion);
        }
    }

    /// How the nodes move with their dials.
    fn move_nodes(&mut self) {
        for node in &self.nodes {
            let (above, own) = self.rates.split_at_mut(node.first);
            let own = &mut own[..node.dials.len()];
            own.fill(Rate::default());
            let mut product = Transform::IDENTITY;
            if let Some(parent) = &node.parent {
                product = self.stands[parent.of];
                let above = &above[self.nodes[parent.of].first..];
                parent.into.iter().zip(above).for_each(|(into, rate)| own[*into] = *rate);
            }
            let rates = &self.state.rates;
            self.network.append::<true>(&mut product, own, node.place, None, rates);
            if let Some(driver) = &node.driver {
                let motion = self.state.transforms[driver.of];
                self.network.append::<true>(&mut product, own, motion, Some(driver), rates);
            }
        }
    }

    /// Where the joint of a plan is, and the other one.
    fn stands_of(stands: &[Transform], plan: &Plan) -> [World; 2] {
        plan.nodes.map(|node| {
            let at = node.map_or(Transform::IDENTITY, |node| stands[node]);
            World { rotation: at.rotation.quat(), position_m: at.translation_m }
        })
    }
}

impl System for DialSystem<'_> {
    fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    fn touched(&self, block: usize) -> &[usize] {
        &self.touched[block]
    }

    fn look(&mut self, linear: &mut Linear) {
        self.dials.clear();
        self.dials.extend(self.there.iter().zip(&self.scales).map(|(x, scale)| x * scale));
        self.network.evaluate(&self.dials, &mut self.state);
        self.place();
        let (goals, freedoms) = (self.plans.len(), self.blocks.len());
        linear.residual.clear();
        linear.columns.resize(goals * freedoms, DVec3::ZERO);
        linear.pull.clear();
        linear.pull.resize(freedoms, 0.0);
        linear.stiffness.clear();
        linear.stiffness.resize(freedoms, 0.0);
        linear.posture = 0.0;
        for (d, (to, weight)) in self.posture.iter().zip(&self.weights).enumerate() {
            if *weight > 0.0 {
                let off = self.there[d] - to;
                linear.pull[d] = weight * off;
                linear.stiffness[d] = *weight;
                linear.posture += 0.5 * weight * off * off;
            }
        }
        linear.met = true;
        linear.goals = 0.0;
        for (plan, miss) in self.plans.iter_mut().zip(&mut self.misses) {
            let stands = Self::stands_of(&self.stands, plan);
            let aim = &plan.wanted.goal().aim;
            // What is not finite has no place to go to: it is missed, and left alone.
            let Some(weight) = plan.weight else {
                (plan.look, *miss) = (Look::default(), Miss::Distance(f64::INFINITY));
                linear.met = false;
                linear.residual.push(DVec3::ZERO);
                continue;
            };
            plan.look = Look::at(aim, stands, None, weight);
            *miss = plan.look.miss(aim);
            let residual = plan.look.residual();
            linear.met &= miss.is_within(self.near_m, self.near) || weight == 0.0;
            linear.goals += 0.5 * residual.length_squared();
            linear.residual.push(residual);
        }
    }

    fn differentiate(&mut self, linear: &mut Linear) {
        self.move_nodes();
        let goals = self.plans.len();
        for (g, plan) in self.plans.iter().enumerate() {
            let aim: &Aim = &plan.wanted.goal().aim;
            let stands = Self::stands_of(&self.stands, plan);
            for dial in &plan.dials {
                linear.columns[dial * goals + g] = DVec3::ZERO;
            }
            // It is linear: the change by both is the sum of those by each.
            for (k, node) in plan.nodes.iter().enumerate() {
                let Some(node) = node.map(|node| &self.nodes[node]) else { continue };
                for (dial, rate) in node.dials.iter().zip(&self.rates[node.first..]) {
                    let mut both = [Moving::default(); 2];
                    let center_m = stands[k].position_m;
                    both[k] = Moving { turn: rate.turn, shift_m: rate.shift_m, center_m };
                    linear.columns[dial * goals + g] +=
                        plan.look.change(aim, both[0], both[1]) * self.scales[*dial];
                }
            }
        }
    }

    fn try_step(&mut self, step: &[f64], stops: &mut Vec<Stop>) {
        for (block, dial) in self.network.dials.iter().enumerate() {
            let scale = self.scales[block];
            let [min, max] = dial.range.map(|end| end / scale);
            let from = self.here[block];
            let to = from + step[block];
            let to = if to.is_finite() { to } else { from };
            self.there[block] = to.clamp(min, max);
            let beyond = to - self.there[block];
            if beyond != 0.0 {
                let normal = [1.0_f64.copysign(beyond), 0.0, 0.0];
                stops.push(Stop { block, normal, beyond: beyond.abs() });
            }
        }
    }

    fn accept(&mut self) {
        self.here.clone_from(&self.there);
    }

    fn touch(&self, block: usize, way_out: [f64; 3], stops: &mut Vec<Stop>) {
        let dial = &self.network.dials[block];
        let end = dial.range[usize::from(way_out[0] > 0.0)] / self.scales[block];
        if self.here[block] == end {
            stops.push(Stop { block, normal: way_out, beyond: 0.0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ik::FitTo;
    use crate::maps::tests::{shoulder, skeleton};
    use crate::maps::{Component, Curve, Dial, DialClip, Driven, JointMap, Output, Part, Turn};
    use crate::math::{Points, trig};
    use crate::motion::{Clip, FrameRate, KeyTimes, Track};
    use crate::skeleton::{Joint, Skeleton};
    use crate::synth::Rng;

    /// Row D12: dials come back from the pose that they make, and from goals, as far as these tell them.
    #[test]
    fn d12_dials_are_found_again_from_poses_and_from_goals() {
        let mut rng = Rng::new(16);
        let (mut fitted, mut placed, mut reached) = (0, 0, 0);
        for _ in 0..60 {
            let skeleton = skeleton(&mut rng);
            let network = Network::new(&shoulder(&mut rng, &skeleton), &skeleton).unwrap();
            let (mut state, mut pose) = (network.state(), Pose::rest(&skeleton));
            // Small enough that no bound and no limit hides a dial.
            let truth: Vec<f64> = network
            .dials()
            .iter()
            .map(|dial| if dial.unit == Unit::Length { 0.01 } else { 0.15 } * (2.0 * rng.uniform() - 1.0))
            .collect();
            network.evaluate(&truth, &mut state);
            network.write(&state, &mut pose);
            if state.is_off() {
                continue;
            }
            let mut solver = DialSolver::new(&network);
            let settings = DialSettings {
                near_m: 1e-10,
                near: Angle::from_radians(1e-10),
                ..DialSettings::default()
            };
            let rest: Vec<f64> = network.dials().iter().map(|dial| dial.rest).collect();
            let mut dials = rest.clone();
            solver.fit(&mut dials, &pose, &[], &settings);
            let off = |dials: &[f64], but: &str| {
                let named = network.dials().iter().zip(dials.iter().zip(&truth));
                named
                    .filter(|(d, _)| d.name != but)
                    .map(|(_, (a, b))| (a - b).abs())
                    .fold(0.0, f64::max)
            };
            // A rotation does not tell how far the arm slipped; where it is does.
            fitted += usize::from(off(&dials, "arm.slip") < 1e-6);
            let shifted: Vec<JointIndex> =
                skeleton.indices().filter(|joint| network.shifts(*joint)).collect();
            assert!(shifted.contains(&skeleton.find("humerus").unwrap()));
            let mut dials = rest.clone();
            solver.fit(&mut dials, &pose, &shifted, &settings);
            placed += usize::from(off(&dials, "") < 1e-6);
            let world = pose.world(&skeleton);
            let joint = |name: &str| skeleton.find(name).unwrap();
            let goals = [
                Goal::position(joint("humerus"), world.positions_m[4]),
                Goal::rotation(joint("humerus"), world.rotations[4]),
                Goal::rotation(joint("scapula"), world.rotations[3]),
                Goal::rotation(joint("clavicle"), world.rotations[2]),
                Goal::rotation(joint("thorax"), world.rotations[1]),
            ];
            let mut dials = rest.clone();
            let outcome = solver.reach(&mut dials, &Pose::rest(&skeleton), &goals, &settings);
            assert_eq!(solver.misses().len(), 5);
            if outcome.reached {
                assert!(off(&dials, "") < 1e-6, "{dials:?} {truth:?}");
                reached += 1;
            }
        }
        assert!(fitted >= 50 && placed >= 50 && reached >= 50, "{fitted} {placed} {reached}");
    }

    /// Row D12: lengths come back from a motion as well, also of a figure whose bones are longer; without
    /// shifts in it they stay at rest.
    #[test]
    fn d12_dials_of_lengths_are_found_again_from_a_motion() {
        let rate = FrameRate::from_fps(30.0).unwrap();
        let mut rng = Rng::new(18);
        let (mut tried, mut back) = (0, 0);
        while tried < 12 {
            let skeleton = skeleton(&mut rng);
            let network = Network::new(&shoulder(&mut rng, &skeleton), &skeleton).unwrap();
            let size =
                |dial: &Dial| if dial.unit == Unit::Length { 0.01 } else { 0.15 } * rng.uniform();
            let sizes: Vec<f64> = network.dials().iter().map(size).collect();
            let mut truth = DialClip::new(rate, sizes.len());
            let mut state = network.state();
            let mut off = false;
            for frame in 0..8 {
                let at = |(d, size): (usize, &f64)| {
                    size * trig::sin_cos(0.4 * f64::from(frame) + d as f64).0
                };
                let dials: Vec<f64> = sizes.iter().enumerate().map(at).collect();
                network.evaluate(&dials, &mut state);
                off |= state.is_off();
                truth.push(&dials);
            }
            if off {
                continue;
            }
            tried += 1;
            let clip = network.clip(&skeleton, &truth).unwrap();
            let mut longer = Skeleton::new();
            let mut tracks = [Vec::new(), Vec::new()];
            for joint in skeleton.indices() {
                let own = &skeleton[joint];
                let offset_m = own.offset_m * 1.2;
                let other = Joint { offset_m, ..own.clone() };
                match skeleton.parent(joint) {
                    Some(parent) => longer.add(parent, other).unwrap(),
                    None => longer.add_root(other).unwrap(),
                };
                let track = clip.track(joint);
                let rotations = || track.rotations().clone();
                let times = || track.rotation_times().clone();
                let mut places = Points::new();
                track.translations_m().iter().for_each(|p| places.push(p + own.offset_m * 0.2));
                let still = Points::from_iter([offset_m]);
                let when = track.translation_times().clone();
                tracks[0].push(Track::from_parts(rotations(), times(), places, when));
                tracks[1].push(Track::from_parts(
                    rotations(),
                    times(),
                    still,
                    KeyTimes::constant(),
                ));
            }
            let settings = DialSettings {
                near_m: 1e-10,
                near: Angle::from_radians(1e-10),
                ..DialSettings::default()
            };
            let slip = network.find("arm.slip").unwrap();
            let [found, still] = tracks.map(|tracks| {
                let clip = Clip::new(8, rate, tracks).unwrap();
                let to = FitTo::Parents(&longer);
                let mut solver = DialSolver::new(&network);
                solver.fit_clip(&network, &skeleton, &clip, to, &settings, |_| ())
            });
            let apart = |frame: usize| {
                let both = found.dials.frame(frame).iter().zip(truth.frame(frame));
                both.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            back += usize::from((0..8).all(|frame| apart(frame) < 1e-6));
            assert!(found.misses.iter().any(|miss| miss.place.is_some()));
            assert!(still.misses.iter().all(|miss| miss.place.is_none()));
            assert!((0..8).all(|frame| still.dials.frame(frame)[slip].abs() < 1e-9));
        }
        assert!(back >= 10, "{back} of {tried}");
    }

    /// Row D12: what is neither angle nor length is counted in shares of its range, however wide that is.
    #[test]
    fn d12_dials_of_other_units_are_found_again() {
        let mut skeleton = Skeleton::new();
        let root = skeleton.add_root(Joint::new("root", DVec3::ZERO)).unwrap();
        skeleton.add(root, Joint::new("arm", DVec3::Y)).unwrap();
        for most in [1e-3, 1.0, 1e4] {
            let text = |s: &str| s.to_owned();
            let dial = |name: &str| Dial {
                name: text(name),
                unit: Unit::Ratio,
                range: [0.0, most],
                rest: 0.0,
                label: String::new(),
                source: String::new(),
            };
            let turned = |name: &str, axis: DVec3| {
                // A degree, and up to 80 in a curve.
                let curve = Curve::Polynomial(vec![1.0, 30.0 / most, 50.0 / (most * most)]);
                let output = Output { name: String::new(), unit: Unit::Angle, curve };
                let angle = format!("{name} angle");
                let spread = Component::Spread { input: text(name), outputs: vec![output] };
                let turn = Turn::about(axis, DVec3::ZERO);
                let turn = Component::Turn { angle: angle.clone(), turn };
                [
                    Part { name: angle, component: spread },
                    Part { name: format!("{name} turn"), component: turn },
                ]
            };
            let both = Component::Chain { of: vec![text("a turn"), text("b turn")] };
            let mut parts = [turned("a", DVec3::X), turned("b", DVec3::Z)].concat();
            parts.push(Part { name: text("both"), component: both });
            let dials = vec![dial("a"), dial("b")];
            let joints = vec![Driven { joint: text("arm"), by: text("both") }];
            let network = Network::new(&JointMap { dials, parts, joints }, &skeleton).unwrap();
            let (mut state, mut pose) = (network.state(), Pose::rest(&skeleton));
            let mut solver = DialSolver::new(&network);
            let settings =
                DialSettings { near: Angle::from_radians(1e-10), ..DialSettings::default() };
            let mut rng = Rng::new(25);
            for _ in 0..20 {
                let truth = [rng.between(0.0, most), rng.between(0.0, most)];
                network.evaluate(&truth, &mut state);
                network.write(&state, &mut pose);
                let mut dials = [0.5 * most; 2];
                let outcome = solver.fit(&mut dials, &pose, &[], &settings);
                assert!(outcome.reached && outcome.steps < 20, "{most}: {}", outcome.steps);
                for (found, truth) in dials.iter().zip(&truth) {
                    assert!((found - truth).abs() < 1e-6 * most, "{dials:?} {truth:?}");
                }
            }
        }
    }

    /// A goal that no dial brings about leaves them inside of their ranges, and says so.
    #[test]
    fn d12_what_cannot_be_reached_is_missed_inside() {
        let mut rng = Rng::new(17);
        let skeleton = skeleton(&mut rng);
        let network = Network::new(&shoulder(&mut rng, &skeleton), &skeleton).unwrap();
        let mut solver = DialSolver::new(&network);
        let humerus = skeleton.find("humerus").unwrap();
        for target in [DVec3::splat(9.0), DVec3::splat(f64::NAN), DVec3::splat(1e300)] {
            let mut dials = vec![f64::NAN; network.dials().len()];
            let goals = [Goal::position(humerus, target)];
            let settings = DialSettings::default();
            let outcome = solver.reach(&mut dials, &Pose::rest(&skeleton), &goals, &settings);
            assert!(!outcome.reached);
            for (dial, value) in network.dials().iter().zip(&dials) {
                assert!(*value >= dial.range[0] && *value <= dial.range[1], "{value}");
            }
        }
    }
}
