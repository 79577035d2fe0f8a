//! Circular intervals of angles.

use std::f64::consts::{PI, TAU};
use std::fmt;

use super::Angle;
use super::angle::wrap;

/// A circular interval of angles: the limit of a hinge, or of a twist.
///
/// An arc runs from [`min`](Self::min) counter-clockwise up to [`max`](Self::max) and may pass
/// through ±π, in which case `max` is above π (170° to 200°). `min` is in `(-π, π]`, `max ≥ min`,
/// and the width is at most one turn. [`FULL`](Self::FULL) is the whole circle,
/// [`EMPTY`](Self::EMPTY) contains nothing.
///
/// ```
/// use condyle::math::{Angle, Arc};
/// let arc = Arc::from_degrees(170.0, 200.0).unwrap();
/// assert!(arc.contains(Angle::from_degrees(-175.0)));
/// assert!(!arc.contains(Angle::from_degrees(0.0)));
/// ```
#[derive(Clone, Copy, PartialEq)]
pub struct Arc {
    min: f64,
    max: f64,
}

impl Arc {
    /// Every angle.
    pub const FULL: Self = Self { min: -PI, max: PI };
    /// No angle.
    pub const EMPTY: Self = Self { min: 0.0, max: f64::NEG_INFINITY };

    /// The arc from `min` up to `max`; `None` if either is not finite or `max < min`.
    ///
    /// A width of one turn or more is [`FULL`](Self::FULL). Otherwise both ends are moved by the
    /// same number of turns until `min` is in `(-π, π]`.
    #[must_use]
    pub fn new(min: Angle, max: Angle) -> Option<Self> {
        let (min, max) = (min.radians(), max.radians());
        if !(min.is_finite() && max.is_finite() && max >= min) {
            return None;
        }
        if max - min >= TAU {
            return Some(Self::FULL);
        }
        let moved = wrap(min);
        Some(Self {
            min: moved,
            max: if moved.to_bits() == min.to_bits() { max } else { moved + (max - min) },
        })
    }

    /// [`Arc::new`] in degrees.
    #[must_use]
    pub fn from_degrees(min: f64, max: f64) -> Option<Self> {
        Self::new(Angle::from_degrees(min), Angle::from_degrees(max))
    }

    /// The arc that holds one angle only.
    #[must_use]
    pub fn point(angle: Angle) -> Option<Self> {
        Self::new(angle, angle)
    }

