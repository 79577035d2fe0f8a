//! How much of all rotations a limit allows.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::EulerBox;
use super::ball::Ball;
use super::region::Region;
use super::twist_field::TwistField;
use crate::math::{Arc, trig, unit};

/// Four times the square of π: what |sin b| db over a circle, times two free angles, is, over four.
const SHEET: f64 = 4.0 * PI * PI;

/// The measure of a box of Euler angles (A8).
///
/// In Euler angles a, b, c the uniform measure of rotations is |sin b| da db dc / 8π² if the first axis
/// comes again, else |cos b| da db dc / 8π². Every rotation has two triples, (a, b, c) and
/// (a + π, −b, c + π), or (a + π, π − b, c + π): so the box B and its image B′ allow
///
/// ```text
///   (2 V(B) − V(B ∩ B′)) / 16π²,   V the integral of |sin b| or |cos b|
/// ```
pub(super) fn euler_box(of: &EulerBox) -> f64 {
    let [a, b, c] = of.arcs.map(spans);
    // As if the first axis came again: |cos b| = |sin (b + π/2)|, and π − b becomes −b.
    let b = if of.order.is_proper() { b } else { turned(&b, 0.5 * PI) };
    let image: Vec<Span> = b.iter().map(|[from, to]| [-to, -from]).collect();
    let image = turned(&image, 0.0);
    let twice = |of: &[Span]| width(&common(of, &turned(of, PI)));
    let whole = width(&a) * width(&c) * below_sine(&b);
    let both = twice(&a) * twice(&c) * below_sine(&common(&b, &image));
    ((2.0 * whole - both) / (4.0 * SHEET)).clamp(0.0, 1.0)
}

/// From, to; within 0 and 2π.
type Span = [f64; 2];

/// An arc as spans: two if it passes 0.
fn spans(arc: Arc) -> Vec<Span> {
    if arc.is_empty() {
        return Vec::new();
    }
    if arc.is_full() {
        return vec![[0.0, TAU]];
    }
    let from = arc.min().radians();
    turned(&[[from, from + arc.width().radians()]], 0.0)
}

/// Spans, each at most a turn long, moved on around the circle.
fn turned(of: &[Span], by: f64) -> Vec<Span> {
    let mut spans = Vec::new();
    for [from, to] in of {
        let start = (from + by).rem_euclid(TAU);
        let end = start + (to - from);
        spans.push([start, end.min(TAU)]);
        if end > TAU {
            spans.push([0.0, end - TAU]);
        }
    }
    spans
}

fn common(a: &[Span], b: &[Span]) -> Vec<Span> {
    let overlap = |p: &Span, q: &Span| [p[0].max(q[0]), p[1].min(q[1])];
    let pairs = a.iter().flat_map(|p| b.iter().map(move |q| overlap(p, q)));
    pairs.filter(|[from, to]| from < to).collect()
}

fn width(of: &[Span]) -> f64 {
    of.iter().map(|[from, to]| to - from).sum()
}

/// The integral of |sin b|.
fn below_sine(of: &[Span]) -> f64 {
    // From 0: 1 − cos b up to π, then 3 + cos b.
    let up_to = |b: f64| if b <= PI { 1.0 - trig::cos(b) } else { 3.0 + trig::cos(b) };
    of.iter().map(|[from, to]| up_to(*to) - up_to(*from)).sum()
}

/// The measure of a limit of swing and twist: the mean over the sphere of directions of the share of a
/// turn that the twist may take, nothing outside of the region. Exact where the width of the range is
/// the same everywhere.
pub(super) fn ball(of: &Ball) -> f64 {
    let (region, twist) = (of.region(), of.twist());
    let area = region.area();
    let mean = twist.constant_width().unwrap_or_else(|| {
        mean_width(region, twist, pole(region, twist.directions().iter().take(MAX_POLES).copied()))
    });
    (area / (4.0 * PI) * (mean / TAU)).clamp(0.0, 1.0)
}

/// So many of the directions at which the range of twist is given are looked at for a pole.
const MAX_POLES: usize = 8;

/// Of some directions and their opposites the one whose antipode is farthest from the boundary: there
/// the azimuth about the pole is singular. Of equals, up to rounding, the first.
fn pole(region: &Region, candidates: impl Iterator<Item = DVec3>) -> DVec3 {
    let mut best = (0.0, DVec3::Z);
    for d in candidates.filter_map(unit).flat_map(|d| [d, -d]) {
        let slack = region.distance(-d).abs();
        if slack > best.0 + 1e-9 {
            best = (slack, d);
        }
    }
    best.1
}

