//! The method of the paper, step by step, where it is right: `--method paper`.
//!
//! # Source
//!
//! M. Engell-Nørregård, K. Erleben, "Estimation of joint types and joint limits from motion capture
//! data" (2009). Equation numbers below are theirs. What is not as printed, and why:
//!
//! | eq | printed | here |
//! | --- | --- | --- |
//! | 3 | vector parts of q, whatever its sign, relative to the bind pose | q and −q are one rotation, so all are in the hemisphere of the mean, and relative to the mean, which is on the orbit of a hinge where the bind pose need not be: an offset bends the line |
//! | 3 | v = n sin(θ/2) | the rotation vector n θ; v, which bends large motions, by [`Space::Vector`] |
//! | 5 | C = P Pᵀ, N × N | 3 × 3, divided by N, or the threshold would depend on N |
//! | 8 | axis by the sum of v | the first principal direction: the sum cancels where motion straddles the reference |
//! | 9–12 | 2 atan2(s, ‖v‖) | 2 atan2(v · u, s): arguments in order, and the sign kept |
//! | 15 | smallest and largest number | the arc of eq 16–19 for every angle |
//! | 16, 19 | > | ≥ : equal angles have no gap, and one sample is no circle |
//! | 28 | acos, a lock at ψ = 0 | atan2, which keeps all digits, and the lock at ψ = π too |
//!
//! The bind pose (eq 20–24) is in [`bind`](super::bind).

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::DVec3;

use super::arcs;
use super::hinge::{Hinge, ON_ORBIT};
use super::moments::{rotation, rotation_unchecked};
use crate::limits::{EulerBox, Limit};
use crate::math::{
    Angle, Arc, EulerOrder, Level, Rotation, Rotations, batch, symmetric_eigen, trig, unit,
};
use crate::rig::JointKind;

/// Which dimensions of the motion count (A4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// Those with a larger standard deviation.
    Absolute(Angle),
    /// The fewest that explain this share of the variation, from 0 to 1, of those above
    /// half a degree: a share alone can never say that a joint is fixed.
    Share(f64),
}

impl Default for Threshold {
    /// 1°. The paper has "a small threshold" and no number. Conversions between skeletons leave up to
    /// half a degree on joints that are hinges by construction; below two degrees nobody sees an axis
    /// move. This is between.
    fn default() -> Self {
        Self::Absolute(Angle::from_degrees(1.0))
    }
}

/// The space whose dimensions are counted (A3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Space {
    /// Rotation vectors n θ: principal geodesic analysis, as section 4 suggests.
    #[default]
    Log,
    /// The paper's vector parts n sin(θ/2), taken twice, so that small motions are in radians too.
    Vector,
}

/// How to follow the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PaperOptions {
    /// Which dimensions count.
    pub threshold: Threshold,
    /// Dimensions of what.
    pub space: Space,
}

/// What the paper says about a joint.
#[derive(Clone, Debug)]
pub(crate) struct PaperJoint {
    /// Fixed, hinge or ball.
    pub(crate) kind: JointKind,
    /// The limit's zero, relative to rest.
    pub(crate) center: Rotation,
    pub(crate) limit: Limit,
    /// Standard deviations along the principal axes, largest first.
    #[cfg(test)]
    pub(crate) deviations: [Angle; 3],
    /// Why it is this kind, in a sentence.
    pub(crate) why: String,
    /// What else to know, in sentences.
    pub(crate) notes: Vec<String>,
}

/// Radians. With [`Threshold::Share`], a standard deviation below half a degree is no variation: so
/// much is left by conversions between skeletons.
const FLOOR: f64 = 0.5 * (PI / 180.0);

/// Radians. So near to ψ = 0 or π, φ and θ are noise: numbers in files have six decimals of a degree,
/// and three channels make some 5e-8 rad of them. A sample taken as locked moves by no more than twice
/// this. It is the ε of appendix A.
const LOCKED: f64 = 1e-6;

/// Radians. What moves by less does not move: rounding leaves as much.
const STILL: f64 = 1e-7;

/// Fewer samples than this get a note (A2).
pub(super) const FEW: usize = 4;

/// So many samples are turned at a time: they stay in the first-level cache.
const BLOCK: usize = 128;

