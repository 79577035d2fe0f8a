//! Projection of many rotations side by side: the formulas of [`Ball`] and of
//! [`HingeLimit`] as loops over blocks, in straight lines without branches, which
//! the compiler turns into packed instructions. As in [`batch`](crate::math::batch) results have the bits of
//! the scalar functions, and what is rare or in doubt is flagged, to be asked of these.

#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]
#![allow(clippy::needless_range_loop, reason = "one index over several columns is what vectorises")]
#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "what is not a number is in doubt")]

use std::f64::consts::TAU;

use glam::DVec3;

use super::TOLERANCE;
use super::angles::HingeLimit;
use super::ball::Ball;
use super::edges::{self, Edge, FEW};
use super::ellipse::Ellipse;
use super::polygon::Polygon;
use super::region::Tables;
use super::twist_field::{self, TwistRange};
use crate::math::batch::{BLOCK, Block, atan2_block, flag_if};
use crate::math::{SwingAxes, trig};

/// Components x, y, z and w of a block of quaternions.
pub(super) type Quats = [Block; 4];

/// A flag for each element that the scalar function has to be asked about.
pub(super) type Flags = [u64; BLOCK];

/// Directions that go through a table together: what is kept of them stays in registers.
const WIDTH: usize = 8;

/// The same in single precision: each comparison waits for the one before, so that two vectors of eight go
/// through in little more than the time of one.
const SINGLE_WIDTH: usize = 16;

/// The squares of lengths below this are not ordinary for [`trig::length`].
const SHORT_SQUARE: f64 = 1e-180;

/// A direction stays where it is if it is no farther outside than this: the square of the straight distance,
/// and that above which there is no doubt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    squares: [f64; 2],
    /// Whether the first look at what is nearest is in single precision: it costs half as much, and leaves
    /// more in doubt.
    single: bool,
}

impl Near {
    /// As for single rotations.
    pub(super) const DOUBLE: Self = Self {
        squares: [0.81 * TOLERANCE * TOLERANCE, 1.21 * TOLERANCE * TOLERANCE],
        single: false,
    };

    /// What single precision does not hold, and is not written back either.
    pub(super) const SINGLE: Self = Self { squares: [1e-13; 2], single: true };
}

/// A limit whose projection has a loop of its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lanes<'a> {
    Hinge(&'a HingeLimit),
    Ball(BallLanes<'a>),
}

/// A region with tables and a range of twist that is the same everywhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct BallLanes<'a> {
    axes: &'a SwingAxes,
    region: Tables<'a>,
    range: TwistRange,
    /// The ends of the range, in (−π, π].
    ends: [f64; 2],
}

impl<'a> BallLanes<'a> {
    /// `None` if there are none for it.
    pub(super) fn new(ball: &'a Ball) -> Option<Self> {
        // In order, as `TwistField::range` has it.
        let (region, range) = (ball.region().tables()?, ball.twist().plain()?.shifted(0.0));
        Some(Self { axes: ball.axes(), region, range, ends: range.wrapped_ends() })
    }
}

impl Lanes<'_> {
    /// Projects the first `n` of a block in place.
    #[inline(always)]
    pub(super) fn project(&self, n: usize, near: Near, quats: &mut Quats, flags: &mut Flags) {
        match self {
            Self::Hinge(hinge) => {
                // A copy shares no memory with the columns.
                let (hinge, [x, y, z, w]) = (**hinge, quats);
                for e in 0..n.min(BLOCK) {
                    let to = hinge.project_lane([x[e], y[e], z[e], w[e]], &mut flags[e]);
                    [x[e], y[e], z[e], w[e]] = to;
                }
            }
            Self::Ball(ball) => ball.project(n, near, quats, flags),
        }
    }
}

/// What is known of the directions and twists of a block.
struct Splits {
    /// Along x, y and the bone.
    direction: [Block; 3],
    twist: Block,
    blur: Block,
}

