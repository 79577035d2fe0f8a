//! How far a ball joint rolls about its bone: one range, or one that changes with the swing.

use std::borrow::Cow;
use std::f64::consts::PI;

use glam::DVec3;

use super::arcs::{self, Range, settled};
use crate::limits::{TwistAt, TwistBounds};
use crate::math::{Angle, Arc, Level, Rotation, Rotations, batch};

/// With so many samples or fewer the range of twist is the same everywhere; with twice as many it may
/// change with the swing as much as they show.
const FEW: f64 = 400.0;

/// Where ranges at single directions are, on average, this much as wide as one for all or less they are
/// taken as they are,
const MUCH_NARROWER: f64 = 0.5;

/// and where they are so wide one for all is as good.
const HARDLY_NARROWER: f64 = 0.8;

/// Ranges all within this of one for all are that one: 1°.
const HARDLY_OFF: f64 = PI / 180.0;

/// Samples up to this chord count fully for a range: 24.2°, a little more than nodes are apart.
const NEAR: f64 = 0.42;

/// Beyond it, a range is taken to change by no more than this with each unit of chord.
const STEEPEST: f64 = 0.7;

/// The twist of every sample about a zero, by clips, and the arc of them.
pub(super) struct Rolls {
    twists: Vec<Vec<f64>>,
    arc: Option<Arc>,
    how: Range,
}

impl Rolls {
    pub(super) fn new(clips: &[&Rotations], axis: DVec3, center: Rotation, how: Range) -> Self {
        let twists: Vec<Vec<f64>> = clips
            .iter()
            .map(|clip| {
                let mut twists = vec![0.0; clip.len()];
                batch::angles_about(Level::best(), center.inverse(), axis, clip, &mut twists);
                twists
            })
            .collect();
        let arc = arcs::range(&twists, how);
        Self { twists, arc, how }
    }

    /// Radians.
    pub(super) fn width(&self) -> f64 {
        self.arc.map_or(2.0 * PI, |arc| arc.width().radians())
    }

    /// The same range wherever the bone points.
    pub(super) fn bounds(&self, margin: f64) -> TwistBounds {
        match self.arc {
            Some(arc) if !arc.is_full() => TwistBounds::Arc(arcs::widened(arc, margin)),
            _ => TwistBounds::Free,
        }
    }