/// Kind and limit of a joint by the paper's method; `None` if there are no samples.
///
/// # Convention
///
/// Samples are relative to the bind pose, `rest⁻¹ · local`, all clips together, in any order (A1,
/// A11). The answer speaks of `m` in `local = rest · center · m`.
///
/// A hinge's angle 0 is the bind pose if that is within half a degree of the orbit, else the orbit's
/// point nearest to it; its axis points so that the larger excursion is positive, and if both are
/// equal, so that its largest component is.
pub(crate) fn estimate(samples: &[&Rotations], options: &PaperOptions) -> Option<PaperJoint> {
    let n: usize = samples.iter().map(|clip| clip.len()).sum();
    if n == 0 {
        return None;
    }
    let second = second_moments(samples);
    let eigen = symmetric_eigen(second)?;
    let mean = rotation(eigen.vectors[0]);
    // A turn by δ moves a quaternion by δ/2, so that this is the largest variance, to first order.
    let spread = if 4.0 * eigen.values[1] <= STILL * STILL * n as f64 {
        Spread { deviations: [0.0; 3], axis: DVec3::X }
    } else {
        Spread::new(samples, mean, options.space, n as f64)?
    };
    let (dimensions, why) = spread.dimensions(options.threshold);

    let mut notes = Vec::new();
    if n < FEW {
        let samples = super::counted(n, "sample", "samples");
        notes.push(format!("{samples} only: at least {FEW} are needed to see how a joint moves"));
    }
    let (kind, center, limit) = match dimensions {
        // A5: the paper's ball joint with all its limits at the fixed pose.
        0 => (JointKind::Fixed, mean, Limit::Locked),
        1 => {
            let hinge = hinge_through(mean, spread.axis, &second);
            let arc = arcs::exact(&hinge_angles(samples, &hinge, n))?;
            let (Hinge { center, axis }, arc) = hinge.oriented(arc);
            (JointKind::Hinge, center, Limit::Hinge { axis, arc })
        }
        _ => {
            let (euler_box, degenerate) = zyz_box(samples, 1.0)?;
            notes.extend(degenerate);
            (JointKind::Ball, Rotation::IDENTITY, Limit::EulerBox(euler_box))
        }
    };
    Some(PaperJoint {
        kind,
        center,
        limit,
        #[cfg(test)]
        deviations: spread.deviations.map(Angle::from_radians),
        why,
        notes,
    })
}

/// Two interleaved sums: what two lanes of a register hold, and no more registers than there are.
type Lanes = [f64; 2];

/// Σ q qᵀ, components in the order x, y, z, w, the upper triangle.
fn second_moments(samples: &[&Rotations]) -> [[f64; 4]; 4] {
    let mut sums: [Lanes; 10] = [[0.0; 2]; 10];
    for clip in samples {
        let [x, y, z, w] = clip.xyzw().map(|c| c.chunks_exact(2));
        let last = [&x, &y, &z, &w].map(|c| c.remainder().first().copied().unwrap_or(0.0));
        for (((x, y), z), w) in x.zip(y).zip(z).zip(w) {
            add_products([[x[0], x[1]], [y[0], y[1]], [z[0], z[1]], [w[0], w[1]]], &mut sums);
        }
        add_products(last.map(|c| [c, 0.0]), &mut sums);
    }
    let [xx, xy, xz, xw, yy, yz, yw, zz, zw, ww] = sums.map(|[a, b]| a + b);
    [[xx, xy, xz, xw], [xy, yy, yz, yw], [xz, yz, zz, zw], [xw, yw, zw, ww]]
}

#[inline]
fn add_products([x, y, z, w]: [Lanes; 4], sums: &mut [Lanes; 10]) {
    let products = [(x, x), (x, y), (x, z), (x, w), (y, y), (y, z), (y, w), (z, z), (z, w), (w, w)];
    for (sum, (a, b)) in sums.iter_mut().zip(products) {
        sum[0] += a[0] * b[0];
        sum[1] += a[1] * b[1];
    }
}

/// `back · q` of all samples as columns x, y, z and w, a block after the other.
fn each_block(samples: &[&Rotations], back: Rotation, mut see: impl FnMut([&mut [f64]; 4])) {
    let level = Level::best();
    let mut block = [[0.0; BLOCK]; 4];
    for clip in samples {
        let columns = clip.xyzw();
        for start in (0..clip.len()).step_by(BLOCK) {
            let n = BLOCK.min(clip.len() - start);
            let from = columns.map(|c| &c[start..start + n]);
            batch::turned(level, back, from, block.each_mut().map(|c| &mut c[..n]));
            see(block.each_mut().map(|c| &mut c[..n]));
        }
    }
}

