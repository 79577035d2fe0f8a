//! Projection is continuous, except where it cannot be: every limit against a bound that is
//! found by looking at all of it.
//!
//! # Source
//!
//! Let p be the point of a set nearest to d, all of unit length, and
//!
//! ```text
//!   c = min over q in the set of (d·p − d·q) / |q − p|²
//! ```
//!
//! If p' is nearest to d' then d'·p ≤ d'·p', so that c |p' − p|² ≤ d·p − d·p' ≤ (d' − d)·(p' − p), and
//! |p' − p| ≤ |d' − d| / c. So 1/c is the constant of Lipschitz at d, for any step, and it is infinite
//! just where the nearest point is not unique. It needs no more than samples of the set. The same holds
//! for quaternions, where the set has each rotation twice.

use std::f64::consts::PI;

use glam::{DVec3, DVec4};

use super::zoo::{arc, dir, zoo};
use super::{EulerBox, Limit, PreparedLimit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds};
use super::{TwistLimit, TwistOffset};
use crate::math::{
    Angle, Arc, EulerOrder, Rotation, SwingAxes, SwingTwist, angle_between, direct_rotation, trig,
    unit,
};
use crate::synth::Rng;

/// A projection whose constant of Lipschitz is larger counts as near an excepted place.
const STEEP: f64 = 300.0;

/// What may be left alone beyond a limit, on both sides of the step, and rounding: projections are
/// within 1e-9 rad of the nearest in angle, and of their own bits within some 1e-13.
const FLOOR: f64 = 2e-11;

/// A step in steps from 1e-4 to 1e-9.
fn step(rng: &mut Rng) -> f64 {
    small(rng, 5..=9)
}

/// Of all sizes: a number from 1 to 10 over ten to a power.
fn small(rng: &mut Rng, powers: std::ops::RangeInclusive<i32>) -> f64 {
    let powers: Vec<i32> = powers.collect();
    rng.between(1.0, 10.0) * tenth_to(*rng.choose(&powers).unwrap())
}

fn tenth_to(n: i32) -> f64 {
    (0..n).fold(1.0, |size, _| 0.1 * size)
}

fn nudged(rng: &mut Rng, m: Rotation, size: f64) -> Rotation {
    Rotation::exp(rng.direction() * size).unwrap() * m
}

/// How many steps were within the bound, and how many were near excepted places.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    checked: usize,
    excused: usize,
    /// Of those checked, steps to which a brute-force bound was applied.
    steep: usize,
}

impl Tally {
    const fn add(&mut self, other: Self) {
        self.checked += other.checked;
        self.excused += other.excused;
        self.steep += other.steep;
    }
}

/// 1/c of the source, at least 2: what it is where d is inside.
fn lipschitz<V>(nearest: V, samples: impl Iterator<Item = V>, ahead: impl Fn(V) -> f64) -> f64
where
    V: Copy + std::ops::Sub<Output = V>,
    V: LengthSquared,
{
    let mut least: f64 = 0.5;
    for q in samples {
        let square = (q - nearest).square();
        if square > 1e-20 {
            let ahead = ahead(q);
            assert!(ahead > -1e-9, "a sample is nearer by {}", -ahead);
            least = least.min((ahead + 1e-15) / square);
        }
    }
    if least > 0.0 { 1.0 / least } else { f64::INFINITY }
}

trait LengthSquared {
    fn square(self) -> f64;
}

impl LengthSquared for DVec3 {
    fn square(self) -> f64 {
        self.length_squared()
    }
}

impl LengthSquared for DVec4 {
    fn square(self) -> f64 {
        self.length_squared()
    }
}

/// Directions and a number at each, interpolated linearly on triangles between them.
struct Field {
    at: Vec<DVec3>,
    /// Corners of triangles whose cap holds no other direction.
    triangles: Vec<[DVec3; 3]>,
    /// The great arcs between all of them.
    arcs: Vec<DVec3>,
    /// Largest gradient inside.
    steepest: f64,
}

