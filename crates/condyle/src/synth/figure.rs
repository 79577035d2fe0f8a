//! Skeletons whose joints are known: a human figure and random trees.

use glam::DVec3;

use super::{JointTruth, RegionShape, Rng, SwingRegion, SynthError};
use crate::math::{Angle, Arc, Rotation};
use crate::skeleton::{EndSite, Joint, JointIndex, Skeleton, SkeletonError};

/// A skeleton and what each of its joints can really do.
///
/// ```
/// use condyle::synth::Figure;
/// let human = Figure::human();
/// let knee = human.skeleton().find("LeftLeg").unwrap();
/// assert_eq!(human.truth_of(knee).kind(), "hinge");
/// let random = Figure::random(20, 7).unwrap();
/// assert_eq!(random.skeleton().len(), 20);
/// ```
#[derive(Clone, Debug)]
pub struct Figure {
    skeleton: Skeleton,
    truth: Vec<JointTruth>,
}

impl Figure {
    /// A skeleton with one truth per joint, in its order.
    ///
    /// # Errors
    ///
    /// [`SynthError::JointCount`] if there are not as many truths as joints.
    pub fn new(skeleton: Skeleton, truth: Vec<JointTruth>) -> Result<Self, SynthError> {
        if skeleton.len() != truth.len() {
            return Err(SynthError::JointCount { found: truth.len(), expected: skeleton.len() });
        }
        Ok(Self { skeleton, truth })
    }

    /// The skeleton.
    #[must_use]
    pub const fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// What each joint can do, in the skeleton's order.
    #[must_use]
    pub fn truth(&self) -> &[JointTruth] {
        &self.truth
    }

    /// What one joint can do.
    ///
    /// # Panics
    ///
    /// If the skeleton has no such joint.
    #[must_use]
    pub fn truth_of(&self, joint: JointIndex) -> &JointTruth {
        &self.truth[joint.get()]
    }

    /// A person of 1.7 m in T-pose: y up, facing +z, the left side at +x, metres.
    ///
    /// 26 joints. Elbows, knees and toes are hinges; wrists, ankles, collar bones and the head are
    /// universal (the ankle's axes are not perpendicular); spine, neck, shoulders and hips are
    /// balls (the shoulder's region is a kidney); the chest and the hip connectors are fixed. Rest
    /// is off the orbit at the toes, and outside the limits at the shoulders and elbows. Ranges are
    /// those of a healthy adult, rounded.
    #[must_use]
    #[allow(clippy::missing_panics_doc, reason = "its numbers are fixed, and a test builds it")]
    pub fn human() -> Self {
        human().expect("the numbers of the human figure are good")
    }

    /// A random tree of `joints` joints: random parents, offsets, rest rotations, end sites and
    /// kinds. With five joints or more every kind occurs. The same seed gives the same figure.
    ///
    /// Hinges and universal joints have their rest on the orbit in three of five cases, and then
    /// inside the limit in three of five; ball regions are of every [`RegionShape`]. A ball's bone
    /// axis is the skeleton's. No arc is narrower than 8° and no region reaches within 20° of the
    /// direction opposite to the bone.
    ///
    /// # Errors
    ///
    /// [`SynthError::Skeleton`] if there are more than a skeleton may have, and
    /// [`SynthError::NoJoints`] for none.
    pub fn random(joints: usize, seed: u64) -> Result<Self, SynthError> {
        if joints == 0 {
            return Err(SynthError::NoJoints);
        }
        let mut rng = Rng::stream(seed, 0x0f16);
        let skeleton = random_skeleton(joints, &mut rng)?;
        let kinds = random_kinds(joints, &mut rng);
        let mut truth = vec![JointTruth::Free];
        for (j, kind) in skeleton.indices().zip(kinds).skip(1) {
            let bone = skeleton.bone_axis(j).unwrap_or(DVec3::X);
            truth.push(random_truth(kind, bone, &mut rng));
        }
        Self::new(skeleton, truth)
    }
}

fn deg(d: f64) -> Angle {
    Angle::from_degrees(d)
}

fn arc(min: f64, max: f64) -> Option<Arc> {
    Arc::from_degrees(min, max)
}

