//! Units of length: inside metres, outside whatever the file has.

use std::fmt;

use super::error::{Warning, WarningKind};
use crate::skeleton::Skeleton;

/// A unit of length of a file.
///
/// ```
/// use condyle::formats::LengthUnit;
/// assert_eq!("cm".parse::<LengthUnit>().unwrap().metres(), 0.01);
/// assert_eq!("0.3".parse::<LengthUnit>().unwrap().metres(), 0.3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LengthUnit {
    metres: f64,
}

impl LengthUnit {
    /// Metre.
    pub const M: Self = Self { metres: 1.0 };
    /// Centimetre.
    pub const CM: Self = Self { metres: 0.01 };
    /// Millimetre.
    pub const MM: Self = Self { metres: 0.001 };
    /// Inch.
    pub const INCH: Self = Self { metres: 0.0254 };
    /// The unit of the CMU data base and its conversions: an inch divided by 0.45.
    pub const CMU: Self = Self { metres: 0.0254 / 0.45 };

    /// Units with a name, most usual first.
    const NAMED: [(&'static str, Self); 5] = [
        ("cm", Self::CM),
        ("m", Self::M),
        ("mm", Self::MM),
        ("in", Self::INCH),
        ("cmu", Self::CMU),
    ];

    /// So many metres to the unit; `None` unless positive and finite.
    #[must_use]
    pub fn from_metres(metres: f64) -> Option<Self> {
        (metres.is_finite() && metres > 0.0).then_some(Self { metres })
    }

    /// The unit of an ASF whose `length` is this: an inch is `length` units.
    #[must_use]
    pub fn from_asf_length(length: f64) -> Option<Self> {
        Self::from_metres(0.0254 / length)
    }

    /// How many metres it is.
    #[must_use]
    pub const fn metres(self) -> f64 {
        self.metres
    }

    /// `m`, `cm`, `mm`, `in`, `cmu`, or `None` for a factor. Rounding of the factor is forgiven.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Self::NAMED
            .iter()
            .find(|(_, unit)| (unit.metres - self.metres).abs() <= 1e-9 * self.metres)
            .map(|(name, _)| *name)
    }
}

impl fmt::Display for LengthUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} m", self.metres),
        }
    }
}

impl std::str::FromStr for LengthUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, unit)) = Self::NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(*unit);
        }
        text.parse::<f64>().ok().and_then(Self::from_metres).ok_or_else(|| {
            format!("{text:?} is no unit: use m, cm, mm, in, cmu, or how many metres it is")
        })
    }
}

/// The unit of a file, and how we know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// The unit.
    pub length: LengthUnit,
    /// How we know.
    pub source: UnitSource,
}

/// How the unit of a file is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitSource {
    /// The file says so.
    Declared,
    /// The file does not say; the user does.
    Given,
    /// Nobody says; it is the usual one of the format.
    Assumed,
}

impl Units {
    /// Whether the file says so.
    #[must_use]
    pub fn is_declared(self) -> bool {
        self.source == UnitSource::Declared
    }

    /// What the file declares, else what the user gives, else what is usual.
    pub(crate) fn choose(
        declared: Option<LengthUnit>,
        given: Option<LengthUnit>,
        usual: LengthUnit,
    ) -> Self {
        match (declared, given) {
            (Some(length), _) => Self { length, source: UnitSource::Declared },
            (None, Some(length)) => Self { length, source: UnitSource::Given },
            (None, None) => Self { length: usual, source: UnitSource::Assumed },
        }
    }
}

/// The longest path along a grown person's bones, from hand to foot or hand to hand: CMU's and
/// HDM05's subjects measure 2.2 to 2.5 m.
const USUAL_PATH_M: f64 = 2.3;

/// A notice if the figure has no person's size: longest path along the bones outside 1 to 3 m. It
/// suggests the unit that would bring the figure closest to a person's usual size.
#[must_use]
pub fn size_notice(skeleton: &Skeleton, units: Units) -> Option<Warning> {
    const PERSON_M: std::ops::RangeInclusive<f64> = 1.0..=3.0;
    let longest_path_m = skeleton.longest_path_m();
    if longest_path_m == 0.0 || PERSON_M.contains(&longest_path_m) {
        return None;
    }
    let in_units = longest_path_m / units.length.metres();
    let off = |unit: &LengthUnit| {
        let ratio = in_units * unit.metres() / USUAL_PATH_M;
        ratio.max(1.0 / ratio)
    };
    let suggestion = LengthUnit::NAMED
        .iter()
        .filter(|(_, unit)| PERSON_M.contains(&(in_units * unit.metres())))
        .min_by(|(_, a), (_, b)| off(a).total_cmp(&off(b)))
        .map(|(name, _)| *name);
    Some(Warning::new(WarningKind::Size {
        longest_path_m,
        unit: units.length.to_string(),
        suggestion,
        declared: units.is_declared(),
    }))
}

