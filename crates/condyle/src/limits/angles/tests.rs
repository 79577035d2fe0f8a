//! Every limit by angles against brute force, finite differences and its own definition.

use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt;

use ::arbitrary::{Result, Unstructured};
use glam::{DMat3, DVec3};

use super::super::{EulerBox, HalfSpace, LimitError, LimitErrorKind, TOLERANCE};
use super::{EulerBoxLimit, HingeLimit, LockedLimit, UniversalLimit};
use crate::math::{Angle, Arc, EulerAngles, EulerOrder, Rotation, arbitrary, trig, unit};

/// What all of them can do.
trait Subject: fmt::Debug {
    fn distance(&self, m: Rotation) -> f64;
    fn contains(&self, m: Rotation) -> bool;
    fn project(&self, m: Rotation) -> Rotation;
    fn gradient(&self, m: Rotation) -> DVec3;
    fn jacobian(&self, m: Rotation) -> DMat3;
    fn linearize(&self, m: Rotation) -> Vec<HalfSpace>;
}

macro_rules! subject {
    ($($limit:ty),*) => {$(
        impl Subject for $limit {
            fn distance(&self, m: Rotation) -> f64 { <$limit>::distance(self, m) }
            fn contains(&self, m: Rotation) -> bool { <$limit>::contains(self, m) }
            fn project(&self, m: Rotation) -> Rotation { <$limit>::project(self, m) }
            fn gradient(&self, m: Rotation) -> DVec3 { <$limit>::gradient(self, m) }
            fn jacobian(&self, m: Rotation) -> DMat3 { <$limit>::jacobian(self, m) }
            fn linearize(&self, m: Rotation) -> Vec<HalfSpace> { <$limit>::linearize(self, m) }
        }
    )*};
}
subject!(LockedLimit, HingeLimit, UniversalLimit, EulerBoxLimit);

/// The rotation with these angles.
type Make = Box<dyn Fn(&[f64]) -> Rotation>;

/// A limit, and the rotation of a list of angles that it is defined by.
struct Case {
    limit: Box<dyn Subject>,
    arcs: Vec<Arc>,
    make: Make,
    name: String,
}

fn about(axis: DVec3, angle: f64) -> Rotation {
    Rotation::from_axis_angle(axis, Angle::from_radians(angle)).unwrap()
}

fn hinge(axis: DVec3, arc: Arc) -> Case {
    Case {
        limit: Box::new(HingeLimit::new(axis, arc).unwrap()),
        arcs: vec![arc],
        make: Box::new(move |a| about(axis, a[0])),
        name: format!("hinge {axis} {arc:?}"),
    }
}

fn universal(axes: [DVec3; 2], arcs: [Arc; 2]) -> Case {
    Case {
        limit: Box::new(UniversalLimit::new(axes, arcs).unwrap()),
        arcs: arcs.to_vec(),
        make: Box::new(move |a| about(axes[0], a[0]) * about(axes[1], a[1])),
        name: format!("universal {axes:?} {arcs:?}"),
    }
}

fn euler(order: EulerOrder, arcs: [Arc; 3]) -> Case {
    Case {
        limit: Box::new(EulerBoxLimit::new(EulerBox { order, arcs }).unwrap()),
        arcs: arcs.to_vec(),
        make: Box::new(move |a| {
            order.to_rotation([a[0], a[1], a[2]].map(Angle::from_radians)).unwrap()
        }),
        name: format!("{order} {arcs:?}"),
    }
}

/// Numbers in a row that look random: `SplitMix64` (G. Steele et al. 2014).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [−1, 1).
    fn signed(&mut self) -> f64 {
        f64::from(u32::try_from(self.bits() >> 32).unwrap()) / 2_147_483_648.0 - 1.0
    }

    fn pick(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// Evenly over all rotations.
    fn rotation(&mut self) -> Rotation {
        loop {
            let q = [self.signed(), self.signed(), self.signed(), self.signed()];
            let square: f64 = q.iter().map(|x| x * x).sum();
            if (0.01..1.0).contains(&square) {
                return Rotation::from_wxyz(q).unwrap();
            }
        }
    }

    fn direction(&mut self) -> DVec3 {
        loop {
            let v = DVec3::new(self.signed(), self.signed(), self.signed());
            if (0.01..1.0).contains(&v.length_squared()) {
                return unit(v).unwrap();
            }
        }
    }

    /// Wide, thin, a point, everything, across ±180°, or between round numbers.
    fn arc(&mut self) -> Arc {
        let start = self.signed() * 180.0;
        let (min, max) = match self.pick(8) {
            0 => return Arc::FULL,
            1 => (start, start),
            2 => (start, start + 1e-3),
            3 => (start, start + 300.0 + 50.0 * self.signed()),
            4 => (170.0 + start / 20.0, 200.0 + start / 20.0),
            5 => {
                let quarters = 90.0 * f64::from(u8::try_from(self.pick(4)).unwrap());
                (-quarters, 90.0 - quarters + 90.0 * f64::from(u8::try_from(self.pick(3)).unwrap()))
            }
            _ => (start, start + 90.0 * (1.0 + self.signed())),
        };
        Arc::from_degrees(min, max).unwrap()
    }

    fn case(&mut self) -> Case {
        match self.pick(8) {
            0 => hinge(self.direction(), self.arc()),
            1 | 2 => universal([self.direction(), self.direction()], [self.arc(), self.arc()]),
            _ => {
                let order = EulerOrder::ALL[usize::try_from(self.pick(12)).unwrap()];
                euler(order, [self.arc(), self.arc(), self.arc()])
            }
        }
    }
}