impl BallLanes<'_> {
    #[inline(always)]
    fn project(&self, n: usize, near: Near, quats: &mut Quats, flags: &mut Flags) {
        let n = n.min(BLOCK);
        let mut splits =
            Splits { direction: [[0.0; BLOCK]; 3], twist: [0.0; BLOCK], blur: [0.0; BLOCK] };
        self.split(n, quats, &mut splits, flags);
        // Those that stay where they are until a table says otherwise.
        let mut to = splits.direction;
        let mut moves = [0; BLOCK];
        match self.region {
            Tables::Everything => {}
            Tables::Polygon(polygon) => {
                polygon_block((polygon, near), n, &splits.direction, &mut to, &mut moves, flags);
            }
            Tables::Circle(ellipse, radius) => {
                let circle = (ellipse, radius, near.squares);
                circle_block(circle, n, &splits.direction, &mut to, &mut moves, flags);
            }
        }
        self.settle(n, &splits, &to, &moves, quats, flags);
    }

    /// As `Ball::split`.
    #[inline(always)]
    fn split(&self, n: usize, [x, y, z, w]: &Quats, splits: &mut Splits, flags: &mut Flags) {
        let (mut half_sin, mut scratch) = ([0.0; BLOCK], [0.0; BLOCK]);
        let Splits { direction: [dx, dy, dz], twist, blur } = splits;
        let [along_x, along_y, bone] = [self.axes.x(), self.axes.y(), self.axes.bone()];
        for e in 0..n {
            let sign = 1.0_f64.copysign(w[e]);
            let (a, b, c, w) = (x[e] * sign, y[e] * sign, z[e] * sign, w[e] * sign);
            let x = a * along_x.x + b * along_x.y + c * along_x.z;
            let y = a * along_y.x + b * along_y.y + c * along_y.z;
            let z = a * bone.x + b * bone.y + c * bone.z;
            dx[e] = 2.0 * (x * z + w * y);
            dy[e] = 2.0 * (y * z - w * x);
            dz[e] = w * w + z * z - x * x - y * y;
            let square = z * z + w * w;
            flags[e] |= flag_if((w == 0.0) | (square < SHORT_SQUARE));
            blur[e] = 4.0 * f64::EPSILON / square.sqrt();
            (half_sin[e], twist[e]) = (z, w);
        }
        atan2_block::<false, true>(n, &half_sin, twist, flags, &mut scratch);
        for e in 0..n {
            twist[e] *= 2.0;
        }
    }

    /// As `Ball::settle`, for directions that moved where the mask says so.
    #[inline(always)]
    fn settle(
        &self,
        n: usize,
        splits: &Splits,
        [px, py, pz]: &[Block; 3],
        moves: &[u64; BLOCK],
        quats: &mut Quats,
        flags: &mut Flags,
    ) {
        let TwistRange { min, max } = self.range;
        let full = self.range.is_full();
        let [end_min, end_max] = self.ends;
        let smaller_max = end_max.abs() < end_min.abs() - twist_field::ROUNDING;
        let (mut sin, mut cos) = ([0.0; BLOCK], [0.0; BLOCK]);
        let mut clamps = [0; BLOCK];
        for e in 0..n {
            let moved = moves[e] != 0;
            let twist = splits.twist[e];
            // `Ball::blur_at`.
            let across = px[e] * px[e] + py[e] * py[e];
            let upper = pz[e] >= 0.0;
            let half_cos = if upper { (0.5 * (1.0 + pz[e])).sqrt() } else { 0.5 * across.sqrt() };
            let blur = if moved { 4.0 * f64::EPSILON / half_cos } else { splits.blur[e] };
            flags[e] |= flag_if(moved & !upper & (across < SHORT_SQUARE));
            // `TwistRange::clamp_beyond`.
            let from_min = twist - min;
            let turned =
                if from_min.abs() < TAU { from_min } else { from_min - TAU.copysign(from_min) };
            let above = if turned < 0.0 { turned + TAU } else { turned };
            let outside = !((twist >= min) & (twist <= max))
                & !full
                & (above > max - min + twist_field::ROUNDING)
                & (above < TAU - twist_field::ROUNDING);
            let (past_max, before_min) = (above - (max - min), TAU - above);
            let least = if past_max < before_min { past_max } else { before_min };
            let clamped = outside & !(least <= TOLERANCE + blur);
            let middle = (past_max - before_min).abs() <= twist_field::ROUNDING;
            let nearer_max = (middle & smaller_max) | (!middle & (past_max < before_min));
            let end = if nearer_max { end_max } else { end_min };
            let settled = if clamped { end } else { twist };
            let turn = if moved { settled } else { settled - twist };
            clamps[e] = u64::from(clamped);
            (sin[e], cos[e]) = trig::sin_cos_kernel(0.5 * turn);
        }
        let [x, y, z, w] = quats;
        for e in 0..n {
            let (moved, clamped) = (moves[e] != 0, clamps[e] != 0);
            let (sin, cos) = (sin[e], cos[e]);
            let joined = self.joined([px[e], py[e], pz[e]], (sin, cos), &mut flags[e], moved);
            let rolled = near_unit(self.axes, [0.0, 0.0, sin, cos], &mut flags[e], clamped);
            let from = [x[e], y[e], z[e], w[e]];
            let rolled = product(from, rolled);
            let to = [0, 1, 2, 3].map(|i: usize| if moved { joined[i] } else { rolled[i] });
            let cosine = from[0] * to[0] + from[1] * to[1] + from[2] * to[2] + from[3] * to[3];
            let acts = moved | clamped;
            flags[e] |= flag_if(acts & (cosine.abs() < 1e-12));
            let side = if cosine < 0.0 { -1.0 } else { 1.0 };
            let to = [0, 1, 2, 3].map(|i: usize| if acts { side * to[i] } else { from[i] });
            [x[e], y[e], z[e], w[e]] = to;
        }
    }

    /// As `Ball::join`.
    #[inline(always)]
    fn joined(
        &self,
        [dx, dy, dz]: [f64; 3],
        (sin, cos): (f64, f64),
        flag: &mut u64,
        wanted: bool,
    ) -> [f64; 4] {
        let half_cos = (0.5 * (1.0 + dz)).sqrt();
        let (half_sin, across) = ((0.5 * (1.0 - dz)).sqrt(), (dx * dx + dy * dy).sqrt());
        let upper = dz >= 0.0;
        let x = if upper { -dy / (2.0 * half_cos) } else { -dy * half_sin / across };
        let y = if upper { dx / (2.0 * half_cos) } else { dx * half_sin / across };
        let w = if upper { half_cos } else { across / (2.0 * half_sin) };
        let quat = [cos * x + sin * y, cos * y - sin * x, w * sin, w * cos];
        near_unit(self.axes, quat, flag, wanted)
    }
}