    /// A range that changes with the direction of the bone, and how wide it was seen to be on average
    /// compared with one for all, before it is widened towards that one: what is judged. Directions are those of the samples, relative to rest; those of the result are
    /// turned by `back`. `None` if one for all is as good.
    ///
    /// # Convention
    ///
    /// Ranges are given at [`nodes`] around samples, and between nodes they are linear. The upper end at a
    /// node n is
    ///
    /// ```text
    ///   max over samples of (twist − STEEPEST · max(0, |d − n| − NEAR)),
    /// ```
    ///
    /// less its noise as that of an arc is. A sample is in a triangle of nodes that all are nearer to it
    /// than NEAR, and so inside. Far ones count less and less, so that no single sample decides which
    /// count: a range moves by no more than the samples do. Where ranges are not much narrower than one
    /// for all, or samples few, they are widened towards it.
    pub(super) fn by_swing(
        &self,
        directions: &[Vec<DVec3>],
        back: Rotation,
        margin: f64,
    ) -> Option<(TwistBounds, f64)> {
        let arc = self.arc.filter(|arc| !arc.is_full())?;
        let count: usize = directions.iter().map(Vec::len).sum();
        let few = 2.0 - count as f64 / FEW;
        if few >= 1.0 {
            return None;
        }
        // Without jumps: from the middle of the gap up. What is left out of the arc by choice is beyond.
        let [low, high] = [0.0, arc.width().radians()];
        let gap = 0.5 * (2.0 * PI - high);
        let start = arc.min().radians() - gap;
        let lift = |twist: f64| {
            let x = twist - start;
            // Less than a turn it is its own remainder.
            (if (0.0..2.0 * PI).contains(&x) { x } else { x.rem_euclid(2.0 * PI) }) - gap
        };
        let counts = |x: f64| self.how.coverage >= 1.0 || (low..=high).contains(&x);
        let clips: Vec<(Cow<'_, [DVec3]>, Vec<f64>)> = directions
            .iter()
            .zip(&self.twists)
            .map(|(directions, twists)| {
                let lifted: Vec<f64> = twists.iter().map(|twist| lift(*twist)).collect();
                if lifted.iter().all(|x| counts(*x)) {
                    return (Cow::Borrowed(directions.as_slice()), lifted);
                }
                let all = directions.iter().copied().zip(lifted);
                let (directions, lifted): (Vec<_>, _) = all.filter(|(_, x)| counts(*x)).unzip();
                (Cow::Owned(directions), lifted)
            })
            .collect();
        let cells: Vec<Cells<'_>> =
            clips.iter().map(|(directions, twists)| Cells::new(directions, twists)).collect();
        let nodes = nodes();
        let mut ranges: Vec<(DVec3, [f64; 2])> = nodes
            .iter()
            .filter_map(|n| Some((*n, range_at(*n, &cells, self.how.noise)?)))
            .collect();
        let width = ranges.iter().map(|(_, [min, max])| max - min).sum::<f64>();
        let share = width / (ranges.len() as f64 * high);
        let wide = (share - MUCH_NARROWER) / (HARDLY_NARROWER - MUCH_NARROWER);
        let weight = wide.max(few).max(0.0);
        if ranges.len() < 3 || weight >= 1.0 || weight.is_nan() {
            return None;
        }
        for (_, [min, max]) in &mut ranges {
            *min += weight * (low - *min).min(0.0);
            *max += weight * (high - *max).max(0.0);
        }
        // So little is not worth a table.
        let off = |[min, max]: [f64; 2]| (min - low).abs().max((high - max).abs());
        if ranges.iter().all(|(_, ends)| off(*ends) < HARDLY_OFF) {
            return None;
        }
        // Readers of a rig count turns from the first: that in the middle is less than half of one away.
        let off = |(_, [min, max]): &(DVec3, [f64; 2])| (min + max - high).abs();
        let middle =
            (0..ranges.len()).min_by(|a, b| off(&ranges[*a]).total_cmp(&off(&ranges[*b])))?;
        ranges.swap(0, middle);
        let first = arc.min().radians();
        let at = |&(node, ends): &(DVec3, [f64; 2])| {
            let [min, max] = ends.map(|end| Angle::from_radians(first + end));
            let arc = arcs::widened(Arc::new(min, max)?, margin);
            Some(TwistAt { direction: back * node, arc })
        };
        let at: Option<Vec<TwistAt>> = ranges.iter().map(at).collect();
        Some((TwistBounds::BySwing(at?), share))
    }
}

/// The samples of a clip in cells: near each other in direction, and of nearly the same twist.
///
/// What a node looks for are the outermost twists of samples near it. With the farthest that those of a
/// cell can be out known, hardly any cell has to be looked into.
struct Cells<'a> {
    directions: &'a [DVec3],
    twists: &'a [f64],
    cells: Vec<Cell>,
    /// Numbers of samples, cell by cell and part by part, rising in each.
    numbers: Vec<u32>,
}

/// Samples whose directions are near each other.
struct Cell {
    middle: DVec3,
    /// No direction is farther from the middle.
    radius: f64,
    /// Where the numbers of each part begin, and where the last one ends.
    starts: [u32; PARTS + 1],
    /// The least and the largest twist, and how wide parts are; 0 if all twists are the same.
    twists: [f64; 2],
    width: f64,
}

/// Of the twists in a cell.
const PARTS: usize = 32;

/// Cells on a side of the cube around the sphere, so that some hundreds have directions in them.
const SIDE: usize = 16;