/// How samples spread about their mean.
struct Spread {
    /// Along the principal axes, radians, largest first.
    deviations: [f64; 3],
    /// The first principal axis.
    axis: DVec3,
}

impl Spread {
    /// Eq 3 to 7.
    fn new(samples: &[&Rotations], mean: Rotation, space: Space, n: f64) -> Option<Self> {
        let mut sums: [Lanes; 9] = [[0.0; 2]; 9];
        let mut points = [[0.0; BLOCK]; 3];
        each_block(samples, mean.inverse(), |block| {
            let n = block[0].len();
            let (block, to) = (block.map(|c| &*c), points.each_mut().map(|c| &mut c[..n]));
            match space {
                Space::Log => batch::log_columns(Level::best(), block, to),
                Space::Vector => twice_vectors(block, to),
            }
            add_points(points.each_ref().map(|c| &c[..n]), &mut sums);
        });
        let [x, y, z, xx, xy, xz, yy, yz, zz] = sums.map(|[a, b]| (a + b) / n);
        // The mean of the samples is near 0, so the difference loses nothing.
        let eigen = symmetric_eigen([
            [xx - x * x, xy - x * y, xz - x * z],
            [0.0, yy - y * y, yz - y * z],
            [0.0, 0.0, zz - z * z],
        ])?;
        Some(Self {
            deviations: eigen.values.map(|v| v.max(0.0).sqrt()),
            axis: unit(DVec3::from_array(eigen.vectors[0]))?,
        })
    }

    /// How many dimensions count, and why, in a sentence.
    fn dimensions(&self, threshold: Threshold) -> (usize, String) {
        let degrees = self.deviations.map(f64::to_degrees);
        match threshold {
            Threshold::Absolute(angle) => {
                let angle = angle.radians();
                let count = self.deviations.iter().take_while(|d| **d > angle).count();
                let limit = angle.to_degrees();
                let why = match count {
                    0 => format!(
                        "moves by {:.2} deg (standard deviation), not above the threshold of {limit:.2} deg",
                        degrees[0]
                    ),
                    1 => format!(
                        "first axis {:.2} deg, second axis {:.2} deg (standard deviations), not above the \
                         threshold of {limit:.2} deg",
                        degrees[0], degrees[1]
                    ),
                    _ => format!(
                        "second axis {:.2} deg (standard deviation), above the threshold of {limit:.2} deg",
                        degrees[1]
                    ),
                };
                (count, why)
            }
            Threshold::Share(share) => {
                let share = if share.is_nan() { 0.95 } else { share.clamp(0.0, 1.0) };
                let above = self.deviations.map(|d| if d > FLOOR { d * d } else { 0.0 });
                let total: f64 = above.iter().sum();
                if total <= 0.0 {
                    let floor = FLOOR.to_degrees();
                    let why = format!(
                        "moves by {:.2} deg (standard deviation), not above the floor of {floor:.2} deg",
                        degrees[0]
                    );
                    return (0, why);
                }
                let explained = [above[0], above[0] + above[1], total].map(|v| v / total);
                let count = explained.iter().position(|e| *e >= share).map_or(3, |i| i + 1);
                let [first, wanted] = [100.0 * explained[0], 100.0 * share];
                let why = if count == 1 {
                    format!(
                        "first axis explains {first:.1} % of the variation, at least {wanted:.0} %"
                    )
                } else {
                    format!(
                        "first axis explains {first:.1} % of the variation, less than {wanted:.0} %"
                    )
                };
                (count, why)
            }
        }
    }
}

/// 2 v of eq 3, all in the hemisphere of the identity.
fn twice_vectors([x, y, z, w]: [&[f64]; 4], [to_x, to_y, to_z]: [&mut [f64]; 3]) {
    for i in 0..w.len() {
        let twice = if w[i] < 0.0 { -2.0 } else { 2.0 };
        (to_x[i], to_y[i], to_z[i]) = (twice * x[i], twice * y[i], twice * z[i]);
    }
    for i in (0..w.len()).filter(|i| w[*i] == 0.0) {
        let q = rotation_unchecked([x[i], y[i], z[i], w[i]]).canonical().quat();
        (to_x[i], to_y[i], to_z[i]) = (2.0 * q.x, 2.0 * q.y, 2.0 * q.z);
    }
}

