//! Whole columns at once: Euler angles, swing and twist, logarithms, forward kinematics.
//!
//! Every function here gives, element by element, **the bits of its scalar counterpart**, at every
//! [`Level`], for every input; what it adds is speed. Outputs belong to the caller, nothing is
//! allocated, and angles are in radians.
//!
//! # How
//!
//! A loop takes a block of elements through straight-line code without branches, which the compiler
//! turns into packed instructions. That code is valid for ordinary numbers; it also computes a flag
//! for each element that is not (a lock, a half-turn, a component that would underflow), and flagged
//! elements are done again by the scalar function.
//!
//! Every inverse tangent is two passes of its own over the block. In one pass the whole chain of
//! operations from quaternion to angle is longer than what a processor can look ahead, and it waits
//! for results; short passes let it work on several groups of elements at once.
//!
//! ```
//! use condyle::math::{Angle, EulerOrder, Level, Rotation, Rotations, batch};
//! let swings: Rotations =
//!     (0..100).map(|i| Rotation::about_y(Angle::from_degrees(f64::from(i)))).collect();
//! let [mut a, mut b, mut c] = [(); 3].map(|()| vec![0.0; 100]);
//! batch::euler_angles(Level::best(), EulerOrder::ZYX, &swings, [&mut a, &mut b, &mut c]);
//! assert!((b[30].to_degrees() - 30.0).abs() < 1e-13);
//! ```

#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]
#![allow(clippy::needless_range_loop, reason = "one index over several columns is what vectorises")]

use std::f64::consts::{PI, TAU};
use std::ops::Range;

use glam::{DQuat, DVec3};

use super::euler::{self, LOCK};
use super::simd::Kernel;
use super::{
    AngleUnit, Axis, EulerAngles, EulerOrder, Level, Points, Rotation, Rotations, SwingAxes,
    SwingTwist, SwingTwistHalves, trig,
};

/// Elements that go through a loop before flags are looked at: their intermediate results stay in
/// the first-level cache.
pub(crate) const BLOCK: usize = 128;

/// A result of a block. Local arrays share no memory with the columns, which the compiler must know
/// to load and store several elements at once.
pub(crate) type Block = [f64; BLOCK];

pub(crate) const FLAG: u64 = 1 << 63;

/// The flag if `condition`.
#[inline(always)]
pub(crate) fn flag_if(condition: bool) -> u64 {
    if condition { FLAG } else { 0 }
}

pub(crate) fn blocks(n: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n).step_by(BLOCK).map(move |start| start..(start + BLOCK).min(n))
}

/// Calls `redo` for every flagged element.
#[cold]
#[inline(never)]
pub(crate) fn redo_flagged(flags: &[u64], mut redo: impl FnMut(usize)) {
    for (i, _) in flags.iter().enumerate().filter(|(_, flag)| **flag & FLAG != 0) {
        redo(i);
    }
}

/// Replaces `x` by [`trig::atan2`] of `y` and `x`, in two passes. Flags what must be done
/// again, unless `UPPER`.
#[inline(always)]
pub(crate) fn atan2_block<const UPPER: bool, const RIGHT: bool>(
    n: usize,
    y: &Block,
    x: &mut Block,
    flags: &mut [u64; BLOCK],
    eighths: &mut Block,
) {
    for e in 0..n.min(BLOCK) {
        let mut flag = 0;
        [x[e], eighths[e]] = trig::atan2_quotient::<UPPER, RIGHT>(y[e], x[e], &mut flag);
        if !UPPER {
            flags[e] |= flag;
        }
    }
    for e in 0..n.min(BLOCK) {
        x[e] = trig::atan2_of_quotient::<UPPER>([x[e], eighths[e]], y[e]);
    }
}

/// Whether any of a block is flagged.
#[inline(always)]
pub(crate) fn any_flagged(n: usize, flags: &[u64; BLOCK]) -> bool {
    let mut any = 0;
    for e in 0..n.min(BLOCK) {
        any |= flags[e];
    }
    any & FLAG != 0
}

#[inline(always)]
fn rotation([x, y, z, w]: [&[f64]; 4], i: usize) -> Rotation {
    Rotation::from_unit_unchecked(DQuat::from_xyzw(x[i], y[i], z[i], w[i]))
}

/// [`Rotation::canonical`] unless |w| is 0 or nearly so, and then a flag.
#[inline(always)]
fn canonical([x, y, z]: [f64; 3], w: f64) -> ([f64; 3], f64, u64) {
    let sign = w.to_bits() & FLAG;
    let w = w.abs();
    let v = [x, y, z].map(|c| f64::from_bits(c.to_bits() ^ sign) + 0.0);
    (v, w, flag_if(w < trig::TINY))
}

/// Checks that all columns are as long as the first says.
#[track_caller]
fn check_lengths<const N: usize>(n: usize, columns: [usize; N]) {
    assert!(columns.iter().all(|c| *c == n), "columns of different lengths: {n} and {columns:?}");
}

// ---------------------------------------------------------------------------------------------
// Euler angles

/// The Euler angles of every rotation, in radians, leftmost factor first: what
/// [`EulerAngles::from_rotation`] gives, which says the rest.
///
/// # Panics
///
/// If the columns have different lengths.
pub fn euler_angles(level: Level, order: EulerOrder, from: &Rotations, to: [&mut [f64]; 3]) {
    check_lengths(from.len(), to.each_ref().map(|c| c.len()));
    if order.is_proper() {
        level.run(ToEuler::<true> { order, from: from.xyzw(), to });
    } else {
        level.run(ToEuler::<false> { order, from: from.xyzw(), to });
    }
}