impl<'a> Cells<'a> {
    fn new(directions: &'a [DVec3], twists: &'a [f64]) -> Self {
        let place = |x: f64| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
            let place = ((x + 1.0) * (0.5 * SIDE as f64)) as u32 as usize;
            place.min(SIDE - 1)
        };
        let cell = |d: &DVec3| (place(d.x) * SIDE + place(d.y)) * SIDE + place(d.z);
        // Which cells there are, in their order.
        let mut of_place = vec![u32::MAX; SIDE * SIDE * SIDE];
        let mut places: Vec<u32> = Vec::with_capacity(directions.len());
        for d in directions {
            let place = cell(d);
            of_place[place] = 0;
            places.push(u32::try_from(place).unwrap_or(0));
        }
        let mut found: Vec<([DVec3; 2], [f64; 2])> = Vec::new();
        for known in of_place.iter_mut().filter(|known| **known == 0) {
            *known = u32::try_from(found.len()).unwrap_or(u32::MAX);
            found
                .push(([DVec3::INFINITY, DVec3::NEG_INFINITY], [f64::INFINITY, f64::NEG_INFINITY]));
        }
        // What is not a number is neither.
        let less = |a: f64, b: f64| if a < b { a } else { b };
        let more = |a: f64, b: f64| if a > b { a } else { b };
        for ((d, twist), place) in directions.iter().zip(twists).zip(&mut places) {
            *place = of_place[*place as usize];
            let ([least, most], [low, high]) = &mut found[*place as usize];
            *least = DVec3::new(less(d.x, least.x), less(d.y, least.y), less(d.z, least.z));
            *most = DVec3::new(more(d.x, most.x), more(d.y, most.y), more(d.z, most.z));
            (*low, *high) = (less(*twist, *low), more(*twist, *high));
        }
        let mut cells: Vec<Cell> = found
            .iter()
            .map(|([least, most], [low, high])| Cell {
                middle: 0.5 * (*least + *most),
                radius: 0.5 * (*most - *least).length(),
                starts: [0; PARTS + 1],
                twists: [*low, *high],
                width: if high - low > 1e-6 { (high - low) / PARTS as f64 } else { 0.0 },
            })
            .collect();
        // From the cell of a sample to its part of the cell.
        let mut counts = vec![0_u32; cells.len() * PARTS];
        for (twist, place) in twists.iter().zip(&mut places) {
            let cell = &cells[*place as usize];
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
            let part = ((twist - cell.twists[0]) / cell.width) as u32 as usize;
            let part = *place as usize * PARTS + part.min(PARTS - 1);
            counts[part] += 1;
            *place = u32::try_from(part).unwrap_or(0);
        }
        let mut sum = 0;
        for (cell, next) in cells.iter_mut().zip(counts.as_chunks_mut::<PARTS>().0) {
            for (start, next) in cell.starts.iter_mut().zip(next) {
                *start = sum;
                sum += std::mem::replace(next, sum);
            }
            cell.starts[PARTS] = sum;
        }
        let mut numbers = vec![0; places.len()];
        for (number, place) in (0..).zip(places) {
            let next = &mut counts[place as usize];
            numbers[*next as usize] = number;
            *next += 1;
        }
        Self { directions, twists, cells, numbers }
    }

    /// Whether a sample is near a node.
    fn is_near(&self, node: DVec3) -> bool {
        let near = |cell: &&Cell| (cell.middle - node).length() - cell.radius <= NEAR + SLACK;
        self.cells.iter().filter(near).any(|cell| {
            let numbers = &self.numbers[cell.starts[0] as usize..cell.starts[PARTS] as usize];
            numbers.iter().any(|i| (self.directions[*i as usize] - node).length() <= NEAR)
        })
    }

    /// The outermost of `sign · twist − STEEPEST · max(0, |d − n| − NEAR)`, and all within `depth` of it
    /// in the order of the samples; `None` without samples.
    fn outermost(&self, node: DVec3, sign: f64, depth: f64) -> Option<(f64, Vec<f64>)> {
        let value = |i: u32| {
            let chord = (self.directions[i as usize] - node).length();
            sign * self.twists[i as usize] - STEEPEST * (chord - NEAR).max(0.0)
        };
        // How far out those of a cell are at most, and how far the farthest is at least.
        let bounds: Vec<[f64; 2]> = self
            .cells
            .iter()
            .map(|cell| {
                let chord = (cell.middle - node).length();
                let end = cell.end(sign);
                let off = |chord: f64| STEEPEST * (chord - NEAR).max(0.0);
                [end - off(chord - cell.radius) + SLACK, end - off(chord + cell.radius) - SLACK]
            })
            .collect();
        // An end is that of some sample, but for rounding.
        let mut most = bounds.iter().map(|[_, least]| *least).fold(f64::NEG_INFINITY, f64::max);
        let mut inside: Vec<(u32, f64)> = Vec::new();
        for (cell, [highest, _]) in self.cells.iter().zip(&bounds) {
            // From the outermost part on.
            for k in 0..PARTS {
                if highest - k as f64 * cell.width < most - depth {
                    break;
                }
                let part = if sign > 0.0 { PARTS - 1 - k } else { k };
                let part = cell.starts[part] as usize..cell.starts[part + 1] as usize;
                for &i in &self.numbers[part] {
                    let value = value(i);
                    if value >= most - depth {
                        inside.push((i, value));
                        most = most.max(value);
                    }
                }
            }
        }
        inside.retain(|(_, value)| *value >= most - depth);
        let most = inside.iter().map(|(_, value)| *value).max_by(f64::total_cmp)?;
        inside.sort_unstable_by_key(|(i, _)| *i);
        Some((most, inside.into_iter().map(|(_, value)| value).collect()))
    }
}

