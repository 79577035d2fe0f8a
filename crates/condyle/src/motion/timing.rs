//! Frames and frame rates.

/// One time sample of a clip, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameIndex(pub u32);

impl FrameIndex {
    /// As an index into columns.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

/// How fast frames follow each other. Keeps the frame time as the file wrote it.
///
/// ```
/// use condyle::motion::FrameRate;
/// let rate = FrameRate::from_frame_time(0.0083333).unwrap();
/// assert_eq!(rate.frame_time_s(), 0.0083333);
/// assert_eq!(rate.nominal_fps(), 120.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameRate {
    frame_time_s: f64,
}

impl FrameRate {
    /// From seconds per frame; `None` unless positive and finite, with a finite inverse.
    #[must_use]
    pub fn from_frame_time(seconds: f64) -> Option<Self> {
        let good = seconds.is_finite() && seconds > 0.0 && (1.0 / seconds).is_finite();
        good.then_some(Self { frame_time_s: seconds })
    }

    /// From frames per second; `None` unless positive and finite.
    #[must_use]
    pub fn from_fps(fps: f64) -> Option<Self> {
        if !(fps.is_finite() && fps > 0.0) {
            return None;
        }
        Self::from_frame_time(1.0 / fps)
    }

    /// Seconds from one frame to the next.
    #[must_use]
    pub const fn frame_time_s(self) -> f64 {
        self.frame_time_s
    }

    /// Frames per second, exactly the inverse of the frame time.
    #[must_use]
    pub fn fps(self) -> f64 {
        1.0 / self.frame_time_s
    }

    /// The whole number of frames per second that the frame time stands for, if it is one to within
    /// the rounding files show (2 parts in 10,000; `.03333` for 1/30 is 1 in 10,000, while 29.97
    /// and 30 are 10 apart), else [`fps`](Self::fps).
    #[must_use]
    pub fn nominal_fps(self) -> f64 {
        let fps = self.fps();
        let whole = fps.round();
        if whole > 0.0 && (fps - whole).abs() <= 2e-4 * whole { whole } else { fps }
    }

    /// The time of a frame in seconds; frame 0 is at 0.
    #[must_use]
    pub fn time_of(self, frame: FrameIndex) -> f64 {
        f64::from(frame.0) * self.frame_time_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nominal_rates_of_real_frame_times() {
        for (frame_time, fps) in [
            (0.008_333_3, 120.0),
            (0.008_333, 120.0),
            (0.033_333, 30.0),
            (0.033_33, 30.0),
            (0.041_667, 24.0),
            (0.038_462, 26.0),
            (0.016_667, 60.0),
            (0.01, 100.0),
        ] {
            assert_eq!(FrameRate::from_frame_time(frame_time).unwrap().nominal_fps(), fps);
        }
        let ntsc = FrameRate::from_fps(29.97).unwrap();
        assert!((ntsc.nominal_fps() - 29.97).abs() < 1e-12);
    }

    #[test]
    fn impossible_rates_are_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 5e-324] {
            assert!(FrameRate::from_frame_time(bad).is_none(), "{bad}");
            assert!(FrameRate::from_fps(bad).is_none() || bad > 0.0, "{bad}");
        }
    }
}
