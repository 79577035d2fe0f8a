//! People and their motion: the rotations of every joint of the body, relative to rest.

use std::path::{Path, PathBuf};

use condyle::anatomy::{AnatomicalJoint, Anatomy, BodyJoint, BodySide};
use condyle::estimate::{EstimateOptions, Take, estimate};
use condyle::formats::{ReadOptions, read_file};
use condyle::glam::DVec3;
use condyle::limits::{EulerBox, Limit, PreparedLimit};
use condyle::math::{Angle, Arc, EulerOrder, Rotation};
use condyle::motion::{Clip, FrameIndex};
use condyle::skeleton::{JointIndex, Skeleton};

use super::Fault;

/// A joint of the body, or several in a row taken as one.
#[derive(Clone, Debug)]
pub(crate) struct Joint {
    /// The name in the file, and for several the name of the whole.
    pub(crate) name: String,
    /// Whether it is several joints in a row.
    pub(crate) several: bool,
    /// Whether published ranges are about it.
    published: bool,
    /// Its anatomical frames.
    pub(crate) frames: AnatomicalJoint,
    /// The product of the rest rotations of its chain.
    pub(crate) rest: Rotation,
    /// Where its bone points, in its own local space.
    pub(crate) bone: DVec3,
    /// The order of its Euler angles in the file.
    pub(crate) order: EulerOrder,
}

/// One take: for each joint the rotations relative to rest, frame by frame.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    pub(crate) rotations: Vec<Vec<Rotation>>,
    /// For each joint and frame, whether it is a glitch; the rotation is then that of a frame beside.
    pub(crate) glitch: Vec<Vec<bool>>,
}

/// Somebody.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) joints: Vec<Joint>,
    pub(crate) motions: Vec<Motion>,
    /// The joints and takes that were left out as a whole.
    pub(crate) wrong: Vec<(String, usize)>,
}

/// Which frames count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frames {
    /// All but glitches.
    All,
    /// And without takes in which a joint is where no person can be.
    Sound,
}

/// Degrees beyond the published ranges, and on each side of zero of angles that have none.
const FAR: f64 = 45.0;
const UNNAMED: f64 = 30.0;

impl Subject {
    /// From takes of one skeleton. Glitches are found by the library's own rule, once, from this
    /// subject's takes alone; nobody is asked about them, neither in training nor in testing.
    pub(crate) fn new(
        name: &str,
        skeleton: &Skeleton,
        clips: &[Clip],
        frames: Frames,
    ) -> Result<Self, Fault> {
        let anatomy = Anatomy::of(skeleton).ok_or("names that no table has")?;
        let mut joints = Vec::new();
        // The ranges of back, neck and shoulder are about wholes, which may be one joint.
        let parts = [BodyJoint::Shoulder, BodyJoint::Neck, BodyJoint::Lumbar, BodyJoint::Thoracic];
        let is_whole = |j: &AnatomicalJoint| anatomy.wholes().iter().any(|w| w.chain == j.chain);
        let singles = anatomy
            .joints()
            .map(|j| (j, false, is_whole(j) || (j.whole && !parts.contains(&j.what))));
        let rows = anatomy.wholes().iter().filter(|w| w.chain.len() > 1);
        for (frames, several, published) in singles.chain(rows.map(|w| (w, true, true))) {
            let Some(last) = frames.joint() else { continue };
            let mut name = skeleton[last].name.clone();
            if several {
                let side = frames.side.as_str();
                name = format!("{side} {} as a whole", frames.what.as_str());
                name = name.trim_start_matches("middle ").to_owned();
            }
            joints.push(Joint {
                name,
                several,
                published,
                frames: frames.clone(),
                rest: frames.chain.iter().fold(Rotation::IDENTITY, |r, j| r * skeleton[*j].rest),
                bone: skeleton.bone_axis(last).unwrap_or(DVec3::X),
                order: clips.first().map_or(EulerOrder::ZYX, |clip| order(clip, last)),
            });
        }

        let takes: Vec<Take<'_>> = clips.iter().map(|clip| Take { skeleton, clip }).collect();
        let found = estimate(&takes, &EstimateOptions::default())?;
        let motion = |clip: &Clip| {
            let take = Some(clip.content_hash());
            let left_out: Vec<Vec<u32>> = skeleton
                .joints()
                .iter()
                .map(|j| found.joints.get(&j.name).map(|e| e.left_out_of(take)).unwrap_or_default())
                .collect();
            Motion::new(clip, &joints, &left_out)
        };
        let motions = clips.iter().map(motion).collect();
        let mut subject = Self { name: name.to_owned(), joints, motions, wrong: Vec::new() };
        if frames == Frames::Sound {
            subject.leave_out_wrong_takes();
        }
        Ok(subject)
    }

