//! Which frames around a seam are shown, and whose they are.

use std::ops::Range;

use glam::{DVec2, DVec3};

use super::SeamView;
use crate::edit::blend::{as_f64, index};
use crate::edit::{Facing, Stand};
use crate::motion::{Clip, World};
use crate::skeleton::{JointIndex, Skeleton};

/// How long a time is shown at least.
const SPAN_S: f64 = 1.0;

/// Whose a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    First,
    Made,
    Second,
}

impl Part {
    /// Its class in the style sheet.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Made => "made",
            Self::Second => "second",
        }
    }
}

/// A seam of a clip.
pub(super) struct Seam<'a> {
    pub(super) skeleton: &'a Skeleton,
    pub(super) facing: &'a Facing,
    pub(super) clip: &'a Clip,
    /// The frames that are shown.
    pub(super) span: Range<usize>,
    /// The last frame of the first motion, and the first of the second or the end of the clip.
    first_last: usize,
    next: usize,
    /// The window of each motion, as far as it is of the shown frames.
    pub(super) windows: [Range<usize>; 2],
}

impl<'a> Seam<'a> {
    /// One of some seams; the shown frames end where the next seam begins.
    pub(super) fn new(
        skeleton: &'a Skeleton,
        facing: &'a Facing,
        clip: &'a Clip,
        seams: &[SeamView<'_>],
        at: usize,
    ) -> Self {
        let count = if skeleton.is_empty() { 0 } else { clip.frame_count() };
        let view = &seams[at];
        let (first_last, next) = ends(view, count);
        let least = at.checked_sub(1).map_or(0, |i| ends(&seams[i], count).1).min(first_last);
        let most = seams.get(at + 1).map_or(count, |s| ends(s, count).0.saturating_add(1));
        let most = most.max(next.saturating_add(1)).min(count);
        // At least a third of what is shown is not made.
        let length = (SPAN_S * clip.rate().fps()).max(1.5 * as_f64(next - first_last));
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a float becomes the nearest count, whatever it is"
        )]
        let half = (0.5 * length).ceil() as usize;
        let middle = first_last + (next - first_last) / 2;
        let span = middle.saturating_sub(half).max(least)
            ..middle.saturating_add(half).saturating_add(1).min(most);
        let mut seam =
            Self { skeleton, facing, clip, span, first_last, next, windows: [0..0, 0..0] };
        seam.windows = seam.windows_of(view);
        seam
    }

    /// The windows in frames of the clip. Both are in the same place where frames of both went into
    /// what is there; else each is shown as far as its frames are left.
    fn windows_of(&self, view: &SeamView<'_>) -> [Range<usize>; 2] {
        let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let start = |frame: usize, is: usize, window: usize| {
            signed(frame).saturating_sub(signed(is)).saturating_add(signed(window))
        };
        let starts = [
            start(self.first_last, view.from_frame, view.window.first),
            start(self.next, view.to_frame, view.window.second),
        ];
        let own = if starts[0] == starts[1] {
            [self.span.clone(), self.span.clone()]
        } else {
            [self.span.start..self.first_last + 1, self.next..self.span.end]
        };
        let clipped = |start: i64, to: &Range<usize>| {
            let end = start.saturating_add(signed(view.window.frames));
            let inside =
                |f: i64| usize::try_from(f).unwrap_or(0).clamp(to.start, to.end.max(to.start));
            inside(start)..inside(end)
        };
        [clipped(starts[0], &own[0]), clipped(starts[1], &own[1])]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.span.is_empty()
    }

    /// The frames of neither motion.
    pub(super) fn made(&self) -> Range<usize> {
        self.first_last + 1..self.next
    }

    /// The last frame of the first motion.
    pub(super) const fn first_last(&self) -> usize {
        self.first_last
    }

    /// From the last frame of the first motion to the first of the second, if there is one.
    pub(super) fn between(&self) -> Range<usize> {
        self.first_last..self.next.saturating_add(1).min(self.span.end)
    }

    pub(super) fn part(&self, frame: usize) -> Part {
        if frame <= self.first_last {
            Part::First
        } else if frame < self.next {
            Part::Made
        } else {
            Part::Second
        }
    }

    /// Up to so many of the shown frames, evenly from the first to the last.
    pub(super) fn spread(&self, most: usize) -> Vec<usize> {
        let count = self.span.len();
        if count <= most || most < 2 {
            return self.span.clone().collect();
        }
        // Counts are below 2³².
        (0..most).map(|i| self.span.start + i * (count - 1) / (most - 1)).collect()
    }

    /// What of a line by frames is a part's: from one motion to the other for what is between them.
    pub(super) fn stretch<T>(
        &self,
        part: Part,
        line: &[(usize, T)],
        at: impl Fn(&T) -> DVec2,
    ) -> Vec<DVec2> {
        let frames = match part {
            Part::First => self.span.start..self.first_last + 1,
            Part::Made => self.between(),
            Part::Second => self.next..self.span.end,
        };
        line.iter().filter(|(f, _)| frames.contains(f)).map(|(_, value)| at(value)).collect()
    }

    pub(super) fn world(&self, frame: usize) -> World {
        self.clip.pose(index(frame)).world(self.skeleton)
    }

    pub(super) fn stand(&self, frame: usize) -> Stand {
        self.facing.stand_in(self.skeleton, self.clip, index(frame))
    }

    pub(super) fn rotation(&self, joint: JointIndex, frame: usize) -> crate::math::Rotation {
        self.clip.rotation(joint, index(frame))
    }

    /// The direction on the ground in which the motion goes; of who stays about where it is, that in
    /// which it faces.
    pub(super) fn ahead(&self) -> DVec3 {
        const STAYS_M: f64 = 0.25;
        let ground = self.facing.ground();
        let [from, to] = [self.span.start, self.span.end - 1].map(|f| self.stand(f));
        let way = ground.below(to.position_m - from.position_m);
        if way.is_finite() && way.length() > STAYS_M {
            return way.normalize();
        }
        ground.turn(self.stand(self.first_last).facing) * ground.forward()
    }
}

/// The last frame of the first motion and the first of the second, in a clip of so many frames.
fn ends(view: &SeamView<'_>, count: usize) -> (usize, usize) {
    let first_last = view.first_last.min(count.saturating_sub(1));
    (first_last, view.made.end.clamp(first_last + 1, count.max(first_last + 1)))
}
