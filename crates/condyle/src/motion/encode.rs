//! From rotations and translations back to the numbers of a file: the inverse of
//! [`channels`](super::channels).
//!
//! Numbers that no edit has touched are copied. Others are computed, each frame's as close as
//! possible to the frame before, so that curves do not jump. Where a joint's degrees of freedom
//! cannot make its motion, it gets the missing ones: turns on the left of the product, so that the
//! source's numbers stay valid with zeros beside them.

use std::f64::consts::TAU;

use glam::DVec3;

use super::{AngleUnit, Channels, Clip, Sequence};
use crate::math::{Angle, Axis, EulerAngles, EulerOrder, Rotation, trig};
use crate::skeleton::{Dof, JointIndex};

/// Turns smaller than this are no reason for another degree of freedom, in radians: a thousand times
/// the rounding that rotations carry.
const TURN_TOLERANCE: f64 = 1e-12;

/// Shifts smaller than this are none, as a share of the skeleton's size: a hundred times what
/// rounding does to a place, far below the digits that files have.
pub(crate) const SHIFT_TOLERANCE: f64 = 1e-13;

/// How the numbers of one joint are to be written.
#[derive(Clone, Debug)]
pub(crate) struct Encoding {
    /// What each number is, in the order of the file; gets longer where the motion needs it.
    pub(crate) dofs: Vec<Dof>,
    /// How the turns are multiplied.
    pub(crate) sequence: Sequence,
    /// In which order the file lists turns, if it says so: those that are added keep to it, if the others do.
    pub(crate) order: Option<EulerOrder>,
    /// The local rotation when all turns are zero.
    pub(crate) rest: Rotation,
    /// Where the joint is when all shifts are zero.
    pub(crate) base: Base,
    /// The space of the shifts, as a rotation into the parent's local space.
    pub(crate) basis: Rotation,
    /// Whether the parent's `l` is written, too, so that the stretch is no part of the shifts.
    pub(crate) keeps_stretch: bool,
}

/// Where a joint is when all its shifts are zero, in the parent's local space, metres.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Base {
    /// Here: shifts are added.
    At(DVec3),
    /// Here, but at zero along every axis that has a shift: shifts replace the offset.
    ReplacedBelow(DVec3),
}

impl Base {
    fn at(self, dofs: &[Dof]) -> DVec3 {
        match self {
            Self::At(base) => base,
            Self::ReplacedBelow(mut base) => {
                dofs.iter().filter_map(|d| d.translation_axis()).for_each(|a| base[a] = 0.0);
                base
            }
        }
    }
}

impl Encoding {
    /// The axes of the turns, leftmost factor first.
    fn axes(&self) -> Vec<Axis> {
        let turns = self.dofs.iter().filter_map(|d| d.rotation_axis()).map(Axis::from_index);
        let mut axes: Vec<Axis> = turns.collect();
        if self.sequence == Sequence::FirstActsFirst {
            axes.reverse();
        }
        axes
    }

    /// Adds the turns that are missing, where the file's order has them, else on the left of the product.
    /// Where an axis comes twice they are replaced by z, y, x.
    fn widen_turns(&mut self) {
        let axes = self.axes();
        let distinct = axes.iter().enumerate().all(|(i, a)| !axes[..i].contains(a));
        if !distinct {
            self.dofs.retain(|d| d.rotation_axis().is_none());
        }
        let missing = [Dof::Rx, Dof::Ry, Dof::Rz].into_iter().filter(|d| !self.dofs.contains(d));
        let missing: Vec<Dof> = missing.collect();
        if let Some(ordered) = self.order.and_then(|order| self.ordered(order)) {
            self.dofs = ordered;
            return;
        }
        match self.sequence {
            Sequence::FirstActsFirst => self.dofs.extend(missing),
            Sequence::FirstIsLeftmost => {
                let first = self.dofs.iter().position(|d| d.rotation_axis().is_some());
                let at = first.unwrap_or(self.dofs.len());
                self.dofs.splice(at..at, missing.into_iter().rev());
            }
        }
    }

    /// These degrees of freedom with all three turns, in an order that those which are there have already.
    fn ordered(&self, order: EulerOrder) -> Option<Vec<Dof>> {
        let all = order.axes().map(|axis| Dof::rotation(axis.index()));
        let turns = self.dofs.iter().filter(|d| d.rotation_axis().is_some());
        if !turns.eq(all.iter().filter(|d| self.dofs.contains(d))) {
            return None;
        }
        // Each turn brings those before it along, the last those behind.
        let mut left = all.iter().copied().peekable();
        let mut ordered = Vec::with_capacity(self.dofs.len() + 3);
        for dof in &self.dofs {
            if dof.rotation_axis().is_some() {
                while let Some(turn) = left.next_if(|turn| turn != dof) {
                    ordered.push(turn);
                }
                left.next();
            }
            ordered.push(*dof);
        }
        let end = ordered.iter().rposition(|d| d.rotation_axis().is_some());
        let end = end.map_or(ordered.len(), |last| last + 1);
        ordered.splice(end..end, left);
        Some(ordered)
    }

