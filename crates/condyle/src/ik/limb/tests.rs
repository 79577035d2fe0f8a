//! The judge is forward kinematics, written out here.

mod broken;
mod limits;

use std::f64::consts::PI;

use super::*;
use crate::math::{angle_between, unit};
use crate::synth::Rng;

/// A limb with a hinge that is tilted by up to so many degrees, and its arc.
fn random(rng: &mut Rng, tilt: f64) -> LimbParts {
    let zeros = [rng.rotation(), rng.rotation(), rng.rotation()];
    let lower = rng.direction() * rng.between(0.1, 0.5);
    // Across both bones where they are straight.
    let axis = perpendicular(unit(lower).unwrap()).unwrap();
    let upper = zeros[1] * lower * (rng.between(0.1, 0.5) / lower.length());
    let tilt = Rotation::exp(rng.direction() * rng.between(0.0, tilt).to_radians()).unwrap();
    let arc = Arc::from_degrees(rng.between(-5.0, 20.0), rng.between(100.0, 160.0)).unwrap();
    LimbParts { upper_m: upper, lower_m: lower, zeros, axis: tilt * axis, arc }
}

/// Where the end is, and how it is turned.
fn forward(parts: &LimbParts, locals: [Rotation; 3]) -> (DVec3, Rotation) {
    let hinge = locals[0] * locals[1];
    (locals[0] * (parts.upper_m + locals[1] * parts.lower_m), hinge * locals[2])
}

fn posed(rng: &mut Rng, parts: &LimbParts, hinge: f64) -> [Rotation; 3] {
    let turn = Rotation::from_axis_angle(parts.axis, Angle::from_radians(hinge)).unwrap();
    [rng.rotation(), parts.zeros[1] * turn, rng.rotation()]
}

#[test]
fn c9_what_can_be_reached_is_reached_whatever_the_tilt_of_the_hinge() {
    let count = if std::env::var_os("CONDYLE_STUDY").is_some() { 100_000 } else { 5000 };
    let mut rng = Rng::new(1);
    let mut worst = [0.0_f64; 2];
    let mut scratch = LimbScratch::default();
    for _ in 0..count {
        let parts = random(&mut rng, 15.0);
        let limb = Limb::new(&parts).unwrap();
        let arc = [parts.arc.min().radians(), parts.arc.max().radians()];
        let hinge = rng.between(arc[0], arc[1]);
        let locals = posed(&mut rng, &parts, hinge);
        let (position_m, rotation) = forward(&parts, locals);
        let goal = LimbGoal { position_m, rotation: Some(rotation) };
        let swivels = [
            Swivel::Given {
                toward: rng.direction(),
                angle: Angle::from_radians(rng.between(-4.0, 4.0)),
            },
            Swivel::Nearest(rng.rotation()),
        ];
        for swivel in swivels {
            let found = limb.solve(&goal, swivel, &mut scratch).pose;
            let (there_m, turned) = forward(&parts, found.locals);
            assert_eq!(found.reach, Reach::Reached);
            worst[0] = worst[0].max((there_m - position_m).length());
            worst[1] = worst[1].max(turned.distance(rotation).radians());
            assert!((found.miss_m - (there_m - position_m).length()).abs() < 1e-12);
            assert!(parts.arc.distance(found.hinge()).radians() >= -1e-8);
        }
        // Its own pose is the nearest to itself, unless the hinge has another angle as good.
        let same = limb.pose_near(&goal, locals[0]);
        let other = Angle::from_radians(same.hinge().radians() - hinge).wrapped().radians();
        if other.abs() < 1e-7 {
            assert!(same.locals[0].distance(locals[0]).radians() < 1e-5, "{hinge}");
        }
    }
    println!("position {:.1e} m, rotation {:.1e} rad", worst[0], worst[1]);
    assert!(worst[0] < 1e-9 && worst[1] < 1e-9, "{worst:?}");
}

