//! Pieces of boundaries: great arcs, arcs of circles, arcs of ellipses and of users' own functions.

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::ops::{Deref, DerefMut};
use std::sync;

use glam::{DMat3, DVec3};

use super::SwingShape;
use super::ellipse::{Ellipse, Jet, swing_of};
use crate::math::{Swing, trig, unit};

/// A piece of the boundary of a region, walked with the inside on the left as seen from outside the
/// sphere.
#[derive(Clone, Debug)]
pub(crate) enum Curve {
    Great(GreatArc),
    Circle(CircleArc),
    Ellipse(EllipseArc),
    Custom(CustomArc),
}

/// The shorter arc between two directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GreatArc {
    pub(crate) from: DVec3,
    pub(crate) to: DVec3,
    /// `unit(from × to)`, which points to the left.
    pub(crate) normal: DVec3,
}

/// `center·cos + radius·(u cos t + v sin t)`, `t` from `start` to `start + sweep`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CircleArc {
    axis: DVec3,
    u: DVec3,
    v: DVec3,
    /// Angle from the axis to the circle, in (0, π).
    radius: f64,
    cos: f64,
    sin: f64,
    start: f64,
    /// Signed: negative is clockwise about the axis, with the inside on the axis' other side.
    sweep: f64,
}

/// A part of an [`Ellipse`], or of the curve at a constant distance from it.
#[derive(Clone, Debug)]
pub(crate) struct EllipseArc {
    ellipse: Ellipse,
    /// How far outside of the ellipse: to the right of it.
    offset: f64,
    start: f64,
    sweep: f64,
    /// Points along it, if it is outside of an ellipse.
    samples: sync::Arc<[DVec3]>,
    /// Where to look for the nearest point of an ellipse itself: along it, or, if it is closed, along the
    /// quarter of it that the others are images of.
    table: sync::Arc<[(f64, DVec3)]>,
}

/// A part of where a user's function is zero, over the great arc between two points of it.
#[derive(Clone, Debug)]
pub(crate) struct CustomArc {
    shape: sync::Arc<dyn SwingShape>,
    /// Inside is where the function is negative, unless flipped.
    chord: GreatArc,
    /// How far off the chord the curve is looked for.
    reach: f64,
    samples: sync::Arc<[DVec3]>,
}

/// The nearest point of a curve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foot {
    pub(crate) point: DVec3,
    /// The square of the straight distance, which keeps its digits when it is small.
    pub(crate) chord_square: f64,
    /// Where on the curve, from 0 to 1; `None` at an end, where it stays when the query moves a little.
    pub(crate) at: Option<f64>,
}

impl Foot {
    fn at_end(d: DVec3, point: DVec3) -> Self {
        Self { point, chord_square: (d - point).length_squared(), at: None }
    }

    /// The angle from the query `d`.
    pub(crate) fn angle(&self, d: DVec3) -> f64 {
        let half = |square: f64| trig::asin((0.5 * square.sqrt()).min(1.0));
        // The chord says little near half a turn; what is missing does.
        if self.chord_square <= 2.0 {
            2.0 * half(self.chord_square)
        } else {
            PI - 2.0 * half((d + self.point).length_squared())
        }
    }

    fn nearer(self, other: Self) -> Self {
        if other.chord_square < self.chord_square { other } else { self }
    }
}

/// The square of the straight distance between two directions at this angle.
fn chord_square(angle: f64) -> f64 {
    let half = trig::sin(0.5 * angle);
    4.0 * half * half
}

impl GreatArc {
    /// `None` if the ends are equal, opposite or nearly so.
    pub(crate) fn new(from: DVec3, to: DVec3) -> Option<Self> {
        // from × (to − from): the difference of near directions is exact.
        let across = if from.dot(to) > 0.0 { from.cross(to - from) } else { from.cross(to + from) };
        let normal = unit(across)?;
        (across.length_squared() > 1e-24).then_some(Self { from, to, normal })
    }

    pub(crate) fn length(&self) -> f64 {
        trig::atan2(self.from.cross(self.to).length(), self.from.dot(self.to))
    }

    fn point(&self, t: f64) -> DVec3 {
        let (sin, cos) = trig::sin_cos(t * self.length());
        self.from * cos + self.normal.cross(self.from) * sin
    }

    /// Whether a direction of the great circle is between the ends.
    fn spans(&self, p: DVec3) -> bool {
        self.normal.cross(self.from).dot(p) >= 0.0 && self.normal.cross(self.to).dot(p) <= 0.0
    }

    pub(crate) fn foot(&self, d: DVec3) -> Foot {
        let sine = self.normal.dot(d);
        let flat = d - self.normal * sine;
        let cosine = flat.length();
        if cosine > 1e-150 && self.spans(flat) {
            let c = if cosine < 1.0 { cosine } else { 1.0 };
            return Foot {
                point: flat / cosine,
                chord_square: 2.0 * sine * sine / (1.0 + c),
                at: Some(0.5),
            };
        }
        Foot::at_end(d, self.from).nearer(Foot::at_end(d, self.to))
    }
}

impl CircleArc {
    /// From `start` by `sweep` about an axis, at an angle of `radius` in (0, π) from it. Angles are
    /// measured from `u`, which is perpendicular to the axis.
    pub(crate) fn new(axis: DVec3, u: DVec3, radius: f64, start: f64, sweep: f64) -> Self {
        let (sin, cos) = trig::sin_cos(radius);
        Self { axis, u, v: axis.cross(u), radius, cos, sin, start, sweep }
    }

