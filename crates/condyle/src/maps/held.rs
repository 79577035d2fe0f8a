//! What keeps joints from going where the dials say, in one frame and over many.

use std::fmt;

use glam::DVec3;

use super::channels::DialClip;
use super::model::Unit;
use super::network::{Network, Step};
use super::state::State;
use super::transform::Transform;
use crate::math::{Angle, SwingAxes, SwingTwist, trig};

/// Something that keeps a joint from going where the dials say. As text it is a sentence without its end:
/// `right_lift holds right.clavicle.elevation at 15.00 deg instead of 0.00`.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    /// The part that does.
    pub part: &'a str,
    /// How far.
    pub by: By<'a>,
    /// The dials that what is held depends on.
    pub dials: &'a [usize],
}

/// What is held back by less, in radians, metres or neither, is so by rounding.
pub(super) const LEAST_HELD: f64 = 1e-7;

/// How far something is held back.
#[derive(Clone, Copy, Debug)]
pub enum By<'a> {
    /// A number that is kept by a bound: radians, metres, or neither.
    Bound {
        /// What the number is called.
        number: &'a str,
        /// What it would be,
        wanted: f64,
        /// and what it is.
        given: f64,
        /// What it counts.
        unit: Unit,
    },
    /// A rotation that is kept by a limit.
    Limit {
        /// From what it would be to what it is.
        apart: Angle,
        /// How far the bone points from where it would, and how far it is rolled from how it would be,
        /// as the limit counts both; `None` of a limit that has no bone.
        of_bone: Option<[Angle; 2]>,
    },
    /// A bone that should slide and does not reach.
    Slide {
        /// Its joint.
        joint: &'a str,
        /// The joint that has the ellipsoid.
        on: &'a str,
        /// How far each of its two points is from the ellipsoid, in metres.
        off_m: [f64; 2],
    },
}

impl Held<'_> {
    /// How far, in radians, metres or neither.
    #[must_use]
    pub fn size(&self) -> f64 {
        match self.by {
            By::Bound { wanted, given, .. } => (wanted - given).abs(),
            By::Limit { apart, .. } => apart.radians(),
            By::Slide { off_m, .. } => off_m[0].max(off_m[1]),
        }
    }
}

impl fmt::Display for Held<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self.part;
        match self.by {
            By::Bound { number, wanted, given, unit } => {
                let [wanted, given] = [wanted, given].map(|x| {
                    Fixed(x / unit.of_document(), if unit == Unit::Length { 4 } else { 2 })
                });
                write!(f, "{part} holds {number} at {given}")?;
                if !unit.symbol().is_empty() {
                    write!(f, " {}", unit.symbol())?;
                }
                write!(f, " instead of {wanted}")
            }
            By::Limit { apart, of_bone } => {
                let told = |angle: Angle| Fixed(angle.degrees(), 2);
                // What is below what is told is not worth a word, unless there is nothing else.
                let counts = |angle: &Angle| angle.degrees() >= 0.005;
                match of_bone {
                    Some([points, rolls]) if counts(&points) && counts(&rolls) => write!(
                        f,
                        "{part} holds where the bone points, {}° from what was set, and its roll, {}° from it",
                        told(points),
                        told(rolls)
                    ),
                    Some([points, _]) if counts(&points) => {
                        write!(
                            f,
                            "{part} holds where the bone points, {}° from what was set",
                            told(points)
                        )
                    }
                    Some([_, rolls]) if counts(&rolls) => {
                        write!(
                            f,
                            "{part} holds the bone's roll, {}° from what was set",
                            told(rolls)
                        )
                    }
                    _ => write!(f, "{part} holds the rotation, {}° from what was set", told(apart)),
                }
            }
            By::Slide { joint, on, off_m } => {
                let [first, second] = off_m.map(|m| Fixed(1e3 * m, 2));
                write!(
                    f,
                    "{part} cannot bring {joint} onto what it slides on at {on}: its points are {first} and \
                     {second} mm off"
                )
            }
        }
    }
}

/// So many places, and zero without a sign.
struct Fixed(f64, usize);

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value, places) = *self;
        let text = format!("{value:.places$}");
        let bare = text.trim_start_matches('-');
        let zero = bare.bytes().all(|b| b == b'0' || b == b'.');
        f.write_str(if zero { bare } else { &text })
    }
}

/// What a part holds in some frames of a motion.
#[derive(Clone, Copy, Debug)]
pub struct HeldOver<'a> {
    /// Where it holds most.
    pub worst: Held<'a>,
    /// That frame, the first if there are several.
    pub worst_frame: usize,
    /// In how many frames it holds.
    pub frames: usize,
}

