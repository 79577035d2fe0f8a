//! What values alone need of a network, laid out so that it can be walked through from front to back.
//!
//! Most of what a body is made of are turns about an axis through the joint's own centre, and products of
//! such turns. Their sines and cosines are taken of all angles at once, and products of as many factors are
//! made side by side, four at a time. Numbers come before: no number depends on a transform. What else
//! there is follows part by part, as with derivatives.
//!
//! Every operation is that of [`PreparedTurn::at`](super::PreparedTurn::at) and of the product of
//! quaternions, in the same order, so that the values have the bits of those with derivatives.

#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]
#![allow(clippy::needless_range_loop, reason = "one index over several columns is what vectorises")]

use glam::{DQuat, DVec3};

use super::curve::PreparedCurve;
use super::network::{Network, Step};
use super::transform::Transform;
use crate::math::{Kernel, Level, Rotation, trig};

/// Products that are made side by side.
const WIDTH: usize = 4;

type Lanes = [f64; WIDTH];

/// A network without what derivatives need.
#[derive(Clone, Debug, Default)]
pub(super) struct Flat {
    pub(super) numbers: Vec<NumberStep>,
    turns: Turns,
    /// The steps that remain, in order, by their places among all.
    pub(super) others: Vec<usize>,
    /// The transforms that are not made: turns that only products need.
    #[cfg(test)]
    pub(super) unmade: Vec<usize>,
}

/// A number made of others.
#[derive(Clone, Debug)]
pub(super) enum NumberStep {
    Curve { of: usize, curve: PreparedCurve, out: usize },
    Bound { active: usize, passive: usize, bounds: [Option<PreparedCurve>; 2], out: usize },
}

/// Turns about axes through the origin and products of them, `WIDTH` of equally many factors in a row.
#[derive(Clone, Debug, Default)]
struct Turns {
    /// For every row its factors, each with an angle and an axis for every lane.
    factors: Vec<Factor>,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Factor {
    /// The numbers that are the angles, and where the turns begin.
    angles: [usize; WIDTH],
    begin: Lanes,
    axes: [Lanes; 3],
}

#[derive(Clone, Debug)]
struct Row {
    /// How many of the factors are its own, after those of the rows before.
    factors: usize,
    /// The transforms that its lanes make; the last ones may be nobody's.
    outs: Vec<usize>,
}

/// A transform, and the turns that it is the product of: the number that is the angle, where it begins, and
/// the axis.
type Product = (usize, Vec<(usize, f64, DVec3)>);

/// Room for what is made on the way.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    halves: Vec<Lanes>,
    sines: Vec<Lanes>,
    cosines: Vec<Lanes>,
    quaternions: Vec<[Lanes; 4]>,
}

impl Flat {
    pub(super) fn new(network: &Network) -> Self {
        let steps = &network.steps;
        let mut maker = vec![None; network.transforms.len()];
        let mut wanted = vec![false; network.transforms.len()];
        network.drivers.iter().flatten().for_each(|of| wanted[*of] = true);
        let mut flat = Self::default();
        // A turn of its own, or a product of such turns.
        let simple = |maker: &[Option<usize>], of: usize| -> Option<(usize, f64, DVec3)> {
            match &steps[maker[of]?] {
                Step::Turn { angle, turn, .. } => {
                    turn.about_origin().map(|(begin, axis)| (*angle, begin, axis))
                }
                _ => None,
            }
        };
        let mut products: Vec<Product> = Vec::new();
        let mut turns = Vec::new();
        for (i, step) in steps.iter().enumerate() {
            if let Some(out) = step.transform() {
                maker[out] = Some(i);
            }
            match step {
                Step::Spread { input, outputs } => {
                    for (out, curve) in outputs {
                        let (of, curve) = (*input, curve.clone());
                        flat.numbers.push(NumberStep::Curve { of, curve, out: *out });
                    }
                }
                Step::Bound { active, passive, bounds, out, .. } => {
                    let (active, passive) = (active.of, passive.of);
                    let (bounds, out) = (bounds.clone(), *out);
                    flat.numbers.push(NumberStep::Bound { active, passive, bounds, out });
                }
                Step::Turn { turn, out, .. } if turn.about_origin().is_some() => turns.push(*out),
                Step::Chain { of, out } => {
                    let factors: Option<Vec<_>> =
                        of.iter().map(|input| simple(&maker, input.of)).collect();
                    if let Some(factors) = factors {
                        products.push((*out, factors));
                    } else {
                        of.iter().for_each(|input| wanted[input.of] = true);
                        flat.others.push(i);
                    }
                }
                Step::Turn { .. } | Step::Shift { .. } => flat.others.push(i),
                Step::Limit { input, .. } => {
                    wanted[*input] = true;
                    flat.others.push(i);
                }
                Step::Compensate { input, path, .. } => {
                    wanted[input.of] = true;
                    let drivers = path.iter().filter_map(|above| above.driver.as_ref());
                    drivers.for_each(|driver| wanted[driver.of] = true);
                    flat.others.push(i);
                }
                Step::Slide { input, path, .. } => {
                    let drivers = path.iter().filter_map(|above| above.driver.as_ref());
                    drivers.chain(input).for_each(|input| wanted[input.of] = true);
                    flat.others.push(i);
                }
            }
        }
        for out in turns {
            if wanted[out] {
                products.extend(simple(&maker, out).map(|factor| (out, vec![factor])));
            } else {
                #[cfg(test)]
                flat.unmade.push(out);
            }
        }
        // Rows have as many factors in each lane.
        products.sort_by_key(|(out, factors)| (factors.len(), *out));
        for same in products.chunk_by(|a, b| a.1.len() == b.1.len()) {
            same.chunks(WIDTH).for_each(|row| flat.turns.push(row));
        }
        flat
    }