    fn at_angle(&self, t: f64) -> DVec3 {
        let (sin, cos) = trig::sin_cos(t);
        self.axis * self.cos + (self.u * cos + self.v * sin) * self.sin
    }

    fn point(&self, t: f64) -> DVec3 {
        self.at_angle(self.start + t * self.sweep)
    }

    /// Where on the arc the angle of a direction about the axis is, from 0 to 1; `None` if not on it.
    fn parameter(&self, d: DVec3) -> Option<f64> {
        let angle = trig::atan2(d.dot(self.v), d.dot(self.u));
        let along = if self.sweep > 0.0 { angle - self.start } else { self.start - angle };
        let along = along.rem_euclid(TAU);
        let whole = self.sweep.abs();
        (along <= whole).then(|| along / whole)
    }

    fn foot(&self, d: DVec3) -> Foot {
        let height = self.axis.dot(d);
        let across = (d - self.axis * height).length();
        if across > 1e-150
            && let Some(t) = self.parameter(d)
        {
            let w = (d - self.axis * height) / across;
            let away = trig::atan2(across, height) - self.radius;
            return Foot {
                point: self.axis * self.cos + w * self.sin,
                chord_square: chord_square(away),
                at: Some(t),
            };
        }
        Foot::at_end(d, self.point(0.0)).nearer(Foot::at_end(d, self.point(1.0)))
    }

    fn foot_jacobian(&self, d: DVec3) -> DMat3 {
        let flat = d - self.axis * self.axis.dot(d);
        let across = flat.length();
        let w = flat / across;
        let keep = DMat3::IDENTITY - outer(w, w) - outer(self.axis, self.axis);
        keep * (self.sin / across)
    }
}

/// Points along a curve that is looked at by samples.
const SAMPLES: usize = 128;

/// Radians between them on an ellipse.
const STEP: f64 = TAU / SAMPLES as f64;

impl EllipseArc {
    pub(crate) fn new(ellipse: Ellipse, offset: f64, start: f64, sweep: f64) -> Self {
        let (samples, table) = (sync::Arc::from([]), sync::Arc::from([]));
        let mut arc = Self { ellipse, offset, start, sweep, samples, table };
        if offset != 0.0 {
            arc.samples = arc.points().collect();
        } else {
            let all = [start.min(start + sweep), start.max(start + sweep)];
            arc.table = table_of(ellipse, if arc.is_closed() { [0.0, FRAC_PI_2] } else { all });
        }
        arc
    }

    fn is_closed(&self) -> bool {
        self.sweep.abs() >= TAU
    }

    fn points(&self) -> impl Iterator<Item = DVec3> {
        (0..=SAMPLES).map(|i| self.point(fraction(i, SAMPLES)))
    }

    fn point(&self, t: f64) -> DVec3 {
        self.at_angle(self.start + t * self.sweep)
    }

    fn at_angle(&self, phi: f64) -> DVec3 {
        if self.offset == 0.0 {
            return self.ellipse.point(phi);
        }
        let Jet { point, first, .. } = self.ellipse.jet(phi);
        let Some(right) = unit(first.cross(point)) else { return point };
        let (sin, cos) = trig::sin_cos(self.offset);
        point * cos + right * sin
    }

    fn foot(&self, d: DVec3) -> Foot {
        if self.offset != 0.0 {
            return self.foot_on_offset(d);
        }
        if !self.is_closed() {
            return self.foot_at(d, nearest_in(&self.table, self.ellipse, d));
        }
        // A point of the ellipse and its images in the two axes have the same products with `d` but for
        // signs: the largest is that of the image on the side of `d` along both.
        let (right, up) = (d.x >= 0.0, d.y <= 0.0);
        let image = DVec3::new(d.x.abs(), -d.y.abs(), d.z);
        let phi = nearest_in(&self.table, self.ellipse, image);
        let DVec3 { x, y, z } = self.ellipse.point(phi);
        let point = DVec3::new(if right { x } else { -x }, if up { y } else { -y }, z);
        let phi = match (right, up) {
            (true, true) => phi,
            (true, false) => PI - phi,
            (false, false) => PI + phi,
            (false, true) => TAU - phi,
        };
        let t = ((phi - self.start) / self.sweep).rem_euclid(1.0);
        Foot { point, chord_square: (d - point).length_squared(), at: Some(t) }
    }

