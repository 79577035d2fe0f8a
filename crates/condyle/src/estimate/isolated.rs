//! Glitches among samples that have no order in time: few, alone, and beyond what the others explain.
//!
//! Where rotations lie in the space of all rotations tells little: 2000 samples of a ball joint are 5
//! to 10° apart there. What limits are made of is denser: the angles of a hinge and of a universal joint,
//! the directions of a bone, the twist about it. A sample that is alone at the rim of one of these,
//! beyond a gap that the density of the samples behind it does not explain, is a glitch.

use std::borrow::Cow;
use std::f64::consts::{LN_2, LN_10, PI, TAU};

use glam::DVec3;

use super::ball::FARTHEST;
use super::boundary::emptiest;
use super::grid::Grid;
use super::hinge::Hinge;
use super::joint::Seen;
use super::kinds::Decision;
use super::models::{Spread, Universal};
use super::moments::rotation_unchecked;
use super::neighbours::Neighbours;
use super::samples::{chord_squared, dot, fill, rows, sort_by_upper_half};
use super::universal::UniversalJoint;
use crate::math::{
    Level, Rotation, Rotations, SwingAxes, batch, direct_rotation, exp, log, trig, unit,
};
use crate::rig::JointKind;

/// Fewer samples than this are all kept: one of them is more than [`MOST`].
pub(super) const FEW: usize = 50;

/// At most this share of the samples are glitches.
const MOST: f64 = 0.02;

/// And no more than so many, each of which is compared with each.
const AT_MOST: usize = 4096;

/// How probable it may be that chance makes a gap, in a joint whose samples are evenly spread.
const LEVEL: f64 = 1e-4;

/// The density at the end of an arc is that of so many samples behind it. Fewer would not tell it, more
/// would take an end where samples get rare for one where they stop.
const BEHIND: usize = 6;

/// The density at the rim of a region is that of so many neighbours.
const AROUND: usize = 8;

/// A glitch has fewer than this many others around it, see [`alone`]: so many are poses.
const COMPANY: usize = 3;

/// Residuals below this are no glitches, radians: 5°.
const LEAST_RESIDUAL: f64 = 5.0 * (PI / 180.0);

impl Seen {
    /// Of clips whose frames have no order, leaves out the few samples that lie far from a fixed
    /// rotation, from a hinge, or from a universal joint that nearly all the others lie on. Where time
    /// runs, what is far from the others but reached on a smooth way is no glitch.
    ///
    /// The fixed rotation comes first: in the moments of a joint that moves little, glitches weigh more
    /// than its motion, and the axis would be theirs.
    pub(super) fn trim(&mut self) {
        for model in [JointKind::Fixed, JointKind::Hinge, JointKind::Universal] {
            for _ in 0..3 {
                let n: usize = self.clips.iter().map(|clip| clip.rotations.len()).sum();
                let most = self.most_left_out();
                if n < FEW || most == 0 {
                    return;
                }
                let Some(evidence) = &self.evidence else { return };
                let residual = match model {
                    JointKind::Fixed => Residual::Fixed(evidence.spread.mean()),
                    JointKind::Hinge => Residual::hinge(&evidence.spread),
                    _ => match evidence.universal {
                        Some(universal) => Residual::Universal(universal),
                        None => return,
                    },
                };
                if self.clips.iter().all(|clip| residual.is_small_in(&clip.rotations)) {
                    break;
                }
                let mut sizes = vec![0.0; n];
                let mut rest = sizes.as_mut_slice();
                for clip in &self.clips {
                    let (these, others) = rest.split_at_mut(clip.rotations.len());
                    residual.measure(clip.rotations.xyzw(), these);
                    rest = others;
                }
                let Some(cut) = cut(&sizes, most) else { break };
                let bad: Vec<bool> = sizes.iter().map(|size| *size > cut).collect();
                if !self.leave_out(bad) {
                    break;
                }
            }
        }
    }

