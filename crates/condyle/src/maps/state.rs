//! The values of a network, and their derivatives by the dials.

use glam::DVec3;

use super::curve::PreparedCurve;
use super::flat::{NumberStep, Room};
use super::network::{Above, Input, Network, Step};
use super::slide::{Inputs, Slid};
use super::transform::{Rate, Transform};
use crate::limits::PreparedLimit;
use crate::math::Rotation;
use crate::motion::Pose;
use crate::skeleton::JointIndex;

/// The values of all parts of a [`Network`], for one setting of its dials.
#[derive(Clone, Debug)]
pub struct State {
    pub(crate) dials: Vec<f64>,
    pub(super) numbers: Vec<f64>,
    pub(super) number_rates: Vec<f64>,
    pub(crate) transforms: Vec<Transform>,
    pub(crate) rates: Vec<Rate>,
    pub(super) slides: Vec<Option<Slid>>,
    /// Whether the rates are those of these values.
    rated: bool,
    scratch: Scratch,
}

/// Room for rates on the way.
#[derive(Clone, Debug, Default)]
struct Scratch {
    rates: Vec<Rate>,
    other: Vec<DVec3>,
    turns: Vec<DVec3>,
    numbers: [Vec<f64>; 2],
    flat: Room,
}

impl State {
    pub(super) fn new(network: &Network) -> Self {
        let rest: Vec<f64> = network.dials.iter().map(|dial| dial.rest).collect();
        let mut state = Self {
            dials: rest.clone(),
            numbers: vec![0.0; network.numbers.len()],
            number_rates: vec![0.0; network.numbers.dials.len()],
            transforms: vec![Transform::IDENTITY; network.transforms.len()],
            rates: vec![Rate::default(); network.transforms.dials.len()],
            slides: vec![None; network.slides.len()],
            rated: false,
            scratch: Scratch { flat: network.flat.room(), ..Scratch::default() },
        };
        // Twice: from then on all room is there, and bones slide from where they are at rest.
        network.evaluate(&rest, &mut state);
        network.evaluate(&rest, &mut state);
        state
    }

    /// The dials as they are set: inside of their ranges.
    #[must_use]
    pub fn dials(&self) -> &[f64] {
        &self.dials
    }

    /// How bones slide, in the order of [`Network::sliding`].
    pub fn slid(&self) -> impl Iterator<Item = &Slid> {
        self.slides.iter().flatten()
    }

    /// Whether a bone should touch and cannot.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.slides.iter().flatten().any(|slid| slid.touches != [true, true])
    }
}

impl Network {
    /// Sets the dials, each brought into its range; one that is not a number stays at rest. Then
    /// evaluates everything.
    ///
    /// What bounds and limits do not allow does not come out, whatever the dials (D13). Where a bone has
    /// several ways to slide, it takes the one nearest to that of the evaluation before. It looks for it
    /// from there, so that the same dials once more give the same to rounding. Nothing is allocated.
    ///
    /// # Panics
    ///
    /// If there are not as many numbers as dials, or the state is of another network.
    pub fn evaluate(&self, dials: &[f64], state: &mut State) {
        self.evaluate_with_rates(dials, state);
    }

