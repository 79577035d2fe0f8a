//! Which angles of joints drive or bound each other, learnt from motion (A17, D3).
//!
//! [`couple`] looks at every two angles of different joints and says whether one drives the other (the
//! clavicle follows the arm) or bounds it (a bent knee lets the hip bend farther), with the function, its
//! band, and the share of false ones among those that it names. The method is described in
//! `docs/couple.md`.

mod angles;
mod beside;
mod clock;
mod dice;
mod evidence;
mod fit;
mod page;
mod phase;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

pub use fit::Fitted;
pub use page::html;

use angles::Angles;
use clock::Clock;
use evidence::{
    ABOVE, BELOW, BESIDE, BOTH, DRIVING, Evidence, Sorted, TESTS, Usual, evidence, false_shares,
    share_of,
};
use fit::{Samples, Wanted};

use crate::estimate::Take;
use crate::math::Angle;
use crate::rig::{AngleOf, Coupling, Rig, Rule, Source};
use crate::threads;

/// How couplings are looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoupleOptions {
    /// The share of false couplings among those that are found, at most, as a statistic.
    pub false_share: f64,
    /// An angle that another one drives has at least this share of its variance explained by it.
    pub explained: f64,
    /// A bound takes at least this share of the range of an angle away, on average, beyond what chance
    /// does.
    pub taken: f64,
    /// On how many threads; the result is the same.
    pub threads: NonZeroUsize,
}

impl Default for CoupleOptions {
    fn default() -> Self {
        Self { false_share: 0.05, explained: 0.8, taken: 0.05, threads: NonZeroUsize::MIN }
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Couplings {
    /// The couplings, those that drive first, the clearest first.
    pub found: Vec<Found>,
    /// How many angles move.
    pub angles: usize,
    /// How many do not, so that nothing can be said of them.
    pub still: usize,
    /// How many pairs were tested, each in both directions and for each kind.
    pub pairs: usize,
    /// Pairs that could not be tested: the motion is too short, or comes too rarely where it would have to.
    pub untold: usize,
    /// Pairs that were left out since they follow from others: both depend on a third angle more than on
    /// each other.
    pub echoes: usize,
    /// Pairs that were left out since without one of the takes there is no evidence.
    pub single: usize,
    /// How many takes have motion.
    pub takes: usize,
    /// How much of the motion was there before, sample for sample, and counts once only.
    pub repeated_s: f64,
    /// The periods of what was looked at, in seconds, where motion comes again and again.
    pub periods_s: Vec<f64>,
    /// How many samples were looked at.
    pub samples: usize,
    /// In how many stretches of time.
    pub stretches: usize,
}

impl Couplings {
    /// What to know about the motion, in sentences.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.pairs == 0 {
            let what = "no two joints with axes move by more than 3°: estimate a rig from these clips, and \
                        couple then";
            warnings.push(what.to_owned());
        } else if 2 * self.untold > self.pairs {
            warnings.push(format!(
                "{} of {} pairs could not be tested: the motion is too short, or does not come again to \
                 where it was; give more clips",
                self.untold, self.pairs
            ));
        }
        if self.repeated_s > 0.0 {
            warnings.push(format!(
                "{:.1} s of the motion are there twice, and count once",
                self.repeated_s
            ));
        }
        let alone = self.found.iter().filter(|of| !of.lasting).count();
        if self.takes == 1 && alone > 0 {
            let what = "there is one take only: what is found may be of this motion, and not of the \
                        joints; give others";
            warnings.push(what.to_owned());
        } else if alone > 0 {
            warnings.push(format!(
                "{alone} of {} couplings rest on one take, and the others are too short to tell: they may \
                 be of that motion, and not of the joints",
                self.found.len()
            ));
        }
        let periodic = self.periods_s.len();
        if periodic == self.stretches && periodic > 0 {
            let what = "all of the motion is periodic: bounds are drawn where the gait goes, not where joints \
                        end, and what gets faster or larger as a whole may seem coupled; give clips that \
                        explore as well";
            warnings.push(what.to_owned());
        }
        warnings
    }
}

