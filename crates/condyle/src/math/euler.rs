//! Euler angles in all twelve axis orders, without loss of digits at gimbal lock.

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::fmt;
use std::str::FromStr;

use glam::{DQuat, DVec3};

use super::angle::wrap;
use super::{Angle, Rotation, trig};

/// A coordinate axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    /// (1, 0, 0)
    X,
    /// (0, 1, 0)
    Y,
    /// (0, 0, 1)
    Z,
}

impl Axis {
    /// The unit vector along it.
    #[must_use]
    pub const fn unit(self) -> DVec3 {
        match self {
            Self::X => DVec3::X,
            Self::Y => DVec3::Y,
            Self::Z => DVec3::Z,
        }
    }

    /// The axis with this index.
    pub(crate) const fn from_index(index: usize) -> Self {
        [Self::X, Self::Y, Self::Z][index]
    }

    /// 0, 1 or 2.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// This axis and the two after it in the cycle x → y → z → x, as indices.
    pub(super) const fn cycle(self) -> [usize; 3] {
        let i = self.index();
        [i, (i + 1) % 3, (i + 2) % 3]
    }
}

/// A quaternion times a turn about an axis by half an angle given as (sine, cosine). `q` is given as
/// the component along that axis, the two after it in the cycle x → y → z → x, and w.
///
/// A turn about x takes (x, y, z, w) to (xc + ws, yc + zs, zc − ys, wc − xs).
#[allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]
#[inline(always)]
pub(super) fn turn([a, b, c, w]: [f64; 4], (sin, cos): (f64, f64)) -> [f64; 4] {
    [a * cos + w * sin, b * cos + c * sin, c * cos - b * sin, w * cos - a * sin]
}

/// The axes of three rotations in a row.
///
/// # Convention
///
/// The first letter is the **leftmost** factor: `ZYX` is `R_z(a) · R_y(b) · R_x(c)`, so the last
/// letter acts first on a vector. That is how BVH lists its channels (`Zrotation Yrotation
/// Xrotation` is `ZYX`). ASF writes the axis that acts first on the left: its `XYZ` is our `ZYX`,
/// see [`reversed`](Self::reversed).
///
/// ```
/// use condyle::math::{Angle, EulerOrder, Rotation};
/// let [a, b, c] = [0.3, -0.7, 1.1].map(Angle::from_radians);
/// let product = Rotation::about_z(a) * Rotation::about_y(b) * Rotation::about_x(c);
/// let euler = EulerOrder::ZYX.to_rotation([a, b, c]).unwrap();
/// assert!(euler.distance(product).radians() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the name says it: see the type's convention")]
pub enum EulerOrder {
    XYZ,
    XZY,
    YXZ,
    YZX,
    ZXY,
    ZYX,
    XYX,
    XZX,
    YXY,
    YZY,
    ZXZ,
    ZYZ,
}

impl EulerOrder {
    /// All of them: first the six with three different axes, then the six that repeat the first.
    pub const ALL: [Self; 12] = [
        Self::XYZ,
        Self::XZY,
        Self::YXZ,
        Self::YZX,
        Self::ZXY,
        Self::ZYX,
        Self::XYX,
        Self::XZX,
        Self::YXY,
        Self::YZY,
        Self::ZXZ,
        Self::ZYZ,
    ];

    /// The three axes, leftmost factor first.
    #[must_use]
    pub const fn axes(self) -> [Axis; 3] {
        use Axis::{X, Y, Z};
        match self {
            Self::XYZ => [X, Y, Z],
            Self::XZY => [X, Z, Y],
            Self::YXZ => [Y, X, Z],
            Self::YZX => [Y, Z, X],
            Self::ZXY => [Z, X, Y],
            Self::ZYX => [Z, Y, X],
            Self::XYX => [X, Y, X],
            Self::XZX => [X, Z, X],
            Self::YXY => [Y, X, Y],
            Self::YZY => [Y, Z, Y],
            Self::ZXZ => [Z, X, Z],
            Self::ZYZ => [Z, Y, Z],
        }
    }

