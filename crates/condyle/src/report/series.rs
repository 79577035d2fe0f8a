//! The angles of a joint over time.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::DVec3;

use super::Take;
use super::files::colour_of;
use crate::limits::{EulerBox, Limit, TwistOffset};
use crate::math::{
    Angle, Arc, EulerAngles, Level, Rotation, Rotations, SwingAxes, batch, direct_rotation, trig,
};
use crate::motion::KeyTimes;
use crate::picture::Figures;
use crate::rig::RigJoint;
use crate::skeleton::JointIndex;

/// One angle of a joint in all frames of all takes.
pub(super) struct Channel {
    /// What it is: `angle`, `swing about x`.
    pub(super) name: String,
    /// In radians, in (−π, π].
    pub(super) values: Vec<f64>,
    /// The range that its limit allows. For swings that of the region's extent.
    pub(super) limit: Option<Arc>,
    /// Whether it goes around: a swing does not.
    pub(super) circular: bool,
}

/// Frames of one take that has the joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Segment {
    /// The number of the take.
    pub(super) file: usize,
    /// When its first frame is, in seconds; takes follow each other.
    pub(super) start_s: f64,
    /// From one frame to the next.
    pub(super) step_s: f64,
    /// How many values there are.
    pub(super) count: usize,
}

/// A value of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timed {
    /// The number of its segment.
    pub(super) segment: usize,
    pub(super) time_s: f64,
    /// In radians.
    pub(super) value: f64,
    pub(super) left_out: bool,
}

/// Everything the takes show of one joint.
pub(super) struct Series {
    /// `center⁻¹ · rest⁻¹ · local`, which is what the limit is about.
    pub(super) turns: Rotations,
    pub(super) segments: Vec<Segment>,
    /// How many takes there are, also without the joint.
    files: usize,
    /// Of all takes, also of those that do not have the joint.
    pub(super) duration_s: f64,
    /// The frames that the estimate left out.
    pub(super) left_out: Vec<bool>,
    pub(super) channels: Vec<Channel>,
}

impl Series {
    pub(super) fn of(name: &str, joint: &RigJoint, figures: &Figures, takes: &[Take<'_>]) -> Self {
        let (mut turns, mut left_out) = (Rotations::new(), Vec::new());
        let mut segments = Vec::new();
        let mut start_s = 0.0;
        for (file, take) in takes.iter().enumerate() {
            let own = take.skeleton.find(name).filter(|j| j.get() < take.clip.tracks().len());
            if let Some(own) = own.filter(|_| take.clip.frame_count() > 0) {
                let back = (take.skeleton[own].rest * joint.center).inverse();
                let count = add(&mut turns, take, own, back);
                let take_hash = (!joint.left_out.is_empty()).then(|| take.clip.content_hash());
                let frames = joint.left_out_of(take_hash);
                let is_out =
                    |i: usize| u32::try_from(i).is_ok_and(|i| frames.binary_search(&i).is_ok());
                left_out.extend((0..count).map(is_out));
                let moves = take.clip.frame_count() == count;
                let step_s =
                    if moves { take.clip.rate().frame_time_s() } else { take.clip.duration_s() };
                segments.push(Segment { file, start_s, step_s, count });
            }
            start_s += take.clip.duration_s();
        }
        let channels = channels(&turns, joint, figures);
        Self { turns, segments, files: takes.len(), duration_s: start_s, left_out, channels }
    }

    /// All values of a channel, each with its segment, its time, and whether it was left out.
    pub(super) fn timed<'a>(&'a self, channel: &'a Channel) -> impl Iterator<Item = Timed> + 'a {
        let places = self.segments.iter().enumerate().flat_map(|(segment, of)| {
            #[allow(clippy::cast_precision_loss, reason = "frame counts are below 2^32")]
            let time_s = |i: usize| of.start_s + i as f64 * of.step_s;
            (0..of.count).map(move |i| (segment, time_s(i)))
        });
        let values = channel.values.iter().zip(&self.left_out);
        places.zip(values).map(|((segment, time_s), (value, left_out))| Timed {
            segment,
            time_s,
            value: *value,
            left_out: *left_out,
        })
    }

    /// The values of a channel that count.
    pub(super) fn accepted<'a>(&'a self, channel: &'a Channel) -> impl Iterator<Item = f64> + 'a {
        let values = channel.values.iter().zip(&self.left_out);
        values.filter(|(value, out)| !**out && value.is_finite()).map(|(value, _)| *value)
    }

    /// The colours of the files that have the joint, each once; none if there is only one file.
    pub(super) fn colours(&self) -> Vec<Option<&'static str>> {
        let mut colours = Vec::new();
        for colour in self.segments.iter().map(|segment| self.colour(segment)) {
            if !colours.contains(&colour) {
                colours.push(colour);
            }
        }
        colours
    }

    /// That of a segment.
    pub(super) fn colour(&self, segment: &Segment) -> Option<&'static str> {
        (self.files > 1).then(|| colour_of(segment.file))
    }

    /// Where the bone pointed, in components along x, y and the bone: what counts, for each of the
    /// [colours](Self::colours), and what was left out.
    pub(super) fn directions(&self, axes: &SwingAxes) -> (Vec<Vec<DVec3>>, Vec<DVec3>) {
        let colours = self.colours();
        let mut found = vec![Vec::new(); colours.len()];
        let mut left_out = Vec::new();
        let of = |segment: &Segment| colours.iter().position(|c| *c == self.colour(segment));
        let group = |segment: &Segment| std::iter::repeat_n(of(segment), segment.count);
        let groups = self.segments.iter().flat_map(group);
        for ((m, out), group) in self.turns.iter().zip(&self.left_out).zip(groups) {
            let to = if *out { Some(&mut left_out) } else { group.and_then(|g| found.get_mut(g)) };
            if let Some(to) = to {
                to.push(axes.components(m * axes.bone()));
            }
        }
        (found, left_out)
    }
}