    /// Without the samples that stick out alone, where the order of frames does not tell glitches;
    /// `None` if there are none of them.
    pub(super) fn without_isolated(&self, decision: &Decision, bone: DVec3) -> Option<Self> {
        let most = self.most_left_out();
        let count: usize = self.clips.iter().map(|clip| clip.rotations.len()).sum();
        if count < FEW || most == 0 {
            return None;
        }
        let all = self.together();
        // What is within three times the noise of the others does no harm.
        let mut field = Field { most, least: 3.0 * decision.noise, bad: vec![false; all.len()] };
        let evidence = self.evidence.as_ref()?;
        match decision.kind {
            JointKind::Hinge => {
                let hinge = Hinge::fit(&evidence.spread, &self.moments, decision.noise);
                let angles = hinge.angles(&all);
                field.look_at_angles(1, |i| Some(angles[i]));
            }
            JointKind::Universal => {
                let fit = evidence.universal.as_ref()?;
                let (spread, matrices) = (&evidence.spread, &evidence.matrices);
                let joint = UniversalJoint::new(fit, spread, matrices, decision.noise)?;
                for angles in joint.angles(&all) {
                    field.look_at_angles(2, |i| Some(angles[i]));
                }
            }
            JointKind::Ball => field.look_at_ball(&all, bone),
            _ => return None,
        }
        let mut kept = self.clone();
        kept.leave_out(field.bad).then_some(kept)
    }

    /// The samples of all clips, one after the other.
    fn together(&self) -> Cow<'_, Rotations> {
        match self.clips.as_slice() {
            [only] => Cow::Borrowed(&only.rotations),
            clips => Cow::Owned(clips.iter().flat_map(|clip| clip.rotations.iter()).collect()),
        }
    }

    /// How many more samples may be left out; none where time tells what is a glitch.
    fn most_left_out(&self) -> usize {
        if self.clips.iter().all(|clip| clip.ordered) {
            return 0;
        }
        // Glitches that time tells do not count.
        let unordered = self.clips.iter().filter(|clip| !clip.ordered);
        let left: usize = unordered.map(|clip| clip.left_out.len()).sum();
        let all: usize = self.clips.iter().map(|clip| clip.rotations.len()).sum();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to n")]
        let most = (MOST * (all + left) as f64) as usize;
        most.clamp(1, AT_MOST).saturating_sub(left)
    }

    /// Leaves out of the clips without order the samples that are marked, clip after clip, if they are
    /// alone and not too many. Says whether there were any.
    fn leave_out(&mut self, mut bad: Vec<bool>) -> bool {
        let mut at = 0;
        for clip in &self.clips {
            let flags = &mut bad[at..at + clip.rotations.len()];
            if clip.ordered {
                flags.fill(false);
            }
            at += flags.len();
        }
        let marked: Vec<usize> = (0..bad.len()).filter(|i| bad[*i]).collect();
        if marked.is_empty() {
            return false;
        }
        let all = self.together();
        let rotations: Vec<Rotation> = marked.iter().map(|i| all.at(*i)).collect();
        for (i, alone) in marked.iter().zip(alone(&rotations)) {
            bad[*i] = alone;
        }
        let count = bad.iter().filter(|b| **b).count();
        if count == 0 || count > self.most_left_out() {
            return false;
        }
        let mut flags = bad.into_iter();
        for clip in &mut self.clips {
            clip.drop_where(|_| flags.next().unwrap_or(false));
        }
        self.look();
        true
    }
}

