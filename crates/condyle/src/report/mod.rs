//! An estimate as a page to read: what was found, how far to trust it, and the samples it is from.
//!
//! [`html`] gives the text of one HTML file that needs nothing beside it: no network, no fonts, no
//! scripts to be readable. The same input gives the same bytes on every machine; there is no date in it.
//! `docs/report.md` says what each picture shows.

mod card;
mod clinical;
mod column;
pub mod dials;
mod files;
mod interval;
mod page;
mod plot;
mod series;
mod space;
#[cfg(test)]
mod tests;
mod words;
mod written;

pub use written::{WrittenRange, written_ranges};

use crate::anatomy::Anatomy;
use crate::motion::Clip;
use crate::rig::Rig;
use crate::skeleton::Skeleton;

/// A clip, whose it is, and what it is called.
#[derive(Clone, Copy, Debug)]
pub struct Take<'a> {
    /// The name of its file.
    pub name: &'a str,
    /// Who moves. Rotations count from its rest pose.
    pub skeleton: &'a Skeleton,
    /// How.
    pub clip: &'a Clip,
}

/// What the reader should know besides.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The heading of the page.
    pub title: String,
    /// How it was estimated: pairs of what and how much.
    pub facts: Vec<(String, String)>,
    /// What to know about the takes together.
    pub warnings: Vec<String>,
}

/// The page for a rig that was estimated from some takes.
///
/// Joints are matched by name, and a joint's rotation in a take is `rest⁻¹ · local` with the rest of
/// the take's skeleton, as in [`estimate`](crate::estimate::estimate()). `anatomy` is that of the rig's
/// skeleton, where its names are known.
///
/// The size is bounded whatever the number of frames: curves are drawn by the least and the largest
/// value in each column of pixels, samples by the cells of a grid they are in. Of more than 120 joints
/// that move, and of more than 1000 joints, the page says how many it leaves out.
///
/// ```
/// use condyle::anatomy::Anatomy;
/// use condyle::estimate::{EstimateOptions, Take, estimate};
/// use condyle::report::{self, About};
/// use condyle::synth::{Figure, Options, Synth};
///
/// let synth = Synth::generate(&Figure::human(), &Options::default(), 1)?;
/// let (skeleton, clip) = (&synth.skeleton, &synth.clip);
/// let rig = estimate(&[Take { skeleton, clip }], &EstimateOptions::default())?.into_rig();
/// let takes = [report::Take { name: "synth", skeleton, clip }];
/// let page = report::html(&rig, &takes, Anatomy::of(skeleton).as_ref(), &About::default());
/// assert!(page.starts_with("<!DOCTYPE html>") && page.contains("LeftForeArm"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn html(rig: &Rig, takes: &[Take<'_>], anatomy: Option<&Anatomy>, about: &About) -> String {
    page::page(rig, takes, anatomy, about)
}
