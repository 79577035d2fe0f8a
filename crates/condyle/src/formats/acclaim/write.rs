//! Writing: the documents that were read, or fresh ones.
//!
//! A skeleton that came from an ASF and was not changed is written as its document has it. Any
//! other is built from its joints: every bone axis is that of the world (`0 0 0`), so joints
//! with a rest rotation are aligned with the world first (`motion/aligned.rs`).

use std::borrow::Cow;

use glam::DVec3;

use super::Origin;
use super::amc::{self, SAMPLES_PER_SECOND, USUAL_FPS};
use super::asf::{Body, Bone, Branch, Document, Places, Root, Section};
use super::lower::{self, Lowered, ROOT, ROOT_NAME, Source};
use crate::formats::error::{Warning, WarningKind, WriteError};
use crate::formats::names::UniqueNames;
use crate::formats::{Format, LengthUnit, MotionFile, WriteOptions, Written, text};
use crate::math::{Axis, EulerOrder, Rotation, trig, unit};
use crate::motion::aligned::aligned;
use crate::motion::encode::{Base, Encoder, Encoding, source_axes};
use crate::motion::{AngleUnit, Clip, FrameRate, Sequence};
use crate::skeleton::{Dof, JointIndex, Skeleton};

/// The limit of a degree of freedom that has none.
const UNLIMITED: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

const SHIFTS: [Dof; 3] = [Dof::Tx, Dof::Ty, Dof::Tz];
const TURNS: [Dof; 3] = [Dof::Rx, Dof::Ry, Dof::Rz];

pub(super) fn asf(file: &MotionFile, options: &WriteOptions) -> Result<Written, WriteError> {
    let mut plan = Plan::new(file, options)?;
    plan.motion();
    plan.check_finite([].iter())?;
    let text = plan.document.to_text();
    Ok(Written { parts: vec![(Format::Asf, text.into_bytes())], warnings: plan.warnings })
}

pub(super) fn amc(file: &MotionFile, options: &WriteOptions) -> Result<Written, WriteError> {
    if file.clip.is_none() {
        let what = if file.skeleton.is_empty() {
            "AMC needs a skeleton with motion, and this file has only markers"
        } else {
            "AMC needs motion, and this file has only a skeleton; write .asf instead"
        };
        let what = what.to_owned();
        return Err(WriteError::Unsupported { what });
    }
    let mut plan = Plan::new(file, options)?;
    let values = plan.motion();
    plan.check_finite(values.iter().flatten().flatten())?;
    let motion = plan.amc_text(&values);
    let skeleton = plan.document.to_text();
    let parts = vec![(Format::Amc, motion.into_bytes()), (Format::Asf, skeleton.into_bytes())];
    Ok(Written { parts, warnings: plan.warnings })
}

/// One joint as it will be written.
struct Planned {
    joint: JointIndex,
    /// The name of its bone.
    name: String,
    /// Its place in the document's bones; `None` for the root.
    bone: Option<usize>,
    /// Its numbers.
    encoding: Encoding,
    /// Whether it is a bone of a document that was read: then further degrees of freedom are worth
    /// a warning.
    kept: bool,
}

struct Plan<'a> {
    document: Document,
    joints: Vec<Planned>,
    /// The motion of the skeleton as it is written.
    clip: Option<Cow<'a, Clip>>,
    /// A root above several roots, which does not move.
    artificial_root: bool,
    amc: Option<&'a amc::Document>,
    unit: LengthUnit,
    angle: AngleUnit,
    /// The longest path of the skeleton.
    size_m: f64,
    warnings: Vec<Warning>,
}

