//! The flags of joint maps.

use std::path::PathBuf;

use clap::Args;

use condyle::motion::FrameRate;

use super::{Reading, Replacing, Standing, Writing, frame_rate};

/// `condyle dials`.
#[derive(Debug, Args)]
pub(crate) struct Dials {
    /// A rig document with joint maps, or a model: spine, shoulder, knee, body
    #[arg(value_name = "RIG")]
    pub(crate) rig: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the rig document instead, as to edit a model; `-` is standard output
    #[arg(short, long, value_name = "RIG.json", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replacing: Replacing,
}

/// `condyle pose`.
#[derive(Debug, Args)]
pub(crate) struct Pose {
    /// A rig document with joint maps, or a model: spine, shoulder, knee, body
    #[arg(value_name = "RIG")]
    pub(crate) rig: PathBuf,
    /// A dial and what it is set to, in degrees, metres, or neither: see condyle dials. Others stay at
    /// rest; none can be set twice
    #[arg(long, value_name = "DIAL=VALUE", value_parser = setting)]
    pub(crate) set: Vec<(String, f64)>,
    /// A table of dials over time, as condyle fit writes it, `-` for standard input; what --set says holds
    /// for all of its frames
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) dials: Option<PathBuf>,
    /// Look for the dials that bring these goals about, frame by frame, near what is set else: GOALS.json,
    /// see docs/ik.md. Exit code 1 if one is missed
    #[arg(long, value_name = "GOALS.json")]
    pub(crate) goals: Option<PathBuf>,
    /// Frames per second, where the table has no times or one frame
    #[arg(long, value_name = "FPS", value_parser = frame_rate, default_value = "30")]
    pub(crate) fps: FrameRate,
    /// Bring values that are beyond the range of their dial to its end
    #[arg(long)]
    pub(crate) clamp: bool,
    /// Output file: a motion of one frame or of those in the table, in the format of its extension, or the
    /// dials if it ends in .csv; `-` is standard output, for a motion with --to, and with --goals else for
    /// the dials
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Write a page with pictures of the pose
    #[arg(long, value_name = "PAGE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Print JSON instead of text: joints in the world, and matrices for skinning
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `condyle fit`.
#[derive(Debug, Args)]
pub(crate) struct Fit {
    /// Input files: one motion, with its ASF before it if it is AMC
    #[arg(required = true, value_name = "CLIP")]
    pub(crate) files: Vec<PathBuf>,
    /// A rig document with joint maps, or a model: spine, shoulder, knee, body
    #[arg(long, value_name = "RIG")]
    pub(crate) rig: PathBuf,
    /// Output file: the dials of each frame if it ends in .csv, else the motion that they make, in the
    /// format of its extension; `-` is standard output, for the dials or with --to for the motion
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Write the dials of each frame to this table as well
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) dials: Option<PathBuf>,
    /// Write a page with the dials over time, and some poses
    #[arg(long, value_name = "PAGE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) standing: Standing,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `lumbar.flexion=40`.
fn setting(text: &str) -> Result<(String, f64), String> {
    let (name, value) =
        text.split_once('=').ok_or("it should be DIAL=VALUE, as lumbar.flexion=40")?;
    let number = value.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let number = number.ok_or_else(|| format!("{value:?} is no number"))?;
    Ok((name.trim().to_owned(), number))
}
