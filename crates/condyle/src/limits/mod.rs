//! Joint limits: which rotations a joint may take, how far a rotation is from that, and the nearest
//! one that it may take.
//!
//! A [`Limit`] is plain data, as a person writes it down and a rig document stores it.

mod edges;
mod error;
mod limit;
mod polygon;
mod sectors;
mod swing;
mod twist;

pub use error::{LimitError, LimitErrorKind};
pub use limit::{EulerBox, Limit, SwingTwistLimit};
pub use swing::{SwingLimit, SwingShape};
pub use twist::{TwistAt, TwistBounds, TwistLimit, TwistOffset};

/// A way in for the benchmark of what is not public yet. Not part of the interface.
#[doc(hidden)]
pub mod bench {
    use glam::DVec3;

    /// A prepared polygon.
    #[derive(Debug)]
    pub struct Polygon(super::polygon::Polygon);

    impl Polygon {
        /// Prepares it.
        #[must_use]
        pub fn new(corners: &[DVec3]) -> Option<Self> {
            super::polygon::Polygon::new(corners).ok().map(Self)
        }

        /// Whether it holds a unit vector.
        #[must_use]
        #[inline]
        pub fn contains(&self, d: DVec3) -> bool {
            self.0.contains(d)
        }

        /// The square of the straight distance to the boundary.
        #[must_use]
        #[inline]
        pub fn chord_squared(&self, d: DVec3) -> f64 {
            self.0.nearest(d).chord_squared
        }
    }
}
