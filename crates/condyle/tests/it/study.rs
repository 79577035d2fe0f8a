//! The study of `examples/study`, on people who are made up, so that it keeps working.

use condyle::math::{Angle, Rotation};
use condyle::motion::Clip;
use condyle::skeleton::Skeleton;
use condyle::synth::{Figure, JointTruth, Options, Synth};

use super::shared::shared;
use lab::curve::{Point, at, curve};
use lab::methods::{Judge, Model, models};
use lab::subject::{Frames, Subject, align, read};
use lab::{Size, Trial, run, training};

#[path = "../../examples/study/lab/mod.rs"]
#[allow(dead_code, reason = "the example uses the rest")]
mod lab;

/// People whose knees and elbows bend differently far, and who move differently.
fn people(count: u32) -> Vec<Subject> {
    let mut people: Vec<Subject> = (0..count)
        .map(|i| {
            let human = Figure::human();
            let mut truth = human.truth().to_vec();
            for joint in &mut truth {
                if let JointTruth::Hinge { arc, .. } = joint {
                    let less = Angle::from_degrees(2.0 * f64::from(i));
                    *arc = condyle::math::Arc::new(arc.min(), arc.max() - less).unwrap();
                }
            }
            let figure = Figure::new(human.skeleton().clone(), truth).unwrap();
            let options = Options { frames: 250, ..Options::default() };
            let made = Synth::generate(&figure, &options, u64::from(i) + 1).unwrap();
            Subject::new(&format!("{i}"), &made.skeleton, &[made.clip], Frames::All).unwrap()
        })
        .collect();
    align(&mut people);
    people
}

fn all(count: usize, answer: f64) -> Vec<Judge> {
    (0..count).map(|_| Box::new(move |_| answer) as Judge).collect()
}

const SIZE: Size = Size { poses: 120, seed: 7 };

#[test]
fn a_study_of_made_up_people_gives_shares_that_make_sense() {
    let people = people(3);
    let names: Vec<&str> = people[0].joints.iter().map(|j| j.name.as_str()).collect();
    assert!(names.contains(&"LeftUpLeg") && names.contains(&"neck as a whole"), "{names:?}");
    // What does not move is no part of it.
    assert!(!names.contains(&"Chest"));

    let mut asked = vec![
        Model { name: "everything", fit: |t| Ok(all(t.samples.len(), -180.0)) },
        Model { name: "nothing", fit: |t| Ok(all(t.samples.len(), 200.0)) },
    ];
    let ours = models();
    asked.extend([ours[0], ours[3]]);
    let trials = run(&people, &asked, SIZE, 1).unwrap();
    assert_eq!(trials.len(), people.len() * names.len());
    let curves: Vec<Vec<Point>> = (0..asked.len()).map(|m| curve(&trials.iter(), m, 30)).collect();
    let zero = |m: usize| curves[m].iter().find(|p| p.margin.abs() < 0.05).unwrap();
    assert_eq!((zero(0).rejects, zero(0).accepts), (0.0, 1.0));
    assert_eq!((zero(1).rejects, zero(1).accepts), (1.0, 0.0));
    for (m, curve) in curves.iter().enumerate().skip(2) {
        assert!(curve.windows(2).all(|w| w[1].rejects <= w[0].rejects), "{m}");
        assert!(curve.windows(2).all(|w| w[1].accepts >= w[0].accepts), "{m}");
        let few = at(curve, 0.05).unwrap();
        assert!((few.rejects - 0.05).abs() < 1e-12 && few.accepts < 0.6, "{m}: {few:?}");
        assert!(at(curve, 0.01).unwrap().accepts >= few.accepts);
    }
    // The kinds of poses are there, and none is near to what somebody did.
    for kind in 0..3 {
        assert!(trials.iter().any(|t| t.left[kind] >= 30), "{kind}");
    }

    // The figure and the numbers do not depend on threads.
    let study = |trials: &[Trial]| {
        let study = lab::report::Study::new(&people, &asked, trials);
        let curves: Vec<_> = study.all.iter().map(|curve| ("a model", curve.as_slice())).collect();
        let figure = lab::figure::draw(&curves, "people");
        (study.markdown(), study.json().to_string(), figure)
    };
    let again = run(&people, &asked, SIZE, 3).unwrap();
    assert_eq!(study(&trials), study(&again));
}

