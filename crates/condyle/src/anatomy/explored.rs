//! The clinical angles that motion goes through, against their published ranges.

use std::f64::consts::{PI, TAU};
use std::num::NonZeroUsize;
use std::ops::Range;

use super::{AnatomicalJoint, Anatomy, AngleName, BodyJoint, Coverage, PublishedRange};
use crate::hash::ContentHash;
use crate::math::{Angle, Kernel, Level, Rotation, Rotations};
use crate::motion::{Clip, KeyTimes};
use crate::presets::Citation;
use crate::rig::RigJoints;
use crate::skeleton::{JointIndex, Skeleton};
use crate::threads;

/// What motion shows of a joint of the body.
#[derive(Clone, Debug)]
pub struct Explored<'a> {
    /// Which.
    pub joint: &'a AnatomicalJoint,
    /// In the order of [`BodyJoint::angles`](super::BodyJoint::angles).
    pub angles: [ExploredAngle; 3],
}

/// From where to where a clinical angle went.
#[derive(Clone, Debug, PartialEq)]
pub struct ExploredAngle {
    /// Which.
    pub name: AngleName,
    /// The lowest and the highest that was seen, in frames that count. `None` if none does. Of an angle
    /// that goes around, everything but the largest gap between what was seen (A9): it may end beyond
    /// ±180°, and its middle does not. Then it [passes half a turn](Self::passes_half_turn).
    pub seen: Option<[Angle; 2]>,
    /// Of an angle that goes around, the widest stretch within [`seen`](Self::seen) that nothing was
    /// seen in, if it is wider than 45°: of two poses, or of a jump.
    pub hole: Option<[Angle; 2]>,
    /// The share of the frames that count: those in which the angle is not
    /// [nearly singular](AnatomicalJoint::is_nearly_singular).
    pub counted: f64,
    /// Whether it varies by more than noise. A joint that bends only, as an elbow whose forearm turns
    /// in another joint does, has angles that do not move: they say nothing about the range.
    pub moves: bool,
    /// The published range, and how much of it was seen.
    pub published: Option<(PublishedRange, Coverage)>,
}

/// An end of a clinical angle beyond its published range, told by the name that makes it positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beyond<'a> {
    /// The motion.
    pub name: &'static str,
    /// How far it goes, at most half a turn.
    pub seen: Angle,
    /// Whether it goes on beyond half a turn, where it would be the other motion. No joint of a person
    /// does: the file or the angles flip.
    pub past_half_turn: bool,
    /// How far it goes by what is published.
    pub published: Angle,
    /// By how much it is beyond that.
    pub by: Angle,
    /// Where the published value is from.
    pub source: &'a Citation,
}

impl ExploredAngle {
    /// Whether what was seen has half a turn in it. There one motion becomes the other, as flexion
    /// becomes extension; so ends beyond it are none of this motion.
    #[must_use]
    pub fn passes_half_turn(&self) -> bool {
        self.seen.is_some_and(|ends| ends.iter().any(|end| end.radians().abs() > PI))
    }