    /// [`evaluate`](Self::evaluate) without derivatives: the same values with the same bits, in a tenth to
    /// half of the time (a quarter for the model of a whole body). [`rates`](Self::rates) cannot be asked for
    /// afterwards.
    ///
    /// ```
    /// use condyle::maps::Network;
    /// use condyle::models;
    ///
    /// let rig = models::find("spine").ok_or("no such model")?;
    /// let network = Network::new(&rig.maps, &rig.skeleton)?;
    /// let mut state = network.state();
    /// let dials: Vec<f64> = network.dials().iter().map(|dial| dial.range[1]).collect();
    /// network.evaluate_values(&dials, &mut state);
    /// let joint = rig.skeleton.find("L1").ok_or("no such joint")?;
    /// assert!(network.motion(&state, joint).rotation.angle().degrees() > 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    ///
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_values(&self, dials: &[f64], state: &mut State) {
        self.set(dials, state);
        state.rated = false;
        let State { numbers, transforms, scratch, .. } = &mut *state;
        for step in &self.flat.numbers {
            match step {
                NumberStep::Curve { of, curve, out } => {
                    numbers[*out] = value_within_reason(curve.value(numbers[*of]));
                }
                NumberStep::Bound { active, passive, bounds, out } => {
                    let a = numbers[*active];
                    let at = |b: &PreparedCurve| [value_within_reason(b.value(a)), 0.0];
                    let [lower, upper] = bounds.each_ref().map(|b| b.as_ref().map(at));
                    numbers[*out] = bounded(numbers[*passive], lower, upper).0;
                }
            }
        }
        self.flat.turn(numbers, transforms, &mut scratch.flat);
        for step in &self.flat.others {
            let step = &self.steps[*step];
            self.take::<false>(step, state);
            if let Some(out) = step.transform().filter(|out| self.shifting[*out]) {
                hold_within_reason(&mut state.transforms[out], &mut []);
            }
        }
    }

    fn evaluate_with_rates(&self, dials: &[f64], state: &mut State) {
        self.set(dials, state);
        state.rated = true;
        for dial in 0..self.dials.len() {
            state.number_rates[self.numbers.range(dial)].fill(1.0);
        }
        for step in &self.steps {
            self.take::<true>(step, state);
            if let Some(out) = step.transform() {
                let rates = &mut state.rates[self.transforms.range(out)];
                hold_within_reason(&mut state.transforms[out], rates);
            }
        }
    }

    /// Sets the dials, each in its range.
    fn set(&self, dials: &[f64], state: &mut State) {
        assert_eq!(dials.len(), self.dials.len(), "one number for each dial");
        let to = state.dials.iter_mut().zip(&mut state.numbers);
        for ((dial, value), (own, number)) in self.dials.iter().zip(dials).zip(to) {
            let [min, max] = dial.range;
            *own = if value.is_nan() { dial.rest } else { value.clamp(min, max) };
            *number = *own;
        }
    }

    /// The places of a transform's rates; none if they are not asked for.
    fn rates_of<const RATES: bool>(&self, transform: usize) -> std::ops::Range<usize> {
        let range = self.transforms.range(transform);
        if RATES { range } else { range.start..range.start }
    }

    /// The places of a number's rates, likewise.
    fn number_rates_of<const RATES: bool>(&self, number: usize) -> std::ops::Range<usize> {
        let range = self.numbers.range(number);
        if RATES { range } else { range.start..range.start }
    }

