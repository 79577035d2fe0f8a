//! A test for every row and equation of the paper. Where the printed form is wrong, the test also has
//! that form, and sees it fail on the same data.

use super::super::ball::{self, BallOptions};
use super::super::bind::{self, Repair};
use super::super::options::BallModel;
use super::*;
use crate::math::{EulerAngles, GimbalLock, Interpolation, arbitrary, mean_rotation};
use crate::synth::Rng;

const ABSOLUTE: PaperOptions =
    PaperOptions { threshold: Threshold::Absolute(Angle::from_degrees(1.0)), space: Space::Log };

fn degrees(d: f64) -> Angle {
    Angle::from_degrees(d)
}

fn about(axis: DVec3, d: f64) -> Rotation {
    Rotation::from_axis_angle(axis, degrees(d)).unwrap()
}

fn zyz(angles: [f64; 3]) -> Rotation {
    EulerOrder::ZYZ.to_rotation(angles.map(degrees)).unwrap()
}

fn found(samples: &Rotations) -> PaperJoint {
    estimate(&[samples], &PaperOptions::default()).unwrap()
}

#[track_caller]
fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}

#[track_caller]
fn hinge_of(joint: &PaperJoint) -> (DVec3, Arc) {
    match joint.limit {
        Limit::Hinge { axis, arc } => (axis, arc),
        _ => panic!("{joint:?}"),
    }
}

#[track_caller]
fn box_of(joint: &PaperJoint) -> [Arc; 3] {
    match joint.limit {
        Limit::EulerBox(EulerBox { order: EulerOrder::ZYZ, arcs }) => arcs,
        _ => panic!("{joint:?}"),
    }
}

#[track_caller]
fn check_arc(arc: Arc, min: f64, max: f64) {
    near(arc.min().degrees(), min, 1e-6);
    near(arc.max().degrees(), max, 1e-6);
}

/// Every sample is inside the limit, to a tolerance in degrees.
#[track_caller]
fn check_inside(joint: &PaperJoint, samples: &Rotations, tolerance: f64) {
    let limit = joint.limit.prepare().unwrap();
    for q in samples.iter() {
        let outside = -limit.distance(joint.center.inverse() * q).degrees();
        assert!(outside <= tolerance, "{outside} in {joint:?}");
    }
}

/// Samples of a hinge whose bind pose is `offset` degrees off the orbit.
fn offset_hinge(axis: DVec3, across: DVec3, offset: f64, angles: &[f64]) -> Rotations {
    angles.iter().map(|d| about(across, offset) * about(axis, *d)).collect()
}

fn steps(from: i32, to: i32) -> Vec<f64> {
    (from..=to).map(f64::from).collect()
}

/// The covariance of eq 3 to 6 as printed, divided by N: vector parts as they are.
fn printed_eigenvalues(samples: &Rotations) -> [f64; 3] {
    let n = samples.len() as f64;
    let vectors: Vec<[f64; 3]> =
        samples.iter().map(|r| [r.quat().x, r.quat().y, r.quat().z]).collect();
    let c: [f64; 3] = std::array::from_fn(|i| vectors.iter().map(|v| v[i]).sum::<f64>() / n);
    let mut m = [[0.0; 3]; 3];
    for v in &vectors {
        for i in 0..3 {
            for j in 0..3 {
                m[i][j] += (v[i] - c[i]) * (v[j] - c[j]) / n;
            }
        }
    }
    symmetric_eigen(m).unwrap().values
}

#[test]
fn a1_eq_1_and_2_the_answer_gives_the_local_rotations_back() {
    let mut rng = Rng::new(1);
    for off in [0.0, 40.0] {
        let (rest, axis) = (rng.rotation(), rng.direction());
        let across = rng.perpendicular(axis);
        let locals: Vec<Rotation> =
            steps(-20, 100).iter().map(|d| rest * about(across, off) * about(axis, *d)).collect();
        let samples: Rotations = locals.iter().map(|l| rest.inverse() * *l).collect();
        let joint = found(&samples);
        let (axis, arc) = hinge_of(&joint);
        near(arc.width().degrees(), 120.0, 1e-6);
        for local in &locals {
            // Some angle of the arc gives it.
            let hinge = Hinge { center: joint.center, axis };
            let angle = Angle::from_radians(hinge.angle(rest.inverse() * *local));
            let back = rest * joint.center * Rotation::from_axis_angle(axis, angle).unwrap();
            assert!(back.distance(*local).radians() < 1e-9);
            assert!(arc.distance(angle).radians() > -1e-9);
        }
    }
}