    /// The ends that are beyond the published range: none, one or both.
    pub fn beyond(&self) -> impl Iterator<Item = Beyond<'_>> {
        let both = self.seen.zip(self.published.as_ref()).map(|([low, high], (range, by))| {
            let (name, low_source, high_source) =
                (self.name, &range.low_source, &range.high_source);
            let below = (name.negative, -low, -range.low, by.below, low_source);
            [below, (name.positive, high, range.high, by.above, high_source)]
        });
        let ends = both.into_iter().flatten().filter(|(.., by, _)| by.radians() > 0.0);
        ends.map(|(name, seen, published, by, source)| {
            let past_half_turn = seen.radians() > PI;
            let seen = Angle::from_radians(seen.radians().min(PI));
            Beyond { name, seen, past_half_turn, published, by, source }
        })
    }

    /// What to know about the range, in words: nothing if all frames count, it moves, and there is no
    /// hole in it and no half turn.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        if self.seen.is_some() && !self.moves {
            return Some("not moved by this joint".to_owned());
        }
        let whole = |angle: Angle| angle.degrees().round() + 0.0;
        let hole = self.hole.map(|hole| {
            let [from, to] = hole.map(whole);
            format!("nothing from {from} to {to}")
        });
        let past = self.passes_half_turn();
        let past = past.then(|| "past half a turn: the file or the angles flip".to_owned());
        let notes: Vec<String> = hole.into_iter().chain(past).chain(self.uncounted()).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    fn uncounted(&self) -> Option<String> {
        if self.counted >= 1.0 {
            return None;
        }
        let percent = 100.0 * (1.0 - self.counted);
        let share = match percent.round() {
            whole if whole < 1.0 => "less than 1".to_owned(),
            whole => whole.to_string(),
        };
        // A line is not broken before the sign.
        Some(format!("{share}\u{a0}% of the frames are nearly singular and do not count"))
    }
}

impl Anatomy {
    /// The joints that published ranges are about: those that are the only one of their name, and those
    /// in a row that are [taken as one](Self::wholes), as a shoulder is with its clavicle.
    pub fn measured(&self) -> impl Iterator<Item = &AnatomicalJoint> {
        self.alone().filter(|joint| joint.whole).chain(self.wholes())
    }

    /// All joints but those that are a row by themselves.
    fn alone(&self) -> impl Iterator<Item = &AnatomicalJoint> {
        let is_row = |joint: &AnatomicalJoint| {
            self.wholes().iter().any(|w| (w.what, &w.chain) == (joint.what, &joint.chain))
        };
        self.joints().filter(move |joint| !is_row(joint))
    }

    /// What clips show of each of these: the lowest and the highest of their angles, and how much of the
    /// published ranges that is.
    ///
    /// `skeleton` is that of the anatomy; joints are matched by name, and clips, each with its own
    /// skeleton, count from their own rest pose, as in an estimate. Left out are poses in front of the
    /// motion and, of a rig that was estimated, frames in which a joint has a rotation that it
    /// [left out](crate::rig::RigJoint::left_out). Joints that no clip has are not among the answers.
    #[must_use]
    pub fn explored(
        &self,
        skeleton: &Skeleton,
        clips: &[(&Skeleton, &Clip)],
        rig: &RigJoints,
        threads: NonZeroUsize,
    ) -> Vec<Explored<'_>> {
        let measured: Vec<&AnatomicalJoint> = self.measured().collect();
        explored(&measured, skeleton, clips, rig, threads)
    }

    /// The same for the joints that are taken as one, and then for all that are not one by themselves:
    /// also for those without published ranges.
    pub(crate) fn explored_by_all(
        &self,
        skeleton: &Skeleton,
        clips: &[(&Skeleton, &Clip)],
        rig: &RigJoints,
    ) -> Vec<Explored<'_>> {
        let all: Vec<&AnatomicalJoint> = self.wholes().iter().chain(self.alone()).collect();
        explored(&all, skeleton, clips, rig, NonZeroUsize::MIN)
    }
}

fn explored<'a>(
    joints: &[&'a AnatomicalJoint],
    skeleton: &Skeleton,
    clips: &[(&Skeleton, &Clip)],
    rig: &RigJoints,
    threads: NonZeroUsize,
) -> Vec<Explored<'a>> {
    let starts: Vec<usize> = clips.iter().map(|(_, clip)| clip.motion_start()).collect();
    let known = rig.any_left_out();
    let hashes: Vec<Option<ContentHash>> =
        clips.iter().map(|(_, clip)| known.then(|| clip.content_hash())).collect();
    let explored = threads::each(joints, threads, |joint| {
        let mut tally = Tally::default();
        for (((own, clip), start), take) in clips.iter().zip(&starts).zip(&hashes) {
            if let Some(chain) = Chain::of(joint, skeleton, own, clip, (rig, *take)) {
                chain.add(clip, *start, &mut tally);
            }
        }
        let names = joint.chain.iter().filter_map(|j| skeleton.joints().get(j.get()));
        let noise = names.filter_map(|j| rig.get(&j.name)?.noise).map(Angle::radians);
        (tally.frames > 0).then(|| Explored::new(joint, &tally, noise.fold(0.0, f64::max)))
    });
    explored.into_iter().flatten().collect()
}

