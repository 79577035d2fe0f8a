//! The largest value of a function of an angle that does not change faster than a speed, which may be
//! another one between any two angles.

use std::f64::consts::TAU;

/// Looks for it, with its own memory.
///
/// # Source
///
/// S. A. Piyavskii, "An algorithm for finding the absolute extremum of a function", 1972: between two
/// angles that were asked the function is at most `(f(a) + f(b) + speed · (b − a)) / 2`, and it is asked
/// next where that is largest. Then a golden section between the neighbours of the best.
#[derive(Debug, Default)]
pub(crate) struct Climb {
    starts: Vec<f64>,
    gaps: Vec<Gap>,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    from: [f64; 2],
    to: [f64; 2],
    speed: f64,
    most: f64,
}

/// How far the value may be below the largest, in radians: 0.03°. And how often to ask for that; with
/// functions that are flat at the top it may not be enough, and then steps of a part in so many are what
/// was looked at.
const NEAR: f64 = 5e-4;
const MOST: u32 = 600;

/// (√5 − 1) / 2
const GOLDEN: f64 = 0.618_033_988_749_894_9;

impl Climb {
    /// The angle from one to another where a function is largest, and its value there. It is asked at some
    /// angles in any case: where it may change faster for a while.
    pub(crate) fn climb(
        &mut self,
        f: impl Fn(f64) -> f64,
        [from, to]: [f64; 2],
        speed: impl Fn(f64, f64) -> f64,
        also: impl Iterator<Item = f64>,
    ) -> [f64; 2] {
        const PARTS: u32 = 16;
        self.gaps.clear();
        self.starts.clear();
        let at = |i: u32| from + (to - from) * f64::from(i) / f64::from(PARTS);
        self.starts.extend((1..PARTS).map(at));
        let turns = |psi: f64| [psi - TAU, psi, psi + TAU];
        self.starts.extend(also.flat_map(turns).filter(|psi| *psi > from && *psi < to));
        self.starts.sort_unstable_by(f64::total_cmp);
        self.starts.push(to);
        let mut before = [from, f(from)];
        let mut best = before;
        for &psi in &self.starts {
            let after = [psi, f(psi)];
            best = larger(best, after);
            self.gaps.push(Gap::new(before, after, &speed));
            before = after;
        }
        for _ in PARTS..MOST {
            let Some(widest) = (0..self.gaps.len())
                .max_by(|a, b| self.gaps[*a].most.total_cmp(&self.gaps[*b].most))
            else {
                break;
            };
            let Gap { from, to, speed: fast, most } = self.gaps[widest];
            if most.partial_cmp(&(best[1] + NEAR)) != Some(std::cmp::Ordering::Greater) {
                break;
            }
            // Where both cones meet.
            let lean = 0.5 * (to[1] - from[1]) / fast;
            let psi =
                0.5 * (from[0] + to[0]) + lean.clamp(-0.25, 0.25) * (to[0] - from[0]).min(1.0);
            let psi = if psi > from[0] && psi < to[0] { psi } else { 0.5 * (from[0] + to[0]) };
            let middle = [psi, f(psi)];
            best = larger(best, middle);
            self.gaps[widest] = Gap::new(from, middle, &speed);
            self.gaps.push(Gap::new(middle, to, &speed));
        }
        let beside = |gap: &&Gap| gap.from[0] == best[0] || gap.to[0] == best[0];
        let [mut low, mut high] = self
            .gaps
            .iter()
            .filter(beside)
            .fold([best[0]; 2], |[low, high], gap| [low.min(gap.from[0]), high.max(gap.to[0])]);
        for _ in 0..64 {
            if high - low < 1e-9 {
                break;
            }
            let [a, b] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
            let [fa, fb] = [f(a), f(b)];
            best = larger(larger(best, [a, fa]), [b, fb]);
            if fa >= fb { high = b } else { low = a }
        }
        best
    }
}

impl Gap {
    fn new(from: [f64; 2], to: [f64; 2], speed: impl Fn(f64, f64) -> f64) -> Self {
        let speed = speed(from[0], to[0]);
        Self { from, to, speed, most: 0.5 * (from[1] + to[1] + speed * (to[0] - from[0])) }
    }
}

/// The one with the larger value, the first if both are as large.
fn larger(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    if b[1] > a[1] { b } else { a }
}