struct ToEuler<'a, const PROPER: bool> {
    order: EulerOrder,
    from: [&'a [f64]; 4],
    to: [&'a mut [f64]; 3],
}

impl<const PROPER: bool> Kernel for ToEuler<'_, PROPER> {
    /// The formulas of [`EulerAngles::from_rotation`] off the lock.
    #[inline(always)]
    fn run(self) {
        let Self { order, from, to: [to_a, to_b, to_c] } = self;
        let (i, j, k, hand) = order.frame();
        let third_sign = if PROPER { 1.0 } else { -hand };
        let (mut pw, mut pi, mut pj, mut pk) =
            ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let (mut middle_sin, mut middle_cos) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut flags, mut scratch) = ([0; BLOCK], [0.0; BLOCK]);
        for block in blocks(to_a.len()) {
            let n = block.len();
            let [qi, qj, qk, qw] = [from[i], from[j], from[k], from[3]].map(|c| &c[block.clone()]);
            for e in 0..n.min(BLOCK) {
                let ([qi, qj, qk], w, flag) = canonical([qi[e], qj[e], qk[e]], qw[e]);
                let qk = hand * qk;
                let p = if PROPER { [w, qi, qj, qk] } else { [w - qj, qi - qk, qj + w, qk + qi] };
                [pw[e], pi[e], pj[e], pk[e]] = p;
                let cos_square = p[0] * p[0] + p[1] * p[1];
                let sin_square = p[2] * p[2] + p[3] * p[3];
                let smaller = if sin_square < cos_square { sin_square } else { cos_square };
                flags[e] = flag | flag_if(smaller <= LOCK * LOCK);
                let product = (sin_square * cos_square).sqrt();
                (middle_sin[e], middle_cos[e]) = if PROPER {
                    (2.0 * product, cos_square - sin_square)
                } else {
                    (2.0 * (w * qj + qi * qk), product)
                };
            }
            if PROPER {
                atan2_block::<false, true>(n, &pi, &mut pw, &mut flags, &mut scratch);
                atan2_block::<true, false>(
                    n,
                    &middle_sin,
                    &mut middle_cos,
                    &mut flags,
                    &mut scratch,
                );
            } else {
                atan2_block::<false, false>(n, &pi, &mut pw, &mut flags, &mut scratch);
                atan2_block::<false, true>(
                    n,
                    &middle_sin,
                    &mut middle_cos,
                    &mut flags,
                    &mut scratch,
                );
            }
            atan2_block::<false, false>(n, &pk, &mut pj, &mut flags, &mut scratch);
            let (half_sum, middle, half_difference) = (&pw, &middle_cos, &pj);
            let a = &mut to_a[block.clone()][..n];
            let b = &mut to_b[block.clone()][..n];
            let c = &mut to_c[block.clone()][..n];
            for e in 0..n.min(BLOCK) {
                a[e] = wrap_once(half_sum[e] + half_difference[e]);
                b[e] = middle[e] + 0.0;
                c[e] = wrap_once(third_sign * (half_sum[e] - half_difference[e]));
            }
            if any_flagged(n, &flags) {
                let from = from.map(|c| &c[block.clone()]);
                redo_flagged(&flags[..n], |e| {
                    let angles = EulerAngles::from_rotation(order, rotation(from, e)).angles;
                    [a[e], b[e], c[e]] = angles.map(super::Angle::radians);
                });
            }
        }
    }
}

/// [`wrap`](super::angle::wrap) for an angle in [−2π, 2π], and +0 for a zero.
#[inline(always)]
fn wrap_once(radians: f64) -> f64 {
    let high = if radians > PI { TAU } else { 0.0 };
    let low = if radians <= -PI { TAU } else { 0.0 };
    (radians - high) + low
}

/// The rotation of every triple of Euler angles, in radians: what [`EulerOrder::to_rotation`]
/// gives. An angle that is not finite counts as 0.
///
/// # Panics
///
/// If the columns have different lengths.
pub fn euler_rotations(level: Level, order: EulerOrder, from: [&[f64]; 3], to: &mut Rotations) {
    let [first, second, third] = order.axes();
    let turns = [(first, from[0]), (second, from[1]), (third, from[2])];
    turn(level, Rotation::IDENTITY, &turns, AngleUnit::Radians, to.xyzw_mut());
}

/// Turns about coordinate axes, one after the other, from a rotation to start with, as columns x,
/// y, z and w. An angle that is not finite counts as 0.
///
/// ```text
///   to = start · A_1(v_1) · A_2(v_2) · …
/// ```
///
/// # Panics
///
/// If the columns have different lengths.
pub(crate) fn turn(
    level: Level,
    start: Rotation,
    turns: &[(Axis, &[f64])],
    unit: AngleUnit,
    to: [&mut [f64]; 4],
) {
    check_lengths(to[0].len(), to.each_ref().map(|c| c.len()));
    turns.iter().for_each(|(_, angles)| check_lengths(to[0].len(), [angles.len()]));
    match unit {
        AngleUnit::Degrees => level.run(Turn::<true> { start, turns, to }),
        AngleUnit::Radians => level.run(Turn::<false> { start, turns, to }),
    }
}

struct Turn<'a, const DEGREES: bool> {
    start: Rotation,
    turns: &'a [(Axis, &'a [f64])],
    to: [&'a mut [f64]; 4],
}