/// A coupling with what speaks for it.
#[derive(Clone, Debug)]
pub struct Found {
    /// As it goes into a rig.
    pub coupling: Coupling,
    /// The functions with their bands: the curve, or the bounds that there are, the lower one first.
    pub fitted: Vec<Fitted>,
    /// The share of the passive angle's variance that the active one explains.
    pub explained: f64,
    /// The same, on average, when the two are out of step.
    pub explained_by_chance: f64,
    /// By how much bounds narrow the passive angle, as a share of its range: below and above, on average.
    pub taken: [f64; 2],
    /// The same when the two are out of step.
    pub taken_by_chance: [f64; 2],
    /// Whether it was seen to be there without any one of the takes, too. With one take, or where the
    /// others are too short, nobody can tell.
    pub lasting: bool,
    /// Whether it shows only in periods that are unusual in both angles, and not by how far they go: that
    /// they depend on each other is found, and the bound drawn is what the gait leaves room for.
    pub by_periods: bool,
    /// Active and passive angle in samples, degrees.
    pub points_deg: Vec<[f64; 2]>,
}

/// Finds which angles drive or bound which others.
///
/// Joints are those of the rig that have axes; takes may have other joints as well. Total: without motion
/// nothing is found. The result depends on nothing but the takes, the rig and the options.
#[must_use]
pub fn couple(takes: &[Take<'_>], rig: &Rig, options: &CoupleOptions) -> Couplings {
    // The order in which they are given does not matter.
    let mut takes = takes.to_vec();
    takes.sort_by_cached_key(|take| dice::seed_of_clip(take.clip));
    let angles = Angles::of(&takes, rig);
    let clock = Clock::of(&angles, dice::seed_of(&angles.columns));
    let sorted: Vec<Sorted> =
        angles.columns.iter().map(|column| Sorted::of(column, &angles)).collect();
    let count = angles.columns.len();
    let mut pairs: Vec<[usize; 2]> = Vec::new();
    for a in 0..count {
        pairs.extend(
            (a + 1..count).filter(|b| angles.joints[a] != angles.joints[*b]).map(|b| [a, b]),
        );
    }
    let shown = threads::each(&pairs, options.threads, |[a, b]| {
        let of =
            |pair: [usize; 2]| evidence(pair.map(|i| &sorted[i]), pair, &angles, &clock, |_| true);
        [of([*a, *b]), of([*b, *a])]
    });
    let untold = shown.iter().filter(|both| both.iter().all(Option::is_none)).count();
    let told: Vec<Evidence> = shown.iter().flatten().flatten().copied().collect();
    let usual = Usual::of(&told);
    let p: Vec<f64> = told.iter().flat_map(|of| usual.strict_p(of)).collect();
    let mut shares = false_shares(&p).into_iter();
    let mut chosen: Vec<Vec<Chosen>> = Vec::new();
    for (pair, both) in pairs.iter().zip(&shown) {
        let ways = [*pair, [pair[1], pair[0]]];
        let all = ways.into_iter().zip(both).filter_map(|(pair, evidence)| {
            let evidence = (*evidence)?;
            let shares = [(); TESTS].map(|()| shares.next().unwrap_or(1.0));
            let binned = share_of(evidence.seen.explained);
            // Bins are coarse where an angle is mostly in one place: a function explains more.
            let may_drive =
                shares[DRIVING] <= options.false_share && binned >= 0.5 * options.explained;
            let explained =
                if may_drive { 1.0 - samples(&angles, &clock, pair).left() } else { 0.0 };
            Some(Chosen {
                pair,
                evidence,
                explained: explained.max(binned),
                p: usual.p(&evidence),
                shares,
                toward: [0.0; 2],
                lasting: false,
            })
        });
        let all: Vec<Chosen> = all.collect();
        let ways: Vec<Chosen> = Chosen::of(&all, &sorted, options)
            .into_iter()
            .map(|of| {
                let toward = of.pair.map(|passive| {
                    let way = all.iter().find(|way| way.pair[1] == passive);
                    way.map_or(0.0, |way| way.evidence.beyond().iter().map(|v| v.max(0.0)).sum())
                });
                Chosen { toward, ..of }
            })
            .collect();
        if !ways.is_empty() {
            chosen.push(ways);
        }
    }
    let before = chosen.len();
    let lasting = threads::each(&chosen, options.threads, |ways| -> Vec<Chosen> {
        let lasts =
            |of: &Chosen| of.lasting(of.pair.map(|i| &sorted[i]), &angles, &clock, &usual, options);
        ways.iter().filter_map(lasts).collect()
    });
    let chosen: Vec<Vec<Chosen>> = lasting.into_iter().filter(|ways| !ways.is_empty()).collect();
    let single = before - chosen.len();
    let before = chosen.len();
    let links = threads::each(&chosen, options.threads, |ways| {
        let of = &ways[0];
        let left = |pair| samples(&angles, &clock, pair).left();
        let [a, b] = of.pair;
        let driven = of.drives(options).then(|| 1.0 - left([a, b]).min(left([b, a])));
        Link { pair: of.pair, driven, toward: of.toward }
    });
    let mut beside: Vec<BTreeMap<usize, Link>> = vec![BTreeMap::new(); count];
    for link in &links {
        let [a, b] = link.pair;
        beside[a].insert(b, *link);
        beside[b].insert(a, *link);
    }
    let chosen: Vec<Vec<Chosen>> = chosen
        .into_iter()
        .zip(&links)
        .filter(|(_, link)| !link.is_echo(&beside))
        .map(|(of, _)| of)
        .collect();
    let echoes = before - chosen.len();
    let mut found: Vec<Found> = threads::each(&chosen, options.threads, |ways| {
        ways.iter().find_map(|of| of.fitted(&angles, &clock, options))
    })
    .into_iter()
    .flatten()
    .collect();
    found.sort_by(|a, b| {
        let rank = |of: &Found| matches!(of.coupling.rule, Rule::Bound { .. });
        let clear = |of: &Found| if rank(of) { of.taken[0] + of.taken[1] } else { of.explained };
        rank(a).cmp(&rank(b)).then(clear(b).total_cmp(&clear(a)))
    });
    #[allow(clippy::cast_precision_loss, reason = "counts are below 2^32")]
    let periods_s = clock.periods.iter().flatten().map(|n| *n as f64 * angles.step_s).collect();
    Couplings {
        found,
        angles: count,
        still: angles.still,
        pairs: pairs.len(),
        untold,
        echoes,
        single,
        periods_s,
        samples: angles.columns.first().map_or(0, Vec::len),
        stretches: angles.stretches.len(),
        takes: angles.takes.iter().collect::<BTreeSet<_>>().len(),
        repeated_s: angles.repeated_s,
    }
}

/// Takes are left out one by one, or in as many groups.
const GROUPS: usize = 8;

/// What is left without a take has to be as unlikely by chance, at most; and so has the side of a bound,
/// where it is the dependence as such that is clear.
const LASTING: f64 = 0.05;

/// What two angles do together beside their usual courses is so much of what they do beside them, at least.
const LEAST_BESIDE: f64 = 0.02;

/// A bound that follows from two others takes less than this share of what each of them takes.
const ECHO: f64 = 0.5;

/// A side of a bound.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// How much it takes away beyond what chance does.
    taken: f64,
    /// The share of false ones.
    share: f64,
    /// Whether it shows only in unusual periods.
    by_periods: bool,
}

