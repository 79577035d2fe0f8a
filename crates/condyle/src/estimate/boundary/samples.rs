//! Samples in an order of their own, how dense they are, and where there are none.
#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

use std::cell::OnceCell;
use std::f64::consts::{FRAC_PI_2, PI};
use std::ops::Range;

use glam::DVec3;

use super::rows::{LANES, Row, dots, largest_dot, least, rows};
use super::sides::{Missing, Sides};
use crate::math::{Kernel, Level, trig, unit};

/// Bits of each coordinate on a face of the cube, at the finest level.
pub(super) const LEVELS: u32 = 12;

/// Distinct samples in an order of their own: along a curve through the cells of a cube, so that those
/// of one cell are together at every level.
pub(in crate::estimate) struct Samples {
    pub(super) directions: Vec<DVec3>,
    keys: Vec<u32>,
    /// How many cells are occupied at each level.
    occupied: [usize; LEVELS as usize + 1],
    /// See [`Samples::emptiest`].
    emptiest: OnceCell<(DVec3, f64)>,
}

impl Samples {
    pub(in crate::estimate) fn new(given: &[DVec3]) -> Self {
        let mut order: Vec<u64> = Vec::with_capacity(given.len());
        let at = |i: u64| usize::try_from(i & 0xffff_ffff).unwrap_or(0);
        for (i, (d, key)) in given.iter().zip(keys(given)).enumerate().take(u32::MAX as usize) {
            let squared = d.length_squared();
            if squared.is_finite() && squared > 0.0 {
                order.push(u64::from(key) << 32 | i as u64);
            }
        }
        sort(&mut order);
        // Those of the same finest cell by their components.
        let mut start = 0;
        while start < order.len() {
            let mut end = start + 1;
            while end < order.len() && order[end] >> 32 == order[start] >> 32 {
                end += 1;
            }
            if end - start > 1 {
                order[start..end].sort_unstable_by(|&a, &b| compare(given[at(a)], given[at(b)]));
            }
            start = end;
        }
        let mut directions: Vec<DVec3> = Vec::with_capacity(order.len());
        let mut keys: Vec<u32> = Vec::with_capacity(order.len());
        let mut steps = [0_usize; LEVELS as usize + 1];
        let mut before = DVec3::NAN;
        for o in order {
            let d = given[at(o)];
            if d == before {
                continue;
            }
            before = d;
            let Some(d) = direction(d) else { continue };
            let key = u32::try_from(o >> 32).unwrap_or(0);
            if let Some(last) = keys.last().filter(|last| **last != key) {
                let bit = 31 - (last ^ key).leading_zeros();
                steps[LEVELS.saturating_sub(bit / 2) as usize] += 1;
            }
            directions.push(d);
            keys.push(key);
        }
        let mut occupied = [0; LEVELS as usize + 1];
        let mut count = 1;
        for (occupied, step) in occupied.iter_mut().zip(steps) {
            count += step;
            *occupied = count;
        }
        Self { directions, keys, occupied, emptiest: OnceCell::new() }
    }

    /// The number of the cell at a level.
    fn cell(&self, i: usize, level: u32) -> u32 {
        self.keys[i] >> (2 * (LEVELS - level))
    }

    /// The radius of a cap that samples keep out of the area that they fill. The largest empty cap among
    /// n random samples that have the area s² each has a radius of s √(ln n / π), 1.6 s for 2000; a
    /// little more keeps the cap out. It need not be finer than a thirtieth of the size of the region.
    pub(super) fn reach(&self, area: f64) -> f64 {
        let count = real(self.directions.len());
        (REACH * (area / count).sqrt()).max(0.03 * area.sqrt())
    }

