//! How well an end of a limit is known.

use std::fmt;

use crate::math::Angle;

/// Which end of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndOf {
    /// The lower end of a hinge's arc.
    Min,
    /// The upper end of a hinge's arc.
    Max,
    /// The lower end of the arc about the first axis of a universal joint.
    FirstMin,
    /// The upper end of the arc about the first axis.
    FirstMax,
    /// The lower end of the arc about the second axis.
    SecondMin,
    /// The upper end of the arc about the second axis.
    SecondMax,
    /// The least rotation about x in the swings of a ball, as rotation vectors.
    XMin,
    /// The largest rotation about x.
    XMax,
    /// The least rotation about y.
    YMin,
    /// The largest rotation about y.
    YMax,
    /// The least twist of a ball, wherever it points.
    TwistMin,
    /// The largest twist.
    TwistMax,
}

impl EndOf {
    /// All of them, each lower end before its upper one.
    pub const ALL: [Self; 12] = [
        Self::Min,
        Self::Max,
        Self::FirstMin,
        Self::FirstMax,
        Self::SecondMin,
        Self::SecondMax,
        Self::XMin,
        Self::XMax,
        Self::YMin,
        Self::YMax,
        Self::TwistMin,
        Self::TwistMax,
    ];

    pub(super) const NAMES: [&'static str; 12] = [
        "min",
        "max",
        "first_min",
        "first_max",
        "second_min",
        "second_max",
        "x_min",
        "x_max",
        "y_min",
        "y_max",
        "twist_min",
        "twist_max",
    ];

    /// Its name in the document.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
            Self::FirstMin => "first_min",
            Self::FirstMax => "first_max",
            Self::SecondMin => "second_min",
            Self::SecondMax => "second_max",
            Self::XMin => "x_min",
            Self::XMax => "x_max",
            Self::YMin => "y_min",
            Self::YMax => "y_max",
            Self::TwistMin => "twist_min",
            Self::TwistMax => "twist_max",
        }
    }

    /// Whether it is the upper end of its range, so that farther out is more.
    #[must_use]
    pub const fn is_upper(self) -> bool {
        matches!(
            self,
            Self::Max | Self::FirstMax | Self::SecondMax | Self::XMax | Self::YMax | Self::TwistMax
        )
    }

    /// The end that this one becomes if its angle changes sign in a mirror, as
    /// [`Limit::mirrored`](crate::limits::Limit::mirrored) has it: swings about x and twists do.
    const fn negated(self) -> Option<Self> {
        match self {
            Self::XMin => Some(Self::XMax),
            Self::XMax => Some(Self::XMin),
            Self::TwistMin => Some(Self::TwistMax),
            Self::TwistMax => Some(Self::TwistMin),
            _ => None,
        }
    }
}

impl fmt::Display for EndOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How well an end of a limit is known: how often the motion came there, and where the true end is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    /// Which end.
    pub of: EndOf,
    /// Where the limit ends.
    pub at: Angle,
    /// How far the motion came, without noise. The limit ends elsewhere where it was widened, and where
    /// its shape is not that of the motion.
    pub reached: Option<Angle>,
    /// How often the motion came near and went back.
    pub visits: u64,
    /// Where the end of what the joint can do is, nine times out of ten, the lower angle first. It
    /// speaks of what was seen, whatever the limit was widened by, and its near end is not before what
    /// was seen, less noise.
    /// Without it the end is only a bound: the joint may be able to go farther.
    pub interval: Option<[Angle; 2]>,
    /// Why there is no interval.
    pub open: Option<Open>,
}

/// Why it cannot be told where an end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Open {
    /// The motion went there and back too seldom: fewer than five times.
    FewExcursions,
    /// It went that way five times and more, and came near the farthest point less than three times.
    FewNear,
    /// A clip begins or ends at the farthest point: nothing turned back there.
    NotTurned,
}