    /// The order with these axes, leftmost factor first; `None` if two neighbours are the same.
    #[must_use]
    pub fn from_axes(axes: [Axis; 3]) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.axes() == axes)
    }

    /// The same letters read from the other end: between the BVH way of naming (first letter is
    /// the leftmost factor) and the ASF way (first letter acts first).
    ///
    /// ```
    /// use condyle::math::EulerOrder;
    /// let asf: EulerOrder = "XYZ".parse().unwrap();
    /// assert_eq!(asf.reversed(), EulerOrder::ZYX);
    /// ```
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::XYZ => Self::ZYX,
            Self::XZY => Self::YZX,
            Self::YXZ => Self::ZXY,
            Self::YZX => Self::XZY,
            Self::ZXY => Self::YXZ,
            Self::ZYX => Self::XYZ,
            proper => proper,
        }
    }

    /// Whether the first axis comes again at the end, as in `ZYZ`.
    #[must_use]
    pub fn is_proper(self) -> bool {
        let [i, _, k] = self.axes();
        i == k
    }

    /// The letters in upper case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::XYZ => "XYZ",
            Self::XZY => "XZY",
            Self::YXZ => "YXZ",
            Self::YZX => "YZX",
            Self::ZXY => "ZXY",
            Self::ZYX => "ZYX",
            Self::XYX => "XYX",
            Self::XZX => "XZX",
            Self::YXY => "YXY",
            Self::YZY => "YZY",
            Self::ZXZ => "ZXZ",
            Self::ZYZ => "ZYZ",
        }
    }

    /// The rotation `R_first(angles[0]) · R_second(angles[1]) · R_third(angles[2])`; `None` if an
    /// angle is not finite.
    ///
    /// Any number of turns is allowed. See [`EulerOrder`] for the convention and an example, and
    /// [`EulerAngles::from_rotation`] for the way back.
    #[must_use]
    pub fn to_rotation(self, angles: [Angle; 3]) -> Option<Rotation> {
        if !angles.iter().all(|a| a.radians().is_finite()) {
            return None;
        }
        let mut q = [0.0, 0.0, 0.0, 1.0];
        for (axis, angle) in self.axes().into_iter().zip(angles) {
            let half = trig::sin_cos(0.5 * angle.radians());
            let [i, j, k] = axis.cycle();
            [q[i], q[j], q[k], q[3]] = turn([q[i], q[j], q[k], q[3]], half);
        }
        Some(Rotation::from_unit(DQuat::from_array(q)))
    }

    /// The middle angle at the two ends of its range, where the outer axes fall together.
    const fn locked_middle(self, lock: GimbalLock) -> f64 {
        match (self.axes(), lock) {
            ([Axis::X, _, Axis::X] | [Axis::Y, _, Axis::Y] | [Axis::Z, _, Axis::Z], lock) => {
                match lock {
                    GimbalLock::Low => 0.0,
                    GimbalLock::High => PI,
                }
            }
            (_, GimbalLock::Low) => -FRAC_PI_2,
            (_, GimbalLock::High) => FRAC_PI_2,
        }
    }

    /// First axis, second axis, the one perpendicular to both, and whether these three are
    /// right-handed (1) or left-handed (−1).
    pub(super) fn frame(self) -> (usize, usize, usize, f64) {
        let [first, second, _] = self.axes();
        let (i, j) = (first.index(), second.index());
        let handedness = if (i + 1) % 3 == j { 1.0 } else { -1.0 };
        (i, j, 3 - i - j, handedness)
    }
}

impl fmt::Display for EulerOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Three letters that are no Euler order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseEulerOrderError {
    found: String,
}

impl fmt::Display for ParseEulerOrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not an Euler order", self.found)?;
        f.write_str("\n  help: write three of the letters x, y, z, no two neighbours the same")
    }
}

