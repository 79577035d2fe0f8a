//! From an ASF document to a skeleton and the meaning of its motion's columns.
//!
//! # Source
//!
//! S. Lin, "Help note for assignment 2", section II, eq 1–5. With C the world rotation of a
//! bone's local space at rest (`axis`; `orientation` for the root), V the bone's vector in world
//! space at rest (direction times length; zero for the root), and R the turns of its columns:
//!
//! ```text
//!   rest        = C_parent^-1 · C                      eq 4 (printed for bone i + 1 as R_asf of i)
//!   local       = rest · R                             eq 1.a
//!   offset      = C_parent^-1 · V_parent               eq 2.b, 5
//! ```
//!
//! A joint is where a bone begins; the tip of a bone without children is an end site.
//!
//! # Convention
//!
//! The first letter of `axis` and the first word of `dof` act first: `XYZ` is `R_z · R_y · R_x`
//! (eq 3). The three numbers of `axis` are about x, y and z whatever the letters. Shifts of a bone
//! are along its own axes at rest, those of the root along the world's.

use std::collections::HashMap;

use glam::DVec3;

use super::asf::{Body, Bone, Branch, Document, Places, Root};
use crate::formats::error::{ReadError, ReadErrorKind, Warning, WarningKind};
use crate::formats::text::{self, Warnings};
use crate::formats::units::{LengthUnit, Units};
use crate::math::{Angle, EulerOrder, Rotation, trig, unit};
use crate::motion::{AngleUnit, JointChannels, Sequence};
use crate::skeleton::{
    DeclaredDof, Dof, EndSite, Joint, JointIndex, MAX_JOINTS, Skeleton, SkeletonError,
};

/// The comment that carries the name of the root joint, which an ASF cannot.
pub(super) const ROOT_NAME: &str = "condyle:root-name";

/// The name of the root in every ASF.
pub(super) const ROOT: &str = "root";

/// Directions may be this far from unit length before it is worth a word: files have six digits,
/// or fewer in hand-made ones.
const DIRECTION_TOLERANCE: f64 = 1e-3;

/// How far the local space of a connector bone may be turned from its parent's, in radians.
const CONNECTOR_TOLERANCE: f64 = 1e-12;

/// The columns of a frame when an ASF does not say.
const USUAL_ORDER: [Dof; 6] = [Dof::Tx, Dof::Ty, Dof::Tz, Dof::Rx, Dof::Ry, Dof::Rz];

/// What an ASF document stands for.
#[derive(Debug)]
pub(super) struct Lowered {
    pub(super) skeleton: Skeleton,
    pub(super) units: Units,
    pub(super) angle: AngleUnit,
    /// The columns of each joint, in the skeleton's order.
    pub(super) channels: Vec<JointChannels>,
    pub(super) columns: usize,
    /// For the root and then each bone of the document: its joint, `None` for a connector.
    pub(super) joints: Vec<Option<JointIndex>>,
    /// The other way: for each joint 0 for the root, else its place in the document's bones + 1.
    pub(super) nodes: Vec<usize>,
    pub(super) warnings: Vec<Warning>,
}

impl Lowered {
    /// Lets the joints move from where a skeleton has them: this one, or one with the same joints at
    /// other places.
    pub(super) fn stand_on(&mut self, skeleton: &Skeleton) {
        for (j, channels) in skeleton.indices().zip(&mut self.channels) {
            channels.translation_base_m = skeleton[j].offset_m;
            // A bone shifts along its own axes, the root along the world's.
            channels.translation_basis = match skeleton.parent(j) {
                Some(_) => skeleton[j].rest,
                None => Rotation::IDENTITY,
            };
        }
    }
}

/// The text that a document was parsed from, for saying where something is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) places: &'a Places,
}

impl Source<'_> {
    fn error(&self, at: Option<usize>, kind: ReadErrorKind) -> ReadError {
        match at {
            Some(at) => text::error_at(self.bytes, at, kind),
            None => ReadError::new(kind),
        }
    }
}

/// A bone or the root, with what its numbers mean.
struct Node<'a> {
    name: &'a str,
    bone: Option<&'a Bone>,
    /// World space from local space at rest.
    c: Rotation,
    /// From base to tip in world space at rest, metres.
    vector_m: DVec3,
    dofs: &'a [Dof],
    parent: Option<usize>,
    children: Vec<usize>,
    role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Joint,
    /// Carries the offset of its only child.
    Connector,
    /// Carries an end site of its parent.
    EndConnector,
}

