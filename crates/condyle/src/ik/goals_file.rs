//! From the text of a goals document (GOALS.json) to [`Goals`]. See `docs/ik.md`.

use glam::DVec3;

use super::goal::Aim;
use super::goals::{Aims, ClipGoal, GoalKind, Goals, NamedBy, RootMotion, few_enough};
use super::goals_error::{GoalsError, GoalsErrorKind};
use crate::motion::{Clip, FrameIndex, Pose, World};
use crate::rig::document::{Cursor, Fault, Notes, Step, Value, parse, text_of};
use crate::rig::{Position, RigErrorKind, RigWarning};
use crate::skeleton::{JointIndex, Skeleton};

const DOCUMENT: &[&str] = &["goals", "lock", "root"];

const GOAL: &[&str] = &[
    "joint",
    "weight",
    "point_m",
    "position_m",
    "orientation",
    "direction",
    "look_at",
    "meet",
    "hold",
];

/// The fields that say what a joint should do.
const AIMS: &[&str] = &["position_m", "orientation", "direction", "look_at", "meet", "hold"];

const DIRECTION: &[&str; 2] = &["axis", "target"];
const LOOK_AT: &[&str; 2] = &["axis", "target_m"];
const MEET: &[&str] = &["joint", "point_m"];
const ROOT: &[&str] = &["fixed", "free"];

/// Goals as they were read.
#[derive(Clone, Debug)]
pub struct ReadGoals {
    /// The goals.
    pub goals: Goals,
    /// What their user should know, in the order of the text.
    pub warnings: Vec<RigWarning>,
}

impl Goals {
    /// Reads a goals document for a clip. See `docs/ik.md`.
    ///
    /// # Errors
    ///
    /// See [`GoalsErrorKind`].
    ///
    /// # Panics
    ///
    /// If the clip is not one of the skeleton.
    pub fn read(bytes: &[u8], skeleton: &Skeleton, clip: &Clip) -> Result<ReadGoals, GoalsError> {
        let text = text_of(bytes).map_err(|error| {
            let kind = GoalsErrorKind::Document(error.kind().clone());
            GoalsError::new(kind, String::new(), error.position())
        })?;
        let error = |wrong: Wrong| {
            GoalsError::new(wrong.kind, wrong.path, Some(Position::of(text, wrong.at)))
        };
        let root = parse(text).map_err(|fault| error(fault.into()))?;
        let reader = Reader { skeleton, clip };
        let mut notes = Notes::default();
        let goals = reader.document(&Cursor::root(&root), &mut notes).map_err(error)?;
        Ok(ReadGoals { goals, warnings: notes.positioned(text) })
    }
}

impl Goals {
    /// How many frames a document speaks of, for goals without a clip: as many as the first of its lists
    /// has, and one without any. What is wrong with a document [`read`](Self::read) tells.
    #[must_use]
    pub fn frames_in(bytes: &[u8]) -> usize {
        let root = text_of(bytes).ok().and_then(|text| parse(text).ok());
        root.and_then(|root| first_list(&root.value)).unwrap_or(1).max(1)
    }
}

/// How long the first list is that has a value, or null, for each frame.
fn first_list(document: &Value<'_>) -> Option<usize> {
    let below = |value: &'_ Value<'_>, keys: &[&str]| -> Vec<usize> {
        let Value::Object(fields) = value else { return Vec::new() };
        let named = fields.iter().filter(|field| keys.contains(&&*field.key));
        named.filter_map(|field| per_frame(&field.node.value)).collect()
    };
    let Value::Object(fields) = document else { return None };
    let goals = fields.iter().find(|field| field.key == "goals")?;
    let Value::Array(goals) = &goals.node.value else { return None };
    for goal in goals {
        // Of what is pointed at the target may be a list, or the whole.
        let own = below(&goal.value, &AIMS[..AIMS.len() - 1]);
        let Value::Object(fields) = &goal.value else { continue };
        let inner = fields.iter().filter(|f| ["direction", "look_at"].contains(&&*f.key));
        let inner = inner.flat_map(|f| below(&f.node.value, &["target", "target_m"]));
        if let Some(found) = own.into_iter().chain(inner).next() {
            return Some(found);
        }
    }
    None
}

/// How many frames a value is for, if it is a list with one for each.
fn per_frame(value: &Value<'_>) -> Option<usize> {
    match value {
        Value::Array(items) if !is_row(value) || items.iter().any(|i| is_object(&i.value)) => {
            Some(items.len())
        }
        _ => None,
    }
}

/// What is wrong, at which byte, and within what.
struct Wrong {
    kind: GoalsErrorKind,
    at: usize,
    path: String,
}

impl Wrong {
    fn new(cursor: &Cursor<'_>, kind: GoalsErrorKind) -> Self {
        Self { kind, at: cursor.node.at, path: cursor.path() }
    }
}