#[test]
fn a1_another_space_for_the_parent_changes_nothing() {
    let mut rng = Rng::new(2);
    let rest = rng.rotation();
    let local: Vec<Rotation> =
        (0..200).map(|_| rest * Rotation::exp(rng.direction() * rng.uniform()).unwrap()).collect();
    let turn = rng.rotation();
    let one: Rotations = local.iter().map(|l| rest.inverse() * *l).collect();
    let other: Rotations = local.iter().map(|l| (turn * rest).inverse() * (turn * *l)).collect();
    let (one, other) = (found(&one), found(&other));
    for (a, b) in box_of(&one).into_iter().zip(box_of(&other)) {
        near(a.min().radians(), b.min().radians(), 1e-9);
        near(a.max().radians(), b.max().radians(), 1e-9);
    }
}

#[test]
fn a2_four_keys_make_a_hundred_samples_and_fewer_get_a_note() {
    let keys: Rotations = [0.0, 40.0, 25.0, 70.0].iter().map(|d| about(DVec3::Z, *d)).collect();
    let samples: Rotations = (0..100)
        .map(|i| keys.sample_frames(f64::from(i) * 3.0 / 99.0, Interpolation::Linear).unwrap())
        .collect();
    let joint = found(&samples);
    check_arc(hinge_of(&joint).1, 0.0, 70.0);
    assert!(joint.notes.is_empty(), "{:?}", joint.notes);
    let few: Rotations = keys.iter().take(3).collect();
    assert!(found(&few).notes[0].starts_with("3 samples only"));
    assert!(
        estimate(&[], &ABSOLUTE).is_none() && estimate(&[&Rotations::new()], &ABSOLUTE).is_none()
    );
}

#[test]
fn a3_eq_3_deviations_are_those_of_the_angles() {
    let angles = steps(-50, 50);
    let axis = unit(DVec3::new(1.0, 2.0, 2.0)).unwrap();
    let samples: Rotations = angles.iter().map(|d| about(axis, *d)).collect();
    let deviation = |of: &dyn Fn(f64) -> f64| {
        (angles.iter().map(|d| of(*d) * of(*d)).sum::<f64>() / angles.len() as f64).sqrt()
    };
    let log = found(&samples).deviations;
    near(log[0].degrees(), deviation(&|d| d), 1e-9);
    near(log[1].degrees(), 0.0, 1e-6);
    let vector = PaperOptions { space: Space::Vector, ..ABSOLUTE };
    let vector = estimate(&[&samples], &vector).unwrap().deviations;
    near(vector[0].radians(), deviation(&|d| 2.0 * trig::sin(0.5 * d.to_radians())), 1e-12);
}

#[test]
fn a3_eq_4_to_7_the_number_of_samples_does_not_matter() {
    let mut rng = Rng::new(3);
    let once: Rotations = (0..60)
        .map(|_| about(DVec3::X, rng.between(-3.0, 3.0)) * about(DVec3::Y, rng.between(-1.2, 1.2)))
        .collect();
    let often: Rotations = (0..50).flat_map(|_| once.iter()).collect();
    let [one, many] = [found(&once), found(&often)];
    assert_eq!(one.kind, many.kind);
    for (a, b) in one.deviations.iter().zip(many.deviations) {
        near(a.degrees(), b.degrees(), 1e-9);
    }
    // Not divided by N, the second deviation would be √3000 times as large.
    assert_eq!(one.kind, JointKind::Hinge, "{one:?}");
    assert!(one.deviations[1].degrees() * 3000.0_f64.sqrt() > 30.0);
}