impl Case {
    /// The distance to the nearest allowed rotation by a grid over the angles and a search around
    /// the best points of it, in all directions and with ever smaller steps.
    fn brute(&self, m: Rotation) -> f64 {
        let n = self.arcs.len();
        let spans: Vec<(f64, f64)> =
            self.arcs.iter().map(|a| (a.min().radians(), a.width().radians())).collect();
        let per_arc: usize = [96, 40, 16][n - 1];
        let mut points = Vec::new();
        for index in 0..per_arc.pow(u32::try_from(n).unwrap()) {
            let mut rest = index;
            let mut point = [0.0; 3];
            for (to, &(min, width)) in point.iter_mut().zip(&spans) {
                let step = rest % per_arc;
                rest /= per_arc;
                let part = f64::from(u32::try_from(step).unwrap())
                    / f64::from(u32::try_from(per_arc - 1).unwrap());
                *to = min + width * part;
            }
            points.push((m.distance((self.make)(&point[..n])).radians(), point));
        }
        points.select_nth_unstable_by(6, |a, b| a.0.total_cmp(&b.0));
        let mut best = f64::INFINITY;
        for (distance, point) in points.into_iter().take(6) {
            best = best.min(self.refine(m, distance, point, &spans));
        }
        best
    }

    fn refine(&self, m: Rotation, start: f64, mut at: [f64; 3], spans: &[(f64, f64)]) -> f64 {
        let n = spans.len();
        let mut here = start;
        let mut step = 0.5;
        while step > 1e-12 {
            let mut better = false;
            for direction in 0..3_usize.pow(u32::try_from(n).unwrap()) {
                let mut rest = direction;
                let mut trial = at;
                for (i, &(min, width)) in spans.iter().enumerate() {
                    let sign = [-1.0, 0.0, 1.0][rest % 3];
                    rest /= 3;
                    let moved = at[i] + sign * step;
                    // Across the whole circle there are no ends to stop at.
                    trial[i] =
                        if self.arcs[i].is_full() { moved } else { moved.clamp(min, min + width) };
                }
                let distance = m.distance((self.make)(&trial[..n])).radians();
                if distance < here {
                    (here, at, better) = (distance, trial, true);
                }
            }
            if !better {
                step *= 0.5;
            }
        }
        here
    }
}

fn bits(m: Rotation) -> [u64; 4] {
    m.to_wxyz().map(f64::to_bits)
}

/// The bar of the issue is 1e-6 rad; ours is that of directions.
#[test]
fn a8_the_nearest_rotation_is_the_one_brute_force_finds() {
    let mut random = Random(1);
    let (mut worst, mut inside) = (f64::NEG_INFINITY, 0);
    for i in 0..2000 {
        let case = random.case();
        let m = random.rotation();
        let near = case.limit.project(m);
        let found = m.distance(near).radians();
        let brute = case.brute(m);
        worst = worst.max(found - brute);
        assert!(found <= brute + 1e-9, "{i} {}: {found} {brute} {m:?}", case.name);
        // And what is found is allowed: brute force finds it.
        let off = case.brute(near);
        assert!(off < 1e-8, "{i} {}: off by {off:e}", case.name);
        if bits(near) == bits(m) {
            inside += 1;
            assert!(case.limit.contains(m) && brute < 1e-9, "{}: {brute:e}", case.name);
        } else {
            let distance = case.limit.distance(m);
            assert!((distance + found).abs() < 1e-14, "{}: {distance} {found}", case.name);
        }
    }
    assert!(inside > 50, "{inside}");
    println!("worst excess {worst:e} rad, {inside} of 2000 inside");
}