impl std::error::Error for ParseEulerOrderError {}

impl FromStr for EulerOrder {
    type Err = ParseEulerOrderError;

    /// Upper or lower case letters, leftmost factor first.
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|order| order.as_str().eq_ignore_ascii_case(s))
            .ok_or_else(|| ParseEulerOrderError { found: s.to_owned() })
    }
}

/// At which end of the middle angle's range the first and the third axis fall together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GimbalLock {
    /// Middle angle 0 (repeated axis, as ZYZ) or −π/2 (three axes, as ZYX).
    Low,
    /// Middle angle π (repeated axis) or π/2 (three axes).
    High,
}

/// The Euler angles of a rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EulerAngles {
    /// The axes.
    pub order: EulerOrder,
    /// Leftmost factor first. The outer two are in `(-π, π]`; the middle one is in `[0, π]` when
    /// the first axis is repeated, in `[-π/2, π/2]` otherwise.
    pub angles: [Angle; 3],
    /// Set when only the sum or the difference of the outer angles is determined; the third angle
    /// is then 0 and the middle one exactly at the end of its range.
    pub lock: Option<GimbalLock>,
}

/// Below this sine (or cosine) of half the middle angle the outer angles are rounding noise.
///
/// A product of three rotations carries at most about 6 ε of error per component (three factors of
/// half an ulp, two products of four terms), and the components compared here are sums of two of
/// them. Taking such a rotation as locked moves it by at most twice this, 3.6e-15 rad.
pub(super) const LOCK: f64 = 8.0 * f64::EPSILON;

impl EulerAngles {
    /// The angles of `rotation` in the given order.
    ///
    /// # Source
    ///
    /// Own derivation; the same idea of half sums and half differences is in E. Bernardes,
    /// S. Viollet, "Quaternion to Euler angles conversion: a direct, general and computationally
    /// efficient method", `PLoS ONE` 17(11), 2022. Write the axes as imaginary units i, j and
    /// k = ±ij. For a repeated first axis
    ///
    /// ```text
    ///   R_i(a) R_j(b) R_i(c) = cos(b/2) · exp(i (a+c)/2) + sin(b/2) · exp(i (a−c)/2) · j
    ///   sin b = 2 |(q_j, q_k)| · |(w, q_i)|,   cos b = |(w, q_i)|² − |(q_j, q_k)|²
    ///   (a+c)/2 = atan2(q_i, w),   (a−c)/2 = atan2(±q_k, q_j)
    /// ```
    ///
    /// For three axes `R_k(c) = R_j(π/2) R_i(∓c) R_j(−π/2)`, so `p = q · R_j(π/2)` has the
    /// repeated form with middle angle b + π/2 and third angle ∓c, and
    ///
    /// ```text
    ///   sin b = 2 (w q_j ± q_i q_k),   cos b = 2 |(p_w, p_i)| · |(p_j, p_k)|
    /// ```
    ///
    /// `ZYZ` is the model of the ball joint in M. Engell-Nørregård and K. Erleben, "Estimation of
    /// joint types and joint limits from motion capture data", appendix A, eq. 25–36, with
    /// (φ, ψ, θ) = `angles`. Printed there are ψ by acos, which loses half the digits near 0 and
    /// π, and a lock at ψ = 0 only.
    ///
    /// # Convention
    ///
    /// Active rotations, right-handed, first letter of the order leftmost.
    ///
    /// # Domain and singularity
    ///
    /// Total, and `q` and `-q` give the same bits. Where the outer axes fall together (to within
    /// rounding) only `a ± c` is determined: the third angle is then 0 and
    /// [`lock`](Self::lock) says at which end. Just beside the lock `a` and `c` change quickly, but
    /// their sum (or difference) keeps all its digits, so the angles always give the rotation
    /// back.
    ///
    /// # Example
    ///
    /// ```
    /// use condyle::math::{Angle, EulerAngles, EulerOrder, GimbalLock, Rotation};
    /// let pitch = Rotation::about_y(Angle::from_degrees(90.0));
    /// let yaw = Rotation::about_z(Angle::from_degrees(30.0));
    /// let euler = EulerAngles::from_rotation(EulerOrder::ZYX, yaw * pitch);
    /// assert_eq!(euler.lock, Some(GimbalLock::High));
    /// assert!((euler.angles[0].degrees() - 30.0).abs() < 1e-13);
    /// ```
    #[must_use]
    pub fn from_rotation(order: EulerOrder, rotation: Rotation) -> Self {
        let q = rotation.canonical().quat();
        let (w, v) = (q.w, [q.x, q.y, q.z]);
        let (i, j, k, hand) = order.frame();
        let (qi, qj, qk) = (v[i], v[j], hand * v[k]);

        // The repeated-axis form: q itself, or q · (1 + j) = √2 q · R_j(π/2).
        let proper = order.is_proper();
        let (pw, pi, pj, pk) =
            if proper { (w, qi, qj, qk) } else { (w - qj, qi - qk, qj + w, qk + qi) };
        let cos_square = pw * pw + pi * pi;
        let sin_square = pj * pj + pk * pk;

        let lock = if sin_square <= LOCK * LOCK {
            Some(GimbalLock::Low)
        } else if cos_square <= LOCK * LOCK {
            Some(GimbalLock::High)
        } else {
            None
        };
        let half_sum = trig::atan2(pi, pw);
        let half_difference = trig::atan2(pk, pj);
        let third_sign = if proper { 1.0 } else { -hand };

        let [a, b, c] = match lock {
            Some(GimbalLock::Low) => [2.0 * half_sum, order.locked_middle(GimbalLock::Low), 0.0],
            Some(GimbalLock::High) => {
                [2.0 * half_difference, order.locked_middle(GimbalLock::High), 0.0]
            }
            None => {
                let product = (sin_square * cos_square).sqrt();
                let b = if proper {
                    trig::atan2(2.0 * product, cos_square - sin_square)
                } else {
                    trig::atan2(2.0 * (w * qj + qi * qk), product)
                };
                [half_sum + half_difference, b, third_sign * (half_sum - half_difference)]
            }
        };
        // Adding zero turns −0 into +0, which would be written as "-0" to files.
        let angles = [wrap(a), b, wrap(c)].map(|x| Angle::from_radians(x + 0.0));
        Self { order, angles, lock }
    }