    /// Roughly the area that they fill: that of cells so large that they hold 2.5 samples each, between
    /// two levels. It depends on how the cells happen to lie, by some percent.
    pub(super) fn covered(&self) -> f64 {
        let count = real(self.directions.len());
        let each = |level: u32| count / real(self.occupied[level as usize]);
        let covered = |level: u32| {
            real(self.occupied[level as usize]) * (4.0 * PI / 6.0) / real(1 << (2 * level))
        };
        let mut level = 0;
        while level + 1 < LEVELS && each(level + 1) >= ENOUGH {
            level += 1;
        }
        let (coarse, fine) = (each(level), each(level + 1));
        let part = if coarse > fine { (coarse - ENOUGH) / (coarse - fine) } else { 0.0 };
        let part = part.clamp(0.0, 1.0);
        covered(level) * (1.0 - part) + covered(level + 1) * part
    }

    /// Whether there are more than can all be walked around.
    pub(super) fn are_many(&self) -> bool {
        self.directions.len() > MANY
    }

    /// All of them; of very many the first of each cell, of cells that are small for a reach.
    pub(super) fn thinned(&self, reach: f64) -> Vec<DVec3> {
        if !self.are_many() {
            return self.directions.clone();
        }
        let mut level = 0;
        while level < LEVELS && FRAC_PI_2 / real(1 << level) > 0.35 * reach {
            level += 1;
        }
        self.first_of_cells(level)
    }

    fn first_of_cells(&self, level: u32) -> Vec<DVec3> {
        let mut kept = Vec::new();
        let mut before = u32::MAX;
        for (i, d) in self.directions.iter().enumerate() {
            let cell = self.cell(i, level);
            if cell != before {
                kept.push(*d);
                before = cell;
            }
        }
        kept
    }

    /// The direction farthest from all samples, and how far it is from the nearest of them. It turns with
    /// the samples.
    ///
    /// # Source
    ///
    /// Such a direction is the centre of an empty cap that touches three samples, or more, with none of
    /// its half circles free: a corner of the Voronoi diagram. We go up to such corners from where it is
    /// emptiest on a lattice, by the active set method (J. Nocedal, S. J. Wright, "Numerical
    /// optimization", 2006, section 16.5), and take the best.
    ///
    /// # Domain and singularity
    ///
    /// Where all samples are within 90° of their mean its opposite is taken, which is at least 90° from
    /// all; what is that far from all is together. A cap that is smaller than the largest one may be
    /// taken if no point of the lattice led to that.
    pub(super) fn emptiest(&self) -> (DVec3, f64) {
        *self.emptiest.get_or_init(|| self.look_for_emptiest())
    }

    fn look_for_emptiest(&self) -> (DVec3, f64) {
        let sum: DVec3 = self.directions.iter().sum();
        if let Some(mean) = unit(sum) {
            let least = self.directions.iter().fold(1.0_f64, |least, d| least.min(mean.dot(*d)));
            if least > 1e-6 {
                return (-mean, PI - trig::acos(least.min(1.0)));
            }
        }
        let mut level = 0;
        while level < LEVELS && self.occupied[level as usize + 1] <= 1500 {
            level += 1;
        }
        let some = self.first_of_cells(level);
        let some_rows = rows(&some, DVec3::NAN);
        // Evenly over the sphere, on a spiral by the golden angle.
        let count = (some.len() / 2).clamp(50, 200);
        let mut tries: Vec<(f64, DVec3)> = (0..count)
            .map(|i| {
                let z = 1.0 - (2.0 * real(i) + 1.0) / real(count);
                let (sin, cos) = trig::sin_cos(2.399_963_229_728_653 * real(i));
                let across = (1.0 - z * z).sqrt();
                let d = DVec3::new(across * cos, across * sin, z);
                (largest_dot(&some_rows, d), d)
            })
            .collect();
        tries.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        // No direction is farther than this from the lattice, with some room, and none changes its distance
        // from a sample by more than it moves.
        let gap = (4.0 * PI / real(count)).sqrt();
        let angle = |cos: f64| trig::acos(cos.clamp(-1.0, 1.0));
        let mut starts: Vec<DVec3> = Vec::with_capacity(STARTS);
        let mut best = (f64::INFINITY, DVec3::Z);
        for (near, start) in tries {
            if starts.len() == STARTS || angle(near) + gap < angle(best.0) {
                break;
            }
            if starts.iter().any(|other| other.dot(start) >= APART) {
                continue;
            }
            starts.push(start);
            let d = farther(&some, &some_rows, start);
            let near = largest_dot(&some_rows, d);
            if near < best.0 {
                best = (near, d);
            }
        }
        // Those that were left out may be nearer.
        let d = if some.len() < self.directions.len() {
            farther(&self.directions, &rows(&self.directions, DVec3::NAN), best.1)
        } else {
            best.1
        };
        let near = self.directions.iter().fold(-1.0_f64, |most, s| most.max(s.dot(d)));
        (d, trig::acos(near.clamp(-1.0, 1.0)))
    }

