//! The noise of many clips, in a histogram that can be merged.

/// How many frames came from clips with how much jitter.
///
/// Intervals are sixteenths of an octave, from 2⁻⁴⁰ to 8 radians, so the middle of one is within
/// 1/32 of every value in it. What is smaller is in the first, what is larger in the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Jitters {
    /// Interval and frames; intervals rise, frames are not zero.
    frames: Vec<(u16, u64)>,
}

/// So many bits of a double are left out in the number of its interval.
const DROPPED: u32 = 48;

/// 2⁻⁴⁰ without its dropped bits.
const LOWEST: u64 = (1023 - 40) << (52 - DROPPED);

/// How many intervals there are: 43 octaves, and one below.
pub(crate) const INTERVALS: u16 = 43 * 16 + 1;

impl Jitters {
    /// One clip: its jitter in radians and how many frames it has. What is not finite or has no frames
    /// does not count.
    pub(crate) fn of(jitter: f64, frames: u64) -> Self {
        if !jitter.is_finite() || frames == 0 {
            return Self::default();
        }
        let above = (jitter.max(0.0).to_bits() >> DROPPED).saturating_sub(LOWEST - 1);
        let interval = u16::try_from(above).unwrap_or(u16::MAX).min(INTERVALS - 1);
        Self { frames: vec![(interval, frames)] }
    }

    /// From what [`intervals`](Self::intervals) gives; `None` if it could not have.
    pub(crate) fn from_intervals(frames: Vec<(u16, u64)>) -> Option<Self> {
        let good = frames.is_sorted_by(|a, b| a.0 < b.0)
            && frames.iter().all(|(interval, frames)| *interval < INTERVALS && *frames > 0);
        good.then_some(Self { frames })
    }

    /// Intervals with their frames, rising.
    pub(crate) fn intervals(&self) -> &[(u16, u64)] {
        &self.frames
    }

    /// The clips of both.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (interval, frames) in &other.frames {
            match self.frames.binary_search_by_key(interval, |(i, _)| *i) {
                Ok(i) => self.frames[i].1 = self.frames[i].1.saturating_add(*frames),
                Err(i) => self.frames.insert(i, (*interval, *frames)),
            }
        }
    }

    /// The jitter that half of all frames do not exceed, radians; `None` without clips.
    pub(crate) fn median(&self) -> Option<f64> {
        let all: u128 = self.frames.iter().map(|(_, frames)| u128::from(*frames)).sum();
        let mut so_far = 0;
        let (interval, _) = self.frames.iter().find(|(_, frames)| {
            so_far += u128::from(*frames);
            2 * so_far >= all
        })?;
        // The lowest holds zero too.
        let above = u64::from(*interval).checked_sub(1);
        Some(above.map_or(0.0, |above| {
            f64::from_bits(((LOWEST + above) << DROPPED) | (1 << (DROPPED - 1)))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    #[test]
    fn one_clip_has_its_own_jitter() {
        let mut value = 1e-12;
        while value < 8.0 {
            let found = Jitters::of(value, 3).median().unwrap();
            assert!((found / value - 1.0).abs() <= 1.0 / 32.0, "{value} {found}");
            value *= 1.01;
        }
        assert_eq!(Jitters::of(0.0, 1).median(), Some(0.0));
        assert_eq!(Jitters::of(-1.0, 1).median(), Some(0.0));
        assert!(Jitters::of(f64::MAX, 1).median().unwrap() > 7.5);
        for none in [Jitters::of(f64::NAN, 1), Jitters::of(1.0, 0), Jitters::default()] {
            assert_eq!(none.median(), None);
        }
    }

    #[test]
    fn the_median_is_that_of_all_frames_in_any_grouping_a11() {
        let mut rng = Rng::new(1);
        for _ in 0..200 {
            let clips: Vec<(f64, u64)> = (0..1 + rng.below(20))
                .map(|_| (1e-3 * rng.uniform(), 1 + rng.below(50) as u64))
                .collect();
            let mut all: Vec<f64> =
                clips.iter().flat_map(|(j, n)| (0..*n).map(move |_| *j)).collect();
            all.sort_by(f64::total_cmp);
            let median = all[(all.len() - 1) / 2];
            let mut parts: Vec<Jitters> = clips.iter().map(|(j, n)| Jitters::of(*j, *n)).collect();
            let mut in_order = Jitters::default();
            parts.iter().for_each(|part| in_order.merge(part));
            while parts.len() > 1 {
                let taken = parts.swap_remove(rng.below(parts.len()));
                let other = rng.below(parts.len());
                parts[other].merge(&taken);
            }
            assert_eq!(parts[0], in_order);
            assert_eq!(Jitters::from_intervals(parts[0].intervals().to_vec()), Some(in_order));
            let found = parts[0].median().unwrap();
            assert!((found / median - 1.0).abs() <= 1.0 / 32.0, "{found} {median}");
        }
        assert_eq!(Jitters::from_intervals(vec![(2, 1), (1, 1)]), None);
        assert_eq!(Jitters::from_intervals(vec![(INTERVALS, 1)]), None);
        assert_eq!(Jitters::from_intervals(vec![(1, 0)]), None);
    }
}
