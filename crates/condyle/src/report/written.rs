//! The numbers that files have for the angles of a joint.

use super::Take;
use crate::limits::Limit;
use crate::math::{Angle, Arc};
use crate::motion::Channels;
use crate::rig::{JointAngle, RigJoint};
use crate::skeleton::{Dof, JointIndex};

/// The range of the numbers that files have for an angle, where it is not that of the limit: with another
/// sign, counted from another place, or by other turns.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WrittenRange {
    /// The channel that has them.
    pub channel: Dof,
    /// The least number and the largest.
    pub ends: [Angle; 2],
}

/// For each angle of a hinge or of a universal joint what the files have for it, if one channel is that
/// angle in all of them, and its numbers are not those of the limit.
///
/// A channel is the angle if both differ by a constant, or add up to one, apart from whole turns. Frames
/// that are far outside of the limit do not count: they were left out. Takes in which the joint holds
/// still say nothing.
///
/// ```
/// use condyle::estimate::{self, EstimateOptions, estimate};
/// use condyle::formats::{ReadOptions, read};
/// use condyle::report::{Take, written_ranges};
///
/// let mut text = "HIERARCHY\nROOT a { OFFSET 0 0 0 CHANNELS 3 Zrotation Xrotation Yrotation\n\
///     JOINT b { OFFSET 0 9 0 CHANNELS 3 Zrotation Xrotation Yrotation\n\
///     End Site { OFFSET 0 9 0 } } }\nMOTION\nFrames: 91\nFrame Time: 0.01\n".to_owned();
/// (0..91).for_each(|bent| text += &format!("0 0 0 0 {} 0\n", -bent));
/// let file = read(text.as_bytes(), None, &ReadOptions::default())?.file;
/// let (skeleton, clip) = (&file.skeleton, file.clip.as_ref().ok_or("no motion")?);
/// let found = estimate(&[estimate::Take { skeleton, clip }], &EstimateOptions::default())?;
/// // The larger excursion of a hinge is positive; the file has it negative.
/// let knee = found.joints.get("b").ok_or("no joint")?;
/// let written = written_ranges("b", knee, &[Take { name: "bent", skeleton, clip }]);
/// let ends = written[0].ok_or("the same")?.ends.map(|end| end.degrees().round());
/// assert_eq!(ends, [-90.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn written_ranges(
    name: &str,
    joint: &RigJoint,
    takes: &[Take<'_>],
) -> Vec<Option<WrittenRange>> {
    let arcs = match &joint.limit {
        Limit::Hinge { arc, .. } => vec![*arc],
        Limit::Universal { arcs, .. } => arcs.to_vec(),
        _ => return Vec::new(),
    };
    let off = Angle::from_degrees(LEAST).radians();
    let off = joint.noise.map_or(off, |noise| off.max(3.0 * noise.radians()));
    let of = |(angle, arc): (&JointAngle, Arc)| {
        let mut all: Option<Written> = None;
        for take in takes {
            let Some(own) = take.skeleton.find(name) else { continue };
            let one = Probes::of(take, own, joint, *angle)?;
            if one.turned() <= 2.0 * off {
                continue;
            }
            let one = one.written(arc, off)?;
            all = Some(match all {
                Some(all) => all.with(one, off)?,
                None => one,
            });
        }
        all.filter(|all| all.differs_from(arc, off)).map(|all| WrittenRange {
            channel: all.channel,
            ends: all.ends.map(Angle::from_radians),
        })
    };
    joint.angles().iter().zip(arcs).map(of).collect()
}

/// Angles that differ by less are the same, or by three times the noise, degrees.
const LEAST: f64 = 0.5;

/// So many frames tell which channel an angle is.
const PROBES: usize = 64;

/// One of twenty may be a glitch.
const SHARE: usize = 20;

/// An angle is `sign · number + from`.
#[derive(Clone, Copy)]
struct Written {
    channel: Dof,
    sign: f64,
    from: f64,
    /// The least number and the largest, radians.
    ends: [f64; 2],
}

