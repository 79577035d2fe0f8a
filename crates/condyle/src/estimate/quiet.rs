//! Noise taken off the ends of what one clip shows of a joint, for summaries.

use glam::{DQuat, DVec3};

use super::arcs::{self, Range};
use super::directions;
use super::hinge::Hinge;
use super::kinds::{Decision, Evidence};
use super::moments::Moments;
use super::universal::UniversalJoint;
use crate::math::{Angle, Arc, Kernel, Level, Rotation, Rotations, turn_directly};
use crate::rig::JointKind;

/// The samples of one clip with the noise taken off the ends, as [`entry`](super::joint::entry) does;
/// `None` if they stay as they are. Only what is beyond an end moves, and only along the joint's own
/// motion.
pub(super) fn quiet(
    rotations: &Rotations,
    moments: &Moments,
    evidence: &Evidence,
    decision: &Decision,
    bone: impl FnOnce() -> DVec3,
) -> Option<Rotations> {
    if decision.noise <= 0.0 {
        return None;
    }
    match decision.kind {
        JointKind::Hinge => {
            let hinge = Hinge::fit(&evidence.spread, moments, decision.noise);
            let far = far_out(&hinge_sectors(&hinge, rotations), decision.noise);
            let angles = hinge.angles(&only(rotations, &far));
            let beyond = beyond(&far, angles, decision.noise)?;
            moved(rotations, &beyond, |q, back| {
                Rotation::from_axis_angle(hinge.axis, back).map_or(q, |turn| q * turn)
            })
        }
        JointKind::Universal => {
            let fit = evidence.universal.as_ref()?;
            let matrices = &evidence.matrices;
            let joint = UniversalJoint::new(fit, &evidence.spread, matrices, decision.noise)?;
            let noise = joint.noise_of_angles(decision.noise);
            let [first, second] =
                universal_sectors(&joint, rotations).map(|sectors| far_out(&sectors, noise));
            let [alphas, _] = joint.angles(&only(rotations, &first));
            let [_, betas] = joint.angles(&only(rotations, &second));
            let first = beyond(&first, alphas, noise)?;
            let second = beyond(&second, betas, noise)?;
            let turned = |k: usize, back: Angle| Rotation::from_axis_angle(joint.axes[k], back);
            let one = moved(rotations, &first, |q, back| {
                let center = joint.center;
                turned(0, back).map_or(q, |turn| center * turn * center.inverse() * q)
            });
            let both = moved(one.as_ref().unwrap_or(rotations), &second, |q, back| {
                turned(1, back).map_or(q, |turn| q * turn)
            });
            both.or(one)
        }
        JointKind::Ball if decision.noise >= directions::LEAST => {
            let bone = bone();
            let pointing: Vec<DVec3> = rotations.iter().map(|q| q * bone).collect();
            let settled = directions::settled(&pointing, decision.noise);
            let mut moved = rotations.clone();
            turn_directly(Level::best(), &pointing, &settled, &mut moved);
            Some(moved)
        }
        _ => None,
    }
}

/// Some of the rotations.
fn only(rotations: &Rotations, some: &[usize]) -> Rotations {
    Rotations::from_columns(rotations.xyzw().map(|c| some.iter().map(|i| c[*i]).collect()))
}

/// Samples that are beyond the ends of the range without noise, with how far to turn each back; `far`
/// are the numbers of those that decide where the ends are.
fn beyond(far: &[usize], angles: Vec<f64>, noise: f64) -> Option<Vec<(usize, Angle)>> {
    let clips = [angles];
    let arc = arcs::range(&clips, Range { noise, coverage: 1.0 })?;
    let back = far.iter().zip(&clips[0]).filter_map(|(i, angle)| Some((*i, to_end(arc, *angle)?)));
    Some(back.collect())
}

/// How far to turn an angle to bring it to the end of an arc; `None` if it is inside.
fn to_end(arc: Arc, radians: f64) -> Option<Angle> {
    let angle = Angle::from_radians(radians);
    if arc.contains(angle) {
        return None;
    }
    let end = arc.nearest(angle)?;
    Some(Angle::from_radians(end.radians() - radians).wrapped())
}

/// The rotations with some of them changed; `None` if there are none to change.
fn moved(
    rotations: &Rotations,
    some: &[(usize, Angle)],
    turned: impl Fn(Rotation, Angle) -> Rotation,
) -> Option<Rotations> {
    if some.is_empty() {
        return None;
    }
    let mut moved = rotations.clone();
    for (i, back) in some {
        moved.set(*i, turned(rotations.at(*i), *back));
    }
    Some(moved)
}

/// The circle is cut into so many sectors, a quarter of them in each quadrant.
///
/// The angle of (x, y) is told by y / (|x| + |y|) and the signs, which grow with it from −2 to 2
/// without a trigonometric function. A sector is between 1/64 and 1/32 of a radian wide, and half of
/// the sectors in a row are half a turn, wherever they begin.
const SECTORS: usize = 256;

