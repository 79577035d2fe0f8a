//! The rig document (RIG.json): a skeleton with what its joints can do.
//!
//! [`Rig::read`] and [`Rig::write`] are the two ends. `docs/rig.md` describes the format,
//! `docs/rig.schema.json` is its JSON Schema.
//!
//! What was read and not changed is written back with the document's own numbers, fields in their
//! order, unknown fields in their place. For that a [`Rig`] keeps the text it was read from; writing
//! compares three documents, the one that was read, what we would have written for it, and what we
//! would write now, and changes only what differs between the last two. Not kept are blanks, line
//! breaks and the spelling of escapes in texts.
//!
//! # Why not serde
//!
//! The document is read by a small JSON reader of our own (`json.rs`) into a tree that has what this
//! module promises: the place of every value (so that errors name line and column), the spelling of
//! every number (so that `4.10` stays `4.10`), the order of fields, and repeated keys. With `serde`
//! each of these is an obstacle: `serde_json` gives values no places and keeps the last of repeated
//! keys without a word, and its `arbitrary_precision` is a switch for the whole dependency tree.
//! The crates that add places (`json-spanned-value` 0.2.2 of 2020, `spanned_json_parser` 0.2.0 of
//! 2023) parse the numbers and put the fields into maps. So the library needs no serialisation
//! framework, and the types below are plain: whoever wants them in another form converts them.

mod bounds;
mod coupling;
mod couplings;
mod cursor;
mod doubts;
mod end;
mod error;
mod fields;
mod joint;
mod json;
mod left_out;
mod maps;
mod merge;
pub(crate) mod name_table;
mod own_work;
mod path;
pub(crate) mod preset;
mod read;
mod settle;
mod shapes;
mod write;

use std::sync::Arc;

use crate::limits::{Limit, LimitError};
use crate::maps::{JointMap, MapError, MapErrorKind, MapStep, Network};
use crate::math::{Angle, Rotation};
use crate::skeleton::Skeleton;

pub(crate) use bounds::Bounds;
pub use coupling::{AngleOf, Coupling, JointAngle, Rule};
pub use end::{End, EndOf, Open};
pub use error::{ParentFault, Position, RigError, RigErrorKind, RigWarning, RigWarningKind};
pub use joint::{JointKind, RigJoint, RigJoints, Soft, Source};
pub use left_out::LeftOut;
pub use own_work::OwnWork;
pub use read::{MAX_BYTES, ReadRig};

use path::{Step, Steps};

/// JSON with places and errors, for other documents.
pub(crate) mod document {
    pub(crate) use super::cursor::{Cursor, Notes, nearly_same};
    pub(crate) use super::error::location;
    pub(crate) use super::json::{Fault, Value, parse};
    pub(crate) use super::path::Step;
    pub(crate) use super::read::text_of;
}

/// A skeleton with what its joints can do.
///
/// ```
/// use condyle::limits::Limit;
/// use condyle::math::Angle;
/// use condyle::rig::Rig;
///
/// let text = br#"{
///   "condyle": 1,
///   "skeleton": { "joints": [ { "name": "Knee", "offset_m": [0, -0.4, 0] } ] },
///   "joints": {
///     "Knee": { "kind": "hinge", "axis": [1, 0, 0],
///               "limit": { "shape": "arc", "min_deg": 0.0, "max_deg": 140.5 }, "mine": "kept" }
///   }
/// }"#;
/// let mut rig = Rig::read(text)?.rig;
/// let knee = rig.joints.get_mut("Knee").ok_or("no knee")?;
/// knee.noise = Some(Angle::from_degrees(0.4));
/// let written = String::from_utf8(rig.write()?)?;
/// assert!(written.contains(r#""min_deg": 0.0, "max_deg": 140.5 }"#));
/// assert!(written.contains(r#""mine": "kept""#));
/// assert!(written.contains(r#""noise_deg": 0.4"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rig {
    /// The tree of joints and its rest pose.
    pub skeleton: Skeleton,
    /// What its joints can do. A joint without an entry can do anything.
    pub joints: RigJoints,
    /// Dials that move many joints, if there are any.
    pub maps: JointMap,
    /// Angles that drive or bound others, learnt from motion or written by hand.
    pub couplings: Vec<Coupling>,
    /// The text it was read from.
    origin: Option<Arc<str>>,
}

