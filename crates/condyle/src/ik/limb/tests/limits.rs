//! The judge of a swivel is a sweep of them all, a tenth of a degree apart.

use super::*;
use crate::limits::{
    EulerBox, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit, TwistOffset,
};
use crate::math::{EulerOrder, SwingAxes};

/// A polygon around a bone, not convex, and a range of twist.
fn polygon(rng: &mut Rng, bone: DVec3, corners: u32) -> Limit {
    let (x, y) = bone.any_orthonormal_pair();
    let corner = |i: u32| {
        let (sin, cos) = trig::sin_cos(2.0 * PI * f64::from(i) / f64::from(corners));
        let r = rng.between(0.5, 1.7);
        bone * trig::cos(r) + (x * cos + y * sin) * trig::sin(r)
    };
    let swing = SwingLimit::Polygons(vec![(0..corners).map(corner).collect()]);
    let arc = Arc::from_degrees(rng.between(-150.0, -20.0), rng.between(20.0, 150.0)).unwrap();
    let axes = SwingAxes::new(bone, None).unwrap();
    let twist = TwistLimit { bounds: TwistBounds::Arc(arc), ..TwistLimit::default() };
    Limit::SwingTwist(SwingTwistLimit { axes, swing, twist })
}

/// With ranges of twist all around, as a table may have them.
fn by_swing(rng: &mut Rng, limit: Limit) -> Limit {
    let at = around(rng).map(|direction| {
        let (min, max) = (rng.between(-120.0, -20.0), rng.between(20.0, 120.0));
        TwistAt { direction, arc: Arc::from_degrees(min, max).unwrap() }
    });
    let bounds = TwistBounds::BySwing(at.collect());
    with_twist(limit, |twist| TwistLimit { bounds, ..twist })
}

/// With a zero twist that depends on the direction.
fn offset(rng: &mut Rng, limit: Limit) -> Limit {
    let at = around(rng).map(|d| (d, Angle::from_degrees(rng.between(-60.0, 60.0)))).collect();
    with_twist(limit, |twist| TwistLimit { offset: TwistOffset::BySwing(at), ..twist })
}

/// With a zero twist from some direction.
fn from(rng: &mut Rng, limit: Limit) -> Limit {
    let direction = rng.direction();
    with_twist(limit, |twist| TwistLimit { offset: TwistOffset::From(direction), ..twist })
}

/// The corners of an octahedron, turned.
fn around(rng: &mut Rng) -> impl Iterator<Item = DVec3> + use<> {
    let turn = rng.rotation();
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    axes.into_iter().flat_map(move |axis| [turn * axis, turn * -axis])
}

fn with_twist(limit: Limit, change: impl FnOnce(TwistLimit) -> TwistLimit) -> Limit {
    let Limit::SwingTwist(mut of) = limit else { return limit };
    of.twist = change(of.twist);
    Limit::SwingTwist(of)
}

/// The limits of the upper joint and the end, and how exact they are to be.
fn limits(rng: &mut Rng, parts: &LimbParts, kind: u64) -> Option<([PreparedLimit; 2], bool)> {
    let bones = [unit(parts.upper_m).unwrap(), rng.direction()];
    let deg = Angle::from_degrees;
    let ellipse = |rng: &mut Rng, bone| {
        Limit::SwingTwist(SwingTwistLimit {
            axes: SwingAxes::new(bone, None).unwrap(),
            swing: SwingLimit::Ellipse {
                rx: deg(rng.between(30.0, 90.0)),
                ry: deg(rng.between(30.0, 90.0)),
            },
            ..SwingTwistLimit::default()
        })
    };
    let shoulder = polygon(rng, bones[0], 20);
    let (upper, end, exact) = match kind % 7 {
        4 => (by_swing(rng, shoulder), Limit::Free, false),
        5 => (offset(rng, shoulder), polygon(rng, bones[1], 8), false),
        6 => (from(rng, shoulder), Limit::Free, true),
        0 => (shoulder, Limit::Free, true),
        1 => (shoulder, polygon(rng, bones[1], 8), true),
        2 => (shoulder, ellipse(rng, bones[1]), false),
        _ => (
            Limit::EulerBox(EulerBox {
                order: EulerOrder::ZYX,
                arcs: [[-90.0, 80.0], [-60.0, 50.0], [-70.0, 90.0]]
                    .map(|[min, max]| Arc::from_degrees(min, max).unwrap()),
            }),
            Limit::Free,
            false,
        ),
    };
    // Polygons of chance may touch themselves.
    Some(([upper.prepare().ok()?, end.prepare().ok()?], exact))
}