impl<const DEGREES: bool> Kernel for Turn<'_, DEGREES> {
    #[inline(always)]
    fn run(self) {
        let Self { start, turns, to: [to_x, to_y, to_z, to_w] } = self;
        let start = start.quat();
        let (mut sin, mut cos) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut x, mut y) = ([start.x; BLOCK], [start.y; BLOCK]);
        let (mut z, mut w) = ([start.z; BLOCK], [start.w; BLOCK]);
        let (first, others) = match turns {
            [first, others @ ..] => (Some(first), others),
            [] => (None, turns),
        };
        for block in blocks(to_w.len()) {
            let n = block.len();
            if let Some((axis, angles)) = first {
                half_sin_cos_block::<DEGREES>(&angles[block.clone()], &mut sin, &mut cos);
                for e in 0..n.min(BLOCK) {
                    let turn = (sin[e], cos[e]);
                    let DQuat { x: a, y: b, z: c, w: d } = start;
                    match axis {
                        Axis::X => [x[e], y[e], z[e], w[e]] = euler::turn([a, b, c, d], turn),
                        Axis::Y => [y[e], z[e], x[e], w[e]] = euler::turn([b, c, a, d], turn),
                        Axis::Z => [z[e], x[e], y[e], w[e]] = euler::turn([c, a, b, d], turn),
                    }
                }
            }
            for (axis, angles) in others {
                half_sin_cos_block::<DEGREES>(&angles[block.clone()], &mut sin, &mut cos);
                match axis {
                    Axis::X => turn_block(n, &sin, &cos, &mut x, &mut y, &mut z, &mut w),
                    Axis::Y => turn_block(n, &sin, &cos, &mut y, &mut z, &mut x, &mut w),
                    Axis::Z => turn_block(n, &sin, &cos, &mut z, &mut x, &mut y, &mut w),
                }
            }
            to_x[block.clone()].copy_from_slice(&x[..n]);
            to_y[block.clone()].copy_from_slice(&y[..n]);
            to_z[block.clone()].copy_from_slice(&z[..n]);
            to_w[block].copy_from_slice(&w[..n]);
        }
    }
}

/// Sine and cosine of half of every angle; those of 0 for one that is not finite.
#[inline(always)]
fn half_sin_cos_block<const DEGREES: bool>(angles: &[f64], sin: &mut Block, cos: &mut Block) {
    let n = angles.len().min(BLOCK);
    let mut any = 0;
    for e in 0..n {
        (sin[e], cos[e]) = if DEGREES {
            trig::sin_cos_half_degrees_kernel(angles[e])
        } else {
            trig::sin_cos_kernel(0.5 * angles[e])
        };
        any |= if angles[e].abs() <= trig::KERNEL_MAX { 0 } else { FLAG };
    }
    if any != 0 {
        half_sin_cos_far::<DEGREES>(angles, sin, cos);
    }
}

#[cold]
#[inline(never)]
fn half_sin_cos_far<const DEGREES: bool>(angles: &[f64], sin: &mut Block, cos: &mut Block) {
    for (e, &angle) in angles.iter().enumerate() {
        if angle.abs() <= trig::KERNEL_MAX {
            continue;
        }
        let radians = if DEGREES { angle.to_radians() } else { angle };
        let half = if radians.is_finite() { 0.5 * radians } else { 0.0 };
        (sin[e], cos[e]) = trig::sin_cos(half);
    }
}

#[inline(always)]
fn turn_block(
    n: usize,
    sin: &Block,
    cos: &Block,
    a: &mut Block,
    b: &mut Block,
    c: &mut Block,
    w: &mut Block,
) {
    for e in 0..n.min(BLOCK) {
        [a[e], b[e], c[e], w[e]] = euler::turn([a[e], b[e], c[e], w[e]], (sin[e], cos[e]));
    }
}

// ---------------------------------------------------------------------------------------------
// Angles

/// [`Rotation::angle_about`] an axis of every `back · q`, in radians.
///
/// # Panics
///
/// If the columns have different lengths.
pub(crate) fn angles_about(
    level: Level,
    back: Rotation,
    axis: DVec3,
    from: &Rotations,
    to: &mut [f64],
) {
    check_lengths(from.len(), [to.len()]);
    level.run(AnglesAbout { back, axis, from: from.xyzw(), to });
}

struct AnglesAbout<'a> {
    back: Rotation,
    axis: DVec3,
    from: [&'a [f64]; 4],
    to: &'a mut [f64],
}

impl Kernel for AnglesAbout<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { back, axis, from, to } = self;
        let (mut sin, mut cos) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut flags, mut scratch) = ([0; BLOCK], [0.0; BLOCK]);
        for block in blocks(to.len()) {
            let n = block.len();
            let from = from.map(|c| &c[block.clone()]);
            for e in 0..n.min(BLOCK) {
                let q = (back * rotation(from, e)).quat();
                let ([x, y, z], w, flag) = canonical([q.x, q.y, q.z], q.w);
                (sin[e], cos[e]) = (DVec3::new(x, y, z).dot(axis), w);
                flags[e] = flag;
            }
            atan2_block::<false, true>(n, &sin, &mut cos, &mut flags, &mut scratch);
            let to = &mut to[block][..n];
            for e in 0..n.min(BLOCK) {
                let angle = 2.0 * cos[e];
                to[e] = if angle <= -PI { PI } else { angle };
            }
            if any_flagged(n, &flags) {
                redo_flagged(&flags[..n], |e| to[e] = (back * rotation(from, e)).angle_about(axis));
            }
        }
    }
}

/// [`trig::atan2`] of every pair: puts the angle in the place of `x`.
///
/// # Panics
///
/// If the columns have different lengths.
pub(crate) fn atan2(level: Level, y: &[f64], x: &mut [f64]) {
    check_lengths(x.len(), [y.len()]);
    level.run(Atan2 { y, x });
}

struct Atan2<'a> {
    y: &'a [f64],
    x: &'a mut [f64],
}