/// An arc, often between multiples of 90° or within some ulps of them.
fn any_arc(u: &mut Unstructured<'_>) -> Result<Arc> {
    if u.ratio(1, 6)? {
        return Ok(Arc::FULL);
    }
    let (min, other) = (arbitrary::angle(u)?, arbitrary::angle(u)?);
    let width = if u.ratio(1, 6)? { Angle::ZERO } else { other.abs() };
    Arc::new(min, min + width).ok_or(::arbitrary::Error::IncorrectFormat)
}

fn any_case(u: &mut Unstructured<'_>) -> Result<Case> {
    Ok(match u.int_in_range(0..=3)? {
        0 => hinge(arbitrary::direction(u)?, any_arc(u)?),
        1 => {
            let first = arbitrary::direction(u)?;
            let second = match u.int_in_range(0..=2)? {
                // Sines down to 1e-6.
                0 => {
                    let tilt = *u.choose(&[1.1e-6, 1e-5, 1e-3])?;
                    let side = if u.arbitrary()? { 1.0 } else { -1.0 };
                    first * side + first.any_orthonormal_vector() * tilt
                }
                _ => arbitrary::direction(u)?,
            };
            if first.cross(second).length() < 1.01e-6 {
                return Err(::arbitrary::Error::IncorrectFormat);
            }
            universal([first, second], [any_arc(u)?, any_arc(u)?])
        }
        _ => euler(*u.choose(&EulerOrder::ALL)?, [any_arc(u)?, any_arc(u)?, any_arc(u)?]),
    })
}

/// A rotation, often one of the limit's own, with angles at the ends of arcs or outside, and often a
/// little off.
fn any_rotation(u: &mut Unstructured<'_>, case: &Case) -> Result<Rotation> {
    if u.ratio(1, 3)? {
        return arbitrary::rotation(u);
    }
    let mut angles = Vec::new();
    for arc in &case.arcs {
        angles.push(match u.int_in_range(0..=3)? {
            0 => arc.min().radians(),
            1 => arc.max().radians(),
            2 => arc.center().radians() + *u.choose(&[0.0, PI])?,
            _ => arbitrary::angle(u)?.radians(),
        });
    }
    let m = (case.make)(&angles);
    let nudge = arbitrary::direction(u)? * *u.choose(&[0.0, 1e-13, 1e-11, 1e-9, 1e-6, 1e-3])?;
    Ok(Rotation::exp(nudge).unwrap() * m)
}

fn allowed_angles(u: &mut Unstructured<'_>, case: &Case) -> Result<Vec<f64>> {
    let mut angles = Vec::new();
    for arc in &case.arcs {
        let part = f64::from(u.int_in_range(0..=16)?) / 16.0;
        angles.push(arc.min().radians() + part * arc.width().radians());
    }
    Ok(angles)
}

#[test]
fn prop_projections_land_inside_and_stay_and_what_is_inside_is_left_alone() {
    arbtest::arbtest(|u| {
        let case = any_case(u)?;
        let m = any_rotation(u, &case)?;
        let limit = &case.limit;
        let distance = limit.distance(m);
        assert!(distance.is_finite() && distance.abs() <= PI, "{}: {distance}", case.name);
        assert_eq!(limit.contains(m), distance >= -TOLERANCE, "{} {m:?}: {distance:e}", case.name);
        let near = limit.project(m);
        if distance >= -TOLERANCE {
            assert_eq!(bits(near), bits(m), "{}", case.name);
        } else {
            let moved = m.distance(near).radians();
            assert!((moved + distance).abs() < 2e-15, "{}: {moved} {distance}", case.name);
        }
        let after = limit.distance(near);
        assert!(after >= -TOLERANCE, "{} {m:?}: {after:e}", case.name);
        assert_eq!(bits(limit.project(near)), bits(near), "{}", case.name);
        assert!(m.quat().dot(near.quat()) >= -1e-15);

        let gradient = limit.gradient(m);
        assert!(gradient.is_finite() && gradient.length() < 1.0 + 1e-12, "{}", case.name);
        assert!(limit.jacobian(m).is_finite(), "{}", case.name);
        for half_space in limit.linearize(m) {
            assert!(half_space.normal.is_finite() && half_space.margin.radians().is_finite());
        }
        // q and −q are one rotation.
        let minus = Rotation::new(-m.quat()).unwrap();
        assert!((limit.distance(minus) - distance).abs() < 1e-12, "{}", case.name);
        Ok(())
    });
}