    /// The foot on an offset, whose normals are those of the ellipse.
    fn foot_on_offset(&self, d: DVec3) -> Foot {
        let n = self.samples.len() - 1;
        let closed = self.is_closed();
        let mut dots = [0.0; SAMPLES + 1];
        for (dot, sample) in dots.iter_mut().zip(self.samples.iter()) {
            *dot = sample.dot(d);
        }
        let around = |i: usize| {
            let beyond = |end: usize| if closed { dots[end] } else { f64::MIN };
            let before = if i > 0 { dots[i - 1] } else { beyond(n - 1) };
            let after = if i < n { dots[i + 1] } else { beyond(1) };
            [before, after]
        };
        let step = self.sweep / n as f64;
        let refined = |i: usize| {
            let middle = self.start + self.sweep * fraction(i, n);
            let low = if i > 0 || closed { middle - step } else { middle };
            let high = if i < n || closed { middle + step } else { middle };
            self.refine(d, low, high)
        };
        let nearest = (1..=n).fold(0, |best, i| if dots[i] > dots[best] { i } else { best });
        let mut best = Foot::at_end(d, self.samples[0]).nearer(Foot::at_end(d, self.samples[n]));
        best = best.nearer(refined(nearest));
        for (i, &dot) in dots.iter().enumerate().take(n + 1) {
            let [before, after] = around(i);
            if i == nearest || dot < before || dot < after || (closed && i == n) {
                continue;
            }
            let beside = |j: usize| self.samples[i].distance(self.samples[j]);
            let chord = beside(if i > 0 { i - 1 } else { n - 1 }).max(beside(if i < n {
                i + 1
            } else {
                1
            }));
            if !is_beyond((2.0 - 2.0 * dot).max(0.0), chord, step, best.chord_square) {
                best = best.nearer(refined(i));
            }
        }
        best
    }

    fn foot_at(&self, d: DVec3, x: f64) -> Foot {
        let point = self.at_angle(x);
        let t = (x - self.start) / self.sweep;
        let interior = self.is_closed() || (t > 0.0 && t < 1.0);
        Foot { point, chord_square: (d - point).length_squared(), at: interior.then_some(t) }
    }

    /// The foot between two angles, by Newton's method kept within a bisection.
    fn refine(&self, d: DVec3, low: f64, high: f64) -> Foot {
        // The slope of d·C falls through zero at a maximum of d·C; with an offset beyond the centre of
        // curvature it may be the other way round, so the sign at the ends decides.
        let (mut a, mut b) = (low, high);
        let (at_a, at_b) = (slope(self.ellipse, d, a).0, slope(self.ellipse, d, b).0);
        if at_a * at_b > 0.0 || (at_a == 0.0 && at_b == 0.0) {
            return Foot::at_end(d, self.at_angle(a)).nearer(Foot::at_end(d, self.at_angle(b)));
        }
        let rising = at_a < 0.0;
        let mut x = 0.5 * (a + b);
        for _ in 0..80 {
            let (f, slope) = slope(self.ellipse, d, x);
            if (f < 0.0) == rising {
                a = x;
            } else {
                b = x;
            }
            let newton = x - f / slope;
            let inside = (newton - a) * (newton - b) < 0.0;
            let next = if inside { newton } else { 0.5 * (a + b) };
            if next == x || (next - x).abs() <= 1e-16 * (1.0 + x.abs()) {
                x = next;
                break;
            }
            x = next;
        }
        self.foot_at(d, x)
    }

    fn foot_jacobian(&self, d: DVec3, t: f64) -> DMat3 {
        let phi = self.start + t * self.sweep;
        let jet = self.ellipse.jet(phi);
        let bend = d.dot(jet.second);
        if bend == 0.0 {
            return DMat3::ZERO;
        }
        // 0 = δd·C' + d·C'' δφ.
        let moved = if self.offset == 0.0 { jet.first } else { self.tangent_at(phi) };
        outer(moved, jet.first) * (-1.0 / bend)
    }

    /// The derivative by φ of the curve, by differences where it is an offset.
    fn tangent_at(&self, phi: f64) -> DVec3 {
        if self.offset == 0.0 {
            return self.ellipse.jet(phi).first;
        }
        let h = 1e-5;
        (self.at_angle(phi + h) - self.at_angle(phi - h)) / (2.0 * h)
    }
}

impl CircleArc {
    /// The angle from its axis, if it is a whole circle about the bone.
    pub(super) fn whole(&self) -> Option<f64> {
        (self.axis == DVec3::Z && self.sweep.abs() >= TAU).then_some(self.radius)
    }
}

/// d · C'(φ) of an ellipse, and its slope: zero at the feet of `d`, on the ellipse and on its offsets
/// alike. By what is between, which has its digits where that is small: C · C' = 0 and
/// C · C'' = −C' · C'.
fn slope(ellipse: Ellipse, d: DVec3, phi: f64) -> (f64, f64) {
    let Jet { point, first, second } = ellipse.jet(phi);
    let away = d - point;
    (away.dot(first), away.dot(second) - first.dot(first))
}

/// Angles from one to another with the points of an ellipse there: at most [`STEP`] apart, and its
/// vertices.
///
/// Where a radius is half a turn the vertex is a cusp, `(k δ², k' δ³)` at a distance of δ, and where it is
/// nearly so, nearly one. How a query is nearest to both of its sides, or to one and the cusp itself, then
/// goes on for all sizes: so towards such a vertex each step is half of the one before, until what is left
/// out is below 1e-14.
fn table_of(ellipse: Ellipse, [low, high]: [f64; 2]) -> sync::Arc<[(f64, DVec3)]> {
    /// Radians. The curve moves by about a radian per radian up to here.
    const REGULAR: f64 = 2.0;
    let mut angles = vec![low, high];
    let mut i = (low / STEP).ceil();
    while i * STEP < high {
        angles.push(i * STEP);
        i += 1.0;
    }
    let mut vertex = (low / FRAC_PI_2).floor();
    while vertex * FRAC_PI_2 <= high + STEP {
        // Vertices of even numbers are about x.
        let radius = if vertex.rem_euclid(2.0) == 0.0 { ellipse.rx } else { ellipse.ry };
        if radius > REGULAR {
            let mut step = 0.5 * STEP;
            while step > 1e-7 {
                angles.extend([vertex * FRAC_PI_2 - step, vertex * FRAC_PI_2 + step]);
                step *= 0.5;
            }
        }
        vertex += 1.0;
    }
    angles.retain(|phi| (low..=high).contains(phi));
    angles.sort_by(f64::total_cmp);
    angles.dedup_by(|b, a| *b - *a < 1e-9);
    angles.into_iter().map(|phi| (phi, ellipse.point(phi))).collect()
}

