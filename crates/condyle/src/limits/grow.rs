//! Limits made wider or narrower.

use super::region::one_growth;
use super::{Limit, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit};
use crate::math::{Angle, Arc, SwingAxes};

impl Limit {
    /// The limit with every range wider by `by` at both ends, or narrower if that is negative.
    ///
    /// Ranges of angles grow to at most a turn and shrink to at least their middle. A swing region
    /// grows along the sphere: everything no farther outside than `by`. A locked joint that grows
    /// becomes a small ball. Hinges and universal joints keep their surface. An angle that is not finite
    /// changes nothing.
    ///
    /// ```
    /// use condyle::glam::DVec3;
    /// use condyle::limits::Limit;
    /// use condyle::math::{Angle, Arc, Rotation};
    /// let arc = Arc::from_degrees(0.0, 140.0).unwrap();
    /// let knee = Limit::Hinge { axis: DVec3::X, arc }.grown(Angle::from_degrees(5.0));
    /// let straight = Rotation::about_x(Angle::from_degrees(-4.0));
    /// assert!(knee.prepare().unwrap().contains(straight));
    /// ```
    #[must_use]
    pub fn grown(&self, by: Angle) -> Self {
        let margin = by.radians();
        if !margin.is_finite() || margin == 0.0 {
            return self.clone();
        }
        match self {
            Self::Free => Self::Free,
            Self::Locked if margin < 0.0 => Self::Locked,
            Self::Locked => Self::SwingTwist(SwingTwistLimit {
                axes: SwingAxes::Z,
                swing: SwingLimit::Ellipse { rx: at_most_pi(by), ry: at_most_pi(by) },
                twist: TwistLimit {
                    bounds: TwistBounds::Arc(wider(
                        Arc::point(Angle::ZERO).unwrap_or(Arc::FULL),
                        by,
                    )),
                    ..TwistLimit::default()
                },
            }),
            Self::Hinge { axis, arc } => Self::Hinge { axis: *axis, arc: wider(*arc, by) },
            Self::Universal { axes, arcs } => {
                Self::Universal { axes: *axes, arcs: arcs.map(|arc| wider(arc, by)) }
            }
            Self::EulerBox(of) => {
                let mut of = *of;
                of.arcs = of.arcs.map(|arc| wider(arc, by));
                Self::EulerBox(of)
            }
            Self::SwingTwist(of) => Self::SwingTwist(SwingTwistLimit {
                axes: of.axes,
                swing: match &of.swing {
                    SwingLimit::Free => SwingLimit::Free,
                    swing => grown_swing(swing, by),
                },
                twist: TwistLimit {
                    bounds: match &of.twist.bounds {
                        TwistBounds::Free => TwistBounds::Free,
                        TwistBounds::Arc(arc) => TwistBounds::Arc(wider(*arc, by)),
                        TwistBounds::BySwing(at) => {
                            let mut at = at.clone();
                            at.iter_mut().for_each(|at| at.arc = wider(at.arc, by));
                            TwistBounds::BySwing(at)
                        }
                    },
                    offset: of.twist.offset.clone(),
                },
            }),
        }
    }
}

/// Growth upon growth is one growth, unless one of them is shrinking: that rounds corners off.
fn grown_swing(swing: &SwingLimit, by: Angle) -> SwingLimit {
    if let SwingLimit::Grown { of, by: before } = swing
        && let Some(sum) = one_growth(before.radians(), by.radians())
    {
        return SwingLimit::Grown { of: of.clone(), by: Angle::from_radians(sum) };
    }
    SwingLimit::Grown { of: Box::new(swing.clone()), by }
}

fn at_most_pi(angle: Angle) -> Angle {
    if angle.radians() < Angle::HALF_TURN.radians() { angle } else { Angle::HALF_TURN }
}

fn wider(arc: Arc, by: Angle) -> Arc {
    if arc.is_full() || arc.is_empty() {
        return arc;
    }
    let (min, max) = (arc.min().radians() - by.radians(), arc.max().radians() + by.radians());
    if min > max {
        return Arc::point(arc.center()).unwrap_or(arc);
    }
    Arc::new(Angle::from_radians(min), Angle::from_radians(max)).unwrap_or(arc)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::limits::zoo::{arc, deg, zoo};
    use crate::synth::Rng;

    #[test]
    fn what_is_near_enough_is_inside_what_has_grown() {
        let mut rng = Rng::new(1);
        for (name, swing) in zoo() {
            let twist =
                TwistLimit { bounds: TwistBounds::Arc(arc(-20.0, 50.0)), ..TwistLimit::default() };
            let limit =
                Limit::SwingTwist(SwingTwistLimit { swing, twist, ..SwingTwistLimit::default() });
            let by = deg(6.0);
            let (before, after) = (limit.prepare().unwrap(), limit.grown(by).prepare().unwrap());
            for _ in 0..200 {
                let m = rng.rotation();
                let (old, new) = (before.distance(m).radians(), after.contains(m));
                // Functions of the user's own grow as chords.
                let slack = if name == "flower" { 1e-3 } else { 1e-6 };
                if (old + by.radians()).abs() > slack {
                    assert_eq!(new, old > -by.radians(), "{name}: {old}");
                }
            }
        }
    }

    #[test]
    fn growing_again_does_not_nest() {
        let (_, swing) = zoo().swap_remove(6);
        let mut limit = Limit::SwingTwist(SwingTwistLimit { swing, ..SwingTwistLimit::default() });
        for by in [1.0, 2.0, -0.5, -0.25, 3.0] {
            for _ in 0..10 {
                limit = limit.grown(deg(by));
            }
        }
        let Limit::SwingTwist(SwingTwistLimit { mut swing, .. }) = limit else { panic!() };
        let mut sums = Vec::new();
        while let SwingLimit::Grown { of, by } = swing {
            sums.push(by.degrees());
            swing = *of;
        }
        let expected = [30.0, -7.5, 30.0];
        assert!(sums.len() == 3 && sums.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9));
        assert_eq!((one_growth(f64::MAX, f64::MAX), one_growth(1.0, f64::NAN)), (None, None));
    }

    #[test]
    fn ranges_grow_to_a_turn_and_shrink_to_their_middle() {
        let hinge = |min, max| Limit::Hinge { axis: DVec3::Z, arc: arc(min, max) };
        let range = |limit: Limit| match limit {
            Limit::Hinge { arc, .. } => (arc.min().degrees(), arc.max().degrees()),
            _ => (0.0, 0.0),
        };
        let (min, max) = range(hinge(-10.0, 20.0).grown(deg(-40.0)));
        assert!((min - 5.0).abs() < 1e-12 && min.to_bits() == max.to_bits());
        let (min, max) = range(hinge(-10.0, 20.0).grown(deg(10.0)));
        assert!((min + 20.0).abs() < 1e-12 && (max - 30.0).abs() < 1e-12);
        assert_eq!(range(hinge(-100.0, 200.0).grown(deg(40.0))), (-180.0, 180.0));
        assert!(matches!(Limit::Locked.grown(deg(-5.0)), Limit::Locked));
        let ball = Limit::Locked.grown(deg(5.0)).prepare().unwrap();
        let inside = crate::math::Rotation::about_x(deg(4.9));
        assert!(ball.contains(inside) && !ball.contains(crate::math::Rotation::about_y(deg(5.1))));
    }
}
