//! Which rotations were visited: a set of cells of SO(3).

use glam::DQuat;

use crate::math::{Kernel, Level, Rotation, Rotations};

/// A set of cells of SO(3), each less than [`RADIUS_DEG`] around its centre.
///
/// Sets are joined by [`merge`](Self::merge), in any order and grouping to the same bits. What was
/// marked twice is there once.
///
/// # Convention
///
/// A quaternion belongs to the face of its largest component `c`; the other three `p` give
/// `t = p / c` in [−1, 1], in which signs of the quaternion cancel. On each of the four faces `t` is
/// cut into [`STEPS`] intervals, equal in `s = t (A − (A − 1) |t|)`. That warp is near to the arc
/// tangent, whose steps would be equal in angle; it is a little more even, and its inverse is a
/// square root. Of components that are equally large the first of w, x, y, z counts.
///
/// Walls between cells are hyperplanes through the origin of the quaternions. So cells are convex on
/// the sphere, and their farthest points from the centre are corners.
///
/// 4 × 4 × 4 cells are a block, one bit each. Only blocks with a bit are kept, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Occupancy {
    /// Rising; each is one for which [`is_block`] holds.
    blocks: Vec<u32>,
    /// As many, none of them zero.
    bits: Vec<u64>,
}

/// Intervals along each axis of a face. Where the other two axes are in their middle, an interval is
/// 1.05° to 1.15° of rotation.
const STEPS: u16 = 160;

/// Every rotation is nearer than this to the centre of its cell, degrees: the farthest corner of all
/// cells is at 0.96498° (`corners_of_all_cells_are_near_their_centres`).
pub(crate) const RADIUS_DEG: f64 = 0.965;

/// The warp's slope at 0. Measured: the farthest corner is at 0.9743° with the arc tangent, 0.9669°
/// with 1.35, 0.9650° with 1.36, 0.9838° with 1.375.
const A: f64 = 1.36;

/// Cells from the middle of a face to its edge.
const HALF: f64 = 80.0;

/// 1.5 · 2⁵²: what is added to it is rounded to an integer, which is then found in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// From so many visits on they are sorted by their digits.
const RADIX_FROM: usize = 192;

/// A set with this many times fewer blocks is merged by looking for each of them.
const FEW: usize = 8;

impl Occupancy {
    /// The cells of many rotations.
    pub(crate) fn of(rotations: &Rotations) -> Self {
        let cells = cells_of(rotations);
        let Some(first) = cells.first() else { return Self::default() };
        // Frames that follow each other are often in one block: `order` has its number above and the
        // place of its bits in `visits` below.
        let some = cells.len() / 8 + 16;
        let (mut order, mut visits) = (Vec::with_capacity(some), Vec::with_capacity(some));
        let (mut block, mut bits) = (first >> 6, 0);
        let mut leave = |block: u32, bits: u64| {
            order.push((u64::from(block) << 32) | visits.len() as u64);
            visits.push(bits);
        };
        for cell in &cells {
            if cell >> 6 != block {
                leave(block, bits);
                (block, bits) = (cell >> 6, 0);
            }
            bits |= 1 << (cell & 63);
        }
        leave(block, bits);
        sort(&mut order);
        let count = order.chunk_by(|a, b| a >> 32 == b >> 32).count();
        let mut set = Self { blocks: Vec::with_capacity(count), bits: Vec::with_capacity(count) };
        for visit in order {
            #[allow(clippy::cast_possible_truncation, reason = "two halves")]
            let (block, bits) = ((visit >> 32) as u32, visits[visit as u32 as usize]);
            match set.bits.last_mut() {
                Some(last) if set.blocks.last() == Some(&block) => *last |= bits,
                _ => {
                    set.blocks.push(block);
                    set.bits.push(bits);
                }
            }
        }
        set
    }

