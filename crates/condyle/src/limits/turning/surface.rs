//! Where a universal joint that turns meets the rotations that it allows.

use std::f64::consts::PI;

use super::wave::{At, Wave};
use super::{Asked, BestTurn, NearAngle, ROUNDING, Turned};
use crate::math::Angle;

/// The angles at which a universal joint meets its surface, whatever its arcs; `None` if it always does or
/// nowhere.
///
/// # Source
///
/// Own derivation. The joint allows `m = R(u, a) · R(w, b)`. The second turn leaves w where it is, and the
/// first the angle of anything to u, so that all these have
///
/// ```text
///   u · (m w) = u · w
/// ```
///
/// and every m that has it is one of them: R(u, a) with the right a takes w to m w, and what is left is a
/// turn about w. With `m(ψ) = left · R(axis, ψ) · right`, w goes around a circle, and the left side is
///
/// ```text
///   K + P cos ψ + Q sin ψ,    K = u · even,  P = u · along,  Q = u · across
///   even = left (axis (axis · v)),  along = left (v − axis (axis · v)),  across = left (axis × v),
///   v = right w
/// ```
///
/// the parts of [`Turning::circle`](super::Turning). So there are two such angles at most, the roots of a
/// wave. Where they coincide, within rounding, none is found.
///
/// # Convention
///
/// Active, right-handed; `a · b` is first b, then a. ψ is the angle of the turning, radians.
fn meetings(of: &Turned<'_>) -> Option<[At; 2]> {
    let [u, w] = of.limit.universal_axes()?;
    let [even, along, across] = of.turning.circle(w);
    Wave { even: u.dot(even) - u.dot(w), cos: u.dot(along), sin: u.dot(across) }.roots()
}

/// The best angle of limits of which one is that of a universal joint, among those at which it meets its
/// surface; `None` if there is no such limit, or none of these angles is allowed by all.
///
/// Off its surface a universal joint is outside. So where one of these angles is allowed, no other angle
/// is but the other of them.
pub(super) fn best(asked: &[Asked<'_>], near: Option<NearAngle>) -> Option<BestTurn> {
    let surface = |one: &Asked<'_>| match one {
        Asked::Never(of) => meetings(of),
        _ => None,
    };
    let met = asked.iter().find_map(surface)?;
    let margin = |at: At| {
        let psi = at.angle();
        // A limit without volume comes first: it says no most often, and what is outside is not asked
        // further.
        let never = |one: &&Asked<'_>| matches!(one, Asked::Never(_));
        let others = asked.iter().filter(|one| !never(one));
        let mut least = PI;
        for one in asked.iter().filter(never).chain(others) {
            least = least.min(one.distance(psi));
            if least < ROUNDING {
                return None;
            }
        }
        Some([psi, least])
    };
    let mut allowed = met.map(margin).into_iter().flatten();
    let (first, second) = (allowed.next()?, allowed.next());
    let found = |psi: f64, inside: bool| BestTurn {
        angle: Angle::from_radians(psi).wrapped(),
        inside,
        others: !inside,
    };
    let deeper = |a: [f64; 2], b: [f64; 2]| if b[1] > a[1] { b } else { a };
    let Some(near) = near else {
        return Some(found(second.map_or(first, |second| deeper(first, second))[0], true));
    };
    let (angle, step) = (near.angle.radians(), near.step.radians());
    let off = |[psi, _]: [f64; 2]| Angle::from_radians(psi - angle).wrapped().radians();
    let taken = match second {
        // In the arc where it is, or in the nearest.
        Some(second) if off(second).abs() < off(first).abs() => second,
        _ => first,
    };
    if near.hard && off(taken).abs() > step {
        return Some(found(angle + step.copysign(off(taken)), false));
    }
    Some(found(taken[0], true))
}
