//! Which table names the joints of a skeleton.

pub use crate::rig::name_table::{BodyJoint, BodySide, NameTable};

use std::borrow::Cow;

use super::{Anatomy, NamesFrom, frames, words};
use crate::skeleton::{Skeleton, names_near};

/// The text of a data file.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(include_str!(concat!("../../anatomy/", $name, ".json"))),*]
    };
}

/// General ones first: those that have the same names and more come after them.
const FILES: &[&str] = files![
    "acclaim",
    "acclaim-bvh",
    "mixamo",
    "lafan1",
    "geno",
    "cgspeed",
    "biovision",
    "cgspeed-max",
    "cgspeed-daz",
    "bandai-namco",
    "smpl",
    "rokoko",
    "opensim",
    "condyle",
];

/// The tables that there are, read from their data files.
#[must_use]
pub fn tables() -> Vec<NameTable> {
    FILES.iter().filter_map(|text| NameTable::read(text).ok()).collect()
}

/// A table has to name so many different joints of the body. Two names, of a door and its frame, are
/// no body.
const LEAST: usize = 8;

/// What each joint of a skeleton is, by the names of one table.
pub(super) type Names = Vec<Option<(BodyJoint, BodySide)>>;

pub(super) fn by(table: &NameTable, skeleton: &Skeleton) -> Names {
    skeleton.joints().iter().map(|joint| table.find(&joint.name)).collect()
}

/// Whether a table is of a skeleton: at least half of its names are joints of it, and the bones of limbs lie
/// along the axes that it has.
#[must_use]
pub fn table_fits(table: &NameTable, skeleton: &Skeleton) -> bool {
    let names = by(table, skeleton);
    let count = names.iter().flatten().count();
    count > 0 && 2 * count >= table.len() && frames::fit(table, skeleton, &names).is_some()
}

/// The one of some tables that were given for this skeleton: all of the table's names are joints of it, or
/// at least half, and more than `usual` tables name. Of several, the one of which it has most.
pub(super) fn given<'t>(
    tables: &'t [NameTable],
    skeleton: &Skeleton,
    usual: usize,
) -> Option<(&'t NameTable, Names)> {
    let mut best: Option<(usize, &NameTable, Names)> = None;
    for table in tables {
        let names = by(table, skeleton);
        let count = names.iter().flatten().count();
        let fits = table_fits(table, skeleton) && (count >= table.len() || count > usual);
        if fits && best.as_ref().is_none_or(|(most, ..)| count > *most) {
            best = Some((count, table, names));
        }
    }
    best.map(|(_, table, names)| (table, names))
}

/// Which of some tables that were given is used for a skeleton: the one of which it has most joints, if that is
/// all of its names, or at least half of them and more than is told without it.
#[must_use]
pub fn table_used(tables: &[NameTable], skeleton: &Skeleton) -> Option<usize> {
    let usual = usual_count(skeleton);
    let (used, _) = given(tables, skeleton, usual)?;
    tables.iter().position(|table| std::ptr::eq(table, used))
}

/// How many joints of a skeleton our tables, or the words in their names, tell.
fn usual_count(skeleton: &Skeleton) -> usize {
    usual(&tables(), skeleton).map_or(0, |(_, names, _)| names.iter().flatten().count())
}

/// A name of a table that was given, which no joint of the skeleton has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameLacked {
    /// As the table spells it.
    pub name: String,
    /// The joint without a name in the table that is spelt most like it.
    pub near: Option<String>,
}

/// The names of a table that a skeleton lacks.
#[must_use]
pub fn names_lacked(table: &NameTable, skeleton: &Skeleton) -> Vec<NameLacked> {
    let others = || {
        let names = skeleton.joints().iter().map(|joint| joint.name.as_str());
        names.filter(|name| table.find(name).is_none())
    };
    let lacking = table.lacking(skeleton.joints().iter().map(|joint| joint.name.as_str()));
    let lacked = lacking.into_iter().map(|name| NameLacked {
        name: name.to_owned(),
        near: names_near(others(), name).first().map(|&near| near.to_owned()),
    });
    lacked.collect()
}

/// The table that names the most joints, and first those whose own frames fit the bones. Of equals the
/// first. `None` if no table names enough, or none that fits.
pub(super) fn detect<'t>(
    tables: &'t [NameTable],
    skeleton: &Skeleton,
) -> Option<(&'t NameTable, Names)> {
    let mut best: Option<((usize, bool), &NameTable, Names)> = None;
    for table in tables {
        let names = by(table, skeleton);
        let mut different: Vec<_> = names.iter().flatten().collect();
        different.sort_unstable();
        different.dedup();
        let Some(explicit) = frames::fit(table, skeleton, &names) else { continue };
        let score = (names.iter().flatten().count(), explicit);
        if different.len() >= LEAST && best.as_ref().is_none_or(|(most, ..)| score > *most) {
            best = Some((score, table, names));
        }
    }
    best.map(|(_, table, names)| (table, names))
}

/// The names of one of some tables, or those that the words in the names tell, with whose they are. Words count
/// where they tell more main joints: many conventions share eight names with another one's table, which has not
/// got their pelvis or their thighs.
pub(super) fn usual<'t>(
    tables: &'t [NameTable],
    skeleton: &Skeleton,
) -> Option<(Cow<'t, NameTable>, Names, NamesFrom)> {
    let by_table = detect(tables, skeleton);
    let told = by_table.as_ref().map_or(0, |(_, names)| main_count(names));
    if told < Anatomy::MAIN.len()
        && let Some((table, names)) = words::guess(skeleton)
        && main_count(&names) > told
    {
        return Some((Cow::Owned(table), names, NamesFrom::Words));
    }
    by_table.map(|(table, names)| (Cow::Borrowed(table), names, NamesFrom::Table))
}

/// How many of the main joints of a body have a name.
fn main_count(names: &Names) -> usize {
    Anatomy::MAIN.iter().filter(|part| names.contains(&Some(**part))).count()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_data_file_is_read_and_its_frames_have_names() {
        assert_eq!(tables().len(), FILES.len());
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("anatomy");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), FILES.len());
        for text in FILES {
            let root: serde_json::Value = serde_json::from_str(text).unwrap();
            let table = NameTable::read(text).unwrap();
            let joints = root["joints"].as_object().unwrap();
            let frames = root["frames"].as_object().map(|f| f.keys().collect::<Vec<_>>());
            for name in frames.into_iter().flatten() {
                assert!(joints.contains_key(name), "{}: {name}", table.title);
            }
            // What is on the left is on the right.
            for word in joints.values().map(|w| w.as_str().unwrap()) {
                let other = match word.split_once(' ') {
                    Some(("left", what)) => format!("right {what}"),
                    Some((_, what)) => format!("left {what}"),
                    None => word.to_owned(),
                };
                assert!(joints.values().any(|w| *w == *other), "{}: {other}", table.title);
            }
        }
    }
}