/// How many times as large as another a figure is, if that is so many that the unit of length is probably
/// another one: 5 times, or a fifth. With the unit that would bring it nearest to the other, if one of those
/// with a name does and the file declares none.
#[must_use]
pub fn size_beside(
    skeleton: &Skeleton,
    units: Units,
    other: &Skeleton,
) -> Option<(f64, Option<&'static str>)> {
    const ALIKE: std::ops::RangeInclusive<f64> = 0.2..=5.0;
    let ratio = skeleton.longest_path_m() / other.longest_path_m();
    if !(ratio.is_finite() && ratio > 0.0) || ALIKE.contains(&ratio) {
        return None;
    }
    let off = |unit: &LengthUnit| {
        let ratio = ratio * unit.metres() / units.length.metres();
        ratio.max(1.0 / ratio)
    };
    let suggestion = LengthUnit::NAMED
        .iter()
        .filter(|(_, unit)| !units.is_declared() && off(unit) <= 3.0)
        .min_by(|(_, a), (_, b)| off(a).total_cmp(&off(b)))
        .map(|(name, _)| *name);
    Some((ratio, suggestion))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::Joint;
    use glam::DVec3;

    #[test]
    fn names_and_factors() {
        for (text, metres, name) in [
            ("m", 1.0, Some("m")),
            ("cmu", 0.0254 / 0.45, Some("cmu")),
            ("0.0254", 0.0254, Some("in")),
            ("2", 2.0, None),
        ] {
            let unit: LengthUnit = text.parse().unwrap();
            assert_eq!((unit.metres(), unit.name()), (metres, name));
        }
        for bad in ["", "km", "-1", "0", "nan", "inf"] {
            assert!(bad.parse::<LengthUnit>().is_err(), "{bad}");
        }
        assert_eq!(LengthUnit::from_asf_length(2.54).unwrap().name(), Some("cm"));
    }

    #[test]
    fn a_figure_of_the_wrong_size_gets_the_unit_that_fits() {
        let mut s = Skeleton::new();
        let root = s.add_root(Joint::new("a", DVec3::ZERO)).unwrap();
        s.add(root, Joint::new("b", 0.41 * DVec3::Y)).unwrap();
        let notice = |unit| size_notice(&s, Units::choose(None, None, unit));
        // 41 units read as centimetres; they could be inches (1.04 m), but CMU units (2.3 m) are likelier.
        let Some(Warning { kind: WarningKind::Size { suggestion, .. }, .. }) =
            notice(LengthUnit::CM)
        else {
            panic!("no notice");
        };
        assert_eq!(suggestion, Some("cmu"));
        let mut person = Skeleton::new();
        let root = person.add_root(Joint::new("a", DVec3::ZERO)).unwrap();
        person.add(root, Joint::new("b", 1.8 * DVec3::Y)).unwrap();
        assert!(
            size_notice(&person, Units::choose(Some(LengthUnit::M), None, LengthUnit::M)).is_none()
        );
    }

    #[test]
    fn a_figure_beside_another_of_five_times_its_size_is_noticed_with_the_unit_that_fits() {
        let of = |length: f64| {
            let mut s = Skeleton::new();
            let root = s.add_root(Joint::new("a", DVec3::ZERO)).unwrap();
            s.add(root, Joint::new("b", length * DVec3::Y)).unwrap();
            s
        };
        let assumed = Units::choose(None, None, LengthUnit::CM);
        let beside = |length: f64, units| size_beside(&of(length), units, &of(2.0));
        assert_eq!(beside(0.5, assumed), None);
        assert_eq!(beside(9.9, assumed), None);
        // Metres taken for centimetres.
        let (ratio, unit) = beside(0.02, assumed).unwrap();
        assert!((ratio - 0.01).abs() < 1e-12 && unit == Some("m"), "{ratio} {unit:?}");
        assert_eq!(beside(20.0, assumed).unwrap().1, Some("mm"));
        let declared = Units::choose(Some(LengthUnit::CM), None, LengthUnit::CM);
        assert_eq!(beside(0.02, declared).unwrap().1, None);
        assert_eq!(beside(0.0, assumed), None);
    }
}