impl<'a> Explored<'a> {
    fn new(joint: &'a AnatomicalJoint, tally: &Tally, noise: f64) -> Self {
        // Goniometers are read to whole degrees; and so wide is the range of thousands of samples of
        // noise, four standard deviations to either side.
        let still = 1_f64.to_radians().max(8.0 * noise);
        let mut published = joint.published();
        let names = joint.what.angles();
        let angles = std::array::from_fn(|i| {
            let (seen, hole) = tally.seen(i);
            let [lowest, highest] = seen.unwrap_or([Angle::from_radians(f64::NAN); 2]);
            let published = published[i].take().map(|range| {
                let mut coverage = range.coverage(lowest, highest);
                if let Some([from, to]) = hole {
                    let parts = [range.coverage(lowest, from), range.coverage(to, highest)];
                    coverage.share = parts.iter().map(|part| part.share).sum::<f64>().min(1.0);
                }
                (range, coverage)
            });
            #[allow(clippy::cast_precision_loss, reason = "frame counts are far below 2^53")]
            let counted = tally.counted[i] as f64 / tally.frames as f64;
            let moves = highest.radians() - lowest.radians() > still;
            ExploredAngle { name: names[i], seen, hole, counted, moves, published }
        });
        Self { joint, angles }
    }
}

/// Angles over frames.
#[derive(Default)]
struct Tally {
    frames: u64,
    counted: [u64; 3],
    /// Of angles that do not go around.
    lowest: [Option<Angle>; 3],
    highest: [Option<Angle>; 3],
    /// Of those that do: the first and the third of a sequence, the rotation of a shoulder.
    around: [Around; 3],
}

/// Where angles are on the circle: the lowest and the highest in each degree.
#[derive(Default)]
struct Around(Vec<[f64; 2]>);

impl Around {
    const PARTS: usize = 360;
    /// Of a part: one degree.
    const WIDTH: f64 = TAU / 360.0;
    /// A gap that is wider is a hole: no joint turns so far from one frame to the next, but where frames
    /// are 1/20 s apart and more. 45°.
    const HOLE: f64 = TAU / 8.0;

    /// Takes in angles in (−π, π]; what is no number is left out.
    fn add(&mut self, angles: &[f64]) {
        // Parts without angles.
        self.0.resize(Self::PARTS, [f64::INFINITY, f64::NEG_INFINITY]);
        for &angle in angles {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
            let place = ((angle + PI) / Self::WIDTH) as u32 as usize;
            let [low, high] = &mut self.0[place.min(Self::PARTS - 1)];
            // Most are between those that were.
            if angle < *low && angle.is_finite() {
                *low = angle;
            }
            if angle > *high && angle.is_finite() {
                *high = angle;
            }
        }
    }