/// Adds joints by the parent's name, with their truth.
struct Builder {
    skeleton: Skeleton,
    truth: Vec<JointTruth>,
}

impl Builder {
    /// A joint on the middle line.
    fn one(&mut self, parent: &str, name: &str, offset: DVec3, truth: JointTruth) -> Option<()> {
        let parent = self.skeleton.find(parent)?;
        self.skeleton.add(parent, Joint::new(name, offset)).ok()?;
        self.truth.push(truth);
        Some(())
    }

    /// A joint on the left, with the bone's end where nothing follows, and its mirror image.
    fn pair(
        &mut self,
        parent: &str,
        name: &str,
        offset: DVec3,
        end: Option<DVec3>,
        truth: JointTruth,
    ) -> Option<()> {
        for (side, truth) in [("Left", truth), ("Right", truth.mirrored())] {
            let mirror = |v: DVec3| if side == "Left" { v } else { DVec3::new(-v.x, v.y, v.z) };
            let mut joint = Joint::new(format!("{side}{name}"), mirror(offset));
            joint.end_sites =
                end.iter().map(|e| EndSite { name: None, offset_m: mirror(*e) }).collect();
            let parent = self
                .skeleton
                .find(&format!("{side}{parent}"))
                .or_else(|| self.skeleton.find(parent))?;
            self.skeleton.add(parent, joint).ok()?;
            self.truth.push(truth);
        }
        Some(())
    }
}