#[test]
fn prop_rotations_made_of_allowed_angles_are_inside() {
    arbtest::arbtest(|u| {
        let case = any_case(u)?;
        let angles = allowed_angles(u, &case)?;
        let m = (case.make)(&angles);
        assert!(case.limit.contains(m), "{} {angles:?}: {:e}", case.name, case.limit.distance(m));
        Ok(())
    });
}

#[test]
fn prop_outside_no_distance_changes_faster_than_the_rotation() {
    arbtest::arbtest(|u| {
        let case = any_case(u)?;
        let (a, b) = (any_rotation(u, &case)?, any_rotation(u, &case)?);
        let (at_a, at_b) = (case.limit.distance(a), case.limit.distance(b));
        if at_a < 0.0 && at_b < 0.0 {
            let apart = a.distance(b).radians();
            // Within the tolerance of its orbit, a hinge measures along it alone.
            let slack = 2.0 * TOLERANCE;
            assert!((at_a - at_b).abs() <= apart + slack, "{}: {at_a} {at_b} {apart}", case.name);
        }
        Ok(())
    });
}

/// Brute force for the hard cases: no allowed rotation is nearer than the one that is found.
#[test]
fn prop_no_allowed_rotation_is_nearer() {
    arbtest::arbtest(|u| {
        let case = any_case(u)?;
        let angles = allowed_angles(u, &case)?;
        let allowed = (case.make)(&angles);
        let m = if u.arbitrary()? {
            let scale = *u.choose(&[1e-11, 1e-9, 1e-7, 1e-5, 1e-3])?;
            Rotation::exp(arbitrary::direction(u)? * scale).unwrap() * allowed
        } else {
            any_rotation(u, &case)?
        };
        let (distance, apart) = (case.limit.distance(m), m.distance(allowed).radians());
        // An arc 5e-15 wide, half a turn away, was 4.4e-15 off.
        assert!(-distance <= apart + 1e-14, "{} {angles:?}: {distance:e} {apart:e}", case.name);
        Ok(())
    });
}

/// Both ways: nothing within the distance is outside, and something just beyond it is.
#[test]
fn inside_an_euler_box_the_distance_is_to_what_is_outside() {
    let mut random = Random(2);
    let (mut inside, mut covered, mut edges) = (0, 0, 0);
    while inside < 1500 {
        let order = EulerOrder::ALL[usize::try_from(random.pick(12)).unwrap()];
        let mut arcs = [random.arc(), random.arc(), random.arc()];
        if random.pick(2) == 0 {
            // Wide enough for the second triple to be inside too.
            for arc in &mut arcs {
                let start = 180.0 * random.signed();
                *arc = Arc::from_degrees(start, start + 270.0 + 90.0 * random.signed()).unwrap();
            }
        }
        let limit = EulerBoxLimit::new(EulerBox { order, arcs }).unwrap();
        let m = random.rotation();
        let distance = limit.distance(m);
        if distance <= 0.0 {
            continue;
        }
        inside += 1;
        for i in 0..200 {
            let reach = distance * if i % 2 == 0 { 0.999_999 } else { random.signed().abs() };
            let other = Rotation::exp(random.direction() * reach).unwrap() * m;
            assert!(limit.contains(other), "{order} {arcs:?} {m:?}: {distance}");
        }
        let faces = super::euler_box::nearest(limit.faces(), m.quat())
            .map(|(face, foot)| m.distance(face.turns.rotation(&foot)).radians());
        covered += usize::from(faces.is_some_and(|face| face < distance - 1e-9));
        let Some((wall, foot)) = super::euler_box::nearest(limit.walls(), m.quat()) else {
            continue;
        };
        let through = wall.turns.rotation(&foot) * m.inverse();
        let direction = through.log() / distance;
        let step = |v: DVec3| Rotation::exp(v).unwrap() * m;
        if foot.is_free() {
            // Straight through the wall.
            let beyond = step(direction * (distance + 1e-7));
            assert!(!limit.contains(beyond), "{order} {arcs:?} {m:?}: {distance}");
        } else {
            // At an edge that points inwards, or at a lock, what is outside may be a narrow wedge.
            edges += 1;
            let escapes = (0..100_000).any(|_| {
                let side = random.direction() * (0.03 * random.signed());
                let beyond = direction * (distance + 0.01 * random.signed().abs()) + side;
                !limit.contains(step(beyond))
            });
            assert!(escapes, "{order} {arcs:?} {m:?}: {distance}");
        }
    }
    assert!(covered > 20, "{covered}");
    println!(
        "{inside} inside, {covered} with a face nearer than any wall, {edges} nearest to an edge"
    );
}