impl<'a> Plan<'a> {
    fn new(file: &'a MotionFile, options: &WriteOptions) -> Result<Self, WriteError> {
        if file.skeleton.is_empty() {
            let what = "ASF needs a skeleton, and this file has none".to_owned();
            return Err(WriteError::Unsupported { what });
        }
        if let crate::formats::Origin::Acclaim(origin) = &file.origin
            && let Some(lowered) = unchanged(file, &origin.asf)
        {
            let unit = options.unit_for(file, true, LengthUnit::CM);
            return Ok(Self::kept(file, origin, &lowered, unit));
        }
        let unit = options.unit_for(file, false, LengthUnit::CM);
        let (skeleton, clip) = aligned(&file.skeleton, file.clip.as_ref())
            .map_err(|what| WriteError::Unsupported { what: what.to_string() })?;
        let world = file.skeleton.rest_world_rotations();
        let turned = |j: JointIndex| {
            let above = file.skeleton.parent(j).map(|p| world[p.get()]);
            !(is_identity(world[j.get()]) && above.is_none_or(is_identity))
        };
        let fresh = Fresh {
            skeleton: &skeleton,
            clip: clip.as_deref(),
            turned: file.skeleton.indices().map(turned).collect(),
            unit,
            names: UniqueNames::default(),
            bones: Vec::new(),
            hierarchy: Vec::new(),
            warnings: Vec::new(),
        };
        let plan = fresh.plan();
        Ok(Self { clip, ..plan })
    }

    /// The document that was read, its lengths scaled if another unit is asked for.
    fn kept(file: &'a MotionFile, origin: &'a Origin, lowered: &Lowered, unit: LengthUnit) -> Self {
        let mut document = origin.asf.clone();
        let same = unit.metres().to_bits() == file.units.length.metres().to_bits();
        if !same {
            scale_lengths(&mut document, file.units.length.metres() / unit.metres());
        }
        // A unit that the user gave instead of the file's has to be declared, too.
        let declared = file.units.is_declared() && same;
        if !declared && (!same || !lowered_as_declared(&origin.asf, unit)) {
            declare_length(&mut document, unit);
        }
        let order = |bone: Option<usize>| match bone {
            Some(bone) => origin.asf.bones()[bone].axis.map(|(_, order)| order),
            None => None,
        };
        let joints = file.skeleton.indices().zip(&lowered.nodes).map(|(joint, &node)| {
            let bone = node.checked_sub(1);
            let here = &file.skeleton[joint];
            Planned {
                joint,
                name: bone.map_or(ROOT, |b| origin.asf.bones()[b].name.as_str()).to_owned(),
                bone,
                encoding: Encoding {
                    dofs: lowered.channels[joint.get()].dofs.clone(),
                    sequence: Sequence::FirstActsFirst,
                    order: order(bone),
                    rest: here.rest,
                    base: Base::At(here.offset_m),
                    basis: if bone.is_none() { Rotation::IDENTITY } else { here.rest },
                    keeps_stretch: true,
                },
                kept: true,
            }
        });
        Self {
            document,
            joints: joints.collect(),
            clip: file.clip.as_ref().map(Cow::Borrowed),
            artificial_root: false,
            amc: origin.amc.as_ref(),
            unit,
            angle: origin.amc.as_ref().and_then(amc::Document::angle_unit).unwrap_or(lowered.angle),
            size_m: file.skeleton.longest_path_m(),
            warnings: Vec::new(),
        }
    }

    /// The numbers of every joint, one list per degree of freedom. Joints get more degrees of
    /// freedom where their motion needs them, in the document, too.
    fn motion(&mut self) -> Vec<Vec<Vec<f64>>> {
        let Some(clip) = self.clip.as_deref() else { return Vec::new() };
        let encoder = Encoder::new(clip, self.size_m, self.unit.metres(), self.angle);
        let mut values = Vec::with_capacity(self.joints.len());
        for planned in &mut self.joints {
            let before = planned.encoding.dofs.len();
            values.push(encoder.columns(planned.joint, &mut planned.encoding));
            let added = planned.encoding.dofs.len() - before;
            if added == 0 {
                continue;
            }
            if planned.kept {
                let what = format!(
                    "the motion of bone {:?} does not fit its degrees of freedom; {} more were added",
                    planned.name, added
                );
                self.warnings.push(Warning::new(WarningKind::Repaired { what }));
            }
            set_dofs(&mut self.document, planned);
        }
        values
    }

