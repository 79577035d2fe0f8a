//! Whole columns of rotations at once.

#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]
#![allow(clippy::needless_range_loop, reason = "one index over several columns is what vectorises")]
#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "what is not a number is in doubt")]

use std::ops::Range;

use glam::DQuat;

use super::PreparedLimit;
use super::lanes::{Flags, Lanes, Near, Quats};
use crate::math::batch::{BLOCK, FLAG, any_flagged, blocks, flag_if, redo_flagged};
use crate::math::{Kernel, Level, Rotation, Rotations};

/// What would be moved by no more than this, in radians, counts as inside in single precision: what
/// rounding to f32 does to a rotation on the boundary.
const SINGLE_TOLERANCE: f64 = 1e-6;

impl PreparedLimit {
    /// [`project`](Self::project) of every rotation, in place; how many were changed. Those that are
    /// inside keep their bits.
    ///
    /// Hinges, and swing and twist with one range of twist and a circle, a polygon of up to 32 corners or no
    /// boundary, are projected some at a time ([`Level`]), with the same bits.
    pub fn project_all(&self, rotations: &mut Rotations) -> usize {
        self.project_all_at(Level::best(), rotations)
    }

    /// [`project_all`](Self::project_all) with these instructions, for tests and benchmarks: all give the
    /// same bits.
    pub fn project_all_at(&self, level: Level, rotations: &mut Rotations) -> usize {
        self.project_columns(level, Doubles(rotations.xyzw_mut()))
    }

    /// [`project_all`](Self::project_all) for quaternions in single precision, as columns x, y, z and w.
    /// The work is done in double precision; rotations that would be moved by up to 10⁻⁶ rad count as
    /// inside and keep their bits. What is no rotation becomes the projection of the identity.
    ///
    /// # Panics
    ///
    /// If the columns have different lengths.
    pub fn project_all_f32(&self, columns: [&mut [f32]; 4]) -> usize {
        let n = columns[0].len();
        assert!(columns.iter().all(|c| c.len() == n), "columns of different lengths");
        self.project_columns(Level::best(), Singles(columns))
    }

    /// [`project_all_f32`](Self::project_all_f32) for quaternions one after the other, x, y, z, w each.
    pub fn project_quats_f32(&self, quats: &mut [[f32; 4]]) -> usize {
        self.project_columns(Level::best(), SingleQuats(quats))
    }

    fn project_columns<C: Columns>(&self, level: Level, mut columns: C) -> usize {
        let mut changed = 0;
        if let Some(lanes) = self.lanes() {
            level.run(Projecting { limit: self, lanes, columns, changed: &mut changed });
        } else {
            for i in 0..columns.len() {
                changed += usize::from(columns.redo(i, self));
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

/// Where rotations are read and written.
trait Columns {
    const NEAR: Near;

    fn len(&self) -> usize;

    /// A block as unit quaternions in double precision, with a flag where there is none.
    fn load(&self, block: Range<usize>, quats: &mut Quats, flags: &mut Flags);

    /// Writes those of a block that were moved, and says how many.
    fn store(&mut self, block: Range<usize>, from: &Quats, to: &Quats, flags: &Flags) -> usize;

    /// Projects one, and says whether it changed.
    fn redo(&mut self, i: usize, limit: &PreparedLimit) -> bool;
}

/// A loop over blocks.
struct Projecting<'a, C> {
    limit: &'a PreparedLimit,
    lanes: Lanes<'a>,
    columns: C,
    changed: &'a mut usize,
}

impl<C: Columns> Kernel for Projecting<'_, C> {
    #[inline(always)]
    fn run(self) {
        let Self { limit, lanes, mut columns, changed } = self;
        let mut from = [[0.0; BLOCK]; 4];
        for block in blocks(columns.len()) {
            let n = block.len();
            let mut flags = [0; BLOCK];
            columns.load(block.clone(), &mut from, &mut flags);
            let mut to = from;
            lanes.project(n, C::NEAR, &mut to, &mut flags);
            *changed += columns.store(block.clone(), &from, &to, &flags);
            if any_flagged(n, &flags) {
                redo_flagged(&flags[..n], |e| {
                    *changed += usize::from(columns.redo(block.start + e, limit));
                });
            }
        }
    }
}

struct Doubles<'a>([&'a mut [f64]; 4]);

