//! Columns of rotations and points, one component after the other in memory.
//!
//! A clip keeps each joint's samples as columns, so that a loop over time reads memory in order and
//! the compiler can work on several frames at once.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::{Deref, DerefMut, Range};
use std::sync::{Arc, Mutex, PoisonError};

use glam::{DQuat, DVec3};

use super::{Level, Rotation, batch};
use crate::threads::each;

/// One component of a column: numbers of its own, or a part of a table that many columns were
/// written into at once. A part becomes numbers of its own when it is first changed.
#[derive(Clone)]
enum Component {
    Own(Vec<f64>),
    Part { table: Arc<Vec<f64>>, range: Range<usize> },
}

impl Component {
    fn own(&mut self) -> &mut Vec<f64> {
        if let Self::Part { table, range } = self {
            *self = Self::Own(table[range.clone()].to_vec());
        }
        match self {
            Self::Own(numbers) => numbers,
            Self::Part { .. } => unreachable!("made its own above"),
        }
    }
}

impl Default for Component {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl Deref for Component {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Self::Own(numbers) => numbers,
            Self::Part { table, range } => &table[range.clone()],
        }
    }
}

impl DerefMut for Component {
    fn deref_mut(&mut self) -> &mut [f64] {
        self.own()
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

/// A column of rotations: x, y, z and w each contiguous.
#[derive(Clone, Debug, Default)]
pub struct Rotations {
    x: Component,
    y: Component,
    z: Component,
    w: Component,
}

impl Rotations {
    /// An empty column.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty column with room for `n` rotations.
    #[must_use]
    pub fn with_capacity(n: usize) -> Self {
        let room = || Component::Own(Vec::with_capacity(n));
        Self { x: room(), y: room(), z: room(), w: room() }
    }

    /// `n` copies of one rotation.
    #[must_use]
    pub fn repeat(rotation: Rotation, n: usize) -> Self {
        let q = rotation.quat();
        let repeat = |value| Component::Own(vec![value; n]);
        Self { x: repeat(q.x), y: repeat(q.y), z: repeat(q.z), w: repeat(q.w) }
    }

    /// `columns` columns of `n` rotations each, all in one table. `fill` writes the x, y, z and w of
    /// a column given its number, whichever thread it is on; what it finds there are zeros.
    pub(crate) fn in_one_table(
        columns: usize,
        n: usize,
        threads: NonZeroUsize,
        fill: impl Fn(usize, [&mut [f64]; 4]) + Sync,
    ) -> Vec<Self> {
        // Fewer rotations are not worth a thread.
        const FEW: usize = 1 << 15;
        let mut table = crate::memory::zeros(4 * n * columns);
        let parts = table.chunks_exact_mut((4 * n).max(1)).enumerate();
        let parts: Vec<(usize, Mutex<&mut [f64]>)> =
            parts.map(|(i, part)| (i, Mutex::new(part))).collect();
        let threads = if n * columns < FEW { NonZeroUsize::MIN } else { threads };
        each(&parts, threads, |(i, part)| {
            let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
            let (xy, zw) = part.split_at_mut(2 * n);
            let ((x, y), (z, w)) = (xy.split_at_mut(n), zw.split_at_mut(n));
            fill(*i, [x, y, z, w]);
        });
        drop(parts);
        let table = Arc::new(table);
        let part = |i: usize| Component::Part { table: table.clone(), range: i * n..(i + 1) * n };
        (0..columns)
            .map(|i| 4 * i)
            .map(|i| Self { x: part(i), y: part(i + 1), z: part(i + 2), w: part(i + 3) })
            .collect()
    }

    /// Of columns x, y, z and w of unit quaternions, which are equally long.
    pub(crate) fn from_columns(columns: [Vec<f64>; 4]) -> Self {
        let [x, y, z, w] = columns.map(Component::Own);
        Self { x, y, z, w }
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.w.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.w.is_empty()
    }

    /// The rotation at `i`, or `None` past the end.
    #[must_use]
    pub fn get(&self, i: usize) -> Option<Rotation> {
        (i < self.len()).then(|| self.at(i))
    }

    /// The rotation at `i`.
    ///
    /// # Panics
    ///
    /// Past the end.
    #[must_use]
    #[inline]
    pub fn at(&self, i: usize) -> Rotation {
        Rotation::from_unit(DQuat::from_xyzw(self.x[i], self.y[i], self.z[i], self.w[i]))
    }

    /// Replaces the rotation at `i`.
    ///
    /// # Panics
    ///
    /// Past the end.
    pub fn set(&mut self, i: usize, rotation: Rotation) {
        let q = rotation.quat();
        (self.x[i], self.y[i], self.z[i], self.w[i]) = (q.x, q.y, q.z, q.w);
    }

    /// Appends a rotation.
    pub fn push(&mut self, rotation: Rotation) {
        let q = rotation.quat();
        self.x.own().push(q.x);
        self.y.own().push(q.y);
        self.z.own().push(q.z);
        self.w.own().push(q.w);
    }

    /// Makes room for exactly `n`; new places hold the identity.
    pub(crate) fn resize(&mut self, n: usize) {
        self.x.own().resize(n, 0.0);
        self.y.own().resize(n, 0.0);
        self.z.own().resize(n, 0.0);
        self.w.own().resize(n, 1.0);
    }

    /// Sets all to one rotation.
    pub(crate) fn fill(&mut self, rotation: Rotation) {
        let q = rotation.quat();
        self.x.fill(q.x);
        self.y.fill(q.y);
        self.z.fill(q.z);
        self.w.fill(q.w);
    }

    /// Copies a range of another column of the same length as this one.
    pub(crate) fn copy_from(&mut self, other: &Self, range: Range<usize>) {
        self.x.copy_from_slice(&other.x[range.clone()]);
        self.y.copy_from_slice(&other.y[range.clone()]);
        self.z.copy_from_slice(&other.z[range.clone()]);
        self.w.copy_from_slice(&other.w[range]);
    }

    /// `by · q` of a range of another column, whatever was here before.
    pub(crate) fn turn_from(&mut self, by: Rotation, other: &Self, range: Range<usize>) {
        let n = range.len();
        if self.len() != n {
            self.resize(n);
        }
        let from = other.xyzw().map(|c| &c[range.clone()]);
        batch::turned(Level::best(), by, from, self.xyzw_mut());
    }

    /// [`Rotation::canonical`] of every rotation.
    pub(crate) fn canonical(&self) -> Self {
        const SIGN: u64 = 1 << 63;
        let n = self.len();
        let w = &self.w[..n];
        let signed = |c: &[f64]| {
            let flip = |(c, w): (&f64, &f64)| f64::from_bits(c.to_bits() ^ (w.to_bits() & SIGN));
            // Adding zero turns −0 into +0.
            Component::Own(c.iter().zip(w).map(flip).map(|c| c + 0.0).collect())
        };
        let (x, y, z) = (signed(&self.x), signed(&self.y), signed(&self.z));
        let positive = Component::Own(w.iter().map(|w| w.abs()).collect());
        let mut all = Self { x, y, z, w: positive };
        for i in (0..n).filter(|i| w[*i] == 0.0) {
            all.set(i, self.at(i).canonical());
        }
        all
    }

    /// All of them in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Rotation> + '_ {
        let [x, y, z, w] = self.xyzw();
        let n = w.len();
        let (x, y, z) = (&x[..n], &y[..n], &z[..n]);
        (0..n).map(move |i| Rotation::from_unit(DQuat::from_xyzw(x[i], y[i], z[i], w[i])))
    }

    /// The component columns x, y, z, w.
    #[must_use]
    pub fn xyzw(&self) -> [&[f64]; 4] {
        [&self.x, &self.y, &self.z, &self.w]
    }

    /// The component columns x, y, z, w, writable. Whoever writes keeps every quaternion a unit.
    pub(crate) fn xyzw_mut(&mut self) -> [&mut [f64]; 4] {
        [&mut self.x, &mut self.y, &mut self.z, &mut self.w]
    }
}

impl FromIterator<Rotation> for Rotations {
    fn from_iter<I: IntoIterator<Item = Rotation>>(rotations: I) -> Self {
        let rotations = rotations.into_iter();
        let room = rotations.size_hint().0;
        let [mut x, mut y, mut z, mut w] = [(); 4].map(|()| Vec::with_capacity(room));
        rotations.for_each(|r| {
            let q = r.quat();
            x.push(q.x);
            y.push(q.y);
            z.push(q.z);
            w.push(q.w);
        });
        Self::from_columns([x, y, z, w])
    }
}

/// A column of points or vectors: x, y and z each contiguous.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
}

