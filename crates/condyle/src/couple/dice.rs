//! Numbers without a pattern, from a seed alone.

use crate::motion::Clip;

/// The generator splitmix64, by S. Vigna.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// A number from 0 to below `n`, which is at least 1. All are as likely but for 2⁻³².
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = u128::from(mix(self.0));
        usize::try_from((bits * n as u128) >> 64).unwrap_or(0)
    }
}

const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A number of its own for the values of a row, but for chance.
pub(super) fn seed_of_row(values: impl Iterator<Item = f64>) -> u64 {
    values.fold(0, |seed, value| mix(seed ^ value.to_bits()))
}

/// The same for a clip, from some of its rotations.
pub(super) fn seed_of_clip(clip: &Clip) -> u64 {
    let mut seed = mix(clip.frame_count() as u64);
    for track in clip.tracks() {
        let turns = track.rotations();
        for i in (0..turns.len()).step_by(1 + turns.len() / 64) {
            seed = mix(seed ^ seed_of_row(turns.at(i).to_wxyz().into_iter()));
        }
    }
    seed
}

/// A seed from what is there: the same for the same numbers, whatever the day.
pub(super) fn seed_of(columns: &[Vec<f64>]) -> u64 {
    let mut seed = 0;
    for column in columns {
        for value in column.iter().step_by(1 + column.len() / 64) {
            seed = mix(seed ^ value.to_bits());
        }
    }
    seed
}
