//! Published ranges of clinical angles, and how much of them was explored.

use std::f64::consts::{PI, TAU};

use super::{AnatomicalJoint, BodyJoint};
use crate::math::Angle;
use crate::presets::{self, Citation};

/// A range of a clinical angle with its sources: those of the [presets](mod@crate::presets).
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRange {
    /// The lowest angle; not positive.
    pub low: Angle,
    /// The highest angle; not negative.
    pub high: Angle,
    /// Where the lowest is from.
    pub low_source: Citation,
    /// Where the highest is from.
    pub high_source: Citation,
}

/// How much of a published range some angles explored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// The share of the range between the lowest and the highest angle, from 0 to 1.
    pub share: f64,
    /// By how much the lowest angle is below the range; zero if it is not. At most as far as half a
    /// turn is: beyond, it would be the opposite motion.
    pub below: Angle,
    /// The same for the highest angle above the range.
    pub above: Angle,
}

impl BodyJoint {
    /// The published range of each of its angles, in the order of [`angles`](BodyJoint::angles). `None`
    /// where the presets have none.
    ///
    /// The shoulder's rotation is that of the arm abducted by 90°, where clinicians measure it; its
    /// range for other directions of the arm is smaller.
    #[must_use]
    pub fn published(self) -> [Option<PublishedRange>; 3] {
        let names: &[&str] = match self {
            Self::Hip => &["hip"],
            Self::Knee => &["knee"],
            Self::Ankle => &["ankle"],
            Self::Lumbar => &["lumbar"],
            Self::Thoracic => &["thoracic"],
            Self::Back => &["thoracolumbar"],
            Self::Neck => &["neck"],
            Self::Shoulder => &["shoulder-twist"],
            Self::Elbow => &["elbow", "forearm"],
            Self::Forearm => &["forearm"],
            Self::Wrist => &["wrist"],
            Self::Pelvis | Self::Toes | Self::Clavicle => &[],
        };
        let citations: Vec<Citation> =
            names.iter().filter_map(|n| presets::find(n)).flat_map(|p| p.citations).collect();
        let find = |what: &str| {
            let at_90 = format!("{what}, arm abducted 90");
            citations.iter().find(|c| c.what == what || c.what == at_90)
        };
        self.angles().map(|name| {
            let (low, high) = (find(name.negative)?, find(name.positive)?);
            Some(PublishedRange {
                low: Angle::from_degrees(0.0 - low.value_deg),
                high: Angle::from_degrees(high.value_deg),
                low_source: low.clone(),
                high_source: high.clone(),
            })
        })
    }
}

impl AnatomicalJoint {
    /// The published ranges of its angles. None if it is only a part of what they are about, as a joint
    /// of a spine of several is.
    #[must_use]
    pub fn published(&self) -> [Option<PublishedRange>; 3] {
        if self.whole { self.what.published() } else { [None, None, None] }
    }
}

impl PublishedRange {
    /// Whether the lowest and the highest are [doubtful](presets::Status::is_doubtful).
    #[must_use]
    pub fn is_doubtful(&self) -> [bool; 2] {
        [&self.low_source, &self.high_source].map(|source| source.status.is_doubtful())
    }

