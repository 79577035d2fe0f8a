//! A bind pose that the limits do not allow: found, and a pose to start from instead (A10).

use glam::DVec3;

use crate::limits::{EulerBox, Limit, PreparedLimit};
use crate::math::{
    Angle, Arc, EulerAngles, Rotation, Rotations, direct_rotation, mean_rotation, trig, unit,
};

/// Which pose a joint starts from whose bind pose is not allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// The sampled pose that is nearest to the bind pose.
    #[default]
    Nearest,
    /// The middle of every range.
    MidRange,
    /// The mean of the samples, if it is allowed; the nearest sampled pose if not.
    Mean,
}

/// What to do about a bind pose that is not allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// An allowed rotation relative to rest: `rest⁻¹ · local`, which is `center · m`.
    pub(crate) rotation: Rotation,
    /// How far the bind pose is outside.
    pub(crate) excess: Angle,
    /// Whether the wanted repair was not to be had, so that this is the nearest sampled pose.
    pub(crate) fell_back: bool,
}

/// A mean vector of unit vectors shorter than this is none: numbers in files have six decimals of a
/// degree, 1e-8 rad.
const VANISHED: f64 = 1e-7;

/// Where a joint starts whose bind pose its limit does not allow; `None` if that is allowed, or if
/// there are no samples.
///
/// # Source
///
/// M. Engell-Nørregård, K. Erleben, "Estimation of joint types and joint limits from motion capture
/// data" (2009), section 2.4, eq 20 to 24. As printed, eq 20 leaves out a bind pose at the lower end,
/// and the mean of eq 24 is said to be allowed always: samples that dwell at both ends of 0° to 240°
/// have the mean 300°. Here the ends count, and a mean that is not allowed, or that is none because
/// the vectors of eq 23 add up to nothing, gives way to the nearest sampled pose.
///
/// # Convention
///
/// `prepared` is `limit`. Samples are relative to rest, and so is the answer; the bind pose is the
/// identity. The nearest sample is taken to the nearest rotation that the limit allows, which is
/// itself unless the limit was made for denoised samples.
///
/// The middle of a swing is the direction that [`PreparedSwing::rest`](crate::limits::PreparedSwing::rest)
/// gives. The mean is that of each angle of a hinge and of an Euler box, as in the paper; of the other
/// kinds it is that of the rotations, of a universal joint the nearest rotation to it on its surface.
pub(crate) fn start(
    limit: &Limit,
    prepared: &PreparedLimit,
    center: Rotation,
    samples: &[&Rotations],
    repair: Repair,
) -> Option<Start> {
    let back = center.inverse();
    if prepared.contains(back) {
        return None;
    }
    let nearest = nearest_to_rest(samples)?;
    let excess = Angle::from_radians((-prepared.distance(back).radians()).max(0.0));
    let wanted = match repair {
        Repair::Nearest => None,
        Repair::MidRange => mid_range(limit, prepared),
        Repair::Mean => {
            let all = samples.iter().flat_map(|clip| clip.iter());
            mean(limit, prepared, all.map(|q| back * q))
        }
    };
    let wanted = wanted.filter(|m| prepared.contains(*m));
    let m = wanted.unwrap_or_else(|| prepared.project_rotation(back * nearest));
    let fell_back = repair != Repair::Nearest && wanted.is_none();
    Some(Start { rotation: center * m, excess, fell_back })
}

/// The rotation with the smallest angle: that with the largest |w|, the first of several.
fn nearest_to_rest(samples: &[&Rotations]) -> Option<Rotation> {
    let mut best = None;
    let mut largest = f64::NEG_INFINITY;
    for clip in samples {
        for (i, w) in clip.xyzw()[3].iter().enumerate() {
            if w.abs() > largest {
                (best, largest) = (Some((clip, i)), w.abs());
            }
        }
    }
    best.map(|(clip, i)| clip.at(i))
}

/// Eq 22.
fn mid_range(limit: &Limit, prepared: &PreparedLimit) -> Option<Rotation> {
    match limit {
        Limit::Free | Limit::Locked => Some(Rotation::IDENTITY),
        Limit::Hinge { axis, arc } => turn(*axis, arc.center()),
        Limit::Universal { axes, arcs } => {
            Some(turn(axes[0], arcs[0].center())? * turn(axes[1], arcs[1].center())?)
        }
        Limit::EulerBox(of) => of.order.to_rotation(of.arcs.map(Arc::center)),
        Limit::SwingTwist(of) => {
            let swing = prepared.swing()?;
            let (bone, direction) = (of.axes.bone(), swing.rest());
            let direct = direct_rotation(bone, direction)?.rotation;
            Some(direct * turn(bone, swing.twist(direction)?.center())?)
        }
    }
}

