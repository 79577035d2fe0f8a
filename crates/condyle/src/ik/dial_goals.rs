//! Which dials bring goals about, frame by frame (D12).

use super::dials::{DialSettings, DialSolver};
use super::follow::{FollowedGoal, REACHED, REACHED_M, Tally};
use super::goal::Goal;
use super::goals::Goals;
use super::random::random;
use crate::maps::{Dial, DialClip, Network, union};
use crate::motion::{FrameIndex, Pose, World};
use crate::skeleton::Skeleton;

/// Dials that bring goals about, and how near they come.
#[must_use]
#[derive(Clone, Debug)]
pub struct FollowedDials {
    /// The dials of each frame.
    pub dials: DialClip,
    /// One for each of [`Goals::goals`].
    pub goals: Vec<FollowedGoal>,
}

impl FollowedDials {
    /// Whether every goal is reached wherever there is one.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.goals.iter().all(|goal| goal.reached == goal.frames)
    }
}

/// So many other starts are tried in a frame with a goal that is missed.
const STARTS: usize = 12;
/// And only where it is missed by so much more than what they led to before, by the squares.
const WORSE: f64 = 1.44;
/// What another start has to make of the squares of misses to be taken: what is hardly better is not worth
/// a jump.
const BETTER: f64 = 0.95;
/// Of how far the frame before went from what is set a frame is drawn to so much: it goes on from there, and
/// comes back in time.
const STAYS: f64 = 0.99;
/// What the square of each dial's distance from where it is set counts, by its effort, one after the other.
/// The first makes the figure lean towards goals as little as it can, and the others go on from there, so
/// that of all ways to the goals a near one is found. What is left of the last is too little to see: some
/// micrometres.
const POSTURES: [f64; 3] = [1e-2, 1e-4, 1e-6];

