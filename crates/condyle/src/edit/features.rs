//! What of each frame is compared: the metrics of motion matching, and clips as columns of their numbers.

use std::f64::consts::PI;

use super::bound::single;
use super::index::Index;
use super::onto::{bones_m, other_rest};
use super::{Facing, Ground, MatchError};
use crate::anatomy::{AxesOptions, FigureAxes, NameTable};
use crate::math::{Angle, Axis, EulerAngles, EulerOrder, Level, Rotation, Rotations, batch};
use crate::motion::{Channels, Clip, FrameIndex, FrameRate, KeyTimes, WorldTracks};
use crate::skeleton::{Joint, JointIndex, Skeleton};
use glam::DVec3;

/// Windows whose distances are computed together: four vectors of AVX2.
pub(super) const LANES: usize = 16;

/// Places farther away than this cannot be squared and added up safely, metres.
const FAR_M: f64 = 1e100;

/// How far apart two poses of a joint are: `joint_dist` of eq 11, which "may be defined on Euler angle
/// space, quaternion space or normalized joint position space".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The Euclidean distance of Euler angles, each difference taken the short way round, of all joints
    /// but the roots: what the source uses. The angles are those of the file's channels, else ZYX of the
    /// rotation from rest.
    Euler,
    /// The angle from one local rotation to the other, of all joints but the roots.
    Quaternion,
    /// The distance of joint centres, of all joints, each frame turned and moved on the ground so that
    /// the figure stands at the origin and faces 0° ([`Facing`]). Joints may hang on others and have other
    /// rest poses.
    Position,
}

impl Metric {
    /// Numbers per joint and frame.
    pub(super) const fn dims(self) -> usize {
        match self {
            Self::Euler | Self::Position => 3,
            Self::Quaternion => 4,
        }
    }

    /// Whether it compares rotations, which mean the same only in figures with the same rest pose.
    const fn is_of_rotations(self) -> bool {
        matches!(self, Self::Euler | Self::Quaternion)
    }

    /// The unit of distances: degrees or metres.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Euler | Self::Quaternion => "degrees",
            Self::Position => "metres",
        }
    }
}

/// A joint that is compared.
#[derive(Clone, Debug)]
struct FeatureJoint {
    name: String,
    /// Of its Euler angles.
    order: EulerOrder,
    /// What it hangs on.
    parent: Option<String>,
    rest: Rotation,
    /// What it is away from that at rest, unless the motion says where it is.
    bone_m: Option<DVec3>,
}

impl FeatureJoint {
    /// That rotations of another figure's joint of this name mean the same: it hangs on the same joint, and
    /// is the same at rest.
    fn same_rotations(&self, other: &Self, size_m: f64) -> Result<(), MatchError> {
        let joint = || self.name.clone();
        if self.parent != other.parent {
            let (found, expected) = (self.parent.clone(), other.parent.clone());
            return Err(MatchError::OtherParent { joint: joint(), found, expected });
        }
        let bones = other.bone_m.zip(self.bone_m).map(|(theirs, ours)| [theirs, ours]);
        match other_rest([other.rest, self.rest], bones, size_m) {
            Some(off) => Err(MatchError::OtherRest { joint: joint(), degrees: off.degrees() }),
            None => Ok(()),
        }
    }
}

/// The numbers of a clip that a [`Metric`] compares, taken once, for any number of searches.
///
/// ```
/// use condyle::edit::{Features, Metric, Query, SearchOptions, best_matches};
/// use condyle::synth::{Figure, Options, Synth};
///
/// let made = Synth::generate(&Figure::human(), &Options::default(), 1)?;
/// let features = Features::of(&made.skeleton, &made.clip, Metric::Euler)?;
/// let query = Query::new(&features, 40..70)?;
/// let found = best_matches(&query, &[&features], &SearchOptions::default())?;
/// assert_eq!((found[0].frame, found[0].distance), (40, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Features {
    metric: Metric,
    /// What was told; else each figure has its own.
    told: Told,
    rate: FrameRate,
    joints: Vec<FeatureJoint>,
    /// How large the figure is.
    size_m: f64,
    frames: usize,
    /// From column to column in `values`.
    stride: usize,
    /// Column by column, `Metric::dims` of them per joint; behind each at least [`LANES`] zeros.
    values: Vec<f64>,
    /// The same in single precision, for [bounds](super::bound).
    rough: Vec<f32>,
    /// The least and the greatest of each column.
    extremes: Vec<[f64; 2]>,
    index: Option<Index>,
}

