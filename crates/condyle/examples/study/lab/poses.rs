//! Poses that nobody takes.

use condyle::anatomy::BodySide;
use condyle::math::{Rotation, trig};
use condyle::synth::Rng;

use super::subject::{Joint, Subject};

/// The kinds of implausible poses, in order.
pub(crate) const KINDS: [&str; 3] = ["beyond published ranges", "other side", "other joint"];

/// Poses of each kind for one joint of one subject.
#[derive(Clone, Debug, Default)]
pub(crate) struct Implausible {
    pub(crate) poses: [Vec<Rotation>; 3],
    /// How many candidates of each kind were drawn.
    pub(crate) drawn: [usize; 3],
}

/// Degrees. A pose of another joint or side that is this near to a real pose of the joint, of whomever,
/// is none that nobody takes.
const PLAUSIBLE: f64 = 10.0;

/// Poses for a joint of a subject.
///
/// - uniform rotations that have a clinical angle outside of its published range;
/// - rotations of the same joint on the other side, between the anatomical frames, not mirrored;
/// - rotations of other joints of the subject, between the anatomical frames, mirrored where the side is
///   another.
///
/// Of the latter two, those near to a real rotation of the joint are left out.
pub(crate) fn implausible(
    subjects: &[Subject],
    who: usize,
    joint: usize,
    count: usize,
    seed: u64,
) -> Implausible {
    let subject = &subjects[who];
    let own = &subject.joints[joint];
    let mut found = Implausible::default();
    let mut rng = Rng::stream(seed, (who * 1000 + joint) as u64);
    if own.beyond_published(Rotation::IDENTITY).is_some() {
        for _ in 0..20 * count {
            let q = rng.rotation();
            found.drawn[0] += 1;
            if own.beyond_published(q) == Some(true) {
                found.poses[0].push(q);
            }
            if found.poses[0].len() == count {
                break;
            }
        }
    }

    let real: Vec<Vec<Rotation>> =
        (0..subject.joints.len()).map(|j| subject.real(j).collect()).collect();
    let which = |chosen: &dyn Fn(&Joint) -> bool| -> Vec<usize> {
        (0..subject.joints.len()).filter(|j| chosen(&subject.joints[*j])).collect()
    };
    let (what, side) = (own.frames.what, own.frames.side);
    let counterpart = which(&|other| {
        let there = (other.frames.what, other.frames.side);
        side != BodySide::Middle && there == (what, side.other()) && other.several == own.several
    });
    // Wholes are made of joints that are there already.
    let others = which(&|other| other.frames.what != what && !other.several);
    let known = Known::new(subjects, who, joint);
    for (kind, from) in [(1, counterpart), (2, others)] {
        for _ in 0..count {
            let Some(&j) = rng.choose(&from) else { break };
            let Some(&q) = rng.choose(&real[j]) else { continue };
            let right = subject.joints[j].anatomical(q);
            let pose =
                if kind == 1 { own.with_other_side(right) } else { own.with_anatomical(right) };
            found.drawn[kind] += 1;
            if !known.near(pose) {
                found.poses[kind].push(pose);
            }
        }
    }
    found
}

/// What the joint was seen to do, by everybody.
struct Known(Vec<[f64; 4]>);

impl Known {
    fn new(subjects: &[Subject], who: usize, joint: usize) -> Self {
        /// Degrees. A frame that is this near to the last one is not needed.
        const SAME: f64 = 0.5;
        let mut known: Vec<[f64; 4]> = Vec::new();
        for subject in subjects {
            let mut last: Option<Rotation> = None;
            for q in subject.real(joint) {
                if last.is_none_or(|l| l.distance(q).degrees() > SAME) {
                    last = Some(q);
                    let own = subjects[who].joints[joint].carried(&subject.joints[joint], q);
                    known.push(own.to_wxyz());
                }
            }
        }
        Self(known)
    }

    fn near(&self, pose: Rotation) -> bool {
        let [w, x, y, z] = pose.to_wxyz();
        // The dot product of quaternions is the cosine of half the angle.
        let (_, least) = trig::sin_cos(0.5 * PLAUSIBLE.to_radians());
        self.0.iter().any(|k| (w * k[0] + x * k[1] + y * k[2] + z * k[3]).abs() >= least)
    }
}
