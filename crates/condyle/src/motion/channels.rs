//! Source channels: the numbers of a motion file, and what they mean.
//!
//! Every text format we read moves a joint by a list of numbers per frame: shifts along and turns
//! about axes. They differ in the order of the factors, in whether a shift replaces the offset or
//! adds to it, and in units. [`JointChannels`] says which it is, so that one routine derives the
//! rotations and translations of all of them:
//!
//! ```text
//!   rotation    = rest · A_1(v_1) · A_2(v_2) · …            factors from left to right
//!   translation = base + basis · (shifts · unit) + stretch
//! ```

use std::fmt;
use std::num::NonZeroUsize;

use glam::DVec3;

use super::clip::{KeyTimes, Track};
use crate::math::{
    AngleUnit, Axis, EulerOrder, Interpolation, Level, Points, Rotation, Rotations, batch,
};
use crate::skeleton::{Dof, JointIndex, Skeleton};

/// A table of numbers, column by column: one column per channel, one entry per frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    values: Vec<f64>,
    frames: usize,
    columns: usize,
}

impl Columns {
    /// A table of zeros.
    #[must_use]
    pub fn zeros(columns: usize, frames: usize) -> Self {
        Self { values: crate::memory::zeros(columns * frames), frames, columns }
    }

    /// How many columns.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// How many frames.
    #[must_use]
    pub const fn frames(&self) -> usize {
        self.frames
    }

    /// One channel over all frames.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    #[must_use]
    pub fn column(&self, column: usize) -> &[f64] {
        assert!(column < self.columns, "column {column} of {}", self.columns);
        &self.values[column * self.frames..(column + 1) * self.frames]
    }

    /// One channel over all frames, writable.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn column_mut(&mut self, column: usize) -> &mut [f64] {
        assert!(column < self.columns, "column {column} of {}", self.columns);
        &mut self.values[column * self.frames..(column + 1) * self.frames]
    }

    /// All channels, writable, one after the other.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        // Chunks of nothing are not allowed; then there is nothing to give either.
        self.values.chunks_exact_mut(self.frames.max(1))
    }

    /// One number.
    ///
    /// # Panics
    ///
    /// If there is no such column or frame.
    #[must_use]
    pub fn value(&self, column: usize, frame: usize) -> f64 {
        self.column(column)[frame]
    }

    /// Replaces one number.
    ///
    /// # Panics
    ///
    /// If there is no such column or frame.
    pub fn set(&mut self, column: usize, frame: usize, value: f64) {
        self.column_mut(column)[frame] = value;
    }

    /// The same table with only its first `frames` frames.
    #[must_use]
    pub fn truncated(mut self, frames: usize) -> Self {
        if frames >= self.frames {
            return self;
        }
        for c in 1..self.columns {
            let from = c * self.frames;
            self.values.copy_within(from..from + frames, c * frames);
        }
        self.values.truncate(self.columns * frames);
        self.frames = frames;
        self
    }
}

/// In which order the turns of a joint act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// The first listed is the leftmost factor and acts last (BVH).
    FirstIsLeftmost,
    /// The first listed acts first and is the rightmost factor (ASF).
    FirstActsFirst,
}

/// The channels of one joint: which columns, and what they mean.
#[derive(Clone, Debug)]
pub struct JointChannels {
    /// What each column is, in the file's order.
    pub dofs: Vec<Dof>,
    /// The column of each entry of `dofs`.
    pub columns: Vec<usize>,
    /// How the turns are multiplied.
    pub sequence: Sequence,
    /// Where the joint centre is when all shifts are zero, in the parent's local space, metres.
    pub translation_base_m: DVec3,
    /// The space of the shifts, as a rotation into the parent's local space.
    pub translation_basis: Rotation,
    /// A column of the parent's that stretches the bone to this joint, and the bone's direction in
    /// the parent's local space.
    pub stretch: Option<(usize, DVec3)>,
}