    /// Adds the shifts that are missing: behind in ASF, in front in BVH, as each is used to.
    fn widen_shifts(&mut self) {
        let missing = [Dof::Tx, Dof::Ty, Dof::Tz].into_iter().filter(|d| !self.dofs.contains(d));
        let missing: Vec<Dof> = missing.collect();
        match self.sequence {
            Sequence::FirstActsFirst => self.dofs.extend(missing),
            Sequence::FirstIsLeftmost => drop(self.dofs.splice(0..0, missing)),
        }
    }
}

/// Computes the numbers of a clip's joints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoder<'a> {
    clip: &'a Clip,
    /// The numbers of the source, if they are of these frames.
    channels: Option<&'a Channels>,
    /// The unit of lengths to write, in metres.
    unit_m: f64,
    /// The unit of angles to write.
    angle: AngleUnit,
    /// Shifts up to this are none, in metres.
    still_m: f64,
}

impl<'a> Encoder<'a> {
    /// For a clip of a skeleton of this size (longest path).
    pub(crate) fn new(clip: &'a Clip, size_m: f64, unit_m: f64, angle: AngleUnit) -> Self {
        let channels = clip.channels().filter(|c| c.columns().frames() == clip.frame_count());
        Self { clip, channels, unit_m, angle, still_m: SHIFT_TOLERANCE * size_m }
    }

    /// One column per degree of freedom of `encoding`, which gets more where the motion needs it.
    pub(crate) fn columns(&self, joint: JointIndex, encoding: &mut Encoding) -> Vec<Vec<f64>> {
        let mut turns = match self.turns(joint, encoding) {
            Some(turns) => turns,
            None => {
                encoding.widen_turns();
                self.turns(joint, encoding).expect("three axes make every rotation")
            }
        };
        let mut shifts = match self.shifts(joint, encoding) {
            Some(shifts) => shifts,
            None => {
                encoding.widen_shifts();
                self.shifts(joint, encoding).expect("three axes make every shift")
            }
        };
        if encoding.sequence == Sequence::FirstActsFirst {
            turns.reverse();
        }
        let mut turns = turns.into_iter();
        let column = |dof: &Dof| match dof.translation_axis() {
            Some(axis) => std::mem::take(&mut shifts[axis]),
            None if *dof == Dof::Length => self.lengths(joint),
            None => turns.next().expect("one column per turn"),
        };
        encoding.dofs.iter().map(column).collect()
    }

    /// The changes of the bone's length, which only the source has.
    fn lengths(&self, joint: JointIndex) -> Vec<f64> {
        let source = self.channels.and_then(|channels| {
            let j = channels.joint(joint);
            let l = j.dofs.iter().position(|d| *d == Dof::Length)?;
            Some((channels, channels.columns().column(j.columns[l])))
        });
        match source {
            Some((channels, column)) => {
                column.iter().map(|v| self.length_number(channels, *v)).collect()
            }
            None => vec![0.0; self.clip.frame_count()],
        }
    }

    /// A length of the source in the unit that is written; untouched if they are the same.
    fn length_number(&self, channels: &Channels, value: f64) -> f64 {
        if channels.unit_m().to_bits() == self.unit_m.to_bits() {
            value
        } else {
            value * channels.unit_m() / self.unit_m
        }
    }

    /// An angle of the source in the unit that is written; untouched if they are the same.
    fn angle_number(&self, channels: &Channels, value: f64) -> f64 {
        if channels.angle_unit() == self.angle {
            value
        } else {
            self.angle.from_radians(channels.angle_unit().to_radians(value))
        }
    }