    /// All but the largest gap, the middle in (−π, π], and the widest hole in it. Gaps of less than a
    /// degree are none: where there are no others, from the lowest to the highest.
    ///
    /// # Source
    ///
    /// Eq 16 to 18 of M. Engell-Nørregård and K. Erleben, "Estimation of joint types and joint limits
    /// from motion capture data" (A9).
    fn ends(&self) -> Option<([f64; 2], Option<[f64; 2]>)> {
        let filled = self.0.iter().copied().filter(|[low, high]| low <= high);
        let parts: Vec<[f64; 2]> = filled.collect();
        let (&[first, _], &[_, last]) = (parts.first()?, parts.last()?);
        // Which part is the lowest, and what brings it there.
        let (mut lowest, mut turn) = (0, 0.0);
        let mut widest = (first + TAU - last).max(Self::WIDTH);
        for (i, pair) in parts.windows(2).enumerate() {
            let ([_, from], [to, _]) = (pair[0], pair[1]);
            if to - from > widest {
                widest = to - from;
                // What is before the gap comes after what is behind it.
                (lowest, turn) = (i + 1, if to + from > 0.0 { -TAU } else { 0.0 });
            }
        }
        let (before, behind) = parts.split_at(lowest);
        let lift = |part: &[f64; 2], turn: f64| part.map(|x| x + turn);
        let behind = behind.iter().map(|part| lift(part, turn));
        let before = before.iter().map(|part| lift(part, turn + TAU));
        let lifted: Vec<[f64; 2]> = behind.chain(before).collect();
        let (&[low, _], &[_, high]) = (lifted.first()?, lifted.last()?);
        let gaps = lifted.windows(2).map(|pair| [pair[0][1], pair[1][0]]);
        let hole = gaps.max_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0])));
        Some(([low, high], hole.filter(|[from, to]| to - from > Self::HOLE)))
    }
}

impl Tally {
    /// Takes in the angles of a frame. Where they are [nearly
    /// singular](AnatomicalJoint::is_nearly_singular) only what is still determined counts: the second
    /// angle of a sequence; of a shoulder how far the arm is raised, but neither extension and adduction,
    /// which are of a hanging arm, nor rotation.
    fn add(&mut self, joint: &AnatomicalJoint, angles: [Angle; 3]) {
        let singular = joint.is_nearly_singular(angles);
        let shoulder = joint.what == BodyJoint::Shoulder;
        self.frames += 1;
        for (i, angle) in angles.into_iter().enumerate() {
            let (low, high) = match (singular, shoulder, i) {
                (false, ..) | (true, false, 1) => (true, true),
                (true, true, 0 | 1) => (false, true),
                _ => (false, false),
            };
            self.counted[i] += u64::from(low);
            if goes_around(joint.what, i) {
                if low {
                    self.around[i].add(&[angle.radians()]);
                }
                continue;
            }
            let better = |known: Option<Angle>, is: fn(&Angle, &Angle) -> bool| {
                known.filter(|known| !is(&angle, known)).or(Some(angle))
            };
            if low {
                self.lowest[i] = better(self.lowest[i], Angle::lt);
            }
            if high {
                self.highest[i] = better(self.highest[i], Angle::gt);
            }
        }
    }

    /// Takes in the angles of frames that all count.
    fn add_all(&mut self, joint: &AnatomicalJoint, columns: [&[f64]; 3]) {
        let [a, b, c] = columns;
        let frames =
            || a.iter().zip(b).zip(c).map(|((a, b), c)| [*a, *b, *c].map(Angle::from_radians));
        if frames().any(|angles| joint.is_nearly_singular(angles)) {
            frames().for_each(|angles| self.add(joint, angles));
            return;
        }
        self.frames += a.len() as u64;
        for (i, column) in columns.into_iter().enumerate() {
            self.counted[i] += column.len() as u64;
            if goes_around(joint.what, i) {
                self.around[i].add(column);
                continue;
            }
            let Some(first) = column.first() else { continue };
            let known = |known: Option<Angle>| known.map_or(*first, Angle::radians);
            let (mut low, mut high) = (known(self.lowest[i]), known(self.highest[i]));
            for &angle in column {
                low = if angle < low { angle } else { low };
                high = if angle > high { angle } else { high };
            }
            self.lowest[i] = Some(Angle::from_radians(low));
            self.highest[i] = Some(Angle::from_radians(high));
        }
    }

    /// The lowest and the highest of an angle, and a hole between.
    fn seen(&self, i: usize) -> (Option<[Angle; 2]>, Option<[Angle; 2]>) {
        if let Some((ends, hole)) = self.around[i].ends() {
            let angles = |ends: [f64; 2]| ends.map(Angle::from_radians);
            return (Some(angles(ends)), hole.map(angles));
        }
        let highest = self.highest[i];
        (highest.map(|highest| [self.lowest[i].unwrap_or(highest), highest]), None)
    }
}