    fn take<const RATES: bool>(&self, step: &Step, state: &mut State) {
        let State { numbers, number_rates, transforms, rates, slides, scratch, .. } = state;
        match step {
            Step::Spread { input, outputs } => {
                let from = self.number_rates_of::<RATES>(*input);
                for (out, curve) in outputs {
                    let [value, slope] = within_reason(curve.at(numbers[*input]));
                    numbers[*out] = value;
                    let to = self.number_rates_of::<RATES>(*out);
                    for (from, to) in from.clone().zip(to) {
                        number_rates[to] = slope * number_rates[from];
                    }
                }
            }
            Step::Bound { active, passive, bounds, out, .. } => {
                let (a, p) = (numbers[active.of], numbers[passive.of]);
                let [lower, upper] =
                    bounds.each_ref().map(|b| b.as_ref().map(|b| within_reason(b.at(a))));
                let (value, by_active, by_passive) = bounded(p, lower, upper);
                numbers[*out] = value;
                let to = self.number_rates_of::<RATES>(*out);
                number_rates[to.clone()].fill(0.0);
                for (input, by) in [(active, by_active), (passive, by_passive)] {
                    for (from, into) in self.number_rates_of::<RATES>(input.of).zip(&input.into) {
                        number_rates[to.start + into] += by * number_rates[from];
                    }
                }
            }
            Step::Turn { angle, turn, out } => {
                let (transform, rate) = turn.at(numbers[*angle]);
                transforms[*out] = transform;
                let both = self.number_rates_of::<RATES>(*angle).zip(self.rates_of::<RATES>(*out));
                both.for_each(|(from, to)| rates[to] = rate.scaled(number_rates[from]));
            }
            Step::Shift { length, along, out } => {
                let translation_m = *along * numbers[*length];
                transforms[*out] = Transform { rotation: Rotation::IDENTITY, translation_m };
                let rate = Rate { turn: DVec3::ZERO, shift_m: *along };
                let both = self.number_rates_of::<RATES>(*length).zip(self.rates_of::<RATES>(*out));
                both.for_each(|(from, to)| rates[to] = rate.scaled(number_rates[from]));
            }
            Step::Chain { of, out } if !RATES => {
                let Some((first, others)) = of.split_first() else { return };
                let mut product = transforms[first.of];
                if self.shifting[*out] {
                    others.iter().for_each(|input| product = product * transforms[input.of]);
                } else {
                    let turn = &mut product.rotation;
                    others.iter().for_each(|input| *turn = *turn * transforms[input.of].rotation);
                }
                transforms[*out] = product;
            }
            Step::Chain { of, out } => {
                let to = self.rates_of::<RATES>(*out);
                let (known, own) = rates.split_at_mut(to.start);
                let own = &mut own[..to.len()];
                own.fill(Rate::default());
                let mut product = Transform::IDENTITY;
                if let Some((first, others)) = of.split_first() {
                    product = transforms[first.of];
                    let from = self.rates_of::<RATES>(first.of);
                    from.zip(&first.into).for_each(|(from, into)| own[*into] = known[from]);
                    for input in others {
                        self.append::<RATES>(
                            &mut product,
                            own,
                            transforms[input.of],
                            Some(input),
                            known,
                        );
                    }
                }
                transforms[*out] = product;
            }
            Step::Limit { input, center, limit, toward_rest, out, .. } => {
                let from = transforms[*input];
                let m = center.inverse() * from.rotation;
                // What is inside comes back bit for bit, and stays.
                let (outside, held) = if *toward_rest {
                    let outside = !limit.contains(m);
                    (outside, if outside { limit.toward_rest(m) } else { m })
                } else {
                    let held = limit.project(m);
                    (held.quat() != m.quat(), held)
                };
                let rotation = if outside { *center * held } else { from.rotation };
                transforms[*out] = Transform { rotation, ..from };
                let jacobian = (RATES && outside && !toward_rest).then(|| limit.jacobian(m));
                let both = self.rates_of::<RATES>(*input).zip(self.rates_of::<RATES>(*out));
                for (from, to) in both {
                    let rate = rates[from];
                    let turn = center.inverse() * rate.turn;
                    let turn = match jacobian {
                        Some(jacobian) => jacobian * turn,
                        None if outside => walked_rate(limit, m, turn),
                        None => turn,
                    };
                    rates[to] = Rate { turn: *center * turn, ..rate };
                }
            }
            Step::Compensate { input, rest, path, out } => {
                let to = self.rates_of::<RATES>(*out);
                let (known, own) = rates.split_at_mut(to.start);
                let own = &mut own[..to.len()];
                let cancelled =
                    self.compensate::<RATES>(input, *rest, path, transforms, known, own, scratch);
                transforms[*out] = cancelled;
            }
            Step::Slide { input, path, numbers: chosen, slide, memory, out } => {
                let to = self.rates_of::<RATES>(*out);
                let (known, own) = rates.split_at_mut(to.start);
                let own = &mut own[..to.len()];
                scratch.rates.clear();
                scratch.rates.resize(own.len(), Rate::default());
                let mut bone = Transform::IDENTITY;
                for above in path {
                    self.step_down::<RATES>(
                        &mut bone,
                        &mut scratch.rates,
                        above,
                        transforms,
                        known,
                    );
                }
                let before = input.as_ref().map_or(Transform::IDENTITY, |i| transforms[i.of]);
                self.append::<RATES>(&mut bone, &mut scratch.rates, before, input.as_ref(), known);
                for (of, rates) in chosen.iter().zip(&mut scratch.numbers) {
                    rates.clear();
                    rates.resize(own.len(), 0.0);
                    for (from, into) in self.number_rates_of::<RATES>(of.of).zip(&of.into) {
                        rates[*into] = number_rates[from];
                    }
                }
                scratch.turns.clear();
                scratch.turns.resize(own.len(), DVec3::ZERO);
                let inputs = Inputs {
                    bone: &bone,
                    bone_rates: &scratch.rates,
                    numbers: [numbers[chosen[0].of], numbers[chosen[1].of]],
                    number_rates: [&scratch.numbers[0], &scratch.numbers[1]],
                    before: slides[*memory].map_or([0.0; 2], |slid| slid.turns),
                };
                let slid = slide.at(&inputs, &mut scratch.turns);
                slides[*memory] = Some(slid);
                transforms[*out] = before * Transform::from_rotation(slid.rotation);
                // The bone turns in its own space after it was turned beforehand.
                own.fill(Rate::default());
                if let Some(input) = input {
                    let from = self.rates_of::<RATES>(input.of);
                    from.zip(&input.into).for_each(|(from, into)| own[*into] = known[from]);
                }
                for (rate, turn) in own.iter_mut().zip(&scratch.turns) {
                    rate.turn += before.rotation * *turn;
                }
            }
        }
    }