#[test]
fn a3_trap_1_signs_of_quaternions_do_not_matter() {
    let mut rng = Rng::new(4);
    let plain = offset_hinge(DVec3::Y, DVec3::X, 70.0, &steps(100, 220));
    let signed: Rotations = plain
        .iter()
        .map(|r| if rng.chance(0.5) { r } else { Rotation::from_unit_unchecked(-r.quat()) })
        .collect();
    for space in [Space::Log, Space::Vector] {
        let options = PaperOptions { space, ..ABSOLUTE };
        let [a, b] = [&plain, &signed].map(|s| estimate(&[s], &options).unwrap());
        assert_eq!(a.kind, JointKind::Hinge);
        assert_eq!((&a.why, hinge_of(&a)), (&b.why, hinge_of(&b)));
    }
    // As printed, the two clusters are far apart.
    let [as_is, mixed] = [&plain, &signed].map(printed_eigenvalues);
    assert!(mixed[0] > 3.0 * as_is[0], "{mixed:?} {as_is:?}");
}

#[test]
fn a3_trap_2_a_bind_pose_off_the_orbit_makes_no_ball() {
    let samples = offset_hinge(DVec3::Y, DVec3::X, 55.0, &steps(-60, 60));
    let tight = PaperOptions { threshold: Threshold::Absolute(degrees(1e-5)), ..ABSOLUTE };
    for space in [Space::Log, Space::Vector] {
        let joint = estimate(&[&samples], &PaperOptions { space, ..tight }).unwrap();
        assert_eq!(joint.kind, JointKind::Hinge, "{joint:?}");
        let (axis, arc) = hinge_of(&joint);
        near(axis.dot(DVec3::Y).abs(), 1.0, 1e-12);
        near(joint.center.distance(about(DVec3::X, 55.0)).degrees(), 0.0, 1e-6);
        check_arc(arc, -60.0, 60.0);
        check_inside(&joint, &samples, 1e-6);
    }
    // As printed, relative to the bind pose, the line is bent.
    let wide = offset_hinge(DVec3::Y, DVec3::X, 55.0, &steps(-80, 80));
    let printed = printed_eigenvalues(&wide);
    let ratio = printed[1] / printed[0];
    assert!((0.006..0.010).contains(&ratio), "{ratio}");
    assert!(found(&wide).deviations[1].degrees() < 1e-5);
}

#[test]
fn a3_trap_2_the_reference_is_the_mean_on_the_orbit() {
    let mut rng = Rng::new(5);
    for _ in 0..20 {
        let axis = rng.direction();
        let across = rng.perpendicular(axis);
        let angles: Vec<f64> = (0..40).map(|_| rng.between(-170.0, 170.0)).collect();
        let samples = offset_hinge(axis, across, 20.0, &angles);
        let mean = mean_rotation(samples.iter().map(|r| (r, 1.0))).unwrap().rotation;
        // Ours is Markley's.
        let ours = rotation(symmetric_eigen(second_moments(&[&samples])).unwrap().vectors[0]);
        assert!(mean.distance(ours).radians() < 1e-12);
        let hinge = Hinge { center: about(across, 20.0), axis };
        let on = hinge.center
            * Rotation::from_axis_angle(axis, Angle::from_radians(hinge.angle(mean))).unwrap();
        assert!(mean.distance(on).radians() < 1e-12);
    }
}

#[test]
fn a3_trap_3_the_logarithm_does_not_bend_large_motions() {
    // Evenly from −150° to 150°: the deviation is 150°/√3.
    let samples: Rotations = steps(-1500, 1500).iter().map(|d| about(DVec3::X, 0.1 * d)).collect();
    let [log, vector] = [Space::Log, Space::Vector].map(|space| {
        estimate(&[&samples], &PaperOptions { space, ..ABSOLUTE }).unwrap().deviations[0].degrees()
    });
    near(log, 150.0 / 3.0_f64.sqrt(), 0.1);
    assert!(vector < 0.9 * log, "{vector} {log}");
}

