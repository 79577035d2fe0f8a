//! Direct rotations, and the twist that a path of them leaves behind.
#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]
#![allow(clippy::needless_range_loop, reason = "one index over several columns is what vectorises")]

use glam::{DQuat, DVec3};

use super::batch::{BLOCK, any_flagged, blocks, flag_if, redo_flagged};
use super::rotation::unit;
use super::{Angle, Kernel, Level, Rotation, Rotations, trig};

/// The shortest rotation from one direction to another.
#[derive(Clone, Copy, Debug)]
pub struct DirectRotation {
    /// Takes the first direction to the second.
    pub rotation: Rotation,
    /// The directions are opposite to within rounding, so that every axis perpendicular to them
    /// would do and `rotation` is a choice.
    pub opposite: bool,
}

/// Below this sine of the angle between them, two opposed directions count as exactly opposite.
///
/// A unit vector stored in f64 is off by up to about one ε; two of them and their cross product
/// make four. The choice moves the result by no more than this.
const OPPOSITE: f64 = 4.0 * f64::EPSILON;

/// The rotation that takes direction `a` to direction `b` along the great arc between them.
///
/// # Source
///
/// P. Baerlocher, R. Boulic, "Parametrization and range of motion of the ball-and-socket joint"
/// (2001), section 1.1:
///
/// ```text
///   R_D(a, b) = rotation about a × b by acos(a · b)
/// ```
///
/// Computed without acos. With θ the angle between unit vectors, 2 sin(θ/2) = |b − a| and
/// 2 cos(θ/2) = |a + b|, and `b − a` (or `a + b`) is exact where it is small, so
/// `a × b = a × (b − a) = a × (a + b)` is taken from the one that is:
///
/// ```text
///   a·b ≥ 0:  q = ( a × (b − a) / |a + b|,  |a + b| / 2 )
///   a·b < 0:  q = ( ĉ |b − a| / 2,  |c| / |b − a| ),  c = a × (a + b)
/// ```
///
/// # Convention
///
/// Active: `rotation · a = b`. Lengths of `a` and `b` do not matter.
///
/// # Domain and singularity
///
/// `None` if a vector is zero or not finite. Full accuracy near both ends. At `b = −a` the paper
/// leaves R_D undefined; we turn by π about the coordinate axis most nearly perpendicular to `a`
/// (the first, if several), made perpendicular, and set [`DirectRotation::opposite`]: for `a = z`
/// that is the x axis. Near there the axis is ill-conditioned: an error ε in `a` or `b` moves the
/// rotation by about `2ε / (π − θ)`.
///
/// # Example
///
/// ```
/// use condyle::glam::DVec3;
/// use condyle::math::direct_rotation;
/// let direct = direct_rotation(DVec3::X, DVec3::new(0.0, 3.0, 0.0)).unwrap();
/// assert!((direct.rotation * DVec3::X - DVec3::Y).length() < 1e-15);
/// assert!((direct.rotation * DVec3::Z - DVec3::Z).length() < 1e-15);
/// assert!(!direct.opposite);
/// assert!(direct_rotation(DVec3::X, DVec3::NEG_X).unwrap().opposite);
/// ```
#[must_use]
#[allow(clippy::doc_markdown, reason = "R_D is the paper's symbol")]
pub fn direct_rotation(a: DVec3, b: DVec3) -> Option<DirectRotation> {
    let (a, b) = (unit(a)?, unit(b)?);
    let sum = a + b;
    let difference = b - a;

    if a.dot(b) >= 0.0 {
        let c = a.cross(difference);
        let twice_cos = length(sum);
        let q = xyz_w(c / twice_cos, 0.5 * twice_cos);
        return Some(DirectRotation { rotation: Rotation::new(q)?, opposite: false });
    }

    let c = a.cross(sum);
    let sine = length(c);
    if sine <= OPPOSITE {
        let q = xyz_w(perpendicular(a)?, 0.0);
        return Some(DirectRotation { rotation: Rotation::new(q)?, opposite: true });
    }
    let twice_sin = length(difference);
    let q = xyz_w(c * (0.5 * twice_sin / sine), sine / twice_sin);
    Some(DirectRotation { rotation: Rotation::new(q)?, opposite: false })
}

/// Turns every rotation by the direct rotation from one direction to another, with the bits of
/// [`direct_rotation`]. Where the directions are the same, or one is none, a rotation stays as it is.
///
/// # Panics
///
/// If the columns have different lengths.
pub(crate) fn turn_directly(level: Level, from: &[DVec3], to: &[DVec3], all: &mut Rotations) {
    assert!([from.len(), to.len()] == [all.len(); 2], "columns of different lengths");
    level.run(TurnDirectly { from, to, all: all.xyzw_mut() });
}