/// Residuals above this are of glitches; `None` if there are none, or more than `most`.
///
/// They are far from nearly all others: more than eight standard deviations as the median tells them, and
/// 5° at least. And they are beyond a gap, so that a model that explains samples worse and worse the
/// farther they are does not lose them.
fn cut(sizes: &[f64], most: usize) -> Option<f64> {
    // Mostly there are none, which takes no sorting.
    let beyond = |sizes: &[f64], far: f64| {
        let within = sizes.iter().filter(|size| **size <= far);
        sizes.len() - within.count()
    };
    if beyond(sizes, LEAST_RESIDUAL) == 0 {
        return None;
    }
    let n = sizes.len();
    // No size is far where the median is a twelfth of the largest: then more than half are above that.
    const FAR: f64 = 8.0 * 1.4826;
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    if beyond(sizes, 1.000_001 * largest / FAR) > n / 2 + 1 {
        return None;
    }
    let mut sizes = sizes.to_vec();
    let (_, median, _) = sizes.select_nth_unstable_by(n / 2, f64::total_cmp);
    let far = (FAR * *median).max(LEAST_RESIDUAL);
    if !(1..=most).contains(&beyond(&sizes, far)) {
        return None;
    }
    sizes.sort_unstable_by(f64::total_cmp);
    // Some glitches may be within.
    let from = (n - 1 - most.min(n - 1)).max(BEHIND);
    let end = end(|i| sizes[i], from..n - 1, 0.0, 0.0, most as f64 / LEVEL)?;
    Some(sizes[end].max(far))
}

/// Where samples end that rise with their number: the last one before a gap that chance makes less often
/// than once in `rare` times, looked for from the samples in `range` on. Gaps up to `least` are none, and
/// samples are taken to be at least `usual` apart.
///
/// With samples evenly spread around, the way x from one sample to the m-th after it and the range D of the
/// k samples before it are gamma variables of the same scale, so that
///
/// ```text
///   P(x > t D) = (1 + t)⁻ᵏ Σ C(k + j − 1, j) (t / (1 + t))ʲ,   j from 0 to m − 1
/// ```
///
/// whatever the density is; the sum is below 1, k + 1 and (k + 1)(k + 2) / 2 for the m from 1 to 3. Ways over
/// more than one gap are looked at because one glitch near the others would hide the next.
fn end(
    at: impl Fn(usize) -> f64,
    range: std::ops::Range<usize>,
    usual: f64,
    least: f64,
    rare: f64,
) -> Option<usize> {
    let until = range.end;
    for i in range {
        let behind = (at(i) - at(i - BEHIND)).max(BEHIND as f64 * usual).max(1e-9);
        for (m, sum) in (i + 1..=until).zip(SUMS) {
            let ratio = 1.0 + (at(m) - at(i)) / behind;
            let cube = ratio * ratio * ratio;
            if cube * cube > sum * rare {
                let gap = |j: usize| at(j + 1) - at(j);
                let widest = (i..m).fold(i, |a, b| if gap(b) > gap(a) { b } else { a });
                if gap(widest) > least {
                    return Some(widest);
                }
            }
        }
    }
    None
}

/// Of the probability that [`end`] looks at, for a way over one gap, over two and over three.
const SUMS: [f64; COMPANY] = [1.0, 7.0, 28.0];

/// How far rotations are from a model, radians.
enum Residual {
    Fixed(Rotation),
    /// From the plane of two quaternions.
    Hinge([[f64; 4]; 2]),
    Universal(Universal),
}

impl Residual {
    fn hinge(spread: &Spread) -> Self {
        Self::Hinge(spread.orbit())
    }

    /// Whether all rotations are certainly less than [`LEAST_RESIDUAL`] off. It is no answer that some
    /// are not; but of a universal joint this takes no angles.
    fn is_small_in(&self, samples: &Rotations) -> bool {
        const BLOCK: usize = 256;
        let [low, high] = match self {
            Self::Universal(Universal { c, .. }) => {
                let angle = trig::acos(c.clamp(-1.0, 1.0));
                let least = trig::cos((angle + LEAST_RESIDUAL).min(PI));
                let most = trig::cos((angle - LEAST_RESIDUAL).max(0.0));
                [least + 1e-9, most - 1e-9]
            }
            _ => [f64::NEG_INFINITY, LEAST_RESIDUAL],
        };
        let mut values = [0.0; BLOCK];
        (0..samples.len()).step_by(BLOCK).all(|start| {
            let count = BLOCK.min(samples.len() - start);
            let columns = rows(samples.xyzw(), start, count);
            let values = &mut values[..count];
            match self {
                Self::Universal(Universal { a, b, .. }) => {
                    fill(values, [columns], |[q]| a.dot(rotation_unchecked(q) * *b));
                }
                _ => self.measure(columns, values),
            }
            values.iter().all(|value| low < *value && *value < high)
        })
    }

