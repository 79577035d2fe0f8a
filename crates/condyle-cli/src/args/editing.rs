//! The flags of motion editing.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use condyle::anatomy::WorldAxis;
use condyle::edit::{Easing, Metric, Order, Scale};
use condyle::math::Angle;

use super::{FrameSpan, InterpolationName, Reading, Replacing, Writing, frame_span};

/// `condyle transform`.
#[derive(Debug, Args)]
pub(crate) struct Transform {
    /// Motion files; several go into a folder. An AMC needs its ASF
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// Output file; its extension decides the format, `-` is standard output. Or a folder, as FOLDER/,
    /// for each motion under its own name
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) change: Change,
    /// Between frames, with --speed: linear (slerp) or smooth (squad) [default: linear]
    #[arg(long, requires = "speed")]
    pub(crate) interpolation: Option<InterpolationName>,
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
    #[arg(long, value_name = "AXIS", allow_hyphen_values = true, value_parser = world_axis)]
    pub(crate) to_up: Option<WorldAxis>,
    /// Face this way in the first frame of the motion (behind a pose in front of it), in degrees: 0 is
    /// forward (+z if y is up), counter-clockwise seen from above. The motion turns about where it starts
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

/// Which way is up and what joints are called; the same for every command that has to know.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Figure")]
pub(crate) struct Standing {
    /// The axis that is up in the input: x, y, z, -x, -y or -z [default: as the motion shows; where that
    /// does not tell, as the figure stands at rest; else y]
    #[arg(long, value_name = "AXIS", allow_hyphen_values = true, value_parser = world_axis)]
    pub(crate) up: Option<WorldAxis>,
    #[command(flatten)]
    pub(crate) names: Names,
}

/// What joints are called.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Figure")]
pub(crate) struct Names {
    /// A table of joint names, for skeletons that are not known: condyle anatomy writes one. May be given
    /// for each of several skeletons
    #[arg(long, value_name = "MAP.json")]
    pub(crate) map: Vec<PathBuf>,
}

fn world_axis(text: &str) -> Result<WorldAxis, String> {
    WorldAxis::named(text).ok_or_else(|| "an axis is x, y, z, -x, -y or -z".to_owned())
}

/// `condyle trim`.
#[derive(Debug, Args)]
pub(crate) struct Trim {
    /// Motion files; several go into a folder. An AMC needs its ASF
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// Output file; its extension decides the format, `-` is standard output. Or a folder, as FOLDER/,
    /// for each motion under its own name
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

/// How motions are compared.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Matching")]
pub(crate) struct Comparing {
    /// What is compared
    #[arg(long, default_value = "quaternion")]
    metric: MetricName,
    /// How much joints count; the others count 1, or 0 with --joints. Roots count with --metric position
    /// only
    #[arg(long, value_name = "JOINT=W,…", value_delimiter = ',', allow_hyphen_values = true,
          value_parser = joint_weight)]
    joint_weights: Vec<(String, f64)>,
    /// Compare these joints only
    #[arg(long, value_name = "JOINT,…", value_delimiter = ',')]
    joints: Vec<String>,
}

impl Comparing {
    pub(crate) const fn metric(&self) -> Metric {
        match self.metric {
            MetricName::Euler => Metric::Euler,
            MetricName::Quaternion => Metric::Quaternion,
            MetricName::Position => Metric::Position,
        }
    }

    /// How much a joint counts.
    pub(crate) fn weight(&self, name: &str) -> f64 {
        let told = self.joint_weights.iter().find(|(joint, _)| joint == name);
        let listed = self.joints.is_empty() || self.joints.iter().any(|joint| joint == name);
        told.map_or(if listed { 1.0 } else { 0.0 }, |(_, weight)| *weight)
    }

    /// The joints that are named.
    pub(crate) fn named(&self) -> impl Iterator<Item = &str> {
        let weighted = self.joint_weights.iter().map(|(joint, _)| joint.as_str());
        weighted.chain(self.joints.iter().map(String::as_str))
    }
}

