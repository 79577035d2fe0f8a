//! From a skeleton and a clip to the text of a BVH.
//!
//! A file that was read from BVH keeps its hierarchy's numbers and channels, and every value that
//! no edit has touched. Otherwise joints get three turns in the order of their source, or Z Y X,
//! and roots and joints that move get positions before them.

use std::fmt::Write;

use glam::DVec3;

use super::lower::metres;
use super::positions::{NEAR_ZERO, Shares};
use super::{BvhEndSite, BvhJoint, Hierarchy};
use crate::formats::error::{Warning, WarningKind};
use crate::formats::text::push_number;
use crate::formats::units::LengthUnit;
use crate::formats::{Format, MotionFile, Origin, WriteError, WriteOptions, Written};
use crate::math::{Axis, Rotation};
use crate::motion::aligned::aligned;
use crate::motion::encode::{self, Base, Encoder, Encoding};
use crate::motion::{AngleUnit, Clip, FrameRate, Sequence, Track};
use crate::skeleton::{Dof, JointIndex, Skeleton};

const ZYX: [Axis; 3] = [Axis::Z, Axis::Y, Axis::X];

pub(super) fn write(file: &MotionFile, options: &WriteOptions) -> Result<Written, WriteError> {
    if file.skeleton.is_empty() {
        let what = "BVH needs a skeleton, and this file has only markers";
        return Err(WriteError::Unsupported { what: what.to_owned() });
    }
    let from_bvh = matches!(file.origin, Origin::Bvh(_));
    let unit = options.unit_for(file, from_bvh, LengthUnit::CM);
    let mut warnings = Vec::new();

    let rest_frame;
    let clip = if let Some(clip) = &file.clip {
        clip
    } else {
        let what = "there is no motion: one frame in the rest pose was written".to_owned();
        warnings.push(Warning::new(WarningKind::NotWritten { what }));
        rest_frame = rest_clip(&file.skeleton);
        &rest_frame
    };
    let (skeleton, clip) = aligned(&file.skeleton, Some(clip))
        .map_err(|what| WriteError::Unsupported { what: what.to_string() })?;
    let clip = clip.expect("a clip was given");
    let own = match &file.origin {
        Origin::Bvh(own) => fitting(own, &skeleton, file.units.length),
        _ => vec![None; skeleton.len()],
    };

    let size = skeleton.longest_path_m();
    let encoder = Encoder::new(&clip, size, unit.metres(), AngleUnit::Degrees);
    let mut hierarchy = Hierarchy::default();
    let order = depth_first(&skeleton);
    let mut place = vec![0; skeleton.len()];
    for &j in &order {
        let own = own[j.get()];
        place[j.get()] = hierarchy.joints.len();
        // In another unit the file's channels and names stay, its lengths are converted.
        let numbers = own.filter(|_| unit == file.units.length);
        let joint = &skeleton[j];
        hierarchy.joints.push(BvhJoint {
            name: own.map_or_else(|| one_line(&joint.name), |o| o.name.clone()),
            parent: skeleton.parent(j).map(|p| place[p.get()]),
            offset: numbers.map_or_else(|| in_unit(joint.offset_m, unit), |o| o.offset),
            channels: Vec::new(),
            end_sites: numbers.map_or_else(
                || {
                    let site = |s: &crate::skeleton::EndSite| BvhEndSite {
                        name: s.name.as_deref().map(one_line),
                        offset: in_unit(s.offset_m, unit),
                    };
                    joint.end_sites.iter().map(site).collect()
                },
                |o| o.end_sites.clone(),
            ),
        });
    }

    // A file read from BVH may have positions that are added to the offsets: they stay so, unless a
    // reader would no longer take them for that.
    let encoded = |adds: bool| -> Vec<Encoded> {
        order.iter().map(|&j| motion(&skeleton, &encoder, &clip, j, own[j.get()], adds)).collect()
    };
    let mut motions = encoded(adds(&skeleton, &clip));
    if adds(&skeleton, &clip) && !read_as_added(&hierarchy, &motions) {
        motions = encoded(false);
    }
    if !motions.iter().any(|motion| motion.adds) && read_as_added(&hierarchy, &motions) {
        keep_from_being_added(&mut hierarchy, &motions, &skeleton, &order, &mut warnings);
    }
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for ((motion, joint), j) in motions.into_iter().zip(&mut hierarchy.joints).zip(&order) {
        if own[j.get()].is_some_and(|own| motion.dofs.len() > own.channels.len()) {
            let name = &skeleton[*j].name;
            let what = format!("the motion of {name:?} does not fit its channels; some were added");
            warnings.push(Warning::new(WarningKind::NotWritten { what }));
        }
        joint.channels = motion.dofs;
        columns.extend(motion.columns);
    }

    let lengths = |j: &BvhJoint| {
        let sites = j.end_sites.iter().flat_map(|s| s.offset);
        j.offset.into_iter().chain(sites).all(f64::is_finite)
    };
    if !(hierarchy.joints.iter().all(lengths) && columns.iter().flatten().all(|v| v.is_finite())) {
        let what = "some lengths are too large to be written in this unit".to_owned();
        return Err(WriteError::Unsupported { what });
    }

    let mut text =
        String::with_capacity(64 * skeleton.len() + 10 * columns.len() * clip.frame_count());
    write_hierarchy(&mut text, &hierarchy);
    write_motion(&mut text, &clip, &columns);
    Ok(Written { parts: vec![(Format::Bvh, text.into_bytes())], warnings })
}