/// As [`SwingAxes::near_unit_rotation`].
#[inline(always)]
fn near_unit(axes: &SwingAxes, [x, y, z, w]: [f64; 4], flag: &mut u64, wanted: bool) -> [f64; 4] {
    let square = x * x + y * y + z * z + w * w;
    *flag |= flag_if(wanted & !((square - 1.0).abs() <= 1e-7));
    let scale = 1.5 - 0.5 * square;
    let [along_x, along_y, bone] = [axes.x(), axes.y(), axes.bone()];
    [
        (along_x.x * x + along_y.x * y + bone.x * z) * scale,
        (along_x.y * x + along_y.y * y + bone.y * z) * scale,
        (along_x.z * x + along_y.z * y + bone.z * z) * scale,
        w * scale,
    ]
}

/// As glam has it.
#[inline(always)]
fn product([x, y, z, w]: [f64; 4], [a, b, c, e]: [f64; 4]) -> [f64; 4] {
    [
        w * a + x * e + y * c - z * b,
        w * b - x * c + y * e + z * a,
        w * c + x * b - y * a + z * e,
        w * e - x * a - y * b - z * c,
    ]
}

/// As `Region::project` for a polygon of few edges, by the nearest of all at once.
///
/// The way to the nearest point meets no other edge. So a direction is inside if it is to the left of the
/// edge that this is on; and if it is a corner, if the boundary turns right there.
#[inline(always)]
fn polygon_block(
    (polygon, near): (&Polygon, Near),
    n: usize,
    [x, y, z]: &[Block; 3],
    to: &mut [Block; 3],
    moves: &mut [u64; BLOCK],
    flags: &mut Flags,
) {
    let Some(all) = polygon.edges().few() else { return };
    let mut about = [0_u64; FEW];
    for (i, about) in about.iter_mut().enumerate().take(all.len()) {
        *about = u64::from(polygon.is_inside_about(i));
    }
    let boundary = Boundary { all, about, near };
    if near.single {
        let mut singles = [SingleEdge::default(); FEW];
        for (single, edge) in singles.iter_mut().zip(all) {
            *single = SingleEdge::new(edge);
        }
        let look = SingleLook(&singles[..all.len().min(FEW)]);
        boundary.project(n, &look, [x, y, z], to, moves, flags);
    } else {
        boundary.project(n, &Look(all), [x, y, z], to, moves, flags);
    }
}

