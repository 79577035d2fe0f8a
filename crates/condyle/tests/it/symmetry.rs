//! Left and right estimated as one.

use std::num::NonZeroUsize;

use condyle::anatomy::{Anatomy, BodySide};
use condyle::enforce::BoundRig;
use condyle::estimate::{
    BallModel, BindPose, Estimate, EstimateOptions, Method, Pair, Take, estimate, estimate_paired,
};
use condyle::formats::{ReadOptions, read_file};
use condyle::math::{Angle, Rotation};
use condyle::motion::FrameIndex;
use condyle::rig::RigJoint;
use condyle::skeleton::Skeleton;
use condyle::synth::{Exploration, Figure, Options, Synth};

use crate::shared::{files, shared};

fn symmetrised(takes: &[Take<'_>], bind: Option<&BindPose>, how: &EstimateOptions) -> Estimate {
    let anatomy = Anatomy::of(takes[0].skeleton).unwrap();
    let pairs = anatomy.images().map(|(to, from)| {
        let [joint, counterpart] = [to, from].map(|j| j.joint().unwrap());
        Pair::new(joint, counterpart, |local| to.image_of(from, local))
    });
    let pairs: Vec<Pair<'_>> = pairs.collect();
    let mut found = estimate_paired(takes, &pairs, bind, how).unwrap();
    anatomy.symmetrise(takes[0].skeleton, &mut found.joints);
    found
}

/// By how much one side goes beyond the other, at most, degrees, and where.
fn asymmetry(skeleton: &Skeleton, found: &Estimate) -> (f64, String) {
    let anatomy = Anatomy::of(skeleton).unwrap();
    let all = anatomy.asymmetries(skeleton, &found.joints, NonZeroUsize::MIN);
    let each = all.into_iter().map(|([left, _], by)| {
        let most = by.left_beyond.degrees().max(by.right_beyond.degrees());
        (most, skeleton[left].name.clone())
    });
    each.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
}

#[track_caller]
fn passes(found: &Estimate, take: Take<'_>) {
    let rig = found.clone().into_rig();
    let bound = BoundRig::new(&rig, take.skeleton).unwrap();
    assert!(bound.check(take.clip, NonZeroUsize::MIN).ok());
}

/// A person each of whose joints goes through another part of its range.
fn uneven(seed: u64) -> Synth {
    let options = Options {
        frames: 1200,
        exploration: Exploration::Partial { share: 0.6 },
        noise: Angle::from_degrees(0.2),
        ..Options::default()
    };
    Synth::generate(&Figure::human(), &options, seed).unwrap()
}

/// The human figure stands along the axes of the world, in every joint: its mirror image in x, without
/// anatomy.
fn in_the_mirror(local: Rotation) -> Rotation {
    let [w, x, y, z] = local.to_wxyz();
    Rotation::from_wxyz([w, x, -y, -z]).unwrap()
}

fn of_the_other_side(name: &str) -> String {
    match (name.strip_prefix("Left"), name.strip_prefix("Right")) {
        (Some(rest), _) => format!("Right{rest}"),
        (_, Some(rest)) => format!("Left{rest}"),
        _ => name.to_owned(),
    }
}

/// How far the mirror images of what a joint did are outside, at most, beyond what counts as noise.
fn outside(synth: &Synth, name: &str, entry: &RigJoint) -> Angle {
    let joint = synth.skeleton.find(name).unwrap();
    let limit = entry.limit.prepare().unwrap();
    let allowed = entry.allowance().degrees() + 1e-6;
    let excess = synth.clip.frames().map(|frame| {
        let local = in_the_mirror(synth.clip.rotation(joint, frame));
        -limit.distance(entry.center.inverse() * local).degrees() - allowed
    });
    Angle::from_degrees(excess.fold(f64::NEG_INFINITY, f64::max))
}

#[test]
fn limits_of_both_sides_are_mirror_images_and_hold_the_samples_of_both() {
    for seed in 0..3 {
        let synth = uneven(seed);
        let skeleton = &synth.skeleton;
        assert!(skeleton.joints().iter().all(|j| j.rest.angle() == Angle::ZERO));
        let take = Take { skeleton, clip: &synth.clip };
        for ball in [BallModel::Auto, BallModel::Polygon, BallModel::Ellipse] {
            let how = EstimateOptions { ball, ends: true, ..EstimateOptions::default() };
            let alone = estimate(&[take], &how).unwrap();
            assert!(asymmetry(skeleton, &alone).0 > 20.0, "{seed}");
            let found = symmetrised(&[take], None, &how);
            passes(&found, take);
            let (by, place) = asymmetry(skeleton, &found);
            assert!(by < 1e-3, "{seed} {ball:?}: {by} {place}");
            let anatomy = Anatomy::of(skeleton).unwrap();
            let mut wider = 0;
            for (joint, _) in anatomy.images() {
                let own = &skeleton[joint.joint().unwrap()].name;
                let other = of_the_other_side(own);
                assert_eq!(joint.side == BodySide::Middle, *own == other);
                let entry = found.joints.get(&other).unwrap();
                let far = outside(&synth, own, entry);
                assert!(far <= Angle::ZERO, "{seed} {ball:?} {own}: {far:?}");
                assert_eq!(entry.samples.unwrap() + entry.rejected.unwrap(), 2400, "{own}");
                assert!(entry.notes.iter().any(|n| n.starts_with("symmetrised: ")), "{own}");
                let before = outside(&synth, own, alone.joints.get(&other).unwrap());
                wider += usize::from(before.degrees() > 2.0);
            }
            assert!(wider > 8, "{seed} {ball:?}: {wider}");
        }
    }
}

#[test]
fn a_bind_pose_and_the_paper_go_with_it() {
    let synth = uneven(7);
    let skeleton = &synth.skeleton;
    let take = Take { skeleton, clip: &synth.clip };
    let bind = BindPose::new(skeleton, &synth.clip.pose(FrameIndex(17)));
    let how = EstimateOptions::default();
    let found = symmetrised(&[take], Some(&bind), &how);
    passes(&found, take);
    let (by, place) = asymmetry(skeleton, &found);
    assert!(by < 1e-3, "{by} {place}");
    for (name, entry) in found.joints.iter() {
        let limit = entry.limit.prepare().unwrap();
        if let Some(start) = entry.start {
            let m = entry.center.inverse() * start;
            assert!(limit.distance(m).degrees() > -1e-6, "{name}");
        }
        // Rest is the identity.
        let excess = (-limit.distance(entry.center.inverse()).degrees()).max(0.0);
        let near = entry.noise.map_or(0.0, Angle::degrees).max(0.5);
        assert!(entry.rest_inside.is_none_or(|inside| inside == (excess == 0.0) || excess <= near));
    }
    // Boxes are about the axes of a joint; they hold what both sides did all the same.
    let paper = EstimateOptions { method: Method::Paper, ..how };
    let found = symmetrised(&[take], None, &paper);
    passes(&found, take);
    for own in ["LeftForeArm", "RightArm", "LeftUpLeg", "Neck"] {
        let entry = found.joints.get(&of_the_other_side(own)).unwrap();
        assert!(outside(&synth, own, entry).degrees() < 0.01, "{own}");
        assert_eq!(entry.samples, Some(2400), "{own}");
    }
}

/// Skeletons whose sides have different bones, and local spaces of all kinds.
#[test]
fn real_figures_become_symmetric_and_check_is_content() {
    let Some(folder) = shared("bvh") else { return };
    let mut figures = 0;
    for path in files(&folder, "bvh") {
        let Ok(read) = read_file(&path, None, &ReadOptions::default()) else { continue };
        let (skeleton, Some(clip)) = (&read.file.skeleton, &read.file.clip) else { continue };
        let Some(anatomy) = Anatomy::of(skeleton) else { continue };
        if clip.frame_count() < 2 || anatomy.images().next().is_none() {
            continue;
        }
        let take = Take { skeleton, clip };
        let how = EstimateOptions { ends: true, ..EstimateOptions::default() };
        let found = symmetrised(&[take], None, &how);
        passes(&found, take);
        let (by, place) = asymmetry(skeleton, &found);
        assert!(by < 1e-3, "{}: {by} {place}", path.display());
        figures += 1;
    }
    assert!(figures > 10, "{figures}");
}