impl DialSolver<'_> {
    /// The dials that bring goals about in the frames of `own`, which says how dials are set else: frames
    /// without goals and dials that no goal depends on stay as there, and the others are drawn to it a
    /// little. `near` and `near_m` of the settings hold; their posture does not.
    ///
    /// A frame is looked for from where the frame before went, from what is set, and if it is missed
    /// from other starts, the same ones every time. What is reached is judged by forward kinematics of the
    /// motion that comes out. Roots stay where they are unless a dial moves them, and nothing is locked:
    /// [`Goals::lock`] and [`Goals::root`] have no say here. `done` is told how many frames are.
    ///
    /// # Panics
    ///
    /// If the goals or the dials are of another network or skeleton.
    pub fn follow(
        &mut self,
        network: &Network,
        skeleton: &Skeleton,
        goals: &Goals,
        own: &DialClip,
        settings: &DialSettings<'_>,
        mut done: impl FnMut(usize),
    ) -> FollowedDials {
        let rest = Pose::rest(skeleton);
        let efforts = efforts(network, skeleton);
        let settings = &DialSettings { efforts: Some(&efforts), ..*settings };
        let mut dials = DialClip::new(own.rate(), network.dials().len());
        // How far the frame before went from what is set, and what other starts left there.
        let mut moved: Vec<f64> = Vec::new();
        let mut tried = 0.0;
        for frame in 0..own.len() {
            let set = own.frame(frame);
            let asked = index(frame).map_or_else(Vec::new, |frame| {
                let all = goals.goals.iter().filter_map(|goal| goal.at(frame));
                // What no dial moves is missed whatever is done, and would drown the others.
                all.filter(|goal| !dials_of(network, skeleton, &[*goal]).is_empty()).collect()
            });
            if asked.is_empty() {
                dials.push(set);
                moved.clear();
                done(frame + 1);
                continue;
            }
            let free = dials_of(network, skeleton, &asked);
            let mut best = None;
            if !moved.is_empty() {
                let mut start = set.to_vec();
                free.iter().for_each(|dial| start[*dial] += STAYS * moved[*dial]);
                best = Some(self.from(&start, &start, &rest, &asked, settings));
            }
            // The way that the frame before went is the first choice.
            let mut best = match best {
                Some(best) if best.reached => best,
                before => {
                    let anew = self.from(set, set, &rest, &asked, settings);
                    before.filter(|b| anew.squares >= BETTER * b.squares).unwrap_or(anew)
                }
            };
            if !best.reached && best.squares > WORSE * tried {
                let mut seed = frame as u64;
                for _ in 0..STARTS {
                    let mut start = set.to_vec();
                    for dial in &free {
                        let [min, max] = network.dials()[*dial].range;
                        start[*dial] = min + (max - min) * random(&mut seed);
                    }
                    let other = self.from(&start, set, &rest, &asked, settings);
                    if other.squares < BETTER * best.squares {
                        best = other;
                    }
                    if best.reached {
                        break;
                    }
                }
                tried = best.squares;
            }
            // What no goal depends on is as it is set, bit for bit.
            let mut found = set.to_vec();
            free.iter().for_each(|dial| found[*dial] = best.dials[*dial]);
            moved = found.iter().zip(set).map(|(found, set)| found - set).collect();
            dials.push(&found);
            done(frame + 1);
        }
        let goals = judged(network, skeleton, goals, &dials);
        FollowedDials { dials, goals }
    }

    /// Dials for the goals of a frame, looked for from some and near others.
    fn from(
        &mut self,
        start: &[f64],
        near: &[f64],
        pose: &Pose,
        goals: &[Goal],
        settings: &DialSettings<'_>,
    ) -> Found {
        let mut dials = start.to_vec();
        for posture in &POSTURES[..POSTURES.len() - 1] {
            let settings = DialSettings { posture: Some((near, *posture)), ..*settings };
            dials = self.once(&dials, pose, goals, &settings).dials;
        }
        let settings =
            DialSettings { posture: Some((near, POSTURES[POSTURES.len() - 1])), ..*settings };
        let mut best = self.once(&dials, pose, goals, &settings);
        // A dial that a bound held on the way is free to go the other way from there.
        for _ in 0..3 {
            if best.reached {
                break;
            }
            let again = self.once(&best.dials, pose, goals, &settings);
            if again.squares >= BETTER * best.squares {
                break;
            }
            best = again;
        }
        best
    }

    fn once(
        &mut self,
        start: &[f64],
        pose: &Pose,
        goals: &[Goal],
        settings: &DialSettings<'_>,
    ) -> Found {
        let mut dials = start.to_vec();
        self.reach(&mut dials, pose, goals, settings);
        let both = || self.misses().iter().zip(goals);
        let squares = both().map(|(miss, goal)| goal.weight * miss.value() * miss.value()).sum();
        let reached = both().all(|(miss, _)| miss.is_within(REACHED_M, REACHED));
        Found { dials, squares, reached }
    }
}

/// What was found for a frame.
struct Found {
    dials: Vec<f64>,
    /// Of the misses, by their weights.
    squares: f64,
    reached: bool,
}

fn index(frame: usize) -> Option<FrameIndex> {
    u32::try_from(frame).ok().map(FrameIndex)
}

/// The dials that goals depend on, rising.
fn dials_of(network: &Network, skeleton: &Skeleton, goals: &[Goal]) -> Vec<usize> {
    let joints = goals.iter().flat_map(|goal| goal.joints().into_iter().flatten());
    let above = joints.flat_map(|j| {
        let first = Some(crate::skeleton::JointIndex::new(j));
        std::iter::successors(first, |joint| skeleton.parent(*joint))
    });
    union(above.map(|joint| network.dials_of(joint)))
}

