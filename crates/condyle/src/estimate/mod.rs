//! Joint kinds and limits from motion.
#![allow(dead_code, reason = "in work")]

mod arcs;
mod glitches;
mod hinge;
mod kinds;
mod models;
mod moments;
mod noise;
mod samples;
mod universal;