    /// The rotation with these angles: the inverse of [`EulerAngles::from_rotation`].
    ///
    /// `None` if an angle is not finite, which never happens after `from_rotation`.
    #[must_use]
    pub fn to_rotation(self) -> Option<Rotation> {
        self.order.to_rotation(self.angles)
    }

    /// Of all angle triples of the same rotation, the one closest to `previous`.
    ///
    /// Going through a motion frame by frame with the result of the last frame as `previous` gives
    /// curves that do not jump by whole turns nor between the two solutions.
    ///
    /// # Source
    ///
    /// Own derivation. Every rotation off the lock has two solutions up to whole turns of each
    /// angle, since `R_i(π) R_j(b) R_i(π) = R_j(−b)`:
    ///
    /// ```text
    ///   (a, b, c) ~ (a + π, −b, c + π)        first axis repeated
    ///   (a, b, c) ~ (a + π, π − b, c + π)     three axes
    /// ```
    ///
    /// At the lock every `(a + s, b, c ∓ s)` fits; the best splits what is missing evenly.
    ///
    /// # Domain and singularity
    ///
    /// "Closest" is the Euclidean distance of the triples; a tie goes to the first solution and to
    /// the turn away from zero. A previous angle that is not finite, or beyond 2²⁰ turns, where
    /// f64 cannot tell directions apart well, counts as 0. Every turn added costs 2.5e-16 rad, the
    /// rounding of 2π.
    ///
    /// # Example
    ///
    /// ```
    /// use condyle::math::{Angle, EulerAngles, EulerOrder};
    /// let beyond = [10.0, 100.0, 370.0].map(Angle::from_degrees);
    /// let rotation = EulerOrder::ZYX.to_rotation(beyond).unwrap();
    /// let angles = EulerAngles::from_rotation(EulerOrder::ZYX, rotation);
    /// assert!(angles.angles[1].degrees() < 90.0);
    /// let near = angles.nearest([0.0, 95.0, 365.0].map(Angle::from_degrees));
    /// assert!((near[1].degrees() - 100.0).abs() < 1e-12);
    /// assert!((near[2].degrees() - 370.0).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn nearest(self, previous: [Angle; 3]) -> [Angle; 3] {
        let previous = previous.map(|p| {
            let p = p.radians();
            if p.abs() <= MAX_TURNS * TAU { p } else { 0.0 }
        });
        let [a, b, c] = self.angles.map(Angle::radians);