/// The derivative of a rotation-valued function, by central differences.
fn differences(f: impl Fn(Rotation) -> Rotation, m: Rotation, step: f64) -> DMat3 {
    let at = f(m);
    let column = |axis: DVec3| {
        let ahead = f(Rotation::exp(axis * step).unwrap() * m) * at.inverse();
        let behind = f(Rotation::exp(axis * -step).unwrap() * m) * at.inverse();
        (ahead.log() - behind.log()) / (2.0 * step)
    };
    DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
}

fn largest(m: DMat3) -> f64 {
    m.to_cols_array().iter().fold(0.0, |most: f64, e| most.max(e.abs()))
}

/// Kinks are found by two step sizes that disagree.
#[test]
fn gradients_and_jacobians_agree_with_finite_differences() {
    let mut random = Random(3);
    let (mut checked, mut skipped, mut inside) = (0, 0, 0);
    let (mut worst_gradient, mut worst_jacobian) = (0.0_f64, 0.0_f64);
    for _ in 0..6000 {
        let case = random.case();
        let m = random.rotation();
        let limit = &case.limit;
        let by_steps = |step: f64| {
            let difference = |axis: DVec3| {
                let ahead = limit.distance(Rotation::exp(axis * step).unwrap() * m);
                let behind = limit.distance(Rotation::exp(axis * -step).unwrap() * m);
                (ahead - behind) / (2.0 * step)
            };
            let gradient =
                DVec3::new(difference(DVec3::X), difference(DVec3::Y), difference(DVec3::Z));
            (gradient, differences(|m| limit.project(m), m, step))
        };
        let (gradient, jacobian) = by_steps(1e-5);
        let (finer_gradient, finer_jacobian) = by_steps(5e-6);
        let scale = 1.0 + largest(jacobian);
        if (gradient - finer_gradient).length() > 1e-7
            || largest(jacobian - finer_jacobian) > 1e-7 * scale
        {
            skipped += 1;
            continue;
        }
        checked += 1;
        inside += usize::from(limit.contains(m));
        let gradient_error = (limit.gradient(m) - finer_gradient).length();
        let jacobian_error = largest(limit.jacobian(m) - finer_jacobian) / scale;
        assert!(gradient_error < 1e-6, "{} {m:?}: {gradient_error:e}", case.name);
        assert!(jacobian_error < 1e-6, "{} {m:?}: {jacobian_error:e}", case.name);
        worst_gradient = worst_gradient.max(gradient_error);
        worst_jacobian = worst_jacobian.max(jacobian_error);
    }
    assert!(checked > 5000 && inside > 300, "{checked} {inside}");
    println!(
        "{checked} checked ({inside} inside), {skipped} at kinks; worst gradient \
         {worst_gradient:e}, jacobian {worst_jacobian:e}"
    );
}

/// On the surface of a joint with fewer than three freedoms, where the projection is onto it.
#[test]
fn on_the_surface_the_jacobian_is_the_projection_onto_it_and_the_gradient_is_along_it() {
    let mut random = Random(4);
    let (mut checked, mut boxes) = (0, 0);
    for _ in 0..1000 {
        let kind = random.pick(3);
        let case = match kind {
            0 => hinge(random.direction(), random.arc()),
            1 => universal([random.direction(), random.direction()], [random.arc(), random.arc()]),
            // One angle of three is fixed.
            _ => {
                let order = EulerOrder::ALL[usize::try_from(random.pick(12)).unwrap()];
                euler(order, [random.arc(), random.arc(), random.arc()])
            }
        };
        let thin = case.arcs.iter().filter(|arc| arc.width().radians() < 0.01).count();
        let point = case.arcs.iter().filter(|arc| arc.width() == Angle::ZERO).count();
        if thin != usize::from(kind == 2) || thin != point {
            continue;
        }
        let angles: Vec<f64> = case
            .arcs
            .iter()
            .map(|arc| arc.min().radians() + arc.width().radians() * (0.5 + 0.4 * random.signed()))
            .collect();
        let m = (case.make)(&angles);
        let limit = &case.limit;
        let jacobian = limit.jacobian(m);
        let expected = differences(|m| limit.project(m), m, 1e-6);
        assert!(largest(jacobian - expected) < 1e-6, "{}", case.name);
        // Along the surface the distance changes as the gradient says.
        let gradient = limit.gradient(m);
        assert!((jacobian * gradient - gradient).length() < 1e-9, "{}", case.name);
        if kind == 2 {
            boxes += 1;
            assert_eq!(gradient, DVec3::ZERO);
            continue;
        }
        let step = 1e-6;
        for i in 0..angles.len() {
            let moved = |by: f64| {
                let mut angles = angles.clone();
                angles[i] += by;
                (case.make)(&angles)
            };
            let along = (moved(step) * moved(-step).inverse()).log() / (2.0 * step);
            let [ahead, behind] = [step, -step].map(|by| limit.distance(moved(by)));
            let difference = (ahead - behind) / (2.0 * step);
            let coarse = (limit.distance(moved(3.0 * step)) - limit.distance(moved(-3.0 * step)))
                / (6.0 * step);
            if (difference - coarse).abs() < 1e-7 {
                checked += 1;
                assert!((gradient.dot(along) - difference).abs() < 1e-6, "{}", case.name);
            }
        }
    }
    assert!(checked > 300 && boxes > 50, "{checked} {boxes}");
}