impl Columns for Doubles<'_> {
    const NEAR: Near = Near::DOUBLE;

    fn len(&self) -> usize {
        self.0[3].len()
    }

    #[inline(always)]
    fn load(&self, block: Range<usize>, quats: &mut Quats, _: &mut Flags) {
        for (quats, column) in quats.iter_mut().zip(&self.0) {
            let column = &column[block.clone()];
            quats[..column.len()].copy_from_slice(column);
        }
    }

    #[inline(always)]
    fn store(&mut self, block: Range<usize>, from: &Quats, to: &Quats, flags: &Flags) -> usize {
        let n = block.len().min(BLOCK);
        let [x, y, z, w] = self.0.each_mut().map(|c| &mut c[block.clone()][..n]);
        let mut changed = 0;
        for e in 0..n {
            let same = (from[0][e] == to[0][e])
                & (from[1][e] == to[1][e])
                & (from[2][e] == to[2][e])
                & (from[3][e] == to[3][e]);
            let moved = !same & (flags[e] & FLAG == 0);
            changed += usize::from(moved);
            x[e] = if moved { to[0][e] } else { x[e] };
            y[e] = if moved { to[1][e] } else { y[e] };
            z[e] = if moved { to[2][e] } else { z[e] };
            w[e] = if moved { to[3][e] } else { w[e] };
        }
        changed
    }

    fn redo(&mut self, i: usize, limit: &PreparedLimit) -> bool {
        let [x, y, z, w] = &mut self.0;
        let q = DQuat::from_xyzw(x[i], y[i], z[i], w[i]);
        let to = limit.project(Rotation::from_unit_unchecked(q)).quat();
        (x[i], y[i], z[i], w[i]) = (to.x, to.y, to.z, to.w);
        to.to_array() != q.to_array()
    }
}

/// Unit quaternions of some in single precision, with a flag where they are far from it.
#[inline(always)]
fn load_singles(n: usize, quats: &mut Quats, flags: &mut Flags) {
    let [x, y, z, w] = quats;
    for e in 0..n.min(BLOCK) {
        let square = x[e] * x[e] + y[e] * y[e] + z[e] * z[e] + w[e] * w[e];
        flags[e] = flag_if(!((square > 1e-30) & (square < 1e30)));
        let scale = 1.0 / square.sqrt();
        (x[e], y[e], z[e], w[e]) = (x[e] * scale, y[e] * scale, z[e] * scale, w[e] * scale);
    }
}

/// Whether a rotation is moved by more than counts in single precision, for quaternions in one hemisphere.
#[inline(always)]
fn moved_singly(from: [f64; 4], to: [f64; 4]) -> bool {
    let [x, y, z, w] = [0, 1, 2, 3].map(|i: usize| from[i] - to[i]);
    x * x + y * y + z * z + w * w > 0.25 * SINGLE_TOLERANCE * SINGLE_TOLERANCE
}

/// The projection of a quaternion in single precision, if that moves it.
fn project_single(limit: &PreparedLimit, [x, y, z, w]: [f32; 4]) -> Option<[f32; 4]> {
    let m = single(x, y, z, w);
    let from = m.unwrap_or_default();
    let to = limit.project(from).quat();
    let moved = m.is_none() || moved_singly(from.quat().to_array(), to.to_array());
    moved.then(|| to.as_quat().to_array())
}

struct Singles<'a>([&'a mut [f32]; 4]);

impl Columns for Singles<'_> {
    const NEAR: Near = Near::SINGLE;

    fn len(&self) -> usize {
        self.0[3].len()
    }

    #[inline(always)]
    fn load(&self, block: Range<usize>, quats: &mut Quats, flags: &mut Flags) {
        let n = block.len().min(BLOCK);
        for (quats, column) in quats.iter_mut().zip(&self.0) {
            let column = &column[block.clone()][..n];
            for e in 0..n {
                quats[e] = f64::from(column[e]);
            }
        }
        load_singles(n, quats, flags);
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "single precision is what was asked for")]
    fn store(&mut self, block: Range<usize>, from: &Quats, to: &Quats, flags: &Flags) -> usize {
        let n = block.len().min(BLOCK);
        let [x, y, z, w] = self.0.each_mut().map(|c| &mut c[block.clone()][..n]);
        let mut changed = 0;
        for e in 0..n {
            let [from, to] = [from, to].map(|q| [q[0][e], q[1][e], q[2][e], q[3][e]]);
            let moved = moved_singly(from, to) & (flags[e] & FLAG == 0);
            changed += usize::from(moved);
            x[e] = if moved { to[0] as f32 } else { x[e] };
            y[e] = if moved { to[1] as f32 } else { y[e] };
            z[e] = if moved { to[2] as f32 } else { z[e] };
            w[e] = if moved { to[3] as f32 } else { w[e] };
        }
        changed
    }

    fn redo(&mut self, i: usize, limit: &PreparedLimit) -> bool {
        let [x, y, z, w] = &mut self.0;
        let to = project_single(limit, [x[i], y[i], z[i], w[i]]);
        if let Some(to) = to {
            [x[i], y[i], z[i], w[i]] = to;
        }
        to.is_some()
    }
}

