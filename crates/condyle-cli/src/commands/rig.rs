//! Rigs that a command is given.

use std::path::Path;

use condyle::formats::read_bytes;
use condyle::models;
use condyle::presets::{self, Preset};
use condyle::rig::{MAX_BYTES, Rig, RigJoint, RigWarning, RigWarningKind};
use condyle::skeleton::{Skeleton, names_near};

use crate::output::{Failure, print_rig_warnings};

/// The rig that an argument names, with its warnings printed: a document, or a preset by its name.
pub(super) fn rig_of(argument: &Path, strict: bool) -> Result<Rig, Failure> {
    if !argument.is_file()
        && let Some(preset) = argument.to_str().and_then(preset)
    {
        let joints = [(preset.name, preset.joint)].into_iter().collect();
        return Ok(Rig::new(Skeleton::new(), joints));
    }
    let bytes = read_bytes(argument, MAX_BYTES as u64).map_err(|error| {
        let known = |name: &str| models::names().any(|known| known.eq_ignore_ascii_case(name));
        if argument.to_str().is_some_and(known) {
            let what = "a model with joint maps, and no limits of joints";
            let help = "it is for condyle dials, pose (--goals for goals) and fit; name a rig document \
                        (RIG.json) or a preset here";
            return Failure::file(argument, what, help);
        }
        let help = format!("name a rig document (RIG.json) or a preset: {}", preset_list());
        Failure::file(argument, format!("cannot be read: {error}"), &help)
    })?;
    let mut read = Rig::read(&bytes).map_err(|e| Failure::Rig(vec![e.with_file(argument)]))?;
    for warning in &mut read.warnings {
        warning.file = Some(argument.to_owned());
    }
    if let Some(repair) = read.warnings.iter().find(|w| strict && w.is_repair()) {
        return Err(Failure::Repair(Box::new(repair.clone())));
    }
    // An entry may be about a joint that another skeleton has.
    read.warnings.retain(|w| !matches!(w.kind, RigWarningKind::UnknownJoint { .. }));
    let doubts = read.rig.doubts().into_iter();
    read.warnings.extend(doubts.map(|w| RigWarning { file: Some(argument.to_owned()), ..w }));
    print_rig_warnings(&read.warnings);
    Ok(read.rig)
}

/// The preset of a name, in capitals or not.
pub(super) fn preset(name: &str) -> Option<Preset> {
    presets::names().find(|known| known.eq_ignore_ascii_case(name)).and_then(presets::find)
}

/// The names of all presets.
pub(super) fn preset_list() -> String {
    presets::names().collect::<Vec<_>>().join(", ")
}

/// All joints by name: the entries of the document, then what has none and can do anything.
pub(super) fn joints_of(rig: &Rig) -> Vec<(&str, RigJoint)> {
    let mut joints: Vec<(&str, RigJoint)> =
        rig.joints.iter().map(|(name, joint)| (name, joint.clone())).collect();
    for joint in rig.skeleton.joints() {
        if rig.joints.get(&joint.name).is_none() {
            joints.push((&joint.name, RigJoint::default()));
        }
    }
    joints
}

/// The joint of a name, or an error with names that are spelt nearly like it.
pub(super) fn find<'a>(
    joints: &'a [(&'a str, RigJoint)],
    name: &str,
) -> Result<&'a (&'a str, RigJoint), Failure> {
    joints.iter().find(|(n, _)| *n == name).ok_or_else(|| {
        let help = near(joints.iter().map(|(n, _)| *n), name);
        Failure::usage(format!("the rig has no joint {name:?}"), &help)
    })
}

/// Which name may be meant.
fn near<'a>(names: impl Iterator<Item = &'a str>, name: &str) -> String {
    const SHOWN: usize = 5;
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        return "it has none at all".to_owned();
    }
    let quoted = |list: &[&str]| {
        list.iter().take(SHOWN).map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", ")
    };
    let meant = names_near(names.iter().copied(), name);
    if meant.is_empty() {
        let more =
            if names.len() > SHOWN { ", and others: leave the name out to see all" } else { "" };
        return format!("its joints are {}{more}", quoted(&names));
    }
    format!("near are {}", quoted(&meant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_first() {
        let names = || ["Hips", "LeftArm", "RightArm", "LeftForeArm"].into_iter();
        assert_eq!(near(names(), "leftarn"), "near are \"LeftArm\"");
        assert_eq!(near(names(), "Arm"), "near are \"LeftArm\", \"LeftForeArm\", \"RightArm\"");
        assert!(near(names(), "zzz").starts_with("its joints are "));
        assert_eq!(near([].into_iter(), "x"), "it has none at all");
    }
}