impl JointChannels {
    /// No channels: the joint stays where the skeleton puts it.
    #[must_use]
    pub fn fixed(offset_m: DVec3) -> Self {
        Self {
            dofs: Vec::new(),
            columns: Vec::new(),
            sequence: Sequence::FirstIsLeftmost,
            translation_base_m: offset_m,
            translation_basis: Rotation::IDENTITY,
            stretch: None,
        }
    }

    /// Whether numbers mean the same here as there.
    fn is_like(&self, other: &Self) -> bool {
        self.dofs == other.dofs
            && self.columns == other.columns
            && self.sequence == other.sequence
            && self.translation_base_m == other.translation_base_m
            && self.translation_basis.quat() == other.translation_basis.quat()
            && self.stretch == other.stretch
    }

    /// The turns as (axis, column), leftmost factor first.
    #[must_use]
    pub fn turns(&self) -> Vec<(usize, usize)> {
        let mut turns: Vec<_> = self
            .dofs
            .iter()
            .zip(&self.columns)
            .filter_map(|(dof, &column)| Some((dof.rotation_axis()?, column)))
            .collect();
        if self.sequence == Sequence::FirstActsFirst {
            turns.reverse();
        }
        turns
    }

    /// The order of its three turns; `None` if it has fewer or more, or two in a row about one axis.
    #[must_use]
    pub fn order(&self) -> Option<EulerOrder> {
        let turns = self.turns();
        let [a, b, c] = turns.as_slice() else { return None };
        let axes = [Axis::X, Axis::Y, Axis::Z];
        EulerOrder::from_axes([a, b, c].map(|(axis, _)| axes[axis % 3]))
    }

    /// The shifts as (axis, column), in the file's order.
    #[must_use]
    pub fn shifts(&self) -> Vec<(usize, usize)> {
        self.dofs
            .iter()
            .zip(&self.columns)
            .filter_map(|(dof, &column)| Some((dof.translation_axis()?, column)))
            .collect()
    }
}

/// Which frames of a joint were edited since they were read.
#[derive(Clone, Debug, Default)]
struct FrameSet(Vec<u64>);

impl FrameSet {
    fn insert(&mut self, frame: usize) {
        let word = frame / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (frame % 64);
    }

    fn contains(&self, frame: usize) -> bool {
        self.0.get(frame / 64).is_some_and(|word| word >> (frame % 64) & 1 == 1)
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}

/// The numbers of a motion file with their meaning, and which of them an edit has overtaken.
#[derive(Clone, Debug)]
pub struct Channels {
    joints: Vec<JointChannels>,
    columns: Columns,
    angle_unit: AngleUnit,
    unit_m: f64,
    rotation_edits: Vec<FrameSet>,
    translation_edits: Vec<FrameSet>,
}

impl Channels {
    /// Puts numbers and meaning together. `joints` has one entry per joint of the skeleton,
    /// `unit_m` is the length of the file's unit in metres.
    ///
    /// # Errors
    ///
    /// If a joint names a column that is not there, twice the same column, or as many columns as
    /// dofs do not match, or if the unit or a number is not finite.
    pub fn new(
        joints: Vec<JointChannels>,
        columns: Columns,
        angle_unit: AngleUnit,
        unit_m: f64,
    ) -> Result<Self, ChannelsError> {
        if !columns.values.iter().all(|v| v.is_finite()) {
            return Err(ChannelsError::NotFinite);
        }
        Self::of_finite(joints, columns, angle_unit, unit_m)
    }