fn add_points(points: [&[f64]; 3], sums: &mut [Lanes; 9]) {
    let [x, y, z] = points.map(|c| c.chunks_exact(2));
    let last = [x.remainder(), y.remainder(), z.remainder()];
    let times = |a: Lanes, b: Lanes| [a[0] * b[0], a[1] * b[1]];
    let mut add = |x: Lanes, y: Lanes, z: Lanes| {
        let squares =
            [times(x, x), times(x, y), times(x, z), times(y, y), times(y, z), times(z, z)];
        let [xx, xy, xz, yy, yz, zz] = squares;
        for (sum, term) in sums.iter_mut().zip([x, y, z, xx, xy, xz, yy, yz, zz]) {
            sum[0] += term[0];
            sum[1] += term[1];
        }
    };
    for ((x, y), z) in x.zip(y).zip(z) {
        add([x[0], x[1]], [y[0], y[1]], [z[0], z[1]]);
    }
    if let [[x], [y], [z]] = last {
        add([*x, 0.0], [*y, 0.0], [*z, 0.0]);
    }
}

/// The hinge `mean · R(axis, θ)`, with its zero where the convention wants it.
fn hinge_through(mean: Rotation, axis: DVec3, second: &[[f64; 4]; 4]) -> Hinge {
    // The product with R(axis, α) has w = w cos(α/2) − (v · axis) sin(α/2).
    let q = mean.quat();
    let v = DVec3::new(q.x, q.y, q.z);
    let along = v.dot(axis);
    let across = v - axis * along;
    let cos = trig::length(q.w, along);
    let off = 2.0 * trig::atan2(trig::hypot3(across.x, across.y, across.z), cos);
    let upper = [second[0], second[1], second[2]].map(|row| [row[0], row[1], row[2]]);
    if off <= ON_ORBIT
        && let Some(axis) =
            symmetric_eigen(upper).and_then(|e| unit(DVec3::from_array(e.vectors[0])))
    {
        return Hinge { center: Rotation::IDENTITY, axis };
    }
    // Rest is half a turn from all of an orbit whose cosine is 0.
    let (c, s) = if cos > 1e-9 { (q.w / cos, -along / cos) } else { (1.0, 0.0) };
    let turn = rotation([s * axis.x, s * axis.y, s * axis.z, c]);
    Hinge { center: (mean * turn).canonical(), axis }
}

/// Eq 9 to 12: 2 atan2(v · axis, w) of every sample, in (−π, π].
fn hinge_angles(samples: &[&Rotations], hinge: &Hinge, n: usize) -> Vec<f64> {
    let mut angles = Vec::with_capacity(n);
    let mut points = [[0.0; BLOCK]; 3];
    let axis = hinge.axis;
    each_block(samples, hinge.center.inverse(), |block| {
        let n = block[0].len();
        // The turn about the axis alone, as if the axis were x: its rotation vector is the angle.
        let [x, y, z, w] = block;
        for i in 0..n {
            let sin = x[i] * axis.x + y[i] * axis.y + z[i] * axis.z;
            let square = sin * sin + w[i] * w[i];
            let (scale, none) = if square > 0.0 { (1.0 / square.sqrt(), 0.0) } else { (0.0, 1.0) };
            (x[i], y[i], z[i], w[i]) = (sin * scale, 0.0, 0.0, w[i] * scale + none);
        }
        let to = points.each_mut().map(|c| &mut c[..n]);
        batch::log_columns(Level::best(), [x, y, z, w], to);
        let wrapped = |a: &f64| if *a <= -PI { PI } else { *a };
        angles.extend(points[0][..n].iter().map(wrapped));
    });
    angles
}

