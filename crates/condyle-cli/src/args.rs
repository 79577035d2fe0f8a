//! The flags. Help, completions and the man page are all made from this one table.

mod editing;
mod files;
mod maps;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use condyle::estimate::{
    BallModel, EstimateOptions, Method, Noise, Outliers, PaperOptions, Repair, Threshold,
};
use condyle::formats::{FilesStay, Format, LengthUnit, Mode, OutputUnit, ReadOptions};
use condyle::ik::{self, FollowOptions};
use condyle::math::Angle;
use condyle::motion::{FrameRate, Interpolation, MAX_RESAMPLED};
use condyle::presets;

pub(crate) use editing::{
    Anatomy, Blend, BridgeName, Comparing, Connect, EasingName, Inside, Match, MatchingName,
    Mirror, Names, OrderName, Retarget, RootBlendName, SeamArgs, Standing, Transform, Trim,
};
pub(crate) use files::{Files, Output, OutputKind, Replacing};
pub(crate) use maps::{Dials, Fit, Pose};

/// Joint kinds and joint limits from motion capture
#[derive(Debug, Parser)]
#[command(name = "condyle", version, about, max_term_width = 100, propagate_version = true)]
#[command(after_help = "Exit codes: 0 done; 1 done, and the answer is no; 2 bad input or usage.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what a file holds: skeleton, channels, frames, rate, units, bind pose, warnings
    #[command(after_help = "Examples:\n  condyle info walk.bvh\n  condyle info 02.asf 02_01.amc \
                            02_03.amc\n  condyle info --json *.bvh")]
    Info(Info),
    /// Convert between all readable and writable formats
    #[command(after_help = "Examples:\n  condyle convert walk.bvh walk.amc      also writes \
                            walk.asf\n  condyle convert 02.asf 02_01.amc walk.bvh\n  condyle \
                            convert walk.bvh walk.trc --end-sites\n  condyle convert walk.bvh - \
                            --to trc | head")]
    Convert(Convert),
    /// Change the frame rate, or take a number of samples over the whole clip
    #[command(after_help = "Examples:\n  condyle resample walk.bvh --fps 30 -o walk30.bvh\n  \
                            condyle resample walk.bvh --frames 100 --interpolation smooth -o \
                            walk100.bvh")]
    Resample(Resample),
    /// Take some frames of a motion; they keep their numbers
    #[command(after_help = "Examples:\n  condyle trim walk.bvh --frames 100..220 -o step.bvh\n  \
                            condyle trim 02.asf 02_01.amc --seconds 0.5..2 -o part.amc")]
    Trim(Trim),
    /// Move, turn, scale, reverse or retime a motion, or let another axis be up
    #[command(after_help = "Examples:\n  condyle transform walk.bvh --facing 90 --at 0,0 -o \
                            east.bvh\n  condyle transform walk.bvh --to-up z -o \
                            blender.bvh\n  condyle transform walk.bvh --speed 0.5 \
                            --interpolation smooth -o slow.bvh\n  condyle transform 02.asf \
                            02_01.amc --scale 1.1 -o tall.amc")]
    Transform(Transform),
    /// Mix motions of one skeleton frame by frame, or go from one into another
    #[command(after_help = "Examples:\n  condyle blend walk.bvh limp.bvh --weights 1,0.5 -o \
                            mixed.bvh\n  condyle blend walk.bvh run.bvh --ease sine --stretch -o \
                            faster.bvh\n  condyle blend walk.bvh wave.bvh --only RightShoulder \
                            -o waving.bvh --rig rig.json")]
    Blend(Blend),
    /// Left for right: the motion as a mirror would show it
    #[command(after_help = "Examples:\n  condyle mirror walk.bvh -o other.bvh\n  condyle mirror \
                            02.asf 02_01.amc --in-place -o other.amc")]
    Mirror(Mirror),
    /// What the joints of a skeleton are of the body, and which way is up; a table of names to edit
    #[command(after_help = "Examples:\n  condyle anatomy hero.bvh\n  condyle anatomy hero.bvh -o \
                            hero-names.json   then mend it\n  condyle mirror hero.bvh --map \
                            hero-names.json -o other.bvh\n\nExit code 1 if not all main joints are \
                            recognised.")]
    Anatomy(Anatomy),
    /// Bring a motion onto another skeleton, by the anatomy of both
    #[command(after_help = "Examples:\n  condyle retarget 02.asf 02_01.amc --onto hero.bvh -o \
                            hero_walk.bvh\n  condyle retarget walk.bvh --onto hero.bvh --keep-feet \
                            --rig hero.json -o hero_walk.bvh\n\nJoints are told by their names; \
                            docs/anatomy.md lists those that are known.")]
    Retarget(Retarget),
    /// Find where other motions are most like a piece of one
    #[command(
        after_help = "Examples:\n  condyle match step.bvh walk.bvh run.bvh\n  condyle match \
                            walk.bvh --frames 100..130 captures/*.bvh --count 10 --json\n  condyle \
                            match 02.asf 02_01.amc 02_03.amc --frames 0..29 --metric position"
    )]
    Match(Match),
    /// Put motions one after the other, without a jump
    #[command(after_help = "Examples:\n  condyle connect walk.bvh run.bvh -o both.bvh\n  condyle \
                            connect 02.asf 02_01.amc 02_03.amc -o both.amc --report seam.html\n  \
                            condyle connect walk.bvh turn.bvh walk.bvh --matching best --plant \
                            --rig rig.json -o all.bvh\n  condyle connect walk.bvh run.bvh --method \
                            interpolate --order linear -o both.bvh")]
    Connect(Connect),
    /// How each joint moves and how far, from motion: kinds and limits, into a rig document
    #[command(after_help = "Examples:\n  condyle estimate *.bvh -o rig.json\n  condyle estimate \
                            02.asf 02_01.amc 02_03.amc -o rig.json\n  condyle estimate walk.bvh \
                            -o rig.json --model ellipse --margin 2\n  condyle estimate poses.bvh \
                            -o rig.json --raw --outliers keep\n\nInto a rig that is there:\n  \
                            Entries with \"source\": \"edited\" stay, and so do unknown \
                            fields.\n  What would have changed is told.")]
    Estimate(Estimate),
    /// Estimate from whole folders: what is in them is summed up file by file, in little memory
    #[command(after_help = "Examples:\n  condyle corpus captures -o rig.json\n  condyle corpus \
                            subject1 subject2 -o rig.json --threads 4\n  condyle corpus captures \
                            -o rig.json --two-pass\n\nWhat is read:\n  .bvh, and .amc with its \
                            .asf, which is in the same folder: the only one there; else the\n  \
                            one with the longest name that the motion's begins with (02.asf for \
                            02_01.amc); else\n  the only one whose name begins with the same \
                            number (07-walk.asf for 07_01-walk.amc).\n\nWhat goes together:\n  \
                            The figure is that of most files, by the names and parents of their \
                            joints; of several,\n  that of the first path. Files that hang \
                            together differently, that share no joint with\n  it, or that cannot \
                            be read, are listed at the end with the reason, and the others \
                            count.\n  Neither the order of files nor the number of threads \
                            matters.\n  --two-pass is condyle estimate of the same files, those \
                            of the figure first, in the order\n  of their paths.")]
    Corpus(Corpus),
    /// Sum up motion for a later estimate: parts of a corpus, in files that can be merged
    #[command(
        after_help = "Examples:\n  condyle stats monday/*.bvh -o monday.cst\n  condyle stats \
                            02.asf 02_01.amc 02_03.amc -o 02.cst\n  condyle merge monday.cst \
                            02.cst -o rig.json"
    )]
    Stats(Stats),
    /// Estimate from summaries that stats wrote, in whatever order and grouping
    #[command(after_help = "Examples:\n  condyle merge monday.cst tuesday.cst -o rig.json\n  \
                            condyle merge monday.cst tuesday.cst -o week.cst    a summary of both")]
    Merge(Merge),
    /// Which angles of joints drive or bound each other, from motion: into the rig, with their bands
    #[command(
        after_help = "Examples:\n  condyle couple *.bvh --rig rig.json\n  condyle couple *.bvh \
                            --rig rig.json -o rig.json --report couplings.html\n  condyle couple \
                            02.asf 02_01.amc 02_03.amc --rig rig.json --json\n\nA rig for it comes from \
                            condyle estimate. Couplings with \"source\": \"edited\" stay.\nWhat is \
                            tested, and how: docs/couple.md."
    )]
    Couple(Couple),
    /// Pictures and figures of limits
    #[command(subcommand, after_help = limits_help())]
    Limits(LimitsCommand),
    /// Which joints leave their limits, in which frames, and how far; exit code 1 if any does
    #[command(after_help = "Examples:\n  condyle check walk.bvh --rig rig.json\n  condyle check \
                            02.asf 02_01.amc 02_03.amc --rig rig.json\n  condyle check --json \
                            *.bvh --rig rig.json")]
    Check(Check),
    /// Bring a motion inside the limits of its joints; what is inside keeps its numbers
    #[command(after_help = "Examples:\n  condyle clamp walk.bvh --rig rig.json -o \
                            inside.bvh\n  condyle clamp 02.asf 02_01.amc --rig rig.json -o \
                            inside.amc\n  condyle clamp walk.bvh --rig rig.json --smooth -o \
                            inside.bvh")]
    Clamp(Clamp),
    /// Do limits help? Find motion again from the paths of hands, feet, head and pelvis, with the limits
    /// of a rig and without, and compare with the capture
    #[command(after_help = "Examples:\n  condyle evaluate run.bvh --rig rig.json\n  condyle \
                            evaluate run.bvh --rig rig.json --fit walk.bvh jump.bvh\n  condyle \
                            evaluate 02.asf 02_03.amc --rig rig.json --report run.html\n\nWays that \
                            are compared, with the same solver, start and weights:\n  with limits, \
                            box limits (ZYZ angles, the paper's), Euler limits (least and \
                            greatest),\n  all near the mean pose; without limits, near the rest \
                            pose and near the mean pose.\n  Boxes, Euler limits and the mean pose \
                            are from the clips of --fit, or else from what\n  the rig allows.")]
    Evaluate(Evaluate),
    /// Change a motion so that hands, feet or other joints are where they should be; exit code 1 if one
    /// is not
    #[command(
        after_help = "Examples:\n  condyle ik walk.bvh --rig rig.json --goals goals.json -o \
                            reach.bvh\n  condyle ik 02.asf 02_01.amc --rig rig.json --goals \
                            goals.json -o reach.amc\n  condyle ik walk.bvh --rig rig.json --goals \
                            other.bvh --joints LeftHand,RightHand -o reach.bvh\n  condyle ik \
                            walk.bvh --rig rig.json --goals markers.trc --root free -o \
                            reach.bvh\n\nGoals:\n  { \"goals\": [ { \"joint\": \"LeftHand\", \
                            \"position_m\": [0.4, 1.2, 0.3] },\n               { \"joint\": \
                            \"RightFoot\", \"hold\": [[0, 40], [90, 130]] } ],\n    \"lock\": \
                            [\"Spine\"], \"root\": \"fixed\" }\n  A value holds for all \
                            frames, or is a list with one for each, null where there is no \
                            goal.\n  Kinds: position_m, orientation, direction, look_at, meet, \
                            hold. See docs/ik.md."
    )]
    Ik(Ik),
    /// What can be set in a rig with joint maps: its dials, with ranges and sources
    #[command(after_help = "Examples:\n  condyle dials spine\n  condyle dials rig.json \
                            --json\n  condyle dials body -o mine.json\n\nModels that come along: spine, shoulder, knee, body.")]
    Dials(Dials),
    /// Pose a figure by its dials
    #[command(after_help = "Examples:\n  condyle pose spine --set lumbar.flexion=40 \
                            --set thoracic.axial=-20 -o bent.bvh\n  condyle pose shoulder --set \
                            right.arm.elevation=120 --report shoulder.html\n  condyle pose body \
                            --dials keys.csv -o motion.bvh\n  condyle pose body --goals \
                            goals.json -o dials.csv\n\nAngles are in degrees, lengths in \
                            metres. What bounds and limits do not allow does not come out.")]
    Pose(Pose),
    /// Which dials come nearest to a motion, frame by frame
    #[command(
        after_help = "Examples:\n  condyle fit walk.bvh --rig body -o dials.csv\n  condyle fit \
                            02.asf 02_01.amc --rig body -o fitted.bvh --dials dials.csv --report \
                            fit.html\n\nA motion of another skeleton is brought onto that of the rig \
                            first, by the names of its\njoints; docs/anatomy.md lists those that are \
                            known, and --map takes others."
    )]
    Fit(Fit),
    /// No input needed: make a figure and motion with known truth, and estimate it
    #[command(after_help = "Example:\n  condyle demo -o demo")]
    Demo(Demo),
    /// Print shell completions
    #[command(after_help = "Example:\n  condyle completions bash > \
                            ~/.local/share/bash-completion/completions/condyle")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print a page of the manual
    #[command(after_help = "Examples:\n  condyle man > condyle.1 && man ./condyle.1\n  condyle \
                            man resample > condyle-resample.1\n  condyle man limits show > \
                            condyle-limits-show.1")]
    Man {
        /// The command whose page to print, else the overview
        command: Vec<String>,
    },
}

