//! Two turns in a row, each in its arc: the surface that universal joints and the faces of Euler
//! boxes are.

use glam::{DMat3, DQuat, DVec3};

use super::super::TOLERANCE;
use super::outer;
use super::range::{End, Half, Range};
use crate::math::{Arc, Rotation, trig, unit};

/// Four orthonormal quaternions in which two turns are two circles.
///
/// # Source
///
/// Own derivation. `R(u, a) · K · R(w, b)` is bilinear in the half angles `h = a/2`, `k = b/2`; in
/// sums and differences of them it is, with δ the angle between `u` and `K · w`,
///
/// ```text
///   sin(δ/2) · (e₀ cos(h − k) + e₁ sin(h − k)) + cos(δ/2) · (e₂ cos(h + k) + e₃ sin(h + k))
/// ```
///
/// where `e₀ … e₃`, proportional to `K + uKw`, `uK − Kw`, `K − uKw` and `uK + Kw`, are orthonormal.
/// So the 2×2 problem max xᵀMy of the half angles is solved by two angles and two lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame(pub(super) [DQuat; 4]);

impl Frame {
    pub(super) fn coordinates(&self, q: DQuat) -> [f64; 4] {
        self.0.map(|e| e.dot(q))
    }

    fn quat(&self, c: [f64; 4]) -> DQuat {
        let [e0, e1, e2, e3] = self.0;
        e0 * c[0] + e1 * c[1] + e2 * c[2] + e3 * c[3]
    }

    /// The derivatives of the coordinates under `q ← exp(v) q`: `⟨v q / 2, e⟩ = v · (e q̄) / 2`.
    pub(super) fn gradients(&self, q: DQuat) -> [DVec3; 4] {
        let back = q.conjugate();
        self.0.map(|e| (e * back).xyz() * 0.5)
    }

    /// The derivatives of `h − k` and `h + k`, where they are defined.
    pub(super) fn phase_gradients(&self, q: DQuat) -> [Option<DVec3>; 2] {
        let p = self.coordinates(q);
        let g = self.gradients(q);
        [(0, 1), (2, 3)].map(|(i, j)| {
            let square = p[i] * p[i] + p[j] * p[j];
            (square > 0.0).then(|| (g[j] * p[i] - g[i] * p[j]) / square)
        })
    }

    /// The derivatives of `a` and `b`; zero where they are not defined.
    pub(super) fn angle_gradients(&self, q: DQuat) -> [DVec3; 2] {
        match self.phase_gradients(q) {
            [Some(difference), Some(sum)] => [sum + difference, sum - difference],
            _ => [DVec3::ZERO; 2],
        }
    }
}

/// The rotations `R(u, a) · K · R(w, b)`, each angle in its range.
#[derive(Clone, Copy, Debug)]
pub(super) struct TwoTurns {
    frame: Frame,
    /// Sine and cosine of δ/2, of any sign.
    sin: f64,
    cos: f64,
    /// u and w.
    axes: [DVec3; 2],
    ranges: [Range; 2],
}

/// A point of the surface that is nearest to some rotation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foot {
    at: [f64; 4],
    /// The angles that are at an end of their range.
    fixed: [Option<End>; 2],
    /// The square of the chord between the quaternions, which orders points as distance does and
    /// keeps all digits for near ones.
    pub(super) chord: f64,
}

impl Foot {
    /// Whether the rotation is here to within [`TOLERANCE`], of which a chord is half.
    pub(super) fn is_here(&self) -> bool {
        self.chord <= 0.25 * TOLERANCE * TOLERANCE
    }

    /// The angle between this point, which is `at`, and the rotation `m` it is the nearest to. It is
    /// above the tolerance exactly if the point is not here.
    pub(super) fn distance(&self, m: Rotation, at: Rotation) -> f64 {
        let distance = m.distance(at).radians();
        if self.is_here() { distance.min(TOLERANCE) } else { distance.max(TOLERANCE.next_up()) }
    }

    /// Whether a small step along the surface in any direction stays on it.
    pub(super) fn is_free(&self) -> bool {
        self.fixed.iter().all(Option::is_none)
    }
}