/// Lowers a document. `unit` overrides what it declares.
pub(super) fn lower(
    document: &Document,
    source: Source<'_>,
    unit: Option<LengthUnit>,
) -> Result<Lowered, ReadError> {
    let mut warnings = Warnings::default();
    for (name, at) in &source.places.unknown {
        let kind = WarningKind::UnknownField { name: name.clone() };
        warnings.at(*at, kind);
    }
    let (units, angle) = units(document, source, unit, &mut warnings)?;
    let Some(root) = document.root() else {
        let what = "the :root section".to_owned();
        return Err(ReadError::new(ReadErrorKind::Missing { what }));
    };
    let root = lower_root(root, source, units.length, angle, &mut warnings);
    let mut nodes = vec![Node {
        name: ROOT,
        bone: None,
        c: root.c,
        vector_m: DVec3::ZERO,
        dofs: &root.dofs,
        parent: None,
        children: Vec::new(),
        role: Role::Joint,
    }];
    for (i, bone) in document.bones().iter().enumerate() {
        let at = source.places.bones.get(i).copied();
        nodes.push(lower_bone(bone, at, source, units.length, angle, &mut warnings)?);
    }
    connect(&mut nodes, document, source)?;
    find_connectors(&mut nodes);
    let lowering = Lowering { nodes: &nodes, root: &root, units, angle };
    let (skeleton, order, joints) = lowering.skeleton(&root_name(document, &nodes))?;
    let (channels, columns) = lowering.channels(&skeleton, &order, &joints);
    let warnings = warnings.finish(source.bytes);
    Ok(Lowered { skeleton, units, angle, channels, columns, joints, nodes: order, warnings })
}

/// The unit of lengths and of angles.
fn units(
    document: &Document,
    source: Source<'_>,
    given: Option<LengthUnit>,
    warnings: &mut Warnings,
) -> Result<(Units, AngleUnit), ReadError> {
    let mut declared = None;
    let mut angle = AngleUnit::Degrees;
    for (i, (key, value)) in document.units().unwrap_or_default().iter().enumerate() {
        let at = source.places.units.get(i).copied();
        let bad = |what: String| source.error(at, ReadErrorKind::BadValue { what });
        if key.eq_ignore_ascii_case("length") {
            let factor = value.parse::<f64>().ok().and_then(LengthUnit::from_asf_length);
            let what = || format!("the length unit {value:?} is not a positive number");
            declared = Some(factor.ok_or_else(|| bad(what()))?);
        } else if key.eq_ignore_ascii_case("angle") {
            let value = value.to_ascii_lowercase();
            angle = match value.as_str() {
                "deg" | "degree" | "degrees" => AngleUnit::Degrees,
                "rad" | "radian" | "radians" => AngleUnit::Radians,
                _ => return Err(bad(format!("the angle unit {value:?} is neither deg nor rad"))),
            };
        }
    }
    if declared.is_none() && given.is_none() {
        let what = "no unit of length is declared; inches are assumed".to_owned();
        warnings.whole(WarningKind::Repaired { what });
    }
    Ok((Units::choose(declared, given, LengthUnit::INCH), angle))
}

/// The world rotation that three angles about x, y and z stand for, the first letter acting first.
fn turned(numbers: [f64; 3], letters: EulerOrder, unit: AngleUnit) -> Rotation {
    let order = letters.reversed();
    let angles =
        order.axes().map(|axis| Angle::from_radians(unit.to_radians(numbers[axis.index()])));
    order.to_rotation(angles).expect("the parser gives finite numbers")
}

struct LoweredRoot<'a> {
    root: &'a Root,
    c: Rotation,
    position_m: DVec3,
    dofs: Vec<Dof>,
}

fn lower_root<'a>(
    root: &'a Root,
    source: Source<'_>,
    length: LengthUnit,
    angle: AngleUnit,
    warnings: &mut Warnings,
) -> LoweredRoot<'a> {
    let at = source.places.root;
    let mut repaired = |what: &str| {
        warnings.at(at, WarningKind::Repaired { what: what.to_owned() });
    };
    let dofs = root.order.clone().unwrap_or_else(|| {
        repaired("the root has no order; TX TY TZ RX RY RZ is assumed");
        USUAL_ORDER.to_vec()
    });
    let orientation = root.orientation.unwrap_or_default();
    let axis = root.axis.unwrap_or_else(|| {
        if orientation != [0.0; 3] {
            repaired("the root has an orientation but no axis order; XYZ is assumed");
        }
        EulerOrder::XYZ
    });
    if order_differs(&dofs, axis) {
        warnings.at(at, WarningKind::OrderDiffers { bone: ROOT.to_owned() });
    }
    let position_m = DVec3::from_array(root.position.unwrap_or_default()) * length.metres();
    LoweredRoot { root, c: turned(orientation, axis, angle), position_m, dofs }
}