/// A limb with limits, and a goal that a pose of it reaches.
fn problem(rng: &mut Rng, kind: u64) -> (LimbParts, [PreparedLimit; 2], LimbGoal, bool) {
    loop {
        let parts = random(rng, 15.0);
        let Some((limits, exact)) = limits(rng, &parts, kind) else { continue };
        let hinge = rng.between(parts.arc.min().radians(), parts.arc.max().radians());
        let locals = posed(rng, &parts, hinge);
        let (position_m, rotation) = forward(&parts, locals);
        return (parts, limits, LimbGoal { position_m, rotation: Some(rotation) }, exact);
    }
}

/// The smaller margin of the upper joint and the end.
fn margin(parts: &LimbParts, limits: &[PreparedLimit; 2], locals: [Rotation; 3]) -> f64 {
    let m = |i: usize| parts.zeros[i].inverse() * locals[i];
    limits[0].distance(m(0)).radians().min(limits[1].distance(m(2)).radians())
}

#[test]
fn c10_swivels_that_are_allowed_and_the_best_of_them_are_those_of_a_sweep() {
    let rounds = if std::env::var_os("CONDYLE_STUDY").is_some() { 4000 } else { 120 };
    let mut rng = Rng::new(11);
    let mut scratch = LimbScratch::default();
    let mut other = LimbScratch::default();
    let (mut ends, mut worst, mut seen) = (0.0_f64, [f64::NEG_INFINITY; 2], [0; 2]);
    for round in 0..rounds {
        let (parts, limits, goal, exact) = problem(&mut rng, round);
        let limb = Limb::new(&parts).unwrap().with_limits(limits[0].clone(), limits[1].clone());
        let found = limb.solve(&goal, Swivel::BestMargin { near: None }, &mut scratch);
        let arcs = limb.arcs(&goal, &mut other).to_vec();
        // The same poses, without asking limits.
        let bare = Limb::new(&parts).unwrap();
        let mut at = |psi: Angle| bare.solve(&goal, Swivel::At(psi), &mut other).pose.locals;
        let mut best = f64::NEG_INFINITY;
        for i in 0..3600 {
            let psi = Angle::from_degrees(0.1 * f64::from(i) - 180.0);
            let locals = at(psi);
            assert!((forward(&parts, locals).0 - goal.position_m).length() < 1e-9);
            let inside = margin(&parts, &limits, locals);
            best = best.max(inside);
            let holds = arcs.iter().any(|arc| arc.contains(psi));
            // On a border either is right.
            let border = if exact { 1e-9 } else { 2e-3 };
            assert!(holds == (inside >= 0.0) || inside.abs() < border, "{round} {i} {inside}");
        }
        for arc in arcs.iter().filter(|arc| !arc.is_full() && exact) {
            for end in [arc.min(), arc.max()] {
                ends = ends.max(margin(&parts, &limits, at(end)).abs());
            }
        }
        let got = margin(&parts, &limits, found.pose.locals);
        let said = found.margins()[0].radians().min(found.margins()[2].radians());
        assert!((got - said).abs() < 1e-12);
        let outside = arcs.is_empty();
        // What is inside by less than great arcs are off may be taken for outside.
        let doubtful = !exact && best.abs() < CHORDS_OFF.radians() + 5e-4;
        assert!(
            doubtful || (found.status == LimitStatus::NoSwivel) == outside,
            "{round}: {found:?}"
        );
        assert!(doubtful || outside || found.status == LimitStatus::Inside, "{round}: {found:?}");
        let of = usize::from(outside);
        worst[of] = worst[of].max((best - got).to_degrees());
        seen[of] += 1;
    }
    println!("ends off by {ends:.1e} rad; below the best of a sweep by {worst:?} deg of {seen:?}");
    assert!(seen.iter().all(|n| *n > rounds / 20), "{seen:?}");
    assert!(ends < 1e-9 && worst.iter().all(|w| *w < 0.1), "{ends} {worst:?}");
}