        let best = if let Some(lock) = self.lock {
            // a + k c is determined, and `a` holds it, `c` being zero.
            let (_, _, _, hand) = self.order.frame();
            let low_sign = if self.order.is_proper() { 1.0 } else { -hand };
            let k = match lock {
                GimbalLock::Low => low_sign,
                GimbalLock::High => -low_sign,
            };
            let missing = wrap(a + k * c - previous[0] - k * previous[2]);
            let [pa, pb, pc] = previous;
            [pa + 0.5 * missing, turn_towards(b, pb), pc + k * 0.5 * missing]
        } else {
            let mirrored = if self.order.is_proper() { -b } else { PI - b };
            let first = turned([a, b, c], previous);
            let second = turned([a + PI, mirrored, c + PI], previous);
            if square(second, previous) < square(first, previous) { second } else { first }
        };
        best.map(Angle::from_radians)
    }
}

/// How many turns a previous angle may be away from zero.
const MAX_TURNS: f64 = 1_048_576.0;

/// `angle` plus the number of turns that brings it closest to `target`.
fn turn_towards(angle: f64, target: f64) -> f64 {
    let turns = ((target - angle) / TAU).round();
    // Not `angle + 0.0`: an angle that needs no turn keeps its bits.
    if turns == 0.0 { angle } else { angle + turns * TAU }
}

/// Each angle turned towards its target.
fn turned([a, b, c]: [f64; 3], [ta, tb, tc]: [f64; 3]) -> [f64; 3] {
    [turn_towards(a, ta), turn_towards(b, tb), turn_towards(c, tc)]
}

/// The squared distance of two triples.
fn square(a: [f64; 3], b: [f64; 3]) -> f64 {
    let [x, y, z] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    x * x + y * y + z * z
}

#[cfg(test)]
mod tests {
    use glam::DMat3;

    use super::*;
    use crate::math::arbitrary;

    /// Radians. `LOCK` may cost 3.6e-15. Measured worst 3.8e-15 over 2.2·10⁷ conversions, a tenth of
    /// them at the lock; 2× headroom.
    const ROUND_TRIP: f64 = 8e-15;

    fn deg(angles: [f64; 3]) -> [Angle; 3] {
        angles.map(Angle::from_degrees)
    }

    /// The independent route: a rotation matrix written out from its sine and cosine.
    fn matrix(axis: Axis, angle: Angle) -> DMat3 {
        let (s, c) = trig::sin_cos(angle.radians());
        match axis {
            Axis::X => DMat3::from_cols_array(&[1.0, 0.0, 0.0, 0.0, c, s, 0.0, -s, c]),
            Axis::Y => DMat3::from_cols_array(&[c, 0.0, -s, 0.0, 1.0, 0.0, s, 0.0, c]),
            Axis::Z => DMat3::from_cols_array(&[c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0]),
        }
    }

    fn matrix_of(order: EulerOrder, angles: [Angle; 3]) -> DMat3 {
        let [i, j, k] = order.axes();
        matrix(i, angles[0]) * matrix(j, angles[1]) * matrix(k, angles[2])
    }