    /// `product * next`, with its rates.
    pub(crate) fn append<const RATES: bool>(
        &self,
        product: &mut Transform,
        rates: &mut [Rate],
        next: Transform,
        input: Option<&Input>,
        known: &[Rate],
    ) {
        if RATES {
            let lever = product.rotation * next.translation_m;
            // Most parts turn only, and have no lever.
            if lever != DVec3::ZERO {
                rates.iter_mut().for_each(|rate| *rate = rate.before(lever));
            }
        }
        if let Some(input) = input {
            for (from, into) in self.rates_of::<RATES>(input.of).zip(&input.into) {
                rates[*into] = rates[*into].plus(known[from].after(product));
            }
        }
        *product = *product * next;
    }

    /// Down to a joint: its place at rest, and its motion.
    fn step_down<const RATES: bool>(
        &self,
        product: &mut Transform,
        rates: &mut [Rate],
        above: &Above,
        transforms: &[Transform],
        known: &[Rate],
    ) {
        self.append::<RATES>(product, rates, above.rest, None, known);
        if let Some(driver) = &above.driver {
            self.append::<RATES>(product, rates, transforms[driver.of], Some(driver), known);
        }
    }

    /// A joint's motion such that it stands in the world as if some of those above were at rest.
    ///
    /// # Source
    ///
    /// Row D4 of the checklist, with its trap: `local' = W⁻¹ W° local` for the rotation W of the parent
    /// and W° the same with those cancelled at rest, whatever the rest pose. What is above all that are
    /// cancelled is in both, and falls out.
    #[allow(clippy::too_many_arguments, reason = "all of the state")]
    fn compensate<const RATES: bool>(
        &self,
        input: &Input,
        rest: Option<Rotation>,
        path: &[Above],
        transforms: &[Transform],
        known: &[Rate],
        own: &mut [Rate],
        scratch: &mut Scratch,
    ) -> Transform {
        let Scratch { turns, other, .. } = scratch;
        for turns in [&mut *turns, &mut *other] {
            turns.clear();
            turns.resize(own.len(), DVec3::ZERO);
        }
        // `None` is no rotation.
        let (mut as_is, mut at_rest) = (None, None);
        for above in path {
            as_is = then(as_is, above.rest_turn);
            at_rest = then(at_rest, above.rest_turn);
            let Some(driver) = &above.driver else { continue };
            let motion = Some(transforms[driver.of].rotation);
            for (from, into) in self.rates_of::<RATES>(driver.of).zip(&driver.into) {
                turns[*into] += turned(as_is, known[from].turn);
                if !above.cancelled {
                    other[*into] += turned(at_rest, known[from].turn);
                }
            }
            as_is = then(as_is, motion);
            if !above.cancelled {
                at_rest = then(at_rest, motion);
            }
        }
        // rest⁻¹ W⁻¹ W° rest m; a rate w of W turns W⁻¹ by −W⁻¹ w.
        let inverse = |of: Option<Rotation>| of.map(Rotation::inverse);
        let back = then(inverse(rest), inverse(as_is));
        let before = then(then(back, at_rest), rest);
        let from = transforms[input.of];
        for (i, rate) in own.iter_mut().enumerate() {
            *rate = Rate { turn: turned(back, other[i] - turns[i]), shift_m: DVec3::ZERO };
        }
        for (k, into) in self.rates_of::<RATES>(input.of).zip(&input.into) {
            own[*into].turn += turned(before, known[k].turn);
            own[*into].shift_m = known[k].shift_m;
        }
        let rotation = before.map_or(from.rotation, |before| before * from.rotation);
        Transform { rotation, ..from }
    }