/// Goals along smooth ways, from one pose inside the limits to another. Near the pose before, the swivel
/// moves no farther than it may, unless no swivel of its arc is left; the largest margin of all jumps.
#[test]
fn c10_a_goal_that_moves_smoothly_does_not_flip_the_elbow() {
    let rounds = if std::env::var_os("CONDYLE_STUDY").is_some() { 300 } else { 24 };
    let (step, mut rng) = (Angle::from_degrees(2.0), Rng::new(12));
    let mut scratch = LimbScratch::default();
    let (mut flips, mut forced, mut moves) = (0, 0, 0);
    for round in 0..rounds {
        let (parts, limits, goal, _) = problem(&mut rng, round % 2);
        let limb = Limb::new(&parts).unwrap().with_limits(limits[0].clone(), limits[1].clone());
        let other = posed(&mut rng, &parts, 1.0);
        let (to_m, turned) = forward(&parts, other);
        let rotation = goal.rotation.unwrap();
        let log = (turned * rotation.inverse()).log();
        let mut before: Option<[Rotation; 2]> = None;
        for i in 0..=1000 {
            let t = f64::from(i) / 1000.0;
            let goal = LimbGoal {
                position_m: goal.position_m.lerp(to_m, t),
                rotation: Some(Rotation::exp(log * t).unwrap() * rotation),
            };
            let near = before.map(|[near, _]| (near, step));
            let found = limb.solve(&goal, Swivel::BestMargin { near }, &mut scratch);
            let anywhere =
                limb.solve(&goal, Swivel::BestMargin { near: None }, &mut LimbScratch::default());
            let upper = found.pose.locals[0];
            if let Some([near, best]) = before {
                // The least that the goal itself asks for.
                let needed = limb.pose_near(&goal, near).locals[0].distance(near).degrees();
                let moved = upper.distance(near).degrees();
                let held = limb.solve(&goal, Swivel::Nearest(near), &mut LimbScratch::default());
                if held.status == LimitStatus::Outside {
                    // Its own arc has moved on or is gone.
                    forced += usize::from(moved > needed + step.degrees() + 1e-6);
                } else {
                    assert!(
                        moved <= needed + step.degrees() + 1e-6,
                        "{round} {i}: {moved} {needed}"
                    );
                }
                moves += 1;
                let jumped = anywhere.pose.locals[0].distance(best).degrees();
                flips += usize::from(jumped > needed + 20.0);
            }
            before = Some([upper, anywhere.pose.locals[0]]);
        }
    }
    println!("{moves} moves, {forced} forced to another arc; the best of all flips {flips} times");
    assert!(flips > 10 && forced * 1000 < moves, "{flips} {forced} {moves}");
}