    /// The turns, leftmost factor first; `None` if the axes cannot make every frame's rotation.
    fn turns(&self, joint: JointIndex, encoding: &Encoding) -> Option<Vec<Vec<f64>>> {
        let axes = encoding.axes();
        // The source's turns are ours if its axes are some of ours, in this order; the others stay zero.
        let source = self.channels.and_then(|channels| {
            let turns = channels.joint(joint).turns();
            let mut left = axes.iter().enumerate();
            let place = |(axis, column): &(usize, usize)| {
                let (place, _) = left.find(|(_, ours)| ours.index() == *axis)?;
                Some((place, *column))
            };
            let turns = turns.iter().map(place).collect::<Option<Vec<(usize, usize)>>>()?;
            // Without turns there is nothing to copy, and the motion may have come otherwise.
            (!turns.is_empty()).then_some((channels, turns))
        });
        let frames = self.clip.frame_count();
        let mut out = vec![vec![0.0; frames]; axes.len()];
        // Frames before the first of the source's follow it, so that no curve jumps into it.
        let first = source
            .as_ref()
            .and_then(|(channels, _)| (0..frames).find(|f| channels.rotation_is_source(joint, *f)));
        let mut previous = [0.0; 3];
        if let (Some((channels, turns)), Some(f)) = (&source, first) {
            for (place, column) in turns {
                if let Some(p) = previous.get_mut(*place) {
                    *p = channels.angle_unit().to_radians(channels.columns().value(*column, f));
                }
            }
        }
        let still = self.clip.track(joint).rotation_times().is_constant() && source.is_none();
        let inverse_rest = encoding.rest.inverse();
        for frame in self.clip.frames() {
            let f = frame.get();
            if let Some((channels, turns)) = &source
                && channels.rotation_is_source(joint, f)
            {
                previous = [0.0; 3];
                for (place, column) in turns {
                    let value = channels.columns().value(*column, f);
                    out[*place][f] = self.angle_number(channels, value);
                    if let Some(p) = previous.get_mut(*place) {
                        *p = channels.angle_unit().to_radians(value);
                    }
                }
                continue;
            }
            let local = self.clip.rotation(joint, frame);
            let (angles, residual) = solve(&axes, inverse_rest * local, previous)?;
            if residual > TURN_TOLERANCE {
                return None;
            }
            for (column, angle) in out.iter_mut().zip(angles) {
                if still {
                    column.fill(self.angle.from_radians(angle));
                } else {
                    column[f] = self.angle.from_radians(angle);
                }
            }
            if still {
                break;
            }
            previous = angles;
        }
        Some(out)
    }

    /// The shifts along x, y and z; `None` if there is one along an axis that has no number.
    fn shifts(&self, joint: JointIndex, encoding: &Encoding) -> Option<[Vec<f64>; 3]> {
        let has = |axis: usize| encoding.dofs.contains(&Dof::translation(axis));
        let base_m = encoding.base.at(&encoding.dofs);
        let source = self.channels.filter(|channels| {
            let j = channels.joint(joint);
            (encoding.keeps_stretch || j.stretch.is_none())
                && j.translation_base_m == base_m
                && same_turn(j.translation_basis, encoding.basis)
                && !j.shifts().is_empty()
                && j.shifts().iter().all(|(axis, _)| has(*axis))
        });
        let stretch = self.channels.filter(|_| encoding.keeps_stretch).and_then(|channels| {
            let (column, along) = channels.joint(joint).stretch?;
            Some((channels.columns().column(column), along * channels.unit_m()))
        });
        let frames = self.clip.frame_count();
        let mut out: [Vec<f64>; 3] =
            std::array::from_fn(|axis| vec![0.0; if has(axis) { frames } else { 0 }]);
        let inverse_basis = encoding.basis.inverse();
        let still = self.clip.track(joint).translation_times().is_constant()
            && source.is_none()
            && stretch.is_none();
        for frame in self.clip.frames() {
            let f = frame.get();
            if let Some(channels) = source
                && channels.translation_is_source(joint, f)
            {
                for (axis, column) in channels.joint(joint).shifts() {
                    let value = channels.columns().value(column, f);
                    out[axis][f] = self.length_number(channels, value);
                }
                continue;
            }
            let mut place = self.clip.translation_m(joint, frame);
            if let Some((lengths, along)) = stretch {
                place -= along * lengths[f];
            }
            let shift = inverse_basis * (place - base_m);
            for axis in 0..3 {
                if has(axis) && still {
                    out[axis].fill(shift[axis] / self.unit_m);
                } else if has(axis) {
                    out[axis][f] = shift[axis] / self.unit_m;
                } else if shift[axis].abs() > self.still_m {
                    return None;
                }
            }
            if still {
                break;
            }
        }
        Some(out)
    }
}

/// The axes of a joint's source turns, leftmost factor first; empty if it has none.
pub(crate) fn source_axes(clip: &Clip, joint: JointIndex) -> Vec<Axis> {
    clip.channels().map_or_else(Vec::new, |channels| {
        channels.joint(joint).turns().into_iter().map(|(a, _)| Axis::from_index(a)).collect()
    })
}

fn is_identity(r: Rotation) -> bool {
    let q = r.quat();
    q.x == 0.0 && q.y == 0.0 && q.z == 0.0
}

fn same_turn(a: Rotation, b: Rotation) -> bool {
    a.quat() == b.quat() || (is_identity(a) && is_identity(b))
}