#[test]
fn a3_zero_one_and_more_dimensions_are_fixed_hinge_and_ball() {
    let mut rng = Rng::new(6);
    let mut motion = |a: f64, b: f64, c: f64| -> Rotations {
        (0..300)
            .map(|_| {
                let v = DVec3::new(a * rng.normal(), b * rng.normal(), c * rng.normal());
                Rotation::exp(v * 1.0_f64.to_radians()).unwrap()
            })
            .collect()
    };
    assert_eq!(found(&motion(0.5, 0.5, 0.5)).kind, JointKind::Fixed);
    assert_eq!(found(&motion(0.3, 8.0, 0.5)).kind, JointKind::Hinge);
    assert_eq!(found(&motion(5.0, 0.5, 8.0)).kind, JointKind::Ball);
    assert_eq!(found(&motion(5.0, 5.0, 8.0)).kind, JointKind::Ball);
}

#[test]
fn a4_thresholds_are_absolute_or_a_share_above_a_floor() {
    let mut rng = Rng::new(7);
    let mut motion = |a: f64, b: f64, c: f64| -> Rotations {
        (0..2000)
            .map(|_| {
                let v = DVec3::new(a * rng.normal(), b * rng.normal(), c * rng.normal());
                Rotation::exp(v * 1.0_f64.to_radians()).unwrap()
            })
            .collect()
    };
    let kind = |samples: &Rotations, threshold| {
        let joint = estimate(&[samples], &PaperOptions { threshold, ..ABSOLUTE }).unwrap();
        assert!(!joint.why.is_empty());
        joint.kind
    };
    // 20² of 20² + 2² is 99 %.
    let wide = motion(20.0, 2.0, 0.1);
    assert_eq!(kind(&wide, Threshold::Absolute(degrees(1.0))), JointKind::Ball);
    assert_eq!(kind(&wide, Threshold::Absolute(degrees(3.0))), JointKind::Hinge);
    assert_eq!(kind(&wide, Threshold::Absolute(degrees(30.0))), JointKind::Fixed);
    assert_eq!(kind(&wide, Threshold::Share(0.95)), JointKind::Hinge);
    assert_eq!(kind(&wide, Threshold::Share(0.999)), JointKind::Ball);
    // A share of next to nothing is still a share: the floor comes first.
    let still = motion(0.2, 0.1, 0.1);
    assert_eq!(kind(&still, Threshold::Share(0.95)), JointKind::Fixed);
    assert_eq!(kind(&motion(0.8, 0.4, 0.4), Threshold::Share(0.95)), JointKind::Hinge);
    for share in [f64::NAN, -1.0, 2.0, f64::INFINITY] {
        assert_ne!(kind(&wide, Threshold::Share(share)), JointKind::Fixed);
    }
    assert_eq!(kind(&wide, Threshold::Absolute(Angle::from_radians(f64::NAN))), JointKind::Fixed);
}

#[test]
fn a5_a_fixed_joint_is_a_ball_joint_with_its_limits_at_the_pose() {
    let pose = zyz([30.0, 50.0, -20.0]);
    let joint = found(&Rotations::repeat(pose, 20));
    assert_eq!(joint.kind, JointKind::Fixed);
    assert!(matches!(joint.limit, Limit::Locked));
    assert!(joint.center.distance(pose).radians() < 1e-12);
    // The paper's form: a box of one point.
    let angles = EulerAngles::from_rotation(EulerOrder::ZYZ, joint.center).angles;
    let arcs = angles.map(|a| Arc::point(a).unwrap());
    let paper = Limit::EulerBox(EulerBox { order: EulerOrder::ZYZ, arcs }).prepare().unwrap();
    let ours = joint.limit.prepare().unwrap();
    for q in [pose, pose * about(DVec3::X, 1.0), Rotation::IDENTITY] {
        let m = joint.center.inverse() * q;
        near(ours.distance(m).degrees(), paper.distance(q).degrees(), 1e-6);
    }
    // One sample alone.
    assert_eq!(found(&Rotations::repeat(pose, 1)).kind, JointKind::Fixed);
}