    /// Sorted blocks with their bits; `None` unless they are rising and exist, and no bits are zero.
    pub(crate) fn from_blocks(blocks: Vec<u32>, bits: Vec<u64>) -> Option<Self> {
        let good = blocks.len() == bits.len()
            && blocks.is_sorted_by(|a, b| a < b)
            && blocks.iter().all(|block| is_block(*block))
            && !bits.contains(&0);
        good.then_some(Self { blocks, bits })
    }

    /// The blocks in order, with their bits.
    pub(crate) fn blocks(&self) -> impl ExactSizeIterator<Item = (u32, u64)> + '_ {
        self.blocks.iter().copied().zip(self.bits.iter().copied())
    }

    /// The cells of both.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.blocks.is_empty() {
            self.clone_from(other);
        } else if other.blocks.len() < self.blocks.len() / FEW {
            self.merge_few(other);
        } else {
            let most = self.blocks.len() + other.blocks.len();
            let (mut blocks, mut bits) = (vec![0; most], vec![0; most]);
            let (ours, theirs) =
                ((&self.blocks[..], &self.bits[..]), (&other.blocks[..], &other.bits[..]));
            let n = join(ours, theirs, &mut blocks, &mut bits);
            (self.blocks, self.bits) = (blocks, bits);
            self.blocks.truncate(n);
            self.bits.truncate(n);
            self.blocks.shrink_to(n + n / 8);
            self.bits.shrink_to(n + n / 8);
        }
    }

    /// [`merge`](Self::merge) with much less than there is: each of its blocks is looked for.
    fn merge_few(&mut self, other: &Self) {
        // What is new, and before which of ours.
        let mut new = Vec::new();
        let mut from = 0;
        for (block, bits) in other.blocks() {
            // It is not far: in steps that double, then in the last step.
            let mut step = 16;
            while self.blocks.get(from + step).is_some_and(|b| *b < block) {
                from += step;
                step *= 2;
            }
            let end = (from + step).min(self.blocks.len());
            from += self.blocks[from..end].partition_point(|b| *b < block);
            if self.blocks.get(from) == Some(&block) {
                self.bits[from] |= bits;
            } else {
                new.push((from, block, bits));
            }
        }
        // From the end, so that each of ours moves once.
        let mut end = self.blocks.len();
        self.blocks.resize(end + new.len(), 0);
        self.bits.resize(end + new.len(), 0);
        for (left, (before, block, bits)) in new.into_iter().enumerate().rev() {
            self.blocks.copy_within(before..end, before + left + 1);
            self.bits.copy_within(before..end, before + left + 1);
            self.blocks[before + left] = block;
            self.bits[before + left] = bits;
            end = before;
        }
    }

    /// How many cells.
    pub(crate) fn count(&self) -> u64 {
        self.bits.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    /// The centres of the cells, in an order that depends on the set alone.
    pub(crate) fn centres(&self) -> Rotations {
        let mut centres = Rotations::with_capacity(usize::try_from(self.count()).unwrap_or(0));
        for (block, bits) in self.blocks() {
            let mut left = bits;
            while left != 0 {
                centres.push(centre((block << 6) | left.trailing_zeros()));
                left &= left - 1;
            }
        }
        centres
    }
}

type Blocks<'a> = (&'a [u32], &'a [u64]);

/// Both lists in one, of which there is room for as many as both have; returns how many there are.
///
/// Two halves at once: each step waits for the one before it, but not for the other half.
fn join(a: Blocks<'_>, b: Blocks<'_>, blocks: &mut [u32], bits: &mut [u64]) -> usize {
    let middle = a.0.len() / 2;
    let other = a.0.get(middle).map_or(0, |first| b.0.partition_point(|block| block < first));
    let ((a, c), (b, d)) = (split(a, middle), split(b, other));
    let room = middle + other;
    let (low_blocks, high_blocks) = blocks.split_at_mut(room);
    let (low_bits, high_bits) = bits.split_at_mut(room);
    let (mut i, mut j, mut low) = (0, 0, 0);
    let (mut k, mut l, mut high) = (0, 0, 0);
    while i < a.0.len() && j < b.0.len() && k < c.0.len() && l < d.0.len() {
        let next = lesser((a.0[i], a.1[i]), (b.0[j], b.1[j]));
        (low_blocks[low], low_bits[low]) = (next.block, next.bits);
        (i, j, low) = (i + next.of_first, j + next.of_second, low + 1);
        let next = lesser((c.0[k], c.1[k]), (d.0[l], d.1[l]));
        (high_blocks[high], high_bits[high]) = (next.block, next.bits);
        (k, l, high) = (k + next.of_first, l + next.of_second, high + 1);
    }
    let (a, b, c, d) = (split(a, i).1, split(b, j).1, split(c, k).1, split(d, l).1);
    low += join_rest(a, b, &mut low_blocks[low..], &mut low_bits[low..]);
    high += join_rest(c, d, &mut high_blocks[high..], &mut high_bits[high..]);
    blocks.copy_within(room..room + high, low);
    bits.copy_within(room..room + high, low);
    low + high
}

