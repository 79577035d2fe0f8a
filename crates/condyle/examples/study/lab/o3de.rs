//! The model of O3DE's joint limit optimiser: a symmetric ellipse of swings in an optimised frame, and
//! the smallest and the largest twist.
//!
//! Written from a description of `EditorJointOptimizer.cpp` (Open 3D Engine, 2022), not from its text:
//! the swing ellipse is in tan(angle/4) space, the frame of the joint is free, the objective is the mean
//! violation plus 0.1 times the product of the two swing limits, limits are at most π − 0.01, and the
//! twist is the minimum and the maximum of the wrapped angles. The description does not say what a
//! violation is; here it is how far the point is outside of the unit circle when the ellipse is scaled
//! to it. The optimiser is our own: Nelder and Mead, from several starts.

use std::f64::consts::PI;

use condyle::glam::DVec3;
use condyle::math::{Angle, Arc, Rotation, direct_rotation, mean_rotation, trig};

use super::Fault;
use super::methods::{Judge, LEAST, Training, axis, plain, shortest};

/// How the limits are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Violations weighed against size, twist by plain minimum and maximum.
    AsDescribed,
    /// The smallest ellipse that holds every sample, twist by the shortest arc: stronger than what it
    /// is named after.
    AllInside,
}

/// Swing limits, in radians: at least and at most.
const THIN: f64 = 0.01;
const WIDE: f64 = PI - 0.01;

/// The weight of the limits' product.
const SIZE: f64 = 0.1;

/// The optimiser looks at no more samples than this, evenly spread.
const ENOUGH: usize = 800;

/// A joint frame with its limits.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// From the parent's space to the joint frame.
    back: Rotation,
    /// The child's frame: x along the bone.
    bone: Rotation,
}

impl Frame {
    /// tan(angle/4) times the axis of the swing (y, z), and the twist.
    ///
    /// With `m = (w, x, y, z) = swing · twist`, twist about x, the swing is
    /// `(n, 0, c y − s z, c z + s y)`, `n² = w² + x²`, `(c, s) = (w, x)/n`; and tan(θ/4) =
    /// sin(θ/2)/(1 + cos(θ/2)).
    fn split(&self, q: Rotation) -> ([f64; 2], f64) {
        let [w, x, y, z] = (self.back * q * self.bone).to_wxyz();
        let n = (w * w + x * x).sqrt();
        let (c, s) = if n > 0.0 { (w / n, x / n) } else { (1.0, 0.0) };
        let twist = Angle::from_radians(2.0 * trig::atan2(x, w)).wrapped().radians();
        ([(c * y - s * z) / (1.0 + n), (c * z + s * y) / (1.0 + n)], twist)
    }
}

/// One judge per joint.
pub(crate) fn fit(training: &Training, variant: Variant) -> Result<Vec<Judge>, Fault> {
    let mut judges: Vec<Judge> = Vec::new();
    let skeleton = &training.skeleton;
    for (joint, samples) in skeleton.indices().skip(1).zip(&training.samples) {
        let bone = skeleton.bone_axis(joint).unwrap_or(DVec3::X);
        judges.push(fit_one(samples, bone, variant).ok_or("a joint without samples")?);
    }
    Ok(judges)
}