/// Looks for what is nearest to some directions at once. No closure: that would keep the instructions of the
/// baseline.
trait FindNearest<const W: usize> {
    fn nearest(&self, d: &[[f64; W]; 3]) -> NearestEdges<W>;
}

struct Look<'a>(&'a [Edge]);

impl FindNearest<WIDTH> for Look<'_> {
    #[inline(always)]
    fn nearest(&self, d: &[[f64; WIDTH]; 3]) -> NearestEdges<WIDTH> {
        nearest_edges(self.0, d)
    }
}

struct SingleLook<'a>(&'a [SingleEdge]);

impl FindNearest<SINGLE_WIDTH> for SingleLook<'_> {
    #[inline(always)]
    fn nearest(&self, d: &[[f64; SINGLE_WIDTH]; 3]) -> NearestEdges<SINGLE_WIDTH> {
        nearest_single_edges(self.0, d)
    }
}

/// A polygon of few edges.
struct Boundary<'a> {
    all: &'a [Edge],
    /// Whether it is inside about the start of each edge.
    about: [u64; FEW],
    near: Near,
}

impl Boundary<'_> {
    /// As [`polygon_block`], by what is nearest to some directions at once.
    #[inline(always)]
    fn project<const W: usize>(
        &self,
        n: usize,
        look: &impl FindNearest<W>,
        [x, y, z]: [&Block; 3],
        to: &mut [Block; 3],
        moves: &mut [u64; BLOCK],
        flags: &mut Flags,
    ) {
        let Self { all, about, near } = self;
        let mut begin = 0;
        while begin < n {
            let mut d = [[0.0; W]; 3];
            for l in 0..W {
                [d[0][l], d[1][l], d[2][l]] = [x[begin + l], y[begin + l], z[begin + l]];
            }
            let found = look.nearest(&d);
            for l in 0..W {
                let edge = &all[found.edge[l].min(all.len() - 1)];
                let d = DVec3::new(d[0][l], d[1][l], d[2][l]);
                let side = edge.normal.dot(d);
                let (along, before) = (edge.after_start.dot(d), edge.before_end.dot(d));
                let beside = (along > 0.0) & (before > 0.0);
                let across = edge.start.dot(d);
                let cosine = (along * along + across * across).sqrt();
                let to_start = (d - edge.start).length_squared();
                let chord = if beside { 2.0 * side * side / (1.0 + cosine) } else { to_start };
                let flat = d - edge.normal * side;
                let square = flat.length_squared();
                let foot = flat / square.sqrt();
                let at = found.edge[l] % FEW;
                let inside = if beside { side >= 0.0 } else { about[at] != 0 };
                let (near, doubt) = nearness(near.squares, chord);
                let moved = !inside & !near;
                // Several edges, of which one may be that of a corner, or all of them far away, or nearly
                // at the pole of one.
                let unclear = (found.several[l] & !near) | (moved & beside & (square < 1e-20));
                flags[begin + l] |= flag_if(doubt | (chord > edges::FAR) | unclear);
                moves[begin + l] = u64::from(moved);
                let foot = if beside { foot } else { edge.start };
                to[0][begin + l] = if moved { foot.x } else { d.x };
                to[1][begin + l] = if moved { foot.y } else { d.y };
                to[2][begin + l] = if moved { foot.z } else { d.z };
            }
            begin += W;
        }
    }
}