/// Whether −180° and 180° are the same angle: not of the second one of a sequence, nor of the swing
/// of a shoulder.
fn goes_around(what: BodyJoint, i: usize) -> bool {
    i == 2 || (i == 0 && what != BodyJoint::Shoulder)
}

/// The joints of an anatomical joint in one clip.
struct Chain<'a> {
    joint: &'a AnatomicalJoint,
    links: Vec<Link>,
}

struct Link {
    /// In the clip's skeleton.
    own: JointIndex,
    /// From local rotations of the clip to those that have the same turn from rest.
    turn: Option<Rotation>,
    /// Frames of the clip, rising.
    left_out: Vec<u32>,
}

impl<'a> Chain<'a> {
    fn of(
        joint: &'a AnatomicalJoint,
        skeleton: &Skeleton,
        own: &Skeleton,
        clip: &Clip,
        (rig, take): (&RigJoints, Option<ContentHash>),
    ) -> Option<Self> {
        let link = |j: &JointIndex| {
            let ours = skeleton.joints().get(j.get())?;
            let other = own.find(&ours.name).filter(|k| k.get() < clip.tracks().len())?;
            let rest = own[other].rest;
            let turn = (rest.quat() != ours.rest.quat()).then(|| ours.rest * rest.inverse());
            let left_out = rig.get(&ours.name).map(|entry| entry.left_out_of(take));
            Some(Link { own: other, turn, left_out: left_out.unwrap_or_default() })
        };
        let links: Option<Vec<Link>> = joint.chain.iter().map(link).collect();
        Some(Self { joint, links: links? })
    }

    /// Takes in all frames from one on.
    fn add(&self, clip: &Clip, start: usize, tally: &mut Tally) {
        let level = Level::best();
        let (mut right, mut local) = (Rotations::new(), Rotations::new());
        let mut angles = [(); 3].map(|()| vec![0.0; BLOCK]);
        for first in (start..clip.frame_count()).step_by(BLOCK) {
            let frames = first..clip.frame_count().min(first + BLOCK);
            let n = frames.len();
            right.resize(n);
            right.fill(self.joint.proximal.inverse());
            let mut counts = vec![true; n];
            for link in &self.links {
                link.fill(clip, frames.clone(), &mut local);
                let from = link.left_out.partition_point(|frame| (*frame as usize) < frames.start);
                let within = link.left_out[from..].iter().map(|frame| *frame as usize);
                within
                    .take_while(|f| *f < frames.end)
                    .for_each(|f| counts[f - frames.start] = false);
                level.run(Times { to: right.xyzw_mut(), by: local.xyzw() });
            }
            local.resize(n);
            local.fill(self.joint.distal);
            level.run(Times { to: right.xyzw_mut(), by: local.xyzw() });
            let [a, b, c] = angles.each_mut().map(|column| &mut column[..n]);
            self.joint.clinical_columns(&mut right, [a, b, c]);
            let [a, b, c] = angles.each_ref().map(|column| &column[..n]);
            if counts.iter().all(|counts| *counts) {
                tally.add_all(self.joint, [a, b, c]);
                continue;
            }
            for (i, counts) in counts.iter().enumerate() {
                if *counts {
                    tally.add(self.joint, [a[i], b[i], c[i]].map(Angle::from_radians));
                }
            }
        }
    }
}

/// Frames that are worked on together.
const BLOCK: usize = 512;

impl Link {
    /// The rotations of the joint in some frames, as the rig's skeleton has them.
    fn fill(&self, clip: &Clip, frames: Range<usize>, to: &mut Rotations) {
        let track = clip.track(self.own);
        if *track.rotation_times() == KeyTimes::EveryFrame {
            to.turn_from(self.turn.unwrap_or_default(), track.rotations(), frames);
            return;
        }
        to.resize(frames.len());
        let at = clip.frames().skip(frames.start).take(frames.len());
        for (i, frame) in at.enumerate() {
            let local = clip.rotation(self.own, frame);
            to.set(i, self.turn.map_or(local, |turn| turn * local));
        }
    }
}