    /// Whether all are nearer to a direction than to have this cosine.
    pub(super) fn all_within(&self, middle: DVec3, cos: f64) -> bool {
        self.directions.iter().all(|d| d.dot(middle) > cos)
    }

    /// The samples outside of a polygon.
    pub(super) fn outside(&self, polygon: &[DVec3], empty: DVec3, reach: f64) -> Vec<Missing> {
        let sides = Sides::new(polygon, empty);
        let mut missing = Vec::new();
        let count = self.directions.len();
        if count < 1000 {
            // A cap inside holds many.
            let sum: DVec3 = self.directions.iter().sum();
            let middle = unit(sum).filter(|middle| sides.contains(*middle) == Some(true));
            let (middle, near) = middle.map_or((DVec3::ZERO, -1.0), |middle| {
                (middle, 0.999 * sides.nearest(middle).chord_squared)
            });
            let far = |d: &&DVec3| (**d - middle).length_squared() > near;
            sides.check(self.directions.iter().filter(far), &mut missing);
            return missing;
        }
        // Cells as a whole where they are clear of the boundary: large ones first.
        let mut level = 0;
        while level < LEVELS && FRAC_PI_2 / real(1 << level) > 4.0 * reach {
            level += 1;
        }
        self.outside_of(&sides, 0..count, level, &mut missing);
        missing
    }

    /// The same of some of them, which are all those of a few cells: cells as a whole, and those across
    /// the boundary once more by the cells in them.
    fn outside_of(
        &self,
        sides: &Sides<'_>,
        range: Range<usize>,
        level: u32,
        missing: &mut Vec<Missing>,
    ) {
        /// So many are asked one by one.
        const SOME: usize = 48;
        let mut start = range.start;
        while start < range.end {
            let cell = self.cell(start, level);
            let same = |i: &usize| self.cell(*i, level) == cell;
            let end = (start + 1..range.end).take_while(same).last().unwrap_or(start) + 1;
            let group = &self.directions[start..end];
            let middle = unit(group.iter().sum());
            let clear = group.len() > 2
                && middle.is_some_and(|middle| {
                    let farthest = |most: f64, d: &DVec3| most.max((*d - middle).length_squared());
                    let radius = group.iter().fold(0.0, farthest);
                    let nearest = sides.nearest(middle);
                    nearest.chord_squared > 1.1 * radius && sides.contains(middle) == Some(true)
                });
            if !clear && group.len() > SOME && level < LEVELS {
                self.outside_of(sides, start..end, level + 1, missing);
            } else if !clear {
                sides.check(group.iter(), missing);
            }
            start = end;
        }
    }
}