/// A17: near a rotation, the half-spaces say which others are inside.
#[test]
fn a17_half_spaces_agree_with_the_box_to_first_order() {
    let mut random = Random(5);
    let (mut inside, mut outside) = (0, 0);
    for _ in 0..3000 {
        let order = EulerOrder::ALL[usize::try_from(random.pick(12)).unwrap()];
        // Narrow enough for one triple only, and away from the locks.
        let lock = if order.is_proper() { 90.0 } else { 0.0 };
        let mut arc = |middle: f64| {
            let width = 50.0 + 20.0 * random.signed();
            Arc::from_degrees(middle - width, middle + width).unwrap()
        };
        let arcs = [arc(170.0), arc(lock), arc(-20.0)];
        let limit = EulerBoxLimit::new(EulerBox { order, arcs }).unwrap();
        // At a face, an edge or a corner.
        let angles = arcs.map(|arc| match random.pick(3) {
            0 => arc.min(),
            1 => arc.max(),
            _ => arc.center(),
        });
        let m = order.to_rotation(angles).unwrap();
        let half_spaces = limit.linearize(m);
        assert_eq!(half_spaces.len(), 6);
        let v = random.direction() * 1e-4;
        let least = half_spaces
            .iter()
            .map(|h| h.margin.radians() + h.normal.dot(v))
            .fold(f64::INFINITY, f64::min);
        if least.abs() < 1e-6 {
            continue;
        }
        let holds = limit.contains(Rotation::exp(v).unwrap() * m);
        assert_eq!(holds, least > 0.0, "{order} {arcs:?} {angles:?}: {least:e}");
        if holds {
            inside += 1;
        } else {
            outside += 1;
        }
    }
    assert!(inside > 300 && outside > 300, "{inside} {outside}");
}

/// Newton's method: the step that satisfies the linear equalities leaves an error of second order.
#[test]
fn a17_equalities_lead_back_to_the_surface() {
    let mut random = Random(6);
    for i in 0..500 {
        let case = match i % 3 {
            0 => hinge(random.direction(), Arc::FULL),
            1 => universal([random.direction(), random.direction()], [Arc::FULL; 2]),
            _ => Case {
                limit: Box::new(LockedLimit),
                arcs: vec![],
                make: Box::new(|_| Rotation::IDENTITY),
                name: "locked".to_owned(),
            },
        };
        let angles: Vec<f64> = case.arcs.iter().map(|_| PI * random.signed()).collect();
        let off = Rotation::exp(random.direction() * 1e-4).unwrap();
        let m = off * (case.make)(&angles);
        let half_spaces = case.limit.linearize(m);
        assert_eq!(half_spaces.len(), [4, 2, 6][i % 3]);
        let mut v = DVec3::ZERO;
        // The normals are perpendicular to each other and have length one.
        for pair in half_spaces.chunks(2) {
            assert_eq!(pair[0].normal, -pair[1].normal);
            assert!((pair[0].normal.length() - 1.0).abs() < 1e-12);
            v -= pair[0].normal * pair[0].margin.radians();
        }
        let after = case.limit.distance(Rotation::exp(v).unwrap() * m).min(0.0);
        assert!(after > -1e-7, "{}: {after:e}", case.name);
    }
}