/// The least width of a sector, radians.
const WIDTH: f64 = 1.0 / 64.0;

/// 1.5 · 2⁵²: what is added to it is rounded to an integer, which is then found in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The sector of the angle of (x, y). Of (0, 0) that of 0, as [`trig::atan2`](crate::math::trig) has
/// it.
#[inline(always)]
#[allow(clippy::inline_always, reason = "in a kernel")]
fn sector(x: f64, y: f64) -> u8 {
    let sum = x.abs() + y.abs();
    let along = y / if sum > 0.0 { sum } else { 1.0 };
    let behind = if y < 0.0 { -2.0 - along } else { 2.0 - along };
    let along = if x < 0.0 { behind } else { along };
    // 2 and −2 are the same place, and so are 256 and 0 in eight bits.
    let scaled = (along + 2.0) * (SECTORS as f64 / 4.0) - 0.5;
    #[allow(clippy::cast_possible_truncation, reason = "the low bits")]
    let sector = (scaled + ROUND).to_bits() as u8;
    sector
}

/// The samples that decide where the ends of their range are, and those beyond these ends: the numbers
/// of all that are no farther from an end than four times the noise. All of them if the range is
/// wider than half a turn, where it takes a closer look to see which gap is the largest.
fn far_out(sectors: &[u8], noise: f64) -> Vec<usize> {
    let mut counts = [0_usize; SECTORS];
    sectors.iter().for_each(|s| counts[usize::from(*s)] += 1);
    let Some([first, last]) = ends(&counts.map(|count| count > 0)) else {
        return (0..sectors.len()).collect();
    };
    // The end is somewhere in its sector; rounding may have moved samples into the next.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 256")]
    let reach = (4.0 * noise / WIDTH + 3.0).min(SECTORS as f64) as usize;
    let mut far = [false; SECTORS];
    for k in 0..reach {
        far[(first + k) % SECTORS] = true;
        far[(last + SECTORS - k) % SECTORS] = true;
    }
    let count = counts.iter().zip(far).map(|(count, far)| if far { *count } else { 0 }).sum();
    let mut numbers = Vec::with_capacity(count);
    numbers.extend((0..sectors.len()).filter(|i| far[usize::from(sectors[*i])]));
    numbers
}

/// The first and the last sector of a range that is certainly narrower than half a turn.
fn ends(filled: &[bool; SECTORS]) -> Option<[usize; 2]> {
    let start = filled.iter().position(|filled| *filled)?;
    let mut empty = 0;
    for i in start + 1..=start + SECTORS {
        if !filled[i % SECTORS] {
            empty += 1;
            continue;
        }
        if empty > SECTORS / 2 + 2 {
            return Some([i % SECTORS, (i - empty - 1) % SECTORS]);
        }
        empty = 0;
    }
    None
}

/// The sectors of the angles of a hinge.
///
/// `tan θ/2` is `v · axis / w` of `center⁻¹ q`, both linear in q; θ itself is the angle of
/// (w² − s², 2 s w), whatever the sign of q.
fn hinge_sectors(hinge: &Hinge, rotations: &Rotations) -> Vec<u8> {
    let back = hinge.center.inverse().quat();
    let parts = [DVec3::X, DVec3::Y, DVec3::Z].map(|e| back * DQuat::from_xyzw(e.x, e.y, e.z, 0.0));
    let parts = [parts[0], parts[1], parts[2], back];
    let sin = parts.map(|m| DVec3::new(m.x, m.y, m.z).dot(hinge.axis));
    let cos = parts.map(|m| m.w);
    let mut sectors = vec![0; rotations.len()];
    Level::best().run(Halves { sin, cos, rotations: rotations.xyzw(), sectors: &mut sectors });
    sectors
}

struct Halves<'a> {
    sin: [f64; 4],
    cos: [f64; 4],
    rotations: [&'a [f64]; 4],
    sectors: &'a mut [u8],
}

#[allow(clippy::inline_always, reason = "a kernel")]
impl Kernel for Halves<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { sin, cos, rotations, sectors } = self;
        let n = sectors.len();
        let [x, y, z, w] = rotations.map(|c| &c[..n]);
        for (i, to) in sectors.iter_mut().enumerate() {
            let along = |by: [f64; 4]| by[0] * x[i] + by[1] * y[i] + by[2] * z[i] + by[3] * w[i];
            let (s, c) = (along(sin), along(cos));
            *to = sector(c * c - s * s, 2.0 * s * c);
        }
    }
}