/// Products of rotations, each of the one and the other.
struct Times<'a> {
    to: [&'a mut [f64]; 4],
    by: [&'a [f64]; 4],
}

#[allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]
impl Kernel for Times<'_> {
    #[inline(always)]
    fn run(self) {
        let n = self.by[0].len();
        let [x, y, z, w] = self.by.map(|c| &c[..n]);
        let [to_x, to_y, to_z, to_w] = self.to.map(|c| &mut c[..n]);
        for i in 0..n {
            let (px, py, pz, pw) = (to_x[i], to_y[i], to_z[i], to_w[i]);
            let (x, y, z, w) = (x[i], y[i], z[i], w[i]);
            to_x[i] = pw * x + px * w + py * z - pz * y;
            to_y[i] = pw * y - px * z + py * w + pz * x;
            to_z[i] = pw * z + px * y - py * x + pz * w;
            to_w[i] = pw * w - px * x - py * y - pz * z;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    /// By sorting: A9's own words.
    #[test]
    fn an_angle_that_goes_around_is_all_but_the_largest_gap_a9() {
        let mut rng = Rng::new(61);
        for round in 0..2000 {
            let n = 1 + round % 40;
            let wide = rng.between(0.05, PI);
            let about = rng.between(-PI, PI);
            let angle = |_| Angle::from_radians(about + rng.between(-wide, wide)).wrapped();
            let mut angles: Vec<f64> = (0..n).map(angle).map(Angle::radians).collect();
            let mut around = Around::default();
            around.add(&angles);
            let ([low, high], hole) = around.ends().unwrap();
            angles.sort_by(f64::total_cmp);
            let next = |i: usize| angles[(i + 1) % n] + if i + 1 == n { TAU } else { 0.0 };
            let gaps: Vec<f64> = (0..n).map(|i| next(i) - angles[i]).collect();
            let widest = gaps.iter().copied().fold(0.0, f64::max);
            // The next largest gap is a hole if it is wide.
            let mut sorted = gaps.clone();
            sorted.sort_by(f64::total_cmp);
            let second = sorted.iter().rev().nth(1).copied().filter(|gap| *gap > TAU / 8.0);
            match (hole, second) {
                (Some([from, to]), Some(gap)) => {
                    assert!((to - from - gap).abs() < 1e-12, "{from} {to} {gap}");
                    assert!(low <= from && to <= high, "{low} {from} {to} {high}");
                    let within = |a: &f64| {
                        [-TAU, 0.0, TAU]
                            .iter()
                            .any(|turn| (from + 1e-12..to - 1e-12).contains(&(a + turn)))
                    };
                    assert!(!angles.iter().any(within), "{angles:?} {from} {to}");
                }
                (None, None) => {}
                other => panic!("{other:?} {angles:?}"),
            }
            // 40 angles leave 9° somewhere.
            assert!((high - low - (TAU - widest)).abs() < 1e-12, "{low} {high} {widest}");
            assert!((low + high).abs() <= TAU + 1e-12, "{low} {high}");
            for a in &angles {
                let inside = |a: f64| (low - 1e-12..=high + 1e-12).contains(&a);
                assert!(inside(*a) || inside(a - TAU) || inside(a + TAU));
            }
        }
        assert!(Around::default().ends().is_none());
        // All around: nothing is left out.
        let mut around = Around::default();
        (0..7200).for_each(|i| around.add(&[f64::from(i - 3600) * PI / 3600.0]));
        let ([low, high], hole) = around.ends().unwrap();
        assert!(high - low > TAU - 0.001 && hole.is_none(), "{low} {high}");
    }
}
