//! The edges of a spherical polygon by azimuth about a pole, for counting how often the way from
//! there to a direction crosses them.

#![allow(
    clippy::inline_always,
    reason = "a call costs as much as the answer: a direction goes through memory on the way"
)]

use glam::{DVec2, DVec3};

use super::edges::Edges;
use crate::math::{symmetric_eigen, unit};

/// How often the arc from the pole to a direction crosses the edges: even, odd, or too near to tell.
///
/// # Source
///
/// The crossing test for points in polygons (M. Shimrat, "Algorithm 112: position of point relative
/// to polygon", 1962), with meridians for rays. The half circle from the pole `p` through a
/// direction `d` to `−p` meets the great circle of an edge exactly once. So an edge is crossed on
/// the way from `p` to `d` if the azimuth of `d` is in that of the edge, and `d` and `p` are on
/// different sides of its great circle.
///
/// # Convention
///
/// Azimuth is measured by `t = 2 ± (1 − x / (|x| + |y|))` with the sign of `y`, where `x` and `y`
/// are the components of `d` along two axes perpendicular to the pole. It grows with the angle from
/// 0 to 4, one per right angle. The range of `t` is cut into equal sectors, and each lists the edges
/// that reach into it.
///
/// The azimuth of an edge is half-open. Whether `d` is before or after a corner is one sign, which
/// depends on the corner and `d` only, and an edge is met if the signs of its two corners differ. So
/// the neighbours at a corner never both miss `d` nor both have it, whatever the rounding. Edges
/// are cut where they exceed a right angle of azimuth, so that none can be met from behind.
#[derive(Clone, Debug)]
pub(super) struct Sectors {
    pole: DVec3,
    x: DVec3,
    y: DVec3,
    /// Sectors per unit of `t`.
    scale: f64,
    sectors: Vec<Sector>,
    /// The first is nothing, for sectors with less than two.
    pieces: Vec<Piece>,
    /// What the sectors list.
    lists: Vec<u32>,
}

/// An edge or a part of it, of at most a right angle of azimuth.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Piece {
    /// Its corners along `x` and `y`.
    start: DVec2,
    end: DVec2,
    /// Of its plane, on the side of the pole.
    normal: DVec3,
    /// Of which edge.
    edge: u32,
}

/// Pieces that reach into a sector. Two are looked at in any case, which costs less than asking
/// whether they are there.
#[derive(Clone, Copy, Debug)]
struct Sector {
    pieces: [u32; 2],
    /// The others, in `lists`.
    more: [u32; 2],
}

/// What is this near to the plane of an edge is left to the nearest point. Twenty times what the
/// product of two unit vectors can be off by.
pub(super) const NEAR: f64 = 1e-14;

/// Adding it to a number below 2³¹ rounds that to an integer, which is then in the low bits.
const ROUNDER: f64 = 4_503_599_627_370_496.0;

/// At least so many sectors, so that no edge is listed where it could be met from behind: a piece
/// takes at most 1 of the 4 units of `t`, and two sectors of rounding 1/2 more.
const MIN_SECTORS: usize = 16;

impl Sectors {
    /// Of edges that form closed loops, all longer than nothing.
    pub(super) fn new(edges: &Edges) -> Self {
        let pole = choose_pole(edges);
        Self::about(pole, edges)
    }