    /// The same, of numbers that were found finite when they were read.
    pub(crate) fn of_finite(
        joints: Vec<JointChannels>,
        columns: Columns,
        angle_unit: AngleUnit,
        unit_m: f64,
    ) -> Result<Self, ChannelsError> {
        debug_assert!(columns.values.iter().all(|v| v.is_finite()), "the readers refuse others");
        if !(unit_m.is_finite() && unit_m > 0.0) {
            return Err(ChannelsError::BadUnit);
        }
        let mut used = vec![false; columns.columns()];
        for joint in &joints {
            if joint.dofs.len() != joint.columns.len() {
                return Err(ChannelsError::CountMismatch);
            }
            for &c in &joint.columns {
                match used.get_mut(c) {
                    Some(seen) if !*seen => *seen = true,
                    _ => return Err(ChannelsError::BadColumn { column: c }),
                }
            }
            if let Some((c, _)) = joint.stretch
                && c >= columns.columns()
            {
                return Err(ChannelsError::BadColumn { column: c });
            }
        }
        let n = joints.len();
        Ok(Self {
            joints,
            columns,
            angle_unit,
            unit_m,
            rotation_edits: vec![FrameSet::default(); n],
            translation_edits: vec![FrameSet::default(); n],
        })
    }

    /// The channels of each joint, in the skeleton's order.
    #[must_use]
    pub fn joints(&self) -> &[JointChannels] {
        &self.joints
    }

    /// The channels of one joint.
    #[must_use]
    pub fn joint(&self, joint: JointIndex) -> &JointChannels {
        &self.joints[joint.get()]
    }

    /// The numbers as the file has them, in its units. Edits do not change them: ask
    /// [`rotation_is_source`](Self::rotation_is_source) whether they still hold.
    #[must_use]
    pub const fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The unit of the angles.
    #[must_use]
    pub const fn angle_unit(&self) -> AngleUnit {
        self.angle_unit
    }

    /// The file's unit of length, in metres.
    #[must_use]
    pub const fn unit_m(&self) -> f64 {
        self.unit_m
    }

    /// Whether the joint's turns in this frame are still what the file said.
    #[must_use]
    pub fn rotation_is_source(&self, joint: JointIndex, frame: usize) -> bool {
        !self.rotation_edits[joint.get()].contains(frame)
    }

    /// Whether the joint's shifts in this frame are still what the file said.
    #[must_use]
    pub fn translation_is_source(&self, joint: JointIndex, frame: usize) -> bool {
        !self.translation_edits[joint.get()].contains(frame)
    }

    /// Whether anything was edited since the numbers were read.
    #[must_use]
    pub fn is_edited(&self) -> bool {
        let mut sets = self.rotation_edits.iter().chain(&self.translation_edits);
        !sets.all(FrameSet::is_empty)
    }

    /// Takes a joint's channels away, since its numbers mean something else now.
    pub(crate) fn forget(&mut self, joint: JointIndex) {
        self.joints[joint.get()] = JointChannels::fixed(DVec3::ZERO);
    }

    pub(crate) fn mark_rotation(&mut self, joint: JointIndex, frame: usize) {
        self.rotation_edits[joint.get()].insert(frame);
    }

    pub(crate) fn mark_translation(&mut self, joint: JointIndex, frame: usize) {
        self.translation_edits[joint.get()].insert(frame);
    }