impl Kernel for Atan2<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { y, x } = self;
        let (mut sin, mut angle) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut flags, mut scratch) = ([0; BLOCK], [0.0; BLOCK]);
        for block in blocks(y.len()) {
            let n = block.len();
            let (y, x) = (&y[block.clone()][..n], &mut x[block][..n]);
            for e in 0..n.min(BLOCK) {
                (sin[e], angle[e]) = (y[e], x[e]);
                let size = x[e].abs() + y[e].abs();
                let ordinary = size <= 1.0 / trig::TINY;
                flags[e] = flag_if(x[e] == 0.0) | flag_if(!ordinary);
            }
            atan2_block::<false, false>(n, &sin, &mut angle, &mut flags, &mut scratch);
            if any_flagged(n, &flags) {
                redo_flagged(&flags[..n], |e| angle[e] = trig::atan2(y[e], x[e]));
            }
            x.copy_from_slice(&angle[..n]);
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Swing and twist

/// The swing (its components about x and y of the axes) and the twist of every rotation, in
/// radians: what [`SwingTwist::from_rotation`] gives, which says the rest.
///
/// # Panics
///
/// If the columns have different lengths.
pub fn swing_twist(level: Level, axes: &SwingAxes, from: &Rotations, to: [&mut [f64]; 3]) {
    check_lengths(from.len(), to.each_ref().map(|c| c.len()));
    level.run(ToSwingTwist { axes, from: from.xyzw(), to });
}

struct ToSwingTwist<'a> {
    axes: &'a SwingAxes,
    from: [&'a [f64]; 4],
    to: [&'a mut [f64]; 3],
}

impl Kernel for ToSwingTwist<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { axes, from, to: [to_x, to_y, to_twist] } = self;
        let axes_copy = *axes;
        let (mut qz, mut qw) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut sin_beta, mut cos_beta, mut product) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let (mut across_x, mut across_y) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut flags, mut scratch) = ([0; BLOCK], [0.0; BLOCK]);
        for block in blocks(to_x.len()) {
            let n = block.len();
            let from = from.map(|c| &c[block.clone()]);
            let [x, y, z, w] = from;
            for e in 0..n.min(BLOCK) {
                let ([x, y, z, w], flag) = in_swing_axes(&axes_copy, [x[e], y[e], z[e], w[e]]);
                let (sin, cos) = (trig::length_ordinary(x, y), trig::length_ordinary(z, w));
                (qz[e], qw[e], sin_beta[e], cos_beta[e]) = (z, w, sin, cos);
                product[e] = sin * cos;
                (across_x[e], across_y[e]) = (w * x - z * y, z * x + w * y);
                // A square that underflows makes a sine of 0.
                flags[e] = flag | trig::tiny_flag(x.abs() + y.abs());
            }
            atan2_block::<false, true>(n, &qz, &mut qw, &mut flags, &mut scratch);
            atan2_block::<true, true>(n, &sin_beta, &mut cos_beta, &mut flags, &mut scratch);
            let (half, beta) = (&qw, &cos_beta);
            let sx = &mut to_x[block.clone()][..n];
            let sy = &mut to_y[block.clone()][..n];
            let twist = &mut to_twist[block.clone()][..n];
            for e in 0..n.min(BLOCK) {
                let scale = if product[e] == 0.0 { 2.0 } else { 2.0 * beta[e] / product[e] };
                (sx[e], sy[e]) = (scale * across_x[e], scale * across_y[e]);
                twist[e] = 2.0 * half[e];
            }
            if any_flagged(n, &flags) {
                redo_flagged(&flags[..n], |e| {
                    let split = SwingTwist::from_rotation(rotation(from, e), axes);
                    [sx[e], sy[e], twist[e]] =
                        [split.swing.x, split.swing.y, split.twist].map(super::Angle::radians);
                });
            }
        }
    }
}

/// The canonical quaternion with its vector part in the swing axes, and a flag.
#[inline(always)]
fn in_swing_axes(axes: &SwingAxes, [x, y, z, w]: [f64; 4]) -> ([f64; 4], u64) {
    let ([x, y, z], w, flag) = canonical([x, y, z], w);
    let DVec3 { x, y, z } = axes.components(DVec3::new(x, y, z));
    ([x, y, z, w], flag)
}

/// The swing and the twist of every rotation as quaternions, without an angle: the columns
/// `swing_x`, `swing_y`, `swing_w`, `twist_z` and `twist_w` of [`SwingTwistHalves`].
///
/// # Panics
///
/// If the columns have different lengths.
pub fn swing_twist_halves(level: Level, axes: &SwingAxes, from: &Rotations, to: [&mut [f64]; 5]) {
    check_lengths(from.len(), to.each_ref().map(|c| c.len()));
    level.run(ToHalves { axes, from: from.xyzw(), to });
}