/// Where the product with the whole surface is largest.
enum Maximum {
    /// No nearer than what was asked for.
    Far,
    /// In both ranges.
    Here(Foot),
    /// Outside a range.
    Outside,
}

/// Larger than the square of any chord to the nearer of two antipodes, which is at most 2.
pub(super) const ANY: f64 = 4.0;

/// Lengths below this are of no number that rounding leaves.
const SMALL: f64 = 1e-150;

/// Rounding of `2 − 2f` for products `f` up to one. Bounds are loosened by it.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

impl TwoTurns {
    /// The angles of a rotation, each moved by whole turns to be nearest to the middle of its range.
    pub(super) fn lifted_angles(&self, q: DQuat) -> [f64; 2] {
        let [a, b] = self.angles(q);
        [self.ranges[0].lifted(a), self.ranges[1].lifted(b)]
    }

    pub(super) fn arcs(&self) -> [Arc; 2] {
        self.ranges.map(|range| range.arc())
    }

    /// `left · R(u, a) · R(w, b) · right`. `None` if the axes, which have length one, are parallel.
    pub(super) fn new(
        left: Rotation,
        [u, w]: [DVec3; 2],
        right: Rotation,
        ranges: [Range; 2],
    ) -> Option<Self> {
        // Sum and difference of unit vectors are perpendicular. Of a short one few digits of that
        // are left, so it is restored from the other.
        let (sum, difference) = (u + w, u - w);
        let square = |of: DVec3, to: DVec3| {
            let once = unit(of - to * to.dot(of))?;
            unit(once - to * to.dot(once))
        };
        let (toward, across) = if sum.dot(sum) >= difference.dot(difference) {
            let toward = unit(sum)?;
            (toward, square(difference, toward)?)
        } else {
            let across = unit(difference)?;
            (square(sum, across)?, across)
        };
        let (sin, cos) = (difference.dot(across), sum.dot(toward));
        let length = trig::hypot(sin, cos);
        let (sin, cos) = (sin / length, cos / length);
        // u × w.
        let normal = across.cross(toward);

        let pure = |v: DVec3, w: f64| DQuat::from_xyzw(v.x, v.y, v.z, w);
        let frame = [
            pure(normal * cos, sin),
            pure(across, 0.0),
            pure(normal * -sin, cos),
            pure(toward, 0.0),
        ];
        Some(Self {
            frame: Frame(frame.map(|e| left.quat() * e * right.quat())),
            sin,
            cos,
            axes: [
                left * (toward * cos + across * sin),
                right.inverse() * (toward * cos - across * sin),
            ],
            ranges,
        })
    }

    /// From its parts.
    pub(super) fn from_frame(
        frame: Frame,
        (sin, cos): (f64, f64),
        axes: [DVec3; 2],
        ranges: [Range; 2],
    ) -> Self {
        Self { frame, sin, cos, axes, ranges }
    }

    /// The same with other ranges.
    pub(super) fn with_ranges(&self, ranges: [Range; 2]) -> Self {
        Self { ranges, ..*self }
    }

    pub(super) fn ranges(&self) -> &[Range; 2] {
        &self.ranges
    }

    pub(super) fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The nearest point of the surface, if its chord is below `than`.
    ///
    /// # Source
    ///
    /// Own derivation. The product with the surface is, with the frame's coordinates of `q` in polar
    /// form as (r₁, φ₁), (r₂, φ₂),
    ///
    /// ```text
    ///   f = sin(δ/2) r₁ cos(h − k − φ₁) + cos(δ/2) r₂ cos(h + k − φ₂)
    /// ```
    ///
    /// |f| has one maximum over all angles, `a = φ₁ + φ₂`, `b = φ₂ − φ₁`; its other critical points
    /// are saddles. If the maximum is in both ranges it is the answer. If not, the answer is on an
    /// edge, where f is one sinusoid of the other angle. When a radius is zero the maximum is a whole
    /// curve; if that meets the ranges at all it meets an edge, or there are no edges.
    pub(super) fn nearest(&self, q: DQuat, than: f64) -> Option<Foot> {
        let p = self.frame.coordinates(q);
        match self.maximum(p, than) {
            Maximum::Far => None,
            Maximum::Here(foot) => Some(foot).filter(|foot| foot.chord < than),
            Maximum::Outside => self.nearest_edge_at(p, than, &[0, 1]),
        }
    }