    /// The same channels over other frames, given as coordinates in frames of this table. A whole
    /// one is taken over, edits included. Elsewhere the numbers are marked as overtaken, and zero
    /// but for changes of length, which no track holds: they are interpolated here.
    pub(crate) fn with_frames(&self, coordinates: &[f64], how: Interpolation) -> Self {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number below the frame count"
        )]
        let whole = |x: f64| (x.fract() == 0.0).then_some(x as usize);
        let frames: Vec<Option<usize>> = coordinates.iter().map(|x| whole(*x)).collect();
        let mut columns = Columns::zeros(self.columns.columns(), frames.len());
        for c in 0..self.columns.columns() {
            let (from, to) = (self.columns.column(c), columns.column_mut(c));
            for (to, frame) in to.iter_mut().zip(&frames) {
                *to = frame.map_or(0.0, |f| from[f]);
            }
        }
        for joint in &self.joints {
            for (_, &c) in joint.dofs.iter().zip(&joint.columns).filter(|(d, _)| **d == Dof::Length)
            {
                let lengths: Points =
                    self.columns.column(c).iter().map(|l| DVec3::new(*l, 0.0, 0.0)).collect();
                for (to, x) in columns.column_mut(c).iter_mut().zip(coordinates) {
                    *to = lengths.sample_frames(*x, how).map_or(0.0, |l| l.x);
                }
            }
        }
        let edits = |old: &[FrameSet]| -> Vec<FrameSet> {
            old.iter()
                .map(|old| {
                    let mut set = FrameSet::default();
                    for (i, frame) in frames.iter().enumerate() {
                        if frame.is_none_or(|f| old.contains(f)) {
                            set.insert(i);
                        }
                    }
                    set
                })
                .collect()
        };
        Self {
            joints: self.joints.clone(),
            columns,
            angle_unit: self.angle_unit,
            unit_m: self.unit_m,
            rotation_edits: edits(&self.rotation_edits),
            translation_edits: edits(&self.translation_edits),
        }
    }

    /// The channels of parts that follow each other, each with its number of frames: the meaning is that
    /// of the first part that has channels. Numbers of parts without channels or with others are marked
    /// as overtaken, and zero but for changes of length, which stay as they were.
    pub(crate) fn joined(parts: &[(Option<&Self>, usize)]) -> Option<Self> {
        let first = parts.iter().find_map(|(channels, _)| *channels)?;
        let alike = |other: &Self| {
            other.joints.len() == first.joints.len()
                && other.joints.iter().zip(&first.joints).all(|(a, b)| a.is_like(b))
                && other.columns.columns() == first.columns.columns()
                && other.angle_unit == first.angle_unit
                && other.unit_m.to_bits() == first.unit_m.to_bits()
        };
        let total = parts.iter().map(|(_, frames)| frames).sum();
        let mut columns = Columns::zeros(first.columns.columns(), total);
        let n = first.joints.len();
        let (mut rotation_edits, mut translation_edits) =
            (vec![FrameSet::default(); n], vec![FrameSet::default(); n]);
        let lengths: Vec<usize> = first
            .joints
            .iter()
            .flat_map(|j| j.dofs.iter().zip(&j.columns))
            .filter(|(dof, _)| **dof == Dof::Length)
            .map(|(_, column)| *column)
            .collect();
        let mut start = 0;
        for (channels, frames) in parts {
            match channels.filter(|c| alike(c)) {
                Some(part) => {
                    for c in 0..columns.columns() {
                        columns.column_mut(c)[start..start + frames]
                            .copy_from_slice(part.columns.column(c));
                    }
                    for (to, from) in [
                        (&mut rotation_edits, &part.rotation_edits),
                        (&mut translation_edits, &part.translation_edits),
                    ] {
                        for (to, from) in to.iter_mut().zip(from) {
                            (0..*frames)
                                .filter(|f| from.contains(*f))
                                .for_each(|f| to.insert(start + f));
                        }
                    }
                }
                None => {
                    for &c in lengths.iter().filter(|_| start > 0) {
                        let column = columns.column_mut(c);
                        let before = column[start - 1];
                        column[start..start + frames].fill(before);
                    }
                    for set in rotation_edits.iter_mut().chain(&mut translation_edits) {
                        (start..start + frames).for_each(|f| set.insert(f));
                    }
                }
            }
            start += frames;
        }
        let (angle_unit, unit_m) = (first.angle_unit, first.unit_m);
        let joints = first.joints.clone();
        Some(Self { joints, columns, angle_unit, unit_m, rotation_edits, translation_edits })
    }

    /// The motion of every joint that these numbers stand for; the same for any number of threads.
    pub(crate) fn derive(&self, skeleton: &Skeleton, threads: NonZeroUsize) -> Vec<Track> {
        let frames = self.columns.frames();
        let turns: Vec<_> = self.joints.iter().map(JointChannels::turns).collect();
        let turning: Vec<_> =
            skeleton.indices().filter(|j| frames > 0 && !turns[j.get()].is_empty()).collect();
        let rotations = Rotations::in_one_table(turning.len(), frames, threads, |i, to| {
            let joint = turning[i];
            let turns: Vec<_> = turns[joint.get()]
                .iter()
                .map(|&(axis, column)| (Axis::from_index(axis), self.columns.column(column)))
                .collect();
            batch::turn(Level::best(), skeleton[joint].rest, &turns, self.angle_unit, to);
        });
        let mut rotations = turning.iter().zip(rotations).peekable();
        skeleton
            .indices()
            .map(|joint| {
                let (rotations, rotation_times) = match rotations.next_if(|(j, _)| **j == joint) {
                    Some((_, rotations)) => (rotations, KeyTimes::EveryFrame),
                    None => (Rotations::repeat(skeleton[joint].rest, 1), KeyTimes::constant()),
                };
                let channels = self.joint(joint);
                let shifts = channels.shifts();
                let still = shifts.is_empty() && channels.stretch.is_none();
                let (translations, translation_times) = if still || frames == 0 {
                    (Points::repeat(channels.translation_base_m, 1), KeyTimes::constant())
                } else {
                    (self.derive_translations(channels, &shifts), KeyTimes::EveryFrame)
                };
                Track::from_parts(rotations, rotation_times, translations, translation_times)
            })
            .collect()
    }

    fn derive_translations(&self, channels: &JointChannels, shifts: &[(usize, usize)]) -> Points {
        let mut out = Points::repeat(DVec3::ZERO, self.columns.frames());
        for &(axis, column) in shifts {
            let source = self.columns.column(column);
            for (to, from) in out.xyz_mut()[axis].iter_mut().zip(source) {
                *to += from * self.unit_m;
            }
        }
        let stretch = channels.stretch.map(|(c, direction)| (self.columns.column(c), direction));
        for i in 0..out.len() {
            let mut p = channels.translation_basis * out.at(i) + channels.translation_base_m;
            if let Some((lengths, direction)) = stretch {
                p += direction * (lengths[i] * self.unit_m);
            }
            out.set(i, p);
        }
        out
    }
}

