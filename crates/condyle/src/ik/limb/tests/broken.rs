//! What is broken, degenerate, tiny or huge gives rotations, and says so.

use arbitrary::{Result, Unstructured};

use super::*;
use crate::limits::{EulerBox, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit};
use crate::math::{EulerOrder, SwingAxes};

/// What is hard about numbers, more often than not.
fn number(u: &mut Unstructured<'_>) -> Result<f64> {
    const ODD: [f64; 16] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.25,
        0.3,
        1e-9,
        1e-16,
        1e-160,
        5e-324,
        1e9,
        1e150,
        1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
    ];
    Ok(match u.int_in_range(0..=3)? {
        0 => f64::from_bits(u.arbitrary()?),
        1 => f64::from(u.int_in_range(-1000..=1000_i32)?) * 1e-3,
        _ => *u.choose(&ODD)?,
    })
}

fn vector(u: &mut Unstructured<'_>) -> Result<DVec3> {
    Ok(match u.int_in_range(0..=4)? {
        0 => DVec3::new(number(u)?, number(u)?, number(u)?),
        1 => DVec3::X * number(u)?,
        2 => DVec3::ZERO,
        _ => {
            let part = |u: &mut Unstructured<'_>| -> Result<f64> {
                Ok(f64::from(u.int_in_range(-1000..=1000_i32)?) * 1e-3)
            };
            DVec3::new(part(u)?, part(u)?, part(u)?)
        }
    })
}

fn rotation(u: &mut Unstructured<'_>) -> Result<Rotation> {
    let axis = vector(u)?;
    Ok(Rotation::from_axis_angle(axis, Angle::from_radians(number(u)?)).unwrap_or_default())
}

fn arc(u: &mut Unstructured<'_>) -> Result<Arc> {
    let (min, width) = (u.int_in_range(-180..=180_i32)?, u.int_in_range(0..=360_i32)?);
    Ok(Arc::from_degrees(f64::from(min), f64::from(min + width)).unwrap())
}

fn limit(u: &mut Unstructured<'_>) -> Result<PreparedLimit> {
    let twist = TwistLimit { bounds: TwistBounds::Arc(arc(u)?), ..TwistLimit::default() };
    let corners = [(1.0, 0.8, 0.0), (1.0, 0.0, 0.9), (1.0, -0.7, 0.1), (1.0, 0.1, -0.6)];
    let corners = corners.map(|(x, y, z)| DVec3::new(x, y, z)).to_vec();
    let swing = match u.int_in_range(0..=2)? {
        0 => SwingLimit::Free,
        1 => SwingLimit::Ellipse { rx: Angle::from_degrees(70.0), ry: Angle::from_degrees(30.0) },
        _ => SwingLimit::Polygons(vec![corners]),
    };
    let axes = SwingAxes::new(DVec3::X, None).unwrap();
    let limit = match u.int_in_range(0..=5)? {
        0 => Limit::Free,
        1 => Limit::Locked,
        2 => Limit::Hinge { axis: DVec3::Y, arc: arc(u)? },
        3 => {
            Limit::EulerBox(EulerBox { order: EulerOrder::ZYZ, arcs: [arc(u)?, arc(u)?, arc(u)?] })
        }
        _ => Limit::SwingTwist(SwingTwistLimit { axes, swing, twist }),
    };
    Ok(limit.prepare().unwrap_or_else(|_| Limit::Free.prepare().unwrap()))
}

#[track_caller]
fn check(found: &LimbOutcome<'_>, what: &impl std::fmt::Debug) {
    for local in found.pose.locals {
        assert!((local.quat().length() - 1.0).abs() < 1e-9, "{found:?} {what:?}");
    }
    assert!(found.pose.miss_m >= 0.0 && found.pose.miss.radians() >= 0.0, "{found:?} {what:?}");
    assert!(found.pose.hinge().radians().is_finite(), "{found:?} {what:?}");
    assert!(found.swivel.radians().abs() <= PI, "{found:?} {what:?}");
    assert!(found.margins().iter().all(|m| m.radians().abs() <= 2.0 * PI), "{found:?} {what:?}");
}

#[test]
fn prop_c9_nothing_that_is_broken_gives_what_is_no_pose() {
    let mut scratch = LimbScratch::default();
    let (mut made, mut reached) = (0, 0);
    arbtest::arbtest(|u| {
        let parts = LimbParts {
            upper_m: vector(u)?,
            lower_m: vector(u)?,
            zeros: [rotation(u)?, rotation(u)?, rotation(u)?],
            axis: vector(u)?,
            arc: arc(u)?,
        };
        let (upper, end) = (limit(u)?, limit(u)?);
        let Some(limb) = Limb::new(&parts) else { return Ok(()) };
        let limb = limb.with_limits(upper, end);
        made += 1;
        let goal = LimbGoal {
            position_m: vector(u)?,
            rotation: if u.arbitrary()? { Some(rotation(u)?) } else { None },
        };
        let corners = [rotation(u)?, rotation(u)?];
        let (toward, angle) = (vector(u)?, Angle::from_radians(number(u)?));
        for swivel in [
            Swivel::Given { toward, angle },
            Swivel::At(angle),
            Swivel::Nearest(corners[0]),
            Swivel::BestMargin { near: None },
            Swivel::BestMargin { near: Some((corners[0], angle)) },
            Swivel::CornerSum(&corners),
            Swivel::CornerSum(&[]),
        ] {
            let found = limb.solve(&goal, swivel, &mut scratch);
            check(&found, &(&parts, &goal, &swivel));
            check(&limb.clamped(&goal, &found), &(&parts, &goal, &swivel));
            // What it says is what forward kinematics say.
            let size = parts.upper_m.length() + parts.lower_m.length();
            if found.pose.reach == Reach::Reached && goal.position_m.is_finite() && size > 1e-140 {
                let miss_m = (forward(&parts, found.pose.locals).0 - goal.position_m).length();
                assert!(miss_m <= 1e-6 * size, "{miss_m} {parts:?} {goal:?} {swivel:?}");
                reached += 1;
            }
        }
        Ok(())
    })
    .budget_ms(3000);
    assert!(made > 100 && reached > 100, "{made} {reached}");
}