/// What of two poses is compared.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum MetricName {
    /// Euler angles as the file has them, wrapped
    Euler,
    /// The angle between the rotations of each joint
    Quaternion,
    /// Where joints are, seen from the figure
    Position,
}

/// `condyle match`.
#[derive(Debug, Args)]
pub(crate) struct Match {
    /// A motion to look for, and others to look in (else it is itself), with an ASF before AMCs. Those that
    /// cannot be compared are left out, and told
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// The frames of the first motion to look for, from A to B, both of them, from 0 [default: all]
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = frame_span)]
    pub(crate) frames: Option<FrameSpan>,
    /// How many matches to list
    #[arg(long, value_name = "N", default_value = "5", allow_hyphen_values = true,
          value_parser = match_count)]
    pub(crate) count: usize,
    /// How many frames apart matches in one motion are at least, at the rate of the first motion
    /// [default: as many as are looked for]
    #[arg(long, value_name = "N")]
    pub(crate) spacing: Option<usize>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) comparing: Comparing,
    #[command(flatten)]
    pub(crate) standing: Standing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `condyle connect`.
#[derive(Debug, Args)]
pub(crate) struct Connect {
    /// Two motions or more of one skeleton, in order, with an ASF before AMCs
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// Output file; its extension decides the format, `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write a page with the seams: poses, curves, and where the motions are alike
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) seam: SeamArgs,
    #[command(flatten)]
    pub(crate) comparing: Comparing,
    #[command(flatten)]
    pub(crate) limits: Inside,
    #[command(flatten)]
    pub(crate) standing: Standing,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How seams are made.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Seam")]
pub(crate) struct SeamArgs {
    /// How to get from one motion to the next
    #[arg(long, default_value = "blend")]
    pub(crate) method: BridgeName,
    /// Where to leave the one motion and enter the next
    #[arg(long, default_value = "forward")]
    pub(crate) matching: MatchingName,
    /// How many frames are compared, and blended [default: 0.4 s]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = match_count)]
    pub(crate) window: Option<usize>,
    /// With interpolate: how many frames are put between [default: 0.2 s]; with inertialize: over how many
    /// what the next motion differs by fades [default: 0.4 s]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = match_count)]
    pub(crate) frames: Option<usize>,
    /// With interpolate: straight on, as in the source, or on curves with the velocities of both
    /// [default: cubic]
    #[arg(long)]
    pub(crate) order: Option<OrderName>,
    /// With blend: how the second motion takes over [default: sine]
    #[arg(long, value_name = "EASING")]
    pub(crate) ease: Option<EasingName>,
    /// With blend: what of the roots is blended [default: steps]
    #[arg(long)]
    pub(crate) root: Option<RootBlendName>,
    /// Of each motion between two others keep at least so long
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = seconds)]
    pub(crate) keep: Option<f64>,
    /// Keep feet where they are while they are on the ground. Where one slides all the same it is told, and
    /// the exit code is 0
    #[arg(long)]
    pub(crate) plant: bool,
}

/// How to get from one motion to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BridgeName {
    /// New frames between the two
    Interpolate,
    /// Where they are alike, the one becomes the other
    Blend,
    /// The next at once, with what it differs by fading
    Inertialize,
}

impl BridgeName {
    /// As it is given.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Interpolate => "interpolate",
            Self::Blend => "blend",
            Self::Inertialize => "inertialize",
        }
    }
}

/// Where to leave the one motion and enter the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MatchingName {
    /// Play the one to its end, and enter the next where it is most like that
    Forward,
    /// Play the next from its beginning, and leave the one where it is most like that
    Backward,
    /// Where the two are most alike. A motion that follows itself is entered earlier than it is left
    Best,
}

/// What of two roots is blended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RootBlendName {
    /// How far they go and turn from frame to frame: speeds stay between those of the motions
    Steps,
    /// Where they are, from the same place on, as in the source
    Places,
}

/// How frames between two motions are found.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OrderName {
    /// Straight from the one pose to the other
    Linear,
    /// On curves with the velocities of both
    Cubic,
}