    /// How far each of some rotations is off.
    fn measure(&self, columns: [&[f64]; 4], off: &mut [f64]) {
        match self {
            Self::Fixed(mean) => {
                let mean = mean.quat().to_array();
                fill(off, [columns], |[q]| 2.0 * chord_squared(mean, q).sqrt());
            }
            Self::Hinge([p, r]) => fill(off, [columns], |[q]| {
                let (along, across) = (dot(*p, q), dot(*r, q));
                let inside = along * along + across * across;
                2.0 * (1.0 - inside).max(0.0).sqrt()
            }),
            // To first order would do for samples, but not where the axes are nearly parallel, as those
            // of a hinge are.
            Self::Universal(Universal { a, b, c, .. }) => {
                let angle = trig::acos(c.clamp(-1.0, 1.0));
                fill(off, [columns], |[q]| {
                    let cos = a.dot(rotation_unchecked(q) * *b);
                    (trig::acos_kernel(cos.clamp(-1.0, 1.0)) - angle).abs()
                });
            }
        }
    }
}

/// Which of the rotations have fewer than [`COMPANY`] others around them.
///
/// Glitches are anywhere, so that m of them have m r³ / 6π others within a small angle r on average. The
/// radius is where that is a tenth, and 10° at most: by chance three are there once in 6000 times.
fn alone(rotations: &[Rotation]) -> Vec<bool> {
    let m = rotations.len() as f64;
    // Of chords of quaternions, which are half the angle: (2 c)³ m < 0.6 π without roots.
    let largest = (0.5 * 10.0_f64.to_radians()) * (0.5 * 10.0_f64.to_radians());
    let bound = (0.6 * PI) * (0.6 * PI) / (64.0 * m * m);
    let near = |a: Rotation, b: Rotation| {
        let (p, q) = (a.quat(), b.quat());
        let q = if p.dot(q) < 0.0 { -q } else { q };
        let square = (p - q).length_squared();
        square < largest && square * square * square < bound
    };
    // Each is near to itself.
    let company =
        |a: Rotation| rotations.iter().filter(|b| near(a, **b)).take(COMPANY + 1).count() - 1;
    rotations.iter().map(|a| company(*a) < COMPANY).collect()
}

/// Samples of a joint, and which of them stick out.
struct Field {
    /// No more than so many can be glitches.
    most: usize,
    /// A gap below this is none, radians.
    least: f64,
    bad: Vec<bool>,
}

impl Field {
    /// Marks samples beyond gaps of one of `count` angles. Samples without that angle do not count.
    fn look_at_angles(&mut self, count: usize, angle: impl Fn(usize) -> Option<f64>) {
        let kept = (0..self.bad.len()).filter(|i| !self.bad[*i]);
        let angles: Vec<(f64, usize)> =
            kept.filter_map(|i| angle(i).filter(|a| a.is_finite()).map(|a| (a, i))).collect();
        for i in beyond_gaps(angles, self.most, self.least, count) {
            self.bad[i] = true;
        }
    }