    fn order(u: &mut ::arbitrary::Unstructured<'_>) -> ::arbitrary::Result<EulerOrder> {
        u.choose(&EulerOrder::ALL).copied()
    }

    fn angles(u: &mut ::arbitrary::Unstructured<'_>) -> ::arbitrary::Result<[Angle; 3]> {
        Ok([arbitrary::angle(u)?, arbitrary::angle(u)?, arbitrary::angle(u)?])
    }

    #[test]
    fn the_first_letter_is_the_leftmost_factor() {
        let r = EulerOrder::ZYX.to_rotation(deg([90.0, 0.0, 90.0])).unwrap();
        // First about x: y → z, which the turn about z leaves. The other order gives −x.
        assert!((r * DVec3::Y - DVec3::Z).length() < 1e-15);
    }

    #[test]
    fn letters_parse_and_print() {
        for order in EulerOrder::ALL {
            assert_eq!(order.to_string().parse(), Ok(order));
            assert_eq!(order.as_str().to_lowercase().parse(), Ok(order));
            assert_eq!(EulerOrder::from_axes(order.axes()), Some(order));
            let mut reversed = order.axes();
            reversed.reverse();
            assert_eq!(order.reversed().axes(), reversed);
        }
        for wrong in ["", "XY", "XXY", "XYY", "ABC", "XYZX", "Xyz "] {
            assert!(wrong.parse::<EulerOrder>().is_err(), "{wrong}");
        }
        assert_eq!(
            "XXY".parse::<EulerOrder>().unwrap_err().to_string(),
            "\"XXY\" is not an Euler order\n  \
             help: write three of the letters x, y, z, no two neighbours the same"
        );
    }

    #[test]
    fn non_finite_angles_are_refused() {
        for bad in [f64::NAN, f64::INFINITY] {
            let angles = [Angle::ZERO, Angle::from_radians(bad), Angle::ZERO];
            assert!(EulerOrder::XYZ.to_rotation(angles).is_none());
        }
    }

    #[test]
    fn prop_angles_give_the_product_of_the_matrices() {
        arbtest::arbtest(|u| {
            let (order, angles) = (order(u)?, angles(u)?);
            let got = order.to_rotation(angles).unwrap().to_matrix();
            let error = (got - matrix_of(order, angles)).to_cols_array();
            assert!(error.iter().all(|e| e.abs() < 4e-15), "{order} {angles:?}");
            Ok(())
        });
    }

    #[test]
    fn prop_rotations_round_trip_in_all_orders() {
        arbtest::arbtest(|u| {
            let rotation = arbitrary::rotation(u)?;
            for order in EulerOrder::ALL {
                check(order, rotation);
            }
            Ok(())
        });
    }

    #[test]
    fn prop_angles_round_trip_at_and_near_the_lock() {
        arbtest::arbtest(|u| {
            let (order, angles) = (order(u)?, angles(u)?);
            check(order, order.to_rotation(angles).unwrap());
            Ok(())
        });
    }

    /// Range, lock and round trip; the rotation rebuilt by matrices, not by the code under test.
    #[track_caller]
    fn check(order: EulerOrder, rotation: Rotation) {
        let euler = EulerAngles::from_rotation(order, rotation);
        let back = Rotation::from_matrix(matrix_of(order, euler.angles)).unwrap();
        let error = back.distance(rotation).radians();
        assert!(error < ROUND_TRIP, "{order} {rotation:?} {euler:?}: {error:e} rad");

        let [a, b, c] = euler.angles.map(Angle::radians);
        assert!(a > -PI && a <= PI && c > -PI && c <= PI, "{euler:?}");
        let low = order.locked_middle(GimbalLock::Low);
        let high = order.locked_middle(GimbalLock::High);
        assert!((low..=high).contains(&b), "{euler:?}");
        match euler.lock {
            Some(lock) => assert!(b == order.locked_middle(lock) && c == 0.0, "{euler:?}"),
            None => assert!(b > low - 1e-15 && b < high + 1e-15, "{euler:?}"),
        }
    }

