//! A joint map on a skeleton: checked, in an order in which every part comes after its inputs.

use std::collections::{HashMap, HashSet};

use glam::DVec3;

use super::curve::{Curve, CurveError, PreparedCurve};
use super::error::{MapError, MapErrorKind};
use super::flat::Flat;
use super::held::axes_of;
use super::model::{Component, Dial, Driven, JointMap, Part, Unit};
use super::slide::{PreparedSlide, SlideError};
use super::state::State;
use super::transform::Transform;
use super::turn::{PreparedTurn, TurnError};
use crate::limits::PreparedLimit;
use crate::math::{Rotation, SwingAxes, unit};
use crate::skeleton::{JointIndex, Skeleton, names_near};

/// A joint map on a skeleton, ready to be evaluated.
///
/// All numbers and transforms are evaluated in one pass, each with its derivatives by the dials that it
/// depends on, and without allocation: see [`evaluate`](Self::evaluate).
#[derive(Clone, Debug)]
pub struct Network {
    pub(crate) dials: Vec<Dial>,
    pub(super) steps: Vec<Step>,
    /// What the part of each is called.
    pub(super) names: Vec<String>,
    /// Of every number and every transform, the dials that it depends on, rising.
    pub(super) numbers: Spans,
    pub(crate) transforms: Spans,
    /// Whether each transform may do more than turn.
    pub(super) shifting: Vec<bool>,
    /// The bones that slide, each of which has its turns remembered.
    pub(super) slides: Vec<SlidingBone>,
    /// What the joint of each of them is called, and the joint that it slides on.
    pub(super) slide_names: Vec<[String; 2]>,
    /// The transform that moves each joint.
    pub(crate) drivers: Vec<Option<usize>>,
    /// The skeleton at rest.
    pub(crate) rests: Vec<Transform>,
    pub(crate) parents: Vec<Option<usize>>,
    /// What values alone need.
    pub(super) flat: Flat,
}

/// A network has no more derivatives than this; with them a state has 50 MB. Nor do its parts take more
/// of them as inputs, or pass more joints on their ways up: a document names both in few words.
const MOST_RATES: usize = 1_000_000;

/// A bone that slides on an ellipsoid.
#[derive(Clone, Copy, Debug)]
pub struct SlidingBone {
    /// Its joint.
    pub joint: JointIndex,
    /// The joint that the ellipsoid is fixed to.
    pub on: JointIndex,
    /// From the space of the ellipsoid to that of this joint.
    pub place: Transform,
    /// Half the length of each of its axes, metres.
    pub radii_m: DVec3,
}

/// Lists of dials, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {
    pub(super) dials: Vec<usize>,
    /// Where each begins, and where the last one ends.
    starts: Vec<usize>,
}

impl Spans {
    fn push(&mut self, dials: &[usize]) -> usize {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.dials.extend_from_slice(dials);
        self.starts.push(self.dials.len());
        self.starts.len() - 2
    }

    pub(super) fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    pub(crate) fn of(&self, i: usize) -> &[usize] {
        &self.dials[self.range(i)]
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
}

/// An input, and the places of its dials among those of the output.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) of: usize,
    pub(crate) into: Vec<usize>,
}

/// One part.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Each output depends on the same dials as the input.
    Spread {
        input: usize,
        outputs: Vec<(usize, PreparedCurve)>,
    },
    Bound {
        active: Input,
        passive: Input,
        bounds: [Option<PreparedCurve>; 2],
        /// What the passive number is called.
        name: String,
        unit: Unit,
        out: usize,
    },
    Turn {
        angle: usize,
        turn: PreparedTurn,
        out: usize,
    },
    Shift {
        length: usize,
        along: DVec3,
        out: usize,
    },
    Chain {
        of: Vec<Input>,
        out: usize,
    },
    Limit {
        input: usize,
        center: Rotation,
        limit: Box<PreparedLimit>,
        /// Of a limit that has a bone.
        axes: Option<SwingAxes>,
        toward_rest: bool,
        out: usize,
    },
    Compensate {
        input: Input,
        /// How the joint itself is turned at rest, if it is.
        rest: Option<Rotation>,
        path: Vec<Above>,
        out: usize,
    },
    Slide {
        input: Option<Input>,
        path: Vec<Above>,
        numbers: [Input; 2],
        slide: Box<PreparedSlide>,
        memory: usize,
        out: usize,
    },
}

