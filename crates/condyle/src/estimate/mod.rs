//! Joint kinds and limits from motion.
#![allow(dead_code, reason = "in work")]

mod arcs;
mod bind;
mod glitches;
mod hinge;
mod kinds;
mod models;
mod moments;
mod noise;
mod paper;
mod samples;
mod universal;
