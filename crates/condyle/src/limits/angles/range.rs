//! An arc, with what is needed to clamp half angles to it.

#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use std::f64::consts::TAU;

use glam::DVec3;

use super::super::{HalfSpace, LimitError, LimitErrorKind};
use crate::math::{Angle, Arc, trig};

/// The cosine and sine of half an angle. Both negated mean the same angle, one turn on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half {
    pub(super) cos: f64,
    pub(super) sin: f64,
}

impl Half {
    pub(super) fn of(angle: f64) -> Self {
        let (sin, cos) = trig::sin_cos(0.5 * angle);
        Self { cos, sin }
    }
}

/// Radians, of half an angle: what a unit vector of f64 that was rotated a few times is good for.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// An end of an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The smallest angle.
    First,
    /// The largest.
    Last,
}

impl End {
    /// Which way leads out of the arc.
    pub(super) const fn outward(self) -> f64 {
        match self {
            Self::First => -1.0,
            Self::Last => 1.0,
        }
    }

    pub(super) const fn other(self) -> Self {
        match self {
            Self::First => Self::Last,
            Self::Last => Self::First,
        }
    }
}

/// An arc that is not empty.
///
/// Angles are compared with it as vectors, without a transcendental function: relative to the middle
/// of an arc of width `w`, an angle is inside if the tangent of its half is at most `tan(w/4)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    arc: Arc,
    full: bool,
    ends: [Half; 2],
    /// The angle halfway: half of it, and all of it.
    middle: Half,
    whole_middle: Half,
    /// A quarter of the width, from 0 to π/2.
    quarter: Half,
}

impl Range {
    pub(super) fn new(arc: Arc) -> Result<Self, LimitError> {
        if arc.is_empty() {
            return Err(LimitError::new(LimitErrorKind::EmptyArc));
        }
        let width = arc.width().radians();
        let middle = arc.min().radians() + 0.5 * width;
        Ok(Self {
            arc,
            full: arc.is_full(),
            ends: [arc.min(), arc.max()].map(|end| Half::of(end.radians())),
            middle: Half::of(middle),
            whole_middle: Half::of(2.0 * middle),
            quarter: Half::of(0.5 * width),
        })
    }

    /// An angle moved by whole turns to be nearest to the middle.
    pub(super) fn lifted(&self, angle: f64) -> f64 {
        let middle = self.arc.min().radians() + 0.5 * self.arc.width().radians();
        if (middle - angle).abs() <= 0.5 * TAU {
            return angle;
        }
        let turns = ((middle - angle) / TAU).round();
        if turns.is_finite() { angle + turns * TAU } else { middle }
    }

    pub(super) const fn arc(&self) -> Arc {
        self.arc
    }