/// A joint on a path down the skeleton.
#[derive(Clone, Debug)]
pub(super) struct Above {
    /// Its place in its parent at rest.
    pub(super) rest: Transform,
    /// How that is turned, if it is.
    pub(super) rest_turn: Option<Rotation>,
    /// What moves it.
    pub(super) driver: Option<Input>,
    pub(super) cancelled: bool,
}

impl Above {
    fn new(rest: Transform, driver: Option<Input>, cancelled: bool) -> Self {
        Self { rest, rest_turn: unless_identity(rest.rotation), driver, cancelled }
    }
}

/// A rotation that turns something: most joints rest unturned.
fn unless_identity(rotation: Rotation) -> Option<Rotation> {
    (rotation.quat() != Rotation::IDENTITY.quat()).then_some(rotation)
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Number(usize, Unit),
    Transform(usize),
}

impl Value {
    const fn kind(self) -> &'static str {
        match self {
            Self::Number(_, Unit::Angle) => "an angle",
            Self::Number(_, Unit::Length) => "a length",
            Self::Number(_, Unit::Ratio) => "a ratio",
            Self::Transform(_) => "a transform",
        }
    }
}

impl Step {
    /// The transform that it makes.
    pub(super) const fn transform(&self) -> Option<usize> {
        match self {
            Self::Spread { .. } | Self::Bound { .. } => None,
            Self::Turn { out, .. }
            | Self::Shift { out, .. }
            | Self::Chain { out, .. }
            | Self::Limit { out, .. }
            | Self::Compensate { out, .. }
            | Self::Slide { out, .. } => Some(*out),
        }
    }
}

impl Network {
    /// Puts a map on a skeleton.
    ///
    /// # Errors
    ///
    /// [`MapError`] names the parts that are at fault: unknown, doubled or of another kind than what is
    /// needed, or waiting for each other.
    pub fn new(map: &JointMap, skeleton: &Skeleton) -> Result<Self, MapError> {
        let mut builder = Builder::new(map, skeleton)?;
        // Of every part, those in it that are about a joint; two of different joints say enough.
        let mut within: Vec<Vec<usize>> = vec![Vec::new(); map.parts.len()];
        for part in builder.order()? {
            within[part] = builder.about_joints(part, &within);
            builder.add(&map.parts[part])?;
            let Spans { dials, .. } = &builder.network.transforms;
            let rates = dials.len() + builder.network.numbers.dials.len();
            fits(&map.parts[part], rates)?;
        }
        let Builder { mut network, known, maker, .. } = builder;
        for driven in &map.joints {
            let joint = found_joint(skeleton, Asked::driven(driven, &driven.joint))?;
            let asked = Asked::driven(driven, &driven.by);
            let value = known.get(driven.by.as_str()).copied();
            let Some(Value::Transform(by)) = value else {
                return Err(asked.wrong("a transform", value.map_or("unknown", Value::kind)));
            };
            network.drivers[joint.get()] = Some(by);
            let within = maker.get(&driven.by).map_or(&[][..], |part| &within[*part]);
            for part in within.iter().map(|part| &map.parts[*part]) {
                if let Some(about) = about(part).filter(|about| **about != driven.joint) {
                    let (about, moves) = (about.clone(), driven.joint.clone());
                    let kind = MapErrorKind::OtherJoint { about, moves };
                    return Err(MapError::new("parts", &part.name, kind).at("joint"));
                }
            }
        }
        network.flat = Flat::new(&network);
        Ok(network)
    }

    /// What can be set.
    #[must_use]
    pub fn dials(&self) -> &[Dial] {
        &self.dials
    }

    /// Which dial has a name.
    #[must_use]
    pub fn find(&self, dial: &str) -> Option<usize> {
        self.dials.iter().position(|d| d.name == dial)
    }

    /// Room for the values of all parts, with all dials at rest.
    #[must_use]
    pub fn state(&self) -> State {
        State::new(self)
    }

    /// The bones that slide, in the order of [`State::slid`].
    #[must_use]
    pub fn sliding(&self) -> &[SlidingBone] {
        &self.slides
    }