    /// Whether the lengths of the document and these numbers can be read again.
    fn check_finite<'b>(
        &self,
        mut values: impl Iterator<Item = &'b f64>,
    ) -> Result<(), WriteError> {
        let bones = self.document.bones();
        let finite = bones.iter().all(|b| b.length.is_none_or(f64::is_finite));
        if finite && values.all(|v| v.is_finite()) {
            return Ok(());
        }
        let what = "some lengths are too large to be written in this unit".to_owned();
        Err(WriteError::Unsupported { what })
    }

    fn amc_text(&self, values: &[Vec<Vec<f64>>]) -> String {
        let mut out = String::new();
        let Some(clip) = self.clip.as_deref() else { return out };
        for line in self.header(clip.rate()) {
            out.push_str(&line);
            out.push('\n');
        }
        // The bones in the order of the file that was read, then those that it had not.
        let mut order: Vec<(&str, Option<usize>)> = Vec::new();
        let mut written = vec![false; self.joints.len()];
        let by_name: std::collections::HashMap<&str, usize> =
            self.joints.iter().enumerate().map(|(i, p)| (p.name.as_str(), i)).collect();
        for name in self.amc.map(|a| a.bones.as_slice()).unwrap_or_default() {
            let joint = by_name.get(name.as_str()).copied();
            joint.into_iter().for_each(|j| written[j] = true);
            order.push((name, joint));
        }
        for (j, planned) in self.joints.iter().enumerate() {
            // A bone that the source left out is at zero; as long as it is, it stays left out.
            let is_zero = |column: &Vec<f64>| column.iter().all(|v| *v == 0.0);
            let left_out = self.amc.is_some() && values[j].iter().all(is_zero);
            if !written[j] && !planned.encoding.dofs.is_empty() && !left_out {
                order.push((&planned.name, Some(j)));
            }
        }
        let first = self.amc.map_or(1, |a| a.first_frame);
        for frame in 0..clip.frame_count() {
            out.push_str(&first.saturating_add(frame as u64).to_string());
            out.push('\n');
            if self.artificial_root {
                out.push_str("root 0 0 0 0 0 0\n");
            }
            for (name, joint) in &order {
                out.push_str(name);
                for column in joint.map(|j| values[j].as_slice()).unwrap_or_default() {
                    out.push(' ');
                    text::push_number(&mut out, column[frame]);
                }
                out.push('\n');
            }
        }
        out
    }

    /// The lines before the first frame.
    fn header(&self, rate: FrameRate) -> Vec<String> {
        let angle = match self.angle {
            AngleUnit::Degrees => ":DEGREES",
            AngleUnit::Radians => ":RADIANS",
        };
        let mut header = match self.amc {
            Some(amc) => amc.header.clone(),
            None => vec![":FULLY-SPECIFIED".to_owned(), angle.to_owned()],
        };
        let said = self.amc.and_then(amc::Document::samples_per_second);
        let said = said.and_then(FrameRate::from_fps);
        let fps = rate.nominal_fps();
        // Rates that cannot be told apart when written are the same.
        let is_said = match said {
            Some(said) => said.nominal_fps().to_bits() == fps.to_bits(),
            None => fps.to_bits() == USUAL_FPS.to_bits(),
        };
        if !is_said {
            let mut line = format!(":{SAMPLES_PER_SECOND} ");
            text::push_number(&mut line, fps);
            let is_rate = |line: &String| {
                let word = line.split_whitespace().next().and_then(|w| w.strip_prefix(':'));
                word.is_some_and(|w| w.eq_ignore_ascii_case(SAMPLES_PER_SECOND))
            };
            header.retain(|line| !is_rate(line));
            // Before the unit of angles: some readers take what follows that for a frame.
            let unit = |line: &String| {
                line.trim_start().starts_with([':']) && {
                    let word = line.trim().trim_start_matches(':').to_ascii_uppercase();
                    word == "DEGREES" || word == "RADIANS"
                }
            };
            let at = header.iter().position(unit).unwrap_or(header.len());
            header.insert(at, line);
        }
        header
    }
}