#[test]
fn a6_eq_8_motion_to_both_sides_of_the_bind_pose_does_not_cancel() {
    let axis = unit(DVec3::new(0.2, -0.5, 0.8)).unwrap();
    let samples: Rotations = steps(-50, 50).iter().map(|d| about(axis, *d)).collect();
    let joint = found(&samples);
    near(hinge_of(&joint).0.dot(axis).abs(), 1.0, 1e-12);
    assert_eq!(joint.center.quat(), Rotation::IDENTITY.quat());
    // The printed sum is nothing.
    let sum = samples.iter().map(|r| DVec3::new(r.quat().x, r.quat().y, r.quat().z)).sum::<DVec3>();
    assert!(sum.length() < 1e-12);
}

#[test]
fn a6_the_larger_excursion_is_positive_and_ties_go_to_the_largest_component() {
    for (axis, from, to, sign) in [
        (DVec3::Y, -20, 90, 1.0),
        (DVec3::Y, -90, 20, -1.0),
        (-DVec3::Y, -90, 20, -1.0),
        (DVec3::Y, 5, 60, 1.0),
        (DVec3::Y, -60, -5, -1.0),
        // A tie.
        (DVec3::Y, -40, 40, 1.0),
        (-DVec3::Y, -40, 40, -1.0),
    ] {
        let samples: Rotations = steps(from, to).iter().map(|d| about(axis, *d)).collect();
        let (found, arc) = hinge_of(&found(&samples));
        near(found.dot(axis), sign, 1e-12);
        let [min, max] = if sign > 0.0 { [from, to] } else { [-to, -from] };
        check_arc(arc, f64::from(min), f64::from(max));
    }
}

#[test]
fn a7_eq_9_to_12_angles_keep_their_sign_and_order_of_arguments() {
    let angles = [-70.0, -35.0, 0.0, 10.0, 100.0, 170.0];
    let samples: Rotations = angles.iter().map(|d| about(DVec3::X, *d)).collect();
    let hinge = Hinge { center: Rotation::IDENTITY, axis: DVec3::X };
    let ours = hinge_angles(&[&samples], &hinge, samples.len());
    for ((angle, ours), q) in angles.iter().zip(&ours).zip(samples.iter()) {
        near(ours.to_degrees(), *angle, 1e-12);
        near(*ours, hinge.angle(q), 1e-14);
        // Printed: 2 atan2(s, ‖v‖) is 180° − |angle|.
        let q = q.quat();
        let printed = 2.0 * trig::atan2(q.w, trig::hypot3(q.x, q.y, q.z));
        near(printed.to_degrees(), 180.0 - angle.abs(), 1e-9);
    }
    // The larger excursion of -70° to 170° is positive already.
    check_arc(hinge_of(&found(&samples)).1, -70.0, 170.0);
    // A half turn across the axis has any angle, and a half turn about it is π.
    let odd: Rotations = [about(DVec3::Y, 180.0), about(DVec3::X, 180.0), about(DVec3::X, -180.0)]
        .into_iter()
        .collect();
    let odd = hinge_angles(&[&odd], &hinge, 3);
    assert!(odd[0].is_finite());
    near(odd[1], PI, 1e-15);
    near(odd[2], PI, 1e-15);
}

#[test]
fn a8_eq_13_to_15_the_box_is_that_of_the_samples() {
    let mut rng = Rng::new(8);
    let mut samples = Rotations::new();
    for _ in 0..500 {
        samples.push(zyz([
            rng.between(-30.0, 80.0),
            rng.between(40.0, 100.0),
            rng.between(-10.0, 60.0),
        ]));
    }
    for phi in [-30.0, 80.0] {
        for psi in [40.0, 100.0] {
            for theta in [-10.0, 60.0] {
                samples.push(zyz([phi, psi, theta]));
            }
        }
    }
    let joint = found(&samples);
    assert_eq!(joint.kind, JointKind::Ball);
    assert_eq!(joint.center.quat(), Rotation::IDENTITY.quat());
    let [phi, psi, theta] = box_of(&joint);
    check_arc(phi, -30.0, 80.0);
    check_arc(psi, 40.0, 100.0);
    check_arc(theta, -10.0, 60.0);
    check_inside(&joint, &samples, 1e-9);
    assert!(joint.notes.is_empty(), "{:?}", joint.notes);
}