/// Whether the turns among the dofs come in another order than the letters.
fn order_differs(dofs: &[Dof], letters: EulerOrder) -> bool {
    let axes = letters.axes().map(crate::math::Axis::index);
    let rank = |dof: &Dof| {
        let axis = dof.rotation_axis()?;
        axes.iter().position(|a| *a == axis)
    };
    !dofs.iter().filter_map(rank).is_sorted()
}

fn lower_bone<'a>(
    bone: &'a Bone,
    at: Option<usize>,
    source: Source<'_>,
    length: LengthUnit,
    angle: AngleUnit,
    warnings: &mut Warnings,
) -> Result<Node<'a>, ReadError> {
    let missing = |field: &str| {
        let what = format!("the {field} of bone {:?}", bone.name);
        source.error(at, ReadErrorKind::Missing { what })
    };
    let mut warn = |kind| match at {
        Some(at) => warnings.at(at, kind),
        None => warnings.whole(kind),
    };
    let size = bone.length.ok_or_else(|| missing("length"))?;
    let direction = match bone.direction {
        Some(direction) => DVec3::from_array(direction),
        None if size == 0.0 => DVec3::ZERO,
        None => return Err(missing("direction")),
    };
    let vector = if size == 0.0 {
        DVec3::ZERO
    } else {
        let Some(along) = unit(direction) else {
            let what = format!("bone {:?} has a length but its direction is zero", bone.name);
            return Err(source.error(at, ReadErrorKind::BadValue { what }));
        };
        let deviation = (trig::hypot3(direction.x, direction.y, direction.z) - 1.0).abs();
        if deviation > DIRECTION_TOLERANCE {
            let what = format!(
                "the direction of bone {:?} has not length 1; it was scaled to that",
                bone.name
            );
            warn(WarningKind::Repaired { what });
        }
        along * size
    };
    let (angles, letters) = bone.axis.unwrap_or_else(|| {
        let what = format!("bone {:?} has no axis; 0 0 0 XYZ is assumed", bone.name);
        warn(WarningKind::Repaired { what });
        ([0.0; 3], EulerOrder::XYZ)
    });
    let dofs = bone.dofs.as_deref().unwrap_or_default();
    if order_differs(dofs, letters) {
        warn(WarningKind::OrderDiffers { bone: bone.name.clone() });
    }
    if !bone.limits.is_empty() && bone.limits.len() != dofs.len() {
        warn(WarningKind::LimitCount {
            bone: bone.name.clone(),
            found: bone.limits.len(),
            expected: dofs.len(),
        });
    }
    Ok(Node {
        name: &bone.name,
        bone: Some(bone),
        c: turned(angles, letters, angle),
        vector_m: vector * length.metres(),
        dofs,
        parent: None,
        children: Vec::new(),
        role: Role::Joint,
    })
}