impl Open {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::FewExcursions, Self::FewNear, Self::NotTurned];

    pub(super) const NAMES: [&'static str; 3] = ["few_excursions", "few_near", "not_turned"];

    /// Its name in the document.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FewExcursions => "few_excursions",
            Self::FewNear => "few_near",
            Self::NotTurned => "not_turned",
        }
    }

    /// The reason in words.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::FewExcursions => "the motion went this way and back fewer than five times",
            Self::FewNear => "fewer than three excursions came near",
            Self::NotTurned => "a clip begins or ends there, and nothing turned back as far out",
        }
    }
}

impl fmt::Display for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl End {
    /// Whether its interval goes all the way round, to where the range begins again at its other end,
    /// and so says nothing but from where on. `ends` are those of the joint.
    #[must_use]
    pub fn goes_round(&self, ends: &[Self]) -> bool {
        // Angles of ends are rounded to this.
        const ROUNDED_DEG: f64 = 0.01;
        let place = |of: EndOf| EndOf::ALL.iter().position(|other| *other == of).unwrap_or(0);
        let other = ends.iter().find(|end| place(end.of) == place(self.of) ^ 1);
        let (Some([low, high]), Some(other)) = (self.interval, other) else { return false };
        let farthest = if self.of.is_upper() { high } else { low };
        (farthest.degrees() - other.at.degrees()).abs() >= 360.0 - 2.0 * ROUNDED_DEG
    }

    /// With all its angles larger by this: by whole turns it is the same end.
    pub(crate) fn turned(self, by: Angle) -> Self {
        let more = |angle: Angle| Angle::from_radians(angle.radians() + by.radians());
        let (reached, interval) = (self.reached.map(more), self.interval.map(|i| i.map(more)));
        Self { at: more(self.at), reached, interval, ..self }
    }

    /// The end on the other side of a plane.
    pub(super) fn mirrored(self) -> Self {
        let Some(of) = self.of.negated() else { return self };
        let minus = |angle: Angle| Angle::from_radians(-angle.radians());
        let interval = self.interval.map(|[low, high]| [minus(high), minus(low)]);
        Self { of, at: minus(self.at), reached: self.reached.map(minus), interval, ..self }
    }

    /// All of them on the other side, each lower end before its upper one again.
    pub(super) fn all_mirrored(ends: &[Self]) -> Vec<Self> {
        let mut ends: Vec<Self> = ends.iter().map(|end| end.mirrored()).collect();
        ends.sort_by_key(|end| EndOf::ALL.iter().position(|of| *of == end.of));
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_comes_to_the_other_end_goes_round() {
        let deg = Angle::from_degrees;
        let end = |of, at: f64, interval: [f64; 2]| End {
            of,
            at: deg(at),
            reached: None,
            visits: 5,
            interval: Some(interval.map(deg)),
            open: None,
        };
        let ends = |upper: f64, lower: f64| {
            [end(EndOf::Min, -120.004, [lower, -121.0]), end(EndOf::Max, 100.0, [101.0, upper])]
        };
        let told = |ends: [End; 2]| ends.map(|end| end.goes_round(&ends));
        assert_eq!(told(ends(239.0, -259.0)), [false, false]);
        // 100 − 360 and −120 + 360.
        assert_eq!(told(ends(240.0, -259.0)), [false, true]);
        assert_eq!(told(ends(239.0, -260.0)), [true, false]);
        let alone = end(EndOf::Max, 100.0, [101.0, 400.0]);
        assert!(!alone.goes_round(&[alone]));
        assert!(!End { interval: None, ..alone }.goes_round(&ends(240.0, -260.0)));
    }

    #[test]
    fn names_are_those_of_the_values_and_upper_ends_follow_lower_ones() {
        assert_eq!(EndOf::ALL.map(EndOf::as_str), EndOf::NAMES);
        assert_eq!(Open::ALL.map(Open::as_str), Open::NAMES);
        for pair in EndOf::ALL.chunks(2) {
            assert!(!pair[0].is_upper() && pair[1].is_upper());
            assert_eq!(pair[0].as_str().replace("min", "max"), pair[1].as_str());
        }
    }
}