struct ToHalves<'a> {
    axes: &'a SwingAxes,
    from: [&'a [f64]; 4],
    to: [&'a mut [f64]; 5],
}

impl Kernel for ToHalves<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { axes, from, mut to } = self;
        let axes_copy = *axes;
        let (mut sx, mut sy, mut sw) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let (mut tz, mut tw) = ([0.0; BLOCK], [0.0; BLOCK]);
        let mut flags = [0; BLOCK];
        for block in blocks(from[0].len()) {
            let n = block.len();
            let from = from.map(|c| &c[block.clone()]);
            let [x, y, z, w] = from;
            let mut any = 0;
            for e in 0..n.min(BLOCK) {
                let ([x, y, z, w], flag) = in_swing_axes(&axes_copy, [x[e], y[e], z[e], w[e]]);
                let cos_beta = trig::length_ordinary(z, w);
                let (sin_gamma, cos_gamma) = (z / cos_beta, w / cos_beta);
                sx[e] = cos_gamma * x - sin_gamma * y;
                sy[e] = sin_gamma * x + cos_gamma * y;
                (sw[e], tz[e], tw[e]) = (cos_beta, sin_gamma, cos_gamma);
                flags[e] = flag;
                any |= flag;
            }
            if any & FLAG != 0 {
                redo_flagged(&flags[..n], |e| {
                    let halves = SwingTwistHalves::from_rotation(rotation(from, e), axes);
                    (sx[e], sy[e], sw[e]) = (halves.swing_x, halves.swing_y, halves.swing_w);
                    (tz[e], tw[e]) = (halves.twist_z, halves.twist_w);
                });
            }
            for (to, from) in to.iter_mut().zip([&sx, &sy, &sw, &tz, &tw]) {
                to[block.clone()].copy_from_slice(&from[..n]);
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Logarithm and exponential

/// The rotation vector of every rotation: what [`Rotation::log`] gives.
///
/// # Panics
///
/// If the columns have different lengths.
pub fn log(level: Level, from: &Rotations, to: &mut Points) {
    log_columns(level, from.xyzw(), to.xyz_mut());
}

/// The same for columns of components.
pub(crate) fn log_columns(level: Level, from: [&[f64]; 4], to: [&mut [f64]; 3]) {
    check_lengths(from[0].len(), from.map(<[f64]>::len));
    check_lengths(from[0].len(), to.each_ref().map(|c| c.len()));
    level.run(Log { from, to });
}

struct Log<'a> {
    from: [&'a [f64]; 4],
    to: [&'a mut [f64]; 3],
}

impl Kernel for Log<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { from, to: [to_x, to_y, to_z] } = self;
        let (mut vx, mut vy, mut vz) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let (mut sin_half, mut cos_half) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut flags, mut scratch) = ([0; BLOCK], [0.0; BLOCK]);
        for block in blocks(to_x.len()) {
            let n = block.len();
            let from = from.map(|c| &c[block.clone()]);
            let [x, y, z, w] = from;
            for e in 0..n.min(BLOCK) {
                let ([x, y, z], w, flag) = canonical([x[e], y[e], z[e]], w[e]);
                (vx[e], vy[e], vz[e]) = (x, y, z);
                let sin = trig::length3_ordinary(x, y, z);
                (sin_half[e], cos_half[e]) = (sin, w);
                flags[e] = flag | flag_if(!trig::ordinary_length3(sin));
            }
            atan2_block::<true, true>(n, &sin_half, &mut cos_half, &mut flags, &mut scratch);
            let half = &cos_half;
            for e in 0..n.min(BLOCK) {
                let sin = sin_half[e];
                let scale = 2.0 * half[e] / sin;
                (vx[e], vy[e], vz[e]) = (vx[e] * scale, vy[e] * scale, vz[e] * scale);
            }
            if any_flagged(n, &flags) {
                redo_flagged(&flags[..n], |e| {
                    [vx[e], vy[e], vz[e]] = rotation(from, e).log().to_array();
                });
            }
            to_x[block.clone()].copy_from_slice(&vx[..n]);
            to_y[block.clone()].copy_from_slice(&vy[..n]);
            to_z[block].copy_from_slice(&vz[..n]);
        }
    }
}

/// `by · q` of every rotation, as columns x, y, z and w.
///
/// # Panics
///
/// If the columns have different lengths.
pub(crate) fn turned(level: Level, by: Rotation, from: [&[f64]; 4], to: [&mut [f64]; 4]) {
    check_lengths(from[0].len(), from.map(<[f64]>::len));
    check_lengths(from[0].len(), to.each_ref().map(|c| c.len()));
    level.run(Turned { by, from, to });
}

struct Turned<'a> {
    by: Rotation,
    from: [&'a [f64]; 4],
    to: [&'a mut [f64]; 4],
}

impl Kernel for Turned<'_> {
    #[inline(always)]
    fn run(self) {
        let DQuat { x: px, y: py, z: pz, w: pw } = self.by.quat();
        let n = self.from[0].len();
        let [x, y, z, w] = self.from.map(|c| &c[..n]);
        let [to_x, to_y, to_z, to_w] = self.to.map(|c| &mut c[..n]);
        for i in 0..n {
            let (x, y, z, w) = (x[i], y[i], z[i], w[i]);
            to_x[i] = pw * x + px * w + py * z - pz * y;
            to_y[i] = pw * y - px * z + py * w + pz * x;
            to_z[i] = pw * z + px * y - py * x + pz * w;
            to_w[i] = pw * w - px * x - py * y - pz * z;
        }
    }
}

/// The rotation of every rotation vector: what [`Rotation::exp`] gives, and the identity where that
/// gives none.
///
/// # Panics
///
/// If the columns have different lengths.
pub fn exp(level: Level, from: &Points, to: &mut Rotations) {
    check_lengths(from.len(), [to.len()]);
    level.run(Exp { from: from.xyz(), to: to.xyzw_mut() });
}

struct Exp<'a> {
    from: [&'a [f64]; 3],
    to: [&'a mut [f64]; 4],
}

impl Kernel for Exp<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { from, to: [to_x, to_y, to_z, to_w] } = self;
        let (mut qx, mut qy, mut qz, mut qw) =
            ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let (mut angle, mut sin, mut cos) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let mut flags = [0; BLOCK];
        for block in blocks(to_w.len()) {
            let n = block.len();
            let from = from.map(|c| &c[block.clone()]);
            let [x, y, z] = from;
            for e in 0..n.min(BLOCK) {
                angle[e] = trig::length3_ordinary(x[e], y[e], z[e]);
                let kernel = angle[e] >= trig::TINY && angle[e] <= trig::KERNEL_MAX;
                flags[e] = flag_if(!kernel);
            }
            for e in 0..n.min(BLOCK) {
                (sin[e], cos[e]) = trig::sin_cos_kernel(0.5 * angle[e]);
            }
            for e in 0..n.min(BLOCK) {
                let (angle, c) = (angle[e], cos[e]);
                let k = sin[e] / angle;
                let (x, y, z) = (x[e] * k, y[e] * k, z[e] * k);
                // As `Rotation::new` does it, without its scaling: this is nearly a unit.
                let unit = 1.0 / (x * x + y * y + z * z + c * c).sqrt();
                (qx[e], qy[e], qz[e], qw[e]) = (x * unit, y * unit, z * unit, c * unit);
            }
            if any_flagged(n, &flags) {
                redo_flagged(&flags[..n], |e| {
                    let v = DVec3::new(x[e], y[e], z[e]);
                    let q = Rotation::exp(v).unwrap_or_default().quat();
                    (qx[e], qy[e], qz[e], qw[e]) = (q.x, q.y, q.z, q.w);
                });
            }
            to_x[block.clone()].copy_from_slice(&qx[..n]);
            to_y[block.clone()].copy_from_slice(&qy[..n]);
            to_z[block.clone()].copy_from_slice(&qz[..n]);
            to_w[block].copy_from_slice(&qw[..n]);
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Forward kinematics

/// Takes local rotations and translations to those in the world, given their parents': forward
/// kinematics for one joint over many frames.
///
/// ```text
///   rotation    ← parent · rotation
///   translation ← parent_position + parent · translation
/// ```
///
/// # Panics
///
/// If the columns have different lengths.
pub fn compose(
    level: Level,
    parent: &Rotations,
    parent_position: &Points,
    rotations: &mut Rotations,
    translations: &mut Points,
) {
    let n = rotations.len();
    check_lengths(n, [parent.len(), parent_position.len(), translations.len()]);
    level.run(Compose {
        parent: parent.xyzw(),
        parent_position: parent_position.xyz(),
        rotations: rotations.xyzw_mut(),
        translations: translations.xyz_mut(),
    });
}

struct Compose<'a> {
    parent: [&'a [f64]; 4],
    parent_position: [&'a [f64]; 3],
    rotations: [&'a mut [f64]; 4],
    translations: [&'a mut [f64]; 3],
}

impl Kernel for Compose<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { parent, parent_position, mut rotations, mut translations } = self;
        let mut q = [[0.0; BLOCK]; 4];
        let mut p = [[0.0; BLOCK]; 3];
        for block in blocks(parent[0].len()) {
            let n = block.len();
            let parent = parent.map(|c| &c[block.clone()]);
            let [tx, ty, tz] = parent_position.map(|c| &c[block.clone()]);
            {
                let local = rotations.each_ref().map(|c| &c[block.clone()]);
                let [vx, vy, vz] = translations.each_ref().map(|c| &c[block.clone()]);
                for e in 0..n.min(BLOCK) {
                    let parent = rotation(parent, e);
                    let world = parent * rotation(local, e);
                    let place =
                        DVec3::new(tx[e], ty[e], tz[e]) + parent * DVec3::new(vx[e], vy[e], vz[e]);
                    let world = world.quat();
                    (q[0][e], q[1][e], q[2][e], q[3][e]) = (world.x, world.y, world.z, world.w);
                    (p[0][e], p[1][e], p[2][e]) = (place.x, place.y, place.z);
                }
            }
            for (to, from) in rotations.iter_mut().zip(&q) {
                to[block.clone()].copy_from_slice(&from[..n]);
            }
            for (to, from) in translations.iter_mut().zip(&p) {
                to[block.clone()].copy_from_slice(&from[..n]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

    use super::*;
    use crate::math::{Angle, arbitrary};

    /// Components whose quadruples meet every singular set: exactly, nearly, and at the ends of the
    /// range of doubles.
    const HARD: [f64; 15] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.6,
        -0.8,
        f64::EPSILON,
        -3.0 * f64::EPSILON,
        5e-324,
        -3e-310,
        1e-300,
        -1e-160,
        // Between what `tiny_flag` lets through and what it does not.
        5.6e-73,
        -5.7e-73,
        1e-30,
    ];

    /// All quadruples of [`HARD`], then many that are hard in no way, in a length that leaves a
    /// remainder at every vector width.
    fn rotations() -> Rotations {
        let mut out = Rotations::new();
        for n in 0..HARD.len().pow(4) {
            let [x, y, z, w] = [1, 15, 225, 3375].map(|place| HARD[n / place % HARD.len()]);
            if let Some(r) = Rotation::new(DQuat::from_xyzw(x, y, z, w)) {
                out.push(r);
            }
        }
        let mut state = 3;
        for _ in 0..40_000 {
            let [x, y, z, w] = [(); 4].map(|()| random(&mut state));
            out.push(Rotation::new(DQuat::from_xyzw(x, y, z, w)).unwrap());
        }
        while out.len() % 8 != 7 {
            out.push(Rotation::IDENTITY);
        }
        out
    }

    /// `splitmix64`.
    fn bits(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In [-1, 1).
    fn random(state: &mut u64) -> f64 {
        (bits(state) >> 11) as f64 / 4_503_599_627_370_496.0 - 1.0
    }

    /// An angle of any kind: ordinary, a multiple of 45° or nearly so, beyond the kernels, or not
    /// finite.
    fn hard_angle(state: &mut u64) -> f64 {
        let eighth = (random(state) * 16.0).round() * FRAC_PI_4;
        match bits(state) % 100 {
            0..=20 => eighth,
            21..=40 => eighth + random(state) * 1e-15,
            41 => random(state) * 1e300,
            42 => f64::INFINITY,
            43 => f64::NAN,
            44 => random(state) * 1e-310,
            45 => 2.0 * trig::KERNEL_MAX,
            46 => -2.0 * trig::KERNEL_MAX * (1.0 + f64::EPSILON),
            _ => random(state) * 10.0,
        }
    }

    fn columns<const N: usize>(n: usize) -> [Vec<f64>; N] {
        [(); N].map(|()| vec![f64::NAN; n])
    }

    #[track_caller]
    fn check<const N: usize>(
        level: Level,
        got: [f64; N],
        expected: [f64; N],
        input: impl std::fmt::Debug,
    ) {
        let bits = |a: [f64; N]| a.map(f64::to_bits);
        assert_eq!(bits(got), bits(expected), "{level:?} {input:?}: {got:?}, not {expected:?}");
        assert!(got.iter().all(|c| c.is_finite()), "{level:?} {input:?}: {got:?}");
    }

    fn check_euler_angles(rotations: &Rotations, order: EulerOrder) {
        for level in Level::all() {
            let [mut a, mut b, mut c] = columns(rotations.len());
            euler_angles(level, order, rotations, [&mut a, &mut b, &mut c]);
            for (i, r) in rotations.iter().enumerate() {
                let expected = EulerAngles::from_rotation(order, r).angles.map(Angle::radians);
                check(level, [a[i], b[i], c[i]], expected, (order, r));
            }
        }
    }

    #[test]
    fn angles_about_an_axis_are_those_of_the_scalar_function() {
        let rotations = rotations();
        let tilted = Rotation::new(DQuat::from_xyzw(0.1, -0.7, 0.3, -0.6)).unwrap();
        for (back, axis) in [(Rotation::IDENTITY, DVec3::X), (tilted, DVec3::new(0.6, 0.0, -0.8))] {
            for level in Level::all() {
                let mut angles = vec![f64::NAN; rotations.len()];
                angles_about(level, back, axis, &rotations, &mut angles);
                for (i, r) in rotations.iter().enumerate() {
                    check(level, [angles[i]], [(back * r).angle_about(axis)], (axis, r));
                }
            }
        }
    }

    #[test]
    fn inverse_tangents_are_those_of_the_scalar_function() {
        let mut state = 8;
        let special = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, -1e308];
        let some: Vec<f64> = HARD.into_iter().chain(special).collect();
        let mut pairs: Vec<(f64, f64)> =
            some.iter().flat_map(|y| some.iter().map(move |x| (*y, *x))).collect();
        pairs.extend((0..10_007).map(|_| (random(&mut state), random(&mut state))));
        let (y, x): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        for level in Level::all() {
            let mut angles = x.clone();
            atan2(level, &y, &mut angles);
            for ((found, y), x) in angles.iter().zip(&y).zip(&x) {
                let expected = trig::atan2(*y, *x);
                assert_eq!(found.to_bits(), expected.to_bits(), "{level:?} {y} {x}");
            }
        }
    }

    fn check_swing_twist(rotations: &Rotations, axes: &SwingAxes) {
        for level in Level::all() {
            let [mut a, mut b, mut c] = columns(rotations.len());
            swing_twist(level, axes, rotations, [&mut a, &mut b, &mut c]);
            let [mut x, mut y, mut w, mut tz, mut tw] = columns(rotations.len());
            let halves = [&mut x, &mut y, &mut w, &mut tz, &mut tw].map(|c| &mut c[..]);
            swing_twist_halves(level, axes, rotations, halves);
            for (i, r) in rotations.iter().enumerate() {
                let s = SwingTwist::from_rotation(r, axes);
                let expected = [s.swing.x, s.swing.y, s.twist].map(Angle::radians);
                check(level, [a[i], b[i], c[i]], expected, (axes, r));
                let h = SwingTwistHalves::from_rotation(r, axes);
                let expected = [h.swing_x, h.swing_y, h.swing_w, h.twist_z, h.twist_w];
                check(level, [x[i], y[i], w[i], tz[i], tw[i]], expected, (axes, r));
            }
        }
    }

    fn check_log(rotations: &Rotations) {
        for level in Level::all() {
            let mut vectors = Points::repeat(DVec3::NAN, rotations.len());
            log(level, rotations, &mut vectors);
            for (r, v) in rotations.iter().zip(vectors.iter()) {
                check(level, v.to_array(), r.log().to_array(), r);
            }
        }
    }

    fn check_exp(vectors: &Points) {
        for level in Level::all() {
            let mut out = Rotations::repeat(Rotation::IDENTITY, vectors.len());
            exp(level, vectors, &mut out);
            for (v, r) in vectors.iter().zip(out.iter()) {
                let expected = Rotation::exp(v).unwrap_or_default();
                check(level, r.quat().to_array(), expected.quat().to_array(), v);
            }
        }
    }

    fn check_euler_rotations(angles: &[Vec<f64>; 3], order: EulerOrder) {
        for level in Level::all() {
            let mut out = Rotations::repeat(Rotation::IDENTITY, angles[0].len());
            euler_rotations(level, order, angles.each_ref().map(|c| &c[..]), &mut out);
            for (i, r) in out.iter().enumerate() {
                let triple = angles.each_ref().map(|c| c[i]);
                let finite = triple.map(|a| if a.is_finite() { a } else { 0.0 });
                let expected = order.to_rotation(finite.map(Angle::from_radians)).unwrap();
                check(level, r.quat().to_array(), expected.quat().to_array(), (order, triple));
            }
        }
    }

    #[test]
    fn euler_angles_have_the_bits_of_the_scalar_function() {
        let rotations = rotations();
        for order in EulerOrder::ALL {
            check_euler_angles(&rotations, order);
        }
    }

    #[test]
    fn swing_and_twist_have_the_bits_of_the_scalar_functions() {
        let rotations = rotations();
        let skew = DVec3::new(0.3, -0.7, 0.2);
        for axes in [
            Some(SwingAxes::Z),
            SwingAxes::new(DVec3::X, None),
            SwingAxes::new(DVec3::NEG_Y, Some(DVec3::X)),
            SwingAxes::new(skew, None),
            SwingAxes::new(DVec3::new(1e-200, -1.0, 1e-17), Some(skew)),
        ] {
            check_swing_twist(&rotations, &axes.unwrap());
        }
    }

    #[test]
    fn logarithms_and_exponentials_have_the_bits_of_the_scalar_functions() {
        let rotations = rotations();
        check_log(&rotations);
        let mut vectors: Points = rotations.iter().map(Rotation::log).collect();
        let mut state = 9;
        for _ in 0..20_000 {
            vectors.push(DVec3::from_array([(); 3].map(|()| hard_angle(&mut state))));
        }
        vectors.push(DVec3::splat(f64::MAX));
        check_exp(&vectors);
    }

    #[test]
    fn rotations_from_angles_have_the_bits_of_the_scalar_function() {
        let mut state = 7;
        let angles = [(); 3].map(|()| (0..20_001).map(|_| hard_angle(&mut state)).collect());
        for order in EulerOrder::ALL {
            check_euler_rotations(&angles, order);
        }
    }

    #[test]
    fn every_length_is_done_to_its_end() {
        let rotations: Vec<Rotation> = rotations().iter().collect();
        for n in (0..20).chain(BLOCK - 2..BLOCK + 10).chain([2 * BLOCK, 2 * BLOCK + 1]) {
            // From the middle, where hard and ordinary ones meet.
            let some: Rotations = rotations[50_000 - n / 2..].iter().take(n).copied().collect();
            check_euler_angles(&some, EulerOrder::ZYZ);
            check_euler_angles(&some, EulerOrder::XZY);
            check_swing_twist(&some, &SwingAxes::Z);
            check_log(&some);
            check_exp(&some.iter().map(Rotation::log).collect());
        }
    }

    #[test]
    fn turned_rotations_have_the_bits_of_the_products() {
        let all = rotations();
        let by = all.at(all.len() / 3);
        for level in Level::all() {
            let mut found = Rotations::repeat(by, all.len());
            turned(level, by, all.xyzw(), found.xyzw_mut());
            for (i, q) in all.iter().enumerate() {
                check(level, found.at(i).quat().to_array(), (by * q).quat().to_array(), i);
            }
        }
    }

    #[test]
    fn worlds_have_the_bits_of_the_products() {
        let all = rotations();
        for n in [0, 1, 3, BLOCK - 1, BLOCK, BLOCK + 5, all.len()] {
            for level in Level::all() {
                let parent: Rotations = all.iter().take(n).collect();
                let local: Rotations = all.iter().skip(all.len() - n).collect();
                let places: Points = local.iter().map(|r| r * DVec3::new(1.0, 2.0, 3.0)).collect();
                let origins: Points = parent.iter().map(|r| r * DVec3::X).collect();
                let (mut rotations, mut points) = (local.clone(), places.clone());
                compose(level, &parent, &origins, &mut rotations, &mut points);
                for i in 0..n {
                    let q = (parent.at(i) * local.at(i)).quat().to_array();
                    check(level, rotations.at(i).quat().to_array(), q, i);
                    let p = origins.at(i) + parent.at(i) * places.at(i);
                    check(level, points.at(i).to_array(), p.to_array(), i);
                }
            }
        }
    }

    #[test]
    fn prop_batches_have_the_bits_of_the_scalar_functions() {
        arbtest::arbtest(|u| {
            let mut rotations = Rotations::new();
            let mut angles: [Vec<f64>; 3] = columns(0);
            for _ in 0..u.int_in_range(0..=2 * BLOCK)? {
                rotations.push(arbitrary::rotation(u)?);
                for column in &mut angles {
                    column.push(arbitrary::angle(u)?.radians());
                }
            }
            let order = *u.choose(&EulerOrder::ALL)?;
            check_euler_angles(&rotations, order);
            check_euler_rotations(&angles, order);
            let axes = SwingAxes::new(arbitrary::direction(u)?, None).unwrap();
            check_swing_twist(&rotations, &axes);
            check_log(&rotations);
            Ok(())
        });
    }

    #[test]
    fn turns_multiply_from_the_right_in_the_unit_given() {
        for level in Level::all() {
            let rest = Rotation::about_x(Angle::from_radians(0.3));
            let mut got = Rotations::repeat(Rotation::IDENTITY, 2);
            let turns: [(_, &[f64]); 2] = [(Axis::Z, &[90.0, 0.0]), (Axis::Y, &[0.0, -180.0])];
            turn(level, rest, &turns, AngleUnit::Degrees, got.xyzw_mut());
            let expected = rest * Rotation::about_z(Angle::from_radians(FRAC_PI_2));
            assert!(got.at(0).distance(expected).radians() < 1e-15);
            let expected = rest * Rotation::about_y(Angle::from_radians(-PI));
            assert!(got.at(1).distance(expected).radians() < 1e-15);
        }
    }

    #[test]
    #[should_panic(expected = "columns of different lengths")]
    fn columns_of_different_lengths_are_refused() {
        let [mut a, mut b, mut c] = [vec![0.0; 2], vec![0.0; 2], vec![0.0; 3]];
        let rotations = Rotations::repeat(Rotation::IDENTITY, 2);
        euler_angles(Level::best(), EulerOrder::ZYZ, &rotations, [&mut a, &mut b, &mut c]);
    }
}