/// The sectors of the two angles of a universal joint.
///
/// The first is that of q b about c a, the second that of q⁻¹ c a about b, backwards; c is the
/// joint's center. See [`UniversalJoint::angles`].
fn universal_sectors(joint: &UniversalJoint, rotations: &Rotations) -> [Vec<u8>; 2] {
    let ([a, b], center) = (joint.axes, joint.center);
    let cos = a.dot(b);
    let both = [
        Turned { sign: 1.0, by: b, x: center * (b - a * cos), y: center * a.cross(b) },
        Turned { sign: -1.0, by: center * a, x: a - b * cos, y: a.cross(b) },
    ];
    both.map(|turned| {
        let mut sectors = vec![0; rotations.len()];
        let rotations = rotations.xyzw();
        Level::best().run(Turns { turned, rotations, sectors: &mut sectors });
        sectors
    })
}

/// The place of a vector in a plane after it was turned by a rotation, or back if the sign is −1.
struct Turned {
    sign: f64,
    by: DVec3,
    x: DVec3,
    y: DVec3,
}

struct Turns<'a> {
    turned: Turned,
    rotations: [&'a [f64]; 4],
    sectors: &'a mut [u8],
}

#[allow(clippy::inline_always, reason = "a kernel")]
impl Kernel for Turns<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { turned: Turned { sign, by, x: to_x, y: to_y }, rotations, sectors } = self;
        let n = sectors.len();
        let [x, y, z, w] = rotations.map(|c| &c[..n]);
        for (i, to) in sectors.iter_mut().enumerate() {
            let v = DVec3::new(sign * x[i], sign * y[i], sign * z[i]);
            let across = v.cross(by);
            let turned = by + (across * w[i] + v.cross(across)) * 2.0;
            *to = sector(to_x.dot(turned), to_y.dot(turned));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::math::trig;
    use crate::synth::Rng;

    #[test]
    fn sectors_follow_the_angle_around() {
        let of = |angle: f64| {
            let (sin, cos) = trig::sin_cos(angle);
            usize::from(sector(3.0 * cos, 3.0 * sin))
        };
        let mut last = of(1e-9 - PI);
        let mut begun = 1e-9 - PI;
        for i in 1..100_000 {
            let angle = 1e-9 - PI + 2.0 * PI * f64::from(i) / 1e5;
            let here = of(angle);
            assert!(here == last || here == last + 1, "{angle} {last} {here}");
            if here != last {
                let width = angle - begun;
                assert!(width > WIDTH - 1e-4 && width < 2.0 * WIDTH + 1e-4, "{here} {width}");
                (last, begun) = (here, angle);
            }
            let across = of(angle - PI);
            let apart = (here + SECTORS - across) % SECTORS;
            assert!((127..=129).contains(&apart), "{angle} {apart}");
        }
        assert_eq!((sector(0.0, 0.0), sector(1.0, 0.0), of(0.0), last), (128, 128, 128, 255));
        for bad in [f64::NAN, f64::INFINITY] {
            let _ = (sector(bad, 1.0), sector(1.0, bad));
        }
    }

    #[test]
    fn sectors_of_hinges_and_universal_joints_are_those_of_their_angles() {
        let mut rng = Rng::new(4);
        for _ in 0..40 {
            let some: Rotations = (0..50).map(|_| rng.rotation()).collect();
            let hinge = Hinge { center: rng.rotation(), axis: rng.direction() };
            let axes = [rng.direction(), rng.direction()];
            let joint = UniversalJoint { center: rng.rotation(), axes };
            let near = |sector: u8, angle: f64| {
                let (sin, cos) = trig::sin_cos(angle);
                let apart = i32::from(sector) - i32::from(super::sector(cos, sin));
                assert!([0, 1, 255].contains(&apart.abs()), "{angle} {apart}");
            };
            let of_hinge = hinge_sectors(&hinge, &some);
            let of_universal = universal_sectors(&joint, &some);
            let (angles, two) = (hinge.angles(&some), joint.angles(&some));
            for i in 0..some.len() {
                near(of_hinge[i], angles[i]);
                (0..2).for_each(|k| near(of_universal[k][i], two[k][i]));
            }
        }
    }

    #[test]
    fn ends_from_far_samples_are_those_from_all() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let n = 1 + rng.below(2000);
            let noise = [1e-4, 0.003, 0.05][rng.below(3)];
            let (from, width) = (rng.between(-PI, PI), rng.between(0.0, 2.0 * PI));
            let angles: Vec<f64> = (0..n)
                .map(|_| from + width * rng.uniform() + noise * rng.normal())
                .map(|a| Angle::from_radians(a).wrapped().radians())
                .collect();
            let sectors: Vec<u8> = angles
                .iter()
                .map(|a| {
                    let (sin, cos) = trig::sin_cos(*a);
                    sector(cos, sin)
                })
                .collect();
            let far = far_out(&sectors, noise);
            assert!(width < 3.0 || n < 500 || far.len() == n, "{width}");
            let found = beyond(&far, far.iter().map(|i| angles[*i]).collect(), noise);
            let all: Vec<usize> = (0..n).collect();
            assert_eq!(found, beyond(&all, angles, noise), "{seed}");
        }
    }
}