/// How much of the figure each dial moves, from rest: the mean square of the way of all joints for one radian,
/// metre or unit, as a share of the most that any dial does, and no less than a fiftieth of it. So an arm goes
/// before a spine does, which takes the arms and the head along.
fn efforts(network: &Network, skeleton: &Skeleton) -> Vec<f64> {
    /// So much of the range to either side of rest.
    const STEP: f64 = 0.02;
    const LEAST: f64 = 0.02;
    let rest: Vec<f64> = network.dials().iter().map(|dial| dial.rest).collect();
    let at = |d: usize, value: f64| {
        let mut dials = rest.clone();
        dials[d] = value;
        // From rest each time: bones slide from there.
        let (mut state, mut pose) = (network.state(), Pose::rest(skeleton));
        network.evaluate_values(&dials, &mut state);
        network.write(&state, &mut pose);
        pose.world(skeleton).positions_m
    };
    let one = |(d, dial): (usize, &Dial)| {
        let [min, max] = dial.range;
        let step = STEP * (max - min);
        let ends = [(dial.rest - step).max(min), (dial.rest + step).min(max)];
        let [from, to] = ends.map(|value| at(d, value));
        let ways = from.iter().zip(&to).map(|(a, b)| a.distance_squared(*b));
        let apart = ends[1] - ends[0];
        ways.sum::<f64>() / (apart * apart)
    };
    let all: Vec<f64> = network.dials().iter().enumerate().map(one).collect();
    let most = all.iter().copied().filter(|x| x.is_finite()).fold(0.0, f64::max);
    let share = |x: f64| if most > 0.0 && x.is_finite() { (x / most).max(LEAST) } else { 1.0 };
    all.into_iter().map(share).collect()
}