#[test]
fn on_a_wall_the_gradient_is_the_way_in() {
    let mut random = Random(12);
    let mut checked = 0;
    for _ in 0..2000 {
        let order = EulerOrder::ALL[usize::try_from(random.pick(12)).unwrap()];
        let arcs = [random.arc(), random.arc(), random.arc()];
        let limit = EulerBoxLimit::new(EulerBox { order, arcs }).unwrap();
        let m = random.rotation();
        let near = limit.project(m);
        let gradient = limit.gradient(near);
        if limit.contains(m) || gradient == DVec3::ZERO {
            continue;
        }
        checked += 1;
        let back = (near * m.inverse()).log();
        let error = (gradient - unit(back).unwrap()).length();
        assert!(error < 1e-12 / back.length(), "{order} {arcs:?} {m:?}: {error:e}");
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn a5_a_locked_joint_allows_the_identity_alone() {
    let limit = LockedLimit;
    assert!(limit.contains(Rotation::IDENTITY));
    let m = Rotation::about_y(Angle::from_degrees(-30.0));
    assert!((limit.distance(m) + 30.0_f64.to_radians()).abs() < 1e-15);
    assert_eq!(bits(limit.project(m)), bits(Rotation::IDENTITY));
    assert!((limit.gradient(m) - DVec3::Y).length() < 1e-15);
    assert_eq!(limit.jacobian(m), DMat3::ZERO);
    assert_eq!(limit.gradient(Rotation::IDENTITY), DVec3::ZERO);
    assert_eq!(limit.linearize(Rotation::IDENTITY).len(), 6);
}

#[test]
fn a_hinge_stops_at_the_nearer_end_and_in_the_middle_of_the_gap_at_the_first() {
    let case = hinge(DVec3::X, Arc::from_degrees(-10.0, 140.0).unwrap());
    let turn = |degrees: f64| Rotation::about_x(Angle::from_degrees(degrees));
    let check = |degrees: f64, distance: f64, to: f64| {
        let got = case.limit.distance(turn(degrees)).to_degrees();
        assert!((got - distance).abs() < 1e-12, "{degrees}: {got}");
        let off = case.limit.project(turn(degrees)).distance(turn(to));
        assert!(off.degrees() < 1e-12, "{degrees}: {off:?}");
    };
    check(30.0, 40.0, 30.0);
    check(100.0, 40.0, 100.0);
    check(-10.0, 0.0, -10.0);
    check(150.0, -10.0, 140.0);
    check(-30.0, -20.0, -10.0);
    check(180.0, -40.0, 140.0);
    check(-115.0, -105.0, -10.0);
    // All angles are equally near to a half-turn across the axis.
    let across = Rotation::about_y(Angle::HALF_TURN);
    assert!((case.limit.distance(across) + PI).abs() < 1e-15);
    assert!(case.limit.project(across).distance(Rotation::IDENTITY).radians() < 1e-15);
    assert_eq!(case.limit.gradient(across), DVec3::ZERO);
}

#[test]
fn a_full_hinge_is_inside_everywhere_on_its_orbit_and_outside_off_it() {
    let case = hinge(DVec3::Z, Arc::FULL);
    assert_eq!(case.limit.distance(Rotation::about_z(Angle::from_degrees(77.0))), PI);
    let off = Rotation::about_x(Angle::from_degrees(5.0));
    assert!((case.limit.distance(off).to_degrees() + 5.0).abs() < 1e-12);
}

/// A8-trap: ZYZ has its lock exactly at the identity.
#[test]
fn a8_nothing_breaks_at_the_identity_of_zyz() {
    let arc = |min: f64, max: f64| Arc::from_degrees(min, max).unwrap();
    // Every tilt up to 30°: the lock is in the middle of it.
    let limit = |arcs| EulerBoxLimit::new(EulerBox { order: EulerOrder::ZYZ, arcs }).unwrap();
    let tilts = limit([Arc::FULL, arc(0.0, 30.0), Arc::FULL]);
    let d = tilts.distance(Rotation::IDENTITY);
    assert!((d.to_degrees() - 30.0).abs() < 1e-12, "{d}");
    // The same by a signed tilt and half of the directions: the faces of the first are no walls.
    let halves = limit([arc(0.0, 180.0), arc(-30.0, 30.0), Arc::FULL]);
    let mut random = Random(7);
    for _ in 0..500 {
        let m = random.rotation();
        assert!((tilts.distance(m) - halves.distance(m)).abs() < 1e-14, "{m:?}");
    }
    // A wedge: the identity is its edge, for every split of the turn about z.
    let wedge = limit([arc(-10.0, 10.0), arc(0.0, 30.0), arc(-10.0, 10.0)]);
    for degrees in [-20.0, -13.0, 0.0, 7.0, 20.0] {
        let m = Rotation::about_z(Angle::from_degrees(degrees));
        assert!(wedge.contains(m) && wedge.distance(m).abs() < 1e-15, "{degrees}");
        assert!(wedge.gradient(m).is_finite() && wedge.jacobian(m).is_finite());
        assert!(wedge.linearize(m).iter().all(|h| h.normal.is_finite()));
    }
    let beyond = Rotation::about_z(Angle::from_degrees(21.0));
    assert!((wedge.distance(beyond).to_degrees() + 1.0).abs() < 1e-12);
    // Only the lock: all turns about z, no inside.
    let only = limit([Arc::FULL, arc(0.0, 0.0), Arc::FULL]);
    let z = Rotation::about_z(Angle::from_degrees(50.0));
    assert!(only.contains(z) && only.distance(z) < 1e-15);
    let tilted = Rotation::about_x(Angle::from_degrees(3.0)) * z;
    assert!((only.distance(tilted).to_degrees() + 3.0).abs() < 1e-12);
}

/// A box of three full arcs, and one whose middle arc is half of the circle, hold everything.
#[test]
fn boxes_without_walls_hold_every_rotation() {
    for order in EulerOrder::ALL {
        let start = if order.is_proper() { 0.0 } else { -90.0 };
        let half = Arc::from_degrees(start, start + 180.0).unwrap();
        for arcs in [[Arc::FULL; 3], [Arc::FULL, half, Arc::FULL]] {
            let limit = EulerBoxLimit::new(EulerBox { order, arcs }).unwrap();
            let mut random = Random(8);
            for m in (0..50).map(|_| random.rotation()).chain([Rotation::IDENTITY]) {
                assert_eq!(limit.distance(m), PI);
                assert_eq!(limit.gradient(m), DVec3::ZERO);
            }
        }
    }
}

/// The angles of a projection off the locks, by the other route.
#[test]
fn a8_projected_angles_are_in_their_arcs_by_euler_angles() {
    let mut random = Random(9);
    for _ in 0..3000 {
        let order = EulerOrder::ALL[usize::try_from(random.pick(12)).unwrap()];
        let arcs = [random.arc(), random.arc(), random.arc()];
        let limit = EulerBoxLimit::new(EulerBox { order, arcs }).unwrap();
        let near = limit.project(random.rotation());
        let euler = EulerAngles::from_rotation(order, near);
        let [a, b, c] = euler.angles.map(Angle::radians);
        let lock = if order.is_proper() { 0.0 } else { FRAC_PI_2 };
        let conditioning = trig::sin(b - lock).abs();
        if conditioning < 1e-6 {
            continue;
        }
        let tolerance = 1e-14 / conditioning;
        let fits = |angles: [f64; 3]| {
            arcs.iter()
                .zip(angles)
                .all(|(arc, x)| arc.distance(Angle::from_radians(x)).radians() > -tolerance)
        };
        let second = [a + PI, 2.0 * lock - b, c + PI];
        assert!(fits([a, b, c]) || fits(second), "{order} {arcs:?} {euler:?}");
    }
}

#[test]
fn bad_axes_and_empty_arcs_are_refused_by_name() {
    #[track_caller]
    fn check<T: fmt::Debug>(
        made: std::result::Result<T, LimitError>,
        path: &str,
        kind: &LimitErrorKind,
    ) {
        let error = made.unwrap_err();
        assert_eq!((error.path(), error.kind()), (path, kind));
    }
    use LimitErrorKind::{EmptyArc, NoDirection, ParallelAxes};
    let (full, empty) = (Arc::FULL, Arc::EMPTY);
    check(HingeLimit::new(DVec3::ZERO, full), "axis", &NoDirection);
    check(HingeLimit::new(DVec3::NAN, full), "axis", &NoDirection);
    check(HingeLimit::new(DVec3::X, empty), "arc", &EmptyArc);
    check(UniversalLimit::new([DVec3::X, DVec3::ZERO], [full; 2]), "axes[1]", &NoDirection);
    check(UniversalLimit::new([DVec3::X, DVec3::Y], [full, empty]), "arcs[1]", &EmptyArc);
    for near in [DVec3::X, DVec3::NEG_X * 7.0, DVec3::new(1.0, 0.9e-6, 0.0)] {
        check(UniversalLimit::new([DVec3::X, near], [full; 2]), "axes", &ParallelAxes);
    }
    assert!(UniversalLimit::new([DVec3::X, DVec3::new(1.0, 1.1e-6, 0.0)], [full; 2]).is_ok());
    let arcs = [full, full, empty];
    check(EulerBoxLimit::new(EulerBox { order: EulerOrder::XYZ, arcs }), "arcs[2]", &EmptyArc);
}

#[test]
fn nothing_is_allocated_but_half_spaces() {
    let mut random = Random(10);
    for _ in 0..200 {
        let case = random.case();
        let m = random.rotation();
        let info = allocation_counter::measure(|| {
            let limit = &case.limit;
            std::hint::black_box((limit.distance(m), limit.contains(m), limit.project(m)));
            std::hint::black_box((limit.gradient(m), limit.jacobian(m)));
        });
        assert_eq!(info.count_total, 0, "{}", case.name);
    }
}