struct TurnDirectly<'a> {
    from: &'a [DVec3],
    to: &'a [DVec3],
    all: [&'a mut [f64]; 4],
}

impl Kernel for TurnDirectly<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { from, to, all: [all_x, all_y, all_z, all_w] } = self;
        let mut flags = [0; BLOCK];
        let mut turns = [[0.0; BLOCK]; 4];
        for block in blocks(all_w.len()) {
            let n = block.len();
            let (from, to) = (&from[block.clone()][..n], &to[block.clone()][..n]);
            for e in 0..n.min(BLOCK) {
                let (turn, flag) = acute(from[e], to[e]);
                flags[e] = flag;
                for (turns, turn) in turns.iter_mut().zip(turn) {
                    turns[e] = turn;
                }
            }
            let x = &mut all_x[block.clone()][..n];
            let y = &mut all_y[block.clone()][..n];
            let z = &mut all_z[block.clone()][..n];
            let w = &mut all_w[block][..n];
            let any = any_flagged(n, &flags);
            for e in 0..n.min(BLOCK) {
                let turn = DQuat::from_xyzw(turns[0][e], turns[1][e], turns[2][e], turns[3][e]);
                let q = DQuat::from_xyzw(x[e], y[e], z[e], w[e]);
                let turned = turn * q;
                let stays = (from[e] == to[e]) | (flags[e] != 0);
                x[e] = if stays { q.x } else { turned.x };
                y[e] = if stays { q.y } else { turned.y };
                z[e] = if stays { q.z } else { turned.z };
                w[e] = if stays { q.w } else { turned.w };
            }
            if any {
                redo_flagged(&flags[..n], |e| {
                    if from[e] == to[e] {
                        return;
                    }
                    let Some(direct) = direct_rotation(from[e], to[e]) else { return };
                    let turned = direct.rotation.quat() * DQuat::from_xyzw(x[e], y[e], z[e], w[e]);
                    (x[e], y[e], z[e], w[e]) = (turned.x, turned.y, turned.z, turned.w);
                });
            }
        }
    }
}

/// [`direct_rotation`] of directions at an acute angle, or a flag.
#[inline(always)]
fn acute(a: DVec3, b: DVec3) -> ([f64; 4], u64) {
    let lengths = [a, b].map(|v| trig::length3_ordinary(v.x, v.y, v.z));
    let (a, b) = (a / lengths[0], b / lengths[1]);
    let (sum, difference) = (a + b, b - a);
    let ordinary = trig::ordinary_length3(lengths[0]) & trig::ordinary_length3(lengths[1]);
    let flag = flag_if(!(ordinary & (a.dot(b) >= 0.0)));
    let c = a.cross(difference);
    let twice_cos = trig::length3_ordinary(sum.x, sum.y, sum.z);
    let q = xyz_w(c / twice_cos, 0.5 * twice_cos);
    ((q * (1.0 / q.length())).to_array(), flag)
}

/// The twist about `start` that remains after walking from `start` through `path` and back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InducedTwist {
    /// In `[-π, π]`, right-handed about `start`.
    pub twist: Angle,
    /// Two neighbours of the walk are opposite, so the way between them, and with it the twist, is
    /// a choice.
    pub opposite: bool,
}

/// How far direct rotations along `start → path[0] → path[1] → … → start` turn about `start`.
///
/// # Source
///
/// P. Baerlocher, R. Boulic (2001), section 2.6, for `path = [a, b]` and `start = z`. Printed there
/// in the order of row vectors; with column vectors
///
/// ```text
///   R_z(τ_induced) = R_D(b, z) · R_D(a, b) · R_D(z, a)
/// ```
///
/// By the theorem of Gauss and Bonnet it is the signed area of the spherical polygon that the walk
/// bounds, positive when it is counter-clockwise seen from outside; the tests use that.
///
/// # Convention
///
/// Right-handed about `start`; z → x → y → z gives +π/2. Moving a limb from direction `a` to `b` by
/// a direct rotation adds `induced_twist(z, &[a, b])` to its twist relative to the direct swing.
///
/// # Domain and singularity
///
/// `None` if a vector is zero or not finite. Opposite neighbours have no direct rotation: see
/// [`direct_rotation`] for the choice and [`InducedTwist::opposite`] for the flag. Full turns are
/// not counted.
///
/// # Example
///
/// ```
/// use condyle::glam::DVec3;
/// use condyle::math::induced_twist;
/// let induced = induced_twist(DVec3::Z, &[DVec3::X, DVec3::Y]).unwrap();
/// assert!((induced.twist.degrees() - 90.0).abs() < 1e-13);
/// ```
#[must_use]
pub fn induced_twist(start: DVec3, path: &[DVec3]) -> Option<InducedTwist> {
    let start = unit(start)?;
    let mut here = start;
    let mut walked = Rotation::IDENTITY;
    let mut opposite = false;
    for &next in path.iter().chain([&start]) {
        let step = direct_rotation(here, next)?;
        walked = step.rotation * walked;
        opposite |= step.opposite;
        here = next;
    }
    let q = walked.canonical().quat();
    let sine = DVec3::new(q.x, q.y, q.z).dot(start);
    Some(InducedTwist { twist: Angle::from_radians(2.0 * trig::atan2(sine, q.w)), opposite })
}