#[test]
fn c9_the_hinge_is_on_the_side_that_is_asked_for() {
    let mut rng = Rng::new(2);
    for _ in 0..2000 {
        let parts = random(&mut rng, 0.0);
        let limb = Limb::new(&parts).unwrap();
        let hinge = rng.between(30.0_f64.to_radians(), 90.0_f64.to_radians());
        let locals = posed(&mut rng, &parts, hinge);
        let goal = LimbGoal { position_m: forward(&parts, locals).0, rotation: None };
        let toward = rng.direction();
        let line = unit(goal.position_m).unwrap();
        let beside = |v: DVec3| unit(v - line * v.dot(line)).unwrap();
        let angle = rng.between(-PI, PI);
        let swivel = Swivel::Given { toward, angle: Angle::from_radians(angle) };
        let found = limb.solve(&goal, swivel, &mut LimbScratch::default()).pose;
        let hinge_at = beside(found.locals[0] * parts.upper_m);
        let turn = Rotation::from_axis_angle(line, Angle::from_radians(angle)).unwrap();
        assert!(angle_between(hinge_at, turn * beside(toward)).radians() < 1e-6);
        let pole = beside(limb.pose_toward(&goal, toward).locals[0] * parts.upper_m);
        assert!(angle_between(pole, beside(toward)).radians() < 1e-6);
    }
}

/// With a tilted axis the hinge is a little beside the side that is asked for: see `docs/limb.md`.
#[test]
fn c9_a_tilted_hinge_is_near_the_side_that_is_asked_for() {
    let mut rng = Rng::new(22);
    for (tilt, most) in [(0.0, 1e-5), (2.0, 0.65), (5.0, 1.6), (10.0, 3.1), (15.0, 4.4)] {
        let mut worst = 0.0_f64;
        for _ in 0..5000 {
            // Straight at rest, the axis tilted by just so much.
            let across = perpendicular(DVec3::X).unwrap();
            let tilted = Angle::from_degrees(tilt);
            let about = unit(rng.direction().cross(across)).unwrap();
            let parts = LimbParts {
                upper_m: DVec3::X * 0.3,
                lower_m: DVec3::X * 0.25,
                zeros: [Rotation::IDENTITY; 3],
                axis: Rotation::from_axis_angle(about, tilted).unwrap() * across,
                arc: Arc::from_degrees(0.0, 150.0).unwrap(),
            };
            let limb = Limb::new(&parts).unwrap();
            let hinge = rng.between(2.0, 120.0).to_radians();
            let locals = posed(&mut rng, &parts, hinge);
            let goal = LimbGoal { position_m: forward(&parts, locals).0, rotation: None };
            let line = unit(goal.position_m).unwrap();
            let toward = rng.direction();
            let beside = |v: DVec3| unit(v - line * v.dot(line)).unwrap();
            let at = beside(limb.pose_toward(&goal, toward).locals[0] * parts.upper_m);
            worst = worst.max(angle_between(at, beside(toward)).degrees());
        }
        println!("tilt {tilt} deg: off by {worst:.2} deg at most");
        assert!(worst <= most, "{tilt}: {worst}");
    }
}

/// The sign and the zero of `Swivel::At`, of `LimbOutcome::swivel` and of `LimbScratch::arcs`.
#[test]
fn swivels_count_from_the_upper_joints_zero_and_right_handed_about_the_line_to_the_goal() {
    let mut rng = Rng::new(12);
    let mut scratch = LimbScratch::default();
    for _ in 0..500 {
        let parts = random(&mut rng, 15.0);
        let limb = Limb::new(&parts).unwrap();
        let locals = posed(&mut rng, &parts, 1.0);
        let goal = LimbGoal { position_m: forward(&parts, locals).0, rotation: None };
        let line = unit(goal.position_m).unwrap();
        let mut at = |angle: f64| {
            let found = limb.solve(&goal, Swivel::At(Angle::from_radians(angle)), &mut scratch);
            assert!((found.swivel.radians() - angle).abs() < 1e-12);
            found.pose.locals[0]
        };
        let from_zero = |upper: Rotation| upper.distance(parts.zeros[0]).radians();
        let zero = at(0.0);
        for angle in [-3.0, -1.0, -0.1, 0.1, 1.0, 3.0] {
            let turned = at(angle);
            // About the line, seen from outside: exp(v) from the left.
            let expected = Rotation::exp(line * angle).unwrap() * zero;
            assert!(turned.distance(expected).radians() < 1e-12, "{angle}");
            assert!(from_zero(turned) >= from_zero(zero) - 1e-12, "{angle}");
        }
    }
    // An arm along x whose hand stays where it is: its elbow is below the line, and goes from −y to −z,
    // which is right-handed about x.
    let parts = LimbParts {
        upper_m: DVec3::new(0.3, -0.1, 0.0),
        lower_m: DVec3::new(0.3, 0.1, 0.0),
        zeros: [Rotation::IDENTITY; 3],
        axis: DVec3::Z,
        arc: Arc::from_degrees(-10.0, 140.0).unwrap(),
    };
    let goal = LimbGoal { position_m: 0.6 * DVec3::X, rotation: None };
    for (degrees, elbow) in [
        (0.0, DVec3::new(0.3, -0.1, 0.0)),
        (90.0, DVec3::new(0.3, 0.0, -0.1)),
        (-90.0, DVec3::new(0.3, 0.0, 0.1)),
    ] {
        let swivel = Swivel::At(Angle::from_degrees(degrees));
        let found = Limb::new(&parts).unwrap().solve(&goal, swivel, &mut scratch).pose.locals[0];
        assert!((found * parts.upper_m).distance(elbow) < 1e-12, "{degrees}");
    }
}