    /// The shortest arc that holds all of some angles: everything but the largest gap between them on the
    /// circle (A9). Among gaps of the same width it is the one at ±π, or else the first. `None` if there
    /// are no angles, or one is not finite.
    ///
    /// ```
    /// use condyle::math::{Angle, Arc};
    /// let arc = Arc::around([170.0, -160.0, 175.0].map(Angle::from_degrees)).unwrap();
    /// assert!((arc.min().degrees() - 170.0).abs() < 1e-12);
    /// assert!((arc.max().degrees() - 200.0).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn around(angles: impl IntoIterator<Item = Angle>) -> Option<Self> {
        let mut sorted: Vec<f64> = angles.into_iter().map(|a| wrap(a.radians())).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (&first, &last) = (sorted.first()?, sorted.last()?);
        let mut widest = (first + TAU - last, first, last);
        for pair in sorted.windows(2) {
            if pair[1] - pair[0] > widest.0 {
                widest = (pair[1] - pair[0], pair[1], pair[0] + TAU);
            }
        }
        Self::new(Angle::from_radians(widest.1), Angle::from_radians(widest.2))
    }

    /// The first angle, in `(-π, π]` (−π for the full circle). Zero for the empty arc.
    #[must_use]
    pub const fn min(self) -> Angle {
        Angle::from_radians(self.min)
    }

    /// The last angle, at least `min`; above π when the arc passes through ±π. Minus infinity for
    /// the empty arc.
    #[must_use]
    pub const fn max(self) -> Angle {
        Angle::from_radians(self.max)
    }

    /// Both ends as they are read best: an arc that holds 0 goes from an end at or below 0 to one at or
    /// above it. Any other has its [`min`](Self::min) and its [`max`](Self::max).
    ///
    /// ```
    /// use condyle::math::Arc;
    /// let ends = |min, max| Arc::from_degrees(min, max).map(|arc| arc.ends_about_zero());
    /// let rounded = |min, max| ends(min, max).map(|ends| ends.map(|end| end.degrees().round()));
    /// assert_eq!(rounded(127.0, 414.0), Some([-233.0, 54.0]));
    /// assert_eq!(rounded(170.0, 200.0), Some([170.0, 200.0]));
    /// ```
    #[must_use]
    pub fn ends_about_zero(self) -> [Angle; 2] {
        let turn = if self.max >= TAU { TAU } else { 0.0 };
        [self.min - turn, self.max - turn].map(Angle::from_radians)
    }

    /// Whether nothing is inside.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.max < self.min
    }

    /// Whether everything is inside.
    #[must_use]
    pub fn is_full(self) -> bool {
        self.max - self.min >= TAU
    }

    /// How far from one end to the other, in `[0, 2π]`. Zero for the empty arc.
    #[must_use]
    pub fn width(self) -> Angle {
        Angle::from_radians((self.max - self.min).clamp(0.0, TAU))
    }

    /// The angle halfway, in `(-π, π]`. Zero for the full and the empty arc.
    #[must_use]
    pub fn center(self) -> Angle {
        if self.is_empty() {
            return Angle::ZERO;
        }
        Angle::from_radians(wrap(self.min + 0.5 * (self.max - self.min)))
    }

    /// Whether `angle` is inside, both ends included. NaN is inside nothing.
    #[must_use]
    pub fn contains(self, angle: Angle) -> bool {
        self.lift(angle.radians()).is_some_and(|a| a <= self.max)
    }

    /// Signed distance to the nearest end: positive inside, negative outside, `+∞` for the full
    /// circle, `-∞` for the empty arc. NaN gives NaN.
    #[must_use]
    pub fn distance(self, angle: Angle) -> Angle {
        let Some(lifted) = self.lift(angle.radians()) else {
            return if self.is_empty() {
                Angle::from_radians(f64::NEG_INFINITY)
            } else {
                Angle::from_radians(f64::NAN)
            };
        };
        let signed = if self.is_full() {
            f64::INFINITY
        } else if lifted <= self.max {
            (lifted - self.min).min(self.max - lifted)
        } else {
            // Past the last angle and, one turn later, before the first.
            -(lifted - self.max).min(self.min + TAU - lifted)
        };
        Angle::from_radians(signed)
    }

    /// The angle inside that is nearest to `angle`.
    ///
    /// An angle inside comes back unchanged, bit for bit, also when it is some turns away from
    /// `min`. In the middle of the gap both ends are equally near and the answer is `min`.
    /// `None` for the empty arc and for angles that are not finite.
    #[must_use]
    pub fn nearest(self, angle: Angle) -> Option<Angle> {
        let lifted = self.lift(angle.radians())?;
        if lifted <= self.max {
            return Some(angle);
        }
        let past_max = lifted - self.max;
        let before_min = self.min + TAU - lifted;
        Some(Angle::from_radians(if past_max < before_min { self.max } else { self.min }))
    }

    /// `radians` plus the number of turns that puts it into `[min, min + 2π)`.
    ///
    /// Rounding of the turn is absorbed at the ends: an angle within one part in 10^15 of a turn
    /// before `min` counts as `min`.
    fn lift(self, radians: f64) -> Option<f64> {
        if self.is_empty() || !radians.is_finite() {
            return None;
        }
        if radians >= self.min && radians <= self.max {
            return Some(radians);
        }
        let mut above = (radians - self.min) % TAU;
        if above < 0.0 {
            above += TAU;
        }
        // 8 ulps of 2π: what `%` by a rounded 2π and the sum above can lose for angles of a few
        // turns. Without it the end −170° of an arc 170°…190° would fall outside.
        const ROUNDING: f64 = 8.0 * 8.881_784_197_001_252e-16;
        let width = self.max - self.min;
        if above > width && above - width <= ROUNDING {
            return Some(self.max);
        }
        if TAU - above <= ROUNDING {
            return Some(self.min);
        }
        // The sum must not round past the end it is before.
        let lifted = self.min + above;
        Some(if above <= width { lifted.min(self.max) } else { lifted })
    }
}

