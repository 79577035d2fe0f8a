//! Labelled points over time.

use glam::DVec3;

use super::FrameRate;
use crate::math::Points;

/// A labelled point and its path. Where the marker was not seen, all three coordinates are NaN.
#[derive(Clone, Debug)]
pub struct Marker {
    /// Its label, as the file has it.
    pub name: String,
    /// One position per frame, in metres, world space.
    pub positions_m: Points,
}

impl Marker {
    /// The position in a frame, `None` where it was not seen or past the end.
    #[must_use]
    pub fn position_m(&self, frame: usize) -> Option<DVec3> {
        self.positions_m.get(frame).filter(|p| p.is_finite())
    }

    /// In how many frames it was not seen.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.positions_m.iter().filter(|p| !p.is_finite()).count()
    }
}

/// Markers over time: what a capture system records before a skeleton is fitted.
#[derive(Clone, Debug)]
pub struct Markers {
    /// How fast frames follow each other.
    pub rate: FrameRate,
    /// The time of each frame in seconds, as the file has it.
    pub times_s: Vec<f64>,
    /// The markers, in the file's order, each with one position per frame.
    pub markers: Vec<Marker>,
}

impl Markers {
    /// How many frames.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        self.times_s.len()
    }
}