/// See [`Figure::human`]. `None` would be a mistake in the numbers below.
fn human() -> Option<Figure> {
    let v = DVec3::new;
    let (x, y, z) = (DVec3::X, DVec3::Y, DVec3::Z);
    let on_orbit = Angle::ZERO;
    let still = JointTruth::Fixed { center: Rotation::IDENTITY };
    let ellipse = |bone: DVec3, toward: DVec3, along: f64, across: f64| {
        let shape = RegionShape::Ellipse { along: deg(along), across: deg(across) };
        SwingRegion::new(shape, bone, toward)
    };

    let mut skeleton = Skeleton::new();
    skeleton.add_root(Joint::new("Hips", v(0.0, 0.95, 0.0))).ok()?;
    let mut b = Builder { skeleton, truth: vec![JointTruth::Free] };

    // The trunk, from below. Bending forward is a turn about +x, so the bone goes towards +z.
    let lumbar = ellipse(v(0.0, 1.0, 0.25), z, 35.0, 20.0)?;
    let lumbar = JointTruth::ball(y, lumbar, arc(-12.0, 12.0)?, Rotation::IDENTITY)?;
    b.one("Hips", "LowerBack", v(0.0, 0.08, -0.02), lumbar)?;
    let cone = RegionShape::Cone { half_angle: deg(22.0) };
    let spine = SwingRegion::new(cone, v(0.0, 1.0, 0.1), z)?;
    let spine = JointTruth::ball(y, spine, arc(-25.0, 25.0)?, Rotation::IDENTITY)?;
    b.one("LowerBack", "Spine", v(0.0, 0.14, 0.0), spine)?;
    b.one("Spine", "Chest", v(0.0, 0.16, 0.0), still)?;
    let cone = RegionShape::Cone { half_angle: deg(40.0) };
    let neck = SwingRegion::new(cone, v(0.0, 1.0, 0.1), z)?;
    let neck = JointTruth::ball(y, neck, arc(-60.0, 60.0)?, Rotation::IDENTITY)?;
    b.one("Chest", "Neck", v(0.0, 0.13, 0.0), neck)?;
    let nod = JointTruth::universal([x, z], [arc(-15.0, 20.0)?, arc(-10.0, 10.0)?], on_orbit)?;
    let parent = b.skeleton.find("Neck")?;
    let mut head = Joint::new("Head", v(0.0, 0.11, 0.02));
    head.end_sites.push(EndSite { name: None, offset_m: v(0.0, 0.18, 0.03) });
    b.skeleton.add(parent, head).ok()?;
    b.truth.push(nod);

    // The arm, along +x at rest. The collar bone rises about +z and moves forward about −y.
    let arcs = [arc(-8.0, 35.0)?, arc(-15.0, 25.0)?];
    let collar = JointTruth::universal([z, -y], arcs, on_orbit)?;
    b.pair("Chest", "Shoulder", v(0.03, 0.08, 0.02), None, collar)?;
    // The kidney's middle is forward and down; it bends around the back, where the arm cannot go.
    let kidney =
        RegionShape::Kidney { radius: deg(75.0), extent: deg(110.0), half_width: deg(42.0) };
    let shoulder = SwingRegion::new(kidney, x, v(0.0, 0.2, -1.0))?;
    let lowered = Rotation::from_axis_angle(-z, deg(30.0))?;
    let forward = Rotation::from_axis_angle(-y, deg(50.0))?;
    let shoulder = JointTruth::ball(x, shoulder, arc(-60.0, 75.0)?, forward * lowered)?;
    b.pair("Shoulder", "Arm", v(0.15, 0.0, -0.02), None, shoulder)?;
    // Bends forward, with a carrying angle; never quite straight.
    let elbow = JointTruth::hinge(v(0.05, -1.0, 0.1), arc(4.0, 145.0)?, x, on_orbit)?;
    b.pair("Arm", "ForeArm", v(0.29, 0.0, 0.0), None, elbow)?;
    let wrist = JointTruth::universal([-z, -y], [arc(-65.0, 75.0)?, arc(-30.0, 20.0)?], on_orbit)?;
    b.pair("ForeArm", "Hand", v(0.25, 0.0, 0.0), None, wrist)?;
    let fingers = JointTruth::hinge(-z, arc(-10.0, 90.0)?, x, on_orbit)?;
    b.pair("Hand", "Fingers", v(0.09, 0.0, 0.0), Some(v(0.09, 0.0, 0.0)), fingers)?;

    // The leg, along −y at rest. Bending the hip is a turn about −x, so the thigh goes to +z.
    b.pair("Hips", "HipJoint", v(0.02, -0.01, 0.0), None, still)?;
    let hip = ellipse(v(0.15, -1.0, 0.75), z, 68.0, 38.0)?;
    let hip = JointTruth::ball(-y, hip, arc(-35.0, 40.0)?, Rotation::IDENTITY)?;
    b.pair("HipJoint", "UpLeg", v(0.08, -0.04, 0.0), None, hip)?;
    let knee = JointTruth::hinge(v(1.0, 0.04, 0.02), arc(-3.0, 140.0)?, y, on_orbit)?;
    b.pair("UpLeg", "Leg", v(0.0, -0.42, 0.0), None, knee)?;
    // The ankle about the side axis, the foot below it about an axis that runs forward, up and in.
    let ankle = JointTruth::universal(
        [v(-1.0, -0.1, 0.08), v(-0.28, 0.6, 0.75)],
        [arc(-48.0, 22.0)?, arc(-15.0, 32.0)?],
        on_orbit,
    )?;
    b.pair("Leg", "Foot", v(0.0, -0.41, 0.0), None, ankle)?;
    // Rest is 8° off the orbit: the foot was modelled flat, the toes turn out.
    let toes = JointTruth::hinge(v(-1.0, 0.0, 0.12), arc(-25.0, 60.0)?, y, deg(8.0))?;
    b.pair("Foot", "ToeBase", v(0.0, -0.06, 0.13), Some(v(0.0, 0.0, 0.07)), toes)?;

    Figure::new(b.skeleton, b.truth).ok()
}

/// A random tree: bones of 4 to 50 cm, half of the leaves with an end site.
fn random_skeleton(joints: usize, rng: &mut Rng) -> Result<Skeleton, SkeletonError> {
    let mut skeleton = Skeleton::new();
    let mut parents = vec![0];
    for i in 1..joints {
        // Mostly on along a limb, at times a new branch.
        parents.push(if rng.chance(0.7) { i - 1 } else { rng.below(i) });
    }
    let mut is_leaf = vec![true; joints];
    for (i, &p) in parents.iter().enumerate().skip(1) {
        is_leaf[p] &= p == i;
    }
    let mut indices = Vec::with_capacity(joints);
    for i in 0..joints {
        let mut joint = Joint::new(format!("joint{i}"), DVec3::new(0.0, 1.0, 0.0));
        if i > 0 {
            joint.offset_m = rng.direction() * rng.between(0.04, 0.5);
            if rng.chance(0.7) {
                joint.rest = rng.rotation();
            }
        }
        if is_leaf[i] && rng.chance(0.5) {
            let offset_m = rng.direction() * rng.between(0.04, 0.3);
            joint.end_sites.push(EndSite { name: None, offset_m });
        }
        indices.push(match i {
            0 => skeleton.add_root(joint)?,
            _ => skeleton.add(indices[parents[i]], joint)?,
        });
    }
    Ok(skeleton)
}

