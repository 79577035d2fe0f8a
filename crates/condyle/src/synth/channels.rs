//! A motion as the numbers of a file: Euler angles, with whole turns added.

use super::{Rng, Synth, SynthError};
use crate::math::{EulerAngles, EulerOrder, Rotation};
use crate::motion::{AngleUnit, Channels, Columns, JointChannels, Sequence};
use crate::skeleton::{Dof, JointIndex};

/// Whole turns added to one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrap {
    /// The column of the table.
    pub column: usize,
    /// The frame.
    pub frame: usize,
    /// −2, −1, 1 or 2: the number is larger by 360° times this.
    pub turns: i32,
}

/// A motion as the numbers of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SourceChannels {
    /// The numbers: roots have x, y, z in centimetres and three angles, other joints three angles,
    /// in degrees. The first angle is the leftmost factor.
    pub channels: Channels,
    /// Where whole turns were added, by column and frame.
    pub wraps: Vec<Wrap>,
}

/// The stream of random numbers for wraps, apart from those of `generate`.
const WRAPS: u64 = 0x7ea9 << 32;

impl Synth {
    /// The motion as Euler angles about the joints' own axes, in an order chosen per joint, with
    /// one or two whole turns added to or taken from a share of the angles.
    ///
    /// [`Clip::from_channels`](crate::motion::Clip::from_channels) turns the numbers back into
    /// rotations. Angles are each within half a turn before turns are added, so they also jump
    /// where a motion passes ±180°, as in real files.
    ///
    /// # Errors
    ///
    /// [`SynthError::Share`] unless the share is in [0, 1].
    ///
    /// ```
    /// use condyle::math::EulerOrder;
    /// use condyle::motion::Clip;
    /// use condyle::synth::{Figure, Options, Synth};
    ///
    /// let options = Options { frames: 50, ..Options::default() };
    /// let synth = Synth::generate(&Figure::human(), &options, 3)?;
    /// let source = synth.channels(|_| EulerOrder::ZXY, 0.1, 3)?;
    /// let clip = Clip::from_channels(&synth.skeleton, options.rate, source.channels)?;
    /// let knee = synth.skeleton.find("LeftLeg").unwrap();
    /// let there = synth.clip.track(knee).rotations().at(20);
    /// assert!(clip.track(knee).rotations().at(20).distance(there).radians() < 1e-13);
    /// # Ok::<(), condyle::synth::SynthError>(())
    /// ```
    pub fn channels(
        &self,
        order_of: impl Fn(JointIndex) -> EulerOrder,
        wraps: f64,
        seed: u64,
    ) -> Result<SourceChannels, SynthError> {
        /// Centimetres, as in BVH.
        const UNIT_M: f64 = 0.01;
        if !(0.0..=1.0).contains(&wraps) {
            return Err(SynthError::Share { option: "wraps", value: wraps });
        }
        let frames = self.clip.frame_count();
        let mut joints = Vec::with_capacity(self.skeleton.len());
        let mut count = 0;
        for j in self.skeleton.indices() {
            let turns = order_of(j).axes().map(|axis| Dof::rotation(axis.index()));
            let mut joint = JointChannels::fixed(self.skeleton[j].offset_m);
            joint.sequence = Sequence::FirstIsLeftmost;
            if self.skeleton.parent(j).is_none() {
                joint.dofs.extend([Dof::Tx, Dof::Ty, Dof::Tz]);
                joint.translation_base_m = glam::DVec3::ZERO;
                joint.translation_basis = Rotation::IDENTITY;
            }
            joint.dofs.extend(turns);
            joint.columns = (count..count + joint.dofs.len()).collect();
            count += joint.dofs.len();
            joints.push(joint);
        }
        let mut columns = Columns::zeros(count, frames);
        let mut added = Vec::new();
        for (j, channels) in self.skeleton.indices().zip(&joints) {
            let mut rng = Rng::stream(seed, WRAPS | j.get() as u64);
            let back = self.skeleton[j].rest.inverse();
            let first_turn = channels.columns.len() - 3;
            for f in self.clip.frames() {
                let place = self.clip.translation_m(j, f) / UNIT_M;
                for (axis, column) in channels.shifts() {
                    columns.set(column, f.get(), place[axis]);
                }
                let euler =
                    EulerAngles::from_rotation(order_of(j), back * self.clip.rotation(j, f));
                for (angle, &column) in euler.angles.iter().zip(&channels.columns[first_turn..]) {
                    let mut degrees = angle.degrees();
                    if rng.chance(wraps) {
                        let turns = [-2, -1, 1, 2][rng.below(4)];
                        degrees += 360.0 * f64::from(turns);
                        added.push(Wrap { column, frame: f.get(), turns });
                    }
                    columns.set(column, f.get(), degrees);
                }
            }
        }
        added.sort_by_key(|w| (w.column, w.frame));
        let channels = Channels::new(joints, columns, AngleUnit::Degrees, UNIT_M)?;
        Ok(SourceChannels { channels, wraps: added })
    }
}