impl Command {
    /// Whether what it prints is JSON.
    pub(crate) fn json(&self) -> bool {
        match self {
            Self::Info(args) => args.json,
            Self::Limits(LimitsCommand::Show(args)) => args.json,
            Self::Couple(args) => args.json,
            Self::Check(args) => args.json,
            Self::Clamp(args) => args.json,
            Self::Evaluate(args) => args.json,
            Self::Ik(args) => args.json,
            Self::Dials(args) => args.json,
            Self::Pose(args) => args.json,
            Self::Fit(args) => args.json,
            Self::Match(args) => args.json,
            Self::Anatomy(args) => args.json,
            Self::Retarget(args) => args.json,
            Self::Connect(args) => args.json,
            Self::Estimate(args) => args.json,
            Self::Corpus(args) => args.json,
            Self::Stats(args) => args.json,
            Self::Merge(args) => args.json,
            Self::Demo(args) => args.json,
            Self::Convert(_)
            | Self::Trim(_)
            | Self::Mirror(_)
            | Self::Transform(_)
            | Self::Blend(_)
            | Self::Resample(_)
            | Self::Limits(LimitsCommand::Preset(_))
            | Self::Completions { .. }
            | Self::Man { .. } => false,
        }
    }
}

const LIMITS_EXAMPLES: &str = "Examples:\n  condyle limits show rig.json                     all \
                               joints in a table\n  condyle limits show rig.json LeftArm             \
                               one joint, with a picture\n  condyle limits show rig.json LeftArm \
                               -o arm.svg\n  condyle limits show rig.json -o sheet.svg        all \
                               joints in one picture\n  condyle limits show rig.json --json\n  \
                               condyle limits show hip                          a preset";