impl Cell {
    /// The outermost of its twists, times the sign.
    fn end(&self, sign: f64) -> f64 {
        if sign > 0.0 { self.twists[1] } else { -self.twists[0] }
    }
}

/// More than rounding.
const SLACK: f64 = 1e-9;

/// The range of twist at a node, of samples by clips. `None` if none is near.
fn range_at(node: DVec3, clips: &[Cells<'_>], noise: f64) -> Option<[f64; 2]> {
    if !clips.iter().any(|clip| clip.is_near(node)) {
        return None;
    }
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for clip in clips {
        for sign in [1.0, -1.0] {
            // Samples that are farther in do not count for the end without noise.
            let outermost = clip.outermost(node, sign, arcs::SETTLES * noise);
            let Some((most, values)) = outermost else { continue };
            // The outermost samples are outside by as much as the noise.
            let end = settled(most, &values, noise).max(most - 2.0 * noise);
            if sign > 0.0 {
                high = high.max(end);
            } else {
                low = low.min(-end);
            }
        }
    }
    Some([low.min(high), high.max(low)])
}

/// Directions all over the sphere, at most 23.8° from one to the next: the corners of an icosahedron, two
/// points on each edge and one in each face. They do not depend on the samples, and are their own mirror
/// image in each coordinate plane, so that mirrored motion has the mirrored range.
fn nodes() -> Vec<DVec3> {
    const GOLDEN: f64 = 1.618_033_988_749_895;
    // An edge of it is 2 long.
    const EDGE: f64 = 4.5;
    let mut corners = Vec::with_capacity(12);
    for (x, y) in [(1.0, GOLDEN), (1.0, -GOLDEN), (-1.0, GOLDEN), (-1.0, -GOLDEN)] {
        corners.extend([DVec3::new(0.0, x, y), DVec3::new(x, y, 0.0), DVec3::new(y, 0.0, x)]);
    }
    let near = |a: DVec3, b: DVec3| a.distance_squared(b) < EDGE;
    let mut nodes = corners.clone();
    for (i, &a) in corners.iter().enumerate() {
        for (j, &b) in corners.iter().enumerate().skip(i + 1) {
            if !near(a, b) {
                continue;
            }
            nodes.extend([2.0 * a + b, a + 2.0 * b]);
            let third = corners.iter().skip(j + 1).filter(|c| near(a, **c) && near(b, **c));
            nodes.extend(third.map(|c| a + b + *c));
        }
    }
    nodes.iter_mut().for_each(|node| *node = node.normalize());
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{Limit, PreparedLimit, SwingTwistLimit, TwistLimit};
    use crate::math::direct_rotation;
    use crate::synth::Rng;

    const EXACT: Range = Range { noise: 0.0, coverage: 1.0 };

    /// The middle of a range that moves by 0.8 of the swing to the side.
    fn middle(d: DVec3) -> f64 {
        0.8 * d.x
    }

    const HALF_WIDTH: f64 = 0.3;

    /// Directions within 60° of z, with twists about [`middle`].
    fn samples(count: usize, seed: u64) -> (Vec<DVec3>, Rotations) {
        let mut rng = Rng::new(seed);
        let mut directions = Vec::new();
        while directions.len() < count {
            let d = rng.direction();
            if d.z > 0.5 {
                directions.push(d);
            }
        }
        let rotation = |d: &DVec3| {
            let twist = middle(*d) + rng.between(-HALF_WIDTH, HALF_WIDTH);
            direct_rotation(DVec3::Z, *d).unwrap().rotation
                * Rotation::about_z(Angle::from_radians(twist))
        };
        let rotations = directions.iter().map(rotation).collect();
        (directions, rotations)
    }

    fn limit(bounds: TwistBounds) -> PreparedLimit {
        let twist = TwistLimit { bounds, ..TwistLimit::default() };
        Limit::SwingTwist(SwingTwistLimit { twist, ..SwingTwistLimit::default() })
            .prepare()
            .unwrap()
    }

    fn found(directions: &[DVec3], rotations: &Rotations) -> (PreparedLimit, f64) {
        let rolls = Rolls::new(&[rotations], DVec3::Z, Rotation::IDENTITY, EXACT);
        let (bounds, share) =
            rolls.by_swing(&[directions.to_vec()], Rotation::IDENTITY, 0.0).unwrap();
        (limit(bounds), share)
    }

    #[test]
    fn b9_a_range_that_moves_with_the_swing_is_found() {
        for seed in 0..4 {
            let (directions, rotations) = samples(3000, seed);
            let (limit, share) = found(&directions, &rotations);
            // One for all is 2 (0.8 sin 60° + 0.3) wide.
            assert!(share < 0.75, "{share}");
            for q in rotations.iter() {
                assert!(limit.distance(q).radians() > -1e-12);
            }
            let swing = limit.swing().unwrap();
            for d in directions.iter().step_by(10) {
                let arc = swing.twist(*d).unwrap();
                let [min, max] = [arc.min().radians(), arc.max().radians()];
                let [low, high] = [middle(*d) - HALF_WIDTH, middle(*d) + HALF_WIDTH];
                // It holds nearly all of the truth, and no more than what samples nearby have.
                assert!(min < low + 0.12 && max > high - 0.12, "{arc:?}");
                let most = 0.8 * NEAR * 1.5;
                let [first, last] = [-1.0, 1.0].map(|s| s * (0.8 * 0.75_f64.sqrt() + HALF_WIDTH));
                let wider = (share - MUCH_NARROWER) / (HARDLY_NARROWER - MUCH_NARROWER);
                assert!(min > low - most + wider * (first - low).min(0.0), "{arc:?} {low}");
                assert!(max < high + most + wider * (last - high).max(0.0), "{arc:?} {high}");
            }
        }
    }

    /// By looking at every sample.
    #[test]
    fn ranges_at_nodes_are_those_of_all_samples() {
        let mut rng = Rng::new(11);
        for (count, noise) in [(1, 0.0), (30, 0.01), (2000, 0.0), (2000, 0.02), (5000, 0.3)] {
            let clips: Vec<(Vec<DVec3>, Vec<f64>)> = (0..2)
                .map(|_| {
                    let pairs = (0..count).map(|_| {
                        let d = rng.direction();
                        let twist = if rng.chance(0.3) { 1.0 } else { rng.between(-1.0, 3.0) };
                        (DVec3::new(d.x, d.y, d.z.abs()), twist)
                    });
                    pairs.unzip()
                })
                .collect();
            let cells: Vec<Cells<'_>> = clips.iter().map(|(d, t)| Cells::new(d, t)).collect();
            for node in nodes() {
                let all = clips.iter().flat_map(|(d, _)| d);
                let near = all.clone().any(|d| (*d - node).length() <= NEAR);
                let found = range_at(node, &cells, noise);
                assert_eq!(found.is_some(), near, "{count}");
                let Some([low, high]) = found else { continue };
                let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
                for (directions, twists) in &clips {
                    for sign in [1.0, -1.0] {
                        let value = |(d, t): (&DVec3, &f64)| {
                            sign * t - STEEPEST * ((*d - node).length() - NEAR).max(0.0)
                        };
                        let values: Vec<f64> = directions.iter().zip(twists).map(value).collect();
                        let out = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                        let end = settled(out, &values, noise).max(out - 2.0 * noise);
                        if sign > 0.0 { most = most.max(end) } else { least = least.min(-end) }
                    }
                }
                assert_eq!([least.min(most), most.max(least)], [low, high], "{count} {noise}");
            }
        }
    }

    #[test]
    fn b9_a_range_that_stays_is_one_arc() {
        let mut rng = Rng::new(1);
        let (directions, _) = samples(3000, 1);
        let rotations: Rotations = directions
            .iter()
            .map(|d| {
                let twist = Angle::from_radians(rng.between(-0.5, 0.7));
                direct_rotation(DVec3::Z, *d).unwrap().rotation * Rotation::about_z(twist)
            })
            .collect();
        let rolls = Rolls::new(&[&rotations], DVec3::Z, Rotation::IDENTITY, EXACT);
        assert!(rolls.by_swing(&[directions], Rotation::IDENTITY, 0.0).is_none());
    }

    #[test]
    fn some_samples_less_move_a_range_by_little() {
        let (directions, rotations) = samples(3000, 7);
        let (all, _) = found(&directions, &rotations);
        let mut rng = Rng::new(2);
        for _ in 0..5 {
            let kept: Vec<bool> = directions.iter().map(|_| rng.uniform() < 0.99).collect();
            let some = |i: &usize| kept[*i];
            let fewer: Vec<DVec3> = (0..3000).filter(some).map(|i| directions[i]).collect();
            let turns: Rotations =
                (0..3000).filter(some).filter_map(|i| rotations.get(i)).collect();
            let (without, _) = found(&fewer, &turns);
            for d in directions.iter().step_by(10) {
                let [a, b] = [&all, &without].map(|l| l.swing().unwrap().twist(*d).unwrap());
                let off = |a: Angle, b: Angle| (a.degrees() - b.degrees()).abs();
                assert!(off(a.min(), b.min()) < 1.0 && off(a.max(), b.max()) < 1.0, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn few_samples_have_one_range() {
        for (count, changes) in [(400, false), (500, true)] {
            let (directions, rotations) = samples(count, 3);
            let rolls = Rolls::new(&[&rotations], DVec3::Z, Rotation::IDENTITY, EXACT);
            let by_swing = rolls.by_swing(&[directions], Rotation::IDENTITY, 0.0);
            assert_eq!(by_swing.is_some(), changes);
        }
    }

    #[test]
    fn nodes_are_close_enough_and_their_own_mirror_images() {
        let nodes = nodes();
        assert_eq!(nodes.len(), 92);
        let found = |v: DVec3| nodes.iter().any(|n| n.distance(v) < 1e-15);
        for n in &nodes {
            assert!(found(DVec3::new(-n.x, n.y, n.z)) && found(DVec3::new(n.x, -n.y, n.z)));
            assert!(found(DVec3::new(n.x, n.y, -n.z)));
        }
        // Whatever triangle of them holds a direction, its corners are near.
        let triangles = crate::limits::Triangulation::new(&nodes).unwrap();
        let mut rng = Rng::new(1);
        for _ in 0..20_000 {
            let d = rng.direction();
            for corner in triangles.weights(d).corners {
                assert!(nodes[corner as usize].distance(d) < NEAR);
            }
        }
    }
}