    /// The ends that bound it, the first and the last: none of the full circle, one of a point.
    pub(super) fn ends(&self) -> &'static [End] {
        if self.full {
            &[]
        } else if self.arc.max() == self.arc.min() {
            &[End::First]
        } else {
            &[End::First, End::Last]
        }
    }

    pub(super) const fn end(&self, end: End) -> Half {
        self.ends[end as usize]
    }

    /// Whether the angle with this half is inside. The half may have any length but zero.
    pub(super) fn contains_half(&self, half: Half) -> bool {
        self.full || self.within(self.relative(half))
    }

    /// Whether the angle with this cosine and sine, both times `length`, is inside. An angle of
    /// length zero is inside the full circle only.
    pub(super) fn contains(&self, cos: f64, sin: f64, length: f64) -> bool {
        if self.full || length == 0.0 {
            return self.full;
        }
        let middle = self.whole_middle;
        let (x, y) = (cos * middle.cos + sin * middle.sin, sin * middle.cos - cos * middle.sin);
        // Half of the angle, by the form of tan(x/2) that does not cancel.
        let half = if x >= 0.0 {
            Half { cos: length + x, sin: y }
        } else {
            Half { cos: y, sin: length - x }
        };
        self.within(half)
    }

    /// The angle of the arc that is nearest on the circle, and which end that is if `half` is
    /// outside. `half` may have any length; (0, 0) counts as the angle zero. In the middle of the
    /// gap, to within rounding, it is the first end.
    ///
    /// A sum `c cos(a/2) + s sin(a/2)` is `r cos((a − a₀)/2)`, whose square falls from `a₀` to its
    /// antipode on both sides alike; so the nearest angle is where it is largest.
    pub(super) fn nearest(&self, half: Half) -> (Half, Option<End>) {
        let length = trig::length(half.cos, half.sin);
        // Numbers near the smallest have too few digits to be divided by their length.
        let half = if length < 1e-280 {
            Half { cos: 1.0, sin: 0.0 }
        } else {
            Half { cos: half.cos / length, sin: half.sin / length }
        };
        if self.full {
            return (half, None);
        }
        let from_middle = self.relative(half);
        if self.within(from_middle) {
            return (half, None);
        }
        let end = if from_middle.cos.abs() > ROUNDING && from_middle.cos * from_middle.sin > 0.0 {
            End::Last
        } else {
            End::First
        };
        (self.end(end), Some(end))
    }

    /// [`nearest`](Self::nearest) without branches, for a half of some length: the vector, which is divided
    /// by its length.
    #[inline(always)]
    pub(super) fn nearest_of_some_length(&self, half: Half) -> Half {
        let length = trig::length_ordinary(half.cos, half.sin);
        let half = Half { cos: half.cos / length, sin: half.sin / length };
        let from_middle = self.relative(half);
        let last = from_middle.cos.abs() > ROUNDING && from_middle.cos * from_middle.sin > 0.0;
        let [first_end, last_end] = self.ends;
        let end_cos = if last { last_end.cos } else { first_end.cos };
        let end_sin = if last { last_end.sin } else { first_end.sin };
        let inside = self.full | self.within(from_middle);
        Half {
            cos: if inside { half.cos } else { end_cos },
            sin: if inside { half.sin } else { end_sin },
        }
    }

    #[inline(always)]
    fn relative(&self, half: Half) -> Half {
        let middle = self.middle;
        Half {
            cos: half.cos * middle.cos + half.sin * middle.sin,
            sin: half.sin * middle.cos - half.cos * middle.sin,
        }
    }

    /// Both ends included, and what rounding puts just outside of them.
    #[inline(always)]
    fn within(&self, from_middle: Half) -> bool {
        let (sin, cos) = (from_middle.sin.abs(), from_middle.cos.abs());
        sin * self.quarter.cos <= cos * self.quarter.sin + ROUNDING * (sin + cos)
    }

    /// What the ends of the arc mean for an angle that changes like `gradient`. Nothing where the
    /// gradient is not defined.
    pub(super) fn linearize(&self, angle: f64, gradient: DVec3, into: &mut Vec<HalfSpace>) {
        if self.full || gradient == DVec3::ZERO || !gradient.is_finite() {
            return;
        }
        let width = self.arc.width().radians();
        let signed = self.arc.distance(Angle::from_radians(angle)).radians();
        let end = self.arc.nearest(Angle::from_radians(angle)).unwrap_or(self.arc.min());
        // How far above the first angle and below the last. Outside, one of them is negative.
        let (above, below) = if signed >= 0.0 {
            let above = (angle - self.arc.min().radians()).rem_euclid(TAU);
            // An angle at an end may round to just outside.
            let above = if above <= width {
                above
            } else if above - width < TAU - above {
                width
            } else {
                0.0
            };
            (above, width - above)
        } else if end == self.arc.min() {
            (signed, width - signed)
        } else {
            (width - signed, signed)
        };
        into.push(HalfSpace::new(gradient, above));
        into.push(HalfSpace::new(-gradient, below));
    }
}
