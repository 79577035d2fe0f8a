//! The rotations of one joint in one clip: relative to rest, without glitches, each once.

use super::glitches;
use super::noise;
use crate::math::{Rotation, Rotations};
use crate::motion::{Clip, KeyTimes};
use crate::skeleton::{JointIndex, Skeleton};

/// What one clip says about one joint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    /// `rest⁻¹ · local`, canonical and sorted, each once. So they do not depend on the order of the
    /// frames, nor on frames that come again.
    pub(crate) rotations: Rotations,
    /// How many frames were used, repeated ones included.
    pub(crate) used: usize,
    /// How many frames were glitches.
    pub(crate) rejected: usize,
    /// The noise as the order of the frames shows it, radians: an upper bound.
    pub(crate) jitter: Option<f64>,
    /// How many keys there are.
    pub(crate) keys: usize,
    /// Whether the order of the frames tells what is a glitch, or nothing is.
    pub(crate) ordered: bool,
    /// Samples that were left out because they are alone, without order in time.
    pub(crate) left_out: Rotations,
}

impl Samples {
    /// Leaves out the samples that a function of the rotation says are bad.
    pub(crate) fn drop_where(&mut self, mut bad: impl FnMut(Rotation) -> bool) {
        let (out, kept): (Vec<Rotation>, Vec<Rotation>) =
            self.rotations.iter().partition(|q| bad(*q));
        let dropped = out.len();
        self.rotations = kept.into_iter().collect();
        self.left_out = self.left_out.iter().chain(out).collect();
        self.used -= dropped.min(self.used);
        self.rejected += dropped;
    }

    pub(crate) fn new(
        skeleton: &Skeleton,
        clip: &Clip,
        joint: JointIndex,
        from: usize,
        reject: bool,
    ) -> Self {
        let series = series(skeleton, clip, joint, from);
        // Keys are set by hand, each as it is meant (A12).
        let captured = *clip.track(joint).rotation_times() == KeyTimes::EveryFrame;
        let mut samples = Self::from_series(&series, reject && captured);
        samples.ordered |= !captured;
        samples.keys = clip.track(joint).rotations().len();
        if clip.track(joint).rotation_times().is_constant() {
            samples.used = clip.frame_count().saturating_sub(from);
        }
        samples
    }

    /// Of rotations in the order of time.
    pub(crate) fn from_series(series: &Rotations, reject: bool) -> Self {
        let ordered = glitches::in_order(series);
        let bad = if reject { glitches::find(series, ordered) } else { Vec::new() };
        let good: Rotations;
        let kept = if bad.is_empty() {
            series
        } else {
            let mut skip = bad.iter().copied().peekable();
            good = (0..series.len())
                .filter(|i| skip.next_if_eq(i).is_none())
                .map(|i| series.at(i))
                .collect();
            &good
        };
        let mut sorted: Vec<[f64; 4]> =
            kept.iter().map(|r| r.canonical().quat().to_array()).collect();
        sorted.sort_unstable_by(|a, b| {
            let order = |i: usize| a[i].total_cmp(&b[i]);
            order(0).then_with(|| order(1)).then_with(|| order(2)).then_with(|| order(3))
        });
        sorted.dedup();
        Self {
            rotations: sorted.into_iter().map(super::moments::rotation_unchecked).collect(),
            used: kept.len(),
            rejected: bad.len(),
            jitter: noise::jitter(kept),
            keys: series.len(),
            ordered,
            left_out: Rotations::default(),
        }
    }
}

/// The rotations of a joint relative to rest, frame by frame; one alone if it does not move.
pub(super) fn series(
    skeleton: &Skeleton,
    clip: &Clip,
    joint: JointIndex,
    from: usize,
) -> Rotations {
    let track = clip.track(joint);
    let back = skeleton[joint].rest.inverse();
    match track.rotation_times() {
        KeyTimes::EveryFrame => track.rotations().iter().skip(from).map(|r| back * r).collect(),
        KeyTimes::At(times) if times.len() == 1 => {
            track.rotations().iter().map(|r| back * r).collect()
        }
        KeyTimes::At(_) => {
            clip.frames().skip(from).map(|f| back * clip.rotation(joint, f)).collect()
        }
    }
}

/// About the angle between two rotations, radians: twice the chord of the quaternions, a tenth less at
/// half a turn.
pub(super) fn apart(a: Rotation, b: Rotation) -> f64 {
    let (p, q) = (a.quat(), b.quat());
    let q = if p.dot(q) < 0.0 { -q } else { q };
    2.0 * (p - q).length()
}