    /// Marks samples of a ball joint: by direction first, then by twist, of all together and of those
    /// around some directions, as limits have it.
    fn look_at_ball(&mut self, all: &Rotations, bone: DVec3) {
        let directions: Vec<DVec3> = all.iter().map(|q| q * bone).collect();
        for i in lone_directions(&directions, self.most, self.least) {
            self.bad[i] = true;
        }
        let kept = |field: &Self| -> Vec<DVec3> {
            let flags = field.bad.iter().zip(&directions);
            flags.filter(|(bad, _)| !**bad).map(|(_, d)| *d).collect()
        };
        let Some(axes) = SwingAxes::new(bone, None) else { return };
        let twists = |center: Rotation, of: &Rotations| {
            let mut twists = vec![0.0; of.len()];
            batch::angles_about(Level::best(), center.inverse(), axes.bone(), of, &mut twists);
            twists
        };
        // About the mean, which glitches hardly move, then about where limits have their zero.
        for which in 0..3 {
            let zero = match which {
                0 => unit(kept(self).iter().sum()),
                1 => emptiest(&kept(self), None).map(|d| -d),
                _ => Some(bone),
            };
            let Some(zero) = zero else { continue };
            let Some(center) = direct_rotation(bone, zero) else { continue };
            // Near the opposite the twist says nothing.
            let told = |i: usize| directions[i].dot(zero) > FARTHEST;
            let twists = twists(center.rotation, all);
            self.look_at_angles(3, |i| told(i).then(|| twists[i]));
        }
        let nodes = spread_nodes(&kept(self));
        for node in &nodes {
            let Some(center) = direct_rotation(bone, *node) else { continue };
            let near = |i: &usize| !self.bad[*i] && directions[*i].dot(*node) > NODE_NEAR;
            let near: Vec<usize> = (0..directions.len()).filter(near).collect();
            let picked = all.xyzw().map(|column| near.iter().map(|i| column[*i]).collect());
            let twists = twists(center.rotation, &Rotations::from_columns(picked));
            let angles = twists.into_iter().zip(near).filter(|(angle, _)| angle.is_finite());
            for i in beyond_gaps(angles.collect(), self.most, self.least, nodes.len()) {
                self.bad[i] = true;
            }
        }
    }
}

/// Nodes of twist are this far apart, about: 25°.
const NODE_SPACING: f64 = 25.0 * PI / 180.0;

const MAX_NODES: usize = 32;

/// The cosine of how near to a node samples count: a little more than the spacing.
const NODE_NEAR: f64 = 0.882_947_592_858_926_9;

/// Directions of samples, each far from those before, until none is.
fn spread_nodes(all: &[DVec3]) -> Vec<DVec3> {
    // Whatever the order of clips and the frame of the joint.
    let mean: DVec3 = all.iter().sum();
    let Some(start) = all.iter().copied().min_by(|a, b| a.dot(mean).total_cmp(&b.dot(mean))) else {
        return Vec::new();
    };
    let mut nodes = vec![start];
    let mut nearest: Vec<f64> = all.iter().map(|d| d.dot(start)).collect();
    let (_, spacing) = trig::sin_cos(NODE_SPACING);
    while nodes.len() < MAX_NODES {
        let Some((i, most)) =
            nearest.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))
        else {
            break;
        };
        if most > spacing {
            break;
        }
        let node = all[i];
        nodes.push(node);
        for (near, direction) in nearest.iter_mut().zip(all) {
            *near = near.max(direction.dot(node));
        }
    }
    nodes
}

/// The samples beyond gaps: of angles on the circle, each with its number.
///
/// From the shortest arc that holds all but the `most` samples we go outwards at both ends, up to a gap that
/// is [too wide](end): made by chance less often than [`LEVEL`] in all that are looked at, here and in
/// `count − 1` other angles. What is beyond is beyond the limit, few or many together. The density is taken to be no higher
/// than on average, so that a cluster at the end, or several samples at the same angle, do not make
/// everything else stick out.
fn beyond_gaps(mut angles: Vec<(f64, usize)>, most: usize, least: f64, count: usize) -> Vec<usize> {
    let n = angles.len();
    if n < FEW {
        return Vec::new();
    }
    for (angle, _) in &mut angles {
        // Less than a turn it is its own remainder.
        let rest = if angle.abs() < TAU { *angle } else { *angle % TAU };
        *angle = if rest < 0.0 { rest + TAU } else { rest };
    }
    let outside = most_outside(n, most);
    let rare = (2 * outside * count) as f64 / LEVEL;
    if has_one_gap(&angles, least.max(least_gap(&angles, n - outside, rare))) {
        return Vec::new();
    }
    beyond_sorted(angles, outside, least, rare)
}