#[test]
fn a8_eq_15_angles_that_wrap_have_a_short_arc() {
    let mut rng = Rng::new(9);
    let samples: Rotations = (0..300)
        .map(|_| {
            zyz([rng.between(150.0, 210.0), rng.between(60.0, 80.0), rng.between(-200.0, -170.0)])
        })
        .collect();
    let [phi, _, theta] = box_of(&found(&samples));
    assert!(phi.width().degrees() <= 60.0 && phi.contains(degrees(180.0)), "{phi:?}");
    assert!(theta.width().degrees() <= 30.0 && theta.contains(degrees(180.0)), "{theta:?}");
}

#[test]
fn a8_eq_25_to_36_angles_give_the_rotation_back() {
    arbtest::arbtest(|u| {
        let q = arbitrary::rotation(u)?;
        let column: Rotations = [q].into_iter().collect();
        let [mut phi, mut psi, mut theta] = [[0.0]; 3];
        batch::euler_angles(
            Level::best(),
            EulerOrder::ZYZ,
            &column,
            [&mut phi, &mut psi, &mut theta],
        );
        let [phi, psi, theta] = [phi[0], psi[0], theta[0]].map(Angle::from_radians);
        // Eq 25.
        let back = Rotation::about_z(phi) * Rotation::about_y(psi) * Rotation::about_z(theta);
        assert!(back.distance(q).radians() < 1e-14);
        // Eq 26 to 30: where the bone points.
        let n = q * DVec3::Z;
        let (sin_phi, cos_phi) = trig::sin_cos(phi.radians());
        let (sin, cos) = trig::sin_cos(psi.radians());
        assert!((n - DVec3::new(cos_phi * sin, sin_phi * sin, cos)).length() < 1e-14);
        assert!((0.0..=PI).contains(&psi.radians()));
        Ok(())
    });
}

#[test]
fn a8_eq_28_small_angles_keep_their_digits() {
    // Of a cosine of 1 − 5e-15 hardly more than a digit is left.
    let psi = 1e-7_f64;
    let q = EulerOrder::ZYZ.to_rotation([0.4, psi, 0.2].map(Angle::from_radians)).unwrap();
    let printed = trig::acos((q * DVec3::Z).z.min(1.0));
    assert!((printed - psi).abs() > 1e-11, "{printed}");
    let other = zyz([20.0, 60.0, 30.0]);
    let samples: Rotations =
        [q, other, zyz([50.0, 20.0, 10.0]), zyz([80.0, 5.0, 60.0])].into_iter().collect();
    let [_, arc, _] = box_of(&found(&samples));
    near(arc.min().radians(), psi, 1e-15);
}

#[test]
fn a8_eq_31_and_32_samples_at_both_locks_do_not_widen_the_box() {
    for lock in [0.0, 180.0] {
        let sign = if lock == 0.0 { 1.0 } else { -1.0 };
        let mut rng = Rng::new(10);
        let mut samples: Rotations = (0..200)
            .map(|_| {
                let psi = (lock - rng.between(5.0, 60.0)).abs();
                zyz([rng.between(100.0, 140.0), psi, rng.between(50.0, 90.0)])
            })
            .collect();
        let before = box_of(&found(&samples));
        // Inside what the box allows: φ ± θ = 110° ± 60°. The convention θ = 0 is far from the box.
        let inside = 110.0 + sign * 60.0;
        for _ in 0..3 {
            samples.push(zyz([inside, lock, 0.0]));
        }
        let locked = EulerAngles::from_rotation(EulerOrder::ZYZ, samples.at(200));
        assert_eq!(locked.lock, Some(if sign > 0.0 { GimbalLock::Low } else { GimbalLock::High }));
        near(locked.angles[2].radians(), 0.0, 0.0);
        let joint = found(&samples);
        let after = box_of(&joint);
        assert_eq!((before[0], before[2]), (after[0], after[2]));
        check_inside(&joint, &samples, 1e-6);
        // A turn that the box has no room for widens φ by what is missing.
        let room = (before[0], before[2]);
        let most = room.0.max().degrees()
            + if sign > 0.0 { room.1.max().degrees() } else { -room.1.min().degrees() };
        samples.push(zyz([most + 12.0, lock, 0.0]));
        let joint = found(&samples);
        let wider = box_of(&joint);
        near(wider[0].max().degrees(), room.0.max().degrees() + 12.0, 1e-6);
        assert_eq!((wider[0].min(), wider[2]), (before[0].min(), before[2]));
        check_inside(&joint, &samples, 1e-6);
    }
}