/// Gauss and Legendre: nodes and weights for the integral from −1 to 1.
const GAUSS: [(f64, f64); 3] =
    [(-0.774_596_669_241_483_4, 5.0 / 9.0), (0.0, 8.0 / 9.0), (0.774_596_669_241_483_4, 5.0 / 9.0)];

/// Steps of the quadrature, in radians. Another pole, and so other points, changes the result by up to
/// 9e-6 of itself, of regions that are a degree thin by 1.1e-4.
const STEP: f64 = 0.05;

/// The mean width of the range of twist over the region.
///
/// With β the angle from a pole, α the azimuth about it and w the width, Stokes' theorem makes the
/// integral over the region one of (∫₀^β w sin β′ dβ′) dα along its boundary, and, where the pole's
/// antipode is inside, adds the integral over the sphere. The pole is one of the directions of the
/// field or its opposite, and the points that are asked lie on great arcs from it to points of the
/// boundary: they turn with the limit, and so the result does not depend on the frame. The same sum for
/// w = 1 takes out most of the error.
fn mean_width(region: &Region, twist: &TwistField, pole: DVec3) -> f64 {
    let mut sums = [0.0; 2];
    for piece in region.pieces() {
        let steps = steps(piece.length());
        let h = 1.0 / f64::from(steps);
        for i in 0..steps {
            let (from, to) = (f64::from(i) * h, f64::from(i + 1) * h);
            // A chord of the piece, as a great arc: every kind of piece has points.
            let (a, b) = (piece.point(from), piece.point(to));
            for (node, weight) in GAUSS {
                let t = 0.5 * (1.0 + node);
                let Some(p) = unit(a * (1.0 - t) + b * t) else { continue };
                // dα = pole · (p × dp) / sin² β; for the chord, p × dp is along a × b.
                let stretch = (a * (1.0 - t) + b * t).length_squared();
                let turn = pole.dot(a.cross(b)) / stretch;
                let along = ray(pole, p, |d| twist.range(d).width());
                let sine = pole.cross(p).length_squared();
                if sine < 1e-24 {
                    continue;
                }
                for (sum, value) in sums.iter_mut().zip(along) {
                    *sum += 0.5 * weight * value * turn / sine;
                }
            }
        }
    }
    if region.pieces().is_empty() || region.contains(-pole) {
        let whole = sphere(pole, twist);
        for (sum, value) in sums.iter_mut().zip(whole) {
            *sum += value;
        }
    }
    let [wide, one] = sums;
    // A region without an area has no volume whatever the mean.
    if one.abs() < 1e-9 { 0.0 } else { (wide / one).clamp(0.0, TAU) }
}

/// So many steps of the quadrature for a length.
fn steps(length: f64) -> u32 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a curve on the sphere, in steps: some hundred"
    )]
    let steps = (length / STEP).ceil().clamp(1.0, 1e4) as u32;
    steps
}

/// The integrals of w sin β and of sin β along the great arc from the pole to a direction.
fn ray(pole: DVec3, to: DVec3, width: impl Fn(DVec3) -> f64) -> [f64; 2] {
    let normal = pole.cross(to);
    let beta = trig::atan2(normal.length(), pole.dot(to));
    let Some(across) = unit(to - pole * pole.dot(to)) else { return [0.0; 2] };
    let steps = steps(beta);
    let h = beta / f64::from(steps);
    let mut sums = [0.0; 2];
    for i in 0..steps {
        for (node, weight) in GAUSS {
            let at = (f64::from(i) + 0.5 * (1.0 + node)) * h;
            let (sin, cos) = trig::sin_cos(at);
            let part = 0.5 * h * weight * sin;
            sums[0] += part * width(pole * cos + across * sin);
            sums[1] += part;
        }
    }
    sums
}