impl Field {
    /// `spread` is the largest difference between two values.
    ///
    /// With g the dual vectors of the corners of a triangle, f = Σ v (g·d) / Σ (g·d) has the gradient
    /// Σ (v − f) g / Σ (g·d). All |v − f| are at most the spread, and Σ (g·d), which is 1 in the plane of
    /// the triangle, at least that beyond.
    fn new(at: Vec<DVec3>, spread: f64) -> Self {
        let at: Vec<DVec3> = at.into_iter().map(|d| unit(d).unwrap()).collect();
        let mut field = Self { triangles: Vec::new(), arcs: Vec::new(), steepest: 0.0, at };
        let n = field.at.len();
        for i in 0..n {
            for j in i + 1..n {
                let (a, b) = (field.at[i], field.at[j]);
                let angle = angle_between(a, b).radians();
                if angle < PI - 1e-4 {
                    field.steepest = field.steepest.max(2.0 * spread / trig::sin(angle));
                    let points = (0..=400).map(|k| a.lerp(b, f64::from(k) / 400.0));
                    field.arcs.extend(points.filter_map(unit));
                }
                for k in j + 1..n {
                    let c = field.at[k];
                    let volume = a.dot(b.cross(c));
                    let (b, c) = if volume > 0.0 { (b, c) } else { (c, b) };
                    let normal = (b - a).cross(c - a);
                    let Some(normal) = unit(normal) else { continue };
                    let height = normal.dot(a);
                    let empty = field.at.iter().all(|d| normal.dot(*d) <= height + 1e-9);
                    if height < 1e-3 || !empty {
                        continue;
                    }
                    let duals = [b.cross(c), c.cross(a), a.cross(b)].map(|g| g / volume.abs());
                    let steep = spread * duals.iter().map(|g| g.length()).sum::<f64>();
                    field.steepest = field.steepest.max(steep);
                    field.triangles.push([a, b, c]);
                }
            }
        }
        field
    }

    fn covers(&self, d: DVec3) -> bool {
        self.triangles.iter().any(|[a, b, c]| {
            [b.cross(*c), c.cross(*a), a.cross(*b)].iter().all(|g| g.dot(d) >= -1e-12)
        })
    }

    /// The constant of Lipschitz at a direction.
    fn bound(&self, d: DVec3) -> f64 {
        if self.at.len() == 1 {
            return 0.0;
        }
        if self.covers(d) {
            return 2.0 * self.steepest;
        }
        let all = || self.arcs.iter().copied();
        let nearest = all().max_by(|a, b| a.dot(d).total_cmp(&b.dot(d))).unwrap();
        // Samples are 0.008 apart: what is next to the nearest says nothing.
        let apart = all().filter(|q| (*q - nearest).length() > 0.02);
        let away = lipschitz(nearest, apart, |q| (nearest - q).dot(d).max(0.0));
        2.0 * self.steepest * away
    }
}

/// A range of twist with all that bounds how it changes.
struct Twist {
    name: &'static str,
    limit: TwistLimit,
    fields: Vec<Field>,
    from: Option<DVec3>,
}