/// The angle of the point between the ends of a table that is nearest to `d`.
fn nearest_in(table: &[(f64, DVec3)], ellipse: Ellipse, d: DVec3) -> f64 {
    let away = |i: usize| (table[i].1 - d).length_squared();
    let last = table.len() - 1;
    let nearest = (1..=last).fold((0, away(0)), |best, i| {
        let here = away(i);
        if here < best.1 { (i, here) } else { best }
    });
    let mut best = refined_in(table, ellipse, d, nearest.0);
    let (mut before, mut here) = (f64::MAX, away(0));
    for i in 0..=last {
        let after = if i < last { away(i + 1) } else { f64::MAX };
        if i != nearest.0 && here <= before && here <= after {
            let beside =
                |j: usize| (table[i].1.distance(table[j].1), (table[i].0 - table[j].0).abs());
            let (a, b) = (beside(i.saturating_sub(1)), beside((i + 1).min(last)));
            if !is_beyond(here, a.0.max(b.0), a.1.max(b.1), best.1) {
                let found = refined_in(table, ellipse, d, i);
                if found.1 < best.1 {
                    best = found;
                }
            }
        }
        (before, here) = (here, after);
    }
    best.0
}

/// Whether what is beside a sample, in steps of so much and no farther away than `chord`, is no nearer
/// than what was found. Between samples the curve is no farther from one of them than the next sample is,
/// but for how it bends: by no more than 13 per square of φ, an eighth of that over a step.
fn is_beyond(square: f64, chord: f64, step: f64, best_square: f64) -> bool {
    let at_least = square.sqrt() - chord - 2.0 * step * step;
    at_least > 0.0 && at_least * at_least > best_square
}

/// The nearest point beside a sample that is nearer than its neighbours, and the square of its distance:
/// by Newton's method, kept between that and its neighbour.
fn refined_in(table: &[(f64, DVec3)], ellipse: Ellipse, d: DVec3, i: usize) -> (f64, f64) {
    let square = |phi: f64| (ellipse.point(phi) - d).length_squared();
    let middle = table[i].0;
    let (f, bend) = slope(ellipse, d, middle);
    let mut best = (middle, square(middle));
    // On an axis of the ellipse, inside of its evolute, a vertex is the farthest between two feet.
    let both = f == 0.0 && bend > 0.0;
    let sides = [(f < 0.0 || both, i.checked_sub(1)), (f > 0.0 || both, Some(i + 1))];
    for (_, side) in sides.into_iter().filter(|(wanted, _)| *wanted) {
        let Some(&(end, _)) = side.and_then(|j| table.get(j)) else { continue };
        // Towards `end` the product rises at first, and then falls.
        let (mut rises, mut falls) = (middle, end);
        let toward = (end - middle).signum();
        let (mut x, mut at) = (middle, (f, bend));
        for _ in 0..60 {
            let newton = x - at.0 / at.1;
            let inside = at.1 < 0.0 && (newton - rises) * (newton - falls) < 0.0;
            let next = if inside { newton } else { 0.5 * (rises + falls) };
            let by = (next - x).abs();
            x = next;
            // The digits that are right have doubled.
            if (inside && by < 1e-8) || by < 1e-15 {
                break;
            }
            at = slope(ellipse, d, x);
            if at.0 * toward > 0.0 { rises = x } else { falls = x }
        }
        let found = (x, square(x));
        if found.1 < best.1 {
            best = found;
        }
    }
    best
}

impl CustomArc {
    /// Over the chord between two points where the function is zero, with the inside to the left.
    pub(crate) fn new(shape: sync::Arc<dyn SwingShape>, chord: GreatArc, reach: f64) -> Self {
        let mut arc = Self { shape, chord, reach, samples: sync::Arc::from([]) };
        arc.samples = (0..=8).map(|i| arc.point(fraction(i, 8))).collect();
        arc
    }

    fn point(&self, t: f64) -> DVec3 {
        if t <= 0.0 {
            return self.chord.from;
        }
        if t >= 1.0 {
            return self.chord.to;
        }
        let base = self.chord.point(t);
        root_across(&*self.shape, base, self.chord.normal, self.reach).unwrap_or(base)
    }

