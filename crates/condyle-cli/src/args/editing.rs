//! The flags of motion editing.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use condyle::edit::{Easing, Ground};
use condyle::math::Angle;

use super::{FrameSpan, InterpolationName, Reading, Writing, frame_span};

/// `condyle transform`.
#[derive(Debug, Args)]
pub(crate) struct Transform {
    /// Input files: one motion, with its ASF before it if it is AMC
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// Output file; its extension decides the format, `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) change: Change,
    /// Between frames, with --speed: linear (slerp) or smooth (squad)
    #[arg(long, default_value = "linear")]
    pub(crate) interpolation: InterpolationName,
    #[command(flatten)]
    pub(crate) standing: Standing,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// What to change; in this order.
#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Change {
    /// Play it from the last frame to the first
    #[arg(long)]
    pub(crate) reverse: bool,
    /// So many times as fast, at the same frame rate
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true, value_parser = factor)]
    pub(crate) speed: Option<f64>,
    /// Make figure and motion so many times as large
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true, value_parser = factor)]
    pub(crate) scale: Option<f64>,
    /// Turn all of the figure so that this axis is up
    #[arg(long, value_name = "AXIS")]
    pub(crate) to_up: Option<AxisName>,
    /// Face this way in the first frame, in degrees: 0 is forward (+z if y is up), counter-clockwise
    /// seen from above. The motion turns about where it starts
    #[arg(long, value_name = "DEG", allow_hyphen_values = true, value_parser = angle,
          conflicts_with = "turn")]
    pub(crate) facing: Option<Angle>,
    /// Turn by so many degrees about where the motion starts, counter-clockwise seen from above
    #[arg(long, value_name = "DEG", allow_hyphen_values = true, value_parser = angle)]
    pub(crate) turn: Option<Angle>,
    /// Start here: the two coordinates of the ground in metres, x and z if y is up. Heights stay
    #[arg(long, value_name = "X,Z", allow_hyphen_values = true, value_parser = two_numbers,
          conflicts_with = "shift")]
    pub(crate) at: Option<[f64; 2]>,
    /// Move everything by this, in metres
    #[arg(long = "move", value_name = "X,Y,Z", allow_hyphen_values = true,
          value_parser = three_numbers)]
    pub(crate) shift: Option<[f64; 3]>,
}

/// Which way is up; the same for every command that has to know.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Figure")]
pub(crate) struct Standing {
    /// The axis that is up in the input [default: as the figure stands in its rest pose; y if its
    /// joints have names that are not known]
    #[arg(long, value_name = "AXIS")]
    pub(crate) up: Option<AxisName>,
}

/// An axis of the world.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum AxisName {
    /// X up, z forward
    X,
    /// Y up, z forward
    Y,
    /// Z up, −y forward
    Z,
}

impl AxisName {
    pub(crate) const fn ground(self) -> Ground {
        match self {
            Self::X => Ground::X_UP,
            Self::Y => Ground::Y_UP,
            Self::Z => Ground::Z_UP,
        }
    }
}

/// `condyle trim`.
#[derive(Debug, Args)]
pub(crate) struct Trim {
    /// Input files: one motion, with its ASF before it if it is AMC
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// Output file; its extension decides the format, `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) part: Part,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// What to keep: one of the two.
#[derive(Clone, Copy, Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Part {
    /// The frames from A to B, both of them, from 0; A.. goes to the end
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = frame_span)]
    pub(crate) frames: Option<FrameSpan>,
    /// The frames from A to B seconds; A.. goes to the end
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = time_span)]
    pub(crate) seconds: Option<(f64, Option<f64>)>,
}

/// `condyle blend`.
#[derive(Debug, Args)]
pub(crate) struct Blend {
    /// Two motions or more of one skeleton, with an ASF before AMCs
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// Output file; its extension decides the format, `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// How much each motion counts [default: all the same]
    #[arg(long, value_name = "W,…", value_delimiter = ',', allow_hyphen_values = true,
          value_parser = super::weight, conflicts_with = "ease")]
    pub(crate) weights: Vec<f64>,
    /// Go from the first of two motions to the second over the whole length
    #[arg(long, value_name = "EASING")]
    pub(crate) ease: Option<EasingName>,
    /// Joints, with all below them, that only the second and later motions count for: the others are the
    /// first's
    #[arg(long, value_name = "JOINT,…", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Make all motions as long as the first before, rather than end with the shortest
    #[arg(long)]
    pub(crate) stretch: bool,
    /// Leave the motions where they are, rather than start them all where the first does and facing as
    /// it does
    #[arg(long)]
    pub(crate) in_place: bool,
    #[command(flatten)]
    pub(crate) limits: Inside,
    #[command(flatten)]
    pub(crate) standing: Standing,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Limits that the result is to keep.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Inside {
    /// Bring the result inside the limits of this rig document or preset, without pops
    #[arg(long, value_name = "RIG.json")]
    pub(crate) rig: Option<PathBuf>,
}

/// How a weight goes from 0 to 1.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum EasingName {
    /// Evenly: velocities jump
    Linear,
    /// By a sine
    Sine,
    /// By a cubic
    Cubic,
    /// By a quintic: accelerations are continuous, too
    Quintic,
}

impl EasingName {
    pub(crate) const fn easing(self) -> Easing {
        match self {
            Self::Linear => Easing::Linear,
            Self::Sine => Easing::Sine,
            Self::Cubic => Easing::Cubic,
            Self::Quintic => Easing::Quintic,
        }
    }
}

fn factor(text: &str) -> Result<f64, String> {
    let good = |x: &f64| x.is_finite() && *x > 0.0;
    text.parse().ok().filter(good).ok_or_else(|| "a factor is a number above zero".to_owned())
}

fn angle(text: &str) -> Result<Angle, String> {
    let good = |x: &f64| x.is_finite();
    let degrees = text.parse().ok().filter(good).ok_or("an angle is a number of degrees")?;
    Ok(Angle::from_degrees(degrees))
}

fn numbers<const N: usize>(text: &str) -> Option<[f64; N]> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|n| n.trim().parse()).collect();
    numbers.ok().filter(|all| all.iter().all(|n| n.is_finite()))?.try_into().ok()
}

fn two_numbers(text: &str) -> Result<[f64; 2], String> {
    numbers(text).ok_or_else(|| "a place on the ground is two numbers, as 1.5,-2".to_owned())
}

fn three_numbers(text: &str) -> Result<[f64; 3], String> {
    numbers(text).ok_or_else(|| "a shift is three numbers, as 0,0.05,0".to_owned())
}

fn time_span(text: &str) -> Result<(f64, Option<f64>), String> {
    let told = || "times are given as A..B in seconds, or A.. to the end".to_owned();
    let (first, last) = text.split_once("..").ok_or_else(told)?;
    let good = |x: &f64| x.is_finite() && *x >= 0.0;
    let number = |text: &str| text.parse::<f64>().ok().filter(good).ok_or_else(told);
    let first = number(first)?;
    let last = if last.is_empty() { None } else { Some(number(last)?) };
    if last.is_some_and(|last| last < first) {
        return Err("the last time is before the first".to_owned());
    }
    Ok((first, last))
}