fn twists() -> Vec<Twist> {
    let by_swing = |at: &[(DVec3, Arc)]| {
        let arcs = at.iter().map(|(direction, arc)| TwistAt { direction: *direction, arc: *arc });
        let ends = |end: fn(Arc) -> Angle| {
            let all = at.iter().map(|(_, arc)| end(*arc).radians());
            let (low, high) = all.fold((9.0, -9.0), |(l, h): (f64, f64), a| (l.min(a), h.max(a)));
            high - low
        };
        let spread = ends(Arc::min).max(ends(Arc::max));
        let field = Field::new(at.iter().map(|(d, _)| *d).collect(), spread);
        (TwistBounds::BySwing(arcs.collect()), vec![field])
    };
    let lune = by_swing(&[
        (DVec3::Z, arc(-80.0, 60.0)),
        (DVec3::X, arc(-20.0, 90.0)),
        (DVec3::Y, arc(-50.0, 75.0)),
        (DVec3::NEG_Y, arc(-60.0, 35.0)),
    ]);
    let small = by_swing(&[
        (dir(0.2, 0.1, 1.0), arc(-150.0, 100.0)),
        (dir(-0.4, 0.5, 1.0), arc(-20.0, 30.0)),
        (dir(-0.1, -0.6, 1.0), arc(-50.0, -45.0)),
        (dir(0.7, -0.3, 0.6), arc(-70.0, 80.0)),
        (dir(0.1, 0.0, 1.0), arc(-30.0, 40.0)),
    ]);
    let around = by_swing(&[
        (dir(1.0, 0.1, 0.2), arc(-20.0, 30.0)),
        (dir(-1.0, 0.0, 0.1), arc(-40.0, 130.0)),
        (dir(0.1, 1.0, 0.1), arc(-60.0, 30.0)),
        (dir(0.0, -1.0, -0.1), arc(-10.0, 50.0)),
        (dir(0.1, 0.2, 1.0), arc(-90.0, 30.0)),
        (dir(-0.1, 0.2, -1.0), arc(-80.0, 10.0)),
    ]);
    let chain = by_swing(&[
        (DVec3::Z, arc(-20.0, 30.0)),
        (dir(1.0, 0.0, 1.0), arc(-40.0, 130.0)),
        (dir(-1.0, 0.0, 0.3), arc(-60.0, 20.0)),
    ]);
    let pair = by_swing(&[(DVec3::Z, arc(-20.0, 30.0)), (DVec3::X, arc(-90.0, -40.0))]);
    let single = by_swing(&[(DVec3::X, arc(-90.0, 40.0))]);
    let offsets: Vec<(DVec3, Angle)> =
        [(dir(0.5, 0.2, 1.0), 10.0), (dir(-0.7, 0.4, 1.0), -40.0), (dir(0.1, -0.9, 0.7), 60.0)]
            .map(|(d, a)| (d, Angle::from_degrees(a)))
            .to_vec();
    let offset_field = Field::new(offsets.iter().map(|o| o.0).collect(), 100.0 * PI / 180.0);
    let from = dir(0.6, -0.3, 0.5);
    let fixed = |bounds| TwistLimit { bounds, ..TwistLimit::default() };
    let plain = |name, (bounds, fields)| Twist { name, limit: fixed(bounds), fields, from: None };
    let constant = |min, max| (TwistBounds::Arc(arc(min, max)), Vec::new());
    vec![
        plain("one range", constant(-40.0, 70.0)),
        plain("a range over half a turn", constant(60.0, 290.0)),
        plain("one twist", constant(10.0, 10.0)),
        plain("a field with opposite directions", lune),
        plain("a field on a small part", small),
        plain("a field all around", around),
        plain("a field on a line", chain),
        plain("a field of two", pair),
        plain("a field of one", single),
        Twist {
            name: "an offset by swing",
            limit: TwistLimit {
                bounds: TwistBounds::Arc(arc(-30.0, 50.0)),
                offset: TwistOffset::BySwing(offsets),
            },
            fields: vec![offset_field],
            from: None,
        },
        Twist {
            name: "an offset from elsewhere",
            limit: TwistLimit {
                bounds: TwistBounds::Arc(arc(-30.0, 50.0)),
                offset: TwistOffset::From(from),
            },
            fields: Vec::new(),
            from: Some(from),
        },
    ]
}

/// 1 / cos of half the angle: how fast the direct swing from `a` turns about itself with its end.
fn secant(a: DVec3, b: DVec3) -> f64 {
    2.0 / (a + b).length()
}

/// A swing-twist limit, with samples of its region.
struct Subject {
    limit: PreparedLimit,
    axes: SwingAxes,
    twist: Twist,
    boundary: Vec<DVec3>,
    /// Directions next to which the nearest one jumps.
    jumps: Vec<DVec3>,
}

impl Subject {
    fn new(swing: SwingLimit, rng: &mut Rng) -> Self {
        let axes = SwingAxes::default();
        let twist = twists().swap_remove(0);
        let of = SwingTwistLimit { axes, swing, twist: twist.limit.clone() };
        let limit = Limit::SwingTwist(of).prepare().unwrap();
        let region = limit.swing().unwrap();
        let boundary = region.boundary(Angle::from_radians(0.005)).concat();
        let mut jumps = Vec::new();
        for _ in 0..80 {
            let (mut a, mut b) = (rng.direction(), rng.direction());
            let project = |d: DVec3| region.project(d).unwrap();
            for _ in 0..60 {
                let Some(middle) = unit(a + b) else { break };
                let (pa, pm, pb) = (project(a), project(middle), project(b));
                if (pa - pm).length() > (pm - pb).length() { b = middle } else { a = middle }
            }
            if (project(a) - project(b)).length() > 1e-3 {
                jumps.push(a);
            }
        }
        Self { limit, axes, twist, boundary, jumps }
    }

    fn with(self, swing: SwingLimit, twist: Twist) -> Self {
        let of = SwingTwistLimit { axes: self.axes, swing, twist: twist.limit.clone() };
        Self { limit: Limit::SwingTwist(of).prepare().unwrap(), twist, ..self }
    }

