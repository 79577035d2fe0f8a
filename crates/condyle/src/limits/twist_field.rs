//! Temporary.
use super::{LimitError, TwistBounds, TwistLimit};
use crate::math::{Angle, Arc, SwingAxes};
use glam::DVec3;
#[derive(Clone, Debug)]
pub(crate) struct TwistField {
    arc: Option<Arc>,
}
#[derive(Clone, Copy, Debug)]
pub(crate) struct TwistRange {
    pub min: f64,
    pub max: f64,
    pub min_gradient: DVec3,
    pub max_gradient: DVec3,
}
impl TwistField {
    pub(crate) fn new(l: &TwistLimit, _a: &SwingAxes) -> Result<Self, LimitError> {
        Ok(Self {
            arc: match &l.bounds {
                TwistBounds::Free => None,
                TwistBounds::Arc(a) => Some(*a),
                TwistBounds::BySwing(a) => Some(a[0].arc),
            },
        })
    }
    pub(crate) fn range_with_gradient(&self, _d: DVec3) -> Option<TwistRange> {
        self.arc.filter(|a| !a.is_full()).map(|a| TwistRange {
            min: a.min().radians(),
            max: a.max().radians(),
            min_gradient: DVec3::ZERO,
            max_gradient: DVec3::ZERO,
        })
    }
    pub(crate) fn clamp(&self, _d: DVec3, t: f64) -> f64 {
        self.arc.and_then(|a| a.nearest(Angle::from_radians(t))).map_or(t, Angle::radians)
    }
    pub(crate) fn margin(&self, _d: DVec3, t: f64) -> f64 {
        self.arc.map_or(std::f64::consts::PI, |a| {
            a.distance(Angle::from_radians(t)).radians().min(std::f64::consts::PI)
        })
    }
}