/// Sorts by the upper half of 27 bits; what is below may be in any order. By digits if there are many.
pub(super) fn sort(order: &mut Vec<u64>) {
    if order.len() < 4096 {
        order.sort_unstable();
        return;
    }
    let mut other = vec![0; order.len()];
    for shift in [32, 41, 50] {
        let digit = |x: u64| usize::try_from(x >> shift & 511).unwrap_or(0);
        let mut starts = [0_usize; 512];
        for &x in order.iter() {
            starts[digit(x)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        for &x in order.iter() {
            let place = &mut starts[digit(x)];
            other[*place] = x;
            *place += 1;
        }
        std::mem::swap(order, &mut other);
    }
}

/// Directions that [`farther`] starts from, at most.
const STARTS: usize = 6;

/// They are farther apart than this: cos 20°.
const APART: f64 = 0.94;

/// Goes away from the nearest samples until it is held from all sides: where no direction nearby is
/// farther from all of them. `rows` are the samples.
fn farther(samples: &[DVec3], rows: &[Row], start: DVec3) -> DVec3 {
    // A path has some ten pieces. More are only needed where samples are on one circle but for rounding.
    const MOST: usize = 100;
    let mut d = start;
    let nearest = samples.iter().enumerate().max_by(|a, b| a.1.dot(d).total_cmp(&b.1.dot(d)));
    let Some((nearest, _)) = nearest else { return d };
    let mut held = Vec::with_capacity(4);
    held.push(nearest);
    let mut tangents = vec![[0.0; LANES]; rows.len()];
    for _ in 0..MOST {
        let Some(away) = away_from(samples, &mut held, d) else { break };
        let touched = samples[held[0]];
        // All of them go at one pace, down to where they are farthest: R cos(θ − φ).
        let (now, pace) = (touched.dot(d), touched.dot(away));
        let farthest = PI + trig::atan2(pace, now);
        // Others come as near where tan θ = (p − q) · d / (q − p) · u, for directions d and u.
        Level::best().run(Closing { rows, d, away, now, pace, tangents: &mut tangents });
        for &i in &held {
            tangents[i / LANES][i % LANES] = f64::INFINITY;
        }
        let first = least(&tangents);
        let angle = trig::atan2(first, 1.0).min(farthest);
        let (sin, cos) = trig::sin_cos(angle);
        let Some(next) = unit(d * cos + away * sin) else { break };
        d = next;
        if angle >= farthest {
            break;
        }
        if first < f64::INFINITY {
            held.extend(tangents.as_flattened().iter().position(|tangent| *tangent == first));
        }
    }
    d
}

/// The tangent of the angle from d to u at which each of some samples comes as near as the nearest;
/// infinity if it does not.
struct Closing<'a> {
    rows: &'a [Row],
    d: DVec3,
    away: DVec3,
    /// The nearest along both.
    now: f64,
    pace: f64,
    tangents: &'a mut [[f64; LANES]],
}

impl Kernel for Closing<'_> {
    #[inline(always)]
    fn run(self) {
        for (tangents, row) in self.tangents.iter_mut().zip(self.rows) {
            let (along, across) = (dots(row, self.d), dots(row, self.away));
            for lane in 0..LANES {
                let (gap, closing) = (self.now - along[lane], across[lane] - self.pace);
                let tangent = if gap > 0.0 { gap } else { 0.0 } / closing;
                tangents[lane] = if closing > 0.0 { tangent } else { f64::INFINITY };
            }
        }
    }
}