/// The same over the whole sphere.
fn sphere(pole: DVec3, twist: &TwistField) -> [f64; 2] {
    let toward = twist.directions().get(1).and_then(|d| unit(*d - pole * d.dot(pole)));
    let x = toward.unwrap_or_else(|| pole.any_orthonormal_vector());
    let y = pole.cross(x);
    let steps = steps(TAU);
    let mut sums = [0.0; 2];
    for i in 0..steps {
        let alpha = TAU * (f64::from(i) + 0.5) / f64::from(steps);
        let (sin, cos) = trig::sin_cos(alpha);
        let across = x * cos + y * sin;
        // In two halves: to the antipode there is no single way.
        let near = ray(pole, across, |d| twist.range(d).width());
        let far = ray(-pole, across, |d| twist.range(d).width());
        for k in 0..2 {
            sums[k] += (near[k] + far[k]) * TAU / f64::from(steps);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::zoo::{arc, deg, dir, wobbly, zoo};
    use super::super::{
        Limit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit, TwistOffset,
    };
    use super::*;
    use crate::math::{EulerOrder, Rotation, SwingAxes};
    use crate::synth::Rng;

    fn volume(limit: &Limit) -> f64 {
        limit.prepare().unwrap().volume()
    }

    /// A uniform rotation, as a uniform unit quaternion (K. Shoemake, Uniform random rotations, 1992).
    fn uniform(rng: &mut Rng) -> Rotation {
        let u = rng.between(0.0, 1.0);
        let (s1, c1) = trig::sin_cos(rng.between(0.0, TAU));
        let (s2, c2) = trig::sin_cos(rng.between(0.0, TAU));
        let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
        Rotation::from_wxyz([b * c2, a * s1, a * c1, b * s2]).unwrap()
    }

    /// Five standard deviations of a share, and what the quadrature may be off.
    fn agrees_with_hits(what: &str, limit: &Limit, rng: &mut Rng) {
        const DRAWS: u32 = 10_000;
        let prepared = limit.prepare().unwrap();
        let hits = (0..DRAWS).filter(|_| prepared.contains(uniform(rng))).count();
        let n = f64::from(DRAWS);
        let share = f64::from(u32::try_from(hits).unwrap()) / n;
        let found = prepared.volume();
        let sigma = (found * (1.0 - found) / n).sqrt();
        assert!(
            (share - found).abs() < 5.0 * sigma + 3e-4 * found + 1e-9,
            "{what}: {share} {found}"
        );
    }

    fn with_twist(swing: SwingLimit, bounds: TwistBounds) -> Limit {
        let twist = TwistLimit { bounds, offset: TwistOffset::None };
        Limit::SwingTwist(SwingTwistLimit { axes: SwingAxes::Z, swing, twist })
    }

    fn by_swing() -> TwistBounds {
        let at = |x, y, z, min, max| TwistAt { direction: dir(x, y, z), arc: arc(min, max) };
        TwistBounds::BySwing(vec![
            at(0.0, 0.1, 1.0, -40.0, 60.0),
            at(1.0, 0.0, 0.3, -10.0, 20.0),
            at(-0.6, 1.0, 0.2, -100.0, 90.0),
            at(-0.5, -1.0, 0.1, -30.0, 5.0),
            at(0.3, 0.2, -1.0, -60.0, 60.0),
        ])
    }

    #[test]
    fn simple_limits_have_the_volume_that_they_must() {
        assert_eq!(volume(&Limit::Free), 1.0);
        assert_eq!(volume(&Limit::Locked), 0.0);
        assert_eq!(volume(&Limit::Hinge { axis: DVec3::X, arc: Arc::FULL }), 0.0);
        let universal = Limit::Universal { axes: [DVec3::X, DVec3::Y], arcs: [Arc::FULL; 2] };
        assert_eq!(volume(&universal), 0.0);
        assert!((volume(&with_twist(SwingLimit::Free, TwistBounds::Free)) - 1.0).abs() < 1e-12);
        let half = with_twist(SwingLimit::Free, TwistBounds::Arc(arc(-90.0, 90.0)));
        assert!((volume(&half) - 0.5).abs() < 1e-12);
        // A cap of radius r is (1 − cos r)/2 of the sphere.
        let cap = SwingLimit::Ellipse { rx: deg(60.0), ry: deg(60.0) };
        let cap = with_twist(cap, TwistBounds::Arc(arc(10.0, 46.0)));
        assert!((volume(&cap) - 0.25 * 0.1).abs() < 1e-9);
        for order in EulerOrder::ALL {
            let all = Limit::EulerBox(EulerBox { order, arcs: [Arc::FULL; 3] });
            assert!((volume(&all) - 1.0).abs() < 1e-12, "{order}");
        }
        // The paper's box: φ and θ all around, ψ up to r is a cap with free twist.
        let arcs = [Arc::FULL, arc(0.0, 60.0), Arc::FULL];
        let zyz = Limit::EulerBox(EulerBox { order: EulerOrder::ZYZ, arcs });
        assert!((volume(&zyz) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a8_b5_uniform_rotations_hit_every_shape_as_often_as_its_volume_says() {
        let mut rng = Rng::new(21);
        for (name, swing) in zoo() {
            let constant = TwistBounds::Arc(arc(-50.0, 70.0));
            agrees_with_hits(name, &with_twist(swing.clone(), constant), &mut rng);
            agrees_with_hits(name, &with_twist(swing, by_swing()), &mut rng);
        }
        agrees_with_hits("all", &with_twist(SwingLimit::Free, by_swing()), &mut rng);
        for order in EulerOrder::ALL {
            for arcs in [
                [(-30.0, 80.0), (20.0, 70.0), (-50.0, 10.0)],
                // Triples that are also within the box by their other names.
                [(-170.0, 150.0), (-60.0, 100.0), (-120.0, 140.0)],
                [(100.0, 300.0), (-180.0, 180.0), (-180.0, 180.0)],
                [(-180.0, 180.0), (60.0, 200.0), (0.0, 190.0)],
            ] {
                let arcs = arcs.map(|(from, to)| Arc::from_degrees(from, to).unwrap());
                let limit = Limit::EulerBox(EulerBox { order, arcs });
                agrees_with_hits(order.as_str(), &limit, &mut rng);
            }
        }
    }

    #[test]
    fn the_volume_does_not_depend_on_the_frame() {
        let mut rng = Rng::new(22);
        let polygon = wobbly(20, 0.8, 0.35, 4.0);
        let TwistBounds::BySwing(ranges) = by_swing() else { panic!("another field") };
        let limit = |turn: Rotation| {
            let axes = SwingAxes::new(turn * DVec3::Z, Some(turn * DVec3::X)).unwrap();
            let swing = SwingLimit::Polygons(vec![polygon.iter().map(|p| turn * *p).collect()]);
            let at = |a: &TwistAt| TwistAt { direction: turn * a.direction, arc: a.arc };
            let bounds = TwistBounds::BySwing(ranges.iter().map(at).collect());
            let twist = TwistLimit { bounds, offset: TwistOffset::None };
            Limit::SwingTwist(SwingTwistLimit { axes, swing, twist })
        };
        let expected = volume(&limit(Rotation::IDENTITY));
        assert!(expected > 0.01);
        for _ in 0..20 {
            let turn = uniform(&mut rng);
            let found = volume(&limit(turn));
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            // Another rest pose: directions turn, the bone does not.
            let Limit::SwingTwist(mut of) = limit(turn) else { panic!("another limit") };
            of.axes = SwingAxes::Z;
            let found = volume(&Limit::SwingTwist(of));
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn another_pole_and_so_other_points_give_the_same_volume() {
        let mut worst = 0.0_f64;
        for (name, swing) in zoo() {
            let Limit::SwingTwist(limit) = with_twist(swing, by_swing()) else { panic!("no ball") };
            let ball = Ball::new(&limit).unwrap();
            let of = |candidates: &[DVec3]| {
                let pole = pole(ball.region(), candidates.iter().copied());
                mean_width(ball.region(), ball.twist(), pole)
            };
            let expected = of(ball.twist().directions());
            for others in [
                &[DVec3::X, DVec3::Y, DVec3::Z],
                &[dir(1.0, 0.2, 0.1), dir(0.1, -1.0, 0.3), dir(-0.3, -0.5, -1.0)],
            ] {
                let apart = (of(others) - expected).abs() / expected;
                worst = worst.max(apart);
                assert!(apart < 3e-4, "{name}: {apart:e}");
            }
        }
        // Found: 1.1e-4 for a box that is a degree thin, 9e-6 for all that are not thin.
        assert!(worst > 0.0 && worst < 3e-4, "{worst:e}");
    }

    #[test]
    fn the_mean_width_of_a_field_that_is_the_same_everywhere_is_that_width() {
        let at = |x, y, z| TwistAt { direction: dir(x, y, z), arc: arc(-20.0, 50.0) };
        let bounds =
            TwistBounds::BySwing(vec![at(1.0, 0.0, 0.2), at(0.0, 1.0, 0.1), at(0.0, 0.0, -1.0)]);
        for (name, swing) in zoo() {
            let field = volume(&with_twist(swing.clone(), bounds.clone()));
            let constant = volume(&with_twist(swing, TwistBounds::Arc(arc(-20.0, 50.0))));
            assert!((field - constant).abs() < 1e-9, "{name}: {field} {constant}");
        }
    }
}