    fn foot(&self, d: DVec3) -> Foot {
        let n = self.samples.len() - 1;
        let mut best = 0;
        for i in 1..=n {
            if self.samples[i].dot(d) > self.samples[best].dot(d) {
                best = i;
            }
        }
        let (mut a, mut b) = (fraction(best.saturating_sub(1), n), fraction((best + 1).min(n), n));
        let distance = |t: f64| (self.point(t) - d).length_squared();
        // Golden section: a function known by its values only.
        let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut x, mut y) = (b - ratio * (b - a), a + ratio * (b - a));
        let (mut fx, mut fy) = (distance(x), distance(y));
        while b - a > 1e-9 {
            if fx <= fy {
                (b, y, fy) = (y, x, fx);
                x = b - ratio * (b - a);
                fx = distance(x);
            } else {
                (a, x, fx) = (x, y, fy);
                y = a + ratio * (b - a);
                fy = distance(y);
            }
        }
        let foot_at = |t: f64| {
            let point = self.point(t);
            Foot { point, chord_square: (d - point).length_squared(), at: Some(t) }
        };
        // Straight across the chord, which is exact for points of the curve.
        let across = self.chord.normal.cross(self.chord.from);
        let straight = trig::atan2(across.dot(d), self.chord.from.dot(d)) / self.chord.length();
        let straight = foot_at(straight.clamp(0.0, 1.0));
        let searched = foot_at(self.polish(d, 0.5 * (a + b)));
        let inner = if straight.chord_square < 1e-24 { straight } else { searched };
        let ends = Foot::at_end(d, self.chord.from).nearer(Foot::at_end(d, self.chord.to));
        ends.nearer(inner)
    }
}

impl CustomArc {
    /// A search by values ends eight digits short of where the distance is least. Two steps of
    /// Newton's method on its slope, with derivatives by differences, find the rest.
    fn polish(&self, d: DVec3, t: f64) -> f64 {
        let h = 1e-3;
        let mut best = t;
        for _ in 0..2 {
            let (before, here, after) =
                (self.point(best - h), self.point(best), self.point(best + h));
            let (first, second) =
                ((after - before) / (2.0 * h), (after - here * 2.0 + before) / (h * h));
            let slope = (d - here).dot(first);
            let step = slope / (first.dot(first) - (d - here).dot(second));
            if !step.is_finite() || step.abs() > 1e-4 || !(h..=1.0 - h).contains(&(best + step)) {
                return t;
            }
            best += step;
        }
        best
    }
}

/// Where the function is zero on the great circle through `base` along `across`, within `reach` on
/// either side.
pub(crate) fn root_across(
    shape: &dyn SwingShape,
    base: DVec3,
    across: DVec3,
    reach: f64,
) -> Option<DVec3> {
    let at = |x: f64| {
        let (sin, cos) = trig::sin_cos(x);
        base * cos + across * sin
    };
    let value = |x: f64| value_of(shape, at(x));
    let (mut a, mut b) = (-reach, reach);
    let (mut fa, mut fb) = (value(a), value(b));
    if fa == 0.0 || fb == 0.0 {
        return Some(at(if fa == 0.0 { a } else { b }));
    }
    if (fa < 0.0) == (fb < 0.0) {
        return None;
    }
    // The secant within a bracket (Illinois); halves where it does not get on.
    let mut kept_side = 0;
    for i in 0..100 {
        let secant = b - fb * (b - a) / (fb - fa);
        let bisect = i > 40 || !secant.is_finite() || secant <= a || secant >= b;
        let x = if bisect { 0.5 * (a + b) } else { secant };
        let fx = value(x);
        if fx == 0.0 || b - a <= 4e-16 || x <= a || x >= b {
            return Some(at(x));
        }
        if (fx < 0.0) == (fa < 0.0) {
            (a, fa) = (x, fx);
            if kept_side == 1 {
                fb *= 0.5;
            }
            kept_side = 1;
        } else {
            (b, fb) = (x, fx);
            if kept_side == -1 {
                fa *= 0.5;
            }
            kept_side = -1;
        }
        if b - a <= 1e-15 || (fx.abs() < 1e-15) {
            return Some(at(x));
        }
    }
    Some(at(0.5 * (a + b)))
}

/// A user's function of a direction; what is not a number counts as outside.
pub(crate) fn value_of(shape: &dyn SwingShape, d: DVec3) -> f64 {
    let s = swing_of(d);
    let value = shape.value(Swing::from_radians(s.x, s.y));
    if value.is_nan() { f64::INFINITY } else { value }
}

#[allow(clippy::cast_precision_loss, reason = "small counts")]
fn fraction(i: usize, n: usize) -> f64 {
    i as f64 / n as f64
}