    /// Rotations near boundaries and their corners, near where the nearest direction jumps, near −bone,
    /// near the ends of the twist and the middle of its gap.
    fn rotation(&self, rng: &mut Rng) -> Rotation {
        let region = self.limit.swing().unwrap();
        let size = small(rng, 1..=11);
        let off = rng.direction() * size;
        let bone = self.axes.bone();
        let base = match rng.below(6) {
            0 if !self.boundary.is_empty() => *rng.choose(&self.boundary).unwrap(),
            1 | 2 if !self.jumps.is_empty() => *rng.choose(&self.jumps).unwrap(),
            3 => -bone,
            _ => rng.direction(),
        };
        let d = unit(base + off).unwrap_or(base);
        let p = region.project(d).unwrap();
        let range = region.twist(p).unwrap();
        let (min, max) = (range.min().radians(), range.max().radians());
        let near = small(rng, 1..=11) * if rng.chance(0.5) { 1.0 } else { -1.0 };
        let twist = match rng.below(5) {
            0 => min + near,
            1 => max + near,
            2 => 0.5 * (min + max) + PI + near,
            _ => rng.between(-PI, PI),
        };
        let swing = direct_rotation(bone, d).unwrap().rotation;
        swing * Rotation::from_axis_angle(bone, Angle::from_radians(twist)).unwrap()
    }

    /// The constant of Lipschitz for the direction at `d`, whose projection is `p`.
    fn swing_bound(&self, rng: &mut Rng, d: DVec3, p: DVec3) -> f64 {
        if d == p {
            return 2.0;
        }
        let region = self.limit.swing().unwrap();
        // As a difference of chords: d·p − d·q = (|d − q|² − |d − p|²) / 2 has more digits for near d.
        let ahead = |q: DVec3| 0.5 * (p - q).dot(d + d - p - q);
        let mut best = (f64::INFINITY, p);
        let consider = |best: &mut (f64, DVec3), q: DVec3| {
            let growth = 1.0 / lipschitz(p, std::iter::once(q), ahead);
            if growth < best.0 {
                *best = (growth, q);
            }
        };
        self.boundary.iter().for_each(|q| consider(&mut best, *q));
        // On the boundary near a place: between a direction inside and one outside.
        let mut crossing = |at: DVec3, size: f64| {
            let mut beside = || unit(at + rng.direction() * size).unwrap();
            let (mut a, mut b) = (beside(), beside());
            if region.contains(b) {
                (a, b) = (b, a);
            }
            if !region.contains(a) || region.contains(b) {
                return None;
            }
            for _ in 0..20 {
                let middle = unit(a + b).unwrap();
                if region.contains(middle) { a = middle } else { b = middle }
            }
            Some(a)
        };
        // Around what grows least, near p in all sizes, and once more.
        for all_sizes in [false, true] {
            let mut size = if all_sizes { 0.5 } else { 0.0 };
            for _ in 0..if all_sizes { 100 } else { 0 } {
                size *= 0.81;
                (0..4).filter_map(|_| crossing(p, size)).for_each(|q| consider(&mut best, q));
            }
            size = 0.3 * (best.1 - p).length();
            for _ in 0..20 {
                size *= 0.7;
                let at = best.1;
                (0..6).filter_map(|_| crossing(at, size)).for_each(|q| consider(&mut best, q));
            }
            if best.0 < 1.0 / STEEP {
                break;
            }
        }
        1.0 / best.0.max(0.0)
    }