const PRESET_EXAMPLES: &str = "Examples:\n  condyle limits preset hip                        print \
                               a rig with the entry of a right hip\n  condyle limits preset hip \
                               --left --as LeftUpLeg -o hip.json\n  condyle check walk.bvh --rig \
                               hip.json";

/// A heading and the names of the presets.
fn preset_names() -> String {
    let mut lines = vec![String::new()];
    for name in presets::names() {
        let line = lines.last().map_or(0, String::len);
        if line + name.len() > 80 {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "  " } else { ", " });
            line.push_str(name);
        }
    }
    format!("Presets:\n{}", lines.join(",\n"))
}

fn limits_help() -> String {
    format!(
        "{LIMITS_EXAMPLES}\n  condyle limits preset hip --left --as LeftUpLeg\n\n{}",
        preset_names()
    )
}

fn show_help() -> String {
    format!("{LIMITS_EXAMPLES}\n\n{}", preset_names())
}

/// What to do with limits.
#[derive(Debug, Subcommand)]
pub(crate) enum LimitsCommand {
    /// Show what joints can do: as text, as JSON, or as a picture
    #[command(after_help = show_help())]
    Show(LimitsShow),
    /// Print the limit of a human joint from published ranges, as a rig to use or to copy from
    #[command(after_help = PRESET_EXAMPLES)]
    Preset(LimitsPreset),
}