/// Which way to go so as to leave the nearest of some samples, one to three, fastest; those that need not
/// be looked at are left out. `None` if no way leaves them all.
///
/// Opposite to the shortest vector among the means of their tangents.
fn away_from(samples: &[DVec3], held: &mut Vec<usize>, d: DVec3) -> Option<DVec3> {
    let tangent = |i: usize| samples[i] - d * samples[i].dot(d);
    let mut shortest: Option<(DVec3, [usize; 2])> = None;
    for i in 0..held.len() {
        for j in i..held.len() {
            let (a, b) = (tangent(held[i]), tangent(held[j]));
            let along = b - a;
            let part = (-a.dot(along) / along.length_squared()).clamp(0.0, 1.0);
            let mean = if i == j || part.is_nan() { a } else { a + along * part };
            let ends = match part {
                1.0 => [j, j],
                part if part > 0.0 => [i, j],
                _ => [i, i],
            };
            if shortest.is_none_or(|(least, _)| mean.length_squared() < least.length_squared()) {
                shortest = Some((mean, ends));
            }
        }
    }
    if let [a, b, c] = held[..] {
        // Between three.
        let turns = [[a, b], [b, c], [c, a]].map(|[p, q]| tangent(p).cross(tangent(q)).dot(d));
        if turns.iter().all(|turn| *turn >= 0.0) || turns.iter().all(|turn| *turn <= 0.0) {
            return None;
        }
    }
    let (mean, [i, j]) = shortest?;
    // The first is not after the second.
    held[0] = held[i];
    if i != j {
        held[1] = held[j];
    }
    held.truncate(if i == j { 1 } else { 2 });
    // Samples that are opposite of each other leave no way, but for rounding.
    if mean.length_squared() < 1e-24 { None } else { unit(-mean) }
}

/// More samples are not walked around.
const MANY: usize = 8192;

/// Samples in a cell that tell how dense they are.
pub(super) const ENOUGH: f64 = 2.5;

/// Times √(area / samples).
pub(super) const REACH: f64 = 1.8;

/// The same direction as a unit vector: unchanged if it is one.
pub(super) fn direction(d: DVec3) -> Option<DVec3> {
    if (d.length_squared() - 1.0).abs() < 1e-14 { Some(d) } else { unit(d) }
}

/// An order of vectors, by their components.
pub(in crate::estimate) fn compare(a: DVec3, b: DVec3) -> std::cmp::Ordering {
    a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z))
}

/// The cells of directions on a cube around the sphere: face, then bits of both coordinates in turn. Of
/// what is no direction it is any cell.
///
/// # Source
///
/// The quadratic transform of S2 (google/s2geometry, `s2coords.h`), which makes cells nearly equal.
pub(super) fn keys(directions: &[DVec3]) -> Vec<u32> {
    let mut keys = vec![0; directions.len()];
    Level::best().run(Keys { directions, keys: &mut keys });
    keys
}

struct Keys<'a> {
    directions: &'a [DVec3],
    keys: &'a mut [u32],
}

impl Kernel for Keys<'_> {
    #[inline(always)]
    fn run(self) {
        const BLOCK: usize = 128;
        let [mut x, mut y, mut z] = [[0.0; BLOCK]; 3];
        for (from, to) in self.directions.chunks(BLOCK).zip(self.keys.chunks_mut(BLOCK)) {
            for (n, d) in from.iter().enumerate() {
                (x[n], y[n], z[n]) = (d.x, d.y, d.z);
            }
            for (n, key) in to.iter_mut().enumerate().take(BLOCK) {
                *key = key_of([x[n], y[n], z[n]]);
            }
        }
    }
}

/// 1.5 · 2⁵²: what is added to it is rounded to an integer, which is then found in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The cell of one, see [`keys`]: without branches and with lanes of one width, so that a loop over it
/// works on several at once.
#[inline(always)]
fn key_of([x, y, z]: [f64; 3]) -> u32 {
    let pick = |condition: bool, a: f64, b: f64| if condition { a } else { b };
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let is_x = (ax >= ay) & (ax >= az);
    let is_y = !is_x & (ay >= az);
    let of_three = |of_x: f64, of_y: f64, of_z: f64| pick(is_x, of_x, pick(is_y, of_y, of_z));
    let (u, v, w) = (of_three(y, z, x), of_three(z, x, y), of_three(x, y, z));
    let place = |u: f64| {
        const MOST: f64 = ((1 << LEVELS) - 1) as f64;
        let u = u / w.abs();
        let half = 0.5 * (1.0 + 3.0 * u.abs()).sqrt();
        let s = pick(u >= 0.0, half, 1.0 - half) * f64::from(1 << LEVELS);
        let s = pick(s > 0.0, s, 0.0);
        let s = pick(s < MOST, s, MOST);
        let nearest = (s + ROUND) - ROUND;
        let whole = pick(nearest > s, nearest - 1.0, nearest);
        spread((whole + ROUND).to_bits() & ((1 << LEVELS) - 1))
    };
    let face = of_three(0.0, 2.0, 4.0) + pick(w < 0.0, 1.0, 0.0);
    let face = (face + ROUND).to_bits() & 7;
    #[allow(clippy::cast_possible_truncation, reason = "27 bits")]
    {
        (face << (2 * LEVELS) | place(u) << 1 | place(v)) as u32
    }
}