/// What the document stands for, if that is still the file's skeleton, bit for bit.
fn unchanged(file: &MotionFile, document: &Document) -> Option<Lowered> {
    let places = Places::default();
    let source = Source { bytes: &[], places: &places };
    let lowered = lower::lower(document, source, Some(file.units.length)).ok()?;
    is_same(&file.skeleton, &lowered.skeleton, 0.0).then_some(lowered)
}

/// Whether two skeletons have the same joints, bit for bit, with places at most so far apart.
pub(super) fn is_same(ours: &Skeleton, read: &Skeleton, near_m: f64) -> bool {
    let bits = |v: DVec3| v.to_array().map(f64::to_bits);
    let near = |a: DVec3, b: DVec3| bits(a) == bits(b) || (near_m > 0.0 && a.distance(b) <= near_m);
    let turn = |r: Rotation| r.quat().to_array().map(f64::to_bits);
    ours.parents() == read.parents()
        && ours.joints().iter().zip(read.joints()).all(|(a, b)| {
            let mut sites = a.end_sites.iter().zip(&b.end_sites);
            a.name == b.name
                && near(a.offset_m, b.offset_m)
                && turn(a.rest) == turn(b.rest)
                && a.end_sites.len() == b.end_sites.len()
                && sites.all(|(a, b)| near(a.offset_m, b.offset_m))
        })
}

/// Whether the document itself declares this unit, or declares none and this is the usual one.
fn lowered_as_declared(document: &Document, unit: LengthUnit) -> bool {
    let places = Places::default();
    let source = Source { bytes: &[], places: &places };
    lower::lower(document, source, None)
        .is_ok_and(|l| l.units.length.metres().to_bits() == unit.metres().to_bits())
}