/// A pair that may become a coupling.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    /// Active and passive.
    pair: [usize; 2],
    evidence: Evidence,
    /// The share of the passive angle's variance that the active one explains.
    explained: f64,
    /// How likely it is by chance, and the shares of false ones, of each test.
    p: [f64; TESTS],
    shares: [f64; TESTS],
    /// By how much each of the two is bounded by the other, beyond what chance does.
    toward: [f64; 2],
    /// Whether it is there without any one of the takes, too.
    lasting: bool,
}

impl Chosen {
    fn drives(&self, options: &CoupleOptions) -> bool {
        let Evidence { seen, chance, .. } = self.evidence;
        let [seen, chance] = [seen, chance].map(|of| share_of(of.explained));
        // What the clock of the motion alone leaves open has to shrink to a half.
        self.shares[DRIVING] <= options.false_share
            && self.explained >= options.explained
            && 1.0 - seen <= 0.5 * (1.0 - chance)
    }

    /// The bounds above and below that it is.
    ///
    /// What is bounded also depends on the other angle on average, and may be narrowed from both sides: that
    /// is often clearer than a single end. In periodic motion the usual courses of two angles leave little
    /// room for a bound to show beyond what they do by themselves; there it is enough that the two leave
    /// their courses together, and the bound is what the motion shows.
    fn sides(&self, options: &CoupleOptions) -> [Option<Side>; 2] {
        let Evidence { seen, chance, .. } = self.evidence;
        let [told, by_chance] = [seen, chance].map(|of| of.told_beside());
        let told = std::iter::zip(told, by_chance).map(|(told, by_chance)| told - by_chance);
        let beside = std::iter::zip(BESIDE, told)
            .filter(|(_, told)| *told >= LEAST_BESIDE)
            .map(|(test, _)| self.shares[test])
            .fold(1.0, f64::min);
        let together = self.shares[DRIVING].min(self.shares[BOTH]).min(beside);
        let beyond = self.evidence.beyond();
        [(ABOVE, beyond[0], seen.upper), (BELOW, beyond[1], seen.lower)].map(
            |(side, beyond, seen)| {
                let any = if self.p[side] <= LASTING { together } else { 1.0 };
                let share = self.shares[side].min(any);
                if share <= options.false_share && beyond >= options.taken {
                    Some(Side { taken: beyond, share, by_periods: false })
                } else if beside <= options.false_share && seen >= options.taken {
                    Some(Side { taken: beyond.max(0.0), share: beside, by_periods: true })
                } else {
                    None
                }
            },
        )
    }