impl Points {
    /// An empty column.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// `n` copies of one point.
    #[must_use]
    pub fn repeat(point: DVec3, n: usize) -> Self {
        Self { x: vec![point.x; n], y: vec![point.y; n], z: vec![point.z; n] }
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// The point at `i`, or `None` past the end.
    #[must_use]
    pub fn get(&self, i: usize) -> Option<DVec3> {
        (i < self.len()).then(|| self.at(i))
    }

    /// The point at `i`.
    ///
    /// # Panics
    ///
    /// Past the end.
    #[must_use]
    pub fn at(&self, i: usize) -> DVec3 {
        DVec3::new(self.x[i], self.y[i], self.z[i])
    }

    /// Replaces the point at `i`.
    ///
    /// # Panics
    ///
    /// Past the end.
    pub fn set(&mut self, i: usize, point: DVec3) {
        (self.x[i], self.y[i], self.z[i]) = (point.x, point.y, point.z);
    }

    /// Appends a point.
    pub fn push(&mut self, point: DVec3) {
        self.x.push(point.x);
        self.y.push(point.y);
        self.z.push(point.z);
    }

    /// Makes room for exactly `n`; new places hold zero.
    pub(crate) fn resize(&mut self, n: usize) {
        self.x.resize(n, 0.0);
        self.y.resize(n, 0.0);
        self.z.resize(n, 0.0);
    }

    /// Sets all to one point.
    pub(crate) fn fill(&mut self, point: DVec3) {
        self.x.fill(point.x);
        self.y.fill(point.y);
        self.z.fill(point.z);
    }

    /// Copies a range of another column of the same length as this one.
    pub(crate) fn copy_from(&mut self, other: &Self, range: Range<usize>) {
        self.x.copy_from_slice(&other.x[range.clone()]);
        self.y.copy_from_slice(&other.y[range.clone()]);
        self.z.copy_from_slice(&other.z[range]);
    }

    /// All of them in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = DVec3> + '_ {
        (0..self.len()).map(|i| self.at(i))
    }