    fn check(&self, rng: &mut Rng, name: &str, tally: &mut Tally) {
        let m = self.rotation(rng);
        let h = step(rng);
        let moved = nudged(rng, m, h);
        let (p, q) = (self.limit.project(m), self.limit.project(moved));
        let change = p.distance(q).radians();
        let bone = self.axes.bone();
        let (d, to) = (unit(m * bone).unwrap(), unit(p * bone).unwrap());
        let from_turn = secant(bone, d).max(secant(bone, moved * bone));
        let to_turn = secant(bone, to).max(secant(bone, q * bone));
        // Cheap, and usual.
        if change <= h * (from_turn + to_turn) + FLOOR {
            tally.checked += 1;
            return;
        }
        // The middle of the gap of the range where the bone goes, and the twist there.
        let region = self.limit.swing().unwrap();
        let range = region.twist(to).unwrap();
        let twist = SwingTwist::from_rotation(m, &self.axes).twist.radians();
        let off = twist - 0.5 * (range.min().radians() + range.max().radians()) - PI;
        let off = (off / (2.0 * PI) - (off / (2.0 * PI)).round()).abs() * 2.0 * PI;
        let gap_middle = |twist_rate: f64| off <= 2.0 * twist_rate * h + 1e-9 && !range.is_full();
        // −bone, before or after.
        if (from_turn + to_turn) * h > 0.1 || gap_middle(from_turn) {
            tally.excused += 1;
            return;
        }
        let swing = self.swing_bound(rng, d, if region.contains(d) { d } else { to });
        let mut range_rate: f64 = self.twist.fields.iter().map(|f| f.bound(to)).sum();
        range_rate += self.twist.from.map_or(0.0, |c| secant(c, to) + secant(bone, to));
        let twist_rate = from_turn + range_rate * swing;
        let rate = swing * to_turn + twist_rate;
        let steep = !rate.is_finite() || swing > STEEP || rate * h > 0.1;
        if gap_middle(twist_rate) || steep {
            tally.excused += 1;
            return;
        }
        tally.checked += 1;
        tally.steep += 1;
        assert!(
            change <= 2.0 * rate * h + FLOOR * rate,
            "{name}, {}: a step of {h} makes one of {change}, at most {}\n\
             swing {swing} to {to_turn} from {from_turn} range {range_rate} gap {off} {range:?}\n\
             at {m:?}, bone {d} → {to} → {}",
            self.twist.name,
            rate * h,
            q * bone,
        );
    }
}

#[test]
fn projection_onto_swing_and_twist_is_continuous_but_where_it_cannot_be() {
    let mut rng = Rng::new(31);
    let mut by_twist = vec![Tally::default(); twists().len()];
    for (name, swing) in zoo().into_iter().chain([("anywhere", SwingLimit::Free)]) {
        let mut subject = Subject::new(swing.clone(), &mut rng);
        let mut by_shape = Tally::default();
        for (twist, by_twist) in twists().into_iter().zip(&mut by_twist) {
            subject = subject.with(swing.clone(), twist);
            let mut tally = Tally::default();
            for _ in 0..60 {
                subject.check(&mut rng, name, &mut tally);
            }
            by_shape.add(tally);
            by_twist.add(tally);
        }
        println!("{name}: {by_shape:?}");
        // Nine tenths of 660 and more when measured.
        assert!(by_shape.checked > 500, "{name}: {by_shape:?}");
    }
    for (twist, tally) in twists().iter().zip(&by_twist) {
        println!("{}: {tally:?}", twist.name);
        assert!(tally.checked > 1100, "{}: {tally:?}", twist.name);
    }
    let steep: usize = by_twist.iter().map(|t| t.steep).sum();
    assert!(steep > 30, "{steep}");
}

/// The rotation with these angles.
type Make = Box<dyn Fn(&[f64]) -> Rotation>;

/// A limit by angles, and the rotation of a list of angles that it is defined by.
struct ByAngles {
    name: &'static str,
    limit: PreparedLimit,
    arcs: Vec<Arc>,
    make: Make,
    /// Allowed angles on a grid, and their quaternions.
    grid: Vec<(Vec<f64>, DVec4)>,
}

fn vector(m: Rotation) -> DVec4 {
    let q = m.quat();
    DVec4::new(q.x, q.y, q.z, q.w)
}