impl Rig {
    /// A rig that was not read from a document.
    #[must_use]
    pub fn new(skeleton: Skeleton, joints: RigJoints) -> Self {
        Self { skeleton, joints, maps: JointMap::default(), couplings: Vec::new(), origin: None }
    }

    /// A skeleton whose joints can do anything: roots are free, the others are balls without limit.
    #[must_use]
    pub fn from_skeleton(skeleton: &Skeleton) -> Self {
        let joints = skeleton.indices().map(|j| {
            let root = skeleton.parent(j).is_none();
            let kind = if root { JointKind::Free } else { JointKind::Ball };
            (skeleton[j].name.as_str(), RigJoint { kind, ..RigJoint::default() })
        });
        let joints = joints.collect();
        Self::new(skeleton.clone(), joints)
    }

    /// Takes over the skeleton and the entries of another rig, such as a new estimate, and returns the
    /// names of the entries that were kept since they are [edited](RigJoint::is_edited): by their source,
    /// or by a change since they were estimated.
    ///
    /// Couplings of an entry that is replaced go, unless their source is [`Source::Edited`]: their
    /// angles were counted from its axes. Entries that the other has no joint for stay. An entry that is replaced keeps its
    /// [`soft`](RigJoint::soft) if the other says nothing of that. One that is kept loses what its
    /// limit [contradicts](RigJoint::settle). [`write`](Self::write) then changes
    /// the document that this rig was read from: unknown fields and the order stay.
    ///
    /// ```
    /// use condyle::limits::Limit;
    /// use condyle::rig::{JointKind, Rig, RigJoint, Source};
    ///
    /// let text = br#"{ "condyle": 1, "skeleton": { "joints": [] }, "joints": {
    ///   "Knee": { "kind": "fixed", "source": "edited" },
    ///   "Foot": { "kind": "free", "source": "estimated", "mine": "kept" } } }"#;
    /// let mut rig = Rig::read(text)?.rig;
    /// let mut fresh = Rig::default();
    /// for name in ["Knee", "Foot"] {
    ///     let entry = RigJoint::new(JointKind::Ball, Limit::Locked);
    ///     fresh.joints.insert(name, RigJoint { source: Some(Source::Estimated), ..entry });
    /// }
    /// assert_eq!(rig.update(fresh), ["Knee"]);
    /// let written = String::from_utf8(rig.write()?)?;
    /// assert!(written.contains(r#""Knee": { "kind": "fixed", "source": "edited" }"#));
    /// assert!(written.contains(r#""limit": { "shape": "locked" }"#));
    /// assert!(written.contains(r#""mine": "kept""#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update(&mut self, other: Self) -> Vec<String> {
        let mut kept = Vec::new();
        self.skeleton = other.skeleton;
        for (name, mut joint) in other.joints {
            match self.joints.get(&name) {
                Some(old) if old.is_edited() => {
                    kept.push(name);
                    continue;
                }
                Some(old) => joint.soft = joint.soft.or(old.soft),
                None => {}
            }
            self.couplings.retain(|of| {
                let its = of.active.joint == name || of.passive.joint == name;
                !its || of.source == Some(Source::Edited)
            });
            self.joints.insert(name, joint);
        }
        for name in &kept {
            let rest = self.skeleton.find(name).map(|joint| self.skeleton[joint].rest);
            if let Some(joint) = self.joints.get_mut(name) {
                joint.settle(rest.unwrap_or_default());
            }
        }
        kept
    }

    /// Takes over couplings, such as learnt ones, in place of those that there are, and returns the names
    /// of those that stay since their source is [`Source::Edited`]. Of two about the same angles, what was
    /// edited stays.
    pub fn update_couplings(&mut self, learnt: Vec<Coupling>) -> Vec<String> {
        self.couplings.retain(|of| of.source == Some(Source::Edited));
        let kept: Vec<String> = self.couplings.iter().map(|of| of.name.clone()).collect();
        for of in learnt {
            let same = |old: &Coupling| {
                let (ours, theirs) = ([&old.active, &old.passive], [&of.active, &of.passive]);
                ours == theirs || ours == [theirs[1], theirs[0]] || old.name == of.name
            };
            if !self.couplings.iter().any(same) {
                self.couplings.push(of);
            }
        }
        kept
    }

    /// Where in the text that the rig was read from something stands: `joints.LeftArm.limit`. If it
    /// is not there, the innermost part of the way that is. `None` if the rig was not read.
    #[must_use]
    pub fn position_of(&self, path: &str) -> Option<Position> {
        let text = self.origin.as_deref()?;
        let root = json::parse(text).ok()?;
        Some(Position::of(text, path::find(&root, path).0))
    }

    /// Its joint maps on its skeleton.
    ///
    /// # Errors
    ///
    /// What is wrong with them, and where in the document.
    pub fn network(&self) -> Result<Network, RigError> {
        Network::new(&self.maps, &self.skeleton).map_err(|error| self.map_error(&error))
    }

    /// What is wrong with the joint maps, as an error of this document.
    fn map_error(&self, error: &MapError) -> RigError {
        let step = |step: &MapStep| match step {
            MapStep::Key(key) => Step::Key(key.clone().into()),
            MapStep::Item(i) => Step::Index(*i),
        };
        let mut steps = vec![Step::Key("maps".into())];
        steps.extend(error.place().iter().map(step));
        let mut path = Steps(&steps).to_string();
        let kind = match error.kind() {
            MapErrorKind::Limit(wrong) => {
                path = self.path_of_limit(&path, wrong);
                RigErrorKind::Limit(wrong.clone())
            }
            kind => RigErrorKind::Map(kind.clone()),
        };
        let position = self.position_of(&path);
        RigError::new(kind, path, position)
    }

    /// What is wrong with the limit of a joint, as an error of this document.
    #[must_use]
    pub fn limit_error(&self, joint: &str, error: &LimitError) -> RigError {
        let entry = Steps(&[Step::Key("joints".into()), Step::Key(joint.into())]).to_string();
        let path = self.path_of_limit(&entry, error);
        let position = self.position_of(&path);
        RigError::new(RigErrorKind::Limit(error.clone()), path, position)
    }

    /// Where something is wrong with the limit of an entry.
    fn path_of_limit(&self, entry: &str, error: &LimitError) -> String {
        let mut path = format!("{entry}.limit");
        match error.path() {
            "" => {}
            inner if inner.starts_with('[') => path.push_str(inner),
            inner => {
                path.push('.');
                path.push_str(inner);
            }
        }
        // Axes stand beside the limit, not in it.
        if let Some(root) = self.origin.as_deref().and_then(|text| json::parse(text).ok()) {
            let beside = format!("{entry}.{}", error.path());
            let steps = path::find(&root, entry).1;
            if path::find(&root, &beside).1 > steps && path::find(&root, &path).1 <= steps + 1 {
                path = beside;
            }
        }
        path
    }
}

