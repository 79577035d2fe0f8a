//! The judge is a sweep.

use super::*;
use crate::limits::{
    EulerBox, Limit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit,
};
use crate::math::{EulerOrder, SwingAxes};
use crate::synth::Rng;

fn polygon(rng: &mut Rng, corners: u32) -> SwingLimit {
    let middle = rng.direction();
    let (x, y) = middle.any_orthonormal_pair();
    let corner = |i: u32| {
        let (sin, cos) = trig::sin_cos(TAU * f64::from(i) / f64::from(corners));
        let r = rng.between(0.3, 1.6);
        middle * trig::cos(r) + (x * cos + y * sin) * trig::sin(r)
    };
    SwingLimit::Polygons(vec![(0..corners).map(corner).collect()])
}

fn limits(rng: &mut Rng) -> Vec<(Limit, bool)> {
    let arc = |rng: &mut Rng| {
        let (min, width) = (rng.between(-180.0, 180.0), rng.between(20.0, 300.0));
        Arc::from_degrees(min, min + width).unwrap()
    };
    let axes = SwingAxes::new(rng.direction(), None).unwrap();
    let ball = |swing, bounds| {
        let twist = TwistLimit { bounds, ..TwistLimit::default() };
        Limit::SwingTwist(SwingTwistLimit { axes, swing, twist })
    };
    let deg = Angle::from_degrees;
    let ellipse =
        SwingLimit::Ellipse { rx: deg(rng.between(10.0, 120.0)), ry: deg(rng.between(10.0, 80.0)) };
    let table = (0..6).map(|_| TwistAt { direction: rng.direction(), arc: arc(rng) }).collect();
    let shape = polygon(rng, 20);
    vec![
        (Limit::Free, true),
        (ball(polygon(rng, 20), TwistBounds::Free), true),
        (ball(polygon(rng, 5), TwistBounds::Arc(arc(rng))), true),
        (ball(shape.clone(), TwistBounds::Arc(arc(rng))), true),
        (ball(SwingLimit::Free, TwistBounds::Arc(arc(rng))), true),
        (ball(ellipse.clone(), TwistBounds::Arc(arc(rng))), false),
        (ball(SwingLimit::Grown { of: Box::new(shape), by: deg(4.0) }, TwistBounds::Free), false),
        (ball(ellipse, TwistBounds::BySwing(table)), false),
        (
            Limit::EulerBox(EulerBox {
                order: EulerOrder::ZYZ,
                arcs: [arc(rng), Arc::from_degrees(20.0, 120.0).unwrap(), arc(rng)],
            }),
            false,
        ),
    ]
}

/// By asking at every tenth of a degree.
#[test]
fn c10_allowed_angles_are_those_of_a_sweep() {
    let rounds = if std::env::var_os("CONDYLE_STUDY").is_some() { 400 } else { 40 };
    let (mut search, mut found, mut worst) = (TurningSearch::default(), 0, 0.0_f64);
    for seed in 0..rounds {
        let mut rng = Rng::new(seed);
        for (n, (limit, exact)) in limits(&mut rng).into_iter().enumerate() {
            let Ok(limit) = limit.prepare() else { continue };
            let turning = Turning::new(rng.rotation(), rng.direction(), rng.rotation()).unwrap();
            let arcs = search.allowed([Turned { limit: &limit, turning }]);
            found += arcs.len();
            assert!(arcs.windows(2).all(|pair| pair[0].max() < pair[1].min()), "{arcs:?}");
            for i in 0..3600 {
                let psi = Angle::from_degrees(0.1 * f64::from(i) - 180.0);
                let holds = arcs.iter().any(|arc| arc.contains(psi));
                let m = turning.at(psi);
                // Of what is narrower than is asked for, or on the border, either is right.
                if limit.contains(m) != holds {
                    let border = limit.distance(m).radians().abs();
                    let least = if exact { 1e-9 } else { 2.0 * FINE };
                    assert!(border < least, "{seed} {n} {i} {holds} {border} {arcs:?}");
                }
            }
            for end in arcs.iter().filter(|arc| !arc.is_full()).flat_map(|a| [a.min(), a.max()]) {
                let off = limit.distance(turning.at(end)).radians().abs();
                if exact {
                    worst = worst.max(off);
                }
            }
        }
    }
    println!("{found} arcs; ends in polygons off by {worst:.1e}");
    assert!(found > 100 && worst < 1e-9, "{found} {worst}");
}

