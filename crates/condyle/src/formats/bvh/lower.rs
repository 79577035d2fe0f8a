//! From a [`Document`] to a skeleton and a clip.

use glam::DVec3;

use super::positions::{Reading, Shares};
use super::{BvhJoint, Document};
use crate::formats::error::{ReadError, ReadErrorKind, WarningKind};
use crate::formats::names::UniqueNames;
use crate::formats::text::{Warnings, error_at};
use crate::formats::units::{LengthUnit, Units};
use crate::formats::{Format, MotionFile, Origin, ReadOptions};
use crate::math::Rotation;
use crate::motion::{AngleUnit, Channels, Clip, Columns, FrameRate, JointChannels, Sequence};
use crate::skeleton::{Declared, DeclaredDof, EndSite, Joint, JointIndex, Skeleton};

pub(super) fn lower(
    bytes: &[u8],
    document: Document,
    sites: &[usize],
    options: &ReadOptions,
    warnings: &mut Warnings,
) -> Result<MotionFile, ReadError> {
    let units = Units::choose(None, options.source_unit, LengthUnit::CM);
    let length = units.length;
    let skeleton = skeleton(bytes, &document, sites, length, warnings)?;
    let Document { hierarchy, frame_time_s, motion, .. } = document;

    for (i, joint) in hierarchy.joints.iter().enumerate() {
        let turns = joint.channels.iter().filter_map(|d| d.rotation_axis());
        let axes: std::collections::BTreeSet<usize> = turns.clone().collect();
        if axes.len() < turns.count() {
            warnings.at(sites[i], WarningKind::RepeatedAxis { joint: joint.name.clone() });
        }
    }

    let (positions, others) = positions(&hierarchy.joints, &motion);
    if let Some(first) = hierarchy.joints.iter().position(has_positions_below_root) {
        let joints =
            hierarchy.joints.iter().filter(|joint| has_positions_below_root(joint)).count();
        match positions {
            Reading::Replace => {}
            Reading::ReplaceThoughSmall { share } => {
                warnings.at(sites[first], WarningKind::PositionsSmall { joints, share });
            }
            Reading::Add { share } => {
                warnings.at(sites[first], WarningKind::PositionsAdded { joints, share });
            }
        }
        if let Some(first) = others.first() {
            let joints = others.iter().map(|joint| hierarchy.joints[*joint].name.clone()).collect();
            let added = positions.adds();
            warnings.at(sites[*first], WarningKind::PositionsContradict { joints, added });
        }
    }
    let mut first_column = 0;
    let mut joints = Vec::with_capacity(hierarchy.joints.len());
    for joint in &hierarchy.joints {
        let columns: Vec<usize> = (first_column..first_column + joint.channels.len()).collect();
        first_column += joint.channels.len();
        let adds = joint.parent.is_some() && positions.adds();
        joints.push(joint_channels(joint, columns, adds, length));
    }

    let too_large = |what: String| {
        ReadError::new(ReadErrorKind::BadValue {
            what: format!("{what}; the file's numbers or its unit are too large"),
        })
    };
    let clip = if motion.frames() == 0 {
        None
    } else {
        let channels = Channels::of_finite(joints, motion, AngleUnit::Degrees, length.metres())
            .map_err(|e| too_large(e.to_string()))?;
        let rate = FrameRate::from_frame_time(frame_time_s)
            .expect("the reader keeps only frame times that make a rate");
        let clip = Clip::from_channels_on(&skeleton, rate, channels, options.threads);
        Some(clip.map_err(|e| too_large(e.to_string()))?)
    };
    if clip.is_none() {
        warnings.whole(WarningKind::NoMotion);
    }
    Ok(MotionFile {
        format: Some(Format::Bvh),
        skeleton,
        clip,
        markers: None,
        units,
        origin: Origin::Bvh(hierarchy),
    })
}

fn skeleton(
    bytes: &[u8],
    document: &Document,
    sites: &[usize],
    unit: LengthUnit,
    warnings: &mut Warnings,
) -> Result<Skeleton, ReadError> {
    let mut skeleton = Skeleton::new();
    let mut names = UniqueNames::default();
    for (i, raw) in document.hierarchy.joints.iter().enumerate() {
        let (name, warning) = names.take(&raw.name, i);
        if let Some(kind) = warning {
            warnings.at(sites[i], kind);
        }
        let dofs = raw.channels.iter().map(|&dof| DeclaredDof { dof, limit: None }).collect();
        let joint = Joint {
            name,
            offset_m: metres(raw.offset, unit),
            rest: Rotation::IDENTITY,
            end_sites: raw
                .end_sites
                .iter()
                .map(|s| EndSite { name: s.name.clone(), offset_m: metres(s.offset, unit) })
                .collect(),
            declared: Declared { dofs: Some(dofs), fields: Vec::new() },
        };
        let result = match raw.parent {
            None => skeleton.add_root(joint),
            Some(p) => skeleton.add(JointIndex::new(p), joint),
        };
        result.map_err(|e| {
            error_at(bytes, sites[i], ReadErrorKind::BadValue { what: e.to_string() })
        })?;
    }
    Ok(skeleton)
}

/// A vector of the file in metres.
pub(super) fn metres(v: [f64; 3], unit: LengthUnit) -> DVec3 {
    DVec3::from_array(v) * unit.metres()
}

fn has_positions_below_root(joint: &BvhJoint) -> bool {
    joint.parent.is_some() && joint.channels.iter().any(|dof| dof.translation_axis().is_some())
}

/// What the position channels of all joints below the root mean, and the joints that contradict it.
fn positions(joints: &[BvhJoint], motion: &Columns) -> (Reading, Vec<usize>) {
    let mut shares = Shares::default();
    let mut each = Vec::new();
    let mut first_column = 0;
    for (i, joint) in joints.iter().enumerate() {
        let columns = (first_column..).map(|column| motion.column(column));
        first_column += joint.channels.len();
        if has_positions_below_root(joint) {
            let share = shares.add(joint.offset, joint.channels.iter().copied().zip(columns));
            each.extend(share.map(|share| (i, share)));
        }
    }
    let reading = shares.reading();
    let others = each.into_iter().filter(|(_, share)| reading.is_contradicted_by(*share));
    (reading, others.map(|(i, _)| i).collect())
}

fn joint_channels(
    joint: &BvhJoint,
    columns: Vec<usize>,
    adds: bool,
    unit: LengthUnit,
) -> JointChannels {
    let mut base = joint.offset;
    if !adds {
        for axis in joint.channels.iter().filter_map(|dof| dof.translation_axis()) {
            base[axis] = 0.0;
        }
    }
    JointChannels {
        dofs: joint.channels.clone(),
        columns,
        sequence: Sequence::FirstIsLeftmost,
        translation_base_m: metres(base, unit),
        translation_basis: Rotation::IDENTITY,
        stretch: None,
    }
}