#[derive(Clone, Copy)]
enum Kind {
    Fixed,
    Hinge,
    Universal,
    Ball,
}

const KINDS: [Kind; 4] = [Kind::Fixed, Kind::Hinge, Kind::Universal, Kind::Ball];

/// A kind for every joint (the root's is not used): each at least once if there is room, fixed
/// ones less often than the others.
fn random_kinds(joints: usize, rng: &mut Rng) -> Vec<Kind> {
    let mut kinds = KINDS.to_vec();
    while kinds.len() + 1 < joints {
        let u = rng.uniform();
        kinds.push(KINDS[if u < 0.1 { 0 } else { 1 + rng.below(3) }]);
    }
    rng.shuffle(&mut kinds);
    kinds.insert(0, Kind::Fixed);
    kinds
}

fn random_truth(kind: Kind, bone: DVec3, rng: &mut Rng) -> JointTruth {
    // A refused draw (two axes nearly parallel, a region too near the opposite of the bone) is
    // drawn again.
    loop {
        let truth = match kind {
            Kind::Fixed => {
                let center = if rng.chance(0.3) { rng.rotation() } else { Rotation::IDENTITY };
                Some(JointTruth::Fixed { center })
            }
            Kind::Hinge => random_hinge(rng),
            Kind::Universal => random_universal(rng),
            Kind::Ball => random_ball(bone, rng),
        };
        if let Some(truth) = truth {
            return truth;
        }
    }
}

/// Of a given width: around 0 in three of five cases, else anywhere on the circle.
fn random_arc(width: f64, rng: &mut Rng) -> Option<Arc> {
    let min = if rng.chance(0.6) { -width * rng.uniform() } else { rng.between(-180.0, 180.0) };
    arc(min, min + width)
}

fn random_off(most: f64, rng: &mut Rng) -> Angle {
    if rng.chance(0.6) { Angle::ZERO } else { deg(rng.between(5.0, most)) }
}

fn random_axis(rng: &mut Rng) -> DVec3 {
    if rng.chance(0.3) { [DVec3::X, DVec3::Y, DVec3::Z][rng.below(3)] } else { rng.direction() }
}

fn random_hinge(rng: &mut Rng) -> Option<JointTruth> {
    let axis = random_axis(rng);
    let width = if rng.chance(0.8) { rng.between(8.0, 170.0) } else { rng.between(170.0, 345.0) };
    let arc = random_arc(width, rng)?;
    let across = rng.perpendicular(axis);
    let off = random_off(60.0, rng);
    JointTruth::hinge(axis, arc, across, off)
}

fn random_universal(rng: &mut Rng) -> Option<JointTruth> {
    let a = random_axis(rng);
    let between = if rng.chance(0.4) { 90.0 } else { rng.between(55.0, 125.0) };
    let across = rng.perpendicular(a);
    let turn = Rotation::from_axis_angle(across, deg(between))?;
    let widths = [rng.between(15.0, 150.0), rng.between(15.0, 110.0)];
    let arcs = [random_arc(widths[0], rng)?, random_arc(widths[1], rng)?];
    JointTruth::universal([a, turn * a], arcs, random_off(50.0, rng))
}