/// `condyle limits show`.
#[derive(Debug, Args)]
pub(crate) struct LimitsShow {
    /// The rig document (RIG.json), or the name of a preset
    #[arg(value_name = "RIG")]
    pub(crate) rig: PathBuf,
    /// The joint to show in detail, else all in a table
    #[arg(value_name = "JOINT")]
    pub(crate) joint: Option<String>,
    /// Write a picture (SVG) instead; `-` is standard output
    #[arg(short, long, value_name = "FILE.svg")]
    pub(crate) output: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) replacing: Replacing,
    /// Turn repairs of the document into errors
    #[arg(long)]
    pub(crate) strict: bool,
}

/// `condyle limits preset`.
#[derive(Debug, Args)]
pub(crate) struct LimitsPreset {
    /// The preset, in capitals or not
    #[arg(value_name = "NAME", ignore_case = true, 
          value_parser = PossibleValuesParser::new(presets::names()))]
    pub(crate) name: String,
    /// For the left side: the mirror image of what is published, which is about the right
    #[arg(long)]
    pub(crate) left: bool,
    /// The name of the joint in your skeleton [default: that of the preset]
    #[arg(long = "as", value_name = "JOINT")]
    pub(crate) joint: Option<String>,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "RIG.json")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replacing: Replacing,
}

/// How to read files; the same for every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// Turn repairs into errors
    #[arg(long, conflicts_with = "lenient")]
    strict: bool,
    /// Read a broken file up to its last whole frame, and report what was dropped
    #[arg(long)]
    lenient: bool,
    /// Unit of lengths in files that declare none: m, cm, mm, in, cmu, or metres per unit
    #[arg(long, value_name = "UNIT")]
    source_units: Option<LengthUnit>,
    /// Frames per second of files that do not say (AMC) [default: 120]
    #[arg(long, value_name = "FPS", value_parser = frame_rate, allow_hyphen_values = true)]
    source_fps: Option<FrameRate>,
    /// Format of the input, where its content does not tell
    #[arg(long, value_name = "FORMAT")]
    from: Option<FormatName>,
    /// Map large files instead of reading them into memory; no program may change them meanwhile
    #[arg(long)]
    mmap: bool,
}

impl Reading {
    /// Whether repairs are errors.
    pub(crate) const fn strict(&self) -> bool {
        self.strict
    }

    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            mode: match (self.strict, self.lenient) {
                (true, _) => Mode::Strict,
                (_, true) => Mode::Lenient,
                _ => Mode::Repair,
            },
            source_unit: self.source_units,
            rate: self.source_fps,
            format: self.from.map(FormatName::format),
            threads: processors(),
            map: self.mmap.then(files_stay),
        }
    }
}

/// The promise that no file changes while it is read.
#[allow(unsafe_code, reason = "the promise is the user's")]
fn files_stay() -> FilesStay {
    // SAFETY: called only for `--mmap`, by which the user promises it; its help says so.
    unsafe { FilesStay::promise() }
}

/// A format by its extension.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FormatName {
    /// Acclaim skeleton
    Asf,
    /// Acclaim motion
    Amc,
    /// Biovision hierarchy
    Bvh,
    /// Marker table
    Trc,
}

impl FormatName {
    pub(crate) fn format(self) -> Format {
        match self {
            Self::Asf => Format::Asf,
            Self::Amc => Format::Amc,
            Self::Bvh => Format::Bvh,
            Self::Trc => Format::Trc,
        }
    }
}

/// `condyle info`.
#[derive(Debug, Args)]
pub(crate) struct Info {
    /// Motion files; an ASF serves the AMCs that follow it
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) standing: Standing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How to write files; the same for every command that writes motion.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Writing")]
pub(crate) struct Writing {
    /// Unit of lengths to write: native (the source's own numbers), m, cm, mm, in, cmu, or metres
    /// per unit [default: as the source if the format stays, else cm; mm for TRC]
    #[arg(long, value_name = "UNIT", value_parser = output_unit)]
    units: Option<OutputUnit>,
    /// TRC: also write the end sites, as `NAME_end`
    #[arg(long)]
    end_sites: bool,
    /// Replace what is in the way: one of the inputs, a file of another kind, or another skeleton of the
    /// name of the ASF that goes with an AMC
    #[arg(long)]
    force: bool,
    /// Format to write to standard output or into a folder [default: that of the input]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<FormatName>,
}

impl Writing {
    /// Whether what is in the way may be replaced.
    pub(crate) const fn force(&self) -> bool {
        self.force
    }

    /// The format that is asked for.
    pub(crate) fn format(&self) -> Option<Format> {
        self.to.map(FormatName::format)
    }

    pub(crate) fn options(&self) -> condyle::formats::WriteOptions {
        condyle::formats::WriteOptions {
            unit: self.units.unwrap_or_default(),
            end_sites: self.end_sites,
            replace_skeleton: self.force,
        }
    }
}

/// `condyle convert`.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// Motion files; several go into a folder. An AMC needs its ASF
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Output file; its extension decides the format, `-` is standard output. Or a folder, as FOLDER/,
    /// for each motion under its own name
    #[arg(required = true, value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `condyle resample`.