    /// How much of the range angles between a lowest and a highest one explored. Zero for ends that are
    /// not numbers or the wrong way round.
    ///
    /// ```
    /// use condyle::anatomy::BodyJoint;
    /// use condyle::math::Angle;
    /// let [flexion, ..] = BodyJoint::Knee.published();
    /// let walk = flexion.ok_or("no range")?.coverage(Angle::ZERO, Angle::from_degrees(63.0));
    /// assert!((walk.share - 63.0 / 140.0).abs() < 1e-12);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn coverage(&self, lowest: Angle, highest: Angle) -> Coverage {
        let (low, high) = (self.low.radians(), self.high.radians());
        let (from, to) = (lowest.radians(), highest.radians());
        if from > to || from.is_nan() || to.is_nan() {
            return Coverage { share: 0.0, below: Angle::ZERO, above: Angle::ZERO };
        }
        // What goes beyond half a turn may come in again on the other side.
        let within = |turn: f64| (to + turn).clamp(low, high) - (from + turn).clamp(low, high);
        let explored = within(-TAU) + within(0.0) + within(TAU);
        let share = if high > low { (explored / (high - low)).min(1.0) } else { 0.0 };
        let beyond = |by: f64| Angle::from_radians(by.max(0.0));
        Coverage { share, below: beyond(low - from.max(-PI)), above: beyond(to.min(PI) - high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets::Motion;

    fn deg(degrees: f64) -> Angle {
        Angle::from_degrees(degrees)
    }

    #[test]
    fn ranges_are_those_of_the_presets_by_their_clinical_names() {
        let range = |what: BodyJoint, i: usize| {
            what.published()[i]
                .as_ref()
                .map(|r| (r.low.degrees().round(), r.high.degrees().round()))
        };
        assert_eq!(range(BodyJoint::Hip, 0), Some((-30.0, 125.0)));
        assert_eq!(range(BodyJoint::Hip, 1), Some((-25.0, 45.0)));
        assert_eq!(range(BodyJoint::Hip, 2), Some((-40.0, 60.0)));
        assert_eq!(range(BodyJoint::Shoulder, 2), Some((-70.0, 90.0)));
        assert_eq!(range(BodyJoint::Elbow, 2), Some((-80.0, 80.0)));
        assert_eq!(range(BodyJoint::Elbow, 1), None);
        assert_eq!(range(BodyJoint::Ankle, 0), Some((-50.0, 20.0)));
        assert_eq!(range(BodyJoint::Toes, 0), None);
        // Every arc that a preset cites from its own zero pose is one of ours.
        for (what, name) in [
            (BodyJoint::Hip, "hip"),
            (BodyJoint::Knee, "knee"),
            (BodyJoint::Ankle, "ankle"),
            (BodyJoint::Wrist, "wrist"),
            (BodyJoint::Neck, "neck"),
            (BodyJoint::Back, "thoracolumbar"),
            (BodyJoint::Elbow, "elbow"),
            (BodyJoint::Forearm, "forearm"),
        ] {
            let ranges = what.published();
            let used: Vec<&Citation> =
                ranges.iter().flatten().flat_map(|r| [&r.low_source, &r.high_source]).collect();
            for citation in presets::find(name).unwrap().citations {
                let plain =
                    !matches!(citation.motion, None | Some(Motion::Swing { from: Some(_), .. }));
                assert_eq!(used.contains(&&citation), plain, "{name}: {}", citation.what);
            }
        }
    }

    #[test]
    fn coverage_is_the_share_between_the_extremes_and_says_what_is_beyond() {
        let [flexion, ..] = BodyJoint::Hip.published();
        let flexion = flexion.unwrap();
        let of = |a: f64, b: f64| flexion.coverage(deg(a), deg(b));
        assert!((of(-30.0, 125.0).share - 1.0).abs() < 1e-12);
        assert!((of(-40.0, 47.5).share - 0.5).abs() < 1e-12);
        assert!((of(-40.0, 47.5).below.degrees() - 10.0).abs() < 1e-12);
        assert_eq!(of(-90.0, -40.0).share, 0.0);
        assert!((of(0.0, 130.0).above.degrees() - 5.0).abs() < 1e-12);
        for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN), (2.0, 1.0)] {
            assert_eq!(of(a, b).share, 0.0);
        }
        assert_eq!(of(f64::NEG_INFINITY, f64::INFINITY).share, 1.0);
        // All around but from 40 to 50: 70 of 155 on the one side, 75 on the other.
        assert!((of(-310.0, 40.0).share - 145.0 / 155.0).abs() < 1e-12);
        assert!((of(50.0, 400.0).share - 145.0 / 155.0).abs() < 1e-12);
        // Flexion goes as far as half a turn, and so does extension.
        assert!((of(-310.0, 40.0).below.degrees() - 150.0).abs() < 1e-12);
        assert!((of(50.0, 400.0).above.degrees() - 55.0).abs() < 1e-12);
    }
}