/// A unit vector perpendicular to the unit vector `a`: the coordinate axis in which `a` has its
/// smallest component (the first, if several), made perpendicular.
pub(crate) fn perpendicular(a: DVec3) -> Option<DVec3> {
    let [x, y, z] = a.abs().to_array();
    let axis = if x <= y && x <= z {
        DVec3::X
    } else if y <= z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    unit(axis - a * a.dot(axis))
}

fn length(v: DVec3) -> f64 {
    trig::length3(v.x, v.y, v.z)
}

#[inline(always)]
fn xyz_w(v: DVec3, w: f64) -> DQuat {
    DQuat::from_xyzw(v.x, v.y, v.z, w)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;
    use crate::math::arbitrary;
    use crate::math::rotation::angle_between;

    /// Length. Measured worst 1.6e-15 over 5·10⁶ pairs, half of them along axes or nearly so; 2.5×
    /// headroom.
    const ARRIVES: f64 = 4e-15;

    #[test]
    fn prop_b1_a_direct_rotation_arrives_by_the_smallest_angle() {
        arbtest::arbtest(|u| {
            let (a, b) = (arbitrary::direction(u)?, arbitrary::direction(u)?);
            let direct = direct_rotation(a, b).unwrap();
            let gap = (direct.rotation * a - b).length();
            assert!(gap < ARRIVES, "{a} {b}: {gap:e}");
            let excess = direct.rotation.angle() - angle_between(a, b);
            assert!(excess.radians().abs() < 4e-15, "{a} {b}: {excess:?}");
            // No twisting: the axis is perpendicular to both.
            let q = direct.rotation.quat();
            assert!(DVec3::new(q.x, q.y, q.z).dot(a).abs() < 4e-15, "{a} {b}");
            Ok(())
        });
    }

    #[test]
    fn b1_opposite_directions_give_a_flagged_half_turn() {
        for a in [DVec3::X, DVec3::NEG_Y, DVec3::Z, DVec3::new(1.0, -2.0, 0.3)] {
            let direct = direct_rotation(a, -2.5 * a).unwrap();
            assert!(direct.opposite);
            assert!((direct.rotation * a + a).length() < 1e-15);
            assert!((direct.rotation.angle().radians() - PI).abs() < 1e-15);
        }
        // For z the half-turn is about x.
        let about = direct_rotation(DVec3::Z, DVec3::NEG_Z).unwrap().rotation.quat();
        assert_eq!(about.to_array(), [1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn nearly_opposite_directions_keep_their_own_axis() {
        // The arc from x towards −x + 1e-12 y turns about z, with all digits of the angle's
        // distance from π.
        let b = DVec3::new(-1.0, 1e-12, 0.0);
        let direct = direct_rotation(DVec3::X, b).unwrap();
        assert!(!direct.opposite);
        let q = direct.rotation.quat();
        assert!((q.z - 1.0).abs() < 1e-15 && q.x == 0.0 && q.y == 0.0, "{q}");
        assert!((q.w / 0.5e-12 - 1.0).abs() < 1e-15, "{q}");
    }

    #[test]
    fn prop_b1_near_both_ends_the_axis_stays_perpendicular_and_the_rotation_arrives() {
        arbtest::arbtest(|u| {
            let (a, side) = (arbitrary::direction(u)?, arbitrary::direction(u)?);
            let tiny = *u.choose(&[1e-3, 1e-6, 1e-9, 1e-12, 1e-14])?;
            for b in [a + side * tiny, -a + side * tiny] {
                let direct = direct_rotation(a, b).unwrap();
                let b = unit(b).unwrap();
                let gap = (direct.rotation * a - b).length();
                assert!(gap < ARRIVES, "{a} {b}: {gap:e}");
                let q = direct.rotation.quat();
                let axis = DVec3::new(q.x, q.y, q.z);
                assert!(axis.dot(a).abs() <= 2e-15 * axis.length(), "{a} {b} {axis}");
            }
            Ok(())
        });
    }

    #[test]
    fn the_smallest_direct_rotation_survives() {
        let q = direct_rotation(DVec3::X, DVec3::new(1.0, 1e-200, 0.0)).unwrap().rotation.quat();
        assert_eq!(q.z, 0.5e-200);
    }

    #[test]
    fn zero_and_non_finite_directions_are_refused() {
        for bad in [DVec3::ZERO, DVec3::NAN, DVec3::new(f64::INFINITY, 0.0, 0.0)] {
            assert!(direct_rotation(bad, DVec3::X).is_none());
            assert!(direct_rotation(DVec3::X, bad).is_none());
            assert!(induced_twist(DVec3::Z, &[DVec3::X, bad]).is_none());
            assert!(induced_twist(bad, &[]).is_none());
        }
        assert!(direct_rotation(DVec3::splat(1e-320), DVec3::splat(f64::MAX / 2.0)).is_some());
    }

    #[test]
    fn b11_z_to_x_to_y_induces_a_positive_quarter_turn() {
        let there = induced_twist(DVec3::Z, &[DVec3::X, DVec3::Y]).unwrap();
        assert!((there.twist.radians() - FRAC_PI_2).abs() < 1e-15);
        let back = induced_twist(DVec3::Z, &[DVec3::Y, DVec3::X]).unwrap();
        assert!((back.twist.radians() + FRAC_PI_2).abs() < 1e-15);
        assert!(!there.opposite && !back.opposite);
        assert!(induced_twist(DVec3::Z, &[DVec3::NEG_Z]).unwrap().opposite);
        assert_eq!(induced_twist(DVec3::Z, &[]).unwrap().twist, Angle::ZERO);
    }

    /// B11: it is what the direct swings to `a` and `b` disagree by.
    #[test]
    fn b11_moving_from_a_to_b_adds_the_induced_twist() {
        let (a, b) = (DVec3::new(0.3, 0.5, 0.4), DVec3::new(-0.2, 0.7, -0.1));
        let swing = |d| direct_rotation(DVec3::Z, d).unwrap().rotation;
        let moved = direct_rotation(a, b).unwrap().rotation * swing(a);
        let induced = induced_twist(DVec3::Z, &[a, b]).unwrap().twist;
        let expected = swing(b) * Rotation::about_z(induced);
        assert!(moved.distance(expected).radians() < 2e-15);
    }

    /// The area of a spherical triangle, by A. Van Oosterom and J. Strackee, "The solid angle of a
    /// plane triangle" (1983).
    fn area(a: DVec3, b: DVec3, c: DVec3) -> f64 {
        2.0 * trig::atan2(a.dot(b.cross(c)), 1.0 + a.dot(b) + b.dot(c) + c.dot(a))
    }

    #[test]
    fn prop_b11_induced_twist_is_the_area_of_the_triangle() {
        arbtest::arbtest(|u| {
            let mut direction = || arbitrary::direction(u);
            let (z, a, b) = (direction()?, direction()?, direction()?);
            // Near a pair of opposites both routes amplify rounding.
            if [z.dot(a), a.dot(b), b.dot(z)].iter().any(|d| *d < -0.99) {
                return Ok(());
            }
            let got = induced_twist(z, &[a, b]).unwrap().twist.radians();
            let error = (got - area(z, a, b)).abs();
            assert!(error < 1e-13 || (error - 2.0 * PI).abs() < 1e-13, "{z} {a} {b}: {error:e}");
            Ok(())
        });
    }

    /// With opposite and equal directions, such as are none, and of all lengths.
    #[test]
    fn many_turns_have_the_bits_of_single_ones() {
        let mut rng = crate::synth::Rng::new(7);
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for i in 0..2000 {
            let a = rng.direction();
            let near = a + rng.direction() * [1e-3, 1e-9, 1e-16, 0.3][i % 4];
            let b = match i % 11 {
                0 => a,
                1 => -a,
                2 => DVec3::ZERO,
                3 => DVec3::NAN,
                4 => rng.direction() * 1e-200,
                5 => rng.direction() * 1e200,
                6 => rng.direction(),
                _ => near,
            };
            from.push(if i % 13 == 0 { a * 1e-160 } else { a });
            to.push(b);
        }
        let given: Rotations = (0..from.len()).map(|_| rng.rotation()).collect();
        for level in Level::all() {
            for n in [0, 1, 127, 130, from.len()] {
                let mut all: Rotations = given.iter().take(n).collect();
                turn_directly(level, &from[..n], &to[..n], &mut all);
                for i in 0..n {
                    let (q, direct) = (given.at(i), direct_rotation(from[i], to[i]));
                    let direct = direct.filter(|_| from[i] != to[i]);
                    let one = direct.map_or(q, |direct| direct.rotation * q);
                    let bits = |q: Rotation| q.quat().to_array().map(f64::to_bits);
                    assert_eq!(bits(all.at(i)), bits(one), "{} {i}", level.name());
                }
            }
        }
    }
}