#[derive(Debug, Args)]
pub(crate) struct Resample {
    /// Motion files; several go into a folder. An AMC needs its ASF
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Output file; its extension decides the format, `-` is standard output. Or a folder, as FOLDER/,
    /// for each motion under its own name
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) to: NewFrames,
    /// Between frames: linear (slerp) or smooth (squad)
    #[arg(long, default_value = "linear")]
    pub(crate) interpolation: InterpolationName,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Which frames to make: one of the two.
#[derive(Clone, Copy, Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct NewFrames {
    /// New frame rate in frames per second
    #[arg(long, value_parser = frame_rate, allow_hyphen_values = true)]
    pub(crate) fps: Option<FrameRate>,
    /// Number of samples, evenly spread from the first frame to the last
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = frame_count)]
    pub(crate) frames: Option<u32>,
}

/// What happens between frames.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum InterpolationName {
    /// The frame before holds
    Step,
    /// Straight: slerp for rotations
    Linear,
    /// Curved: squad for rotations
    Smooth,
}

impl InterpolationName {
    pub(crate) fn interpolation(self) -> Interpolation {
        match self {
            Self::Step => Interpolation::Step,
            Self::Linear => Interpolation::Linear,
            Self::Smooth => Interpolation::Smooth,
        }
    }
}

/// The limits to use, and with how many threads; the same for every command that uses limits.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Limits {
    /// The rig document with the limits, or the name of a preset
    #[arg(long, value_name = "RIG.json")]
    pub(crate) rig: PathBuf,
    /// How many threads to use; the result is the same [default: as many as there are processors]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = thread_count)]
    threads: Option<NonZeroUsize>,
}

impl Limits {
    pub(crate) fn threads(&self) -> NonZeroUsize {
        self.threads.unwrap_or_else(processors)
    }
}

/// `condyle check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Motion files; an ASF serves the AMCs that follow it
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// Count those frames as well that the estimate of the rig left out as glitches, or as a pose in
    /// front of the motion: the rig lists the frames of its takes
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) limits: Limits,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `condyle couple`.
#[derive(Debug, Args)]
pub(crate) struct Couple {
    /// Motion files; an ASF serves the AMCs that follow it
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// Write the rig with its couplings; it may be the one of --rig. `-` is standard output
    #[arg(short, long, value_name = "OUT.json")]
    pub(crate) output: Option<PathBuf>,
    /// Write a page with every coupling: samples, function and band
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// The share of false couplings among those found, at most
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = false_share, allow_hyphen_values = true)]
    pub(crate) false_share: f64,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) replacing: Replacing,
    #[command(flatten)]
    pub(crate) limits: Limits,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `condyle evaluate`.
#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// Motion files that the rig was not made of; an ASF serves the AMCs that follow it
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// The motion that the rig was made of, for what it is compared with: boxes, Euler limits and the
    /// mean pose
    #[arg(long, value_name = "CLIP", num_args = 1..)]
    pub(crate) fit: Vec<PathBuf>,
    /// The joints whose paths are kept, separated by commas [default: hands, feet, head and pelvis; or
    /// the ends of all branches, where names are not known]
    #[arg(long, value_name = "JOINTS", value_delimiter = ',')]
    pub(crate) effectors: Vec<String>,
    /// The most frames of each clip, evenly spread
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) samples: u32,
    /// Write a page with pictures of poses: captured, and found with limits and without
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) replacing: Replacing,
    #[command(flatten)]
    pub(crate) names: Names,
    #[command(flatten)]
    pub(crate) limits: Limits,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `condyle clamp`.
#[derive(Debug, Args)]
pub(crate) struct Clamp {
    /// Motion files; several go into a folder. An AMC needs its ASF
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// Output file; its extension decides the format, `-` is standard output. Or a folder, as FOLDER/,
    /// for each motion under its own name
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Keep the motion free of pops: where the nearest allowed rotation jumps, go there inside the
    /// limit; ease into and out of limits. Frames nearby change as well
    #[arg(long)]
    pub(crate) smooth: bool,
    /// Bring frames inside as well that check passes since they are within the noise, and which else
    /// keep their numbers
    #[arg(long)]
    pub(crate) exact: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) limits: Limits,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `condyle ik`.
#[derive(Debug, Args)]
pub(crate) struct Ik {
    /// Input files: one motion, with its ASF before it if it is AMC
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// Output file; its extension decides the format, `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// What should be reached: a goals document, or a motion with as many frames (BVH, AMC, TRC), of
    /// which joints or markers are followed. Given twice for an ASF and its AMC; without ASF, an AMC is
    /// taken to be of the clip's skeleton
    #[arg(long, required = true, value_name = "GOALS.json")]
    pub(crate) goals: Vec<PathBuf>,
    /// The joints to follow if the goals are a motion: their centres are reached. For a TRC, markers
    /// called like joints [default: all that there are]
    #[arg(long, value_name = "JOINT,…", value_delimiter = ',')]
    pub(crate) joints: Vec<String>,
    /// More joints to hold as they are in the clip
    #[arg(long, value_name = "JOINT,…", value_delimiter = ',')]
    pub(crate) lock: Vec<String>,
    /// Whether the root may turn and move [default: as the goals say, else fixed]
    #[arg(long)]
    pub(crate) root: Option<RootName>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) solving: Solving,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How to look for poses.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Solving")]
