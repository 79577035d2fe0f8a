//! What an entry says about its limit, when the limit was changed.

use std::f64::consts::{PI, TAU};

use super::{Bounds, JointKind, Rig, RigJoint};
use crate::limits::PreparedLimit;
use crate::math::{Angle, Rotation};

/// So far an angle in the document may be from what the limit has, radians: it is rounded to 0.01°.
const SAME: f64 = 0.0101 * PI / 180.0;

/// A rest pose so near to the orbit of a joint with one or two axes counts as on it, radians: 0.5°, as
/// in an estimate. Or within the noise, if that is more.
const ON_ORBIT: f64 = 0.5 * PI / 180.0;

impl Rig {
    /// [Settles](RigJoint::settle) every entry.
    pub fn settle(&mut self) {
        let skeleton = &self.skeleton;
        for (name, joint) in self.joints.iter_mut() {
            joint.settle(skeleton.find(name).map(|j| skeleton[j].rest).unwrap_or_default());
        }
    }
}

impl RigJoint {
    /// Takes back what the limit contradicts: who changes a limit in a document leaves beside it what
    /// an estimate found out about another one. `rest` is the joint's in the skeleton.
    ///
    /// What is said about the rest pose ([`rest_inside`](Self::rest_inside),
    /// [`rest_excess`](Self::rest_excess), [`start`](Self::start)) is replaced by what
    /// [`judge_rest`](Self::judge_rest) finds, a start pose that is still allowed stays, and
    /// [`ends`](Self::ends) go that are not where the limit ends. What is not said is not added, and
    /// what agrees stays as it is. A limit that makes no sense as geometry contradicts nothing.
    ///
    /// ```
    /// use condyle::glam::DVec3;
    /// use condyle::limits::Limit;
    /// use condyle::math::{Arc, Rotation};
    /// use condyle::rig::{JointKind, RigJoint};
    ///
    /// let hinge = |min| Arc::from_degrees(min, 140.0).map(|arc| Limit::Hinge { axis: DVec3::X, arc });
    /// let mut elbow = RigJoint::new(JointKind::Hinge, hinge(4.0).ok_or("no arc")?);
    /// elbow.judge_rest(Rotation::IDENTITY)?;
    /// assert_eq!(elbow.rest_inside, Some(false));
    ///
    /// elbow.limit = hinge(0.0).ok_or("no arc")?;
    /// elbow.settle(Rotation::IDENTITY);
    /// assert_eq!(elbow.rest_inside, Some(true));
    /// assert!(elbow.start.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn settle(&mut self, rest: Rotation) {
        let Ok(limit) = self.limit.prepare() else { return };
        if !self.agrees_on_rest(&limit) {
            let start = self.start;
            if self.judge_rest(rest).is_err() {
                return;
            }
            let allowed = |start: &Rotation| self.allows_start(&limit, rest, *start);
            self.start = self.start.map(|nearest| start.filter(allowed).unwrap_or(nearest));
        } else if let Some(start) = self.start
            && !self.allows_start(&limit, rest, start)
        {
            let back = self.center.inverse();
            let is_inside = self.rest_inside == Some(true) || limit.contains(back);
            self.start = (!is_inside).then(|| rest * self.center * limit.project(back));
        }
        let bounds: Vec<Bounds> = Bounds::of(&self.limit, &limit).into_iter().flatten().collect();
        self.ends.retain(|end| {
            let ends = bounds.iter().flat_map(|b| b.of.into_iter().zip(b.at));
            let at = ends.filter(|(of, _)| *of == end.of).map(|(_, at)| at - end.at.radians());
            // A whole turn farther it is the same end.
            at.map(|off| (off - TAU * (off / TAU).round()).abs()).any(|off| off <= SAME)
        });
    }

    /// Whether what is said about the rest pose is so.
    fn agrees_on_rest(&self, limit: &PreparedLimit) -> bool {
        let back = self.center.inverse();
        let contains = limit.contains(back);
        let excess = if contains { 0.0 } else { (-limit.distance(back).radians()).max(0.0) };
        let near = match self.kind {
            JointKind::Ball => 0.0,
            _ => self.noise.map_or(0.0, Angle::radians).max(ON_ORBIT),
        };
        let by = self.rest_excess.map(Angle::radians);
        match self.rest_inside {
            Some(true) => {
                (contains || excess <= near) && by.is_none_or(|by| by <= SAME || by <= near)
            }
            Some(false) => !contains && by.is_none_or(|by| (by - excess).abs() <= SAME),
            None => by.is_none_or(|by| (by - excess).abs() <= SAME),
        }
    }

    /// Whether a joint may start so, but for noise and what rounding does to an edge.
    fn allows_start(&self, limit: &PreparedLimit, rest: Rotation, start: Rotation) -> bool {
        let m = self.center.inverse() * rest.inverse() * start;
        let allowed = self.allowance().radians().max(SAME);
        limit.contains(m) || -limit.distance(m).radians() <= allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{BallModel, BindPose, EstimateOptions, Take, estimate_paired};
    use crate::limits::Limit;
    use crate::math::Arc;
    use crate::motion::FrameIndex;
    use crate::rig::{End, EndOf};
    use crate::synth::{Figure, Options, Synth};

    fn deg(degrees: f64) -> Angle {
        Angle::from_degrees(degrees)
    }

    /// Else entries would lose what is true, and documents change that nobody touched.
    #[test]
    fn what_an_estimate_says_agrees_with_its_limits() {
        let options = Options { frames: 400, noise: deg(0.3), ..Options::default() };
        let synth = Synth::generate(&Figure::human(), &options, 11).unwrap();
        let take = Take { skeleton: &synth.skeleton, clip: &synth.clip };
        let bind = BindPose::new(&synth.skeleton, &synth.clip.pose(FrameIndex(9)));
        let (mut ends, mut outside) = (0, 0);
        for ball in [BallModel::Auto, BallModel::Polygon, BallModel::Ellipse] {
            for (margin, bind) in [(0.0, None), (3.0, None), (0.0, Some(&bind))] {
                let how =
                    EstimateOptions { ball, ends: true, margin: deg(margin), ..Default::default() };
                let rig = estimate_paired(&[take], &[], bind, &how).unwrap().into_rig();
                let text = rig.write().unwrap();
                // As it is, and as it is read again.
                for mut rig in [rig, Rig::read(&text).unwrap().rig] {
                    let before = rig.write().unwrap();
                    rig.settle();
                    assert!(rig.write().unwrap() == before, "{ball:?} {margin}");
                    ends += rig.joints.iter().map(|(_, joint)| joint.ends.len()).sum::<usize>();
                    let off = |joint: &RigJoint| joint.rest_inside == Some(false);
                    outside += rig.joints.iter().filter(|(_, joint)| off(joint)).count();
                }
            }
        }
        assert!(ends > 1000 && outside > 50, "{ends} {outside}");
    }

    /// An elbow from 4° to 140°, as an estimate leaves it.
    fn elbow() -> RigJoint {
        let end = |of, at: f64| End {
            of,
            at: deg(at),
            reached: Some(deg(at)),
            visits: 3,
            interval: None,
            open: None,
        };
        let mut elbow = RigJoint {
            ends: vec![end(EndOf::Min, 4.0), end(EndOf::Max, 140.0)],
            noise: Some(deg(0.3)),
            ..RigJoint::new(JointKind::Hinge, arc(4.0, 140.0))
        };
        elbow.judge_rest(Rotation::IDENTITY).unwrap();
        elbow
    }

    fn arc(min: f64, max: f64) -> Limit {
        Limit::Hinge { axis: glam::DVec3::X, arc: Arc::from_degrees(min, max).unwrap() }
    }

    #[test]
    fn a_limit_that_was_changed_takes_back_what_it_contradicts() {
        let changed = |limit: Limit| {
            let mut joint = RigJoint { limit, ..elbow() };
            joint.settle(Rotation::IDENTITY);
            let ends: Vec<EndOf> = joint.ends.iter().map(|end| end.of).collect();
            (joint.rest_inside, joint.rest_excess.map(|by| by.degrees().round()), joint.start, ends)
        };
        let about_x = |degrees: f64| Rotation::about_x(deg(degrees));
        let at = |start: Option<Rotation>, degrees: f64| {
            start.is_some_and(|start| start.distance(about_x(degrees)).degrees() < 1e-6)
        };
        let (inside, by, start, ends) = changed(arc(4.0, 140.0));
        assert_eq!((inside, by, ends), (Some(false), Some(4.0), vec![EndOf::Min, EndOf::Max]));
        assert!(at(start, 4.0));
        // One end stays where it was.
        let (inside, by, start, ends) = changed(arc(0.0, 140.0));
        assert_eq!((inside, by, ends), (Some(true), Some(0.0), vec![EndOf::Max]));
        assert!(start.is_none());
        // The start pose is allowed by the new limit, too, or it is the nearest one that is.
        let (inside, by, start, ends) = changed(arc(2.0, 150.0));
        assert_eq!((inside, by, ends), (Some(false), Some(2.0), vec![]));
        assert!(at(start, 4.0));
        let (_, by, start, ends) = changed(arc(10.0, 140.0));
        assert_eq!((by, ends), (Some(10.0), vec![EndOf::Max]));
        assert!(at(start, 10.0));
        for limit in [Limit::Free, Limit::Locked] {
            let (inside, by, start, ends) = changed(limit);
            assert_eq!((inside, by, ends), (Some(true), Some(0.0), vec![]));
            assert!(start.is_none());
        }
    }

    #[test]
    fn what_is_not_said_is_not_added() {
        let mut joint = RigJoint::new(JointKind::Hinge, arc(10.0, 20.0));
        joint.settle(Rotation::IDENTITY);
        assert!(
            joint.rest_inside.is_none() && joint.rest_excess.is_none() && joint.start.is_none()
        );
    }
}