    /// What of it is there without any one of the takes, too; `None` if nothing is. Without a take that is
    /// all there is, nobody can tell.
    fn lasting(
        mut self,
        sorted: [&Sorted; 2],
        angles: &Angles,
        clock: &Clock,
        usual: &Usual,
        options: &CoupleOptions,
    ) -> Option<Self> {
        let takes: Vec<usize> =
            angles.takes.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let groups = GROUPS.min(takes.len());
        self.lasting = groups > 1;
        let group = |stretch: usize| {
            takes.binary_search(&angles.takes[stretch]).map_or(0, |at| at * groups / takes.len())
        };
        let drove = self.drives(options);
        for left_out in 0..groups {
            let counts = |stretch| group(stretch) != left_out;
            let Some(rest) = evidence(sorted, self.pair, angles, clock, counts) else {
                self.lasting = false;
                continue;
            };
            let p = usual.p(&rest);
            for test in std::iter::once(DRIVING).chain(BESIDE) {
                if p[test] > LASTING {
                    self.shares[test] = 1.0;
                }
            }
            let together = p[DRIVING].min(p[BOTH]).min(p[BESIDE[0]]).min(p[BESIDE[1]]);
            for (side, beyond) in [ABOVE, BELOW].into_iter().zip(rest.beyond()) {
                if p[side].min(together) > LASTING || beyond < 0.5 * options.taken {
                    self.shares[side] = 1.0;
                    self.p[side] = 1.0;
                }
            }
        }
        let bounds = self.sides(options).iter().any(Option::is_some);
        (if drove { self.drives(options) } else { bounds }).then_some(self)
    }

    /// Which of the two ways it may be, the clearer one first.
    fn of(all: &[Self], sorted: &[Sorted], options: &CoupleOptions) -> Vec<Self> {
        let range = |of: &Self| {
            let [low, high] = sorted[of.pair[0]].range;
            high - low
        };
        let clear = |of: &Self| {
            // Both ways explain about as much where the function can be inverted: then what goes farther
            // drives.
            (50.0 * of.explained).round() * 1e3 + range(of)
        };
        let mut drives: Vec<Self> = all.iter().copied().filter(|of| of.drives(options)).collect();
        drives.sort_by(|a, b| clear(b).total_cmp(&clear(a)));
        if !drives.is_empty() {
            return drives;
        }
        let taken =
            |of: &Self| of.sides(options).iter().flatten().map(|side| side.taken).sum::<f64>();
        let bounds = |of: &Self| of.sides(options).iter().any(Option::is_some);
        let mut bounds: Vec<Self> = all.iter().copied().filter(bounds).collect();
        bounds.sort_by(|a, b| taken(b).total_cmp(&taken(a)));
        bounds
    }

