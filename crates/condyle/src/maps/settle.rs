//! Dials as they are in effect: those that a bound or a limit holds back are brought to what it gives (D13).

use glam::{DMat3, DVec3};

use super::held::LEAST_HELD;
use super::network::{Network, Step};
use super::state::State;
use super::transform::Transform;
use crate::math::Rotation;

/// Joints that differ by less, in radians and in metres, are in the same place: of a hundred in a chain the
/// last is then off by less than 1e-9.
const SAME: f64 = 1e-11;

/// Dials are found if what they make is nearer than this, in radians, metres or neither: a tenth of
/// [`SAME`], and some thousand times what rounding does.
const FOUND: f64 = 1e-12;

/// The most steps on the way to what is given, and how long one is at most, in radians: the way is curved,
/// and half a turn takes eight of them.
const STEPS: usize = 24;
const STRIDE: f64 = 0.4;

/// One number or rotation that is let go may have hidden another: at most so often.
const ROUNDS: usize = 4;

/// What a number or a rotation that is held should be by itself, and where it is among its kind.
#[derive(Clone, Copy, Debug)]
enum Aim {
    Number { of: usize, to: f64 },
    Turned { of: usize, to: Rotation },
}

impl Network {
    /// Replaces dials by those that are in effect, and evaluates them: every joint stays where it is, to
    /// 1e-9 in the world, and a bound or a limit that held a number or a rotation back has nothing left to
    /// hold. So what is read from the dials is what the figure does.
    ///
    /// What cannot be had so stays as it was, and [`held`](Self::held) tells of it: where no dials inside of
    /// their ranges make what a limit gives, and where they move something else as well.
    ///
    /// # Panics
    ///
    /// As [`evaluate`](Self::evaluate).
    pub fn settle(&self, dials: &mut [f64], state: &mut State) {
        self.settle_but(dials, state, false);
    }

    /// The same, and with `give` for limits also where other joints move for it.
    pub(crate) fn settle_but(&self, dials: &mut [f64], state: &mut State, give: bool) {
        self.evaluate(dials, state);
        dials.copy_from_slice(&state.dials);
        if self.held(state).next().is_none() {
            return;
        }
        let mut kept = self.driven(state);
        let mut safe = dials.to_vec();
        for _ in 0..ROUNDS {
            let mut any = false;
            for step in &self.steps {
                let Some(aim) = aim_of(step, state) else { continue };
                let may_move = give && matches!(aim, Aim::Turned { .. });
                if self.bring(aim, dials, state) && (may_move || same(&kept, &self.driven(state))) {
                    any = true;
                    safe.copy_from_slice(dials);
                    if may_move {
                        kept = self.driven(state);
                    }
                } else {
                    dials.copy_from_slice(&safe);
                    self.evaluate(dials, state);
                }
            }
            if !any {
                break;
            }
        }
    }

    /// How joints are moved.
    fn driven(&self, state: &State) -> Vec<Transform> {
        self.drivers.iter().flatten().map(|of| state.transforms[*of]).collect()
    }

