//! Joint kinds and limits from motion.
#![allow(dead_code, reason = "in work")]

mod arcs;
mod cst;
mod glitches;
mod hinge;
mod jitter;
mod kinds;
mod models;
mod moments;
mod noise;
mod occupancy;
mod samples;
mod summary;
mod universal;

pub use cst::{SummaryError, SummaryErrorKind};
pub use summary::{MergeError, RestsDiffer, Summary};