/// Why numbers and meaning do not fit together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChannelsError {
    /// A joint has more dofs than columns or fewer.
    CountMismatch,
    /// A column is missing or used twice.
    BadColumn {
        /// Which.
        column: usize,
    },
    /// The unit of length is not positive and finite.
    BadUnit,
    /// A number is infinite or not a number.
    NotFinite,
}

impl fmt::Display for ChannelsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CountMismatch => f.write_str("a joint has not one column per degree of freedom"),
            Self::BadColumn { column } => write!(f, "column {column} is missing or used twice"),
            Self::BadUnit => f.write_str("the unit of length is not a positive number"),
            Self::NotFinite => f.write_str("a channel holds a number that is not finite"),
        }
    }
}

impl std::error::Error for ChannelsError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Angle;
    use crate::skeleton::Joint;

    fn one_joint(rest: Rotation, offset: DVec3) -> (Skeleton, JointIndex) {
        let mut s = Skeleton::new();
        let mut joint = Joint::new("j", offset);
        joint.rest = rest;
        let j = s.add_root(joint).unwrap();
        (s, j)
    }

    fn turning(dofs: &[Dof], sequence: Sequence) -> JointChannels {
        JointChannels {
            dofs: dofs.to_vec(),
            columns: (0..dofs.len()).collect(),
            sequence,
            ..JointChannels::fixed(DVec3::ZERO)
        }
    }

    fn table(rows: &[&[f64]]) -> Columns {
        let mut columns = Columns::zeros(rows[0].len(), rows.len());
        for (f, row) in rows.iter().enumerate() {
            for (c, v) in row.iter().enumerate() {
                columns.set(c, f, *v);
            }
        }
        columns
    }

    fn deg(axis: usize, d: f64) -> Rotation {
        let a = Angle::from_degrees(d);
        [Rotation::about_x(a), Rotation::about_y(a), Rotation::about_z(a)][axis]
    }

    #[test]
    fn the_first_bvh_channel_is_leftmost_and_the_first_asf_dof_acts_first() {
        let rest = deg(1, 20.0);
        let (s, j) = one_joint(rest, DVec3::ZERO);
        let dofs = [Dof::Rz, Dof::Rx, Dof::Ry];
        let numbers = table(&[&[10.0, 50.0, -70.0], &[400.0, -5.0, 33.0]]);
        for (sequence, row, expected) in [
            (Sequence::FirstIsLeftmost, 0, deg(2, 10.0) * deg(0, 50.0) * deg(1, -70.0)),
            (Sequence::FirstActsFirst, 0, deg(1, -70.0) * deg(0, 50.0) * deg(2, 10.0)),
            (Sequence::FirstIsLeftmost, 1, deg(2, 400.0) * deg(0, -5.0) * deg(1, 33.0)),
        ] {
            let channels = Channels::new(
                vec![turning(&dofs, sequence)],
                numbers.clone(),
                AngleUnit::Degrees,
                1.0,
            );
            let track = &channels.unwrap().derive(&s, NonZeroUsize::MIN)[j.get()];
            let error = track.rotations().at(row).distance(rest * expected);
            assert!(error.radians() < 1e-15, "{sequence:?} {row}: {error:?}");
        }
    }

    #[test]
    fn the_order_is_that_of_three_turns() {
        let order = |dofs: &[Dof], sequence| turning(dofs, sequence).order();
        let zxy = [Dof::Tx, Dof::Rz, Dof::Rx, Dof::Ry];
        assert_eq!(order(&zxy, Sequence::FirstIsLeftmost), Some(EulerOrder::ZXY));
        assert_eq!(order(&zxy, Sequence::FirstActsFirst), Some(EulerOrder::YXZ));
        for none in [&[Dof::Rz, Dof::Rx][..], &[Dof::Rz, Dof::Rz, Dof::Rx], &[], &[Dof::Rz; 4]] {
            assert_eq!(order(none, Sequence::FirstIsLeftmost), None, "{none:?}");
        }
    }

    #[test]
    fn shifts_are_scaled_turned_by_the_basis_and_added_to_the_base() {
        let (s, j) = one_joint(Rotation::IDENTITY, DVec3::X);
        let channels = JointChannels {
            translation_base_m: DVec3::X,
            translation_basis: deg(2, 90.0),
            ..turning(&[Dof::Ty, Dof::Tx], Sequence::FirstActsFirst)
        };
        let numbers = table(&[&[3.0, 5.0]]);
        let c = Channels::new(vec![channels], numbers, AngleUnit::Degrees, 0.01).unwrap();
        let p = c.derive(&s, NonZeroUsize::MIN)[j.get()].translations_m().at(0);
        // (5, 3) cm turned by 90° is (−3, 5) cm.
        assert!((p - DVec3::new(0.97, 0.05, 0.0)).length() < 1e-15, "{p}");
    }

    #[test]
    fn numbers_without_meaning_are_refused() {
        let make = |columns: Vec<usize>, value: f64, unit: f64| {
            let joint = JointChannels { columns, ..turning(&[Dof::Rx], Sequence::FirstIsLeftmost) };
            Channels::new(vec![joint], table(&[&[value]]), AngleUnit::Degrees, unit).err()
        };
        assert_eq!(make(vec![0], 1.0, 1.0), None);
        assert_eq!(make(vec![1], 1.0, 1.0), Some(ChannelsError::BadColumn { column: 1 }));
        assert_eq!(make(vec![], 1.0, 1.0), Some(ChannelsError::CountMismatch));
        assert_eq!(make(vec![0], f64::NAN, 1.0), Some(ChannelsError::NotFinite));
        assert_eq!(make(vec![0], 1.0, 0.0), Some(ChannelsError::BadUnit));
    }

    #[test]
    fn truncating_a_table_keeps_the_first_frames_of_every_column() {
        let t = table(&[&[1.0, 2.0], &[3.0, 4.0], &[5.0, 6.0]]).truncated(2);
        assert_eq!((t.column(0), t.column(1)), (&[1.0, 3.0][..], &[2.0, 4.0][..]));
        assert_eq!(t.frames(), 2);
    }
}