impl ByAngles {
    fn new(
        name: &'static str,
        limit: &Limit,
        arcs: &[Arc],
        make: impl Fn(&[f64]) -> Rotation + 'static,
    ) -> Self {
        let count = [2000, 150, 36][arcs.len() - 1];
        let mut all: Vec<Vec<f64>> = vec![Vec::new()];
        for arc in arcs {
            let (min, max) = (arc.min().radians(), arc.max().radians());
            let values = (0..=count).map(|i| min + (max - min) * f64::from(i) / f64::from(count));
            let values: Vec<f64> = values.collect();
            let longer = |a: &Vec<f64>| {
                let a = a.clone();
                values.iter().map(move |v| [a.clone(), vec![*v]].concat()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        let grid = all.into_iter().map(|a| (a.clone(), vector(make(&a)))).collect();
        let limit = limit.prepare().unwrap();
        Self { name, limit, arcs: arcs.to_vec(), make: Box::new(make), grid }
    }

    /// Rotations near allowed ones, near the middles of gaps, and anywhere.
    fn rotation(&self, rng: &mut Rng) -> Rotation {
        let angles: Vec<f64> = self
            .arcs
            .iter()
            .map(|arc| {
                let (min, max) = (arc.min().radians(), arc.max().radians());
                let near = small(rng, 1..=11) * if rng.chance(0.5) { 1.0 } else { -1.0 };
                match rng.below(5) {
                    0 => min + near,
                    1 => max + near,
                    2 => 0.5 * (min + max) + PI + near,
                    3 => near,
                    _ => rng.between(-PI, PI),
                }
            })
            .collect();
        let m = (self.make)(&angles);
        if rng.chance(0.2) {
            rng.rotation()
        } else {
            let s = small(rng, 1..=11);
            nudged(rng, m, s)
        }
    }

    /// The constant of Lipschitz, by a grid of all allowed angles and finer and finer ones around the
    /// best of them, and how much nearer the best found is than the projection.
    fn bound(&self, rng: &mut Rng, m: Rotation, p: Rotation) -> f64 {
        let m = vector(m);
        let toward = |q: DVec4| if q.dot(m) < 0.0 { -q } else { q };
        let nearest = toward(vector(p));
        let ahead = |q: DVec4| (nearest - q).dot(m);
        let best = self.grid.iter().max_by(|a, b| a.1.dot(m).abs().total_cmp(&b.1.dot(m).abs()));
        let (mut best, mut value) = best.map(|b| (b.0.clone(), b.1.dot(m).abs())).unwrap();
        let mut window = 0.2;
        let mut fine = Vec::new();
        for _ in 0..40 {
            for _ in 0..30 {
                let tried: Vec<f64> = best
                    .iter()
                    .zip(&self.arcs)
                    .map(|(a, arc)| {
                        let to = a + rng.between(-window, window);
                        to.clamp(arc.min().radians(), arc.max().radians())
                    })
                    .collect();
                let q = vector((self.make)(&tried));
                fine.push(q);
                if q.dot(m).abs() > value {
                    (best, value) = (tried, q.dot(m).abs());
                }
            }
            window *= 0.7;
        }
        let samples = self.grid.iter().map(|g| g.1).chain(fine);
        lipschitz(nearest, samples.flat_map(|q| [q, -q]), ahead)
    }

    fn check(&self, rng: &mut Rng, tally: &mut Tally) {
        let m = self.rotation(rng);
        let h = step(rng);
        let moved = nudged(rng, m, h);
        let (p, q) = (self.limit.project(m), self.limit.project(moved));
        let change = p.distance(q).radians();
        if change <= 4.0 * h + FLOOR {
            tally.checked += 1;
            return;
        }
        let rate = self.bound(rng, m, p);
        if !rate.is_finite() || rate > STEEP || rate * h > 0.1 {
            tally.excused += 1;
            return;
        }
        tally.checked += 1;
        tally.steep += 1;
        assert!(
            change <= 2.0 * rate * h + FLOOR * rate,
            "{}: a step of {h} makes one of {change}, at most {}, at {m:?}",
            self.name,
            rate * h
        );
    }
}

#[test]
fn projection_onto_angles_is_continuous_but_where_it_cannot_be() {
    let about =
        |axis: DVec3, a: f64| Rotation::from_axis_angle(axis, Angle::from_radians(a)).unwrap();
    let (u, v) = (dir(1.0, 0.2, 0.1), dir(0.2, 0.3, 0.9));
    let hinge = |name, min, max| {
        let limit = Limit::Hinge { axis: u, arc: arc(min, max) };
        ByAngles::new(name, &limit, &[arc(min, max)], move |a| about(u, a[0]))
    };
    let universal = |name, a: Arc, b: Arc| {
        let limit = Limit::Universal { axes: [u, v], arcs: [a, b] };
        ByAngles::new(name, &limit, &[a, b], move |x| about(u, x[0]) * about(v, x[1]))
    };
    let boxed = |name, order: EulerOrder, arcs: [Arc; 3]| {
        let limit = Limit::EulerBox(EulerBox { order, arcs });
        ByAngles::new(name, &limit, &arcs, move |a| {
            let [x, y, z] = order.axes();
            about(x.unit(), a[0]) * about(y.unit(), a[1]) * about(z.unit(), a[2])
        })
    };
    let subjects = [
        hinge("a hinge", -10.0, 120.0),
        hinge("a hinge with a small gap", -150.0, 160.0),
        hinge("a hinge of one angle", 20.0, 20.0),
        universal("a universal joint", arc(-100.0, 130.0), arc(-30.0, 60.0)),
        universal("a narrow universal joint", arc(-10.0, 13.0), arc(170.0, 210.0)),
        boxed("ZYZ", EulerOrder::ZYZ, [arc(-60.0, 120.0), arc(0.0, 130.0), arc(170.0, 260.0)]),
        boxed("XZY", EulerOrder::XZY, [arc(-150.0, 160.0), arc(-20.0, 30.0), arc(-10.0, 10.0)]),
        boxed("ZYX", EulerOrder::ZYX, [arc(-50.0, 60.0), arc(20.0, 120.0), arc(-40.0, 10.0)]),
    ];
    let mut rng = Rng::new(37);
    for subject in subjects {
        let mut tally = Tally::default();
        for _ in 0..2000 {
            subject.check(&mut rng, &mut tally);
        }
        println!("{}: {tally:?}", subject.name);
        assert!(tally.checked > 1900, "{}: {tally:?}", subject.name);
    }
}

/// Limits of every shape: all regions with one range of twist, with one that changes with the direction,
/// and with other zeros of it; and those of angles.
fn every_shape() -> Vec<(String, Limit)> {
    let mut all: Vec<(String, Limit)> = vec![
        ("free".into(), Limit::Free),
        ("locked".into(), Limit::Locked),
        ("hinge".into(), Limit::Hinge { axis: DVec3::Y, arc: arc(-10.0, 100.0) }),
        ("far hinge".into(), Limit::Hinge { axis: dir(1.0, 1.0, 0.2), arc: arc(100.0, 300.0) }),
        (
            "universal".into(),
            Limit::Universal {
                axes: [DVec3::X, dir(0.2, 0.1, 1.0)],
                arcs: [arc(-20.0, 45.0), arc(-15.0, 12.0)],
            },
        ),
    ];
    for (name, order) in [("ZYZ box", EulerOrder::ZYZ), ("XYZ box", EulerOrder::XYZ)] {
        let arcs = [arc(-40.0, 90.0), arc(20.0, 120.0), arc(-100.0, -20.0)];
        all.push((name.into(), Limit::EulerBox(EulerBox { order, arcs })));
    }
    let twists = |i: usize| {
        let mut twists = twists();
        let count = twists.len();
        twists.swap_remove(i % count)
    };
    for (i, (name, swing)) in zoo().into_iter().enumerate() {
        for k in 0..3 {
            let twist = twists(3 * i + k);
            let name = format!("{name}, {}", twist.name);
            let axes = SwingAxes::new(dir(0.3, 1.0, -0.2), Some(DVec3::Z)).unwrap();
            let limit = SwingTwistLimit { axes, swing: swing.clone(), twist: twist.limit };
            all.push((name, Limit::SwingTwist(limit)));
        }
    }
    all
}

#[test]
fn what_is_made_from_a_rotation_is_in_the_hemisphere_of_its_quaternion() {
    let mut rng = Rng::new(31);
    let mut turned = 0;
    for (name, limit) in every_shape() {
        let limit = limit.prepare().unwrap();
        for i in 0..100 {
            let m = rng.rotation();
            let from = limit.project(rng.rotation());
            let mut found = vec![
                ("project", limit.project(m)),
                ("hold", limit.hold(m).m),
                ("toward_rest", limit.toward_rest(m)),
                ("advance", limit.advance(from, m)),
            ];
            if i < 2 {
                found.push(("project_rotation", limit.project_rotation(m)));
            }
            for (what, p) in found {
                let cosine = p.quat().dot(m.quat());
                assert!(cosine >= 0.0, "{name}, {what}: {cosine} from {m:?}");
                turned +=
                    usize::from(m.quat().w < 0.0 && p.quat().to_array() != m.quat().to_array());
            }
            // The other quaternion of the same rotation goes to the other of the same.
            let other = Rotation::new(-m.quat()).unwrap();
            let (p, q) = (limit.project(m).quat(), limit.project(other).quat());
            assert!((p + q).length() < 1e-9, "{name}: {p} {q}");
        }
    }
    assert!(turned > 1000, "{turned}");
}