struct SingleQuats<'a>(&'a mut [[f32; 4]]);

impl Columns for SingleQuats<'_> {
    const NEAR: Near = Near::SINGLE;

    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn load(&self, block: Range<usize>, quats: &mut Quats, flags: &mut Flags) {
        let n = block.len().min(BLOCK);
        let all = &self.0[block][..n];
        let [x, y, z, w] = quats;
        for e in 0..n {
            [x[e], y[e], z[e], w[e]] = all[e].map(f64::from);
        }
        load_singles(n, quats, flags);
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "single precision is what was asked for")]
    fn store(&mut self, block: Range<usize>, from: &Quats, to: &Quats, flags: &Flags) -> usize {
        let n = block.len().min(BLOCK);
        let all = &mut self.0[block][..n];
        let mut changed = 0;
        for e in 0..n {
            let [from, to] = [from, to].map(|q| [q[0][e], q[1][e], q[2][e], q[3][e]]);
            let moved = moved_singly(from, to) & (flags[e] & FLAG == 0);
            changed += usize::from(moved);
            let single = to.map(|c| c as f32);
            all[e] = [0, 1, 2, 3].map(|i: usize| if moved { single[i] } else { all[e][i] });
        }
        changed
    }

    fn redo(&mut self, i: usize, limit: &PreparedLimit) -> bool {
        let to = project_single(limit, self.0[i]);
        if let Some(to) = to {
            self.0[i] = to;
        }
        to.is_some()
    }
}