/// Whether a vector or quaternion of this squared length is of length one but for rounding. Such
/// ones are read and written as they are, so that reading gives the bits that were written.
fn is_unit(length_squared: f64) -> bool {
    // Brought to length one in double precision, it is within 4 ulps.
    (length_squared - 1.0).abs() <= 8.0 * f64::EPSILON
}

fn is_identity(rotation: Rotation) -> bool {
    rotation.to_wxyz() == [1.0, 0.0, 0.0, 0.0]
}

impl RigJoint {
    /// A joint of a kind with a limit, the rest pose in its middle.
    #[must_use]
    pub fn new(kind: JointKind, limit: Limit) -> Self {
        Self { kind, limit, ..Self::default() }
    }

    /// Sets [`rest_inside`](Self::rest_inside) and [`rest_excess`](Self::rest_excess) by the limit,
    /// and [`start`](Self::start) to the nearest rotation that is allowed if the rest pose is not,
    /// else to none. `rest` is the joint's in the skeleton.
    ///
    /// # Convention
    ///
    /// `local = rest · center · m`: in the rest pose `m` is the inverse of `center`.
    ///
    /// # Errors
    ///
    /// If the limit makes no sense as geometry.
    ///
    /// # Example
    ///
    /// ```
    /// use condyle::glam::DVec3;
    /// use condyle::limits::Limit;
    /// use condyle::math::{Angle, Arc, Rotation};
    /// use condyle::rig::{JointKind, RigJoint};
    ///
    /// let arc = Arc::from_degrees(4.0, 140.0).ok_or("no arc")?;
    /// let mut elbow = RigJoint::new(JointKind::Hinge, Limit::Hinge { axis: DVec3::X, arc });
    /// elbow.judge_rest(Rotation::IDENTITY)?;
    /// assert_eq!(elbow.rest_inside, Some(false));
    /// let start = elbow.start.ok_or("no start")?;
    /// assert!(start.distance(Rotation::about_x(Angle::from_degrees(4.0))).degrees() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn judge_rest(&mut self, rest: Rotation) -> Result<(), LimitError> {
        let limit = self.limit.prepare()?;
        let m = self.center.inverse();
        let inside = limit.contains(m);
        let excess = if inside { 0.0 } else { -limit.distance(m).radians() };
        self.rest_inside = Some(inside);
        self.rest_excess = Some(Angle::from_radians(excess.max(0.0)));
        self.start = (!inside).then(|| rest * self.center * limit.project(m));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::LimitErrorKind;