    /// The nearest point of the surface that is on no edge, if there is one and its chord is below
    /// `than`.
    pub(super) fn nearest_inner(&self, q: DQuat, than: f64) -> Option<Foot> {
        match self.maximum(self.frame.coordinates(q), than) {
            Maximum::Here(foot) => Some(foot).filter(|foot| foot.chord < than),
            _ => None,
        }
    }

    fn maximum(&self, p: [f64; 4], than: f64) -> Maximum {
        let (r1, r2) = (trig::length(p[0], p[1]), trig::length(p[2], p[3]));
        if 2.0 - 2.0 * (self.sin.abs() * r1 + self.cos.abs() * r2) - ROUNDING > than {
            return Maximum::Far;
        }
        // Unit complex numbers with the angles h − k and h + k, any where a radius is zero.
        let phase = |x: f64, y: f64, r: f64| if r < SMALL { [1.0, 0.0] } else { [x / r, y / r] };
        let flip = if self.sin * self.cos < 0.0 { -1.0 } else { 1.0 };
        let [x, y] = phase(flip * p[0], flip * p[1], r1);
        let [z, w] = phase(p[2], p[3], r2);
        // Their product and quotient have the angles a and b.
        if self.ranges[0].contains(x * z - y * w, x * w + y * z, 1.0)
            && self.ranges[1].contains(x * z + y * w, x * w - y * z, 1.0)
        {
            let at = [self.sin * x, self.sin * y, self.cos * z, self.cos * w];
            return Maximum::Here(foot(p, at, [None, None]));
        }
        Maximum::Outside
    }

    /// The nearest point of the surface.
    pub(super) fn foot(&self, q: DQuat) -> Foot {
        // There is one: if the maximum is outside a range, that range has ends.
        self.nearest(q, ANY).unwrap_or(Foot {
            at: [0.0, 0.0, 0.0, 1.0],
            fixed: [None; 2],
            chord: 2.0,
        })
    }

    /// The nearest point of the edges at which one of the given angles (0 or 1) is fixed, if there are
    /// any and its chord is below `than`.
    pub(super) fn nearest_edge(&self, q: DQuat, than: f64, fixed: &[usize]) -> Option<Foot> {
        self.nearest_edge_at(self.frame.coordinates(q), than, fixed)
    }

    fn nearest_edge_at(&self, p: [f64; 4], than: f64, fixed: &[usize]) -> Option<Foot> {
        let mut best: Option<Foot> = None;
        let mut than = than;
        for &fixed in fixed {
            for &end in self.ranges[fixed].ends() {
                let half = self.ranges[fixed].end(end);
                let other = self.other_half(p, fixed, half);
                if 2.0 - 2.0 * trig::length(other.cos, other.sin) - ROUNDING > than {
                    continue;
                }
                let (near, clamped) = self.ranges[1 - fixed].nearest(other);
                let halves = if fixed == 0 { [half, near] } else { [near, half] };
                let mut at_end = [Some(end); 2];
                at_end[1 - fixed] = clamped;
                let foot = foot(p, self.at(halves), at_end);
                if foot.chord < than {
                    than = foot.chord;
                    best = Some(foot);
                }
            }
        }
        best
    }

    /// The unclamped angles of the point of the whole surface that is nearest to `q`.
    pub(super) fn angles(&self, q: DQuat) -> [f64; 2] {
        let p = self.frame.coordinates(q);
        let difference = if self.sin * self.cos < 0.0 {
            trig::atan2(-p[1], -p[0])
        } else {
            trig::atan2(p[1], p[0])
        };
        let sum = trig::atan2(p[3], p[2]);
        [sum + difference, sum - difference]
    }

    /// The angle between `u` and `q · w`, and that of the surface.
    pub(super) fn opening(&self, q: DQuat) -> [f64; 2] {
        let p = self.frame.coordinates(q);
        let (r1, r2) = (trig::length(p[0], p[1]), trig::length(p[2], p[3]));
        [2.0 * trig::atan2(r1, r2), 2.0 * trig::atan2(self.sin, self.cos)]
    }

