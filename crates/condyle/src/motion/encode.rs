//! From rotations and translations back to the numbers of a file.

use glam::DVec3;

use super::{Channels, Clip, FrameIndex};
use crate::math::{Angle, Axis, EulerAngles, EulerOrder, Rotation};
use crate::skeleton::{JointIndex, Skeleton};

/// Rotations that a joint's turns cannot make are accepted up to this, in radians; it is the
/// rounding of a product of four.
const REPRESENTABLE: f64 = 1e-9;

/// The turns of a joint as columns of angles in radians, one per axis of `axes` (leftmost factor
/// first), with the source's own numbers where they still hold.
pub(crate) struct Turns {
    /// The axes, leftmost factor first.
    pub(crate) axes: Vec<Axis>,
    /// One column per axis, in degrees.
    pub(crate) degrees: Vec<Vec<f64>>,
}

/// The turns of a joint in degrees, in the given order of axes if they suffice, else widened to
/// three axes.
///
/// Where the source's numbers still hold and were turns about these very axes, they are copied.
/// Elsewhere angles are computed, each frame's as close as possible to the frame before, so that
/// curves do not jump.
///
/// The order is kept and missing axes are added on the left, so that widening leaves source
/// numbers valid: the new turns are zero there.
pub(crate) fn turns(skeleton: &Skeleton, clip: &Clip, joint: JointIndex, axes: &[Axis]) -> Turns {
    let rest = skeleton[joint].rest;
    let motion = |f: FrameIndex| rest.inverse() * clip.rotation(joint, f);
    let source = Source::of(clip, joint, axes);

    // Fewer than three axes, or an axis twice: only good if every frame can do with them.
    let order = three(axes).and_then(EulerOrder::from_axes);
    let suffices = order.is_some()
        || clip.frames().all(|f| {
            source.as_ref().is_some_and(|s| s.holds(f)) || few_turns(axes, motion(f)).is_some()
        });
    let (axes, order) = match order {
        Some(order) => (axes.to_vec(), Some(order)),
        None if suffices => (axes.to_vec(), None),
        None => {
            let axes = widened(axes);
            let order = EulerOrder::from_axes(axes).expect("three different axes");
            (axes.to_vec(), Some(order))
        }
    };
    // The source's columns stand at the right end of the widened axes.
    let source = source.filter(|s| axes.ends_with(&s.axes));

    let mut degrees = vec![Vec::with_capacity(clip.frame_count()); axes.len()];
    let mut previous = [Angle::ZERO; 3];
    let mut values = Vec::with_capacity(axes.len());
    for f in clip.frames() {
        values.clear();
        match (&source, order) {
            (Some(s), _) if s.holds(f) => {
                values.resize(axes.len() - s.axes.len(), 0.0);
                values.extend(s.degrees(f));
            }
            (_, Some(order)) => {
                let angles = EulerAngles::from_rotation(order, motion(f)).nearest(previous);
                values.extend(angles.map(Angle::degrees));
            }
            (_, None) => {
                let angles = few_turns(&axes, motion(f)).expect("checked above for every frame");
                values.extend(angles[3 - axes.len()..].iter().map(|a| a.degrees()));
            }
        }
        for (p, v) in previous.iter_mut().zip(&values) {
            *p = Angle::from_degrees(*v);
        }
        for (column, v) in degrees.iter_mut().zip(&values) {
            column.push(*v);
        }
    }
    Turns { axes, degrees }
}

/// The turns that make `rotation` with at most three different axes, preceded by zeros for the
/// axes that are missing; `None` if they cannot make it.
fn few_turns(axes: &[Axis], rotation: Rotation) -> Option<[Angle; 3]> {
    // With the missing axes on the left, their angles have to come out as zero.
    let full = widened(axes);
    if axes.len() > 3 || !full.ends_with(axes) {
        return None;
    }
    let order = EulerOrder::from_axes(full)?;
    let angles = EulerAngles::from_rotation(order, rotation).nearest([Angle::ZERO; 3]);
    let missing = 3 - axes.len();
    let mut kept = angles;
    for a in &mut kept[..missing] {
        *a = Angle::ZERO;
    }
    let made = order.to_rotation(kept)?;
    (made.distance(rotation).radians() <= REPRESENTABLE).then_some(kept)
}