/// What is told of figures; else the motion shows it.
#[derive(Clone, Debug, Default)]
struct Told {
    ground: Option<Ground>,
    names: Vec<NameTable>,
}

impl Features {
    /// Of a whole clip.
    ///
    /// # Errors
    ///
    /// [`MatchError::JointCount`], [`MatchError::NoJoints`], [`MatchError::TooFar`].
    pub fn of(skeleton: &Skeleton, clip: &Clip, metric: Metric) -> Result<Self, MatchError> {
        Self::standing(skeleton, clip, metric, Told::default())
    }

    /// The same where some of the figure is known: which axis is up, and what its joints are called. That
    /// matters for [`Metric::Position`] only.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub fn with_axes(
        skeleton: &Skeleton,
        clip: &Clip,
        metric: Metric,
        known: &AxesOptions<'_>,
    ) -> Result<Self, MatchError> {
        let told = Told { ground: known.up.map(Ground::up_along), names: known.names.to_vec() };
        Self::standing(skeleton, clip, metric, told)
    }

    /// The same in a world with these axes, rather than those that the motion [shows](crate::anatomy::FigureAxes). They
    /// matter for [`Metric::Position`] only.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub fn on(
        skeleton: &Skeleton,
        clip: &Clip,
        metric: Metric,
        ground: Ground,
    ) -> Result<Self, MatchError> {
        Self::standing(skeleton, clip, metric, Told { ground: Some(ground), names: Vec::new() })
    }

    fn standing(
        skeleton: &Skeleton,
        clip: &Clip,
        metric: Metric,
        told: Told,
    ) -> Result<Self, MatchError> {
        check_joints(skeleton, clip)?;
        let of_metric =
            |j: &JointIndex| metric == Metric::Position || skeleton.parent(*j).is_some();
        let joints: Vec<JointIndex> = skeleton.indices().filter(of_metric).collect();
        let orders: Vec<EulerOrder> = joints
            .iter()
            .map(|j| match (metric, clip.channels()) {
                (Metric::Euler, Some(channels)) => {
                    order_of(channels, *j).unwrap_or(EulerOrder::ZYX)
                }
                _ => EulerOrder::ZYX,
            })
            .collect();
        Self::with(skeleton, clip, (metric, told), &joints, &orders)
    }

    /// Of another clip, to be compared with this one: the same metric, joints in the same order by their
    /// names, and the same Euler angles, whatever angles its file has. Joints that only the other skeleton
    /// has are left out. If rotations are compared, joints must have the same parents and rest poses.
    /// Axes of the world that were [told](Self::on) are those of this one, too.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of), and [`MatchError::MissingJoint`], [`MatchError::OtherParent`] and
    /// [`MatchError::OtherRest`].
    pub fn like(&self, skeleton: &Skeleton, clip: &Clip) -> Result<Self, MatchError> {
        check_joints(skeleton, clip)?;
        let bones = bones_m(skeleton, clip);
        let find = |joint: &FeatureJoint| {
            let missing = || MatchError::MissingJoint { joint: joint.name.clone() };
            let found = skeleton.find(&joint.name).ok_or_else(missing)?;
            if self.metric.is_of_rotations() {
                let there = feature_joint((skeleton, &bones), found, joint.order);
                there.same_rotations(joint, self.size_m)?;
            }
            Ok(found)
        };
        let joints = self.joints.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let orders: Vec<EulerOrder> = self.joints.iter().map(|j| j.order).collect();
        Self::with(skeleton, clip, (self.metric, self.told.clone()), &joints, &orders)
    }

    fn with(
        skeleton: &Skeleton,
        clip: &Clip,
        (metric, told): (Metric, Told),
        joints: &[JointIndex],
        orders: &[EulerOrder],
    ) -> Result<Self, MatchError> {
        if joints.is_empty() {
            return Err(MatchError::NoJoints);
        }
        let frames = clip.frame_count();
        // An odd number of cache lines from column to column: else all fall onto few places of the cache.
        let lines = (frames + LANES).div_ceil(8);
        let stride = 8 * (lines + usize::from(lines.is_multiple_of(2)));
        let bones = bones_m(skeleton, clip);
        let named =
            |(j, order): (&JointIndex, &EulerOrder)| feature_joint((skeleton, &bones), *j, *order);
        let mut features = Self {
            metric,
            told,
            size_m: skeleton.longest_path_m(),
            rate: clip.rate(),
            joints: joints.iter().zip(orders).map(named).collect(),
            frames,
            stride,
            values: crate::memory::zeros(joints.len() * metric.dims() * stride),
            rough: Vec::new(),
            extremes: Vec::new(),
            index: None,
        };
        match metric {
            Metric::Euler => features.fill_euler(skeleton, clip, joints, orders),
            Metric::Quaternion => features.fill_quaternions(clip, joints),
            Metric::Position => features.fill_positions(skeleton, clip, joints)?,
        }
        features.extremes = (0..joints.len() * metric.dims())
            .map(|c| {
                let widen = |[lo, hi]: [f64; 2], x: &f64| [lo.min(*x), hi.max(*x)];
                features.column(c).iter().fold([f64::INFINITY, f64::NEG_INFINITY], widen)
            })
            .collect();
        features.rough = single(&features.values);
        Ok(features)
    }

    fn fill_euler(
        &mut self,
        skeleton: &Skeleton,
        clip: &Clip,
        joints: &[JointIndex],
        orders: &[EulerOrder],
    ) {
        for ((j, order), columns) in
            joints.iter().zip(orders).zip(self.values.chunks_exact_mut(3 * self.stride))
        {
            let (first, rest) = columns.split_at_mut(self.stride);
            let (second, third) = rest.split_at_mut(self.stride);
            let mut angles = [first, second, third].map(|c| &mut c[..self.frames]);
            let from_rest = skeleton[*j].rest.inverse();
            let source = clip.channels().filter(|c| order_of(c, *j) == Some(*order));
            if let Some(channels) = source {
                copy_channels(clip, channels, *j, (*order, from_rest), &mut angles);
            } else {
                let mut rotations = Rotations::new();
                rotations.turn_from(from_rest, &local_rotations(clip, *j), 0..self.frames);
                batch::euler_angles(Level::best(), *order, &rotations, angles);
            }
        }
    }

    fn fill_quaternions(&mut self, clip: &Clip, joints: &[JointIndex]) {
        for (j, columns) in joints.iter().zip(self.values.chunks_exact_mut(4 * self.stride)) {
            let rotations = local_rotations(clip, *j);
            // Each in the hemisphere of the one before: an index is of use only if signs do not jump.
            let mut last = rotations.get(0).unwrap_or_default();
            for (f, rotation) in rotations.iter().enumerate() {
                last = rotation.in_hemisphere_of(last);
                for (d, x) in last.quat().to_array().into_iter().enumerate() {
                    columns[d * self.stride + f] = x;
                }
            }
        }
    }

    fn fill_positions(
        &mut self,
        skeleton: &Skeleton,
        clip: &Clip,
        joints: &[JointIndex],
    ) -> Result<(), MatchError> {
        const BLOCK: usize = 256;
        let known = AxesOptions { names: &self.told.names, up: None };
        let axes = FigureAxes::with(skeleton, &[clip], &known);
        let ground = self.told.ground.unwrap_or_else(|| Ground::up_along(axes.up().axis));
        let facing = Facing::with(skeleton, ground, axes.anatomy());
        let ground = facing.ground();
        // Left, up and ahead, whichever axes of the world these are.
        let axes = Some(ground.axes().inverse()).filter(|_| ground != Ground::Y_UP);
        let mut world = WorldTracks::default();
        for start in (0..self.frames).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(self.frames);
            world.update(skeleton, clip, block.clone());
            for f in block {
                let angle = facing.angle(world.rotation(facing.joint(), f));
                let back = ground.turn(Angle::from_radians(-angle.radians()));
                let below = ground.below(world.position_m(facing.joint(), f));
                for (i, j) in joints.iter().enumerate() {
                    let place = back * (world.position_m(*j, f) - below);
                    let place = axes.map_or(place, |axes| axes * place);
                    for (d, x) in place.to_array().into_iter().enumerate() {
                        if x.is_nan() || x.abs() > FAR_M {
                            return Err(MatchError::TooFar { joint: skeleton[*j].name.clone() });
                        }
                        self.values[(3 * i + d) * self.stride + f] = x;
                    }
                }
            }
        }
        Ok(())
    }

    /// The same with an index: searches in it find the same, most of them sooner. It takes about as long
    /// to make as some searches, and a 24th of the memory of the features.
    #[must_use]
    pub fn indexed(mut self) -> Self {
        let columns = (0..self.extremes.len()).map(|c| self.column(c));
        self.index = Some(Index::new(self.frames, columns));
        self
    }

    /// What is compared.
    #[must_use]
    pub const fn metric(&self) -> Metric {
        self.metric
    }

    /// How fast the clip is played.
    #[must_use]
    pub const fn rate(&self) -> FrameRate {
        self.rate
    }

    /// How many frames the clip has.
    #[must_use]
    pub const fn frame_count(&self) -> usize {
        self.frames
    }

    /// The names of the joints that are compared.
    pub fn joints(&self) -> impl ExactSizeIterator<Item = &str> {
        self.joints.iter().map(|j| j.name.as_str())
    }

    /// The numbers of a frame, joint by joint: three Euler angles in radians, in (−π, π]; or x, y, z, w
    /// of a quaternion; or how far to the left, up and ahead in metres.
    ///
    /// # Panics
    ///
    /// Past the last frame.
    pub fn numbers(&self, frame: usize) -> impl Iterator<Item = f64> + '_ {
        assert!(frame < self.frames, "frame {frame} of {}", self.frames);
        (0..self.extremes.len()).map(move |c| self.values[c * self.stride + frame])
    }

    /// One number over all frames.
    pub(super) fn column(&self, column: usize) -> &[f64] {
        &self.values[column * self.stride..][..self.frames]
    }

    /// The same from a frame on, with at least [`LANES`] zeros behind the last frame.
    pub(super) fn column_from(&self, column: usize, frame: usize) -> &[f64] {
        &self.values[column * self.stride + frame..(column + 1) * self.stride]
    }

    /// The same in single precision.
    pub(super) fn rough_column_from(&self, column: usize, frame: usize) -> &[f32] {
        &self.rough[column * self.stride + frame..(column + 1) * self.stride]
    }

    /// The index, if there is one.
    pub(super) fn index(&self) -> Option<&Index> {
        self.index.as_ref()
    }

    /// The least and the greatest number of a column.
    pub(super) fn extremes(&self, column: usize) -> [f64; 2] {
        self.extremes[column]
    }

    /// Where the joints of other features are here.
    ///
    /// # Errors
    ///
    /// If they cannot be compared: another metric, skeleton, rate, or other Euler angles.
    pub(super) fn places_of(&self, other: &Self) -> Result<Vec<usize>, MatchError> {
        /// Files round frame times by up to 2 parts in 10,000 ([`FrameRate::nominal_fps`]), each its own way.
        const ROUNDING: f64 = 4e-4;
        if self.metric != other.metric {
            return Err(MatchError::Metric);
        }
        let (here, there) = (self.rate.frame_time_s(), other.rate.frame_time_s());
        if (here - there).abs() > ROUNDING * here.max(there) {
            let (found, expected) = (self.rate.fps(), other.rate.fps());
            return Err(MatchError::Rate { found, expected });
        }
        let missing = |j: &FeatureJoint| MatchError::MissingJoint { joint: j.name.clone() };
        let by_name: std::collections::BTreeMap<&str, usize> =
            self.joints.iter().enumerate().map(|(i, j)| (j.name.as_str(), i)).collect();
        let mut places = Vec::with_capacity(other.joints.len());
        for joint in &other.joints {
            let at = *by_name.get(joint.name.as_str()).ok_or_else(|| missing(joint))?;
            if self.metric.is_of_rotations() {
                self.joints[at].same_rotations(joint, other.size_m)?;
            }
            let (found, expected) = (self.joints[at].order, joint.order);
            if found != expected {
                let joint = joint.name.clone();
                return Err(MatchError::Angles { joint, found, expected });
            }
            places.push(at);
        }
        if self.joints.len() > places.len() {
            let unknown = |j: &&FeatureJoint| !other.joints.iter().any(|o| o.name == j.name);
            if let Some(extra) = self.joints.iter().find(unknown) {
                return Err(missing(extra));
            }
        }
        Ok(places)
    }
}