    #[test]
    fn prop_antipodes_agree_bit_for_bit() {
        arbtest::arbtest(|u| {
            let (order, q) = (order(u)?, arbitrary::quat(u)?);
            let (Some(plus), Some(minus)) = (Rotation::new(q), Rotation::new(-q)) else {
                return Ok(());
            };
            let bits = |r| {
                let e = EulerAngles::from_rotation(order, r);
                (e.angles.map(|a| a.radians().to_bits()), e.lock)
            };
            assert_eq!(bits(plus), bits(minus), "{order} {q}");
            Ok(())
        });
    }

    #[test]
    fn products_at_the_lock_are_seen_as_locked_with_third_angle_zero() {
        for order in EulerOrder::ALL {
            for lock in [GimbalLock::Low, GimbalLock::High] {
                let middle = Angle::from_radians(order.locked_middle(lock));
                for i in -50..50 {
                    let outer = |k: f64| Angle::from_radians(f64::from(i) * k);
                    let r = order.to_rotation([outer(0.137), middle, outer(0.071)]).unwrap();
                    let euler = EulerAngles::from_rotation(order, r);
                    assert_eq!(euler.lock, Some(lock), "{order} {i}");
                    check(order, r);
                }
            }
        }
    }

    /// A8: the printed ZYZ extraction locks at ψ = 0 only and takes ψ by acos.
    #[test]
    fn a8_zyz_of_appendix_a_holds_at_both_ends_and_keeps_digits() {
        // A few roundings of numbers up to 2, also with a trigonometry that is off by one ulp.
        const FEW_ULPS: f64 = 3e-15;
        // Eq. 25 and 27: the image of z is (cos φ sin ψ, sin φ sin ψ, cos ψ).
        let [phi, psi, theta] = [0.4, 1.2, -2.0].map(Angle::from_radians);
        let q = EulerOrder::ZYZ.to_rotation([phi, psi, theta]).unwrap();
        let (sin_phi, cos_phi) = trig::sin_cos(0.4);
        let (sin_psi, cos_psi) = trig::sin_cos(1.2);
        let u = DVec3::new(cos_phi * sin_psi, sin_phi * sin_psi, cos_psi);
        assert!((q * DVec3::Z - u).length() < FEW_ULPS);
        // Eq. 28, 30, 36.
        let euler = EulerAngles::from_rotation(EulerOrder::ZYZ, q);
        for (got, expected) in euler.angles.iter().zip([0.4, 1.2, -2.0]) {
            assert!((got.radians() - expected).abs() < FEW_ULPS, "{euler:?}");
        }
        // Eq. 31, 32: at the lock φ takes everything, at ψ = 0 ...
        let low = EulerAngles::from_rotation(EulerOrder::ZYZ, Rotation::about_z(phi));
        assert_eq!(low.lock, Some(GimbalLock::Low));
        assert!((low.angles[0].radians() - 0.4).abs() < FEW_ULPS);
        // ... and, not in the paper, at ψ = π.
        let half_turn = Rotation::about_z(phi) * Rotation::about_y(Angle::HALF_TURN);
        let high = EulerAngles::from_rotation(EulerOrder::ZYZ, half_turn);
        assert_eq!(high.lock, Some(GimbalLock::High));
        assert!((high.angles[0].radians() - 0.4).abs() < FEW_ULPS);
        assert_eq!(high.angles[1], Angle::HALF_TURN);
        // acos(1 − 5e-21) is 0: ψ = 1e-10 survives here.
        let tiny = Rotation::about_y(Angle::from_radians(1e-10));
        let psi = EulerAngles::from_rotation(EulerOrder::ZYZ, tiny).angles[1].radians();
        assert!((psi - 1e-10).abs() < 1e-25, "{psi:e}");
    }