/// Against trying all swivels.
#[test]
fn c10_the_nearest_swivel_is_the_nearest() {
    let mut rng = Rng::new(3);
    for _ in 0..200 {
        let parts = random(&mut rng, 15.0);
        let limb = Limb::new(&parts).unwrap();
        let locals = posed(&mut rng, &parts, 1.0);
        let goal = LimbGoal { position_m: forward(&parts, locals).0, rotation: None };
        let to = rng.rotation();
        let nearest = limb.pose_near(&goal, to).locals[0].distance(to).radians();
        let mut scratch = LimbScratch::default();
        let toward = rng.direction();
        let tried = (0..3600).map(|i| {
            let swivel = Swivel::Given { toward, angle: Angle::from_degrees(0.1 * f64::from(i)) };
            limb.solve(&goal, swivel, &mut scratch).pose.locals[0].distance(to).radians()
        });
        let best = tried.fold(f64::INFINITY, f64::min);
        assert!(nearest <= best + 1e-9 && nearest >= best - 0.01, "{nearest} {best}");
    }
}

#[test]
fn c9_what_cannot_be_reached_is_come_near_to_and_told() {
    let mut rng = Rng::new(4);
    let mut seen = [0; 3];
    for _ in 0..3000 {
        let parts = random(&mut rng, 15.0);
        let limb = Limb::new(&parts).unwrap();
        let goal = LimbGoal { position_m: rng.direction() * rng.between(0.0, 1.5), rotation: None };
        let found = limb.pose_near(&goal, Rotation::IDENTITY);
        let (there_m, _) = forward(&parts, found.locals);
        let miss = (there_m - goal.position_m).length();
        assert!((miss - found.miss_m).abs() < 1e-9);
        // By trying all angles of the arc.
        let arc = [parts.arc.min().radians(), parts.arc.max().radians()];
        let best = (0..=2000)
            .map(|i| {
                let hinge = arc[0] + (arc[1] - arc[0]) * f64::from(i) / 2000.0;
                let turn = Rotation::from_axis_angle(parts.axis, Angle::from_radians(hinge));
                let end = parts.upper_m + parts.zeros[1] * turn.unwrap() * parts.lower_m;
                (end.length() - goal.position_m.length()).abs()
            })
            .fold(f64::INFINITY, f64::min);
        assert!(miss <= best + 1e-9, "{miss} {best} {found:?}");
        match found.reach {
            Reach::Reached => assert!(miss < 1e-9, "{miss}"),
            Reach::TooFar => seen[0] += 1,
            Reach::TooNear => seen[1] += 1,
            Reach::HingeLimit => seen[2] += 1,
        }
    }
    assert!(seen.iter().all(|n| *n > 20), "{seen:?}");
}

#[test]
fn c9_a_goal_that_moves_smoothly_does_not_flip_the_hinge() {
    let mut rng = Rng::new(5);
    for seed in 0..200 {
        let parts = random(&mut rng, 15.0);
        let limb = Limb::new(&parts).unwrap();
        // From far beyond to near, off the upper joint, over the straight pose.
        let (from, to) = (rng.direction(), rng.direction() * 0.2);
        let mut before: Option<LimbPose> = None;
        for i in 0..=2000 {
            let goal =
                LimbGoal { position_m: from.lerp(to, f64::from(i) / 2000.0), rotation: None };
            let near = before.map_or(Rotation::IDENTITY, |pose| pose.locals[0]);
            let found = limb.pose_near(&goal, near);
            if let Some(before) = before {
                let moved = found.locals[0].distance(before.locals[0]).degrees();
                let bent = (found.hinge().degrees() - before.hinge().degrees()).abs();
                // Near the straight pose the angle is a root of the distance.
                assert!(moved < 12.0 && bent < 12.0, "{seed} {i}: {moved} {bent}");
            }
            before = Some(found);
        }
    }
}