fn feature_joint(
    (skeleton, bones_m): (&Skeleton, &[Option<DVec3>]),
    joint: JointIndex,
    order: EulerOrder,
) -> FeatureJoint {
    let Joint { name, rest, .. } = &skeleton[joint];
    let parent = skeleton.parent(joint).map(|p| skeleton[p].name.clone());
    FeatureJoint { name: name.clone(), order, parent, rest: *rest, bone_m: bones_m[joint.get()] }
}

fn check_joints(skeleton: &Skeleton, clip: &Clip) -> Result<(), MatchError> {
    let (found, expected) = (clip.tracks().len(), skeleton.len());
    if found == expected { Ok(()) } else { Err(MatchError::JointCount { found, expected }) }
}

/// The Euler order of a joint's channels. Fewer than three turns are the first of an order, the rest are
/// zero. `None` if there are no turns, too many, or one follows another about the same axis.
fn order_of(channels: &Channels, joint: JointIndex) -> Option<EulerOrder> {
    let turns: Vec<usize> = channels.joint(joint).turns().iter().map(|(axis, _)| *axis).collect();
    let axes = match turns[..] {
        [a] => [a, (a + 1) % 3, (a + 2) % 3],
        // With a = b this is no order.
        [a, b] => [a, b, (6 - a - b) % 3],
        [a, b, c] => [a, b, c],
        _ => return None,
    };
    EulerOrder::from_axes(axes.map(Axis::from_index))
}