    #[test]
    fn small_angles_keep_their_digits_in_three_axis_orders() {
        let r = Rotation::new(DQuat::from_xyzw(0.0, 1e-30, 0.0, 1.0)).unwrap();
        let euler = EulerAngles::from_rotation(EulerOrder::ZYX, r);
        assert_eq!(euler.angles.map(Angle::radians), [0.0, 2e-30, 0.0]);
    }

    #[test]
    fn prop_nearest_is_the_same_rotation_and_no_candidate_is_closer() {
        arbtest::arbtest(|u| {
            let (order, previous) = (order(u)?, angles(u)?);
            let rotation = match u.arbitrary()? {
                true => arbitrary::rotation(u)?,
                false => order.to_rotation(angles(u)?).unwrap(),
            };
            let euler = EulerAngles::from_rotation(order, rotation);
            let near = euler.nearest(previous);
            let back = Rotation::from_matrix(matrix_of(order, near)).unwrap();
            let error = back.distance(rotation).radians();
            assert!(error < 3.0 * ROUND_TRIP, "{order} {euler:?} {near:?}: {error:e}");

            let previous = previous.map(Angle::radians);
            let distance = square(near.map(Angle::radians), previous);
            let [a, b, c] = euler.angles.map(Angle::radians);
            let mirrored = if order.is_proper() { -b } else { PI - b };
            for base in [[a, b, c], [a + PI, mirrored, c + PI]] {
                for n in 0..6859 {
                    let turn = |k: i32| f64::from(k - 9) * TAU;
                    let [x, y, z] = base;
                    let candidate = [x + turn(n % 19), y + turn(n / 19 % 19), z + turn(n / 361)];
                    assert!(distance <= square(candidate, previous) + 1e-12, "{candidate:?}");
                }
            }
            Ok(())
        })
        .budget_ms(400);
    }

    #[test]
    fn at_the_lock_nearest_splits_the_free_angle() {
        for order in EulerOrder::ALL {
            for lock in [GimbalLock::Low, GimbalLock::High] {
                let middle = order.locked_middle(lock);
                let truth = [1.0, middle, 2.5].map(Angle::from_radians);
                let euler = EulerAngles::from_rotation(order, order.to_rotation(truth).unwrap());
                // From the truth itself: nothing moves. From a bit beside: half each.
                let near = euler.nearest(truth);
                for (n, t) in near.iter().zip(truth) {
                    assert!((n.radians() - t.radians()).abs() < 1e-14, "{order} {lock:?} {near:?}");
                }
                let beside = [1.2, middle + 0.1, 2.5].map(Angle::from_radians);
                let near = euler.nearest(beside);
                assert!((near[0].radians() - 1.1).abs() < 1e-14, "{order} {lock:?} {near:?}");
                assert!((near[1].radians() - middle).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn following_nearest_gives_back_curves_that_pass_all_ranges() {
        for order in EulerOrder::ALL {
            let mut previous = [Angle::ZERO; 3];
            for i in 0..4000 {
                let t = f64::from(i) * 0.005;
                // Two turns of a, b through several locks (never within 1e-5 of one), c back.
                let truth = [0.7 * t, 0.013 + 0.41 * t, -0.3 * t].map(Angle::from_radians);
                let rotation = order.to_rotation(truth).unwrap();
                let near = EulerAngles::from_rotation(order, rotation).nearest(previous);
                for (n, t) in near.iter().zip(truth) {
                    assert!((n.radians() - t.radians()).abs() < 1e-9, "{order} {i} {near:?}");
                }
                previous = near;
            }
        }
    }

    #[test]
    fn nearest_to_nonsense_is_nearest_to_zero() {
        let r = EulerOrder::XYZ.to_rotation(deg([10.0, 20.0, 30.0])).unwrap();
        let euler = EulerAngles::from_rotation(EulerOrder::XYZ, r);
        for bad in [f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(euler.nearest([Angle::from_radians(bad); 3]), euler.angles);
        }
    }
}