/// Whether a boundary is so near, by the square of the straight distance, that a direction stays where it is
/// also outside, and whether that is in doubt.
#[inline(always)]
fn nearness([less, more]: [f64; 2], chord_square: f64) -> (bool, bool) {
    let near = chord_square < less;
    (near, !near & !(chord_square > more))
}

/// The nearest edges of some directions.
struct NearestEdges<const W: usize> {
    edge: [usize; W],
    /// Whether another is as near, or nearly.
    several: [bool; W],
}

/// By the signed squares of cosines, as `edges::Rows::near`.
#[inline(always)]
fn nearest_edges(all: &[Edge], [x, y, z]: &[[f64; WIDTH]; 3]) -> NearestEdges<WIDTH> {
    let (mut best, mut second) = ([f64::NEG_INFINITY; WIDTH], [f64::NEG_INFINITY; WIDTH]);
    let mut which = [0_u64; WIDTH];
    for (i, edge) in (0..).zip(all) {
        let [start, normal] = [edge.start, edge.normal];
        let [after, before] = [edge.after_start, edge.before_end];
        for l in 0..WIDTH {
            let to_start = start.x * x[l] + start.y * y[l] + start.z * z[l];
            let side = normal.x * x[l] + normal.y * y[l] + normal.z * z[l];
            let after = after.x * x[l] + after.y * y[l] + after.z * z[l];
            let before = before.x * x[l] + before.y * y[l] + before.z * z[l];
            let beside = (after > 0.0) & (before > 0.0);
            let square = if beside { 1.0 - side * side } else { to_start * to_start.abs() };
            let larger = square > best[l];
            let passed = if larger { best[l] } else { square };
            second[l] = if passed > second[l] { passed } else { second[l] };
            best[l] = if larger { square } else { best[l] };
            which[l] = if larger { i } else { which[l] };
        }
    }
    let mut found = NearestEdges { edge: [0; WIDTH], several: [false; WIDTH] };
    for l in 0..WIDTH {
        found.edge[l] = usize::try_from(which[l]).unwrap_or(0);
        found.several[l] = !(second[l] < best[l] - 4.0 * edges::SLACK);
    }
    found
}

/// What [`nearest_single_edges`] asks of an edge: its start, its normal, and what is positive along the
/// half circles that begin and end with it.
#[derive(Clone, Copy, Default)]
struct SingleEdge([[f32; 3]; 4]);

impl SingleEdge {
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "what is lost is within the slack")]
    fn new(edge: &Edge) -> Self {
        let vectors = [edge.start, edge.normal, edge.after_start, edge.before_end];
        let mut single = [[0.0; 3]; 4];
        for (single, v) in single.iter_mut().zip(vectors) {
            *single = [v.x as f32, v.y as f32, v.z as f32];
        }
        Self(single)
    }
}

/// How far the squares of cosines may be off in single precision: products of unit vectors are off by eight
/// roundings of 6e-8 at most, those of the vectors among them, and their squares by twice that.
const SINGLE_SLACK: f32 = 2e-6;