/// How many of so many samples may be beyond gaps: of few near a node some more may be glitches than of
/// all together.
fn most_outside(count: usize, most: usize) -> usize {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the count")]
    let share = (MOST * count as f64) as usize;
    most.min(share.max(COMPANY))
}

/// [`beyond_gaps`] by looking at all gaps; `outside` is how many samples the shortest arc need not hold.
fn beyond_sorted(
    mut angles: Vec<(f64, usize)>,
    outside: usize,
    least: f64,
    rare: f64,
) -> Vec<usize> {
    sort_by_angle(&mut angles);
    let n = angles.len();
    let core = n - outside;
    let at = |i: usize| match i / n {
        0 => angles[i].0,
        turns => angles[i % n].0 + TAU * turns as f64,
    };
    let width = |i: usize| at(i + core - 1) - at(i);
    let (mut first, mut shortest) = (0, f64::INFINITY);
    for i in 0..n {
        let width = width(i);
        if width < shortest {
            (first, shortest) = (i, width);
        }
    }
    // One turn up, so that going down stays above zero.
    let (first, last) = (first + n, first + n + core - 1);
    let usual = (at(last) - at(first)) / core as f64;
    let up = end(at, last..first + n - 1, usual, least, rare).unwrap_or(first + n - 1);
    // The same with signs changed, numbered from above.
    let top = 2 * first;
    let mirrored = |i: usize| -at(top - i);
    let down = end(mirrored, first..top + n - last - 1, usual, least, rare);
    let down = down.map_or(last + 1 - n, |i| top - i);
    // From above the upper end to below the lower one.
    (up + 1..down + n).map(|i| angles[i % n].1).collect()
}

/// Sorts angles from 0 to a turn, those that are equal by their numbers, which rise.
fn sort_by_angle(angles: &mut Vec<(f64, usize)>) {
    const UPPER: u64 = !0 << 32;
    let scale = f64::from(u32::MAX) / TAU;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let rough = |angle: f64| u64::from((angle * scale) as u32) << 32;
    // The lower half is the place.
    let mut order: Vec<u64> =
        angles.iter().zip(0..).map(|((angle, _), i)| rough(*angle) | i).collect();
    sort_by_upper_half(&mut order, u32::BITS);
    let at = |entry: &u64| angles[usize::try_from(entry & !UPPER).unwrap_or(0)];
    for group in order.chunk_by_mut(|a, b| a & UPPER == b & UPPER) {
        if group.len() > 1 {
            group.sort_unstable_by(|a, b| {
                let (a, b) = (at(a), at(b));
                a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
            });
        }
    }
    *angles = order.iter().map(at).collect();
}

/// A gap between angles from 0 to a turn that [`end`] finds is wider than this, if samples are taken to
/// be at least as far apart as in the shortest arc that holds `core` of them.
///
/// Parts of the circle tell how long that arc is at least: it reaches into as many as it takes to have
/// so many samples, and holds all but the first and the last of them. With these `usual` samples apart,
/// `x > (ᵐ√(sum · rare) − 1) · BEHIND · usual` over m gaps, the sixth root, and the widest of them is
/// no less than an m-th of it.
fn least_gap(angles: &[(f64, usize)], core: usize, rare: f64) -> f64 {
    const PARTS: usize = 256;
    let mut counts = [0_usize; PARTS];
    for (angle, _) in angles {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let part = (angle * (PARTS as f64 / TAU)) as u32 as usize;
        counts[part.min(PARTS - 1)] += 1;
    }
    let (mut fewest, mut held, mut until) = (PARTS, 0, 0);
    for from in 0..PARTS {
        while held < core && until < from + PARTS {
            held += counts[until % PARTS];
            until += 1;
        }
        if held >= core {
            fewest = fewest.min(until - from);
        }
        held -= counts[from];
    }
    let arc = fewest.saturating_sub(2) as f64 * (TAU / PARTS as f64);
    let behind = BEHIND as f64 * arc / core as f64;
    let gap = |(sum, m): (f64, f64)| (exp(log(sum * rare) / BEHIND as f64) - 1.0) * behind / m;
    let least = SUMS.into_iter().zip([1.0, 2.0, 3.0]).map(gap).fold(f64::INFINITY, f64::min);
    // More than rounding.
    0.999 * least
}