    /// Leaves out what a joint does in a take if for more than half of the frames that is far from all
    /// that published ranges allow: the capture then solved for another pose, such as a foot with its
    /// sole up. No model of limits is asked.
    fn leave_out_wrong_takes(&mut self) {
        for (j, joint) in self.joints.iter().enumerate() {
            let Some(published) = joint.published_box() else { continue };
            let far = |q: &&Rotation| -published.distance(joint.anatomical(**q)).degrees() > FAR;
            let wrong: Vec<bool> = self
                .motions
                .iter()
                .map(|m| 2 * m.rotations[j].iter().filter(far).count() > m.rotations[j].len())
                .collect();
            // Something to stand there, which nobody is asked about.
            let good = self.motions.iter().zip(&wrong).filter(|(_, wrong)| !**wrong);
            let good = good.filter_map(|(m, _)| m.rotations[j].first().copied()).next();
            for (k, motion) in self.motions.iter_mut().enumerate().filter(|(k, _)| wrong[*k]) {
                motion.rotations[j].fill(good.unwrap_or(Rotation::IDENTITY));
                motion.glitch[j].fill(true);
                self.wrong.push((joint.name.clone(), k));
            }
        }
    }

    /// How many frames there are, joint by joint, and how many of these are glitches.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let all = || self.motions.iter().flat_map(|m| &m.glitch).flatten();
        (all().count(), all().filter(|bad| **bad).count())
    }

    /// Whether a joint leaves the place where it starts.
    fn moves(&self, joint: usize) -> bool {
        /// Degrees.
        const STILL: f64 = 1.0;
        let first = self.real(joint).next();
        self.real(joint).any(|q| first.is_some_and(|f| f.distance(q).degrees() > STILL))
    }

    /// The rotations of a joint that are no glitches.
    pub(crate) fn real(&self, joint: usize) -> impl Iterator<Item = Rotation> + '_ {
        let of = move |m: &'_ Motion| -> Vec<Rotation> {
            let pairs = m.rotations[joint].iter().zip(&m.glitch[joint]);
            pairs.filter(|(_, bad)| !**bad).map(|(q, _)| *q).collect()
        };
        self.motions.iter().flat_map(of)
    }
}

impl Motion {
    /// `left_out`: of every joint of the skeleton, the frames that are glitches, rising.
    fn new(clip: &Clip, joints: &[Joint], left_out: &[Vec<u32>]) -> Self {
        let first = clip.motion_start();
        let frames: Vec<FrameIndex> = clip.frames().skip(first).collect();
        let mut rotations = vec![Vec::with_capacity(frames.len()); joints.len()];
        let mut glitch = vec![Vec::with_capacity(frames.len()); joints.len()];
        for frame in frames {
            let pose = clip.pose(frame);
            for (i, joint) in joints.iter().enumerate() {
                let local = |j: &JointIndex| pose.rotations[j.get()];
                let chain = &joint.frames.chain;
                let turned = chain.iter().fold(Rotation::IDENTITY, |r, j| r * local(j));
                rotations[i].push(joint.rest.inverse() * turned);
                let is_out = |j: &JointIndex| left_out[j.get()].binary_search(&frame.0).is_ok();
                glitch[i].push(chain.iter().any(is_out));
            }
        }
        for (rotations, glitch) in rotations.iter_mut().zip(&glitch) {
            let good = |i: &usize| !glitch[*i];
            for i in 0..rotations.len() {
                let beside = (0..i).rev().find(good).or_else(|| (i..rotations.len()).find(good));
                if let (true, Some(k)) = (glitch[i], beside) {
                    rotations[i] = rotations[k];
                }
            }
        }
        Self { rotations, glitch }
    }
}