#[test]
fn a8_the_box_of_a_ball_by_the_robust_method_is_not_widened_by_locks_either() {
    let mut rng = Rng::new(15);
    let mut samples: Rotations = (0..200)
        .map(|_| zyz([rng.between(100.0, 140.0), rng.between(5.0, 60.0), rng.between(50.0, 90.0)]))
        .collect();
    let locks: Rotations = (0..5).map(|_| zyz([190.0, 0.0, 0.0])).collect();
    locks.iter().for_each(|q| samples.push(q));
    for (coverage, margin) in [(1.0, 0.0), (1.0, 3.0), (0.8, 0.0)] {
        let options = BallOptions {
            model: BallModel::Box,
            corners: 64,
            noise: 0.0,
            coverage,
            margin: degrees(margin).radians(),
        };
        let ball = ball::fit(&[&samples], DVec3::Z, &options).unwrap();
        let limit = ball.limit.prepare().unwrap();
        let inside = samples.iter().filter(|q| limit.distance(*q).degrees() > -1e-6).count();
        assert!(inside as f64 >= (3.0 * coverage - 2.0) * 205.0, "{inside} {coverage}");
        assert_eq!(coverage < 1.0, inside < 205);
        let Limit::EulerBox(found) = ball.limit else { panic!("{ball:?}") };
        for (arc, [low, high]) in found.arcs.iter().zip([[100.0, 140.0], [0.0, 60.0], [50.0, 90.0]])
        {
            assert!(arc.min().degrees() > low - margin - 1e-6, "{arc:?}");
            assert!(arc.max().degrees() < high + margin + 1e-6, "{arc:?}");
        }
        // Nothing but locks.
        assert!(ball::fit(&[&locks], DVec3::Z, &options).is_some());
    }
}

#[test]
fn a8_motion_at_the_locks_only_has_a_box_too() {
    let samples: Rotations =
        (0..40).map(|i| zyz([f64::from(i), if i % 2 == 0 { 0.0 } else { 180.0 }, 0.0])).collect();
    let joint = found(&samples);
    assert_eq!(joint.kind, JointKind::Ball);
    check_inside(&joint, &samples, 1e-6);
}

#[test]
fn a8_trap_a_wobble_about_the_bind_pose_fills_the_box_and_is_reported() {
    let mut rng = Rng::new(11);
    let samples: Rotations = (0..2000)
        .map(|_| {
            let mut turn = || rng.between(-3.0, 3.0);
            let v = DVec3::new(turn(), turn(), turn());
            Rotation::exp(v * 1.0_f64.to_radians()).unwrap()
        })
        .collect();
    let joint = found(&samples);
    assert_eq!(joint.kind, JointKind::Ball);
    let [phi, psi, theta] = box_of(&joint);
    assert!(phi.is_full() && theta.is_full() && psi.max().degrees() < 5.0, "{joint:?}");
    assert!(joint.notes[0].contains("degenerate"), "{:?}", joint.notes);
    assert!(
        joint.notes[0].contains("φ + θ is determined; the samples keep it within 6 deg"),
        "{:?}",
        joint.notes
    );
    // The same at the other lock.
    let half: Rotations = samples.iter().map(|q| q * about(DVec3::Y, 180.0)).collect();
    let note = &found(&half).notes[0];
    assert!(note.contains("ψ = 180 deg") && note.contains("φ − θ"), "{note}");
}