/// As [`nearest_edges`], in single precision, with the same edges wherever it says that there is only one.
///
/// Whether the nearest point is an edge's start or inside of it does not matter here, and the end of an edge
/// is the start of another: where rounding takes one for the other, both are as near to 1e-12.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "what is lost is within the slack")]
fn nearest_single_edges(
    all: &[SingleEdge],
    d: &[[f64; SINGLE_WIDTH]; 3],
) -> NearestEdges<SINGLE_WIDTH> {
    let mut single = [[0.0_f32; SINGLE_WIDTH]; 3];
    for k in 0..3 {
        for l in 0..SINGLE_WIDTH {
            single[k][l] = d[k][l] as f32;
        }
    }
    let [x, y, z] = single;
    let (mut best, mut second) =
        ([f32::NEG_INFINITY; SINGLE_WIDTH], [f32::NEG_INFINITY; SINGLE_WIDTH]);
    let mut which = [0_u32; SINGLE_WIDTH];
    for (i, edge) in (0..).zip(all) {
        // A copy: by reference the loop below is not vectorised.
        let SingleEdge([start, normal, after, before]) = *edge;
        for l in 0..SINGLE_WIDTH {
            let to_start = start[0] * x[l] + start[1] * y[l] + start[2] * z[l];
            let side = normal[0] * x[l] + normal[1] * y[l] + normal[2] * z[l];
            let after = after[0] * x[l] + after[1] * y[l] + after[2] * z[l];
            let before = before[0] * x[l] + before[1] * y[l] + before[2] * z[l];
            let beside = (after > 0.0) & (before > 0.0);
            let square = if beside { 1.0 - side * side } else { to_start * to_start.abs() };
            let larger = square > best[l];
            let passed = if larger { best[l] } else { square };
            second[l] = if passed > second[l] { passed } else { second[l] };
            best[l] = if larger { square } else { best[l] };
            which[l] = if larger { i } else { which[l] };
        }
    }
    let mut found = NearestEdges { edge: [0; SINGLE_WIDTH], several: [false; SINGLE_WIDTH] };
    for l in 0..SINGLE_WIDTH {
        found.edge[l] = usize::try_from(which[l]).unwrap_or(0);
        found.several[l] = !(second[l] < best[l] - 2.0 * SINGLE_SLACK);
    }
    found
}

/// By how much the function of an ellipse may be off, near its boundary.
const VALUE_ROUNDING: f64 = 1e-12;

/// The function of an ellipse, `Ellipse::value`, of a block of directions.
#[inline(always)]
fn ellipse_values(
    ellipse: Ellipse,
    n: usize,
    [x, y, z]: &[Block; 3],
    values: &mut Block,
    flags: &mut Flags,
) {
    let (mut sin, mut scratch) = ([0.0; BLOCK], [0.0; BLOCK]);
    for e in 0..n {
        let square = x[e] * x[e] + y[e] * y[e];
        flags[e] |= flag_if(!(square > SHORT_SQUARE));
        (sin[e], values[e]) = (square.sqrt(), z[e]);
    }
    atan2_block::<true, false>(n, &sin, values, flags, &mut scratch);
    for e in 0..n {
        let scale = values[e] / sin[e];
        let (a, b) = (-y[e] * scale / ellipse.rx, x[e] * scale / ellipse.ry);
        values[e] = a * a + b * b - 1.0;
    }
}

/// Takes over the feet of those directions that are outside by the function of an ellipse.
#[inline(always)]
fn take_feet(
    n: usize,
    (values, near_squares): (&Block, [f64; 2]),
    from: &[Block; 3],
    to: &mut [Block; 3],
    moves: &mut [u64; BLOCK],
    flags: &mut Flags,
) {
    for e in 0..n {
        let off = [0, 1, 2].map(|k: usize| from[k][e] - to[k][e]);
        let chord = off[0] * off[0] + off[1] * off[1] + off[2] * off[2];
        let (near, doubt) = nearness(near_squares, chord);
        let inside = values[e] < -VALUE_ROUNDING;
        let unclear = !(values[e] > VALUE_ROUNDING) & !near;
        flags[e] |= flag_if(!inside & (doubt | unclear));
        let moved = !inside & !near;
        moves[e] = u64::from(moved);
        for k in 0..3 {
            to[k][e] = if moved { to[k][e] } else { from[k][e] };
        }
    }
}

/// As `Region::project` for a circle about the bone.
#[inline(always)]
fn circle_block(
    (ellipse, radius, near_squares): (Ellipse, f64, [f64; 2]),
    n: usize,
    from: &[Block; 3],
    to: &mut [Block; 3],
    moves: &mut [u64; BLOCK],
    flags: &mut Flags,
) {
    let mut values = [0.0; BLOCK];
    ellipse_values(ellipse, n, from, &mut values, flags);
    let (sin, cos) = trig::sin_cos(radius);
    for e in 0..n {
        let (x, y) = (from[0][e], from[1][e]);
        let across = (x * x + y * y).sqrt();
        to[0][e] = x / across * sin;
        to[1][e] = y / across * sin;
        to[2][e] = cos;
    }
    take_feet(n, (&values, near_squares), from, to, moves, flags);
}