impl OrderName {
    pub(crate) const fn order(self) -> Order {
        match self {
            Self::Linear => Order::Linear,
            Self::Cubic => Order::Cubic,
        }
    }
}

fn joint_weight(text: &str) -> Result<(String, f64), String> {
    let told = || "a joint's weight is given as NAME=W, and not negative".to_owned();
    let (name, weight) = text.rsplit_once('=').ok_or_else(told)?;
    Ok((name.to_owned(), super::weight(weight).map_err(|_| told())?))
}

fn seconds(text: &str) -> Result<f64, String> {
    let good = |t: &f64| *t > 0.0 && *t <= 86_400.0;
    let time = text.parse().ok().filter(good);
    time.ok_or_else(|| "this is a time in seconds, above 0 and at most 86400".to_owned())
}

fn match_count(text: &str) -> Result<usize, String> {
    let good = |n: &usize| (1..=1_000_000).contains(n);
    let count = text.parse().ok().filter(good);
    count.ok_or_else(|| "this is a whole number from 1 to 1000000".to_owned())
}

/// `condyle mirror`.
#[derive(Debug, Args)]
pub(crate) struct Mirror {
    /// Motion files; several go into a folder. An AMC needs its ASF
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// Output file; its extension decides the format, `-` is standard output. Or a folder, as FOLDER/,
    /// for each motion under its own name
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Mirror in the plane that the figure faces along in the first frame of the motion, rather than the one of up and
    /// forward through the origin of the world: it starts from the same place in the same direction
    #[arg(long)]
    pub(crate) in_place: bool,
    #[command(flatten)]
    pub(crate) standing: Standing,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `condyle anatomy`.
#[derive(Debug, Args)]
pub(crate) struct Anatomy {
    /// The skeleton: a BVH, or an ASF with or without its AMC
    #[arg(required = true, value_name = "SKELETON")]
    pub(crate) files: Vec<PathBuf>,
    /// The table of joint names to write, to be read and mended; `-` is standard output
    #[arg(short, long, value_name = "MAP.json")]
    pub(crate) output: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) replacing: Replacing,
    #[command(flatten)]
    pub(crate) standing: Standing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `condyle retarget`.
#[derive(Debug, Args)]
pub(crate) struct Retarget {
    /// Motion files; several go into a folder. An AMC needs its ASF
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// The skeleton that the motion goes to: a BVH or an ASF. Its own motion matters where it does not
    /// stand at rest: it shows the axes of its joints
    #[arg(long, value_name = "SKELETON")]
    pub(crate) onto: PathBuf,
    /// Output file; its extension decides the format, `-` is standard output. Or a folder, as FOLDER/,
    /// for each motion under its own name
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// What places are multiplied by: legs (how high the target's pelvis is above its soles, to that of the
    /// source), none, or a number
    #[arg(long, value_name = "SCALE", default_value = "legs", allow_hyphen_values = true,
          value_parser = scale)]
    pub(crate) scale: Scale,
    /// Bend legs so that feet are where those of the source are, times the scale, and do not slide. Where
    /// one does not get there it is told, and the exit code is 0
    #[arg(long)]
    pub(crate) keep_feet: bool,
    /// Bend arms so that hands are where those of the source are, seen from the shoulders
    #[arg(long)]
    pub(crate) keep_hands: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) limits: Inside,
    #[command(flatten)]
    pub(crate) standing: Standing,
    /// The axis that is up in the skeleton that the motion goes to [default: as for --up]
    #[arg(long, value_name = "AXIS", help_heading = "Figure", allow_hyphen_values = true,
          value_parser = world_axis)]
    pub(crate) onto_up: Option<WorldAxis>,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

fn scale(text: &str) -> Result<Scale, String> {
    match text {
        "legs" => Ok(Scale::Legs),
        "none" => Ok(Scale::By(1.0)),
        _ => factor(text)
            .map(Scale::By)
            .map_err(|_| "a scale is legs, none, or a number above zero".to_owned()),
    }
}