    /// The dials that a joint's motion depends on.
    #[must_use]
    pub fn dials_of(&self, joint: JointIndex) -> &[usize] {
        self.drivers[joint.get()].map_or(&[], |of| self.transforms.of(of))
    }

    /// The dials that no joint's motion depends on.
    pub fn idle(&self) -> impl Iterator<Item = usize> {
        let mut moves = vec![false; self.dials.len()];
        for of in self.drivers.iter().flatten() {
            self.transforms.of(*of).iter().for_each(|dial| moves[*dial] = true);
        }
        moves.into_iter().enumerate().filter_map(|(dial, moves)| (!moves).then_some(dial))
    }

    /// The joints that are not as in the skeleton's rest pose where all dials are at rest, each with how
    /// it is moved there.
    #[must_use]
    pub fn moved_at_rest(&self) -> Vec<(JointIndex, Transform)> {
        /// Radians or metres: less is rounding.
        const LEAST: f64 = 1e-9;
        let state = self.state();
        let all = (0..self.drivers.len()).map(JointIndex::new);
        let motions = all.map(|joint| (joint, self.motion(&state, joint)));
        let moved = |of: &Transform| {
            of.rotation.angle().radians() > LEAST || of.translation_m.length() > LEAST
        };
        motions.filter(|(_, motion)| moved(motion)).collect()
    }

    /// Whether dials may change a joint's place in its parent, and not only turn it.
    #[must_use]
    pub fn shifts(&self, joint: JointIndex) -> bool {
        self.drivers[joint.get()].is_some_and(|of| self.shifting[of])
    }

    /// Whether a dial moves a joint.
    #[must_use]
    pub fn moves(&self, joint: JointIndex) -> bool {
        self.drivers[joint.get()].is_some()
    }
}

/// A name that something asks for, and where it does.
#[derive(Clone, Copy)]
struct Asked<'a> {
    section: &'static str,
    by: &'a str,
    field: &'static str,
    item: Option<usize>,
    name: &'a str,
}

impl<'a> Asked<'a> {
    fn part(part: &'a Part, field: &'static str, name: &'a str) -> Self {
        Self { section: "parts", by: &part.name, field, item: None, name }
    }

    fn items(part: &'a Part, field: &'static str, names: &'a [String]) -> Vec<Self> {
        let all = names.iter().enumerate();
        all.map(|(i, name)| Self { item: Some(i), ..Self::part(part, field, name) }).collect()
    }

    fn driven(driven: &'a Driven, name: &'a str) -> Self {
        Self { section: "joints", by: &driven.joint, field: "", item: None, name }
    }

    fn error(self, kind: MapErrorKind) -> MapError {
        MapError::new(self.section, self.by, kind).at(self.field).item(self.item)
    }

    fn wrong(self, wanted: &'static str, found: &'static str) -> MapError {
        self.error(MapErrorKind::WrongKind { input: self.name.to_owned(), wanted, found })
    }
}

fn found_joint(skeleton: &Skeleton, asked: Asked<'_>) -> Result<JointIndex, MapError> {
    skeleton.find(asked.name).ok_or_else(|| {
        let names = skeleton.joints().iter().map(|joint| joint.name.as_str());
        let near = names_near(names, asked.name).into_iter().map(str::to_owned).collect();
        asked.error(MapErrorKind::UnknownJoint { joint: asked.name.to_owned(), near })
    })
}

/// The joint that a part is about: what compensates for joints above one, or brings one onto an ellipsoid,
/// is right for that one only.
const fn about(part: &Part) -> Option<&String> {
    match &part.component {
        Component::Compensate { joint, .. } | Component::Slide { joint, .. } => Some(joint),
        _ => None,
    }
}

/// The inputs of a part by name.
fn inputs_of(part: &Part) -> Vec<Asked<'_>> {
    let one = |field, name| Asked::part(part, field, name);
    match &part.component {
        Component::Spread { input, .. }
        | Component::Limit { input, .. }
        | Component::Compensate { input, .. } => vec![one("input", input)],
        Component::Turn { angle, .. } => vec![one("angle", angle)],
        Component::Shift { length, .. } => vec![one("length", length)],
        Component::Bound { active, passive, .. } => {
            vec![one("active", active), one("passive", passive)]
        }
        Component::Chain { of } => Asked::items(part, "of", of),
        Component::Slide { input, numbers, .. } => {
            let mut all = Asked::items(part, "numbers", numbers);
            all.extend(input.as_ref().map(|input| one("input", input)));
            all
        }
    }
}