pub(crate) struct Solving {
    /// The rig document with the limits, or the name of a preset
    #[arg(long, value_name = "RIG.json", required_unless_present = "no_limits")]
    pub(crate) rig: Option<PathBuf>,
    /// Let all joints turn freely, whatever the rig says
    #[arg(long)]
    pub(crate) no_limits: bool,
    /// How steps are found
    #[arg(long, default_value = "lm")]
    solver: SolverName,
    /// How much being near the clip's own pose counts, for the square of each joint's angle in radians;
    /// a goal counts 1 for the square of its miss in metres or radians
    #[arg(long, value_name = "WEIGHT", default_value = "1e-6", allow_hyphen_values = true,
          value_parser = weight)]
    posture: f64,
    /// The same for being near the frame before, for motion without jumps
    #[arg(long, value_name = "WEIGHT", default_value = "0", allow_hyphen_values = true,
          value_parser = weight)]
    smooth: f64,
    /// How often to start again from elsewhere in frames with a goal that is not reached [default: until
    /// it is, at most 32 times in a frame, and 4 times per frame of the clip]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = restart_count)]
    restarts: Option<u32>,
    /// Work on the frames from A to B only, both of them, from 0
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = frame_span)]
    pub(crate) frames: Option<FrameSpan>,
}

impl Solving {
    /// Without the frames, which a clip has or has not.
    pub(crate) fn options(&self) -> FollowOptions {
        FollowOptions {
            method: match self.solver {
                SolverName::Lm => ik::Method::LevenbergMarquardt,
                SolverName::Cg => ik::Method::ConjugateGradient,
            },
            posture: self.posture,
            smooth: self.smooth,
            restarts: self.restarts,
            frames: None,
        }
    }
}

/// Frames from one to another, or to the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameSpan {
    pub(crate) first: usize,
    pub(crate) last: Option<usize>,
}

/// How steps are found.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SolverName {
    /// Damped least squares (Levenberg and Marquardt)
    Lm,
    /// Conjugate gradients, as published: reach about as much, in more steps
    Cg,
}

/// What the root may do.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RootName {
    /// It stays as it is in the clip
    Fixed,
    /// It turns and moves
    Free,
}

impl RootName {
    pub(crate) const fn motion(self) -> ik::RootMotion {
        match self {
            Self::Fixed => ik::RootMotion::Fixed,
            Self::Free => ik::RootMotion::Free,
        }
    }
}

/// `condyle estimate`.
#[derive(Debug, Args)]
pub(crate) struct Estimate {
    /// Motion files of one figure; an ASF serves the AMCs that follow it
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The rig document to write, or to bring up to date; `-` is standard output
    #[arg(short, long, value_name = "RIG.json")]
    pub(crate) output: PathBuf,
    /// Replace a rig that is there, edited entries and all
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Count angles from this pose and not from the files' rest pose: a frame of the first clip, from
    /// 0, or a file, whose first frame is taken, or its rest pose if it has no motion. (A file whose
    /// name is a number: ./12)
    #[arg(long, value_name = "FRAME|FILE")]
    pub(crate) bind: Option<PathBuf>,
    /// Also write a page to read: what was found, how far to trust it, with pictures of every joint
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Estimate left and right from the samples of both, as mirror images, and what is in the middle
    /// from its samples and their images. For figures whose joints have known names
    #[arg(long)]
    pub(crate) symmetrise: bool,
    /// Also print how much of the published ranges of people's joints the clips explore
    #[arg(long)]
    pub(crate) norms: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) replacing: Replacing,
    #[command(flatten)]
    pub(crate) names: Names,
    #[command(flatten)]
    pub(crate) how: Estimating,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `condyle corpus`.
#[derive(Debug, Args)]
pub(crate) struct Corpus {
    /// Folders to walk; a file stands for itself
    #[arg(required = true, value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
    /// The rig document to write, or to bring up to date; `-` is standard output
    #[arg(short, long, value_name = "RIG.json")]
    pub(crate) output: PathBuf,
    /// Read all files again for the exact answer, instead of within 1°. All motion is then held in
    /// memory at once, about 100 bytes for each joint and frame; see --memory
    #[arg(long)]
    pub(crate) two_pass: bool,
    /// How much memory --two-pass may take, in gigabytes
    #[arg(long, value_name = "GB", default_value = "4", allow_hyphen_values = true,
          value_parser = gigabytes, requires = "two_pass")]
    pub(crate) memory: f64,
    /// Estimate left and right from the samples of both, as mirror images, and what is in the middle
    /// from its samples and their images. For figures whose joints have known names
    #[arg(long, requires = "two_pass")]
    pub(crate) symmetrise: bool,
    /// Replace a rig that is there, edited entries and all
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) replacing: Replacing,
    #[command(flatten)]
    pub(crate) names: Names,
    #[command(flatten)]
    pub(crate) how: Estimating,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `condyle stats`.
#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Motion files of one figure; an ASF serves the AMCs that follow it
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The summary to write; `-` is standard output
    #[arg(short, long, value_name = "PART.cst")]
    pub(crate) output: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) replacing: Replacing,
    #[command(flatten)]
    pub(crate) sampling: Sampling,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

impl Stats {
    pub(crate) fn options(&self) -> EstimateOptions {
        self.sampling.set(self.common.options())
    }
}

/// `condyle merge`.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Summaries of one figure, as `condyle stats` writes them
    #[arg(required = true, value_name = "PART")]
    pub(crate) parts: Vec<PathBuf>,
    /// The rig document to write, or to bring up to date, or one summary of all (.cst); `-` is the
    /// rig on standard output
    #[arg(short, long, value_name = "RIG.json")]
    pub(crate) output: PathBuf,
    /// Replace a rig that is there, edited entries and all
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Turn repairs of a rig that is there into errors
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) replacing: Replacing,
    #[command(flatten)]
    shaping: Shaping,
    #[command(flatten)]
    common: Common,
}