/// However goals and limits jump, the swivel goes a step from the one that is nearest to the pose before,
/// and no more; the largest margin near a pose goes as far as the limits make it.
#[test]
fn c10_a_swivel_with_a_step_never_goes_farther() {
    let rounds = if std::env::var_os("CONDYLE_STUDY").is_some() { 2000 } else { 140 };
    let (step, mut rng) = (Angle::from_degrees(5.0), Rng::new(15));
    let mut scratch = LimbScratch::default();
    let (mut worst, mut jumps, mut outside, mut home) = (0.0_f64, 0, 0, 0);
    for round in 0..rounds {
        let (parts, limits, _, _) = problem(&mut rng, round);
        let limb = Limb::new(&parts).unwrap().with_limits(limits[0].clone(), limits[1].clone());
        let mut from = rng.rotation();
        // The same goal for some frames, then one elsewhere.
        for _ in 0..4 {
            let hinge = rng.between(parts.arc.min().radians(), parts.arc.max().radians());
            let locals = posed(&mut rng, &parts, hinge);
            let (position_m, rotation) = forward(&parts, locals);
            let goal = LimbGoal { position_m, rotation: Some(rotation) };
            let allowed = !limb.arcs(&goal, &mut scratch).is_empty();
            let mut status = LimitStatus::NoSwivel;
            for _ in 0..40 {
                let nearest = limb.pose_near(&goal, from).locals[0];
                let held = limb.solve(&goal, Swivel::Nearest(from), &mut scratch).status;
                let near = Swivel::BestMargin { near: Some((from, step)) };
                let soft = limb.solve(&goal, near, &mut scratch).pose.locals[0];
                jumps += usize::from(soft.distance(nearest).degrees() > 20.0);
                let found = limb.solve(&goal, Swivel::AtMost { from, step }, &mut scratch);
                let moved = found.pose.locals[0].distance(nearest).degrees();
                worst = worst.max(moved);
                assert!((forward(&parts, found.pose.locals).0 - position_m).length() < 1e-9);
                // What is inside stays inside.
                let kept = held != LimitStatus::Inside || found.status == LimitStatus::Inside;
                assert!(kept, "{round}: {found:?}");
                outside += usize::from(found.status == LimitStatus::Outside);
                (from, status) = (found.pose.locals[0], found.status);
            }
            // 40 steps of 5° are more than half a turn.
            home += usize::from(allowed && status == LimitStatus::Inside);
            assert!(!allowed || status != LimitStatus::Outside, "{round}: {status:?}");
        }
    }
    println!(
        "at most {worst}°, where the softer one jumped {jumps} times; {outside} outside, {home}"
    );
    assert!(worst < 5.0 + 1e-6 && jumps > 20 && outside > 20 && home > 50, "{worst} {jumps}");
}

/// Two arcs of swivels that are nearly as good: which one is better changes, which one is taken does not.
#[test]
fn c10_the_swivel_stays_in_its_arc_while_another_gets_better() {
    let parts = LimbParts {
        upper_m: DVec3::X * 0.3,
        lower_m: DVec3::X * 0.25,
        zeros: [Rotation::IDENTITY; 3],
        axis: DVec3::Z,
        arc: Arc::from_degrees(0.0, 150.0).unwrap(),
    };
    // The upper arm may point up or down, but not ahead.
    let deg = Angle::from_degrees;
    let ring = |up: f64| {
        (0..12).map(move |i| {
            let (sin, cos) = trig::sin_cos(PI * f64::from(i) / 6.0 * up);
            DVec3::new(1.0, up * 0.55 + 0.4 * cos, 0.4 * sin * up)
        })
    };
    let polygon = |up: f64| SwingLimit::Polygons(vec![ring(up).collect()]);
    let limit = Limit::SwingTwist(SwingTwistLimit {
        axes: SwingAxes::new(DVec3::X, None).unwrap(),
        swing: SwingLimit::Any(vec![polygon(1.0), polygon(-1.0)]),
        ..SwingTwistLimit::default()
    });
    let limb = Limb::new(&parts).unwrap();
    let limb = limb.with_limits(limit.prepare().unwrap(), Limit::Free.prepare().unwrap());
    let mut scratch = LimbScratch::default();
    let mut before = None;
    let (mut up, mut best_up) = (Vec::new(), Vec::new());
    for i in 0..=200 {
        // A little up, then a little down, and back.
        let height = 0.02 * trig::sin(2.0 * PI * f64::from(i) / 200.0);
        let goal = LimbGoal { position_m: DVec3::new(0.48, height, 0.0), rotation: None };
        let near = before.map(|near| (near, deg(5.0)));
        let found = limb.solve(&goal, Swivel::BestMargin { near }, &mut scratch);
        assert_eq!(found.status, LimitStatus::Inside);
        assert_eq!(limb.arcs(&goal, &mut scratch).len(), 2);
        before = Some(found.pose.locals[0]);
        up.push((found.pose.locals[0] * DVec3::X).y > 0.0);
        let best = limb.solve(&goal, Swivel::BestMargin { near: None }, &mut scratch);
        best_up.push((best.pose.locals[0] * DVec3::X).y > 0.0);
    }
    assert!(up.windows(2).all(|pair| pair[0] == pair[1]));
    assert!(best_up.contains(&true) && best_up.contains(&false));
}