/// The same in one piece.
fn join_rest(a: Blocks<'_>, b: Blocks<'_>, blocks: &mut [u32], bits: &mut [u64]) -> usize {
    let (mut i, mut j, mut n) = (0, 0, 0);
    while i < a.0.len() && j < b.0.len() {
        let next = lesser((a.0[i], a.1[i]), (b.0[j], b.1[j]));
        (blocks[n], bits[n]) = (next.block, next.bits);
        (i, j, n) = (i + next.of_first, j + next.of_second, n + 1);
    }
    for rest in [split(a, i).1, split(b, j).1] {
        let end = n + rest.0.len();
        blocks[n..end].copy_from_slice(rest.0);
        bits[n..end].copy_from_slice(rest.1);
        n = end;
    }
    n
}

fn split((blocks, bits): Blocks<'_>, at: usize) -> (Blocks<'_>, Blocks<'_>) {
    ((&blocks[..at], &bits[..at]), (&blocks[at..], &bits[at..]))
}

/// The next block of two lists, and how many of each it uses up: none or one.
struct Next {
    block: u32,
    bits: u64,
    of_first: usize,
    of_second: usize,
}

/// Which list the next block comes from is as good as random, so there is no branch on it.
#[inline]
fn lesser(a: (u32, u64), b: (u32, u64)) -> Next {
    let (first, second) = (a.0 <= b.0, b.0 <= a.0);
    Next {
        block: a.0.min(b.0),
        bits: (a.1 & mask(first)) | (b.1 & mask(second)),
        of_first: usize::from(first),
        of_second: usize::from(second),
    }
}

#[inline]
fn mask(condition: bool) -> u64 {
    0_u64.wrapping_sub(u64::from(condition))
}

/// Whether there is such a block: a face and three numbers of six bits, each below 40.
fn is_block(block: u32) -> bool {
    block < 1 << 20 && [0, 6, 12].iter().all(|shift| (block >> shift) & 63 < u32::from(STEPS / 4))
}

fn cells_of(rotations: &Rotations) -> Vec<u32> {
    let mut cells = vec![0; rotations.len()];
    Level::best().run(Cells { rotations: rotations.xyzw(), cells: &mut cells });
    cells
}

struct Cells<'a> {
    rotations: [&'a [f64]; 4],
    cells: &'a mut [u32],
}

#[allow(clippy::inline_always, reason = "a kernel")]
impl Kernel for Cells<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { rotations, cells } = self;
        let n = cells.len();
        let [x, y, z, w] = rotations.map(|c| &c[..n]);
        for (i, cell) in cells.iter_mut().enumerate() {
            *cell = cell_of([x[i], y[i], z[i], w[i]]);
        }
    }
}