/// Adds the rotations of a take; two if it holds still.
fn add(turns: &mut Rotations, take: &Take<'_>, own: JointIndex, back: Rotation) -> usize {
    let track = take.clip.track(own);
    let before = turns.len();
    match track.rotation_times() {
        KeyTimes::EveryFrame => track.rotations().iter().for_each(|q| turns.push(back * q)),
        times if times.is_constant() => {
            let held = track.rotations().get(0).map(|local| back * local);
            held.into_iter().chain(held).take(take.clip.frame_count()).for_each(|q| turns.push(q));
        }
        KeyTimes::At(_) => {
            take.clip.frames().for_each(|frame| turns.push(back * take.clip.rotation(own, frame)));
        }
    }
    turns.len() - before
}

fn channels(turns: &Rotations, joint: &RigJoint, figures: &Figures) -> Vec<Channel> {
    let n = turns.len();
    let limits = figures.arcs.iter().map(|(_, arc)| Some(*arc));
    let columns: Vec<(String, Vec<f64>)> = match &joint.limit {
        Limit::Hinge { axis, .. } => match SwingAxes::new(*axis, None) {
            Some(axes) => {
                let [_, _, twist] = split(turns, &axes);
                vec![("angle".to_owned(), twist)]
            }
            None => Vec::new(),
        },
        Limit::Universal { axes: [a, b], .. } => {
            let first = turns.iter().map(|m| about(*a, *b, m * *b)).collect();
            let second = turns.iter().map(|m| -about(*b, *a, m.inverse() * *a)).collect();
            vec![
                ("angle about the first axis".into(), first),
                ("angle about the second axis".into(), second),
            ]
        }
        Limit::EulerBox(of) => {
            let mut columns = [(); 3].map(|()| Vec::with_capacity(n));
            for m in turns.iter() {
                let first = EulerAngles::from_rotation(of.order, m).angles.map(Angle::radians);
                for (column, angle) in columns.iter_mut().zip(nearer(first, of)) {
                    column.push(angle);
                }
            }
            let names = figures.arcs.iter().map(|(letter, _)| format!("angle about {letter}"));
            names.zip(columns).collect()
        }
        Limit::SwingTwist(of) => {
            let [x, y, mut twist] = split(turns, &of.axes);
            // As the limit counts it: z = R_D(bone, from) has no twist, and z⁻¹ m has that of m.
            if let TwistOffset::From(from) = of.twist.offset
                && let Some(zero) = direct_rotation(of.axes.bone(), from)
            {
                let back = zero.rotation.inverse();
                let turns: Rotations = turns.iter().map(|m| back * m).collect();
                [_, _, twist] = split(&turns, &of.axes);
            }
            let extent = |ends: [Angle; 2]| Arc::new(ends[0], ends[1]);
            let swing = figures.swing.as_ref();
            let channel = |name: &str, values, limit, circular| Channel {
                name: name.to_owned(),
                values,
                limit,
                circular,
            };
            return vec![
                channel("swing about x", x, swing.and_then(|s| extent(s.x)), false),
                channel("swing about y", y, swing.and_then(|s| extent(s.y)), false),
                channel("twist", twist, swing.map(|s| s.twist), true),
            ];
        }
        Limit::Free | Limit::Locked => {
            let values = turns.iter().map(|m| m.angle().radians()).collect();
            let name = "turn away from the middle pose".to_owned();
            return vec![Channel { name, values, limit: None, circular: false }];
        }
    };
    let channel = |((name, values), limit)| Channel { name, values, limit, circular: true };
    columns.into_iter().zip(limits).map(channel).collect()
}

/// Swings about x and y, and twists.
fn split(turns: &Rotations, axes: &SwingAxes) -> [Vec<f64>; 3] {
    let [mut x, mut y, mut twist] = [(); 3].map(|()| vec![0.0; turns.len()]);
    batch::swing_twist(Level::best(), axes, turns, [&mut x, &mut y, &mut twist]);
    [x, y, twist]
}

/// By which angle about `axis` a vector turned: with v and w without their parts along the axis,
/// atan2(axis · (v × w), v · w). Zero where one of them is along it.
fn about(axis: DVec3, from: DVec3, to: DVec3) -> f64 {
    let cos = from.dot(to) - axis.dot(from) * axis.dot(to);
    trig::atan2(axis.dot(from.cross(to)), cos)
}

/// Of the two triples of Euler angles of a rotation, (a, b, c) and (a + π, −b or π − b, c + π), that
/// which is farther inside the box.
fn nearer(first: [f64; 3], of: &EulerBox) -> [f64; 3] {
    let [a, b, c] = first;
    let lock = if of.order.is_proper() { 0.0 } else { FRAC_PI_2 };
    let wrap = |angle: f64| Angle::from_radians(angle).wrapped().radians();
    let second = [wrap(a + PI), wrap(2.0 * lock - b), wrap(c + PI)];
    let inside = |angles: [f64; 3]| {
        let each = angles.iter().zip(of.arcs);
        each.map(|(a, arc)| arc.distance(Angle::from_radians(*a)).radians()).fold(TAU, f64::min)
    };
    if inside(second) > inside(first) { second } else { first }
}