impl Merge {
    pub(crate) fn options(&self) -> EstimateOptions {
        self.shaping.set(self.common.options())
    }
}

/// What every kind of estimate has to know.
#[derive(Clone, Debug, Args)]
struct Common {
    /// The noise in degrees, one standard deviation about each axis, or auto: as the motion shows
    #[arg(long, value_name = "DEG", default_value = "auto", allow_hyphen_values = true,
          value_parser = noise)]
    noise: Noise,
    /// How many threads to use; the result is the same [default: as many as there are processors]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = thread_count)]
    threads: Option<NonZeroUsize>,
}

impl Common {
    fn options(&self) -> EstimateOptions {
        EstimateOptions {
            noise: self.noise,
            threads: self.threads.unwrap_or_else(processors),
            ..EstimateOptions::default()
        }
    }
}

/// What is taken of each clip.
#[derive(Clone, Debug, Args)]
pub(crate) struct Sampling {
    /// What happens to frames that are wrong altogether
    #[arg(long, default_value = "reject")]
    outliers: OutliersName,
    /// Have every accepted sample inside as it is, not where it is without noise
    #[arg(long)]
    raw: bool,
    /// Take so many samples of each clip, evenly spread, instead of its frames
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = sample_count)]
    pub(crate) samples: Option<u32>,
}

impl Sampling {
    fn set(&self, options: EstimateOptions) -> EstimateOptions {
        EstimateOptions { outliers: self.outliers.outliers(), raw: self.raw, ..options }
    }
}

/// What limits look like.
#[derive(Clone, Debug, Args)]
struct Shaping {
    /// How the limits of ball joints are described
    #[arg(long, default_value = "auto")]
    model: ModelName,
    /// The most corners of a polygon; it has as few as keep it within 0.35° of the outline
    #[arg(long, value_name = "N", default_value = "64", allow_hyphen_values = true,
          value_parser = corner_count)]
    corners: usize,
    /// Widen every limit by so many degrees
    #[arg(long, value_name = "DEG", default_value = "0", allow_hyphen_values = true,
          value_parser = margin)]
    margin: Angle,
    /// Where a joint starts whose rest pose its limit does not allow
    #[arg(long, default_value = "nearest")]
    repair: RepairName,
}

impl Shaping {
    fn set(&self, options: EstimateOptions) -> EstimateOptions {
        EstimateOptions {
            ball: self.model.model(),
            corners: self.corners,
            margin: self.margin,
            repair: self.repair.repair(),
            ..options
        }
    }
}

/// How to estimate.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Estimating")]
pub(crate) struct Estimating {
    /// How kinds and limits are found
    #[arg(long, default_value = "robust")]
    method: MethodName,
    #[command(flatten)]
    shaping: Shaping,
    /// The share of the accepted samples to have inside, above 0 and at most 1
    #[arg(long, value_name = "Q", default_value = "1", allow_hyphen_values = true,
          value_parser = coverage)]
    coverage: f64,
    #[command(flatten)]
    pub(crate) sampling: Sampling,
    /// For --method paper: the standard deviation in degrees from which an axis counts, or the share
    /// of the variation that axes have to explain, as 95%
    #[arg(long, value_name = "DEG|SHARE%", allow_hyphen_values = true, value_parser = threshold)]
    threshold: Option<Threshold>,
    #[command(flatten)]
    common: Common,
}

impl Estimating {
    pub(crate) fn options(&self) -> EstimateOptions {
        EstimateOptions {
            method: match self.method {
                MethodName::Robust => Method::Robust,
                MethodName::Paper => Method::Paper,
            },
            coverage: self.coverage,
            ends: true,
            paper: PaperOptions {
                threshold: self.threshold.unwrap_or_default(),
                ..PaperOptions::default()
            },
            ..self.shaping.set(self.sampling.set(self.common.options()))
        }
    }

    /// The options that were given and that the method does not have.
    pub(crate) fn idle(&self) -> Vec<&'static str> {
        let given = match self.method {
            MethodName::Robust => vec![("--threshold", self.threshold.is_some())],
            MethodName::Paper => vec![
                ("--model", !matches!(self.shaping.model, ModelName::Auto | ModelName::Box)),
                ("--noise", self.common.noise != Noise::Auto),
                ("--coverage", self.coverage < 1.0),
                ("--raw", self.sampling.raw),
                ("--margin", self.shaping.margin.radians() > 0.0),
            ],
        };
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }
}

/// Where a joint starts whose rest pose is not allowed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RepairName {
    /// At the sampled pose nearest to rest
    Nearest,
    /// In the middle of every range
    Middle,
    /// At the mean of the samples where that is allowed, else as nearest
    Mean,
}

impl RepairName {
    const fn repair(self) -> Repair {
        match self {
            Self::Nearest => Repair::Nearest,
            Self::Middle => Repair::MidRange,
            Self::Mean => Repair::Mean,
        }
    }
}

/// How kinds and limits are found.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MethodName {
    /// Reckons with noise, glitches and rest poses off the orbit; tells universal joints from balls
    Robust,
    /// Step by step as published: fixed, hinge or ball, the ball as a ZYZ box
    Paper,
}

/// How the limits of ball joints are described.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ModelName {
    /// An ellipse where it is nearly as tight as a polygon, else a polygon
    Auto,
    /// Three Euler angles ZYZ, each in an arc
    Box,
    /// The smallest ellipse of directions, and an arc of twist
    Ellipse,
    /// The boundary of the directions, and twist as it depends on them
    Polygon,
}