/// Found by a fuzzer: where the lower bone is along the axis and the upper one is next to nothing, the side
/// of the hinge is rounding, and half a turn about it missed the goal.
#[test]
fn c9_a_lower_bone_along_the_axis_reaches() {
    let mut rng = Rng::new(21);
    for round in 0..2000 {
        let axis = rng.direction();
        let lower_m = axis * rng.between(0.1, 1.0);
        let zeros = [rng.rotation(), rng.rotation(), rng.rotation()];
        let tiny = [0.0, 1e-300, 1e-139, 1e-16, 1e-14, 1e-12, 1e-10][round % 7];
        let upper_m = rng.direction() * tiny;
        let arc = Arc::point(Angle::from_radians(rng.between(-3.0, 3.0))).unwrap();
        let parts = LimbParts { upper_m, lower_m, zeros, axis, arc };
        let limb = Limb::new(&parts).unwrap();
        let locals = posed(&mut rng, &parts, arc.min().radians());
        let (position_m, _) = forward(&parts, locals);
        let goal = LimbGoal { position_m, rotation: None };
        let found = limb.pose_toward(&goal, rng.direction());
        let miss_m = (forward(&parts, found.locals).0 - position_m).length();
        assert!(found.reach != Reach::Reached || miss_m < 1e-9, "{tiny:e}: {miss_m:e}");
    }
}

#[test]
fn c9_degenerate_limbs_and_goals_give_rotations() {
    let mut rng = Rng::new(6);
    let odd = [
        DVec3::ZERO,
        DVec3::X,
        DVec3::X * 1e-300,
        DVec3::X * 1e150,
        DVec3::NAN,
        DVec3::INFINITY,
        DVec3::new(1e-9, 1.0, 0.0),
        -DVec3::X,
    ];
    let arcs =
        [Arc::FULL, Arc::point(Angle::ZERO).unwrap(), Arc::from_degrees(0.0, 150.0).unwrap()];
    let mut scratch = LimbScratch::default();
    let mut made = 0;
    for upper_m in odd {
        for lower_m in odd {
            for axis in odd {
                for arc in arcs {
                    let zeros = [rng.rotation(), Rotation::IDENTITY, rng.rotation()];
                    let Some(limb) = Limb::new(&LimbParts { upper_m, lower_m, zeros, axis, arc })
                    else {
                        continue;
                    };
                    made += 1;
                    for position_m in odd {
                        let goal = LimbGoal { position_m, rotation: Some(rng.rotation()) };
                        for swivel in [
                            Swivel::Given {
                                toward: odd[made % 8],
                                angle: Angle::from_radians(1.0),
                            },
                            Swivel::Nearest(rng.rotation()),
                            Swivel::BestMargin { near: None },
                        ] {
                            check(&limb.solve(&goal, swivel, &mut scratch), &goal);
                        }
                    }
                }
            }
        }
    }
    assert!(made > 100);
}

/// The arm straightens, the goal goes through the upper joint, the hinge comes to the end of its arc: the
/// distance from the upper joint to the end goes along without a jump.
#[test]
fn c9_the_ends_of_the_reach_are_met_without_a_jump() {
    let mut rng = Rng::new(8);
    let mut met = [0; 4];
    for _ in 0..300 {
        let parts = random(&mut rng, 15.0);
        let limb = Limb::new(&parts).unwrap();
        let to = rng.direction();
        let mut before: Option<f64> = None;
        for i in 0..=2000 {
            let far = 1.2 * f64::from(i) / 2000.0;
            let goal = LimbGoal { position_m: to * far, rotation: None };
            let found = limb.pose_near(&goal, Rotation::IDENTITY);
            let length = forward(&parts, found.locals).0.length();
            if let Some(before) = before {
                assert!((length - before).abs() < 1e-3, "{far}: {before} {length}");
            }
            before = Some(length);
            met[match found.reach {
                Reach::Reached => 0,
                Reach::TooFar => 1,
                Reach::TooNear => 2,
                Reach::HingeLimit => 3,
            }] += 1;
        }
    }
    assert!(met.iter().all(|n| *n > 100), "{met:?}");
}
