//! Some frames of a motion, backward, faster or slower.

use std::ops::Range;

use super::EditError;
use super::blend::as_f64;
use crate::motion::{Clip, Interpolation};

/// The frames of a range, with the numbers of their file.
///
/// # Errors
///
/// [`EditError::Window`] if the clip has not got them, or there are none.
pub fn trimmed(clip: &Clip, frames: Range<usize>) -> Result<Clip, EditError> {
    let available = clip.frame_count();
    if frames.is_empty() || frames.end > available {
        let (start, frames) = (frames.start, frames.len());
        return Err(EditError::Window { clip: 0, start, frames, available });
    }
    Ok(clip.at_frames(frames.map(as_f64), clip.rate(), None)?)
}

/// The motion from its last frame to its first, with the numbers of its file.
///
/// # Errors
///
/// [`EditError::NoFrames`].
pub fn reversed(clip: &Clip) -> Result<Clip, EditError> {
    let frames = (0..clip.frame_count()).rev().map(as_f64);
    Ok(clip.at_frames(frames, clip.rate(), None)?)
}

/// The motion `speed` times as fast, at the same frame rate: 2 leaves out every second frame, 0.5 puts
/// one between every two.
///
/// # Errors
///
/// [`EditError::Speed`] unless it is positive and finite, [`EditError::NoFrames`], and
/// [`EditError::Clip`] for more frames than a clip may have.
pub fn retimed(
    clip: &Clip,
    speed: f64,
    interpolation: Option<Interpolation>,
) -> Result<Clip, EditError> {
    if !(speed.is_finite() && speed > 0.0) {
        return Err(EditError::Speed { speed });
    }
    // The last frame stays if a new one falls on it, to within rounding.
    let last = as_f64(clip.frame_count().saturating_sub(1)) * (1.0 + 1e-12);
    let frames = (0..).map(|k: u64| as_f64_wide(k) * speed).take_while(move |x| *x <= last);
    Ok(clip.at_frames(frames, clip.rate(), interpolation)?)
}

#[allow(clippy::cast_precision_loss, reason = "a clip ends long before 2^52")]
fn as_f64_wide(frame: u64) -> f64 {
    frame as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::{ClipError, FrameIndex, FrameRate};
    use crate::synth::Gait;

    fn walk() -> Clip {
        Gait::default().generate(31, FrameRate::from_fps(30.0).unwrap()).unwrap().1
    }

    fn same(a: &Clip, fa: u32, b: &Clip, fb: u32) {
        let (a, b) = (a.pose(FrameIndex(fa)), b.pose(FrameIndex(fb)));
        assert!(a.rotations.iter().zip(&b.rotations).all(|(p, q)| p.quat() == q.quat()));
        assert_eq!(a.translations_m, b.translations_m);
    }

    #[test]
    fn frames_are_taken_over_as_they_are() {
        let walk = walk();
        let part = trimmed(&walk, 10..20).unwrap();
        assert_eq!(part.frame_count(), 10);
        same(&part, 0, &walk, 10);
        same(&part, 9, &walk, 19);
        let back = reversed(&walk).unwrap();
        same(&back, 0, &walk, 30);
        same(&reversed(&back).unwrap(), 7, &walk, 7);
        let fast = retimed(&walk, 2.0, None).unwrap();
        assert_eq!(fast.frame_count(), 16);
        same(&fast, 15, &walk, 30);
        let slow = retimed(&walk, 0.5, None).unwrap();
        assert_eq!(slow.frame_count(), 61);
        same(&slow, 60, &walk, 30);
        same(&slow, 20, &walk, 10);
    }

    #[test]
    fn nonsense_is_refused_before_it_takes_memory() {
        let walk = walk();
        let error = trimmed(&walk, 20..40).unwrap_err();
        assert_eq!(error, EditError::Window { clip: 0, start: 20, frames: 20, available: 31 });
        assert!(trimmed(&walk, 5..5).is_err());
        for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(retimed(&walk, speed, None), Err(EditError::Speed { .. })));
        }
        let tiny = retimed(&walk, 1e-300, None).unwrap_err();
        assert_eq!(tiny, EditError::Clip(ClipError::TooManyFrames));
        assert_eq!(retimed(&walk, 1e300, None).unwrap().frame_count(), 1);
    }
}