    /// Turns dials until what is held is by itself what it should be. Whether that was found; the state is
    /// that of the dials.
    ///
    /// # Method
    ///
    /// Newton's, with the least step that does it: for columns cᵢ, the rates by the dials, and a gap g,
    /// `δᵢ = cᵢᵀ (Σ c cᵀ)⁻¹ g`. A dial that comes to an end of its range stays there, and the others do what
    /// is left.
    fn bring(&self, aim: Aim, dials: &mut [f64], state: &mut State) -> bool {
        // The first numbers are the dials: to the bit.
        if let Aim::Number { of, to } = aim
            && let Some(dial) = self.dials.get(of)
        {
            dials[of] = to;
            self.evaluate(dials, state);
            return (dial.range[0]..=dial.range[1]).contains(&to);
        }
        let of = match aim {
            Aim::Number { of, .. } => self.numbers.of(of),
            Aim::Turned { of, .. } => self.transforms.of(of),
        };
        let mut stopped = vec![false; of.len()];
        for _ in 0..STEPS {
            let gap = self.gap(aim, state);
            if gap.length() <= FOUND {
                return true;
            }
            let columns: Vec<DVec3> = match aim {
                Aim::Number { of, .. } => {
                    self.numbers.range(of).map(|i| DVec3::X * state.number_rates[i]).collect()
                }
                Aim::Turned { of, .. } => {
                    self.transforms.range(of).map(|i| state.rates[i].turn).collect()
                }
            };
            let mut left = gap.clamp_length_max(STRIDE);
            stopped.fill(false);
            // Each round but the last stops one dial at least.
            for _ in 0..=of.len() {
                let free = || columns.iter().zip(&stopped).filter(|(_, s)| !**s).map(|(c, _)| *c);
                let steps = least_step(free, left);
                let mut again = false;
                for (k, dial) in
                    of.iter().enumerate().filter(|(k, _)| !stopped[*k]).collect::<Vec<_>>()
                {
                    let [min, max] = self.dials[*dial].range;
                    let to = dials[*dial] + columns[k].dot(steps);
                    if !(min..=max).contains(&to) {
                        let end = if to < min { min } else { max };
                        left -= columns[k] * (end - dials[*dial]);
                        dials[*dial] = end;
                        stopped[k] = true;
                        again = true;
                    }
                }
                if !again {
                    for (k, dial) in of.iter().enumerate().filter(|(k, _)| !stopped[*k]) {
                        dials[*dial] += columns[k].dot(steps);
                    }
                    break;
                }
            }
            self.evaluate(dials, state);
        }
        self.gap(aim, state).length() <= FOUND
    }

    /// From what is held to what it should be.
    fn gap(&self, aim: Aim, state: &State) -> DVec3 {
        match aim {
            Aim::Number { of, to } => DVec3::X * (to - state.numbers[of]),
            Aim::Turned { of, to } => (to * state.transforms[of].rotation.inverse()).log(),
        }
    }
}

/// What is to be brought about so that a step holds nothing any more, if it does.
fn aim_of(step: &Step, state: &State) -> Option<Aim> {
    match step {
        Step::Bound { passive, out, .. } => {
            let (of, to) = (passive.of, state.numbers[*out]);
            ((state.numbers[of] - to).abs() > LEAST_HELD).then_some(Aim::Number { of, to })
        }
        Step::Limit { input, out, .. } => {
            let (of, to) = (*input, state.transforms[*out].rotation);
            let apart = state.transforms[of].rotation.distance(to);
            (apart.radians() > LEAST_HELD).then_some(Aim::Turned { of, to })
        }
        _ => None,
    }
}

/// Whether joints are moved the same way.
fn same(a: &[Transform], b: &[Transform]) -> bool {
    a.iter().zip(b).all(|(a, b)| {
        a.translation_m.distance(b.translation_m) <= SAME
            && a.rotation.distance(b.rotation).radians() <= SAME
    })
}

/// `(Σ c cᵀ)⁻¹ gap`: what columns are multiplied with to have the steps. Where columns do not span
/// everything, as of one number or where two axes are in line, what they do not span is left.
fn least_step<I: Iterator<Item = DVec3>>(columns: impl Fn() -> I, gap: DVec3) -> DVec3 {
    /// So much of the largest is added to all: far from what steps need, and never divided by zero.
    const LEAST: f64 = 1e-9;
    let outer = |c: DVec3| DMat3::from_cols(c * c.x, c * c.y, c * c.z);
    let sum = columns().map(outer).fold(DMat3::ZERO, |a, b| a + b);
    let size = sum.x_axis.x + sum.y_axis.y + sum.z_axis.z;
    if !(size > 0.0 && size.is_finite()) {
        return DVec3::ZERO;
    }
    let damped = sum + DMat3::from_diagonal(DVec3::splat(LEAST * size));
    let step = damped.inverse() * gap;
    if step.is_finite() { step } else { DVec3::ZERO }
}