/// The cell of a quaternion x, y, z, w: 64 times its block, and its place in the block.
///
/// Without branches and with lanes of one width, so that a loop over it works on several at once.
#[inline(always)]
#[allow(clippy::inline_always, reason = "in a kernel")]
fn cell_of([x, y, z, w]: [f64; 4]) -> u32 {
    let [ax, ay, az, aw] = [x, y, z, w].map(f64::abs);
    let largest = larger(larger(larger(ax, ay), az), aw);
    let is_w = aw == largest;
    let is_x = !is_w & (ax == largest);
    let is_y = !is_w & !is_x & (ay == largest);
    let is_z = !is_w & !is_x & !is_y;
    // The largest changes places with w.
    let c = 1.0 / pick(is_w, w, pick(is_x, x, pick(is_y, y, z)));
    let [i, j, k] = [pick(is_x, w, x), pick(is_y, w, y), pick(is_z, w, z)].map(|p| step(p * c));
    let face = pick(is_w, 0.0, pick(is_x, 1.0, pick(is_y, 2.0, 3.0)));
    let face = (face + ROUND).to_bits() & 3;
    let block = (face << 18) | ((i >> 2) << 12) | ((j >> 2) << 6) | (k >> 2);
    let cell = (block << 6) | ((i & 3) << 4) | ((j & 3) << 2) | (k & 3);
    #[allow(clippy::cast_possible_truncation, reason = "26 bits")]
    {
        cell as u32
    }
}

/// One instruction, where `f64::max` takes care of NaN.
#[inline(always)]
#[allow(clippy::inline_always, reason = "in a kernel")]
fn larger(a: f64, b: f64) -> f64 {
    pick(a > b, a, b)
}

#[inline(always)]
#[allow(clippy::inline_always, reason = "in a kernel")]
fn pick(condition: bool, a: f64, b: f64) -> f64 {
    if condition { a } else { b }
}

/// The interval of a ratio.
#[inline(always)]
#[allow(clippy::inline_always, reason = "in a kernel")]
fn step(t: f64) -> u64 {
    let s = t * (A - (A - 1.0) * t.abs()) * HALF + (HALF - 0.5);
    // Rounding may carry a ratio of ±1 beyond the ends. NaN, which no rotation has, becomes 0.
    let s = pick(s > 0.0, s, 0.0);
    let s = pick(s < f64::from(STEPS - 1), s, f64::from(STEPS - 1));
    (s + ROUND).to_bits() & 255
}

/// The ratio at a place along an axis, in intervals from its beginning: the inverse of [`step`].
fn ratio(place: f64) -> f64 {
    let s = (place - HALF) / HALF;
    let root = (A * A - 4.0 * (A - 1.0) * s.abs()).sqrt();
    ((A - root) / (2.0 * (A - 1.0))).copysign(s)
}

/// The middle of a cell.
fn centre(cell: u32) -> Rotation {
    let [x, y, z] = [(cell >> 18, cell >> 4), (cell >> 12, cell >> 2), (cell >> 6, cell)]
        .map(|(block, within)| ratio(f64::from(4 * (block & 63) + (within & 3)) + 0.5));
    let face = cell >> 24;
    let [x, y, z, w] = match face {
        0 => [x, y, z, 1.0],
        1 => [1.0, y, z, x],
        2 => [x, 1.0, z, y],
        _ => [x, y, 1.0, z],
    };
    let q = DQuat::from_xyzw(x, y, z, w);
    Rotation::from_unit_unchecked(q * (1.0 / q.length())).canonical()
}