impl ModelName {
    const fn model(self) -> BallModel {
        match self {
            Self::Auto => BallModel::Auto,
            Self::Box => BallModel::Box,
            Self::Ellipse => BallModel::Ellipse,
            Self::Polygon => BallModel::Polygon,
        }
    }
}

/// What happens to frames that are wrong altogether.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OutliersName {
    /// They are found, counted and left out
    Reject,
    /// All frames count
    Keep,
}

impl OutliersName {
    const fn outliers(self) -> Outliers {
        match self {
            Self::Reject => Outliers::Reject,
            Self::Keep => Outliers::Keep,
        }
    }
}

/// `condyle demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Print the tables as JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder to write to; made if it is not there
    #[arg(short, long, value_name = "DIR", default_value = "condyle-demo")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) replacing: Replacing,
}

fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn thread_count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "a number of threads is a whole number above zero".to_owned())
}

fn frame_rate(text: &str) -> Result<FrameRate, String> {
    text.parse::<f64>()
        .ok()
        .and_then(FrameRate::from_fps)
        .ok_or_else(|| "a frame rate is a number above zero".to_owned())
}

fn frame_count(text: &str) -> Result<u32, String> {
    let good = |n: &u32| (1..=MAX_RESAMPLED).contains(n);
    let count = text.parse().ok().filter(good);
    count.ok_or_else(|| format!("a number of frames is a whole number from 1 to {MAX_RESAMPLED}"))
}

fn sample_count(text: &str) -> Result<u32, String> {
    let good = |n: &u32| (2..=MAX_RESAMPLED).contains(n);
    let count = text.parse().ok().filter(good);
    count.ok_or_else(|| format!("a number of samples is a whole number from 2 to {MAX_RESAMPLED}"))
}

fn weight(text: &str) -> Result<f64, String> {
    let good = |w: &f64| *w >= 0.0 && w.is_finite();
    text.parse().ok().filter(good).ok_or_else(|| "a weight is a number, not negative".to_owned())
}

fn restart_count(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|n| *n <= 1000);
    count.ok_or_else(|| "a number of restarts is a whole number from 0 to 1000".to_owned())
}

fn frame_span(text: &str) -> Result<FrameSpan, String> {
    let told = || "frames are given as A..B, the first and the last, or A.. to the end".to_owned();
    let (first, last) = text.split_once("..").ok_or_else(told)?;
    let number = |text: &str| text.parse::<usize>().map_err(|_| told());
    let first = number(first)?;
    let last = if last.is_empty() { None } else { Some(number(last)?) };
    if last.is_some_and(|last| last < first) {
        return Err("the last frame is before the first".to_owned());
    }
    Ok(FrameSpan { first, last })
}

fn threshold(text: &str) -> Result<Threshold, String> {
    let told = || {
        "a threshold is a number of degrees from 0 to 90, or a share of the variation as 95%"
            .to_owned()
    };
    match text.strip_suffix('%') {
        Some(share) => {
            let share: f64 = share.trim().parse().map_err(|_| told())?;
            if share > 0.0 && share <= 100.0 {
                Ok(Threshold::Share(0.01 * share))
            } else {
                Err(told())
            }
        }
        None => angle(text, 90.0).map(Threshold::Absolute).ok_or_else(told),
    }
}

fn corner_count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|n| (4..=1000).contains(n));
    count.ok_or_else(|| "a number of corners is a whole number from 4 to 1000".to_owned())
}

fn noise(text: &str) -> Result<Noise, String> {
    if text == "auto" {
        return Ok(Noise::Auto);
    }
    angle(text, 90.0).map(Noise::Given).ok_or_else(|| {
        "noise is a number of degrees from 0 to 90, or auto: as the motion shows".to_owned()
    })
}

fn margin(text: &str) -> Result<Angle, String> {
    angle(text, 180.0).ok_or_else(|| "a margin is a number of degrees from 0 to 180".to_owned())
}

fn angle(text: &str, most: f64) -> Option<Angle> {
    let degrees: f64 = text.parse().ok()?;
    (0.0..=most).contains(&degrees).then(|| Angle::from_degrees(degrees))
}

fn gigabytes(text: &str) -> Result<f64, String> {
    let good = |n: &f64| *n > 0.0 && n.is_finite();
    text.parse()
        .ok()
        .filter(good)
        .ok_or_else(|| "memory is a number of gigabytes above 0".to_owned())
}

fn coverage(text: &str) -> Result<f64, String> {
    let good = |share: &f64| *share > 0.0 && *share <= 1.0;
    let share = text.parse().ok().filter(good);
    share.ok_or_else(|| "a coverage is a share above 0 and at most 1, such as 0.99".to_owned())
}

fn false_share(text: &str) -> Result<f64, String> {
    let good = |share: &f64| *share > 0.0 && *share < 1.0;
    let share = text.parse().ok().filter(good);
    share.ok_or_else(|| "a share of false couplings is between 0 and 1, such as 0.01".to_owned())
}

fn output_unit(text: &str) -> Result<OutputUnit, String> {
    if text == "native" {
        return Ok(OutputUnit::Native);
    }
    text.parse().map(OutputUnit::Unit).map_err(|e| format!("{e}, or native"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_of_flags_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command) {
            for command in command.get_subcommands() {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("condyle "), "{} has no example", command.get_name());
                check(command);
            }
        }
        check(&Cli::command());
    }
}
