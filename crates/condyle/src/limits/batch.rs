//! Whole columns of rotations at once.

use glam::DQuat;

use super::PreparedLimit;
use crate::math::{Rotation, Rotations};

/// Rotations in single precision this far outside still count as inside, in radians: what rounding to
/// f32 does to a rotation on the boundary.
const SINGLE_TOLERANCE: f64 = 1e-6;

impl PreparedLimit {
    /// [`project`](Self::project) of every rotation, in place; how many were changed. Those that are
    /// inside keep their bits.
    pub fn project_all(&self, rotations: &mut Rotations) -> usize {
        let mut changed = 0;
        for i in 0..rotations.len() {
            let m = rotations.at(i);
            let allowed = self.project(m);
            if allowed.quat().to_array() != m.quat().to_array() {
                rotations.set(i, allowed);
                changed += 1;
            }
        }
        changed
    }

    /// [`distance`](Self::distance) of every rotation, in radians.
    ///
    /// # Panics
    ///
    /// If the columns have different lengths.
    pub fn distance_all(&self, rotations: &Rotations, to: &mut [f64]) {
        assert!(rotations.len() == to.len(), "columns of different lengths");
        for (to, m) in to.iter_mut().zip(rotations.iter()) {
            *to = self.distance(m).radians();
        }
    }

    /// [`contains`](Self::contains) of every rotation.
    ///
    /// # Panics
    ///
    /// If the columns have different lengths.
    pub fn contains_all(&self, rotations: &Rotations, to: &mut [bool]) {
        assert!(rotations.len() == to.len(), "columns of different lengths");
        for (to, m) in to.iter_mut().zip(rotations.iter()) {
            *to = self.contains(m);
        }
    }

    /// [`project_all`](Self::project_all) for quaternions in single precision, as columns x, y, z and w.
    /// The work is done in double precision; rotations up to 10⁻⁶ rad outside count as inside and keep
    /// their bits. What is no rotation becomes the projection of the identity.
    ///
    /// # Panics
    ///
    /// If the columns have different lengths.
    pub fn project_all_f32(&self, [x, y, z, w]: [&mut [f32]; 4]) -> usize {
        let n = x.len();
        assert!([y.len(), z.len(), w.len()] == [n; 3], "columns of different lengths");
        let mut changed = 0;
        for i in 0..n {
            let m = single(x[i], y[i], z[i], w[i]);
            let whole = m.unwrap_or_default();
            if m.is_some() && self.distance(whole).radians() >= -SINGLE_TOLERANCE {
                continue;
            }
            let [px, py, pz, pw] = self.project(whole).quat().as_quat().to_array();
            (x[i], y[i], z[i], w[i]) = (px, py, pz, pw);
            changed += 1;
        }
        changed
    }

    /// [`distance_all`](Self::distance_all) for quaternions in single precision; NaN for what is no
    /// rotation.
    ///
    /// # Panics
    ///
    /// If the columns have different lengths.
    pub fn distance_all_f32(&self, [x, y, z, w]: [&[f32]; 4], to: &mut [f32]) {
        let n = to.len();
        assert!([x.len(), y.len(), z.len(), w.len()] == [n; 4], "columns of different lengths");
        for i in 0..n {
            let m = single(x[i], y[i], z[i], w[i]);
            #[allow(
                clippy::cast_possible_truncation,
                reason = "single precision is what was asked for"
            )]
            let distance = m.map_or(f32::NAN, |m| self.distance(m).radians() as f32);
            to[i] = distance;
        }
    }
}

fn single(x: f32, y: f32, z: f32, w: f32) -> Option<Rotation> {
    Rotation::new(DQuat::from_xyzw(x.into(), y.into(), z.into(), w.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::zoo::{arc, zoo};
    use crate::limits::{Limit, SwingTwistLimit, TwistBounds, TwistLimit};
    use crate::synth::Rng;

    #[test]
    fn columns_get_what_each_rotation_gets() {
        let (_, swing) = zoo().swap_remove(6);
        let twist =
            TwistLimit { bounds: TwistBounds::Arc(arc(-30.0, 60.0)), ..TwistLimit::default() };
        let limit =
            Limit::SwingTwist(SwingTwistLimit { swing, twist, ..SwingTwistLimit::default() });
        let limit = limit.prepare().unwrap();
        let mut rng = Rng::new(1);
        let all: Rotations = (0..500).map(|_| rng.rotation()).collect();
        let (mut distances, mut inside) = (vec![0.0; 500], vec![false; 500]);
        limit.distance_all(&all, &mut distances);
        limit.contains_all(&all, &mut inside);
        let mut projected = all.clone();
        let changed = limit.project_all(&mut projected);
        assert_eq!(changed, inside.iter().filter(|inside| !**inside).count());
        for (i, distance) in distances.iter().enumerate() {
            let m = all.at(i);
            assert_eq!(distance.to_bits(), limit.distance(m).radians().to_bits());
            assert_eq!(projected.at(i).quat().to_array(), limit.project(m).quat().to_array());
        }
        assert_eq!(limit.project_all(&mut projected), 0);

        #[allow(clippy::cast_possible_truncation, reason = "that is what single precision does")]
        let mut columns = all.xyzw().map(|c| c.iter().map(|v| *v as f32).collect::<Vec<f32>>());
        columns[0][3] = f32::NAN;
        let [x, y, z, w] = &mut columns;
        let changed = limit.project_all_f32([x, y, z, w]);
        assert!(changed > 100);
        let [x, y, z, w] = &mut columns;
        assert_eq!(limit.project_all_f32([x, y, z, w]), 0, "inside is left alone");
        let mut distances = vec![0.0_f32; 500];
        let [x, y, z, w] = &columns;
        limit.distance_all_f32([x, y, z, w], &mut distances);
        assert!(distances.iter().all(|d| *d >= -2e-6));
    }
}