    fn about(Pole { pole, x, y, margin, .. }: Pole, edges: &Edges) -> Self {
        let nothing = Piece { start: DVec2::X, end: DVec2::X, normal: DVec3::NAN, edge: u32::MAX };
        let mut pieces = Vec::with_capacity(edges.len() + 9);
        pieces.push(nothing);
        for (index, (start, end)) in edges.iter().enumerate() {
            let normal = edges.normal(index);
            let turns = normal.dot(pole);
            let normal = if turns < 0.0 { -normal } else { normal };
            let [start, end] = [start, end].map(|c| DVec2::new(x.dot(c), y.dot(c)));
            let edge = u32::try_from(index).unwrap_or(u32::MAX);
            if start.dot(end) >= 0.0 {
                pieces.push(Piece { start, end, normal, edge });
            } else {
                let right_angle = if turns < 0.0 { -start.perp() } else { start.perp() };
                pieces.push(Piece { start, end: right_angle, normal, edge });
                pieces.push(Piece { start: right_angle, end, normal, edge });
            }
        }

        let mut azimuths = Azimuths::default();
        let span = |p: &Piece| Span::between(azimuths.of(p.start), azimuths.of(p.end), margin);
        let spans: Vec<Span> = pieces.iter().skip(1).map(span).collect();
        let crowding = spans.iter().map(|s| s.to - s.from).sum::<f64>() / 4.0;
        let count = sector_count(spans.len(), crowding);
        let scale = count as f64 / 4.0;

        // Count, sum, fill.
        let mut starts = vec![0_u32; count + 3];
        for span in &spans {
            for [from, to] in span.sectors(scale) {
                for sector in from..=to {
                    starts[sector as usize + 2] += 1;
                }
            }
        }
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut lists = vec![0; starts[count + 2] as usize];
        for (span, piece) in spans.iter().zip(1..) {
            for [from, to] in span.sectors(scale) {
                for sector in from..=to {
                    let at = &mut starts[sector as usize + 1];
                    lists[*at as usize] = piece;
                    *at += 1;
                }
            }
        }
        let sectors = starts[..count + 2]
            .windows(2)
            .map(|range| {
                let [begin, end] = [range[0], range[1]];
                let at = |i: u32| if i < end { lists[i as usize] } else { 0 };
                let more = [end.min(begin + 2), end];
                Sector { pieces: [at(begin), at(begin + 1)], more }
            })
            .collect();
        Self { pole, x, y, scale, sectors, pieces, lists }
    }

    pub(super) const fn pole(&self) -> DVec3 {
        self.pole
    }

    /// Whether the way from the pole to a unit vector crosses edges an odd number of times; `None`
    /// if it is too near to an edge to tell, at the pole or opposite to it, or not finite.
    #[inline(always)]
    pub(super) fn odd(&self, d: DVec3) -> Option<bool> {
        let (at, sector) = self.sector(d)?;
        let mut tally = Tally::default();
        for i in sector.pieces {
            tally.add(&self.pieces[i as usize], at, d);
        }
        let [begin, end] = sector.more;
        if begin != end {
            for &i in &self.lists[begin as usize..end as usize] {
                tally.add(&self.pieces[i as usize], at, d);
            }
        }
        (tally.nearest >= NEAR.to_bits()).then_some(tally.crossed >> 63 != 0)
    }

    /// Whether a unit vector is clearly within [`NEAR`] of an edge, between its corners.
    pub(super) fn is_on_edge(&self, d: DVec3) -> bool {
        let Some((at, sector)) = self.sector(d) else { return false };
        let [begin, end] = sector.more;
        let more = &self.lists[begin as usize..end as usize];
        sector.pieces.iter().chain(more).any(|&i| {
            let piece = &self.pieces[i as usize];
            let (after_start, after_end) = (piece.start.perp_dot(at), piece.end.perp_dot(at));
            piece.normal.dot(d).abs() < 0.99 * NEAR && (after_start < 0.0) != (after_end < 0.0)
        })
    }

    /// Where a unit vector is across the pole, and its sector. `None` at the pole or opposite to it, or if
    /// not finite.
    #[inline(always)]
    fn sector(&self, d: DVec3) -> Option<(DVec2, &Sector)> {
        let (x, y) = (self.x.dot(d), self.y.dot(d));
        let size = x.abs() + y.abs();
        if !(size > 1e-100 && size < 4.0) {
            return None;
        }
        let sector = self.sectors.get(sector_at(pseudo_angle(x, size, y), self.scale) as usize)?;
        Some((DVec2::new(x, y), sector))
    }

    /// Calls `meet` with pairs of edges whose azimuths overlap, each at least once, until it says
    /// that they do. Only pairs where one begins in a sector that the other reaches into, so that
    /// long edges do not meet again in every sector.
    pub(super) fn find_pair(&self, mut meet: impl FnMut(usize, usize) -> bool) -> bool {
        for piece in self.pieces.iter().skip(1) {
            let span = Span::between(azimuth(piece.start), azimuth(piece.end), 0.0);
            let Some(sector) = self.sectors.get(sector_at(span.from, self.scale) as usize) else {
                continue;
            };
            let [begin, end] = sector.more;
            let more = &self.lists[begin as usize..end as usize];
            for &other in sector.pieces.iter().chain(more) {
                let other = &self.pieces[other as usize];
                if other.edge != u32::MAX
                    && other.edge != piece.edge
                    && meet(piece.edge as usize, other.edge as usize)
                {
                    return true;
                }
            }
        }
        false
    }
}

