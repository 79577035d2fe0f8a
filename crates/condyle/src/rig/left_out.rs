//! Rotations that an estimate left out.

use glam::DQuat;

use crate::math::{Angle, Rotation};

/// Files round.
const SAME: Angle = Angle::from_degrees(0.01);

/// Rotations that the estimate of a limit left out, to be found again.
#[derive(Clone, Debug)]
pub(crate) struct LeftOut {
    /// By the size of their real parts, which is that of −q too.
    sorted: Vec<DQuat>,
}

impl LeftOut {
    pub(crate) fn new(rotations: impl Iterator<Item = Rotation>) -> Self {
        let mut sorted: Vec<DQuat> = rotations.map(Rotation::quat).collect();
        sorted.sort_by(|a, b| a.w.abs().total_cmp(&b.w.abs()));
        Self { sorted }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Whether a rotation is one of them, but for what files round.
    pub(crate) fn has(&self, m: Rotation) -> bool {
        // A turn by δ moves a quaternion by δ/2.
        let near = 0.5 * SAME.radians();
        let q = m.quat();
        let from = self.sorted.partition_point(|p| p.w.abs() < q.w.abs() - near);
        self.sorted[from..].iter().take_while(|p| p.w.abs() <= q.w.abs() + near).any(|p| {
            let p = if p.dot(q) < 0.0 { -*p } else { *p };
            (p - q).length_squared() <= near * near
        })
    }
}