impl fmt::Debug for Arc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("Arc::EMPTY");
        }
        write!(f, "Arc[{}°, {}°]", self.min.to_degrees(), self.max.to_degrees())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deg(d: f64) -> Angle {
        Angle::from_degrees(d)
    }

    /// A zoo of arcs, so that every operation meets every shape.
    fn zoo() -> Vec<Arc> {
        let mut zoo = vec![Arc::FULL, Arc::EMPTY];
        for (min, max) in [
            (0.0, 0.0),
            (-10.0, 20.0),
            (170.0, 190.0),
            (180.0, 180.0),
            (-180.0, -90.0),
            (-179.0, 179.0),
            (90.0, 449.0),
            (350.0, 370.0),
        ] {
            zoo.push(Arc::from_degrees(min, max).unwrap());
        }
        zoo
    }

    #[test]
    fn ends_are_inside_also_when_wrapped() {
        for arc in zoo().into_iter().filter(|a| !a.is_empty()) {
            for end in [arc.min(), arc.max()] {
                assert!(arc.contains(end), "{arc:?} {end:?}");
                assert!(arc.contains(end.wrapped()), "{arc:?} {end:?} wrapped");
            }
        }
    }

    #[test]
    fn every_whole_degree_end_is_inside_from_either_side() {
        for min in -179..=180 {
            for width in (0..360).step_by(7) {
                let arc = Arc::from_degrees(f64::from(min), f64::from(min + width)).unwrap();
                for turn in [-360, 0, 360] {
                    for end in [min, min + width] {
                        let angle = deg(f64::from(end + turn));
                        assert!(arc.contains(angle), "{arc:?} {angle:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn containment_does_not_depend_on_whole_turns() {
        for arc in zoo() {
            for i in -180..180 {
                let d = f64::from(i) + 0.25;
                let here = arc.contains(deg(d));
                for turns in [-3.0, -1.0, 1.0, 5.0] {
                    assert_eq!(here, arc.contains(deg(d + 360.0 * turns)), "{arc:?} {d}");
                }
            }
        }
    }

    #[test]
    fn an_arc_through_180_degrees_contains_both_sides() {
        let arc = Arc::from_degrees(170.0, 200.0).unwrap();
        assert!(arc.contains(deg(175.0)) && arc.contains(deg(-165.0)));
        assert!(!arc.contains(deg(-155.0)) && !arc.contains(deg(165.0)));
        assert!(arc.max().degrees() > 180.0);
    }

    #[test]
    fn distance_is_the_margin_and_agrees_with_contains() {
        let arc = Arc::from_degrees(-10.0, 30.0).unwrap();
        for (d, expected) in
            [(0.0, 10.0), (25.0, 5.0), (40.0, -10.0), (-30.0, -20.0), (200.0, -150.0)]
        {
            assert!((arc.distance(deg(d)).degrees() - expected).abs() < 1e-12, "{d}");
        }
        for arc in zoo() {
            for i in -720..720 {
                let a = deg(f64::from(i) + 0.5);
                assert_eq!(arc.distance(a).radians() >= 0.0, arc.contains(a), "{arc:?} {a:?}");
            }
        }
    }

    #[test]
    fn nearest_is_inside_and_no_farther_than_either_end() {
        for arc in zoo().into_iter().filter(|a| !a.is_empty()) {
            for i in -400..400 {
                let a = deg(f64::from(i) + 0.5);
                let near = arc.nearest(a).unwrap();
                assert!(arc.contains(near), "{arc:?} {a:?}");
                let moved = (near - a).wrapped().abs();
                for end in [arc.min(), arc.max()] {
                    let other = (end - a).wrapped().abs().radians();
                    assert!(moved.radians() <= other + 1e-12, "{arc:?} {a:?}");
                }
                if arc.contains(a) {
                    assert_eq!(near, a);
                }
            }
        }
    }

    /// Against every arc that begins at one of the angles (A9).
    #[test]
    fn the_arc_around_angles_holds_them_and_no_shorter_one_does() {
        arbtest::arbtest(|u| {
            let n = u.int_in_range(1..=6)?;
            let mut angles = Vec::new();
            for _ in 0..n {
                angles.push(deg(f64::from(u.int_in_range(-1000..=1000_i32)?)));
            }
            let arc = Arc::around(angles.iter().copied()).unwrap();
            let holds = |arc: Arc| angles.iter().all(|a| arc.distance(*a).degrees() > -1e-9);
            assert!(holds(arc), "{angles:?} {arc:?}");
            for from in &angles {
                let shorter = deg(from.degrees() + arc.width().degrees() - 0.5);
                let shorter = Arc::new(*from, shorter).filter(|shorter| holds(*shorter));
                assert!(shorter.is_none(), "{angles:?} {arc:?} {shorter:?}");
            }
            Ok(())
        });
        assert!(Arc::around([]).is_none());
        assert!(Arc::around([deg(1.0), deg(f64::NAN)]).is_none());
        assert!(Arc::around([deg(f64::INFINITY), deg(1.0), deg(2.0)]).is_none());
        assert_eq!(Arc::around([deg(5.0)]), Arc::point(deg(5.0)));
    }

    #[test]
    fn in_the_middle_of_the_gap_the_answer_is_min() {
        let arc = Arc::from_degrees(-90.0, 90.0).unwrap();
        assert_eq!(arc.nearest(Angle::HALF_TURN), Some(arc.min()));
    }

    #[test]
    fn reversed_and_non_finite_ends_are_refused() {
        assert!(Arc::from_degrees(10.0, 0.0).is_none());
        assert!(Arc::from_degrees(f64::NAN, 0.0).is_none());
        assert!(Arc::from_degrees(0.0, f64::INFINITY).is_none());
        assert!(Arc::from_degrees(0.0, 360.0).unwrap().is_full());
    }

    #[test]
    fn empty_contains_nothing_and_full_everything() {
        for i in -10..10 {
            let a = Angle::from_radians(f64::from(i));
            assert!(!Arc::EMPTY.contains(a) && Arc::FULL.contains(a));
        }
        assert!(!Arc::FULL.contains(Angle::from_radians(f64::NAN)));
        assert!(Arc::EMPTY.nearest(Angle::ZERO).is_none());
    }
}