    fn fitted(&self, angles: &Angles, clock: &Clock, options: &CoupleOptions) -> Option<Found> {
        let [active, passive] = self.pair;
        let samples = samples(angles, clock, self.pair);
        let seed =
            dice::seed_of(&[angles.columns[active].clone(), angles.columns[passive].clone()]);
        let drives = self.drives(options);
        let [above, below] = self.sides(options);
        let (mut fitted, mut drawn): (Vec<Fitted>, Vec<Side>) = (Vec::new(), Vec::new());
        let mut residual = None;
        let rule = if drives {
            let fit = samples.fit(Wanted::Middle, seed).filter(Fitted::has_relief)?;
            let curve = fit.curve.clone();
            let prepared = curve.prepare().ok()?;
            let squares = samples.points.iter().map(|[x, y]| {
                let [value, _] = prepared.at(*x);
                (y - value) * (y - value)
            });
            #[allow(clippy::cast_precision_loss, reason = "counts are below 2^32")]
            let mean = squares.sum::<f64>() / samples.points.len().max(1) as f64;
            residual = Some(Angle::from_degrees((100.0 * mean.sqrt()).round() / 100.0));
            fitted.push(fit);
            Rule::Drive { curve }
        } else {
            // A bound that is as uncertain as it is uneven says nothing.
            let mut bound = |side: Option<Side>, wanted| {
                let side = side?;
                let fit = samples.fit(wanted, seed).filter(Fitted::has_relief)?;
                fitted.push(fit.clone());
                drawn.push(side);
                Some(fit.curve)
            };
            let (lower, upper) = (bound(below, Wanted::Lower), bound(above, Wanted::Upper));
            if lower.is_none() && upper.is_none() {
                return None;
            }
            Rule::Bound { lower, upper }
        };
        let Evidence { seen, chance, .. } = self.evidence;
        let uncertain = fitted.iter().map(Fitted::uncertain_deg).fold(0.0, f64::max);
        // Where its points are: beyond them it is not known.
        let x = fitted.iter().flat_map(|fit| fit.band.iter().map(|at| at[0]));
        let ends = x.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)]);
        let share = if drives {
            self.shares[DRIVING]
        } else {
            drawn.iter().map(|side| side.share).fold(0.0, f64::max)
        };
        let name = |of: &AngleOf| of.to_string();
        let (by, on) = (&angles.names[active], &angles.names[passive]);
        Some(Found {
            coupling: Coupling {
                name: format!("{} by {}", name(on), name(by)),
                active: by.clone(),
                passive: on.clone(),
                rule,
                seen: Some(
                    [10.0 * ends[0], 10.0 * ends[1]].map(|v| Angle::from_degrees(v.round() / 10.0)),
                ),
                uncertain: Some(Angle::from_degrees((100.0 * uncertain).round() / 100.0)),
                residual,
                false_share: Some(share),
                source: Some(Source::Estimated),
            },
            fitted,
            explained: self.explained.max(1.0 - samples.left()),
            explained_by_chance: share_of(chance.explained),
            taken: [seen.lower, seen.upper],
            taken_by_chance: [chance.lower, chance.upper],
            lasting: self.lasting,
            by_periods: !drives && drawn.iter().all(|side| side.by_periods),
            points_deg: samples.points,
        })
    }
}

/// How two angles are linked, as far as it matters for what follows from what.
#[derive(Clone, Copy, Debug)]
struct Link {
    pair: [usize; 2],
    /// The share that a function explains, if one drives the other.
    driven: Option<f64>,
    /// By how much each of the two is bounded by the other.
    toward: [f64; 2],
}

impl Link {
    /// By how much an angle is bounded by the other one.
    fn on(&self, passive: usize) -> f64 {
        self.toward[usize::from(self.pair[1] == passive)]
    }

    /// Whether it is in a triangle of links that the other two would make by themselves. `beside` has the
    /// links of each angle, by the other one.
    fn is_echo(&self, beside: &[BTreeMap<usize, Self>]) -> bool {
        let [a, b] = self.pair;
        let mut thirds =
            beside[a].iter().filter_map(|(third, one)| Some((one, beside[b].get(third)?)));
        thirds.any(|(one, other)| match (self.driven, one.driven, other.driven) {
            (Some(own), Some(one), Some(other)) => own < one.min(other),
            (Some(_), ..) => false,
            (None, Some(_), Some(_)) => true,
            // The third does what `a` does, and bounds `b` more; or the other way round.
            (None, Some(_), None) => self.on(b) < other.on(b),
            (None, None, Some(_)) => self.on(a) < one.on(a),
            (None, None, None) => {
                let size = |link: &Self| link.toward[0].max(link.toward[1]);
                size(self) < ECHO * size(one).min(size(other))
            }
        })
    }
}

/// The samples of two angles, in blocks that have forgotten each other.
fn samples(angles: &Angles, clock: &Clock, pair: [usize; 2]) -> Samples {
    let [x, y] = pair.map(|i| &angles.columns[i]);
    let (mut points, mut blocks) = (Vec::new(), Vec::new());
    for (number, stretch) in angles.stretches.iter().enumerate() {
        // Where one of them stands still, it is one observation.
        let length = clock.apart(number, pair).unwrap_or(stretch.len()).max(1);
        for block in stretch.clone().collect::<Vec<_>>().chunks(length) {
            let before = points.len();
            for i in block {
                let point = [x[*i], y[*i]];
                if point.iter().all(|v| v.is_finite()) {
                    points.push(point.map(|v| Angle::from_radians(v).degrees()));
                }
            }
            if points.len() > before {
                blocks.push(points.len());
            }
        }
    }
    Samples::new(points, blocks)
}