#[test]
fn c10_nothing_is_allowed_by_what_has_no_volume_and_everything_by_what_is_free() {
    let turning = Turning::new(Rotation::IDENTITY, DVec3::X, Rotation::IDENTITY).unwrap();
    let mut search = TurningSearch::default();
    let hinge = Limit::Hinge { axis: DVec3::Z, arc: Arc::from_degrees(-10.0, 90.0).unwrap() };
    let [hinge, free] = [hinge, Limit::Free].map(|limit| limit.prepare().unwrap());
    assert_eq!(search.allowed([Turned { limit: &hinge, turning }]), []);
    assert_eq!(search.allowed([Turned { limit: &free, turning }]), [Arc::FULL]);
    assert!(Turning::new(Rotation::IDENTITY, DVec3::ZERO, Rotation::IDENTITY).is_none());
}

/// Two limits that turn together.
fn together(rng: &mut Rng, [a, b]: [&PreparedLimit; 2], check: &mut impl FnMut([Turned<'_>; 2])) {
    let mut turning = || Turning::new(rng.rotation(), rng.direction(), rng.rotation()).unwrap();
    check([Turned { limit: a, turning: turning() }, Turned { limit: b, turning: turning() }]);
}

fn least([a, b]: [Turned<'_>; 2], psi: Angle) -> f64 {
    let distance = |of: Turned<'_>| of.limit.distance(of.turning.at(psi)).radians();
    distance(a).min(distance(b))
}

/// By asking at every tenth of a degree; if nothing is allowed, too.
#[test]
fn c10_no_angle_of_a_sweep_has_a_larger_margin() {
    let rounds = if std::env::var_os("CONDYLE_STUDY").is_some() { 300 } else { 30 };
    let mut search = TurningSearch::default();
    // Exact and not, each inside and outside.
    let mut worst = [[f64::NEG_INFINITY; 2]; 2];
    let mut seen = [[0; 2]; 2];
    for seed in 0..rounds {
        let mut rng = Rng::new(seed);
        let limits: Vec<(PreparedLimit, bool)> = limits(&mut rng)
            .into_iter()
            .filter_map(|(limit, exact)| Some((limit.prepare().ok()?, exact)))
            .collect();
        for (i, (a, a_exact)) in limits.iter().enumerate() {
            // Alone, or with another.
            let other =
                if seed % 2 == 0 { 0 } else { (i + usize::try_from(seed).unwrap()) % limits.len() };
            let (b, b_exact) = &limits[other];
            together(&mut rng, [a, b], &mut |pair| {
                let best = search.best(pair, None);
                let got = least(pair, best.angle);
                let sweep = (0..3600).map(|i| least(pair, Angle::from_degrees(0.1 * f64::from(i))));
                let most = sweep.fold(f64::NEG_INFINITY, f64::max);
                assert!(
                    best.inside == (got > -1e-9) || got.abs() < 2.0 * FINE,
                    "{seed} {i}: {got}"
                );
                let of = [usize::from(!(*a_exact && *b_exact)), usize::from(!best.inside)];
                let worst = &mut worst[of[0]][of[1]];
                *worst = worst.max((most - got).to_degrees());
                seen[of[0]][of[1]] += 1;
            });
        }
    }
    println!("below the best of a sweep by degrees: {worst:?} of {seen:?}");
    assert!(seen.iter().flatten().all(|n| *n > 20), "{seen:?}");
    let [[inside, outside], [other_inside, other_outside]] = worst;
    assert!(inside < 1e-4 && outside < 0.05, "{worst:?}");
    // Outside of ranges of twist that depend on the direction, steps may be too coarse.
    assert!(other_inside < 0.1 && other_outside < 1.0, "{worst:?}");
}

/// Where two axes that a rotation carries have their own angle to each other, by looking for a change of sign
/// at every tenth of a degree, and halving.
fn met_by_a_sweep([u, w]: [DVec3; 2], turning: &Turning) -> Vec<f64> {
    let off = |psi: f64| u.dot(turning.at(Angle::from_radians(psi)) * w) - u.dot(w);
    let at = |i: u32| TAU * f64::from(i) / 3600.0 - PI;
    let crosses = |i: &u32| (off(at(*i)) < 0.0) != (off(at(i + 1)) < 0.0);
    let root = |i: u32| {
        let (mut a, mut b) = (at(i), at(i + 1));
        for _ in 0..60 {
            let middle = 0.5 * (a + b);
            if (off(middle) < 0.0) == (off(a) < 0.0) { a = middle } else { b = middle }
        }
        0.5 * (a + b)
    };
    (0..3600).filter(crosses).map(root).collect()
}

/// A universal joint beside one with a volume: two angles at most are allowed, and found; near an angle the
/// nearer of them, and no farther than a hard step. If none is, the judge is a sweep.
#[test]
fn c10_a_universal_joint_is_allowed_where_a_sweep_meets_its_surface() {
    let rounds = if std::env::var_os("CONDYLE_STUDY").is_some() { 20_000 } else { 1500 };
    let mut search = TurningSearch::default();
    let (mut seen, mut worst) = ([0; 3], [f64::NEG_INFINITY; 2]);
    for seed in 0..rounds {
        let mut rng = Rng::new(seed);
        let axes = [rng.direction(), rng.direction()];
        let arcs: [Arc; 2] = std::array::from_fn(|_| {
            let min = rng.between(-180.0, 180.0);
            Arc::from_degrees(min, min + rng.between(20.0, 360.0)).unwrap()
        });
        let Ok(end) = Limit::Universal { axes, arcs }.prepare() else { continue };
        let swing = if seed % 3 == 0 { SwingLimit::Free } else { polygon(&mut rng, 20) };
        let upper = Limit::SwingTwist(SwingTwistLimit {
            axes: SwingAxes::new(rng.direction(), None).unwrap(),
            swing,
            twist: TwistLimit {
                bounds: TwistBounds::Arc(Arc::from_degrees(-100.0, 120.0).unwrap()),
                ..TwistLimit::default()
            },
        });
        let Ok(upper) = upper.prepare() else { continue };
        // Half of them are allowed somewhere, as in a pose that was taken.
        let (left, axis, psi) = (rng.rotation(), rng.direction(), rng.between(-PI, PI));
        let there = Turning::new(left, axis, Rotation::IDENTITY).unwrap();
        let right = match seed % 2 {
            0 => there.at(Angle::from_radians(psi)).inverse() * end.project(rng.rotation()),
            _ => rng.rotation(),
        };
        let turning = Turning::new(left, axis, right).unwrap();
        let mut other = || Turning::new(rng.rotation(), rng.direction(), rng.rotation()).unwrap();
        let pair = [Turned { limit: &upper, turning: other() }, Turned { limit: &end, turning }];
        let units = axes.map(|axis| unit(axis).unwrap());
        let met = met_by_a_sweep(units, &turning);
        let margin = |psi: f64| least(pair, Angle::from_radians(psi));
        let allowed: Vec<f64> = met.iter().copied().filter(|psi| margin(*psi) > -1e-9).collect();
        let best = search.best(pair, None);
        let got = least(pair, best.angle);
        if allowed.is_empty() {
            // A wave that only just touches has no change of sign.
            assert!(!best.inside || met.is_empty(), "{seed}");
            let sweep = (0..3600).map(|i| margin(0.1_f64.to_radians() * f64::from(i)));
            let most = sweep.fold(f64::NEG_INFINITY, f64::max);
            worst[1] = worst[1].max(most - got);
            seen[2] += 1;
            continue;
        }
        let most = allowed.iter().map(|psi| margin(*psi)).fold(f64::NEG_INFINITY, f64::max);
        assert!(best.inside && got >= ROUNDING, "{seed}: {got}, not {most}");
        worst[0] = worst[0].max(most - got);
        seen[allowed.len() - 1] += 1;
        let (angle, step) = (rng.between(-PI, PI), rng.between(0.0, 1.0));
        let off = |psi: f64| Angle::from_radians(psi - angle).wrapped().radians().abs();
        let nearest = allowed.iter().map(|psi| off(*psi)).fold(f64::INFINITY, f64::min);
        for hard in [false, true] {
            let [at, most] = [angle, step].map(Angle::from_radians);
            let found = search.best(pair, Some(NearAngle { angle: at, step: most, hard }));
            let far = hard && nearest > step;
            let expected = if far { step } else { nearest };
            let away = off(found.angle.radians());
            assert!((away - expected).abs() < 1e-9, "{seed}: {away}, not {expected}");
            assert!(found.inside != far && found.others == far, "{seed}: {found:?}");
        }
    }
    println!("{seen:?} with one angle, two and none; below the best by {worst:?} rad");
    assert!(seen.iter().all(|n| *n > 40), "{seen:?}");
    assert!(worst[0] < 1e-9 && worst[1] < 1e-3, "{worst:?}");
}

#[test]
fn c10_near_an_angle_the_best_is_no_farther_than_a_step_and_in_the_same_arc() {
    let mut search = TurningSearch::default();
    let mut seen = 0;
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        for (limit, exact) in limits(&mut rng) {
            let Ok(limit) = limit.prepare() else { continue };
            let free = Limit::Free.prepare().unwrap();
            let (angle, step) = (rng.between(-PI, PI), rng.between(0.0, 1.0));
            together(&mut rng, [&limit, &free], &mut |pair| {
                let arcs = search.allowed(pair).to_vec();
                let near = NearAngle {
                    angle: Angle::from_radians(angle),
                    step: Angle::from_radians(step),
                    hard: false,
                };
                let best = search.best(pair, Some(near));
                let Some(arc) = arcs.iter().find(|arc| arc.contains(near.angle)) else { return };
                seen += 1;
                let turn = |psi: f64| Angle::from_radians(psi).wrapped();
                let off = turn(best.angle.radians() - angle).radians().abs();
                assert!(off <= step + 1e-9 && arc.distance(best.angle).radians() > -1e-9);
                if !exact {
                    return;
                }
                for i in -100..=100 {
                    let psi = turn(angle + step * f64::from(i) / 100.0);
                    // Without leaving the arc on the way.
                    let way = (0..=50).all(|k| {
                        let part = f64::from(i) * f64::from(k) / 5000.0;
                        arc.contains(turn(angle + step * part))
                    });
                    let better = least(pair, psi) - least(pair, best.angle);
                    assert!(!way || better < 1e-6, "{seed}: {better} at {psi:?}, not {best:?}");
                }
            });
        }
    }
    assert!(seen > 100, "{seen}");
}

/// Found by a fuzzer: a box of which one Euler angle is given touches its circle at 0 only, and that was
/// taken for everywhere.
#[test]
fn a_limit_without_volume_allows_no_arc() {
    let thin = |order, arcs: [f64; 2]| {
        let one = Arc::from_degrees(arcs[0], arcs[1]).unwrap();
        Limit::EulerBox(EulerBox { order, arcs: [one, Arc::FULL, Arc::FULL] }).prepare().unwrap()
    };
    let mut rng = Rng::new(31);
    let mut search = TurningSearch::default();
    for _ in 0..100 {
        let turning =
            Turning::new(Rotation::IDENTITY, rng.direction(), Rotation::IDENTITY).unwrap();
        for (order, at) in [(EulerOrder::YXY, 0.0), (EulerOrder::ZYX, 0.0), (EulerOrder::ZYX, 20.0)]
        {
            let limit = thin(order, [at, at]);
            let of = [Turned { limit: &limit, turning }];
            assert!(search.allowed(of).is_empty());
            let angle = Angle::from_degrees(110.0);
            let near = NearAngle { angle, step: Angle::ZERO, hard: false };
            assert!(!search.best(of, None).inside && !search.best(of, Some(near)).inside);
        }
        // With some width there are arcs, around 0 at least.
        let limit = thin(EulerOrder::ZYX, [-1.0, 1.0]);
        let arcs = search.allowed([Turned { limit: &limit, turning }]);
        assert!(arcs.iter().any(|arc| arc.contains(Angle::ZERO)), "{arcs:?}");
    }
}
