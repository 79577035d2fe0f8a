//! How far one limit goes beyond another.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use crate::limits::{Limit, PreparedLimit, SwingTwistLimit, TwistBounds};
use crate::math::{Angle, Arc, Rotation, SwingKind, trig};

/// From one trial to the next.
const STEP: f64 = PI / 18.0;

/// Uphill. Some twenty are needed.
const MOST_STEPS: u32 = 200;

/// Directions all over the sphere, some 16° apart: of those inside the twist is tried.
const DIRECTIONS: u32 = 160;

/// A limit with where its zero is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub(super) limit: &'a Limit,
    pub(super) prepared: &'a PreparedLimit,
    pub(super) center: Rotation,
}

impl Placed<'_> {
    /// By how much it allows what another does not, at most, in radians; zero if nowhere.
    ///
    /// What is farthest from the other lies on its own edge, nearly always: the edge is walked in steps
    /// of 10° with all its corners, a hinge and a universal joint all over, and of a ball joint the ends
    /// of the twist also inside, wherever a range of twist is given and some 16° apart. From the worst of
    /// these it goes uphill, by projecting small turns, until a step of 0.1° leads no farther.
    ///
    /// So it is a lower bound, by an amount that the test
    /// `what_is_beyond_is_what_many_more_trials_find` measures.
    pub(super) fn beyond(&self, other: &Placed<'_>) -> f64 {
        let outside = |m: Rotation| {
            -other.prepared.distance(other.center.inverse() * self.center * m).radians()
        };
        let mut best = (0.0, None);
        for m in self.trials() {
            let by = outside(m);
            if by > best.0 {
                best = (by, Some(m));
            }
        }
        let (mut by, Some(mut at)) = best else { return 0.0 };
        let mut step = 0.5 * STEP;
        for _ in 0..MOST_STEPS {
            if step < 0.1 / 180.0 * PI {
                break;
            }
            let turns = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| [axis * step, -axis * step]);
            let turned = turns.as_flattened().iter().filter_map(|turn| Rotation::exp(*turn));
            let moved = turned.map(|turn| self.prepared.project(turn * at));
            let next = moved.map(|m| (outside(m), m)).max_by(|a, b| a.0.total_cmp(&b.0));
            match next {
                Some((farther, m)) if farther > by => (by, at) = (farther, m),
                _ => step *= 0.5,
            }
        }
        by
    }

    /// Rotations that it allows, those on its edge above all.
    fn trials(&self) -> Vec<Rotation> {
        let about = |axis: DVec3, angle: f64| {
            Rotation::from_axis_angle(axis, Angle::from_radians(angle)).unwrap_or_default()
        };
        match self.limit {
            Limit::Free => spread(256).collect(),
            Limit::Locked => vec![Rotation::IDENTITY],
            Limit::Hinge { axis, arc } => {
                along(*arc, STEP).into_iter().map(|a| about(*axis, a)).collect()
            }
            Limit::Universal { axes: [first, second], arcs } => {
                let [a, b] = arcs.map(|arc| along(arc, 1.5 * STEP));
                let turns = a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b)));
                turns.map(|(a, b)| about(*first, a) * about(*second, b)).collect()
            }
            Limit::EulerBox(of) => {
                let [a, b, c] = of.arcs.map(|arc| along(arc, 3.0 * STEP));
                let mut turns = Vec::new();
                for (a, b) in a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b))) {
                    for c in &c {
                        let angles = [a, b, *c].map(Angle::from_radians);
                        turns.extend(of.order.to_rotation(angles));
                    }
                }
                turns
            }
            Limit::SwingTwist(of) => self.of_ball(of),
        }
    }

    fn of_ball(&self, of: &SwingTwistLimit) -> Vec<Rotation> {
        let Some(swing) = self.prepared.swing() else { return Vec::new() };
        let mut directions = swing.boundary(Angle::from_radians(STEP)).concat();
        directions.push(swing.rest());
        let mut inside: Vec<DVec3> = crate::limits::spread(DIRECTIONS).collect();
        if let TwistBounds::BySwing(given) = &of.twist.bounds {
            inside.extend(given.iter().map(|at| at.direction));
        }
        directions.extend(inside.into_iter().filter(|d| swing.contains(*d)));
        let mut turns = Vec::new();
        for direction in directions {
            let swung = SwingKind::AxisAngle
                .coordinates(&of.axes, direction)
                .and_then(|at| SwingKind::AxisAngle.rotation(&of.axes, at));
            let (Some(swung), Some(arc)) = (swung, swing.twist(direction)) else { continue };
            let twists = match arc.is_full() {
                true => along(arc, 3.0 * STEP),
                false => vec![arc.min().radians(), arc.max().radians()],
            };
            let twisted = twists.into_iter().filter_map(|twist| {
                Rotation::from_axis_angle(of.axes.bone(), Angle::from_radians(twist))
            });
            turns.extend(twisted.map(|twist| swung * twist));
        }
        turns
    }
}

/// Both ends of an arc, and angles between them so far apart at most.
fn along(arc: Arc, step: f64) -> Vec<f64> {
    if arc.is_empty() {
        return Vec::new();
    }
    let width = arc.width().radians().clamp(0.0, TAU);
    let parts = (width / step).ceil().max(1.0);
    let mut angles = Vec::new();
    let mut part = 0.0;
    while part <= parts {
        angles.push(arc.min().radians() + width * (part / parts));
        part += 1.0;
    }
    angles
}

/// Rotations that are spread evenly: K. Shoemake's map of three uniform numbers (Uniform random
/// rotations, 1992), with an additive sequence by the roots of x⁴ = x + 1 in their place.
pub(super) fn spread(count: u32) -> impl Iterator<Item = Rotation> {
    const ROOT: f64 = 1.220_744_084_605_759_5;
    (0..count).filter_map(|i| {
        let part = |power: f64| ((f64::from(i) + 0.5) * power).fract();
        let (u, v, w) = (part(1.0 / ROOT), part(1.0 / ROOT / ROOT), part(1.0 / ROOT / ROOT / ROOT));
        let (s1, c1) = trig::sin_cos(TAU * v);
        let (s2, c2) = trig::sin_cos(TAU * w);
        let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
        Rotation::from_wxyz([b * c2, a * s1, a * c1, b * s2])
    })
}