/// Sorts visits of blocks by the block.
fn sort(order: &mut Vec<u64>) {
    if order.len() < RADIX_FROM {
        order.sort_unstable();
        return;
    }
    // Two digits of ten bits, the lower one first.
    const DIGITS: usize = 1024;
    #[allow(clippy::cast_possible_truncation, reason = "ten bits of it")]
    let digit = |visit: u64, n: usize| (visit >> (32 + 10 * n)) as usize % DIGITS;
    let mut starts = [[0_u32; DIGITS]; 2];
    for visit in order.iter() {
        for (n, starts) in starts.iter_mut().enumerate() {
            starts[digit(*visit, n)] += 1;
        }
    }
    let mut other = vec![0; order.len()];
    for (n, starts) in starts.iter_mut().enumerate() {
        let mut sum = 0;
        for start in starts.iter_mut() {
            (*start, sum) = (sum, sum + *start);
        }
        for visit in order.iter() {
            let place = &mut starts[digit(*visit, n)];
            other[*place as usize] = *visit;
            *place += 1;
        }
        std::mem::swap(order, &mut other);
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::math::arbitrary;
    use crate::synth::Rng;

    impl Occupancy {
        /// Adds the cell of one rotation. Many at once are faster by [`of`](Self::of) and
        /// [`merge`](Self::merge).
        pub(crate) fn mark(&mut self, rotation: Rotation) {
            let cell = cell_of(rotation.quat().to_array());
            let bit = 1 << (cell & 63);
            match self.blocks.binary_search(&(cell >> 6)) {
                Ok(i) => self.bits[i] |= bit,
                Err(i) => {
                    self.blocks.insert(i, cell >> 6);
                    self.bits.insert(i, bit);
                }
            }
        }

        /// Whether the cell of a rotation is in the set.
        pub(crate) fn contains(&self, rotation: Rotation) -> bool {
            let cell = cell_of(rotation.quat().to_array());
            let found = self.blocks.binary_search(&(cell >> 6));
            found.is_ok_and(|i| self.bits[i] & (1 << (cell & 63)) != 0)
        }
    }

    #[test]
    fn corners_of_all_cells_are_near_their_centres() {
        // Faces and signs are alike, and so are the axes of a face.
        let edges: Vec<f64> = (80..=160).map(|i| ratio(f64::from(i))).collect();
        let middles: Vec<f64> = (80..160).map(|i| ratio(f64::from(i) + 0.5)).collect();
        let unit = |x: f64, y: f64, z: f64| DQuat::from_xyzw(x, y, z, 1.0).normalize();
        let mut worst = 0.0_f64;
        for i in 0..80 {
            for j in i..80 {
                for k in j..80 {
                    let middle = unit(middles[i], middles[j], middles[k]);
                    for corner in 0..8 {
                        let (a, b, c) = (corner & 1, (corner >> 1) & 1, corner >> 2);
                        let corner = unit(edges[i + a], edges[j + b], edges[k + c]);
                        worst = worst.max((corner - middle).length());
                    }
                }
            }
        }
        let degrees = (4.0 * crate::math::trig::asin(0.5 * worst)).to_degrees();
        println!("farthest corner: {degrees} degrees");
        assert!(degrees < RADIUS_DEG && degrees > RADIUS_DEG - 1e-3, "{degrees}");
    }

    #[test]
    fn random_rotations_are_near_the_centres_of_their_cells() {
        let mut rng = Rng::new(11);
        let (mut worst, mut sum) = (0.0_f64, 0.0);
        for _ in 0..300_000 {
            let rotation = rng.rotation();
            let apart = centre(cell_of(rotation.quat().to_array())).distance(rotation).degrees();
            worst = worst.max(apart);
            sum += apart;
        }
        println!("worst {worst}, mean {}", sum / 3e5);
        assert!(worst < RADIUS_DEG && worst > 0.8 * RADIUS_DEG);
    }

    #[test]
    fn prop_hard_rotations_are_near_the_centres_of_their_cells_whatever_the_sign() {
        arbtest::arbtest(|u| {
            let rotation = arbitrary::rotation(u)?;
            let cell = cell_of(rotation.quat().to_array());
            assert!(is_block(cell >> 6));
            assert_eq!(cell, cell_of((-rotation.quat()).to_array()));
            let apart = centre(cell).distance(rotation).degrees();
            assert!(apart < RADIUS_DEG, "{apart} {rotation:?}");
            Ok(())
        });
    }

    #[test]
    fn every_cell_is_the_cell_of_its_centre() {
        // All of them: no two cells share a centre, and no number is left out.
        let mut count = 0;
        for block in (0..1 << 20).filter(|block| is_block(*block)) {
            for cell in 64 * block..64 * (block + 1) {
                assert_eq!(cell_of(centre(cell).quat().to_array()), cell);
                count += 1;
            }
        }
        assert_eq!(count, 4 * 160 * 160 * 160);
    }

    #[test]
    fn quaternions_that_no_rotation_has_do_not_panic() {
        for bad in [f64::NAN, f64::INFINITY, 0.0, f64::MAX, 5e-324] {
            for place in 0..4 {
                for other in [0.0, 1.0, bad] {
                    let mut q = [other; 4];
                    q[place] = bad;
                    assert!(is_block(cell_of(q) >> 6), "{q:?}");
                }
            }
        }
    }

    /// A movement of a shoulder: slow curves over a large region.
    fn shoulder(count: usize, seed: u64) -> Rotations {
        let mut rng = Rng::new(seed);
        let mut at = DVec3::ZERO;
        let mut speed = DVec3::ZERO;
        (0..count)
            .map(|_| {
                speed += 0.004 * DVec3::new(rng.normal(), rng.normal(), rng.normal());
                speed *= 0.99;
                at += speed;
                at *= 0.995;
                Rotation::exp(at).unwrap()
            })
            .collect()
    }

    #[test]
    fn a_batch_is_the_cells_of_its_rotations_in_any_order() {
        let mut rng = Rng::new(5);
        for count in [0, 1, 2, 100, 191, 192, 300, 20_000] {
            let mut rotations: Vec<Rotation> = shoulder(count, 3).iter().collect();
            let batch = Occupancy::of(&rotations.iter().copied().collect());
            rng.shuffle(&mut rotations);
            let mut marked = Occupancy::default();
            for rotation in &rotations {
                marked.mark(*rotation);
                assert!(batch.contains(*rotation));
            }
            assert_eq!(batch, marked);
            assert_eq!(batch, Occupancy::of(&rotations.iter().copied().collect()));
            let distinct: std::collections::BTreeSet<u32> =
                rotations.iter().map(|r| cell_of(r.quat().to_array())).collect();
            assert_eq!(batch.count(), distinct.len() as u64);
            assert_eq!(Occupancy::of(&batch.centres()), batch);
            assert!(batch.centres().iter().all(|c| batch.contains(c)));
            let (blocks, bits) = batch.blocks().unzip();
            assert_eq!(Occupancy::from_blocks(blocks, bits), Some(batch));
        }
        assert!(!Occupancy::default().contains(Rotation::IDENTITY));
    }

    #[test]
    fn lists_that_are_no_sets_are_refused() {
        assert!(Occupancy::from_blocks(vec![1, 2], vec![1, 1]).is_some());
        assert!(Occupancy::from_blocks(vec![2, 1], vec![1, 1]).is_none());
        assert!(Occupancy::from_blocks(vec![1, 1], vec![1, 1]).is_none());
        assert!(Occupancy::from_blocks(vec![1, 2], vec![1, 0]).is_none());
        assert!(Occupancy::from_blocks(vec![1, 2], vec![1]).is_none());
        let last = (3 << 18) | (39 << 12) | (39 << 6) | 39;
        assert!(Occupancy::from_blocks(vec![last], vec![1]).is_some());
        for none in [1 << 20, last + 1, u32::MAX, 40, 40 << 6, 40 << 12] {
            assert!(Occupancy::from_blocks(vec![none], vec![1]).is_none());
        }
    }

    #[test]
    fn merging_is_the_union_a11() {
        let mut rng = Rng::new(8);
        for round in 0..60 {
            let set = |rng: &mut Rng| {
                let count = [0, 1, 50, 3000][rng.below(4)];
                shoulder(count, rng.below(4) as u64)
            };
            let parts: Vec<Rotations> = (0..4).map(|_| set(&mut rng)).collect();
            let all = Occupancy::of(&parts.iter().flat_map(Rotations::iter).collect());
            let mut sets: Vec<Occupancy> = parts.iter().map(Occupancy::of).collect();
            // Any order and grouping: two at random become one, until one is left.
            while sets.len() > 1 {
                let taken = sets.swap_remove(rng.below(sets.len()));
                let other = rng.below(sets.len());
                sets[other].merge(&taken);
                sets[other].merge(&taken);
            }
            assert_eq!(sets[0], all, "{round}");
        }
    }
}