/// Whether certainly no more than one gap between angles from 0 to a turn is wider than this, so that
/// nothing is between two of them. Mostly that is so, and takes no sorting.
fn has_one_gap(angles: &[(f64, usize)], wider: f64) -> bool {
    const LEAST: f64 = 1e-4;
    if wider < LEAST {
        return false;
    }
    // A gap has at least one whole part in it.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "3 to 125664")]
    let parts = (2.0 * TAU / wider).ceil().max(3.0) as usize;
    // So few are sorted in less time.
    if parts > 16 * angles.len() {
        return false;
    }
    let scale = parts as f64 / TAU;
    let mut filled = vec![false; parts];
    for (angle, _) in angles {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let part = (angle * scale) as u32 as usize;
        filled[part.min(parts - 1)] = true;
    }
    let next = filled.iter().skip(1).chain(filled.first());
    filled.iter().zip(next).filter(|(here, next)| **here && !**next).count() <= 1
}

/// The directions that are alone beyond the rim of the others.
///
/// A sample at the rim has a part of each disc around it inside, say a half. With a density ρ that part of the
/// area A is empty with probability exp(−ρ A); ρ is known from the area B around samples nearby that has k
/// others in it, a gamma variable. So that the distance g to the nearest is
///
/// ```text
///   P(g² > t r_k²) = E exp(−t ρ B) = (1 + t)⁻ᵏ
/// ```
///
/// with the distance `r_k` of the k-th neighbour: the median of those of some samples nearest to it, or what it
/// is for most samples if that is more. For all samples at the rim together, 4 √n of n in a
/// square, this has to be below [`LEVEL`]. Up to [`COMPANY`] close together are as good as alone: distances are from samples that are not. Chords make
/// areas exact on the sphere.
fn lone_directions(directions: &[DVec3], most: usize, least: f64) -> Vec<usize> {
    // From so many in the cell of a sample a tree is faster than a grid.
    const CROWD: f64 = 32.0;
    lone_directions_by(directions, most, least, CROWD)
}

