//! Which ASF is the skeleton of an AMC, by their names.

use std::path::Path;

/// How the name of an ASF fits that of an AMC, better ones greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// Both begin with the same subject: `07-walk.asf` and `07_01-walk.amc`, `3.asf` and `03_01.amc`.
    Subject,
    /// The AMC's name begins with so many letters of the ASF's, which are all of it: `03.asf` and
    /// `03_01.amc`, `HDM_bd.asf` and `HDM_bd_walk.amc`.
    Prefix(usize),
}

/// What the names of ASFs say about an AMC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// This one of them fits, by its place in the list.
    One(usize),
    /// There is only one, and its name neither fits nor speaks of another subject.
    Only,
    /// There is only one, and its name is that of another subject.
    OtherSubject,
    /// None of several fits.
    None,
    /// These two fit as well as each other.
    Two(usize, usize),
}

impl Pairing {
    /// The ASF to take, by its place in the list.
    #[must_use]
    pub fn skeleton(self) -> Option<usize> {
        match self {
            Self::One(i) => Some(i),
            Self::Only | Self::OtherSubject => Some(0),
            Self::None | Self::Two(..) => None,
        }
    }
}

/// Which of these ASFs is the skeleton of an AMC: the one with the longest name that the AMC's begins
/// with (`02.asf` for `02_01.amc`), else the one that begins with the same number or letters and number
/// (`07-walk.asf` for `07_01-walk.amc`). Of several that fit as well, the one in the AMC's folder. A
/// single ASF serves every AMC. Small and capital letters are the same.
#[must_use]
pub fn skeleton_of<P: AsRef<Path>>(amc: &Path, asfs: &[P]) -> Pairing {
    let own = stem(amc);
    let fits = asfs.iter().enumerate().filter_map(|(i, asf)| {
        let asf = asf.as_ref();
        Some(((fit(&own, &stem(asf))?, asf.parent() == amc.parent()), i))
    });
    let mut fits: Vec<_> = fits.collect();
    fits.sort_by_key(|(how, i)| (std::cmp::Reverse(*how), *i));
    match (fits.as_slice(), asfs) {
        ([(first, a), (second, b), ..], _) if first == second => Pairing::Two(*a, *b),
        ([(_, i), ..], _) => Pairing::One(*i),
        ([], [only]) if differ(&own, &stem(only.as_ref())) => Pairing::OtherSubject,
        ([], [_]) => Pairing::Only,
        ([], _) => Pairing::None,
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn fit(amc: &str, asf: &str) -> Option<Fit> {
    let rest = amc.strip_prefix(asf).filter(|_| !asf.is_empty());
    // 1.asf is not the skeleton of 12_01.amc.
    if rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)) {
        return Some(Fit::Prefix(asf.len()));
    }
    let subject = subject(asf)?;
    (self::subject(amc) == Some(subject)).then_some(Fit::Subject)
}

/// Words of letters and digits.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// What tells a person: the first word of a name if it has a number, without leading zeros if it is one.
fn subject(name: &str) -> Option<&str> {
    let word = words(name).next().filter(|word| word.contains(|c: char| c.is_ascii_digit()))?;
    let is_number = word.bytes().all(|b| b.is_ascii_digit());
    Some(if is_number { word.trim_start_matches('0') } else { word })
}

/// Whether two names that do not fit speak of different subjects: both begin with one, or they begin
/// alike and then differ (`HDM_bd.asf` and `HDM_mm_walk.amc`).
fn differ(amc: &str, asf: &str) -> bool {
    if let (Some(a), Some(b)) = (subject(amc), subject(asf)) {
        return a != b;
    }
    let shared = words(amc).zip(words(asf)).take_while(|(a, b)| a == b).count();
    shared > 0 && words(asf).count() > shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asf_fits_by_the_longest_prefix_or_else_by_its_subject() {
        use Pairing::{None, One, Only, OtherSubject, Two};
        for (amc, asfs, expected) in [
            ("03_01.amc", &["02.asf", "03.asf"][..], One(1)),
            ("07_01-walk.amc", &["02.asf", "07-walk.asf"], One(1)),
            ("HDM_bd_squat_001.amc", &["HDM_bd.asf", "HDM_bk.asf", "02.asf"], One(0)),
            ("HDM_bd_squat_001.amc", &["HDM.asf", "HDM_bd.asf"], One(1)),
            ("hdm_BD_x.AMC", &["HDM_bd.ASF", "02.asf"], One(0)),
            ("03_01.amc", &["3.asf", "13.asf"], One(0)),
            ("S07_walk.amc", &["S07-x.asf", "S08-x.asf"], One(0)),
            ("12_01.amc", &["1.asf", "2.asf"], None),
            ("99_01.amc", &["02.asf", "03.asf"], None),
            ("HDM_dg_01.amc", &["HDM_bd.asf", "02.asf"], None),
            ("walk.amc", &["a.asf", "b.asf"], None),
            ("03_01.amc", &["a/03.asf", "b/03.asf"], Two(0, 1)),
            ("b/03_01.amc", &["a/03.asf", "b/03.asf"], One(1)),
            ("07_01.amc", &["07-walk.asf", "07-run.asf"], Two(0, 1)),
            ("07_01.amc", &["07-walk.asf", "07.asf"], One(1)),
            ("03_01.amc", &["02.asf"], OtherSubject),
            ("HDM_mm_01.amc", &["HDM_bd.asf"], OtherSubject),
            ("HDM_bd_01.amc", &["HDM_bd.asf"], One(0)),
            ("walk.amc", &["02.asf"], Only),
            ("03_01.amc", &["skeleton.asf"], Only),
            ("03_01.amc", &[], None),
            ("a_b_c.amc", &["a.asf", "a_b.asf", "a_c.asf"], One(1)),
            ("02_01.AMC", &["02.ASF", "03.asf"], One(0)),
            ("Subject_1.amc", &["SUBJECT.asf", "x.asf"], One(0)),
            ("07-walk_03.amc", &["07-walk.asf", "09.asf"], One(0)),
            ("HDM_mm_squat.amc", &["HDM_bd.asf", "HDM_bk.asf"], None),
            ("_1.amc", &["_a.asf", "b.asf"], None),
        ] {
            assert_eq!(skeleton_of(Path::new(amc), asfs), expected, "{amc} {asfs:?}");
        }
        assert_eq!(Only.skeleton(), Some(0));
        assert_eq!(Two(0, 1).skeleton(), Option::None);
    }
}