/// The angles about these axes (leftmost factor first) whose product is nearest to the rotation,
/// each in the turn nearest to the angle before; and how far the product is off. `None` for axes
/// that we do not solve for: more than three, or the same twice in a row.
///
/// Three axes reach every rotation. For two, leftmost j and then i, with (i, j, k) of handedness h,
///
/// ```text
///   R_j(b) R_i(a) = cos(b/2) cos(a/2) + i cos(b/2) sin(a/2) + j sin(b/2) cos(a/2)
///                   − h k sin(b/2) sin(a/2)
/// ```
///
/// so `[[w, q_i], [q_j, −h q_k]]` has rank one, and its longer row gives a, its longer column b.
fn solve(axes: &[Axis], rotation: Rotation, previous: [f64; 3]) -> Option<([f64; 3], f64)> {
    let q = rotation.quat();
    let (w, v) = (q.w, [q.x, q.y, q.z]);
    let towards = |angle: f64, target: f64| angle + ((target - angle) / TAU).round() * TAU;
    let about = |axis: Axis, radians: f64| {
        let angle = Angle::from_radians(radians);
        match axis {
            Axis::X => Rotation::about_x(angle),
            Axis::Y => Rotation::about_y(angle),
            Axis::Z => Rotation::about_z(angle),
        }
    };
    match *axes {
        [] => Some(([0.0; 3], rotation.angle().radians())),
        [i] => {
            let a = towards(2.0 * trig::atan2(v[i.index()], w), previous[0]);
            Some(([a, 0.0, 0.0], about(i, a).distance(rotation).radians()))
        }
        [j, i] if i != j => {
            let (x, y) = (i.index(), j.index());
            let handed = if (x + 1) % 3 == y { 1.0 } else { -1.0 };
            let (qi, qj, qk) = (v[x], v[y], -handed * v[3 - x - y]);
            let rows = w * w + qi * qi >= qj * qj + qk * qk;
            let columns = w * w + qj * qj >= qi * qi + qk * qk;
            let half_a = if rows { trig::atan2(qi, w) } else { trig::atan2(qk, qj) };
            let half_b = if columns { trig::atan2(qj, w) } else { trig::atan2(qk, qi) };
            let b = towards(2.0 * half_b, previous[0]);
            let a = towards(2.0 * half_a, previous[1]);
            Some(([b, a, 0.0], (about(j, b) * about(i, a)).distance(rotation).radians()))
        }
        [a, b, c] => {
            let order = EulerOrder::from_axes([a, b, c])?;
            let angles = EulerAngles::from_rotation(order, rotation);
            Some((angles.nearest(previous.map(Angle::from_radians)).map(Angle::radians), 0.0))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::arbitrary;

    const AXES: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    fn about(axis: Axis, angle: Angle) -> Rotation {
        let all = [Rotation::about_x(angle), Rotation::about_y(angle), Rotation::about_z(angle)];
        all[axis.index()]
    }

    #[test]
    fn prop_turns_about_one_and_two_axes_are_found_again() {
        arbtest::arbtest(|u| {
            let (a, b) = (arbitrary::angle(u)?, arbitrary::angle(u)?);
            for i in AXES {
                let one = about(i, a);
                let (got, off) = solve(&[i], one, [a.radians(), 0.0, 0.0]).unwrap();
                assert!(off < 1e-14 && (got[0] - a.radians()).abs() < 1e-12, "{i:?} {a:?}");
                for j in AXES.into_iter().filter(|j| *j != i) {
                    let two = about(j, b) * about(i, a);
                    let (got, off) = solve(&[j, i], two, [b.radians(), a.radians(), 0.0]).unwrap();
                    assert!(off < 1e-14, "{j:?} {i:?} {b:?} {a:?}: {off:e}");
                    // Both solutions, (b, a) and (b + π, −a + π …), are the same rotation.
                    let again = about(j, Angle::from_radians(got[0]))
                        * about(i, Angle::from_radians(got[1]));
                    assert!(again.distance(two).radians() < 1e-14);
                }
            }
            Ok(())
        });
    }

    #[test]
    fn a_turn_beyond_the_axes_is_off_by_what_it_is_beyond() {
        let tilted = Rotation::about_x(Angle::from_degrees(5.0));
        let (_, off) = solve(&[Axis::Y], tilted, [0.0; 3]).unwrap();
        assert!((off.to_degrees() - 5.0).abs() < 1e-12);
        assert!(solve(&[Axis::X, Axis::X], tilted, [0.0; 3]).is_none());
        assert!(solve(&[Axis::X; 4], tilted, [0.0; 3]).is_none());
    }
}