fn lone_directions_by(directions: &[DVec3], most: usize, least: f64, crowd: f64) -> Vec<usize> {
    const NEAREST: usize = 6;
    let n = directions.len();
    // Some few in each cell.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped there")]
    let grid = Grid::new(directions, (0.5 * n as f64).sqrt() as usize);
    // Most of them in a small part of the sphere are in few cells, each to be compared with all in its own.
    let tree = (grid.crowd() > crowd).then(|| Neighbours::new(directions, |_| true));
    // Of evenly spread samples 95 % have their nearest within √(ln 20 / ρ π).
    let mut first = match &tree {
        // Itself is the nearest.
        Some(tree) => grid.points().iter().map(|d| tree.nearest::<2>(*d, None)[1].0).collect(),
        None => grid.all_nearest(),
    };
    let place = n - 1 - n / 20;
    let spacing = *first.select_nth_unstable_by(place, f64::total_cmp).1;
    let usual = AROUND as f64 * spacing / (LN_10 + LN_2);
    // (1 + t)⁸ = 4 √n / LEVEL.
    let factor = (4.0 * (n as f64).sqrt() / LEVEL).sqrt().sqrt().sqrt() - 1.0;
    let least = (factor * usual).max(least * least);
    let alone = |(place, _): &(usize, usize)| match &tree {
        Some(_) if grid.has_in_cell(*place, COMPANY, least) => false,
        Some(tree) => {
            tree.nearest::<{ COMPANY + 1 }>(grid.points()[*place], None)[COMPANY].0 > least
        }
        None => !grid.has_within(*place, COMPANY, least),
    };
    let mut candidates: Vec<usize> =
        grid.numbers().enumerate().filter(alone).map(|(_, i)| i).collect();
    candidates.sort_unstable();
    if candidates.is_empty() || candidates.len() > most {
        return Vec::new();
    }
    let mut is_candidate = vec![false; n];
    candidates.iter().for_each(|&i| is_candidate[i] = true);
    let others = Neighbours::new(directions, |i| !is_candidate[i]);
    let everything = tree.unwrap_or_else(|| Neighbours::new(directions, |_| true));
    // How far the last of those around a sample is.
    let scale_at = |j: usize| {
        let of = directions.get(j).map(|d| everything.nearest::<AROUND>(*d, Some(j)));
        of.map_or(f64::INFINITY, |near| near[AROUND - 1].0)
    };
    let sticks_out = |&i: &usize| {
        let around = others.nearest::<NEAREST>(directions[i], None);
        let mut scales = around.map(|(_, j)| scale_at(j));
        scales.sort_unstable_by(f64::total_cmp);
        let scale = scales[NEAREST / 2].max(usual);
        around[0].0 > (factor * scale).max(least)
    };
    candidates.into_iter().filter(sticks_out).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    /// Where most directions are in a small part of the sphere, each with thousands in its cell of a grid.
    #[test]
    fn directions_are_as_lone_by_the_tree_as_by_the_grid() {
        let mut rng = Rng::new(6);
        for (spread, outliers) in [(1.0, 0), (0.02, 3), (0.002, 12), (0.0, 5)] {
            let mut directions: Vec<DVec3> = (0..4000)
                .filter_map(|_| unit(DVec3::X + rng.direction() * spread * rng.uniform()))
                .collect();
            directions.extend((0..outliers).map(|_| rng.direction()));
            let by = |crowd: f64| lone_directions_by(&directions, 80, 0.01, crowd);
            let found = by(f64::INFINITY);
            assert_eq!(found, by(0.0), "{spread} {outliers}");
            assert!(found.len() <= outliers, "{spread}: {found:?}");
            // At a single place nobody sticks out of a density that there is not.
            assert!(found.is_empty() == (outliers == 0), "{spread}: {found:?}");
        }
    }

    /// Angles in one heap or several, with some far from them, whether most gaps are left out or none.
    #[test]
    fn what_is_beyond_gaps_is_what_sorting_finds() {
        let mut rng = Rng::new(7);
        let mut found = 0;
        for round in 0..4000 {
            let n = FEW + rng.below(400);
            let (width, heaps) = (rng.between(0.01, 6.0), 1 + round % 3);
            let mut angles: Vec<(f64, usize)> = (0..n)
                .map(|i| ((rng.below(heaps) as f64 + width * rng.uniform()).rem_euclid(TAU), i))
                .collect();
            for i in 0..rng.below(4) {
                angles[7 * i].0 = rng.between(0.0, TAU);
            }
            let (most, count) = (1 + rng.below(n / 25), 1 + rng.below(5));
            let outside = most_outside(n, most);
            let rare = (2 * outside * count) as f64 / LEVEL;
            for least in [0.0, 0.01, 0.3] {
                let wanted = beyond_sorted(angles.clone(), outside, least, rare);
                assert_eq!(beyond_gaps(angles.clone(), most, least, count), wanted, "{round}");
                found += usize::from(!wanted.is_empty());
            }
        }
        assert!(found > 100, "{found}");
    }
}