/// The angles of the file, wrapped; where an edit has overtaken them, those of the rotation, of two
/// solutions the one nearer to the frame before.
fn copy_channels(
    clip: &Clip,
    channels: &Channels,
    joint: JointIndex,
    (order, from_rest): (EulerOrder, Rotation),
    angles: &mut [&mut [f64]; 3],
) {
    let unit = channels.angle_unit();
    for (to, (_, column)) in angles.iter_mut().zip(channels.joint(joint).turns()) {
        for (to, value) in to.iter_mut().zip(channels.columns().column(column)) {
            *to = within_half_a_turn(unit.to_radians(*value));
        }
    }
    for frame in clip.frames().filter(|f| !channels.rotation_is_source(joint, f.get())) {
        let f = frame.get();
        let previous =
            [0, 1, 2].map(|d| Angle::from_radians(if f == 0 { 0.0 } else { angles[d][f - 1] }));
        let found = EulerAngles::from_rotation(order, from_rest * clip.rotation(joint, frame));
        for (to, angle) in angles.iter_mut().zip(found.nearest(previous)) {
            to[f] = within_half_a_turn(angle.radians());
        }
    }
}

/// Wrapped; the numbers of files are finite.
fn within_half_a_turn(radians: f64) -> f64 {
    let wrapped = Angle::from_radians(radians).wrapped().radians();
    if wrapped.abs() <= PI { wrapped } else { 0.0 }
}