#[test]
fn a8_a_ball_that_turns_all_ways_is_not_degenerate() {
    let mut rng = Rng::new(12);
    let samples: Rotations = (0..3000).map(|_| rng.rotation()).collect();
    let joint = found(&samples);
    assert!(joint.notes.is_empty(), "{:?}", joint.notes);
    check_inside(&joint, &samples, 1e-6);
}

#[test]
fn a9_eq_16_to_19_equal_angles_and_half_turns_are_no_gaps() {
    let arc = |angles: &[f64]| {
        let samples: Rotations = angles.iter().map(|d| about(DVec3::Z, *d)).collect();
        hinge_of(&found(&samples)).1
    };
    // As printed, [20, 380].
    check_arc(arc(&[10.0, 20.0, 20.0, 30.0]), 10.0, 30.0);
    // Across half a turn (fig. 5): the smaller numbers are the larger angles. That is the turn nearest
    // to 0; seen from the other end of the axis, 150 to 270 is not.
    check_arc(arc(&[90.0, 150.0, -170.0, -150.0, 200.0]), 90.0, 210.0);
    // Of a whole turn nothing is left out.
    let all: Vec<f64> = (0..720).map(|i| 0.5 * f64::from(i)).collect();
    assert!(arc(&all).is_full());
}

#[test]
fn a10_the_bind_pose_of_a_running_arm_is_repaired() {
    // Section 2.4: the arms of a T-pose, which running never raises.
    let samples: Rotations = steps(40, 100).iter().map(|d| about(DVec3::Z, *d)).collect();
    let joint = found(&samples);
    let prepared = joint.limit.prepare().unwrap();
    for (repair, angle) in [(Repair::Nearest, 40.0), (Repair::MidRange, 70.0), (Repair::Mean, 70.0)]
    {
        let start =
            bind::start(&joint.limit, &prepared, joint.center, &[&samples], repair).unwrap();
        near(start.excess.degrees(), 40.0, 1e-6);
        near(start.rotation.angle().degrees(), angle, 1e-6);
        assert!(!start.fell_back);
    }
    let with_rest: Rotations = steps(0, 100).iter().map(|d| about(DVec3::Z, *d)).collect();
    let joint = found(&with_rest);
    let prepared = joint.limit.prepare().unwrap();
    let none = bind::start(&joint.limit, &prepared, joint.center, &[&with_rest], Repair::Mean);
    assert!(none.is_none());
}

#[test]
fn a11_clips_together_are_as_one_and_their_order_does_not_matter() {
    let mut rng = Rng::new(13);
    let all: Vec<Rotation> =
        (0..701).map(|_| Rotation::exp(rng.direction() * rng.uniform()).unwrap()).collect();
    let part =
        |range: std::ops::Range<usize>| -> Rotations { all[range].iter().copied().collect() };
    let (a, b, c, whole) = (part(0..300), part(300..301), part(301..701), part(0..701));
    let one = found(&whole);
    for clips in [[&a, &b, &c], [&c, &a, &b]] {
        let many = estimate(&clips, &PaperOptions::default()).unwrap();
        assert_eq!(box_of(&one), box_of(&many));
        for (a, b) in one.deviations.iter().zip(many.deviations) {
            near(a.radians(), b.radians(), 1e-14);
        }
    }
}

#[test]
fn prop_limits_hold_their_samples() {
    arbtest::arbtest(|u| {
        let n = u.int_in_range(1..=12)?;
        let mut samples = Rotations::new();
        for _ in 0..n {
            samples.push(arbitrary::rotation(u)?);
        }
        for space in [Space::Log, Space::Vector] {
            for threshold in [Threshold::default(), Threshold::Share(0.95)] {
                let joint = estimate(&[&samples], &PaperOptions { threshold, space }).unwrap();
                assert!(joint.deviations.iter().all(|d| d.radians().is_finite()));
                match joint.kind {
                    JointKind::Ball => check_inside(&joint, &samples, 2e-4),
                    _ => assert!(joint.limit.prepare().is_ok()),
                }
            }
        }
        Ok(())
    });
}