/// The joints in the order a BVH nests them: each followed by its children.
fn depth_first(skeleton: &Skeleton) -> Vec<JointIndex> {
    let children = skeleton.children_of_all();
    let mut stack: Vec<JointIndex> =
        skeleton.indices().filter(|&j| skeleton.parent(j).is_none()).collect();
    stack.reverse();
    let mut order = Vec::with_capacity(skeleton.len());
    while let Some(j) = stack.pop() {
        order.push(j);
        stack.extend(children[j.get()].iter().rev());
    }
    order
}

/// One frame in the rest pose.
fn rest_clip(skeleton: &Skeleton) -> Clip {
    let rate = FrameRate::from_fps(30.0).expect("30 is a rate");
    let tracks = skeleton.joints().iter().map(|j| Track::constant(j.rest, j.offset_m)).collect();
    Clip::new(1, rate, tracks).expect("constant tracks make a clip")
}

/// For each joint the joint of the file it was read from, in `unit`, if it still says the same.
fn fitting<'a>(
    own: &'a Hierarchy,
    skeleton: &Skeleton,
    unit: LengthUnit,
) -> Vec<Option<&'a BvhJoint>> {
    let whole = own.joints.len() == skeleton.len();
    skeleton
        .indices()
        .map(|j| {
            let raw = own.joints.get(j.get()).filter(|_| whole)?;
            let joint = &skeleton[j];
            let same = raw.parent == skeleton.parent(j).map(JointIndex::get)
                && metres(raw.offset, unit) == joint.offset_m
                && raw.end_sites.len() == joint.end_sites.len()
                && raw
                    .end_sites
                    .iter()
                    .zip(&joint.end_sites)
                    .all(|(a, b)| metres(a.offset, unit) == b.offset_m && a.name == b.name);
            same.then_some(raw)
        })
        .collect()
}

/// A vector in metres in another unit.
fn in_unit(v: DVec3, unit: LengthUnit) -> [f64; 3] {
    v.to_array().map(|x| x / unit.metres())
}

/// Whether the motion was read from a BVH whose positions are added to the offsets.
fn adds(skeleton: &Skeleton, clip: &Clip) -> bool {
    let Some(channels) = clip.channels() else { return false };
    skeleton.indices().filter(|&j| skeleton.parent(j).is_some()).any(|j| {
        let source = channels.joint(j);
        let base = source.translation_base_m;
        source.sequence == Sequence::FirstIsLeftmost
            && source.shifts().iter().any(|(axis, _)| base[*axis] != 0.0)
    })
}

/// The channels of a joint as they are written.
struct Encoded {
    dofs: Vec<Dof>,
    /// One for each.
    columns: Vec<Vec<f64>>,
    /// Whether positions are added to the offset.
    adds: bool,
}

impl Encoded {
    /// Its channels with their values.
    fn channels(&self) -> impl Iterator<Item = (Dof, &[f64])> {
        self.dofs.iter().copied().zip(self.columns.iter().map(Vec::as_slice))
    }
}

/// The channels of a joint. Below the root, positions are added to the offset if `adds`.
fn motion(
    skeleton: &Skeleton,
    encoder: &Encoder<'_>,
    clip: &Clip,
    joint: JointIndex,
    own: Option<&BvhJoint>,
    adds: bool,
) -> Encoded {
    let offset = skeleton[joint].offset_m;
    // A joint of another size than in its file still has its channels.
    let source = clip.channels().map(|channels| channels.joint(joint));
    let source = source.filter(|source| source.sequence == Sequence::FirstIsLeftmost);
    let mut laid_out = source.map_or_else(Vec::new, |source| source.dofs.clone());
    // BVH has no channel for the length of a bone: what it does to the joints below becomes their positions.
    laid_out.retain(|dof| *dof != Dof::Length);
    let dofs = match own {
        Some(own) => own.channels.clone(),
        None if !laid_out.is_empty() => laid_out,
        None => {
            let mut dofs = Vec::new();
            if skeleton.parent(joint).is_none() {
                dofs.extend([Dof::Tx, Dof::Ty, Dof::Tz]);
            }
            let source = encode::source_axes(clip, joint);
            let turns = if source.len() == 3 { source } else { ZYX.to_vec() };
            dofs.extend(turns.iter().map(|axis| Dof::rotation(axis.index())));
            dofs
        }
    };
    let adds = adds && skeleton.parent(joint).is_some();
    let mut encoding = Encoding {
        dofs,
        sequence: Sequence::FirstIsLeftmost,
        order: None,
        rest: Rotation::IDENTITY,
        base: if adds { Base::At(offset) } else { Base::ReplacedBelow(offset) },
        basis: Rotation::IDENTITY,
        keeps_stretch: false,
    };
    let columns = encoder.columns(joint, &mut encoding);
    Encoded { dofs: encoding.dofs, columns, adds }
}