impl Network {
    /// What keeps joints from going where the dials say: bounds that hold a number, limits that hold a
    /// rotation, and bones that should slide and do not reach.
    pub fn held<'a>(&'a self, state: &State) -> impl Iterator<Item = Held<'a>> {
        let both = self.steps.iter().zip(&self.names);
        both.filter_map(|(step, part)| {
            let (by, dials) = self.held_by(step, state)?;
            let held = Held { part, by, dials };
            (held.size() > LEAST_HELD).then_some(held)
        })
    }

    /// How far a step is from what its inputs say, and the dials of what is held.
    fn held_by<'a>(&'a self, step: &'a Step, state: &State) -> Option<(By<'a>, &'a [usize])> {
        match step {
            Step::Bound { passive, name, unit, out, .. } => {
                let (wanted, given) = (state.numbers[passive.of], state.numbers[*out]);
                let by = By::Bound { number: name, wanted, given, unit: *unit };
                Some((by, self.numbers.of(passive.of)))
            }
            Step::Limit { input, center, axes, out, .. } => {
                let [wanted, given] = [*input, *out].map(|i| state.transforms[i].rotation);
                let apart = wanted.distance(given);
                let of_bone = axes.as_ref().map(|axes| {
                    let own = [wanted, given].map(|rotation| center.inverse() * rotation);
                    bone_apart(own.map(|m| (m * axes.bone(), SwingTwist::from_rotation(m, axes))))
                });
                Some((By::Limit { apart, of_bone }, self.transforms.of(*input)))
            }
            Step::Slide { input, path, slide, memory, out, .. } => {
                let slid = state.slides[*memory].filter(|slid| slid.touches != [true, true])?;
                let mut bone = Transform::IDENTITY;
                for above in path {
                    bone = bone * above.rest;
                    if let Some(driver) = &above.driver {
                        bone = bone * state.transforms[driver.of];
                    }
                }
                if let Some(input) = input {
                    bone = bone * state.transforms[input.of];
                }
                let off = |k: usize| match slid.touches[k] {
                    true => 0.0,
                    false => slide.off_m(bone.apply(slid.rotation * slid.points_m[k])),
                };
                let [joint, on] = &self.slide_names[*memory];
                let by = By::Slide { joint, on, off_m: [off(0), off(1)] };
                Some((by, self.transforms.of(*out)))
            }
            _ => None,
        }
    }

    /// What is held over a motion, part by part, in the order in which parts are evaluated.
    ///
    /// # Panics
    ///
    /// If the dials are of another network.
    #[must_use]
    pub fn held_over(&self, clip: &DialClip) -> Vec<HeldOver<'_>> {
        let mut state = self.state();
        let mut all: Vec<Option<HeldOver<'_>>> = vec![None; self.steps.len()];
        for frame in 0..clip.len() {
            self.evaluate_values(clip.frame(frame), &mut state);
            for (k, step) in self.steps.iter().enumerate() {
                let Some((by, dials)) = self.held_by(step, &state) else { continue };
                let held = Held { part: &self.names[k], by, dials };
                if held.size() <= LEAST_HELD {
                    continue;
                }
                let one = HeldOver { worst: held, worst_frame: frame, frames: 0 };
                let of = all[k].get_or_insert(one);
                of.frames += 1;
                if held.size() > of.worst.size() {
                    (of.worst, of.worst_frame) = (held, frame);
                }
            }
        }
        all.into_iter().flatten().collect()
    }

    /// What becomes of each dial: the number that is left of it after all bounds that hold it. `None` of a
    /// dial whose pose is not that of any number in its place: something that is made of it is held.
    #[must_use]
    pub fn given(&self, state: &State) -> Vec<Option<f64>> {
        let mut given: Vec<Option<f64>> = state.dials.iter().map(|value| Some(*value)).collect();
        // The number that a dial has become so far. The first numbers are the dials.
        let mut now: Vec<usize> = (0..self.dials.len()).collect();
        for step in &self.steps {
            let Some((by, dials)) = self.held_by(step, state) else { continue };
            let held = Held { part: "", by, dials };
            if let Step::Bound { passive, out, .. } = step
                && let Some(dial) = now.iter().position(|of| *of == passive.of)
            {
                now[dial] = *out;
                if let (Some(value), true) = (&mut given[dial], held.size() > LEAST_HELD) {
                    *value = state.numbers[*out];
                }
            } else if held.size() > LEAST_HELD {
                dials.iter().for_each(|dial| given[*dial] = None);
            }
        }
        given
    }
}

/// The angles between two directions, and between the twists about them.
fn bone_apart([a, b]: [(DVec3, SwingTwist); 2]) -> [Angle; 2] {
    let across = a.0.cross(b.0).length();
    let points = trig::atan2(across, a.0.dot(b.0));
    let rolls = Angle::from_radians(a.1.twist.radians() - b.1.twist.radians()).wrapped();
    [Angle::from_radians(points), rolls.abs()]
}

/// The axes of a limit that has a bone.
pub(super) const fn axes_of(limit: &crate::limits::Limit) -> Option<SwingAxes> {
    match limit {
        crate::limits::Limit::SwingTwist(of) => Some(of.axes),
        _ => None,
    }
}