fn turn(axis: DVec3, angle: Angle) -> Option<Rotation> {
    Rotation::from_axis_angle(axis, angle)
}

fn mean(
    limit: &Limit,
    prepared: &PreparedLimit,
    moves: impl Iterator<Item = Rotation>,
) -> Option<Rotation> {
    match limit {
        Limit::Hinge { axis, .. } => {
            let axis = unit(*axis)?;
            turn(axis, circular_mean(moves.map(|m| vector_about(axis, m)))?)
        }
        Limit::EulerBox(of) => mean_of_angles(of, moves),
        Limit::Universal { .. } => mean_of_rotations(moves).map(|m| prepared.project_rotation(m)),
        _ => mean_of_rotations(moves),
    }
}

fn mean_of_rotations(moves: impl Iterator<Item = Rotation>) -> Option<Rotation> {
    mean_rotation(moves.map(|m| (m, 1.0))).filter(|mean| mean.unique).map(|mean| mean.rotation)
}

/// Cosine and sine of the angle 2 atan2(v · axis, w) of a rotation (A7), without finding it.
fn vector_about(axis: DVec3, m: Rotation) -> [f64; 2] {
    let q = m.quat();
    let (sin, cos) = (DVec3::new(q.x, q.y, q.z).dot(axis), q.w);
    let square = sin * sin + cos * cos;
    if square == 0.0 {
        // A half turn about an axis across: any angle will do.
        return [1.0, 0.0];
    }
    [(cos * cos - sin * sin) / square, 2.0 * sin * cos / square]
}

/// Eq 23 and 24; `None` if the mean vector vanishes.
fn circular_mean(vectors: impl Iterator<Item = [f64; 2]>) -> Option<Angle> {
    let (mut x, mut y, mut n) = (0.0, 0.0, 0.0);
    for vector in vectors {
        x += vector[0];
        y += vector[1];
        n += 1.0;
    }
    (trig::hypot(x, y) > VANISHED * n).then(|| Angle::from_radians(trig::atan2(y, x)))
}