/// Whether a reader will add the positions to the offsets.
fn read_as_added(hierarchy: &Hierarchy, motions: &[Encoded]) -> bool {
    let mut shares = Shares::default();
    for (joint, motion) in hierarchy.joints.iter().zip(motions) {
        if joint.parent.is_some() {
            shares.add(joint.offset, motion.channels());
        }
    }
    shares.reading().adds()
}

/// Takes away the offsets that would let a reader add the positions: those beside which positions are
/// near zero.
fn keep_from_being_added(
    hierarchy: &mut Hierarchy,
    motions: &[Encoded],
    skeleton: &Skeleton,
    order: &[JointIndex],
    warnings: &mut Vec<Warning>,
) {
    for ((joint, motion), j) in hierarchy.joints.iter_mut().zip(motions).zip(order) {
        let share = Shares::default().add(joint.offset, motion.channels());
        if joint.parent.is_none() || share.is_none_or(|share| share > NEAR_ZERO) {
            continue;
        }
        // An axis without a channel keeps its offset: nothing is added to it.
        for axis in motion.dofs.iter().filter_map(|dof| dof.translation_axis()) {
            joint.offset[axis] = 0.0;
        }
        let name = &skeleton[*j].name;
        let what = format!(
            "the offset of {name:?} was set to zero, or readers would add it to its positions"
        );
        warnings.push(Warning::new(WarningKind::NotWritten { what }));
    }
}

/// A name on one line: line ends would begin another word of the file.
fn one_line(name: &str) -> String {
    let clean: String = name
        .chars()
        .map(|c| if c.is_control() || c == '{' || c == '}' { '_' } else { c })
        .collect();
    clean.trim().to_owned()
}

fn write_hierarchy(text: &mut String, hierarchy: &Hierarchy) {
    text.push_str("HIERARCHY\n");
    // Depths of the joints that are open, by index.
    let mut open: Vec<usize> = Vec::new();
    for (i, joint) in hierarchy.joints.iter().enumerate() {
        while open.last().copied() != joint.parent {
            open.pop();
            line(text, open.len(), "}");
        }
        let depth = open.len();
        let keyword = if joint.parent.is_some() { "JOINT" } else { "ROOT" };
        line(text, depth, &format!("{keyword} {}", joint.name));
        line(text, depth, "{");
        open.push(i);
        offset(text, depth + 1, joint.offset);
        let mut channels = format!("CHANNELS {}", joint.channels.len());
        for dof in &joint.channels {
            let _ = write!(channels, " {}", channel_name(*dof));
        }
        line(text, depth + 1, &channels);
        for site in &joint.end_sites {
            match &site.name {
                Some(name) => line(text, depth + 1, &format!("End Site {name}")),
                None => line(text, depth + 1, "End Site"),
            }
            line(text, depth + 1, "{");
            offset(text, depth + 2, site.offset);
            line(text, depth + 1, "}");
        }
    }
    while open.pop().is_some() {
        line(text, open.len(), "}");
    }
}

fn line(text: &mut String, depth: usize, content: &str) {
    indent(text, depth);
    text.push_str(content);
    text.push('\n');
}

fn indent(text: &mut String, depth: usize) {
    // Beyond any real depth, so that a chain of 65,536 joints does not write gigabytes of tabs.
    const DEEPEST: usize = 64;
    text.extend(std::iter::repeat_n('\t', depth.min(DEEPEST)));
}

fn offset(text: &mut String, depth: usize, v: [f64; 3]) {
    indent(text, depth);
    text.push_str("OFFSET");
    for x in v {
        text.push(' ');
        push_number(text, x);
    }
    text.push('\n');
}

fn channel_name(dof: Dof) -> &'static str {
    match dof {
        Dof::Tx => "Xposition",
        Dof::Ty => "Yposition",
        Dof::Tz => "Zposition",
        Dof::Rx => "Xrotation",
        Dof::Ry => "Yrotation",
        Dof::Rz => "Zrotation",
        Dof::Length => unreachable!("BVH channels are turns and shifts"),
    }
}

fn write_motion(text: &mut String, clip: &Clip, columns: &[Vec<f64>]) {
    let _ = write!(text, "MOTION\nFrames: {}\nFrame Time: ", clip.frame_count());
    push_number(text, clip.rate().frame_time_s());
    text.push('\n');
    for f in 0..clip.frame_count() {
        for (c, column) in columns.iter().enumerate() {
            if c > 0 {
                text.push(' ');
            }
            push_number(text, column[f]);
        }
        text.push('\n');
    }
}
