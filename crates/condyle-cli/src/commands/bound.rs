//! A rig on the skeleton of a clip, for the commands that put limits to work.

use std::path::Path;

use condyle::anatomy::{AnatomicalJoint, Anatomy, BodyJoint};
use condyle::enforce::{BoundRig, RestDifference};
use condyle::math::Angle;
use condyle::rig::Rig;
use condyle::skeleton::{JointIndex, RestPart, Skeleton};
use serde_json::{Value, json};

use crate::output::{Failure, json_degrees, print_note, print_warning, some_of};

/// Matches a rig with the skeleton of a clip. A rig of which no joint is there is the wrong one.
pub(super) fn bind(
    rig: &Rig,
    rig_path: &Path,
    skeleton: &Skeleton,
    clip_path: &Path,
) -> Result<BoundRig, Failure> {
    let bound =
        BoundRig::new(rig, skeleton).map_err(|e| Failure::Rig(vec![e.with_file(rig_path)]))?;
    if bound.joints().len() == 0 {
        if rig.joints.iter().next().is_none() && !rig.maps.dials.is_empty() {
            let what = format!("{} has joint maps, and no limits of joints", rig_path.display());
            let help = "condyle dials lists what can be set in it, condyle pose sets it or finds it from \
                        goals, and condyle fit from a motion; condyle estimate makes limits";
            return Err(Failure::usage(what, help));
        }
        let what =
            format!("no joint of {} has an entry in {}", clip_path.display(), rig_path.display());
        let of_rig: Vec<&str> = rig.joints.iter().map(|(name, _)| name).collect();
        let of_clip: Vec<&str> = skeleton.joints().iter().map(|j| j.name.as_str()).collect();
        let list = |names: &[&str]| match names {
            [] => "none".to_owned(),
            _ => some_of(names),
        };
        let help = format!(
            "joints are matched by name; the rig has {}, the clip {}",
            list(&of_rig),
            list(&of_clip)
        );
        return Err(Failure::usage(what, &help));
    }
    Ok(bound)
}

/// What does not fit between a rig and a clip, in sentences; the last part are warnings.
struct Misfits {
    notes: Vec<String>,
    warnings: Vec<String>,
}

fn misfits(bound: &BoundRig, skeleton: &Skeleton) -> Misfits {
    let mut notes = Vec::new();
    let missing: Vec<&str> = bound.not_in_skeleton().iter().map(String::as_str).collect();
    if !missing.is_empty() {
        notes.push(format!("the clip lacks {} of the rig", some_of(&missing)));
    }
    let free: Vec<&str> = names(skeleton, bound.not_in_rig().iter().copied());
    if !free.is_empty() {
        notes.push(format!("the rig has no entry for {}: no limit there", some_of(&free)));
    }
    let mut warnings = Vec::new();
    for part in [RestPart::Rotation, RestPart::Bone] {
        let moved = || bound.rest_differences().iter().filter(|d| d.of == part);
        let farthest = |a: &&RestDifference, b: &&RestDifference| {
            a.angle.degrees().total_cmp(&b.angle.degrees())
        };
        let Some(worst) = moved().max_by(farthest) else { continue };
        let who = some_of(&names(skeleton, moved().map(|d| d.joint)));
        let by = worst.angle.degrees();
        warnings.push(match part {
            RestPart::Rotation => format!(
                "the rest pose of {who} is not the rig's, by up to {by:.1}°: limits may mean something \
                 else here"
            ),
            RestPart::Bone => format!(
                "below {who} bones point another way at rest than in the rig, by up to {by:.0}°: the same angles \
                 are other poses, and limits mean something else here; condyle retarget brings the clip onto \
                 the rig's rest pose"
            ),
        });
    }
    let stiff = stiff(bound, skeleton);
    if !stiff.is_empty() {
        warnings.push(format!(
            "the limits of {} do not let it bend as a knee or an elbow does: the axes of a preset have to be \
             turned into the joint's own (docs/presets.md)",
            some_of(&names(skeleton, stiff.into_iter()))
        ));
    }
    Misfits { notes, warnings }
}

/// Knees and elbows that cannot be flexed: limits that are about other axes than the joint's.
fn stiff(bound: &BoundRig, skeleton: &Skeleton) -> Vec<JointIndex> {
    const FLEXED: Angle = Angle::from_degrees(45.0);
    // Flexed as far as the limit lets it, it is at least this far from there.
    const OFF: Angle = Angle::from_degrees(40.0);
    let cannot = |joint: &AnatomicalJoint| {
        let local = joint.local_of([FLEXED, Angle::ZERO, Angle::ZERO])?;
        let own = joint.chain.last().copied()?;
        let off = bound.limit(own)?.distance(bound.motion(own, local)?);
        let bends = matches!(joint.what, BodyJoint::Knee | BodyJoint::Elbow);
        (bends && off.radians() < -OFF.radians()).then_some(own)
    };
    let anatomy = Anatomy::of(skeleton);
    anatomy.iter().flat_map(Anatomy::joints).filter_map(cannot).collect()
}

fn names(skeleton: &Skeleton, joints: impl Iterator<Item = JointIndex>) -> Vec<&str> {
    joints.map(|j| skeleton[j].name.as_str()).collect()
}

/// Says what becomes of a pose in front of a motion, if there is one.
pub(super) fn note_of_front(motion_start: usize, path: &Path, what: &str) {
    let front = match motion_start {
        0 => return,
        1 => "frame 0 is a pose in front of the motion".to_owned(),
        _ => format!("frames 0 to {} are a pose in front of the motion", motion_start - 1),
    };
    print_note(&format!("{}: {front}, and {what}", path.display()));
}

/// Prints what does not fit between a rig and a clip.
pub(super) fn print_misfits(bound: &BoundRig, skeleton: &Skeleton, clip_path: &Path) {
    let Misfits { notes, warnings } = misfits(bound, skeleton);
    notes.iter().for_each(|note| print_note(&format!("{}: {note}", clip_path.display())));
    for warning in &warnings {
        print_warning(&format!("{}: {warning}", clip_path.display()));
    }
}

/// Adds what does not fit between a rig and a clip to a document.
pub(super) fn add_misfits(document: &mut Value, bound: &BoundRig, skeleton: &Skeleton) {
    document["not_in_clip"] = json!(bound.not_in_skeleton());
    document["not_in_rig"] = json!(names(skeleton, bound.not_in_rig().iter().copied()));
    let moved = bound.rest_differences().iter();
    document["rest_differs_deg"] = moved
        .map(|d| (skeleton[d.joint].name.clone(), json!(json_degrees(d.angle))))
        .collect::<serde_json::Map<_, _>>()
        .into();
    document["warnings"] = json!(misfits(bound, skeleton).warnings);
}