/// By the definition: the logarithm of quaternions, at every tenth of a degree.
#[test]
fn c10_the_corner_sum_is_the_least_of_a_sweep() {
    let mut rng = Rng::new(13);
    let mut scratch = LimbScratch::default();
    for _ in 0..100 {
        let parts = random(&mut rng, 15.0);
        let limb = Limb::new(&parts).unwrap();
        let mut arc = || {
            let min = rng.between(-170.0, 100.0);
            Arc::from_degrees(min, min + rng.between(10.0, 150.0)).unwrap()
        };
        let of = EulerBox { order: EulerOrder::ZYX, arcs: [arc(), arc(), arc()] };
        let corners = of.corners();
        assert_eq!(corners.len(), 8);
        let locals = posed(&mut rng, &parts, 1.0);
        let goal = LimbGoal { position_m: forward(&parts, locals).0, rotation: None };
        let sum = |upper: Rotation| -> f64 {
            let m = (parts.zeros[0].inverse() * upper).quat();
            corners
                .iter()
                .map(|corner| {
                    let q = m.conjugate() * corner.quat();
                    let v = DVec3::new(q.x, q.y, q.z).length();
                    // A plain arctan, as printed, without its sign; w = ±1 and 0 included.
                    trig::atan2(v, q.w.abs())
                })
                .sum()
        };
        let found = limb.solve(&goal, Swivel::CornerSum(&corners), &mut scratch);
        let got = sum(found.pose.locals[0]);
        let best = (0..3600)
            .map(|i| {
                let at = Swivel::At(Angle::from_degrees(0.1 * f64::from(i)));
                sum(limb.solve(&goal, at, &mut scratch).pose.locals[0])
            })
            .fold(f64::INFINITY, f64::min);
        assert!(got <= best + 1e-3, "{got} {best}");
    }
}

/// In one dimension the sum of distances to both ends is the same everywhere between them: so it is no
/// margin.
#[test]
fn c10_the_corner_sum_is_no_margin() {
    let ends = [-0.5, 0.9].map(|a| Rotation::about_z(Angle::from_radians(a)));
    let sum = |a: f64| -> f64 {
        let at = Rotation::about_z(Angle::from_radians(a));
        ends.iter().map(|end| 0.5 * at.distance(*end).radians()).sum()
    };
    assert!((sum(-0.4) - sum(0.7)).abs() < 1e-12 && sum(1.0) > sum(0.7) + 0.01);
}

/// What is put inside is inside, and says how far it is from the goal.
#[test]
fn c9_a_clamped_limb_is_inside_its_limits_and_says_what_it_misses() {
    let mut rng = Rng::new(14);
    let mut scratch = LimbScratch::default();
    let mut outside = 0;
    for round in 0..200 {
        let (parts, limits, goal, _) = problem(&mut rng, round);
        let limb = Limb::new(&parts).unwrap().with_limits(limits[0].clone(), limits[1].clone());
        let found = limb.solve(&goal, Swivel::BestMargin { near: None }, &mut scratch);
        let clamped = limb.clamped(&goal, &found);
        assert!(margin(&parts, &limits, clamped.pose.locals) > -1e-9, "{round}");
        assert_eq!(clamped.status, LimitStatus::Inside, "{round}: {:?} before", found.status);
        let (there_m, turned) = forward(&parts, clamped.pose.locals);
        let miss_m = (there_m - goal.position_m).length();
        assert!((miss_m - clamped.pose.miss_m).abs() < 1e-12, "{round}");
        let miss = turned.distance(goal.rotation.unwrap()).radians();
        assert!((miss - clamped.pose.miss.radians()).abs() < 1e-9, "{round}");
        if found.status == LimitStatus::Inside {
            assert!(miss_m < 1e-9 && miss < 1e-9, "{round}");
        } else {
            outside += 1;
            assert!(found.active()[0] || found.active()[2], "{round}: {found:?}");
        }
    }
    assert!(outside > 20, "{outside}");
}