/// Eq 13 to 15 and 25 to 36: the box of ZYZ Euler angles, and a sentence if it is degenerate.
///
/// # Domain and singularity
///
/// At ψ = 0 only φ + θ is determined, at ψ = π only φ − θ. Samples there (within [`LOCKED`]) say
/// nothing about φ and θ if the box of the others has room for that sum; if it has not, φ is widened.
/// If all are locked, θ is 0, as appendix A has it.
///
/// Beside the lock φ and θ change quickly while their sum does not. A motion around it fills both
/// circles, and the box then allows turns about the bone that nobody made: that is what the sentence
/// says (A8).
///
/// Each arc holds a share of the angles: of samples less than 1 are then inside.
pub(super) fn zyz_box(samples: &[&Rotations], share: f64) -> Option<(EulerBox, Option<String>)> {
    let n: usize = samples.iter().map(|clip| clip.len()).sum();
    let [mut phi, mut psi, mut theta] = [(); 3].map(|()| vec![0.0; n]);
    let mut start = 0;
    for clip in samples {
        let range = start..start + clip.len();
        let to = [&mut phi[range.clone()], &mut psi[range.clone()], &mut theta[range.clone()]];
        batch::euler_angles(Level::best(), EulerOrder::ZYZ, clip, to);
        start = range.end;
    }
    let (mut least, mut most) = (PI, 0.0_f64);
    for &angle in &psi {
        least = if angle < least { angle } else { least };
        most = if angle > most { angle } else { most };
    }
    let psi_arc = if share < 1.0 {
        arcs::holding(&psi, share)?
    } else {
        // From 0 to π the largest gap is always around the back.
        Arc::new(Angle::from_radians(least), Angle::from_radians(most))?
    };

    let is_locked = |psi: f64| !(LOCKED..=PI - LOCKED).contains(&psi);
    let holding = |angles: &[f64]| arcs::holding(angles, share);
    let arcs = if is_locked(least) || is_locked(most) {
        let free = (0..n).filter(|i| !is_locked(psi[*i]));
        let (mut free_phi, free_theta): (Vec<f64>, Vec<f64>) =
            free.map(|i| (phi[i], theta[i])).unzip();
        match (holding(&free_phi), holding(&free_theta)) {
            (Some(first), Some(third)) => {
                for i in (0..n).filter(|i| is_locked(psi[*i])) {
                    let sign = if psi[i] < FRAC_PI_2 { 1.0 } else { -1.0 };
                    free_phi.push(unlocked(first, third, sign, phi[i] + sign * theta[i]));
                }
                [holding(&free_phi)?, third]
            }
            _ => [holding(&phi)?, holding(&theta)?],
        }
    } else {
        [holding(&phi)?, holding(&theta)?]
    };
    let degenerate = degenerate(&phi, &psi, &theta, arcs);
    let euler_box = EulerBox { order: EulerOrder::ZYZ, arcs: [arcs[0], psi_arc, arcs[1]] };
    Some((euler_box, degenerate))
}

/// For a locked sample with φ ± θ = `sum`: the φ in or nearest to its arc for which θ is in its own.
fn unlocked(phi: Arc, theta: Arc, sign: f64, sum: f64) -> f64 {
    let wrapped = |radians: f64| Angle::from_radians(radians).wrapped().radians();
    // With θ in the middle; then φ moves towards its arc as far as θ has room.
    let middle = wrapped(sum - sign * theta.center().radians());
    let nearest = phi.nearest(Angle::from_radians(middle)).map_or(middle, Angle::radians);
    let room = 0.5 * theta.width().radians();
    wrapped(middle - wrapped(middle - nearest).clamp(-room, room))
}

/// The box is degenerate if it allows every turn φ + θ (or φ − θ beyond ψ = 90°) although the samples
/// leave a quarter of them out.
fn degenerate(phi: &[f64], psi: &[f64], theta: &[f64], arcs: [Arc; 2]) -> Option<String> {
    if arcs[0].width().radians() + arcs[1].width().radians() < TAU {
        return None;
    }
    let below = psi.iter().filter(|psi| **psi < FRAC_PI_2).count();
    let sign = if 2 * below >= psi.len() { 1.0 } else { -1.0 };
    let mut turns = Vec::with_capacity(psi.len());
    for ((phi, psi), theta) in phi.iter().zip(psi).zip(theta) {
        // Left out by `exact` where only the other is determined.
        let here = (*psi < FRAC_PI_2) == (sign > 0.0);
        turns.push(if here { wrapped_once(phi + sign * theta) } else { f64::NAN });
    }
    let turns = arcs::exact(&turns)?;
    if turns.width().radians() > TAU - FRAC_PI_2 {
        return None;
    }
    let (name, lock) = if sign > 0.0 { ("φ + θ", "0") } else { ("φ − θ", "180 deg") };
    Some(format!(
        "the ZYZ box is degenerate: near ψ = {lock} only {name} is determined; the samples keep it within \
         {:.0} deg, but φ ranges over {:.0} deg and θ over {:.0} deg, so the box allows every turn about \
         the bone; a swing and twist limit does not have this problem",
        turns.width().degrees(),
        arcs[0].width().degrees(),
        arcs[1].width().degrees()
    ))
}

/// Into (−π, π], for an angle from −2π to 2π.
fn wrapped_once(radians: f64) -> f64 {
    let high = if radians > PI { TAU } else { 0.0 };
    let low = if radians <= -PI { TAU } else { 0.0 };
    (radians - high) + low
}

#[cfg(test)]
mod tests;