fn single(x: f32, y: f32, z: f32, w: f32) -> Option<Rotation> {
    Rotation::new(DQuat::from_xyzw(x.into(), y.into(), z.into(), w.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::zoo::{arc, zoo};
    use crate::limits::{Limit, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit};
    use crate::math::SwingAxes;
    use crate::synth::Rng;
    use glam::DVec3;

    /// Rotations of all kinds for a limit: anywhere, on its boundary and near it, near −bone, half-turns.
    fn rotations(limit: &PreparedLimit, rng: &mut Rng, n: usize) -> Rotations {
        let of = |i: usize| {
            let m = rng.rotation();
            let nudge = |rng: &mut Rng, size: f64| Rotation::exp(rng.direction() * size).unwrap();
            match i % 8 {
                0 | 1 => m,
                2 => limit.project(m),
                3 => nudge(rng, [1e-15, 1e-12, 1e-9, 1e-6, 1e-3][i / 8 % 5]) * limit.project(m),
                4 => {
                    let half =
                        Rotation::from_axis_angle(rng.direction(), crate::math::Angle::HALF_TURN);
                    half.unwrap()
                }
                5 => {
                    let bone = limit.swing().map_or(DVec3::Z, |swing| swing.bone());
                    let across = Rotation::from_axis_angle(
                        bone.any_orthonormal_vector(),
                        crate::math::Angle::HALF_TURN,
                    );
                    nudge(rng, [0.0, 1e-300, 1e-15, 1e-8, 1e-3][i / 8 % 5]) * across.unwrap()
                }
                6 => Rotation::IDENTITY,
                _ => nudge(rng, 0.3),
            }
        };
        (0..n).map(of).collect()
    }

    fn limits() -> Vec<(String, PreparedLimit)> {
        let arcs = [arc(-40.0, 70.0), arc(150.0, 260.0), crate::math::Arc::FULL, arc(10.0, 10.0)];
        let axes = SwingAxes::new(DVec3::new(0.3, 1.0, -0.2), Some(DVec3::Z)).unwrap();
        let mut all = Vec::new();
        for (name, swing) in zoo().into_iter().chain([("free", SwingLimit::Free)]) {
            for (k, arc) in arcs.into_iter().enumerate() {
                let twist = TwistLimit { bounds: TwistBounds::Arc(arc), ..TwistLimit::default() };
                let axes = if k % 2 == 0 { axes } else { SwingAxes::Z };
                let limit = SwingTwistLimit { axes, swing: swing.clone(), twist };
                all.push((format!("{name} {arc:?}"), Limit::SwingTwist(limit)));
            }
        }
        for arc in arcs {
            all.push((format!("hinge {arc:?}"), Limit::Hinge { axis: DVec3::Y, arc }));
            let axis = DVec3::new(0.2, -0.7, 0.4);
            all.push((format!("slanted hinge {arc:?}"), Limit::Hinge { axis, arc }));
        }
        all.push(("locked".into(), Limit::Locked));
        all.push(("all".into(), Limit::Free));
        all.into_iter().map(|(name, limit)| (name, limit.prepare().unwrap())).collect()
    }

    #[test]
    fn columns_have_the_bits_of_single_rotations_at_every_level() {
        let mut rng = Rng::new(5);
        let mut loops = 0;
        for (name, limit) in limits() {
            loops += usize::from(limit.lanes().is_some());
            let slow = name.starts_with("flower") || name.contains("grown");
            let n = if slow { 60 } else { 1500 };
            let all = rotations(&limit, &mut rng, n);
            for level in Level::all() {
                let mut projected = all.clone();
                let changed = limit.project_all_at(level, &mut projected);
                let mut expected = 0;
                for i in 0..n {
                    let (m, found) = (all.at(i).quat(), projected.at(i).quat());
                    let p = limit.project(all.at(i)).quat();
                    let bits = |q: DQuat| q.to_array().map(f64::to_bits);
                    assert_eq!(bits(found), bits(p), "{name}, {}: {m} to {p}", level.name());
                    expected += usize::from(p.to_array() != m.to_array());
                }
                assert_eq!(changed, expected, "{name}");
                assert_eq!(limit.project_all_at(level, &mut projected), 0, "{name}");
            }
        }
        assert!(loops >= 36, "{loops}");
    }

    /// In single precision: near the projection in double, the same for columns and for quaternions, and
    /// inside is left alone.
    #[test]
    fn single_precision_is_double_precision_rounded() {
        let mut rng = Rng::new(6);
        for (name, limit) in limits() {
            let all: Rotations = (0..600).map(|_| rng.rotation()).collect();
            #[allow(
                clippy::cast_possible_truncation,
                reason = "that is what single precision does"
            )]
            let mut columns = all.xyzw().map(|c| c.iter().map(|v| *v as f32).collect::<Vec<f32>>());
            columns[1][7] = f32::NAN;
            (0..4).for_each(|k| columns[k][9] = 0.0);
            (0..4).for_each(|k| columns[k][11] *= 1e-30);
            let given = columns.clone();
            let at = |columns: &[Vec<f32>; 4], i: usize| [0, 1, 2, 3].map(|k: usize| columns[k][i]);
            let mut quats: Vec<[f32; 4]> = (0..600).map(|i| at(&given, i)).collect();
            let [x, y, z, w] = &mut columns;
            let changed = limit.project_all_f32([x, y, z, w]);
            assert_eq!(limit.project_quats_f32(&mut quats), changed, "{name}");
            let mut moved = 0;
            for i in 0..600 {
                let (from, found) = (at(&given, i), at(&columns, i));
                assert_eq!(found.map(f32::to_bits), quats[i].map(f32::to_bits), "{name}");
                moved += usize::from(from.map(f32::to_bits) != found.map(f32::to_bits));
                let m = single(from[0], from[1], from[2], from[3]);
                let p = limit.project(m.unwrap_or_default());
                let [x, y, z, w] = found;
                let apart = single(x, y, z, w).unwrap().distance(p).radians();
                assert!(apart < 1.3e-6, "{name}: {apart}");
            }
            assert_eq!(moved, changed, "{name}");
            let [x, y, z, w] = &mut columns;
            assert_eq!(limit.project_all_f32([x, y, z, w]), 0, "{name}: inside is left alone");
        }
    }

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