    /// Brings dials that bounds hold back onto these: the pose is the same.
    pub(crate) fn snap(&self, state: &State, dials: &mut [f64]) {
        for step in &self.steps {
            let Step::Bound { passive, out, .. } = step else { continue };
            // The first numbers are the dials.
            if let Some(dial) = dials.get_mut(passive.of) {
                let [min, max] = self.dials[passive.of].range;
                *dial = state.numbers[*out].clamp(min, max);
            }
        }
    }

    /// Whether a bound may hold a dial back.
    pub(crate) fn is_bounded(&self, dial: usize) -> bool {
        let held = |step: &Step| matches!(step, Step::Bound { passive, .. } if passive.of == dial);
        self.steps.iter().any(held)
    }

    /// How a joint moves relative to rest, in its own space.
    #[must_use]
    pub fn motion(&self, state: &State, joint: JointIndex) -> Transform {
        self.drivers[joint.get()].map_or(Transform::IDENTITY, |of| state.transforms[of])
    }

    /// How that changes with the dials that it depends on, each with its number.
    ///
    /// # Panics
    ///
    /// If the state was evaluated [without derivatives](Self::evaluate_values).
    pub fn rates<'a>(
        &'a self,
        state: &'a State,
        joint: JointIndex,
    ) -> impl Iterator<Item = (usize, Rate)> + 'a {
        assert!(state.rated, "the state was evaluated without derivatives");
        let range = self.drivers[joint.get()].map_or(0..0, |of| self.transforms.range(of));
        range.map(|i| (self.transforms.dials[i], state.rates[i]))
    }

    /// For every joint, what takes a skin that was drawn around the figure at rest to where it is now:
    /// its transform in the world, after the inverse of that at rest (D11). `motions` are the local
    /// transforms of a pose, such as [`write`](Self::write) fills in.
    ///
    /// # Panics
    ///
    /// If the pose is of another skeleton, with fewer joints.
    #[must_use]
    pub fn skinning(&self, pose: &Pose) -> Vec<Transform> {
        let mut worlds: Vec<[Transform; 2]> = Vec::with_capacity(self.rests.len());
        for (j, rest) in self.rests.iter().enumerate() {
            let (rotation, translation_m) = (pose.rotations[j], pose.translations_m[j]);
            let local = [Transform { rotation, translation_m }, *rest];
            // Parents come first.
            let world = match self.parents[j] {
                Some(parent) => [0, 1].map(|k: usize| worlds[parent][k] * local[k]),
                None => local,
            };
            worlds.push(world);
        }
        worlds.into_iter().map(|[now, rest]| now * rest.inverse()).collect()
    }

    /// Writes the joints that are moved into a pose; the others stay as they are in it.
    ///
    /// # Panics
    ///
    /// If the pose is of another skeleton, with fewer joints.
    pub fn write(&self, state: &State, pose: &mut Pose) {
        for (j, driver) in self.drivers.iter().enumerate() {
            if let Some(of) = driver {
                let Transform { rotation, translation_m } = self.rests[j] * state.transforms[*of];
                (pose.rotations[j], pose.translations_m[j]) = (rotation, translation_m);
            }
        }
    }
}