/// How near dials come to goals, by forward kinematics frame after frame.
fn judged(
    network: &Network,
    skeleton: &Skeleton,
    goals: &Goals,
    dials: &DialClip,
) -> Vec<FollowedGoal> {
    let mut tallies = vec![Tally::default(); goals.goals.len()];
    let (mut state, mut pose, mut world) = (network.state(), Pose::rest(skeleton), World::new());
    for frame in (0..dials.len()).filter_map(index) {
        network.evaluate_values(dials.frame(frame.get()), &mut state);
        network.write(&state, &mut pose);
        world.update(skeleton, &pose);
        for (goal, tally) in goals.goals.iter().zip(&mut tallies) {
            if let Some(goal) = goal.at(frame) {
                tally.add(frame, goal.miss(&world));
            }
        }
    }
    let both = goals.goals.iter().zip(&tallies);
    both.map(|(goal, tally)| tally.report(goal.kind.is_distance())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ik::{Aims, ClipGoal, GoalKind, RootMotion};
    use crate::math::Angle;
    use crate::models;
    use crate::motion::FrameRate;
    use crate::synth::Rng;

    const HANDS: [&str; 4] = ["LeftHand", "RightHand", "LeftFoot", "RightFoot"];

    fn goal(
        joint: &str,
        kind: GoalKind,
        aims: Vec<Option<crate::ik::Aim>>,
        skeleton: &Skeleton,
    ) -> ClipGoal {
        let joint = skeleton.find(joint).unwrap();
        ClipGoal { joint, kind, weight: 1.0, aims: Aims::PerFrame(aims) }
    }

    /// Where hands, feet and the head are if dials are set so, by forward kinematics: goals.
    fn taken(network: &Network, skeleton: &Skeleton, dials: &DialClip) -> Goals {
        let (mut state, mut pose) = (network.state(), Pose::rest(skeleton));
        let mut worlds = Vec::new();
        for frame in 0..dials.len() {
            network.evaluate(dials.frame(frame), &mut state);
            network.write(&state, &mut pose);
            worlds.push(pose.world(skeleton));
        }
        let at = |name: &str| skeleton.find(name).unwrap();
        let place = |name: &&str| {
            let j = at(name);
            let aims = worlds.iter().map(|w| Some(Goal::position(j, w.positions_m[j.get()]).aim));
            goal(name, GoalKind::Position, aims.collect(), skeleton)
        };
        let mut goals: Vec<ClipGoal> = HANDS.iter().map(place).collect();
        let head = at("Head");
        let aims = worlds.iter().map(|w| Some(Goal::rotation(head, w.rotations[head.get()]).aim));
        goals.push(goal("Head", GoalKind::Orientation, aims.collect(), skeleton));
        Goals { goals, ..Goals::default() }
    }

    fn settings() -> DialSettings<'static> {
        DialSettings { near_m: 1e-5, near: Angle::from_degrees(0.001), ..DialSettings::default() }
    }

    /// Row D12: what some dials bring about is brought about again, from rest, inside of all ranges.
    #[test]
    fn d12_goals_that_dials_reach_are_reached_again() {
        let rig = models::find("body").unwrap();
        let network = rig.network().unwrap();
        let mut rng = Rng::new(7);
        let rate = FrameRate::from_fps(30.0).unwrap();
        // From one setting to another in even steps, each within the middle of every range.
        let mut random = || -> Vec<f64> {
            let of = |d: &Dial| d.rest + 0.6 * (rng.between(d.range[0], d.range[1]) - d.rest);
            network.dials().iter().map(of).collect()
        };
        let (from, to) = (random(), random());
        let (mut truth, mut rest) =
            (DialClip::new(rate, from.len()), DialClip::new(rate, from.len()));
        let at_rest: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
        for k in 0..12 {
            let share = f64::from(k) / 11.0;
            let both = from.iter().zip(&to);
            truth.push(&both.map(|(a, b)| a + (b - a) * share).collect::<Vec<_>>());
            rest.push(&at_rest);
        }
        let goals = taken(&network, &rig.skeleton, &truth);
        let mut solver = DialSolver::new(&network);
        let found = solver.follow(&network, &rig.skeleton, &goals, &rest, &settings(), |_| {});
        let told: Vec<_> = found.goals.iter().map(|g| (g.reached, g.worst)).collect();
        assert!(found.ok(), "{told:?}");
        assert!(found.goals.iter().all(|goal| goal.frames == 12));
        assert_eq!(found.dials.beyond(network.dials()), None);
        // No dial goes by more than twice what any dial of the truth does in a frame: nothing jumps.
        let step = |clip: &DialClip, k: usize| {
            let both = clip.frame(k).iter().zip(clip.frame(k + 1));
            both.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let most = (0..11).map(|k| step(&found.dials, k)).fold(0.0, f64::max);
        let true_most = (0..11).map(|k| step(&truth, k)).fold(0.0, f64::max);
        println!("{most:.3} and {true_most:.3} rad a frame at most");
        assert!(most < 2.0 * true_most, "{most} {true_most}");
        // Again: the same bits.
        let again = DialSolver::new(&network).follow(
            &network,
            &rig.skeleton,
            &goals,
            &rest,
            &settings(),
            |_| {},
        );
        assert_eq!(again.dials, found.dials);
    }

    /// Row D12: of all ways to a goal one near what is set is taken: the arm goes, and the trunk hardly.
    #[test]
    fn d12_goals_are_reached_near_what_is_set() {
        let rig = models::find("body").unwrap();
        let network = rig.network().unwrap();
        let rate = FrameRate::from_fps(30.0).unwrap();
        let mut own = DialClip::new(rate, network.dials().len());
        own.push(&network.dials().iter().map(|d| d.rest).collect::<Vec<_>>());
        let hand = rig.skeleton.find("RightHand").unwrap();
        let aim = Goal::position(hand, glam::DVec3::new(-0.25, 1.45, 0.35)).aim;
        let goals = vec![goal("RightHand", GoalKind::Position, vec![Some(aim)], &rig.skeleton)];
        let goals = Goals { goals, ..Goals::default() };
        let mut solver = DialSolver::new(&network);
        let found = solver.follow(&network, &rig.skeleton, &goals, &own, &settings(), |_| {});
        assert!(found.ok(), "{:?}", found.goals);
        let frame = found.dials.frame(0);
        let square = |x: f64| x * x;
        let efforts = efforts(&network, &rig.skeleton);
        let far = |dials: &[f64]| -> f64 {
            let all = network.dials().iter().zip(dials).zip(&efforts);
            all.map(|((d, x), effort)| effort * square(x - d.rest)).sum::<f64>().sqrt()
        };
        // Other ways to the goal, from anywhere: none is as near.
        let mut rng = Rng::new(3);
        let (mut reached, mut nearest) = (0, f64::INFINITY);
        for _ in 0..30 {
            let dials = network.dials().iter();
            let start: Vec<f64> = dials
                .map(|d| d.rest + 0.3 * (rng.between(d.range[0], d.range[1]) - d.rest))
                .collect();
            let mut other = start;
            let pose = Pose::rest(&rig.skeleton);
            let goal = [Goal { joint: hand, aim, weight: 1.0 }];
            let free = dials_of(&network, &rig.skeleton, &goal);
            if solver.reach(&mut other, &pose, &goal, &settings()).reached {
                // What does not matter does not count.
                for (d, dial) in network.dials().iter().enumerate() {
                    other[d] = if free.contains(&d) { other[d] } else { dial.rest };
                }
                reached += 1;
                nearest = nearest.min(far(&other));
            }
        }
        let own = far(frame);
        println!("{own:.3} away, {reached} others {nearest:.3} at least");
        assert!(reached > 20 && own < nearest, "{own} {reached} {nearest}");
        // An arm goes before a spine does.
        let degrees = |of: &dyn Fn(&str) -> bool| -> f64 {
            let all = network.dials().iter().zip(frame).filter(|(d, _)| of(&d.name));
            all.map(|(d, x)| square(x - d.rest)).sum::<f64>().sqrt().to_degrees()
        };
        let [arm, trunk] =
            [true, false].map(|arm| degrees(&|name| name.starts_with("right.") == arm));
        println!("arm {arm:.1} deg, others {trunk:.1}");
        assert!(trunk < 0.2 * arm, "{trunk} {arm}");
    }

    /// Frames without goals and dials that no goal depends on are as they are set; what cannot be reached
    /// is told, and comes as near as it gets.
    #[test]
    fn d12_goals_change_nothing_else_and_what_is_out_of_reach_is_told() {
        let rig = models::find("body").unwrap();
        let network = rig.network().unwrap();
        let rate = FrameRate::from_fps(30.0).unwrap();
        let knee = network.find("right.knee.flexion").unwrap();
        let mut own = DialClip::new(rate, network.dials().len());
        for k in 0..3 {
            let mut set: Vec<f64> = network.dials().iter().map(|d| d.rest).collect();
            set[knee] = 0.2 * f64::from(k);
            own.push(&set);
        }
        let hand = rig.skeleton.find("LeftHand").unwrap();
        let far = Goal::position(hand, glam::DVec3::new(5.0, 1.4, 0.0)).aim;
        let aims = vec![None, Some(far), None];
        let goals = vec![goal("LeftHand", GoalKind::Position, aims, &rig.skeleton)];
        let goals = Goals { goals, lock: Vec::new(), root: RootMotion::Fixed };
        let mut solver = DialSolver::new(&network);
        let found = solver.follow(&network, &rig.skeleton, &goals, &own, &settings(), |_| {});
        assert!(!found.ok() && found.goals[0].frames == 1);
        assert_eq!([0, 2].map(|k| found.dials.frame(k)), [0, 2].map(|k| own.frame(k)));
        assert_eq!(found.dials.frame(1)[knee], own.frame(1)[knee]);
        // The arm is stretched out to the left: no farther than it reaches.
        let miss = found.goals[0].worst.value();
        assert!(miss > 3.9 && miss < 4.6, "{miss}");
        // A goal that no dial moves is missed, and keeps no other from being reached.
        let aim = |x: f64, y: f64, z: f64| Goal::position(hand, glam::DVec3::new(x, y, z)).aim;
        let near = vec![Some(aim(0.25, 1.45, 0.35)); 3];
        let pelvis = vec![Some(aim(90.0, 0.0, 0.0)); 3];
        let both = vec![
            goal("Pelvis", GoalKind::Position, pelvis, &rig.skeleton),
            goal("LeftHand", GoalKind::Position, near, &rig.skeleton),
        ];
        let goals = Goals { goals: both, ..Goals::default() };
        let found = solver.follow(&network, &rig.skeleton, &goals, &own, &settings(), |_| {});
        assert_eq!([0, 1].map(|k| found.goals[k].reached), [0, 3]);
    }
}
