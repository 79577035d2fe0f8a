//! Limits from everybody else, tried on each person in turn.

pub(crate) mod curve;
pub(crate) mod figure;
pub(crate) mod methods;
mod o3de;
pub(crate) mod poses;
pub(crate) mod report;
pub(crate) mod subject;

use std::sync::atomic::{AtomicUsize, Ordering};

use condyle::glam::DVec3;
use condyle::math::{Rotation, Rotations};
use condyle::motion::{Clip, FrameRate, Track};
use condyle::skeleton::{EndSite, Joint, Skeleton};

use curve::Scores;
use methods::{Model, Training};
use poses::Implausible;
use subject::Subject;

/// Whatever goes wrong.
pub(crate) type Fault = Box<dyn std::error::Error>;

/// How large the study is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Candidates of each kind of implausible poses, for each subject and joint.
    pub(crate) poses: usize,
    /// For the random choice of them.
    pub(crate) seed: u64,
}

/// What came out for one subject and one joint.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) subject: usize,
    pub(crate) joint: usize,
    pub(crate) group: &'static str,
    /// How many implausible poses of each kind were drawn, and are left.
    pub(crate) drawn: [usize; 3],
    pub(crate) left: [usize; 3],
    /// Of each model.
    pub(crate) scores: Vec<Scores>,
}

/// Leaves each subject out in turn.
pub(crate) fn run(
    subjects: &[Subject],
    models: &[Model],
    size: Size,
    threads: usize,
) -> Result<Vec<Trial>, Fault> {
    // Which subject is next; the answers are put in order afterwards.
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let who = next.fetch_add(1, Ordering::Relaxed);
            if who >= subjects.len() {
                return done;
            }
            done.push((who, leave_out(subjects, who, models, size).map_err(|e| e.to_string())));
        }
    };
    let mut folds: Vec<(usize, Result<Vec<Trial>, String>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|w| w.join().unwrap_or_default()).collect()
    });
    folds.sort_by_key(|(who, _)| *who);
    if folds.len() < subjects.len() {
        return Err("a fold of the study did not finish".into());
    }
    let mut trials = Vec::new();
    for (_, fold) in folds {
        trials.extend(fold?);
    }
    Ok(trials)
}

fn leave_out(
    subjects: &[Subject],
    who: usize,
    models: &[Model],
    size: Size,
) -> Result<Vec<Trial>, Fault> {
    let subject = &subjects[who];
    let training = training(subjects, who)?;
    let mut trials = Vec::new();
    let mut questions: Vec<(Vec<Rotation>, Implausible)> = Vec::new();
    for (joint, of) in subject.joints.iter().enumerate() {
        let poses = poses::implausible(subjects, who, joint, size.poses, size.seed);
        let (drawn, left) = (poses.drawn, [0, 1, 2].map(|k| poses.poses[k].len()));
        let scores = Vec::new();
        trials.push(Trial { subject: who, joint, group: of.group(), drawn, left, scores });
        questions.push((subject.real(joint).collect(), poses));
    }
    for model in models {
        let judges = (model.fit)(&training)?;
        for ((trial, (real, poses)), judge) in trials.iter_mut().zip(&questions).zip(&judges) {
            trial.scores.push(Scores::new(judge, real, &poses.poses));
        }
    }
    Ok(trials)
}

/// Everybody else's motion, in the joint spaces of one subject.
pub(crate) fn training(subjects: &[Subject], who: usize) -> Result<Training, Fault> {
    let own = &subjects[who].joints;
    let mut skeleton = Skeleton::new();
    let root = skeleton.add_root(Joint::new("root", DVec3::ZERO))?;
    for joint in own {
        let mut flat = Joint::new(joint.name.clone(), DVec3::ZERO);
        flat.end_sites.push(EndSite { name: None, offset_m: joint.bone });
        skeleton.add(root, flat)?;
    }
    let rate = FrameRate::from_fps(120.0).ok_or("120 is a rate")?;
    let mut clips = Vec::new();
    let mut samples = vec![Vec::new(); own.len()];
    for (_, subject) in subjects.iter().enumerate().filter(|(i, _)| *i != who) {
        for motion in &subject.motions {
            let frames = motion.rotations.first().map_or(0, Vec::len);
            if frames == 0 {
                continue;
            }
            let mut tracks = vec![Track::constant(Rotation::IDENTITY, DVec3::ZERO)];
            for (j, joint) in own.iter().enumerate() {
                let carried: Vec<Rotation> = motion.rotations[j]
                    .iter()
                    .map(|q| joint.carried(&subject.joints[j], *q))
                    .collect();
                samples[j].extend(&carried);
                tracks
                    .push(Track::turning(carried.into_iter().collect::<Rotations>(), DVec3::ZERO));
            }
            clips.push(Clip::new(frames, rate, tracks)?);
        }
    }
    let orders = own.iter().map(|joint| joint.order).collect();
    Ok(Training { skeleton, clips, samples, orders })
}