/// What the pieces of a sector say, without a branch.
struct Tally {
    /// The top bit tells whether an odd number of them is crossed.
    crossed: u64,
    /// The bits of the least distance to a plane: for numbers that are not negative they are in
    /// the same order, and those of NaN come last.
    nearest: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self { crossed: 0, nearest: u64::MAX }
    }
}

impl Tally {
    #[inline]
    fn add(&mut self, piece: &Piece, at: DVec2, d: DVec3) {
        let after_start = piece.start.x * at.y - piece.start.y * at.x;
        let after_end = piece.end.x * at.y - piece.end.y * at.x;
        let side = piece.normal.dot(d);
        self.crossed ^= (after_start.to_bits() ^ after_end.to_bits()) & side.to_bits();
        self.nearest = self.nearest.min(side.abs().to_bits());
    }
}

/// See [`Sectors`]; `size` is `|x| + |y|`.
#[inline]
fn pseudo_angle(x: f64, size: f64, y: f64) -> f64 {
    2.0 + (1.0 - x / size).copysign(y)
}

/// The sector of `t`, from 0 up to and including their number.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the integer is in the low bits")]
fn sector_at(t: f64, scale: f64) -> u32 {
    (t * scale + ROUNDER).to_bits() as u32
}

/// So many that most hold one or two pieces, but where pieces are long no more than that all lists
/// together stay in proportion to the pieces.
fn sector_count(pieces: usize, crowding: f64) -> usize {
    let mut count = MIN_SECTORS;
    while count < 4 * pieces && count as f64 * crowding < 16.0 * pieces as f64 {
        count *= 2;
    }
    count
}

/// A range of azimuth, `from ≤ to`, `from` in `[0, 4)` and `to` possibly beyond.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: f64,
    to: f64,
}

impl Span {
    /// The shorter way around.
    fn between(a: f64, b: f64, margin: f64) -> Self {
        let (low, high) = if a <= b { (a, b) } else { (b, a) };
        let (from, to) = if high - low > 2.0 { (high, low + 4.0) } else { (low, high) };
        let (from, to) = (from - margin, to + margin);
        if from < 0.0 { Self { from: from + 4.0, to: to + 4.0 } } else { Self { from, to } }
    }

    /// First and last sector, twice if it passes through 4. The second is empty otherwise.
    fn sectors(self, scale: f64) -> [[u32; 2]; 2] {
        if self.to > 4.0 {
            let [last, end] = [4.0, self.to - 4.0].map(|t| sector_at(t, scale));
            [[sector_at(self.from, scale), last], [0, end]]
        } else {
            [[sector_at(self.from, scale), sector_at(self.to, scale)], [1, 0]]
        }
    }
}

fn azimuth(at: DVec2) -> f64 {
    let size = at.x.abs() + at.y.abs();
    if size > 0.0 { pseudo_angle(at.x, size, at.y) } else { 0.0 }
}

/// Azimuths of corners as one walks along them: each is asked for twice in a row.
#[derive(Default)]
struct Azimuths {
    last: DVec2,
    azimuth: f64,
}

impl Azimuths {
    fn of(&mut self, at: DVec2) -> f64 {
        if at != self.last {
            *self = Self { last: at, azimuth: azimuth(at) };
        }
        self.azimuth
    }
}

/// A direction to count from, with axes perpendicular to it.
#[derive(Clone, Copy)]
struct Pole {
    pole: DVec3,
    x: DVec3,
    y: DVec3,
    /// By how much `t` may be off near the edges.
    margin: f64,
    /// How many pieces a direction near the boundary has in its sector, on average; more if the
    /// pole is too near to an edge.
    cost: f64,
}

/// Good enough not to look further.
const GOOD_COST: f64 = 2.5;

