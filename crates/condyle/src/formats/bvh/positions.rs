//! Whether the position channels below the root replace the OFFSETs or are added to them: decided once
//! for a file, from all its joints together. Two readings in one file would let bones collapse.

use glam::DVec3;

use crate::skeleton::Dof;

/// Positions that are, in the median over the joints, no more than this share of their OFFSETs are
/// added. Positions that are places are about as long as the OFFSETs.
pub(super) const NEAR_ZERO: f64 = 1e-2;

/// From this share on nobody doubts that positions are places.
const CLEARLY_PLACES: f64 = 0.5;

/// What the position channels below the root say about their OFFSETs.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    found: Vec<f64>,
}

impl Shares {
    /// Looks at a joint below the root: its OFFSET, and its position channels with their values.
    ///
    /// Gives how long its positions are at most, beside what its OFFSET has along the same axes.
    /// `None`: without channels, without frames or with an OFFSET of zero, a joint says nothing.
    pub(super) fn add<'a>(
        &mut self,
        offset: [f64; 3],
        channels: impl Iterator<Item = (Dof, &'a [f64])>,
    ) -> Option<f64> {
        let mut along = DVec3::ZERO;
        let mut columns: Vec<&[f64]> = Vec::with_capacity(3);
        for (dof, values) in channels {
            if let Some(axis) = dof.translation_axis() {
                along[axis] = offset[axis];
                columns.push(values);
            }
        }
        let length = along.length();
        let frames = columns.iter().map(|column| column.len()).min()?;
        if frames == 0 || length <= 0.0 {
            return None;
        }
        let mut share: f64 = 0.0;
        for frame in 0..frames {
            let square: f64 = columns.iter().map(|column| column[frame] * column[frame]).sum();
            share = share.max(square.sqrt() / length);
            // How far beyond makes no difference, and most files are through at once.
            if share > CLEARLY_PLACES {
                break;
            }
        }
        self.found.push(share);
        Some(share)
    }

    /// What they say together.
    pub(super) fn reading(mut self) -> Reading {
        // Of an even number the larger of the two in the middle.
        let middle = self.found.len() / 2;
        if self.found.is_empty() {
            return Reading::Replace;
        }
        let (_, &mut share, _) = self.found.select_nth_unstable_by(middle, f64::total_cmp);
        if share <= NEAR_ZERO {
            Reading::Add { share }
        } else if share <= CLEARLY_PLACES {
            Reading::ReplaceThoughSmall { share }
        } else {
            Reading::Replace
        }
    }
}

/// What is done with the position channels below the root, in all joints of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reading {
    /// They replace the OFFSETs, axis by axis.
    Replace,
    /// The same, although they are this share of the OFFSETs in the median: bones get shorter.
    ReplaceThoughSmall { share: f64 },
    /// They are added to the OFFSETs, of which they are this share in the median.
    Add { share: f64 },
}

impl Reading {
    pub(super) fn adds(self) -> bool {
        matches!(self, Self::Add { .. })
    }

    /// Whether a joint whose positions are this share of its OFFSET is clearly meant the other way: its bone is
    /// next to nothing, or about twice as long as it should be.
    pub(super) fn is_contradicted_by(self, share: f64) -> bool {
        if self.adds() { share > CLEARLY_PLACES } else { share <= NEAR_ZERO }
    }
}