/// Whether there is room for so many.
fn fits(part: &Part, count: usize) -> Result<(), MapError> {
    let too_large = || MapError::new("parts", &part.name, MapErrorKind::TooLarge);
    (count <= MOST_RATES).then_some(()).ok_or_else(too_large)
}

/// Where a function is wrong.
fn wrong_curve(part: &Part, output: Option<&str>, field: &str, error: CurveError) -> MapError {
    let point = match error {
        CurveError::NotRising { point } => Some(point),
        _ => None,
    };
    let at = MapError::new("parts", &part.name, MapErrorKind::Curve(error));
    let at = output.map_or(at.clone(), |output| at.at("outputs").key(output)).at(field);
    if point.is_some() { at.at("points").item(point) } else { at }
}

/// Where a turn is.
fn wrong_turn(part: &Part, error: TurnError) -> MapError {
    let (field, item) = match &error {
        TurnError::NotFinite => ("", None),
        TurnError::NoAxis => ("axis", None),
        TurnError::NoCenter => ("centers", None),
        TurnError::NotRising { interval } => ("centers", Some(*interval)),
    };
    MapError::new("parts", &part.name, MapErrorKind::Turn(error)).at(field).item(item)
}

/// Where a sliding bone is.
fn wrong_slide(part: &Part, error: SlideError) -> MapError {
    let (field, inner, item) = match &error {
        SlideError::NotFinite => ("", "", None),
        SlideError::NoRadius => ("ellipsoid", "radii_m", None),
        SlideError::NoAxis => ("axis", "", None),
        SlideError::Pairs { .. } | SlideError::Flat => ("pairs", "", None),
        SlideError::AtJoint { pair } => ("pairs", "", Some(*pair)),
    };
    let at = MapError::new("parts", &part.name, MapErrorKind::Slide(error));
    at.at(field).at(inner).item(item)
}

struct Builder<'a> {
    map: &'a JointMap,
    skeleton: &'a Skeleton,
    network: Network,
    /// What dials and parts that were added stand for.
    known: HashMap<String, Value>,
    /// The part of every name of an output, and what moves every joint.
    maker: HashMap<String, usize>,
    mover: HashMap<JointIndex, &'a str>,
    /// How many dials all parts so far take from their inputs.
    taken: usize,
}

impl<'a> Builder<'a> {
    fn new(map: &'a JointMap, skeleton: &'a Skeleton) -> Result<Self, MapError> {
        let rests = skeleton
            .joints()
            .iter()
            .map(|joint| Transform { rotation: joint.rest, translation_m: joint.offset_m });
        let mut network = Network {
            dials: map.dials.clone(),
            steps: Vec::new(),
            names: Vec::new(),
            numbers: Spans::default(),
            transforms: Spans::default(),
            shifting: Vec::new(),
            slides: Vec::new(),
            slide_names: Vec::new(),
            drivers: vec![None; skeleton.len()],
            rests: rests.collect(),
            parents: skeleton.parents().iter().map(|parent| parent.map(JointIndex::get)).collect(),
            flat: Flat::default(),
        };
        let mut known = HashMap::new();
        for (i, dial) in map.dials.iter().enumerate() {
            let [min, max] = dial.range;
            let inside = min <= dial.rest && dial.rest <= max && min < max;
            if !(inside && min.is_finite() && max.is_finite()) {
                return Err(MapError::new("dials", &dial.name, MapErrorKind::Range));
            }
            let number = network.numbers.push(&[i]);
            if known.insert(dial.name.clone(), Value::Number(number, dial.unit)).is_some() {
                let kind = MapErrorKind::SameName { name: dial.name.clone() };
                return Err(MapError::new("dials", &dial.name, kind));
            }
        }
        let mut maker: HashMap<String, usize> = HashMap::new();
        for (i, part) in map.parts.iter().enumerate() {
            for (name, output) in names_of(part) {
                if known.contains_key(&name) || maker.insert(name.clone(), i).is_some() {
                    let same = MapErrorKind::SameName { name };
                    let at = MapError::new("parts", &part.name, same);
                    return Err(output.map_or(at.clone(), |own| at.at("outputs").key(own)));
                }
            }
        }
        let mut mover = HashMap::new();
        for driven in &map.joints {
            let joint = found_joint(skeleton, Asked::driven(driven, &driven.joint))?;
            let by = Asked::driven(driven, &driven.by);
            if !known.contains_key(by.name) && !maker.contains_key(by.name) {
                return Err(unknown(&known, &maker, by));
            }
            if mover.insert(joint, by.name).is_some() {
                return Err(by.error(MapErrorKind::TwoDrivers));
            }
        }
        Ok(Self { map, skeleton, network, known, maker, mover, taken: 0 })
    }