fn mean_of_angles(of: &EulerBox, moves: impl Iterator<Item = Rotation>) -> Option<Rotation> {
    let all: Vec<[Angle; 3]> =
        moves.map(|m| EulerAngles::from_rotation(of.order, m).angles).collect();
    let mut mean = [Angle::ZERO; 3];
    for (i, mean) in mean.iter_mut().enumerate() {
        let vector = |angles: &[Angle; 3]| {
            let (sin, cos) = trig::sin_cos(angles[i].radians());
            [cos, sin]
        };
        *mean = circular_mean(all.iter().map(vector))?;
    }
    of.order.to_rotation(mean)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::limits::{SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit};
    use crate::math::{EulerOrder, SwingAxes};
    use crate::synth::Rng;

    fn about_y(degrees: f64) -> Rotation {
        Rotation::about_y(Angle::from_degrees(degrees))
    }

    /// The angle that a hinge about y with this arc starts from, and whether that is a fallback.
    fn hinge(arc: [f64; 2], samples: &[f64], repair: Repair) -> Option<(f64, bool)> {
        let limit =
            Limit::Hinge { axis: DVec3::Y, arc: Arc::from_degrees(arc[0], arc[1]).unwrap() };
        let prepared = limit.prepare().unwrap();
        let samples: Rotations = samples.iter().map(|d| about_y(*d)).collect();
        let start = start(&limit, &prepared, Rotation::IDENTITY, &[&samples], repair)?;
        assert!(prepared.contains(start.rotation));
        let v = start.rotation.log();
        Some((Angle::from_radians(v.y).degrees().round(), start.fell_back))
    }

    #[test]
    fn a10_eq_20_and_21_count_the_ends_as_allowed() {
        for arc in [[0.0, 90.0], [-90.0, 0.0], [0.0, 0.0], [-10.0, 10.0], [300.0, 420.0]] {
            assert_eq!(hinge(arc, &[5.0], Repair::Nearest), None, "{arc:?}");
        }
        assert!(hinge([1.0, 90.0], &[5.0], Repair::Nearest).is_some());
        assert!(hinge([20.0, 350.0], &[25.0], Repair::Nearest).is_some());
    }

    #[test]
    fn a10_the_nearest_sampled_pose_is_the_default() {
        assert_eq!(Repair::default(), Repair::Nearest);
        let samples = [40.0, 30.0, 90.0, 60.0];
        assert_eq!(hinge([30.0, 90.0], &samples, Repair::Nearest), Some((30.0, false)));
        // The way round the back is shorter.
        assert_eq!(
            hinge([100.0, 330.0], &[100.0, 200.0, 330.0], Repair::Nearest),
            Some((-30.0, false))
        );
        assert_eq!(hinge([30.0, 90.0], &[], Repair::Nearest), None);
    }

    #[test]
    fn a10_eq_22_takes_the_middle_of_the_range() {
        assert_eq!(hinge([30.0, 90.0], &[31.0], Repair::MidRange), Some((60.0, false)));
        // Not (100 + 330 − 360) / 2.
        assert_eq!(hinge([100.0, 330.0], &[150.0], Repair::MidRange), Some((-145.0, false)));
    }

    #[test]
    fn a10_eq_23_and_24_take_the_circular_mean() {
        let samples = [30.0, 40.0, 80.0];
        assert_eq!(hinge([30.0, 90.0], &samples, Repair::Mean), Some((50.0, false)));
        // Numbers around 180° have their mean there, not at 0°.
        let samples = [170.0, -170.0, 175.0, -175.0];
        let (found, fell_back) = hinge([170.0, 190.0], &samples, Repair::Mean).unwrap();
        assert!(found.abs() == 180.0 && !fell_back, "{found}");
    }

    #[test]
    fn a10_a_mean_in_the_gap_is_seen_and_the_nearest_sample_taken() {
        // Dwelling at both ends of 0° to 240°: the mean is 300°. Turned by 20°, so that rest is
        // outside.
        let samples: Vec<f64> =
            (0..100).map(|i| if i % 2 == 0 { 20.0 } else { 260.0 }).chain([140.0]).collect();
        let vectors = samples.iter().map(|d| vector_about(DVec3::Y, about_y(*d)));
        let mean = circular_mean(vectors).unwrap().degrees();
        assert!((mean + 40.0).abs() < 1.0, "320° as printed: {mean}");
        assert_eq!(hinge([20.0, 260.0], &samples, Repair::Mean), Some((20.0, true)));
    }

    #[test]
    fn a10_gives_up_the_mean_when_it_vanishes() {
        let samples = [30.0, 150.0, 270.0];
        let vectors = samples.iter().map(|d| vector_about(DVec3::Y, about_y(*d)));
        assert_eq!(circular_mean(vectors), None);
        assert_eq!(hinge([30.0, 270.0], &samples, Repair::Mean), Some((30.0, true)));
    }

    #[test]
    fn a10_every_repair_of_every_kind_is_allowed_and_off_center_too() {
        let arc = |a, b| Arc::from_degrees(a, b).unwrap();
        let limits = [
            Limit::Locked,
            Limit::Hinge { axis: DVec3::new(0.6, 0.0, 0.8), arc: arc(20.0, 140.0) },
            Limit::Universal {
                axes: [DVec3::X, DVec3::Z],
                arcs: [arc(20.0, 60.0), arc(-80.0, -15.0)],
            },
            Limit::EulerBox(EulerBox {
                order: EulerOrder::ZYZ,
                arcs: [arc(170.0, 220.0), arc(30.0, 80.0), arc(-20.0, 10.0)],
            }),
            Limit::SwingTwist(SwingTwistLimit {
                axes: SwingAxes::new(DVec3::X, None).unwrap(),
                swing: SwingLimit::Ellipse {
                    rx: Angle::from_degrees(30.0),
                    ry: Angle::from_degrees(20.0),
                },
                twist: TwistLimit {
                    bounds: TwistBounds::Arc(arc(40.0, 70.0)),
                    ..TwistLimit::default()
                },
            }),
        ];
        let mut rng = Rng::new(9);
        for limit in limits {
            let prepared = limit.prepare().unwrap();
            for center in [Rotation::IDENTITY, about_y(100.0), rng.rotation()] {
                // Some a little outside, as denoised limits leave them.
                let samples: Rotations = (0..50)
                    .map(|_| {
                        let noise = rng.direction() * 0.02;
                        center * prepared.project(rng.rotation()) * Rotation::exp(noise).unwrap()
                    })
                    .collect();
                for repair in [Repair::Nearest, Repair::MidRange, Repair::Mean] {
                    let Some(start) = start(&limit, &prepared, center, &[&samples], repair) else {
                        assert!(prepared.contains(center.inverse()), "{limit:?}");
                        continue;
                    };
                    assert!(start.excess.radians() > 0.0);
                    let m = center.inverse() * start.rotation;
                    assert!(prepared.distance(m).radians() > -1e-9, "{limit:?} {repair:?}");
                    assert!(repair != Repair::MidRange || !start.fell_back, "{limit:?}");
                    let nearest = samples.iter().map(|q| q.angle().radians()).fold(PI, f64::min);
                    if repair == Repair::Nearest {
                        let found = start.rotation.angle().radians();
                        assert!((found - nearest).abs() < 0.1, "{limit:?}: {found} {nearest}");
                    }
                }
            }
        }
    }
}