    /// Where the sinusoid of one angle is largest when the other is fixed; its length is that
    /// maximum.
    fn other_half(&self, p: [f64; 4], fixed: usize, at: Half) -> Half {
        let (s, c) = (self.sin, self.cos);
        let (x, y) = (at.cos, at.sin);
        let (p0, p1, p2, p3) = (s * p[0], s * p[1], c * p[2], c * p[3]);
        if fixed == 0 {
            Half { cos: (p0 + p2) * x + (p1 + p3) * y, sin: (p0 - p2) * y - (p1 - p3) * x }
        } else {
            Half { cos: (p0 + p2) * x - (p1 - p3) * y, sin: (p0 - p2) * y + (p1 + p3) * x }
        }
    }

    fn at(&self, [h, k]: [Half; 2]) -> [f64; 4] {
        let (cc, ss) = (h.cos * k.cos, h.sin * k.sin);
        let (sc, cs) = (h.sin * k.cos, h.cos * k.sin);
        [self.sin * (cc + ss), self.sin * (sc - cs), self.cos * (cc - ss), self.cos * (sc + cs)]
    }

    pub(super) fn rotation(&self, foot: &Foot) -> Rotation {
        let q = self.frame.quat(foot.at);
        Rotation::from_unit(q * (1.0 / q.length()))
    }

    /// How the rotation moves with each angle, as rotation vectors: `u`, and `w` turned along.
    pub(super) fn tangents(&self, at: Rotation) -> [DVec3; 2] {
        [self.axes[0], at * self.axes[1]]
    }

    /// Into the ranges and across the edge that the foot is on, of length one. `None` if it is on no
    /// edge, on two, or on one of a range of one angle.
    pub(super) fn inward(&self, foot: &Foot, tangents: [DVec3; 2]) -> Option<DVec3> {
        let (fixed, end) = match foot.fixed {
            [Some(end), None] => (0, end),
            [None, Some(end)] => (1, end),
            _ => return None,
        };
        if self.ranges[fixed].ends().len() < 2 {
            return None;
        }
        let along = tangents[1 - fixed];
        let across = tangents[fixed] - along * along.dot(tangents[fixed]);
        unit(across * -end.outward())
    }

    /// The derivative of the nearest point, `nearest(exp(v) q) ≈ exp(J v) nearest(q)`.
    pub(super) fn jacobian(&self, q: DQuat, foot: &Foot) -> DMat3 {
        let tangents = self.tangents(self.rotation(foot));
        let (fixed, end) = match foot.fixed {
            [None, None] => {
                // Of a curve of nearest points any will do: the part that is not defined is left out.
                let [difference, sum] =
                    self.frame.phase_gradients(q).map(|g| g.unwrap_or(DVec3::ZERO));
                return outer(tangents[0] + tangents[1], sum)
                    + outer(tangents[0] - tangents[1], difference);
            }
            [Some(end), None] => (0, self.ranges[0].end(end)),
            [None, Some(end)] => (1, self.ranges[1].end(end)),
            [Some(_), Some(_)] => return DMat3::ZERO,
        };
        let Half { cos, sin } = self.other_half(self.frame.coordinates(q), fixed, end);
        let square = cos * cos + sin * sin;
        if square == 0.0 {
            return DMat3::ZERO;
        }
        // The same linear form of the coordinates' derivatives, one component at a time.
        let g = self.frame.gradients(q);
        let component = |of: fn(&DVec3) -> f64| {
            let h = self.other_half([of(&g[0]), of(&g[1]), of(&g[2]), of(&g[3])], fixed, end);
            2.0 * (cos * h.sin - sin * h.cos) / square
        };
        let gradient = DVec3::new(component(|v| v.x), component(|v| v.y), component(|v| v.z));
        outer(tangents[1 - fixed], gradient)
    }
}

fn foot(p: [f64; 4], at: [f64; 4], fixed: [Option<End>; 2]) -> Foot {
    let (mut minus, mut plus) = (0.0, 0.0);
    for (p, at) in p.into_iter().zip(at) {
        minus += (p - at) * (p - at);
        plus += (p + at) * (p + at);
    }
    Foot { at, fixed, chord: f64::min(minus, plus) }
}