/// The order of a joint's Euler angles in the file, leftmost factor first. A joint with fewer than three
/// has those of an ASF.
fn order(clip: &Clip, joint: JointIndex) -> EulerOrder {
    let order = clip.channels().and_then(|channels| channels.joint(joint).order());
    order.unwrap_or(EulerOrder::ZYX)
}

/// Keeps the joints that all have and that move, in the order of the first. A row in which only the last
/// joint moves is that joint.
pub(crate) fn align(subjects: &mut [Subject]) {
    let Some(first) = subjects.first() else { return };
    let anybody = |name: &str| {
        let find = |s: &Subject| s.joints.iter().position(|j| j.name == name);
        subjects.iter().all(|s| find(s).is_some())
            && subjects.iter().any(|s| find(s).is_some_and(|j| s.moves(j)))
    };
    let mut names = Vec::new();
    let mut published = Vec::new();
    for joint in first.joints.iter().filter(|j| anybody(&j.name)) {
        let single = |of: &JointIndex| {
            first.joints.iter().find(|j| !j.several && j.frames.joint() == Some(*of))
        };
        let parts: Vec<&Joint> = joint.frames.chain.iter().filter_map(single).collect();
        match parts.split_last() {
            Some((last, others)) if joint.several && !others.iter().any(|j| anybody(&j.name)) => {
                published.push(last.name.clone());
            }
            _ => names.push(joint.name.clone()),
        }
    }
    for subject in subjects {
        let find = |name: &String| subject.joints.iter().position(|j| j.name == *name);
        let kept: Vec<usize> = names.iter().filter_map(find).collect();
        for motion in &mut subject.motions {
            motion.rotations = kept.iter().map(|i| motion.rotations[*i].clone()).collect();
            motion.glitch = kept.iter().map(|i| motion.glitch[*i].clone()).collect();
        }
        subject.joints = kept.iter().map(|i| subject.joints[*i].clone()).collect();
        for joint in &mut subject.joints {
            joint.published |= published.contains(&joint.name);
        }
    }
}

/// Rests that differ by more than this are different ones: degrees.
const SAME_REST: f64 = 1.0;

impl Joint {
    /// A rotation of the same joint of somebody else as one of this joint.
    ///
    /// Where both rest alike, the rotation relative to rest is the same. Else it is the one with the
    /// same rotation between the anatomical frames.
    pub(crate) fn carried(&self, from: &Self, q: Rotation) -> Rotation {
        if self.rest.distance(from.rest).degrees() <= SAME_REST {
            return q;
        }
        self.with_anatomical(from.anatomical(q))
    }

    /// The rotation from the proximal to the distal anatomical frame; of a left joint, its mirror image
    /// on the right.
    pub(crate) fn anatomical(&self, q: Rotation) -> Rotation {
        to_right(self.frames.side, self.proximal() * q * self.frames.distal)
    }

    /// The way back.
    pub(crate) fn with_anatomical(&self, right: Rotation) -> Rotation {
        let rotation = to_right(self.frames.side, right);
        self.proximal().inverse() * rotation * self.frames.distal.inverse()
    }

    /// The same without the mirror: the rotation of a right joint in the frame of a left one.
    pub(crate) fn with_other_side(&self, right: Rotation) -> Rotation {
        let rotation = to_right(self.frames.side.other(), right);
        self.proximal().inverse() * rotation * self.frames.distal.inverse()
    }

    /// At rest, from the joint to the frame above.
    fn proximal(&self) -> Rotation {
        self.frames.proximal.inverse() * self.rest
    }

    /// Whether a clinical angle is outside of its published range. `None` if none has one.
    pub(crate) fn beyond_published(&self, q: Rotation) -> Option<bool> {
        let ranges = self.frames.what.published();
        (self.published && ranges.iter().any(Option::is_some)).then(|| {
            ranges.iter().zip(self.clinical(q)).any(|(range, angle)| {
                range.as_ref().is_some_and(|r| {
                    angle.radians() < r.low.radians() || angle.radians() > r.high.radians()
                })
            })
        })
    }