/// But for O3DE's, which weighs violations against size, and those that leave some out by choice.
#[test]
fn without_a_margin_every_model_holds_what_it_was_made_from() {
    let people = people(3);
    let training = training(&people, 0).unwrap();
    for model in models().iter().filter(|m| !m.name.contains("coverage")) {
        let judges = (model.fit)(&training).unwrap();
        let mut outside = 0.0_f64;
        let mut share = 0.0;
        for (judge, samples) in judges.iter().zip(&training.samples) {
            let scores: Vec<f64> = samples.iter().map(|q| judge(*q)).collect();
            outside = scores.iter().copied().fold(outside, f64::max);
            let beyond = scores.iter().filter(|s| **s > 0.05).count();
            share += beyond as f64 / (scores.len() * judges.len()) as f64;
        }
        if model.name == "O3DE's ellipse" {
            assert!(share < 0.2, "{share}");
        } else {
            // Made-up motion has no noise: what is left is rounding, and the hundredth of a degree
            // that counts as on a surface.
            assert!(outside <= 0.05, "{}: {outside}", model.name);
        }
    }
}

/// Somebody whose file has the arms lowered at rest.
#[test]
fn rotations_are_carried_between_rest_poses_by_anatomy() {
    let made = Synth::generate(&Figure::human(), &Options::default(), 3).unwrap();
    let lowered = |joint: &condyle::skeleton::Joint| match joint.name.as_str() {
        "LeftArm" => Rotation::about_z(Angle::from_degrees(-40.0)) * joint.rest,
        "RightArm" => Rotation::about_z(Angle::from_degrees(40.0)) * joint.rest,
        _ => joint.rest,
    };
    let other = made.skeleton.with_rests(lowered);
    let subject = |skeleton: &Skeleton, clip: &Clip| {
        Subject::new("x", skeleton, std::slice::from_ref(clip), Frames::All).unwrap()
    };
    let [a, b] = [&made.skeleton, &other].map(|s| subject(s, &made.clip));
    let mut checked = 0;
    for (j, (from, to)) in a.joints.iter().zip(&b.joints).enumerate() {
        for q in a.real(j).step_by(100) {
            // The same motion in the other file is the same local rotation.
            let there = to.rest * to.carried(from, q);
            assert!(there.distance(from.rest * q).radians() < 1e-9, "{}", to.name);
            let back = from.with_anatomical(from.anatomical(q));
            assert!(back.distance(q).radians() < 1e-9);
            checked += usize::from(to.rest.distance(from.rest).degrees() > 30.0);
        }
    }
    assert!(checked > 10);
}

#[test]
fn the_subjects_of_cmu_and_hdm05_are_read_and_their_wrong_takes_found() {
    let Some(folder) = shared("asf-amc") else { return };
    let subjects = read(&[folder], Frames::Sound).unwrap();
    assert_eq!(subjects.len(), 11);
    let rest = |s: &Subject| s.joints.iter().map(|j| j.rest).collect::<Vec<_>>();
    let first = rest(&subjects[0]);
    for subject in &subjects {
        // All declare the same axes: rotations relative to rest are comparable as they are.
        assert!(rest(subject).iter().zip(&first).all(|(a, b)| a.distance(*b).radians() < 1e-9));
        let wrong: Vec<&str> = subject.wrong.iter().map(|(joint, _)| joint.as_str()).collect();
        match subject.name.as_str() {
            "05" => assert_eq!(wrong, ["lfoot", "rfoot"]),
            "HDM_bd" => assert_eq!(wrong, ["rfoot", "lwrist", "lwrist", "lwrist"]),
            name => assert!(wrong.is_empty(), "{name}: {wrong:?}"),
        }
    }
}