impl From<Fault> for Wrong {
    fn from(Fault { kind, at, path }: Fault) -> Self {
        Self { kind: GoalsErrorKind::Document(kind), at, path }
    }
}

/// What goals are about.
struct Reader<'a> {
    skeleton: &'a Skeleton,
    clip: &'a Clip,
}

impl Reader<'_> {
    fn document(&self, document: &Cursor<'_>, notes: &mut Notes) -> Result<Goals, Wrong> {
        only(document, DOCUMENT)?;
        let mut goals = Goals::default();
        let list = document.required("goals")?;
        if list.list()?.is_empty() {
            let kind = RigErrorKind::Length { expected: "at least one goal", found: 0 };
            return Err(list.fault(kind).into());
        }
        // All are counted before any is looked at closely.
        let found = list.list()?.iter().map(|goal| match &goal.value {
            Value::Object(fields) => fields.iter().filter(|f| AIMS.contains(&&*f.key)).count(),
            _ => 0,
        });
        let found = found.sum();
        few_enough(found, NamedBy::Document).map_err(|kind| Wrong::new(&list, kind))?;
        each(&list, |goal| self.goal(goal, &mut goals.goals, notes))?;
        if let Some(lock) = document.field("lock") {
            each(&lock, |name| {
                goals.lock.push(self.joint(name)?);
                Ok(())
            })?;
        }
        if let Some(root) = document.field("root") {
            let word = root.word("way to treat the root", ROOT)?;
            goals.root = if word == "free" { RootMotion::Free } else { RootMotion::Fixed };
        }
        Ok(goals)
    }

    /// One goal of the document, which may ask for several things.
    fn goal(
        &self,
        goal: &Cursor<'_>,
        goals: &mut Vec<ClipGoal>,
        notes: &mut Notes,
    ) -> Result<(), Wrong> {
        only(goal, GOAL)?;
        let joint = self.joint(&goal.required("joint")?)?;
        let weight = match goal.field("weight") {
            None => 1.0,
            Some(weight) => {
                weight.number_within(f64::MIN_POSITIVE, f64::MAX, "a number above zero")?
            }
        };
        let point_m = point(goal)?;
        let before = goals.len();
        let mut add = |kind, aims| goals.push(ClipGoal { joint, kind, weight, aims });
        if let Some(position) = goal.field("position_m") {
            let aim =
                |target: &Cursor<'_>| Ok(Aim::Position { point_m, target_m: target.point()? });
            add(GoalKind::Position, self.one_or_each(&position, is_row, aim)?);
        }
        if let Some(orientation) = goal.field("orientation") {
            let aim = |target: &Cursor<'_>| Ok(Aim::Rotation(target.rotation(notes)?));
            add(GoalKind::Orientation, self.one_or_each(&orientation, is_row, aim)?);
        }
        if let Some(direction) = goal.field("direction") {
            let aims = self.pointing(&direction, DIRECTION, |axis, target| {
                Ok(Aim::Direction { axis, target: nonzero(target)? })
            })?;
            add(GoalKind::Direction, aims);
        }
        if let Some(look_at) = goal.field("look_at") {
            let aims = self.pointing(&look_at, LOOK_AT, |axis, target| {
                Ok(Aim::LookAt { point_m, axis, target_m: target.point()? })
            })?;
            add(GoalKind::LookAt, aims);
        }
        if let Some(meet) = goal.field("meet") {
            let aim = |meet: &Cursor<'_>| {
                only(meet, MEET)?;
                let name = meet.required("joint")?;
                let other = self.joint(&name)?;
                if other == joint {
                    return Err(Wrong::new(&name, GoalsErrorKind::OwnJoint));
                }
                Ok(Aim::Meet { point_m, other, other_point_m: point(meet)? })
            };
            add(GoalKind::Meet, self.one_or_each(&meet, is_object, aim)?);
        }
        if let Some(hold) = goal.field("hold") {
            add(GoalKind::Hold, self.holds(&hold, joint, point_m)?);
        }
        if goals.len() == before {
            return Err(Wrong::new(goal, GoalsErrorKind::NoAim { known: AIMS }));
        }
        Ok(())
    }

    fn joint(&self, name: &Cursor<'_>) -> Result<JointIndex, Wrong> {
        let text = name.text()?;
        self.skeleton.find(text).ok_or_else(|| {
            let names = self.skeleton.joints().iter().map(|j| j.name.as_str());
            Wrong::new(name, GoalsErrorKind::unknown_joint(text, names))
        })
    }

    /// A value for all frames, or a list with one or null for each.
    fn one_or_each(
        &self,
        cursor: &Cursor<'_>,
        is_one: fn(&Value<'_>) -> bool,
        mut read: impl FnMut(&Cursor<'_>) -> Result<Aim, Wrong>,
    ) -> Result<Aims, Wrong> {
        if is_one(&cursor.node.value) {
            return read(cursor).map(Aims::Always);
        }
        let (found, expected) = (cursor.list()?.len(), self.clip.frame_count());
        if found != expected {
            return Err(Wrong::new(cursor, GoalsErrorKind::FrameCount { found, expected }));
        }
        let mut aims = Vec::with_capacity(found);
        each(cursor, |item| {
            let aim = match item.node.value {
                Value::Null => None,
                _ => Some(read(item)?),
            };
            aims.push(aim);
            Ok(())
        })?;
        Ok(Aims::PerFrame(aims))
    }

    /// An axis and a target, or a target per frame, or both per frame.
    fn pointing(
        &self,
        cursor: &Cursor<'_>,
        known: &'static [&'static str; 2],
        aim: impl Fn(DVec3, &Cursor<'_>) -> Result<Aim, Wrong>,
    ) -> Result<Aims, Wrong> {
        let read = |both: &Cursor<'_>| {
            only(both, known)?;
            aim(nonzero(&both.required(known[0])?)?, &both.required(known[1])?)
        };
        if !is_object(&cursor.node.value) {
            return self.one_or_each(cursor, is_object, read);
        }
        only(cursor, known)?;
        let axis = nonzero(&cursor.required(known[0])?)?;
        self.one_or_each(&cursor.required(known[1])?, is_row, |target| aim(axis, target))
    }

    /// In ranges of frames, where a point is in the clip in the first of them.
    fn holds(&self, ranges: &Cursor<'_>, joint: JointIndex, point_m: DVec3) -> Result<Aims, Wrong> {
        let count = self.clip.frame_count();
        let mut aims = vec![None; count];
        let mut next = 0;
        let (mut pose, mut world) = (Pose::default(), World::new());
        each(ranges, |range| {
            let [first, last] = range.exactly("2 frames: first, last", frame_number)?;
            let wrong =
                || Wrong::new(range, GoalsErrorKind::Frames { range: [first, last], count });
            let frame = |n: u64| usize::try_from(n).ok().filter(|n| *n < count).ok_or_else(wrong);
            let (from, to) = (frame(first)?, frame(last)?);
            if from > to {
                return Err(wrong());
            }
            if from < next {
                return Err(Wrong::new(range, GoalsErrorKind::Overlap));
            }
            next = to + 1;
            let at = u32::try_from(from).map_err(|_| wrong())?;
            self.clip.pose_into(FrameIndex(at), &mut pose);
            world.update(self.skeleton, &pose);
            let j = joint.get();
            let target_m = world.positions_m[j] + world.rotations[j] * point_m;
            aims[from..=to].fill(Some(Aim::Position { point_m, target_m }));
            Ok(())
        })?;
        Ok(Aims::PerFrame(aims))
    }
}