    #[test]
    fn what_preparing_finds_is_told_with_its_place_in_the_document() {
        let text = r#"{"condyle": 1, "skeleton": {"joints": []}, "joints": {
  "a b": {"kind": "ball", "bone_axis": [0, 0, 1], "limit": {"shape": "swing_twist",
    "swing": {"shape": "polygon", "polygons": [
      [[1, 0, 0], [0, 1, 0], [0, 0, 1]]]}, "twist": {"shape": "free"}}},
  "u": {"kind": "universal", "axes": [[1, 0, 0], [1, 0, 0]]}}}"#;
        let rig = Rig::read(text.as_bytes()).unwrap().rig;
        let error = LimitError::new(LimitErrorKind::LongEdge { corner: 1 })
            .within("polygons[0]")
            .within("swing");
        let error = rig.limit_error("a b", &error);
        assert_eq!(error.path(), r#"joints["a b"].limit.swing.polygons[0]"#);
        assert_eq!(error.position(), Some(Position { line: 4, column: 7 }));
        assert!(
            error.to_string().starts_with(
                "4:7: joints[\"a b\"].limit.swing.polygons[0]: the edge from corner 1 to the next"
            ),
            "{error}"
        );
        // Axes stand beside the limit.
        let error = LimitError::new(LimitErrorKind::ParallelAxes).within("axes");
        let error = rig.limit_error("u", &error);
        assert_eq!(error.path(), "joints.u.axes");
        assert_eq!(error.position(), Some(Position { line: 5, column: 38 }));
        // A part that is not there: as near as possible. A rig that was not read: no place.
        assert_eq!(rig.position_of("joints.u.limit.arcs[1]"), rig.position_of("joints.u"));
        assert_eq!(Rig::new(Skeleton::new(), RigJoints::new()).position_of("joints"), None);
    }
}