    /// The rotations with all clinical angles inside the published ranges, in the anatomical frames of
    /// a right joint; angles without a range within 30 degrees of zero. `None` if there are no ranges,
    /// and of the shoulder, whose angles are none of a sequence.
    fn published_box(&self) -> Option<PreparedLimit> {
        let what = self.frames.what;
        let order = what.sequence();
        if !self.published || order.is_proper() {
            return None;
        }
        let ranges = what.published();
        let mut arcs = [Arc::from_degrees(-UNNAMED, UNNAMED)?; 3];
        for (i, (arc, range)) in arcs.iter_mut().zip(&ranges).enumerate() {
            let Some(range) = range else { continue };
            // Which way is positive.
            let mut small = [Angle::ZERO; 3];
            small[i] = Angle::from_degrees(1.0);
            let turned = self.clinical(self.with_anatomical(order.to_rotation(small)?))[i];
            let (low, high) = (range.low.radians(), range.high.radians());
            let ends = if turned.radians() > 0.0 { (low, high) } else { (-high, -low) };
            *arc = Arc::new(Angle::from_radians(ends.0), Angle::from_radians(ends.1))?;
        }
        ranges.iter().any(Option::is_some).then_some(())?;
        Limit::EulerBox(EulerBox { order, arcs }).prepare().ok()
    }

    fn clinical(&self, q: Rotation) -> [Angle; 3] {
        let mut whole = Some(self.rest * q);
        self.frames.angles_along(|_| whole.take().unwrap_or(Rotation::IDENTITY))
    }

    /// Which part of the body it is of.
    pub(crate) const fn group(&self) -> &'static str {
        use BodyJoint as B;
        match self.frames.what {
            B::Hip => "hips",
            B::Knee | B::Ankle | B::Toes => "knees and feet",
            B::Pelvis | B::Lumbar | B::Thoracic | B::Back | B::Neck => "back and neck",
            B::Clavicle | B::Shoulder => "shoulders",
            B::Elbow | B::Forearm | B::Wrist => "elbows and hands",
        }
    }
}

/// The mirror image of a left joint; mirroring it again gives it back.
fn to_right(side: BodySide, rotation: Rotation) -> Rotation {
    if side != BodySide::Left {
        return rotation;
    }
    let [w, x, y, z] = rotation.to_wxyz();
    Rotation::from_wxyz([w, -x, -y, z]).unwrap_or(rotation)
}

/// Everybody in some folders: an ASF each, with the AMC files that are named after it.
pub(crate) fn read(folders: &[PathBuf], frames: Frames) -> Result<Vec<Subject>, Fault> {
    let mut files = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(folder)? {
            files.push(entry?.path());
        }
    }
    files.sort();
    let with =
        |e: &'static str| files.iter().filter(move |p| p.extension().is_some_and(|x| x == e));
    let mut subjects = Vec::new();
    for asf in with("asf") {
        let options = ReadOptions::default();
        let skeleton = read_file(asf, None, &options)?.file;
        let mut clips = Vec::new();
        for amc in with("amc") {
            if belongs_to(amc, with("asf")) == Some(asf) {
                clips.extend(read_file(amc, Some(&skeleton), &options)?.file.clip);
            }
        }
        if !clips.is_empty() {
            subjects.push(Subject::new(stem(asf), &skeleton.skeleton, &clips, frames)?);
        }
    }
    align(&mut subjects);
    Ok(subjects)
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|s| s.to_str()).unwrap_or_default()
}

/// The skeleton of a motion in the same folder: the one with the longest name that the motion's begins
/// with, else the one with the same first word.
fn belongs_to<'a>(amc: &Path, asfs: impl Iterator<Item = &'a PathBuf>) -> Option<&'a PathBuf> {
    let word = |path| stem(path).split(['_', '-']).next().unwrap_or_default();
    let beside: Vec<&PathBuf> = asfs.filter(|asf| asf.parent() == amc.parent()).collect();
    let begins = |asf: &&&PathBuf| stem(amc).starts_with(stem(asf));
    let longest = beside.iter().filter(begins).max_by_key(|asf| stem(asf).len());
    longest.or_else(|| beside.iter().find(|asf| word(asf) == word(amc))).copied()
}