/// Every item of a list.
fn each(
    list: &Cursor<'_>,
    mut read: impl FnMut(&Cursor<'_>) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    let mut items = list.list()?.iter().enumerate();
    items.try_for_each(|(i, node)| read(&list.below(Step::Index(i), node)))
}

/// An object with no other fields than these.
fn only(object: &Cursor<'_>, known: &'static [&'static str]) -> Result<(), Wrong> {
    let Some(field) = object.object()?.iter().find(|field| !known.contains(&&*field.key)) else {
        return Ok(());
    };
    let name = field.key.to_string();
    let at = object.below(Step::Key(field.key.clone()), &field.node);
    Err(Wrong::new(&at, GoalsErrorKind::UnknownField { name, known }))
}

/// The point of a joint that counts: its centre unless said.
fn point(of: &Cursor<'_>) -> Result<DVec3, Wrong> {
    Ok(of.field("point_m").map(|point| point.point()).transpose()?.unwrap_or(DVec3::ZERO))
}

fn frame_number(cursor: &Cursor<'_>) -> Result<u64, Fault> {
    cursor.count()
}

/// A vector with a direction.
fn nonzero(cursor: &Cursor<'_>) -> Result<DVec3, Wrong> {
    let vector = cursor.point()?;
    if vector == DVec3::ZERO { Err(cursor.fault(RigErrorKind::Zero).into()) } else { Ok(vector) }
}

/// Whether it is meant as one list of numbers, and not as a list of such lists.
fn is_row(value: &Value<'_>) -> bool {
    match value {
        Value::Array(items) => {
            !matches!(items.first().map(|item| &item.value), Some(Value::Array(_) | Value::Null))
        }
        _ => true,
    }
}

fn is_object(value: &Value<'_>) -> bool {
    matches!(value, Value::Object(_))
}