/// Three different axes that end with the given ones, where those are different; else z, y, x.
fn widened(axes: &[Axis]) -> [Axis; 3] {
    const ZYX: [Axis; 3] = [Axis::Z, Axis::Y, Axis::X];
    let distinct = axes.iter().enumerate().all(|(i, a)| !axes[..i].contains(a));
    if !distinct {
        return ZYX;
    }
    let mut all: Vec<Axis> = ZYX.into_iter().filter(|a| !axes.contains(a)).collect();
    all.extend(axes);
    three(&all).unwrap_or(ZYX)
}

fn three(axes: &[Axis]) -> Option<[Axis; 3]> {
    axes.try_into().ok()
}

/// The source's turns of a joint, where they are about the axes that are asked for.
struct Source<'a> {
    channels: &'a Channels,
    joint: JointIndex,
    axes: Vec<Axis>,
    columns: Vec<usize>,
}

impl<'a> Source<'a> {
    fn of(clip: &'a Clip, joint: JointIndex, axes: &[Axis]) -> Option<Self> {
        let channels = clip.channels()?;
        let (found, columns): (Vec<_>, Vec<_>) = channels.joint(joint).turns().into_iter().unzip();
        let found: Vec<Axis> = found.into_iter().map(Axis::from_index).collect();
        (found == axes && !found.is_empty()).then_some(Self {
            channels,
            joint,
            axes: found,
            columns,
        })
    }

    fn holds(&self, frame: FrameIndex) -> bool {
        self.channels.rotation_is_source(self.joint, frame.get())
    }

    fn degrees(&self, frame: FrameIndex) -> impl Iterator<Item = f64> + '_ {
        self.columns.iter().map(move |&c| {
            let value = self.channels.columns().value(c, frame.get());
            match self.channels.angle_unit() {
                super::AngleUnit::Degrees => value,
                super::AngleUnit::Radians => value.to_degrees(),
            }
        })
    }
}

/// The axes of a joint's source turns, leftmost factor first; empty if it has none.
pub(crate) fn source_axes(clip: &Clip, joint: JointIndex) -> Vec<Axis> {
    clip.channels().map_or_else(Vec::new, |channels| {
        channels.joint(joint).turns().into_iter().map(|(a, _)| Axis::from_index(a)).collect()
    })
}

/// The shifts of a joint in a file's unit: what has to be written so that
/// `base + basis · shifts · unit` is its translation. The source's own numbers where they still
/// hold and mean the same.
pub(crate) fn shifts(
    clip: &Clip,
    joint: JointIndex,
    base_m: DVec3,
    basis: Rotation,
    unit_m: f64,
) -> [Vec<f64>; 3] {
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
    let source = clip.channels().filter(|channels| {
        let j = channels.joint(joint);
        let (b, q) = (j.translation_base_m, j.translation_basis.quat());
        let shifts = j.shifts();
        same(channels.unit_m(), unit_m)
            && j.stretch.is_none()
            && b == base_m
            && q == basis.quat()
            && shifts.len() == 3
            && (0..3).all(|axis| shifts.iter().any(|(a, _)| *a == axis))
    });
    let mut out = [(); 3].map(|()| Vec::with_capacity(clip.frame_count()));
    for f in clip.frames() {
        let kept = source.filter(|channels| channels.translation_is_source(joint, f.get()));
        if let Some(channels) = kept {
            for (axis, column) in channels.joint(joint).shifts() {
                out[axis].push(channels.columns().value(column, f.get()));
            }
        } else {
            let v = basis.inverse() * (clip.translation_m(joint, f) - base_m);
            for (column, x) in out.iter_mut().zip(v.to_array()) {
                column.push(x / unit_m);
            }
        }
    }
    out
}