fn random_ball(bone: DVec3, rng: &mut Rng) -> Option<JointTruth> {
    let shape = match rng.below(5) {
        0 => RegionShape::Cone { half_angle: deg(rng.between(12.0, 75.0)) },
        1 => RegionShape::Cone { half_angle: deg(rng.between(92.0, 130.0)) },
        2 => RegionShape::Ellipse {
            along: deg(rng.between(20.0, 85.0)),
            across: deg(rng.between(12.0, 50.0)),
        },
        3 => RegionShape::Kidney {
            radius: deg(rng.between(35.0, 90.0)),
            extent: deg(rng.between(80.0, 220.0)),
            half_width: deg(rng.between(12.0, 30.0)),
        },
        _ => RegionShape::Notched {
            half_angle: deg(rng.between(40.0, 80.0)),
            inner: deg(rng.between(12.0, 30.0)),
            notch: deg(rng.between(60.0, 150.0)),
        },
    };
    // Off the bone in half of the cases, by up to 40°.
    let across = rng.perpendicular(bone);
    let off = if rng.chance(0.5) { 0.0 } else { rng.between(5.0, 40.0) };
    let turn = Rotation::from_axis_angle(across, deg(off))?;
    let center = turn * bone;
    let swing = SwingRegion::new(shape, center, rng.perpendicular(center))?;
    // Near the opposite of the bone a small change of direction is a large change of rotation.
    if swing.contains(-bone) || swing.boundary_distance(-bone) < deg(20.0) {
        return None;
    }
    let width = rng.between(15.0, 170.0);
    let min = -width * rng.between(0.2, 0.8);
    let twist = arc(min, min + width)?;
    let center = if rng.chance(0.5) {
        Rotation::IDENTITY
    } else {
        Rotation::from_axis_angle(rng.direction(), deg(rng.between(5.0, 60.0)))?
    };
    JointTruth::ball(bone, swing, twist, center)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_human_figure_has_every_kind_and_human_size() {
        let human = Figure::human();
        let count = |kind: &str| human.truth().iter().filter(|t| t.kind() == kind).count();
        assert_eq!(
            ["free", "fixed", "hinge", "universal", "ball"].map(count),
            [1, 3, 8, 7, 7],
            "26 joints"
        );
        let size = human.skeleton().longest_path_m();
        assert!((1.5..2.5).contains(&size), "{size}");
        let heights: Vec<f64> =
            human.skeleton().rest_world_positions().iter().map(|p| p.y).collect();
        let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(lowest.abs() < 0.05, "toes near the ground: {lowest}");
        for (name, least, most) in [
            ("LeftForeArm", 3.99, 4.01),
            ("RightForeArm", 3.99, 4.01),
            ("LeftToeBase", 7.99, 8.01),
            ("RightArm", 5.0, 40.0),
            ("LeftLeg", 0.0, 1e-9),
            ("RightUpLeg", 0.0, 1e-9),
        ] {
            let j = human.skeleton().find(name).unwrap();
            let excess = human.truth_of(j).rest_excess().degrees();
            assert!((least..=most).contains(&excess), "{name}: {excess}");
        }
        for (name, kind) in [
            ("LeftForeArm", "hinge"),
            ("RightLeg", "hinge"),
            ("LeftHand", "universal"),
            ("RightFoot", "universal"),
            ("LeftArm", "ball"),
            ("RightUpLeg", "ball"),
            ("Neck", "ball"),
            ("LeftHipJoint", "fixed"),
        ] {
            let j = human.skeleton().find(name).unwrap();
            assert_eq!(human.truth_of(j).kind(), kind, "{name}");
        }
    }

    /// Where a joint's bone ends up in world space when only this joint turns.
    fn bone_direction(name: &str, m: Rotation) -> DVec3 {
        let human = Figure::human();
        let j = human.skeleton().find(name).unwrap();
        let truth = human.truth_of(j);
        // All rest rotations of the human are the identity.
        truth.center() * m * human.skeleton().bone_axis(j).unwrap()
    }

    #[test]
    fn limbs_bend_the_way_people_do() {
        let bent = |name: &str| {
            let human = Figure::human();
            let j = human.skeleton().find(name).unwrap();
            let JointTruth::Hinge { axis, arc, .. } = *human.truth_of(j) else { panic!("{name}") };
            assert!(arc.max().degrees() > 50.0);
            bone_direction(name, Rotation::from_axis_angle(axis, deg(60.0)).unwrap())
        };
        for side in ["Left", "Right"] {
            assert!(bent(&format!("{side}ForeArm")).z > 0.8, "elbows bend forward");
            assert!(bent(&format!("{side}Leg")).z < -0.8, "knees bend backward");
            assert!(bent(&format!("{side}Fingers")).y < -0.8, "fingers bend down");
            assert!(bent(&format!("{side}ToeBase")).y > 0.7, "toes bend up");
        }
        let human = Figure::human();
        let swing = |name: &str| {
            let j = human.skeleton().find(name).unwrap();
            let JointTruth::Ball { swing, center, .. } = *human.truth_of(j) else { panic!() };
            move |d: DVec3| swing.contains(center.inverse() * d)
        };
        let hip = swing("LeftUpLeg");
        assert!(hip(DVec3::new(0.0, -0.3, 1.0)), "the thigh lifts forward");
        assert!(hip(DVec3::new(0.0, -1.0, -0.2)), "and goes back a little");
        assert!(!hip(DVec3::new(0.0, -1.0, -1.0)) && !hip(DVec3::new(0.0, 1.0, 1.0)));
        for (side, x) in [("LeftArm", 1.0), ("RightArm", -1.0)] {
            let arm = swing(side);
            assert!(arm(DVec3::new(0.2 * x, -1.0, 0.3)), "{side} down");
            assert!(arm(DVec3::new(0.1 * x, 0.0, 1.0)), "{side} forward");
            assert!(arm(DVec3::new(0.3 * x, 1.0, 0.4)), "{side} up");
            assert!(!arm(DVec3::new(0.3 * x, 0.2, -1.0)), "{side} not back");
        }
    }

    #[test]
    fn random_figures_have_every_kind_region_and_rest() {
        let mut shapes = [0; 5];
        let (mut on, mut off, mut outside, mut wrapping, mut oblique) = (0, 0, 0, 0, 0);
        for seed in 0..200 {
            let figure = Figure::random(5 + usize::try_from(seed % 26).unwrap(), seed).unwrap();
            for kind in ["free", "fixed", "hinge", "universal", "ball"] {
                assert!(figure.truth().iter().any(|t| t.kind() == kind), "{seed} {kind}");
            }
            for j in figure.skeleton().indices().skip(1) {
                let truth = figure.truth_of(j);
                let centered = truth.center().angle().degrees();
                match *truth {
                    JointTruth::Hinge { arc, .. } => {
                        on += u32::from(centered == 0.0);
                        off += u32::from(centered > 4.99);
                        outside += u32::from(centered == 0.0 && !arc.contains(Angle::ZERO));
                        wrapping += u32::from(arc.max() > Angle::HALF_TURN);
                        assert!(arc.width().degrees() >= 7.99);
                    }
                    JointTruth::Universal { axes, .. } => {
                        oblique += u32::from(axes[0].dot(axes[1]).abs() > 0.1);
                    }
                    JointTruth::Ball { bone_axis, swing, .. } => {
                        let bone = figure.skeleton().bone_axis(j).unwrap();
                        assert!((bone - bone_axis).length() < 1e-14);
                        shapes[match swing.shape() {
                            RegionShape::Cone { half_angle } if half_angle > deg(90.0) => 0,
                            RegionShape::Cone { .. } => 1,
                            RegionShape::Ellipse { .. } => 2,
                            RegionShape::Kidney { .. } => 3,
                            RegionShape::Notched { .. } => 4,
                        }] += 1;
                    }
                    _ => {}
                }
            }
        }
        for count in [on, off, outside, wrapping, oblique].into_iter().chain(shapes) {
            assert!(count > 50, "{on} {off} {outside} {wrapping} {oblique} {shapes:?}");
        }
    }

    #[test]
    fn figures_depend_on_the_seed_only() {
        let describe = |seed| format!("{:?}", Figure::random(12, seed).unwrap().truth());
        assert_eq!(describe(3), describe(3));
        assert_ne!(describe(3), describe(4));
        assert!(matches!(Figure::random(0, 1), Err(SynthError::NoJoints)));
        assert_eq!(Figure::random(1, 1).unwrap().truth()[0].kind(), "free");
    }
}