/// `a bᵀ`.
pub(crate) fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl Curve {
    /// The point at `t`, from 0 to 1.
    pub(crate) fn point(&self, t: f64) -> DVec3 {
        match self {
            Self::Great(c) => c.point(t),
            Self::Circle(c) => c.point(t),
            Self::Ellipse(c) => c.point(t),
            Self::Custom(c) => c.point(t),
        }
    }

    /// The direction in which it is walked at `t`.
    pub(crate) fn tangent(&self, t: f64) -> DVec3 {
        match self {
            Self::Great(c) => c.normal.cross(c.point(t)),
            Self::Circle(c) => {
                let along = c.axis.cross(c.point(t));
                if c.sweep < 0.0 { -along } else { along }
            }
            // Of a closed one, t may be a little beyond the ends.
            Self::Ellipse(c) => c.tangent_at(c.start + t * c.sweep) * c.sweep,
            Self::Custom(_) => {
                let h = 1e-6;
                self.point((t + h).min(1.0)) - self.point((t - h).max(0.0))
            }
        }
    }

    /// The unit vector in which it is walked at `t`, to all digits but for users' functions.
    pub(crate) fn heading(&self, t: f64) -> Option<DVec3> {
        let along = self.tangent(t);
        match self {
            // An offset runs along the ellipse, or, beyond its centres of curvature, against it.
            Self::Ellipse(c) => {
                let first = unit(c.ellipse.jet(c.start + t * c.sweep).first)?;
                Some(if first.dot(along) < 0.0 { -first } else { first })
            }
            _ => unit(along),
        }
    }

    /// Parts whose offsets do not cross themselves. Those of an ellipse may, beyond its centres of
    /// curvature, but not between two of its vertices, where it bends more and more or less and less.
    pub(crate) fn apart_at_vertices(&self, by: f64) -> Vec<Self> {
        let Self::Ellipse(c) = self else { return vec![self.clone()] };
        // Outside of what is convex, centres of curvature are a right angle away or more.
        let quarter = 0.5 * PI;
        if by > 0.0 && by < quarter && c.ellipse.rx.max(c.ellipse.ry) <= quarter {
            return vec![self.clone()];
        }
        let mut cuts = vec![0.0];
        let (low, high) = (c.start.min(c.start + c.sweep), c.start.max(c.start + c.sweep));
        // An arc is at most a turn, and starts within some turns of zero.
        let mut vertex = ((low / quarter).floor() + 1.0) * quarter;
        while vertex < high && cuts.len() < 8 {
            cuts.push((vertex - c.start) / c.sweep);
            vertex += quarter;
        }
        cuts.push(1.0);
        cuts.sort_by(f64::total_cmp);
        cuts.windows(2)
            .filter(|cut| cut[1] - cut[0] > 1e-9)
            .filter_map(|cut| self.part(cut[0], cut[1]))
            .collect()
    }

    /// About how long it takes to find where two curves meet, in nanoseconds.
    pub(crate) fn meeting_cost(&self, other: &Self) -> u64 {
        match (self, other) {
            (Self::Great(_) | Self::Circle(_), Self::Great(_) | Self::Circle(_)) => 500,
            (_, Self::Custom(_)) | (Self::Custom(_), _) => 50_000,
            // Sides of an offset are found by feet.
            (_, Self::Ellipse(c)) | (Self::Ellipse(c), _) if c.offset != 0.0 => 8_000_000,
            _ => 100_000,
        }
    }

    /// About how long it is.
    pub(crate) fn length(&self) -> f64 {
        match self {
            Self::Great(c) => c.length(),
            Self::Circle(c) => c.sweep.abs() * c.sin,
            Self::Ellipse(c) => {
                c.points().zip(c.points().skip(1)).map(|(a, b)| (b - a).length()).sum()
            }
            Self::Custom(CustomArc { samples, .. }) => {
                samples.windows(2).map(|w| (w[1] - w[0]).length()).sum()
            }
        }
    }

    /// The nearest point.
    pub(crate) fn foot(&self, d: DVec3) -> Foot {
        match self {
            Self::Great(c) => c.foot(d),
            Self::Circle(c) => c.foot(d),
            Self::Ellipse(c) => c.foot(d),
            Self::Custom(c) => c.foot(d),
        }
    }

    /// How the nearest point moves with the query: `δfoot = J δd`.
    pub(crate) fn foot_jacobian(&self, d: DVec3, foot: &Foot) -> DMat3 {
        let Some(t) = foot.at else { return DMat3::ZERO };
        match self {
            Self::Great(c) => great_foot_jacobian(c.normal, d),
            Self::Circle(c) => c.foot_jacobian(d),
            Self::Ellipse(c) => c.foot_jacobian(d, t),
            Self::Custom(_) => {
                // By differences, as the function is.
                let h = 1e-5;
                let column = |e: DVec3| {
                    let (Some(plus), Some(minus)) = (unit(d + e * h), unit(d - e * h)) else {
                        return DVec3::ZERO;
                    };
                    (self.foot(plus).point - self.foot(minus).point) / (2.0 * h)
                };
                DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
            }
        }
    }

    /// The part between two parameters; walked backwards if `to < from`.
    pub(crate) fn part(&self, from: f64, to: f64) -> Option<Self> {
        Some(match self {
            Self::Great(c) => Self::Great(GreatArc::new(c.point(from), c.point(to))?),
            Self::Circle(c) => Self::Circle(CircleArc {
                start: c.start + from * c.sweep,
                sweep: (to - from) * c.sweep,
                ..*c
            }),
            Self::Ellipse(c) => Self::Ellipse(EllipseArc::new(
                c.ellipse,
                c.offset,
                c.start + from * c.sweep,
                (to - from) * c.sweep,
            )),
            Self::Custom(c) => Self::Custom(CustomArc::new(
                c.shape.clone(),
                GreatArc::new(c.point(from), c.point(to))?,
                c.reach,
            )),
        })
    }

    /// Zero on the whole curve that this is a part of, and of different signs on its two sides.
    fn side(&self, p: DVec3) -> f64 {
        match self {
            Self::Great(c) => c.normal.dot(p),
            Self::Circle(c) => c.axis.dot(p) - c.cos,
            Self::Ellipse(c) if c.offset == 0.0 => c.ellipse.value(p),
            // Only its samples are at hand: signed by the nearest of them.
            Self::Ellipse(c) => {
                let foot = c.foot(p);
                let Some(t) = foot.at else { return f64::NAN };
                let left = foot.point.cross(c.tangent_at(c.start + t * c.sweep));
                (p - foot.point).dot(left)
            }
            Self::Custom(c) => value_of(&*c.shape, p),
        }
    }

    /// Whether a point that is on the whole curve is on this part of it, give or take a little.
    fn spans(&self, p: DVec3) -> bool {
        self.foot(p).chord_square < 1e-16
    }

    /// Where this curve meets another, as parameters of this one. Touching without crossing may be
    /// missed: it does not change what is inside.
    pub(crate) fn crossings(&self, other: &Self, found: &mut Few) {
        let mut all = Few::default();
        self.meet(other, &mut all);
        for t in all.iter().filter(|t| other.spans(self.point(**t))) {
            found.push(*t);
        }
    }

    fn meet(&self, other: &Self, found: &mut Few) {
        match (self, other) {
            (Self::Great(a), Self::Great(b)) => {
                if let Some(p) = unit(a.normal.cross(b.normal)) {
                    let length = a.length();
                    for p in [p, -p] {
                        let angle = trig::atan2(a.normal.cross(a.from).dot(p), a.from.dot(p));
                        push_parameter(angle / length, found);
                    }
                }
            }
            (Self::Great(a), Self::Circle(b)) => {
                let (from, across) = (a.from, a.normal.cross(a.from));
                let length = a.length();
                let angles = angles_at(b.axis.dot(from), b.axis.dot(across), b.cos);
                for angle in angles.into_iter().flatten() {
                    let angle = angle.rem_euclid(TAU);
                    push_parameter(angle / length, found);
                    push_parameter((angle - TAU) / length, found);
                }
            }
            (Self::Circle(a), Self::Great(_) | Self::Circle(_)) => {
                let (n, c) = match other {
                    Self::Great(b) => (b.normal, 0.0),
                    Self::Circle(b) => (b.axis, b.cos),
                    _ => return,
                };
                let (x, y, z) = (a.sin * n.dot(a.u), a.sin * n.dot(a.v), a.cos * n.dot(a.axis));
                for angle in angles_at(x, y, c - z).into_iter().flatten() {
                    let along = (angle - a.start) / a.sweep;
                    let turn = TAU / a.sweep.abs();
                    let t = along.rem_euclid(turn);
                    push_parameter(t, found);
                    push_parameter(t - turn, found);
                }
            }
            // Along the curve that may be narrow, so that none of its two sides is stepped over.
            (Self::Great(_) | Self::Circle(_), _) => {
                let mut theirs = Few::default();
                other.meet_by_samples(self, &mut theirs);
                for t in theirs.iter().filter_map(|t| self.parameter(other.point(*t))) {
                    found.push(t);
                }
            }
            _ => self.meet_by_samples(other, found),
        }
    }

    /// Where on the curve a point is, if it is on it but for rounding.
    pub(crate) fn parameter_of(&self, p: DVec3) -> Option<f64> {
        let foot = self.foot(p);
        if foot.chord_square > 1e-17 {
            return None;
        }
        match self {
            Self::Great(_) | Self::Circle(_) => self.parameter(p),
            Self::Ellipse(_) | Self::Custom(_) => foot.at,
        }
    }

    /// Where on a great arc or a circle a point of it is.
    fn parameter(&self, p: DVec3) -> Option<f64> {
        let t = match self {
            Self::Great(c) => {
                trig::atan2(c.normal.cross(c.from).dot(p), c.from.dot(p)) / c.length()
            }
            Self::Circle(c) => c.parameter(p)?,
            Self::Ellipse(_) | Self::Custom(_) => return None,
        };
        (-1e-9..=1.0 + 1e-9).contains(&t).then(|| t.clamp(0.0, 1.0))
    }

    /// A ball that the whole curve lies in: its centre, and its radius as a straight distance.
    pub(crate) fn bounds(&self) -> (DVec3, f64) {
        const POINTS: usize = 32;
        let center = self.point(0.5);
        let mut radius: f64 = 0.0;
        let mut step: f64 = 0.0;
        let mut before = self.point(0.0);
        for i in 0..=POINTS {
            let p = self.point(fraction(i, POINTS));
            radius = radius.max((p - center).length());
            step = step.max((p - before).length());
            before = p;
        }
        // Between two points a curve strays no farther than some steps.
        (center, radius + 2.0 * step)
    }

    fn meet_by_samples(&self, other: &Self, found: &mut Few) {
        // Short pieces of a user's function have been cut fine already.
        const STEPS: usize = 512;
        const FEW: usize = 16;
        let steps = if matches!(self, Self::Custom(_)) { FEW } else { STEPS };
        let value = |t: f64| other.side(self.point(t));
        let mut before = value(0.0);
        for i in 1..=steps {
            let (mut a, mut b) = (fraction(i - 1, steps), fraction(i, steps));
            let after = value(b);
            if before * after <= 0.0 && before != after {
                let rising = after > before;
                for _ in 0..60 {
                    let middle = 0.5 * (a + b);
                    if middle <= a || middle >= b {
                        break;
                    }
                    if (value(middle) > 0.0) == rising { b = middle } else { a = middle }
                }
                push_parameter(0.5 * (a + b), found);
            }
            before = after;
        }
    }

    /// The curve at a distance to the right, on the outside; `None` if it shrinks to nothing.
    pub(crate) fn offset(&self, by: f64) -> Option<Self> {
        match self {
            Self::Great(c) => {
                // Points to the right have a negative sine over the plane of the arc.
                let radius = 0.5 * PI + by;
                (radius > 1e-9 && radius < PI - 1e-9).then(|| {
                    Self::Circle(CircleArc::new(c.normal, c.from, radius, 0.0, c.length()))
                })
            }
            Self::Circle(c) => {
                let radius = c.radius + if c.sweep > 0.0 { by } else { -by };
                (radius > 1e-9 && radius < PI - 1e-9)
                    .then(|| Self::Circle(CircleArc::new(c.axis, c.u, radius, c.start, c.sweep)))
            }
            Self::Ellipse(c) => {
                let by = if c.sweep > 0.0 { by } else { -by };
                Some(Self::Ellipse(EllipseArc::new(c.ellipse, c.offset + by, c.start, c.sweep)))
            }
            // Only its chords have one.
            Self::Custom(_) => None,
        }
    }

    /// Great arcs between points of it, in a row, from which it is off by an angle at most. No more than some
    /// thousands, whatever the angle.
    pub(crate) fn chords(&self, off: f64) -> Vec<(DVec3, DVec3)> {
        const MOST: usize = 4096;
        let at = |i: usize, n: usize| self.point(fraction(i, n));
        // At a quarter, the middle and three quarters.
        let is_near = |i: usize, n: usize| {
            let normal = unit(at(i, n).cross(at(i + 1, n)));
            normal.is_none_or(|normal| {
                (1..4).all(|k| normal.dot(at(4 * i + k, 4 * n)).abs() <= trig::sin(off))
            })
        };
        // Arcs that are long go no way in particular, however straight they are.
        let mut points = Vec::new();
        self.trace(0.8, &mut points);
        let mut count = points.len().max(2);
        while count < MOST && !(0..count).all(|i| is_near(i, count)) {
            count += 1 + count / 16;
        }
        let mut points: Vec<DVec3> = (0..=count).map(|i| at(i, count)).collect();
        if (points[count] - points[0]).length_squared() < 1e-20 {
            points[count] = points[0];
        }
        points.windows(2).map(|pair| (pair[0], pair[1])).collect()
    }

    /// A polyline along it whose steps are at most so long, without its last point.
    pub(crate) fn trace(&self, step: f64, out: &mut Vec<DVec3>) {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to a small count"
        )]
        let n = (self.length() / step).ceil().clamp(1.0, 10_000.0) as usize;
        out.extend((0..n).map(|i| self.point(fraction(i, n))));
    }

    /// Its part of the boundary integral of (1 − cos β) dα about a pole, which is the area to its left.
    pub(crate) fn area_integral(&self, pole: DVec3) -> f64 {
        match self {
            Self::Great(c) => triangle_area(pole, c.from, c.to),
            _ => {
                // The triangles over small chords, and what lies between chord and curve by
                // extrapolation (the error of n chords falls as n⁻²).
                let sum = |n: usize| -> f64 {
                    let points: Vec<DVec3> = (0..=n).map(|i| self.point(fraction(i, n))).collect();
                    points.windows(2).map(|w| triangle_area(pole, w[0], w[1])).sum()
                };
                let (coarse, middle, fine) = (sum(256), sum(512), sum(1024));
                let (first, second) =
                    (middle + (middle - coarse) / 3.0, fine + (fine - middle) / 3.0);
                second + (second - first) / 15.0
            }
        }
    }
}