/// The best of some directions. Seen from the middle of a round polygon each azimuth has one edge;
/// seen from where the edges of a comb would meet, its teeth have hardly any azimuth at all; and for
/// all others some directions spread over the sphere are tried.
fn choose_pole(edges: &Edges) -> Pole {
    let mut best: Option<Pole> = None;
    let mut scratch = Vec::new();
    // Lazily: the first is nearly always good enough.
    let first = [area_of as fn(&Edges) -> Option<DVec3>, middle_of, across];
    let first = first.into_iter().filter_map(|candidate| candidate(edges));
    for candidate in first.chain(spread()) {
        let pole = Pole::new(candidate, edges, &mut scratch);
        if best.is_none_or(|b| pole.cost < b.cost) {
            best = Some(pole);
        }
        if best.is_some_and(|b| b.cost <= GOOD_COST) {
            break;
        }
    }
    best.unwrap_or_else(|| Pole::new(DVec3::Z, edges, &mut scratch))
}

/// The vector area of the polygon of chords: for a round polygon, its middle.
fn area_of(edges: &Edges) -> Option<DVec3> {
    unit(edges.iter().map(|(start, end)| start.cross(end)).sum())
}

fn middle_of(edges: &Edges) -> Option<DVec3> {
    unit(edges.iter().map(|(start, _)| start).sum())
}

/// The direction that is nearest to the planes of all edges, the long ones first.
fn across(edges: &Edges) -> Option<DVec3> {
    let mut planes = [[0.0; 3]; 3];
    for (index, (start, end)) in edges.iter().enumerate() {
        let normal = edges.normal(index);
        let weight = (end - start).length();
        for (row, i) in planes.iter_mut().zip(0..3) {
            for (entry, j) in row.iter_mut().zip(0..3) {
                *entry += weight * normal[i] * normal[j];
            }
        }
    }
    symmetric_eigen(planes).map(|e| DVec3::from_array(e.vectors[2]))
}

/// Directions spread over half of the sphere, off the coordinate planes; the other half is opposite.
fn spread() -> impl Iterator<Item = DVec3> {
    const COUNT: usize = 12;
    // Steps by the powers of 1/1.2207…, the root of x⁴ = x + 1, fill a cube evenly (M. Roberts,
    // "The unreasonable effectiveness of quasirandom sequences", 2018).
    (1..=COUNT).filter_map(|i| {
        let i = i as f64;
        let [x, y, z] = [0.819_172_513_396_164_5, 0.671_043_606_703_789_2, 0.549_700_477_901_970_5]
            .map(|step| 2.0 * ((i * step) % 1.0) - 1.0);
        unit(DVec3::new(x, y, z))
    })
}

impl Pole {
    fn new(pole: DVec3, edges: &Edges, scratch: &mut Vec<i32>) -> Self {
        // The coordinate axis most nearly perpendicular gives the first axis.
        let other = if pole.x.abs() <= pole.y.abs().min(pole.z.abs()) {
            DVec3::X
        } else if pole.y.abs() <= pole.z.abs() {
            DVec3::Y
        } else {
            DVec3::Z
        };
        let x = unit(pole.cross(other)).unwrap_or(DVec3::X);
        let y = pole.cross(x);

        let clear = [pole, -pole].map(|p| edges.nearest(p).map_or(2.0, |n| n.chord_squared.sqrt()));
        let clear = clear[0].min(clear[1]);
        let margin = (1e-12 + 8.0 * NEAR / clear).min(0.1);

        // How many edges there are in each of some sectors, by differences.
        let count = (edges.len() * 2).next_power_of_two().clamp(MIN_SECTORS, 1 << 14);
        let scale = count as f64 / 4.0;
        scratch.clear();
        scratch.resize(count + 2, 0);
        let mut azimuths = Azimuths::default();
        for (start, end) in edges.iter() {
            let mut at = |c: DVec3| azimuths.of(DVec2::new(x.dot(c), y.dot(c)));
            for [from, to] in Span::between(at(start), at(end), 0.0).sectors(scale) {
                if from <= to {
                    scratch[from as usize] += 1;
                    scratch[to as usize + 1] -= 1;
                }
            }
        }
        let (mut here, mut total, mut squares) = (0, 0.0, 0.0);
        for step in scratch.iter() {
            here += step;
            let n = f64::from(here);
            total += n;
            squares += n * n;
        }
        let cost = squares / total + 1e-8 / clear;
        Self { pole, x, y, margin, cost: if cost.is_nan() { f64::INFINITY } else { cost } }
    }
}
