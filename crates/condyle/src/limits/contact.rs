//! Where a limit stops a rotation.

use glam::DVec3;

use super::PreparedLimit;
use crate::math::Rotation;

/// A part of a limit that a rotation was beyond.
///
/// # Convention
///
/// As [`HalfSpace`](super::HalfSpace), turned around: near the rotation that is allowed, the limit
/// forbids `exp(v) · m` where `normal · v > 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Contact {
    /// The way out, of length one.
    pub(crate) normal: DVec3,
    /// How far the rotation was beyond, along the normal, in radians.
    pub(crate) beyond: f64,
}

/// [`PreparedLimit::project`], and what was in the way: one part or two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) m: Rotation,
    pub(crate) contacts: [Option<Contact>; 2],
}

impl Held {
    pub(crate) const fn free(m: Rotation) -> Self {
        Self { m, contacts: [None; 2] }
    }
}

impl PreparedLimit {
    /// The rotation that [`project`](Self::project) gives, with the parts of the limit that it is on the
    /// boundary of. Swing and twist are parts of their own. A box of Euler angles is one part, whose
    /// normal is the way back.
    pub(crate) fn hold(&self, m: Rotation) -> Held {
        if let Some(ball) = self.ball() {
            return ball.hold(m);
        }
        let held = self.project(m);
        if held.quat() == m.quat() {
            return Held::free(m);
        }
        let back = (m * held.inverse()).log();
        let beyond = back.length();
        let contact = (beyond > 0.0).then(|| Contact { normal: back / beyond, beyond });
        Held { m: held, contacts: [contact, None] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{EulerBox, Limit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit, zoo};
    use crate::math::EulerOrder;
    use crate::synth::Rng;

    /// Each contact is where a small step out leaves the limit, by as much, and one along it does not
    /// (B10, A17); and what is held is what is projected.
    #[test]
    fn contacts_are_what_a_limit_stops_at() {
        let mut rng = Rng::new(7);
        let (mut contacts, mut corners) = (0, 0);
        let twist = |bounds| TwistLimit { bounds, ..TwistLimit::default() };
        let ball = |(name, swing)| {
            let twist = twist(TwistBounds::Arc(zoo::arc(-40.0, 70.0)));
            (
                name,
                Limit::SwingTwist(SwingTwistLimit { swing, twist, ..SwingTwistLimit::default() }),
            )
        };
        let nodes = (0..8).map(|i| TwistAt {
            direction: rng.direction(),
            arc: zoo::arc(-20.0 - 5.0 * f64::from(i), 30.0 + 10.0 * f64::from(i)),
        });
        let by_swing = twist(TwistBounds::BySwing(nodes.collect()));
        let order = EulerOrder::ZYZ;
        let arcs = [zoo::arc(-40.0, 90.0), zoo::arc(20.0, 120.0), zoo::arc(-100.0, -20.0)];
        let others = [
            (
                "by swing",
                Limit::SwingTwist(SwingTwistLimit { twist: by_swing, ..Default::default() }),
            ),
            ("box", Limit::EulerBox(EulerBox { order, arcs })),
            ("hinge", Limit::Hinge { axis: DVec3::Y, arc: zoo::arc(-10.0, 100.0) }),
        ];
        for (name, limit) in zoo::zoo().into_iter().map(ball).chain(others) {
            let Ok(limit) = limit.prepare() else { continue };
            for _ in 0..60 {
                let m = rng.rotation();
                let held = limit.hold(m);
                assert_eq!(held.m.quat(), limit.project(m).quat(), "{name}");
                let moved = held.m.quat() != m.quat();
                assert_eq!(moved, held.contacts.iter().any(Option::is_some), "{name}");
                if limit.is_surface() {
                    continue;
                }
                for contact in held.contacts.iter().flatten() {
                    let step = 1e-5;
                    assert!((contact.normal.length() - 1.0).abs() < 1e-12 && contact.beyond > 0.0);
                    let out = Rotation::exp(contact.normal * step).unwrap() * held.m;
                    let off = limit.distance(out).radians();
                    contacts += 1;
                    // Out of a corner, the step leads beside the boundary too.
                    corners += usize::from(off > -0.99 * step);
                    assert!(off < 0.0, "{name}: {off:e} {contact:?}");
                }
            }
        }
        println!("{contacts} contacts, {corners} of them not straight out");
        assert!(contacts > 500 && corners * 5 < contacts, "{contacts} {corners}");
    }
}