    /// Room for what [`turn`](Self::turn) makes on the way.
    pub(super) fn room(&self) -> Room {
        let n = self.turns.factors.len();
        Room {
            halves: vec![[0.0; WIDTH]; n],
            sines: vec![[0.0; WIDTH]; n],
            cosines: vec![[0.0; WIDTH]; n],
            quaternions: vec![[[0.0; WIDTH]; 4]; self.turns.rows.len()],
        }
    }

    /// All simple turns and their products. They leave the origin where it is, so that translations stay
    /// the zeros that they are.
    pub(super) fn turn(&self, numbers: &[f64], transforms: &mut [Transform], room: &mut Room) {
        let mut far = false;
        for (halves, factor) in room.halves.iter_mut().zip(&self.turns.factors) {
            for lane in 0..WIDTH {
                let half = 0.5 * (numbers[factor.angles[lane]] - factor.begin[lane]);
                halves[lane] = half;
                far |= half.abs() > trig::KERNEL_MAX;
            }
        }
        Level::best().run(TurnAll { turns: &self.turns, room, far });
        for (row, quaternions) in self.turns.rows.iter().zip(&room.quaternions) {
            for (lane, out) in row.outs.iter().enumerate() {
                let [x, y, z, w] = quaternions.each_ref().map(|column| column[lane]);
                let rotation = Rotation::from_unit(DQuat::from_xyzw(x, y, z, w));
                transforms[*out].rotation = rotation;
            }
        }
    }
}

impl Turns {
    fn push(&mut self, products: &[Product]) {
        let Some((_, first)) = products.first() else { return };
        for k in 0..first.len() {
            let mut factor =
                Factor { angles: [0; WIDTH], begin: [0.0; WIDTH], axes: [[0.0; WIDTH]; 3] };
            for (lane, (_, factors)) in products.iter().enumerate() {
                let (angle, begin, axis) = factors[k];
                (factor.angles[lane], factor.begin[lane]) = (angle, begin);
                for (column, value) in factor.axes.iter_mut().zip(axis.to_array()) {
                    column[lane] = value;
                }
            }
            self.factors.push(factor);
        }
        let outs = products.iter().map(|(out, _)| *out).collect();
        self.rows.push(Row { factors: first.len(), outs });
    }
}

/// Sines, cosines and products, for whatever instructions there are.
struct TurnAll<'a> {
    turns: &'a Turns,
    room: &'a mut Room,
    /// Whether an angle is beyond what the kernel of the sine is for.
    far: bool,
}

impl Kernel for TurnAll<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { turns, room: Room { halves, sines, cosines, quaternions }, far } = self;
        for ((half, sine), cosine) in halves.iter().zip(&mut *sines).zip(&mut *cosines) {
            let (mut s, mut c) = ([0.0; WIDTH], [0.0; WIDTH]);
            for lane in 0..WIDTH {
                (s[lane], c[lane]) = trig::sin_cos_kernel(half[lane]);
            }
            (*sine, *cosine) = (s, c);
        }
        if far {
            for ((half, sine), cosine) in halves.iter().zip(&mut *sines).zip(&mut *cosines) {
                for lane in 0..WIDTH {
                    (sine[lane], cosine[lane]) = trig::sin_cos(half[lane]);
                }
            }
        }
        let mut made = turns.factors.iter().zip(sines).zip(cosines);
        for (row, out) in turns.rows.iter().zip(quaternions) {
            let Some(first) = made.next() else { return };
            let mut product = quaternion(first);
            for _ in 1..row.factors {
                let Some(next) = made.next() else { return };
                product = times(&product, &quaternion(next));
            }
            *out = product;
        }
    }
}

/// x, y, z and w of turns.
#[inline(always)]
fn quaternion(((factor, sine), cosine): ((&Factor, &mut Lanes), &mut Lanes)) -> [Lanes; 4] {
    let (sine, mut q) = (*sine, [[0.0; WIDTH]; 4]);
    for k in 0..3 {
        for lane in 0..WIDTH {
            q[k][lane] = factor.axes[k][lane] * sine[lane];
        }
    }
    q[3] = *cosine;
    q
}

/// Products of quaternions, term by term in the order that glam has.
#[inline(always)]
fn times(a: &[Lanes; 4], b: &[Lanes; 4]) -> [Lanes; 4] {
    let mut q = [[0.0; WIDTH]; 4];
    let ([x0, y0, z0, w0], [x1, y1, z1, w1]) = (a, b);
    for e in 0..WIDTH {
        q[0][e] = w0[e] * x1[e] + x0[e] * w1[e] + y0[e] * z1[e] - z0[e] * y1[e];
    }
    for e in 0..WIDTH {
        q[1][e] = w0[e] * y1[e] - x0[e] * z1[e] + y0[e] * w1[e] + z0[e] * x1[e];
    }
    for e in 0..WIDTH {
        q[2][e] = w0[e] * z1[e] + x0[e] * y1[e] - y0[e] * x1[e] + z0[e] * w1[e];
    }
    for e in 0..WIDTH {
        q[3][e] = w0[e] * w1[e] - x0[e] * x1[e] - y0[e] * y1[e] - z0[e] * z1[e];
    }
    q
}
