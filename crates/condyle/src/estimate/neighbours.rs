//! The nearest of many directions.

use glam::DVec3;

/// Points in a tree (J. L. Bentley, "Multidimensional binary search trees", 1975): each half on one side of
/// the middle along the coordinate that varies most.
pub(super) struct Neighbours {
    /// In the order of the tree, with their numbers.
    points: Vec<(DVec3, usize)>,
    /// Which coordinate divides at each place.
    axes: Vec<u8>,
}

/// So few points are looked at one by one.
const LEAF: usize = 8;

impl Neighbours {
    /// Of those points whose number is wanted.
    pub(super) fn new(all: &[DVec3], wanted: impl Fn(usize) -> bool) -> Self {
        let points: Vec<(DVec3, usize)> = all
            .iter()
            .enumerate()
            .filter(|(i, p)| wanted(*i) && p.is_finite())
            .map(|(i, p)| (*p, i))
            .collect();
        let mut tree = Self { axes: vec![0; points.len()], points };
        let mut open = vec![(0, tree.points.len())];
        while let Some((from, until)) = open.pop() {
            if until - from <= LEAF {
                continue;
            }
            let part = &mut tree.points[from..until];
            let low = part.iter().fold(DVec3::INFINITY, |low, p| low.min(p.0));
            let high = part.iter().fold(DVec3::NEG_INFINITY, |high, p| high.max(p.0));
            let extent = high - low;
            let axis = (0..3).fold(0, |a, b| if extent[b] > extent[a] { b } else { a });
            let middle = (until - from) / 2;
            part.select_nth_unstable_by(middle, |a, b| {
                a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1))
            });
            tree.axes[from + middle] = u8::try_from(axis).unwrap_or(0);
            open.push((from, from + middle));
            open.push((from + middle + 1, until));
        }
        tree
    }

    /// The nearest points, nearest first: squared distance and number; of those that are not there the
    /// distance is infinite. One may be left out.
    pub(super) fn nearest<const K: usize>(
        &self,
        to: DVec3,
        without: Option<usize>,
    ) -> [(f64, usize); K] {
        let mut best = [(f64::INFINITY, usize::MAX); K];
        let look = |best: &mut [(f64, usize); K], &(p, i): &(DVec3, usize)| {
            let square = (p - to).length_squared();
            if square < best[K - 1].0 && Some(i) != without {
                let place = best.partition_point(|b| b.0 <= square);
                best.copy_within(place..K - 1, place + 1);
                best[place] = (square, i);
            }
        };
        // A part of the tree, and how far it is at least, squared.
        let mut open = vec![(0, self.points.len(), 0.0)];
        while let Some((from, until, least)) = open.pop() {
            if least >= best[K - 1].0 {
                continue;
            }
            if until - from <= LEAF {
                self.points[from..until].iter().for_each(|p| look(&mut best, p));
                continue;
            }
            let middle = from + (until - from) / 2;
            let point = &self.points[middle];
            look(&mut best, point);
            let axis = usize::from(self.axes[middle]);
            let off = to[axis] - point.0[axis];
            let (lower, upper) = ((from, middle), (middle + 1, until));
            let (near, far) = if off < 0.0 { (lower, upper) } else { (upper, lower) };
            open.push((far.0, far.1, least.max(off * off)));
            open.push((near.0, near.1, least));
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::Rng;

    #[test]
    fn the_nearest_are_those_of_a_sorted_list() {
        let mut rng = Rng::new(1);
        for n in [0, 1, 7, 8, 9, 100, 3000] {
            // Some come several times.
            let points: Vec<DVec3> =
                (0..n).map(|_| (rng.direction() * 20.0).round() / 20.0).collect();
            let tree = Neighbours::new(&points, |i| i % 7 != 0);
            for _ in 0..50 {
                let to = rng.direction();
                let without = (n > 0).then(|| rng.below(n.max(1)));
                let mut all: Vec<f64> = (0..n)
                    .filter(|i| i % 7 != 0 && Some(*i) != without)
                    .map(|i| (points[i] - to).length_squared())
                    .collect();
                all.sort_by(f64::total_cmp);
                for (k, (square, i)) in tree.nearest::<5>(to, without).into_iter().enumerate() {
                    match all.get(k) {
                        Some(expected) => {
                            assert!(square.to_bits() == expected.to_bits(), "{n} {k}");
                            assert!(
                                (points[i] - to).length_squared().to_bits() == square.to_bits()
                            );
                        }
                        None => assert!(square.is_infinite() && i == usize::MAX),
                    }
                }
            }
        }
    }
}