/// Multiplies every length of a document. Unknown fields stay as they are.
pub(super) fn scale_lengths(document: &mut Document, factor: f64) {
    for section in &mut document.sections {
        match &mut section.body {
            Body::Root(Root { position: Some(position), .. }) => {
                *position = position.map(|p| p * factor);
            }
            Body::Bones(bones) => {
                for bone in bones {
                    bone.length = bone.length.map(|l| l * factor);
                    let dofs = bone.dofs.as_deref().unwrap_or_default();
                    for (dof, limit) in dofs.iter().zip(&mut bone.limits) {
                        if dof.rotation_axis().is_none() {
                            *limit = (limit.0 * factor, limit.1 * factor);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// Sets the `length` of the units section, which is made if there is none.
fn declare_length(document: &mut Document, unit: LengthUnit) {
    let value = asf_length(unit);
    if let Some(Body::Units(entries)) = document.body_mut(|b| matches!(b, Body::Units(_))) {
        entries.retain(|(key, _)| !key.eq_ignore_ascii_case("length"));
        entries.push(("length".to_owned(), value));
    } else {
        let body = Body::Units(vec![("length".to_owned(), value)]);
        document.sections.insert(0, Section { comments: Vec::new(), body });
    }
}

/// `length` of an ASF in this unit: how many units an inch has.
fn asf_length(unit: LengthUnit) -> String {
    let mut value = String::new();
    // The quotient of two rounded numbers would give 2.5400000000000005 or the like.
    let length = match unit.name() {
        Some("cm") => 2.54,
        Some("m") => 0.0254,
        Some("mm") => 25.4,
        Some("in") => 1.0,
        Some("cmu") => 0.45,
        _ => LengthUnit::INCH.metres() / unit.metres(),
    };
    text::push_number(&mut value, length);
    value
}

/// Writes a joint's degrees of freedom into the document. New ones have no limit.
fn set_dofs(document: &mut Document, planned: &Planned) {
    match planned.bone {
        None => {
            if let Some(Body::Root(root)) = document.body_mut(|b| matches!(b, Body::Root(_))) {
                root.order = Some(planned.encoding.dofs.clone());
                if !planned.kept {
                    root.axis = Some(letters(&planned.encoding.dofs));
                }
            }
        }
        Some(bone) => {
            if let Some(Body::Bones(bones)) = document.body_mut(|b| matches!(b, Body::Bones(_))) {
                let bone = &mut bones[bone];
                if !planned.kept || !bone.limits.is_empty() {
                    let mut old: Vec<_> =
                        bone.dofs.iter().flatten().copied().zip(bone.limits.drain(..)).collect();
                    let limit = |dof: &Dof| {
                        let found = old.iter().position(|(old, _)| old == dof);
                        found.map_or(UNLIMITED, |at| old.remove(at).1)
                    };
                    bone.limits = planned.encoding.dofs.iter().map(limit).collect();
                }
                bone.dofs = Some(planned.encoding.dofs.clone());
                if !planned.kept {
                    bone.axis = Some(([0.0; 3], letters(&planned.encoding.dofs)));
                }
            }
        }
    }
}

fn is_identity(r: Rotation) -> bool {
    let q = r.quat();
    q.x == 0.0 && q.y == 0.0 && q.z == 0.0
}

/// The letters of an `axis` field that go with these dofs: their turns in order, then the others.
fn letters(dofs: &[Dof]) -> EulerOrder {
    let mut axes: Vec<Axis> = Vec::with_capacity(3);
    let turns = dofs.iter().filter_map(|d| d.rotation_axis()).map(Axis::from_index);
    for axis in turns.chain([Axis::X, Axis::Y, Axis::Z]) {
        if !axes.contains(&axis) {
            axes.push(axis);
        }
    }
    EulerOrder::from_axes([axes[0], axes[1], axes[2]]).expect("three different axes")
}

/// A document made from a skeleton that is aligned with the world at rest.
struct Fresh<'a> {
    skeleton: &'a Skeleton,
    clip: Option<&'a Clip>,
    /// For each joint whether its local space was turned to align it.
    turned: Vec<bool>,
    unit: LengthUnit,
    names: UniqueNames,
    bones: Vec<Bone>,
    hierarchy: Vec<Branch>,
    warnings: Vec<Warning>,
}

impl Fresh<'_> {
    fn warn(&mut self, what: String) {
        self.warnings.push(Warning::new(WarningKind::NotWritten { what }));
    }

    fn unique(&mut self, name: &str) -> String {
        self.names.take(name, self.bones.len()).0
    }

    /// The names of the bones, for each joint; the only root is `root`.
    fn bone_names(&mut self, only_root: Option<JointIndex>) -> Vec<String> {
        self.unique(ROOT);
        let mut names = vec![ROOT.to_owned(); self.skeleton.len()];
        let others = self.skeleton.indices().filter(|j| Some(*j) != only_root);
        // Names that can stay come first, so that none is taken by a changed one.
        let (stay, change): (Vec<_>, Vec<_>) =
            others.partition(|j| safe_name(&self.skeleton[*j].name) == self.skeleton[*j].name);
        for j in stay.into_iter().chain(change) {
            let original = &self.skeleton[j].name;
            let name = self.unique(&safe_name(original));
            if name != *original {
                self.warn(format!("joint {original:?} is called {name:?} in the ASF"));
            }
            names[j.get()] = name;
        }
        names
    }

    fn plan<'b>(mut self) -> Plan<'b> {
        let roots: Vec<JointIndex> =
            self.skeleton.indices().filter(|j| self.skeleton.parent(*j).is_none()).collect();
        let only_root = if let [root] = *roots { Some(root) } else { None };
        let names = self.bone_names(only_root);
        let children = self.skeleton.children_of_all();
        let root_position = match only_root {
            Some(root) if self.clip.is_none() => self.skeleton[root].offset_m,
            _ => DVec3::ZERO,
        };
        if only_root.is_none() {
            let n = roots.len();
            self.warn(format!("ASF has one root: \"root\" was put above the {n} roots"));
        }
        let mut planned = Vec::with_capacity(self.skeleton.len());

        let mut below_root = Vec::new();
        if only_root.is_none() {
            for &root in &roots {
                below_root.push(self.attach(
                    ROOT,
                    &names[root.get()],
                    self.skeleton[root].offset_m,
                ));
            }
        }
        for j in self.skeleton.indices() {
            let is_root = Some(j) == only_root;
            let name = &names[j.get()];
            let mut dofs = self.dofs(j, is_root);
            let parent = self.skeleton.parent(j).map_or(ROOT, |p| names[p.get()].as_str());
            let like_connector = name.strip_prefix(parent).is_some_and(|r| r.starts_with("__"));
            if dofs.is_empty() && like_connector {
                // Without freedom it would be taken for a connector and removed when read.
                dofs.extend(TURNS);
            }
            let bone = (!is_root).then(|| {
                self.bones.push(self.bone(j, name, &dofs, &children[j.get()]));
                self.bones.len() - 1
            });
            planned.push(Planned {
                joint: j,
                name: name.clone(),
                bone,
                encoding: Encoding {
                    dofs,
                    sequence: Sequence::FirstActsFirst,
                    // The axes follow the degrees of freedom.
                    order: None,
                    rest: Rotation::IDENTITY,
                    // With motion a root's place is all in its numbers, which so stay as they were.
                    base: Base::At(if is_root { root_position } else { self.skeleton[j].offset_m }),
                    basis: Rotation::IDENTITY,
                    keeps_stretch: false,
                },
                kept: false,
            });
            let mut below = Vec::new();
            let direct = bone.is_some() && self.tip_m(j, &children[j.get()]).is_some();
            for &child in &children[j.get()] {
                let offset = if direct { DVec3::ZERO } else { self.skeleton[child].offset_m };
                below.push(self.attach(name, &names[child.get()], offset));
            }
            if !direct {
                self.end_sites(j, name, &mut below);
            }
            if !below.is_empty() {
                self.hierarchy.push(Branch { parent: name.clone(), children: below });
            }
        }
        if !below_root.is_empty() {
            let root = Branch { parent: ROOT.to_owned(), children: below_root };
            self.hierarchy.insert(0, root);
        }
        let root_order = only_root.map(|r| planned[r.get()].encoding.dofs.clone());
        let document = self.document(only_root, root_order, root_position);
        Plan {
            document,
            joints: planned,
            clip: None,
            artificial_root: only_root.is_none(),
            amc: None,
            unit: self.unit,
            angle: AngleUnit::Degrees,
            size_m: self.skeleton.longest_path_m(),
            warnings: self.warnings,
        }
    }

    /// The degrees of freedom to begin with.
    fn dofs(&self, joint: JointIndex, is_root: bool) -> Vec<Dof> {
        let declared = &self.skeleton[joint].declared.dofs;
        let Some(clip) = self.clip else {
            // Without motion, what is declared, or everything.
            return match declared {
                Some(dofs) if !self.turned[joint.get()] => {
                    let known = dofs.iter().map(|d| d.dof).filter(|d| *d != Dof::Length);
                    let mut distinct = Vec::new();
                    for dof in known {
                        if !distinct.contains(&dof) {
                            distinct.push(dof);
                        }
                    }
                    distinct
                }
                _ if is_root => [SHIFTS, TURNS].concat(),
                _ => TURNS.to_vec(),
            };
        };
        let turns = source_axes(clip, joint);
        let distinct = (0..turns.len()).all(|i| !turns[..i].contains(&turns[i]));
        let mut dofs = Vec::new();
        if is_root || self.skeleton.parent(joint).is_none() {
            dofs.extend(SHIFTS);
        }
        if distinct {
            // Listed first acts first, which is the rightmost factor.
            dofs.extend(turns.iter().rev().map(|axis| Dof::rotation(axis.index())));
        } else if !turns.is_empty() {
            dofs.extend(TURNS);
        }
        if is_root || self.skeleton.parent(joint).is_none() {
            let missing: Vec<Dof> = TURNS.into_iter().filter(|d| !dofs.contains(d)).collect();
            dofs.extend(missing);
        }
        dofs
    }

    /// The vector of the joint's own bone, if one vector is enough: all children at one place and
    /// no end sites, or one end site and no children, or nothing.
    fn tip_m(&self, joint: JointIndex, children: &[JointIndex]) -> Option<DVec3> {
        let sites = &self.skeleton[joint].end_sites;
        match (children, sites.as_slice()) {
            ([], []) => Some(DVec3::ZERO),
            // An end site at the joint itself would be lost in a bone without length.
            ([], [site]) if site.offset_m != DVec3::ZERO => Some(site.offset_m),
            ([first, rest @ ..], []) => {
                let tip = self.skeleton[*first].offset_m;
                rest.iter().all(|c| self.skeleton[*c].offset_m == tip).then_some(tip)
            }
            _ => None,
        }
    }

    fn bone(&self, joint: JointIndex, name: &str, dofs: &[Dof], children: &[JointIndex]) -> Bone {
        let declared = &self.skeleton[joint].declared;
        let limit = |dof: &Dof| {
            let known = declared.dofs.as_ref()?.iter().find(|d| d.dof == *dof)?;
            let (low, high) = known.limit?;
            Some(match dof.rotation_axis() {
                Some(_) => (low.to_degrees(), high.to_degrees()),
                None => (low / self.unit.metres(), high / self.unit.metres()),
            })
        };
        // Every dof gets a limit, since some readers ask for them; most are none. Limits of a space
        // that was turned mean nothing any more.
        let known = |dof: &Dof| if self.turned[joint.get()] { None } else { limit(dof) };
        let limits = dofs.iter().map(|dof| known(dof).unwrap_or(UNLIMITED)).collect();
        let fields = declared.fields.iter().filter(|(key, value)| is_field(key, value));
        Bone {
            fields: fields.cloned().collect(),
            dofs: (!dofs.is_empty()).then(|| dofs.to_vec()),
            axis: Some(([0.0; 3], letters(dofs))),
            limits,
            ..self.straight(name, self.tip_m(joint, children).unwrap_or_default())
        }
    }

    /// A bone without degrees of freedom along a vector.
    fn straight(&self, name: &str, vector_m: DVec3) -> Bone {
        let length = trig::hypot3(vector_m.x, vector_m.y, vector_m.z);
        // A bone without length needs a direction all the same, for other readers.
        let direction = unit(vector_m).unwrap_or(DVec3::Z);
        Bone {
            id: Some((self.bones.len() + 1).to_string()),
            name: name.to_owned(),
            direction: Some(direction.to_array()),
            length: Some(length / self.unit.metres()),
            axis: Some(([0.0; 3], EulerOrder::XYZ)),
            ..Bone::default()
        }
    }

    /// Hangs a bone below another: directly, or by a connector if it begins somewhere else than
    /// the tip of the other. Gives the name to list below the parent.
    fn attach(&mut self, parent: &str, child: &str, offset_m: DVec3) -> String {
        if offset_m == DVec3::ZERO {
            return child.to_owned();
        }
        let wanted = format!("{parent}__{child}");
        let name = self.unique(&wanted);
        if name != wanted {
            self.warn(format!("joint {wanted:?} has the name of a connector: {name:?} is added"));
        }
        self.bones.push(self.straight(&name, offset_m));
        self.hierarchy.push(Branch { parent: name.clone(), children: vec![child.to_owned()] });
        name
    }

    fn end_sites(&mut self, joint: JointIndex, parent: &str, below: &mut Vec<String>) {
        let sites = self.skeleton[joint].end_sites.clone();
        let mut n = 1;
        for site in sites {
            let name = loop {
                let number = if n == 1 { String::new() } else { n.to_string() };
                let wanted = format!("{parent}__End{number}");
                n += 1;
                let name = self.unique(&wanted);
                if name == wanted {
                    break name;
                }
            };
            self.bones.push(self.straight(&name, site.offset_m));
            below.push(name);
        }
    }

    fn document(
        &mut self,
        only_root: Option<JointIndex>,
        order: Option<Vec<Dof>>,
        position_m: DVec3,
    ) -> Document {
        let mut header = vec![super::WRITTEN_BY.to_owned()];
        if let Some(root) = only_root {
            let name = &self.skeleton[root].name;
            let plain = name.trim() == name && !name.is_empty() && !name.contains(char::is_control);
            if plain && name != ROOT {
                header.push(format!(" {ROOT_NAME} {name}"));
            } else if !plain {
                self.warn(format!("the root joint {name:?} is called \"root\" in the ASF"));
            }
        }
        let named = |s: &crate::skeleton::EndSite| s.name.is_some();
        if self.skeleton.joints().iter().any(|j| j.end_sites.iter().any(named)) {
            self.warn("the names of end sites are not written: ASF has none".to_owned());
        }
        let declared = only_root.map(|r| self.skeleton[r].declared.fields.as_slice());
        let root_fields = declared.unwrap_or_default().iter();
        let order = order.unwrap_or_else(|| [SHIFTS, TURNS].concat());
        let root = Root {
            axis: Some(letters(&order)),
            order: Some(order),
            position: Some((position_m / self.unit.metres()).to_array()),
            orientation: Some([0.0; 3]),
            fields: root_fields.filter(|(key, value)| is_field(key, value)).cloned().collect(),
        };
        let text = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let units =
            vec![text("mass", "1"), text("length", &asf_length(self.unit)), text("angle", "deg")];
        let bodies = [
            Body::Version("1.10".to_owned()),
            Body::Name("condyle".to_owned()),
            Body::Units(units),
            Body::Root(root),
            Body::Bones(std::mem::take(&mut self.bones)),
            Body::Hierarchy(std::mem::take(&mut self.hierarchy)),
        ];
        let section = |body| Section { comments: Vec::new(), body };
        Document { header, sections: bodies.into_iter().map(section).collect() }
    }
}

/// A name that can stand in an ASF: no white space, nothing that reads as something else. Empty
/// stays empty.
fn safe_name(name: &str) -> String {
    let safe: String =
        name.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect();
    let reserved = ["begin", "end", ROOT].iter().any(|word| safe.eq_ignore_ascii_case(word));
    let number = !safe.is_empty() && safe.bytes().all(|b| b.is_ascii_digit());
    if reserved {
        safe + "_"
    } else if number || safe.starts_with(['#', ':', '(', ')', ',']) {
        format!("_{safe}")
    } else {
        safe
    }
}

/// Whether a field can be written as it is and read as the same.
fn is_field(key: &str, value: &str) -> bool {
    const KNOWN: [&str; 13] = [
        "begin",
        "end",
        "id",
        "name",
        "direction",
        "length",
        "axis",
        "dof",
        "limits",
        "order",
        "position",
        "orientation",
        ROOT,
    ];
    let word = !key.is_empty() && !key.contains(|c: char| c.is_whitespace() || c.is_control());
    word && !key.starts_with(['#', ':'])
        && !KNOWN.iter().any(|k| key.eq_ignore_ascii_case(k))
        && !value.contains(char::is_control)
        && !value.split_whitespace().any(|w| w.starts_with('#'))
}