/// Bits of a number of twelve at every second place.
#[inline(always)]
fn spread(x: u64) -> u64 {
    let x = (x | x << 8) & 0x00ff_00ff;
    let x = (x | x << 4) & 0x0f0f_0f0f;
    let x = (x | x << 2) & 0x3333_3333;
    (x | x << 1) & 0x5555_5555
}

#[allow(clippy::cast_precision_loss, reason = "counts")]
pub(super) fn real(n: usize) -> f64 {
    n as f64
}

/// A direction far from all of the given ones; `None` if there are none. Of very many, it looks at one
/// in each of 1536 cells. `samples` are the same directions, if they are at hand.
pub(in crate::estimate) fn emptiest(
    directions: &[DVec3],
    samples: Option<&Samples>,
) -> Option<DVec3> {
    const LEVEL: u32 = 4;
    let other;
    let samples = if directions.len() > 4096 {
        let mut cells = vec![DVec3::NAN; 6 << (2 * LEVEL)];
        let all = directions.iter().zip(keys(directions));
        for (d, key) in all.filter(|(d, _)| d.is_finite() && **d != DVec3::ZERO) {
            let cell = &mut cells[(key >> (2 * (LEVELS - LEVEL))) as usize];
            // NaN is last.
            if compare(*d, *cell).is_lt() {
                *cell = *d;
            }
        }
        other = Samples::new(&cells);
        &other
    } else if let Some(samples) = samples {
        samples
    } else {
        other = Samples::new(directions);
        &other
    };
    (!samples.directions.is_empty()).then(|| samples.emptiest().0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    /// One by one, with branches; also where coordinates are equal, zero, or on the border of a cell.
    #[test]
    fn cells_are_those_of_the_cube() {
        let key = |d: DVec3| -> u32 {
            let a = d.abs();
            let (face, u, v, w) = if a.x >= a.y && a.x >= a.z {
                (0, d.y, d.z, d.x)
            } else if a.y >= a.z {
                (2, d.z, d.x, d.y)
            } else {
                (4, d.x, d.y, d.z)
            };
            let place = |u: f64| {
                let u = u / w.abs();
                let half = 0.5 * (1.0 + 3.0 * u.abs()).sqrt();
                let s = if u >= 0.0 { half } else { 1.0 - half };
                let cell = (s * f64::from(1 << LEVELS)).clamp(0.0, f64::from((1 << LEVELS) - 1));
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "clamped"
                )]
                let cell = cell as u32;
                (0..LEVELS).fold(0, |bits, i| bits | (cell >> i & 1) << (2 * i))
            };
            let face = if w < 0.0 { face + 1 } else { face };
            face << (2 * LEVELS) | place(u) << 1 | place(v)
        };
        let mut rng = Rng::new(9);
        let mut all: Vec<DVec3> = (0..20_000).map(|_| rng.direction()).collect();
        all.extend(
            (0..2000).map(|_| (rng.direction() * 3.0).round()).filter(|d| *d != DVec3::ZERO),
        );
        all.extend((0..500).map(|_| rng.direction() * DVec3::new(1.0, 1e-9, -0.0)));
        for (d, found) in all.iter().zip(keys(&all)) {
            assert_eq!(found, key(*d), "{d}");
        }
        assert_eq!(keys(&[DVec3::ZERO, DVec3::NAN]).len(), 2);
    }
}