/// Links parents and children as the hierarchy says, or says why that makes no tree.
fn connect(
    nodes: &mut [Node<'_>],
    document: &Document,
    source: Source<'_>,
) -> Result<(), ReadError> {
    let position = |at: Option<usize>| at.map(|at| text::position(source.bytes, at));
    let bone_at = |i: usize| source.places.bones.get(i.wrapping_sub(1)).copied();
    let mut by_name: HashMap<&str, usize> = HashMap::with_capacity(nodes.len());
    for (i, node) in nodes.iter().enumerate() {
        if let Some(first) = by_name.insert(node.name, i) {
            let what = format!("the bone name {:?}", node.name);
            let first = position(bone_at(first));
            return Err(source.error(bone_at(i), ReadErrorKind::Duplicate { what, first }));
        }
    }
    let mut places = source.places.hierarchy.iter().copied();
    let wrong =
        |at: Option<usize>, what: String| source.error(at, ReadErrorKind::Hierarchy { what });
    let unknown = |at: Option<usize>, name: &str| {
        wrong(at, format!("the hierarchy names a bone {name:?} that :bonedata does not have"))
    };
    let Some(lines) = document.hierarchy() else {
        if nodes.len() == 1 {
            return Ok(());
        }
        let what = "the :hierarchy section".to_owned();
        return Err(ReadError::new(ReadErrorKind::Missing { what }));
    };
    // Where each bone was attached, for cycles.
    let mut attached = vec![None; nodes.len()];
    for Branch { parent, children } in lines {
        let at = places.next();
        let above = *by_name.get(parent.as_str()).ok_or_else(|| unknown(at, parent))?;
        for child in children {
            let at = places.next();
            let below = *by_name.get(child.as_str()).ok_or_else(|| unknown(at, child))?;
            if below == 0 {
                return Err(wrong(at, "the root cannot have a parent".to_owned()));
            }
            if let Some(first) = nodes[below].parent {
                let what = if first == above {
                    format!("bone {child:?} is listed twice below {parent:?}")
                } else {
                    let first = nodes[first].name;
                    format!("bone {child:?} has two parents, {first:?} and {parent:?}")
                };
                return Err(wrong(at, what));
            }
            nodes[below].parent = Some(above);
            nodes[above].children.push(below);
            attached[below] = at;
        }
    }
    // What the root does not reach is loose, or hangs on itself.
    let mut reached = vec![false; nodes.len()];
    let mut stack = vec![0];
    while let Some(i) = stack.pop() {
        reached[i] = true;
        stack.extend(&nodes[i].children);
    }
    let lost = |i: &usize| !reached[*i];
    let loose = (0..nodes.len()).filter(lost).find(|i| nodes[*i].parent.is_none());
    if let Some(i) = loose {
        let what = format!("bone {:?} is not attached by the hierarchy", nodes[i].name);
        return Err(wrong(bone_at(i), what));
    }
    if let Some(start) = (0..nodes.len()).find(lost) {
        // Walking up from any lost bone ends up on the cycle.
        let mut i = start;
        for _ in 0..nodes.len() {
            i = nodes[i].parent.expect("lost bones without a parent were reported above");
        }
        let what = format!("bone {:?} is its own ancestor", nodes[i].name);
        return Err(wrong(attached[i], what));
    }
    Ok(())
}

/// Finds the bones that our own writer puts in where a joint has children at several places.
fn find_connectors(nodes: &mut [Node<'_>]) {
    for i in 1..nodes.len() {
        let (Some(parent), Some(bone)) = (nodes[i].parent, nodes[i].bone) else {
            continue;
        };
        let Some(below) =
            nodes[i].name.strip_prefix(nodes[parent].name).and_then(|rest| rest.strip_prefix("__"))
        else {
            continue;
        };
        let plain = bone.dofs.as_ref().is_none_or(Vec::is_empty)
            && bone.limits.is_empty()
            && bone.fields.is_empty()
            && !nodes[parent].dofs.contains(&Dof::Length)
            && nodes[i].c.distance(nodes[parent].c).radians() <= CONNECTOR_TOLERANCE;
        if !plain {
            continue;
        }
        match *nodes[i].children.as_slice() {
            [child] if nodes[child].name == below => nodes[i].role = Role::Connector,
            [] if is_end_name(below) => nodes[i].role = Role::EndConnector,
            _ => {}
        }
    }
}

/// `End`, `End2`, `End3`, …
fn is_end_name(name: &str) -> bool {
    name.strip_prefix("End").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

/// The name of the root joint: from our own comment, if there is one and no bone has that name.
fn root_name(document: &Document, nodes: &[Node<'_>]) -> String {
    let inside = document.sections.iter().filter(|s| !matches!(s.body, Body::Documentation(_)));
    let mut comments = document.header.iter().chain(inside.flat_map(|s| &s.comments));
    let name = comments.find_map(|comment| {
        let name = comment.trim().strip_prefix(ROOT_NAME)?;
        name.starts_with(' ').then(|| name.trim()).filter(|name| !name.is_empty())
    });
    match name {
        Some(name) if nodes.iter().all(|node| node.name != name) => name.to_owned(),
        _ => ROOT.to_owned(),
    }
}

struct Lowering<'a> {
    nodes: &'a [Node<'a>],
    root: &'a LoweredRoot<'a>,
    units: Units,
    angle: AngleUnit,
}

type Built = (Skeleton, Vec<usize>, Vec<Option<JointIndex>>);

impl Lowering<'_> {
    /// The joint above, and where in its local space this node begins, from the nodes' vectors.
    fn base(&self, node: usize) -> Option<(usize, DVec3)> {
        let above = self.nodes[node].parent?;
        let vector = self.nodes[above].vector_m;
        Some(match (self.nodes[above].role, self.nodes[above].parent) {
            (Role::Connector, Some(joint)) => (joint, self.nodes[joint].vector_m + vector),
            _ => (above, vector),
        })
    }

    /// `C_parent^-1 · C`; exactly no turn if both are the same numbers.
    fn rest(&self, parent: usize, node: usize) -> Rotation {
        let (parent, c) = (self.nodes[parent].c, self.nodes[node].c);
        if parent.quat() == c.quat() { Rotation::IDENTITY } else { parent.inverse() * c }
    }

    /// The skeleton, depth first in the order of the hierarchy; the node of each joint, and the
    /// joint of each node.
    fn skeleton(&self, root_name: &str) -> Result<Built, ReadError> {
        let mut skeleton = Skeleton::new();
        let mut order = Vec::new();
        let mut joints: Vec<Option<JointIndex>> = vec![None; self.nodes.len()];
        let mut stack = vec![0];
        while let Some(i) = stack.pop() {
            let node = &self.nodes[i];
            stack.extend(node.children.iter().rev());
            if node.role != Role::Joint {
                continue;
            }
            let index = match self.base(i) {
                None => {
                    let mut joint = Joint::new(root_name, self.root.position_m);
                    joint.rest = node.c;
                    joint.end_sites = self.end_sites(i);
                    joint.declared.dofs = Some(self.declared(node));
                    joint.declared.fields.clone_from(&self.root.root.fields);
                    skeleton.add_root(joint)
                }
                Some((above, vector)) => {
                    let offset = self.nodes[above].c.inverse() * vector;
                    let mut joint = Joint::new(node.name, offset);
                    joint.rest = self.rest(above, i);
                    joint.end_sites = self.end_sites(i);
                    joint.declared.dofs = Some(self.declared(node));
                    joint.declared.fields = node.bone.map(|b| b.fields.clone()).unwrap_or_default();
                    let parent = joints[above].expect("parents are visited first");
                    skeleton.add(parent, joint)
                }
            };
            let index = index.map_err(|error| {
                ReadError::new(match error {
                    SkeletonError::TooManyJoints => {
                        ReadErrorKind::TooMany { what: "joints", limit: MAX_JOINTS as u64 }
                    }
                    other => ReadErrorKind::BadValue { what: other.to_string() },
                })
            })?;
            joints[i] = Some(index);
            order.push(i);
        }
        Ok((skeleton, order, joints))
    }

    fn end_sites(&self, i: usize) -> Vec<EndSite> {
        let node = &self.nodes[i];
        let site = |vector: DVec3| EndSite { name: None, offset_m: node.c.inverse() * vector };
        if node.children.is_empty() {
            return if node.vector_m == DVec3::ZERO { vec![] } else { vec![site(node.vector_m)] };
        }
        node.children
            .iter()
            .filter(|c| self.nodes[**c].role == Role::EndConnector)
            .map(|c| site(node.vector_m + self.nodes[*c].vector_m))
            .collect()
    }

    fn declared(&self, node: &Node<'_>) -> Vec<DeclaredDof> {
        let limits = node.bone.map(|b| b.limits.as_slice()).unwrap_or_default();
        let scaled = |dof: Dof, (low, high): (f64, f64)| {
            let to = |v: f64| match dof.rotation_axis() {
                Some(_) => self.angle.to_radians(v),
                None => v * self.units.length.metres(),
            };
            (to(low), to(high))
        };
        let limit = |i: usize, dof| limits.get(i).map(|limit| scaled(dof, *limit));
        let dofs = node.dofs.iter().enumerate();
        dofs.map(|(i, &dof)| DeclaredDof { dof, limit: limit(i, dof) }).collect()
    }

    /// The columns of every joint, one after the other in the skeleton's order.
    fn channels(
        &self,
        skeleton: &Skeleton,
        order: &[usize],
        joints: &[Option<JointIndex>],
    ) -> (Vec<JointChannels>, usize) {
        let mut next = 0;
        let mut channels: Vec<JointChannels> = Vec::with_capacity(order.len());
        for (j, &i) in skeleton.indices().zip(order) {
            let node = &self.nodes[i];
            let columns = (next..next + node.dofs.len()).collect();
            next += node.dofs.len();
            // The parent bone's `l` moves this joint along the parent bone.
            let stretch = node.parent.and_then(|p| {
                let above = &self.nodes[p];
                let parent = &channels[joints[p]?.get()];
                let l = parent.dofs.iter().position(|d| *d == Dof::Length)?;
                let bone = above.bone?;
                let along = unit(DVec3::from_array(bone.direction?))?;
                Some((parent.columns[l], above.c.inverse() * along))
            });
            channels.push(JointChannels {
                dofs: node.dofs.to_vec(),
                columns,
                sequence: Sequence::FirstActsFirst,
                stretch,
                ..JointChannels::fixed(skeleton[j].offset_m)
            });
        }
        (channels, next)
    }
}