/// The local rotation of a joint in every frame.
fn local_rotations(clip: &Clip, joint: JointIndex) -> Rotations {
    let track = clip.track(joint);
    match track.rotation_times() {
        KeyTimes::EveryFrame => track.rotations().clone(),
        times if times.is_constant() => {
            Rotations::repeat(track.rotations().at(0), clip.frame_count())
        }
        KeyTimes::At(_) => clip.frames().map(|f: FrameIndex| clip.rotation(joint, f)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Query, SearchOptions, best_matches};
    use crate::math::AngleUnit;
    use crate::motion::{Columns, JointChannels, Sequence};
    use crate::skeleton::{Dof, Joint};
    use glam::DVec3;

    fn skeleton() -> Skeleton {
        let mut s = Skeleton::new();
        let root = s.add_root(Joint::new("root", DVec3::ZERO)).unwrap();
        let hip = s.add(root, Joint::new("hip", DVec3::X)).unwrap();
        s.add(hip, Joint::new("knee", DVec3::X)).unwrap();
        s
    }

    /// A clip whose file has these angles: those of the hip in this order, and one about x of the knee.
    fn clip(s: &Skeleton, hip: [Dof; 3], frames: &[[f64; 4]]) -> Clip {
        let mut columns = Columns::zeros(4, frames.len());
        for (f, angles) in frames.iter().enumerate() {
            angles.iter().enumerate().for_each(|(c, x)| columns.set(c, f, *x));
        }
        let turns = |dofs: Vec<Dof>, columns| JointChannels {
            dofs,
            columns,
            sequence: Sequence::FirstIsLeftmost,
            ..JointChannels::fixed(DVec3::X)
        };
        let joints = vec![
            JointChannels::fixed(DVec3::ZERO),
            turns(hip.to_vec(), vec![0, 1, 2]),
            turns(vec![Dof::Rx], vec![3]),
        ];
        let channels = Channels::new(joints, columns, AngleUnit::Degrees, 1.0).unwrap();
        Clip::from_channels(s, FrameRate::from_fps(60.0).unwrap(), channels).unwrap()
    }

    fn degrees(features: &Features, frame: usize) -> Vec<f64> {
        features.numbers(frame).map(f64::to_degrees).collect()
    }

    #[track_caller]
    fn check(found: &[f64], wanted: [f64; 6]) {
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn c4_euler_angles_are_those_of_the_file_and_wrapped() {
        let s = skeleton();
        let frames = [[200.0, 10.0, 20.0, -725.0], [30.0, 120.0, -40.0, 5.0]];
        let mut file = clip(&s, [Dof::Rz, Dof::Rx, Dof::Ry], &frames);
        let features = Features::of(&s, &file, Metric::Euler).unwrap();
        check(&degrees(&features, 0), [-160.0, 10.0, 20.0, -5.0, 0.0, 0.0]);
        // The middle angle beyond 90 degrees is kept, which no decomposition would give.
        check(&degrees(&features, 1), [30.0, 120.0, -40.0, 5.0, 0.0, 0.0]);

        // An edit overtakes the numbers of its frame: of two solutions the one near the frame before.
        let (hip, knee) = (s.find("hip").unwrap(), s.find("knee").unwrap());
        let turn = EulerOrder::ZXY.to_rotation([-150.0, 95.0, 15.0].map(Angle::from_degrees));
        file.set_rotation(hip, FrameIndex(1), turn.unwrap());
        file.set_rotation(knee, FrameIndex(1), Rotation::about_z(Angle::from_degrees(7.0)));
        let edited = Features::of(&s, &file, Metric::Euler).unwrap();
        check(&degrees(&edited, 0), [-160.0, 10.0, 20.0, -5.0, 0.0, 0.0]);
        check(&degrees(&edited, 1), [-150.0, 95.0, 15.0, 0.0, 0.0, 7.0]);
    }

    #[test]
    fn other_angles_are_refused_unless_taken_like_those_of_the_query() {
        let s = skeleton();
        let frames = [[20.0, 10.0, 20.0, -5.0], [30.0, 12.0, -40.0, 5.0], [0.0, 1.0, 2.0, 3.0]];
        let file = clip(&s, [Dof::Rz, Dof::Rx, Dof::Ry], &frames);
        let plain = Clip::new(3, file.rate(), file.tracks().to_vec()).unwrap();
        let a = Features::of(&s, &file, Metric::Euler).unwrap();
        let b = Features::of(&s, &plain, Metric::Euler).unwrap();
        let query = Query::new(&a, 1..2).unwrap();
        let error = best_matches(&query, &[&b], &SearchOptions::default()).unwrap_err();
        let (found, expected) = (EulerOrder::ZYX, EulerOrder::ZXY);
        let error = match error {
            MatchError::InClip { clip: 0, error } => *error,
            other => other,
        };
        assert_eq!(error, MatchError::Angles { joint: "hip".into(), found, expected });
        let b = a.like(&s, &plain).unwrap();
        let found = best_matches(&query, &[&b], &SearchOptions::default()).unwrap();
        assert_eq!(found[0].frame, 1);
        assert!(found[0].distance < 1e-12, "{found:?}");
    }
}