/// How the foot on a great circle moves with the query.
pub(crate) fn great_foot_jacobian(normal: DVec3, d: DVec3) -> DMat3 {
    let flat = d - normal * normal.dot(d);
    let length = flat.length();
    if length < 1e-150 {
        return DMat3::ZERO;
    }
    let p = flat / length;
    (DMat3::IDENTITY - outer(p, p) - outer(normal, normal)) * (1.0 / length)
}

/// Signed area of a spherical triangle, positive when it is counter-clockwise seen from outside:
/// F. Eriksson, "On the measure of solid angles", Mathematics Magazine 63 (1990).
pub(crate) fn triangle_area(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    2.0 * trig::atan2(a.dot(b.cross(c)), 1.0 + a.dot(b) + b.dot(c) + c.dot(a))
}

/// Numbers of which a few need no memory: most curves meet in no point, or two.
#[derive(Debug, Default)]
pub(crate) struct Few {
    few: [f64; 16],
    count: usize,
    /// All of them, once they are more.
    all: Vec<f64>,
}

impl Few {
    fn push(&mut self, value: f64) {
        if let Some(place) = self.few.get_mut(self.count) {
            *place = value;
            self.count += 1;
            return;
        }
        if self.all.is_empty() {
            self.all.extend(self.few);
        }
        self.all.push(value);
    }
}

impl Deref for Few {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        if self.all.is_empty() { &self.few[..self.count] } else { &self.all }
    }
}

impl DerefMut for Few {
    fn deref_mut(&mut self) -> &mut [f64] {
        if self.all.is_empty() { &mut self.few[..self.count] } else { &mut self.all }
    }
}

fn push_parameter(t: f64, found: &mut Few) {
    if t.is_finite() && (-1e-9..=1.0 + 1e-9).contains(&t) {
        found.push(t.clamp(0.0, 1.0));
    }
}

/// The angles at which `x cos t + y sin t = z`.
fn angles_at(x: f64, y: f64, z: f64) -> Option<[f64; 2]> {
    let r = trig::hypot(x, y);
    if r == 0.0 || z.abs() > r {
        return None;
    }
    let (at, half) = (trig::atan2(y, x), trig::acos(z / r));
    Some([at + half, at - half])
}