fn fit_one(samples: &[Rotation], bone: DVec3, variant: Variant) -> Option<Judge> {
    let child = direct_rotation(DVec3::X, bone)?.rotation;
    let mean = mean_rotation(samples.iter().map(|q| (*q, 1.0)))?.rotation;
    let start = mean * child;
    let step = samples.len().div_ceil(ENOUGH).max(1);
    let few: Vec<Rotation> = samples.iter().step_by(step).copied().collect();
    let frame = |x: &[f64]| {
        let turn = Rotation::exp(DVec3::new(x[0], x[1], x[2])).unwrap_or(Rotation::IDENTITY);
        Frame { back: (start * turn).inverse(), bone: child }
    };
    // The mean violation and the size.
    let soft = |x: &[f64]| {
        let frame = frame(x);
        let [ty, tz] = [x[3], x[4]].map(|limit| trig::tan(0.25 * limit.clamp(THIN, WIDE)));
        let off = |q: &Rotation| {
            let ([y, z], _) = frame.split(*q);
            (trig::hypot(y / ty, z / tz) - 1.0).max(0.0)
        };
        let violation: f64 = few.iter().map(off).sum::<f64>() / few.len() as f64;
        violation + SIZE * x[3].clamp(THIN, WIDE) * x[4].clamp(THIN, WIDE)
    };
    // The smallest ellipse of a shape: 0 is round, ±π/2 are lines.
    let limits = |samples: &[Rotation], frame: &Frame, shape: f64| {
        let (sin, cos) = trig::sin_cos(0.5 * (shape.clamp(-PI / 2.0, PI / 2.0) + PI / 2.0));
        let (ty, tz) = (cos.max(1e-3), sin.max(1e-3));
        let size = |q: &Rotation| {
            let ([y, z], _) = frame.split(*q);
            trig::hypot(y / ty, z / tz)
        };
        let scale = samples.iter().map(size).fold(0.0, f64::max);
        [ty, tz].map(|t| (4.0 * trig::atan2(scale * t, 1.0)).clamp(THIN, WIDE))
    };
    let tight = |x: &[f64]| {
        let [y, z] = limits(&few, &frame(x), x[3]);
        y * z
    };

    let mut best: Option<(f64, Vec<f64>)> = None;
    for turn in [0.0, 0.25, 0.5, 0.75] {
        let about = turn * PI / 2.0;
        let found = match variant {
            Variant::AsDescribed => minimise(&[about, 0.0, 0.0, 0.8, 0.8], 0.3, 250, soft),
            Variant::AllInside => minimise(&[about, 0.0, 0.0, 0.0], 0.3, 250, tight),
        };
        if best.as_ref().is_none_or(|(value, _)| found.0 < *value) {
            best = Some(found);
        }
    }
    let x = best?.1;
    // Once more around what was found.
    let x = match variant {
        Variant::AsDescribed => minimise(&x, 0.05, 400, soft).1,
        Variant::AllInside => minimise(&x, 0.05, 400, tight).1,
    };

    // The ellipse is the same when the frame turns by half a turn, or by a quarter with the limits
    // swapped; the twist then starts elsewhere. The narrowest range counts.
    let ends = if variant == Variant::AsDescribed { plain } else { shortest };
    let mut chosen: Option<(Frame, [f64; 2], Arc)> = None;
    for quarter in 0..4_u8 {
        let mut frame = frame(&x);
        let mut limit = match variant {
            Variant::AsDescribed => [x[3], x[4]].map(|l| l.clamp(THIN, WIDE)),
            Variant::AllInside => limits(samples, &frame, x[3]),
        };
        if quarter % 2 == 1 {
            limit.reverse();
        }
        let turn = Rotation::about_x(Angle::from_radians(f64::from(quarter) * PI / 2.0));
        frame.back = turn.inverse() * frame.back;
        let twists: Vec<f64> = samples.iter().map(|q| frame.split(*q).1).collect();
        let arc = ends(&twists);
        let narrower = |c: &(Frame, [f64; 2], Arc)| arc.width().radians() < c.2.width().radians();
        if chosen.as_ref().is_none_or(narrower) {
            chosen = Some((frame, limit, arc));
        }
    }
    let (frame, limit, arc) = chosen?;
    Some(Box::new(move |q| {
        let (swing, twist) = frame.split(q);
        beyond(limit, swing).max(axis(arc, Angle::from_radians(twist)))
    }))
}

/// By how many degrees both swing limits have to grow, each to at most π − 0.01.
fn beyond(limit: [f64; 2], swing: [f64; 2]) -> f64 {
    let inside = |margin: f64| {
        let grown = limit.map(|l| (l + margin.to_radians()).clamp(l.min(THIN), WIDE));
        let [ty, tz] = grown.map(|l| trig::tan(0.25 * l));
        trig::hypot(swing[0] / ty, swing[1] / tz) <= 1.0
    };
    if inside(LEAST) {
        return LEAST;
    }
    let (mut no, mut yes) = (LEAST, 180.0);
    while yes - no > 1e-3 {
        let middle = 0.5 * (no + yes);
        if inside(middle) { yes = middle } else { no = middle }
    }
    yes
}

/// A minimum near a start.
///
/// # Source
///
/// J. A. Nelder and R. Mead, "A simplex method for function minimization", The Computer Journal 7(4),
/// 1965, 308–313, with their coefficients 1, 2, ½, ½.
fn minimise(start: &[f64], step: f64, steps: usize, f: impl Fn(&[f64]) -> f64) -> (f64, Vec<f64>) {
    let mut simplex: Vec<(f64, Vec<f64>)> = vec![(f(start), start.to_vec())];
    for i in 0..start.len() {
        let mut x = start.to_vec();
        x[i] += step;
        simplex.push((f(&x), x));
    }
    let n = start.len() as f64;
    for _ in 0..steps {
        simplex.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some((worst, rest)) = simplex.split_last_mut() else { break };
        let middle: Vec<f64> =
            (0..start.len()).map(|i| rest.iter().map(|(_, x)| x[i]).sum::<f64>() / n).collect();
        let towards = |by: f64| {
            let x: Vec<f64> = middle.iter().zip(&worst.1).map(|(m, w)| m + by * (m - w)).collect();
            (f(&x), x)
        };
        let (best, second) = (rest[0].0, rest[rest.len() - 1].0);
        let reflected = towards(1.0);
        if reflected.0 < best {
            let far = towards(2.0);
            *worst = if far.0 < reflected.0 { far } else { reflected };
        } else if reflected.0 < second {
            *worst = reflected;
        } else {
            let near = towards(if reflected.0 < worst.0 { 0.5 } else { -0.5 });
            if near.0 < worst.0.min(reflected.0) {
                *worst = near;
            } else {
                let to = rest[0].1.clone();
                for (value, x) in simplex.iter_mut().skip(1) {
                    for (x, to) in x.iter_mut().zip(&to) {
                        *x = 0.5 * (*x + to);
                    }
                    *value = f(x);
                }
            }
        }
    }
    simplex.sort_by(|a, b| a.0.total_cmp(&b.0));
    simplex.swap_remove(0)
}