impl Written {
    /// Both together, if they mean the same.
    fn with(self, other: Self, off: f64) -> Option<Self> {
        let same = (self.channel, self.sign) == (other.channel, other.sign);
        let apart = Angle::from_radians(self.from - other.from).wrapped().radians().abs();
        let ([a, b], [c, d]) = (self.ends, other.ends);
        (same && apart <= off).then_some(Self { ends: [a.min(c), b.max(d)], ..self })
    }

    fn differs_from(self, arc: Arc, off: f64) -> bool {
        let [low, high] = arc.ends_about_zero().map(Angle::radians);
        let [least, most] = self.ends;
        let beyond = least < low - 2.0 * off || most > high + 2.0 * off;
        self.sign < 0.0 || self.from.abs() > off || beyond
    }
}

/// An angle of a joint in some frames of a take, which its file has numbers for.
struct Probes<'a> {
    channels: &'a Channels,
    own: JointIndex,
    frames: Vec<usize>,
    angles: Vec<f64>,
}

impl<'a> Probes<'a> {
    /// `None` if the numbers of the file do not say what the joint does.
    fn of(take: &Take<'a>, own: JointIndex, joint: &RigJoint, angle: JointAngle) -> Option<Self> {
        let channels = take.clip.channels()?;
        let n = take.clip.frame_count().min(channels.columns().frames());
        let back = (take.skeleton[own].rest * joint.center).inverse();
        let count = n.min(PROBES);
        let (mut frames, mut angles) = (Vec::new(), Vec::new());
        for (k, frame) in take.clip.frames().enumerate().take(n).skip(n / (2 * count.max(1))) {
            // Evenly spread.
            if frames.len() < count && k * count >= frames.len() * n {
                let source = channels.rotation_is_source(own, k);
                let m = back * take.clip.rotation(own, frame);
                let found = joint.angle(angle, m).filter(|angle| source && angle.is_finite());
                frames.push(k);
                angles.push(found?);
            }
        }
        Some(Self { channels, own, frames, angles })
    }

    /// How far the angle goes.
    fn turned(&self) -> f64 {
        let (low, high) = self
            .angles
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
        high - low
    }

    /// The channel that is the angle.
    fn written(&self, arc: Arc, off: f64) -> Option<Written> {
        let unit = self.channels.angle_unit();
        let of = self.channels.joint(self.own);
        let wrapped = |x: f64| Angle::from_radians(x).wrapped().radians();
        for (dof, column) in of.dofs.iter().zip(&of.columns) {
            if dof.rotation_axis().is_none() {
                continue;
            }
            let column = self.channels.columns().column(*column);
            let numbers: Vec<f64> =
                self.frames.iter().map(|k| unit.to_radians(column[*k])).collect();
            for sign in [1.0, -1.0] {
                let pairs = || self.angles.iter().zip(&numbers).map(|(a, v)| a - sign * v);
                // One of them may be of a glitch.
                let firsts = pairs().step_by((self.angles.len() / 3).max(1));
                let agrees = |from: &f64| {
                    let far = pairs().filter(|x| wrapped(x - from).abs() > off).count();
                    SHARE * far <= self.angles.len()
                };
                let Some(from) = firsts.map(wrapped).find(agrees) else { continue };
                let written = Written { channel: *dof, sign, from, ends: [0.0; 2] };
                return Some(Written { ends: self.ends(column, &written, arc, off)?, ..written });
            }
        }
        None
    }

    /// The least number and the largest of frames that count.
    fn ends(&self, column: &[f64], written: &Written, arc: Arc, off: f64) -> Option<[f64; 2]> {
        let unit = self.channels.angle_unit();
        let counts = |radians: f64| {
            let angle = Angle::from_radians(written.sign * radians + written.from);
            arc.distance(angle).radians() >= -2.0 * off
        };
        let edited = self.channels.is_edited();
        let mut ends = None;
        for (frame, value) in column.iter().enumerate() {
            let radians = unit.to_radians(*value);
            let [low, high] = ends.unwrap_or([f64::INFINITY, f64::NEG_INFINITY]);
            // Most are between those that were.
            let new = radians < low || radians > high;
            if new
                && (!edited || self.channels.rotation_is_source(self.own, frame))
                && counts(radians)
            {
                ends = Some([low.min(radians), high.max(radians)]);
            }
        }
        ends
    }
}