    /// The component columns x, y, z.
    #[must_use]
    pub fn xyz(&self) -> [&[f64]; 3] {
        [&self.x, &self.y, &self.z]
    }

    /// The component columns x, y, z, writable.
    pub fn xyz_mut(&mut self) -> [&mut [f64]; 3] {
        [&mut self.x, &mut self.y, &mut self.z]
    }
}

impl FromIterator<DVec3> for Points {
    fn from_iter<I: IntoIterator<Item = DVec3>>(points: I) -> Self {
        let mut out = Self::default();
        points.into_iter().for_each(|p| out.push(p));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Angle;

    #[test]
    fn columns_turn_and_become_canonical_like_their_rotations() {
        let mut rng = crate::synth::Rng::new(4);
        let half = |x, y, z| Rotation::from_unit(DQuat::from_xyzw(x, y, z, -0.0));
        let mut all: Vec<Rotation> = (0..50).map(|_| rng.rotation()).collect();
        all.extend([half(-1.0, 0.0, -0.0), half(0.0, -0.6, 0.8), half(-0.0, 0.0, -1.0)]);
        all.push(Rotation::from_unit(DQuat::from_xyzw(-0.0, 0.6, -0.0, -0.8)));
        let column: Rotations = all.iter().copied().collect();
        let bits = |r: Rotation| r.quat().to_array().map(f64::to_bits);
        for (found, q) in column.canonical().iter().zip(&all) {
            assert_eq!(bits(found), bits(q.canonical()));
        }
        let by = rng.rotation();
        let mut turned = Rotations::repeat(by, 7);
        turned.turn_from(by, &column, 3..all.len());
        assert_eq!(turned.len(), all.len() - 3);
        for (found, q) in turned.iter().zip(&all[3..]) {
            assert_eq!(bits(found), bits(by * *q));
        }
    }

    #[test]
    fn columns_give_back_what_was_put_in() {
        let a = Rotation::about_x(Angle::from_radians(0.3));
        let mut column: Rotations = [a, a.inverse()].into_iter().collect();
        column.push(Rotation::IDENTITY);
        column.set(0, a * a);
        assert_eq!(column.len(), 3);
        assert_eq!(column.at(1).quat(), a.inverse().quat());
        assert_eq!(column.at(0).quat(), (a * a).quat());
        assert!(column.get(3).is_none());
        let points: Points = column.iter().map(|r| r * DVec3::Y).collect();
        assert_eq!(points.at(2), DVec3::Y);
        assert_eq!(points.xyz()[0].len(), 3);
    }
}