/// `a * b`, where nothing is no rotation.
fn then(a: Option<Rotation>, b: Option<Rotation>) -> Option<Rotation> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a * b),
        (one, None) | (None, one) => one,
    }
}

/// A vector as a rotation turns it, if there is one.
fn turned(rotation: Option<Rotation>, vector: DVec3) -> DVec3 {
    rotation.map_or(vector, |rotation| rotation * vector)
}

/// How [`PreparedLimit::toward_rest`] turns if its argument does: by central differences.
fn walked_rate(limit: &PreparedLimit, m: Rotation, turn: DVec3) -> DVec3 {
    /// Radians: truncation and rounding are both below 1e-9 then.
    const STEP: f64 = 1e-5;
    let size = turn.length();
    if size == 0.0 {
        return DVec3::ZERO;
    }
    let at = |step: f64| {
        let moved = Rotation::exp(turn * (step / size)).unwrap_or(Rotation::IDENTITY);
        limit.toward_rest(moved * m)
    };
    (at(STEP) * at(-STEP).inverse()).log() * (size / (2.0 * STEP))
}

/// No number that a function makes is larger, and no translation, in metres; no rate is larger than the
/// other. So what is made of them does not overflow.
const MOST: f64 = 1e9;
const MOST_RATE: f64 = 1e100;

/// A transform and its rates such that nothing is NaN, and nothing that is made of them overflows:
/// a chain of chains of itself grows without end.
fn hold_within_reason(transform: &mut Transform, rates: &mut [Rate]) {
    // One comparison for all, which no NaN passes: nearly always nothing is to be done.
    let most =
        rates.iter().fold(DVec3::ZERO, |sum, rate| sum + rate.turn.abs() + rate.shift_m.abs());
    if most.element_sum() <= MOST_RATE && transform.translation_m.abs().element_sum() <= MOST {
        return;
    }
    let held = |v: DVec3, most: f64| {
        DVec3::from_array(v.to_array().map(|x| if x.is_nan() { 0.0 } else { x.clamp(-most, most) }))
    };
    transform.translation_m = held(transform.translation_m, MOST);
    for rate in rates {
        let [turn, shift_m] = [rate.turn, rate.shift_m].map(|v| held(v, MOST_RATE));
        *rate = Rate { turn, shift_m };
    }
}

/// A value and its slope, of which the former is at most [`MOST`] and not NaN.
fn within_reason([value, slope]: [f64; 2]) -> [f64; 2] {
    if value.abs() <= MOST && slope.is_finite() {
        [value, slope]
    } else if value.is_nan() {
        [0.0, 0.0]
    } else {
        [value.clamp(-MOST, MOST), 0.0]
    }
}

/// The first of [`within_reason`], which does not depend on the slope.
#[inline]
fn value_within_reason(value: f64) -> f64 {
    if value.abs() <= MOST {
        value
    } else if value.is_nan() {
        0.0
    } else {
        value.clamp(-MOST, MOST)
    }
}

/// A number between bounds, each given with its slope; and how much of its change is due to that of
/// the bounds' argument, and to its own.
fn bounded(p: f64, lower: Option<[f64; 2]>, upper: Option<[f64; 2]>) -> (f64, f64, f64) {
    match (lower, upper) {
        (Some([low, s]), Some([high, t])) if low > high => (0.5 * (low + high), 0.5 * (s + t), 0.0),
        (Some([low, slope]), _) if p < low => (low, slope, 0.0),
        (_, Some([high, slope])) if p > high => (high, slope, 0.0),
        _ => (p, 0.0, 1.0),
    }
}