    /// The joints from the highest of some that are above another, down to the parent of that.
    fn path(&self, above: &[Asked<'_>], joint: Asked<'_>) -> Result<Vec<JointIndex>, MapError> {
        let find = |asked: &Asked<'_>| found_joint(self.skeleton, *asked);
        let tops = above.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let end = found_joint(self.skeleton, joint)?;
        let mut left: HashSet<JointIndex> = tops.iter().copied().collect();
        let mut path = Vec::new();
        let mut at = self.skeleton.parent(end);
        while let Some(here) = at.filter(|_| !left.is_empty()) {
            path.push(here);
            left.remove(&here);
            at = self.skeleton.parent(here);
        }
        if let Some(i) = tops.iter().position(|top| left.contains(top)) {
            let [high, low] = [above[i].name, joint.name].map(str::to_owned);
            return Err(above[i].error(MapErrorKind::NotAbove { above: high, joint: low }));
        }
        path.reverse();
        Ok(path)
    }

    /// The joints that a part has to know the places of.
    fn joints_of(&self, part: &Part) -> Result<Vec<JointIndex>, MapError> {
        match &part.component {
            Component::Compensate { joint, cancel, .. } => {
                self.path(&Asked::items(part, "cancel", cancel), Asked::part(part, "joint", joint))
            }
            Component::Slide { joint, on, .. } => {
                // The ellipsoid goes with the highest, whatever moves that.
                let above = [Asked::part(part, "on", on)];
                let mut path = self.path(&above, Asked::part(part, "joint", joint))?;
                path.remove(0);
                Ok(path)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The parts about a joint that are in a part, itself included: at most two, of different joints.
    fn about_joints(&self, part: usize, within: &[Vec<usize>]) -> Vec<usize> {
        let parts = &self.map.parts;
        let inputs = inputs_of(&parts[part]);
        let makers = inputs.iter().filter_map(|asked| self.maker.get(asked.name));
        let inside = makers.flat_map(|maker| within[*maker].iter().copied());
        let mut found: Vec<usize> = Vec::new();
        for other in about(&parts[part]).map(|_| part).into_iter().chain(inside) {
            let new = found.iter().all(|known| about(&parts[*known]) != about(&parts[other]));
            if new && found.len() < 2 {
                found.push(other);
            }
        }
        found
    }

    /// Parts such that each comes after those that it takes from.
    fn order(&self) -> Result<Vec<usize>, MapError> {
        let parts = &self.map.parts;
        let mut waits_for: Vec<Vec<usize>> = Vec::with_capacity(parts.len());
        let mut passed = 0;
        for part in parts {
            let mut makers = Vec::new();
            for asked in inputs_of(part) {
                match self.maker.get(asked.name) {
                    Some(maker) => makers.push(*maker),
                    None if self.known.contains_key(asked.name) => {}
                    None => return Err(unknown(&self.known, &self.maker, asked)),
                }
            }
            // What moves a joint is known to be there.
            let joints = self.joints_of(part)?;
            passed += joints.len();
            fits(part, passed)?;
            let movers = joints.into_iter().filter_map(|j| self.mover.get(&j));
            makers.extend(movers.filter_map(|by| self.maker.get(*by)));
            waits_for.push(makers);
        }
        // Depth first, with a stack of our own: a part is done when all that it waits for is.
        let mut order = Vec::with_capacity(parts.len());
        let mut seen = vec![Seen::No; parts.len()];
        for start in 0..parts.len() {
            let mut stack = vec![(start, 0)];
            if seen[start] != Seen::No {
                continue;
            }
            seen[start] = Seen::Open;
            while let Some((part, next)) = stack.last_mut() {
                let Some(&wanted) = waits_for[*part].get(*next) else {
                    seen[*part] = Seen::Done;
                    order.push(*part);
                    stack.pop();
                    continue;
                };
                *next += 1;
                match seen[wanted] {
                    Seen::Done => {}
                    Seen::No => {
                        seen[wanted] = Seen::Open;
                        stack.push((wanted, 0));
                    }
                    Seen::Open => {
                        let open = stack.iter().map(|(part, _)| *part);
                        let cycle = open.skip_while(|part| *part != wanted);
                        let parts = cycle.map(|part| parts[part].name.clone()).collect();
                        let first = &self.map.parts[wanted].name;
                        return Err(MapError::new("parts", first, MapErrorKind::Cycle { parts }));
                    }
                }
            }
        }
        Ok(order)
    }

    fn value(&self, asked: Asked<'_>) -> Result<Value, MapError> {
        let value = self.known.get(asked.name).copied();
        value.ok_or_else(|| unknown(&self.known, &self.maker, asked))
    }

    /// A number, of any unit.
    fn number(&self, asked: Asked<'_>) -> Result<(usize, Unit), MapError> {
        match self.value(asked)? {
            Value::Number(i, unit) => Ok((i, unit)),
            other @ Value::Transform(_) => Err(asked.wrong("a number", other.kind())),
        }
    }

    fn number_of(&self, asked: Asked<'_>, unit: Unit) -> Result<usize, MapError> {
        match self.value(asked)? {
            Value::Number(i, found) if unit == found => Ok(i),
            other => Err(asked.wrong(Value::Number(0, unit).kind(), other.kind())),
        }
    }

    fn transform(&self, asked: Asked<'_>) -> Result<usize, MapError> {
        match self.value(asked)? {
            Value::Transform(i) => Ok(i),
            other => Err(asked.wrong("a transform", other.kind())),
        }
    }

    /// Adds a part whose inputs are known.
    fn add(&mut self, part: &Part) -> Result<(), MapError> {
        let name = part.name.as_str();
        let asked = |field, name| Asked::part(part, field, name);
        let error = |kind| MapError::new("parts", name, kind);
        let prepared = |curve: &Curve, (output, field), [from, to]: [Unit; 2]| {
            let curve = curve.scaled(from.of_document(), to.of_document());
            curve.prepare().map_err(|error| wrong_curve(part, output, field, error))
        };
        let step = match &part.component {
            Component::Spread { input, outputs } => {
                let (input, from) = self.number(asked("input", input))?;
                if outputs.is_empty() {
                    return Err(error(MapErrorKind::Empty).at("outputs"));
                }
                let dials = self.network.numbers.of(input).to_vec();
                self.take(part, outputs.len() * dials.len())?;
                let mut made = Vec::with_capacity(outputs.len());
                for (output, (own, _)) in outputs.iter().zip(names_of(part)) {
                    let out = self.network.numbers.push(&dials);
                    let field = (Some(output.name.as_str()), "curve");
                    made.push((out, prepared(&output.curve, field, [from, output.unit])?));
                    self.known.insert(own, Value::Number(out, output.unit));
                }
                Step::Spread { input, outputs: made }
            }
            Component::Bound { active, passive, lower, upper } => {
                let of = passive.clone();
                let (active, from) = self.number(asked("active", active))?;
                let (passive, unit) = self.number(asked("passive", passive))?;
                if lower.is_none() && upper.is_none() {
                    return Err(error(MapErrorKind::Empty));
                }
                let numbers = &mut self.network.numbers;
                let lists = [numbers.of(active), numbers.of(passive)];
                let dials = union(lists);
                let [active, passive] = [(active, lists[0]), (passive, lists[1])]
                    .map(|(of, own)| Input { of, into: places(own, &dials) });
                let out = numbers.push(&dials);
                let bound = |curve: &Option<Curve>, field| {
                    let of = |curve| prepared(curve, (None, field), [from, unit]);
                    curve.as_ref().map(of).transpose()
                };
                let bounds = [bound(lower, "lower")?, bound(upper, "upper")?];
                self.known.insert(name.to_owned(), Value::Number(out, unit));
                Step::Bound { active, passive, bounds, name: of, unit, out }
            }
            Component::Turn { angle, turn } => {
                let angle = self.number_of(asked("angle", angle), Unit::Angle)?;
                let turn = turn.prepare().map_err(|error| wrong_turn(part, error))?;
                let dials = self.network.numbers.of(angle).to_vec();
                Step::Turn { angle, turn, out: self.push(name, &dials) }
            }
            Component::Shift { length, along } => {
                let length = self.number_of(asked("length", length), Unit::Length)?;
                let along = unit(*along).filter(|along| along.is_finite());
                let along = along.ok_or_else(|| error(MapErrorKind::NoDirection).at("along"))?;
                let dials = self.network.numbers.of(length).to_vec();
                Step::Shift { length, along, out: self.push(name, &dials) }
            }
            Component::Chain { of } => {
                if of.is_empty() {
                    return Err(error(MapErrorKind::Empty).at("of"));
                }
                let of = Asked::items(part, "of", of).into_iter();
                let of: Vec<usize> =
                    of.map(|input| self.transform(input)).collect::<Result<_, _>>()?;
                let taken = of.iter().map(|i| self.network.transforms.of(*i).len()).sum();
                self.take(part, taken)?;
                let dials = union(of.iter().map(|i| self.network.transforms.of(*i)));
                let of = of.into_iter().map(|i| self.input(i, &dials)).collect();
                Step::Chain { of, out: self.push(name, &dials) }
            }
            Component::Limit { input, center, limit, toward_rest } => {
                let input = self.transform(asked("input", input))?;
                let axes = axes_of(limit);
                let limit = limit.prepare().map_err(|wrong| error(MapErrorKind::Limit(wrong)))?;
                let dials = self.network.transforms.of(input).to_vec();
                let (center, limit) = (*center, Box::new(limit));
                let out = self.push(name, &dials);
                Step::Limit { input, center, limit, axes, toward_rest: *toward_rest, out }
            }
            Component::Compensate { input, joint, cancel } => {
                let input = self.transform(asked("input", input))?;
                if cancel.is_empty() {
                    return Err(error(MapErrorKind::Empty).at("cancel"));
                }
                let own = self.network.transforms.of(input).to_vec();
                let (dials, path) = self.path_with(part, &own, cancel)?;
                let joint = found_joint(self.skeleton, asked("joint", joint))?;
                let rest = unless_identity(self.network.rests[joint.get()].rotation);
                let input = self.input(input, &dials);
                Step::Compensate { input, rest, path, out: self.push(name, &dials) }
            }
            Component::Slide { input, joint, on, numbers, slide } => {
                let input = input.as_ref().map(|input| self.transform(asked("input", input)));
                let input = input.transpose()?;
                let (place, radii_m) = (slide.place, slide.radii_m);
                let mut slide = slide.clone();
                let mut chosen = [0; 2];
                for (k, number) in Asked::items(part, "numbers", numbers).into_iter().enumerate() {
                    let (of, unit) = self.number(number)?;
                    chosen[k] = of;
                    slide.pairs.iter_mut().for_each(|pair| pair.at[k] *= unit.of_document());
                }
                let slide = slide.prepare().map_err(|error| wrong_slide(part, error))?;
                let own = input.map_or(&[] as &[usize], |input| self.network.transforms.of(input));
                let own =
                    union([own].into_iter().chain(chosen.map(|i| self.network.numbers.of(i))));
                let (dials, mut path) = self.path_with(part, &own, &[])?;
                let joint = found_joint(self.skeleton, asked("joint", joint))?;
                let rest = self.network.rests[joint.get()];
                path.push(Above::new(rest, None, false));
                let numbers = chosen
                    .map(|of| Input { of, into: places(self.network.numbers.of(of), &dials) });
                let input = input.map(|input| self.input(input, &dials));
                let on = found_joint(self.skeleton, asked("on", on))?;
                let memory = self.network.slides.len();
                self.network.slides.push(SlidingBone { joint, on, place, radii_m });
                let names = [joint, on].map(|joint| self.skeleton[joint].name.clone());
                self.network.slide_names.push(names);
                let out = self.push(name, &dials);
                Step::Slide { input, path, numbers, slide: Box::new(slide), memory, out }
            }
        };
        if let Some(shifts) = self.shifts(&step) {
            self.network.shifting.push(shifts);
        }
        self.network.steps.push(step);
        self.network.names.push(name.to_owned());
        Ok(())
    }

    /// Whether the transform that a step makes may do more than turn; `None` if it makes none.
    fn shifts(&self, step: &Step) -> Option<bool> {
        let shifting = |input: usize| self.network.shifting[input];
        match step {
            Step::Spread { .. } | Step::Bound { .. } => None,
            Step::Turn { turn, .. } => Some(!turn.is_about_origin()),
            Step::Shift { .. } => Some(true),
            Step::Chain { of, .. } => Some(of.iter().any(|input| shifting(input.of))),
            Step::Limit { input, .. } => Some(shifting(*input)),
            Step::Compensate { input, .. } => Some(shifting(input.of)),
            Step::Slide { input, .. } => {
                Some(input.as_ref().is_some_and(|input| shifting(input.of)))
            }
        }
    }

    /// Makes sure that there is room for what a part takes from its inputs.
    fn take(&mut self, part: &Part, dials: usize) -> Result<(), MapError> {
        self.taken = self.taken.saturating_add(dials);
        fits(part, self.taken)
    }

    /// A new transform of some dials.
    fn push(&mut self, name: &str, dials: &[usize]) -> usize {
        let out = self.network.transforms.push(dials);
        self.known.insert(name.to_owned(), Value::Transform(out));
        out
    }

    fn input(&self, of: usize, dials: &[usize]) -> Input {
        Input { of, into: places(self.network.transforms.of(of), dials) }
    }

    /// The joints that a part depends on, and the dials that these and others depend on.
    fn path_with(
        &mut self,
        part: &Part,
        others: &[usize],
        cancel: &[String],
    ) -> Result<(Vec<usize>, Vec<Above>), MapError> {
        let joints = self.joints_of(part)?;
        let mut drivers = Vec::with_capacity(joints.len());
        for joint in &joints {
            let by = self.mover.get(joint);
            // It is the joint that takes what is no transform.
            let name = self.skeleton[*joint].name.as_str();
            let asked = |by| Asked { section: "joints", by: name, field: "", item: None, name: by };
            drivers.push(by.map(|by| self.transform(asked(by))).transpose()?);
        }
        let taken = drivers.iter().flatten().map(|i| self.network.transforms.of(*i).len()).sum();
        self.take(part, taken)?;
        let moved = drivers.iter().flatten().map(|i| self.network.transforms.of(*i));
        let dials = union(moved.chain([others]));
        let cancel: HashSet<&str> = cancel.iter().map(String::as_str).collect();
        let above = joints.iter().zip(drivers).map(|(joint, driver)| {
            let driver = driver.map(|i| self.input(i, &dials));
            let cancelled = cancel.contains(self.skeleton[*joint].name.as_str());
            Above::new(self.network.rests[joint.get()], driver, cancelled)
        });
        let above = above.collect();
        Ok((dials, above))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Seen {
    No,
    Open,
    Done,
}

/// What the outputs of a part are called, and which output that is, if there are several.
fn names_of(part: &Part) -> Vec<(String, Option<&str>)> {
    match &part.component {
        Component::Spread { outputs, .. } => {
            let own = |output: &'_ str| match output {
                "" => part.name.clone(),
                output => format!("{}.{output}", part.name),
            };
            outputs.iter().map(|output| (own(&output.name), Some(output.name.as_str()))).collect()
        }
        _ => vec![(part.name.clone(), None)],
    }
}

fn unknown(
    known: &HashMap<String, Value>,
    maker: &HashMap<String, usize>,
    asked: Asked<'_>,
) -> MapError {
    let mut names: Vec<&str> = known.keys().chain(maker.keys()).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let near = names_near(names, asked.name).into_iter().map(str::to_owned).collect();
    asked.error(MapErrorKind::UnknownInput { input: asked.name.to_owned(), near })
}

/// All dials of some lists, rising.
pub(crate) fn union<'a>(lists: impl IntoIterator<Item = &'a [usize]>) -> Vec<usize> {
    let mut all: Vec<usize> = lists.into_iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Where each of some dials is in a list that has them all.
pub(crate) fn places(some: &[usize], all: &[usize]) -> Vec<usize> {
    some.iter().map(|dial| all.partition_point(|other| other < dial)).collect()
}
